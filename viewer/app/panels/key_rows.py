"""Where rows of keys are on the timeline, and what is at a pixel of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.app.widgets.edits import attempt

if TYPE_CHECKING:
    from viewer.app.context import PanelContext
    from viewer.app.panels.ruler import Axis
    from viewer.app.widgets.pen import Pen
    from viewer.ui.dope_rows import Row

_REACH = 7.0
"""Logical pixels beside a key at which it is still hit."""


class Placed(NamedTuple):
    """A row and where it is.

    Attributes:
        row: of keys.
        y: its top, framebuffer pixels.
        h: its height.
    """

    row: Row
    y: float
    h: float


def key_at(pen: Pen, axis: Axis, rows: list[Placed], place: tuple[float, float]) -> tuple[Row, int] | None:
    """The row and frame of the key at a pixel."""
    x, y = place
    for row, top, h in rows:
        if top <= y < top + h and row.frames.size:
            nearest = int(row.frames[np.argmin(np.abs(row.frames - axis.frame(x)))])
            return (row, nearest) if abs(axis.x(nearest) - x) <= pen.px(_REACH) else None
    return None


def scrub(ui: PanelContext, frame: int) -> None:
    """Show a frame, the nearest that there is."""
    frame = min(max(frame, 0), ui.controller.playback.frames - 1)
    if frame != ui.session.document.frame or ui.session.playing:
        attempt(ui, lambda: ui.controller.playback.go(frame))
        ui.wake()
