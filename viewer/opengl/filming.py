"""A movie on its way into a file: drawn a picture at a time, encoded on a thread of its own meanwhile.

A window calls `Filming.step` between two of its own frames, shows how far it is, and may give up at any time:

    filming = Filming(movie(character), "walk.mp4")
    while filming.step():
        show(filming.done, filming.total)   # or filming.cancel()
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from viewer.formats.video import FASTEST
from viewer.formats.video.write import write_video
from viewer.opengl.moving import Movie

Picture = NDArray[np.uint8]

_AHEAD = 3
"""Pictures that may wait for the encoder: it and the drawing take turns at being slow."""
_PAUSE = 0.005
"""Seconds that a step waits for an encoder that is behind; a window has them between two frames."""


class _GivenUp(Exception):  # noqa: N818 - nothing went wrong
    """Tells the writer that no more pictures come; it leaves the old file then."""


class Filming:
    """Writes a movie; to be used by one thread. As a context manager it cancels what is not finished at its end.

    Attributes:
        done: pictures drawn so far.
        total: pictures of the movie.
        written: pictures in the file once it is finished, 0 before.
        kept: numbered pictures that are finished; they stay if the film is given up.
    """

    def __init__(self, film: Movie, file: str | os.PathLike[str]) -> None:
        """Begin.

        Args:
            film: what to draw.
            file: .mp4, .gif, or .png with a place for the picture's number, as of `write_video`.
        """
        self.done, self.total, self.written, self.kept = 0, len(film), 0, 0
        self._film, self._file = film, file
        self._pictures: SimpleQueue[Picture | _GivenUp | None] = SimpleQueue()
        self._problem: BaseException | None = None
        self._begun = threading.Event()
        self._writer = threading.Thread(target=self._write, name="ikviewer-filming", daemon=True)
        self._writer.start()
        self._wait()

    def step(self) -> bool:
        """Draw the next picture, unless the encoder is behind; takes about as long as drawing one does.

        Returns:
            Whether there is more to do; then the next step is due.

        Raises:
            InputError: a suffix that is none, a rate that the format has not.
            MachineError: the machine cannot draw, or has no ffmpeg.
            OutputError: the file cannot be written; whatever stood there before still does.
        """
        if self._writer.is_alive() and (self.done == self.total or self._pictures.qsize() >= _AHEAD):
            self._writer.join(_PAUSE)
        elif self._writer.is_alive():
            self._draw()
        if self._writer.is_alive():
            return True
        if self._problem is not None:
            problem, self._problem = self._problem, None
            raise problem
        return False

    def cancel(self) -> None:
        """Give up: whatever stood at the file's place before still does; of numbered files those written stay."""
        self._pictures.put(_GivenUp())
        self._writer.join()
        self._problem = None

    def __enter__(self) -> Filming:  # noqa: PYI034 - nothing inherits from it
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give up what is not finished."""
        if self._writer.is_alive():
            self.cancel()

    def _wait(self) -> None:
        """Until the writer asks for pictures or has ended: nothing is drawn for a file that cannot be written."""
        self._begun.wait()
        if self._problem is not None:
            self._writer.join()

    def _draw(self) -> None:
        try:
            self._pictures.put(self._film.picture(self.done))
        except BaseException:
            self.cancel()
            raise
        self.done += 1
        if self.done == self.total:
            self._pictures.put(None)

    def _write(self) -> None:
        try:
            # Numbered pictures have no rate: those of motion captured at 1000 a second may be written, too.
            fps = min(self._film.fps, FASTEST) if Path(self._file).suffix.casefold() == ".png" else self._film.fps
            self.written = write_video(self._taken(), self._file, fps=fps)
        except _GivenUp:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the steps are taken
            self._problem = error
        finally:
            self._begun.set()

    def _taken(self) -> Iterator[Picture]:
        """The pictures as they come."""
        self._begun.set()
        numbered = Path(self._file).suffix.casefold() == ".png"
        while (picture := self._pictures.get()) is not None:
            if isinstance(picture, _GivenUp):
                raise picture
            yield picture
            self.kept += numbered  # who asks for the next one has written this one
