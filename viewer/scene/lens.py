"""The matrices of a camera, made by pyrr and turned into this package's convention.

pyrr stores matrices for row vectors, the transpose of ours, and measures the field of view in degrees. Nothing else of
it is used: its rotations by quaternions turn the other way round.
"""

from __future__ import annotations

import math
import warnings
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import missing_library
from viewer.spatial.projection import Projection

if TYPE_CHECKING:
    from types import ModuleType

    from viewer.spatial.checks import Floats

NEAR, FAR = 0.01, 100.0
"""Planes of the visible range, in parts of the distance to what is looked at."""

_ASIDE = 50.0
"""A camera without perspective stands this many times farther off, so that all of the figure lies before it."""


def projection_of(
    target: Floats, back: Floats, up: Floats, distance: float, fov_y: float, size: tuple[int, int], *, flat: bool
) -> Projection:
    """The projection of a camera.

    Args:
        target: (3,) the point in the middle of the view.
        back: (3,) unit vector from there to the eye.
        up: (3,) unit vector at right angles to it, up on the screen.
        distance: metres from the target to the eye.
        fov_y: radians from the bottom to the top of the view.
        size: (width, height) in pixels, each at least 1.
        flat: orthographic, things at the target as large as with perspective.

    Raises:
        MachineError: pyrr is not installed.
    """
    # Looking from a unit away and moving there by hand keeps the digits of small figures far from the origin.
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
    """Of pyrr, imported by who looks at something."""
    with warnings.catch_warnings():
        # It is older than the rule against backslashes that escape nothing, which compiling it speaks of.
        warnings.simplefilter("ignore")
        try:
            from pyrr import matrix44  # noqa: PLC0415
        except ImportError as error:
            raise missing_library("drawing", error, "moderngl") from error
    return matrix44  # type: ignore[no-any-return]


def near_of(projection: Projection) -> float:
    """Metres from the eye to the near plane of a projection that was made here."""
    lens = projection.lens
    if projection.orthographic:
        return float((lens[2, 3] + 1.0) / lens[2, 2])
    return float(lens[2, 3] / (lens[2, 2] - 1.0))
