"""Contacts of a figure's feet with the ground.

They are found from speed and height, both without units, by a two-state Viterbi path. Each foot has two points, the
ankle ("heel") and the ball. With L the length of thigh and shank and g gravity, speeds are measured in sqrt(g L) and
heights in L, so that figures of any size and unit need no settings. The evidence of each frame is added up along the
path, and each change of state costs: thresholds alone break under noise and under skating.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.motion.capture_faults import bridged, failures, filled_in
from viewer.progress import report
from viewer.skeleton import Clip, Figure, Limb, Skeleton, World, at_or_below, find_figure, fk_clip, rest_world
from viewer.skeleton.character import check_clip, check_skeleton
from viewer.skeleton.limbs import leg_length
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import norm
from viewer.spatial.smoothing import low_pass, median, slopes

HEEL, BALL = "heel", "ball"
POINTS = (HEEL, BALL)

GRAVITY = 9.81
WILD = 20.0
"""A clip is cut where the body moves faster than this, in leg lengths a second."""
_LOST = 0.4
"""Frames in which the body or a foot fails by more than this, in leg lengths, are lost; smaller failures are repaired.
"""
WANDERS = 0.04 / 0.85
"""A point that is farther from the median of its contact than this, in leg lengths, slides or turns: 4 cm of 85."""

_CUTOFF = 6.0
_SPEED, _HEIGHT, _SOFT = 0.075, 0.055, 0.012
_LEAST, _MOST = -6.0, 4.0
_CHANGE = 6.0
_ROLL = 0.012
"""A point that is higher than this above the median of its contact, in leg lengths, rolls on or off."""
_SLOWEST = 0.3
_STEADY = 0.04
"""The least time that a point rests on a step, seconds."""
_CARRIES = 0.75
"""A foot on a step carries the body if its hip is at some moment this many leg lengths above it."""
_LANDS = 0.15
"""Seconds at either end of a contact in which the foot may still land or already leave."""
_OFF, _STILL = 4.0, 1.5e-4
"""It does so while it is farther from the median than this many median distances, and than this in leg lengths."""
_FASTEST = 2.5
"""A contact that wanders is cut where its speed is this many times its median."""
_ELSEWHERE = 0.5
"""Its parts are this far apart, in the distance that wanders, or it stood still and was away for a moment: `_OFF`."""
_CUT = 0.15
"""Seconds removed on either side of a cut: as long as a correction takes to fade, so that the foot does not leap."""
_SHORTEST = 0.07
"""The shortest contact that a cut leaves, seconds."""


class Contact(NamedTuple):
    """A stretch of frames in which a point of a foot touches the ground.

    Attributes:
        point: "heel" (the ankle) or "ball".
        start: its first frame.
        end: its last frame, which belongs to it.
        ignored: neither measured nor planted, as of a foot on a horse or on a moving floor.
    """

    point: str
    start: int
    end: int
    ignored: bool = False

    @property
    def frames(self) -> slice:
        """Its frames, as an index."""
        return slice(self.start, self.end + 1)


class FootContacts(NamedTuple):
    """The contacts of one foot.

    Attributes:
        name: of its joint; of the lower leg's joint if the leg ends there.
        side: "left" or "right".
        contacts: in order of point and time.
    """

    name: str
    side: str
    contacts: tuple[Contact, ...]


@dataclass(frozen=True, slots=True)
class Contacts:
    """The contacts of a clip.

    Attributes:
        feet: left, then right.
    """

    feet: tuple[FootContacts, ...]

    def __repr__(self) -> str:
        return f"<Contacts: {', '.join(f'{quote(foot.name)} {len(foot.contacts)}' for foot in self.feet)}>"

    def __len__(self) -> int:
        return sum(len(foot.contacts) for foot in self.feet)


class FootPlaces(NamedTuple):
    """A foot's points over a clip.

    Attributes:
        name, side: as in `FootContacts`.
        places: (F, 3) world positions of heel and, if there is one, ball.
    """

    name: str
    side: str
    leg: Limb
    places: dict[str, Floats]


def foot_contacts(skeleton: Skeleton, clip: Clip) -> Contacts:
    """When the heels and the balls of a figure's feet touch the ground.

    Stairs, boxes and slopes count as ground: a point that rests higher than usual touches if the body rises over it.

    Args:
        skeleton: a figure with legs; feet without toes or end sites have heels only.
        clip: at any rate. One or two frames touch nothing.

    Raises:
        InputError: no figure with legs; a clip of another skeleton.
    """
    return contacts_of(moving_feet(skeleton, clip))


class MovingFeet(NamedTuple):
    """The feet of a figure over a clip: what finding, measuring and planting contacts start from.

    Attributes:
        world: positions and rotations of all joints in all frames.
        length: of a leg, metres.
        pieces: the clip cut where the body jumps.
        away: (F,) frames in which the capture is lost for a moment; ``world`` and ``feet`` go on there as if it were
            not.
        failed: (P, F) whether the points of the feet are in a wrong place for a moment, near or far.
    """

    skeleton: Skeleton
    clip: Clip
    world: World
    length: float
    feet: list[FootPlaces]
    pieces: list[slice]
    away: Bools
    failed: Bools

    def in_world(self, world: World) -> MovingFeet:
        """The same feet where they are in another world, such as after they were planted."""
        return self._replace(world=world, feet=foot_places(self.skeleton, world))


def moving_feet(skeleton: Skeleton, clip: Clip, world: World | None = None, away: Bools | None = None) -> MovingFeet:
    """The feet of a clip.

    ``world`` is that of all frames, where it is known. ``away`` (F,): frames in which the motion is lost, where that is
    known, as of a clip that this one comes from; None: as they are found.

    Raises:
        InputError: no figure with legs, legs of no length, or a clip of another skeleton.
    """
    world, length = measured(skeleton, clip, world)
    feet = foot_places(skeleton, world)
    paths = [world.positions[:, legged(skeleton).trunk], *(path for foot in feet for path in foot.places.values())]
    failed: Bools = np.zeros((len(paths) - 1, len(clip)), dtype=np.bool_)
    lost: Bools
    if away is None:
        off = failures(np.stack(paths), length, 1.0 / clip.frame_time)
        lost, failed = np.asarray(off.max(axis=0) > _LOST * length), off[1:] > 0.0
    else:
        lost = away
    if lost.any():
        world = filled_in(skeleton, clip, world, lost)
        feet = foot_places(skeleton, world)
    return MovingFeet(skeleton, clip, world, length, feet, steady_pieces(skeleton, clip, world), lost, failed)


def contacts_of(moving: MovingFeet) -> Contacts:
    """When the heels and the balls of the feet touch the ground; see `foot_contacts`."""
    every = [(foot, point) for foot in moving.feet for point in foot.places]
    places = np.stack([foot.places[point] for foot, point in every])
    length, pieces, rate = moving.length, moving.pieces, 1.0 / moving.clip.frame_time
    report("contacts", 0, len(every) + 1)
    paths, speeds = _smoothed(bridged(places, moving.failed), rate, pieces)
    heights = paths[..., 1] / length
    hips = moving.world.positions[:, [foot.leg.upper for foot, _ in every], 1].T
    runs = _runs(heights, speeds / np.sqrt(GRAVITY * length), (hips - places[..., 1]) / length, rate, pieces)
    found: dict[str, list[Contact]] = {foot.name: [] for foot in moving.feet}
    for number, (foot, point) in enumerate(every):
        report("contacts", number + 1, len(every) + 1)
        for run in runs[number]:
            settled = _settled(places[number], *_without_roll(heights[number], *run), rate, length)
            parts = _cut(paths[number], speeds[number], *settled, rate, length)
            found[foot.name] += [Contact(point, first, last) for first, last in parts]
    report("contacts", len(every) + 1, len(every) + 1)
    return Contacts(tuple(FootContacts(foot.name, foot.side, tuple(found[foot.name])) for foot in moving.feet))


def paired(contacts: Contacts, feet: list[FootPlaces], frames: int) -> list[tuple[FootContacts, FootPlaces]]:
    """The contacts of each foot beside its places.

    Raises:
        InputError: contacts of feet or points that are not there, or beyond the clip.
    """
    by_name = {foot.name: foot for foot in contacts.feet}
    for name in by_name:
        if name not in {foot.name for foot in feet}:
            names = ", ".join(quote(foot.name) for foot in feet)
            raise InputError(f"contacts: no foot {quote(name)}: expected {names}")
    found = []
    for places in feet:
        foot = by_name.get(places.name, FootContacts(places.name, places.side, ()))
        for point, start, end, _ in foot.contacts:
            if point not in places.places:
                expected = "a point " + " or ".join(quote(one) for one in POINTS if one in places.places)
                raise InputError(f"contacts of {quote(foot.name)}: expected {expected}, found {quote(point)}")
            if not 0 <= start <= end < frames:
                expected = f"frames from 0 to {frames - 1}"
                raise InputError(f"contacts of {quote(foot.name)}: expected {expected}, found {start} to {end}")
        found.append((foot._replace(side=places.side), places))
    return found


def measured(skeleton: Skeleton, clip: Clip, world: World | None = None) -> tuple[World, float]:
    """All joints in all frames (``world``, where it is known), and the figure's leg length in metres.

    Raises:
        InputError: no figure with legs, legs of no length, or a clip of another skeleton.
    """
    check_skeleton(skeleton)
    check_clip(clip)
    length = leg_length(skeleton, legged(skeleton))
    if not length:
        raise InputError("expected a figure with legs, found legs of no length")
    return fk_clip(skeleton, clip) if world is None else world, length


def legged(skeleton: Skeleton) -> Figure:
    """The figure that a skeleton is; an InputError without legs."""
    figure = find_figure(skeleton)
    if figure is None or not figure.legs:
        raise InputError("expected a figure with legs, found none")
    return figure


def foot_places(skeleton: Skeleton, world: World) -> list[FootPlaces]:
    """The points of both feet in all frames."""
    found = []
    for leg, ball in zip(legged(skeleton).legs, _balls(skeleton), strict=True):
        places = {HEEL: world.point(*leg.tip)}
        if ball is not None:
            places[BALL] = world.point(*ball)
        joint = leg.last
        found.append(FootPlaces(skeleton.names[joint], leg.side, leg, places))
    return found


def steady_pieces(skeleton: Skeleton, clip: Clip, world: World) -> list[slice]:
    """The clip cut where the body jumps, as after a calibration frame or between joined takes."""
    figure = legged(skeleton)
    body = world.positions[:, figure.trunk]
    step = WILD * (leg_length(skeleton, figure) or 0.0) * clip.frame_time
    jumps = np.flatnonzero(norm(np.diff(body, axis=0)) > step) + 1
    edges = [0, *jumps.tolist(), len(clip)]
    return [slice(first, last) for first, last in pairwise(edges)]


@lru_cache(maxsize=16)
def _balls(skeleton: Skeleton) -> list[tuple[int, tuple[float, float, float]] | None]:
    """Per leg the ball of its foot, as a joint and an offset in its frame: the toes, else the farthest end site."""
    found: list[tuple[int, tuple[float, float, float]] | None] = []
    world = rest_world(skeleton)
    for leg in legged(skeleton).legs:
        if leg.toe is not None or leg.end is None:
            found.append(None if leg.toe is None else (leg.toe, (0.0, 0.0, 0.0)))
            continue
        below = at_or_below(skeleton, leg.end)
        tips = [tip for tip, joint in enumerate(skeleton.tip_parents.tolist()) if below[joint]]
        heel = world.point(*leg.tip)
        reach = [
            float(np.linalg.norm(world.point(int(skeleton.tip_parents[tip]), skeleton.tip_offsets[tip]) - heel))
            for tip in tips
        ]
        if not reach or max(reach) < 1e-2 * float(np.linalg.norm(heel - world.positions[leg.upper])):
            found.append(None)
            continue
        tip = tips[int(np.argmax(reach))]
        x, y, z = skeleton.tip_offsets[tip].tolist()
        found.append((int(skeleton.tip_parents[tip]), (x, y, z)))
    return found


def _smoothed(paths: Floats, rate: float, pieces: list[slice]) -> tuple[Floats, Floats]:
    """Smooth paths (P, F, 3) and their speeds (P, F), metres a second; infinite in pieces of one or two frames."""
    smooth, speeds = np.empty(paths.shape), np.full(paths.shape[:2], np.inf)
    for piece in pieces:
        here = low_pass(paths[:, piece].swapaxes(0, 1), rate, _CUTOFF)
        smooth[:, piece] = here.swapaxes(0, 1)
        if len(here) > 2:
            speeds[:, piece] = norm(slopes(here)).T * rate
    return smooth, speeds


def _without_roll(height: Floats, first: int, last: int) -> tuple[int, int]:
    """A contact without the frames at its ends in which the foot rolls over another point."""
    low = np.flatnonzero(height[first : last + 1] - median(height[first : last + 1]) <= _ROLL)
    return first + int(low[0]), first + int(low[-1])


def _settled(places: Floats, first: int, last: int, rate: float, length: float) -> tuple[int, int]:
    """A contact without the frames at its ends in which the foot lands or leaves.

    A foot that slides evenly keeps all: it is never farther from the median than twice the median distance.
    """
    here = places[first : last + 1]
    away = norm(here - median(here))
    settled = away <= max(_OFF * float(median(away)), _STILL * length)
    most = min(round(_LANDS * rate), (len(here) - 1) // 2)
    start = next((frame for frame in range(most) if settled[frame]), most)
    end = next((frame for frame in range(most) if settled[-1 - frame]), most)
    return first + start, last - end


def _runs(
    heights: Floats, speeds: Floats, rises: Floats, rate: float, pieces: list[slice]
) -> list[list[tuple[int, int]]]:
    """First and last frames of contact of each point.

    ``heights``, and ``rises`` of the hip above the point, (P, F) are in leg lengths, ``speeds`` (P, F) in sqrt(g L).
    """
    if not np.isfinite(speeds).any():
        return [[] for _ in heights]
    floors = np.repeat(_standing(heights, speeds)[:, None], heights.shape[1], axis=1)
    found = _viterbi(heights - floors, speeds, rate, pieces)
    resting = (speeds < _SPEED) & (heights - floors > _HEIGHT)
    raised = []
    for number in np.flatnonzero(resting.any(axis=1)).tolist():
        height, rise, runs = heights[number], rises[number], found[number]
        steps = [
            (first, last)
            for first, last in stretches(resting[number])
            if last - first + 1 >= _STEADY * rate and rise[first : last + 1].max() > _CARRIES
        ]
        # The ground is as high as a step up to half-way to the contacts before and after it.
        for first, last in steps:
            before = max((end for _, end in runs if end < first), default=-1)
            after = min((start for start, _ in runs if start > last), default=len(height))
            floors[number, (before + first) // 2 + 1 : (last + after) // 2 + 1] = median(height[first : last + 1])
        if steps:
            raised.append(number)
    again = _viterbi((heights - floors)[raised], speeds[raised], rate, pieces)
    for number, runs in zip(raised, again, strict=True):
        found[number] = runs
    return found


def _standing(heights: Floats, speeds: Floats) -> Floats:
    """(P,) heights of points while they stand: medians of the slower half of their slowest 30 % of frames."""
    # Pieces of one or two frames have no speed at any point.
    known = np.flatnonzero(np.isfinite(speeds[0]))
    slowest = np.argsort(speeds[:, known], axis=1, kind="stable")[:, : max(1, int(0.5 * _SLOWEST * len(known)))]
    return median(np.take_along_axis(heights[:, known], slowest, axis=1).T)


def _viterbi(heights: Floats, speeds: Floats, rate: float, pieces: list[slice]) -> list[list[tuple[int, int]]]:
    """Runs of contact of each point along the likeliest path, each within one piece; (P, F) heights above ground."""
    moving = np.minimum(2.5 * np.log(_SPEED / np.clip(speeds, 1e-9, 1e9)), 3.0)
    low = np.minimum((_HEIGHT - np.maximum(heights, 0.0)) / _SOFT, 3.0)
    evidence = np.clip(moving + low - 1.0, _LEAST, _MOST) * (60.0 / rate)
    return [
        [
            (piece.start + first, piece.start + last)
            for piece in pieces
            for first, last in stretches(np.array(_path(own[piece])))
        ]
        for own in evidence.tolist()
    ]


def _path(evidence: list[float]) -> list[bool]:
    """The states of the likeliest path; ``lead`` is the log odds of contact so far."""
    leads, lead = [], 0.0
    for value in evidence:
        lead = min(max(lead, -_CHANGE), _CHANGE) + value
        leads.append(lead)
    touches: list[bool] = []
    state = lead > 0.0
    for lead in reversed(leads):
        # Backwards: staying in the state of the next frame costs nothing, a change costs `_CHANGE`.
        state = lead > (-_CHANGE if state else _CHANGE) if touches else state
        touches.append(state)
    return touches[::-1]


def stretches(flags: Bools) -> list[tuple[int, int]]:
    """First and last indices of the runs of True in flags (N,)."""
    seen, found, end = flags.tobytes(), [], 0
    while (first := seen.find(1, end)) >= 0:
        end = seen.find(0, first)
        end = len(seen) if end < 0 else end
        found.append((first, end - 1))
    return found


def _cut(path: Floats, speed: Floats, first: int, last: int, rate: float, length: float) -> list[tuple[int, int]]:
    """Cut a contact that wanders at its fastest moment if that is much faster: the foot was set down again.

    A contact that slides evenly stays one. Noise wanders, too, so the smooth path decides whether the foot did.
    """
    here = slice(first, last + 1)
    wander = norm(path[here] - median(path[here]))
    edge = max(1, round(_SHORTEST * rate))
    if wander.max() <= WANDERS * length or last - first + 1 <= 2 * edge + 1:
        return [(first, last)]
    inner = speed[first + edge : last + 1 - edge]
    if inner.max() < _FASTEST * median(speed[here]):
        return [(first, last)]
    at, gap = first + edge + int(np.argmax(inner)), max(1, round(_CUT * rate))
    parts = [(first, at - gap), (at + gap, last)]
    kept = [part for part in parts if part[1] - part[0] + 1 >= edge]
    if len(kept) == 2:
        places = [median(path[start : end + 1]) for start, end in kept]
        moved = float(np.linalg.norm(places[1] - places[0])) > _ELSEWHERE * WANDERS * length
        if not moved and wander.max() <= _OFF * median(wander):
            return [(first, last)]
    return [piece for part in kept for piece in _cut(path, speed, *part, rate, length)]
