"""Showing other documents, and what a person can do where the motion file of a session is gone or has changed."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Literal, NamedTuple

from viewer.errors import ViewerError
from viewer.session.actions import UseMotion
from viewer.session.files import open_session
from viewer.session.storage.motion import character_in
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.session import Document
    from viewer.session.files import MotionFile, Opened
    from viewer.ui.controller import Controller

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
    here = "the figure stands still, its keys are there" if without else "the session's own copy is shown"
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
