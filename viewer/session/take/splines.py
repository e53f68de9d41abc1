"""Smooth ways through keys: where they are, at which speed they are passed, and never farther than they lie.

Rotations run on cumulative cubics (Kim, Kim and Shin, "A general construction scheme for unit quaternion curves with
simple high order derivatives", SIGGRAPH 1995): from key q1 to q2, at part s of the way,

    q(s) = q1 exp(w1 b1(s)) exp(w2 b2(s)) exp(w3 b3(s)),    b1 = 1 - (1 - s)^3,  b2 = 3 s^2 - 2 s^3,  b3 = s^3

with w1 and w3 a third of the angular velocities at the keys and w2 what is left to go. It passes through both keys,
and both sides of a key have one velocity, however far apart the keys are: the curve and its first derivative are
continuous. The velocities are those of a parabola through a key and its neighbours (Bessel's), held down so that a
curve about one axis is monotone between keys (Fritsch and Carlson, "Monotone piecewise cubic interpolation", 1980): an
elbow does not bend backwards on its way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.spatial.quaternion import conjugate, exp, log, multiply, normalized

if TYPE_CHECKING:
    from viewer.spatial.checks import Bools, Floats

_STEEPEST = 3.0
"""Times the slower neighbour's mean speed: beyond it a cubic overshoots."""
_ROOM = 0.495
"""Of the angle that is left to half a turn, where a velocity leads astray: together both ends stay below it."""
_TINY = 1e-300


def smooth_turns(
    keys: tuple[Floats, ...], spans: tuple[Floats, ...], ends: tuple[Bools, Bools], part: Floats
) -> Floats:
    """Rotations between two keys.

    Args:
        keys: four of (..., 4): the key before, the two between which it runs, the key after.
        spans: three of (...): frames between these.
        ends: two of (...): whether the curve goes on before the first of the two, and after the second; where it does
            not, it comes to rest there.
        part: (...) of the way, 0 to 1.

    Returns:
        (..., 4) unit quaternions, of the sign of the first of the two.
    """
    q0, q1, q2, q3 = keys
    steps = [log(multiply(conjugate(a), b)) for a, b in ((q0, q1), (q1, q2), (q2, q3))]
    speeds = [step / span[..., None] for step, span in zip(steps, spans, strict=True)]
    third = spans[1][..., None] / 3.0
    w1 = third * np.where(ends[0][..., None], _turning(speeds[:2], spans[:2]), 0.0)
    w3 = third * np.where(ends[1][..., None], _turning(speeds[1:], spans[1:]), 0.0)
    w2 = log(multiply(conjugate(exp(w1)), multiply(multiply(conjugate(q1), q2), conjugate(exp(w3)))))
    s = part[..., None]
    first, second = exp(w1 * (1.0 - (1.0 - s) ** 3)), exp(w2 * (s * s * (3.0 - 2.0 * s)))
    return normalized(multiply(multiply(q1, first), multiply(second, exp(w3 * s**3))))


def smooth_places(
    keys: tuple[Floats, ...], spans: tuple[Floats, ...], ends: tuple[Bools, Bools], part: Floats
) -> Floats:
    """Translations (..., 3) between two keys by cubics, each component for itself; arguments as of `smooth_turns`."""
    p0, p1, p2, p3 = keys
    speeds = [(b - a) / span[..., None] for a, b, span in zip((p0, p1, p2), (p1, p2, p3), spans, strict=True)]
    span, s = spans[1][..., None], part[..., None]
    m1 = span * np.where(ends[0][..., None], _moving(speeds[:2], spans[:2]), 0.0)
    m2 = span * np.where(ends[1][..., None], _moving(speeds[1:], spans[1:]), 0.0)
    return np.asarray(p1 + (p2 - p1) * (s * s * (3.0 - 2.0 * s)) + m1 * (s * (1.0 - s) ** 2) + m2 * (s * s * (s - 1.0)))


def _parabola(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The speed at a key of the parabola through it and its neighbours."""
    before, after = spans[0][..., None], spans[1][..., None]
    return np.asarray((after * speeds[0] + before * speeds[1]) / (before + after))


def _moving(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The speed (..., 3) at a key; none where it is a crest or a trough."""
    a, b = speeds
    steepest = _STEEPEST * np.minimum(np.abs(a), np.abs(b))
    return np.where(a * b > 0.0, np.clip(_parabola(speeds, spans), -steepest, steepest), 0.0)


def _turning(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The angular velocity (..., 3) at a key, in its frame; the less of it, the more the curve turns back there."""
    speed = _parabola(speeds, spans)
    lengths = [_length(one) for one in speeds]
    straight = np.einsum("...i,...i->...", *speeds)[..., None] / np.maximum(lengths[0] * lengths[1], _TINY)
    speed = speed * np.clip(1.0 + straight, 0.0, 1.0)
    steepest = _STEEPEST * np.minimum(*lengths)
    speed = speed * np.minimum(1.0, steepest / np.maximum(_length(speed), _TINY))
    for one, span in zip(speeds, spans, strict=True):
        speed = speed * _without_detour(speed, one, span[..., None])
    return np.asarray(speed)


def _without_detour(speed: Floats, mean: Floats, span: Floats) -> Floats:
    """The factor (..., 1), 1 or less, that keeps what is left to go of a stretch below half a turn.

    Beyond half a turn the short way leads round the other side. Along the stretch a velocity shortens what is left;
    only what leads backwards or aside makes it longer.
    """
    lead, length = speed * span / 3.0, _length(mean)
    along = mean / np.maximum(length, _TINY)
    ahead = np.einsum("...i,...i->...", lead, along)[..., None]
    astray = np.maximum(-ahead, 0.0) + _length(lead - ahead * along)
    room = _ROOM * np.maximum(np.pi - length * span, 0.0)
    return np.asarray(np.minimum(1.0, room / np.maximum(astray, _TINY)))


def _length(vectors: Floats) -> Floats:
    """(..., 1)."""
    return np.asarray(np.sqrt(np.einsum("...i,...i->...", vectors, vectors))[..., None])
