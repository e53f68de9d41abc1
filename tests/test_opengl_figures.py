"""Whole figures as they come out: of any size, anywhere, symmetric, and lit from the right side."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from gl_drawing import BLUE, RED, SIZE, WHITE, at, bones, camera, changed, drawn, spheres
from inside.opengl import key_light

from viewer.scene import Camera

PROJECTIONS = pytest.mark.parametrize("orthographic", [False, True])
SAMPLES = pytest.mark.parametrize("samples", [0, 4])


@pytest.mark.parametrize("scale", [1e-3, 1e2])
@PROJECTIONS
def test_a_figure_of_any_size_gives_the_same_picture(scale: float, orthographic: bool) -> None:
    def figure(size: float) -> np.ndarray:
        view = replace(camera(orthographic, 3.0 * size), yaw=0.5, pitch=0.3)
        projection = view.projection(SIZE)
        rods = bones(
            *(((0.1 * i * size, 0, 0), (0, 0.9 * size, 0.3 * size * i), 0.05 * size, RED) for i in range(-3, 4))
        )
        balls = spheres(((0, 0.2 * size, 0.1 * size), 0.1 * size, BLUE))
        return drawn(projection, bones=rods, spheres=balls)

    different = np.abs(figure(1.0) - figure(scale)).max(axis=-1)
    # Rounding may decide otherwise for a pixel on a rim, and for no other.
    assert (different > 2).mean() < 2e-4


@SAMPLES
def test_a_figure_far_from_the_origin_gives_the_same_picture(samples: int) -> None:
    def figure(place: np.ndarray) -> np.ndarray:
        view = Camera(place, yaw=0.7, pitch=0.3, distance=3.0)
        rods = bones((np.add(place, (-0.4, 0, 0)), np.add(place, (0.4, 0.5, 0.2)), 0.1, RED))
        return drawn(view.projection(SIZE), samples, bones=rods, spheres=spheres((place, 0.1, BLUE)))

    different = np.abs(figure(np.zeros(3)) - figure(np.array([512.0, 0.0, -256.0]))).max(axis=-1)
    assert (different > 3).mean() < 2e-3


@SAMPLES
@PROJECTIONS
def test_a_symmetric_figure_has_a_symmetric_silhouette(samples: int, orthographic: bool) -> None:
    projection = camera(orthographic).projection(SIZE)
    rods = [((s * 0.05, 0.1, 0.0), (s * 0.6, 0.5, 0.2), 0.08, WHITE) for s in (-1, 1)]
    balls = spheres(*(((s * 0.3, -0.3, 0.1), 0.15, WHITE) for s in (-1, 1)))
    records = bones(*rods)
    records["frame"][1] = records["frame"][0] * np.array([[-1], [1], [1]])  # the very mirror image
    covered = changed(drawn(projection, samples, bones=records, spheres=balls), projection)
    assert covered.sum() > 1000
    assert (covered != covered[:, ::-1]).mean() < 1e-3


@PROJECTIONS
@pytest.mark.parametrize("length", [0.3, 0.8])
def test_faces_are_lit_by_where_they_point(orthographic: bool, length: float) -> None:
    view = Camera(np.zeros(3), yaw=0.6, pitch=0.5, distance=3.0, orthographic=orthographic)
    projection = view.projection(SIZE)
    records = bones(((0, -0.3, 0), (0.1, length - 0.3, 0.1), 0.2, (0.5, 0.5, 0.5, 1.0)))
    picture = drawn(projection, bones=records)
    frame = records["frame"][0].astype(float)
    belt = [frame @ (x, 0.12, z, 1.0) for x, z in ((1, 0), (0, 1), (-1, 0), (0, -1))]
    key, seen = key_light(projection), 0
    for side, end in itertools.product(range(4), (frame @ (0, 0, 0, 1), frame @ (0, 1, 0, 1))):
        corners = np.array([belt[side], belt[side - 1], end])
        middle = corners.mean(axis=0)
        normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
        normal *= np.sign(normal @ (middle - frame @ (0, 0.2, 0, 1))) / np.linalg.norm(normal)
        away = projection.eye - middle
        eye = projection.back if orthographic else away / np.linalg.norm(away)
        if normal @ eye < 0.15:
            continue
        seen += 1
        sky = 0.5 + 0.5 * normal[1]
        light = 0.66 * ((1 - sky) * np.array([0.40, 0.39, 0.40]) + sky * np.array([0.82, 0.87, 0.94]))
        light += 0.56 * np.array([1, 0.97, 0.92]) * max(float(normal @ key), 0.0)
        expected = 0.5 * light + 0.10 * (1 - normal @ eye) ** 3 * np.array([0.75, 0.85, 1.0])
        np.testing.assert_allclose(at(picture, projection, middle), 255 * expected, atol=2)
    assert seen >= 2


def test_the_side_towards_the_key_light_is_brighter() -> None:
    for yaw, pitch in itertools.product((0.0, 2.0, 4.0), (-0.5, 0.2, 1.0)):
        projection = Camera(np.zeros(3), yaw=yaw, pitch=pitch, distance=3.0).projection(SIZE)
        picture = drawn(projection, spheres=spheres(((0, 0, 0), 0.4, (0.6, 0.6, 0.6, 1.0))))
        middle = np.array([SIZE[1] // 2, SIZE[0] // 2])
        upper_left = picture[tuple(middle - 20)].sum()
        lower_right = picture[tuple(middle + 20)].sum()
        assert upper_left > 1.3 * lower_right
