"""What the tests of `viewer.ik.reach` need to know of a system, as arrays."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.ik.kernels import AIM, DISTANCE, POSE, POSITION, ROTATION
from viewer.ik.spans import WORLD, Links, Slide, between
from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from viewer.ik.spans import Bodies, Place, Step
    from viewer.ik.system import System
    from viewer.spatial.checks import Floats, Ints

_MOST_GOALS = 150
"""Of so many goals every two are held against each other; more would take more time than they are worth."""


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """B goals with a base, then P pairs of goals; T + A goals that can never turn.

    Attributes:
        one, other: (B + P,) goals; ``other`` is -1 for those with a base.
        reach, fold: (B + P,) metres, what the chain from the base, or from the other, spans.
        base: (B, 3) metres, world frame: the middle of the segment that the base slides along.
        direction, half, extra: (B + P, 3), (B + P,), (B + P,) the segment's unit vector or 0, half its length, and
            what further slides add; 0 for pairs.
        fixed: (T + A,) goals: T that ask a turn of joints that cannot turn, A aims of joints that cannot move either.
        turns: (T, 4) how those joints stand, world frame.
        points, axes: (A, 3), (A, 3) where those effectors are and point, world frame.
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
    points: Floats
    axes: Floats


class _Test(NamedTuple):
    """A goal and its base, or two goals."""

    one: int
    other: int
    links: Links
    base: Place | None = None


def tables_of(system: System, bodies: Bodies) -> Tables:
    """The tables of a system whose bodies are known."""
    kinds = system.goal_kind.tolist()
    places = [
        bodies.place(joint, offset)
        for joint, offset in zip(system.goal_joint.tolist(), system.goal_offset, strict=True)
    ]  # fmt: skip
    placed = [g for g, kind in enumerate(kinds) if kind in (POSITION, POSE, DISTANCE)]
    ways = {g: bodies.way_up(places[g]) for g in placed}
    based = [_Test(g, -1, way[WORLD].links, way[WORLD].place) for g, way in ways.items() if WORLD in way]
    paired = _pairs(ways)
    tests = based + paired
    slides = [_main_slide(test.base) for test in tests]
    turned = [
        g for g, kind in enumerate(kinds) if kind in (ROTATION, POSE) and places[g].body in bodies.still
    ]  # fmt: skip
    aimed = [g for g, kind in enumerate(kinds) if kind == AIM and places[g].body == WORLD and not places[g].slides]
    joint = system.goal_joint
    return Tables(
        one=np.array([test.one for test in tests], dtype=np.intp),
        other=np.array([test.other for test in tests], dtype=np.intp),
        reach=np.array([test.links.reach for test in tests]),
        fold=np.array([test.links.fold for test in tests]),
        base=_rows([test.base.point for test in based if test.base is not None], 3),
        direction=_rows([slide.direction for slide, _ in slides], 3),
        half=np.array([slide.half for slide, _ in slides]),
        extra=np.array([extra for _, extra in slides]),
        fixed=np.array(turned + aimed, dtype=np.intp),
        turns=_rows([bodies.turn[joint[g]] for g in turned], 4),
        points=_rows([places[g].point for g in aimed], 3),
        axes=_rows([rotate(bodies.turn[joint[g]], system.goal_axis[g]) for g in aimed], 3),
    )


def _pairs(ways: dict[int, dict[int, Step]]) -> list[_Test]:
    """Every two goals whose ways meet in a body that moves: what meets in the world is known from the base already."""
    tests = []
    for one, other in combinations(list(ways)[:_MOST_GOALS], 2):
        there = ways[other]
        for body, step in ways[one].items():
            if body >= 0 and body in there:
                join = between(step.place, there[body].place)
                tests.append(_Test(one, other, step.links.then(join).then(there[body].links)))
                break
    return tests


def _main_slide(base: Place | None) -> tuple[Slide, float]:
    """The longest slide of a base, and what the others add to either side."""
    slides = sorted(base.slides, key=lambda slide: slide.half) if base is not None else []
    main = slides.pop() if slides else Slide(-1, np.zeros(3), 0.0)
    return main, math.fsum(slide.half for slide in slides)


def _rows(rows: list[Floats], width: int) -> Floats:
    return np.array(rows, dtype=np.float64).reshape(-1, width)
