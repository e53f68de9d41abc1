"""The file dialog: the list of a folder, shortcuts to folders and recent files, the name, options of what is saved."""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.export_options import LABEL, ExportChoices, FilmChoices, Options
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import Choice, choices, dialog
from viewer.app.widgets.pen import Pen, gap, tip
from viewer.errors import ViewerError, quote
from viewer.formats.files import check_output
from viewer.formats.load import sample_names
from viewer.latest import Latest
from viewer.session.session_files import SUFFIX
from viewer.ui import film
from viewer.ui.controller import Controller
from viewer.ui.events import FileQuestion, Request
from viewer.ui.file_menu import EXPORTS

_ROW = 24
"""Height of a row, logical pixels."""
_DATE, _SIZE = 130.0, 70.0
"""Widths of the columns, logical pixels."""


def _draw_shortcuts(ui: PanelContext, state: State) -> bool:
    """Folders; recent files and samples where files are opened. Returns whether a file was opened."""
    opened = False
    with controls.no_spacing():
        for words, path in state.places:
            if _shortcut(ui, words, fa.ICON_FA_FOLDER, str(path), chosen=path == state.folder):
                state.go(path)
        if not state.asked.samples:
            return False
        recent = ui.controller.view.preferences.recent
        if recent:
            _heading(ui, "Recent")
        for place in recent:
            if _shortcut(ui, Path(place).name, fa.ICON_FA_CLOCK_ROTATE_LEFT, place):
                state.asked.done(Path(place))
                opened = True
        _heading(ui, "Samples")
        for name in sample_names():
            if _shortcut(ui, name, fa.ICON_FA_PERSON, f"sample:{name}"):
                state.asked.done(f"sample:{name}")
                opened = True
    return opened


def _heading(ui: PanelContext, words: str) -> None:
    pen, x, y, *_ = controls.line(ui, _ROW + 4)
    pen.small(x + pen.px(6), pen.middle(y + pen.px(4), pen.px(_ROW), SMALL), words)


def _shortcut(ui: PanelContext, words: str, icon: str, hint: str, *, chosen: bool = False) -> bool:
    pen = Pen(ui)
    it = controls.list_row(pen, hint, _ROW, chosen=chosen)
    pen.icon(it.x + pen.px(14), it.middle[1], icon, "text3", SMALL)
    pen.text(it.x + pen.px(28), pen.middle(it.y, it.h), pen.fit(words, it.w - pen.px(34)), "text2")
    tip(hint)
    return it.clicked


def _draw_list(ui: PanelContext, state: State) -> bool:
    """The folder's entries; returns whether one was double-clicked."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail()
    pen.box(x, y, room.x, room.y, "app")
    pressed: Entry | None = None
    with controls.no_spacing():
        # Without no_nav, Enter in the name field would press the entry that was clicked last.
        imgui.begin_child("entries", (0.0, 0.0), window_flags=imgui.WindowFlags_.no_nav)
        entries = state.entries
        if not entries:
            Pen(ui).text(
                x + pen.px(10),
                y + pen.px(8),
                "No such files yet" if state.asked.saving else "No usable files here",
                "text3",
            )
        if state.stepped:
            state.stepped = False
            marked = next((index for index, entry in enumerate(entries) if entry.name == state.name), -1)
            controls.scroll_to_row(marked, pen.px(_ROW), centre=False)
        for index in controls.rows_in_view(len(entries), pen.px(_ROW)):
            if _entry(ui, entries[index], chosen=entries[index].name == state.name):
                pressed = entries[index]
        imgui.end_child()
    return pressed is not None and _pressed(state, pressed)


def _pressed(state: State, entry: Entry) -> bool:
    double = imgui.get_io().mouse_clicked_last_count[0] == 2
    if entry.folder and (double or not state.asked.saving):
        state.go(state.folder / entry.name)
        return False
    if entry.folder:
        return False
    state.rename(entry.name)
    return bool(double)


def _entry(ui: PanelContext, entry: Entry, *, chosen: bool) -> bool:
    pen = Pen(ui)
    it = controls.list_row(pen, entry.name, _ROW, chosen=chosen)
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
    tip(pen.fitted(it.x + pen.px(32), y, entry.name, wide, "text" if chosen or entry.folder else "text2"))
    return it.clicked


_MOST = 20_000
"""Largest number of entries that are listed."""


class Entry(NamedTuple):
    """A file or folder of the list, with its size ("" for folders) and time of change in words."""

    name: str
    folder: bool
    size: str
    changed: str


def list_folder(folder: Path, suffixes: Collection[str]) -> tuple[list[Entry], str]:
    """The entries of a folder that are not hidden, folders first, by name; and what went wrong, or "".

    Files are those with one of the suffixes, such as ``.ikv.json``, lower case; without any suffixes all.
    """
    try:
        with os.scandir(folder) as found:
            entries = [entry for entry, _ in zip(found, range(_MOST), strict=False) if not entry.name.startswith(".")]
    except OSError as error:
        return [], f"{folder}: {error.strerror or error}"
    rows = [row for entry in entries if (row := _entry_of(entry, suffixes)) is not None]
    return sorted(rows, key=lambda row: (not row.folder, row.name.casefold(), row.name)), ""


def _entry_of(entry: os.DirEntry[str], suffixes: Collection[str]) -> Entry | None:
    try:
        folder = entry.is_dir()
        if not folder and suffixes and not entry.name.casefold().endswith(tuple(suffixes)):
            return None
        state = entry.stat()
    except OSError:  # removed since, or a broken link
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
    except (OverflowError, ValueError, OSError):  # a file may have a time outside the calendar
        return ""


def places() -> list[tuple[str, Path]]:
    """(name, path) of the folders in the list of shortcuts."""
    home = Path.home()
    wanted = [("Home", home), *((name, home / name) for name in ("Desktop", "Documents", "Downloads"))]
    here = Path.cwd()
    found = [(words, path) for words, path in wanted if path_kind(path) == "folder"]
    if here not in [path for _, path in found]:
        found.append((here.name or str(here), here))
    return [*found, (str(Path(home.anchor)), Path(home.anchor))]


def typed_path(text: str, folder: Path) -> Path:
    """The absolute path for a typed one, which may begin with ``~`` or be relative to ``folder``."""
    typed = text.strip().strip('"')
    try:
        return (folder / Path(typed).expanduser()).absolute()
    except (RuntimeError, ValueError):  # an unknown user, a NUL
        return (folder / typed).absolute()


def path_kind(path: Path) -> Literal["folder", "file", "other", ""]:
    """What is at a path; "" for nothing, and where the system does not say: a closed folder, a name too long."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return ""
    return "folder" if stat.S_ISDIR(mode) else "file" if stat.S_ISREG(mode) else "other"


def names_folder(text: str) -> bool:
    """Whether a typed path can only be a folder: empty, ``..``, ``~``, or with a slash at its end."""
    typed = text.strip().strip('"')
    return not typed or typed == "~" or re.split(r"[/\\]" if os.sep == "\\" else "/", typed)[-1] in {"", ".", ".."}


NO_NAME = "Enter a file name"
_SUFFIX = re.compile(r"\.(?=.*[A-Za-z])[A-Za-z0-9_-]+")
"""A suffix contains a letter: ``walk v1.2`` has none."""


def has_suffix(name: str) -> bool:
    """Whether a name has a suffix, not only a number after a point."""
    return _SUFFIX.fullmatch(Path(name).suffix) is not None


@dataclass(slots=True)
class State:
    """An open file dialog.

    Attributes:
        suffixes: as of what is asked for, with the format chosen last first.
        folder: that is listed.
        typed: text of the path field.
        name: text of the name field.
        problem: why the folder or the name cannot be used.
        question: that is asked before existing files are replaced, or "".
        places: (name, path) of shortcuts.
        fresh: the name field gets the focus in the next frame.
        options: of what is saved.
        rows: height of the options, framebuffer pixels, as last drawn.
        stepped: the arrow keys have marked another entry.
        browsing: the folder is shown in place of the options, where there is no room for both.
        asks: returns the question before a file is replaced, "" if there is none.
    """

    asked: FileQuestion
    suffixes: tuple[str, ...] = ()
    folder: Path = field(default_factory=Path.cwd)
    typed: str = ""
    name: str = ""
    problem: str = ""
    question: str = ""
    places: list[tuple[str, Path]] = field(default_factory=places)
    fresh: bool = True
    asks: Callable[[Path], str] = lambda path: f"{path.name} exists. Replace it?" if path_kind(path) else ""
    options: Options = field(default_factory=Options)
    rows: float = 0.0
    stepped: bool = False
    browsing: bool = False
    _entries: Latest[tuple[list[Entry], str]] = field(default_factory=Latest)
    _question: Latest[str] = field(default_factory=Latest)

    def __post_init__(self) -> None:
        self.suffixes, self.name = self.asked.suffixes, self.asked.name

    @property
    def entries(self) -> list[Entry]:
        """Folders, and files of the name's format; without one of all that are asked for."""
        return self._listed()[0]

    def _listed(self) -> tuple[list[Entry], str]:
        typed = Path(self.name).suffix.casefold()
        suffixes = (typed,) if self.options.formats and typed in self.suffixes else self.suffixes
        return self._entries.of(lambda: list_folder(self.folder, suffixes), equal=(self.folder, suffixes))

    def asked_again(self, *about: object) -> str:
        """`asks` of the path, which looks for files once what it is ``about`` changes, and twice a second."""
        path = self.path
        return self._question.of(lambda: self.asks(path), equal=(path, about, int(2.0 * time.monotonic())))

    def step(self, by: int) -> str:
        """Mark the entry ``by`` rows below the marked one, or the first; returns its name. Saving skips folders."""
        names = [entry.name for entry in self.entries if not (self.asked.saving and entry.folder)]
        if names:
            place = names.index(self.name) + by if self.name in names else 0
            self.rename(names[min(max(place, 0), len(names) - 1)])
            self.stepped = True
        return self.name

    def rename(self, name: str) -> None:
        """Use another name, and forget what was said about the last one."""
        self.name, self.question, self.problem = name, "", ""

    def go(self, folder: Path) -> None:
        """List a folder, and forget the name of a file to open."""
        if not self.asked.saving:
            self.name, self.fresh = "", True
        self.folder = folder
        self.typed = str(folder)
        self._entries, self.question = Latest(), ""
        self.problem = self._listed()[1]

    def take_suffix(self, suffix: str) -> None:
        """Replace the suffix of the name, or append it to a name without a known one."""
        known = Path(self.name).suffix.casefold() in self.suffixes
        self.rename(self.options.renamed(str(Path(self.name).with_suffix("")) if known else self.name, suffix))
        self.suffixes = (suffix, *(one for one in self.suffixes if one != suffix))

    @property
    def path(self) -> Path:
        """The chosen path; a name to save under gets the first suffix if it has none of them."""
        path = typed_path(self.name, self.folder)
        complete = not self.asked.saving or self._has_suffix(path) or names_folder(self.name)
        return path if complete else path.with_name(path.name + self.suffixes[0])

    @property
    def unnamed(self) -> bool:
        """Whether the name to save under is empty."""
        return self.asked.saving and not self.name.strip().strip('"')

    @property
    def refused(self) -> str:
        """Why the name cannot be used: it is empty, an unknown folder, or of an unknown format; else ""."""
        if self.unnamed:
            return NO_NAME
        path = typed_path(self.name, self.folder)
        if self.asked.saving and names_folder(self.name):
            return "" if path_kind(path) == "folder" else f"{path}: no such folder"
        known = not self.asked.saving or self.suffixes == (SUFFIX,) or self._has_suffix(path)
        if known or path_kind(path) == "folder" or not has_suffix(path.name):
            return ""
        return f"{quote(path.suffix)} is not a format to save in: expected {', '.join(self.suffixes)}"

    def _has_suffix(self, path: Path) -> bool:
        return path.name.casefold().endswith(self.suffixes)


_POPUP = "##file dialog"
_WIDTH, _HEIGHT, _PLACES, _LEAST_LIST = 820.0, 520.0, 180.0, 60.0
"""Logical pixels; where the list would be lower than the last, there is none: folders can be typed."""

_LOWEST = 4.0
"""Space below the buttons, logical pixels."""
_BESIDE = 8.0
"""Least distance from the window's edges, logical pixels: in a small window the list of files needs the room."""


def draw_file_dialog(ui: PanelContext) -> None:
    """Open the dialog when one is requested, and draw it."""
    names = ("file-dialog", "export-dialog", "film-dialog")
    request = next((asked for name in names if (asked := ui.take(name)) is not None), None)
    if request is not None:
        ui.memory["state"] = state = _opened(ui, request)
        state.fresh = True
        imgui.open_popup(_POPUP)
    now: State | None = ui.memory.get("state")
    title, height = ("", 0.0) if now is None else (now.asked.title, now.options.height)
    with dialog(ui, _POPUP, width=_WIDTH, height=_HEIGHT + height, title=title, margin=_BESIDE) as shown:
        if shown is None or now is None:
            return
        shown.closed = shown.closed or _contents(ui, now)
        if shown.closed:
            ui.last_folders[now.asked.saving] = now.folder


def _opened(ui: PanelContext, request: Request) -> State:
    """The dialog that is requested, on its folder."""
    asked, stem = request.value, Path(ui.controller.files.name.removesuffix(SUFFIX)).stem
    if isinstance(asked, FileQuestion):
        state = State(asked._replace(name=asked.name or f"{stem}{asked.ending}") if asked.saving else asked)
        state.go(asked.folder or first_folder(ui, saving=asked.saving))
        return state
    state = _filming(ui, stem) if request.name == "film-dialog" else _exporting(ui.controller, stem)
    if isinstance(asked, Path):  # an export, which has asked before replacing it
        state.go(asked.parent)
        state.name = asked.name
        state.question = state.asks(state.path)
    else:
        state.go(first_folder(ui, saving=True))
    state.rows = state.rows or ui.px(state.options.height)
    return state


def _exporting(controller: Controller, stem: str) -> State:
    files = controller.files
    controller.simulating.hold()  # the export contains what was seen
    choices = ExportChoices.of(controller.shown_motion().document)

    def export(path: Path) -> object:
        return files.export_to(path, options=choices.options(controller.shown_motion().document, path))

    def asks(path: Path) -> str:
        return files.replaces(path) if path_kind(path) else ""

    # BVH has no meshes, materials and clips, of which glTF files are made.
    name = f"{stem}{'.glb' if controller.session.document.character.source.format == 'gltf' else EXPORTS[0]}"
    return State(FileQuestion("Export", "Export", EXPORTS, export, saving=True, name=name), asks=asks, options=choices)


def _filming(ui: PanelContext, stem: str) -> State:
    """The dialog of the last film, if that was of the same figure."""
    ui.controller.simulating.hold()  # the film shows what was seen
    document = ui.controller.filmed().document
    last: State | None = ui.memory.get("film")
    if last is not None and isinstance(last.options, FilmChoices) and last.options.subject is document.character:
        last.options.again(document)
        return last
    choices = FilmChoices.of(ui)

    def request(path: Path) -> None:
        choices.remember(ui, film.form_of(path.name) or choices.first)
        ui.controller.view.request("film", choices.order(ui, path))

    def asks(path: Path) -> str:
        plan, file = choices.order(ui, path)
        return film.replace_question(file, choices.pictures(ui, plan))

    suffixes = tuple(f".{form}" for form in sorted(film.FILM_FORMATS, key=lambda form: form != choices.first))
    name = film.renamed(stem or "film", choices.first)
    asked = FileQuestion("Export film", "Film", suffixes, request, saving=True, name=name)
    ui.memory["film"] = state = State(asked, asks=asks, options=choices)
    return state


def first_folder(ui: PanelContext, *, saving: bool) -> Path:
    """The folder where a file was last saved (or opened), else of the document, else the working folder."""
    session, last = ui.session, ui.last_folders
    source = session.document.character.source.path
    tried = [last.get(saving), session.path and session.path.parent]
    tried += [Path(source).absolute().parent if source and not source.startswith("sample:") else last.get(not saving)]
    tried += [Path.cwd()]
    return next((folder for folder in tried if isinstance(folder, Path) and path_kind(folder) == "folder"), Path.home())


def _contents(ui: PanelContext, state: State) -> bool:
    """Shortcuts, path, list, name and buttons; returns whether the dialog is done."""
    enter = not imgui.is_any_item_active()  # Enter that ends a field is not for the dialog
    spacing = imgui.get_style().item_spacing.y
    below = ui.px(controls.FIELD + SMALL + controls.SEGMENT + 2.0 + _LOWEST) + 3.0 * spacing  # of `_bottom`
    tall = imgui.get_content_region_avail().y - below
    low = bool(state.rows) and tall - state.rows < ui.px(_LEAST_LIST)
    opened = done = False
    if low:
        state.browsing = controls.choose(ui, "part", (False, True), ("Options", "Folder"), state.browsing)
        tall -= ui.px(controls.SEGMENT) + spacing
    beside = 0.0 if low else state.rows
    if low and not state.browsing:
        imgui.begin_child("options", (0.0, max(tall, 1.0)))
        _draw_options(ui, state)
        imgui.end_child()
    elif tall - beside >= ui.px(_LEAST_LIST):
        imgui.begin_child("places", (ui.px(_PLACES), tall - beside))
        opened = _draw_shortcuts(ui, state)
        imgui.end_child()
        imgui.same_line(0.0, ui.px(12))
        imgui.begin_child("folder", (0.0, tall - beside))
        done = _path_field(ui, state)
        gap(ui.px(2))
        if _draw_list(ui, state):
            done = _chosen(ui, state) or done
        imgui.end_child()
    elif tall - beside >= ui.px(controls.FIELD):
        done = _path_field(ui, state)
    if not low:
        _draw_options(ui, state)
    return _bottom(ui, state, enter=enter) or opened or done


def _draw_options(ui: PanelContext, state: State) -> None:
    """Draw the format and the options of what is saved, and measure their height."""
    top = imgui.get_cursor_pos_y()
    _format(ui, state)
    state.options.draw(ui, state.path)
    state.rows = imgui.get_cursor_pos_y() - top


def _path_field(ui: PanelContext, state: State) -> bool:
    if controls.text_button(ui, "Up", enabled=state.folder.parent != state.folder, hint="Parent folder   Backspace"):
        state.go(state.folder.parent)
    imgui.same_line(0.0, ui.px(6))
    state.typed, entered = fields.text_line(ui, "path", state.typed)
    if not entered:
        return False
    path = typed_path(state.typed, state.folder)
    if path_kind(path) == "folder":
        state.go(path)
        return False
    state.name = str(path)
    return _chosen(ui, state)


def _bottom(ui: PanelContext, state: State, *, enter: bool) -> bool:
    controls.label(ui, "Name", width=LABEL)
    entered = _name_field(ui, state)
    advice, length = state.options.advice(ui, state.path)
    if state.question and state.question != state.asked_again(advice, length):  # another name, or other options
        state.question = ""
    problem = state.problem or (NO_NAME if state.unnamed else state.question)
    advice = problem or advice or f"Files ending in {', '.join(state.suffixes)}"
    controls.small_line(ui, advice, "warn" if problem else "text3", height=SMALL)
    pen, at = Pen(ui), imgui.get_cursor_screen_pos()
    pen.strong(at.x, pen.middle(at.y, pen.px(28)), length)
    sure = bool(state.name.strip()) and not state.unnamed
    word = "Replace" if state.question else state.asked.action
    pressed = choices(ui, Choice("Cancel"), Choice(word, primary=True, enabled=sure), enter=enter)
    if pressed == "Cancel":
        return True
    return bool(pressed or entered) and _chosen(ui, state)


def _format(ui: PanelContext, state: State) -> None:
    """The formats of what is saved, if there are several: choosing one changes the suffix of the name."""
    formats = state.options.formats
    if not formats:
        return
    controls.label(ui, "Format", width=LABEL, height=controls.SEGMENT)
    suffixes, words = [one.suffix for one in formats], [one.word for one in formats]
    typed = state.path.suffix.casefold()
    now = ".usda" if typed == ".usdc" else typed
    wide = min(float(int(imgui.get_content_region_avail().x / len(formats))), ui.px(80))
    hints, off = [one.lacks or one.hint for one in formats], [i for i, one in enumerate(formats) if one.lacks]
    chosen = controls.choose(ui, "format", suffixes, words, now, widths=wide, hints=hints, off=off)
    if chosen != now:
        state.take_suffix(chosen)


def _name_field(ui: PanelContext, state: State) -> bool:
    """The name or path; returns whether Enter was pressed.

    Arrow keys step through the list; Backspace in an empty field goes to the parent folder.
    """
    if state.fresh:
        fields.focus_next_field()
        state.fresh = False
    empty, said = not state.name, "" if state.asked.saving else "Name or path"
    name, entered = fields.text_line(ui, "name", state.name, hint=said, stepped=state.step)
    if imgui.is_item_edited() and not state.stepped:
        state.problem = ""
    state.name = name
    active, free = imgui.is_item_active(), not imgui.is_any_item_active()  # free to change: the list was clicked
    if (free or (active and empty)) and imgui.is_key_pressed(imgui.Key.backspace):
        state.go(state.folder.parent)
    step = imgui.is_key_pressed(imgui.Key.down_arrow) - imgui.is_key_pressed(imgui.Key.up_arrow)
    if free and step:
        state.step(step)
    return entered


def _chosen(ui: PanelContext, state: State) -> bool:
    """Use the named path, or go to it if it is a folder; returns whether the dialog is done."""
    path = state.path
    if path_kind(path) == "folder" and not state.unnamed:
        state.go(path)
        state.name = "" if not state.asked.saving or names_folder(state.name) else state.name
        return False
    if problem := state.refused or _lacking(state) or _unwritable(state):
        state.problem, state.fresh = problem, True
        return False
    if not state.asked.saving and path_kind(path) != "file":
        state.problem, state.fresh = f"{path}: no such file", True
        return False
    question = state.asks(path) if state.asked.saving else ""
    if question != state.question:
        state.question, state.fresh = question, True  # so that Enter answers the question
        return False
    done = _finish(ui, state, path)
    if done:
        state.folder = path.parent  # a whole path may have been typed
    return done


def _lacking(state: State) -> str:
    """What must be installed for the format of the name; else ""."""
    suffix = state.path.suffix.casefold()
    return next((one.lacks for one in state.options.formats if one.suffix == suffix), "")


def _unwritable(state: State) -> str:
    """Why the file cannot be written, while the name can still be corrected; else ""."""
    if state.asked.saving:
        try:
            check_output(state.path)
        except ViewerError as error:
            return str(error)
    return ""


def _finish(ui: PanelContext, state: State, path: Path) -> bool:
    """Call ``done``; returns whether the dialog is done. If writing failed, it stays open and shows the message."""
    if state.asked.done(path) is not False or not state.asked.saving:
        return True
    messages = ui.controller.view.bar.messages[-1:]
    for message in messages:
        ui.controller.view.bar.close(message)
        state.problem = message.text
    state.question, state.fresh = "", True
    return not messages
