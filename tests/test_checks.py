"""What comes from outside is checked with one clear line, and what goes into values cannot be changed."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.spatial import Floats, finite_floats, frozen, handed_over, unit_quaternions
from strategies import unit_quaternions as quaternions

from viewer.errors import InputError


def test_a_frozen_array_is_a_copy_that_cannot_be_written() -> None:
    mine = np.arange(6.0).reshape(2, 3)
    value = frozen(mine)
    mine[0, 0] = 99.0
    assert value[0, 0] == 0.0
    with pytest.raises(ValueError, match="read-only"):
        value[0, 0] = 1.0
    assert mine.flags.writeable


def test_what_is_frozen_already_is_shared_and_not_copied() -> None:
    value = frozen([1.0, 2.0])
    assert frozen(value) is value
    assert frozen(value, np.intp) is not value


@pytest.mark.parametrize(
    "given_array", [np.arange(12.0).reshape(3, 4).T, np.arange(12.0)[::2], np.arange(3, dtype=np.float32), [1, 2, 3]]
)
def test_frozen_arrays_are_contiguous_doubles(given_array: Floats) -> None:
    value = frozen(given_array)
    assert value.flags.c_contiguous
    assert value.dtype == np.float64
    np.testing.assert_array_equal(value, given_array)


def test_a_large_array_is_handed_over_without_a_copy() -> None:
    mine = np.zeros((100, 4))
    value = handed_over(mine)
    assert np.shares_memory(value, mine)
    assert not value.flags.writeable
    assert frozen(value) is value
    assert handed_over(np.zeros((4, 100)).T).flags.c_contiguous


@pytest.mark.parametrize(
    ("value", "shape", "message"),
    [
        ((1.0, 2.0), (3,), "expected shape (3,), found (2,)"),
        (1.0, (3,), "expected shape (3,), found ()"),
        ([[1.0, 2.0]], (-1, 3), "expected shape (any, 3), found (1, 2)"),
        ([1.0, 2.0], (-1, 3), "expected shape (any, 3), found (2,)"),
        ([[1.0], [1.0, 2.0]], (-1, 3), "expected numbers of shape (any, 3)"),
        ((1.0, "2", 3.0), (3,), "expected numbers of shape (3,)"),
        (("1", "2", "3"), (3,), "expected numbers of shape (3,)"),
        ((1.0, None, 3.0), (3,), "expected finite numbers, found nan"),
        ((1.0, 2j, 3.0), (3,), "expected numbers of shape (3,)"),
        ((True, False, True), (3,), "expected numbers of shape (3,)"),
        ("abc", (3,), "expected numbers of shape (3,)"),
        (None, (3,), "expected shape (3,), found ()"),
        ({"x": 1}, (3,), "expected numbers of shape (3,)"),
        ((10**400, 0, 0), (3,), "expected numbers of shape (3,)"),
        ((1.0, math.nan, math.inf), (3,), "expected finite numbers, found nan"),
        ((1.0, -math.inf, 0.0), (3,), "expected finite numbers, found -inf"),
    ],
)
def test_what_are_no_such_numbers_is_refused(value: Floats, shape: tuple[int, ...], message: str) -> None:
    with pytest.raises(InputError, match=f"^place: {re.escape(message)}$"):
        finite_floats(value, shape, "place")


@pytest.mark.parametrize(
    "value", [(1, 2, 3), [1.0, 2.0, 3.0], np.array([1, 2, 3], np.int8), np.array([1, 2, 3], np.float32)]
)
def test_numbers_of_any_type_become_doubles(value: Floats) -> None:
    found = finite_floats(value, (3,), "place")
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, 2.0, 3.0])


def test_any_length_and_integers_past_64_bits_are_taken() -> None:
    assert finite_floats(np.zeros((0, 3)), (-1, 3), "places").shape == (0, 3)
    np.testing.assert_array_equal(finite_floats((10**30, 0, 0), (3,), "place"), [1e30, 0, 0])


@given(quaternions(), st.floats(0.9991, 1.0009))
def test_nearly_unit_quaternions_are_normalised(q: Floats, length: float) -> None:
    found = unit_quaternions(length * q, (4,), "rotation")
    np.testing.assert_allclose(found, q, rtol=0, atol=1e-15)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ((0, 0, 0, 0), "expected a unit quaternion (x, y, z, w), found length 0"),
        ((0, 0, 0, 1.0011), "expected a unit quaternion (x, y, z, w), found length 1.0011"),
        ((0, 0, 0.5, 0), "expected a unit quaternion (x, y, z, w), found length 0.5"),
        ((1e300, 0, 0, 0), "expected a unit quaternion (x, y, z, w), found length inf"),
        ((0, 0, 1), "expected shape (4,), found (3,)"),
        ((0, 0, 0, math.nan), "expected finite numbers, found nan"),
    ],
)
def test_what_is_no_rotation_is_refused(value: Floats, message: str) -> None:
    with pytest.raises(InputError, match=f"^rotation: {re.escape(message)}$"):
        unit_quaternions(value, (4,), "rotation")


def test_of_many_quaternions_the_first_bad_one_is_told() -> None:
    rotations = np.array([[0.0, 0, 0, 1], [0, 0, 0, 2], [0, 0, 0, 3]])
    with pytest.raises(InputError, match=r"found length 2$"):
        unit_quaternions(rotations, (-1, 4), "rotations")
    assert unit_quaternions(np.zeros((0, 4)), (-1, 4), "rotations").shape == (0, 4)
