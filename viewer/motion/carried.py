"""Goals met in every frame of a stretch of motion so that neighbouring frames agree.

Frames solved one by one differ in what their goals leave free, and pop. Here each starts from the correction of its
neighbour, outwards from the frame in which the goals weigh most; then the corrections are smoothed over time, and every
frame is solved once more from there, which moves it by little.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viewer.ik.goals import Goal
from viewer.ik.solver import Solver
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats, handed_over
from viewer.spatial.quaternion import conjugate, exp, log, multiply, normalized
from viewer.spatial.smoothing import low_pass

_CUTOFF = 2.5
"""Hertz: what varies faster in a correction is smoothed away before the last solve."""


class MovingGoal(NamedTuple):
    """A goal with its target in every frame.

    Attributes:
        goal: that is met.
        positions: (F, 3) its target; NaN rows where it has none.
        rotations: (F, 4) likewise.
    """

    goal: Goal
    positions: Floats
    rotations: Floats


class Correction(NamedTuple):
    """By how much frames are changed.

    Attributes:
        turned: (F, J, 3) rotation vectors in the joints' own frames.
        shifted: (F, J, 3) metres.
    """

    turned: Floats
    shifted: Floats


def solve_carried(
    solver: Solver,
    rotations: Floats,
    translations: Floats,
    tracks: Sequence[MovingGoal],
    share: Floats,
    frame_time: float,
) -> tuple[Floats, Floats]:
    """Frames in which the goals are met.

    Args:
        solver: with the goals of the tracks, in their order; it should not restart.
        rotations: (F, J, 4) local, of the motion as it is.
        translations: (F, J, 3) local, metres.
        tracks: the targets.
        share: (F,) from 0 to 1: how far the targets are from the motion as it is, in parts of the most: where it falls
            to 0 the correction does.
        frame_time: seconds between frames.

    Returns:
        Rotations and translations of the solved frames; those that have no finite answer as they are.
    """
    correction = carried_correction(solver, rotations, translations, tracks, share, frame_time)
    return solve_corrected(solver, rotations, translations, tracks, correction)


def carried_correction(
    solver: Solver,
    rotations: Floats,
    translations: Floats,
    tracks: Sequence[MovingGoal],
    share: Floats,
    frame_time: float,
) -> Correction:
    """What carries the goals from frame to frame, smoothed: nearly the answer. Arguments as of `solve_carried`."""
    points, turns = _targets(tracks)
    solved, moved = rotations.copy(), translations.copy()
    middle = _middle(share)
    for way in (range(middle, len(rotations)), range(middle - 1, -1, -1)):
        for frame in way:
            before = frame - way.step
            start = Pose(rotations[frame], translations[frame])
            if frame != middle:
                part = min(1.0, share[frame] / share[before]) if share[before] > 0.0 else 0.0
                turn = part * log(multiply(conjugate(rotations[before]), solved[before]))
                start = _corrected(start, turn, part * (moved[before] - translations[before]))
            pose = solver.solve(start, points[frame], turns[frame]).pose
            if np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all():
                solved[frame], moved[frame] = pose.rotations, pose.translations
    turned = low_pass(log(multiply(conjugate(rotations), solved)), 1.0 / frame_time, _CUTOFF)
    return Correction(turned, low_pass(moved - translations, 1.0 / frame_time, _CUTOFF))


def solve_corrected(
    solver: Solver, rotations: Floats, translations: Floats, tracks: Sequence[MovingGoal], correction: Correction
) -> tuple[Floats, Floats]:
    """Each frame solved by itself from its corrected pose; arguments and result as of `solve_carried`."""
    points, turns = _targets(tracks)
    solved, moved = rotations.copy(), translations.copy()
    starts = [
        _corrected(Pose(*frame), turn, shift)
        for *frame, turn, shift in zip(rotations, translations, *correction, strict=True)
    ]
    last = solver.solve_batch(starts, points, turns)
    good = np.isfinite(last.rotations).all(axis=(1, 2)) & np.isfinite(last.translations).all(axis=(1, 2))
    solved[good], moved[good] = last.rotations[good], last.translations[good]
    return solved, moved


def _targets(tracks: Sequence[MovingGoal]) -> tuple[Floats, Floats]:
    """(F, G, 3) and (F, G, 4) of all goals."""
    return np.stack([one.positions for one in tracks], axis=1), np.stack([one.rotations for one in tracks], axis=1)


def _middle(share: Floats) -> int:
    """The frame in the middle of those with the largest share."""
    most = np.flatnonzero(share >= share.max() - 1e-9)
    return int(most[len(most) // 2])


def _corrected(pose: Pose, turn: Floats, shift: Floats) -> Pose:
    """A pose turned by rotation vectors (J, 3), in the joints' own frames, and moved by (J, 3) metres."""
    rotations = normalized(multiply(pose.rotations, exp(turn)))
    return Pose.trusted(handed_over(rotations), handed_over(pose.translations + shift))
