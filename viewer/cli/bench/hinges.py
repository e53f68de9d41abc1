"""A skeleton in the words of robotics: joints of one axis each, a few of three, and a floating base.

A hinge or slide is one such joint, a universal two, a ball with Euler ranges one per axis that can move at all, a ball
without limits a spherical joint (or three hinges, for who has none). Nothing is spent on axes that cannot move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.errors import InputError, quote
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.euler import axes_of
from viewer.spatial.quaternion import from_axis_angle, multiply, rotate


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One single-axis joint.

    Attributes:
        joint: of the skeleton.
        name: unique.
        direction: (3,) unit, in the joint's rest frame turned by the axes before it.
        lower, upper: radians, or metres if it slides; infinite where unlimited.
        slides: along the axis instead of turning about it.
    """

    joint: int
    name: str
    direction: Floats
    lower: float
    upper: float
    slides: bool

    @property
    def limited(self) -> bool:
        """Whether it has two ends."""
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """A skeleton's joints as axes.

    Attributes:
        skeleton: what they make up.
        axes: per joint, the outermost first; none where the joint is fixed, floating or spherical.
        spherical: joints that turn any way, unlimited, if they were asked for as such.
        floating: whether the first joint is a free root.
    """

    skeleton: Skeleton
    axes: tuple[tuple[Axis, ...], ...]
    spherical: tuple[int, ...]
    floating: bool

    def all_axes(self) -> list[Axis]:
        """Joint by joint, in the skeleton's order."""
        return [axis for axes in self.axes for axis in axes]


def mechanism(skeleton: Skeleton, *, spherical: bool) -> Mechanism:
    """The skeleton as axes; ``spherical``: unlimited balls stay whole.

    Raises:
        InputError: swing-twist limits, or a free root that is not the first joint: no rival can be told of these.
    """
    whole = [
        joint
        for joint, (kind, limits) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True))
        if spherical and kind is JointKind.BALL and limits is None
    ]
    axes = [() if joint in whole else _axes(skeleton, joint) for joint in range(len(skeleton))]
    free = [joint for joint, kind in enumerate(skeleton.kinds) if kind is JointKind.FREE]
    if free not in ([], [0]):
        raise InputError("rivals: expected a free root to be the first joint")
    return Mechanism(skeleton, tuple(axes), tuple(whole), floating=bool(free))


def _axes(skeleton: Skeleton, joint: int) -> tuple[Axis, ...]:
    kind, limits, name = skeleton.kinds[joint], skeleton.limits[joint], skeleton.names[joint]
    if kind in (JointKind.FREE, JointKind.FIXED):
        return ()
    if kind is JointKind.BALL:
        if limits is not None and limits.form is LimitForm.SWING_TWIST:
            raise InputError(f"rivals: they know no swing-twist limits, and {quote(name)} has such")
        order = axes_of(limits.order if limits is not None else "xyz")
        directions = [np.eye(3)[axis] for axis in order]
    else:
        order = (0, 1, 2)
        directions = list(skeleton.axes[joint][: 2 if kind is JointKind.UNIVERSAL else 1])
    made = []
    for place, direction in zip(order, directions, strict=False):
        lower, upper = _range(limits, place)
        if lower < upper:
            made.append(Axis(joint, f"{name}:{place}", direction, lower, upper, kind is JointKind.SLIDE))
        elif lower != 0.0:
            raise InputError(f"rivals: an axis of {quote(name)} is locked elsewhere than at rest")
    return tuple(made)


def _range(limits: JointLimits | None, place: int) -> tuple[float, float]:
    if limits is None:
        return -np.inf, np.inf
    return float(limits.lower[place]), float(limits.upper[place])


def pose_arrays(
    built: Mechanism, values: Floats, balls: Floats | None = None, root: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Local rotations (J, 4) and translations (J, 3) of a rival's answer.

    Args:
        built: what the rival was given.
        values: per axis of `Mechanism.all_axes`, radians or metres.
        balls: (S, 4) turns of the spherical joints from rest, (x, y, z, w).
        root: of a floating base: translation (3,) in the world, rotation (4,).
    """
    skeleton = built.skeleton
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    for axis, value in zip(built.all_axes(), values, strict=True):
        if axis.slides:
            translations[axis.joint] += value * rotate(rotations[axis.joint], axis.direction)
        else:
            turn = from_axis_angle(axis.direction, value)
            rotations[axis.joint] = multiply(rotations[axis.joint], turn)
    if balls is not None:
        for joint, turn in zip(built.spherical, balls, strict=True):
            rotations[joint] = multiply(rotations[joint], turn)
    if root is not None:
        translations[0], rotations[0] = root
    return rotations, translations


def children(skeleton: Skeleton) -> list[Sequence[int]]:
    """Per joint, those that hang on it."""
    hanging: list[list[int]] = [[] for _ in skeleton.names]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            hanging[parent].append(joint)
    return list(hanging)
