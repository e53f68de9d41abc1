"""The dialog that exports a film."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels import file_dialog
from viewer.app.panels.file_dialog import has_suffix, names_folder, typed_path
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import Choice, choices, dialog
from viewer.app.widgets.pen import Pen, gap, tip
from viewer.document import Document
from viewer.document.changed_keys import shows_take
from viewer.errors import MachineError, ViewerError, quote
from viewer.formats.file_formats import SLOWEST_TURN, STILL_TURN
from viewer.formats.files import check_output
from viewer.latest import Latest
from viewer.session.session_files import SUFFIX
from viewer.skeleton import Character
from viewer.ui import film
from viewer.ui.commands import BY_ID

_SIZES = {"view": (0, 0), "360": (640, 360), "720": (1280, 720), "1080": (1920, 1080), "own": (0, 0)}
"""(width, height) of the sizes to choose from; `_size_of` has those of "view" and "own"."""
_USUAL, _USUAL_GIF = "720", "360"
"""Sizes at first; GIF files are large."""
_KEPT = ("grid", "names", "goals", "limits")
"""Parts that the preferences remember; ghosts and trails are as in the view."""


@dataclass(slots=True)
class FilmState:
    """State of the dialog.

    Attributes:
        subject: the character that is filmed.
        name: of the file, as typed.
        folder: of the file, as typed.
        form: the format.
        size: key of `_SIZES`; "": the usual one of the format.
        own: (width, height) for "own".
        shows: index into `ranges`.
        fps: as typed; None: as the take and the format have it.
        seconds: length of the film of a pose.
        turntable: the camera circles the figure.
        whole: all of the motion is in view; None: only if it would leave the view otherwise.
        parts: of `PARTS`, those shown.
        lacks: why MP4 is not available; "" if it is.
        problem: why the film cannot be made.
        agreed: the existing file that may be replaced; None: none.
        asking: the question whether to replace files.
        fresh: the name field gets the focus in the next frame.
        outward: of `_goes_out`.
    """

    subject: Character
    name: str
    folder: str
    form: film.FilmFormat = "mp4"
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
    fresh: bool = True
    outward: Latest[bool] = field(default_factory=Latest)

    @property
    def sized(self) -> str:
        """The key of `_SIZES` in use."""
        return self.size or (_USUAL_GIF if self.form == "gif" else _USUAL)

    def read_name(self) -> None:
        """Choose the format by the suffix of the typed name, if it is available."""
        form = film.form_of(self.name.strip())
        if form is not None and not (form == "mp4" and self.lacks):
            self.form = form
        self.changed()

    def take_path(self, path: Path) -> None:
        """Use a path from the file dialog, which has asked before replacing a file."""
        self.name, self.folder = path.name, str(path.parent)
        self.read_name()
        self.agreed, self.fresh = path if path == self.path else None, True

    def changed(self) -> None:
        """Forget problems and answers: they were about other choices."""
        self.problem, self.asking, self.agreed = "", "", None

    @property
    def refused(self) -> str:
        """Why the name cannot be used: its suffix is no film format; else ""."""
        name = typed_path(self.name.strip(), Path.cwd()).name
        if film.form_of(name) is not None or not has_suffix(name):
            return ""
        formats = ", ".join(f".{form}" for form in film.FILM_FORMATS)
        return f"{quote(Path(name).suffix)} is not a film format: expected {formats}"

    @property
    def path(self) -> Path:
        """The file, as in `FilmOrder.path`; a name that is only a folder gets a file name of its own."""
        path = typed_path(self.name, typed_path(self.folder, Path.cwd()))
        if names_folder(self.name):
            path /= "film"
        return path.with_name(film.film_name(path.name, self.form))

    def frames(self, document: Document) -> tuple[int, int] | None:
        """The frames shown, as in `FilmPlan.frames`."""
        every = film.ranges(document)
        return every[min(self.shows, len(every) - 1)]


def _opened(ui: PanelContext, before: FilmState | None, folder: Path) -> FilmState:
    """The state of the dialog when it opens: the last one for this figure, else the remembered choices."""
    document, remembered = ui.controller.filmed().document, ui.controller.view.preferences.film
    lacks = _why_no_mp4()
    if before is not None and before.subject is document.character:
        before.changed()
        before.outward, before.fresh = Latest(), True
        before.lacks = lacks
        before.shows = min(before.shows, len(film.ranges(document)) - 1)
        return before
    stem = Path(ui.controller.files.name.removesuffix(SUFFIX)).stem or "film"
    state = FilmState(document.character, stem, str(folder), lacks=lacks)
    state.form = next((form for form in film.FILM_FORMATS if form == remembered.get("format")), "mp4")
    state.form = "gif" if lacks and state.form == "mp4" else state.form
    state.name = film.renamed(stem, state.form)
    state.size = next((size for size in _SIZES if size == remembered.get("size")), "")
    state.own = _numbers(remembered.get("own", "")) or state.own
    state.turntable = film.ranges(document) == (None,)
    state.parts = _parts(ui, remembered.get("parts"))
    return state


def _remember(ui: PanelContext, state: FilmState) -> None:
    """Store in the preferences the choices that suit other films, too."""
    preferences = ui.controller.view.preferences
    changes = {"format": state.form, "size": state.size, "own": f"{state.own[0]}x{state.own[1]}"}
    if ui.controller.filmed().ghosts is None:  # else goals would be shown without being asked for
        changes["parts"] = " ".join(part for part in _KEPT if part in state.parts)
    preferences.film = {**preferences.film, **changes}


def _plan_of(ui: PanelContext, state: FilmState) -> film.FilmPlan:
    document = ui.controller.filmed().document
    frames = state.frames(document)
    fps = state.fps or film.default_rate(document, frames, state.form)
    return film.FilmPlan(
        size=_size_of(ui, state),
        frames=frames,
        fps=min(fps, film.fastest(state.form)) if state.fps else fps,
        seconds=state.seconds,
        turntable=state.turntable or frames is None,
        whole=_goes_out(ui, state) if state.whole is None else state.whole,
        parts=frozenset(state.parts),
    )


def _size_of(ui: PanelContext, state: FilmState) -> tuple[int, int]:
    """(width, height) of the pictures in pixels."""
    if state.sized == "view":
        return ui.regions.viewport.size
    return state.own if state.sized == "own" else _SIZES[state.sized]


def _goes_out(ui: PanelContext, state: FilmState) -> bool:
    """Whether the figure leaves the view during the film with the camera as it is."""
    controller, document = ui.controller, ui.controller.filmed().document
    frames, size, view = state.frames(document), _size_of(ui, state), ui.regions.viewport.size
    if frames is None or controller.camera_moves.follow:
        return False
    camera = controller.camera_moves.heading_for
    return state.outward.of(
        lambda: film.leaves_view(document, frames, film.widened_camera(camera, view, size), size),
        camera, document.take, document.clip_data, equal=(frames, size, view),
    )  # fmt: skip


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


_LABEL = 72.0
"""Width of the column of labels, logical pixels."""

_FIELD = 84.0
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


def _picture_rows(ui: PanelContext, state: FilmState) -> None:
    controls.label(ui, "Size", width=_LABEL, height=controls.SEGMENT)
    names, view = list(_SIZES), ui.regions.viewport.size
    words = [f"View {film.size_words(view)}", *(f"{name}p" for name in names[1:-1]), "Other"]
    hints = ["The size of the view", *(film.size_words(_SIZES[name]) for name in names[1:-1])]
    size = controls.choose(ui, "size", names, words, state.sized, hints=hints)
    if size != state.sized:
        state.own = _size_of(ui, state) if size == "own" else state.own
        state.size = size
    if state.size != "own":
        return
    controls.label(ui, "", width=_LABEL)
    sizes = [float(pixels) for pixels in state.own]
    for index, name in enumerate(("width", "height")):
        if index:
            controls.note(ui, "\N{MULTIPLICATION SIGN}")
            imgui.same_line(0.0, ui.px(10))
        sizes[index] = fields.number(ui, name, sizes[index], _PIXELS, width=_FIELD, hint=name.capitalize())
    state.own = round(sizes[0]), round(sizes[1])
    odd = state.form == "mp4" and any(pixels % 2 for pixels in state.own)
    controls.note(ui, "pixels; MP4 needs even numbers" if odd else "pixels")


def _motion_rows(ui: PanelContext, state: FilmState) -> None:
    """The rows for the range of frames or the duration, and for the rate."""
    filmed = ui.controller.filmed()
    document, every = filmed.document, film.ranges(filmed.document)
    if len(every) > 1:
        controls.label(ui, "Range", width=_LABEL, height=controls.SEGMENT, hint="Frames of the take")
        words = [f"Frames {frames[0]} to {frames[1]}" if frames else "This pose" for frames in every]
        if filmed.ghosts is not None:
            words[0] = "All iterations"
        frames = controls.choose(ui, "shows", every, words, state.frames(document))
        if frames != state.frames(document):
            state.shows = every.index(frames)
            state.changed()
        if state.frames(document) is not None and not shows_take(document):
            controls.note(ui, "pose not keyed", "warn", controls.SEGMENT)
            tip("The pose shown is not part of the take, so it will not be in the film. S keys it")
    if state.frames(document) is None:
        controls.label(ui, "Duration", width=_LABEL)
        seconds = round(fields.number(ui, "seconds", state.seconds, _SECONDS, width=_FIELD), 2)
        if seconds != state.seconds:
            state.seconds = seconds
            state.changed()
        controls.note(ui, "one full turn; loops without a jump")
        if ui.controller.demos.has_motions:
            controls.label(ui, "", width=_LABEL)
            controls.note(
                ui, f"Moving targets will not move: record them first with {BY_ID['key.record'].shortcut}", "warn"
            )
    _rate(ui, state)


def _rate(ui: PanelContext, state: FilmState) -> None:
    plan = _plan_of(ui, state)
    form = fields.Format(
        decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=film.fastest(state.form)
    )
    controls.label(ui, "Rate", width=_LABEL, hint="Frames per second; the film lasts as long as the take at any rate")
    fps = fields.number(ui, "fps", plan.fps, form, width=_FIELD)
    if fps != plan.fps:
        state.fps = round(fps, 3)
        state.changed()
    if state.fps is not None:
        imgui.same_line(0.0, ui.px(6))
        if controls.text_button(ui, "Reset", hint="Same as the take"):
            state.fps = None
            state.changed()
    filmed = ui.controller.filmed()
    solved = filmed.ghosts is not None and plan.frames is not None
    own = f"{1.0 / filmed.document.frame_time:g} iterations a second" if solved else "the take's own"
    controls.note(ui, film.rate_words(filmed.document, plan, state.form, own))


def _camera_rows(ui: PanelContext, state: FilmState) -> None:
    """The rows for the camera and for what is shown."""
    plan = _plan_of(ui, state)
    controls.label(ui, "View", width=_LABEL, height=controls.SEGMENT)
    hints = ("Exactly what the view shows", "From the same side, as close as the motion allows")
    words = ("As in the window", "All in view")
    whole = controls.choose(ui, "whole", (False, True), words, plan.whole, widths=ui.px(150), hints=hints)
    state.whole = whole if whole is not plan.whole else state.whole
    if _goes_out(ui, state):
        said, colour = ("it would leave the view", "text3") if plan.whole else ("it leaves the view", "warn")
        controls.note(ui, said, colour, controls.SEGMENT)
    controls.label(ui, "Camera", width=_LABEL, height=controls.SEGMENT)
    still = plan.frames is None
    hints = (
        "A still pose is shown on a turntable" if still else "",
        "The camera circles the figure once during the film",
    )
    turns = controls.choose(
        ui, "camera", (False, True), ("Fixed", "Turntable"), plan.turntable,
        widths=ui.px(150), hints=hints, off={0} if still else (),
    )  # fmt: skip
    state.turntable = turns if turns is not plan.turntable else state.turntable
    _show_rows(ui, state, still=still)


def _show_rows(ui: PanelContext, state: FilmState, *, still: bool) -> None:
    """Toggles for what is shown besides the figure; a pose has neither ghosts nor trails."""
    controls.label(ui, "Show", width=_LABEL, height=controls.SEGMENT)
    for index, part in enumerate(film.PARTS):
        if index:
            imgui.same_line(0.0, ui.px(4))
        on = part in state.parts
        there = not still or part not in {"ghosts", "trails"}
        if controls.text_button(
            ui, f"{part.capitalize()}##part", on=on, height=controls.SEGMENT, enabled=there, hint=_HINTS[part]
        ):
            state.parts ^= {part}


_POPUP = "##film dialog"
_WIDTH = 560.0
_WORDS = ("MP4", "GIF", "Pictures")
_SUFFIXES = tuple(f".{form}" for form in film.FILM_FORMATS)


def draw_film_dialog(ui: PanelContext) -> None:
    """Open the dialog when it is requested, and draw it."""
    request = ui.take("film-dialog")
    if request is not None:
        ui.controller.simulating.hold()  # the film shows what was seen
        ui.memory["film"] = state = _opened(ui, ui.memory.get("film"), file_dialog.first_folder(ui))
        if request.value is not None:
            state.take_path(request.value)
        imgui.open_popup(_POPUP)
    with dialog(ui, _POPUP, width=_WIDTH, title="Export film") as shown:
        if shown is None:
            return
        state = ui.memory["film"]
        # Keys that a field or the file dialog takes are not for this dialog.
        on_top = not imgui.is_popup_open(file_dialog.POPUP)
        shown.closed &= on_top
        enter = on_top and not imgui.is_any_item_active()
        entered = _place(ui, state)
        controls.separator(ui)
        _picture_rows(ui, state)
        _motion_rows(ui, state)
        _camera_rows(ui, state)
        gap(ui.px(4))
        shown.closed |= _bottom(ui, state, entered=entered, enter=enter)
        file_dialog.draw_open(ui)


def _place(ui: PanelContext, state: FilmState) -> bool:
    """Name, folder and format; returns whether Enter was pressed in the name."""
    controls.label(ui, "Name", width=_LABEL)
    if state.fresh:
        fields.focus_next_field()
        state.fresh = False
    before = state.name
    state.name, entered = fields.text_line(ui, "name", state.name, width=-ui.px(246))
    if state.name != before:
        state.read_name()
    _format(ui, state)
    controls.label(ui, "Folder", width=_LABEL)
    button = ui.px(96)
    before = state.folder
    state.folder, _ = fields.text_line(ui, "folder", state.folder, width=-button - ui.px(6))
    if state.folder != before:
        state.changed()
    imgui.same_line(0.0, ui.px(6))
    if controls.text_button(ui, "Choose…", icon=fa.ICON_FA_FOLDER_OPEN, width=button):
        _choose(ui, state)
    return entered


def _format(ui: PanelContext, state: FilmState) -> None:
    imgui.same_line(0.0, ui.px(6))
    off = {film.FILM_FORMATS.index("mp4")} if state.lacks else set()
    form = controls.choose(ui, "format", film.FILM_FORMATS, _WORDS, state.form, widths=ui.px(80), off=off)
    if form != state.form:
        state.form, state.name = form, film.renamed(state.name, form)
        state.changed()
    if state.lacks:
        imgui.indent(ui.px(_LABEL))
        controls.paragraph(ui, state.lacks, "warn", small=True)
        imgui.unindent(ui.px(_LABEL))


def _choose(ui: PanelContext, state: FilmState) -> None:
    """Choose the path in the file dialog."""
    there = state.path.parent
    folder = there if file_dialog.path_kind(there) == "folder" else file_dialog.first_folder(ui)
    suffixes = (f".{state.form}", *(suffix for suffix in _SUFFIXES if suffix != f".{state.form}"))
    asked = file_dialog.State("Save film as", "Choose", suffixes, state.take_path, saving=True, name=state.name)
    file_dialog.open_in(ui, asked, folder)


def _bottom(ui: PanelContext, state: FilmState, *, entered: bool, enter: bool) -> bool:
    """The files or a problem, the length, the buttons; returns whether the dialog is done."""
    plan = _plan_of(ui, state)
    pictures = film.count(ui.controller.filmed().document, plan)
    pen = Pen(ui)
    said = state.problem or state.asking
    controls.small_line(ui, said or _files(state, pictures), "warn" if said else "text3", height=20)
    x, y = imgui.get_cursor_screen_pos()
    pen.strong(x, pen.middle(y, pen.px(28)), film.length_words(pictures, plan.fps, plan.size))
    imgui.set_cursor_screen_pos((x, y))
    word = "Replace" if state.asking else "Film"
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True), enter=enter)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _ordered(ui, state, plan, pictures)


def _files(state: FilmState, pictures: int) -> str:
    """The file, or the first and last of numbered pictures, in words."""
    path = state.path
    if state.form != "png":
        return f"To {path}"
    files = film.files_of(path, pictures)
    last = f" to {files[-1].name}" if pictures > 1 else ""
    return f"To {files[0]}{last}"


def _ordered(ui: PanelContext, state: FilmState, plan: film.FilmPlan, pictures: int) -> bool:
    """Request the film, or show why that is not possible yet; returns whether it was requested."""
    path = state.path
    if state.refused:
        state.problem, state.fresh = state.refused, True
        return False
    try:
        check_output(film.files_of(path, 1)[0])
    except ViewerError as error:
        state.problem, state.fresh = str(error), True
        return False
    question = "" if state.asking or state.agreed == path else film.replace_question(path, pictures)
    if question:
        state.asking, state.fresh = question, True  # so that Enter answers the question
        return False
    _remember(ui, state)
    ui.last_folder = path.parent
    state.changed()
    ui.controller.view.request("film", film.FilmOrder(plan, path))
    return True
