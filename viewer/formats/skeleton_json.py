"""Skeleton files (JSON, version 1) and pose files, in and out; metres, Y up, parents first.

The pose files of a library also have the skeleton that the pose was made for, so that other skeletons can take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType

import msgspec
import numpy as np

from viewer.errors import FormatError, at_path, of_file, quote
from viewer.formats.bounds import check_counts, check_skeleton
from viewer.formats.file_formats import UNIT_LENGTHS, WriteOptions
from viewer.formats.files import read_file_or_pipe, read_text, write_whole
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
    of_joint,
    rotation_decimals,
    rows,
    unit_rotations,
)
from viewer.formats.json_structs import VERSION, Motion, PoseFile, RestEntry, SkeletonFile
from viewer.formats.units import (
    lengths_to_source,
    local_metres,
    metres_per_unit,
    root_rotations_to_internal,
    root_rotations_to_source,
    root_translations_to_source,
    target_source,
)
from viewer.progress import watched
from viewer.skeleton import Bodies, Character, Clip, Pose, Skeleton, Source
from viewer.spatial.checks import Floats, Ints, handed_over, rounded
from viewer.spatial.quaternion import IDENTITY

_LARGEST_POSE = 1 << 22
"""Largest file of a library's pose, bytes: one of 2,000 joints has a tenth."""


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
    return _character_of(data, file, warnings)


def _character_of(data: SkeletonFile, file: str, warnings: list[str]) -> Character:
    """The character of a decoded skeleton file; ``warnings`` are those of the decoding."""
    with of_file(file), at_path():  # the skeleton itself refuses invalid data, too
        check_counts(len(data.joints), sum(len(joint.tips) for joint in data.joints), len(data.effectors or ()))
        joints = JointList(data.joints)
        source = _source(data, file, joints)
        skeleton = _skeleton(data, file, joints, source)
        warnings = warnings + gathered(joints.findings)
        clips = {}
        if data.motion is not None and data.motion.frames:
            clip = _clip_of(skeleton, data.motion, joints.index, source)
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
        name: _pose_of(bare, pose.rotations, pose.translations, source, f"poses {quote(name)}.")
        for name, pose in data.poses.items()
    }
    effectors, bodies = effectors_of(data, bare, source), bodies_of(data, bare, source)
    made = replace(bare, effectors=effectors, poses=poses, bodies=bodies)
    return replace(made, loops=loops_of(data, made)) if data.loops else made


def _pose_of(
    skeleton: Skeleton,
    rotations: Mapping[str, tuple[float, ...]],
    translations: Mapping[str, tuple[float, ...]],
    source: Source,
    path: str = "",
) -> Pose:
    """The pose that a file states by joint names; other joints are at rest."""
    rotation_path, translation_path = f"{path}rotations", f"{path}translations"
    rotated, moved = (
        _joints_of(skeleton, rotations, rotation_path),
        _joints_of(skeleton, translations, translation_path),
    )
    stated = unit_rotations(rows(rotations.values(), 4), _key_of(rotations, rotation_path))
    at_root = np.flatnonzero(skeleton.parents[rotated] < 0)
    stated[at_root] = root_rotations_to_internal(stated[at_root], source)
    at_root = np.flatnonzero(skeleton.parents[moved] < 0)
    positions = local_metres(rows(translations.values(), 3), source, _key_of(translations, translation_path), at_root)
    all_rotations, all_translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    all_rotations[rotated], all_translations[moved] = stated, positions
    return Pose(all_rotations, all_translations)


def _clip_of(skeleton: Skeleton, motion: Motion, order: Ints, source: Source) -> Clip:
    """The motion of a file, of at least one frame; ``order`` (J,): per joint of the file its index in the skeleton."""
    count, joints = len(motion.frames), len(skeleton)
    for index, frame in enumerate(motion.frames):
        if len(frame) != joints:
            problem = f"expected {joints} rotations, one per joint, found {len(frame)}"
            raise FormatError(problem, path=f"motion.frames[{index}]")
    flat = rows(chain.from_iterable(motion.frames), 4)
    names = [quote(skeleton.names[joint]) for joint in order]
    flat = unit_rotations(flat, lambda i: f"motion.frames[{i // joints}][{i % joints}] {names[i % joints]}")
    rotations = np.empty((count, joints, 4))
    rotations[:, order] = flat.reshape(count, joints, 4)
    roots = skeleton.roots
    rotations[:, roots] = root_rotations_to_internal(rotations[:, roots], source)
    translated, translations = _translations(skeleton, motion, source)
    return Clip(
        name=skeleton.name if motion.name is None else motion.name,
        frame_time=motion.frame_time,
        rotations=handed_over(rotations),
        translated=translated,
        translations=handed_over(translations),
        offsets=skeleton.offsets,
        keys=_keys(motion),
    )


def _joints_of(skeleton: Skeleton, names: Iterable[str], path: str) -> Ints:
    joints = {name: joint for joint, name in enumerate(skeleton.names)}
    return np.array([of_joint(name, joints, f"{path} {quote(name)}") for name in names], dtype=np.intp)


def _translations(skeleton: Skeleton, motion: Motion, source: Source) -> tuple[Ints, Floats]:
    """Indices (T,), ascending, and translations (F, T, 3) of the joints that the motion moves."""
    path, count = "motion.translations", len(motion.frames)
    moved = _joints_of(skeleton, motion.translations, path)
    for name, places in motion.translations.items():
        if len(places) != count:
            problem = f"expected {count} translations, one per frame, found {len(places)}"
            raise FormatError(problem, path=f"{path} {quote(name)}")
    names = list(motion.translations)
    result = np.empty((count, len(names), 3))
    ascending = np.argsort(moved)
    for column, place in enumerate(ascending.tolist()):
        name = names[place]
        at_root = np.arange(count) if skeleton.parents[moved[place]] < 0 else None
        values = rows(motion.translations[name], 3)
        result[:, column] = local_metres(values, source, _item_of(f"{path} {quote(name)}"), at_root)
    return moved[ascending], result


def _keys(motion: Motion) -> tuple[int, ...]:
    last = len(motion.frames) - 1
    for index, key in enumerate(motion.keys):
        if key > last:
            raise FormatError(f"expected a frame from 0 to {last}, found {key}", path=f"motion.keys[{index}]")
    return tuple(sorted(set(motion.keys)))


def _key_of(mapping: Mapping[str, object], path: str) -> Callable[[int], str]:
    return lambda index: f"{path} {quote(list(mapping)[index])}"


def _item_of(path: str) -> Callable[[int], str]:
    return lambda index: f"{path}[{index}]"


# --- writing


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
        length = lengths_to_source(np.array([radius]), self.source)
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
        rotations[:, roots] = root_rotations_to_source(rotations[:, roots], self.source)
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
            rotation = root_rotations_to_source(rotation, self.source)
        return numbers(rotation, self.rotation_decimals)

    def lengths(self, values: Floats) -> list[float | int]:
        """Lengths along the axes of a joint."""
        return numbers(lengths_to_source(values, self.source), self.decimals)

    def _in_source(self, joint: int, translations: Floats) -> Floats:
        if joint in self.roots:
            return root_translations_to_source(translations, self.source)
        return lengths_to_source(translations, self.source)


# --- pose files


def read_pose(path: Path, name: str, skeleton: Skeleton, warnings: list[str] | None = None) -> Pose:
    """Read a pose file for one skeleton; joints that it does not name are at rest.

    ``path`` may be a pipe, ``name`` begins messages, and ``warnings`` receives a line for unknown keys and for a pose
    of another skeleton.
    """
    return pose_from_text(read_file_or_pipe(path, name), name, skeleton, warnings)


def pose_from_text(text: str, file: str, skeleton: Skeleton, warnings: list[str] | None = None) -> Pose:
    """The pose of a pose file's text; arguments are those of `read_pose`."""
    data = _decoded(text, file, warnings)
    if warnings is not None and data.skeleton not in (None, skeleton.name):
        made_for = quote(data.skeleton)
        warnings.append(f"skeleton: the pose was made for {made_for}, not for {quote(skeleton.name)}")
    return _stated_pose(skeleton, data, file)


def _decoded(text: str, file: str, warnings: list[str] | None = None) -> PoseFile:
    data = decode(text, PoseFile, "pose", file, warnings)
    if data.type is None and data.rotations is None:
        raise FormatError("this is a skeleton file; expected a pose file", file=file)
    return data


def _stated_pose(skeleton: Skeleton, data: PoseFile, file: str) -> Pose:
    with of_file(file):
        pose = _pose_of(skeleton, data.rotations or {}, data.translations, Source())
        check_skeleton(skeleton, poses=[pose])
    return pose


def pose_to_json(skeleton: Skeleton, pose: Pose, *, tags: Iterable[str] | None = None) -> str:
    """The text of a pose file: all rotations, and the translations that differ from the joint's offset.

    Reading it gives an equal pose. With ``tags`` it is the file of a library: the skeleton's tree and rest pose are in
    it, too.
    """
    moved = (pose.translations != skeleton.offsets).any(axis=-1)
    names = dict(enumerate(skeleton.names))
    parts = {"version": compact(VERSION), "type": compact("pose"), "skeleton": compact(skeleton.name)}
    if tags is not None:
        parts["tags"] = compact(list(tags))
    parts["rotations"] = block_object({name: compact(numbers(pose.rotations[j])) for j, name in names.items()}, " ")
    parts["translations"] = block_object(
        {name: compact(numbers(pose.translations[j])) for j, name in names.items() if moved[j]}, " "
    )
    if tags is not None:
        parts["rest"] = block_object({name: compact(_rest(skeleton, j)) for j, name in names.items()}, " ")
    return block_object(parts) + "\n"


# --- pose files of a library


@dataclass(frozen=True, slots=True, eq=False)
class KeptPose:
    """A pose of a library, as its file states it.

    Attributes:
        text: of the file.
        file: its name for messages.
        made_for: the name of its skeleton; "" if the file does not state it.
        skeleton: that it was made for: names, tree and rest pose; None: the file does not hold them.
        pose: of that skeleton; None without one.
        tags: words by which it is found.
        joints: how many joints it poses.
    """

    text: str
    file: str
    made_for: str
    skeleton: Skeleton | None
    pose: Pose | None
    tags: tuple[str, ...]
    joints: int

    def on(self, skeleton: Skeleton) -> tuple[Skeleton, Pose]:
        """The pose and its skeleton, which is ``skeleton`` where the file states none.

        Raises:
            FormatError: the file does not state one, and ``skeleton`` does not have the file's joints.
        """
        if self.skeleton is not None and self.pose is not None:
            return self.skeleton, self.pose
        return skeleton, pose_from_text(self.text, self.file, skeleton)


def read_kept_pose(path: Path) -> KeptPose:
    """Read a pose file of a library."""
    name = str(path)
    text = read_text(path, name, _LARGEST_POSE)
    data = _decoded(text, name)
    tags = tuple(dict.fromkeys(tag.strip() for tag in data.tags if tag.strip()))
    with of_file(name):
        skeleton = None if not data.rest else _rest_skeleton(data.skeleton or "", data.rest)
    pose = None if skeleton is None else _stated_pose(skeleton, data, name)
    return KeptPose(text, name, data.skeleton or "", skeleton, pose, tags, len(data.rotations or {}))


def _rest_skeleton(name: str, rest: dict[str, RestEntry]) -> Skeleton:
    places = {joint: index for index, joint in enumerate(rest)}
    for index, (joint, entry) in enumerate(rest.items()):
        if entry.parent is not None and places.get(entry.parent, index) >= index:
            problem = f"expected the name of a joint above, found {quote(entry.parent)}"
            raise FormatError(problem, path=f"rest {quote(joint)}.parent")
    entries = list(rest.values())
    parents = [-1 if entry.parent is None else places[entry.parent] for entry in entries]
    tips = [(joint, tip) for joint, entry in enumerate(entries) for tip in entry.tips]
    count = len(rest)
    with at_path("rest"):
        return Skeleton(
            name=name,
            names=tuple(rest),
            parents=np.array(parents, dtype=np.intp),
            offsets=np.array([entry.offset for entry in entries]).reshape(count, 3),
            rest_rotations=np.array([entry.rotation for entry in entries]).reshape(count, 4),
            tip_parents=np.array([joint for joint, _ in tips], dtype=np.intp),
            tip_offsets=np.array([tip for _, tip in tips]).reshape(-1, 3),
        )


def _rest(skeleton: Skeleton, joint: int) -> dict[str, object]:
    parent = int(skeleton.parents[joint])
    tips = [numbers(tip) for tip in skeleton.tip_offsets[skeleton.tip_parents == joint]]
    entry: dict[str, object] = {} if parent < 0 else {"parent": skeleton.names[parent]}
    entry |= {"offset": numbers(skeleton.offsets[joint]), "rotation": numbers(skeleton.rest_rotations[joint])}
    return entry | ({"tips": tips} if tips else {})
