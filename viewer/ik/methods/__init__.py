"""The catalogue of methods, by name: what each can serve, and how it is run.

All work on the same systems, goals, limits and tolerances as the default algorithm, on numpy. A goal that a method
cannot serve is left unserved; the others are served.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from viewer.ik.goals import KINDS, ROW_KINDS, Kind, Measure
from viewer.ik.levenberg_marquardt import CONVERGED, DIVERGED, STALLED
from viewer.ik.methods import heuristic, jacobian_methods, limb
from viewer.ik.methods.common import Problem, Tuning, UserRows, Watch
from viewer.ik.methods.jacobian_methods import dls_settings
from viewer.ik.methods.mechanism import Mechanism, freed
from viewer.ik.system import Settings, State, System, Work

Solve: TypeAlias = Callable[[Problem], tuple[int, int]]
"Moves a problem's state; returns status and iterations."

ALL = frozenset(KINDS.values())
PLACES = frozenset(kind for kind in ALL if kind.sets_position)


def _in_shells(*measures: Measure) -> frozenset[Kind]:
    """The kinds all of whose rows have a shell or are of these measures."""
    return frozenset(kind for kind in ROW_KINDS if all(one.shell or one.measure in measures for one in kind.rows))


FITTED = _in_shells(Measure.ROTATION, Measure.DIRECTION)
"""The kinds that CCD fits together."""
LAID = frozenset(kind for kind in _in_shells(Measure.ROTATION) if kind.lengths)
"""The kinds that FABRIK lays bones to: rotations alone have no place."""
DEFAULT_TUNING = Tuning()


@dataclass(frozen=True, slots=True)
class Method:
    """A solving method.

    Attributes:
        name: what users call it.
        serves: the kinds of goals that it can meet.
        joints: (mechanism, goal) -> the joints that serve a goal; empty: it cannot be served. None: all joints.
        title: its name in the window.
        hint: a few words for menus and tooltips.
        takes: the settings that only some methods have, as `viewer.document.SolverSettings` calls them.
    """

    name: str
    serves: frozenset[Kind]
    solve: Solve
    joints: Callable[[Mechanism, int], Collection[int]] | None = None
    _: KW_ONLY
    title: str
    hint: str
    takes: frozenset[str]

    @property
    def has_jacobian(self) -> bool:
        """Whether it works on a Jacobian: it serves functions, whose rows are taken by differences, too."""
        return any(not kind.built_in for kind in self.serves)

    def left_out(self, s: System, w: Work, state: State, settings: Settings) -> list[int]:
        """Goals of kinds that the method serves, but without joints that could serve them; in a pose."""
        if self.joints is None:
            return []
        mechanism = Mechanism(freed(Problem.made(s, w, state, settings, None, DEFAULT_TUNING)))
        served = [ROW_KINDS[code] in self.serves for code in mechanism.kind]
        return [g for g, serves in enumerate(served) if serves and not self.joints(mechanism, g)]

    def run(
        self,
        s: System,
        w: Work,
        state: State,
        settings: Settings,
        *,
        extra: UserRows | None = None,
        tuning: Tuning = DEFAULT_TUNING,
        watch: Watch | None = None,
    ) -> tuple[int, int, float]:
        """Move ``state`` as `viewer.ik.levenberg_marquardt.minimise` does.

        With ``extra``, function goals, every joint takes part in ``s``; ``tuning``: the numbers of single methods;
        ``watch`` is called after every iteration, by methods that have any. Afterwards ``w`` holds the misses of the
        answer.

        Returns:
            Status as in `viewer.ik.levenberg_marquardt`, iterations, squared error of all rows.

        Raises:
            InputError: a function goal that gives no numbers.
        """
        served = extra if self.has_jacobian else None
        # Numbers that overflow become infinite, and that step is undone.
        with np.errstate(all="ignore"):
            problem = Problem.made(s, w, state, settings, served, tuning)._replace(watch=watch)
            status, iterations = self._solve(problem)
            if served is not extra:
                problem = Problem.made(s, w, state, settings, extra, tuning)
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


_STEPS = frozenset({"step_cap_deg"})
_ROWS = _STEPS | {"step", "numeric"}
"""Settings of methods that make many steps, and of those that compute a Jacobian."""

DEFAULT_METHOD = Method(
    "default", ALL, jacobian_methods.solve_default,
    title="Default", hint="damped, limits inside the solve", takes=_ROWS | {"damping"},
)  # fmt: skip
"""The default algorithm; its `run` is for function goals and numeric Jacobians."""
_OTHERS = (
    Method(
        "two-link", PLACES, limb.solve, limb.joints_of,
        title="Two-link", hint="closed form, limbs of two bones", takes=frozenset({"bend"}),
    ),
    Method(
        "single-bone", frozenset(ROW_KINDS[code] for code in limb.SERVED), limb.solve_single_bone,
        limb.pointed_joints, title="Single bone", hint="one joint rotates", takes=frozenset(),
    ),
    Method("ccd", FITTED, heuristic.solve_ccd, title="CCD", hint="joint by joint, from the tip", takes=_STEPS),
    Method(
        "ccd-from-base", FITTED, heuristic.solve_ccd_from_base,
        title="CCD from base", hint="joint by joint, from the base", takes=_STEPS,
    ),
    Method(
        "fabrik", LAID, heuristic.solve_fabrik,
        title="FABRIK", hint="points along the bones; may not converge under limits", takes=_STEPS,
    ),
    Method(
        "transpose", ALL, jacobian_methods.solve_by_transpose, title="Transpose", hint="slow but stable", takes=_ROWS
    ),
    Method(
        "pseudo-inverse", ALL, jacobian_methods.solve_by_pseudo_inverse,
        title="Pseudo-inverse", hint="undamped, by SVD", takes=_ROWS | {"truncation"},
    ),
    Method(
        "dls", ALL, jacobian_methods.solve_damped,
        title="Damped least squares", hint="fixed or automatic damping", takes=_ROWS | {"damping"},
    ),
    Method(
        "sdls", ALL, jacobian_methods.solve_selectively_damped,
        title="Selectively damped", hint="no damping to choose", takes=_ROWS,
    ),
)  # fmt: skip
METHODS = MappingProxyType({method.name: method for method in _OTHERS})
"""By name: all but the default algorithm."""
EVERY_METHOD = MappingProxyType({method.name: method for method in (DEFAULT_METHOD, *_OTHERS)})
"""By name, in the order of menus."""

__all__ = ["DEFAULT_METHOD", "EVERY_METHOD", "METHODS", "Method", "Tuning", "UserRows", "Watch", "dls_settings"]
