"""The neutral pose of a figure, by which joint frames of two skeletons are compared: its rest pose, or a frame.

A rest pose is trusted if it stands upright and its left side mirrors its right one; otherwise the frame of the clip
nearest to such a pose is used instead.

An upright, symmetric rest pose shows how each joint is turned while the figure stands upright, except that captured
feet may stand on their edges in it, because their frames lean with the legs, which are apart at rest. Motion corrects
that. Without such a rest pose, the most neutral frames of the motion are averaged. The result depends on what the
person does, so bones are used instead where they show more.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.skeleton import Clip, Figure, Limb, Skeleton, World, find_figure, fk_clip, rest_world
from viewer.skeleton.figure import find_slots
from viewer.skeleton.joint_map import Reference, is_same_tree
from viewer.skeleton.limbs import rest_limbs
from viewer.skeleton.names import body_part
from viewer.spatial.checks import Floats, Ints, frozen
from viewer.spatial.quaternion import (
    IDENTITY,
    between,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    from_matrix,
    multiply,
    norm,
    normalized,
    rotate,
    unit,
)
from viewer.spatial.smoothing import slopes

_SEARCHED = 400
"""Most frames that are compared to find a neutral one."""
_AVERAGED, _STANDING = 0.25, 0.3
"""Shares of the frames that are averaged: the most neutral ones, and for each foot the frames in which it stands."""
_AS_NEUTRAL = 1.5
"""Frames are averaged if they are at most this many times as far from neutral as the best one."""
_LEVEL = 0.2
"""A line defines a direction if its part across the others is at least this long (of a unit vector)."""
_ROLLED = np.radians(8.0)
"""Feet that stand on their edges by more than this, both outwards or both inwards, count as flat."""
_UP = np.array([0.0, 1.0, 0.0])


def neutral_frame(moving: World, figure: Figure) -> int:
    """The sampled frame in which a figure is most upright, with level hips and shoulders and straight legs."""
    frames = _searched(moving)
    cost = _unlike_neutral(moving, figure, frames)
    return int(frames[int(np.argmin(cost))])


def standing_joints(
    skeleton: Skeleton, figure: Figure, moving: World | None, upright: Floats, *, trusted: bool
) -> Floats:
    """(J, 4) rotations from (left, up, forward) to the frame of each joint of a person standing upright.

    ``moving``: all frames of its motion (F, J, ...), or None; ``upright`` (J, 4): by the neutral pose alone;
    ``trusted``: that is an upright, symmetric rest pose.
    """
    if not trusted:
        found = upright if moving is None else _mean_upright(moving, figure, upright)
        return _by_bones(skeleton, figure, found)
    return upright if moving is None else _flat_feet(moving, figure, upright)


def _mean_upright(moving: World, figure: Figure, upright: Floats) -> Floats:
    """(J, 4) by the means over the most neutral frames; feet are flat in frames in which they stand.

    One frame of a walk turns the hips and lifts a heel; over several this averages out.
    """
    frames = _searched(moving)
    cost = _unlike_neutral(moving, figure, frames)
    ordered = frames[np.argsort(cost, kind="stable")]
    alike = int((cost <= _AS_NEUTRAL * cost.min()).sum())
    best = ordered[: max(1, min(alike, int(_AVERAGED * len(frames))))]
    axes = np.stack([standing_axes(World(moving.positions[f], moving.rotations[f]), figure) for f in best.tolist()])
    seen = multiply(conjugate(moving.rotations[best]), axes[:, None])
    side = np.where(dot(seen, upright) < 0.0, -1.0, 1.0)
    found = normalized((side[..., None] * seen).sum(axis=0))
    feet = [_foot(leg) for leg in figure.legs]
    for foot, up in zip(feet, _ups_in_feet(moving, feet, found), strict=True):
        found[foot] = multiply(found[foot], between(_UP, up))
    return found


def _flat_feet(moving: World, figure: Figure, upright: Floats) -> Floats:
    """(J, 4) with feet rolled as in the motion, if the rest pose would put them on their edges.

    Both must do so, as in a mirror: a person may stand on one edge.
    """
    feet = [_foot(leg) for leg in figure.legs]
    if len(feet) != 2 or not all(feet):
        return upright
    ups = _ups_in_feet(moving, feet, upright)
    left, right = (np.arctan2(-up[0, 0], up[0, 1]) for up in ups)
    if min(left, -right) < _ROLLED and min(-left, right) < _ROLLED:
        return upright
    found = upright.copy()
    for foot, up in zip(feet, ups, strict=True):
        roll = np.arctan2(-up[:, 0], up[:, 1])
        found[foot] = multiply(upright[foot], from_axis_angle(np.array([0.0, 0.0, 1.0]), roll))
    return found


def _foot(leg: Limb) -> list[int]:
    """The joints of a foot: none, the foot, or foot and toes."""
    return [joint for joint in (leg.end, leg.toe) if joint is not None] if leg.end is not None else []


def _ups_in_feet(moving: World, feet: Sequence[list[int]], upright: Floats) -> list[Floats]:
    """(N, 3) of each foot: where up is, in axes (left, up, forward), for each of its joints while the foot stands."""
    joints = [joint for foot in feet for joint in foot]
    if not joints:
        return [np.zeros((0, 3))] * len(feet)
    standing = standing_frames(moving, [foot[0] for foot in feet if foot])
    turns = moving.rotations[np.repeat(standing, [len(foot) for foot in feet if foot], axis=1), joints]
    seen = rotate(conjugate(multiply(turns, upright[joints])), _UP)
    return np.split(unit(seen.mean(axis=0)), np.cumsum([len(foot) for foot in feet])[:-1])


def _by_bones(skeleton: Skeleton, figure: Figure, upright: Floats) -> Floats:
    """(J, 4) corrected by what the skeleton's bones show in any pose.

    Spine, neck and head go up along their bones; hips and shoulders show where left of pelvis and chest is, and the
    toes where the feet point to.
    """
    rest, found = rest_world(skeleton), upright.copy()
    pairs = {figure.chest: figure.arms, figure.pelvis: figure.legs}
    chain = [figure.pelvis, *figure.spine, *figure.neck, *(() if figure.head is None else (figure.head,))]
    for joint, following in pairwise([*chain, -1]):
        left, up = rotate(upright[joint], np.eye(3)[:2])
        if following >= 0 and int(skeleton.parents[following]) == joint and skeleton.offsets[following].any():
            up = unit(skeleton.offsets[following])
        if pair := pairs.get(joint, ()):
            across = _root_of(rest, pair[0]) - _root_of(rest, pair[1])
            left = _across(unit(rotate(conjugate(rest.rotations[joint]), across)), up, left)
        left = _across(left, up, np.zeros(3))
        if left.any():
            found[joint] = axes_of(left, up)
    for leg in figure.legs:
        if leg.end is None or leg.toe is None or int(skeleton.parents[leg.toe]) != leg.end:
            continue
        ahead = rotate(conjugate(upright[leg.end]), unit(skeleton.offsets[leg.toe]))
        if np.hypot(ahead[0], ahead[2]) > _LEVEL:
            turn = from_axis_angle(_UP, np.arctan2(ahead[0], ahead[2]))
            found[_foot(leg)] = multiply(upright[_foot(leg)], turn)
    return found


def _across(way: Floats, up: Floats, otherwise: Floats) -> Floats:
    """The unit direction (3,) nearest to a unit one at right angles to ``up``; another if they are nearly parallel."""
    level = way - (way @ up) * up
    return unit(level) if np.linalg.norm(level) > _LEVEL else otherwise


def _root_of(world: World, limb: Limb) -> Floats:
    return np.asarray(world.positions[limb.first])


def _searched(moving: World) -> Ints:
    """The frames that are looked at: all, or some of a long clip."""
    count = len(moving.positions)
    return np.arange(count) if count <= _SEARCHED else np.linspace(0, count - 1, _SEARCHED).astype(np.intp)


def standing_frames(moving: World, ankles: Sequence[int]) -> Ints:
    """(S, N) the frames, of those looked at, in which each of N ankles is slowest and lowest."""
    frames = _searched(moving)
    order = np.argsort(_lifted(moving, ankles)[frames], axis=0, kind="stable")
    return frames[order[: max(1, int(_STANDING * len(frames)))]]


def _lifted(moving: World, ankles: Sequence[int]) -> Floats:
    """(F, N) speed plus height of ankles, each scaled to 0..1 over the clip: about 0 where the foot stands."""
    places = moving.positions[:, ankles]
    speed = norm(slopes(places)) if len(places) > 1 else np.zeros(places.shape[:2])
    height = places[..., 1] - places[..., 1].min(axis=0)
    return np.asarray(speed / np.maximum(speed.max(axis=0), 1e-12) + height / np.maximum(height.max(axis=0), 1e-12))


def _unlike_neutral(moving: World, figure: Figure, frames: Ints) -> Floats:
    """(N,) cost of how far frames are from an upright, square stance; 0 for a neutral pose."""
    places = moving.positions[frames]
    low = _middle(places, figure.legs, figure.pelvis)
    high = _middle(places, figure.arms, figure.chest)
    if figure.head is not None and figure.pelvis == figure.chest:
        high = places[:, figure.head]
    cost = 1.0 - unit(high - low)[:, 1]
    if figure.head is not None and figure.head != figure.chest:
        cost = cost + 0.5 * (1.0 - unit(places[:, figure.head] - high)[:, 1])
    lines = [unit(places[:, one.upper] - places[:, two.upper]) for one, two in filter(None, (figure.legs, figure.arms))]
    for line in lines:
        cost = cost + line[:, 1] ** 2
    if len(lines) == 2:
        cost = cost + 1.0 - dot(*lines)
    for leg in figure.legs:
        joint, offset = leg.tip
        end = moving.point(joint, offset)[frames]
        upper, lower = places[:, leg.upper], places[:, leg.lower]
        length = norm(lower - upper) + norm(end - lower)
        straight = norm(end - upper) / np.where(length > 0.0, length, 1.0)
        cost = cost + 1.5 * np.maximum(0.0, 1.0 - straight)
    return np.asarray(cost)


def _middle(places: Floats, pair: Sequence[Limb], otherwise: int) -> Floats:
    uppers = [limb.upper for limb in pair]
    return np.asarray(places[:, uppers].mean(axis=1) if uppers else places[:, otherwise])


def standing_axes(neutral: World, figure: Figure) -> Floats:
    """(4,) rotation from (left, up, forward) to the world of a standing pose, whose up is Y."""
    up = np.array([0.0, 1.0, 0.0])
    total = np.zeros(3)
    for pair in (figure.legs, figure.arms):
        if pair:
            total += unit(neutral.positions[pair[0].upper] - neutral.positions[pair[1].upper])
    level = total - (total @ up) * up
    return axes_of(unit(level), up) if np.linalg.norm(level) > _LEVEL else IDENTITY


def axes_of(left: Floats, up: Floats) -> Floats:
    """(4,) rotation from (left, up, forward) to these, of which two are given, unit vectors at right angles."""
    return from_matrix(np.stack([left, up, cross(left, up)], axis=1))


# --- the neutral pose


world_of_clip = lru_cache(maxsize=2)(fk_clip)
"""`fk_clip`, kept."""

_MIRRORED = 0.04
"""A rest pose is symmetric if no joint of a limb is farther from its twin's mirror image, in the figure's height."""
_SAMPLED = 15
"""Frames of the clip in which a figure is searched for if the rest pose shows none."""
_COMPARED = 24
"""Most joints whose distances tell two poses apart."""
_ALIKE = 1e-4
"""Two poses have the same shape if no joint is farther apart than this, in sizes of the figure."""


class Body(NamedTuple):
    """A skeleton with its recognised parts and its neutral pose.

    Attributes:
        clip: its motion, or None.
        figure: the figure that it is; None for machines.
        slots: joints by slot.
        moving: world of all frames of the clip (F, J, ...), or None.
        neutral: world (J, ...) of the neutral pose.
        axes: (4,) rotation from (left, up, forward) to the world of the neutral pose.
        reference: "rest" or a frame.
        trusted: the neutral pose is an upright, symmetric rest pose, or one that the user chose.
        upright: (J, 4) rotation from (left, up, forward) to each joint's frame in a person who stands upright: see
            `standing_joints`.
    """

    skeleton: Skeleton
    clip: Clip | None
    figure: Figure | None
    slots: Mapping[str, int]
    moving: World | None
    neutral: World
    axes: Floats
    reference: str | int
    trusted: bool
    upright: Floats


def bodies_of(
    source: tuple[Skeleton, Clip | None],
    target: tuple[Skeleton, Clip | None],
    references: tuple[Reference, Reference] = ("auto", "auto"),
) -> tuple[Body, Body]:
    """The bodies of source and target, each given as a skeleton with its clip.

    Of two equal trees of which only one shows a figure, the other is taken for the same figure.
    """
    sides = (source, target)
    figures = [_figure_of(*side) for side in sides]
    slots = [{} if each is None else find_slots(side[0], each) for side, each in zip(sides, figures, strict=True)]
    if is_same_tree(source[0], target[0]):
        said = [sum(bool(body_part(name).part) for name in side[0].names) for side in sides]
        shown = [each is not None and each.upright for each in figures]
        best = max((0, 1), key=lambda index: (figures[index] is not None, said[index], shown[index]))
        best_one = figures[best]
        if best_one is not None:
            # In an upside-down rest pose, arms look like legs.
            alike = [each is not None and _structure(each) == _structure(best_one) for each in figures]
            figures = [
                each if upright and same else replace(best_one, upright=False)
                for each, upright, same in zip(figures, shown, alike, strict=True)
            ]
        slots = [slots[best], slots[best]]
    return (
        _body(*source, references[0], "source", figures[0])._replace(slots=slots[0]),
        _body(*target, references[1], "target", figures[1])._replace(slots=slots[1]),
    )


@lru_cache(maxsize=2)
def _body(skeleton: Skeleton, clip: Clip | None, reference: Reference, side: str, figure: Figure | None) -> Body:
    """One side of a retargeting without slots: its figure, neutral pose and axes.

    It is kept, as the world of its clip is: a motion goes onto several figures, or again with other choices.

    ``reference``: "auto", "rest" or a frame of the clip; ``side``: "source" or "target", for messages.

    Raises:
        InputError: a frame that the clip does not have.
    """
    moving = None if clip is None else world_of_clip(skeleton, clip)
    rest = rest_world(skeleton)
    trusted = figure is not None and figure.upright and _is_symmetric(skeleton, figure)
    frame: int | None = None
    if isinstance(reference, int):
        if clip is None:
            raise InputError(f"{side} reference: expected rest, found frame {reference}: there is no motion")
        try:
            clip.check_frame(reference)
        except InputError as error:
            raise InputError(f"{side} reference: {error}") from None
        frame = reference
    elif reference == "auto" and not trusted and moving is not None and figure is not None:
        frame = neutral_frame(moving, figure)
    neutral = rest if frame is None or moving is None else _pose_of(moving, frame)
    if frame is None and figure is not None and figure.upright:
        axes = _axes_at_rest(figure)
    elif figure is not None:
        axes = standing_axes(neutral, figure)
    else:
        axes = IDENTITY
    upright = multiply(conjugate(neutral.rotations), axes)
    chosen = trusted and frame is None
    if figure is not None and reference == "auto":
        upright = standing_joints(skeleton, figure, moving, upright, trusted=trusted)
    return Body(skeleton, clip, figure, {}, moving, neutral, axes, "rest" if frame is None else frame, chosen, upright)


def _figure_of(skeleton: Skeleton, clip: Clip | None) -> Figure | None:
    """The figure in the rest pose; if that shows none, the one that most sampled frames of the clip show."""
    figure = find_figure(skeleton)
    if figure is not None and (figure.upright or all(limb.named for limb in figure.limbs)):
        return figure
    fallback = figure or find_figure(skeleton, any_rest=True)
    if clip is None or (fallback is not None and all(limb.named for limb in fallback.limbs)):
        return fallback
    seen = []
    for frame in np.unique(np.linspace(0, len(clip) - 1, _SAMPLED).astype(int)).tolist():
        pose = clip.pose(frame)
        posed = replace(
            skeleton,
            rest_rotations=pose.rotations,
            offsets=pose.translations,
            limits=(None,) * len(pose.rotations),
            poses={},
        )
        if (found := find_figure(posed)) is not None:
            seen.append(found)
    if not seen:
        return fallback
    counts = Counter(map(_structure, seen))
    best = counts.most_common(1)[0][0]
    found = next(each for each in seen if _structure(each) == best)
    # The directions that these frames show are not those of the rest pose.
    return replace(found, upright=False)


def _structure(figure: Figure) -> tuple[object, ...]:
    limbs = tuple((limb.kind, limb.side, limb.upper, limb.lower, limb.end) for limb in figure.limbs)
    return (*limbs, figure.pelvis, figure.chest, figure.head)


@lru_cache(maxsize=16)
def _is_symmetric(skeleton: Skeleton, figure: Figure) -> bool:
    """Whether at rest the right limbs are mirror images of the left ones."""
    rest = rest_world(skeleton)
    height = float(np.ptp(rest.positions @ figure.up))
    limbs = rest_limbs(skeleton, figure)
    for places in (limbs[: len(figure.arms)], limbs[len(figure.arms) :]):
        if not len(places):
            continue
        middle = 0.5 * (places[0][0] + places[1][0])
        away = ((places[0] - middle) @ figure.left)[:, None] * figure.left
        if float(norm(places[0] - 2.0 * away - places[1]).max()) > _MIRRORED * height:
            return False
    return True


@lru_cache(maxsize=16)
def _axes_at_rest(figure: Figure) -> Floats:
    """(4,) rotation from (left, up, forward) to the world at rest."""
    return frozen(axes_of(figure.left, figure.up))


def _pose_of(moving: World, frame: int) -> World:
    """One frame of a motion, which may be kept longer than that is."""
    return World(moving.positions[frame].copy(), moving.rotations[frame].copy())


def neutral_at(body: Body, reference: str | int) -> Body:
    """The body with another neutral pose: "rest" or a frame of its clip."""
    at = rest_world(body.skeleton)
    if isinstance(reference, int) and body.moving is not None:
        at = _pose_of(body.moving, reference)
    return body._replace(neutral=at, reference=reference, trusted=True)


def matching_poses(source: Body, target: Body) -> tuple[tuple[str | int, str | int], Floats] | None:
    """A pose of each of two equal trees in which they have the same shape, if there is one.

    Tried in order: both rest poses; the rest pose of one and a frame of the other; the neutral frame of one and any
    frame of the other.

    Returns:
        "rest" or a frame of the source and of the target, and the rotation (4,) from the target's world to the
        source's; None if no two poses match.
    """
    bodies = (source, target)
    rests = [rest_world(body.skeleton).positions for body in bodies]
    sizes = [float(norm(body.skeleton.offsets[1:]).sum()) for body in bodies]
    if not min(sizes) > 0.0:
        return None  # bones of no length have no shape
    clips = [None if body.moving is None else body.moving.positions for body in bodies]
    tries: list[tuple[tuple[str | int, Floats], int]] = [(("rest", rests[1]), 0), (("rest", rests[0]), 1)]
    for index, body in enumerate(bodies):
        if isinstance(body.reference, int) and clips[index] is not None:
            tries.append(((body.reference, body.neutral.positions), 1 - index))
    for (name, places), side in tries:
        others = rests[side][None] if clips[side] is None else np.concatenate([rests[side][None], clips[side]])
        at = _most_alike(others, places, sizes[1 - side] / sizes[side])
        found: str | int = "rest" if at == 0 else at - 1
        turn = _turn_between(others[at], places) if side == 0 else _turn_between(places, others[at])
        if turn is not None:
            return ((found, name) if side == 0 else (name, found)), turn
    return None


def _most_alike(frames: Floats, places: Floats, scale: float) -> int:
    """Index of the pose of (F, J, 3) whose distances between joints, scaled, are nearest to those of (J, 3)."""
    some = np.unique(np.linspace(0, len(places) - 1, _COMPARED).astype(np.intp))
    left, right = (some[index] for index in np.triu_indices(len(some), 1))
    wanted = norm(places[left] - places[right])
    found = norm(frames[:, left] - frames[:, right])
    return int(np.argmin(np.abs(scale * found - wanted).sum(axis=1)))


def _turn_between(its: Floats, mine: Floats) -> Floats | None:
    """(4,) the rotation of the similarity from ``mine`` to ``its`` (J, 3); None if their shapes differ."""
    a, b = its - its.mean(axis=0), mine - mine.mean(axis=0)
    sizes = np.linalg.norm(a), np.linalg.norm(b)
    if not min(sizes) > 0.0:
        return None
    a, b = a / sizes[0], b / sizes[1]
    u, _, vt = np.linalg.svd(a.T @ b)
    turn = u @ np.diag([1.0, 1.0, np.linalg.det(u @ vt)]) @ vt
    if float(norm(a - b @ turn.T).max()) > _ALIKE:
        return None
    return from_matrix(turn)
