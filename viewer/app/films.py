"""The film that a window is making: its pictures are drawn between the window's own frames."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from viewer.errors import ViewerError
from viewer.opengl import Film, Filming
from viewer.opengl.filming import disc_under, fit_camera, middle, swept_points, turned_round
from viewer.opengl.pictures import LEAST, seen_points
from viewer.scene import Camera
from viewer.spatial.checks import Floats
from viewer.ui.controller import Controller
from viewer.ui.events import Message, Question, Request
from viewer.ui.film import (
    FilmOrder,
    FilmProgress,
    FilmScenes,
    files_of,
    form_of,
    length_words,
    shown_name,
    widened_camera,
)

BUDGET = 0.03
"""Seconds of filming between two frames of the window; at least one picture is drawn."""
WINDOW_SHARE = 4.0
"""While the window is in motion, it gets this many times the film's time."""
PROGRESS_INTERVAL = 0.25
"""Seconds between two updates of the progress bar."""
_ESTIMATE_AFTER = 1.0
"""Seconds after which the remaining time is estimated."""


class Films:
    """Makes films, one at a time.

    Attributes:
        progress: of the film that is being made; None while there is none.
        quits: the window closes when the film is done, or the user is being asked whether it should.
    """

    def __init__(self, controller: Controller, clock: Callable[[], float] = time.perf_counter) -> None:
        self._controller, self._clock = controller, clock
        self._filming: Filming | None = None
        self._film: Film | None = None
        self._path: Path | None = None
        self.progress: FilmProgress | None = None
        self.quits = False
        self._agreed: object = None
        self._since = self._due = self._shown = 0.0

    @property
    def busy(self) -> bool:
        """Whether a film is being made."""
        return self._filming is not None

    def serve(self, request: Request) -> bool:
        """Serve a request about films; returns whether it was one."""
        match request.name:
            case "film":
                self.start(request.value)  # type: ignore[arg-type]  # as the dialog makes it
            case "film-dialog" if self.busy:
                self.report_busy()
            case "film-cancel":
                self.cancel()
            case "quit" if self.busy:
                # The user was asked about unsaved changes before. If the film ends before the answer, the window
                # closes.
                self.quits, self._agreed = True, self._controller.session.history.latest_saved
                self._ask_to_quit()
            case _:
                return False
        return True

    def _ask_to_quit(self) -> None:
        def stop() -> None:
            self.close()
            self._controller.view.request("quit")

        answers = {
            "Close when done": lambda: self._close_when_done(on=self.busy),
            "Stop and close": stop,
            "Keep open": lambda: self._close_when_done(on=False),
        }
        self._controller.view.ask(Question(f"{self._name} is being filmed", answers, stands=lambda: self.busy))

    def report_busy(self) -> None:
        """Post a note that a film is being made already."""
        if self.progress is not None:
            now = self.progress
            self._controller.view.note(f"{now.name} is being filmed: {now.words} pictures. One film at a time")

    def start(self, order: FilmOrder) -> None:
        """Begin a film of what is shown at this moment; a `ViewerError` becomes a message."""
        if self.busy:
            self.report_busy()
            return
        controller = self._controller
        moves = controller.camera_moves
        try:
            reel = FilmScenes(
                controller.filmed(), order.plan, controller.scenes.onion_skin.settings, controller.view.display
            )
            film = film_of(reel, moves.heading_for, controller.viewport.size, follow=moves.follow)
        except ViewerError as error:
            controller.view.fail(error, "film")
            return
        self._film, self._path = film, order.path
        self._filming = Filming(film, order.path)
        name = shown_name(order.path.name, form_of(order.path.name) or "mp4")
        self.progress = FilmProgress(name, len(film))
        self.quits = False
        self._since = self._due = self._shown = self._clock()

    def step(self, *, moving: bool) -> bool:
        """Draw the pictures that are due, few while the user is ``moving`` something; whether the progress changed."""
        filming, begin = self._filming, self._clock()
        if filming is None or (moving and begin < self._due):
            return False
        try:
            more = filming.step()
            while more and not moving and self._clock() - begin < BUDGET:
                more = filming.step()
        except ViewerError as error:
            self._failed(filming, str(error))
            return True
        except Exception as error:  # noqa: BLE001 - a film that fails must not end the window
            self._failed(filming, f"{self._name} cannot be filmed: {str(error) or type(error).__name__}")
            return True
        now = self._clock()
        self._due = now + WINDOW_SHARE * (now - begin)
        if not more:
            self._finished(filming)
            return True
        return self._update_progress(filming, now)

    def wait(self, *, moving: bool) -> float:
        """Seconds until the next picture is due; infinite without a film."""
        if not self.busy:
            return math.inf
        return max(0.0, self._due - self._clock()) if moving else 0.0

    def cancel(self) -> None:
        """Cancel the film: an existing file is not changed, and finished numbered pictures stay."""
        filming, path = self._filming, self._path
        if filming is None or path is None:
            return
        name, total = self._name, filming.total
        filming.cancel()
        self._end()
        if path.name.casefold().endswith(".png"):
            stay = f"{filming.kept} of {total} pictures were written" if filming.kept else "nothing was written"
            self._controller.view.note(f"Film cancelled: {stay}")
        else:
            before = f"{name} was not changed" if path.exists() else "nothing was written"
            self._controller.view.note(f"Film cancelled: {before}")

    def close(self) -> None:
        """End filming when the window closes, without partial files or threads."""
        if self._filming is not None:
            self._filming.cancel()
            self._end()

    @property
    def _name(self) -> str:
        return self.progress.name if self.progress else ""

    def _update_progress(self, filming: Filming, now: float) -> bool:
        """Update the progress every `PROGRESS_INTERVAL` seconds; returns whether it was updated."""
        if self.progress is None or now - self._shown < PROGRESS_INTERVAL:
            return False
        self._shown = now
        self.progress.done = filming.done
        spent = now - self._since
        if spent > _ESTIMATE_AFTER and filming.done:
            self.progress.left = spent / filming.done * (filming.total - filming.done)
        return True

    def _finished(self, filming: Filming) -> None:
        film, path, name = self._film, self._path, self._name
        assert film is not None
        assert path is not None
        width, height = film.size
        if name.casefold().endswith(".mp4"):  # its sides are even
            width, height = width - width % 2, height - height % 2
        length = length_words(filming.written, film.fps, (width, height))
        first = str(files_of(path, 1)[0])
        folder = ("Show in folder", partial(self._controller.view.request, "show-in-folder", first))
        quits = self.quits
        self._end()
        self._controller.view.bar.done("film")
        self._controller.view.post(Message(f"Wrote {name}: {length}", "note", (folder,)))
        if quits:
            self._quit()

    def _close_when_done(self, *, on: bool) -> None:
        self.quits = on
        if self.progress is not None:
            self.progress.closes = on

    def _quit(self) -> None:
        """Close the window; ask about changes made since the user agreed to close it."""
        session = self._controller.session
        if session.history.latest_saved is self._agreed and not session.recorder.recording:
            self._controller.view.request("quit")
        else:
            self._controller.run("file.quit")

    def _failed(self, filming: Filming, words: str) -> None:
        filming.cancel()  # the film's thread waits for pictures
        self._end()
        self._controller.view.post(Message(words, "error", about="film"))

    def _end(self) -> None:
        self._filming = self._film = self._path = self.progress = None
        self.quits = False


_UPRIGHT = {"xy", "yz"}
"""Planes with a vertical grid, on which no shadow disc is drawn."""


def film_of(reel: FilmScenes, camera: Camera, view: tuple[int, int], *, follow: bool = False) -> Film:
    """The film of a reel by the window's camera, whose view has a size of ``view`` pixels.

    With ``follow`` the camera follows the selection, unless the plan keeps all of the motion in view.
    """
    plan, first = reel.plan, reel.scene(0)
    skin = first.skin if first.shows_skin else None
    swept = None if reel.clip is None else swept_points(first.skeleton, reel.clip, skin)
    points = seen_points(first, swept)
    points = turned_round(points, middle(points)) if plan.turntable else points
    if plan.whole:
        camera = all_in_view(camera, points, plan.size, first.height, upright=plan.turntable)
    else:
        camera = widened_camera(camera, view, plan.size)
    return Film(
        count=reel.count,
        fps=plan.fps,
        size=plan.size,
        scene=reel.scene,
        camera=_moved(reel, camera, follow=follow and not plan.whole),
        disc=None if first.plane in _UPRIGHT else disc_under(points, first.height),
    )


def all_in_view(camera: Camera, points: Floats, size: tuple[int, int], height: float, *, upright: bool) -> Camera:
    """The camera moved, but not rotated, so that all points (N, 3) are in view."""
    framed = camera.frame(points, size, least=LEAST * height)
    if camera.orthographic or np.linalg.norm(np.ptp(points, axis=0)) <= LEAST * height:
        return framed
    return fit_camera(framed, points, size, upright=upright)


def _moved(reel: FilmScenes, camera: Camera, *, follow: bool) -> Callable[[int], Camera]:
    """The camera of each picture, by its number."""
    step = 2.0 * math.pi / reel.count if reel.plan.turntable else 0.0

    def at(number: int) -> Camera:
        target = reel.selected(number) if follow else None
        moved = camera if target is None else replace(camera, target=target)
        return moved.turned(number * step, 0.0) if step else moved

    return at
