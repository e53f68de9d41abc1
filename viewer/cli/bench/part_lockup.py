"""The S-lock: four links in a plane, 45 degrees either way, 300 goals that are all within reach.

Cyclic coordinate descent with limits locks up there, bent in an S: each joint by itself can only make it worse. Stuck
is who is more than a millimetre off in the end.

one-shot: every goal from rest. dragging: the target is carried from goal to goal, always within reach, and rests on
each. released: a one-shot solve from where the drag ended, as on letting go.
"""

from __future__ import annotations

import numpy as np

from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import PARTS, Problems, drawn, posed
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.rigs import rig as rig_of
from viewer.cli.bench.score import score
from viewer.cli.output import Json
from viewer.formats.progress import watched
from viewer.ik.drag import Drag
from viewer.ik.solver import Solver
from viewer.ik.solver_options import METHOD_NAMES
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats

GOALS = 300
_CARRIED, _RESTING, _ITERATIONS = 20, 20, 5
"""Frames from goal to goal, frames on it, iterations a frame."""


def measure(plan: Plan) -> Json:
    """By solver: percent stuck."""
    rig = rig_of("planar")
    random = np.random.default_rng([plan.seed, GOALS])
    hidden = PARTS["far"] * drawn(rig, plan.at_most(GOALS), random)
    goals = _at(rig, hidden)
    result: dict[str, Json] = {}
    for method in watched("lock-ups", METHOD_NAMES, len(METHOD_NAMES)):
        solver = Solver(rig.skeleton, rig.goals(), method=method, backend="numpy")
        rest = rig.skeleton.rest_pose()
        if solver.solve(rest, targets=goals.targets[0]).unserved:
            continue
        dragged = _dragged(rig, solver.drag(rest), hidden)
        # What `Drag.escape` does, without a change to the drag that goes on.
        released = [solver.solve(pose, targets=place).pose for pose, place in zip(dragged, goals.targets, strict=True)]
        result[method] = {
            "goals": len(goals),
            "one_shot_percent": _stuck(rig, goals, [solver.solve(rest, targets=place).pose for place in goals.targets]),
            "dragging_percent": _stuck(rig, goals, dragged),
            "released_percent": _stuck(rig, goals, released),
        }
    return result


def _at(rig: Rig, hidden: Floats) -> Problems:
    """Targets of hidden coordinates (N, J, 3)."""
    still = np.zeros((len(hidden), 3))
    return posed(rig, hidden, still, still)


def _dragged(rig: Rig, drag: Drag, hidden: Floats) -> list[Pose]:
    """The pose at every goal of one long drag."""
    poses = []
    before = np.zeros_like(hidden[0])
    parts = np.minimum(np.arange(1, _CARRIED + _RESTING + 1) / _CARRIED, 1.0)[:, None, None]
    for after in hidden:
        for target in _at(rig, before + parts * (after - before)).targets:
            solution = drag.move(target, iterations=_ITERATIONS)
        poses.append(solution.pose)
        before = after
    return poses


def _stuck(rig: Rig, goals: Problems, poses: list[Pose]) -> float:
    rotations = np.array([pose.rotations for pose in poses])
    translations = np.array([pose.translations for pose in poses])
    found = score(rig, goals.targets, goals.turns, rotations, translations)
    return float(100.0 * (~found.honest).mean())
