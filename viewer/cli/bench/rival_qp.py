"""mink and placo: task-space quadratic programmes, one per step, with the joint limits as their constraints."""

from __future__ import annotations

import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from viewer.cli.bench.hinges import mechanism, pose_arrays
from viewer.cli.bench.mjcf import MujocoModel, site_name
from viewer.cli.bench.rigs import Rig
from viewer.cli.bench.rival_dls import STOP_M2, STOP_RAD2, Answer
from viewer.cli.bench.urdf import goal_link, urdf
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import to_matrix

MOST_ITERATIONS = 100
DAMPING = 1e-6


class Mink:
    """mink as its examples: a FrameTask per goal, a ConfigurationLimit, whole Gauss-Newton steps (dt = 1), daqp."""

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
        self.damping = DAMPING
        self.limits = [self.mink.ConfigurationLimit(self.made.model, gain=0.95)] if limited else []

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        mink, configuration = self.mink, self.configuration
        configuration.update(self.home.copy())
        for goal, task in enumerate(self.tasks):
            turn = mink.SO3(turns[goal, [3, 0, 1, 2]])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, targets[goal]))
        for iteration in range(MOST_ITERATIONS + 1):
            if iteration == MOST_ITERATIONS or self._reached(targets):
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
        for iteration in range(MOST_ITERATIONS + 1):
            if iteration == MOST_ITERATIONS or self._reached(places, wanted):
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
