"""How far a figure's capsules are from each other, a floor and objects: measured by sampling, to judge contact by.

Nothing here is taken from `viewer.ik.contact`, `viewer.spatial` or forward kinematics of the package: joints are placed
with matrices, and distances are the least of many sampled places. What the package decides and this takes over: which
capsules a figure has, which pairs of them count, and how low each end may come over a floor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

import viewer

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.intp]

SAMPLES = 25
"""Places on each axis, before the nearest one is narrowed down."""
_NARROWED, _PARTS = 9, 9
"""How often the place is narrowed down, and by how many samples each time: to a part of 1e-7 of an axis."""


class Depths(NamedTuple):
    """The least gaps (m) of one pose, negative where there is overlap; infinite where nothing is near.

    Attributes:
        bodies: between two capsules of a pair that counts.
        floor: between the end of a capsule and the lowest place that it may have.
        objects: between a capsule and an object.
    """

    bodies: float
    floor: float
    objects: float

    @property
    def least(self) -> float:
        """Of all."""
        return min(self)


class Judge:
    """Measures poses of one skeleton.

    Args:
        skeleton: with the capsules of `viewer.fit_bodies`, or its own.
        contact: what counts.
        near: metres; pairs that are surely farther apart are left out.
    """

    def __init__(self, skeleton: viewer.Skeleton, contact: viewer.Contact, near: float = 0.02) -> None:
        """Take the tables over."""
        bodies = bodies_with_pairs(skeleton)
        self.skeleton, self.contact, self.near = skeleton, contact, near
        self.joint = np.array([one.joint for one in bodies.capsules], dtype=np.intp)
        self.ends = np.array([(one.a, one.b) for one in bodies.capsules]).reshape(-1, 2, 3)
        self.radius = np.array([one.radius for one in bodies.capsules])
        excluded = {frozenset(pair) for pair in contact.exclude}
        names = [skeleton.names[joint] for joint in self.joint]
        self.pairs = np.array(
            [(i, j) for i, j in bodies.pairs.tolist() if frozenset((names[i], names[j])) not in excluded], dtype=np.intp
        ).reshape(-1, 2)
        self.clearances = np.where(
            [[frozenset((name, "floor")) in excluded] for name in names], -np.inf, bodies.clearances
        )
        self.touches = [[frozenset((name, one.name)) not in excluded for name in names] for one in contact.objects]
        self.fields = [field_of(one) for one in contact.objects]

    def axes(self, pose: viewer.Pose) -> tuple[Floats, Floats]:
        """Starts (C, 3) of the capsules' axes, and the ways (C, 3) to their ends, world frame."""
        places, turns = joint_frames(self.skeleton, pose)
        ends = places[self.joint][:, None] + np.einsum("cij,cej->cei", turns[self.joint], self.ends)
        return ends[:, 0], ends[:, 1] - ends[:, 0]

    def pair_gaps(self, pose: viewer.Pose) -> Floats:
        """(P,) metres between the capsules of each pair; infinite where they are farther apart than `near`."""
        start, way = self.axes(pose)
        middle, reach = start + 0.5 * way, 0.5 * np.linalg.norm(way, axis=-1) + self.radius
        i, j = self.pairs.T
        gaps = np.full(len(i), np.inf)
        some = np.flatnonzero(np.linalg.norm(middle[i] - middle[j], axis=-1) < reach[i] + reach[j] + self.near)
        i, j = i[some], j[some]
        gaps[some] = between_axes(start[i], way[i], start[j], way[j]) - self.radius[i] - self.radius[j]
        return gaps

    def floor_gaps(self, pose: viewer.Pose) -> Floats:
        """(C, 2) metres of each end over the lowest place that it may have."""
        start, way = self.axes(pose)
        assert self.contact.floor is not None
        heights = np.stack([start[:, 1], start[:, 1] + way[:, 1]], axis=1)
        return np.asarray(heights - self.clearances - self.contact.floor)

    def object_gaps(self, pose: viewer.Pose) -> Floats:
        """(O, C) metres between objects and capsules; infinite for those excluded or farther apart than `near`."""
        start, way = self.axes(pose)
        middle, reach = start + 0.5 * way, 0.5 * np.linalg.norm(way, axis=-1) + self.radius
        gaps = np.full((len(self.fields), len(start)), np.inf)
        for k, (one, field) in enumerate(zip(self.contact.objects, self.fields, strict=True)):
            far = np.linalg.norm(middle - np.array(one.center), axis=-1) - reach - reach_of(one)
            some = np.flatnonzero((far < self.near) & self.touches[k])
            gaps[k, some] = along_axes(field, start[some], way[some]) - self.radius[some]
        return gaps

    def depths(self, pose: viewer.Pose) -> Depths:
        """The least gap of each sort."""
        return Depths(
            float(self.pair_gaps(pose).min(initial=np.inf)) if self.contact.bodies else np.inf,
            float(self.floor_gaps(pose).min(initial=np.inf)) if self.contact.floor is not None else np.inf,
            float(self.object_gaps(pose).min(initial=np.inf)) if self.fields else np.inf,
        )


def bodies_with_pairs(skeleton: viewer.Skeleton) -> viewer.Bodies:
    """The capsules that contact uses."""
    from viewer.skeleton import bodies_of

    return bodies_of(skeleton)


def joint_frames(skeleton: viewer.Skeleton, pose: viewer.Pose) -> tuple[Floats, Floats]:
    """World places (J, 3) of all joints, and their turns (J, 3, 3); a parent stands before its children."""
    turns = rotation_matrices(pose.rotations)
    places = pose.translations.copy()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            places[joint] = places[parent] + turns[parent] @ places[joint]
            turns[joint] = turns[parent] @ turns[joint]
    return places, turns


def rotation_matrices(quaternions: Floats) -> Floats:
    """(..., 3, 3) of unit quaternions (..., 4), (x, y, z, w): 1 + 2 w K + 2 K K, K the cross product by (x, y, z)."""
    x, y, z, w = np.moveaxis(np.asarray(quaternions, dtype=np.float64), -1, 0)
    none = 0.0 * x
    cross = np.stack([none, -z, y, z, none, -x, -y, x, none], axis=-1).reshape(*x.shape, 3, 3)
    return np.asarray(np.eye(3) + 2.0 * w[..., None, None] * cross + 2.0 * cross @ cross)


def between_axes(p: Floats, u: Floats, q: Floats, v: Floats) -> Floats:
    """(N,) metres between segments p .. p + u and q .. q + v, (N, 3) each.

    Places on both are sampled; then the best place of the first is narrowed down. Its distance from the other segment
    is convex, so that the least one lies beside the best sample.
    """

    def off(parts: Floats) -> Floats:
        """(N, S) distances of the places at these parts (N, S) of the first from the second, exactly."""
        x = p[:, None] + parts[..., None] * u[:, None] - q[:, None]
        square = np.maximum(np.einsum("ni,ni->n", v, v), 1e-300)[:, None]
        there = np.clip(np.einsum("nsi,ni->ns", x, v) / square, 0.0, 1.0)
        return np.asarray(np.linalg.norm(x - there[..., None] * v[:, None], axis=-1))

    return np.minimum(sampled_between(p, u, q, v), narrowed(off, len(p)))


def sampled_between(p: Floats, u: Floats, q: Floats, v: Floats, samples: int = SAMPLES) -> Floats:
    """(N,) metres between the nearest of ``samples`` places on each of two segments: not less than the distance."""
    parts = np.linspace(0.0, 1.0, samples)[:, None]
    x, y = p[:, None] + parts * u[:, None], q[:, None] + parts * v[:, None]
    least = np.full(len(p), np.inf)
    for row in range(samples):
        least = np.minimum(least, np.linalg.norm(x[:, row, None] - y, axis=-1).min(axis=1))
    return least


def narrowed(off: Callable[[Floats], Floats], count: int, samples: int = SAMPLES) -> Floats:
    """(N,) the least values of N functions of a part 0 .. 1, which take (N, S) parts: sampled, then narrowed down."""
    parts = np.tile(np.linspace(0.0, 1.0, samples), (count, 1))
    width, least = 1.0 / (samples - 1), np.full(count, np.inf)
    for _ in range(_NARROWED):
        values = off(parts)
        best = values.argmin(axis=1)
        least = np.minimum(least, values[np.arange(count), best])
        middle = parts[np.arange(count), best]
        parts = np.clip(middle[:, None] + np.linspace(-width, width, _PARTS), 0.0, 1.0)
        width *= 2.0 / (_PARTS - 1)
    return least


def reach_of(one: viewer.Sphere | viewer.Box | viewer.Mesh) -> float:
    """Metres from an object's centre to its farthest point."""
    if isinstance(one, viewer.Sphere):
        return one.radius
    if isinstance(one, viewer.Box):
        return 0.5 * float(np.linalg.norm(one.size))
    assert one.vertices is not None
    return one.scale * float(np.linalg.norm(one.vertices, axis=-1).max())


Field: TypeAlias = Callable[[Floats], Floats]
"""Signed distances (N,) of places (N, 3) from a surface, metres, negative inside."""


def along_axes(field: Field, start: Floats, way: Floats, samples: int = SAMPLES) -> Floats:
    """(N,) the least distance of a field along segments."""

    def off(parts: Floats) -> Floats:
        places = start[:, None] + parts[..., None] * way[:, None]
        return field(places.reshape(-1, 3)).reshape(parts.shape)

    return narrowed(off, len(start), samples)


def field_of(one: viewer.Sphere | viewer.Box | viewer.Mesh) -> Field:
    """The exact distances from an object's surface; of a mesh from its triangles, not from a grid."""
    if isinstance(one, viewer.Sphere):
        return lambda places: np.asarray(np.linalg.norm(places - np.array(one.center), axis=-1) - one.radius)
    turn, center = rotation_matrices(np.array(one.rotation)), np.array(one.center)
    if isinstance(one, viewer.Box):
        half = 0.5 * np.array(one.size)
        return lambda places: from_box((places - center) @ turn, half)
    assert one.vertices is not None
    assert one.faces is not None
    corners = (one.scale * one.vertices)[one.faces]
    return lambda places: from_triangles((places - center) @ turn, corners)


def from_box(places: Floats, half: Floats) -> Floats:
    """(N,) signed distances from a box of half sizes about 0."""
    over = np.abs(places) - half
    return np.asarray(np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0))


def from_triangles(places: Floats, corners: Floats) -> Floats:
    """(N,) signed distances from a closed surface of triangles (F, 3, 3), counter-clockwise from outside.

    The sign is that of the winding number (A. Jacobson and others, "Robust inside-outside segmentation", 2013), by the
    solid angles of A. Van Oosterom and J. Strackee (1983).
    """
    found = np.empty(len(places))
    boxed = ((places >= corners.min(axis=(0, 1))) & (places <= corners.max(axis=(0, 1)))).all(axis=1)
    block = max(1, 60_000 // len(corners))
    for first in range(0, len(places), block):
        some, inside = places[first : first + block], boxed[first : first + block].copy()
        inside[inside] = winding(some[inside], corners) > 0.5  # no place outside the box is inside the surface
        found[first : first + block] = np.where(inside, -1.0, 1.0) * to_triangles(some, corners)
    return found


def winding(places: Floats, corners: Floats) -> Floats:
    """(N,) how often a surface goes around each place."""
    a, b, c = (corners[None, :, k] - places[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(side, axis=-1) for side in (a, b, c))
    top = np.einsum("nfi,nfi->nf", a, np.cross(b, c))
    ab, bc, ca = (np.einsum("nfi,nfi->nf", one, other) for one, other in ((a, b), (b, c), (c, a)))
    return np.asarray(np.arctan2(top, la * lb * lc + ab * lc + bc * la + ca * lb).sum(axis=1) / (2.0 * np.pi))


def to_triangles(places: Floats, corners: Floats) -> Floats:
    """(N,) distances from the nearest triangle: from its plane where the foot lies inside, else from its edges."""
    least = np.full((len(places), len(corners)), np.inf)
    for k in range(3):
        start, way = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
        x = places[:, None] - start
        part = np.clip(np.einsum("nfi,fi->nf", x, way) / np.einsum("fi,fi->f", way, way), 0.0, 1.0)
        least = np.minimum(least, np.linalg.norm(x - part[..., None] * way, axis=-1))
    ab, ac = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normal = np.cross(ab, ac)
    normal /= np.linalg.norm(normal, axis=-1, keepdims=True)
    x = places[:, None] - corners[:, 0]
    height = np.einsum("nfi,fi->nf", x, normal)
    # Inside of all three edges, seen along the normal.
    inside = np.ones(least.shape, dtype=np.bool_)
    for k in range(3):
        start, way = corners[:, k], corners[:, (k + 1) % 3] - corners[:, k]
        inside &= np.einsum("nfi,fi->nf", places[:, None] - start, np.cross(normal, way)) >= 0.0
    return np.asarray(np.where(inside, np.minimum(least, np.abs(height)), least).min(axis=1))
