"""Transpose, pseudo-inverse and damped least squares: each one's formula against an independent computation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import Tuning, least_squares_step, optimal_step
from inside.spatial import IDENTITY
from method_cases import Case, arm, bend, jacobian_of, rig, step_of

from viewer.ik import Goal
from viewer.skeleton import JointKind

if TYPE_CHECKING:
    from inside.spatial import Floats


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
