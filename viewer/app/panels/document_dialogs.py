"""Dialogs: new from a sample, units of a file, preferences, questions before data is lost, go to a frame."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.menus import choose_preset
from viewer.app.panels.panel_parts import run
from viewer.app.theme import SMALL
from viewer.app.widgets import controls, fields
from viewer.app.widgets.dialogs import Choice, choices, confirm, dialog, escape_pressed
from viewer.app.widgets.pen import Pen, gap, item, tip
from viewer.document import Action
from viewer.document.actions import SetFrameTime, SetUnits
from viewer.errors import InputError, ViewerError
from viewer.formats.file_formats import SAMPLE, UP_NAMES, UpWord
from viewer.formats.load import load, sample_names
from viewer.session.user_files import LARGEST_SCALE, SMALLEST_SCALE
from viewer.skeleton import fk, tip_positions
from viewer.ui import number_format
from viewer.ui.events import NameQuestion, Question
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


_PREFERENCES_WIDTH, _PREFERENCE = 520.0, 150.0
_SCALES = (1.0, 1.25, 1.5, 2.0, 3.0)
_SNAP = fields.Format(decimals=3, unit=" m", per_pixel=0.001, snap=0.01, units=fields.METRES, low=1e-4, high=1000.0)
_ANGLE = fields.Format(decimals=1, unit="°", per_pixel=0.1, snap=1.0, units=fields.ANGLE.units, low=0.1, high=180.0)


def draw_preferences(ui: PanelContext) -> None:
    """Draw the dialog while it is open; changes apply at once."""
    with dialog(ui, "preferences", width=_PREFERENCES_WIDTH, title="Preferences") as shown:
        if shown is None:
            return
        _scale(ui)
        controls.separator(ui)
        _mouse(ui)
        controls.separator(ui)
        _snapping(ui)
        gap(ui.px(6))
        shown.closed |= bool(choices(ui, Choice("Close", primary=True)))


def _scale(ui: PanelContext) -> None:
    view = ui.controller.view
    controls.label(ui, "Interface scale", width=_PREFERENCE)
    words = ["Auto", *(f"{100.0 * scale:.0f} %" for scale in _SCALES)]
    each = float(int(imgui.get_content_region_avail().x / len(words)))
    view.ui_scale = controls.choose(ui, "scale", (None, *_SCALES), words, view.ui_scale, widths=each)
    controls.label(ui, "", width=_PREFERENCE)
    if controls.text_button(ui, "Smaller", enabled=ui.scale > SMALLEST_SCALE):
        _set_scale(ui, ui.scale - 0.05)
    imgui.same_line()
    if controls.text_button(ui, "Larger", enabled=ui.scale < LARGEST_SCALE):
        _set_scale(ui, ui.scale + 0.05)
    controls.note(ui, f"{100.0 * ui.scale:.0f} % now", gap=imgui.get_style().item_spacing.x / ui.scale)


def _set_scale(ui: PanelContext, scale: float) -> None:
    ui.controller.view.ui_scale = round(20.0 * min(max(scale, SMALLEST_SCALE), LARGEST_SCALE)) / 20.0


def _mouse(ui: PanelContext) -> None:
    controls.label(ui, "Mouse", width=_PREFERENCE, height=26, hint="Which buttons move the camera; F1 lists them")
    choose_preset(ui)
    _switch(ui, "two_fingers", "Trackpad", "Two fingers orbit, Shift pans, Ctrl zooms")
    _switch(ui, "reduce_motion", "Reduce motion", "The camera moves instantly")
    _switch(ui, "keep_in_view", "Keep in view", "The camera follows a motion that leaves the view")


def _switch(ui: PanelContext, name: str, words: str, after: str) -> None:
    """A preference that is on or off."""
    controls.label(ui, words, width=_PREFERENCE)
    on = getattr(ui.controller.view, name)
    setattr(ui.controller.view, name, on != controls.toggle(ui, words, on=on))
    controls.note(ui, after, gap=imgui.get_style().item_spacing.x / ui.scale)


def _snapping(ui: PanelContext) -> None:
    view = ui.controller.view
    _switch(ui, "magnet", "Magnet", "Drags snap; hold Ctrl to move freely")
    controls.label(ui, "Snap steps", width=_PREFERENCE)
    for name, form, hint in (("snap_m", fields.in_lengths(ui, _SNAP), "Moving"), ("snap_deg", _ANGLE, "Rotating")):
        setattr(view, name, fields.number(ui, name.replace("_", " "), getattr(view, name), form, width=110, hint=hint))
        imgui.same_line()
    imgui.new_line()


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
