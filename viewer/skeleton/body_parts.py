"""Reading side and body part out of a joint's name, in the conventions that files use.

``LeftHand``, ``mixamorig:LeftHand``, ``hand.L``, ``Hand_L``, ``l_hand``, ``LHand``, ``lhand`` and ``LEFTHAND`` are all
the left hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

_TOKEN = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_SIDES = {
    "left": "left", "l": "left", "lft": "left", "lt": "left",
    "right": "right", "r": "right", "rgt": "right", "rt": "right",
}  # fmt: skip

_GLUED_SIDE = re.compile(r"(left|right|l|r)(.+)")
"""A side that no capital or mark parts from its word: ``lhand``, ``LEFTHAND``."""

_HELPERS = {"end", "nub", "site", "top", "tip", "ik", "ctrl", "pole", "twist", "roll", "target", "aux"}
"""A name with one of these is no part of its own: an end marker, a control or a twist bone."""

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
    ("ankle", frozenset({"ankle"})),
    ("head", frozenset({"head"})),
    ("neck", frozenset({"neck"})),
)
"""Parts and the words that mean them; the first that fits wins, so that ``LeftHandIndex1`` is a finger."""

PARTS = frozenset(part for part, _ in _WORDS)
_GLUED = frozenset(word for _, words in _WORDS for word in words) | {"arm", "leg", "shoulder", "hip"}


@dataclass(frozen=True, slots=True)
class BodyPart:
    """What a name says.

    Attributes:
        side: "left", "right" or "".
        part: one of `PARTS`, or "" where the name says nothing that matters here.
        helper: the name is of an end marker, a control or a twist bone.
    """

    side: str
    part: str
    helper: bool


@lru_cache(maxsize=1 << 14)
def body_part(name: str) -> BodyPart:
    """Side and part of a joint's name; prefixes up to a colon are not looked at."""
    words = [word.casefold() for word in _TOKEN.findall(name.rpartition(":")[2])]
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
    # What is left over with a plain "leg" is the lower one: LeftUpLeg, LeftLeg, LeftFoot.
    return "knee" if "leg" in joined and not joined & {"up", "upper", "thigh", "hip"} else ""
