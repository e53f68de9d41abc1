"""The timeline panel: keys by the mouse, buttons, menus, plots."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.app import NO_KEYS, Place, curves_of
from inside.document import Blend, KeyPose, SetCoordinate, SetRange
from inside.ui import key_frames, played_range
from panel_window import PanelWindow

import viewer
from viewer.document import Item, new_document

if TYPE_CHECKING:
    from collections.abc import Iterator

INSET, STRIP, ROW = 14.0, 22.0, 10.0
"""Of the ruler: to the first frame, height of the numbers, into the row of keys."""


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"))
    yield made
    made.close()


def keyed(window: PanelWindow, *frames: int) -> None:
    for frame in frames:
        window.session.dispatch(KeyPose(frame))
    window.frames(3)


def frames(window: PanelWindow) -> tuple[int, ...]:
    return key_frames(window.session.document)


def place(window: PanelWindow, frame: float, *, strip: bool = False) -> tuple[float, float]:
    """Where a frame is: in the row of all keys, or in the strip of numbers."""
    box = window.box("timeline", "ruler")
    view = window.controller.keying.time_view
    wide = box.right - box.left - 2.0 * INSET
    x = box.left + INSET + (frame - view.start) / view.span * wide
    return x, box.top + (8.0 if strip else STRIP + ROW)


def drag(window: PanelWindow, start: tuple[float, float], end: tuple[float, float], which: int = 0) -> None:
    window.move(start)
    window.rest()
    window.button(down=True, which=which)
    for part in (0.3, 0.7, 1.0):
        window.move((start[0] + part * (end[0] - start[0]), start[1] + part * (end[1] - start[1])))
    window.button(down=False, which=which)
    window.frames(3)


def press(window: PanelWindow, at: tuple[float, float], which: int = 0) -> None:
    drag(window, at, at, which)


def chosen(window: PanelWindow) -> set[int]:
    return {key.frame for key in window.controller.keying.selected}


def taller(window: PanelWindow) -> None:
    window.ui.layout.sizes["timeline"] = 300.0
    window.ui.regions = window.ui.layout.regions(window.size, window.ui.scale)
    window.frames(3)


def test_without_keys_the_panel_says_how_to_make_some(window: PanelWindow) -> None:
    assert NO_KEYS in window.words("timeline")
    window.click("timeline", "Set key")
    assert frames(window) == (0,)
    assert NO_KEYS not in window.words("timeline")


ENDS = [(0, 119), (10, 119), (0, 30), (25, 90), (110, 119)]


@pytest.mark.parametrize(
    ("size", "ends", "frames"),
    [
        ((960, 600), ENDS, (0, 20, 60, 119)),  # the least room
        ((1280, 720), ENDS[2:], (60,)),
        ((2400, 900), ENDS[2:], (60,)),
    ],
)
def test_what_is_said_without_keys_runs_through_neither_bracket_nor_playhead(
    size: tuple[int, int], ends: list[tuple[int, int]], frames: tuple[int, ...]
) -> None:
    window = PanelWindow(viewer.load("sample:walk"), size)
    clip = window.session.document.character.clip
    assert clip is not None
    longer = replace(clip.frames(0, 0), rotations=np.repeat(clip.rotations[:1], 120, axis=0),
                     translations=np.repeat(clip.translations[:1], 120, axis=0))  # fmt: skip
    window.session.replace(new_document(replace(window.session.document.character, clips={"walk": longer})))
    for (start, end), frame in itertools.product(ends, frames):
        window.session.dispatch(SetRange(start, end))
        window.session.seek(frame)
        window.frames(4)
        first, last = place(window, start)[0] - 9.0, place(window, end)[0] + 9.0
        (said,) = [line for line in window.lines if line.panel == "timeline" and line.top > place(window, 0)[1] - 12.0]
        assert said.name[:4] == NO_KEYS[:4]
        for x in (first, last, place(window, frame)[0]):
            assert not said.left - 3.0 < x < said.right + 3.0, (start, end, frame)
        well = window.box("timeline", "ruler")
        assert well.left < said.left < said.right < well.right
    window.close()


def test_the_strip_scrubs_also_where_nothing_is_keyed_yet(window: PanelWindow) -> None:
    drag(window, place(window, 10, strip=True), place(window, 60, strip=True))
    assert window.session.document.frame == 60
    assert frames(window) == ()


def test_a_click_selects_the_keys_of_a_frame_shift_adds_and_emptiness_selects_none(window: PanelWindow) -> None:
    keyed(window, 0, 40, 80)
    press(window, place(window, 40))
    assert chosen(window) == {40}
    window.key(imgui.Key.mod_shift, down=True)
    press(window, place(window, 80))
    window.key(imgui.Key.mod_shift, down=False)
    assert chosen(window) == {40, 80}
    press(window, place(window, 60))
    assert chosen(window) == set()


def test_a_drag_moves_the_selected_keys_in_one_step(window: PanelWindow) -> None:
    keyed(window, 0, 40, 80)
    depth = window.session.history.index
    drag(window, place(window, 40), place(window, 55))
    assert frames(window) == (0, 55, 80)
    assert chosen(window) == {55}
    assert window.session.history.index == depth + 1


def test_a_drag_with_ctrl_copies(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    window.key(imgui.Key.mod_ctrl, down=True)
    drag(window, place(window, 40), place(window, 70))
    window.key(imgui.Key.mod_ctrl, down=False)
    assert frames(window) == (0, 40, 70)


def test_escape_takes_a_drag_of_keys_back(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    window.move(place(window, 40))
    window.rest()
    window.button(down=True)
    window.move(place(window, 70))
    window.tap(imgui.Key.escape)
    window.button(down=False)
    window.frames(2)
    assert frames(window) == (0, 40)


def test_a_box_selects_what_is_in_it_and_delete_removes_that(window: PanelWindow) -> None:
    keyed(window, 0, 40, 80)
    start, end = place(window, 30), place(window, 100)
    drag(window, start, (end[0], end[1] + 3.0))
    assert chosen(window) == {40, 80}
    window.controller.run("goal.remove")
    assert frames(window) == (0,)


def test_single_joints_have_rows_where_there_is_room(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    taller(window)
    x, _ = place(window, 40)
    box = window.box("timeline", "ruler")
    lines = {line.name: line for line in window.lines if line.panel == "timeline"}
    assert {"All", "RightHand", "Head"} <= set(lines)
    assert lines["RightHand"].right < box.left
    press(window, (x, lines["RightHand"].middle[1]))
    names = window.session.document.skeleton.names
    assert {(names[key.joint], key.frame) for key in window.controller.keying.selected} == {("RightHand", 40)}


def test_the_wheel_zooms_at_the_pointer_and_the_middle_button_pans(window: PanelWindow) -> None:
    at = place(window, 60)
    window.move(at)
    imgui.get_io().add_mouse_wheel_event(0.0, 3.0)
    window.frames(3)
    view = window.controller.keying.time_view
    assert view.span < 119.0
    assert place(window, 60)[0] == pytest.approx(at[0], abs=1.0)
    start = view.start
    drag(window, at, (at[0] - 100.0, at[1]), which=2)
    assert view.start > start


def test_with_ctrl_the_wheel_scrolls_the_rows_and_does_not_zoom(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    taller(window)
    window.move(place(window, 60))
    span, before = window.controller.keying.time_view.span, window.words("timeline")
    imgui.get_io().add_key_event(imgui.Key.mod_ctrl, True)
    imgui.get_io().add_mouse_wheel_event(0.0, -2.0)
    window.frames(3)
    imgui.get_io().add_key_event(imgui.Key.mod_ctrl, False)
    assert window.controller.keying.time_view.span == span
    assert window.words("timeline") != before


def test_the_brackets_of_the_range_are_dragged(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    x, y = place(window, 119)
    drag(window, (x + 9.0, y), (place(window, 90)[0] + 9.0, y))
    assert played_range(window.session.document) == (0, 90)
    x, y = place(window, 0)
    drag(window, (x - 9.0, y), (place(window, 20)[0] - 9.0, y))
    assert played_range(window.session.document) == (20, 90)


def test_interpolation_is_chosen_for_the_selected_keys(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    assert "blend" not in [box.name for box in window.boxes]
    press(window, place(window, 0))
    window.click("timeline", "blend")
    assert window.popup
    window.tap(imgui.Key.escape)
    window.frames(3)
    window.controller.keying.set_blend(Blend.STEP)
    window.frames(3)
    assert "Step" in window.words("timeline")


def test_the_right_button_opens_the_menu_of_keys(window: PanelWindow) -> None:
    keyed(window, 0, 40)
    press(window, place(window, 40), which=1)
    assert window.popup
    assert chosen(window) == {40}
    assert frames(window) == (0, 40)


def test_auto_key_and_record_are_buttons(window: PanelWindow) -> None:
    window.click("timeline", "Auto-key")
    assert window.session.document.auto_key
    window.click("toolbar", "record")
    assert window.session.recorder.recording
    window.frames(2)
    assert "0:00" in window.words("toolbar")
    window.click("toolbar", "record")
    assert window.session.recorder.recording is None


def test_rate_range_and_ghosts_are_set_in_the_timelines_menu(window: PanelWindow) -> None:
    window.click("timeline", "timeline settings")
    window.double_click("timeline", "rate")
    window.write("60")
    assert window.session.document.frame_time == pytest.approx(1.0 / 60.0)
    window.double_click("timeline", "last frame")
    window.write("200")
    assert played_range(window.session.document) == (0, 200)
    window.click("timeline", "show.ghosts")
    assert window.controller.view.display.ghosts
    window.double_click("timeline", "tolerance")
    window.write("1.5")
    assert window.session.recorder.tolerance_deg == 1.5
    assert window.controller.view.preferences.record_tolerance_deg == 1.5


def test_the_angles_of_the_selection_are_plotted_with_their_values_now(window: PanelWindow) -> None:
    window.ui.layout.tabs["bottom"] = "curves"
    window.frames(3)
    keyed(window, 0)
    window.session.dispatch(SetCoordinate("LeftForeArm", 0, 0.5))
    keyed(window, 40)
    window.controller.playback.go(40)
    window.controller.selecting.select(Item("joint", "LeftForeArm"))
    window.frames(3)
    words = window.words("curves")
    assert "LeftForeArm" in words
    assert any(word.endswith("28.6°") for word in words), words


def test_curves_have_the_inspectors_names_and_go_through_the_keys(window: PanelWindow) -> None:
    keyed(window, 0)
    window.session.dispatch(SetCoordinate("LeftForeArm", 0, 0.5))
    keyed(window, 40)
    document = window.session.document
    found = curves_of(document, document.skeleton.index("LeftForeArm"), 0, 119)
    assert found.unit == "°"
    assert [len(curve.values) for curve in found.curves] == [120]
    assert np.isin([0, 40], found.frames).all()
    values = dict(zip(found.frames.tolist(), found.curves[0].values.tolist(), strict=True))
    assert values[40] == pytest.approx(np.degrees(0.5))
    assert values[0] < values[20] < values[40]


def test_keys_at_every_frame_are_one_band(window: PanelWindow) -> None:
    keyed(window, 0)
    few = imgui.get_draw_data().total_vtx_count
    keyed(window, *range(1, 300))
    assert imgui.get_draw_data().total_vtx_count - few < 1000


def test_the_plot_of_angles_is_tall_and_its_height_can_be_dragged(window: PanelWindow) -> None:
    layout, scale = window.ui.layout, window.ui.scale
    before = layout.regions(window.size, scale).rects[Place.BOTTOM].h
    layout.tabs[Place.BOTTOM] = "curves"
    regions = layout.regions(window.size, scale)
    assert regions.rects[Place.BOTTOM].h > before
    assert regions.body(Place.BOTTOM).h >= 140 + 22 + 40  # the plot, the row of names, what is round it
    layout.drag("curves", (300.0, window.size[1] - 326.0), regions)
    assert layout.regions(window.size, scale).rects[Place.BOTTOM].h == 300
    assert layout.sizes == {"curves": 300.0}
    layout.tabs[Place.BOTTOM] = "timeline"
    assert layout.regions(window.size, scale).rects[Place.BOTTOM].h == before


def test_of_an_effector_the_joint_of_its_chain_that_moves_most_is_plotted(window: PanelWindow) -> None:
    window.ui.layout.tabs["bottom"] = "curves"
    keyed(window, 0)
    window.session.dispatch(SetCoordinate("LeftForeArm", 0, 0.5))
    keyed(window, 40)
    window.controller.selecting.select(Item("effector", "LeftHand"))
    window.frames(3)
    chain = ["LeftHand", "LeftForeArm", "LeftArm", "LeftShoulder"]
    words = window.words("curves")
    assert [word for word in words if word in chain][:4] == chain
    assert words.count("LeftForeArm") == 2  # in the row, and beside its values
    window.click("curves", "joints 2")
    assert window.words("curves").count("LeftArm") == 2


@pytest.mark.parametrize(
    ("size", "scale"), [((1280, 720), 1.0), ((1280, 720), 2.0), ((1280, 720), 3.0), ((960, 600), 2.0)]
)
@pytest.mark.parametrize("opened", ["", "left", "right"])
def test_the_transport_row_has_room_at_every_scale(size: tuple[int, int], scale: float, opened: str) -> None:
    window = PanelWindow(viewer.load("sample:walk"), size, scale)
    window.ui.layout.panels.opened = opened
    window.ui.regions = window.ui.layout.regions(size, scale)
    window.frames(3)
    row = window.box("timeline", "play.forwards")
    boxes = sorted(box[2:] for box in window.boxes if box.panel == "timeline" and box.top < row.middle[1] < box.bottom)
    assert len(boxes) >= 4
    assert all(one[2] <= other[0] for one, other in itertools.pairwise(boxes))
    rect = window.ui.regions.rects[Place.BOTTOM]
    assert boxes[-1][2] <= rect.x + rect.w
    window.close()
