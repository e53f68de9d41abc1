"""Framebuffers to draw into, pictures out of them, and arrays that change from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import moderngl


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


_LEAST = 64
"""Records that a buffer has room for at first."""


class Stream:
    """A buffer that grows with what it is given, and is written only when it is given another array.

    Arrays are distinguished by identity: do not write into one that was given.
    """

    def __init__(self, ctx: moderngl.Context, record_bytes: int) -> None:
        """Reserve room for a few records of ``record_bytes`` each."""
        self.buffer = ctx.buffer(reserve=_LEAST * record_bytes, dynamic=True)
        self.count = 0
        self._record_bytes = record_bytes
        self._last: NDArray[Any] | None = None

    def load(self, records: NDArray[Any]) -> bool:
        """Hold these records.

        Returns:
            Whether they are others than before.
        """
        if records is self._last:
            return False
        data = records.tobytes()
        # Orphaned first: the driver need not wait for a draw that still reads the old ones.
        size = self.buffer.size
        while size < len(data):
            size *= 2
        self.buffer.orphan(size)
        if data:
            self.buffer.write(data)
        self.count = len(data) // self._record_bytes
        self._last = records
        return True
