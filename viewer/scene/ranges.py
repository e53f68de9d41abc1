"""The ranges of joints as curves in the world: where a bone may point, how far it may twist or slide.

A joint's coordinates are two that move its bone and one that turns the bone about itself (the *twist*). The curve shown
is the edge of what the first two may do while the twist stays as it is now: at a limit the bone touches it exactly.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.scene.limited_joint import HALF_EDGE, edge_coordinates, limited_joint, turns_of
from viewer.scene.range_shapes import Swing, Travel, Twist
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.spatial.euler import axes_of
from viewer.spatial.quaternion import IDENTITY, conjugate, from_axis_angle, multiply, perpendicular, rotate, to_matrix

if TYPE_CHECKING:
    from viewer.scene.limited_joint import LimitedJoint
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

CONE_LENGTH, TWIST_PLACE, TWIST_RADIUS = 0.8, 0.6, 0.3
"""Of cones, and of where on the bone and how large the twist's ring is, in bone lengths."""
_MERIDIANS = tuple(range(HALF_EDGE, 8 * HALF_EDGE, 2 * HALF_EDGE))
_FAN = 49
_TURNS_ITSELF = 0.97
"""A hinge whose axis lies along the bone, to a cosine of this, twists it."""
_AXES = np.eye(3)

Range = Swing | Twist | Travel
"""What may be shown of a joint's limits."""


class _Now(NamedTuple):
    """A joint at one moment.

    Attributes:
        base: (3, 3) world_from_rest: how the joint would be turned at its rest.
        turn: (3, 3) world_from_joint: how it is turned.
        spin: (3, 3) the turn of its held coordinate by itself; the identity where it has none.
        place: (3,) metres.
        at: (3,) its coordinates.
    """

    base: Floats
    turn: Floats
    spin: Floats
    place: Floats
    at: Floats


def ranges_of(skeleton: Skeleton, world: World, joints: list[int]) -> dict[int, tuple[Range, ...]]:
    """What is to be shown of the limits of some joints; joints without limits are not in it."""
    some = [joint for joint in joints if skeleton.limits[joint] is not None]
    if not some:
        return {}
    limited = [limited_joint(skeleton, joint) for joint in some]
    at = joint_space(skeleton).measure(*local_motion(skeleton, world))[some]
    above = skeleton.parents[some]
    parents = np.where((above >= 0)[:, None], world.rotations[above], IDENTITY)
    base = to_matrix(multiply(parents, skeleton.rest_rotations[some]))
    held = np.array([joint.held for joint in limited])
    angles = np.where(held >= 0, at[np.arange(len(some)), held], 0.0)
    spin = to_matrix(from_axis_angle(_AXES[held], angles))
    moments = zip(base, to_matrix(world.rotations[some]), spin, world.positions[some], at, strict=True)
    return {name: _ranges(joint, _Now(*moment)) for name, joint, moment in zip(some, limited, moments, strict=True)}


def local_motion(skeleton: Skeleton, world: World) -> tuple[Floats, Floats]:
    """Local rotations (J, 4) and translations (J, 3): what `fk` makes the world of."""
    above = skeleton.parents
    inner = above >= 0
    turns = np.where(inner[:, None], conjugate(world.rotations[above]), IDENTITY)
    origins = np.where(inner[:, None], world.positions[above], 0.0)
    return multiply(turns, world.rotations), rotate(turns, world.positions - origins)


def _ranges(joint: LimitedJoint, now: _Now) -> tuple[Range, ...]:
    if joint.kind is JointKind.SLIDE:
        return _slide(joint, now)
    if joint.length <= 0.0:
        return ()
    if joint.kind is JointKind.HINGE:
        return _hinge(joint, now)
    cone = (_cone(joint, now),) if joint.has_edge else ()
    return cone if joint.kind is JointKind.UNIVERSAL else (*cone, _twist(joint, now))


def _cone(joint: LimitedJoint, now: _Now) -> Swing:
    """The closed curve round all directions that are allowed."""
    if joint.edge is None:
        rim = _ends(joint, now, edge_coordinates(joint, now.at))
    else:
        rim = now.place + CONE_LENGTH * joint.length * (joint.edge @ (now.spin @ joint.bone)) @ now.base.T
    return Swing(now.place, rim, closed=True, meridians=_MERIDIANS)


def _ends(joint: LimitedJoint, now: _Now, coordinates: Floats) -> Floats:
    """(N, 3) where the bone's direction ends, a cone's length away, at coordinates (N, 3)."""
    ways = rotate(turns_of(joint, coordinates), joint.bone)
    return np.asarray(now.place + CONE_LENGTH * joint.length * ways @ now.base.T)


def _hinge(joint: LimitedJoint, now: _Now) -> tuple[Range, ...]:
    axis = joint.axes[0]
    if abs(float(axis @ joint.bone)) > _TURNS_ITSELF:
        across = perpendicular(axis)
        return (_ring(joint, 0, now, now.base @ across, now.base @ np.cross(axis, across)),)
    if not (np.isfinite(joint.lower[0]) and np.isfinite(joint.upper[0])):
        return ()
    coordinates = np.zeros((_FAN, 3))
    coordinates[:, 0] = np.linspace(joint.lower[0], joint.upper[0], _FAN)
    return (Swing(now.place, _ends(joint, now, coordinates), closed=False, meridians=(0, _FAN - 1)),)


def _twist(joint: LimitedJoint, now: _Now) -> Twist:
    """The ring of the held coordinate; its plane is turned as the coordinates that act after it say."""
    held = joint.held
    if joint.turns_first:
        frame = now.turn @ now.spin.T
    else:
        order = axes_of(joint.limits.order)
        after = now.at.copy()
        after[list(order[order.index(held) :])] = 0.0
        frame = now.base @ to_matrix(turns_of(joint, after[None]))[0]
    return _ring(joint, held, now, frame[:, (held + 1) % 3], frame[:, (held + 2) % 3])


def _ring(joint: LimitedJoint, held: int, now: _Now, across: Floats, over: Floats) -> Twist:
    """A ring on the bone, in the plane of two directions (3,): angle 0 and a quarter turn."""
    ends = float(joint.lower[held]), float(joint.upper[held])
    limited = all(map(math.isfinite, ends))
    return Twist(
        centre=now.place + TWIST_PLACE * joint.length * now.turn @ joint.bone,
        across=across,
        over=over,
        radius=TWIST_RADIUS * joint.length,
        lower=ends[0] if limited else None,
        upper=ends[1] if limited else None,
        angle=float(now.at[held]),
    )


def _slide(joint: LimitedJoint, now: _Now) -> tuple[Travel, ...]:
    low, high = float(joint.lower[0]), float(joint.upper[0])
    if not (math.isfinite(low) and math.isfinite(high)):
        return ()
    way = now.base @ joint.axes[0]
    origin = now.place - float(now.at[0]) * way
    return (Travel(origin + low * way, origin + high * way, now.place),)
