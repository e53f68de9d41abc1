"""Composes the window: panels that Dear ImGui paints, the scene's framebuffer, and floating windows over both.

The scene is redrawn only when its contents change. With software OpenGL, filling panels costs more than everything
else. So a panel is painted into the panels' layer only when its draw lists have changed, and a frame of a drag needs
two block copies and a few triangles. In motion, slow machines draw less detail.

imgui-bundle has backends for PyOpenGL only, so moderngl draws its draw lists, with one vertex buffer per batch. Since
1.92 imgui makes glyphs while it runs, and requests that the renderer create, change and destroy textures
(``want_create``, ``want_updates``, ``want_destroy``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias

import moderngl
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from viewer.app.theme import Fonts, paint
from viewer.app.window import SAMPLE_LIMIT
from viewer.formats.files import data_dir
from viewer.opengl.renderer import Renderer
from viewer.scene import PALETTE, DrawList, Text
from viewer.spatial.projection import Projection
from viewer.ui.events import Rect

Clip: TypeAlias = tuple[int, int, int, int]
"""Rectangle in framebuffer pixels from the top left: left, top, right, bottom."""

_VERTEX_BYTES = 20  # two floats of position, two of texture coordinates, four bytes of colour
_OLDER_INDEX = np.uint16


@dataclass(frozen=True, slots=True)
class DrawCommand:
    """Triangles of ``count`` vertex indices, from ``first`` on in the list, with one texture and clip rectangle."""

    clip: Clip
    texture: int
    first: int
    count: int


@dataclass(frozen=True, slots=True, eq=False)
class Painted:
    """A copy of a draw list, which belongs to an imgui window or an overlay.

    Attributes:
        name: of the imgui window, such as ``Inspector##panel``.
        vertices: 20 bytes each.
        indices: (N,) of the vertices in this list.
        commands: to draw in order.
    """

    name: str
    vertices: bytes
    indices: NDArray[np.uint32]
    commands: tuple[DrawCommand, ...]

    def same_as(self, other: Painted | None) -> bool:
        """Whether both give the same pixels."""
        return (
            other is not None
            and self.vertices == other.vertices
            and self.commands == other.commands
            and np.array_equal(self.indices, other.indices)
        )


def copy_list(draw_list: imgui.ImDrawList) -> Painted:
    """Copy a draw list out of imgui, which reuses its memory in the next frame."""
    vertices, indices = draw_list.vtx_buffer, draw_list.idx_buffer
    data = ctypes.string_at(vertices.data_address(), vertices.size() * _VERTEX_BYTES) if vertices.size() else b""
    raw = ctypes.string_at(indices.data_address(), indices.size() * imgui.INDEX_SIZE) if indices.size() else b""
    wide = np.frombuffer(raw, _OLDER_INDEX if imgui.INDEX_SIZE == 2 else np.uint32).astype(np.uint32)
    commands = []
    for command in draw_list.cmd_buffer:
        if not command.elem_count:
            continue
        first, count = command.idx_offset, command.elem_count
        if command.vtx_offset:  # lists of more than 65,536 vertices are split
            wide[first : first + count] += np.uint32(command.vtx_offset)
        box = command.clip_rect
        clip = (round(box.x), round(box.y), round(box.z), round(box.w))
        if clip[2] > clip[0] and clip[3] > clip[1]:
            commands.append(DrawCommand(clip, command.get_tex_id(), first, count))
    return Painted(draw_list._owner_name or "", data, wide, tuple(commands))  # noqa: SLF001 - imgui's public debug name


class ImguiRenderer:
    """Draws imgui's draw lists with its textures on an OpenGL context. Needs a current imgui context."""

    def __init__(self, context: moderngl.Context) -> None:
        self._context = context
        shaders = data_dir("shaders")
        self._program = context.program(
            vertex_shader=(shaders / "panels.vert").read_text(encoding="utf-8"),
            fragment_shader=(shaders / "panels.frag").read_text(encoding="utf-8"),
        )
        self._textures: dict[int, moderngl.Texture] = {}
        self._vertices = context.buffer(reserve=1 << 18, dynamic=True)
        self._indices = context.buffer(reserve=1 << 18, dynamic=True)
        self._array = self._bound()
        flags = imgui.BackendFlags_.renderer_has_textures | imgui.BackendFlags_.renderer_has_vtx_offset
        imgui.get_io().backend_flags |= flags
        largest = context.info["GL_MAX_TEXTURE_SIZE"]
        platform = imgui.get_platform_io()
        platform.renderer_texture_max_width = platform.renderer_texture_max_height = min(largest, 8192)

    def update_textures(self) -> None:
        """Serve imgui's requests for textures; call it after ``imgui.render``, before `copy_list`."""
        for texture in imgui.get_platform_io().textures:
            if texture.status == imgui.ImTextureStatus.want_create:
                self._create(texture)
            elif texture.status == imgui.ImTextureStatus.want_updates:
                self._update(texture)
            elif texture.status == imgui.ImTextureStatus.want_destroy and texture.unused_frames > 0:
                self._textures.pop(texture.get_tex_id()).release()
                texture.set_tex_id(0)
                texture.set_status(imgui.ImTextureStatus.destroyed)

    def draw(self, lists: Sequence[Painted], target: moderngl.Framebuffer) -> None:
        """Draw lists in order over the contents of ``target``, which is as large as imgui's display."""
        lists = [painted for painted in lists if painted.commands]
        if not lists:
            return
        starts = self._upload(lists)
        width, height = target.size
        context = self._context
        target.use()
        context.enable_only(moderngl.BLEND)
        over = (moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA)
        context.blend_func = (*over, moderngl.ONE, moderngl.ONE_MINUS_SRC_ALPHA)  # type: ignore[assignment]
        self._program["frame"] = (0.0, 0.0, float(width), float(height))
        bound = 0
        for painted, start in zip(lists, starts, strict=True):
            for command in painted.commands:
                left, top = max(command.clip[0], 0), max(command.clip[1], 0)
                right, bottom = min(command.clip[2], width), min(command.clip[3], height)
                if right <= left or bottom <= top or command.texture not in self._textures:
                    continue
                if command.texture != bound:
                    bound = command.texture
                    self._textures[bound].use(0)
                target.scissor = (left, height - bottom, right - left, bottom - top)
                self._array.render(moderngl.TRIANGLES, vertices=command.count, first=start + command.first)
        target.scissor = None  # type: ignore[assignment]  # None is what switches it off

    def release(self) -> None:
        """Release the textures and tell imgui so, before its context ends."""
        for texture in imgui.get_platform_io().textures:
            if texture.get_tex_id() in self._textures:
                self._textures.pop(texture.get_tex_id()).release()
                texture.set_tex_id(0)
                texture.set_status(imgui.ImTextureStatus.destroyed)

    def _upload(self, lists: Sequence[Painted]) -> list[int]:
        """Upload the vertices of all lists; returns the position of each list's first index in the index buffer."""
        data = b"".join(painted.vertices for painted in lists)
        counts = np.array([len(painted.vertices) // _VERTEX_BYTES for painted in lists])
        bases = np.concatenate([[0], np.cumsum(counts)[:-1]]).astype(np.uint32)
        wide = [painted.indices + base for painted, base in zip(lists, bases, strict=True)]
        indices = np.concatenate(wide).tobytes()
        if len(data) > self._vertices.size or len(indices) > self._indices.size:
            self._grow(len(data), len(indices))
        self._vertices.orphan()
        self._indices.orphan()
        self._vertices.write(data)
        self._indices.write(indices)
        lengths = [painted.indices.size for painted in lists]
        return [0, *np.cumsum(lengths)[:-1].tolist()]

    def _grow(self, vertices: int, indices: int) -> None:
        for old in (self._array, self._vertices, self._indices):
            old.release()
        self._vertices = self._context.buffer(reserve=2 * max(vertices, 1 << 17), dynamic=True)
        self._indices = self._context.buffer(reserve=2 * max(indices, 1 << 17), dynamic=True)
        self._array = self._bound()

    def _bound(self) -> moderngl.VertexArray:
        layout = [(self._vertices, "2f4 2f4 4f1", "place", "texel", "colour")]
        return self._context.vertex_array(self._program, layout, index_buffer=self._indices, index_element_size=4)

    def _create(self, wanted: imgui.ImTextureData) -> None:
        made = self._context.texture((wanted.width, wanted.height), 4, wanted.get_pixels_array().tobytes())
        made.filter = (moderngl.LINEAR, moderngl.LINEAR)
        made.repeat_x = made.repeat_y = False
        self._textures[made.glo] = made
        wanted.set_tex_id(made.glo)
        wanted.set_status(imgui.ImTextureStatus.ok)

    def _update(self, wanted: imgui.ImTextureData) -> None:
        pixels = wanted.get_pixels_array().reshape(wanted.height, wanted.width, 4)
        texture = self._textures[wanted.get_tex_id()]
        for box in wanted.updates:
            part = np.ascontiguousarray(pixels[box.y : box.y + box.h, box.x : box.x + box.w])
            texture.write(part.tobytes(), viewport=(box.x, box.y, box.w, box.h))
        wanted.set_status(imgui.ImTextureStatus.ok)


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
        """Paint the panels whose draw lists have changed; the first list of each layer fills its rectangle."""
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
        self, target: moderngl.Framebuffer, scene: tuple[moderngl.Framebuffer, Rect], floating: Sequence[Painted]
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
    """Add texts at pixels of the viewport to imgui's background list, between ``new_frame`` and ``render``."""
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


SLOW = 0.040
"""Seconds per frame above which detail is omitted."""

SMOOTH = 0.012
"""Seconds per frame above which contact shading is omitted in motion: a still picture has it again.

It may double the time of a frame, so it returns below half of this.
"""

FAST = 0.014
"""Seconds per frame below which detail may return."""

_WEIGHT = 0.25
"""Weight of the newest frame in the running mean."""
_ENOUGH, _PATIENCE = 6, 90
"""Frames before the level may rise, and before it may fall."""


class Level(IntEnum):
    """Detail in motion; each level omits more."""

    FULL = 0
    NO_SHADING = 1
    NO_GHOSTS = 2
    NO_SHADOW = 3
    HALF = 4


NOTES = {
    Level.FULL: "",
    Level.NO_SHADING: "no contact shading",
    Level.NO_GHOSTS: "no ghosts",
    Level.NO_SHADOW: "no shadow",
    Level.HALF: "half resolution",
}


@dataclass(slots=True)
class Quality:
    """Chooses the level of detail in motion from the times of frames."""

    level: Level = Level.FULL
    _mean: float = 0.0
    _seen: int = 0

    @property
    def note(self) -> str:
        """Words for the status line; "" at full detail."""
        return NOTES[self.level]

    def took(self, seconds: float, *, ghosts: bool = True, shading: bool = False) -> None:
        """Record the time of a frame in motion; ``ghosts``, ``shading``: it had these, which can be omitted.

        The mean of several frames changes the level, and detail returns only after many fast frames: otherwise a
        machine near the threshold would alternate between two levels.
        """
        self._mean = seconds if self._seen == 0 else (1.0 - _WEIGHT) * self._mean + _WEIGHT * seconds
        self._seen += 1
        if self._seen >= _ENOUGH and self.level < Level.HALF:
            idle = {Level.NO_GHOSTS: not ghosts, Level.NO_SHADING: not shading}
            after = next(level for level in Level if level > self.level and not idle.get(level))
            if self._mean > (SMOOTH if after is Level.NO_SHADING else SLOW):
                self._go(after)
                return
        fast = 0.5 * SMOOTH if self.level is Level.NO_SHADING else FAST
        if self._mean < fast and self._seen >= _PATIENCE and self.level > Level.FULL:
            self._go(Level(self.level - 1))

    def _go(self, level: Level) -> None:
        self.level, self._seen, self._mean = level, 0, 0.0


class SceneBuffer:
    """Draws draw lists into a framebuffer as large as the viewport.

    Attributes:
        drawn: number of pictures drawn, for tests.
        still: the last picture has 4 samples per pixel.
    """

    def __init__(self, context: moderngl.Context, blit: Blitter) -> None:
        """Compile the shaders; a MachineError where the driver refuses them."""
        self._context = context
        self._renderer = Renderer(context)
        self._blit = blit
        self._full: moderngl.Framebuffer | None = None
        self._half: moderngl.Framebuffer | None = None
        self._list: DrawList | None = None
        self._shown: tuple[object, ...] = ()
        self._scale = 1.0
        self.still = False
        self.drawn = 0

    def draw(
        self, draw_list: DrawList, projection: Projection, level: Level, *, still: bool, scale: float = 1.0
    ) -> moderngl.Framebuffer:
        """The picture of a draw list made for ``scale``, without what the level omits; ``still``: of 4 samples."""
        self._scale = scale
        level = Level.FULL if still else level
        target = self._full = self._sized(self._full, projection.size)
        wanted = (projection.size, projection.view.tobytes(), projection.lens.tobytes(), scale, level)
        same = draw_list is self._list and wanted[:-1] == self._shown[:-1]
        # A still picture of the same view is kept in motion: pointing at a panel must not reduce the detail.
        if same and (self.still or (not still and wanted == self._shown)):
            return target
        self._list, self._shown, self.still = draw_list, wanted, still
        self.drawn += 1
        shown = _reduced(draw_list, level)
        if level is Level.HALF:
            self._draw_half(shown, projection, target)
        else:
            self._renderer.draw(shown, projection, target, samples=SAMPLE_LIMIT if still else 0, scale=scale)
        return target

    @property
    def shown(self) -> moderngl.Framebuffer:
        """The framebuffer with the last picture."""
        assert self._full is not None
        return self._full

    def _draw_half(self, shown: DrawList, projection: Projection, target: moderngl.Framebuffer) -> None:
        """Draw the figure at half the resolution and the overlay at full resolution.

        The figure gets 4 samples per pixel, one for each pixel of the view: otherwise edges would show steps of two.
        """
        width, height = projection.size
        small = (max(1, width // 2), max(1, height // 2))
        self._half = self._sized(self._half, small)
        none = np.empty(0, shown.flat.dtype)
        lower = Projection(projection.view, projection.lens, small)
        self._renderer.draw(replace(shown, flat=none), lower, self._half, samples=SAMPLE_LIMIT, scale=self._scale / 2.0)
        self._blit(self._half, target, at=Rect(0, 0, width, height))
        empty = {name: np.empty(0, getattr(shown, name).dtype) for name in _SOLID}
        ground = replace(shown.ground, grid=False, shadow=False)
        over = replace(shown, ground=ground, skins=(), **empty)  # type: ignore[arg-type]  # by name
        self._renderer.draw(over, projection, target, background=False, scale=self._scale)

    def _sized(self, old: moderngl.Framebuffer | None, size: tuple[int, int]) -> moderngl.Framebuffer:
        if old is not None and old.size == size:
            return old
        if old is not None:
            for part in (*old.color_attachments, old.depth_attachment, old):
                if part is not None:
                    part.release()
        self._list, self.still = None, False
        colours, depths = self._context.renderbuffer(size, 4), self._context.depth_renderbuffer(size)
        return self._context.framebuffer([colours], depths)


_SOLID = ("bones", "spheres", "lines", "triangles", "ghosts", "capsules", "veils", "solids")
"""What is drawn at half the resolution: everything in the scene."""


def _reduced(draw_list: DrawList, level: Level) -> DrawList:
    """A draw list without what a level omits."""
    changes: dict[str, object] = {}
    if level >= Level.NO_SHADING and draw_list.shading:
        changes["shading"] = False
    if level >= Level.NO_GHOSTS and draw_list.ghosts.size:
        changes["ghosts"] = draw_list.ghosts[:0]
    if level >= Level.NO_SHADOW and draw_list.ground.shadow:
        changes["ground"] = replace(draw_list.ground, shadow=False)
    return replace(draw_list, **changes) if changes else draw_list  # type: ignore[arg-type]  # by name
