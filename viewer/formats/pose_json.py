"""Pose files (JSON, version 1) in and out: metres, Y up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.errors import FormatError, quote
from viewer.formats.bounds import check_skeleton
from viewer.formats.json_numbers import block_object, compact, numbers
from viewer.formats.json_structs import VERSION, PoseFile
from viewer.formats.json_text import decode
from viewer.formats.motion_json import pose_of
from viewer.formats.pipes import read_file_or_pipe
from viewer.skeleton.character import Source

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton


def read_pose(path: Path, name: str, skeleton: Skeleton, warnings: list[str] | None = None) -> Pose:
    """Read a pose file for one skeleton; joints that it does not name are at rest.

    Args:
        path: the file, or a pipe.
        name: what the user called it, for messages.
        skeleton: whose pose it is.
        warnings: takes a line for what deserves one: unknown keys, a pose of another skeleton.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    return pose_from_text(read_file_or_pipe(path, name), name, skeleton, warnings)


def pose_from_text(text: str, file: str, skeleton: Skeleton, warnings: list[str] | None = None) -> Pose:
    """The pose that the text of a pose file describes; arguments as of `read_pose`.

    Raises:
        FormatError: not JSON, or what it says is refused.
    """
    data, found = decode(text, PoseFile, "pose", file)
    if data.type is None and data.rotations is None:
        raise FormatError("this is a skeleton file; expected a pose file", file=file)
    if data.skeleton is not None and data.skeleton != skeleton.name:
        found.append(f"skeleton: the pose was made for {quote(data.skeleton)}, not for {quote(skeleton.name)}")
    if warnings is not None:
        warnings += found
    try:
        pose = pose_of(skeleton, data.rotations or {}, data.translations, Source())
        check_skeleton(skeleton, poses=[pose])
    except FormatError as error:
        error.file = file
        raise
    return pose


def pose_to_json(skeleton: Skeleton, pose: Pose) -> str:
    """The text of a pose file: all rotations, and the translations that are not the joint's offset.

    Reading it gives an equal pose.

    Raises:
        InputError: NaN or infinite numbers.
    """
    moved = (pose.translations != skeleton.offsets).any(axis=-1)
    rotations = {name: compact(numbers(q)) for name, q in zip(skeleton.names, pose.rotations, strict=True)}
    translations = {
        name: compact(numbers(t))
        for name, t, moves in zip(skeleton.names, pose.translations, moved, strict=True)
        if moves
    }
    parts = {
        "version": compact(VERSION),
        "type": compact("pose"),
        "skeleton": compact(skeleton.name),
        "rotations": block_object(rotations, " "),
        "translations": block_object(translations, " "),
    }
    return block_object(parts) + "\n"
