"""Pairs the joints of two bodies, and turns the target's joints in the world as the source's are.

With anatomical frames A (`anatomy.py`) that is W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take
their turns from a curve.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.motion.anatomy import Frames, aligned_frames, anatomical_frames, same_bones
from viewer.motion.limb_chain import bones_of, is_hinged, limb_points, posed_by_hinges
from viewer.motion.reference import Body, matching_poses, neutral_at
from viewer.skeleton import Limb, Skeleton, World, at_or_below
from viewer.skeleton.coordinates import nearest_turns
from viewer.skeleton.figure import NECK, SPINE
from viewer.skeleton.joint_map import is_same_tree, joints_of_chain
from viewer.skeleton.kinematics import fk_turned
from viewer.skeleton.limbs import leg_length as rest_leg_length
from viewer.skeleton.transfer import leg_ratio
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import (
    IDENTITY,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    hemisphere_continuous,
    multiply,
    norm,
    normalized,
    rotate,
    slerp,
    unit,
)
from viewer.spatial.smoothing import low_pass

_PLAIN = 0.4
"""Sine of the bend at which the plane of a limb counts as much for its hinge as how the upper bone is turned."""
_MOVED = 1e-4
"""A joint translates in a clip if it leaves its offset by this part of the figure's leg."""
_PACE = 5.0
"""Hertz of the filter by which limbs make up for something: faster changes are noise."""
_LEAP = 1.0
"""Radians by which a bone turns from one frame to the next where a capture leaps, as after a calibration pose."""


class Pairing(NamedTuple):
    """Two bodies whose joints are paired, as retargeting needs them.

    Attributes:
        source: with motion.
        target: gets it.
        pairs: the source's joints by the target's.
        frames: anatomical frames of both, by joint; see `anatomy`.
        moving: the source's motion in the world.
        scale: of the path.
        ratio: leg length of the target by that of the source.
        arms, legs: limbs of both figures whose upper and lower bones are paired: source, target.
    """

    source: Body
    target: Body
    pairs: dict[int, int]
    frames: tuple[Frames, Frames]
    moving: World
    scale: float
    ratio: float
    arms: list[tuple[Limb, Limb]]
    legs: list[tuple[Limb, Limb]]


def paired_limbs(source: Body, target: Body, pairs: dict[int, int], kind: str) -> list[tuple[Limb, Limb]]:
    """Arms or legs of both figures whose upper and lower bones are paired: source, target."""
    if source.figure is None or target.figure is None:
        return []
    return [
        (one, two)
        for one in source.figure.limbs
        for two in target.figure.limbs
        if one.kind == kind and pairs.get(two.upper) == one.upper and pairs.get(two.lower) == one.lower
    ]


def comparable_bodies(
    source: Body, target: Body, pairs: dict[int, int], *, free: bool
) -> tuple[Body, Body, tuple[Frames, Frames]]:
    """The bodies and their anatomical frames."""
    if free and is_same_tree(source.skeleton, target.skeleton) and all(s == t for t, s in pairs.items()):
        found = matching_poses(source, target)
        if found is not None:
            (its, mine), turn = found
            source, target = neutral_at(source, its), neutral_at(target, mine)
            frames = conjugate(source.neutral.rotations), conjugate(multiply(turn, target.neutral.rotations))
            return source, target, frames
        if source.figure is not None and target.figure is not None:
            return source, target, same_bones(source, target, anatomical_frames(source, target))
    if source.figure is not None and target.figure is not None:
        return source, target, anatomical_frames(source, target)
    return source, target, aligned_frames(source, target, pairs)


def leg_length_ratio(source: Body, target: Body) -> float:
    """Leg length of the target by that of the source; an InputError for legs of length 0."""
    its, mine = leg_length(source), leg_length(target)
    if its is None or mine is None:
        return leg_ratio(source.skeleton, target.skeleton)
    for body, length, side in ((source, its, "source"), (target, mine, "target")):
        if not length > 0.0:
            raise InputError(f"{side} {quote(body.skeleton.name)}: expected legs of some length, found 0")
    return mine / its


def leg_length(body: Body) -> float | None:
    """Length of thigh and shank in the neutral pose, metres, the mean of both legs; None without legs."""
    if body.figure is None or not body.figure.legs:
        return None
    if body.reference == "rest":
        return rest_leg_length(body.skeleton, body.figure)
    total = 0.0
    for leg in body.figure.legs:
        joint, offset = leg.tip
        end = body.neutral.positions[joint] + rotate(body.neutral.rotations[joint], np.asarray(offset))
        upper, lower = body.neutral.positions[leg.upper], body.neutral.positions[leg.lower]
        total += float(np.linalg.norm(lower - upper) + np.linalg.norm(end - lower))
    return total / len(body.figure.legs)


def wanted_turns(pairing: Pairing) -> dict[int, Floats]:
    """World rotations (F, 4) of the target's joints that follow the source, by joint."""
    source, target = pairing.source, pairing.target
    pairs, (its, mine) = pairing.pairs, pairing.frames

    def parts(joints: Iterable[int]) -> Floats:
        """(N, F, 4) parts of the source in the world."""
        some = list(joints)
        return multiply(pairing.moving.rotations.swapaxes(0, 1)[some], its[some, None])

    def followed(joints: Iterable[int], turned: Floats) -> dict[int, Floats]:
        """World rotations (F, 4) of the target's joints whose parts have the given rotations."""
        some = list(joints)
        return dict(zip(some, multiply(turned, conjugate(mine[some, None])), strict=True))

    some = list(pairs.values())
    across = multiply(its[some], conjugate(mine[list(pairs)]))
    wanted = dict(zip(pairs, multiply(pairing.moving.rotations.swapaxes(0, 1)[some], across[:, None]), strict=True))
    its_figure, figure = source.figure, target.figure
    if its_figure is not None and figure is not None and figure.trunk not in wanted:
        # A body that hangs on its chest, as in MuJoCo's humanoids, turns as the chest does.
        wanted |= followed(
            [figure.trunk], parts([its_figure.chest if figure.trunk == figure.chest else its_figure.pelvis])
        )
    hinged = [
        pair
        for pair in (*pairing.arms, *pairing.legs)
        if target.skeleton.kinds[pair[1].lower].hinged and not _are_alike(pairing)
    ]
    if hinged:
        uppers = [limb.upper for _, limb in hinged]
        wanted |= dict(
            zip(uppers, _in_plane(pairing, hinged, np.stack([wanted[each] for each in uppers])), strict=True)
        )
    curve = _curve(source, target, SPINE) | _curve(source, target, NECK)
    if curve:
        before, after, shares = zip(*curve.values(), strict=True)
        wanted |= followed(curve, slerp(parts(before), parts(after), np.array(shares)[:, None]))
    return wanted


def _are_alike(pairing: Pairing) -> bool:
    """Whether both are the same robot: its hinges then turn as in the source, without being aimed."""
    its, mine = pairing.source.skeleton, pairing.target.skeleton
    return its.kinds[1:] == mine.kinds[1:] and is_same_tree(its, mine)


def _in_plane(pairing: Pairing, limbs: Sequence[tuple[Limb, Limb]], uppers: Floats) -> Floats:
    """World rotations (N, F, 4) of upper bones that set their hinges perpendicular to the planes of the source's limbs.

    A ball bends to any side, a hinge to one; where the limb is bent, the twist of the upper bone makes up for it. The
    less the limb is bent, the less it shows a plane, and a sideways bend is left out: with p the angle from the hinge
    to the normal of the plane, and s the sine of the bend, the twist is the half of the angle of (s^2 sin 2p, _PLAIN^2
    + s^2 cos 2p). It does not jump where the limb changes sides, unless the limb bends far.

    ``limbs`` (N,): of source and target; ``uppers`` (N, F, 4): world rotations of the upper bones as the source's.
    """
    shoulder, elbow, wrist = (
        np.stack(each) for each in zip(*(limb_points(its, pairing.moving) for its, _ in limbs), strict=True)
    )
    along = unit(elbow - shoulder)
    normal = cross(along, unit(wrist - elbow))
    own = pairing.frames[1][[limb.upper for _, limb in limbs], None]
    axis = rotate(multiply(uppers, own), np.array([1.0, 0.0, 0.0]))
    turn = 2.0 * np.arctan2(dot(along, cross(axis, normal)), dot(axis, normal))
    plain = dot(normal, normal)
    turn = 0.5 * np.arctan2(plain * np.sin(turn), _PLAIN**2 + plain * np.cos(turn))
    return multiply(from_axis_angle(along, turn), uppers)


def _curve(source: Body, target: Body, chain: str) -> dict[int, tuple[int, int, float]]:
    """By joint of a target's chain that has another number of joints: two joints of the source, and a share.

    Spines are counted from the pelvis, necks measured along their bones up to the head.
    """
    its, mine = (joints_of_chain(body.slots, chain) for body in (source, target))
    if len(its) == len(mine) or not mine or source.figure is None or target.figure is None:
        return {}
    if chain == SPINE:
        knots, places = [source.figure.pelvis, *its], np.arange(1, len(mine) + 1) / len(mine)
        at = np.arange(len(knots)) / max(len(knots) - 1, 1)
    else:
        if source.figure.head is None or target.figure.head is None:
            return {}
        knots = [*its, source.figure.head] if its else [source.figure.chest, source.figure.head]
        at = _along(source, knots)
        # The head's own place is the end of both; a neck's joints turn what is above them.
        places = (
            _along(target, [*mine, target.figure.head])[:-1] if its else np.arange(1, len(mine) + 1) / (len(mine) + 1)
        )
    found = {}
    for joint, place in zip(mine, places.tolist(), strict=True):
        after = min(int(np.searchsorted(at, place - 1e-9)), len(knots) - 1)
        before = max(after - 1, 0)
        gap = float(at[after] - at[before])
        found[joint] = (
            knots[before],
            knots[after],
            float(np.clip((place - at[before]) / gap, 0.0, 1.0)) if gap > 0.0 else 1.0,
        )
    return found


def _along(body: Body, joints: list[int]) -> Floats:
    """(N,) arc length along a chain in the neutral pose, 0 to 1; by number of joints if it has no length."""
    places = body.neutral.positions[joints]
    lengths = np.concatenate([[0.0], np.cumsum(norm(np.diff(places, axis=0)))])
    return lengths / lengths[-1] if lengths[-1] > 0.0 else np.arange(len(joints)) / max(len(joints) - 1, 1)


def turned(pairing: Pairing, wanted: dict[int, Floats]) -> tuple[Floats, Floats, World]:
    """Local rotations and translations and the world pose of the target with its joints turned, its root at rest."""
    skeleton = pairing.target.skeleton
    count = len(pairing.moving.positions)
    translations = np.repeat(skeleton.offsets[None], count, axis=0)
    _translated(pairing, translations)
    # The joint axis comes first in the arrays: joints that simply turn as wanted are turned at once, the others after
    # those above them.
    rotations = np.repeat(skeleton.rest_rotations[:, None], count, axis=1)
    world = rotations.copy()
    free = [joint for joint in wanted if skeleton.kinds[joint].turns_freely]
    if free:
        world[free] = np.stack([wanted[joint] for joint in free])
    posed: dict[int, Floats] = {}
    for joints in _others(skeleton, free):
        above = skeleton.parents[joints]
        over = np.where((above >= 0)[:, None, None], world[above], IDENTITY)
        asked = [place for place, joint in enumerate(joints) if joint in wanted]
        some = [joints[place] for place in asked]
        if some:
            turns = multiply(conjugate(over[asked]), np.stack([wanted[joint] for joint in some]))
            rotations[some] = nearest_turns(skeleton, some, turns)
        for place, joint in enumerate(joints):
            posed |= _aimed(pairing, wanted, joint, over[place])
            if joint in posed:
                rotations[joint] = posed[joint]
        world[joints] = multiply(over, rotations[joints])
    _make_up_slowly(pairing, wanted, world, free)
    inner = [joint for joint in free if skeleton.parents[joint] >= 0]
    rotations[free] = world[free]
    rotations[inner] = multiply(conjugate(world[skeleton.parents[inner]]), world[inner])
    local = np.ascontiguousarray(rotations.swapaxes(0, 1))
    return local, translations, fk_turned(skeleton.parents, normalized(world), translations)


def _make_up_slowly(pairing: Pairing, wanted: dict[int, Floats], world: Floats, free: Collection[int]) -> None:
    """Turn hands and feet below hinges, in place: they make up for what these cannot do no faster than people move.

    Faster changes are noise of the source's elbow or knee about other axes, and of the upper bone.

    ``wanted`` (F, 4): world rotations, by joint; ``world`` (J, F, 4): those that the joints have so far; ``free``: the
    joints that have the wanted ones.
    """
    skeleton = pairing.target.skeleton
    above = {joint: int(skeleton.parents[joint]) for joint in free}
    ends = [joint for joint, over in above.items() if over >= 0 and over not in above and over in wanted]
    if not ends:
        return
    over = [above[joint] for joint in ends]
    should, turns = np.stack([wanted[joint] for joint in over]), world[over]
    slow = slowed(pairing, multiply(conjugate(turns), should).swapaxes(0, 1)).swapaxes(0, 1)
    corrections = multiply(multiply(turns, slow), conjugate(should))
    below = np.stack([at_or_below(skeleton, end) for end in ends])
    some = below.any(axis=0)
    world[some] = multiply(corrections[below.argmax(axis=0)[some]], world[some])


def slowed(pairing: Pairing, turns: Floats) -> Floats:
    """Rotations (F, K, 4) that change no faster than people move, except where the source's limbs leap."""
    clip = pairing.source.clip
    assert clip is not None
    slow = hemisphere_continuous(turns)
    for first, last in pairwise([0, *leaps(pairing).tolist(), len(turns)]):
        slow[first:last] = normalized(low_pass(slow[first:last], 1.0 / clip.frame_time, _PACE))
    return slow


def leaps(pairing: Pairing) -> Ints:
    """The frames to which the source's limbs leap, as after a calibration pose."""
    limbs = [its for its, _ in (*pairing.arms, *pairing.legs)]
    bones = pairing.moving.rotations[:, [limb.upper for limb in limbs] + [limb.lower for limb in limbs]]
    return np.flatnonzero((np.abs(dot(bones[1:], bones[:-1])) < np.cos(0.5 * _LEAP)).any(axis=1)) + 1


def _aimed(pairing: Pairing, wanted: dict[int, Floats], joint: int, over: Floats) -> dict[int, Floats]:
    """Local rotations (F, 4) by joint of a limb whose upper joint this is, and is of hinges that aim it.

    ``wanted`` (F, 4): world rotations, by joint; ``over`` (F, 4): world rotations of what carries the joint.
    """
    skeleton, figure = pairing.target.skeleton, pairing.target.figure
    for _, limb in (*pairing.arms, *pairing.legs):
        if figure is not None and joint == limb.upper and is_hinged(skeleton, limb) and not _are_alike(pairing):
            bones = bones_of(skeleton, limb)
            elbow = rotate(wanted[joint], bones.upper)
            wrist = elbow + rotate(wanted[limb.lower], bones.lower)
            return posed_by_hinges(skeleton, figure, limb, over, elbow, wrist, wanted[joint])
    return {}


def _others(skeleton: Skeleton, free: Iterable[int]) -> Iterable[list[int]]:
    """The joints that are not free, in lists: no joint's parent is in its own list or a later one."""
    rounds: dict[int, list[int]] = {}
    found = {-1: 0, **dict.fromkeys(free, 0)}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if joint not in found:
            found[joint] = found[parent] + 1
            rounds.setdefault(found[joint], []).append(joint)
    return rounds.values()


def _translated(pairing: Pairing, translations: Floats) -> None:
    """Translate, in place, joints below the root that both clips translate as the source does."""
    its, mine = pairing.source.clip, pairing.target.clip
    if its is None or mine is None or pairing.source.figure is None:
        return
    kept = {pairing.target.slots.get("root"), pairing.target.slots.get("trunk"), pairing.target.slots.get("pelvis")}
    parents, other_parents = pairing.target.skeleton.parents, pairing.source.skeleton.parents
    places = {joint: column for column, joint in enumerate(its.translated.tolist())}
    followed = []
    for joint in mine.translated.tolist():
        other = pairing.pairs.get(joint, -1)
        above, its_above = int(parents[joint]), int(other_parents[other]) if other >= 0 else -1
        if other in places and joint not in kept and above >= 0 and pairing.pairs.get(above) == its_above:
            followed.append((joint, other, above, its_above))
    if not followed:
        return
    ratio = leg_ratio(pairing.source.skeleton, pairing.target.skeleton)
    least = _MOVED * (leg_length(pairing.source) or 1.0)
    for joint, other, above, its_above in followed:
        moved = its.translations[:, places[other]] - pairing.source.skeleton.offsets[other]
        if float(np.abs(moved).max()) > least:
            turn = multiply(pairing.frames[1][above], conjugate(pairing.frames[0][its_above]))
            translations[:, joint] += ratio * rotate(turn, moved)
