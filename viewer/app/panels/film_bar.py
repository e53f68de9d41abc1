"""The card of a film that is being made, in the corner of the view, and the question when the window is to close."""

from __future__ import annotations

from imgui_bundle import icons_fontawesome_6 as fa
from imgui_bundle import imgui

from viewer.app.context import PanelContext
from viewer.app.fonts import SMALL
from viewer.app.panels.panel_parts import ask
from viewer.app.widgets.buttons import FIELD, text_button
from viewer.app.widgets.dialogs import Choice, begin_dialog, choices, end_dialog, escape_pressed
from viewer.app.widgets.pen import Pen, gap
from viewer.ui.film import FilmProgress

ASK = "##ask film"
_ANSWERS = {
    "Stop and close": "film-stop-then-quit", "Keep open": "film-keep-open", "Close when done": "film-then-quit",
}  # fmt: skip
_CLOSES = "closes when done"

_FLAGS = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_docking
)
_LINE, _PADDING, _MARGIN, _GAP, _ICON = 20.0, 8.0, 12.0, 6.0, 26.0
_SHARE, _LEAST, _WIDEST = 0.34, 260.0, 400.0
"""Width, as messages have it: a part of the view's, at least and at most so many logical pixels."""
_HIGH = 2.0 * _PADDING + _LINE + 2.0 * _GAP + 6.0 + FIELD


def draw(ui: PanelContext) -> None:
    """Draw what there is."""
    if ui.film is not None:
        _card(ui, ui.film)
    _question(ui)


def film_height(ui: PanelContext) -> float:
    """Framebuffer pixels at the bottom of the view's right corner that the card takes, the space above it included."""
    return 0.0 if ui.film is None else ui.px(_HIGH) + ui.px(_GAP)


def _card(ui: PanelContext, film: FilmProgress) -> None:
    """In the lower right corner of the view, beside the figure; messages stand above it."""
    view = ui.regions.viewport
    wide = round(min(max(_SHARE * view.w, ui.px(_LEAST)), ui.px(_WIDEST), view.w - 2.0 * ui.px(_MARGIN)))
    top = view.y + view.h - ui.px(_MARGIN) - ui.px(_HIGH)
    imgui.set_next_window_bg_alpha(1.0)
    imgui.push_style_color(imgui.Col_.window_bg, ui.paint("raised"))
    imgui.push_style_color(imgui.Col_.border, ui.paint("line_hi"))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, ui.px(6))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, max(1.0, ui.px(1)))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(_PADDING), ui.px(_PADDING)))
    imgui.set_next_window_pos((view.x + view.w - ui.px(_MARGIN) - wide, top))
    imgui.set_next_window_size((wide, ui.px(_HIGH)))
    imgui.begin("##film card", None, _FLAGS)
    imgui.pop_style_var(3)
    imgui.pop_style_color(2)
    _contents(ui, film)
    imgui.end()


def _contents(ui: PanelContext, film: FilmProgress) -> None:
    """Name, track, count, time left, Cancel; numbers keep their places."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, left = imgui.get_content_region_avail().x, x + pen.px(_ICON)
    pen.icon(x + pen.px(8), y + pen.px(_LINE) / 2.0, fa.ICON_FA_FILM, "accent")
    room = wide - pen.px(_ICON)
    if film.closes:
        pen.right(x + wide, pen.middle(y, pen.px(_LINE), SMALL), _CLOSES, "text2", SMALL)
        room -= pen.width(_CLOSES, SMALL) + pen.px(12)
    pen.text(left, pen.middle(y, pen.px(_LINE)), pen.fit(f"Filming {film.name}", room))
    y += pen.px(_LINE) + pen.px(_GAP)
    _track(pen, (left, y), wide - pen.px(_ICON), film.done / max(film.total, 1))
    y += pen.px(6) + pen.px(_GAP)
    h = pen.px(FIELD)
    counted = left + pen.width(f"{film.total} of {film.total}")
    pen.right(counted, pen.middle(y, h), film.words)
    button = pen.width("Cancel") + pen.px(20)
    room = x + wide - button - pen.px(8) - counted - pen.px(12)
    pen.text(counted + pen.px(12), pen.middle(y, h), pen.fit(film.left_words, room), "text2")
    imgui.set_cursor_screen_pos((x + wide - button, y))
    if text_button(ui, "Cancel", width=button, hint="Give up; a file that was there before stays"):
        ask(ui, "film-cancel")


def _track(pen: Pen, at: tuple[float, float], wide: float, part: float) -> None:
    """How far, as a bar from its upper left corner on."""
    (x, y), h = at, pen.px(6)
    pen.box(x, y, wide, h, "field", rounding=3)
    if part > 0.0:
        pen.box(x, y, max(wide * min(part, 1.0), h), h, "accent", rounding=3)


def _question(ui: PanelContext) -> None:
    """The window is to close while a film is being made."""
    if ui.take("ask-film") is not None and ui.film is not None:
        imgui.open_popup(ASK)
    if not begin_dialog(ui, ASK, width=440.0):
        return
    if ui.film is None:  # it has been finished meanwhile
        imgui.close_current_popup()
        end_dialog()
        return
    with ui.fonts.base():
        imgui.push_text_wrap_pos(0.0)
        imgui.text_unformatted(f"{ui.film.name} is being filmed: {ui.film.words} pictures")
        imgui.pop_text_wrap_pos()
    gap(ui.px(8))
    pressed = choices(ui, *(Choice(words, primary=words == "Close when done") for words in _ANSWERS))
    if not pressed and escape_pressed():
        pressed = "Keep open"
    if pressed:
        imgui.close_current_popup()
        ask(ui, _ANSWERS[pressed])
        ui.wake()
    end_dialog()
