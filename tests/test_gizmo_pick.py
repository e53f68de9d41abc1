"""What is projected is picked, what has faded is not, and who is hit first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from gizmos import ANY_PIXEL, AXES, MOVES, PLANES, TURNS, Case, cases, simple, strokes
from hypothesis import assume, given, strategies as st
from views import pixel_of

from viewer.gizmo import Part, Stroke, Tool

if TYPE_CHECKING:
    from inside.spatial import Floats

NAMES = {Part.X: "x", Part.Y: "y", Part.Z: "z"}


def distance_to(pixel: Floats, points: Floats) -> float:
    """To a path, by trying many points of it."""
    part = np.linspace(0.0, 1.0, 201)[:, None, None]
    tried = points[:-1] + part * np.diff(points, axis=0)
    return float(np.linalg.norm(tried - pixel, axis=-1).min())


def distance_to_others(case: Case, part: Part, pixel: Floats) -> float:
    """To the nearest line of a handle of another axis, and to the circles that face the eye."""
    lines = [shape for shape in case.gizmo.shapes(case.projection) if isinstance(shape, Stroke)]
    paths = [np.concatenate([s.points, s.points[: int(s.closed)]]) for s in lines if s.colour != NAMES[part]]
    return min((distance_to(pixel, path) for path in paths), default=np.inf)


@given(cases(Tool.MOVE), st.sampled_from(AXES), st.floats(20.0, 80.0))
def test_a_projected_point_of_an_axis_picks_its_arrow(case: Case, part: Part, along: float) -> None:
    axis = case.gizmo.axes[:, AXES.index(part)]
    x, y = pixel_of(case.projection, case.gizmo.position + along * case.metre * axis)
    pixel = np.array([x, y])
    away = float(np.linalg.norm(pixel - case.pixel))
    foreshortened = float(np.linalg.norm(np.cross(axis, case.sight)))
    # Perspective may show the point beyond the tip, or in the centre ring.
    tip = strokes(case.gizmo.shapes(case.projection), NAMES[part])
    assume(foreshortened > 0.125 and tip and away > 17.0)
    assume(away < 84.0 * foreshortened and distance_to_others(case, part, pixel) > 7.0)
    assert case.gizmo.pick(case.projection, x, y) is part


@given(cases(Tool.ROTATE, orthographic=True), st.sampled_from(AXES), st.floats(-1.55, 1.55))
def test_a_projected_point_of_a_ring_picks_it(case: Case, part: Part, angle: float) -> None:
    axis = case.gizmo.axes[:, AXES.index(part)]
    near = -case.sight + (case.sight @ axis) * axis
    assume(np.linalg.norm(near) > 1e-3)
    near = near / np.linalg.norm(near)
    on_ring = np.cos(angle) * near + np.sin(angle) * np.cross(axis, near)
    x, y = pixel_of(case.projection, case.gizmo.position + 72.0 * case.metre * on_ring)
    assume(distance_to_others(case, part, np.array([x, y])) > 2.0)
    assert case.gizmo.pick(case.projection, x, y) is part


@given(cases(Tool.MOVE, orthographic=True), st.sampled_from(PLANES), st.floats(26.0, 41.0), st.floats(26.0, 41.0))
def test_a_projected_point_of_a_square_picks_it(case: Case, part: Part, a: float, b: float) -> None:
    axis = PLANES.index(part)
    first, second = case.gizmo.axes[:, (axis + 1) % 3], case.gizmo.axes[:, (axis + 2) % 3]
    assume(abs(float(case.gizmo.axes[:, axis] @ case.sight)) > 0.19)
    x, y = pixel_of(case.projection, case.gizmo.position + case.metre * (a * first + b * second))
    found = case.gizmo.pick(case.projection, x, y)
    lines = [s for s in case.gizmo.shapes(case.projection) if isinstance(s, Stroke) and (len(s.points) != 4)]
    paths = [np.concatenate([s.points, s.points[: int(s.closed)]]) for s in lines]
    nearest = min(distance_to(np.array([x, y]), path) for path in paths)
    # Squares may lie over one another: one that is there is hit, unless a line is nearer than half the hit width.
    assert found in PLANES or (nearest < 14.0 and found is not None)


@given(cases(Tool.MOVE), st.floats(-100.0, 100.0), st.floats(-100.0, 100.0))
def test_what_has_faded_is_never_picked(case: Case, dx: float, dy: float) -> None:
    x, y = case.pixel
    found = case.gizmo.pick(case.projection, x + dx, y + dy)
    if found in AXES:
        axis = case.gizmo.axes[:, AXES.index(found)]
        assert np.linalg.norm(np.cross(axis, case.sight)) > 0.12
    elif found in PLANES:
        assert abs(case.gizmo.axes[:, PLANES.index(found)] @ case.sight) > 0.18
    elif found is not None:
        assert np.hypot(dx, dy) <= 11.0 + 1e-9


def test_an_axis_and_a_plane_seen_edge_on_leave_their_pixels_to_others() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    x, y = case.pixel
    found = {case.gizmo.pick(case.projection, x + dx, y + dy) for dx in range(-90, 91, 3) for dy in range(-90, 91, 3)}
    assert found == {None, Part.X, Part.Y, Part.XY, Part.SCREEN}


@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_lines_are_hit_within_half_the_hit_width(scale: float) -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    x, y = case.pixel
    for along in (50.0, 80.0):
        assert case.gizmo.pick(case.projection, x + along * scale, y + 4.9 * scale, scale) is Part.X
        assert case.gizmo.pick(case.projection, x + along * scale, y + 5.1 * scale, scale) is None
    assert case.gizmo.pick(case.projection, x + 88.9 * scale, y, scale) is Part.X
    assert case.gizmo.pick(case.projection, x + 89.1 * scale, y, scale) is None
    ring = simple(Tool.ROTATE, 0.0, 0.0)
    radii = {67.1: Part.Z, 76.9: Part.Z, 79.5: Part.VIEW_RING, 88.9: Part.VIEW_RING, 66.0: None, 90.0: None}
    for radius, part in radii.items():
        at = 0.5**0.5 * radius * scale
        assert ring.gizmo.pick(ring.projection, x + at, y - at, scale) is part


def test_the_centre_comes_before_arrows_and_arrows_before_squares() -> None:
    case = simple(Tool.MOVE, 12.0, 10.0)
    x, y = case.pixel
    assert case.gizmo.pick(case.projection, x, y) is Part.SCREEN
    assert case.gizmo.pick(case.projection, x + 10.5, y) is Part.SCREEN
    assert case.gizmo.pick(case.projection, x - 14.0, y + 10.0) is Part.Z
    behind = simple(Tool.MOVE, 135.0, 35.0)
    end = strokes(behind.gizmo.shapes(behind.projection), "z")[0].points[1]
    assert behind.gizmo.pick(behind.projection, *(0.6 * end + 0.4 * np.array(behind.pixel))) is Part.Z


@pytest.mark.parametrize(("yaw", "part"), [(135.0, Part.X), (-45.0, Part.Z)])
def test_of_two_arrows_in_one_place_the_nearer_one_is_hit(yaw: float, part: Part) -> None:
    case = simple(Tool.MOVE, yaw, 0.0)
    x, y = case.pixel
    assert case.gizmo.pick(case.projection, x + (-40.0 if yaw > 0.0 else 40.0), y) is part


def test_the_far_half_of_a_ring_is_not_hit_unless_the_ring_is_seen_face_on() -> None:
    case = simple(Tool.ROTATE, 0.0, 30.0)
    x, y = case.pixel
    assert case.gizmo.pick(case.projection, x + 20.0, y + 34.5) is Part.Y
    assert case.gizmo.pick(case.projection, x + 20.0, y - 34.5) is None
    front = simple(Tool.ROTATE, 0.0, 0.0)
    around = [
        front.gizmo.pick(front.projection, x + 72.0 * np.cos(a), y + 72.0 * np.sin(a))
        for a in np.arange(0.0, 6.2, 0.1)
        if abs(np.sin(2.0 * a)) > 0.3  # off the rings of the other axes
    ]
    assert set(around) == {Part.Z}


@pytest.mark.parametrize("tool", [Tool.MOVE, Tool.ROTATE])
@given(x=ANY_PIXEL, y=ANY_PIXEL)
def test_any_pixel_may_be_asked_for(tool: Tool, x: float, y: float) -> None:
    case = simple(tool)
    found = case.gizmo.pick(case.projection, x, y)
    assert found is None or found in (MOVES if tool is Tool.MOVE else TURNS)
