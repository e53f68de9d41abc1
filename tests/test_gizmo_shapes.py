"""How large a gizmo is, which no scale of the world changes; and what is no gizmo."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gizmos import AXES, ORIGIN, Case, cases, fills, numbers_of, simple, strokes
from hypothesis import given
from inside.spatial import Projection, from_axis_angle, to_matrix
from strategies import seeds
from views import looking, random_place

from viewer.errors import InputError
from viewer.gizmo import Fill, Gizmo, Letter, Part, Space, Stroke, Tool, axes_of

TOOLS = (Tool.MOVE, Tool.ROTATE)
COLOURS = {Part.X: "x", Part.Y: "y", Part.Z: "z", Part.YZ: "x", Part.ZX: "y", Part.XY: "z"}


def test_arrows_squares_and_the_centre_have_the_sizes_of_the_design() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    x, y = case.pixel
    shapes = case.gizmo.shapes(case.projection)
    shaft = strokes(shapes, "x")[0]
    np.testing.assert_allclose(shaft.points, [[x + 13, y], [x + 71, y]], atol=1e-9)
    assert shaft.width == 3.0
    head = next(fill for fill in fills(shapes, "x") if fill.alpha == 1.0).points
    np.testing.assert_allclose(head[0], [x + 84, y], atol=1e-9)
    assert math.isclose(np.ptp(head[:, 1]), 11.0, rel_tol=1e-2)
    assert math.isclose(np.ptp(head[:, 0]), 13.0, rel_tol=1e-9)
    square = fills(shapes, "z")[0]
    np.testing.assert_allclose(square.points.min(axis=0), [x + 25, y - 42], atol=1e-9)
    np.testing.assert_allclose(square.points.max(axis=0), [x + 42, y - 25], atol=1e-9)
    assert square.alpha == 0.38
    centre = strokes(shapes, "text")[0]
    np.testing.assert_allclose(np.linalg.norm(centre.points - (x, y), axis=-1), 11.0)
    assert centre.closed


def test_rings_have_the_sizes_of_the_design_and_show_their_near_half() -> None:
    case = simple(Tool.ROTATE, 0.0, 0.0)
    centre = np.array(case.pixel)
    shapes = case.gizmo.shapes(case.projection)
    whole = np.concatenate([stroke.points for stroke in strokes(shapes, "z")])
    np.testing.assert_allclose(np.linalg.norm(whole - centre, axis=-1), 72.0)
    np.testing.assert_allclose(np.linalg.norm(strokes(shapes, "text")[0].points - centre, axis=-1), 84.0)
    assert {stroke.width for stroke in strokes(shapes, "x")} == {2.5}
    from_above = simple(Tool.ROTATE, 0.0, 30.0)
    level = strokes(from_above.gizmo.shapes(from_above.projection), "y")
    assert len(level) == 1
    assert (level[0].points[1:-1, 1] > centre[1]).all()  # seen from above, the near half hangs below the middle
    assert math.isclose(level[0].points[:, 1].max() - centre[1], 36.0, rel_tol=1e-9)


@given(cases(Tool.MOVE))
def test_an_arrow_points_along_the_picture_of_its_axis(case: Case) -> None:
    shapes, centre = case.gizmo.shapes(case.projection), np.array(case.pixel)
    for axis, part in zip(case.gizmo.axes.T, AXES, strict=True):
        lines = [stroke for stroke in strokes(shapes, COLOURS[part]) if not stroke.closed]
        beyond = case.projection.project(case.gizmo.position + 20.0 * case.metre * axis) - centre
        for line in lines:
            along = line.points[1] - centre
            turned = abs(along[0] * beyond[1] - along[1] * beyond[0])
            assert turned <= 1e-6 * np.linalg.norm(along) * np.linalg.norm(beyond)
            assert along @ beyond > 0.0


@pytest.mark.parametrize("tool", TOOLS)
@given(seed=seeds, axes=seeds)
def test_no_scale_of_the_world_changes_a_pixel(tool: Tool, seed: int, axes: int) -> None:
    turned = to_matrix(from_axis_angle([0.6, 0.0, 0.8], axes * 1e-3))
    pictures = []
    for unit in (1.0, 2e-3, 100.0):
        place = random_place(seed, unit, orthographic=bool(seed % 2))
        pictures.append(numbers_of(Gizmo(tool, place.point, turned).shapes(place.projection)))
    for picture in pictures[1:]:
        np.testing.assert_allclose(picture, pictures[0], rtol=0, atol=1e-6)


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("orthographic", [False, True])
def test_the_distance_of_the_eye_does_not_change_the_size(tool: Tool, orthographic: bool) -> None:
    near, far = (simple(tool, distance=d, orthographic=orthographic) for d in (0.7, 40.0))
    shapes = numbers_of(near.gizmo.shapes(near.projection))
    np.testing.assert_allclose(numbers_of(far.gizmo.shapes(far.projection)), shapes, rtol=0, atol=1e-9)


@pytest.mark.parametrize("tool", TOOLS)
def test_the_scale_of_the_ui_scales_all_lengths(tool: Tool) -> None:
    case = simple(tool)
    centre = np.array(case.pixel)
    once, twice = (case.gizmo.shapes(case.projection, scale) for scale in (1.0, 2.0))
    assert len(once) == len(twice)
    for small, large in zip(once, twice, strict=True):
        assert small.colour == large.colour
        if isinstance(small, Letter):
            assert isinstance(large, Letter)
            np.testing.assert_allclose(large.at - centre, 2.0 * (small.at - centre), rtol=0, atol=1e-9)
        else:
            assert isinstance(large, (Stroke, Fill))
            np.testing.assert_allclose(large.points - centre, 2.0 * (small.points - centre), rtol=0, atol=1e-9)


def test_there_is_nothing_to_see_behind_the_eye_or_of_no_tool() -> None:
    for case in (simple(Tool.MOVE), simple(Tool.ROTATE)):
        behind = Gizmo(case.gizmo.tool, case.projection.eye + case.projection.back, np.eye(3))
        assert behind.shapes(case.projection) == []
        assert behind.pick(case.projection, 300.0, 200.0) is None
        assert Gizmo(case.gizmo.tool, case.projection.eye, np.eye(3)).shapes(case.projection) == []
    select = simple(Tool.SELECT)
    assert select.gizmo.shapes(select.projection) == []
    assert select.gizmo.pick(select.projection, *select.pixel) is None


@pytest.mark.parametrize("far", [1e-300, 1e-12, 1e150, 1e300])
@pytest.mark.parametrize("tool", TOOLS)
def test_places_beyond_all_measure_give_numbers_or_nothing(far: float, tool: Tool) -> None:
    case = simple(tool)
    for direction in np.concatenate([np.eye(3), -np.eye(3)]):
        shapes = Gizmo(tool, case.projection.eye + far * direction, np.eye(3)).shapes(case.projection)
        assert np.isfinite(numbers_of(shapes)).all()


def test_a_view_of_no_depth_gives_nothing() -> None:
    projection = Projection(np.zeros((4, 4)), np.zeros((4, 4)), (100, 100))
    assert Gizmo(Tool.MOVE, ORIGIN, np.eye(3)).shapes(projection) == []


def test_the_axes_of_each_space() -> None:
    projection = looking(30.0, 20.0)
    joint, parent = from_axis_angle([0.0, 1.0, 0.0], 0.5), from_axis_angle([1.0, 0.0, 0.0], -0.3)
    np.testing.assert_array_equal(axes_of(Space.WORLD, joint, parent, projection), np.eye(3))
    np.testing.assert_allclose(axes_of(Space.LOCAL, joint, parent, projection), to_matrix(joint))
    np.testing.assert_allclose(axes_of(Space.PARENT, joint, parent, projection), to_matrix(parent))
    view = axes_of(Space.VIEW, joint, parent, projection)
    np.testing.assert_array_equal(view.T, [projection.right, projection.up, projection.back])
    np.testing.assert_array_equal(axes_of(Space.LOCAL, None, None, projection), np.eye(3))
    np.testing.assert_array_equal(axes_of(Space.PARENT, joint, None, projection), np.eye(3))


def test_bad_places_and_axes_are_refused() -> None:
    with pytest.raises(InputError, match=r"gizmo position: expected finite numbers, found nan"):
        Gizmo(Tool.MOVE, np.array([0.0, np.nan, 0.0]), np.eye(3))
    with pytest.raises(InputError, match=r"gizmo axes: expected shape \(3, 3\), found \(2, 3\)"):
        Gizmo(Tool.MOVE, ORIGIN, np.eye(3)[:2])
    with pytest.raises(InputError, match=r"gizmo axes: expected unit vectors at right angles as columns, found \[\[2"):
        Gizmo(Tool.MOVE, ORIGIN, 2.0 * np.eye(3))
    with pytest.raises(InputError, match=r"gizmo other axes: expected unit vectors"):
        Gizmo(Tool.MOVE, ORIGIN, np.eye(3), np.full((3, 3), 1e200))
