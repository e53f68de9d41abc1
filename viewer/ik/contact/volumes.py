"""What is near a figure in a pose, and what it touches: the arrays that contact is measured with, and the measuring.

`Volumes` are what stays the same during a solve, `Near` what is near in one pose. `find_near` finds it with numpy, and
gives the rows of `viewer.ik.kernels.contact_rows`, in the same order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.contact.values import FLOOR, Box, Contact, Object, Sphere, distance_grid
from viewer.skeleton import Bodies, JointKind, Pose, Skeleton, bodies_of, fk, rest_world, tip_positions
from viewer.skeleton.character import check_pose, check_skeleton
from viewer.spatial.checks import Floats, Integers, Ints, zeros_for
from viewer.spatial.closest import (
    Measure,
    capsule_to_ball,
    capsule_to_box,
    capsule_to_capsule,
    capsule_to_grid,
    planes,
    turn,
)
from viewer.spatial.quaternion import rotate

SPHERE, BOX, MESH = range(3)
ON_FLOOR = -1
"""What is near a capsule: another one by its index, the floor, or object k as -2 - k."""
NEAR = 0.05
"""Distances below this part of the figure's size count as near."""
_CHUNK = 6
"""Neighbouring capsules of the tree that are excluded together where they are far from others."""
TOUCHES = 5e-4
"""Metres: nearer bodies touch; a solver leaves less than this open or overlapping ..."""
_OF_NEAR = 0.01
"""... and of small figures less than this part of what counts as near."""


class Volumes(NamedTuple):
    """What can touch what, of C capsules, P pairs of them, E ends over a floor, O objects and T tests of these.

    Attributes:
        joint: the joint of each capsule, as the tables ``place`` and ``turn`` of `find_near` number it.
        a, b: the ends of its axis, metres, in the joint's frame.
        radius: metres.
        reach: from the middle of its axis to its farthest point.
        pairs: capsules that are measured against each other, block by block.
        pair_near: metres: what is nearer gets a row; of small bodies as much as they reach.
        chunks: the first capsule of each chunk of neighbours, and C.
        blocks: two chunks, and the first and the end of the pairs between their capsules.
        ends: capsule, and 0 for its end a or 1 for b: places that stay above the floor.
        clearance: metres that they stay above it.
        floor: its height; NaN where there is none, and then no ends.
        object_kind: SPHERE, BOX or MESH.
        object_place, object_turn: the middle, and world_from_object.
        object_size: half sizes of a box; first the radius of a ball.
        object_reach: from the middle to the farthest point.
        tests: capsule and object that are measured against each other.
        grid: the signed distances of all meshes.
        grid_start, grid_shape: where each one begins in it, and points along its axes.
        grid_low, grid_cell: its first point in the object's frame, and metres between points.
        near: metres: what is nearer gets a row.
        slack: metres: what overlaps by less only touches.
    """

    joint: Annotated[Integers, "C"]
    a: Annotated[Floats, "C", 3]
    b: Annotated[Floats, "C", 3]
    radius: Annotated[Floats, "C"]
    reach: Annotated[Floats, "C"]
    pairs: Annotated[Integers, "P", 2]
    pair_near: Annotated[Floats, "P"]
    chunks: Annotated[Integers, "H + 1"]
    blocks: Annotated[Integers, "B", 4]
    ends: Annotated[Integers, "E", 2]
    clearance: Annotated[Floats, "E"]
    floor: Annotated[Floats, 1]
    object_kind: Annotated[Integers, "O"]
    object_place: Annotated[Floats, "O", 3]
    object_turn: Annotated[Floats, "O", 4]
    object_size: Annotated[Floats, "O", 3]
    object_reach: Annotated[Floats, "O"]
    tests: Annotated[Integers, "T", 2]
    grid: Annotated[Floats, "N"]
    grid_start: Annotated[Integers, "O"]
    grid_shape: Annotated[Integers, "O", 3]
    grid_low: Annotated[Floats, "O", 3]
    grid_cell: Annotated[Floats, "O"]
    near: Annotated[Floats, 1]
    slack: Annotated[Floats, 1]


class Near(NamedTuple):
    """What is near in one pose: ``rows[0]`` rows; first those of the floor, then pairs, then objects.

    Attributes:
        a, b, centre: world places of the ends and the middle of each capsule's axis.
        ball: middle and radius of a ball around each chunk.
        rows: how many are in use.
        first: the capsule.
        second: the other capsule, ON_FLOOR, or -2 - k of object k.
        joints: the joints that move the two; -1 for what does not move.
        gap: metres between the surfaces, negative where they overlap.
        p, q: where they are nearest: on the capsule, on the other.
        n: unit normal from the other to the capsule: the gap grows by n.(velocity of p - velocity of q).
    """

    a: Annotated[Floats, "C", 3]
    b: Annotated[Floats, "C", 3]
    centre: Annotated[Floats, "C", 3]
    ball: Annotated[Floats, "H", 4]
    rows: Annotated[Integers, 1]
    first: Annotated[Integers, "R"]
    second: Annotated[Integers, "R"]
    joints: Annotated[Integers, "R", 2]
    gap: Annotated[Floats, "R"]
    p: Annotated[Floats, "R", 3]
    q: Annotated[Floats, "R", 3]
    n: Annotated[Floats, "R", 3]


def make_near(volumes: Volumes) -> Near:
    """Arrays with room for the largest number of rows."""
    return zeros_for(Near, near_sizes(volumes))


def near_sizes(volumes: Volumes) -> dict[str, int]:
    """The lengths of axes that the shapes of `Near` name."""
    rows = len(volumes.ends) + len(volumes.pairs) + len(volumes.tests)
    return {"C": len(volumes.joint), "H": len(volumes.chunks) - 1, "R": rows}


def make_volumes(skeleton: Skeleton, contact: Contact, index: Ints | None = None, near: float | None = None) -> Volumes:
    """The arrays of a figure and of what it may touch.

    The bodies are those of `viewer.skeleton.bodies.bodies_of`. ``index`` (J,): the number that each joint has in the
    tables of `find_near`; None: the skeleton's own. ``near``: metres; None: `NEAR` of the figure's size.

    Raises:
        InputError: names of neither joints nor objects, an object that is called as a joint.
    """
    bodies = bodies_of(skeleton)
    table = bodies.table
    check_names(skeleton, contact)
    names, through = [skeleton.names[one.joint] for one in bodies.capsules], {*map(frozenset, contact.exclude)}

    def excluded(capsule: int, other: str) -> bool:
        return {names[capsule], other} in through

    pairs = bodies.pairs if contact.bodies else bodies.pairs[:0]
    if through and len(pairs):
        pairs = pairs[[not excluded(i, names[j]) for i, j in pairs.tolist()]]
    ends, clearance = (
        _ends(skeleton, bodies, excluded) if contact.floor is not None else (np.empty((0, 2)), np.empty(0))
    )
    tests = [
        (capsule, place)
        for place, one in enumerate(contact.objects)
        for capsule in range(len(bodies))
        if not excluded(capsule, one.name)
    ]
    joint = table.joint if index is None else np.asarray(index)[table.joint]
    world = rest_world(skeleton)
    figure = float(np.ptp(np.concatenate([world.positions, tip_positions(skeleton, world)]), axis=0).max())
    reach = 0.5 * np.linalg.norm(table.b - table.a, axis=-1) + table.radius
    chunks = np.append(np.arange(0, len(bodies), _CHUNK), len(bodies))
    pairs, blocks = _in_blocks(pairs)
    pair_near = np.full(len(pairs), NEAR * figure if near is None else near)
    if near is None:
        pair_near = np.minimum(pair_near, reach[pairs].sum(axis=1))
        near = NEAR * figure
    return Volumes(
        joint=joint.astype(np.int64),
        a=table.a,
        b=table.b,
        radius=table.radius,
        reach=reach,
        pairs=pairs,
        pair_near=pair_near,
        chunks=chunks.astype(np.int64),
        blocks=blocks,
        ends=np.array(ends, dtype=np.int64).reshape(-1, 2),
        clearance=np.array(clearance, dtype=np.float64),
        floor=np.array([np.nan if contact.floor is None else contact.floor]),
        tests=np.array(tests, dtype=np.int64).reshape(-1, 2),
        near=np.array([near]),
        slack=np.array([min(TOUCHES, _OF_NEAR * near)]),
        **_object_fields(tuple(contact.objects)),
    )


def _in_blocks(pairs: Ints) -> tuple[Integers, Integers]:
    """The pairs (P, 2) sorted by the chunks of their capsules, and `Volumes.blocks`."""
    if not len(pairs):
        return np.zeros((0, 2), dtype=np.int64), np.zeros((0, 4), dtype=np.int64)
    key = pairs // _CHUNK
    order = np.lexsort((key[:, 1], key[:, 0]))
    pairs, key = pairs[order], key[order]
    first = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))
    blocks = np.column_stack([key[first], first, np.append(first[1:], len(pairs))])
    return pairs.astype(np.int64), blocks.astype(np.int64)


def no_volumes() -> Volumes:
    """The arrays of a figure that touches nothing."""
    none = zeros_for(Volumes, dict.fromkeys("CPBEOTN", 0) | {"H + 1": 1})
    none.floor[0] = np.nan
    return none


def check_names(skeleton: Skeleton, contact: Contact) -> None:
    """Raise InputError where the contact names neither joints nor objects, or an object is called as a joint."""
    objects = [one.name for one in contact.objects]
    for name in objects:
        if name in skeleton.names:
            raise InputError(f"contact: objects: expected a name that no joint has, found {quote(name)}")
    known = dict.fromkeys([*skeleton.names, *objects, FLOOR])
    for place, pair in enumerate(contact.exclude):
        for name in pair:
            if name not in known:
                raise InputError(f"contact: exclude[{place}]: {unknown_name('joint or object', name, known)}")


def _ends(
    skeleton: Skeleton, bodies: Bodies, excluded: Callable[[int, str], bool]
) -> tuple[list[tuple[int, int]], list[float]]:
    """Ends over the floor, and their clearances: one for ends that are always in the same place.

    A bone ends where its child begins: of the two ends the one with more clearance stays.
    """
    kept: dict[tuple[object, ...], tuple[float, int, int]] = {}
    for capsule, one in enumerate(bodies.capsules):
        if excluded(capsule, FLOOR):
            continue
        for side, end in enumerate((one.a, one.b)):
            key: tuple[object, ...] = (one.joint, *end)
            for child in np.flatnonzero(skeleton.parents == one.joint).tolist():
                if tuple(skeleton.offsets[child].tolist()) == end and skeleton.kinds[child] is not JointKind.SLIDE:
                    key = (child, 0.0, 0.0, 0.0)
                    break
            clearance = float(bodies.clearances[capsule, side])
            if key not in kept or clearance > kept[key][0]:
                kept[key] = clearance, capsule, side
    return [(capsule, side) for _, capsule, side in kept.values()], [clearance for clearance, *_ in kept.values()]


def _object_fields(objects: tuple[Object, ...]) -> dict[str, Any]:
    """The fields of `Volumes` that are of objects."""
    count = len(objects)
    kind, start = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    shape = np.zeros((count, 3), dtype=np.int64)
    place, size, low = (np.zeros((count, 3)) for _ in range(3))
    spin, reach, cell = np.tile([0.0, 0.0, 0.0, 1.0], (count, 1)), np.zeros(count), np.ones(count)
    grids, total = [np.empty(0)], 0
    for k, one in enumerate(objects):
        if isinstance(one, Sphere):
            kind[k], place[k], size[k, 0], reach[k] = SPHERE, one.center, one.radius, one.radius
        elif isinstance(one, Box):
            kind[k], place[k], spin[k], size[k] = BOX, one.center, one.rotation, 0.5 * np.array(one.size)
            reach[k] = np.linalg.norm(size[k])
        else:
            values, first, cell[k] = distance_grid(one)
            middle = first + 0.5 * cell[k] * (np.array(values.shape) - 1)
            kind[k], spin[k], place[k] = MESH, one.rotation, one.center + rotate(np.array(one.rotation), middle)
            start[k], shape[k], low[k] = total, values.shape, first - middle
            assert one.vertices is not None
            reach[k] = np.linalg.norm(0.5 * one.scale * np.ptp(one.vertices, axis=0))
            grids.append(values.ravel())
            total += values.size
    return {
        "object_kind": kind, "object_place": place, "object_turn": spin, "object_size": size, "object_reach": reach,
        "grid": np.concatenate(grids), "grid_start": start, "grid_shape": shape, "grid_low": low, "grid_cell": cell,
    }  # fmt: skip


_HERE = "contacts: "


class Touch(NamedTuple):
    """One contact.

    Attributes:
        body: name of the joint whose body it is.
        other: name of the joint whose body it touches, of an object, or "floor".
        depth_m: metres that they overlap; just below 0 where a small gap is left between them.
        point: (3,) metres, world frame: the middle between the two surfaces.
    """

    body: str
    other: str
    depth_m: float
    point: tuple[float, float, float]


def contacts(skeleton: Skeleton, pose: Pose, contact: Contact) -> list[Touch]:
    """What the figure touches or overlaps with in a pose, deepest first; each pair of names once, at its deepest.

    Raises:
        InputError: no skeleton, a pose of another one, no contact, unknown names in it.
    """
    check_skeleton(skeleton, _HERE)
    check_pose(pose, _HERE)
    given: object = contact
    if not isinstance(given, Contact):
        raise InputError(f"{_HERE}expected a Contact, found {quote(given)}")
    volumes, near = measured(skeleton, contact, pose)
    return _touches(skeleton, contact, volumes, near)


@lru_cache(maxsize=4)
def volumes_of(skeleton: Skeleton, contact: Contact) -> Volumes:
    """What can touch what, by the skeleton's own numbers of joints; the last few are kept."""
    return make_volumes(skeleton, contact)


@lru_cache(maxsize=2)
def measured(skeleton: Skeleton, contact: Contact, pose: Pose) -> tuple[Volumes, Near]:
    """What can touch what, and what is near in a pose; kept, since a frame asks for grips and for what touches."""
    world, volumes = fk(skeleton, pose), volumes_of(skeleton, contact)
    near = make_near(volumes)
    find_near(volumes, near, world.positions, world.rotations, float(volumes.near[0]))
    return volumes, near


def _touches(skeleton: Skeleton, contact: Contact, volumes: Volumes, near: Near) -> list[Touch]:
    rows = np.flatnonzero(near.gap[: near.rows[0]] <= volumes.slack[0])
    found: dict[tuple[str, str], Touch] = {}
    for row in rows[np.argsort(near.gap[rows], kind="stable")].tolist():
        second = int(near.second[row])
        body = skeleton.names[volumes.joint[near.first[row]]]
        if second >= 0:
            other = skeleton.names[volumes.joint[second]]
        else:
            other = FLOOR if second == ON_FLOOR else contact.objects[-2 - second].name
        x, y, z = (0.5 * (near.p[row] + near.q[row])).tolist()
        found.setdefault((body, other), Touch(body, other, -float(near.gap[row]), (x, y, z)))
    return list(found.values())


def find_near(v: Volumes, w: Near, place: Floats, spin: Floats, within: float) -> int:
    """`viewer.ik.kernels.contact_rows.find_near`, with arrays."""
    _put_axes(v, w, place, spin)
    w.centre[:] = 0.5 * (w.a + w.b)
    count = _floor_rows(v, w, within)
    count = _pair_rows(v, w, count, within)
    count = _object_rows(v, w, count, within)
    w.rows[0] = count
    return count


def _put_axes(v: Volumes, w: Near, place: Floats, spin: Floats) -> None:
    """Put the ends of the capsules' axes into ``w.a`` and ``w.b``."""
    q, at = (*planes(spin[v.joint]), spin[v.joint, 3]), place[v.joint]
    w.a[:] = np.stack(turn(q, planes(v.a), 1.0), axis=-1) + at
    w.b[:] = np.stack(turn(q, planes(v.b), 1.0), axis=-1) + at


def _put(
    v: Volumes, w: Near, count: int, first: Ints, second: Ints, other: Ints, measure: Measure, within: float | Floats
) -> int:
    """Append the rows that are near."""
    gap, *vectors = measure
    near = np.flatnonzero(gap < within)
    rows = slice(count, count + len(near))
    w.first[rows], w.second[rows], w.gap[rows] = first[near], second[near], gap[near]
    w.joints[rows, 0], w.joints[rows, 1] = v.joint[first[near]], other[near]
    for table, vector in zip((w.p, w.q, w.n), vectors, strict=True):
        for axis in range(3):
            table[rows, axis] = vector[axis][near]
    return count + len(near)


def _floor_rows(v: Volumes, w: Near, within: float) -> int:
    c, side = v.ends.T
    x, y, z = planes(np.where((side == 1)[:, None], w.b[c], w.a[c]))
    low, level = y - v.clearance, np.full(len(c), v.floor[0])
    none = np.full(len(c), -1)
    measure = low - level, (x, low, z), (x, level, z), (0.0 * x, 0.0 * x + 1.0, 0.0 * x)
    return _put(v, w, 0, c, np.full(len(c), ON_FLOOR), none, measure, within)


def _pair_rows(v: Volumes, w: Near, count: int, within: float) -> int:
    i, j = v.pairs.T
    x, y, z = planes(w.centre[i] - w.centre[j])
    near = np.minimum(within, v.pair_near)
    far = v.reach[i] + v.reach[j] + near
    close = x * x + y * y + z * z < far * far
    i, j, near = i[close], j[close], near[close]
    u = w.b - w.a
    measure = capsule_to_capsule(
        planes(w.a[i]), planes(u[i]), v.radius[i], planes(w.a[j]), planes(u[j]), v.radius[j]
    )  # fmt: skip
    return _put(v, w, count, i, j, v.joint[j], measure, near)


def _object_rows(v: Volumes, w: Near, count: int, within: float) -> int:
    c, o = v.tests.T
    x, y, z = planes(w.centre[c] - v.object_place[o])
    far = v.reach[c] + v.object_reach[o] + within
    close = x * x + y * y + z * z < far * far
    c, o = c[close], o[close]
    rows = _measured_tests(v, w, c, o)
    measure = rows[0], tuple(rows[1:4]), tuple(rows[4:7]), tuple(rows[7:])
    return _put(v, w, count, c, -2 - o, np.full(len(c), -1), measure, within)


def object_gaps(v: Volumes, w: Near, tests: Ints) -> Floats:
    """(N,) metres between capsules and objects, negative where they overlap.

    Those that are near are in ``w``, as `find_near` has left it; the others are measured. ``tests`` is (N, 2), as in
    `Volumes`.
    """
    rows = slice(w.rows[0])
    known = dict(zip(zip(w.first[rows].tolist(), w.second[rows].tolist(), strict=True), w.gap[rows], strict=True))
    gaps = np.array([known.get((c, -2 - o), np.nan) for c, o in tests.tolist()])
    far = np.isnan(gaps)
    if far.any():
        gaps[far] = _measured_tests(v, w, *tests[far].T)[0]
    return gaps


def _measured_tests(v: Volumes, w: Near, c: Ints, o: Ints) -> Floats:
    """(10, N) the `Measure` of capsules and objects, by kinds of objects: the gap, then its three vectors."""
    rows = np.empty((10, len(c)))
    for kind in (SPHERE, BOX, MESH):
        some = np.flatnonzero(v.object_kind[o] == kind)
        if len(some):
            gap, p, q, n = _measured(v, w, kind, c[some], o[some])
            for row, part in zip(rows, (gap, *p, *q, *n), strict=True):
                row[some] = part
    return rows


def _measured(v: Volumes, w: Near, kind: int, c: Ints, o: Ints) -> Measure:
    p, u, radius = planes(w.a[c]), planes(w.b[c] - w.a[c]), v.radius[c]
    center, q = planes(v.object_place[o]), (*planes(v.object_turn[o]), v.object_turn[o, 3])
    if kind == SPHERE:
        return capsule_to_ball(p, u, radius, center, v.object_size[o, 0])
    if kind == BOX:
        return capsule_to_box(p, u, radius, center, q, planes(v.object_size[o]))
    shape = planes(v.grid_shape[o].astype(np.float64))
    start, low, cell = v.grid_start[o], planes(v.grid_low[o]), v.grid_cell[o]
    return capsule_to_grid(p, u, radius, center, q, v.grid, start, shape, low, cell)
