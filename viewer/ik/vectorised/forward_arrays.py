"""Forward kinematics and the goals' residuals in numpy; formulas: `viewer.ik.kernels.forward`.

Forward kinematics by pointer doubling: every joint is joined to the motion relative to its 1st, 2nd, 4th, ... ancestor,
so that a character takes four rounds and a chain of 5,000 thirteen.
"""

from __future__ import annotations

import math
import threading
from typing import NamedTuple

import numpy as np

from viewer.ik.system import System, Work
from viewer.ik.vectorised.contact_arrays import measure_overlap
from viewer.ik.vectorised.tables import Tree, rows_of, tree_of
from viewer.spatial.checks import Floats
from viewer.spatial.columns import apply, matrices, multiply
from viewer.spatial.quaternion import IDENTITY


class Motion(NamedTuple):
    """World motion of all joints in a pose.

    Attributes:
        tree: of the joints.
        pose: the pose's rotations and translations, as bytes.
        turn: (K, 4) world rotations.
        place: (3, K + 1) world positions, the world's own last.
        frames: (3, 3, K + 1) the rotations as matrices, the world's own last.
    """

    tree: Tree
    pose: tuple[bytes, bytes]
    turn: Floats
    place: Floats
    frames: Floats


class _Last(threading.local):
    """Each thread's last result: callers often repeat a pose."""

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
        The squared error e.e with the penalty for overlaps, and the largest residual in units of its tolerance, or
        overlap in units of what counts as touching (below 1: all goals are met); goals that weigh nothing are left out.
    """
    motion, rows = forward(s, w, q, t), rows_of(s)
    frames, point = motion.frames, motion.place.take(s.goal_joint, axis=1)
    if np.count_nonzero(s.goal_offset):
        point += apply(frames.take(s.goal_joint, axis=2), s.goal_offset.T)
    w.point[...] = point.T
    metres, radians = 0.0, 0.0
    for block in rows.blocks:
        largest = block.rows.fill(s, w, frames, block.goals, block.places, e)
        metres, radians = (metres, max(radians, largest)) if block.rows.radians else (max(metres, largest), radians)
    error = float(e.dot(e))
    worst = max(metres / float(s.tolerance[0]), radians / float(s.tolerance[1]))
    if len(s.contact.joint):
        measure_overlap(s, w)
        error += float(w.contact.overlap[0])
        worst = max(worst, float(w.contact.overlap[1]))
    return error, worst if error < math.inf else math.inf
