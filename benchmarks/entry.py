"""What calls of the library cost beside the arithmetic: for comparing two checkouts on one machine.

    python benchmarks/entry.py [--runs N] [--cold]

Prints the median microseconds of a solve near to and far from its start, by the compiled kernels, each with the start
that the last solve had and with another pose object; of `viewer.fk`; of setting goals; and the milliseconds that a
solver of a chain of 5,000 joints takes to make. With --cold also the seconds of a first solve whose kernels are not on
disk yet. Run it with PYTHONPATH set to the checkout that is to be measured.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

import viewer
from viewer.skeleton import project_pose
from viewer.spatial.quaternion import exp, multiply

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NEAR_RAD, FAR_RAD = 0.03, 0.3
CHAIN = 5000
FIRST_SOLVE = """
import time, viewer
skeleton = viewer.load("sample:biped").skeleton
start = time.perf_counter()
viewer.Solver(skeleton, [viewer.Goal.position("LeftHand", (0.4, 1.3, 0.4))], backend="numba").solve(
    skeleton.relaxed_pose())
print(time.perf_counter() - start)
"""


def main() -> int:
    """Measure and print."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--runs", type=int, default=2000, metavar="N", help="solves of each kind")
    made.add_argument("--cold", action="store_true", help="compile the kernels again, too")
    arguments = made.parse_args()
    skeleton = viewer.load("sample:biped").skeleton
    pose = skeleton.relaxed_pose()
    goals = goals_at(skeleton, pose)
    solver = viewer.Solver(skeleton, goals, backend="numba")
    for word, reach in (("near", NEAR_RAD), ("far", FAR_RAD)):
        targets = targets_near(skeleton, pose, goals, reach, arguments.runs)
        poses = [copied(pose) for _ in range(arguments.runs)]
        show(f"solve {word}, kept start", median([partial(solver.solve, pose, at) for at in targets]))
        fresh = [partial(solver.solve, new, at) for new, at in zip(poses, targets, strict=True)]
        show(f"solve {word}, fresh start", median(fresh))
    viewer.fk(skeleton, pose)
    show("viewer.fk", median([partial(viewer.fk, skeleton, new) for new in poses]))
    show("solver.goals =", median([lambda: setattr(solver, "goals", goals)] * max(1, arguments.runs // 10)))
    long = viewer.load(f"sample:chain-{CHAIN}").skeleton
    goal = [viewer.Goal.position(long.names[-1], (0.3, 0.5, 0.0))]
    show(f"solver of {CHAIN} joints", median([lambda: viewer.Solver(long, goal, backend="numba")] * 3) / 1e3, "ms")
    if arguments.cold:
        show("first solve, empty cache", cold(), "s")
        show("first solve, next process", warm(), "s")
    return 0


def goals_at(skeleton: Any, pose: Any) -> list[Any]:  # noqa: ANN401 - two versions of one library
    """Positions of the effectors that are on, where they are."""
    world = viewer.fk(skeleton, pose)
    chosen = [one for one in skeleton.effectors if str(one.goal.value) != "off"]
    return [viewer.Goal.position(skeleton.names[one.joint], world.positions[one.joint]) for one in chosen]


def targets_near(skeleton: Any, pose: Any, goals: list[Any], turn: float, count: int) -> list[Any]:  # noqa: ANN401
    """Each (G, 3): where the effectors are when every joint has turned by about ``turn`` radians, inside its limits."""
    random = np.random.default_rng(7)
    joints = [skeleton.names.index(goal.effector) for goal in goals]
    found = []
    for _ in range(count):
        turns = exp(random.normal(size=(len(skeleton), 3)) * turn)
        posed = project_pose(skeleton, viewer.Pose(multiply(pose.rotations, turns), pose.translations))
        found.append(viewer.fk(skeleton, posed).positions[joints])
    return found


def copied(pose: Any) -> Any:  # noqa: ANN401
    """The same pose, as another object."""
    return viewer.Pose(pose.rotations.copy(), pose.translations.copy())


def median(calls: Sequence[Callable[[], object]]) -> float:
    """Microseconds of a call; the first few do not count."""
    times = []
    for call in calls:
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times[len(times) // 10 :]) * 1e6


def cold() -> float:
    """Seconds of a first solve with nothing on disk."""
    with tempfile.TemporaryDirectory() as folder:
        return first_solve(folder)


def warm() -> float:
    """Seconds of a first solve with the kernels on disk."""
    with tempfile.TemporaryDirectory() as folder:
        first_solve(folder)
        return first_solve(folder)


def first_solve(folder: str) -> float:
    """Seconds of a first solve in a process of its own, with its cache in a folder."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_SOLVE],
        env=os.environ | {"NUMBA_CACHE_DIR": folder},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def show(what: str, figure: float, unit: str = "us") -> None:
    """A line."""
    print(f"{what:28} {figure:10.1f} {unit}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
