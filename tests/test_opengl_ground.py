"""The grid on the ground and the figure's shadow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gl_drawing import BARE, RED, SIZE, WHITE, at, bones, camera, changed, drawn, hue, spheres
from inside.opengl import shadow_bounds
from inside.scene import CAPSULE, SOLID, triangles_of

from viewer import Box
from viewer.scene import Camera

GRID = replace(BARE, grid=True)
SHADOW = replace(BARE, shadow=True)


def above(distance: float = 2.0, **more: float) -> Camera:
    return Camera(np.zeros(3), distance=distance, orthographic=True, **{"pitch": 0.5 * math.pi, **more})


def test_lines_are_at_whole_cells_and_axes_in_their_colours() -> None:
    projection = above(1.2).projection(SIZE)
    picture = drawn(projection, ground=GRID)
    bare = drawn(projection)
    for x, z in ((0.1, 0.05), (-0.2, 0.05), (0.05, 0.1), (0.05, -0.3)):
        assert np.subtract(at(picture, projection, (x, 0, z)), at(bare, projection, (x, 0, z))).max() > 5
    assert at(picture, projection, (0.05, 0, 0.05)) == at(bare, projection, (0.05, 0, 0.05))
    assert hue(at(picture, projection, (0.25, 0, 0))) == "r"  # the x axis lies where z is 0
    assert hue(at(picture, projection, (0, 0, 0.25))) == "b"


@pytest.mark.parametrize("place", [0.0, 1234.5, -300.0])
def test_the_grid_stays_sharp_far_from_the_origin(place: float) -> None:
    ground = replace(GRID, centre=(place + 0.03, 0.0, 0.0))
    view = replace(above(0.6), target=np.array([place, 0.0, 0.4]))
    picture = drawn(view.projection(SIZE), ground=ground)
    reference = drawn(
        replace(above(0.6), target=np.array([0.0, 0.0, 0.4])).projection(SIZE),
        ground=replace(GRID, centre=(0.03, 0.0, 0.0)),
    )
    if place == 0.0:
        assert changed(picture, view.projection(SIZE)).mean() > 0.02
    # But for the z axis, which is elsewhere.
    aside = np.abs(np.arange(SIZE[0]) - SIZE[0] / 2) > 4
    assert np.abs(picture - reference)[:, aside].max() <= 6


@pytest.mark.parametrize("orthographic", [False, True])
def test_the_grid_fades_towards_its_rim_and_ends_there(orthographic: bool) -> None:
    projection = (
        above(14.0, pitch=1.2).projection(SIZE)
        if orthographic
        else Camera(np.zeros(3), pitch=1.2, distance=16.0).projection(SIZE)
    )
    picture, bare = drawn(projection, ground=GRID), drawn(projection)
    strengths = [
        np.abs(np.subtract(at(picture, projection, (x, 0, 0)), at(bare, projection, (x, 0, 0)))).max()
        for x in (0.5, 1.5, 2.5, 3.5, 4.85)
    ]
    assert strengths == sorted(strengths, reverse=True)
    assert strengths[0] > 60
    assert strengths[-1] <= 2


def test_levels_fade_out_before_their_cells_are_too_small_to_see() -> None:
    for distance in (3.0, 30.0, 300.0):
        projection = replace(above(distance)).projection(SIZE)
        ground = replace(GRID, height=distance)  # so that the rim is always as far off
        picture, bare = drawn(projection, ground=ground), drawn(projection)
        light = (picture - bare).sum(axis=-1) / 3
        cell_px = 0.1 * float(projection.pixels_per_metre((0, 0, 0)))
        if cell_px < 0.3:  # both levels are gone, and only the axes are left
            light[:, SIZE[0] // 2 - 2 : SIZE[0] // 2 + 2] = 0
            light[SIZE[1] // 2 - 2 : SIZE[1] // 2 + 2] = 0
            assert light.max() <= 1
        else:
            assert light.max() > 5


def test_from_below_the_figure_is_seen_through_the_grid() -> None:
    ground = replace(GRID, cell=0.2)
    ball = spheres(((0.1, 0.6, 0.1), 0.5, WHITE))
    for pitch, seen in ((-0.5 * math.pi, True), (0.5 * math.pi, False)):
        projection = above(pitch=pitch).projection(SIZE)
        with_grid, without = drawn(projection, spheres=ball, ground=ground), drawn(projection, spheres=ball)
        on_ball = np.array(at(with_grid, projection, (0.2, 0, 0.1))) - at(without, projection, (0.2, 0, 0.1))
        assert (np.abs(on_ball).max() > 5) == seen


def test_a_shadow_lies_away_from_the_light_and_is_deepest_at_the_ground() -> None:
    post = bones(((0, 0.0, 0), (0, 0.9, 0), 0.03, RED))
    for yaw in (0.0, 1.3, 3.0):
        projection = Camera(np.zeros(3), yaw=yaw, pitch=0.9, distance=4.0).projection(SIZE)
        bare = drawn(projection, bones=post)
        dark = (bare - drawn(projection, bones=post, ground=SHADOW)).sum(axis=-1)
        assert (dark >= 0).all()
        columns = np.nonzero(dark > 3)[1]
        foot = projection.project((0, 0, 0))
        # The key light is at the upper left of the view.
        assert columns.mean() > foot[0] + 3
        x, y = np.floor(foot).astype(int).tolist()
        near_foot = dark[y - 4 : y + 5, x - 4 : x + 5].max()
        assert near_foot > 0.5 * bare[y + 4, x + 4].sum()
        assert near_foot == dark.max()


def test_a_shadow_is_only_on_the_ground_and_unseen_from_below() -> None:
    post = bones(((0, 0.0, 0), (0, 0.9, 0), 0.03, WHITE), ((-0.3, 0.5, 0), (0.3, 0.5, 0), 0.05, WHITE))
    projection = Camera(np.zeros(3), pitch=0.4, distance=4.0).projection(SIZE)
    on_bones = changed(drawn(projection, bones=post), projection)
    dark = np.abs(drawn(projection, bones=post, ground=SHADOW) - drawn(projection, bones=post)).max(axis=-1)
    assert dark[~on_bones].max() > 8
    inner = on_bones & np.roll(on_bones, 1, 0) & np.roll(on_bones, -1, 0) & np.roll(on_bones, 1, 1)
    low = np.arange(SIZE[1])[:, None] > projection.project((0, 0.1, 0))[1]  # the foot stands in its own shadow
    assert dark[inner & ~low].max() == 0
    below = Camera(np.zeros(3), pitch=-0.4, distance=4.0).projection(SIZE)
    assert (drawn(below, bones=post, ground=SHADOW) == drawn(below, bones=post)).all()


def test_a_shadow_follows_bones_ground_and_light() -> None:
    projection = Camera(np.zeros(3), pitch=0.9, distance=4.0).projection(SIZE)

    def middle(place: tuple[float, float, float], y: float = 0.0) -> float:
        post = bones((place, np.add(place, (0, 0.4, 0)), 0.05, RED))
        ground = replace(SHADOW, y=y, centre=(0.0, y, 0.0))
        dark = np.abs(drawn(projection, bones=post, ground=ground) - drawn(projection, bones=post)).sum(axis=-1)
        return float((dark * np.arange(SIZE[0])).sum() / dark.sum())

    assert middle((-0.5, 0, 0)) < middle((0, 0, 0)) - 20 < middle((0.5, 0, 0)) - 40
    assert middle((0, 0, 0), y=-0.4) > middle((0, 0, 0)) + 2  # higher above the ground: farther off


def test_bones_of_any_order_cast_the_same_shadow() -> None:
    projection = Camera(np.zeros(3), pitch=0.7, distance=4.0).projection(SIZE)
    posts = bones(*(((0.2 * i, 0.1, 0), (0, 0.7, 0.2 * i), 0.05, RED) for i in range(-3, 4)))
    forwards = drawn(projection, bones=posts, ground=SHADOW)
    assert (drawn(projection, bones=posts[::-1].copy(), ground=SHADOW) == forwards).all()


def test_bones_in_one_place_cast_no_darker_shadow_than_one() -> None:
    projection = Camera(np.zeros(3), pitch=0.7, distance=4.0).projection(SIZE)
    post = ((0, 0.1, 0), (0.1, 0.7, 0.2), 0.05, RED)
    one = drawn(projection, bones=bones(post), ground=SHADOW)
    assert (drawn(projection, bones=bones(post, post, post), ground=SHADOW) == one).all()


def test_the_dark_part_of_the_map_holds_all_of_the_shadow() -> None:
    posts = bones(((0, 0, 0), (0.4, 0.9, 0.2), 0.05, RED), ((-0.3, 0.2, 0.1), (0, 0.1, 0.6), 0.02, RED))
    lean = np.array([0.2, 0.0, 0.1])
    bounds = shadow_bounds(posts, SHADOW, lean)
    assert bounds is not None
    x0, z0, x1, z1 = bounds
    half = 1.3
    for end, radius in (((0, 0, 0), 0.05), ((0.4, 0.9, 0.2), 0.05), ((-0.3, 0.2, 0.1), 0.02), ((0, 0.1, 0.6), 0.02)):
        reach = 1.7 * (1.5 * radius + 0.085 * end[1])
        assert half * x0 <= end[0] + 0.2 * end[1] - reach + 1e-6
        assert half * x1 >= end[0] + 0.2 * end[1] + reach - 1e-6
        assert half * z0 <= end[2] + 0.1 * end[1] - reach + 1e-6
        assert half * z1 >= end[2] + 0.1 * end[1] + reach - 1e-6
    away = bones(((50, 0, 0), (50, 1, 0), 0.05, RED))
    assert shadow_bounds(away, SHADOW, lean) is None


def test_without_bones_there_is_no_shadow() -> None:
    projection = camera().projection(SIZE)
    assert (drawn(projection, ground=SHADOW) == drawn(projection)).all()


def test_balls_and_boxes_cast_their_shadow() -> None:
    projection = above(4.0).projection(SIZE)
    post = bones(((-0.9, 0.0, 0.0), (-0.9, 0.1, 0.0), 0.02, RED))
    ball = np.zeros(1, CAPSULE)
    ball["a"] = ball["b"] = (0.5, 0.3, 0.0)
    ball["radius"] = 0.1
    box = triangles_of(Box("box", (0.0, 0.5, 0.4), (0.3, 0.3, 0.3)))
    solids = np.zeros(box.shape[0] * 3, SOLID)
    solids["position"] = box.reshape(-1, 3)

    def dark(**props: Any) -> Any:  # noqa: ANN401 - fields of a draw list, and a picture
        bare = drawn(projection, bones=post, **props)
        return (bare - drawn(projection, bones=post, ground=SHADOW, **props)).sum(axis=-1)

    fresh = dark(capsules=ball, solids=solids) - dark()
    rows, columns = np.nonzero(fresh > 20)
    assert len(rows) > 400
    for middle in ((0.5, 0.0, 0.0), (0.0, 0.0, 0.4)):
        x, y = projection.project(middle)
        assert np.hypot(columns - x, rows - y).min() < 0.35 * float(projection.pixels_per_metre(np.array(middle)))
    # A lone box is a caster as well, and its shadow goes when it goes.
    alone = drawn(projection, solids=solids) - drawn(projection, solids=solids, ground=SHADOW)
    assert alone.sum(axis=-1).max() > 20
    assert (drawn(projection, ground=SHADOW) == drawn(projection)).all()
