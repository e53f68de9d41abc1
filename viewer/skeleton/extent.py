"""How big a figure is: the places of its joints and tips, and their extent."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.kinematics import fk
from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats


def tip_positions(skeleton: Skeleton, world: World) -> Floats:
    """World places (..., T, 3) of the end sites."""
    joints = skeleton.tip_parents
    turned = rotate(world.rotations[..., joints, :], skeleton.tip_offsets)
    return np.asarray(world.positions[..., joints, :] + turned)


def extent(character: Character) -> Floats:
    """(3,) metres that joints and tips span in x, y and z, in the first frame if there is one, else at rest."""
    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    world = fk(skeleton, pose)
    places = np.concatenate([world.positions, tip_positions(skeleton, world)])
    return np.asarray(places.max(axis=0) - places.min(axis=0))


def height(character: Character) -> float:
    """Metres from the lowest to the highest joint or tip, in the first frame if there is one, else at rest."""
    return float(extent(character)[1])
