"""Saving: Character -> a file, the writer chosen by the file's suffix; and warnings about what a format cannot hold.

Files of the shape of a pose (OBJ, STL, PLY) are written here: bones as closed octahedra, in the first frame of the
motion, or the rest pose without motion.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from viewer.errors import InputError, listed, prefixed, quote
from viewer.formats.file_formats import (
    MOST_DECIMALS,
    PICTURES,
    WRITTEN,
    FileFormat,
    UpWord,
    WriteOptions,
    format_of,
    is_session,
    wrong_suffix,
)
from viewer.formats.files import check_file, write_whole
from viewer.formats.units import target_source
from viewer.ik.contact import Box, Mesh, Object, Sphere
from viewer.skeleton import Character, Clip, JointKind, Pose, Skeleton, fk
from viewer.skeleton.bodies import bone_mesh
from viewer.skeleton.character import check_character, check_pose
from viewer.skeleton.names import find_effectors
from viewer.spatial.checks import Floats

ROTATING = {JointKind.BALL, JointKind.FREE, JointKind.FIXED}
"""Kinds of joints that formats of nodes and motion can express."""


def save(
    character: Character,
    file: str | os.PathLike[str],
    *,
    pose: Pose | None = None,
    units: str | float | None = None,
    up: UpWord | None = None,
    precision: int | None = None,
    joints: bool = False,
    objects: Callable[[int], Sequence[Object]] | None = None,
    figures: Sequence[Character] = (),
) -> list[str]:
    """Write a character; the file is written completely or not at all.

    Args:
        character: skeleton and motion.
        file: its suffix says the format, as docs/files.md lists them. USD needs the extra `usd`; meshes hold the shape
            of one pose.
        pose: write this pose as the only frame, instead of the motion.
        units: of the file: "m", "cm", "mm", "inch" or metres per unit; those that it was read in unless given.
        up: "y" or "z"; the axes it was read in unless given. All but BVH and JSON are metres, Y up, always.
        precision: decimals of numbers in text formats.
        joints: of .csv: joint values, a column per degree of freedom by its name, radians and metres.
        objects: gives the objects beside the character at a frame of its first clip, such as
            `viewer.Physics.objects_at`: in glTF each becomes a mesh that moves beside the figure; a pose is written
            with those of frame 0.
        figures: other characters in the same scene, placed by their own first clips: in glTF they are further figures
            in the same animation; a pose is written with their first frames.

    Returns:
        Warnings: what the format could not hold.

    Raises:
        OutputError: the file cannot be written; an existing file is then unchanged.
        InputError: an unknown suffix, unit or axis; arguments of other kinds, a pose of another skeleton.
        MachineError: a library that the format needs is not installed.
    """
    check_character(character)
    around = None if objects is None else _checked_objects(objects)
    others = _checked_figures(figures)
    check_file(file)
    path = Path(file)
    form = check_suffix(path)
    _check_precision(precision)
    if pose is not None:
        check_pose(pose)
        character = with_pose(character, pose)
    own, character = character.source, _on_its_bones(character)
    character = replace(character, source=target_source(own, units, up))
    as_read = own.format == "bvh" and own == character.source
    missing = list[str]()
    with prefixed(path):
        skeleton = character.skeleton
        form.check_names([skeleton.name, *skeleton.names, *(effector.name for effector in skeleton.effectors)])
        if around is not None and not form.has_meshes:
            missing = _missing_objects(around, form.name, 1 if character.clip is None else len(character.clip))
        if form.is_still and character.clips:
            missing.append(f"{form.name} has no motion: it is left out")
        if others and not form.has_meshes:
            many = f"{len(others)} other figures are" if len(others) > 1 else "1 other figure is"
            missing.append(f"{form.name} has one figure: {many} left out")
        # Numbers near the end of float range may overflow here; writers check that what they write is finite.
        with np.errstate(over="ignore", invalid="ignore"):
            options = WriteOptions(precision, pose is not None, as_read, joints, around, others)
            lost = form.write(character, path, options)
    lost += missing
    skin, unread = character.skin, character.source.unread
    if unread:
        lost.append(f"left out, as only joints and motion are read: {', '.join(unread)}")
    keeps = form.has_meshes and skin is not None and (skin.parts is not None or skin.follows_joints)
    if skin is not None and not keeps:
        lost.append(f"{form.name} has no place for the skin: {', '.join(skin.contents)} left out")
    return lost


def _checked_objects(objects: Callable[[int], Sequence[Object]]) -> Callable[[int], Sequence[Object]]:
    """The same function, which raises InputError where it gives anything but objects."""
    given: object = objects
    if not callable(given):
        raise InputError(f"objects: expected a function of the frame, found {quote(given)}")

    def there(frame: int) -> Sequence[Object]:
        found: object = objects(frame)
        if not (isinstance(found, Sequence) and all(isinstance(one, Sphere | Box | Mesh) for one in found)):
            raise InputError(f"objects: expected Spheres, Boxes and Meshes at frame {frame}, found {quote(found)}")
        return found

    return there


def _checked_figures(figures: Sequence[Character]) -> tuple[Character, ...]:
    given: object = figures
    if not (isinstance(given, Sequence) and all(isinstance(one, Character) for one in given)):
        raise InputError(f"figures: expected Characters, found {quote(given)}")
    for one in given:
        check_character(one)
    return tuple(_on_its_bones(one) for one in given)


def _missing_objects(objects: Callable[[int], Sequence[Object]], form: str, frames: int) -> list[str]:
    """A warning about the objects of some frames; none if there are none."""
    names = list(dict.fromkeys(one.name for frame in range(frames) for one in objects(frame)))
    return [f"{form} has no place for objects: {listed(names, 3)} left out"] if names else []


def retimed(clip: Clip, frames: range | None, *, frame_time: float | None = None, fps: float | None) -> Clip:
    """A clip cut to some frames, then with its frame time corrected, then resampled.

    ``frame_time`` are the right seconds between frames, which stay as they are; ``fps`` keeps the duration.
    """
    if frames is not None:
        clip = clip.frames(frames.start, frames.stop - 1, frames.step)
    if frame_time is not None:
        clip = replace(clip, frame_time=frame_time)
    return clip if fps is None else clip.resampled(fps)


def check_suffix(path: Path) -> FileFormat:
    """The format of a file to write by its name; one that ends in no format's suffix is refused."""
    check_no_session(path)
    if path.suffix.casefold() in PICTURES:
        raise InputError(f"{path}: pictures and films are drawn, by ikviewer render FILE -o {path}")
    if path.suffix.casefold() not in WRITTEN:
        raise wrong_suffix(path, WRITTEN)
    return format_of(path)


def _check_precision(found: object) -> None:
    whole = -1 if isinstance(found, bool) or not isinstance(found, Integral) else int(found)
    if found is not None and not 0 <= whole <= MOST_DECIMALS:
        raise InputError(f"precision: expected a whole number from 0 to {MOST_DECIMALS} or None, found {quote(found)}")


def check_no_session(path: Path) -> None:
    """Raise InputError for the name of a session file, which only the window writes."""
    if is_session(path):
        raise InputError(f"{path}: a session holds what was done in the window: save it there, by Ctrl+S")


def with_pose(character: Character, pose: Pose) -> Character:
    """The character with a clip of one frame, that pose, as its only motion."""
    frame_time = character.clip.frame_time if character.clip else 1.0 / 30.0
    clip = clip_of_pose(character, pose, frame_time)
    return replace(character, clips=MappingProxyType({clip.name: clip}))


def clip_of_pose(character: Character, pose: Pose, frame_time: float) -> Clip:
    """A clip of one frame; it translates only the joints that the pose moves off their offset."""
    skeleton = character.skeleton
    if len(pose.rotations) != len(skeleton):
        raise InputError(f"pose: expected {len(skeleton)} joints as the skeleton has, found {len(pose.rotations)}")
    moved = (pose.translations != skeleton.offsets).any(axis=-1).nonzero()[0]
    return Clip("pose", frame_time, pose.rotations[None], moved, pose.translations[None, moved], skeleton.offsets)


def _on_its_bones(character: Character) -> Character:
    """The character with its clips on the skeleton's offsets: joints whose offsets differ are translated instead."""
    clips = {name: clip.on(character.skeleton.offsets) for name, clip in character.clips.items()}
    same = all(clip is character.clips[name] for name, clip in clips.items())
    return character if same else replace(character, clips=MappingProxyType(clips))


def nodes_only(skeleton: Skeleton) -> list[JointKind]:
    """The joints' kinds after writing and reading a format that has only nodes and motion."""
    return [kind if kind in ROTATING else JointKind.BALL for kind in skeleton.kinds]


def left_out(character: Character, form: str, kinds: Sequence[JointKind]) -> list[str]:
    """A warning, if the format loses something that a reader does not derive again.

    Readers derive limits from the motion and find effectors by the joints' names; ``kinds`` (J,) are what they find.
    """
    skeleton = character.skeleton
    lost = {
        "joint limits": not character.limits_derived and any(limits is not None for limits in skeleton.limits),
        "joint kinds": list(skeleton.kinds) != list(kinds),
        "joints that follow others": bool(skeleton.mimics),
        "loops": bool(skeleton.loops),
        "stiffness": bool(skeleton.stiffness.any()),
        "spreads": bool(skeleton.states_mobility.any()),
        "effectors": _effectors_are_stated(skeleton),
        "named poses": bool(skeleton.poses),
        "bodies": skeleton.bodies is not None,
        "masses": bool(skeleton.inertias),
        "motors": bool(skeleton.motors),
    }
    words = [word for word, gone in lost.items() if gone]
    return [f"{form} has no place for {', '.join(words)}: left out"] if words else []


def _effectors_are_stated(skeleton: Skeleton) -> bool:
    """Whether the effectors differ from those found by the joints' names."""
    found = find_effectors(skeleton.names, skeleton.parents, skeleton.tip_parents, skeleton.tip_offsets)
    mine, theirs = ({(e.name, e.joint, e.goal) for e in effectors} for effectors in (skeleton.effectors, found))
    return mine != theirs


def check_range(form: str, *arrays: Floats) -> None:
    """Raise InputError unless all numbers fit into 32-bit floats."""
    largest = np.finfo(np.float32).max
    if not all(bool((np.abs(array) <= largest).all()) for array in arrays):
        raise InputError(f"cannot be written as {form}: expected finite numbers within the range of 32-bit floats")


# --- the shape of a pose


def write_mesh(character: Character, path: Path, _: WriteOptions) -> list[str]:
    """Write a .obj, .stl or .ply file: metres, Y up, 32-bit floats."""
    mesh = figure_mesh(character)
    kind = path.suffix.casefold()[1:]
    content = mesh.export(file_type=kind)
    assert isinstance(content, (bytes, str))  # only scenes have several files
    write_whole(path, content)
    clip = character.clip
    lost = "the other frames and the joints" if clip is not None and len(clip) > 1 else "the joints"
    return [f"{kind.upper()} holds the shape of one pose: {lost} are left out"]


def figure_mesh(character: Character) -> Any:  # noqa: ANN401 - of trimesh, which is loaded on demand
    """The bones as triangles, each octahedron closed and facing outwards, in world metres."""
    from trimesh import Trimesh  # noqa: PLC0415 - only writing meshes needs it

    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    corners = bone_mesh(skeleton, fk(skeleton, pose)).corners
    check_range("a mesh", corners)
    mesh = Trimesh(vertices=corners, faces=np.arange(len(corners)).reshape(-1, 3), process=False)
    mesh.merge_vertices()
    return mesh
