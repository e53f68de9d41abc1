"""The camera: framing at any scale, there and back, standard views, and both kinds of projection."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.scene import FAR, FIT, NEAR, near_of
from scenes import SCALES, SIZE, random_camera
from strategies import seeds

from viewer import load
from viewer.scene import Camera, ViewName, blend, figure_points
from viewer.skeleton import fk

SIZES = ((756, 514), (300, 900), (1600, 200), (1, 1))
pixels = st.floats(-300.0, 300.0)


@given(seeds)
def test_the_target_is_in_the_middle_and_up_is_up(seed: int) -> None:
    camera = random_camera(seed)
    projection = camera.projection(SIZE)
    np.testing.assert_allclose(projection.project(camera.target), (378.0, 257.0), atol=1e-6)
    above = projection.project(camera.target + 0.1 * camera.distance * np.array([0.0, 1.0, 0.0]))
    assert above[1] <= 257.0
    np.testing.assert_allclose(above[0], 378.0, atol=1e-6)
    np.testing.assert_allclose(projection.right, camera.right, atol=1e-12)
    np.testing.assert_allclose(projection.up, camera.up, atol=1e-12)
    np.testing.assert_allclose(projection.back, camera.back, atol=1e-12)


def test_a_point_to_the_right_by_hand() -> None:
    """From 2 m in front, 90 degrees high: the view is 4 m high at the target, 514 pixels."""
    camera = Camera(np.array([0.0, 1.0, 0.0]), distance=2.0, fov_y=math.radians(90.0))
    np.testing.assert_allclose(camera.projection(SIZE).eye, (0.0, 1.0, 2.0), atol=1e-12)
    at = camera.projection(SIZE).project((1.0, 2.0, 0.0))
    np.testing.assert_allclose(at, (378.0 + 514.0 / 4.0, 257.0 - 514.0 / 4.0))


@given(seeds, st.sampled_from(SCALES), st.sampled_from(SIZES), st.booleans())
def test_framing_shows_all_points_at_any_scale_and_shape(
    seed: int, scale: float, size: tuple[int, int], flat: bool
) -> None:
    random = np.random.default_rng(seed)
    points = scale * (random.normal(size=(20, 3)) * random.uniform(0.01, 1.0, 3) + 5.0 * random.normal(size=3))
    camera = replace(random_camera(seed), orthographic=flat).frame(points, size)
    projection = camera.projection(size)
    assert projection.inside(projection.project(points)).all()
    depth = projection.depth(points)
    assert (depth > near_of(projection)).all()
    assert (depth < FAR * camera.distance).all()


@given(seeds, st.booleans())
def test_framing_is_tight(seed: int, flat: bool) -> None:
    points = np.random.default_rng(seed).normal(size=(20, 3))
    camera = replace(random_camera(seed), orthographic=flat).frame(points, SIZE, raised=0.0)
    across = np.abs(camera.projection(SIZE).project(points) / SIZE - 0.5).max()
    assert across == pytest.approx(0.5 / FIT if flat else across, rel=1e-6)
    nearer = replace(camera, distance=camera.distance * 0.75).projection(SIZE)
    assert not nearer.inside(nearer.project(points)).all()


def test_framing_leaves_more_room_above_than_below() -> None:
    points = np.array([[0.0, 0.0, 0.0], [0.0, 1.7, 0.0]])
    bottom, top = Camera(np.zeros(3)).frame(points, SIZE).projection(SIZE).project(points)[:, 1]
    assert 0.0 < SIZE[1] - bottom < top


def test_framing_nothing_or_one_point() -> None:
    camera = Camera(np.array([1.0, 2.0, 3.0]), distance=4.0)
    assert camera.frame(np.empty((0, 3)), SIZE).same_as(camera)
    assert camera.frame([(np.nan, 0.0, 0.0)], SIZE).same_as(camera)
    alone = camera.frame([(0.0, 0.0, 0.0)], SIZE)
    assert (alone.distance, alone.target.tolist()) == (4.0, [0.0, 0.0, 0.0])
    sized = camera.frame([(0.0, 0.0, 0.0)], SIZE, least=0.2)
    assert 0.2 < sized.distance < 2.0


@given(seeds, pixels, pixels)
def test_orbit_there_and_back(seed: int, dx: float, dy: float) -> None:
    camera = replace(random_camera(seed), pitch=0.0)
    dy = max(min(dy, 200.0), -200.0)
    back = camera.orbit(dx, dy).orbit(-dx, -dy)
    assert back.yaw == pytest.approx(camera.yaw, abs=1e-12)
    assert back.pitch == pytest.approx(0.0, abs=1e-12)
    assert np.array_equal(back.target, camera.target)
    assert back.distance == camera.distance


def test_orbit_follows_the_pointer_and_stops_above_and_below() -> None:
    camera = Camera(np.zeros(3), distance=3.0)
    front = np.array([0.0, 0.0, 0.5])
    moved = camera.orbit(40.0, 25.0).projection(SIZE).project(front) - camera.projection(SIZE).project(front)
    assert (moved > 0.0).all()
    assert camera.orbit(0.0, 1e4).pitch == pytest.approx(math.pi / 2)
    assert camera.orbit(0.0, -1e4).pitch == pytest.approx(-math.pi / 2)
    assert camera.orbit(40.0, 20.0, scale=2.0).same_as(camera.orbit(20.0, 10.0))


@given(seeds, pixels, pixels)
def test_pan_moves_the_target_with_the_pointer(seed: int, dx: float, dy: float) -> None:
    camera = random_camera(seed)
    moved = camera.pan(dx, dy, SIZE).projection(SIZE).project(camera.target)
    np.testing.assert_allclose(moved, np.array([378.0 + dx, 257.0 + dy]), atol=1e-6)


@given(seeds, st.floats(-8.0, 8.0))
def test_zoom_keeps_the_point_under_the_pointer(seed: int, steps: float) -> None:
    camera = random_camera(seed)
    offset = np.random.default_rng(seed).uniform(-0.2, 0.2, 3)
    point = camera.target + camera.distance * offset
    zoomed = camera.zoom(steps, point)
    before, after = camera.projection(SIZE).project(point), zoomed.projection(SIZE).project(point)
    np.testing.assert_allclose(after, before, atol=1e-5)
    assert (zoomed.distance < camera.distance) == (0.9**steps < 1.0)
    assert camera.zoom(steps).zoom(-steps).distance == pytest.approx(camera.distance)


def test_zoom_ends_somewhere() -> None:
    camera = Camera(np.ones(3))
    for steps in (1e4, -1e4):
        end = camera.zoom(steps, (0.0, 0.0, 0.0))
        assert np.isfinite(end.distance)
        assert np.isfinite(end.projection(SIZE).view).all()
        assert np.isfinite(end.projection(SIZE).lens).all()


LOOKS: dict[ViewName, tuple[float, float, float]] = {
    "front": (0, 0, -1), "back": (0, 0, 1), "right": (1, 0, 0), "left": (-1, 0, 0), "top": (0, -1, 0),
    "bottom": (0, 1, 0),
}  # fmt: skip


@pytest.mark.parametrize("view", LOOKS)
def test_standard_views_look_along_the_axes_of_a_figure_that_faces_z(view: ViewName) -> None:
    """Its left is +X: from its right one looks along +X."""
    projection = Camera(np.ones(3)).looking(view).projection(SIZE)
    np.testing.assert_allclose(-projection.back, LOOKS[view], atol=1e-12)
    ahead = projection.project(np.array([1.0, 1.0, 1.1]))
    sides = {"right": 1, "left": -1}
    if view in sides:
        assert np.sign(ahead[0] - 378.0) == sides[view]
    if view in {"top", "bottom"}:
        assert np.sign(ahead[1] - 257.0) == (1 if view == "top" else -1)


@given(st.floats(-3.0, 3.0))
def test_standard_views_turn_with_the_figure(angle: float) -> None:
    facing = np.array([math.sin(angle), 0.0, math.cos(angle)])
    camera = Camera(np.zeros(3))
    np.testing.assert_allclose(camera.looking("front", facing).back, facing, atol=1e-12)
    own_right = np.array([-math.cos(angle), 0.0, math.sin(angle)])
    np.testing.assert_allclose(camera.looking("right", facing).back, own_right, atol=1e-12)
    between = camera.looking("three-quarter", facing).back
    assert between @ facing > 0.5
    assert between @ own_right > 0.5
    assert between[1] == pytest.approx(math.sin(math.radians(15.0)))


@pytest.mark.parametrize("view", LOOKS)
def test_the_opposite_view_is_the_other_side_and_twice_is_the_same(view: ViewName) -> None:
    camera = Camera(np.zeros(3)).looking(view)
    np.testing.assert_allclose(camera.opposite().back, -camera.back, atol=1e-12)
    np.testing.assert_allclose(
        camera.opposite().opposite().projection(SIZE).view, camera.projection(SIZE).view, atol=1e-12
    )


@given(seeds)
def test_perspective_changes_no_size_at_the_target(seed: int) -> None:
    camera = random_camera(seed)
    other = replace(camera, orthographic=not camera.orthographic)
    beside = camera.target + 0.1 * camera.distance * (camera.right + 0.5 * camera.up)
    np.testing.assert_allclose(
        camera.projection(SIZE).project(beside), other.projection(SIZE).project(beside), atol=1e-6
    )


@given(seeds)
def test_the_planes_of_the_visible_range(seed: int) -> None:
    camera = random_camera(seed)
    projection = camera.projection(SIZE)
    assert near_of(projection) == pytest.approx(NEAR * camera.distance)
    for part, clip in ((NEAR, -1.0), (FAR, 1.0)):
        view = np.array([0.0, 0.0, -part * camera.distance, 1.0])
        x, y, z, w = projection.lens @ view
        assert (x, y) == (0.0, 0.0)
        assert z / w == pytest.approx(clip, abs=1e-6)


def test_a_blend_starts_and_ends_exactly_and_turns_the_short_way() -> None:
    a = Camera(np.zeros(3), yaw=math.radians(170.0), distance=1.0)
    b = Camera(np.ones(3), yaw=math.radians(-170.0), pitch=0.5, distance=4.0, orthographic=True)
    assert blend(a, b, 0.0) is a
    assert blend(a, b, 1.0) is b
    yaws = [blend(a, b, t).yaw for t in np.linspace(0.0, 0.999, 20).tolist()]
    assert np.degrees(yaws).min() >= 170.0 - 1e-9
    assert np.degrees(yaws).max() <= 190.0 + 1e-9
    assert (np.diff(yaws) > 0.0).all()
    halfway = blend(a, b, 0.5)
    assert 2.0 < halfway.distance < 4.0, "fast at first, by equal factors"
    assert halfway.orthographic


def test_joints_that_move_no_skin_are_not_kept_in_view() -> None:
    """Rigs have some far from the figure; those of effectors are dragged."""
    pytest.importorskip("trimesh")
    shape = '<visual><geometry><box size="0.1 0.1 0.1"/></geometry></visual>'
    text = f"""<robot name="r"><link name="base">{shape}</link><link name="pole"/>
<link name="arm">{shape}</link><link name="tool0"/>
<joint name="a" type="fixed"><parent link="base"/><child link="pole"/><origin xyz="0 0 50"/></joint>
<joint name="b" type="continuous"><parent link="base"/><child link="arm"/><origin xyz="0 0 1"/></joint>
<joint name="c" type="fixed"><parent link="arm"/><child link="tool0"/><origin xyz="0 0 2"/></joint></robot>"""
    robot = load(text=text)
    skeleton = robot.skeleton
    assert robot.skin is not None
    assert [effector.name for effector in skeleton.effectors] == ["tool0"]
    world = fk(skeleton, skeleton.rest_pose())
    dressed, bare = (figure_points(skeleton, world, skin) for skin in (robot.skin, None))
    np.testing.assert_allclose((dressed[:, 1].min(), dressed[:, 1].max()), (-0.05, 3.0), atol=1e-6)
    np.testing.assert_allclose((bare[:, 1].min(), bare[:, 1].max()), (0.0, 50.0), atol=1e-12)
