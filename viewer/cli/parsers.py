"""The table of commands, and their parsers, which are made from their options.

A command NAME is a class ``NameOptions``, in the module of options that the table names, and a function
``run(options)`` in ``NAME_command.py``, which returns one or several `Result`. Modules of options load neither numpy
nor anything else that only the work needs: help, ``--version`` and completion are fast. ``NAME_command.py`` is loaded
when the command runs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import NamedTuple

import viewer
from viewer.cli.job import Options, Result, add_fields
from viewer.errors import quote
from viewer.formats.file_formats import READ, WRITTEN


class Command(NamedTuple):
    """A line of the table: what the command does, and the module of its options."""

    help: str
    options: str


_BOTH_WAYS = " ".join(suffix for suffix in READ if suffix in WRITTEN)
_ONLY_READ = " ".join(suffix for suffix in READ if suffix not in WRITTEN)
_ONLY_WRITTEN = " ".join(suffix for suffix in WRITTEN if suffix not in READ)

COMMANDS = {
    "view": Command("open the window (what `ikviewer FILE` does)", "picture_options"),
    "info": Command("say what is in a file: joints, limits, effectors, motion, units", "file_options"),
    "fk": Command("evaluate forward kinematics: world positions and rotations of all joints", "file_options"),
    "solve": Command("pose a skeleton so that all goals of a goals file are met at once", "solving_options"),
    "lab": Command(
        "compare methods: several solve the same goals, iteration by iteration; a report", "solving_options"
    ),
    "layer": Command("put goals over time on a motion, such as a hand that reaches for a button", "solving_options"),
    "retarget": Command(
        "put motions on another skeleton, whatever its names, rest pose and proportions are", "motion_options"
    ),
    "feet": Command("measure how much feet slide, and plant them", "motion_options"),
    "convert": Command(
        f"convert files by suffix: {_BOTH_WAYS}; only from {_ONLY_READ}; only to {_ONLY_WRITTEN}",
        "file_options",
    ),
    "fit": Command(
        "fit a skeleton to positions of joints (.npy .npz .csv) or to motion of AMASS, and write it", "motion_options"
    ),
    "build": Command("make a new skeleton: a chain of bones", "file_options"),
    "edit": Command("add, split, mirror, remove, rename joints of a skeleton; its motion goes along", "file_options"),
    "simulate": Command("simulate a figure: driven to a pose, pushed, hit by balls (MuJoCo)", "solving_options"),
    "limits": Command("learn a rig's joint limits from folders of motion", "motion_options"),
    "render": Command(
        "draw a picture (PNG) of a pose, or a film (MP4, GIF) of a motion, without a screen", "picture_options"
    ),
    "check": Command("check files: a line per file and finding; exit 1 if any is refused", "file_options"),
    "bench": Command(
        "measure solvers, kinematics and loading on this machine, and compare with earlier runs", "solving_options"
    ),
    "poses": Command("list the poses of a library, and draw their pictures", "picture_options"),
    "samples": Command("list the bundled skeletons and demos", "file_options"),
    "completion": Command("print what a shell needs to complete commands, options and names", "file_options"),
}
"""The commands, in the order of the help."""
HELP = "help"
FLAGS = frozenset({"--debug", "--quiet", "-q"})
"""Flags that may come before the command."""
COMMON_FLAGS = (
    (("-h", "--help"), "show this help message and exit"),
    (("-q", "--quiet"), "print only errors and the requested output"),
    (("--debug",), "show a traceback when something goes wrong"),
    (("--version",), "show program's version number and exit"),
)
"""Flags of every command."""
_USAGE = "ikviewer [FILE]\n       ikviewer COMMAND [options]"
_EPILOG = (
    "`ikviewer [FILE]` opens the window, `ikviewer help COMMAND` describes a command. FILE may be sample:NAME\n"
    "(`ikviewer samples` lists the names), or - for standard input."
)
_MOST_NEAR = 3


def options_of(name: str) -> type[Options]:
    """The class of a command's options."""
    module = import_module(f"viewer.cli.{COMMANDS[name].options}")
    found: type[Options] = getattr(module, f"{name.capitalize()}Options")
    return found


def run_command(name: str, options: Options) -> Result | Iterable[Result]:
    """Load the module of a command and run it."""
    results: Result | Iterable[Result] = import_module(f"viewer.cli.{name}_command").run(options)
    return results


def names_of() -> list[str]:
    """All commands and "help"."""
    return [*COMMANDS, HELP]


def top_parser() -> argparse.ArgumentParser:
    """The parser for a command line without a command; its help lists the commands."""
    every = {name: command.help for name, command in COMMANDS.items()}
    every[HELP] = "show this, or the help of a command"
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


def command_parser(name: str) -> argparse.ArgumentParser:
    """The parser of a command's options and arguments."""
    options, what = options_of(name), COMMANDS[name].help
    parser = argparse.ArgumentParser(
        prog=f"ikviewer {name}",
        usage=options.usage,
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=options.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
        allow_abbrev=False,
    )
    add_fields(parser, options)
    return parser


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    for names, text in COMMON_FLAGS[1:3]:
        common.add_argument(*names, action="store_true", help=text)
    common.add_argument("--version", action="version", version=f"ikviewer {viewer.__version__}")
    return common


def parsed(parser: argparse.ArgumentParser, words: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; options and positional arguments may be in any order.

    Raises:
        SystemExit: 2 for wrong usage, after the command's usage and one line, which offers similar names.
    """
    # After `--` all words are arguments: argparse supports that only without intermixed options.
    chosen, unknown = (parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args)(words)
    if unknown:
        parser.error(_unknown(parser, unknown))
    given = [value for value in vars(chosen).values() if value == "-"]
    given += [word for value in vars(chosen).values() if isinstance(value, list) for word in value if word == "-"]
    if len(given) > 1:
        parser.error("standard input (-) can be read once only, and is asked for more than once")
    return chosen


def _unknown(parser: argparse.ArgumentParser, words: list[str]) -> str:
    """The message about words that the parser does not know."""
    option = next((word for word in words if word.startswith("-")), None)
    if option is None:
        return f"expected no more arguments, found {', '.join(map(quote, words))}"
    option = option.partition("=")[0]
    known = [name for action in actions_of(parser) for name in action.option_strings]
    near = [name for name in known if name.startswith(option) and len(option) > 3]
    if not near:
        import difflib  # noqa: PLC0415 - only for a mistyped option

        bare = {name.strip("-"): name for name in known}
        near = [bare[name] for name in difflib.get_close_matches(option.strip("-"), bare, n=_MOST_NEAR, cutoff=0.6)]
    hint = (
        f"did you mean {' or '.join(map(quote, near[:_MOST_NEAR]))}?" if near else f'"{parser.prog} --help" lists them'
    )
    return f"no option {quote(option)}; {hint}"


def actions_of(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """All options and arguments that a parser takes."""
    return parser._actions  # noqa: SLF001 - argparse has no public way
