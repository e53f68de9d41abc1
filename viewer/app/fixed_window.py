"""imgui windows that stand where they are put."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.theme import colour

if TYPE_CHECKING:
    from viewer.ui.rect import Rect

FIXED = (
    imgui.WindowFlags_.no_title_bar
    | imgui.WindowFlags_.no_resize
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_collapse
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.no_bring_to_front_on_focus
    | imgui.WindowFlags_.no_focus_on_appearing
    | imgui.WindowFlags_.no_docking
)
STILL = imgui.WindowFlags_.no_scrollbar | imgui.WindowFlags_.no_scroll_with_mouse
OVERLAY = FIXED | STILL | imgui.WindowFlags_.no_background | imgui.WindowFlags_.no_inputs


@dataclass(frozen=True, slots=True)
class Look:
    """How a window differs from the theme.

    Attributes:
        background: colour of the palette.
        padded: it has the theme's padding.
        frame_above: padding above and below text in framed widgets, pixels; None: the theme's.
    """

    background: str
    padded: bool
    frame_above: float | None = None


class FixedWindow:
    """``with`` an imgui window of a fixed place."""

    def __init__(self, name: str, rect: Rect, flags: int, look: Look) -> None:
        """Nothing is begun yet."""
        self._name, self._rect, self._flags, self._look = name, rect, flags, look

    def __enter__(self) -> None:
        """Begin it."""
        rect, look = self._rect, self._look
        imgui.set_next_window_pos(imgui.ImVec2(rect.x, rect.y))
        imgui.set_next_window_size(imgui.ImVec2(max(1, rect.w), max(1, rect.h)))
        imgui.push_style_color(imgui.Col_.window_bg, colour(look.background))
        pushed = 1
        imgui.push_style_var(imgui.StyleVar_.window_min_size, imgui.ImVec2(1.0, 1.0))
        if not look.padded:
            imgui.push_style_var(imgui.StyleVar_.window_padding, imgui.ImVec2(0.0, 0.0))
            pushed += 1
        if look.frame_above is not None:
            padding = imgui.get_style().frame_padding
            imgui.push_style_var(imgui.StyleVar_.frame_padding, imgui.ImVec2(padding.x, look.frame_above))
            pushed += 1
        imgui.begin(self._name, None, self._flags)
        imgui.pop_style_var(pushed)
        imgui.pop_style_color()

    def __exit__(self, *_: object) -> None:
        """End it."""
        imgui.end()
