"""Background, grid and the shadows of figure and props on the ground."""

from __future__ import annotations

from operator import is_

import moderngl
import numpy as np

from viewer.opengl.gpu_objects import Stream, compile_program, key_light
from viewer.opengl.skin_drawing import Skins
from viewer.scene import GRID_REACH, PALETTE, DrawList, Ground, Records, SkinDraw, rgba
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

_CORNERS = 48
"""Corners of the disc on which the grid is drawn."""

_UPRIGHT = 0.55
"""Opacity of an upright grid relative to one on the ground."""

_MAP_PIXELS, _SKIN_MAP_PIXELS = 512, 256
"""Sides of the map of soft shadows of bones, and of that of skins, which is blurred."""
_MAP_HALF = 1.3
"""Half of the shadow map's side as a multiple of the figure's height."""

_SOFT = 1.7
"""Radius of a fading shadow relative to that of the bone; the same number is in the shader."""

_CLOSE = 4.0
"""Radii within which a capsule darkens the floor; the same number is in the shader."""

_BLUR = 1.4
"""Level of the map's mipmaps at which the sharp shadow of a skin is soft."""

_LEAN = 0.55
"""Horizontal offset of a shadow from its caster, away from the key light, metres per metre of height."""

_CASTER = np.dtype([("frame", "f4", (3, 4))])
"""A caster of a shadow like a bone's: axis and radius as in the frame of a BONE record."""
_BONE_WIDER = 1.5
"""Radius, relative to the bone's, of a capsule with the same shadow; the same number is in the shader."""


class Background:
    """The gradient behind everything."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        program = compile_program(ctx, "background")
        program["top"] = PALETTE["bg_top"]
        program["bottom"] = PALETTE["bg_bot"]
        self._array = ctx.vertex_array(program, [])

    def draw(self) -> None:
        """Paint the target; the caller has disabled the depth test."""
        self._array.render(self._ctx.TRIANGLES, vertices=3)


class Grid:
    """Lines on the ground or in another plane; levels that become too fine fade out."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        program = compile_program(ctx, "ground")
        program["turns"] = float(_CORNERS)
        self._program = program
        self._array = ctx.vertex_array(program, [])

    def draw(self, ground: Ground) -> None:
        """Draw it; the caller has set blending and depth test."""
        first, second = ("xyz".index(letter) for letter in ground.along)
        centre, radius = np.array(ground.middle), GRID_REACH * ground.height
        if ground.disc is not None:
            for axis, value in zip("xz", ground.disc, strict=False):
                if axis in ground.along:  # an upright grid keeps its distance behind the figure
                    centre["xyz".index(axis)] = value
            radius = ground.disc[2]
        wide = 10.0 * ground.cell
        # Relative to a nearby crossing: far from the origin the numbers stay small and exact.
        place = centre[[first, second]]
        crossing = np.round(place / wide) * wide
        self._program["disc"] = (*centre.tolist(), radius)
        self._program["along"] = tuple(np.eye(3)[[first, second]].reshape(-1).tolist())
        self._program["lattice"] = (*((place - crossing) / ground.cell), ground.cell)
        self._program["axes"] = tuple(-crossing / ground.cell)
        # An upright grid faces the camera, behind the figure and its ghosts, so it is drawn fainter.
        strength = 1.0 if ground.along == "xz" else _UPRIGHT
        self._program["fine"] = rgba("grid", strength * 0.22)
        self._program["coarse"] = rgba("grid_major", strength * 0.50)
        for name, letter in zip(("first_axis", "second_axis"), ground.along, strict=True):
            self._program[name] = rgba(letter, strength * 0.75)
        self._array.render(self._ctx.TRIANGLE_FAN, vertices=_CORNERS)


class Shadow:
    """Soft shadows: the map is drawn when a caster changes, and drawn onto the ground in every frame."""

    def __init__(self, ctx: moderngl.Context, bones: Stream, solids: Stream, capsules: Stream, skins: Skins) -> None:
        """Compile for a context that is current on this thread, and the records of what casts a shadow."""
        self._ctx = ctx
        self._bones, self._skins = bones, skins
        self._maps = [ctx.texture((side, side), 1) for side in (_MAP_PIXELS, _SKIN_MAP_PIXELS)]
        for map_ in self._maps:
            map_.repeat_x = map_.repeat_y = False
        self._maps[1].filter = ctx.LINEAR_MIPMAP_LINEAR, ctx.LINEAR
        self._targets = [ctx.framebuffer(color_attachments=[map_]) for map_ in self._maps]
        self._caster = compile_program(ctx, "shadow_map")
        self._casts = ctx.vertex_array(self._caster, [(bones.buffer, "4f 4f 4f 36x/i", "row_x", "row_y", "row_z")])
        self._capsules = Stream(ctx, _CASTER.itemsize)
        self._casts_round = ctx.vertex_array(
            self._caster, [(self._capsules.buffer, "4f 4f 4f/i", "row_x", "row_y", "row_z")]
        )
        self._flat_caster = compile_program(ctx, "shadow_solid")
        self._casts_flat = ctx.vertex_array(self._flat_caster, [(solids.buffer, "3f 28x", "place")])
        self._close_caster = compile_program(ctx, "shadow_contact")
        self._casts_close = ctx.vertex_array(
            self._close_caster, [(capsules.buffer, "3f 3f 1f 1f 32x/i", "end_a", "end_b", "radius", "flare")]
        )
        self._program = compile_program(ctx, "shadow")
        self._array = ctx.vertex_array(self._program, [])
        self._drawn: tuple[object, ...] = ()
        self._cast: tuple[Records, Records, Records] | None = None
        self._dressed: tuple[SkinDraw, ...] = ()
        self._bounds: Floats | None = None

    def update(self, draw_list: DrawList, projection: Projection) -> None:
        """Draw the map again if anything has changed; this binds another target."""
        ground, casts = draw_list.ground, (draw_list.bones, draw_list.capsules, draw_list.solids)
        key = key_light(projection)
        state = (ground, draw_list.shading, *key.tolist())
        skins = draw_list.skins
        same = state == self._drawn and skins == self._dressed
        if same and self._cast is not None and all(map(is_, casts, self._cast)):
            return
        self._cast, self._drawn, self._dressed = casts, state, skins
        lean = -_LEAN * key
        bones, round_, solids = casts[0], casters_of(casts[1]), casts[2]
        spheres = np.concatenate([draw.spheres for draw in skins]) if skins else None
        self._bounds = shadow_bounds(bones, ground, lean, round_, solids["position"], spheres)
        if self._bounds is None:
            return
        self._capsules.load(round_)
        x, z, half = _patch(ground)
        ctx = self._ctx
        patch, leaning = (x, ground.y, z, half), (lean[0], 0.0, lean[2], ground.height)
        for program in (self._caster, self._flat_caster):
            program["patch_"], program["lean"] = patch, leaning
        self._close_caster["patch_"] = patch
        target = self._targets[bool(skins)]
        target.use()
        target.clear()
        ctx.enable_only(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        ctx.blend_equation = ctx.MAX, ctx.MAX
        if len(bones):
            self._casts.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(bones))
        if len(round_):
            self._casts_round.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(round_))
            if draw_list.shading:
                self._casts_close.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(round_))
        if len(solids):
            self._casts_flat.render(ctx.TRIANGLES, vertices=len(solids))
        if skins:
            self._skins.cast(patch, leaning)
            self._maps[1].build_mipmaps()
        ctx.blend_equation = ctx.FUNC_ADD, ctx.FUNC_ADD

    def draw(self, ground: Ground, projection: Projection) -> None:
        """Darken the ground, unless it is seen from below; the caller has set blending and depth test."""
        if self._bounds is None or projection.eye[1] < ground.y:
            return
        x, z, half = _patch(ground)
        self._program["patch_"] = (x, ground.y, z, half)
        self._program["bounds"] = tuple(self._bounds)
        of_skins = bool(self._dressed)
        self._program["softness"] = _BLUR if of_skins else 0.0
        self._maps[of_skins].use(0)
        self._array.render(self._ctx.TRIANGLE_STRIP, vertices=4)


def _patch(ground: Ground) -> tuple[float, float, float]:
    """x, z and half side of the square in which shadows fall, metres."""
    return ground.patch or (ground.centre[0], ground.centre[2], _MAP_HALF * ground.height)


def casters_of(capsules: Records) -> Records:
    """The casters of the shadows of CAPSULE records."""
    casters = np.zeros(len(capsules), _CASTER)
    casters["frame"][:, 0, 0] = capsules["radius"] / _BONE_WIDER
    casters["frame"][:, :, 1] = capsules["b"] - capsules["a"]
    casters["frame"][:, :, 3] = capsules["a"]
    return casters


def shadow_bounds(
    bones: Records,
    ground: Ground,
    lean: Floats,
    capsules: Records | None = None,
    corners: Records | None = None,
    spheres: Floats | None = None,
) -> Floats | None:
    """Bounds of the map's dark part: smallest x and z, largest x and z (4,) in -1 .. 1; None without one.

    ``lean`` (3,) is the offset of a shadow, metres per metre of height. Shadows are cast by BONE records, ``capsules``
    as of `casters_of`, ``corners`` (N, 3) of triangles, and skins within ``spheres`` (N, 4), centres and radii; metres.
    """
    parts = [bones["frame"]] if capsules is None else [bones["frame"], capsules["frame"]]
    frames = np.concatenate(parts).astype(np.float64)
    ends = np.concatenate([frames[:, :, 3], frames[:, :, 3] + frames[:, :, 1]])
    radius = np.tile(np.linalg.norm(frames[:, :, 0], axis=-1), 2)
    reach = _SOFT * (_BONE_WIDER * radius + 0.085 * np.maximum(ends[:, 1] - ground.y, 0.0))
    if capsules is not None:
        # Close to the floor a capsule darkens what is below it, too, where its shadow leans away.
        round_ = np.tile(np.arange(len(frames)) >= len(bones), 2)
        thick = _BONE_WIDER * radius
        low = round_ & (ends[:, 1] - ground.y < _CLOSE * thick)
        reach = np.where(low, np.maximum(reach, _CLOSE * (1.0 + _LEAN) * thick), reach)
    if corners is not None:
        ends, reach = np.concatenate([ends, corners]), np.concatenate([reach, np.zeros(len(corners))])
    if spheres is not None:
        soft = 0.1 * ground.height  # the map of skins is blurred
        ends, reach = np.concatenate([ends, spheres[:, :3]]), np.concatenate([reach, spheres[:, 3] + soft])
    if not len(ends):
        return None
    height = np.maximum(ends[:, 1] - ground.y, 0.0)
    x, z, half = _patch(ground)
    centre = np.array([x, z])
    at = ends[:, [0, 2]] - centre + lean[[0, 2]] * height[:, None]
    least, most = (at - reach[:, None]).min(axis=0) / half, (at + reach[:, None]).max(axis=0) / half
    bounds = np.clip(np.concatenate([least, most]), -1.0, 1.0)
    return bounds if (bounds[:2] < bounds[2:]).all() else None
