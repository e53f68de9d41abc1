"""The motion of one skeleton on another, whatever their names, joint frames, rest poses and proportions are.

1. Joints are paired by parts of the body (`find_map`).
2. Anatomical frames A (`anatomy.py`) make joint frames comparable: the target's joint turns in the world as the
   source's does, W_t = W_s A_s A_t^-1. Spines and necks with other numbers of joints take their turns from a curve.
3. The middle of the hips follows in the ratio of the legs' lengths, higher where the target's ankles are.
4. Ankles, and hands if asked, are brought to the scaled places by two-bone IK; the feet keep their turns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from types import MappingProxyType
from typing import Literal

import numpy as np

from viewer.errors import InputError, quote, unknown_name
from viewer.motion.anatomy import Frames, aligned_frames, anatomical_frames
from viewer.motion.contacts import Contacts, foot_contacts
from viewer.motion.hands import Figures, touching_goals
from viewer.motion.limb_chain import limb_joints, pose_limbs
from viewer.motion.plant import plant_feet
from viewer.motion.reference import Body, bodies_of, matching_poses, neutral_at, standing_frames
from viewer.motion.skate import skate
from viewer.skeleton import Character, Clip, JointKind, Limb, Skeleton, World, at_or_below, clip_violation, fk_arrays
from viewer.skeleton.arguments import check_character
from viewer.skeleton.coordinates import nearest_turns, project_clip
from viewer.skeleton.joint_map import Map, Reference, find_pairs, is_same_tree, map_of, with_pairs
from viewer.skeleton.limbs import ARM, LEG
from viewer.skeleton.slots import NECK, SPINE
from viewer.skeleton.transfer import leg_ratio
from viewer.skeleton.tree import unit
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import (
    conjugate,
    from_axis_angle,
    hemisphere_continuous,
    multiply,
    normalized,
    rotate,
    slerp,
)

Feet = Literal["plant", "follow", "off"]
Hands = Literal["free", "reach", "touch"]
FEET: tuple[Feet, ...] = ("plant", "follow", "off")
HANDS: tuple[Hands, ...] = ("free", "reach", "touch")
_THERE = 1e-6
"""A limb's end that is nearer to its goal than this part of the limb stays as it is."""
_STRAIGHT, _BENT = 0.03, 0.15
"""Sines of the bend below which a limb shows no plane, and above which it does."""
_MOVED = 1e-4
"""A joint translates in a clip if it leaves its offset by this part of the figure's leg."""


@dataclass(frozen=True, slots=True)
class Report:
    """What retargeting found and did.

    Attributes:
        frames: in the result.
        scale: how many times as far the target's hips go as the source's.
        pairs, unsure: numbers of pairs, and of those to be looked at.
        source_reference, target_reference: "rest" or the frame that was taken for neutral.
        limbs_deg: mean angle between the limbs' bones of source and target, degrees; None without limbs.
        at_limits: share of frames in which a joint of the result is outside its limits.
        feet: "plant", "follow" or "off", as it was done.
        slide_cm_s: how fast standing feet slide in the motion and in the result, cm a second; None: unknown.
        warnings: a line for each thing that was asked for and could not be done.
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
    """The result: the target with the motion, the map that was used, and what was done."""

    character: Character
    map: Map
    report: Report


@dataclass(frozen=True, slots=True)
class Choices:
    """How a motion is retargeted.

    Attributes:
        feet: "plant": stances stay where they touch; "follow": ankles go where the source's go, scaled; "off".
        hands: "free": as the arms turn; "reach": wrists go where the source's go, scaled, as far as arms reach;
            "touch": wrists keep their places near the other hand, head, chest and thighs while they are close.
        limits: joints are kept inside their limits.
        scale: of the path; None: the ratio of the legs' lengths.
        in_place: the hips stay above their first place.
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
    """Which joint of the target stands for which of the source.

    Names, parts of the body and the order of bones decide; motions tell left from right where these do not.

    Args:
        source: of the motion.
        target: gets it.
        given: pairs that replace those found: a map, or names of the target's joints by the source's, None for none.
        clip: name of the source's clip; None: the first.

    Returns:
        Names by names, how certain each pair is, and the target's joints that have none.

    Raises:
        InputError: a map that names joints that are not there, or that crosses.
    """
    sides = [each if isinstance(each, Character) else Character(each) for each in (source, target)]
    return _mapped(*bodies_of((sides[0].skeleton, _clip_of(sides[0], clip)), (sides[1].skeleton, sides[1].clip)), given)


def _clip_of(character: Character, name: str | None) -> Clip | None:
    if name is None:
        return character.clip
    if name not in character.clips:
        raise InputError(f"retarget: source: {unknown_name('clip', name, character.clips)}")
    return character.clips[name]


def _mapped(source: Body, target: Body, given: Map | Mapping[str, str | None] | None) -> Map:
    skeletons = source.skeleton, target.skeleton
    found = map_of(*skeletons, find_pairs(*skeletons, source.slots, target.slots))
    if given is None:
        return found
    if not isinstance(given, Map):
        return with_pairs(found, given, *skeletons)
    if given.by_hand:
        by_hand: dict[str, str | None] = {name: given.pairs.get(name) for name in given.by_hand}
    else:
        # A map that does not say which pairs are by hand stands for all of them.
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
    sides = (source.skeleton, moving), (target.skeleton, target.clip)
    its, mine = bodies_of(*sides, (reference, target_reference))
    used = _mapped(its, mine, map)
    made = retarget_clip(its, mine, used, choices, free=(reference, target_reference) == ("auto", "auto"))
    character = replace(target, clips=MappingProxyType({made.clip.name: made.clip}))
    return Retargeted(character, used, made.report)


def _checked(choices: Choices) -> Choices:
    for name, value, known in (("feet", choices.feet, FEET), ("hands", choices.hands, HANDS)):
        if value not in known:
            raise InputError(f"retarget: {name}: expected {', '.join(known[:-1])} or {known[-1]}, found {quote(value)}")
    if choices.scale is not None and not (np.isfinite(choices.scale) and choices.scale > 0.0):
        raise InputError(f"retarget: scale: expected a number above 0, found {choices.scale}")
    return choices


@dataclass(frozen=True, slots=True)
class Made:
    """A retargeted clip and what was done."""

    clip: Clip
    report: Report


@dataclass(eq=False)
class _Work:
    """Both sides while the result is made."""

    source: Body
    target: Body
    pairs: dict[int, int]
    frames: tuple[Frames, Frames]
    moving: World
    scale: float
    ratio: float
    warnings: list[str] = field(default_factory=list)

    def limbs(self, kind: str) -> list[tuple[Limb, Limb]]:
        """Limbs of both figures whose upper and lower bones are paired: source, target."""
        if self.source.figure is None or self.target.figure is None:
            return []
        return [
            (one, two)
            for one in self.source.figure.limbs
            for two in self.target.figure.limbs
            if one.kind == kind and self.pairs.get(two.upper) == one.upper and self.pairs.get(two.lower) == one.lower
        ]


def retarget_clip(source: Body, target: Body, used: Map, choices: Choices, *, free: bool = True) -> Made:
    """The motion of one body on another.

    Args:
        source: with motion.
        target: gets it.
        used: the pairs.
        choices: how.
        free: the neutral poses may be replaced by poses in which both stand alike, if there are such.

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
    source, target, frames = _comparable(source, target, pairs, free=free)
    ratio = _ratio_of(source, target)
    scale = ratio if choices.scale is None else choices.scale
    work = _Work(source, target, pairs, frames, moving, scale, ratio)
    wanted = _wanted_turns(work)
    rotations, translations, world = _posed(work, wanted)
    rotations, translations, world = _placed(work, choices, rotations, translations, world)
    feet = choices.feet
    legs = work.limbs(LEG)
    if feet != "off" and not legs:
        feet = "off"
        if source.figure is not None or target.figure is not None:
            work.warnings.append("feet: expected legs on both sides, found none: feet are off")
    if feet != "off":
        rotations, world = _follow(work, legs, rotations, translations, world, wanted)
    slide = None
    if feet == "plant" and choices.in_place:
        feet = "follow"  # on the spot nothing stands
    if feet == "plant":
        planted = _planted(work, _as_clip(work, clip, rotations, translations), clip)
        if planted is None:
            feet = "follow"
        else:
            slide = planted[1]
            rotations, translations = planted[0].rotations, planted[0].local_translations()
            world = fk_arrays(target.skeleton.parents, rotations, translations)
    if choices.hands != "free":
        arms = work.limbs(ARM)
        if not arms:
            work.warnings.append("hands: expected arms on both sides, found none: hands are free")
        if choices.hands == "reach":
            places = [_beside_hips(work, world, moving.point(*its.tip)) for its, _ in arms]
        else:
            places = touching_goals(Figures((source, target), (moving, world), frames, arms, legs, clip.frame_time))
        for arm, goals in zip(arms, places, strict=True):
            rotations, world = _reached(work, arm, goals, rotations, translations, world, wanted)
    result = _as_clip(work, clip, rotations, translations)
    if choices.limits:
        result = project_clip(target.skeleton, result)
    return Made(result, replace(_report(work, used, result, feet), slide_cm_s=slide))


def _as_clip(work: _Work, clip: Clip, rotations: Floats, translations: Floats) -> Clip:
    """A clip of the target with the name and rate of the source's."""
    turns = hemisphere_continuous(normalized(rotations))
    return replace(
        Clip.from_arrays(work.target.skeleton, turns, translations, fps=clip.fps, name=clip.name),
        frame_time=clip.frame_time,
    )


def _planted(work: _Work, result: Clip, clip: Clip) -> tuple[Clip, tuple[float, float]] | None:
    """The result with its feet planted where the source's touch the ground, and how fast feet slid before and after.

    None where contacts cannot be found or planted.
    """
    try:
        touched = foot_contacts(work.source.skeleton, clip)
        feet = {leg.side: work.target.skeleton.names[_ankle(leg)] for _, leg in work.limbs(LEG)}
        contacts = Contacts(tuple(f._replace(name=feet[f.side]) for f in touched.feet if f.side in feet))
        planted = plant_feet(work.target.skeleton, result, contacts)
    except InputError as error:
        work.warnings.append(f"feet: they follow and are not planted: {error}")
        return None
    before = skate(work.source.skeleton, clip, touched).slide_cm_s
    return planted.clip, (before, planted.report.after.slide_cm_s)


def _ankle(leg: Limb) -> int:
    return leg.lower if leg.end is None else leg.end


# --- frames that compare


def _comparable(
    source: Body, target: Body, pairs: dict[int, int], *, free: bool
) -> tuple[Body, Body, tuple[Frames, Frames]]:
    """The bodies and their anatomical frames."""
    if free and is_same_tree(source.skeleton, target.skeleton) and all(s == t for t, s in pairs.items()):
        found = matching_poses(source, target)
        if found is not None:
            (its, mine), turn = found
            source, target = neutral_at(source, its), neutral_at(target, mine)
            frames = (
                dict(enumerate(conjugate(source.neutral.rotations))),
                dict(enumerate(conjugate(multiply(turn, target.neutral.rotations)))),
            )
            return source, target, frames
    if source.figure is not None and target.figure is not None:
        return source, target, anatomical_frames(source, target)
    return source, target, aligned_frames(source, target, pairs)


def _ratio_of(source: Body, target: Body) -> float:
    """How many times as long the target's legs are as the source's."""
    its, mine = _leg_length(source), _leg_length(target)
    if its is None or mine is None:
        return leg_ratio(source.skeleton, target.skeleton)
    for body, length, side in ((source, its, "source"), (target, mine, "target")):
        if not length > 0.0:
            raise InputError(f"{side} {quote(body.skeleton.name)}: expected legs of some length, found 0")
    return mine / its


def _leg_length(body: Body) -> float | None:
    """Thigh and shank, metres, the mean of both legs, as the clip has them if it has other offsets."""
    if body.figure is None or not body.figure.legs:
        return None
    total = 0.0
    for leg in body.figure.legs:
        joint, offset = leg.tip
        end = body.neutral.positions[joint] + rotate(body.neutral.rotations[joint], np.asarray(offset))
        upper, lower = body.neutral.positions[leg.upper], body.neutral.positions[leg.lower]
        total += float(np.linalg.norm(lower - upper) + np.linalg.norm(end - lower))
    return total / len(body.figure.legs)


# --- turns


def _wanted_turns(work: _Work) -> dict[int, Floats]:
    """World rotations (F, 4) of the target's joints that follow the source, by joint."""
    source, target, turned = work.source, work.target, work.moving.rotations
    its, mine = work.frames

    def part(joint: int) -> Floats:
        return multiply(turned[:, joint], its[joint])

    wanted = {joint: multiply(part(other), conjugate(mine[joint])) for joint, other in work.pairs.items()}
    for its_limb, limb in (*work.limbs(ARM), *work.limbs(LEG)):
        if target.skeleton.kinds[limb.lower] in (JointKind.HINGE, JointKind.UNIVERSAL):
            wanted[limb.upper] = _in_plane(work, its_limb, limb, wanted[limb.upper])
    for chain in (SPINE, NECK):
        for joint, (one, two, share) in _curve(source, target, chain).items():
            between = part(one) if share <= 0.0 else slerp(part(one), part(two), np.array(share))
            wanted[joint] = multiply(between, conjugate(mine[joint]))
    return wanted


def _in_plane(work: _Work, source: Limb, target: Limb, upper: Floats) -> Floats:
    """World rotations (F, 4) of an upper bone whose hinge lies square to the plane in which the source's limb bends.

    A ball bends to any side, a hinge to one: the upper bone's twist makes up for it, where the limb is bent.
    """
    places = work.moving.positions
    bones = places[:, source.lower] - places[:, source.upper], work.moving.point(*source.tip) - places[:, source.lower]
    along, normal = unit(bones[0]), np.cross(unit(bones[0]), unit(bones[1]))
    sine = np.linalg.norm(normal, axis=1)
    axis = rotate(multiply(upper, work.frames[1][target.upper]), np.array([1.0, 0.0, 0.0]))
    normal = normal * np.where(np.einsum("fi,fi->f", normal, axis) < 0.0, -1.0, 1.0)[:, None]
    turn = np.arctan2(
        np.einsum("fi,fi->f", along, np.cross(axis, normal)),
        np.einsum("fi,fi->f", axis, normal),
    )
    share = np.clip((sine - _STRAIGHT) / (_BENT - _STRAIGHT), 0.0, 1.0)
    return multiply(from_axis_angle(along, share * turn), upper)


def _curve(source: Body, target: Body, chain: str) -> dict[int, tuple[int, int, float]]:
    """For the target's joints of a chain with another number of joints: two joints of the source, and a share.

    Spines are counted from the pelvis, necks measured along their bones up to the head.
    """
    its, mine = (_joints_of(body, chain) for body in (source, target))
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


def _joints_of(body: Body, chain: str) -> list[int]:
    return [joint for slot, joint in body.slots.items() if slot.startswith(f"{chain} ")]


def _along(body: Body, joints: list[int]) -> Floats:
    """(N,) shares of the way from the first to the last joint when neutral; counted where there is no way."""
    places = body.neutral.positions[joints]
    lengths = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))])
    return lengths / lengths[-1] if lengths[-1] > 0.0 else np.arange(len(joints)) / max(len(joints) - 1, 1)


Motion = tuple["Floats", "Floats", "World"]


def _posed(work: _Work, wanted: dict[int, Floats]) -> Motion:
    """Local rotations, translations and world of the target with its joints turned as wanted, its root at rest."""
    skeleton = work.target.skeleton
    count = len(work.moving.positions)
    rotations = np.repeat(skeleton.rest_rotations[None], count, axis=0)
    translations = np.repeat(skeleton.offsets[None], count, axis=0)
    _translated(work, translations)
    world: list[Floats] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        above = world[parent] if parent >= 0 else None
        if joint in wanted:
            local = wanted[joint] if above is None else multiply(conjugate(above), wanted[joint])
            rotations[:, joint] = nearest_turns(skeleton, joint, local)
        turn = rotations[:, joint]
        world.append(turn if above is None else multiply(above, turn))
    return rotations, translations, fk_arrays(skeleton.parents, normalized(rotations), translations)


def _translated(work: _Work, translations: Floats) -> None:
    """Where both clips translate a joint below the body's own root, the target's goes with the source's."""
    its, mine = work.source.clip, work.target.clip
    if its is None or mine is None or work.source.figure is None:
        return
    kept = {work.target.slots.get("root"), work.target.slots.get("trunk"), work.target.slots.get("pelvis")}
    parents, other_parents = work.target.skeleton.parents, work.source.skeleton.parents
    places = {joint: column for column, joint in enumerate(its.translated.tolist())}
    ratio = leg_ratio(work.source.skeleton, work.target.skeleton)
    least = _MOVED * (_leg_length(work.source) or 1.0)
    for joint in mine.translated.tolist():
        other = work.pairs.get(joint, -1)
        above, its_above = int(parents[joint]), int(other_parents[other]) if other >= 0 else -1
        if other not in places or joint in kept or above < 0 or work.pairs.get(above) != its_above:
            continue
        moved = its.translations[:, places[other]] - work.source.skeleton.offsets[other]
        if float(np.abs(moved).max()) > least:
            turn = multiply(work.frames[1][above], conjugate(work.frames[0][its_above]))
            translations[:, joint] += ratio * rotate(turn, moved)


# --- places


def _placed(work: _Work, choices: Choices, rotations: Floats, translations: Floats, world: World) -> Motion:
    """The target with its hips, or its topmost paired joint, on the source's scaled path, its height above soles."""
    skeleton = work.target.skeleton
    carrier, its_middle, middle = _carried(work, world)
    shift = _path(work, choices, its_middle) - middle
    translations = translations.copy()
    above = int(skeleton.parents[carrier])
    translations[:, carrier] += shift if above < 0 else rotate(conjugate(world.rotations[:, above]), shift)
    if carrier == 0:
        return rotations, translations, World(world.positions + shift[:, None], world.rotations)
    return rotations, translations, fk_arrays(skeleton.parents, rotations, translations)


def _carried(work: _Work, world: World) -> tuple[int, Floats, Floats]:
    """The joint that carries the target's body, and the points (F, 3) of source and target that go together."""
    source, target = work.source, work.target
    legs = work.limbs(LEG)
    top = min(work.pairs)
    if target.figure is not None:
        top = target.figure.trunk
    if legs:
        its = work.moving.positions[:, [leg.upper for leg, _ in legs]].mean(axis=1)
        mine = world.positions[:, [leg.upper for _, leg in legs]].mean(axis=1)
        return top, its, mine
    other = work.pairs.get(top, source.figure.trunk if source.figure is not None else min(work.pairs.values()))
    return top, work.moving.positions[:, other].copy(), world.positions[:, top]


def _path(work: _Work, choices: Choices, middle: Floats) -> Floats:
    """(F, 3) where the target's hips go: level as far as the scale says, as high as its legs are long."""
    goal = work.scale * middle
    goal[:, 1] = work.ratio * middle[:, 1] + _above_between(work)
    if choices.in_place:
        goal[:, [0, 2]] = goal[:1, [0, 2]]
    return goal


def _above_between(work: _Work) -> float:
    """Metres by which the target's ankles are higher above its soles than the source's, scaled."""
    legs = work.limbs(LEG)
    if not legs or is_same_tree(work.source.skeleton, work.target.skeleton):
        return 0.0
    above = [_above_sole(body, [pair[index] for pair in legs]) for index, body in enumerate((work.source, work.target))]
    return 0.0 if above[0] is None or above[1] is None else above[1] - work.ratio * above[0]


def _beside_hips(work: _Work, world: World, points: Floats) -> Floats:
    """Places (F, 3) that lie to the target's hips as the source's points lie to its own, scaled."""
    _, its_middle, middle = _carried(work, world)
    return middle + work.ratio * (points - its_middle)


def _above_sole(body: Body, legs: list[Limb]) -> float | None:
    """Metres from the soles up to the ankles: in a neutral pose that can be trusted, else where the feet stand.

    None where neither is known, or nothing is below an ankle.
    """
    if not body.trusted and body.moving is None:
        return None
    heights = []
    for leg in legs:
        if leg.end is None:
            return None
        below = np.flatnonzero(at_or_below(body.skeleton, leg.end))
        tips = np.flatnonzero(np.isin(body.skeleton.tip_parents, below))
        if not len(tips) and len(below) == 1:
            return None
        motion, up = body.neutral, rotate(body.axes, np.array([0.0, 1.0, 0.0]))
        if not body.trusted and body.moving is not None:
            standing = standing_frames(body.moving, leg.end)
            motion, up = (
                World(body.moving.positions[standing], body.moving.rotations[standing]),
                np.array([0.0, 1.0, 0.0]),
            )
        joints, offsets = body.skeleton.tip_parents[tips], body.skeleton.tip_offsets[tips]
        points = motion.positions[..., joints, :] + rotate(motion.rotations[..., joints, :], offsets)
        lowest = (np.concatenate([motion.positions[..., below, :], points], axis=-2) @ up).min(axis=-1)
        heights.append(float(np.median(motion.positions[..., leg.end, :] @ up - lowest)))
    return float(np.mean(heights))


# --- limbs


def _follow(
    work: _Work,
    legs: list[tuple[Limb, Limb]],
    rotations: Floats,
    translations: Floats,
    world: World,
    wanted: dict[int, Floats],
) -> tuple[Floats, World]:
    """The legs with their ankles where the source's are, scaled."""
    goals = [_beside_hips(work, world, work.moving.point(*its.tip)) for its, _ in legs]
    for pair, goal in zip(legs, goals, strict=True):
        rotations, world = _reached(work, pair, goal, rotations, translations, world, wanted)
    return rotations, world


def _reached(
    work: _Work,
    pair: tuple[Limb, Limb],
    goals: Floats,
    rotations: Floats,
    translations: Floats,
    world: World,
    wanted: dict[int, Floats],
) -> tuple[Floats, World]:
    """A limb of the target with its end at goals (F, 3); hand or foot turn as before."""
    _, limb = pair
    skeleton = work.target.skeleton
    away = np.linalg.norm(world.point(*limb.tip) - goals, axis=1)
    length = float(np.linalg.norm(np.diff(world.positions[0, [limb.upper, limb.lower]], axis=0)))
    moved = away > _THERE * length
    if not moved.any():
        return rotations, world
    some = World(world.positions[moved], world.rotations[moved])
    turns = None
    if limb.end is not None:
        turns = wanted[limb.end][moved] if limb.end in wanted else some.rotations[:, limb.end]
    axis = rotate(work.frames[1][limb.lower], np.array([1.0, 0.0, 0.0])) if work.target.figure is not None else None
    turned = pose_limbs(skeleton, limb, some, goals[moved], turns, axis)
    rotations = rotations.copy()
    for column, joint in enumerate(limb_joints(limb)):
        local = turned[:, column]
        if skeleton.kinds[joint] is not JointKind.BALL:
            local = nearest_turns(skeleton, joint, local)
        rotations[moved, joint] = local
    return rotations, fk_arrays(skeleton.parents, normalized(rotations), translations)


# --- the report


def _report(work: _Work, used: Map, clip: Clip, feet: str) -> Report:
    world = fk_arrays(work.target.skeleton.parents, clip.rotations, clip.local_translations())
    angles = []
    for its, mine in (*work.limbs(ARM), *work.limbs(LEG)):
        lines = []
        for limb, motion in ((its, work.moving), (mine, world)):
            lines.append([motion.positions[:, limb.upper], motion.positions[:, limb.lower], motion.point(*limb.tip)])
        for one, two in zip(pairwise(lines[0]), pairwise(lines[1]), strict=True):
            a, b = one[1] - one[0], two[1] - two[0]
            cross, dot = np.linalg.norm(np.cross(a, b), axis=1), np.einsum("fi,fi->f", a, b)
            angles.append(float(np.degrees(np.arctan2(cross, dot)).mean()))
    return Report(
        frames=len(clip),
        scale=work.scale,
        pairs=len(used.pairs),
        unsure=len(used.doubtful),
        source_reference=work.source.reference,
        target_reference=work.target.reference,
        limbs_deg=float(np.mean(angles)) if angles else None,
        at_limits=_outside(work.target.skeleton, clip),
        feet=feet,
        warnings=tuple(work.warnings),
    )


def _outside(skeleton: Skeleton, clip: Clip) -> float:
    if all(limits is None for limits in skeleton.limits):
        return 0.0
    return float((clip_violation(skeleton, clip).max(axis=-1) > np.radians(0.5)).mean())
