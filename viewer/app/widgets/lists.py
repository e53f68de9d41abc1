"""Lists of rows: which of them are in view, how they look under the pointer, and scrolling to one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from imgui_bundle import imgui

from viewer.app.widgets.pen import Area, Pen, item


@contextmanager
def no_spacing() -> Iterator[None]:
    """Leave no gaps between the items drawn meanwhile."""
    imgui.push_style_var(imgui.StyleVar_.item_spacing, (0.0, 0.0))
    yield
    imgui.pop_style_var()


def rows_in_view(count: int, height: float, always: int = -1) -> Iterator[int]:
    """Indices of the rows to draw: those in view, and ``always``, if it is not negative.

    Args:
        count: rows in all.
        height: of a row, framebuffer pixels.
        always: index of a row that must be drawn even out of view, such as one with an open text field.
    """
    clipper = imgui.ListClipper()
    clipper.begin(count, height)
    if always >= 0:
        clipper.include_item_by_index(always)
    while clipper.step():
        yield from range(clipper.display_start, clipper.display_end)


def list_row(
    pen: Pen, name: str, height: float, *, chosen: bool = False, lit: bool = False, rounding: float = 4.0
) -> Area:
    """A row as wide as the window, which both mouse buttons click; drawn with its background only.

    Args:
        pen: of the window.
        name: imgui id.
        height: logical pixels.
        chosen: it is selected.
        lit: it looks as if the pointer were over it.
        rounding: of its corners, logical pixels.
    """
    it = item(name, imgui.get_content_region_avail().x, pen.px(height), right_too=True)
    if chosen:
        pen.box(*it[:4], "accent_dk", rounding=rounding)
    elif it.hovered or lit:
        pen.box(*it[:4], "field", rounding=rounding)
    return it


def scroll_to_row(index: int, height: float, *, centre: bool = True, margin: float = 0.0) -> None:
    """Scroll the current window until a row is in view.

    Args:
        index: of the row; nothing happens if it is negative.
        height: of a row, framebuffer pixels.
        centre: bring a row that was out of view to the middle; otherwise scroll as little as possible.
        margin: framebuffer pixels at the lower edge that count as out of view.
    """
    top, room, y = imgui.get_scroll_y(), imgui.get_window_height(), index * height
    if index < 0 or top <= y <= top + room - height - margin:
        return
    nearest = y if y < top else y + height - room
    imgui.set_scroll_y(max(0.0, y - (room - height) / 2.0 if centre else nearest))
