"""What ``ikviewer convert`` says that it has written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import quote

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton.character import Character
    from viewer.skeleton.clip import Clip

_MESHES = {".obj", ".stl", ".ply"}
_ALWAYS_A_FRAME = {".bvh", ".csv"}
"""Formats that hold the rest pose where there is no motion."""


def told(character: Character, output: Path, pose: str | None) -> str:
    """What is in the file; ``pose`` says what it shows, where it was written of one pose."""
    from viewer.formats.save import SEVERAL_CLIPS

    suffix = output.suffix.casefold()
    if suffix in _MESHES:
        return f"{_triangles(character)}, {pose or _first(character)}"
    joints = f"{len(character.skeleton)} joints"
    clip = character.clip
    if pose is not None:
        return f"{joints}, {pose}"
    if clip is None:
        return f"{joints}, {'the rest pose' if suffix in _ALWAYS_A_FRAME else 'no motion'}"
    if suffix in SEVERAL_CLIPS and len(character.clips) > 1:
        return f"{joints}, {len(character.clips)} clips: {', '.join(map(quote, character.clips))}"
    return f"{joints}, {motion(clip)}"


def motion(clip: Clip) -> str:
    """How much a clip is."""
    return "1 frame" if len(clip) == 1 else f"{len(clip)} frames at {1 / clip.frame_time:g} fps"


def _triangles(character: Character) -> str:
    from viewer.skeleton.bone_mesh import FACES, bone_mesh
    from viewer.skeleton.kinematics import fk

    skeleton = character.skeleton
    triangles = len(bone_mesh(skeleton, fk(skeleton, skeleton.rest_pose())).corners) // 3
    return f"{triangles} triangles of {triangles // len(FACES)} bones"


def _first(character: Character) -> str:
    """Which pose a mesh shows unless another is asked for."""
    clip = character.clip
    if not clip:
        return "the rest pose"
    return "the one frame" if len(clip) == 1 else f"frame 0 of {len(clip)}"
