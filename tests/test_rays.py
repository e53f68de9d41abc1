"""Rays: distances along them and past things, against many points tried one by one."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from inside.spatial import Ray, closest_on_line, distance_to_points, hit_capsules
from strategies import directions, seeds, vectors

from viewer.errors import InputError

if TYPE_CHECKING:
    from inside.spatial import Floats

ALONG = np.concatenate([[0.0], np.geomspace(1e-3, 60.0, 400)])


def a_ray(seed: int) -> tuple[Ray, np.random.Generator]:
    random = np.random.default_rng(seed)
    return Ray(random.normal(size=3), random.normal(size=3)), random


@given(vectors(), directions())
def test_a_ray_starts_at_its_origin_and_runs_at_unit_speed(origin: Floats, direction: Floats) -> None:
    ray = Ray(origin, 7.0 * direction)
    np.testing.assert_array_equal(ray.at(0.0), origin)
    np.testing.assert_allclose(ray.at([1.0, 2.0]), [origin + direction, origin + 2 * direction], rtol=0, atol=1e-14)
    assert ray.at(np.zeros((4, 5))).shape == (4, 5, 3)
    assert not ray.origin.flags.writeable
    assert not ray.direction.flags.writeable


@pytest.mark.parametrize("length", [1e-320, 1e-200, 1.0, 1e200, 1e308])
def test_any_length_of_direction_is_taken(length: float) -> None:
    np.testing.assert_array_equal(Ray(np.zeros(3), np.array([0.0, -length, 0.0])).direction, [0, -1, 0])


@pytest.mark.parametrize(
    ("origin", "direction", "message"),
    [
        ((0, 0, 0), (0, 0, 0), "ray direction: expected a length above 0"),
        ((0, 0, 0), (0, math.inf, 0), "ray direction: expected finite numbers, found inf"),
        ((0, 0, 0), (0, 1), "ray direction: expected shape (3,), found (2,)"),
        ((0, math.nan, 0), (0, 1, 0), "ray origin: expected finite numbers, found nan"),
        ((0, "up", 0), (0, 1, 0), "ray origin: expected numbers of shape (3,)"),
    ],
)
def test_what_is_no_ray_is_refused(origin: Floats, direction: Floats, message: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Ray(origin, direction)


@given(seeds)
def test_points_are_as_far_as_the_nearest_place_on_the_ray(seed: int) -> None:
    ray, random = a_ray(seed)
    points = 3.0 * random.normal(size=(20, 3))
    miss, along = distance_to_points(ray, points)
    assert (along >= 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(ray.at(along) - points, axis=-1), miss, rtol=0, atol=1e-14)
    tried = np.linalg.norm(ray.at(ALONG)[:, None] - points, axis=-1).min(axis=0)
    assert (miss <= tried + 1e-12).all()


@given(seeds)
def test_the_nearest_place_of_a_line_is_at_right_angles_to_both(seed: int) -> None:
    ray, random = a_ray(seed)
    points, ways = random.normal(size=(2, 20, 3))
    places = points + closest_on_line(ray, points, ways)[:, None] * ways
    between = places - ray.at((places - ray.origin) @ ray.direction)
    scale = 1.0 + np.abs(places).max(axis=-1)
    assert (np.abs(np.einsum("ij,ij->i", between, ways)) < 1e-10 * scale**2).all()


def test_of_parallel_lines_the_place_beside_the_origin_is_taken_and_points_are_their_own() -> None:
    ray = Ray(np.array([1.0, 0.0, 5.0]), np.array([0.0, 0.0, 1.0]))
    assert closest_on_line(ray, (0.0, 0.0, 1.0), (0.0, 0.0, -2.0)) == -2.0
    assert closest_on_line(ray, (0.0, 0.0, 1.0), (0.0, 0.0, 0.0)) == 0.0


@settings(max_examples=50)
@given(seeds)
def test_capsules_are_hit_within_their_radius_of_the_nearest_approach(seed: int) -> None:
    ray, random = a_ray(seed)
    starts, ends = 2.0 * random.normal(size=(2, 10, 3))
    parts = np.linspace(0.0, 1.0, 101)[:, None, None]
    miss, along = distance_to_points(ray, starts + parts * (ends - starts))
    nearest, place = miss.min(axis=0), np.take_along_axis(along, miss.argmin(axis=0)[None], axis=0)[0]
    step = np.linalg.norm(ends - starts, axis=-1) / 100.0
    assert np.isfinite(hit_capsules(ray, starts, ends, nearest + 1e-12)).all()
    np.testing.assert_array_equal(hit_capsules(ray, starts, ends, np.maximum(nearest - step, -1.0)), math.inf)
    found = hit_capsules(ray, starts, ends, 100.0)
    reached = distance_to_points(ray, starts)[0].max() + distance_to_points(ray, ends)[0].max()
    assert (np.abs(found - place) <= step * (1.0 + reached / 1e-1) + 1e-9).all()


def test_a_bone_that_begins_behind_the_ray_is_hit_in_front_of_it() -> None:
    ray = Ray(np.zeros(3), np.array([0.0, 0.0, 1.0]))
    # The two lines are nearest behind the ray; of what is in front the place beside the origin is.
    assert hit_capsules(ray, (1.0, 0.0, -10.0), (3.0, 0.0, 1.0), 2.9) == 0.0
    assert hit_capsules(ray, (1.0, 0.0, -10.0), (3.0, 0.0, 1.0), 2.7) == math.inf


def test_bones_without_length_or_along_the_ray_are_hit() -> None:
    ray = Ray(np.zeros(3), np.array([0.0, 0.0, 1.0]))
    starts, ends = np.array([[0.1, 0, 4], [0, 0.1, 2], [0, 0, -2]]), np.array([[0.1, 0, 4], [0, 0.1, 6], [0, 0, -1]])
    np.testing.assert_array_equal(hit_capsules(ray, starts, ends, 0.2), [4.0, 2.0, math.inf])
