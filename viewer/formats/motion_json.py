"""Poses and motion of JSON files, reading and writing: metres, Y up.

The pose files of a library also have the skeleton that the pose was made for, so that other skeletons can take it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TypeVar

import numpy as np

from viewer.errors import FormatError, at_path, of_file, quote, unknown_name
from viewer.formats.bounds import check_skeleton
from viewer.formats.files import read_file_or_pipe, read_text
from viewer.formats.json_reading import block_object, compact, decode, numbers
from viewer.formats.json_structs import VERSION, Motion, PoseFile, RestEntry
from viewer.formats.units import lengths_to_internal, root_rotations_to_internal, root_translations_to_internal
from viewer.skeleton import Clip, Pose, Skeleton, Source
from viewer.spatial.checks import Floats, Ints, handed_over, nearly_unit

T = TypeVar("T")

LARGEST = 1 << 22
"""Largest file of a library's pose, bytes: one of 2,000 joints has a tenth."""


def rows(values: Iterable[tuple[float, ...]], width: int) -> Floats:
    """An array (N, width) of tuples of numbers."""
    return np.fromiter(chain.from_iterable(values), dtype=np.float64).reshape(-1, width)


def unit_rotations(values: Floats, place: Callable[[int], str]) -> Floats:
    """(N, 4) rotations of a file, normalised; ``place`` gives the path of the one with an index, for the message."""

    def refused(row: int, _: Floats, length: float) -> FormatError:
        return FormatError(f"expected a unit quaternion x, y, z, w, found one of length {length:.6g}", path=place(row))

    return nearly_unit(values, refused)


def local_metres(values: Floats, source: Source, place: Callable[[int], str], roots: Ints | None = None) -> Floats:
    """(N, 3) translations of a file in metres; the rows ``roots`` are also rotated to Y up."""
    result = lengths_to_internal(values, source)
    if roots is not None and source.up == "z":
        result = result.copy()
        result[roots] = root_translations_to_internal(values[roots], source)
    wrong = np.flatnonzero(~np.isfinite(result).all(axis=-1))
    if wrong.size:
        raise FormatError("expected lengths within float range in metres", path=place(int(wrong[0])))
    return result


def pose_of(
    skeleton: Skeleton,
    rotations: Mapping[str, tuple[float, ...]],
    translations: Mapping[str, tuple[float, ...]],
    source: Source,
    path: str = "",
) -> Pose:
    """The pose that a file states by joint names; other joints are at rest."""
    rotation_path, translation_path = f"{path}rotations", f"{path}translations"
    rotated, moved = joints_of(skeleton, rotations, rotation_path), joints_of(skeleton, translations, translation_path)
    stated = unit_rotations(rows(rotations.values(), 4), _key_of(rotations, rotation_path))
    at_root = np.flatnonzero(skeleton.parents[rotated] < 0)
    stated[at_root] = root_rotations_to_internal(stated[at_root], source)
    at_root = np.flatnonzero(skeleton.parents[moved] < 0)
    positions = local_metres(rows(translations.values(), 3), source, _key_of(translations, translation_path), at_root)
    all_rotations, all_translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    all_rotations[rotated], all_translations[moved] = stated, positions
    return Pose(all_rotations, all_translations)


def clip_of(skeleton: Skeleton, motion: Motion, order: Ints, source: Source) -> Clip:
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


def joints_of(skeleton: Skeleton, names: Iterable[str], path: str) -> Ints:
    """Indices of joints by name."""
    numbers = {name: joint for joint, name in enumerate(skeleton.names)}
    return np.array([of_joint(name, numbers, f"{path} {quote(name)}") for name in names], dtype=np.intp)


def of_joint(name: str, every: Mapping[str, T], path: str) -> T:
    """The value of a joint that a file names at a path."""
    if name not in every:
        raise FormatError(unknown_name("joint", name, every), path=path)
    return every[name]


def _translations(skeleton: Skeleton, motion: Motion, source: Source) -> tuple[Ints, Floats]:
    """Indices (T,), ascending, and translations (F, T, 3) of the joints that the motion moves."""
    path, count = "motion.translations", len(motion.frames)
    moved = joints_of(skeleton, motion.translations, path)
    for name, places in motion.translations.items():
        if len(places) != count:
            problem = f"expected {count} translations, one per frame, found {len(places)}"
            raise FormatError(problem, path=f"{path} {quote(name)}")
    names = list(motion.translations)
    result = np.empty((count, len(names), 3))
    ascending = np.argsort(moved)
    for column, number in enumerate(ascending.tolist()):
        name = names[number]
        at_root = np.arange(count) if skeleton.parents[moved[number]] < 0 else None
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
    return lambda number: f"{path} {quote(list(mapping)[number])}"


def _item_of(path: str) -> Callable[[int], str]:
    return lambda number: f"{path}[{number}]"


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
        pose = pose_of(skeleton, data.rotations or {}, data.translations, Source())
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
    text = read_text(path, name, LARGEST)
    data = _decoded(text, name)
    tags = tuple(dict.fromkeys(tag.strip() for tag in data.tags if tag.strip()))
    with of_file(name):
        skeleton = None if not data.rest else _skeleton(data.skeleton or "", data.rest)
    pose = None if skeleton is None else _stated_pose(skeleton, data, name)
    return KeptPose(text, name, data.skeleton or "", skeleton, pose, tags, len(data.rotations or {}))


def _skeleton(name: str, rest: dict[str, RestEntry]) -> Skeleton:
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
