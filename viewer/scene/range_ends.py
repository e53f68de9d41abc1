"""The ends of a joint's ranges in the world, and the ways along which each of them can move."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from viewer.document.limit_ranges import farthest
from viewer.scene.ranges import HALF_EDGE, LimitedJoint, Swing, Travel, Twist, ends_at, moments_of, ranges_at
from viewer.skeleton import JointKind, Skeleton, World
from viewer.spatial.checks import Floats

_STEPS = 360
"""Steps of a way."""
_EXTREMES = ((1, False), (0, True), (1, True), (0, False))
"""Of every second half of a cone's edge, from the first on: which of its coordinates ends there, and whether above."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeEnd:
    """One end of a range.

    Attributes:
        joint: index.
        place: of the coordinate.
        upper: whether it is the upper end.
        point: (3,) metres, world frame.
        on_cone: whether it is on the rim of a cone, not at the end of an arc or rail.
    """

    joint: int
    place: int
    upper: bool
    point: Floats
    on_cone: bool


def range_ends(skeleton: Skeleton, world: World, joint: int, coordinates: Floats | None = None) -> tuple[RangeEnd, ...]:
    """The ends of a joint's ranges that are drawn; none of unlimited ones.

    Args:
        skeleton: with the limits.
        world: its world pose.
        joint: index.
        coordinates: (J, 3) of all joints; None: they are measured.
    """
    found = moments_of(skeleton, world, [joint], coordinates)
    if joint not in found:
        return ()
    limited, now = found[joint]
    ends: list[RangeEnd] = []
    for shape in ranges_at(limited, now):
        if isinstance(shape, Twist):
            if shape.lower is not None and shape.upper is not None:
                points = shape.at(_round(np.array([shape.lower, shape.upper])))
                ends += _pair(joint, max(limited.held, 0), points)
        elif isinstance(shape, Travel):
            ends += _pair(joint, 0, np.stack([shape.lower, shape.upper]))
        elif shape.closed:
            ends += _extremes(joint, limited, shape)
        else:
            ends += _pair(joint, 0, shape.rim[[0, -1]])
    return tuple(ends)


def _pair(joint: int, place: int, points: Floats) -> list[RangeEnd]:
    return [RangeEnd(joint, place, bool(side), points[side], on_cone=False) for side in (0, 1)]


def _extremes(joint: int, limited: LimitedJoint, cone: Swing) -> list[RangeEnd]:
    """Of a cone four: where one coordinate is at its end and the other is at 0, or as near as it can be."""
    ends = []
    for quarter, (which, upper) in enumerate(_EXTREMES):
        place = limited.free[which]
        if math.isfinite((limited.upper if upper else limited.lower)[place]):
            ends.append(RangeEnd(joint, place, upper, cone.rim[(2 * quarter + 1) * HALF_EDGE], on_cone=True))
    return ends


def way_of(skeleton: Skeleton, world: World, end: RangeEnd) -> tuple[Floats, Floats]:
    """(N,) rising values that an end could have, radians or metres, and (N, 3) its points there."""
    limited, now = moments_of(skeleton, world, [end.joint])[end.joint]
    lower, upper = float(limited.lower[end.place]), float(limited.upper[end.place])
    if limited.kind is JointKind.SLIDE:  # without a farthest end: it goes on at either end as far as it is long
        span = upper - lower or limited.length
        values = np.array([lower - span, upper + span])
        return values, now.place + (values - float(now.at[0]))[:, None] * (now.base @ limited.axes[0])
    most = math.pi if limited.kind is JointKind.BALL else max(math.pi, abs(lower), abs(upper))
    most = min(farthest(limited.kind, limited.limits, end.place), most)
    values = np.linspace(-most, most, _STEPS + 1)
    ring = next((shape for shape in ranges_at(limited, now) if isinstance(shape, Twist)), None)
    if ring is not None and end.place == max(limited.held, 0):
        return values, ring.at(_round(values))
    coordinates = np.tile(now.at, (len(values), 1))
    if limited.kind is not JointKind.HINGE:
        other = next(place for place in limited.free if place != end.place)
        coordinates[:, other] = min(max(0.0, float(limited.lower[other])), float(limited.upper[other]))
    coordinates[:, end.place] = values
    return values, ends_at(limited, now, coordinates)


def _round(angles: Floats) -> Floats:
    """(N, 2) cosines and sines."""
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)
