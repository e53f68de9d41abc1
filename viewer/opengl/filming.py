"""Writes a movie to a file: drawn picture by picture, and encoded on another thread meanwhile.

A window calls `Filming.step` between its own frames, shows the progress, and can cancel at any time:

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

from viewer.formats.film_rates import FASTEST
from viewer.formats.video import write_video
from viewer.opengl.moving import Movie

Picture = NDArray[np.uint8]

_AHEAD = 3
"""Pictures that may wait for the encoder."""
_PAUSE = 0.005
"""Seconds that a step waits for a slow encoder; short enough to fit between two frames of a window."""


class _Cancelled(Exception):  # noqa: N818 - not an error
    """Ends the writer's thread without replacing the old file."""


class Filming:
    """Writes a movie; to be used by one thread. As a context manager it cancels an unfinished film at its end.

    Attributes:
        done: pictures drawn so far.
        total: pictures of the movie.
        written: pictures in the file once it is finished, 0 before.
        kept: numbered pictures that are finished; they stay if the film is cancelled.
    """

    def __init__(self, film: Movie, file: str | os.PathLike[str]) -> None:
        """Begin.

        Args:
            film: the pictures.
            file: .mp4, .gif, or .png with a field for the picture's number, as in `write_video`.
        """
        self.done, self.total, self.written, self.kept = 0, len(film), 0, 0
        self._film, self._file = film, file
        self._pictures: SimpleQueue[Picture | _Cancelled | None] = SimpleQueue()
        self._problem: BaseException | None = None
        self._begun = threading.Event()
        self._writer = threading.Thread(target=self._write, name="ikviewer-filming", daemon=True)
        self._writer.start()
        self._wait()

    def step(self) -> bool:
        """Draw the next picture, unless the encoder is behind; takes about as long as drawing a picture.

        Returns:
            Whether there is more to do.

        Raises:
            InputError: an unknown suffix, or a rate that the format does not support.
            MachineError: the machine cannot draw, or has no ffmpeg.
            OutputError: the file cannot be written; an old file stays as it was.
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
        """Stop: an old file stays as it was; numbered pictures that are finished stay."""
        self._pictures.put(_Cancelled())
        self._writer.join()
        self._problem = None

    def __enter__(self) -> Filming:  # noqa: PYI034 - nothing inherits from it
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Cancel an unfinished film."""
        if self._writer.is_alive():
            self.cancel()

    def _wait(self) -> None:
        """Wait until the writer requests pictures or has failed, so that nothing is drawn in vain."""
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
            # Numbered pictures have no rate: those of motion captured at 1000 frames per second can be written too.
            fps = min(self._film.fps, FASTEST) if Path(self._file).suffix.casefold() == ".png" else self._film.fps
            self.written = write_video(self._taken(), self._file, fps=fps)
        except _Cancelled:
            pass
        except BaseException as error:  # noqa: BLE001 - it is raised where the steps are taken
            self._problem = error
        finally:
            self._begun.set()

    def _taken(self) -> Iterator[Picture]:
        """The pictures from the queue."""
        self._begun.set()
        numbered = Path(self._file).suffix.casefold() == ".png"
        while (picture := self._pictures.get()) is not None:
            if isinstance(picture, _Cancelled):
                raise picture
            yield picture
            self.kept += numbered  # the writer requests the next picture after writing this one
