"""Which limits bind, which joints may move, and poses brought inside."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.session.planar_rig import rig_of
from viewer.skeleton.coordinates import limit_violation, project_pose
from viewer.skeleton.pose import Pose

if TYPE_CHECKING:
    from collections.abc import Collection

    from viewer.session.document import Document
    from viewer.skeleton.skeleton import Skeleton


@lru_cache(maxsize=16)
def bound_skeleton(
    skeleton: Skeleton, unlimited: frozenset[str] = frozenset(), locked: frozenset[str] = frozenset()
) -> Skeleton:
    """The skeleton that a solver is given; the same object for the same arguments.

    Args:
        skeleton: the document's.
        unlimited: names of the joints whose limits do not bind.
        locked: names of the joints that may not move.
    """
    if not unlimited and not locked:
        return skeleton
    limits = tuple(
        None if name in unlimited else own for name, own in zip(skeleton.names, skeleton.limits, strict=True)
    )
    fast = np.array([name in locked for name in skeleton.names])
    return replace(skeleton, limits=limits, stiffness=np.where(fast, 1.0, skeleton.stiffness))


def binding(document: Document) -> Skeleton:
    """The document's skeleton with the limits that bind (if limits are on at all)."""
    return bound_skeleton(document.skeleton, document.unlimited)


def violation(document: Document) -> float:
    """By how much the pose is outside the limits that bind: radians, metres of slides; 0 inside."""
    if not document.limits_on:
        return 0.0
    return float(limit_violation(binding(document), document.pose).max())


def inside(document: Document, pose: Pose) -> Pose:
    """The nearest pose, joint by joint, that the kinds can hold and the limits that bind allow, in its plane if any."""
    rig = rig_of(document)
    if rig is not None:
        return rig.nearest(pose, limits=document.limits_on)
    return project_pose(binding(document), pose, limits=document.limits_on)


def inside_at(document: Document, pose: Pose, joints: Collection[int]) -> Pose:
    """`inside` for some joints; the others stay as they are, inside or not."""
    chosen = list(joints)
    within = inside(document, pose)
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[chosen], translations[chosen] = within.rotations[chosen], within.translations[chosen]
    return Pose(rotations, translations)


def turned_within(document: Document, pose: Pose, joint: int) -> Pose:
    """`inside_at` for the one joint that a hand has moved."""
    return inside_at(document, pose, [joint])
