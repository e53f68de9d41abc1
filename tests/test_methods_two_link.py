"""Two links in the plane: both derivations, all quadrants, both branches, any scale, in and out of reach."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import pytest
from inside.ik import elbow_angles, two_link_algebraic, two_link_geometric, vector
from inside.spatial import from_axis_angle, rotate
from naive import two_link_end

from viewer.errors import InputError

Derive: TypeAlias = Callable[[float, float, tuple[float, float], int], tuple[float, float]]

BOTH = pytest.mark.parametrize("derive", [two_link_algebraic, two_link_geometric])
BRANCHES = pytest.mark.parametrize("branch", [1, -1])


@BOTH
@BRANCHES
def test_end_is_at_the_target_in_all_quadrants_and_scales(derive: Derive, branch: int) -> None:
    random = np.random.default_rng(0)
    for _ in range(300):
        scale = 10.0 ** random.uniform(-6, 6)
        one, two = (random.uniform(0.1, 2.0, size=2) * scale).tolist()
        distance, direction = random.uniform(abs(one - two), one + two), random.uniform(-math.pi, math.pi)
        x, y = distance * math.cos(direction), distance * math.sin(direction)
        angles = derive(x, y, (one, two), branch)
        assert math.dist(two_link_end(angles, (one, two)), (x, y)) < 1e-9 * scale
        assert branch * angles[1] >= 0.0
        assert max(map(abs, angles)) <= math.pi


@BOTH
@BRANCHES
def test_elbow_is_where_the_circles_of_both_links_meet(derive: Derive, branch: int) -> None:
    random = np.random.default_rng(1)
    for _ in range(100):
        one, two = random.uniform(0.5, 2.0, size=2).tolist()
        distance = random.uniform(abs(one - two) + 1e-3, one + two - 1e-3)
        direction = random.uniform(-math.pi, math.pi)
        forward = np.array([math.cos(direction), math.sin(direction)])
        # From the base: so far along the line to the target, and so far beside it.
        along = (one**2 - two**2 + distance**2) / (2.0 * distance)
        beside = math.sqrt(one**2 - along**2) * np.array([-forward[1], forward[0]])
        x, y = (distance * forward).tolist()
        angle, _ = derive(x, y, (one, two), branch)
        elbow = one * np.array([math.cos(angle), math.sin(angle)])
        np.testing.assert_allclose(elbow, along * forward - branch * beside, atol=1e-9)


@BOTH
@BRANCHES
@pytest.mark.parametrize(
    ("one", "two", "distance"), [(2.0, 1.0, 3.0), (2.0, 1.0, 1.0), (1.0, 2.0, 1.0), (1.0, 1.0, 0.0)]
)
def test_ends_of_the_reach(derive: Derive, branch: int, one: float, two: float, distance: float) -> None:
    for direction in np.linspace(-math.pi, math.pi, 13).tolist():
        x, y = distance * math.cos(direction), distance * math.sin(direction)
        assert math.dist(two_link_end(derive(x, y, (one, two), branch), (one, two)), (x, y)) < 1e-7


@BOTH
@pytest.mark.parametrize(
    ("lengths", "distance", "nearest"), [((2.0, 1.0), 5.0, 3.0), ((2.0, 1.0), 0.3, 1.0), ((1.0, 2.0), 0.3, 1.0)]
)
def test_out_of_reach_the_end_is_the_nearest_point(
    derive: Derive, lengths: tuple[float, float], distance: float, nearest: float
) -> None:
    for direction in np.linspace(-3.0, 3.0, 7).tolist():
        forward = np.array([math.cos(direction), math.sin(direction)])
        x, y = (distance * forward).tolist()
        end = two_link_end(derive(x, y, lengths, 1), lengths)
        np.testing.assert_allclose(end, nearest * forward, atol=1e-9)


def test_derivations_agree() -> None:
    random = np.random.default_rng(2)
    for x, y, one, two in random.uniform(0.2, 1.5, size=(100, 4)).tolist():
        for branch in (1, -1):
            algebraic, geometric = (
                derive(x, -y, (one, two), branch) for derive in (two_link_algebraic, two_link_geometric)
            )
            for a, b in zip(algebraic, geometric, strict=True):
                assert math.remainder(a - b, 2.0 * math.pi) == pytest.approx(0.0, abs=1e-6)


@BOTH
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_links_need_a_length(derive: Derive, bad: float) -> None:
    for lengths in ((bad, 1.0), (1.0, bad)):
        with pytest.raises(InputError, match=f"^two links: lengths: expected a finite number above 0, found {bad:g}$"):
            derive(1.0, 0.0, lengths, 1)


@BOTH
@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_targets_that_are_nowhere_are_refused(derive: Derive, bad: float) -> None:
    for name, x, y in (("x", bad, 0.0), ("y", 1.0, bad)):
        with pytest.raises(InputError, match=f"^two links: {name}: expected a finite number, found {bad:g}$"):
            derive(x, y, (1.0, 1.0), 1)


@BOTH
def test_there_are_two_branches(derive: Derive) -> None:
    with pytest.raises(InputError, match=r"^two links: branch: expected 1 or -1, found 0$"):
        derive(1.0, 0.0, (1.0, 1.0), 0)


@BOTH
@BRANCHES
def test_numbers_however_large_or_small_lead_towards_the_target(derive: Derive, branch: int) -> None:
    sizes = (5e-324, 1e-200, 1e-160, 1.0, 1e160, 1.7e308)
    for one, two, away in itertools.product(sizes, repeat=3):
        angles = derive(0.6 * away, -0.8 * away, (one, two), branch)
        assert max(map(abs, angles)) <= math.pi
        if away > 1e10 * max(one, two) and one == two:  # of two links of which one is nothing any angle will do
            assert angles[1] == 0.0
            assert angles[0] == pytest.approx(math.atan2(-0.8 * away, 0.6 * away), abs=1e-7)
        if away == one == two and one > 1e-300:
            end = two_link_end(angles, (1.0, 1.0))
            assert end == pytest.approx((0.6, -0.8), abs=1e-9)


def test_elbow_angles_span_the_distance_about_any_axis() -> None:
    random = np.random.default_rng(3)
    turns = np.linspace(-math.pi, math.pi, 721)
    reached = 0
    for _ in range(100):
        upper, lower, axis = random.normal(size=(3, 3))
        axis /= np.linalg.norm(axis)
        spans = np.linalg.norm(upper - rotate(from_axis_angle(axis, turns), lower), axis=1)
        distance = random.uniform(0.0, 3.0)
        angles, beyond = elbow_angles(vector(upper.tolist()), vector(lower.tolist()), distance, vector(axis.tolist()))
        assert abs(angles[0]) <= abs(angles[1])
        got = np.linalg.norm(upper - rotate(from_axis_angle(axis, np.array(angles)), lower), axis=1)
        nearest = float(np.clip(distance, spans.min(), spans.max()))
        np.testing.assert_allclose(got, nearest, atol=1e-4)
        assert beyond == pytest.approx(distance - nearest, abs=1e-4)
        if beyond == 0.0:
            reached += 1
            np.testing.assert_allclose(got, distance, atol=1e-9)
    assert reached > 30


def test_axis_along_the_link_changes_nothing() -> None:
    angles, beyond = elbow_angles((-1.0, 0.0, 0.0), (0.0, 1.0, 0.0), 1.0, (0.0, 1.0, 0.0))
    assert angles == (0.0, 0.0)
    assert beyond == pytest.approx(1.0 - math.sqrt(2.0))
