"""What the dialog for films holds: choices, and the plan that they make. No drawing."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.app.panels.file_state import has_suffix
from viewer.app.panels.folder import meant
from viewer.app.widgets.fields import FOCUS
from viewer.errors import MachineError, quote
from viewer.formats.film_rates import STILL_TURN
from viewer.session.files import SUFFIX
from viewer.ui.film import FORMATS, PARTS, FilmPlan, fastest, form_of, own_rate, ranges
from viewer.ui.film_files import film_name, renamed
from viewer.ui.film_scenes import as_in_view, walks_out

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.session.document import Document
    from viewer.skeleton.character import Character
    from viewer.ui.film import FilmFormat

SIZES = {"view": (0, 0), "360": (640, 360), "720": (1280, 720), "1080": (1920, 1080), "own": (0, 0)}
"""Sizes to choose from; the view's, and numbers that are typed, are known only then."""
_USUAL, _USUAL_GIF = "720", "360"
"""Unless one was chosen: GIFs grow large."""
_KEPT = ("grid", "names", "goals", "limits")
"""Parts that are remembered; ghosts and trails are as in the view."""


@dataclass(slots=True)
class FilmState:
    """The dialog.

    Attributes:
        subject: the character whose film it is.
        name: of the file, as typed.
        folder: likewise.
        form: the format.
        size: of `SIZES`, the name; nothing: as is usual for the format.
        own: (width, height) for "own".
        shows: index into `ranges`.
        fps: typed; None: as the take and the format have it.
        seconds: of a pose.
        turntable: the camera goes round.
        whole: all of the motion is in view; None: if it would go out of it otherwise.
        parts: of `PARTS`, those that are shown.
        lacks: why there can be no MP4; nothing where there can.
        problem: why the film cannot be made.
        agreed: the file, which exists, that may be replaced; None: nobody was asked.
        asking: the question whether to replace what is there.
        fresh: the name is to take the keyboard: see `take_keyboard`.
        outward: what is looked at, and whether it goes out of the view.
    """

    subject: Character
    name: str
    folder: str
    form: FilmFormat = "mp4"
    size: str = ""
    own: tuple[int, int] = (640, 480)
    shows: int = 0
    fps: float | None = None
    seconds: float = STILL_TURN
    turntable: bool = False
    whole: bool | None = None
    parts: set[str] = field(default_factory=set)
    lacks: str = ""
    problem: str = ""
    agreed: Path | None = None
    asking: str = ""
    fresh: int = FOCUS
    outward: tuple[object, bool] = (None, False)

    @property
    def sized(self) -> str:
        """Of `SIZES`, the name."""
        return self.size or (_USUAL_GIF if self.form == "gif" else _USUAL)

    def take_form(self, form: FilmFormat) -> None:
        """Another format, and the name with it."""
        self.form, self.name = form, renamed(self.name, form)
        self.changed()

    def read_name(self) -> None:
        """The name has been typed: its suffix says the format, unless there can be none of that."""
        form = form_of(self.name.strip())
        if form is not None and not (form == "mp4" and self.lacks):
            self.form = form
        self.changed()

    def take_path(self, path: Path) -> None:
        """A place that was chosen in the list of files, where what is there was asked about."""
        self.name, self.folder = path.name, str(path.parent)
        self.read_name()
        self.agreed, self.fresh = path if path == self.path else None, FOCUS

    def changed(self) -> None:
        """What was asked and said was about another film."""
        self.problem, self.asking, self.agreed = "", "", None

    @property
    def refused(self) -> str:
        """Why there is no film of that name: its suffix asks for a format that there is not."""
        name = meant(self.name.strip(), Path.cwd()).name
        if form_of(name) is not None or not has_suffix(name):
            return ""
        formats = ", ".join(f".{form}" for form in FORMATS)
        return f"{quote(Path(name).suffix)} is no format to film in: expected {formats}"

    @property
    def path(self) -> Path:
        """Where to: see `FilmOrder.path`."""
        path = meant(self.name.strip() or "film", meant(self.folder, Path.cwd()))
        return path.with_name(film_name(path.name, self.form))

    def frames(self, document: Document) -> tuple[int, int] | None:
        """What is shown: see `FilmPlan.frames`."""
        every = ranges(document)
        return every[min(self.shows, len(every) - 1)]


def opened(ui: PanelContext, before: FilmState | None, folder: Path) -> FilmState:
    """The dialog as it opens: as it was left for this figure, else as films were made last."""
    document, liked = ui.session.document, ui.controller.preferences.film
    lacks = why_no_mp4()
    if before is not None and before.subject is document.character:
        before.changed()
        before.outward, before.fresh = (None, False), FOCUS
        before.lacks = lacks
        before.shows = min(before.shows, len(ranges(document)) - 1)
        return before
    stem = Path(ui.controller.files.name.removesuffix(SUFFIX)).stem or "film"
    state = FilmState(document.character, stem, str(folder), lacks=lacks)
    state.form = next((form for form in FORMATS if form == liked.get("format")), "mp4")
    state.form = "gif" if lacks and state.form == "mp4" else state.form
    state.name = renamed(stem, state.form)
    state.size = next((size for size in SIZES if size == liked.get("size")), "")
    state.own = _numbers(liked.get("own", "")) or state.own
    state.turntable = ranges(document) == (None,)
    state.parts = _parts(ui, liked.get("parts"))
    return state


def remember(ui: PanelContext, state: FilmState) -> None:
    """Keep the choices that are not about this take alone."""
    ui.controller.preferences.film = {
        "format": state.form,
        "size": state.size,
        "own": f"{state.own[0]}x{state.own[1]}",
        "parts": " ".join(part for part in _KEPT if part in state.parts),
    }


def plan_of(ui: PanelContext, state: FilmState) -> FilmPlan:
    """The film that the choices make."""
    document = ui.session.document
    frames = state.frames(document)
    fps = state.fps or own_rate(document, frames, state.form)
    return FilmPlan(
        size=size_of(ui, state),
        frames=frames,
        fps=min(fps, fastest(state.form)) if state.fps else fps,
        seconds=state.seconds,
        turntable=state.turntable or frames is None,
        whole=goes_out(ui, state) if state.whole is None else state.whole,
        parts=frozenset(state.parts),
    )


def size_of(ui: PanelContext, state: FilmState) -> tuple[int, int]:
    """(width, height) of the pictures."""
    if state.sized == "view":
        return ui.regions.viewport.size
    return state.own if state.sized == "own" else SIZES[state.sized]


def goes_out(ui: PanelContext, state: FilmState) -> bool:
    """Whether the figure, in view now, would go out of it if the camera stayed as it is."""
    controller, document = ui.controller, ui.session.document
    frames, size = state.frames(document), size_of(ui, state)
    if frames is None or controller.camera_moves.follow:
        return False
    camera = controller.camera_moves.heading_for
    key = (frames, size, ui.regions.viewport.size, camera, document.take, document.clip)
    if state.outward[0] != key:
        seen_by = as_in_view(camera, ui.regions.viewport.size, size)
        state.outward = key, walks_out(document, frames, seen_by, size)
    return state.outward[1]


def why_no_mp4() -> str:
    """What an MP4 needs and how to get it; nothing where all is there."""
    from viewer.formats.video.mp4 import find_ffmpeg  # noqa: PLC0415 - a window that never films needs no Pillow

    try:
        find_ffmpeg()
    except MachineError as error:
        return str(error)
    return ""


def _parts(ui: PanelContext, liked: str | None) -> set[str]:
    display = ui.controller.display
    shown = {part for part in PARTS if part not in _KEPT and getattr(display, part)}
    if liked is None:
        return shown | ({"grid"} if display.grid else set())
    return shown | {part for part in liked.split() if part in _KEPT}


def _numbers(text: str) -> tuple[int, int] | None:
    wide, _, high = text.partition("x")
    if not (wide.isdecimal() and high.isdecimal()):
        return None
    return min(max(int(wide), 2), 8192), min(max(int(high), 2), 8192)
