"""Contact: how many answers go through the body, a floor or objects, with contact in the solve and without; its price.

    python benchmarks/contact.py [free] [beside] [floor] [drags] [--count 1000] [--seed 1] [--backend NAME]

free: problems built from poses in which nothing touches, so that a free answer exists, started from rest; biped,
biped-hands, raptor and fifty random figures, a quarter of the problems each.
beside: both hands of a person to places within 45 cm of the axis of the body, feet pinned.
floor: effectors to places 0.3 m under the floor, five samples: how low the lowest place comes.
drags: a hand along a path through the trunk and back.

An answer counts as met if every goal is within 1 mm, and as through if something overlaps by more than 1 mm; both by
`contact_distances`, which shares no code with the solver. "Far" is the time of a solve with contact where nothing is
near: a floor and a ball out of reach; "bodies apart" and "in touch" compare the same problems with and without contact,
where the answer without it is free and where it goes through. Times are medians of the processor's, of single calls
that take turns, one thread; ratios are medians of the ratios.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import gc
import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
from contact_distances import Floats, Judge, joint_frames
from contact_problems import (
    PERSON_FEET,
    PERSON_HANDS,
    Figure,
    beside_the_body,
    free_poses,
    random_figures,
    sample,
    through_the_body,
)
from numpy.typing import NDArray

import viewer
from viewer import Contact, Goal, Solver
from viewer.choices import Backend
from viewer.cli.bench_measures import joint_steps
from viewer.ik.backends import warm_up

NAMED = ("biped", "biped-hands", "raptor")
RANDOM = 50
GROUNDED = ("biped", "biped-hands", "quadruped", "raptor", "claw-arm")
MET_M, THROUGH_M, LIMIT_RAD = 1e-3, 1e-3, 1e-3
FRAMES, REST = 180, 60
FAR = Contact(floor=-100.0, objects=[viewer.Sphere("far", (0.0, 100.0, 0.0), 0.1)])


def main() -> None:
    """Measure, and print a table for each part."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("parts", nargs="*", choices=[*PARTS, []], metavar="PART")
    made.add_argument("--count", type=int, default=1000, metavar="N", help="problems of the first part")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--backend", default="numba", choices=("auto", "numpy", "numba"))
    given = made.parse_args()
    if given.backend != "numpy":
        warm_up()
    for part in given.parts or PARTS:
        PARTS[part](given.count, given.seed, given.backend)


class Answer(NamedTuple):
    """One solve: metres by which the worst goal is missed, radians outside limits, least gap in metres, seconds."""

    missed: float
    outside: float
    gap: float
    seconds: float

    @property
    def met(self) -> bool:
        """Whether all goals are met inside the limits."""
        return self.missed <= MET_M and self.outside <= LIMIT_RAD

    @property
    def through(self) -> bool:
        """Whether something overlaps."""
        return self.gap < -THROUGH_M


def asked(one: Solver, start: viewer.Pose, targets: Floats, judge: Judge, figure: Figure) -> Answer:
    """Solve for the effectors' targets (G, 3); what follows them in the solver's goals stays as it is."""
    rows = np.full((len(one.goals), 3), np.nan)
    rows[: len(targets)] = targets
    begun = time.thread_time()
    found = one.solve(start, rows)
    seconds = time.thread_time() - begun
    missed = np.linalg.norm(figure.places(found.pose)[: len(targets)] - targets, axis=-1).max(initial=0.0)
    outside = float(np.max(viewer.limit_violation(figure.skeleton, found.pose)))
    return Answer(float(missed), outside, judge.depths(found.pose).least, seconds)


class Compared:
    """Solvers of one figure and one set of goals: without contact, with it, and with one that is out of reach."""

    def __init__(self, figure: Figure, goals: list[Goal], contact: Contact, backend: Backend) -> None:
        """Make and warm them."""
        self.figure, self.judge = figure, Judge(figure.skeleton, contact)
        self.solvers = [Solver(figure.skeleton, goals, contact=one, backend=backend) for one in (None, contact, FAR)]

    def answers(self, start: viewer.Pose, targets: Floats) -> list[list[Answer]]:
        """By problem of targets (N, G, 3), by solver. They take turns of ten, as a user runs one of them."""
        found: list[list[Answer]] = [[] for _ in targets]
        for one in self.solvers:
            asked(one, start, targets[0], self.judge, self.figure)
        gc.disable()
        try:
            for first in range(0, len(targets), 10):
                for one in self.solvers:
                    for at in range(first, min(first + 10, len(targets))):
                        found[at].append(asked(one, start, targets[at], self.judge, self.figure))
        finally:
            gc.enable()
        return found


HEAD = """\
                            without contact            with contact                time of a solve
                   count   met %  through  deepest   met %  through  deepest   without    far  apart  touch   touch
                                                mm                       mm        ms  ratio  ratio  ratio      ms"""


def row(name: str, answers: list[list[Answer]]) -> str:
    """One line of the table."""
    without = [one[0] for one in answers]
    parts = [f"{name:16} {len(answers):7} ", _success(without), _success([one[1] for one in answers])]
    parts.append(f"  {1e3 * np.median([one.seconds for one in without]):7.3f}")
    apart, touch = ([one for one in answers if one[0].through is through] for through in (False, True))
    parts += [_ratio(answers, 2), _ratio(apart, 1), _ratio(touch, 1)]
    parts.append(f"  {1e3 * np.median([one[1].seconds for one in touch]):6.3f}" if touch else "")
    return " ".join(parts)


def _success(answers: list[Answer]) -> str:
    deepest = -1e3 * min(0.0, *(one.gap for one in answers))
    met = 100.0 * np.mean([one.met for one in answers])
    return f"{met:6.2f} {sum(one.through for one in answers):8} {deepest:8.2f} "


def _ratio(answers: list[list[Answer]], which: int) -> str:
    if not answers:
        return f"{'-':>6}"
    return f"{np.median([one[which].seconds / one[0].seconds for one in answers]):6.2f}"


def free(count: int, seed: int, backend: Backend) -> None:
    """Problems that have a free answer."""
    print(f"free\n{HEAD}")
    every, each = [], max(1, count // (len(NAMED) + 1))
    for name in NAMED:
        found = _free(sample(name), each, seed, backend)
        every += found
        print(row(name, found), flush=True)
    rigs = []
    for figure in random_figures(RANDOM, seed):
        rigs += _free(figure, max(1, each // RANDOM), seed, backend)
    print(row(f"{RANDOM} random", rigs))
    print(row("all", every + rigs), flush=True)
    both = every + rigs
    lost = sum(one[0].met and not one[1].met for one in both)
    print(f"met without contact and not with it: {lost} of {len(both)}", flush=True)


def _free(figure: Figure, count: int, seed: int, backend: Backend) -> list[list[Answer]]:
    targets = np.array([figure.places(pose) for pose in free_poses(figure, count, seed)])
    compared = Compared(figure, figure.goals(), Contact(bodies=True), backend)
    return compared.answers(figure.skeleton.rest_pose(), targets)


def beside(count: int, seed: int, backend: Backend) -> None:
    """Both hands near the body of a person who stands."""
    print(f"\nbeside\n{HEAD}")
    for name in ("biped", "biped-hands"):
        whole = sample(name)
        figure = _with(whole, PERSON_HANDS)
        goals = [*figure.goals(), *(Goal.pin(foot, level=0) for foot in PERSON_FEET)]
        compared = Compared(figure, goals, Contact(floor=0.0, bodies=True), backend)
        targets = beside_the_body(whole.skeleton, max(60, count // 10), seed)
        answers = compared.answers(whole.skeleton.relaxed_pose(), targets)
        print(row(name, answers), flush=True)
        for words, which in (("without", 0), ("with", 1)):
            good = sum(one[which].met and not one[which].through for one in answers)
            print(f"{'':16} met and free {words}: {good} of {len(answers)}", flush=True)


def _with(figure: Figure, effectors: Iterable[str]) -> Figure:
    """The figure with some of its effectors."""
    some = [figure.effectors.index(name) for name in effectors]
    return Figure(
        figure.name,
        figure.skeleton,
        tuple(figure.effectors[at] for at in some),
        tuple(figure.joints[at] for at in some),
        figure.offsets[some],
    )


def floor(count: int, seed: int, backend: Backend) -> None:
    """Places under the floor, for one to all effectors of a figure that stands on it."""
    print(
        "\nfloor            count  lowest place mm, without   with   lowest gap mm, without   with   ms without  with"
    )
    for name in GROUNDED:
        figure = sample(name)
        random = np.random.default_rng([seed, 83])
        start = figure.skeleton.relaxed_pose()
        contact = Contact(floor=0.0)
        compared = Compared(figure, figure.goals(), contact, backend)
        here = figure.places(start)
        rows: list[list[tuple[float, float, float]]] = []
        for _ in range(max(20, count // 20)):
            low = random.random(len(here)) < random.uniform(0.1, 1.0)
            low[random.integers(len(here))] = True
            targets = here + np.where(low[:, None], random.uniform(-0.2, 0.2, here.shape), 0.0)
            targets[low, 1] = -0.3
            line = []
            for one in compared.solvers[:2]:
                begun = time.thread_time()
                pose = one.solve(start, targets).pose
                seconds = time.thread_time() - begun
                places = np.concatenate([joint_frames(figure.skeleton, pose)[0], tips(figure.skeleton, pose)])
                line.append((places[:, 1].min(), compared.judge.depths(pose).floor, seconds))
            rows.append(line)
        table = np.array(rows)
        lowest, gaps = (1e3 * table[..., column].min(axis=0) for column in (0, 1))
        times = 1e3 * np.median(table[..., 2], axis=0)
        both = [f"{value:.2f}" for pair in (lowest, gaps, times) for value in pair]
        print("{:16} {:5}  {:>24} {:>6}   {:>22} {:>6}   {:>10} {:>5}".format(name, len(table), *both), flush=True)


def tips(skeleton: viewer.Skeleton, pose: viewer.Pose) -> Floats:
    """(T, 3) where the end sites are."""
    places, turns = joint_frames(skeleton, pose)
    parents = skeleton.tip_parents
    return np.asarray(places[parents] + np.einsum("tij,tj->ti", turns[parents], skeleton.tip_offsets))


def drags(count: int, seed: int, backend: Backend) -> None:
    """A hand through the trunk and back, among the pinned feet."""
    print(
        "\ndrags                      frames  step p99 / max deg  deepest mm  through %"
        "  followed %  not home mm  ms median / p99"
    )
    for name, hand, feet, middle in (
        ("biped", "LeftHand", PERSON_FEET, "Spine1"),
        ("biped-hands", "RightHand", PERSON_FEET, "Spine1"),
        ("raptor", "LeftHand", PERSON_FEET, "Chest"),
    ):
        figure = _with(sample(name), [hand])
        start = figure.skeleton.relaxed_pose()
        places = joint_frames(figure.skeleton, start)[0]
        goals = [*figure.goals(figure.places(start)), *(Goal.pin(foot, level=0) for foot in feet)]
        contact = Contact(floor=0.0, bodies=True)
        compared = Compared(figure, goals, contact, backend)
        for words, one in zip(("without", "with"), compared.solvers, strict=False):
            random = np.random.default_rng([seed, 89])
            drawn = []
            for _ in range(max(4, count // 50)):
                at = places[figure.skeleton.index(middle)]
                path = through_the_body(figure.places(start)[0], at, random, FRAMES)
                drawn.append(_dragged(one, start, path, figure, compared.judge))
            steps, gaps, followed, times = (np.concatenate([one[k] for one in drawn]) for k in range(4))
            home = max(float(one[4]) for one in drawn)
            print(
                f"{name:16} {words:9} {len(gaps):6}  {np.percentile(steps, 99.0):10.2f} / {steps.max():5.1f}"
                f"  {-1e3 * min(0.0, gaps.min()):10.2f}  {100.0 * (gaps < -THROUGH_M).mean():9.2f}"
                f"  {100.0 * followed.mean():10.1f}  {1e3 * home:11.3f}"
                f"  {1e3 * np.median(times):9.3f} / {1e3 * np.percentile(times, 99.0):.3f}",
                flush=True,
            )


def _dragged(
    one: Solver, start: viewer.Pose, path: Floats, figure: Figure, judge: Judge
) -> tuple[Floats, Floats, NDArray[np.bool_], Floats, float]:
    """By frame: degrees of the fastest joint, least gap, whether the hand follows, seconds. Then metres off home."""
    drag, targets = one.drag(start), np.full((len(one.goals), 3), np.nan)
    poses, seconds = [], []
    for place in np.concatenate([path, np.repeat(path[-1:], REST, axis=0)]):
        targets[0] = place
        begun = time.thread_time()
        poses.append(drag.move(targets).pose)
        seconds.append(time.thread_time() - begun)
    off = [float(np.linalg.norm(figure.places(pose)[0] - place)) for pose, place in zip(poses, path, strict=False)]
    gaps = np.array([judge.depths(pose).least for pose in poses])
    steps = joint_steps(np.array([pose.rotations for pose in [start, *poses]])).max(axis=1)
    apart = joint_frames(figure.skeleton, poses[-1])[0] - joint_frames(figure.skeleton, start)[0]
    home = float(np.linalg.norm(apart, axis=-1).max())
    return steps, gaps, np.array(off) < MET_M, np.array(seconds), home


PARTS = {"free": free, "beside": beside, "floor": floor, "drags": drags}

if __name__ == "__main__":
    main()
