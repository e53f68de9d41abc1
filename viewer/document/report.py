"""What is said of the last solve, each part worked out when it is first asked for."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from viewer.ik.solution import Solution, Status
from viewer.spatial.checks import Floats

MOST_STEPS = 400
"""Steps that the convergence plot shows."""


class GoalError(NamedTuple):
    """By how much a goal is missed.

    Attributes:
        metres: None where it asks for no place.
        degrees: None where it asks for no turn.
        reached: both within the tolerances.
    """

    metres: float | None
    degrees: float | None
    reached: bool


@dataclass(slots=True)
class Trace:
    """Errors after each step of a solve that is made in steps; the oldest are forgotten.

    Attributes:
        steps: (iterations so far, metres (G,), degrees (G,)); NaN for what a goal does not ask.
        iterations, seconds: so far.
    """

    steps: deque[tuple[int, Floats, Floats]] = field(default_factory=lambda: deque(maxlen=MOST_STEPS))
    iterations: int = 0
    seconds: float = 0.0

    def add(self, solution: Solution) -> None:
        """Note a step."""
        self.iterations += solution.iterations
        self.seconds += solution.seconds
        self.steps.append((self.iterations, solution.errors_m, solution.errors_deg))


class Report:
    """The last solve.

    Attributes:
        status: why it stopped.
        iterations: steps taken by the last tick of a drag, else by the whole solve.
        seconds: of wall-clock time that they took.
        backend: "numpy" or "numba".
        method: the solver's name.
        unserved: effectors whose goals the method cannot serve.
    """

    def __init__(
        self,
        solution: Solution,
        names: Sequence[str],
        tolerances: tuple[float, float],
        trace: Trace,
        *,
        whole: bool = True,
    ) -> None:
        """Take what was solved.

        Args:
            solution: of the last step.
            names: of its goals.
            tolerances: metres and degrees.
            trace: of all steps.
            whole: whether the steps together are one solve; else each is a tick of a drag, which leaves no time to ask
                why goals are missed.
        """
        self.status, self.backend, self.method = solution.status, solution.backend, solution.method
        self.iterations = trace.iterations if whole else solution.iterations
        self.seconds = trace.seconds if whole else solution.seconds
        self.unserved = solution.unserved
        self._solution, self._names, self._tolerances, self._trace = solution, tuple(names), tolerances, trace
        self._whole = whole

    @property
    def converged(self) -> bool:
        """Whether every goal is met."""
        return self.status is Status.CONVERGED

    @cached_property
    def errors(self) -> dict[str, GoalError]:
        """By the goal's id; a joint that is dragged stands here by its own name."""
        return goal_errors(self._names, self._solution.errors_m, self._solution.errors_deg, self._tolerances)

    @cached_property
    def yields(self) -> frozenset[str]:
        """Ids of the goals that give way to goals of higher levels."""
        pairs = zip(self._names, self._solution.yields.tolist(), strict=True)
        return frozenset(name for name, gives_way in pairs if gives_way)

    @cached_property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints that stand at a limit."""
        return self._solution.at_limit

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Why goals are missed, a line each; nothing during a drag. The first time it may take tens of milliseconds."""
        return self._diagnosis if self._whole else ()

    @cached_property
    def _diagnosis(self) -> tuple[str, ...]:
        return self._solution.diagnosis

    @cached_property
    def steps(self) -> tuple[int, ...]:
        """Iterations done when each of `errors_by_iteration` was noted."""
        return tuple(step[0] for step in self._trace.steps)

    @cached_property
    def errors_by_iteration(self) -> dict[str, tuple[float, ...]]:
        """By goal its error after each step: metres, or radians of goals that ask for a turn alone."""
        lines: dict[str, tuple[float, ...]] = {}
        for place, name in enumerate(self._names):
            pairs = [(float(step[1][place]), float(step[2][place])) for step in self._trace.steps]
            lines[name] = tuple(math.radians(b) if math.isnan(a) else a for a, b in pairs)
        return lines

    def whole(self) -> Report:
        """All steps so far as one solve: what is said when a drag is over."""
        return self if self._whole else Report(self._solution, self._names, self._tolerances, self._trace)


class StillReport(Report):
    """Said where nothing had to be solved: every goal was met."""

    def __init__(self, errors: dict[str, GoalError], at_limit: tuple[str, ...], method: str, backend: str) -> None:
        """Take what was measured."""
        self.status, self.backend, self.method = Status.CONVERGED, backend, method
        self.iterations, self.seconds, self.unserved = 0, 0.0, ()
        self.__dict__ |= {
            "errors": errors,
            "yields": frozenset(),
            "at_limit": at_limit,
            "errors_by_iteration": {},
            "steps": (),
            "_diagnosis": (),
        }
        self._whole = True


def goal_errors(
    names: Sequence[str], metres: Floats, degrees: Floats, tolerances: tuple[float, float]
) -> dict[str, GoalError]:
    """By name of the goal how far it is missed; NaN is what it does not ask."""
    found: dict[str, GoalError] = {}
    for name, m, deg in zip(names, metres.tolist(), degrees.tolist(), strict=True):
        far = m > tolerances[0] or deg > tolerances[1]  # NaN compares as false
        found[name] = GoalError(None if math.isnan(m) else m, None if math.isnan(deg) else deg, not far)
    return found
