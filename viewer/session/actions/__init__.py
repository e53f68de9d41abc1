"""Everything that can be done to a document, as values: ``action.apply(document)`` gives the changed one."""

from __future__ import annotations

from viewer.session.actions.base import Action
from viewer.session.actions.effectors import MakeEffector, RemoveEffector
from viewer.session.actions.joints import SetCoordinate, SetLength, SetStiffness, TurnJoint
from viewer.session.actions.limits import SetJointLimits, SetLimits
from viewer.session.actions.poses import MirrorPose, PastePose, ResetPose, SetPose
from viewer.session.actions.selecting import Select, SetMode, SetScope
from viewer.session.actions.settings import SetClip, SetFrame, SetFrameTime, SetSolver, SetUnits
from viewer.session.actions.targets import (
    HoldEffector,
    MoveTargets,
    ReleaseEffector,
    SetHandle,
    SetPin,
    SetWanted,
    SetWeight,
)

__all__ = [
    "Action",
    "HoldEffector",
    "MakeEffector",
    "MirrorPose",
    "MoveTargets",
    "PastePose",
    "ReleaseEffector",
    "RemoveEffector",
    "ResetPose",
    "Select",
    "SetClip",
    "SetCoordinate",
    "SetFrame",
    "SetFrameTime",
    "SetHandle",
    "SetJointLimits",
    "SetLength",
    "SetLimits",
    "SetMode",
    "SetPin",
    "SetPose",
    "SetScope",
    "SetSolver",
    "SetStiffness",
    "SetUnits",
    "SetWanted",
    "SetWeight",
    "TurnJoint",
]
