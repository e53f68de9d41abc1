"""When a body that follows a drag has come to rest: some methods turn in circles where a target is out of reach."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.ik.solution import Solution
    from viewer.skeleton.pose import Pose

_STILL, _STILL_TICKS = 1e-6, 3
"""Of a quaternion's component, or metres: a tick that moves less is still; it rests once so many in a row are."""
_BETTER, _PATIENCE = 1e-3, 60
"""The part by which errors must have become less within so many ticks; else it gets no nearer ..."""
_MOST = 600
"""... nor does it after so many ticks in all."""


@dataclass(slots=True)
class Rest:
    """Counts ticks since the targets were changed.

    Attributes:
        ticks: since then.
    """

    ticks: int = 0
    _still: int = _STILL_TICKS
    _least: float = inf
    _since: int = 0

    def disturb(self) -> None:
        """Targets, or what may move, are others now."""
        self.ticks, self._still, self._least, self._since = 0, 0, inf, 0

    def keep_going(self) -> None:
        """The pose shown is still on its way."""
        self._still = 0

    def note(self, poses: tuple[Pose, Pose] | None, solution: Solution) -> None:
        """Note a tick: the poses before and after it, None for the first, and what was solved."""
        error = float(np.nansum(solution.errors_m) + np.nansum(np.radians(solution.errors_deg)))
        self.count(np.inf if poses is None else _change(*poses), error)

    def count(self, change: float, error: float) -> None:
        """A tick.

        Args:
            change: of the pose, quaternion components or metres.
            error: of all goals together; infinite or NaN says nothing.
        """
        self.ticks += 1
        self._still = self._still + 1 if change < _STILL else 0
        self._since += 1
        if error < (1.0 - _BETTER) * self._least:
            self._least, self._since = error, 0

    @property
    def reached(self) -> bool:
        """Whether nothing moves any more, or nothing is gained by its moving."""
        return self._still >= _STILL_TICKS or self._since >= _PATIENCE or self.ticks >= _MOST


def _change(one: Pose, other: Pose) -> float:
    turned = float(np.abs(one.rotations - other.rotations).max())
    return max(turned, float(np.abs(one.translations - other.translations).max()))
