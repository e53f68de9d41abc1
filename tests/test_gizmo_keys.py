"""Snapping, fine steps and locked axes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest
from gizmos import AXES, LOCAL, MOVES, PIXELS, TURNS, Case, a_grab, cases, simple
from hypothesis import given, strategies as st
from inside.spatial import from_axis_angle, log, to_matrix

from viewer.gizmo import GizmoDrag, Part, Tool

if TYPE_CHECKING:
    from inside.spatial import Floats

PARTS = [(Tool.MOVE, part) for part in MOVES] + [(Tool.ROTATE, part) for part in TURNS]
small = st.floats(-150.0, 150.0)


def amounts(case: Case, drag: GizmoDrag) -> Floats:
    """Metres along the drag's directions, or degrees."""
    if drag.turning:
        return np.degrees(log(drag.motion.rotation))
    if drag.part is Part.SCREEN:
        return np.array([drag.motion.translation @ v for v in (case.projection.right, case.projection.up)])
    return np.asarray(drag.motion.translation @ case.gizmo.axes)


@pytest.mark.parametrize(("tool", "part"), PARTS)
@given(dx=small, dy=small)
def test_snapping_lands_on_whole_steps_from_the_start_the_nearest_ones(
    tool: Tool, part: Part, dx: float, dy: float
) -> None:
    case = simple(tool, 40.0, 30.0)
    drag, step = case.drag(part, 61.0, 7.0), 5.0 if tool is Tool.ROTATE else 0.05
    case.moved(drag, 61.0 + dx, 7.0 + dy)
    free = amounts(case, drag)
    case.moved(drag, 61.0 + dx, 7.0 + dy, snap=True)
    snapped = amounts(case, drag)
    if not drag.turning:
        np.testing.assert_allclose(snapped, np.round(snapped / step) * step, rtol=0, atol=1e-9)
        assert np.abs(snapped - free).max() <= 0.5 * step + 1e-9
    else:
        turned = np.linalg.norm(snapped)
        assert math.isclose(turned, round(turned / step) * step, abs_tol=1e-6)
        assert np.linalg.norm(snapped - free) <= 0.5 * step + 1e-6 or turned > 177.0
    case.moved(drag, 61.0 + dx, 7.0 + dy)
    np.testing.assert_array_equal(amounts(case, drag), free)


def test_the_steps_of_snapping_can_be_set() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    x, y = case.pixel
    drag = GizmoDrag(case.gizmo, case.projection, Part.X, x, y, snap_m=0.3)
    assert drag.move(x + 70.0, y, snap=True).readout == "ΔX 0.300 m"
    turn = GizmoDrag(simple(Tool.ROTATE).gizmo, case.projection, Part.VIEW_RING, x + 50.0, y, snap_deg=30.0)
    assert turn.move(x, y - 60.0, snap=True).readout == "Δ 90.0°"
    assert turn.move(x + 20.0, y - 60.0, snap=True).readout == "Δ 60.0°"
    for none in (0.0, -1.0, math.nan):
        drag = GizmoDrag(case.gizmo, case.projection, Part.X, x, y, snap_m=none)
        np.testing.assert_array_equal(drag.move(x + 70.0, y, snap=True).translation, drag.move(x + 70.0, y).translation)


@pytest.mark.parametrize(("tool", "part"), PARTS)
@given(dx=small, dy=small)
def test_fine_is_a_tenth(tool: Tool, part: Part, dx: float, dy: float) -> None:
    case = simple(tool, 40.0, 30.0)
    whole, tenth = case.drag(part, 61.0, 7.0), case.drag(part, 61.0, 7.0)
    case.moved(whole, 61.0 + dx, 7.0 + dy)
    case.moved(tenth, 61.0 + dx, 7.0 + dy, fine=True)
    np.testing.assert_allclose(amounts(case, tenth), 0.1 * amounts(case, whole), rtol=1e-9, atol=1e-9)


@given(cases(Tool.MOVE), st.sampled_from(MOVES), PIXELS, PIXELS, PIXELS, PIXELS)
def test_going_fine_on_the_way_does_not_leap(case: Case, part: Part, x: float, y: float, dx: float, dy: float) -> None:
    drag = case.drag(part)
    before = case.moved(drag, x, y).translation
    np.testing.assert_array_equal(case.moved(drag, x, y, fine=True).translation, before)
    after = case.moved(drag, dx, dy, fine=True).translation
    np.testing.assert_array_equal(case.moved(drag, dx, dy).translation, after)
    other = case.drag(part)
    case.moved(other, x, y)
    whole = case.moved(other, dx, dy).translation - before
    np.testing.assert_allclose(after - before, 0.1 * whole, rtol=1e-6, atol=1e-9 * (np.abs([*before, *whole]).max()))
    back = case.moved(drag, x, y).translation
    np.testing.assert_allclose(back, after - whole, rtol=1e-6, atol=1e-9 * (np.abs([*before, *whole]).max()))


@pytest.mark.parametrize("axis", ["x", "y", "z"])
@pytest.mark.parametrize("other", [None, to_matrix(from_axis_angle([1.0, 0.0, 0.0], 0.7))])
def test_an_axis_key_locks_then_takes_the_other_axes_then_lets_go(axis: str, other: Floats | None) -> None:
    drag, index = a_grab(other=other), "xyz".index(axis)
    free = drag.motion.translation
    expected = [LOCAL, np.eye(3) if other is None else other]
    for axes in expected:
        drag.lock(axis)  # type: ignore[arg-type]
        assert drag.locked
        assert drag.part is AXES[index]
        shift = drag.motion.translation
        assert np.linalg.norm(np.cross(shift, axes[:, index])) < 1e-12
        assert np.linalg.norm(shift) > 0.01
        assert drag.readout.startswith(f"Δ{axis.upper()} ")
    drag.lock(axis)  # type: ignore[arg-type]
    assert not drag.locked
    assert drag.part is Part.SCREEN
    np.testing.assert_array_equal(drag.motion.translation, free)


def test_with_no_other_axes_the_second_press_lets_go() -> None:
    case = simple(Tool.MOVE)
    drag = case.drag(Part.Y)
    parts = [drag.part]
    for _ in range(2):
        drag.lock("x")
        parts.append(drag.part)
    assert parts == [Part.Y, Part.X, Part.Y]


def test_another_axis_key_changes_the_lock_and_shift_locks_the_plane() -> None:
    drag = a_grab()
    drag.lock("x")
    drag.lock("z")
    parts = [drag.part]
    assert abs(drag.lock("z", plane=True).translation @ LOCAL[:, 2]) < 1e-12
    parts.append(drag.part)
    assert abs(drag.lock("z", plane=True).translation[2]) < 1e-12
    drag.lock("y")
    assert [*parts, drag.part] == [Part.Z, Part.XY, Part.Y]


def test_a_lock_counts_the_whole_way_and_keeps_its_fine_part() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    drag = case.drag(Part.SCREEN)
    case.moved(drag, 100.0, -40.0)
    case.moved(drag, 200.0, -80.0, fine=True)
    np.testing.assert_allclose(drag.lock("x").translation, [110.0 * case.metre, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(drag.lock("y").translation, [0.0, 44.0 * case.metre, 0.0], atol=1e-12)


@pytest.mark.parametrize("plane", [False, True])
def test_turning_is_locked_to_an_axis(plane: bool) -> None:
    drag = a_grab(part=Part.VIEW_RING)
    for axes in (LOCAL, np.eye(3)):
        drag.lock("z", plane=plane)
        assert drag.readout.startswith("ΔZ ")
        assert drag.motion.turns
        assert np.linalg.norm(np.cross(drag.motion.rotation[:3], axes[:, 2])) < 1e-12
    drag.lock("z", plane=plane)
    assert drag.part is Part.VIEW_RING


def test_keys_held_from_the_press_on_count_from_there() -> None:
    case = simple(Tool.MOVE, 0.0, 0.0)
    drag = case.drag(Part.X)
    motion = case.moved(drag, 100.0, 0.0, fine=True)
    np.testing.assert_allclose(motion.translation, [10.0 * case.metre, 0, 0], rtol=1e-12)
    motion = case.moved(drag, 1000.0, 0.0, fine=True, snap=True)
    assert motion.readout == "ΔX 0.350 m"
