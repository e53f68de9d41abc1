"""A rectangle of framebuffer pixels."""

from __future__ import annotations

from typing import NamedTuple


class Rect(NamedTuple):
    """Where something is in the window: framebuffer pixels from the top left corner.

    Attributes:
        x: left edge.
        y: top edge.
        w: width.
        h: height.
    """

    x: int
    y: int
    w: int
    h: int

    def contains(self, x: float, y: float) -> bool:
        """Whether a pixel is inside."""
        return self.x <= x < self.x + self.w and self.y <= y < self.y + self.h

    @property
    def size(self) -> tuple[int, int]:
        """(width, height), at least one pixel each: what a projection can be made for."""
        return max(1, self.w), max(1, self.h)
