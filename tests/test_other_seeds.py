"""A goal that all restarts miss is searched for from other seeds before it is called unreachable."""

from __future__ import annotations

import math

import numpy as np
import pytest
from inside.ik import Backend

import viewer
from viewer import Goal, Solver, Status

PLACE = np.array([[0.0837, -0.1454, 0.8324]])
TURN = np.array([[-0.1053, -0.16907, -0.51511, -0.83366]])
TURN /= np.linalg.norm(TURN)
"""Of the tool: few of the arm's branches lead there."""


def arm() -> viewer.Skeleton:
    """Six hinges without limits, of no family that is solved in closed form: the third leans away from the second."""
    builder = viewer.Builder(name="arm")
    builder.add("base", None, (0, 0, 0), kind="fixed")
    above, x, y = "base", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    leaning = (math.cos(0.1), 0.0, math.sin(0.1))
    joints = (
        ((0.0, 0.1, 0.0), y), ((0.14, 0.0, 0.0), x), ((-0.12, 0.43, 0.0), leaning), ((0.0, 0.39, 0.0), x),
        ((0.09, 0.0, 0.0), y), ((0.0, 0.09, 0.0), x),
    )  # fmt: skip
    for number, (offset, axis) in enumerate(joints):
        builder.add(f"j{number}", above, offset, kind="hinge", axis=axis)
        above = f"j{number}"
    builder.effector("tool", above, (0.08, 0.0, 0.0))
    return builder.skeleton


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_what_can_be_met_is_not_called_unreachable(backend: Backend) -> None:
    skeleton = arm()
    solver = Solver(skeleton, [Goal.pose("tool", (0, 0, 0), (0, 0, 0, 1))], backend=backend)
    start = skeleton.rest_pose()
    solution = solver.solve(start, PLACE, TURN)
    assert solution.status is Status.CONVERGED
    assert solution.iterations > solver.options.max_iterations
    world = viewer.fk(skeleton, solution.pose)
    tool = world.point(skeleton.index("j5"), np.array((0.08, 0.0, 0.0)))
    assert np.linalg.norm(tool - PLACE[0]) < 1e-3
    batch = solver.solve_batch(start, np.stack([PLACE] * 3), np.stack([TURN] * 3))
    for i in range(3):
        assert batch.status[i] is Status.CONVERGED
        assert batch.iterations[i] == solution.iterations
        np.testing.assert_array_equal(batch.rotations[i], solution.pose.rotations)


def limited_arm() -> viewer.Skeleton:
    """Seven hinges of 1.2 radians to both sides."""
    builder = viewer.Builder(name="arm")
    builder.add("base", None, (0, 0, 0), kind="fixed")
    above, places = "base", ((0, 0.1), (0, 0.2), (0, 0.2), (0.08, 0.2), (-0.08, 0.2), (0, 0.2), (0.09, 0))
    for number, (x, y) in enumerate(places):
        axis = (1.0, 0.0, 0.0) if number % 2 else (0.0, 1.0, 0.0)
        builder.add(f"j{number}", above, (x, y, 0), kind="hinge", axis=axis, limits=(-1.2, 1.2))
        above = f"j{number}"
    builder.effector("tool", above, (0.05, 0, 0))
    return builder.skeleton


def test_limited_arm_with_a_freedom_left_meets_every_pose_inside_its_limits() -> None:
    skeleton = limited_arm()
    start, random = skeleton.rest_pose(), np.random.default_rng(5)
    solver = Solver(skeleton, [Goal.pose("tool", (0, 0, 0), (0, 0, 0, 1))], backend="numba")
    places, turns = [], []
    for _ in range(150):
        rotations = start.rotations.copy()
        for joint, angle in enumerate(random.uniform(-1.2, 1.2, 7), 1):
            axis = (0.0, 1.0) if joint % 2 else (1.0, 0.0)
            rotations[joint] = [*(np.sin(angle / 2) * np.array((*axis, 0.0))), np.cos(angle / 2)]
        world = viewer.fk(skeleton, viewer.Pose(rotations, start.translations))
        places.append(world.point(7, np.array((0.05, 0.0, 0.0)))[None])
        turns.append(world.rotations[7][None])
    found = [solver.solve(start, *one).status for one in zip(places, turns, strict=True)]
    assert set(found) == {Status.CONVERGED}
    assert set(solver.solve_batch(start, np.stack(places), np.stack(turns)).status) == {Status.CONVERGED}


def test_what_geometry_excludes_is_not_searched_for() -> None:
    skeleton = arm()
    solution = Solver(skeleton, [Goal.pose("tool", (2.0, 0.0, 0.0), (0, 0, 0, 1))]).solve(skeleton.rest_pose())
    assert solution.status is Status.UNREACHABLE
    assert solution.iterations <= 200
