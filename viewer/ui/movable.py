"""What a drag can bring elsewhere: a point of a figure moves only if a joint above it can."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.session.standing import above
from viewer.skeleton.kinds import JointKind

if TYPE_CHECKING:
    from viewer.session import Document


def can_follow(document: Document, joint: int, *, beside: bool = False) -> bool:
    """Whether an IK drag can move a point of a joint.

    Args:
        document: with the joints' kinds, and what its solver may do with a free root.
        joint: index.
        beside: the point is not the joint's own middle, which turning the joint leaves where it is.
    """
    skeleton, root = document.skeleton, document.solver.root
    for place in above(skeleton, joint):
        kind = skeleton.kinds[place]
        turns = beside or place != joint
        if kind is JointKind.FREE:
            if root != "locked":
                return True
        elif kind is JointKind.SLIDE or (kind is not JointKind.FIXED and turns):
            return True
    return False
