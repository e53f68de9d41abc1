"""The distances that the chains of a system can span: rigid bodies, and the links between rotating joints.

Joints that cannot turn are one rigid body with what is above them, slides along fixed directions included. What is
left is a tree of bodies joined where something turns; taking every such joint for a ball without limits, a chain of
links between two points spans every distance from its longest link less all others (or 0) to the sum of all. Real
joints turn less freely: what these spans exclude nothing reaches, what they allow need not be in reach.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.ik.backends.compiled.algebra import SLIDE
from viewer.ik.system import System
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import IDENTITY, multiply, rotate

WORLD = -1
"""The body of everything that cannot move."""
AFLOAT = -2
"""Stands for the body of a free root."""

_ORIGIN = np.zeros(3)


class Slide(NamedTuple):
    """How far a joint slides to either side of the middle of its range: metres along a unit vector (3,) of its body."""

    joint: int
    direction: Floats
    half: float


@dataclass(frozen=True, slots=True, eq=False)
class Place:
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
    """Where a way up enters a body, and the links up to there."""

    place: Place
    links: Links


@dataclass(frozen=True, slots=True, eq=False)
class Bodies:
    """The bodies of a system.

    Attributes:
        origin: (K,) where each joint is, in the body that it belongs to.
        turn: (K,) its rotation (4,) in that body's frame.
        hung: by body: its origin as a place of the body above. A body's number is that of its first joint.
        still: bodies that keep their orientation; in their frames ``turn`` is the world's.
    """

    origin: list[Place]
    turn: list[Floats]
    hung: dict[int, Place]
    still: set[int]

    def place(self, joint: int, offset: Floats) -> Place:
        """A point fixed to a joint, ``offset`` (3,) in its frame."""
        at = self.origin[joint]
        if not offset.any():
            return at
        return Place(at.body, at.point + rotate(self.turn[joint], offset), at.slides)

    def way_up(self, place: Place) -> dict[int, Step]:
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
    """The bodies; local rotations (K, 4) and translations (K, 3) say how joints that cannot turn or move stand."""
    turns, moves = (mask.tolist() for mask in moving(system))
    bodies = Bodies([], [], {}, {WORLD})
    for k, above in enumerate(system.parent.tolist()):
        afloat = above < 0 and moves[k] and system.form[k] != SLIDE
        place, turn = _hang(system, (q[k], t[k]), bodies, k, slides=moves[k] and not afloat)
        if turns[k] or afloat:
            bodies.hung[k] = Place(AFLOAT, _ORIGIN) if afloat else place
            place = Place(k, _ORIGIN)
            if turns[k]:
                turn = IDENTITY
            else:
                bodies.still.add(k)
        bodies.origin.append(place)
        bodies.turn.append(turn)
    return bodies


def _hang(
    system: System, local: tuple[Floats, Floats], bodies: Bodies, k: int, *, slides: bool
) -> tuple[Place, Floats]:
    """Place and rotation of joint k in its parent's body, as if it could not turn itself; ``local``: (4,), (3,)."""
    above = int(system.parent[k])
    at, turn = Place(WORLD, _ORIGIN), IDENTITY
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
    return Place(at.body, point, slid), own if same else multiply(turn, own)


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


def between(one: Place, other: Place) -> Links:
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
