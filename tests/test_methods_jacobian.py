"""Transpose, pseudo-inverse and damped least squares: each one's formula against an independent computation.

Damped least squares by name: on both backends, in batches and drags; numeric rows and part steps.

Selectively damped least squares: the rules of Buss and Kim's paper.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import Backend, MethodName, Tuning, least_squares_step, optimal_step, selectively_damped_step
from inside.spatial import IDENTITY
from method_cases import Case, arm, bend, jacobian_of, planar, rig, step_of

import viewer
from viewer import Solver, Status
from viewer.ik import Goal
from viewer.skeleton import JointKind

if TYPE_CHECKING:
    from inside.spatial import Floats, Ints


def test_transpose_takes_the_optimal_step() -> None:
    case = arm((2.0, 2.5, 0.0))
    jacobian, e = jacobian_of(case)
    response = jacobian @ jacobian.T @ e
    alpha = (e @ response) / (response @ response)
    np.testing.assert_allclose(step_of(case, "transpose"), alpha * jacobian.T @ e, atol=1e-12)
    # No other step along J^T e leaves less of the linear error.
    left = [np.linalg.norm(e - factor * alpha * response) for factor in (0.9, 1.0, 1.1)]
    assert left[1] == min(left)


def test_optimal_step_of_no_direction_is_none() -> None:
    assert optimal_step(np.zeros((4, 3)), np.ones(3)) == 0.0


def test_transpose_never_makes_it_worse() -> None:
    random = np.random.default_rng(0)
    for _ in range(20):
        case = arm((*random.uniform(-4.0, 4.0, size=2), 0.0), start=random.uniform(-1.0, 1.0))
        errors = [case.solve("transpose", max_iterations=1)[2] for _ in range(30)]
        assert (np.diff(errors) <= 1e-15).all()


def test_small_transpose_steps_need_no_guard() -> None:
    random = np.random.default_rng(1)
    for _ in range(20):
        case = arm((*random.uniform(-3.0, 3.0, size=2), 0.0), start=random.uniform(-1.0, 1.0))
        tuning = Tuning(step=1e-3, guarded=False)
        errors = [case.solve("transpose", tuning, max_iterations=1)[2] for _ in range(5)]
        assert (np.diff(errors) <= 0.0).all()


def test_pseudo_inverse_is_numpys_where_well_conditioned() -> None:
    case = arm((1.9, 2.6, 0.0), start=0.5)
    jacobian, e = jacobian_of(case)
    np.testing.assert_allclose(step_of(case, "pseudo-inverse"), np.linalg.pinv(jacobian) @ e, atol=1e-12)


def test_truncation_leaves_out_small_singular_values() -> None:
    random = np.random.default_rng(2)
    u, _ = np.linalg.qr(random.normal(size=(3, 3)))
    v, _ = np.linalg.qr(random.normal(size=(5, 3)))
    jacobian, e = u @ np.diag([2.0, 1.0, 1e-5]) @ v.T, random.normal(size=3)
    for truncation, kept in ((0.0, 3), (1e-3, 2), (0.6, 1)):
        expected = sum(v[:, i] * (u[:, i] @ e) / (2.0, 1.0, 1e-5)[i] for i in range(kept))
        np.testing.assert_allclose(least_squares_step(jacobian.T, e, truncation), expected, rtol=1e-6)
    assert not least_squares_step(np.zeros((5, 3)), e, 0.0).any()


def test_trouble_of_the_pseudo_inverse_at_a_singular_pose_can_be_seen() -> None:
    """Nearly straight, and pulled inwards: without truncation the arm jerks as far as the step cap lets it."""
    steps = {}
    for truncation in (0.0, 1e-2):
        case = arm((3.9, 0.0, 0.0), start=1e-4)
        tuning = Tuning(truncation=truncation, guarded=False)
        steps[truncation] = np.abs(step_of(case, "pseudo-inverse", tuning)).max()
    assert steps[0.0] > 0.5
    assert steps[1e-2] < 1e-3
    # Given back is the best pose, unless the method is asked for in the raw.
    case = arm((3.9, 0.0, 0.0), start=1e-4)
    assert not step_of(case, "pseudo-inverse", Tuning(truncation=0.0)).any()


@pytest.mark.parametrize("damping", [0.05, 0.3, 2.0])
def test_dls_solves_the_damped_normal_equations(damping: float) -> None:
    case = arm((2.0, 2.5, 0.0), start=0.4)
    jacobian, e = jacobian_of(case)
    step = step_of(case, "dls", Tuning(damping=damping))
    # (J^T J + lambda^2 I) dx = J^T e: the other side of the equation that the method solves.
    left = jacobian.T @ jacobian + damping**2 * np.eye(4)
    np.testing.assert_allclose(left @ step, jacobian.T @ e, atol=1e-9)


def test_dls_is_the_minimum_of_error_and_step() -> None:
    case = arm((2.0, 2.5, 0.0), start=0.4)
    jacobian, e = jacobian_of(case)
    step = step_of(case, "dls", Tuning(damping=0.5))

    def cost(dx: Floats) -> float:
        return float(np.sum((e - jacobian @ dx) ** 2) + 0.25 * np.sum(dx**2))

    random = np.random.default_rng(3)
    assert all(cost(step) <= cost(step + 1e-3 * random.normal(size=4)) for _ in range(50))


def test_automatic_damping_is_strong_far_away_and_weak_near() -> None:
    """Far away a step is shorter than the undamped one, near by it is nearly that."""
    ratios = []
    for away in (1.0, 1e-2):
        case = arm((0.0, 0.0, 0.0), start=0.5)
        case.system.goal_target[0] = case.tip() + away * np.array([-0.5, 0.8, 0.0])
        jacobian, e = jacobian_of(case)
        full = np.linalg.norm(np.linalg.pinv(jacobian) @ e)
        ratios.append(np.linalg.norm(step_of(case, "dls")) / full)
    assert ratios[0] < ratios[1] < 1.0
    assert 1.0 - ratios[1] < 0.01 * (1.0 - ratios[0])


def test_weights_and_stiffness_scale_rows_and_columns() -> None:
    """A step is S J^T (J J^T + lambda^2 I)^-1 e, with J scaled by weights and 1 - stiffness."""
    stiffness = np.array([0.0, 0.5, 0.25, 0.0])
    axes = np.zeros((4, 2, 3))
    axes[:, 0, 2] = 1.0
    offsets = [(0.0, 0.0, 0.0), *[(1.0, 0.0, 0.0)] * 3]
    skeleton = rig(range(-1, 3), offsets, [JointKind.HINGE] * 4, axes=axes, stiffness=stiffness)
    case = Case(skeleton, [Goal.position("j3.tip", (2.0, 2.5, 0.0), weight=3.0)])
    bend(case, 0.4)
    jacobian, e = jacobian_of(case)
    scaled, s = 3.0 * jacobian * (1.0 - stiffness), 1.0 - stiffness
    expected = s * (scaled.T @ np.linalg.solve(scaled @ scaled.T + 0.09 * np.eye(3), 3.0 * e))
    np.testing.assert_allclose(step_of(case, "dls", Tuning(damping=0.3)), expected, atol=1e-9)
    assert (case.state.q[0] != IDENTITY).any()


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


MOST = math.pi / 4.0


def random_jacobian(random: np.random.Generator) -> tuple[Floats, Floats, Ints]:
    """(n, m) transposed Jacobian of two effectors, an error and the rows' groups."""
    jacobian = random.normal(size=(7, 6)) * 10.0 ** random.uniform(-2.0, 1.0, size=(7, 1))
    return jacobian, random.normal(size=6), np.repeat([0, 1], 3)


def test_sdls_never_turns_a_joint_by_more_than_gamma_max() -> None:
    random = np.random.default_rng(4)
    for _ in range(200):
        jacobian, e, groups = random_jacobian(random)
        step = selectively_damped_step(jacobian, 10.0 * e, np.ones(7), groups, MOST)
        assert np.abs(step).max() <= MOST * (1.0 + 1e-12)


def test_sdls_is_the_pseudo_inverse_where_nothing_is_clamped() -> None:
    random = np.random.default_rng(5)
    for _ in range(50):
        jacobian, e, groups = random_jacobian(random)
        jacobian += 3.0 * np.eye(7, 6)
        step = selectively_damped_step(jacobian, 1e-7 * e, np.ones(7), groups, MOST)
        np.testing.assert_allclose(step, np.linalg.pinv(jacobian.T) @ (1e-7 * e), atol=1e-12)


def test_sdls_clamps_every_singular_vector_by_its_own_rule() -> None:
    """Symbol by symbol as in the paper, in loops."""
    random = np.random.default_rng(6)
    for _ in range(30):
        jacobian, e, groups = random_jacobian(random)
        u, sigma, v_transposed = np.linalg.svd(jacobian.T, full_matrices=False)
        total = np.zeros(7)
        for i in range(6):
            n_i = sum(float(np.linalg.norm(u[3 * k : 3 * k + 3, i])) for k in range(2))
            m_i = sum(
                float(abs(v_transposed[i, j]) * np.linalg.norm(jacobian[j, 3 * k : 3 * k + 3]) / sigma[i])
                for k in range(2)
                for j in range(7)
            )
            gamma = min(1.0, n_i / m_i) * MOST
            phi = v_transposed[i] * (u[:, i] @ e) / sigma[i]
            total += phi * min(1.0, gamma / np.abs(phi).max())
        total *= min(1.0, MOST / np.abs(total).max())
        np.testing.assert_allclose(selectively_damped_step(jacobian, e, np.ones(7), groups, MOST), total, atol=1e-9)


def test_sdls_at_a_singular_pose_moves_little() -> None:
    case = arm((3.0, 0.0, 0.0), start=1e-6)
    assert np.abs(step_of(case, "sdls")).max() < MOST + 1e-12
    assert not selectively_damped_step(np.zeros((4, 3)), np.ones(3), np.ones(4), np.zeros(3, dtype=np.intp), MOST).any()
