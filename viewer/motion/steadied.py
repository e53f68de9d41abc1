"""Removes noise from legs that stand, as far as the shaking of their feet shows that it is noise.

A foot that stands does not shake. If it does in the clip, each joint of the leg shakes, too, or the whole body; with
planted feet, knee and ankle would have to make up for it. Clips without noise, or with planted feet, are not changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import between, conjugate, exp, hemisphere_continuous, log, multiply, normalized, rotate
from viewer.spatial.smoothing import low_pass
from viewer.spatial.vectors import norm, unit

CUTOFF, _AROUND = 6.0, 0.15
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
        frames: of the stance.
        piece: of the clip, that it is in.
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

    Args:
        heel: (N, F, 3) world positions.
        ball: (N, F, 3) world positions.
        stands: (N, F) whether the heel stands.
        pieces: of the clip.
        rate: frames per second.
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
    smooth = normalized(low_pass(hemisphere_continuous(turns[around]), rate, CUTOFF)[inside])
    rough = log(multiply(turns[stance.frames], conjugate(smooth)))
    return multiply(exp((1.0 - _noisy(rough, stance.noise)[:, None]) * rough), smooth)


def steady_body(path: Floats, stances: list[Stance], rate: float, length: float) -> Floats:
    """(F, 3) how a body is moved so that it does not shake over feet that stand.

    Feet shake by the rotations of legs or with the whole body, whose own path (F, 3) tells how much.

    Args:
        path: of the pelvis.
        stances: of both feet.
        rate: frames per second.
        length: of the leg, metres.
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

    Args:
        ways: (2, F, 3) from each hip to where its ankle is to be.
        stances: of each foot.
        rate: frames per second.
        length: of the leg, metres.
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
    return values - low_pass(values, rate, CUTOFF)


def _size(rough: Floats) -> Floats:
    """(...) the root mean square of the lengths of vectors (S, ..., D)."""
    return np.asarray(np.sqrt((rough**2).sum(axis=-1).mean(axis=0)))


def _noisy(rough: Floats, noise: ArrayLike) -> Floats:
    """The share of what smoothing removes, (S, ..., D), that is noise of this size."""
    return np.minimum(1.0, noise / np.maximum(_size(rough), _SAME))
