"""Goals met in every frame of a stretch of motion so that neighbouring frames agree.

Frames solved one by one differ in what their goals leave free, and pop. Here some frames are solved first, as many as
corrections show that are smoothed over time: each starts from the correction of its neighbour, outwards from the frame
in which the goals weigh most. Between them the corrections are interpolated, then smoothed, and every frame is solved
from there, which moves it by little.

`within_limits` uses this for clips that must keep their joints' limits: turning each joint inside its limits moves
everything below it, and goals bring hands and feet back as far as the limits allow.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viewer.ik.goals import Goal
from viewer.ik.solver import Solver
from viewer.skeleton import Clip, Limb, Pose, Skeleton, World, fk_clip
from viewer.skeleton.coordinates import project_clip
from viewer.spatial.checks import Floats, Ints, handed_over
from viewer.spatial.quaternion import IDENTITY, angle_between, conjugate, exp, log, multiply, normalized
from viewer.spatial.smoothing import low_pass
from viewer.spatial.vectors import norm

_CUTOFF = 2.5
"""Hertz: cut-off of the low-pass filter on corrections before the last solve."""
_CARRIED = 15.0
"""Frames a second that are solved before corrections are smoothed: six for each period at the cut-off."""
_NEAR = 1e-5
"""Ends that limits move by less than this, in metres, are not brought back."""
_FOOT = 0.15
"""Metres: lever by which the rotation of a hand or foot counts as a displacement."""
_JOINED = 0.5
"""Stretches of frames closer together than this, in seconds, are solved as one."""
_MOST = 60
"""Iterations of a frame."""


class MovingGoal(NamedTuple):
    """A goal with its target in every frame.

    Attributes:
        goal: its kind, effector and weights.
        positions: (F, 3) target positions; NaN if it has none.
        rotations: (F, 4) target rotations; NaN if it has none.
    """

    goal: Goal
    positions: Floats
    rotations: Floats


class Correction(NamedTuple):
    """The change of frames.

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
    """Solve frames so that the goals are met in each of them.

    Args:
        solver: with the goals of the tracks, in their order; it should not restart.
        rotations: (F, J, 4) local, of the motion as it is.
        translations: (F, J, 3) local, metres.
        tracks: the targets.
        share: (F,) 0 to 1, the distance of the targets from the motion by the largest one; corrections fade with it.
        frame_time: seconds between frames.

    Returns:
        Rotations and translations of the solved frames; frames without a finite answer are unchanged.
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
    """The corrections carried from frame to frame, smoothed. Arguments are those of `solve_carried`."""
    middle = _middle(share)
    some = _carried_frames(len(rotations), middle, frame_time)
    points, turns = (each[some] for each in _targets(tracks))
    own, placed, share = rotations[some], translations[some], share[some]
    solved, moved = own.copy(), placed.copy()
    first = int(np.searchsorted(some, middle))
    for way in (range(first, len(some)), range(first - 1, -1, -1)):
        for frame in way:
            before = frame - way.step
            turn, shift = np.array(IDENTITY), np.zeros(3)
            if frame != first:
                part = min(1.0, share[frame] / share[before]) if share[before] > 0.0 else 0.0
                turn = _part_of(multiply(conjugate(own[before]), solved[before]), part)
                shift = part * (moved[before] - placed[before])
            start = _posed(normalized(multiply(own[frame], turn)), placed[frame] + shift)
            pose = solver.solve(start, points[frame], turns[frame]).pose
            if np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all():
                solved[frame], moved[frame] = pose.rotations, pose.translations
    changes = log(multiply(conjugate(own), solved)), moved - placed
    whole = (_interpolated(change, some, len(rotations)) for change in changes)
    return Correction(*(low_pass(each, 1.0 / frame_time, _CUTOFF) for each in whole))


def _carried_frames(count: int, middle: int, frame_time: float) -> Ints:
    """The frames that are solved before corrections are smoothed: the middle one and both ends are among them."""
    step = max(1, int(1.0 / (_CARRIED * frame_time) + 1e-3))
    return np.unique([0, *range(middle % step, count, step), count - 1])


def _interpolated(values: Floats, frames: Ints, count: int) -> Floats:
    """(F, ...) values of all frames, linear between those of some (N, ...), from the first frame to the last."""
    if len(frames) == count:
        return values
    every = np.arange(count)
    after = np.clip(np.searchsorted(frames, every), 1, len(frames) - 1)
    low, high = frames[after - 1], frames[after]
    part = ((every - low) / (high - low)).reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray(values[after - 1] + part * (values[after] - values[after - 1]))


def solve_corrected(
    solver: Solver, rotations: Floats, translations: Floats, tracks: Sequence[MovingGoal], correction: Correction
) -> tuple[Floats, Floats]:
    """Each frame solved by itself from its corrected pose; arguments and result are those of `solve_carried`."""
    points, turns = _targets(tracks)
    solved, moved = rotations.copy(), translations.copy()
    turned = normalized(multiply(rotations, exp(correction.turned)))
    starts = [_posed(*frame) for frame in zip(turned, translations + correction.shifted, strict=True)]
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


def _part_of(turns: Floats, part: float) -> Floats:
    """A part of rotations (J, 4), not normalised: linearly, since parts of neighbouring frames are nearly 1."""
    found = np.where(turns[:, 3:] < 0.0, -part, part) * turns
    found[:, 3] += 1.0 - part
    return found


def _posed(rotations: Floats, translations: Floats) -> Pose:
    return Pose.trusted(handed_over(rotations), handed_over(translations))


def within_limits(skeleton: Skeleton, clip: Clip, limbs: Sequence[Limb]) -> Clip:
    """A clip whose joints keep their limits.

    Args:
        skeleton: with limits.
        clip: its motion.
        limbs: whose ends, hands or feet, keep their world positions, and next their rotations.

    Returns:
        The clip; frames in which every joint was inside are unchanged.
    """
    inside = project_clip(skeleton, clip)
    before, after = fk_clip(skeleton, clip), fk_clip(skeleton, inside)
    away = _ends_away(limbs, before, after)
    frames = np.flatnonzero(away > _NEAR)
    if not len(frames):
        return inside
    goals = [goal for limb in limbs for goal in _end_goals(skeleton, limb, before)]
    # Within the usual tolerance, neighbouring frames would differ visibly.
    solver = Solver(
        skeleton, [one.goal for one in goals], tolerance_m=_NEAR, tolerance_deg=1e-3, restarts=False,
        max_iterations=_MOST,
    )  # fmt: skip
    rotations, translations = inside.rotations.copy(), inside.local_translations()
    for piece in _stretches(frames, max(1, round(_JOINED / clip.frame_time))):
        here = [MovingGoal(one.goal, one.positions[piece], one.rotations[piece]) for one in goals]
        rotations[piece], translations[piece] = solve_carried(
            solver, rotations[piece], translations[piece], here, away[piece] / away[piece].max(), clip.frame_time
        )
    return inside.with_motion(rotations, translations)


def _ends_away(limbs: Sequence[Limb], before: World, after: World) -> Floats:
    """(F,) metres between the ends of limbs in one world and in another; the largest distance counts."""
    away = np.zeros(len(before.positions))
    for limb in limbs:
        shift = norm(after.point(*limb.tip) - before.point(*limb.tip))
        if limb.end is not None:
            shift += _FOOT * angle_between(after.rotations[:, limb.end], before.rotations[:, limb.end])
        away = np.maximum(away, shift)
    return away


def _end_goals(skeleton: Skeleton, limb: Limb, world: World) -> list[MovingGoal]:
    """Goals that hold the end of a limb and, at a lower level, the rotation of its hand or foot."""
    (joint, offset), points = limb.tip, world.point(*limb.tip)
    nothing = np.full((len(points), 4), np.nan)
    kept = [MovingGoal(Goal.position(skeleton.names[joint], points[0], offset=offset), points, nothing)]
    if limb.end is not None:
        turns = world.rotations[:, limb.end]
        kept.append(MovingGoal(Goal.rotation(skeleton.names[limb.end], turns[0], level=2), nothing[:, :3], turns))
    return kept


def _stretches(frames: Ints, apart: int) -> list[slice]:
    """Runs of frames, ascending, with gaps of fewer than ``apart`` filled."""
    parts = np.split(frames, np.flatnonzero(np.diff(frames) > apart) + 1)
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]
