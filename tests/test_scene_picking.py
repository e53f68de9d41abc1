"""Picking: what is projected to a pixel is found there, the right thing first, and nothing where nothing is."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.scene import axes_shapes, centre_of, measure
from inside.skeleton import Mesh, Skin
from rigs import chain
from scenes import SCALES, SIZE, biped, random_camera, random_scene, seen, standing
from strategies import seeds

from viewer.scene import Camera, Display, Mark, Scene, box, figure_points, hits, pick, pick_axis
from viewer.skeleton import Pose, fk

DIRECTIONS = {"x": (1, 0, 0), "-x": (-1, 0, 0), "y": (0, 1, 0), "-y": (0, -1, 0), "z": (0, 0, 1), "-z": (0, 0, -1)}


@given(seeds, st.sampled_from(SCALES))
def test_what_is_projected_is_picked_there(seed: int, factor: float) -> None:
    scene = random_scene(seed, 10, factor)
    projection = random_camera(seed).frame(figure_points(scene.skeleton, scene.world), SIZE).projection(SIZE)
    for joint, place in enumerate(scene.world.positions):
        found = hits(scene, projection, *projection.project(place).tolist())
        assert joint in {hit.index for hit in found if hit.kind == "joint"}
        assert all(hit.depth > 0.0 for hit in found)
    bones = measure(scene.skeleton, scene.world)
    for head, tail, owner in zip(bones.heads, bones.tails, bones.owners.tolist(), strict=True):
        place = head + 0.5 * (tail - head)
        found = hits(scene, projection, *projection.project(place).tolist())
        points = np.array([hit.point for hit in found if hit.kind == "bone" and hit.index == owner])
        assert np.abs(projection.project(points) - projection.project(place)).max() < 1e-6, "under the pointer"
        assert np.linalg.norm(points - place, axis=1).min() < 1e-6 * np.linalg.norm(tail - head), "on the bone"


@given(seeds)
def test_a_hit_lies_under_the_pointer_and_names_its_joint(seed: int) -> None:
    scene = random_scene(seed, 8)
    projection = random_camera(seed).frame(figure_points(scene.skeleton, scene.world), SIZE).projection(SIZE)
    random = np.random.default_rng(seed)
    for x, y in (random.uniform(0.0, 1.0, (12, 2)) * SIZE).tolist():
        for hit in hits(scene, projection, x, y):
            near = {"joint": 30.0, "bone": 1e-6, "effector": 14.0}[hit.kind]
            assert np.linalg.norm(projection.project(hit.point) - (x, y)) <= near
            assert scene.skeleton.names[hit.index] == hit.name
            assert hit.depth == pytest.approx(float(projection.depth(hit.point)))


@given(seeds, st.sampled_from((1, 4)))
def test_a_skin_is_picked_where_it_is_seen_however_far_that_is_from_bones(seed: int, columns: int) -> None:
    random, bare = np.random.default_rng(seed), random_scene(seed, 6)
    count = len(bare.skeleton)
    corners = random.normal(size=(300, 3)).astype(np.float32)
    followed = np.repeat(random.integers(0, count, 100), 3)
    faces = np.arange(300, dtype=np.uint32).reshape(-1, 3)
    bindings = random.integers(0, count, (300, columns), dtype=np.uint16)
    heaviest = random.integers(0, columns, 300)
    bindings[np.arange(300), heaviest] = followed
    mesh = Mesh("m", corners, faces, bindings, np.eye(columns, dtype=np.float32)[heaviest])
    skin = Skin((mesh,), np.arange(count), np.tile(np.eye(3, 4), (count, 1, 1)), count)
    scene = replace(bare, skin=skin, size=np.eye(3) + 0.3 * random.normal(size=(count, 3, 3)))
    seen_at = skin.posed(scene.world.positions, scene.world.rotations, size=scene.size)
    projection = random_camera(seed).frame(seen_at, SIZE).projection(SIZE)
    for triangle in random.integers(0, 100, 20).tolist():
        place = random.dirichlet((2.0, 2.0, 2.0)) @ seen_at[faces[triangle]]
        found = [hit for hit in hits(scene, projection, *projection.project(place).tolist()) if hit.kind == "bone"]
        assert found[0].depth <= float(projection.depth(place)) + 1e-6
        assert followed[3 * triangle] in {hit.index for hit in found}
        assert np.all(np.diff([hit.depth for hit in found]) >= -1e-9)
    for other in (Display(see_through=True), Display(skin=False)):
        pixel = projection.project(seen_at[0]).tolist()
        as_bones = [(hit.kind, hit.index) for hit in hits(replace(bare, display=other), projection, *pixel)]
        found = hits(replace(scene, display=other), projection, *pixel)
        assert [(hit.kind, hit.index) for hit in found] == as_bones


@pytest.mark.parametrize("factor", SCALES)
@pytest.mark.parametrize("flat", [False, True])
def test_thin_bones_are_picked_within_four_pixels(factor: float, flat: bool) -> None:
    skeleton = replace(chain(1), tip_offsets=np.array([[factor, 0.0, 0.0]]))
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()), height=20.0 * factor)
    camera = Camera(np.array([0.5 * factor, 0.0, 0.0]), distance=100.0 * factor, orthographic=flat)
    projection = camera.projection((800, 600))
    x, y = projection.project((0.9 * factor, 0.0, 0.0)).tolist()
    for aside in (-3.9, 0.0, 3.9):
        hit = pick(scene, projection, x, y + aside)
        assert hit is not None
    assert hits(scene, projection, x, y + 3.9)[0].kind in {"bone", "joint"}
    assert pick(scene, projection, x + 40.0, y) is None
    assert pick(scene, projection, x, y + 8.2) is None
    assert pick(scene, projection, x, y + 7.8, scale=2.0) is not None


def test_effectors_before_joints_before_bones() -> None:
    scene = standing(biped())
    projection = seen(scene)
    hand = scene.skeleton.index("LeftHand")
    at = projection.project(scene.world.positions[hand]).tolist()
    kinds = [hit.kind for hit in hits(scene, projection, *at)]
    assert kinds.index("effector") < kinds.index("joint") < kinds.index("bone")
    hidden = replace(scene, display=Display(goals=False))
    assert {hit.kind for hit in hits(hidden, projection, *at)} == {"joint", "bone"}


def test_handles_are_picked_within_fourteen_pixels_at_target_and_effector() -> None:
    scene = standing(biped())
    projection = seen(scene)
    mark = scene.marks[0]
    target = mark.position + np.array([0.25, 0.1, 0.0])
    scene = replace(scene, marks=(mark._replace(target=target, reached=False, error_m=0.27),))
    for place in (target, mark.position):
        x, y = projection.project(place).tolist()
        hit = pick(scene, projection, x + 13.9, y)
        assert hit is not None
        assert (hit.kind, hit.name, hit.mark) == ("effector", mark.name, scene.marks[0])
        np.testing.assert_array_equal(hit.point, place)
        beyond = pick(scene, projection, x - 14.1, y - 0.5)
        assert beyond is None or beyond.kind != "effector"
        far = pick(scene, projection, x - 27.0, y, scale=2.0)
        assert far is not None
        assert far.kind == "effector"


def test_the_nearer_handle_wins_and_each_is_found_once() -> None:
    skeleton = chain(2)
    world = fk(skeleton, skeleton.rest_pose())
    projection = Camera(np.array([0.5, 0.0, 0.0]), distance=3.0).projection(SIZE)
    x, y = projection.project((0.5, 0.0, 0.0)).tolist()
    pixel = 1.0 / float(projection.pixels_per_metre((0.5, 0.0, 0.0)))
    left, right = (np.array([0.5 + step * pixel, 0.0, 0.0]) for step in (-5.0, 5.0))
    scene = Scene(skeleton, world, (Mark("l", 0, left, left), Mark("r", 1, right, right)))
    for dx, first in ((-4.0, "l"), (4.0, "r")):
        names = [hit.name for hit in hits(scene, projection, x + dx, y) if hit.kind == "effector"]
        assert names[0] == first
        assert sorted(names) == ["l", "r"]


def test_joints_at_one_place_are_all_found_in_order() -> None:
    offsets = np.array([(0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 1, 0)], dtype=float)
    skeleton = replace(chain(4), offsets=offsets)
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()))
    projection = seen(scene)
    found = hits(scene, projection, *projection.project((0.0, 0.0, 0.0)).tolist())
    assert [hit.index for hit in found if hit.kind == "joint"] == [0, 1, 2]


def test_the_front_one_is_picked_and_what_it_hides_comes_later() -> None:
    """Two crossing bones, seen along Z; behind the middle of the front one is a joint of the other."""
    offsets = np.array([(0, 0, 0), (-0.5, 0, 1), (0, -0.5, -1), (0, 0.5, 0)], dtype=float)
    skeleton = replace(
        chain(4), parents=np.array([-1, 0, 0, 2]), offsets=offsets, tip_parents=np.array([1, 3]),
        tip_offsets=np.array([(1.0, 0, 0), (0, 0.5, 0)]),
    )  # fmt: skip
    scene = Scene(skeleton, fk(skeleton, skeleton.rest_pose()))
    projection = Camera(np.zeros(3), distance=5.0).projection(SIZE)
    found = hits(scene, projection, *projection.project((0.0, 0.0, 1.0)).tolist())
    assert (found[0].kind, found[0].index) == ("bone", 1)
    assert [(hit.kind, hit.index) for hit in found[-2:]] == [("joint", 0), ("joint", 3)], "hidden joints come last"
    back = Camera(np.zeros(3), yaw=np.pi, distance=5.0).projection(SIZE)
    assert pick(scene, back, *back.project((0.0, 0.0, -1.0)).tolist()) is not None
    assert hits(scene, back, *back.project((0.0, 0.0, -1.0)).tolist())[0].index == 3


def test_the_background_is_nothing() -> None:
    scene = standing(biped())
    assert pick(scene, seen(scene), 3.0, 3.0) is None
    assert hits(scene, seen(scene), -1e6, 1e6) == []


def test_what_is_behind_the_eye_is_not_picked() -> None:
    scene = standing(biped())
    camera = Camera(np.array([0.0, 1.0, 40.0]), yaw=np.pi, distance=1.0)
    for x in np.linspace(0.0, 756.0, 7).tolist():
        assert pick(scene, camera.projection(SIZE), x, 257.0) is None
    head_on = Camera(np.array([0.0, 1.0, 1.0]), yaw=np.pi, distance=1.0).projection(SIZE)
    inside = [hit for hit in hits(scene, head_on, 378.0, 257.0) if hit.depth <= 0.0]
    assert inside == []


@given(seeds)
def test_a_box_holds_what_is_projected_into_it(seed: int) -> None:
    scene = standing(biped())
    projection = seen(scene)
    x0, y0, x1, y1 = (np.random.default_rng(seed).uniform(0.0, 1.0, (2, 2)) * SIZE).reshape(-1).tolist()
    found = box(scene, projection, x0, y0, x1, y1)
    low, high = (min(x0, x1), min(y0, y1)), (max(x0, x1), max(y0, y1))
    pixels = projection.project(scene.world.positions)
    expected = np.flatnonzero(((pixels >= low) & (pixels <= high)).all(axis=1)).tolist()
    assert [hit.index for hit in found if hit.kind == "joint"] == expected
    marked = [
        mark.name
        for mark in scene.marks
        if ((p := projection.project(mark.position)) >= low).all() and (p <= high).all()
    ]
    assert [hit.name for hit in found if hit.kind == "effector"] == marked
    assert found == sorted(found, key=lambda hit: hit.kind != "effector")


def test_a_box_round_everything_and_one_round_nothing() -> None:
    scene = standing(biped())
    everything = box(scene, seen(scene), *SIZE, 0.0, 0.0)
    assert len(everything) == len(scene.marks) + len(scene.skeleton)
    assert box(scene, seen(scene), 1.0, 1.0, 2.0, 2.0) == []


def test_a_pose_far_away_is_still_picked() -> None:
    scene = standing(biped())
    far = np.where(np.arange(len(scene.skeleton)) == 0, 5000.0, 0.0)[:, None] + scene.skeleton.offsets
    moved = replace(scene, world=fk(scene.skeleton, Pose(scene.skeleton.rest_rotations, far)), marks=())
    projection = seen(moved)
    for joint in range(0, len(moved.skeleton), 5):
        hit = hits(moved, projection, *projection.project(moved.world.positions[joint]).tolist())
        assert joint in {one.index for one in hit}


@given(seeds)
def test_the_view_axes_are_picked_where_they_are_drawn(seed: int) -> None:
    camera = random_camera(seed)
    projection = camera.projection(SIZE)
    middle = centre_of(projection)
    front = {}
    for name, way in DIRECTIONS.items():
        x, y = (middle + 33.0 * np.array([np.dot(way, projection.right), -np.dot(way, projection.up)])).tolist()
        front[name] = (x, y, float(np.dot(way, projection.back)))
    for x, y, depth in front.values():
        picked = pick_axis(projection, x, y)
        assert picked in DIRECTIONS
        assert front[picked][2] >= depth - 1e-12, "the one in front"
        assert np.hypot(front[picked][0] - x, front[picked][1] - y) <= 10.5 + 1e-9


def test_beside_the_view_axes() -> None:
    projection = Camera(np.zeros(3), yaw=0.7, pitch=0.4).projection(SIZE)
    x, y = centre_of(projection).tolist()
    assert (x + 44.0, y - 44.0) == (756.0 - 8.0, 8.0)
    assert pick_axis(projection, x + 44.5, y) == ""
    far_x, far_y = centre_of(projection, 2.0).tolist()
    assert pick_axis(projection, far_x, far_y + 87.0, scale=2.0) == "disc"
    kinds = {pick_axis(projection, x + dx, y + dy) for dx in range(-30, 31, 5) for dy in range(-30, 31, 5)}
    assert "disc" in kinds
    assert len(axes_shapes(projection)) == 1 + 3 * 3 + 3 * 2
