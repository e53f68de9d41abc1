"""Measures a solver over many frames: dragging, targets out of reach, and lock-ups.

Lock-ups are measured on four links in a plane, limited to 45 degrees either way, with 300 reachable goals. Cyclic
coordinate descent with limits locks up there, bent in an S, because every single joint can only increase the error. A
pose counts as stuck if its tip is more than a millimetre off. One-shot: every goal from rest. Dragging: the target
moves from goal to goal, always within reach, and rests on each. Released: a one-shot solve from the end of the drag, as
when the mouse button is released.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from viewer.choices import METHOD_NAMES
from viewer.cli.bench.bench_problems import (
    NEAR_ENOUGH_M,
    PARTS,
    SIZES_M,
    UNREACHABLE,
    Problems,
    angle_between,
    beyond,
    drawn,
    matrices,
    out_and_back,
    posed,
    score,
)
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.rigs import Rig, find_rig
from viewer.cli.job import Json
from viewer.ik.drag import DEFAULT_ITERATIONS, Drag
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.progress import watched
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats

SETS = ("humanoid", "claw", "fingers")

_ITERATIONS = (2, 4, 8)
_RETURN_ITERATIONS = {"humanoid": 2, "claw": 2, "fingers": 4}
_SEQUENCES, _FRAMES = 10, 240
_TRIALS, _TRIES = 20, 30
_STILL_FRAMES = 30
_FROZEN_DEG, _SHORT_M, _FROZEN_FRAMES = 0.01, 0.02, 5
"""A frame is frozen if all joints rotate by less than this although the cursor moves and a reachable target is farther
away than this; a drag is frozen if it has more such frames than this."""

_SETTLING = 100
"""Iterations, frame by frame, for which a drag stays at its target before its motion is measured."""
_WATCHED = 20
_MOST_PROBLEMS = 50

_LOCK_UP_GOALS = 300
_CARRIED, _RESTING, _CARRY_ITERATIONS = 20, 20, 5
"""Frames from goal to goal, frames on it, iterations a frame."""


# --- dragging: how close the hand stays to the cursor, how far joints jump, whether out and back comes back


def measure_drag(plan: Plan) -> Json:
    """By set: following by iterations a frame, and the way back."""
    result: dict[str, Json] = {}
    for name in plan.some(SETS):
        rig = plan.source.rig(name)
        motions = plan.source.drags(rig, plan.at_most(_SEQUENCES), _FRAMES if not plan.quick else 20, plan.seed)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        following: dict[str, Json] = {}
        for iterations in watched(f"dragging {name}", _ITERATIONS, len(_ITERATIONS)):
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
    """Move one effector out and back within reach, on a line or in a loop; the others hold."""
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
    """Degrees between start and end of the joint that differs most."""
    for place in [*targets, *[targets[-1]] * _STILL_FRAMES]:
        drag.move(place, target_rotations=turns, iterations=_iterations(rig))
    assert drag.solution is not None
    end = matrices(drag.solution.pose.rotations)
    return float(np.degrees(angle_between(matrices(drag.start.rotations), end).max()))


def _iterations(rig: Rig) -> int:
    return _RETURN_ITERATIONS.get(rig.name, max(_RETURN_ITERATIONS.values()))


def _beyond(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """Move one effector out of reach and back; the others hold."""
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
    """Largest joint step in degrees, frame by frame, and the number of frozen frames."""
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


# --- targets out of reach: does the pose stand still, is it reported, how near does it get


def measure_unreachable(plan: Plan) -> Json:
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
    """Largest joint step in degrees per iteration, long after the drag reached its target."""
    drag = solver.drag(rig.skeleton.rest_pose())
    for _ in range(_SETTLING // DEFAULT_ITERATIONS):
        drag.move(targets, target_rotations=turns)
    poses = [drag.move(targets, target_rotations=turns, iterations=1).pose.rotations for _ in range(_WATCHED)]
    return float(joint_steps(np.array(poses)).max())


# --- lock-ups


def measure_lockup(plan: Plan) -> Json:
    """By solver: percent stuck."""
    rig = find_rig("planar")
    random = np.random.default_rng([plan.seed, _LOCK_UP_GOALS])
    hidden = PARTS["far"] * drawn(rig, plan.at_most(_LOCK_UP_GOALS), random)
    goals = _at(rig, hidden)
    result: dict[str, Json] = {}
    for method in watched("lock-ups", METHOD_NAMES, len(METHOD_NAMES)):
        solver = Solver(rig.skeleton, rig.goals(), method=method, backend="numpy")
        rest = rig.skeleton.rest_pose()
        if solver.solve(rest, targets=goals.targets[0]).unserved:
            continue
        dragged = _dragged(rig, solver.drag(rest), hidden)
        # As `Drag.escape` does, but without changing the drag.
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
            solution = drag.move(target, iterations=_CARRY_ITERATIONS)
        poses.append(solution.pose)
        before = after
    return poses


def _stuck(rig: Rig, goals: Problems, poses: list[Pose]) -> float:
    rotations = np.array([pose.rotations for pose in poses])
    translations = np.array([pose.translations for pose in poses])
    found = score(rig, goals.targets, goals.turns, rotations, translations)
    return float(100.0 * (~found.valid).mean())
