"""Which capsules keep light from each other, so that touching and close ones are darker there.

A capsule of radius r at a distance d from a point, its axis at an angle to the surface's normal with this cosine, takes
``0.7 cosine (r / d)²`` of the point's light: what a ball of that radius hides of an even sky. The shader computes it
at every pixel, for the few capsules that matter there, which are chosen here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from viewer.scene.primitives import Records
from viewer.spatial.checks import Floats, Ints

Singles = NDArray[np.float32]

OCCLUDERS = 6
"""Capsules that may darken one."""
MOST_SHADED = 256
"""Figures of more capsules are not shaded so: choosing the occluders grows with the square of their number."""
_LEAST = 0.06
"""A capsule that takes less of another's light is left out."""


def no_occluders(count: int) -> Ints:
    """(C, 6) what `occluders_of` returns where nothing darkens anything."""
    return np.full((count, OCCLUDERS), -1)


def occluders_of(capsules: Records) -> Ints:
    """(C, 6) rows of the capsules that darken each of the CAPSULE records most, the strongest first; -1 for none."""
    count = len(capsules)
    chosen = no_occluders(count)
    if not 1 < count <= MOST_SHADED:
        return chosen
    strength = _strengths(capsules)
    order = np.argsort(-strength, axis=1, kind="stable")[:, :OCCLUDERS]
    found = np.take_along_axis(strength, order, axis=1) >= _LEAST
    chosen[:, : order.shape[1]] = np.where(found, order, -1)
    return chosen


def axes_of(capsules: Records) -> Singles:
    """(C, 2, 4) both ends of the capsules' axes and the radii there, metres."""
    axes = np.empty((len(capsules), 2, 4), np.float32)
    axes[:, 0, :3], axes[:, 1, :3] = capsules["a"], capsules["b"]
    axes[:, 0, 3], axes[:, 1, 3] = capsules["radius"] + capsules["flare"], capsules["radius"]
    return axes


def _strengths(capsules: Records) -> Floats:
    """(C, C) the light that each capsule (column) may take of another (row); 0 of its own.

    The distance is that of the nearest of five points of the row's axis, which is enough to choose by.
    """
    a, b = capsules["a"].astype(np.float64), capsules["b"].astype(np.float64)
    radius = capsules["radius"].astype(np.float64)
    way = b - a
    points = a[:, None] + np.linspace(0.0, 1.0, 5)[:, None] * way[:, None]
    length2 = np.einsum("ci,ci->c", way, way)
    part = (points @ way.T - np.einsum("ci,ci->c", a, way)) / np.where(length2 > 0.0, length2, 1.0)
    part = np.clip(part, 0.0, 1.0)
    # |p - a - t w|² by the products that are at hand
    from_a = np.einsum("cki,cki->ck", points, points)[..., None] - 2.0 * points @ a.T + np.einsum("ci,ci->c", a, a)
    along = points @ way.T - np.einsum("ci,ci->c", a, way)
    distance2 = from_a - 2.0 * part * along + part**2 * length2
    nearest = np.sqrt(np.maximum(distance2.min(axis=1), 0.0)) - radius[:, None]
    strength = 0.7 * np.minimum(radius / np.maximum(nearest, radius), 1.0) ** 2
    # Where one goes on straight from the other, its surface does not face the other.
    unit = way / np.sqrt(np.where(length2 > 0.0, length2, 1.0))[:, None]
    follows = np.abs(b[:, None] - a).max(axis=-1) < 1e-6
    strength *= np.where(follows | follows.T, 0.5 * (1.0 - unit @ unit.T), 1.0)
    # What starts inside darkens only the rim of the place where it comes out.
    strength *= np.where(nearest < 0.0, 0.5, 1.0)
    np.fill_diagonal(strength, 0.0)
    return np.asarray(strength)
