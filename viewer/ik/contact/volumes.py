"""The arrays that contact is measured with: what stays the same during a solve, and what is near in one pose.

Signed distances of a closed mesh are on a grid: negative inside, by the exact closest point of the surface. The closest
point of a triangle is that of C. Ericson, Real-Time Collision Detection (2005), 5.1.5; its sign is that of the
pseudonormal of the face, edge or vertex that it lies on (J. A. Baerentzen and H. Aanaes, "Signed distance computation
using the angle weighted pseudonormal", IEEE TVCG 11, 2005), which is right for any closed surface. Grid points near the
surface look at the triangles there, and pass on what they found to their neighbours.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any, NamedTuple

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.contact.values import FLOOR, Box, Contact, Mesh, Object, Sphere
from viewer.skeleton import Bodies, JointKind, Skeleton, bodies_of, rest_world, tip_positions
from viewer.spatial.checks import Floats, Integers, Ints, zeros_for
from viewer.spatial.closest import Triple, along, choose, clamp, cross, dot, minus
from viewer.spatial.quaternion import rotate
from viewer.spatial.vectors import face_normals

CELLS = 48
"""Along the longest side of the mesh."""
MARGIN = 6
"""Cells around it."""
_SAMPLES = 0.5
"""Cells between the points of a triangle that say which cells it passes through."""
_SURE = 2.0
"""Cells from the surface within which the pseudonormal says which side a point is on."""
_AT_ONCE = 1 << 16
"""Pairs of points and triangles that are measured together."""


class Grid(NamedTuple):
    """Signed distances at the corners of cells, in the mesh's frame.

    Attributes:
        values: (X, Y, Z) metres.
        low: (3,) where the first one is.
        cell: metres along a side of a cell.
    """

    values: Floats
    low: Floats
    cell: float


def distance_grid(mesh: Mesh) -> Grid:
    """The grid of a mesh at its scale: computed once for meshes of one content."""
    assert mesh.vertices is not None
    assert mesh.faces is not None
    grid = _grid(_Surface(mesh.vertices, mesh.faces, mesh.content))
    return Grid(grid.values * mesh.scale, grid.low * mesh.scale, grid.cell * mesh.scale)


class _Surface:
    """Vertices and faces as a key."""

    __slots__ = ("content", "faces", "vertices")

    def __init__(self, vertices: Floats, faces: Ints, content: str) -> None:
        self.vertices, self.faces, self.content = vertices, faces, content

    def __hash__(self) -> int:
        return hash(self.content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Surface) and self.content == other.content


@lru_cache(maxsize=8)
def _grid(surface: _Surface) -> Grid:
    low, high = surface.vertices.min(axis=0), surface.vertices.max(axis=0)
    cell = float((high - low).max()) / CELLS
    counts = np.ceil((high - low) / cell).astype(np.intp) + 1 + 2 * MARGIN
    start = 0.5 * (low + high) - 0.5 * (counts - 1) * cell
    triangles = _Triangles(surface.vertices, surface.faces)
    nearest = _nearest(triangles, counts, start, cell)
    places = start + cell * np.stack(np.unravel_index(np.arange(len(nearest)), counts), axis=-1)
    signed = triangles.distances(places, nearest).reshape(counts)
    return Grid(_with_sign_of_neighbours(signed, cell), start, cell)


def _nearest(triangles: _Triangles, counts: Ints, start: Floats, cell: float) -> Ints:
    """(X * Y * Z,) the nearest triangle of each grid point: of its own candidates, or of its neighbours'.

    Every point whose triangle changes proposes it to its six neighbours, until none is nearer.
    """
    points, some = triangles.in_cells(counts, start, cell)
    total = int(counts.prod())
    found, best = np.full(total, -1, dtype=np.intp), np.full(total, np.inf)
    strides = np.array([counts[1] * counts[2], counts[2], 1])
    while len(points):
        index = np.stack(np.unravel_index(points, counts), axis=-1)
        square = triangles.squares(start + cell * index, some)
        order = np.lexsort((some, square, points))
        points, some, square, index = points[order], some[order], square[order], index[order]
        first = np.append(True, points[1:] != points[:-1])
        better = first & (square < best[points])
        points, some, index = points[better], some[better], index[better]
        found[points], best[points] = some, square[better]
        inside = [(index[:, axis] > 0, index[:, axis] < counts[axis] - 1) for axis in range(3)]
        steps = [(inside[axis][side], (2 * side - 1) * strides[axis]) for axis in range(3) for side in range(2)]
        some = np.concatenate([some[able] for able, _ in steps])
        points = np.concatenate([points[able] + step for able, step in steps])
        other = found[points] != some
        points, some = points[other], some[other]
    # Among many small triangles a point may have been assigned one beside the nearest.
    points = np.arange(total)
    while len(points):
        some = triangles.beside[:, found[points]]
        places = start + cell * np.stack(np.unravel_index(points, counts), axis=-1)
        squares = np.stack([triangles.squares(places, one) for one in some])
        least = squares.argmin(axis=0)
        rows = np.arange(len(points))
        better = squares[least, rows] < best[points]
        points, rows, least = points[better], rows[better], least[better]
        found[points], best[points] = some[least, rows], squares[least, rows]
    return found


def _with_sign_of_neighbours(signed: Floats, cell: float) -> Floats:
    """Far from the surface the sign is that of a neighbour: no surface passes between two distant points."""
    distance = np.abs(signed)
    known = distance <= _SURE * cell
    inside = known & (signed < 0.0)
    while not known.all():
        before = int(known.sum())
        for axis in range(3):
            for side in (slice(1, None), slice(None, -1)):
                to: list[slice] = [slice(None)] * 3
                of: list[slice] = [slice(None)] * 3
                to[axis], of[axis] = side, slice(None, -1) if side.start else slice(1, None)
                new = known[tuple(of)] & ~known[tuple(to)]
                inside[tuple(to)] |= new & inside[tuple(of)]
                known[tuple(to)] |= new
        if int(known.sum()) == before:
            break
    return np.where(inside, -distance, distance)


class _Triangles:
    """The faces of a closed surface, ready to be measured."""

    def __init__(self, vertices: Floats, faces: Ints) -> None:
        self.corners = vertices[faces]
        normals = face_normals(self.corners)
        # (F, 7, 3): of the face, of its edges ab, bc, ca, and of its corners a, b, c.
        self.normals = np.empty((len(faces), 7, 3))
        self.normals[:, 0] = normals
        self._edge_normals(faces, len(vertices), normals)
        self._corner_normals(vertices, faces, normals)

    def _edge_normals(self, faces: Ints, count: int, normals: Floats) -> None:
        edges = np.concatenate([np.sort(faces[:, pair], axis=1) for pair in ([0, 1], [1, 2], [2, 0])])
        _, index = np.unique(edges[:, 0] * count + edges[:, 1], return_inverse=True)
        # (F, 3) the face on the other side of each edge: both have it, and are neighbours in this order.
        one, other = index.reshape(-1).argsort(kind="stable").reshape(-1, 2).T
        self.beside = np.empty((3, len(faces)), dtype=np.intp)
        self.beside.flat[one], self.beside.flat[other] = other % len(faces), one % len(faces)
        sums = np.zeros((int(index.max()) + 1, 3))
        np.add.at(sums, index.reshape(-1), np.tile(normals, (3, 1)))
        self.normals[:, 1:4] = sums[index.reshape(3, -1).T]

    def _corner_normals(self, vertices: Floats, faces: Ints, normals: Floats) -> None:
        sums = np.zeros_like(vertices)
        for corner in range(3):
            here, one, other = (vertices[faces[:, (corner + k) % 3]] for k in range(3))
            u, v = one - here, other - here
            angles = np.arctan2(np.linalg.norm(np.cross(u, v), axis=-1), np.einsum("fi,fi->f", u, v))
            np.add.at(sums, faces[:, corner], angles[:, None] * normals)
        self.normals[:, 4:7] = sums[faces]

    def in_cells(self, counts: Ints, start: Floats, cell: float) -> tuple[Ints, Ints]:
        """Pairs (N,) of a grid point, by its number, and a triangle that passes through one of the cells around it."""
        edges = self.corners - np.roll(self.corners, 1, axis=1)
        parts = np.ceil(np.linalg.norm(edges, axis=-1).max(axis=1) / (_SAMPLES * cell)).astype(np.intp)
        parts = np.maximum(parts, 1)
        total = int(counts.prod())
        keys = []
        for part in np.unique(parts).tolist():
            some = np.flatnonzero(parts == part)
            i, j = (grid.ravel() for grid in np.meshgrid(np.arange(part + 1), np.arange(part + 1), indexing="ij"))
            weights = np.stack([i, j, part - i - j], axis=-1)[i + j <= part] / part
            step = max(1, _AT_ONCE // len(weights))
            for begin in range(0, len(some), step):
                block = some[begin : begin + step]
                places = np.einsum("sk,fki->fsi", weights, self.corners[block])
                base = np.clip(np.floor((places - start) / cell).astype(np.intp), 0, counts - 2)
                for corner in np.ndindex(2, 2, 2):
                    x, y, z = np.moveaxis(base + corner, -1, 0)
                    number = (x * counts[1] + y) * counts[2] + z
                    keys.append(np.unique(block[:, None] * total + number))
        return tuple(reversed(np.divmod(np.unique(np.concatenate(keys)), total)))  # type: ignore[return-value]  # two of them

    def squares(self, points: Floats, some: Ints) -> Floats:
        """(N,) squared distances of points (N, 3) from a triangle each."""
        found = np.empty(len(points))
        for start in range(0, len(points), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            apart, _ = closest_on_triangles(points[part], self.corners[some[part]])
            found[part] = dot(apart, apart)
        return found

    def distances(self, points: Floats, nearest: Ints) -> Floats:
        """(N,) signed distances of points (N, 3) from their nearest triangles."""
        found = np.empty(len(points))
        for start in range(0, len(points), _AT_ONCE):
            part = slice(start, start + _AT_ONCE)
            apart, feature = closest_on_triangles(points[part], self.corners[nearest[part]])
            normal = self.normals[nearest[part], feature]
            side = sum(apart[axis] * normal[:, axis] for axis in range(3))
            found[part] = np.where(side < 0.0, -1.0, 1.0) * np.sqrt(dot(apart, apart))
        return found


def closest_on_triangles(points: Floats, corners: Floats) -> tuple[Triple, Ints]:
    """From the closest points of triangles (..., 3, 3) to points (..., 3), and what of the triangle they lie on.

    Returns:
        The components (...) of the way from the triangle to the point; and (...) 0 for its inside, 1 to 3 for its
        edges ab, bc, ca, 4 to 6 for its corners a, b, c.
    """
    p = points[..., 0], points[..., 1], points[..., 2]
    a, b, c = ((corners[..., k, 0], corners[..., k, 1], corners[..., k, 2]) for k in range(3))
    ab, ac, bc = minus(b, a), minus(c, a), minus(c, b)
    normal = cross(ab, ac)
    area = dot(normal, normal)
    flat = area > 0.0
    over = 1.0 / choose(flat, area, 1.0)
    ap = minus(p, a)
    v, w = dot(cross(ap, ac), normal) * over, dot(cross(ab, ap), normal) * over
    inside = flat & (v > 0.0) & (w > 0.0) & (v + w < 1.0)
    on_plane = along(along(a, ab, v), ac, w)
    best = minus(p, on_plane)
    least = choose(inside, dot(best, best), np.inf)
    feature = np.zeros(least.shape, dtype=np.intp)
    for edge, (start, way, ends) in enumerate(((a, ab, (4, 5)), (b, bc, (5, 6)), (a, ac, (4, 6)))):
        square = dot(way, way)
        t = clamp(dot(minus(p, start), way) / choose(square > 0.0, square, 1.0))
        apart = minus(p, along(start, way, t))
        distance = dot(apart, apart)
        nearer = ~inside & (distance < least)
        code = np.where(t <= 0.0, ends[0], np.where(t >= 1.0, ends[1], edge + 1))
        best = choose(nearer, apart[0], best[0]), choose(nearer, apart[1], best[1]), choose(nearer, apart[2], best[2])
        least, feature = choose(nearer, distance, least), np.where(nearer, code, feature)
    return best, feature


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
            assert one.vertices is not None
            reach[k] = np.linalg.norm(0.5 * one.scale * np.ptp(one.vertices, axis=0))
            grids.append(values.ravel())
            total += values.size
    return {
        "object_kind": kind, "object_place": place, "object_turn": spin, "object_size": size, "object_reach": reach,
        "grid": np.concatenate(grids), "grid_start": start, "grid_shape": shape, "grid_low": low, "grid_cell": cell,
    }  # fmt: skip
