"""Ghosts of the laboratory: the other methods' answers, each with its letter at the goal missed most."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from viewer.formats.lab_report import Curve
from viewer.ik.goals import Goal
from viewer.ik.lab import Trace
from viewer.scene.scene import Ghost
from viewer.skeleton import Skeleton, World, find_place
from viewer.spatial.checks import Floats

_ALPHA = 0.5
_SAME = 0.01
"""A ghost whose joints are all nearer to the figure's than this part of its height is not drawn: they would overlap."""


def method_ghosts(
    skeleton: Skeleton, figure: World, others: Iterable[tuple[Curve, World]], goal: Goal | None, height: float
) -> tuple[Ghost, ...]:
    """The ghosts of methods whose answers (J, ...) differ from the figure's pose (J, ...); its height is in metres.

    Their letters are at the effector of a goal; None: above the heads.
    """
    found = []
    for curve, world in others:
        if float(np.abs(world.positions - figure.positions).max()) >= _SAME * height:
            at = None if goal is None else effector_position(skeleton, world, goal)
            found.append(Ghost(world, _ALPHA, curve.letter, curve.ink, at))
    return tuple(found)


def effector_position(skeleton: Skeleton, world: World, goal: Goal) -> Floats | None:
    """(3,) of the point that a goal moves, metres; None for a goal of the whole figure."""
    if not goal.effector:
        return None
    place = find_place(skeleton, goal.effector)
    return np.asarray(world.point(place.joint, np.add(place.offset, goal.offset)))


def farthest_goal(trace: Trace) -> Goal:
    """The goal that is missed most at the start."""
    missed = [0.0 if math.isnan(miss) else miss for miss in trace.at(0).errors_m.tolist()]
    return trace.solver.goals[int(np.argmax(missed))]
