"""Skeletons, poses and characters as the data of a session file, exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from viewer.errors import FormatError, InputError
from viewer.formats.bounds import check_counts
from viewer.session.storage.arrays import check_unit, pack, unpack
from viewer.session.storage.motion import carried, clips_data, clips_of, reference
from viewer.session.storage.structs import (
    Array,
    CharacterData,
    ClipData,
    ClipsOfFile,
    EffectorData,
    LimitsData,
    PoseData,
    SkeletonData,
    SourceData,
)
from viewer.skeleton.character import BvhLayout, Character, Source
from viewer.skeleton.clip import Clip
from viewer.skeleton.effectors import Effector, EffectorGoal
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats, handed_over, unit_quaternions

E = TypeVar("E", bound="StrEnum")

_COORDINATES = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}


def skeleton_data(skeleton: Skeleton) -> SkeletonData:
    """What `skeleton_of` makes an equal skeleton from."""
    return SkeletonData(
        name=skeleton.name,
        names=list(skeleton.names),
        parents=pack(skeleton.parents),
        offsets=pack(skeleton.offsets),
        rest_rotations=pack(skeleton.rest_rotations),
        kinds=[str(kind) for kind in skeleton.kinds],
        axes=pack(skeleton.axes),
        limits=[None if limits is None else _limits_data(limits) for limits in skeleton.limits],
        stiffness=pack(skeleton.stiffness),
        tip_parents=pack(skeleton.tip_parents),
        tip_offsets=pack(skeleton.tip_offsets),
        effectors=[EffectorData(e.name, e.joint, e.offset, str(e.goal)) for e in skeleton.effectors],
        poses={name: pose_data(pose) for name, pose in skeleton.poses.items()},
        spreads=None if skeleton.mobility is None else pack(skeleton.mobility),
        spread_matrices=None if skeleton.mobility_matrices is None else pack(skeleton.mobility_matrices),
    )


def skeleton_of(data: SkeletonData, path: str) -> Skeleton:
    """The skeleton.

    Raises:
        FormatError: what is no skeleton; it says where, beginning with ``path``.
    """
    count = len(data.names)
    if len(data.kinds) != count or len(data.limits) != count:
        raise FormatError(f"expected {count} kinds and limits, one for each name", path=path)
    check_counts(count, effectors=len(data.effectors))
    kinds = tuple(member(JointKind, kind, f"{path}.kinds[{i}]") for i, kind in enumerate(data.kinds))
    tip_parents = unpack(data.tip_parents, (-1,), f"{path}.tip_parents", whole=True)
    check_counts(count, tips=len(tip_parents))
    try:
        return Skeleton(
            name=data.name,
            names=tuple(data.names),
            parents=unpack(data.parents, (count,), f"{path}.parents", whole=True),
            offsets=_finite(unpack(data.offsets, (count, 3), f"{path}.offsets"), f"{path}.offsets"),
            rest_rotations=rotations_of(data.rest_rotations, count, f"{path}.rest_rotations"),
            kinds=kinds,
            axes=_finite(unpack(data.axes, (count, 2, 3), f"{path}.axes"), f"{path}.axes"),
            limits=tuple(
                None if limits is None else _limits_of(limits, kinds[i], f"{path}.limits[{i}]")
                for i, limits in enumerate(data.limits)
            ),
            stiffness=_finite(unpack(data.stiffness, (count,), f"{path}.stiffness"), f"{path}.stiffness"),
            tip_parents=tip_parents,
            tip_offsets=_finite(
                unpack(data.tip_offsets, (len(tip_parents), 3), f"{path}.tip_offsets"), f"{path}.tip_offsets"
            ),
            effectors=tuple(_effector_of(e, count, f"{path}.effectors[{i}]") for i, e in enumerate(data.effectors)),
            poses={name: pose_of(pose, count, f"{path}.poses.{name}") for name, pose in data.poses.items()},
            mobility=_given(data.spreads, (count, 3), f"{path}.spreads"),
            mobility_matrices=_given(data.spread_matrices, (count, 3, 3), f"{path}.spread_matrices"),
        )
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def pose_data(pose: Pose) -> PoseData:
    """What `pose_of` makes an equal pose from."""
    return PoseData(pack(pose.rotations), pack(pose.translations))


def pose_of(data: PoseData, joints: int, path: str) -> Pose:
    """The pose of so many joints.

    Raises:
        FormatError: of another number of joints, not finite, no rotations.
    """
    places = _finite(unpack(data.translations, (joints, 3), f"{path}.translations"), f"{path}.translations")
    return Pose(rotations_of(data.rotations, joints, f"{path}.rotations"), places)


def rotations_of(stored: object, count: int, path: str) -> Floats:
    """(count, 4) unit quaternions with the bits that they were written with; -1 = any number of them.

    Raises:
        FormatError: farther than 1e-3 from unit length.
    """
    turns = unpack(stored, (count, 4), path)  # type: ignore[arg-type]
    try:
        unit_quaternions(turns, (-1, 4), "rotations")
    except InputError as error:
        raise FormatError(str(error), path=path) from error
    return turns


def member(kind: type[E], word: str, path: str) -> E:
    """The member of an enumeration that a word names.

    Raises:
        FormatError: it has none of that name.
    """
    try:
        return kind(word)
    except ValueError:
        listed = ", ".join(str(one) for one in kind)
        raise FormatError(f"expected one of {listed}, found {word!r}", path=path) from None


def _limits_data(limits: JointLimits) -> LimitsData:
    lower, upper = ([None if math.isinf(v) else v for v in side.tolist()] for side in (limits.lower, limits.upper))
    return LimitsData(str(limits.form), lower, upper, limits.twist_axis, limits.order)


def _limits_of(data: LimitsData, kind: JointKind, path: str) -> JointLimits:
    form = member(LimitForm, data.form, f"{path}.form")
    count = _COORDINATES.get(kind, 3)
    if len(data.lower) != count or len(data.upper) != count:
        raise FormatError(f"expected {count} lower and upper bounds", path=path)
    if (form is LimitForm.COORDINATES) != (kind in _COORDINATES):
        raise FormatError(f"expected limits of a {kind} joint, found {form}", path=f"{path}.form")
    lower = [-math.inf if v is None else v for v in data.lower]
    upper = [math.inf if v is None else v for v in data.upper]
    if not all(low <= high for low, high in zip(lower, upper, strict=True)):
        raise FormatError("expected each lower bound at or below its upper one", path=path)
    if not 0 <= data.twist_axis <= 2 or sorted(data.order) != ["x", "y", "z"]:
        raise FormatError("expected a twist axis of 0, 1 or 2 and an order of x, y and z", path=path)
    return JointLimits(form, lower, upper, data.twist_axis, data.order)  # type: ignore[arg-type]


def _effector_of(data: EffectorData, joints: int, path: str) -> Effector:
    if not 0 <= data.joint < joints:
        raise FormatError(f"expected a joint from 0 to {joints - 1}, found {data.joint}", path=f"{path}.joint")
    return Effector(data.name, data.joint, data.offset, member(EffectorGoal, data.goal, f"{path}.goal"))


def _given(stored: Array | None, shape: tuple[int, ...], path: str) -> Floats | None:
    return None if stored is None else unpack(stored, shape, path)


def _finite(array: Floats, path: str) -> Floats:
    if not np.isfinite(array).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    return array


def character_data(character: Character, folder: Path | None = None) -> CharacterData:
    """What `character_of` makes an equal character from.

    Args:
        character: with its clips, which are carried along unless they are very large and a file has just the same.
        folder: the session file's; given, the file that the clips came from is named beside them.
    """
    clips = carried(character)
    large = reference(character, folder) if clips is None else None
    return CharacterData(
        skeleton=skeleton_data(character.skeleton),
        source=_source_data(character.source),
        clips=clips or large or clips_data(character.clips),
        warnings=list(character.warnings),
        limits_from=character.limits_from,
        file=reference(character, folder) if clips and folder is not None else None,
    )


def character_of(data: CharacterData, folder: Path, path: str, clips: Mapping[str, Clip] | None = None) -> Character:
    """The character.

    Args:
        data: from a session file.
        folder: the session file's: a clip's file that has moved along with it is found there.
        path: where the data stand in the file, for messages.
        clips: instead of those of the data.

    Raises:
        MotionError: the clips are not in the data, and their file is gone or has changed.
        FormatError: what is no character.
    """
    skeleton = skeleton_of(data.skeleton, f"{path}.skeleton")
    if clips is not None:
        pass
    elif isinstance(data.clips, ClipsOfFile):
        clips = clips_of(data.clips, folder, f"{path}.clips")
    else:
        clips = {clip.name: _clip_of(clip, f"{path}.clips[{i}]") for i, clip in enumerate(data.clips)}
    if any(clip.rotations.shape[1] != len(skeleton) for clip in clips.values()):
        raise FormatError(f"expected motion of {len(skeleton)} joints", path=f"{path}.clips")
    source = _source_of(data.source, len(skeleton), f"{path}.source")
    return Character(skeleton, MappingProxyType(dict(clips)), source, tuple(data.warnings), data.limits_from)


def _clip_of(data: ClipData, path: str) -> Clip:
    rotations = unpack(data.rotations, (-1, -1, 4), f"{path}.rotations")
    check_unit(rotations, f"{path}.rotations")
    joints = rotations.shape[1]
    translated = unpack(data.translated, (-1,), f"{path}.translated", whole=True)
    if translated.size and not (
        translated.min() >= 0 and translated.max() < joints and (np.diff(translated) > 0).all()
    ):
        raise FormatError(f"expected joints from 0 to {joints - 1}, ascending", path=f"{path}.translated")
    translations = unpack(data.translations, (len(rotations), len(translated), 3), f"{path}.translations")
    offsets = unpack(data.offsets, (joints, 3), f"{path}.offsets")
    if not (np.isfinite(translations).all() and np.isfinite(offsets).all()):
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    if any(not 0 <= key < len(rotations) for key in data.keys):
        raise FormatError(f"expected frames from 0 to {len(rotations) - 1}", path=f"{path}.keys")
    try:
        return Clip(
            data.name, data.frame_time, handed_over(rotations), translated, translations, offsets, tuple(data.keys)
        )
    except InputError as error:
        raise FormatError(str(error), path=path) from error


def _source_data(source: Source) -> SourceData:
    layout = source.layout
    return SourceData(
        path=source.path,
        format=source.format,
        metres_per_unit=source.metres_per_unit,
        units=source.units,
        up=source.up,
        guessed=source.guessed,
        joint_order=pack(np.array(source.joint_order, dtype=np.intp)),
        layout_names=None if layout is None else list(layout.names),
        layout_channels=[] if layout is None else [list(channels) for channels in layout.channels],
        license=source.license,
    )


def _source_of(data: SourceData, joints: int, path: str) -> Source:
    if data.up not in ("y", "z") or not 0.0 < data.metres_per_unit < float("inf"):
        raise FormatError("expected metres per unit above 0 and y or z up", path=path)
    layout = None
    if data.layout_names is not None:
        layout = BvhLayout(tuple(data.layout_names), tuple(tuple(channels) for channels in data.layout_channels))
    order = unpack(data.joint_order, (-1,), f"{path}.joint_order", whole=True)
    if order.size and not np.array_equal(np.sort(order), np.arange(joints)):
        raise FormatError(f"expected each joint from 0 to {joints - 1} once", path=f"{path}.joint_order")
    return Source(
        data.path, data.format, data.metres_per_unit, data.units, data.up, data.guessed, tuple(order.tolist()),
        layout, data.license,
    )  # fmt: skip
