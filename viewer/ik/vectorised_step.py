"""The numpy backend, last part: the Jacobian, the dual system and what limits do to a step.

Each freedom is a twist of the world: an angular velocity, and the velocity of what is at the origin. Each row of a goal
is a wrench: how it answers to these. The Jacobian is all their products at once, where the freedom is above the goal.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.vectorised_algebra import apply, cross, matrices, multiply, skew
from viewer.ik.vectorised_tables import Structure, joint_of_freedom, rows_of, tree_of
from viewer.spatial.quaternion import IDENTITY, rotate

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Bools, Floats, Ints

_AT_LIMIT = 1e-9
_NEAR_LIMIT = 1e-2


@dataclass(frozen=True, slots=True, eq=False)
class Axes:
    """Where each freedom's axis is fixed. K joints, n freedoms.

    Attributes:
        based: (B,) joints with axes in the frame before their own motion: parent times rest.
        joint: (n,) each freedom's joint.
        frame: (n,) the frame that its axis is fixed in: the joints' (K), the world's, the based joints' (B).
        axis: (n, 3) the axis in that frame; 0 where the coordinates have a say in it.
        straight: (N,) the freedoms that move along their axis; all others turn about it.
        middle, outer: (E,) each Euler joint's second freedom and its first.
        across, aside: (E, 3) its axis where the first angle is 0, and a quarter turn on.
        swings: (W, 2) swing-twist joints' swings.
        swing_axes: (W, 2, 3) the axes of their components.
    """

    based: Ints
    joint: Ints
    frame: Ints
    axis: Floats
    straight: Ints
    middle: Ints
    outer: Ints
    across: Floats
    aside: Floats
    swings: Ints
    swing_axes: Floats


@lru_cache(maxsize=8)
def _axes(key: Structure) -> Axes:
    s = key.system
    count, joint = len(s.parent), joint_of_freedom(s)
    form, place = s.form[joint], np.arange(len(joint)) - s.first[joint] - s.moves[joint]  # below 0: translations
    ordered = np.isin(form, (kernels.EULER, kernels.SWING_TWIST))
    fixed_before = (ordered & (place < 2)) | ((form == kernels.UNIVERSAL) & (place == 0)) | (form == kernels.SLIDE)
    based = np.unique(joint[fixed_before])
    frame = np.where(fixed_before, count + 1 + np.searchsorted(based, joint), joint)
    frame[place < 0] = count
    units, axis = np.eye(3), np.zeros((len(joint), 3))
    free = (place < 0) | (form == kernels.TURNS)
    axis[free] = units[place[free] % 3]
    turns = np.flatnonzero((place >= 0) & (form == kernels.TURNS))
    axis[turns] = rotate(s.basis[joint[turns]], axis[turns])
    axis[ordered] = units[s.order[joint[ordered], place[ordered]]]
    own = ~(free | ordered)
    axis[own] = s.axes[joint[own], place[own]]
    swing, middle = (
        np.flatnonzero(s.form == kernels.SWING_TWIST),
        np.flatnonzero((form == kernels.EULER) & (place == 1)),
    )
    order = s.order[joint[middle]]
    return Axes(
        based=based,
        joint=joint,
        frame=frame,
        axis=axis,
        straight=np.flatnonzero((place < 0) | (form == kernels.SLIDE)),
        middle=middle,
        outer=middle - 1,
        across=units[order[:, 1]],
        aside=np.cross(units[order[:, 0]], units[order[:, 1]]),
        swings=s.first[swing][:, None] + np.arange(2),
        swing_axes=units[s.order[swing, :2]],
    )


def linearise(s: System, w: Work, x: Floats) -> None:
    """Fill ``w.jacobian`` at the pose that `residuals` was last called with."""
    twist, wrench = _twists(s, w, x), _wrenches(s, w)
    reach = rows_of(s).reach
    w.jacobian[:, : reach.shape[1]] = (twist.T @ wrench) * reach


def _twists(s: System, w: Work, x: Floats) -> Floats:
    """(6, n) each freedom's angular velocity and the velocity of what is at the origin, scaled by its spread."""
    axes = _axes(Structure(s))
    turn = np.concatenate([w.turn.T, IDENTITY[:, None]], axis=1)
    before = multiply(turn.take(tree_of(s).parent[axes.based], axis=1), s.rest.T[:, axes.based])
    frames = matrices(np.concatenate([turn, before], axis=1))
    axis = apply(frames.take(axes.frame, axis=2), _local_axes(axes, x).T) * s.spread
    twist = np.concatenate([axis, cross(w.place.T.take(axes.joint, axis=1), axis)])
    twist[3:, axes.straight] = axis[:, axes.straight]
    twist[:3, axes.straight] = 0.0
    return twist


def _local_axes(axes: Axes, x: Floats) -> Floats:
    """(n, 3) the freedoms' axes in their frames."""
    local = axes.axis
    if axes.middle.size or axes.swings.size:
        local = local.copy()
    if axes.middle.size:
        angle = x[axes.outer][:, None]
        local[axes.middle] = np.cos(angle) * axes.across + np.sin(angle) * axes.aside
    if axes.swings.size:
        swing = np.einsum("wa,waj->wj", x[axes.swings], axes.swing_axes)
        local[axes.swings] = np.einsum("wij,waj->wai", _swing_jacobian(swing), axes.swing_axes)
    return local


def _swing_jacobian(v: Floats) -> Floats:
    """J_l(v) = I + (1 - cos a) / a^2 [v]x + (a - sin a) / a^3 [v]x^2, (W, 3, 3): see `kernels_step.swing_axis`."""
    square = np.einsum("wi,wi->w", v, v)
    a = np.sqrt(square)
    turned = a > 1e-4
    a, square = np.where(turned, a, 1.0), np.where(turned, square, 1.0)
    one = np.where(turned, (1.0 - np.cos(a)) / square, 0.5)[:, None, None]
    two = np.where(turned, (a - np.sin(a)) / (square * a), 1.0 / 6.0)[:, None, None]
    matrix = skew(v)
    return np.asarray(np.eye(3) + one * matrix + two * (matrix @ matrix))


def _wrenches(s: System, w: Work) -> Floats:
    """(6, m) how a row answers to an angular velocity and to the velocity of what is at the origin, weighted."""
    rows = rows_of(s)
    weight = np.where(rows.angular, s.goal_rotation_weight[rows.goal], s.goal_weight[rows.goal])
    force, turn = rows.axis.copy(), np.zeros_like(rows.axis)
    turn[rows.turned_rows] = w.by_turn[rows.turned]
    if rows.distant.size:
        force[rows.distant_rows] = w.by_move[rows.distant, 0]
    if rows.aimed.size:
        force[rows.aimed_rows], turn[rows.aimed_rows] = w.by_move[rows.aimed], w.by_turn[rows.aimed]
    turn += cross(w.point[rows.goal].T, force.T).T
    return np.concatenate([turn, force], axis=1).T * weight


def gram(s: System, w: Work) -> None:
    """J J^T into ``w.gram`` (m, m)."""
    np.matmul(w.jacobian.T, w.jacobian, out=w.gram)


def solve_dual(w: Work, e: Floats, damping: float, y: Floats) -> None:
    """Solve (J J^T + damping I) y = e; ``w.gram`` is kept, ``w.factor`` is overwritten."""
    w.factor[:] = w.gram
    np.einsum("ii->i", w.factor)[:] += damping
    try:
        y[:] = np.linalg.solve(w.factor, e)
    except np.linalg.LinAlgError:
        # Without damping, rows that no freedom answers to: the shortest solution is the limit of ever less damping.
        y[:] = np.linalg.lstsq(w.factor, e, rcond=None)[0]


def spread_step(s: System, w: Work, frozen: Bools, y: Floats, pull: Floats, dx: Floats) -> None:
    """Set dx = pull + S J^T y, what is held for frozen freedoms, and 0 for those that take no part."""
    dx[:] = np.where(frozen, w.held, np.where(s.spread == 0.0, 0.0, pull + s.spread * (w.jacobian @ y)))


def less_pull(s: System, w: Work, frozen: Bools, pull: Floats, e: Floats, out: Floats) -> None:
    """Set out = e - J pull: what is left to do for the goals when the pull, and frozen freedoms, have been followed."""
    out[:] = e
    wish = np.where(frozen, w.held, pull)
    if wish.any():
        out -= (wish / np.where(s.spread == 0.0, np.inf, s.spread)) @ w.jacobian


def freeze(s: System, w: Work, x: Floats, filling: bool) -> int:
    """Freeze the freedoms that stand at a limit and would leave it by ``w.step``; returns how many are new.

    With ``filling`` also those that only come to their limit on the way: they go as far as it.

    Their share is taken out of ``w.gram``.
    """
    leaving = np.flatnonzero(leaves_limits(s, w.step, x, filling) & ~w.frozen)
    if leaving.size:
        w.frozen[leaving] = True
        space = np.where(w.step[leaving] < 0.0, s.lower[leaving], s.upper[leaving]) - x[leaving]
        w.held[leaving] = space if filling else 0.0
        share = w.jacobian[leaving]
        np.subtract(w.gram, share.T @ share, out=w.gram)
    return len(leaving)


def leaves_limits(s: System, dx: Floats, x: Floats, crossing: bool = False) -> Bools:
    """(n,) whether a freedom stands at a limit (``crossing``: or comes to it) and would leave it by the step dx."""
    room = _AT_LIMIT * s.unit
    if crossing:
        room += np.abs(dx)
    return (dx < 0.0) & (x <= s.lower + room) | (dx > 0.0) & (x >= s.upper - room)


def shorten(s: System, dx: Floats, x: Floats, part: float) -> None:
    """Let a freedom that would cross its limit go only ``part`` of the way to it (all the way when it is near)."""
    room = np.where(dx > 0.0, s.upper, s.lower) - x
    crossing = np.flatnonzero(np.abs(dx) > np.abs(room))
    if crossing.size:
        room = room[crossing]
        dx[crossing] = np.where(np.abs(room) < _NEAR_LIMIT * s.unit[crossing], room, part * room)


def cap(s: System, dx: Floats, most: float) -> float:
    """Scale the step so that no freedom goes farther than ``most`` of its unit; returns how far the farthest goes."""
    largest = float(np.abs(dx / s.unit).max(initial=0.0))
    if largest > most:
        dx *= most / largest
    return min(largest, most)


def put_row(source: Floats, target: Floats) -> None:
    """Target = source."""
    np.copyto(target, source)


def put_table(source: Floats, target: Floats) -> None:
    """Target = source."""
    np.copyto(target, source)


def scale_row(values: Floats, factor: float) -> None:
    """Multiply by a number, in place."""
    values *= factor
