"""Pointers that systems do not have: an arrow with the letter of the axis that it would move along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from viewer.scene.palette import PALETTE

if TYPE_CHECKING:
    from PIL.Image import Image

_ARROW = ((1, 1), (1, 17), (5, 13), (8, 20), (11, 19), (8, 12), (13, 12))
_SIZE = 32
_WHITE, _RIM = (244, 246, 248, 255), (14, 16, 18, 255)
_OVERSAMPLED = 4


def axis_cursor(axis: str, scale: float = 1.0) -> Image:
    """An arrow, white with a dark rim, and beside it a letter in the axis' colour.

    Args:
        axis: "x", "y" or "z".
        scale: framebuffer pixels per logical pixel.
    """
    import imgui_bundle  # noqa: PLC0415 - only a window on a screen has a pointer
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    size = round(_SIZE * scale)
    grown = _OVERSAMPLED * scale
    picture = Image.new("RGBA", (size * _OVERSAMPLED, size * _OVERSAMPLED))
    drawing = ImageDraw.Draw(picture)
    arrow = [(x * grown, y * grown) for x, y in _ARROW]
    drawing.polygon(arrow, fill=_WHITE, outline=_RIM, width=round(1.3 * grown))
    file = Path(imgui_bundle.__file__).parent / "assets" / "fonts" / "Roboto" / "Roboto-Bold.ttf"
    font = ImageFont.truetype(str(file), round(14 * grown))
    colour = tuple(round(255 * part) for part in PALETTE[axis])
    at, width = (16 * grown, 10 * grown), round(1.3 * grown)
    drawing.text(at, axis.upper(), fill=(*colour, 255), font=font, stroke_width=width, stroke_fill=_RIM)
    return picture.resize((size, size), Image.Resampling.LANCZOS)
