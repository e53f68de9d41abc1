"""Solver settings of a document, and the preferred pose."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

from viewer.errors import InputError, unknown_name
from viewer.ik.methods import DEFAULT_TUNING
from viewer.ik.solver_options import COMMON_NAMES, DEFAULT, DRAGGING, ONE_SHOT, CommonOptions, Options
from viewer.ik.system import Settings
from viewer.skeleton import Pose, Skeleton
from viewer.spatial.checks import as_flag, as_number, as_positive, whole

PREFERRED = ("start", "rest", "relaxed")
BENDS = {"up": 1, "down": -1}
"""Values of `viewer.ik.methods.Tuning.elbow` by word."""
_FLAGS = ("exact", "until_close", "numeric", "firm_holds")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSettings(CommonOptions):
    """Solver settings of a document, beside those of `CommonOptions`.

    Attributes:
        exact: whether poses that miss a goal are not shown ("exact or nothing").
        prefer: the pose to which joints are drawn where goals leave them free: "start" (where a drag begins), "rest" or
        "relaxed".
            Not for planar documents.
        prefer_weight: fraction of the way from the start to that pose, 0 to 1.
        until_close: whether each tick of a drag iterates until the goals are met, ``max_iterations`` at most, or makes
            ``iterations`` steps.
        iterations: steps of one tick while tracking.
        damping: lambda, squared in the equation; None: the method's default.
        step: fraction of each proposed step that is taken; None: all of it.
        step_cap_deg: most degrees that a joint rotates in one step; None: the method's default.
        truncation: of "pseudo-inverse": fraction of the largest singular value below which others count as 0;
            None: the default.
        numeric: whether the Jacobian is computed by finite differences.
        bend: of "two-link": "up" (the solution with the higher elbow) or "down"; None: either.
        firm_holds: whether holds only weigh less than the dragged goal, or give way to it wherever it could be met
        without them (`viewer.document.drag_goals.holds_yield`). Documents from before this choice have firm holds; new
        documents do not.
    """

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
    firm_holds: bool = True

    def __post_init__(self) -> None:
        whole(self.max_iterations, "max_iterations", least=1)
        whole(self.iterations, "iterations", least=1)
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
                as_positive(getattr(self, name), name)
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
            **{name: getattr(self, name) for name in COMMON_NAMES},
            limits=limits,
            preferred_weight=self.prefer_weight,
            settings=self._tuned(ONE_SHOT),
            tuning=tuning,
        )

    def preferred(self, skeleton: Skeleton) -> Pose | None:
        """The preferred pose; the same object for the same skeleton, as cached solvers are found by it."""
        return None if self.prefer == "start" else _pose_of(skeleton, self.prefer)

    def dragging(self, iterations: int) -> Settings:
        """Settings of one tick with this many iterations."""
        return self._tuned(DRAGGING)._replace(max_iterations=iterations)

    def _tuned(self, settings: Settings) -> Settings:
        if self.damping is not None:
            settings = settings._replace(damping=self.damping**2, damping_scale=0.0)
        if self.step_cap_deg is not None:
            settings = settings._replace(step_cap=math.radians(self.step_cap_deg))
        return settings

    @property
    def tick_iterations(self) -> int:
        """Iterations of one tick of a drag."""
        return self.max_iterations if self.until_close else self.iterations


@lru_cache(maxsize=16)
def _pose_of(skeleton: Skeleton, name: str) -> Pose:
    return skeleton.rest_pose() if name == "rest" else skeleton.relaxed_pose()


def prefers(settings: SolverSettings) -> bool:
    """Whether a preferred pose applies: only the default method has one."""
    return settings.prefer != "start" and settings.method == DEFAULT
