"""The options of exports and films, which the file dialog shows above the name of the file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import ClassVar, NamedTuple

from imgui_bundle import imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import is_robot
from viewer.app.widgets import controls, fields
from viewer.app.widgets.pen import tip
from viewer.document import Document
from viewer.document.key_editing import shows_take
from viewer.errors import MachineError
from viewer.formats.file_formats import FORMATS, MOST_DECIMALS, SLOWEST_TURN, STILL_TURN, FileFormat, format_of
from viewer.latest import Latest
from viewer.skeleton import Character
from viewer.ui import film
from viewer.ui.commands import BY_ID
from viewer.ui.file_menu import ExportOptions, shows_motion


class FormatChoice(NamedTuple):
    """A format to choose: suffix, word, tooltip; ``lacks`` is what must be installed for it, or ""."""

    suffix: str
    word: str
    hint: str = ""
    lacks: str = ""


class Options:
    """What is asked about a file besides its name.

    Attributes:
        height: of the rows, logical pixels, as expected before they are drawn.
        formats: to choose from.
    """

    height: ClassVar[float] = 0.0

    @property
    def formats(self) -> Sequence[FormatChoice]:
        return ()

    def renamed(self, stem: str, suffix: str) -> str:
        """A name for another format."""
        return f"{stem}{suffix}"

    def draw(self, ui: PanelContext, path: Path) -> None:
        """Draw the rows for a file."""

    def advice(self, ui: PanelContext, path: Path) -> tuple[str, str]:  # noqa: ARG002 - of some options
        """Which files are written, and what they hold; "" where there is nothing to say."""
        return "", ""


LABEL = 66.0
"""Width of the column of labels, logical pixels."""
LISTED = tuple((form.suffix, form.name, form.hint) for form in FORMATS if form.writer and form.hint)
"""Suffix, word and tooltip of each export format."""
_UNITS = ("", "m", "cm", "mm", "inch")
_UPS = ("", "y", "z")
_FIELD = 76.0
_FRAME = fields.Format(decimals=0, per_pixel=0.25, snap=10.0, units={})
_DECIMALS = fields.Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=0.0, high=float(MOST_DECIMALS))
_USUAL_DECIMALS = 6


def _rate(ui: PanelContext, chosen: float | None, shown: float, most: float, hint: str) -> float | None:
    """A field for frames per second, and a button that takes a choice back; returns the choice, None without one."""
    form = fields.Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=most)
    fps = fields.number(ui, "fps", shown, form, width=_FIELD + 12)
    chosen = chosen if fps == shown else round(fps, 3)
    if chosen is not None:
        imgui.same_line(0.0, ui.px(6))
        if controls.text_button(ui, "Reset##rate", hint=hint):
            return None
    return chosen


@dataclass(slots=True)
class ExportChoices(Options):
    """The choices for an export.

    Attributes:
        shows: 0 the played range, 1 frames ``first`` to ``last``, 2 the current pose.
        fps: frames per second; None: as it is played.
        units: index into `_UNITS`; 0: as read.
        up: index into `_UPS`; 0: as read.
        precision: decimals; None: as many as the format needs.
        joints: a table holds joint values, as robots are driven, and not positions in the world.
    """

    height: ClassVar[float] = 96.0
    shows: int
    first: int
    last: int
    fps: float | None = None
    units: int = 0
    up: int = 0
    precision: int | None = None
    joints: bool = False

    @classmethod
    def of(cls, document: Document) -> ExportChoices:
        """The first choices: the motion, or the pose if it is not part of the motion."""
        return cls(0 if shows_motion(document) else 2, *document.played, joints=is_robot(document))

    @property
    def formats(self) -> Sequence[FormatChoice]:
        usd = "" if find_spec("pxr") is not None else "Needs usd-core: python3 -m pip install usd-core"
        return [FormatChoice(*listed, lacks=usd if listed[0] == ".usda" else "") for listed in LISTED]

    def options(self, document: Document, path: Path) -> ExportOptions:
        """The options for a file, without those that its format cannot store."""
        form = format_of(path)
        motion = self.shows != 2 and document.has_motion and not form.is_shape
        return ExportOptions(
            motion=motion,
            frames=(self.first, self.last) if motion and self.shows == 1 else None,
            fps=self.fps if motion else None,
            units=None if form.in_metres else _UNITS[self.units] or None,
            up=None if form.in_metres else _UPS[self.up] or None,
            precision=self.precision if form.decimals else None,
            joints=self.joints and form.has_joint_values,
        )

    def draw(self, ui: PanelContext, path: Path) -> None:
        form = format_of(path)
        self._motion(ui, shape=form.is_shape)
        self._numbers(ui, form)

    def _motion(self, ui: PanelContext, *, shape: bool) -> None:
        """The range of frames and their rate; neither for a format of shapes."""
        document = ui.controller.shown_motion().document
        first, last = document.played
        controls.label(ui, "Range", width=LABEL, height=controls.SEGMENT)
        words = (f"Frames {first} to {last}" if document.has_motion else "Motion", "From, to", "This pose")
        if not document.has_motion or shape:
            controls.choose(ui, "range", range(3), words, 2, off=(0, 1))
            return
        self.shows = controls.choose(ui, "range", range(3), words, self.shows)
        if self.shows == 2:
            return
        if self.shows == 1:
            ends = [self.first, self.last]
            for index, name in enumerate(("from", "to")):
                _beside(ui, _FIELD)
                said = f"Frame, {name}"
                ends[index] = round(fields.number(ui, name, float(ends[index]), _FRAME, width=_FIELD, hint=said))
            self.first = min(max(ends[0], first), last)
            self.last = min(max(ends[1], self.first), last)
        _beside(ui, 40 + _FIELD + 12 + (0.0 if self.fps is None else 70.0))
        controls.label(ui, "Rate", width=40, height=controls.SEGMENT, hint="The duration stays the same at any rate")
        self.fps = _rate(ui, self.fps, self.fps or 1.0 / document.frame_time, 1000.0, "Same as playback")

    def _numbers(self, ui: PanelContext, form: FileFormat) -> None:
        """Units, up axis and decimals, where the format leaves a choice."""
        controls.label(ui, "Units", width=LABEL, height=controls.SEGMENT)
        if form.in_metres:
            words = "Radians, metres" if form.has_joint_values and self.joints else "Metres, Y up: fixed by this format"
            controls.note(ui, words, height=controls.SEGMENT, gap=0.0)
            if form.has_joint_values:
                _beside(ui, 62 + 200)
                said = "Positions and angles of all joints, or the values of their degrees of freedom"
                controls.label(ui, "Columns", width=62, height=controls.SEGMENT, hint=said)
                self.joints = controls.choose(ui, "columns", (False, True), ("Positions", "Joint values"), self.joints)
        else:
            self.units = controls.choose(ui, "units", range(5), ("As read", "m", "cm", "mm", "inch"), self.units)
            _beside(ui, 28 + 140)
            controls.label(ui, "Up", width=28, height=controls.SEGMENT)
            self.up = controls.choose(ui, "up", range(3), ("As read", "Y", "Z"), self.up)
        if form.decimals:
            _beside(ui, 66 + 34 + (0.0 if self.precision is None else 50.0))
            controls.label(ui, "Decimals", width=66, height=controls.SEGMENT)
            if self.precision is not None:
                self.precision = round(fields.number(ui, "decimals", float(self.precision), _DECIMALS, width=44))
                imgui.same_line(0.0, ui.px(6))
            if controls.text_button(ui, "All##decimals", hint="All that the format needs"):
                self.precision = _USUAL_DECIMALS if self.precision is None else None


def _beside(ui: PanelContext, width: float) -> None:
    """Continue the row with something of this width, logical pixels, or on another line if there is no room for it."""
    imgui.same_line(0.0, ui.px(14))
    if imgui.get_content_region_avail().x < ui.px(width):
        imgui.new_line()
        controls.label(ui, "", width=LABEL, height=controls.SEGMENT)


_SIZES = {"view": (0, 0), "360": (640, 360), "720": (1280, 720), "1080": (1920, 1080), "own": (0, 0)}
"""(width, height) of the sizes to choose from; `FilmChoices.pixels` has those of "view" and "own"."""
_KEPT = ("grid", "names", "goals", "limits")
"""Parts that the preferences remember; ghosts and trails are as in the view."""
_WORDS = {"mp4": "MP4", "gif": "GIF", "png": "Pictures"}
_PIXELS = fields.Format(decimals=0, per_pixel=2.0, snap=16.0, units={}, low=2.0, high=8192.0)
_SECONDS = fields.Format(decimals=1, unit=" s", per_pixel=0.05, snap=1.0, units={"s": 1.0}, low=0.1, high=SLOWEST_TURN)
_HINTS = {
    "grid": "The lines on the ground",
    "names": "The names of all joints",
    "goals": "Effectors, targets and pins",
    "limits": "Joint ranges; joints at a limit are highlighted",
    "ghosts": "The figure at other frames, as in the view",
    "trails": "The paths of the selection, as in the view",
}


@dataclass(slots=True)
class FilmChoices(Options):
    """The choices for a film.

    Attributes:
        subject: the character that is filmed.
        first: the format of the name at first.
        size: key of `_SIZES`; "": the usual one of the format, since GIF files are large.
        own: (width, height) for "own".
        shows: index into `film.ranges`.
        fps: as typed; None: as the take and the format have it.
        seconds: length of the film of a pose.
        turntable: the camera circles the figure.
        whole: all of the motion is in view; None: only if it would leave the view otherwise.
        parts: of `film.PARTS`, those shown.
        lacks: why MP4 is not available; "" if it is.
        outward: whether the figure leaves the view.
    """

    height: ClassVar[float] = 216.0
    subject: Character
    first: film.FilmFormat = "mp4"
    size: str = ""
    own: tuple[int, int] = (640, 480)
    shows: int = 0
    fps: float | None = None
    seconds: float = STILL_TURN
    turntable: bool = False
    whole: bool | None = None
    parts: set[str] = field(default_factory=set)
    lacks: str = ""
    outward: Latest[bool] = field(default_factory=Latest)

    @classmethod
    def of(cls, ui: PanelContext) -> FilmChoices:
        """The choices that the preferences remember."""
        document, remembered = ui.controller.filmed().document, ui.controller.view.preferences.film
        lacks = _why_no_mp4()
        usual: film.FilmFormat = "gif" if lacks else "mp4"
        there = film.FILM_FORMATS[1:] if lacks else film.FILM_FORMATS
        return cls(
            document.character,
            next((form for form in there if form == remembered.get("format")), usual),
            next((size for size in _SIZES if size == remembered.get("size")), ""),
            _numbers(remembered.get("own", "")) or (640, 480),
            turntable=film.ranges(document) == (None,),
            parts=_parts(ui, remembered.get("parts")),
            lacks=lacks,
        )

    def again(self, document: Document) -> None:
        """Ask about the same figure again."""
        self.lacks, self.outward = _why_no_mp4(), Latest()
        self.shows = min(self.shows, len(film.ranges(document)) - 1)

    def remember(self, ui: PanelContext, form: film.FilmFormat) -> None:
        """Store in the preferences the choices that suit other films, too."""
        preferences = ui.controller.view.preferences
        changes = {"format": form, "size": self.size, "own": f"{self.own[0]}x{self.own[1]}"}
        if ui.controller.filmed().ghosts is None:  # else goals would be shown without being asked for
            changes["parts"] = " ".join(part for part in _KEPT if part in self.parts)
        preferences.film = {**preferences.film, **changes}

    # What is filmed

    @property
    def formats(self) -> Sequence[FormatChoice]:
        lacks = {"mp4": self.lacks}
        return [FormatChoice(f".{form}", _WORDS[form], lacks=lacks.get(form, "")) for form in film.FILM_FORMATS]

    def renamed(self, stem: str, suffix: str) -> str:
        return film.renamed(stem, film.form_of(suffix) or self.first)

    def frames(self, document: Document) -> tuple[int, int] | None:
        """The frames shown, as in `FilmPlan.frames`."""
        every = film.ranges(document)
        return every[min(self.shows, len(every) - 1)]

    def plan(self, ui: PanelContext, form: film.FilmFormat) -> film.FilmPlan:
        """The settings of the film in a format."""
        document = ui.controller.filmed().document
        frames = self.frames(document)
        return film.FilmPlan(
            size=self.pixels(ui, form),
            frames=frames,
            fps=min(self.fps, film.fastest(form)) if self.fps else film.default_rate(document, frames, form),
            seconds=self.seconds,
            turntable=self.turntable or frames is None,
            whole=self._goes_out(ui, form) if self.whole is None else self.whole,
            parts=frozenset(self.parts),
        )

    def order(self, ui: PanelContext, path: Path) -> film.FilmOrder:
        """The film for a typed path, whose suffix is the format."""
        form = film.form_of(path.name) or self.first
        return film.FilmOrder(self.plan(ui, form), path.parent / film.film_name(path.name, form))

    def pictures(self, ui: PanelContext, plan: film.FilmPlan) -> int:
        """Number of pictures of a film."""
        return film.count(ui.controller.filmed().document, plan)

    def sized(self, form: film.FilmFormat) -> str:
        """The key of `_SIZES` in use."""
        return self.size or ("360" if form == "gif" else "720")

    def pixels(self, ui: PanelContext, form: film.FilmFormat) -> tuple[int, int]:
        """(width, height) of the pictures in pixels."""
        sized = self.sized(form)
        return ui.regions.viewport.size if sized == "view" else self.own if sized == "own" else _SIZES[sized]

    def _goes_out(self, ui: PanelContext, form: film.FilmFormat) -> bool:
        """Whether the figure leaves the view during the film with the camera as it is."""
        controller, document = ui.controller, ui.controller.filmed().document
        frames, size, view = self.frames(document), self.pixels(ui, form), ui.regions.viewport.size
        if frames is None or controller.camera_moves.follow:
            return False
        camera = controller.camera_moves.heading_for
        return self.outward.of(
            lambda: film.leaves_view(document, frames, film.widened_camera(camera, view, size), size),
            camera, document.take, document.clip_data, equal=(frames, size, view),
        )  # fmt: skip

    def advice(self, ui: PanelContext, path: Path) -> tuple[str, str]:
        """The file, or the first and last of numbered pictures; their number, size and duration."""
        plan, file = self.order(ui, path)
        pictures = self.pictures(ui, plan)
        files = film.files_of(file, pictures)
        last = f" to {files[-1].name}" if len(files) > 1 else ""
        return f"To {files[0]}{last}", film.length_words(pictures, plan.fps, plan.size)

    # Rows

    def draw(self, ui: PanelContext, path: Path) -> None:
        form = film.form_of(path.name) or self.first
        if self.lacks:
            controls.paragraph(ui, self.lacks, "warn", small=True)
        self._picture_rows(ui, form)
        self._motion_rows(ui)
        plan = self.plan(ui, form)
        self._rate_row(ui, plan, form)
        self._camera_rows(ui, plan, form)
        self._show_row(ui, still=plan.frames is None)

    def _picture_rows(self, ui: PanelContext, form: film.FilmFormat) -> None:
        controls.label(ui, "Size", width=LABEL, height=controls.SEGMENT)
        names, view = list(_SIZES), ui.regions.viewport.size
        words = [f"View {film.size_words(view)}", *(f"{name}p" for name in names[1:-1]), "Other"]
        hints = ["The size of the view", *(film.size_words(_SIZES[name]) for name in names[1:-1])]
        size = controls.choose(ui, "size", names, words, self.sized(form), hints=hints)
        if size != self.sized(form):
            self.own = self.pixels(ui, form) if size == "own" else self.own
            self.size = size
        if self.size != "own":
            return
        controls.label(ui, "", width=LABEL)
        sizes = [float(pixels) for pixels in self.own]
        for index, name in enumerate(("width", "height")):
            if index:
                controls.note(ui, "\N{MULTIPLICATION SIGN}")
                imgui.same_line(0.0, ui.px(10))
            sizes[index] = fields.number(ui, name, sizes[index], _PIXELS, width=_FIELD, hint=name.capitalize())
        self.own = round(sizes[0]), round(sizes[1])
        odd = form == "mp4" and any(pixels % 2 for pixels in self.own)
        controls.note(ui, "pixels; MP4 needs even numbers" if odd else "pixels")

    def _motion_rows(self, ui: PanelContext) -> None:
        filmed = ui.controller.filmed()
        document, every = filmed.document, film.ranges(filmed.document)
        if len(every) > 1:
            controls.label(ui, "Range", width=LABEL, height=controls.SEGMENT, hint="Frames of the take")
            words = [f"Frames {frames[0]} to {frames[1]}" if frames else "This pose" for frames in every]
            if filmed.ghosts is not None:
                words[0] = "All iterations"
            self.shows = every.index(controls.choose(ui, "shows", every, words, self.frames(document)))
            if self.frames(document) is not None and not shows_take(document):
                controls.note(ui, "pose not keyed", "warn", controls.SEGMENT)
                tip("The pose shown is not part of the take, so it will not be in the film. S keys it")
        if self.frames(document) is None:
            controls.label(ui, "Duration", width=LABEL)
            self.seconds = round(fields.number(ui, "seconds", self.seconds, _SECONDS, width=_FIELD), 2)
            controls.note(ui, "one full turn; loops without a jump")
            if ui.controller.demos.has_motions:
                controls.label(ui, "", width=LABEL)
                key = BY_ID["key.record"].shortcut
                controls.note(ui, f"Moving targets will not move: record them first with {key}", "warn")

    def _rate_row(self, ui: PanelContext, plan: film.FilmPlan, form: film.FilmFormat) -> None:
        said = "Frames per second; the film lasts as long as the take at any rate"
        controls.label(ui, "Rate", width=LABEL, hint=said)
        self.fps = _rate(ui, self.fps, plan.fps, film.fastest(form), "Same as the take")
        filmed = ui.controller.filmed()
        solved = filmed.ghosts is not None and plan.frames is not None
        own = f"{1.0 / filmed.document.frame_time:g} iterations a second" if solved else "the take's own"
        controls.note(ui, film.rate_words(filmed.document, plan, form, own))

    def _camera_rows(self, ui: PanelContext, plan: film.FilmPlan, form: film.FilmFormat) -> None:
        controls.label(ui, "View", width=LABEL, height=controls.SEGMENT)
        hints = ("Exactly what the view shows", "From the same side, as close as the motion allows")
        words = ("As in the window", "All in view")
        whole = controls.choose(ui, "whole", (False, True), words, plan.whole, widths=ui.px(150), hints=hints)
        self.whole = whole if whole is not plan.whole else self.whole
        if self._goes_out(ui, form):
            said, colour = ("it would leave the view", "text3") if plan.whole else ("it leaves the view", "warn")
            controls.note(ui, said, colour, controls.SEGMENT)
        controls.label(ui, "Camera", width=LABEL, height=controls.SEGMENT)
        still = plan.frames is None
        fixed = "A still pose is shown on a turntable" if still else ""
        turns = controls.choose(
            ui, "camera", (False, True), ("Fixed", "Turntable"), plan.turntable, widths=ui.px(150),
            hints=(fixed, "The camera circles the figure once during the film"), off={0} if still else (),
        )  # fmt: skip
        self.turntable = turns if turns is not plan.turntable else self.turntable

    def _show_row(self, ui: PanelContext, *, still: bool) -> None:
        """Toggles for what is shown besides the figure; a pose has neither ghosts nor trails."""
        controls.label(ui, "Show", width=LABEL, height=controls.SEGMENT)
        for index, part in enumerate(film.PARTS):
            if index:
                imgui.same_line(0.0, ui.px(4))
            on, there = part in self.parts, not still or part not in {"ghosts", "trails"}
            if controls.text_button(
                ui, f"{part.capitalize()}##part", on=on, height=controls.SEGMENT, enabled=there, hint=_HINTS[part]
            ):
                self.parts ^= {part}


def _why_no_mp4() -> str:
    """What is missing for MP4 and how to install it; "" if nothing is."""
    from viewer.formats.video import find_ffmpeg  # noqa: PLC0415 - a window that never films needs no Pillow

    try:
        find_ffmpeg()
    except MachineError as error:
        return str(error)
    return ""


def _parts(ui: PanelContext, remembered: str | None) -> set[str]:
    display = ui.controller.view.display
    shown = {part for part in film.PARTS if part not in _KEPT and getattr(display, part)}
    if ui.controller.filmed().ghosts is not None:
        shown.add("goals")  # the targets of the methods
    if remembered is None:
        return shown | ({"grid"} if display.grid else set())
    return shown | {part for part in remembered.split() if part in _KEPT}


def _numbers(text: str) -> tuple[int, int] | None:
    wide, _, high = text.partition("x")
    if not (wide.isdecimal() and high.isdecimal()):
        return None
    return min(max(int(wide), 2), 8192), min(max(int(high), 2), 8192)
