"""The biped with five fingers on each hand, three joints to a finger.

Bone lengths: A. Buryanov and V. Kotiuk, "Proportions of hand segments", Int. J. Morphology 28 (2010), in millimetres;
the carpus makes up the hand length of the biped. Ranges: AAOS, fingers 90, 100 and 90 with 45 back and 20 aside
at the first joint (30 back here), thumb 50 and 80.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from biped import HAND, body, effectors, relaxed
from model import Effector, Joint, Sample, ball, both_sides, hinge

if TYPE_CHECKING:
    from model import Coordinates, Vector

MILLIMETRE = 0.001
# Metacarpal, proximal, middle and distal phalanx, soft tip; and how far towards the thumb the knuckle lies.
FINGERS = {
    "Index": ((68.12, 39.78, 22.38, 15.82, 3.84), 0.024),
    "Middle": ((64.60, 44.63, 26.33, 17.40, 3.95), 0.003),
    "Ring": ((58.00, 41.37, 25.65, 17.30, 3.95), -0.017),
    "Pinky": ((53.69, 32.74, 18.11, 15.96, 3.73), -0.035),
}
THUMB = (46.22, 31.57, 21.67, 3.67)
CARPUS = HAND - sum(FINGERS["Middle"][0]) * MILLIMETRE
CURLS = {
    "Index": (22.0, 24.0, 12.0),
    "Middle": (27.0, 28.0, 14.0),
    "Ring": (31.0, 31.0, 16.0),
    "Pinky": (34.0, 30.0, 16.0),
}

# The left hand points along +X, palm down, thumb towards +Z.
THUMB_BASE: Vector = (0.024, -0.012, 0.020)
THUMB_DIRECTION: Vector = (0.74, -0.24, 0.63)
THUMB_BENDS_TO: Vector = (0.25, -0.45, -0.85)
"""Where the tip goes when the thumb bends: across the palm."""


def biped_hands() -> Sample:
    """The body of the biped; hands, feet and head hold, fingertips wait until they are touched."""
    fingers = both_sides(_left_hand())
    tips = [
        Effector(joint.name.replace("Hand", "").removesuffix("3"), joint.name, joint.tips[0], "off")
        for joint in fingers
        if joint.tips
    ]
    pose = relaxed() | _curled()
    joints = (*body(hand_tips=False), *fingers)
    return Sample("biped-hands", joints, (*effectors(), *tips), pose, planted="LeftFoot")


def _left_hand() -> list[Joint]:
    joints = _thumb()
    for finger, (lengths, aside) in FINGERS.items():
        joints += _finger(f"LeftHand{finger}", [length * MILLIMETRE for length in lengths], aside)
    return joints


def _finger(name: str, lengths: list[float], aside: float) -> list[Joint]:
    metacarpal, proximal, middle, distal, soft = lengths
    along = float(np.sqrt((CARPUS + metacarpal) ** 2 - aside**2))
    curl: Vector = (0.0, 0.0, -1.0)
    knuckle = Joint(f"{name}1", "LeftHand", (along, -0.1 * abs(aside), aside), "universal",
                    axes=(curl, (0.0, 1.0, 0.0)), ranges=((-30, 90), (-20, 20)))  # fmt: skip
    return [
        knuckle,
        hinge(f"{name}2", f"{name}1", (proximal, 0.0, 0.0), curl, (0, 100)),
        hinge(f"{name}3", f"{name}2", (middle, 0.0, 0.0), curl, (0, 90), tips=((distal + soft, 0.0, 0.0),)),
    ]


def _thumb() -> list[Joint]:
    direction = np.array(THUMB_DIRECTION) / np.linalg.norm(THUMB_DIRECTION)
    bend = np.cross(direction, THUMB_BENDS_TO)
    x, y, z = (float(c) for c in bend / np.linalg.norm(bend))
    metacarpal, proximal, distal, soft = (length * MILLIMETRE for length in THUMB)
    base = ball("LeftHandThumb1", "LeftHand", THUMB_BASE, "x", (-25, 25), (-25, 30), (-35, 15))
    return [
        base,
        hinge("LeftHandThumb2", "LeftHandThumb1", _along(direction, metacarpal), (x, y, z), (-10, 50)),
        hinge("LeftHandThumb3", "LeftHandThumb2", _along(direction, proximal), (x, y, z), (-15, 80),
              tips=(_along(direction, distal + soft),)),
    ]  # fmt: skip


def _along(direction: np.ndarray[tuple[int, ...], np.dtype[np.float64]], length: float) -> Vector:
    x, y, z = (float(c) for c in direction * length)
    return (x, y, z)


def _curled() -> dict[str, Coordinates]:
    pose: dict[str, Coordinates] = {
        "LeftHandThumb1": (("z", -12.0), ("y", 8.0)), "LeftHandThumb2": (12.0,), "LeftHandThumb3": (15.0,)
    }  # fmt: skip
    for finger, (first, second, third) in CURLS.items():
        pose[f"LeftHand{finger}1"] = (first, 0.0)
        pose[f"LeftHand{finger}2"] = (second,)
        pose[f"LeftHand{finger}3"] = (third,)
    return pose
