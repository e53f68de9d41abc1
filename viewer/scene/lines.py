"""Gathering lines in the world: many pieces, turned into records at once, for each costs little then."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.scene.primitives import LINE

if TYPE_CHECKING:
    from viewer.scene.palette import RGBA
    from viewer.scene.primitives import Records
    from viewer.spatial.checks import Floats

_STYLE = 7
"""Numbers of a record after its two ends: colour, width, dash."""


class Lines:
    """Lines to be drawn."""

    def __init__(self, scale: float) -> None:
        """``scale``: pixels of the view for one of the design, in which widths are given."""
        self._scale = scale
        self._starts: list[Floats] = []
        self._ends: list[Floats] = []
        self._styles: list[tuple[float, ...]] = []

    def segments(
        self, starts: Floats, ends: Floats, colour: RGBA, width: float, dash: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Straight lines from starts (N, 3) to ends (N, 3)."""
        self._starts.append(starts)
        self._ends.append(ends)
        self._styles.append((*colour, width * self._scale, dash[0] * self._scale, dash[1] * self._scale))

    def curve(self, points: Floats, colour: RGBA, width: float) -> None:
        """A line through points (N, 3)."""
        self.segments(points[:-1], points[1:], colour, width)

    def records(self) -> Records:
        """LINE records of all of them."""
        counts = [len(starts) for starts in self._starts]
        records = np.empty(sum(counts), LINE)
        if len(records):
            rows = records.view(np.float32).reshape(len(records), -1)
            rows[:, :3], rows[:, 3:6] = np.concatenate(self._starts), np.concatenate(self._ends)
            rows[:, -_STYLE:] = np.repeat(np.array(self._styles, dtype=np.float32), counts, axis=0)
        return records
