"""The motion of one body on another: joints turned, hips on their path, feet and hands in their places."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from viewer.errors import InputError
from viewer.motion.contacts import Contacts, MovingFeet, contacts_of, moving_feet
from viewer.motion.paired_places import follow, place_hips, reach, touching_goals
from viewer.motion.pairing import Pairing, comparable_bodies, leg_length_ratio, paired_limbs, turned, wanted_turns
from viewer.motion.plant import planted_motion
from viewer.motion.reference import Body, world_of_clip
from viewer.motion.retarget_report import Choices, Stands
from viewer.motion.skate_meter import slide_of
from viewer.skeleton import Clip, Limb, Skeleton, World
from viewer.skeleton.clip import trusted_like
from viewer.skeleton.joint_map import Map
from viewer.skeleton.limbs import ARM, LEG
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import hemisphere_continuous, normalized


class Moved(NamedTuple):
    """A body in all frames: local rotations (F, J, 4) and translations (F, J, 3), and its world."""

    rotations: Floats
    translations: Floats
    world: World


class PosedBody(NamedTuple):
    """A body with the motion of another one.

    Attributes:
        pairing: both bodies.
        clip: the motion, not checked.
        world: where its joints are in it.
        feet: "plant", "follow" or "off": what was done.
        stands: when its feet stand; None where they were not planted.
        held: its limbs whose ends were brought to places.
        touches: (F,) how much the hand of each arm touches, by the arm's upper joint; {}: hands do not.
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
    moved = Moved(*place_hips(pairing, *turned(pairing, wanted), in_place=choices.in_place))
    moved, feet, stands = _with_feet(pairing, choices, moved, wanted, warnings)
    moved, touches = _with_hands(pairing, choices, moved, wanted, warnings)
    held = (pairing.legs if feet != "off" else []) + (pairing.arms if choices.hands != "free" else [])
    clip = _as_clip(pairing, hemisphere_continuous(normalized(moved.rotations)), moved.translations)
    return PosedBody(pairing, clip, moved.world, feet, stands, [limb for _, limb in held], touches, tuple(warnings))


def _paired(source: Body, target: Body, used: Map, choices: Choices, *, free: bool) -> Pairing:
    assert source.moving is not None
    by_name = {name: joint for joint, name in enumerate(source.skeleton.names)}
    pairs = {target.skeleton.index(mine): by_name[its] for its, mine in used.pairs.items()}
    if not pairs:
        raise InputError("expected a figure with arms or legs, found none: a map of the joints is needed")
    moving = source.moving
    source, target, frames = comparable_bodies(source, target, pairs, free=free)
    ratio = leg_length_ratio(source, target)
    scale = ratio if choices.scale is None else choices.scale
    arms, legs = (paired_limbs(source, target, pairs, kind) for kind in (ARM, LEG))
    return Pairing(source, target, pairs, frames, moving, scale, ratio, arms, legs)


def _with_feet(
    pairing: Pairing, choices: Choices, moved: Moved, wanted: dict[int, Floats], warnings: list[str]
) -> tuple[Moved, str, Stands | None]:
    """The body with its feet as the choices ask, what was done, and when they stand."""
    if choices.feet == "off":
        return moved, "off", None
    if not pairing.legs:
        if pairing.source.figure is not None or pairing.target.figure is not None:
            warnings.append("feet: expected legs on both sides, found none: feet are off")
        return moved, "off", None
    rotations, world = follow(pairing, pairing.legs, *moved, wanted)
    moved = Moved(rotations, moved.translations, world)
    # Motion on the spot has no stances.
    planted = None if choices.feet == "follow" or choices.in_place else _planted(pairing, moved, warnings)
    return (moved, "follow", None) if planted is None else (planted[0], "plant", planted[1])


def _planted(pairing: Pairing, moved: Moved, warnings: list[str]) -> tuple[Moved, Stands] | None:
    """The body with its feet planted where the source's touch the ground; None, with a warning, if impossible."""
    source, target = pairing.source, pairing.target
    assert source.clip is not None
    try:
        its, touched, slide = _standing(source.skeleton, source.clip)
        names = {leg.side: target.skeleton.names[leg.lower if leg.end is None else leg.end] for _, leg in pairing.legs}
        clip = _as_clip(pairing, moved.rotations, moved.translations)
        mine = moving_feet(target.skeleton, clip, moved.world, its.away)
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
    return Moved(*motion), Stands(mine, contacts, slide)


@lru_cache(maxsize=2)
def _standing(skeleton: Skeleton, clip: Clip) -> tuple[MovingFeet, Contacts, float]:
    """The feet of a motion, when they touch the ground, and how fast they slide then, cm/s.

    It is kept: a motion goes onto several figures, or again with other choices.
    """
    moving = moving_feet(skeleton, clip, world_of_clip(skeleton, clip))
    contacts = contacts_of(moving)
    return moving, contacts, slide_of(moving, contacts)


def _with_hands(
    pairing: Pairing, choices: Choices, moved: Moved, wanted: dict[int, Floats], warnings: list[str]
) -> tuple[Moved, dict[int, Floats]]:
    """The body with its hands as the choices ask, and `PosedBody.touches`."""
    if choices.hands == "free":
        return moved, {}
    arms, touches = pairing.arms, dict[int, Floats]()
    if not arms:
        warnings.append("hands: expected arms on both sides, found none: hands are free")
    if choices.hands == "reach":
        rotations, world = follow(pairing, arms, *moved, wanted)
    else:
        assert pairing.source.clip is not None
        goals, shares = touching_goals(pairing, moved.world)
        touches = {arm.upper: share for (_, arm), share in zip(arms, shares, strict=True)}
        rate = 1.0 / pairing.source.clip.frame_time
        rotations, world = reach(pairing, list(zip(arms, goals, strict=True)), *moved, wanted, rate)
    return Moved(rotations, moved.translations, world), touches


def _as_clip(pairing: Pairing, rotations: Floats, translations: Floats) -> Clip:
    """A clip of the target with the name and rate of the source's, not checked."""
    assert pairing.source.clip is not None
    return trusted_like(pairing.source.clip, pairing.target.skeleton, rotations, translations)
