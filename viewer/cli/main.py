"""The entry of the command: arguments to a command's function, errors to one line and an exit code."""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from importlib import import_module
from typing import TYPE_CHECKING

import viewer
from viewer.errors import OutputError, ViewerError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

COMMANDS = ("info", "fk", "convert", "check", "samples")
"""Each is a module of this package with ``HELP``, ``EXAMPLES``, ``add_arguments(parser)`` and ``run(arguments)``."""

EXIT_INTERRUPTED = 130
"""What shells expect of a program stopped by Ctrl+C: 128 + SIGINT."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command.

    Args:
        arguments: of the command line, without the program's name; those of the process unless given.

    Returns:
        0 done; 1 input or output that cannot be used; 2 wrong usage (argparse); 3 the machine lacks something.
    """
    _make_output_safe()
    parser = _parser()
    chosen = parser.parse_args(arguments)
    try:
        with _output_errors():
            result: int = chosen.run(chosen)
            sys.stdout.flush()
    except ViewerError as error:
        if chosen.debug:
            raise
        return _failed(f"error: {error}", error.exit_code)
    except MemoryError:
        if chosen.debug:
            raise
        return _failed("error: not enough memory for this file", ViewerError.exit_code)
    except KeyboardInterrupt:
        return _failed("interrupted", EXIT_INTERRUPTED)
    return result


def _failed(line: str, code: int) -> int:
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    sys.stderr.write(f"{line}\n")
    return code


@contextlib.contextmanager
def _output_errors() -> Iterator[None]:
    """A reader that has gone away (``| head``) ends the command quietly; other trouble with stdout is an error."""
    try:
        yield
    except BrokenPipeError:
        # Python flushes stdout once more at exit: give it somewhere to go.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise OutputError(f"standard output: {error.strerror}") from error


def _make_output_safe() -> None:
    """Names in any script must not end the command on a terminal that cannot show them."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _parser() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    common.add_argument("--debug", action="store_true", help="show a traceback when something goes wrong")
    common.add_argument("--version", action="version", version=f"ikviewer {viewer.__version__}")
    parser = argparse.ArgumentParser(
        prog="ikviewer",
        description="Inspect, check, convert and evaluate skeletons and their motion (BVH, JSON, NPZ).",
        epilog="FILE may be sample:NAME; `ikviewer samples` lists the names.",
        parents=[common],
    )
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"viewer.cli.{name}")
        command = commands.add_parser(
            name,
            help=module.HELP,
            description=module.HELP,
            epilog=module.EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            parents=[common],
        )
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser
