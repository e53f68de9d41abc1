"""A hand closes on an object: which fingers touch it, how deep they go, how long it takes.

    python benchmarks/grip.py [--backend NAME] [--repeat 7]

A person with fingers holds the right palm to a ball of 35 or 45 mm radius, a box, or a mug of triangles, open above;
every fingertip is pulled to the middle of the object, and contact stops it. A finger is on the object if one of its
bones is within 2 mm of the surface, by `contact_distances`; else it is at its limit, if its joints are, or it is off.
"Deepest" is the worst overlap of anything with the object, and of any two bodies with each other.
"""

from __future__ import annotations

import argparse
import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from contact_distances import Floats, Judge, joint_frames
from contact_objects import mug

import viewer
from viewer import Contact, Goal, Solver
from viewer.ik.backends.warming import warm_up
from viewer.ik.contact import Object
from viewer.ik.solver_options import Backend

HAND = "RightHand"
FINGERS = ("Thumb", "Index", "Middle", "Ring", "Pinky")
ON_M = 2e-3
WEIGHT = 0.2
_PALM = np.array([-0.085, 0.0, 0.01])
"""The middle of the palm in the hand's frame, metres; fingers point along -x, the palm faces -y."""
_APART_M = 2e-3
"""Between the hand and the object at the start."""


class Grasp(NamedTuple):
    """An object at the hand, and the middle that fingers are pulled to."""

    name: str
    thing: Object
    middle: Floats


def main() -> None:
    """Close the hand on each object, and print a line for it."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--backend", default="numba", choices=("auto", "numpy", "numba"))
    made.add_argument("--repeat", type=int, default=7, metavar="N", help="solves that are timed")
    given = made.parse_args()
    if given.backend != "numpy":
        warm_up()
    print(
        "grip          fingers on   at limit  off   deepest in object mm  bodies mm  limits deg  hand off mm"
        "  iterations      ms  status"
    )
    for grasp in grasps():
        print(line(grasp, given.backend, given.repeat), flush=True)


def line(grasp: Grasp, backend: Backend, repeat: int) -> str:
    """Solve, and say how it went."""
    skeleton = viewer.load("sample:biped-hands").skeleton
    start = skeleton.relaxed_pose()
    contact = Contact(bodies=True, objects=[grasp.thing])
    solver = Solver(skeleton, goals(grasp), contact=contact, backend=backend, root="locked")
    found, seconds = solver.solve(start), []
    for _ in range(repeat):
        begun = time.perf_counter()
        found = solver.solve(start)
        seconds.append(time.perf_counter() - begun)
    judge = Judge(skeleton, contact)
    depths = judge.depths(found.pose)
    states = fingers(skeleton, found, judge)
    moved = joint_frames(skeleton, found.pose)[0] - joint_frames(skeleton, start)[0]
    counts = "  ".join(f"{sum(state == word for state in states):8}" for word in ("on", "limit"))
    return (
        f"{grasp.name:12} {counts}  {sum(state == 'off' for state in states):5}"
        f"  {-1e3 * min(0.0, depths.objects):21.2f}  {-1e3 * min(0.0, depths.bodies):9.2f}"
        f"  {np.degrees(np.max(viewer.limit_violation(skeleton, found.pose))):10.3f}"
        f"  {1e3 * np.linalg.norm(moved[skeleton.index(HAND)]):11.2f}"
        f"  {found.iterations:10}  {1e3 * float(np.median(seconds)):6.2f}  {found.status}"
        f"  {' '.join(f'{name}:{state}' for name, state in zip(FINGERS, states, strict=True) if state != 'on')}"
    )


def goals(grasp: Grasp) -> list[Goal]:
    """Every fingertip to the middle; the hand stays."""
    tips = ("Right" + finger for finger in FINGERS)
    return [*(Goal.position(tip, grasp.middle, weight=WEIGHT) for tip in tips), Goal.pin(HAND, level=0)]


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
    """The objects, each as near to the relaxed hand as it can be without touching."""
    skeleton = viewer.load("sample:biped-hands").skeleton
    start = skeleton.relaxed_pose()
    places, turns = joint_frames(skeleton, start)
    at, turn = places[skeleton.index(HAND)], turns[skeleton.index(HAND)]
    rotation = viewer.fk(skeleton, start).rotations[skeleton.index(HAND)]

    def made(name: str, middle: Floats) -> Object:
        if name == "box":
            return viewer.Box(name, tuple(middle.tolist()), (0.09, 0.05, 0.05), rotation)
        if name == "mug":
            # Its axis lies across the palm, as the fingers go around it.
            across = viewer.quaternions.from_axis_angle((1.0, 0.0, 0.0), 0.5 * np.pi)
            return mug(center=middle, rotation=viewer.quaternions.multiply(rotation, across))
        return viewer.Sphere(name, tuple(middle.tolist()), 1e-3 * float(name.split()[1]))

    for name in ("ball 35 mm", "ball 45 mm", "box", "mug"):
        low, high = 0.0, 0.2
        for _ in range(20):
            half = 0.5 * (low + high)
            middle = at + turn @ (_PALM - (0.0, half, 0.0))
            gap = Judge(skeleton, Contact(objects=[made(name, middle)])).depths(start).objects
            low, high = (half, high) if gap < _APART_M else (low, half)
        middle = at + turn @ (_PALM - (0.0, high, 0.0))
        yield Grasp(name, made(name, middle), middle)


if __name__ == "__main__":
    main()
