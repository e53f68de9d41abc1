"""Options and output that several commands share."""

from __future__ import annotations

import json
import re
import sys
from typing import TYPE_CHECKING

from viewer.errors import InputError, quote
from viewer.formats.load import load
from viewer.skeleton.rig import lend_rig

if TYPE_CHECKING:
    import argparse
    from collections.abc import Iterable

    from viewer.skeleton.character import Character

Json = dict[str, "Json"] | list["Json"] | str | float | int | bool | None

_FRAMES = re.compile(r"([0-9]{1,9})(?::([0-9]{1,9})(?::([0-9]{1,9}))?)?")


def add_input(parser: argparse.ArgumentParser) -> None:
    """FILE and how it is to be read."""
    parser.add_argument("file", metavar="FILE", help="BVH, JSON or NPZ file, or sample:NAME")
    add_reading(parser)


def add_reading(parser: argparse.ArgumentParser) -> None:
    """How the input is to be read."""
    group = parser.add_argument_group("describing the input")
    group.add_argument(
        "--units", default="auto", help="auto, m, cm, mm, inch, raw (1 unit = 1 m, axes stay) or metres per unit"
    )
    group.add_argument("--up", default="auto", help="auto, y or z")
    group.add_argument("--rig", metavar="JSON", help="skeleton file that lends kinds, limits and effectors by name")


def add_json(parser: argparse.ArgumentParser) -> None:
    """``--json``."""
    parser.add_argument("--json", action="store_true", help="print one JSON document")


def load_input(arguments: argparse.Namespace, file: str | None = None, *, quiet: bool = False) -> Character:
    """The character that the input options describe; its warnings go to stderr unless ``quiet``."""
    name: str = file if file is not None else arguments.file
    character = load(name, units=arguments.units, up=arguments.up)
    if arguments.rig is not None:
        character = lend_rig(character, load(arguments.rig))
    if not quiet:
        warn(f"{name}: {warning}" for warning in character.warnings)
    return character


def warn(lines: Iterable[str]) -> None:
    """Warnings to stderr, a line each."""
    for line in lines:
        sys.stderr.write(f"warning: {line}\n")


def print_json(document: Json) -> None:
    """Exactly one JSON document on stdout; there are no NaN in what this package computes."""
    print_text(json.dumps(document, indent=1, allow_nan=False))


def print_text(text: str) -> None:
    """A line, or lines, on stdout."""
    sys.stdout.write(f"{text}\n")


def frame_range(text: str, count: int) -> tuple[int, int, int]:
    """``A``, ``A:B`` or ``A:B:STEP`` as first, last (included) and step, within ``count`` frames.

    Raises:
        InputError: not of this form, or outside the clip.
    """
    match = _FRAMES.fullmatch(text.strip())
    if match is None:
        raise InputError(f"frames: expected A, A:B or A:B:STEP, counted from 0, found {quote(text)}")
    first = int(match.group(1))
    last = int(match.group(2)) if match.group(2) else first
    step = int(match.group(3)) if match.group(3) else 1
    for frame in (first, last):
        if frame >= count:
            raise InputError(f"no frame {frame}: the file has {f'frames 0 to {count - 1}' if count else 'no frames'}")
    if first > last or step < 1:
        raise InputError(f"frames {text}: expected A <= B and a step of 1 or more")
    return first, last, step


def frame_list(text: str, count: int) -> list[int]:
    """Frames of a list such as ``0,10,20:30``, in its order."""
    frames: list[int] = []
    for part in text.split(","):
        first, last, step = frame_range(part, count)
        frames += range(first, last + 1, step)
    return frames
