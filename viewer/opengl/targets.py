"""Framebuffers to draw into, and pictures out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import moderngl
    from numpy.typing import NDArray


class Target:
    """A framebuffer with colour and depth that takes on the size and samples it is asked for."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Nothing is reserved before the first `sized`."""
        self._ctx = ctx
        self._framebuffer: moderngl.Framebuffer | None = None
        self._made: tuple[tuple[int, int], int] | None = None

    def sized(self, size: tuple[int, int], samples: int = 0) -> moderngl.Framebuffer:
        """The framebuffer, (width, height) in pixels, with so many samples per pixel; 0 or 1 for a plain one."""
        if self._framebuffer is None or self._made != (size, samples):
            self.release()
            ctx = self._ctx
            self._framebuffer = ctx.framebuffer(
                color_attachments=[ctx.renderbuffer(size, 4, samples=samples)],
                depth_attachment=ctx.depth_renderbuffer(size, samples=samples),
            )
            self._made = size, samples
        return self._framebuffer

    def release(self) -> None:
        """Give the memory back."""
        if self._framebuffer is not None:
            for part in (*self._framebuffer.color_attachments, self._framebuffer.depth_attachment, self._framebuffer):
                if part is not None:
                    part.release()
            self._framebuffer = None


def write_only(framebuffer: moderngl.Framebuffer, *, colour: bool, depth: bool) -> None:
    """Bind a framebuffer so that draws write colour, depth, both or neither; moderngl applies masks as it binds."""
    framebuffer.color_mask = colour, colour, colour, colour
    framebuffer.depth_mask = depth
    framebuffer.use()


def read_picture(framebuffer: moderngl.Framebuffer) -> NDArray[np.uint8]:
    """Red, green, blue (H, W, 3) of a framebuffer without samples, the top row first."""
    width, height = framebuffer.size
    data = framebuffer.read(components=3, alignment=1)
    return np.ascontiguousarray(np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)[::-1])
