"""The arrays that contact is measured with: what stays the same during a solve, and what is near in one pose."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.contact.grid import distance_grid
from viewer.ik.contact.values import FLOOR, Box, Contact, Mesh, Object, Sphere
from viewer.skeleton import Bodies, JointKind, Skeleton, bodies_of, tip_positions
from viewer.skeleton.tree import rest_world
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import rotate

Integers = NDArray[np.int64]

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
        joint: (C,) the joint of each capsule, as the tables ``place`` and ``turn`` of `find_near` number it.
        a, b: (C, 3) the ends of its axis, metres, in the joint's frame.
        radius: (C,) metres.
        reach: (C,) from the middle of its axis to its farthest point.
        pairs: (P, 2) capsules that are measured against each other, block by block.
        pair_near: (P,) metres: what is nearer gets a row; of small bodies as much as they reach.
        chunks: (H + 1,) the first capsule of each chunk of neighbours, and C.
        blocks: (B, 4) two chunks, and the first and the end of the pairs between their capsules.
        ends: (E, 2) capsule, and 0 for its end a or 1 for b: places that stay above the floor.
        clearance: (E,) metres that they stay above it.
        floor: (1,) its height; NaN where there is none, and then no ends.
        object_kind: (O,) SPHERE, BOX or MESH.
        object_place, object_turn: (O, 3), (O, 4) the middle, and world_from_object.
        object_size: (O, 3) half sizes of a box; first the radius of a ball.
        object_reach: (O,) from the middle to the farthest point.
        tests: (T, 2) capsule and object that are measured against each other.
        grid: (N,) the signed distances of all meshes.
        grid_start, grid_shape: (O,), (O, 3) where each one begins in it, and points along its axes.
        grid_low, grid_cell: (O, 3), (O,) its first point in the object's frame, and metres between points.
        near: (1,) metres: what is nearer gets a row.
        slack: (1,) metres: what overlaps by less only touches.
    """

    joint: Integers
    a: Floats
    b: Floats
    radius: Floats
    reach: Floats
    pairs: Integers
    pair_near: Floats
    chunks: Integers
    blocks: Integers
    ends: Integers
    clearance: Floats
    floor: Floats
    object_kind: Integers
    object_place: Floats
    object_turn: Floats
    object_size: Floats
    object_reach: Floats
    tests: Integers
    grid: Floats
    grid_start: Integers
    grid_shape: Integers
    grid_low: Floats
    grid_cell: Floats
    near: Floats
    slack: Floats


class Near(NamedTuple):
    """What is near in one pose: ``rows[0]`` rows; first those of the floor, then pairs, then objects.

    Attributes:
        a, b, centre: (C, 3) world places of the ends and the middle of each capsule's axis.
        ball: (H, 4) middle and radius of a ball around each chunk.
        rows: (1,) how many are in use.
        first: (M,) the capsule.
        second: (M,) the other capsule, ON_FLOOR, or -2 - k of object k.
        joints: (M, 2) the joints that move the two; -1 for what does not move.
        gap: (M,) metres between the surfaces, negative where they overlap.
        p, q: (M, 3) where they are nearest: on the capsule, on the other.
        n: (M, 3) unit normal from the other to the capsule: the gap grows by n.(velocity of p - velocity of q).
    """

    a: Floats
    b: Floats
    centre: Floats
    ball: Floats
    rows: Integers
    first: Integers
    second: Integers
    joints: Integers
    gap: Floats
    p: Floats
    q: Floats
    n: Floats


def make_near(volumes: Volumes) -> Near:
    """Arrays with room for the largest number of rows."""
    capsules = len(volumes.joint)
    most = len(volumes.ends) + len(volumes.pairs) + len(volumes.tests)
    return Near(
        a=np.zeros((capsules, 3)),
        b=np.zeros((capsules, 3)),
        centre=np.zeros((capsules, 3)),
        ball=np.zeros((len(volumes.chunks) - 1, 4)),
        rows=np.zeros(1, dtype=np.int64),
        first=np.zeros(most, dtype=np.int64),
        second=np.zeros(most, dtype=np.int64),
        joints=np.zeros((most, 2), dtype=np.int64),
        gap=np.zeros(most),
        p=np.zeros((most, 3)),
        q=np.zeros((most, 3)),
        n=np.zeros((most, 3)),
    )


def make_volumes(skeleton: Skeleton, contact: Contact, index: Ints | None = None, near: float | None = None) -> Volumes:
    """The arrays of a figure and of what it may touch.

    Args:
        skeleton: its bodies are those of `viewer.skeleton.bodies.bodies_of`.
        contact: what the figure may touch.
        index: (J,) the number that each joint has in the tables of `find_near`; None: the skeleton's own.
        near: metres; None: `NEAR` of the figure's size.

    Raises:
        InputError: names of neither joints nor objects, an object that is called as a joint.
    """
    bodies = bodies_of(skeleton)
    table = bodies.table
    excluded = _Excluded(skeleton, contact, bodies)
    pairs = bodies.pairs if contact.bodies else bodies.pairs[:0]
    ends, clearance = (
        _ends(skeleton, bodies, excluded) if contact.floor is not None else (np.empty((0, 2)), np.empty(0))
    )
    tests = [
        (capsule, place)
        for place, one in enumerate(contact.objects)
        for capsule in range(len(bodies))
        if not excluded.has(capsule, one.name)
    ]
    joint = table.joint if index is None else np.asarray(index)[table.joint]
    world = rest_world(skeleton)
    figure = float(np.ptp(np.concatenate([world.positions, tip_positions(skeleton, world)]), axis=0).max())
    reach = 0.5 * np.linalg.norm(table.b - table.a, axis=-1) + table.radius
    chunks = np.append(np.arange(0, len(bodies), _CHUNK), len(bodies))
    pairs, blocks = _in_blocks(excluded.without(pairs))
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
        **_objects(tuple(contact.objects)),
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
    capsules, objects = np.zeros(0, dtype=np.int64), _objects(())
    none = np.zeros(0)
    return Volumes(
        joint=capsules,
        a=np.zeros((0, 3)),
        b=np.zeros((0, 3)),
        radius=none,
        reach=none,
        pairs=np.zeros((0, 2), dtype=np.int64),
        pair_near=none,
        chunks=np.zeros(1, dtype=np.int64),
        blocks=np.zeros((0, 4), dtype=np.int64),
        ends=np.zeros((0, 2), dtype=np.int64),
        clearance=none,
        floor=np.array([np.nan]),
        tests=np.zeros((0, 2), dtype=np.int64),
        near=np.zeros(1),
        slack=np.zeros(1),
        **objects,
    )


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


class _Excluded:
    """Which capsules may go through each other, and through what."""

    def __init__(self, skeleton: Skeleton, contact: Contact, bodies: Bodies) -> None:
        check_names(skeleton, contact)
        self._names = [skeleton.names[one.joint] for one in bodies.capsules]
        self._pairs = {frozenset(pair) for pair in contact.exclude}

    def has(self, capsule: int, other: str) -> bool:
        """Whether a capsule may go through an object or the floor."""
        return frozenset((self._names[capsule], other)) in self._pairs

    def without(self, pairs: Ints) -> Ints:
        """The pairs of capsules that may not."""
        if not self._pairs or not len(pairs):
            return pairs
        return pairs[[not self.has(i, self._names[j]) for i, j in pairs.tolist()]]


def _ends(skeleton: Skeleton, bodies: Bodies, excluded: _Excluded) -> tuple[list[tuple[int, int]], list[float]]:
    """Ends over the floor, and their clearances: one for ends that are always in the same place.

    A bone ends where its child begins: of the two ends the one with more clearance stays.
    """
    kept: dict[tuple[object, ...], tuple[float, int, int]] = {}
    for capsule, one in enumerate(bodies.capsules):
        if excluded.has(capsule, FLOOR):
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


def _objects(objects: tuple[Object, ...]) -> dict[str, Any]:
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
            reach[k] = np.linalg.norm(_half_size(one))
            grids.append(values.ravel())
            total += values.size
    return {
        "object_kind": kind, "object_place": place, "object_turn": spin, "object_size": size, "object_reach": reach,
        "grid": np.concatenate(grids), "grid_start": start, "grid_shape": shape, "grid_low": low, "grid_cell": cell,
    }  # fmt: skip


def _half_size(mesh: Mesh) -> Floats:
    assert mesh.vertices is not None
    return np.asarray(0.5 * mesh.scale * np.ptp(mesh.vertices, axis=0))
