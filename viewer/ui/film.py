"""What a film of the document shows, how long it is, and what of it is remembered. Nothing is drawn here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple, get_args

from viewer.formats.film_rates import FASTEST, GIF_FPS, STILL_FPS, STILL_TURN, USUAL, playable_fps, same_rate
from viewer.ui.documents import has_motion
from viewer.ui.numbers import fixed

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.session import Document

FilmFormat = Literal["mp4", "gif", "png"]
FORMATS: tuple[FilmFormat, ...] = get_args(FilmFormat)

_ENDINGS = {1: "st", 2: "nd", 3: "rd"}

PARTS = ("grid", "names", "goals", "limits", "ghosts", "trails")
"""What can be shown besides the figure."""


@dataclass(frozen=True, slots=True)
class FilmPlan:
    """How a film is made.

    Attributes:
        size: (width, height) of its pictures, pixels.
        frames: the first and the last frame of the take that it shows; None: the pose that is shown, turned round.
        fps: pictures a second.
        seconds: that the film of a pose lasts.
        turntable: the camera goes round once in the course of it.
        whole: the camera is moved so that all of the motion is in view; else the view is as it is in the window.
        parts: of `PARTS`, what is shown besides the figure.
    """

    size: tuple[int, int]
    frames: tuple[int, int] | None
    fps: float
    seconds: float = STILL_TURN
    turntable: bool = False
    whole: bool = False
    parts: frozenset[str] = frozenset({"grid"})


class FilmOrder(NamedTuple):
    """A film that is to be made of what the window shows.

    Attributes:
        plan: how.
        path: where to; of numbered pictures with a place for the number.
    """

    plan: FilmPlan
    path: Path


@dataclass(slots=True)
class FilmProgress:
    """How far a film is.

    Attributes:
        name: its file's.
        total: pictures that it has.
        done: drawn so far.
        left: seconds that it will take still; None where that cannot be said yet.
        closes: the window closes when it is done.
    """

    name: str
    total: int
    done: int = 0
    left: float | None = None
    closes: bool = False

    @property
    def words(self) -> str:
        """``23 of 68``."""
        return f"{self.done} of {self.total}"

    @property
    def left_words(self) -> str:
        """``12 s left``; whole minutes from two on."""
        if self.done == self.total:
            return "writing the file"
        if self.left is None:
            return ""
        return f"{max(1, round(self.left))} s left" if self.left < 120.0 else f"{round(self.left / 60.0)} min left"


def form_of(name: str) -> FilmFormat | None:
    """The format that a file's name asks for by its suffix."""
    return next((form for form in FORMATS if name.casefold().endswith(f".{form}")), None)


def ranges(document: Document) -> tuple[tuple[int, int] | None, ...]:
    """What a film can show: the range that is played, all frames if that is more, and the pose (None)."""
    if not has_motion(document):
        return (None,)
    every = (0, document.frames - 1)
    return (document.played, None) if document.played == every else (document.played, every, None)


def own_rate(document: Document, frames: tuple[int, int] | None, form: FilmFormat) -> float:
    """Pictures a second unless others are asked for: the take's rate, or the largest part of it that players show."""
    if frames is None:
        return min(STILL_FPS, USUAL.get(f".{form}", STILL_FPS))
    rate = 1.0 / document.frame_time
    most = USUAL.get(f".{form}")
    return rate if most is None else playable_fps(rate, most)


def fastest(form: FilmFormat) -> float:
    """Pictures a second that a format can have."""
    return GIF_FPS if form == "gif" else FASTEST


def rate_words(document: Document, plan: FilmPlan, form: FilmFormat) -> str:
    """Where a rate comes from, and what it makes of the frames: ``the take's own``, ``every 2nd frame of 60 fps``."""
    if plan.frames is None:
        return f"GIF: {GIF_FPS:g} at most" if form == "gif" else ""
    rate = 1.0 / document.frame_time
    if same_rate(plan.fps, rate):
        return "the take's own"
    step = round(rate / plan.fps)
    if step > 1 and same_rate(plan.fps, rate / step):
        return f"every {ordinal(step)} frame of {rate:.4g} fps"
    return f"resampled from {rate:.4g} fps"


def ordinal(number: int) -> str:
    """``2nd``, ``3rd``, ``12th``, ``21st``."""
    teens = number // 10 % 10 == 1
    return f"{number}{'th' if teens else _ENDINGS.get(number % 10, 'th')}"


def resampled(document: Document, plan: FilmPlan) -> bool:
    """Whether pictures are at other times than frames."""
    return plan.frames is not None and not same_rate(plan.fps, 1.0 / document.frame_time)


def count(document: Document, plan: FilmPlan) -> int:
    """Pictures of a film."""
    if plan.frames is None:
        return max(1, round(plan.seconds * plan.fps))
    frames = plan.frames[1] - plan.frames[0] + 1
    return max(1, round(frames * document.frame_time * plan.fps)) if resampled(document, plan) else frames


def length_words(pictures: int, fps: float, size: tuple[int, int] | None = None) -> str:
    """``68 pictures, 2.27 s``, with a size ``68 pictures of 1280 x 720, 2.27 s``."""
    what = f"{pictures} picture{'' if pictures == 1 else 's'}"
    return f"{what}{f' of {size_words(size)}' if size else ''}, {fixed(pictures / fps, 2)} s"


def size_words(size: tuple[int, int]) -> str:
    """``1280 x 720``, with a sign of multiplication."""
    return f"{size[0]} \N{MULTIPLICATION SIGN} {size[1]}"
