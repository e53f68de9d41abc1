"""The Jacobian of a solver's goals, in plain units, for lessons, analysis and custom controllers.

A solve weights and scales its rows and steps; here nothing is weighted. Rows and columns have names.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import DTypeLike

from viewer.ik.assemble import assemble, dof_table_of
from viewer.ik.buffers import Buffers
from viewer.ik.findings import labels
from viewer.ik.goals import KINDS, Goal
from viewer.ik.numpy_engine import linearise
from viewer.notebook import table
from viewer.skeleton import JointKind, Pose, Skeleton, fk
from viewer.skeleton.dofs import coordinates, dofs_of, pose_at
from viewer.spatial.checks import Floats

_STEP = 1e-6
"""Radians or metres of the differences that function goals are differentiated by."""


@dataclass(frozen=True, slots=True, eq=False)
class Jacobian:
    """How the goals' residuals change with the coordinates; ``numpy.asarray`` of it is ``matrix``.

    Attributes:
        matrix: (R, D) metres or radians per radian or metre: a small change ``dq`` of `viewer.coordinates` changes
            ``residuals`` by ``-matrix @ dq``. Columns of joints that move no goal are zero.
        residuals: (R,) target minus current, metres and radians.
        rows: (R,) a name each: the goal's and what it measures, such as "LeftHand.x"; "rx" is of a rotation vector.
        dofs: (D,) a name each, as `Skeleton.dof_names` has them.
    """

    matrix: Floats
    residuals: Floats
    rows: tuple[str, ...]
    dofs: tuple[str, ...]

    def __repr__(self) -> str:
        return f"<Jacobian: {len(self.rows)} rows, {len(self.dofs)} degrees of freedom>"

    def _repr_html_(self) -> str:
        """The table that notebooks show: a row for each residual, a column for each freedom that changes any."""
        moving = np.flatnonzero(np.abs(self.matrix).max(axis=0, initial=0.0) > 0.0)
        rows = dict(zip(self.rows, self.matrix[:, moving].tolist(), strict=True))
        values = ", ".join(f"{value:.3g}" for value in self.singular_values.tolist())
        words = f"rank {self.rank}, condition {self.condition:.3g}, manipulability {self.manipulability:.3g}"
        return f"{table([self.dofs[k] for k in moving], rows)}<p>{words}; singular values {values}</p>"

    @property
    def singular_values(self) -> Floats:
        """(min(R, D),) how strongly the residuals follow the coordinates, by direction, largest first."""
        return np.asarray(np.linalg.svd(self.matrix, compute_uv=False))

    @property
    def rank(self) -> int:
        """Independent directions in which the coordinates can change the residuals."""
        return int(np.linalg.matrix_rank(self.matrix))

    @property
    def condition(self) -> float:
        """The largest singular value over the smallest: infinite at a singular pose."""
        values = self.singular_values
        return float(values[0] / values[-1]) if values.size and values[-1] > 0.0 else math.inf

    @property
    def manipulability(self) -> float:
        """sqrt(det(J J^T)), the product of the singular values; 0 at a singular pose (Yoshikawa 1985).

        With more rows than freedoms it is sqrt(det(J^T J)), which of two links in a plane is l1 l2 |sin q2|.
        """
        return float(np.prod(self.singular_values)) if self.singular_values.size else 0.0

    def places(self) -> dict[str, slice]:
        """The three rows x, y, z of each goal with a position, by the goal's name."""
        found = {}
        for row, name in enumerate(self.rows):
            goal, _, part = name.rpartition(".")
            if part == "x" and self.rows[row + 1 : row + 3] == (f"{goal}.y", f"{goal}.z"):
                found[goal] = slice(row, row + 3)
        return found

    def ellipsoid(self, rows: slice) -> tuple[Floats, Floats]:
        """The manipulability ellipsoid of three rows: directions (3, 3), a row each, and half axes (3,), longest first.

        An effector moves within it while the coordinates change by a vector of length 1 (Yoshikawa, "Manipulability of
        robotic mechanisms", Int. J. Robotics Research 4(2), 1985). Of fewer than three coordinates it is flat.
        """
        part = self.matrix[rows]
        part = np.pad(part, ((0, 0), (0, max(0, 3 - part.shape[1]))))
        u, sizes, _ = np.linalg.svd(part, full_matrices=False)
        return u.T, sizes

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Floats:
        return np.array(self.matrix, dtype=dtype) if copy else np.asarray(self.matrix, dtype=dtype)


def jacobian_of(
    skeleton: Skeleton,
    goals: Sequence[Goal],
    pose: Pose,
    targets: tuple[Floats, Floats],
    *,
    limits: bool,
    root: str,
) -> Jacobian:
    """The Jacobian at a pose, which is brought inside its limits first if these bind.

    ``targets`` (G, 3) and (G, 4) of all goals are settled at the pose; ``limits``: whether joint limits bind; ``root``:
    what free roots may do.
    """
    # Without priors, and with dofs in the form of the limits, the system's coordinates are those of the skeleton.
    dofs = dof_table_of(skeleton, np.ones((len(skeleton), 3)), limits=True, root=root)
    assembly = assemble(dofs, goals, (1.0, 1.0))
    if not limits:
        open_ends = np.full(len(assembly.system.lower), np.inf)
        system = assembly.system._replace(lower=-open_ends, upper=open_ends, bounded=np.isfinite(open_ends))
        assembly = replace(assembly, system=system)
    buffers = Buffers(skeleton, assembly)
    system = buffers.system
    for scale in (system.goal_weight, system.goal_rotation_weight, system.spread):
        scale[:] = 1.0
    buffers.aim_at(*targets)
    buffers.go_back(pose)
    here = buffers.pose(pose)
    linearise(system, buffers.work, buffers.state.x)
    own = len(buffers.state.e)
    rows = np.zeros((own, len(skeleton.dof_names)))
    values = coordinates(skeleton, here)
    for k, joint in enumerate(buffers.joints.tolist()):
        part = slice(system.first[k], system.first[k + 1])
        place = dofs_of(skeleton).first[joint] + np.arange(part.stop - part.start)
        if skeleton.kinds[joint] is JointKind.BALL:  # the system has the angles of a ball in the order of its limits
            place = dofs_of(skeleton).first[joint] + system.order[k]
        rows[:, place] = _columns(buffers.work.jacobian[part, :own].T, skeleton, joint, values)
    matrices, residuals, names = [], [], []
    starts = [*system.goal_row.tolist(), own]
    first = {int(goal): (starts[g], starts[g + 1]) for g, goal in enumerate(buffers.goals.tolist())}
    for number, (goal, label) in enumerate(zip(goals, labels(goals), strict=True)):
        if not goal.enabled:
            continue
        if goal.residuals is not None:
            matrix, residual = _by_differences(skeleton, goal, values, here)
            suffixes = tuple(str(i) for i in range(len(residual)))
        else:
            start, end = first[number]
            matrix, residual = rows[start:end], buffers.state.e[start:end].copy()
            suffixes = KINDS[goal.kind].row_names
        matrices.append(matrix)
        residuals.append(residual)
        names += [f"{label}.{suffix}" for suffix in suffixes]
    return Jacobian(np.concatenate(matrices), np.concatenate(residuals), tuple(names), skeleton.dof_names)


def _columns(columns: Floats, skeleton: Skeleton, joint: int, values: Floats) -> Floats:
    """Columns of a joint; where the system turns a joint about its own axes, those of its rotation vector."""
    dofs = dofs_of(skeleton)
    found = np.flatnonzero(dofs.turned == joint)
    if not found.size or columns.shape[1] < 3:
        return columns
    v = values[dofs.vector[found[0]]]
    return np.concatenate([columns[:, :-3], columns[:, -3:] @ _right_jacobian(v)], axis=1)


def _right_jacobian(v: Floats) -> Floats:
    """(3, 3) the angular velocity, in the turned frame, per change of the rotation vector v (3,)."""
    angle = float(np.linalg.norm(v))
    x, y, z = v
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    if angle < 1e-4:  # the quotients below lose their digits
        return np.asarray(np.eye(3) - 0.5 * cross + cross @ cross / 6.0)
    first, second = (1.0 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.asarray(np.eye(3) - first * cross + second * cross @ cross)


def _by_differences(skeleton: Skeleton, goal: Goal, values: Floats, base: Pose) -> tuple[Floats, Floats]:
    """Rows (k, D) of a function goal, and its residuals: zero minus its values."""

    def value(q: Floats) -> Floats:
        assert goal.residuals is not None
        world = fk(skeleton, pose_at(skeleton, q, base))
        return np.atleast_1d(np.asarray(goal.residuals(world), dtype=np.float64)).ravel()

    steps = _STEP * np.eye(len(values))
    columns = [(value(values + step) - value(values - step)) / (2.0 * _STEP) for step in steps]
    return np.stack(columns, axis=1), -value(values)
