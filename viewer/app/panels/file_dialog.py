"""The file dialog: its state, the contents of a folder, places and recent files, and the rows of an export."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.widgets.buttons import FIELD, SEGMENT, choose, label, segments, text_button
from viewer.app.widgets.dialogs import Choice, choices, dialog
from viewer.app.widgets.fields import FOCUS, Format, number, take_keyboard, text_line
from viewer.app.widgets.pen import Pen, gap, item, tip
from viewer.errors import ViewerError, quote
from viewer.formats import table
from viewer.formats.files import check_output
from viewer.formats.load import READERS, sample_names
from viewer.formats.table import MOST_DECIMALS, format_of
from viewer.session import Document
from viewer.session.files import SUFFIX
from viewer.ui.files import EXPORTS, ExportOptions, has_motion, shows_motion
from viewer.ui.opening import LocateRequest

EXPORT_HEIGHT = 100.0
"""Logical pixels that the rows take."""
FORMATS = tuple((form.suffix, form.name, form.hint) for form in table.FORMATS if form.writer and form.hint)
"""Suffix, name and hint of each format that is offered."""
_UNITS = ("", "m", "cm", "mm", "inch")
_UPS = ("", "y", "z")
_FIELD = 76.0
_FRAME = Format(decimals=0, per_pixel=0.25, snap=10.0, units={})
_RATE = Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=1000.0)
_DECIMALS = Format(decimals=0, per_pixel=0.05, snap=1.0, units={}, low=0.0, high=float(MOST_DECIMALS))
_USUAL = 6


@dataclass(slots=True)
class ExportState:
    """What was chosen.

    Attributes:
        shows: 0 all that is played, 1 from one frame to another, 2 the pose that is shown.
        first: frame, for 1.
        last: likewise.
        fps: frames a second; None: as it is played.
        units: index into m, cm, mm, inch from 1 on; 0: as read.
        up: 1 Y, 2 Z; 0: as read.
        precision: decimals; None: as the format has them.
    """

    shows: int
    first: int
    last: int
    fps: float | None = None
    units: int = 0
    up: int = 0
    precision: int | None = None

    @classmethod
    def of(cls, document: Document) -> ExportState:
        """As it is before anything is chosen: the motion, unless the pose shown is none of its own."""
        return cls(0 if shows_motion(document) else 2, *document.played)

    def options(self, document: Document, path: Path) -> ExportOptions:
        """What to write to a file: what its format has no place for is left out."""
        form = format_of(path)
        motion = self.shows != 2 and has_motion(document) and not form.is_shape
        return ExportOptions(
            motion=motion,
            frames=(self.first, self.last) if motion and self.shows == 1 else None,
            fps=self.fps if motion else None,
            units=None if form.in_metres else _UNITS[self.units] or None,
            up=None if form.in_metres else _UPS[self.up] or None,
            precision=self.precision if form.decimals else None,
        )


def draw_export(ui: PanelContext, state: State, asked: ExportState) -> None:
    """Draw the rows."""
    form = format_of(state.path)
    _format(ui, state, form.suffix)
    _motion(ui, asked, shape=form.is_shape)
    _numbers(ui, asked, form)


def _format(ui: PanelContext, state: State, suffix: str) -> None:
    label(ui, "Format", height=SEGMENT)
    suffixes = [one for one, _, _ in FORMATS]
    now = suffixes.index(".usda" if suffix == ".usdc" else suffix) if suffix in {*suffixes, ".usdc"} else -1
    off = {suffixes.index(".usda")} if find_spec("pxr") is None else set()
    hints = [hint for _, _, hint in FORMATS]
    if off:
        hints[suffixes.index(".usda")] = "Needs usd-core: python3 -m pip install usd-core"
    wide = float(int(imgui.get_content_region_avail().x / len(FORMATS)))
    chosen = segments(ui, "format", [word for _, word, _ in FORMATS], now, widths=wide, hints=hints, off=off)
    if chosen is not None:
        known = Path(state.name).suffix.casefold() in state.suffixes
        stem = Path(state.name).with_suffix("") if known else state.name
        state.name = f"{stem}{suffixes[chosen]}"
        state.replacing, state.problem = None, ""
        ui.wake()


def _motion(ui: PanelContext, asked: ExportState, *, shape: bool) -> None:
    """What of the motion, and at which rate."""
    document = ui.session.document
    first, last = document.played
    moves = has_motion(document) and not shape
    label(ui, "Range", height=SEGMENT)
    words = (f"Frames {first} to {last}" if has_motion(document) else "Motion", "From, to", "This pose")
    shows = asked.shows if moves else 2
    chosen = segments(ui, "range", words, shows, off=() if moves else (0, 1))
    asked.shows = asked.shows if chosen is None else chosen
    if not moves or asked.shows == 2:
        return
    if asked.shows == 1:
        ends = [asked.first, asked.last]
        for index, name in enumerate(("from", "to")):
            _beside(ui)
            ends[index] = round(number(ui, name, float(ends[index]), _FRAME, width=_FIELD, hint=f"Frame, {name}"))
        asked.first = min(max(ends[0], first), last)
        asked.last = min(max(ends[1], asked.first), last)
    _beside(ui)
    label(ui, "Rate", width=40, height=SEGMENT, hint="The duration stays the same at any rate")
    own = 1.0 / document.frame_time
    fps = number(ui, "fps", asked.fps or own, _RATE, width=_FIELD + 12)
    asked.fps = round(fps, 3) if asked.fps is not None or abs(fps - own) > 1e-9 else None
    if asked.fps is not None:
        _beside(ui, 6.0)
        if text_button(ui, "Reset##rate", hint="Same as playback"):
            asked.fps = None


def _numbers(ui: PanelContext, asked: ExportState, form: table.FileFormat) -> None:
    """Units, axes and decimals, where the format leaves them open."""
    label(ui, "Units", height=SEGMENT)
    if form.in_metres:
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        pen.text(x, pen.middle(y, pen.px(SEGMENT)), "Metres, Y up: fixed by this format", "text3")
        imgui.dummy((pen.px(300), pen.px(SEGMENT)))
    else:
        asked.units = choose(ui, "units", range(5), ("As read", "m", "cm", "mm", "inch"), asked.units)
        _beside(ui)
        label(ui, "Up", width=28, height=SEGMENT)
        asked.up = choose(ui, "up", range(3), ("As read", "Y", "Z"), asked.up)
    if form.decimals:
        _beside(ui)
        label(ui, "Decimals", width=66, height=SEGMENT)
        shown = None if asked.precision is None else float(asked.precision)
        if shown is None:
            if text_button(ui, "All##decimals", hint="As many as the format needs", height=FIELD):
                asked.precision = _USUAL
        else:
            asked.precision = round(number(ui, "decimals", shown, _DECIMALS, width=44))
            _beside(ui, 6.0)
            if text_button(ui, "All##decimals", hint="As many as the format needs", height=FIELD):
                asked.precision = None


def _beside(ui: PanelContext, room: float = 14.0) -> None:
    imgui.same_line(0.0, ui.px(room))


ROW = 24
"""Height of a row, logical pixels."""
_DATE, _SIZE = 130.0, 70.0
"""Widths of the columns, logical pixels."""


def draw_places(ui: PanelContext, state: State) -> bool:
    """Folders at hand, and to open: files opened last and samples; whether one of these was opened."""
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    opened = False
    for words, path in state.places:
        if _row(ui, words, fa.ICON_FA_FOLDER, str(path), lit=path == state.folder):
            state.go(path)
    if state.samples:
        recent = ui.controller.view.preferences.recent
        if recent:
            _heading(ui, "Recent")
        for place in recent:
            if _row(ui, Path(place).name, fa.ICON_FA_CLOCK_ROTATE_LEFT, place):
                state.done(Path(place))
                opened = True
        _heading(ui, "Samples")
        for name in sample_names():
            if _row(ui, name, fa.ICON_FA_PERSON, f"sample:{name}"):
                ui.controller.files.open(f"sample:{name}")
                opened = True
    imgui.pop_style_var()
    return opened


def _heading(ui: PanelContext, words: str) -> None:
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    pen.small(x + pen.px(6), pen.middle(y + pen.px(4), pen.px(ROW), SMALL), words)
    imgui.dummy((1.0, pen.px(ROW + 4)))


def _row(ui: PanelContext, words: str, icon: str, hint: str, *, lit: bool = False) -> bool:
    pen = Pen(ui)
    it = item(hint, imgui.get_content_region_avail().x, pen.px(ROW))
    if lit or it.hovered:
        pen.box(*it[:4], "accent_dk" if lit else "field")
    pen.icon(it.x + pen.px(14), it.middle[1], icon, "text3", SMALL)
    pen.text(it.x + pen.px(28), pen.middle(it.y, it.h), pen.fit(words, it.w - pen.px(34)), "text2")
    tip(hint)
    return it.clicked


def draw_list(ui: PanelContext, state: State) -> bool:
    """The folder's entries; whether one was chosen, by a double click."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail()
    pen.box(x, y, room.x, room.y, "app")
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    # Keys are for the field below: imgui's own would press what was clicked last, as a click does.
    imgui.begin_child("entries", (0.0, 0.0), window_flags=imgui.WindowFlags_.no_nav)
    if not state.entries:
        Pen(ui).text(x + pen.px(10), y + pen.px(8), "No usable files here", "text3")
    _show_marked(state, pen.px(ROW))
    clipper = imgui.ListClipper()
    clipper.begin(len(state.entries), pen.px(ROW))
    pressed: Entry | None = None
    while clipper.step():
        for index in range(clipper.display_start, clipper.display_end):
            if _entry(ui, state.entries[index], chosen=state.entries[index].name == state.name):
                pressed = state.entries[index]
    imgui.end_child()
    imgui.pop_style_var()
    return pressed is not None and _pressed(state, pressed)


def _show_marked(state: State, row: float) -> None:
    """Scroll to the entry that the arrow keys have gone to."""
    if not state.stepped:
        return
    state.stepped = False
    place = next((index for index, entry in enumerate(state.entries) if entry.name == state.name), -1)
    top, room = imgui.get_scroll_y(), imgui.get_window_height()
    if place >= 0 and not top <= place * row <= top + room - row:
        imgui.set_scroll_y(place * row if place * row < top else (place + 1) * row - room)


def _pressed(state: State, entry: Entry) -> bool:
    double = imgui.get_io().mouse_clicked_last_count[0] == 2
    if entry.folder and (double or not state.saving):
        state.go(state.folder / entry.name)
        return False
    if entry.folder:
        return False
    state.name, state.replacing, state.problem = entry.name, None, ""
    return bool(double)


def _entry(ui: PanelContext, entry: Entry, *, chosen: bool) -> bool:
    pen = Pen(ui)
    it = item(entry.name, imgui.get_content_region_avail().x, pen.px(ROW))
    if chosen or it.hovered:
        pen.box(*it[:4], "accent_dk" if chosen else "field")
    icon = fa.ICON_FA_FOLDER if entry.folder else fa.ICON_FA_FILE
    pen.icon(it.x + pen.px(16), it.middle[1], icon, "text2" if entry.folder else "text3", SMALL)
    y, right = pen.middle(it.y, it.h), it.x + it.w - pen.px(8)
    small = pen.middle(it.y, it.h, SMALL)
    columns = pen.px(_DATE + _SIZE)
    wide = it.w - pen.px(40) - columns
    if wide > pen.px(120):
        pen.right(right, small, entry.changed, "text3", SMALL)
        pen.right(right - pen.px(_DATE), small, entry.size, "text3", SMALL)
    else:
        wide += columns
    shown = pen.fit(entry.name, wide)
    pen.text(it.x + pen.px(32), y, shown, "text" if chosen or entry.folder else "text2")
    tip(entry.name if shown != entry.name else "")
    return it.clicked


MOST = 20_000
"""Entries of a folder that are looked at."""


class Entry(NamedTuple):
    """A row of the list.

    Attributes:
        name: of the file or folder.
        folder: whether it is one.
        size: in words, nothing for folders.
        changed: when, in words.
    """

    name: str
    folder: bool
    size: str
    changed: str


def listed(folder: Path, suffixes: Collection[str]) -> tuple[list[Entry], str]:
    """Folders and then files with one of the suffixes, by name, without hidden ones; and what was wrong, if anything.

    Args:
        folder: where.
        suffixes: lower case, with the dot; ``.ikv.json`` may be among them. Empty: every file.
    """
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry, _ in zip(found, range(MOST), strict=False) if not entry.name.startswith(".")]
    except OSError as error:
        return [], f"{folder}: {error.strerror or error}"
    rows = [row for entry in entries if (row := _row_folder(entry, suffixes)) is not None]
    return sorted(rows, key=lambda row: (not row.folder, row.name.casefold(), row.name)), ""


def _row_folder(entry: os.DirEntry[str], suffixes: Collection[str]) -> Entry | None:
    try:
        folder = entry.is_dir()
        if not folder and suffixes and not entry.name.casefold().endswith(tuple(suffixes)):
            return None
        state = entry.stat()
    except OSError:  # gone meanwhile, or a link to nowhere
        return None
    return Entry(entry.name, folder, "" if folder else size_words(state.st_size), date_words(state.st_mtime))


def size_words(size: int) -> str:
    """``1.2 MB``."""
    number = float(size)
    for unit in ("B", "kB", "MB"):
        if number < 1000.0:
            return f"{number:.0f} {unit}" if unit == "B" else f"{number:.1f} {unit}"
        number /= 1000.0
    return f"{number:.1f} GB"


def date_words(seconds: float) -> str:
    """``2026-11-21 14:02``, in local time."""
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):  # file systems hold times that calendars do not
        return ""


def places() -> list[tuple[str, Path]]:
    """Folders that are always at hand: words and paths."""
    home = Path.home()
    wanted = [("Home", home), *((name, home / name) for name in ("Desktop", "Documents", "Downloads"))]
    here = Path.cwd()
    found = [(words, path) for words, path in wanted if path.is_dir()]
    if here not in [path for _, path in found]:
        found.append((here.name or str(here), here))
    return [*found, (str(Path(home.anchor)), Path(home.anchor))]


def meant(text: str, folder: Path) -> Path:
    """The path that a person typed: ``~`` is the home folder, and what is relative lies in the folder shown."""
    typed = text.strip().strip('"')
    try:
        return (folder / Path(typed).expanduser()).absolute()
    except RuntimeError:  # ~nobody
        return (folder / typed).absolute()


def means_folder(text: str) -> bool:
    """Whether what a person typed can only be a folder: nothing, ``..``, ``~``, or what ends with a slash."""
    typed = text.strip().strip('"')
    return not typed or typed == "~" or re.split(r"[/\\]" if os.sep == "\\" else "/", typed)[-1] in {"", ".", ".."}


NO_NAME = "Enter a file name"
_SUFFIX = re.compile(r"\.(?=.*[A-Za-z])[A-Za-z0-9_-]+")
"""What is meant as a suffix: that of ``walk v1.2`` is none."""


def has_suffix(name: str) -> bool:
    """Whether what stands after the last point of a name is meant as a suffix."""
    return _SUFFIX.fullmatch(Path(name).suffix) is not None


@dataclass(slots=True)
class State:
    """An open file dialog.

    Attributes:
        title: what it is for.
        action: the word on its button.
        suffixes: of the files listed; the first is added to a name without one.
        done: gets the path that was chosen; False: that did not work, and why is in the last message.
        saving: a name is asked for; else a file that exists.
        samples: recent files and samples are at hand, too.
        folder: whose contents are listed.
        typed: in the path field.
        name: of the file.
        entries: of the folder.
        problem: why the folder, or the name, will not do.
        replacing: the file that was asked about because it exists.
        places: folders that are always at hand.
        fresh: the field of the name is to take the keyboard: see `take_keyboard`.
        export: what to write and how, where a figure is exported.
        stepped: the arrow keys have marked another entry.
        asks: what is asked before a file that exists is replaced.
    """

    title: str
    action: str
    suffixes: tuple[str, ...]
    done: Callable[[Path], object]
    saving: bool = False
    samples: bool = False
    folder: Path = field(default_factory=Path.cwd)
    typed: str = ""
    name: str = ""
    entries: list[Entry] = field(default_factory=list)
    problem: str = ""
    replacing: Path | None = None
    places: list[tuple[str, Path]] = field(default_factory=places)
    fresh: int = FOCUS
    asks: Callable[[Path], str] = lambda path: f"{path.name} exists. Replace it?"
    export: ExportState | None = None
    stepped: bool = False

    def step(self, by: int) -> str:
        """Mark the entry so many rows further down, from the first on; its name. To save, names of files alone."""
        names = [entry.name for entry in self.entries if not (self.saving and entry.folder)]
        if names:
            place = names.index(self.name) + by if self.name in names else 0
            self.name = names[min(max(place, 0), len(names) - 1)]
            self.replacing, self.problem, self.stepped = None, "", True
        return self.name

    def go(self, folder: Path) -> None:
        """List a folder."""
        if not self.saving:
            self.name, self.fresh = "", FOCUS
        self.folder = folder
        self.typed = str(folder)
        self.entries, self.problem = listed(folder, self.suffixes)
        self.replacing = None

    @property
    def path(self) -> Path:
        """What is chosen; a name to save under gets the first suffix if it has none of them."""
        path = meant(self.name, self.folder)
        whole = not self.saving or self._named(path) or means_folder(self.name)
        return path if whole else path.with_name(path.name + self.suffixes[0])

    @property
    def unnamed(self) -> bool:
        """Whether there is no name yet to save under."""
        return self.saving and not self.name.strip().strip('"')

    @property
    def refused(self) -> str:
        """Why nothing can be saved under the name: it is none, or its suffix asks for a format that there is not."""
        if self.unnamed:
            return NO_NAME
        path = meant(self.name, self.folder)
        if self.saving and means_folder(self.name):
            return "" if path.is_dir() else f"{path}: no such folder"
        known = not self.saving or self.suffixes == (SUFFIX,) or self._named(path)
        if known or path.is_dir() or not has_suffix(path.name):
            return ""
        return f"{quote(path.suffix)} is not a format to save in: expected {', '.join(self.suffixes)}"

    def _named(self, path: Path) -> bool:
        return path.name.casefold().endswith(self.suffixes)


POPUP = "##file dialog"
OPENED = (*READERS, SUFFIX)
"""Suffixes of what can be opened."""

_REQUESTS = ("open-dialog", "locate-dialog", "save-as-dialog", "export-dialog", "picture-dialog")
_WIDTH, _HEIGHT, _PLACES = 820.0, 520.0, 180.0


def draw_file_dialog(ui: PanelContext) -> None:
    """Open, draw and close the dialog."""
    request = next((asked for name in _REQUESTS if (asked := ui.take(name)) is not None), None)
    if request is not None:
        state = _asked(ui, request.name, request.value)
        begin(ui, state, request.value.folder if isinstance(request.value, LocateRequest) else first_folder(ui))
    go_on(ui)


def begin(ui: PanelContext, state: State, folder: Path) -> None:
    """Open the dialog in the current imgui window, in a folder; `go_on` draws it."""
    state.go(folder)
    ui.memory["state"] = state
    imgui.open_popup(POPUP)


def go_on(ui: PanelContext) -> None:
    """Draw the dialog while it is open, and close it."""
    now: State | None = ui.memory.get("state")
    more = EXPORT_HEIGHT if now is not None and now.export is not None else 0.0
    with dialog(ui, POPUP, width=_WIDTH, height=_HEIGHT + more, title=now.title if now is not None else "") as shown:
        if shown is None or now is None:
            return
        shown.closed = shown.closed or _contents(ui, now)
        if shown.closed:
            ui.memory["last"] = now.folder


def _asked(ui: PanelContext, name: str, value: object) -> State:
    controller = ui.controller
    stem = Path(controller.files.name.removesuffix(SUFFIX)).stem
    if name == "open-dialog":
        return State("Open", "Open", OPENED, controller.files.open, samples=True)
    if isinstance(value, LocateRequest):
        return State(f"Locate {value.name}", "Use", tuple(READERS), value.use)
    if name == "save-as-dialog":
        proposed = str(value or f"{stem}{SUFFIX}")
        return State("Save as", "Save", (SUFFIX,), controller.files.save_to, saving=True, name=proposed)
    if name == "export-dialog":
        asked = ExportState.of(ui.session.document)
        asks, name = controller.files.replaces, f"{stem}{EXPORTS[0]}"
        state = State("Export", "Export", EXPORTS, _nothing, saving=True, asks=asks, name=name, export=asked)
        state.done = lambda path: controller.files.export_to(
            path, options=asked.options(controller.session.document, path)
        )
        return state
    picture = partial(controller.view.request, "picture")
    return State("Save picture", "Save", (".png",), picture, saving=True, name=f"{stem}.png")


def _nothing(_: Path) -> None:
    """Stands in until it is known what to do."""


def first_folder(ui: PanelContext) -> Path:
    """Where the last file was, else where the document is, else here."""
    session = ui.session
    source = session.document.character.source.path
    tried = [ui.memory.get("last"), session.path and session.path.parent]
    tried += [Path(source).absolute().parent if source and not source.startswith("sample:") else None, Path.cwd()]
    return next((folder for folder in tried if isinstance(folder, Path) and folder.is_dir()), Path.home())


def _contents(ui: PanelContext, state: State) -> bool:
    """Places, path, list, name, buttons; whether the dialog is done."""
    bottom = ui.px(30) + ui.px(32) + ui.px(26) + (ui.px(EXPORT_HEIGHT) if state.export is not None else 0)
    tall = imgui.get_content_region_avail().y - bottom
    imgui.begin_child("places", (ui.px(_PLACES), tall))
    sample = draw_places(ui, state)
    imgui.end_child()
    imgui.same_line(0.0, ui.px(12))
    imgui.begin_child("folder", (0.0, tall))
    done = _path_field(ui, state)
    gap(ui.px(2))
    if draw_list(ui, state):
        done = _chosen(ui, state) or done
    imgui.end_child()
    return _bottom(ui, state) or sample or done


def _path_field(ui: PanelContext, state: State) -> bool:
    if text_button(ui, "Up", enabled=state.folder.parent != state.folder, hint="Parent folder   Backspace"):
        state.go(state.folder.parent)
    imgui.same_line(0.0, ui.px(6))
    state.typed, entered = text_line(ui, "path", state.typed, width=imgui.get_content_region_avail().x)
    if not entered:
        return False
    path = meant(state.typed, state.folder)
    if path.is_dir():
        state.go(path)
        return False
    state.name = str(path)
    return _chosen(ui, state)


def _bottom(ui: PanelContext, state: State) -> bool:
    alone = not imgui.is_any_item_active()  # what Enter ends in a field is not meant for the dialog
    if state.export is not None:
        draw_export(ui, state, state.export)
    label(ui, "Name")
    entered = _name_field(ui, state)
    _line(ui, _said(state), "warn" if state.problem or state.replacing or state.unnamed else "text3")
    word = "Replace" if state.replacing is not None and state.replacing == state.path else state.action
    sure = bool(state.name.strip()) and not state.unnamed
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True, enabled=sure), enter=alone)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _chosen(ui, state)


def _name_field(ui: PanelContext, state: State) -> bool:
    """The name or path; whether Enter was pressed. Arrows go through the list, Backspace from no name a folder up."""
    state.fresh = take_keyboard(ui, state.fresh)
    wide, empty, before = imgui.get_content_region_avail().x, not state.name, state.name
    name, entered = text_line(
        ui, "name", before, width=wide, hint="" if state.saving else "Name or path", stepped=state.step
    )
    if imgui.is_item_edited() and not state.stepped:
        state.replacing, state.problem = None, ""
    state.name = name
    active, free = imgui.is_item_active(), not imgui.is_any_item_active()  # free: the list was clicked
    if (free or (active and empty)) and imgui.is_key_pressed(imgui.Key.backspace):
        state.go(state.folder.parent)
    step = imgui.is_key_pressed(imgui.Key.down_arrow) - imgui.is_key_pressed(imgui.Key.up_arrow)
    if free and step:
        state.step(step)
        ui.wake()
    return entered


def _line(ui: PanelContext, words: str, colour: str) -> None:
    """What is said above the buttons, whole in the tip where it has no room."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    shown = pen.fit(words, wide, SMALL)
    pen.small(x, y, shown, colour)
    imgui.dummy((wide, pen.px(SMALL)))
    tip(words if shown != words else "")


def _said(state: State) -> str:
    if state.problem:
        return state.problem
    if state.unnamed:
        return NO_NAME
    if state.replacing is not None:
        return state.asks(state.replacing)
    return f"Files ending in {', '.join(state.suffixes)}"


def _chosen(ui: PanelContext, state: State) -> bool:
    """Take what is named; whether that was all."""
    path = state.path
    if path.is_dir() and not state.unnamed:
        state.go(path)
        state.name = "" if not state.saving or means_folder(state.name) else state.name
        return False
    if problem := state.refused or _unwritable(state):
        state.problem, state.fresh = problem, FOCUS
        return False
    if not state.saving and not path.is_file():
        state.problem, state.fresh = f"{path}: no such file", FOCUS
        return False
    if state.saving and path.exists() and state.replacing != path:
        state.replacing, state.fresh = path, FOCUS  # so that Enter is the answer
        return False
    ui.wake()
    return _done(ui, state, path)


def _unwritable(state: State) -> str:
    """Why there can be no file of that name where it is to be; said while the name can still be mended."""
    if state.saving:
        try:
            check_output(state.path)
        except ViewerError as error:
            return str(error)
    return ""


def _done(ui: PanelContext, state: State, path: Path) -> bool:
    """Do what the dialog is for; whether that worked: what went wrong in writing is said here, and the name stays."""
    if state.done(path) is not False or not state.saving:
        return True
    said = ui.controller.view.bar.messages[-1:]
    for message in said:
        ui.controller.view.bar.close(message)
        state.problem = message.text
    state.replacing, state.fresh = None, FOCUS
    return not said
