"""Threads that share a solver: each gets what it would get alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from inside.ik import Backend

import viewer
from viewer import Goal, Solver


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("exact", [False, True])
def test_threads_that_share_a_solver_get_the_bits_of_one(backend: Backend, exact: bool) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    biped = viewer.load("sample:biped").skeleton
    start = biped.relaxed_pose()
    solver = Solver(biped, [Goal.position("LeftHand", (0, 0, 0)), Goal.pin("RightFoot")], backend=backend, exact=exact)
    targets = np.full((8, 2, 3), np.nan)
    targets[:, 0] = (0.4, 1.2, 0.3) + np.random.default_rng(0).normal(size=(8, 3)) * 0.2

    def answer(i: int) -> tuple[bytes, str, int]:
        solution = solver.solve(start, targets[i % 8])
        return solution.pose.rotations.tobytes(), solution.status, solution.iterations

    alone = [answer(i) for i in range(8)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(answer, range(64))) == alone * 8


def test_a_function_goal_may_ask_its_own_solver() -> None:
    biped = viewer.load("sample:biped").skeleton
    asked: list[int] = []

    def f(world: viewer.World) -> list[float]:
        asked.append(len(solver.goals))
        solver.drag(biped.rest_pose())
        return [float(world.positions[0, 1]) - 1.0]

    solver = Solver(biped, [Goal.function(f)], max_iterations=2, backend="numpy")
    solver.solve(biped.relaxed_pose())
    assert set(asked) == {1}
