"""The framebuffer of a window, and pictures of it as PNG files."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np

from viewer.formats.files import write_whole

if TYPE_CHECKING:
    from pathlib import Path

    import moderngl
    from numpy.typing import NDArray


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


def read_picture(target: moderngl.Framebuffer) -> NDArray[np.uint8]:
    """What a framebuffer shows, (H, W, 3), rows from the top."""
    width, height = target.size
    data = target.read(viewport=(0, 0, width, height), components=3, alignment=1)
    return np.frombuffer(data, np.uint8).reshape(height, width, 3)[::-1].copy()


def save_picture(path: Path, image: NDArray[np.uint8]) -> None:
    """Write a picture (H, W, 3) as PNG.

    Raises:
        OutputError: the file cannot be written.
    """
    from PIL import Image  # noqa: PLC0415 - only pictures need it

    file = io.BytesIO()
    Image.fromarray(image).save(file, "PNG")
    write_whole(path, file.getvalue())
