"""Joint coordinates: measured from a pose, converted back into one, and compared with the limits.

Each joint has up to three, in the columns of a (..., J, 3) array; unused columns are 0.

hinge      [angle]                radians about its axis
universal  [angle 0, angle 1]     radians about axes[0] and axes[1]
slide      [distance]             metres along its axis
ball       [x, y, z]              radians, by its limits' form (swing-twist or Euler); none without limits
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import numpy as np

from viewer.errors import InputError
from viewer.skeleton.character import check_clip, check_pose, check_skeleton
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import COMPILED
from viewer.skeleton.limits import Following, JointKind, JointLimits, LimitForm, following
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.spatial.checks import Bools, Floats, Ints, frozen, handed_over
from viewer.spatial.quaternion import (
    IDENTITY,
    axes_of,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    from_euler,
    from_swing_twist,
    multiply,
    parity_of,
    rotate,
    to_euler,
    to_swing_twist,
    twist_about,
    wrapped,
)

Key = TypeVar("Key")

_LOCKED = 1e-8
"""Radians: if the middle angle is this near to +-pi/2, the outer ones may be exchanged for each other."""

_ROUNDING = 1e-9
_AT_LIMIT = 1e-6
"""Radians or metres from a limit at which a joint counts as at it."""
_CLEAR = 1e-6
"""A swing moved inside its ranges stays this much below pi, where swing and twist cannot be distinguished."""

_HALVINGS = 60
_TWIST, _SCALAR = 2, 3
"""The places of the twist and of w in `JointSpace.swung_axes`."""


@dataclass(frozen=True, slots=True, eq=False)
class JointSpace:
    """The joints of one skeleton, grouped by how they are measured; made by `joint_space`.

    Attributes:
        lower, upper: (J, 3) ranges of the coordinates, infinite if unlimited.
        circular: (J, 3) whether a coordinate is an angle with period 2 pi.
        middle: (J, 3) centres of the ranges of circular coordinates with two ends; 0 elsewhere.
        period: (J, 3) 2 pi for these coordinates; 0 elsewhere.
        swung: (B,) the balls with ranges of swing and twist.
        swung_axes: (B, 4) the components of their rotations in an order that keeps handedness: the twist's the last of
            three, then w. In this order all of them are computed at once.
        ranged: whether any coordinate has an end.
        unturned: whether no joint is rotated at rest.
        following: the joints that follow others.
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
    swung: Ints
    swung_axes: Ints
    ranged: bool
    unturned: bool
    eulers: tuple[tuple[str, Ints], ...]
    following: Following

    def measure(self, rotations: Floats, translations: Floats) -> Floats:
        """Coordinates (..., J, 3) of local rotations (..., J, 4) and translations (..., J, 3).

        A rotation that a hinge or universal cannot have is measured as the nearest one that it can have. Of equivalent
        coordinates, limited joints get those with the smallest violation of their ranges.
        """
        if rotations.shape[-2] != len(self.lower):
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
            result[..., self.universals, :2] = universal_angles(d, axes[self.universals])
        if self.slides.size:
            moved = translations[..., self.slides, :] - self.skeleton.offsets[self.slides]
            result[..., self.slides, 0] = dot(moved, self._slide_directions())
        if self.swung.size:
            rows = 4 * np.arange(len(self.swung))[:, None] + self.swung_axes
            d = self._relative(rotations, self.swung)
            self._set_swung(result, to_swing_twist(d.reshape(*d.shape[:-2], -1).take(rows, axis=-1), _TWIST))
        for order, joints in self.eulers:
            angles = to_euler(self._relative(rotations, joints), order)
            result[..., joints, :] = angles[..., np.argsort(axes_of(order))]
        if not self.ranged:
            return result  # without ranges all equivalent coordinates are equally good
        return self.least_outside(counted(result, self.middle, self.period))

    def rebuild(self, coordinates: Floats, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
        """Copies of the local rotations and translations with the given coordinates (..., J, 3).

        Fixed joints go to rest; free joints and balls without limits keep their motion, and fixed roots their position
        and rotation: the figure stands where it is put.
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
        if self.swung.size:
            turn = np.empty((*coordinates.shape[:-2], len(self.swung), 4))
            turn[..., np.arange(len(self.swung))[:, None], self.swung_axes] = from_swing_twist(
                self._swung(coordinates), _TWIST
            )
            self._set(turns, self.swung, turn)
        for order, joints in self.eulers:
            self._set(turns, joints, from_euler(coordinates[..., joints, :][..., axes_of(order)], order))
        return turns, moved

    def room(self, coordinates: Floats) -> Floats:
        """(..., J) by how much coordinates (..., J, 3) as measured are inside: radians or metres; negative outside."""
        inside = np.minimum(coordinates - self.lower, self.upper - coordinates)
        # Of three columns numpy's own minimum takes several times as long.
        return np.asarray(np.minimum(np.minimum(inside[..., 0], inside[..., 1]), inside[..., 2]))

    def excess(self, coordinates: Floats) -> Floats:
        """(..., J) violation by coordinates (..., J, 3): radians, metres for slides; 0 inside."""
        beyond = excess(coordinates, self.lower, self.upper)
        result = np.maximum(np.maximum(beyond[..., 0], beyond[..., 1]), beyond[..., 2])
        if self.swung.size:
            too_long = swing_excess(self._swung(coordinates), _TWIST)
            result[..., self.swung] = np.maximum(result[..., self.swung], too_long)
        return np.asarray(result)

    def nearest_inside(self, coordinates: Floats) -> Floats:
        """The nearest coordinates (..., J, 3) inside the ranges; coordinates that are inside are not changed.

        Joints that follow others take their leaders' coordinates.
        """
        result = np.clip(coordinates, self.lower, self.upper)
        outside = self.excess(coordinates)[..., None] > 0.0
        if self.swung.size:
            some = self._swung(coordinates)
            inside = swing_inside(some, self._swung(self.lower), self._swung(self.upper), _TWIST)
            self._set_swung(result, np.where(outside[..., self.swung, :], inside, some))
        return self.following.followed(result)

    def _relative(self, rotations: Floats, joints: Ints) -> Floats:
        some = rotations.take(joints, axis=-2)
        # Many files have only identities as rest rotations: skip the multiplication for long clips.
        if self.unturned:
            return some
        rest = self.skeleton.rest_rotations[joints]
        return some if (rest == IDENTITY).all() else multiply(conjugate(rest), some)

    def _set(self, rotations: Floats, joints: Ints, relative: Floats) -> None:
        rotations[..., joints, :] = multiply(self.skeleton.rest_rotations[joints], relative)

    def _slide_directions(self) -> Floats:
        return rotate(self.skeleton.rest_rotations[self.slides], self.skeleton.axes[self.slides, 0])

    def _swung(self, coordinates: Floats) -> Floats:
        """(..., B, 3) the coordinates of swings and twists, twists last, of those of all joints (..., J, 3)."""
        return np.asarray(coordinates[..., self.swung[:, None], self.swung_axes[:, :_SCALAR]])

    def _set_swung(self, coordinates: Floats, found: Floats) -> None:
        coordinates[..., self.swung[:, None], self.swung_axes[:, :_SCALAR]] = found

    def least_outside(self, coordinates: Floats) -> Floats:
        """Replace, in place, the coordinates of balls by the equivalent ones with the smallest violation."""
        room = self.room(coordinates)
        if (room >= 0.0).all():
            return coordinates
        if self.swung.size:
            some = self._swung(coordinates)
            # The other way round exceeds half a turn by as much as this one falls short of it, which is a violation by
            # itself.
            far = _swing_length(some, _TWIST) - room[..., self.swung] > np.pi
            if far.any():
                which = far.nonzero()[-1]
                lower, upper = self._swung(self.lower)[which], self._swung(self.upper)[which]
                some[far] = nearer_swing(some[far], lower, upper, _TWIST)
                self._set_swung(coordinates, some)
        for order, joints in self.eulers:
            ends = self.lower[joints], self.upper[joints]
            counts = self.middle[joints], self.period[joints]
            coordinates[..., joints, :] = nearer_euler(coordinates[..., joints, :], *ends, *counts, order)
        return coordinates


@lru_cache(maxsize=16)
def joint_space(skeleton: Skeleton) -> JointSpace:
    """The `JointSpace` of a skeleton, cached."""

    def of_kind(kind: JointKind) -> Ints:
        return np.flatnonzero(skeleton.of_kind(kind))

    fixed = of_kind(JointKind.FIXED)
    circular = np.zeros((len(skeleton), 3), dtype=np.bool_)
    balls = [(joint, limits) for joint, limits in enumerate(skeleton.limits) if limits is not None]
    for joint, limits in balls:
        circular[joint] = _circular(skeleton.kinds[joint], limits)
    follows = following(skeleton.mimics, skeleton.names)
    lower, upper = follows.shrunk(*_ranges(balls, circular))
    counted = circular & np.isfinite(lower) & np.isfinite(upper)
    twists = [(joint, own.twist_axis) for joint, own in balls if own.form is LimitForm.SWING_TWIST]
    axes = [[(axis + 1) % 3, (axis + 2) % 3, axis, 3] for _, axis in twists]
    return JointSpace(
        skeleton=skeleton,
        lower=handed_over(lower),
        upper=handed_over(upper),
        circular=handed_over(circular),
        middle=handed_over(
            np.where(counted, 0.5 * (np.where(counted, lower, 0.0) + np.where(counted, upper, 0.0)), 0.0)
        ),
        period=handed_over(np.where(counted, 2.0 * np.pi, 0.0)),
        fixed=fixed[skeleton.parents[fixed] >= 0],
        hinges=of_kind(JointKind.HINGE),
        universals=of_kind(JointKind.UNIVERSAL),
        slides=of_kind(JointKind.SLIDE),
        swung=np.array([joint for joint, _ in twists], dtype=np.intp),
        swung_axes=np.array(axes, dtype=np.intp).reshape(-1, 4),
        ranged=bool(np.isfinite(lower).any() or np.isfinite(upper).any()),
        unturned=bool((skeleton.rest_rotations == IDENTITY).all()),
        eulers=_grouped((v.order, j) for j, v in balls if v.form is LimitForm.EULER),
        following=follows,
    )


def coordinates_of(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J, 3) joint coordinates of a pose; see `coordinates_and_room`."""
    return coordinates_and_room(skeleton, pose)[0]


def room_of(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J,) by how much each joint is inside its ranges, radians or metres, negative outside; see there."""
    return coordinates_and_room(skeleton, pose)[1]


@lru_cache(maxsize=8)
def limited_joints(skeleton: Skeleton, pose: Pose) -> frozenset[int]:
    """The joints at or beyond a limit; cached."""
    return frozenset([joint for joint, room in enumerate(room_of(skeleton, pose).tolist()) if room < _AT_LIMIT])


@lru_cache(maxsize=8)
def coordinates_and_room(skeleton: Skeleton, pose: Pose) -> tuple[Floats, Floats]:
    """The coordinates of a pose's joints, and how far inside they are; cached for poses in use (they are immutable).

    The last bits may be others than those of `JointSpace.measure`, which poses are made of.
    """
    space, measure = joint_space(skeleton), COMPILED.measure
    if measure is None or len(pose.rotations) != len(space.lower):  # of another skeleton: measuring refuses it
        coordinates = space.measure(pose.rotations, pose.translations)
        return coordinates, space.room(coordinates)
    coordinates, room = np.empty((len(space.lower), 3)), np.empty(len(space.lower))
    rotations, translations = frozen(pose.rotations), frozen(pose.translations)
    if measure(*COMPILED.tables(skeleton), rotations, translations, coordinates, room):
        coordinates = space.least_outside(coordinates)
        room = space.room(coordinates)
    return coordinates, room


def _grouped(pairs: Iterable[tuple[Key, int]]) -> tuple[tuple[Key, Ints], ...]:
    groups: dict[Key, list[int]] = {}
    for key, joint in pairs:
        groups.setdefault(key, []).append(joint)
    return tuple((key, np.array(joints, dtype=np.intp)) for key, joints in groups.items())


def _ranges(joints: Iterable[tuple[int, JointLimits]], circular: Bools) -> tuple[Floats, Floats]:
    """(J, 3) the lower and upper ends of joints with limits; some angles have ends even if the limits state none.

    A circular angle with one end has the other at half a turn, where its equivalents begin. The middle angle of an
    Euler form ends at right angles.
    """
    lower, upper, eulers = np.full(circular.shape, -np.inf), np.full(circular.shape, np.inf), []
    for joint, limits in joints:
        lower[joint, : len(limits.lower)], upper[joint, : len(limits.upper)] = limits.lower, limits.upper
        if limits.form is LimitForm.EULER:
            eulers.append((joint, axes_of(limits.order)[1]))
    one_sided = circular & (np.isfinite(lower) != np.isfinite(upper))
    lower = np.where(one_sided & np.isinf(lower), np.minimum(-np.pi, upper), lower)
    upper = np.where(one_sided & np.isinf(upper), np.maximum(np.pi, lower), upper)
    for joint, second in eulers:
        if (np.isfinite(lower[joint]) | np.isfinite(upper[joint])).any():
            lower[joint, second] = max(lower[joint, second], -0.5 * np.pi)
            upper[joint, second] = min(upper[joint, second], 0.5 * np.pi)
    return lower, upper


def _circular(kind: JointKind, limits: JointLimits) -> list[bool]:
    """Which columns are circular angles: not swings (a vector of at most pi), middle angles or distances."""
    if limits.form is LimitForm.SWING_TWIST:
        return [axis == limits.twist_axis for axis in range(3)]
    if limits.form is LimitForm.EULER:
        return [axis != axes_of(limits.order)[1] for axis in range(3)]
    return [kind is not JointKind.SLIDE] * 3


def universal_angles(d: Floats, axes: Floats) -> Floats:
    """Angles (..., 2) of the rotation R(axes[0], a) R(axes[1], b) nearest to d (..., 4).

    With (x, y, z) the components of d on axes[0], axes[1] and their cross product, the quaternion dot product
    with the universal's is a sum of two cosines, one of (a + b) / 2 and one of (a - b) / 2: maximal at these.
    """
    basis = np.stack([axes[:, 0], axes[:, 1], cross(axes[:, 0], axes[:, 1])], axis=1)
    x, y, z = np.moveaxis(np.einsum("...jk,jak->...ja", d[..., :3], basis), -1, 0)
    w = d[..., 3]
    total, difference = np.arctan2(x + y, w - z), np.arctan2(x - y, w + z)
    angles = np.stack([total + difference, total - difference], axis=-1)
    return wrapped(angles)


def counted(angles: Floats, middle: Floats, period: Floats) -> Floats:
    """Equivalent angles nearest to the middle of their range: 170 degrees is 40 outside [-150, -100], not 270.

    ``period`` is 2 pi, or 0 for coordinates that are not circular.
    """
    return np.asarray(angles - period * np.rint((angles - middle) / (2.0 * np.pi)))


def excess(coordinates: Floats, lower: Floats, upper: Floats) -> Floats:
    """The violation of each coordinate's range; 0 inside."""
    return np.maximum(np.maximum(lower - coordinates, coordinates - upper), 0.0)


def swing_excess(coordinates: Floats, twist_axis: int) -> Floats:
    """(...) by how much the swing of coordinates (..., 3) is longer than half a turn, which no rotation needs."""
    beyond = _swing_length(coordinates, twist_axis) - np.pi
    return np.where(beyond > _ROUNDING, beyond, 0.0)


def nearer_swing(coordinates: Floats, lower: Floats, upper: Floats, twist_axis: int) -> Floats:
    """Swing-twist coordinates (..., 3) with the swing by the short or long way round: the one that violates less."""
    length = _swing_length(coordinates, twist_axis)
    shares = coordinates / np.where(length > 0.0, length, np.inf)[..., None]
    shares[..., twist_axis] = 0.0
    ways = [coordinates, coordinates - 2.0 * np.pi * shares]
    costs = []
    for way in ways:
        outside = excess(way, lower, upper)
        outside[..., twist_axis] = 0.0
        costs.append(np.maximum(outside.max(-1), swing_excess(way, twist_axis)))
    return _cheapest(ways, costs)


def nearer_euler(angles: Floats, lower: Floats, upper: Floats, middle: Floats, period: Floats, order: str) -> Floats:
    """The equivalent Euler angles (..., J, 3) per axis x, y, z with the smallest violation; gimbal lock included."""
    _, second, _ = axes_of(order)
    other = angles + np.pi
    other[..., second] = np.pi - angles[..., second]
    ways = [angles, counted(other, middle, period)]
    locked = np.abs(angles[..., second]) > 0.5 * np.pi - _LOCKED
    if locked.any():
        splits = _splits(angles, lower, upper, order)
        ways += [np.where(locked[..., None], counted(way, middle, period), angles) for way in splits]
    return _cheapest(ways, [excess(way, lower, upper).max(-1) for way in ways])


def swing_inside(coordinates: Floats, lower: Floats, upper: Floats, twist_axis: int) -> Floats:
    """The swings nearest to those of coordinates (..., J, 3), inside their ranges and no longer than half a turn.

    The nearest point in the intersection of box and disc is the nearest point of the box to the vector scaled down, by
    as little as possible (the Lagrange multiplier of the disc). Without an intersection it is nearest to the disc.
    """
    clipped = np.clip(coordinates, lower, upper)
    too_long = _swing_length(clipped, twist_axis) > np.pi - _CLEAR
    if not too_long.any():
        return clipped
    some, low, high = coordinates[too_long], *(np.broadcast_to(e, clipped.shape)[too_long] for e in (lower, upper))
    least, most = np.zeros(len(some)), np.ones(len(some))
    for _ in range(_HALVINGS):
        scale = 0.5 * (least + most)
        fits = _swing_length(np.clip(scale[:, None] * some, low, high), twist_axis) <= np.pi - _CLEAR
        least, most = np.where(fits, scale, least), np.where(fits, most, scale)
    pulled = np.clip(least[:, None] * some, low, high)
    pulled[:, twist_axis] = clipped[too_long][:, twist_axis]
    clipped[too_long] = pulled
    return clipped


def _swing_length(coordinates: Floats, twist_axis: int) -> Floats:
    return np.hypot(coordinates[..., (twist_axis + 1) % 3], coordinates[..., (twist_axis + 2) % 3])


def _splits(angles: Floats, lower: Floats, upper: Floats, order: str) -> list[Floats]:
    """Angles at gimbal lock with other splits of first + sign * third; if any split is inside, one of these is.

    The splits that are inside form intervals, which end where one of the two angles is at an end of its range.
    """
    i, j, k = axes_of(order)
    sign = parity_of(order) * np.sign(angles[..., j])
    total = angles[..., i] + sign * angles[..., k]
    thirds = [np.clip(0.0, lower[:, k], upper[:, k]), lower[:, k], upper[:, k]]
    thirds += [sign * (total - end[:, i]) for end in (lower, upper)]
    ways = []
    for third in thirds:
        way = angles.copy()
        way[..., k] = np.where(np.isfinite(third), third, angles[..., k])
        way[..., i] = total - sign * way[..., k]
        ways.append(way)
    return ways


def _cheapest(ways: Sequence[Floats], costs: Sequence[Floats]) -> Floats:
    """Per joint the alternative (..., 3) with the lowest cost (...); the first unless another is clearly better."""
    best = np.argmin(np.stack([costs[0] - _ROUNDING, *costs[1:]]), axis=0)
    return np.asarray(np.take_along_axis(np.stack(ways), best[None, ..., None], axis=0)[0])


def limit_violation(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J,) largest excess of each joint over its ranges: radians, metres for slides; 0 inside.

    Raises:
        InputError: no skeleton, no pose, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_pose(pose)
    return _excess(skeleton, pose.rotations, pose.translations)


def clip_violation(skeleton: Skeleton, clip: Clip, frames: slice = slice(None)) -> Floats:
    """(F, J) the violation of every frame.

    Raises:
        InputError: no skeleton, no clip, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_clip(clip)
    return _excess(skeleton, clip.rotations[frames], clip.local_translations(frames))


def project_pose(skeleton: Skeleton, pose: Pose, *, limits: bool = True) -> Pose:
    """The nearest pose that each joint's kind and, if ``limits``, its limits allow.

    Each joint and coordinate is projected by itself. Joints that are inside keep their numbers to the last bit, and
    translations other than those of slides are kept, because files may animate them.

    Raises:
        InputError: no skeleton, no pose, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_pose(pose)
    space = joint_space(skeleton)
    measured = space.measure(pose.rotations, pose.translations)
    wanted = space.nearest_inside(measured) if limits else space.following.followed(measured)
    rotations, translations = space.rebuild(wanted, pose.rotations, pose.translations)
    unchanged = (measured == wanted).all(axis=-1) & _holds(pose, rotations, translations)
    return Pose.trusted(
        handed_over(np.where(unchanged[:, None], pose.rotations, rotations)),
        handed_over(np.where(unchanged[:, None], pose.translations, translations)),
    )


def project_joint(skeleton: Skeleton, pose: Pose, joint: int, *, limits: bool) -> Pose:
    """`project_pose` for one joint, which neither leads nor follows others; those stay as they are."""
    own = Pose.trusted(pose.rotations[[joint]], pose.translations[[joint]])
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    if skeleton.kinds[joint] is JointKind.FIXED and skeleton.parents[joint] >= 0:  # alone it would be a root
        rotations[joint] = skeleton.rest_rotations[joint]
        return Pose.trusted(handed_over(rotations), handed_over(translations))
    within = project_pose(alone(skeleton, joint), own, limits=limits)
    rotations[joint], translations[joint] = within.rotations[0], within.translations[0]
    return Pose.trusted(handed_over(rotations), handed_over(translations))


@lru_cache(maxsize=64)
def alone(skeleton: Skeleton, joint: int) -> Skeleton:
    """One joint as a skeleton of its own, which makes computations of its own rotation quicker. Cached."""
    return Skeleton(
        name="",
        names=(skeleton.names[joint],),
        parents=np.array([-1]),
        offsets=skeleton.offsets[[joint]],
        rest_rotations=skeleton.rest_rotations[[joint]],
        kinds=(skeleton.kinds[joint],),
        axes=skeleton.axes[[joint]],
        limits=(skeleton.limits[joint],),
        stiffness=skeleton.stiffness[[joint]],
    )


def with_leaders_moved(skeleton: Skeleton, pose: Pose, joints: Iterable[int]) -> tuple[Pose, list[int]]:
    """A pose in which joints were moved by hand, with the leaders of followers among them moved to match.

    Returns:
        The pose, to which `project_pose` then adds the followers, and the joints with those coupled to them.
    """
    space, moved = joint_space(skeleton), list(joints)
    if not space.following.joint.size:
        return pose, moved
    measured = space.measure(pose.rotations, pose.translations)
    led = space.rebuild(space.following.lead(measured, moved), pose.rotations, pose.translations)
    family = space.following.family(moved)
    return pose.with_joints(Pose(*led), family), family


def following_frames(skeleton: Skeleton, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """Local rotations (..., J, 4) and translations (..., J, 3) in which joints that follow others do so."""
    space = joint_space(skeleton)
    joints = space.following.joint
    wanted = space.following.followed(space.measure(rotations, translations))
    turned, moved = space.rebuild(wanted, rotations, translations)
    turns, moves = rotations.copy(), translations.copy()
    turns[..., joints, :], moves[..., joints, :] = turned[..., joints, :], moved[..., joints, :]
    return turns, moves


def project_clip(skeleton: Skeleton, clip: Clip) -> Clip:
    """The clip with each frame inside what joint kinds and limits allow, as `project_pose`.

    Raises:
        InputError: no skeleton, no clip, or one of another skeleton.
    """
    check_skeleton(skeleton)
    check_clip(clip)
    space, translations = joint_space(skeleton), clip.local_translations()
    measured = space.measure(clip.rotations, translations)
    wanted = space.nearest_inside(measured)
    rotations, moved = space.rebuild(wanted, clip.rotations, translations)
    free = skeleton.of_kind(JointKind.BALL, JointKind.FREE)
    kept = np.all(measured == wanted, axis=-1, keepdims=True) & free[:, None]
    return clip.with_motion(np.where(kept, clip.rotations, rotations), np.where(kept, translations, moved))


def nearest_turns(skeleton: Skeleton, joints: Sequence[int], rotations: Floats) -> Floats:
    """The local rotations (N, F, 4) nearest to those given that the kinds of N joints allow; limits are ignored."""
    found, rest, axes = rotations.copy(), skeleton.rest_rotations[joints, None], skeleton.axes[joints]
    of_kind: dict[JointKind, list[int]] = {}
    for place, joint in enumerate(joints):
        of_kind.setdefault(skeleton.kinds[joint], []).append(place)
    for kind, some in of_kind.items():
        if not kind.turns:
            found[some] = rest[some]
        elif kind.hinged:
            relative, first = multiply(conjugate(rest[some]), rotations[some]), axes[some, None, 0]
            if kind is JointKind.HINGE:
                turned = from_axis_angle(first, twist_about(relative, first))
            else:
                angles = universal_angles(relative.swapaxes(0, 1), axes[some]).swapaxes(0, 1)
                second = from_axis_angle(axes[some, None, 1], angles[..., 1])
                turned = multiply(from_axis_angle(first, angles[..., 0]), second)
            found[some] = multiply(rest[some], turned)
    return found


def _holds(pose: Pose, rotations: Floats, translations: Floats) -> Bools:
    """(J,) whether the rebuilt motion equals the pose's up to rounding."""
    same_rotation = np.abs(dot(pose.rotations, rotations)) > 1.0 - 1e-14
    same_translation = np.abs(pose.translations - translations).max(axis=-1) <= 1e-12
    result: Bools = same_rotation & same_translation
    return result


def _excess(skeleton: Skeleton, rotations: Floats, translations: Floats) -> Floats:
    space = joint_space(skeleton)
    return space.excess(space.measure(rotations, translations))
