"""Paths of points over time: bridges gaps, measures noise by the lengths of bones, and smooths it away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.smoothing import median

LONGEST_GAP = 1.0
"""The longest gap that is bridged without a warning, seconds."""
_CLEAN = 5e-4
"""Metres of noise below which points are not smoothed."""
_STRENGTHS = np.geomspace(1e-3, 1e7, 61)
_PADDING = 64
_LINE_FRAMES = 5
_JUMP = 6.0
"""The most that smoothing moves a point, in standard deviations of the noise."""
_ROUNDS = 12
_LEAST_FRAMES = 12


class Gap(NamedTuple):
    """Frames in which a point has no position.

    Attributes:
        point: its index.
        first, last: frames, both included.
    """

    point: int
    first: int
    last: int


def gaps_of(seen: Bools) -> list[Gap]:
    """The gaps of points; ``seen`` (F, N): whether there is a position."""
    found = []
    edges = np.diff(np.pad(~seen, ((1, 1), (0, 0))).astype(np.int8), axis=0)
    for point in np.flatnonzero(~seen.all(axis=0)).tolist():
        first, end = np.flatnonzero(edges[:, point] == 1), np.flatnonzero(edges[:, point] == -1)
        found += [Gap(point, a, b - 1) for a, b in zip(first.tolist(), end.tolist(), strict=True)]
    return found


def bridged(points: Floats, parents: Sequence[int]) -> Floats:
    """Paths without gaps, by cubic interpolation relative to the point above, at the median distance from it.

    Args:
        points: (F, N, 3); NaN where there is no position. Every point has one in some frame.
        parents: (N,) the point above each, which comes first; -1 for roots.
    """
    seen: Bools = np.asarray(np.isfinite(points).all(axis=-1))
    if seen.all():
        return points
    result = points.copy()
    for point, parent in enumerate(parents):
        known = seen[:, point]
        if known.all():
            continue
        base = result[:, parent] if parent >= 0 else np.zeros((len(points), 3))
        way = points[:, point] - base
        filled = _interpolated(way, np.flatnonzero(known), np.flatnonzero(~known))
        if parent >= 0:
            usual = float(median(np.linalg.norm(way[known], axis=-1)))
            length = np.linalg.norm(filled, axis=-1, keepdims=True)
            filled = filled * np.where(length > 1e-9, usual / np.where(length > 1e-9, length, 1.0), 1.0)
        result[~known, point] = base[~known] + filled
    return result


def _interpolated(values: Floats, known: Ints, missing: Ints) -> Floats:
    """(M, 3) cubic Hermite values at missing frames; before the first and after the last known one these stay."""
    places = values[known]
    slopes = np.zeros_like(places)
    if len(known) > 2:
        slopes[1:-1] = (places[2:] - places[:-2]) / (known[2:] - known[:-2])[:, None]
    after = np.searchsorted(known, missing)
    inside = (after > 0) & (after < len(known))
    result = places[np.clip(after, 0, len(known) - 1)]
    b = after[inside]
    a = b - 1
    step = (known[b] - known[a]).astype(np.float64)[:, None]
    t = (missing[inside] - known[a])[:, None] / step
    result[inside] = (
        (1 + 2 * t) * (1 - t) ** 2 * places[a] + t * (1 - t) ** 2 * step * slopes[a]
        + t * t * (3 - 2 * t) * places[b] + t * t * (t - 1) * step * slopes[b]
    )  # fmt: skip
    return result


def point_noise(points: Floats, parents: Sequence[int]) -> float:
    """Standard deviation of the noise of each coordinate, metres, by how bone lengths change from frame to frame.

    Args:
        points: (F, N, 3); NaN where there is no position.
        parents: (N,) the point above each; -1 for roots.

    Returns:
        0 for points without noise, and if there are too few frames.
    """
    if len(points) < _LEAST_FRAMES:
        return 0.0
    below = [point for point, parent in enumerate(parents) if parent >= 0]
    lengths = np.linalg.norm(points[:, below] - points[:, [parents[point] for point in below]], axis=-1)
    # The third difference: of smooth motion it is small, of noise with variance s^2 it has the variance 20 s^2.
    change = np.abs(lengths[:-3] - 3.0 * lengths[1:-2] + 3.0 * lengths[2:-1] - lengths[3:])
    counts, usual = np.isfinite(change).sum(axis=0), _known_median(change)
    enough = (counts >= _LEAST_FRAMES // 2) & (np.fmax.reduce(lengths, axis=0) > _CLEAN)
    # 1.4826 times the median is the standard deviation; a length has the noise of two ends.
    found = 1.4826 * usual[enough] / np.sqrt(20.0) / np.sqrt(2.0)
    noise = float(median(found)) if found.size else 0.0
    return noise if noise > _CLEAN else 0.0


def _known_median(values: Floats) -> Floats:
    """(N,) medians of values (F, N) that are not NaN; NaN where all are."""
    ordered, counts = np.sort(values, axis=0), np.isfinite(values).sum(axis=0)
    middle = np.maximum(np.stack([(counts - 1) // 2, counts // 2]), 0)
    low, high = np.take_along_axis(ordered, middle, axis=0)
    return np.asarray(0.5 * (low + high))


def smoothed(points: Floats, seen: Bools, parents: Sequence[int], noise: float) -> Floats:
    """Paths without noise of known size.

    Each path minimises |y - x|^2 + s |third difference of x|^2 (Whittaker, "On a new method of graduation", 1923), in
    the frequency domain, between point reflections at its ends. The strength s is the one with the least expected
    error, which follows from the data and the size of the noise (Stein, "Estimation of the mean of a multivariate
    normal distribution", 1981).

    Args:
        points: (F, N, 3) bridged.
        seen: (F, N) False where a position is not known; before the first and after the last known one a point keeps
            its position relative to the one above.
        parents: (N,) the point above each, which comes first; -1 for roots.
        noise: metres, the standard deviation of each coordinate.
    """
    result = points.copy()
    for point, parent in enumerate(parents):
        known = np.flatnonzero(seen[:, point])
        first, end = int(known[0]), int(known[-1]) + 1
        path, holes = points[first:end, point].copy(), ~seen[first:end, point]
        if len(path) >= _LEAST_FRAMES:
            for _ in range(_ROUNDS if holes.any() else 1):
                smooth = _smoothed_path(path, noise)
                path[holes] = smooth[holes]
            # A jump is not noise: points that smoothing would move far are not smoothed.
            jumped = np.linalg.norm(smooth - path, axis=-1) > _JUMP * noise
            smooth[jumped] = path[jumped]
            result[first:end, point] = smooth
        base = result[:, parent] if parent >= 0 else np.zeros((len(points), 3))
        result[:first, point] = base[:first] + result[first, point] - base[first]
        result[end:, point] = base[end:] + result[end - 1, point] - base[end - 1]
    return result


def _smoothed_path(path: Floats, noise: float) -> Floats:
    padding = min(_PADDING, len(path) - 1)
    # The ends themselves are noisy: the reflections are about lines through the first and last few places.
    start, stop = (_end_of_line(part[:_LINE_FRAMES]) for part in (path, path[::-1]))
    before, after = 2.0 * start - path[padding:0:-1], 2.0 * stop - path[-2 : -2 - padding : -1]
    extended = np.concatenate([before, path, after])
    line = np.linspace(extended[0], extended[-1], len(extended))
    spectrum = np.fft.rfft(extended - line, axis=0)
    omega = 2.0 * np.pi * np.arange(len(spectrum)) / len(extended)
    kept = 1.0 / (1.0 + _STRENGTHS[:, None] * (2.0 - 2.0 * np.cos(omega)) ** 3)
    power = (np.abs(spectrum) ** 2).sum(axis=-1) / len(extended)
    weight = np.full(len(omega), 2.0)
    weight[0] = 1.0
    risk = ((1.0 - kept) ** 2 * power * weight).sum(axis=1) + 2.0 * 3.0 * noise**2 * (kept * weight).sum(axis=1)
    best = kept[int(np.argmin(risk))]
    smooth = np.fft.irfft(spectrum * best[:, None], n=len(extended), axis=0) + line
    return np.asarray(smooth[padding : padding + len(path)])


def _end_of_line(places: Floats) -> Floats:
    """(3,) the start of the straight line through places (N, 3)."""
    steps = np.arange(len(places)) - 0.5 * (len(places) - 1)
    slope = steps @ places / (steps @ steps)
    return np.asarray(places.mean(axis=0) + steps[0] * slope)
