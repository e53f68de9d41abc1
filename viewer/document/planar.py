"""Planar documents: the body is rotated into a plane of the world and stays there.

A bone across the plane, as shoulders are seen from the side, stays across it; its descendants move in a parallel
plane at constant distance.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document.default_goals import stand_of, world_of
from viewer.document.document import Document
from viewer.document.goal import PAIR_KINDS, DocumentGoal
from viewer.document.planar_rig import PLANES, normal_of
from viewer.document.report import joints_at_limit
from viewer.skeleton import JointKind, Pose, Skeleton, project_pose
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import between, conjugate, from_axis_angle, multiply, rotate
from viewer.spatial.swing_twist import twist_about

__all__ = ["PLANES", "confined", "flattened", "in_plane", "normal_of", "out_of_plane"]

_STEEPEST, _TURN = np.sin(np.radians(60.0)), np.cos(np.radians(60.0))
"""Bones and hinges more than this out of the plane stay as they are."""
_FAINT = 1e-6
"""Relative weight of the plane's normal against the bones' directions."""
_SEEN = 0.5 * np.radians(0.5)
"""Half of the smallest rotation that is visible."""


def in_plane(document: Document, point: Floats, level: Floats) -> Floats:
    """(3,) a point projected into the plane through ``level``; unchanged if the document is not planar."""
    if document.planar is None:
        return point
    normal = normal_of(document.planar)
    return np.asarray(point + ((level - point) @ normal) * normal)


def confined(document: Document, goal: DocumentGoal) -> DocumentGoal:
    """The goal with its target in its effector's plane, and its rotation restricted to the plane."""
    if document.planar is None or goal.kind in PAIR_KINDS:
        return goal
    stand, normal = stand_of(document.skeleton, document.pose, goal), normal_of(document.planar)
    changes: dict[str, object] = {}
    if goal.position is not None:
        changes["position"] = in_plane(document, np.array(goal.position), stand.position)
    if goal.rotation is not None:
        rotation = multiply(np.array(goal.rotation), conjugate(stand.rotation))
        changes["rotation"] = multiply(from_axis_angle(normal, twist_about(rotation, normal)), stand.rotation)
    return replace(goal, **changes)  # type: ignore[arg-type]


def flattened(skeleton: Skeleton, pose: Pose, plane: str, *, limits: bool) -> Pose:
    """The pose with its bones rotated into a plane of the world, from the roots outwards, each as little as possible.

    Args:
        skeleton: with the limits that bind.
        pose: of it.
        plane: one of `PLANES`.
        limits: whether limits bind: a joint whose limits exclude the plane goes as near to it as they allow.
    """
    normal = normal_of(plane)
    start = project_pose(skeleton, pose) if limits else pose
    rotations, world = start.rotations.copy(), np.zeros_like(pose.rotations)
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = world[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        world[joint] = multiply(above, rotations[joint])
        wanted = _wanted(skeleton, start, joint, world[joint], normal)
        rotation = _correction(skeleton, joint, world[joint], wanted, normal)
        if rotation is None:
            continue
        rotations[joint] = multiply(conjugate(above), multiply(rotation, world[joint]))
        if limits and skeleton.limits[joint] is not None:
            rotations[joint] = project_pose(skeleton, Pose(rotations, start.translations)).rotations[joint]
        world[joint] = multiply(above, rotations[joint])
    return Pose(rotations, start.translations)


def out_of_plane(document: Document) -> tuple[str, ...]:
    """Names of joints whose limits keep their bones out of the document's plane."""
    if document.planar is None:
        return ()
    limited = joints_at_limit(document)
    skeleton, pose, normal = document.skeleton, document.pose, normal_of(document.planar)
    world, found = world_of(skeleton, pose).rotations, []
    for joint, name in enumerate(skeleton.names):
        wanted = _wanted(skeleton, pose, joint, world[joint], normal)
        rotation = _correction(skeleton, joint, world[joint], wanted, normal)
        if rotation is not None and name in limited and float(np.linalg.norm(rotation[:3])) > _SEEN:
            found.append(name)
    return tuple(found)


def _correction(skeleton: Skeleton, joint: int, world: Floats, wanted: Floats, normal: Floats) -> Floats | None:
    """(4,) rotation, world frame, that brings a direction to the normal, or as near as a hinge can; None: leave it."""
    kind = skeleton.kinds[joint]
    if wanted @ normal < _TURN or kind not in {JointKind.BALL, JointKind.FREE, JointKind.HINGE}:
        return None
    if kind is not JointKind.HINGE:
        return between(wanted, normal)
    axis = rotate(world, skeleton.axes[joint, 0])
    directions = [direction - (direction @ axis) * axis for direction in (wanted, normal)]
    if min(np.linalg.norm(direction) for direction in directions) < _FAINT:
        return None
    return between(*directions)


def _wanted(skeleton: Skeleton, pose: Pose, joint: int, rotation: Floats, normal: Floats) -> Floats:
    """(3,) the unit direction that a joint should rotate to the normal: of hinge children first, then of its bones."""
    axes, bones = [], []
    for child in np.flatnonzero(skeleton.parents == joint).tolist():
        bones.append(rotate(rotation, pose.translations[child]))
        if skeleton.kinds[child] is JointKind.HINGE:
            axis = rotate(multiply(rotation, skeleton.rest_rotations[child]), skeleton.axes[child, 0])
            axes.append(axis if axis @ normal >= 0.0 else -axis)
    tips = skeleton.tip_offsets[skeleton.tip_parents == joint]
    bones += [rotate(rotation, tip) for tip in tips]
    near = [axis for axis in axes if np.linalg.norm(np.cross(axis, normal)) <= _STEEPEST]
    if near:
        total = np.sum(near, axis=0)
        return np.asarray(total / np.linalg.norm(total))
    flat = [bone for bone in bones if abs(bone @ normal) <= _STEEPEST * np.linalg.norm(bone)]
    spread = np.einsum("ni,nj->ij", flat, flat) if flat else np.zeros((3, 3))
    size = float(np.trace(spread))
    if size == 0.0:
        return normal
    # Directions across all bones are kept, those along a bone nearly vanish; applied twice for precision.
    across = np.linalg.inv(spread / size + _FAINT * np.eye(3))
    found = across @ across @ normal
    return np.asarray(found / np.linalg.norm(found))
