"""How big a figure is: the places of its joints and tips, and their extent."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError, quote
from viewer.skeleton.kinematics import fk
from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats


FARTHEST = 1e7
"""Metres from the origin within which all has to stand: farther off a position has no millimetres left."""


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


def check_reach(character: Character) -> None:
    """Make sure that no pose of a file, and no turn of its joints, takes one beyond `FARTHEST`.

    Raises:
        InputError: one does, or a length is not a number.
    """
    skeleton = character.skeleton
    farthest = np.abs(skeleton.offsets)
    for pose in skeleton.poses.values():
        farthest = np.maximum(farthest, np.abs(pose.translations))
    for clip in character.clips.values():
        if len(clip) and len(clip.translated):
            moved = np.maximum(clip.translations.max(axis=0), -clip.translations.min(axis=0))
            farthest[clip.translated] = np.maximum(farthest[clip.translated], moved)
    reach: list[float] = []
    for bone, parent in zip(farthest.tolist(), skeleton.parents.tolist(), strict=True):
        reach.append(math.hypot(*bone) + (reach[parent] if parent >= 0 else 0.0))
    tips = zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets.tolist(), strict=True)
    ends = [*enumerate(reach), *((joint, reach[joint] + math.hypot(*tip)) for joint, tip in tips)]
    for joint, metres in ends:
        if not metres <= FARTHEST:
            name = quote(skeleton.names[joint])
            raise InputError(f"joint {name}: expected metres within {FARTHEST:g} of the origin, found {metres:g}")
