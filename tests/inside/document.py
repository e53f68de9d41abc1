"""The inside of `viewer.document` that tests use."""

from viewer.document import actions, drag_goals
from viewer.document.actions import (
    Action,
    HoldEffector,
    KeyPose,
    MakeEffector,
    MoveTargets,
    ReleaseEffector,
    RemoveEffector,
    ResetPose,
    Select,
    SetClip,
    SetCoordinate,
    SetGoal,
    SetGoalKind,
    SetJointLimits,
    SetLimits,
    SetMode,
    SetPin,
    SetPlanar,
    SetRange,
    SetScope,
    SetSolver,
    SetStiffness,
    SetUnits,
    TurnJoint,
)
from viewer.document.actions.takes import KeyPose as takes_KeyPose
from viewer.document.derivation import derivation
from viewer.document.document import Action as base_Action
from viewer.document.document import same_skeleton
from viewer.document.drag_goals import holds_yield, linked_goals, prioritised, yielding_holds
from viewer.document.evaluation import (
    baked_character,
    baked_clip,
    frame_pose,
    frames_shown,
    joint_at,
    layered,
    motion_of,
)
from viewer.document.goal import DOCUMENT_KINDS
from viewer.document.key_editing import different
from viewer.document.mirror import mirrored_pose, partners
from viewer.document.opening import LEAST, MOST, step_scale
from viewer.document.planar import out_of_plane
from viewer.document.planar_rig import PLANES, normal_of, preferred_pose, rig_of
from viewer.document.report import joints_at_limit, measured
from viewer.document.sampling import fade_frames, sampled
from viewer.document.scope import binding, violation
from viewer.document.solver_settings import prefers
from viewer.document.take import BLENDS, CODES, Blend, Key, Take, Track

__all__ = [
    "BLENDS",
    "CODES",
    "DOCUMENT_KINDS",
    "LEAST",
    "MOST",
    "PLANES",
    "Action",
    "Blend",
    "HoldEffector",
    "Key",
    "KeyPose",
    "MakeEffector",
    "MoveTargets",
    "ReleaseEffector",
    "RemoveEffector",
    "ResetPose",
    "Select",
    "SetClip",
    "SetCoordinate",
    "SetGoal",
    "SetGoalKind",
    "SetJointLimits",
    "SetLimits",
    "SetMode",
    "SetPin",
    "SetPlanar",
    "SetRange",
    "SetScope",
    "SetSolver",
    "SetStiffness",
    "SetUnits",
    "Take",
    "Track",
    "TurnJoint",
    "actions",
    "baked_character",
    "baked_clip",
    "base_Action",
    "binding",
    "derivation",
    "different",
    "drag_goals",
    "fade_frames",
    "frame_pose",
    "frames_shown",
    "holds_yield",
    "joint_at",
    "joints_at_limit",
    "layered",
    "linked_goals",
    "measured",
    "mirrored_pose",
    "motion_of",
    "normal_of",
    "out_of_plane",
    "partners",
    "preferred_pose",
    "prefers",
    "prioritised",
    "rig_of",
    "same_skeleton",
    "sampled",
    "step_scale",
    "takes_KeyPose",
    "violation",
    "yielding_holds",
]
