"""Rays, and the projection of a camera: from the world to pixels and back; near one point, as a linear map.

Rays are hit-tested against points, lines, planes, spheres, capsules and triangles: one ray, any number of shapes.
Distances along a ray are in units of its unit direction; where a ray misses, the distance is infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.spatial.checks import Bools, Floats, finite_floats, frozen
from viewer.spatial.quaternion import dot

_PARALLEL = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class Ray:
    """A half-line.

    Attributes:
        origin: (3,) its start.
        direction: (3,) unit vector; any length is taken and normalised.
    """

    origin: Floats
    direction: Floats

    def __post_init__(self) -> None:
        direction = finite_floats(self.direction, (3,), "ray direction")
        largest = np.abs(direction).max()
        if largest == 0.0:
            raise InputError("ray direction: expected a length above 0")
        # Dividing by the largest component first keeps the squares within float range.
        direction = direction / largest
        object.__setattr__(self, "origin", frozen(finite_floats(self.origin, (3,), "ray origin")))
        object.__setattr__(self, "direction", frozen(direction / np.linalg.norm(direction)))

    def at(self, distance: ArrayLike) -> Floats:
        """Points (..., 3) at ``distance`` (...) along the ray."""
        return self.origin + np.asarray(distance, dtype=np.float64)[..., None] * self.direction


def distance_to_points(ray: Ray, points: ArrayLike) -> tuple[Floats, Floats]:
    """Nearest approach to points (..., 3): how far from each, and where along the ray (never behind it)."""
    relative = np.asarray(points, dtype=np.float64) - ray.origin
    along = np.maximum(relative @ ray.direction, 0.0)
    return np.linalg.norm(relative - along[..., None] * ray.direction, axis=-1), along


def hit_sphere(ray: Ray, centre: ArrayLike, radius: ArrayLike) -> Floats:
    """Distance along the ray to spheres (centres (..., 3), radii (...)); 0 from inside, inf where it misses."""
    relative = ray.origin - np.asarray(centre, dtype=np.float64)
    along = relative @ ray.direction
    # The offset from the axis instead of |relative|^2 - along^2, which loses precision far from the sphere.
    aside = relative - along[..., None] * ray.direction
    inside_root = np.asarray(radius) ** 2 - dot(aside, aside)
    root = np.sqrt(np.maximum(inside_root, 0.0))
    far = root - along
    return np.where((inside_root >= 0.0) & (far >= 0.0), np.maximum(-along - root, 0.0), np.inf)


def closest_on_line(ray: Ray, point: ArrayLike, direction: ArrayLike) -> Floats:
    """Parameter (...) along lines point + s * direction of the place nearest to the ray's line.

    A line parallel to the ray has no nearest place: its parameter is that of the point nearest to the ray's origin.
    """
    point, direction = np.asarray(point, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    between = ray.origin - point
    length2 = dot(direction, direction)
    cosine = direction @ ray.direction
    determinant = length2 - cosine**2
    parallel = determinant <= _PARALLEL * length2
    along = dot(direction, between)
    crossing = (along - cosine * (between @ ray.direction)) / np.where(parallel, 1.0, determinant)
    return np.asarray(np.where(parallel, along / np.where(length2 > 0.0, length2, 1.0), crossing))


def hit_capsules(ray: Ray, start: ArrayLike, end: ArrayLike, radius: ArrayLike) -> Floats:
    """Distance along the ray to its nearest approach to segments (..., 3), inf where farther than ``radius`` (...).

    For picking: a bone is hit if the ray passes its axis within a radius, however thin the bone is on the screen.
    """
    start, end = np.asarray(start, dtype=np.float64), np.asarray(end, dtype=np.float64)
    direction = end - start
    part = np.clip(closest_on_line(ray, start, direction), 0.0, 1.0)
    # If that point is behind the ray, the ray's origin is nearest.
    behind = (start + part[..., None] * direction - ray.origin) @ ray.direction < 0.0
    length2 = dot(direction, direction)
    to_origin = dot(direction, ray.origin - start) / np.where(length2 > 0.0, length2, 1.0)
    part = np.where(behind, np.clip(to_origin, 0.0, 1.0), part)
    miss, along = distance_to_points(ray, start + part[..., None] * direction)
    return np.where(miss <= np.asarray(radius, dtype=np.float64), along, np.inf)


def hit_triangles(ray: Ray, corners: ArrayLike) -> Floats:
    """Distance along the ray to triangles (..., 3, 3) by corner, from either side; inf where it misses.

    T. Möller and B. Trumbore, "Fast, minimum storage ray-triangle intersection", Journal of Graphics Tools 2, 1997.
    """
    corners = np.asarray(corners, dtype=np.float64)
    start, first, second = corners[..., 0, :], corners[..., 1, :], corners[..., 2, :]
    first, second = first - start, second - start
    across = np.cross(ray.direction, second)
    determinant = dot(first, across)
    flat = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    crosses = np.abs(determinant) > _PARALLEL * flat
    scale = 1.0 / np.where(crosses, determinant, 1.0)
    offset = ray.origin - start
    u = dot(offset, across) * scale
    turned = np.cross(offset, first)
    v = turned @ ray.direction * scale
    along = dot(second, turned) * scale
    inside = crosses & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (along >= 0.0)
    return np.where(inside, along, np.inf)


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


def pixels_away(places: Floats, at: ArrayLike) -> Floats:
    """(N,) the distances of places (N, 2) on the screen from one; infinite of those that are not finite."""
    away = np.linalg.norm(places - np.asarray(at), axis=1)
    return np.where(np.isfinite(away), away, np.inf)
