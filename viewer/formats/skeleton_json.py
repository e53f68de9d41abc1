"""A skeleton file (JSON, version 1) -> Character: metres, Y up, parents first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from viewer.errors import FormatError, InputError, quote
from viewer.formats.bounds import check_counts
from viewer.formats.files import read_text
from viewer.formats.json_joints import JointList, effectors_of
from viewer.formats.json_reading import decode, gathered
from viewer.formats.json_structs import SkeletonFile
from viewer.formats.motion_json import clip_of, pose_of
from viewer.formats.units import UNIT_LENGTHS, metres_per_unit
from viewer.skeleton.character import Character, Source

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton


def read_skeleton_json(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a skeleton file.

    Args:
        path: the file.
        name: what the user called it, for messages.
        units: instead of the file's own, as `viewer.formats.units.check_units` gives them; "auto" believes the file.
        up: likewise, "auto", "y" or "z".

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    return skeleton_from_text(read_text(path, name), name, units=units, up=up)


def skeleton_from_text(text: str, file: str, *, units: str = "auto", up: str = "auto") -> Character:
    """The character that the text of a skeleton file describes; ``units`` and ``up`` as in `read_skeleton_json`.

    Raises:
        FormatError: not JSON, or what it says is refused.
    """
    data, warnings = decode(text, SkeletonFile, "skeleton", file)
    if units != "auto":
        data.units = metres_per_unit(units)
        # "raw" takes the numbers as they are: the axes stay, too.
        data.up = "y" if units == "raw" else data.up
    if up != "auto":
        data.up = "z" if up == "z" else "y"
    return character_of(data, file, warnings)


def character_of(data: SkeletonFile, file: str, warnings: list[str]) -> Character:
    """The character of a decoded skeleton file.

    Args:
        data: what the file says.
        file: what the user called it, for messages.
        warnings: those of the decoding.

    Raises:
        FormatError: what it says is refused.
    """
    try:
        check_counts(len(data.joints), sum(len(joint.tips) for joint in data.joints), len(data.effectors or ()))
        joints = JointList(data.joints)
        source = _source(data, file, joints)
        skeleton = _skeleton(data, file, joints, source)
        warnings = warnings + gathered(joints.findings)
        clips = {}
        if data.motion is not None and data.motion.frames:
            clip = clip_of(skeleton, data.motion, joints.index, source)
            clips[clip.name] = clip
        elif data.motion is not None:
            warnings.append("motion: no frames, ignored")
    except FormatError as error:
        error.file = file
        raise
    except InputError as error:  # what no skeleton may be
        raise FormatError(str(error), file=file) from error
    limited = any(limits is not None for limits in skeleton.limits)
    return Character(skeleton, MappingProxyType(clips), source, tuple(warnings), "file" if limited else None)


def _source(data: SkeletonFile, file: str, joints: JointList) -> Source:
    return Source(
        path=file,
        format="json",
        metres_per_unit=UNIT_LENGTHS[data.units] if isinstance(data.units, str) else data.units,
        units=str(data.units),
        up=data.up,
        joint_order=tuple(joints.index.tolist()),
        license=data.license,
    )


def _skeleton(data: SkeletonFile, file: str, joints: JointList, source: Source) -> Skeleton:
    """The skeleton with its effectors and poses."""
    bare = joints.skeleton(Path(file).stem if data.name is None else data.name, source)
    poses = {
        name: pose_of(bare, pose.rotations, pose.translations, source, f"poses {quote(name)}.")
        for name, pose in data.poses.items()
    }
    return replace(bare, effectors=effectors_of(data, bare, source), poses=poses)
