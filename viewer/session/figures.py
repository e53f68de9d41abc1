"""The figures of a session as values: documents with their reports, where they stand, and which is active."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import NamedTuple

import numpy as np

from viewer.document import Document, Report, still_report, world_of
from viewer.errors import InputError
from viewer.ik.goals import Vector
from viewer.skeleton import World, find_place
from viewer.skeleton.names import free_name
from viewer.spatial.checks import Floats, as_number, triple
from viewer.spatial.quaternion import multiply, rotate

ABREAST = 0.35
"""Free room between two figures beside each other, as a fraction of the larger half width of the two: swinging arms do
not meet."""
_BUNDLED = ("sample:", "demo:")
_SUNK = 0.1
"""Fraction of its height by which a joint of a standing figure may be below 0."""
_LEAST_HALF = 0.2
"""Least half width of a figure, as a fraction of its height."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A document and the report of its last solve; None if its pose was not solved and misses a goal."""

    document: Document
    report: Report | None = None

    @classmethod
    def at_rest(cls, document: Document) -> State:
        """A document that is not to be solved."""
        return cls(document, still_report(document))


class Placement(NamedTuple):
    """Where a figure stands on the stage.

    ``offset`` is in metres from the stage's origin to the document's own, ``yaw`` in radians about the vertical axis
    through that.
    """

    offset: Vector = (0.0, 0.0, 0.0)
    yaw: float = 0.0

    @property
    def rotation(self) -> Floats:
        """(4,) the yaw as a quaternion."""
        return np.array([0.0, math.sin(0.5 * self.yaw), 0.0, math.cos(0.5 * self.yaw)])

    def seen_from(self, other: Placement) -> Placement:
        """This placement in the coordinates of another."""
        way = np.subtract(self.offset, other.offset)
        back = Placement(yaw=-other.yaw).rotation
        x, y, z = rotate(back, way).tolist()
        return Placement((x, y, z), math.remainder(self.yaw - other.yaw, math.tau))

    def points(self, points: Floats) -> Floats:
        """Points (..., 3) of the document on the stage."""
        return rotate(self.rotation, points) + self.offset

    def world(self, world: World) -> World:
        """A world pose of the document on the stage."""
        return World(self.points(world.positions), multiply(self.rotation, world.rotations))

    def checked(self) -> Placement:
        """The same place, as plain numbers."""
        return Placement(triple(self.offset, "placement: offset"), as_number(self.yaw, "placement: yaw"))


ORIGIN = Placement()


class Link(NamedTuple):
    """A goal of a figure whose target stays at a joint of another one.

    ``goal`` is the id of the goal, ``figure`` the name of the other one, ``joint`` its joint, effector or tip.
    """

    goal: str
    figure: str
    joint: str

    @property
    def target(self) -> str:
        """``hero/LeftHand``."""
        return f"{self.figure}/{self.joint}"


@dataclass(frozen=True, slots=True, eq=False)
class StageFigure:
    """One of the figures on the stage.

    Its name is unique on the stage; while ``hidden`` it is not drawn and does not play; ``links`` are its goals that
    follow other figures.
    """

    name: str
    state: State
    placement: Placement = ORIGIN
    hidden: bool = False
    links: tuple[Link, ...] = ()

    @property
    def document(self) -> Document:
        """Of its state."""
        return self.state.document


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """All figures of a stage, at least one.

    ``active`` is the index of the one that actions change.
    """

    figures: tuple[StageFigure, ...]
    active: int = 0

    @property
    def figure(self) -> StageFigure:
        """The active one."""
        return self.figures[self.active]

    def mapped(self, change: Callable[[StageFigure], StageFigure]) -> Arrangement:
        """The same arrangement of changed figures."""
        return Arrangement(tuple(map(change, self.figures)), self.active)


def with_active(arrangement: Arrangement, document: Document) -> Arrangement:
    """The same figures, the active one with another document."""
    state = State.at_rest(document)
    return arrangement.mapped(lambda one: replace(one, state=state) if one is arrangement.figure else one)


def name_of(document: Document) -> str:
    """A name for the figure of a document: that of its file without suffix, else of its skeleton."""
    source = document.character.source.path
    if not source:
        return document.skeleton.name or "Figure"
    last = PurePath(source.rpartition(":")[2] if source.startswith(_BUNDLED) else source).name
    return last.partition(".")[0] or last or "Figure"


def beside(document: Document, others: Iterable[StageFigure]) -> Placement:
    """A free place for a document: to the right of all others, its root level with that of the first."""
    figures = tuple(others)
    if not figures:
        return ORIGIN
    left, right = _sides(document, ORIGIN)
    root = world_of(document.skeleton, document.pose).positions[0]
    first, ends = figures[0], [_sides(one.document, one.placement) for one in figures]
    start = first.placement.points(world_of(first.document.skeleton, first.document.pose).positions[0])
    room = 0.5 * ABREAST * max(right - left, *(most - least for least, most in ends))
    level = _floor(first.document) + first.placement.offset[1] - _floor(document)
    x = max(most for _, most in ends) + room - left
    return Placement((float(x), float(level), float(start[2] - root[2])))


def abreast(documents: Iterable[tuple[str, Document]]) -> Arrangement:
    """Figures beside each other, the first of which is active; a name that is there already gets a number.

    Each comes with the name wanted for its figure, "": that of its file.
    """
    figures: list[StageFigure] = []
    for name, document in documents:
        unique = free_name(name or name_of(document), [one.name for one in figures])
        figures.append(StageFigure(unique, State.at_rest(document), beside(document, figures)))
    return Arrangement(tuple(figures))


def _floor(document: Document) -> float:
    """Height on which a figure stands: 0, or its lowest joint if that is clearly below."""
    places = world_of(document.skeleton, document.pose).positions
    least = float(places[:, 1].min())
    return least if least < -_SUNK * float(np.ptp(places, axis=0).max()) else 0.0


def _sides(document: Document, placement: Placement) -> tuple[float, float]:
    """Smallest and largest x of a figure on the stage."""
    places = placement.points(world_of(document.skeleton, document.pose).positions)
    least, most = float(places[:, 0].min()), float(places[:, 0].max())
    half = _LEAST_HALF * float(np.ptp(places, axis=0).max())
    return min(least, float(places[0, 0]) - half), max(most, float(places[0, 0]) + half)


def lasting(arrangement: Arrangement) -> Arrangement:
    """The same figures without links whose goals, figures or joints are gone."""
    skeletons = {one.name: one.document.skeleton for one in arrangement.figures}

    def holds(figure: StageFigure, link: Link) -> bool:
        try:
            find_place(skeletons[link.figure], link.joint)
        except (KeyError, InputError):
            return False
        return any(goal.id == link.goal for goal in figure.document.goals)

    return arrangement.mapped(lambda one: replace(one, links=tuple(link for link in one.links if holds(one, link))))
