"""How handles answer: fading, letters, hovering, holding, and who is in front."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gizmos import AXES, ORIGIN, PLANES, Case, cases, fills, letters, simple, strokes
from hypothesis import given

from viewer.gizmo import Fill, Gizmo, Part, Tool

TOOLS = (Tool.MOVE, Tool.ROTATE)
COLOURS = {Part.X: "x", Part.Y: "y", Part.Z: "z", Part.YZ: "x", Part.ZX: "y", Part.XY: "z"}


def tilted(part: Part, foreshortening: float) -> Case:
    """An orthographic view in which one axis is as long as told."""
    case = simple(Tool.MOVE, 0.0, 0.0, orthographic=True)
    column = AXES.index(part)
    axis = np.array([foreshortening, 0.0, math.sqrt(1.0 - foreshortening**2)])
    axes = np.stack([axis, [0.0, 1.0, 0.0], np.cross(axis, [0.0, 1.0, 0.0])], axis=1)
    return case._replace(gizmo=Gizmo(Tool.MOVE, ORIGIN, np.roll(axes, column, axis=1)))


@given(cases(Tool.MOVE))
def test_arrows_and_squares_fade_as_they_turn_edge_on(case: Case) -> None:
    shapes = case.gizmo.shapes(case.projection)
    for axis, arrow, plane in zip(case.gizmo.axes.T, AXES, PLANES, strict=True):
        facing = abs(float(axis @ case.sight))
        length = float(np.linalg.norm(np.cross(axis, case.sight)))
        lines = strokes(shapes, COLOURS[arrow])
        shafts, squares = [s for s in lines if not s.closed], [s for s in lines if s.closed]
        expected = min(max((length - 0.12) / 0.14, 0.0), 1.0)
        np.testing.assert_allclose([s.alpha for s in shafts], [expected] * (expected > 0.0), atol=1e-6)
        assert bool(squares) == (facing > 0.18), plane
        assert (facing < 0.32) or squares[0].alpha == 1.0


@pytest.mark.parametrize("part", AXES)
def test_a_short_arrow_has_no_letter(part: Part) -> None:
    for length, has in ((0.13, False), (0.16, False), (0.17, True), (0.5, True)):
        case = tilted(part, length)
        assert (part.value.upper() in letters(case.gizmo.shapes(case.projection))) == has


@given(cases(Tool.MOVE))
def test_letters_stand_beyond_the_tips(case: Case) -> None:
    shapes, centre = case.gizmo.shapes(case.projection), np.array(case.pixel)
    for part in AXES:
        letter = letters(shapes).get(part.value.upper())
        head = max((f.points for f in fills(shapes, COLOURS[part]) if len(f.points) > 4), key=len, default=None)
        if letter is not None and head is not None:
            out = (letter.at - centre) / np.linalg.norm(letter.at - centre)
            assert (letter.at - centre) @ out >= ((head - centre) @ out).max() + 5.0


def test_whole_rings_have_their_letters() -> None:
    case = simple(Tool.ROTATE)
    assert set(letters(case.gizmo.shapes(case.projection))) == {"X", "Y", "Z"}
    assert set(letters(simple(Tool.MOVE).gizmo.shapes(case.projection))) == {"X", "Y", "Z"}


@pytest.mark.parametrize("tool", TOOLS)
def test_hovering_lights_one_handle_and_holding_dims_the_others(tool: Tool) -> None:
    case = simple(tool)
    plain = case.gizmo.shapes(case.projection)
    for part in case.gizmo.parts:
        lit = case.gizmo.shapes(case.projection, hovered=part)
        assert [shape.alpha for shape in lit] == [shape.alpha for shape in plain]
        changed = {a.colour for a, b in zip(plain, lit, strict=True) if a.colour != b.colour}
        assert changed == {COLOURS.get(part, "text")}
        assert {s.colour for s in lit} - {s.colour for s in plain} == {"hovered"}
        held = case.gizmo.shapes(case.projection, held=part, hovered=Part.Y)
        strong = max(shape.alpha for shape in held if shape.colour == "hovered")
        others = max(shape.alpha for shape in held if shape.colour != "hovered")
        assert strong == max(s.alpha for s in lit if s.colour == "hovered")
        assert others == 0.25


def test_a_ring_seen_face_on_is_whole_and_a_held_one_always() -> None:
    front = simple(Tool.ROTATE, 0.0, 0.0)
    assert [stroke.alpha for stroke in strokes(front.gizmo.shapes(front.projection), "z")] == [1.0, 1.0]
    slanted = simple(Tool.ROTATE, 40.0, 15.0)
    assert len(strokes(slanted.gizmo.shapes(slanted.projection), "z")) == 1
    assert len(strokes(slanted.gizmo.shapes(slanted.projection, held=Part.Z), "hovered")) == 2


def test_what_points_at_the_eye_is_drawn_last() -> None:
    case = simple(Tool.MOVE, 45.0, 0.0)
    order = [s.colour for s in case.gizmo.shapes(case.projection) if isinstance(s, Fill) and len(s.points) > 4]
    assert order[0] == "y"
    away = simple(Tool.MOVE, 225.0, 0.0)
    order = [s.colour for s in away.gizmo.shapes(away.projection) if isinstance(s, Fill) and len(s.points) > 4]
    assert order[-1] == "y"
