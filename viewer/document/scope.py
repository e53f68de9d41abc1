"""What may move, and how far: the scope of a drag, locked joints, limits that bind, closed loops, and the plane."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from functools import lru_cache

import numpy as np

from viewer.document.document import Document, Item, Scope, prefers
from viewer.document.planar import PlanarRig, normal_of, out_of, planar_rig
from viewer.ik.grips import loop_goals
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton import (
    Pose,
    Skeleton,
    above,
    at_or_below,
    effector_of,
    find_figure,
    limit_violation,
    project_pose,
)
from viewer.skeleton.coordinates import limited_joints, project_joint, with_leaders_moved
from viewer.spatial.checks import Bools, Floats

_CLOSED = 1e-5
"""Tolerance, metres, of closed loops."""


def joint_of(document: Document, item: Item) -> int:
    """Index of an item's joint."""
    return joints_of(document, item)[0]


def joints_of(document: Document, item: Item) -> list[int]:
    """Index of an item's joint, and of that of the second effector of a goal for two."""
    if item[0] == "joint":
        return [document.skeleton.index(item[1])]
    return [effector_of(document.skeleton, name).joint for name in document.goal(item[1]).ends]


def locked_joints(document: Document, dragged: Iterable[int]) -> frozenset[str]:
    """Names of the joints that may not move while these joints, or points on them, are dragged.

    Limb: all but the limbs of the dragged joints, from where the limb leaves the body. A dragged root, or trunk joint
    where the body branches, includes the joints above it.
    Selection: all but the selected joints and those of selected effectors; if none of these is between a dragged
    joint and the root, so that the drag could move nothing, as for the limb.
    """
    joints = list(dragged)
    if document.scope is Scope.BODY or not joints:
        return frozenset()
    skeleton = document.skeleton
    free = np.zeros(len(skeleton), dtype=np.bool_)
    if document.scope is Scope.SELECTION:
        free[[joint for item in document.selected_on_figure for joint in joints_of(document, item)]] = True
        if not any(free[above(skeleton, joint)].any() for joint in joints):
            free[:] = False
    if not free.any():
        for joint in joints:
            free |= limb_of(skeleton, joint)
    return frozenset(name for name, moves in zip(skeleton.names, free.tolist(), strict=True) if not moves)


def limb_of(skeleton: Skeleton, joint: int) -> Bools:
    """(J,) the joints of a joint's limb: an arm or leg of a figure, else up to the next branch."""
    figure = find_figure(skeleton)
    path = above(skeleton, joint)
    for limb in figure.limbs if figure is not None else ():
        if limb.first in path:
            return at_or_below(skeleton, limb.first)
    branches = np.bincount(skeleton.parents[skeleton.parents >= 0], minlength=len(skeleton)) > 1
    own = [joint]
    for parent in path[1:]:
        if branches[parent]:
            break
        own.append(parent)
    result = at_or_below(skeleton, joint)
    result[own] = True
    return result


@lru_cache(maxsize=16)
def bound_skeleton(
    skeleton: Skeleton, unlimited: frozenset[str] = frozenset(), locked: frozenset[str] = frozenset()
) -> Skeleton:
    """The skeleton that the solver gets; the same object for the same arguments.

    Limits of the joints named in ``unlimited`` do not bind; those in ``locked`` may not move.
    """
    if not unlimited and not locked:
        return skeleton
    limits = tuple(
        None if name in unlimited else own for name, own in zip(skeleton.names, skeleton.limits, strict=True)
    )
    fast = np.array([name in locked for name in skeleton.names])
    return replace(skeleton, limits=limits, stiffness=np.where(fast, 1.0, skeleton.stiffness))


def solved_skeleton(
    document: Document,
    rig: PlanarRig | None,
    locked: frozenset[str],
    root: str,
    unlimited: frozenset[str] | None = None,
) -> Skeleton:
    """`bound_skeleton` of a document, or of its rig.

    Joints named in ``locked`` may not move; ``root`` is "free", "translate" or "locked". ``unlimited`` replaces the
    document's.
    """
    if rig is not None:
        return bound_skeleton(rig.skeleton, locked=rig.locked(locked, root))
    return bound_skeleton(document.skeleton, document.unlimited if unlimited is None else unlimited, locked)


def binding(document: Document) -> Skeleton:
    """The document's skeleton with the limits that bind (if limits are on at all)."""
    return bound_skeleton(document.skeleton, document.unlimited)


def violation(document: Document) -> float:
    """How far the pose is outside the limits that bind: radians, or metres of slides; 0 inside."""
    if not document.limits_on:
        return 0.0
    return float(limit_violation(binding(document), document.pose).max())


def inside(document: Document, pose: Pose) -> Pose:
    """The nearest pose, joint by joint, allowed by joint kinds, limits that bind and, if any, the plane."""
    rig = rig_of(document)
    if rig is not None:
        return rig.nearest(pose, limits=document.limits_on)
    return project_pose(binding(document), pose, limits=document.limits_on)


def inside_at(document: Document, pose: Pose, joints: Collection[int]) -> Pose:
    """`inside` for some joints; the others stay unchanged."""
    pose, chosen = with_leaders_moved(document.skeleton, pose, joints)
    if document.planar is None and len(chosen) == 1:
        return project_joint(binding(document), pose, chosen[0], limits=document.limits_on)
    return pose.with_joints(inside(document, pose), chosen)


def joints_at_limit(document: Document) -> tuple[str, ...]:
    """Names of the joints at or beyond a limit that binds, in the pose shown: solved, played or pasted."""
    names = document.skeleton.names
    return tuple([names[joint] for joint in sorted(at_limit(document))])


def at_limit(document: Document) -> frozenset[int]:
    """Indices of these joints."""
    if not document.limits_on:
        return frozenset()
    return limited_joints(binding(document) if document.unlimited else document.skeleton, document.pose)


def out_of_plane(document: Document) -> tuple[str, ...]:
    """Names of joints whose limits keep their bones out of the document's plane."""
    if document.planar is None:
        return ()
    limited, names = joints_at_limit(document), document.skeleton.names
    outside = out_of(document.skeleton, document.pose, document.planar)
    return tuple(names[joint] for joint in outside if names[joint] in limited)


def with_loops_closed(document: Document, pose: Pose, moved: Iterable[int]) -> Pose:
    """A pose with the skeleton's loops closed by the joints that were not moved; where these cannot, by all.

    Without loops it is the pose itself.
    """
    skeleton = document.skeleton
    if not skeleton.loops:
        return pose
    names = frozenset(skeleton.names[joint] for joint in moved)
    found = pose
    for locked in (names, frozenset[str]()):
        bound = replace(bound_skeleton(skeleton, document.unlimited, locked), loops=())
        chosen = document.solver.options(limits=document.limits_on)
        solver = Solver(
            bound, loop_goals(skeleton), limits=chosen.limits, backend=chosen.backend, root="locked", restarts=False,
            tolerance_m=_CLOSED,
        )  # fmt: skip
        solution = solver.solve(pose)
        found = solution.pose
        if solution.status is Status.CONVERGED:
            break
    return found


def preferred_pose(document: Document, rig: PlanarRig | None) -> Pose | None:
    """The preferred pose of the document's skeleton, or of its rig, or None.

    The same object for the same skeleton and rig: cached solvers are found by it.
    """
    preferred = document.solver.preferred(document.skeleton) if prefers(document.solver) else None
    return preferred if preferred is None or rig is None else _flat(rig, document.pose, preferred)


@lru_cache(maxsize=8)
def _flat(rig: PlanarRig, pose: Pose, preferred: Pose) -> Pose:
    """The preferred pose within the rig's planes, its free roots as in the pose shown."""
    # The solver brings it inside limits that bind.
    return rig.lifted(rig.nearest(preferred.with_joints(pose, rig.roots), limits=False))


def in_plane(document: Document, point: Floats, level: Floats) -> Floats:
    """(3,) a point projected into the plane through ``level``; unchanged if the document is not planar."""
    if document.planar is None:
        return point
    normal = normal_of(document.planar)
    return np.asarray(point + ((level - point) @ normal) * normal)


def rig_of(document: Document) -> PlanarRig | None:
    """The rig of a planar document in its pose; None if the document is not planar."""
    if document.planar is None:
        return None
    return planar_rig(document.skeleton, binding(document), document.pose, document.planar, document.limits_on)
