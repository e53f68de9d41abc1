"""The body of one skeleton posed in all frames with the motion of another, without regard to limits and hinges' stacks.

1. Anatomical frames A (`anatomy.py`) make joint frames comparable: the target's joint turns in the world as the
   source's does, W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take their turns from a curve.
2. The middle of the hips follows in the ratio of the legs' lengths, higher where the target's ankles are.
3. Ankles, and hands if asked, are brought to the scaled places by two-bone IK; the feet keep their turns.

A hand that touches is near the other hand, the head, the chest or a thigh: it keeps its place relative to that, in the
ratio of the arms' lengths; otherwise its arm determines where it goes. The farther it is away, the less of that place
it keeps, so that no moment of first touch shows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.choices import FEET, HANDS, Feet, Hands
from viewer.errors import InputError, quote
from viewer.motion.anatomy import Frames
from viewer.motion.capture_faults import bridged
from viewer.motion.contacts import Contacts, MovingFeet, contacts_of, foot_places, moving_feet
from viewer.motion.held_ends import Motion
from viewer.motion.in_plane import body_moves, in_plane, plane_of, straightened
from viewer.motion.limb_chain import (
    LimbGoals,
    bones_of,
    is_hinged,
    limb_joints,
    limb_points,
    longest_reach,
    pose_limbs,
    posed_by_hinges,
)
from viewer.motion.pairing import (
    Pairing,
    comparable_bodies,
    leaps,
    leg_length_ratio,
    paired_limbs,
    slowed,
    turned,
    wanted_turns,
)
from viewer.motion.plant import planted_motion
from viewer.motion.reference import Body, standing_frames, world_of_clip
from viewer.motion.skating import slide_of
from viewer.skeleton import Clip, JointKind, Limb, Skeleton, World, at_or_below, fk_arrays
from viewer.skeleton.clip import trusted_like
from viewer.skeleton.coordinates import nearest_turns
from viewer.skeleton.figure import HEAD
from viewer.skeleton.joint_map import Map, is_same_tree
from viewer.skeleton.kinematics import fk_below
from viewer.skeleton.limbs import ARM, LEG
from viewer.spatial.checks import Bools, Floats, Ints, as_flag, as_number
from viewer.spatial.quaternion import (
    IDENTITY,
    angle_between,
    conjugate,
    dot,
    hemisphere_continuous,
    multiply,
    norm,
    normalized,
    rotate,
)
from viewer.spatial.smoothing import ease, low_pass, median

_BEYOND, _ELSEWHERE = 0.01, np.radians(30.0)
"""Metres by which hands may miss what arms are too short for, and radians by which a body may be turned otherwise,
before a warning says so."""
_THERE = 1e-6
"""Limbs are not changed if their end is nearer to its goal than this, in lengths of the limb."""
_NEAR = 0.13
"""A hand touches things within this distance, in arm lengths: 8 cm for a person. At twice that distance it does not."""
_HOLD, _FADE = 0.1, 2.5
"""Seconds by which a touch is held longer at either end, and the hertz of the filter that fades it in and out."""
_PALM = 0.12
"""The palm is this far from the wrist, in arm lengths."""
_UP = np.array([0.0, 1.0, 0.0])
_HEAD, _CHEST, _THIGH = 0.2, 0.22, 0.13
"""Radii of head, chest and thigh, in arm lengths."""


@dataclass(frozen=True, slots=True)
class Choices:
    """How a motion is retargeted.

    Attributes:
        feet: "plant": feet stand still while they touch; "follow": ankles go where the source's go, scaled; "off".
        hands: "free": as the arms turn; "reach": wrists go where the source's go, scaled, as far as arms reach;
            "touch": wrists keep their places near the other hand, head, chest and thighs while they are close.
        limits: joints are kept inside their limits.
        scale: of the path; None: the ratio of the legs' lengths.
        in_place: the hips stay above their first position.
    """

    feet: Feet = "plant"
    hands: Hands = "free"
    limits: bool = False
    scale: float | None = None
    in_place: bool = False

    def __post_init__(self) -> None:
        for name, value, known in (("feet", self.feet, FEET), ("hands", self.hands, HANDS)):
            if value not in known:
                listed = f"{', '.join(known[:-1])} or {known[-1]}"
                raise InputError(f"retarget: {name}: expected {listed}, found {quote(value)}")
        if self.scale is not None:
            as_number(self.scale, "retarget: scale", above=0.0)
        for name, flag in (("limits", self.limits), ("in_place", self.in_place)):
            as_flag(flag, f"retarget: {name}")


class Stands(NamedTuple):
    """Where feet stand: the target's, its contacts, and how fast the source's slide in theirs, cm/s."""

    feet: MovingFeet
    contacts: Contacts
    slide_cm_s: float


class PosedBody(NamedTuple):
    """A body with the motion of another one.

    Attributes:
        clip: the motion, not checked.
        world: where its joints are in it.
        feet: "plant", "follow" or "off": what was done.
        stands: when its feet stand; None where they were not planted.
        held: its limbs whose ends were brought to places.
        touches: (F,) how much the hand of each arm is held, by the arm's upper joint; {}: hands are free.
        warnings: a line for each choice that could not be carried out.
    """

    pairing: Pairing
    clip: Clip
    world: World
    feet: str
    stands: Stands | None
    held: list[Limb]
    touches: dict[int, Floats]
    warnings: tuple[str, ...]


def posed_body(source: Body, target: Body, used: Map, choices: Choices, *, free: bool = True) -> PosedBody:
    """The motion of one body on another, without regard to limits.

    ``free``: the neutral poses may be replaced by poses in which both have the same shape.

    Raises:
        InputError: there are no pairs, or legs of length 0.
    """
    pairing = _paired(source, target, used, choices, free=free)
    wanted, warnings = wanted_turns(pairing), list[str]()
    moved = Motion(*_place_hips(pairing, *turned(pairing, wanted), in_place=choices.in_place))
    moved, feet, stands = _with_feet(pairing, choices, moved, wanted, warnings)
    moved, touches = _with_hands(pairing, choices, moved, wanted, warnings)
    warnings += _stays_turned(pairing, wanted, moved.world)
    held = (pairing.legs if feet != "off" else []) + (pairing.arms if choices.hands != "free" else [])
    clip = _as_clip(pairing, hemisphere_continuous(normalized(moved.rotations)), moved.translations)
    return PosedBody(pairing, clip, moved.world, feet, stands, [limb for _, limb in held], touches, tuple(warnings))


def _paired(source: Body, target: Body, used: Map, choices: Choices, *, free: bool) -> Pairing:
    assert source.moving is not None
    by_name = {name: joint for joint, name in enumerate(source.skeleton.names)}
    pairs = {target.skeleton.index(mine): by_name[its] for its, mine in used.pairs.items()}
    if not pairs:
        raise InputError("expected a figure with arms or legs, found none: a map of the joints is needed")
    moving, plane = source.moving, plane_of(target.skeleton)
    if plane is not None and source.figure is not None and source.figure.legs and source.clip is not None:
        moving = straightened(moving, source.figure, plane, 1.0 / source.clip.frame_time)
    source, target, frames = comparable_bodies(source, target, pairs, free=free)
    ratio = leg_length_ratio(source, target)
    scale = ratio if choices.scale is None else choices.scale
    arms, legs = (paired_limbs(source, target, pairs, kind) for kind in (ARM, LEG))
    return Pairing(source, target, pairs, frames, moving, scale, ratio, arms, legs)


def _with_feet(
    pairing: Pairing, choices: Choices, moved: Motion, wanted: dict[int, Floats], warnings: list[str]
) -> tuple[Motion, str, Stands | None]:
    """The body with its feet as the choices ask, what was done, and when they stand."""
    if choices.feet == "off":
        return moved, "off", None
    if not pairing.legs:
        if pairing.source.figure is not None or pairing.target.figure is not None:
            warnings.append("no legs are found on both sides: feet are not planted")
        return moved, "off", None
    goals = _followed(pairing, pairing.legs, moved.world)
    # Motion on the spot has no stances.
    if choices.feet == "plant" and not choices.in_place:
        planted = _planted(pairing, moved, goals, warnings)
        if planted is not None:
            return planted[0], "plant", planted[1]
    rotations, world = _reach(pairing, list(zip(pairing.legs, goals, strict=True)), *moved, wanted)
    return Motion(rotations, moved.translations, world), "follow", None


def _planted(pairing: Pairing, moved: Motion, goals: list[Floats], warnings: list[str]) -> tuple[Motion, Stands] | None:
    """The body with its feet at goals (F, 3), planted where the source's touch; None, with a warning, if impossible."""
    source, target = pairing.source, pairing.target
    assert source.clip is not None
    try:
        its, touched, slide = _standing(source.skeleton, source.clip)
        names = {leg.side: target.skeleton.names[leg.last] for _, leg in pairing.legs}
        clip = _as_clip(pairing, moved.rotations, moved.translations)
        mine = moving_feet(target.skeleton, clip, moved.world, its.away)
        # Legs are posed once, when it is known where the feet stand.
        there = _with_feet_at(target.skeleton, [leg for _, leg in pairing.legs], mine.world, goals, its.away)
        mine = mine._replace(feet=foot_places(target.skeleton, there))
        points = {foot.side: foot.places.keys() for foot in mine.feet}
        contacts = replace(touched, feet=tuple(
            # If a foot is only an ankle, as with robots, the ankle stands while the source's heel does.
            f._replace(name=names[f.side], contacts=tuple(one for one in f.contacts if one.point in points[f.side]))
            for f in touched.feet if f.side in names
        ))  # fmt: skip
        motion = planted_motion(mine, contacts)
    except InputError as error:
        warnings.append(f"feet: they follow and are not planted: {error}")
        return None
    return motion, Stands(mine, contacts, slide)


@lru_cache(maxsize=2)
def _standing(skeleton: Skeleton, clip: Clip) -> tuple[MovingFeet, Contacts, float]:
    """The feet of a motion, when they touch the ground, and how fast they slide then, cm/s.

    It is kept: a motion goes onto several figures, or again with other choices.
    """
    moving = moving_feet(skeleton, clip, world_of_clip(skeleton, clip))
    contacts = contacts_of(moving)
    return moving, contacts, slide_of(moving, contacts)


def _with_hands(
    pairing: Pairing, choices: Choices, moved: Motion, wanted: dict[int, Floats], warnings: list[str]
) -> tuple[Motion, dict[int, Floats]]:
    """The body with its hands as the choices ask, and `PosedBody.touches`."""
    if choices.hands == "free":
        return moved, {}
    arms = pairing.arms
    if not arms:
        warnings.append("hands: expected arms on both sides, found none: hands are free")
    if choices.hands == "reach":
        goals = _followed(pairing, arms, moved.world)
        shares = [np.ones(len(goal)) for goal in goals]
    else:
        goals, shares = touching_goals(pairing, moved.world)
        warnings += _out_of_reach([arm for _, arm in arms], goals, moved.world)
    touches = {arm.upper: share for (_, arm), share in zip(arms, shares, strict=True)}
    rotations, world = _reach(pairing, list(zip(arms, goals, strict=True)), *moved, wanted, slowly=True)
    return Motion(rotations, moved.translations, world), touches


def _out_of_reach(arms: list[Limb], goals: list[Floats], world: World) -> list[str]:
    """A line on hands whose places (F, 3) are farther from their shoulders than arms are long, if there are such."""
    off = np.zeros(len(world.positions))
    for arm, goal in zip(arms, goals, strict=True):
        shoulder, elbow, wrist = limb_points(arm, world)
        off = np.maximum(off, norm(goal - shoulder) - norm(elbow - shoulder) - norm(wrist - elbow))
    frames = int((off > _BEYOND).sum())
    far = f"in {frames} of {len(off)} frames, by up to {100.0 * off.max():.1f} cm"
    return [f"hands: what they touch is out of reach {far}"] if frames else []


def _stays_turned(pairing: Pairing, wanted: dict[int, Floats], world: World) -> list[str]:
    """A line on a body that cannot turn as it should, such as a planar walker's, which has one hinge."""
    skeleton, figure = pairing.target.skeleton, pairing.target.figure
    if figure is None or skeleton.kinds[figure.trunk].turns_freely:
        return []
    turns = wanted.get(figure.trunk, world.rotations[:, figure.trunk])
    off = float(angle_between(turns, world.rotations[:, figure.trunk]).max())
    body = quote(skeleton.names[figure.trunk])
    lines = []
    if pairing.moving is not pairing.source.moving:
        lines.append(f"{body} moves in a plane: the motion goes straight on in it, as far as it goes ahead")
    if off > _ELSEWHERE:
        lines.append(f"{body} cannot turn as the body in the motion: it is up to {np.degrees(off):.0f} degrees off")
    return lines


def _as_clip(pairing: Pairing, rotations: Floats, translations: Floats) -> Clip:
    """A clip of the target with the name and rate of the source's, not checked."""
    assert pairing.source.clip is not None
    return trusted_like(pairing.source.clip, pairing.target.skeleton, rotations, translations)


# --- hips


def _place_hips(
    pairing: Pairing, rotations: Floats, translations: Floats, world: World, *, in_place: bool
) -> tuple[Floats, Floats, World]:
    """The target with its hips, or its topmost paired joint, on the source's scaled path, at the height of its legs."""
    skeleton = pairing.target.skeleton
    carrier, its_middle, middle = _carried(pairing, world)
    shift = _path(pairing, its_middle, in_place=in_place) - middle
    translations = translations.copy()
    for joint, move, _ in body_moves(skeleton, carrier, world, shift):
        translations[:, joint] += move
    if carrier == 0:
        return rotations, translations, World(world.positions + shift[:, None], world.rotations)
    return rotations, translations, fk_arrays(skeleton.parents, rotations, translations)


def _carried(pairing: Pairing, world: World) -> tuple[int, Floats, Floats]:
    """The joint that moves the target's body, and the points (F, 3) of source and target that are to coincide."""
    source, target = pairing.source, pairing.target
    legs = pairing.legs
    top = min(pairing.pairs)
    if target.figure is not None:
        top = target.figure.trunk
    if legs:
        its = pairing.moving.positions[:, [leg.upper for leg, _ in legs]].mean(axis=1)
        mine = world.positions[:, [leg.upper for _, leg in legs]].mean(axis=1)
        return top, its, mine
    other = pairing.pairs.get(top, source.figure.trunk if source.figure is not None else min(pairing.pairs.values()))
    return top, pairing.moving.positions[:, other].copy(), world.positions[:, top]


def _path(pairing: Pairing, middle: Floats, *, in_place: bool) -> Floats:
    """(F, 3) path of the target's hips: scaled horizontally, and by the ratio of the legs vertically."""
    goal = pairing.scale * middle
    goal[:, 1] = pairing.ratio * middle[:, 1] + _above_between(pairing)
    if in_place:
        goal[:, [0, 2]] = goal[:1, [0, 2]]
    return goal


def _above_between(pairing: Pairing) -> float:
    """Height of the target's ankles above its soles less that of the source's, scaled; metres."""
    legs = pairing.legs
    if not legs or is_same_tree(pairing.source.skeleton, pairing.target.skeleton):
        return 0.0
    above = [
        _above_sole(body, [pair[index] for pair in legs]) for index, body in enumerate((pairing.source, pairing.target))
    ]
    return 0.0 if above[0] is None or above[1] is None else above[1] - pairing.ratio * above[0]


def _above_sole(body: Body, legs: list[Limb]) -> float | None:
    """Height of the ankles above the soles, metres: in a trusted neutral pose, else in frames in which the feet stand.

    None if there is neither, or no joint or end site below an ankle.
    """
    if not body.trusted and body.moving is None:
        return None
    ankles = tuple(leg.end for leg in legs if leg.end is not None)
    if len(ankles) < len(legs):
        return None
    if body.trusted:
        x, y, z = rotate(body.axes, _UP).tolist()
        return _height_in_pose(body.skeleton, body.neutral, ankles, (x, y, z))
    return None if body.moving is None else _ankle_height(body.skeleton, body.moving, ankles, None)


def _ankle_height(
    skeleton: Skeleton, world: World, ankles: tuple[int, ...], up: tuple[float, float, float] | None
) -> float | None:
    """Height of ankles above the soles, metres; None if there is no joint or end site below one.

    ``world``: of one pose, or of all frames of a motion, in which feet stand now and then; ``up``: where up is in the
    pose; None: it is a motion, and Y.
    """
    standing = [None] * len(ankles) if up is not None else standing_frames(world, ankles).T
    heights = []
    for ankle, frames in zip(ankles, standing, strict=True):
        below, tips = _parts_of_foot(skeleton, ankle)
        if not len(tips) and len(below) == 1:
            return None
        foot = world if frames is None else World(world.positions[frames], world.rotations[frames])
        joints, offsets = skeleton.tip_parents[tips], skeleton.tip_offsets[tips]
        points = foot.positions[..., joints, :] + rotate(foot.rotations[..., joints, :], offsets)
        every = np.concatenate([foot.positions[..., [ankle], :], foot.positions[..., below, :], points], axis=-2)
        every = every @ (_UP if up is None else up)
        heights.append(float(median(np.atleast_1d(every[..., 0] - every.min(axis=-1)))))
    return sum(heights) / len(heights)


_height_in_pose = lru_cache(maxsize=16)(_ankle_height)
"""`_ankle_height`, kept: of poses, which are small."""


@lru_cache(maxsize=32)
def _parts_of_foot(skeleton: Skeleton, ankle: int) -> tuple[Ints, Ints]:
    """The joints at or below an ankle, and the end sites of these."""
    below = at_or_below(skeleton, ankle)
    return np.flatnonzero(below), np.flatnonzero(below[skeleton.tip_parents])


# --- feet and hands at their places


def _followed(pairing: Pairing, limbs: list[tuple[Limb, Limb]], world: World) -> list[Floats]:
    """Places (F, 3) of the target's hands or feet: where the source's are, relative to the hips and scaled."""
    _, its_middle, middle = _carried(pairing, world)
    return [
        in_plane(
            pairing.target.skeleton,
            world.positions[:, limb.upper],
            middle + pairing.ratio * (pairing.moving.point(*its.tip) - its_middle),
        )
        for its, limb in limbs
    ]


def _with_feet_at(skeleton: Skeleton, legs: list[Limb], world: World, goals: list[Floats], away: Bools) -> World:
    """A world with its feet at goals (F, 3), as far as legs are long enough; the legs stay where they are.

    ``world``: of F frames; ``goals``: of each ankle; ``away`` (F,): frames that are lost: feet go straight on through
    them.
    """
    positions = world.positions.copy()
    for leg, goal in zip(legs, goals, strict=True):
        hip, knee, ankle = limb_points(leg, world)
        bones, way = norm(knee - hip) + norm(ankle - knee), goal - hip
        way *= np.minimum(1.0, longest_reach(bones, norm(ankle - hip)) / np.maximum(norm(way), 1e-12))[:, None]
        moves = hip + way - ankle
        if (norm(moves) > _THERE * bones).any():
            foot = at_or_below(skeleton, leg.last)
            positions[:, foot] += bridged(moves[None], away[None])[0][:, None]
    return World(positions, world.rotations)


def _reach(
    pairing: Pairing,
    limbs: list[tuple[tuple[Limb, Limb], Floats]],
    rotations: Floats,
    translations: Floats,
    world: World,
    wanted: dict[int, Floats],
    *,
    slowly: bool = False,
) -> tuple[Floats, World]:
    """Pose limbs of the target with their ends at goals (F, 3); hands and feet keep their world rotations.

    Slowly: they leave their own rotations no faster than people move.
    """
    skeleton, moving = pairing.target.skeleton, _goals_of_limbs(pairing, limbs, world, wanted)
    if not moving:
        return rotations, world
    made = rotations.copy()
    for one, found in zip(moving, pose_limbs(skeleton, moving), strict=True):
        turns = _slowly(pairing, one.limb, rotations, found) if slowly else found
        for joint, turn in zip(limb_joints(one.limb), _as_they_turn(pairing, one, turns, rotations), strict=True):
            made[:, joint] = turn
    uppers = tuple(one.limb.upper for one in moving)
    return made, fk_below(skeleton.parents, uppers, world, made, translations)


def _goals_of_limbs(
    pairing: Pairing, limbs: list[tuple[tuple[Limb, Limb], Floats]], world: World, wanted: dict[int, Floats]
) -> list[LimbGoals]:
    """The limbs whose ends are away from their goals (F, 3), as `pose_limbs` takes them."""
    moving: list[LimbGoals] = []
    for (_, limb), goals in limbs:
        away = norm(world.point(*limb.tip) - goals)
        length = float(np.linalg.norm(np.diff(world.positions[0, [limb.upper, limb.lower]], axis=0)))
        # All frames or none: a limb that is overstretched in one frame would suddenly be flexed in the next, posed one.
        if not (away > _THERE * length).any():
            continue
        turns = None
        if limb.end is not None:
            turns = wanted[limb.end] if limb.end in wanted else world.rotations[:, limb.end]
        axis = None
        if pairing.target.figure is not None:
            axis = rotate(pairing.frames[1][limb.lower], np.array([1.0, 0.0, 0.0]))
        moving.append(LimbGoals(limb, world, goals, turns, axis))
    return moving


def _slowly(pairing: Pairing, limb: Limb, own: Floats, found: Floats) -> Floats:
    """Rotations (F, 2 or 3, 4) of a limb that goes from its own to those found no faster than people move.

    Faster changes are noise of other joints, or of an elbow that is nearly straight: the last millimetres of its reach
    turn it as far as centimetres did before.
    """
    before, slow = own[:, list(limb_joints(limb))], found.copy()

    def go_to(turns: Floats, some: slice) -> None:
        changes = multiply(conjugate(before[:, some]), turns)
        slow[:, some] = multiply(before[:, some], slowed(pairing, changes))

    go_to(found[:, :2], slice(2))
    if limb.end is not None:
        # A hand that made up for all of its arm's noise would shake by it.
        made_up = _made_up(pairing.target.skeleton, limb, own, found, slow)
        go_to(multiply(made_up, found[:, 2])[:, None], slice(2, 3))
    return slow


def _as_they_turn(pairing: Pairing, one: LimbGoals, found: Floats, own: Floats) -> list[Floats]:
    """Local rotations (F, 4) of `limb_joints` that the kinds of these joints have.

    ``found`` (F, 2 or 3, 4): as `pose_limbs` has them for balls; ``own`` (F, J, 4): local rotations of all joints
    before.
    """
    skeleton, figure, limb = pairing.target.skeleton, pairing.target.figure, one.limb
    joints = limb_joints(limb)
    local = dict(zip(joints, found.swapaxes(0, 1), strict=True))
    if figure is not None and is_hinged(skeleton, limb):
        parent = int(skeleton.parents[limb.upper])
        over = one.world.rotations[:, parent] if parent >= 0 else np.broadcast_to(IDENTITY, found[:, 0].shape)
        turn, bones = multiply(over, local[limb.upper]), bones_of(skeleton, limb)
        lower = multiply(multiply(bones.between, conjugate(skeleton.rest_rotations[limb.lower])), local[limb.lower])
        elbow = rotate(turn, bones.upper)
        wrist = elbow + rotate(multiply(turn, lower), bones.lower)
        local |= posed_by_hinges(skeleton, figure, limb, over, elbow, wrist, turn)
        if limb.end is not None:
            now = np.stack([local[joint] for joint in joints], axis=1)
            local[limb.end] = multiply(_made_up(skeleton, limb, own, found, now), local[limb.end])
    some = [joint for joint in joints if skeleton.kinds[joint] is not JointKind.BALL]
    if some:
        local |= zip(some, nearest_turns(skeleton, some, np.stack([local[joint] for joint in some])), strict=True)
    return [local[joint] for joint in joints]


def _made_up(skeleton: Skeleton, limb: Limb, own: Floats, before: Floats, after: Floats) -> Floats:
    """(F, 4) by which a hand or foot turns so that it makes up for bones whose turns have changed.

    ``own`` (F, J, 4): local rotations of all joints, of which those between the bones keep theirs; ``before`` and
    ``after`` (F, 2 or 3, 4): those of `limb_joints`.
    """
    assert limb.end is not None
    joint, turned, turns = int(skeleton.parents[limb.end]), np.array(IDENTITY), np.array(IDENTITY)
    number = {each: place for place, each in enumerate(limb_joints(limb))}
    while joint != int(skeleton.parents[limb.upper]):
        place = number.get(joint)
        turned = multiply(own[:, joint] if place is None else before[:, place], turned)
        turns = multiply(own[:, joint] if place is None else after[:, place], turns)
        joint = int(skeleton.parents[joint])
    return multiply(conjugate(turns), turned)


# --- hands that touch


def touching_goals(pairing: Pairing, world: World) -> tuple[list[Floats], list[Floats]]:
    """Places (F, 3) of the target's wrist for each pair of arms, and how much it touches (F,); ``world`` is its own."""
    worlds, clip, leaping = (pairing.moving, world), pairing.source.clip, leaps(pairing)
    assert clip is not None
    palms = [[_palm(*side) for side in zip(worlds, pairing.frames, pair, strict=True)] for pair in pairing.arms]
    lengths = [[_length(*side) for side in zip(worlds, pair, strict=True)] for pair in pairing.arms]
    goals, touches = [], []
    for index, (_, arm) in enumerate(pairing.arms):
        wrist, length = world.point(*arm.tip), lengths[index][0]
        total, weight, none = np.zeros_like(wrist), np.zeros(len(wrist)), np.ones(len(wrist))
        for gap, place in _places(pairing, worlds, palms, lengths, index):
            # A hand touches nothing before a leap of the capture because it does after it.
            parts = np.split(gap / (_NEAR * length), leaping)
            share = np.concatenate([touching_share(part, 1.0 / clip.frame_time) for part in parts])
            total += share[:, None] * (place - palms[index][1])
            weight, none = weight + share, none * (1.0 - share)
        # For one thing its share, for several their mean, so that no moment shows in which one takes over.
        shift = total * ((1.0 - none) / np.where(weight > 0.0, weight, 1.0))[:, None]
        goals.append(wrist + shift)
        touches.append(1.0 - none)
    return goals, touches


def touching_share(gaps: Floats, rate: float) -> Floats:
    """(F,) how much of its place a hand keeps, 0 to 1, by its gap to a thing in the distance at which it touches.

    It changes gradually: near that distance, noise would flip a yes or no in every frame.
    """
    frames = round(_HOLD * rate)
    near = np.pad(ease(2.0 - gaps), frames)
    held = np.lib.stride_tricks.sliding_window_view(near, 2 * frames + 1).max(axis=1)
    return np.clip(low_pass(held, rate, _FADE), 0.0, 1.0)


def _places(
    pairing: Pairing, worlds: tuple[World, World], palms: list[list[Floats]], lengths: list[list[float]], index: int
) -> list[tuple[Floats, Floats]]:
    """Per thing that a hand may touch: the gap (F,) of the source, and the position (F, 3) of the target's palm."""
    its, mine = palms[index]
    ratio = lengths[index][1] / max(lengths[index][0], 1e-12)
    found = []
    for other in range(len(palms)):
        if other != index:
            apart = its - palms[other][0]
            middle = 0.5 * (mine + palms[other][1])
            found.append((norm(apart), middle + 0.5 * ratio * apart))
    for radius, ends in _anchors(pairing):
        (start, end, turn), (other_start, other_end, other_turn) = (
            _segment(*side) for side in zip(worlds, pairing.frames, ends, strict=True)
        )
        way = end - start
        share = dot(its - start, way) / np.maximum(dot(way, way), 1e-12)
        share = np.clip(share, 0.0, 1.0)[:, None]
        apart = its - (start + share * way)
        place = other_start + share * (other_end - other_start)
        place = place + ratio * rotate(multiply(other_turn, conjugate(turn)), apart)
        found.append((norm(apart) - radius * lengths[index][0], place))
    return found


def _anchors(pairing: Pairing) -> list[tuple[float, list[tuple[int, int]]]]:
    """Radius of head, chest and thighs, with the joints at their ends in source and target."""
    bodies, found = (pairing.source, pairing.target), []
    figures = [body.figure for body in bodies if body.figure is not None]
    if len(figures) == len(bodies):
        if all(HEAD in body.slots for body in bodies):
            found.append((_HEAD, [(body.slots[HEAD], body.slots[HEAD]) for body in bodies]))
        if all(figure.pelvis != figure.chest for figure in figures):
            found.append((_CHEST, [(figure.pelvis, figure.chest) for figure in figures]))
    return found + [(_THIGH, [(leg.upper, leg.lower) for leg in pair]) for pair in pairing.legs]


def _segment(world: World, frames: Frames, ends: tuple[int, int]) -> tuple[Floats, Floats, Floats]:
    """The ends (F, 3) of a part of the body and its turn (F, 4)."""
    start, end = ends
    turn = multiply(world.rotations[:, start], frames[start])
    return world.positions[:, start], world.positions[:, end], turn


def _palm(world: World, frames: Frames, limb: Limb) -> Floats:
    """(F, 3) the middle of the palm; the wrist if the hand is not a joint."""
    wrist = world.point(*limb.tip)
    if limb.end is None:
        return wrist
    turn = multiply(world.rotations[:, limb.end], frames[limb.end])
    return wrist + rotate(turn, np.array([0.0, _PALM * _length(world, limb), 0.0]))


def _length(world: World, limb: Limb) -> float:
    """Metres from the shoulder over the elbow to the wrist."""
    places = [world.positions[0, limb.upper], world.positions[0, limb.lower], world.point(*limb.tip)[0]]
    return float(norm(np.diff(places, axis=0)).sum())
