"""Places that answer the pointer: imgui decides who is hovered and held, our own drawing shows it."""

from __future__ import annotations

from typing import NamedTuple

from imgui_bundle import imgui

_RIGHT_TOO = imgui.ButtonFlags_.mouse_button_left | imgui.ButtonFlags_.mouse_button_right


class Item(NamedTuple):
    """An area of a window and what the pointer does with it.

    Attributes:
        x, y, w, h: framebuffer pixels.
        clicked: pressed and released inside, in this frame.
        hovered: under the pointer, and no other item is held.
        held: pressed here and not yet released.
    """

    x: float
    y: float
    w: float
    h: float
    clicked: bool
    hovered: bool
    held: bool

    @property
    def fill(self) -> str:
        """The palette's colour of a field or button in this state."""
        return "field_on" if self.held else "field_hi" if self.hovered else "field"

    @property
    def middle(self) -> tuple[float, float]:
        """Its middle."""
        return self.x + self.w / 2.0, self.y + self.h / 2.0


def item(name: str, w: float, h: float, *, right_too: bool = False) -> Item:
    """Take an area at imgui's cursor.

    Args:
        name: its imgui id.
        w: width, framebuffer pixels.
        h: height, framebuffer pixels.
        right_too: the right button clicks it, too.
    """
    x, y = imgui.get_cursor_screen_pos()
    clicked = imgui.invisible_button(name, (max(w, 1.0), max(h, 1.0)), _RIGHT_TOO if right_too else 0)
    return Item(x, y, w, h, clicked, imgui.is_item_hovered(), imgui.is_item_active())


def tip(text: str) -> None:
    """Say something about the last item once the pointer has rested on it for half a second."""
    if text:
        imgui.set_item_tooltip(text)


def gap(h: float) -> None:
    """Leave so many framebuffer pixels free below what was drawn last."""
    x, y = imgui.get_cursor_screen_pos()
    imgui.set_cursor_screen_pos((x, y + h))
    imgui.dummy((0.0, 0.0))
