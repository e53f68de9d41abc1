"""Plants feet: each foot stands still while it touches the ground; other frames of the clip stay as they were.

After Kovar, Schreiner and Gleicher ("Footskate cleanup for motion capture editing", SCA 2002), with these differences:
heel and ball of a stance share one consistent pair of places; between stances the corrections go on with their own
slopes, so that nothing kinks at lift-off; and the pelvis moves before a leg is stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.choices import LONGEST_BLEND
from viewer.errors import InputError
from viewer.ik.contact.values import Object
from viewer.motion.capture_faults import filled_in, steadied, steady_body, steady_hips
from viewer.motion.contacts import (
    BALL,
    HEEL,
    WANDERS,
    Contacts,
    MovingFeet,
    contacts_of,
    legged,
    moving_feet,
    paired,
)
from viewer.motion.foot_goals import FeetGoals, Timing, Under, feet_goals
from viewer.motion.ground import floor_under, ground_of
from viewer.motion.held_ends import Motion, held_end, with_ends_held
from viewer.motion.in_plane import body_moves
from viewer.motion.limb_chain import LimbGoals, limb_joints, limb_points, pose_limbs
from viewer.motion.skating import Skate, skate_of, slides_of_foot
from viewer.progress import report
from viewer.skeleton import Clip, JointKind, Limb, Skeleton, World, at_or_below, fk_arrays
from viewer.skeleton.coordinates import nearest_turns
from viewer.skeleton.kinematics import fk_below
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import dot, exp, multiply, norm
from viewer.spatial.smoothing import low_pass

BLEND = 0.3
"""Seconds over which a correction fades in and out."""

_REACH, _STRAIGHTEST = 0.985, 0.998
"""Parts of a leg's length: planted legs may be as long as the first, or as long as they already were up to the second.
"""
_ROUNDS = 6
_HOLD = 0.12
"""Seconds by which the pelvis goes down earlier, and comes up later, than needed."""
_PELVIS_CUTOFF = 3.0
_CLIMB_CUTOFF = 1.2
_PASSES = 6
_SAME = 1e-12
_STAGES = 8
"""Of the work, as it is reported; each takes a tenth to a fifth of the time."""


@dataclass(frozen=True, slots=True)
class PlantReport:
    """What planting did.

    Attributes:
        before, after: how much the feet slide in the same contacts.
        pelvis_cm: the largest shift of the pelvis, in cm.
        short_mm: how far a planted point stays from its place at most, where a leg is too short, in mm.
        mean_change_cm, most_change_cm: the mean and the largest change of a joint's place, in cm.
    """

    before: Skate
    after: Skate
    pelvis_cm: float
    short_mm: float
    mean_change_cm: float
    most_change_cm: float

    def __repr__(self) -> str:
        return f"<PlantReport: {self.words}>"

    @property
    def words(self) -> str:
        """``slid 7.5 cm/s, now 0.00; pelvis at most 4.6 cm``."""
        return plant_words(self.before.slide_cm_s, self.after.slide_cm_s, self.pelvis_cm)


def plant_words(before: float, after: float, pelvis_cm: float) -> str:
    """What planting did, in words: of slides in cm/s, and the largest shift of the pelvis."""
    return f"slid {before:.1f} cm/s, now {after:.2f}; pelvis at most {pelvis_cm:.1f} cm"


@dataclass(frozen=True, slots=True, eq=False)
class Planted:
    """A clip with planted feet.

    Attributes:
        clip: the clip; frames that needed nothing are as they were, to the bit.
        contacts: what was planted.
        report: what it did.
    """

    clip: Clip
    contacts: Contacts
    report: PlantReport


class PlantedFrames(NamedTuple):
    """Frames with planted feet, and what planting did to them.

    Attributes:
        contacts: what was planted.
        before, after: the feet; the planted motion is that of ``after.clip``.
        shift: (F, 3) of the pelvis, metres, world frame.
        missed: (F,) metres that a planted ankle stays from its place, where a leg is too short.
    """

    contacts: Contacts
    before: MovingFeet
    after: MovingFeet
    shift: Floats
    missed: Floats


def plant_feet(
    skeleton: Skeleton,
    clip: Clip,
    contacts: Contacts | None = None,
    blend: float = BLEND,
    *,
    pelvis: float | None = None,
    objects: Sequence[Object] = (),
    floor: float | None = None,
) -> Planted:
    """The clip with feet that stand still while they touch the ground.

    Args:
        skeleton: a figure with legs.
        clip: its motion. One or two frames stay as they are.
        contacts: when the feet touch; None: as `foot_contacts` finds it. Ignored contacts are not planted.
        blend: seconds over which corrections fade in and out.
        pelvis: metres that the pelvis may move at most; None: as far as needed.
        objects: spheres, boxes and meshes that the feet step on or over; those, and the faces of a mesh, that are more
            than half a leg higher than the floor, and than what is a step beside them, are walls.
            A stance that is as high as an object already, as in motion captured on stairs, keeps its height.
        floor: height of the floor on which the clip was captured, metres; None: that of its lowest stance. Of use
            with objects.

    Raises:
        InputError: no figure with legs; contacts of other feet or beyond the clip; a blend or pelvis out of range.
    """
    if not 0.0 < blend <= LONGEST_BLEND:
        raise InputError(f"planting: expected a blend above 0 and up to {LONGEST_BLEND:g} seconds, found {blend:g}")
    if pelvis is not None and not 0.0 <= pelvis < np.inf:
        raise InputError(f"planting: expected 0 or more metres for the pelvis, found {pelvis:g}")
    report("planting", 0, _STAGES)
    moving = moving_feet(skeleton, clip)
    contacts = contacts_of(moving) if contacts is None else contacts
    done = plant_moving(moving, contacts, blend, pelvis=pelvis, objects=objects, floor=floor)
    report("planting", 7, _STAGES)
    planted = Planted(done.after.clip, contacts, _report(done))
    report("planting", _STAGES, _STAGES)
    return planted


def plant_moving(
    moving: MovingFeet,
    contacts: Contacts,
    blend: float,
    *,
    pelvis: float | None,
    objects: Sequence[Object],
    floor: float | None = None,
    own: bool = False,
) -> PlantedFrames:
    """The frames of `plant_feet`, whose arguments these are.

    Without objects, and if the knees flex about axes of their own, frames depend on stances that touch them or are next
    to them, on what is between these, and on a second or two around that.

    ``blend``: seconds; ``pelvis`` and ``floor``: metres, or None; ``own``: whether the knees are known to flex about
    axes of their own, as `flexes_about_own` finds it.

    Raises:
        InputError: contacts of other feet or beyond the clip.
    """
    skeleton = moving.skeleton
    motion, feet, shift = _plant(moving, contacts, blend, pelvis, objects, floor, own=own)
    report("planting", 5, _STAGES)
    turned = _as_hinges_turn(skeleton, motion, feet.legs)
    made = moving.clip.with_motion(*turned)
    report("planting", 6, _STAGES)
    after = moving_feet(skeleton, made, motion[2] if turned[0] is motion[0] else None, moving.away)
    missed = np.zeros(len(made))
    for leg, goals, stands in zip(feet.legs, feet.goals, feet.planted & ~moving.away, strict=True):
        missed = np.maximum(missed, norm(limb_points(leg, after.world)[2] - goals) * stands)
    return PlantedFrames(contacts, moving, after, shift, missed)


def _as_hinges_turn(skeleton: Skeleton, motion: Motion, legs: Sequence[Limb]) -> tuple[Floats, Floats]:
    """A motion whose legs turn as their joints can, such as robots' hips of single hinges; feet stay in their places.

    ``motion``: its legs are posed as if hips and ankles were balls.
    """
    given, translations, world = motion
    joints = [joint for leg in legs for joint in limb_joints(leg) if skeleton.kinds[joint] is not JointKind.BALL]
    if not joints:
        return given, translations
    turns = given[:, joints].swapaxes(0, 1)
    nearest = nearest_turns(skeleton, joints, turns)
    some = (np.abs(dot(turns, nearest)) <= 1.0 - _SAME).any(axis=0)
    if not some.any():
        return given, translations
    rotations, translations = given.copy(), translations.copy()
    rotations[np.flatnonzero(some)[:, None], joints] = nearest.swapaxes(0, 1)[some]
    ends = [held_end(leg, World(world.positions[some], world.rotations[some])) for leg in legs]
    turned, moved = rotations[some], translations[some]
    made = Motion(turned, moved, fk_arrays(skeleton.parents, turned, moved))
    rotations[some], translations[some], _ = with_ends_held(skeleton, made, ends, legged(skeleton).trunk)
    return rotations, translations


def planted_motion(moving: MovingFeet, contacts: Contacts) -> Motion:
    """The motion of the clip of `plant_feet`; an InputError for contacts of other feet or beyond the clip."""
    motion = _plant(moving, contacts, BLEND, None, (), None, own=False)[0]
    report("planting", _STAGES, _STAGES)
    return motion


def _plant(
    moving: MovingFeet,
    contacts: Contacts,
    blend: float,
    pelvis: float | None,
    objects: Sequence[Object],
    floor: float | None,
    *,
    own: bool,
) -> tuple[Motion, FeetGoals, Floats]:
    """The motion, the goals of the feet and the shift (F, 3) of the pelvis; see `plant_moving`."""
    skeleton, clip, world, pieces = moving.skeleton, moving.clip, moving.world, moving.pieces
    by_foot = paired(contacts, moving.feet, len(clip))
    ground, base = None, 0.0
    if objects:
        lowest = floor_under(skeleton, world, by_foot)
        ground = ground_of(objects, lowest if floor is None else floor, moving.length)
        base = max(lowest - ground.floor, 0.0)
    under = Under(skeleton, world, ground, moving.length, base)
    rate = 1.0 / clip.frame_time
    report("planting", 1, _STAGES)
    feet = feet_goals(by_foot, Timing(pieces, rate, blend), under)
    report("planting", 2, _STAGES)
    given, motion = world.rotations, _steadied(moving, feet, rate)
    report("planting", 3, _STAGES)
    world = motion[2]
    carrier = _carrier(skeleton, clip)
    shift = np.zeros((len(clip), 3))
    if carrier is not None:
        body = world.positions[:, legged(skeleton).trunk]
        calm = steady_body(body, [stance for own in feet.stances for stance in own], rate, moving.length)
        hips, knees, ankles = map(np.stack, zip(*(limb_points(leg, world) for leg in feet.legs), strict=True))
        steadied_by = ankles - np.stack([moving.world.point(*leg.tip) for leg in feet.legs])
        before, swinging = feet.ankles + steadied_by, ~feet.planted[..., None]
        # Feet that swing hang on the body: what makes that calm moves them, too, so that no knee makes up for it.
        feet = feet._replace(goals=feet.goals + (calm + steadied_by) * swinging)
        bones = norm(knees - hips) + norm(ankles - knees)
        reach = _reach(bones, norm(before - hips), norm(feet.goals - before))
        for piece in pieces:
            begin = calm[piece]
            if ground is not None:
                begin[:, 1] += low_pass(feet.rises[:, piece].mean(axis=0), rate, _CLIMB_CUTOFF)
            legs = list(zip((feet.goals - hips)[:, piece], reach[:, piece], strict=True))
            shift[piece] = _pelvis_shift(legs, rate, begin)
        calm = steady_hips(feet.goals - (hips + shift), feet.stances, rate, moving.length)
        shift, feet = shift + calm, feet._replace(goals=feet.goals + calm * swinging)
        if pelvis is not None:
            size = np.linalg.norm(shift, axis=1, keepdims=True)
            shift *= np.minimum(1.0, pelvis / np.maximum(size, _SAME))
    report("planting", 4, _STAGES)
    return _posed(moving, motion, feet, carrier, shift, given, own=own), feet, shift


def _steadied(moving: MovingFeet, feet: FeetGoals, rate: float) -> Motion:
    """The motion without noise in the legs that stand, nor in what is between these and the trunk."""
    translations = moving.clip.local_translations()
    if not any(stance.noise for own in feet.stances for stance in own):
        return Motion(moving.clip.rotations, translations, moving.world)
    skeleton, rotations = moving.skeleton, moving.clip.rotations.copy()
    trunk, carrying = legged(skeleton).trunk, set[int]()
    for leg in feet.legs:
        joint = int(skeleton.parents[leg.upper])
        while joint >= trunk:
            carrying.add(joint)
            joint = int(skeleton.parents[joint])
    for leg, stances in zip(feet.legs, feet.stances, strict=True):
        for stance in stances:
            if stance.noise:
                some = [*sorted(carrying), leg.upper, leg.lower]
                rotations[stance.frames, some] = steadied(rotations[:, some], stance, rate)
    rotations[moving.away] = moving.clip.rotations[moving.away]
    world = fk_arrays(skeleton.parents, rotations, translations)
    if moving.away.any():
        world = filled_in(skeleton, moving.clip.with_motion(rotations), world, moving.away)
    return Motion(rotations, translations, world)


def _carrier(skeleton: Skeleton, clip: Clip) -> int | None:
    """The joint that moves the body: the nearest one above legs and spine that moves; None if none can."""
    joint, moving = legged(skeleton).trunk, set(clip.translated.tolist())
    while joint >= 0:
        if joint in moving or skeleton.kinds[joint] is JointKind.FREE:
            return joint
        joint = int(skeleton.parents[joint])
    return None


def _reach(bones: Floats, own: Floats, moved: Floats) -> Floats:
    """(N, F) how far from its hip each ankle may be; a leg whose ankle stays is as long as it was.

    ``bones`` (N, F): lengths of thigh and shank together; ``own`` (N, F): from hips to ankles before; ``moved`` (N, F):
    by which the ankles are to move.
    """
    longest = np.minimum(np.maximum(own, _REACH * bones), _STRAIGHTEST * bones)
    return np.where(moved > 1e-9, longest, np.maximum(longest, own))


def _pelvis_shift(legs: list[tuple[Floats, Floats]], rate: float, begin: Floats) -> Floats:
    """(F, 3) of a piece: the least smooth shift of the pelvis with which the legs reach their ankles' places.

    ``legs``: from each hip to where its ankle goes (F, 3), and its reach (F,); ``rate``: frames per second; ``begin``
    (F, 3): the shift to begin with.
    """
    shift, hold = begin, round(_HOLD * rate)
    for _ in range(_PASSES):
        missing = _missing(shift, legs)
        # What is left of frames far away must not decide whether these go on.
        small = norm(missing) < 1e-6
        if small.all():
            break
        missing[small] = 0.0
        shift = shift + low_pass(_held(missing, hold), rate, _PELVIS_CUTOFF)
    return np.asarray(shift)


def _missing(shift: Floats, legs: list[tuple[Floats, Floats]]) -> Floats:
    """The least further shift (F, 3) that brings every ankle into its leg's reach, by alternating projections."""
    now = shift.copy()
    for _ in range(_ROUNDS):
        within = True
        for way, reach in legs:
            apart = way - now
            length = norm(apart)
            over = length - reach
            far = over > _SAME
            if far.any():
                now[far] += apart[far] * (over[far] / length[far])[:, None]
                within = False
        if within:
            break
    return now - shift


def _held(shift: Floats, frames: int) -> Floats:
    """(F, 3) per frame the largest shift within ``frames`` frames of it."""
    if frames < 1:
        return shift
    size = norm(shift)
    padded = np.zeros(len(size) + 2 * frames)
    padded[frames:-frames] = size
    around = np.ndarray((len(size), 2 * frames + 1), buffer=padded, strides=2 * padded.strides)
    at = np.arange(len(shift)) + around.argmax(axis=1) - frames
    return np.asarray(shift[np.clip(at, 0, len(shift) - 1)])


def _posed(
    moving: MovingFeet, motion: Motion, feet: FeetGoals, carrier: int | None, shift: Floats, given: Floats, *, own: bool
) -> Motion:
    """The motion with the pelvis shifted and the legs posed.

    Other frames, and those that are lost, keep their bits.

    ``motion`` has no noise in its legs; ``carrier``: the joint that is shifted; ``given`` (F, J, 4): world rotations in
    the clip as it was given, which the feet are turned from.
    """
    skeleton, (rotations, translations, world) = moving.skeleton, motion
    rotations, translations, positions = rotations.copy(), translations.copy(), world.positions
    shifted = (norm(shift) > _SAME) & ~moving.away
    if carrier is not None and shifted.any():
        for joint, move, by in body_moves(skeleton, carrier, world, shift):
            translations[shifted, joint] += move[shifted]
            positions = positions + at_or_below(skeleton, joint)[:, None] * by[:, None]
    posed, wanted, uppers = World(positions, world.rotations), [], [leg.upper for leg in feet.legs]
    ankles = np.stack([world.point(*leg.tip) for leg in feet.legs])
    changed: Bools = norm(feet.goals - ankles) + norm(feet.turns) > _SAME
    if given is not world.rotations:
        changed |= (given[:, uppers] != world.rotations[:, uppers]).any(axis=-1).T
    turned = exp(feet.turns)
    for number, leg in enumerate(feet.legs):
        needed = (changed[number] | shifted) & ~moving.away
        if not needed.any():
            continue
        here = posed if needed.all() else World(posed.positions[needed], posed.rotations[needed])
        turns = None if leg.end is None else multiply(turned[number, needed], given[needed, leg.end])
        wanted.append((needed, LimbGoals(leg, here, feet.goals[number, needed], turns, own=own)))
    for (needed, one), found in zip(wanted, pose_limbs(skeleton, [one for _, one in wanted]), strict=True):
        rotations[np.flatnonzero(needed)[:, None], limb_joints(one.limb)] = found
    if moving.away.any():
        return Motion(rotations, translations, fk_arrays(skeleton.parents, rotations, translations))
    made = fk_below(skeleton.parents, tuple(uppers), posed, rotations, translations)
    return Motion(rotations, translations, made)


class ContactChange(NamedTuple):
    """What planting does to one contact; one that is ignored has no path.

    Attributes:
        drift_cm, wanders: before, as of `ContactSkate`.
        paths: metres that the point goes, before and after.
        seconds: that it touches.
        heel, ball: (3,) where these are in the middle of it, planted; None: the foot has no ball.
    """

    drift_cm: float
    wanders: bool
    paths: tuple[float, float]
    seconds: float
    heel: Floats
    ball: Floats | None


def contact_changes(done: PlantedFrames) -> dict[tuple[str, str, int, int], ContactChange]:
    """What planting does to each contact, by foot, point, first and last frame."""
    before, after = done.before, done.after
    sides = [paired(done.contacts, moving.feet, len(moving.clip)) for moving in (before, after)]
    found = {}
    for (foot, places), (_, planted) in zip(*sides, strict=True):
        slides = [
            {slide.contact: slide for slide in slides_of_foot(foot, one, moving)}
            for one, moving in ((places, before), (planted, after))
        ]
        heel, ball = planted.places[HEEL], planted.places.get(BALL)
        for contact in foot.contacts:
            middle, (was, now) = (contact.start + contact.end) // 2, (side.get(contact) for side in slides)
            drift = 0.0 if was is None else was.drift
            found[foot.name, contact.point, contact.start, contact.end] = ContactChange(
                drift_cm=100.0 * drift,
                wanders=drift > WANDERS * before.length,
                paths=(0.0 if was is None else was.path, 0.0 if now is None else now.path),
                seconds=0.0 if was is None else was.seconds,
                heel=heel[middle],
                ball=None if ball is None else ball[middle],
            )
    return found


def _report(done: PlantedFrames) -> PlantReport:
    change = norm(done.after.world.positions - done.before.world.positions)
    return PlantReport(
        before=skate_of(done.before, done.contacts),
        after=skate_of(done.after, done.contacts),
        pelvis_cm=100.0 * float(norm(done.shift).max(initial=0.0)),
        short_mm=1000.0 * float(done.missed.max(initial=0.0)),
        mean_change_cm=100.0 * float(change.mean()),
        most_change_cm=100.0 * float(change.max()),
    )
