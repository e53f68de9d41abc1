"""What only the comparison measures of our own solver, besides the parts of `ikviewer bench`; and its tables.

Out and back, targets out of reach, lock-ups, and how much poses look like a person's (`pose_score`).

Lock-ups are measured on four links in a plane, limited to 45 degrees either way, with 300 reachable goals. Cyclic
coordinate descent with limits locks up there, bent in an S, because every single joint can only increase the error. A
pose counts as stuck if its tip is more than a millimetre off. One-shot: every goal from rest. Dragging: the target
moves from goal to goal, always within reach, and rests on each. Released: a one-shot solve from the end of the drag, as
when the mouse button is released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pose_score
from problem_sets import SIZES_M, UNREACHABLE, beyond, find_rig, out_and_back

from viewer.choices import METHOD_NAMES
from viewer.cli import bench_command
from viewer.cli.bench_command import Table, by_key, number
from viewer.cli.bench_measures import PARTS, Plan, Problems, Rig, drawn, joint_steps, measure_drag, posed, score
from viewer.cli.job import Json
from viewer.ik.drag import DEFAULT_ITERATIONS, Drag
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.progress import watched
from viewer.skeleton import Pose
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import angle_between

_RETURN_ITERATIONS = {"humanoid": 2, "claw": 2, "fingers": 4}
_PATHS, _TRIES = 20, 30
_STILL_FRAMES = 30
_FROZEN_DEG, _SHORT_M, _FROZEN_FRAMES = 0.01, 0.02, 5
"""A frame is frozen if all joints rotate by less than this although the cursor moves and a reachable target is farther
away than this; a drag is frozen if it has more such frames than this."""

_SETTLING = 100
"""Iterations, frame by frame, for which a drag stays at its target before its motion is measured."""
_WATCHED = 20
_MOST_UNREACHABLE = 50

_LOCK_UP_GOALS = 300
_CARRIED, _RESTING, _CARRY_ITERATIONS = 20, 20, 5
"""Frames from goal to goal, frames on it, iterations a frame."""


# --- dragging out and back, within reach and beyond


def measure_drags(plan: Plan) -> dict[str, Json]:
    """By set: following, as `ikviewer bench` measures it, and the way back."""
    following = measure_drag(plan)
    result: dict[str, Json] = {}
    for name, follow in following.items():
        rig = plan.source.rig(name)
        solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
        ways = {"return": _returns(plan, rig, solver), "beyond": _beyond(plan, rig, solver)}
        result[name] = {"following": follow, **ways}
    return result


def _returns(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """Move one effector out and back within reach, on a line or in a loop; the others hold."""
    by_shape: dict[str, Json] = {}
    starts = plan.source.problems(rig, "near", plan.at_most(_PATHS), plan.seed + 1)
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
    return float(np.degrees(angle_between(drag.start.rotations, drag.solution.pose.rotations).max()))


def _iterations(rig: Rig) -> int:
    return _RETURN_ITERATIONS.get(rig.name, max(_RETURN_ITERATIONS.values()))


def _beyond(plan: Plan, rig: Rig, solver: Solver) -> Json:
    """Move one effector out of reach and back; the others hold."""
    starts = plan.source.problems(rig, "near", plan.at_most(_PATHS), plan.seed + 2)
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


def measure_unreachable(plan: Plan) -> dict[str, Json]:
    """By set: motion per further iteration, statuses of one-shot solves."""
    result: dict[str, Json] = {}
    for name in plan.some(plan.source.sets):
        rig = plan.source.rig(name)
        count = plan.at_most(min(plan.count, _MOST_UNREACHABLE))
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
            found = plan.source.score(rig, targets[None], turns[None], pose.rotations[None], pose.translations[None])
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


def measure_lockup(plan: Plan) -> dict[str, Json]:
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


# --- tables


def _drag(figures: Any) -> list[Table]:  # noqa: ANN401 - JSON of the part's own shape
    following = {rig: found["following"] for rig, found in figures.items()}
    returns = {f"{rig}, {shape}": run for rig, found in figures.items() for shape, run in found["return"].items()}
    returned = {
        "metres out": "size_m", "trials": "trials", "degrees, median": "degrees_median", "p90": "degrees_p90",
    }  # fmt: skip
    beyond = {f"{rig}, {found['beyond']['trials']} drags": found["beyond"] for rig, found in figures.items()}
    stood = {
        "frozen": "frozen", "largest step, deg, median": "joint_step_deg_median", "largest": "joint_step_deg_max",
    }  # fmt: skip
    back = "One effector goes out and back, then 30 still frames: the joint that is farthest from where it was."
    out = (
        "One effector goes 1.2 m out, a centimetre a frame, and back: how many drags stand still for more than five "
        "frames though their targets are in reach, and how far a joint turns in one frame at most."
    )
    return [
        *bench_command.tables("drag", following),
        by_key("Out and back", back, "rig, path", returned, returns),
        by_key("Out of reach and back", out, "rig", stood, beyond),
    ]


def _unreachable(figures: Any) -> list[Table]:  # noqa: ANN401 - JSON of the part's own shape
    keys = ("deg_per_iteration_median", "deg_per_iteration_p90", "deg_per_iteration_max")
    rows = [
        (rig, *(number(run[key]) for key in keys), ", ".join(f"{n} {status}" for status, n in run["statuses"].items()))
        for rig, run in figures.items()
    ]
    note = "Degrees that the fastest joint turns per further iteration, and what one-shot solves say."
    return [Table("Out of reach", note, ("rig", "median", "p90", "largest", "statuses"), rows)]


def _lockup(figures: Any) -> list[Table]:  # noqa: ANN401 - JSON of the part's own shape
    columns = {"one-shot": "one_shot_percent", "dragging": "dragging_percent", "released": "released_percent"}
    note = "Four links in a plane, 45 degrees either way, 300 goals within reach: percent that are not reached."
    return [by_key("Lock-ups", note, "solver", columns, figures)]


def _poses(figures: Any) -> list[Table]:  # noqa: ANN401 - JSON of the part's own shape
    given = {"a": "a: root given", "b": "b: root free", "c": "c: turns given"}
    keys = ("position_cm", "angle_deg", "flips_percent", "reach_percent")
    rows = [
        (words, *(number(figures["means"][key][one]) for one in keys), number(figures["at_most_cm"][key]))
        for key, words in given.items()
        if figures["means"]
    ]
    header = ("given", "cm off", "degrees off", "flips %", "reached %", "at most, cm")
    note = (
        f"Means over {len(figures['clips'])} clip(s) of 60 frames and more; a person of 1.75 m; from hands, feet and "
        "head. Flips: of elbows and knees bent by more than 20 degrees, those solved bent by more than 5 the other way."
    )
    drag, mean = figures["dragging"] or {}, figures["dragging_mean"] or {}
    named = {"end_cm": "cm off after 2 s", "jerk_ratio": "jerk, times the person's"}
    dragging = [(words, number(drag.get(key)), number(mean.get(key))) for key, words in named.items()]
    by_clip = ("clip", "a", "b", "c", "jerk, times the person's")
    clips = [
        (
            clip,
            *(number(found[key]["position_cm"]) for key in given),
            number((found["dragging"] or {}).get("jerk_ratio")),
        )
        for clip, found in figures["clips"].items()
    ]
    followed = "Windows of two seconds, from a clip's second frame on."
    return [
        Table("Poses", note, header, rows),
        Table("Poses by clip", "Centimetres off, given a, b and c, and jerk of dragging.", by_clip, clips),
        Table("Dragging a motion", followed, ("what", "median", "mean of windows"), dragging),
    ]


OWN_PARTS: dict[str, tuple[Callable[[Plan], Mapping[str, Json]], Callable[[Any], list[Table]]]] = {
    "drag": (measure_drags, _drag),
    "unreachable": (measure_unreachable, _unreachable),
    "lockup": (measure_lockup, _lockup),
    "poses": (pose_score.measure_poses, _poses),
}
"""What measures a part that `ikviewer bench` has not, or not all of, and makes tables of its figures."""
