"""Loops that numba compiles: a chain whose only target is too far for it points there at once.

The nearest pose of a chain without limits is known: all of it points to the target. Steps come near that pose ever more
slowly the more joints there are, because no joint's turn brings a straight chain any nearer.
"""

from __future__ import annotations

import math

from viewer.ik.kernels import POSITION, TURNS, product
from viewer.ik.kernels_far import is_afloat, normalise
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats

_BEYOND = 1.0 + 1e-9
"""Reaches beyond which a target is out of reach, whatever the rounding."""


def is_chain(s: System) -> bool:
    """Whether there is one goal alone, which asks for a place, and its root does not go anywhere."""
    return len(s.goal_kind) == 1 and s.goal_kind[0] == POSITION and not is_afloat(s, s.goal_root[0])


def stretch(s: System, w: Work, q: Floats, t: Floats) -> bool:
    """Turn a chain that cannot reach its target, in place, to where that is; false if it can, or something limits it.

    The pose is the one that `residuals` was last called with; afterwards the scratch's is another.
    """
    ahead = w.vectors[1]
    for i in range(3):
        ahead[i] = s.goal_target[0, i]
    reach = span(s, w)
    k = s.goal_joint[0]
    base = -1
    while k >= 0:
        if is_ball(s, k):
            base = k
        k = s.parent[k]
    if base < 0 or reach == math.inf:
        return False
    for i in range(3):
        ahead[i] -= w.place[base, i]
    if not reach * _BEYOND < normalise(ahead) < math.inf:
        return False
    point_ahead(s, w)
    k = s.goal_joint[0]
    while k >= 0:
        if is_ball(s, k):
            # The frame that it turns in: of what is rigid above it, and of the next ball.
            x, y, z, r = 0.0, 0.0, 0.0, 1.0
            p = s.parent[k]
            while p >= 0 and not is_ball(s, p):
                x, y, z, r = product(q[p, 0], q[p, 1], q[p, 2], q[p, 3], x, y, z, r)
                p = s.parent[p]
            if p >= 0:
                x, y, z, r = product(w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3], x, y, z, r)
            x, y, z, r = product(-x, -y, -z, r, w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3])
            length = math.sqrt(x * x + y * y + z * z + r * r)
            q[k, 0], q[k, 1], q[k, 2], q[k, 3] = x / length, y / length, z / length, r / length
        k = s.parent[k]
    return True


def is_ball(s: System, k: int) -> bool:
    """Whether a joint turns any way, without limits, and does nothing else."""
    d = s.first[k]
    if s.form[k] != TURNS or s.moves[k] > 0:
        return False
    return bool(s.spread[d] > 0.0 and s.spread[d + 1] > 0.0 and s.spread[d + 2] > 0.0)


def span(s: System, w: Work) -> float:
    """Metres that the chain spans if it is straight; infinite if joints of it move in other ways than balls do."""
    k = s.goal_joint[0]
    x, y, z = w.point[0, 0], w.point[0, 1], w.point[0, 2]
    total = 0.0
    while k >= 0:
        if is_ball(s, k):
            dx, dy, dz = x - w.place[k, 0], y - w.place[k, 1], z - w.place[k, 2]
            total += math.sqrt(dx * dx + dy * dy + dz * dz)
            x, y, z = w.place[k, 0], w.place[k, 1], w.place[k, 2]
        else:
            for d in range(s.first[k], s.first[k + 1]):
                if s.spread[d] > 0.0 and s.upper[d] > s.lower[d]:
                    return math.inf
        k = s.parent[k]
    return total


def point_ahead(s: System, w: Work) -> None:
    """Turn the balls' frames in the scratch, each the short way, so that the next ball is in the direction ahead."""
    ahead, along = w.vectors[1], w.vectors[2]
    k = s.goal_joint[0]
    x, y, z = w.point[0, 0], w.point[0, 1], w.point[0, 2]
    while k >= 0:
        if is_ball(s, k):
            along[0], along[1], along[2] = x - w.place[k, 0], y - w.place[k, 1], z - w.place[k, 2]
            x, y, z = w.place[k, 0], w.place[k, 1], w.place[k, 2]
            if normalise(along) > 0.0:
                ax, ay, az, aw = short_way(along[0], along[1], along[2], ahead[0], ahead[1], ahead[2])
                ax, ay, az, aw = product(ax, ay, az, aw, w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3])
                w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3] = ax, ay, az, aw
        k = s.parent[k]


def short_way(ax: float, ay: float, az: float, bx: float, by: float, bz: float) -> tuple[float, float, float, float]:
    """The shortest turn, a quaternion, of a unit vector to another; of opposite ones about any axis across."""
    r = 1.0 + ax * bx + ay * by + az * bz
    x, y, z = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    if r < 1e-12:
        x, y, z, r = -ay, ax, 0.0, 0.0
        if abs(az) > 0.5:
            x, y, z = 0.0, -az, ay
    length = math.sqrt(x * x + y * y + z * z + r * r)
    return x / length, y / length, z / length, r / length
