"""Framebuffers, pictures read from them, and buffers for arrays that change from frame to frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import moderngl


class Target:
    """A framebuffer with colour and depth, made again when another size or number of samples is needed."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Memory is reserved by the first `sized`."""
        self._ctx = ctx
        self._framebuffer: moderngl.Framebuffer | None = None
        self._made: tuple[tuple[int, int], int] | None = None

    def sized(self, size: tuple[int, int], samples: int = 0) -> moderngl.Framebuffer:
        """The framebuffer of (width, height) pixels with ``samples`` per pixel, 0 or 1 for none."""
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
        """Release the memory."""
        if self._framebuffer is not None:
            for part in (*self._framebuffer.color_attachments, self._framebuffer.depth_attachment, self._framebuffer):
                if part is not None:
                    part.release()
            self._framebuffer = None


def write_only(framebuffer: moderngl.Framebuffer, *, colour: bool, depth: bool) -> None:
    """Bind a framebuffer with masks for colour and depth; moderngl applies masks when it binds."""
    framebuffer.color_mask = colour, colour, colour, colour
    framebuffer.depth_mask = depth
    framebuffer.use()


def read_picture(framebuffer: moderngl.Framebuffer) -> NDArray[np.uint8]:
    """Red, green, blue (H, W, 3) of a framebuffer without samples, the top row first."""
    width, height = framebuffer.size
    data = framebuffer.read(components=3, alignment=1)
    return np.ascontiguousarray(np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)[::-1])


_LEAST = 64
"""Initial capacity of a buffer, records."""


class Stream:
    """A buffer that grows as needed and is written only when another array is loaded.

    Arrays are compared by identity: a loaded array must not be changed.
    """

    def __init__(self, ctx: moderngl.Context, record_bytes: int) -> None:
        """Reserve room for a few records of ``record_bytes`` each."""
        self.buffer = ctx.buffer(reserve=_LEAST * record_bytes, dynamic=True)
        self.count = 0
        self._record_bytes = record_bytes
        self._last: NDArray[Any] | None = None

    def load(self, records: NDArray[Any]) -> bool:
        """Load records into the buffer.

        Returns:
            Whether they differ from the last ones.
        """
        if records is self._last:
            return False
        data = records.tobytes()
        # Orphan the buffer first, so that the driver need not wait for draws that still read the old records.
        size = self.buffer.size
        while size < len(data):
            size *= 2
        self.buffer.orphan(size)
        if data:
            self.buffer.write(data)
        self.count = len(data) // self._record_bytes
        self._last = records
        return True
