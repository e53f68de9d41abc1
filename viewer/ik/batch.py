"""Many solves of one skeleton at once, on all cores."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError
from viewer.ik.solution import STATUS_OF_CODE, Status
from viewer.ik.system import Many
from viewer.ik.targets import unit_rows
from viewer.ik.workspace import Workspace, spread_misses
from viewer.skeleton.pose import Pose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from viewer.ik.assemble import Assembly
    from viewer.ik.backends import Engine
    from viewer.ik.reach import Reach
    from viewer.ik.system import Settings
    from viewer.ik.targets import Targets
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats, Ints

_CHUNK = 100
"""Problems that a thread takes at a time."""


@dataclass(frozen=True, slots=True, eq=False)
class BatchSolution:
    """What N solves report; see `Solution`.

    Attributes:
        rotations: (N, J, 4) local.
        translations: (N, J, 3) local, metres.
        status: (N,) `Status` of each.
        errors_m: (N, G) NaN where a goal asks for no place.
        errors_deg: (N, G) NaN where it asks for no turn.
        iterations: (N,).
    """

    rotations: Floats
    translations: Floats
    status: tuple[Status, ...]
    errors_m: Floats
    errors_deg: Floats
    iterations: Ints

    def pose(self, index: int) -> Pose:
        """The pose of one problem."""
        return Pose(self.rotations[index], self.translations[index])


def stacked(poses: Sequence[Pose] | Pose, count: int | None) -> tuple[Floats, Floats]:
    """Start poses as (N, J, 4) and (N, J, 3); one pose stands for all ``count`` of them.

    Raises:
        InputError: another number of poses than of targets, or no poses.
    """
    if isinstance(poses, Pose):
        number = 1 if count is None else count
        return (
            np.repeat(poses.rotations[None], number, axis=0),
            np.repeat(poses.translations[None], number, axis=0),
        )
    if not poses or (count is not None and len(poses) != count):
        raise InputError(f"solve_batch: expected one pose or {count or 'some'}, found {len(poses)}")
    return np.stack([pose.rotations for pose in poses]), np.stack([pose.translations for pose in poses])


def batch_targets(
    targets: Targets, poses: Sequence[Pose] | Pose, given: ArrayLike | None, turns: ArrayLike | None
) -> tuple[Floats, Floats]:
    """Settled targets (N, G, 3) and (N, G, 4) of all problems; see `Targets.settle` for one."""
    places = None if given is None else np.asarray(given, dtype=np.float64)
    rotations = None if turns is None else np.asarray(turns, dtype=np.float64)
    sizes = {len(array) for array in (places, rotations) if array is not None and array.ndim == 3}
    if not isinstance(poses, Pose):
        sizes.add(len(poses))
    if len(sizes) > 1:
        raise InputError(f"solve_batch: expected as many poses as rows of targets, found {sorted(sizes)}")
    count = sizes.pop() if sizes else 1
    starts = [poses] * count if isinstance(poses, Pose) else poses
    if targets.open or places is None or np.isnan(places).any() or rotations is not None:
        settled = [
            targets.settle(start, None if places is None else places[i], None if rotations is None else rotations[i])
            for i, start in enumerate(starts)
        ]
        return np.stack([place for place, _ in settled]), np.stack([turn for _, turn in settled])
    # Nothing open and plain places: settle them at once. The first row stands for the checks of shape.
    targets.settle(starts[0], places[0], None)
    if np.isinf(places).any():
        raise InputError("targets: expected finite numbers (or NaN: leave it), found infinity")
    whole = np.where(targets.has_place[None, :, None], places, targets.places[None])
    return whole, np.repeat(unit_rows(targets.turns)[None], count, axis=0)


class BatchRun:
    """One batch: threads take chunks of problems, each with arrays of its own."""

    def __init__(
        self, skeleton: Skeleton, assembly: Assembly, engine: Engine, settings: Settings, reach: Reach
    ) -> None:
        """Remember what all problems share."""
        self.skeleton, self.assembly, self.engine, self.settings, self.reach = (
            skeleton,
            assembly,
            engine,
            settings,
            reach,
        )

    def solve(
        self, rotations: Floats, translations: Floats, places: Floats, turns: Floats, *, threads: int | None = None
    ) -> BatchSolution:
        """Solve all; the arrays of poses are overwritten by the answers."""
        count = len(rotations)
        joints, goals = self.assembly.joints, self.assembly.goals
        many = Many(
            q=np.ascontiguousarray(rotations[:, joints]),
            t=np.ascontiguousarray(translations[:, joints]),
            target=np.ascontiguousarray(places[:, goals]),
            rotation=np.ascontiguousarray(turns[:, goals]),
            miss=np.zeros((count, len(goals), 2)),
            code=np.zeros(count, dtype=np.int64),
            iterations=np.zeros(count, dtype=np.int64),
        )
        chunks = [slice(first, first + _CHUNK) for first in range(0, count, _CHUNK)]
        workers = min(threads or os.cpu_count() or 1, len(chunks))
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(lambda chunk: self._chunk(many, chunk), chunks))
        rotations[:, joints], translations[:, joints] = many.q, many.t
        return self._report(rotations, translations, many, places.shape[1])

    def _chunk(self, many: Many, chunk: slice) -> None:
        space = Workspace(self.skeleton, self.assembly)
        part = many._replace(**{name: array[chunk] for name, array in many._asdict().items()})
        states = (space.state, space.trial, space.best, space.anchor)
        self.engine.solve_many(space.system, space.work, *states, self.settings, part)

    def _status(self, many: Many, i: int) -> Status:
        """As `Solver.solve` has it: what is out of reach by geometry is called so."""
        status = STATUS_OF_CODE[int(many.code[i])]
        if status is not Status.CONVERGED:
            system = self.assembly.system._replace(goal_target=many.target[i], goal_rotation=many.rotation[i])
            if self.reach.out_of_reach(system, many.q[i], many.t[i]):
                return Status.UNREACHABLE
        return status

    def _report(self, rotations: Floats, translations: Floats, many: Many, goals: int) -> BatchSolution:
        errors_m, errors_deg = spread_misses(self.assembly.system, self.assembly.goals, goals, many.miss)
        return BatchSolution(
            rotations=rotations,
            translations=translations,
            status=tuple(self._status(many, i) for i in range(len(many.code))),
            errors_m=errors_m,
            errors_deg=errors_deg,
            iterations=many.iterations,
        )
