"""The dope sheet in one frame of the window: where frames and rows are, what is under the pointer, what is dragged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from viewer.app.context import PanelContext
from viewer.app.panels.markers import marker_near
from viewer.app.widgets.pen import Area, Pen
from viewer.document.take import MOST_FRAMES, Key
from viewer.ui.timeline import Row, TimeView, keys_in, last_frame, played_range

INSET = 14.0
"""Margin between the sheet's edges and the first and last frame. All lengths here are logical pixels."""
STRIP = 22.0
"""Height of the strip of frame numbers."""
NUMBER_SPACING = 46.0
"""Least distance between two frame numbers."""
BRACKET_OFFSET = 9.0
"""Distance of the range's brackets from its ends, so that they do not cover keys there."""
ROW, NAMES = 20.0, 112.0
"""Height of a row; width of the column of names."""
REACH = 7.0
"""Distance from a key within which the pointer hits it."""
KEY_SIZE, BAND_BELOW = 5.5, 7.0
"""Half the diagonal of a key; keys closer together than the second number are drawn as one band."""


class PlacedRow(NamedTuple):
    """A row of keys with its top and height in framebuffer pixels."""

    row: Row
    y: float
    h: float


@dataclass(slots=True)
class Drag:
    """What the pressed mouse button does on the sheet.

    Attributes:
        kind: "scrub", "keys", "box", "first", "last" (an end of the range), "marker", "pan"; "" if no button is
            pressed.
        start: where the button was pressed, framebuffer pixels.
        moved: the pointer has moved farther than in a click.
        by: frames by which keys, an end of the range or a marker are moved.
        key: (row, frame) of the pressed key.
        before: keys that were selected before a box selection.
        last_x: the pointer in the previous frame, for panning.
        marker: frame of the pressed marker.
    """

    kind: str = ""
    start: tuple[float, float] = (0.0, 0.0)
    moved: bool = False
    by: int = 0
    key: tuple[Row, int] | None = None
    before: frozenset[Key] = field(default_factory=frozenset)
    last_x: float = 0.0
    marker: int = 0


class Sheet:
    """One frame of the sheet.

    Args:
        ui: the panel's context.
        pen: draws into the panel's window.
        area: the item that takes the mouse, framebuffer pixels.
        view: which frames are shown.
        rows: the rows in view.
        strip: height of frame numbers and markers above them, framebuffer pixels.
    """

    def __init__(
        self, ui: PanelContext, pen: Pen, area: Area, view: TimeView, rows: list[PlacedRow], strip: float
    ) -> None:
        self.ui, self.pen, self.area, self.view, self.rows, self.strip = ui, pen, area, view, rows, strip
        self.names = 0.0
        self.left = area.x + pen.px(INSET)
        self.per_frame = max(area.w - 2.0 * pen.px(INSET), 1.0) / view.span
        self.right, self.bottom = area.x + area.w, area.y + area.h
        self.drag: Drag = ui.memory.setdefault("drag", Drag())

    def x(self, frame: float) -> float:
        """The pixel of a frame."""
        return self.left + (frame - self.view.start) * self.per_frame

    def frame(self, x: float) -> float:
        """The frame at a pixel."""
        return self.view.start + (x - self.left) / self.per_frame

    def range(self) -> tuple[int, int]:
        """First and last played frame, as they are being dragged."""
        first, last = played_range(self.ui.session.document)
        if not self.range_dragged():
            return first, last
        if self.drag.kind == "first":
            return min(max(first + self.drag.by, 0), last), last
        document = self.ui.session.document
        most = last_frame(document) if document.clip else MOST_FRAMES - 1
        return first, min(max(last + self.drag.by, first), most)

    def range_dragged(self) -> bool:
        """Whether an end of the range is being dragged."""
        return self.drag.kind in {"first", "last"} and self.drag.moved

    def brackets(self) -> tuple[float, float]:
        """The pixels of the range's brackets."""
        first, last = self.range()
        return self.x(first) - self.pen.px(BRACKET_OFFSET), self.x(last) + self.pen.px(BRACKET_OFFSET)

    def key_at(self, x: float, y: float) -> tuple[Row, int] | None:
        """The row and frame of the key at a pixel."""
        for row, top, h in self.rows:
            if top <= y < top + h and row.frames.size:
                nearest = int(row.frames[np.argmin(np.abs(row.frames - self.frame(x)))])
                return (row, nearest) if abs(self.x(nearest) - x) <= self.pen.px(REACH) else None
        return None

    def marker_at(self, x: float, y: float) -> int | None:
        """The frame of the marker at a pixel, or None."""
        if not self.area.y + self.pen.px(STRIP) <= y < self.area.y + self.strip:
            return None
        return marker_near(self.ui.session.document.markers, self.x, x, self.pen.px(REACH))

    def range_end_at(self, x: float, y: float) -> str:
        """Which bracket is at a pixel: "first", "last" or "" for none."""
        if y < self.area.y + self.strip:
            return ""
        first, last = played_range(self.ui.session.document)
        low, high = self.pen.px(BRACKET_OFFSET - 6), self.pen.px(BRACKET_OFFSET + 6)
        if low <= self.x(first) - x <= high:
            return "first"
        return "last" if low <= x - self.x(last) <= high else ""

    def keys_of(self, key: tuple[Row, int]) -> frozenset[Key]:
        """All keys of a row at a frame."""
        row, frame = key
        return frozenset(keys_in(self.ui.session.document, row, frame, frame))

    def set_drag(self, drag: Drag) -> None:
        """Begin another drag, or none."""
        self.ui.memory["drag"] = drag
        self.drag = drag
