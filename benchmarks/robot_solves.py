"""Robots: the time of one solve of a pose goal beside Pinocchio, from Python and from C++, and mink, in one run.

    pip install -e '.[bench,robots]' && python benchmarks/robot_solves.py [--goals 200] [--rounds 3]

Goals are poses of the tool at random joint values inside the limits; every solve starts from the pose in which the
robot opens, on one thread. Solvers take turns of twenty goals, as in `compare.py`: the first after another solver's
finds the processor's caches full of the other's work. Of a few rounds the least time of each goal counts, so that other
programs disturb it less.

Pinocchio's loop is damped least squares on the log of the pose error (its own example), with full steps, a damping
that follows the error, limits by clamping, and up to ten random starts, which is what made most of its goals succeed.
In C++ it is the same loop (`rivals/pinocchio_pose.cpp`). A caller in C++
pays nothing for Python, so the solve itself is compared with it twice: one call of ours a goal, and a batch of all
goals on one thread, which crosses into compiled code once; of a batch only the mean counts. mink runs as in its
examples: a FrameTask, a ConfigurationLimit, full steps, daqp, and the same random starts, on the MJCF that we write of
the robot.
"""

from __future__ import annotations

import argparse
import os
import platform
import tempfile
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, TypeAlias

os.environ.setdefault("OMP_NUM_THREADS", "1")

import mink
import mujoco
import numpy as np
import pinocchio as pin
from rivals.native import PosesNative

import viewer
from viewer import Goal, InputError, Solver
from viewer.spatial.checks import Floats

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "ee_link"),
    "G1, left hand": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_rubber_hand"),
}
METRES, RADIANS = 1e-3, np.radians(0.5)
ITERATIONS, ATTEMPTS = 60, 10
TURNS_OF = 20
TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
"""From a robot's axes to ours."""


Runs: TypeAlias = dict[str, tuple[Callable[..., bool], list[tuple[Any, ...]]]]
"""By solver: what solves a goal, and its arguments for each."""


class Pinocchio:
    """The loop on Pinocchio's kinematics, driven from Python."""

    def __init__(self, model: Any, frame: int, bounds: tuple[Floats, Floats], start: Floats) -> None:  # noqa: ANN401
        self.model, self.data, self.frame = model, model.createData(), frame
        self.bounds, self.start = bounds, start
        self.random = np.random.default_rng(4)

    def solve(self, goal: pin.SE3) -> bool:
        """Whether the goal is met."""
        model, data = self.model, self.data
        for attempt in range(ATTEMPTS):
            q = self.start.copy() if attempt == 0 else self.random.uniform(*self.bounds)
            for _ in range(ITERATIONS):
                pin.computeJointJacobians(model, data, q)
                pin.updateFramePlacement(model, data, self.frame)
                error = data.oMf[self.frame].actInv(goal)
                vector = pin.log6(error).vector
                if np.linalg.norm(error.translation) < METRES and np.linalg.norm(vector[3:]) < RADIANS:
                    return True
                jacobian = pin.getFrameJacobian(model, data, self.frame, pin.ReferenceFrame.LOCAL)
                jacobian = pin.Jlog6(error.inverse()) @ jacobian
                damping = 1e-6 + 1e-3 * float(vector @ vector)
                step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), vector)
                q = np.clip(pin.integrate(model, q, step), *self.bounds)
        return False


class Mink:
    """mink on the robot's MJCF as we write it."""

    def __init__(self, character: viewer.Character, tool: str) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "robot.xml")
            viewer.save(character, file)
            self.model: Any = mujoco.MjModel.from_xml_path(str(file))
        self.configuration: Any = mink.Configuration(self.model)
        self.start = np.clip(self.configuration.q, *self.model.jnt_range.T)
        self.task: Any = mink.FrameTask(tool, "body", position_cost=1.0, orientation_cost=1.0, lm_damping=1e-4)
        self.limits = [mink.ConfigurationLimit(self.model, gain=0.95)]
        self.random = np.random.default_rng(4)

    def solve(self, place: Floats, turn: Floats) -> bool:
        """Whether a goal is met, at a place (3,) and turned by a quaternion (4,)."""
        rotation = mink.SO3(turn[[3, 0, 1, 2]])
        self.task.set_target(mink.SE3.from_rotation_and_translation(rotation, place))
        for attempt in range(ATTEMPTS):
            q = self.start if attempt == 0 else self.random.uniform(*self.model.jnt_range.T)
            self.configuration.update(q.copy())
            for _ in range(ITERATIONS):
                error = self.task.compute_error(self.configuration)
                if np.linalg.norm(error[:3]) < METRES and np.linalg.norm(error[3:]) < RADIANS:
                    return True
                try:
                    velocity = mink.solve_ik(
                        self.configuration, [self.task], 1.0, solver="daqp", damping=1e-6, limits=self.limits
                    )
                except mink.NoSolutionFound:
                    break
                self.configuration.integrate_inplace(velocity, 1.0)
        return False


class Ours:
    """A `viewer.Solver` with one pose goal."""

    def __init__(self, character: viewer.Character, tool: str) -> None:
        self.start = character.skeleton.relaxed_pose()
        self.solver = Solver(character.skeleton, [Goal.pose(tool, (0, 0, 0), (0, 0, 0, 1))], backend="numba")
        self.solver.solve(self.start)
        self.unreachable = 0

    def solve(self, place: Floats, turn: Floats) -> bool:
        """Whether a goal is met, at a place (3,) and turned by a quaternion (4,)."""
        solution = self.solver.solve(self.start, targets=place[None], target_rotations=turn[None])
        self.unreachable += solution.status == "unreachable"
        return solution.status == "converged"

    def solve_many(self, places: Floats, turns: Floats) -> int:
        """How many goals are met, at places (N, 3) and turned by quaternions (N, 4)."""
        found = self.solver.solve_batch(self.start, places[:, None], turns[:, None], threads=1)
        return int(np.count_nonzero(found.status == "converged"))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--goals", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    folder = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
    print(f"{platform.processor() or platform.machine()}, Pinocchio {pin.__version__}, mink {version('mink')}")
    for name, (file, tool) in ROBOTS.items():
        random = np.random.default_rng(4)
        model = pin.buildModelFromUrdf(str(folder / file))
        data, frame = model.createData(), model.getFrameId(tool)
        unlimited = model.upperPositionLimit - model.lowerPositionLimit > 100.0
        bounds = (
            np.where(unlimited, -np.pi, model.lowerPositionLimit),
            np.where(unlimited, np.pi, model.upperPositionLimit),
        )
        low, high = np.maximum(model.lowerPositionLimit, -np.pi), np.minimum(model.upperPositionLimit, np.pi)
        goals = []
        for _ in range(chosen.goals):
            pin.framesForwardKinematics(model, data, random.uniform(low, high))
            goals.append(data.oMf[frame].copy())
        places = [TURN @ goal.translation for goal in goals]
        turns = [viewer.quaternions.from_matrix(TURN @ goal.rotation) for goal in goals]
        coefficients = [(goal.translation.copy(), pin.Quaternion(goal.rotation).coeffs().copy()) for goal in goals]
        character = viewer.load(folder / file)
        start = np.clip(pin.neutral(model), *bounds)
        ours, python, by_mink = Ours(character, tool), Pinocchio(model, frame, bounds, start), Mink(character, tool)
        targets = list(zip(places, turns, strict=True))
        runs: Runs = {
            "ours": (ours.solve, targets),
            "Pinocchio, Python": (python.solve, [(goal,) for goal in goals]),
            "mink": (by_mink.solve, targets),
        }
        try:
            native = PosesNative(model, tool, bounds, start, (METRES, float(RADIANS)), (ITERATIONS, ATTEMPTS))
            runs["Pinocchio, C++"] = (native.solve, coefficients)
        except InputError as error:
            print(error)
        found = measured(runs, chosen.goals, chosen.rounds)
        found["ours, a batch"] = batched(ours, np.array(places), np.array(turns), chosen.rounds)
        report(name, found, ours.unreachable)


def measured(runs: Runs, count: int, rounds: int) -> dict[str, tuple[Floats, int]]:
    """By solver, the least milliseconds of each goal, and how many were met in the first round."""
    turns = [range(first, min(first + TURNS_OF, count)) for first in range(0, count, TURNS_OF)]
    order = [(name, i, turn) for turn in range(rounds) for part in turns for name in runs for i in part]
    taken = {name: np.full(count, np.inf) for name in runs}
    met = dict.fromkeys(runs, 0)
    for name, i, turn in order:
        solve, goals = runs[name]
        began = perf_counter()
        done = solve(*goals[i])
        taken[name][i] = min(taken[name][i], 1e3 * (perf_counter() - began))
        met[name] += done and turn == 0
    return {name: (taken[name], met[name]) for name in runs}


def batched(ours: Ours, places: Floats, turns: Floats, rounds: int) -> tuple[Floats, int]:
    """The least milliseconds of a batch of all goals, an equal part for each, and how many are met."""
    taken, met = np.inf, 0
    for _ in range(rounds):
        began = perf_counter()
        met = ours.solve_many(places, turns)
        taken = min(taken, 1e3 * (perf_counter() - began) / len(places))
    return np.full(len(places), taken), met


def report(robot: str, found: dict[str, tuple[Floats, int]], unreachable: int) -> None:
    ours, count = found["ours"][0], len(found["ours"][0])
    print(f"{robot}: {count} goals; ours called {unreachable} unreachable, over all rounds")
    for name, (taken, met) in found.items():
        times = float(np.median(taken) / np.median(ours)), float(taken.mean() / ours.mean())
        print(
            f"  {name:<18} median {np.median(taken):8.4f} ms, mean {taken.mean():8.4f} ms, {met} met;"
            f" {times[0]:6.1f} x ours, mean {times[1]:.1f} x"
        )


if __name__ == "__main__":
    main()
