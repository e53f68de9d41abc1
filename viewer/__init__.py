"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
"""

from __future__ import annotations

from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError
from viewer.formats.load import load
from viewer.formats.save import save
from viewer.ik.goals import Goal
from viewer.skeleton import (
    Character,
    Clip,
    Effector,
    JointKind,
    JointLimits,
    Pose,
    Skeleton,
    World,
    clip_violation,
    fk,
    fk_clip,
    limit_violation,
    project_pose,
)

__version__ = "0.1.0"

__all__ = [
    "Character",
    "Clip",
    "Effector",
    "FormatError",
    "Goal",
    "InputError",
    "JointKind",
    "JointLimits",
    "MachineError",
    "OutputError",
    "Pose",
    "Skeleton",
    "ViewerError",
    "World",
    "clip_violation",
    "fk",
    "fk_clip",
    "limit_violation",
    "load",
    "project_pose",
    "save",
]
