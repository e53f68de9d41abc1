"""mink with its collision limit: the same capsules and pairs as ours, every step a quadratic programme."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from rivals.models import MujocoModel, geom_name, site_name
from rivals.solvers import STOP_M2, STOP_RAD2, Answer
from viewer.cli.bench_measures import Rig
from viewer.skeleton import Bodies
from viewer.spatial.checks import Floats

FREE_M = 0.5e-3
"""Overlap with which its loop may stop."""
_DAMPING = 1e-6


@dataclass(frozen=True, slots=True)
class Tuning:
    """What may be chosen for it.

    Attributes:
        task_gain: part of a goal's error that a step takes back: 1 for large steps.
        steps: at most.
        gain: part of a gap by which a step may close it.
        least: metres that stay between bodies.
        seen: metres within which a gap gets a row.
        relaxation: metres by which bodies that are too near may come nearer in a step; negative: are to part.
    """

    task_gain: float
    steps: int
    gain: float = 0.85
    least: float = 0.005
    seen: float = 0.01
    relaxation: float = 0.0


class MinkApart:
    """FrameTasks, ConfigurationLimit and CollisionAvoidanceLimit as in its examples, solved by daqp."""

    def __init__(self, rig: Rig, bodies: Bodies, tuning: Tuning) -> None:
        """Build its configuration, tasks and limits."""
        self.mink: Any = import_module("mink")
        self.mujoco: Any = import_module("mujoco")
        self.tuning = tuning
        self.made = MujocoModel(rig, bodies)
        self.turned: list[bool] = rig.turned.tolist()
        self.configuration = self.mink.Configuration(self.made.model)
        self.home = self.configuration.q.copy()
        self.tasks = [
            self.mink.FrameTask(
                site_name(goal),
                "site",
                position_cost=1.0,
                orientation_cost=float(turned),
                gain=tuning.task_gain,
                lm_damping=1e-4,
            )
            for goal, turned in enumerate(self.turned)
        ]
        pairs = [([geom_name(i)], [geom_name(j)]) for i, j in bodies.pairs.tolist()]
        self.apart = self.mink.CollisionAvoidanceLimit(
            self.made.model,
            pairs,
            gain=tuning.gain,
            minimum_distance_from_collisions=tuning.least,
            collision_detection_distance=tuning.seen,
            bound_relaxation=tuning.relaxation,
        )
        self.limits = [self.mink.ConfigurationLimit(self.made.model, gain=0.95), self.apart]

    def solve(self, targets: Floats, turns: Floats) -> Answer:
        """See `Contender.solve`."""
        mink, configuration = self.mink, self.configuration
        configuration.update(self.home.copy())
        for goal, task in enumerate(self.tasks):
            turn = mink.SO3(turns[goal, [3, 0, 1, 2]])
            task.set_target(mink.SE3.from_rotation_and_translation(turn, targets[goal]))
        for step in range(self.tuning.steps + 1):
            if step == self.tuning.steps or (self._reached(targets) and self._free()):
                break
            try:
                velocity = mink.solve_ik(
                    configuration, self.tasks, 1.0, solver="daqp", damping=_DAMPING, limits=self.limits
                )
            except mink.NoSolutionFound:
                break
            configuration.integrate_inplace(velocity, 1.0)
        return Answer(configuration.q.copy(), step)

    def _reached(self, targets: Floats) -> bool:
        missed = targets - self.configuration.data.site_xpos[self.made.sites]
        if np.einsum("gi,gi->g", missed, missed).max() >= STOP_M2:
            return False
        for turned, task in zip(self.turned, self.tasks, strict=True):
            turn = task.compute_error(self.configuration)[3:]
            if turned and turn @ turn >= STOP_RAD2:
                return False
        return True

    def _free(self) -> bool:
        """Whether no pair overlaps: of those whose bounding balls do."""
        model, data, fromto = self.made.model, self.configuration.data, np.empty(6)
        pairs = np.array(self.apart.geom_id_pairs)
        apart = np.linalg.norm(data.geom_xpos[pairs[:, 0]] - data.geom_xpos[pairs[:, 1]], axis=1)
        near = apart < model.geom_rbound[pairs].sum(axis=1)
        return all(
            self.mujoco.mj_geomDistance(model, data, i, j, 0.1, fromto) > -FREE_M for i, j in pairs[near].tolist()
        )

    def pose(self, answer: Answer) -> tuple[Floats, Floats]:
        """See `Contender.pose`."""
        return self.made.pose(answer.q)

    def iterations(self, answer: Answer) -> int:
        """See `Contender.iterations`."""
        return answer.iterations
