"""A leg of two bones and a hinge, solved in closed form for a hip and an ankle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from biped import SHANK, THIGH
from curves import turns

from viewer.spatial.quaternion import conjugate, from_matrix, multiply

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

STRAIGHTEST = 2.0
"""The knee is never straighter than this, degrees: closer to straight it would snap."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One leg over F frames: local rotations (F, 4) of the joints, and the knee's angle (F,) in degrees."""

    thigh: Floats
    shank: Floats
    foot: Floats
    knee: Floats


def solved_leg(pelvis: Floats, hip: Floats, ankle: Floats, foot: Floats, toe_out: float) -> Leg:
    """The leg that reaches from hip to ankle, knee forward.

    With thigh a, shank b and distance d the law of cosines gives the knee's bend, and how far before the line
    from hip to ankle the thigh points.

    Args:
        pelvis: (F, 4) world_from_pelvis.
        hip: (F, 3) the hip joint, metres, world.
        ankle: (F, 3) where the ankle shall be.
        foot: (F, 4) world_from_foot.
        toe_out: degrees about y by which the knee points away from straight ahead.

    Raises:
        ValueError: the ankle is out of reach.
    """
    line = hip - ankle
    distance = np.linalg.norm(line, axis=-1)
    bend = 180.0 - _corner(THIGH, SHANK, distance)
    if not bend.min() >= STRAIGHTEST:
        raise ValueError(f"the knee would bend by {bend.min():.2f} degrees: the hips are too high")
    up = line / distance[:, None]
    knee_forward = np.array([np.sin(np.radians(toe_out)), 0.0, np.cos(np.radians(toe_out))])
    sideways = np.cross(up, knee_forward)
    sideways /= np.linalg.norm(sideways, axis=-1, keepdims=True)
    straight = from_matrix(np.stack([sideways, up, np.cross(sideways, up)], axis=-1))
    thigh = multiply(straight, turns(("x", -_corner(THIGH, distance, SHANK))))
    shank = turns(("x", bend))
    return Leg(multiply(conjugate(pelvis), thigh), shank, multiply(conjugate(multiply(thigh, shank)), foot), bend)


def _corner(a: Floats | float, b: Floats | float, opposite: Floats | float) -> Floats:
    """Degrees between the sides a and b of a triangle; NaN if the sides do not close."""
    cosine = (np.square(a) + np.square(b) - np.square(opposite)) / (2.0 * np.asarray(a) * np.asarray(b))
    return np.degrees(np.arccos(np.where(np.abs(cosine) <= 1.0, cosine, np.nan)))
