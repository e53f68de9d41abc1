"""Joint names: unique, with side and part of the body; and effectors, which names find in files that state none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from itertools import count, pairwise

from viewer.errors import WORD, InputError, listed, quote
from viewer.spatial.checks import Floats, Ints, Vector, member, put, text, triple, whole

_SIDES = {
    "left": "left", "l": "left", "lft": "left", "lt": "left",
    "right": "right", "r": "right", "rgt": "right", "rt": "right",
}  # fmt: skip

_GLUED_SIDE = re.compile(r"(left|right|l|r)(.+)")
"""A side that is not separated from its word: ``lhand``, ``LEFTHAND``."""

_HELPERS = {"end", "nub", "site", "top", "tip", "ik", "ctrl", "pole", "twist", "roll", "target", "aux"}
"""A name with one of these words is an end marker, a control or a twist bone."""

_DIGITS = {"finger", "fingers", "thumb", "index", "middle", "ring", "pinky", "pinkie", "little", "phalanx"}
_WORDS: tuple[tuple[str, frozenset[str]], ...] = (
    ("finger", frozenset(_DIGITS)),
    ("toe", frozenset({"toe", "toes", "toebase", "ball"})),
    ("claw", frozenset({"claw", "claws", "talon"})),
    ("tail", frozenset({"tail"})),
    ("elbow", frozenset({"elbow", "forearm", "lowarm", "lowerarm", "radius", "ulna"})),
    ("knee", frozenset({"knee", "shin", "shank", "calf", "tibia", "lowleg", "lowerleg"})),
    ("upper leg", frozenset({"thigh", "femur", "upleg", "upperleg"})),
    ("upper arm", frozenset({"humerus", "uparm", "upperarm"})),
    ("hand", frozenset({"hand", "palm"})),
    ("wrist", frozenset({"wrist"})),
    ("foot", frozenset({"foot", "paw", "hoof"})),
    ("ankle", frozenset({"ankle", "ank"})),
    ("head", frozenset({"head"})),
    ("neck", frozenset({"neck"})),
)
"""Parts with their words; the first match wins, so that ``LeftHandIndex1`` is a finger."""

PARTS = frozenset(part for part, _ in _WORDS)
_GLUED = frozenset(word for _, words in _WORDS for word in words) | {"arm", "leg", "shoulder", "hip"}

FINGERS = ("thumb", "index", "middle", "ring", "pinky")
_FINGER_WORDS = {**{finger: finger for finger in FINGERS}, "mid": "middle", "pinkie": "pinky", "little": "pinky"}
_PALM_WORDS = frozenset({"metacarpal", "metacarpus", "carpal", "palm", "inhand", "meta"})

_SWAPS = {"left": "right", "right": "left", "l": "r", "r": "l", "lft": "rgt", "rgt": "lft", "lt": "rt", "rt": "lt"}
_GLUED_START = re.compile(r"(left|right|l|r)(?=[a-z])", re.IGNORECASE)

_WANTED = (
    ("left", ("hand", "wrist")),
    ("right", ("hand", "wrist")),
    ("left", ("foot", "ankle")),
    ("right", ("foot", "ankle")),
    ("", ("head",)),
)
"""Effectors that are on, in this order; of two names for one part the first is preferred."""

_FINE_PARTS = {"finger", "toe", "tail", "claw"}
MOST_LEAVES = 12
_FEW = 3
"""New names that a warning lists at most."""


class FreeNames:
    """Gives out unused names; it remembers its counters, so that many equal names cost constant time each."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def take(self, name: str) -> str:
        """The name itself if it is free, else as `numbered`."""
        if name in self._taken:
            return self.numbered(name)
        self._taken.add(name)
        return name

    def numbered(self, name: str) -> str:
        """``name_2``, ``name_3``, ...: the first that is free."""
        number = self._next.get(name, 2)
        while (free := f"{name}_{number}") in self._taken:
            number += 1
        self._next[name] = number + 1
        self._taken.add(free)
        return free


def free_name(wanted: str, names: Iterable[str]) -> str:
    """A name as people write it that is not among some: ``walk``, ``walk 2``, ``walk 3``."""
    taken = set(names)
    return next(name for n in count(1) if (name := wanted if n == 1 else f"{wanted} {n}") not in taken)


def unique_names(names: list[str]) -> tuple[tuple[str, ...], list[str]]:
    """Names that repeat become ``name_2``, ``name_3``, ... (the first that is free), with a warning for each name."""
    free = FreeNames(names)
    more: dict[str, list[str]] = {}
    result: list[str] = []
    for name in names:
        unique = free.numbered(name) if name in more else name
        more.setdefault(name, []).extend([unique] if unique != name else [])
        result.append(unique)
    warnings = [
        f"{len(new) + 1} joints are called {quote(name)}: {'one is' if len(new) == 1 else 'the others are'} now "
        + listed([*map(quote, new)], _FEW)
        for name, new in more.items()
        if new
    ]
    return tuple(result), warnings


@dataclass(frozen=True, slots=True)
class BodyPart:
    """Side and part of the body of a joint's name.

    ``side`` is "left", "right" or "", ``part`` one of `PARTS`, or ""; ``helper``: the name is of an end marker, a
    control or a twist bone.
    """

    side: str
    part: str
    helper: bool


@lru_cache(maxsize=1 << 14)
def body_part(name: str) -> BodyPart:
    """Side and part of a joint's name; a prefix up to a colon is ignored."""
    words = [word.casefold() for word in WORD.findall(name.rpartition(":")[2])]
    side = ""
    rest: list[str] = []
    for word in words:
        glued = _GLUED_SIDE.fullmatch(word)
        if word in _SIDES:
            side = side or _SIDES[word]
        elif glued and glued[2] in _GLUED:
            side = side or _SIDES[glued[1]]
            rest.append(glued[2])
        else:
            rest.append(word)
    return BodyPart(side, _part(rest), any(word in _HELPERS for word in rest))


def _part(words: list[str]) -> str:
    # "fore arm", "low leg" and "upper leg" are single words to the table.
    joined = set(words) | {a + b for a, b in pairwise(words)}
    for part, meaning in _WORDS:
        if joined & meaning:
            return part
    # A plain "leg" is the lower leg: LeftUpLeg, LeftLeg, LeftFoot.
    return "knee" if "leg" in joined and not joined & {"up", "upper", "thigh", "hip"} else ""


def finger_of(name: str) -> str:
    """The finger of `FINGERS` in a joint's name, or ""."""
    words = (word.casefold() for word in WORD.findall(name.rpartition(":")[2]))
    return next((_FINGER_WORDS[word] for word in words if word in _FINGER_WORDS), "")


def is_in_palm(name: str) -> bool:
    """Whether a name is of a bone inside the palm, where a finger begins: ``index_metacarpal``."""
    words = [word.casefold() for word in WORD.findall(name.rpartition(":")[2])]
    return not _PALM_WORDS.isdisjoint(words) or ("in", "hand") in pairwise(words)


def swapped_names(name: str) -> list[str]:
    """Possible names of a joint's counterpart, as for ``LeftHand``, ``hand.L``, ``l_hand``, ``lhand``; best first."""
    prefix, colon, bare = name.rpartition(":")
    found = []
    for match in WORD.finditer(bare):
        word = match.group()
        if word.casefold() in _SWAPS:
            found.append((match.start(), match.end(), _as_cased(_SWAPS[word.casefold()], word)))
    glued = _GLUED_START.match(bare)
    if glued:
        found.append((0, glued.end(), _as_cased(_SWAPS[glued.group().casefold()], glued.group())))
    if len(bare) > 1 and bare[0] in "LR" and bare[1].isupper():  # LHand: the L is not a separate word
        found.append((0, 1, _SWAPS[bare[0].casefold()].upper()))
    return [f"{prefix}{colon}{bare[:start]}{other}{bare[end:]}" for start, end, other in found]


def _as_cased(word: str, like: str) -> str:
    if like.isupper():
        return word.upper()
    return word.capitalize() if like[0].isupper() else word


class EffectorGoal(StrEnum):
    """The goal of an effector when a file opens; the values are the words of the skeleton file."""

    POSITION = "position"
    ROTATION = "rotation"
    POSE = "position+rotation"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Effector:
    """A point fixed to a joint.

    Attributes:
        name: unique among effectors.
        joint: index of the joint.
        offset: metres, in the joint's frame.
        goal: its goal when the file opens.
    """

    name: str
    joint: int
    offset: Vector = (0.0, 0.0, 0.0)
    goal: EffectorGoal = EffectorGoal.POSITION

    def __repr__(self) -> str:
        at = f" at ({', '.join(f'{number:.4g}' for number in self.offset)})" if any(self.offset) else ""
        return f"<Effector {quote(self.name)}: joint {self.joint}{at}, {self.goal}>"

    def __post_init__(self) -> None:
        name = text(self.name, "effector name", empty=False)
        what = f"effector {quote(name)}"
        given: object = self.joint
        if isinstance(given, str):
            raise InputError(f"{what}: joint: expected its index, found {quote(given)}: skeleton.index gives it")
        offset = triple(self.offset, f"{what}: offset")
        joint, goal = whole(self.joint, f"{what}: joint"), member(EffectorGoal, self.goal, f"{what}: goal")
        put(self, name=name, joint=joint, offset=offset, goal=goal)


def find_effectors(
    names: tuple[str, ...], parents: Ints, tip_parents: Ints, tip_offsets: Floats
) -> tuple[Effector, ...]:
    """Hands (or wrists), feet (or ankles) and the head are on; tips of fingers, toes, tails and claws are off.

    If no name is recognised, the tips of at most `MOST_LEAVES` leaves are on and the others off.
    """
    parts = [body_part(name) for name in names]
    leaves = _leaves(names, parents, tip_parents, tip_offsets)
    found = [joint for side, words in _WANTED if (joint := _first(parts, side, words)) is not None]
    if not found:
        goals = [EffectorGoal.POSITION] * MOST_LEAVES + [EffectorGoal.OFF] * max(0, len(leaves) - MOST_LEAVES)
        return tuple(
            Effector(leaf.name, leaf.joint, leaf.offset, goal) for leaf, goal in zip(leaves, goals, strict=False)
        )
    fine = [leaf for leaf in leaves if parts[leaf.joint].part in _FINE_PARTS and leaf.joint not in found]
    return (*(Effector(names[joint], joint) for joint in found), *fine)


def _first(parts: list[BodyPart], side: str, words: tuple[str, ...]) -> int | None:
    """The joint nearest to the root with a name of this part; earlier words are preferred."""
    for word in words:
        for joint, part in enumerate(parts):
            if (part.side, part.part, part.helper) == (side, word, False):
                return joint
    return None


def _leaves(names: tuple[str, ...], parents: Ints, tip_parents: Ints, tip_offsets: Floats) -> list[Effector]:
    """An effector (off) at every end site, and at every leaf joint without one, in joint order.

    An end site without length is at its joint and takes the joint's name.
    """
    inner = set(parents.tolist())
    tips_of: dict[int, list[Vector]] = {}
    for joint, (x, y, z) in zip(tip_parents.tolist(), tip_offsets.tolist(), strict=True):
        tips_of.setdefault(joint, []).append((x, y, z))
    leaves: list[Effector] = []
    for joint, name in enumerate(names):
        tips = tips_of.get(joint, [])
        if not tips and joint not in inner:
            leaves.append(Effector(name, joint, goal=EffectorGoal.OFF))
        for number, offset in enumerate(tips, start=1):
            label = name if not any(offset) else f"{name}.tip{'' if number == 1 else number}"
            leaves.append(Effector(label, joint, offset, EffectorGoal.OFF))
    return list({leaf.name: leaf for leaf in leaves}.values())
