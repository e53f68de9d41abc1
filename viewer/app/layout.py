"""The layout of the window: its regions, and the borders that can be dragged.

Sizes are logical pixels; `Regions` are framebuffer pixels.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from viewer.errors import InputError
from viewer.ui.events import Rect
from viewer.ui.view import Panels, Workspace


class Place(StrEnum):
    """The parts of the window. Panels that share a tabbed part are its tabs."""

    MENU = "menu"
    TOOLBAR = "toolbar"
    LEFT_TOP = "left-top"
    LEFT_BOTTOM = "left-bottom"
    RIGHT_TOP = "right-top"
    RIGHT_BOTTOM = "right-bottom"
    BOTTOM = "bottom"
    STATUS = "status"
    VIEWPORT = "viewport"
    FLOATING = "floating"


SIDES = {"left": (Place.LEFT_TOP, Place.LEFT_BOTTOM), "right": (Place.RIGHT_TOP, Place.RIGHT_BOTTOM)}
"""The places of the panels beside the view."""
TABBED = frozenset({Place.LEFT_TOP, Place.LEFT_BOTTOM, Place.RIGHT_TOP, Place.RIGHT_BOTTOM, Place.BOTTOM})

MENU, TOOLBAR, STATUS, TABS, TRANSPORT, BORDER = 26, 40, 26, 22, 34, 2
"""Heights of the bars, of a tab strip and of the transport row; thickness of a border."""

SMALLEST_WINDOW = (960, 600)
DEFAULT_SIZE = (1280, 720)
LARGEST_WINDOW = (16384, 16384)
SMALLEST_VIEWPORT = (480, 240)
"""The view keeps this size beside panels of their usual sizes."""
LEAST_VIEWPORT = (160, 150)
"""The view keeps this size beside the ruler, beside panels that are opened and beside borders that are dragged."""
LEAST_TIMELINE, SHORT_TIMELINE = 96.0, 76.0
"""Heights in which the timeline shows its ruler below the transport row, with its tab strip and without: where there is
even less room, it is the transport row alone."""
LEAST_ITERATIONS = 112.0
"""The same with a tab strip in the laboratory, whose ruler has letters below it."""
_LOWEST_VIEW = 60.0
"""Least height of the view beside a timeline without its tab strip."""
FOLDS_LEFT_BELOW = 1100
WIDE = 1600
TALL, TALL_LEFT = 800, 240
"""Logical heights of the window, and of the left column, from which the right and the left column have two parts: all
panels of a lower column are tabs of one strip."""
GRIP = 6
"""Thickness of the strip in which a border can be dragged."""

RANGES = {"left": (180.0, 480.0), "right": (260.0, 520.0), "timeline": (64.0, 320.0), "goals": (0.12, 0.8),
          "solver": (0.12, 0.8), "curves": (64.0, 480.0), "lanes": (64.0, 480.0)}  # fmt: skip
"""Bounds of each size, in logical pixels or as a share of a height."""


@dataclass(frozen=True, slots=True)
class Border:
    """A border between parts.

    Attributes:
        name: of the size that it changes, a key of `RANGES`.
        grip: where it can be dragged, framebuffer pixels.
        upright: it is vertical, and moves sideways.
    """

    name: str
    grip: Rect
    upright: bool


SPLITS = {"goals": (Place.LEFT_TOP, Place.LEFT_BOTTOM), "solver": (Place.RIGHT_TOP, Place.RIGHT_BOTTOM)}


@dataclass(frozen=True, slots=True)
class Regions:
    """The parts of the window in framebuffer pixels.

    Attributes:
        size: of the window.
        scale: framebuffer pixels per logical pixel.
        rects: of the visible parts, with their tab strips.
        borders: that can be dragged.
        short_timeline: the timeline has no tab strip, for lack of room.
    """

    size: tuple[int, int]
    scale: float
    rects: dict[Place, Rect]
    borders: tuple[Border, ...]
    short_timeline: bool = False

    @property
    def viewport(self) -> Rect:
        """The rectangle of the scene."""
        return self.rects[Place.VIEWPORT]

    def place(self, place: Place) -> Place:
        """The part in which a place's panels are: the lower ones are tabs of the upper part where that is not split."""
        upper = next((upper for upper, lower in SIDES.values() if lower is place), place)
        return upper if place not in self.rects and upper in self.rects else place

    def body(self, place: Place) -> Rect:
        """The rectangle of a part without its tab strip."""
        rect = self.rects[place]
        if place not in TABBED or (place is Place.BOTTOM and self.short_timeline):
            return rect
        strip = round(TABS * self.scale)
        return Rect(rect.x, rect.y + strip, rect.w, max(1, rect.h - strip))

    @property
    def folded(self) -> frozenset[str]:
        """The sides, "left" and "right", whose panels are not there."""
        return frozenset(side for side, (place, _) in SIDES.items() if place not in self.rects)

    def border_at(self, x: float, y: float) -> Border | None:
        """The border that can be dragged at a pixel."""
        return next((border for border in self.borders if border.grip.contains(x, y)), None)


LANE = 76.0
"""Height of the timeline's lane of differences, logical pixels."""


def _widths(layout: Layout, width: float) -> tuple[float, float]:
    """Logical widths of the left and right panels with their borders; 0 if folded."""
    across, least = SMALLEST_VIEWPORT[0], LEAST_VIEWPORT[0]
    panels = layout.panels
    wanted = {"left": panels.left and not panels.hidden, "right": panels.right and not panels.hidden}
    sizes = {name: layout.size(name, width) + BORDER if shown else 0.0 for name, shown in wanted.items()}
    right = min(sizes["right"], max(width - across, 0.0))
    if right < RANGES["right"][0]:
        right = 0.0
    left = sizes["left"]
    if width < FOLDS_LEFT_BELOW or width - right - RANGES["left"][0] - BORDER < across:
        left = 0.0
    left = min(left, max(width - right - across, 0.0))
    if panels.opened == "right" and not right:
        right = min(sizes["right"], width - least)
    if panels.opened == "left" and not left:
        left = min(sizes["left"], width - least)
        right = right if width - left - right >= across / 2.0 else 0.0
    return left, right


def _timeline(layout: Layout, width: float, free: float) -> tuple[float, bool]:
    """Logical height of the timeline with its border, and whether it has no tab strip."""
    if layout.panels.hidden or layout.workspace is Workspace.BUILD:
        return 0.0, False
    room = free - LEAST_VIEWPORT[1] - BORDER
    least = LEAST_ITERATIONS if layout.workspace is Workspace.LAB else LEAST_TIMELINE
    if room < least:
        bare = free - SHORT_TIMELINE - BORDER < _LOWEST_VIEW
        return (TRANSPORT if bare else SHORT_TIMELINE) + BORDER, True
    usual = layout.bottom not in layout.sizes
    extra = layout.extra if layout.bottom == "timeline" else 0.0
    most = max(free - SMALLEST_VIEWPORT[1] - BORDER, least) if usual else room
    return min(layout.size(layout.bottom, width) + extra, most) + BORDER, False


def _arranged(layout: Layout, size: tuple[int, int], scale: float) -> Regions:
    def px(value: float) -> int:
        return round(value * scale)

    width, height = size[0] / scale, size[1] / scale
    top = px(MENU + (0 if layout.panels.hidden else TOOLBAR))
    end = size[1] - px(STATUS)
    left, right = (px(part) for part in _widths(layout, width))
    tall, short = _timeline(layout, width, height - MENU - TOOLBAR - STATUS)
    line, middle = px(BORDER), end - px(tall)
    rects = {Place.MENU: Rect(0, 0, size[0], px(MENU)), Place.STATUS: Rect(0, end, size[0], size[1] - end)}
    if not layout.panels.hidden:
        rects[Place.TOOLBAR] = Rect(0, px(MENU), size[0], top - px(MENU))
    rects[Place.VIEWPORT] = Rect(left, top, max(1, size[0] - left - right), max(1, middle - top))
    borders = []
    if tall:
        rects[Place.BOTTOM] = Rect(0, middle + line, size[0] - right, end - middle - line)
        if not short:
            borders.append(Border(layout.bottom, _grip(Rect(0, middle, size[0] - right, line), scale), upright=False))
    if left:
        column = Rect(0, top, left - line, middle - top)
        borders.append(Border("left", _grip(Rect(left - line, top, line, column.h), scale), upright=True))
        one = layout.workspace in (Workspace.RETARGET, Workspace.BUILD, Workspace.LAB)
        if one or column.h < px(TALL_LEFT):
            rects[Place.LEFT_TOP] = column
        else:
            borders.append(_split(rects, "goals", column, layout.size("goals", width), scale))
    if right:
        column = Rect(size[0] - right + line, top, right - line, end - top)
        borders.append(Border("right", _grip(Rect(column.x - line, top, line, column.h), scale), upright=True))
        if height >= TALL:
            borders.append(_split(rects, "solver", column, layout.size("solver", width), scale))
        else:
            rects[Place.RIGHT_TOP] = column
    return Regions(size, scale, rects, tuple(borders), short)


def _split(rects: dict[Place, Rect], name: str, column: Rect, share: float, scale: float) -> Border:
    """Divide a column into an upper and a lower part; returns the border between them."""
    upper, lower = SPLITS[name]
    line = round(BORDER * scale)
    below = round(column.h * share)
    at = column.y + column.h - below
    rects[upper] = Rect(column.x, column.y, column.w, at - line - column.y)
    rects[lower] = Rect(column.x, at, column.w, below)
    return Border(name, _grip(Rect(column.x, at - line, column.w, line), scale), upright=False)


def _grip(line: Rect, scale: float) -> Rect:
    """A strip around a border, thick enough to be hit."""
    thick = round(GRIP * scale)
    if line.w < line.h:
        return Rect(line.x - (thick - line.w) // 2, line.y, thick, line.h)
    return Rect(line.x, line.y - (thick - line.h) // 2, line.w, thick)


_USUAL = {
    "left": (228.0, 280.0),
    "right": (292.0, 340.0),
    "timeline": (112.0, 132.0),
    "goals": (0.42, 0.32),
    "solver": (0.34, 0.34),
    "curves": (230.0, 276.0),
    "lanes": (264.0, 320.0),
}
"""Sizes that the user has not chosen, in a window that is narrower than `WIDE`, and in others."""
_PLOTS, _ROOMY = 100.0, 1180.0
"""The right panels of the laboratory are wider by the first number, in windows at least as wide as the second."""


@dataclass(slots=True)
class Layout:
    """The sizes and visibility that the user can change.

    Attributes:
        sizes: those that the user chose, by name, a key of `RANGES`: widths of the left and right panels, heights of
            the timeline ("lanes": in the workspace Animate) and of the curves, which are a tab beside it, logical
            pixels; shares of the lower panels in the heights of the left ("goals") and right ones ("solver").
        panels: those to show; the ones that the user opened last come before the width of the view.
        tabs: id of the panel in front, by place.
        closed: ids of panels that have no tab.
        extra: logical pixels that the timeline needs below its keys: lanes of layers, and of differences.
        workspace: the present one; the timeline has its own height in each.
    """

    sizes: dict[str, float] = field(default_factory=dict)
    panels: Panels = field(default_factory=Panels)
    tabs: dict[str, str] = field(default_factory=dict)
    closed: set[str] = field(default_factory=set)
    extra: float = 0.0
    workspace: Workspace = Workspace.POSE

    @property
    def bottom(self) -> str:
        """The key of `RANGES` for what is at the bottom: plots and lanes need more height than keys."""
        if self.tabs.get(Place.BOTTOM) == "curves":
            return "curves"
        return "lanes" if self.workspace is Workspace.ANIMATE else "timeline"

    def size(self, name: str, width: float) -> float:
        """A size as the user chose it, or its default in a window of a logical width."""
        chosen = self.sizes.get(name)
        if chosen is None:
            chosen = _USUAL[name][width >= WIDE]
            if name == "right" and self.workspace is Workspace.LAB and width >= _ROOMY:
                chosen += _PLOTS
        low, high = RANGES[name]
        return float(min(max(chosen, low), high))

    def regions(self, size: tuple[int, int], scale: float) -> Regions:
        """The regions of a framebuffer of a size in pixels, at a scale in framebuffer pixels per logical pixel."""
        return _arranged(self, size, scale)

    def drag(self, name: str, pointer: tuple[float, float], regions: Regions) -> None:
        """Move a border to the pointer, framebuffer pixels."""
        scale, (width, height) = regions.scale, regions.size
        x, y = pointer
        if name == "left":
            wanted = x / scale
        elif name == "right":
            wanted = (width - x) / scale
        elif name == self.bottom:
            wanted = (height - y) / scale - STATUS - (self.extra if name == "timeline" else 0.0)
        else:
            upper, lower = SPLITS[name]
            top, bottom = regions.rects[upper].y, regions.rects[lower].y + regions.rects[lower].h
            wanted = (bottom - y) / max(1, bottom - top)
        low, high = RANGES[name]
        self.sizes[name] = float(min(max(wanted, low), high))

    def reset(self) -> None:
        """Restore the default layout."""
        self.sizes, self.tabs, self.closed, self.extra = {}, {}, set(), 0.0
        self.panels.hidden, self.panels.left, self.panels.right, self.panels.opened = False, True, True, ""

    @classmethod
    def of(cls, sizes: Mapping[str, float], closed: Iterable[str], panels: Panels) -> Layout:
        """A layout from preferences; unknown sizes and panels are ignored: preferences never prevent a start."""
        return cls({name: sizes[name] for name in RANGES if name in sizes}, panels, closed={*closed})


def check_size(size: tuple[int, int]) -> None:
    """Raise InputError unless a window can have a size."""
    fits = all(low <= value <= high for low, value, high in zip(SMALLEST_WINDOW, size, LARGEST_WINDOW, strict=True))
    if not fits:
        smallest, largest, found = ("x".join(map(str, each)) for each in (SMALLEST_WINDOW, LARGEST_WINDOW, size))
        raise InputError(f"size: expected {smallest} to {largest}, found {found}")
