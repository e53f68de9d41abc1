"""The motion of one skeleton on another with other names, joint frames, rest poses and proportions.

1. Joints are paired by parts of the body (`find_map`).
2. Anatomical frames A (`anatomy.py`) make joint frames comparable: the target's joint turns in the world as the
   source's does, W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take their turns from a curve.
3. The middle of the hips follows in the ratio of the legs' lengths, higher where the target's ankles are.
4. Ankles, and hands if asked, are brought to the scaled places by two-bone IK; the feet keep their turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.choices import FEET, HANDS, Feet, Hands
from viewer.errors import InputError, quote, unknown_name
from viewer.motion.contacts import Contacts, MovingFeet, contacts_of, foot_places, moving_feet
from viewer.motion.held_ends import HeldEnd, held_end, with_body_over, with_ends_held, with_ends_near
from viewer.motion.hinge_stacks import Stacks, without_stacks
from viewer.motion.in_plane import plane_of, straightened
from viewer.motion.limb_chain import limb_points
from viewer.motion.paired_places import followed, place_hips, reach, touching_goals, with_feet_at
from viewer.motion.pairing import Pairing, comparable_bodies, leg_length_ratio, paired_limbs, turned, wanted_turns
from viewer.motion.plant import planted_motion
from viewer.motion.reference import Body, bodies_of, world_of_clip
from viewer.motion.skate_meter import slide_of
from viewer.skeleton import Character, Clip, Figure, Limb, Skeleton, World, fk_clip
from viewer.skeleton.character import check_character
from viewer.skeleton.clip import clip_like, trusted_like
from viewer.skeleton.clip_limits import too_fast
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.figure import find_slots
from viewer.skeleton.joint_map import Map, Reference, find_pairs, is_same_tree, map_of, with_pairs, without_crossings
from viewer.skeleton.limbs import ARM, LEG
from viewer.skeleton.tree import above
from viewer.spatial.checks import Floats, check_flag, check_range
from viewer.spatial.quaternion import angle_between, hemisphere_continuous, normalized
from viewer.spatial.vectors import cross, dot, norm

_OUTSIDE = np.radians(0.5)
"""A joint is outside its limits if it is beyond them by more than this."""


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
            check_range("retarget: scale", self.scale, above=0.0)
        for name, flag in (("limits", self.limits), ("in_place", self.in_place)):
            check_flag(f"retarget: {name}", flag)


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
        warnings: a line for each choice that could not be carried out, and one on joints that are too fast.
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


class Stands(NamedTuple):
    """Where feet stand: the target's, its contacts, and how fast the source's slide in theirs, cm/s."""

    feet: MovingFeet
    contacts: Contacts
    slide_cm_s: float


def report_of(
    pairing: Pairing,
    used: Map,
    handed: tuple[Skeleton, Clip, World],
    feet: str,
    stands: Stands | None,
    warnings: tuple[str, ...],
) -> RetargetReport:
    """The report of a motion.

    Args:
        pairing: both bodies.
        used: the pairs.
        handed: the skeleton and the motion that the user gets; and where the joints of the pairing's target are in it,
            which stand for several ones of a robot.
        feet: what was done.
        stands: None where feet were not planted.
        warnings: what could not be done.
    """
    skeleton, clip, world = handed
    limbs = (*pairing.arms, *pairing.legs)
    angles = np.zeros(0)
    if limbs:
        points = [
            np.stack([limb_points(pair[side], seen) for pair in limbs])
            for side, seen in enumerate((pairing.moving, world))
        ]
        a, b = (np.diff(each, axis=1) for each in points)
        angles = np.arctan2(norm(cross(a, b)), dot(a, b))
    coordinates, outside = None, np.zeros(1)
    if any(limits is not None for limits in skeleton.limits):
        space = joint_space(skeleton)
        coordinates = space.measure(clip.rotations, clip.local_translations())
        outside = space.excess(coordinates).max(axis=-1)
    slide = None if stands is None else (stands.slide_cm_s, slide_of(stands.feet.in_world(world), stands.contacts))
    return RetargetReport(
        frames=len(clip),
        scale=pairing.scale,
        pairs=len(used.pairs),
        unsure=len(used.doubtful),
        source_reference=pairing.source.reference,
        target_reference=pairing.target.reference,
        limbs_deg=float(np.degrees(angles.mean())) if limbs else None,
        at_limits=float((outside > _OUTSIDE).mean()),
        feet=feet,
        slide_cm_s=slide,
        warnings=(*warnings, *too_fast(skeleton, clip, coordinates)),
    )


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
    pairing: Pairing, choices: Choices, moved: Moved, wanted: dict[int, Floats], warnings: list[str]
) -> tuple[Moved, str, Stands | None]:
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
    return Moved(rotations, moved.translations, world), "follow", None


def _planted(pairing: Pairing, moved: Moved, goals: list[Floats], warnings: list[str]) -> tuple[Moved, Stands] | None:
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
        goals = followed(pairing, arms, moved.world)
    else:
        goals, shares = touching_goals(pairing, moved.world)
        warnings += _out_of_reach([arm for _, arm in arms], goals, moved.world)
        touches = {arm.upper: share for (_, arm), share in zip(arms, shares, strict=True)}
    rotations, world = reach(pairing, list(zip(arms, goals, strict=True)), *moved, wanted, slowly=True)
    return Moved(rotations, moved.translations, world), touches


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


_NOTED = 2e-3
"""Metres by which a robot's hands or feet may miss their places before a warning says so."""
_BEYOND, _ELSEWHERE = 0.01, np.radians(30.0)
"""The same for the places of hands that arms are too short for, and radians by which a body may be turned otherwise."""


@dataclass(frozen=True, slots=True)
class Retargeted:
    """The target with the motion, the map that was used, and a report."""

    character: Character
    map: Map
    report: RetargetReport

    def __repr__(self) -> str:
        report = self.report
        return f"<Retargeted {quote(self.character.skeleton.name)}: {report.frames} frames, {report.pairs} pairs>"


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
    sides, given = _sides(its, _clip_of(its, clip), mine, given)
    return _mapped(*bodies_of(sides[0][1:], sides[1][1:]), given)


class _Side(NamedTuple):
    """A skeleton without stacks of hinges, its clip, and the stacks that it had; None: it had none."""

    stacks: Stacks | None
    skeleton: Skeleton
    clip: Clip | None


def _sides(
    source: Character,
    clip: Clip | None,
    target: Character,
    given: Map | Mapping[str, str | None] | None,
    *,
    plants: bool = False,
) -> tuple[tuple[_Side, _Side], Map | Mapping[str, str | None] | None]:
    """Source and target without stacks of hinges, and the map with the names that they have then.

    A robot gets the motion of the same robot hinge by hinge, unless its feet are planted: planting poses whole legs.
    """
    alike = is_same_tree(source.skeleton, target.skeleton) and not plants
    if alike and isinstance(given, Map):
        given = _by_hinges(given, source.skeleton, target.skeleton)
    sides = []
    for character, motion in ((source, clip), (target, target.clip)):
        stacks = without_stacks(character.skeleton, hinges=not alike)
        if stacks is None:
            sides.append(_Side(None, character.skeleton, motion))
        else:
            sides.append(_Side(stacks, stacks.skeleton, None if motion is None else stacks.gather(motion)))
    its, mine = (_same_name if side.stacks is None else side.stacks.name_of for side in sides)
    if isinstance(given, Map):
        pairs = {its(one): mine(other) for one, other in given.pairs.items()}
        certainty = {its(one): sure for one, sure in given.certainty.items()}
        by_hand = frozenset(its(one) for one in given.by_hand)
        given = replace(
            given, pairs=MappingProxyType(pairs), certainty=MappingProxyType(certainty), by_hand=by_hand
        )  # fmt: skip
    elif given is not None:
        given = {its(one): None if other is None else mine(other) for one, other in given.items()}
    return (sides[0], sides[1]), given


def _by_hinges(given: Map, source: Skeleton, target: Skeleton) -> Map:
    """A map in which each joint that stands for a stack of hinges is replaced by those hinges."""
    its, mine = without_stacks(source), without_stacks(target)
    if its is None or mine is None:
        return given
    pairs = dict(given.pairs)
    for one, other in given.pairs.items():
        rows = its.names_in(one), mine.names_in(other)
        if len(rows[0]) == len(rows[1]):
            for hinge, partner in zip(*rows, strict=True):
                if hinge not in given.by_hand:
                    pairs.setdefault(hinge, partner)
    by_hand = frozenset(hinge for one in given.by_hand for hinge in its.names_in(one))
    return replace(given, pairs=MappingProxyType(pairs), by_hand=by_hand)


def _same_name(name: str) -> str:
    return name


def _clip_of(character: Character, name: str | None) -> Clip | None:
    if name is None:
        return character.clip
    if name not in character.clips:
        raise InputError(f"retarget: source: {unknown_name('clip', name, character.clips)}")
    return character.clips[name]


@lru_cache(maxsize=16)
def _found(source: Skeleton, target: Skeleton, source_figure: Figure | None, target_figure: Figure | None) -> Map:
    """The pairs of two skeletons that are these figures."""
    sides = (source, source_figure), (target, target_figure)
    slots = [{} if figure is None else find_slots(skeleton, figure) for skeleton, figure in sides]
    return map_of(source, target, without_crossings(source, target, find_pairs(source, target, *slots)))


def _mapped(source: Body, target: Body, given: Map | Mapping[str, str | None] | None) -> Map:
    skeletons = source.skeleton, target.skeleton
    found = _found(*skeletons, source.figure, target.figure)
    if given is None:
        return found
    if not isinstance(given, Map):
        return with_pairs(found, given, *skeletons)
    if given.by_hand:
        by_hand: dict[str, str | None] = {name: given.pairs.get(name) for name in given.by_hand}
    else:
        # In a map that does not say which pairs were given by hand, all of them were.
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
    choices = Choices(feet, hands, limits, scale, in_place)
    if isinstance(map, Map):
        reference = map.source_reference if reference == "auto" else reference
        target_reference = map.target_reference if target_reference == "auto" else target_reference
    (its_side, side), given = _sides(source, moving, target, map, plants=feet == "plant" and not in_place)
    its, mine = bodies_of(its_side[1:], side[1:], (reference, target_reference))
    used = _mapped(its, mine, given)
    posed = posed_body(its, mine, used, choices, free=(reference, target_reference) == ("auto", "auto"))
    skeleton, made, seen, warnings = _handed(side.stacks, posed, choices)
    report = report_of(posed.pairing, used, (skeleton, made, seen), posed.feet, posed.stands, warnings)
    character = replace(target, skeleton=skeleton, clips=MappingProxyType({made.name: made}))
    return Retargeted(character, used, report)


def _handed(stacks: Stacks | None, posed: PosedBody, choices: Choices) -> tuple[Skeleton, Clip, World, tuple[str, ...]]:
    """The skeleton and the motion to return, where the joints of the body are in it, and warnings."""
    skeleton, clip, held = posed.pairing.target.skeleton, posed.clip, posed.held
    if stacks is None:
        clip = replace(clip)  # which checks it
    else:
        skeleton = stacks.whole
        clip, held = _on_hinges(stacks, posed), [stacks.limb_of(limb) for limb in held]
    if choices.limits:
        from viewer.motion.layer_solve import within_limits  # noqa: PLC0415 - only limits need the solver

        clip = within_limits(skeleton, clip, held)
    world, warnings = posed.world, posed.warnings
    if stacks is not None or choices.limits:
        whole = fk_clip(skeleton, clip)
        world = whole if stacks is None else stacks.seen(whole)
    if stacks is not None:
        trunk, away = _trunk(posed.pairing), []
        moved = world.positions[:, trunk] - posed.world.positions[:, trunk]
        for limb in posed.held:
            off, share = world.point(*limb.tip) - posed.world.point(*limb.tip), posed.touches.get(limb.upper)
            away.append(norm(off if share is None else (off - moved) * share[:, None]).max())
        if max(away, default=0.0) > _NOTED:
            words = f"hands or feet are up to {100.0 * max(away):.1f} cm off: hinges and limits allow no more"
            warnings = (*warnings, words)
        if stacks.freed is not None:
            base = quote(skeleton.names[stacks.freed])
            warnings = (f"{base} is fixed: it is free here, so that the figure can move about", *warnings)
    return skeleton, clip, world, warnings


def _trunk(pairing: Pairing) -> int:
    return 0 if pairing.target.figure is None else pairing.target.figure.trunk


def _on_hinges(stacks: Stacks, posed: PosedBody) -> Clip:
    """A motion on the hinges that single joints stand for; ends that are held are where they were, hands near that."""
    clip, whole, rate = posed.clip, stacks.whole, 1.0 / posed.clip.frame_time
    exact, near = list[tuple[HeldEnd, int]](), list[tuple[HeldEnd, int]]()
    for limb in posed.held:
        end, touches = held_end(limb, posed.world, stacks.limb_of(limb)), posed.touches.get(limb.upper)
        carried = end, int(whole.parents[stacks.members[limb.upper][0]])
        if touches is None:
            exact.append(carried)
        elif touches.any():
            near.append(carried)
    given, body, held = stacks.spread(clip), stacks.members[_trunk(posed.pairing)][-1], [end for end, _ in exact]
    over = with_body_over(whole, given, held)
    # Hands first come near their places without spins: from there the exact places are not far.
    over = with_ends_near(whole, over, [(end, carrier) for end, carrier in exact if end.rank], rate)
    motion = with_ends_held(whole, over, held, body)
    # What hands touch is mostly the body, and moves with it.
    root = above(whole, body)[-1]
    moved = motion[1][:, root] - given[1][:, root]
    near = [(end._replace(points=end.points + moved), carrier) for end, carrier in near]
    motion = with_ends_near(whole, motion, near, rate)
    return clip_like(clip, whole, hemisphere_continuous(normalized(motion[0])), motion[1])
