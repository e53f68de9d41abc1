"""Orders of the joints of a tree."""

from __future__ import annotations

from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError
from viewer.skeleton.effectors import Effector
from viewer.skeleton.limits import JointKind
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.quaternion import IDENTITY, from_axis_angle


def depth_first(skeleton: Skeleton) -> list[int]:
    """Joint indices in the order that a hierarchy nests them: children right after their parent, in joint order."""
    children: list[list[int]] = [[] for _ in range(len(skeleton))]
    stack: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        (children[parent] if parent >= 0 else stack).append(joint)
    stack.reverse()
    order: list[int] = []
    while stack:
        joint = stack.pop()
        order.append(joint)
        stack += reversed(children[joint])
    return order


def at_or_below(skeleton: Skeleton, top: int) -> NDArray[np.bool_]:
    """(J,) whether each joint is this one or hangs on it."""
    below = [False] * len(skeleton)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        below[joint] = joint == top or (parent >= 0 and below[parent])
    return np.array(below)


MOST_LINKS = 10_000
_TURN = np.radians(60.0)
"""The relaxed chain bends this much from end to end: a straight one cannot be pulled inwards."""


def chain(links: int) -> Skeleton:
    """A chain of equal links, one metre long in all, standing upright on an unlimited ball joint.

    Raises:
        InputError: fewer than 1 or more than `MOST_LINKS` links.
    """
    if not 1 <= links <= MOST_LINKS:
        raise InputError(f"a chain has 1 to {MOST_LINKS} links, found {links}")
    length = 1.0 / links
    offsets = np.zeros((links, 3))
    offsets[1:, 1] = length
    rest = np.tile(IDENTITY, (links, 1))
    bent = np.tile(from_axis_angle((0.0, 0.0, 1.0), -_TURN / links), (links, 1))
    return Skeleton(
        name=f"chain-{links}",
        names=tuple(f"link_{number}" for number in range(1, links + 1)),
        parents=np.arange(-1, links - 1),
        offsets=offsets,
        rest_rotations=rest,
        kinds=(JointKind.BALL,) * links,
        axes=np.zeros((links, 2, 3)),
        limits=(None,) * links,
        stiffness=np.zeros(links),
        tip_parents=np.array([links - 1]),
        tip_offsets=np.array([[0.0, length, 0.0]]),
        effectors=(Effector("tip", links - 1, (0.0, length, 0.0)),),
        poses=MappingProxyType({"relaxed": Pose(bent, offsets)}),
    )
