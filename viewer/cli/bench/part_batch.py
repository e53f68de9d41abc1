"""Ten thousand problems in one call, on one core and on all, against one core's mink, per solve."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import numpy as np

from viewer.cli.bench.entries import MINK, present
from viewer.cli.bench.problems import PARTS
from viewer.cli.bench.score import score
from viewer.cli.bench.timing import round_robin
from viewer.formats.watch import watched
from viewer.ik.solver import Solver

if TYPE_CHECKING:
    from viewer.cli.bench.plan import Plan
    from viewer.cli.bench.problems import Problems
    from viewer.cli.bench.rigs import Rig
    from viewer.cli.output import Json

PROBLEMS = 10_000
_RIG = "humanoid"
_MINK_PROBLEMS = 100
_REPEATS = 3
AT_LEAST, AIM = 200, 1500


def measure(plan: Plan) -> Json:
    """By class: solves a second, honest successes, times faster than mink."""
    rig = plan.source.rig(_RIG)
    cores = os.cpu_count() or 1
    result: dict[str, Json] = {"rig": _RIG, "cores": cores}
    result |= {"at_least": AT_LEAST, "aim": AIM} if plan.aims else {}
    classes: dict[str, Json] = {}
    for kind in watched("batches", PARTS, len(PARTS)):
        set_of = plan.source.problems(rig, kind, plan.at_most(PROBLEMS), plan.seed)
        mink_s = _mink_s(plan, rig, set_of)
        found: dict[str, Json] = {"mink_s": dict(mink_s)}
        for threads in sorted({1, cores}):
            whole, honest = _batch_s(plan, rig, set_of, threads)
            each = whole / len(set_of)
            found[f"threads_{threads}"] = {
                "problems": len(set_of),
                "honest": honest,
                "solves_per_s": 1.0 / each,
                "times_faster": {name: seconds / each for name, seconds in mink_s.items()},
            }
        classes[kind] = found
    result["classes"] = classes
    return result


def _batch_s(plan: Plan, rig: Rig, set_of: Problems, threads: int) -> tuple[float, int]:
    """Seconds of one call (median), honest successes."""
    solver = Solver(rig.skeleton, rig.goals(), backend=plan.backend)
    rest = rig.skeleton.rest_pose()
    turns = set_of.turns if rig.turned.any() else None
    solver.solve_batch(rest, set_of.targets[:1])  # kernels are loaded
    seconds = []
    for _ in range(_REPEATS):
        started = time.perf_counter()
        many = solver.solve_batch(rest, set_of.targets, target_rotations=turns, threads=threads)
        seconds.append(time.perf_counter() - started)
    found = score(rig, set_of.targets, set_of.turns, many.rotations, many.translations)
    return float(np.median(seconds)), int(found.honest.sum())


def _mink_s(plan: Plan, rig: Rig, set_of: Problems) -> dict[str, float]:
    """Seconds of one solve of mink's, median, by each of its adapters; none where it is not there."""
    entries, _ = present([entry for entry in plan.rivals if entry.name.partition(",")[0] == MINK])
    few = set_of.first(_MINK_PROBLEMS)
    records = round_robin({entry.name: entry.make(rig) for entry in entries}, few, plan.budget_s, "mink")
    return {name: record.median_ms / 1e3 for name, record in records.items()}
