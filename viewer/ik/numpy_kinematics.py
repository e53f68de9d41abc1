"""The numpy backend: joint coordinates, forward kinematics and residuals, of all joints at once.

The tables, of joints, limits and goals' kinds, are computed once. Targets, weights and spreads are read from the system
each time: callers may rewrite them in place.

Forward kinematics by pointer doubling: every joint is joined to the motion relative to its 1st, 2nd, 4th, ... ancestor,
so that a character takes four rounds and a chain of 5,000 thirteen.

Quaternions and vectors of all joints are components first, (4, N) and (3, N): each product, being bilinear, is then a
constant table times the products of its operands' components. For the few dozen joints of a character a call of numpy
costs more than its arithmetic, and for thousands short inner loops do.

Formulas: `viewer.ik.kernels.joints`.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

import numpy as np

from viewer.ik import algebra
from viewer.ik.contact.volumes import find_near
from viewer.ik.goals import ROW_KINDS
from viewer.ik.goals.kind import Measure, Places, Rows
from viewer.ik.kernels.step import AT_LIMIT
from viewer.ik.system import System, Work, joint_of_dof
from viewer.spatial.checks import Bools, Floats, Ints, Quaternion
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate

_Made = TypeVar("_Made")

_MOST_KEPT = 8


def kept(make: Callable[[System], _Made], name: str = "first") -> Callable[[System], _Made]:
    """Compute a table of a system, or return that of one with the same array of that name, and so the same structure.

    Systems are kept alive with their tables, so that identities of arrays stay their own.
    """
    known: dict[int, tuple[System, _Made]] = {}
    last: tuple[System, _Made] | None = None

    def look_up(s: System) -> _Made:
        nonlocal last
        found = last  # other threads may change it; the last system nearly always comes again
        if found is None or found[0] is not s:
            key = id(getattr(s, name))
            entry = known.get(key)
            if entry is None:
                if len(known) >= _MOST_KEPT:
                    known.pop(next(iter(known.copy())), None)  # the oldest
                known[key] = entry = s, make(s)
            last = found = s, entry[1]
        return found[1]

    return look_up


def places(indices: Ints) -> Places:
    """Indices (N,), as a slice if they are evenly spaced."""
    if len(indices) == 0:
        return slice(0, 0)
    steps = np.diff(indices)
    step = int(steps[0]) if len(steps) else 1
    first, last = int(indices[0]), int(indices[-1])
    return slice(first, last + 1, step) if step > 0 and (steps == step).all() else indices


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """Parents and descendants of K joints. Joint K, after the last, is the world.

    Attributes:
        rounds: (K + 1,) arrays: each joint's 1st, 2nd, 4th, ... ancestor, until all are the world.
    """

    parent: Ints
    rounds: tuple[Ints, ...]


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


class Motion(NamedTuple):
    """World motion of all joints in a pose.

    Attributes:
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
        turn = multiply_columns(turn.take(above, axis=1), turn)
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


class Limits(NamedTuple):
    """The limits of n coordinates.

    Attributes:
        low, high: (n,) at its lower limit is what is below, at its upper one what is above.
        unlimited: (U,) angles without limits.
    """

    low: Floats
    high: Floats
    unlimited: Ints


def _limits(s: System) -> Limits:
    room = AT_LIMIT * s.unit
    unlimited = s.turning & np.isinf(s.lower) & np.isinf(s.upper)
    return Limits(s.lower + room, s.upper - room, np.flatnonzero(unlimited))


limits_of = kept(_limits, "lower")
"""The limits' tables."""


_THREE = np.arange(3)
_FEW = 4
"""Up to this many unlimited joints, mostly roots, Python's arithmetic is quicker than numpy's calls."""


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints grouped by how they move, and their dofs.

    Attributes:
        movers, mover_dofs: (M,), (M, 3) that translate.
        turners, turner_dofs: (T,), (3, T) that turn freely.
        turner_axes: (3, 3, T) the axes that these turn about, in columns, in the joint's own frame.
        few: where they are few, each one's joint, first dof and basis (x, y, z, w), to be turned one by one.
        angled: (A,) hinges, universals and Euler joints.
        angles, half: (3, A) their dofs, and 0.5, or 0 where there are fewer than three.
        angled_table: (4, A, 8) what the products of their half angles' cosines and sines are multiplied by.
        swung: (W,) swing-twist joints.
        swings, twists: (2, W), (W,) their dofs.
        swung_table: (4, W, 6) as above, of the swing's two scaled sines and cosine by the twist's cosine and sine.
        slid, slides: (S,) joints and dofs.
        direction: (S, 3) unit vectors along which they slide.
        coordinate: (n,) whether a dof is a coordinate, not a turn or move of a free joint.
    """

    movers: Places
    mover_dofs: Ints
    turners: Places
    turner_dofs: Ints
    turner_axes: Floats
    few: tuple[tuple[int, int, Quaternion], ...]
    angled: Places
    angles: Ints
    half: Floats
    angled_table: Floats
    swung: Places
    swings: Ints
    twists: Ints
    swung_table: Floats
    slid: Ints
    slides: Ints
    direction: Floats
    coordinate: Bools


@kept
def joints_of(s: System) -> Joints:
    """The joints' tables."""
    movers = np.flatnonzero(s.moves)
    turners = np.flatnonzero((s.form == algebra.TURNS) & (np.diff(s.first) > s.moves))
    angled = np.flatnonzero(np.isin(s.form, (algebra.HINGE, algebra.UNIVERSAL, algebra.EULER)))
    swung, slid = np.flatnonzero(s.form == algebra.SWING_TWIST), np.flatnonzero(s.form == algebra.SLIDE)
    used = np.diff(s.first)[angled] > _THREE[:, None]
    begins = (s.first[:-1] + s.moves)[turners]
    moving = np.zeros(len(s.lower), dtype=np.bool_)
    mover_dofs, turner_dofs = s.first[movers][:, None] + _THREE, begins + _THREE[:, None]
    moving[mover_dofs], moving[turner_dofs] = True, True
    few = zip(turners.tolist(), begins.tolist(), map(tuple, s.basis[turners].tolist()), strict=True)
    return Joints(
        movers=places(movers),
        mover_dofs=mover_dofs,
        turners=places(turners),
        turner_dofs=turner_dofs,
        turner_axes=matrices(s.basis[turners].T),
        few=tuple(few) if len(turners) <= _FEW else (),
        angled=places(angled),
        angles=s.first[angled] + np.where(used, _THREE[:, None], 0),
        half=np.where(used, 0.5, 0.0),
        angled_table=_angled_table(s, angled).transpose(2, 0, 1).copy(),
        swung=places(swung),
        swings=s.first[swung] + _THREE[:2, None],
        twists=s.first[swung] + 2,
        swung_table=_swung_table(s, swung).transpose(2, 0, 1).copy(),
        slid=slid,
        slides=s.first[slid],
        direction=rotate(s.rest[slid], s.axes[slid, 0]),
        coordinate=~moving,
    )


def _angled_table(s: System, some: Ints) -> Floats:
    """Products rest * (1 or axis 0) * (1 or axis 1) * (1 or axis 2); the last choice changes first."""
    euler = (s.form[some] == algebra.EULER)[:, None, None]
    axes = np.zeros((len(some), 3, 3))
    axes[:, :2] = s.axes[some]
    table = s.rest[some][:, None]
    for factor in _factors(np.where(euler, np.eye(3)[s.order[some]], axes)):
        table = multiply(table[:, :, None], factor[:, None]).reshape(len(some), 2 * table.shape[1], 4)
    return table


def _swung_table(s: System, some: Ints) -> Floats:
    """Products rest * (swing axis 0 or swing axis 1 or 1) * (1 or twist axis)."""
    axes = np.eye(3)[s.order[some]]
    swing, twist = np.zeros((len(some), 3, 4)), _factors(axes[:, 2:])[0]
    swing[:, 2, 3], swing[:, :2, :3] = 1.0, axes[:, :2]
    table = multiply(s.rest[some][:, None], swing)
    return multiply(table[:, :, None], twist[:, None]).reshape(len(some), 6, 4)


def _factors(axes: Floats) -> list[Floats]:
    """For each of the A axes (N, A, 3): (N, 2, 4) the quaternions 1 and the half turn about it."""
    factors = np.zeros((axes.shape[1], len(axes), 2, 4))
    factors[:, :, 0, 3], factors[:, :, 1, :3] = 1.0, axes.swapaxes(0, 1)
    return list(factors)


def set_local(s: System, x: Floats, q: Floats, t: Floats) -> None:
    """Local rotations and translations from coordinates, in place; joints that have none keep theirs."""
    joints = joints_of(s)
    if joints.angles.size:
        half = x[joints.angles]
        half *= joints.half
        part = np.empty((2, *half.shape))
        np.cos(half, out=part[0])
        np.sin(half, out=part[1])
        products = (part[:, None, 0] * part[:, 1]).reshape(4, 1, -1) * part[:, 2]
        q[joints.angled] = np.einsum("ak,bka->kb", products.reshape(8, -1), joints.angled_table)
    if joints.twists.size:
        half, part = 0.5 * x[joints.twists], np.empty((2, len(joints.twists)))
        np.cos(half, out=part[0])
        np.sin(half, out=part[1])
        products = exponential(x[joints.swings])[:, None] * part
        q[joints.swung] = np.einsum("ak,bka->kb", products.reshape(6, -1), joints.swung_table)
    if joints.slid.size:
        q[joints.slid] = s.rest[joints.slid]
        t[joints.slid] = s.offset[joints.slid] + x[joints.slides][:, None] * joints.direction


def move(s: System, w: Work, dx: Floats, x: Floats, q: Floats, t: Floats) -> None:
    """Move along a step in place; coordinates stay within their limits."""
    joints = joints_of(s)
    if joints.mover_dofs.size:
        t[joints.movers] += dx[joints.mover_dofs]
    if joints.few and math.isfinite(dx.dot(dx)):
        for k, d, basis in joints.few:
            ax, ay, az, aw = algebra.exponential(*algebra.turned(*basis, *dx[d : d + 3].tolist()))
            qx, qy, qz, qw = q[k].tolist()
            ax, ay, az, aw = algebra.product(qx, qy, qz, qw, ax, ay, az, aw)
            length = math.sqrt(ax * ax + ay * ay + az * az + aw * aw)
            q[k] = ax / length, ay / length, az / length, aw / length
    elif joints.turner_dofs.size:
        turns = exponential(apply(joints.turner_axes, dx[joints.turner_dofs]))
        turned = multiply_columns(q[joints.turners].T, turns)
        q[joints.turners] = (turned / np.sqrt(np.add.reduce(turned * turned))).T
    before = x[joints.swings]
    np.copyto(x, np.minimum(np.maximum(x + dx, s.lower), s.upper), where=joints.coordinate)
    if joints.twists.size:
        _keep_swings_short(s, joints.swings, before, x)
    if s.leader.size:
        x[s.follower] = s.ratio * x[s.leader] + s.shift
    set_local(s, x, q, t)


def _keep_swings_short(s: System, swings: Ints, before: Floats, x: Floats) -> None:
    """Swings of more than half a turn are counted the short way round; where their ranges forbid that, they stay."""
    length = np.sqrt(np.add.reduce(x[swings] ** 2))
    long = np.flatnonzero(length > np.pi)
    if long.size:
        some = swings[:, long]
        short = x[some] * (1.0 - 2.0 * np.pi / length[long])
        inside = ((short >= s.lower[some]) & (short <= s.upper[some])).all(axis=0)
        x[some] = np.where(inside, short, before[:, long])


def difference(
    s: System, w: Work, x: Floats, q: Floats, t: Floats, x0: Floats, q0: Floats, t0: Floats, out: Floats
) -> None:
    """Put the step from a pose (x, q, t) to another (x0, q0, t0) into ``out`` (n,)."""
    joints, unlimited = joints_of(s), limits_of(s).unlimited
    np.subtract(x0, x, out=out)
    if unlimited.size:
        # An angle without limits goes back the short way.
        out[unlimited] -= 2.0 * np.pi * np.rint(out[unlimited] / (2.0 * np.pi))
    if joints.mover_dofs.size:
        out[joints.mover_dofs] = t0[joints.movers] - t[joints.movers]
    for k, d, (bx, by, bz, bw) in joints.few:
        qx, qy, qz, qw = q[k].tolist()
        *turn, _ = algebra.logarithm(*algebra.product(-qx, -qy, -qz, qw, *q0[k].tolist()))
        out[d : d + 3] = algebra.turned(-bx, -by, -bz, bw, *turn)
    if joints.turner_dofs.size and not joints.few:
        turns, _ = logarithm(since(q[joints.turners].T, q0[joints.turners].T))
        out[joints.turner_dofs] = apply(joints.turner_axes.swapaxes(0, 1), turns)


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
    return LimbRow(g, int(s.goal_row[g]), middle, upper, moved_by(s)[[end, middle, upper]].T)


@kept
def moved_by(s: System) -> Floats:
    """(K + 1, n) 1 where a dof moves a joint, else 0; the last row is the world's."""
    moved = np.zeros((len(s.parent) + 1, len(s.lower)))
    joint = joint_of_dof(s)
    for k, parent in enumerate(s.parent.tolist()):
        moved[k] = moved[parent]
        moved[k, joint == k] = 1.0
    return moved


def residuals(s: System, w: Work, q: Floats, t: Floats, e: Floats) -> tuple[float, float]:
    """Forward kinematics and all goals' residuals; fills and returns what `viewer.ik.kernels.joints.residuals` does."""
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


# --- products of columns

_SMALL = 1e-12
"""Below this angle or sine the limit of a quotient is used: its next term is below rounding."""

_UNITS = np.eye(4)

# Column j of a rotation matrix is q e_j q*; (a, b, i, j) is component i of a e_j b*, for unit quaternions a and b.
_TURNED = multiply(multiply(_UNITS[:, None, None], _UNITS[:3]), conjugate(_UNITS)[:, None])[..., :3].swapaxes(2, 3)
_TWICE = _TURNED.reshape(4, 4, 9)


class _Form(NamedTuple):
    """A bilinear product: component c of a and b's is the sum over i of table[c, i] a[first[i]] b[second[i]]."""

    table: Floats
    first: Ints
    second: Ints


def _form(terms: Floats) -> _Form:
    """The form of a table (A, B, C) of the components of products of unit vectors, most of them 0."""
    first, second = np.nonzero(np.any(terms, axis=2))
    return _Form(terms[first, second].T.copy(), first, second)


_PRODUCT = _form(multiply(_UNITS[:, None], _UNITS))
_SINCE = _form(multiply(conjugate(_UNITS)[:, None], _UNITS))
_CROSS = _form(np.cross(np.eye(3)[:, None], np.eye(3)))

# Of one and the same quaternion, a b is b a.
_MATRIX = _form(np.triu(np.ones((4, 4)))[:, :, None] * (_TWICE + _TWICE.swapaxes(0, 1)) / (1.0 + _UNITS)[:, :, None])


def multiply_columns(p: Floats, q: Floats) -> Floats:
    """Quaternion products p * q, (4, N)."""
    return _bilinear(p, q, _PRODUCT)


def since(p: Floats, q: Floats) -> Floats:
    """The rotations p* q (4, N) from unit quaternions p to q, in p's own frame."""
    return _bilinear(p, q, _SINCE)


def exponential(v: Floats) -> Floats:
    """The rotations (4, N) by rotation vectors (3, N); of vectors in a plane, (2, N), what is in it and w: (3, N)."""
    angle = np.sqrt(np.add.reduce(v * v))
    result = np.empty((len(v) + 1, len(angle)))
    turns, half = angle > _SMALL, 0.5 * angle
    scale = np.divide(np.sin(half), angle, out=np.full_like(angle, 0.5), where=turns)
    np.multiply(v, scale, out=result[:-1])
    np.cos(half, out=result[-1])
    return result


def logarithm(q: Floats) -> tuple[Floats, Floats]:
    """The rotation vectors (3, N) of unit quaternions (4, N), the short way round, and their lengths (N,)."""
    v, w = q[:3], q[3]
    sine = np.sqrt(np.add.reduce(v * v))
    angle = 2.0 * np.arctan2(sine, np.abs(w))
    scale = np.divide(angle, sine, out=np.full_like(angle, 2.0), where=sine > _SMALL)
    return v * np.copysign(scale, w), angle


def cross(a: Floats, b: Floats, out: Floats | None = None) -> Floats:
    """Vector products a x b, (3, N), into ``out`` if that is given."""
    return _bilinear(a, b, _CROSS, out)


def matrices(q: Floats) -> Floats:
    """Rotation matrices (3, 3, N) of unit quaternions (4, N)."""
    return _bilinear(q, q, _MATRIX).reshape(3, 3, -1)


def apply(matrix: Floats, v: Floats) -> Floats:
    """Vectors (3, N) turned by matrices (3, 3, N)."""
    return np.asarray(np.einsum("ijn,jn->in", matrix, v))


def _bilinear(a: Floats, b: Floats, form: _Form, out: Floats | None = None) -> Floats:
    # For a few columns the method `dot` takes a third as long as `@`, and `take` half as long as brackets.
    return form.table.dot(a.take(form.first, axis=0) * b.take(form.second, axis=0), out)
