"""The grid: on the floor, or upright behind a body that is kept in an upright plane."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from gl_drawing import at, camera, drawn
from inside.document import actions as act
from inside.scene import ground_of
from scenes import biped, standing
from views import SIZE

import viewer
from viewer.document import new_document
from viewer.scene import Ground
from viewer.session import Session
from viewer.ui import Controller


@pytest.mark.parametrize(("plane", "axis", "along"), [("xy", 2, "xy"), ("yz", 0, "zy")])
def test_an_upright_grid_stands_behind_the_whole_figure(plane: str, axis: int, along: str) -> None:
    scene = replace(standing(biped()), plane=plane)
    ground = ground_of(scene)
    assert ground.along == along
    assert ground.middle[axis] < scene.world.positions[:, axis].min()
    assert ground.middle[1] == scene.floor


@pytest.mark.parametrize("plane", [None, "zx"])
def test_else_it_lies_on_the_floor(plane: str | None) -> None:
    scene = replace(standing(biped()), plane=plane)
    ground = ground_of(scene)
    assert ground.along == "xz"
    assert ground.middle == ground.centre == ground_of(replace(scene, plane=None)).centre


def test_a_planar_document_has_an_upright_grid() -> None:
    session = Session(new_document(viewer.load("sample:biped")))
    controller = Controller(session)
    assert controller.draw_list().ground.along == "xz"
    session.dispatch(act.SetPlanar("yz"))
    assert controller.draw_list().ground.along == "zy"


def test_its_lines_are_where_whole_cells_are() -> None:
    """From +Z: lines at every cell of x and y, none between; the axes in their own colours."""
    ground = Ground(-0.2, 0.1, 1.0, (0.03, -0.2, 0.0), grid=True, shadow=False, along="xy", behind=-0.5)
    projection = camera(orthographic=True).projection(SIZE)
    picture, bare = drawn(projection, ground=ground), drawn(projection)
    lit = np.abs(picture - bare).sum(axis=-1)

    def seen(x: float, y: float) -> int:
        across, down = projection.project(np.array([x, y, -0.5])).tolist()
        return int(lit[int(down) - 1 : int(down) + 2, int(across) - 1 : int(across) + 2].max())

    for cell in (-3, -1, 2, 4):
        assert seen(0.1 * cell, 0.05) > 3
        assert seen(0.05, 0.1 * cell) > 3
        assert seen(0.1 * cell + 0.05, 0.05) == 0
    red, green, _ = np.subtract(at(picture, projection, (0.25, 0.0, -0.5)), at(bare, projection, (0.25, 0.0, -0.5)))
    assert red > green
    red, green, _ = np.subtract(at(picture, projection, (0.0, 0.25, -0.5)), at(bare, projection, (0.0, 0.25, -0.5)))
    assert green > red


def test_the_disc_of_a_film_moves_an_upright_grid_within_its_plane_alone() -> None:
    ground = Ground(-0.2, 0.1, 1.0, (0.03, -0.2, 0.0), grid=True, shadow=False, along="xy", behind=-0.5)
    view = camera(orthographic=True, yaw=0.5).projection(SIZE)
    plain, film = drawn(view, ground=ground), drawn(view, ground=replace(ground, disc=(0.03, 0.4, 4.9)))
    np.testing.assert_array_equal(plain, film)
