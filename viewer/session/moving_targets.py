"""Targets that move by themselves: paths as functions of time, and the drag that follows them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Protocol

import numpy as np

from viewer.document import Document, Item
from viewer.document.document import shares
from viewer.errors import ViewerError
from viewer.session.figures import Stage, State
from viewer.session.ik_drag import IkDrag
from viewer.session.solving import Solvers
from viewer.spatial.checks import Floats, Vector

LONGEST_STEP = 0.05
"""Seconds that targets advance in one tick at most: after a pause of the program they do not jump."""
EASE = 0.8
"""Seconds in which a target that is off its path returns to it."""

_COMPARED = tuple(field.name for field in fields(Document) if field.name not in ("frame", "take"))
"""Fields whose change means that something else has changed the document; a recording changes the others."""


class Path(Protocol):
    """A position as a continuous function of time in seconds."""

    @property
    def period(self) -> float:
        """Seconds of one cycle; 0: no cycle, and no path is drawn."""

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""


@dataclass(frozen=True, slots=True)
class Orbit:
    """An ellipse.

    Vectors from the centre, metres, lead to the start (``first``) and to the point a quarter of a cycle later
    (``second``); the period is in seconds.
    """

    centre: Vector
    first: Vector
    second: Vector
    period: float = 6.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        return np.array(self.centre) + math.cos(angle) * np.array(self.first) + math.sin(angle) * np.array(self.second)


@dataclass(frozen=True, slots=True)
class FigureEight:
    """A horizontal figure of eight that starts in the middle.

    Vectors, metres, lead from the middle to the end of a loop (``first``) and from the middle line to its top
    (``second``); the period is in seconds.
    """

    centre: Vector
    first: Vector
    second: Vector
    period: float = 8.0

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        angle = math.tau * seconds / self.period
        along, up = math.sin(angle), math.sin(2.0 * angle)
        return np.array(self.centre) + along * np.array(self.first) + up * np.array(self.second)


@dataclass(frozen=True, slots=True)
class Chase:
    """Follows another path with a delay.

    ``prey`` is the path, ``late`` the delay in seconds, ``aside`` an offset from that path, metres.
    """

    prey: Path
    late: float
    aside: Vector = (0.0, 0.0, 0.0)

    @property
    def period(self) -> float:
        """The period of the path that it follows."""
        return self.prey.period

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return np.asarray(self.prey(seconds - self.late) + np.array(self.aside))


@dataclass(frozen=True, slots=True)
class Made:
    """A path made from any function of time."""

    position: Callable[[float], Floats]
    period: float

    def __call__(self, seconds: float) -> Floats:
        """(3,) metres, world frame."""
        return self.position(seconds)


class Pointer:
    """A position that is set from outside, such as the pointer's."""

    period = 0.0

    def __init__(self, position: Floats) -> None:
        self.position = position

    def __call__(self, seconds: float) -> Floats:  # noqa: ARG002 - of `Path`
        """(3,) metres, world frame."""
        return self.position


@dataclass(frozen=True, slots=True)
class TargetMotion:
    """A target that moves along a path.

    ``effector`` is the id of its goal, ``path`` its position over time; ``shown``: the path is drawn.
    """

    effector: str
    path: Path
    shown: bool = True


class MovingTargets:
    """Targets that move along paths, and the IK drag by which the body follows them.

    They stop while something else moves the body, and then continue from its result.

    ``motions`` are the targets that move, or would if they were not ``running``; ``seconds`` is the time along the
    paths.
    """

    def __init__(self, solvers: Solvers, stage: Stage) -> None:
        self.motions: tuple[TargetMotion, ...] = ()
        self.running = False
        self.seconds = 0.0
        self._solvers, self._stage, self._calls = solvers, stage, stage.calls
        self._drag: IkDrag | None = None
        self._eased = 0.0
        self._last: float | None = None
        self._offsets: dict[str, Floats] = {}

    def animate(self, motions: tuple[TargetMotion, ...]) -> None:
        """Move targets from now on, from the start of their paths; () stops all."""
        with self._calls("animate", motions):
            for motion in motions:
                self._stage.document.goal(motion.effector)
            self.motions, self.seconds, self._drag = tuple(motions), 0.0, None
            self._run(bool(motions))

    def restart(self) -> None:
        """Start the paths again; targets that are paused stay paused."""
        if self.motions:
            running = self.running
            self.animate(self.motions)
            if not running:
                self.pause()

    def pause(self) -> None:
        """Stop the targets where they are."""
        with self._calls("pause"):
            self._run(False)

    def resume(self) -> None:
        """Move the targets again after `pause`."""
        with self._calls("resume"):
            self._run(True)

    def toggle(self) -> None:
        """Pause or resume."""
        if self.running:
            self.pause()
        else:
            self.resume()

    def _run(self, running: bool) -> None:
        self.running = running and bool(self.motions)
        self.wait()
        self._stage.changed()

    def wait(self) -> None:
        """Do not count the time until the next `step`."""
        self._last = None

    @property
    def easing(self) -> bool:
        """Whether targets that were off their paths are still returning to them."""
        return self._eased < EASE

    def step(self, now: float) -> State | None:
        """The state after a bounded number of iterations towards the targets at time ``now``; None if at rest.

        Raises:
            ViewerError: goals that cannot be solved; the targets are paused.
        """
        passed = 0.0 if self._last is None else min(max(now - self._last, 0.0), LONGEST_STEP)
        self._last = now
        self.seconds += passed
        self._eased += passed
        try:
            drag = self._drag_from(self._stage.document)
            drag.aim({Item("effector", motion.effector): (self._position(motion), None) for motion in self.motions})
            if not drag.pending:
                return None
            drag.step(now)
        except ViewerError:
            self.pause()  # the next step would raise the same error
            raise
        return State(drag.document, drag.report)

    def _drag_from(self, document: Document) -> IkDrag:
        """The drag that the body follows; a new one if something else has changed the document."""
        drag = self._drag
        if drag is not None and (drag.document is document or shares(drag.document, document, _COMPARED)):
            drag.document = document
            return drag
        names = [motion.effector for motion in self.motions]
        drag = IkDrag(document, tuple(Item("effector", name) for name in names), (), self._solvers)
        drag.document = replace(drag.document, selection=document.selection)  # the selection is the user's
        on_paths = {motion.effector: motion.path(self.seconds) for motion in self.motions}
        self._offsets = {name: np.array(drag.document.goal(name).position) - on_paths[name] for name in names}
        self._drag, self._eased = drag, 0.0
        return drag

    def _position(self, motion: TargetMotion) -> Floats:
        """(3,) the target's position: on its path, or returning to it."""
        part = min(self._eased / EASE, 1.0)
        left = 1.0 - part * part * (3.0 - 2.0 * part)
        return np.asarray(motion.path(self.seconds) + left * self._offsets[motion.effector])
