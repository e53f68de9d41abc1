"""Which axis a ball joint twists about when nobody says: the one along its bone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

_UP = 1


def default_twist_axis(direction: ArrayLike) -> int:
    """The coordinate axis (0, 1, 2 for x, y, z) nearest to a direction, either way along it.

    Args:
        direction: (3,) in the joint's frame, of any length: to its first child or tip.

    Returns:
        The axis; of equally near ones the first. A direction of length 0, of a joint with nothing on it, gives y.
    """
    lengths = np.abs(np.asarray(direction, dtype=np.float64))
    return int(np.argmax(lengths)) if lengths.any() else _UP
