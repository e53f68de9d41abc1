"""The two shapes that are drawn many times: the octahedron of a bone, and the hull of its outline."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

BELT = 0.12
"""Where along a bone its belt is, as a part of its length."""

_CORNERS = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]])
"""x and z of the belt's four corners."""


def octahedron() -> bytes:
    """24 vertices of (place, normal, barycentric), 9 floats each, counter-clockwise from outside.

    The head is at the origin, the tail at (0, 1, 0), the belt has radius 1 at y = `BELT`.
    """
    head, tail = np.zeros(3), np.array([0.0, 1.0, 0.0])
    belt = [np.array([x, BELT, z]) for x, z in _CORNERS]
    rows = []
    for side in range(4):
        this, following = belt[side], belt[(side + 1) % 4]
        for face in ((following, this, tail), (this, following, head)):
            normal = np.cross(face[1] - face[0], face[2] - face[0])
            normal /= np.linalg.norm(normal)
            rows += [np.concatenate([place, normal, np.eye(3)[at]]) for at, place in enumerate(face)]
    return np.array(rows, dtype=np.float32).tobytes()


def hull() -> bytes:
    """60 vertices of 4 floats: direction x, place along the bone, direction z, 1 on the belt and 0 at the ends.

    A tube of four sides with closed ends, counter-clockwise from outside; ``outline.vert`` gives it its width.
    """
    rings = [[np.array([x, y, z, float(y == BELT)]) for x, z in _CORNERS] for y in (0.0, BELT, 1.0)]
    rows = []
    for lower, upper in pairwise(rings):
        for side in range(4):
            after = (side + 1) % 4
            rows += [lower[after], lower[side], upper[side], lower[after], upper[side], upper[after]]
    bottom, top = rings[0], rings[-1]
    rows += [bottom[0], bottom[1], bottom[2], bottom[0], bottom[2], bottom[3]]
    rows += [top[0], top[2], top[1], top[0], top[3], top[2]]
    return np.array(rows, dtype=np.float32).tobytes()
