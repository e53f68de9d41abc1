"""Rows of the dialog for films: size, what of the take, camera, what is shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.panels.film_state import SIZES, goes_out, plan_of, size_of
from viewer.app.widgets.buttons import FIELD, SEGMENT, segments, text_button
from viewer.app.widgets.edits import Phase
from viewer.app.widgets.fields import Format, number_field
from viewer.app.widgets.items import tip
from viewer.app.widgets.pen import Pen
from viewer.app.widgets.rows import label
from viewer.formats.film_rates import SLOWEST_TURN
from viewer.session.take.changing import shows_take
from viewer.ui.commands import BY_ID
from viewer.ui.film import PARTS, fastest, ranges, rate_words, size_words

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.film_state import FilmState
    from viewer.app.widgets.edits import Edit

LABEL = 72.0
"""Width of the column of labels, logical pixels."""

_FIELD = 84.0
_PIXELS = Format(decimals=0, per_pixel=2.0, snap=16.0, units={}, low=2.0, high=8192.0)
_SECONDS = Format(decimals=1, unit=" s", per_pixel=0.05, snap=1.0, units={"s": 1.0}, low=0.1, high=SLOWEST_TURN)
_HINTS = {
    "grid": "The ground's lines",
    "names": "The names of all joints",
    "goals": "Effectors, targets and pins",
    "limits": "How far joints can turn; those at a limit are lit",
    "ghosts": "The figure at other frames, as in the view",
    "trails": "The ways of what is selected, as in the view",
}


def _value(edit: Edit | None) -> float | None:
    """What a field asks for, at once: a dialog has no history."""
    return edit.value if edit is not None and edit.phase is not Phase.COMMIT else None


def _note(ui: PanelContext, words: str, colour: str = "text3", height: float = FIELD) -> None:
    """Words behind a field, in its row."""
    pen = Pen(ui)
    imgui.same_line(0.0, ui.px(10))
    x, y = imgui.get_cursor_screen_pos()
    wide = imgui.get_content_region_avail().x
    pen.text(x, pen.middle(y, pen.px(height)), pen.fit(words, wide), colour)
    imgui.dummy((max(min(wide, pen.width(words)), 1.0), pen.px(height)))


def picture_rows(ui: PanelContext, state: FilmState) -> None:
    """How large."""
    label(ui, "Size", width=LABEL, height=SEGMENT)
    names, view = list(SIZES), ui.regions.viewport.size
    words = [f"View {size_words(view)}", *(f"{name}p" for name in names[1:-1]), "Other"]
    hints = ["As large as it is seen", *(size_words(SIZES[name]) for name in names[1:-1])]
    chosen = segments(ui, "size", words, names.index(state.sized), hints=hints)
    if chosen is not None:
        before = size_of(ui, state)
        state.size = names[chosen]
        state.own = before if state.size == "own" else state.own
    if state.size != "own":
        return
    label(ui, "", width=LABEL)
    sizes = [float(pixels) for pixels in state.own]
    for index, name in enumerate(("width", "height")):
        if index:
            _note(ui, "\N{MULTIPLICATION SIGN}")
            imgui.same_line(0.0, ui.px(10))
        edit = _value(number_field(ui, name, sizes[index], _PIXELS, width=ui.px(_FIELD), hint=name.capitalize()))
        sizes[index] = sizes[index] if edit is None else edit
    state.own = round(sizes[0]), round(sizes[1])
    odd = state.form == "mp4" and any(pixels % 2 for pixels in state.own)
    _note(ui, "pixels, for MP4 even numbers" if odd else "pixels")


def motion_rows(ui: PanelContext, state: FilmState) -> None:
    """What of the take, and how many pictures a second."""
    document = ui.session.document
    every = ranges(document)
    if len(every) > 1:
        label(ui, "Range", width=LABEL, height=SEGMENT, hint="Frames of the take")
        words = [f"Frames {frames[0]} to {frames[1]}" if frames else "This pose" for frames in every]
        chosen = segments(ui, "shows", words, every.index(state.frames(document)))
        if chosen is not None:
            state.shows = chosen
            state.changed()
        if state.frames(document) is not None and not shows_take(document):
            _note(ui, "pose not keyed", "warn", SEGMENT)
            tip("The pose that is shown is not part of the take, and not of its film: S keys it")
    if state.frames(document) is None:
        label(ui, "Lasts", width=LABEL)
        seconds = _value(number_field(ui, "seconds", state.seconds, _SECONDS, width=ui.px(_FIELD)))
        if seconds is not None:
            state.seconds = round(seconds, 2)
            state.changed()
        _note(ui, "one turn; it can be repeated for ever")
        if ui.controller.demos.has_motions:
            label(ui, "", width=LABEL)
            _note(ui, f"Moving targets stand still in it: record them first, by {BY_ID['key.record'].shortcut}", "warn")
    _rate(ui, state)


def _rate(ui: PanelContext, state: FilmState) -> None:
    plan = plan_of(ui, state)
    form = Format(decimals=2, unit=" fps", per_pixel=0.25, snap=5.0, units={}, low=0.1, high=fastest(state.form))
    label(ui, "Rate", width=LABEL, hint="Pictures a second; the film lasts as long as the take, whatever they are")
    fps = _value(number_field(ui, "fps", plan.fps, form, width=ui.px(_FIELD)))
    if fps is not None:
        state.fps = round(fps, 3)
        state.changed()
    if state.fps is not None:
        imgui.same_line(0.0, ui.px(6))
        if text_button(ui, "Reset", hint="As the take has it"):
            state.fps = None
            state.changed()
    _note(ui, rate_words(ui.session.document, plan, state.form))


def camera_rows(ui: PanelContext, state: FilmState) -> None:
    """From where, and what is shown."""
    plan = plan_of(ui, state)
    label(ui, "View", width=LABEL, height=SEGMENT)
    near = ("All that the view shows, and no less", "From the same side, as near as the whole motion allows")
    chosen = segments(ui, "whole", ("As in the window", "All in view"), int(plan.whole), widths=ui.px(150), hints=near)
    if chosen is not None:
        state.whole = bool(chosen)
    if goes_out(ui, state):
        words, colour = ("else it leaves the view", "text3") if plan.whole else ("it leaves the view", "warn")
        _note(ui, words, colour, SEGMENT)
    label(ui, "Camera", width=LABEL, height=SEGMENT)
    still = plan.frames is None
    hints = ("A pose that stands still is turned round" if still else "", "Once round, in the course of the film")
    way = int(plan.turntable)
    chosen = segments(
        ui, "camera", ("Stands", "Goes round"), way, widths=ui.px(150), hints=hints, off={0} if still else ()
    )
    if chosen is not None:
        state.turntable = bool(chosen)
    _parts(ui, state, still=still)


def _parts(ui: PanelContext, state: FilmState, *, still: bool) -> None:
    """What is shown besides the figure; a pose has no other frames."""
    label(ui, "Show", width=LABEL, height=SEGMENT)
    for index, part in enumerate(PARTS):
        if index:
            imgui.same_line(0.0, ui.px(4))
        on = part in state.parts
        there = not still or part not in {"ghosts", "trails"}
        if text_button(ui, f"{part.capitalize()}##part", on=on, height=SEGMENT, enabled=there, hint=_HINTS[part]):
            state.parts ^= {part}
