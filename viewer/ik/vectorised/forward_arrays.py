"""The numpy backend: tables of a `System`, forward kinematics, residuals, and the rows that keep bodies apart.

The tables, of joints, limits and goals' kinds, are computed once. Targets, weights and spreads are read from the system
each time: callers may rewrite them in place.

Forward kinematics by pointer doubling: every joint is joined to the motion relative to its 1st, 2nd, 4th, ... ancestor,
so that a character takes four rounds and a chain of 5,000 thirteen.

Formulas: `viewer.ik.kernels.joints`, `viewer.ik.kernels.contact_rows`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple, TypeVar

import numpy as np

from viewer.ik.contact.touching import find_near
from viewer.ik.goals import ROW_KINDS
from viewer.ik.goals.kind import Measure, Places, Rows
from viewer.ik.kernels.contact_rows import CLOSER, EXACT, YIELDING
from viewer.ik.kernels.step import AT_LIMIT
from viewer.ik.system import System, Work, joint_of_dof
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.columns import apply, matrices, multiply
from viewer.spatial.quaternion import IDENTITY

_Made = TypeVar("_Made")

_STRUCTURE = (
    "first", "parent", "form", "moves", "rest", "offset", "axes", "order", "basis", "goals_from", "goals_to",
    "goal_kind", "goal_joint", "goal_row", "goal_middle", "goal_upper", "share",
)  # fmt: skip


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Parents and descendants of K joints. Joint K, after the last, is the world.

    Attributes:
        parent: (K,) each joint's parent.
        rounds: (K + 1,) arrays: each joint's 1st, 2nd, 4th, ... ancestor, until all are the world.
    """

    parent: Ints
    rounds: tuple[Ints, ...]


class Block(NamedTuple):
    """Rows of one kind of goal.

    Attributes:
        rows: their measure and functions.
        goals: N goals that have them.
        places: (N, count) their indices among all rows.
    """

    rows: Rows
    goals: Places
    places: Ints


class LimbRow(NamedTuple):
    """The row of a goal about a limb.

    Attributes:
        goal, row: which.
        middle, upper: joints.
        reach: (n, 3) 1 where a dof moves the limb's end, middle or upper joint, else 0.
    """

    goal: int
    row: int
    middle: int
    upper: int
    reach: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RowTable:
    """Goals grouped by kind, and the m rows of each.

    Attributes:
        blocks: rows of one sort, of all goals that have such.
        goal: (m,) each row's goal.
        angular: (m,) whether the row is measured in radians.
        axis: (3, m) the world axis of the rows of places, 0 for others.
        reach: (n, m) 1 where a dof moves a row, else 0; of goals of several joints their shares of it.
        limbs: the rows that are about a limb of three joints.
    """

    blocks: tuple[Block, ...]
    goal: Ints
    angular: Bools
    axis: Floats
    reach: Floats
    limbs: tuple[LimbRow, ...]


class Limits(NamedTuple):
    """The limits of n coordinates.

    Attributes:
        low, high: (n,) at its lower limit is what is below, at its upper one what is above.
        unlimited: (U,) angles without limits.
    """

    low: Floats
    high: Floats
    unlimited: Ints


class Key:
    """A system as a key of the caches, which keep it alive, so that identities stay its own."""

    __slots__ = ("names", "system")

    def __init__(self, system: System, names: tuple[str, ...]) -> None:
        self.system, self.names = system, names

    def __hash__(self) -> int:
        return id(getattr(self.system, self.names[0]))

    def __eq__(self, other: object) -> bool:
        """Whether they share all of them."""
        if not isinstance(other, Key):
            return NotImplemented
        one, two = self.system, other.system
        return one is two or all(getattr(one, name) is getattr(two, name) for name in self.names)


def kept(make: Callable[[System], _Made], names: tuple[str, ...] = _STRUCTURE) -> Callable[[System], _Made]:
    """Compute a table from arrays of a system, or return the cached one.

    The last system nearly always comes again, which is checked first.
    """
    cached = lru_cache(maxsize=8)(lambda key: make(key.system))
    last: tuple[System, _Made] | None = None

    def look_up(s: System) -> _Made:
        nonlocal last
        known = last  # other threads may change it
        if known is not None and known[0] is s:
            return known[1]
        found = cached(Key(s, names))
        last = s, found
        return found

    return look_up


def places(indices: Ints) -> Places:
    """Indices (N,), as a slice if they are evenly spaced."""
    if len(indices) == 0:
        return slice(0, 0)
    steps = np.diff(indices)
    step = int(steps[0]) if len(steps) else 1
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1, step) if step > 0 and (steps == step).all() else indices


@kept
def tree_of(s: System) -> Tree:
    """The tree's tables."""
    count = len(s.parent)
    parent = np.where(s.parent < 0, count, s.parent).astype(np.intp)
    rounds = []
    above = np.append(parent, count)
    while (above < count).any():
        rounds.append(above)
        above = above[above]
    return Tree(parent, tuple(rounds))


@kept
def rows_of(s: System) -> RowTable:
    """The goals' tables."""
    kinds = [ROW_KINDS[code] for code in s.goal_kind.tolist()]
    goal = np.repeat(np.arange(len(kinds)), [kind.count for kind in kinds])
    angular, axis = np.zeros(len(goal), dtype=np.bool_), np.zeros((3, len(goal)))
    joint = joint_of_dof(s)[:, None]
    reach = ((goal >= s.goals_from[joint]) & (goal < s.goals_to[joint])).astype(np.float64)
    several = goal >= len(kinds) - len(s.share)
    reach[:, several] = s.share.T[joint_of_dof(s)[:, None], goal[several] - (len(kinds) - len(s.share))]
    blocks = []
    for rows in dict.fromkeys(rows for kind in ROW_KINDS for rows in kind.rows):
        some = [g for g, kind in enumerate(kinds) if rows in kind.rows]
        if not some:
            continue
        first = [s.goal_row[g] + sum(other.count for other in kinds[g].rows[: kinds[g].rows.index(rows)]) for g in some]
        stand = np.array(first, dtype=np.int64)[:, None] + np.arange(rows.count)
        blocks.append(Block(rows, places(np.array(some, dtype=np.intp)), stand))
        angular[stand] = rows.radians
        if rows.count == 3 and not (rows.radians or rows.measure.by_move):
            axis[:, stand] = np.eye(3)[:, None]
        if rows.measure is Measure.JOINT_ANGLE:
            reach[:, stand] *= s.goal_joint[goal[stand]] == joint[:, :, None]
    limbs = tuple(_limb_row(s, g) for g in np.flatnonzero(s.goal_middle >= 0).tolist())
    return RowTable(tuple(blocks), goal, angular, axis, reach, limbs)


def _limb_row(s: System, g: int) -> LimbRow:
    end, middle, upper = int(s.goal_joint[g]), int(s.goal_middle[g]), int(s.goal_upper[g])
    return LimbRow(g, int(s.goal_row[g]), middle, upper, _moved_by(s)[[end, middle, upper]].T)


def _limits(s: System) -> Limits:
    room = AT_LIMIT * s.unit
    unlimited = s.turning & np.isinf(s.lower) & np.isinf(s.upper)
    return Limits(s.lower + room, s.upper - room, np.flatnonzero(unlimited))


limits_of = kept(_limits, ("lower", "upper", "unit", "turning"))
"""The limits' tables."""


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


def measure_overlap(s: System, w: Work) -> None:
    """Find what overlaps in the pose of ``w.turn`` and ``w.place``: `ContactWork.overlap`."""
    count = find_near(s.contact, w.near, w.place, w.turn, 0.0)
    depth = np.maximum(-w.near.gap[:count], 0.0)
    w.contact.overlap[0] = w.contact.weight[0] * float(depth.dot(depth)) / s.scale[0] ** 2
    w.contact.overlap[1] = depth.max(initial=0.0) / s.contact.slack[0]


def note_contacts(s: System, w: Work) -> None:
    """Find what is near in the pose that `residuals` was last called with: the step begins here."""
    c, near = w.contact, w.near
    count = find_near(s.contact, near, w.place, w.turn, float(s.contact.near[0]))
    c.rows[0] = count
    for mine, found in ((c.joints, near.joints), (c.p, near.p), (c.q, near.q), (c.n, near.n), (c.gap, near.gap)):
        mine[:count] = found[:count]


@kept
def _moved_by(s: System) -> Floats:
    """(K + 1, n) 1 where a dof moves a joint, else 0; the last row is the world's."""
    moved = np.zeros((len(s.parent) + 1, len(s.lower)))
    joint = joint_of_dof(s)
    for k, parent in enumerate(s.parent.tolist()):
        moved[k] = moved[parent]
        moved[k, joint == k] = 1.0
    return moved


def _wrench(n: Floats, point: Floats) -> Floats:
    """(6, ...) of normals (..., 3) at points (..., 3): times a twist, it is the point's speed along its normal."""
    (x, y, z), (u, v, w) = point.T, n.T
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u, u, v, w))


def find_rates(s: System, w: Work) -> None:
    """Put by how much the step ``w.contact.u`` opens each gap into ``w.contact.rate``."""
    c, count = w.contact, w.contact.rows[0]
    motion = (_moved_by(s) * c.u).dot(c.twist)
    first, second = c.joints[:count].T
    n = c.n[:count]
    c.rate[:count] = (_wrench(n, c.p[:count]) * motion[first].T - _wrench(n, c.q[:count]) * motion[second].T).sum(
        axis=0
    )


def least_rates(gap: Floats) -> Floats:
    """The least by which a step has to open each gap."""
    return np.where(gap < 0.0, -gap, -CLOSER * gap)


def most_violated(s: System, w: Work) -> int:
    """The row outside the active set that ``c.rate`` violates most; -1: none."""
    c, count = w.contact, w.contact.rows[0]
    violation = np.where(c.active[:count], 0.0, least_rates(c.gap[:count]) - c.rate[:count])
    row = int(violation.argmax())
    return row if violation[row] > EXACT * s.contact.slack[0] else -1


def add_row(s: System, w: Work, at: int, row: int, damping: float) -> None:
    """Put a row into the active set, with the step that opens its gap and the entries of the gram."""
    c, m = w.contact, len(w.contact.residual)
    c.chosen[at], c.active[row] = row, True
    first, second = c.joints[row]
    moved = _moved_by(s)
    column = c.column[at]
    column[:] = moved[first] * c.twist.dot(_wrench(c.n[row], c.p[row]))
    column -= moved[second] * c.twist.dot(_wrench(c.n[row], c.q[row]))
    c.short[at] = least_rates(c.gap[row]) - column.dot(_in_spreads(s, w.step))
    column[w.frozen] = 0.0
    jacobian = w.jacobian[:, :m]
    dual = np.linalg.solve(w.factor[:m, :m], column.dot(jacobian))
    c.answer[at] = np.where(w.frozen, 0.0, column - jacobian.dot(dual)) / damping
    c.gram[: at + 1, at] = c.column[: at + 1].dot(c.answer[at])
    c.gram[at, :at] = c.gram[:at, at]


def _in_spreads(s: System, step: Floats) -> Floats:
    return np.divide(step, s.spread, out=np.zeros_like(step), where=s.spread != 0.0)


def solve_active(w: Work, count: int) -> None:
    """Find the pushes by which all rows of the active set are as open as they should be."""
    c = w.contact
    gram = c.gram[:count, :count]
    ridge = YIELDING * float(np.trace(gram)) / count
    c.push[:count] = np.linalg.lstsq(gram + ridge * np.eye(count), c.short[:count], rcond=None)[0]


def drop_row(w: Work, at: int, count: int) -> None:
    """Take a row out of the active set; the last one takes its place."""
    c, last = w.contact, count - 1
    c.active[c.chosen[at]] = False
    for table in (c.chosen, c.short, c.column, c.answer, c.gram, c.gram.T):
        table[at] = table[last]


def push_step(s: System, w: Work, count: int) -> None:
    """Put the goals' step with the pushes of the active set, in spreads, into ``w.contact.u``."""
    c = w.contact
    c.u[:] = _in_spreads(s, w.step) + c.push[:count].dot(c.answer[:count])


def take_step(s: System, w: Work) -> None:
    """Let ``w.contact.u`` be the step; frozen dofs keep theirs."""
    np.multiply(s.spread, w.contact.u, out=w.step, where=~w.frozen & (s.spread != 0.0))
