"""The primitives that a renderer draws: arrays of a few record types, in 32-bit floats for the graphics card.

Positions are metres in the world except where they say pixels, which count from the view's top left corner, y down.
Colours are red, green, blue, alpha in 0 .. 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from viewer.errors import visible
from viewer.scene.look import RGBA
from viewer.skeleton import Skin
from viewer.skeleton.attached import Singles
from viewer.spatial.checks import Floats, Ints

Records = NDArray[Any]

BONE = np.dtype([("frame", "f4", (3, 4)), ("colour", "f4", 4), ("outline", "f4", 4), ("dashed", "f4")])
"""A bone: ``frame`` holds the rows of world_from_unit-octahedron, whose head is the origin, tail (0, 1, 0), belt of
radius 1 at y = 0.12. ``outline``: red, green, blue, width in pixels, 0 for none. ``dashed``: 1 for dashed edges."""

SPHERE = np.dtype(
    [("centre", "f4", 3), ("radius", "f4"), ("least_px", "f4"), ("colour", "f4", 4), ("outline", "f4", 4)]
)
"""A joint: radius in metres, drawn with ``least_px`` pixels if that is more."""

CAPSULE = np.dtype(
    [("a", "f4", 3), ("b", "f4", 3), ("radius", "f4"), ("flare", "f4"), ("colour", "f4", 4), ("outline", "f4", 4)]
)
"""Two balls and the cone around both, smooth and lit; a ball where ``a`` and ``b`` are one. ``radius``: metres, at
``b``; ``flare``: metres by which the radius is larger at ``a``, less than the distance between them."""

SOLID = np.dtype([("position", "f4", 3), ("normal", "f4", 3), ("colour", "f4", 4)])
"""Every three are a lit triangle in the world, seen from outside."""

LINE = np.dtype([("start", "f4", 3), ("end", "f4", 3), ("colour", "f4", 4), ("width_px", "f4"), ("dash_px", "f4", 2)])
"""A straight line in the world of a width in pixels; ``dash_px``: lengths on and off, 0 for a solid one."""

VERTEX = np.dtype([("position", "f4", 3), ("colour", "f4", 4)])
"""Every three are a translucent triangle in the world: tested against depth, not written to it."""

FLAT = np.dtype([("position", "f4", 2), ("colour", "f4", 4)])
"""Every three are a triangle on the screen, pixels: drawn last, over everything, in order, edges already feathered."""


@dataclass(frozen=True, slots=True, eq=False)
class SkinDraw:
    """The skin of a figure in a pose.

    Attributes:
        skin: its meshes, which are loaded onto the graphics card once.
        matrices: (B, 3, 4) world_from_mesh of its bindings.
        accents: (B,) strength of the accent colour at what follows each binding.
        spheres: (N, 4) centres and radii of balls within which all of it is, metres.
        bare: colour of meshes that have none of their own.
        opacity: below 1 it is drawn translucently over the rest, as ghosts are.
        mirrored: some joints mirror what follows them, so that inside and outside cannot be distinguished.
    """

    skin: Skin
    matrices: Singles
    accents: Singles
    spheres: Floats
    bare: tuple[float, float, float]
    opacity: float = 1.0
    mirrored: bool = False


Anchor = Literal["left", "centre", "right"]


@dataclass(frozen=True, slots=True)
class Text:
    """A line of text on the screen.

    Attributes:
        x, y: pixels; x of the edge or middle that ``anchor`` names, y of the middle of the line.
        colour: red, green, blue, alpha.
        size: 13 or 15, to be multiplied by the view's scale.
        anchor: the part of the text that is at x.
        halo: whether it has a dark rim, for contrast to any background.
        bold: whether it is bold.
    """

    text: str
    x: float
    y: float
    colour: RGBA
    size: int = 13
    anchor: Anchor = "left"
    halo: bool = True
    bold: bool = False

    def __post_init__(self) -> None:
        """Make control characters visible, which names may contain."""
        if not self.text.isprintable():
            object.__setattr__(self, "text", visible(self.text, icons=True))


_LINE = 2400.0
"""Height of a line in font units; a text's size is this height in pixels."""
_FIRST = 32
_REGULAR = (
    507, 527, 655, 1261, 1150, 1500, 1273, 357, 700, 712, 882, 1161, 402, 565, 539, 844, 1150, 1150, 1150, 1150, 1150,
    1150, 1150, 1150, 1150, 1150, 496, 433, 1041, 1124, 1070, 967, 1839, 1336, 1275, 1333, 1343, 1164, 1132, 1395, 1460,
    557, 1130, 1284, 1102, 1788, 1460, 1408, 1292, 1408, 1261, 1215, 1222, 1328, 1303, 1817, 1284, 1230, 1226, 543, 840,
    543, 856, 924, 633, 1114, 1149, 1072, 1155, 1085, 711, 1149, 1128, 497, 489, 1038, 497, 1795, 1130, 1168, 1149,
    1164, 693, 1056, 669, 1129, 992, 1539, 1015, 969, 1015, 693, 499, 693, 1393,
)  # fmt: skip
_BOLD_WIDER = 1.022
_OTHER = 1170
"""Approximate width of Latin, Greek and Cyrillic letters beyond ASCII, font units."""
_WIDE, _WIDE_FROM = 2048, 0x2E80
"""Width of the square letters of East Asia, and the first of their code points."""


class _Units(dict[str, int]):
    """Widths of letters, font units, by the letter."""

    def __missing__(self, letter: str) -> int:
        """Add a letter that is used for the first time."""
        code = ord(letter)
        known = _FIRST <= code < _FIRST + len(_REGULAR)
        self[letter] = _REGULAR[code - _FIRST] if known else _WIDE if code >= _WIDE_FROM else _OTHER
        return self[letter]


_UNITS = _Units()


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Width in pixels of a text whose line is ``size`` pixels high; exact for ASCII, approximate for other letters."""
    return sum(map(_UNITS.__getitem__, text)) * size / _LINE * (_BOLD_WIDER if bold else 1.0)


GRID_REACH = 4.9
"""Radius of the grid as a multiple of the figure's height."""


@dataclass(frozen=True, slots=True)
class Ground:
    """The floor, and the grid, which is upright if the body is confined to an upright plane.

    Attributes:
        y: height of the floor, metres.
        cell: edge of the grid's finest cells, metres, a power of 10.
        height: H of the figure, metres; sizes of grid and shadow are relative to it.
        centre: (x, y, z) of the point under the figure.
        grid, shadow: whether they are drawn.
        disc: x, z and radius in metres of the visible part of a grid on the floor; None: around ``centre``.
        along: the axes of the grid's lines, such as "xz" on the floor.
        behind: position of an upright grid along the third axis, metres.
        patch: x, z and half side in metres of the square in which shadows fall; None: around ``centre``.
    """

    y: float
    cell: float
    height: float
    centre: tuple[float, float, float]
    grid: bool = True
    shadow: bool = True
    disc: tuple[float, float, float] | None = None
    along: Literal["xz", "xy", "zy"] = "xz"
    behind: float = 0.0
    patch: tuple[float, float, float] | None = None

    @property
    def middle(self) -> tuple[float, float, float]:
        """(x, y, z) of the middle of the grid."""
        x, y, z = self.centre[0], self.y, self.centre[2]
        return {"xz": (x, y, z), "xy": (x, y, self.behind), "zy": (self.behind, y, z)}[self.along]


@dataclass(frozen=True, slots=True, eq=False)
class DrawList:
    """The primitives of a view.

    Attributes:
        bones: BONE records.
        spheres: SPHERE records.
        lines: LINE records.
        triangles: VERTEX records, three a triangle.
        flat: FLAT records, three a triangle.
        texts: drawn over ``flat``.
        ghosts: translucent BONE records of other moments; drawn first to depth, then in colour, so that overlapping
            ones do not add up.
        capsules: CAPSULE records, opaque.
        veils: translucent CAPSULE records over the figure, drawn as ghosts are.
        solids: SOLID records, three a triangle.
        sticks: whether bones and spheres are drawn; if not, bones only cast their shadow.
        shading: whether the figure's bodies and balls darken each other and the floor where they are close.
    """

    bones: Records
    spheres: Records
    lines: Records
    triangles: Records
    flat: Records
    texts: tuple[Text, ...]
    ground: Ground
    ghosts: Records
    capsules: Records = field(default_factory=lambda: np.empty(0, CAPSULE))
    veils: Records = field(default_factory=lambda: np.empty(0, CAPSULE))
    solids: Records = field(default_factory=lambda: np.empty(0, SOLID))
    skins: tuple[SkinDraw, ...] = ()
    sticks: bool = True
    shading: bool = True


def joined(parts: Sequence[Records], dtype: np.dtype[Any]) -> Records:
    """The parts one after the other; an empty array where there are none."""
    if len(parts) == 1:
        return parts[0]
    # As plain floats, because numpy compares the record types field by field before it concatenates.
    return np.concatenate([part.view(np.float32) for part in parts]).view(dtype) if parts else np.empty(0, dtype)


def copied(records: Records) -> Records:
    """A copy, made as plain floats: numpy copies records field by field."""
    return records.view(np.float32).copy().view(records.dtype)


_STYLE = 7
"""Numbers of a record after its two ends: colour, width, dash."""


class LinePattern(NamedTuple):
    """The lines of a shape, between points of which only the positions change.

    ``starts`` and ``ends`` (N,) are indices of points; styles (N, 7) are colour, width, lengths on and off, logical
    pixels.
    """

    starts: Ints
    ends: Ints
    styles: Floats


def line_pattern(parts: Sequence[tuple[Ints, Ints, RGBA, float]]) -> LinePattern:
    """The pattern of solid lines: of each part starts, ends, colour and width."""
    styles = [(*colour, width, 0.0, 0.0) for _, _, colour, width in parts]
    return LinePattern(
        np.concatenate([part[0] for part in parts]),
        np.concatenate([part[1] for part in parts]),
        np.repeat(np.array(styles), [len(part[0]) for part in parts], axis=0),
    )


class Lines:
    """Collects lines; widths are in logical pixels."""

    def __init__(self, scale: float) -> None:
        """``scale``: physical per logical pixels."""
        self._scale = scale
        self._parts: list[tuple[Floats, Floats, ArrayLike]] = []
        self._shaded: list[tuple[Floats, Floats, ArrayLike]] = []

    def segments(
        self, starts: Floats, ends: Floats, colour: RGBA, width: float, dash: tuple[float, float] = (0.0, 0.0)
    ) -> None:
        """Straight lines from starts (N, 3) to ends (N, 3)."""
        self._parts.append((starts, ends, (*colour, width, *dash)))

    def curve(self, points: Floats, colour: RGBA, width: float) -> None:
        """A line through points (N, 3)."""
        self.segments(points[:-1], points[1:], colour, width)

    def shape(self, points: Floats, pattern: LinePattern) -> None:
        """The lines of a pattern between points (N, 3)."""
        ends = points.take(pattern.starts, axis=0), points.take(pattern.ends, axis=0)
        self._parts.append((*ends, pattern.styles))

    def shaded(self, starts: Floats, ends: Floats, colours: Floats, width: float) -> None:
        """Straight lines from starts (N, 3) to ends (N, 3) with colours (N, 4); they are drawn last."""
        styles = np.zeros((len(starts), _STYLE))
        styles[:, :4], styles[:, 4] = colours, width
        self._shaded.append((starts, ends, styles))

    def records(self) -> Records:
        """LINE records of all of them."""
        parts = self._parts + self._shaded
        records = np.empty(sum([len(starts) for starts, _, _ in parts]), LINE)
        rows, first = records.view(np.float32).reshape(-1, LINE.itemsize // 4), 0
        for starts, ends, style in parts:
            some = rows[first : first + len(starts)]
            some[:, :3], some[:, 3:6], some[:, 6:] = starts, ends, style
            first += len(starts)
        rows[:, -3:] *= self._scale
        return records
