"""Handles around a point: to be drawn, and to be picked."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from operator import attrgetter
from typing import Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.spatial.checks import UNIT_TOLERANCE, Floats, finite_floats, frozen
from viewer.spatial.projection import LinearView, Projection, linear_view
from viewer.spatial.quaternion import nearest_on_segments, perpendicular, to_matrix

LETTERS: Final = "XYZ"


class Tool(StrEnum):
    """Which handles are shown."""

    SELECT = "select"
    MOVE = "move"
    ROTATE = "rotate"


class Space(StrEnum):
    """The space whose axes the handles have."""

    WORLD = "world"
    LOCAL = "local"
    PARENT = "parent"
    VIEW = "view"


class Part(StrEnum):
    """A handle: an arrow or a ring by its axis, a square by its plane, or one that faces the eye."""

    X = "x"
    Y = "y"
    Z = "z"
    XY = "xy"
    YZ = "yz"
    ZX = "zx"
    SCREEN = "screen"
    VIEW_RING = "view ring"


AXES: Final = (Part.X, Part.Y, Part.Z)
PLANES: Final = (Part.YZ, Part.ZX, Part.XY)
"""By the axis perpendicular to each."""

PARTS: Final = {
    Tool.SELECT: (),
    Tool.MOVE: (*AXES, *PLANES, Part.SCREEN),
    Tool.ROTATE: (*AXES, Part.VIEW_RING),
}
"""The handles that each tool shows."""

AXIS_OF: Final = {part: axis for parts in (AXES, PLANES) for axis, part in enumerate(parts)}
"""The axis (0, 1, 2) of an arrow or a ring, or the normal of a square."""

ARROW: Final = (13.0, 84.0)
"""Where arrows begin and end: pixels from the middle at UI scale 1, as all lengths here."""

HEAD: Final = (13.0, 11.0)
"""How long and how wide an arrow's head is."""

SQUARE: Final = (25.0, 42.0)
"""Between which distances along both axes a plane's square lies."""

DISC: Final = 11.0
RING: Final = 72.0
VIEW_RING: Final = 84.0
"""Radii: the centre ring, the rings of the axes, the ring that faces the eye."""

AXIS_FADE: Final = (0.12, 0.26)
"""Foreshortening at which an arrow vanishes, and at which it is opaque."""

PLANE_FADE: Final = (0.18, 0.32)
"""Facing at which a square vanishes, and at which it is opaque."""

BACK_FADE: Final = (0.90, 0.98)
"""Facing at which the far half of a ring appears, and at which it is opaque: face-on, no half is nearer."""

_NO_POINTS: Final = np.empty((0, 2))
_CORNERS: Final = [(SQUARE[a], SQUARE[b]) for a, b in ((0, 0), (1, 0), (1, 1), (0, 1))]
_MOVING: Final = np.array(
    [np.eye(3)[axis] * end for axis in range(3) for end in ARROW]
    + [a * np.eye(3)[axis - 2] + b * np.eye(3)[axis - 1] for axis in range(3) for a, b in _CORNERS],
    dtype=np.complex128,
)
"""(18, 3) how far along each axis the arrows' ends are, and the corners of the squares between the other two axes."""
_AROUND = np.linspace(0.0, 2.0 * np.pi, 64, endpoint=False)
_CIRCLE: Final = np.stack([np.cos(_AROUND), np.sin(_AROUND)], axis=-1)
_QUARTER = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 49)
_HALF_RING: Final = np.stack([np.cos(_QUARTER), np.sin(_QUARTER)], axis=-1)

HIT_WIDTH: Final = 10.0
"""Pixels across a line that hit it, at UI scale 1."""

_FARTHEST = 1e6
"""Pixels that no real pointer reaches; numbers beyond, or not finite, are errors."""

_SAME = 1.0
"""Pixels: of lines that are at most this much farther than the nearest one, the one in front is hit."""

SHAFT: Final = 3.0
RING_WIDTH: Final = 2.5
CIRCLE_WIDTH: Final = 2.0
EDGE_WIDTH: Final = 1.5
SQUARE_ALPHA: Final = 0.38
BACK_ALPHA: Final = 0.3
"""How much of a held ring's far half is shown."""

_LETTER_GAP: Final = 12.0
_SHORTEST_WITH_LETTER: Final = 14.0
_OFF_NEAREST: Final = (math.radians(30.0), math.radians(12.0))
"""How far around a ring its letter is from the ring's point nearest to the eye: edge-on, and open."""

_OPEN: Final = (0.0, 0.3)
_OUTERMOST: Final = 60.0
"""Farther from the middle than this, a ring has its letter on the inside: outside is the ring that faces the eye."""

_BASE: Final = np.linspace(0.0, 1.0, 25)

_COLOURS: Final = tuple(letter.lower() for letter in LETTERS)


class Handle(NamedTuple):
    """One handle on the screen.

    Attributes:
        strength: 0 (neither visible nor hit) .. 1, by its angle to the line of sight.
        path: (N, 2) pixels: an arrow's ends, a square's corners, the near half of a ring, or a circle.
        back: (N, 2) pixels of the far half of a ring, or (0, 2).
        back_strength: 0 .. 1, as ``strength``.
        closed: whether the path's end is joined to its start.
        area: whether what the path encloses belongs to the handle.
        near: how much it points at the eye: of two handles in one place, the larger is in front.
    """

    part: Part
    strength: float
    path: Floats
    back: Floats
    back_strength: float = 0.0
    closed: bool = False
    area: bool = False
    near: float = 0.0


def fade(value: float, limits: tuple[float, float]) -> float:
    """0 at and below the first limit, 1 at and above the second."""
    low, high = limits
    return min(max((value - low) / (high - low), 0.0), 1.0)


class SeenAxes(NamedTuple):
    """The axes of a gizmo as they appear in a view.

    Attributes:
        axes: (3, 3) unit vectors of the world as rows.
        pictures: of the axes, drawn one pixel long; x + iy.
        away: how much each points away from the eye, -1 .. 1.
        lengths: apparent length of each: 1 across the line of sight, 0 along it.
    """

    axes: Floats
    pictures: list[complex]
    away: list[float]
    lengths: list[float]


def seen_axes(axes: Floats, view: LinearView) -> SeenAxes:
    """The appearance of axes (3, 3), as columns."""
    rows = axes.T
    away, pictures = rows @ view.sight, view.pixels(rows).view(np.complex128)[:, 0]
    lengths = np.linalg.norm(rows - away[:, None] * view.sight, axis=1)
    return SeenAxes(rows, pictures.tolist(), away.tolist(), lengths.tolist())


def handles_of(tool: Tool, seen: SeenAxes, view: LinearView, scale: float) -> list[Handle]:
    """The handles of a tool."""
    if tool is Tool.ROTATE:
        rings = [_ring(part, axis, view, scale) for part, axis in zip(AXES, seen.axes, strict=True)]
        return [*rings, facing_handle(Part.VIEW_RING, view, scale)]
    if tool is Tool.MOVE:
        return [*_moving_handles(seen, view, scale), facing_handle(Part.SCREEN, view, scale)]
    return []


def facing_handle(part: Part, view: LinearView, scale: float) -> Handle:
    """A handle that faces the eye: the centre ring, or the ring around all others."""
    centre = part is Part.SCREEN
    path = view.centre + (DISC if centre else VIEW_RING) * scale * _CIRCLE
    return Handle(part, 1.0, path, _NO_POINTS, closed=True, area=centre, near=2.0 if centre else -2.0)


def ring_frame(axis: Floats, view: LinearView) -> tuple[Floats, Floats]:
    """Unit directions (3,) to a ring's point nearest to the eye, and to where turning takes that point next."""
    (u, v, w), (a, b, c) = view.sight.tolist(), axis.tolist()
    along = u * a + v * b + w * c
    x, y, z = along * a - u, along * b - v, along * c - w
    length = math.hypot(x, y, z)
    x, y, z = (x / length, y / length, z / length) if length > 1e-6 else perpendicular(axis).tolist()
    return np.array([x, y, z]), np.array([b * z - c * y, c * x - a * z, a * y - b * x])


def _moving_handles(seen: SeenAxes, view: LinearView, scale: float) -> list[Handle]:
    """The arrows, and the squares at right angles to each axis, between the two after it."""
    points = (complex(*view.centre.tolist()) + scale * (_MOVING @ np.array(seen.pictures))).view(np.float64)
    arrows, squares = points.reshape(-1, 2)[:6].reshape(3, 2, 2), points.reshape(-1, 2)[6:].reshape(3, 4, 2)
    away, lengths = seen.away, seen.lengths
    found = []
    for axis, part in enumerate(AXES):
        found.append(Handle(part, fade(lengths[axis], AXIS_FADE), arrows[axis], _NO_POINTS, near=-away[axis]))
    for axis, part in enumerate(PLANES):
        near = -(away[axis - 2] + away[axis - 1])
        strength = fade(abs(away[axis]), PLANE_FADE)
        found.append(Handle(part, strength, squares[axis], _NO_POINTS, closed=True, area=True, near=near))
    return found


def _ring(part: Part, axis: Floats, view: LinearView, scale: float) -> Handle:
    half = _HALF_RING @ (view.pixels(np.array(ring_frame(axis, view))) * (RING * scale))
    seen = fade(view.facing(axis), BACK_FADE)
    return Handle(part, 1.0, view.centre + half, view.centre - half, back_strength=seen, near=0.5)


def distance_to_path(pixel: Floats, path: Floats, *, closed: bool = False) -> float:
    """Pixels from a pixel (2,) to the nearest point of a path (N, 2)."""
    start = path if closed else path[:-1]
    run = np.roll(path, -1, axis=0) - path if closed else path[1:] - path[:-1]
    away = pixel - nearest_on_segments(pixel, start, run)
    return float(np.linalg.norm(away, axis=-1).min(initial=np.inf))


def is_within(pixel: Floats, polygon: Floats) -> bool:
    """Whether a pixel (2,) is inside a convex polygon (N, 2), or on its border."""
    edge, toward = np.roll(polygon, -1, axis=0) - polygon, pixel - polygon
    turn = edge[:, 0] * toward[:, 1] - edge[:, 1] * toward[:, 0]
    return bool((turn >= 0.0).all() or (turn <= 0.0).all())


def hit(handles: Iterable[Handle], x: float, y: float, scale: float) -> Part | None:
    """The handle at a pixel: the centre before lines, these before areas; None where there is none."""
    pixel = np.array([x, y], dtype=np.float64)
    if not (np.abs(pixel) < _FARTHEST).all():
        return None
    seen = [one for one in handles if one.strength > 0.0]
    areas = [one for one in seen if one.area and is_within(pixel, one.path)]
    if any(one.part is Part.SCREEN for one in areas):
        return Part.SCREEN
    found = [(_distance(one, pixel), one) for one in seen if not one.area]
    found = [(distance, one) for distance, one in found if distance <= 0.5 * HIT_WIDTH * scale]
    if found:
        limit = min(distance for distance, _ in found) + _SAME * scale
        return max((one for distance, one in found if distance <= limit), key=lambda one: one.near).part
    return max(areas, key=lambda one: one.near).part if areas else None


def _distance(one: Handle, pixel: Floats) -> float:
    distance = distance_to_path(pixel, one.path, closed=one.closed)
    if one.back_strength >= 0.5:
        distance = min(distance, distance_to_path(pixel, one.back))
    return distance


class Stroke(NamedTuple):
    """A line through points.

    Attributes:
        points: (N, 2) pixels from the top left, N >= 2.
        width: pixels.
        colour: name in the palette.
        alpha: 0 .. 1.
        closed: whether the last point is joined to the first.
    """

    points: Floats
    width: float
    colour: str
    alpha: float = 1.0
    closed: bool = False


class Fill(NamedTuple):
    """A convex area: points (N, 2), N >= 3, in order around it, pixels from the top left; a colour of the palette."""

    points: Floats
    colour: str
    alpha: float = 1.0


class Letter(NamedTuple):
    """A letter that names an axis, its middle ``at`` (2,) pixels from the top left; a name in the palette; 0 .. 1."""

    text: str
    at: Floats
    colour: str
    alpha: float = 1.0


Shape: TypeAlias = Stroke | Fill | Letter


class Style(NamedTuple):
    """How a handle is drawn now: opacity besides fading, a colour in place of its own, ``whole`` with all of a ring."""

    alpha: float = 1.0
    colour: str = ""
    whole: bool = False


PLAIN: Final = Style()


def draw(one: Handle, seen: SeenAxes, heads: Heads, view: LinearView, scale: float, style: Style) -> list[Shape]:
    """The shapes of one handle, farthest first; none where it has faded. ``heads`` are of arrows, not of rings."""
    part = one.part
    strength = one.strength * style.alpha
    if strength <= 0.0:
        return []
    axis = AXIS_OF.get(part)
    colour = style.colour or ("text" if axis is None else _COLOURS[axis])
    if axis is None:
        return [Stroke(one.path, CIRCLE_WIDTH * scale, colour, strength, closed=True)]
    if part in PLANES:
        fill = Fill(one.path, colour, SQUARE_ALPHA * strength)
        return [fill, Stroke(one.path, EDGE_WIDTH * scale, colour, strength, closed=True)]
    if not heads:
        back = max(one.back_strength, BACK_ALPHA if style.whole else 0.0)
        shapes: list[Shape] = [
            Stroke(one.back, RING_WIDTH * scale, colour, strength * back),
            Stroke(one.path, RING_WIDTH * scale, colour, strength),
            Letter(part.value.upper(), _ring_letter(seen.axes[axis], view, scale), colour, strength),
        ]
        return shapes if back > 0.0 else shapes[1:]
    head = heads[axis]
    shaft: Shape = Stroke(head.shaft, SHAFT * scale, colour, strength)
    cone: Shape = Fill(head.outline, colour, strength)
    arrow = [shaft, cone] if seen.away[axis] < 0.0 else [cone, shaft]
    return arrow if head.letter is None else [*arrow, Letter(LETTERS[axis], head.letter, colour, strength)]


class Head(NamedTuple):
    """What an arrow is drawn with: ends of the shaft (2, 2), outline (N, 2) of the cone, letter (2,) if it has room."""

    shaft: Floats
    outline: Floats
    letter: Floats | None


Heads: TypeAlias = Sequence[Head]
"""Heads of the three arrows; empty where the axes are rings."""


def _heads(seen: SeenAxes, view: LinearView, scale: float) -> Heads:
    """The heads of the arrows: the base of a cone is an ellipse, more round the more one looks along the cone."""
    # In the plane of complex numbers x + iy, where i times a direction is the one across it.
    centre, radius = complex(*view.centre.tolist()), 0.5 * HEAD[1] * scale
    pointed, long, places, cones = [], [], [], []
    for picture, away in zip(seen.pictures, seen.away, strict=True):
        along = scale * picture
        length = abs(along)
        way = along / length if length else 0j
        height, depth = HEAD[0] * length, radius * abs(away)
        # Lines from the tip touch the ellipse where cos = depth / height; from a tip inside it, none does.
        pointed.append(height > depth)
        long.append(ARROW[1] * length >= _SHORTEST_WITH_LETTER * scale)
        first = math.acos(depth / height) if height > depth else 0.0
        neck, tip = centre + (ARROW[1] - HEAD[0]) * along, centre + ARROW[1] * along
        places.append((centre + ARROW[0] * along, neck, tip, tip + _LETTER_GAP * scale * way))
        cones.append((first, 2.0 * (math.pi - first), depth * way, radius * way))
    first, span, deep, wide = np.array(cones).T[:, :, None]
    ends, angles = np.array(places), first.real + span.real * _BASE
    outlines = np.empty((3, 1 + len(_BASE)), np.complex128)
    outlines[:, 0] = ends[:, 2]
    outlines[:, 1:] = ends[:, 1:2] + deep * np.cos(angles) + wide * (1j * np.sin(angles))
    pixels, points = ends.view(np.float64).reshape(3, -1, 2), outlines.view(np.float64).reshape(3, -1, 2)
    return [
        Head(place[:2], outline if sharp else outline[1:-1], place[3] if room else None)
        for place, outline, sharp, room in zip(pixels, points, pointed, long, strict=True)
    ]


def _ring_letter(axis: Floats, view: LinearView, scale: float) -> Floats:
    """(2,) beside the ring, away from its point nearest to the eye: there it would cover rings seen edge-on."""
    near, side = (complex(*way) for way in view.pixels(np.array(ring_frame(axis, view))).tolist())
    angle = float(np.interp(view.facing(axis), _OPEN, _OFF_NEAREST))
    place = RING * (math.cos(angle) * near + math.sin(angle) * side)
    outward = -1j * (math.cos(angle) * side - math.sin(angle) * near)
    length = abs(outward)
    outward = outward / length if length > 0.0 else 0j
    inward = place.real * outward.real + place.imag * outward.imag < 0.0
    if inward != (abs(place) > _OUTERMOST):
        outward = -outward
    letter = (place + _LETTER_GAP * outward) * scale
    return np.asarray(view.centre + np.array([letter.real, letter.imag]))


def axes_of(
    space: Space,
    joint_rotation: ArrayLike | None,
    parent_rotation: ArrayLike | None,
    projection: Projection,
) -> Floats:
    """(3, 3) whose columns are the x, y and z axes of a space, in the world; the view's point right, up and at the eye.

    The rotations (4,) are in the world: of what is moved, and of its parent; None: the world's axes are used.
    """
    if space is Space.VIEW:
        return np.stack([projection.right, projection.up, projection.back], axis=1)
    rotation = {Space.LOCAL: joint_rotation, Space.PARENT: parent_rotation}.get(space)
    return np.eye(3) if rotation is None else to_matrix(rotation)


class LengthUnit(NamedTuple):
    """A unit of length: its name after numbers, metres per unit, least number of decimals."""

    name: str = "m"
    metres: float = 1.0
    decimals: int = 3


METRE = LengthUnit()


HOVERED: Final = Style(colour="hovered")
HELD: Final = Style(colour="hovered", whole=True)
STEPPED_BACK: Final = Style(alpha=0.25)
"""The style of the other handles, while one is dragged."""


@dataclass(frozen=True, slots=True, eq=False)
class Gizmo:
    """The handles of a tool at a place.

    Attributes:
        tool: which handles.
        position: (3,) metres in the world, the middle of the handles.
        axes: (3, 3) unit vectors of the world as columns: x, y and z of the handles.
        other_axes: (3, 3) the axes that an axis key pressed twice takes; None: no others.
        unit: of lengths in the readout, and of those typed.

    Raises:
        InputError: numbers that are not finite, or of another shape; axes not at right angles or not of length 1.
    """

    tool: Tool
    position: Floats
    axes: Floats
    other_axes: Floats | None = None
    unit: LengthUnit = METRE

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", frozen(finite_floats(self.position, (3,), "gizmo position")))
        object.__setattr__(self, "axes", _axes(self.axes, "gizmo axes"))
        if self.other_axes is not None:
            object.__setattr__(self, "other_axes", _axes(self.other_axes, "gizmo other axes"))

    @property
    def parts(self) -> tuple[Part, ...]:
        """The handles that its tool has."""
        return PARTS[self.tool]

    def shapes(
        self, projection: Projection, scale: float = 1.0, hovered: Part | None = None, held: Part | None = None
    ) -> list[Shape]:
        """The shapes, farthest first; none if its centre is not visible. ``scale`` is pixels per pixel of the design.

        While a handle is ``held``, the others are drawn faintly.
        """
        view = linear_view(projection, self.position)
        return [] if view is None else shapes_at(self.tool, self.axes, view, scale, hovered, held)

    def pick(self, projection: Projection, x: float, y: float, scale: float = 1.0) -> Part | None:
        """The handle at a pixel, or None."""
        view = linear_view(projection, self.position)
        if view is None:
            return None
        return hit(handles_of(self.tool, seen_axes(self.axes, view), view, scale), x, y, scale)


def shapes_at(
    tool: Tool, axes: Floats, view: LinearView, scale: float, hovered: Part | None = None, held: Part | None = None
) -> list[Shape]:
    """The handles of a tool with axes (3, 3), as columns, in a view; farthest first."""
    seen = seen_axes(axes, view)
    heads = _heads(seen, view, scale) if tool is Tool.MOVE else ()
    shapes: list[Shape] = []
    for one in sorted(handles_of(tool, seen, view, scale), key=attrgetter("near")):
        style = HELD if one.part is held else PLAIN if held is None else STEPPED_BACK
        if held is None and one.part is hovered:
            style = HOVERED
        shapes += draw(one, seen, heads, view, scale, style)
    return shapes


def held_shapes(tool: Tool, part: Part, axes: Floats, view: LinearView, scale: float) -> list[Shape]:
    """A dragged handle by itself, if the tool shown does not have it."""
    seen = seen_axes(axes, view)
    facing = part in (Part.SCREEN, Part.VIEW_RING)
    found = [facing_handle(part, view, scale)] if facing else handles_of(tool, seen, view, scale)
    heads = _heads(seen, view, scale) if tool is Tool.MOVE else ()
    return draw(next(one for one in found if one.part is part), seen, heads, view, scale, HELD)


def _axes(value: Floats, what: str) -> Floats:
    axes = finite_floats(value, (3, 3), what)
    with np.errstate(over="ignore", invalid="ignore"):
        off = np.abs(axes.T @ axes - np.eye(3)).max()
    if not off <= UNIT_TOLERANCE:
        raise InputError(f"{what}: expected unit vectors at right angles as columns, found {axes.tolist()}")
    return frozen(axes)
