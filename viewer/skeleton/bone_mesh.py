"""The bones of a skeleton as one mesh, for formats whose viewers show only meshes.

Each bone is an octahedron from a joint to a child or tip; its faces are flat, so they share no corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.skeleton.kinematics import World, tip_positions
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.vectors import face_normals

BELT = 0.12
"""Position and radius of an octahedron's thickest part, as a fraction of its length."""
SHORTEST = 6e-4
"""Shorter bones, as a fraction of the figure's size, are not drawn."""
ALONE = 0.05
"""Half length, metres, of the octahedron for a skeleton without bones."""

CORNERS = np.array([[0, 0, 0], [1, BELT, 0], [0, BELT, 1], [-1, BELT, 0], [0, BELT, -1], [0, 1, 0]], dtype=np.float64)
"""(6, 3) of the unit octahedron: root, four of the belt, end; x and z in radii, y in lengths."""
FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]])
"""(8, 3) corners of its faces, counter-clockwise from outside."""


class BoneMesh(NamedTuple):
    """Triangles, three corners each, without an index: world frame, metres.

    Attributes:
        corners: (V, 3) positions.
        normals: (V, 3) unit vectors, the same at all corners of a face.
        joints: (V,) the joint that each corner moves with.
    """

    corners: Floats
    normals: Floats
    joints: Ints


def bone_mesh(skeleton: Skeleton, world: World) -> BoneMesh:
    """The octahedra of all bones in a world pose; without bones, a small one at the first joint."""
    heads, ends, joints = _bones(skeleton, world)
    if not len(heads):
        half = np.array([[0.0, ALONE, 0.0]])
        heads, ends = world.positions[:1] - half, world.positions[:1] + half
        joints = np.zeros(1, dtype=np.intp)
    along = ends - heads
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    side, front = _across(along / length)
    axes = np.stack([BELT * length * side, along, BELT * length * front], axis=1)
    corners = heads[:, None] + np.einsum("ci,bij->bcj", CORNERS, axes)
    triangles = corners[:, FACES].reshape(-1, 3, 3)
    normals = np.repeat(face_normals(triangles), 3, axis=0)
    return BoneMesh(triangles.reshape(-1, 3), normals, np.repeat(joints, 3 * len(FACES)))


def _bones(skeleton: Skeleton, world: World) -> tuple[Floats, Floats, Ints]:
    """Heads and ends (B, 3) and the joint (B,) of every bone that is long enough to be visible."""
    children = np.flatnonzero(skeleton.parents >= 0)
    joints = np.concatenate([skeleton.parents[children], skeleton.tip_parents])
    ends = np.concatenate([world.positions[children], tip_positions(skeleton, world)])
    heads = world.positions[joints]
    lengths = np.linalg.norm(ends - heads, axis=-1)
    size = float(np.ptp(np.concatenate([heads, ends]), axis=0).max()) if len(heads) else 0.0
    seen = lengths > SHORTEST * size
    return heads[seen], ends[seen], joints[seen]


def _across(direction: Floats) -> tuple[Floats, Floats]:
    """Two unit vectors (B, 3) that make a right-handed orthogonal frame with unit directions (B, 3)."""
    axis = np.eye(3)[np.abs(direction).argmin(axis=-1)]
    side = np.cross(direction, axis)
    side /= np.linalg.norm(side, axis=-1, keepdims=True)
    return side, np.cross(side, direction)
