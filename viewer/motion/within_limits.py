"""A clip inside the limits of its joints, with hands and feet where they were as far as the limits let them.

Each joint's nearest turn inside its limits moves all that hangs on it. Where that takes the end of a limb away, goals
bring it back: these frames are solved inside the limits, each from the correction of its neighbour (`carried.py`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from viewer.ik.goals import Goal
from viewer.ik.solver import Solver
from viewer.motion.carried import MovingGoal, solve_carried
from viewer.skeleton import Clip, Limb, Skeleton, World, fk_clip
from viewer.skeleton.coordinates import project_clip
from viewer.spatial.checks import Ints
from viewer.spatial.quaternion import angle_between

_NEAR = 1e-5
"""Ends that limits take away by less than this, in metres, stay there."""
_FOOT = 0.15
"""Metres: a turn of a hand or foot counts as the way of a point so far from it."""
_JOINED = 0.5
"""Stretches of frames that are nearer together than this, in seconds, are solved as one."""
_MOST = 60
"""Iterations of a frame."""


def within_limits(skeleton: Skeleton, clip: Clip, limbs: Sequence[Limb]) -> Clip:
    """A clip whose joints keep their limits.

    Args:
        skeleton: with limits.
        clip: its motion.
        limbs: whose ends keep their places in the world, and then their turns: hands or feet.

    Returns:
        The clip. Frames in which every joint was inside keep their numbers.
    """
    inside = project_clip(skeleton, clip)
    before, after = fk_clip(skeleton, clip), fk_clip(skeleton, inside)
    away = np.zeros(len(clip))
    for limb in limbs:
        shift = np.linalg.norm(after.point(*limb.tip) - before.point(*limb.tip), axis=1)
        if limb.end is not None:
            shift += _FOOT * angle_between(after.rotations[:, limb.end], before.rotations[:, limb.end])
        away = np.maximum(away, shift)
    if not (away > _NEAR).any():
        return inside
    tracks = [track for limb in limbs for track in _kept(skeleton, limb, before)]
    # At the usual tolerance each frame would end elsewhere inside it.
    solver = Solver(
        skeleton, [one.goal for one in tracks], tolerance_m=_NEAR, tolerance_deg=1e-3, restarts=False,
        max_iterations=_MOST,
    )  # fmt: skip
    rotations, translations = inside.rotations.copy(), inside.local_translations()
    for piece in _stretches(np.flatnonzero(away > _NEAR), max(1, round(_JOINED / clip.frame_time))):
        here = [MovingGoal(one.goal, one.positions[piece], one.rotations[piece]) for one in tracks]
        rotations[piece], translations[piece] = solve_carried(
            solver, rotations[piece], translations[piece], here, away[piece] / away[piece].max(), clip.frame_time
        )
    return inside.with_motion(rotations, translations)


def _kept(skeleton: Skeleton, limb: Limb, world: World) -> list[MovingGoal]:
    """The end of a limb where it is, and where it is a joint turned as it is, if the limits allow both."""
    joint, offset = limb.tip
    name, points = skeleton.names[joint], world.point(*limb.tip)
    nothing = np.full((len(points), 4), np.nan)
    kept = [MovingGoal(Goal.position(name, points[0], offset=offset), points, nothing)]
    if limb.end is not None:
        turns = world.rotations[:, limb.end]
        kept.append(MovingGoal(Goal.rotation(skeleton.names[limb.end], turns[0], level=2), nothing[:, :3], turns))
    return kept


def _stretches(frames: Ints, apart: int) -> list[slice]:
    """Runs of frames, ascending, with gaps of fewer than ``apart`` filled."""
    parts = np.split(frames, np.flatnonzero(np.diff(frames) > apart) + 1)
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]
