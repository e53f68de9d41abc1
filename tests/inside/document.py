"""The inside of `viewer.document` that tests use."""

from viewer.document import (
    Action as base_Action,
    DocumentContact,
    GoalLayer,
    Prop,
    Shape,
    Take,
    actions,
    frame_pose,
    joints_at_limit,
    measured,
    planted_feet,
    posed_goals,
)
from viewer.document.actions import (
    Action,
    AddGoal,
    AddLayer,
    AddProp,
    BakeLayers,
    DeleteKeys,
    ExcludePair,
    HoldEffector,
    HoldTogether,
    KeyPose,
    MakeEffector,
    MoveLayer,
    MoveMarker,
    MoveTargets,
    PlantFeet,
    ReleaseEffector,
    RemoveEffector,
    RemoveFeet,
    RemoveJoint,
    RemoveLayer,
    RemoveMarker,
    RemoveProp,
    RenameJoint,
    RenameProp,
    ResetPose,
    Select,
    SetAutoKey,
    SetBalance,
    SetClip,
    SetContact,
    SetCoordinate,
    SetFeet,
    SetFrame,
    SetGoal,
    SetGoalKind,
    SetGrip,
    SetJointLimits,
    SetKeyValue,
    SetLayer,
    SetLength,
    SetLimitRanges,
    SetLimits,
    SetLimitsFrom,
    SetMarker,
    SetMode,
    SetPin,
    SetPlanar,
    SetPose,
    SetProp,
    SetRadius,
    SetRange,
    SetScope,
    SetSlope,
    SetSolver,
    SetStiffness,
    SetTangents,
    SetUnits,
    SimplifyKeys,
    TurnJoint,
)
from viewer.document.actions.pose_actions import fitted_pose, mirrored_pose, on_the_spot
from viewer.document.actions.setting_actions import capsules_of
from viewer.document.actions.timeline_actions import KeyPose as takes_KeyPose
from viewer.document.document import LONGEST_MARKER, Marker, prefers
from viewer.document.document_contact import is_hand, solver_contact, touches_of
from viewer.document.document_goal import DocumentBalance, kinds_for
from viewer.document.edit_skeleton import fitted_ranges, held_percent, mirrored_ranges, seen_in_clip, with_ranges
from viewer.document.evaluation import compare, frames_shown, joint_at, layered, motion_of, rounded_up, shared_joints
from viewer.document.import_export import LEAST, MOST, baked_character, baked_clip, goals_of, step_scale
from viewer.document.motion_curves import KeyOnCurves, Tangent, curve_values, falloff, places, touched_frames
from viewer.document.planar import PLANES, normal_of
from viewer.document.planted_feet import feet_of, known, planted
from viewer.document.posed_goals import Priority, holds_yield, linked_goals, yielding_holds
from viewer.document.remapping import lost, remap
from viewer.document.sampling import fade_frames, sampled, sampled_at
from viewer.document.scope import binding, out_of_plane, preferred_pose, rig_of, violation
from viewer.document.solve_report import current_errors, derivation, standing
from viewer.document.solved_frames import finished, in_other_space, miss_of, target_of
from viewer.document.take import BLENDS, CODES, Blend, Key, PlantedContact, PlantedFeet, Track, same
from viewer.skeleton.figure import partners
