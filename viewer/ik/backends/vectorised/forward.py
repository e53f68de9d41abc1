"""Forward kinematics and the goals' residuals in numpy; formulas: `viewer.ik.backends.compiled.forward`.

Forward kinematics by pointer doubling: every joint is joined to the motion relative to its 1st, 2nd, 4th, ... ancestor,
so that a character takes four rounds and a chain of 5,000 thirteen.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.ik.backends.compiled.algebra import Quaternion, Vector, logarithm, product
from viewer.ik.backends.vectorised.algebra import apply, matrices, multiply
from viewer.ik.backends.vectorised.tables import Rows, Tree, rows_of, tree_of
from viewer.ik.system import System, Work
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY

Matrix: TypeAlias = tuple[float, ...]
"Nine entries, row by row."

_NO_DIGITS = 1e-3
"""Below this angle a difference that should be a^2 / 12 is mostly rounding."""
_NO_SLOPE = 1e-4
_ALIGNED = 1e-7
"""Below this sine two directions are taken as the same, or opposite."""
_NOTHING = (0.0,) * 9


class Turn(NamedTuple):
    """What turns an effector to where it is to be.

    Attributes:
        vector: the rotation vector.
        by_turn, by_move: how it answers to a turn or move of the effector, sign changed.
        angle: its length.
    """

    vector: Vector
    by_turn: Matrix
    by_move: Matrix
    angle: float


def turn_to(target: Quaternion, turn: Quaternion) -> Turn:
    """From a rotation to its target: log(target * turn^-1)."""
    x, y, z, w = turn
    x, y, z, angle = logarithm(*product(*target, -x, -y, -z, w))
    second = 1.0 / 12.0
    if not angle < _NO_DIGITS:
        second = 1.0 / (angle * angle) - 0.5 / (angle * math.tan(0.5 * angle))
    a, b, c, rest = second * x, second * y, second * z, 1.0 - second * angle * angle
    by_turn = (
        a * x + rest, a * y - 0.5 * z, a * z + 0.5 * y,
        b * x + 0.5 * z, b * y + rest, b * z - 0.5 * x,
        c * x - 0.5 * y, c * y + 0.5 * x, c * z + rest,
    )  # fmt: skip
    return Turn((x, y, z), by_turn, _NOTHING, angle)


def turn_towards(axis: Vector, way: Vector, nearest: float) -> Turn:
    """From a unit axis to the direction of a way; one no longer than ``nearest`` leads anywhere."""
    (ux, uy, uz), (x, y, z) = axis, way
    length = math.sqrt(x * x + y * y + z * z)
    if length <= nearest:
        return Turn((0.0, 0.0, 0.0), _NOTHING, _NOTHING, 0.0)
    x, y, z = x / length, y / length, z / length
    nx, ny, nz = normal = uy * z - uz * y, uz * x - ux * z, ux * y - uy * x
    sine, cosine = math.sqrt(nx * nx + ny * ny + nz * nz), ux * x + uy * y + uz * z
    angle = math.atan2(sine, cosine)
    if sine <= _ALIGNED and cosine < 0.0:
        return _turn_round(axis, angle)
    h = angle / sine if sine > _ALIGNED else 1.0
    # The slope of h by the cosine: the quotient has no digits where the axis leads there.
    curved = sine > _NO_SLOPE or (cosine < 0.0 and sine > _ALIGNED)
    slope = (cosine * h - 1.0) / (sine * sine) if curved else -1.0 / 3.0
    skewed = ((0.0, -uz, uy), (uz, 0.0, -ux), (-uy, ux, 0.0))
    by_turn = tuple(
        h * (cosine * (i == j) - axis[i] * v) - slope * normal[i] * normal[j]
        for i in range(3)
        for j, v in enumerate((x, y, z))
    )
    by_move = tuple(
        (slope * normal[i] * (axis[j] - cosine * v) + h * (skewed[i][j] - normal[i] * v)) / length
        for i in range(3)
        for j, v in enumerate((x, y, z))
    )
    return Turn((h * nx, h * ny, h * nz), by_turn, by_move, angle)


def _turn_round(u: Vector, angle: float) -> Turn:
    """From a unit axis to the opposite direction: about any axis at right angles to it; moves do not count."""
    least = min(range(3), key=lambda i: abs(u[i]))
    length = math.sqrt(1.0 - u[least] * u[least])
    x, y, z = (math.pi * ((i == least) - u[least] * u[i]) / length for i in range(3))
    by_turn = tuple((i == j) - u[i] * u[j] for i in range(3) for j in range(3))
    return Turn((x, y, z), by_turn, _NOTHING, angle)


_SMALL = 1e-9
_ONES = np.ones(3)


class Motion(NamedTuple):
    """World motion of all joints in a pose.

    Attributes:
        tree: how they hang together.
        pose: the pose's rotations and translations, as bytes.
        turn: (K, 4) world rotations.
        place: (3, K + 1) world positions, the world's own last.
        frames: (3, 3, K + 1) the rotations as matrices, likewise.
    """

    tree: Tree
    pose: tuple[bytes, bytes]
    turn: Floats
    place: Floats
    frames: Floats


class _Last(threading.local):
    """What each thread last worked out: a pose is often asked about again."""

    motion: Motion | None = None


_last = _Last()


def forward(s: System, w: Work, q: Floats, t: Floats) -> Motion:
    """World rotations and positions of all joints, also into ``w.turn`` and ``w.place``."""
    tree, pose, motion = tree_of(s), (q.tobytes(), t.tobytes()), _last.motion
    again = motion is not None and motion.pose == pose and motion.tree is tree
    if motion is None or not again:
        motion = Motion(tree, pose, *_moved(tree, q, t))
        _last.motion = motion
    w.turn[...], w.place[...] = motion.turn, motion.place[:, :-1].T
    return motion


def _moved(tree: Tree, q: Floats, t: Floats) -> tuple[Floats, Floats, Floats]:
    """World rotations and positions, and the rotations as matrices: see `Motion`."""
    turn, place = np.empty((4, len(q) + 1)), np.zeros((3, len(q) + 1))
    turn[:, :-1], turn[:, -1] = q.T, IDENTITY
    for above in tree.rounds:
        turn = multiply(turn.take(above, axis=1), turn)
    frames = matrices(turn)
    # In world axes, the places are plain sums of the bones from the root.
    place[:, :-1] = apply(frames.take(tree.parent, axis=2), t.T)
    for above in tree.rounds:
        place += place.take(above, axis=1)
    return turn[:, :-1].T.copy(), place, frames


def frames_at(w: Work) -> Floats:
    """(3, 3, K + 1) the rotations in ``w.turn`` as matrices, the world's own last."""
    motion = _last.motion
    if motion is not None and motion.turn.tobytes() == w.turn.tobytes():
        return motion.frames
    return matrices(np.concatenate([w.turn.T, IDENTITY[:, None]], axis=1))


def residuals(s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:
    """Forward kinematics and all goals' residuals.

    Fills ``e`` (m,), weighted, target minus current, and in ``w`` what `linearise` needs.

    Returns:
        The squared error e.e, and the largest residual in units of its tolerance (below 1: all goals are met); goals
        that weigh nothing are left out.
    """
    motion, rows = forward(s, w, q, t), rows_of(s)
    frames, point = motion.frames, motion.place.take(s.goal_joint, axis=1)
    if np.count_nonzero(s.goal_offset):
        point += apply(frames.take(s.goal_joint, axis=2), s.goal_offset.T)
    w.point[...] = point.T
    metres, radians = 0.0, 0.0
    if rows.placed_rows.size:
        metres = _place_residuals(s, w, rows, e)
    if rows.distant.size:
        metres = max(metres, _distance_residuals(s, w, rows, e))
    if rows.turned.size:
        radians = _turn_residuals(s, w, rows, e)
    if rows.aimed.size:
        radians = max(radians, _aim_residuals(s, w, rows, frames.take(s.goal_joint[rows.aimed], axis=2), e))
    error = float(e.dot(e))
    worst = max(metres / float(s.tolerance[0]), radians / float(s.tolerance[1]))
    return error, worst if error < math.inf else math.inf


def _place_residuals(s: System, w: Work, rows: Rows, e: Floats) -> float:
    """Set e = target - point; returns the largest distance."""
    some = rows.placed
    miss = s.goal_target[some] - w.point[some]
    w.miss[some, 0] = distance = _lengths(miss)
    weight = s.goal_weight[some]
    e[rows.placed_rows] = weight[:, None] * miss
    return _largest(distance.tolist(), weight)


def _distance_residuals(s: System, w: Work, rows: Rows, e: Floats) -> float:
    """Set e = d - |point - from|, and the direction away; from the very place any will do: x is taken."""
    some = rows.distant
    away = w.point[some] - s.goal_target[some]
    length = _lengths(away)
    there = length <= _SMALL * s.scale[0]
    away[there] = (1.0, 0.0, 0.0)
    w.by_move[some, 0] = away / np.where(there, 1.0, length)[:, None]
    miss = s.goal_distance[some] - length
    w.miss[some, 0] = np.abs(miss)
    weight = s.goal_weight[some]
    e[rows.distant_rows] = weight * miss
    return _largest(np.abs(miss).tolist(), weight)


def _turn_residuals(s: System, w: Work, rows: Rows, e: Floats) -> float:
    """Set e = log(target * current^-1), and its derivative; returns the largest angle."""
    some = rows.turned
    pairs = zip(s.goal_rotation[some].tolist(), w.turn[s.goal_joint[some]].tolist(), strict=True)
    return _put_turns(s, w, some, rows.turned_rows, [turn_to(target, turn) for target, turn in pairs], e)


def _aim_residuals(s: System, w: Work, rows: Rows, frames: Floats, e: Floats) -> float:
    """Set e = the rotation vector from the axis to the direction of the point; returns the largest angle."""
    some, nearest = rows.aimed, _SMALL * float(s.scale[0])
    axes, ways = apply(frames, s.goal_axis[some].T).T, s.goal_target[some] - w.point[some]
    pairs = zip(axes.tolist(), ways.tolist(), strict=True)
    turns = [turn_towards(axis, way, nearest) for axis, way in pairs]
    w.by_move[some] = np.array([turn.by_move for turn in turns]).reshape(-1, 3, 3)
    return _put_turns(s, w, some, rows.aimed_rows, turns, e)


def _put_turns(s: System, w: Work, some: Ints, rows: Ints, turns: list[Turn], e: Floats) -> float:
    """Note what these goals miss by; returns the largest angle."""
    weight, angles = s.goal_rotation_weight[some], [turn.angle for turn in turns]
    w.by_turn[some] = np.array([turn.by_turn for turn in turns]).reshape(-1, 3, 3)
    w.miss[some, 1] = angles
    e[rows] = np.array([turn.vector for turn in turns]) * weight[:, None]
    return _largest(angles, weight)


def _largest(misses: Iterable[float], weights: Floats) -> float:
    """The largest miss of goals (N,) that weigh anything."""
    pairs = zip(misses, weights.tolist(), strict=True)
    return max([miss for miss, weight in pairs if weight > 0.0], default=0.0)


def _lengths(v: Floats) -> Floats:
    """(N,) of vectors (N, 3)."""
    return np.asarray(np.sqrt((v * v).dot(_ONES)))
