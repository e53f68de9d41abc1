"""Drags that move: along their axis or in their plane only, under the pointer, finite wherever it goes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gizmos import ANY_PIXEL, AXES, MOVES, PIXELS, PLANES, Case, cases, simple
from hypothesis import assume, given, strategies as st
from inside.spatial import Projection
from strategies import seeds
from views import pixel_of, random_place

from viewer.gizmo import Gizmo, GizmoDrag, Part, Tool

if TYPE_CHECKING:
    from inside.spatial import Floats

NO_TURN = np.array([0.0, 0.0, 0.0, 1.0])
paths = st.lists(st.tuples(PIXELS, PIXELS), max_size=6)


def deep_enough(case: Case, point: Floats) -> bool:
    """Whether a place is neither held back near the eye nor far away."""
    p = case.projection
    return p.orthographic or 0.06 < float(p.depth(point) / p.depth(case.gizmo.position)) < 19.0


@given(cases(Tool.MOVE), st.sampled_from(MOVES), paths, PIXELS, PIXELS, st.booleans())
def test_there_and_back_is_identity_to_the_bit(
    case: Case, part: Part, path: list[tuple[float, float]], dx: float, dy: float, fine: bool
) -> None:
    drag = case.drag(part, dx, dy)
    for x, y in path:
        case.moved(drag, x, y, snap=x > y, fine=fine)
    place, turn = np.array([0.1, -0.2, 1e-9]), np.array([0.5, -0.5, 0.5, 0.5])
    for snap in (True, False):
        motion = case.moved(drag, dx, dy, snap=snap, fine=fine)
        position, rotation = motion.apply(place, turn)
        assert position.tobytes() == place.tobytes()
        assert rotation.tobytes() == turn.tobytes()


@given(cases(Tool.MOVE), st.sampled_from(AXES), PIXELS, PIXELS)
def test_an_axis_drag_moves_along_its_axis_only(case: Case, part: Part, dx: float, dy: float) -> None:
    motion = case.moved(case.drag(part), dx, dy)
    axis = case.gizmo.axes[:, AXES.index(part)]
    aside = motion.translation - (motion.translation @ axis) * axis
    assert np.linalg.norm(aside) <= 1e-14 * np.linalg.norm(motion.translation)
    np.testing.assert_array_equal(motion.rotation, NO_TURN)


@given(cases(Tool.MOVE), st.sampled_from(AXES), PIXELS, PIXELS)
def test_an_axis_drag_comes_as_near_to_the_pointer_as_its_axis_does(
    case: Case, part: Part, dx: float, dy: float
) -> None:
    axis = case.gizmo.axes[:, AXES.index(part)]
    assume(np.linalg.norm(np.cross(axis, case.sight)) > 0.125)
    moved = case.gizmo.position + case.moved(case.drag(part), dx, dy).translation
    assume(deep_enough(case, moved))
    seen = case.projection.project(moved) - case.pixel
    beside = case.projection.project(case.gizmo.position + 1e-4 * case.metre * axis) - case.pixel
    along = beside / np.linalg.norm(beside)
    assert math.isclose(seen @ along, np.array([dx, dy]) @ along, rel_tol=1e-5, abs_tol=1e-2)


@given(cases(Tool.MOVE), st.sampled_from(PLANES), PIXELS, PIXELS)
def test_a_plane_drag_keeps_what_is_at_right_angles(case: Case, part: Part, dx: float, dy: float) -> None:
    motion = case.moved(case.drag(part), dx, dy)
    normal = case.gizmo.axes[:, PLANES.index(part)]
    assert abs(motion.translation @ normal) <= 1e-14 * np.linalg.norm(motion.translation)


@given(cases(Tool.MOVE), st.sampled_from(PLANES), st.floats(-300, 300), st.floats(-300, 300))
def test_a_plane_drag_stays_under_the_pointer(case: Case, part: Part, dx: float, dy: float) -> None:
    assume(abs(case.gizmo.axes[:, PLANES.index(part)] @ case.sight) > 0.19)
    moved = case.gizmo.position + case.moved(case.drag(part), dx, dy).translation
    assume(deep_enough(case, moved) and np.linalg.norm(moved - case.gizmo.position) < 4.0 * case.unit)
    np.testing.assert_allclose(case.projection.project(moved) - case.pixel, [dx, dy], rtol=0, atol=1e-5)


@given(cases(Tool.SELECT), PIXELS, PIXELS, PIXELS, PIXELS)
def test_a_screen_drag_keeps_the_depth_and_the_offset_to_the_pointer(
    case: Case, x: float, y: float, dx: float, dy: float
) -> None:
    drag = case.drag(Part.SCREEN, x, y)
    moved = case.gizmo.position + case.moved(drag, x + dx, y + dy).translation
    np.testing.assert_allclose(case.projection.project(moved) - case.pixel, [dx, dy], rtol=0, atol=1e-6)
    depth = float(case.projection.depth(moved))
    assert math.isclose(depth, case.projection.depth(case.gizmo.position), rel_tol=1e-9)


@given(seeds, st.sampled_from(MOVES), st.floats(-200, 200), st.floats(-200, 200))
def test_the_same_drag_of_a_larger_world_moves_as_much_farther(seed: int, part: Part, dx: float, dy: float) -> None:
    shifts = []
    for unit in (1.0, 2e-3, 100.0):
        place = random_place(seed, unit, orthographic=bool(seed % 2))
        case = Case(Gizmo(Tool.MOVE, place.point, np.eye(3)), place.projection, unit)
        shifts.append(case.moved(case.drag(part), dx, dy).translation / unit)
    for shift in shifts[1:]:
        np.testing.assert_allclose(shift, shifts[0], rtol=1e-6, atol=1e-9)


@given(cases(Tool.MOVE), st.sampled_from(AXES), st.floats(0.0, 2.0 * math.pi))
def test_an_axis_drag_goes_one_way_and_never_leaps_to_infinity(case: Case, part: Part, angle: float) -> None:
    drag, axis = case.drag(part), case.gizmo.axes[:, AXES.index(part)]
    pixels = np.linspace(-3000.0, 3000.0, 121)
    way = [case.moved(drag, p * math.cos(angle), p * math.sin(angle)).translation @ axis for p in pixels]
    steps = np.diff(way)
    assert (steps >= 0.0).all() or (steps <= 0.0).all()
    assert np.abs(way).max() < 1e4 * case.unit
    depth = case.projection.depth(case.gizmo.position + np.multiply.outer(way, axis))
    if not case.projection.orthographic:
        assert depth.min() > 0.049 * case.projection.depth(case.gizmo.position)


@pytest.mark.parametrize(("pitch", "aside", "yaw"), [(11.0, 90.0, 200.0), (30.0, 0.0, 0.0), (75.0, 90.0, 200.0)])
def test_a_plane_drag_across_the_horizon_is_held_back_without_a_leap(pitch: float, aside: float, yaw: float) -> None:
    case = simple(Tool.MOVE, yaw, pitch)
    drag = case.drag(Part.ZX)
    ways = np.array([case.moved(drag, aside, -dy).translation for dy in np.arange(0.0, 6000.0, 2.0)])
    far, steps = np.linalg.norm(ways, axis=-1), np.linalg.norm(np.diff(ways, axis=0), axis=-1)
    # It goes faster and faster, up to 20 times as far from the eye as it was, and no farther.
    assert 50.0 < far.max() < 63.0
    assert steps.max() < 16.0
    assert steps[far.argmax() :].max() < 0.2


@pytest.mark.parametrize(("yaw", "away"), [(0.0, -1.0), (180.0, 1.0)])
@pytest.mark.parametrize("orthographic", [False, True])
def test_an_axis_that_points_at_the_eye_is_pushed_away_by_pulling_up(
    yaw: float, away: float, orthographic: bool
) -> None:
    case = simple(Tool.SELECT, yaw, 0.0, orthographic=orthographic)
    drag = case.drag(Part.SCREEN)
    drag.lock("z")
    # With perspective, the pointer goes up as what it pushes shrinks towards the vanishing point.
    expected = 100.0 * case.metre / (1.0 if orthographic else 1.0 - 100.0 * case.metre / 3.0)
    np.testing.assert_allclose(case.moved(drag, 70.0, -100.0).translation, [0, 0, away * expected], atol=1e-12)
    expected = -100.0 * case.metre / (1.0 if orthographic else 1.0 + 100.0 * case.metre / 3.0)
    np.testing.assert_allclose(case.moved(drag, -9.0, 100.0).translation, [0, 0, away * expected], atol=1e-12)


def test_in_a_plane_seen_edge_on_what_is_across_the_view_moves() -> None:
    case = simple(Tool.SELECT, 0.0, 0.0)
    drag = case.drag(Part.SCREEN)
    drag.lock("y", plane=True)
    np.testing.assert_allclose(case.moved(drag, 70.0, -100.0).translation, [70.0 * case.metre, 0, 0], atol=1e-12)


@pytest.mark.parametrize("tool", list(Tool))
@given(place=seeds, x=ANY_PIXEL, y=ANY_PIXEL, path=st.lists(st.tuples(ANY_PIXEL, ANY_PIXEL), max_size=4))
def test_no_pointer_makes_anything_but_numbers(
    tool: Tool, place: int, x: float, y: float, path: list[tuple[float, float]]
) -> None:
    some = random_place(place, 1.0, orthographic=bool(place % 2))
    for part in Part:
        drag = GizmoDrag(Gizmo(tool, some.point, np.eye(3)), some.projection, part, x, y)
        for to in path:
            motion = drag.move(*to, snap=bool(place % 3), fine=to[0] > 0.0)
            assert np.isfinite(motion.translation).all()
            assert abs(np.linalg.norm(motion.rotation) - 1.0) < 1e-12
            assert "nan" not in motion.readout


@pytest.mark.parametrize("part", list(Part))
def test_what_the_eye_does_not_see_is_not_moved(part: Part) -> None:
    projection = simple(Tool.MOVE).projection
    gizmo = Gizmo(Tool.MOVE, projection.eye + projection.back, np.eye(3))
    drag = GizmoDrag(gizmo, projection, part, 10.0, 20.0)
    motion = drag.move(200.0, 100.0)
    assert not motion.moves
    assert not motion.turns
    assert drag.shapes(projection) == []


@given(cases(Tool.MOVE), st.sampled_from(MOVES), PIXELS, PIXELS)
def test_another_view_alone_moves_nothing(case: Case, part: Part, dx: float, dy: float) -> None:
    drag = case.drag(part)
    before = case.moved(drag, dx, dy).translation
    x, y = case.pixel
    closer = Projection(case.projection.view, case.projection.lens, (case.projection.size[0] * 2, 700))
    np.testing.assert_array_equal(drag.move(x + dx, y + dy, closer).translation, before)
    same = Projection(closer.view, closer.lens, closer.size)
    after = drag.move(x + dx + 10.0, y + dy, closer).translation
    np.testing.assert_array_equal(drag.move(x + dx + 10.0, y + dy, same).translation, after)


def test_a_motion_moves_many_at_once() -> None:
    case = simple(Tool.MOVE)
    motion = case.moved(case.drag(Part.X), 40.0, 0.0)
    some = np.random.default_rng(1).normal(size=(5, 3))
    positions, none = motion.apply(some, None)
    np.testing.assert_array_equal(positions, some + motion.translation)
    assert none is None


def test_where_an_axis_is_seen_from_the_side_a_pixel_is_a_pixel() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    assert pixel_of(case.projection, case.gizmo.position) == pytest.approx(case.pixel)
    motion = case.moved(case.drag(Part.X, 40.0, 3.0), 140.0, -50.0)
    np.testing.assert_allclose(motion.translation, [100.0 * case.metre, 0.0, 0.0], rtol=1e-12, atol=1e-15)
