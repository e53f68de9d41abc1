"""Arrays that change from frame to frame, on the graphics card."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import moderngl
    from numpy.typing import NDArray

_LEAST = 64
"""Records that a buffer has room for at first."""


class Stream:
    """A buffer that grows with what it is given, and is written only when it is given another array.

    Arrays are told apart by identity: whoever gives one must not write into it afterwards.
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
