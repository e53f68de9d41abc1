"""Moments at which a capture fails: the body, or a foot, is thrown away and is back a moment later.

The foot that stood there stands on: what is before and after belongs together. Thrown frames are left as they are.
"""

from __future__ import annotations

import numpy as np

from viewer.skeleton import Clip, Skeleton, World, fk_arrays
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import slerp
from viewer.spatial.vectors import norm

_LONGEST = 0.1
"""Seconds after which what was thrown is back, at most."""
_BACK = 0.5
"""It is back if it is nearer to where it was than this part of how far it was thrown."""
_SPIKE, _LEAST = 4.0, 0.02
"""A place is a spike if it is this many times farther from the middle of the two before and the two after it than these
are, and farther than this in leg lengths: noise is not."""


def thrown(paths: Floats, farthest: Floats, rate: float) -> Bools:
    """(F,) whether some point is away for a moment.

    Args:
        paths: (P, F, 3) of points, metres.
        farthest: (P,) metres that each moves from one frame to the next, if it is not thrown.
        rate: frames per second.
    """
    away = np.zeros(paths.shape[1], dtype=np.bool_)
    most = max(1, round(_LONGEST * rate))
    jumps = norm(np.diff(paths, axis=1)) > farthest[:, None]
    for path, here in zip(paths, jumps, strict=True):
        at = np.flatnonzero(here).tolist()
        for number, last in enumerate(at):
            for back in at[number + 1 :]:
                if back - last > most or away[last]:
                    break
                far = float(norm(path[last + 1 : back + 1] - path[last]).min())
                if float(norm(path[back + 1] - path[last])) < _BACK * far:
                    away[last + 1 : back + 1] = True
                    break
    return away


def mended(skeleton: Skeleton, clip: Clip, world: World, away: Bools) -> World:
    """The world with its thrown frames, none of them the first or the last, half-way between those around them."""
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


def without_spikes(paths: Floats, length: float) -> Floats:
    """Paths (P, F, 3) whose places far beside their neighbours are replaced by the middle of these."""
    if paths.shape[1] < 5:
        return paths
    around = np.stack([paths[:, :-4], paths[:, 1:-3], paths[:, 3:-1], paths[:, 4:]])
    middle = around.mean(axis=0)
    apart = norm(around - middle).max(axis=0)
    spikes = norm(paths[:, 2:-2] - middle) > np.maximum(_SPIKE * apart, _LEAST * length)
    if not spikes.any():
        return paths
    result = paths.copy()
    result[:, 2:-2][spikes] = middle[spikes]
    return result
