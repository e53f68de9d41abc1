"""Moments at which a capture fails: the body, or a foot, is in a wrong place and back a moment later.

Over a tenth of a second every path goes about straight on. Places that are far from the line through those before and
after them, as far as these scatter about it, are failures: spikes of one frame, stretches, and several near each other.
A capture that flickers, failing in every other frame, leaves no such line: there each frame is off the middle of its
neighbours, to alternating sides, for any length of time. Of the two halves of those frames, the failing one is the half
without which the path goes straight on at both ends.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from viewer.skeleton import Clip, Skeleton, World, fk_arrays
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import slerp
from viewer.spatial.smoothing import median
from viewer.spatial.vectors import dot, norm

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

    Args:
        paths: (P, F, 3) of points, metres.
        length: of a leg, metres.
        rate: frames per second.
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

    Args:
        paths: (P, F, 3) of points, metres.
        least: metres; smaller distances are no failure.
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


def mended(skeleton: Skeleton, clip: Clip, world: World, away: Bools) -> World:
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
