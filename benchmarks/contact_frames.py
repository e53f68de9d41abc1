"""Drags with contact, many frames: how many go through something, are not finite or jump.

    python benchmarks/contact_frames.py [--frames 100000] [--seed 1] [--jobs N]

A hand of biped, biped-hands, raptor and of random figures is dragged along paths through the trunk and back, among
pinned feet, with a floor and bodies that keep apart. Poses are judged by `contact_distances`, which shares no code with
the solver: through means that something overlaps by more than 1 mm.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

from concurrent.futures import ProcessPoolExecutor
from typing import NamedTuple

import numpy as np
from contact_distances import Judge, joint_frames
from contact_problems import PERSON_FEET, Figure, figure_of, random_figures, sample, through_the_body

from viewer import Contact, Goal, Solver
from viewer.cli.bench_measures import joint_steps
from viewer.ik.backends import warm_up

PATH, REST = 180, 60
NAMED = (("biped", "LeftHand", "Spine1"), ("biped-hands", "RightHand", "Spine1"), ("raptor", "LeftHand", "Chest"))


class Counted(NamedTuple):
    """What one path gave.

    Attributes:
        figure: its kind.
        frames, through, odd: all, those that go through something, those that are not finite.
        deepest: metres of the deepest overlap.
        step: degrees of the largest step of a joint.
    """

    figure: str
    frames: int
    through: int
    odd: int
    deepest: float
    step: float


def path_of(figure: Figure, middle: str, name: str, seed: tuple[int, ...]) -> Counted:
    """Drag along one path."""
    start = figure.skeleton.relaxed_pose()
    contact = Contact(floor=0.0, bodies=True)
    feet = [foot for foot in PERSON_FEET if foot in figure.skeleton.names]
    goals = [*figure.goals(figure.places(start)), *(Goal.pin(foot, level=0) for foot in feet)]
    solver, judge = Solver(figure.skeleton, goals, contact=contact, backend="numba"), Judge(figure.skeleton, contact)
    at = joint_frames(figure.skeleton, start)[0][figure.skeleton.index(middle)]
    path = through_the_body(figure.places(start)[0], at, np.random.default_rng(seed), PATH)
    drag, targets = solver.drag(start), np.full((len(solver.goals), 3), np.nan)
    allowed = min(0.0, judge.depths(start).least)  # what touches at the start may go on to
    rotations, gaps, odd = [start.rotations], [], 0
    for place in np.concatenate([path, np.repeat(path[-1:], REST, axis=0)]):
        targets[0] = place
        pose = drag.move(targets).pose
        if not (np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all()):
            odd += 1
            continue
        rotations.append(pose.rotations)
        gaps.append(judge.depths(pose).least)
    found = np.array(gaps)
    through = int((found < allowed - 1e-3).sum())
    steps = joint_steps(np.array(rotations))
    return Counted(name, PATH + REST, through, odd, float(-min(0.0, found.min())), float(steps.max()))


def job(numbers: tuple[int, int]) -> Counted:
    """The path of a number, with a seed: the named figures take turns with random ones."""
    number, seed = numbers
    kind = number % (len(NAMED) + 1)
    if kind < len(NAMED):
        name, hand, middle = NAMED[kind]
        return path_of(figure_of(name, sample(name).skeleton, (hand,)), middle, name, (seed, number))
    figure = next(random_figures(1, 1000 * seed + number))
    return path_of(figure, "trunk1", "random", (seed, number))


def main() -> None:
    """Count, and print a line for each kind of figure."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--frames", type=int, default=100_000)
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = made.parse_args()
    warm_up()
    paths = -(-given.frames // (PATH + REST))
    with ProcessPoolExecutor(given.jobs) as pool:
        found = [*pool.map(job, [(number, given.seed) for number in range(paths)], chunksize=4)]
    print("figure        frames  through  not finite  deepest mm  largest step deg")
    for name in dict.fromkeys(one.figure for one in found):
        some = [one for one in found if one.figure == name]
        frames, through = sum(one.frames for one in some), sum(one.through for one in some)
        odd = sum(one.odd for one in some)
        deepest, step = max(one.deepest for one in some), max(one.step for one in some)
        print(f"{name:12} {frames:7}  {through:7}  {odd:10}  {1e3 * deepest:10.2f}  {step:16.1f}", flush=True)


if __name__ == "__main__":
    main()
