"""The motion of one skeleton on another, whatever their names, joint frames, rest poses and proportions are.

1. Joints are paired by parts of the body (`find_map`).
2. Anatomical frames A (`anatomy.py`) make joint frames comparable: the target's joint turns in the world as the
   source's does, W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take their turns from a curve.
3. The middle of the hips follows in the ratio of the legs' lengths, higher where the target's ankles are.
4. Ankles, and hands if asked, are brought to the scaled places by two-bone IK; the feet keep their turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal, NamedTuple

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.motion.contacts import Contacts, MovingFeet, contacts_of, moving_feet
from viewer.motion.hinge_stacks import Stacks, without_stacks
from viewer.motion.limb_chain import limb_points
from viewer.motion.paired_places import follow, place_hips, reach, touching_goals
from viewer.motion.pairing import Pairing, comparable_bodies, leg_length_ratio, paired_limbs, turned, wanted_turns
from viewer.motion.plant import planted_motion
from viewer.motion.reference import Body, bodies_of
from viewer.motion.skate_meter import slide_of
from viewer.skeleton import (
    Character,
    Clip,
    JointKind,
    Limb,
    Skeleton,
    World,
    clip_violation,
    find_figure,
    fk_arrays,
    fk_clip,
)
from viewer.skeleton.arguments import check_character
from viewer.skeleton.joint_map import Map, Reference, find_pairs, map_of, with_pairs, without_crossings
from viewer.skeleton.limbs import ARM, LEG
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import hemisphere_continuous, normalized
from viewer.spatial.vectors import cross, dot, norm

Feet = Literal["plant", "follow", "off"]
Hands = Literal["free", "reach", "touch"]
FEET: tuple[Feet, ...] = ("plant", "follow", "off")
HANDS: tuple[Hands, ...] = ("free", "reach", "touch")
_NOTED = 2e-3
"""Metres by which a robot's hands or feet may miss their places before a warning says so."""


@dataclass(frozen=True, slots=True)
class RetargetReport:
    """What retargeting found and did.

    Attributes:
        frames: in the result.
        scale: how many times as far the target's hips go as the source's.
        pairs, unsure: number of pairs, and of those whose certainty is low.
        source_reference, target_reference: the neutral pose: "rest" or a frame.
        limbs_deg: mean angle between the limbs' bones of source and target, degrees; None without limbs.
        at_limits: share of frames in which a joint of the result is outside its limits.
        feet: "plant", "follow" or "off": what was done.
        slide_cm_s: how fast feet slide while they touch the ground, in the motion and in the result, cm/s; None:
            unknown.
        warnings: a line for each choice that could not be carried out.
    """

    frames: int
    scale: float
    pairs: int
    unsure: int
    source_reference: Reference
    target_reference: Reference
    limbs_deg: float | None
    at_limits: float
    feet: str
    slide_cm_s: tuple[float, float] | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Retargeted:
    """The target with the motion, the map that was used, and a report."""

    character: Character
    map: Map
    report: RetargetReport


@dataclass(frozen=True, slots=True)
class Choices:
    """How a motion is retargeted.

    Attributes:
        feet: "plant": stances stay where they touch; "follow": ankles go where the source's go, scaled; "off".
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


def find_map(
    source: Character | Skeleton,
    target: Character | Skeleton,
    given: Map | Mapping[str, str | None] | None = None,
    *,
    clip: str | None = None,
) -> Map:
    """The pairs of joints of two skeletons.

    Names, parts of the body and the order of bones decide; motions tell left from right where these do not.

    Args:
        source: of the motion.
        target: gets it.
        given: pairs that replace those found: a map, or the target's joint names by the source's, None for no partner.
        clip: name of the source's clip; None: the first.

    Returns:
        Names by names, how certain each pair is, and the target's joints that have none.

    Raises:
        InputError: a map that names joints that are not there, or that crosses.
    """
    its, mine = (each if isinstance(each, Character) else Character(each) for each in (source, target))
    _, mine, given = _with_balls(mine, given)
    return _mapped(*bodies_of((its.skeleton, _clip_of(its, clip)), (mine.skeleton, mine.clip)), given)


def _on_its_legs(target: Character) -> tuple[Character, tuple[str, ...]]:
    """A figure with legs whose base is fixed, as of robots, with a free one, and a warning; others as they are."""
    skeleton = target.skeleton
    if JointKind.FIXED not in skeleton.kinds:
        return target, ()
    base = int(np.flatnonzero(skeleton.parents < 0)[0])
    stacks = without_stacks(skeleton)
    figure = find_figure(skeleton if stacks is None else stacks.skeleton)
    if figure is None or not figure.legs:
        return target, ()
    kinds = list(skeleton.kinds)
    pelvis = figure.pelvis if stacks is None else stacks.members[figure.pelvis][-1]
    freed = {base: JointKind.FREE} if pelvis == base else {base: JointKind.FREE, pelvis: JointKind.BALL}
    freed = {joint: kind for joint, kind in freed.items() if kinds[joint] is JointKind.FIXED}
    if not freed:
        return target, ()
    for joint, kind in freed.items():
        kinds[joint] = kind
    names = " and ".join(quote(skeleton.names[joint]) for joint in freed)
    both = (
        "is fixed: it is" if len(freed) == 1 else "are fixed: they are"
    ) + " free here, so that the figure goes its way"
    return replace(target, skeleton=replace(skeleton, kinds=tuple(kinds))), (f"{names} {both}",)


def _with_balls(
    target: Character, given: Map | Mapping[str, str | None] | None
) -> tuple[Stacks | None, Character, Map | Mapping[str, str | None] | None]:
    """A target with balls in place of its stacks of hinges, and the map with their names; None: it has none."""
    stacks = without_stacks(target.skeleton)
    if stacks is None:
        return None, target, given
    clips = {} if target.clip is None else {target.clip.name: stacks.gather(target.clip)}
    bare = Character(stacks.skeleton, clips=MappingProxyType(clips))
    if isinstance(given, Map):
        given = replace(given, pairs=MappingProxyType({its: stacks.name_of(mine) for its, mine in given.pairs.items()}))
    elif given is not None:
        given = {its: None if mine is None else stacks.name_of(mine) for its, mine in given.items()}
    return stacks, bare, given


def _clip_of(character: Character, name: str | None) -> Clip | None:
    if name is None:
        return character.clip
    if name not in character.clips:
        raise InputError(f"retarget: source: {unknown_name('clip', name, character.clips)}")
    return character.clips[name]


def _mapped(source: Body, target: Body, given: Map | Mapping[str, str | None] | None) -> Map:
    skeletons = source.skeleton, target.skeleton
    pairs = without_crossings(*skeletons, find_pairs(*skeletons, source.slots, target.slots))
    found = map_of(*skeletons, pairs)
    if given is None:
        return found
    if not isinstance(given, Map):
        return with_pairs(found, given, *skeletons)
    if given.by_hand:
        by_hand: dict[str, str | None] = {name: given.pairs.get(name) for name in given.by_hand}
    else:
        # In a map that does not say which pairs are by hand, all are.
        by_hand = {name: given.pairs.get(name) for name in {*found.pairs, *given.pairs}}
    made = with_pairs(found, by_hand, *skeletons)
    certainty = {name: given.certainty.get(name, made.certainty[name]) for name in made.pairs}
    return replace(
        made,
        certainty=MappingProxyType(certainty),
        by_hand=given.by_hand,
        source_reference=given.source_reference,
        target_reference=given.target_reference,
    )


def retarget(
    source: Character,
    target: Character,
    map: Map | Mapping[str, str | None] | None = None,  # noqa: A002 - the word for it
    *,
    clip: str | None = None,
    feet: Feet = "plant",
    hands: Hands = "free",
    limits: bool = False,
    scale: float | None = None,
    in_place: bool = False,
    reference: Reference = "auto",
    target_reference: Reference = "auto",
) -> Retargeted:
    """The source's motion on the target.

    Args:
        source: with a clip.
        target: its own clips, if there are any, show how its limbs bend.
        map: pairs that replace those found; see `find_map`.
        clip: name of the source's clip; None: the first.
        feet: "plant", "follow" or "off"; see `Choices`.
        hands: "free", "reach" or "touch".
        limits: keep joints inside their limits.
        scale: of the path; None: the ratio of the legs' lengths.
        in_place: keep the hips above their first place.
        reference: the source's neutral pose: "auto", "rest" or a frame of its clip.
        target_reference: the target's neutral pose.

    Returns:
        The target with the motion as its only clip, the map, and what was done.

    Raises:
        InputError: no motion, no pairs, a map that does not fit, legs of length 0, values that are not listed here.
    """
    check_character(source, "retarget: source: ")
    check_character(target, "retarget: target: ")
    moving = _clip_of(source, clip)
    if moving is None:
        raise InputError("retarget: source: expected motion, found a skeleton without frames")
    choices = _checked(Choices(feet, hands, limits, scale, in_place))
    if isinstance(map, Map):
        reference = map.source_reference if reference == "auto" else reference
        target_reference = map.target_reference if target_reference == "auto" else target_reference
    target, freed = _on_its_legs(target)
    stacks, bare, given = _with_balls(target, map)
    sides = (source.skeleton, moving), (bare.skeleton, bare.clip)
    its, mine = bodies_of(*sides, (reference, target_reference))
    used = _mapped(its, mine, given)
    made = retarget_clip(its, mine, used, choices, free=(reference, target_reference) == ("auto", "auto"))
    if stacks is not None:
        made = _on_hinges(stacks, mine, made, choices)
    if freed:
        made = made._replace(report=replace(made.report, warnings=(*freed, *made.report.warnings)))
    character = replace(target, clips=MappingProxyType({made.clip.name: made.clip}))
    return Retargeted(character, used, made.report)


def _on_hinges(stacks: Stacks, body: Body, made: Made, choices: Choices) -> Made:
    """A motion of the balls on the hinges that these stand for; hands and feet end where they did."""
    from viewer.motion.carried import brought, held_end, within_limits  # noqa: PLC0415 - only here is the solver needed

    clip, whole = made.clip, stacks.whole
    motion, wanted = stacks.spread(clip), fk_clip(stacks.skeleton, clip)
    held = {ARM: choices.hands != "free", LEG: made.report.feet != "off"}
    limbs = [limb for limb in body.figure.limbs if held[limb.kind]] if body.figure is not None else []
    ends = [None if limb.end is None else stacks.members[limb.end][-1] for limb in limbs]
    tracks, away, world = [], np.zeros(len(clip)), fk_arrays(whole.parents, *motion)
    for limb, end in zip(limbs, ends, strict=True):
        tip, points = stacks.tip_of(limb), wanted.point(*limb.tip)
        tracks += held_end(whole, tip, end, points, wanted, limb.end)
        away = np.maximum(away, norm(world.point(*tip) - points))
    if tracks:
        motion = brought(whole, motion, tracks, away, clip.frame_time, limits=choices.limits)
    result = Clip.from_arrays(
        whole, hemisphere_continuous(normalized(motion[0])), motion[1], fps=clip.fps, name=clip.name
    )
    if choices.limits:
        own = [replace(limb, end=end, tip=stacks.tip_of(limb)) for limb, end in zip(limbs, ends, strict=True)]
        result = within_limits(whole, result, own)
    world, warnings = fk_clip(whole, result), made.report.warnings
    missed = [norm(world.point(*stacks.tip_of(limb)) - wanted.point(*limb.tip)).max() for limb in limbs]
    if max(missed, default=0.0) > _NOTED:
        warnings = (
            *warnings,
            f"hands or feet are up to {100.0 * max(missed):.1f} cm off: hinges and limits allow no more",
        )
    return Made(result, replace(made.report, at_limits=_outside(whole, result), warnings=warnings))


def _checked(choices: Choices) -> Choices:
    for name, value, known in (("feet", choices.feet, FEET), ("hands", choices.hands, HANDS)):
        if value not in known:
            raise InputError(f"retarget: {name}: expected {', '.join(known[:-1])} or {known[-1]}, found {quote(value)}")
    if choices.scale is not None and not (np.isfinite(choices.scale) and choices.scale > 0.0):
        raise InputError(f"retarget: scale: expected a number above 0, found {choices.scale}")
    return choices


class Made(NamedTuple):
    """A retargeted clip and its report."""

    clip: Clip
    report: RetargetReport


def retarget_clip(source: Body, target: Body, used: Map, choices: Choices, *, free: bool = True) -> Made:
    """The motion of one body on another.

    Args:
        source: with motion.
        target: gets it.
        used: the pairs.
        choices: how.
        free: the neutral poses may be replaced by poses in which both have the same shape.

    Raises:
        InputError: there are no pairs, or legs of length 0.
    """
    moving, clip = source.moving, source.clip
    assert moving is not None
    assert clip is not None
    by_name = {name: joint for joint, name in enumerate(source.skeleton.names)}
    pairs = {target.skeleton.index(mine): by_name[its] for its, mine in used.pairs.items()}
    if not pairs:
        raise InputError("expected a figure with arms or legs, found none: a map of the joints is needed")
    source, target, frames = comparable_bodies(source, target, pairs, free=free)
    ratio = leg_length_ratio(source, target)
    scale = ratio if choices.scale is None else choices.scale
    arms, legs = (paired_limbs(source, target, pairs, kind) for kind in (ARM, LEG))
    pairing = Pairing(source, target, pairs, frames, moving, scale, ratio, arms, legs)
    warnings: list[str] = []
    wanted = wanted_turns(pairing)
    posed = turned(pairing, wanted)
    rotations, translations, world = place_hips(pairing, *posed, in_place=choices.in_place)
    feet = choices.feet
    if feet != "off" and not legs:
        feet = "off"
        if source.figure is not None or target.figure is not None:
            warnings.append("feet: expected legs on both sides, found none: feet are off")
    if feet != "off":
        rotations, world = follow(pairing, legs, rotations, translations, world, wanted)
    planted = None
    if feet == "plant" and choices.in_place:
        feet = "follow"  # motion on the spot has no stances
    if feet == "plant":
        planted = _planted(pairing, (_as_clip(pairing, clip, rotations, translations), world), clip, warnings)
        if planted is None:
            feet = "follow"
        else:
            rotations, translations = planted.motion
            world = planted.feet.world
    if choices.hands != "free":
        if not arms:
            warnings.append("hands: expected arms on both sides, found none: hands are free")
        if choices.hands == "reach":
            rotations, world = follow(pairing, arms, rotations, translations, world, wanted)
        else:
            goals = list(zip(arms, touching_goals(pairing, world), strict=True))
            rotations, world = reach(pairing, goals, rotations, translations, world, wanted)
    result = _as_clip(pairing, clip, hemisphere_continuous(normalized(rotations)), translations)
    if choices.limits:
        from viewer.motion.carried import within_limits  # noqa: PLC0415 - only limits need the solver

        kept = (legs if feet != "off" else []) + (arms if choices.hands != "free" else [])
        result = within_limits(target.skeleton, result, [limb for _, limb in kept])
        world = fk_clip(target.skeleton, result)
        if planted is not None:
            slide = slide_of(planted.feet.in_world(world), planted.contacts)
            planted = planted._replace(slide_cm_s=(planted.slide_cm_s[0], slide))
    slides = None if planted is None else planted.slide_cm_s
    return Made(result, _report(pairing, used, (result, world), feet, slides, tuple(warnings)))


def _as_clip(pairing: Pairing, clip: Clip, rotations: Floats, translations: Floats) -> Clip:
    """A clip of the target with the name and rate of the source's."""
    made = Clip.from_arrays(pairing.target.skeleton, rotations, translations, fps=clip.fps, name=clip.name)
    return made if made.frame_time == clip.frame_time else replace(made, frame_time=clip.frame_time)


class _Stands(NamedTuple):
    """Rotations and translations with planted feet, contacts, feet, and how fast feet slide in the source and here."""

    motion: tuple[Floats, Floats]
    contacts: Contacts
    feet: MovingFeet
    slide_cm_s: tuple[float, float]


def _planted(pairing: Pairing, made: tuple[Clip, World], clip: Clip, warnings: list[str]) -> _Stands | None:
    """The result with its feet planted where the source's touch the ground; None, with a warning, if impossible."""
    try:
        moving = moving_feet(pairing.source.skeleton, clip, pairing.moving)
        touched = contacts_of(moving)
        feet = {leg.side: pairing.target.skeleton.names[_ankle(leg)] for _, leg in pairing.legs}
        before = moving_feet(pairing.target.skeleton, *made, moving.away)
        points = {foot.side: foot.places.keys() for foot in before.feet}
        contacts = Contacts(tuple(
            # Of a foot that is an ankle alone, as robots' are, the ankle stands while the source's heel does.
            f._replace(name=feet[f.side], contacts=tuple(one for one in f.contacts if one.point in points[f.side]))
            for f in touched.feet if f.side in feet
        ))  # fmt: skip
        motion = planted_motion(before, contacts)
    except InputError as error:
        warnings.append(f"feet: they follow and are not planted: {error}")
        return None
    after = before.in_world(fk_arrays(pairing.target.skeleton.parents, *motion))
    return _Stands(motion, contacts, after, (slide_of(moving, touched), slide_of(after, contacts)))


def _ankle(leg: Limb) -> int:
    return leg.lower if leg.end is None else leg.end


def _report(
    pairing: Pairing,
    used: Map,
    made: tuple[Clip, World],
    feet: str,
    slide_cm_s: tuple[float, float] | None,
    warnings: tuple[str, ...],
) -> RetargetReport:
    clip, _ = made
    limbs = (*pairing.arms, *pairing.legs)
    angles = np.zeros(0)
    if limbs:
        points = [
            np.stack([limb_points(pair[side], world) for pair in limbs])
            for side, world in enumerate((pairing.moving, made[1]))
        ]
        a, b = (np.diff(each, axis=1) for each in points)
        angles = np.arctan2(norm(cross(a, b)), dot(a, b))
    return RetargetReport(
        frames=len(clip),
        scale=pairing.scale,
        pairs=len(used.pairs),
        unsure=len(used.doubtful),
        source_reference=pairing.source.reference,
        target_reference=pairing.target.reference,
        limbs_deg=float(np.degrees(angles.mean())) if limbs else None,
        at_limits=_outside(pairing.target.skeleton, clip),
        feet=feet,
        slide_cm_s=slide_cm_s,
        warnings=warnings,
    )


def _outside(skeleton: Skeleton, clip: Clip) -> float:
    if all(limits is None for limits in skeleton.limits):
        return 0.0
    return float((clip_violation(skeleton, clip).max(axis=-1) > np.radians(0.5)).mean())
