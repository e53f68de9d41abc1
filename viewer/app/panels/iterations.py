"""The panel Iterations: the transport and the ruler of the laboratory, whose time is counted in iterations."""

from __future__ import annotations

from itertools import pairwise

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.lab import disc
from viewer.app.panels.panel_parts import run
from viewer.app.widgets.buttons import icon_button
from viewer.app.widgets.fields import Format, number_field
from viewer.app.widgets.pen import Pen, gap, item
from viewer.ik.solution import Status
from viewer.ui.laboratory import Laboratory

_BUTTONS = (
    ("play.first", fa.ICON_FA_BACKWARD_FAST, "Start   Ctrl Home"),
    ("play.previous", fa.ICON_FA_BACKWARD_STEP, "One iteration back   ,"),
    ("play.forwards", fa.ICON_FA_PLAY, "Run, 10 a second   Space"),
    ("play.next", fa.ICON_FA_FORWARD_STEP, "One iteration on   ."),
    ("play.last", fa.ICON_FA_FORWARD_FAST, "End   Ctrl End"),
)
_SMALL, _HEAD = 24.0, 12.0
_STEPS = (1, 2, 5, 10, 20, 50, 100, 200)
_APART = 46.0
"""Least logical pixels between two numbers on the ruler."""


def draw_iterations(ui: PanelContext) -> None:
    """Draw the panel; only the transport row if there is no room for more."""
    lab = ui.controller.laboratory
    last = lab.last
    for command, icon, words in _BUTTONS:
        shown = fa.ICON_FA_PAUSE if command == "play.forwards" and lab.playing else icon
        if icon_button(ui, command, shown, words, size=_SMALL, fill=None, enabled=bool(lab.traces)):
            run(ui, command)
        imgui.same_line(0.0, ui.px(4))
    imgui.same_line(0.0, ui.px(12))
    imgui.align_text_to_frame_padding()
    imgui.text("Iteration")
    imgui.same_line(0.0, ui.px(8))
    form = Format(decimals=0, per_pixel=0.1, snap=5.0, units={}, low=0.0, high=float(max(last, 1)))
    edit = number_field(ui, "iteration", float(lab.shown_iteration), form, width=ui.px(56))
    if edit is not None:
        lab.go_to(round(edit.value))
    imgui.same_line(0.0, ui.px(8))
    imgui.align_text_to_frame_padding()
    imgui.text_disabled(f"/ {last}")
    if not ui.regions.short_timeline:
        gap(ui.px(4))
        _ruler(ui, last)


def _ruler(ui: PanelContext, last: int) -> None:
    """Numbers, the letters of methods where they met their goals, and the playhead, which is dragged."""
    lab, pen = ui.controller.laboratory, Pen(ui)
    wide, high = imgui.get_content_region_avail().x, max(imgui.get_content_region_avail().y, pen.px(36))
    it = item("ruler", wide, high)
    pen.box(*it[:4], "app", rounding=3)
    left, right = it.x + pen.px(_HEAD), it.x + wide - pen.px(_HEAD)
    each = (right - left) / max(last, 1)
    step = next((one for one in _STEPS if one * each >= pen.px(_APART)), _STEPS[-1])
    pen.rule(left, right, it.y + pen.px(20), "line_hi")
    for k in range(0, last + 1, step):
        x = left + k * each
        words = str(k)
        pen.upright(x, it.y + pen.px(16), it.y + pen.px(20), "line_hi")
        pen.text(x - pen.width(words, SMALL) / 2.0, it.y + pen.px(2), words, "text3", SMALL)
    _letters(ui, lab, pen, (left, right, it.y), each)
    x = left + lab.shown_iteration * each
    pen.upright(x, it.y + pen.px(4), it.y + it.h, "accent")
    pen.disc(x, it.y + pen.px(20), 5.0, "accent")
    if it.held:
        lab.playing = False
        lab.go_to(round((imgui.get_io().mouse_pos.x - left) / each))
        ui.wake()


def _letters(ui: PanelContext, lab: Laboratory, pen: Pen, ends: tuple[float, float, float], each: float) -> None:
    """The letters of methods where they met their goals; those at one place stand beside each other."""
    left, right, top = ends
    size, wide = pen.px(18), pen.width("met", SMALL) + pen.px(12)
    met = sorted(
        (trace.last.iterations, name)
        for name, trace in lab.traces.items()
        if name not in lab.hidden and trace.last.status is Status.CONVERGED
    )
    places: list[float] = []
    for iterations, name in met:
        x = max(left + iterations * each, places[-1] + size if places else left)
        places.append(x)
        disc(pen, x, top + ui.px(33), lab.curve(name))
    for x, after in pairwise([*places, right + wide]):
        if after - x > wide:
            pen.text(x + pen.px(12), pen.middle(top + pen.px(25), pen.px(16), SMALL), "met", "text2", SMALL)
