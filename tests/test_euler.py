"""Euler angles in all six orders, against products of matrices written by hand."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from inside.spatial import (
    EULER_ORDERS,
    IDENTITY,
    axes_of,
    from_axis_sequence,
    from_euler,
    nearest_equivalent,
    parity_of,
    to_euler,
    to_matrix,
    wrapped,
)
from naive import matrix_about
from strategies import TINY, random_quaternions, seeds, unit_quaternions

if TYPE_CHECKING:
    from inside.spatial import Floats

orders = st.sampled_from(EULER_ORDERS)
whole_angles = st.floats(-10.0, 10.0)


def product(angles: Floats, axes: str) -> Floats:
    """R = R1(a) R2(b) ..., by hand."""
    total = np.eye(3)
    for angle, axis in zip(angles, axes, strict=True):
        total = total @ matrix_about(axis, float(angle))
    return total


def test_there_are_six_orders_and_their_axes_are_their_letters() -> None:
    assert sorted(EULER_ORDERS) == ["".join(letters) for letters in itertools.permutations("xyz")]
    assert axes_of("zxy") == (2, 0, 1)
    for order in EULER_ORDERS:
        first, second, third = np.eye(3)[list(axes_of(order))]
        assert parity_of(order) == np.cross(first, second) @ third


@given(st.tuples(whole_angles, whole_angles, whole_angles), orders)
def test_the_rotation_is_the_product_of_the_three_turns_in_the_orders_sequence(
    angles: tuple[float, float, float], order: str
) -> None:
    found = to_matrix(from_euler(angles, order))
    np.testing.assert_allclose(found, product(np.array(angles), order), rtol=0, atol=5e-15)


@given(unit_quaternions(), orders)
def test_the_angles_of_any_rotation_give_it_back_and_lie_in_their_ranges(q: Floats, order: str) -> None:
    angles = to_euler(q, order)
    np.testing.assert_allclose(product(angles, order), to_matrix(q), rtol=0, atol=5e-15)
    assert (np.abs(angles) <= [math.pi, 0.5 * math.pi, math.pi]).all()
    assert (angles > -math.pi).all()
    np.testing.assert_allclose(wrapped(to_euler(-q, order) - angles), 0.0, rtol=0, atol=1e-6)


@given(st.floats(-3.1, 3.1), st.floats(-1.5, 1.5), st.floats(-3.1, 3.1), orders)
def test_angles_away_from_the_poles_come_back_as_they_were(a: float, b: float, c: float, order: str) -> None:
    found = to_euler(from_euler((a, b, c), order), order)
    np.testing.assert_allclose(found, (a, b, c), rtol=0, atol=1e-14)


@given(st.floats(-3.1, 3.1), st.floats(-3.1, 3.1), st.sampled_from([-1.0, 1.0]), st.sampled_from(TINY), orders)
def test_near_the_poles_the_rotation_and_the_middle_angle_keep_their_digits(
    a: float, c: float, side: float, distance: float, order: str
) -> None:
    middle = side * (0.5 * math.pi - distance)
    found = to_euler(from_euler((a, middle, c), order), order)
    assert math.isclose(found[1], middle, abs_tol=1e-15)
    # Nearer than 1e-12 it is a pole: giving up its two outer angles for one moves it by no more than that.
    tolerance = 2e-12 if distance < 1e-12 else 5e-15
    np.testing.assert_allclose(product(found, order), product(np.array([a, middle, c]), order), rtol=0, atol=tolerance)


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("side", [-1.0, 1.0])
def test_at_gimbal_lock_the_last_angle_is_zero_and_the_first_does_it_all(order: str, side: float) -> None:
    middle = side * 0.5 * math.pi
    first, second, third = to_euler(from_euler((0.4, middle, 0.3), order), order)
    assert third == 0.0
    assert math.isclose(second, middle, abs_tol=5e-16)
    assert math.isclose(first, 0.4 + parity_of(order) * side * 0.3, abs_tol=1e-15)


@given(st.lists(st.tuples(st.sampled_from("xyz"), whole_angles), max_size=5))
def test_any_sequence_of_axes(turns: list[tuple[str, float]]) -> None:
    axes, angles = "".join(axis for axis, _ in turns), np.array([angle for _, angle in turns])
    found = to_matrix(from_axis_sequence(angles, axes))
    np.testing.assert_allclose(found, product(angles, axes), rtol=0, atol=1e-14)


def test_no_axes_are_the_identity_for_every_frame() -> None:
    np.testing.assert_array_equal(from_axis_sequence(np.zeros((3, 0)), ""), np.tile(IDENTITY, (3, 1)))


@settings(max_examples=40)
@given(unit_quaternions(), orders, seeds)
def test_the_nearest_equivalent_is_the_same_rotation_and_none_is_nearer(q: Floats, order: str, seed: int) -> None:
    reference = np.random.default_rng(seed).uniform(-12.0, 12.0, size=3)
    angles = to_euler(q, order)
    found = nearest_equivalent(angles, reference)
    np.testing.assert_allclose(product(found, order), to_matrix(q), rtol=0, atol=2e-14)
    turns = 2.0 * math.pi * np.array(list(itertools.product(range(-4, 5), repeat=3)))
    other = [angles[0] + math.pi, math.pi - angles[1], angles[2] + math.pi]
    every = np.concatenate([angles + turns, other + turns])
    assert np.abs(found - reference).sum() <= np.abs(every - reference).sum(axis=1).min() + 1e-12


@given(st.floats(-100.0, 100.0))
def test_wrapping_counts_in_the_half_open_turn(angle: float) -> None:
    found = float(wrapped(np.array(angle)))
    assert -math.pi < found <= math.pi
    assert math.isclose(math.remainder(found - angle, 2.0 * math.pi), 0.0, abs_tol=1e-13)


def test_half_turns_are_counted_as_pi_and_never_as_minus_pi() -> None:
    np.testing.assert_array_equal(wrapped(np.array([-math.pi, math.pi])), [math.pi, math.pi])
    for edge in (-math.pi, math.pi, -3 * math.pi, 3 * math.pi):
        for angle in (math.nextafter(edge, -10.0), math.nextafter(edge, 10.0)):
            assert -math.pi < float(wrapped(np.array(angle))) <= math.pi


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_batches_are_their_elements_one_by_one(order: str) -> None:
    q = random_quaternions(np.random.default_rng(2), 4, 2)
    angles = to_euler(q, order)
    assert angles.shape == (4, 2, 3)
    np.testing.assert_array_equal(angles[3, 1], to_euler(q[3, 1], order))
    np.testing.assert_array_equal(from_euler(angles, order)[3, 1], from_euler(angles[3, 1], order))
