"""Rays against points, lines, planes, spheres, capsules and triangles, for picking and dragging.

All functions are batched over the targets: one ray, any number of shapes. Distances along a ray are in units of its
unit direction; where a ray misses, the distance is infinity.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.spatial.checks import Floats, finite_floats, frozen

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
        """Normalise the direction; refuse one without length."""
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
    inside_root = np.asarray(radius) ** 2 - np.einsum("...i,...i->...", aside, aside)
    root = np.sqrt(np.maximum(inside_root, 0.0))
    far = root - along
    return np.where((inside_root >= 0.0) & (far >= 0.0), np.maximum(-along - root, 0.0), np.inf)


def closest_on_line(ray: Ray, point: ArrayLike, direction: ArrayLike) -> Floats:
    """Parameter (...) along lines point + s * direction of the place nearest to the ray's line.

    A line parallel to the ray has no nearest place: its parameter is that of the point nearest to the ray's origin.
    """
    point, direction = np.asarray(point, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    between = ray.origin - point
    length2 = np.einsum("...i,...i->...", direction, direction)
    cosine = direction @ ray.direction
    determinant = length2 - cosine**2
    parallel = determinant <= _PARALLEL * length2
    along = np.einsum("...i,...i->...", direction, between)
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
    length2 = np.einsum("...i,...i->...", direction, direction)
    to_origin = np.einsum("...i,...i->...", direction, ray.origin - start) / np.where(length2 > 0.0, length2, 1.0)
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
    determinant = np.einsum("...i,...i->...", first, across)
    flat = np.linalg.norm(first, axis=-1) * np.linalg.norm(second, axis=-1)
    crosses = np.abs(determinant) > _PARALLEL * flat
    scale = 1.0 / np.where(crosses, determinant, 1.0)
    offset = ray.origin - start
    u = np.einsum("...i,...i->...", offset, across) * scale
    turned = np.cross(offset, first)
    v = turned @ ray.direction * scale
    along = np.einsum("...i,...i->...", second, turned) * scale
    inside = crosses & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (along >= 0.0)
    return np.where(inside, along, np.inf)
