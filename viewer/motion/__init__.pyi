# The names of the package, for type checkers and, by `viewer.first_use`, for Python, which imports them on first use.

from viewer.motion.contacts import Contact, Contacts, FootContacts, MovingFeet, foot_contacts, legged, moving_feet
from viewer.motion.fit_positions import fit, fit_points, retargeted
from viewer.motion.layer import Layer, Miss, TargetKey, frames_of, layer_miss, overlapping
from viewer.motion.layer_solve import BLOCK, WHOLE, LayerGroup, apply_layers, solve_layers, with_windows
from viewer.motion.limb_chain import flexes_about_own
from viewer.motion.plant import (
    ContactChange,
    Planted,
    PlantedFrames,
    PlantReport,
    contact_changes,
    plant_feet,
    plant_moving,
    plant_words,
)
from viewer.motion.point_sets import (
    BODY_JOINTS,
    HEIGHT,
    PointSet,
    counts_of_sets,
    point_set,
    set_of_count,
    set_of_names,
    smpl_motion,
    tree_set,
)
from viewer.motion.posed_body import Choices
from viewer.motion.range_of_motion import Learned, learn_limits, learned, named_still, on_rig
from viewer.motion.retarget_motion import Retargeted, RetargetReport, find_map, retarget
from viewer.motion.skating import FootSkate, Skate, skate

__all__ = [
    "BLOCK",
    "BODY_JOINTS",
    "HEIGHT",
    "WHOLE",
    "Choices",
    "Contact",
    "ContactChange",
    "Contacts",
    "FootContacts",
    "FootSkate",
    "Layer",
    "LayerGroup",
    "Learned",
    "Miss",
    "MovingFeet",
    "PlantReport",
    "Planted",
    "PlantedFrames",
    "PointSet",
    "RetargetReport",
    "Retargeted",
    "Skate",
    "TargetKey",
    "apply_layers",
    "contact_changes",
    "counts_of_sets",
    "find_map",
    "fit",
    "fit_points",
    "flexes_about_own",
    "foot_contacts",
    "frames_of",
    "layer_miss",
    "learn_limits",
    "learned",
    "legged",
    "moving_feet",
    "named_still",
    "on_rig",
    "overlapping",
    "plant_feet",
    "plant_moving",
    "plant_words",
    "point_set",
    "retarget",
    "retargeted",
    "set_of_count",
    "set_of_names",
    "skate",
    "smpl_motion",
    "solve_layers",
    "tree_set",
    "with_windows",
]
