"""Draws skins: each mesh in one call, its vertices carried by the joints on the graphics card."""

from __future__ import annotations

import io
import warnings
from collections.abc import Sequence
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.opengl.gpu_objects import compile_program, write_only
from viewer.scene import PALETTE, SkinDraw
from viewer.skeleton import Skin
from viewer.skeleton.attached import Material, Mesh, Picture

WIDE = 256
"""Bindings in a row of the texture; the same number is in the shader."""
_SIDE, _PIXELS = 4096, 1 << 25
"""Largest side of a picture, and most pixels of a skin's pictures: 128 MiB, and a third for mipmaps."""
_PICTURE, _BINDINGS = 0, 1
"""Texture units."""


def vertices_of(mesh: Mesh) -> NDArray[Any]:
    """(V,) records of a mesh's vertices: place, facing (0 where flat), spot, shade, bindings and weights by fours."""
    sets = 2 if mesh.bindings.shape[1] > 4 else 1
    kinds: list[tuple[str, str, int]] = [("place", "f4", 3), ("facing", "f4", 3), ("spot", "f4", 2), ("shade", "u1", 4)]
    for i in range(sets):
        kinds += [(f"joints{i}", "u2", 4), (f"weights{i}", "f4", 4)]
    records = np.zeros(len(mesh.positions), np.dtype(kinds))
    records["place"], records["shade"] = mesh.positions, 255
    for name, values in (("facing", mesh.normals), ("spot", mesh.places), ("shade", mesh.colours)):
        if values is not None:
            records[name] = values
    for i in range(sets):
        some = slice(4 * i, 4 * i + 4)
        wide = mesh.bindings[:, some].shape[1]
        records[f"joints{i}"][:, :wide] = mesh.bindings[:, some]
        records[f"weights{i}"][:, :wide] = mesh.weights[:, some]
    return records


def pixels_of(picture: Picture, side: int) -> NDArray[np.uint8]:
    """(H, W, 4) red, green, blue, alpha of a picture, at most ``side`` pixels wide and high; white if it is damaged."""
    from PIL import Image  # noqa: PLC0415 - only skins with pictures need it

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of large pictures, which the reader has bounded
            with Image.open(io.BytesIO(picture.data)) as image:
                image.draft("RGB", (side, side))
                part = side / max(image.size)
                small = image.convert("RGBA")
                if part < 1.0:
                    small = small.resize((max(1, int(image.width * part)), max(1, int(image.height * part))))
                return np.asarray(small)
    except Exception:  # noqa: BLE001 - decoders of damaged files raise errors of many kinds
        return np.full((1, 1, 4), 255, dtype=np.uint8)


class _OnCard:
    """A skin's vertices and pictures on the graphics card."""

    def __init__(self, ctx: moderngl.Context, programs: tuple[moderngl.Program, moderngl.Program], skin: Skin) -> None:
        self._ctx = ctx
        self._made: list[Any] = []
        self._pictures: dict[tuple[int, tuple[str, str]], moderngl.Texture] = {}
        rows = max(1, -(-len(skin.joints) // WIDE))
        self._bindings = self._keep(ctx.texture((4 * WIDE, rows), 4, dtype="f4"))
        self._bindings.filter = ctx.NEAREST, ctx.NEAREST
        self._table = np.zeros((rows * WIDE, 4, 4), dtype=np.float32)
        self._last: SkinDraw | None = None
        side = _side_of(skin)
        self.meshes = [self._mesh(mesh, programs, side) for mesh in skin.meshes]

    def _keep(self, made: Any) -> Any:  # noqa: ANN401 - anything with a `release` method
        self._made.append(made)
        return made

    def _mesh(self, mesh: Mesh, programs: tuple[moderngl.Program, moderngl.Program], side: int) -> _MeshOnCard:
        ctx = self._ctx
        records = self._keep(ctx.buffer(vertices_of(mesh).tobytes()))
        indices = self._keep(ctx.buffer(mesh.triangles.tobytes()))
        two = mesh.bindings.shape[1] > 4
        joints = (["joints", "weights", "more_joints", "more_weights"], "4u2 4f 4u2 4f") if two else (
            ["joints", "weights"], "4u2 4f")  # fmt: skip
        arrays = []
        for program, skipped in zip(programs, (False, True), strict=True):
            own = ["place"] if skipped else ["place", "facing", "spot", "shade"]
            layout = f"3f 24x {joints[1]}" if skipped else f"3f 3f 2f 4f1 {joints[1]}"
            arrays.append(self._keep(ctx.vertex_array(program, [(records, layout, *own, *joints[0])], indices, 4)))
        return _MeshOnCard(mesh, arrays[0], arrays[1], self._picture(mesh.material, side))

    def _picture(self, material: Material, side: int) -> moderngl.Texture:
        picture = material.picture
        key = (0, ("", "")) if picture is None else (id(picture.data), picture.wrap)
        if key not in self._pictures:
            pixels = np.full((1, 1, 4), 255, np.uint8) if picture is None else pixels_of(picture, side)
            texture = self._keep(self._ctx.texture(pixels.shape[1::-1], 4, pixels.tobytes()))
            if picture is not None:
                texture.repeat_x, texture.repeat_y = (wrap != "clamp" for wrap in picture.wrap)
                texture.build_mipmaps()
                texture.filter = self._ctx.LINEAR_MIPMAP_LINEAR, self._ctx.LINEAR
            self._pictures[key] = texture
        return self._pictures[key]

    def pose(self, draw: SkinDraw) -> None:
        """Write the matrices if they have changed, and bind them."""
        if draw is not self._last:
            count = len(draw.matrices)
            self._table[:count, :3], self._table[:count, 3, 0] = draw.matrices, draw.accents
            self._bindings.write(self._table.tobytes())
            self._last = draw
        self._bindings.use(_BINDINGS)

    def release(self) -> None:
        for made in reversed(self._made):
            made.release()


class _MeshOnCard:
    """A mesh on the graphics card: vertex arrays for pictures and for shadows, and its picture."""

    def __init__(
        self, mesh: Mesh, drawn: moderngl.VertexArray, cast: moderngl.VertexArray, picture: moderngl.Texture
    ) -> None:
        self.material, self.drawn, self.cast, self.picture = mesh.material, drawn, cast, picture
        self.influences = mesh.bindings.shape[1]
        self.is_bare = mesh.material.picture is None and mesh.colours is None and mesh.material.colour == (1, 1, 1, 1)


def _side_of(skin: Skin) -> int:
    """Most pixels along a side of a skin's pictures, so that all of them are within the bound."""
    count = len({id(mesh.material.picture.data) for mesh in skin.meshes if mesh.material.picture is not None})
    side = _SIDE
    while count * side * side > _PIXELS and side > 64:
        side //= 2
    return side


class Skins:
    """Draws the skins of all figures. A skin stays on the graphics card until others are drawn without it."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._program, self._caster = compile_program(ctx, "skin"), compile_program(ctx, "skin_shadow")
        for program in (self._program, self._caster):
            program["bindings"] = _BINDINGS
        self._program["picture"] = _PICTURE
        self._program["accent_tint"] = PALETTE["accent"]
        self._kept: dict[Skin, _OnCard] = {}
        self._shown: tuple[SkinDraw, ...] = ()

    def load(self, skins: Sequence[SkinDraw]) -> None:
        """Set the skins of this frame."""
        self._shown = tuple(skins)
        if not skins:
            return
        wanted = {draw.skin for draw in skins}
        for skin in [skin for skin in self._kept if skin not in wanted]:
            self._kept.pop(skin).release()
        for draw in skins:
            if draw.skin not in self._kept:
                self._kept[draw.skin] = _OnCard(self._ctx, (self._program, self._caster), draw.skin)

    def draw_opaque(self) -> None:
        """Draw the skins that are not seen through: opaque meshes, then translucent ones."""
        for draw in self._shown:
            if draw.opacity >= 1.0:
                self._draw(draw, blended=False)
                self._draw(draw, blended=True)

    def draw_translucent(self, target: moderngl.Framebuffer) -> None:
        """Draw the skins that are seen through: first depth, then colour, so that each pixel gets only one layer."""
        for draw in self._shown:
            if draw.opacity < 1.0:
                write_only(target, colour=False, depth=True)
                self._draw(draw, blended=None)
                write_only(target, colour=True, depth=True)
                self._ctx.enable(self._ctx.BLEND)
                self._draw(draw, blended=None)
                self._ctx.disable(self._ctx.BLEND)

    def cast(self, patch: tuple[float, ...], lean: tuple[float, ...]) -> None:
        """Draw the shadows of all skins into the map that is bound."""
        self._caster["patch_"], self._caster["lean"] = patch, lean
        for draw in self._shown:
            card = self._kept[draw.skin]
            card.pose(draw)
            for mesh in card.meshes:
                self._caster["influences"] = mesh.influences
                self._render(mesh.cast, draw, mesh.material)

    def _draw(self, draw: SkinDraw, *, blended: bool | None) -> None:
        """Draw the meshes whose materials are translucent, or not; None: all of them."""
        ctx, card = self._ctx, self._kept[draw.skin]
        some = [mesh for mesh in card.meshes if blended in (None, mesh.material.alpha == "blend")]
        if not some:
            return
        card.pose(draw)
        if blended:
            ctx.enable(ctx.BLEND)
        self._program["opacity"] = draw.opacity
        for mesh in some:
            self._set(mesh, draw)
            mesh.picture.use(_PICTURE)
            self._render(mesh.drawn, draw, mesh.material)
        if blended:
            ctx.disable(ctx.BLEND)

    def _render(self, array: moderngl.VertexArray, draw: SkinDraw, material: Material) -> None:
        """Draw triangles, without those that face away if the material has no inside to be seen."""
        if material.double_sided or draw.mirrored:
            array.render(self._ctx.TRIANGLES)
            return
        self._ctx.enable(self._ctx.CULL_FACE)
        array.render(self._ctx.TRIANGLES)
        self._ctx.disable(self._ctx.CULL_FACE)

    def _set(self, mesh: _MeshOnCard, draw: SkinDraw) -> None:
        program, material = self._program, mesh.material
        *rgb, alpha = material.colour
        program["tint"] = (*(draw.bare if mesh.is_bare else rgb), alpha)
        program["cutoff"] = {"mask": material.cutoff, "blend": 1.0 / 255.0}.get(material.alpha, 0.0)
        program["blending"] = float(material.alpha == "blend")
        program["both_sides"] = float(material.double_sided or draw.mirrored)
        program["influences"] = mesh.influences
