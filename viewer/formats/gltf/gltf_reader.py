"""Reading glTF 2.0: the joints of a skin, or what is animated, as a skeleton with clips.

The motion has samplers of all three interpolations; it is sampled at a fixed rate, and changes of scale are taken out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.errors import FormatError, of_file, quote, shown
from viewer.formats.bounds import MOST_FRAMES, check_counts, room_for_frames
from viewer.formats.gltf.container import MARK, Accessors, Animation, CompressedError, File, Sampler, counted, open_gltf
from viewer.formats.gltf.nodes import (
    OBJECT,
    Local,
    Tree,
    bake,
    carried,
    count_carriers,
    figures_in,
    find_tree,
    unit,
    without_carriers,
    without_figures,
    world_linear,
)
from viewer.formats.gltf.skins import Rig, local_matrix, read_skin
from viewer.formats.limit_sources import derived_limits
from viewer.formats.units import unconverted
from viewer.skeleton import Character, Clip, FreeNames, JointKind, Skeleton, Skin, Source, rest_world
from viewer.skeleton.attached import WORLD, Sizes
from viewer.skeleton.names import find_effectors, unique_names
from viewer.spatial.checks import Floats, Ints, handed_over
from viewer.spatial.quaternion import slerp, to_matrix

_MOVED = 1e-9
"""A translation counts as animated if it differs from rest by more than this fraction of the skeleton's size."""
_BLOCK = 1 << 19
"""Nodes times frames that are computed together."""

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}

USUAL_RATE = 30.0
"""Frames per second if the keys are not at regular times."""
_SAME = 1e-5
"""Relative difference from a whole rate that is due to rounded times."""
_OFF = 0.02
"""Fraction of a frame by which a key may miss its frame: times are 32-bit numbers, and some programs round them."""

_SAME_SIZE = 1e-5
"""Scales that differ from those at rest by a smaller fraction do not count."""
_SCALE_BLOCK = 1 << 15
"""Nodes times frames that are computed together, which bounds memory."""


def read_gltf(path: Path, name: str, *, units: str = "auto", up: str = "auto") -> Character:
    """Read a .gltf or .glb file."""
    file, buffers = open_gltf(path, name)
    size = path.stat().st_size + sum(len(data) for data in {id(data): data for data in buffers}.values())
    # An overflow is refused later, when the character is checked, with the name of its joint.
    with of_file(name), np.errstate(over="ignore", invalid="ignore"):
        character = _character(file, buffers, path, name, size)
    return replace(character, warnings=(*character.warnings, *unconverted("glTF", units, up)))


def _character(whole: File, buffers: list[bytes], path: Path, name: str, size: int) -> Character:
    file = without_figures(whole)
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
    beside = {"camera": len(file.cameras), "object": objects, "other figure": figures_in(whole)}
    unread = counted(({} if skin or ours else file.counts()) | beside)
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
    """The skin, and a line for each part of it that cannot be shown."""
    worlds: list[Floats] = []
    for node, parent in zip(tree.nodes, tree.parents.tolist(), strict=True):
        own = local_matrix(file, node)
        worlds.append(own if parent < 0 else worlds[parent] @ own)
    rest = rest_world(skeleton)
    rig = Rig(
        joints={node: max(index - carriers, WORLD) for index, node in enumerate(tree.nodes)},
        worlds=dict(zip(tree.nodes, worlds, strict=True)),
        positions=rest.positions,
        rotations=rest.rotations,
    )
    return read_skin(file, accessors, buffers, path, rig)


def _not_followed(file: File, sizes: Mapping[str, Sizes], names: tuple[str, ...]) -> list[str]:
    """Changes of meshes by clips that are not kept or not followed, a line each."""
    lines = []
    if sizes:
        clip, each = next(iter(sizes.items()))
        joint = shown(names[int(each.joints[0])])
        lines.append(f"clip {quote(clip)} changes the size of {joint}: shown while it plays, but not written again")
    if any(channel.target.path == "weights" for animation in file.animations for channel in animation.channels):
        lines.append("animated morph targets are not followed: the meshes keep their shape at rest")
    return lines


def _skeleton(tree: Tree, names: tuple[str, ...], rest: Local, name: str) -> Skeleton:
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
        # Roots are free even if they are no joints: the bodies of two skins under one node move only by that node.
        kinds=tuple(
            JointKind.FREE if parent < 0 else JointKind.BALL if is_joint else JointKind.FIXED
            for is_joint, parent in zip(tree.joints, tree.parents.tolist(), strict=True)
        ),
        tip_parents=tip_parents,
        tip_offsets=tip_offsets,
        effectors=find_effectors(names, tree.parents, tip_parents, tip_offsets),
    )


def _taken(room: int, wanted: int, clip: str) -> int:
    """The nodes times frames that a clip leaves for others."""
    if wanted > room:
        found = f"expected at most {room:,} nodes times frames for a file of this size, found {wanted:,}"
        raise FormatError(f"clip {quote(clip)}: {found}")
    return room - wanted


def _baked(tree: Tree, tracks: list[Track], times: Floats, carriers: int) -> tuple[tuple[Floats, Floats], set[int]]:
    """Translations (F, J, 3) and rotations (F, J, 4) of the joints at all times, and the nodes whose scale shears.

    It is computed block by block, because intermediate results take more memory than the motion itself.
    """
    shape, shears = (len(times), len(tree.nodes) - carriers), set[int]()
    result = np.empty((*shape, 3)), np.empty((*shape, 4))
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(times), step):
        frames = slice(start, start + step)
        baked, sheared = bake(tree, local_motion(tree, tracks, times, frames))
        for part, block in zip(result, carried(baked, carriers), strict=False):
            part[frames] = block
        shears |= sheared
    return result, shears


def _clip(name: str, frame_time: float, skeleton: Skeleton, motion: tuple[Floats, Floats]) -> Clip:
    translations, rotations = motion
    high, low = translations.max(axis=0), translations.min(axis=0)
    size = max(*(float(np.abs(each).max()) for each in (skeleton.offsets, high, low)), 1e-300)
    apart = np.maximum(high - skeleton.offsets, skeleton.offsets - low) > _MOVED * size
    moved = np.flatnonzero(apart.any(axis=1))
    return Clip(
        name=name,
        frame_time=frame_time,
        rotations=handed_over(rotations),
        translated=moved,
        translations=handed_over(translations[:, moved]),
        offsets=skeleton.offsets,
    )


# --- the motion


class Track(NamedTuple):
    """One channel: the tree's node that it moves, and its translation, rotation or scale (K, 3 or 4) at times (K,).

    ``tangents`` (K, 2, 3 or 4) are those in and out, per second, of CUBICSPLINE, beside STEP and LINEAR.
    """

    joint: int
    part: str
    times: Floats
    values: Floats
    interpolation: str
    tangents: Floats | None


def tracks_of(animation: Animation, tree: Tree, accessors: Accessors, path: str) -> list[Track]:
    """The channels that move nodes of the tree."""
    joints = {node: joint for joint, node in enumerate(tree.nodes)}
    tracks: dict[tuple[int, str], Track] = {}
    for index, channel in enumerate(animation.channels):
        target = channel.target
        if target.node not in joints or target.path not in _WIDTHS:
            continue
        joint = joints[target.node]
        where = f"{path}.channels[{index}]"
        if channel.sampler >= len(animation.samplers):
            raise FormatError(f"expected one of {len(animation.samplers)} samplers", path=f"{where}.sampler")
        sampler = animation.samplers[channel.sampler]
        where = f"{path}.samplers[{channel.sampler}]"
        tracks[joint, target.path] = _track(joint, target.path, sampler, accessors, where)
    return list(tracks.values())


def _track(joint: int, part: str, sampler: Sampler, accessors: Accessors, where: str) -> Track:
    interpolation = sampler.interpolation
    if interpolation not in ("STEP", "LINEAR", "CUBICSPLINE"):
        raise FormatError(f"expected STEP, LINEAR or CUBICSPLINE, found {quote(interpolation)}", path=where)
    times = _times(sampler.input, accessors, f"{where}.input")
    per_key = 3 if interpolation == "CUBICSPLINE" else 1
    values = accessors.floats(sampler.output, _WIDTHS[part], f"{where}.output")
    if len(values) != per_key * len(times):
        found = f"expected {per_key * len(times)} values, found {len(values)}"
        raise FormatError(found, path=f"{where}.output")
    tangents = None
    if per_key == 3:
        whole = values.reshape(len(times), 3, -1)
        values, tangents = whole[:, 1], whole[:, ::2]
    elif part == "rotation":
        made = ("rotations", sampler.output)
        if made not in accessors.made:
            accessors.made[made] = unit(values, f"{where}.output")
        values = accessors.made[made]
    return Track(joint, part, times, values, interpolation, tangents)


def _times(index: int, accessors: Accessors, where: str) -> Floats:
    known = accessors.made.get(("times", index))
    if known is None:
        known = accessors.floats(index, 1, where)[:, 0]
        if not len(known) or not bool((np.diff(known) > 0.0).all()):
            raise FormatError("expected ascending times", path=where)
        accessors.made["times", index] = known
    return known


def local_motion(tree: Tree, tracks: list[Track], times: Floats, frames: slice = slice(None)) -> Local:
    """Local motion of the nodes at the times (F,) of some frames; nodes without a track are at rest.

    A track is constant before its first key and after its last.
    """
    count = len(times[frames])
    parts = {
        "translation": np.repeat(tree.translations[None], count, axis=0),
        "rotation": np.repeat(tree.rotations[None], count, axis=0),
        "scale": np.repeat(tree.scales[None], count, axis=0),
    }
    for track in tracks:
        parts[track.part][:, track.joint] = _at(track, times, frames)
    return Local(parts["translation"], parts["rotation"], parts["scale"])


def _at(track: Track, times: Floats, frames: slice) -> Floats:
    keys, values = track.times, track.values
    times = times[frames]
    if track.interpolation == "LINEAR" and np.array_equal(keys[frames], times):
        return values[frames]
    before = np.clip(np.searchsorted(keys, times, side="right") - 1, 0, max(len(keys) - 2, 0))
    after = np.minimum(before + 1, len(keys) - 1)
    gap = np.where(after > before, keys[after] - keys[before], 1.0)
    part = np.clip((times - keys[before]) / gap, 0.0, 1.0)
    if track.interpolation == "STEP":
        return values[np.where(part >= 1.0, after, before)]
    if track.interpolation == "LINEAR":
        if track.part == "rotation":
            return slerp(values[before], values[after], part)
        return values[before] + part[:, None] * (values[after] - values[before])
    return _cubic(track, before, after, gap, part)


def _cubic(track: Track, before: Ints, after: Ints, gap: Floats, part: Floats) -> Floats:
    """Hermite splines (glTF 2.0, appendix C.4); rotations are normalised."""
    assert track.tangents is not None
    t = part[:, None]
    span = gap[:, None]
    start, end = track.values[before], track.values[after]
    leaving, arriving = track.tangents[before, 1], track.tangents[after, 0]
    value = (
        (2.0 * t**3 - 3.0 * t**2 + 1.0) * start
        + span * (t**3 - 2.0 * t**2 + t) * leaving
        + (3.0 * t**2 - 2.0 * t**3) * end
        + span * (t**3 - t**2) * arriving
    )
    return unit(value, "animations") if track.part == "rotation" else np.asarray(value)


def frame_grid(tracks: list[Track], name: str) -> tuple[Floats, float, list[str]]:
    """The times (F,) from 0 at which a clip is sampled, the frame time in seconds, and warnings.

    If the keys are at regular times, each of them is a frame; otherwise there are `USUAL_RATE` frames per second.
    Curves and steps get at least that many. Keys before 0, and more than `MOST_FRAMES` frames, are refused.
    """
    keys = np.unique(np.concatenate(times_of(tracks)))
    last = float(keys[-1])
    if keys[0] < 0.0:
        raise FormatError(f"clip {quote(name)}: expected times from 0 on, found {keys[0]:g}")
    step, notes = _regular_step(keys), []
    if step is None:
        step = 1.0 / USUAL_RATE
        notes = [f"clip {quote(name)} has keys at uneven times: read at {USUAL_RATE:g} frames a second"]
    elif any(track.interpolation != "LINEAR" for track in tracks):
        step /= max(1, math.ceil(step * USUAL_RATE - _OFF))
    if last / step > MOST_FRAMES:
        raise FormatError(f"clip {quote(name)}: expected at most {MOST_FRAMES:,} frames, found {last / step:,.0f}")
    count = round(last / step) + 1
    times: Floats = np.arange(count, dtype=np.float64) * step
    # Frames at keys take the key's own time, exactly as in the file.
    places = np.clip(np.rint(keys / step).astype(np.intp), 0, count - 1)
    near = np.abs(keys - times[places]) <= _OFF * step
    times[places[near]] = keys[near]
    return times, step, notes


def times_of(tracks: list[Track]) -> list[Floats]:
    """The times of all tracks; arrays that several tracks share are listed once."""
    return list({id(track.times): track.times for track in tracks}.values())


def _regular_step(keys: Floats) -> float | None:
    """The frame time, seconds, at which every key is a frame; None if the keys are irregular."""
    if len(keys) == 1:
        return float(keys[0]) or 1.0 / USUAL_RATE
    gaps = np.diff(keys)
    step = float(gaps.min())
    # The mean over many frames is more precise than a single gap.
    frames = np.rint(gaps / step)
    step = float((keys[-1] - keys[0]) / frames.sum())
    for part in (1, 2, 3, 4):
        finer = step / part
        places = keys / finer
        if bool((np.abs(places - np.rint(places)) <= _OFF).all()):
            rate = round(1.0 / finer)  # the nearest whole one, if the difference is only rounding
            return 1.0 / rate if rate and abs(rate * finer - 1.0) < _SAME else finer
    return None


# --- sizes: clips that change the scale of joints


def sizes_of(tree: Tree, tracks: list[Track], times: Floats, carriers: int) -> Sizes | None:
    """The joints whose size a clip changes, for what follows them, and how; None if there are none.

    ``times`` (F,) are those of its frames; ``carriers`` nodes at the top of the tree are no joints.
    """
    if not any(track.part == "scale" and _varies(track, tree) for track in tracks):
        return None
    rest = _shapes(tree, local_motion(tree, [], np.zeros(1)))[0, carriers:]
    if not bool((np.abs(np.linalg.det(rest)) > 0.0).all()):
        return None  # what has no size at rest can get none
    back = np.linalg.inv(rest)
    step = max(1, _SCALE_BLOCK // len(tree.nodes))
    blocks = (slice(start, start + step) for start in range(0, len(times), step))
    changes = np.concatenate(
        [
            (_shapes(tree, local_motion(tree, tracks, times, frames))[:, carriers:] @ back).astype(np.float32)
            for frames in blocks
        ]
    )
    changed = np.flatnonzero((np.abs(changes - np.eye(3)) > _SAME_SIZE).any(axis=(0, 2, 3)))
    return Sizes(changed, changes[:, changed]) if changed.size else None


def _varies(track: Track, tree: Tree) -> bool:
    rest = tree.scales[track.joint]
    return bool((np.abs(track.values - rest) > _SAME_SIZE * np.abs(rest).max()).any())


def _shapes(tree: Tree, local: Local) -> Floats:
    """(F, J, 3, 3) the scale and shear of each node's world transform, in its own frame."""
    linear, turns = world_linear(tree, local)
    return np.asarray((to_matrix(turns).swapaxes(-1, -2) @ linear).swapaxes(0, 1))
