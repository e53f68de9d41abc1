"""The scene's framebuffer, which is redrawn only when its contents change, and its quality in motion."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum

import moderngl
import numpy as np

from viewer.app.layers import Blitter
from viewer.app.window import SAMPLE_LIMIT
from viewer.opengl import Renderer
from viewer.scene.primitives import DrawList
from viewer.spatial.projection import Projection
from viewer.ui.numbers import Rect

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


class Stage:
    """Draws draw lists into a framebuffer as large as the viewport.

    Attributes:
        drawn: number of pictures drawn, for tests.
        still: the last picture has 4 samples per pixel.
    """

    def __init__(self, context: moderngl.Context, blit: Blitter) -> None:
        """Compile the shaders.

        Raises:
            MachineError: the driver refuses them.
        """
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
        """The picture of a draw list.

        Args:
            draw_list: of the scene.
            projection: of the camera, with the viewport's size.
            level: what is omitted; nothing if ``still``.
            still: draw 4 samples per pixel.
            scale: of the draw list, framebuffer pixels per logical pixel.
        """
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
"""What is drawn at half the resolution: all that stands in the scene."""


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
