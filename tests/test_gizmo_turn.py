"""Drags that turn: about their axis only, in place, by the angle that the pointer goes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gizmos import AXES, PIXELS, TURNS, Case, cases, simple
from hypothesis import assume, given, strategies as st
from inside.spatial import angle_between, from_axis_angle, rotate
from views import pixel_of

from viewer.gizmo import Gizmo, Part, Tool

if TYPE_CHECKING:
    from inside.spatial import Floats

paths = st.lists(st.tuples(PIXELS, PIXELS), max_size=6)


def axis_of(case: Case, part: Part) -> Floats:
    return -case.sight if part is Part.VIEW_RING else case.gizmo.axes[:, AXES.index(part)]


@given(cases(Tool.ROTATE), st.sampled_from(TURNS), paths, st.booleans())
def test_a_ring_turns_about_its_axis_only_and_keeps_the_place(
    case: Case, part: Part, path: list[tuple[float, float]], fine: bool
) -> None:
    drag = case.drag(part, 40.0, 30.0)
    for x, y in path:
        motion = case.moved(drag, x, y, fine=fine)
        np.testing.assert_array_equal(motion.translation, np.zeros(3))
        position, _ = motion.apply(case.gizmo.position, None)
        assert position.tobytes() == case.gizmo.position.tobytes()
        axis = axis_of(case, part)
        np.testing.assert_allclose(np.cross(motion.rotation[:3], axis), np.zeros(3), atol=1e-15)
        assert math.isclose(float(np.linalg.norm(motion.rotation)), 1.0, rel_tol=1e-14)


@given(cases(Tool.ROTATE), st.sampled_from(TURNS), PIXELS, PIXELS, PIXELS, PIXELS, st.booleans())
def test_there_and_back_is_identity_to_the_bit(
    case: Case, part: Part, x: float, y: float, dx: float, dy: float, fine: bool
) -> None:
    drag = case.drag(part, x, y)
    case.moved(drag, dx, dy, fine=fine)
    motion = case.moved(drag, x, y, fine=fine)
    place, turn = np.array([0.1, -0.2, 1e-9]), np.array([0.5, -0.5, 0.5, 0.5])
    position, rotation = motion.apply(place, turn)
    assert position.tobytes() == place.tobytes()
    assert rotation.tobytes() == turn.tobytes()


@pytest.mark.parametrize("part", TURNS)
@pytest.mark.parametrize("turns", [1, -2])
def test_once_around_is_a_whole_turn_that_changes_nothing(part: Part, turns: int) -> None:
    case = simple(Tool.ROTATE, 40.0, 30.0)
    drag = case.drag(part, 60.0, 0.0)
    for angle in np.linspace(0.0, 2.0 * math.pi * turns, 40 * abs(turns) + 1)[:-1]:
        case.moved(drag, 60.0 * math.cos(angle), -60.0 * math.sin(angle))
    motion = case.moved(drag, 60.0, 0.0)
    facing = float(axis_of(case, part) @ -case.sight)
    sign = "\N{MINUS SIGN}" if facing * turns < 0.0 else ""
    assert motion.readout.split()[1] == f"{sign}{360.0 * abs(turns):.1f}°"
    assert not motion.turns


@given(cases(Tool.ROTATE, orthographic=True), st.sampled_from(AXES), st.floats(-3.0, 3.0), st.floats(-3.0, 3.0))
def test_the_ring_s_point_follows_the_pointer(case: Case, part: Part, start: float, turn: float) -> None:
    axis = axis_of(case, part)
    assume(abs(axis @ case.sight) > 0.31)
    spoke = rotate(from_axis_angle(axis, start), np.cross(axis, case.sight))
    grip = case.gizmo.position + 72.0 * case.metre * spoke / np.linalg.norm(spoke)
    goal = case.gizmo.position + rotate(from_axis_angle(axis, turn), grip - case.gizmo.position)
    (x0, y0), (x, y), (cx, cy) = pixel_of(case.projection, grip), pixel_of(case.projection, goal), case.pixel
    motion = case.moved(case.drag(part, x0 - cx, y0 - cy), x - cx, y - cy)
    expected = math.remainder(turn, 2.0 * math.pi)
    assert abs(float(angle_between(motion.rotation, from_axis_angle(axis, expected)))) < 1e-6
    moved, _ = motion.apply(grip, None)
    np.testing.assert_allclose(case.projection.project(moved), [x, y], rtol=0, atol=1e-4)


@pytest.mark.parametrize("orthographic", [False, True])
def test_a_ring_seen_edge_on_is_pulled_along_its_line(orthographic: bool) -> None:
    case = simple(Tool.ROTATE, 0.0, 0.0, orthographic=orthographic)
    for start in (0.0, 30.0, -70.0):
        motion = case.moved(case.drag(Part.Y, start, 0.0), start + 36.0, -80.0)
        np.testing.assert_allclose(motion.rotation, from_axis_angle([0.0, 1.0, 0.0], 0.5), atol=1e-12)


@given(cases(Tool.ROTATE), st.sampled_from(AXES))
def test_near_edge_on_a_pixel_is_never_more_than_a_few_degrees(case: Case, part: Part) -> None:
    axis = axis_of(case, part)
    near = -case.sight + (case.sight @ axis) * axis
    assume(np.linalg.norm(near) > 0.3)
    at = case.gizmo.position + 72.0 * case.metre * near / np.linalg.norm(near)
    assume(case.projection.orthographic or case.projection.depth(at) > 0.0)
    x, y = np.subtract(pixel_of(case.projection, at), case.pixel).tolist()
    drag = case.drag(part, x, y)
    for dx, dy in ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0)):
        turned = float(angle_between(case.moved(drag, x + dx, y + dy).rotation, [0.0, 0.0, 0.0, 1.0]))
        assert turned < math.radians(5.0)


@pytest.mark.parametrize("orthographic", [False, True])
def test_the_view_ring_turns_the_picture_as_the_pointer_goes(orthographic: bool) -> None:
    case = simple(Tool.SELECT, 40.0, 15.0, orthographic=orthographic)
    motion = case.moved(case.drag(Part.VIEW_RING, 84.0, 0.0), 0.0, -30.0)
    assert motion.readout == "Δ 90.0°"
    right, _ = motion.apply(case.projection.right, None)
    np.testing.assert_allclose(right, case.projection.up, atol=1e-12)


@pytest.mark.parametrize("part", TURNS)
def test_a_drag_from_the_very_middle_turns_by_pulling(part: Part) -> None:
    case = simple(Tool.ROTATE)
    drag = case.drag(part, 0.0, 0.0)
    assert case.moved(drag, 30.0, 20.0).turns
    assert not case.moved(drag, 0.0, 0.0).turns


@pytest.mark.parametrize("part", TURNS)
def test_across_the_middle_the_angle_waits(part: Part) -> None:
    case = simple(Tool.ROTATE, 40.0, 30.0)
    drag = case.drag(part, 60.0, 10.0)
    before = case.moved(drag, 5.0, 3.0).rotation
    np.testing.assert_array_equal(case.moved(drag, 1.0, 0.5).rotation, before)


def test_what_stands_aside_goes_round_the_pivot() -> None:
    case = simple(Tool.ROTATE, 0.0, 0.0)
    gizmo = Gizmo(Tool.ROTATE, np.array([0.1, 0.0, 0.0]), np.eye(3))
    moved = case._replace(gizmo=gizmo)
    motion = moved.moved(moved.drag(Part.Z, 72.0, 0.0), 0.0, -72.0)
    position, rotation = motion.apply([0.3, 0.0, 0.5], [0.0, 0.0, 0.0, 1.0])
    np.testing.assert_allclose(position, [0.1, 0.2, 0.5], atol=1e-12)
    np.testing.assert_allclose(rotation, from_axis_angle([0.0, 0.0, 1.0], 0.5 * math.pi), atol=1e-12)
    np.testing.assert_array_equal(motion.pivot, gizmo.position)
