"""The card of a demo, in the view's corner: its title, two sentences, and what it says of the figure now."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.panels.panel_parts import run
from viewer.app.panels.solver import title
from viewer.app.widgets.buttons import icon_button, segments, text_button
from viewer.app.widgets.pen import Pen
from viewer.session.demos import Demo, Says

_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_docking
    | imgui.WindowFlags_.always_auto_resize
)
WIDTH, MARGIN = 296.0, 12.0
"""Logical pixels, as what follows: demos have their figures beside the card."""
_PADDING, _LINE = 12.0, 24.0
"""Logical pixels."""
_TONES = {
    "ok": (fa.ICON_FA_CIRCLE_CHECK, "ok"),
    "warn": (fa.ICON_FA_TRIANGLE_EXCLAMATION, "warn"),
    "idle": (fa.ICON_FA_CIRCLE_INFO, "text2"),
}


def draw(ui: PanelContext) -> None:
    """Draw the card at the top left of the view: the view axes are at its right."""
    demo, view = ui.controller.demos.card, ui.regions.viewport
    if demo is None:
        return
    wide = min(ui.px(WIDTH), view.w - 2.0 * ui.px(MARGIN))
    imgui.set_next_window_bg_alpha(0.94)
    imgui.push_style_color(imgui.Col_.window_bg, ui.paint("panel"))
    imgui.push_style_color(imgui.Col_.border, ui.paint("line_hi"))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, ui.px(6))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, max(1.0, ui.px(1)))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(_PADDING), ui.px(_PADDING - 2.0)))
    imgui.set_next_window_pos((view.x + ui.px(MARGIN), view.y + ui.px(MARGIN)))
    imgui.set_next_window_size((wide, 0.0))
    imgui.begin("##demo card", None, _FLAGS)
    imgui.pop_style_var(3)
    imgui.pop_style_color(2)
    _title(ui, demo)
    imgui.push_style_color(imgui.Col_.text, ui.colour("text2"))
    imgui.push_text_wrap_pos(0.0)
    for words in demo.words:
        imgui.text_unformatted(words)
    imgui.pop_text_wrap_pos()
    imgui.pop_style_color()
    says = demo.says(ui.session.document)
    if says is not None:
        _said(ui, says)
    _buttons(ui, demo)
    imgui.end()


def _title(ui: PanelContext, demo: Demo) -> None:
    """The title, and a cross at its right."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    room = imgui.get_content_region_avail().x
    pen.strong(x, pen.middle(y, pen.px(_LINE)), pen.fit(demo.title, room - pen.px(30), bold=True))
    imgui.set_cursor_screen_pos((x + room - pen.px(_LINE), y))
    if icon_button(ui, "close card", fa.ICON_FA_XMARK, "Close", size=_LINE, fill=None):
        ui.controller.demos.close()
        ui.wake()


def _said(ui: PanelContext, says: Says) -> None:
    """A line that changes with the figure: the card stays as large as it is."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    h, room = pen.px(_LINE), imgui.get_content_region_avail().x
    icon, tone = _TONES[says.tone]
    pen.icon(x + pen.px(8), y + h / 2.0, icon, tone)
    pen.text(x + pen.px(22), pen.middle(y, h), pen.fit(says.text, room - pen.px(22)), "text")
    imgui.dummy((room, h))


def _buttons(ui: PanelContext, demo: Demo) -> None:
    controller, session = ui.controller, ui.session
    if text_button(ui, "Start over", icon=fa.ICON_FA_ROTATE_LEFT):
        run(ui, "demo.start_over")
    if controller.demos.has_motions:
        imgui.same_line(0.0, ui.px(6))
        moves = session.animating
        words, icon = ("Hold still", fa.ICON_FA_PAUSE) if moves else ("Go on", fa.ICON_FA_PLAY)
        wide = Pen(ui).width("Hold still") + ui.px(40)
        if text_button(ui, f"{words}##motion", icon=icon, width=wide, hint="Space"):
            run(ui, "demo.animate")
    if demo.methods:
        if not controller.demos.has_motions:
            imgui.same_line(0.0, ui.px(6))
        method = session.document.solver.method
        active = demo.methods.index(method) if method in demo.methods else -1
        chosen = segments(ui, "methods", [title(name) for name in demo.methods], active, height=_LINE)
        if chosen is not None:
            controller.demos.choose(demo.methods[chosen])
            ui.wake()
