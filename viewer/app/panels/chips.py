"""Words in the view itself that need no answer: limits that are off, a rig without effectors."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.goals import NO_GOALS
from viewer.app.widgets.dialogs import wrapped
from viewer.app.widgets.pen import Pen

CHIP, _LINE = 26.0, 18.0
"""Height of a chip of one line, and of each further line, logical pixels."""
_MARGIN, _CAPTION, _MIDDLE = 12.0, 22.0, 70.0
"""Logical pixels from the view's edges, for the caption below, and from the view's middle, where the figure stands."""
_MOST_LINES = 6


def draw(ui: PanelContext) -> None:
    """Draw the chips at the lower left of the view: its middle is the figure's, its top the handles'."""
    pen = Pen(ui)
    if not ui.session.document.limits_on:
        _limits_off(ui, pen)
    elif not ui.session.document.goals:
        _no_goals(ui, pen)
    imgui.dummy((1.0, 1.0))


def low_left_height(ui: PanelContext) -> float:
    """Framebuffer pixels in the lower left corner that the caption and the chips take; of the latter one line."""
    document = ui.session.document
    return ui.px(_CAPTION + (0.0 if document.limits_on and document.goals else CHIP + 6.0))


def _place(ui: PanelContext, pen: Pen, tall: float) -> tuple[float, float]:
    view = ui.rect
    return view.x + pen.px(_MARGIN), view.y + view.h - pen.px(_MARGIN + _CAPTION) - tall


def _room(ui: PanelContext, pen: Pen) -> float:
    """How wide a chip may be."""
    return ui.rect.w / 2.0 - pen.px(_MIDDLE + _MARGIN)


def _limits_off(ui: PanelContext, pen: Pen) -> None:
    strong, quiet = "Joint limits off", "press L to turn on"
    wide, more = pen.px(40) + pen.width(strong, bold=True), pen.px(8) + pen.width(quiet)
    whole = wide + more <= _room(ui, pen)
    wide += more if whole else 0.0
    h = pen.px(CHIP)
    x, y = _place(ui, pen, h)
    pen.box(x, y, wide, h, "panel", rounding=6)
    pen.frame(x, y, wide, h, "warn", rounding=6)
    pen.icon(x + pen.px(16), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn")
    pen.strong(x + pen.px(30), pen.middle(y, h), strong)
    if whole:
        pen.text(x + pen.px(38) + pen.width(strong, bold=True), pen.middle(y, h), quiet, "text2")


def _no_goals(ui: PanelContext, pen: Pen) -> None:
    lines = wrapped(NO_GOALS, _room(ui, pen) - pen.px(24), pen.width, _MOST_LINES)
    tall = pen.px(CHIP + (len(lines) - 1) * _LINE)
    x, y = _place(ui, pen, tall)
    pen.box(x, y, max(map(pen.width, lines)) + pen.px(24), tall, "panel", rounding=6)
    for number, words in enumerate(lines):
        pen.text(x + pen.px(12), pen.middle(y + pen.px(number * _LINE), pen.px(CHIP)), words, "text2")
