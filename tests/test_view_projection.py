"""Views: what is projected is picked again, by either kind of lens, on or off its centre."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given
from inside.spatial import Projection, distance_to_points
from strategies import seeds, unit_floats
from views import SIZE, Place, flat, looking, perspective, pixel_of, places, turned_to, view_matrix

if TYPE_CHECKING:
    from inside.spatial import Floats


def some_points(place: Place, seed: int, count: int = 20) -> Floats:
    """(count, 3) before the eye, on the picture or off it."""
    random = np.random.default_rng(seed)
    deep = place.unit * random.uniform(0.1, 9.0, size=count)
    aside = random.normal(size=(count, 2)) * deep[:, None]
    p = place.projection
    return p.eye + aside[:, :1] * p.right + aside[:, 1:] * p.up - deep[:, None] * p.back


@given(places(), seeds)
def test_the_ray_of_a_projected_point_goes_through_it(place: Place, seed: int) -> None:
    points = some_points(place, seed)
    for point, pixel in zip(points, place.projection.project(points), strict=True):
        missed, along = distance_to_points(place.projection.ray(*pixel), point)
        assert missed < 1e-11 * place.unit
        assert along > 0.0


@given(places(), unit_floats, unit_floats)
def test_all_points_of_a_ray_are_seen_at_its_pixel(place: Place, x: float, y: float) -> None:
    p = place.projection
    pixel = np.array([x, y]) * p.size
    along = place.unit * np.array([0.01, 0.3, 1.0, 50.0])
    np.testing.assert_allclose(p.project(p.ray(*pixel).at(along)), np.tile(pixel, (4, 1)), rtol=0, atol=1e-6)


@given(places())
def test_rays_start_in_the_plane_of_the_eye_and_lead_away_from_it(place: Place) -> None:
    p = place.projection
    ray = p.ray(0.3 * p.size[0], 0.8 * p.size[1])
    assert abs(p.depth(ray.origin)) < 1e-12 * place.unit
    assert p.depth(ray.at(place.unit)) > 0.0
    if p.orthographic:
        np.testing.assert_allclose(ray.direction, -p.back, rtol=0, atol=1e-15)
    else:
        np.testing.assert_allclose(ray.origin, p.eye, rtol=0, atol=1e-15 * place.unit)


@given(places(), seeds, unit_floats, unit_floats)
def test_the_point_under_a_pixel_is_seen_there_and_as_deep_as_asked(
    place: Place, seed: int, x: float, y: float
) -> None:
    p, point = place.projection, some_points(place, seed, 1)[0]
    x, y = x * p.size[0], y * p.size[1]
    under = p.under(x, y, point)
    np.testing.assert_allclose(p.project(under), [x, y], rtol=0, atol=1e-7)
    assert math.isclose(p.depth(under), p.depth(point), rel_tol=1e-12)
    x, y = pixel_of(p, point)
    np.testing.assert_allclose(p.under(x, y, point), point, rtol=0, atol=1e-11 * place.unit)


def test_an_orthographic_view_shows_what_lies_behind_its_eye() -> None:
    p = looking(30.0, 10.0, orthographic=True)
    behind = p.eye + 4.0 * p.back
    under = p.under(100.0, 50.0, behind)
    np.testing.assert_allclose(p.project(under), [100.0, 50.0], rtol=0, atol=1e-9)
    assert math.isclose(p.depth(under), -4.0, rel_tol=1e-12)


@given(places(), seeds)
def test_a_metre_across_the_view_is_as_many_pixels_long_as_said(place: Place, seed: int) -> None:
    p, points = place.projection, some_points(place, seed)
    step = 1e-3 * place.unit
    for direction in (p.right, p.up):
        pixels = np.linalg.norm(p.project(points + step * direction) - p.project(points), axis=-1)
        np.testing.assert_allclose(pixels / step, p.pixels_per_metre(points), rtol=1e-6)


@given(places(), seeds)
def test_right_is_right_up_is_up_and_depth_grows_away_from_the_eye(place: Place, seed: int) -> None:
    p, points = place.projection, some_points(place, seed)
    pixels, step = p.project(points), 0.01 * place.unit
    assert (p.project(points + step * p.right) > pixels)[:, 0].all()
    assert (p.project(points + step * p.up) < pixels)[:, 1].all()
    np.testing.assert_allclose(p.depth(points - step * p.back) - p.depth(points), step, rtol=1e-9)
    np.testing.assert_allclose(
        np.stack([p.right, p.up, p.back]) @ np.stack([p.right, p.up, p.back]).T, np.eye(3), atol=1e-12
    )


def test_a_pinhole_by_hand() -> None:
    eye = np.array([1.0, 2.0, 10.0])
    p = Projection(view_matrix(eye, np.eye(3)), perspective((800, 600), math.radians(90.0)), (800, 600))
    # At 10 m, a quarter turn of view shows 20 m in 600 pixels: 30 pixels per metre.
    np.testing.assert_allclose(
        p.project([[1, 2, 0], [3, 2, 0], [1, 12, 0]]), [[400, 300], [460, 300], [400, 0]], atol=1e-9
    )
    np.testing.assert_allclose(p.eye, eye)
    assert math.isclose(p.depth([5, 5, 0]), 10.0)
    assert math.isclose(p.pixels_per_metre([5, 5, 0]), 30.0)
    assert not p.orthographic


def test_a_lens_off_its_centre_moves_the_picture_by_halves_of_it() -> None:
    eye, turned = np.array([0.0, 0.0, 5.0]), turned_to(0.0, 0.0)
    for lens in (perspective(shift=(0.5, -0.25)), flat(4.0, shift=(0.5, -0.25))):
        p = Projection(view_matrix(eye, turned), lens, SIZE)
        np.testing.assert_allclose(p.project(np.zeros(3)), [0.75 * SIZE[0], 0.625 * SIZE[1]])


def test_nothing_beside_or_behind_a_perspective_eye_has_a_pixel() -> None:
    p = looking()
    points = np.array([p.eye, p.eye + p.right, p.eye + p.back, p.eye + p.back + p.up])
    assert np.isnan(p.project(points)).all()
    np.testing.assert_array_equal(p.pixels_per_metre(points), np.zeros(4))
    assert not p.inside(p.project(points)).any()


@pytest.mark.parametrize("orthographic", [False, True])
def test_any_number_of_points_is_taken_at_once(orthographic: bool) -> None:
    p = looking(20.0, 30.0, orthographic=orthographic)
    points = np.random.default_rng(0).normal(size=(4, 5, 3)) * 0.1
    assert p.project(points).shape == (4, 5, 2)
    assert p.depth(points).shape == p.pixels_per_metre(points).shape == (4, 5)
    np.testing.assert_allclose(p.project(points)[2, 3], p.project(points[2, 3]), rtol=0, atol=1e-9)
    assert p.project(points[0, 0]).shape == (2,)
    assert p.inside(p.project(points)).shape == (4, 5)


def test_inside_is_the_rectangle_and_its_margin() -> None:
    p = looking()
    w, h = SIZE
    pixels = np.array([[0, 0], [w, h], [-1, 5], [5, h + 1], [np.nan, 5]])
    assert p.inside(pixels).tolist() == [True, True, False, False, False]
    assert p.inside(pixels, margin=1.0).tolist() == [True, True, True, True, False]


def test_its_matrices_are_its_own() -> None:
    view = np.eye(4)
    p = Projection(view, perspective(), SIZE)
    view[0, 3] = 7.0
    assert p.eye[0] == 0.0
    assert not p.view.flags.writeable
    assert not p.lens.flags.writeable
