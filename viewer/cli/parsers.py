"""The parsers of the command line: each command's own, made when it is asked for, and what they hold.

A command is a module of this package with ``EXAMPLES``, ``add_arguments(parser)`` and ``run(arguments)``. To
make its parser imports neither numpy nor what the command works with: help, ``--version`` and completion are quick.
"""

from __future__ import annotations

import argparse
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING

import viewer
from viewer.errors import quote

if TYPE_CHECKING:
    from collections.abc import Sequence

COMMANDS = {
    "view": "open the window (what `ikviewer FILE` does)",
    "info": "say what is in a file: joints, limits, effectors, motion, units",
    "fk": "evaluate forward kinematics: world positions and rotations of all joints",
    "solve": "pose a skeleton so that all goals of a goals file are met at once",
    "convert": "convert files: formats by suffix (.bvh .json .npz .glb .gltf; out only: .csv .usda .obj .stl .ply)",
    "render": "draw a picture (PNG) of a pose, or a film (MP4, GIF) of a motion, without a screen",
    "check": "check files: a line per file and finding; exit 1 if any is refused",
    "bench": "measure solvers, kinematics and loading on this machine, and compare with earlier runs",
    "samples": "list the bundled skeletons and demos",
    "completion": "print what a shell needs to complete commands, options and names",
}
"""The commands, each with what it does."""
_MODULES = {"bench": "viewer.cli.bench.command"}
HELP = "help"
FLAGS = frozenset({"--debug", "--quiet", "-q"})
"""Options that may stand before the command, and have no value."""
_USAGE = "ikviewer [FILE]\n       ikviewer COMMAND [options]"
_EPILOG = (
    "`ikviewer [FILE]` opens the window, `ikviewer help COMMAND` tells of a command. FILE may be sample:NAME\n"
    "(`ikviewer samples` lists the names), or - for standard input."
)
_MOST_NEAR = 3


def names_of() -> list[str]:
    """What may stand first in a command line."""
    return [*COMMANDS, HELP]


def top_parser() -> argparse.ArgumentParser:
    """The parser of a command line without a command: its help, which lists the commands, and version."""
    every = {**COMMANDS, HELP: "show this, or the help of a command"}
    lines = [f"    {name:<12} {what}" for name, what in every.items()]
    return argparse.ArgumentParser(
        prog="ikviewer",
        usage=_USAGE,
        description="Pose skeletons by inverse kinematics; inspect, check, convert and draw them and their motion.\n\n"
        "commands:\n" + "\n".join(lines),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
        allow_abbrev=False,
    )


def command_parser(name: str, width: int | None = None) -> argparse.ArgumentParser:
    """The parser of a command's own words; ``width`` of its help in columns, that of the terminal unless given."""
    module, what = import_module(_MODULES.get(name, f"viewer.cli.{name}")), COMMANDS[name]
    parser = argparse.ArgumentParser(
        prog=f"ikviewer {name}",
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=module.EXAMPLES,
        formatter_class=partial(argparse.RawDescriptionHelpFormatter, width=width),
        parents=[_common(width)],
        allow_abbrev=False,
    )
    module.add_arguments(parser)
    parser.set_defaults(run=module.run, command=name)
    return parser


def _common(width: int | None = None) -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False, formatter_class=partial(argparse.HelpFormatter, width=width))
    common.add_argument("-q", "--quiet", action="store_true", help="print errors and what was asked for, nothing else")
    common.add_argument("--debug", action="store_true", help="show a traceback when something goes wrong")
    common.add_argument("--version", action="version", version=f"ikviewer {viewer.__version__}")
    return common


def parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """The arguments, in whatever order options and others stand.

    Raises:
        SystemExit: 2 for wrong usage, behind the command's own usage and one line; near names are offered.
    """
    # Behind `--` all are arguments: argparse knows that only where options do not stand among them.
    chosen, unknown = (parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args)(words)
    if unknown:
        parser.error(_unknown(parser, unknown))
    given = [value for value in vars(chosen).values() if value == "-"]
    given += [word for value in vars(chosen).values() if isinstance(value, list) for word in value if word == "-"]
    if len(given) > 1:
        parser.error("standard input (-) can be read once only, and is asked for more than once")
    return chosen


def _unknown(parser: argparse.ArgumentParser, words: list[str]) -> str:
    """What is wrong with words that the parser has no place for."""
    option = next((word for word in words if word.startswith("-")), None)
    if option is None:
        return f"expected no more arguments, found {', '.join(map(quote, words))}"
    option = option.partition("=")[0]
    known = [name for action in actions_of(parser) for name in action.option_strings]
    near = [name for name in known if name.startswith(option) and len(option) > 3]
    if not near:
        import difflib

        bare = {name.strip("-"): name for name in known}
        near = [bare[name] for name in difflib.get_close_matches(option.strip("-"), bare, n=_MOST_NEAR, cutoff=0.6)]
    hint = (
        f"did you mean {' or '.join(map(quote, near[:_MOST_NEAR]))}?" if near else f'"{parser.prog} --help" lists them'
    )
    return f"no option {quote(option)}; {hint}"


def actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All options and arguments that a parser takes."""
    return parser._actions  # noqa: SLF001 - argparse tells of them in no other way
