"""The camera: it orbits a target, stays upright, and works at any scale; pyrr makes its matrices."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import missing_library
from viewer.spatial.checks import Floats, frozen
from viewer.spatial.projection import Projection

NEAR, FAR = 0.01, 100.0
"""Near and far plane as multiples of the distance to the target."""

_ASIDE = 50.0
"""An orthographic camera is this many times farther away, so that all of the figure is in front of it."""


def projection_of(
    target: Floats, back: Floats, up: Floats, distance: float, fov_y: float, size: tuple[int, int], *, flat: bool
) -> Projection:
    """The projection of a camera.

    The target (3,) is in the middle of the view; ``back`` (3,) is the unit vector from there to the eye, ``distance``
    metres away, and ``up`` (3,) one at right angles to it, up on the screen. ``fov_y`` is in radians, ``size`` in
    pixels, at least 1 each; ``flat`` is orthographic: things at the target are as large as with perspective.

    Raises:
        MachineError: pyrr is not installed.
    """
    # A look-at from distance 1 and a separate translation keep precision for small figures far from the origin.
    matrix44 = _matrices()
    view = np.array(matrix44.create_look_at(back, np.zeros(3), up, dtype=np.float64)).T
    away = distance * _ASIDE if flat else distance
    view[:3, 3] = -view[:3, :3] @ target - (0.0, 0.0, away)
    aspect = size[0] / size[1]
    near, far = NEAR * distance, FAR * distance
    if flat:
        high = distance * math.tan(0.5 * fov_y)
        wide = high * aspect
        lens = matrix44.create_orthogonal_projection(-wide, wide, -high, high, near, far, dtype=np.float64)
    else:
        lens = matrix44.create_perspective_projection(math.degrees(fov_y), aspect, near, far, dtype=np.float64)
    return Projection(view, np.array(lens).T, size)


@cache
def _matrices() -> ModuleType:
    """The module of matrices of pyrr, imported on first use."""
    with warnings.catch_warnings():
        # Compiling pyrr gives warnings about invalid escape sequences in it.
        warnings.simplefilter("ignore")
        try:
            from pyrr import matrix44  # noqa: PLC0415
        except ImportError as error:
            raise missing_library("drawing", error, "moderngl") from error
    return matrix44  # type: ignore[no-any-return]


def near_of(projection: Projection) -> float:
    """Metres from the eye to the near plane of a projection made by `projection_of`."""
    lens = projection.lens
    if projection.orthographic:
        return float((lens[2, 3] + 1.0) / lens[2, 2])
    return float(lens[2, 3] / (lens[2, 2] - 1.0))


ViewName = Literal["front", "back", "left", "right", "top", "bottom", "three-quarter"]

FOV_Y = math.radians(35.0)
ORBIT_PER_PIXEL = math.radians(0.4)
ZOOM_PER_STEP = 0.9
FIT = 1.22
RAISED, EDGE = 0.10, 1.12
"""RAISED: height of the view's centre above the figure's, as a fraction of its height, which leaves room for the gizmo
of the highest handle. EDGE: the smaller margin that the lower part keeps."""

_STEEPEST = 0.5 * math.pi
_NEAREST, _FARTHEST = 1e-7, 1e9
_MOST_STEPS = 500.0
_VIEWS: dict[str, tuple[float, float]] = {
    "front": (0.0, 0.0), "back": (180.0, 0.0), "left": (90.0, 0.0), "right": (-90.0, 0.0),
    "top": (0.0, 90.0), "bottom": (0.0, -90.0), "three-quarter": (-47.5, 15.0),
}  # fmt: skip
"""Degrees of yaw off the direction that the figure faces, towards its left, and of pitch."""


@dataclass(frozen=True, slots=True, eq=False)
class Camera:
    """A camera that orbits a target.

    Attributes:
        target: (3,) metres, the point in the middle of the view.
        yaw: radians about Y; at 0 the eye is on the side of +Z of the target, at a quarter turn on that of +X.
        pitch: radians, how far the eye is above the target; at most a quarter turn.
        distance: metres from the target to the eye.
        fov_y: radians from the bottom to the top of the view.
        orthographic: without perspective; things at the target are as large as with it.
    """

    target: Floats
    yaw: float = 0.0
    pitch: float = 0.0
    distance: float = 3.0
    fov_y: float = FOV_Y
    orthographic: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "target", frozen(self.target))

    @property
    def back(self) -> Floats:
        """(3,) unit vector from the target to the eye."""
        level = math.cos(self.pitch)
        return np.array([math.sin(self.yaw) * level, math.sin(self.pitch), math.cos(self.yaw) * level])

    @property
    def up(self) -> Floats:
        """(3,) unit vector up on the screen, also for views from straight above or below."""
        rise = math.sin(self.pitch)
        return np.array([-math.sin(self.yaw) * rise, math.cos(self.pitch), -math.cos(self.yaw) * rise])

    @property
    def right(self) -> Floats:
        """(3,) unit vector to the right on the screen, level."""
        return np.array([math.cos(self.yaw), 0.0, -math.sin(self.yaw)])

    def projection(self, size: tuple[int, int]) -> Projection:
        """The projection onto a rectangle of (width, height) pixels."""
        shape = max(int(size[0]), 1), max(int(size[1]), 1)
        return projection_of(self.target, self.back, self.up, self.distance, self.fov_y, shape, flat=self.orthographic)

    def same_as(self, other: Camera) -> bool:
        """Equal in every number."""
        mine = (self.yaw, self.pitch, self.distance, self.fov_y, self.orthographic)
        theirs = (other.yaw, other.pitch, other.distance, other.fov_y, other.orthographic)
        return mine == theirs and np.array_equal(self.target, other.target)

    def orbit(self, dx: float, dy: float, scale: float = 1.0) -> Camera:
        """Turned about the target as by a pointer that moved by (dx, dy) pixels; pitch stops straight above and below.

        The figure follows the pointer: to the right, the eye goes to the left.
        """
        turn = ORBIT_PER_PIXEL / scale
        return self.turned(-dx * turn, dy * turn)

    def turned(self, yaw: float, pitch: float) -> Camera:
        """Turned about the target by radians of yaw and pitch."""
        steep = min(max(self.pitch + pitch, -_STEEPEST), _STEEPEST)
        return replace(self, yaw=self.yaw + yaw, pitch=steep)

    def pan(self, dx: float, dy: float, size: tuple[int, int]) -> Camera:
        """The camera moved so that points at the target's depth follow a pointer that moved by (dx, dy) pixels."""
        metres = self.metres_per_pixel(size)
        return replace(self, target=self.target + metres * (dy * self.up - dx * self.right))

    def metres_per_pixel(self, size: tuple[int, int]) -> float:
        """Metres per pixel at the target's depth."""
        return 2.0 * self.distance * math.tan(0.5 * self.fov_y) / max(size[1], 1)

    def zoom(self, steps: float, at: ArrayLike | None = None) -> Camera:
        """The camera nearer by a tenth per step of the wheel, farther for negative steps.

        ``at`` (3,) is a point in the world that keeps its place on the screen, default the target.
        """
        factor = ZOOM_PER_STEP ** min(max(steps, -_MOST_STEPS), _MOST_STEPS)
        distance = min(max(self.distance * factor, _NEAREST), _FARTHEST)
        if at is None:
            return replace(self, distance=distance)
        point = np.asarray(at, dtype=np.float64)
        return replace(self, distance=distance, target=point + (self.target - point) * (distance / self.distance))

    def frame(
        self,
        points: ArrayLike,
        size: tuple[int, int],
        *,
        fit: float = FIT,
        raised: float = RAISED,
        least: float = 0.0,
        margin: float = 0.0,
    ) -> Camera:
        """The camera moved, not turned, so that all points are in view.

        Args:
            points: (N, 3) metres; without points the camera stays as it is.
            size: (width, height) of the view in pixels.
            fit: size of the view relative to the points' extent.
            raised: height of the view's centre above theirs, as a fraction of their height.
            least: metres; a smaller extent of the points counts as this.
            margin: free pixels at every edge of the view, if it is large enough.
        """
        places = np.asarray(points, dtype=np.float64).reshape(-1, 3)
        places = places[np.isfinite(places).all(axis=1)]
        if not len(places):
            return self
        low, high = places.min(axis=0), places.max(axis=0)
        middle = 0.5 * (low + high)
        if np.linalg.norm(high - low) < least:
            places = middle + 0.5 * least * np.concatenate([np.eye(3), -np.eye(3)])
        aspect = max(size[0], 1) / max(size[1], 1)
        even = self._distance_for(places - middle, aspect, fit)
        middle[1] += raised * (high[1] - low[1])
        short = min(size)
        edge = max(min(fit, EDGE), short / max(short - 2.0 * margin, 0.5 * short, 1.0))
        distance = max(even, self._distance_for(places - middle, aspect, edge))
        if distance <= 0.0:
            return replace(self, target=middle)
        return replace(self, target=middle, distance=min(max(distance, _NEAREST), _FARTHEST))

    def _distance_for(self, offsets: Floats, aspect: float, fit: float) -> float:
        """The smallest distance at which offsets (N, 3) from the target are in view, ``fit`` times enlarged."""
        across, over = np.abs(offsets @ self.right) / aspect, np.abs(offsets @ self.up)
        needed = fit * np.maximum(across, over) / math.tan(0.5 * self.fov_y)
        if not self.orthographic:
            needed += offsets @ self.back
        return float(needed.max())

    def looking(self, view: ViewName, facing: ArrayLike = (0.0, 0.0, 1.0)) -> Camera:
        """Turned about the target to one of the standard views of a figure that faces ``facing`` (3,)."""
        x, _, z = np.asarray(facing, dtype=np.float64).tolist()
        yaw, pitch = _VIEWS[view]
        ahead = math.atan2(x, z) if math.hypot(x, z) > 0.0 else 0.0
        return replace(self, yaw=ahead + math.radians(yaw), pitch=math.radians(pitch))

    def opposite(self) -> Camera:
        """Seen from the other side: back for front, left for right, bottom for top."""
        if abs(self.pitch) > 0.999 * _STEEPEST:
            return replace(self, pitch=-self.pitch)
        return replace(self, yaw=self.yaw + math.pi, pitch=self.pitch)


def blend(a: Camera, b: Camera, t: float) -> Camera:
    """Interpolate from a (t = 0) to b (t = 1) with a fast start, turning the short way round.

    The distance is interpolated geometrically; perspective is that of b.
    """
    if t <= 0.0:
        return a
    if t >= 1.0:
        return b
    part = 1.0 - (1.0 - t) ** 3
    around = math.remainder(b.yaw - a.yaw, 2.0 * math.pi)
    return Camera(
        target=a.target + part * (b.target - a.target),
        yaw=a.yaw + part * around,
        pitch=a.pitch + part * (b.pitch - a.pitch),
        distance=a.distance * (b.distance / a.distance) ** part,
        fov_y=a.fov_y + part * (b.fov_y - a.fov_y),
        orthographic=b.orthographic,
    )
