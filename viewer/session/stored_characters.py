"""Characters and skeletons as the data of a session file, exactly, and the files that it refers to.

These are that of the session's motion, of which it also has a copy, and that of its skin.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import msgspec
import numpy as np

from viewer.document import Item
from viewer.document.take import Stretch, same
from viewer.errors import FormatError, InputError, ViewerError, at_path, quote
from viewer.formats.bounds import check_counts
from viewer.formats.file_formats import SAMPLE, check_up
from viewer.formats.files import LARGEST_FILE, opened, version_of
from viewer.formats.load import load
from viewer.latest import Latest
from viewer.session.serialiser import ArrayForm, Form, Serialiser, members
from viewer.skeleton import Bodies, Capsule, Character, Clip, JointKind, JointLimits, LimitForm, Pose, Skeleton, Skin
from viewer.spatial.quaternion import EulerOrder

LARGEST_CARRIED = 320 << 20
"""Most bytes of motion in a session file: as text they fit into a file that can be read again. Longer motion
stays in its own file."""

_packed = Latest[list[Any]]()
_reference = Latest["ClipsOfFile | None"]()
"""The last results: computing them at every autosave would take longer than all the rest."""

_SUFFIXES = (".glb", ".gltf", ".urdf", ".xml")
"""Suffixes of files with skins. Not .xacro, whose macros are programs: opening a session runs none."""

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


class ClipsOfFile(msgspec.Struct):
    """Reference to a file with clips: its path and contents.

    Attributes:
        path: absolute path.
        sha256: of the file's bytes.
        units, up: as it was read.
        frame_time: of all its clips, perhaps corrected; None: they differ.
        relative: path from the session file's folder, with slashes.
    """

    path: str
    sha256: str
    units: str | float
    up: str
    frame_time: float | None = None
    relative: str | None = None


class MotionError(FormatError):
    """The motion is not in the session, and its file is missing or has changed."""

    def __init__(self, file_of_motion: MotionFile, path: str) -> None:
        super().__init__(file_of_motion.words, path=path)
        self.file_of_motion = file_of_motion


@dataclass(frozen=True, slots=True)
class MotionFile:
    """A session's motion file, as found now.

    ``named`` is the session's reference, ``location`` its present path, None: missing; ``problem`` is why it is not the
    file that the session was saved with, "" if it is.
    """

    named: ClipsOfFile
    location: Path | None
    problem: str = ""

    @property
    def name(self) -> str:
        """File name without folders."""
        return Path(self.named.path).name

    @property
    def words(self) -> str:
        """``the motion file "walk.bvh" has changed since this was saved``."""
        return f"the motion file {quote(self.name)} {self.problem}"


def _carried(character: Character) -> list[Any] | None:
    """The clips as data; None if they are too large for a session file."""
    clips = character.clips
    if sum(clip.rotations.nbytes + clip.translations.nbytes for clip in clips.values()) > LARGEST_CARRIED:
        return None
    return _packed.of(lambda: [VALUES.data(clip) for clip in clips.values()], clips)


def reference(character: Character, folder: Path | None = None) -> ClipsOfFile | None:
    """Reference to the file with exactly these clips, or None.

    With the ``folder`` of the session file it has the relative path, too, so that both files can be moved together.
    """
    source = character.source
    if source.path is None or source.path.startswith(SAMPLE) or not character.clips:
        return None
    location = Path(os.path.realpath(source.path))
    version = version_of(location), location
    found = _reference.of(lambda: _looked_up(character, location), character.clips, equal=version)
    if found is None or folder is None:
        return found
    return msgspec.structs.replace(found, relative=relative_path(location, folder))


def find(named: ClipsOfFile, folder: Path) -> MotionFile:
    """Look for a motion file: by its relative path, its absolute path, and beside the session."""
    changed: MotionFile | None = None
    for location in _candidates(named, folder):
        try:
            if not location.is_file():
                continue
            problem = "" if file_digest(location) == named.sha256 else "has changed since this was saved"
        except (InputError, OSError, ValueError) as error:
            problem = f"cannot be used: {error}"
        if not problem:
            return MotionFile(named, location)
        changed = changed or MotionFile(named, location, problem)
    missing = f"is missing: expected it as {named.path} or beside this file"
    return changed or MotionFile(named, None, missing)


def _candidates(named: ClipsOfFile | SkinOfFile, folder: Path) -> list[Path]:
    absolute = Path(named.path)
    paths = ([] if named.relative is None else [folder / named.relative]) + [absolute, folder / absolute.name]
    return [*dict.fromkeys(Path(os.path.normpath(path)) for path in paths)]


def clips_of(named: ClipsOfFile, folder: Path, path: str) -> Mapping[str, Clip]:
    """The clips of a motion file.

    Raises:
        MotionError: the file is missing or has changed.
        FormatError: it cannot be read.
    """
    found = find(named, folder)
    if found.location is None or found.problem:
        raise MotionError(found, path)
    try:
        return character_in(found.location, named).clips
    except ViewerError as error:
        raise FormatError(f"the motion file cannot be used: {error}", path=path) from error


def character_in(location: Path, named: ClipsOfFile) -> Character:
    """Read a file in the units and axes of the session.

    The same file gets the session's frame time; a changed one keeps its own.
    """
    same = file_digest(location) == named.sha256
    found = load(location, units=named.units, up=check_up(named.up))
    return replace(found, clips=_timed(found.clips, named.frame_time if same else None))


def file_digest(location: Path) -> str:
    """SHA-256 of a file's bytes."""
    digest, size = hashlib.sha256(), 0
    with opened(location, str(location), LARGEST_FILE) as file:
        while block := file.read(1 << 20):
            digest.update(block)
            size += len(block)
            if size > LARGEST_FILE:  # some files, such as in /proc, do not state their size
                raise InputError(f"{location}: expected at most {LARGEST_FILE:,} bytes")
    return digest.hexdigest()


def relative_path(location: Path, folder: Path) -> str | None:
    """Relative path from a folder to a file, with slashes; None if there is none, as between Windows drives."""
    try:
        return Path(os.path.relpath(location, os.path.realpath(folder))).as_posix()
    except ValueError:
        return None


def _looked_up(character: Character, location: Path) -> ClipsOfFile | None:
    source = character.source
    units = source.units if source.units == "raw" else source.metres_per_unit
    times = {clip.frame_time for clip in character.clips.values()}
    corrected = times.pop() if len(times) == 1 else None
    try:
        named = ClipsOfFile(str(location), file_digest(location), units, source.up, corrected)
        found = character_in(location, named)
    except ViewerError:
        return None
    return named if same(character.clips, found.clips) else None


def _timed(clips: Mapping[str, Clip], frame_time: float | None) -> Mapping[str, Clip]:
    if frame_time is None:
        return clips
    return {name: replace(clip, frame_time=frame_time) for name, clip in clips.items()}


class SkinOfFile(msgspec.Struct):
    """Reference to a file with a skin. ``relative`` is the path from the session file's folder, with slashes."""

    path: str
    relative: str | None = None


def skin_reference(character: Character, folder: Path | None) -> SkinOfFile | None:
    """Reference to the file of a character's skin; None without a skin. ``folder`` as of `reference`."""
    path = character.source.path
    if character.skin is None or path is None:
        return None
    location = Path(os.path.realpath(path))
    return SkinOfFile(str(location), None if folder is None else relative_path(location, folder))


def skin_of(named: SkinOfFile, folder: Path, names: tuple[str, ...]) -> tuple[Skin | None, tuple[str, ...]]:
    """The skin of a session's figure.

    The file has to have joints of these names. Without a skin there is a line that says why.
    """
    problem = "is missing"
    for location in _candidates(named, folder):
        try:
            if location.suffix.casefold() not in _SUFFIXES or not location.is_file():
                continue
            found = load(location)
        except (ViewerError, OSError, ValueError) as error:
            problem = f"cannot be used: {error}"
            continue
        if found.skin is not None and found.skeleton.names == names:
            return found.skin, ()
        problem = "has other joints" if found.skin is not None else "has no skin"
    return None, (f"the skin is not shown: its file {quote(Path(named.path).name)} {problem}",)


_CAPSULES = Serialiser({}, {}, {})


def _bodies_of(data: list[Any], path: str) -> Bodies:
    capsules = tuple(_CAPSULES.read(Capsule, one, f"{path}[{index}]") for index, one in enumerate(data))
    with at_path(path):
        return Bodies(capsules)


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
        wanted = kind.axes or 3
        if len(limits.lower) != wanted or len(limits.upper) != wanted:
            raise FormatError(f"expected {wanted} lower and upper bounds", path=where)
        if (limits.form == LimitForm.COORDINATES) != bool(kind.axes):
            raise FormatError(f"expected limits of a {kind} joint, found {limits.form}", path=f"{where}.form")
    for index, effector in enumerate(data.effectors):
        if not 0 <= effector.joint < count:
            found = f"expected a joint from 0 to {count - 1}, found {effector.joint}"
            raise FormatError(found, path=f"{path}.effectors[{index}].joint")


FORMS = {
    JointLimits: Form(LimitsData, _limits_data, _limits_of),
    # Pairs and clearances follow from the capsules.
    Bodies: Form(
        list[_CAPSULES.struct(Capsule)],  # type: ignore[misc]  # made from the fields
        lambda bodies: list(map(_CAPSULES.data, bodies.capsules)),
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
    """Make a skeleton."""
    made: Skeleton = VALUES.read(Skeleton, data, path, {"J": len(data.names)})
    check_counts(len(made), tips=len(made.tip_parents))
    return made


def pose_of(data: Any, joints: int, path: str) -> Pose:  # noqa: ANN401 - the data of a pose
    """Make a pose of ``joints`` joints."""
    made: Pose = VALUES.read(Pose, data, path, {"J": joints})
    return made


def character_data(character: Character, folder: Path | None = None) -> Any:  # noqa: ANN401 - CharacterData
    """The data of a character, for `character_of`.

    Clips are in the data unless they are very large and a file has the same; with the ``folder`` of the session file,
    the data also name the file that they came from.
    """
    clips = _carried(character)
    large = reference(character, folder) if clips is None else None
    return VALUES.data(
        character,
        clips=clips or large or [VALUES.data(clip) for clip in character.clips.values()],
        file=reference(character, folder) if clips and folder is not None else None,
        skin=skin_reference(character, folder),
    )


def character_of(data: Any, folder: Path, path: str, clips: Mapping[str, Clip] | None = None) -> Character:  # noqa: ANN401
    """Make a character.

    A motion file that was moved along with the session is found in its ``folder``; ``clips`` are used instead of those
    of the data.

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
