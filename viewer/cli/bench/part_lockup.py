"""The S-lock: four links in a plane, 45 degrees either way, 300 goals that are all within reach.

Cyclic coordinate descent with limits locks up there, bent in an S: each joint by itself can only make it worse. Stuck
is who is more than a millimetre off in the end. Dragging: the target moves on a straight line from goal to goal in ten
steps, and then waits. One-shot: every goal from rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.bench.problems import problems
from viewer.cli.bench.rigs import rig as rig_of
from viewer.cli.bench.score import score
from viewer.formats.watch import watched
from viewer.ik.options import METHOD_NAMES
from viewer.ik.solver import Solver

if TYPE_CHECKING:
    from viewer.cli.bench.plan import Plan
    from viewer.cli.bench.problems import Problems
    from viewer.cli.bench.rigs import Rig
    from viewer.cli.output import Json
    from viewer.skeleton.pose import Pose

GOALS = 300
_STEPS, _ITERATIONS, _WAIT = 10, 4, 60


def measure(plan: Plan) -> Json:
    """By solver: percent stuck while dragging and in one-shot solves."""
    rig = rig_of("planar")
    goals = problems(rig, "far", plan.at_most(GOALS), plan.seed)
    result: dict[str, Json] = {}
    for method in watched("lock-ups", METHOD_NAMES, len(METHOD_NAMES)):
        solver = Solver(rig.skeleton, rig.goals(), method=method, backend="numpy")
        first = solver.solve(rig.skeleton.rest_pose(), targets=goals.targets[0])
        if first.unserved:
            continue
        result[method] = {
            "goals": len(goals),
            "dragging_percent": _stuck(rig, goals, _dragged(rig, solver, goals)),
            "one_shot_percent": _stuck(rig, goals, _one_shot(rig, solver, goals)),
        }
    return result


def _one_shot(rig: Rig, solver: Solver, goals: Problems) -> list[Pose]:
    return [solver.solve(rig.skeleton.rest_pose(), targets=target).pose for target in goals.targets]


def _dragged(rig: Rig, solver: Solver, goals: Problems) -> list[Pose]:
    drag = solver.drag(rig.skeleton.rest_pose())
    poses, place = [], goals.targets[0]
    for target in goals.targets:
        for part in np.linspace(0.0, 1.0, _STEPS + 1)[1:]:
            drag.move(place + part * (target - place), iterations=_ITERATIONS)
        poses.append(drag.move(target, iterations=_WAIT).pose)
        place = target
    return poses


def _stuck(rig: Rig, goals: Problems, poses: list[Pose]) -> float:
    rotations = np.array([pose.rotations for pose in poses])
    translations = np.array([pose.translations for pose in poses])
    found = score(rig, goals.targets, goals.turns, rotations, translations)
    return float(100.0 * (~found.honest).mean())
