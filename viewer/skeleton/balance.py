"""The mass of a skeleton, its centre of mass, and whether that is above the points that the figure stands on.

A joint has the mass that its file states, else that of the capsules of its bodies. A standing body is in static balance
while the vertical through its centre of mass meets its support polygon, the convex hull of what touches the floor.
Masses of human segments, and where they are centred along the bones: de Leva, "Adjustments to Zatsiorsky-Seluyanov's
segment inertia parameters", J. Biomechanics 29, 1996. A person weighs 22 kg per square metre of height.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.skeleton.attached import Capsule, Inertia, inertia_of_capsules
from viewer.skeleton.bodies import bodies_of
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, fk, joints_and_tips
from viewer.skeleton.limbs import ARM, Figure, Limb, leg_length, limb_places
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import RestTree, nearest_among, rest_tree, rest_world
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import conjugate, nearest_on_segments, rotate

_HEAD, _TRUNK = 0.0694, 0.4346
_ARM = (0.0271, 0.5772), (0.0162, 0.4574), (0.0061, 0.79)
_LEG = (0.1416, 0.4095), (0.0433, 0.4459), (0.0137, 0.4415)
"""Upper arm, forearm, hand; thigh, shank, foot: part of the body's mass, and where along the segment, from its upper
end, it is centred (men)."""

_SLACK, _END_SLACK = 0.02, 0.01
"""Points this near to the floor touch it, in leg lengths, or in sizes of other skeletons. Of joints, where the skin is
estimated, and of ends of bones, which are on the skin."""
_HALF_SOLE = 0.04
"""Half the width of a foot, in leg lengths."""
_HEEL = 0.25
"""The heel is this part of the foot's length behind the ankle."""
_LEVEL = 0.1
"""Sine of the angle to the vertical above which the line through the hips gives a figure's front."""
_KNEE, _PALM = 0.05, 0.03
"""Leg lengths from the middle of a knee or a hand to its skin."""

Point = tuple[int, Floats]
"""A joint, and a place (3,) in its frame."""

BODY_MASS_INDEX = 22.0
"""kg / m^2."""
DENSITY = 1000.0
"""kg / m^3, of anything but people."""
_FLAT = 1.0 / 3.0
"""A figure lower than this part of its length lies, as a swimmer or an arm that is stretched out."""


@lru_cache(maxsize=16)
def inertias_of(skeleton: Skeleton) -> tuple[Inertia, ...]:
    """(J,) the inertia of each joint: as stated, else that of its capsules with the masses of `capsule_masses`."""
    stated = skeleton.inertias or (None,) * len(skeleton)
    if None not in stated:
        return tuple(one for one in stated if one is not None)
    capsules: dict[int, list[tuple[Capsule, float]]] = defaultdict(list)
    for one, mass in zip(bodies_of(skeleton).capsules, capsule_masses(skeleton).tolist(), strict=True):
        capsules[one.joint].append((one, mass))
    return tuple(inertia_of_capsules(capsules[joint]) if given is None else given for joint, given in enumerate(stated))


def capsule_masses(skeleton: Skeleton) -> Floats:
    """Kilograms (C,) of the capsules of `bodies_of`.

    Those that the file states; else segment masses of a recognised human figure, a segment's shared by its capsules in
    proportion to their volumes; else the volume of water.
    """
    capsules = bodies_of(skeleton).capsules
    volumes = [np.pi * one.radius**2 * (one.length + 4.0 / 3.0 * one.radius) for one in capsules]
    masses = DENSITY * np.array(volumes)
    figure = find_figure(skeleton)
    if figure is not None and len(figure.arms) == 2 and len(figure.legs) == 2:
        segments, parts = _segments(skeleton, figure)
        of = segments[[one.joint for one in capsules]]
        total = BODY_MASS_INDEX * standing_height(skeleton) ** 2
        sums = np.bincount(of, masses, len(parts))
        masses = total * parts[of] * masses / sums[of]
    stated = [one.mass for one in capsules]
    return np.array([own if given is None else given for own, given in zip(masses.tolist(), stated, strict=True)])


def standing_height(skeleton: Skeleton) -> float:
    """Metres from the lowest to the highest joint or end site of the relaxed pose; the length of a pose that lies."""
    world = fk(skeleton, skeleton.relaxed_pose())
    extents = np.ptp(joints_and_tips(skeleton, world), axis=0)
    height, length = float(extents[1]), float(extents.max())
    return length if height < _FLAT * length else height


def _segments(skeleton: Skeleton, figure: Figure) -> tuple[np.ndarray[tuple[int], np.dtype[np.intp]], Floats]:
    """The segment (J,) of each joint: that of the nearest joint above at which one begins; and each segment's share."""
    begins: dict[int, int] = {figure.pelvis: 0}
    parts = [_TRUNK]
    for limb in figure.limbs:
        upper, lower, end = (part for part, _ in (_ARM if limb.kind == ARM else _LEG))
        found = [(limb.upper, upper), (limb.lower, lower if limb.end is not None else lower + end)]
        for joint, part in [*found, *([(limb.end, end)] if limb.end is not None else [])]:
            begins[joint] = len(parts)
            parts.append(part)
    top = figure.neck[0] if figure.neck else figure.head
    if top is not None:
        begins[top] = len(parts)
        parts.append(_HEAD)
    segments = np.zeros(len(skeleton), dtype=np.intp)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        segments[joint] = begins.get(joint, segments[parent] if parent >= 0 else 0)
    return segments, np.array(parts) / sum(parts)


class Points(NamedTuple):
    """P points fixed to joints.

    Attributes:
        joints: (P,) their joints.
        offsets: (P, 3) in the joints' frames, metres.
        values: (P,) of masses: parts of the sum; of points to stand on: metres from the point to the skin; negative for
            the ends of skeletons that are no figures, which count as touching only if they are nearer than others.
        parts: (P,) which foot, knee or hand each point to stand on belongs to; without a figure the joint of the
            effector above it, or its own; -1 for none.
    """

    joints: Ints
    offsets: Floats
    values: Floats
    parts: Ints

    def at(self, world: World) -> Floats:
        """World places (..., P, 3)."""
        return world.points(self.joints, self.offsets)


@dataclass(frozen=True, slots=True, eq=False)
class Balance:
    """The balance of a pose.

    Attributes:
        center: (3,) centre of mass, metres, world frame.
        support: (N, 3) corners of the support polygon on the floor, anticlockwise seen from above; a line has two, a
            point one, and N = 0 where nothing touches the floor.
        margin: metres from the vertical through the centre of mass to the nearest edge of the polygon, negative
            outside; NaN without support.
        side: where the nearest edge is, or to which side the figure falls: "forward", "back", "left" or "right" of a
            recognised figure, else "".
    """

    center: Floats
    support: Floats
    margin: float
    side: str


def center_of_mass(skeleton: Skeleton, world: World) -> Floats:
    """Centre of mass (..., 3), metres, of one or more poses.

    Masses that the file states; else a recognised human figure has those of human segments, its trunk's spread along
    the spine, and in any other skeleton a bone of length l weighs in proportion to l^3.
    """
    masses = mass_points(skeleton)
    return np.asarray(masses.values @ masses.at(world))


def middle_capsule(skeleton: Skeleton, world: World) -> Floats:
    """(3,) the middle of the capsule nearest to the centre of mass, which may be between the legs; metres."""
    capsules = bodies_of(skeleton).capsules
    centre = center_of_mass(skeleton, world)
    if not capsules:
        return centre
    middles = np.array([world.point(one.joint, 0.5 * np.add(one.a, one.b)) for one in capsules])
    return np.asarray(middles[np.argmin(np.linalg.norm(middles - centre, axis=1))])


def find_balance(skeleton: Skeleton, world: World, floor: float = 0.0, fixed: Collection[int] = ()) -> Balance:
    """The balance of a pose on the floor.

    ``floor``: its height in metres. ``fixed`` joints are held where they are: a foot, knee or hand with one of them
    supports at any height; so does an end of a skeleton that is no figure.
    """
    center = center_of_mass(skeleton, world)
    contacts, levels = standing_points(skeleton, floor, fixed)
    places = contacts.at(world)
    touches = places[:, 1] <= levels
    corners = _hull(places[touches][:, [2, 0]])[:, ::-1]
    support = np.column_stack([corners[:, 0], np.full(len(corners), floor), corners[:, 1]])
    if not len(corners):
        return Balance(center, support, np.nan, "")
    margin, way = _margin(corners, center[[0, 2]])
    return Balance(center, support, margin, _side(skeleton, world, way))


def standing_points(skeleton: Skeleton, floor: float, fixed: Collection[int]) -> tuple[Points, Floats]:
    """The points that a figure may stand on, and the height (P,), metres, up to which each is taken to touch the floor.

    Arguments are those of `find_balance`; the height of fixed points is infinite.
    """
    contacts = _contact_points(skeleton)
    levels = contacts.values + floor + _SLACK * _size(skeleton)
    here = np.isin(contacts.joints, list(fixed))
    if find_figure(skeleton) is None:
        # Points of a held foot keep supporting a little longer: they must not come and go while the foot hardly moves.
        below = np.isin(contacts.parts, list(fixed))
        ends = contacts.values < 0.0  # a held trunk supports nothing
        return contacts, np.where(here & ends, np.inf, levels + below * (_SLACK * _size(skeleton)))
    held = {int(part) for part in contacts.parts[here] if part >= 0}
    return contacts, np.where(np.isin(contacts.parts, list(held)), np.inf, levels)


@lru_cache(maxsize=16)
def _size(skeleton: Skeleton) -> float:
    """The length that a figure's parts are measured in: its leg's; without a figure, the longest path from a root."""
    figure = find_figure(skeleton)
    return (figure and leg_length(skeleton, figure)) or rest_tree(skeleton).size


@lru_cache(maxsize=16)
def mass_points(skeleton: Skeleton) -> Points:
    """The distribution of a skeleton's mass: see `center_of_mass`."""
    figure, tree = find_figure(skeleton), rest_tree(skeleton)
    points: list[tuple[Point, float]]
    if skeleton.inertias:
        points = [((joint, np.array(one.center)), one.mass) for joint, one in enumerate(inertias_of(skeleton))]
    else:
        points = _bonemass_points(tree) if figure is None else _bodymass_points(tree, figure)
    found = _table([(joint, offset, mass, -1) for (joint, offset), mass in points])
    # If all points of a skeleton are in one place, each weighs the same.
    masses = found.values if found.values.any() else np.ones(len(points))
    return found._replace(values=masses / masses.sum())


def _table(rows: list[tuple[int, Floats, float, int]]) -> Points:
    joints, offsets, values, parts = zip(*rows, strict=True) if rows else ((), (), (), ())
    places, numbers = np.array(offsets, dtype=np.float64).reshape(-1, 3), np.array(values, dtype=np.float64)
    return Points(np.array(joints, dtype=np.intp), places, numbers, np.array(parts, dtype=np.intp))


def _bonemass_points(tree: RestTree) -> list[tuple[Point, float]]:
    """Half of each bone's mass at either end."""
    skeleton, here = tree.skeleton, np.zeros(3)
    joints = zip(skeleton.parents.tolist(), range(len(skeleton)), skeleton.offsets, strict=True)
    bones = [(parent, (joint, here), offset) for parent, joint, offset in joints if parent >= 0]
    tips = zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
    bones += [(joint, (joint, offset), offset) for joint, offset in tips]
    halves = [(start, end, 0.5 * float(np.linalg.norm(offset)) ** 3) for start, end, offset in bones]
    ends = [pair for start, end, half in halves for pair in (((start, here), half), (end, half))]
    return ends or [((joint, here), 1.0) for joint in skeleton.roots.tolist()]


def _bodymass_points(tree: RestTree, figure: Figure) -> list[tuple[Point, float]]:
    here = np.zeros(3)
    points = _trunkmass_points(tree, figure)
    for limb in figure.limbs:
        upper, lower, end = _ARM if limb.kind == ARM else _LEG
        points += _segment((limb.upper, here), (limb.lower, here), upper)
        points += _segment((limb.lower, here), limb.tip, lower)
        # In a limb that ends in an end site, the weight of the hand or foot is at the wrist or ankle.
        points += _segment(limb.tip, limb.tip if limb.end is None else _end(tree, limb.end), end)
    return points


def _segment(start: Point, end: Point, mass: tuple[float, float]) -> list[tuple[Point, float]]:
    """The mass of a segment at its two ends, so that its centre is where it should be, also with joints between."""
    whole, along = mass
    return [(start, whole * (1.0 - along)), (end, whole * along)]


def _trunkmass_points(tree: RestTree, figure: Figure) -> list[tuple[Point, float]]:
    """Trunk and head: the trunk's mass along the way from the pelvis to the neck, in proportion to the bones."""
    here = np.zeros(3)
    line = [figure.pelvis, *figure.spine, *figure.neck[:1]]
    bones = [(a, b, float(np.linalg.norm(tree.place(b) - tree.place(a)))) for a, b in pairwise(line)]
    length = sum(size for _, _, size in bones)
    points: list[tuple[Point, float]] = [((figure.pelvis, here), _TRUNK)] if length == 0.0 else []
    for a, b, size in bones if length > 0.0 else ():
        points += _segment((a, here), (b, here), (_TRUNK * size / length, 0.5))
    top: Point = (line[-1], here) if figure.head is None else (figure.head, here)
    return points + _segment(top, top if figure.head is None else _end(tree, figure.head), (_HEAD, 0.5))


def _end(tree: RestTree, joint: int) -> Point:
    """Where a bone ends: the end site, or the joint, that is farthest down from it; the joint itself if none is."""
    last = tree.longest(joint)[-1]
    return tree.end_site(last) or (last, np.zeros(3))


@lru_cache(maxsize=16)
def _contact_points(skeleton: Skeleton) -> Points:
    """The points that a skeleton may stand on: soles, knees and palms of a figure; of anything else joints and ends.

    For anything else, an end is on the skin, and a joint is as deep under it as its body is thick.
    """
    figure, tree = find_figure(skeleton), rest_tree(skeleton)
    if figure is None:
        nearer = (_END_SLACK - _SLACK) * _size(skeleton)
        depths = {j: nearer for j, below in enumerate(tree.children) if not below and not tree.tips[j]}
        for body in bodies_of(skeleton).capsules:
            if not any(body.a):
                depths[body.joint] = min(body.radius, depths.get(body.joint, body.radius))
        tips = zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
        ends = [(joint, offset, nearer) for joint, offset in tips]
        points = [(joint, np.zeros(3), depth) for joint, depth in sorted(depths.items())] + ends
        known = {effector.joint for effector in skeleton.effectors}
        return _table([(*point, nearest_among(skeleton, point[0], known)) for point in points])
    size, world = _size(skeleton), fk(skeleton, skeleton.relaxed_pose())
    rows: list[tuple[int, Floats, float, int]] = []
    for part, leg in enumerate(figure.legs):
        rows += [(joint, offset, 0.0, part) for joint, offset in _sole(tree, world, leg, size)]
        rows.append((leg.lower, np.zeros(3), _KNEE * size, len(figure.legs) + part))
    for part, arm in enumerate(figure.arms, 2 * len(figure.legs)):
        points = [arm.tip] if arm.end is None else [arm.tip, _end(tree, arm.end)]
        rows += [(joint, offset, _PALM * size, part) for joint, offset in points]
    return _table(rows)


def _sole(tree: RestTree, world: World, leg: Limb, size: float) -> list[Point]:
    """Heel, ball and tip of a foot, each with its two edges; the ankle alone where there is no foot."""
    ankle = limb_places(world, leg)[2]
    if leg.end is None:
        return [leg.tip]
    ball = (leg.end, np.zeros(3)) if leg.toe is None else (leg.toe, np.zeros(3))
    tip = _end(tree, ball[0])
    places = [ankle, world.point(*ball), world.point(*tip)]
    ground = min(place[1] for place in places)
    along = (places[2] - ankle) * (1.0, 0.0, 1.0)
    length = float(np.linalg.norm(along))
    if length == 0.0:
        return [leg.tip]
    aside = np.cross((0.0, 1.0, 0.0), along / length) * _HALF_SOLE * size
    middles = [(leg.end, ankle - _HEEL * along), (leg.end, places[1]), (tip[0], places[2])]
    edges = [
        (joint, np.array((middle[0], ground, middle[2])) + side * aside)
        for joint, middle in middles
        for side in (-1, 1)
    ]
    return [(joint, rotate(conjugate(world.rotations[joint]), edge - world.positions[joint])) for joint, edge in edges]


def _hull(points: Floats) -> Floats:
    """The convex hull (N, 2), anticlockwise, of points (P, 2): Andrew's monotone chain."""
    ordered = sorted({(float(a), float(b)) for a, b in points})
    if len(ordered) < 3:
        return np.array(ordered).reshape(-1, 2)
    hull: list[tuple[float, float]] = []
    for line in (ordered, ordered[::-1]):
        start = len(hull)
        for point in line:
            while len(hull) - start >= 2 and _turn(hull[-2], hull[-1], point) <= 0.0:
                hull.pop()
            hull.append(point)
        hull.pop()
    return np.array(hull)


def _turn(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> float:
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _margin(corners: Floats, center: Floats) -> tuple[float, Floats]:
    """Metres from a point (2,) to the nearest edge of corners (N, 2), negative outside, and the way out (2,)."""
    edges = np.roll(corners, -1, axis=0) - corners
    away = nearest_on_segments(center, corners, edges) - center
    distances = np.linalg.norm(away, axis=1)
    closest = int(np.argmin(distances))
    sides = edges[:, 0] * (center - corners)[:, 1] - edges[:, 1] * (center - corners)[:, 0]
    inside: Bools = sides <= 0.0
    if len(corners) > 2 and inside.all():
        return float(distances[closest]), away[closest]
    return -float(distances[closest]), -away[closest]


def _side(skeleton: Skeleton, world: World, way: Floats) -> str:
    """The side of the figure to which a direction (2,) on the floor, x and z, points."""
    figure = find_figure(skeleton)
    if figure is None or not way.any():
        return ""
    turn = world.rotations[figure.pelvis]
    rest = conjugate(rest_world(skeleton).rotations[figure.pelvis])
    forward, left = (rotate(turn, rotate(rest, axis))[[0, 2]] for axis in (figure.forward, figure.left))
    across = float(np.linalg.norm(left))
    if across > _LEVEL:
        # When the figure bends over, its front points back between the legs, but its left stays the same.
        forward = np.array((-left[1], left[0])) / across
    ahead, aside = float(way @ forward), float(way @ left)
    if abs(ahead) >= abs(aside):
        return "forward" if ahead > 0.0 else "back"
    return "left" if aside > 0.0 else "right"
