"""Characters and skeletons as the data of a session file, exactly, and what reads and writes all of its values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import msgspec
import numpy as np

from viewer.document import Item
from viewer.document.take import Stretch
from viewer.errors import FormatError, InputError, at_path
from viewer.formats.bounds import check_counts
from viewer.session.storage.linked_files import (
    ClipsOfFile,
    SkinOfFile,
    carried,
    clips_of,
    reference,
    skin_of,
    skin_reference,
)
from viewer.session.storage.serialiser import ArrayForm, Form, Serialiser, members
from viewer.skeleton import Bodies, Capsule, Character, Clip, JointKind, JointLimits, LimitForm, Pose, Skeleton
from viewer.spatial.angles import EulerOrder

_COORDINATES = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}

ROWS = {
    Pose: {"rotations": ArrayForm(("J", 4), unit=True), "translations": ArrayForm(("J", 3))},
    Skeleton: {
        "parents": ArrayForm(("J",)),
        "offsets": ArrayForm(("J", 3)),
        "rest_rotations": ArrayForm(("J", 4), unit=True),
        "axes": ArrayForm(("J", 2, 3)),
        "stiffness": ArrayForm(("J",)),
        "tip_parents": ArrayForm(("T",)),
        "tip_offsets": ArrayForm(("T", 3)),
        "mobility": ArrayForm(("J", 3), finite=False),
        "mobility_matrices": ArrayForm(("J", 3, 3), finite=False),
    },
    Clip: {
        "rotations": ArrayForm(("F", "K", 4), unit=True),
        "translated": ArrayForm(("M",)),
        "translations": ArrayForm(("F", "M", 3)),
        "offsets": ArrayForm(("K", 3)),
    },
    Stretch: {
        "joints": ArrayForm(("R",)),
        "rotations": ArrayForm(("F", "R", 4), unit=True),
        "moved": ArrayForm(("M",)),
        "translations": ArrayForm(("F", "M", 3)),
    },
}


class BodyData(msgspec.Struct, omit_defaults=True):
    """A volume of one joint: metres, kilograms."""

    joint: int
    a: tuple[float, float, float]
    b: tuple[float, float, float]
    radius: float
    mass: float | None = None


def _bodies_of(data: list[BodyData], path: str) -> Bodies:
    with at_path(path):
        return Bodies(tuple(Capsule(one.joint, one.a, one.b, one.radius, one.mass) for one in data))


class LimitsData(msgspec.Struct, omit_defaults=True):
    """Ranges of one joint: radians, or metres of a slide; null: no bound."""

    form: str
    lower: list[float | None]
    upper: list[float | None]
    twist_axis: int = 1
    order: str = "xyz"


def _limits_data(limits: JointLimits) -> LimitsData:
    lower, upper = ([None if math.isinf(v) else v for v in side.tolist()] for side in (limits.lower, limits.upper))
    return LimitsData(str(limits.form), lower, upper, limits.twist_axis, limits.order)


def _limits_of(data: LimitsData, path: str) -> JointLimits:
    lower = [-math.inf if v is None else v for v in data.lower]
    upper = [math.inf if v is None else v for v in data.upper]
    if not all(low <= high for low, high in zip(lower, upper, strict=False)):
        raise FormatError("expected each lower bound at or below its upper one", path=path)
    try:
        form, order = LimitForm(data.form), cast("EulerOrder", data.order)  # which `JointLimits` checks
        return JointLimits(form, np.array(lower), np.array(upper), data.twist_axis, order)
    except (InputError, ValueError) as error:
        raise FormatError(str(error), path=path) from error


def _check_skeleton(data: Any, path: str) -> None:  # noqa: ANN401 - a struct made from the fields
    """Refuse a skeleton that is too large or whose lists differ in length, before its parts are made."""
    count = len(data.names)
    if len(data.kinds) != count or len(data.limits) != count:
        raise FormatError(f"expected {count} kinds and limits, one for each name", path=path)
    check_counts(count, effectors=len(data.effectors))
    kinds = members(JointKind, data.kinds, f"{path}.kinds")
    for index, limits in enumerate(data.limits):
        if limits is None:
            continue
        kind, where = kinds[index], f"{path}.limits[{index}]"
        wanted = _COORDINATES.get(kind, 3)
        if len(limits.lower) != wanted or len(limits.upper) != wanted:
            raise FormatError(f"expected {wanted} lower and upper bounds", path=where)
        if (limits.form == LimitForm.COORDINATES) != (kind in _COORDINATES):
            raise FormatError(f"expected limits of a {kind} joint, found {limits.form}", path=f"{where}.form")
    for index, effector in enumerate(data.effectors):
        if not 0 <= effector.joint < count:
            found = f"expected a joint from 0 to {count - 1}, found {effector.joint}"
            raise FormatError(found, path=f"{path}.effectors[{index}].joint")


FORMS = {
    JointLimits: Form(LimitsData, _limits_data, _limits_of),
    # Pairs and clearances follow from the capsules.
    Bodies: Form(
        list[BodyData],
        lambda bodies: [BodyData(one.joint, one.a, one.b, one.radius, one.mass) for one in bodies.capsules],
        _bodies_of,
    ),
    Item: Form(tuple[str, str], tuple, lambda data, _: Item(*data)),
}
VALUES = Serialiser(ROWS, FORMS, {Skeleton: _check_skeleton})
"""Reads and writes all values of a session file."""

SkeletonData: Any = VALUES.struct(Skeleton)
ClipData: Any = VALUES.struct(Clip)
CharacterData: Any = VALUES.struct(
    Character,
    skeleton=SkeletonData,
    clips=list[ClipData] | ClipsOfFile,
    file=ClipsOfFile | None,
    skin=SkinOfFile | None,
)
"""A character; its clips are in the data or, in old and very large sessions, in the file that they came from.

``file`` names the file that clips in the data came from, if it still had them when the session was saved.
"""


def skeleton_of(data: Any, path: str) -> Skeleton:  # noqa: ANN401 - SkeletonData
    """Make a skeleton.

    Raises:
        FormatError: invalid data; its path begins with ``path``.
    """
    made: Skeleton = VALUES.read(Skeleton, data, path, {"J": len(data.names)})
    check_counts(len(made), tips=len(made.tip_parents))
    return made


def pose_of(data: Any, joints: int, path: str) -> Pose:  # noqa: ANN401 - the data of a pose
    """Make a pose of ``joints`` joints.

    Raises:
        FormatError: another number of joints, not finite, no rotations.
    """
    made: Pose = VALUES.read(Pose, data, path, {"J": joints})
    return made


def character_data(character: Character, folder: Path | None = None) -> Any:  # noqa: ANN401 - CharacterData
    """The data of a character, for `character_of`.

    Args:
        character: with its clips, which are in the data unless they are very large and a file has the same.
        folder: of the session file; if given, the data also name the file that the clips came from.
    """
    clips = carried(character, VALUES.data)
    large = reference(character, folder) if clips is None else None
    return VALUES.data(
        character,
        clips=clips or large or [VALUES.data(clip) for clip in character.clips.values()],
        file=reference(character, folder) if clips and folder is not None else None,
        skin=skin_reference(character, folder),
    )


def character_of(data: Any, folder: Path, path: str, clips: Mapping[str, Clip] | None = None) -> Character:  # noqa: ANN401
    """Make a character.

    Args:
        data: from a session file.
        folder: of the session file: a motion file that was moved along with it is found there.
        path: of the data in the file, for messages.
        clips: used instead of those of the data.

    Raises:
        MotionError: the clips are not in the data, and their file is gone or has changed.
        FormatError: invalid data.
    """
    skeleton = skeleton_of(data.skeleton, f"{path}.skeleton")
    if clips is not None:
        pass
    elif isinstance(data.clips, ClipsOfFile):
        clips = clips_of(data.clips, folder, f"{path}.clips")
    else:
        clips = {clip.name: VALUES.read(Clip, clip, f"{path}.clips[{i}]") for i, clip in enumerate(data.clips)}
    if any(clip.rotations.shape[1] != len(skeleton) for clip in clips.values()):
        raise FormatError(f"expected motion of {len(skeleton)} joints", path=f"{path}.clips")
    order = data.source.joint_order
    if order and sorted(order) != list(range(len(skeleton))):
        found = f"expected each joint from 0 to {len(skeleton) - 1} once"
        raise FormatError(found, path=f"{path}.source.joint_order")
    skin, lost = (None, ()) if data.skin is None else skin_of(data.skin, folder, skeleton.names)
    made: Character = VALUES.read(
        Character, data, path, skeleton=skeleton, clips=MappingProxyType(dict(clips)), skin=skin
    )
    return replace(made, warnings=(*made.warnings, *lost)) if lost else made
