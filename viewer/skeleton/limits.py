"""What a joint's freedoms may do: the range of each, in one of three forms.

A form says how the motion d = rest^-1 * q of a ball joint is measured. Hinges, universals and slides
need no form: their ranges are those of their own coordinates.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.copies import reduced
from viewer.spatial.checks import frozen

if TYPE_CHECKING:
    from viewer.skeleton.copies import Reduced
    from viewer.spatial.checks import Floats

AXIS_NAMES = "xyz"
EULER_ORDERS = ("xyz", "xzy", "yxz", "yzx", "zxy", "zyx")


class LimitForm(StrEnum):
    """How the numbers of a `JointLimits` are to be read."""

    COORDINATES = "coordinates"
    """Per coordinate of a hinge (1), universal (2) or slide (1)."""
    SWING_TWIST = "swing-twist"
    """Ball: d = swing * twist, twist acts first; per axis x, y, z: the twist angle on the twist
    axis, the components of the swing's rotation vector on the two others."""
    EULER = "euler"
    """Ball: d = R1(a) R2(b) R3(c) in the order given; per axis x, y, z, the middle within +-90 degrees."""


@dataclass(frozen=True, slots=True, eq=False)
class JointLimits:
    """Ranges of one joint.

    Attributes:
        form: how the ranges are measured.
        lower, upper: (n,) radians, metres for a slide; n = 3 in axis order x, y, z for balls (whatever the
            Euler order), else one per coordinate. -inf and +inf where unlimited.
        twist_axis: swing-twist form: 0, 1 or 2 for x, y or z.
        order: Euler form: three letters, the first acts last ("xyz": R = Rx Ry Rz).
    """

    form: LimitForm
    lower: Floats
    upper: Floats
    twist_axis: int = 1
    order: str = "xyz"

    def __post_init__(self) -> None:
        """Take the ranges as read-only arrays."""
        object.__setattr__(self, "lower", frozen(self.lower))
        object.__setattr__(self, "upper", frozen(self.upper))

    def __reduce__(self) -> Reduced:
        """Copied by its fields."""
        return reduced(self)

    @classmethod
    def coordinates(cls, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a hinge (radians), universal (two pairs, radians) or slide (metres)."""
        return cls(LimitForm.COORDINATES, *_bounds(ranges))

    @classmethod
    def swing_twist(cls, twist_axis: int, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a ball joint about x, y, z (radians): twist on its axis, swing on the others."""
        return cls(LimitForm.SWING_TWIST, *_bounds(ranges), twist_axis=twist_axis)

    @classmethod
    def euler(cls, order: str, *ranges: tuple[float, float]) -> JointLimits:
        """Limits of a ball joint about x, y, z (radians) as intrinsic angles of ``order``."""
        return cls(LimitForm.EULER, *_bounds(ranges), order=order)

    def is_possible(self) -> bool:
        """Whether any rotation is within: a swing is a vector of at most half a turn, however its parts are limited."""
        if self.form is not LimitForm.SWING_TWIST:
            return True
        nearest = np.clip(0.0, self.lower, self.upper)
        nearest[self.twist_axis] = 0.0
        return float(np.linalg.norm(nearest)) <= math.pi

    def same_as(self, other: JointLimits | None) -> bool:
        """Equal in every number (arrays have no truth value, so there is no ``==``)."""
        return (
            other is not None
            and (self.form, self.twist_axis, self.order) == (other.form, other.twist_axis, other.order)
            and np.array_equal(self.lower, other.lower)
            and np.array_equal(self.upper, other.upper)
        )


UNLIMITED = (-math.inf, math.inf)
"""The range of an axis that has none."""


def _bounds(ranges: tuple[tuple[float, float], ...]) -> tuple[Floats, Floats]:
    return np.array([r[0] for r in ranges]), np.array([r[1] for r in ranges])
