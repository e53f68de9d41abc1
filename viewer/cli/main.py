"""The entry of the command: arguments to a command's function, errors to one line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import sys
import traceback
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

import viewer
from viewer.cli import output
from viewer.cli.progress import progress_bars
from viewer.errors import ViewerError, missing_library

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = ("view", "info", "fk", "solve", "convert", "render", "check", "bench", "samples")
"""Each is a module of this package with ``HELP``, ``EXAMPLES``, ``add_arguments(parser)`` and ``run(arguments)``."""

EXIT_INTERRUPTED = 130
"""What shells expect of a program stopped by Ctrl+C: 128 + SIGINT."""


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
    parser = _parser()
    chosen = parser.parse_args(_with_command(sys.argv[1:] if arguments is None else arguments))
    return _guarded(chosen)


def _with_command(arguments: Sequence[str]) -> list[str]:
    """The arguments with the command that they imply: ``ikviewer FILE`` is ``ikviewer view FILE``."""
    words = [argument for argument in arguments if not argument.startswith("-")]
    if any(word in COMMANDS for word in words[:1]) or {"-h", "--help", "--version"} & set(arguments):
        return list(arguments)
    # A bare word that is no file is a mistyped command, and argparse says which ones there are.
    if words[:1] and not (words[0].startswith(("sample:", "demo:")) or "." in words[0] or Path(words[0]).exists()):
        first = arguments.index(words[0])
        if first == 0 or not arguments[first - 1].startswith("-") or arguments[first - 1] == "--debug":
            return list(arguments)
    return ["view", *arguments]


def _guarded(chosen: argparse.Namespace) -> int:
    """Run the command chosen; what goes wrong becomes one line and an exit code."""
    try:
        # Numbers near the end of float range overflow: they are infinite then, and null in JSON.
        with progress_bars(), np.errstate(over="ignore", invalid="ignore"):
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
        lacking = missing_library(f"ikviewer {chosen.command}", error)
        return _failed(f"error: {lacking}", lacking.exit_code, debug=chosen.debug)
    except MemoryError:
        return _failed("error: not enough memory for this", ViewerError.exit_code, debug=chosen.debug)
    except KeyboardInterrupt:
        return _failed("interrupted", EXIT_INTERRUPTED, debug=chosen.debug)
    return code


def _failed(line: str, code: int, *, debug: bool) -> int:
    """What was printed before goes out, or nowhere; then the line, behind a traceback if that was asked for."""
    try:
        output.flush()
    except (OSError, ViewerError):
        output.drop_stdout()
    if debug:
        with contextlib.suppress(OSError):
            traceback.print_exc()
    output.print_error(line)
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="ikviewer",
        description="Pose skeletons by inverse kinematics; inspect, check, convert and draw them and their motion.",
        epilog="`ikviewer [FILE]` opens the window. FILE may be sample:NAME; `ikviewer samples` lists the names.",
        parents=[_common(debug=False)],
        allow_abbrev=False,
    )
    parser.set_defaults(command=None)
    commands = parser.add_subparsers(metavar="COMMAND", dest="command")
    for name in COMMANDS:
        module = import_module(f"viewer.cli.{name}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            # A default here would undo a --debug that stands before the command.
            parents=[_common(debug=argparse.SUPPRESS)],
            allow_abbrev=False,
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def _common(debug: bool | str) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument(
        "--debug", action="store_true", default=debug, help="show a traceback when something goes wrong"
    )
    common.add_argument("--version", action="version", version=f"ikviewer {viewer.__version__}")
    return common
