"""Which joints an IK drag may move."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.session.default_goals import above, below
from viewer.session.handle import Scope
from viewer.skeleton.effectors import find_place
from viewer.skeleton.figure import find_figure

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.session.document import Document
    from viewer.session.handle import Item
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Bools


def joint_of(document: Document, item: Item) -> int:
    """Index of an item's joint."""
    if item[0] == "joint":
        return document.skeleton.index(item[1])
    return find_place(document.skeleton, item[1]).joint


def locked_joints(document: Document, dragged: Iterable[int]) -> frozenset[str]:
    """Names of the joints that may not move while these joints, or points on them, are dragged.

    Limb: all but the limbs of the dragged joints: everything below where the limb leaves the body. A dragged root, or
    joint of the trunk where the body branches, takes the joints above it along.
    Selection: all but the selected joints and those of the selected effectors; if none of these lies on the way from
    a dragged joint up to the root, so that the drag could not move at all, it is as for the limb.
    """
    joints = list(dragged)
    if document.scope is Scope.BODY or not joints:
        return frozenset()
    skeleton = document.skeleton
    free = np.zeros(len(skeleton), dtype=np.bool_)
    if document.scope is Scope.SELECTION:
        free[[joint_of(document, item) for item in document.selection]] = True
        if not any(free[above(skeleton, joint)].any() for joint in joints):
            free[:] = False
    if not free.any():
        for joint in joints:
            free |= limb_of(skeleton, joint)
    return frozenset(name for name, moves in zip(skeleton.names, free.tolist(), strict=True) if not moves)


def limb_of(skeleton: Skeleton, joint: int) -> Bools:
    """(J,) the joints of the limb that a joint belongs to: an arm or leg of a figure, else up to where it branches."""
    figure = find_figure(skeleton)
    path = above(skeleton, joint)
    for limb in figure.limbs if figure is not None else ():
        first = limb.girdle[0] if limb.girdle else limb.upper
        if first in path:
            return below(skeleton, [first])
    branches = np.bincount(skeleton.parents[skeleton.parents >= 0], minlength=len(skeleton)) > 1
    own = [joint]
    for parent in path[1:]:
        if branches[parent]:
            break
        own.append(parent)
    result = below(skeleton, [joint])
    result[own] = True
    return result
