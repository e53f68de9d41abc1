"""Where everything stands in the window: a fixed arrangement with borders that can be dragged.

All sizes here are logical pixels; what leaves (`Layout.regions`) is framebuffer pixels.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from viewer.app.regions import MENU, RANGES, SPLITS, STATUS, TABBED, TOOLBAR, TRANSPORT, WIDE, Place, Regions, arranged

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["MENU", "STATUS", "TABBED", "TOOLBAR", "TRANSPORT", "Layout", "Place", "Regions"]

_NORMAL = {"left": 228.0, "right": 292.0, "timeline": 112.0, "goals": 0.38, "solver": 0.33, "angles": 230.0}
_ON_WIDE = {"left": 280.0, "right": 340.0, "timeline": 132.0, "goals": 0.26, "solver": 0.34, "angles": 276.0}


@dataclass(slots=True)
class Layout:
    """What of the arrangement a person can change; None takes the default for the window's width.

    Attributes:
        left: width of the left panels, logical pixels.
        right: width of the right panels.
        timeline: height of the timeline.
        goals: share of the left panels' height that the lower one has.
        solver: likewise on the right.
        angles: height of the plot of angles, which stands where the timeline does.
        show_left: the left panels are wanted.
        show_right: likewise.
        show_timeline: likewise.
        hidden: all panels are put away.
        tabs: id of the panel that is in front, by place.
        needs: logical pixels that the right panels would fill, the upper and the lower one; None: not known.
    """

    left: float | None = None
    right: float | None = None
    timeline: float | None = None
    goals: float | None = None
    solver: float | None = None
    angles: float | None = None
    show_left: bool = True
    show_right: bool = True
    show_timeline: bool = True
    hidden: bool = False
    tabs: dict[str, str] = field(default_factory=dict)
    needs: tuple[float, float] | None = None

    @property
    def bottom(self) -> str:
        """The name of the height of what is in front at the bottom: a plot needs more than a row of keys."""
        return "angles" if self.tabs.get(Place.BOTTOM) == "angles" else "timeline"

    def size(self, name: str, width: float) -> float:
        """A size that a person chose, or its default in a window of that logical width."""
        chosen = getattr(self, name)
        if chosen is None:
            chosen = (_ON_WIDE if width >= WIDE else _NORMAL)[name]
        low, high = RANGES[name]
        return float(min(max(chosen, low), high))

    def share(self, name: str, width: float, height: float) -> float:
        """The lower panel's part of a column so high: on the right more, where the upper one leaves room that it needs.

        What a person chose stands.
        """
        usual = self.size(name, width)
        if name != "solver" or self.solver is not None or self.needs is None:
            return usual
        upper, lower = self.needs
        return min(max(usual, 1.0 - upper / height), max(usual, lower / height))

    def need(self, place: Place, height: float) -> bool:
        """Take down what one of the right panels would fill, logical pixels; whether that is news."""
        upper, lower = self.needs or (math.inf, 0.0)
        fresh = (height, lower) if place is Place.RIGHT_TOP else (upper, height)
        if fresh == self.needs:
            return False
        self.needs = fresh
        return True

    def regions(self, size: tuple[int, int], scale: float) -> Regions:
        """Lay the window out.

        Args:
            size: of the framebuffer, pixels.
            scale: framebuffer pixels per logical pixel.
        """
        return arranged(self, size, scale)

    def drag(self, name: str, pointer: tuple[float, float], regions: Regions) -> None:
        """Move a border to where the pointer is, framebuffer pixels."""
        scale, (width, height) = regions.scale, regions.size
        x, y = pointer
        if name == "left":
            wanted = x / scale
        elif name == "right":
            wanted = (width - x) / scale
        elif name == self.bottom:
            wanted = (height - y) / scale - STATUS
        else:
            upper, lower = SPLITS[name]
            top, bottom = regions.rects[upper].y, regions.rects[lower].y + regions.rects[lower].h
            wanted = (bottom - y) / max(1, bottom - top)
        low, high = RANGES[name]
        setattr(self, name, min(max(wanted, low), high))

    def reset(self) -> None:
        """Bring the default arrangement back."""
        fresh = Layout()
        for each in fields(self):
            setattr(self, each.name, getattr(fresh, each.name))

    def to_dict(self) -> dict[str, float]:
        """The sizes that a person chose, for the preferences."""
        chosen = {name: getattr(self, name) for name in RANGES}
        return {name: float(value) for name, value in chosen.items() if value is not None}

    @classmethod
    def from_dict(cls, kept: Mapping[str, float]) -> Layout:
        """A layout from preferences; what it does not know is left out: preferences never stop a start."""
        left, right, timeline, goals, solver, angles = (kept.get(name) for name in RANGES)
        return cls(left, right, timeline, goals, solver, angles)
