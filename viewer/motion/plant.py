"""Feet planted: each foot stands still while it touches the ground; other frames of the clip stay as they were.

After Kovar, Schreiner and Gleicher ("Footskate cleanup for motion capture editing", SCA 2002), with these differences:
heel and ball of a stance share one consistent pair of places; between stances the corrections go on with their own
slopes, so that nothing kinks at lift-off; and the pelvis gives way before a leg is stretched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.ik.contact.values import Object
from viewer.motion.contacts import (
    BALL,
    HEEL,
    Contacts,
    FootContacts,
    FootPlaces,
    MovingFeet,
    contacts_of,
    legged,
    moving_feet,
)
from viewer.motion.ground import Ground, Sole, cleared, fitted, floor_under, ground_of, raised, sole_of
from viewer.motion.limb_chain import LimbGoals, limb_joints, limb_points, pose_several
from viewer.motion.skate_meter import Skate, paired, skate_of
from viewer.motion.stance_places import Places, longest_run, runs_of, stance_places
from viewer.motion.steadied import Stance, stances_of, steadied, steadied_leg, steady_ankle, steady_body
from viewer.skeleton import Clip, JointKind, Limb, Skeleton, World, at_or_below
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import between, conjugate, exp, log, multiply, rotate
from viewer.spatial.smoothing import hermite, low_pass
from viewer.spatial.vectors import norm

BLEND = 0.3
"""Seconds over which a correction fades in and out."""
LONGEST_BLEND = 10.0

_SLOPE = 3.0
"""Largest slope of a correction at the ends of a gap, in corrections per gap."""
_LEAST_SIZE, _SLOPE_FRAMES = 0.01, 3
_REACH, _STRAIGHTEST = 0.985, 0.998
"""Parts of a leg's length: planted legs may be this long, or as long as they were themselves up to the second."""
_ROUNDS = 6
_HOLD = 0.12
"""Seconds by which the pelvis is low earlier and later than needed."""
_PELVIS_CUTOFF = 3.0
_CLIMB_CUTOFF = 1.2
_PASSES = 6
_SAME = 1e-12


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

    @property
    def words(self) -> str:
        """``slid 7.5 cm/s, now 0.00; pelvis at most 4.6 cm``."""
        before, after = self.before.slide_cm_s, self.after.slide_cm_s
        return f"slid {before:.1f} cm/s, now {after:.2f}; pelvis at most {self.pelvis_cm:.1f} cm"


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


@dataclass(frozen=True, slots=True, eq=False)
class _Foot:
    """The goals of a foot.

    Attributes:
        leg: its leg.
        goals: (F, 3) world positions of the ankle.
        turns: (F, 3) rotation vectors, world frame, that turn the foot.
        planted: (F,) whether it touches the ground.
        rises: (F,) metres that the ground under it is higher than in the clip.
        stances: when it stands, and with which noise.
    """

    leg: Limb
    goals: Floats
    turns: Floats
    planted: Bools
    rises: Floats
    stances: list[Stance]


class _Under(NamedTuple):
    """What is under the feet of a clip; no ground: they keep their height. Leg length, height of the lowest point."""

    skeleton: Skeleton
    world: World
    ground: Ground | None
    length: float
    base: float


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
        pelvis: metres that the pelvis may move at most; None: as far as it must.
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
    moving = moving_feet(skeleton, clip)
    contacts = contacts_of(moving) if contacts is None else contacts
    made, feet, shift = _plant(moving, contacts, blend, pelvis, objects, floor)
    return Planted(
        made, contacts, _report(moving, moving_feet(skeleton, made, away=moving.away), contacts, feet, shift)
    )


def planted_clip(moving: MovingFeet, contacts: Contacts) -> Clip:
    """The clip of `plant_feet` without a report.

    Raises:
        InputError: contacts of other feet or beyond the clip.
    """
    return _plant(moving, contacts, BLEND, None, (), None)[0]


def _plant(
    moving: MovingFeet,
    contacts: Contacts,
    blend: float,
    pelvis: float | None,
    objects: Sequence[Object],
    floor: float | None,
) -> tuple[Clip, list[_Foot], Floats]:
    """The clip, the goals of its feet and the shift (F, 3) of the pelvis; arguments as of `plant_feet`."""
    skeleton, clip, world, pieces = moving.skeleton, moving.clip, moving.world, moving.pieces
    by_foot = paired(contacts, moving.feet, len(clip))
    ground, base = None, 0.0
    if objects:
        lowest = floor_under(skeleton, world, by_foot)
        ground = ground_of(objects, lowest if floor is None else floor, moving.length)
        base = max(lowest - ground.floor, 0.0)
    under = _Under(skeleton, world, ground, moving.length, base)
    feet = [_foot_goals(foot, places, pieces, clip, blend, under) for foot, places in by_foot]
    carrier = _carrier(skeleton, clip)
    shift, rate = np.zeros((len(clip), 3)), 1.0 / clip.frame_time
    if carrier is not None:
        body = world.positions[:, legged(skeleton).trunk]
        calm = steady_body(body, [stance for foot in feet for stance in foot.stances], rate, moving.length)
        feet = [replace(foot, goals=foot.goals + calm * ~foot.planted[:, None]) for foot in feet]
        for piece in pieces:
            begin = calm[piece]
            if ground is not None:
                begin[:, 1] += low_pass(np.mean([foot.rises[piece] for foot in feet], axis=0), rate, _CLIMB_CUTOFF)
            shift[piece] = _pelvis_shift(world, feet, piece, rate, begin)
        if pelvis is not None:
            size = np.linalg.norm(shift, axis=1, keepdims=True)
            shift *= np.minimum(1.0, pelvis / np.maximum(size, _SAME))
    return _posed(moving, feet, carrier, shift), feet, shift


def _foot_goals(
    foot: FootContacts, places: FootPlaces, pieces: list[slice], clip: Clip, blend: float, under: _Under
) -> _Foot:
    """The ankle's places and the foot's turns: exact where it touches, eased between."""
    frames, rate = len(clip), 1.0 / clip.frame_time
    heel, ball = places.places[HEEL], places.places.get(BALL)
    touches = {point: np.zeros(frames, dtype=bool) for point in (HEEL, BALL)}
    for contact in foot.contacts:
        if not contact.ignored:
            touches[contact.point][contact.frames] = True
    both, either = touches[HEEL] & touches[BALL], touches[HEEL] | touches[BALL]
    stances = [stance for piece in pieces for stance in runs_of(either, piece)]
    targets = [stance_places(stance, touches, heel, ball, under.length) for stance in stances]
    rises, sole = [0.0] * len(stances), None
    if under.ground is not None:
        sole = sole_of(under.skeleton, under.world, places, either, under.base)
        targets, rises = _on_ground(under, sole, stances, targets, heel, ball, both)
    stood = stances_of(stances, pieces, (heel, ball), touches[HEEL], rate, under.length)
    turns = _foot_turns(places, stood, targets, both, under.world, (rate, blend))
    moves = np.zeros((frames, 3))
    for stance, (at_heel, at_ball) in zip(stood, targets, strict=True):
        if at_heel is not None:
            here = np.flatnonzero(touches[HEEL][stance.frames]) + stance.frames.start
            moves[here] = at_heel[here - stance.frames.start] - heel[here]
        if at_ball is not None and ball is not None:
            for run in runs_of(touches[BALL] & ~touches[HEEL], stance.frames):
                place = at_ball[run.start - stance.frames.start]
                moves[run] = place - rotate(exp(turns[run]), ball[run] - heel[run]) - heel[run]
                steady_ankle(moves, turns, run, stance, place, (heel, ball), rate)
    for piece in pieces:
        _bridge(moves, either, piece, rate, blend)
    up = np.zeros(frames)
    if under.ground is not None and sole is not None:
        for piece in pieces:
            within = [number for number, stance in enumerate(stances) if piece.start <= stance.start < piece.stop]
            own = [stances[number] for number in within]
            up[piece] = raised(own, [rises[number] for number in within], piece)
            moves[piece, 1] += up[piece]
            moves[piece, 1] += cleared(under.ground, sole, moves, turns, own, piece)
    return _Foot(places.leg, heel + moves, turns, either, up, stood)


def _foot_turns(
    places: FootPlaces,
    stances: list[Stance],
    targets: list[Places],
    both: Bools,
    world: World,
    times: tuple[float, float],
) -> Floats:
    """(F, 3) rotation vectors that turn a foot: onto its places, without noise; times: frames a second, blend."""
    rate, blend = times
    turns, ball = np.zeros((len(both), 3)), places.places.get(BALL)
    if ball is not None:
        _align(turns, stances, targets, both, places)
        for piece in dict.fromkeys((stance.piece.start, stance.piece.stop) for stance in stances):
            _bridge(turns, both, slice(*piece), rate, blend)
    noisy = [(stance, target) for stance, target in zip(stances, targets, strict=True) if stance.noise]
    if places.leg.end is None or not noisy:
        return turns
    own = world.rotations[:, places.leg.end]
    turned = multiply(exp(turns), own)[:, None]
    for stance, _ in noisy:
        steady = steadied(turned, stance, rate)[:, 0]
        turns[stance.frames] = log(multiply(steady, conjugate(own[stance.frames])))
    if ball is not None:
        _align(turns, [stance for stance, _ in noisy], [target for _, target in noisy], both, places)
    return turns


def _align(
    turns: Floats,
    stances: list[Stance],
    targets: list[Places],
    both: Bools,
    places: FootPlaces,
) -> None:
    """Turn a foot, the shortest way, onto the line between its places while heel and ball touch; changes ``turns``."""
    heel, ball = places.places[HEEL], places.places[BALL]
    for stance, (at_heel, at_ball) in zip(stances, targets, strict=True):
        here = np.flatnonzero(both[stance.frames]) + stance.frames.start
        if here.size and at_heel is not None and at_ball is not None:
            foot, wanted = rotate(exp(turns[here]), ball[here] - heel[here]), at_ball - at_heel
            turns[here] = log(multiply(between(foot, wanted[here - stance.frames.start]), exp(turns[here])))


def _on_ground(
    under: _Under,
    sole: Sole,
    stances: list[slice],
    targets: list[Places],
    heel: Floats,
    ball: Floats | None,
    both: Bools,
) -> tuple[list[Places], list[float]]:
    """The places of the stances, shifted where an edge is under them, and how far each is raised."""
    assert under.ground is not None
    placed, rises = [], []
    for stance, (at_heel, at_ball) in zip(stances, targets, strict=True):
        flat = longest_run(both, stance) or stance
        at = (flat.start + flat.stop - 1) // 2
        way = np.zeros(3) if ball is None else ball[at] - heel[at]
        by, rise = fitted(under.ground, sole, flat, way, under.length)
        placed.append((None if at_heel is None else at_heel + by, None if at_ball is None else at_ball + by))
        rises.append(rise)
    return placed, rises


def _bridge(values: Floats, known: Bools, piece: slice, rate: float, blend: float) -> None:
    """Fill in corrections (F, 3) of a piece between the frames in which they are known, in place.

    Cubics that leave and arrive with the corrections' own slopes; across long gaps, and at the ends, through zero.
    """
    runs = runs_of(known, piece)
    values[piece][~known[piece]] = 0.0
    fade = max(2, round(blend * rate))
    ends = [None, *runs, None]
    for before, after in pairwise(ends):
        start = piece.start - 1 if before is None else before.stop - 1
        stop = piece.stop if after is None else after.start
        if before is not None and after is not None and stop - start <= 2 * fade:
            _cubic(values, start, stop, _slope(values, before, -1), _slope(values, after, 1))
            continue
        if before is not None:
            _cubic(values, start, min(start + fade, piece.stop), _slope(values, before, -1), np.zeros(3))
        if after is not None:
            _cubic(values, max(stop - fade, piece.start - 1), stop, np.zeros(3), _slope(values, after, 1))


def _slope(values: Floats, run: slice, side: int) -> Floats:
    """The correction's change per frame at the end (-1) or the start (1) of a run: the mean of a few frames'."""
    steps = min(_SLOPE_FRAMES, run.stop - run.start - 1)
    if steps < 1:
        return np.zeros(3)
    edge = run.stop - 1 if side < 0 else run.start
    return np.asarray(side * (values[edge + side * steps] - values[edge]) / steps)


def _cubic(values: Floats, start: int, stop: int, leaving: Floats, arriving: Floats) -> None:
    """Fill in the frames between two; those beyond the piece count as zero. Slopes are per frame."""
    steps = stop - start
    if steps < 2:
        return
    first = values[start] if np.any(leaving) or 0 <= start < len(values) else np.zeros(3)
    last = values[stop] if 0 <= stop < len(values) else np.zeros(3)
    size = max(float(np.linalg.norm(first)), float(np.linalg.norm(last)))
    slopes = [_capped(slope * steps, size) for slope in (leaving, arriving)]
    values[start + 1 : stop] = hermite(np.arange(1, steps) / steps, first, last, *slopes)


def _capped(slope: Floats, size: float) -> Floats:
    most = _SLOPE * max(size, _LEAST_SIZE)
    return slope * min(1.0, most / max(float(np.linalg.norm(slope)), _SAME))


def _carrier(skeleton: Skeleton, clip: Clip) -> int | None:
    """The joint that moves the body: the nearest one above legs and spine that moves; None if none can."""
    joint, moving = legged(skeleton).trunk, set(clip.translated.tolist())
    while joint >= 0:
        if joint in moving or skeleton.kinds[joint] is JointKind.FREE:
            return joint
        joint = int(skeleton.parents[joint])
    return None


def _pelvis_shift(world: World, feet: list[_Foot], piece: slice, rate: float, begin: Floats) -> Floats:
    """(F, 3) of a piece: the least smooth shift of the pelvis with which the legs reach their ankles' places.

    It begins with a shift (F, 3).
    """
    legs = []
    for foot in feet:
        hip, knee, ankle = (points[piece] for points in limb_points(foot.leg, world))
        bones = norm(knee - hip) + norm(ankle - knee)
        own = norm(ankle - hip)
        moved = norm(foot.goals[piece] - ankle) > 1e-9
        longest = np.minimum(np.maximum(own, _REACH * bones), _STRAIGHTEST * bones)
        legs.append((foot.goals[piece] - hip, np.where(moved, longest, np.maximum(longest, own))))
    shift = begin
    hold = round(_HOLD * rate)
    for _ in range(_PASSES):
        missing = _missing(shift, legs)
        if norm(missing).max(initial=0.0) < 1e-6:
            break
        shift = shift + low_pass(_held(missing, hold), rate, _PELVIS_CUTOFF)
    return np.asarray(shift)


def _missing(shift: Floats, legs: list[tuple[Floats, Floats]]) -> Floats:
    """The least further shift (F, 3) that brings every ankle into its leg's reach, by alternating projections."""
    now = shift.copy()
    for _ in range(_ROUNDS):
        before = now.copy()
        for way, longest in legs:
            apart = way - now
            length = norm(apart)
            now += apart * (np.maximum(length - longest, 0.0) / np.maximum(length, _SAME))[:, None]
        if np.array_equal(now, before):
            break
    return now - shift


def _held(shift: Floats, frames: int) -> Floats:
    """(F, 3) per frame the largest shift within ``frames`` frames of it."""
    if frames < 1:
        return shift
    size = norm(shift)
    around = np.lib.stride_tricks.sliding_window_view(np.pad(size, frames), 2 * frames + 1)
    at = np.arange(len(shift)) + around.argmax(axis=1) - frames
    return np.asarray(shift[np.clip(at, 0, len(shift) - 1)])


def _posed(moving: MovingFeet, feet: list[_Foot], carrier: int | None, shift: Floats) -> Clip:
    """The clip with its pelvis shifted and its legs posed; other frames, and those that are thrown, keep their bits."""
    skeleton, clip, world = moving.skeleton, moving.clip, moving.world
    rotations, translations = clip.rotations.copy(), clip.local_translations()
    positions = world.positions
    shifted = (norm(shift) > _SAME) & ~moving.away
    if carrier is not None and shifted.any():
        parent = int(skeleton.parents[carrier])
        local = shift if parent < 0 else rotate(conjugate(world.rotations[:, parent]), shift)
        translations[shifted, carrier] += local[shifted]
        positions = positions + at_or_below(skeleton, carrier)[:, None] * shift[:, None]
    posed, wanted = World(positions, world.rotations), []
    for foot in feet:
        ankle = limb_points(foot.leg, world)[2]
        needed = shifted | (np.abs(foot.goals - ankle) > _SAME).any(axis=1) | (np.abs(foot.turns) > _SAME).any(axis=1)
        needed &= ~moving.away
        if not needed.any():
            continue
        calm = steadied_leg(skeleton, foot.leg, posed, foot.stances, 1.0 / clip.frame_time)
        here = calm if needed.all() else World(calm.positions[needed], calm.rotations[needed])
        turns = None
        if foot.leg.end is not None:
            turns = multiply(exp(foot.turns[needed]), world.rotations[needed, foot.leg.end])
        wanted.append((needed, LimbGoals(foot.leg, here, foot.goals[needed], turns)))
    for (needed, one), found in zip(wanted, pose_several(skeleton, [one for _, one in wanted]), strict=True):
        rotations[np.flatnonzero(needed)[:, None], limb_joints(one.limb)] = found
    return clip.with_motion(rotations, translations)


def _report(before: MovingFeet, after: MovingFeet, contacts: Contacts, feet: list[_Foot], shift: Floats) -> PlantReport:
    short = 0.0
    for foot in feet:
        planted = foot.planted & ~before.away
        if planted.any():
            miss = norm(limb_points(foot.leg, after.world)[2] - foot.goals)
            short = max(short, float(miss[planted].max()))
    change = norm(after.world.positions - before.world.positions)
    return PlantReport(
        before=skate_of(before, contacts),
        after=skate_of(after, contacts),
        pelvis_cm=100.0 * float(norm(shift).max(initial=0.0)),
        short_mm=1000.0 * short,
        mean_change_cm=100.0 * float(change.mean()),
        most_change_cm=100.0 * float(change.max()),
    )
