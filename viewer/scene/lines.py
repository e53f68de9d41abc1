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
        self._shaded: list[tuple[Floats, Floats, Floats]] = []

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

    def shaded(self, starts: Floats, ends: Floats, colours: Floats, width: float) -> None:
        """Straight lines from starts (N, 3) to ends (N, 3), each of its own colour (N, 4); they come last."""
        styles = np.zeros((len(starts), _STYLE))
        styles[:, :4], styles[:, 4] = colours, width * self._scale
        self._shaded.append((starts, ends, styles))

    def records(self) -> Records:
        """LINE records of all of them."""
        counts = [len(starts) for starts in self._starts]
        styles = np.repeat(np.array(self._styles).reshape(-1, _STYLE), counts, axis=0)
        parts = [*zip(self._starts, self._ends, strict=True)], self._shaded
        records = np.empty(sum(counts) + sum(len(starts) for starts, _, _ in self._shaded), LINE)
        if len(records):
            rows = records.view(np.float32).reshape(len(records), -1)
            for column, place in ((slice(0, 3), 0), (slice(3, 6), 1)):
                rows[:, column] = np.concatenate([part[place] for some in parts for part in some])
            rows[:, -_STYLE:] = np.concatenate([styles, *(style for _, _, style in self._shaded)])
        return records
