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

from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import LimitForm
from viewer.spatial.euler import axes_of, from_euler, to_euler
from viewer.spatial.quaternion import conjugate, from_axis_angle, multiply, rotate
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
    """

    skeleton: Skeleton
    lower: Floats
    upper: Floats
    circular: Bools
    fixed: Ints
    hinges: Ints
    universals: Ints
    slides: Ints
    swing_twists: tuple[tuple[int, Ints], ...]
    eulers: tuple[tuple[str, Ints], ...]

    def measure(self, rotations: Floats, translations: Floats) -> Floats:
        """Coordinates (..., J, 3) of local rotations (..., J, 4) and translations (..., J, 3).

        A rotation that a hinge or universal cannot hold is read as the nearest one that it can. Angles of
        limited joints are counted so that they lie within half a turn of the middle of their range.
        """
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
        return self._centred(result)

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

    def _relative(self, rotations: Floats, joints: Ints) -> Floats:
        return multiply(conjugate(self.skeleton.rest_rotations[joints]), rotations[..., joints, :])

    def _set(self, rotations: Floats, joints: Ints, relative: Floats) -> None:
        rotations[..., joints, :] = multiply(self.skeleton.rest_rotations[joints], relative)

    def _slide_directions(self) -> Floats:
        return rotate(self.skeleton.rest_rotations[self.slides], self.skeleton.axes[self.slides, 0])

    def _centred(self, coordinates: Floats) -> Floats:
        """Count angles from the middle of their range: 170 degrees is 40 past [-150, -100], not 320."""
        limited = self.circular & np.isfinite(self.lower) & np.isfinite(self.upper)
        middle = np.zeros_like(self.lower)
        middle[limited] = 0.5 * (self.lower[limited] + self.upper[limited])
        turns = np.rint((coordinates - middle) / (2.0 * np.pi))
        return np.asarray(coordinates - np.where(limited, 2.0 * np.pi * turns, 0.0))


@lru_cache(maxsize=16)
def joint_space(skeleton: Skeleton) -> JointSpace:
    """The `JointSpace` of a skeleton; kept for the skeletons in use, which are immutable."""
    kinds = np.array([kind.value for kind in skeleton.kinds])
    lower, upper = np.full((len(skeleton), 3), -np.inf), np.full((len(skeleton), 3), np.inf)
    circular = np.zeros((len(skeleton), 3), dtype=np.bool_)
    for joint, limits in enumerate(skeleton.limits):
        if limits is not None:
            lower[joint, : len(limits.lower)], upper[joint, : len(limits.upper)] = limits.lower, limits.upper
            circular[joint] = _circular(skeleton.kinds[joint], limits)
    balls = [(joint, limits) for joint, limits in enumerate(skeleton.limits) if limits is not None]
    return JointSpace(
        skeleton=skeleton,
        lower=lower,
        upper=upper,
        circular=circular,
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
    return np.asarray(angles - 2.0 * np.pi * np.ceil((angles - np.pi) / (2.0 * np.pi)))
