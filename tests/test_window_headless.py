"""The whole window without a screen: its own input, its own loop, its own pixels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.app import AutosaveService, Panel, Place, open_window
from inside.session import load_preferences, load_session
from PIL import Image
from window_pilot import Pilot

from viewer.scene import PALETTE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inside.app import PanelContext

EMPTY = (300.0, 500.0)
"""A pixel of the view without figure."""


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot("sample:walk")
    yield pilot
    pilot.close()


def test_a_hand_that_is_dragged_takes_the_pose_along_and_undo_takes_it_back(pilot: Pilot) -> None:
    before = pilot.effector("LeftHand")
    feet = [pilot.effector(name)["position"] for name in ("LeftFoot", "RightFoot")]
    x, y = before["screen"]
    pilot.drag((x, y), (x + 30, y - 20))
    pilot.settle()
    after = pilot.effector("LeftHand")
    assert after["screen"] == pytest.approx([x + 30, y - 20], abs=1.0)
    assert [pilot.effector(name)["position"] for name in ("LeftFoot", "RightFoot")] == [
        pytest.approx(foot, abs=2e-3) for foot in feet
    ]
    assert pilot.state["undo_depth"] == 1
    pilot.key("ctrl+z")
    assert pilot.effector("LeftHand")["position"] == before["position"]


def test_escape_in_a_drag_brings_everything_back(pilot: Pilot) -> None:
    document = pilot.session.document
    x, y = pilot.effector("LeftHand")["screen"]
    pilot.move(x, y)
    pilot.button("left", down=True)
    pilot.move(x + 50, y - 50)
    pilot.move(x + 60, y - 60)
    assert pilot.state["dragging"]
    pilot.key("escape")
    pilot.button("left", down=False)
    assert pilot.session.document is document
    assert pilot.state["undo_depth"] == 0


def test_dragging_the_background_orbits_and_changes_no_document(pilot: Pilot) -> None:
    camera, document = pilot.state["camera"], pilot.session.document
    pilot.drag(EMPTY, (EMPTY[0] + 100, EMPTY[1]))
    assert pilot.state["camera"]["yaw"] != camera["yaw"]
    assert pilot.state["camera"]["pitch"] == camera["pitch"]
    assert pilot.session.document is document


def test_the_wheel_zooms_over_the_view_and_not_over_a_panel(pilot: Pilot) -> None:
    distance = pilot.state["camera"]["distance"]
    pilot.move(100, 200)
    pilot.inputs.scroll(0, 1)
    pilot.step(2)
    assert pilot.state["camera"]["distance"] == distance
    pilot.move(*EMPTY)
    pilot.inputs.scroll(0, 1)
    pilot.settle()
    assert pilot.state["camera"]["distance"] < distance


def test_l_toggles_the_limits(pilot: Pilot) -> None:
    assert pilot.state["limits"]
    pilot.key("l")
    assert not pilot.state["limits"]
    pilot.key("ctrl+z")
    assert pilot.state["limits"]


def test_alt_leaves_the_keyboard_with_the_view(pilot: Pilot) -> None:
    """After a click on a tab of the workspaces, which are in the menu bar, it used to select a menu."""
    pilot.click(547.0, 13.0)
    imgui.set_current_context(pilot.app.painter._imgui)
    for down in (True, False) * 4:
        pilot.inputs.key("alt", down=down)
        pilot.step(3)
        assert not imgui.get_current_context().nav_cursor_visible
    pilot.key("alt+1")
    assert pilot.app.controller.view.workspace == "pose"
    frame = pilot.app.controller.session.document.frame
    pilot.key("right")
    assert pilot.app.controller.session.document.frame == frame + 1


def test_typing_in_the_search_field_runs_no_commands(pilot: Pilot) -> None:
    pilot.key("ctrl+f")
    pilot.step(4)
    for letter in "hl":
        pilot.inputs.key(letter, down=True)
        pilot.inputs.text(letter)
        pilot.inputs.key(letter, down=False)
        pilot.step(2)
    assert pilot.state["limits"]
    assert Place.LEFT_TOP in pilot.app.painter.ui.regions.rects
    pilot.click(*EMPTY)
    pilot.step(3)
    pilot.key("l")
    assert not pilot.state["limits"], "a click into the view ends typing"


def test_a_border_can_be_dragged_and_the_view_follows(pilot: Pilot) -> None:
    pilot.drag((229, 300), (300, 300))
    assert pilot.state["viewport"] == [302, 66, 684, 514]
    assert pilot.app.painter.ui.layout.sizes == {"left": 300.0}
    assert pilot.session.history.index == 0


def test_panels_without_room_are_folded_with_a_word_and_opened(pilot: Pilot) -> None:
    view = pilot.app.controller.view
    pilot.key("tab")
    pilot.key("tab")
    assert not view.bar.messages
    view.preferences.ui_scale = 2.0
    pilot.step(3)
    assert [message.text for message in view.bar.messages] == ["Panels are folded to make room: T and N open them"]
    assert not view.panels.shows("left")
    for key, side, other in (("n", "right", "left"), ("t", "left", "right")):
        pilot.key(key)
        assert (view.panels.shows(side), view.panels.shows(other)) == (True, False)
    assert not view.bar.messages
    pilot.key("t")
    assert not view.panels.shows("left")


def test_a_closed_panel_is_closed_at_the_next_start(pilot: Pilot, tmp_path: Path) -> None:
    ui, file = pilot.app.painter.ui, tmp_path / "preferences.json"
    ui.close_panel("history")
    AutosaveService(pilot.app.controller, ui.layout, tmp_path, file).close()
    again = open_window(pilot.session, load_preferences(file))
    try:
        assert again.painter.ui.layout.closed == {"history"}
    finally:
        again.close()


def test_panels_are_put_away_and_come_back(pilot: Pilot) -> None:
    pilot.key("tab")
    assert pilot.state["viewport"] == [0, 26, 1280, 668]
    pilot.key("h")
    assert pilot.state["viewport"] == [230, 66, 756, 514]
    pilot.key("t")
    assert pilot.state["viewport"][0] == 0
    pilot.key("n")
    assert pilot.state["viewport"][2] == 1280


def test_a_file_is_dropped_and_shown_and_a_bad_one_leaves_the_document(pilot: Pilot, tmp_path: Path) -> None:
    document = pilot.session.document
    bad = tmp_path / "bad.bvh"
    bad.write_text("HIERARCHY\nROOT Hips\n{\n  OFFSET 0 0 zero\n", encoding="utf-8")
    pilot.inputs.drop((bad,))
    pilot.step(3)
    assert pilot.session.document is document
    assert pilot.state["message"].startswith("bad.bvh:4:14: ")
    assert pilot.state["message"].endswith('expected a number, found "zero"')
    pilot.inputs.drop((tmp_path / "nowhere.bvh",))
    pilot.step(3)
    assert pilot.session.document is document
    good = tmp_path / "arm.bvh"
    good.write_text(ARM, encoding="utf-8")
    pilot.inputs.drop((good,))
    pilot.settle()
    assert pilot.state["file"].endswith("arm.bvh")
    assert pilot.state["joints"] == 2
    assert pilot.app.device.title == "arm.bvh - ikviewer"  # type: ignore[attr-defined]


ARM = """HIERARCHY
ROOT Shoulder
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation
  JOINT Elbow
  {
    OFFSET 0 30 0
    CHANNELS 3 Zrotation Xrotation Yrotation
    End Site
    {
      OFFSET 0 30 0
    }
  }
}
MOTION
Frames: 1
Frame Time: 0.1
0 0 0 0 0 0 0 0 0
"""


def test_closing_a_window_that_is_saved_ends_it_and_unsaved_work_is_asked_about(pilot: Pilot) -> None:
    pilot.key("l")
    pilot.app.device.closing = True
    pilot.step(3)
    assert not pilot.app.finished
    assert not pilot.app.device.closing
    pilot.answer("Discard")
    pilot.step(2)
    assert pilot.app.finished


def test_ctrl_s_saves_where_the_session_was_saved_before(pilot: Pilot, tmp_path: Path) -> None:
    file = tmp_path / "work.ikv.json"
    x, y = pilot.effector("LeftHand")["screen"]
    pilot.drag((x, y), (x + 20, y - 20))
    pilot.app.controller.files.save_to(file)
    pilot.key("l")
    assert pilot.state["modified"]
    pilot.key("ctrl+s")
    assert not pilot.state["modified"]
    document = load_session(file)
    assert not document.limits_on
    assert document.same_as(pilot.session.document)


def test_at_rest_nothing_is_drawn_and_the_still_picture_is_smoother(pilot: Pilot) -> None:
    pilot.settle()
    frames, stills = pilot.app.pace.frames, pilot.app.painter.scene_buffer.drawn
    pilot.step(300, 0.25)
    assert (pilot.app.pace.frames, pilot.app.painter.scene_buffer.drawn) == (frames, stills)
    assert pilot.app.painter.scene_buffer.still


def test_a_drag_draws_the_view_each_frame_and_the_panels_less_often(pilot: Pilot) -> None:
    x, y = pilot.effector("LeftHand")["screen"]
    pilot.move(x, y)
    pilot.button("left", down=True)
    pilot.move(x + 9, y)
    scenes, painted = pilot.app.painter.scene_buffer.drawn, pilot.app.painter.layers.repainted
    for i in range(60):
        pilot.move(x + 10 + i, y)
    assert pilot.app.painter.scene_buffer.drawn - scenes == 60
    # Status line each frame; tree, goals, inspector, solver and the like at most 15 times a second.
    assert pilot.app.painter.layers.repainted - painted <= 60 + 15 * 8


def test_panels_and_scene_are_where_the_layout_says(pilot: Pilot) -> None:
    picture = pilot.picture().astype(float) / 255.0
    assert np.allclose(picture[700, 1270], PALETTE["app"], atol=0.02)
    assert np.allclose(picture[300, 984], picture[300, 240], atol=0.1), "both edges of the view show its gradient"
    assert np.allclose(picture[470, 990], PALETTE["panel"], atol=0.02)
    assert picture[66:580, 230:986].std() > 0.03


def test_the_picture_of_the_scene_has_the_view_alone(pilot: Pilot, tmp_path: Path) -> None:
    pilot.app.wanted_pictures.append(tmp_path / "scene.png")
    pilot.key("f6")
    pilot.settle()
    with Image.open(tmp_path / "scene.png") as image:
        assert image.size == (756, 514)


def broken(ui: PanelContext) -> None:
    imgui.begin_child("inside")
    imgui.push_id("deep")
    if ui.memory.setdefault("broken", True):
        raise RuntimeError("on purpose")
    imgui.pop_id()
    imgui.end_child()


def fine(_ui: PanelContext) -> None:
    imgui.text("fine")


def test_a_panel_that_raises_is_replaced_by_words_and_the_rest_lives(capsys: pytest.CaptureFixture[str]) -> None:
    panels = [
        Panel("solver", "Solver", Place.RIGHT_BOTTOM, broken),
        Panel("goals", "Goals", Place.LEFT_BOTTOM, fine),
    ]
    pilot = Pilot("sample:walk", panels)
    try:
        pilot.step(30)
        said = capsys.readouterr().err
        assert said.count("error: the Solver panel failed") == 1
        assert said.count("RuntimeError: on purpose") == 1
        host = pilot.app.painter.panels
        assert set(host.failures) == {"solver"}
        x, y = pilot.effector("LeftHand")["screen"]
        pilot.drag((x, y), (x + 20, y - 20))
        assert pilot.state["undo_depth"] == 1, "the document can still be worked on"
        pilot.app.painter.ui._memories["solver"]["broken"] = False
        body = pilot.app.painter.ui.regions.body(Place.RIGHT_TOP)
        for down in range(30, 100, 8):
            pilot.click(body.x + 95, body.y + down)
        assert not host.failures, "Reopen brings the panel back"
    finally:
        pilot.close()
