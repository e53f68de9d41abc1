"""The card of a demo at the top left of the view."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.panels.panel_parts import command_button, run
from viewer.app.widgets import controls
from viewer.app.widgets.dialogs import card, title_row
from viewer.app.widgets.pen import Pen
from viewer.ik.methods import EVERY_METHOD
from viewer.session.demo_parts import Demo, Says
from viewer.ui.camera_moves import CARD_MARGIN, CARD_WIDTH

_CARD_PADDING, _CARD_LINE = 12.0, 24.0
"""Sizes within a demo's card, logical pixels."""
_CARD_TONES = {
    "ok": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "idle": (fa.ICON_FA_CIRCLE_INFO, "text2"),
}


def draw_demo_card(ui: PanelContext) -> None:
    """Draw the card of a demo at the top left of the view."""
    demo, view = ui.controller.demos.card, ui.regions.viewport
    if demo is None:
        return
    wide = min(ui.px(CARD_WIDTH), view.w - 2.0 * ui.px(CARD_MARGIN))
    place = view.x + ui.px(CARD_MARGIN), view.y + ui.px(CARD_MARGIN)
    padding, tallest = (_CARD_PADDING, _CARD_PADDING - 2.0), view.h - 2.0 * ui.px(CARD_MARGIN)
    with card(ui, "##demo card", place, (wide, 0.0), padding=padding, fill="panel", alpha=0.94, tallest=tallest):
        if title_row(ui, demo.title):
            ui.controller.demos.close()
            ui.wake()
        for words in demo.words:
            controls.paragraph(ui, words, "text2")
        says = ui.controller.demos.says
        if says is not None:
            _card_line(ui, says)
        _card_buttons(ui, demo)


def _card_line(ui: PanelContext, says: Says) -> None:
    """The demo's result, which changes with the figure; it is shortened, so that the card keeps its size."""
    pen, x, y, room, h = controls.line(ui, _CARD_LINE)
    icon, tone = _CARD_TONES[says.tone]
    pen.icon(x + pen.px(8), y + h / 2.0, icon, tone)
    pen.text(x + pen.px(22), pen.middle(y, h), pen.fit(says.text, room - pen.px(22)), "text")


def _card_buttons(ui: PanelContext, demo: Demo) -> None:
    controller, session = ui.controller, ui.session
    command_button(ui, "demo.start_over", "Start over", icon=fa.ICON_FA_ROTATE_LEFT)
    if controller.demos.has_motions:
        imgui.same_line(0.0, ui.px(6))
        moves = session.targets.running
        words, icon = ("Pause", fa.ICON_FA_PAUSE) if moves else ("Resume", fa.ICON_FA_PLAY)
        wide = Pen(ui).width("Pause") + ui.px(40)
        if controls.text_button(ui, f"{words}##motion", icon=icon, width=wide, hint="Space"):
            run(ui, "demo.animate")
    if demo.methods:
        if not controller.demos.has_motions:
            imgui.same_line(0.0, ui.px(6))
        method, titles = session.document.solver.method, [EVERY_METHOD[name].title for name in demo.methods]
        chosen = controls.choose(ui, "methods", demo.methods, titles, method, height=_CARD_LINE)
        if chosen != method:
            controller.demos.choose(chosen)
            ui.wake()
