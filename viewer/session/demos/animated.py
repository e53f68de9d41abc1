"""Targets that move by themselves, from tick to tick; the body follows as it follows a drag, and no step is undone."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import ViewerError
from viewer.session.document import Document
from viewer.session.history import State
from viewer.session.ik_drag import IkDrag
from viewer.session.transport import Transport
from viewer.session.values import Item

if TYPE_CHECKING:
    from viewer.session.demos.paths import Motion
    from viewer.spatial.checks import Floats

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
            self.document.handle(motion.effector)
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
            handles = {name: walk.document.handle(name) for _, name in items}
            ways = {motion.effector: motion.path(self._seconds) for motion in self._motions}
            self._beside = {name: np.array(handle.position) - ways[name] for name, handle in handles.items()}
            self._eased = 0.0
        else:
            walk.document = self.document
        return walk

    def _target(self, motion: Motion) -> Floats:
        """(3,) on its way, or beside it still."""
        part = min(self._eased / EASE, 1.0)
        left = 1.0 - part * part * (3.0 - 2.0 * part)
        return np.asarray(motion.path(self._seconds) + left * self._beside[motion.effector])
