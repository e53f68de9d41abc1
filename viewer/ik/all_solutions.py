"""All poses that meet goals which leave no degree of freedom: elbow up and down, or the eight poses of a six-axis arm.

Six-axis arms of two families have closed forms (`viewer.ik.kernels.six_axes`), which give all of them. For all other
figures, solves from many random starts find them; two that differ by less than a tolerance count as one. The list may
then be incomplete: the search ends after a run of starts without a new pose. Goals that share no joint, such as those
of two arms, are searched separately, and their poses are combined.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from viewer.errors import InputError
from viewer.ik.arm_steps import is_arm, join_bones, put_arm
from viewer.ik.buffers import Buffers
from viewer.ik.goals import Goal
from viewer.ik.kernels.six_axes import WAYS, has_closed_form, nearest_turns, put_ways
from viewer.ik.solution import Solution, Status
from viewer.ik.solver import Solver
from viewer.ik.solver_options import keywords_of
from viewer.ik.system import copy_state
from viewer.skeleton import JointKind, Pose, fk
from viewer.skeleton.character import check_pose, wrong_kind
from viewer.skeleton.dofs import coordinate_limits, coordinates, dofs_of, pose_at
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import angle_between

MOST_STARTS, PATIENCE = 512, 96
"""Solves at most; solves in a row without a new pose that end the search."""
MOST_TOGETHER = 4096
"""Poses of several arms together."""
_CLOSE_M, _CLOSE_DEG = 1e-6, 1e-4
"""Tolerances of the solves."""
_APART = math.radians(0.5)
"""Poses are different if a joint differs by more."""
_SUNK = 1e-3
"""Metres below the floor from which a joint counts as below it."""
_NOTHING, _RANK = 1e-9, 1e-6


def all_solutions(solver: Solver, pose: Pose, *, starts: int = MOST_STARTS) -> tuple[Solution, ...]:
    """The poses that meet a solver's goals, the nearest to ``pose`` first; empty if none was found.

    Poses with a joint below the floor, and lower than any is in ``pose``, come after the others.

    Joints that move no goal stay as in ``pose``. Where an arm with a closed form is singular, such as with a straight
    wrist, infinitely many poses differ only by a turn that the goals leave free; the nearest one represents them. The
    same arguments give the same poses.

    Args:
        solver: with its goals, limits, root mode and seed; its method and its preferences have no effect.
        pose: where the search begins.
        starts: solves at most, where there is no closed form.

    Raises:
        InputError: infinitely many poses meet the goals, because degrees of freedom are left; or too many; as
            `Solver.solve`.
    """
    if not isinstance(solver, Solver):
        raise wrong_kind(solver, "a solver")
    check_pose(pose)
    options = replace(
        solver.options, method="default", restarts=False, natural=False, preferred=None, exact=False,
        tolerance_m=_CLOSE_M, tolerance_deg=_CLOSE_DEG,
    )  # fmt: skip
    inner = Solver(solver.skeleton, solver.goals, **keywords_of(options))
    groups = _groups(inner, pose)
    if len(groups) < 2:
        found = _of_one(inner, pose, starts)
    else:
        found = _together(inner, [(moving, _of_one(one, pose, starts)) for moving, one in groups], pose)
    lowest = min(_height(solver, pose), options.floor) - _SUNK
    return tuple(sorted(found, key=lambda one: (_height(solver, one.pose) < lowest, _distance(pose, one.pose))))


def _groups(solver: Solver, pose: Pose) -> list[tuple[Bools, Solver]]:
    """For each group of goals that shares no degrees of freedom with others: (D,) those that move it, and a solver."""
    skeleton, options = solver.skeleton, solver.options
    if len(solver.goals) < 2 or skeleton.loops or options.contact is not None:
        return []
    values, (lower, upper) = coordinates(skeleton, pose), _ranges(solver)
    found: list[tuple[Bools, list[Goal]]] = []
    for goal in (goal for goal in solver.goals if goal.enabled):
        moving = _moving(Solver(skeleton, (goal,), **keywords_of(options)), pose, values, lower, upper)
        shared = [group for group in found if (group[0] & moving).any()]
        found = [group for group in found if not (group[0] & moving).any()]
        for one, _ in shared:
            moving = moving | one
        found.append((moving, [*(goal for _, goals in shared for goal in goals), goal]))
    if any(not moving.any() for moving, _ in found):
        return []
    return [(moving, Solver(skeleton, goals, **keywords_of(options))) for moving, goals in found]


def _together(solver: Solver, parts: list[tuple[Bools, list[Solution]]], pose: Pose) -> list[Solution]:
    """Combine every pose of each group with every pose of the other groups."""
    count = math.prod(len(solutions) for _, solutions in parts)
    if count > MOST_TOGETHER:
        raise InputError(f"{count} poses meet the goals, expected {MOST_TOGETHER} or fewer: leave out those of an arm")
    skeleton, found = solver.skeleton, list[Solution]()
    places = [[coordinates(skeleton, one.pose) for one in solutions] for _, solutions in parts]
    for chosen in itertools.product(*places):
        values = coordinates(skeleton, pose)
        for (moving, _), own in zip(parts, chosen, strict=True):
            values = np.where(moving, own, values)
        solution = solver.solve(pose_at(skeleton, values, pose))
        if solution.status is Status.CONVERGED:
            found.append(solution)
    return found


def _of_one(inner: Solver, pose: Pose, starts: int) -> list[Solution]:
    """The poses of goals that depend on each other; arguments and errors are those of `all_solutions`."""
    skeleton = inner.skeleton
    values = coordinates(skeleton, pose)
    lower, upper = _ranges(inner)
    moving = _moving(inner, pose, values, lower, upper)
    ways = _closed_form(inner, pose)
    found: list[Solution] = []
    vain, most = 0, min(PATIENCE, starts // 2) if ways is None else WAYS
    begun = _drawn(inner, pose, moving, (lower, upper), starts) if ways is None else iter(ways)
    for start in begun:
        solution = inner.solve(start)
        vain += 1
        if solution.status is not Status.CONVERGED or any(_same(solution.pose, one.pose) for one in found):
            if vain > most:
                break
            continue
        if not found and ways is None:
            _check_left(inner, solution.pose, moving)
        found.append(solution)
        vain = 0
    return found


def _drawn(solver: Solver, pose: Pose, moving: Bools, ranges: tuple[Floats, Floats], count: int) -> Iterator[Pose]:
    """Yield poses to start from: the one given, then random ones."""
    values, random = coordinates(solver.skeleton, pose), np.random.default_rng(solver.options.seed)
    lower, upper = ranges
    for number in range(count):
        drawn = np.where(moving, lower + random.random(len(values)) * (upper - lower), values)
        yield pose if number == 0 else pose_at(solver.skeleton, drawn, pose)


def _closed_form(solver: Solver, pose: Pose) -> list[Pose] | None:
    """The poses of a closed form inside the limits, each joint turned as near to that of a pose as can be; or None."""
    prepared = solver.prepared
    buffers = Buffers(prepared.skeleton, prepared.assembly)
    system, work, state = buffers.system, buffers.work, buffers.state
    if not prepared.built_in or not is_arm(system):
        return None
    buffers.aim_at(*prepared.targets.settle(pose, None, None))
    buffers.pose_at(pose.rotations, pose.translations)
    buffers.begin()
    start = work.start
    copy_state(state, start)
    join_bones(system, work)
    if not has_closed_form(system, work):
        return None
    found = list[Pose]()
    for way in work.ways[: put_ways(system, work, start.x)]:
        if nearest_turns(system, start.x, way) < math.inf:
            state.x[:] = way
            put_arm(system, work, state)
            found.append(buffers.pose(pose))
    return found


def _ranges(solver: Solver) -> tuple[Floats, Floats]:
    """The lowest and highest values (D,) to start from: a whole turn, or the reach, where there is no limit."""
    skeleton = solver.skeleton
    lower, upper = coordinate_limits(skeleton)
    if not solver.options.limits:
        lower, upper = np.full_like(lower, -np.inf), np.full_like(upper, np.inf)
    reach = float(np.linalg.norm(skeleton.offsets, axis=1).sum())
    moved = dofs_of(skeleton)
    lengths = np.zeros(len(lower), dtype=np.bool_)
    lengths[moved.position] = True
    lengths[moved.first[:-1][skeleton.of_kind(JointKind.SLIDE)]] = True
    most = np.where(lengths, reach, math.pi)
    return np.maximum(lower, -most), np.minimum(upper, most)


def _moving(solver: Solver, pose: Pose, values: Floats, lower: Floats, upper: Floats) -> Bools:
    """(D,) which degrees of freedom move any goal, in a pose or in one beside it."""
    middle = np.where(upper > lower, 0.37 * lower + 0.63 * upper, values)
    poses = (pose, pose_at(solver.skeleton, middle, pose))
    largest = [np.abs(solver.jacobian(one).matrix).max(axis=0, initial=0.0) for one in poses]
    return np.asarray(np.maximum(*largest) > _NOTHING)


def _check_left(solver: Solver, pose: Pose, moving: Bools) -> None:
    """Raise InputError if the goals leave degrees of freedom at a pose that meets them."""
    sizes = np.linalg.svd(solver.jacobian(pose).matrix[:, moving], compute_uv=False)
    count = int(np.count_nonzero(moving))
    rank = int(np.count_nonzero(sizes > _RANK * sizes.max(initial=1.0)))
    if rank < count:
        raise InputError(
            f"infinitely many poses meet the goals: they leave {count - rank} of {count} degrees of freedom"
        )


def _same(one: Pose, other: Pose) -> bool:
    turned = float(angle_between(one.rotations, other.rotations).max(initial=0.0))
    return turned < _APART and bool(np.allclose(one.translations, other.translations, atol=1e-4))


def _height(solver: Solver, pose: Pose) -> float:
    """Metres: how high the lowest joint is."""
    return float(fk(solver.skeleton, pose).positions[:, 1].min())


def _distance(one: Pose, other: Pose) -> float:
    return float(angle_between(one.rotations, other.rotations).sum())
