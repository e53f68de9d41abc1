"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here but `view` works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
    solver = viewer.Solver(character.skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))])
    solution = solver.solve(character.skeleton.relaxed_pose())
    picture = viewer.render(character, solution.pose)
"""

from __future__ import annotations

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
_PACKAGES = (*_PUBLIC_PACKAGES, "errors", "formats", "skeleton", "spatial")
"""Packages and modules within that are there after ``import viewer`` alone."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = [*sorted([*_MODULE_OF, *_PUBLIC_PACKAGES])]  # noqa: PLE0604 - all of them are words


def __getattr__(name: str) -> object:
    """The library's names, on first use."""
    from importlib import import_module  # noqa: PLC0415 - so that it is no name of the library

    if name in _PACKAGES:
        return import_module(f"viewer.{name}")
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found


def __dir__() -> list[str]:
    """The public names, imported or not."""
    return [*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"]
