"""A joint as the builder holds it: checked, changed, reflected."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote
from viewer.skeleton.capsule import Capsule
from viewer.skeleton.checks import member
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm, limits_for
from viewer.spatial.checks import Floats, finite_floats, unit_quaternions

KindWord: TypeAlias = Literal["ball", "hinge", "universal", "slide", "fixed", "free"]
Range: TypeAlias = tuple[float, float]
Limits: TypeAlias = JointLimits | Range | Iterable[Range] | None
AXES = {"hinge": 1, "slide": 1, "universal": 2}
"""Axes of each joint kind; kinds that are not listed have none."""


@dataclass(slots=True)
class BuiltJoint:
    """A joint with its parent by name.

    Attributes:
        plain: its limits are plain ranges of a ball, whose twist axis follows from the bone when it is built.
        poses: its rotation and translation in the named poses.
        capsules: its bodies; the joint's index in them means nothing.
    """

    parent: str | None
    offset: Floats
    rotation: Floats
    kind: JointKind = JointKind.BALL
    axes: Floats = field(default_factory=lambda: np.zeros((2, 3)))
    limits: JointLimits | None = None
    plain: bool = False
    stiffness: float = 0.0
    mobility: Floats = field(default_factory=lambda: np.full(3, np.nan))
    mobility_matrix: Floats = field(default_factory=lambda: np.full((3, 3), np.nan))
    poses: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    capsules: tuple[Capsule, ...] = ()


def changed_joint(
    joint: BuiltJoint, name: str, kind: object, axis: ArrayLike | None, limits: Limits, stiffness: float
) -> BuiltJoint:
    """The joint with another motion.

    Raises:
        InputError: an unknown kind, axes or limits that this kind does not have, numbers that cannot be used.
    """
    own = quote(name)
    found = member(JointKind, kind, f"builder: kind of {own}")
    if found is JointKind.FREE and joint.parent is not None:
        raise InputError(f"builder: kind of {own}: expected free on roots only, found it on a joint with a parent")
    axes, count = np.zeros((2, 3)), AXES.get(found, 0)
    given = np.zeros((0, 3)) if axis is None else np.atleast_2d(np.asarray(axis, dtype=np.float64))
    if len(given) != count:
        wanted = {0: f"none: a {found} joint has no axis", 1: "one, (x, y, z)", 2: "two"}[count]
        raise InputError(f"builder: axis of {own}: expected {wanted}, found {len(given)}")
    axes[:count] = finite_floats(given, (count, 3), f"builder: axis of {own}")
    try:
        ranges, plain = _limits(found, limits)
        ranges = limits_for(found, ranges)
    except InputError as error:
        raise InputError(f"builder: limits of {own}: {error}") from None
    stiff = float(finite_floats(stiffness, (), f"builder: stiffness of {own}"))
    if not 0.0 <= stiff <= 1.0:
        raise InputError(f"builder: stiffness of {own}: expected 0 to 1, found {stiff:g}")
    kept = joint.plain and ranges is not None and ranges is joint.limits
    return replace(joint, kind=found, axes=axes, limits=ranges, plain=plain or kept, stiffness=stiff)


def _limits(kind: JointKind, limits: Limits) -> tuple[JointLimits | None, bool]:
    """Limits from ranges, and whether they are those of a ball, whose twist axis is not known yet."""
    if limits is None or isinstance(limits, JointLimits):
        return limits, False
    try:
        pairs = np.atleast_2d(np.asarray(limits, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"expected pairs (lowest, highest), found {quote(limits)}") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"expected pairs (lowest, highest), found numbers of shape {pairs.shape}")
    ranges = [(float(low), float(high)) for low, high in pairs]
    if kind is not JointKind.BALL:
        return JointLimits.coordinates(*ranges), False
    if len(ranges) != 3:
        raise InputError(f"expected three ranges of a ball, about x, y and z, found {len(ranges)}")
    return JointLimits.swing_twist(1, *ranges), True


def as_vector(value: ArrayLike, name: str, what: str) -> Floats:
    """(3,) finite numbers of a joint."""
    return finite_floats(value, (3,), f"builder: {what} of {quote(name)}").copy()


def as_rotation(value: ArrayLike, name: str) -> Floats:
    """(4,) a unit quaternion of a joint."""
    return unit_quaternions(value, (4,), f"builder: rotation of {quote(name)}")


def flip_of(axis: int) -> Floats:
    """(3,) signs of a reflection along an axis."""
    return np.where(np.arange(3) == axis, -1.0, 1.0)


def reflected_rotation(q: Floats, axis: int) -> Floats:
    """M R M for a reflection M: the rotation vector keeps its part along the axis, the others change sign."""
    return np.append(-flip_of(axis), 1.0) * q


def reflected_joint(joint: BuiltJoint, axis: int) -> BuiltJoint:
    """A reflected joint: offsets and directions change sign along the axis, rotation axes (pseudovectors) across it."""
    flip, limits = flip_of(axis), joint.limits
    if limits is not None and limits.form is not LimitForm.COORDINATES:
        keep = np.arange(3) == axis
        lower, upper = np.where(keep, limits.lower, -limits.upper), np.where(keep, limits.upper, -limits.lower)
        limits = replace(limits, lower=lower, upper=upper)
    sign = 1.0 if joint.kind is JointKind.SLIDE else -1.0
    return replace(
        joint,
        offset=flip * joint.offset,
        rotation=reflected_rotation(joint.rotation, axis),
        axes=sign * flip * joint.axes,
        limits=limits,
        mobility_matrix=flip[:, None] * joint.mobility_matrix * flip,
        poses={name: (reflected_rotation(q, axis), flip * t) for name, (q, t) in joint.poses.items()},
        capsules=tuple(replace(one, a=flip * one.a, b=flip * one.b) for one in joint.capsules),  # type: ignore[arg-type]  # it takes vectors
    )
