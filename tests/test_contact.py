"""Contact: distances against dense sampling and independent programs, one answer of both backends, what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.formats import goals_file_from_text, goals_to_json, read_goals_file
from inside.ik import (
    capsule_to_ball,
    capsule_to_box,
    capsule_to_capsule,
    capsule_to_grid,
    contact_rows,
    distance_grid,
    make_near,
    make_volumes,
    touching,
    twins,
)
from inside.spatial import closest, multiply, normalized, planes, rotate

import viewer
from viewer.errors import FormatError, InputError
from viewer.skeleton import Capsule

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from inside.ik import Near, Volumes
    from inside.spatial import Floats

COUNT = 400
SAMPLES = np.linspace(0.0, 1.0, 41)


def segments(random: np.random.Generator) -> tuple[Floats, Floats]:
    """Starts and ways (N, 3): some of no length, some along an axis, some very short."""
    start, way = random.uniform(-1.0, 1.0, (2, COUNT, 3))
    way[::17] = 0.0
    way[1::13, 1:] = 0.0
    way[2::19] *= 1e-7
    return start, way


def stacked(measure: Any) -> tuple[Floats, Floats, Floats, Floats]:  # noqa: ANN401 - a measure of arrays
    gap, *vectors = measure
    p, q, n = (np.stack(np.broadcast_arrays(*vector), axis=-1) for vector in vectors)
    return gap, p, q, n


def agrees_with_itself(measure: Any) -> None:  # noqa: ANN401
    """Finite; a unit normal; the points are as far apart along it as the gap says."""
    gap, p, q, n = stacked(measure)
    assert all(np.isfinite(one).all() for one in (gap, p, q, n))
    assert np.linalg.norm(n, axis=-1) == pytest.approx(1.0, abs=1e-12)
    assert np.einsum("ni,ni->n", p - q, n) == pytest.approx(gap, abs=1e-12)
    assert np.linalg.norm(p - q, axis=-1) == pytest.approx(np.abs(gap), abs=1e-9)


def test_capsules_are_as_near_as_the_nearest_of_many_samples() -> None:
    random = np.random.default_rng(1)
    (p, u), (q, v) = segments(random), segments(random)
    v[3::11] = 2.0 * u[3::11]  # parallel
    q[4::11], v[4::11] = p[4::11] + 0.25 * u[4::11], u[4::11]  # on one line
    q[5::11], v[5::11] = p[5::11], u[5::11]  # the same
    measure = capsule_to_capsule(planes(p), planes(u), 0.1, planes(q), planes(v), 0.05)
    agrees_with_itself(measure)
    x, y = (a[:, None] + SAMPLES[:, None] * b[:, None] for a, b in ((p, u), (q, v)))
    sampled = np.linalg.norm(x[:, :, None] - y[:, None], axis=-1).min(axis=(1, 2)) - 0.15
    spacing = (np.linalg.norm(u, axis=-1) + np.linalg.norm(v, axis=-1)) / (len(SAMPLES) - 1)
    assert (measure[0] <= sampled + 1e-9).all()
    assert (measure[0] >= sampled - spacing - 1e-9).all()


def test_parallel_capsules_touch_in_the_middle_of_where_they_overlap() -> None:
    p, u, q, v = (np.array([one], dtype=float) for one in ((0, 0, 0), (1, 0, 0), (1.5, 1, 0), (-1, 0, 0)))
    gap, at, other, normal = stacked(capsule_to_capsule(planes(p), planes(u), 0.25, planes(q), planes(v), 0.25))
    assert gap == pytest.approx(0.5)
    assert at[0] == pytest.approx((0.75, 0.25, 0.0))
    assert other[0] == pytest.approx((0.75, 0.75, 0.0))
    assert normal[0] == pytest.approx((0.0, -1.0, 0.0))


def test_axes_that_cross_part_at_right_angles_to_both() -> None:
    p, u, q, v = (np.array([one], dtype=float) for one in ((-1, 0, 0), (2, 0, 0), (0, 0, -1), (0, 0, 2)))
    gap, _, _, normal = stacked(capsule_to_capsule(planes(p), planes(u), 0.25, planes(q), planes(v), 0.25))
    assert gap == pytest.approx(-0.5)
    assert np.abs(normal[0]) == pytest.approx((0.0, 1.0, 0.0))


def test_balls() -> None:
    random = np.random.default_rng(2)
    p, u = segments(random)
    center = random.uniform(-1.0, 1.0, (COUNT, 3))
    center[::7] = p[::7] + 0.5 * u[::7]
    measure = capsule_to_ball(planes(p), planes(u), 0.1, planes(center), 0.3)
    agrees_with_itself(measure)
    points = p[:, None] + SAMPLES[:, None] * u[:, None]
    sampled = np.linalg.norm(points - center[:, None], axis=-1).min(axis=1) - 0.4
    assert (measure[0] <= sampled + 1e-9).all()
    assert (measure[0] >= sampled - np.linalg.norm(u, axis=-1) / 40 - 1e-9).all()


def box_distance(points: Floats, half: Floats) -> Floats:
    """Signed distances (...) of points (..., 3) from a box about 0."""
    over = np.abs(points) - half
    return np.asarray(np.linalg.norm(np.maximum(over, 0.0), axis=-1) + np.minimum(over.max(axis=-1), 0.0))


def test_boxes() -> None:
    random = np.random.default_rng(3)
    p, u = segments(random)
    center, half = random.uniform(-0.5, 0.5, (COUNT, 3)), random.uniform(0.01, 0.6, (COUNT, 3))
    q = normalized(random.normal(size=(COUNT, 4)))
    q[::5] = (0.0, 0.0, 0.0, 1.0)
    p[::20] = center[::20]
    turn = (*planes(q), q[:, 3])
    measure = capsule_to_box(planes(p), planes(u), 0.1, planes(center), turn, planes(half))
    agrees_with_itself(measure)
    back = np.array([-1.0, -1.0, -1.0, 1.0]) * q
    points = p[:, None] + np.linspace(0.0, 1.0, 2001)[:, None] * u[:, None]
    local = rotate(back[:, None], points - center[:, None])
    sampled = box_distance(local, half[:, None]).min(axis=1)
    inside = measure[0] < -0.1 - 1e-9
    assert 30 < inside.sum() < COUNT - 30
    assert (sampled[inside] < 1e-9).all()
    gap = measure[0][~inside] + 0.1
    assert (gap <= sampled[~inside] + 1e-9).all()
    assert (gap >= sampled[~inside] - np.linalg.norm(u[~inside], axis=-1) / 4000 - 1e-9).all()
    # The shortest way out: it leads out, and no shorter one does, whichever way it goes.
    normal, depth = stacked(measure)[3][inside], -measure[0][inside] - 0.1
    half, back, points, center = half[inside], back[inside], points[inside, ::20], center[inside]
    others = random.normal(size=(60, *normal.shape))
    others /= np.linalg.norm(others, axis=-1, keepdims=True)
    for part, direction in [(1.0, normal), *((0.98, other) for other in others)]:
        moved = points + (part * depth[:, None] * direction)[:, None]
        away = box_distance(rotate(back[:, None], moved - center[:, None]), half[:, None]).min(axis=1)
        assert ((away > -1e-9) if part == 1.0 else (away < 0.01 * np.linalg.norm(u[inside], axis=-1))).all()


def ball_mesh(parts: int = 24, radius: float = 1.0) -> viewer.Mesh:
    """A ball of triangles about 0."""
    trimesh = pytest.importorskip("trimesh")
    made = trimesh.creation.uv_sphere(radius=radius, count=[parts, parts])
    return viewer.Mesh("ball", vertices=made.vertices, faces=made.faces)


def mug(**where: Any) -> viewer.Mesh:  # noqa: ANN401 - of a mesh
    """A cup: 8 cm wide, 10 cm tall, walls and bottom 6 mm thick, open above; Y up, standing on 0."""
    angle = np.arange(48) * (2.0 * np.pi / 48)
    ring = np.stack([np.cos(angle), 0.0 * angle, np.sin(angle)], axis=-1)
    levels = [(0.04, 0.0), (0.04, 0.1), (0.034, 0.1), (0.034, 0.006)]
    vertices = [[0.0, 0.0, 0.0], [0.0, 0.006, 0.0]]
    vertices += [(radius * ring + [0.0, height, 0.0]) for radius, height in levels]  # type: ignore[misc]
    faces = []
    for level in range(3):
        for k in range(48):
            a, b = 2 + 48 * level + k, 2 + 48 * level + (k + 1) % 48
            faces += [(a, a + 48, b), (b, a + 48, b + 48)]
    for k in range(48):
        faces += [(0, 2 + k, 2 + (k + 1) % 48), (1, 2 + 144 + (k + 1) % 48, 2 + 144 + k)]
    points = np.concatenate([np.reshape(part, (-1, 3)) for part in vertices])
    return viewer.Mesh("mug", vertices=points, faces=np.array(faces), **where)


def grid_points(mesh: viewer.Mesh) -> tuple[Floats, Floats]:
    """The values of a mesh's grid, and where they are."""
    grid = distance_grid(mesh)
    axes = [grid.low[axis] + grid.cell * np.arange(grid.values.shape[axis]) for axis in range(3)]
    return grid.values, np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)


def test_the_grid_of_a_box_is_exact() -> None:
    trimesh = pytest.importorskip("trimesh")
    made = trimesh.creation.box((0.2, 0.1, 0.3))
    values, points = grid_points(viewer.Mesh("box", vertices=made.vertices, faces=made.faces))
    assert values == pytest.approx(box_distance(points, np.array([0.1, 0.05, 0.15])), abs=1e-12)


def test_the_grid_of_a_mesh_is_that_of_trimesh() -> None:
    trimesh = pytest.importorskip("trimesh")
    made = trimesh.creation.annulus(r_min=0.03, r_max=0.05, height=0.04, sections=24)
    mesh = viewer.Mesh("ring", vertices=made.vertices, faces=made.faces)
    values, points = grid_points(mesh)
    random = np.random.default_rng(4)
    some = random.integers(0, values.size, 300)
    _, distance, _ = trimesh.proximity.closest_point_naive(made, points.reshape(-1, 3)[some])
    assert np.abs(values.ravel()[some]) == pytest.approx(distance, abs=1e-9)
    flat = np.hypot(points[..., 0], points[..., 1])
    inside = (flat > 0.031) & (flat < 0.049) & (np.abs(points[..., 2]) < 0.019)
    outside = (flat < 0.029) | (flat > 0.051) | (np.abs(points[..., 2]) > 0.021)
    assert (values[inside] < 0.0).all()
    assert (values[outside] > 0.0).all()


def test_a_dense_ball_of_triangles_is_a_ball() -> None:
    mesh = ball_mesh(48)
    values, points = grid_points(mesh)
    exact = np.linalg.norm(points, axis=-1) - 1.0
    near = np.abs(exact) < 0.2
    assert np.abs(values - exact)[near].max() < 6e-3
    assert np.abs(values - exact).max() < 0.02
    random = np.random.default_rng(5)
    p, u = random.uniform(-1.2, 1.2, (2, 200, 3))
    grid = distance_grid(mesh)
    shape, cell = planes(np.array(grid.values.shape, dtype=np.float64)), grid.cell
    turn = (0.0, 0.0, 0.0, 1.0)
    measure = capsule_to_grid(
        planes(p), planes(u), 0.1, (0.0, 0.0, 0.0), turn, grid.values.ravel(), 0, shape, planes(grid.low), cell
    )
    points = p[:, None] + SAMPLES[:, None] * u[:, None]
    sampled = np.linalg.norm(points, axis=-1).min(axis=1) - 1.1
    off = np.abs(measure[0] - sampled) - np.linalg.norm(u, axis=-1) / 80
    assert off.max() < 0.02
    assert np.linalg.norm(stacked(measure)[3], axis=-1) == pytest.approx(1.0)


def one_bone(a: Any, b: Any, radius: float) -> viewer.Skeleton:  # noqa: ANN401 - vectors
    """A joint at the origin with one capsule."""
    bone = viewer.Builder().add("bone").tip("bone", (0, 1, 0)).skeleton
    return replace(bone, bodies=viewer.Bodies((Capsule(0, a, b, radius),)))


def depths(skeleton: viewer.Skeleton, contact: viewer.Contact) -> dict[str, float]:
    found = viewer.contacts(skeleton, skeleton.rest_pose(), contact)
    return {touch.other: touch.depth_m for touch in found}


def test_a_mug_is_hollow() -> None:
    finger = one_bone((0, 0.03, 0), (0, 0.2, 0), 0.01)
    for where in ({}, {"center": (0, 0, 0), "rotation": (0, 1, 0, 0)}):
        assert depths(finger, viewer.Contact(objects=[mug(**where)])) == {}
    in_wall = depths(one_bone((0.037, 0.03, 0), (0.037, 0.06, 0), 0.01), viewer.Contact(objects=[mug()]))
    assert in_wall["mug"] == pytest.approx(0.013, abs=1e-3)
    through = depths(one_bone((0, -0.05, 0), (0, 0.05, 0), 0.01), viewer.Contact(objects=[mug()]))
    assert through["mug"] == pytest.approx(0.013, abs=1e-3)
    twice = depths(one_bone((0.074, 0.06, 0), (0.074, 0.12, 0), 0.02), viewer.Contact(objects=[mug(scale=2.0)]))
    assert twice["mug"] == pytest.approx(0.026, abs=2e-3)


def test_a_mesh_is_read_from_a_file(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    path = tmp_path / "box.stl"
    trimesh.creation.box((0.2, 0.2, 0.2)).export(path)
    box = viewer.Mesh("box", path=str(path), center=(0, 0.2, 0))
    assert depths(one_bone((0, 0, 0), (0, 0.05, 0), 0.1), viewer.Contact(objects=[box])) == {
        "box": pytest.approx(0.05, abs=1e-6)
    }


SCENE = viewer.Contact(
    floor=0.0,
    bodies=True,
    objects=(
        viewer.Sphere("ball", (0.2, 1.0, 0.2), 0.2),
        viewer.Box("table", (0.0, 0.9, 0.3), (1.0, 0.1, 0.5), (0.0, 0.1, 0.0, 0.99498743710662)),
        mug(center=(0, 1, 0), scale=3.0),
    ),
)


def random_worlds(skeleton: viewer.Skeleton, count: int) -> list[viewer.World]:
    random = np.random.default_rng(7)
    turns = normalized(random.normal(size=(count, len(skeleton), 4)))
    return [viewer.fk(skeleton, viewer.Pose(turn, skeleton.offsets)) for turn in turns]


def filled(find: Callable[..., int], volumes: Volumes, world: viewer.World) -> Near:
    near = make_near(volumes)
    find(volumes, near, world.positions, world.rotations, float(volumes.near[0]))
    return near


@pytest.mark.parametrize("name", ["biped", "raptor"])
def test_both_backends_find_the_same(name: str) -> None:
    skeleton = viewer.load(f"sample:{name}").skeleton
    volumes = make_volumes(skeleton, SCENE)
    # What the compiled engine compiles, with its functions in the same order.
    loops = twins((closest, contact_rows), {})["find_near"]
    for world in random_worlds(skeleton, 8):
        one, other = (filled(find, volumes, world) for find in (touching.find_near, loops))
        count = int(one.rows[0])
        assert count == other.rows[0] > 0
        for name_, a, b in zip(one._fields, one, other, strict=True):
            if name_ == "ball":  # of the compiled one alone
                continue
            rows = slice(None) if name_ in ("a", "b", "centre", "rows") else slice(count)
            assert np.isfinite(a[rows]).all()
            assert np.abs(a[rows] - b[rows]).max() <= 1e-12, name_


def test_all_that_is_near_is_found_and_nothing_else() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    some, all_ = (make_volumes(skeleton, SCENE, near=near) for near in (0.05, 100.0))
    for world in random_worlds(skeleton, 20):
        near, far = (filled(touching.find_near, volumes, world) for volumes in (some, all_))
        assert far.rows[0] == len(far.gap)
        rows = np.flatnonzero(far.gap < 0.05)
        assert near.first[: near.rows[0]].tolist() == far.first[rows].tolist()
        assert near.second[: near.rows[0]].tolist() == far.second[rows].tolist()
        assert near.gap[: near.rows[0]].tolist() == far.gap[rows].tolist()


def test_objects_that_are_near_are_not_measured_again() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    some, all_ = (make_volumes(skeleton, SCENE, near=near) for near in (0.3, 100.0))
    seen = set()
    for world in random_worlds(skeleton, 5):
        near, far = (filled(touching.find_near, volumes, world) for volumes in (some, all_))
        gaps = dict(zip(zip(far.first.tolist(), far.second.tolist(), strict=True), far.gap.tolist(), strict=True))
        expected = np.array([gaps[c, -2 - o] for c, o in some.tests.tolist()])
        assert touching.object_gaps(some, near, some.tests) == pytest.approx(expected, abs=1e-12)
        near.gap[: near.rows[0]] += 1.0
        again = touching.object_gaps(some, near, some.tests)
        assert again == pytest.approx(expected + (expected < 0.3), abs=1e-12)
        seen |= set((expected < 0.3).tolist())
    assert seen == {True, False}


def test_gaps_grow_along_the_normal_as_the_points_move() -> None:
    skeleton = viewer.load("sample:biped").skeleton
    contact = replace(SCENE, objects=SCENE.objects[:2])
    volumes = make_volumes(skeleton, contact, near=100.0)
    random = np.random.default_rng(8)
    step = 1e-6
    for world in random_worlds(skeleton, 10):
        near = filled(touching.find_near, volumes, world)
        speed, spin = random.normal(size=(2, len(skeleton), 3))
        turn = np.concatenate([0.5 * step * spin, np.ones((len(skeleton), 1))], axis=-1)
        moved = [
            filled(
                touching.find_near,
                volumes,
                viewer.World(
                    world.positions + sign * step * speed,
                    normalized(multiply(turn * [sign, sign, sign, 1.0], world.rotations)),
                ),
            ).gap
            for sign in (1.0, -1.0)
        ]
        slope = (moved[0] - moved[1]) / (2.0 * step)
        expected = np.zeros(len(slope))
        for side, points in enumerate((near.p, near.q)):
            joint = near.joints[:, side]
            velocity = speed[joint] + np.cross(spin[joint], points - world.positions[joint])
            along = np.einsum("mi,mi->m", near.n, velocity)
            expected += np.where(joint < 0, 0.0, along if side == 0 else -along)
        # Where the nearest point jumps from one feature to another the gap has a kink.
        assert (np.abs(slope - expected) < 1e-4).mean() > 0.995


def test_mujoco_measures_the_same_distances() -> None:
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    random = np.random.default_rng(9)
    for _ in range(100):
        (p, u), (q, v) = ((random.uniform(-1, 1, 3), random.uniform(-1, 1, 3)) for _ in range(2))
        half, center, turn = random.uniform(0.05, 0.5, 3), random.uniform(-1, 1, 3), normalized(random.normal(size=4))
        text = " ".join
        quat = f'quat="{text(map(str, turn[[3, 0, 1, 2]]))}"'
        geoms = [
            f'<geom type="capsule" size="0.1" fromto="{text(map(str, [*p, *(p + u)]))}"/>',
            f'<geom type="capsule" size="0.05" fromto="{text(map(str, [*q, *(q + v)]))}"/>',
            f'<geom type="box" size="{text(map(str, half))}" pos="{text(map(str, center))}" {quat}/>',
        ]
        model = mujoco.MjModel.from_xml_string(f"<mujoco><worldbody>{''.join(geoms)}</worldbody></mujoco>")
        data = mujoco.MjData(model)
        mujoco.mj_forward(model, data)
        rows = [planes(one[None]) for one in (p, u, q, v)]
        gap = capsule_to_capsule(rows[0], rows[1], 0.1, rows[2], rows[3], 0.05)[0][0]
        assert mujoco.mj_geomDistance(model, data, 0, 1, 10.0, None) == pytest.approx(gap, abs=1e-6)
        spin = (*planes(turn[None]), turn[None, 3])
        gap = capsule_to_box(rows[0], rows[1], 0.1, planes(center[None]), spin, planes(half[None]))[0][0]
        if gap > 0.0:
            assert mujoco.mj_geomDistance(model, data, 0, 2, 10.0, None) == pytest.approx(gap, abs=1e-4)


def test_what_touches_in_a_pose() -> None:
    biped = viewer.load("sample:biped").skeleton
    relaxed = biped.relaxed_pose()
    floor = viewer.contacts(biped, relaxed, viewer.Contact(floor=0.0, bodies=True))
    assert {touch.body for touch in floor} == {"LeftFoot", "RightFoot", "LeftToeBase", "RightToeBase"}
    assert all(touch.other == "floor" and abs(touch.depth_m) < 5e-4 for touch in floor)
    sunk = viewer.Pose(
        relaxed.rotations, relaxed.translations - [[0.0, 0.1 * (j == 0), 0.0] for j in range(len(biped))]
    )
    deep = viewer.contacts(biped, sunk, viewer.Contact(floor=0.0))
    assert deep[0].depth_m == pytest.approx(0.1, abs=5e-4)
    assert [touch.depth_m for touch in deep] == sorted((touch.depth_m for touch in deep), reverse=True)
    hand = viewer.fk(biped, relaxed).positions[biped.index("LeftHand")]
    held = viewer.Contact(objects=[viewer.Sphere("ball", hand, 0.05)])
    names = {(touch.body, touch.other) for touch in viewer.contacts(biped, relaxed, held)}
    assert names == {("LeftForeArm", "ball"), ("LeftHand", "ball")}
    apart = replace(held, exclude=(("LeftHand", "ball"), ("ball", "LeftForeArm")))
    assert viewer.contacts(biped, relaxed, apart) == []
    assert viewer.contacts(biped, relaxed, viewer.Contact()) == []


def test_an_arm_through_the_body_is_found_unless_it_is_excluded() -> None:
    biped = viewer.load("sample:biped").skeleton
    chest = viewer.fk(biped, biped.relaxed_pose()).positions[biped.index("Spine1")]
    goals = [viewer.Goal.position("LeftHand", chest)]
    pose = viewer.Solver(biped, goals, backend="numpy", root="locked").solve(biped.relaxed_pose()).pose
    found = viewer.contacts(biped, pose, viewer.Contact(bodies=True))
    pairs = {frozenset((touch.body, touch.other)) for touch in found}
    through = frozenset(("LeftHand", "Spine1"))
    assert through in pairs
    left = viewer.contacts(biped, pose, viewer.Contact(bodies=True, exclude=[("LeftHand", "Spine1")]))
    assert {frozenset((touch.body, touch.other)) for touch in left} == pairs - {through}


def refused(made: Callable[[], object]) -> str:
    with pytest.raises(InputError) as error:
        made()
    return str(error.value)


def test_what_is_refused() -> None:
    nan = float("nan")
    ball = viewer.Sphere("ball", (0, 0, 0), 1.0)
    cube = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    biped = viewer.load("sample:biped").skeleton
    pose = biped.rest_pose()
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: viewer.Sphere("b", (0, 0, 0), 0.0), 'sphere "b": radius: expected a finite number above 0, found 0'),
        (lambda: viewer.Sphere("", (0, 0, 0), 1.0), "sphere: name: expected text that is not empty"),
        (lambda: viewer.Sphere("b", (0, nan, 0), 1.0), 'sphere "b": center: expected finite numbers, found nan'),
        (lambda: viewer.Sphere("floor", (0, 0, 0), 1.0), "sphere: name: expected another name than that of the floor"),
        (lambda: viewer.Box("b", (0, 0, 0), (1, 0, 1)), 'box "b": size: expected a finite number above 0, found 0'),
        (lambda: viewer.Box("b", (0, 0, 0), (1, 1, 1), (0, 0, 0, 2)), 'box "b": rotation: expected a unit quaternion'),
        (lambda: viewer.Mesh("m"), 'mesh "m": expected a path, or vertices and faces, found neither'),
        (lambda: viewer.Mesh("m", path="no.obj"), 'mesh "m": no such file: "no.obj"'),
        (lambda: viewer.Mesh("m", vertices=cube, faces=[(0, 1, 9)]), 'mesh "m": faces: expected vertices from 0 to 7'),  # type: ignore[arg-type]
        (lambda: viewer.Mesh("m", vertices=cube, faces=[(0, 1, 2)]), 'mesh "m": the mesh encloses no volume: '),  # type: ignore[arg-type]
        (lambda: viewer.Contact(floor=nan), "contact: floor: expected a finite number, found nan"),
        (lambda: viewer.Contact(bodies=1), "contact: bodies: expected True or False, found 1"),  # type: ignore[arg-type]
        (lambda: viewer.Contact(objects=(ball, ball)), 'contact: objects: expected names of their own, found "ball"'),
        (lambda: viewer.Contact(objects=("ball",)), "contact: objects: expected Spheres, Boxes and Meshes, found"),  # type: ignore[arg-type]
        (lambda: viewer.Contact(exclude=(("a",),)), "contact: exclude[0]: expected two names, found"),  # type: ignore[arg-type]
        (
            lambda: viewer.contacts(biped, pose, viewer.Contact(exclude=(("LeftArn", "Spine2"),))),
            'contact: exclude[0]: no joint or object "LeftArn"',
        ),
        (
            lambda: viewer.contacts(biped, pose, viewer.Contact(objects=(viewer.Sphere("Head", (0, 0, 0), 1.0),))),
            'contact: objects: expected a name that no joint has, found "Head"',
        ),
        (lambda: viewer.contacts(biped, pose, None), "contacts: expected a Contact, found"),  # type: ignore[arg-type]
    ]  # fmt: skip
    for made, message in cases:
        found = refused(made)
        assert found.startswith(message), (found, message)
        assert "\n" not in found


def test_a_surface_that_is_inside_out_is_turned() -> None:
    usual = mug()
    assert usual.vertices is not None
    assert usual.faces is not None
    other = viewer.Mesh("mug", vertices=usual.vertices, faces=usual.faces[:, ::-1])
    assert other == usual
    with pytest.raises(InputError, match="encloses no volume"):
        viewer.Mesh("mug", vertices=usual.vertices, faces=usual.faces[1:])


CONTACT = {
    "floor": 0.0,
    "bodies": True,
    "exclude": [["LeftArm", "Spine2"], ["Hips", "ball"]],
    "objects": [
        {"name": "ball", "sphere": {"center": [0, 1, 0.3], "radius": 0.04}},
        {"name": "table", "box": {"center": [0, 0.7, 0.5], "size": [1, 0.05, 0.6], "rotation": [0, 0, 0, 1]}},
    ],
}


def test_a_goals_file_states_contact(tmp_path: Path) -> None:
    biped = viewer.load("sample:biped").skeleton
    goals = [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}]
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"version": 2, "type": "goals", "goals": goals, "contact": CONTACT}))
    found, contact, _ = read_goals_file(path, "g.json", biped)
    assert found == (viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)),)
    assert contact == viewer.Contact(
        floor=0.0,
        bodies=True,
        objects=[viewer.Sphere("ball", (0, 1, 0.3), 0.04), viewer.Box("table", (0, 0.7, 0.5), (1, 0.05, 0.6))],
        exclude=[("LeftArm", "Spine2"), ("Hips", "ball")],
    )
    path.write_text(goals_to_json(found, contact))
    assert json.loads(path.read_text())["version"] == 2
    assert read_goals_file(path, "g.json", biped) == (found, contact, None)
    path.write_text(goals_to_json(found))
    assert read_goals_file(path, "g.json", biped) == (found, None, None)


def test_a_goals_file_names_a_mesh_beside_it(tmp_path: Path) -> None:
    trimesh = pytest.importorskip("trimesh")
    biped = viewer.load("sample:biped").skeleton
    trimesh.creation.box((0.2, 0.2, 0.2)).export(tmp_path / "box.ply")
    entry = {"name": "crate", "mesh": {"path": "box.ply", "center": [0, 1, 0], "rotation": [0, 1, 0, 0], "scale": 2}}
    path = tmp_path / "g.json"
    path.write_text(json.dumps({"goals": [], "contact": {"objects": [entry]}}))
    _, contact, _ = read_goals_file(path, "g.json", biped)
    assert contact is not None
    (mesh,) = contact.objects
    assert isinstance(mesh, viewer.Mesh)
    assert (mesh.name, mesh.center, mesh.scale, mesh.rotation) == ("crate", (0, 1, 0), 2.0, (0, 1, 0, 0))
    path.write_text(goals_to_json((), contact))
    assert read_goals_file(path, "g.json", biped)[1] == contact
    with pytest.raises(InputError, match='mesh "mug": expected a path, which a file can hold; found vertices'):
        goals_to_json((), viewer.Contact(objects=[mug()]))


@pytest.mark.parametrize(
    ("contact", "message"),
    [
        ({"floor": "low"}, "contact.floor: expected a number"),
        ({"exclude": [["LeftArn", "Spine2"]]}, 'contact: exclude[0]: no joint or object "LeftArn"'),
        ({"exclude": ["LeftArm"]}, 'contact.exclude[0]: expected a list of 2 texts, found the text "LeftArm"'),
        ({"objects": [{"name": "b"}]}, 'contact.objects[0] "b": expected one of sphere, box and mesh, found none'),
        (
            {"objects": [{"name": "b", "sphere": {"center": [0, 0, 0], "radius": -1}}]},
            'contact.objects[0] "b".sphere.radius: expected more than 0, found -1',
        ),
        (
            {"objects": [{"name": "b", "box": {"center": [0, 0, 0], "size": [0, 1, 1]}}]},
            'contact.objects[0] "b": size: expected a finite number above 0',
        ),
        ({"objects": [{"name": "b", "mesh": {"path": "no.obj"}}]}, 'contact.objects[0] "b": no such file: "no.obj"'),
        ({"objects": CONTACT["objects"][:1] * 2}, 'contact: objects: expected names of their own, found "ball" twice'),  # type: ignore[index]
    ],
)
def test_contact_of_a_file_that_is_refused(contact: dict[str, Any], message: str) -> None:
    biped = viewer.load("sample:biped").skeleton
    with pytest.raises(FormatError) as error:
        goals_file_from_text(json.dumps({"goals": [], "contact": contact}), "g.json", biped)
    assert str(error.value).startswith(f"g.json: {message}")
