"""From the pointer to numbers: metres along axes, or radians about one.

A measure gives, for each pixel, the distance along its directions from some origin; a drag takes differences.
All of them are finite at every pixel, and continuous except for full turns of an angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Final, Protocol

import numpy as np

from viewer.gizmo.gizmo import AXIS_FADE, PLANE_FADE, RING, VIEW_RING, ring_frame, unit
from viewer.gizmo.linear_view import LinearView
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

FARTHEST: Final = 20.0
"""Multiple of its first distance from the eye up to which a thing follows the pointer exactly; then it slows down."""

NEAREST: Final = 0.05
"""Smallest part of its first distance from the eye to which a thing can be dragged towards the eye."""

_SQUARE_ENOUGH: Final = 0.3
"""Facing from which a ring is turned around its middle; flatter ones are pulled along their tangent."""

_BLIND: Final = 4.0
"""Pixels around a ring's middle in which the angle is undefined."""


class Measure(Protocol):
    """The distance of a pixel along some directions."""

    period: ClassVar[float]
    """The value after which the numbers repeat; 0: never."""

    def at(self, x: float, y: float) -> Floats | None:
        """(k,) metres or radians at a pixel; None where that is undefined."""


@dataclass(frozen=True, slots=True, eq=False)
class Still:
    """Zeros: what is not visible is not moved."""

    count: int
    period: ClassVar[float] = 0.0

    def at(self, x: float, y: float) -> Floats:
        """(k,) zeros."""
        del x, y
        return np.zeros(self.count)


@dataclass(frozen=True, slots=True, eq=False)
class Straight:
    """(k,) by how much each number grows per pixel to the right and down: ``rate`` (k, 2), from ``centre`` (2,)."""

    centre: Floats
    rate: Floats
    period: ClassVar[float] = 0.0

    def at(self, x: float, y: float) -> Floats:
        """(k,) metres or radians."""
        return self.rate @ (np.array([x, y]) - self.centre)


@dataclass(frozen=True, slots=True, eq=False)
class AlongAxis:
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
    period: ClassVar[float] = 0.0

    def at(self, x: float, y: float) -> Floats:
        """(1,) metres."""
        pixels = float((np.array([x, y]) - self.centre) @ self.along)
        metres = pixels / (self.rate * max(1.0 - self.recede * pixels / self.rate, 1.0 / FARTHEST))
        if 1.0 + self.recede * metres < NEAREST:
            metres = (NEAREST - 1.0) / self.recede
        return np.array([metres])


@dataclass(frozen=True, slots=True, eq=False)
class InPlane:
    """Metres along both axes (3, 2) of a plane to the point seen at a pixel; it is limited at the horizon."""

    projection: Projection
    position: Floats
    axes: Floats
    period: ClassVar[float] = 0.0

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
class Around:
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


def axis_measure(view: LinearView | None, axis: Floats) -> Measure:
    """Along one axis (3,); if it points at the eye, moving the pointer up moves away from the eye."""
    if view is None:
        return Still(1)
    picture, recede = view.spread @ axis, float(view.recede @ axis)
    if view.foreshortening(axis) <= AXIS_FADE[0]:
        up = np.array([0.0, -1.0])
        return AlongAxis(view.centre, up if float(axis @ view.sight) >= 0.0 else -up, 1.0 / view.metre, recede)
    return AlongAxis(view.centre, unit(picture), float(np.linalg.norm(picture)), recede)


def plane_measure(projection: Projection, view: LinearView | None, position: Floats, axes: Floats) -> Measure:
    """Along both axes (3, 2) of a plane; in one seen edge-on only what is across the view can be moved."""
    normal = np.cross(axes[:, 0], axes[:, 1])
    if view is None:
        return Still(2)
    if view.facing(normal) > PLANE_FADE[0]:
        return InPlane(projection, position, axes)
    return Straight(view.centre, axes.T @ _across(projection, view))


def screen_measure(projection: Projection, view: LinearView | None) -> Measure:
    """Right and up, in the plane that faces the eye."""
    if view is None:
        return Still(2)
    directions = np.stack([projection.right, projection.up])
    return Straight(view.centre, directions @ _across(projection, view))


def ring_measure(view: LinearView | None, axis: Floats, x: float, y: float, scale: float = 1.0) -> Measure:
    """Radians about an axis (3,), for a drag that begins at a pixel."""
    if view is None:
        return Still(1)
    near, side = ring_frame(axis, view)
    picture = view.pixels(np.stack([near, side]))
    # The plane's point under a pixel is accurate if the ring is not seen edge-on and the pixel is off its middle.
    if view.facing(axis) >= _SQUARE_ENOUGH:
        around = Around(view.centre, np.asarray(np.linalg.inv(picture.T), dtype=np.float64), _BLIND * scale)
        if around.at(x, y) is not None:
            return around
    return Straight(view.centre, unit(picture[1:]) / (RING * scale))


def view_ring_measure(view: LinearView | None, x: float, y: float, scale: float = 1.0) -> Measure:
    """Radians around the middle as one sees it, counter-clockwise, for a drag that begins at a pixel."""
    if view is None:
        return Still(1)
    around = Around(view.centre, np.diag([1.0, -1.0]), _BLIND * scale)
    return (
        around if around.at(x, y) is not None else Straight(view.centre, np.array([[1.0, 0.0]]) / (VIEW_RING * scale))
    )


def _across(projection: Projection, view: LinearView) -> Floats:
    """(3, 2) metres in the world, in the plane that faces the eye, per pixel to the right and down."""
    right, up = float(view.spread[0] @ projection.right), float(view.spread[1] @ projection.up)
    return np.stack([projection.right / right, projection.up / up], axis=1)
