# The names of the package, for type checkers and, by `viewer.first_use`, for Python, which imports them on first use.

from viewer import errors as errors, formats as formats, ik, quaternions, skeleton as skeleton, spatial as spatial
from viewer.app import view
from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError
from viewer.formats.load import load
from viewer.formats.save import save
from viewer.ik.all_solutions import all_solutions
from viewer.ik.contact import Box, Contact, Mesh, Sphere, Touch, contacts
from viewer.ik.drag import Drag
from viewer.ik.goals import Goal
from viewer.ik.jacobian import Jacobian
from viewer.ik.lab import Trace, Traces, lab
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import BatchSolution, Solver
from viewer.motion import (
    Contacts,
    Layer,
    Planted,
    Retargeted,
    Skate,
    apply_layers,
    find_map,
    fit,
    foot_contacts,
    learn_limits,
    plant_feet,
    retarget,
    skate,
)
from viewer.opengl.pictures import render
from viewer.opengl.pose_library import PoseLibrary
from viewer.physics.simulation import Physics
from viewer.physics.surroundings import Surroundings
from viewer.skeleton import (
    Bodies,
    Builder,
    Capsule,
    Character,
    Clip,
    Effector,
    Inertia,
    JointKind,
    JointLimits,
    LoopClosure,
    Mimic,
    Motor,
    Pose,
    Skeleton,
    World,
    clip_violation,
    fit_bodies,
    fk,
    fk_arrays,
    fk_clip,
    limit_violation,
    project_pose,
)
from viewer.skeleton.dofs import clip_at, coordinate_limits, coordinates, pose_at
from viewer.skeleton.joint_map import Map

__version__: str
__all__ = [
    "BatchSolution", "Bodies", "Box", "Builder", "Capsule", "Character", "Clip", "Contact", "Contacts", "Drag",
    "Effector", "FormatError", "Goal", "Inertia", "InputError", "Jacobian", "JointKind", "JointLimits", "Layer",
    "LoopClosure", "MachineError", "Map", "Mesh", "Mimic", "Motor", "OutputError", "Physics", "Planted", "Pose",
    "PoseLibrary", "Retargeted", "Skate", "Skeleton", "Solution", "Solver", "Sphere", "Status", "Surroundings",
    "Touch", "Trace", "Traces", "ViewerError", "World", "all_solutions", "apply_layers", "clip_at",
    "clip_violation", "contacts", "coordinate_limits", "coordinates", "find_map", "fit", "fit_bodies", "fk",
    "fk_arrays", "fk_clip", "foot_contacts", "ik", "lab", "learn_limits", "limit_violation", "load", "plant_feet",
    "pose_at", "project_pose", "quaternions", "render", "retarget", "save", "skate", "view",
]  # fmt: skip
