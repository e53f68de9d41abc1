"""The serpent: 24 ball joints, twelve before and twelve behind the middle, where the root is.

A snake has some 200 vertebrae that bend 10 to 20 degrees each. A joint here stands for about eight of them and has much
less than their sum, so that bends spread along the body.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from model import Effector, Joint, Sample, ball, chain

if TYPE_CHECKING:
    from model import Coordinates, Vector

HALF = 12
LINK = 0.085
RAISE, BEND, ROLL = (-18, 18), (-28, 28), (-6, 6)
SNOUT: Vector = (0.0, -0.012, 0.09)
FORWARD: Vector = (0.0, 0.0, LINK)
BACKWARD: Vector = (0.0, 0.0, -LINK)

WAVE = 45.0
"""How far the body's heading swings to each side when it lies in waves, degrees."""
LIFTED = {7: -12.0, 8: -17.0, 9: -16.0, 10: -6.0, 11: 14.0, 12: 18.0}
"""How the neck rises and bends over at joint 7 to the head, degrees."""


def serpent() -> Sample:
    """Head and tail hold; the root lies between them."""
    ranges = (RAISE, BEND, ROLL)
    front = chain("Front", "Body", (_half(FORWARD), FORWARD), *ranges, twist_axis="z", count=HALF - 1, tip=False)
    head = ball("Head", front[-1].name, FORWARD, "z", *ranges, tips=(SNOUT,))
    back = chain("Back", "Body", (_half(BACKWARD), BACKWARD), *ranges, twist_axis="z", count=HALF)
    effectors = (Effector("Head", "Head"), Effector("Tail", back[-1].name, BACKWARD))
    joints = (Joint("Body", None, (0.0, 0.03, 0.0), "free"), *front, head, *back)
    return Sample("serpent", joints, effectors, _waves([*(j.name for j in front), "Head"], [j.name for j in back]))


def _waves(front: list[str], back: list[str]) -> dict[str, Coordinates]:
    """The body in waves on the ground, the head lifted."""
    pose: dict[str, Coordinates] = {}
    for number in range(1, HALF + 1):
        bend = _heading(number) - _heading(number - 1)
        pose[back[number - 1]] = (("y", -bend),)
        # The lifted part lies in one plane.
        pose[front[number - 1]] = (("x", LIFTED[number]),) if number in LIFTED else (("y", bend),)
    return pose


def _heading(link: int) -> float:
    return WAVE * math.sin(2.0 * math.pi * link / HALF)


def _half(step: Vector) -> Vector:
    return (0.5 * step[0], 0.5 * step[1], 0.5 * step[2])
