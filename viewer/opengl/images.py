"""Pictures of draw lists with their texts, without a window. OpenGL is loaded for the first one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from viewer.errors import InputError, missing_library
from viewer.opengl.machine import claim_drawing
from viewer.scene import RGBA, DrawList, Text, rgba
from viewer.spatial.projection import Projection

LARGEST = 8192
"""Largest width and height of a picture, pixels."""


@lru_cache(maxsize=1)
def _artist() -> ThreadPoolExecutor:
    """The only thread that draws, so that contexts of other threads, such as a window's, are not affected."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="ikviewer-offscreen")


def render_image(
    draw_list: DrawList, projection: Projection, samples: int = 4, scale: float = 1.0
) -> NDArray[np.uint8]:
    """Draw a draw list with its texts on a separate OpenGL context; from any thread.

    Args:
        draw_list: the primitives.
        projection: of the camera; its size is that of the picture in pixels.
        samples: per pixel, 0 for none; limited by the driver.
        scale: physical per logical pixels, as for the draw list.

    Returns:
        Red, green, blue (H, W, 3), the top row first.

    Raises:
        InputError: a size of less than 1 or more than `LARGEST` pixels.
        MachineError: the machine cannot draw; the line names the cure.
    """
    check_size(projection.size)
    claim_drawing()  # in a forked process the drawing thread does not exist, and this would wait for ever
    drawn = _artist().submit(_draw, draw_list, projection, samples, scale)
    return write_texts(drawn.result(), draw_list.texts, scale)


def _draw(draw_list: DrawList, projection: Projection, samples: int, scale: float) -> NDArray[np.uint8]:
    """Draw on the thread of `_artist`."""
    try:
        from viewer.opengl.offscreen import offscreen  # noqa: PLC0415 - the library works without OpenGL
    except ImportError as error:
        raise missing_library("drawing", error, "pyrr") from error
    return offscreen().picture(draw_list, projection, samples, scale)


def check_size(size: tuple[int, int]) -> None:
    """Raise InputError unless a picture can have this (width, height) in pixels."""
    if not all(1 <= pixels <= LARGEST for pixels in size):
        raise InputError(f"size: expected 1 to {LARGEST} pixels either way, found {size[0]} x {size[1]}")


_EM_PER_LINE = 2048 / 2400
"""Roboto's em square per line height: sizes are line heights, as in the window, but Pillow takes the em square."""

_ANCHORS = {"left": "lm", "centre": "mm", "right": "rm"}
_HALO = 0.6
_SPARE = 2
"""Pixels around a text's box, for rounding."""


def write_texts(picture: NDArray[np.uint8], texts: Sequence[Text], scale: float = 1.0) -> NDArray[np.uint8]:
    """A copy of the picture (H, W, 3) with texts; the same array if there are none."""
    if not texts:
        return picture
    image = Image.fromarray(picture).convert("RGBA")
    for text in texts:
        font = _font(text.size * scale, bold=text.bold)
        if text.halo:
            rim = max(1, round(scale))
            _written(image, text, font, rgba("halo", _HALO * text.colour[3]), rim)
        _written(image, text, font, text.colour, 0)
    return np.asarray(image.convert("RGB"))


def _written(
    image: Image.Image, text: Text, font: ImageFont.FreeTypeFont | ImageFont.ImageFont, colour: RGBA, rim: int
) -> None:
    """Draw one text in one colour, through a mask, because Pillow's text replaces colours instead of blending."""
    anchor = _ANCHORS[text.anchor]
    low_x, low_y, high_x, high_y = font.getbbox(text.text, anchor=anchor, stroke_width=rim)
    # The mask is no larger than the text, as there may be a hundred; the subpixel position is kept.
    left, top = math.floor(text.x + low_x) - _SPARE, math.floor(text.y + low_y) - _SPARE
    size = math.ceil(high_x - low_x) + 2 * _SPARE + 1, math.ceil(high_y - low_y) + 2 * _SPARE + 1
    if left >= image.width or top >= image.height or left + size[0] <= 0 or top + size[1] <= 0:
        return
    stencil = Image.new("L", size)
    place = text.x - left, text.y - top
    ImageDraw.Draw(stencil).text(place, text.text, fill=255, font=font, anchor=anchor, stroke_width=rim)
    red, green, blue, alpha = (round(255 * part) for part in colour)
    image.paste((red, green, blue, 255), (left, top), stencil.point(lambda cover: cover * alpha // 255))


@lru_cache(maxsize=16)
def _font(line: float, *, bold: bool) -> ImageFont.FreeTypeFont | ImageFont.ImageFont:
    """Roboto, as in the window, or Pillow's own font if that is not installed."""
    size = max(line * _EM_PER_LINE, 1.0)
    path = _roboto("Bold" if bold else "Regular")
    return ImageFont.truetype(str(path), size) if path is not None else ImageFont.load_default(size)


def _roboto(face: str) -> Path | None:
    """The font's file in imgui_bundle, which is not imported because that needs the X11 library."""
    found = find_spec("imgui_bundle")
    for folder in (found.submodule_search_locations or []) if found is not None else []:
        path = Path(folder) / "assets" / "fonts" / "Roboto" / f"Roboto-{face}.ttf"
        if path.is_file():
            return path
    return None
