"""Dialogs and their buttons, popup menus, cards over the view, and wrapped text."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

from imgui_bundle import icons_fontawesome_6 as fa, imgui

from viewer.app.panel_context import PanelContext
from viewer.app.theme import BASE, TITLE, paint
from viewer.app.widgets import controls, fields
from viewer.app.widgets.edits import attempt
from viewer.app.widgets.pen import Pen

_MARGIN = 32.0
"""Least distance of a dialog from the window's edges, logical pixels."""
_LOW = 400.0
"""Logical height of the window below which the rows of a dialog are closer together."""
_FLAGS = (
    imgui.WindowFlags_.no_title_bar
    | imgui.WindowFlags_.no_resize
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
)


class Choice(NamedTuple):
    """A button of a dialog; Enter presses the primary one."""

    words: str
    primary: bool = False
    enabled: bool = True


@dataclass(slots=True)
class Dialog:
    """An open modal dialog; set ``closed`` to close it at the end of the frame.

    Attributes:
        asked: the request of its name that opens it in this frame, or None.
    """

    closed: bool = False
    asked: Any = None


@contextmanager
def dialog(
    ui: PanelContext, name: str, *, width: float, title: str = "", height: float | None = None, margin: float = _MARGIN
) -> Iterator[Dialog | None]:
    """A modal dialog in the middle of the window, which a request of its name opens; yields None unless it is open.

    Sizes are logical pixels: it is narrower in a smaller window, whose edges it keeps a ``margin`` from; ``height``
    None fits the contents. A title has a close button, which Esc presses too; "" for a dialog that draws its own.
    """
    asked = ui.take(name)
    if asked is not None:
        imgui.open_popup(name)
    window = ui.regions.size
    edges = 2.0 * ui.px(margin)
    wide = min(ui.px(width), window[0] - edges)
    tall = 0.0 if height is None else min(ui.px(height), window[1] - edges)
    imgui.set_next_window_pos((window[0] / 2.0, window[1] / 2.0), imgui.Cond_.always, (0.5, 0.5))
    imgui.set_next_window_size((wide, tall))
    low = window[1] < ui.px(_LOW)
    with _framed(ui, 16, 8 if low else 14):
        imgui.push_style_color(imgui.Col_.popup_bg, paint("panel"))
        flags = _FLAGS | (imgui.WindowFlags_.always_auto_resize if height is None else 0)
        opened, _ = imgui.begin_popup_modal(name, None, flags)
        imgui.pop_style_color()
    if not opened:
        yield None
        return
    spacing = imgui.get_style().item_spacing
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (spacing.x, ui.px(2) if low else spacing.y))
    shown = Dialog(asked=asked)
    if title:
        shown.closed = title_row(ui, title, TITLE, hint="Close   Esc")
        imgui.dummy((1.0, 0.0))  # space below the title
        shown.closed |= escape_pressed()
    yield shown
    imgui.pop_style_var()
    if shown.closed:
        imgui.close_current_popup()
    imgui.end_popup()


_OPENS = "popup to open"


def open_popup(ui: PanelContext, name: str, about: object = None) -> None:
    """Open a `popup` where it is drawn: imgui's own call has no effect within another id. Keep what it is ``about``."""
    ui.memory[_OPENS], ui.memory[name] = name, about


@contextmanager
def popup(ui: PanelContext, name: str, across: float = 8.0, down: float = 8.0) -> Iterator[bool]:
    """A menu that `open_popup` opens, with padding in logical pixels; yields whether it is open."""
    if ui.memory.get(_OPENS) == name:
        ui.memory[_OPENS] = ""
        imgui.open_popup(name)
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(across), ui.px(down)))
    opened = imgui.begin_popup(name)
    yield opened
    if opened:
        imgui.end_popup()
    imgui.pop_style_var()


@contextmanager
def _framed(ui: PanelContext, across: float, down: float) -> Iterator[None]:
    """A context with round corners, a thin border and padding (logical pixels) for the window that begins in it."""
    imgui.push_style_var(imgui.StyleVar_.window_padding, (ui.px(across), ui.px(down)))
    imgui.push_style_var(imgui.StyleVar_.window_rounding, ui.px(6))
    imgui.push_style_var(imgui.StyleVar_.window_border_size, max(1.0, ui.px(1)))
    yield
    imgui.pop_style_var(3)


_CARD = (
    imgui.WindowFlags_.no_decoration
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_nav
    | imgui.WindowFlags_.no_docking
)


@contextmanager
def card(
    ui: PanelContext, name: str, place: tuple[float, float], size: tuple[float, float], *,
    padding: tuple[float, float] = (8.0, 8.0), fill: str = "raised", border: str = "line_hi", alpha: float = 1.0,
    tallest: float = math.inf,
) -> Iterator[None]:  # fmt: skip
    """A small window over the view, whose upper left corner is at ``place``; framebuffer pixels.

    A height of 0 fits the contents, which scroll if they are higher than ``tallest``. The padding is in logical pixels,
    the colours are those of the palette; ``alpha`` is of the fill.
    """
    imgui.set_next_window_bg_alpha(alpha)
    imgui.set_next_window_size_constraints((0.0, 0.0), (size[0], tallest))
    imgui.push_style_color(imgui.Col_.window_bg, paint(fill))
    imgui.push_style_color(imgui.Col_.border, paint(border))
    imgui.set_next_window_pos((round(place[0]), round(place[1])))
    imgui.set_next_window_size((round(size[0]), round(size[1])))
    with _framed(ui, *padding):
        fitting = (_CARD | imgui.WindowFlags_.always_auto_resize) & ~imgui.WindowFlags_.no_scrollbar
        imgui.begin(name, None, _CARD if size[1] else fitting)
    imgui.pop_style_color(2)
    yield
    imgui.end()


def title_row(ui: PanelContext, words: str, size: float = BASE, *, hint: str = "Close") -> bool:
    """A title in bold with a close button at the right, 24 logical pixels high; returns whether that was pressed."""
    pen = Pen(ui)
    x, y = imgui.get_cursor_screen_pos()
    wide, h = imgui.get_content_region_avail().x, pen.px(24)
    pen.strong(x, pen.middle(y, h, size), pen.fit(words, wide - pen.px(34), size, bold=True), "text", size)
    return close_button(ui, x + wide - h, y, hint=hint)


def close_button(ui: PanelContext, x: float, y: float, *, size: float = 24.0, hint: str = "Close") -> bool:
    """A cross with its upper left corner at (x, y), framebuffer pixels, ``size`` logical pixels large."""
    imgui.set_cursor_screen_pos((x, y))
    return controls.icon_button(ui, "close", fa.ICON_FA_XMARK, hint, size=size, fill=None)


def escape_pressed() -> bool:
    """Whether Esc was pressed for the dialog: text lines leave it to their dialog, number fields take it."""
    free = fields.text_line_active() or not imgui.is_any_item_active()
    return free and imgui.is_key_pressed(imgui.Key.escape, repeat=False)


def choices(ui: PanelContext, *buttons: Choice, enter: bool = True) -> str:
    """Draw buttons at the right end of a row; returns the words of the one pressed, or "".

    With ``enter``, Enter presses the primary one, unless a field is active.
    """
    pen = Pen(ui)
    widths = [max(pen.width(button.words) + pen.px(28), pen.px(84)) for button in buttons]
    space = pen.px(8)
    x, y = imgui.get_cursor_screen_pos()
    x += max(imgui.get_content_region_avail().x - sum(widths) - space * (len(buttons) - 1), 0.0)
    pressed = ""
    for button, wide in zip(buttons, widths, strict=True):
        imgui.set_cursor_screen_pos((x, y))
        if controls.text_button(
            ui, button.words, width=wide, height=controls.SEGMENT + 2, primary=button.primary, enabled=button.enabled
        ):
            pressed = button.words
        x += wide + space
    if enter and not pressed and not imgui.is_any_item_active() and fields.is_enter_pressed():
        pressed = next((button.words for button in buttons if button.primary and button.enabled), "")
    return pressed


def confirm(ui: PanelContext, shown: Dialog, words: str, do: Callable[[], object], *, entered: bool = False) -> None:
    """End a dialog with Cancel and a button that acts; an action that fails leaves the dialog open.

    ``entered``: Enter was pressed in a field of the dialog, which acts too.
    """
    pressed = choices(ui, Choice("Cancel"), Choice(words, primary=True))
    if entered or pressed == words:
        shown.closed |= attempt(ui, do)
    shown.closed |= pressed == "Cancel"


_KEPT = "\N{NO-BREAK SPACE}"
_UNIT = re.compile(r"(?<=\d) (?=(?:[kcmµ]?m|m?s|min|inch|frames?)\b)")
"""Blanks between a number and its unit, where a line must not break."""


def wrapped(text: str, width: float, measure: Callable[[str], float], most: int) -> list[str]:
    """At most ``most`` lines of a text, broken between words, and within a word that is wider than a line.

    ``measure`` returns the width of a text; an ellipsis stands for what is left out.
    """
    lines, line = list[str](), ""
    for word in _UNIT.sub(_KEPT, text).split(" "):
        longer = f"{line} {word}" if line else word
        if measure(longer) <= width:
            line = longer
            continue
        if line:
            lines.append(line)
        *full, line = _broken(word, width, measure)
        lines += full
    lines.append(line)
    if len(lines) > most:
        lines = [*lines[: most - 1], _cut(lines[most - 1], width, measure)]
    return [one.replace(_KEPT, " ") for one in lines]


def _broken(word: str, width: float, measure: Callable[[str], float]) -> list[str]:
    """Parts of a word, none wider than a line, of at least one letter each."""
    parts = [""]
    for letter in word:
        if parts[-1] and measure(parts[-1] + letter) > width:
            parts.append("")
        parts[-1] += letter
    return parts


def _cut(line: str, width: float, measure: Callable[[str], float]) -> str:
    while line and measure(f"{line}…") > width:
        line = line[:-1]
    return f"{line}…"
