"""The entry of the command: arguments to a command's function, errors to one line and an exit code."""

from __future__ import annotations

import contextlib
import os
import sys
from typing import TYPE_CHECKING, NoReturn

from viewer.cli import output
from viewer.cli.parsers import COMMANDS, FLAGS, command_parser, names_of, parsed, top_parser
from viewer.errors import ViewerError, missing_library, unknown_name

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterator, Sequence

EXIT_INTERRUPTED = 130
"""What shells expect of a program stopped by Ctrl+C: 128 + SIGINT."""

_WITHOUT_NUMBERS = ("completion",)
"""Commands that need no numpy, which takes longer to import than they take to run."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command line, without the program's name; those of the process unless given.

    Returns:
        0 done; 1 input or output that cannot be used; 2 wrong usage; 3 the machine lacks something.

    Raises:
        SystemExit: raised by argparse: 0 after ``--help`` and ``--version``, 2 for wrong usage.
    """
    output.make_streams_safe()
    output.be_quiet(False)
    name, words = _command_of(list(sys.argv[1:] if arguments is None else arguments))
    chosen = parsed(command_parser(name), words)
    output.be_quiet(chosen.quiet)
    return _guarded(chosen, name)


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command and its words: ``ikviewer FILE`` is ``ikviewer view FILE``; of ``help`` and ``--version`` it ends.

    Raises:
        SystemExit: raised by argparse: the help was printed, or there is no such command.
    """
    place = next((at for at, word in enumerate(words) if not word.startswith("-") or word == "-"), len(words))
    word = words[place] if place < len(words) else ""
    before, after = words[:place], words[place + 1 :]
    if word in COMMANDS:
        return word, before + after
    if word == "help" and set(before) <= FLAGS:
        _help(after)
    if {"-h", "--help", "--version"} & set(words):
        top_parser().parse_args(["--version"] if "--version" in words else ["--help"])
    # A bare word that is no file is a mistyped command; one behind an option of the window's may be its value.
    is_file = word in {"", "-"} or "." in word or word.startswith(("sample:", "demo:")) or os.path.exists(word)  # noqa: PTH110 - pathlib is slow to begin
    if not is_file and set(before) <= FLAGS:
        top_parser().error(unknown_name("command or file", word, names_of()))
    return "view", words


def _help(words: list[str]) -> NoReturn:
    """Print the help of the command named, or of all; ends the program."""
    names = [word for word in words if not word.startswith("-")]
    for name in names[:1]:
        if name not in COMMANDS:
            top_parser().error(unknown_name("command", name, names_of()))
        command_parser(name).parse_args(["--help"])
    top_parser().parse_args(["--help"])
    raise SystemExit(0)


def _guarded(chosen: argparse.Namespace, name: str) -> int:
    """Run the command chosen; what goes wrong becomes one line and an exit code."""
    try:
        with contextlib.ExitStack() as stack:
            if not chosen.quiet:
                from viewer.cli.output import progress_bars

                stack.enter_context(progress_bars())
            if name not in _WITHOUT_NUMBERS:
                stack.enter_context(_overflowing())
            code: int = chosen.run(chosen)
        output.flush()
    except BrokenPipeError:  # the reader (``| head``) has what it wanted
        output.drop_stdout()
        return 0
    except ViewerError as error:
        return _failed(f"error: {error}", error.exit_code, debug=chosen.debug)
    except ModuleNotFoundError as error:
        if (error.name or "viewer").partition(".")[0] == "viewer":
            raise
        lacking = missing_library(f"ikviewer {name}", error)
        return _failed(f"error: {lacking}", lacking.exit_code, debug=chosen.debug)
    except MemoryError:
        return _failed("error: not enough memory for this", ViewerError.exit_code, debug=chosen.debug)
    except KeyboardInterrupt:
        return _failed("interrupted", EXIT_INTERRUPTED, debug=chosen.debug)
    return code


@contextlib.contextmanager
def _overflowing() -> Iterator[None]:
    """Numbers near the end of float range overflow in here: they are infinite then, and null in JSON."""
    import numpy as np

    with np.errstate(over="ignore", invalid="ignore"):
        yield


def _failed(line: str, code: int, *, debug: bool) -> int:
    """What was printed before goes out, or nowhere; then the line, behind a traceback if that was asked for."""
    try:
        output.flush()
    except (OSError, ViewerError):
        output.drop_stdout()
    if debug:
        import traceback

        with contextlib.suppress(OSError):
            traceback.print_exc()
    output.print_error(line)
    return code
