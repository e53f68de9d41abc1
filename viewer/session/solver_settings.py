"""What the document says of the solver."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from viewer.ik.checks import check_count
from viewer.ik.methods import DEFAULT_TUNING
from viewer.ik.options import Options
from viewer.ik.settings import DRAGGING, ONE_SHOT
from viewer.session.checks import as_flag, as_weight

if TYPE_CHECKING:
    from viewer.ik.system import Settings

_FLAGS = ("restarts", "natural", "exact", "until_close")


@dataclass(frozen=True, slots=True, kw_only=True)
class SolverSettings:
    """How to solve; see `viewer.ik.options.Options` for what is not described here.

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
        until_close: whether each tick of a drag goes on until the goals are met, or makes ``iterations`` steps (track).
        iterations: steps of one tick while tracking.
        damping: lambda, which stands squared in the equation; None: the method's own.
        step: part of its proposal that a method goes; None: all of it.
        step_cap_deg: degrees that a joint turns in one step at most; None: the method's own.
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
    until_close: bool = False
    iterations: int = 4
    damping: float | None = None
    step: float | None = None
    step_cap_deg: float | None = None

    def __post_init__(self) -> None:
        """Check every setting.

        Raises:
            InputError: an unknown name (near ones are offered) or a number out of range.
        """
        check_count("max_iterations", self.max_iterations, least=1)
        check_count("iterations", self.iterations, least=1)
        for name in _FLAGS:
            as_flag(getattr(self, name), name)
        for name in ("damping", "step", "step_cap_deg"):
            if getattr(self, name) is not None:
                as_weight(getattr(self, name), name)
        self.options(limits=True)

    def options(self, *, limits: bool) -> Options:
        """What a `Solver` is told."""
        tuning = replace(DEFAULT_TUNING, damping=self.damping, step=self.step or DEFAULT_TUNING.step)
        if self.step_cap_deg is not None:
            tuning = replace(tuning, most_turn=math.radians(self.step_cap_deg))
        return Options(
            method=self.method,
            limits=limits,
            backend=self.backend,
            root=self.root,
            tolerance_m=self.tolerance_m,
            tolerance_deg=self.tolerance_deg,
            max_iterations=self.max_iterations,
            restarts=self.restarts,
            natural=self.natural,
            settings=self._tuned(ONE_SHOT),
            tuning=tuning,
        )

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
