"""Posing the bundled skeletons, for their tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from inside.skeleton import joint_space, tip_positions

from viewer import load
from viewer.skeleton import Pose, fk

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton


def skeleton_of(name: str) -> Skeleton:
    return load(f"sample:{name}").skeleton


def tips(skeleton: Skeleton, pose: Pose) -> Floats:
    return tip_positions(skeleton, fk(skeleton, pose))


def bent(skeleton: Skeleton, coordinates: dict[str, tuple[float, ...]]) -> Pose:
    """The rest pose but for some joints, in degrees of their coordinates."""
    values = np.zeros((len(skeleton), 3))
    for name, angles in coordinates.items():
        values[skeleton.index(name), : len(angles)] = np.radians(angles)
    rest = skeleton.rest_pose()
    return Pose(*joint_space(skeleton).rebuild(values, rest.rotations, rest.translations))


def place(skeleton: Skeleton, pose: Pose, joint: str) -> Floats:
    return np.asarray(fk(skeleton, pose).positions[skeleton.index(joint)])
