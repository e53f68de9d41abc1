"""A hand closes on an object: which fingers touch it, how deep they go, how long it takes.

    python benchmarks/grip.py [--count 0] [--seed 1] [--backend NAME]

A person with fingers holds the right palm to a ball of 35 or 45 mm radius, a box, or a mug of triangles, open above,
and a grip goal closes the hand. A finger is on the object if one of its bones is within 2 mm of the surface, by
`contact_distances`; else it is at its limit, if its joints are, or it is off. "Deepest" is the worst overlap of
anything with the object, and of any two bodies with each other. Times are the median of the processor's, one thread; a
grip has no restarts. --count: so many objects of random kind, size, turn and place at the palm, too.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from contact_distances import Depths, Floats, Judge, joint_frames
from contact_objects import mug

import viewer
from viewer import Contact, Goal, Solver
from viewer.choices import Backend
from viewer.ik.backends import warm_up
from viewer.ik.contact import Object

HAND = "RightHand"
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
ON_M = 2e-3
REPEATS = 7
_PALM = np.array([-0.085, 0.0, 0.01])
"""The middle of the palm in the hand's frame, metres; fingers point along -x, the palm faces -y."""
_APART_M = 2e-3
"""Between the hand and the object at the start."""


class Grasp(NamedTuple):
    """An object at the hand."""

    name: str
    thing: Object


def main() -> None:
    """Close the hand on each object, and print a line for it."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--count", type=int, default=0, metavar="N", help="random objects besides")
    made.add_argument("--seed", type=int, default=1)
    made.add_argument("--backend", default="numba", choices=("auto", "numpy", "numba"))
    given = made.parse_args()
    if given.backend != "numpy":
        warm_up()
    print(
        "grip           on  at limit  off   deepest in object mm  bodies mm  limits deg  hand off mm"
        "  iterations      ms  status"
    )
    for grasp in grasps():
        print(line(grasp, gripped(grasp, given.backend, REPEATS)), flush=True)
    if given.count:
        found = [gripped(grasp, given.backend, 1) for grasp in random_grasps(given.count, given.seed)]
        print(summary(found), flush=True)


class Gripped(NamedTuple):
    """How a hand closed: each finger's state, least gaps, radians outside limits, metres that the hand moved."""

    states: list[str]
    depths: Depths
    outside: float
    moved: float
    solution: viewer.Solution
    seconds: float


def gripped(grasp: Grasp, backend: Backend, repeat: int) -> Gripped:
    """Solve, and judge the answer."""
    skeleton = viewer.load("sample:biped-hands").skeleton
    start = skeleton.relaxed_pose()
    contact = Contact(bodies=True, objects=[grasp.thing])
    solver = Solver(skeleton, goals(grasp), contact=contact, backend=backend, root="locked")
    found, seconds = solver.solve(start), []
    for _ in range(repeat):
        begun = time.thread_time()
        found = solver.solve(start)
        seconds.append(time.thread_time() - begun)
    judge = Judge(skeleton, contact)
    places = [joint_frames(skeleton, pose)[0][skeleton.index(HAND)] for pose in (start, found.pose)]
    return Gripped(
        fingers(skeleton, found, judge),
        judge.depths(found.pose),
        float(np.max(viewer.limit_violation(skeleton, found.pose))),
        float(np.linalg.norm(places[1] - places[0])),
        found,
        float(np.median(seconds or [0.0])),
    )


def line(grasp: Grasp, one: Gripped) -> str:
    """Of one object."""
    on, limit, off = (one.states.count(word) for word in ("on", "limit", "off"))
    return (
        f"{grasp.name:14} {on:2}  {limit:8}  {off:3}"
        f"  {-1e3 * min(0.0, one.depths.objects):21.2f}  {-1e3 * min(0.0, one.depths.bodies):9.2f}"
        f"  {np.degrees(one.outside):10.3f}  {1e3 * one.moved:11.2f}"
        f"  {one.solution.iterations:10}  {1e3 * one.seconds:6.2f}  {one.solution.status}"
        f"  {' '.join(f'{name}:{state}' for name, state in zip(FINGERS, one.states, strict=True) if state != 'on')}"
    )


def summary(found: list[Gripped]) -> str:
    """Of many objects."""
    states = [state for one in found for state in one.states]
    on, limit = (100.0 * states.count(word) / len(states) for word in ("on", "limit"))
    deepest = max(-min(0.0, one.depths.least) for one in found)
    every = 100.0 * np.mean(["off" not in one.states for one in found])
    times = 1e3 * np.array([one.seconds for one in found])
    slow = np.percentile(times, 99.0)
    return (
        f"{len(found)} random: fingers on {on:.1f} %, at limit {limit:.1f} %;"
        f" all five in {every:.1f} %; deepest {1e3 * deepest:.2f} mm; ms {np.median(times):.2f}, p99 {slow:.2f}"
    )


def goals(grasp: Grasp) -> list[Goal]:
    """The hand closes, and stays."""
    return [Goal.grip(HAND, grasp.thing.name), Goal.pin(HAND)]


def fingers(skeleton: viewer.Skeleton, found: viewer.Solution, judge: Judge) -> list[str]:
    """By finger: "on", "limit" or "off"."""
    gaps, at_limit = judge.object_gaps(found.pose)[0], set(found.at_limit)
    states = []
    for finger in FINGERS:
        joints = [name for name in skeleton.names if name.startswith(HAND + finger)]
        bones = np.isin(judge.joint, [skeleton.index(name) for name in joints])
        if gaps[bones].min() <= ON_M:
            states.append("on")
        else:
            states.append("limit" if at_limit >= set(joints[1:]) else "off")
    return states


def grasps() -> Iterator[Grasp]:
    """The four objects."""
    yield held("ball 35 mm", lambda at, turn: viewer.Sphere("ball 35 mm", at, 0.035))  # noqa: ARG005 - a ball has no turn
    yield held("ball 45 mm", lambda at, turn: viewer.Sphere("ball 45 mm", at, 0.045))  # noqa: ARG005
    yield held("box", lambda at, turn: viewer.Box("box", at, (0.09, 0.05, 0.05), turn))
    # Its axis lies across the palm, as the fingers go around it.
    across = viewer.quaternions.from_axis_angle((1.0, 0.0, 0.0), 0.5 * np.pi)
    yield held("mug", lambda at, turn: mug(center=at, rotation=viewer.quaternions.multiply(turn, across)))


def random_grasps(count: int, seed: int) -> Iterator[Grasp]:
    """Balls, boxes and mugs."""
    random = np.random.default_rng([seed, 101])
    for number in range(count):
        turn = viewer.quaternions.normalized(random.normal(size=4))
        size, aside = random.uniform(0.04, 0.09, 3), random.uniform(-0.015, 0.015, 2)
        yield held(f"random {number}", partial(_any_object, number % 3, size, turn), aside)


def _any_object(shape: int, size: Floats, turn: Floats, at: Any, own: Any) -> Object:  # noqa: ANN401 - what is built takes any numbers
    """A ball, a box or a mug beside a hand that is turned by ``own``."""
    if shape == 0:
        return viewer.Sphere("ball", at, 0.5 * float(size[0]))
    rotation: Any = viewer.quaternions.multiply(own, turn)
    return viewer.Box("box", at, tuple(size.tolist()), rotation) if shape == 1 else mug(center=at, rotation=rotation)


def held(name: str, made: Callable[[Any, Any], Object], aside: Floats | None = None) -> Grasp:
    """An object, made of its middle and turn, as near to the relaxed hand as it can be without touching."""
    skeleton = viewer.load("sample:biped-hands").skeleton
    start, hand = skeleton.relaxed_pose(), skeleton.index(HAND)
    places, turns = joint_frames(skeleton, start)
    rotation = viewer.fk(skeleton, start).rotations[hand]
    palm = _PALM if aside is None else _PALM + np.array([aside[0], 0.0, aside[1]])
    low, high = 0.0, 0.2
    for _ in range(12):
        middle = places[hand] + turns[hand] @ (palm - (0.0, 0.5 * (low + high), 0.0))
        near = Judge(skeleton, Contact(objects=[made(middle, rotation)])).depths(start).objects < _APART_M
        low, high = (0.5 * (low + high), high) if near else (low, 0.5 * (low + high))
    middle = places[hand] + turns[hand] @ (palm - (0.0, high, 0.0))
    return Grasp(name, made(middle, rotation))


if __name__ == "__main__":
    main()
