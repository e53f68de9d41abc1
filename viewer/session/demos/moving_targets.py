"""Targets that move by themselves: their paths as functions of time, and the ticks that follow them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

from viewer.document.document import Document
from viewer.document.goal import Item
from viewer.errors import ViewerError
from viewer.session.history import State
from viewer.session.ik_drag import IkDrag
from viewer.session.transport import Transport
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


class Animated(Transport):
    """A session whose targets can move by themselves.

    They wait while something is dragged, a slider is held or a clip is played, and go on from what that left.
    """

    def __init__(self, state: State) -> None:
        """Begin with none."""
        super().__init__(state)
        self._motions: tuple[Motion, ...] = ()
        self._running = False
        self._walk: IkDrag | None = None
        self._seconds, self._eased = 0.0, 0.0
        self._last: float | None = None
        self._beside: dict[str, Floats] = {}

    @property
    def motions(self) -> tuple[Motion, ...]:
        """The targets that move, or could if it were not paused."""
        return self._motions

    @property
    def animating(self) -> bool:
        """Whether targets move."""
        return self._running

    def animate(self, motions: tuple[Motion, ...]) -> None:
        """Let targets move from now on, from the beginnings of their ways; with none all stay.

        Raises:
            InputError: an effector that is not there.
        """
        for motion in motions:
            self.document.goal(motion.effector)
        self._motions, self._seconds, self._walk = tuple(motions), 0.0, None
        self._set_running(bool(motions))

    def pause(self) -> None:
        """Let the targets stay where they are."""
        self._set_running(False)

    def resume(self) -> None:
        """Let them go on."""
        self._set_running(bool(self._motions))

    def _set_running(self, running: bool) -> None:
        self._running, self._last = running, None
        self.revision += 1

    def tick(self, now: float) -> bool:
        """See `Transport.tick`."""
        busy = super().tick(now)
        return self._tick_motions(now) or busy

    def _tick_motions(self, now: float) -> bool:
        if not self._running or self._gesture is not None or self._blend is not None or self.playing:
            self._last = None
            return False
        step = 0.0 if self._last is None else min(max(now - self._last, 0.0), LONGEST_STEP)
        self._last = now
        self._seconds += step
        self._eased += step
        try:
            walk = self._walking()
            targets = {motion: self._target(motion) for motion in self._motions}
            walk.aim({Item("effector", motion.effector): (place, None) for motion, place in targets.items()})
            if not walk.pending:
                return self._eased < EASE
            walk.step(now, walk.start.solver.tick_iterations)
        except ViewerError:
            self.pause()  # it would be said again at every tick
            raise
        self._show(State(walk.document, walk.report))
        return True

    def _walking(self) -> IkDrag:
        """The drag that the body follows; a new one where something else has changed the document."""
        walk = self._walk
        if walk is None or not _is_same(walk.document, self.document):
            items = tuple(Item("effector", motion.effector) for motion in self._motions)
            self._walk = walk = IkDrag(self.document, items, None, self._solvers)
            walk.document = replace(walk.document, selection=self.document.selection)  # a person's, not ours
            goals = {name: walk.document.goal(name) for _, name in items}
            ways = {motion.effector: motion.path(self._seconds) for motion in self._motions}
            self._beside = {name: np.array(goal.position) - ways[name] for name, goal in goals.items()}
            self._eased = 0.0
        else:
            walk.document = self.document
        return walk

    def _target(self, motion: Motion) -> Floats:
        """(3,) on its way, or beside it still."""
        part = min(self._eased / EASE, 1.0)
        left = 1.0 - part * part * (3.0 - 2.0 * part)
        return np.asarray(motion.path(self._seconds) + left * self._beside[motion.effector])
