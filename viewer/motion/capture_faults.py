"""Faults of captures: gaps, noise of points and of legs that stand, and frames that fail.

A foot that stands does not shake. If it does in the clip, each joint of the leg shakes, too, or the whole body; with
planted feet, knee and ankle would have to make up for it. Clips without noise, or with planted feet, are not changed.

Over a tenth of a second every path goes about straight on. Places that are far from the line through those before and
after them, as far as these scatter about it, are failures: spikes of one frame, stretches, and several near each other.
A capture that flickers, failing in every other frame, leaves no such line: there each frame is off the middle of its
neighbours, to alternating sides, for any length of time. Of the two halves of those frames, the failing one is the half
without which the path goes straight on at both ends.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.skeleton import Clip, Skeleton, World, fk_arrays
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    between,
    conjugate,
    dot,
    exp,
    hemisphere_continuous,
    log,
    multiply,
    norm,
    normalized,
    rotate,
    slerp,
    unit,
)
from viewer.spatial.smoothing import low_pass, median

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


def without_gaps(points: Floats, parents: Sequence[int]) -> Floats:
    """Paths without gaps, by cubic interpolation relative to the point above, at the median distance from it.

    ``points`` (F, N, 3) are NaN where there is no position; every point has one in some frame. ``parents`` (N,): the
    point above each, which comes first; -1 for roots.
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

    ``points`` (F, N, 3) are NaN where there is no position; ``parents`` (N,): the point above each; -1 for roots.

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


_CUTOFF, _AROUND = 6.0, 0.15
"""Hertz at which a leg that stands, and what an arm does to touch, is smoothed; seconds of a leg's before and after."""
_PER_LENGTH = 1.5
"""Radians by which a foot is turned by noise of all joints that moves it by a leg's length."""
_UNSEEN = np.radians(0.25)
"""Radians by which feet that stand shake in clean captures: these are left alone, and twice as much is smoothed fully.
"""
_STIFF = 0.05
"""Weight of moving the body relative to the length of a leg: it does not move far because two legs differ."""
_SAME = 1e-12


class Stance(NamedTuple):
    """Frames in which a foot stands.

    Attributes:
        piece: of the clip that it is in.
        noise: radians by which the foot shakes, by how its place does; 0 in clean captures.
    """

    frames: slice
    piece: slice
    noise: float

    def around(self, rate: float) -> slice:
        """Its frames and those near it."""
        more = round(_AROUND * rate)
        return slice(max(self.frames.start - more, self.piece.start), min(self.frames.stop + more, self.piece.stop))


def shakes_of(heel: Floats, ball: Floats, stands: Bools, pieces: list[slice], rate: float) -> Floats:
    """(N, F) metres by which feet shake: their heels where these stand, else their balls.

    ``heel`` and ``ball`` (N, F, 3) are in the world; ``stands`` (N, F): whether the heel stands; ``rate``: frames per
    second.
    """
    paths, shakes = np.stack([heel, ball]).transpose(2, 0, 1, 3), np.empty((2, *stands.shape))
    for piece in pieces:
        shakes[..., piece] = norm(_rough(paths[piece], rate)).transpose(1, 2, 0)
    return np.asarray(np.where(stands, shakes[0], shakes[1]))


def shake_noise(shakes: Floats, length: float) -> float:
    """`Stance.noise` of a foot that shakes by (S,) metres in the frames of a stance; length of the leg, metres."""
    noise = _PER_LENGTH * float(np.sqrt((shakes**2).mean())) / length
    return float(min(noise, 2.0 * max(noise - _UNSEEN, 0.0)))


def steadied(turns: Floats, stance: Stance, rate: float) -> Floats:
    """The rotations (S, K, 4) of a stance, from those (F, K, 4) of all frames, without its noise."""
    around = stance.around(rate)
    inside = slice(stance.frames.start - around.start, stance.frames.stop - around.start)
    smooth = normalized(low_pass(hemisphere_continuous(turns[around]), rate, _CUTOFF)[inside])
    rough = log(multiply(turns[stance.frames], conjugate(smooth)))
    return multiply(exp((1.0 - _noisy(rough, stance.noise)[:, None]) * rough), smooth)


def steady_body(path: Floats, stances: list[Stance], rate: float, length: float) -> Floats:
    """(F, 3) how a body is moved so that it does not shake over feet that stand.

    Feet shake by the rotations of legs or with the whole body, whose path (F, 3) tells how much.

    ``path`` is that of the pelvis; ``rate``: frames per second; ``length``: of the leg, metres.
    """
    part, moves = np.zeros(len(path)), np.zeros_like(path)
    noisy = [stance for stance in stances if stance.noise]
    for start, stop in dict.fromkeys((one.piece.start, one.piece.stop) for one in noisy):
        moves[start:stop] = -_rough(path[start:stop], rate)
    for stance in noisy:
        here = stance.frames
        part[here] = np.maximum(part[here], _noisy(moves[here], stance.noise * length / _PER_LENGTH))
    return moves * part[:, None]


def steady_hips(ways: Floats, stances: Sequence[list[Stance]], rate: float, length: float) -> Floats:
    """(F, 3) how a body is moved so that its hips do not shake over feet that stand.

    Hips shake with the rotations of the pelvis. In a nearly straight leg the knee would have to make up for it by
    several times as much, so the body moves along the leg, as little as necessary.

    ``ways`` (2, F, 3): from each hip to where its ankle is to be; ``rate``: frames per second; ``length``: of the leg,
    metres.
    """
    count = ways.shape[1]
    if not any(stance.noise for own in stances for stance in own):
        return np.zeros((count, 3))
    moments, sums = np.tile(_STIFF * np.eye(3), (count, 1, 1)), np.zeros((count, 3))
    for way, own in zip(ways, stances, strict=True):
        lengths, directions = norm(way), unit(way)
        for stance in own:
            if not stance.noise:
                continue
            here, around = stance.frames, stance.around(rate)
            rough = _rough(lengths[around], rate)[here.start - around.start : here.stop - around.start]
            part = _noisy(rough[:, None], stance.noise * length / _PER_LENGTH)
            along = directions[here]
            moments[here] += along[:, :, None] * along[:, None, :]
            sums[here] += (part * rough)[:, None] * along
    return np.asarray(np.linalg.solve(moments, sums[:, :, None])[:, :, 0])


def steadied_ankle(
    moves: Floats, turns: Floats, run: slice, stance: Stance, points: tuple[Floats, Floats, Floats], rate: float
) -> tuple[Floats, Floats]:
    """Corrections (S, 3) of an ankle's place and of its foot's rotation that make the ankle's path smooth.

    While the ball alone stands, the ankle would move with every shake of the foot, and bend a nearly straight leg. It
    is smoothed as far as corrections shake it; the foot turns for it, and the ball keeps its place.

    Args:
        moves: (F, 3) corrections of the ankle's place with which the ball stands.
        turns: (S, 3) corrections of the foot's rotation in the frames of the run.
        run: the frames.
        stance: that they are in.
        points: (F, 3) world positions of heel and ball, and (3,) where the ball stands.
        rate: frames per second.
    """
    heel, ball, at_ball = points
    more = round(_AROUND * rate)
    around = slice(max(run.start - more, stance.piece.start), min(run.stop + more, stance.piece.stop))
    # Beyond the stance, corrections are not known yet: they go on from its ends.
    known = moves[np.clip(np.arange(around.start, around.stop), stance.frames.start, stance.frames.stop - 1)]
    shake, rough = _rough(np.stack([known, heel[around] + known], axis=1), rate).swapaxes(0, 1)
    smooth = (
        heel[run] + moves[run] - _noisy(rough, _size(shake)) * rough[run.start - around.start :][: run.stop - run.start]
    )
    turned = exp(turns)
    foot, ahead = rotate(turned, ball[run] - heel[run]), at_ball - smooth
    ahead *= (norm(foot) / np.maximum(norm(ahead), _SAME))[:, None]
    return at_ball - ahead - heel[run], log(multiply(between(foot, ahead), turned))


def _rough(values: Floats, rate: float) -> Floats:
    """What smoothing removes from values (F, ...)."""
    return values - low_pass(values, rate, _CUTOFF)


def _size(rough: Floats) -> Floats:
    """(...) the root mean square of the lengths of vectors (S, ..., D)."""
    return np.asarray(np.sqrt((rough**2).sum(axis=-1).mean(axis=0)))


def _noisy(rough: Floats, noise: ArrayLike) -> Floats:
    """The share of what smoothing removes, (S, ..., D), that is noise of this size."""
    return np.minimum(1.0, noise / np.maximum(_size(rough), _SAME))


_LONGEST = 0.1
"""The most seconds that a failure lasts; at least `_SIDE` frames and one, so that two failures near each other do not
hide each other.
"""
_TIMES = 5.0
"""Places are failures if they are this many times as far from the line as those on either side scatter about it ..."""
_LEAST = 0.02
"""... and farther than this, in leg lengths: smaller failures move no contact."""
_SIDE = 3
"""Frames on either side that the line goes through."""
_TURNS, _OPPOSED = 3, 0.5
"""A flicker turns back this often or more; each time to the other side, by the cosine of the angle between both."""
_LEAP = 1.0 - 7.0 / 3.0 / _TIMES
"""A failure starts and ends by a leap of this part of its distance off the line through the three places beside it:
that line is off by 7 / 3 of their scatter at most. Only stretches between leaps are looked at."""


def failures(paths: Floats, length: float, rate: float) -> Floats:
    """(P, F) metres that points are away from where they should be; 0 where they do not fail, as at either end.

    ``paths`` (P, F, 3): of points, metres; ``length``: of a leg, metres; ``rate``: frames per second.
    """
    off, count, least = np.zeros(paths.shape[:2]), paths.shape[1], _LEAST * length
    if count < 3:
        return off
    # Two more places at either end, where the path ends: every place has three on each side.
    padded = np.concatenate([paths[:, :1], paths[:, :1], paths, paths[:, -1:], paths[:, -1:]], axis=1)
    # Of three places the sum, and how far they go: in the next frame their line is at a third of the sum plus that.
    sums, goes = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:], padded[:, 2:] - padded[:, :-2]
    inner, leaves, returns = paths[:, 1:-1], np.zeros(off.shape, np.bool_), np.zeros(off.shape, np.bool_)
    leaves[:, 1:-1] = norm(inner - sums[:, : count - 2] / 3.0 - goes[:, : count - 2]) > _LEAP * least
    returns[:, 1:-1] = norm(inner - sums[:, 4:] / 3.0 + goes[:, 4:]) > _LEAP * least
    points, firsts, lasts = _stretches(leaves, returns, max(_SIDE + 1, round(_LONGEST * rate)))
    for point, frames in _flickers(paths, least):
        middle = 0.5 * (paths[point, frames - 1] + paths[point, frames + 1])
        off[point, frames] = norm(paths[point, frames] - middle)
    if not len(points):
        return off
    # The line through the three places before and the three after each stretch.
    before, after, centre = (points, firsts - 1), (points, lasts + 3), 0.5 * (firsts + lasts)
    apart = (lasts - centre + 2.0)[:, None]
    middle = (sums[before] + sums[after]) / 6.0
    slope = (apart * (sums[after] - sums[before]) + goes[before] + goes[after]) / (6.0 * apart**2 + 4.0)

    def away(rows: Ints, frames: Ints) -> Floats:
        """(N, K) metres from the lines of some stretches to their points' places in frames (N, K)."""
        line = middle[rows, None] + (frames - centre[rows, None])[..., None] * slope[rows, None]
        return norm(padded[points[rows, None], frames + 2] - line)

    ends = away(np.arange(len(points)), np.stack([firsts, lasts], axis=1)).min(axis=1)
    far = np.flatnonzero(ends > least)
    beside = np.arange(1, _SIDE + 1)
    sides = np.concatenate([firsts[far, None] - beside, lasts[far, None] + beside], axis=1)
    limits = np.maximum(_TIMES * away(far, sides).max(axis=1), least)
    for row, limit in zip(far.tolist(), limits.tolist(), strict=True):
        if ends[row] > limit:
            inside = np.arange(firsts[row], lasts[row] + 1)
            found = away(np.array([row]), inside[None])[0]
            off[points[row], inside] = np.maximum(off[points[row], inside], np.where(found > limit, found, 0.0))
    return off


def _flickers(paths: Floats, least: float) -> Iterator[tuple[int, Ints]]:
    """The points and frames of failures in all stretches in which every other frame fails.

    ``paths`` (P, F, 3): of points, metres. Distances below ``least`` metres are no failure.
    """
    bends = paths[:, 1:-1] - 0.5 * (paths[:, :-2] + paths[:, 2:])
    size = norm(bends)
    limit = np.maximum(_TIMES * median(size.T)[:, None], least)
    far = size > limit
    opposed = dot(bends[:, 1:], bends[:, :-1]) < -_OPPOSED * size[:, 1:] * size[:, :-1]
    turns = far[:, 1:] & far[:, :-1] & opposed
    for point in np.flatnonzero(turns.any(axis=1)).tolist():
        first, most = 0, turns.shape[1]
        row = turns[point]
        while first < most:
            if not row[first]:
                first += 1
                continue
            last = first
            while last < most and row[last]:
                last += 1
            # Frames first + 1 to last + 1 are off the middle of their neighbours, to alternating sides.
            if last - first >= _TURNS:
                frames = np.arange(first + 1, last + 2)
                halves = [frames[start::2] for start in (0, 1)]
                rough = [_rough_without(paths[point], half, frames) for half in halves]
                best = int(np.argmin(rough))
                if rough[best] < limit[point, 0]:
                    yield point, halves[best]
            first = last


def _rough_without(path: Floats, some: Ints, frames: Ints) -> float:
    """The most metres by which a path (F, 3) bends at some frames and their neighbours if other frames are left out."""
    bridged_path = path.copy()
    bridged_path[some] = 0.5 * (path[some - 1] + path[some + 1])
    around = bridged_path[max(frames[0] - _SIDE, 0) : frames[-1] + _SIDE + 1]
    return float(norm(around[1:-1] - 0.5 * (around[:-2] + around[2:])).max(initial=0.0))


def _stretches(leaves: Bools, returns: Bools, longest: int) -> tuple[Ints, Ints, Ints]:
    """Points, first and last frames of all stretches of up to some frames from one that leaves to one that returns."""
    found = []
    for more in range(min(longest, leaves.shape[1])):
        points, firsts = np.nonzero(leaves[:, : leaves.shape[1] - more] & returns[:, more:])
        found.append((points, firsts, firsts + more))
    points, firsts, lasts = (np.concatenate(each) for each in zip(*found, strict=True))
    return points, firsts, lasts


def bridged(paths: Floats, failed: Bools) -> Floats:
    """Paths (P, F, 3) that go straight from before each failure (P, F) to after it."""
    if not failed.any():
        return paths
    result, frames = paths.copy(), np.arange(paths.shape[1])
    for path, gone in zip(result, failed, strict=True):
        for axis in path.T:
            axis[gone] = np.interp(frames[gone], frames[~gone], axis[~gone])
    return result


def filled_in(skeleton: Skeleton, clip: Clip, world: World, away: Bools) -> World:
    """The world with its lost frames, never the first or the last, interpolated between those around them."""
    frames = np.flatnonzero(away)
    sound = np.flatnonzero(~away)
    after = np.searchsorted(sound, frames)
    before, behind = sound[after - 1], sound[after]
    part = (frames - before) / (behind - before)
    local = clip.local_translations()
    turns = slerp(
        clip.rotations[before], clip.rotations[behind], np.broadcast_to(part[:, None], (len(frames), len(skeleton)))
    )
    places = local[before] + part[:, None, None] * (local[behind] - local[before])
    between = fk_arrays(skeleton.parents, turns, places)
    positions, rotations = world.positions.copy(), world.rotations.copy()
    positions[frames], rotations[frames] = between.positions, between.rotations
    return World(positions, rotations)
