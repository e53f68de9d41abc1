"""Background, grid and the figure's shadow on the ground."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.opengl.framebuffers import Stream
from viewer.opengl.programs import compile_program, key_light
from viewer.scene.look import PALETTE, rgba
from viewer.scene.primitives import Ground, Records
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

if TYPE_CHECKING:
    import moderngl

_CORNERS = 48
"""Corners of the disc on which the grid is drawn."""

_UPRIGHT = 0.55
"""Opacity of an upright grid relative to one on the ground."""

REACH = 4.9
"""Radius of the grid as a multiple of the figure's height."""

_MAP_PIXELS = 512
_MAP_HALF = 1.3
"""Half of the shadow map's side as a multiple of the figure's height."""

_SOFT = 1.7
"""Radius of a fading shadow relative to that of the bone; the same number is in the shader."""

_LEAN = 0.55
"""Horizontal offset of a shadow from its caster, away from the key light, metres per metre of height."""


class Background:
    """The gradient behind everything."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Compile."""
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
        """Compile."""
        self._ctx = ctx
        program = compile_program(ctx, "ground")
        program["turns"] = float(_CORNERS)
        self._program = program
        self._array = ctx.vertex_array(program, [])

    def draw(self, ground: Ground) -> None:
        """Draw it; the caller has set blending and depth test."""
        first, second = ("xyz".index(letter) for letter in ground.along)
        centre, radius = np.array(ground.middle), REACH * ground.height
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
        # An upright grid faces the camera, behind the figure and its ghosts, and is therefore drawn fainter.
        strength = 1.0 if ground.along == "xz" else _UPRIGHT
        self._program["fine"] = rgba("grid", strength * 0.22)
        self._program["coarse"] = rgba("grid_major", strength * 0.50)
        for name, letter in zip(("first_axis", "second_axis"), ground.along, strict=True):
            self._program[name] = rgba(letter, strength * 0.75)
        self._array.render(self._ctx.TRIANGLE_FAN, vertices=_CORNERS)


class Shadow:
    """The figure's soft shadow: the map is drawn when the bones change, and drawn onto the ground in every frame."""

    def __init__(self, ctx: moderngl.Context, bones: Stream) -> None:
        """Compile; ``bones`` holds the BONE records of the figure."""
        self._ctx = ctx
        self._bones = bones
        self._map = ctx.texture((_MAP_PIXELS, _MAP_PIXELS), 1)
        self._map.repeat_x = self._map.repeat_y = False
        self._target = ctx.framebuffer(color_attachments=[self._map])
        self._caster = compile_program(ctx, "shadow_map")
        self._casts = ctx.vertex_array(self._caster, [(bones.buffer, "4f 4f 4f 36x/i", "row_x", "row_y", "row_z")])
        self._program = compile_program(ctx, "shadow")
        self._array = ctx.vertex_array(self._program, [])
        self._drawn: tuple[object, ...] = ()
        self._cast: Records | None = None
        self._bounds: Floats | None = None

    def update(self, bones: Records, ground: Ground, projection: Projection) -> None:
        """Draw the map again if anything has changed; this binds another target."""
        key = key_light(projection)
        state = (ground, *key.tolist())
        if bones is self._cast and state == self._drawn:
            return
        self._cast, self._drawn = bones, state
        lean = -_LEAN * key
        self._bounds = shadow_bounds(bones, ground, lean) if len(bones) else None
        if self._bounds is None:
            return
        x, z, half = _patch(ground)
        ctx = self._ctx
        self._caster["patch_"] = (x, ground.y, z, half)
        self._caster["lean"] = (lean[0], 0.0, lean[2], ground.height)
        self._target.use()
        self._target.clear()
        ctx.enable_only(ctx.BLEND)
        ctx.blend_func = ctx.ONE, ctx.ONE
        ctx.blend_equation = ctx.MAX, ctx.MAX
        self._casts.render(ctx.TRIANGLE_STRIP, vertices=4, instances=len(bones))
        ctx.blend_equation = ctx.FUNC_ADD, ctx.FUNC_ADD

    def draw(self, ground: Ground, projection: Projection) -> None:
        """Darken the ground, unless it is seen from below; the caller has set blending and depth test."""
        if self._bounds is None or projection.eye[1] < ground.y:
            return
        x, z, half = _patch(ground)
        self._program["patch_"] = (x, ground.y, z, half)
        self._program["bounds"] = tuple(self._bounds)
        self._map.use(0)
        self._array.render(self._ctx.TRIANGLE_STRIP, vertices=4)


def _patch(ground: Ground) -> tuple[float, float, float]:
    """x, z and half side of the square in which shadows fall, metres."""
    return ground.patch or (ground.centre[0], ground.centre[2], _MAP_HALF * ground.height)


def shadow_bounds(bones: Records, ground: Ground, lean: Floats) -> Floats | None:
    """Bounds of the map's dark part: smallest x and z, largest x and z (4,) in -1 .. 1; None without one.

    Args:
        bones: BONE records, at least one.
        ground: gives the map's position and size.
        lean: (3,) offset of a shadow, metres per metre of height.
    """
    frames = np.asarray(bones["frame"], dtype=np.float64)
    ends = np.concatenate([frames[:, :, 3], frames[:, :, 3] + frames[:, :, 1]])
    radius = np.tile(np.linalg.norm(frames[:, :, 0], axis=-1), 2)
    height = np.maximum(ends[:, 1] - ground.y, 0.0)
    x, z, half = _patch(ground)
    centre = np.array([x, z])
    at = ends[:, [0, 2]] - centre + lean[[0, 2]] * height[:, None]
    reach = _SOFT * (1.5 * radius + 0.085 * height)[:, None]
    least, most = (at - reach).min(axis=0) / half, (at + reach).max(axis=0) / half
    bounds = np.clip(np.concatenate([least, most]), -1.0, 1.0)
    return bounds if (bounds[:2] < bounds[2:]).all() else None
