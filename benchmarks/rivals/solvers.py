"""The rivals behind one interface: Pinocchio, MuJoCo, mink, placo and ikpy, each used as its own examples use it.

Pinocchio and MuJoCo are libraries of kinematics: damped least squares in numpy on their Jacobians, clamped after each
step, as in their own examples (Pinocchio's "clik", the usual MuJoCo recipe), extended to several frames by stacking
rows; both solve the dual system, which is the smaller one here. mink and placo are task-space quadratic programmes, one
per step, with the joint limits as constraints. ikpy is scipy's least squares over one chain's joint angles.
"""

from __future__ import annotations

import math
import tempfile
import warnings
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from rivals.models import Axis, MujocoModel, goal_link, mechanism, pose_arrays, site_name, urdf
from viewer.cli.bench_measures import Rig
from viewer.errors import InputError
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import multiply, rotate, to_matrix

STOP_M = 0.98e-3
STOP_DEG = 0.49
"""Where a rival's loop stops: a little inside the score's tolerances, so that both agree on what is reached."""
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


def _arrays(rows: int, dofs: int, damping: float) -> tuple[Floats, Floats, Floats]:
    """Jacobian, error and damping of one solve."""
    return np.zeros((rows, dofs)), np.zeros(rows), damping * np.eye(rows)


_MOST_STEPS = 100
_QP_DAMPING = 1e-6


class Mink:
    """mink as its examples: a FrameTask per goal, a ConfigurationLimit, full Gauss-Newton steps (dt = 1), daqp."""

    def __init__(self, rig: Rig) -> None:
        """Build its configuration, tasks and limits."""
        self.mink: Any = import_module("mink")
        self.made = MujocoModel(rig)
        self.turned: list[bool] = rig.turned.tolist()
        self.configuration = self.mink.Configuration(self.made.model)
        self.home = self.configuration.q.copy()
        self.tasks = [
            self.mink.FrameTask(
                site_name(goal), "site", position_cost=1.0, orientation_cost=float(turned), lm_damping=1e-4
            )
            for goal, turned in enumerate(self.turned)
        ]
        limited = any(axis.limited for axis in self.made.built.all_axes())
        self.damping = _QP_DAMPING
        self.limits = [self.mink.ConfigurationLimit(self.made.model, gain=0.95)] if limited else []

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        mink, configuration = self.mink, self.configuration
        configuration.update(self.home.copy())
        for goal, task in enumerate(self.tasks):
            turn = mink.SO3(turns[goal, [3, 0, 1, 2]])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, targets[goal]))
        for iteration in range(_MOST_STEPS + 1):
            if iteration == _MOST_STEPS or self._reached(targets):
                break
            try:
                velocity = mink.solve_ik(
                    configuration, self.tasks, 1.0, solver="daqp", damping=self.damping, limits=self.limits
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return Answer(configuration.q.copy(), iteration)

    def _reached(self, targets: Floats) -> bool:
        placed = self.configuration.data.site_xpos
        for goal, site in enumerate(self.made.sites):
            missed = targets[goal] - placed[site]
            if missed @ missed >= STOP_M2:
                return False
        for goal, task in enumerate(self.tasks):
            if self.turned[goal]:
                turn = task.compute_error(self.configuration)[3:]
                if turn @ turn >= STOP_RAD2:
                    return False
        return True

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return self.made.pose(answer.q)

    def iterations(self, answer: Answer) -> int:
        """See `Contender.iterations`."""
        return answer.iterations


class Placo:
    """placo as its examples: soft frame tasks, joint limits on, its own solver, from a URDF of hinges."""

    def __init__(self, rig: Rig) -> None:
        """Build its robot of the rig."""
        self.placo: Any = import_module("placo")
        self.rig, self.built = rig, mechanism(rig.skeleton, spherical=False)
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "robot.urdf").write_text(urdf(rig, self.built), encoding="utf-8")
            self.robot = self.placo.RobotWrapper(folder, self.placo.Flags.ignore_collisions)
        self.home = self.robot.state.q.copy()
        self.names = [axis.name for axis in self.built.all_axes()]
        self.turned: list[bool] = rig.turned.tolist()
        # A floating base starts at the origin of its own; ours at the root's offset.
        self.shift = rig.skeleton.offsets[0] if self.built.floating else np.zeros(3)

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        robot = self.robot
        robot.state.q = self.home.copy()
        robot.update_kinematics()
        solver = self.placo.KinematicsSolver(robot)
        solver.enable_joint_limits(True)
        solver.enable_velocity_limits(False)
        solver.mask_fbase(not self.built.floating)
        places, wanted = targets - self.shift, to_matrix(turns)
        for goal, turned in enumerate(self.turned):
            solver.add_position_task(goal_link(goal), places[goal]).configure(f"place{goal}", "soft", 1.0)
            if turned:
                solver.add_orientation_task(goal_link(goal), wanted[goal]).configure(f"turn{goal}", "soft", 1.0)
        solver.add_regularization_task(1e-6)
        for iteration in range(_MOST_STEPS + 1):
            if iteration == _MOST_STEPS or self._reached(places, wanted):
                break
            try:
                solver.solve(True)
            except RuntimeError:  # "QPError: Infeasible QP"
                break
            robot.update_kinematics()
        return Answer(robot.state.q.copy(), iteration)

    def _reached(self, places: Floats, wanted: Floats) -> bool:
        for goal, turned in enumerate(self.turned):
            placed = self.robot.get_T_world_frame(goal_link(goal))
            missed = places[goal] - placed[:3, 3]
            if missed @ missed >= STOP_M2:
                return False
            if turned:
                cosine = 0.5 * (np.trace(wanted[goal] @ placed[:3, :3].T) - 1.0)
                if np.arccos(np.clip(cosine, -1.0, 1.0)) ** 2 >= STOP_RAD2:
                    return False
        return True

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        self.robot.state.q = answer.q
        values = np.array([self.robot.get_joint(name) for name in self.names])
        root = (answer.q[:3] + self.shift, answer.q[3:7]) if self.built.floating else None
        return pose_arrays(self.built, values, None, root)

    def iterations(self, answer: Answer) -> int:
        """See `Contender.iterations`."""
        return answer.iterations


_MOST_AXES = 100


class Ikpy:
    """ikpy as its examples: ``Chain.from_urdf_file(...).inverse_kinematics(target)``, started at rest."""

    def __init__(self, rig: Rig) -> None:
        """Build its chain of the rig.

        Raises:
            InputError: a rig with more than one goal, with a free root, or so long that a solve takes many seconds.
        """
        self.built = mechanism(rig.skeleton, spherical=False)
        if len(rig.joints) != 1 or self.built.floating or rig.turned.any():
            raise InputError("ikpy: it knows chains with one position goal only")
        if len(self.built.all_axes()) > _MOST_AXES:
            raise InputError(f"ikpy: a solve of more than {_MOST_AXES} axes takes it many seconds")
        chain: Any = import_module("ikpy.chain").Chain
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "robot.urdf")
            file.write_text(urdf(rig, self.built), encoding="utf-8")
            with warnings.catch_warnings():  # of links that do not move: their mask can only be made afterwards
                warnings.simplefilter("ignore")
                self.chain = chain.from_urdf_file(str(file), base_elements=["world"])
        names = [link.name for link in self.chain.links]
        self.places = [names.index(axis.name) for axis in self.built.all_axes()]
        self.chain.active_links_mask = np.isin(np.arange(len(names)), self.places)

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`; turns play no part."""
        del turns
        return Answer(self.chain.inverse_kinematics(targets[0]), 0)

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return pose_arrays(self.built, np.asarray(answer.q)[self.places])

    def iterations(self, answer: Answer) -> int:
        """Unknown: ikpy does not report them."""
        return answer.iterations
