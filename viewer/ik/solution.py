"""The result of a solve."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from viewer.errors import plural
from viewer.ik.contact import Contact
from viewer.ik.contact.touching import Touch, contacts
from viewer.ik.findings import Reason
from viewer.ik.goals import ROW_KINDS
from viewer.ik.solver_options import INSIDE
from viewer.ik.system import System, joint_of_dof, near_limits
from viewer.notebook import png
from viewer.skeleton import Pose, Skeleton
from viewer.skeleton.pose import Reduced
from viewer.spatial.checks import Bools, Floats, Ints, handed_over


class Status(StrEnum):
    """Why a solve stopped."""

    CONVERGED = "converged"
    """Every goal is within its tolerance, but for holds that give way to goals of higher levels."""
    UNREACHABLE = "unreachable"
    """No pose meets the goals: geometry says so, wherever the solve stopped, or several restarts ended equally near.

    The pose is the nearest one found. Where geometry says so and the iterations were used up, it may not be at rest. A
    solve by another method than the default one that stopped in a pose other than the nearest has another status.
    """
    STALLED = "stalled"
    """No step gets nearer; a solve with restarts may."""
    DIVERGED = "diverged"
    """The error grew without bound; the last good pose is kept."""
    BUDGET = "budget"
    """The iterations were used up while it still got nearer."""


STATUS_OF_CODE = (Status.CONVERGED, Status.UNREACHABLE, Status.STALLED, Status.DIVERGED, Status.BUDGET)
"""In the order of `viewer.ik.levenberg_marquardt`'s CONVERGED .. BUDGET."""


_IN_METRES = np.array([kind.metres for kind in ROW_KINDS])
_IN_RADIANS = np.array([kind.radians for kind in ROW_KINDS])


class Found(Protocol):
    """Errors, contacts and limits of an answer: see `Findings`."""

    @property
    def skeleton(self) -> Skeleton:
        """The joints."""

    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals; NaN for a part that a goal does not have."""

    def met(self) -> tuple[int, int]:
        """How many goals are met, and of how many that ask for anything."""

    def yields(self) -> Bools:
        """(G,) whether a goal gives way."""

    def contacts(self, pose: Pose) -> list[Touch]:
        """What touches in the pose of the answer."""

    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate at one of its limits."""


class Findings:
    """Misses and limits of one answer, computed on first use.

    Attributes:
        skeleton: the joints.
        functions: |f| of the function goals, by their places in the list of goals.
    """

    def __init__(
        self,
        system: System,
        joints: Ints,
        goals: Ints,
        skeleton: Skeleton,
        count: int,
        found: Callable[[], tuple[Floats, Floats]],
        contact: Contact | None,
    ) -> None:
        """Keep the function that gives (G, 2) misses and (n,) coordinates on first use; see `Assembly`."""
        self._system, self._joints, self._goals, self.skeleton = system, joints, goals, skeleton
        self._count, self._found, self._contact = count, found, contact
        self.functions: dict[int, float] = {}
        self._errors: tuple[Floats, Floats] | None = None

    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals, read-only; NaN for a part that a goal does not have."""
        if self._errors is None:
            metres, degrees = spread_misses(self._system, self._goals, self._count, self._found()[0])
            if self.functions:
                metres[list(self.functions)] = list(self.functions.values())
            self._errors = handed_over(metres), handed_over(degrees)
        return self._errors

    def met(self) -> tuple[int, int]:
        """How many goals are within their tolerances, and of how many that ask for anything."""
        return self.met_of(*self.errors())

    def met_of(self, metres: Floats, degrees: Floats) -> tuple[int, int]:
        """`met` for errors of the goals."""
        asked = ~(np.isnan(metres) & np.isnan(degrees))
        return int(np.count_nonzero(asked & ~self.misses(metres, degrees))), int(np.count_nonzero(asked))

    def misses(self, metres: Floats, degrees: Floats) -> Bools:
        """(G,) whether errors are beyond the tolerances."""
        near = self._system.tolerance / INSIDE
        return np.asarray((metres > near[0]) | (degrees > np.degrees(near[1])))

    def yields(self) -> Bools:
        """(G,) whether a goal is missed whose level is below another one's."""
        below = np.zeros(self._count, dtype=np.bool_)
        below[self._goals] = self._system.goal_level < self._system.goal_level.max(initial=0)
        metres, degrees = self.errors()
        return below & self.misses(metres, degrees)

    def contacts(self, pose: Pose) -> list[Touch]:
        """What touches in the pose of the answer."""
        return contacts(self.skeleton, pose, self._contact) if self._contact else []

    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate at one of its limits."""
        system = self._system
        owners = dict.fromkeys(joint_of_dof(system)[near_limits(system, self._found()[1])].tolist())
        return tuple(self.skeleton.names[self._joints[k]] for k in owners)


def spread_misses(system: System, goals: Ints, count: int, miss: Floats) -> tuple[Floats, Floats]:
    """Misses (..., G, 2) of a system's goals as metres and degrees (..., count) in the order given; NaN: not asked."""
    metres, degrees = np.full((*miss.shape[:-2], count), np.nan), np.full((*miss.shape[:-2], count), np.nan)
    lengths, angles = _IN_METRES[system.goal_kind], _IN_RADIANS[system.goal_kind]
    metres[..., goals[lengths]] = miss[..., lengths, 0]
    degrees[..., goals[angles]] = np.degrees(miss[..., angles, 1])
    return metres, degrees


class Solution:
    """A pose and how well it meets the goals.

    Attributes:
        status: why the solve stopped.
        iterations: steps taken, restarts included.
        seconds: of wall-clock time.
        backend: "numpy" or "numba".
        method: the solver's name.
        unserved: goals that the method could not serve: their effectors, with kind or number where that is not enough;
            "preferred pose" where one is given and the method has no pull towards it, "levels" where goals have several
            and the method treats all goals as one level, "balance (nothing to stand on)" where that is so.
        start_outside: the start pose was outside its limits, or its joints' kinds do not allow it, and was projected
            first.
    """

    __slots__ = (
        "_explain", "_explained", "_of", "_pose", "_pose_of", "backend", "iterations", "method", "seconds",
        "start_outside", "status", "unserved",
    )  # fmt: skip

    _pose: Pose | None
    _explained: Explained | None

    def __init__(
        self,
        report: ReportFields,
        pose_of: Callable[..., Pose],
        explain: Callable[..., Explained],
        of: tuple[Any, ...],
    ) -> None:
        """Made by `viewer.ik.solver.Solver`.

        The pose is ``pose_of(*of)``, the findings and the diagnosis are ``explain(pose, *of)``: together they take
        longer than an easy solve.
        """
        self.status, self.iterations, self.seconds, self.backend, self.method, self.unserved, self.start_outside = (
            report
        )
        self._pose = self._explained = None
        self._pose_of, self._explain, self._of = pose_of, explain, of

    @property
    def pose(self) -> Pose:
        """The pose of the whole skeleton; joints that no goal depends on are as they were."""
        if self._pose is None:
            self._pose = self._pose_of(*self._of)
        return self._pose

    @property
    def _findings(self) -> Found:
        return self._known[0]

    @property
    def _known(self) -> Explained:
        """Made when they are first asked for."""
        if self._explained is None:
            self._explained = self._explain(self.pose, *self._of)
        return self._explained

    def __repr__(self) -> str:
        """How it ended, and how many goals are met."""
        met, asked = self._findings.met()
        steps = plural(self.iterations, "iteration")
        return f"<Solution: {self.status}, {met} of {plural(asked, 'goal')} met, {steps}>"

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the skeleton in the pose."""
        return png(self._findings.skeleton, self.pose)

    def __reduce__(self) -> Reduced:
        """Pickle and copy the solution with its findings and diagnosis, without the solver's arrays."""
        known = Known(
            self._findings.skeleton,
            *self._findings.errors(),
            self._findings.met(),
            self.yields,
            self.at_limit,
            self.contacts,
        )
        return _copied, (self.pose, self.report, known, self.reasons)

    def with_pose(self, pose: Pose) -> Solution:
        """The same solution with another pose, such as that of a skeleton that the solved one represents.

        Errors and diagnosis are still computed on first use.
        """
        return solution_of(self.report, pose, *self._known)

    @property
    def report(self) -> Report:
        """All fields but the pose."""
        return Report(
            self.status, self.iterations, self.seconds, self.backend, self.method, self.unserved, self.start_outside
        )

    @property
    def errors_m(self) -> Floats:
        """(G,) metres by which each goal is missed, in the given order; NaN where it has no length.

        Of a function goal the length of its residuals, in their own unit.
        """
        return self._findings.errors()[0]

    @property
    def errors_deg(self) -> Floats:
        """(G,) degrees by which each goal is missed; NaN where it has no angle."""
        return self._findings.errors()[1]

    @property
    def yields(self) -> Bools:
        """(G,) whether a goal gives way: it is missed, and its level is below that of another goal."""
        return self._findings.yields()

    @property
    def contacts(self) -> list[Touch]:
        """What the figure touches, deepest first, of what the solver's ``contact`` lets it touch."""
        return self._findings.contacts(self.pose)

    @property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints that are at one of their limits."""
        return self._findings.at_limit()

    @property
    def diagnosis(self) -> tuple[str, ...]:
        """Why goals are missed, a line each, computed on first use; empty where all are met."""
        return tuple(reason.text for reason in self.reasons)

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The lines of `diagnosis`, each with its cause and the goals that it is about."""
        return () if self.status is Status.CONVERGED else self._known[1]()


Diagnose: TypeAlias = Callable[[], tuple[Reason, ...]]
"""Finds why goals are missed."""
Explained: TypeAlias = tuple[Found, Diagnose]
"""The findings of a solution and its diagnosis."""
ReportFields: TypeAlias = tuple[Status, int, float, str, str, tuple[str, ...], bool]
"""Those of a `Report`: making one takes longer than the rest of a solution."""


def solution_of(report: ReportFields, pose: Pose, findings: Found, diagnose: Diagnose) -> Solution:
    """A solution whose parts are there already."""
    return Solution(report, lambda: pose, lambda _: (findings, diagnose), ())


class Report(NamedTuple):
    """The part of a `Solution` that is known when it is made."""

    status: Status
    iterations: int
    seconds: float
    backend: str
    method: str
    unserved: tuple[str, ...]
    start_outside: bool


class Known(NamedTuple):
    """The findings of a copy; see `Findings`."""

    skeleton: Skeleton
    metres: Floats
    degrees: Floats
    count_met: tuple[int, int]
    yielding: Bools
    limits: tuple[str, ...]
    touching: list[Touch]

    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals."""
        return self.metres.copy(), self.degrees.copy()

    def met(self) -> tuple[int, int]:
        """How many goals are within their tolerances, and of how many."""
        return self.count_met

    def yields(self) -> Bools:
        """(G,) whether a goal gives way."""
        return self.yielding.copy()

    def contacts(self, pose: Pose) -> list[Touch]:  # noqa: ARG002 - known already
        """What touches."""
        return list(self.touching)

    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints at a limit."""
        return self.limits


def _copied(pose: Pose, report: Report, known: Known, reasons: tuple[Reason, ...]) -> Solution:
    return solution_of(report, pose, known, partial(tuple, reasons))
