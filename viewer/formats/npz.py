"""NPZ files, for notebooks and numerical programs: metres, Y up, seconds, quaternions (x, y, z, w).

=================  ==========  ============================================================================
array              shape       holds
=================  ==========  ============================================================================
names              (J,) texts  joint names, parents first
parents            (J,)        index of each joint's parent, -1 for roots
offsets            (J, 3)      rest translation in the parent's frame
rest_rotations     (J, 4)      rest rotation, parent_from_joint
tip_parents        (E,)        the joint that each end site hangs on
tip_offsets        (E, 3)      in that joint's frame
frame_time         ()          seconds between frames
rotations          (F, J, 4)   local rotations, the rest rotation included
translated         (T,)        the joints whose local translation the motion gives
translations       (F, T, 3)   those; all other joints keep their offset
positions          (F, J, 3)   world positions
world_rotations    (F, J, 4)   world rotations, world_from_joint
keys               (K,)        frames that were keyed by hand
clip_name          () text     name of the motion
skeleton_json      () text     the skeleton as a skeleton file: kinds, limits, effectors, poses
=================  ==========  ============================================================================

Without motion the rows from frame_time to clip_name are absent. Reading takes the skeleton from skeleton_json
(from names, parents, offsets and what follows if that is absent) and the motion from rotations and translations.
"""

from __future__ import annotations

import json
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from viewer.errors import FormatError
from viewer.formats.bounds import check_counts
from viewer.formats.motion_json import unit_rotations
from viewer.formats.npz_arrays import read_arrays, take, take_texts, write_arrays
from viewer.formats.skeleton_json import skeleton_from_text
from viewer.formats.skeleton_json_write import skeleton_to_json
from viewer.skeleton.clip import Clip
from viewer.skeleton.kinematics import fk_clip
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from viewer.skeleton.character import Character
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats, Ints

    Arrays: TypeAlias = Mapping[str, NDArray[Any]]

_READ = (
    "skeleton_json", "names", "parents", "offsets", "rest_rotations", "tip_parents", "tip_offsets", "frame_time",
    "rotations", "translated", "translations", "keys", "clip_name",
)  # fmt: skip
_BLOCK = 1 << 16
"""Joint-frames put in another order together."""


def read_npz(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read an .npz file that has a skeleton and perhaps motion.

    Args:
        path: the file.
        name: what the user called it, for messages.
        units: what the user says of the file's units; these files are in metres, so other ones draw a warning.
        up: what the user says of its axes, likewise.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    arrays = read_arrays(path, name, _READ)
    try:
        character = _character(arrays, name)
    except FormatError as error:
        error.file = name
        raise
    if units in ("auto", "m", "raw") and up in ("auto", "y"):
        return character
    return replace(character, warnings=(*character.warnings, "NPZ files are in metres, Y up: nothing was converted"))


def write_npz(character: Character, path: Path) -> None:
    """Write the skeleton and the first clip as an .npz file.

    Raises:
        OutputError: it cannot be written.
        InputError: NaN or infinite numbers in the skeleton.
    """
    skeleton = character.skeleton
    bare = replace(character, clips=MappingProxyType({}), source=replace(character.source, joint_order=()))
    arrays = {
        "names": np.array(skeleton.names, dtype=np.str_),
        "parents": skeleton.parents.astype(np.int64),
        "offsets": skeleton.offsets,
        "rest_rotations": skeleton.rest_rotations,
        "tip_parents": skeleton.tip_parents.astype(np.int64),
        "tip_offsets": skeleton.tip_offsets,
    }
    if character.clip is not None:
        arrays |= _motion(character, character.clip)
    arrays["skeleton_json"] = np.array(skeleton_to_json(bare, units="m", up="y"))
    write_arrays(path, arrays)


def write_fk_npz(path: Path, names: Sequence[str], positions: Floats, rotations: Floats) -> None:
    """Write world motion: ``names`` (J,), ``positions`` (F, J, 3) metres, ``rotations`` (F, J, 4).

    Raises:
        OutputError: it cannot be written.
    """
    texts = np.array(names, dtype=np.str_)
    write_arrays(path, {"names": texts, "positions": positions, "rotations": rotations})


def _character(arrays: Arrays, name: str) -> Character:
    names = take_texts(arrays, "names", (-1,))
    check_counts(len(names))
    text = take_texts(arrays, "skeleton_json", ())[0] if "skeleton_json" in arrays else _document(arrays, names)
    character = skeleton_from_text(text, name)
    order = np.array(character.source.joint_order, dtype=np.intp)
    # numpy's texts end before their first trailing NUL.
    if [character.skeleton.names[joint].rstrip("\0") for joint in order] != names:
        raise FormatError("expected the joints of skeleton_json, in its order", path="names")
    clips = {}
    if "rotations" in arrays and not arrays["rotations"].size:
        character = replace(character, warnings=(*character.warnings, "rotations: no frames, ignored"))
    elif "rotations" in arrays:
        clip = _clip(arrays, character.skeleton, order)
        clips[clip.name] = clip
    return replace(character, clips=MappingProxyType(clips), source=replace(character.source, format="npz"))


def _motion(character: Character, clip: Clip) -> dict[str, NDArray[Any]]:
    # Numbers near the end of float range may overflow on their way to the world: they are infinite there, too.
    with np.errstate(over="ignore", invalid="ignore"):
        world = fk_clip(character.skeleton, clip)
    return {
        "frame_time": np.array(clip.frame_time),
        "rotations": clip.rotations,
        "translated": clip.translated.astype(np.int64),
        "translations": clip.translations,
        "positions": world.positions,
        "world_rotations": world.rotations,
        "keys": np.array(clip.keys, dtype=np.int64),
        "clip_name": np.array(clip.name),
    }


def _document(arrays: Arrays, names: list[str]) -> str:
    """A skeleton file of the arrays alone."""
    count = len(names)
    parents = take(arrays, "parents", (count,), whole=True)
    _check_indices(parents, -1, count, "parents")
    columns = {"offset": take(arrays, "offsets", (count, 3))}
    if "rest_rotations" in arrays:
        columns["rotation"] = take(arrays, "rest_rotations", (count, 4))
    joints: list[dict[str, object]] = [
        {"name": name, "parent": names[parent] if parent >= 0 else None}
        for name, parent in zip(names, parents.tolist(), strict=True)
    ]
    for key, values in columns.items():
        for joint, value in zip(joints, values.tolist(), strict=True):
            joint[key] = value
    if "tip_parents" in arrays:
        tip_parents = take(arrays, "tip_parents", (-1,), whole=True)
        _check_indices(tip_parents, 0, count, "tip_parents")
        tips = take(arrays, "tip_offsets", (len(tip_parents), 3)).tolist()
        tips_of: list[list[object]] = [[] for _ in names]
        for parent, tip in zip(tip_parents.tolist(), tips, strict=True):
            tips_of[parent].append(tip)
        joints = [{**joint, "tips": own} for joint, own in zip(joints, tips_of, strict=True)]
    return json.dumps({"joints": joints})


def _clip(arrays: Arrays, skeleton: Skeleton, order: Ints) -> Clip:
    """The motion; ``order`` (J,) has per joint of the file its index in the skeleton."""
    joints = len(skeleton)
    rotations = take(arrays, "rotations", (-1, joints, 4))
    count = len(rotations)
    rotations = unit_rotations(rotations.reshape(-1, 4), lambda i: f"rotations[{i // joints}, {i % joints}]").reshape(
        rotations.shape
    )
    translated = take(arrays, "translated", (-1,), whole=True) if "translated" in arrays else np.zeros(0, np.intp)
    _check_indices(translated, 0, joints, "translated")
    moved = order[translated]
    if len(set(moved.tolist())) != len(moved):
        raise FormatError("expected each joint once", path="translated")
    translations = take(arrays, "translations", (count, len(moved), 3)) if len(moved) else np.zeros((count, 0, 3))
    frame_time = float(take(arrays, "frame_time", ()))
    if not frame_time > 0:
        raise FormatError(f"expected more than 0 seconds, found {frame_time:g}", path="frame_time")
    keys = take(arrays, "keys", (-1,), whole=True) if "keys" in arrays else np.zeros(0, np.intp)
    _check_indices(keys, 0, count, "keys")
    if not np.array_equal(order, np.arange(joints)):
        for start in range(0, count, step := max(1, _BLOCK // joints)):  # in place: there may be no room for both
            block = rotations[start : start + step]
            block[:, order] = block.copy()
    ascending = np.argsort(moved)
    return Clip(
        name=take_texts(arrays, "clip_name", ())[0] if "clip_name" in arrays else skeleton.name,
        frame_time=frame_time,
        rotations=handed_over(rotations),
        translated=moved[ascending],
        translations=handed_over(translations[:, ascending]),
        offsets=skeleton.offsets,
        keys=tuple(sorted(set(keys.tolist()))),
    )


def _check_indices(indices: NDArray[Any], first: int, end: int, path: str) -> None:
    wrong = indices[(indices < first) | (indices >= end)]
    if wrong.size:
        raise FormatError(f"expected numbers from {first} to {end - 1}, found {wrong[0]}", path=path)
