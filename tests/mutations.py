"""Random ways to damage a file: the same seed makes the same damage. `fuzzing` says which files, and why."""

from __future__ import annotations

import copy
import json
import math
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator

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
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2, 0.5, 1e308, -1e-320, 10**30, 1e7, 1e38, 1e-200, math.nan, -math.inf, "", "x", "root",
    "\ud800", "é", "a\nb\x1b", [], {}, [0], [0, 0, 0], [1, 2, 3, 4], [0, 0, 0, 0], [[0, 0, 0]], {"a": 1}, {"$": [0]},
    "free", "hinge", "universal", "slide", [1e200] * 3, [1e200] * 4, [5e6, 0, 0],
)  # fmt: skip
"""What takes the place of a part of a JSON document."""


def damaged(data: bytes, dice: random.Random) -> bytes:
    """The bytes with one to six changes."""
    for _ in range(dice.choice((1, 1, 1, 2, 3, 6))):
        data = dice.choice(CHANGES)(data, dice)[: len(data) + _MOST_GROWTH]
    return data


def damaged_tree(data: bytes, dice: random.Random) -> bytes:
    """A JSON document with parts replaced, taken out, doubled, or put in each other's place: still a document."""
    tree = json.loads(data)
    for _ in range(dice.choice((1, 1, 1, 2, 3))):
        places = [*_places(tree)]
        if not places:
            break
        parent, key = dice.choice(places)
        other, there = dice.choice(places)
        match dice.randrange(8):
            case 0:
                del parent[key]
            case 1 | 2:
                parent[key] = copy.deepcopy(other[there])
            case 3 if isinstance(parent, list):
                parent[key:key] = [copy.deepcopy(parent[key])] * dice.choice((1, 2, 40))
            case 4 if isinstance(parent[key], (int, float)):
                parent[key] = float(dice.choice(NUMBERS)) if dice.random() < 0.5 else dice.randrange(-3, 40)
            case _:
                parent[key] = copy.deepcopy(dice.choice(VALUES))
    return json.dumps(tree).encode()


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:  # noqa: ANN401 - any JSON
    """Every part of a document as what holds it and by which key; of long lists of numbers the first few."""
    waiting = [tree]
    while waiting:
        one = waiting.pop()
        if isinstance(one, (dict, list)):
            keys = list(one) if isinstance(one, dict) else range(min(len(one), 40))
            for key in keys:
                yield one, key
                waiting.append(one[key])


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
