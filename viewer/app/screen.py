"""The framebuffer of a window, which changes its size."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import moderngl


class Screen:
    """What a window shows.

    moderngl takes the size of a window's framebuffer once, when it meets the context: whoever counts from its top, as
    copying and clipping do, would go on counting from where the top was when the window opened.
    """

    def __init__(self, context: moderngl.Context) -> None:
        """As large as the window was when its context was made."""
        self._screen = context.screen

    def sized(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        """The framebuffer, as large as the window is now, in pixels."""
        self._screen._size = size  # type: ignore[attr-defined]  # noqa: SLF001 - it cannot be told otherwise
        self._screen.viewport = (0, 0, *size)
        return self._screen
