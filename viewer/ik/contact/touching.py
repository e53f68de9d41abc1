"""What is near, and what a figure touches, in a pose, with numpy.

`find_near` gives the rows of `viewer.ik.kernels.contact_rows`, in the same order.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.contact.values import FLOOR, Contact
from viewer.ik.contact.volumes import BOX, MESH, ON_FLOOR, SPHERE, Near, Volumes, make_near, make_volumes
from viewer.skeleton import Pose, Skeleton, fk
from viewer.skeleton.character import check_pose, check_skeleton
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.closest import (
    Measure,
    capsule_to_ball,
    capsule_to_box,
    capsule_to_capsule,
    capsule_to_grid,
    planes,
    turn,
)

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
    count = _floor(v, w, within)
    count = _pairs(v, w, count, within)
    count = _objects(v, w, count, within)
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


def _floor(v: Volumes, w: Near, within: float) -> int:
    c, side = v.ends.T
    x, y, z = planes(np.where((side == 1)[:, None], w.b[c], w.a[c]))
    low, level = y - v.clearance, np.full(len(c), v.floor[0])
    none = np.full(len(c), -1)
    measure = low - level, (x, low, z), (x, level, z), (0.0 * x, 0.0 * x + 1.0, 0.0 * x)
    return _put(v, w, 0, c, np.full(len(c), ON_FLOOR), none, measure, within)


def _pairs(v: Volumes, w: Near, count: int, within: float) -> int:
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


def _objects(v: Volumes, w: Near, count: int, within: float) -> int:
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
