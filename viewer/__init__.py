"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here but `view` works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
    solver = viewer.Solver(character.skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))])
    solution = solver.solve(character.skeleton.relaxed_pose())
    picture = viewer.render(character, solution.pose)
"""

from __future__ import annotations

from viewer.first_use import on_first_use

__version__ = "0.1.0"

_NAMES = {
    "viewer.app.start": ("view",),
    "viewer.errors": ("FormatError", "InputError", "MachineError", "OutputError", "ViewerError"),
    "viewer.formats.load": ("load",),
    "viewer.formats.save": ("save",),
    "viewer.ik.all_solutions": ("all_solutions",),
    "viewer.ik.contact": ("Box", "Contact", "Mesh", "Sphere", "Touch", "contacts"),
    "viewer.ik.goals": ("Goal",),
    "viewer.ik.jacobian": ("Jacobian",),
    "viewer.ik.lab": ("Trace", "Traces", "lab"),
    "viewer.ik.solution": ("Solution", "Status"),
    "viewer.ik.solver": ("Solver",),
    "viewer.motion": (
        "Contacts",
        "Layer",
        "Planted",
        "Retargeted",
        "Skate",
        "apply_layers",
        "find_map",
        "fit",
        "foot_contacts",
        "learn_limits",
        "plant_feet",
        "retarget",
        "skate",
    ),
    "viewer.opengl.pictures": ("render",),
    "viewer.opengl.pose_library": ("PoseLibrary",),
    "viewer.physics.simulation": ("Physics",),
    "viewer.physics.surroundings": ("Surroundings",),
    "viewer.skeleton": (
        "Bodies",
        "Builder",
        "Capsule",
        "Character",
        "Clip",
        "Effector",
        "Inertia",
        "JointKind",
        "JointLimits",
        "LoopClosure",
        "Mimic",
        "Pose",
        "Skeleton",
        "World",
        "clip_violation",
        "fit_bodies",
        "fk",
        "fk_arrays",
        "fk_clip",
        "limit_violation",
        "project_pose",
    ),
    "viewer.skeleton.dofs": ("clip_at", "coordinate_limits", "coordinates", "pose_at"),
    "viewer.skeleton.joint_map": ("Map",),
}
"""The public names, by the module that each comes from.

They are imported on first use: inspecting or converting a file needs neither solver nor OpenGL, and the command's
version and help not even numpy. ``__init__.pyi`` says the same to type checkers; a test compares the two.
"""
_PUBLIC_PACKAGES = ("ik", "quaternions")

__all__ = [*sorted([*_PUBLIC_PACKAGES, *(name for names in _NAMES.values() for name in names)])]  # noqa: PLE0604 - all of them are words
# The last are packages and modules within that are there after ``import viewer`` alone.
__getattr__, __dir__ = on_first_use(__name__, _NAMES, (*_PUBLIC_PACKAGES, "errors", "formats", "skeleton", "spatial"))
