"""Targets out of reach: is the pose still, is it said, and how near does it get."""

from __future__ import annotations

from collections import Counter

import numpy as np

from viewer.cli.bench.part_drag import joint_steps
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import UNREACHABLE
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.score import score
from viewer.cli.output import Json
from viewer.formats.progress import watched
from viewer.ik.drag import DEFAULT_ITERATIONS
from viewer.ik.solver import Solver
from viewer.spatial.checks import Floats

SETS = ("humanoid", "claw", "fingers")
_SETTLING = 100
"""Iterations that a drag has been held at the target, frame by frame, before its motion is watched: a step of more
iterations than one frame's ends where the goals are met, and here and there a target is in reach after all."""
_WATCHED = 20
_MOST_PROBLEMS = 50


def measure(plan: Plan) -> Json:
    """By set: motion per further iteration, statuses of one-shot solves."""
    result: dict[str, Json] = {}
    for name in plan.some(SETS):
        rig = plan.source.rig(name)
        count = plan.at_most(min(plan.count, _MOST_PROBLEMS))
        set_of = plan.source.problems(rig, UNREACHABLE, count, plan.seed)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        statuses: Counter[str] = Counter()
        motion, outside, errors = [], [], []
        for targets, turns in watched(
            f"{name} out of reach", list(zip(set_of.targets, set_of.turns, strict=True)), count
        ):
            solution = solver.solve(rig.skeleton.rest_pose(), targets=targets, target_rotations=turns)
            statuses[solution.status.value] += 1
            pose = solution.pose
            found = score(rig, targets[None], turns[None], pose.rotations[None], pose.translations[None])
            outside.append(found.outside_rad[0])
            errors.append(np.sqrt(np.nansum(solution.errors_m**2)))
            motion.append(_restlessness(rig, solver, targets, turns))
        result[name] = {
            "problems": len(motion),
            "statuses": dict(statuses),
            "error_m_median": float(np.median(errors)),
            "deg_per_iteration_median": float(np.median(motion)),
            "deg_per_iteration_p90": float(np.percentile(motion, 90.0)),
            "deg_per_iteration_max": float(np.max(motion)),
            "worst_outside_deg": float(np.degrees(np.max(outside))),
        }
    return result


def _restlessness(rig: Rig, solver: Solver, targets: Floats, turns: Floats) -> float:
    """Degrees that the fastest joint turns per iteration, long after the drag came to its target."""
    drag = solver.drag(rig.skeleton.rest_pose())
    for _ in range(_SETTLING // DEFAULT_ITERATIONS):
        drag.move(targets, target_rotations=turns)
    poses = [drag.move(targets, target_rotations=turns, iterations=1).pose.rotations for _ in range(_WATCHED)]
    return float(joint_steps(np.array(poses)).max())
