"""Ways that targets go: places as functions of time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.spatial.checks import Floats

Triple = tuple[float, float, float]


class Path(Protocol):
    """Where something is at a time, in seconds; continuous, so that nothing on it ever jumps."""

    @property
    def period(self) -> float:
        """Seconds after which it begins anew; 0: it does not, and there is no way to show."""

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """Round and round on an ellipse.

    Attributes:
        centre: metres.
        first: from the centre to where it begins.
        second: from the centre to where it is a quarter of a turn later.
        period: seconds of a turn.
    """

    centre: Triple
    first: Triple
    second: Triple
    period: float = 6.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        return np.array(self.centre) + math.cos(angle) * np.array(self.first) + math.sin(angle) * np.array(self.second)


@dataclass(frozen=True, slots=True)
class FigureEight:
    """A figure of eight, lying: it begins in the middle.

    Attributes:
        centre: metres.
        first: from the middle to the end of a loop.
        second: from the middle line to the top of a loop.
        period: seconds of both loops.
    """

    centre: Triple
    first: Triple
    second: Triple
    period: float = 8.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        along, up = math.sin(angle), math.sin(2.0 * angle)
        return np.array(self.centre) + along * np.array(self.first) + up * np.array(self.second)


@dataclass(frozen=True, slots=True)
class Chase:
    """On the trail of something else: where that was a while ago.

    Attributes:
        prey: what it runs after.
        late: seconds that it is behind.
        aside: metres from the trail.
    """

    prey: Path
    late: float
    aside: Triple = (0.0, 0.0, 0.0)

    @property
    def period(self) -> float:
        """That of the prey."""
        return self.prey.period

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return np.asarray(self.prey(seconds - self.late) + np.array(self.aside))


@dataclass(frozen=True, slots=True)
class Made:
    """Any function of time."""

    place: Callable[[float], Floats]
    period: float

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return self.place(seconds)


class Pointer:
    """Where a pointer is: it stays where it was put last."""

    period = 0.0

    def __init__(self, place: Floats) -> None:
        """Begin at a place (3,)."""
        self.place = place

    def __call__(self, seconds: float) -> Floats:  # noqa: ARG002 - a path's
        """(3,) metres, world frame."""
        return self.place


@dataclass(frozen=True, slots=True)
class Motion:
    """A target that moves.

    Attributes:
        effector: whose.
        path: the way it goes.
        shown: whether the way is drawn.
    """

    effector: str
    path: Path
    shown: bool = True
