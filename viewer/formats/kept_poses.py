"""Pose files of a pose library: a pose with the skeleton that it was made for, so that other skeletons can take it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from viewer.errors import FormatError, InputError, quote
from viewer.formats.bounds import check_skeleton
from viewer.formats.files import read_text
from viewer.formats.json_reading import block_object, compact, decode, numbers
from viewer.formats.json_structs import VERSION, PoseFile, RestEntry
from viewer.formats.motion_json import pose_from_text, pose_of
from viewer.skeleton import JointKind, Pose, Skeleton, Source

LARGEST = 1 << 22
"""Largest file of a library's pose, bytes: one of 2,000 joints has a tenth."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptPose:
    """A pose of a library, as its file states it.

    Attributes:
        text: of the file.
        file: its name for messages.
        skeleton: that it was made for: names, tree and rest pose; None: the file does not state it.
        pose: of that skeleton; None without one.
        tags: words that find it.
        joints: how many joints it poses.
    """

    text: str
    file: str
    skeleton: Skeleton | None
    pose: Pose | None
    tags: tuple[str, ...]
    joints: int

    def on(self, skeleton: Skeleton) -> tuple[Skeleton, Pose]:
        """The skeleton that the pose is of, and the pose; ``skeleton`` where the file does not state one.

        Raises:
            FormatError: the file does not state one, and ``skeleton`` does not have the file's joints.
        """
        if self.skeleton is not None and self.pose is not None:
            return self.skeleton, self.pose
        return skeleton, pose_from_text(self.text, self.file, skeleton)


def read_kept_pose(path: Path) -> KeptPose:
    """Read a pose file of a library.

    Raises:
        ViewerError: the file cannot be read, is no pose file, or its contents are refused.
    """
    name = str(path)
    text = read_text(path, name, LARGEST)
    data, _ = decode(text, PoseFile, "pose", name)
    if data.type is None and data.rotations is None:
        raise FormatError("this is a skeleton file; expected a pose file", file=name)
    tags = tuple(dict.fromkeys(tag.strip() for tag in data.tags if tag.strip()))
    try:
        skeleton = None if not data.rest else _skeleton(data.skeleton or "", data.rest)
        pose = None
        if skeleton is not None:
            pose = pose_of(skeleton, data.rotations or {}, data.translations, Source())
            check_skeleton(skeleton, poses=[pose])
    except FormatError as error:
        error.file = name
        raise
    return KeptPose(text, name, skeleton, pose, tags, len(data.rotations or {}))


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
    try:
        return Skeleton(
            name=name,
            names=tuple(rest),
            parents=np.array(parents, dtype=np.intp),
            offsets=np.array([entry.offset for entry in entries]).reshape(count, 3),
            rest_rotations=np.array([entry.rotation for entry in entries]).reshape(count, 4),
            kinds=tuple(JointKind.FREE if parent < 0 else JointKind.BALL for parent in parents),
            axes=np.zeros((count, 2, 3)),
            limits=(None,) * count,
            stiffness=np.zeros(count),
            tip_parents=np.array([joint for joint, _ in tips], dtype=np.intp),
            tip_offsets=np.array([tip for _, tip in tips]).reshape(-1, 3),
        )
    except InputError as error:
        raise FormatError(str(error), path="rest") from error


def kept_pose_json(skeleton: Skeleton, pose: Pose, tags: Iterable[str] = ()) -> str:
    """The text of a pose file with the skeleton's tree and rest pose; reading it gives an equal pose.

    Raises:
        InputError: NaN or infinite numbers.
    """
    moved = (pose.translations != skeleton.offsets).any(axis=-1)
    joints = range(len(skeleton))
    parts = {
        "version": compact(VERSION),
        "type": compact("pose"),
        "skeleton": compact(skeleton.name),
        "tags": compact(list(tags)),
        "rotations": block_object({skeleton.names[j]: compact(numbers(pose.rotations[j])) for j in joints}, " "),
        "translations": block_object(
            {skeleton.names[j]: compact(numbers(pose.translations[j])) for j in joints if moved[j]}, " "
        ),
        "rest": block_object({skeleton.names[j]: compact(_rest(skeleton, j)) for j in joints}, " "),
    }
    return block_object(parts) + "\n"


def _rest(skeleton: Skeleton, joint: int) -> dict[str, object]:
    parent = int(skeleton.parents[joint])
    tips = [numbers(tip) for tip in skeleton.tip_offsets[skeleton.tip_parents == joint]]
    entry: dict[str, object] = {} if parent < 0 else {"parent": skeleton.names[parent]}
    entry |= {"offset": numbers(skeleton.offsets[joint]), "rotation": numbers(skeleton.rest_rotations[joint])}
    return entry | ({"tips": tips} if tips else {})
