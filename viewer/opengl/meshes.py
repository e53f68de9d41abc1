"""The two shapes that are drawn many times: the octahedron of a bone, and the hull of its outline."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from viewer.skeleton.bone_mesh import BELT, CORNERS, FACES

_RING = CORNERS[1:5, ::2]
"""(4, 2) x and z of the belt's corners."""


def octahedron() -> bytes:
    """24 vertices of (place, normal, barycentric), 9 floats each, counter-clockwise from outside.

    The head is at the origin, the tail at (0, 1, 0), the belt has radius 1 at y = `BELT`.
    """
    places = CORNERS[FACES]
    normals = np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    normals /= np.linalg.norm(normals, axis=-1, keepdims=True)
    corners = np.broadcast_to(np.eye(3), places.shape)
    rows = np.concatenate([places, np.repeat(normals[:, None], 3, axis=1), corners], axis=-1)
    return rows.astype(np.float32).tobytes()


def hull() -> bytes:
    """60 vertices of 4 floats: direction x, place along the bone, direction z, 1 on the belt and 0 at the ends.

    A tube of four sides with closed ends, counter-clockwise from outside; ``outline.vert`` gives it its width.
    """
    rings = [[np.array([x, y, z, float(y == BELT)]) for x, z in _RING] for y in (0.0, BELT, 1.0)]
    rows = []
    for lower, upper in pairwise(rings):
        for side in range(4):
            after = (side + 1) % 4
            rows += [lower[after], lower[side], upper[side], lower[after], upper[side], upper[after]]
    bottom, top = rings[0], rings[-1]
    rows += [bottom[0], bottom[1], bottom[2], bottom[0], bottom[2], bottom[3]]
    rows += [top[0], top[2], top[1], top[0], top[3], top[2]]
    return np.array(rows, dtype=np.float32).tobytes()
