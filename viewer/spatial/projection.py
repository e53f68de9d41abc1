"""The projection of a camera: from the world to pixels and back."""

from __future__ import annotations

from dataclasses import dataclass

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
