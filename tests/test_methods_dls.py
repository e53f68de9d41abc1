"""Damped least squares by name: on both backends, in batches and drags; numeric rows and part steps."""

from __future__ import annotations

import numpy as np
import pytest
from inside.ik import Backend, MethodName, Tuning
from method_cases import planar

import viewer
from viewer import Goal, Solver, Status


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_damped_least_squares_is_served_by_every_backend(backend: Backend) -> None:
    if backend == "numba":
        pytest.importorskip("numba")
    biped = viewer.load("sample:biped").skeleton
    start, goals = biped.relaxed_pose(), [Goal.position("RightHand", (-0.3, 1.6, 0.2)), Goal.pin("LeftFoot")]
    solver = Solver(biped, goals, method="dls", backend=backend)
    solution = solver.solve(start)
    assert (solution.status, solution.backend) == (Status.CONVERGED, backend)
    assert solver.drag(start).move().backend == backend
    assert solver.solve_batch(start).pose(0).same_as(solution.pose)
    # The same equations with rows taken by differences, which only numpy does.
    numeric = Solver(biped, goals, method="dls", backend=backend, tuning=Tuning(numeric=True)).solve(start)
    assert numeric.backend == "numpy"
    np.testing.assert_allclose(numeric.pose.rotations, solution.pose.rotations, atol=1e-7)


@pytest.mark.parametrize("method", ["default", "dls"])
def test_numeric_rows_and_part_steps_are_for_the_default_too(method: MethodName) -> None:
    arm = planar(3, 120.0)
    goals = [Goal.position("j2.tip", (1.2, 1.4, 0.0))]

    def solved(tuning: Tuning) -> viewer.Solution:
        return Solver(arm, goals, method=method, backend="numpy", tuning=tuning).solve(arm.rest_pose())

    plain, numeric, small = (solved(tuning) for tuning in (Tuning(), Tuning(numeric=True), Tuning(step=0.2)))
    assert plain.status is numeric.status is small.status is Status.CONVERGED
    assert not numeric.pose.same_as(plain.pose)
    np.testing.assert_allclose(numeric.pose.rotations, plain.pose.rotations, atol=1e-6)
    assert small.iterations > 2 * plain.iterations
