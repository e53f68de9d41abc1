"""The motion of one skeleton on another with other names, joint frames, rest poses and proportions.

Joints are paired by parts of the body (`find_map`), and the target's body is posed (`posed_body`). Robots get that on
the hinges that single joints stood for; limits come last.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from viewer.choices import Feet, Hands
from viewer.errors import InputError, quote, unknown_name
from viewer.motion.held_ends import HeldEnd, Motion, held_end, with_body_over, with_ends_held, with_ends_near
from viewer.motion.hinge_stacks import Stacks, without_stacks
from viewer.motion.limb_chain import limb_points
from viewer.motion.pairing import Pairing, leaps
from viewer.motion.posed_body import Choices, PosedBody, Stands, posed_body
from viewer.motion.reference import Body, bodies_of
from viewer.motion.skating import slide_of
from viewer.skeleton import Character, Clip, Figure, Limb, Skeleton, World, fk_arrays, fk_clip
from viewer.skeleton.character import check_character
from viewer.skeleton.clip import trusted_like
from viewer.skeleton.clip_limits import too_fast
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.figure import find_slots
from viewer.skeleton.joint_map import Map, Reference, find_pairs, is_same_tree, map_of, with_pairs, without_crossings
from viewer.skeleton.tree import above
from viewer.spatial.quaternion import cross, dot, hemisphere_continuous, norm, normalized

_OUTSIDE = np.radians(0.5)
"""A joint is outside its limits if it is beyond them by more than this."""


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


def report_of(
    pairing: Pairing,
    used: Map,
    handed: tuple[Skeleton, Clip, World],
    feet: str,
    stands: Stands | None,
    warnings: tuple[str, ...],
) -> RetargetReport:
    """The report of a motion.

    ``handed``: the skeleton and the motion that the user gets; and where the joints of the pairing's target are in it,
    which stand for several ones of a robot. ``stands``: None where feet were not planted.
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


_NOTED = 2e-3
"""Metres by which a robot's hands or feet may miss their places before a warning says so."""


@dataclass(frozen=True, slots=True)
class Retargeted:
    """The target with the motion, the map that was used, and a report."""

    character: Character
    map: Map
    report: RetargetReport

    @property
    def clip(self) -> Clip:
        """The motion on the target."""
        return next(iter(self.character.clips.values()))

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
    its, mine = (str if side.stacks is None else side.stacks.name_of for side in sides)
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


def _clip_of(character: Character, name: str | None) -> Clip | None:
    if name is None:
        return character.clip
    if name not in character.clips:
        raise InputError(f"retarget: source: {unknown_name('clip', name, character.clips)}")
    return character.clips[name]


@lru_cache(maxsize=16)
def _found(source: Skeleton, target: Skeleton, source_figure: Figure | None, target_figure: Figure | None) -> Map:
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
    skeleton, clip = posed.pairing.target.skeleton, posed.clip
    world, warnings = posed.world, posed.warnings
    if stacks is not None:
        skeleton = stacks.whole
        clip, whole = _on_hinges(stacks, posed)
        world = stacks.seen(whole)
    clip = replace(clip)  # which checks it
    if choices.limits:
        from viewer.motion.layer_solve import within_limits  # noqa: PLC0415 - only limits need the solver

        held = posed.held if stacks is None else [stacks.limb_of(limb) for limb in posed.held]
        clip = within_limits(skeleton, clip, held)
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


def _on_hinges(stacks: Stacks, posed: PosedBody) -> tuple[Clip, World]:
    """A motion on the hinges that single joints stand for; ends that are held are where they were, hands near that."""
    clip, whole, rate = posed.clip, stacks.whole, 1.0 / posed.clip.frame_time

    def end(limb: Limb) -> HeldEnd:
        return held_end(limb, posed.world, stacks.limb_of(limb))

    touching = {upper for upper, share in posed.touches.items() if share.any()}
    feet = [end(limb) for limb in posed.held if limb.upper not in posed.touches]
    hands = [end(limb) for limb in posed.held if limb.upper in touching]
    spread, body = stacks.spread(clip), stacks.members[_trunk(posed.pairing)][-1]
    given = Motion(*spread, fk_arrays(whole.parents, *spread))
    motion = with_ends_held(whole, with_body_over(whole, given, feet), feet, body)
    # Hands go where they are on the body, which may have moved.
    root = above(whole, body)[-1]
    moved = motion.translations[:, root] - given.translations[:, root]
    hands = [hand._replace(points=hand.points + moved) for hand in hands]
    motion = with_ends_near(whole, motion, hands, body, rate, leaps(posed.pairing))
    turns = hemisphere_continuous(normalized(motion.rotations))
    return trusted_like(clip, whole, turns, motion.translations), motion.world
