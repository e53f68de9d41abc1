"""Options that several commands share, checked while they are parsed: a wrong one is wrong usage (exit 2)."""

from __future__ import annotations

import argparse
import math
import re
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from viewer.cli.inputs import as_character, is_session, open_session, refuse_demo
from viewer.cli.output import warn
from viewer.cli.standard_input import is_standard_input, load_standard_input
from viewer.errors import InputError, ViewerError, quote, unknown_name

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.document.document import Document
    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip

T = TypeVar("T")

SOLVERS = ("default", "dls", "sdls", "pseudo-inverse", "transpose", "ccd", "ccd-from-base", "two-link", "single-bone")
"""Methods by name (`viewer.ik.solver_options.METHOD_NAMES`; importing it takes longer than to parse a command line)."""

BACKENDS = ("auto", "numpy", "numba")

_COUNT = re.compile(r"[0-9]{1,9}")
_FRAMES = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9})(?::([0-9]{1,9}))?)?")


def add_input(parser: argparse.ArgumentParser) -> None:
    """FILE and how it is to be read."""
    parser.add_argument(
        "file", metavar="FILE", help="BVH, JSON, NPZ or glTF file, a session (.ikv.json), sample:NAME, or - (stdin)"
    )
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How the input is to be read."""
    group = parser.add_argument_group("describing the input")
    group.add_argument(
        "--units",
        type=checked(_units),
        default="auto",
        metavar="U",
        help="auto, m, cm, mm, inch, raw (1 unit = 1 m, axes stay) or metres per unit",
    )
    group.add_argument("--up", type=checked(_up), default="auto", metavar="AXIS", help="auto, y or z")
    group.add_argument(
        "--rig", metavar="FILE", help="skeleton file that lends kinds, limits, stiffness and effectors by joint name"
    )


def add_clip(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """``--clip``."""
    parser.add_argument("--clip", metavar="NAME", help="which motion, of a file with several")


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def add_choice(
    parser: argparse.ArgumentParser | argparse._ArgumentGroup,
    option: str,
    names: tuple[str, ...],
    *,
    told: str,
    default: str | None = None,
    metavar: str | None = None,
    kind: str = "",
) -> None:
    """An option, or argument, that takes one of these names; near ones are offered for a mistyped one.

    Args:
        parser: that it is added to.
        option: its name.
        names: its values.
        told: its help.
        default: its value where it is not given.
        metavar: what the help calls its value; without it lists the names.
        kind: what messages call the names; unless given as the option.
    """
    kind = kind or option.strip("-")

    def one_of(text: str) -> str:
        if text not in names:
            raise argparse.ArgumentTypeError(unknown_name(kind, text, names))
        return text

    parser.add_argument(option, type=one_of, choices=names, help=told, default=default, metavar=metavar)


def add_solver(parser: argparse.ArgumentParser | argparse._ArgumentGroup, default: str | None = None) -> None:
    """``--solver``, ``--backend`` and ``--no-limits``."""
    add_choice(parser, "--solver", SOLVERS, told=", ".join(SOLVERS), default=default, metavar="NAME")
    add_choice(
        parser, "--backend", BACKENDS, told="what computes (default: auto)", default=None if default is None else "auto"
    )
    parser.add_argument("--no-limits", action="store_true", help="ignore joint limits")


def checked(check: Callable[[str], T]) -> Callable[[str], T]:
    """A check of the library's as argparse wants it."""

    def convert(text: str) -> T:
        try:
            return check(text)
        except ViewerError as error:
            message = str(error)  # "units: expected ..."; argparse names the option
            raise argparse.ArgumentTypeError(message[message.find("expected") :]) from error

    return convert


def _units(text: str) -> str:
    from viewer.formats.units import check_units

    return check_units(text)


def _up(text: str) -> str:
    from viewer.formats.units import check_up

    return check_up(text)


def positive(text: str) -> float:
    """A finite number above 0."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (number > 0 and math.isfinite(number)):
        raise argparse.ArgumentTypeError(f"expected a number above 0, found {quote(text)}")
    return number


def part(text: str) -> float:
    """A number from 0 to 1."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise argparse.ArgumentTypeError(f"expected a number from 0 to 1, found {quote(text)}")
    return number


def count(text: str, least: int = 0) -> int:
    """A whole number, 0 (or what else is the least) or more."""
    if _COUNT.fullmatch(text.strip()) is None or int(text) < least:
        raise argparse.ArgumentTypeError(f"expected a whole number, {least} or more, found {quote(text)}")
    return int(text)


def add_jobs(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """``--jobs``."""
    parser.add_argument(
        "--jobs", type=partial(count, least=1), default=1, metavar="N", help="so many processes at a time (default 1)"
    )


def frame_range(text: str) -> range:
    """``A``, ``A:B`` or ``A:B:STEP``, counted from 0, both ends included."""
    match = _FRAMES.fullmatch(text.strip())
    if match is None:
        raise argparse.ArgumentTypeError(f"expected A, A:B or A:B:STEP, counted from 0, found {quote(text)}")
    first = int(match.group(1))
    last = int(match.group(2)) if match.group(2) else first
    step = int(match.group(3)) if match.group(3) else 1
    if first > last or step < 1:
        raise argparse.ArgumentTypeError(f"expected A <= B and a step of 1 or more, found {quote(text)}")
    return range(first, last + 1, step)


def frame_list(text: str) -> list[range]:
    """Frames such as ``0,10,20:30``."""
    return [frame_range(part) for part in text.split(",")]


def load_input(
    arguments: argparse.Namespace, file: str, *, quiet: bool = False, document: Document | None = None
) -> Character:
    """The character that the input options describe; its warnings go to stderr unless ``quiet``.

    Args:
        arguments: with the input options.
        file: of a skeleton, motion, or session.
        quiet: warnings stay in the character.
        document: of the session file, if it was read before.
    """
    character = _read(file, arguments.units, arguments.up, document)
    if arguments.rig is not None:
        from dataclasses import replace

        from viewer.skeleton.rig import lend_rig

        rig = _read(arguments.rig)
        odd = tuple(f"{arguments.rig}: {warning}" for warning in rig.warnings)
        character = lend_rig(character, rig)
        character = replace(character, warnings=(*character.warnings, *odd))
    if not quiet:
        warn(f"{file}: {warning}" for warning in character.warnings)
    return character


def _read(file: str, units: str = "auto", up: str = "auto", document: Document | None = None) -> Character:
    """Of what kind it may be: a file that `load` reads, or a session."""
    refuse_demo(file)
    if is_standard_input(file):
        return load_standard_input(units, up)
    if not is_session(file):
        from viewer.formats.load import load

        return load(file, units=units, up=up)
    from dataclasses import replace

    character = as_character(open_session(file) if document is None else document)
    # What was odd about the session's own file was said when that was opened.
    said = ("a session knows its units and axes: nothing was converted",) if (units, up) != ("auto", "auto") else ()
    return replace(character, warnings=said)


def motion_of(character: Character, file: str) -> Clip:
    """The first clip.

    Raises:
        InputError: there is none.
    """
    if character.clip is None:
        raise InputError(f"{file}: expected motion, found a skeleton without frames")
    return character.clip


def chosen_clip(character: Character, name: str | None, file: str) -> Character:
    """The character with that clip as its only one.

    Raises:
        InputError: there is none of that name.
    """
    from dataclasses import replace
    from types import MappingProxyType

    if name is None:
        return character
    if name not in character.clips:
        motion_of(character, file)
        raise InputError(f"{file}: {unknown_name('clip', name, character.clips)}")
    return replace(character, clips=MappingProxyType({name: character.clips[name]}))


def check_frames(clip: Clip, file: str, *frames: int) -> None:
    """Raise InputError, naming the file, unless these frames are the clip's."""
    for frame in frames:
        try:
            clip.check_frame(frame)
        except InputError as error:
            raise InputError(f"{file}: {error}") from None
