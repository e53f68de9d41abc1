"""Goals of ankles and feet with which feet stand still: exact while they touch the ground, eased in between.

Heel and ball of a stance share one pair of places (`stance_places`), another one after a pivot. A foot is turned onto
the line between these while both touch; its ankle follows from the point that touches. Corrections go on between
stances with their own slopes, so that nothing kinks at lift-off. On objects, stances are shifted and raised, and feet
clear what is in their way.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.motion.capture_faults import Stance, shake_noise, shakes_of, steadied, steadied_ankle
from viewer.motion.contacts import BALL, HEEL, WANDERS, FootContacts, FootPlaces, stretches
from viewer.motion.ground import Ground, Sole, cleared, level_sole, raised, sole_of
from viewer.skeleton import Limb, Skeleton, World
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import between, conjugate, exp, log, multiply, norm, rotate
from viewer.spatial.smoothing import hermite, median

_MIDDLE = 0.2
"""Share of a run ignored at either end, where the foot still rolls."""

Pair = tuple[Floats, Floats]
"""Places (3,) of heel and ball."""
Places = tuple[Floats | None, Floats | None]
"""Places (S, 3) of heel and ball in the frames of a stance; None: it does not touch."""


def runs_of(flags: Bools, piece: slice) -> list[slice]:
    """The runs of True within a piece."""
    return [slice(first + piece.start, last + piece.start + 1) for first, last in stretches(flags[piece])]


def longest_run(flags: Bools, piece: slice) -> slice | None:
    """The longest run of True within a piece."""
    return max(runs_of(flags, piece), key=_length, default=None)


def stance_places(stance: slice, touches: dict[str, Bools], heel: Floats, ball: Floats | None, length: float) -> Places:
    """The places of a stance, as far apart as the foot is long where heel and ball touch at once.

    A foot that turns on its heel, or on its ball, and sets the other point down in another place has a new place from
    then on.

    ``touches`` (F,): whether heel and ball touch, whose world positions (F, 3) follow; ``length``: of the leg, metres.
    """
    flat = [] if ball is None else runs_of(touches[HEEL] & touches[BALL], stance)
    if ball is None or not flat:
        found: list[Floats | None] = []
        for point, path in ((HEEL, heel), (BALL, ball)):
            run = longest_run(touches[point], stance)
            found.append(
                None if run is None or path is None else np.tile(median(path[_middle(run)]), (_length(stance), 1))
            )
        return found[0], found[1]
    pairs = _pairs(flat, touches, heel, ball, WANDERS * length)
    made = []
    for number, point in enumerate((HEEL, BALL)):
        places = np.tile(pairs[0][number], (_length(stance), 1))
        for run in runs_of(touches[point], stance):
            near = min(range(len(flat)), key=lambda k: max(flat[k].start - run.stop, run.start - flat[k].stop))
            places[run.start - stance.start : run.stop - stance.start] = pairs[near][number]
        made.append(places)
    return made[0], made[1]


def _pairs(flat: list[slice], touches: dict[str, Bools], heel: Floats, ball: Floats, farthest: float) -> list[Pair]:
    """The places of each run in which a foot is flat: those of the longest run, except after or before a pivot."""
    main = max(range(len(flat)), key=lambda number: _length(flat[number]))
    pairs = {main: _pair(flat[main], heel, ball)}
    for numbers in (range(main + 1, len(flat)), range(main - 1, -1, -1)):
        before = main
        for number in numbers:
            (at_heel, at_ball), own = pairs[before], _pair(flat[number], heel, ball)
            between = slice(min(flat[number].stop, flat[before].stop), max(flat[number].start, flat[before].start))
            if max(np.linalg.norm(own[0] - at_heel), np.linalg.norm(own[1] - at_ball)) <= farthest:
                own = at_heel, at_ball
            elif touches[HEEL][between].all():
                own = at_heel, at_heel + own[1] - own[0]
            elif touches[BALL][between].all():
                own = at_ball + own[0] - own[1], at_ball
            pairs[number], before = own, number
    return [pairs[number] for number in range(len(flat))]


def _pair(run: slice, heel: Floats, ball: Floats) -> Pair:
    """The medians of heel and ball, set apart by the foot's own median length."""
    middle = _middle(run)
    at_heel, at_ball = median(heel[middle]), median(ball[middle])
    length = float(median(norm(ball[middle] - heel[middle])))
    along, centre = at_ball - at_heel, 0.5 * (at_heel + at_ball)
    along *= 0.5 * length / max(float(np.linalg.norm(along)), _SAME)
    return centre - along, centre + along


def _middle(run: slice) -> slice:
    out = int(_MIDDLE * _length(run))
    return slice(run.start + out, run.stop - out)


def _length(run: slice) -> int:
    return int(run.stop - run.start)


# --- goals of feet


_SLOPE = 3.0
"""Largest slope of a correction at the ends of a gap, in corrections per gap."""
_LEAST_SIZE, _SLOPE_FRAMES = 0.01, 3
_SAME = 1e-12


class FeetGoals(NamedTuple):
    """The goals of N feet.

    Attributes:
        ankles: (N, F, 3) their world positions in the clip.
        goals: (N, F, 3) where they go.
        turns: (N, F, 3) rotation vectors, world frame, that turn the feet.
        planted: (N, F) whether they touch the ground.
        rises: (N, F) metres that the ground under them is higher than in the clip.
        stances: of each foot: when it stands, and with which noise.
    """

    legs: list[Limb]
    ankles: Floats
    goals: Floats
    turns: Floats
    planted: Bools
    rises: Floats
    stances: list[list[Stance]]


class Under(NamedTuple):
    """The ground under a clip's feet (None: they keep their height), the leg length, the lowest point's height."""

    skeleton: Skeleton
    world: World
    ground: Ground | None
    length: float
    base: float


class Timing(NamedTuple):
    """The clip cut where the body jumps, frames per second, and seconds over which corrections fade in and out."""

    pieces: list[slice]
    rate: float
    blend: float


class _Paths(NamedTuple):
    """World positions (N, F, 3) of the heels and balls of N feet, and whether they touch the ground (N, F).

    The ball of a foot that has none never touches: where it is does not matter.
    """

    heel: Floats
    ball: Floats
    on_heel: Bools
    on_ball: Bools


def feet_goals(by_foot: list[tuple[FootContacts, FootPlaces]], timing: Timing, under: Under) -> FeetGoals:
    """The ankles' places and the feet's turns."""
    paths = _paths(by_foot)
    legs = [places.leg for _, places in by_foot]
    stances = _stances(paths, timing, under.length)
    at_heel, at_ball = _places(paths, stances, under.length)
    soles, rises = _on_ground(by_foot, paths, stances, (at_heel, at_ball), timing.pieces, under)
    tiptoe, feet = paths.on_ball & ~paths.on_heel, paths.ball - paths.heel
    turns = _turns(legs, stances, paths.on_heel & paths.on_ball, (feet, at_ball - at_heel), under.world, timing)
    moves = (at_heel - paths.heel) * paths.on_heel[..., None]
    moves[tiptoe] = at_ball[tiptoe] - rotate(exp(turns[tiptoe]), feet[tiptoe]) - paths.heel[tiptoe]
    shaken = moves.copy()
    for foot, own in enumerate(stances):
        for stance in own:
            for run in runs_of(tiptoe[foot], stance.frames):
                points = paths.heel[foot], paths.ball[foot], at_ball[foot, run.start]
                steady = steadied_ankle(shaken[foot], turns[foot, run], run, stance, points, timing.rate)
                moves[foot, run], turns[foot, run] = steady
    planted = paths.on_heel | paths.on_ball
    _bridge(moves, planted, timing)
    if under.ground is not None:
        moves[..., 1] += rises
        for foot, sole in enumerate(soles):
            for piece in timing.pieces:
                runs = [stance.frames for stance in stances[foot] if stance.piece == piece]
                moves[foot, piece, 1] += cleared(under.ground, sole, moves[foot], turns[foot], runs, piece)
    return FeetGoals(legs, paths.heel, paths.heel + moves, turns, planted, rises, stances)


def _paths(by_foot: list[tuple[FootContacts, FootPlaces]]) -> _Paths:
    heel = np.stack([places.places[HEEL] for _, places in by_foot])
    ball = np.stack([places.places.get(BALL, places.places[HEEL]) for _, places in by_foot])
    found = _Paths(heel, ball, *np.zeros((2, *heel.shape[:2]), dtype=np.bool_))
    for number, (foot, _) in enumerate(by_foot):
        for contact in foot.contacts:
            if not contact.ignored:
                (found.on_heel if contact.point == HEEL else found.on_ball)[number, contact.frames] = True
    return found


def _stances(paths: _Paths, timing: Timing, length: float) -> list[list[Stance]]:
    shakes = shakes_of(paths.heel, paths.ball, paths.on_heel, timing.pieces, timing.rate)
    return [
        [
            Stance(run, piece, shake_noise(shake[run], length))
            for piece in timing.pieces
            for run in runs_of(on_heel | on_ball, piece)
        ]
        for shake, on_heel, on_ball in zip(shakes, paths.on_heel, paths.on_ball, strict=True)
    ]


def _places(paths: _Paths, stances: list[list[Stance]], length: float) -> tuple[Floats, Floats]:
    """(N, F, 3) where heels and balls stand; points that do not touch stay where they are."""
    at_heel, at_ball = paths.heel.copy(), paths.ball.copy()
    for foot, own in enumerate(stances):
        touches = {HEEL: paths.on_heel[foot], BALL: paths.on_ball[foot]}
        for stance in own:
            found = stance_places(stance.frames, touches, paths.heel[foot], paths.ball[foot], length)
            for places, place in zip((at_heel, at_ball), found, strict=True):
                if place is not None:
                    places[foot, stance.frames] = place
    return at_heel, at_ball


def _on_ground(
    by_foot: list[tuple[FootContacts, FootPlaces]],
    paths: _Paths,
    stances: list[list[Stance]],
    places: tuple[Floats, Floats],
    pieces: list[slice],
    under: Under,
) -> tuple[list[Sole], Floats]:
    """The soles of the feet, and how far each foot is raised (N, F); none and zeros where there is no ground.

    Places (N, F, 3) of heels and balls are shifted, in place, where an edge is under them.
    """
    rises = np.zeros(paths.on_heel.shape)
    if under.ground is None:
        return [], rises
    soles = []
    for foot, (_, points) in enumerate(by_foot):
        planted, flat = paths.on_heel[foot] | paths.on_ball[foot], paths.on_heel[foot] & paths.on_ball[foot]
        sole = sole_of(under.skeleton, under.world, points, planted, under.base)
        heights = []
        for stance in stances[foot]:
            here = longest_run(flat, stance.frames) or stance.frames
            at = (here.start + here.stop - 1) // 2
            way = paths.ball[foot, at] - paths.heel[foot, at]
            by, rise = level_sole(under.ground, sole, here, way, under.length)
            for place in places:
                place[foot, stance.frames] += by
            heights.append(rise)
        for piece in pieces:
            within = [number for number, stance in enumerate(stances[foot]) if stance.piece == piece]
            frames = [stances[foot][number].frames for number in within]
            rises[foot, piece] = raised(frames, [heights[number] for number in within], piece)
        soles.append(sole)
    return soles, rises


def _turns(
    legs: list[Limb],
    stances: list[list[Stance]],
    both: Bools,
    feet: tuple[Floats, Floats],
    world: World,
    timing: Timing,
) -> Floats:
    """(N, F, 3) rotation vectors that turn the feet onto their places, without noise.

    ``both`` (N, F): whether heel and ball touch. ``feet`` (N, F, 3): from heel to ball, in the clip and of the places.
    """
    turns = np.zeros((*both.shape, 3))
    _align(turns, both, *feet)
    _bridge(turns, both, timing)
    steady = np.zeros_like(both)
    for number, leg in enumerate(legs):
        noisy = [stance for stance in stances[number] if stance.noise]
        if leg.end is None or not noisy:
            continue
        own = world.rotations[:, leg.end]
        turned = multiply(exp(turns[number]), own)[:, None]
        for stance in noisy:
            here = stance.frames
            turns[number, here] = log(multiply(steadied(turned, stance, timing.rate)[:, 0], conjugate(own[here])))
            steady[number, here] = True
    _align(turns, both & steady, *feet)
    return turns


def _align(turns: Floats, here: Bools, feet: Floats, wanted: Floats) -> None:
    """Turn feet (N, F, 3), the shortest way, onto the lines between their places where they are flat; in place."""
    if here.any():
        turned = exp(turns[here])
        turns[here] = log(multiply(between(rotate(turned, feet[here]), wanted[here]), turned))


class _Gap(NamedTuple):
    """Frames between two, in which corrections are not known: from those of one run to those of another, or to none."""

    row: int
    start: int
    stop: int
    before: slice | None
    after: slice | None


def _bridge(values: Floats, known: Bools, timing: Timing) -> None:
    """Fill in corrections (N, F, 3) between the frames in which they are known (N, F), in place.

    Cubics that leave and arrive with the corrections' own slopes; across long gaps, and at the ends, through zero.
    """
    values[~known] = 0.0
    fade = max(2, round(timing.blend * timing.rate))
    gaps = [
        gap
        for row, flags in enumerate(known)
        for piece in timing.pieces
        for gap in _gaps(row, runs_of(flags, piece), piece, fade)
        if gap.stop - gap.start > 1
    ]
    if not gaps:
        return
    steps = np.array([gap.stop - gap.start for gap in gaps])
    # Of each cubic the values at its ends, and the slopes there.
    ends = np.zeros((len(gaps), 4, 3))
    for end, gap in zip(ends, gaps, strict=True):
        if gap.before is not None:
            end[0], end[2] = values[gap.row, gap.start], _slope(values[gap.row], gap.before, -1)
        if gap.after is not None:
            end[1], end[3] = values[gap.row, gap.stop], _slope(values[gap.row], gap.after, 1)
    slopes = ends[:, 2:] * steps[:, None, None]
    most = _SLOPE * np.maximum(norm(ends[:, :2]).max(axis=1), _LEAST_SIZE)
    ends[:, 2:] = slopes * np.minimum(1.0, most[:, None] / np.maximum(norm(slopes), _SAME))[..., None]
    shares = hermite(np.concatenate([np.arange(1, count) / count for count in steps.tolist()]), *np.eye(4))
    which = np.repeat(np.arange(len(gaps)), steps - 1)
    frames = np.concatenate([np.arange(gap.start + 1, gap.stop) for gap in gaps])
    values[np.array([gap.row for gap in gaps])[which], frames] = (shares[..., None] * ends[which]).sum(axis=1)


def _gaps(row: int, runs: list[slice], piece: slice, fade: int) -> Iterator[_Gap]:
    """The gaps between runs, or for each end of a long one a gap as long as corrections fade."""
    for before, after in pairwise([None, *runs, None]):
        start = piece.start - 1 if before is None else before.stop - 1
        stop = piece.stop if after is None else after.start
        if before is not None and after is not None and stop - start <= 2 * fade:
            yield _Gap(row, start, stop, before, after)
            continue
        if before is not None:
            yield _Gap(row, start, min(start + fade, piece.stop), before, None)
        if after is not None:
            yield _Gap(row, max(stop - fade, piece.start - 1), stop, None, after)


def _slope(values: Floats, run: slice, side: int) -> Floats:
    """The correction's change per frame at the end (-1) or the start (1) of a run: the mean of a few frames'."""
    steps = min(_SLOPE_FRAMES, run.stop - run.start - 1)
    if steps < 1:
        return np.zeros(3)
    edge = run.stop - 1 if side < 0 else run.start
    return np.asarray(side * (values[edge + side * steps] - values[edge]) / steps)
