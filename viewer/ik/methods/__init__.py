"""The catalogue of methods, by name: what each can serve, and how it is run.

All work on the same systems, goals, limits and tolerances as the default algorithm, on numpy. A goal that a method
cannot serve is left unserved; the others are served.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from viewer.ik.goals import KINDS, ROW_KINDS, Kind, Measure
from viewer.ik.levenberg_marquardt import CONVERGED, DIVERGED, STALLED
from viewer.ik.methods import ccd, fabrik, jacobian_methods, limb, single_bone
from viewer.ik.methods.common import Problem, Tuning, Watch
from viewer.ik.methods.jacobian_methods import dls_settings
from viewer.ik.methods.limb import freed
from viewer.ik.methods.mechanism import Mechanism
from viewer.ik.methods.numeric import UserRows
from viewer.ik.system import Settings, State, System, Work

Solve: TypeAlias = Callable[[Problem], tuple[int, int]]
"Moves a problem's state; returns status and iterations."

ALL = frozenset(KINDS.values())
_FITTED = {Measure.POINT, Measure.DISTANCE, Measure.ROTATION, Measure.DIRECTION}
"""Measures that `viewer.ik.methods.ccd` fits together."""
FITTED = frozenset(kind for kind in ALL if kind.rows and kind.measures <= _FITTED)
PLACES = frozenset(kind for kind in ALL if kind.places)
DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class Method:
    """A solving method.

    Attributes:
        name: what users call it.
        serves: the kinds of goals that it can meet.
        solve: the method itself.
        joints: (mechanism, goal) -> the joints that serve a goal; empty: it cannot be served. None: all joints.
    """

    name: str
    serves: frozenset[Kind]
    solve: Solve
    joints: Callable[[Mechanism, int], Collection[int]] | None = None

    @property
    def differences(self) -> bool:
        """Whether it serves goals whose rows are taken by differences: functions."""
        return any(not kind.built_in for kind in self.serves)

    def left_out(self, s: System, w: Work, states: tuple[State, ...], settings: Settings) -> list[int]:
        """Goals of kinds that the method serves, but without joints that could serve them; in the pose ``states[0]``.

        Args:
            s: the system.
            w: scratch.
            states: as `run` takes them: state, trial, best, anchor.
            settings: the numbers that all methods share.
        """
        if self.joints is None:
            return []
        mechanism = Mechanism(freed(Problem.made(s, w, states, settings, None, DEFAULT_TUNING)))
        served = [ROW_KINDS[code] in self.serves for code in mechanism.kind]
        return [g for g, serves in enumerate(served) if serves and not self.joints(mechanism, g)]

    def run(
        self,
        s: System,
        w: Work,
        state: State,
        trial: State,
        best: State,
        anchor: State,
        settings: Settings,
        *,
        extra: UserRows | None = None,
        tuning: Tuning = DEFAULT_TUNING,
        watch: Watch | None = None,
    ) -> tuple[int, int, float]:
        """Move ``state`` as `viewer.ik.levenberg_marquardt.minimise` does.

        Args:
            s: the system; with ``extra`` every joint takes part in it.
            w: scratch; afterwards it holds the misses of the answer.
            state: where to start, inside its limits; afterwards the answer.
            trial: scratch.
            best: scratch.
            anchor: the pose that the solve, or the drag, began with.
            settings: the numbers that all methods share.
            extra: function goals.
            tuning: the numbers of single methods.
            watch: called after every iteration, by methods that have any.

        Returns:
            Status as in `viewer.ik.levenberg_marquardt`, iterations, squared error of all rows.

        Raises:
            InputError: a function goal that gives no numbers.
        """
        served = extra if self.differences else None
        # Numbers that overflow become infinite, and that step is undone.
        with np.errstate(all="ignore"):
            states = (state, trial, best, anchor)
            problem = Problem.made(s, w, states, settings, served, tuning)._replace(watch=watch)
            status, iterations = self._solve(problem)
            if served is not extra:
                problem = Problem.made(s, w, states, settings, extra, tuning)
            error, worst = problem._replace(s=s).evaluate(problem.state)
        state.e[:] = problem.state.e[: len(state.e)]
        # A goal that the method does not serve may still be missed.
        return (STALLED if status == CONVERGED and worst > 1.0 else status), iterations, error

    def _solve(self, problem: Problem) -> tuple[int, int]:
        """The method's answer; the pose at the start where its numbers leave the range of floats."""
        state = problem.state
        start = [part.copy() for part in (state.x, state.q, state.t)]
        error, _ = problem.evaluate(state)
        if not math.isfinite(error):
            return DIVERGED, 0
        status, iterations = self.solve(problem)
        if not all(np.isfinite(part).all() for part in (state.x, state.q, state.t)):
            state.x[:], state.q[:], state.t[:] = start
            status = DIVERGED
        return status, iterations


METHODS = MappingProxyType(
    {
        method.name: method
        for method in (
            Method("two-link", PLACES, limb.solve, limb.joints_of),
            Method(
                "single-bone",
                frozenset(ROW_KINDS[code] for code in single_bone.SERVED),
                single_bone.solve,
                single_bone.joints_of,
            ),
            Method("ccd", FITTED, ccd.solve),
            Method("ccd-from-base", FITTED, ccd.solve_from_base),
            Method("fabrik", PLACES, fabrik.solve),
            Method("transpose", ALL, jacobian_methods.solve_by_transpose),
            Method("pseudo-inverse", ALL, jacobian_methods.solve_by_pseudo_inverse),
            Method("dls", ALL, jacobian_methods.solve_damped),
            Method("sdls", ALL, jacobian_methods.solve_selectively_damped),
        )
    }
)
"""By name: all but the default algorithm."""

run_default = Method("default", ALL, jacobian_methods.solve_default).run
"""The default algorithm with rows of any kind: for function goals and numeric Jacobians."""

__all__ = ["METHODS", "Method", "Tuning", "UserRows", "Watch", "dls_settings", "run_default"]
