"""Goals of several levels: does the lower one leave the higher one alone?

    python benchmarks/levels.py [law] [three] [hands] [sets] [drags] [--count 1000] [--seed 1] [--backend NAME]

law: random problems on five rigs; every level's targets come from a hidden pose of their own, so that levels conflict.
For every pair of levels the higher one must miss by no more than it does with the lower one left out, and a tolerance.
Misses are counted in tolerances, beyond one for each goal, and added up.
three: the same with three levels, of which the middle one may be missed because of the first.
hands: a biped stands on pinned feet (level 0), one hand is asked for (1), and the other for something else (2).
sets: problems that a hidden pose solves, with levels at random: these must be met as they are without.
drags: one effector along a path of some parts of the figure's size, among holds: by weights as the window has them,
and by levels.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from problem_sets import find_rig

import viewer
from viewer import Goal, Solver
from viewer.choices import Backend
from viewer.cli.bench_measures import Rig, joint_steps, problems
from viewer.ik.backends import warm_up
from viewer.ik.goals.goal import LAST_LEVEL
from viewer.ik.goals.pose_goal import holds
from viewer.skeleton import effector_of

SAMPLES = ("biped", "biped-hands", "quadruped", "raptor", "claw-arm")
FRAMES, REST = 240, 60
RIGS = ("humanoid", "claw", "fingers", "biped", "biped-hands")
TOLERANCE_M, TOLERANCE_DEG = 1e-3, 0.5


def main() -> None:
    """Measure, and print a table for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    made.add_argument("--count", type=int, default=1000, metavar="N", help="problems of each part")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--backend", default="auto", choices=("auto", "numpy", "numba"))
    given = made.parse_args()
    if given.backend != "numpy":
        warm_up()
    for part in given.parts or PARTS:
        PARTS[part](given.count, given.seed, given.backend)


def law(count: int, seed: int, backend: Backend) -> None:
    """The law of levels, by rig: two levels in use."""
    print("law          pairs  kept %  worst  iterations    ms  alone ms")
    total, kept = 0, 0
    for name in RIGS:
        rows = np.array(list(pairs_of(find_rig(name), count // len(RIGS), seed, backend, 2)))
        good = rows[:, 0] <= rows[:, 1] + 1.0
        total, kept = total + len(rows), kept + int(good.sum())
        print(
            f"{name:12} {len(rows):5}  {100.0 * good.mean():6.2f}  {(rows[:, 0] - rows[:, 1]).max():5.2f}"
            f"  {rows[:, 2].mean():10.1f}  {1e3 * rows[:, 3].mean():4.1f}  {1e3 * rows[:, 4].mean():8.1f}"
        )
    print(f"all          {total:5}  {100.0 * kept / total:6.2f}", flush=True)


def three(count: int, seed: int, backend: Backend) -> None:
    """Three levels in use, so that the middle one may be missed by what the first one asks: there, how much farther."""
    print("three        met alone: pairs  kept %   missed alone: pairs  ratio of misses, median / p90")
    for name in RIGS:
        rows = np.array(list(pairs_of(find_rig(name), count // len(RIGS), seed, backend, 3)))
        met, missed_alone = rows[rows[:, 1] == 0.0], rows[rows[:, 1] > 0.0]
        ratio = missed_alone[:, 0] / missed_alone[:, 1]
        print(
            f"{name:12} {len(met):16}  {100.0 * (met[:, 0] <= 1.0).mean():6.2f}  {len(missed_alone):20}"
            f"  {np.median(ratio):17.4f} / {np.percentile(ratio, 90.0):.4f}",
            flush=True,
        )


def pairs_of(one: Rig, count: int, seed: int, backend: Backend, most: int) -> Iterator[tuple[float, ...]]:
    """By pair: what the level misses by with the lower ones on, and alone; iterations, seconds, seconds alone."""
    random = np.random.default_rng([seed, 17, most])
    found = problems(one, "medium", most * count, seed)
    start = one.skeleton.rest_pose()
    for i in range(count):
        used = np.sort(random.choice(LAST_LEVEL + 1, most, replace=False))
        which = random.permutation(
            np.append(np.arange(most), random.integers(0, most, len(one.effectors)))[: len(one.effectors)]
        )
        levels = used[which]
        goals = [replace(goal, level=int(level)) for goal, level in zip(one.goals(), levels, strict=True)]
        rows = most * i + which, np.arange(len(goals))
        targets, turns = found.targets[rows], found.turns[rows]
        solver = Solver(one.skeleton, goals, backend=backend)
        begun = time.perf_counter()
        solved = solver.solve(start, targets, turns)
        seconds = time.perf_counter() - begun
        for level in used[:-1]:
            some = np.flatnonzero(levels <= level)
            solver = Solver(one.skeleton, [goals[g] for g in some], backend=backend)
            begun = time.perf_counter()
            alone = solver.solve(start, targets[some], turns[some])
            yield (
                missed(solved, levels == level),
                missed(alone, levels[some] == level),
                solved.iterations,
                seconds,
                time.perf_counter() - begun,
            )


def missed(solution: viewer.Solution, some: NDArray[np.bool_]) -> float:
    """By how many tolerances, beyond one each, goals are missed together."""
    metres, degrees = solution.errors_m[some] / TOLERANCE_M, solution.errors_deg[some] / TOLERANCE_DEG
    return float(np.nansum(np.maximum(metres - 1.0, 0.0)) + np.nansum(np.maximum(degrees - 1.0, 0.0)))


def hands(count: int, seed: int, backend: Backend) -> None:
    """Two hands pulled apart."""
    skeleton = viewer.load("sample:biped").skeleton
    start, random = skeleton.relaxed_pose(), np.random.default_rng([seed, 23])
    world = viewer.fk(skeleton, start)
    left, right = (
        world.point(place.joint, np.array(place.offset))
        for place in (effector_of(skeleton, hand) for hand in ("LeftHand", "RightHand"))
    )
    pins = [Goal.pin(foot, level=0) for foot in ("LeftFoot", "RightFoot")]
    rows: list[tuple[float, ...]] = []
    while len(rows) < count:
        reach = Goal.position("LeftHand", left + random.uniform(-0.3, 0.3, 3) + (0.2, 0.0, 0.1), level=1)
        away = random.uniform(0.5, 2.5) * np.array([-0.6, 0.0, 0.1])
        other = Goal.position("RightHand", right + random.uniform(-0.3, 0.3, 3) + away, level=2)
        alone = Solver(skeleton, [*pins, reach], backend=backend).solve(start)
        solver = Solver(skeleton, [*pins, reach, other], backend=backend)
        flat = Solver(skeleton, [replace(goal, level=1) for goal in solver.goals], backend=backend).solve(start)
        if alone.status != "converged":
            continue
        begun = time.perf_counter()
        solved = solver.solve(start)
        rows.append((*(1e3 * solved.errors_m), *(1e3 * flat.errors_m), time.perf_counter() - begun))
    table = np.array(rows)
    print("hands      first <= 1 mm %  first mean / max mm  second mm  feet max mm  ms")
    for words, at in (("levels", 0), ("one level", 4)):
        feet, first, second = table[:, at : at + 2], table[:, at + 2], table[:, at + 3]
        print(
            f"{words:10} {100.0 * (first <= 1.0).mean():15.1f}  {first.mean():8.3f} / {first.max():7.3f}"
            f"  {second.mean():9.1f}  {feet.max():11.3f}  {1e3 * table[:, -1].mean():.2f}",
            flush=True,
        )


def sets(count: int, seed: int, backend: Backend) -> None:
    """Problems that can be met."""
    print("sets                 met %  iterations   with one level: met %  iterations")
    for name in RIGS:
        one = find_rig(name)
        for kind in ("near", "far"):
            found = problems(one, kind, count // 10, seed)
            levels = np.random.default_rng([seed, 29]).integers(0, LAST_LEVEL + 1, len(one.effectors)).tolist()
            levels[0], levels[-1] = 0, 1
            row = []
            for some in (levels, [1] * len(levels)):
                goals = [replace(goal, level=level) for goal, level in zip(one.goals(), some, strict=True)]
                solver = Solver(one.skeleton, goals, backend=backend)
                done = solver.solve_batch(one.skeleton.rest_pose(), found.targets, found.turns)
                row += [100.0 * (done.status == "converged").mean(), done.iterations.mean()]
            print(f"{name:12} {kind:5}  {row[0]:6.1f}  {row[1]:10.1f}  {row[2]:21.1f}  {row[3]:10.1f}", flush=True)


def drags(count: int, seed: int, backend: Backend) -> None:
    """One effector is dragged along a smooth path and home, among the default holds and pins."""
    print("drags        size             followed %  step p99 / max deg  pins off mm  not home")
    for name in SAMPLES:
        skeleton = viewer.load(f"sample:{name}").skeleton
        start = skeleton.relaxed_pose()
        kept = list(holds(skeleton, start))
        size = float(np.ptp(viewer.fk(skeleton, start).positions, axis=0).max())
        free = [g for g, goal in enumerate(kept) if not goal.pinned and goal.target is not None]
        for part in (0.1, 0.25, 0.5):
            for words in ("weights", "levels"):
                random = np.random.default_rng([seed, 31])
                rows = [
                    dragged(
                        Solver(skeleton, asked(kept, free[i % len(free)], words), backend=backend),
                        free[i % len(free)],
                        part * size * eased(random.uniform(-1.0, 1.0, (3, 3))),
                    )
                    for i in range(max(1, count // 80))
                ]
                followed, steps, pins, home = (np.array([row[k] for row in rows]) for k in range(4))
                print(
                    f"{name:12} {part:4}  {words:9} {100.0 * followed.mean():12.2f}"
                    f"  {np.percentile(steps, 99.0):12.2f} / {steps.max():4.1f}  {1e3 * pins.max():11.2f}"
                    f"  {int((home > 1e-4).sum()):8}",
                    flush=True,
                )


def asked(kept: list[Goal], held: int, words: str) -> list[Goal]:
    """Goals of a drag: what is dragged goes before holds, pins before both."""
    if words == "levels":
        return [replace(goal, level=0 if goal.pinned else 1 if g == held else 2) for g, goal in enumerate(kept)]
    return [
        replace(goal, weight=5.0 * goal.weight, rotation_weight=5.0 * goal.rotation_weight)
        if goal.pinned or g == held
        else goal
        for g, goal in enumerate(kept)
    ]


def eased(keys: NDArray[np.float64]) -> NDArray[np.float64]:
    """(F, 3) a path from 0 through keys (K, 3) and back, slow at each, that rests at its end."""
    keys = np.concatenate([np.zeros((1, 3)), keys, np.zeros((1, 3))])
    place = np.linspace(0.0, len(keys) - 1.0, FRAMES)
    before = np.minimum(place.astype(int), len(keys) - 2)
    part = (place - before)[:, None]
    part = part * part * (3.0 - 2.0 * part)
    path = keys[before] * (1.0 - part) + keys[before + 1] * part
    return np.concatenate([path, np.repeat(path[-1:], REST, axis=0)])


def dragged(solver: Solver, held: int, path: NDArray[np.float64]) -> tuple[float, NDArray[np.float64], float, float]:
    """The part of the frames that follow, degrees a frame, metres that pins are off, and from home at the end."""
    start = solver.skeleton.relaxed_pose()
    drag, targets = solver.drag(start), np.full((len(solver.goals), 3), np.nan)
    here, found = np.array(solver.goals[held].target), []
    for away in path:
        targets[held] = here + away
        found.append(drag.move(targets))
    off = np.array([one.errors_m for one in found[:FRAMES]])
    pinned = [g for g, goal in enumerate(solver.goals) if goal.pinned]
    steps = joint_steps(np.array([one.pose.rotations for one in found])).max(axis=1)
    places = [viewer.fk(solver.skeleton, pose).positions for pose in (start, found[-1].pose)]
    home = float(np.linalg.norm(places[1] - places[0], axis=1).max())
    return float((off[:, held] < TOLERANCE_M).mean()), steps, float(off[:, pinned].max(initial=0.0)), home


PARTS = {"law": law, "three": three, "hands": hands, "sets": sets, "drags": drags}

if __name__ == "__main__":
    main()
