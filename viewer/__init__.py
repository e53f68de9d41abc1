"""ikviewer: load a skeleton, pose it by inverse kinematics, take the motion anywhere.

The library half: everything here but `view` works without a screen, and importing it loads no OpenGL.

    character = viewer.load("walk.bvh")
    world = viewer.fk(character.skeleton, character.clip.pose(12))
    solver = viewer.Solver(character.skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3))])
    solution = solver.solve(character.skeleton.relaxed_pose())
    picture = viewer.render(character, solution.pose)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.app.start import view
    from viewer.errors import FormatError, InputError, MachineError, OutputError, ViewerError
    from viewer.formats.load import load
    from viewer.formats.save import save
    from viewer.ik.goals import Goal
    from viewer.ik.solution import Solution, Status
    from viewer.ik.solver import Solver
    from viewer.opengl.picture import render
    from viewer.skeleton import (
        Character,
        Clip,
        Effector,
        JointKind,
        JointLimits,
        Pose,
        Skeleton,
        World,
        clip_violation,
        fk,
        fk_clip,
        limit_violation,
        project_pose,
    )

__version__ = "0.1.0"

_ERRORS = ("FormatError", "InputError", "MachineError", "OutputError", "ViewerError")
_SKELETON = (
    "Character", "Clip", "Effector", "JointKind", "JointLimits", "Pose", "Skeleton", "World",
    "clip_violation", "fk", "fk_clip", "limit_violation", "project_pose",
)  # fmt: skip
# Imported when they are first asked for: inspecting or converting a file needs neither solver nor OpenGL, and what the
# command says of itself (its version, its help) not even numpy.
_LATER = {
    **dict.fromkeys(_ERRORS, "viewer.errors"),
    **dict.fromkeys(_SKELETON, "viewer.skeleton"),
    "Goal": "viewer.ik.goals",
    "Solution": "viewer.ik.solution",
    "Solver": "viewer.ik.solver",
    "Status": "viewer.ik.solution",
    "load": "viewer.formats.load",
    "render": "viewer.opengl.picture",
    "save": "viewer.formats.save",
    "view": "viewer.app.start",
}
_ROOMS = ("errors", "formats", "ik", "skeleton", "spatial")
"""Packages within that `import viewer` alone has always given."""


def __getattr__(name: str) -> object:
    """The library's names, on first use."""
    if name in _ROOMS:
        return import_module(f"viewer.{name}")
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = getattr(import_module(_LATER[name]), name)
    globals()[name] = found  # the next time it is as quick as any other
    return found


def __dir__() -> list[str]:
    """The names that there are, imported or not."""
    return sorted({*globals(), *_LATER, *_ROOMS})


__all__ = [
    "Character",
    "Clip",
    "Effector",
    "FormatError",
    "Goal",
    "InputError",
    "JointKind",
    "JointLimits",
    "MachineError",
    "OutputError",
    "Pose",
    "Skeleton",
    "Solution",
    "Solver",
    "Status",
    "ViewerError",
    "World",
    "clip_violation",
    "fk",
    "fk_clip",
    "limit_violation",
    "load",
    "project_pose",
    "render",
    "save",
    "view",
]
