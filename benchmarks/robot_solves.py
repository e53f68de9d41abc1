"""Robots: the time of one solve of a pose goal, beside Pinocchio from Python, in one run on one thread.

    pip install -e '.[bench,robots]' && python benchmarks/robot_solves.py [--goals 200]

Goals are poses of the tool at random joint values inside the limits; the start is the pose in which the robot opens.
The rival is damped least squares on the log of the pose error (Pinocchio's own example), with full steps, a damping
that follows the error, limits by clamping, and up to ten random starts, which is what made most of its goals succeed.
"""

from __future__ import annotations

import argparse
import os
import platform
from pathlib import Path
from time import perf_counter

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pinocchio as pin

import viewer
from viewer import Goal, Solver

ROBOTS = {
    "Panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp"),
    "UR5": ("ur_description/urdf/ur5_robot.urdf", "ee_link"),
    "G1, left hand": ("g1_description/urdf/g1_29dof_rev_1_0.urdf", "left_rubber_hand"),
}
METRES, RADIANS = 1e-3, np.radians(0.5)
TURN = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def rival(
    model: pin.Model, data: pin.Data, frame: int, goal: pin.SE3, start: np.ndarray, random: np.random.Generator
) -> bool:
    low = np.where(model.upperPositionLimit - model.lowerPositionLimit > 100.0, -np.pi, model.lowerPositionLimit)
    high = np.where(model.upperPositionLimit - model.lowerPositionLimit > 100.0, np.pi, model.upperPositionLimit)
    for attempt in range(10):
        q = start.copy() if attempt == 0 else random.uniform(low, high)
        for _ in range(60):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacement(model, data, frame)
            error = data.oMf[frame].actInv(goal)
            vector = pin.log6(error).vector
            if np.linalg.norm(error.translation) < METRES and np.linalg.norm(vector[3:]) < RADIANS:
                return True
            jacobian = pin.Jlog6(error.inverse()) @ pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL)
            damping = 1e-6 + 1e-3 * float(vector @ vector)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping * np.eye(6), vector)
            q = np.clip(pin.integrate(model, q, step), low, high)
    return False


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--goals", type=int, default=200)
    count = parser.parse_args().goals
    folder = Path(pin.__file__).resolve().parents[4] / "share" / "example-robot-data" / "robots"
    print(f"{platform.processor() or platform.machine()}, Pinocchio {pin.__version__}")
    for name, (file, tool) in ROBOTS.items():
        random = np.random.default_rng(4)
        model = pin.buildModelFromUrdf(str(folder / file))
        data, frame = model.createData(), model.getFrameId(tool)
        low = np.maximum(model.lowerPositionLimit, -np.pi)
        high = np.minimum(model.upperPositionLimit, np.pi)
        goals = []
        for _ in range(count):
            pin.framesForwardKinematics(model, data, random.uniform(low, high))
            goals.append(data.oMf[frame].copy())
        skeleton = viewer.load(folder / file).skeleton
        start = skeleton.relaxed_pose()
        solver = Solver(skeleton, [Goal.pose(tool, (0, 0, 0), (0, 0, 0, 1))], backend="numba")
        solver.solve(start)
        ours, inside, theirs, met, met_by_them = [], [], [], 0, 0
        q = np.clip(pin.neutral(model), low, high)
        for goal in goals:
            place, turn = TURN @ goal.translation, viewer.quaternions.from_matrix(TURN @ goal.rotation)
            began = perf_counter()
            solution = solver.solve(start, targets=place[None], target_rotations=turn[None])
            ours.append(perf_counter() - began)
            inside.append(solution.seconds)
            met += solution.status == "converged"
            began = perf_counter()
            met_by_them += rival(model, data, frame, goal, q, random)
            theirs.append(perf_counter() - began)
        a, b = 1e3 * float(np.median(ours)), 1e3 * float(np.median(theirs))
        print(
            f"{name:<14} ours {a:.3f} ms, {met} of {count}; theirs {b:.2f} ms, {met_by_them} of {count}: {b / a:.1f} x"
        )
        means = f"mean {1e3 * np.mean(ours):.3f} and {1e3 * np.mean(theirs):.2f} ms"
        print(f"{'':<14} the solve alone {1e3 * np.median(inside):.3f} ms; {means}")


if __name__ == "__main__":
    main()
