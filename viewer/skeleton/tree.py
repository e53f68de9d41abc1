"""Orders of the joints of a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from viewer.skeleton.skeleton import Skeleton


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
