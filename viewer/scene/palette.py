"""The colours of everything drawn, by the names of what they mean."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

RGB = tuple[float, float, float]
RGBA = tuple[float, float, float, float]

_HEX = {
    # Surfaces.
    "app": "#141619", "panel": "#1C1F23", "raised": "#24282D",
    "field": "#2D3238", "field_hi": "#3A4048", "field_on": "#47505A",
    "line": "#33383F", "line_hi": "#4A525C",
    "bg_top": "#2F343A", "bg_bot": "#1A1D20", "halo": "#0E1012",
    # Words.
    "text": "#E8EAED", "text2": "#ABB2BB", "text3": "#949CA6",
    # States.
    "accent": "#5AD7F2", "selected": "#5AD7F2", "accent_dk": "#22505C", "on_accent": "#081318",
    "hovered": "#FFF08A", "effector": "#F4F6F8", "target": "#A678FF", "pinned": "#A678FF",
    "unreached": "#FFB224", "warn": "#FFB224", "limit": "#FF5C9E",
    "ok": "#5CCB8A", "err": "#FF6B6B", "record": "#FF4D4D",
    # The scene.
    "grid": "#6B7480", "grid_major": "#8A94A0", "ghost": "#B0BBC8",
    "x": "#FF6670", "y": "#86CF4A", "z": "#5E9CFF",
    "left": "#86A6C6", "right": "#D3A27C", "centre": "#BCC2CA",
}  # fmt: skip


def _rgb(text: str) -> RGB:
    red, green, blue = bytes.fromhex(text[1:])
    return red / 255, green / 255, blue / 255


PALETTE: Mapping[str, RGB] = MappingProxyType({name: _rgb(text) for name, text in _HEX.items()})
"""Red, green and blue in 0 .. 1, as the display takes them (no linear light anywhere)."""


def rgba(name: str, alpha: float = 1.0) -> RGBA:
    """A colour of the palette with an opacity.

    Raises:
        KeyError: no colour of that name: names come from the code, never from a person.
    """
    red, green, blue = PALETTE[name]
    return red, green, blue, alpha
