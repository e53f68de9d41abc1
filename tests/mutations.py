"""Damaged files by the thousand, each from one number, and what must hold of whatever a reader makes of them.

The tests run a few thousand, ``benchmarks/fuzz.py`` a million.
"""

from __future__ import annotations

import random
import re
import tempfile
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from bvh_texts import ARM, XYZ, ZXY, Joint, text_of
from characters import every_kind

from viewer.errors import ViewerError
from viewer.formats.bvh.parse import parse_bvh
from viewer.formats.bvh.reader import build
from viewer.formats.bvh.writer import bvh_lines
from viewer.formats.load import READERS
from viewer.formats.save import save
from viewer.skeleton.kinematics import fk, fk_clip

if TYPE_CHECKING:
    from viewer.skeleton.character import Character

NASTY = (
    b"", b"0", b"-1", b"7", b"1e999", b"-1e100", b"1e-320", b"NaN", b"-inf", b"0x10", b"1_0", b"1,5", b"0.5-7.5",
    b"+.5", b"5.", b"\xef\xbc\x94", b"9" * 400,
    b"99999999999999999999", b"{", b"}", b"{}", b"}}", b"[", b"]", b",", b":",
    b'"', b"null", b"true", b"HIERARCHY", b"ROOT", b"JOINT", b"End", b"Site", b"OFFSET", b"CHANNELS", b"MOTION",
    b"Frames:", b"Frame Time:", b"Xposition", b"Zrotation", b"\n", b"\r", b"\t", b" ", b"\0", b"\xff", b"\xff\xfe",
    b"\xef\xbb\xbf", b"\\ud800", b"\xe2\x80\xa8", b"\x0c",
)  # fmt: skip
NUMBERS = (
    b"0", b"-0", b"1e100", b"-1e100", b"1e50", b"1e-320", b"-1e-100", b"1e8", b"1e-8", b"90", b"-180", b"720",
    b"89.99999999999999", b"3", b"40", b"400", b"1", b"-1", b"0.7071067811865476", b"2e-16",
)  # fmt: skip
_NUMBER = re.compile(rb"(?<![\w.])-?[0-9.]+(?:e-?[0-9]+)?(?![\w.])")
_TOKEN = re.compile(rb"[^\s,:\[\]]+")
_MOST_GROWTH = 4000


def two_roots() -> str:
    """Position channels below the root, five orders, a joint without channels, several tips, names that repeat."""
    slide = Joint("slide", (0, 1, 0), "Yposition", tips=[(0, 1, 0), (1, 0, 0)])
    first = Joint("a b", (0, 90, 0), f"{ZXY} {XYZ}", [slide, Joint("slide", (1, 0, 0), "Yrotation Xrotation")])
    second = Joint("Hüfte", (5, 0, 0), "", [Joint("still", channels="")])
    return text_of(first, second, rows=np.random.default_rng(1).uniform(-90, 90, (3, 9)).tolist())


@cache
def seeds() -> dict[str, list[bytes]]:
    """Small whole files by suffix."""
    result = {".bvh": [ARM.encode(), two_roots().encode()]}
    with tempfile.TemporaryDirectory() as folder:
        for suffix in (".json", ".npz"):
            path = Path(folder, f"a{suffix}")
            save(every_kind(), path)
            result[suffix] = [path.read_bytes()]
    return result


def mutant(suffix: str, number: int) -> bytes:
    """A damaged file: the same for the same number."""
    dice = random.Random(number)
    data = dice.choice(seeds()[suffix])
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        data = dice.choice(CHANGES)(data, dice)[: len(data) + _MOST_GROWTH]
    return data


def flip(data: bytes, dice: random.Random) -> bytes:
    if not data:
        return data
    place = dice.randrange(len(data))
    return data[:place] + bytes([data[place] ^ 1 << dice.randrange(8)]) + data[place + 1 :]


def cut(data: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(data) + 1)
    return data[:place] + data[place + dice.choice((1, 1, 2, 9, 99)) :]


def truncate(data: bytes, dice: random.Random) -> bytes:
    return data[: dice.randrange(len(data) + 1)]


def insert(data: bytes, dice: random.Random) -> bytes:
    place = dice.randrange(len(data) + 1)
    return data[:place] + dice.choice(NASTY) * dice.choice((1, 1, 1, 2, 50)) + data[place:]


def swap_token(data: bytes, dice: random.Random) -> bytes:
    """One word becomes a nasty one, or another of the same file."""
    tokens = list(_TOKEN.finditer(data))
    if not tokens:
        return data
    token = dice.choice(tokens)
    other = dice.choice(NASTY) if dice.random() < 0.6 else dice.choice(tokens).group()
    return data[: token.start()] + other + data[token.end() :]


def swap_number(data: bytes, dice: random.Random) -> bytes:
    """A number becomes one that is awkward and allowed: most of these files load."""
    numbers = list(_NUMBER.finditer(data))
    if not numbers:
        return data
    number = dice.choice(numbers)
    return data[: number.start()] + dice.choice(NUMBERS) + data[number.end() :]


def change_line(data: bytes, dice: random.Random) -> bytes:
    """A line deleted, doubled, moved, or joined with the next."""
    lines = data.split(b"\n")
    place = dice.randrange(len(lines))
    line = lines.pop(place)
    match dice.randrange(4):
        case 1:
            lines[place:place] = [line] * dice.choice((2, 3, 40))
        case 2:
            lines.insert(dice.randrange(len(lines) + 1), line)
        case 3:
            lines[place : place + 1] = [line + b" " + b"".join(lines[place : place + 1])]
    return b"\n".join(lines)


def splice(data: bytes, dice: random.Random) -> bytes:
    """A piece of the file once more, somewhere else."""
    start, place = dice.randrange(len(data) + 1), dice.randrange(len(data) + 1)
    return data[:place] + data[start : start + dice.randrange(200)] + data[place:]


CHANGES = (flip, cut, truncate, insert, swap_token, *[swap_number] * 5, change_line, splice)


def fault(suffix: str, data: bytes, folder: Path) -> str | None:
    """None where a reader refuses the file as it should, or all that holds of a character holds; else what is wrong."""
    name = f"f{suffix}"
    try:
        if suffix == ".bvh":
            character = build(parse_bvh(data, name), name, units="auto", up="auto")
        else:
            path = folder / name
            path.write_bytes(data)
            character = READERS[suffix](path, name, "auto", "auto")
    except ViewerError as error:
        return None if _well_said(str(error), name) else f"message: {error!r}"
    except Exception as error:  # noqa: BLE001 - whatever else escapes is what is looked for
        return f"escaped: {error!r}"
    try:
        return _broken(character)
    except Exception as error:  # noqa: BLE001
        return f"escaped from a loaded character: {error!r}"


def _well_said(message: str, name: str) -> bool:
    return message.startswith(name) and len(message) < 600 and message.isprintable()


def _broken(character: Character) -> str | None:
    """What does not hold of a loaded character: finite arrays, unit rotations, kinematics, a BVH file of it."""
    skeleton, clip = character.skeleton, character.clip
    pose = skeleton.relaxed_pose() if clip is None else clip.pose(0)
    arrays = [skeleton.offsets, skeleton.tip_offsets, skeleton.stiffness, skeleton.axes, pose.translations]
    turns = [skeleton.rest_rotations, pose.rotations]
    worlds = [fk(skeleton, skeleton.rest_pose()), fk(skeleton, pose)]
    if clip is not None:
        arrays.append(clip.translations)
        turns.append(clip.rotations)
        worlds.append(fk_clip(skeleton, clip))
    arrays += [world.positions for world in worlds]
    if not all(np.isfinite(array).all() for array in arrays):
        return "numbers that are not finite"
    if not all(np.allclose(np.linalg.norm(turn, axis=-1), 1.0, atol=1e-9) for turn in turns):
        return "rotations that are no unit quaternions"
    lines, _ = bvh_lines(character)
    again = parse_bvh("".join(lines).encode(), "again")
    rows = 0 if not any(again.channels) else 1 if clip is None else len(clip)
    if len(again.joints) != len(skeleton) or len(again.values) != rows:
        return "a BVH file that holds something else"
    return None
