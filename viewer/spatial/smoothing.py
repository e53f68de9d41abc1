"""Smoothing without a phase shift, slopes, and curves with given ends: for values at equal steps of time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError
from viewer.spatial.checks import Floats, handed_over

_WIDTH = 4.0
"""The Gaussian is cut off at this many standard deviations: what is left out is 6e-5 of it."""


def low_pass(values: ArrayLike, rate: float, cutoff: float) -> Floats:
    """Values smoothed by a Gaussian; straight lines stay as they are, also at the ends, and nothing is delayed.

    Beyond each end the values go on as their point reflection about it (an odd reflection), so that the first and the
    last value keep their place.

    Args:
        values: (F, ...) at equal steps.
        rate: values per second.
        cutoff: hertz; a sine of this frequency keeps 1 / sqrt(2) of its amplitude, slower ones more.
    """
    if not (rate > 0.0 and cutoff > 0.0):
        raise InputError(f"smoothing: expected a rate and a cut-off above 0, found {rate:g} and {cutoff:g}")
    given = np.asarray(values, dtype=np.float64)
    deviation = rate * np.sqrt(np.log(2.0)) / (2.0 * np.pi * cutoff)
    radius = int(_WIDTH * deviation)
    if len(given) < 2 or radius < 1:
        return given.copy()
    if radius < len(given):
        # What `numpy.pad` gives, in a tenth of its time.
        ends = 2.0 * given[0] - given[radius:0:-1], 2.0 * given[-1] - given[-2 : -2 - radius : -1]
        beyond = np.concatenate([ends[0], given, ends[1]])
    else:
        beyond = np.pad(given, [(radius, radius)] + [(0, 0)] * (given.ndim - 1), mode="reflect", reflect_type="odd")
    weights = _gaussian(deviation, radius)
    columns = np.ascontiguousarray(beyond.reshape(len(beyond), -1).T)
    step, item = columns.strides
    # What the weights see at each step overlaps with the next: it is not copied.
    seen = np.ndarray((len(columns), len(given), len(weights)), buffer=columns, strides=(step, item, item))
    smooth = np.einsum("nfw,w->nf", seen, weights)
    return np.ascontiguousarray(smooth.T).reshape(given.shape)


@lru_cache(maxsize=32)
def _gaussian(deviation: float, radius: int) -> Floats:
    """(2 radius + 1,) weights, 1 in all; the deviation is in steps."""
    weights = np.exp(-0.5 * (np.arange(-radius, radius + 1) / deviation) ** 2)
    return handed_over(weights / weights.sum())


def median(values: Floats) -> Floats:
    """The median (...) of values (N, ...), N > 0: as `numpy.median` along the first axis, in a fifth of its time."""
    ordered, half = np.sort(values, axis=0), len(values) // 2
    return np.asarray(ordered[half] if len(values) % 2 else 0.5 * (ordered[half - 1] + ordered[half]))


def quantiles(values: Floats, shares: Sequence[float]) -> Floats:
    """(K, ...) quantiles of values (N, ...), N > 0: as `numpy.quantile` along the first axis, without `numpy.ma`."""
    ordered = np.sort(values, axis=0)
    places = np.asarray(shares) * (len(ordered) - 1)
    below = np.floor(places).astype(np.intp)
    low, high = ordered[below], ordered[np.minimum(below + 1, len(ordered) - 1)]
    return np.asarray(low + (high - low) * (places - below).reshape(-1, *[1] * (values.ndim - 1)))


def slopes(values: Floats) -> Floats:
    """Changes per step of values (N, ...), N > 1: as `numpy.gradient` along the first axis, in a third of its time."""
    result = np.empty_like(values)
    np.subtract(values[2:], values[:-2], out=result[1:-1])
    result[1:-1] *= 0.5
    result[0], result[-1] = values[1] - values[0], values[-1] - values[-2]
    return result


def slow_path(pull: Floats, force: Floats, stiff: float | Floats) -> Floats:
    """Values (N, C) at equal steps, drawn to their places and held back by their speed, N > 0.

    x has the least sum of x . pull x / 2 - force . x and of stiff / 2 times the squares of its changes from step to
    step. That is a linear system of blocks, three in a row: every second one is eliminated, which leaves half as many
    (cyclic reduction: Heller, "Some aspects of the cyclic reduction algorithm for block tridiagonal linear systems",
    1976).

    ``pull`` (N, C, C): symmetric, positive definite in the sum of all; ``force``: (N, C); ``stiff``: of all steps, or
    (N - 1,) of each; 0 or more.
    """
    still = np.broadcast_to(stiff, len(force) - 1)[:, None, None] * np.eye(force.shape[1])
    main = pull.copy()
    main[1:] += still
    main[:-1] += still
    return _eliminated(main, -still, force[..., None])[..., 0]


def _eliminated(main: Floats, beside: Floats, right: Floats) -> Floats:
    """(N, C, 1) that blocks (N, C, C) on the diagonal, (N - 1, C, C) above and, transposed, below take to ``right``."""
    if len(main) == 1:
        return np.asarray(np.linalg.solve(main, right))
    inverse, left = np.linalg.inv(main[1::2]), right[1::2]
    to_next, to_last = beside[::2], beside[1::2]
    up, down = to_next @ inverse, to_last.swapaxes(1, 2) @ inverse[: len(to_last)]
    less, fewer = main[::2].copy(), right[::2].copy()
    less[: len(up)] -= up @ to_next.swapaxes(1, 2)
    fewer[: len(up)] -= up @ left
    less[1:] -= down @ to_last
    fewer[1:] -= down @ left[: len(to_last)]
    even = _eliminated(less, -up[: len(to_last)] @ to_last, fewer)
    odd = left - to_next.swapaxes(1, 2) @ even[: len(to_next)]
    odd[: len(to_last)] -= to_last @ even[1:]
    found = np.empty_like(right)
    found[::2], found[1::2] = even, inverse @ odd
    return found


def ease(part: ArrayLike) -> Floats:
    """From 0 at ``part`` 0 to 1 at 1, at rest at both ends (no speed, no acceleration); constant outside: a quintic."""
    t = np.clip(np.asarray(part, dtype=np.float64), 0.0, 1.0)
    return np.asarray(t * t * t * (10.0 + t * (6.0 * t - 15.0)))


def hermite(part: ArrayLike, start: ArrayLike, end: ArrayLike, leaving: ArrayLike, arriving: ArrayLike) -> Floats:
    """The cubic from ``start`` at part 0 to ``end`` at 1 with those slopes there, per unit of ``part``.

    Args:
        part: (N,) from 0 to 1.
        start: (...) value at 0.
        end: (...) value at 1.
        leaving: (...) slope at 0.
        arriving: (...) slope at 1.

    Returns:
        (N, ...).
    """
    t = np.asarray(part, dtype=np.float64)
    p, q, m, n = (np.asarray(value, dtype=np.float64) for value in (start, end, leaving, arriving))
    t = t.reshape(t.shape + (1,) * p.ndim)
    left = 1.0 - t
    return np.asarray(
        left * left * ((1.0 + 2.0 * t) * p + t * m) + t * t * ((3.0 - 2.0 * t) * q - left * n),
    )
