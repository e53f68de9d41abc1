"""Selectively damped least squares: the rules of Buss and Kim's paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from inside.ik import selectively_damped_step
from method_cases import arm, step_of

if TYPE_CHECKING:
    from inside.spatial import Floats, Ints

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
