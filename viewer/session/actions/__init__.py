"""Everything that can be done to a document, as values: ``action.apply(document)`` gives the changed one."""

from __future__ import annotations

from viewer.session.actions.base import Action
from viewer.session.actions.effectors import MakeEffector, RemoveEffector
from viewer.session.actions.joints import SetCoordinate, SetLength, SetStiffness, TurnJoint
from viewer.session.actions.limits import SetJointLimits, SetLimits
from viewer.session.actions.planar import SetPlanar
from viewer.session.actions.poses import MirrorPose, PastePose, ResetPose, SetPose
from viewer.session.actions.renaming import RenameJoint
from viewer.session.actions.selecting import Select, SetMode, SetScope
from viewer.session.actions.settings import SetClip, SetFrame, SetFrameTime, SetSolver, SetUnits, UseMotion
from viewer.session.actions.targets import (
    HoldEffector,
    MoveTargets,
    ReleaseEffector,
    SetHandle,
    SetPin,
    SetWanted,
    SetWeight,
)
from viewer.session.take.actions import (
    CopiedKeys,
    CopyKeys,
    DeleteKeys,
    KeyPose,
    MoveKeys,
    PasteKeys,
    SetAutoKey,
    SetBlend,
    SetRange,
    SetTakeRate,
    SimplifyKeys,
    copied_keys,
)

__all__ = [
    "Action",
    "CopiedKeys",
    "CopyKeys",
    "DeleteKeys",
    "HoldEffector",
    "KeyPose",
    "MakeEffector",
    "MirrorPose",
    "MoveKeys",
    "MoveTargets",
    "PasteKeys",
    "PastePose",
    "ReleaseEffector",
    "RemoveEffector",
    "RenameJoint",
    "ResetPose",
    "Select",
    "SetAutoKey",
    "SetBlend",
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
    "SetPlanar",
    "SetPose",
    "SetRange",
    "SetScope",
    "SetSolver",
    "SetStiffness",
    "SetTakeRate",
    "SetUnits",
    "SetWanted",
    "SetWeight",
    "SimplifyKeys",
    "TurnJoint",
    "UseMotion",
    "copied_keys",
]
