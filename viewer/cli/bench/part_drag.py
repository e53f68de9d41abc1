"""Dragging: how close the hand stays to the cursor, how far joints jump, and whether out and back comes back."""

from __future__ import annotations

import numpy as np

from viewer.cli.bench.paths import SIZES_M, beyond, out_and_back
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import Problems
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.score import NEAR_ENOUGH_M, angle_between, matrices, score
from viewer.cli.output import Json
from viewer.formats.progress import watched
from viewer.ik.drag import Drag
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats

SETS = ("humanoid", "claw", "fingers")
ITERATIONS = (2, 4, 8)
RETURN_ITERATIONS = {"humanoid": 2, "claw": 2, "fingers": 4}
_SEQUENCES, _FRAMES = 10, 240
_TRIALS, _TRIES = 20, 30
_STILL_FRAMES = 30
_FROZEN_DEG, _SHORT_M, _FROZEN_FRAMES = 0.01, 0.02, 5
"""A pose that turns less in a frame, though its cursor moves and it is so far from places that it could reach, is
frozen; a drag, that has more such frames."""


def measure(plan: Plan) -> Json:
    """By set: following by iterations a frame, and the way back."""
    result: dict[str, Json] = {}
    for name in plan.some(SETS):
        rig = plan.source.rig(name)
        motions = plan.source.drags(rig, plan.at_most(_SEQUENCES), _FRAMES if not plan.quick else 20, plan.seed)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        following: dict[str, Json] = {}
        for iterations in watched(f"dragging {name}", ITERATIONS, len(ITERATIONS)):
            following[str(iterations)] = _follow(rig, solver, motions, iterations)
        result[name] = {
            "following": following,
            "return": _returns(plan, rig, solver),
            "beyond": _beyond(plan, rig, solver),
        }
    return result


def _follow(rig: Rig, solver: Solver, motions: list[Problems], iterations: int) -> Json:
    metres, steps, seconds, outside = [], [], [], []
    for motion in motions:
        drag = solver.drag(rig.skeleton.rest_pose())
        solved = [
            drag.move(targets, target_rotations=turns, iterations=iterations)
            for targets, turns in zip(motion.targets, motion.turns, strict=True)
        ]
        rotations = np.array([one.pose.rotations for one in solved])
        translations = np.array([one.pose.translations for one in solved])
        found = score(rig, motion.targets, motion.turns, rotations, translations)
        metres.append(found.metres)
        outside.append(found.outside_rad)
        steps.append(joint_steps(rotations).max(axis=1))
        seconds += [one.seconds for one in solved]
    return {
        "frames": int(np.size(metres)),
        "below_1_mm_percent": float(100.0 * (np.concatenate(metres) < NEAR_ENOUGH_M).mean()),
        "error_mm_p99": float(1e3 * np.percentile(np.concatenate(metres), 99.0)),
        "joint_step_deg_p99": float(np.percentile(np.concatenate(steps), 99.0)),
        "joint_step_deg_max": float(np.concatenate(steps).max()),
        "ms": float(np.median(seconds)) * 1e3,
        "worst_outside_deg": float(np.degrees(np.concatenate(outside).max())),
    }


def joint_steps(rotations: Floats) -> Floats:
    """(F - 1, J) degrees that each joint turns from frame to frame of rotations (F, J, 4)."""
    frames = matrices(rotations)
    return np.degrees(angle_between(frames[:-1], frames[1:]))


def _returns(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """One effector goes out and back within reach, on a line or in a loop; the others hold."""
    by_shape: dict[str, Json] = {}
    starts = plan.source.problems(rig, "near", plan.at_most(_TRIALS), plan.seed + 1)
    for shape in ("line", "loop"):
        size_m, paths = 0.0, []
        for size_m in SIZES_M:
            paths = out_and_back(solver, starts, shape, plan.seed, plan.at_most(_TRIES), size_m)
            if 2 * len(paths) >= len(starts):
                break
        degrees = [_apart_after(solver.drag(start), targets, turns, rig) for start, targets, turns in paths]
        by_shape[shape] = {
            "trials": len(degrees),
            "size_m": size_m,
            "degrees_median": float(np.median(degrees)) if degrees else None,
            "degrees_p90": float(np.percentile(degrees, 90.0)) if degrees else None,
        }
    return by_shape


def _apart_after(drag: Drag, targets: Floats, turns: Floats, rig: Rig) -> float:
    """Degrees between the start and the end in the joint that is farthest from where it was."""
    for place in [*targets, *[targets[-1]] * _STILL_FRAMES]:
        drag.move(place, target_rotations=turns, iterations=_iterations(rig))
    assert drag.solution is not None
    end = matrices(drag.solution.pose.rotations)
    return float(np.degrees(angle_between(matrices(drag.start.rotations), end).max()))


def _iterations(rig: Rig) -> int:
    return RETURN_ITERATIONS.get(rig.name, max(RETURN_ITERATIONS.values()))


def _beyond(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """One effector goes out of reach and back; the others hold."""
    starts = plan.source.problems(rig, "near", plan.at_most(_TRIALS), plan.seed + 2)
    largest, frozen = [], 0
    for start, targets, turns in beyond(starts, plan.seed):
        steps, still = _out_of_reach(solver, start, targets, turns, _iterations(rig))
        largest.append(max(steps))
        frozen += still > _FROZEN_FRAMES
    return {
        "trials": len(largest),
        "frozen": frozen,
        "joint_step_deg_median": float(np.median(largest)),
        "joint_step_deg_max": float(max(largest)),
    }


def _out_of_reach(
    solver: Solver, start: Pose, targets: Floats, turns: Floats, iterations: int
) -> tuple[list[float], int]:
    """Degrees that the fastest joint turns, frame by frame, and how many frames are frozen."""
    drag, before, steps, frozen = solver.drag(start), start.rotations, [], 0
    for k, places in enumerate(targets):
        one = drag.move(places, target_rotations=turns, iterations=iterations)
        steps.append(float(joint_steps(np.array([before, one.pose.rotations])).max()))
        before = one.pose.rotations
        moves = k > 0 and not np.array_equal(places, targets[k - 1])
        if moves and steps[-1] < _FROZEN_DEG and np.nanmax(one.errors_m) > _SHORT_M:
            reached = solver.solve(start, targets=places, target_rotations=turns)
            frozen += reached.status is Status.CONVERGED
    return steps, frozen
