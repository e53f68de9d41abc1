"""Saving: Character -> a file, the writer chosen by the file's suffix."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

import numpy as np

from viewer.errors import InputError, missing_library, quote
from viewer.formats.files import check_file
from viewer.formats.loss_report import left_out, nodes_only, not_read
from viewer.formats.units import check_units, check_up, metres_per_unit
from viewer.skeleton.arguments import check_character, check_pose
from viewer.skeleton.character import Character
from viewer.skeleton.clip import Clip
from viewer.skeleton.limits import JointKind
from viewer.skeleton.pose import Pose

Writer: TypeAlias = Callable[["Character", Path, "Options"], list[str]]


@dataclass(frozen=True, slots=True)
class Options:
    """How to write.

    Attributes:
        precision: decimals of numbers in text formats, or None for the format's own.
        pose: a pose is what was asked for: that the rest of the character is left out is no loss.
        as_read: units and axes are those of the BVH file that it was read from: its reader knows them.
    """

    precision: int | None = None
    pose: bool = False
    as_read: bool = False


def _bvh(character: Character, path: Path, options: Options) -> list[str]:
    from viewer.formats.bvh.writer import misread, own_kinds, write_bvh

    lost = write_bvh(character, path, precision=options.precision)
    lost += [] if options.as_read else misread(character)
    return lost + _left_out(character, options, "BVH", own_kinds(character.skeleton, character.source.layout))


def _json(character: Character, path: Path, options: Options) -> list[str]:
    from viewer.formats.files import write_whole
    from viewer.formats.skeleton_json import skeleton_to_json

    write_whole(path, skeleton_to_json(character, precision=options.precision))
    return []


def _npz(character: Character, path: Path, options: Options) -> list[str]:  # noqa: ARG001 - arrays are written whole
    from viewer.formats.npz import write_npz

    write_npz(character, path)
    return []


def _csv(character: Character, path: Path, options: Options) -> list[str]:
    from viewer.formats.csv_table import write_csv

    write_csv(character, path, options.precision)
    return ["CSV holds positions and angles only: no skeleton, limits or effectors"]


def _gltf(character: Character, path: Path, options: Options) -> list[str]:
    from viewer.formats.gltf.write import write_gltf

    try:
        write_gltf(character, path)
    except ValueError as error:  # of JSON, which has no infinite numbers
        raise InputError("cannot be written as glTF: expected numbers within single precision") from error
    return _left_out(character, options, "glTF", nodes_only(character.skeleton))


def _usd(character: Character, path: Path, options: Options) -> list[str]:
    try:
        from viewer.formats.usd import write_usd
    except ImportError as error:
        raise missing_library("writing USD", error) from error
    write_usd(character, path)
    return _left_out(character, options, "USD", nodes_only(character.skeleton))


def _left_out(character: Character, options: Options, form: str, kinds: Sequence[JointKind]) -> list[str]:
    return [] if options.pose else left_out(character, form, kinds)


def _mesh(character: Character, path: Path, options: Options) -> list[str]:  # noqa: ARG001 - trimesh's own form
    try:
        from viewer.formats.mesh import write_mesh
    except ImportError as error:
        raise missing_library(f"writing {path.suffix.casefold()}", error) from error
    return write_mesh(character, path)


WRITERS: dict[str, Writer] = {
    ".bvh": _bvh,
    ".json": _json,
    ".npz": _npz,
    ".csv": _csv,
    ".glb": _gltf,
    ".gltf": _gltf,
    ".usda": _usd,
    ".usdc": _usd,
    ".obj": _mesh,
    ".stl": _mesh,
    ".ply": _mesh,
}
"""Writers by suffix; each gives warnings: what the format could not hold. A new format is a line here."""
SESSION = ".ikv.json"
"""How the names of session files end."""
SHAPES = (".obj", ".stl", ".ply")
"""Formats that hold the shape of one pose."""
IN_METRES = (".npz", ".csv", ".glb", ".gltf", ".usda", ".usdc", *SHAPES)
"""Formats that are in metres, Y up, always."""
WITH_DECIMALS = (".bvh", ".json", ".csv")
"""Formats whose numbers can be written with fewer decimals."""
SEVERAL_CLIPS = (".glb", ".gltf")
"""Formats that hold all clips of a character; of motion the others hold the first."""
MOST_DECIMALS = 17
"""Decimals that a double can have anything to say in."""
PICTURES = (".png", ".gif", ".mp4")
"""What is drawn, not saved."""


def save(
    character: Character,
    file: str | os.PathLike[str],
    *,
    pose: Pose | None = None,
    units: str | float | None = None,
    up: str | None = None,
    precision: int | None = None,
) -> list[str]:
    """Write a character; the file is written completely or not at all.

    Args:
        character: skeleton and motion.
        file: by suffix: .bvh, .json, .npz, .csv, .glb, .gltf, .usda or .usdc (these two by the extra `usd`), and for
            the shape of one pose .obj, .stl or .ply.
        pose: write this pose as the only frame, instead of the motion.
        units: of the file: "m", "cm", "mm", "inch" or metres per unit; those it was read in unless given.
        up: "y" or "z"; the axes it was read in unless given. All but BVH and JSON are metres, Y up, always.
        precision: decimals of numbers in text formats.

    Returns:
        Warnings: what the format could not hold.

    Raises:
        OutputError: the file cannot be written; whatever stood there before still does.
        InputError: an unknown suffix, unit or axis; arguments of other kinds, a pose of another skeleton.
        MachineError: a library that the format needs is not installed.
    """
    check_character(character)
    check_file(file)
    path = Path(file)
    writer = check_suffix(path)
    _check_precision(precision)
    if pose is not None:
        check_pose(pose)
        character = with_pose(character, pose)
    own, character = character.source, _in_frame(_on_its_bones(character), units, up)
    as_read = own.format == "bvh" and own == character.source
    try:
        # Numbers near the end of float range overflow on their way: writers look for what is not finite then.
        with np.errstate(over="ignore", invalid="ignore"):
            lost = writer(character, path, Options(precision, pose is not None, as_read))
    except InputError as error:  # of numbers that the format cannot hold
        raise InputError(f"{path}: {error}") from error
    return lost + not_read(character)


def retimed(
    clip: Clip, frames: range | None = None, *, frame_time: float | None = None, fps: float | None = None
) -> Clip:
    """Frames of a clip, then another frame time for them, then another rate for as long a motion.

    Args:
        clip: the motion.
        frames: those to keep; None: all.
        frame_time: seconds between frames: corrects a wrong one.
        fps: frames a second to sample it anew at.

    Raises:
        InputError: there are no such frames; numbers that cannot be used.
    """
    if frames is not None:
        clip = clip.frames(frames.start, frames.stop - 1, frames.step)
    if frame_time is not None:
        clip = replace(clip, frame_time=frame_time)
    return clip if fps is None else clip.resampled(fps)


def check_suffix(path: Path) -> Writer:
    """The writer of a file of that name.

    Raises:
        InputError: none writes such a file.
    """
    check_no_session(path)
    writer = WRITERS.get(path.suffix.casefold())
    if path.suffix.casefold() in PICTURES:
        raise InputError(f"{path}: pictures and films are drawn, by ikviewer render FILE -o {path}")
    if writer is None:
        found = quote(path.suffix) if path.suffix else "no suffix"
        raise InputError(f"{path}: expected a name that ends in {', '.join(WRITERS)}, found {found}")
    return writer


def _check_precision(found: object) -> None:
    whole = -1 if isinstance(found, bool) or not isinstance(found, Integral) else int(found)
    if found is not None and not 0 <= whole <= MOST_DECIMALS:
        raise InputError(f"precision: expected a whole number from 0 to {MOST_DECIMALS} or None, found {quote(found)}")


def check_no_session(path: Path) -> None:
    """Raise InputError if the name is that of a session file: what else it holds could not be opened by that name."""
    if path.name.casefold().endswith(SESSION):
        raise InputError(f"{path}: a session holds what was done in the window: save it there, by Ctrl+S")


def with_pose(character: Character, pose: Pose) -> Character:
    """The character with one frame, that pose, as its only motion."""
    frame_time = character.clip.frame_time if character.clip else 1.0 / 30.0
    clip = clip_of_pose(character, pose, frame_time)
    return replace(character, clips=MappingProxyType({clip.name: clip}))


def clip_of_pose(character: Character, pose: Pose, frame_time: float) -> Clip:
    """One frame; only joints away from their offset are stored as translated."""
    skeleton = character.skeleton
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints as the skeleton has, found {len(pose.rotations)}")
    moved = (pose.translations != skeleton.offsets).any(axis=-1).nonzero()[0]
    return Clip("pose", frame_time, pose.rotations[None], moved, pose.translations[None, moved], skeleton.offsets)


def _on_its_bones(character: Character) -> Character:
    """The character with clips that translate what their own offsets place elsewhere than the skeleton's do."""
    clips = {name: clip.on(character.skeleton.offsets) for name, clip in character.clips.items()}
    same = all(clip is character.clips[name] for name, clip in clips.items())
    return character if same else replace(character, clips=MappingProxyType(clips))


def _in_frame(character: Character, units: str | float | None, up: str | None) -> Character:
    source = character.source
    if units is not None and check_units(units) != "auto":
        name = check_units(units)
        source = replace(source, units=name, metres_per_unit=metres_per_unit(name))
    if up is not None and check_up(up) != "auto":
        source = replace(source, up=check_up(up))
    return replace(character, source=source)
