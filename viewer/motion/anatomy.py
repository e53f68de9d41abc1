"""Anatomical frames: a constant rotation per joint and part of the body, which makes joint frames comparable.

For a joint with the world rotation W, the frame A from the part's own axes to the joint's gives K = W A: how the part
stands in the world, independently of the frames, names and rest poses of the files. The own axes (across, along,
cross):

limbs    along the bone; across it, about which the limb bends; the third
hands    along the palm; across the knuckles, if both skeletons have fingers, otherwise as the forearm when neutral
fingers  along the bone; across the palm; where a last bone has no end, those of the bone above it when neutral
others   left, up and forward of the figure when neutral
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from viewer.motion.reference import Body
from viewer.motion.turning import is_line, kabsch
from viewer.skeleton import Figure, Limb, Skeleton, World, at_or_below, rest_world
from viewer.skeleton.limbs import ARM, bends_towards, flexion_axis, places_of_limbs
from viewer.skeleton.names import FINGERS
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import (
    between,
    conjugate,
    cross,
    dot,
    from_matrix,
    hemisphere_continuous,
    log,
    multiply,
    norm,
    normalized,
    rotate,
    unit,
)

_MOVES = np.radians(8.0)
"""A motion shows the axis about which a limb bends if it turns by this much about it ..."""
_MAINLY = 4.0
"""... and its variance is that many times the next direction's."""
_SAMPLED = 4000
"""Most frames of a clip that are used for it."""
_SHORT = 1e-3
"""Points nearer together than this part of the limb's length define no direction."""
_SQUARE = 0.2
"""Sine of the least angle between two directions that span a frame."""

_ALONG = 1e-3
"""Bones of two skeletons of one tree point the same way if their directions differ by no more than this."""
_NARROW = 0.1
"""Fingers whose roots are nearer together than this, in palm lengths, do not define the palm's plane."""

Frames = Floats
"""(J, 4) from the part's own axes to the joint's frame."""


class _Axis(NamedTuple):
    """The axis about which a limb bends (3,), in the frames of its lower and of its upper joint."""

    lower: Floats
    upper: Floats


def anatomical_frames(source: Body, target: Body) -> tuple[Frames, Frames]:
    """The frames of all slots that both bodies have, by joint, of the source and of the target.

    A direction that only one of them shows, such as that of the fingers, is used for neither. Joints without a slot
    have the figure's axes in the neutral pose.
    """
    bodies, frames = (source, target), (source.upright.copy(), target.upright.copy())
    names = _common_limbs(source, target)
    own = [{} if body.figure is None else {(limb.kind, limb.side): limb for limb in body.figure.limbs}
           for body in bodies]  # fmt: skip
    limbs = [[known[name] for known in own] for name in names]
    _limb_frames(bodies, limbs, _bending_axes(bodies, limbs), frames)
    arms = {side: pair for (kind, side), pair in zip(names, limbs, strict=True) if kind == ARM}
    for side, pair in arms.items():
        _hand_frames(bodies, pair, side, frames)
    _finger_frames(bodies, arms, frames)
    return frames


def _hand_frames(bodies: Sequence[Body], limbs: Sequence[Limb], side: str, frames: Sequence[Frames]) -> None:
    """The frames of a hand and what is below it, into ``frames``."""
    fingers = [name for name in FINGERS if all(f"{side} {name} 1" in body.slots for body in bodies)]
    palms = [palm for body in bodies if fingers and (palm := _palm(body, side, fingers)) is not None]
    palm_frames = _framed(*np.stack(palms, axis=1)) if len(palms) == len(bodies) else None
    for index, (body, limb, own) in enumerate(zip(bodies, limbs, frames, strict=True)):
        # Joints that define no frame get that of the bone above them in the neutral pose.
        top = limb.lower
        if limb.end is not None and palm_frames is not None:
            top = limb.end
            own[top] = palm_frames[index]
        above = multiply(body.neutral.rotations[top], own[top])
        below = at_or_below(body.skeleton, limb.lower)
        below[[limb.lower, top]] = False
        own[below] = multiply(conjugate(body.neutral.rotations[below]), above)


def _common_limbs(source: Body, target: Body) -> list[tuple[str, str]]:
    if source.figure is None or target.figure is None:
        return []
    its = {(limb.kind, limb.side) for limb in source.figure.limbs}
    return [key for limb in target.figure.limbs if (key := (limb.kind, limb.side)) in its]


# --- arms and legs


def _bending_axes(bodies: Sequence[Body], limbs: Sequence[Sequence[Limb]]) -> list[list[_Axis]]:
    """The flexion axes of both bodies' limbs: for each, both from motion or both from the rest pose, if possible."""
    moved: list[list[_Axis | None]] = []
    if all(body.moving is not None for body in bodies):
        moved = [_by_motion(body, [pair[side] for pair in limbs]) for side, body in enumerate(bodies)]
    found = []
    for number, pair in enumerate(limbs):
        axes = [each[number] for each in moved]
        if not axes or None in axes:
            axes = [_by_rest(body, limb) for body, limb in zip(bodies, pair, strict=True)]
        if None in axes:
            axes = [axis or _by_motion(body, [limb])[0] for body, limb, axis in zip(bodies, pair, axes, strict=True)]
        found.append([axis or _by_neutral(body, limb) for body, limb, axis in zip(bodies, pair, axes, strict=True)])
    return found


def _by_rest(body: Body, limb: Limb) -> _Axis | None:
    return None if body.figure is None else _rest_axes(body.skeleton, body.figure)[limb.kind, limb.side]


@lru_cache(maxsize=16)
def _rest_axes(skeleton: Skeleton, figure: Figure) -> dict[tuple[str, str], _Axis | None]:
    """The axes in which a figure's limbs bend at rest, by kind and side."""
    # Limits of balls are often derived from a clip, which the other side does not have.
    axes = [flexion_axis(skeleton, figure, limb, by_limits=False) for limb in figure.limbs]
    known = [(limb, axis) for limb, axis in zip(figure.limbs, axes, strict=True) if axis is not None]
    found: dict[tuple[str, str], _Axis | None] = {(limb.kind, limb.side): None for limb in figure.limbs}
    for (limb, _), seen in zip(known, _seen_from_both(known, rest_world(skeleton).rotations), strict=True):
        found[limb.kind, limb.side] = seen
    return found


def _seen_from_both(axes: Sequence[tuple[Limb, Floats]], rotations: Floats) -> list[_Axis]:
    """Axes of limbs (3,), in the frames of the lower joints, with world rotations (J, 4) in which they bend so."""
    uppers, lowers = [limb.upper for limb, _ in axes], [limb.lower for limb, _ in axes]
    own = np.array([axis for _, axis in axes]).reshape(-1, 3)
    across = rotate(conjugate(rotations[uppers]), rotate(rotations[lowers], own))
    return [_Axis(*pair) for pair in zip(own, across, strict=True)]


def _by_motion(body: Body, limbs: Sequence[Limb]) -> list[_Axis | None]:
    """The principal axes of the lower bones' rotations relative to the upper ones; None where there is none."""
    hinged = [body.skeleton.kinds[limb.lower].hinged for limb in limbs]
    balls = [limb for limb, is_hinge in zip(limbs, hinged, strict=True) if not is_hinge]
    shown = iter(_principal_axes(body.moving, balls) if body.moving is not None else [None] * len(balls))
    return [
        (None if body.moving is None else _by_rest(body, limb)) if is_hinge else next(shown)
        for limb, is_hinge in zip(limbs, hinged, strict=True)
    ]


def _principal_axes(moving: World, limbs: Sequence[Limb]) -> list[_Axis | None]:
    """The axes about which the lower bones of limbs turn most in a motion; None where that is not one axis."""
    if not limbs:
        return []
    step = max(1, len(moving.positions) // _SAMPLED)
    world, places = moving.rotations[::step], moving.positions[::step]
    uppers, lowers = [limb.upper for limb in limbs], [limb.lower for limb in limbs]
    turns = hemisphere_continuous(multiply(conjugate(world[:, uppers]), world[:, lowers]))
    mean = normalized(turns.sum(axis=0))
    for _ in range(3):
        away = log(multiply(conjugate(mean), turns))
        half = 0.5 * away.mean(axis=0)
        mean = multiply(mean, normalized(np.concatenate([half, np.ones((len(half), 1))], axis=1)))
    away = log(multiply(conjugate(mean), turns))
    variances, directions = np.linalg.eigh(np.einsum("fni,fnj->nij", away, away) / len(away))
    axes = directions[..., 2]
    ends = np.stack([moving.point(*limb.tip)[::step] for limb in limbs], axis=1)
    bends = cross(places[:, lowers] - places[:, uppers], ends - places[:, lowers])
    back = (rotate(world[:, lowers], axes) * bends).sum(axis=(0, 2)) < 0.0
    axes = np.where(back[:, None], -axes, axes)
    clear = (np.sqrt(np.maximum(variances[:, 2], 0.0)) >= _MOVES) & (variances[:, 2] >= _MAINLY * variances[:, 1])
    seen = rotate(mean, axes)
    return [_Axis(*pair) if is_clear else None for *pair, is_clear in zip(axes, seen, clear.tolist(), strict=True)]


def _by_neutral(body: Body, limb: Limb) -> _Axis:
    """The axis perpendicular to the upper bone and to the direction in which people's limbs bend."""
    figure = body.figure
    assert figure is not None
    left, up, forward = (rotate(body.axes, axis) for axis in np.eye(3))
    standing = replace(figure, left=left, up=up, forward=forward)
    along = unit(body.neutral.positions[limb.lower] - body.neutral.positions[limb.upper])
    axis = cross(along, bends_towards(standing, limb, along))
    lower = rotate(conjugate(body.neutral.rotations[limb.lower]), unit(axis) if axis.any() else left)
    return _seen_from_both([(limb, lower)], body.neutral.rotations)[0]


def _limb_frames(
    bodies: Sequence[Body], limbs: Sequence[Sequence[Limb]], axes: Sequence[Sequence[_Axis]], frames: Sequence[Frames]
) -> None:
    """The frames of the upper and lower bones of limbs that bend about given axes, into ``frames``."""
    if not limbs:
        return
    along, across = [], []
    for side, body in enumerate(bodies):
        assert body.figure is not None
        bones = _bones_along(body.neutral, body.figure)
        along += [bones[pair[side].kind, pair[side].side] for pair in limbs]
        across += [(axis[side].upper, axis[side].lower) for axis in axes]
    found = _framed(np.array(across).reshape(-1, 3), np.concatenate(along))
    for side, (own, part) in enumerate(zip(frames, np.split(found, len(bodies)), strict=True)):
        own[[joint for pair in limbs for joint in (pair[side].upper, pair[side].lower)]] = part


@lru_cache(maxsize=16)
def _bones_along(neutral: World, figure: Figure) -> dict[tuple[str, str], Floats]:
    """By kind and side of each limb of a figure: where its bones point to (2, 3), in the frames of their joints."""
    limbs, bones = figure.limbs, np.diff(places_of_limbs(neutral, figure.limbs), axis=1)
    ways = rotate(conjugate(neutral.rotations[[(limb.upper, limb.lower) for limb in limbs]]), bones)
    return {(limb.kind, limb.side): way for limb, way in zip(limbs, ways, strict=True)}


def _framed(across: Floats, along: Floats) -> Floats:
    """(N, 4) of frames whose second axes lie along directions (N, 3) and whose first are nearest to others (N, 3)."""
    y = unit(along)
    x = across - dot(across, y)[:, None] * y
    short = norm(x) < _SHORT
    if short.any():
        x[short] = rotate(between(np.array([0.0, 1.0, 0.0]), y[short]), np.array([1.0, 0.0, 0.0]))
    x = unit(x)
    return from_matrix(np.stack([x, y, cross(x, y)], axis=-1))


# --- hands


def _palm(body: Body, side: str, fingers: Sequence[str]) -> Floats | None:
    """(2, 3) directions across and along a hand in its frame, from where fingers begin; None if these are in line."""
    hand = body.slots.get(f"{side} hand", -1)
    if hand < 0:
        return None
    here, turn = body.neutral.positions[hand], conjugate(body.neutral.rotations[hand])
    roots = body.neutral.positions[[body.slots[f"{side} {name} 1"] for name in fingers]]
    base: dict[str, Floats] = dict(zip(fingers, rotate(turn, roots - here), strict=True))
    long = [base[name] for name in fingers if name != "thumb"]
    if not long:
        return None
    along = np.asarray(np.mean(long, axis=0))
    across = long[0] - long[-1] if len(long) > 1 else base.get("thumb", along)
    size = float(np.linalg.norm(along))
    span = float(np.linalg.norm(cross(along, across)))
    width = float(np.linalg.norm(across))
    if size <= 0.0 or width < _NARROW * size or span < _SQUARE * size * width:
        return None
    return np.stack([across, along])


def _finger_frames(bodies: Sequence[Body], arms: Mapping[str, Sequence[Limb]], frames: Sequence[Frames]) -> None:
    """The frames of the fingers that both bodies have, by the arms of each side, into ``frames``."""
    common = bodies[0].slots.keys() & bodies[1].slots.keys()
    fingers: list[tuple[str, list[int]]] = []
    straight: list[tuple[str, str]] = []
    across, along = [], []
    for side, pair in arms.items():
        hands = [limb.end for limb in pair if limb.end is not None]
        for finger, number in product(FINGERS if len(hands) == len(pair) else (), range(9)):
            before, slot, following = (f"{side} {finger} {number + more}" for more in (-1, 0, 1))
            if slot not in common:
                continue
            ahead = [way for body in bodies if (way := _ahead(body, slot, following)) is not None]
            if len(ahead) == len(bodies):
                fingers.append((slot, hands))
                across.append(np.eye(3)[2 if finger == "thumb" else 0])
                along.append(ahead)
            elif fingers and fingers[-1][0] == before:
                straight.append((slot, before))
    if not fingers:
        return
    for index, (body, own) in enumerate(zip(bodies, frames, strict=True)):
        joints, hands = [body.slots[slot] for slot, _ in fingers], [each[index] for _, each in fingers]
        palms = multiply(body.neutral.rotations[hands], own[hands])
        back = conjugate(body.neutral.rotations[joints])
        ways = np.array([ahead[index] for ahead in along])
        own[joints] = _framed(rotate(back, rotate(palms, np.array(across))), rotate(back, ways))
        for slot, before in straight:
            last, above = body.slots[slot], body.slots[before]
            turn = multiply(body.neutral.rotations[above], own[above])
            own[last] = multiply(conjugate(body.neutral.rotations[last]), turn)


def _ahead(body: Body, slot: str, following: str) -> Floats | None:
    """World direction (3,) of a finger's bone when neutral, to the next joint or its end site; None without one."""
    joint = body.slots[slot]
    here = body.neutral.positions[joint]
    skeleton = body.skeleton
    if following in body.slots:
        found = body.neutral.positions[body.slots[following]] - here
    else:
        children = np.flatnonzero(skeleton.parents == joint)
        tips = skeleton.tip_offsets[skeleton.tip_parents == joint]
        if len(children):
            found = body.neutral.positions[children[0]] - here
        elif len(tips):
            found = rotate(body.neutral.rotations[joint], tips[0])
        else:
            return None
    return found if np.linalg.norm(found) > 0.0 else None


def aligned_frames(source: Body, target: Body, pairs: Mapping[int, int]) -> tuple[Frames, Frames]:
    """The frames of two skeletons that are not figures: in the neutral poses, paired bones point the same way.

    ``pairs``: joints of the source by joints of the target.
    """
    its, mine = source.neutral, target.neutral
    known = list(pairs.items())
    yaw = _level_turn(mine.positions[[t for t, _ in known]], its.positions[[s for _, s in known]])
    frames = conjugate(its.rotations), multiply(conjugate(mine.rotations), conjugate(yaw))
    below = _only_paired_below(source.skeleton, set(pairs.values()))
    below_mine = _only_paired_below(target.skeleton, set(pairs))
    for joint, other in pairs.items():
        end, other_end = below_mine.get(joint), below.get(other)
        if end is None or other_end is None or pairs.get(end) != other_end:
            continue
        bone = rotate(yaw, mine.positions[end] - mine.positions[joint])
        wanted = its.positions[other_end] - its.positions[other]
        if bone.any() and wanted.any():
            turn = between(bone, wanted)
            frames[1][joint] = multiply(frames[1][joint], conjugate(turn))
    return frames


def same_bones(source: Body, target: Body, frames: tuple[Frames, Frames]) -> tuple[Frames, Frames]:
    """The frames of two bodies of one tree, changed so that all bones point the same way, if they can.

    No pose is needed: joints of one tree have the same bones in frames of their own. Those with bones on one line are
    turned the least; all others are known. The first joint of the body hangs on nothing.
    """
    mine = frames[1].copy()
    for joint in range(len(source.skeleton)):
        bones = [_bones_of(body.skeleton, joint) for body in (source, target)]
        if not len(bones[0]) or len(bones[0]) != len(bones[1]):
            continue
        its = multiply(frames[0][joint], conjugate(mine[joint]))
        if is_line(bones[0], _ALONG):
            turn = multiply(between(rotate(its, bones[1][0]), bones[0][0]), its)
        else:
            turn = kabsch(bones[1], bones[0][None], np.ones(len(bones[0])))[0]
        if np.abs(rotate(turn, bones[1]) - bones[0]).max() > _ALONG:
            return frames
        mine[joint] = multiply(conjugate(turn), frames[0][joint])
    return frames[0], mine


def _bones_of(skeleton: Skeleton, joint: int) -> Floats:
    """(B, 3) unit directions in a joint's frame to its children and end sites that are away from it."""
    ways = np.concatenate(
        [skeleton.offsets[skeleton.parents == joint], skeleton.tip_offsets[skeleton.tip_parents == joint]]
    )
    return unit(ways[norm(ways) > 0.0])


def _level_turn(points: Floats, others: Floats) -> Floats:
    """(4,) the rotation about Y that brings points (N, 3) nearest to others (N, 3)."""
    a, b = points - points.mean(axis=0), others - others.mean(axis=0)
    sine = float((a[:, 2] * b[:, 0] - a[:, 0] * b[:, 2]).sum())
    cosine = float((a[:, 0] * b[:, 0] + a[:, 2] * b[:, 2]).sum())
    angle = np.arctan2(sine, cosine) if sine or cosine else 0.0
    return np.array([0.0, np.sin(0.5 * angle), 0.0, np.cos(0.5 * angle)])


def _only_paired_below(skeleton: Skeleton, paired: set[int]) -> dict[int, int]:
    """By paired joint the next paired joint below it, where there is one only."""
    below: dict[int, list[int]] = {}
    for joint in sorted(paired):
        above = int(skeleton.parents[joint])
        while above >= 0 and above not in paired:
            above = int(skeleton.parents[above])
        if above >= 0:
            below.setdefault(above, []).append(joint)
    return {joint: found[0] for joint, found in below.items() if len(found) == 1}
