"""Shapes in the world that show what a joint may do: where its bone may point, how far it may twist or slide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.spatial.checks import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Swing:
    """Where a bone may point.

    Attributes:
        apex: (3,) the joint.
        rim: (N, 3) where the bone's direction may end, `CONE_LENGTH` of it away.
        closed: whether the rim returns to its first point; else it is the arc of a hinge.
        meridians: (M,) indices of the points of the rim to which lines from the apex are drawn.
    """

    apex: Floats
    rim: Floats
    closed: bool
    meridians: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Twist:
    """How far a bone may turn about itself.

    Attributes:
        centre: (3,) of its ring.
        across, over: (3,) unit vectors in the ring's plane: angle 0 and a quarter turn.
        radius: metres.
        lower, upper: radians; None where it is unlimited.
        angle: radians, now.
    """

    centre: Floats
    across: Floats
    over: Floats
    radius: float
    lower: float | None
    upper: float | None
    angle: float

    def points(self, angles: Floats) -> Floats:
        """(..., 3) places of the ring at angles (...)."""
        return self.at(np.stack([np.cos(angles), np.sin(angles)], axis=-1))

    def at(self, cosines: Floats) -> Floats:
        """(..., 3) places of the ring at angles whose cosine and sine are (..., 2)."""
        return np.asarray(self.centre + self.radius * cosines @ np.stack([self.across, self.over]))


@dataclass(frozen=True, slots=True, eq=False)
class Travel:
    """How far a joint may slide: from ``lower`` (3,) to ``upper`` (3,); it is at ``now`` (3,)."""

    lower: Floats
    upper: Floats
    now: Floats


Range = Swing | Twist | Travel
"""What may be shown of a joint's limits."""
