"""Opening files: what was guessed is said, and so is what is missing: the motion file of a session, for one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np

from viewer.document.actions import UseMotion
from viewer.document.opening import new_document
from viewer.errors import FormatError, InputError, ViewerError
from viewer.formats.load import load
from viewer.formats.units import BECAUSE, GUESSES
from viewer.scene import figure_points
from viewer.session import Document, Session
from viewer.session.demos import PREFIX, find_demo
from viewer.session.files import MotionError, MotionFile, Opened, is_session, open_session
from viewer.session.folders import fault_line
from viewer.session.storage.motion import character_in
from viewer.skeleton.character import Character
from viewer.skeleton.kinematics import fk
from viewer.ui import numbers
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.demos import Demos
from viewer.ui.dragging import Dragging
from viewer.ui.messages import Message
from viewer.ui.view import View

_UNITS = {1.0: "metres", 0.01: "centimetres", 0.001: "millimetres", 0.0254: "inches"}
ABOUT = "motion"
"""What messages about motion files are about."""

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


class Opening:
    """Shows other documents; what cannot be opened is said, and the document that is shown stays."""

    def __init__(self, session: Session, view: View, drags: Dragging, camera_moves: CameraMoves, demos: Demos) -> None:
        """Show documents in a session."""
        self._session, self._view = session, view
        self._drags, self._camera_moves, self._demos = drags, camera_moves, demos

    def show_file(self, path: Path | str, *, units: str | float = "auto", up: str = "auto") -> bool:
        """Show a file or ``sample:NAME`` in place of what is shown; whether it could be read.

        Where a session's motion is gone, the user is asked what to do.
        """
        view, changed = self._view, None
        try:
            if is_session(path):
                changed = self.show_session(Path(path))
            else:
                self.show(_new(path, units, up))
        except MotionError as error:
            self.ask_motion(Path(path), error.file_of_motion)
            return False
        except Exception as error:  # noqa: BLE001 - no file ends the program
            known = error if isinstance(error, ViewerError) else InputError(fault_line(error, path))
            view.post(bad_file(view, path, known))
            return False
        view.preferences.remember(path)
        self.note_reading()
        if changed is not None:
            self.note_motion(changed)
        return True

    def show(self, document: Document, path: Path | None = None, file_digest: str | None = None) -> None:
        """Show another document, as it is in the session file ``path``, whose bytes have the digest ``file_digest``."""
        self._drags.cancel()
        self._view.set_gesture(None)
        self._session.replace(document, path, file_digest)
        self._view.bar.clear()
        self._camera_moves.start()
        self._demos.opened()

    def show_session(self, path: Path) -> MotionFile | None:
        """Show a session with its motion; the motion's file, where that is not as it was.

        Raises:
            MotionError: it carries no motion, and the motion's file is gone or has changed.
            ViewerError: the file cannot be read, or is refused.
        """
        opened = open_session(path)
        self.show(opened.document, path, opened.digest)
        return opened.motion

    def note_reading(self) -> None:
        """Say what was guessed or mended while the file that is shown was read."""
        for message in _news(self._view, self._session.document.character):
            self._view.post(message)

    # Motion files of sessions that are missing or have changed

    def note_motion(self, found: MotionFile, *, without: bool = False) -> None:
        """Say that a motion file is not as it was, and offer what can be done.

        Args:
            found: the motion's file.
            without: whether the session is shown without its motion; else it carries a copy.
        """
        state = "is missing" if found.place is None else found.problem
        here = "the figure stands still, its keys are kept" if without else "the session's own copy is shown"
        offers: list[tuple[str, Callable[[], object]]] = [("Locate…", partial(self._locate, found))]
        if found.place is not None:
            offers.append(("Use the changed file", partial(self._use, found, found.place)))
        level: Literal["error", "note"] = "error" if without else "note"
        self._view.post(Message(f"{found.name} {state}: {here}", level, tuple(offers), about=ABOUT))

    def _locate(self, found: MotionFile) -> None:
        """Ask for the file that has the motion, and use it."""
        session = self._session.path
        folder = Path.cwd() if session is None else session.absolute().parent
        self._view.request("locate-dialog", Wanted(found.name, partial(self._use, found), folder))

    def _use(self, found: MotionFile, place: Path) -> None:
        """Give the figure that is shown the motion of a file, if it fits."""
        try:
            self._session.dispatch(UseMotion(character_in(place, found.named)))
        except ViewerError as error:
            self._view.fail(error, ABOUT)
            return
        self._view.bar.done(ABOUT)
        self._view.note(f"Motion of {place.name}")

    def ask_motion(self, session: Path, found: MotionFile) -> None:
        """Ask what to do about a session that cannot be opened with its motion."""
        self._view.request("ask-motion", Question(session, found))

    def ask_motion_of(self, session: Path, bare: Opened) -> None:
        """Say what a session lacks that is shown without its motion, and ask what to do."""
        if bare.motion is not None:
            self.note_motion(bare.motion, without=True)
            self.ask_motion(session, bare.motion)

    def answer_motion(self, question: Question, given: MotionAnswer) -> None:
        """Do what was answered to "ask-motion"."""
        found = question.found
        if given == "locate":
            folder = question.session.absolute().parent
            self._view.request("locate-dialog", Wanted(found.name, partial(self._open_with, question), folder))
        elif given == "use" and found.place is not None:
            self._open_with(question, found.place)
        elif given == "without" and self._open_without(question):
            self.note_motion(found, without=True)

    def _open_with(self, question: Question, place: Path) -> None:
        """Show the session with the motion of a file; where that does not fit, what is shown stays."""
        try:
            character = character_in(place, question.found.named)
            opened = open_session(question.session, motion=False)
            UseMotion(character).apply(opened.document)
        except ViewerError as error:
            self._view.fail(error, ABOUT)
            return
        self.show(opened.document, question.session, opened.digest)
        self._session.dispatch(UseMotion(character))
        self._view.preferences.remember(question.session)

    def _open_without(self, question: Question) -> bool:
        """Show the session without its motion; it is no longer that file, which still knows where its motion was."""
        try:
            opened = open_session(question.session, motion=False)
        except ViewerError as error:
            self._view.fail(error, "open")
            return False
        self.show(opened.document)
        self._view.preferences.remember(question.session)
        return True


def _new(path: Path | str, units: str | float, up: str) -> Document:
    if str(path).startswith(PREFIX):
        return find_demo(str(path)).build()
    return new_document(load(path, units=units, up=up))


def bad_file(view: View, path: Path | str, error: ViewerError) -> Message:
    """``walk.bvh:412:17: expected a number, found "abc"``."""
    text = str(error)
    if isinstance(error, FormatError):
        place = ":".join(str(n) for n in (Path(str(path)).name, error.line, error.column) if n is not None)
        text = ": ".join(part for part in (place, error.path or "", error.problem) if part)
    copy = ("Copy", partial(view.request, "copy-text", text))
    folder = ("Show in folder", partial(view.request, "show-in-folder", str(path)))
    return Message(text, "error", (copy, folder) if Path(str(path)).exists() else (copy,), about="open")


def _news(view: View, character: Character) -> list[Message]:
    """What was guessed or mended while reading."""
    news = []
    if character.source.guessed:
        change = ("Change", partial(view.request, "units-dialog"))
        guess = next((line for line in character.warnings if line.startswith(GUESSES)), "")
        why = guess.partition(BECAUSE)[2].partition(",")[0]
        said = f"Read as {units_of(character)}{f' (from its {why})' if why else ''}"
        news.append(Message(said, "note", (change,)))
    others = [line for line in character.warnings if not line.startswith(GUESSES)]
    if others:
        more = f" ({len(others) - 1} more)" if len(others) > 1 else ""
        news.append(
            Message(others[0] + more, "note", (("Copy", partial(view.request, "copy-text", "\n".join(others))),))
        )
    return news


def units_of(character: Character) -> str:
    """``5.64 cm units, height 1.72 m``."""
    metres = character.source.metres_per_unit
    unit = _UNITS.get(metres) or f"{numbers.fixed(100.0 * metres, 2)} cm units"
    up = ", Z up" if character.source.up == "z" else ""
    return f"{unit}{up}, height {numbers.fixed(_height(character), 2)} m"


def _height(character: Character) -> float:
    """Metres from the lowest to the highest place of the first frame, or of the rest pose."""
    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    return float(np.ptp(figure_points(skeleton, fk(skeleton, pose))[:, 1]))
