"""Smooth curves through key points, and small rotations of whole motions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from model import X, Y, Z

from viewer.spatial.quaternion import from_axis_angle, multiply

if TYPE_CHECKING:
    from collections.abc import Mapping

    from viewer.spatial.checks import Floats


def through(points: Mapping[float, float], at: Floats, *, start: float = 0.0, end: float = 0.0) -> Floats:
    """Monotone cubic curve through key points {place: value}, ascending places, at places (...) between them.

    F. N. Fritsch and J. Butland, "A method for constructing local monotone piecewise cubic interpolants" (1984):
    no overshoot, flat where the points are. ``start`` and ``end`` are the slopes there.
    """
    x, y = np.array(list(points)), np.array(list(points.values()))
    step = np.diff(x)
    rise = np.diff(y) / step
    before, after = 2.0 * step[1:] + step[:-1], step[1:] + 2.0 * step[:-1]
    turns = rise[:-1] * rise[1:] <= 0.0
    safe = np.where(turns, 1.0, rise[:-1]), np.where(turns, 1.0, rise[1:])
    inner = np.where(turns, 0.0, (before + after) / (before / safe[0] + after / safe[1]))
    slope = np.concatenate([[start], inner, [end]])
    i = np.clip(np.searchsorted(x, at, side="right") - 1, 0, len(step) - 1)
    s = (at - x[i]) / step[i]
    hermite = (1 + 2 * s) * (1 - s) ** 2 * y[i] + s**2 * (3 - 2 * s) * y[i + 1]
    return np.asarray(hermite + step[i] * s * (1 - s) * ((1 - s) * slope[i] - s * slope[i + 1]))


def wave(phase: Floats, amplitude: float, peak: float, times: int = 1) -> Floats:
    """A cosine over the gait cycle, ``times`` to the cycle, that is highest at phase ``peak``."""
    return np.asarray(amplitude * np.cos(2.0 * np.pi * times * (phase - peak)))


def turn(axis: str, degrees: Floats | float) -> Floats:
    """Rotations (..., 4) about a coordinate axis."""
    return from_axis_angle(np.array({"x": X, "y": Y, "z": Z}[axis]), np.radians(degrees))


def turns(*parts: tuple[str, Floats | float]) -> Floats:
    """Rotations (..., 4) by several turns, the first acts last."""
    total = turn(*parts[0])
    for part in parts[1:]:
        total = multiply(total, turn(*part))
    return total
