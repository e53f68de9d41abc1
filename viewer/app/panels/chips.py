"""Words in the view itself that need no answer: limits that are off, a rig without effectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.panels.goals import NO_GOALS
from viewer.app.widgets.pen import Pen

if TYPE_CHECKING:
    from viewer.app.context import PanelContext

CHIP = 26.0
"""Height of a chip, logical pixels."""
_MARGIN = 12.0


def draw(ui: PanelContext) -> None:
    """Draw the chips at the bottom centre of the view: its top belongs to the handles."""
    pen = Pen(ui)
    if not ui.session.document.limits_on:
        _limits_off(ui, pen)
    elif not ui.session.document.handles:
        _no_goals(ui, pen)
    imgui.dummy((1.0, 1.0))


def limits_chip_height(ui: PanelContext) -> float:
    """Framebuffer pixels at the bottom of the view that chips take."""
    document = ui.session.document
    return 0.0 if document.limits_on and document.handles else ui.px(CHIP + 8)


def _place(ui: PanelContext, pen: Pen, wide: float) -> tuple[float, float]:
    view = ui.rect
    return round(view.x + (view.w - wide) / 2.0), view.y + view.h - pen.px(_MARGIN + CHIP)


def _limits_off(ui: PanelContext, pen: Pen) -> None:
    strong, quiet = "Joint limits off", "press L to turn on"
    wide = pen.px(46) + pen.width(strong, bold=True) + pen.width(quiet)
    x, y = _place(ui, pen, wide)
    h = pen.px(CHIP)
    pen.box(x, y, wide, h, "panel", rounding=6)
    pen.frame(x, y, wide, h, "warn", rounding=6)
    pen.icon(x + pen.px(16), y + h / 2.0, fa.ICON_FA_LOCK_OPEN, "warn")
    pen.strong(x + pen.px(30), pen.middle(y, h), strong)
    pen.text(x + pen.px(38) + pen.width(strong, bold=True), pen.middle(y, h), quiet, "text2")


def _no_goals(ui: PanelContext, pen: Pen) -> None:
    words = pen.fit(NO_GOALS, ui.rect.w - pen.px(60))
    wide = pen.width(words) + pen.px(24)
    x, y = _place(ui, pen, wide)
    pen.box(x, y, wide, pen.px(CHIP), "panel", rounding=6)
    pen.text(x + pen.px(12), pen.middle(y, pen.px(CHIP)), words, "text2")
