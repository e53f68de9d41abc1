"""Geometric tests that prove a target too far, too near or rotated too far, and their tables.

The shell of a goal is compared with the base of its chain, where that cannot move, and those of every two goals with
each other along the chain that joins them. The tables are computed once per system; testing new targets takes a few
array operations.

`Bodies` has the distances that chains can span. Joints that cannot turn are one rigid body with what is above them,
slides along fixed directions included. What is left is a tree of bodies joined where something turns; if every such
joint were a ball without limits, a chain of links between two points spans every distance from its longest link less
all others (or 0) to the sum of all. Real joints turn less freely: what these spans exclude is out of reach, what they
allow need not be in reach.

An effector that joints turn about two axes a and b at most has the rotations sum x_i y_j B_ij, with unit vectors x and
y of the cosines and sines of half the angles, and B_ij = (1 or a) (1 or b) r. The cosine of half the least angle to a
target p is the largest singular value of the 2 x 2 matrix of the dot products B_ij.p, and its vectors are x and y.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations
from typing import NamedTuple

import numpy as np

from viewer.ik.algebra import HINGE, SLIDE, UNIVERSAL
from viewer.ik.assemble import table
from viewer.ik.goals.bend import angle_between_vectors
from viewer.ik.kernels.joints import sets_turn
from viewer.ik.system import System
from viewer.skeleton.tree import upwards
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, angle_between, multiply, rotate

_MOST_GOALS = 150
"""Up to this many goals all pairs are tested."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """B goals with a base, then P pairs of goals; T + A + D goals whose effectors turn about few axes or none.

    In S of these tests the goal, or the first of the two, has a flat shell.

    Attributes:
        one, other: (B + P,) goals; ``other`` is -1 for those with a base.
        reach, fold: (B + P,) metres, what the chain from the base, or from the other, spans.
        base: (B, 3) metres, world frame: the middle of the segment that the base slides along.
        direction, half, extra: (B + P, 3), (B + P,), (B + P,) the segment's unit vector or 0, half its length, and
            what further slides add; 0 for pairs.
        fixed: (T + A + D,) goals: T rotations of joints that turn about two axes at most, A aims of joints that neither
            turn nor move, D bends of joints that cannot turn.
        turns: (T, 2, 2, 4) the rotations that those joints can have, world frame: B_ij above.
        slack: (T,) radians by which these are uncertain, because nearly parallel axes count as one.
        points, axes: (A, 3), (A, 3) where those effectors are and point, world frame.
        bent: (D,) radians between those joints' bones.
        flat: (S,) their indices among the B + P.
    """

    one: Ints
    other: Ints
    reach: Floats
    fold: Floats
    base: Floats
    direction: Floats
    half: Floats
    extra: Floats
    fixed: Ints
    turns: Floats
    slack: Floats
    points: Floats
    axes: Floats
    bent: Floats
    flat: Ints


class _Test(NamedTuple):
    """A goal and its base, or two goals."""

    one: int
    other: int
    links: Links
    base: BodyPoint | None = None


def tables_of(system: System, bodies: Bodies, q: Floats) -> Tables:
    """The tables of a system whose bodies are known, in a pose of local rotations q (K, 4)."""
    places = [
        bodies.place(joint, offset)
        for joint, offset in zip(system.goal_joint.tolist(), system.goal_offset, strict=True)
    ]  # fmt: skip
    ways = {g: bodies.way_up(places[g]) for g in np.flatnonzero(system.goal_has_shell).tolist()}
    based = [_Test(g, -1, way[WORLD].links, way[WORLD].place) for g, way in ways.items() if WORLD in way]
    tests = based + _pairs(ways, system.goal_along)
    slides = [_main_slide(test.base) for test in tests]
    families = {g: _rotations(system, q, g) for g in range(len(places)) if sets_turn(system, g)}
    turned = {g: family for g, family in families.items() if family is not None}
    aimed = [g for g in np.flatnonzero(system.goal_aims).tolist() if places[g].body == WORLD and not places[g].slides]
    joint = system.goal_joint
    bent = np.flatnonzero(system.goal_one_joint & ~moving(system)[0][joint]).tolist()
    return Tables(
        one=np.array([test.one for test in tests], dtype=np.intp),
        other=np.array([test.other for test in tests], dtype=np.intp),
        reach=np.array([test.links.reach for test in tests]),
        fold=np.array([test.links.fold for test in tests]),
        base=table([test.base.point for test in based if test.base is not None], 3),
        direction=table([slide.direction for slide, _ in slides], 3),
        half=np.array([slide.half for slide, _ in slides]),
        extra=np.array([extra for _, extra in slides]),
        fixed=np.array([*turned, *aimed, *bent], dtype=np.intp),
        turns=np.array([turns for turns, _ in turned.values()]).reshape(-1, 2, 2, 4),
        slack=np.array([slack for _, slack in turned.values()]),
        points=table([places[g].point for g in aimed], 3),
        axes=table([rotate(bodies.turn[joint[g]], system.goal_numbers[g, :3]) for g in aimed], 3),
        bent=np.array([_angle_of(system, bodies, g) for g in bent], dtype=np.float64),
        flat=np.array([i for i, test in enumerate(tests) if system.goal_along[test.one].any()], dtype=np.intp),
    )


_PARALLEL = 1e-4
"""Radians between axes that count as one: files give quarter turns to four digits or more."""


def _rotations(system: System, q: Floats, g: int) -> tuple[Floats, float] | None:
    """The rotations that a goal's effector can have, and their slack, as in `Tables`; None if not of two axes."""
    axes: list[Floats] = []
    turn, slack = IDENTITY, 0.0
    for k in reversed(upwards(system.parent, int(system.goal_joint[g]))):
        # A hinge keeps its axis; the first of two axes does not turn with the joint, the second does.
        before, turn = multiply(turn, system.rest[k]), multiply(turn, q[k])
        live = _turning(system, k)
        if live.any() and system.form[k] not in (HINGE, UNIVERSAL):
            return None
        for i in np.flatnonzero(live).tolist():
            axis = rotate((before, turn)[i], system.axes[k, i])
            apart = float(np.linalg.norm(np.cross(axes[-1], axis))) if axes else 1.0
            if apart > _PARALLEL:
                axes.append(axis)
            else:
                slack += 2.0 * apart
    if len(axes) > 2:  # more than x and y
        return None
    one, other = ([IDENTITY, np.array((*axis, 0.0))] for axis in (*axes, *[_ORIGIN] * (2 - len(axes))))
    return np.array([[multiply(multiply(a, b), turn) for b in other] for a in one]), slack


def _turning(system: System, k: int) -> Bools:
    """Which dofs of joint k, but for translations, turn it and have any room."""
    dofs = slice(system.first[k] + system.moves[k], system.first[k + 1])
    able = (system.spread[dofs] > 0.0) & (system.upper[dofs] > system.lower[dofs])
    return np.asarray(able & (system.form[k] != SLIDE))


def _angle_of(system: System, bodies: Bodies, g: int) -> float:
    """Radians between the bones above and below a goal's joint."""
    k = int(system.goal_joint[g])
    above = rotate(bodies.turn[system.parent[k]], system.offset[k])
    return angle_between_vectors(above, rotate(bodies.turn[k], system.goal_offset[g]))


def _pairs(ways: dict[int, dict[int, Step]], along: Floats) -> list[_Test]:
    """Pairs of goals whose chains meet in a body that moves: those that meet in the world are tested by their bases.

    Flat shells, ``along`` (G, 3), come first, and are not paired with others that they cross.
    """
    tests = []
    for one, other in combinations(sorted(list(ways)[:_MOST_GOALS], key=lambda g: not along[g].any()), 2):
        if along[other].any() and np.linalg.norm(np.cross(along[one], along[other])) > _ROUNDING:
            continue
        there = ways[other]
        for body, step in ways[one].items():
            if body >= 0 and body in there:
                join = between(step.place, there[body].place)
                tests.append(_Test(one, other, step.links.then(join).then(there[body].links)))
                break
    return tests


def _main_slide(base: BodyPoint | None) -> tuple[Slide, float]:
    """The longest slide of a base, and what the others add to either side."""
    slides = sorted(base.slides, key=lambda slide: slide.half) if base is not None else []
    main = slides.pop() if slides else Slide(-1, np.zeros(3), 0.0)
    return main, math.fsum(slide.half for slide in slides)


_ROUNDING = 1e-9
"""Generous bound of rounding: as a part of the sum of lengths; in radians for turns."""
_FAR_OUT = 1e-12
"""The same bound as a part of the targets' coordinates."""

END = 1e150
"""Metres; the squares of anything farther out overflow."""


class Miss(StrEnum):
    """Why a target is out of reach."""

    FAR = "far"
    """Too far."""
    NEAR = "near"
    """Too near."""
    WIDE = "wide"
    """A distance is longer than the way to its point and the chain together."""
    TURN = "turn"
    """No joint turns an effector as a goal rotates it."""


class Gap(NamedTuple):
    """A target, or two, out of reach.

    Attributes:
        miss: how.
        goals: the system's goal, compared with its base; or two, compared with each other.
        short: metres (of a turn radians) that are missing.
        reach, fold: metres, the longest and the shortest distance that the chain spans.
        distance: metres between base and target (the nearest place of a base that slides), or between both targets.
        asked: metres that the goals keep from their targets, together.
    """

    miss: Miss
    goals: tuple[int, ...]
    short: float
    reach: float = 0.0
    fold: float = 0.0
    distance: float = 0.0
    asked: float = 0.0


class Reach:
    """The test for one system, for any targets; threads may share it."""

    def __init__(self, system: System) -> None:
        """Note the joints that cannot move: the tables depend on their pose."""
        turns, moves = moving(system)
        self._unturned, self._unmoved = np.flatnonzero(~turns), np.flatnonzero(~moves)
        self._last: tuple[Floats, Floats, Tables] | None = None

    def out_of_reach(self, system: System, q: Floats, t: Floats) -> bool:
        """Whether any goal, or any two, are certainly out of reach.

        ``system`` has the targets; ``q`` (K, 4) and ``t`` (K, 3): local motion in any pose, of which that of joints
        that cannot turn or move counts.
        """
        tables = self._tables(system, q, t)
        distances, turns = _distances(system, tables), _turns(system, tables)
        return bool((distances.beyond > 0.0).any() or (turns > system.tolerance[1] + _ROUNDING).any())

    def gaps(self, system: System, q: Floats, t: Floats) -> list[Gap]:
        """All gaps; arguments as for `out_of_reach`."""
        tables = self._tables(system, q, t)
        found = _distances(system, tables)
        gaps = []
        for i in np.flatnonzero((found.beyond > 0.0).any(axis=0)).tolist():
            way = int(found.beyond[:, i].argmax())
            goals = tuple(goal for goal in (int(tables.one[i]), int(tables.other[i])) if goal >= 0)
            numbers = (found.short[way, i], tables.reach[i], tables.fold[i], found.nearest[i], found.asked[way, i])
            gaps.append(Gap(_WAYS[way], goals, *(float(number) for number in numbers)))
        turns = _turns(system, tables)
        off = np.flatnonzero(turns > system.tolerance[1] + _ROUNDING).tolist()
        return gaps + [Gap(Miss.TURN, (int(tables.fixed[i]),), float(turns[i])) for i in off]

    def _tables(self, system: System, q: Floats, t: Floats) -> Tables:
        turns, places = q[self._unturned], t[self._unmoved]
        last = self._last
        if last is None or not (np.array_equal(last[0], turns) and np.array_equal(last[1], places)):
            last = (turns, places, tables_of(system, bodies_of(system, q, t), q))
            self._last = last
        return last[2]


_WAYS = (Miss.FAR, Miss.NEAR, Miss.WIDE)


class _Distances(NamedTuple):
    """B + P tests: metres missing by way (3, B + P), those beyond tolerances, nearest places (B + P,), asked ones."""

    short: Floats
    beyond: Floats
    nearest: Floats
    asked: Floats


def _distances(system: System, tables: Tables) -> _Distances:
    """Triangle inequalities, generalised to chains.

    A chain spans fold .. reach; its base is nearest .. farthest from the target. So the effector gets between
    max(nearest - reach, fold - farthest, 0) and farthest + reach from it.
    """
    count = len(tables.base)
    target = np.clip(system.goal_target, -END, END)
    apart = target[tables.one]
    apart[:count] -= tables.base
    apart[count:] -= target[tables.other[count:]]
    nearest, farthest = segment_distance(apart, tables.direction, tables.half)
    nearest, farthest = np.maximum(nearest - tables.extra, 0.0), farthest + tables.extra
    one = system.goal_shell[tables.one]
    other = np.where((tables.other >= 0)[:, None], system.goal_shell[tables.other], 0.0)
    if len(tables.flat):  # nothing is too near to a flat shell
        nearest[tables.flat] = _to_flat(system, tables, apart[tables.flat], one[tables.flat], other[tables.flat])
        farthest[tables.flat] = math.inf
        one[tables.flat] = 0.0
        other[system.goal_along[tables.other].any(axis=-1)] = 0.0
    least, asked = (one + other).T
    wide = np.maximum(one[:, 0] - other[:, 1], other[:, 0] - one[:, 1])
    short = np.stack([
        nearest - tables.reach - asked, tables.fold - farthest - asked, wide - farthest - tables.reach
    ])  # fmt: skip
    asked = np.stack([asked, asked, least])
    slack = system.tolerance[0] * (1.0 + (tables.other >= 0)) + _ROUNDING * (nearest + tables.reach + asked)
    slack += _FAR_OUT * np.abs(target).max(initial=0.0)
    return _Distances(short, short - slack, nearest, asked)


def _to_flat(system: System, tables: Tables, apart: Floats, one: Floats, other: Floats) -> Floats:
    """(S,) metres to flat shells, from bases, other targets or other flat shells, which are parallel.

    ``apart`` (S, 3): from those to the targets of the flat shells ``one`` (S, 2); ``other`` (S, 2): 0 for bases.
    """
    some = tables.flat
    along = system.goal_along[tables.one[some]]
    here = -np.einsum("...i,...i->...", apart, along)
    slide = tables.half[some] * np.abs(np.einsum("...i,...i->...", tables.direction[some], along)) + tables.extra[some]
    side = np.where(tables.other[some] >= 0, np.einsum("si,si->s", system.goal_along[tables.other[some]], along), 0.0)
    ends = np.where(side[:, None] == 0.0, 0.0, side[:, None] * other)
    low, high = here + ends.min(axis=1), here + ends.max(axis=1)
    return np.asarray(np.maximum(np.maximum(one[:, 0] - high, low - one[:, 1]) - slide, 0.0))


def _turns(system: System, tables: Tables) -> Floats:
    """(T + A + D,) radians by which goals are missed at least because their effectors do not turn so."""
    count, end = len(tables.turns), len(tables.turns) + len(tables.points)
    if len(tables.fixed) == 0:
        return np.zeros(0)
    turned, aimed, bent = tables.fixed[:count], tables.fixed[count:end], tables.fixed[end:]
    angles = np.zeros(count)
    if count:
        wanted = system.goal_rotation[turned]
        x, _, y = np.linalg.svd(np.einsum("tijc,tc->tij", tables.turns, wanted))
        nearest = np.einsum("tijc,ti,tj->tc", tables.turns, x[:, :, 0], y[:, 0])
        angles = angle_between(nearest, wanted) - tables.slack
    ahead = np.clip(system.goal_target[aimed], -END, END) - tables.points
    sine = np.linalg.norm(np.cross(tables.axes, ahead), axis=-1)
    cosine = np.einsum("...i,...i->...", tables.axes, ahead)
    # An effector that is at the point aims at it: both are 0 there.
    return np.concatenate([angles, np.arctan2(sine, cosine), np.abs(system.goal_numbers[bent, 0] - tables.bent)])


WORLD = -1
"""The body of everything that cannot move."""
AFLOAT = -2
"""The index for the body of a free root."""

_ORIGIN = np.zeros(3)


class Slide(NamedTuple):
    """How far a joint slides to either side of the middle of its range: metres along a unit vector (3,) of its body."""

    joint: int
    direction: Floats
    half: float


@dataclass(frozen=True, slots=True, eq=False)
class BodyPoint:
    """A point (3,) of a body, in metres, with the slides above it in the middle of their ranges."""

    body: int
    point: Floats
    slides: tuple[Slide, ...] = ()


class Links(NamedTuple):
    """Links end to end.

    Attributes:
        reach: all their longest lengths together, metres.
        most: the largest sum of a link's own shortest and longest length: ``most - reach`` is how short they fold.
    """

    reach: float = 0.0
    most: float = 0.0

    def then(self, other: Links) -> Links:
        """These and others."""
        return Links(self.reach + other.reach, max(self.most, other.most))

    @property
    def fold(self) -> float:
        """The shortest distance that they span."""
        return max(0.0, self.most - self.reach) if self.reach < math.inf else 0.0


class Step(NamedTuple):
    """Where a path upwards enters a body, and the links up to there."""

    place: BodyPoint
    links: Links


@dataclass(frozen=True, slots=True, eq=False)
class Bodies:
    """The bodies of a system.

    Attributes:
        origin: (K,) where each joint is, in the body that it belongs to.
        turn: (K,) its rotation (4,) in that body's frame.
        hung: by body: its origin as a place of the body above. A body's number is that of its first joint.
    """

    origin: list[BodyPoint]
    turn: list[Floats]
    hung: dict[int, BodyPoint]

    def place(self, joint: int, offset: Floats) -> BodyPoint:
        """A point fixed to a joint, ``offset`` (3,) in its frame."""
        at = self.origin[joint]
        if not offset.any():
            return at
        return BodyPoint(at.body, at.point + rotate(self.turn[joint], offset), at.slides)

    def way_up(self, place: BodyPoint) -> dict[int, Step]:
        """The bodies on the way from a place to the world or to a free root, in this order."""
        links, steps = Links(), {}
        while place.body >= 0:
            steps[place.body] = Step(place, links)
            links = links.then(link(place.point, place.slides))
            place = self.hung[place.body]
        steps[place.body] = Step(place, links)
        return steps


def moving(system: System) -> tuple[Bools, Bools]:
    """(K,) which joints can turn, and (K,) which can move (slides, roots): those that take part and have any room."""
    live = (system.spread > 0.0) & (system.upper > system.lower)
    joints = len(system.parent)
    owner = np.repeat(np.arange(joints), np.diff(system.first))
    shifts = (np.arange(len(owner)) - system.first[owner] < system.moves[owner]) | (system.form[owner] == SLIDE)
    turns = np.bincount(owner[live & ~shifts], minlength=joints) > 0
    return turns, np.bincount(owner[live & shifts], minlength=joints) > 0


def bodies_of(system: System, q: Floats, t: Floats) -> Bodies:
    """The bodies; local rotations (K, 4) and translations (K, 3) are those of joints that cannot turn or move."""
    turns, moves = (mask.tolist() for mask in moving(system))
    bodies = Bodies([], [], {})
    for k, above in enumerate(system.parent.tolist()):
        afloat = above < 0 and moves[k] and system.form[k] != SLIDE
        place, turn = _hang(system, (q[k], t[k]), bodies, k, slides=moves[k] and not afloat)
        if turns[k] or afloat:
            bodies.hung[k] = BodyPoint(AFLOAT, _ORIGIN) if afloat else place
            place = BodyPoint(k, _ORIGIN)
            if turns[k]:
                turn = IDENTITY
        bodies.origin.append(place)
        bodies.turn.append(turn)
    return bodies


def _hang(
    system: System, local: tuple[Floats, Floats], bodies: Bodies, k: int, *, slides: bool
) -> tuple[BodyPoint, Floats]:
    """Place and rotation of joint k in its parent's body, as if it could not turn itself; ``local``: (4,), (3,)."""
    above = int(system.parent[k])
    at, turn = BodyPoint(WORLD, _ORIGIN), IDENTITY
    if above >= 0:
        at, turn = bodies.origin[above], bodies.turn[above]
    same = turn is IDENTITY
    (own, shift), slid = local, at.slides
    if slides:
        first = int(system.first[k])
        low, high = float(system.lower[first]), float(system.upper[first])
        along = rotate(system.rest[k], system.axes[k, 0])
        if math.isfinite(high - low):
            shift = system.offset[k] + 0.5 * (low + high) * along
        slid = (*slid, Slide(k, along if same else rotate(turn, along), 0.5 * (high - low)))
    point = at.point + (shift if same else rotate(turn, shift))
    return BodyPoint(at.body, point, slid), own if same else multiply(turn, own)


def link(vector: Floats, slides: Sequence[Slide]) -> Links:
    """The link between two points of a body that are a vector (3,) apart but for slides.

    Exact for at most one slide; others count as balls about the ends.
    """
    if not slides:
        length = float(np.linalg.norm(vector))
        return Links(length, 2.0 * length)
    main, *others = sorted(slides, key=lambda slide: -slide.half)
    extra = sum(slide.half for slide in others)
    shortest, longest = (float(end) for end in segment_distance(vector, main.direction, np.array(main.half)))
    shortest, longest = max(0.0, shortest - extra), longest + extra
    return Links(longest, shortest + longest if longest < math.inf else 0.0)


def between(one: BodyPoint, other: BodyPoint) -> Links:
    """The link between two places of one body: slides above both move both."""
    shared = {slide.joint for slide in one.slides} & {slide.joint for slide in other.slides}
    slides = [slide for slide in (*one.slides, *other.slides) if slide.joint not in shared]
    return link(one.point - other.point, slides)


def segment_distance(vector: Floats, direction: Floats, half: Floats) -> tuple[Floats, Floats]:
    """Shortest and longest distances (...) from points to segments.

    Args:
        vector: (..., 3) from the segment's middle to the point.
        direction: (..., 3) unit vector along it, or 0.
        half: (...) half its length, may be infinite.
    """
    along = np.einsum("...i,...i->...", vector, direction)
    aside = vector - along[..., None] * direction
    square = np.einsum("...i,...i->...", aside, aside)
    along = np.abs(along)
    beyond = np.maximum(along - half, 0.0)
    return np.sqrt(square + beyond * beyond), np.sqrt(square + (along + half) ** 2)
