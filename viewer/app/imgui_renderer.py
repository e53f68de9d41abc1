"""Draws Dear ImGui's draw lists with moderngl, with one vertex buffer per batch.

imgui-bundle has backends for PyOpenGL only. Since 1.92 imgui makes glyphs while it runs, and requests that the
renderer create, change and destroy textures (``want_create``, ``want_updates``, ``want_destroy``).
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import moderngl
import numpy as np
from imgui_bundle import imgui
from numpy.typing import NDArray

from viewer.resources import data_dir

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
