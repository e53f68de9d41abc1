"""Joint coordinates: the numbers that a joint's limits speak of, read off a pose and turned back into one.

Each joint has up to three, in the columns of a (..., J, 3) array; columns it does not use hold 0.

hinge      [angle]                radians about its axis
universal  [angle 0, angle 1]     radians about axes[0] and axes[1]
slide      [distance]             metres along its axis
ball       [x, y, z]              radians, by its limits' form (swing-twist or Euler); none without limits
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from viewer.errors import InputError
from viewer.skeleton import readings
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import LimitForm
from viewer.spatial.checks import handed_over
from viewer.spatial.euler import axes_of, from_euler, to_euler, wrapped
from viewer.spatial.quaternion import IDENTITY, conjugate, from_axis_angle, multiply, rotate
from viewer.spatial.swing_twist import from_swing_twist, to_swing_twist, twist_about

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.skeleton.limits import JointLimits
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools, Floats, Ints

Key = TypeVar("Key")


@dataclass(frozen=True, slots=True, eq=False)
class JointSpace:
    """The joints of one skeleton grouped by how they are measured; made by `joint_space`.

    Attributes:
        lower, upper: (J, 3) ranges of the coordinates, infinite where unlimited.
        circular: (J, 3) true where a coordinate is an angle that may be counted past half a turn.
        middle: (J, 3) of the ranges of those of them that have two ends; 0 elsewhere.
        period: (J, 3) 2 pi where ``middle`` is given; 0 elsewhere.
    """

    skeleton: Skeleton
    lower: Floats
    upper: Floats
    circular: Bools
    middle: Floats
    period: Floats
    fixed: Ints
    hinges: Ints
    universals: Ints
    slides: Ints
    swing_twists: tuple[tuple[int, Ints], ...]
    eulers: tuple[tuple[str, Ints], ...]

    def measure(self, rotations: Floats, translations: Floats) -> Floats:
        """Coordinates (..., J, 3) of local rotations (..., J, 4) and translations (..., J, 3).

        A rotation that a hinge or universal cannot hold is read as the nearest one that it can. Of the coordinates
        that mean the same rotation, limited joints get those that are least outside their ranges.

        Raises:
            InputError: a pose or clip of another skeleton.
        """
        if rotations.shape[-2] != len(self.skeleton):
            raise InputError(
                f"coordinates: expected rotations of {len(self.skeleton)} joints, found {rotations.shape[-2]}"
            )
        result = np.zeros((*rotations.shape[:-1], 3))
        axes = self.skeleton.axes
        if self.hinges.size:
            d = self._relative(rotations, self.hinges)
            result[..., self.hinges, 0] = twist_about(d, axes[self.hinges, 0])
        if self.universals.size:
            d = self._relative(rotations, self.universals)
            result[..., self.universals, :2] = _universal_angles(d, axes[self.universals])
        if self.slides.size:
            moved = translations[..., self.slides, :] - self.skeleton.offsets[self.slides]
            result[..., self.slides, 0] = np.einsum("...i,...i->...", moved, self._slide_directions())
        for twist_axis, joints in self.swing_twists:
            result[..., joints, :] = to_swing_twist(self._relative(rotations, joints), twist_axis)
        for order, joints in self.eulers:
            angles = to_euler(self._relative(rotations, joints), order)
            result[..., joints, :] = angles[..., np.argsort(axes_of(order))]
        if not (np.isfinite(self.lower).any() or np.isfinite(self.upper).any()):
            return result  # without ranges no reading is better than another
        return self._read(readings.counted(result, self.middle, self.period))

    def rebuild(self, coordinates: Floats, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        """Copies of the local rotations and translations, made what the coordinates (..., J, 3) say.

        Fixed joints go to rest; free joints and balls without limits keep what they have.
        """
        turns, moved = rotations.copy(), translations.copy()
        skeleton, axes = self.skeleton, self.skeleton.axes
        unturned = np.concatenate([self.fixed, self.slides])
        turns[..., unturned, :] = skeleton.rest_rotations[unturned]
        if self.slides.size:
            along = coordinates[..., self.slides, :1] * self._slide_directions()
            moved[..., self.slides, :] = skeleton.offsets[self.slides] + along
        if self.hinges.size:
            turn = from_axis_angle(axes[self.hinges, 0], coordinates[..., self.hinges, 0])
            self._set(turns, self.hinges, turn)
        if self.universals.size:
            first = from_axis_angle(axes[self.universals, 0], coordinates[..., self.universals, 0])
            second = from_axis_angle(axes[self.universals, 1], coordinates[..., self.universals, 1])
            self._set(turns, self.universals, multiply(first, second))
        for twist_axis, joints in self.swing_twists:
            self._set(turns, joints, from_swing_twist(coordinates[..., joints, :], twist_axis))
        for order, joints in self.eulers:
            self._set(turns, joints, from_euler(coordinates[..., joints, :][..., axes_of(order)], order))
        return turns, moved

    def excess(self, coordinates: Floats) -> Floats:
        """(..., J) how far coordinates (..., J, 3) are outside: radians, metres for slides; 0 inside."""
        result = readings.excess(coordinates, self.lower, self.upper).max(axis=-1)
        for twist_axis, joints in self.swing_twists:
            beyond = readings.swing_excess(coordinates[..., joints, :], twist_axis)
            result[..., joints] = np.maximum(result[..., joints], beyond)
        return np.asarray(result)

    def nearest_inside(self, coordinates: Floats) -> Floats:
        """The coordinates (..., J, 3) inside the ranges that are nearest to these, which stay if they are inside.

        Where no rotation is inside a ball's ranges, they are the nearest to one that the ranges hold.
        """
        result = np.clip(coordinates, self.lower, self.upper)
        outside = self.excess(coordinates)[..., None] > 0.0
        for twist_axis, joints in self.swing_twists:
            some = coordinates[..., joints, :]
            inside = readings.swing_inside(some, self.lower[joints], self.upper[joints], twist_axis)
            result[..., joints, :] = np.where(outside[..., joints, :], inside, some)
        return np.asarray(result)

    def _relative(self, rotations: Floats, joints: Ints) -> Floats:
        rest, some = self.skeleton.rest_rotations[joints], rotations[..., joints, :]
        # Many files have no rest rotations, and long clips: what would change nothing is not worked out.
        return some if (rest == IDENTITY).all() else multiply(conjugate(rest), some)

    def _set(self, rotations: Floats, joints: Ints, relative: Floats) -> None:
        rotations[..., joints, :] = multiply(self.skeleton.rest_rotations[joints], relative)

    def _slide_directions(self) -> Floats:
        return rotate(self.skeleton.rest_rotations[self.slides], self.skeleton.axes[self.slides, 0])

    def _read(self, coordinates: Floats) -> Floats:
        """In place: the readings of balls' coordinates that are least outside the ranges."""
        if not self.excess(coordinates).any():
            return coordinates
        for twist_axis, joints in self.swing_twists:
            ends = self.lower[joints], self.upper[joints]
            coordinates[..., joints, :] = readings.nearer_swing(coordinates[..., joints, :], *ends, twist_axis)
        for order, joints in self.eulers:
            ends = self.lower[joints], self.upper[joints]
            counts = self.middle[joints], self.period[joints]
            coordinates[..., joints, :] = readings.nearer_euler(coordinates[..., joints, :], *ends, *counts, order)
        return coordinates


@lru_cache(maxsize=16)
def joint_space(skeleton: Skeleton) -> JointSpace:
    """The `JointSpace` of a skeleton; kept for the skeletons in use, which are immutable."""
    kinds = np.array([kind.value for kind in skeleton.kinds])
    lower, upper = np.full((len(skeleton), 3), -np.inf), np.full((len(skeleton), 3), np.inf)
    circular = np.zeros((len(skeleton), 3), dtype=np.bool_)
    balls = [(joint, limits) for joint, limits in enumerate(skeleton.limits) if limits is not None]
    for joint, limits in balls:
        circular[joint] = _circular(skeleton.kinds[joint], limits)
        low, high = _ranges(limits, circular[joint])
        lower[joint, : len(low)], upper[joint, : len(high)] = low, high
    counted = circular & np.isfinite(lower) & np.isfinite(upper)
    return JointSpace(
        skeleton=skeleton,
        lower=handed_over(lower),
        upper=handed_over(upper),
        circular=handed_over(circular),
        middle=handed_over(
            np.where(counted, 0.5 * (np.where(counted, lower, 0.0) + np.where(counted, upper, 0.0)), 0.0)
        ),
        period=handed_over(np.where(counted, 2.0 * np.pi, 0.0)),
        fixed=np.flatnonzero(kinds == JointKind.FIXED),
        hinges=np.flatnonzero(kinds == JointKind.HINGE),
        universals=np.flatnonzero(kinds == JointKind.UNIVERSAL),
        slides=np.flatnonzero(kinds == JointKind.SLIDE),
        swing_twists=_grouped((v.twist_axis, j) for j, v in balls if v.form is LimitForm.SWING_TWIST),
        eulers=_grouped((v.order, j) for j, v in balls if v.form is LimitForm.EULER),
    )


def _grouped(pairs: Iterable[tuple[Key, int]]) -> tuple[tuple[Key, Ints], ...]:
    groups: dict[Key, list[int]] = {}
    for key, joint in pairs:
        groups.setdefault(key, []).append(joint)
    return tuple((key, np.array(joints, dtype=np.intp)) for key, joints in groups.items())


def _ranges(limits: JointLimits, circular: Bools) -> tuple[Floats, Floats]:
    """The lower and upper ends; some angles have ends even where the limits give none.

    A whole-turn angle with one end has the other at half a turn, past which it would be counted from the other side. An
    Euler form's middle angle ends at right angles.
    """
    lower, upper = limits.lower.copy(), limits.upper.copy()
    one_sided = circular[: len(lower)] & (np.isfinite(lower) != np.isfinite(upper))
    lower = np.where(one_sided & np.isinf(lower), np.minimum(-np.pi, upper), lower)
    upper = np.where(one_sided & np.isinf(upper), np.maximum(np.pi, lower), upper)
    if limits.form is LimitForm.EULER and (np.isfinite(lower) | np.isfinite(upper)).any():
        _, second, _ = axes_of(limits.order)
        lower[second], upper[second] = max(lower[second], -0.5 * np.pi), min(upper[second], 0.5 * np.pi)
    return lower, upper


def _circular(kind: JointKind, limits: JointLimits) -> list[bool]:
    """Which columns are whole-turn angles: not swings (a vector of at most pi), middle angles or distances."""
    if limits.form is LimitForm.SWING_TWIST:
        return [axis == limits.twist_axis for axis in range(3)]
    if limits.form is LimitForm.EULER:
        return [axis != axes_of(limits.order)[1] for axis in range(3)]
    return [kind is not JointKind.SLIDE] * 3


def _universal_angles(d: Floats, axes: Floats) -> Floats:
    """Angles (..., 2) of the rotation R(axes[0], a) R(axes[1], b) nearest to d (..., 4).

    With (x, y, z) the components of d on axes[0], axes[1] and their cross product, the quaternion dot product
    with the universal's is a sum of two cosines, one of (a + b) / 2 and one of (a - b) / 2: maximal at these.
    """
    basis = np.stack([axes[:, 0], axes[:, 1], np.cross(axes[:, 0], axes[:, 1])], axis=1)
    x, y, z = np.moveaxis(np.einsum("...jk,jak->...ja", d[..., :3], basis), -1, 0)
    w = d[..., 3]
    total, difference = np.arctan2(x + y, w - z), np.arctan2(x - y, w + z)
    angles = np.stack([total + difference, total - difference], axis=-1)
    return wrapped(angles)
