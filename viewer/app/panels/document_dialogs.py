"""Dialogs: new from a sample, units of a file, questions before data is lost, go to a frame, find by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import run
from viewer.app.panels.skeleton_tree import found_rows, is_shown
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import Choice, choices, confirm, dialog, escape_pressed
from viewer.app.widgets.edits import act
from viewer.app.widgets.pen import Pen, gap, item, tip
from viewer.document import Action, Item
from viewer.document.actions import Select, SetFrameTime, SetUnits
from viewer.errors import InputError, ViewerError
from viewer.formats.file_formats import SAMPLE, UP_NAMES, UpWord
from viewer.formats.load import load, sample_names
from viewer.skeleton import fk, tip_positions
from viewer.ui import number_format
from viewer.ui.commands import COMMANDS
from viewer.ui.events import NameQuestion, Question, Request
from viewer.ui.opening import units_of
from viewer.ui.timeline import last_frame

Segment = tuple[tuple[float, float], tuple[float, float]]


@lru_cache(maxsize=32)
def outline(name: str) -> tuple[Segment, ...]:
    """The bones of a sample in three-quarter view, as lines in a unit square, y down; none if it cannot be read."""
    try:
        character = load(f"{SAMPLE}{name}")
    except ViewerError:
        return ()
    skeleton = character.skeleton
    pose = character.clip.pose(0) if character.clip is not None else skeleton.relaxed_pose()
    world = fk(skeleton, pose)
    tips = tip_positions(skeleton, world)
    angle = np.radians(30.0)
    across = np.array([np.cos(angle), 0.0, -np.sin(angle)])
    points = np.concatenate([world.positions, tips])
    flat = np.stack([points @ across, -points[:, 1]], axis=1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = float((high - low).max()) or 1.0
    placed = (flat - (low + high) / 2.0) / size + 0.5
    ends = [(int(parent), joint) for joint, parent in enumerate(skeleton.parents.tolist()) if parent >= 0]
    ends += [(int(parent), len(skeleton) + index) for index, parent in enumerate(skeleton.tip_parents.tolist())]
    return tuple(
        ((float(placed[a, 0]), float(placed[a, 1])), (float(placed[b, 0]), float(placed[b, 1]))) for a, b in ends
    )


_NEW_WIDTH, _CARD, _SPACE = 660.0, 148.0, 8.0
_RECENT = 6
"""Number of recent files shown."""


def draw_new_dialog(ui: PanelContext) -> None:
    """Draw the dialog while it is open."""
    with dialog(ui, "new-dialog", width=_NEW_WIDTH, title="New from sample") as shown:
        if shown is None:
            return
        path = _recent(ui, _sample(ui))
        if path is not None:
            ui.controller.files.open(path)
            shown.closed = True
        pen = Pen(ui)
        x, y = imgui.get_cursor_screen_pos()
        if controls.text_button(ui, "Open…", icon=fa.ICON_FA_FOLDER_OPEN, height=28):
            run(ui, "file.open")
            shown.closed = True
        pen.text(x + pen.px(112), pen.middle(y, pen.px(28)), "or drop a motion, a skeleton or a robot here", "text3")


def _sample(ui: PanelContext) -> str | None:
    """A card for each sample; returns that of the one pressed in this frame, as it is opened."""
    room, space = imgui.get_content_region_avail().x, ui.px(_SPACE)
    across = max(1, int((room + space) / (ui.px(_CARD) + space)))
    wide = (room - space * (across - 1)) / across
    chosen = None
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (space, space))
    for index, name in enumerate(sample_names()):
        if index % across:
            imgui.same_line()
        if _card(ui, name, wide):
            chosen = f"{SAMPLE}{name}"
    imgui.pop_style_var()
    return chosen


def _card(ui: PanelContext, name: str, wide: float) -> bool:
    pen = Pen(ui)
    tall, caption = pen.px(124), pen.px(26)
    it = item(name, wide, tall)
    pen.box(*it[:4], "field" if it.hovered else "raised")
    if it.hovered:
        pen.frame(*it[:4], "accent")
    size = tall - caption - pen.px(16)
    x, y = it.x + (wide - size) / 2.0, it.y + pen.px(10)
    ink, line = pen.ink("text" if it.hovered else "text2"), 1.5 * pen.scale
    for (x0, y0), (x1, y1) in outline(name):
        pen.draw.add_line((x + x0 * size, y + y0 * size), (x + x1 * size, y + y1 * size), ink, line)
    words = pen.fit(name, wide - pen.px(12))
    left = it.x + (wide - pen.width(words)) / 2.0
    pen.text(left, pen.middle(it.y + tall - caption, caption), words, "text" if it.hovered else "text2")
    return it.clicked


def _recent(ui: PanelContext, chosen: Path | str | None) -> Path | str | None:
    """Rows of recent files; returns the one pressed in this frame, else what was chosen before."""
    recent = ui.controller.view.preferences.recent[:_RECENT]
    if not recent:
        return chosen
    pen, x, y, *_ = controls.line(ui, 22)
    pen.small(x, y + pen.px(6), "Recent")
    with controls.no_spacing():
        for file in recent:
            it, path = controls.list_row(pen, file, 24), Path(file)
            name = pen.fit(path.name, it.w * 0.5)
            pen.text(it.x + pen.px(6), pen.middle(it.y, it.h), name, "text" if it.hovered else "text2")
            folder = pen.fit(str(path.parent), it.w - pen.width(name) - pen.px(28), SMALL)
            pen.right(it.x + it.w - pen.px(6), pen.middle(it.y, it.h, SMALL), folder, "text3", SMALL)
            tip(file)
            chosen = path if it.clicked else chosen
    imgui.dummy((1.0, pen.px(6)))
    return chosen


_UNITS_WIDTH, _LABEL = 500.0, 110.0
_UNITS = ("auto", "m", "cm", "mm", "inch", "cmu", "other")
_WORDS = ("Auto", "m", "cm", "mm", "inch", "CMU", "Other")


@dataclass(slots=True)
class _Units:
    """The choices, as chosen or typed: a unit and its metres for "other", the up axis, frames per second."""

    units: str
    metres: str
    up: UpWord
    rate: str


def draw_units_dialog(ui: PanelContext) -> None:
    """Draw the dialog while it is open."""
    with dialog(ui, "units-dialog", width=_UNITS_WIDTH, title="Units, axes, frame time") as shown:
        if shown is None:
            return
        if shown.asked:
            ui.memory["state"] = _units_now(ui)
        state: _Units = ui.memory["state"]
        controls.quiet(ui, f"Read as {units_of(ui.session.document.character)}")
        gap(ui.px(4))
        _unit_rows(ui, state)
        gap(ui.px(8))
        confirm(ui, shown, "Apply", lambda: _apply_units(ui, state))


def _units_now(ui: PanelContext) -> _Units:
    document = ui.session.document
    source, clip = document.character.source, document.clip_data
    return _Units(
        units=str(source.units) if source.units in _UNITS else "other",
        metres=f"{source.metres_per_unit:g}",
        up=source.up,
        rate=f"{1.0 / clip.frame_time:.6g}" if clip is not None else "",
    )


def _unit_rows(ui: PanelContext, state: _Units) -> None:
    controls.label(ui, "One unit is", width=_LABEL, height=26)
    room = imgui.get_content_region_avail().x
    state.units = controls.choose(ui, "units", _UNITS, _WORDS, state.units, widths=float(int(room / len(_WORDS))))
    if state.units == "other":
        controls.label(ui, "Metres per unit", width=_LABEL)
        state.metres, _ = fields.text_line(ui, "metres", state.metres, width=ui.px(140))
    controls.label(ui, "Up", width=_LABEL, height=26)
    state.up = controls.choose(ui, "up", UP_NAMES, ("Auto", "Y", "Z"), state.up, widths=ui.px(60))
    if ui.session.document.clip_data is not None:
        controls.label(ui, "Frame rate", width=_LABEL, hint="The frames stay the same and play faster or slower")
        state.rate, _ = fields.text_line(ui, "rate", state.rate, width=ui.px(140))


def _apply_units(ui: PanelContext, state: _Units) -> None:
    """Apply the choices that differ from the document, each as one undo step; none if what is typed is no number."""
    before, changes = _units_now(ui), list[Action]()
    if (state.units, state.up) != (before.units, before.up) or state.metres != before.metres:
        units = fields.evaluate(state.metres) if state.units == "other" else state.units
        changes.append(SetUnits(units, state.up))
    if state.rate != before.rate and ui.session.document.clip_data is not None:
        rate = fields.evaluate(state.rate)
        if rate <= 0.0:
            raise InputError(f'frames a second: expected a number above 0, found "{state.rate}"')
        changes.append(SetFrameTime(1.0 / rate))
    for change in changes:
        ui.session.dispatch(change)


_WIDTH, _WIDER = 440.0, 600.0


def draw_questions(ui: PanelContext) -> None:
    """Ask the questions that are requested."""
    if ui.take("go-to-frame") is not None:
        _go_to_frame(ui)
    for request, draw in (("question", _ask), ("ask-name", _ask_name)):
        if (taken := ui.take(request)) is not None:
            ui.memory[request], ui.memory["name"] = taken.value, None
            imgui.open_popup(f"##{request}")
        if request in ui.memory:
            draw(ui, ui.memory[request])


def _ask_name(ui: PanelContext, asked: NameQuestion) -> None:
    with dialog(ui, "##ask-name", width=360.0, title=asked.title) as shown:
        if shown is None:
            return
        controls.label(ui, asked.words)
        if imgui.is_window_appearing():
            fields.focus_next_field()
        typed = ui.memory["name"] if ui.memory["name"] is not None else asked.name
        ui.memory["name"], entered = fields.text_line(ui, "name", typed, chosen=True)
        gap(ui.px(6))
        confirm(ui, shown, asked.button, lambda: asked.give(ui.memory["name"]), entered=entered)


def _ask(ui: PanelContext, asked: Question) -> None:
    with dialog(ui, "##question", width=_WIDER if asked.title else _WIDTH, title=asked.title) as shown:
        if shown is None:
            return
        controls.paragraph(ui, asked.words)
        gap(ui.px(8))
        for note in asked.notes:
            controls.paragraph(ui, note, "text2", small=True)
        if asked.notes:
            gap(ui.px(8))
        first, *_, last = asked.answers
        pressed = choices(ui, *(Choice(words, primary=words == first) for words in asked.answers))
        if not pressed and (shown.closed or (not asked.title and escape_pressed())):
            pressed = last
        shown.closed = bool(pressed) or not asked.stands()
        if pressed:
            asked.answers[pressed]()


def _go_to_frame(ui: PanelContext) -> None:
    last = last_frame(ui.session.document)
    now, go = str(ui.session.document.frame), lambda typed: _go(ui, fields.evaluate(typed), last)
    ui.controller.view.ask(NameQuestion(f"Go to frame, 0 to {last}", "Frame", now, "Go", go))


def _go(ui: PanelContext, wanted: float, last: int) -> None:
    """Show a frame, clamped to those that exist, with a note if it was clamped."""
    asked = round(wanted)
    frame = min(max(asked, 0), last)
    ui.controller.playback.go(frame)
    if frame != asked:
        there = "first" if frame == 0 else "last"
        ui.controller.view.note(f"Frame {number_format.fixed(asked, 0)} does not exist: {frame} is the {there}")


# --- finding commands and joints by words of their names

_MOST, _ROW = 10, 24
"""Rows shown at once, and the height of one, logical pixels."""
_NOT_OFFERED = frozenset({"find.all", "select.find"})


@dataclass(frozen=True, slots=True)
class Found:
    """A row of the dialog: words, the id of the command that it runs, "" for a joint, and its menu and key."""

    words: str
    command: str = ""
    note: str = ""


def found_commands(query: str) -> list[Found]:
    """The commands outside drags whose title or menu contains every word of a query; none without one.

    Those whose title begins with the first word come first, then those whose title contains all words.
    """
    words = query.casefold().split()
    found = []
    for command in COMMANDS:
        text = f"{command.title} {command.row} {command.menu or ''}".casefold()
        if words and not command.in_drag and command.id not in _NOT_OFFERED and all(word in text for word in words):
            note = "   ".join(part for part in (command.menu or "", command.shortcut) if part)
            title = command.title.casefold()
            rank = not title.startswith(words[0]), not all(word in title for word in words)
            found.append((rank, Found(command.title, command.id, note)))
    return [one for _, one in sorted(found, key=lambda pair: pair[0])]


def draw_find_dialog(ui: PanelContext) -> None:
    """Open the dialog when it is requested, also by the search of the tree while that is hidden, and draw it."""
    if not is_shown(ui) and ui.take("find-joint") is not None:
        ui.requests.append(Request("find-dialog"))
    with dialog(ui, "find-dialog", width=420.0, title="Find") as shown:
        if shown is None:
            return
        if shown.asked:
            ui.memory["query"], ui.memory["mark"] = "", 0
        before = ui.memory["query"]
        search = fields.search_field(ui, "query", before, "A command or a joint", focus=imgui.is_window_appearing())
        ui.memory["query"] = search.text
        if search.text != before:
            ui.memory["mark"] = 0
        chosen = _chosen(ui, search)
        if chosen is not None:
            shown.closed = True
            if chosen.command:
                run(ui, chosen.command)
            else:
                act(ui, Select((Item("joint", chosen.words),)))


def _chosen(ui: PanelContext, search: fields.Search) -> Found | None:
    """Draw what is found, with one row marked: arrow keys move the mark, Enter and a click choose."""
    query = search.text.strip()
    skeleton = ui.session.document.skeleton
    found = [one for one in found_commands(query) if ui.controller.can(one.command)]
    found += [Found(skeleton.names[row.joint]) for row in found_rows(skeleton, query)]  # without a query all joints
    mark = ui.memory["mark"] = max(0, min(ui.memory["mark"] + search.step, len(found) - 1))
    first = max(0, mark - _MOST + 1)
    chosen = found[mark] if search.entered and found else None
    for index, one in enumerate(found[first : first + _MOST], first):
        chosen = one if _row(ui, one, marked=index == mark) else chosen
    if not found:
        controls.quiet(ui, f'No command or joint matches "{query}"')
    elif len(found) > first + _MOST:
        controls.quiet(ui, f"{len(found) - first - _MOST} more")
    return chosen


def _row(ui: PanelContext, one: Found, *, marked: bool) -> bool:
    """Draw a row; returns whether it was clicked."""
    pen = Pen(ui)
    it = controls.list_row(pen, f"found {one.command or one.words}", _ROW, chosen=marked)
    pen.icon(it.x + pen.px(14), it.middle[1], fa.ICON_FA_BOLT if one.command else fa.ICON_FA_BONE, "text3", SMALL)
    noted = pen.width(one.note, SMALL) + pen.px(16) if one.note else 0.0
    tip(pen.fitted(it.x + pen.px(28), pen.middle(it.y, it.h), one.words, it.w - pen.px(36) - noted))
    if one.note:
        pen.right(it.x + it.w - pen.px(8), pen.middle(it.y, it.h, SMALL), one.note, "text3", SMALL)
    return it.clicked
