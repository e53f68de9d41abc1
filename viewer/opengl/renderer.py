"""Draws draw lists onto framebuffers: the passes of a frame, in order."""

from __future__ import annotations

import moderngl

from viewer.opengl import geometry
from viewer.opengl.floor import Background, Grid, Shadow
from viewer.opengl.geometry import Bones, Capsules
from viewer.opengl.gpu_objects import Target, ViewBlock, write_only
from viewer.opengl.skin_drawing import Skins
from viewer.scene import DrawList
from viewer.spatial.projection import Projection

_OVER = 0x0302, 0x0303, 1, 0x0303  # SRC_ALPHA, ONE_MINUS_SRC_ALPHA for colour; ONE, ONE_MINUS_SRC_ALPHA for alpha
"""Blend factors; the target's alpha stays 1, so that it can be blitted or written to a file."""


class Renderer:
    """Draws draw lists with one OpenGL context.

    Arrays are uploaded when they are not the same objects as in the last frame: a drawn array must not be changed.

    Attributes:
        samples: per pixel; 0 for none. May be changed between frames.
    """

    def __init__(self, ctx: moderngl.Context, samples: int = 0) -> None:
        """Compile all shaders.

        Args:
            ctx: the context, current on this thread.
            samples: per pixel; limited by the driver.

        Raises:
            MachineError: the driver refuses a shader.
        """
        self.samples = samples
        self._ctx = ctx
        self._view = ViewBlock(ctx)
        self._background = Background(ctx)
        self._bones = Bones(ctx)
        self._ghosts = Bones(ctx)
        self._spheres = geometry.spheres(ctx)
        self._capsules = Capsules(ctx)
        self._veils = Capsules(ctx)
        self._solids = geometry.solids(ctx)
        self._skins = Skins(ctx)
        self._grid = Grid(ctx)
        self._shadow = Shadow(ctx, self._bones.stream, self._solids.stream, self._capsules.stream, self._skins)
        self._triangles = geometry.triangles(ctx)
        self._lines = geometry.lines(ctx)
        self._flat = geometry.flat_triangles(ctx)
        self._sampled = Target(ctx)

    def draw(
        self,
        draw_list: DrawList,
        projection: Projection,
        target: moderngl.Framebuffer,
        *,
        background: bool = True,
        samples: int | None = None,
        scale: float = 1.0,
    ) -> None:
        """Draw a frame without its texts.

        Afterwards ``target`` is bound, blending is on with the default factors, depth test and culling are off.

        Args:
            draw_list: the primitives.
            projection: of the camera; its size is that of the part of ``target``, from the lower left corner, that is
                drawn on.
            target: a framebuffer with depth and without multisampling.
            background: paint the gradient first; if not, existing colours stay, and there is no multisampling.
            samples: for this frame, instead of the attribute `samples`.
            scale: physical per logical pixels, as for the draw list; also for grid lines and edges of bones.
        """
        most = min(self.samples if samples is None else samples, self._ctx.max_samples)
        wanted = 1 << most.bit_length() - 1 if most > 1 else 0  # drivers have powers of two; 1 means no multisampling
        wanted = wanted if background and wanted > 1 else 0
        self._load(draw_list)
        if draw_list.ground.shadow:
            self._shadow.update(draw_list, projection)
        self._view.bind(projection, scale)
        canvas = self._sampled.sized(projection.size, wanted) if wanted else target
        self._begin(canvas, projection, background=background)
        self._opaque(canvas, wanted, sticks=draw_list.sticks)
        self._translucent(draw_list, projection, canvas)
        if wanted:
            _open(target, projection)
            self._ctx.copy_framebuffer(target, canvas)
        self._overlay(target)

    def release_samples(self) -> None:
        """Release the memory of the multisampled target; it is reserved again when it is needed."""
        self._sampled.release()

    def _load(self, draw_list: DrawList) -> None:
        self._bones.load(draw_list.bones)
        self._ghosts.load(draw_list.ghosts)
        self._spheres.load(draw_list.spheres)
        self._capsules.load(draw_list.capsules, shading=draw_list.shading)
        self._veils.load(draw_list.veils)
        self._solids.load(draw_list.solids)
        self._skins.load(draw_list.skins)
        self._lines.load(draw_list.lines)
        self._triangles.load(draw_list.triangles)
        self._flat.load(draw_list.flat)

    def _begin(self, canvas: moderngl.Framebuffer, projection: Projection, *, background: bool) -> None:
        ctx = self._ctx
        _open(canvas, projection)
        write_only(canvas, colour=False, depth=True)
        canvas.clear(depth=1.0)
        write_only(canvas, colour=True, depth=True)
        ctx.enable_only(ctx.NOTHING)
        ctx.blend_equation = ctx.FUNC_ADD, ctx.FUNC_ADD
        ctx.blend_func = _OVER  # type: ignore[assignment]  # four factors: two for colour, two for alpha
        ctx.cull_face = "back"
        ctx.front_face = "ccw"
        ctx.depth_func = "<="
        if background:
            self._background.draw()

    def _opaque(self, canvas: moderngl.Framebuffer, samples: int, *, sticks: bool) -> None:
        self._ctx.enable(self._ctx.DEPTH_TEST)
        if sticks:
            self._bones.draw()
        self._capsules.draw(canvas)
        self._solids.draw(geometry.CULL_FACE)
        self._skins.draw_opaque()
        if sticks:
            # Their soft rims are blended with what is behind them.
            self._spheres.draw(geometry.ALPHA_TO_COVERAGE if samples else geometry.BLEND)

    def _translucent(self, draw_list: DrawList, projection: Projection, canvas: moderngl.Framebuffer) -> None:
        """Draw translucent things: tested against the figure's depth, without writing depth themselves."""
        ctx = self._ctx
        write_only(canvas, colour=True, depth=False)
        ctx.enable(ctx.BLEND)
        # After the figure, because a camera below the ground sees the figure through the grid.
        if draw_list.ground.grid:
            self._grid.draw(draw_list.ground)
        if draw_list.ground.shadow:
            self._shadow.draw(draw_list.ground, projection)
        self._triangles.draw()
        self._lines.draw()
        ctx.disable(ctx.BLEND)
        write_only(canvas, colour=True, depth=True)
        # Ghosts and bodies that are seen through write depth: they come last, or they would hide the rest.
        self._veils.draw_translucent(canvas)
        self._skins.draw_translucent(canvas)
        self._ghosts.draw_ghosts(canvas)

    def _overlay(self, target: moderngl.Framebuffer) -> None:
        ctx = self._ctx
        write_only(target, colour=True, depth=True)
        ctx.enable_only(ctx.BLEND)
        self._flat.draw()


def _open(framebuffer: moderngl.Framebuffer, projection: Projection) -> None:
    """Reset viewport and scissor, which earlier drawing may have changed."""
    framebuffer.viewport = (0, 0, *projection.size)
    framebuffer.scissor = None  # type: ignore[assignment]  # None is what switches it off
