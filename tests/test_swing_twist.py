"""Swing and twist: the two halves make the whole, the twist acts first, and coordinates come back."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.spatial import angle_between, from_axis_angle, from_swing_twist, to_swing_twist, twist_about
from naive import matrix_of, rodrigues
from strategies import TINY, directions, random_quaternions, unit_quaternions

if TYPE_CHECKING:
    from inside.spatial import Floats

axes = st.sampled_from([0, 1, 2])
AXIS = np.eye(3)


@given(unit_quaternions(), axes)
def test_swing_after_twist_is_the_rotation(d: Floats, axis: int) -> None:
    coordinates = to_swing_twist(d, axis)
    swing = np.where(np.arange(3) == axis, 0.0, coordinates)
    twist = coordinates[axis] * AXIS[axis]
    np.testing.assert_allclose(rodrigues(swing) @ rodrigues(twist), matrix_of(d), rtol=0, atol=5e-15)
    assert -math.pi < coordinates[axis] <= math.pi
    assert np.linalg.norm(swing) <= math.pi * (1 + 1e-15)


@given(unit_quaternions(), axes)
def test_the_twist_acts_first_so_that_the_swing_alone_moves_the_axis(d: Floats, axis: int) -> None:
    swing = np.where(np.arange(3) == axis, 0.0, to_swing_twist(d, axis))
    np.testing.assert_allclose(rodrigues(swing) @ AXIS[axis], matrix_of(d) @ AXIS[axis], rtol=0, atol=5e-15)


@given(unit_quaternions(), axes)
def test_both_signs_of_a_quaternion_are_read_alike(d: Floats, axis: int) -> None:
    np.testing.assert_allclose(to_swing_twist(-d, axis), to_swing_twist(d, axis), rtol=0, atol=1e-15)


@given(st.floats(0.0, 3.14), st.floats(-math.pi, math.pi), st.floats(-3.14, 3.14), axes)
def test_coordinates_come_back_as_they_were(length: float, way: float, twist: float, axis: int) -> None:
    coordinates = np.empty(3)
    coordinates[axis] = twist
    coordinates[(axis + 1) % 3], coordinates[(axis + 2) % 3] = length * math.cos(way), length * math.sin(way)
    found = to_swing_twist(from_swing_twist(coordinates, axis), axis)
    np.testing.assert_allclose(found, coordinates, rtol=0, atol=2e-12)


@given(st.sampled_from(TINY[1:]), st.floats(-math.pi, math.pi), axes)
def test_small_swings_keep_all_their_digits(length: float, way: float, axis: int) -> None:
    coordinates = np.zeros(3)
    coordinates[(axis + 1) % 3], coordinates[(axis + 2) % 3] = length * math.cos(way), length * math.sin(way)
    found = to_swing_twist(from_swing_twist(coordinates, axis), axis)
    np.testing.assert_allclose(found, coordinates, rtol=0, atol=1e-14 * length)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_half_turns(axis: int) -> None:
    other = (axis + 1) % 3
    for sign in (1.0, -1.0):
        about_itself = sign * np.append(AXIS[axis], 0.0)
        np.testing.assert_array_equal(to_swing_twist(about_itself, axis), math.pi * AXIS[axis])
        over = sign * np.append(AXIS[other], 0.0)
        np.testing.assert_array_equal(np.abs(to_swing_twist(over, axis)), math.pi * AXIS[other])


def test_a_swing_by_half_a_turn_leaves_no_twist() -> None:
    d = from_swing_twist([math.pi, 0.7, 0.0], 1)
    coordinates = to_swing_twist(d, 1)
    assert coordinates[1] == 0.0
    assert math.isclose(np.linalg.norm(coordinates), math.pi, abs_tol=1e-15)
    assert angle_between(from_swing_twist(coordinates, 1), d) < 1e-15


@given(unit_quaternions(), directions())
def test_the_twist_about_an_axis_is_the_nearest_rotation_about_it(d: Floats, axis: Floats) -> None:
    found = float(twist_about(d, axis))
    assert -math.pi < found <= math.pi
    least = float(angle_between(from_axis_angle(axis, found), d))
    others = from_axis_angle(axis, np.linspace(-math.pi, math.pi, 181))
    assert least <= angle_between(others, d).min() + 1e-7


@given(directions(), st.floats(-math.pi, math.pi, exclude_min=True))
def test_the_twist_of_a_turn_about_the_axis_is_its_angle(axis: Floats, angle: float) -> None:
    found = float(twist_about(from_axis_angle(axis, angle), axis))
    assert math.isclose(math.remainder(found - angle, 2.0 * math.pi), 0.0, abs_tol=2e-15)


@given(unit_quaternions(), axes)
def test_both_twists_agree(d: Floats, axis: int) -> None:
    if math.hypot(d[axis], d[3]) > 1e-6:
        difference = to_swing_twist(d, axis)[axis] - float(twist_about(d, AXIS[axis]))
        assert math.isclose(math.remainder(difference, 2.0 * math.pi), 0.0, abs_tol=1e-14)


def test_batches_are_their_elements_one_by_one() -> None:
    d = random_quaternions(np.random.default_rng(3), 4, 2)
    for axis in range(3):
        coordinates = to_swing_twist(d, axis)
        assert coordinates.shape == (4, 2, 3)
        np.testing.assert_array_equal(coordinates[3, 1], to_swing_twist(d[3, 1], axis))
        np.testing.assert_array_equal(
            from_swing_twist(coordinates, axis)[3, 1], from_swing_twist(coordinates[3, 1], axis)
        )
