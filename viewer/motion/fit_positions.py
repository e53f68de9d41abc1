"""A skeleton with motion from positions of its joints over time.

Gaps are bridged first, and noise, which changes the lengths of bones, is smoothed away (`capture_faults`). Then the
joints are turned from the root outwards (`turning`). Exact positions of a skeleton give exact positions back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.choices import PresetName
from viewer.errors import InputError, listed, quote, unknown_name
from viewer.motion.capture_faults import LONGEST_GAP, gaps_of, point_noise, smoothed, without_gaps
from viewer.motion.point_sets import PointSet, counts_of_sets, point_set, set_of_count, set_of_names
from viewer.motion.retarget_motion import retarget
from viewer.motion.turning import LINE, NOISY_LINE, Arm, Turning, is_line, kabsch, rests_of
from viewer.skeleton import (
    Character,
    Clip,
    Effector,
    JointKind,
    Skeleton,
    World,
    at_or_below,
    find_figure,
    joint_space,
    rest_world,
)
from viewer.skeleton.character import wrong_kind
from viewer.skeleton.kinematics import local_turns
from viewer.skeleton.limbs import flexion_axis
from viewer.spatial.checks import Bools, Floats, seconds
from viewer.spatial.quaternion import between, conjugate, cross, from_axis_angle, norm, normalized, rotate, unit
from viewer.spatial.smoothing import median, quantiles

MOST_NOTES = 8
_OWN = 0.015
"""Share of its length by which a rig's bone may differ from the positions without being resized."""
_SHIFTS = 3
_FARTHEST = 1e7
"""Metres from the origin, as of files."""
_CHANGES = 0.3
"""Share of its length by which a bone may change without a warning."""
_COINCIDE = 1e-6
"""Metres below which two points coincide."""
_LOOSE, _SPREADS = 1e-4, 5.0
"""The distance between two joints changes if most of its values are farther apart than this, in metres, and than so
many standard deviations of their noise: that alone spreads 90 % of them over 4.7.
"""
_STRETCHED = 0.99
"""Quantile of the distances between its ends that is a back's length."""


def fit(
    skeleton: Skeleton | None,
    positions: ArrayLike,
    joints: Sequence[str] | None = None,
    *,
    preset: PresetName | None = None,
    fps: float = 30.0,
    name: str = "fit",
) -> Character:
    """A skeleton in motion from positions of its joints.

    Args:
        skeleton: the rig that moves, with its own bone lengths; None: one is made, whose bones have the medians of the
            lengths in the positions.
        positions: (F, K, 3) metres, Y up; NaN where a position is not known.
        joints: (K,) names of the points: joints of the skeleton, or points of a preset. Default: all joints of the
            skeleton in order, or the preset.
        preset: "humanml3d" (22 joints), "smpl" (24), "mediapipe" (33 landmarks), "coco" (17), "halpe26" or "body25" by
            the names of Pose2Sim; without a skeleton and names found from K unless given. With a skeleton that has
            other joints, the motion is retargeted onto it.
        fps: frames per second.
        name: of the skeleton that is made, and of the clip.

    Returns:
        The skeleton with one clip. Gaps up to a second are bridged; longer ones, and noise that was smoothed away, are
        named in its warnings.

    Raises:
        InputError: other shapes, no positions at all, names that do not match, fewer than two joints.
    """
    if skeleton is not None and not isinstance(skeleton, Skeleton):
        raise wrong_kind(skeleton, "a skeleton or None", "fit: ")
    points = _checked(positions)
    seconds(fps, "fit: fps", unit="frames per second")
    if skeleton is None:
        described = _described(points.shape[1], joints, preset)
        return fit_points(described, points, joints, fps=fps, name=name)
    if preset is not None:
        described = point_set(preset)
        if not set(described.points) <= set(skeleton.names):
            return retargeted(fit_points(described, points, joints, fps=fps, name=name), skeleton)
        joints = described.points if joints is None else joints
    return _on_rig(skeleton, points, joints, fps=fps, name=name)


def retargeted(fitted: Character, rig: Skeleton) -> Character:
    """A fitted character's motion on a rig that has other joints, with the warnings of both steps.

    Raises:
        InputError: the rig has no arms or legs that could be paired.
    """
    made = retarget(fitted, Character(rig))
    return replace(made.character, warnings=(*fitted.warnings, *made.report.warnings))


def fit_points(
    described: PointSet, points: Floats, joints: Sequence[str] | None, *, fps: float, name: str
) -> Character:
    """As `fit`, with a skeleton made for a set of points.

    ``points`` (F, K, 3): metres, Y up. ``joints`` (K,): their names; None: those of the set in order. ``fps``: frames
    per second. ``name``: of skeleton and clip.

    Raises:
        InputError: points that the set needs are missing, or have no positions.
    """
    points = _checked(points)
    names = tuple(described.points if joints is None else joints)
    _check_count(points, names)
    needed = described.needed.difference(names)
    missing = [point for point in described.points if point in needed]
    if missing:
        raise InputError(f"fit: expected the points of {described.name}; {unknown_name('point', missing[0], names)}")
    column = {point: place for place, point in enumerate(names)}
    joint_of = {node.name: place for place, node in enumerate(described.nodes) if node.name}
    parents = [joint_of.get(node.parent, -1) for node in described.nodes]
    places = _places(described, points, column)
    labels = [node.name or " and ".join(node.points) for node in described.nodes]
    paths = _cleaned(places, parents, labels, fps)
    skeleton = _skeleton_of(described, paths.points, parents, name)
    count = len(skeleton)
    limbs = [
        (joint_of[f"{side}_{upper}"], joint_of[f"{side}_{lower}"], np.array(axis))
        for side, out in (("left", -1.0), ("right", 1.0))
        for upper, lower, axis in (("shoulder", "elbow", (0.0, out, 0.0)), ("hip", "knee", (1.0, 0.0, 0.0)))
        if f"{side}_{upper}" in joint_of and f"{side}_{lower}" in joint_of
    ]
    # The skeleton lists end sites by the joint that they belong to.
    tips = count + np.argsort(parents[count:], kind="stable")
    ordered = np.concatenate([np.arange(count), tips]) if len(parents) > count else np.arange(count)
    placed = paths.points[:, ordered]
    seen = np.concatenate([np.ones(count, dtype=np.bool_), np.isfinite(placed[0, count:]).all(axis=-1)])
    return _character(Turning(skeleton, seen, limbs, line=paths.line), placed, paths, fps, name)


def _checked(positions: ArrayLike) -> Floats:
    try:
        points = np.asarray(positions, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"fit: expected positions (frames, joints, 3), found {quote(positions)}") from None
    if points.ndim != 3 or points.shape[-1] != 3:
        raise InputError(f"fit: expected positions (frames, joints, 3), found {points.shape}")
    if not len(points):
        raise InputError("fit: expected at least one frame, found none")
    if points.shape[1] < 2:
        raise InputError(f"fit: expected at least 2 joints, found {points.shape[1]}")
    points = np.where(np.isfinite(points).all(axis=-1, keepdims=True), points, np.nan)
    if np.isnan(points).all():
        raise InputError("fit: expected positions, found NaN in every frame")
    farthest = float(np.nanmax(np.abs(points)))
    if farthest > _FARTHEST:
        raise InputError(f"fit: expected places within {_FARTHEST:g} m of the origin, found {farthest:.3g}")
    return points


def _places(described: PointSet, points: Floats, column: dict[str, int]) -> Floats:
    """(F, N, 3) the positions of all nodes."""
    places = np.full((len(points), len(described.nodes), 3), np.nan)
    for node, each in enumerate(described.nodes):
        if each.points:
            places[:, node] = points[:, [column[point] for point in each.points]].mean(axis=1)
    for node, each in enumerate(described.nodes):
        if not each.points:
            below = next(place for place, other in enumerate(described.nodes) if other.parent == each.name)
            left, right = (points[:, column[name]] for name in described.across)
            places[:, node] = _middle_of_back(places[:, node - 1], places[:, below], left - right)
    return places


def _middle_of_back(low: Floats, high: Floats, across: Floats) -> Floats:
    """(F, 3) the middle joint of a back of constant length, behind the line between its ends."""
    way = high - low
    length = np.linalg.norm(way, axis=-1, keepdims=True)
    if np.isnan(length).all():
        return low
    half = 0.5 * float(np.nanquantile(length, _STRETCHED))
    out = np.sqrt(np.maximum(half**2 - 0.25 * length**2, 0.0))
    return np.asarray(low + 0.5 * way + out * unit(cross(way, across)))


def _check_count(points: Floats, names: Sequence[str]) -> None:
    if len(set(names)) != len(names):
        again = next(name for place, name in enumerate(names) if name in names[:place])
        raise InputError(f"fit: expected a name for each point, found {quote(again)} twice")
    if len(names) != points.shape[1]:
        raise InputError(f"fit: expected positions of {len(names)} joints, found {points.shape[1]}")


def _described(count: int, joints: Sequence[str] | None, preset: PresetName | None) -> PointSet:
    if preset is not None:
        return point_set(preset)
    found = set_of_count(count) if joints is None else set_of_names(tuple(joints))
    if found is None and joints is None:
        cure = "names or a skeleton say what others are"
        raise InputError(f"fit: expected {counts_of_sets()} joints, found {count}: {cure}")
    if found is None:
        some = listed([*map(quote, joints or ())], 3)
        raise InputError(f"fit: expected the joints of a preset, found {some}: a skeleton says how they hang together")
    return found


# --- paths without gaps and noise


class _Paths(NamedTuple):
    """Paths of nodes (F, N, 3) without gaps, which nodes were seen (N,), the noise in metres, and notes."""

    points: Floats
    seen: Bools
    noise: float
    notes: tuple[str, ...]

    @property
    def line(self) -> float:
        """How close to one line bones have to lie to count as being on it."""
        return NOISY_LINE if self.noise > 0.0 else LINE


def _cleaned(places: Floats, parents: Sequence[int], labels: Sequence[str], fps: float) -> _Paths:
    """Bridge gaps and smooth noise; nodes that are never seen stay NaN."""
    seen: Bools = np.asarray(np.isfinite(places).all(axis=-1))
    ever: Bools = np.asarray(seen.any(axis=0))
    notes = [f"{quote(labels[node])} has no position in any frame: it keeps its place at rest"
             for node in np.flatnonzero(~ever).tolist()]  # fmt: skip
    long = [gap for gap in gaps_of(seen) if ever[gap.point] and (gap.last - gap.first + 1) / fps > LONGEST_GAP]
    notes += [
        f"{quote(labels[gap.point])} has no position in frames {gap.first} to {gap.last} "
        f"({(gap.last - gap.first + 1) / fps:.2f} s): bridged all the same"
        for gap in long[:MOST_NOTES]
    ]
    if len(long) > MOST_NOTES:
        notes.append(f"{len(long) - MOST_NOTES} more gaps are longer than {LONGEST_GAP:g} s")
    nodes = np.flatnonzero(ever)
    place_of = {int(node): place for place, node in enumerate(nodes)}
    above = [_nearest(parents, node, place_of) for node in nodes.tolist()]
    noise = point_noise(places[:, nodes], above)
    paths = places.copy()
    paths[:, nodes] = without_gaps(places[:, nodes], above)
    if noise > 0.0:
        paths[:, nodes] = smoothed(paths[:, nodes], seen[:, nodes], above, noise)
        notes.append(f"positions are off by about {1e3 * noise:.2g} mm on each axis: smoothed")
    notes += _odd_bones(paths[:, nodes], above, [labels[node] for node in nodes.tolist()], noise)
    return _Paths(paths, ever, noise, tuple(notes))


def _odd_bones(paths: Floats, parents: Sequence[int], labels: Sequence[str], noise: float) -> list[str]:
    """A note if points that should be a bone apart change their distance, by more than noise alone would."""
    worst, found = _CHANGES, []
    below = [node for node, parent in enumerate(parents) if parent >= 0]
    above = [parents[node] for node in below]
    spans = quantiles(norm(paths[:, below] - paths[:, above]), (0.05, 0.5, 0.95))
    for node, parent, (low, middle, high) in zip(below, above, spans.T.tolist(), strict=True):
        if high - low > max(worst * middle, _SPREADS * noise) and high > _COINCIDE:
            worst = (high - low) / middle if middle > 0.0 else np.inf
            bone = f"from {quote(labels[parent])} to {quote(labels[node])} changes by {100.0 * worst:.0f} %"
            found = [f"the distance {bone}: the points may be others, or in another order"]
    return found


def _nearest(parents: Sequence[int], node: int, place_of: dict[int, int]) -> int:
    """The index of the nearest node above that has a position, or -1."""
    parent = parents[node]
    while parent >= 0 and parent not in place_of:
        parent = parents[parent]
    return place_of.get(parent, -1)


# --- the skeleton of a point set


def _skeleton_of(described: PointSet, paths: Floats, parents: Sequence[int], name: str) -> Skeleton:
    """A skeleton in a T-pose whose bones have the medians of the paths' (F, N, 3) lengths."""
    nodes = described.nodes
    count = sum(1 for node in nodes if node.name)
    offsets = np.zeros((len(nodes), 3))
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        if parent >= 0:
            children.setdefault(parent, []).append(node)
            length = float(np.nan_to_num(median(norm(paths[:, node] - paths[:, parent]))))
            offsets[node] = length * unit(np.array(nodes[node].direction))
    for joint, own in children.items():
        known = [node for node in own if np.isfinite(paths[0, node]).all()]
        if len(known) > 1:
            offsets[known] = _rest_shape(paths[:, known] - paths[:, [joint]], offsets[known])
    if parents[0] < 0:
        lowest = _lowest(offsets, parents)
        offsets[0] = (0.0, -lowest, 0.0)
    tips = sorted(range(count, len(nodes)), key=lambda node: parents[node])
    ends = [(joint, nodes[joint].name) for joint in range(count) if nodes[joint].name in described.ends]
    return Skeleton(
        name=name,
        names=tuple(node.name for node in nodes[:count]),
        parents=np.array(parents[:count], dtype=np.intp),
        offsets=offsets[:count],
        tip_parents=np.array([parents[node] for node in tips], dtype=np.intp),
        tip_offsets=offsets[tips].reshape(-1, 3),
        effectors=tuple(Effector(end, joint) for joint, end in ends),
    )


def _rest_shape(arms: Floats, expected: Floats) -> Floats:
    """(A, 3) several bones of one joint at rest: their mean shape over all frames, turned as in a T-pose.

    ``arms`` (F, A, 3): from the joint, in the world; ``expected`` (A, 3): roughly, in a T-pose; the lengths are the
    medians.
    """
    lengths = np.linalg.norm(expected, axis=-1, keepdims=True)
    shape = expected
    for _ in range(3):
        turned = rotate(conjugate(kabsch(shape, arms, np.ones(len(shape))))[:, None], arms)
        shape = unit(median(turned)) * lengths
    if is_line(shape, LINE):
        return shape
    # Its rotation is free: left and right, and then up or forward, are as in a T-pose.
    left, right = int(np.argmax(expected[:, 0])), int(np.argmin(expected[:, 0]))
    if expected[left, 0] <= 0.0 or expected[right, 0] >= 0.0:
        return shape
    side = np.array([1.0, 0.0, 0.0])
    shape = rotate(between(shape[left] - shape[right], side), shape)
    flat = expected * (0.0, 1.0, 1.0)
    main = int(np.argmax(norm(flat) - np.abs(expected[:, 0])))
    here, there = np.arctan2(*shape[main, [2, 1]]), np.arctan2(*flat[main, [2, 1]])
    return np.asarray(rotate(from_axis_angle(side, there - here), shape))


def _resized(skeleton: Skeleton, solver: Turning, places: Floats, noise: float) -> tuple[Skeleton, list[str]]:
    """The rig with bones resized to the positions where they differ, and a note that names them."""
    offsets, world = skeleton.offsets.copy(), solver.rest
    changed = []
    bones = [arm for arms in solver.arms.values() for arm in arms if _is_own(skeleton, arm)]
    ways = places[:, [bone.node for bone in bones]] - places[:, [bone.joint for bone in bones]]
    lengths = median(norm(ways))[:, None]
    for joint in solver.arms:
        own = [place for place, bone in enumerate(bones) if bone.joint == joint]
        if not own:
            continue
        nodes = [bones[place].node for place in own]
        rests = rests_of([bones[place] for place in own])
        shape = unit(rests) * lengths[own]
        if len(own) > 1:
            shape = _rest_shape(ways[:, own], shape)
        allowed = np.maximum(_OWN * norm(rests), noise)
        if (norm(shape - rests) > allowed).any():
            changed += [skeleton.names[node] for node in nodes]
            offsets[nodes] = rotate(conjugate(world.rotations[joint]), shape)
    if not changed:
        return skeleton, []
    names = ", ".join(map(quote, changed[:3])) + (", ..." if len(changed) > 3 else "")
    note = f"bones are longer or shorter than in the rig, and are made as in the positions: to {names}"
    return replace(skeleton, offsets=offsets), [note]


def _is_own(skeleton: Skeleton, arm: Arm) -> bool:
    """Whether a bone leads to a child of its joint: not to an end site, nor past a joint in between."""
    return arm.node < len(skeleton) and int(skeleton.parents[arm.node]) == arm.joint


def _lowest(offsets: Floats, parents: Sequence[int]) -> float:
    heights: list[float] = []
    for node, parent in enumerate(parents):
        heights.append(float(offsets[node, 1]) + (heights[parent] if parent >= 0 else 0.0))
    return min(heights)


# --- a rig


def _on_rig(skeleton: Skeleton, points: Floats, joints: Sequence[str] | None, *, fps: float, name: str) -> Character:
    names = tuple(skeleton.names if joints is None else joints)
    if joints is None and points.shape[1] != len(names):
        raise InputError(
            f"fit: expected positions of the {len(names)} joints of {quote(skeleton.name)}, found {points.shape[1]}"
        )
    _check_count(points, names)
    for each in names:
        if each not in skeleton.names:
            raise InputError(f"fit: {unknown_name('joint', each, skeleton.names)}")
    count = len(skeleton)
    places = np.full((len(points), count, 3), np.nan)
    places[:, [skeleton.names.index(each) for each in names]] = points
    parents = skeleton.parents.tolist()
    named = set(names)
    given = [joint for joint, each in enumerate(skeleton.names) if each in named]
    place_of = {joint: place for place, joint in enumerate(given)}
    loose = _loose(skeleton, places)
    above = [-1 if joint in loose else _nearest(parents, joint, place_of) for joint in given]
    paths = _cleaned(places[:, given], above, [skeleton.names[joint] for joint in given], fps)
    full = np.full((len(points), count, 3), np.nan)
    full[:, given] = paths.points
    seen = np.isfinite(full[0]).all(axis=-1)
    solver = Turning(skeleton, seen, _limbs_of(skeleton), line=paths.line, loose=loose)
    sized, notes = _resized(skeleton, solver, full, paths.noise)
    if notes:
        solver = Turning(sized, seen, _limbs_of(sized), line=paths.line, loose=loose)
    return _character(solver, full, paths._replace(notes=(*paths.notes, *notes)), fps, name)


def _loose(skeleton: Skeleton, places: Floats) -> frozenset[int]:
    """Joints on the way from the root to the body that no bone of fixed length holds, as under a root that stays.

    ``places`` (F, J, 3): of the joints; NaN where they are not known.
    """
    found, joint = set[int](), 0
    while len(below := np.flatnonzero(skeleton.parents == joint)) == 1:
        parent, joint = joint, int(below[0])
        bone = places[:, [parent, joint]]
        bone = bone[np.isfinite(bone).all(axis=(1, 2))]
        if len(bone):
            low, high = quantiles(norm(bone[:, 1] - bone[:, 0]), (0.05, 0.95))
            if high - low > max(_LOOSE, _SPREADS * point_noise(bone, (-1, 0))):
                found.add(joint)
    return frozenset(found)


@lru_cache(maxsize=16)
def _limbs_of(skeleton: Skeleton) -> list[tuple[int, int, Floats]]:
    """Upper joint, lower joint and the axis (3,) about which a limb bends, in the world at rest."""
    rest, figure = rest_world(skeleton), find_figure(skeleton)
    limbs: dict[int, tuple[int, int, Floats]] = {}
    for joint, kind in enumerate(skeleton.kinds):
        parent = int(skeleton.parents[joint])
        if kind is JointKind.HINGE and parent >= 0:
            limbs[joint] = (parent, joint, rotate(rest.rotations[joint], skeleton.axes[joint, 0]))
    for limb in figure.limbs if figure is not None else ():
        axis = flexion_axis(skeleton, figure, limb) if figure is not None else None
        if axis is not None:
            limbs[limb.lower] = (limb.upper, limb.lower, rotate(rest.rotations[limb.lower], axis))
    return list(limbs.values())


# --- the character


def _character(solver: Turning, places: Floats, paths: _Paths, fps: float, name: str) -> Character:
    skeleton = solver.skeleton
    count = len(skeleton)
    off = np.zeros((len(places), count, 3))
    rotations, world = solver.solve(places, off)
    for _ in range(_SHIFTS if paths.noise > 0.0 else 0):
        # With noise, the mean over all joints determines the topmost joint better than its own position.
        missed = places[:, :count] - world
        for top in solver.tops:
            off[:, top] += np.nanmean(missed[:, at_or_below(skeleton, top)], axis=1)
        rotations, world = solver.solve(places, off)
    local = _local(skeleton, rotations)
    clip = Clip.from_arrays(skeleton, local, _translations(solver, World(world, rotations)), fps=fps, name=name)
    return Character(skeleton, MappingProxyType({name: clip}), warnings=paths.notes)


def _local(skeleton: Skeleton, world: Floats) -> Floats:
    """Local rotations (F, J, 4) that the joints' kinds allow."""
    local = normalized(local_turns(skeleton.parents, world))
    held = ~skeleton.of_kind(JointKind.BALL, JointKind.FREE)
    if not held.any():
        return local
    offsets = np.broadcast_to(skeleton.offsets, (*local.shape[:2], 3))
    space = joint_space(skeleton)
    rebuilt = space.rebuild(space.measure(local, offsets), local, offsets)[0]
    return np.where(held[:, None], rebuilt, local)


def _translations(solver: Turning, world: World) -> Floats:
    """Local translations (F, J, 3): those of the topmost joints, and offsets for the others."""
    skeleton = solver.skeleton
    moved = np.repeat(skeleton.offsets[None], len(world.positions), axis=0)
    for top in solver.tops:
        parent = int(skeleton.parents[top])
        moved[:, top] = world.positions[:, top]
        if parent >= 0:
            back = conjugate(world.rotations[:, parent])
            moved[:, top] = rotate(back, world.positions[:, top] - world.positions[:, parent])
    return moved
