"""Bones and joint spheres as they come out: where they are, how large, in which order."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from gl_drawing import BLUE, GREEN, RED, SIZE, WHITE, at, bones, camera, changed, drawn, hue, spheres

from viewer.scene import Camera

PROJECTIONS = pytest.mark.parametrize("orthographic", [False, True])
SAMPLES = pytest.mark.parametrize("samples", [0, 4])


@PROJECTIONS
@SAMPLES
@pytest.mark.parametrize("pitch", [-90, -40, 0, 25, 90])
def test_a_bone_is_seen_at_its_projected_middle(orthographic: bool, samples: int, pitch: int) -> None:
    places = list(itertools.product((-0.5, 0.1, 0.6), repeat=3))[::4]
    colours = [RED, GREEN, BLUE]
    view = Camera(np.zeros(3), yaw=0.4, pitch=math.radians(pitch), distance=4.0, orthographic=orthographic)
    projection = view.projection(SIZE)
    for place, colour in zip(places, itertools.cycle(colours)):
        head = np.array(place)
        tail = np.add(head, (0.25, 0.2, -0.3))
        picture = drawn(projection, samples, bones=bones((head, tail, 0.05, colour)))
        assert hue(at(picture, projection, 0.5 * head + 0.5 * tail)) == "rgb"[colours.index(colour)]


@PROJECTIONS
def test_a_bone_covers_its_octahedron_and_nothing_else(orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    head, tail, radius = np.array([-0.4, -0.3, 0.1]), np.array([0.5, 0.4, -0.2]), 0.12
    records = bones((head, tail, radius, WHITE))
    frame = records["frame"][0].astype(float)
    belt = [frame @ (x, 0.12, z, 1.0) for x, z in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    corners = projection.project([head, tail, *belt])
    inside = _hull_signs(corners)
    covered = changed(drawn(projection, bones=records), projection)
    assert covered[inside > 1.0].all()
    assert not covered[inside < -1.0].any()
    assert covered.sum() > 400


def _hull_signs(corners: np.ndarray) -> np.ndarray:
    """(H, W) pixels from the convex hull's rim, positive inside."""
    x, y = np.meshgrid(np.arange(SIZE[0]) + 0.5, np.arange(SIZE[1]) + 0.5)
    distances = []
    for a, b in itertools.permutations(corners, 2):
        normal = np.array([b[1] - a[1], a[0] - b[0]]) / np.linalg.norm(b - a)
        if ((corners - a) @ normal >= -1e-9).all():  # an edge of the hull: all corners are on one side
            distances.append((x - a[0]) * normal[0] + (y - a[1]) * normal[1])
    return np.asarray(np.min(distances, axis=0))


@PROJECTIONS
@SAMPLES
@pytest.mark.parametrize(("distance", "radius"), [(2.0, 0.25), (0.6, 0.14)])
def test_a_spheres_silhouette_has_its_radius(orthographic: bool, samples: int, distance: float, radius: float) -> None:
    projection = camera(orthographic, distance).projection(SIZE)
    centre = np.array([0.0, 0.0, 0.1 * distance])
    covered = changed(drawn(projection, samples, spheres=spheres((centre, radius, WHITE))), projection)
    depth = float(projection.depth(centre))
    # A perspective eye sees the cone that touches the sphere.
    seen = radius if orthographic else radius * depth / math.sqrt(depth**2 - radius**2)
    pixels = seen * float(projection.pixels_per_metre(centre))
    wide, high = np.flatnonzero(covered.any(axis=0)), np.flatnonzero(covered.any(axis=1))
    assert len(wide) == pytest.approx(2 * pixels, abs=2.1)
    assert len(high) == pytest.approx(2 * pixels, abs=2.1)
    assert covered.sum() == pytest.approx(math.pi * pixels**2, rel=0.03)
    assert 0.5 * (wide[0] + wide[-1] + 1) == pytest.approx(SIZE[0] / 2, abs=0.6)


@PROJECTIONS
def test_a_sphere_off_the_middle_is_where_its_points_are_seen(orthographic: bool) -> None:
    projection = camera(orthographic, distance=1.5).projection(SIZE)
    centre, radius = np.array([0.42, 0.2, -0.1]), 0.2
    covered = changed(drawn(projection, spheres=spheres((centre, radius, WHITE))), projection)
    directions = np.random.default_rng(3).normal(size=(4000, 3))
    points = centre + radius * directions / np.linalg.norm(directions, axis=1, keepdims=True)
    pixels = projection.project(points)
    low, high = pixels.min(axis=0), pixels.max(axis=0)
    rows, columns = np.nonzero(covered)
    np.testing.assert_allclose([columns.min(), rows.min()], low, atol=1.6)
    np.testing.assert_allclose([columns.max() + 1, rows.max() + 1], high, atol=1.6)


def test_a_small_sphere_has_its_least_size_in_pixels() -> None:
    projection = camera(distance=50.0).projection(SIZE)
    records = spheres(((0, 0, 0), 1e-4, WHITE))
    records["least_px"] = 6.0
    covered = changed(drawn(projection, spheres=records), projection)
    assert covered.any(axis=0).sum() == pytest.approx(12, abs=1.5)


@PROJECTIONS
@SAMPLES
def test_what_is_nearer_hides_what_is_farther(orthographic: bool, samples: int) -> None:
    projection = camera(orthographic).projection(SIZE)
    near, far = np.array([0.0, 0.0, 0.5]), np.array([0.0, 0.0, -0.5])
    for first, second, expected in ((near, far, "r"), (far, near, "g")):
        pair = spheres((first, 0.2, RED), (second, 0.2, GREEN))
        assert hue(at(drawn(projection, samples, spheres=pair), projection, (0, 0, 0))) == expected
        across = np.array([0.4, 0.0, 0.0])
        pair = bones((first - across, first + across, 0.1, RED), (second - across, second + across, 0.1, GREEN))
        assert hue(at(drawn(projection, samples, bones=pair), projection, (0, 0, 0))) == expected


@PROJECTIONS
def test_spheres_have_the_depth_of_a_sphere_not_of_a_square(orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    # The bone is in front of the sphere's middle and behind its front, and longer than the sphere is wide.
    ball = spheres(((0, 0, 0), 0.3, RED))
    for depth, expected in ((0.2, "r"), (0.4, "g")):
        rod = bones(((-0.7, 0.0, depth), (0.7, 0.0, depth), 0.03, GREEN))
        picture = drawn(projection, bones=rod, spheres=ball)
        assert hue(at(picture, projection, (0.0, 0.0, depth))) == expected
        assert hue(at(picture, projection, (-0.45, 0.0, depth))) == "g"
        assert hue(at(picture, projection, (0.45, 0.0, depth))) == "g"


@pytest.mark.parametrize("mirrored", [False, True])
def test_a_mirrored_frame_draws_the_same_bone(mirrored: bool) -> None:
    projection = camera().projection(SIZE)
    records = bones(((-0.3, -0.4, 0.0), (0.3, 0.4, 0.2), 0.1, WHITE))
    plain = drawn(projection, bones=records)
    if mirrored:
        other = records.copy()
        other["frame"][:, :, 0] *= -1
        assert np.abs(drawn(projection, bones=other) - plain).max() <= 1
    assert changed(plain, projection).sum() > 300


def test_an_outline_is_as_wide_as_it_says_and_outside_the_bone() -> None:
    projection = camera(orthographic=True).projection(SIZE)
    records = bones(((0.0, -0.5, 0.0), (0.0, 0.5, 0.0), 0.1, RED))
    plain = changed(drawn(projection, bones=records), projection)
    outlined = records.copy()
    outlined["outline"] = (0.0, 1.0, 0.0, 5.0)
    picture = drawn(projection, bones=outlined)
    green = (picture[..., 1] > 200) & (picture[..., 0] < 60)
    for row in (80, 120, 150):
        assert plain[row].sum() > 4
        (inside,), (rim,) = np.nonzero(plain[row]), np.nonzero(green[row])
        assert rim.min() < inside.min()
        assert rim.max() > inside.max()
        assert inside.min() - rim.min() == pytest.approx(5, abs=2)
        assert rim.max() - inside.max() == pytest.approx(5, abs=2)
    # The bone itself is not painted over.
    assert hue(at(picture, projection, (0, -0.2, 0))) == "r"


def test_a_spheres_outline_is_as_wide_as_it_says() -> None:
    projection = camera(orthographic=True).projection(SIZE)
    records = spheres(((0, 0, 0), 0.2, RED))
    plain = changed(drawn(projection, spheres=records), projection).any(axis=0).sum()
    records["outline"] = (0.0, 1.0, 0.0, 4.0)
    wide = changed(drawn(projection, spheres=records), projection).any(axis=0).sum()
    assert wide - plain == pytest.approx(8, abs=1.2)


def test_stretched_bones_have_dashed_edges() -> None:
    projection = camera(orthographic=True).projection(SIZE)
    records = bones(((0.0, -0.8, 0.0), (0.0, 0.8, 0.0), 0.15, RED))
    solid = drawn(projection, bones=records)
    dashed = records.copy()
    dashed["dashed"] = 1.0
    brighter = np.max(drawn(projection, bones=dashed)[..., 1] - solid[..., 1], axis=1) > 30
    starts = np.count_nonzero(brighter[1:] & ~brighter[:-1])
    assert 10 <= starts <= 30


@pytest.mark.parametrize("behind", [(0.0, 0.0, 4.0), (0.0, 0.0, 3.0), (0.1, 0.0, 2.999)])
def test_what_is_at_or_behind_the_eye_is_not_drawn(behind: tuple[float, float, float]) -> None:
    projection = camera().projection(SIZE)
    covered = changed(drawn(projection, spheres=spheres((behind, 0.05, WHITE))), projection)
    assert not covered.any()
