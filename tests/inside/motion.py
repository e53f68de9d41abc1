"""The inside of `viewer.motion` that tests use."""

from viewer.choices import PresetName
from viewer.motion.capture_faults import failures, point_noise
from viewer.motion.contacts import (
    Contact,
    Contacts,
    FootContacts,
    foot_contacts,
    foot_places,
    measured,
    steady_pieces,
)
from viewer.motion.held_ends import HeldEnd, Motion, with_body_over, with_ends_held, with_ends_near
from viewer.motion.hinge_angles import Ranges, Size, nearest_two, path_angles, three_angles, turn_of
from viewer.motion.hinge_stacks import without_stacks
from viewer.motion.layer import Layer, TargetKey, frames_of, overlapping
from viewer.motion.layer_solve import BLOCK, WHOLE, LayerGroup, apply_layers, solve_layers, standing
from viewer.motion.limb_chain import LimbGoals, limb_joints, limb_points, pose_limbs
from viewer.motion.plant import plant_feet
from viewer.motion.point_sets import POINT_SETS, smpl_figure
from viewer.motion.posed_body import touching_share
from viewer.motion.range_of_motion import kept_frames, learned, mirrored
from viewer.motion.skating import skate
