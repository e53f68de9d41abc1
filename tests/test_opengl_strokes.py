"""Lines in space, translucent triangles, ghosts and the flat overlay."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gl_drawing import BLUE, GREEN, RED, SIZE, WHITE, at, bones, camera, changed, drawn, hue, lines, quad, spheres

from viewer.scene import FLAT, Camera

PROJECTIONS = pytest.mark.parametrize("orthographic", [False, True])
SAMPLES = pytest.mark.parametrize("samples", [0, 4])


@PROJECTIONS
@SAMPLES
@pytest.mark.parametrize("width", [1.0, 2.0, 5.5])
def test_a_line_is_as_wide_as_it_says_at_any_depth(orthographic: bool, samples: int, width: float) -> None:
    projection = camera(orthographic).projection(SIZE)
    for depth in (-2.0, 0.0, 1.0):
        picture = drawn(projection, samples, lines=lines(((-9, 0.11, depth), (9, 0.11, depth), width, WHITE)))
        column = picture[:, SIZE[0] // 2, 0]
        bare = drawn(projection, samples)[:, SIZE[0] // 2, 0]
        covered = ((column - bare) / (255.0 - bare)).sum()
        assert covered == pytest.approx(width, abs=0.12)


def test_a_line_thinner_than_a_pixel_is_fainter() -> None:
    projection = camera().projection(SIZE)
    picture = drawn(projection, lines=lines(((-9, 0.1, 0), (9, 0.1, 0), 0.5, WHITE)))
    bare = drawn(projection)
    assert ((picture - bare) / (255.0 - bare))[:, 100, 0].sum() == pytest.approx(0.5, abs=0.05)


@PROJECTIONS
def test_a_line_goes_from_its_start_to_its_end(orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    start, end = np.array([-0.4, 0.2, -0.3]), np.array([0.5, -0.3, 0.4])
    covered = changed(drawn(projection, lines=lines((start, end, 3.0, WHITE))), projection)
    rows, columns = np.nonzero(covered)
    pixels = projection.project([start, end])
    assert columns.min() == pytest.approx(pixels[:, 0].min(), abs=2)
    assert columns.max() == pytest.approx(pixels[:, 0].max(), abs=2)
    assert rows.min() == pytest.approx(pixels[:, 1].min(), abs=2)
    assert rows.max() == pytest.approx(pixels[:, 1].max(), abs=2)
    assert covered.sum() == pytest.approx(3 * np.linalg.norm(pixels[1] - pixels[0]), rel=0.4)


def test_dashes_are_so_many_pixels_on_and_off() -> None:
    projection = camera(orthographic=True).projection(SIZE)
    records = lines(((-0.5, 0.1, 0), (0.5, 0.1, 0), 4.0, WHITE))
    records["dash_px"] = (7.0, 5.0)
    row = drawn(projection, lines=records)[:, :, 0].max(axis=0) > 150
    length = float(np.ptp(projection.project([(-0.5, 0, 0), (0.5, 0, 0)])[:, 0]))
    starts = np.flatnonzero(row[1:] & ~row[:-1])
    assert len(starts) == math.ceil(length / 12)
    np.testing.assert_allclose(np.diff(starts), 12, atol=1)
    assert row.sum() == pytest.approx(length * 7 / 12, abs=8)


def test_a_line_from_behind_the_eye_is_seen_as_far_as_it_is_before_it() -> None:
    projection = camera(distance=2.0).projection(SIZE)
    # Straight on from under the eye into the distance: on the screen from the lower edge up to the horizon.
    line = (0.0, -0.2, 50.0), (0.0, -0.2, -150.0), 3.0, WHITE
    column = changed(drawn(projection, lines=lines(line)), projection)[:, SIZE[0] // 2 - 1 : SIZE[0] // 2 + 1].any(
        axis=1
    )
    there = np.flatnonzero(column)
    assert there.max() == SIZE[1] - 1
    assert there.min() == pytest.approx(SIZE[1] / 2, abs=3)
    backwards = lines((line[1], line[0], 3.0, WHITE))
    assert np.abs(drawn(projection, lines=backwards) - drawn(projection, lines=lines(line))).max() <= 3
    behind = lines(((0.0, -0.2, 50.0), (0.3, 0.2, 3.0), 3.0, WHITE))
    assert not changed(drawn(projection, lines=behind), projection).any()


@PROJECTIONS
def test_lines_and_triangles_are_hidden_by_what_is_nearer(orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    ball = spheres(((0, 0, 0), 0.3, RED))
    for depth, expected in ((-0.6, "r"), (0.6, "g")):
        stroke = lines(((-1, 0, depth), (1, 0, depth), 6.0, GREEN))
        assert hue(at(drawn(projection, spheres=ball, lines=stroke), projection, (0, 0, 0))) == expected
        sheet = quad([(-1, -1, depth), (1, -1, depth), (1, 1, depth), (-1, 1, depth)], GREEN)
        assert hue(at(drawn(projection, spheres=ball, triangles=sheet), projection, (0, 0, 0))) == expected


@SAMPLES
def test_a_translucent_triangle_lets_its_share_through_and_hides_nothing_behind(samples: int) -> None:
    projection = camera().projection(SIZE)
    ball = spheres(((0, 0, 0), 0.3, RED))
    bare = drawn(projection, samples, spheres=ball)
    corners = [(-1, -1, 0.6), (1, -1, 0.6), (1, 1, 0.6), (-1, 1, 0.6)]
    picture = drawn(projection, samples, spheres=ball, triangles=quad(corners, (0.0, 0.0, 1.0, 0.25)))
    expected = 0.75 * bare + 0.25 * np.array([0, 0, 255])
    assert np.abs(picture - expected)[40:200, 60:260].max() <= 1.5
    # It writes no depth: a line behind it is drawn after it, and seen.
    stroke = lines(((-1, 0.35, 0.5), (1, 0.35, 0.5), 6.0, GREEN))
    over = drawn(projection, samples, triangles=quad(corners, (0.0, 0.0, 1.0, 0.25)), lines=stroke)
    assert hue(at(over, projection, (0, 0.35, 0.5))) == "g"


def test_translucent_triangles_of_one_colour_need_no_order() -> None:
    projection = camera().projection(SIZE)
    sheets = [
        quad([(x - 0.3, -0.4, z), (x + 0.3, -0.4, z), (x + 0.3, 0.4, z), (x - 0.3, 0.4, z)], (0.3, 0.8, 1.0, 0.15))
        for x, z in ((-0.2, 0.1), (0.0, -0.2), (0.1, 0.3), (0.2, 0.0))
    ]
    forwards = drawn(projection, triangles=np.concatenate(sheets))
    assert np.abs(drawn(projection, triangles=np.concatenate(sheets[::-1])) - forwards).max() <= 1


def ghosts(*depths: float, alpha: float = 0.15) -> np.ndarray:
    return bones(*(((-0.5, 0.1 * i, z), (0.5, 0.1 * i, z), 0.12, (0.6, 0.6, 0.7, alpha)) for i, z in enumerate(depths)))


@SAMPLES
def test_ghosts_do_not_stack_darker_and_need_no_order(samples: int) -> None:
    projection = camera().projection(SIZE)
    bare = drawn(projection, samples)
    stacked = ghosts(-0.5, 0.0, 0.5)
    several = drawn(projection, samples, ghosts=stacked)
    one = max(np.abs(drawn(projection, samples, ghosts=ghosts(z)) - bare).max() for z in (-0.5, 0.0, 0.5))
    assert 4 < np.abs(several - bare).max() <= one + 3
    if samples == 0:
        assert np.abs(drawn(projection, samples, ghosts=stacked[::-1].copy()) - several).max() <= 1


def test_ghosts_do_not_touch_the_figure_before_them_and_are_hidden_by_it() -> None:
    projection = camera().projection(SIZE)
    ball = spheres(((0, 0, 0), 0.3, RED))
    bare = drawn(projection, spheres=ball)
    hidden = np.abs(drawn(projection, spheres=ball, ghosts=ghosts(-0.5)) - bare).max(axis=-1)
    x, y = np.floor(projection.project((0, 0, 0))).astype(int).tolist()
    assert hidden[y, x] == 0
    assert hidden.max() > 4
    before = np.abs(drawn(projection, spheres=ball, ghosts=ghosts(0.5)) - bare).max(axis=-1)
    assert before[y, x] > 4
    assert hue(at(drawn(projection, spheres=ball, ghosts=ghosts(0.5)), projection, (0, 0, 0))) == "r"


@SAMPLES
@PROJECTIONS
def test_flat_triangles_are_in_pixels_from_the_top_left_over_everything(samples: int, orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    marks = np.concatenate(
        [
            quad([(10, 20), (60, 20), (60, 50), (10, 50)], RED, FLAT),
            quad([(40, 30), (80, 30), (80, 60), (40, 60)], GREEN, FLAT),
        ]
    )
    wall = bones(((-2, -2, 1), (2, 2, 1), 1.0, BLUE))
    picture = drawn(projection, samples, bones=wall, flat=marks)
    assert (picture[20:30, 10:60] == (255, 0, 0)).all()
    assert (picture[30:60, 40:80] == (0, 255, 0)).all()  # in their order
    bare = drawn(projection, samples, bones=wall)
    outside = np.ones(SIZE[::-1], dtype=bool)
    outside[20:60, 10:80] = False
    assert (picture[outside] == bare[outside]).all()


def test_flat_colours_are_blended_in_display_space() -> None:
    projection = camera().projection(SIZE)
    bare = drawn(projection)
    picture = drawn(projection, flat=quad([(0, 0), (320, 0), (320, 240), (0, 240)], (0.5, 0.25, 1.0, 0.5), FLAT))
    assert np.abs(picture - (0.5 * bare + 0.5 * np.array([127.5, 63.75, 255]))).max() <= 1


@pytest.mark.parametrize("view", ["front", "top", "bottom", "three-quarter"])
def test_an_empty_scene_is_the_background_alone(view: str) -> None:
    picture = drawn(Camera(np.zeros(3)).looking(view).projection(SIZE))  # type: ignore[arg-type]  # names of views
    assert np.abs(picture[0] - (47, 52, 58)).max() <= 1
    assert np.abs(picture[-1] - (26, 29, 32)).max() <= 1
    assert np.ptp(picture, axis=1).max() <= 1  # all rows are level, but for the dither
    assert np.abs(np.diff(picture.mean(axis=1), axis=0)).max() < 0.6  # no bands
