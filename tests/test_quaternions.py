"""The public quaternion functions: each against another library or a formula of its own, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.spatial import EulerOrder
from strategies import quickly, seeds

import viewer
from viewer import quaternions as qs

pyrr = pytest.importorskip("pyrr")


def rotations(seed: int, *shape: int) -> np.ndarray[Any, np.dtype[np.float64]]:
    numbers = np.random.default_rng(seed).normal(size=(*shape, 4))
    return np.asarray(numbers / np.linalg.norm(numbers, axis=-1, keepdims=True))


def same(p: object, q: object) -> None:
    """Equal as rotations: q and -q are one."""
    dots = np.abs(np.einsum("...i,...i->...", np.asarray(p), np.asarray(q)))
    np.testing.assert_allclose(dots, 1.0, atol=1e-12)


@quickly
@given(seeds)
def test_products_and_matrices_agree_with_another_library(seed: int) -> None:
    p, q = rotations(seed, 2)
    same(qs.multiply(p, q), pyrr.quaternion.cross(p, q))
    np.testing.assert_allclose(qs.to_matrix(p), pyrr.matrix33.create_from_quaternion(p), atol=1e-12)
    np.testing.assert_allclose(qs.to_matrix(qs.multiply(p, q)), qs.to_matrix(p) @ qs.to_matrix(q), atol=1e-12)
    same(qs.conjugate(p), pyrr.quaternion.inverse(p))


@quickly
@given(seeds)
def test_every_form_comes_back_as_the_same_rotation(seed: int) -> None:
    q = rotations(seed, 3, 5)
    for there, back in (
        (qs.to_wxyz, qs.from_wxyz),
        (qs.to_matrix, qs.from_matrix),
        (qs.to_6d, qs.from_6d),
        (qs.to_rotation_vector, qs.from_rotation_vector),
    ):
        same(back(there(q)), q)
    same(qs.from_axis_angle(*qs.to_axis_angle(q)), q)
    for order in get_args(EulerOrder):
        same(qs.from_euler(qs.to_euler(q, order), order), q)


@quickly
@given(seeds, st.sampled_from(get_args(EulerOrder)))
def test_euler_angles_are_the_product_of_rotations_about_the_axes(seed: int, order: EulerOrder) -> None:
    angles = np.random.default_rng(seed).uniform(-3.0, 3.0, size=3)
    expected = np.eye(3)
    for axis, angle in zip(order, angles, strict=True):
        i = "xyz".index(axis)
        j, k = (i + 1) % 3, (i + 2) % 3
        turn = np.eye(3)
        turn[j, j] = turn[k, k] = np.cos(angle)
        turn[k, j], turn[j, k] = np.sin(angle), -np.sin(angle)
        expected = expected @ turn
    np.testing.assert_allclose(qs.to_matrix(qs.from_euler(angles, order)), expected, atol=1e-12)


@quickly
@given(seeds)
def test_axis_angle_is_the_formula_of_rodrigues(seed: int) -> None:
    random = np.random.default_rng(seed)
    axis, angle, v = random.normal(size=3), random.uniform(-3.0, 3.0), random.normal(size=3)
    u = axis / np.linalg.norm(axis)
    expected = v * np.cos(angle) + np.cross(u, v) * np.sin(angle) + u * (u @ v) * (1.0 - np.cos(angle))
    q = qs.from_axis_angle(axis, angle)
    np.testing.assert_allclose(qs.rotate(q, v), expected, atol=1e-12)
    same(q, qs.from_rotation_vector(u * angle))
    found_axis, found = qs.to_axis_angle(q)
    np.testing.assert_allclose(found_axis * found, u * angle, atol=1e-9)


@quickly
@given(seeds)
def test_6d_is_the_first_two_columns_and_takes_any_two_directions(seed: int) -> None:
    columns = np.random.default_rng(seed).normal(size=(7, 6))
    matrix = qs.to_matrix(qs.from_6d(columns))
    first = columns[:, :3] / np.linalg.norm(columns[:, :3], axis=-1, keepdims=True)
    np.testing.assert_allclose(matrix[..., 0], first, atol=1e-12)
    assert (np.einsum("ni,ni->n", matrix[..., 1], columns[:, 3:]) > 0).all()
    q = rotations(seed, 4)
    np.testing.assert_allclose(qs.to_6d(q)[:, 3:], qs.to_matrix(q)[..., 1], atol=1e-15)


def test_the_half_of_a_quarter_turn_is_an_eighth_and_signs_follow_on() -> None:
    quarter = qs.from_axis_angle((0, 1, 0), np.pi / 2)
    same(qs.slerp(qs.identity(), quarter, 0.5), qs.from_axis_angle((0, 1, 0), np.pi / 4))
    assert qs.angle_between(qs.identity(), quarter) == pytest.approx(np.pi / 2)
    np.testing.assert_allclose(qs.rotate(qs.between((1, 0, 0), (0, 0, 5)), (1, 0, 0)), (0, 0, 1), atol=1e-12)
    flipped = np.array([quarter, -quarter, quarter])
    np.testing.assert_array_equal(qs.continuous(flipped), [quarter] * 3)
    np.testing.assert_array_equal(qs.from_wxyz((1, 0, 0, 0)), qs.identity())
    axis, angle = qs.to_axis_angle(qs.identity(2))
    assert axis.tolist() == [[1.0, 0.0, 0.0]] * 2
    assert angle.tolist() == [0.0, 0.0]


def test_every_public_name_is_there() -> None:
    assert sorted(qs.__all__) == list(qs.__all__)
    assert all(callable(getattr(qs, name)) for name in qs.__all__)
    assert viewer.quaternions is qs


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: qs.from_euler((0, 0, 0), "xyx"), "Euler order: expected one of xyz, xzy, .*found .xyx."),  # type: ignore[arg-type]  # that is the point
        (lambda: qs.multiply((0, 0, 1), (0, 0, 0, 1)), r"quaternions: expected shape \(4,\), found \(3,\)"),
        (lambda: qs.rotate((0, 0, 0, 1), [[1, 2]]), r"vectors: expected shape \(any, 3\), found \(1, 2\)"),
        (lambda: qs.to_matrix("abc"), "quaternions: expected numbers"),
        (lambda: qs.to_matrix([[0, 0, 0, 1], [0, 1]]), "quaternions: expected numbers"),
        (lambda: qs.normalized((0, 0, 0, 0)), "quaternions: expected a length above 0"),
        (lambda: qs.to_euler((np.nan, 0, 0, 1), "xyz"), "quaternions: expected finite numbers, found nan"),
        (lambda: qs.from_matrix(np.diag([1, 1, -1])), "rotation matrices: expected orthogonal ones of determinant 1"),
        (lambda: qs.from_matrix(2 * np.eye(3)), "rotation matrices: expected orthogonal ones of determinant 1"),
        (lambda: qs.from_6d((1, 0, 0, 2, 0, 0)), "6D rotations: expected two columns in different directions"),
        (lambda: qs.from_axis_angle((0, 0, 0), 1.0), "axes: expected a length above 0"),
        (lambda: qs.between((0, 0, 0), (1, 0, 0)), "directions: expected a length above 0"),
    ],
)
def test_what_is_no_rotation_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(viewer.InputError, match=message):
        call()
