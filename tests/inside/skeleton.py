"""The inside of `viewer.skeleton` that tests use."""

from viewer.skeleton import clip_limits, coordinates, joint_edits, kinematics
from viewer.skeleton.attached import WORLD, Material, Mesh, Picture, Skin
from viewer.skeleton.balance import capsule_masses, inertias_of
from viewer.skeleton.bodies import bodies_of, bone_mesh
from viewer.skeleton.character import placed
from viewer.skeleton.clip import MOST_FRAMES
from viewer.skeleton.clip_limits import limits_around, limits_from_clip, twist_axes
from viewer.skeleton.coordinates import joint_space, nearest_turns
from viewer.skeleton.figure import body_path, find_figure, find_slots
from viewer.skeleton.joint_map import SURE, counterparts, is_same_tree
from viewer.skeleton.kinematics import extent, height, tip_positions
from viewer.skeleton.limbs import Figure, flexion_axis, leg_length, limb_places
from viewer.skeleton.limits import UNLIMITED, default_twist_axis
from viewer.skeleton.names import MOST_LEAVES, PARTS, BodyPart, FreeNames, body_part, find_effectors, unique_names
from viewer.skeleton.relaxed import derived_pose
from viewer.skeleton.transfer import Carrier, transferred, with_rig
from viewer.skeleton.tree import MOST_LINKS, chain, depth_first, rest_world
