"""Damped least squares in numpy on a robotics library's kinematics and Jacobians, clamped after each step.

That is what the libraries' own inverse kinematics examples do (Pinocchio's "clik", the usual MuJoCo recipe), extended
to several frames by stacking their rows. Both solve the dual system, which is the smaller one here.
"""

from __future__ import annotations

import math
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np

from viewer.cli.bench.contender import STOP_DEG, STOP_M
from viewer.cli.bench.hinges import Axis, mechanism, pose_arrays
from viewer.cli.bench.mjcf import MujocoModel
from viewer.cli.bench.rigs import Rig
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import multiply, rotate, to_matrix

DAMPING = 1e-4
MOST_ITERATIONS = 200
STOP_M2, STOP_RAD2 = STOP_M**2, math.radians(STOP_DEG) ** 2


class Answer(NamedTuple):
    """Configuration and iterations."""

    q: Floats
    iterations: int


class PinocchioDls:
    """Pinocchio: kinematics and frame Jacobians in C++; spherical joints where there are no limits."""

    def __init__(self, rig: Rig) -> None:
        """Build its model of the rig."""
        self.pin: Any = import_module("pinocchio")
        self.rig, self.built = rig, mechanism(rig.skeleton, spherical=True)
        self._build()
        self.axes = self.pin.LOCAL_WORLD_ALIGNED
        self.rows = 3 * len(rig.joints) + 3 * int(rig.turned.sum())
        self.turned: list[bool] = rig.turned.tolist()
        self.damping = DAMPING

    def _build(self) -> None:
        pin, skeleton = self.pin, self.rig.skeleton
        self.model = model = pin.Model()
        rest = to_matrix(skeleton.rest_rotations)
        at: list[tuple[int, Any]] = []
        self.places: dict[str, int] = {}
        for joint, parent in enumerate(skeleton.parents.tolist()):
            above, placement = at[parent] if parent >= 0 else (0, pin.SE3.Identity())
            placement = placement * pin.SE3(rest[joint], skeleton.offsets[joint])
            models = [(axis.name, self._axis_model(axis)) for axis in self.built.axes[joint]]
            if joint == 0 and self.built.floating:
                models = [("root", pin.JointModelFreeFlyer())]
            if joint in self.built.spherical:
                models = [(skeleton.names[joint], pin.JointModelSpherical())]
            for name, joint_model in models:
                above = model.addJoint(above, joint_model, placement, name)
                placement = pin.SE3.Identity()
                self.places[name] = model.idx_qs[above]
            at.append((above, placement))
        self.frames = [
            model.addFrame(pin.Frame(f"goal{goal}", at[j][0], at[j][1] * self._offset(goal), pin.FrameType.OP_FRAME))
            for goal, j in enumerate(self.rig.joints.tolist())
        ]
        self.lower, self.upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for axis in self.built.all_axes():
            self.lower[self.places[axis.name]], self.upper[self.places[axis.name]] = axis.lower, axis.upper
        self.data = model.createData()

    def _axis_model(self, axis: Axis) -> Any:  # noqa: ANN401 - the library has no types
        aligned = np.flatnonzero(axis.direction == 1.0)
        if axis.slides:
            return self.pin.JointModelPrismaticUnaligned(axis.direction)
        if aligned.size:
            return (self.pin.JointModelRX, self.pin.JointModelRY, self.pin.JointModelRZ)[aligned[0]]()
        return self.pin.JointModelRevoluteUnaligned(axis.direction)

    def _offset(self, goal: int) -> Any:  # noqa: ANN401
        return self.pin.SE3(np.eye(3), self.rig.offsets[goal])

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        pin, model, data = self.pin, self.model, self.data
        wanted = to_matrix(turns) if any(self.turned) else turns
        q = pin.neutral(model)
        jacobian, error, damping = _arrays(self.rows, model.nv, self.damping)
        for iteration in range(MOST_ITERATIONS + 1):
            pin.computeJointJacobians(model, data, q)
            pin.updateFramePlacements(model, data)
            if self._reached(targets, wanted, error) or iteration == MOST_ITERATIONS:
                break
            self._fill(jacobian)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping, error)
            q = np.minimum(np.maximum(pin.integrate(model, q, step), self.lower), self.upper)
        return Answer(q, iteration)

    def _reached(self, targets: Floats, wanted: Floats, error: Floats) -> bool:
        """Write the error (rows,); whether every goal is reached."""
        row, metres2, radians2 = 0, 0.0, 0.0
        for goal, frame in enumerate(self.frames):
            placed = self.data.oMf[frame]
            error[row : row + 3] = missed = targets[goal] - placed.translation
            metres2 = max(metres2, missed.dot(missed))
            row += 3
            if self.turned[goal]:
                error[row : row + 3] = turn = self.pin.log3(wanted[goal] @ placed.rotation.T)
                radians2 = max(radians2, turn.dot(turn))
                row += 3
        return metres2 < STOP_M2 and radians2 < STOP_RAD2

    def _fill(self, jacobian: Floats) -> None:
        row = 0
        for goal, frame in enumerate(self.frames):
            of_frame = self.pin.getFrameJacobian(self.model, self.data, frame, self.axes)
            height = 6 if self.turned[goal] else 3
            jacobian[row : row + height] = of_frame[:height]
            row += height

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        q, skeleton = answer.q, self.rig.skeleton
        root = None
        if self.built.floating:
            moved = skeleton.offsets[0] + rotate(skeleton.rest_rotations[0], q[:3])
            root = (moved, multiply(skeleton.rest_rotations[0], q[3:7]))
        values = np.array([q[self.places[axis.name]] for axis in self.built.all_axes()])
        starts = [self.places[skeleton.names[joint]] for joint in self.built.spherical]
        return pose_arrays(self.built, values, np.array([q[at : at + 4] for at in starts]), root)

    def iterations(self, answer: Answer) -> int:
        """See `Contender.iterations`."""
        return answer.iterations


class MujocoDls:
    """MuJoCo: mj_kinematics, mj_comPos and mj_jac in C, steps by mj_integratePos."""

    def __init__(self, rig: Rig) -> None:
        """Build its model of the rig."""
        self.mujoco: Any = import_module("mujoco")
        self.made = MujocoModel(rig)
        self.turned: list[bool] = rig.turned.tolist()
        self.damping = DAMPING
        self.rows = 3 * len(rig.joints) + 3 * int(rig.turned.sum())
        self.data = self.mujoco.MjData(self.made.model)
        self.now, self.back, self.apart, self.turn = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(3)

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        mujoco, model, data = self.mujoco, self.made.model, self.data
        mujoco.mj_resetData(model, data)
        wanted = turns[:, [3, 0, 1, 2]]
        jacobian, error, damping = _arrays(self.rows, model.nv, self.damping)
        for iteration in range(MOST_ITERATIONS + 1):
            mujoco.mj_kinematics(model, data)
            mujoco.mj_comPos(model, data)
            if self._reached(targets, wanted, error) or iteration == MOST_ITERATIONS:
                break
            self._fill(jacobian)
            step = jacobian.T @ np.linalg.solve(jacobian @ jacobian.T + damping, error)
            mujoco.mj_integratePos(model, data.qpos, step, 1.0)
            np.clip(data.qpos, self.made.lower, self.made.upper, out=data.qpos)
        return Answer(data.qpos.copy(), iteration)

    def _reached(self, targets: Floats, wanted: Floats, error: Floats) -> bool:
        """Write the error (rows,); whether every goal is reached."""
        mujoco, data = self.mujoco, self.data
        row, metres2, radians2 = 0, 0.0, 0.0
        for goal, site in enumerate(self.made.sites):
            error[row : row + 3] = missed = targets[goal] - data.site_xpos[site]
            metres2 = max(metres2, missed.dot(missed))
            row += 3
            if self.turned[goal]:
                mujoco.mju_mat2Quat(self.now, data.site_xmat[site])
                mujoco.mju_negQuat(self.back, self.now)
                mujoco.mju_mulQuat(self.apart, wanted[goal], self.back)
                mujoco.mju_quat2Vel(self.turn, self.apart, 1.0)
                error[row : row + 3] = self.turn
                radians2 = max(radians2, self.turn.dot(self.turn))
                row += 3
        return metres2 < STOP_M2 and radians2 < STOP_RAD2

    def _fill(self, jacobian: Floats) -> None:
        row, of_site = 0, self.mujoco.mj_jacSite
        for goal, site in enumerate(self.made.sites):
            if self.turned[goal]:
                of_site(self.made.model, self.data, jacobian[row : row + 3], jacobian[row + 3 : row + 6], site)
                row += 6
            else:
                of_site(self.made.model, self.data, jacobian[row : row + 3], None, site)
                row += 3

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return self.made.pose(answer.q)

    def iterations(self, answer: Answer) -> int:
        """See `Contender.iterations`."""
        return answer.iterations


def _arrays(rows: int, freedoms: int, damping: float) -> tuple[Floats, Floats, Floats]:
    """Jacobian, error and damping of one solve."""
    return np.zeros((rows, freedoms)), np.zeros(rows), damping * np.eye(rows)
