"""Skeletons, poses and clips as immutable values, with kinematics, limits and effectors.

Values are checked when they are made: an `InputError` names the field, what is expected and what was found. Functions
raise one for names that are not there and for values of another skeleton.
"""

from __future__ import annotations

from viewer.skeleton.attached import Bodies, Capsule, Inertia, Skin
from viewer.skeleton.balance import Balance, center_of_mass, find_balance, inertias_of, middle_capsule
from viewer.skeleton.bodies import bodies_of, fit_bodies
from viewer.skeleton.builder import Builder
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.skeleton.coordinates import (
    clip_violation,
    coordinates_of,
    joint_space,
    limit_violation,
    project_pose,
    room_of,
)
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, fk, fk_arrays, fk_clip, tip_positions, world_of
from viewer.skeleton.limbs import Figure, Limb
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm, LoopClosure, Mimic, Motor
from viewer.skeleton.names import Effector, EffectorGoal, FreeNames
from viewer.skeleton.relaxed import blend_poses
from viewer.skeleton.skeleton import NO_OFFSET, Pose, Skeleton, effector_of, point_of
from viewer.skeleton.tree import above, at_or_below, rest_world

__all__ = [
    "NO_OFFSET",
    "Balance",
    "Bodies",
    "Builder",
    "BvhLayout",
    "Capsule",
    "Character",
    "Clip",
    "Effector",
    "EffectorGoal",
    "Figure",
    "FreeNames",
    "Inertia",
    "JointKind",
    "JointLimits",
    "Limb",
    "LimitForm",
    "LoopClosure",
    "Mimic",
    "Motor",
    "Pose",
    "Skeleton",
    "Skin",
    "Source",
    "World",
    "above",
    "at_or_below",
    "blend_poses",
    "bodies_of",
    "center_of_mass",
    "clip_violation",
    "coordinates_of",
    "effector_of",
    "find_balance",
    "find_figure",
    "fit_bodies",
    "fk",
    "fk_arrays",
    "fk_clip",
    "inertias_of",
    "joint_space",
    "limit_violation",
    "middle_capsule",
    "point_of",
    "project_pose",
    "rest_world",
    "room_of",
    "tip_positions",
    "world_of",
]
