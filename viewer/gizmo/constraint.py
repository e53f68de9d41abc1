"""What a drag may change (directions, or an axis), the resulting motion of its target, and its numbers at a pixel."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Final, overload

import numpy as np
from numpy.typing import ArrayLike

from viewer.gizmo.gizmo import (
    AXES,
    AXIS_FADE,
    AXIS_OF,
    LETTERS,
    METRE,
    PLANE_FADE,
    PLANES,
    RING,
    VIEW_RING,
    LengthUnit,
    Part,
    ring_frame,
)
from viewer.spatial.checks import Floats, frozen
from viewer.spatial.projection import LinearView, Projection
from viewer.spatial.quaternion import IDENTITY, from_axis_angle, multiply, rotate, unit

_NO_TURN = 1e-12
"""Radians below which a rotation counts as none: full turns are not exact to the last bit."""

FINE: Final = 0.1

MINUS: Final = "\N{MINUS SIGN}"

_FARTHEST = 1e6
"""Pixels that no real pointer reaches; numbers beyond are errors."""

Leg = tuple[float, float, bool]
"""A position of the pointer, in pixels, and whether it moved there finely."""

FARTHEST: Final = 20.0
"""Multiple of its first distance from the eye up to which a thing follows the pointer exactly; then it slows down."""

NEAREST: Final = 0.05
"""Smallest part of its first distance from the eye to which a thing can be dragged towards the eye."""

_SQUARE_ENOUGH: Final = 0.3
"""Facing from which a ring is turned around its middle; flatter ones are pulled along their tangent."""

_BLIND: Final = 4.0
"""Pixels around a ring's middle in which the angle is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Constraint:
    """The handle of a drag, and the numbers that it changes.

    Attributes:
        part: arrow, square, ring or one that faces the eye.
        axes: (3, 3) those of its space, as columns.
        turning: whether it rotates rather than translates.
        facing: (3, 3) right, up and towards the viewer at the drag's start, as columns.
        typed_everywhere: whether a number can be typed for each of the three axes, not only for those of the handle.
    """

    part: Part
    axes: Floats
    turning: bool
    facing: Floats
    typed_everywhere: bool = False

    @property
    def indices(self) -> tuple[int, ...]:
        """Indices of its axes; none for handles that face the viewer."""
        axis = AXIS_OF.get(self.part)
        if axis is None:
            return ()
        return (axis,) if self.part in AXES else tuple(sorted({0, 1, 2} - {axis}))

    def directions(self, *, typed: bool = False) -> Floats:
        """(3, k) directions of its numbers. Typed numbers are about named axes: all three for the viewing plane."""
        if self.part is Part.VIEW_RING:
            return self.facing[:, 2:]
        if typed and self._all_axes:
            return self.axes
        if self.part is Part.SCREEN:
            return self.facing[:, :2]
        return self.axes[:, list(self.indices)]

    def names(self, *, typed: bool = False) -> tuple[str, ...]:
        """The names of its numbers."""
        if self.part is Part.VIEW_RING:
            return ("Δ",)
        if typed and self._all_axes:
            return tuple(f"Δ{letter}" for letter in LETTERS)
        if self.part is Part.SCREEN:
            return ("Right", "Up")
        return tuple(f"Δ{LETTERS[axis]}" for axis in self.indices)

    @property
    def _all_axes(self) -> bool:
        """Whether each of the three axes has a typed number."""
        return self.part is Part.SCREEN or self.typed_everywhere

    def measure(
        self, projection: Projection, view: LinearView | None, position: Floats, start: tuple[float, float]
    ) -> Measure:
        """The measure that turns pixels into its numbers, for a drag that starts at a pixel."""
        directions = self.directions()
        if view is None:  # what is not visible is not moved
            return Straight(np.zeros(2), np.zeros((directions.shape[1], 2)))
        if self.turning:
            if self.part is Part.VIEW_RING:
                return view_ring_measure(view, *start)
            return ring_measure(view, directions[:, 0], *start)
        if self.part is Part.SCREEN:
            return screen_measure(projection, view)
        if self.part in PLANES:
            return plane_measure(projection, view, position, directions)
        return axis_measure(view, directions[:, 0])

    def motion(
        self,
        numbers: Floats,
        pivot: Floats,
        decimals: int,
        typed: Sequence[str] | None = None,
        unit: LengthUnit = METRE,
    ) -> RigidMotion:
        """The motion of its numbers (k,), metres or degrees; ``typed``: their texts, if they were typed."""
        names = self.names(typed=typed is not None)
        shown = (numbers if self.turning else numbers / unit.metres).tolist()
        if typed is None:
            texts = [_in_words(value, 1 if self.turning else decimals) for value in shown]
        else:
            texts = [text.replace("-", MINUS) or "0" for text in typed]
        parts = [f"{name} {text}" for name, text in zip(names, texts, strict=True)]
        if self.turning:
            return RigidMotion(np.zeros(3), self._turn(float(numbers[0])), pivot, f"{parts[0]}°")
        way = self.directions(typed=typed is not None) @ numbers
        return RigidMotion(way, IDENTITY, pivot, f"{'  '.join(parts)} {unit.name}")

    def _turn(self, degrees: float) -> Floats:
        angle = math.remainder(math.radians(degrees), 2.0 * math.pi)
        return IDENTITY if abs(angle) < _NO_TURN else from_axis_angle(self.directions()[:, 0], angle)


def _in_words(value: float, decimals: int) -> str:
    """A number with a typographic minus, and none before a zero."""
    text = f"{value:.{decimals}f}"
    return text.replace("-", "" if float(text) == 0.0 else MINUS)


@dataclass(frozen=True, slots=True, eq=False)
class RigidMotion:
    """A rotation about a pivot, then a translation, both since the start of the drag.

    Attributes:
        translation: (3,) metres in the world.
        rotation: (4,) unit quaternion in the world.
        pivot: (3,) metres in the world, the centre of the rotation.
        readout: the distance or angle in words: ``ΔZ 0.124 m``.
    """

    translation: Floats
    rotation: Floats
    pivot: Floats
    readout: str = ""

    def __post_init__(self) -> None:
        for name in ("translation", "rotation", "pivot"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def moves(self) -> bool:
        """Whether it translates anything."""
        return bool(self.translation.any())

    @property
    def turns(self) -> bool:
        """Whether it rotates anything."""
        return self.rotation is not IDENTITY and bool(self.rotation[:3].any())

    @overload
    def apply(self, position: ArrayLike, rotation: ArrayLike) -> tuple[Floats, Floats]: ...

    @overload
    def apply(self, position: ArrayLike, rotation: None) -> tuple[Floats, None]: ...

    def apply(self, position: ArrayLike, rotation: ArrayLike | None) -> tuple[Floats, Floats | None]:
        """Apply it to positions (..., 3) and rotations (..., 4), or None.

        Numbers that it does not change are returned bit for bit.
        """
        place = np.asarray(position, dtype=np.float64)
        if self.turns:
            place = self.pivot + rotate(self.rotation, place - self.pivot)
        if self.moves:
            place = place + self.translation
        if rotation is None:
            return place, None
        turned = np.asarray(rotation, dtype=np.float64)
        return place, multiply(self.rotation, turned) if self.turns else turned


class Path:
    """The pointer's path: the last position of each stretch at one speed."""

    def __init__(self, x: float, y: float) -> None:
        self.start = _within_reason(x, y) or (0.0, 0.0)
        self.legs: list[Leg] = []

    @property
    def end(self) -> tuple[float, float]:
        """The current pixel."""
        return self.legs[-1][:2] if self.legs else self.start

    def go(self, x: float, y: float, *, fine: bool) -> None:
        """Extend the path to a pixel; ignore one that is not finite."""
        x, y = _within_reason(x, y) or self.end
        if self.legs and self.legs[-1][2] == fine:
            self.legs.pop()
        self.legs.append((x, y, fine))


def _within_reason(x: float, y: float) -> tuple[float, float] | None:
    if not (math.isfinite(x) and math.isfinite(y)):
        return None
    return min(max(x, -_FARTHEST), _FARTHEST), min(max(y, -_FARTHEST), _FARTHEST)


class Track:
    """The distance or angle covered by a path, by one measure.

    Attributes:
        first: (k,) the measure's numbers where the amount was 0.
    """

    def __init__(self, measure: Measure, start: tuple[float, float], base: Floats | None = None) -> None:
        """Begin at a pixel; ``base`` (k,) was covered before."""
        self._measure = measure
        found = measure.at(*start)
        self._anchor = self._last = np.zeros(1) if found is None else found
        self._base = np.zeros(len(self._last)) if base is None else base
        self.first = self._anchor - self._base
        self._fine = False

    @property
    def amount(self) -> Floats:
        """(k,) metres or radians covered since the start."""
        whole = self._last - self._anchor
        return self._base + (FINE * whole if self._fine else whole)

    def go(self, x: float, y: float, *, fine: bool) -> None:
        """Continue to a pixel; one at which the measure is undefined is ignored."""
        with np.errstate(all="ignore"):
            found = self._measure.at(x, y)
        if found is None or not np.isfinite(found).all():
            return
        if self._measure.period:
            # Of all equivalent angles the one nearest to the last.
            found = found + self._measure.period * np.round((self._last - found) / self._measure.period)
        if fine != self._fine:
            self._base, self._anchor, self._fine = self.amount, self._last, fine
        self._last = found

    def follow(self, legs: Iterable[Leg]) -> None:
        """Follow a path."""
        for x, y, fine in legs:
            self.go(x, y, fine=fine)


# From the pointer to numbers. A measure gives, for each pixel, the distance along its directions from some origin; a
# drag takes differences. All are finite at every pixel, and continuous except for full turns of an angle.


class Measure:
    """The distance of a pixel along some directions."""

    __slots__ = ()
    period: ClassVar[float] = 0.0
    """The value after which the numbers repeat; 0: never."""

    def at(self, x: float, y: float) -> Floats | None:
        """(k,) metres or radians at a pixel; None where that is undefined."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True, eq=False)
class Straight(Measure):
    """(k,) by how much each number grows per pixel to the right and down: ``rate`` (k, 2), from ``centre`` (2,)."""

    centre: Floats
    rate: Floats

    def at(self, x: float, y: float) -> Floats:
        """(k,) metres or radians."""
        return self.rate @ (np.array([x, y]) - self.centre)


@dataclass(frozen=True, slots=True, eq=False)
class AlongAxis(Measure):
    """Metres along the axis to its point that is seen nearest to the pixel.

    With q the pixels along the axis's picture, such a point is at q / (rate - recede q): infinite at the vanishing
    point. It is limited short of that, and of the eye's plane.

    Attributes:
        centre: (2,) pixels of where the axis begins.
        along: (2,) the unit vector of its picture.
        rate: pixels per metre there.
        recede: by what part of itself the depth grows per metre.
    """

    centre: Floats
    along: Floats
    rate: float
    recede: float

    def at(self, x: float, y: float) -> Floats:
        """(1,) metres."""
        pixels = float((np.array([x, y]) - self.centre) @ self.along)
        metres = pixels / (self.rate * max(1.0 - self.recede * pixels / self.rate, 1.0 / FARTHEST))
        if 1.0 + self.recede * metres < NEAREST:
            metres = (NEAREST - 1.0) / self.recede
        return np.array([metres])


@dataclass(frozen=True, slots=True, eq=False)
class InPlane(Measure):
    """Metres along both axes (3, 2) of a plane to the point seen at a pixel; it is limited at the horizon."""

    projection: Projection
    position: Floats
    axes: Floats

    def at(self, x: float, y: float) -> Floats:
        """(2,) metres."""
        ray = self.projection.ray(x, y)
        normal = np.cross(self.axes[:, 0], self.axes[:, 1])
        slope, height = float(normal @ ray.direction), float(normal @ (self.position - ray.origin))
        if not self.projection.orthographic:
            farthest = FARTHEST * float(np.linalg.norm(self.position - ray.origin))
            distance = height / slope if slope * height > 0.0 and abs(height) < farthest * abs(slope) else farthest
        else:
            distance = height / slope if slope != 0.0 else 0.0
        return (ray.at(distance) - self.position) @ self.axes


@dataclass(frozen=True, slots=True, eq=False)
class Around(Measure):
    """Radians around a middle, in a plane that is seen at a slant.

    Attributes:
        centre: (2,) pixels of the middle.
        inverse: (2, 2) plane from pixels.
        blind: pixels around the middle in which the measure is undefined.
    """

    centre: Floats
    inverse: Floats
    blind: float
    period: ClassVar[float] = 2.0 * math.pi

    def at(self, x: float, y: float) -> Floats | None:
        """(1,) radians in -pi .. pi, counter-clockwise as seen from the axis's tip."""
        offset = np.array([x, y]) - self.centre
        if float(np.hypot(*offset)) < self.blind:
            return None
        across, up = self.inverse @ offset
        return np.array([math.atan2(up, across)])


def axis_measure(view: LinearView, axis: Floats) -> Measure:
    """Along one axis (3,); if it points at the eye, moving the pointer up moves away from the eye."""
    picture, recede = view.spread @ axis, float(view.recede @ axis)
    if view.foreshortening(axis) <= AXIS_FADE[0]:
        up = np.array([0.0, -1.0])
        return AlongAxis(view.centre, up if float(axis @ view.sight) >= 0.0 else -up, 1.0 / view.metre, recede)
    return AlongAxis(view.centre, unit(picture), float(np.linalg.norm(picture)), recede)


def plane_measure(projection: Projection, view: LinearView, position: Floats, axes: Floats) -> Measure:
    """Along both axes (3, 2) of a plane; in a plane seen edge-on, only motion across the view is possible."""
    normal = np.cross(axes[:, 0], axes[:, 1])
    if view.facing(normal) > PLANE_FADE[0]:
        return InPlane(projection, position, axes)
    return Straight(view.centre, axes.T @ _across(projection, view))


def screen_measure(projection: Projection, view: LinearView) -> Measure:
    """Right and up, in the plane that faces the eye."""
    directions = np.stack([projection.right, projection.up])
    return Straight(view.centre, directions @ _across(projection, view))


def ring_measure(view: LinearView, axis: Floats, x: float, y: float) -> Measure:
    """Radians about an axis (3,), for a drag that begins at a pixel."""
    near, side = ring_frame(axis, view)
    picture = view.pixels(np.stack([near, side]))
    # The plane's point under a pixel is accurate if the ring is not seen edge-on and the pixel is off its middle.
    if view.facing(axis) >= _SQUARE_ENOUGH:
        around = Around(view.centre, np.asarray(np.linalg.inv(picture.T), dtype=np.float64), _BLIND)
        if around.at(x, y) is not None:
            return around
    return Straight(view.centre, unit(picture[1:]) / RING)


def view_ring_measure(view: LinearView, x: float, y: float) -> Measure:
    """Radians around the middle as one sees it, counter-clockwise, for a drag that begins at a pixel."""
    around = Around(view.centre, np.diag([1.0, -1.0]), _BLIND)
    return around if around.at(x, y) is not None else Straight(view.centre, np.array([[1.0, 0.0]]) / VIEW_RING)


def _across(projection: Projection, view: LinearView) -> Floats:
    """(3, 2) metres in the world, in the plane that faces the eye, per pixel to the right and down."""
    right, up = float(view.spread[0] @ projection.right), float(view.spread[1] @ projection.up)
    return np.stack([projection.right / right, projection.up / up], axis=1)
