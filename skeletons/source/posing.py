"""Rotations of joints from their coordinates, a small forward kinematics, and the pose "relaxed"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from model import X, Y, Z, other_side

from viewer.spatial.quaternion import IDENTITY, from_axis_angle, multiply, rotate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model import Coordinates, Joint, Sample, Turn, Vector

    from viewer.spatial.checks import Floats

AXES = {"x": X, "y": Y, "z": Z}


def about(axis: Vector, angle: float) -> Floats:
    """Quaternion (4,) of a rotation by ``angle`` degrees about an axis of any length."""
    direction = np.array(axis)
    return from_axis_angle(direction / np.linalg.norm(direction), np.radians(angle))


def rotation_of_turns(turns: Sequence[Turn]) -> Floats:
    """Quaternion (4,) of turns about coordinate axes in degrees, the first acts last."""
    total = IDENTITY
    for axis, angle in turns:
        total = multiply(total, about(AXES[axis], angle))
    return total


def local_rotation(joint: Joint, coordinates: Coordinates) -> Floats:
    """Whole local rotation (4,) of a joint at its coordinates: the rest rotation and what follows it."""
    total = rotation_of_turns(joint.rest)
    rotates = joint.kind in {"hinge", "universal"}
    for place, value in enumerate(coordinates):
        if isinstance(value, tuple):
            total = multiply(total, about(AXES[value[0]], value[1]))
        elif rotates:
            total = multiply(total, about(joint.axes[place], value))
    return total


def local_translation(joint: Joint, coordinates: Coordinates) -> Floats:
    """Local translation (3,), metres: the offset, and for a slide how far it is out."""
    shift = np.array(joint.offset)
    for distance in coordinates:
        if joint.kind == "slide" and isinstance(distance, float):
            shift = shift + distance * rotate(rotation_of_turns(joint.rest), np.array(joint.axes[0]))
    return shift


def relaxed_pose(sample: Sample) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Local rotations (4,) and translations (3,) of the joints that are not at rest in the pose "relaxed"."""
    joints = {joint.name: joint for joint in sample.joints}
    pose = dict(sample.relaxed)
    for name, coordinates in sample.relaxed.items():
        if (other := other_side(name)) != name:
            pose[other] = tuple(_mirrored(value) for value in coordinates)
    posed = [name for name in joints if name in pose]
    rotations = {name: local_rotation(joints[name], pose[name]) for name in posed if joints[name].kind != "slide"}
    moved = {name: local_translation(joints[name], pose[name]) for name in posed if joints[name].kind == "slide"}
    if sample.planted:
        root = sample.joints[0]
        moved[root.name] = np.array(root.offset) + _first_tip(sample, {}) - _first_tip(sample, pose)
    return rotations, moved


def _mirrored(value: Turn | float) -> Turn | float:
    if isinstance(value, tuple) and value[0] != "x":
        return (value[0], -value[1])
    return value


def _first_tip(sample: Sample, pose: Mapping[str, Coordinates]) -> Floats:
    """World place (3,) of the planted joint's first tip, the root at its offset."""
    places: dict[str, tuple[Floats, Floats]] = {}
    for joint in sample.joints:
        turn = local_rotation(joint, pose.get(joint.name, ()))
        shift = local_translation(joint, pose.get(joint.name, ()))
        if joint.parent is not None:
            position, above = places[joint.parent]
            turn, shift = multiply(above, turn), position + rotate(above, shift)
        places[joint.name] = (shift, turn)
        if joint.name == sample.planted:
            return np.asarray(shift + rotate(turn, np.array(joint.tips[0])))
    raise ValueError(f"no joint {sample.planted!r} with a tip")
