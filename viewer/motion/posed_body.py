"""The body of one skeleton posed in all frames with the motion of another, without regard to limits and hinges' stacks.

1. Anatomical frames A (`anatomy.py`) make joint frames comparable: the target's joint turns in the world as the
   source's does, W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take their turns from a curve.
2. The middle of the hips follows in the ratio of the legs' lengths, higher where the target's ankles are.
3. Ankles, and hands if asked, are brought to the scaled places by two-bone IK; the feet keep their turns.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.choices import FEET, HANDS, Feet, Hands
from viewer.errors import InputError, quote
from viewer.motion.contacts import Contacts, MovingFeet, contacts_of, foot_places, moving_feet
from viewer.motion.held_ends import Motion
from viewer.motion.in_plane import plane_of, straightened
from viewer.motion.limb_chain import limb_points
from viewer.motion.paired_places import followed, place_hips, reach, touching_goals, with_feet_at
from viewer.motion.pairing import Pairing, comparable_bodies, leg_length_ratio, paired_limbs, turned, wanted_turns
from viewer.motion.plant import planted_motion
from viewer.motion.reference import Body, world_of_clip
from viewer.motion.skate_meter import slide_of
from viewer.skeleton import Clip, Limb, Skeleton, World
from viewer.skeleton.clip import trusted_like
from viewer.skeleton.joint_map import Map
from viewer.skeleton.limbs import ARM, LEG
from viewer.spatial.checks import Floats, as_flag, as_number
from viewer.spatial.quaternion import angle_between, hemisphere_continuous, normalized
from viewer.spatial.vectors import norm

_BEYOND, _ELSEWHERE = 0.01, np.radians(30.0)
"""Metres by which hands may miss what arms are too short for, and radians by which a body may be turned otherwise,
before a warning says so."""


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
        """Check the values.

        Raises:
            InputError: one that is not listed, a scale that is not above 0, flags that are not True or False.
        """
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
        pairing: both bodies.
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

    Args:
        source: with motion.
        target: gets it.
        used: the pairs.
        choices: how.
        free: the neutral poses may be replaced by poses in which both have the same shape.

    Raises:
        InputError: there are no pairs, or legs of length 0.
    """
    pairing = _paired(source, target, used, choices, free=free)
    wanted, warnings = wanted_turns(pairing), list[str]()
    moved = Motion(*place_hips(pairing, *turned(pairing, wanted), in_place=choices.in_place))
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
    goals = followed(pairing, pairing.legs, moved.world)
    # Motion on the spot has no stances.
    if choices.feet == "plant" and not choices.in_place:
        planted = _planted(pairing, moved, goals, warnings)
        if planted is not None:
            return planted[0], "plant", planted[1]
    rotations, world = reach(pairing, list(zip(pairing.legs, goals, strict=True)), *moved, wanted)
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
        there = with_feet_at(target.skeleton, [leg for _, leg in pairing.legs], mine.world, goals, its.away)
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
        goals = followed(pairing, arms, moved.world)
        shares = [np.ones(len(goal)) for goal in goals]
    else:
        goals, shares = touching_goals(pairing, moved.world)
        warnings += _out_of_reach([arm for _, arm in arms], goals, moved.world)
    touches = {arm.upper: share for (_, arm), share in zip(arms, shares, strict=True)}
    rotations, world = reach(pairing, list(zip(arms, goals, strict=True)), *moved, wanted, slowly=True)
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
