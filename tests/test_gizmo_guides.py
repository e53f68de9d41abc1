"""What is drawn while a handle is held, and that nothing done to a drag makes anything but numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gizmos import ANY_PIXEL, AXES, Case, cases, fills, letters, numbers_of, simple, strokes
from hypothesis import assume, given, strategies as st
from strategies import seeds
from views import SIZE, random_place

from viewer.gizmo import Fill, Gizmo, GizmoDrag, Part, Stroke, Tool

KEYS = st.one_of(
    st.tuples(st.just("move"), ANY_PIXEL, ANY_PIXEL),
    st.tuples(st.just("lock"), st.sampled_from("xyz"), st.booleans()),
    st.tuples(st.just("type"), st.text("0123456789.,-", max_size=4), st.booleans()),
    st.tuples(st.sampled_from(["backspace", "next"]), st.none(), st.none()),
)


def lengths(shapes: list[Stroke]) -> list[float]:
    return [round(float(np.linalg.norm(shape.points[1] - shape.points[0])), 6) for shape in shapes]


@given(cases(Tool.MOVE), st.sampled_from(AXES), st.floats(-50.0, 50.0))
def test_the_line_of_a_locked_axis_is_all_of_it_that_can_be_seen(case: Case, part: Part, far: float) -> None:
    axis = case.gizmo.axes[:, AXES.index(part)]
    assume(np.linalg.norm(np.cross(axis, case.sight)) > 0.05)
    shapes = case.drag(part).shapes(case.projection)
    line = shapes[0]
    assert isinstance(line, Stroke)
    assert line.colour == part.value
    start, end = line.points
    assert case.projection.inside(line.points, margin=1e-6).all()
    for point in (case.gizmo.position, case.gizmo.position + far * case.unit * axis):
        pixel = case.projection.project(point)
        if case.projection.inside(pixel):
            run, toward = end - start, pixel - start
            assert abs(run[0] * toward[1] - run[1] * toward[0]) <= 1e-6 * float(run @ run)
            assert -1e-9 <= float(toward @ run) / float(run @ run) <= 1.0 + 1e-9


def test_the_line_crosses_the_view_and_stays_where_the_drag_began() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    drag = case.drag(Part.X, 40.0, 0.0)
    case.moved(drag, 90.0, 60.0)
    line = strokes(drag.shapes(case.projection), "x")[0]
    np.testing.assert_allclose(line.points, [[0.0, SIZE[1] / 2], [SIZE[0], SIZE[1] / 2]], atol=1e-9)


def test_a_plane_shows_both_its_lines_and_the_view_s_plane_none() -> None:
    case = simple(Tool.MOVE)
    thin = [s for s in case.drag(Part.ZX).shapes(case.projection) if isinstance(s, Stroke) and s.alpha == 0.5]
    assert [s.colour for s in thin] == ["x", "z"]
    assert not [s for s in case.drag(Part.SCREEN).shapes(case.projection) if isinstance(s, Stroke) and s.alpha == 0.5]


@pytest.mark.parametrize("part", [Part.X, Part.Y])
def test_snapping_shows_five_steps_to_either_side_of_the_start_and_of_the_place_taken(part: Part) -> None:
    case = simple(Tool.MOVE, 10.0, 20.0)
    drag = case.drag(part)
    assert not strokes(drag.shapes(case.projection), "text2")
    x, y = case.pixel
    drag.move(x + 25.0, y - 25.0, snap=True)
    shapes = drag.shapes(case.projection)
    taken = round(float(np.abs(drag.motion.translation).max()) / 0.05)
    assert taken > 0
    ticks = strokes(shapes, "text2")
    others = {*range(-5, 6), *range(taken - 5, taken + 6)} - {taken}
    assert lengths(ticks) == [4.0] * len(others)
    axis = case.gizmo.axes[:, AXES.index(part)]
    places = case.projection.project(np.multiply.outer(np.array(sorted(others)) * 0.05, axis))
    np.testing.assert_allclose([tick.points.mean(axis=0) for tick in ticks], places, atol=1e-9)
    longest = [s for s in strokes(shapes, "text") if len(s.points) == 2]
    assert lengths(longest) == [8.0]
    at = case.projection.project(case.gizmo.position + drag.motion.translation)
    np.testing.assert_allclose(longest[0].points.mean(axis=0), at, atol=1e-9)
    drag.type("1")
    assert not strokes(drag.shapes(case.projection), "text2")


def test_steps_too_close_to_tell_apart_are_not_shown() -> None:
    case = simple(Tool.MOVE, 10.0, 20.0, 60.0)
    drag = case.drag(Part.X)
    case.moved(drag, 30.0, 0.0, snap=True)
    assert not strokes(drag.shapes(case.projection), "text2")


def test_rings_have_steps_all_round_and_longer_ones_every_45_degrees() -> None:
    case = simple(Tool.ROTATE, 0.0, 0.0)
    drag = case.drag(Part.Z, 72.0, 0.0)
    case.moved(drag, 60.0, -35.0, snap=True)
    assert drag.readout == "ΔZ 30.0°"
    ticks = [s for s in drag.shapes(case.projection) if isinstance(s, Stroke) and s.colour in ("text", "text2")]
    found = lengths([s for s in ticks if len(s.points) == 2])
    assert {length: found.count(length) for length in set(found)} == {4.0: 63, 6.0: 8, 8.0: 1}


def test_the_angle_turned_is_a_sector_from_the_start_to_the_pointer() -> None:
    case = simple(Tool.ROTATE, 0.0, 0.0)
    drag, (x, y) = case.drag(Part.Z, 72.0, 0.0), case.pixel
    case.moved(drag, 0.0, -50.0)
    sector = fills(drag.shapes(case.projection), "z")[0].points
    np.testing.assert_allclose(sector[[0, 1, -1]], [[x, y], [x + 72.0, y], [x, y - 72.0]], atol=1e-9)
    for angle in (2.0, 3.0, 4.0, 5.0, 6.0):
        case.moved(drag, 50.0 * math.cos(angle), -50.0 * math.sin(angle))
        for fill in fills(drag.shapes(case.projection), "z"):
            edges = np.diff(fill.points, axis=0, append=fill.points[:1])
            following = np.roll(edges, -1, axis=0)
            bends = edges[:, 0] * following[:, 1] - edges[:, 1] * following[:, 0]
            assert (bends <= 1e-9).all() or (bends >= -1e-9).all()


@pytest.mark.parametrize("yaw", [-30.0, 50.0])
def test_the_sector_ends_at_the_pointer_also_once_the_view_has_turned(yaw: float) -> None:
    case = simple(Tool.ROTATE, 0.0, 80.0)
    drag, (x, y) = case.drag(Part.Y, 72.0, 0.0), case.pixel
    case.moved(drag, 40.0, -60.0)
    turned = simple(Tool.ROTATE, yaw, 80.0).projection
    before = drag.motion.rotation
    drag.move(x + 40.0, y - 60.0, turned)
    np.testing.assert_allclose(drag.motion.rotation, before, atol=1e-12)
    end = fills(drag.shapes(turned), "y")[-1].points[-1] - (x, y)
    assert abs(end[0] * -60.0 - end[1] * 40.0) <= 1e-6 * float(np.linalg.norm(end)) * math.hypot(40.0, 60.0)
    assert end @ (40.0, -60.0) > 0.0


def test_handles_go_along_and_all_but_the_held_one_stand_back() -> None:
    case = simple(Tool.MOVE)
    drag, (x, y) = case.drag(Part.SCREEN), case.pixel
    case.moved(drag, 70.0, 20.0)
    shapes = drag.shapes(case.projection)
    centre = strokes(shapes, "hovered")[0]
    np.testing.assert_allclose(centre.points.mean(axis=0), [x + 70.0, y + 20.0], atol=1e-9)
    assert centre.alpha == 1.0
    assert max(letter.alpha for letter in letters(shapes).values()) == 0.25


def test_grabbing_without_handles_shows_the_held_one_alone() -> None:
    case = simple(Tool.SELECT)
    assert [shape.colour for shape in case.drag(Part.SCREEN).shapes(case.projection)] == ["hovered"]
    turn = case.drag(Part.VIEW_RING, 84.0, 0.0)
    assert "hovered" in {shape.colour for shape in turn.shapes(case.projection)}
    assert not letters(turn.shapes(case.projection))
    drag = case.drag(Part.SCREEN)
    drag.lock("y")
    assert {shape.colour for shape in drag.shapes(case.projection)} == {"y", "hovered"}
    assert set(letters(drag.shapes(case.projection))) == {"Y"}


@pytest.mark.parametrize("tool", list(Tool))
@given(place=seeds, part=st.sampled_from(Part), keys=st.lists(KEYS, max_size=8), snap=st.booleans())
def test_whatever_is_done_to_a_drag_it_gives_numbers(
    tool: Tool, place: int, part: Part, keys: list[tuple[str, object, object]], snap: bool
) -> None:
    some = random_place(place, 1.0, orthographic=bool(place % 2))
    x, y = some.projection.project(some.point).tolist()
    drag = GizmoDrag(Gizmo(tool, some.point, np.eye(3)), some.projection, part, x, y)
    for key, first, second in keys:
        if key == "move":
            assert isinstance(first, float)
            assert isinstance(second, float)
            drag.move(first, second, snap=snap, fine=first > second)
        elif key == "lock":
            drag.lock(first, plane=bool(second))  # type: ignore[arg-type]
        elif key == "type":
            drag.type(str(first))
        elif key == "next":
            drag.next_field()
        else:
            drag.backspace()
        motion = drag.motion
        assert np.isfinite(motion.translation).all()
        assert abs(np.linalg.norm(motion.rotation) - 1.0) < 1e-12
        shapes = drag.shapes(some.projection)
        assert np.isfinite(numbers_of(shapes)).all()
        assert all(0.0 <= shape.alpha <= 1.0 for shape in shapes)
        assert all(len(shape.points) > 2 for shape in shapes if isinstance(shape, Fill))
