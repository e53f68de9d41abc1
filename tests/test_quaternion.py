"""Unit quaternions: the group, the vectors and matrices they stand for, and the ways between them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.spatial import quaternion as quat
from naive import angle_of, hamilton, matrix_of, rodrigues
from strategies import (
    TINY,
    directions,
    random_quaternions,
    rotation_vectors,
    seeds,
    unit_floats,
    unit_quaternions,
    vectors,
)

if TYPE_CHECKING:
    from inside.spatial import Floats

NEAR = 4e-15
QUATERNION = unit_quaternions()


def apart(p: Floats, q: Floats) -> float:
    """How far the components of two rotations are apart, p and -p being one."""
    return float(min(np.abs(p - q).max(), np.abs(p + q).max()))


@given(QUATERNION, QUATERNION, QUATERNION)
def test_rotations_are_a_group_under_multiplication(p: Floats, q: Floats, r: Floats) -> None:
    left, right = quat.multiply(quat.multiply(p, q), r), quat.multiply(p, quat.multiply(q, r))
    np.testing.assert_allclose(left, right, rtol=0, atol=NEAR)
    np.testing.assert_array_equal(quat.multiply(p, quat.IDENTITY), p)
    np.testing.assert_array_equal(quat.multiply(quat.IDENTITY, p), p)
    np.testing.assert_allclose(quat.multiply(p, quat.conjugate(p)), quat.IDENTITY, rtol=0, atol=NEAR)
    assert math.isclose(np.linalg.norm(left), 1.0, abs_tol=NEAR)


@given(QUATERNION, QUATERNION)
def test_the_product_is_hamiltons(p: Floats, q: Floats) -> None:
    np.testing.assert_allclose(quat.multiply(p, q), hamilton(p, q), rtol=0, atol=NEAR)


@given(QUATERNION, QUATERNION, vectors())
def test_rotating_is_what_the_matrix_does_and_products_act_from_the_right(p: Floats, q: Floats, v: Floats) -> None:
    turned = quat.rotate(q, v)
    np.testing.assert_allclose(turned, matrix_of(q) @ v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(turned, quat.to_matrix(q) @ v, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quat.rotate(quat.multiply(p, q), v), quat.rotate(p, turned), rtol=0, atol=1e-13)
    np.testing.assert_allclose(quat.rotate(-q, v), turned, rtol=0, atol=1e-13)
    np.testing.assert_allclose(quat.rotate(quat.conjugate(q), turned), v, rtol=0, atol=1e-13)


def test_a_quarter_turn_about_x_takes_y_to_z() -> None:
    q = quat.from_axis_angle((1.0, 0.0, 0.0), math.pi / 2)
    np.testing.assert_allclose(q, [math.sqrt(0.5), 0, 0, math.sqrt(0.5)], rtol=0, atol=2e-16)
    np.testing.assert_allclose(quat.rotate(q, (0.0, 1.0, 0.0)), [0, 0, 1], rtol=0, atol=1e-15)


@given(rotation_vectors())
def test_exp_is_the_rotation_of_its_vector_and_log_takes_it_back(v: Floats) -> None:
    q = quat.exp(v)
    np.testing.assert_allclose(quat.to_matrix(q), rodrigues(v), rtol=0, atol=NEAR)
    # At exactly half a turn v and -v are one rotation.
    back = quat.log(q)
    back = back if back @ v >= 0.0 else -back
    np.testing.assert_allclose(back, v, rtol=1e-14, atol=1e-15)


@given(QUATERNION)
def test_log_is_the_short_way_and_exp_takes_it_back(q: Floats) -> None:
    v = quat.log(q)
    assert np.linalg.norm(v) <= math.pi * (1 + 1e-15)
    assert apart(quat.exp(v), q) < NEAR
    np.testing.assert_array_equal(np.abs(quat.log(-q)), np.abs(v))


@pytest.mark.parametrize("angle", [1e-300, 1e-200, 1e-20, 1e-12, 1.1e-12, 1e-8])
def test_small_rotations_keep_all_their_digits(angle: float) -> None:
    v = angle * np.array([0.6, 0.0, -0.8])
    np.testing.assert_allclose(quat.log(quat.exp(v)), v, rtol=1e-15, atol=0)


@given(QUATERNION, QUATERNION)
def test_the_angle_between_is_that_of_the_rotation_from_one_to_the_other(p: Floats, q: Floats) -> None:
    angle = float(quat.angle_between(p, q))
    assert 0.0 <= angle <= math.pi
    assert math.isclose(angle, float(quat.angle_between(q, p)), abs_tol=NEAR)
    assert math.isclose(angle, float(np.linalg.norm(quat.log(quat.multiply(quat.conjugate(p), q)))), abs_tol=NEAR)
    assert math.isclose(angle, angle_of(matrix_of(p).T @ matrix_of(q)), abs_tol=1e-14)


@given(directions(), st.floats(-10, 10))
def test_axis_and_angle(axis: Floats, angle: float) -> None:
    np.testing.assert_allclose(
        quat.to_matrix(quat.from_axis_angle(axis, angle)), rodrigues(angle * axis), rtol=0, atol=1e-14
    )


@given(directions(), directions(), st.floats(0.1, 10))
def test_between_turns_one_direction_into_the_other_the_shortest_way(a: Floats, b: Floats, length: float) -> None:
    q = quat.between(length * a, b)
    np.testing.assert_allclose(quat.rotate(q, a), b, rtol=0, atol=NEAR)
    shortest = 2.0 * math.atan2(np.linalg.norm(a - b), np.linalg.norm(a + b))
    assert math.isclose(float(quat.angle_between(q, quat.IDENTITY)), shortest, abs_tol=2e-15)


@given(directions(), seeds, st.sampled_from([*TINY, 1e-12, 2e-12, 1e-11, 1e-10, 1e-8]))
def test_between_keeps_its_digits_near_opposite_directions(a: Floats, seed: int, distance: float) -> None:
    aside = np.cross(a, np.random.default_rng(seed).normal(size=3))
    b = -a + distance * aside / np.linalg.norm(aside)
    b /= np.linalg.norm(b)
    q = quat.between(a, b)
    # Below the threshold the half turn is taken: off by no more than the directions are from opposite ones.
    np.testing.assert_allclose(quat.rotate(q, a), b, rtol=0, atol=3e-12 if distance < 1e-11 else NEAR)
    assert math.isclose(np.linalg.norm(q), 1.0, abs_tol=NEAR)


@given(directions())
def test_perpendicular_is_a_unit_vector_at_right_angles(a: Floats) -> None:
    b = quat.perpendicular(a)
    assert abs(a @ b) < NEAR
    assert math.isclose(np.linalg.norm(b), 1.0, abs_tol=NEAR)


@given(QUATERNION, QUATERNION, unit_floats)
def test_slerp_goes_the_short_way_at_constant_speed(p: Floats, q: Floats, part: float) -> None:
    whole = float(quat.angle_between(p, q))
    there = quat.slerp(p, q, part)
    assert math.isclose(np.linalg.norm(there), 1.0, abs_tol=NEAR)
    assert math.isclose(float(quat.angle_between(p, there)), part * whole, abs_tol=1e-14)
    assert math.isclose(float(quat.angle_between(there, q)), (1.0 - part) * whole, abs_tol=1e-14)


@given(QUATERNION, QUATERNION)
def test_slerp_begins_and_ends_at_its_ends(p: Floats, q: Floats) -> None:
    np.testing.assert_allclose(quat.slerp(p, q, 0.0), p, rtol=0, atol=3e-16)
    assert apart(quat.slerp(p, q, 1.0), q) < 3e-16
    np.testing.assert_allclose(quat.slerp(p, -p, [0.0, 0.3, 1.0]), [p, p, p], rtol=0, atol=3e-16)


@given(QUATERNION)
def test_matrices_are_rotations_and_give_their_quaternion_back(q: Floats) -> None:
    matrix = quat.to_matrix(q)
    np.testing.assert_allclose(matrix, matrix_of(q), rtol=0, atol=NEAR)
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), rtol=0, atol=NEAR)
    assert math.isclose(np.linalg.det(matrix), 1.0, abs_tol=NEAR)
    back = quat.from_matrix(matrix)
    assert back[3] >= 0.0
    assert apart(back, q) < NEAR


def test_normalizing_scales_to_unit_length_and_makes_nothing_the_identity() -> None:
    np.testing.assert_array_equal(quat.normalized([[0, 0, 0, 0], [0, 3, 0, 4]]), [[0, 0, 0, 1], [0, 0.6, 0, 0.8]])


@given(seeds)
def test_continuous_signs_stay_the_same_rotations_without_jumps(seed: int) -> None:
    random = np.random.default_rng(seed)
    steps = quat.exp(0.4 * random.normal(size=(20, 3, 3)))
    frames = [random_quaternions(random, 3)]
    for step in steps:
        frames.append(quat.multiply(frames[-1], step) * random.choice([-1.0, 1.0], size=(3, 1)))
    jumpy = np.array(frames)
    smooth = quat.hemisphere_continuous(jumpy)
    assert (np.einsum("fji,fji->fj", smooth[1:], smooth[:-1]) >= 0.0).all()
    np.testing.assert_array_equal(smooth[0], jumpy[0])
    np.testing.assert_array_equal(np.abs(smooth), np.abs(jumpy))
    assert (np.abs(np.einsum("fji,fji->fj", smooth, jumpy)) > 0.999).all()


def test_batches_are_their_elements_one_by_one() -> None:
    random = np.random.default_rng(1)
    p, q, v = random_quaternions(random, 5, 1), random_quaternions(random, 3), random.normal(size=(5, 3, 3))
    product, turned, halfway = quat.multiply(p, q), quat.rotate(p, v), quat.slerp(p, q, 0.25)
    for i in range(5):
        for j in range(3):
            np.testing.assert_array_equal(product[i, j], quat.multiply(p[i, 0], q[j]))
            np.testing.assert_array_equal(turned[i, j], quat.rotate(p[i, 0], v[i, j]))
            np.testing.assert_allclose(halfway[i, j], quat.slerp(p[i, 0], q[j], 0.25), rtol=0, atol=1e-15)
    assert quat.exp(v).shape == (5, 3, 4)
    assert quat.log(quat.exp(v)).shape == (5, 3, 3)
    assert quat.from_axis_angle((0.0, 1.0, 0.0), np.zeros((5, 3))).shape == (5, 3, 4)
    assert quat.from_axis_angle(np.tile((0.0, 1.0, 0.0), (5, 1)), 0.5).shape == (5, 4)
    assert quat.from_matrix(quat.to_matrix(p)).shape == (5, 1, 4)


def test_the_identity_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="read-only"):
        quat.IDENTITY[3] = 2.0
