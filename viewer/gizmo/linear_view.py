"""The view near one point as a linear map: what keeps handles of one size and free of perspective."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection


@dataclass(frozen=True, slots=True, eq=False)
class LinearView:
    """How pixels change with places around a point; a distant telephoto lens would see just this.

    Attributes:
        centre: (2,) pixels of the point.
        spread: (2, 3) pixels per metre of the world.
        metre: metres of the world that a pixel is, across the view.
        recede: (3,) by what part of itself the point's depth grows per metre of the world; 0 if orthographic.
        sight: (3,) unit vector in the world from the eye to the point.
    """

    centre: Floats
    spread: Floats
    metre: float
    recede: Floats
    sight: Floats

    def pixels(self, directions: ArrayLike) -> Floats:
        """Pixels (..., 2) from the centre that directions (..., 3) appear, drawn one pixel long per unit."""
        return np.asarray(directions, dtype=np.float64) @ (self.spread.T * self.metre)

    def foreshortening(self, direction: Floats) -> float:
        """How long a unit vector (3,) looks: 1 across the line of sight, 0 along it."""
        return float(np.linalg.norm(direction - (direction @ self.sight) * self.sight))

    def facing(self, normal: Floats) -> float:
        """How squarely a plane with a unit normal (3,) is seen: 1 face-on, 0 edge-on."""
        return abs(float(normal @ self.sight))


def same_view(a: Projection, b: Projection) -> bool:
    """Whether two projections see the same, to the bit."""
    return a is b or (a.size == b.size and np.array_equal(a.view, b.view) and np.array_equal(a.lens, b.lens))


def linear_view(projection: Projection, position: ArrayLike) -> LinearView | None:
    """The view near a position (3,); None where there is none: beside or behind the eye, or beyond all numbers."""
    place = np.asarray(position, dtype=np.float64)
    with np.errstate(all="ignore"):
        in_view = projection.view[:3, :3] @ place + projection.view[:3, 3]
        clip = projection.lens[:, :3] @ in_view + projection.lens[:, 3]
        turned = projection.lens[:, :3] @ projection.view[:3, :3]
        across, w = clip[:2] / clip[3], clip[3]
        half = np.multiply(projection.size, (0.5, -0.5))
        spread = half[:, None] * (turned[:2] - across[:, None] * turned[3]) / w
        per_metre = projection.pixels_per_metre(place)
        eye_to = -projection.back if projection.orthographic else (place - projection.eye)
        eye_to = eye_to / np.abs(eye_to).max()
        sight = eye_to / np.linalg.norm(eye_to)
        found = LinearView(projection.project(place), spread, float(1.0 / per_metre), turned[3] / w, sight)
        numbers = np.concatenate([found.centre, spread.ravel(), [found.metre], found.recede, sight])
    return found if w > 0.0 and found.metre > 0.0 and np.isfinite(numbers).all() else None
