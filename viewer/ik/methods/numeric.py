"""Derivatives by central differences, and the user's goal functions.

Row d of the transposed Jacobian is spread_d * (e(x - h) - e(x + h)) / 2h, with e = target - current, so that it agrees
with the analytic rows (J is the derivative of "current"). The error is h^2 / 6 times the third derivative, and rounding
adds about 1e-16 / h: both are below 1e-10 per unit of e at the h taken here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

import numpy as np

from viewer.errors import InputError
from viewer.ik.goals import Goal
from viewer.ik.system import State, System, Work
from viewer.ik.vectorised.joint_arrays import move
from viewer.skeleton import Skeleton, World, fk_arrays
from viewer.skeleton.tree import depth_first
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate

Residuals: TypeAlias = Callable[[Ints, Floats, Floats], Floats]
"(owner (n,), rotations (n, 4), translations (n, 3)) -> e (n, k): the rows with joint owner[d] moved to there."

STEP = 6e-6
"""h, radians or units of length: about the cube root of the machine's precision."""
_FAR = 1e6
"""Replaces a residual that is not finite: large enough that the step is undone."""


def central_differences(s: System, w: Work, state: State, residuals: Residuals) -> Floats:
    """(n, k) rows of the transposed Jacobian, scaled by the dofs' spreads, at the pose of ``state``."""
    plus = residuals(*_perturbed(s, w, state, STEP))
    minus = residuals(*_perturbed(s, w, state, -STEP))
    result = (minus - plus) * (s.spread / (2.0 * STEP * s.unit))[:, None]
    # Where a user's function has no value on one side, it gives no direction.
    result[(np.abs(plus) >= _FAR) | (np.abs(minus) >= _FAR)] = 0.0
    return np.asarray(result)


def _perturbed(s: System, w: Work, state: State, h: float) -> tuple[Ints, Floats, Floats]:
    """For every dof: its joint (n,), and the local rotation (n, 4) and translation (n, 3) with it moved by h."""
    counts = np.diff(s.first)
    owner = np.repeat(np.arange(len(counts)), counts)
    place = np.arange(len(owner)) - s.first[owner]
    turns, moves = state.q[owner], state.t[owner]
    # A difference needs both sides of a limit, too.
    free = s._replace(lower=np.full_like(s.lower, -np.inf), upper=np.full_like(s.upper, np.inf))
    # Joints' own motions do not depend on each other: one move does the first dof of all of them, and so on.
    for i in range(int(place.max(initial=-1)) + 1):
        some = np.flatnonzero(place == i)
        step = np.zeros(len(owner))
        step[some] = h * s.unit[some]
        x, q, t = state.x.copy(), state.q.copy(), state.t.copy()
        move(free, w, step, x, q, t)
        turns[some], moves[some] = q[owner[some]], t[owner[some]]
    return owner, turns, moves


class UserRows:
    """The rows of function goals, for solves in whose system every joint of the skeleton takes part.

    The rows of residuals f are e = -weight * f: target (zero) minus current. It is met when |f| is at most the
    solve's tolerance in metres.
    """

    def __init__(self, skeleton: Skeleton, goals: Sequence[Goal], unit: float = 1.0) -> None:
        """Take the goals that are functions and enabled; ``unit`` that their weights are measured in."""
        self._skeleton = skeleton
        self._goals = [
            (goal.residuals, goal.weight / unit) for goal in goals if goal.enabled and goal.residuals is not None
        ]
        self._joints = np.array(depth_first(skeleton), dtype=np.intp)
        self._sizes: list[int] = []

    def begin(self, state: State) -> list[int]:
        """How many residuals each function gives; they must stay as many during a solve.

        Raises:
            InputError: residuals that are not finite numbers at the pose where the solve begins.
        """
        self._sizes = []
        world = self._world(state.q, state.t)
        values = [_residuals(function(world)) for function, _ in self._goals]
        for value in values:
            if not np.isfinite(value).all():
                raise InputError(
                    f"function goal: expected finite residuals at the start pose, found {value[~np.isfinite(value)][0]}"
                )
        self._sizes = [len(value) for value in values]
        return self._sizes

    def evaluate(self, q: Floats, t: Floats) -> tuple[Floats, float]:
        """Rows e (k,) at a pose of the system, and the largest |f| of a goal."""
        rows = self._rows(self._world(q, t))
        return rows, max(self._lengths(rows), default=0.0)

    def lengths(self, q: Floats, t: Floats) -> list[float]:
        """|f| of every function at a pose of the system."""
        return self._lengths(self._rows(self._world(q, t)))

    def _lengths(self, rows: Floats) -> list[float]:
        parts = np.split(rows, np.cumsum(self._sizes)[:-1])
        return [float(np.linalg.norm(part)) / weight for part, (_, weight) in zip(parts, self._goals, strict=True)]

    def differences(self, s: System, w: Work, state: State) -> Floats:
        """(n, k) as `central_differences`."""
        world, sizes = self._world(state.q, state.t), _subtree_sizes(s.parent)

        def residuals(owner: Ints, turns: Floats, moves: Floats) -> Floats:
            rows = np.empty((len(owner), sum(self._sizes)))
            for d, moved in enumerate(self._moved(world, s.parent, sizes, owner, turns, moves)):
                rows[d] = self._rows(moved)
            return rows

        return central_differences(s, w, state, residuals)

    def _world(self, q: Floats, t: Floats) -> World:
        """World motion of a pose (K, 4), (K, 3) of the system, with the joints in the skeleton's order."""
        rotations, translations = np.empty_like(q), np.empty_like(t)
        rotations[self._joints], translations[self._joints] = q, t
        world = fk_arrays(self._skeleton.parents, rotations[None], translations[None])
        return World(world.positions[0], world.rotations[0])

    def _moved(
        self, world: World, parent: Ints, sizes: Ints, owner: Ints, turns: Floats, moves: Floats
    ) -> Iterator[World]:
        """For each dof the world with joint ``owner`` of the system at another local rotation and translation.

        Joints below it move along as one rigid body, and follow it in the order.
        """
        above = np.where(parent[owner] < 0, -1, self._joints[parent[owner]])
        places = np.where((above < 0)[:, None], 0.0, world.positions[above])
        frames = np.where((above < 0)[:, None], IDENTITY, world.rotations[above])
        here = self._joints[owner]
        to = places + rotate(frames, moves)
        change = multiply(multiply(frames, turns), conjugate(world.rotations[here]))
        for d, k in enumerate(owner.tolist()):
            below = self._joints[k : k + sizes[k]]
            positions, rotations = world.positions.copy(), world.rotations.copy()
            positions[below] = to[d] + rotate(change[d], positions[below] - world.positions[here[d]])
            rotations[below] = multiply(change[d], rotations[below])
            yield World(positions, rotations)

    def _rows(self, world: World) -> Floats:
        parts = [np.zeros(0)]
        for size, (function, weight) in zip(self._sizes, self._goals, strict=True):
            value = _residuals(function(world))
            if len(value) != size:
                raise InputError(f"function goal: expected {size} residuals as at the start pose, found {len(value)}")
            parts.append(np.where(np.isfinite(value), -weight * np.where(np.isfinite(value), value, 0.0), _FAR))
        return np.clip(np.concatenate(parts), -_FAR, _FAR)


def _subtree_sizes(parent: Ints) -> Ints:
    """(K,) joints at and below each one of a system."""
    sizes = np.ones(len(parent), dtype=np.intp)
    for k in range(len(parent) - 1, -1, -1):
        if parent[k] >= 0:
            sizes[parent[k]] += sizes[k]
    return sizes


def _residuals(value: object) -> Floats:
    """The values (k,) of a user's function, checked.

    Raises:
        InputError: not a list of numbers.
    """
    try:
        array = np.asarray(value)
    except (TypeError, ValueError, OverflowError) as error:  # ragged, or no array at all
        raise InputError("function goal: expected residuals of shape (any,), found no array of numbers") from error
    if array.dtype.kind not in "biuf" or array.ndim > 1:
        raise InputError(f"function goal: expected residuals of shape (any,), found {array.dtype} of {array.shape}")
    return np.atleast_1d(array.astype(np.float64))
