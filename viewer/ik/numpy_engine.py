"""The numpy backend: the Jacobian, the dual system, what limits and contacts do to a step; the loop with these steps.

It is always there; `viewer.ik.compiled` is the faster one.

Each dof is a twist of the world: an angular velocity, and the velocity of what is at the origin. Each row of a goal
is a wrench: how it answers to these. The Jacobian is all their products at once, where the dof is above the goal.

Formulas: `viewer.ik.kernels.step`, `viewer.ik.kernels.dual_system`, `viewer.ik.kernels.contact_rows`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np

from viewer.ik import algebra, levels, levenberg_marquardt, problems
from viewer.ik.backends import twins
from viewer.ik.contact.volumes import find_near
from viewer.ik.goals.kind import Places
from viewer.ik.kernels.contact_rows import CLOSER, EXACT, YIELDING
from viewer.ik.kernels.step import NEAR_LIMIT
from viewer.ik.numpy_kinematics import (
    LimbRow,
    apply,
    cross,
    difference,
    frames_at,
    kept,
    limits_of,
    move,
    moved_by,
    places,
    residuals,
    rows_of,
    tree_of,
)
from viewer.ik.system import Problems, Settings, State, System, Work, joint_of_dof
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import rotate

_NO_DIGITS = 1e-4
"""Below this angle differences that should be a^2 / 2 and a^3 / 6 are mostly rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Where each dof's axis is fixed. K joints, n dofs.

    Attributes:
        joint: (n,) each dof's joint.
        frame: (n,) the frame that its axis is fixed in: the joint's own, its parent's, or the world's (K).
        axis: (3, n) the axis in that frame; 0 where it depends on the coordinates.
        straight: (N,) the dofs that move along their axis; all others turn about it.
        middle, outer: (E,) each Euler joint's second dof and its first.
        across, quarter: (3, E) its axis, in the parent's frame, where the first angle is 0, and a quarter turn.
        swings: (2, W) swing-twist joints' swings.
        swing_axes: (3, 3, W) the axes of their components and the one at right angles to these (the second index), in
            the parents' frames.
    """

    joint: Ints
    frame: Ints
    axis: Floats
    straight: Places
    middle: Places
    outer: Places
    across: Floats
    quarter: Floats
    swings: Ints
    swing_axes: Floats


@kept
def _axes(s: System) -> Axes:
    count, joint = len(s.parent), joint_of_dof(s)
    form, place = s.form[joint], np.arange(len(joint)) - s.first[joint] - s.moves[joint]  # below 0: translations
    ordered = np.isin(form, (algebra.EULER, algebra.SWING_TWIST))
    fixed_before = (ordered & (place < 2)) | ((form == algebra.UNIVERSAL) & (place == 0)) | (form == algebra.SLIDE)
    frame = np.where(fixed_before, tree_of(s).parent[joint], joint)
    frame[place < 0] = count
    units, axis = np.eye(3), np.zeros((len(joint), 3))
    free = (place < 0) | (form == algebra.TURNS)
    axis[free] = units[place[free] % 3]
    turns = np.flatnonzero((place >= 0) & (form == algebra.TURNS))
    axis[turns] = rotate(s.basis[joint[turns]], axis[turns])
    axis[ordered] = units[s.order[joint[ordered], place[ordered]]]
    own = ~(free | ordered)
    axis[own] = s.axes[joint[own], place[own]]
    # Axes that are fixed before the joint's own motion are in its parent's frame, turned by its rest.
    axis[fixed_before] = rotate(s.rest[joint[fixed_before]], axis[fixed_before])
    swing = np.flatnonzero(s.form == algebra.SWING_TWIST)
    middle = np.flatnonzero((form == algebra.EULER) & (place == 1))
    rest, order = s.rest[joint[middle]], s.order[joint[middle]]
    return Axes(
        joint=joint,
        frame=frame,
        axis=axis.T.copy(),
        straight=places(np.flatnonzero((place < 0) | (form == algebra.SLIDE))),
        middle=places(middle),
        outer=places(middle - 1),
        across=rotate(rest, units[order[:, 1]]).T.copy(),
        quarter=rotate(rest, np.cross(units[order[:, 0]], units[order[:, 1]])).T.copy(),
        swings=s.first[swing] + np.arange(2)[:, None],
        swing_axes=rotate(s.rest[swing][:, None], _thirds(units[s.order[swing, :2]])).transpose(2, 1, 0).copy(),
    )


def linearise(s: System, w: Work, x: Floats) -> None:
    """Fill ``w.jacobian`` at the pose that `residuals` was last called with."""
    twist, wrench, rows = _twists(s, w, x), _wrenches(s, w), rows_of(s)
    if len(s.contact.joint):
        w.contact.twist[...] = twist.T
        note_contacts(s, w)
    np.multiply(twist.T.dot(wrench), rows.reach, out=w.jacobian[:, : rows.reach.shape[1]])
    for limb in rows.limbs:
        w.jacobian[:, limb.row] = _along_limb(s, w, twist, limb)
    for g in np.flatnonzero(s.goal_mean).tolist():
        w.jacobian[:, s.goal_row[g] : s.goal_row[g] + s.goal_lengths[g]] = _of_mean(s, w, twist, g)
    for d, f, ratio in zip(s.leader.tolist(), s.follower.tolist(), s.ratio.tolist(), strict=True):
        # The chain rule: motion of a follower counts as motion of its leader.
        if s.spread[f] != 0.0:
            w.jacobian[d] += ratio * s.spread[d] / s.spread[f] * w.jacobian[f]
        w.jacobian[f] = 0.0


def _of_mean(s: System, w: Work, twist: Floats, g: int) -> Floats:
    """(n, lengths) how the rows of a goal for a mean of points answer to each dof."""
    joint, i = joint_of_dof(s), g - len(s.goal_kind) + len(s.share)
    moves = s.share[i, joint] * twist[3:] + np.cross(twist[:3].T, w.moment[i, joint]).T
    return np.asarray((s.goal_weight[g] * w.by_move[g, : s.goal_lengths[g]].dot(moves)).T)


def _along_limb(s: System, w: Work, twist: Floats, limb: LimbRow) -> Floats:
    """(n,) how the row of a goal about a limb answers to each dof."""
    g = limb.goal
    points = np.stack([w.point[g], w.place[limb.middle], w.place[limb.upper]])
    force = w.by_move[g] * s.goal_rotation_weight[g]
    torque = np.cross(points, force)
    torque[1] += w.by_turn[g, 0] * s.goal_rotation_weight[g]
    return np.asarray(np.einsum("pi,in,np->n", np.concatenate([torque, force], axis=1), twist, limb.reach))


def _twists(s: System, w: Work, x: Floats) -> Floats:
    """(6, n) each dof's angular velocity and the velocity of what is at the origin, scaled by its spread."""
    axes = _axes(s)
    twist = np.empty((6, len(x)))
    axis = twist[:3]
    np.multiply(apply(frames_at(w).take(axes.frame, axis=2), _local_axes(axes, x)), s.spread, out=axis)
    cross(w.place.T.take(axes.joint, axis=1), axis, out=twist[3:])
    twist[3:, axes.straight] = axis[:, axes.straight]
    twist[:3, axes.straight] = 0.0
    return twist


def _local_axes(axes: Axes, x: Floats) -> Floats:
    """(3, n) the dofs' axes in their frames."""
    local = axes.axis
    if axes.across.size or axes.swings.size:
        local = local.copy()
    if axes.across.size:
        angle = x[axes.outer]
        local[:, axes.middle] = np.cos(angle) * axes.across + np.sin(angle) * axes.quarter
    if axes.swings.size:
        local[:, axes.swings] = np.einsum("iew,eaw->iaw", axes.swing_axes, _swing_rates(x[axes.swings]))
    return local


def _thirds(pairs: Floats) -> Floats:
    """(W, 3, 3) two axes each (W, 2, 3), and the one at right angles to them."""
    return np.concatenate([pairs, np.cross(pairs[:, :1], pairs[:, 1:])], axis=1)


def _swing_rates(v: Floats) -> Floats:
    """(3, 2, W) how swings v (2, W) turn when a component changes, J_l(v) e: as in `viewer.ik.kernels.step`.

    Along their two axes and the third, n: with v = b e0 + c e1 are v x e0 = -c n, v x e1 = b n and v x n = c e0 - b e1.
    """
    b, c = v
    square = np.add.reduce(v * v)
    a = np.sqrt(square)
    turned = a > _NO_DIGITS
    a, square = np.where(turned, a, 1.0), np.where(turned, square, 1.0)
    one = np.where(turned, (1.0 - np.cos(a)) / square, 0.5)
    two = np.where(turned, (a - np.sin(a)) / (square * a), 1.0 / 6.0)
    rates = np.empty((3, 2, len(a)))
    rates[0, 0], rates[1, 1], rates[2, 0], rates[2, 1] = 1.0 - two * c * c, 1.0 - two * b * b, -one * c, one * b
    rates[1, 0] = rates[0, 1] = two * b * c
    return rates


def _wrenches(s: System, w: Work) -> Floats:
    """(6, m) how a row answers to an angular velocity and to the velocity of what is at the origin, weighted."""
    rows = rows_of(s)
    wrench = np.empty((6, len(rows.goal)))
    turn, force = wrench[:3], wrench[3:]
    force[...] = rows.axis
    for kind, goals, stand in rows.blocks:
        if kind.measure.by_move:
            force[:, stand] = w.by_move[goals, : kind.count].transpose(2, 0, 1)
    cross(w.point.T.take(rows.goal, axis=1), force, out=turn)
    for kind, goals, stand in rows.blocks:
        if kind.measure.by_turn:
            turn[:, stand] += w.by_turn[goals, : kind.count].transpose(2, 0, 1)
    weight = np.where(rows.angular, s.goal_rotation_weight.take(rows.goal), s.goal_weight.take(rows.goal))
    wrench *= weight
    return wrench


def gram(s: System, w: Work) -> None:
    """J J^T into ``w.gram`` (M, M), whose rows and columns beyond the m-th stay 0."""
    w.jacobian.T.dot(w.jacobian, out=w.gram)


def scale_columns(jacobian: Floats, factors: Floats) -> None:
    """Multiply the columns of the transposed Jacobian by (m,) factors: goals' rows."""
    jacobian[:, : len(factors)] *= factors


@lru_cache(maxsize=8)
def _identity(size: int) -> Floats:
    return np.eye(size)


def solve_dual(w: Work, e: Floats, damping: float, y: Floats) -> None:
    """Solve (J J^T + damping I) y = e; ``w.gram`` is kept, ``w.factor`` is overwritten."""
    m = len(e)
    factor = w.factor[:m, :m]
    np.multiply(_identity(m), damping, out=factor)
    np.add(factor, w.gram[:m, :m], out=factor)
    substitute(w, e, y)


def substitute(w: Work, e: Floats, y: Floats) -> None:
    """`solve_dual` for another ``e``, with the matrix that it left."""
    factor = w.factor[: len(e), : len(e)]
    try:
        y[...] = np.linalg.solve(factor, e)
    except np.linalg.LinAlgError:
        # Without damping, rows that no dof answers to: the shortest solution is the limit of ever less damping.
        y[...] = np.linalg.lstsq(factor, e, rcond=None)[0]


def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, dx: Floats) -> None:
    """Set dx = pull + S J^T y; frozen dofs get their held step, idle ones 0."""
    np.multiply(w.jacobian[:, : len(y)].dot(y), s.spread, out=dx)
    np.add(dx, pull, out=dx)
    np.copyto(dx, 0.0, where=s.spread == 0.0)
    np.copyto(dx, w.held, where=frozen)
    if s.leader.size:
        dx[s.follower] = s.ratio * dx[s.leader]


def less_pull(s: System, w: Work, frozen: Bools, pull: Floats, e: Floats, out: Floats) -> None:
    """Set out = e - J pull: the residual that remains after the pull and the steps of frozen dofs."""
    out[...] = e
    wanted = np.where(frozen, w.held, pull)
    if np.count_nonzero(wanted):
        # Dofs that take no part have rows of zeros.
        np.divide(wanted, s.spread, out=wanted, where=s.spread != 0.0)
        np.subtract(out, wanted.dot(w.jacobian)[: len(out)], out=out)


def freeze(s: System, w: Work, x: Floats, clamp_to_limit: bool) -> int:
    """Freeze the dofs that are at a limit and would leave it by ``w.step``; returns how many are new.

    With ``clamp_to_limit`` also those that reach their limit on the way: they go as far as the limit.

    Their share is taken out of ``w.gram``.
    """
    limits, there = limits_of(s), x + w.step if clamp_to_limit else x
    low, high = (there <= limits.low) & (w.step < 0.0), (there >= limits.high) & (w.step > 0.0)
    leaving = ((low | high) > w.frozen).nonzero()[0]
    if leaving.size:
        w.frozen[leaving] = True
        w.held[leaving] = 0.0
        if clamp_to_limit:
            w.held[leaving] = np.where(low[leaving], s.lower[leaving], s.upper[leaving]) - x[leaving]
        share = w.jacobian.take(leaving, axis=0)
        np.subtract(w.gram, share.T.dot(share), out=w.gram)
    return len(leaving)


def leaves_limits(s: System, dx: Floats, x: Floats) -> Bools:
    """(n,) whether a dof is at a limit and would leave it by the step dx."""
    limits = limits_of(s)
    return (dx < 0.0) & (x <= limits.low) | (dx > 0.0) & (x >= limits.high)


def shorten(s: System, dx: Floats, x: Floats, part: float) -> None:
    """Let a dof that would cross its limit go only ``part`` of the way to it (all the way when it is near)."""
    there = x + dx
    crossing = ((there < s.lower) | (there > s.upper)).nonzero()[0]
    if crossing.size:
        step = dx[crossing]
        room = np.where(step > 0.0, s.upper[crossing], s.lower[crossing]) - x[crossing]
        shorter = np.where(np.abs(room) < NEAR_LIMIT * s.unit[crossing], room, part * room)
        dx[crossing] = np.where(np.abs(step) > np.abs(room), shorter, step)


def cap(s: System, dx: Floats, most: float) -> float:
    """Scale the step so that no dof goes farther than ``most`` of its unit; returns how far the farthest goes."""
    share = np.abs(dx / s.unit)
    largest = float(share[share.argmax()]) if share.size else 0.0
    if largest > most:
        dx *= most / largest
    return min(largest, most)


def note_contacts(s: System, w: Work) -> None:
    """Find what is near in the pose that `residuals` was last called with: the step begins here."""
    c, near = w.contact, w.near
    count = find_near(s.contact, near, w.place, w.turn, float(s.contact.near[0]))
    c.rows[0] = count
    for mine, found in ((c.joints, near.joints), (c.p, near.p), (c.q, near.q), (c.n, near.n), (c.gap, near.gap)):
        mine[:count] = found[:count]


def _wrench(n: Floats, point: Floats) -> Floats:
    """(6, ...) of normals (..., 3) at points (..., 3): times a twist, it is the point's speed along its normal."""
    (x, y, z), (u, v, w) = point.T, n.T
    return np.array((y * w - z * v, z * u - x * w, x * v - y * u, u, v, w))


def find_rates(s: System, w: Work) -> None:
    """Put by how much the step ``w.contact.u`` opens each gap into ``w.contact.rate``."""
    c, count = w.contact, w.contact.rows[0]
    motion = (moved_by(s) * c.u).dot(c.twist)
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
    moved = moved_by(s)
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


def put_array(source: Floats, target: Floats) -> None:
    """Copy an array."""
    target[...] = source


def scale_row(values: Floats, factor: float) -> None:
    """Multiply by a number, in place."""
    values *= factor


def fill_row(values: Floats | Bools, value: float) -> None:
    """Set all of a row to one value."""
    values[...] = value


# --- the steps and the loop


STEPS: dict[str, Any] = {
    function.__name__: function
    for function in (
        add_row, cap, difference, drop_row, fill_row, find_rates, freeze, gram, less_pull, linearise, most_violated,
        move, push_step, residuals, scale_columns, scale_row, shorten, solve_active, solve_dual, spread_step,
        substitute, take_step,
    )
} | {"put_row": put_array, "put_table": put_array}  # fmt: skip
"""The steps of the loop in numpy; all others are the kernels' own source, not compiled."""

LOOPS = (levenberg_marquardt, levels, problems)
"""The modules whose functions each backend runs with steps of its own."""

_Minimise: TypeAlias = Callable[[System, Work, State, Settings], tuple[int, int, float]]


def _overflowing(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose overflows give infinity without a warning, as in compiled code."""

    def run(*arguments: object) -> object:
        with np.errstate(all="ignore"):
            return function(*arguments)

    return run


_twins = twins(LOOPS, STEPS)
begin = _twins["begin"]
"""`viewer.ik.problems.begin` with this backend's steps."""
minimise: _Minimise = _overflowing(_twins["minimise"])
"""`viewer.ik.levenberg_marquardt.minimise` with these steps."""
follow: _Minimise = _overflowing(_twins["follow"])
"""`viewer.ik.levels.follow` with these steps."""
_solve_batch = _overflowing(_twins["solve_batch"])


def solve_batch(buffers: Problems, settings: Settings, *, onward: bool) -> None:
    """`viewer.ik.problems.solve_batch` with this backend's steps, on the buffers' problems."""
    _solve_batch(*buffers.arrays, settings, buffers.one, onward)


__all__ = ["LOOPS", "STEPS", "begin", "follow", "minimise", "residuals", "solve_batch"]
