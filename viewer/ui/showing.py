"""Showing other documents, and what a person can do where the motion file of a session is gone or has changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from viewer.document.actions import SetPlanar, UseMotion
from viewer.document.planar import out_of_plane
from viewer.errors import ViewerError
from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import Camera, Scene
from viewer.session import Document
from viewer.session.files import MotionFile, Opened, open_session
from viewer.session.storage.motion import character_in
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui.camera_moves import along
from viewer.ui.commands import Handler, Handlers
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

RING_SECONDS, FLASH_SECONDS = 0.4, 0.2
_RING_FROM, _RING_TO = 9.0, 16.0
"""Radii of the ring, logical pixels."""
_FLASH_RADIUS, _FLASH_ALPHA = 11.0, 0.7
_CIRCLE = np.stack([np.cos(np.linspace(0.0, 2.0 * np.pi, 33)[:-1]), np.sin(np.linspace(0.0, 2.0 * np.pi, 33)[:-1])], 1)


class _Effect(NamedTuple):
    """One of them: a ring round an effector's target, or (``name`` is a joint's) a flash of a joint."""

    ring: bool
    name: str
    since: float


class Effects:
    """Of one controller. They come from what happens in a drag alone: opening or undoing flashes nothing."""

    def __init__(self, controller: Controller) -> None:
        """None yet."""
        self._controller = controller
        self._missed: frozenset[str] | None = None
        self._stuck: frozenset[int] = frozenset()
        self._running: list[_Effect] = []
        self._now = 0.0

    def tick(self, now: float) -> bool:
        """Begin and end them; whether any runs."""
        self._now = now
        if self._controller.dragging and not self._controller.preferences.reduce_motion:
            self._begin(self._controller.scene(), now)
        else:
            self._missed = None
        if self._running:
            left = [one for one in self._running if now - one.since < (RING_SECONDS if one.ring else FLASH_SECONDS)]
            self._running = left
            self._controller.changed()
        return bool(self._running)

    def _begin(self, scene: Scene, now: float) -> None:
        missed = frozenset(
            mark.name for mark in scene.marks if not (mark.reached or mark.quiet) and mark.target is not None
        )
        if self._missed is not None:
            self._running += [_Effect(ring=True, name=name, since=now) for name in missed - self._missed]
            names = (scene.skeleton.names[joint] for joint in scene.at_limit - self._stuck)
            self._running += [_Effect(ring=False, name=name, since=now) for name in names]
        self._missed, self._stuck = missed, scene.at_limit

    def shapes(self, scene: Scene, projection: Projection, scale: float) -> list[Shape]:
        """What is drawn of them now."""
        shapes: list[Shape] = []
        for effect in self._running:
            place = _place(scene, effect)
            pixel = None if place is None else projection.project(place)
            if pixel is None or not np.isfinite(pixel).all():
                continue
            part = min((self._now - effect.since) / (RING_SECONDS if effect.ring else FLASH_SECONDS), 1.0)
            if effect.ring:
                radius = (_RING_FROM + part * (_RING_TO - _RING_FROM)) * scale
                shapes.append(Stroke(pixel + radius * _CIRCLE, 2.0 * scale, "unreached", 1.0 - part, closed=True))
            else:
                circle = pixel + _FLASH_RADIUS * scale * _CIRCLE
                shapes.append(Fill(circle, "limit", _FLASH_ALPHA * (1.0 - part)))
        return shapes


def _place(scene: Scene, effect: _Effect) -> Floats | None:
    if effect.ring:
        return next((mark.target for mark in scene.marks if mark.name == effect.name), None)
    names = scene.skeleton.names
    return scene.world.positions[names.index(effect.name)] if effect.name in names else None


ABOUT = "motion"
"""What messages here are about."""

MotionAnswer = Literal["locate", "use", "without", "cancel"]


class Question(NamedTuple):
    """What "ask-motion" asks about.

    Attributes:
        session: the session file, which does not carry its motion.
        found: the motion's file, as far as it was found.
    """

    session: Path
    found: MotionFile


class Wanted(NamedTuple):
    """What "locate-dialog" looks for.

    Attributes:
        name: of the file, as it was.
        use: what is done with the file that was found.
        folder: where to begin.
    """

    name: str
    use: Callable[[Path], object]
    folder: Path


def show(controller: Controller, document: Document, path: Path | None = None, disk: str | None = None) -> None:
    """Show another document, as it stands in the session file ``path``, whose bytes have the digest ``disk``."""
    controller.drags.cancel()
    controller.set_gesture(None)
    controller.session.replace(document, path, disk)
    controller.bar.clear()
    controller.camera_moves.start()
    controller.demos.opened()


def open_whole(controller: Controller, path: Path) -> MotionFile | None:
    """Show a session with its motion; the motion's file, where that is not as it was.

    Raises:
        MotionError: it carries no motion, and the motion's file is gone or has changed.
        ViewerError: the file cannot be read, or is refused.
    """
    opened = open_session(path)
    show(controller, opened.document, path, opened.digest)
    return opened.motion


def tell(controller: Controller, found: MotionFile, *, without: bool = False) -> None:
    """Say that a motion file is not as it was, and offer what can be done.

    Args:
        controller: that shows the session.
        found: the motion's file.
        without: whether the session is shown without its motion; else it carries a copy.
    """
    state = "is missing" if found.place is None else found.problem
    here = "the figure stands still, its keys are kept" if without else "the session's own copy is shown"
    offers: list[tuple[str, Callable[[], object]]] = [("Locate…", partial(locate, controller, found))]
    if found.place is not None:
        offers.append(("Use the changed file", partial(use, controller, found, found.place)))
    level: Literal["error", "note"] = "error" if without else "note"
    controller.post(Message(f"{found.name} {state}: {here}", level, tuple(offers), about=ABOUT))


def locate(controller: Controller, found: MotionFile) -> None:
    """Ask for the file that has the motion, and use it."""
    session = controller.session.path
    folder = Path.cwd() if session is None else session.absolute().parent
    controller.request("locate-dialog", Wanted(found.name, partial(use, controller, found), folder))


def use(controller: Controller, found: MotionFile, place: Path) -> bool:
    """Give the figure that is shown the motion of a file; whether it has one that fits."""
    try:
        controller.session.dispatch(UseMotion(character_in(place, found.named)))
    except ViewerError as error:
        controller.fail(error, ABOUT)
        return False
    controller.bar.done(ABOUT)
    controller.note(f"Motion of {place.name}")
    return True


def ask(controller: Controller, session: Path, found: MotionFile) -> None:
    """Ask what is to be done about a session that cannot be opened whole."""
    controller.request("ask-motion", Question(session, found))


def ask_over(controller: Controller, session: Path, bare: Opened) -> None:
    """Ask it of a session that is shown without its motion already: whatever is answered, what is missing is said."""
    if bare.motion is not None:
        tell(controller, bare.motion, without=True)
        ask(controller, session, bare.motion)


def answer(controller: Controller, question: Question, given: MotionAnswer) -> None:
    """What was answered to "ask-motion"."""
    found = question.found
    if given == "locate":
        folder = question.session.absolute().parent
        controller.request("locate-dialog", Wanted(found.name, partial(_open_with, controller, question), folder))
    elif given == "use" and found.place is not None:
        _open_with(controller, question, found.place)
    elif given == "without" and _open_without(controller, question):
        tell(controller, found, without=True)


def _open_with(controller: Controller, question: Question, place: Path) -> None:
    """Show the session with the motion of a file; where that does not fit, what is shown stays."""
    try:
        character = character_in(place, question.found.named)
        opened = open_session(question.session, motion=False)
        UseMotion(character).apply(opened.document)
    except ViewerError as error:
        controller.fail(error, ABOUT)
        return
    show(controller, opened.document, question.session, opened.digest)
    controller.session.dispatch(UseMotion(character))
    controller.preferences.remember(question.session)


def _open_without(controller: Controller, question: Question) -> bool:
    """Show the session without its motion; it is no longer that file, which still knows where its motion was."""
    try:
        opened = open_session(question.session, motion=False)
    except ViewerError as error:
        controller.fail(error, "open")
        return False
    show(controller, opened.document)
    controller.preferences.remember(question.session)
    return True


_ALONG = {"xy": "z", "yz": "x", "zx": "y"}
"""The axis that points at whoever looks at a plane."""
_NAMED = 2
"""So many joints are named; more are counted."""


class Planes:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """For its session."""
        self._controller = controller

    def facing(self, camera: Camera) -> Camera:
        """A camera turned to the document's plane, without perspective; as it is where the document is not planar."""
        plane = self._controller.session.document.planar
        if plane is None:
            return camera
        # From above any yaw would do: the one from which the other axes run straight across and down.
        level = replace(camera, yaw=0.0) if _ALONG[plane] == "y" else camera
        return replace(along(level, _ALONG[plane]), orthographic=True)

    def toggle(self, plane: str) -> None:
        """Bring the body into a plane and look at it, or let it go, where it is in that plane already."""
        controller = self._controller
        leaves = controller.session.document.planar == plane
        controller.session.dispatch(SetPlanar(None if leaves else plane))
        moves = controller.camera_moves
        if leaves:
            moves.set(replace(moves.heading_for, orthographic=False))
        else:
            moves.set(replace(moves.heading_for, orthographic=True))
            moves.jump(self.facing(moves.heading_for))
        self.say_who_stands_out()

    def say_who_stands_out(self) -> None:
        """Note which joints the limits that bind keep out of the plane, if any."""
        names = out_of_plane(self._controller.session.document)
        if names:
            who = f"{len(names)} joints" if len(names) > _NAMED else " and ".join(names)
            verb, whose = ("stands", "its") if len(names) == 1 else ("stand", "their")
            self._controller.note(f"{who} {verb} out of the plane: {whose} limits exclude it")

    def _is(self, plane: str) -> bool:
        return self._controller.session.document.planar == plane

    def handlers(self) -> Handlers:
        """Of planes."""
        return {
            f"view.plane_{plane}": Handler(partial(self.toggle, plane), checked=partial(self._is, plane))
            for plane in _ALONG
        }
