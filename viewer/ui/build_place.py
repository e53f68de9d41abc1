"""Where a click of the workspace Build is: the plane drawn on, snapping, typed numbers, and what is under it."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal, NamedTuple

import numpy as np

from viewer.gizmo import TypedNumbers
from viewer.skeleton import Skeleton
from viewer.skeleton.building import rest_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import from_axis_angle, rotate

_JOINT_PX, _BONE_PX, _MIDDLE_PX = 10.0, 7.0, 8.0
"""Logical pixels from a joint, from a bone and from the mirror plane within which it is meant."""
_EDGE_ON = 0.08
"""Sine of the angle between the view and a plane below which the plane is too thin to be drawn on."""
_AXIS_ALIGNED = 1.0 - 1e-9


class Plane(StrEnum):
    """The plane through the active joint on which the next joint is placed."""

    VIEW = "view"
    FRONT = "front"
    SIDE = "side"
    FLOOR = "floor"


_NORMALS = {Plane.FRONT: (0.0, 0.0, 1.0), Plane.SIDE: (1.0, 0.0, 0.0), Plane.FLOOR: (0.0, 1.0, 0.0)}


class Picked(NamedTuple):
    """What is under the pointer.

    Attributes:
        kind: "joint", or "bone" that ends at the joint.
        joint: its name.
        point: (3,) on it, world at rest.
        part: of the bone at which the point is.
    """

    kind: Literal["joint", "bone"]
    joint: str
    point: Floats
    part: float = 1.0


def normal_of(plane: Plane, projection: Projection) -> Floats:
    """(3,) unit normal of a plane."""
    return np.array(_NORMALS[plane]) if plane in _NORMALS else projection.back


def on_plane(projection: Projection, at: tuple[float, float], through: Floats, normal: Floats) -> Floats:
    """The point (3,) under a pixel in a plane; in the one that faces the view if that plane is seen edge-on."""
    ray = projection.ray(*at)
    steep = float(ray.direction @ normal)
    if abs(steep) >= _EDGE_ON:
        along = float((through - ray.origin) @ normal) / steep
        if along > 0.0 or projection.orthographic:
            return ray.at(along)
    return projection.under(*at, through)


def pick(skeleton: Skeleton, projection: Projection, at: tuple[float, float], scale: float) -> Picked | None:
    """The joint at a pixel of the view, else the bone there, else None; of several the nearest to the pixel."""
    places = rest_of(skeleton).positions
    pixels = projection.project(places)
    away = np.linalg.norm(pixels - at, axis=1)
    away = np.where(np.isfinite(away), away, np.inf)
    joint = int(np.argmin(away))
    if away[joint] <= _JOINT_PX * scale:
        return Picked("joint", skeleton.names[joint], places[joint])
    inner = np.flatnonzero(skeleton.parents >= 0)
    if not inner.size:
        return None
    starts, ends = pixels[skeleton.parents[inner]], pixels[inner]
    way = ends - starts
    length = np.maximum(np.einsum("bi,bi->b", way, way), 1e-9)
    part = np.clip(np.einsum("bi,bi->b", np.array(at) - starts, way) / length, 0.0, 1.0)
    aside = np.linalg.norm(starts + part[:, None] * way - at, axis=1)
    aside = np.where(np.isfinite(aside), aside, np.inf)
    bone = int(np.argmin(aside))
    if aside[bone] > _BONE_PX * scale:
        return None
    child = int(inner[bone])
    parent, along = int(skeleton.parents[child]), _along(projection, at, places[skeleton.parents[child]], places[child])
    point = places[parent] + along * (places[child] - places[parent])
    return Picked("bone", skeleton.names[child], point, along)


def _along(projection: Projection, at: tuple[float, float], start: Floats, end: Floats) -> float:
    """Part of a segment at which it is nearest to a pixel's ray, clear of its ends."""
    ray, way = projection.ray(*at), end - start
    across = way - (way @ ray.direction) * ray.direction
    off = start - ray.origin
    off = off - (off @ ray.direction) * ray.direction
    part = -float(off @ across) / max(float(across @ across), 1e-12)
    return float(np.clip(part, 0.05, 0.95))


def snapped(point: Floats, origin: Floats | None, normal: Floats, step: float) -> Floats:
    """A point on the grid of a plane along the world's axes; of another plane the length from the origin is rounded."""
    if origin is None or np.abs(normal).max() >= _AXIS_ALIGNED:
        rounded = np.round(point / step) * step
        keep = np.abs(normal) >= _AXIS_ALIGNED
        return np.where(keep, point, rounded)
    way = point - origin
    length = float(np.linalg.norm(way))
    rounded_length = round(length / step) * step
    return origin + way * (rounded_length / length) if length > 0.0 and rounded_length > 0.0 else point


def near_middle(projection: Projection, point: Floats, scale: float) -> bool:
    """Whether a point is so near to the mirror plane on the screen that it is meant to be on it."""
    pixels = projection.project(np.stack([point, point * (0.0, 1.0, 1.0)]))
    return bool(np.linalg.norm(pixels[0] - pixels[1]) <= _MIDDLE_PX * scale)


def bend_degrees(before: Floats | None, way: Floats, normal: Floats) -> float:
    """Degrees from the direction of the bone before to that of a new one, about a plane's normal; -180 to 180."""
    start = _reference(before, normal)
    flat = way - (way @ normal) * normal
    return float(np.degrees(np.arctan2(np.cross(start, flat) @ normal, start @ flat)))


def _reference(before: Floats | None, normal: Floats) -> Floats:
    """(3,) direction in a plane from which angles are measured: of the bone before, else to the right."""
    if before is not None:
        flat = before - (before @ normal) * normal
        if np.linalg.norm(flat) > 1e-6 * max(float(np.linalg.norm(before)), 1e-9):
            return flat / np.linalg.norm(flat)
    right = np.cross((0.0, 1.0, 0.0), normal)
    return right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-6 else np.array([1.0, 0.0, 0.0])


def typed_point(
    typed: TypedNumbers, origin: Floats, point: Floats, before: Floats | None, normal: Floats, unit: float
) -> Floats:
    """The point with a typed length, in ``unit`` metres, and a typed angle to the bone before, degrees."""
    length_text, angle_text = typed.texts
    way = point - origin
    length = float(np.linalg.norm(way))
    way = way / length if length > 1e-12 else _reference(before, normal)
    if any(letter.isdigit() for letter in angle_text):
        way = rotate(from_axis_angle(normal, np.radians(typed.values[1])), _reference(before, normal))
    if any(letter.isdigit() for letter in length_text):
        length = typed.values[0] * unit
    return np.asarray(origin + length * way)
