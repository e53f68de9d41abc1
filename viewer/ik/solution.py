"""The result of a solve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from viewer.errors import plural
from viewer.ik.contact import Contact
from viewer.ik.contact.volumes import Touch, contacts
from viewer.ik.findings import Reason
from viewer.ik.goals import ROW_KINDS
from viewer.ik.solver_options import INSIDE
from viewer.ik.system import System, joint_of_dof, near_limits
from viewer.notebook import png
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import Bools, Floats, Ints, Reduced, handed_over


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


@dataclass(frozen=True, eq=False)
class Findings:
    """Misses, limits and contacts of one answer, computed on first use.

    Attributes:
        tolerance: (2,) metres and radians within which a goal is met.
        below: (G,) whether a goal's level is below another one's.
        measured: () -> what ``errors`` are.
        limited: () -> what ``at_limit`` is.
        contacts: pose of the answer -> what touches in it.
    """

    skeleton: Skeleton
    tolerance: Floats
    below: Bools
    measured: Callable[[], tuple[Floats, Floats]]
    limited: Callable[[], tuple[str, ...]]
    contacts: Callable[[Pose], list[Touch]]

    @cached_property
    def errors(self) -> tuple[Floats, Floats]:
        """Metres and degrees (G,) of all goals, read-only; NaN for a part that a goal does not have."""
        metres, degrees = self.measured()
        return handed_over(metres), handed_over(degrees)

    @cached_property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints with a coordinate at one of its limits."""
        return self.limited()

    @property
    def missed(self) -> Bools:
        """(G,) whether a goal is beyond its tolerance."""
        metres, degrees = self.errors
        return np.asarray((metres > self.tolerance[0]) | (degrees > np.degrees(self.tolerance[1])))

    @property
    def met(self) -> tuple[int, int]:
        """How many goals are within their tolerances, and of how many that ask for anything."""
        asked = ~np.isnan(self.errors).all(axis=0)
        return int(np.count_nonzero(asked & ~self.missed)), int(np.count_nonzero(asked))


def findings_of(
    system: System,
    joints: Ints,
    goals: Ints,
    skeleton: Skeleton,
    count: int,
    found: Callable[[], tuple[Floats, Floats]],
    contact: Contact | None,
    functions: Mapping[int, float] = MappingProxyType({}),
) -> Findings:
    """The findings of a solve for ``count`` goals.

    ``joints`` and ``goals`` are as in `viewer.ik.assemble.Assembly`; ``found``: () -> misses (G', 2) of the system's
    goals, and coordinates (n,); ``functions``: |f| of the function goals, by their places in the list of goals.
    """

    def measured() -> tuple[Floats, Floats]:
        metres, degrees = spread_misses(system, goals, count, found()[0])
        metres[list(functions)] = list(functions.values())
        return metres, degrees

    def limited() -> tuple[str, ...]:
        owners = dict.fromkeys(joint_of_dof(system)[near_limits(system, found()[1])].tolist())
        return tuple(skeleton.names[joints[k]] for k in owners)

    def touching(pose: Pose) -> list[Touch]:
        return contacts(skeleton, pose, contact) if contact else []

    below = np.zeros(count, dtype=np.bool_)
    below[goals] = system.goal_level < system.goal_level.max(initial=0)
    return Findings(skeleton, system.tolerance / INSIDE, below, measured, limited, touching)


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
        "_explained", "_of", "_pose", "_source", "backend", "iterations", "method", "seconds", "start_outside",
        "status", "unserved",
    )  # fmt: skip

    _pose: Pose | None
    _explained: Explained | None

    def __init__(self, report: ReportFields, source: Source, of: tuple[Any, ...]) -> None:
        """Made by `viewer.ik.solver.Solver`.

        The pose is ``source.pose(*of)``, the findings and the diagnosis are ``source.explained(pose, *of)``: together
        they take longer than an easy solve.
        """
        self.status, self.iterations, self.seconds, self.backend, self.method, self.unserved, self.start_outside = (
            report
        )
        self._pose = self._explained = None
        self._source, self._of = source, of

    @property
    def pose(self) -> Pose:
        """The pose of the whole skeleton; joints that no goal depends on are as they were."""
        if self._pose is None:
            self._pose = self._source.pose(*self._of)
        return self._pose

    @property
    def _findings(self) -> Findings:
        return self._known[0]

    @property
    def _known(self) -> Explained:
        """Made when they are first asked for."""
        if self._explained is None:
            self._explained = self._source.explained(self.pose, *self._of)
        return self._explained

    def __repr__(self) -> str:
        met, asked = self._findings.met
        steps = plural(self.iterations, "iteration")
        return f"<Solution: {self.status}, {met} of {plural(asked, 'goal')} met, {steps}>"

    def _repr_png_(self) -> bytes | None:
        """The picture that notebooks show: the skeleton in the pose."""
        return png(self._findings.skeleton, self.pose)

    def __reduce__(self) -> Reduced:
        """Pickle and copy the solution with its findings and diagnosis, without the solver's arrays."""
        found = self._findings
        known = found.skeleton, found.tolerance, found.below, found.errors, found.at_limit, self.contacts
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
        return self._findings.errors[0]

    @property
    def errors_deg(self) -> Floats:
        """(G,) degrees by which each goal is missed; NaN where it has no angle."""
        return self._findings.errors[1]

    @property
    def yields(self) -> Bools:
        """(G,) whether a goal gives way: it is missed, and its level is below that of another goal."""
        return self._findings.below & self._findings.missed

    @property
    def contacts(self) -> list[Touch]:
        """What the figure touches, deepest first, of what the solver's ``contact`` lets it touch."""
        return self._findings.contacts(self.pose)

    @property
    def at_limit(self) -> tuple[str, ...]:
        """Names of the joints that are at one of their limits."""
        return self._findings.at_limit

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
Explained: TypeAlias = tuple[Findings, Diagnose]
"""The findings of a solution and its diagnosis."""
ReportFields: TypeAlias = tuple[Status, int, float, str, str, tuple[str, ...], bool]
"""Those of a `Report`: making one takes longer than the rest of a solution."""


class Source(Protocol):
    """Makes the parts of a solution when they are asked for."""

    def pose(self, *of: Any) -> Pose:  # noqa: ANN401 - whatever the source needs
        """The pose."""

    def explained(self, pose: Pose, *of: Any) -> Explained:  # noqa: ANN401
        """The findings and the diagnosis."""


class Parts:
    """The source of solutions whose parts are there already: pose, findings, diagnosis."""

    @staticmethod
    def pose(pose: Pose, *_: object) -> Pose:
        """The pose."""
        return pose

    @staticmethod
    def explained(_: Pose, __: Pose, findings: Findings, diagnose: Diagnose) -> Explained:
        """The findings and the diagnosis."""
        return findings, diagnose


def solution_of(report: ReportFields, pose: Pose, findings: Findings, diagnose: Diagnose) -> Solution:
    """A solution whose parts are there already."""
    return Solution(report, Parts, (pose, findings, diagnose))


class Report(NamedTuple):
    """The part of a `Solution` that is known when it is made."""

    status: Status
    iterations: int
    seconds: float
    backend: str
    method: str
    unserved: tuple[str, ...]
    start_outside: bool


def _copied(pose: Pose, report: Report, known: tuple[Any, ...], reasons: tuple[Reason, ...]) -> Solution:
    skeleton, tolerance, below, errors, limits, touching = known
    findings = Findings(skeleton, tolerance, below, lambda: errors, lambda: limits, lambda _: list(touching))
    return solution_of(report, pose, findings, lambda: reasons)
