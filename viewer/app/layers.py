"""The layers of the window: panels, the scene, and floating windows over both.

With software OpenGL, filling panels costs more than everything else. So a panel is painted into the panels' layer only
when its draw lists have changed, and a frame of a drag needs two block copies and a few triangles.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence

import moderngl
from imgui_bundle import imgui

from viewer.app.fonts import Fonts
from viewer.app.imgui_renderer import ImguiRenderer, Painted
from viewer.app.theme import paint
from viewer.scene.look import PALETTE
from viewer.scene.primitives import Text
from viewer.ui.numbers import Rect

_COLOUR_BIT = 0x4000
_READ, _DRAW = 0x8CA8, 0x8CA9
_NEAREST, _LINEAR = 0x2600, 0x2601
_CONVENTION = getattr(ctypes, "WINFUNCTYPE", ctypes.CFUNCTYPE)


class Blitter:
    """Copies rectangles between framebuffers; moderngl copies only entire framebuffers."""

    def __init__(self, context: moderngl.Context) -> None:
        load = context.mglo._context.load_opengl_function  # noqa: SLF001 - moderngl does not export its loader
        self._blit = _CONVENTION(None, *[ctypes.c_int] * 8, ctypes.c_uint, ctypes.c_uint)(load("glBlitFramebuffer"))
        self._bind = _CONVENTION(None, ctypes.c_uint, ctypes.c_uint)(load("glBindFramebuffer"))

    def __call__(
        self, source: moderngl.Framebuffer, target: moderngl.Framebuffer, part: Rect | None = None, *, at: Rect
    ) -> None:
        """Copy ``part`` of the source (None: all) into the rectangle ``at`` of the target, scaled to fit.

        Both rectangles are pixels from the top left.
        """
        width, height = source.size
        left, top, wide, high = part or (0, 0, width, height)
        below = target.size[1]
        smooth = _NEAREST if (wide, high) == (at.w, at.h) else _LINEAR
        target.scissor = None  # type: ignore[assignment]  # None is what switches it off
        target.use()
        self._bind(_READ, source.glo)
        self._bind(_DRAW, target.glo)
        from_box = (left, height - top - high, left + wide, height - top)
        to_box = (at.x, below - at.y - at.h, at.x + at.w, below - at.y)
        self._blit(*from_box, *to_box, _COLOUR_BIT, smooth)
        target.use()


class Layers:
    """Keeps the layer of panels, and composes it with the scene and floating windows.

    Attributes:
        repainted: panels painted since this was last set to 0, for the benchmark.
    """

    def __init__(self, context: moderngl.Context, imgui_renderer: ImguiRenderer) -> None:
        self._context = context
        self._imgui = imgui_renderer
        self.blit = Blitter(context)
        self._panels: moderngl.Framebuffer | None = None
        self._painted: dict[str, list[Painted]] = {}
        self.repainted = 0

    def forget(self) -> None:
        """Repaint all panels in the next frame: their rectangles or the theme have changed."""
        self._painted.clear()
        if self._panels is not None:
            self._panels.clear(*PALETTE["app"], 1.0)

    def paint(self, size: tuple[int, int], panels: dict[str, list[Painted]]) -> None:
        """Paint the panels whose draw lists have changed.

        Args:
            size: of the window, framebuffer pixels.
            panels: draw lists by layer; the first of each fills the layer's rectangle.
        """
        if self._panels is None or self._panels.size != size:
            self._make(size)
        assert self._panels is not None
        changed: list[Painted] = []
        for name, lists in panels.items():
            before = self._painted.get(name, [])
            if len(before) == len(lists) and all(new.same_as(old) for new, old in zip(lists, before, strict=True)):
                continue
            self._painted[name] = lists
            changed.extend(lists)
            self.repainted += 1
        self._imgui.draw(changed, self._panels)

    def compose(
        self,
        target: moderngl.Framebuffer,
        scene: tuple[moderngl.Framebuffer, Rect],
        floating: Sequence[Painted],
    ) -> None:
        """Copy the panels and the scene (with its rectangle) to the target, and draw floating windows over them."""
        assert self._panels is not None
        for part in _around(self._panels.size, scene[1]):
            self.blit(self._panels, target, part, at=part)
        self.blit(scene[0], target, at=scene[1])
        self._imgui.draw(floating, target)

    def _make(self, size: tuple[int, int]) -> None:
        if self._panels is not None:
            self._panels.color_attachments[0].release()
            self._panels.release()
        self._panels = self._context.framebuffer(self._context.texture(size, 4))
        self.forget()


def _around(size: tuple[int, int], hole: Rect) -> list[Rect]:
    """The window without the rectangle of the scene, as up to four rectangles."""
    below, right = hole.y + hole.h, hole.x + hole.w
    parts = (
        Rect(0, 0, size[0], hole.y),
        Rect(0, hole.y, hole.x, hole.h),
        Rect(right, hole.y, size[0] - right, hole.h),
        Rect(0, below, size[0], size[1] - below),
    )
    return [part for part in parts if part.w > 0 and part.h > 0]


_SHARE = {"left": 0.0, "centre": 0.5, "right": 1.0}
_HALO = ((-1, 0), (1, 0), (0, -1), (0, 1))
_HALO_ALPHA = 0.6


def write_texts(texts: Iterable[Text], viewport: Rect, fonts: Fonts, scale: float) -> None:
    """Add texts to imgui's background list; call it between ``new_frame`` and ``render``.

    Args:
        texts: at pixels of the viewport.
        viewport: its rectangle in the window, framebuffer pixels.
        fonts: of the window.
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
