"""The projection of a camera: from the world to pixels and back; near one point, as a linear map."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Bools, Floats, frozen
from viewer.spatial.rays import Ray


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """The projection of a camera onto a rectangle of pixels.

    Pixels count from the rectangle's top left corner, x to the right and y down; a pixel's centre is at .5.

    Attributes:
        view: (4, 4) view_from_world, column vectors, metres; the eye looks along -z, y is up.
        lens: (4, 4) clip_from_view, as in OpenGL.
        size: (width, height) of the rectangle in pixels.
    """

    view: Floats
    lens: Floats
    size: tuple[int, int]

    def __post_init__(self) -> None:
        """Take read-only arrays."""
        object.__setattr__(self, "view", frozen(self.view))
        object.__setattr__(self, "lens", frozen(self.lens))

    @property
    def orthographic(self) -> bool:
        """Whether size on screen does not depend on distance."""
        return bool(self.lens[3, 3] == 1.0)

    @property
    def right(self) -> Floats:
        """(3,) unit vector in the world that points to the right on the screen."""
        return self.view[0, :3]

    @property
    def up(self) -> Floats:
        """(3,) unit vector in the world that points up on the screen."""
        return self.view[1, :3]

    @property
    def back(self) -> Floats:
        """(3,) unit vector in the world that points out of the screen, towards the viewer."""
        return self.view[2, :3]

    @property
    def eye(self) -> Floats:
        """(3,) position of the camera; for an orthographic one the origin of its depths."""
        return -self.view[:3, :3].T @ self.view[:3, 3]

    def depth(self, points: ArrayLike) -> Floats:
        """Metres (...) that points (..., 3) lie in front of the eye, along its direction; negative behind it."""
        place = np.asarray(points, dtype=np.float64)
        return np.asarray(-(place @ self.view[2, :3]) - self.view[2, 3])

    def project(self, points: ArrayLike) -> Floats:
        """Pixels (..., 2) of points (..., 3); NaN for points beside or behind a perspective eye."""
        place = np.asarray(points, dtype=np.float64)
        clip = (place @ self.view[:3, :3].T + self.view[:3, 3]) @ self.lens[:, :3].T + self.lens[:, 3]
        w = clip[..., 3:]
        with np.errstate(divide="ignore", invalid="ignore"):
            across = np.where(w > 0.0, clip[..., :2] / w, np.nan)
        return (across * (0.5, -0.5) + 0.5) * self.size

    def inside(self, pixels: ArrayLike, margin: float = 0.0) -> Bools:
        """Whether pixels (..., 2) are on the rectangle, or within ``margin`` pixels of it."""
        place = np.asarray(pixels, dtype=np.float64)
        with np.errstate(invalid="ignore"):
            return np.asarray(((place >= -margin) & (place <= np.asarray(self.size) + margin)).all(axis=-1))

    def ray(self, x: float, y: float) -> Ray:
        """The ray through a pixel, which starts in the eye's plane."""
        across = np.array([2.0 * x / self.size[0] - 1.0, 1.0 - 2.0 * y / self.size[1]])
        lens = self.lens
        turned = self.view[:3, :3].T
        if self.orthographic:
            offset = (across - lens[:2, 3]) / (lens[0, 0], lens[1, 1])
            return Ray(self.eye + turned @ np.array([*offset, 0.0]), -self.back)
        slope = (across + lens[:2, 2]) / (lens[0, 0], lens[1, 1])
        return Ray(self.eye, turned @ np.array([*slope, -1.0]))

    def pixels_per_metre(self, points: ArrayLike) -> Floats:
        """Pixels (...) per metre across the view at points (..., 3); 0 behind a perspective eye."""
        scale = 0.5 * self.lens[1, 1] * self.size[1]
        depth = self.depth(points)
        if self.orthographic:
            return np.full(depth.shape, scale)
        with np.errstate(divide="ignore"):
            return np.where(depth > 0.0, scale / depth, 0.0)

    def under(self, x: float, y: float, point: ArrayLike) -> Floats:
        """The point (3,) on a pixel's line in the plane through ``point`` (3,) parallel to the screen."""
        ray = self.ray(x, y)
        # By depth, not as a ray hit: an orthographic view also shows points behind its eye's plane.
        return ray.at(self.depth(point) / -(ray.direction @ self.back))


def same_view(a: Projection, b: Projection) -> bool:
    """Whether two projections are equal, bit for bit."""
    return a is b or (a.size == b.size and np.array_equal(a.view, b.view) and np.array_equal(a.lens, b.lens))


@dataclass(frozen=True, slots=True, eq=False)
class LinearView:
    """How pixels change with places around a point; a distant telephoto lens would see just this.

    It keeps handles of one size and free of perspective.

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


def linear_view(projection: Projection, position: ArrayLike) -> LinearView | None:
    """The view near a position (3,); None beside or behind the eye, or beyond the range of numbers."""
    # In Python's numbers: for one point numpy would take several times as long.
    (x, y, z), lens = np.asarray(position, dtype=np.float64).tolist(), _lens_of(projection)
    wide, high, away = lens.clip
    w = away[0] * x + away[1] * y + away[2] * z + away[3]
    if not w > 0.0:
        return None
    right = (wide[0] * x + wide[1] * y + wide[2] * z + wide[3]) / w
    top = (high[0] * x + high[1] * y + high[2] * z + high[3]) / w
    half_wide, half_high = 0.5 * projection.size[0] / w, -0.5 * projection.size[1] / w
    if lens.eye is None:
        depth, (ahead_x, ahead_y, ahead_z) = 1.0, lens.ahead
    else:
        depth = lens.ahead[0] * x + lens.ahead[1] * y + lens.ahead[2] * z - lens.behind
        ahead_x, ahead_y, ahead_z = x - lens.eye[0], y - lens.eye[1], z - lens.eye[2]
    metre, length = depth / lens.tall, math.hypot(ahead_x, ahead_y, ahead_z)
    if not (0.0 < metre < math.inf and 0.0 < length < math.inf):
        return None
    numbers = [
        (0.5 * right + 0.5) * projection.size[0], (0.5 - 0.5 * top) * projection.size[1],
        half_wide * (wide[0] - right * away[0]), half_wide * (wide[1] - right * away[1]),
        half_wide * (wide[2] - right * away[2]),
        half_high * (high[0] - top * away[0]), half_high * (high[1] - top * away[1]),
        half_high * (high[2] - top * away[2]),
        away[0] / w, away[1] / w, away[2] / w,
        ahead_x / length, ahead_y / length, ahead_z / length,
    ]  # fmt: skip
    if not math.isfinite(sum(numbers)):  # which it is not if any of them is not
        return None
    made = np.array(numbers)
    return LinearView(made[:2], made[2:8].reshape(2, 3), metre, made[8:11], made[11:])


class _Lens(NamedTuple):
    """What does not depend on the point.

    Attributes:
        clip: rows 0, 1 and 3 of clip_from_world.
        tall: pixels of a metre that is one metre before the eye, or anywhere if orthographic.
        ahead: unit vector of the camera's direction.
        behind: metres of the world's origin behind the eye.
        eye: its position; None if orthographic.
    """

    clip: list[list[float]]
    tall: float
    ahead: list[float]
    behind: float
    eye: list[float] | None


@lru_cache(maxsize=8)
def _lens_of(projection: Projection) -> _Lens:
    return _Lens(
        clip=(projection.lens @ projection.view)[[0, 1, 3]].tolist(),
        tall=0.5 * float(projection.lens[1, 1]) * projection.size[1],
        ahead=(-projection.back).tolist(),
        behind=float(projection.view[2, 3]),
        eye=None if projection.orthographic else projection.eye.tolist(),
    )
