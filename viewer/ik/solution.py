"""What a solve reports."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.ik.workspace import Findings
    from viewer.skeleton.pose import Pose
    from viewer.spatial.checks import Floats


class Status(StrEnum):
    """Why a solve stopped."""

    CONVERGED = "converged"
    """Every goal is within its tolerance."""
    UNREACHABLE = "unreachable"
    """No pose meets the goals: geometry says so, wherever the solve stopped, or every restart ended as near.

    The pose is the nearest one found. Where geometry says so and the iterations were used up, it may not be at rest.
    """
    STALLED = "stalled"
    """It gets no nearer from here; a solve with restarts may."""
    DIVERGED = "diverged"
    """The error grew without bound; the last good pose is kept."""
    BUDGET = "budget"
    """Still on its way when its iterations were used up."""


STATUS_OF_CODE = (Status.CONVERGED, Status.UNREACHABLE, Status.STALLED, Status.DIVERGED, Status.BUDGET)
"""In the order of `viewer.ik.driver`'s CONVERGED .. BUDGET."""


class Solution:
    """A pose and how good it is.

    Attributes:
        pose: of the whole skeleton; joints that no goal depends on are as they were.
        status: why the solve stopped.
        iterations: steps taken, restarts included.
        seconds: of wall-clock time.
        backend: "numpy" or "numba".
        method: the solver's name.
        unserved: goals that the method could not serve: their effectors, with kind or number where that is not enough;
            and "preferred pose" where one is given and the method has no pull towards it.
        start_outside: the start pose was outside its limits, or stood as its joints' kinds cannot, and was brought
            inside first.
    """

    __slots__ = (
        "_diagnose", "_findings", "backend", "iterations", "method", "pose", "seconds", "start_outside", "status",
        "unserved",
    )  # fmt: skip

    def __init__(self, pose: Pose, report: Report, findings: Findings, diagnose: Callable[[], tuple[str, ...]]) -> None:
        """Made by `viewer.ik.solver.Solver`."""
        self.pose = pose
        self.status, self.iterations, self.seconds, self.backend, self.method, self.unserved, self.start_outside = (
            report
        )
        self._findings, self._diagnose = findings, diagnose

    @property
    def report(self) -> Report:
        """What is known besides the pose."""
        return Report(
            self.status, self.iterations, self.seconds, self.backend, self.method, self.unserved, self.start_outside
        )

    @property
    def errors_m(self) -> Floats:
        """(G,) metres that each goal misses by, in the order given; NaN where it asks for no place.

        Of a function goal the length of its residuals, in their own unit.
        """
        return self._findings.errors()[0]

    @property
    def errors_deg(self) -> Floats:
        """(G,) degrees that each goal misses by; NaN where it asks for no turn."""
        return self._findings.errors()[1]

    @property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints that stand at one of their limits."""
        return self._findings.at_limit()

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Why goals are missed, a line each, worked out when asked for; empty where all are met."""
        return () if self.status is Status.CONVERGED else self._diagnose()


class Report(NamedTuple):
    """The part of a `Solution` that is known when it is made."""

    status: Status
    iterations: int
    seconds: float
    backend: str
    method: str
    unserved: tuple[str, ...]
    start_outside: bool
