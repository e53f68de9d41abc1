"""How the values of a document are stored where their fields do not say it all, and characters with their clips."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec
import numpy as np

from viewer.document.goal import Item
from viewer.document.take import Stretch
from viewer.errors import FormatError, InputError
from viewer.formats.bounds import check_counts
from viewer.session.storage.motion import ClipsOfFile, carried, clips_of, reference
from viewer.session.storage.values import Form, Rows, Serialiser, members
from viewer.skeleton.capsule import Bodies, Capsule
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton

_COORDINATES = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}

ROWS = {
    Pose: {"rotations": Rows(("J", 4), unit=True), "translations": Rows(("J", 3))},
    Skeleton: {
        "parents": Rows(("J",)),
        "offsets": Rows(("J", 3)),
        "rest_rotations": Rows(("J", 4), unit=True),
        "axes": Rows(("J", 2, 3)),
        "stiffness": Rows(("J",)),
        "tip_parents": Rows(("T",)),
        "tip_offsets": Rows(("T", 3)),
        "mobility": Rows(("J", 3), finite=False),
        "mobility_matrices": Rows(("J", 3, 3), finite=False),
    },
    Clip: {
        "rotations": Rows(("F", "K", 4), unit=True),
        "translated": Rows(("M",)),
        "translations": Rows(("F", "M", 3)),
        "offsets": Rows(("K", 3)),
    },
    Stretch: {
        "joints": Rows(("R",)),
        "rotations": Rows(("F", "R", 4), unit=True),
        "moved": Rows(("M",)),
        "translations": Rows(("F", "M", 3)),
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
    try:
        return Bodies(tuple(Capsule(one.joint, one.a, one.b, one.radius, one.mass) for one in data))
    except InputError as error:
        raise FormatError(str(error), path=path) from error


class LimitsData(msgspec.Struct, omit_defaults=True):
    """Ranges of one joint: radians, metres of a slide; a bound of null is none."""

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
        return JointLimits(LimitForm(data.form), np.array(lower), np.array(upper), data.twist_axis, data.order)
    except (InputError, ValueError) as error:
        raise FormatError(str(error), path=path) from error


def _check_skeleton(data: Any, path: str) -> None:  # noqa: ANN401 - a struct made from the fields
    """Refuse one that is too large, or whose lists do not fit, before anything is made for each of its parts."""
    count = len(data.names)
    if len(data.kinds) != count or len(data.limits) != count:
        raise FormatError(f"expected {count} kinds and limits, one for each name", path=path)
    check_counts(count, effectors=len(data.effectors))
    kinds = members(JointKind, data.kinds, f"{path}.kinds")
    for place, limits in enumerate(data.limits):
        if limits is None:
            continue
        kind, where = kinds[place], f"{path}.limits[{place}]"
        wanted = _COORDINATES.get(kind, 3)
        if len(limits.lower) != wanted or len(limits.upper) != wanted:
            raise FormatError(f"expected {wanted} lower and upper bounds", path=where)
        if (limits.form == LimitForm.COORDINATES) != (kind in _COORDINATES):
            raise FormatError(f"expected limits of a {kind} joint, found {limits.form}", path=f"{where}.form")
    for place, effector in enumerate(data.effectors):
        if not 0 <= effector.joint < count:
            found = f"expected a joint from 0 to {count - 1}, found {effector.joint}"
            raise FormatError(found, path=f"{path}.effectors[{place}].joint")


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
"""What reads and writes everything that a session file holds."""

SkeletonData: Any = VALUES.struct(Skeleton)
ClipData: Any = VALUES.struct(Clip)
CharacterData: Any = VALUES.struct(
    Character, skeleton=SkeletonData, clips=list[ClipData] | ClipsOfFile, file=ClipsOfFile | None
)
"""A character; its clips are here or, of old and of very large sessions, in the file that they came from.

``file`` is the file that clips which are here came from, if it still had them when this was saved.
"""


def skeleton_of(data: Any, path: str) -> Skeleton:  # noqa: ANN401 - SkeletonData
    """The skeleton.

    Raises:
        FormatError: what is no skeleton; it says where, beginning with ``path``.
    """
    made: Skeleton = VALUES.read(Skeleton, data, path, {"J": len(data.names)})
    check_counts(len(made), tips=len(made.tip_parents))
    return made


def pose_of(data: Any, joints: int, path: str) -> Pose:  # noqa: ANN401 - the data of a pose
    """The pose of so many joints.

    Raises:
        FormatError: of another number of joints, not finite, no rotations.
    """
    made: Pose = VALUES.read(Pose, data, path, {"J": joints})
    return made


def character_data(character: Character, folder: Path | None = None) -> Any:  # noqa: ANN401 - CharacterData
    """What `character_of` makes an equal character from.

    Args:
        character: with its clips, which are carried along unless they are very large and a file has just the same.
        folder: the session file's; given, the file that the clips came from is named beside them.
    """
    clips = carried(character, VALUES.data)
    large = reference(character, folder) if clips is None else None
    return VALUES.data(
        character,
        clips=clips or large or [VALUES.data(clip) for clip in character.clips.values()],
        file=reference(character, folder) if clips and folder is not None else None,
    )


def character_of(data: Any, folder: Path, path: str, clips: Mapping[str, Clip] | None = None) -> Character:  # noqa: ANN401
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
        clips = {clip.name: VALUES.read(Clip, clip, f"{path}.clips[{i}]") for i, clip in enumerate(data.clips)}
    if any(clip.rotations.shape[1] != len(skeleton) for clip in clips.values()):
        raise FormatError(f"expected motion of {len(skeleton)} joints", path=f"{path}.clips")
    order = data.source.joint_order
    if order and sorted(order) != list(range(len(skeleton))):
        found = f"expected each joint from 0 to {len(skeleton) - 1} once"
        raise FormatError(found, path=f"{path}.source.joint_order")
    made: Character = VALUES.read(Character, data, path, skeleton=skeleton, clips=MappingProxyType(dict(clips)))
    return made
