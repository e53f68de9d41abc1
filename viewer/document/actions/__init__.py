"""All actions on a document, as values: ``action.apply(document)`` returns the changed document."""

from __future__ import annotations

from viewer.document.actions.building_actions import (
    AddJoint, DuplicateBranch, MirrorBranch, MoveJoint, ReadyToPose, RemoveJoint, RenameJoint, Reparent, SetAxis,
    SetJointLimits, SetKind, SetLength, SetLimitRanges, SetLimits, SetLimitsFrom, SetLinks, SetStiffness, SetUnits,
    SplitBone,
)  # fmt: skip
from viewer.document.actions.goal_actions import (
    AddGoal, AddGoalForTwo, AddLayer, BakeLayers, HoldEffector, HoldTogether, MakeEffector, MoveLayer, MoveTargets,
    PlantFeet, ReleaseEffector, RemoveEffector, RemoveFeet, RemoveGoal, RemoveLayer, SetFeet, SetGoal, SetGoalKind,
    SetLayer, SetPin, SetWeight,
)  # fmt: skip
from viewer.document.actions.pose_actions import (
    MirrorPose, PastePose, ResetPose, SetCoordinate, SetPlanar, SetPose, TurnJoint,
)  # fmt: skip
from viewer.document.actions.setting_actions import (
    AddProp, ExcludePair, RemoveProp, RenameProp, Select, SetBalance, SetContact, SetGrip, SetMode, SetProp,
    SetRadius, SetScope, SetSolver,
)  # fmt: skip
from viewer.document.actions.timeline_actions import (
    AddClip, CopiedKeys, CopyKeys, DeleteKeys, KeyPose, MoveKeys, MoveMarker, MovePoint, OpenTimeline, PasteKeys,
    RemoveMarker, SetAutoKey, SetBlend, SetClip, SetFrame, SetFrameTime, SetKeyValue, SetMarker, SetRange, SetSlope,
    SetTakeRate, SetTangents, SimplifyKeys, UseMotion, copied_keys,
)  # fmt: skip
from viewer.document.document import Action
