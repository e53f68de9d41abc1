"""Interpolation of tracks between keys: steps, slerps and splines."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from viewer.document.take import CODES, Blend, Track, grouped
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, dot, exp, log, multiply, norm, normalized, slerp

_STEEPEST = 3.0
"""Multiple of the slower neighbour's mean speed beyond which a cubic overshoots."""
_ROOM = 0.495
"""Part of the angle left to half a turn that a velocity at one end may use up; both ends together stay below it."""
_TINY = 1e-300

_FADE, _LEAST_FADE = 1.0 / 3.0, 10
"""Seconds, and least frames, before the first key on a clip and after the last one in which the keys' values fade
in and out."""

_STEP, _LINEAR, _SMOOTH = (CODES[blend] for blend in (Blend.STEP, Blend.LINEAR, Blend.SMOOTH))


def smooth_turns(
    keys: tuple[Floats, ...],
    spans: tuple[Floats, ...],
    ends: tuple[Bools, Bools],
    part: Floats,
    given: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Rotations between two keys.

    Args:
        keys: four of (..., 4): the key before, the two keys interpolated, the key after.
        spans: three of (...): frames between them.
        ends: two of (...): whether the curve continues before the first and after the second of the two; else
            its velocity there is zero.
        part: (...) fraction of the span, 0 to 1.
        given: two of (..., 3): angular velocities at the two keys, in the frame of each; NaN: from the neighbours.

    Returns:
        (..., 4) unit quaternions, of the sign of the first of the two.
    """
    q0, q1, q2, q3 = keys
    steps = [log(multiply(conjugate(a), b)) for a, b in ((q0, q1), (q1, q2), (q2, q3))]
    speeds = [step / span[..., None] for step, span in zip(steps, spans, strict=True)]
    third = spans[1][..., None] / 3.0
    w1 = third * _velocity(_turning, speeds[:2], spans[:2], ends[0], given and given[0])
    w3 = third * _velocity(_turning, speeds[1:], spans[1:], ends[1], given and given[1])
    w2 = log(multiply(conjugate(exp(w1)), multiply(multiply(conjugate(q1), q2), conjugate(exp(w3)))))
    s = part[..., None]
    first, second = exp(w1 * (1.0 - (1.0 - s) ** 3)), exp(w2 * (s * s * (3.0 - 2.0 * s)))
    return normalized(multiply(multiply(q1, first), multiply(second, exp(w3 * s**3))))


def smooth_places(
    keys: tuple[Floats, ...],
    spans: tuple[Floats, ...],
    ends: tuple[Bools, Bools],
    part: Floats,
    given: tuple[Floats, Floats] | None = None,
) -> Floats:
    """Translations (..., 3) between two keys by cubics, each component for itself; arguments as of `smooth_turns`."""
    p0, p1, p2, p3 = keys
    speeds = [(b - a) / span[..., None] for a, b, span in zip((p0, p1, p2), (p1, p2, p3), spans, strict=True)]
    span, s = spans[1][..., None], part[..., None]
    m1 = span * _velocity(_moving, speeds[:2], spans[:2], ends[0], given and given[0])
    m2 = span * _velocity(_moving, speeds[1:], spans[1:], ends[1], given and given[1])
    return np.asarray(p1 + (p2 - p1) * (s * s * (3.0 - 2.0 * s)) + m1 * (s * (1.0 - s) ** 2) + m2 * (s * s * (s - 1.0)))


def _velocity(
    usual: Callable[[list[Floats], tuple[Floats, ...]], Floats],
    speeds: list[Floats],
    spans: tuple[Floats, ...],
    inner: Bools,
    given: Floats | None,
) -> Floats:
    """The velocity (..., 3) at a key: the one given, else the usual one, which is zero where the curve ends."""
    own = np.where(inner[..., None], usual(speeds, spans), 0.0)
    if given is None:
        return own
    if usual is _turning:
        for one, span in zip(speeds, spans, strict=True):
            given = given * _without_detour(given, one, span[..., None])
    return np.where(np.isnan(given), own, given)


def _parabola(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The velocity at a key of the parabola through it and its neighbours."""
    before, after = spans[0][..., None], spans[1][..., None]
    return np.asarray((after * speeds[0] + before * speeds[1]) / (before + after))


def _moving(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The velocity (..., 3) at a key; zero at extrema."""
    a, b = speeds
    steepest = _STEEPEST * np.minimum(np.abs(a), np.abs(b))
    return np.where(a * b > 0.0, np.clip(_parabola(speeds, spans), -steepest, steepest), 0.0)


def _turning(speeds: list[Floats], spans: tuple[Floats, ...]) -> Floats:
    """The angular velocity (..., 3) at a key, in its frame; smaller the more the curve reverses there."""
    speed = _parabola(speeds, spans)
    lengths = [norm(one)[..., None] for one in speeds]
    straight = dot(*speeds)[..., None] / np.maximum(lengths[0] * lengths[1], _TINY)
    speed = speed * np.clip(1.0 + straight, 0.0, 1.0)
    steepest = _STEEPEST * np.minimum(*lengths)
    speed = speed * np.minimum(1.0, steepest / np.maximum(norm(speed)[..., None], _TINY))
    for one, span in zip(speeds, spans, strict=True):
        speed = speed * _without_detour(speed, one, span[..., None])
    return np.asarray(speed)


def _without_detour(speed: Floats, mean: Floats, span: Floats) -> Floats:
    """The factor (..., 1), at most 1, that keeps the rest of a span below half a turn.

    Beyond half a turn interpolation would go the other way round. A velocity along the span shortens the rest;
    only its components backwards or sideways lengthen it.
    """
    lead, length = speed * span / 3.0, norm(mean)[..., None]
    along = mean / np.maximum(length, _TINY)
    ahead = dot(lead, along)[..., None]
    off = np.maximum(-ahead, 0.0) + norm(lead - ahead * along)[..., None]
    room = _ROOM * np.maximum(np.pi - length * span, 0.0)
    return np.asarray(np.minimum(1.0, room / np.maximum(off, _TINY)))


@dataclass(frozen=True, slots=True, eq=False)
class Samples:
    """Values of some joints at some frames.

    Joints (n,), rotations (n, F, 4), translations (n, F, 3); None if these tracks have none.
    """

    joints: Ints
    rotations: Floats
    translations: Floats | None


def fade_frames(frame_time: float) -> int:
    """Frames in which keys on a clip fade in and out: a third of a second, at least ten."""
    return max(_LEAST_FADE, round(_FADE / frame_time))


def sampled(tracks: Iterable[Track], first: int, count: int, *, fade: int) -> list[Samples]:
    """The tracks at ``count`` frames from ``first``; tracks with keys at the same frames are computed together.

    ``fade``: frames beyond the outermost keys of values on a clip in which they fade to zero; 0: they stay constant.
    """
    groups = grouped((track.alike, track) for track in tracks).values()
    return [sampled_at(group, np.arange(first, first + count), fade=fade) for group in groups]


def sampled_at(group: list[Track], frames: Ints, *, fade: int) -> Samples:
    """Tracks with keys at the same frames, at frames (F,), ascending; ``fade`` as of `sampled`."""
    some = _Keys(group, int(frames[0]), int(frames[-1]))
    if fade:
        some.fade(fade)
    joints = np.array([track.joint for track in group], dtype=np.intp)
    spans_of_frames = _Spans(some.frames, some.blends, frames)
    moved = None if some.translations is None else spans_of_frames.places(some.translations, some.tangents)
    return Samples(joints, spans_of_frames.turns(some.rotations, some.tangents), moved)


def velocities(track: Track, *, fade: int) -> Floats:
    """(K, 6) velocities at the keys by smooth interpolation, as `Track.tangents`; ``fade`` as of `sampled`."""
    some = _Keys([track], int(track.frames[0]), int(track.frames[-1]))
    if fade:
        some.fade(fade)
    here, most = np.searchsorted(some.frames, track.frames), len(some.frames) - 1
    before, after = np.maximum(here - 1, 0), np.minimum(here + 1, most)
    sides = ((before, here), (here, after))
    spans = tuple(np.maximum(some.frames[b] - some.frames[a], 1).astype(np.float64) for a, b in sides)
    inner = (here > 0) & (here < most) & (some.blends[before] != _STEP) & (some.blends[here] != _STEP)
    given, found = some.tangents, np.zeros((len(here), 6))
    turned, moved = some.rotations[0], some.translations
    steps = [log(multiply(conjugate(turned[a]), turned[b])) for a, b in sides]
    speeds = [step / span[:, None] for step, span in zip(steps, spans, strict=True)]
    found[:, :3] = _velocity(_turning, speeds, spans, inner, None if given is None else given[0, here, :3])
    if moved is not None:
        steps = [moved[0, b] - moved[0, a] for a, b in sides]
        speeds = [step / span[:, None] for step, span in zip(steps, spans, strict=True)]
        found[:, 3:] = _velocity(_moving, speeds, spans, inner, None if given is None else given[0, here, 3:])
    return found


class _Keys:
    """The keys of a group that affect some frames: up to two on either side.

    Frames and blends (k,), rotations (n, k, 4), translations (n, k, 3) or None, tangents (n, k, 6) or None.
    """

    def __init__(self, group: list[Track], first: int, last: int) -> None:
        every = group[0].frames
        low = max(int(np.searchsorted(every, first, side="right")) - 2, 0)
        high = min(int(np.searchsorted(every, last, side="right")) + 2, len(every))
        some = slice(low, high)
        self._ends = low == 0, high == len(every)
        self.frames, self.blends = every[some], group[0].blends[some]
        self.rotations = np.stack([track.rotations[some] for track in group])
        moved = [track.translations[some] for track in group if track.translations is not None]
        self.translations = np.stack(moved) if moved else None
        tangents = [track.tangents[some] for track in group if track.tangents is not None]
        self.tangents = np.stack(tangents) if tangents else None

    def fade(self, count: int) -> None:
        """Add keys of zero, ``count`` frames before the first and after the last; smooth next to a smooth key."""
        nothing = np.broadcast_to(IDENTITY, (len(self.rotations), 1, 4))
        if self._ends[0]:
            coming = _SMOOTH if self.blends[0] == _SMOOTH else _LINEAR
            self.frames = np.concatenate([[self.frames[0] - count], self.frames])
            self.blends = np.concatenate([[coming], self.blends])
            self.rotations = np.concatenate([nothing, self.rotations], axis=1)
        if self._ends[1]:
            self.frames = np.concatenate([self.frames, [self.frames[-1] + count]])
            self.blends = np.concatenate([self.blends, [_STEP]])
            self.rotations = np.concatenate([self.rotations, nothing], axis=1)
        if self.translations is not None:
            self.translations = np.pad(self.translations, ((0, 0), tuple(map(int, self._ends)), (0, 0)))
        if self.tangents is not None:
            around = ((0, 0), tuple(map(int, self._ends)), (0, 0))
            self.tangents = np.pad(self.tangents, around, constant_values=np.nan)


class _Spans:
    """The keys that each frame lies between, and its fraction of the span."""

    def __init__(self, keys: Ints, blends: Ints, frames: Ints) -> None:
        self._keys, self._blends = keys, blends
        most = len(keys) - 1
        index = np.searchsorted(keys, frames, side="right") - 1
        inner = (index >= 0) & (index < most)
        self._from = np.clip(index, 0, most)
        self._part = np.zeros(len(frames))
        begin = self._from[inner]
        self._part[inner] = (frames[inner] - keys[begin]) / (keys[begin + 1] - keys[begin])
        between, blend = self._part > 0.0, blends[self._from]
        self._linear = np.flatnonzero(between & (blend == _LINEAR))
        self._smooth = np.flatnonzero(between & (blend == _SMOOTH))

    def turns(self, values: Floats, tangents: Floats | None) -> Floats:
        """Rotations (n, F, 4) from those of the keys (n, k, 4) and their tangents (n, k, 6); exact at keys."""
        result = values[:, self._from]
        if self._linear.size:
            begin, part = self._from[self._linear], self._part[self._linear]
            result[:, self._linear] = slerp(values[:, begin], values[:, begin + 1], part)
        if self._smooth.size:
            result[:, self._smooth] = smooth_turns(*self._around(values), self._given(tangents, slice(3)))
        return result

    def places(self, values: Floats, tangents: Floats | None) -> Floats:
        """Translations (n, F, 3), as `turns` computes rotations."""
        result = values[:, self._from]
        if self._linear.size:
            begin, part = self._from[self._linear], self._part[self._linear, None]
            result[:, self._linear] += part * (values[:, begin + 1] - values[:, begin])
        if self._smooth.size:
            result[:, self._smooth] = smooth_places(*self._around(values), self._given(tangents, slice(3, 6)))
        return result

    def _given(self, tangents: Floats | None, some: slice) -> tuple[Floats, Floats] | None:
        """The tangents at both ends of each smooth span."""
        if tangents is None:
            return None
        begin = self._from[self._smooth]
        return tangents[:, begin, some], tangents[:, begin + 1, some]

    def _around(self, values: Floats) -> tuple[tuple[Floats, ...], tuple[Floats, ...], tuple[Bools, Bools], Floats]:
        """Arguments of the splines; next to a step and at the outermost keys the velocity is zero."""
        begin, most = self._from[self._smooth], len(self._keys) - 1
        before, after = np.maximum(begin - 1, 0), np.minimum(begin + 2, most)
        around = (before, begin, begin + 1, after)
        times = [self._keys[some].astype(np.float64) for some in around]
        spans = tuple(np.maximum(b - a, 1.0) for a, b in pairwise(times))
        ends = (
            (begin > 0) & (self._blends[before] != _STEP),
            (begin + 2 <= most) & (self._blends[begin + 1] != _STEP),
        )
        return tuple(values[:, some] for some in around), spans, ends, self._part[self._smooth]
