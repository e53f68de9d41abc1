"""Ten thousand problems in one call: on one thread beside mink on one thread, and on all threads, alone.

mink has no batches: a rival of many threads would be many processes of it, which nobody measured here.
"""

from __future__ import annotations

import os
import time

import numpy as np

from viewer.cli.bench.entries import MINK, present
from viewer.cli.bench.plan import Plan
from viewer.cli.bench.problems import PARTS, Problems
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.score import score
from viewer.cli.bench.timing import round_robin, tune
from viewer.cli.output import Json
from viewer.formats.progress import watched
from viewer.ik.solver import Solver

PROBLEMS = 10_000
_RIG = "humanoid"
_MINK_PROBLEMS, _TRIALS = 100, 30
_REPEATS = 3
AT_LEAST, AIM = 200, 1500


def measure(plan: Plan) -> Json:
    """By class: solves a second and honest successes; on one thread, how many times faster than mink."""
    rig = plan.source.rig(_RIG)
    cores = os.cpu_count() or 1
    result: dict[str, Json] = {"rig": _RIG, "cores": cores}
    result |= {"at_least": AT_LEAST, "aim": AIM} if plan.aims else {}
    classes: dict[str, Json] = {}
    for kind in watched("batches", PARTS, len(PARTS)):
        set_of = plan.source.problems(rig, kind, plan.at_most(PROBLEMS), plan.seed)
        mink_s = _mink_s(plan, rig, set_of, plan.source.problems(rig, kind, plan.at_most(_TRIALS), plan.seed + 1))
        found: dict[str, Json] = {"mink_s": dict(mink_s)}
        for threads in sorted({1, cores}):
            whole, honest = _batch_s(plan, rig, set_of, threads)
            each = whole / len(set_of)
            found[f"threads_{threads}"] = {
                "problems": len(set_of),
                "honest": honest,
                "solves_per_s": 1.0 / each,
            }
            if threads == 1:
                found["times_faster"] = {name: seconds / each for name, seconds in mink_s.items()}
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


def _mink_s(plan: Plan, rig: Rig, set_of: Problems, trials: Problems) -> dict[str, float]:
    """Seconds of one solve of mink's, median, by each of its adapters, tuned on trials; none where it is not there."""
    entries, _ = present([entry for entry in plan.rivals if entry.name.partition(",")[0] == MINK])
    few = set_of.first(_MINK_PROBLEMS)
    minks = {entry.name: entry.make(rig) for entry in entries}
    tune(rig, minks, trials, plan.budget_s / 40.0)
    records = round_robin(minks, few, plan.budget_s, "mink")
    return {name: record.median_ms / 1e3 for name, record in records.items()}
