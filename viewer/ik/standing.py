"""A start that stands near: the figure moved as one rigid body, upright, to where its goals are.

One-shot solves of a free figure begin best from here. Hands tell little of where a body stands and faces: they count
half. A drag never begins so: it goes on from the pose that is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.kinematics import fk
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import from_axis_angle, multiply, rotate

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats, Ints

FEWEST = 3
"""Fewer goals do not say where a body stands: a hand is reached with the arm."""
_HAND = 0.5


def placed(skeleton: Skeleton, pose: Pose, joints: Ints, targets: Floats) -> Pose:
    """The pose with its figure's root turned about the vertical and moved so that the joints fit their targets best.

    The turn of least squares in the plane: Horn, "Closed-form solution of absolute orientation using unit quaternions"
    (J. Opt. Soc. Am. A 4, 1987), section 5, with weights.

    Args:
        skeleton: the joints.
        pose: where to start from.
        joints: (G,) that have a place to be.
        targets: (G, 3) metres, world frame.

    Returns:
        The pose itself where there is no figure, its root is not free, or fewer than `FEWEST` joints have targets.
    """
    figure = find_figure(skeleton)
    if figure is None or len(joints) < FEWEST or skeleton.kinds[figure.root] is not JointKind.FREE:
        return pose
    arms = np.zeros(len(skeleton), dtype=np.bool_)
    arms[[limb.upper for limb in figure.arms]] = True
    for joint, parent in enumerate(skeleton.parents.tolist()):
        arms[joint] |= parent >= 0 and arms[parent]
    weights = np.where(arms[joints], _HAND, 1.0)
    weights = weights / weights.sum()
    here = fk(skeleton, pose).positions[joints]
    middle, wanted = weights @ here, weights @ targets
    a, b = here - middle, targets - wanted
    up = figure.up
    a, b = a - np.outer(a @ up, up), b - np.outer(b @ up, up)
    angle = np.arctan2(weights @ (np.cross(a, b) @ up), weights @ np.einsum("ij,ij->i", a, b))
    turn = from_axis_angle(up, angle)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[figure.root] = multiply(turn, rotations[figure.root])
    translations[figure.root] = wanted + rotate(turn, translations[figure.root] - middle)
    return Pose(rotations, translations)
