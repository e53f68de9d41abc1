"""Vectors in batches: what numpy's own functions give, for all shapes that broadcast."""

from __future__ import annotations

import numpy as np
import pytest
from inside.spatial import vectors

SHAPES = [((3,), (3,)), ((7, 3), (7, 3)), ((5, 1, 3), (7, 3)), ((0, 3), (3,)), ((2, 4, 3), (3,))]


@pytest.mark.parametrize(("first", "second"), SHAPES)
def test_products_are_those_of_numpy(first: tuple[int, ...], second: tuple[int, ...]) -> None:
    random = np.random.default_rng(7)
    a, b = random.normal(size=first), random.normal(size=second)
    np.testing.assert_allclose(vectors.cross(a, b), np.cross(a, b), rtol=0, atol=1e-15)
    np.testing.assert_allclose(vectors.dot(a, b), (a * b).sum(axis=-1), rtol=0, atol=2e-15)
    np.testing.assert_allclose(vectors.norm(a), np.linalg.norm(a, axis=-1), rtol=4e-16)


def test_directions_have_length_one_and_no_direction_stays_zero() -> None:
    found = vectors.unit(np.array([[3.0, 0.0, 4.0], [0.0, 0.0, 0.0]]))
    np.testing.assert_array_equal(found, [[0.6, 0.0, 0.8], [0.0, 0.0, 0.0]])
