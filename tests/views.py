"""Views for tests: matrices made here, as OpenGL has them, independently of the camera's; and places in them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from hypothesis import strategies as st
from inside.spatial import Projection, to_matrix
from strategies import random_quaternions, seeds

if TYPE_CHECKING:
    from inside.spatial import Floats

SIZE = (756, 514)
FOV_Y = math.radians(35.0)


def view_matrix(eye: Floats, rotation: Floats) -> Floats:
    """(4, 4) of an eye whose right, up and back are the columns of a rotation (3, 3)."""
    view = np.eye(4)
    view[:3, :3], view[:3, 3] = rotation.T, -rotation.T @ eye
    return view


def perspective(size: tuple[int, int] = SIZE, fov_y: float = FOV_Y, shift: tuple[float, float] = (0.0, 0.0)) -> Floats:
    """(4, 4) lens; ``shift`` moves the picture off its centre, in halves of it."""
    focal = 1.0 / math.tan(0.5 * fov_y)
    return np.array(
        [
            [focal * size[1] / size[0], 0.0, -shift[0], 0.0],
            [0.0, focal, -shift[1], 0.0],
            [0.0, 0.0, -1.0002, -0.020002],
            [0.0, 0.0, -1.0, 0.0],
        ]
    )


def flat(height: float, size: tuple[int, int] = SIZE, shift: tuple[float, float] = (0.0, 0.0)) -> Floats:
    """(4, 4) orthographic lens that sees so many metres from bottom to top."""
    high = 2.0 / height
    return np.array(
        [
            [high * size[1] / size[0], 0.0, 0.0, shift[0]],
            [0.0, high, 0.0, shift[1]],
            [0.0, 0.0, -0.01, -1.0],
            [0.0, 0.0, 0.0, 1.0],
        ]
    )


def turned_to(yaw: float, pitch: float) -> Floats:
    """(3, 3) whose columns are right, up and back of an eye, by degrees off looking along -z."""
    y, p = math.radians(yaw), math.radians(pitch)
    back = np.array([math.sin(y) * math.cos(p), math.sin(p), math.cos(y) * math.cos(p)])
    right = np.array([math.cos(y), 0.0, -math.sin(y)])
    return np.stack([right, np.cross(back, right), back], axis=1)


def looking(yaw: float = 0.0, pitch: float = 0.0, distance: float = 3.0, *, orthographic: bool = False) -> Projection:
    """A view of the origin in its middle."""
    rotation = turned_to(yaw, pitch)
    lens = flat(2.0 * distance * math.tan(0.5 * FOV_Y)) if orthographic else perspective()
    return Projection(view_matrix(distance * rotation[:, 2], rotation), lens, SIZE)


def pixel_of(projection: Projection, point: Floats) -> tuple[float, float]:
    """Where a point (3,) is seen."""
    x, y = projection.project(point).tolist()
    return x, y


class Place(NamedTuple):
    """A view, and a point that it shows."""

    projection: Projection
    point: Floats
    unit: float
    """Metres that the world is large."""


def random_place(seed: int, unit: float, *, orthographic: bool) -> Place:
    """Any direction, lens and picture, and a point on the picture."""
    random = np.random.default_rng(seed)
    rotation = to_matrix(random_quaternions(random))
    size = (int(random.integers(300, 2000)), int(random.integers(300, 2000)))
    shift = (
        (0.0, 0.0) if random.random() < 0.5 else (float(random.uniform(-0.5, 0.5)), float(random.uniform(-0.5, 0.5)))
    )
    eye = unit * random.normal(size=3)
    if orthographic:
        lens = flat(unit * random.uniform(0.5, 5.0), size, shift)
    else:
        lens = perspective(size, float(random.uniform(0.3, 1.4)), shift)
    projection = Projection(view_matrix(eye, rotation), lens, size)
    x, y = (random.uniform(0.1, 0.9, size=2) * size).tolist()
    deep = eye - unit * random.uniform(0.5, 6.0) * rotation[:, 2]
    return Place(projection, projection.under(x, y, deep), unit)


UNITS = (2e-3, 1.0, 100.0)
"""A small hand, a person, a tall robot."""


def places(*, orthographic: bool | None = None) -> st.SearchStrategy[Place]:
    """Views of every kind, or of one, and points that they show."""
    kinds = st.booleans() if orthographic is None else st.just(orthographic)
    return st.builds(random_place, seeds, st.sampled_from(UNITS), orthographic=kinds)
