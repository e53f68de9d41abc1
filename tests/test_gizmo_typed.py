"""Typed numbers, and what is said of a drag."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gizmos import LOCAL, a_grab, simple
from inside.spatial import from_axis_angle

from viewer.gizmo import Part, Tool


def test_a_typed_number_wins_over_the_pointer_until_it_is_erased() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    drag = case.drag(Part.X)
    free = case.moved(drag, 100.0, 0.0).translation
    drag.type("1")
    np.testing.assert_array_equal(drag.motion.translation, [1.0, 0.0, 0.0])
    np.testing.assert_array_equal(case.moved(drag, 50.0, 9.0, snap=True).translation, [1.0, 0.0, 0.0])
    assert drag.typed == "1"
    drag.type(".2")
    assert drag.motion.translation[0] == 1.2
    drag.type("-")
    assert drag.motion.translation[0] == -1.2
    assert (drag.typed, drag.readout) == ("-1.2", "ΔX \N{MINUS SIGN}1.2 m")
    drag.type("-")
    for expected in ("1.", "1"):
        drag.backspace()
        assert drag.typed == expected
        assert drag.motion.translation[0] == 1.0
    drag.backspace()
    assert drag.typed == ""
    np.testing.assert_array_equal(case.moved(drag, 100.0, 0.0).translation, free)
    drag.backspace()
    np.testing.assert_array_equal(drag.motion.translation, free)


@pytest.mark.parametrize(
    ("text", "typed", "value"),
    [
        ("12.5", "12.5", 12.5),
        ("-.5", "-.5", -0.5),
        ("5-", "-5", -5.0),
        ("\N{MINUS SIGN}3", "-3", -3.0),
        ("1,5", "1.5", 1.5),
        ("1.2.3", "1.23", 1.23),
        ("-", "-", 0.0),
        (".", ".", 0.0),
        ("1e5x+ m²", "15", 15.0),
        ("99999999999999999", "999999999999", 999999999999.0),
    ],
)
def test_what_can_be_typed(text: str, typed: str, value: float) -> None:
    drag = simple(Tool.MOVE).drag(Part.Z)
    drag.type(text)
    assert drag.typed == typed
    assert drag.motion.translation[2] == value


def test_each_direction_has_a_number_of_its_own() -> None:
    drag = a_grab()
    assert not drag.typing
    drag.type("1")
    drag.next_field()
    assert (drag.typed, drag.typing) == ("", True)
    drag.type("2")
    drag.next_field()
    drag.type("-3")
    np.testing.assert_allclose(drag.motion.translation, LOCAL @ [1.0, 2.0, -3.0], atol=1e-15)
    assert drag.readout == "ΔX 1  ΔY 2  ΔZ \N{MINUS SIGN}3 m"
    drag.next_field()
    assert drag.typed == "1"
    drag.type("0")
    assert drag.readout == "ΔX 10  ΔY 2  ΔZ \N{MINUS SIGN}3 m"
    plane = simple(Tool.MOVE).drag(Part.ZX)
    plane.type(".5")
    plane.next_field()
    plane.type("2")
    np.testing.assert_array_equal(plane.motion.translation, [0.5, 0.0, 2.0])
    assert plane.readout == "ΔX .5  ΔZ 2 m"
    for _ in range(3):
        plane.backspace()
    assert plane.typed == "."
    assert plane.readout == "ΔX .  ΔZ 0 m"


def test_tab_after_an_axis_key_goes_to_the_number_of_the_next_axis() -> None:
    drag = a_grab()
    drag.lock("x")
    drag.type("-0.15")
    drag.next_field()
    assert drag.typed == ""
    np.testing.assert_allclose(drag.motion.translation, -0.15 * LOCAL[:, 0], atol=1e-15)
    drag.type("0.05")
    np.testing.assert_allclose(drag.motion.translation, LOCAL @ [-0.15, 0.05, 0.0], atol=1e-15)
    assert drag.readout == "ΔX \N{MINUS SIGN}0.15  ΔY 0.05  ΔZ 0 m"
    drag.next_field()
    drag.next_field()
    assert drag.typed == "-0.15"
    drag.lock("y")
    np.testing.assert_allclose(drag.motion.translation, -0.15 * LOCAL[:, 1], atol=1e-15)
    assert drag.readout == "ΔY \N{MINUS SIGN}0.15 m"


@pytest.mark.parametrize(("part", "order"), [(Part.X, "XYZ"), (Part.Y, "YZX"), (Part.Z, "ZXY")])
def test_tab_goes_round_all_three_axes_from_the_arrow_that_is_held(part: Part, order: str) -> None:
    drag = simple(Tool.MOVE).drag(part)
    expected = np.zeros(3)
    for value, letter in enumerate(order, 1):
        drag.type(str(value))
        expected["XYZ".index(letter)] = value
        np.testing.assert_array_equal(drag.motion.translation, expected)
        drag.next_field()
    assert drag.typed == "1"


def test_tab_with_nothing_typed_leaves_the_pointer_its_say() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    drag = case.drag(Part.X)
    free = case.moved(drag, 100.0, 30.0)
    drag.next_field()
    np.testing.assert_array_equal(drag.motion.translation, free.translation)
    assert drag.readout == free.readout
    drag.type("2")
    np.testing.assert_array_equal(drag.motion.translation, [0.0, 2.0, 0.0])
    drag.backspace()
    np.testing.assert_array_equal(drag.motion.translation, free.translation)


def test_a_number_typed_before_the_axis_key_is_kept() -> None:
    drag = a_grab()
    drag.type("2")
    drag.lock("y")
    np.testing.assert_allclose(drag.motion.translation, 2.0 * LOCAL[:, 1])
    drag.lock("y")
    np.testing.assert_array_equal(drag.motion.translation, [0.0, 2.0, 0.0])
    last = a_grab()
    last.next_field()
    last.next_field()
    last.type("7")
    last.lock("x")
    np.testing.assert_allclose(last.motion.translation, 7.0 * LOCAL[:, 0])


def test_angles_are_typed_in_degrees() -> None:
    case = simple(Tool.ROTATE)
    drag = case.drag(Part.Y, 50.0, 20.0)
    drag.type("-90")
    np.testing.assert_allclose(drag.motion.rotation, from_axis_angle([0.0, 1.0, 0.0], -0.5 * math.pi), atol=1e-15)
    assert drag.readout == "ΔY \N{MINUS SIGN}90°"
    drag.next_field()
    assert drag.typed == "-90"
    ring = case.drag(Part.VIEW_RING, 50.0, 20.0)
    ring.type("720")
    assert not ring.motion.turns


@pytest.mark.parametrize(
    ("part", "dx", "dy", "said"),
    [
        (Part.X, 100.0, 0.0, "ΔX 0.368 m"),
        (Part.X, -100.0, 0.0, "ΔX \N{MINUS SIGN}0.368 m"),
        (Part.X, -0.01, 0.0, "ΔX 0.000 m"),
        (Part.XY, 100.0, 10.0, "ΔX 0.368  ΔY \N{MINUS SIGN}0.037 m"),
        (Part.SCREEN, -100.0, 10.0, "Right \N{MINUS SIGN}0.368  Up \N{MINUS SIGN}0.037 m"),
        (Part.VIEW_RING, 30.0, -30.0, "Δ 45.0°"),
    ],
)
def test_the_readout(part: Part, dx: float, dy: float, said: str) -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    start = 60.0 if part is Part.VIEW_RING else 0.0
    drag = case.drag(part, start, 0.0)
    assert case.moved(drag, dx, dy).readout == said
    assert drag.readout == said


@pytest.mark.parametrize(("distance", "decimals"), [(300.0, 3), (3.0, 3), (0.3, 4), (3e-3, 6), (3e-9, 9)])
def test_the_readout_tells_one_pixel_from_the_next(distance: float, decimals: int) -> None:
    case = simple(Tool.MOVE, 0.0, 0.0, distance)
    said = case.moved(case.drag(Part.X), 1.0, 0.0).readout
    assert len(said.split()[1].partition(".")[2]) == decimals
