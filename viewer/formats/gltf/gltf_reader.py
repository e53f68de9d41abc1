"""Reading glTF 2.0: the joints of a skin, or what is animated, as a skeleton with clips."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.errors import FormatError, quote, shown
from viewer.formats.bounds import check_counts, room_for_frames
from viewer.formats.gltf.container import MARK, Accessors, CompressedError, File, counted, open_gltf
from viewer.formats.gltf.nodes import OBJECT, Baked, Tree, bake, carried, count_carriers, find_tree, without_carriers
from viewer.formats.gltf.skins import Rig, local_matrix, read_skin
from viewer.formats.gltf.tracks import Track, frame_grid, local_motion, sizes_of, times_of, tracks_of
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import unconverted
from viewer.skeleton import Character, Clip, FreeNames, JointKind, Skeleton, Skin, Source, fk
from viewer.skeleton.effectors import find_effectors
from viewer.skeleton.names import unique_names
from viewer.skeleton.skin import WORLD, Sizes
from viewer.spatial.checks import Floats, handed_over

_MOVED = 1e-9
"""A translation counts as animated if it differs from rest by more than this fraction of the skeleton's size."""
_BLOCK = 1 << 19
"""Nodes times frames that are computed together."""


class Motion(NamedTuple):
    """Local motion of the joints: (F, J, 3), (F, J, 4)."""

    translations: Floats
    rotations: Floats


def read_gltf(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a .gltf or .glb file."""
    file, buffers = open_gltf(path, name)
    size = path.stat().st_size + sum(len(data) for data in {id(data): data for data in buffers}.values())
    try:
        # An overflow is refused later, when the character is checked, with the name of its joint.
        with np.errstate(over="ignore", invalid="ignore"):
            character = _character(file, buffers, path, name, size)
    except FormatError as error:
        error.file = error.file or name
        raise
    return replace(character, warnings=(*character.warnings, *unconverted("glTF", units, up)))


def _character(file: File, buffers: list[bytes], path: Path, name: str, size: int) -> Character:
    tree, accessors = find_tree(file), Accessors(file, buffers)
    check_counts(len(tree.nodes), len(tree.tips))
    animations, compressed = _animations(file, tree, accessors)
    carriers = count_carriers(tree, {track.joint for _, tracks in animations for track in tracks})
    joints = without_carriers(tree, carriers)
    names, warnings = unique_names([_name(file, node) for node in joints.nodes])
    warnings += compressed
    rest, shears = bake(tree, local_motion(tree, [], np.zeros(1)))
    skeleton = _skeleton(joints, names, carried(rest, carriers), Path(name).stem)
    clips: dict[str, Clip] = {}
    sizes: dict[str, Sizes] = {}
    free, room = FreeNames(), room_for_frames(size)
    for wanted, tracks in animations:
        called = free.take(wanted)
        room = _taken(room, sum(map(len, times_of(tracks))), called)
        times, frame_time, notes = frame_grid(tracks, called)
        room = _taken(room, len(times) * len(tree.nodes), called)
        baked, sheared = _baked(tree, tracks, times, carriers)
        clips[called] = _clip(called, frame_time, skeleton, baked)
        changes = sizes_of(tree, tracks, times, carriers)
        if changes is not None:
            sizes[called] = changes
        warnings += notes
        shears |= sheared
    if shears:
        listed = ", ".join(shown(_name(file, tree.nodes[joint])) for joint in sorted(shears)[:3])
        warnings.append(
            f"scale that differs between axes shears what hangs on {listed}: places are right, shapes are not"
        )
    skin, notes = _skin(file, accessors, buffers, path, tree, carriers, skeleton)
    warnings += notes
    if skin is not None:
        skin = replace(skin, sizes=MappingProxyType(sizes))
        warnings += _not_followed(file, sizes, names)
    ours = file.asset.generator == MARK  # the only mesh of such a file may be that of the bones
    objects = sum(node.mark == OBJECT for node in file.nodes)
    unread = counted(({} if skin or ours else file.counts()) | {"camera": len(file.cameras), "object": objects})
    source = Source(path=name, format="gltf", joint_order=tuple(range(len(names))), unread=unread)
    limited, limits_from = derived_limits(skeleton, clips.values())
    return Character(limited, MappingProxyType(clips), source, tuple(warnings), limits_from, skin)


def _name(file: File, node: int) -> str:
    return file.nodes[node].name or f"node{node}"


def _animations(file: File, tree: Tree, accessors: Accessors) -> tuple[list[tuple[str, list[Track]]], list[str]]:
    """Name and tracks of each animation that moves the tree, and a warning if some cannot be read."""
    found: list[tuple[str, list[Track]]] = []
    lost: list[str] = []
    for index, animation in enumerate(file.animations):
        name = animation.name or f"animation{index}"
        try:
            tracks = tracks_of(animation, tree, accessors, f"animations[{index}]")
        except CompressedError as error:
            lost.append(f"clip {quote(name)} is not read: {error.problem}")
            continue
        if tracks:
            found.append((name, tracks))
    more = [f"{len(lost) - 1} more clips are not read"] if len(lost) > 1 else []
    return found, lost[:1] + more


def _skin(
    file: File,
    accessors: Accessors,
    buffers: list[bytes],
    path: Path,
    tree: Tree,
    carriers: int,
    skeleton: Skeleton,
) -> tuple[Skin | None, list[str]]:
    """The skin, and what of it cannot be shown."""
    worlds: list[Floats] = []
    for node, parent in zip(tree.nodes, tree.parents.tolist(), strict=True):
        own = local_matrix(file, node)
        worlds.append(own if parent < 0 else worlds[parent] @ own)
    rest = fk(skeleton, skeleton.rest_pose())
    rig = Rig(
        joints={node: max(index - carriers, WORLD) for index, node in enumerate(tree.nodes)},
        worlds=dict(zip(tree.nodes, worlds, strict=True)),
        positions=rest.positions,
        rotations=rest.rotations,
    )
    return read_skin(file, accessors, buffers, path, rig)


def _not_followed(file: File, sizes: Mapping[str, Sizes], names: tuple[str, ...]) -> list[str]:
    """What clips do to meshes that is not kept or not followed, a line each."""
    lines = []
    for clip, each in sizes.items():
        joint = shown(names[int(each.joints[0])])
        lines.append(f"clip {quote(clip)} changes the size of {joint}: shown while it plays, but not written again")
        break
    if any(channel.target.path == "weights" for animation in file.animations for channel in animation.channels):
        lines.append("animated morph targets are not followed: the meshes keep their shape at rest")
    return lines


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
        # Free even if it is not a joint: the bodies of two skins under one node can only be moved by that node.
        return JointKind.FREE
    return JointKind.BALL if is_joint else JointKind.FIXED


def _taken(room: int, wanted: int, clip: str) -> int:
    """The nodes times frames that are left after a clip.

    Raises:
        FormatError: the clip has more than ``room``.
    """
    if wanted > room:
        found = f"expected at most {room:,} nodes times frames for a file of this size, found {wanted:,}"
        raise FormatError(f"clip {quote(clip)}: {found}")
    return room - wanted


def _baked(tree: Tree, tracks: list[Track], times: Floats, carriers: int) -> tuple[Motion, set[int]]:
    """The motion of the joints at all times, and the nodes whose scale shears.

    It is computed block by block, because intermediate results take more memory than the motion itself.
    """
    joints, shears = len(tree.nodes) - carriers, set[int]()
    result = Motion(np.empty((len(times), joints, 3)), np.empty((len(times), joints, 4)))
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(times), step):
        frames = slice(start, start + step)
        baked, sheared = bake(tree, local_motion(tree, tracks, times, frames))
        block = carried(baked, carriers)
        result.translations[frames], result.rotations[frames] = block.translations, block.rotations
        shears |= sheared
    return result, shears


def _clip(name: str, frame_time: float, skeleton: Skeleton, motion: Motion) -> Clip:
    high, low = motion.translations.max(axis=0), motion.translations.min(axis=0)
    size = max(*(float(np.abs(each).max()) for each in (skeleton.offsets, high, low)), 1e-300)
    apart = np.maximum(high - skeleton.offsets, skeleton.offsets - low) > _MOVED * size
    moved = np.flatnonzero(apart.any(axis=1))
    return Clip(
        name=name,
        frame_time=frame_time,
        rotations=handed_over(motion.rotations),
        translated=moved,
        translations=handed_over(motion.translations[:, moved]),
        offsets=skeleton.offsets,
    )
