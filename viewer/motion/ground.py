"""Uneven ground: how high spheres, boxes and meshes are under a foot, and where on them a stance fits.

After Kenwright ("Responsive biped character stepping: when push comes to shove", Cyberworlds 2012) a foot stands with
its whole sole on one level: near an edge its step is made a little longer or shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viewer.ik.contact.values import Box, Mesh, Object, Sphere
from viewer.motion.contacts import FootContacts, FootPlaces
from viewer.skeleton import Skeleton, World, at_or_below
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import conjugate, cross, exp, norm, rotate
from viewer.spatial.smoothing import ease

_STEP = 0.55
"""Leg lengths that a figure steps up at most: what is higher is a wall."""
_STEEP = 0.6
"""Height of the unit normal below which a face is too steep to walk up: 53 degrees."""
_FLAT, _EDGES = 1e-15, 1e-9
"""The least doubled area of a face, seen from above, in square metres; the same number is the tolerance at its edges.
"""
_SAME = 0.005
"""Metres within which heights count as one level."""
_FARTHEST, _SHIFTS = 0.18, 25
"""The largest shift of a stance, in leg lengths, and the number of shifts tried each way."""
_AHEAD = 0.03
"""Distance of a sole from the edge of higher ground, in leg lengths."""
_WIDE = 0.15
"""Half the width of a sole, in sole lengths."""
_CLEAR = 0.006
_LOWEST = 0.1
"""Quantile of a stance's heights that counts as its own."""
_EDGE = 0.3
"""Share of a swing over which its lift fades in and out."""
_HIGHEST = 0.45
_LEAST = 0.02


class Sole(NamedTuple):
    """The points of a foot over a clip.

    Attributes:
        points: (F, K, 3) world positions.
        thick: (K,) metres by which each point is above the ground while the foot stands.
    """

    points: Floats
    thick: Floats


class Ground(NamedTuple):
    """What is under the feet.

    Attributes:
        objects: spheres and boxes on the floor, or on others.
        faces: (N, 3, 3) world positions of the corners of meshes' faces.
        floor: its height, metres.
        step: the highest step, metres.
    """

    objects: Sequence[Sphere | Box]
    faces: Floats
    floor: float
    step: float

    def top(self, points: Floats) -> Floats:
        """(...) height of the ground under points (..., 3)."""
        flat = points.reshape(-1, 3)
        heights = np.full(len(flat), self.floor)
        for one in self.objects:
            heights = np.maximum(heights, _top(one, flat))
        if len(self.faces):
            heights = np.maximum(heights, _faces_top(self.faces, flat))
        return heights.reshape(points.shape[:-1])


def ground_of(objects: Sequence[Object], floor: float, length: float) -> Ground:
    """The ground for legs of a length in metres, without what is too high to step on.

    A figure steps onto an object, or onto a face of a mesh, from the floor, or from one that it can step on within a
    leg's length: stairs, also those of one mesh.
    """
    step, solids = _STEP * length, [one for one in objects if isinstance(one, Sphere | Box)]
    meshes = [_upper_faces(one) for one in objects if isinstance(one, Mesh)]
    faces = np.concatenate([np.zeros((0, 3, 3)), *meshes])
    tops = np.array([_height(one) for one in solids])
    plans = np.array([_plan(one) for one in solids]).reshape(-1, 2, 2)
    heights = faces[..., 1]
    sides = cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
    gentle = sides[:, 1] >= _STEEP * norm(sides)
    # People walk up a gentle face from its lowest corner.
    lows = np.concatenate([tops, np.where(gentle, heights.min(axis=1), heights.max(axis=1))])
    highs = np.concatenate([tops, heights.max(axis=1)])
    flat = faces[..., ::2]
    starts = np.concatenate([plans[:, 0], flat.min(axis=1)])
    ends = np.concatenate([plans[:, 1], flat.max(axis=1)])
    reached = lows <= floor + step
    new = np.flatnonzero(reached).tolist()
    for one in new:  # the list grows meanwhile
        left = np.flatnonzero(~reached)
        near = (starts[left] <= ends[one] + length).all(axis=1) & (ends[left] >= starts[one] - length).all(axis=1)
        found = left[near & (lows[left] <= highs[one] + step)]
        reached[found] = True
        new += found.tolist()
    count = len(solids)
    return Ground([one for one, on in zip(solids, reached, strict=False) if on], faces[reached[count:]], floor, step)


def sole_of(skeleton: Skeleton, world: World, foot: FootPlaces, stands: Bools, base: float) -> Sole:
    """The points of a foot: joints, end sites and points between; ``base``: height of its lowest one, metres."""
    joint = foot.leg.last
    below = at_or_below(skeleton, joint)
    paths = [foot.places["heel"]]
    paths += [world.positions[:, one] for one in np.flatnonzero(below).tolist() if one != joint]
    paths += [
        world.point(int(parent), offset)
        for parent, offset in zip(skeleton.tip_parents, skeleton.tip_offsets, strict=True)
        if below[parent] and (foot.leg.end is not None or not np.array_equal(offset, foot.leg.tip[1]))
    ]
    own = np.stack(paths, axis=1)
    lowest = int(np.argmin(np.median(own[stands, :, 1], axis=0))) if stands.any() else 0
    between = [own[:, :1] + part * (own[:, 1:] - own[:, :1]) for part in (1 / 3, 2 / 3)] if len(paths) > 1 else []
    along = [own[:, lowest : lowest + 1] + part * (own - own[:, lowest : lowest + 1]) for part in (0.25, 0.5, 0.75)]
    points = np.concatenate([own, *between, *along], axis=1)
    heights = points[stands, :, 1] if stands.any() else points[:, :, 1]
    # Relative to the lowest point of each frame, because some stances may be on a step.
    return Sole(points, base + np.median(heights - heights.min(axis=1, keepdims=True), axis=0))


def floor_under(skeleton: Skeleton, world: World, feet: list[tuple[FootContacts, FootPlaces]]) -> float:
    """The floor of a clip: the lowest median height of a foot's point in a contact."""
    lowest = []
    for foot, places in feet:
        joint = places.leg.last
        below = np.flatnonzero(at_or_below(skeleton, joint))
        tips = [tip for tip, parent in enumerate(skeleton.tip_parents.tolist()) if parent in below]
        for contact in foot.contacts:
            here = contact.frames
            heights = [world.positions[here, one, 1] for one in below.tolist()]
            heights += [world.point(int(skeleton.tip_parents[tip]), skeleton.tip_offsets[tip])[here, 1] for tip in tips]
            heights.append(places.places["heel"][here, 1])
            lowest.append(min(float(np.median(one)) for one in heights))
    return min(lowest, default=0.0)


def level_sole(ground: Ground, sole: Sole, flat: slice, way: Floats, length: float) -> tuple[Floats, float]:
    """How far a stance is shifted along its foot (3,), and raised, so that its whole sole is on one level.

    ``flat``: frames in which it is flat on the ground; ``way`` (3,): from heel to ball; zero: the foot is not shifted;
    ``length``: of the leg, metres.

    Returns:
        The horizontal shift, and the height by which the foot is raised.
    """
    points = sole.points[(flat.start + flat.stop - 1) // 2]

    def rise_to(top: float) -> float:
        return max(top - own, 0.0) if top > ground.floor + _SAME else 0.0

    own = float(np.quantile(sole.points[flat, :, 1].min(axis=1), _LOWEST)) - float(sole.thick.min())
    level = np.array([way[0], 0.0, way[2]])
    size = float(np.linalg.norm(level))
    if size < 1e-6:
        top = float(ground.top(points).max())
        return np.zeros(3), rise_to(top)
    along = level / size
    across = np.array([along[2], 0.0, -along[0]])
    reach = (points - points[0]) @ along
    ends = np.linspace(reach.min() - 0.02 * length, reach.max() + 0.02 * length, 11)
    grid = points[0] + ends[:, None, None] * along + (_WIDE * size * np.array([-1.0, 0.0, 1.0]))[:, None] * across
    for by in sorted(np.linspace(-_FARTHEST, _FARTHEST, 2 * _SHIFTS + 1).tolist(), key=abs):
        tops = ground.top(grid + by * length * along)
        if np.ptp(tops) > _SAME:
            continue
        # The toes must not touch an edge of higher ground.
        before = ground.top(grid[-1:] + (by * length + _AHEAD * length) * along)
        if float(before.max()) > float(tops.max()) + _SAME:
            continue
        return by * length * along, rise_to(float(tops.max()))
    return np.zeros(3), rise_to(float(ground.top(grid).max()))


def raised(stances: list[slice], rises: list[float], piece: slice) -> Floats:
    """(F,) height of a foot over a piece: it rises early in a swing, or sinks late in it."""
    profile = np.zeros(piece.stop - piece.start)
    if not stances:
        return profile
    profile[: stances[0].start - piece.start] = rises[0]
    for number, (stance, rise) in enumerate(zip(stances, rises, strict=True)):
        profile[stance.start - piece.start : stance.stop - piece.start] = rise
        after = stances[number + 1] if number + 1 < len(stances) else None
        if after is None:
            profile[stance.stop - piece.start :] = rise
            continue
        steps = after.start - stance.stop + 1
        part = np.arange(1, steps) / steps
        upward = rises[number + 1] > rise
        eased = ease(part / 0.55) if upward else ease((part - 0.45) / 0.55)
        between = slice(stance.stop - piece.start, after.start - piece.start)
        profile[between] = rise + (rises[number + 1] - rise) * eased
    return profile


def cleared(ground: Ground, sole: Sole, moved: Floats, turns: Floats, stances: list[slice], piece: slice) -> Floats:
    """(F,) extra height of a foot's swings over a piece, so that it clears the objects in its way.

    ``sole`` is that of the clip, whose ankle is moved by ``moved`` (F, 3), and which is turned about it by rotation
    vectors ``turns`` (F, 3). Frames of ``stances`` are not changed.
    """
    lift = np.zeros(piece.stop - piece.start)
    heel = sole.points[piece, :1]
    places = rotate(exp(turns[piece])[:, None], sole.points[piece] - heel) + heel + moved[piece, None]
    inside = (ground.top(places) + sole.thick + _CLEAR - places[..., 1]).max(axis=1)
    edges = [piece.start, *(edge for stance in stances for edge in (stance.start, stance.stop)), piece.stop]
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        if stop <= first:
            continue
        steps = stop - first + 1
        part = np.arange(1, steps) / steps
        shape = np.ones(len(part))
        if first > piece.start:
            shape *= ease(part / _EDGE)
        if stop < piece.stop:
            shape *= ease((1.0 - part) / _EDGE)
        here = slice(first - piece.start, stop - piece.start)
        needed = np.maximum(inside[here], 0.0) / np.maximum(shape, _LEAST)
        over = ground.top(places[here]).max(axis=1) > ground.floor + _SAME
        needed[~over] = 0.0
        lift[here] = min(float(needed.max(initial=0.0)), _HIGHEST * ground.step) * shape
    return lift


def _height(one: Sphere | Box) -> float:
    """The highest point of an object."""
    if isinstance(one, Sphere):
        return one.center[1] + one.radius
    return float(_corners(one)[..., 1].max())


def _plan(one: Sphere | Box) -> Floats:
    """(2, 2) the least and the greatest x and z of an object."""
    if isinstance(one, Sphere):
        return np.array(one.center)[::2] + one.radius * np.array([[-1.0], [1.0]])
    places = _corners(one)[:, ::2]
    return np.stack([places.min(axis=0), places.max(axis=0)])


def _corners(box: Box) -> Floats:
    """(8, 3) world positions."""
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    return np.asarray(box.center + rotate(np.array(box.rotation), signs * box.size))


def _upper_faces(mesh: Mesh) -> Floats:
    """(N, 3, 3) world positions of the corners of the faces of a mesh that look up."""
    assert mesh.vertices is not None
    assert mesh.faces is not None
    faces: Ints = mesh.faces
    found = (np.array(mesh.center) + rotate(np.array(mesh.rotation), mesh.scale * mesh.vertices))[faces]
    up = cross(found[:, 1] - found[:, 0], found[:, 2] - found[:, 0])[:, 1]
    return np.asarray(found[up > _FLAT])


def _top(one: Sphere | Box, points: Floats) -> Floats:
    """(N,) the highest point of an object over or under each point (N, 3); minus infinity beside it."""
    if isinstance(one, Sphere):
        away = points[:, ::2] - np.array(one.center)[::2]
        inside = one.radius**2 - (away**2).sum(axis=1)
        return np.where(inside >= 0.0, one.center[1] + np.sqrt(np.maximum(inside, 0.0)), -np.inf)
    return _box_top(one, points)


def _faces_top(faces: Floats, points: Floats) -> Floats:
    """(N,) the highest point of faces (M, 3, 3) over or under each point (N, 3); minus infinity beside them."""
    found = np.full(len(points), -np.inf)
    low, high = points[:, ::2].min(axis=0), points[:, ::2].max(axis=0)
    flat = faces[..., ::2]
    near = (flat.max(axis=1) >= low).all(axis=1) & (flat.min(axis=1) <= high).all(axis=1)
    for a, b, c in faces[near]:
        (ux, uz), (vx, vz) = (b - a)[::2], (c - a)[::2]
        area = ux * vz - uz * vx
        dx, dz = points[:, 0] - a[0], points[:, 2] - a[2]
        s, t = (dx * vz - dz * vx) / area, (ux * dz - uz * dx) / area
        height = a[1] + s * (b[1] - a[1]) + t * (c[1] - a[1])
        found = np.where((s >= -_EDGES) & (t >= -_EDGES) & (s + t <= 1.0 + _EDGES), np.maximum(found, height), found)
    return found


def _box_top(one: Box, points: Floats) -> Floats:
    """The upper end of the part of each vertical line that is in a box, by slabs in its own frame."""
    back = conjugate(np.array(one.rotation))
    starts = rotate(back, np.stack([points[:, 0], np.zeros(len(points)), points[:, 2]], axis=1) - one.center)
    up, half = rotate(back, np.array([0.0, 1.0, 0.0])), 0.5 * np.array(one.size)
    low, high = np.full(len(points), -np.inf), np.full(len(points), np.inf)
    for axis in range(3):
        if abs(up[axis]) < 1e-12:
            high = np.where(np.abs(starts[:, axis]) > half[axis], -np.inf, high)
            continue
        ends = (np.array([[-half[axis]], [half[axis]]]) - starts[:, axis]) / up[axis]
        low, high = np.maximum(low, ends.min(axis=0)), np.minimum(high, ends.max(axis=0))
    return np.where(high >= low, high, -np.inf)
