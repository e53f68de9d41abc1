"""Skeletons, poses and clips as immutable values, with kinematics, limits and effectors."""

from __future__ import annotations

from viewer.skeleton.balance import Balance, center_of_mass, find_balance
from viewer.skeleton.bodies import bodies_of, fit_bodies
from viewer.skeleton.builder import Builder
from viewer.skeleton.capsule import Bodies, Capsule
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.skeleton.coordinates import clip_violation, limit_violation, project_pose
from viewer.skeleton.effectors import Effector, EffectorGoal
from viewer.skeleton.kinematics import World, fk, fk_arrays, fk_clip
from viewer.skeleton.limits import DOFS, JointKind, JointLimits, LimitForm
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton, find_place

__all__ = [
    "DOFS",
    "Balance",
    "Bodies",
    "Builder",
    "BvhLayout",
    "Capsule",
    "Character",
    "Clip",
    "Effector",
    "EffectorGoal",
    "JointKind",
    "JointLimits",
    "LimitForm",
    "Pose",
    "Skeleton",
    "Source",
    "World",
    "bodies_of",
    "center_of_mass",
    "clip_violation",
    "find_balance",
    "find_place",
    "fit_bodies",
    "fk",
    "fk_arrays",
    "fk_clip",
    "limit_violation",
    "project_pose",
]
