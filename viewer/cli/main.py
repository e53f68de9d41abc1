"""The command line of ``ikviewer``: the table of commands, their parsers, and how one is run.

A command NAME is a class ``NameOptions`` and a function ``run_NAME(options)``, which returns one or several `Result`,
in the modules that the table names. Modules of options load neither numpy nor anything else that only the work needs:
help, ``--version`` and completion are fast. The module of the work is loaded when the command runs. Every error
becomes one line and an exit code.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import sys
from collections.abc import Iterable, Sequence
from importlib import import_module
from typing import Any, NamedTuple, NoReturn

import viewer
from viewer.cli import job
from viewer.cli.job import Field, Options, Result, UsageError, add_fields, fields_of, made_from, print_results
from viewer.errors import ViewerError, is_own, missing_library, quote, unknown_name
from viewer.formats.file_formats import POINT_FILES, READ, WRITTEN

_BOTH_WAYS = " ".join(suffix for suffix in READ if suffix in WRITTEN)
_ONLY_READ = " ".join(suffix for suffix in READ if suffix not in WRITTEN)
_ONLY_WRITTEN = " ".join(suffix for suffix in WRITTEN if suffix not in READ)

HELP = "help"
FLAGS = frozenset({"--debug", "--quiet", "-q"})
"""Flags that may come before the command."""
COMMON_FLAGS = (
    Field(names=("-h", "--help"), help="show this help message and exit", is_option=True),
    Field(names=("-q", "--quiet"), help="print only errors and the requested output", is_option=True),
    Field(names=("--debug",), help="show a traceback when something goes wrong", is_option=True),
    Field(names=("--version",), help="show program's version number and exit", is_option=True),
)
"""Flags of every command."""
_USAGE = "ikviewer [FILE]\n       ikviewer COMMAND [options]"
_EPILOG = (
    "`ikviewer [FILE]` opens the window, `ikviewer help COMMAND` describes a command. FILE may be sample:NAME\n"
    "(`ikviewer samples` lists the names), or - for standard input."
)
_MOST_NEAR = 3

EXIT_INTERRUPTED = 130
"""Exit code that shells expect after Ctrl+C: 128 + SIGINT."""

_ASKING = frozenset({"-h", "--help", "--version"})
_WITHOUT_NUMBERS = ("completion",)
"""Commands that do not need numpy, which takes longer to import than they take to run."""


class Command(NamedTuple):
    """A line of the table: what the command does, and the modules of its options and of its work."""

    help: str
    options: str
    work: str


COMMANDS = {
    "view": Command("open the window (what `ikviewer FILE` does)", "options", "view_command"),
    "info": Command("say what is in a file: joints, limits, effectors, motion, units", "file_options", "info_command"),
    "fk": Command(
        "evaluate forward kinematics: world positions and rotations of all joints", "file_options", "info_command"
    ),
    "solve": Command(
        "pose a skeleton so that all goals of a goals file are met at once", "solving_options", "solving_commands"
    ),
    "lab": Command(
        "compare methods: several solve the same goals, iteration by iteration; a report",
        "solving_options",
        "solving_commands",
    ),
    "layer": Command(
        "put goals over time on a motion, such as a hand that reaches for a button",
        "solving_options",
        "solving_commands",
    ),
    "retarget": Command(
        "put motions on another skeleton with other names, rest pose and proportions",
        "file_options",
        "motion_commands",
    ),
    "feet": Command("measure how much feet slide, and plant them", "file_options", "motion_commands"),
    "convert": Command(
        f"convert files by suffix: {_BOTH_WAYS}; only from {_ONLY_READ}; only to {_ONLY_WRITTEN}",
        "file_options",
        "file_commands",
    ),
    "fit": Command(
        f"fit a skeleton to positions of joints ({' '.join(POINT_FILES)}) or to motion of AMASS, and write it",
        "file_options",
        "motion_commands",
    ),
    "build": Command("make a new skeleton: a chain of bones", "file_options", "file_commands"),
    "edit": Command(
        "add, split, mirror, remove, rename joints of a skeleton; its motion goes along",
        "file_options",
        "file_commands",
    ),
    "simulate": Command(
        "simulate a figure: driven to a pose, pushed, hit by balls (MuJoCo)", "solving_options", "simulate_command"
    ),
    "limits": Command("learn a rig's joint limits from folders of motion", "file_options", "motion_commands"),
    "render": Command(
        "draw a picture (PNG) of a pose, or a film (MP4, GIF) of a motion, without a screen",
        "options",
        "picture_commands",
    ),
    "check": Command(
        "check files: a line per file and finding; exit 1 if any is refused", "file_options", "check_command"
    ),
    "bench": Command(
        "measure solvers, kinematics and loading on this machine, and compare with earlier runs",
        "solving_options",
        "bench_command",
    ),
    "poses": Command("list the poses of a library, and draw their pictures", "options", "picture_commands"),
    "samples": Command("list the bundled skeletons and demos", "file_options", "file_commands"),
    "completion": Command(
        "print what a shell needs to complete commands, options and names", "file_options", "completion_command"
    ),
}
"""The commands, in the order of the help."""


def options_of(name: str) -> type[Options]:
    """The class of a command's options."""
    module = import_module(f"viewer.cli.{COMMANDS[name].options}")
    found: type[Options] = getattr(module, f"{name.capitalize()}Options")
    return found


def run_command(name: str, options: Options) -> Result | Iterable[Result]:
    """Load the module of a command and run it, unless it would replace what it reads."""
    outputs = job.named_files(options, written=True)
    if "" in outputs:
        raise UsageError('expected the name of a file to write, found ""')
    job.check_kept(outputs, job.named_files(options, written=False))
    work = import_module(f"viewer.cli.{COMMANDS[name].work}")
    results: Result | Iterable[Result] = getattr(work, f"run_{name}")(options)
    return results


def names_of() -> list[str]:
    """All commands and "help"."""
    return [*COMMANDS, HELP]


def top_parser() -> CommandParser:
    """The parser for a command line without a command; its help lists the commands."""
    every = {name: command.help for name, command in COMMANDS.items()}
    every[HELP] = "show this, or the help of a command"
    lines = [f"    {name:<12} {what}" for name, what in every.items()]
    return CommandParser(
        prog="ikviewer",
        usage=_USAGE,
        description="Pose skeletons by inverse kinematics; inspect, check, convert and draw them and their motion.\n\n"
        "commands:\n" + "\n".join(lines),
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
        allow_abbrev=False,
    )


def command_parser(name: str) -> CommandParser:
    """The parser of a command's options and arguments."""
    options, what = options_of(name), COMMANDS[name].help
    parser = CommandParser(
        prog=f"ikviewer {name}",
        usage=options.usage or _usage(name, options),
        description=f"{what[0].upper()}{what[1:]}.",
        epilog=options.examples,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        parents=[_common()],
        allow_abbrev=False,
    )
    add_fields(parser, options)
    return parser


def _usage(name: str, options: type[Options]) -> str:
    """What must be given: a list of all options would hide what a message says is wrong."""
    words = [f"ikviewer {name} [options]"]
    for field in fields_of(options):
        if field.is_option and field.required:
            words.append(f"{field.names[0]} {field.metavar}")
        elif not field.is_option:
            word = field.metavar + ("..." if field.nargs in {"+", "*"} else "")
            words.append(f"[{word}]" if field.nargs in {"?", "*"} else word)
    return " ".join(words)


def _common() -> argparse.ArgumentParser:
    common = argparse.ArgumentParser(add_help=False)
    for field in COMMON_FLAGS[1:3]:
        common.add_argument(*field.names, action="store_true", help=field.help)
    common.add_argument("--version", action="version", version=f"ikviewer {viewer.__version__}")
    return common


class CommandParser(argparse.ArgumentParser):
    """A parser whose errors are `UsageError`s; that its help cannot be written is an error, too."""

    def error(self, message: str) -> NoReturn:
        """Raise the error; `end` prints it."""
        raise UsageError(message)

    def end(self, error: UsageError) -> NoReturn:
        """Print the usage and the error, and end the program."""
        super().error(str(error))

    def _print_message(self, message: str, file: Any = None) -> None:  # noqa: ANN401 - of typeshed's own type
        if file is not sys.stdout:
            job.write_error(message)
            return
        with job.stdout_errors():
            file.write(message)
            file.flush()


def parsed(parser: CommandParser, words: Sequence[str]) -> argparse.Namespace:
    """The parsed arguments; options and positional arguments may be in any order.

    Raises:
        UsageError: one line, which offers similar names.
    """
    # After `--` all words are arguments: argparse supports that only without intermixed options.
    try:
        chosen, unknown = (parser.parse_known_args if "--" in words else parser.parse_known_intermixed_args)(words)
    except UsageError as error:
        if str(error).startswith("the following arguments are required"):
            known = {name for action in actions_of(parser) for name in action.option_strings}
            strange = [word for word in words if word.startswith("--") and word.partition("=")[0] not in known]
            if strange and "--" not in words:  # perhaps the mistyped name of what is missing
                parser.error(_unknown(parser, strange))
            # Python 3.11 looks for options first where both may be intermixed, and names only these.
            parser.parse_known_args(words)
        raise
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; every error becomes one line and an exit code.

    Args:
        arguments: of the command line, without the program's name; those of the process unless given.

    Returns:
        0 done; 1 input or output that cannot be used; 2 wrong usage; 3 the machine lacks something.

    Raises:
        SystemExit: by argparse: 0 after ``--help`` and ``--version``, 2 for wrong usage.
    """
    job.make_streams_safe()
    job.be_quiet(False)
    parser: CommandParser | None = None
    name, file = "", None
    try:
        name, words = _command_of(list(sys.argv[1:] if arguments is None else arguments))
        parser = command_parser(name)
        chosen = parsed(parser, words)
        job.be_quiet(chosen.quiet, debug=chosen.debug)
        file = getattr(chosen, "file", None)
        code = _ran(name, made_from(options_of(name), chosen))
        job.flush()
    except UsageError as error:
        (parser or top_parser()).end(error)
    except BrokenPipeError:
        job.drop(sys.stdout)  # the reader (``| head``) has closed the pipe
        return 0
    except (Exception, KeyboardInterrupt) as error:  # noqa: BLE001 - bugs of the program among them
        return _failed(error, *_line_and_code(error, name, file))
    return code


def _command_of(words: list[str]) -> tuple[str, list[str]]:
    """The command and its arguments: ``ikviewer FILE`` is ``ikviewer view FILE``; handles ``help`` and ``--version``.

    Raises:
        SystemExit: by argparse: the help was printed.
        UsageError: the command is unknown.
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


def _ran(name: str, options: Options) -> int:
    """Run a command and print its results."""
    with contextlib.ExitStack() as stack:
        if not job.is_quiet():
            stack.enter_context(job.progress_bars())
        if name not in _WITHOUT_NUMBERS:
            # Numbers overflow silently: they become infinite, which is null in JSON.
            stack.enter_context(import_module("numpy").errstate(over="ignore", invalid="ignore"))
        as_json, writes = bool(getattr(options, "json", False)), bool(job.named_files(options, written=True))
        return print_results(run_command(name, options), as_json=as_json, writes=writes)


def _line_and_code(error: BaseException, name: str, file: str | None) -> tuple[str, int]:
    """The line that an error becomes, and its exit code."""
    cause: BaseException | None = error
    while cause is not None:  # what is interrupted may raise an error of its own, such as a library that loads
        if isinstance(cause, KeyboardInterrupt):
            return "interrupted", EXIT_INTERRUPTED
        cause = cause.__cause__
    if isinstance(error, ModuleNotFoundError) and not is_own(error):
        error = missing_library(f"ikviewer {name}", error)
    if isinstance(error, ViewerError):
        return f"error: {error}", error.exit_code
    if isinstance(error, MemoryError):
        return "error: not enough memory for this", ViewerError.exit_code
    return f"error: {_fault(error, name, file)}", ViewerError.exit_code


def _fault(error: BaseException, name: str, file: str | None) -> str:
    """The line for a bug of the program, with the command's file if it has one."""
    from viewer.session.user_files import fault_line  # noqa: PLC0415 - only for a bug

    try:
        os.getcwd()  # noqa: PTH109 - any use of a relative name fails without it
    except OSError:
        return "the working folder does not exist any more: change to another one"
    return fault_line(error, f"ikviewer {name}".strip(), "command") if file is None else fault_line(error, file)


def _failed(error: BaseException, line: str, code: int) -> int:
    """Flush stdout or drop its buffer; then print the line, after a traceback with ``--debug``."""
    try:
        job.flush()
    except (OSError, ViewerError):
        job.drop(sys.stdout)
    if job.is_debug():
        job.print_traceback(error)
    job.print_error(line)
    return code
