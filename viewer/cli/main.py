"""The entry point of ``ikviewer``: runs a command, and turns errors into one line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from typing import NoReturn

from viewer.cli import output
from viewer.cli.job import Options, UsageError, made_from, print_results
from viewer.cli.parsers import COMMANDS, FLAGS, command_parser, names_of, options_of, parsed, run_command, top_parser
from viewer.errors import ViewerError, missing_library, unknown_name

EXIT_INTERRUPTED = 130
"""Exit code that shells expect after Ctrl+C: 128 + SIGINT."""

_ASKING = frozenset({"-h", "--help", "--version"})
_WITHOUT_NUMBERS = ("completion",)
"""Commands that do not need numpy, which takes longer to import than they take to run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command line, without the program's name; those of the process unless given.

    Returns:
        0 done; 1 input or output that cannot be used; 2 wrong usage; 3 the machine lacks something.

    Raises:
        SystemExit: by argparse: 0 after ``--help`` and ``--version``, 2 for wrong usage.
    """
    output.make_streams_safe()
    output.be_quiet(False)
    name, words = _command_of(list(sys.argv[1:] if arguments is None else arguments))
    parser = command_parser(name)
    chosen = parsed(parser, words)
    output.be_quiet(chosen.quiet, debug=chosen.debug)
    try:
        return _guarded(name, made_from(options_of(name), chosen))
    except UsageError as error:
        parser.error(str(error))


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command and its arguments: ``ikviewer FILE`` is ``ikviewer view FILE``; handles ``help`` and ``--version``.

    Raises:
        SystemExit: by argparse: the help was printed, or the command is unknown.
    """
    place = next((at for at, word in enumerate(words) if not word.startswith("-") or word == "-"), len(words))
    word = words[place] if place < len(words) else ""
    before, after = words[:place], words[place + 1 :]
    if word in COMMANDS:
        return word, before + after
    if word == "help" and set(before) <= FLAGS:
        _help(after)
    # A word that is not a file is a mistyped command; but after an option of `view` it may be that option's value.
    is_file = word in {"", "-"} or "." in word or word.startswith(("sample:", "demo:")) or os.path.exists(word)  # noqa: PTH110 - pathlib is slow to begin
    if not is_file and set(before) <= FLAGS | _ASKING:
        top_parser().error(unknown_name("command or file", word, names_of()))
    if _ASKING & set(words):
        top_parser().parse_args(["--version"] if "--version" in words else ["--help"])
    return "view", words


def _help(words: list[str]) -> NoReturn:
    """Print the help of the named command, or the general help, and end the program."""
    names = [word for word in words if not word.startswith("-")]
    for name in names[:1]:
        if name not in COMMANDS:
            top_parser().error(unknown_name("command", name, names_of()))
        command_parser(name).parse_args(["--help"])
    top_parser().parse_args(["--help"])
    raise SystemExit(0)


def _guarded(name: str, options: Options) -> int:
    """Run a command; every error becomes one line and an exit code."""
    try:
        with contextlib.ExitStack() as stack:
            if not output.is_quiet():
                stack.enter_context(output.progress_bars())
            if name not in _WITHOUT_NUMBERS:
                stack.enter_context(_overflowing())
            code = print_results(run_command(name, options), as_json=bool(getattr(options, "json", False)))
        output.flush()
    except UsageError:
        raise
    except BrokenPipeError:
        output.drop_stdout()  # the reader (``| head``) has closed the pipe
        return 0
    except ViewerError as error:
        return _failed(error, f"error: {error}", error.exit_code)
    except ModuleNotFoundError as error:
        if (error.name or "viewer").partition(".")[0] == "viewer":
            return _failed(error, f"error: {_fault(error, name, options)}", ViewerError.exit_code)
        lacking = missing_library(f"ikviewer {name}", error)
        return _failed(error, f"error: {lacking}", lacking.exit_code)
    except MemoryError as error:
        return _failed(error, "error: not enough memory for this", ViewerError.exit_code)
    except KeyboardInterrupt as error:
        return _failed(error, "interrupted", EXIT_INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - a bug of the program
        return _failed(error, f"error: {_fault(error, name, options)}", ViewerError.exit_code)
    return code


def _fault(error: Exception, name: str, options: Options) -> str:
    """The line for a bug of the program, with the command's file if it has one."""
    from viewer.session.user_files import fault_line  # noqa: PLC0415 - only for a bug

    file = getattr(options, "file", None)
    return fault_line(error, f"ikviewer {name}", "command") if file is None else fault_line(error, file)


@contextlib.contextmanager
def _overflowing() -> Iterator[None]:
    """Within the block numbers overflow silently: they become infinite, which is null in JSON."""
    import numpy as np  # noqa: PLC0415 - not for `completion`

    with np.errstate(over="ignore", invalid="ignore"):
        yield


def _failed(error: BaseException, line: str, code: int) -> int:
    """Flush stdout or drop its buffer; then print the line, after a traceback with ``--debug``."""
    try:
        output.flush()
    except (OSError, ViewerError):
        output.drop_stdout()
    if output.is_debug():
        output.print_traceback(error)
    output.print_error(line)
    return code
