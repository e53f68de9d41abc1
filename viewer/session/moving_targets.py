"""Targets that move by themselves: their paths as functions of time, and the drag that follows them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

from viewer.document.document import Document
from viewer.document.goal import Item
from viewer.session.history import State
from viewer.session.ik_drag import IkDrag
from viewer.session.solving import Solvers
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


LONGEST_STEP = 0.05
"""Seconds that targets go on in one tick at most: after a pause of the program they do not leap."""
EASE = 0.8
"""Seconds in which a target that stands beside its way comes to it."""

_POSED = tuple(place.name for place in fields(Document) if place.name not in ("frame", "take"))
"""What a recording that goes on does not change."""


def _is_same(one: Document, other: Document) -> bool:
    return one is other or all(getattr(one, name) is getattr(other, name) for name in _POSED)


class MovingTargets:
    """Targets that move by themselves, and the drag by which the body follows them.

    They wait while something else moves the body, and go on from where that left it.

    Attributes:
        motions: the targets that move, or could if they were not paused.
        running: whether they move.
        seconds: how long they have moved.
    """

    def __init__(self, solvers: Solvers) -> None:
        """Begin with none."""
        self.motions: tuple[Motion, ...] = ()
        self.running = False
        self.seconds = 0.0
        self._solvers = solvers
        self._drag: IkDrag | None = None
        self._eased = 0.0
        self._last: float | None = None
        self._beside: dict[str, Floats] = {}

    def start(self, motions: tuple[Motion, ...], document: Document) -> None:
        """Let targets move from now on, from the beginnings of their ways; with none all stay.

        Raises:
            InputError: an effector that the document does not have.
        """
        for motion in motions:
            document.goal(motion.effector)
        self.motions, self.seconds, self._drag = tuple(motions), 0.0, None
        self.run(bool(motions))

    def run(self, running: bool) -> None:
        """Let them go on, if there are any, or pause."""
        self.running = running and bool(self.motions)
        self.wait()

    def wait(self) -> None:
        """Leave out the time until the next `step`."""
        self._last = None

    @property
    def easing(self) -> bool:
        """Whether targets that stood beside their ways are still on the way there."""
        return self._eased < EASE

    def step(self, now: float, document: Document) -> State | None:
        """The state after a bounded number of iterations towards where the targets are at ``now``; None: it rests.

        Raises:
            ViewerError: goals that cannot be solved.
        """
        passed = 0.0 if self._last is None else min(max(now - self._last, 0.0), LONGEST_STEP)
        self._last = now
        self.seconds += passed
        self._eased += passed
        drag = self._drag_from(document)
        places = {motion: self._place(motion) for motion in self.motions}
        drag.aim({Item("effector", motion.effector): (place, None) for motion, place in places.items()})
        if not drag.pending:
            return None
        drag.step(now, drag.start.solver.tick_iterations)
        return State(drag.document, drag.report)

    def _drag_from(self, document: Document) -> IkDrag:
        """The drag that the body follows; a new one where something else has changed the document."""
        drag = self._drag
        if drag is not None and _is_same(drag.document, document):
            drag.document = document
            return drag
        names = [motion.effector for motion in self.motions]
        drag = IkDrag(document, tuple(Item("effector", name) for name in names), None, self._solvers)
        drag.document = replace(drag.document, selection=document.selection)  # a person's, not ours
        ways = {motion.effector: motion.path(self.seconds) for motion in self.motions}
        self._beside = {name: np.array(drag.document.goal(name).position) - ways[name] for name in names}
        self._drag, self._eased = drag, 0.0
        return drag

    def _place(self, motion: Motion) -> Floats:
        """(3,) on its way, or beside it still."""
        part = min(self._eased / EASE, 1.0)
        left = 1.0 - part * part * (3.0 - 2.0 * part)
        return np.asarray(motion.path(self.seconds) + left * self._beside[motion.effector])
