"""Handles as strokes, fills and letters in pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np

from viewer.gizmo.handles import HEAD, RING, Handle, SeenAxes, ring_frame, unit
from viewer.gizmo.linear_view import LinearView
from viewer.gizmo.typed import AXIS_OF, LETTERS, PLANES, Tool
from viewer.spatial.checks import Floats


@dataclass(frozen=True, slots=True, eq=False)
class Stroke:
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


@dataclass(frozen=True, slots=True, eq=False)
class Fill:
    """A convex area.

    Attributes:
        points: (N, 2) pixels from the top left, N >= 3, in turn around it, either way.
        colour: name in the palette.
        alpha: 0 .. 1.
    """

    points: Floats
    colour: str
    alpha: float = 1.0


@dataclass(frozen=True, slots=True, eq=False)
class Letter:
    """A letter that names an axis.

    Attributes:
        text: one letter.
        at: (2,) pixels from the top left of the letter's middle.
        colour: name in the palette.
        alpha: 0 .. 1.
    """

    text: str
    at: Floats
    colour: str
    alpha: float = 1.0


Shape: TypeAlias = Stroke | Fill | Letter


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
"""How far round a ring its letter stands from its point nearest to the eye: edge-on, and open."""

_OPEN: Final = (0.0, 0.3)
_OUTERMOST: Final = 60.0
"""Farther from the middle than this, a ring has its letter on the inside: outside is the ring that faces the eye."""


_BASE: Final = np.linspace(0.0, 1.0, 25)


@dataclass(frozen=True, slots=True)
class Style:
    """How a handle is drawn in its present state.

    Attributes:
        alpha: how strong, besides fading.
        colour: of the palette, in place of the handle's own.
        whole: with the far half of a ring.
    """

    alpha: float = 1.0
    colour: str = ""
    whole: bool = False


PLAIN: Final = Style()


def draw(one: Handle, seen: SeenAxes, tool: Tool, view: LinearView, scale: float, style: Style = PLAIN) -> list[Shape]:
    """The shapes of one handle, farthest first; none where it has faded.

    Args:
        one: the handle.
        seen: how its axes are seen.
        tool: whether axes are arrows or rings.
        view: the view at the middle of the handles.
        scale: UI scale.
        style: colour and strength.
    """
    part = one.part
    strength = one.strength * style.alpha
    if strength <= 0.0:
        return []
    axis = AXIS_OF.get(part)
    colour = style.colour or ("text" if axis is None else LETTERS[axis].lower())
    if axis is None:
        return [Stroke(one.path, CIRCLE_WIDTH * scale, colour, strength, closed=True)]
    if part in PLANES:
        fill = Fill(one.path, colour, SQUARE_ALPHA * strength)
        return [fill, Stroke(one.path, EDGE_WIDTH * scale, colour, strength, closed=True)]
    if tool is Tool.ROTATE:
        back = max(one.back_strength, BACK_ALPHA if style.whole else 0.0)
        shapes: list[Shape] = [
            Stroke(one.back, RING_WIDTH * scale, colour, strength * back),
            Stroke(one.path, RING_WIDTH * scale, colour, strength),
            Letter(part.value.upper(), _ring_letter(seen.axes[axis], view, scale), colour, strength),
        ]
        return shapes if back > 0.0 else shapes[1:]
    return _arrow(one, axis, seen, view, scale, colour, strength)


def _arrow(
    one: Handle, axis: int, seen: SeenAxes, view: LinearView, scale: float, colour: str, alpha: float
) -> list[Shape]:
    start, end = one.path
    along, away = seen.pixels[axis] * scale, seen.away[axis]
    neck = end - HEAD[0] * along
    shaft: Shape = Stroke(np.array([start, neck]), SHAFT * scale, colour, alpha)
    head: Shape = Fill(_cone(neck, end, abs(away), scale), colour, alpha)
    shapes = [shaft, head] if away < 0.0 else [head, shaft]
    if math.dist(end, view.centre) >= _SHORTEST_WITH_LETTER * scale:
        at = end + along * (_LETTER_GAP * scale / math.hypot(*along))
        shapes.append(Letter(one.part.value.upper(), at, colour, alpha))
    return shapes


def _cone(neck: Floats, tip: Floats, roundness: float, scale: float) -> Floats:
    """(N, 2) outline of a cone: its base is an ellipse, more round the more one looks along the cone."""
    radius, height = 0.5 * HEAD[1] * scale, math.dist(tip, neck)
    depth = radius * roundness
    # In the plane of complex numbers x + iy, where i times a direction is the one across it.
    along = complex(*(tip - neck)) / (height or 1.0)
    # Lines from the tip touch the ellipse where cos = depth / height; from a tip inside it, none does.
    first = math.acos(depth / height) if height > depth else 0.0
    angle = first + 2.0 * (math.pi - first) * _BASE
    base = complex(*neck) + along * (depth * np.cos(angle) + 1j * radius * np.sin(angle))
    points = base.view(np.float64).reshape(-1, 2)
    return np.concatenate([tip[None], points]) if height > depth else points[:-1]


def _ring_letter(axis: Floats, view: LinearView, scale: float) -> Floats:
    """(2,) beside the ring, off its point nearest to the eye: there, it would stand on rings seen edge-on."""
    near, side = view.pixels(np.stack(ring_frame(axis, view)))
    angle = float(np.interp(view.facing(axis), _OPEN, _OFF_NEAREST))
    place = RING * (math.cos(angle) * near + math.sin(angle) * side)
    tangent = math.cos(angle) * side - math.sin(angle) * near
    outward = unit(np.array([tangent[1], -tangent[0]]))
    if float(outward @ place) < 0.0:
        outward = -outward
    if float(np.linalg.norm(place)) > _OUTERMOST:
        outward = -outward
    return np.asarray(view.centre + (place + _LETTER_GAP * outward) * scale)
