"""What the figures of the bundled samples look like, as little drawings."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from viewer.errors import ViewerError
from viewer.formats.load import load
from viewer.skeleton.extent import tip_positions
from viewer.skeleton.kinematics import fk

Segment = tuple[tuple[float, float], tuple[float, float]]


@lru_cache(maxsize=32)
def outline(name: str) -> tuple[Segment, ...]:
    """The bones of a sample from half the front, as lines in a unit square, y down; none if it cannot be read."""
    try:
        character = load(f"sample:{name}")
    except ViewerError:
        return ()
    skeleton = character.skeleton
    pose = character.clip.pose(0) if character.clip is not None else skeleton.relaxed_pose()
    world = fk(skeleton, pose)
    tips = tip_positions(skeleton, world)
    turn = np.radians(30.0)
    across = np.array([np.cos(turn), 0.0, -np.sin(turn)])
    points = np.concatenate([world.positions, tips])
    flat = np.stack([points @ across, -points[:, 1]], axis=1)
    low, high = flat.min(axis=0), flat.max(axis=0)
    size = float((high - low).max()) or 1.0
    placed = (flat - (low + high) / 2.0) / size + 0.5
    ends = [(int(parent), joint) for joint, parent in enumerate(skeleton.parents.tolist()) if parent >= 0]
    ends += [(int(parent), len(skeleton) + index) for index, parent in enumerate(skeleton.tip_parents.tolist())]
    return tuple(
        ((float(placed[a, 0]), float(placed[a, 1])), (float(placed[b, 0]), float(placed[b, 1]))) for a, b in ends
    )
