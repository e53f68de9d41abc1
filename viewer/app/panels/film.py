"""Films in the window: the card of a film that is being made, and the dialog that orders one."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels import file_dialog
from viewer.app.panels.file_dialog import has_suffix, meant
from viewer.app.panels.panel_parts import ask
from viewer.app.widgets.buttons import FIELD, SEGMENT, choose, label, note, separator, text_button
from viewer.app.widgets.dialogs import Choice, card, choices, dialog, escape_pressed, paragraph
from viewer.app.widgets.fields import FOCUS, Format, number, take_keyboard, text_line
from viewer.app.widgets.pen import Pen, gap, tip
from viewer.document.document import Document
from viewer.document.take_changes import shows_take
from viewer.errors import MachineError, ViewerError, quote
from viewer.formats.files import check_output
from viewer.formats.video import SLOWEST_TURN, STILL_TURN
from viewer.session.files import SUFFIX
from viewer.skeleton.character import Character
from viewer.ui.commands import BY_ID
from viewer.ui.film import (
    FORMATS,
    PARTS,
    FilmFormat,
    FilmOrder,
    FilmPlan,
    FilmProgress,
    count,
    default_rate,
    fastest,
    files_of,
    film_name,
    form_of,
    leaves_view,
    length_words,
    ranges,
    rate_words,
    renamed,
    replace_question,
    size_words,
    widened_camera,
)

_CLOSE_POPUP = "##ask film"
_ANSWERS = {
    "Stop and close": "film-stop-then-quit", "Keep open": "film-keep-open", "Close when done": "film-then-quit",
}  # fmt: skip
_CLOSES = "closes when done"

_LINE, _PADDING, _MARGIN, _GAP, _ICON = 20.0, 8.0, 12.0, 6.0, 26.0
_SHARE, _LEAST, _WIDEST = 0.34, 260.0, 400.0
"""Width, as messages have it: a part of the view's, at least and at most so many logical pixels."""
_HIGH = 2.0 * _PADDING + _LINE + 2.0 * _GAP + 6.0 + FIELD


def draw_film_card(ui: PanelContext) -> None:
    """Draw what there is."""
    if ui.film is not None:
        _card(ui, ui.film)
    _ask_close(ui)


def film_height(ui: PanelContext) -> float:
    """Framebuffer pixels at the bottom of the view's right corner that the card takes, the space above it included."""
    return 0.0 if ui.film is None else ui.px(_HIGH) + ui.px(_GAP)


def _card(ui: PanelContext, film: FilmProgress) -> None:
    """In the lower right corner of the view, beside the figure; messages stand above it."""
    view = ui.regions.viewport
    wide = round(min(max(_SHARE * view.w, ui.px(_LEAST)), ui.px(_WIDEST), view.w - 2.0 * ui.px(_MARGIN)))
    place = view.x + view.w - ui.px(_MARGIN) - wide, view.y + view.h - ui.px(_MARGIN) - ui.px(_HIGH)
    with card(ui, "##film card", place, (wide, ui.px(_HIGH))):
        _card_contents(ui, film)


def _card_contents(ui: PanelContext, film: FilmProgress) -> None:
    """Name, track, count, time left, Cancel; numbers keep their places."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, left = imgui.get_content_region_avail().x, x + pen.px(_ICON)
    pen.icon(x + pen.px(8), y + pen.px(_LINE) / 2.0, fa.ICON_FA_FILM, "accent")
    room = wide - pen.px(_ICON)
    if film.closes:
        pen.right(x + wide, pen.middle(y, pen.px(_LINE), SMALL), _CLOSES, "text2", SMALL)
        room -= pen.width(_CLOSES, SMALL) + pen.px(12)
    pen.text(left, pen.middle(y, pen.px(_LINE)), pen.fit(f"Filming {film.name}", room))
    y += pen.px(_LINE) + pen.px(_GAP)
    _track(pen, (left, y), wide - pen.px(_ICON), film.done / max(film.total, 1))
    y += pen.px(6) + pen.px(_GAP)
    h = pen.px(FIELD)
    counted = left + pen.width(f"{film.total} of {film.total}")
    pen.right(counted, pen.middle(y, h), film.words)
    button = pen.width("Cancel") + pen.px(20)
    room = x + wide - button - pen.px(8) - counted - pen.px(12)
    pen.text(counted + pen.px(12), pen.middle(y, h), pen.fit(film.left_words, room), "text2")
    imgui.set_cursor_screen_pos((x + wide - button, y))
    if text_button(ui, "Cancel", width=button, hint="Stop filming; an existing file is kept"):
        ask(ui, "film-cancel")


def _track(pen: Pen, at: tuple[float, float], wide: float, part: float) -> None:
    """How far, as a bar from its upper left corner on."""
    (x, y), h = at, pen.px(6)
    pen.box(x, y, wide, h, "field", rounding=3)
    if part > 0.0:
        pen.box(x, y, max(wide * min(part, 1.0), h), h, "accent", rounding=3)


def _ask_close(ui: PanelContext) -> None:
    """The window is to close while a film is being made."""
    if ui.take("ask-film") is not None and ui.film is not None:
        imgui.open_popup(_CLOSE_POPUP)
    with dialog(ui, _CLOSE_POPUP, width=440.0) as shown:
        if shown is None:
            return
        if ui.film is None:  # it has been finished meanwhile
            shown.closed = True
            return
        paragraph(ui, f"{ui.film.name} is being filmed: {ui.film.words} pictures")
        gap(ui.px(8))
        pressed = choices(ui, *(Choice(words, primary=words == "Close when done") for words in _ANSWERS))
        if not pressed and escape_pressed():
            pressed = "Keep open"
        if pressed:
            shown.closed = True
            ask(ui, _ANSWERS[pressed])


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
        agreed: the file, which exists, that may be replaced; None: not asked.
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
        return f"{quote(Path(name).suffix)} is not a film format: expected {formats}"

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
    document, liked = ui.session.document, ui.controller.view.preferences.film
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
    ui.controller.view.preferences.film = {
        "format": state.form,
        "size": state.size,
        "own": f"{state.own[0]}x{state.own[1]}",
        "parts": " ".join(part for part in _KEPT if part in state.parts),
    }


def plan_of(ui: PanelContext, state: FilmState) -> FilmPlan:
    """The film that the choices make."""
    document = ui.session.document
    frames = state.frames(document)
    fps = state.fps or default_rate(document, frames, state.form)
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
        seen_by = widened_camera(camera, ui.regions.viewport.size, size)
        state.outward = key, leaves_view(document, frames, seen_by, size)
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
    display = ui.controller.view.display
    shown = {part for part in PARTS if part not in _KEPT and getattr(display, part)}
    if liked is None:
        return shown | ({"grid"} if display.grid else set())
    return shown | {part for part in liked.split() if part in _KEPT}


def _numbers(text: str) -> tuple[int, int] | None:
    wide, _, high = text.partition("x")
    if not (wide.isdecimal() and high.isdecimal()):
        return None
    return min(max(int(wide), 2), 8192), min(max(int(high), 2), 8192)


LABEL = 72.0
"""Width of the column of labels, logical pixels."""

_FIELD = 84.0
_PIXELS = Format(decimals=0, per_pixel=2.0, snap=16.0, units={}, low=2.0, high=8192.0)
_SECONDS = Format(decimals=1, unit=" s", per_pixel=0.05, snap=1.0, units={"s": 1.0}, low=0.1, high=SLOWEST_TURN)
_HINTS = {
    "grid": "The lines on the ground",
    "names": "The names of all joints",
    "goals": "Effectors, targets and pins",
    "limits": "Joint ranges; joints at a limit are highlighted",
    "ghosts": "The figure at other frames, as in the view",
    "trails": "The paths of the selection, as in the view",
}


def picture_rows(ui: PanelContext, state: FilmState) -> None:
    """How large."""
    label(ui, "Size", width=LABEL, height=SEGMENT)
    names, view = list(SIZES), ui.regions.viewport.size
    words = [f"View {size_words(view)}", *(f"{name}p" for name in names[1:-1]), "Other"]
    hints = ["As large as it is seen", *(size_words(SIZES[name]) for name in names[1:-1])]
    size = choose(ui, "size", names, words, state.sized, hints=hints)
    if size != state.sized:
        state.own = size_of(ui, state) if size == "own" else state.own
        state.size = size
    if state.size != "own":
        return
    label(ui, "", width=LABEL)
    sizes = [float(pixels) for pixels in state.own]
    for index, name in enumerate(("width", "height")):
        if index:
            note(ui, "\N{MULTIPLICATION SIGN}")
            imgui.same_line(0.0, ui.px(10))
        sizes[index] = number(ui, name, sizes[index], _PIXELS, width=_FIELD, hint=name.capitalize())
    state.own = round(sizes[0]), round(sizes[1])
    odd = state.form == "mp4" and any(pixels % 2 for pixels in state.own)
    note(ui, "pixels; MP4 needs even numbers" if odd else "pixels")


def motion_rows(ui: PanelContext, state: FilmState) -> None:
    """What of the take, and how many pictures a second."""
    document = ui.session.document
    every = ranges(document)
    if len(every) > 1:
        label(ui, "Range", width=LABEL, height=SEGMENT, hint="Frames of the take")
        words = [f"Frames {frames[0]} to {frames[1]}" if frames else "This pose" for frames in every]
        frames = choose(ui, "shows", every, words, state.frames(document))
        if frames != state.frames(document):
            state.shows = every.index(frames)
            state.changed()
        if state.frames(document) is not None and not shows_take(document):
            note(ui, "pose not keyed", "warn", SEGMENT)
            tip("The pose shown is not part of the take, so it will not be in the film. S keys it")
    if state.frames(document) is None:
        label(ui, "Duration", width=LABEL)
        seconds = round(number(ui, "seconds", state.seconds, _SECONDS, width=_FIELD), 2)
        if seconds != state.seconds:
            state.seconds = seconds
            state.changed()
        note(ui, "one full turn; loops without a jump")
        if ui.controller.demos.has_motions:
            label(ui, "", width=LABEL)
            note(ui, f"Moving targets will not move: record them first with {BY_ID['key.record'].shortcut}", "warn")
    _rate(ui, state)


def _rate(ui: PanelContext, state: FilmState) -> None:
    plan = plan_of(ui, state)
    form = Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=fastest(state.form))
    label(ui, "Rate", width=LABEL, hint="Frames per second; the film lasts as long as the take at any rate")
    fps = number(ui, "fps", plan.fps, form, width=_FIELD)
    if fps != plan.fps:
        state.fps = round(fps, 3)
        state.changed()
    if state.fps is not None:
        imgui.same_line(0.0, ui.px(6))
        if text_button(ui, "Reset", hint="Same as the take"):
            state.fps = None
            state.changed()
    note(ui, rate_words(ui.session.document, plan, state.form))


def camera_rows(ui: PanelContext, state: FilmState) -> None:
    """From where, and what is shown."""
    plan = plan_of(ui, state)
    label(ui, "View", width=LABEL, height=SEGMENT)
    near = ("Exactly what the view shows", "From the same side, as close as the whole motion allows")
    words = ("As in the window", "All in view")
    whole = choose(ui, "whole", (False, True), words, plan.whole, widths=ui.px(150), hints=near)
    state.whole = whole if whole is not plan.whole else state.whole
    if goes_out(ui, state):
        said, colour = ("it would leave the view", "text3") if plan.whole else ("it leaves the view", "warn")
        note(ui, said, colour, SEGMENT)
    label(ui, "Camera", width=LABEL, height=SEGMENT)
    still = plan.frames is None
    hints = (
        "A still pose is shown on a turntable" if still else "",
        "The camera circles the figure once during the film",
    )
    off = {0} if still else ()
    turns = choose(
        ui, "camera", (False, True), ("Fixed", "Turntable"), plan.turntable, widths=ui.px(150), hints=hints, off=off
    )
    state.turntable = turns if turns is not plan.turntable else state.turntable
    _parts_film_rows(ui, state, still=still)


def _parts_film_rows(ui: PanelContext, state: FilmState, *, still: bool) -> None:
    """What is shown besides the figure; a pose has no other frames."""
    label(ui, "Show", width=LABEL, height=SEGMENT)
    for index, part in enumerate(PARTS):
        if index:
            imgui.same_line(0.0, ui.px(4))
        on = part in state.parts
        there = not still or part not in {"ghosts", "trails"}
        if text_button(ui, f"{part.capitalize()}##part", on=on, height=SEGMENT, enabled=there, hint=_HINTS[part]):
            state.parts ^= {part}


_POPUP = "##film dialog"
_WIDTH = 560.0
_WORDS = ("MP4", "GIF", "PNG pictures")
_SUFFIXES = tuple(f".{form}" for form in FORMATS)


def draw_film_dialog(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    request = ui.take("film-dialog")
    if request is not None:
        ui.memory["film"] = state = opened(ui, ui.memory.get("film"), file_dialog.first_folder(ui))
        if request.value is not None:
            state.take_path(request.value)
        imgui.open_popup(_POPUP)
    with dialog(ui, _POPUP, width=_WIDTH, title="Export film") as shown:
        if shown is None:
            return
        state = ui.memory["film"]
        # Keys that a field or the file dialog takes are not meant for this one.
        first = not imgui.is_popup_open(file_dialog.POPUP)
        shown.closed &= first
        alone = first and not imgui.is_any_item_active()
        entered = _place(ui, state)
        separator(ui)
        picture_rows(ui, state)
        motion_rows(ui, state)
        separator(ui)
        camera_rows(ui, state)
        gap(ui.px(4))
        shown.closed |= _bottom(ui, state, entered=entered, alone=alone)
        file_dialog.go_on(ui)


def _place(ui: PanelContext, state: FilmState) -> bool:
    """Name, folder, format; whether Enter was pressed in the name."""
    label(ui, "Name", width=LABEL)
    state.fresh = take_keyboard(ui, state.fresh)
    before = state.name
    state.name, entered = text_line(ui, "name", state.name, width=imgui.get_content_region_avail().x)
    if state.name != before:
        state.read_name()
    label(ui, "Folder", width=LABEL)
    button = ui.px(96)
    before = state.folder
    room = imgui.get_content_region_avail().x - button - ui.px(6)
    state.folder, _ = text_line(ui, "folder", state.folder, width=room)
    if state.folder != before:
        state.changed()
    imgui.same_line(0.0, ui.px(6))
    if text_button(ui, "Choose…", icon=fa.ICON_FA_FOLDER_OPEN, width=button):
        _choose(ui, state)
    _format(ui, state)
    return entered


def _format(ui: PanelContext, state: FilmState) -> None:
    label(ui, "Format", width=LABEL, height=SEGMENT)
    off = {FORMATS.index("mp4")} if state.lacks else set()
    form = choose(ui, "format", FORMATS, _WORDS, state.form, widths=ui.px(112), off=off)
    if form != state.form:
        state.take_form(form)
    if state.lacks:
        imgui.indent(ui.px(LABEL))
        paragraph(ui, state.lacks, "warn", small=True)
        imgui.unindent(ui.px(LABEL))


def _choose(ui: PanelContext, state: FilmState) -> None:
    """Ask for the place in the list of files."""
    folder = state.path.parent if state.path.parent.is_dir() else file_dialog.first_folder(ui)
    suffixes = (f".{state.form}", *(suffix for suffix in _SUFFIXES if suffix != f".{state.form}"))
    asked = file_dialog.State("Save film as", "Choose", suffixes, state.take_path, saving=True, name=state.name)
    file_dialog.begin(ui, asked, folder)


def _bottom(ui: PanelContext, state: FilmState, *, entered: bool, alone: bool) -> bool:
    """How long it is, what is in the way, buttons; whether the dialog is done."""
    plan = plan_of(ui, state)
    pictures = count(ui.session.document, plan)
    pen = Pen(ui)
    said = state.problem or state.asking
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    full = pen.fitted(x, y, said or _files(state, pictures), wide, "warn" if said else "text3", SMALL)
    imgui.dummy((wide, pen.px(20)))
    tip(full)
    x, y = imgui.get_cursor_screen_pos()
    pen.strong(x, pen.middle(y, pen.px(28)), length_words(pictures, plan.fps, plan.size))
    imgui.set_cursor_screen_pos((x, y))
    word = "Replace" if state.asking else "Film"
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True), enter=alone)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _ordered(ui, state, plan, pictures)


def _files(state: FilmState, pictures: int) -> str:
    """Where to, in words."""
    path = state.path
    if state.form != "png":
        return f"To {path}"
    files = files_of(path, pictures)
    last = f" to {files[-1].name}" if pictures > 1 else ""
    return f"To {files[0]}{last}"


def _ordered(ui: PanelContext, state: FilmState, plan: FilmPlan, pictures: int) -> bool:
    """Ask for the film, unless something is in the way; whether it was asked for."""
    path = state.path
    if state.refused:
        state.problem, state.fresh = state.refused, FOCUS
        return False
    try:
        check_output(files_of(path, 1)[0])
    except ViewerError as error:
        state.problem, state.fresh = str(error), FOCUS
        return False
    question = "" if state.asking or state.agreed == path else replace_question(path, pictures)
    if question:
        state.asking, state.fresh = question, FOCUS  # so that Enter is the answer
        return False
    remember(ui, state)
    ui.memory["last"] = path.parent
    state.changed()
    ui.controller.view.request("film", FilmOrder(plan, path))
    ui.wake()
    return True
