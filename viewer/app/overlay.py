"""The scene's texts, written with imgui's letters: over the figure, under everything that floats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.theme import paint

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.app.fonts import Fonts
    from viewer.scene.primitives import Text
    from viewer.ui.rect import Rect

_SHARE = {"left": 0.0, "centre": 0.5, "right": 1.0}
_HALO = ((-1, 0), (1, 0), (0, -1), (0, 1))
_HALO_ALPHA = 0.6


def write_texts(texts: Iterable[Text], viewport: Rect, fonts: Fonts, scale: float) -> None:
    """Add texts to imgui's background list; call it between ``new_frame`` and ``render``.

    Args:
        texts: in pixels of the viewport.
        viewport: where it is in the window.
        fonts: the letters.
        scale: framebuffer pixels per logical pixel.
    """
    drawing = imgui.get_background_draw_list()
    near = imgui.ImVec2(viewport.x, viewport.y)
    drawing.push_clip_rect(near, imgui.ImVec2(viewport.x + viewport.w, viewport.y + viewport.h))
    for text in texts:
        _write(drawing, text, viewport, fonts, scale)
    drawing.pop_clip_rect()


def _write(drawing: imgui.ImDrawList, text: Text, viewport: Rect, fonts: Fonts, scale: float) -> None:
    font, size = fonts.bold if text.bold else fonts.regular, text.size * scale
    imgui.push_font(font, text.size)
    extent = imgui.calc_text_size(text.text)
    imgui.pop_font()
    x = round(viewport.x + text.x - _SHARE[text.anchor] * extent.x)
    y = round(viewport.y + text.y - 0.5 * extent.y)
    if text.halo:
        reach = max(1, round(scale))
        dark = paint("halo", _HALO_ALPHA * text.colour[3])
        for dx, dy in _HALO:
            drawing.add_text(font, size, imgui.ImVec2(x + dx * reach, y + dy * reach), dark, text.text)
    ink = imgui.color_convert_float4_to_u32(imgui.ImVec4(*text.colour))
    drawing.add_text(font, size, imgui.ImVec2(x, y), ink, text.text)
