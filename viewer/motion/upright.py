"""How each joint of a figure is turned while the figure stands upright: by its rest pose, its motion and its bones.

An upright, symmetric rest pose says it, but for one thing: captured feet may stand on their edges by it, because
their frames lean with the legs, which are apart at rest. Motion shows that. Without such a rest pose, the most neutral
frames of the motion are averaged. That depends on what the person does, so that bones go first where they say more.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from viewer.skeleton import Figure, Limb, Skeleton, World
from viewer.skeleton.tree import rest_world
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    between,
    conjugate,
    from_axis_angle,
    from_matrix,
    multiply,
    normalized,
    rotate,
)
from viewer.spatial.smoothing import slopes
from viewer.spatial.vectors import cross, dot, norm, unit

_SEARCHED = 400
"""Most frames that are compared to find a neutral one."""
_AVERAGED, _STANDING = 0.25, 0.3
"""Shares of the frames that are averaged: the most neutral ones, and for each foot those in which it stands."""
_AS_NEUTRAL = 1.5
"""Frames are averaged if they are at most this many times as far from neutral as the best one."""
_LEVEL = 0.2
"""A line shows a direction if its part across the others is at least this long (of a unit vector)."""
_ROLLED = np.radians(8.0)
"""Feet that stand on their edges by more than this, both outwards or both inwards, are flat there."""
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

    Args:
        skeleton: its joints.
        figure: what they are.
        moving: all frames of its motion (F, J, ...), or None.
        upright: (J, 4) by the neutral pose alone.
        trusted: that is an upright, symmetric rest pose.
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
    side = np.where(np.einsum("fji,ji->fj", seen, upright) < 0.0, -1.0, 1.0)
    found = normalized((side[..., None] * seen).sum(axis=0))
    feet = [_foot(leg) for leg in figure.legs]
    for foot, up in zip(feet, _ups_in_feet(moving, feet, found), strict=True):
        found[foot] = multiply(found[foot], between(_UP, up))
    return found


def _flat_feet(moving: World, figure: Figure, upright: Floats) -> Floats:
    """(J, 4) with feet rolled as in the motion, if by the rest pose they would be on their edges.

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
    """(J, 4) with what the skeleton's bones show, whatever the pose.

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
    """(3,) where a limb begins."""
    return np.asarray(world.positions[limb.girdle[0] if limb.girdle else limb.upper])


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
