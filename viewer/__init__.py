"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here but `view` works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
    solver = viewer.Solver(character.skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))])
    solution = solver.solve(character.skeleton.relaxed_pose())
    picture = viewer.render(character, solution.pose)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer import ik, quaternions
    from viewer.app.start import view
    from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError
    from viewer.formats.load import load
    from viewer.formats.save import save
    from viewer.ik.all_solutions import all_solutions
    from viewer.ik.contact import Box, Contact, Mesh, Sphere, Touch, contacts
    from viewer.ik.goals import Goal
    from viewer.ik.jacobian import Jacobian
    from viewer.ik.lab import Trace, Traces, lab
    from viewer.ik.solution import Solution, Status
    from viewer.ik.solver import Solver
    from viewer.motion.contacts import Contacts, foot_contacts
    from viewer.motion.fit import fit
    from viewer.motion.layer import Layer
    from viewer.motion.layer_solve import apply_layers
    from viewer.motion.plant import Planted, plant_feet
    from viewer.motion.range_of_motion import learn_limits
    from viewer.motion.retarget import Retargeted, find_map, retarget
    from viewer.motion.skate import Skate, skate
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
        JointKind,
        JointLimits,
        LoopClosure,
        Mimic,
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

__version__ = "0.1.0"

__all__ = [
    "Bodies", "Box", "Builder", "Capsule", "Character", "Clip", "Contact", "Contacts", "Effector", "FormatError",
    "Goal", "InputError", "Jacobian", "JointKind", "JointLimits", "Layer", "LoopClosure", "MachineError", "Map",
    "Mesh", "Mimic", "OutputError", "Physics", "Planted", "Pose", "PoseLibrary", "Retargeted", "Skate", "Skeleton",
    "Solution", "Solver", "Sphere", "Status", "Surroundings", "Touch", "Trace", "Traces", "ViewerError", "World",
    "all_solutions", "apply_layers", "clip_at", "clip_violation", "contacts", "coordinate_limits", "coordinates",
    "find_map", "fit", "fit_bodies", "fk", "fk_arrays", "fk_clip", "foot_contacts", "ik", "lab", "learn_limits",
    "limit_violation", "load", "plant_feet", "pose_at", "project_pose", "quaternions", "render", "retarget", "save",
    "skate", "view",
]  # fmt: skip

# Imported on first use: inspecting or converting a file needs neither solver nor OpenGL, and the command's version and
# help not even numpy. All names that are not here come from `viewer.skeleton`.
_MODULES = {
    **dict.fromkeys(("FormatError", "InputError", "MachineError", "OutputError", "ViewerError"), "viewer.errors"),
    **dict.fromkeys(("clip_at", "coordinate_limits", "coordinates", "pose_at"), "viewer.skeleton.dofs"),
    **dict.fromkeys(("Box", "Contact", "Mesh", "Sphere", "Touch", "contacts"), "viewer.ik.contact"),
    **dict.fromkeys(("Contacts", "foot_contacts"), "viewer.motion.contacts"),
    **dict.fromkeys(("Trace", "Traces", "lab"), "viewer.ik.lab"),
    "Layer": "viewer.motion.layer",
    "apply_layers": "viewer.motion.layer_solve",
    **dict.fromkeys(("Retargeted", "find_map", "retarget"), "viewer.motion.retarget"),
    **dict.fromkeys(("Planted", "plant_feet"), "viewer.motion.plant"),
    **dict.fromkeys(("Skate", "skate"), "viewer.motion.skate"),
    "Goal": "viewer.ik.goals",
    "all_solutions": "viewer.ik.all_solutions",
    "Jacobian": "viewer.ik.jacobian",
    "Map": "viewer.skeleton.joint_map",
    "Physics": "viewer.physics.simulation",
    "PoseLibrary": "viewer.opengl.pose_library",
    "Solution": "viewer.ik.solution",
    "Solver": "viewer.ik.solver",
    "Status": "viewer.ik.solution",
    "Surroundings": "viewer.physics.surroundings",
    "fit": "viewer.motion.fit",
    "learn_limits": "viewer.motion.range_of_motion",
    "load": "viewer.formats.load",
    "render": "viewer.opengl.pictures",
    "save": "viewer.formats.save",
    "view": "viewer.app.start",
}
_PACKAGES = ("errors", "formats", "ik", "quaternions", "skeleton", "spatial")
"""Packages and modules within that are there after ``import viewer`` alone."""


def __getattr__(name: str) -> object:
    """The library's names, on first use."""
    from importlib import import_module  # noqa: PLC0415 - so that it is no name of the library

    if name in _PACKAGES:
        return import_module(f"viewer.{name}")
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULES.get(name, "viewer.skeleton")), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
