"""The S-lock: how often does a limited arm stick although its target is in reach?

An arm of four links in a plane, each joint limited to +-45 degrees, is asked for places that it can reach. Cyclic
coordinate descent that clamps its joints locks up: bent the wrong way, like an S, with joints at their limits.

    one-shot   every place on its own, from the straight arm.
    dragging   the target is carried from place to place, always within reach; a place counts as missed if the tip is
               not there after the target has rested on it for a while.
    released   the drag is let go where it sticks: the method then solves once more (the default with restarts).

    python benchmarks/s_lock.py [--goals 300] [--seed 0] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from viewer.ik.goals import Goal
from viewer.ik.options import METHOD_NAMES
from viewer.ik.solution import Status
from viewer.ik.solver import Solver
from viewer.skeleton import Effector, JointKind, JointLimits, Skeleton, fk
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import IDENTITY, from_axis_angle

LINKS = 4
LENGTH_M = 0.25
LIMIT_DEG = 45.0
FRAMES = 10
"""Frames that a target takes from one place to the next."""
RESTING = 40
"""Frames that it then waits there at most."""
FRAME_ITERATIONS = 5
"""Iterations (of CCD: sweeps) a frame."""
SHORT = ("two-link", "single-bone")
"""Methods that move fewer than four joints by their nature."""


def arm() -> Skeleton:
    axes = np.zeros((LINKS, 2, 3))
    axes[:, 0, 2] = 1.0
    offsets = np.zeros((LINKS, 3))
    offsets[1:, 0] = LENGTH_M
    limit = math.radians(LIMIT_DEG)
    return Skeleton(
        name="s-lock arm",
        names=tuple(f"joint_{k}" for k in range(LINKS)),
        parents=np.arange(-1, LINKS - 1),
        offsets=offsets,
        rest_rotations=np.tile(IDENTITY, (LINKS, 1)),
        kinds=(JointKind.HINGE,) * LINKS,
        axes=axes,
        limits=(JointLimits.coordinates((-limit, limit)),) * LINKS,
        stiffness=np.zeros(LINKS),
        tip_parents=np.array([LINKS - 1]),
        tip_offsets=np.array([[LENGTH_M, 0.0, 0.0]]),
        effectors=(Effector("tip", LINKS - 1, (LENGTH_M, 0.0, 0.0)),),
    )


def place(skeleton: Skeleton, angles: Floats) -> Floats:
    """(3,) where the tip is at joint angles (LINKS,)."""
    pose = Pose(from_axis_angle((0.0, 0.0, 1.0), angles), skeleton.offsets)
    return fk(skeleton, pose).point(LINKS - 1, skeleton.tip_offsets[0])


def one_shot(skeleton: Skeleton, solver: Solver, hidden: Floats) -> float:
    """Percent of places missed, each from the straight arm."""
    start = skeleton.rest_pose()
    missed = [
        solver.solve(start, targets=[place(skeleton, angles)]).status is not Status.CONVERGED for angles in hidden
    ]
    return 100.0 * float(np.mean(missed))


def dragging(skeleton: Skeleton, solver: Solver, hidden: Floats) -> tuple[float, float]:
    """Percent of places missed in one long drag, and of those, had the drag been let go there."""
    drag = solver.drag(skeleton.rest_pose())
    stuck = left = 0
    before = np.zeros(LINKS)
    for angles in hidden:
        for frame in range(1, FRAMES + RESTING + 1):
            part = min(frame / FRAMES, 1.0)
            target = place(skeleton, before + part * (angles - before))
            solution = drag.move([target], iterations=FRAME_ITERATIONS)
            there = solution.status is Status.CONVERGED
            if there and frame >= FRAMES:
                break
        before = angles
        if not there:
            stuck += 1
            left += drag.escape() is None
    return 100.0 * stuck / len(hidden), 100.0 * left / len(hidden)


def measure(goals: int, seed: int) -> dict[str, dict[str, float]]:
    skeleton = arm()
    limit = math.radians(LIMIT_DEG)
    hidden = np.random.default_rng(seed).uniform(-limit, limit, size=(goals, LINKS))
    table = {}
    for method in METHOD_NAMES:
        solver = Solver(skeleton, [Goal.position("tip", (0.0, 0.0, 0.0))], method=method, natural=False)
        stuck, left = dragging(skeleton, solver, hidden)
        table[method] = {"one_shot": one_shot(skeleton, solver, hidden), "dragging": stuck, "released": left}
    return table


def main() -> int:
    parser = argparse.ArgumentParser(description="How often a limited arm sticks although its target is in reach.")
    parser.add_argument("--goals", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    table = measure(options.goals, options.seed)
    if options.json:
        print(json.dumps({"goals": options.goals, "seed": options.seed, "missed_percent": table}, indent=2))
        return 0
    print(f"{LINKS} links in a plane, +-{LIMIT_DEG:g} degrees, {options.goals} places in reach: missed, percent")
    print(f"{'method':<16}{'one-shot':>10}{'dragging':>10}{'released':>10}")
    for method, row in table.items():
        note = "  (moves fewer than four joints)" if method in SHORT else ""
        print(f"{method:<16}" + "".join(f"{value:>10.1f}" for value in row.values()) + note)
    return 0


if __name__ == "__main__":
    sys.exit(main())
