"""What the document says of the solver, and the preferred pose as the solver takes it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from viewer.document.checks import as_flag, as_number, as_weight
from viewer.errors import InputError, unknown_name
from viewer.ik.checks import check_count
from viewer.ik.methods import DEFAULT_TUNING
from viewer.ik.settings import DRAGGING, ONE_SHOT
from viewer.ik.solver_options import DEFAULT, Backend, MethodName, Options, RootMode
from viewer.ik.system import Settings
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton

PREFERRED = ("start", "rest", "relaxed")
BENDS = {"up": 1, "down": -1}
"""Where the elbow is to be, as `viewer.ik.methods.Tuning.elbow` has it."""
_FLAGS = ("restarts", "natural", "exact", "until_close", "numeric")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSettings:
    """How to solve; see `viewer.ik.solver_options.Options` for what is not described here.

    Attributes:
        method: the solver's name.
        backend: "auto", "numpy" or "numba".
        root: "free", "translate" or "locked".
        tolerance_m: metres.
        tolerance_deg: degrees.
        max_iterations: of one solve, and of one tick of a drag "until close".
        restarts: whether the escape from a trap may begin anew elsewhere.
        natural: whether joints move as readily as those of living things do.
        exact: whether a pose that misses a goal is not shown at all ("exact or nothing").
        prefer: the pose that what the goals leave free is drawn to: "start" (where a drag begins), "rest" or "relaxed".
            Not of planar documents.
        prefer_weight: how strongly: part of the way from the start to that pose, 0 to 1.
        until_close: whether each tick of a drag goes on until the goals are met, or makes ``iterations`` steps (track).
        iterations: steps of one tick while tracking.
        damping: lambda, which stands squared in the equation; None: the method's own.
        step: part of its proposal that a method goes; None: all of it.
        step_cap_deg: degrees that a joint turns in one step at most; None: the method's own.
        truncation: of "pseudo-inverse": part of the largest singular value below which others count as 0; None: its
            own.
        numeric: whether the Jacobian's rows are taken by finite differences.
        bend: of "two-link": "up" (of the ways that reach, that with the higher elbow) or "down"; None: no matter.
    """

    method: str = "default"
    backend: str = "auto"
    root: str = "free"
    tolerance_m: float = 1e-3
    tolerance_deg: float = 0.5
    max_iterations: int = 200
    restarts: bool = True
    natural: bool = True
    exact: bool = False
    prefer: str = "start"
    prefer_weight: float = 1.0
    until_close: bool = False
    iterations: int = 4
    damping: float | None = None
    step: float | None = None
    step_cap_deg: float | None = None
    truncation: float | None = None
    numeric: bool = False
    bend: str | None = None

    def __post_init__(self) -> None:
        """Check every setting.

        Raises:
            InputError: an unknown name (near ones are offered) or a number out of range.
        """
        check_count("max_iterations", self.max_iterations, least=1)
        check_count("iterations", self.iterations, least=1)
        for name in _FLAGS:
            as_flag(getattr(self, name), name)
        if self.prefer not in PREFERRED:
            raise InputError(unknown_name("preferred pose", str(self.prefer), PREFERRED))
        if self.bend is not None and self.bend not in BENDS:
            raise InputError(unknown_name("bend", str(self.bend), tuple(BENDS)))
        if self.truncation is not None:
            as_number(self.truncation, "truncation")
        for name in ("damping", "step", "step_cap_deg"):
            if getattr(self, name) is not None:
                as_weight(getattr(self, name), name)
        self.options(limits=True)

    def options(self, *, limits: bool) -> Options:
        """Options of a `Solver`."""
        tuning = replace(
            DEFAULT_TUNING,
            damping=self.damping,
            step=self.step or DEFAULT_TUNING.step,
            numeric=self.numeric,
            elbow=0 if self.bend is None else BENDS[self.bend],
        )
        if self.truncation is not None:
            tuning = replace(tuning, truncation=self.truncation)
        if self.step_cap_deg is not None:
            tuning = replace(tuning, most_turn=math.radians(self.step_cap_deg))
        return Options(
            method=cast(MethodName, self.method),  # the words are checked where they are used
            limits=limits,
            backend=cast(Backend, self.backend),
            root=cast(RootMode, self.root),
            tolerance_m=self.tolerance_m,
            tolerance_deg=self.tolerance_deg,
            max_iterations=self.max_iterations,
            restarts=self.restarts,
            natural=self.natural,
            preferred_weight=self.prefer_weight,
            settings=self._tuned(ONE_SHOT),
            tuning=tuning,
        )

    def preferred(self, skeleton: Skeleton) -> Pose | None:
        """The preferred pose; the same object for the same skeleton."""
        return None if self.prefer == "start" else _pose_of(skeleton, self.prefer)

    def dragging(self, iterations: int) -> Settings:
        """The recipe's numbers of one tick of so many steps."""
        return self._tuned(DRAGGING)._replace(max_iterations=iterations)

    def _tuned(self, settings: Settings) -> Settings:
        if self.damping is not None:
            settings = settings._replace(damping=self.damping**2, damping_scale=0.0)
        if self.step_cap_deg is not None:
            settings = settings._replace(step_cap=math.radians(self.step_cap_deg))
        return settings

    @property
    def tick_iterations(self) -> int:
        """Steps of one tick of a drag."""
        return self.max_iterations if self.until_close else self.iterations


@lru_cache(maxsize=16)
def _pose_of(skeleton: Skeleton, name: str) -> Pose:
    """One object: solvers are kept by it."""
    return skeleton.rest_pose() if name == "rest" else skeleton.relaxed_pose()


def prefers(settings: SolverSettings) -> bool:
    """Whether a solver with these settings is drawn to a pose: only the default method is."""
    return settings.prefer != "start" and settings.method == DEFAULT
