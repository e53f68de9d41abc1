"""Skeleton files (JSON, version 1) in and out; a Character is in metres, Y up, parents first."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np

from viewer.errors import at_path, of_file, quote
from viewer.formats import units
from viewer.formats.bounds import check_counts
from viewer.formats.file_formats import UNIT_LENGTHS, WriteOptions
from viewer.formats.files import read_text, write_whole
from viewer.formats.json_joints import JointList, bodies_of, effectors_of, joint_words, loops_of
from viewer.formats.json_reading import (
    block_list,
    block_object,
    compact,
    decode,
    finite,
    gathered,
    number,
    numbers,
    rotation_decimals,
)
from viewer.formats.json_structs import VERSION, SkeletonFile
from viewer.formats.motion_json import clip_of, pose_of
from viewer.formats.units import metres_per_unit, target_source
from viewer.progress import watched
from viewer.skeleton import Bodies, Character, Clip, Pose, Skeleton, Source
from viewer.spatial.checks import Floats, Ints, rounded
from viewer.spatial.quaternion import IDENTITY


def read_skeleton_json(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a skeleton file."""
    return skeleton_from_text(read_text(path, name), name, units=units, up=up)


def skeleton_from_text(text: str, file: str, *, units: str = "auto", up: str = "auto") -> Character:
    """The character that the text of a skeleton file describes; ``units`` and ``up`` as in `FileFormat.read`."""
    warnings: list[str] = []
    data = decode(text, SkeletonFile, "skeleton", file, warnings)
    if units != "auto":
        data.units = metres_per_unit(units)
        # "raw" takes the numbers as they are, and the axes too.
        data.up = "y" if units == "raw" else data.up
    if up != "auto":
        data.up = "z" if up == "z" else "y"
    return character_of(data, file, warnings)


def character_of(data: SkeletonFile, file: str, warnings: list[str]) -> Character:
    """The character of a decoded skeleton file; ``warnings`` are those of the decoding."""
    with of_file(file), at_path():  # the skeleton itself refuses invalid data, too
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
    limited = any(limits is not None for limits in skeleton.limits)
    limits_from = (data.limits_from or "file") if limited else None
    return Character(skeleton, MappingProxyType(clips), source, tuple(warnings), limits_from)


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
    effectors, bodies = effectors_of(data, bare, source), bodies_of(data, bare, source)
    made = replace(bare, effectors=effectors, poses=poses, bodies=bodies)
    return replace(made, loops=loops_of(data, made)) if data.loops else made


def write_skeleton_json(character: Character, path: Path, options: WriteOptions) -> list[str]:
    """Write a skeleton file, which holds everything: there are no warnings."""
    write_whole(path, skeleton_to_json(character, precision=options.precision))
    return []


def skeleton_to_json(
    character: Character, *, units: str | None = None, up: str | None = None, precision: int | None = None
) -> str:
    """The text of a skeleton file with the first clip; reading it gives an equal character.

    Units and axis are those of the source unless given. ``precision`` are decimals of lengths, and of rotations if 4 or
    more; None: all that a reader needs for equal values.
    """
    source = target_source(character.source, units, up)
    writer = SkeletonWriter(character.skeleton, source, file_order(character), precision)
    parts = {
        "version": compact(VERSION),
        "type": compact("skeleton"),
        "name": compact(character.skeleton.name),
        "units": compact(_unit_word(source)),
        "up": compact(source.up),
    }
    if source.license:
        parts["license"] = compact(source.license)
    if character.limits_from not in (None, "file"):
        parts["limits_from"] = compact(character.limits_from)
    parts["joints"] = block_list((compact(writer.joint(joint)) for joint in writer.order.tolist()), " ")
    parts["effectors"] = block_list(map(compact, writer.effectors()), " ")
    if character.skeleton.loops:
        loops = (
            {"a": one.a, "b": one.b, "kind": "rigid" if one.rigid else "point"} for one in character.skeleton.loops
        )
        parts["loops"] = block_list(map(compact, loops), " ")
    if character.skeleton.bodies is not None:
        parts["bodies"] = block_list(map(compact, writer.bodies(character.skeleton.bodies)), " ")
    if character.skeleton.poses:
        poses = character.skeleton.poses.items()
        parts["poses"] = block_object({name: compact(writer.pose(pose)) for name, pose in poses}, " ")
    if character.clip is not None:
        parts["motion"] = writer.motion(character.clip)
    return block_object(parts) + "\n"


def file_order(character: Character) -> Ints:
    """(J,) the skeleton's joints in the order of the file that they came from."""
    order, count = character.source.joint_order, len(character.skeleton)
    return np.array(order if sorted(order) == list(range(count)) else range(count), dtype=np.intp)


def _unit_word(source: Source) -> str | float:
    named = UNIT_LENGTHS.get("m" if source.units == "raw" else source.units)
    if named == source.metres_per_unit:
        return "m" if source.units == "raw" else source.units
    return number(float(source.metres_per_unit))


class SkeletonWriter:
    """Writes the parts of one file: arrays in its units and axes, rounded to its precision."""

    def __init__(self, skeleton: Skeleton, source: Source, order: Ints, precision: int | None) -> None:
        """``order`` (J,) is that of the joints in the file; ``precision`` as of `skeleton_to_json`."""
        self.skeleton, self.source, self.order = skeleton, source, order
        self.decimals, self.rotation_decimals = precision, rotation_decimals(precision)
        self.roots = set(skeleton.roots.tolist())
        self.tips: dict[int, list[Floats]] = {}
        for joint, tip in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
            self.tips.setdefault(joint, []).append(tip)

    def joint(self, joint: int) -> dict[str, object]:
        """A joint without what is usual: the rotation 0, no limits, no tips, and so on."""
        skeleton = self.skeleton
        parent = int(skeleton.parents[joint])
        words: dict[str, object] = {
            "name": skeleton.names[joint],
            "parent": skeleton.names[parent] if parent >= 0 else None,
            "offset": self.position(joint, skeleton.offsets[joint]),
        }
        rotation = self.rotation(joint, skeleton.rest_rotations[joint])
        if rotation != numbers(IDENTITY):
            words["rotation"] = rotation
        words |= joint_words(skeleton, joint, self.source)
        if skeleton.stiffness[joint]:
            words["stiffness"] = number(float(skeleton.stiffness[joint]))
        if joint in self.tips:
            words["tips"] = [self.lengths(tip) for tip in self.tips[joint]]
        return words

    def effectors(self) -> list[dict[str, object]]:
        """The effectors, as in the file."""
        return [
            {
                "name": effector.name,
                "joint": self.skeleton.names[effector.joint],
                "offset": self.lengths(np.array(effector.offset)),
                "goal": effector.goal.value,
            }
            for effector in self.skeleton.effectors
        ]

    def bodies(self, bodies: Bodies) -> list[dict[str, object]]:
        """The volumes for contact."""
        return [
            {
                "joint": self.skeleton.names[one.joint],
                "capsule": [*(self.lengths(np.array(end)) for end in (one.a, one.b)), *self.radius(one.radius)],
            }
            | ({} if one.mass is None else {"mass": number(one.mass)})
            for one in bodies.capsules
        ]

    def radius(self, radius: float) -> list[float | int]:
        """One length above 0, which no number of decimals rounds to 0."""
        length = units.lengths_to_source(np.array([radius]), self.source)
        return [
            found if found > 0 else number(float(exact))
            for found, exact in zip(numbers(length, self.decimals), length, strict=True)
        ]

    def pose(self, pose: Pose) -> dict[str, object]:
        """The rotations and translations that differ from the rest pose, by joint."""
        skeleton = self.skeleton
        turned = (pose.rotations != skeleton.rest_rotations).any(axis=-1)
        moved = (pose.translations != skeleton.offsets).any(axis=-1)
        order = self.order.tolist()
        return {
            "rotations": {skeleton.names[j]: self.rotation(j, pose.rotations[j]) for j in order if turned[j]},
            "translations": {skeleton.names[j]: self.position(j, pose.translations[j]) for j in order if moved[j]},
        }

    def motion(self, clip: Clip) -> str:
        """The JSON text of a motion."""
        rotations = clip.rotations.copy()
        roots = self.skeleton.roots
        rotations[:, roots] = units.root_rotations_to_source(rotations[:, roots], self.source)
        rotations = finite(rounded(rotations[:, self.order], self.rotation_decimals))
        parts = {} if clip.name == self.skeleton.name else {"name": compact(clip.name)}
        parts["frame_time"] = compact(number(float(clip.frame_time)))
        frames = watched("writing", rotations, len(rotations))
        # msgspec writes floats ten times faster than the standard library, and just as short.
        parts["frames"] = block_list((msgspec.json.encode(row.tolist()).decode() for row in frames), "  ")
        if clip.translated.size:
            parts["translations"] = block_object(
                {
                    self.skeleton.names[joint]: self.rows(joint, clip.translations[:, column])
                    for column, joint in enumerate(clip.translated.tolist())
                },
                "  ",
            )
        if clip.keys:
            parts["keys"] = compact(list(clip.keys))
        return block_object(parts, " ")

    def rows(self, joint: int, translations: Floats) -> str:
        """The JSON text of translations (F, 3) of one joint."""
        translations = rounded(self._in_source(joint, translations), self.decimals)
        return msgspec.json.encode(finite(translations).tolist()).decode()

    def position(self, joint: int, translation: Floats) -> list[float | int]:
        """A translation (3,) of a joint."""
        return numbers(self._in_source(joint, translation), self.decimals)

    def rotation(self, joint: int, rotation: Floats) -> list[float | int]:
        """A rotation (4,) of a joint."""
        if joint in self.roots:
            rotation = units.root_rotations_to_source(rotation, self.source)
        return numbers(rotation, self.rotation_decimals)

    def lengths(self, values: Floats) -> list[float | int]:
        """Lengths along the axes of a joint."""
        return numbers(units.lengths_to_source(values, self.source), self.decimals)

    def _in_source(self, joint: int, translations: Floats) -> Floats:
        if joint in self.roots:
            return units.root_translations_to_source(translations, self.source)
        return units.lengths_to_source(translations, self.source)
