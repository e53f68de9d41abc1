"""Reading glTF 2.0: the joints of a skin, or what is animated, as a skeleton with clips."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import FormatError
from viewer.formats.gltf.accessors import Accessors
from viewer.formats.gltf.baking import Baked, bake
from viewer.formats.gltf.carriers import carried, count_carriers, without_carriers
from viewer.formats.gltf.container import open_gltf
from viewer.formats.gltf.nodes import find_tree
from viewer.formats.gltf.timing import frame_grid
from viewer.formats.gltf.tracks import local_motion, tracks_of
from viewer.skeleton.character import Character, Source
from viewer.skeleton.clip import Clip
from viewer.skeleton.clip_limits import limits_from_clip
from viewer.skeleton.find_effectors import find_effectors
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.names import unique_names
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import handed_over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from viewer.formats.gltf.nodes import Tree
    from viewer.formats.gltf.structs import File
    from viewer.formats.gltf.tracks import Track

_MOVED = 1e-9
"""Metres, as a part of the skeleton's size, that a translation differs by from rest to count as animated."""


def read_gltf(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a .gltf or .glb file.

    Args:
        path: the file.
        name: what the user called it, for messages.
        units: what the user says of the file's units; glTF is in metres, so other ones draw a warning.
        up: what the user says of its axes, likewise.

    Raises:
        ViewerError: the file cannot be read or is refused.
    """
    file, buffers = open_gltf(path, name)
    try:
        character = _character(file, Accessors(file, buffers), name)
    except FormatError as error:
        error.file = error.file or name
        raise
    if units in ("auto", "m", "raw") and up in ("auto", "y"):
        return character
    return _warned(character, "glTF files are in metres, Y up: nothing was converted")


def _character(file: File, accessors: Accessors, name: str) -> Character:
    tree = find_tree(file)
    animations = _animations(file, tree, accessors)
    carriers = count_carriers(tree, {track.joint for _, tracks in animations for track in tracks})
    joints = without_carriers(tree, carriers)
    names, warnings = unique_names([_name(file, node) for node in joints.nodes])
    rest, shears = bake(tree, local_motion(tree, [], np.zeros(1)))
    skeleton = _skeleton(joints, names, carried(rest, carriers), Path(name).stem)
    clips: dict[str, Clip] = {}
    for wanted, tracks in animations:
        called = _free_name(wanted, clips)
        times, frame_time, notes = frame_grid(tracks, called)
        baked, sheared = bake(tree, local_motion(tree, tracks, times))
        clips[called] = _clip(called, frame_time, skeleton, carried(baked, carriers))
        warnings += notes
        shears |= sheared
    if shears:
        listed = ", ".join(_name(file, tree.nodes[joint]) for joint in sorted(shears)[:3])
        warnings.append(
            f"scale that differs between axes shears what hangs on {listed}: places are right, shapes are not"
        )
    source = Source(path=name, format="gltf", joint_order=tuple(range(len(names))), unread=file.unread())
    limited = limits_from_clip(skeleton, _joined(clips.values())) if clips else skeleton
    return Character(limited, MappingProxyType(clips), source, tuple(warnings), limits_from="clip" if clips else None)


def _name(file: File, node: int) -> str:
    return file.nodes[node].name or f"node{node}"


def _animations(file: File, tree: Tree, accessors: Accessors) -> list[tuple[str, list[Track]]]:
    """Names and tracks of those that move the tree."""
    found = [
        (animation.name or f"animation{index}", tracks_of(animation, tree, accessors, f"animations[{index}]"))
        for index, animation in enumerate(file.animations)
    ]
    return [(name, tracks) for name, tracks in found if tracks]


def _skeleton(tree: Tree, names: tuple[str, ...], rest: Baked, name: str) -> Skeleton:
    count = len(names)
    tip_parents = np.array([joint for joint, _ in tree.tips], dtype=np.intp)
    order = np.argsort(tip_parents, kind="stable")
    tip_parents = tip_parents[order]
    places = np.array([place for _, place in tree.tips], dtype=np.float64).reshape(-1, 3)[order]
    tip_offsets = places * rest.scales[0][tip_parents]
    return Skeleton(
        name=name,
        names=names,
        parents=tree.parents,
        offsets=rest.translations[0],
        rest_rotations=rest.rotations[0],
        kinds=tuple(_kind(joint, parent) for joint, parent in zip(tree.joints, tree.parents.tolist(), strict=True)),
        axes=np.zeros((count, 2, 3)),
        limits=(None,) * count,
        stiffness=np.zeros(count),
        tip_parents=tip_parents,
        tip_offsets=tip_offsets,
        effectors=find_effectors(names, tree.parents, tip_parents, tip_offsets),
    )


def _kind(is_joint: bool, parent: int) -> JointKind:
    if parent < 0:
        # Also where it is no joint: the bodies of two skins under one node can be put elsewhere by that alone.
        return JointKind.FREE
    return JointKind.BALL if is_joint else JointKind.FIXED


def _clip(name: str, frame_time: float, skeleton: Skeleton, baked: Baked) -> Clip:
    size = max(float(np.abs(skeleton.offsets).max()), float(np.abs(baked.translations).max()), 1e-300)
    apart = np.abs(baked.translations - skeleton.offsets) > _MOVED * size
    moved = np.flatnonzero(apart.any(axis=(0, 2)))
    return Clip(
        name=name,
        frame_time=frame_time,
        rotations=handed_over(baked.rotations),
        translated=moved,
        translations=handed_over(baked.translations[:, moved]),
        offsets=skeleton.offsets,
    )


def _joined(clips: Iterable[Clip]) -> Clip:
    """All frames of all clips as one, for limits that none of them breaks."""
    every = list(clips)
    first = every[0]
    if len(every) == 1:
        return first
    rotations = np.concatenate([clip.rotations for clip in every])
    nothing = np.zeros((len(rotations), 0, 3))
    return Clip("all", first.frame_time, rotations, np.zeros(0, dtype=np.intp), nothing, first.offsets)


def _free_name(name: str, taken: dict[str, Clip]) -> str:
    number = 2
    free = name
    while free in taken:
        free, number = f"{name}_{number}", number + 1
    return free


def _warned(character: Character, line: str) -> Character:
    return replace(character, warnings=(*character.warnings, line))
