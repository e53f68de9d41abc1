"""The view near one point as a linear map: what keeps handles of one size and free of perspective."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

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
    """Whether two projections are equal, bit for bit."""
    return a is b or (a.size == b.size and np.array_equal(a.view, b.view) and np.array_equal(a.lens, b.lens))


def linear_view(projection: Projection, position: ArrayLike) -> LinearView | None:
    """The view near a position (3,); None beside or behind the eye, or beyond the range of numbers."""
    place, lens = np.asarray(position, dtype=np.float64), _lens_of(projection)
    with np.errstate(all="ignore"):
        clip = lens.clip[:, :3] @ place + lens.clip[:, 3]
        w = float(clip[3])
        if not w > 0.0:
            return None
        across = clip[:2] / w
        spread = lens.half * (lens.clip[:2, :3] - across[:, None] * lens.clip[3, :3]) / w
        if lens.eye is None:
            depth, eye_to = 1.0, -projection.back
        else:
            depth, eye_to = float(-(place @ projection.view[2, :3]) - projection.view[2, 3]), place - lens.eye
        sight = eye_to / np.abs(eye_to).max()
        sight = sight / math.hypot(*sight.tolist())
        metre = depth / lens.tall
        found = LinearView((across * (0.5, -0.5) + 0.5) * projection.size, spread, metre, lens.clip[3, :3] / w, sight)
        # Not finite if any of them is not.
        total = float(found.centre.sum() + spread.sum() + found.recede.sum() + sight.sum())
    return found if 0.0 < metre < math.inf and math.isfinite(total) else None


class _Lens(NamedTuple):
    """What does not depend on the point.

    Attributes:
        clip: (4, 4) clip_from_world.
        half: (2, 1) pixels from the middle of the view to its right and its top.
        tall: pixels of a metre that is one metre before the eye, or anywhere if orthographic.
        eye: (3,) its position; None if orthographic.
    """

    clip: Floats
    half: Floats
    tall: float
    eye: Floats | None


@lru_cache(maxsize=8)
def _lens_of(projection: Projection) -> _Lens:
    width, height = projection.size
    half = 0.5 * np.array([[width], [-height]])
    tall = 0.5 * float(projection.lens[1, 1]) * height
    return _Lens(projection.lens @ projection.view, half, tall, None if projection.orthographic else projection.eye)
