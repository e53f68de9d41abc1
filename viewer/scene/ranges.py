"""Joint limits as curves in the world, at the boundary of the allowed motion.

Of a joint's coordinates two move its bone, and one rotates the bone about itself (the *twist*). The curve is the
boundary for the first two at the current twist: at a limit the bone touches it exactly.

An end of a range can be dragged along the directions in which it moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document.edit_skeleton import farthest
from viewer.scene.look import look_of
from viewer.skeleton import JointKind, JointLimits, LimitForm, Skeleton, World, joint_space
from viewer.skeleton.coordinates import swing_inside
from viewer.skeleton.limits import default_twist_axis
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    axes_of,
    conjugate,
    from_axis_angle,
    from_euler,
    from_swing_twist,
    multiply,
    perpendicular,
    rotate,
    to_matrix,
)


@dataclass(frozen=True, slots=True, eq=False)
class Swing:
    """The allowed directions of a bone.

    Attributes:
        apex: (3,) the joint.
        rim: (N, 3) the boundary of the directions, `CONE_LENGTH` bone lengths away.
        closed: whether the rim returns to its first point; else it is the arc of a hinge.
        meridians: (M,) indices of the points of the rim to which lines from the apex are drawn.
    """

    apex: Floats
    rim: Floats
    closed: bool
    meridians: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Twist:
    """The allowed rotation of a bone about itself.

    Attributes:
        centre: (3,) of its ring.
        across, over: (3,) unit vectors in the ring's plane: angle 0 and a quarter turn.
        radius: metres.
        lower, upper: radians; None if unlimited.
        angle: current angle, radians.
    """

    centre: Floats
    across: Floats
    over: Floats
    radius: float
    lower: float | None
    upper: float | None
    angle: float

    def at(self, shares: Floats) -> Floats:
        """(N, 3) points in the ring's plane by their shares (N, 2), in radii, of `across` and `over`."""
        return np.asarray(self.centre + shares @ (self.radius * np.array([self.across, self.over])))


@dataclass(frozen=True, slots=True, eq=False)
class Travel:
    """The range of a slide from ``lower`` (3,) to ``upper`` (3,), and its current position ``now`` (3,)."""

    lower: Floats
    upper: Floats
    now: Floats


Range = Swing | Twist | Travel
"""A part of a joint's limits that can be shown."""


HALF_EDGE = 12
"""Points on half an edge of the range of two coordinates: 8 halves make a closed curve of 96."""
_AXES = np.eye(3)
_LOCKED = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LimitedJoint:
    """The properties of a joint with limits that do not depend on the pose.

    Attributes:
        kind, limits: of the skeleton.
        bone: (3,) unit vector of its bone, in the joint's frame.
        length: metres of that bone.
        axes: (2, 3) of hinges and universals.
        lower, upper: (3,) ranges of its coordinates.
        free: the two coordinates that move the bone, of balls and universals.
        held: the coordinate that rotates a ball's bone about itself; else -1.
        edge: (96 * 3, 3) rows of the rotations along the boundary of ``free``, times the length of cones, if they do
            not depend on ``held``, which then acts before them; None if they do, or if there is no boundary.
        fan: (49, 3) the arc of a hinge that swings its bone between two ends, metres from the joint, at rest; or None.
        has_edge: whether the allowed directions have a boundary: more than one, and not all.
        turns_first: whether the held coordinate acts before the free ones, or there is none.
    """

    kind: JointKind
    limits: JointLimits
    bone: Floats
    length: float
    axes: Floats
    lower: Floats
    upper: Floats
    free: tuple[int, int]
    held: int
    edge: Floats | None = None
    fan: Floats | None = None
    has_edge: bool = False
    turns_first: bool = True


@lru_cache(maxsize=8)
def _known(_skeleton: Skeleton) -> dict[int, LimitedJoint]:
    """The cache of `limited_joint`."""
    return {}


def limited_joint(skeleton: Skeleton, joint: int) -> LimitedJoint:
    """A joint that has limits, cached."""
    known = _known(skeleton)
    if joint not in known:
        known[joint] = _with_edge(_measured(skeleton, joint))
    return known[joint]


def _measured(skeleton: Skeleton, joint: int) -> LimitedJoint:
    """The joint without its edge; without a bone of its own it gets half the length of the bone that leads to it."""
    limits, kind, space = skeleton.limits[joint], skeleton.kinds[joint], joint_space(skeleton)
    assert limits is not None
    tail = _tail(skeleton, joint)
    if tail is None:
        tail = 0.5 * np.linalg.norm(skeleton.offsets[joint]) * _AXES[limits.twist_axis]
    length = float(np.linalg.norm(tail))
    bone = tail / length if length > 0.0 else _AXES[limits.twist_axis]
    held = -1
    if kind is JointKind.BALL:
        held = default_twist_axis(bone) if limits.form is LimitForm.EULER else limits.twist_axis
    first, second = (axis for axis in range(3) if axis != (held if held >= 0 else 2))
    lower, upper = space.lower[joint], space.upper[joint]
    free = [first, second]
    bounded = bool((np.isfinite(lower[free]) | np.isfinite(upper[free])).any())
    has_edge = bounded and bool((upper[free] - lower[free] > _LOCKED).any())
    after = held >= 0 and limits.form is LimitForm.EULER and axes_of(limits.order)[2] != held
    return LimitedJoint(
        kind, limits, bone, length, skeleton.axes[joint], lower, upper, (first, second), held,
        has_edge=has_edge, turns_first=not after,
    )  # fmt: skip


def _tail(skeleton: Skeleton, joint: int) -> Floats | None:
    """(3,) from a joint to the end of its first bone with a length, in the joint's frame; or None."""
    look = look_of(skeleton)
    bone = int(look.main[joint])
    if bone < 0:
        return None
    child = int(look.children[bone])
    tips = len(look.children) - len(skeleton.tip_parents)
    return np.asarray(skeleton.offsets[child] if child >= 0 else skeleton.tip_offsets[bone - tips])


def _with_edge(joint: LimitedJoint) -> LimitedJoint:
    if joint.kind is JointKind.HINGE:
        swings = np.isfinite([joint.lower[0], joint.upper[0]]).all() and not _turns_itself(joint)
        return replace(joint, fan=_fan(joint)) if swings else joint
    moves = joint.kind in {JointKind.BALL, JointKind.UNIVERSAL}
    if not (moves and joint.has_edge and joint.turns_first):
        return joint
    turns = to_matrix(turns_of(joint, edge_coordinates(joint, np.zeros(3))))
    return replace(joint, edge=CONE_LENGTH * joint.length * turns.reshape(-1, 3))


def _turns_itself(joint: LimitedJoint) -> bool:
    """Whether a hinge twists its bone."""
    return abs(float(joint.axes[0] @ joint.bone)) > _TURNS_ITSELF


def _fan(joint: LimitedJoint) -> Floats:
    coordinates = np.zeros((_FAN, 3))
    coordinates[:, 0] = np.linspace(joint.lower[0], joint.upper[0], _FAN)
    return np.asarray(CONE_LENGTH * joint.length * rotate(turns_of(joint, coordinates), joint.bone))


def edge_coordinates(joint: LimitedJoint, now: Floats) -> Floats:
    """(96, 3) coordinates along the boundary of the two free ones, the third as in ``now`` (3,).

    In every 24th row, from the 12th on, one of the two is at 0, or as near to it as its range allows.
    """
    first, second = joint.free
    (low_a, middle_a, high_a), (low_b, middle_b, high_b) = _stations(joint, first), _stations(joint, second)
    corners = np.array([
        (low_a, low_b), (middle_a, low_b), (high_a, low_b), (high_a, middle_b),
        (high_a, high_b), (middle_a, high_b), (low_a, high_b), (low_a, middle_b),
    ])  # fmt: skip
    part = np.arange(HALF_EDGE)[:, None] / HALF_EDGE
    between = corners[:, None] + part * (np.roll(corners, -1, axis=0) - corners)[:, None]
    edge = np.tile(now, (8 * HALF_EDGE, 1))
    edge[:, [first, second]] = between.reshape(-1, 2)
    if joint.kind is not JointKind.BALL or joint.limits.form is LimitForm.EULER:
        return edge
    # A swing is at most half a turn: the boundary is that of the ranges cut with this disc.
    turning = np.arange(3) == joint.held
    low, high = np.where(turning, -math.inf, joint.lower), np.where(turning, math.inf, joint.upper)
    return swing_inside(edge, low, high, joint.held)


def _stations(joint: LimitedJoint, axis: int) -> tuple[float, float, float]:
    """Lower end, value nearest to 0, and upper end of a coordinate; half a turn for unlimited ends."""
    low, high = max(float(joint.lower[axis]), -math.pi), min(float(joint.upper[axis]), math.pi)
    return low, min(max(0.0, low), high), high


def turns_of(joint: LimitedJoint, coordinates: Floats) -> Floats:
    """(N, 4) rotations from rest of coordinates (N, 3)."""
    if joint.kind is JointKind.HINGE:
        return from_axis_angle(joint.axes[0], coordinates[:, 0])
    if joint.kind is JointKind.UNIVERSAL:
        first = from_axis_angle(joint.axes[0], coordinates[:, 0])
        return multiply(first, from_axis_angle(joint.axes[1], coordinates[:, 1]))
    if joint.limits.form is LimitForm.SWING_TWIST:
        return from_swing_twist(coordinates, joint.limits.twist_axis)
    return from_euler(coordinates[:, axes_of(joint.limits.order)], joint.limits.order)


CONE_LENGTH, TWIST_PLACE, TWIST_RADIUS = 0.8, 0.6, 0.3
"""Length of cones, and position and radius of the twist's ring, in bone lengths."""
_MERIDIANS = tuple(range(HALF_EDGE, 8 * HALF_EDGE, 2 * HALF_EDGE))
_FAN = 49
_TURNS_ITSELF = 0.97
"""A hinge twists its bone if the cosine between its axis and the bone is above this."""


class Moment(NamedTuple):
    """A joint at one moment.

    Attributes:
        base: (3, 3) world_from_rest: rotation at rest.
        turn: (3, 3) world_from_joint: current rotation.
        spin: (3, 3) rotation by its held coordinate alone; the identity without one.
        place: (3,) metres.
        at: (3,) its coordinates.
    """

    base: Floats
    turn: Floats
    spin: Floats
    place: Floats
    at: Floats


def ranges_of(
    skeleton: Skeleton, world: World, joints: list[int], coordinates: Floats | None = None
) -> dict[int, tuple[Range, ...]]:
    """The ranges of joints in a world pose, for those with limits; without ``coordinates`` (J, 3) they are measured."""
    found = moments_of(skeleton, world, joints, coordinates)
    return {name: ranges_at(joint, moment) for name, (joint, moment) in found.items()}


def moments_of(
    skeleton: Skeleton, world: World, joints: list[int], coordinates: Floats | None = None
) -> dict[int, tuple[LimitedJoint, Moment]]:
    """Those of the joints that have limits, and where they are; arguments as of `ranges_of`."""
    some = _limited(skeleton, tuple(joints))
    if not some.names:
        return {}
    if coordinates is None:
        coordinates = joint_space(skeleton).measure(*local_motion(skeleton, world))
    at, count = coordinates.take(some.rows, axis=0), len(some.names)
    half = 0.5 * np.where(some.held >= 0, at[np.arange(count), some.held], 0.0)
    spins = np.zeros((count, 4))
    spins[np.arange(count), some.held] = np.sin(half)
    spins[:, 3] = np.cos(half)
    parents = world.rotations.take(some.above, axis=0)
    parents[some.roots] = IDENTITY
    turns = np.concatenate([parents, world.rotations.take(some.rows, axis=0), spins])
    parent, turn, spin = to_matrix(turns).reshape(3, count, 3, 3)
    moments = zip(parent @ some.rest, turn, spin, world.positions.take(some.rows, axis=0), at, strict=True)
    return {
        name: (joint, Moment(*moment)) for name, joint, moment in zip(some.names, some.joints, moments, strict=True)
    }


class _Limited(NamedTuple):
    """The L joints with limits among some, as far as they do not depend on the pose.

    Attributes:
        names: their indices.
        rows, above: (L,) their indices and those of their parents.
        roots: which of them have none.
        rest: (L, 3, 3) rotations at rest.
        held: (L,) see `LimitedJoint`.
    """

    names: list[int]
    rows: Ints
    above: Ints
    roots: Ints
    rest: Floats
    held: Ints
    joints: list[LimitedJoint]


@lru_cache(maxsize=8)
def _limited(skeleton: Skeleton, joints: tuple[int, ...]) -> _Limited:
    some = [joint for joint in joints if skeleton.limits[joint] is not None]
    rows, limited = np.array(some, dtype=np.intp), [limited_joint(skeleton, joint) for joint in some]
    above, held = skeleton.parents[rows], np.array([joint.held for joint in limited], dtype=np.intp)
    rest = to_matrix(skeleton.rest_rotations[rows])
    return _Limited(some, rows, above, np.flatnonzero(above < 0), rest, held, limited)


def local_motion(skeleton: Skeleton, world: World) -> tuple[Floats, Floats]:
    """Local rotations (J, 4) and translations (J, 3): the inverse of `fk`."""
    above = skeleton.parents
    inner = above >= 0
    turns = np.where(inner[:, None], conjugate(world.rotations[above]), IDENTITY)
    origins = np.where(inner[:, None], world.positions[above], 0.0)
    return multiply(turns, world.rotations), rotate(turns, world.positions - origins)


def ranges_at(joint: LimitedJoint, now: Moment) -> tuple[Range, ...]:
    """The ranges of a joint at one moment."""
    if joint.kind is JointKind.SLIDE:
        return _slide(joint, now)
    if joint.length <= 0.0:
        return ()
    if joint.kind is JointKind.HINGE:
        return _hinge(joint, now)
    cone = (_cone(joint, now),) if joint.has_edge else ()
    return cone if joint.kind is JointKind.UNIVERSAL else (*cone, _twist(joint, now))


def _cone(joint: LimitedJoint, now: Moment) -> Swing:
    """The closed boundary of the allowed directions."""
    if joint.edge is None:
        rim = ends_at(joint, now, edge_coordinates(joint, now.at))
    else:
        rim = now.place + (joint.edge @ (now.spin @ joint.bone)).reshape(-1, 3) @ now.base.T
    return Swing(now.place, rim, closed=True, meridians=_MERIDIANS)


def ends_at(joint: LimitedJoint, now: Moment, coordinates: Floats) -> Floats:
    """(N, 3) points in the bone's direction, `CONE_LENGTH` away, at coordinates (N, 3)."""
    ways = rotate(turns_of(joint, coordinates), joint.bone)
    return np.asarray(now.place + CONE_LENGTH * joint.length * ways @ now.base.T)


def _hinge(joint: LimitedJoint, now: Moment) -> tuple[Range, ...]:
    axis = joint.axes[0]
    if _turns_itself(joint):
        across = perpendicular(axis)
        return (_ring(joint, 0, now, now.base @ across, now.base @ np.cross(axis, across)),)
    if joint.fan is None:
        return ()
    return (Swing(now.place, now.place + joint.fan @ now.base.T, closed=False, meridians=(0, _FAN - 1)),)


def _twist(joint: LimitedJoint, now: Moment) -> Twist:
    """The ring of the held coordinate, in the frame of the coordinates that act after it."""
    held = joint.held
    if joint.turns_first:
        frame = now.turn @ now.spin.T
    else:
        order = axes_of(joint.limits.order)
        after = now.at.copy()
        after[list(order[order.index(held) :])] = 0.0
        frame = now.base @ to_matrix(turns_of(joint, after[None]))[0]
    return _ring(joint, held, now, frame[:, (held + 1) % 3], frame[:, (held + 2) % 3])


def _ring(joint: LimitedJoint, held: int, now: Moment, across: Floats, over: Floats) -> Twist:
    """A ring on the bone in the plane of two directions (3,), which are angle 0 and a quarter turn."""
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


def _slide(joint: LimitedJoint, now: Moment) -> tuple[Travel, ...]:
    low, high = float(joint.lower[0]), float(joint.upper[0])
    if not (math.isfinite(low) and math.isfinite(high)):
        return ()
    way = now.base @ joint.axes[0]
    origin = now.place - float(now.at[0]) * way
    return (Travel(origin + low * way, origin + high * way, now.place),)


_STEPS = 360
"""Samples of the path of an end."""
_EXTREMES = ((1, False), (0, True), (1, True), (0, False))
"""The coordinate that ends in the middle of each quarter of a cone's edge, and whether at its upper end."""


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
    """The ends of a joint's ranges that are drawn, none of unlimited ones; arguments as of `ranges_of`."""
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
    """Four ends of a cone: one coordinate is at its end and the other at 0, or as near to it as limits allow."""
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
    if limited.kind is JointKind.SLIDE:  # unlimited: extended at either end by its own length
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
