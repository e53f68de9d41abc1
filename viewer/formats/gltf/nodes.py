"""The nodes of a glTF file that are joints: their tree at rest, and how the tracks of its animations move them.

Samplers have three interpolations; they are sampled at a fixed rate. Scale is taken out of the tree at all times.
"""

from __future__ import annotations

import math
import re
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import NamedTuple

import msgspec
import numpy as np

from viewer.errors import FormatError, quote
from viewer.formats.bounds import MOST_FRAMES, check_counts
from viewer.formats.gltf.container import MARK, Accessors, Animation, File, Node, Sampler
from viewer.skeleton.attached import Sizes
from viewer.skeleton.tree import CycleError, parents_first
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, from_matrix, multiply, rotate, slerp, to_matrix

_TIP = ".tip"
"""Part of the names of the end sites that ikviewer writes."""
_NUMBERED_TIP = re.compile(r"\.tip[0-9]*")
_FILMING = re.compile(r"(?:Camera|Light|Lamp)(?:[._]?[0-9]+)?")
"""Names of empties at the top that Blender writes for cameras and lights; older versions put the camera below it."""
JOINT, ROOT, MESH, OBJECT, FIGURE = "joint", "root", "mesh", "object", "figure"
"""Marks of nodes: a joint that could be taken for something else; the common parent of several roots; a mesh; an object
beside the figure; the top of another figure, or its mesh."""

_EVEN = 1e-4
"""Scales of the three axes that differ by less count as equal."""
_BLOCK = 1 << 16
"""Nodes times frames that are computed together, which bounds memory."""

_WIDTHS = {"translation": 3, "rotation": 4, "scale": 3}

_USUAL_RATE = 30.0
"""Frames per second if the keys are not at regular times."""
_SAME = 1e-5
"""Relative difference from a whole rate that is due to rounded times."""
_OFF = 0.02
"""Fraction of a frame by which a key may miss its frame: times are 32-bit numbers, and some programs round them."""

_SAME_SIZE = 1e-5
"""Scales that differ from those at rest by a smaller fraction do not count."""
_SCALE_BLOCK = 1 << 15
"""Nodes times frames that are computed together, which bounds memory."""


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """The nodes that are joints, parents first.

    Attributes:
        nodes: (J,) their indices in the file.
        parents: (J,) index of each one's parent, -1 for roots.
        joints: (J,) whether each is a joint of a skin (without a skin: animated), not just an ancestor of one.
        translations, rotations, scales: (J, 3), (J, 4), (J, 3) local, at rest.
        tips: (joint, position in its frame) of the end sites.
    """

    nodes: tuple[int, ...]
    parents: Ints
    joints: tuple[bool, ...]
    translations: Floats
    rotations: Floats
    scales: Floats
    tips: tuple[tuple[int, tuple[float, float, float]], ...]


class Local(NamedTuple):
    """Local motion of J nodes: (F, J, 3), (F, J, 4) unit, (F, J, 3)."""

    translations: Floats
    rotations: Floats
    scales: Floats


def find_tree(file: File) -> Tree:
    """The skin's joints and their ancestors; without a skin the animated nodes and theirs; without motion all."""
    parents = parents_of(file)
    wanted = _wanted(file, parents)
    check_counts(len(wanted))  # at once: nothing has been measured yet
    taken = set(wanted)
    for node in wanted:
        above = parents[node]
        while above >= 0 and above not in taken and file.nodes[above].mark != ROOT:
            taken.add(above)
            above = parents[above]
    try:
        order = [node for node in parents_first(parents) if node in taken]
    except CycleError as error:
        path = f"nodes[{error.joint}]"
        raise FormatError("expected a tree, found a node that is its own ancestor", path=path) from None
    place = {node: index for index, node in enumerate(order)}
    rest = [local_of(file.nodes[node], node) for node in order]
    return Tree(
        nodes=tuple(order),
        parents=np.array([place.get(parents[node], -1) for node in order], dtype=np.intp),
        joints=tuple(node in wanted for node in order),
        translations=np.array([t for t, _, _ in rest]),
        rotations=np.array([r for _, r, _ in rest]),
        scales=np.array([s for _, _, s in rest]),
        tips=tuple(tip for node in order for tip in _tips(file, place, node)),
    )


def figures_in(file: File) -> int:
    """How many other figures there are: each has a top that is not its mesh."""
    return sum(node.mark == FIGURE and node.mesh is None for node in file.nodes)


def without_figures(file: File) -> File:
    """The file with only the first figure and the objects beside it: other figures become bare nodes with a mark."""
    below = [index for index, node in enumerate(file.nodes) if node.mark == FIGURE]
    if not below:
        return file
    others: set[int] = set()
    while below:
        index = below.pop()
        if index < len(file.nodes) and index not in others:
            others.add(index)
            below += file.nodes[index].children
    kept = [index for index, skin in enumerate(file.skins) if not others.issuperset(skin.joints)]
    skins = {skin: place for place, skin in enumerate(kept)}
    bare = Node(extras={MARK: FIGURE})
    replace = msgspec.structs.replace
    nodes = [
        bare if index in others else replace(node, skin=skins.get(node.skin, node.skin)) if node.skin else node
        for index, node in enumerate(file.nodes)
    ]
    animations = [
        replace(one, channels=[channel for channel in one.channels if channel.target.node not in others])
        for one in file.animations
    ]
    return replace(file, nodes=nodes, skins=[file.skins[index] for index in kept], animations=animations)


def _wanted(file: File, parents: list[int]) -> dict[int, None]:
    """The nodes of `find_tree` without ancestors, as the keys of a dict, which keeps the file's order."""
    count = len(file.nodes)
    found = [node for skin in file.skins for node in skin.joints]
    found += [index for index, node in enumerate(file.nodes) if node.mark == JOINT]
    if not found:
        targets = (channel.target for animation in file.animations for channel in animation.channels)
        moved = sorted({t.node for t in targets if t.node is not None and t.path != "weights"})
        every = [index for index, node in enumerate(file.nodes) if node.mark not in (MESH, FIGURE)]
        seen = [[index for index in some if not _films(file, parents, index)] for some in (moved, every)]
        found = next(filter(None, (*seen, moved, every)), [])
    if not found:
        raise FormatError("expected nodes, found none")
    if max(found) >= count:
        raise FormatError(f"expected one of {count} nodes, found {max(found)}", path="skins[0].joints")
    wanted = dict.fromkeys(node for node in found if not (file.skins and _ends(file, parents[node], node)))
    if not wanted:
        raise FormatError("expected joints, found end sites only", path="skins[0].joints")
    return wanted


def parents_of(file: File) -> list[int]:
    """The parent of each node, -1 for those at the top."""
    parents = [-1] * len(file.nodes)
    for index, node in enumerate(file.nodes):
        for child in node.children:
            if child >= len(parents) or child == index or parents[child] >= 0:
                found = f"expected children with one parent each, found {child}"
                raise FormatError(found, path=f"nodes[{index}].children")
            parents[child] = index
    return parents


def _films(file: File, parents: list[int], index: int) -> bool:
    """Whether a node is a camera or a light, or an empty at the top that Blender writes for one."""
    if index >= len(file.nodes):
        return False
    node = file.nodes[index]
    if node.camera is not None or node.is_light:
        return True
    bare = all(file.nodes[child].name == f"{node.name}_Orientation" for child in node.children)
    return bare and parents[index] < 0 and node.mesh is None and _FILMING.fullmatch(node.name) is not None


def _ends(file: File, parent: int, node: int) -> bool:
    """Whether a joint of a skin is an end site, which other programs show as a bone although it moves nothing."""
    own = file.nodes[node]
    bare = not own.children and own.mesh is None and own.mark != JOINT
    return bare and parent >= 0 and named_as_tip(own.name, file.nodes[parent].name)


def named_as_tip(name: str, parent: str) -> bool:
    """Whether a name is that of an end site of the joint ``parent``."""
    return name.startswith(parent) and _NUMBERED_TIP.fullmatch(name, len(parent)) is not None


def _tips(file: File, place: dict[int, int], node: int) -> list[tuple[int, tuple[float, float, float]]]:
    """The end sites of a joint: empty nodes with such a name."""
    tips = []
    for child in file.nodes[node].children:
        own = file.nodes[child]
        if child not in place and not own.children and own.mesh is None and _TIP in own.name:
            tips.append((place[node], own.translation))
    return tips


def local_of(node: Node, index: int) -> tuple[Floats, Floats, Floats]:
    """Translation, unit rotation and scale of a node at rest."""
    path = f"nodes[{index}]"
    if node.matrix is not None:
        return _decomposed(np.array(node.matrix, dtype=np.float64).reshape(4, 4).T, path)
    numbers = np.array((*node.translation, *node.rotation, *node.scale), dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=path)
    return numbers[:3], _unit(numbers[3:7], path), numbers[7:]


def _unit(rotations: Floats, path: str) -> Floats:
    """Rotations (..., 4) normalised to unit length, however exactly they were written."""
    length = np.linalg.norm(rotations, axis=-1, keepdims=True)
    if not bool((length > 1e-6).all() and np.isfinite(length).all()):
        raise FormatError("expected rotations, found a quaternion without length", path=path)
    return np.asarray(rotations / length)


def _decomposed(matrix: Floats, path: str) -> tuple[Floats, Floats, Floats]:
    if not np.isfinite(matrix).all():
        raise FormatError("expected finite numbers, found NaN or infinity", path=f"{path}.matrix")
    columns = matrix[:3, :3]
    # An overflow here is refused when the character is checked, with the name of its joint.
    with np.errstate(all="ignore"):
        scale, size = np.linalg.norm(columns, axis=0), np.linalg.det(columns)
    if size < 0.0:
        scale[0] = -scale[0]
    if not scale.all():
        return matrix[:3, 3].copy(), IDENTITY, scale
    return matrix[:3, 3].copy(), np.asarray(from_matrix(columns / scale)), scale


def bake(tree: Tree, local: Local) -> tuple[Local, set[int]]:
    """Move scales, which then count for all below, into the translations: every node keeps its world position.

    Also the nodes whose uneven or mirrored scale shears their children, whose positions are right all the same.
    """
    if (local.scales == 1.0).all():
        return local, set()
    translations = np.empty_like(local.translations)
    whole = np.ones_like(local.scales)
    step = max(1, _BLOCK // len(tree.nodes))
    for start in range(0, len(translations), step):
        block = slice(start, start + step)
        translations[block], whole[block] = _block(tree, Local(*(part[block] for part in local)))
    return Local(translations, local.rotations, whole), _sheared(tree, local)


def _block(tree: Tree, local: Local) -> tuple[Floats, Floats]:
    linear, turns = _world_linear(tree, local)
    whole, result = local.scales.swapaxes(0, 1).copy(), local.translations.copy()
    for joint, parent in enumerate(tree.parents.tolist()):
        if parent >= 0:
            whole[joint] *= whole[parent]
            moved = np.einsum("fij,fj->fi", linear[parent], local.translations[:, joint])
            result[:, joint] = rotate(conjugate(turns[parent]), moved)
    return result, whole.swapaxes(0, 1)


def _world_linear(tree: Tree, local: Local) -> tuple[Floats, Floats]:
    """(J, F, 3, 3) the nodes' world transforms without places, and (J, F, 4) the rotations in them."""
    matrices = (to_matrix(local.rotations) * local.scales[..., None, :]).swapaxes(0, 1)
    linear, turns = np.empty(matrices.shape), np.empty((*matrices.shape[:2], 4))
    for joint, parent in enumerate(tree.parents.tolist()):
        own = local.rotations[:, joint]
        linear[joint] = matrices[joint] if parent < 0 else linear[parent] @ matrices[joint]
        turns[joint] = own if parent < 0 else multiply(turns[parent], own)
    return linear, turns


def _sheared(tree: Tree, local: Local) -> set[int]:
    parents = set(tree.parents.tolist())
    low, high = local.scales.min(axis=(0, 2)), local.scales.max(axis=(0, 2))
    spread = np.ptp(local.scales, axis=2).max(axis=0)
    uneven = (spread > _EVEN * np.maximum(np.abs(low), np.abs(high))) | (low < 0.0)
    return {joint for joint in np.flatnonzero(uneven).tolist() if joint in parents}


def count_carriers(tree: Tree, moving: AbstractSet[int]) -> int:
    """The number of nodes at the top of the tree that only carry the others; a clip moves those in ``moving``."""
    parents = tree.parents.tolist()
    with_tips = {joint for joint, _ in tree.tips}
    # For each node the smallest parent of it and all later nodes.
    least = np.minimum.accumulate(tree.parents[::-1])[::-1].tolist()
    count = 0
    while not (tree.joints[count] or count in moving or count in with_tips):
        # Only the next node may be its child, and all later nodes have to be below that one.
        if parents[count + 1] != count or (count + 2 < len(parents) and least[count + 2] <= count):
            break
        count += 1
    return count


def without_carriers(tree: Tree, count: int) -> Tree:
    """The tree from node ``count`` on, which becomes the root; its local rest values stay those of the file."""
    return Tree(
        nodes=tree.nodes[count:],
        parents=np.maximum(tree.parents[count:] - count, -1),
        joints=tree.joints[count:],
        translations=tree.translations[count:],
        rotations=tree.rotations[count:],
        scales=tree.scales[count:],
        tips=tuple((joint - count, place) for joint, place in tree.tips),
    )


def carried(baked: Local, count: int) -> Local:
    """Motion of the nodes from ``count`` on, the carriers' motion included in that of the first one."""
    translations, rotations = baked.translations[:, count:].copy(), baked.rotations[:, count:].copy()
    for carrier in reversed(range(count)):
        turn = baked.rotations[:, carrier]
        translations[:, 0] = baked.translations[:, carrier] + rotate(turn, translations[:, 0])
        rotations[:, 0] = multiply(turn, rotations[:, 0])
    return Local(translations, rotations, baked.scales[:, count:])


# --- tracks: what moves the nodes


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
            accessors.made[made] = _unit(values, f"{where}.output")
        values = accessors.made[made]
    return Track(joint, part, times, values, interpolation, tangents)


def _times(index: int, accessors: Accessors, where: str) -> Floats:
    known = accessors.made.get(("times", index))
    if known is None:
        known = accessors.floats(index, 1, where)[:, 0]
        # Sketchfab writes keys twice; of keys at one time the last counts.
        back = np.flatnonzero(np.diff(known) < 0.0)
        if not len(known) or len(back):
            found = f"{known[back[0] + 1]:g} after {known[back[0]]:g}" if len(back) else "none"
            raise FormatError(f"expected ascending times, found {found}", path=where)
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
    between = keys[after] - keys[before]
    gap = np.where(between > 0.0, between, 1.0)
    part = np.where(between > 0.0, np.clip((times - keys[before]) / gap, 0.0, 1.0), 1.0)
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
    return _unit(value, "animations") if track.part == "rotation" else np.asarray(value)


def frame_grid(tracks: list[Track], name: str) -> tuple[Floats, float, list[str]]:
    """The times (F,) from 0 at which a clip is sampled, the frame time in seconds, and warnings.

    If the keys are at regular times, each of them is a frame; otherwise there are `_USUAL_RATE` frames per second.
    Curves and steps get at least that many. Keys before 0, and more than `MOST_FRAMES` frames, are refused.
    """
    keys = np.unique(np.concatenate(times_of(tracks)))
    last = float(keys[-1])
    if keys[0] < 0.0:
        raise FormatError(f"clip {quote(name)}: expected times from 0 on, found {keys[0]:g}")
    step, notes = _regular_step(keys), []
    if step is None:
        step = 1.0 / _USUAL_RATE
        notes = [f"clip {quote(name)} has keys at uneven times: read at {_USUAL_RATE:g} frames a second"]
    elif any(track.interpolation != "LINEAR" for track in tracks):
        step /= max(1, math.ceil(step * _USUAL_RATE - _OFF))
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
        return float(keys[0]) or 1.0 / _USUAL_RATE
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
    linear, turns = _world_linear(tree, local)
    return np.asarray((to_matrix(turns).swapaxes(-1, -2) @ linear).swapaxes(0, 1))
