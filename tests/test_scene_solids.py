"""Bodies, props and rings: their records, how they are picked, and how they come out of the renderer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from gl_drawing import GREEN, NOTHING, RED, SIZE, at, camera, changed, drawn, hue
from inside.spatial import Ray, hit_triangles, rotate
from scenes import biped, standing

import viewer
from viewer.scene import CAPSULE, SOLID, Camera, Display, PropShape, TouchRing, draw_list, hits
from viewer.skeleton import bodies_of

TURNED = (0.0, float(np.sin(0.3)), 0.0, float(np.cos(0.3)))
BOX = viewer.Box("box", (0.2, 1.0, 0.5), (0.3, 0.2, 0.1), TURNED)
BALL = viewer.Sphere("ball", (-0.3, 1.2, 0.4), 0.1)


def capsule(a: tuple[float, ...], b: tuple[float, ...], radius: float, colour: tuple[float, ...]) -> np.ndarray:
    records = np.zeros(1, CAPSULE)
    records["a"], records["b"], records["radius"], records["colour"] = a, b, radius, colour
    return records


def seen() -> Camera:
    return Camera(np.array([0.0, 1.0, 0.0]), distance=4.0)


@pytest.mark.parametrize("orthographic", [False, True])
@pytest.mark.parametrize("tail", [(0.5, 0.4, -0.2), (-0.4, -0.3, 0.1), (-0.4, 0.5, 0.1)])
def test_a_capsule_covers_its_shape_and_nothing_else(orthographic: bool, tail: tuple[float, float, float]) -> None:
    head, radius = np.array([-0.4, -0.3, 0.1]), 0.15
    projection = camera(orthographic, distance=6.0).projection(SIZE)
    covered = changed(drawn(projection, capsules=capsule(tuple(head), tail, radius, RED)), projection)
    x, y = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5)
    pixels = np.stack([x, y], axis=-1)
    # Beside the axis on the screen, compared with the radius there: perspective hardly bends it from so far.
    ends = projection.project(np.array([head, tail]))
    way = ends[1] - ends[0]
    part = np.clip(((pixels - ends[0]) @ way) / max(way @ way, 1e-12), 0.0, 1.0)
    aside = np.linalg.norm(pixels - ends[0] - part[..., None] * way, axis=-1)
    size = [float(projection.pixels_per_metre(np.array(end))) * radius for end in (head, tail)]
    wide = size[0] + part * (size[1] - size[0])
    assert covered[aside < 0.93 * wide - 1.0].all()
    assert not covered[aside > 1.05 * wide + 1.0].any()


@pytest.mark.parametrize("orthographic", [False, True])
def test_a_tapered_capsule_is_the_hull_of_its_two_balls(orthographic: bool) -> None:
    projection = camera(orthographic, distance=6.0).projection(SIZE)
    records = capsule((-0.4, -0.3, 0.0), (0.5, 0.3, 0.0), 0.08, RED)
    records["flare"] = 0.12
    covered = changed(drawn(projection, capsules=records), projection)
    x, y = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5)
    pixels = np.stack([x, y], axis=-1)
    # Balls between the ends, whose radii change evenly, have the same hull.
    nearest = np.full(SIZE[::-1], np.inf)
    for part in np.linspace(0.0, 1.0, 200):
        centre = np.array((-0.4, -0.3, 0.0)) + part * np.array((0.9, 0.6, 0.0))
        radius = (0.2 - 0.12 * part) * float(projection.pixels_per_metre(centre))
        nearest = np.minimum(nearest, np.linalg.norm(pixels - projection.project(centre), axis=-1) - radius)
    assert covered[nearest < -1.5].all()
    assert not covered[nearest > 1.5].any()


def test_bodies_are_nowhere_thinner_than_what_touches_and_as_thick_at_the_joints() -> None:
    scene = replace(standing(biped()), display=Display(bodies=True))
    records = draw_list(scene, seen().projection(SIZE)).capsules
    table = bodies_of(scene.skeleton).table
    assert (records["flare"] >= 0.0).all()
    assert (records["flare"] < np.linalg.norm(table.b - table.a, axis=1)).all()
    name = [scene.skeleton.names[joint] for joint in table.joint]
    arm, forearm = name.index("LeftArm"), name.index("LeftForeArm")
    assert records["radius"][forearm] + records["flare"][forearm] == pytest.approx(table.radius[arm])
    for record in records[records["flare"] > 0.0]:
        start = np.linalg.norm(records["a"] - record["a"], axis=1) < 1e-6
        end = np.linalg.norm(records["b"] - record["a"], axis=1) < 1e-6
        assert record["radius"] + record["flare"] <= records["radius"][start | end].max() + 1e-6


def test_capsules_darken_what_faces_them_and_the_floor_close_to_them() -> None:
    projection = Camera(np.zeros(3), pitch=0.5, distance=3.0).projection(SIZE)
    low, high = (capsule((-0.4, y, 0.0), (0.4, y, 0.0), 0.1, RED) for y in (0.1, 0.45))
    both = np.concatenate([low, high])
    ground = replace(NOTHING.ground, shadow=True)
    shaded, plain = (drawn(projection, capsules=both, ground=ground, shading=on) for on in (True, False))
    darker = (plain - shaded).sum(axis=-1)
    assert darker.min() >= -3
    top = np.array((0.0, 0.1, 0.0)) + 0.1 * np.array((0.0, 0.94, 0.34))
    x, y = np.floor(projection.project(top)).astype(int)
    assert darker[y, x] > 5
    floor = np.array([(x, 0.0, z) for x in (-0.3, 0.0, 0.3) for z in (0.13, 0.16, 0.2)])
    x, y = np.floor(projection.project(floor)).astype(int).T
    assert (darker[y, x] > 1).all()
    far = np.concatenate([low, capsule((-0.4, 9.0, 0.0), (0.4, 9.0, 0.0), 0.1, RED)])
    first, second = (drawn(projection, capsules=far, shading=on) for on in (True, False))
    np.testing.assert_array_equal(first, second)


def test_what_is_nearer_hides_what_is_farther() -> None:
    projection = camera().projection(SIZE)
    near, far = (
        capsule((-0.5, 0.0, 0.5), (0.5, 0.0, 0.5), 0.1, RED),
        capsule((0.0, -0.5, 0.0), (0.0, 0.5, 0.0), 0.1, GREEN),
    )
    for records in (np.concatenate([near, far]), np.concatenate([far, near])):
        picture = drawn(projection, capsules=records)
        assert hue(at(picture, projection, (0.0, 0.0, 0.5))) == "r"
        assert hue(at(picture, projection, (0.0, 0.4, 0.1))) == "g"


def test_a_veil_shows_what_is_behind_it_and_is_one_layer() -> None:
    projection = camera().projection(SIZE)
    inner = capsule((-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), 0.05, GREEN)
    veil = capsule((-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), 0.2, (*RED[:3], 0.35))
    once = drawn(projection, capsules=inner, veils=veil)
    assert hue(at(once, projection, (0.0, 0.0, 0.0))) in "g-"
    assert at(once, projection, (0.0, 0.15, 0.0)) != at(drawn(projection), projection, (0.0, 0.15, 0.0))
    under = capsule((-0.3, 0.0, 0.0), (0.3, 0.0, 0.0), 0.18, (*RED[:3], 0.35))
    twice = drawn(projection, capsules=inner, veils=np.concatenate([under, veil]))
    np.testing.assert_allclose(at(twice, projection, (0.0, 0.15, 0.0)), at(once, projection, (0.0, 0.15, 0.0)), atol=2)


def test_sticks_that_are_hidden_are_not_drawn() -> None:
    scene = replace(standing(biped()), marks=(), display=Display(bodies=True, limits="none"))
    projection = seen().projection(SIZE)
    listed = draw_list(scene, projection)
    assert not listed.sticks
    parts: dict[str, Any] = {"bones": listed.bones, "spheres": listed.spheres}
    assert not changed(drawn(projection, **parts, sticks=False), projection).any()
    assert changed(drawn(projection, **parts), projection).any()


def test_bodies_are_where_the_figure_is_and_in_its_tints() -> None:
    scene = replace(standing(biped()), display=Display(bodies=True))
    listed = draw_list(scene, seen().projection(SIZE))
    table = bodies_of(scene.skeleton).table
    a, b = table.ends(scene.world.positions, scene.world.rotations)
    np.testing.assert_allclose(listed.capsules["a"], a, atol=1e-6)
    np.testing.assert_allclose(listed.capsules["b"], b, atol=1e-6)
    np.testing.assert_allclose(listed.capsules["radius"], table.radius, atol=1e-7)
    colour = {scene.skeleton.names[j]: tuple(c) for j, c in zip(table.joint, listed.capsules["colour"], strict=True)}
    assert colour["LeftArm"] != colour["RightArm"]
    assert colour["LeftArm"] == colour["LeftForeArm"]
    chosen = replace(scene, selected=frozenset({scene.skeleton.index("LeftArm")}))
    again = draw_list(chosen, seen().projection(SIZE)).capsules
    assert [scene.skeleton.names[j] for j in table.joint[(again["outline"][:, 3] > 0.0)]] == ["LeftArm"]


def test_a_box_is_twelve_triangles_that_face_outwards() -> None:
    scene = replace(standing(biped()), props=(PropShape("box", BOX),))
    records = draw_list(scene, seen().projection(SIZE)).solids
    assert records.dtype == SOLID
    assert len(records) == 36
    local = rotate(np.array([*BOX.rotation[:3], -BOX.rotation[3]]), records["position"] - np.array(BOX.center))
    np.testing.assert_allclose(np.abs(local), np.broadcast_to(0.5 * np.array(BOX.size), local.shape), atol=1e-6)
    corners = records["position"].reshape(-1, 3, 3).astype(float)
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    outwards = corners.mean(axis=1) - np.array(BOX.center)
    assert (np.einsum("fi,fi->f", across, outwards) > 0.0).all()
    np.testing.assert_allclose(
        records["normal"].reshape(-1, 3, 3)[:, 0], across / np.linalg.norm(across, axis=1)[:, None], atol=1e-5
    )
    # All of it: as much area as a box has.
    w, h, d = BOX.size
    assert 0.5 * np.linalg.norm(across, axis=1).sum() == pytest.approx(2.0 * (w * h + h * d + d * w), rel=1e-5)


def test_a_prop_without_a_solid_is_not_drawn() -> None:
    scene = replace(standing(biped()), props=(PropShape("mug", None),))
    listed = draw_list(scene, seen().projection(SIZE))
    assert len(listed.solids) == 0
    assert len(listed.capsules) == 0
    assert not [hit for hit in hits(scene, seen().projection(SIZE), 100.0, 100.0) if hit.kind == "prop"]


def test_props_are_picked_where_they_are_seen_and_in_order() -> None:
    behind = viewer.Sphere("behind", (-0.3, 1.2, -0.6), 0.3)
    scene = replace(standing(biped()), marks=(), props=tuple(PropShape(s.name, s) for s in (behind, BOX, BALL)))
    projection = seen().projection(SIZE)
    names = [hit.name for hit in hits(scene, projection, *projection.project(BALL.center)) if hit.kind == "prop"]
    assert names == ["ball", "behind"]
    x, y = projection.project(BOX.center).tolist()
    (found,) = [hit for hit in hits(scene, projection, x, y) if hit.kind == "prop"]
    assert found.name == "box"
    assert found.index == -1
    local = rotate(np.array([*BOX.rotation[:3], -BOX.rotation[3]]), found.point - np.array(BOX.center))
    assert (np.abs(local) / (0.5 * np.array(BOX.size))).max() == pytest.approx(1.0, abs=1e-6)
    # A bone in front of a prop is the first, and one behind it is not.
    for place, first in (((0.0, 1.2, 0.4), "prop"), ((0.0, 1.2, -0.6), "bone")):
        cover = replace(scene, props=(PropShape("cover", viewer.Sphere("cover", place, 0.2)),))
        kinds = [hit.kind for hit in hits(cover, projection, *projection.project((0.0, 1.22, -0.04)))]
        assert next(kind for kind in kinds if kind in {"prop", "bone"}) == first


def test_a_ring_is_flat_on_the_surface_and_named_beside_it() -> None:
    touch = TouchRing(np.array((0.1, 0.0, 0.2)), np.array((0.0, 1.0, 0.0)), 0.05, "floor")
    scene = replace(standing(biped()), touches=(touch,))
    projection = seen().projection(SIZE)
    listed, without = draw_list(scene, projection), draw_list(replace(scene, touches=()), projection)
    fresh = listed.lines[: len(listed.lines) - len(without.lines)]
    ends = np.concatenate([fresh["start"], fresh["end"]]).astype(float)
    ends = ends[np.linalg.norm(ends - touch.point, axis=1) < 0.1]
    assert len(ends) == 80
    np.testing.assert_allclose(np.linalg.norm((ends - touch.point)[:, [0, 2]], axis=1), 0.05, atol=1e-6)
    assert np.ptp(ends[:, 1]) < 1e-6
    (label,) = [text for text in listed.texts if text.text == "floor"]
    assert label.x > projection.project(touch.point)[0]
    assert not [
        t for t in draw_list(replace(scene, touches=(replace(touch, label=""),)), projection).texts if t.text == "floor"
    ]


@pytest.mark.parametrize("seed", range(20))
def test_rays_meet_triangles_where_they_were_aimed(seed: int) -> None:
    random = np.random.default_rng(seed)
    corners = random.normal(size=(50, 3, 3))
    weights = random.dirichlet((1.0, 1.0, 1.0), size=50)
    origin = random.normal(size=3) * 3.0
    inside = np.einsum("fc,fci->fi", weights, corners)
    beside = corners[:, 0] + 1.5 * (inside - corners[:, 0]) + 1.5 * (corners[:, 1] - corners[:, 2])
    for k in range(50):
        along = hit_triangles(Ray(origin, inside[k] - origin), corners)
        assert along[k] == pytest.approx(np.linalg.norm(inside[k] - origin), rel=1e-9)
        assert hit_triangles(Ray(origin, origin - inside[k]), corners)[k] == np.inf  # it is behind
        normal = np.cross(corners[k, 1] - corners[k, 0], corners[k, 2] - corners[k, 0])
        if abs((origin - corners[k, 0]) @ normal) > 1e-3:
            assert hit_triangles(Ray(origin, beside[k] - origin), corners)[k] == np.inf
