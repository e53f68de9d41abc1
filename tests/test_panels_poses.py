"""The panel of the pose library: keep, apply, blend, flip, rename, delete."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from imgui_bundle import imgui
from inside.app import shelf_of
from inside.document import Select
from panel_window import PanelWindow
from sessions import character

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@pytest.fixture
def window(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[PanelWindow]:
    monkeypatch.setenv("IKVIEWER_HOME", str(tmp_path))
    monkeypatch.setattr("viewer.opengl.pose_library.draw_pose", lambda *_: np.zeros((128, 128, 3), np.uint8))
    made = PanelWindow(character("biped"))
    made.ui.layout.tabs["left-top"] = "poses"
    made.frames(3)
    yield made
    made.close()


def stocked(window: PanelWindow, tmp_path: Path) -> viewer.PoseLibrary:
    """A library with one pose, of the walk."""
    walk = character("walk")
    assert walk.clip is not None
    library = viewer.PoseLibrary(tmp_path / "poses")
    library.keep(walk.skeleton, walk.clip.pose(12), "Stride", ["walk"])
    shelf_of(window.ui).library(window.session.document).reread()
    window.frames(3)
    return library


def test_an_empty_library_says_so_and_keeps_the_first_pose(window: PanelWindow, tmp_path: Path) -> None:
    window.click("poses", "Keep this pose")
    assert window.popup
    window.frames(3)
    window.write("Idle")
    assert viewer.PoseLibrary(tmp_path / "poses").names == ("Idle",)
    window.frames(3)
    assert "Idle" in window.words("poses")


def test_a_double_click_applies_the_pose_as_one_step(window: PanelWindow, tmp_path: Path) -> None:
    stocked(window, tmp_path)
    window.double_click("poses", "pose")
    assert window.session.history.labels == ("Pose Stride",)
    assert "Applied to all joints" in window.words("poses")


def test_the_button_that_a_hovered_pose_shows_applies_it_flipped(window: PanelWindow, tmp_path: Path) -> None:
    stocked(window, tmp_path)
    box = window.box("poses", "pose")
    window.move((box.right - 16.0, box.top + 16.0))
    window.button(down=True)
    window.button(down=False)
    assert window.session.history.labels == ("Pose Stride flipped",)


def test_a_drag_sideways_blends_and_is_one_step(window: PanelWindow, tmp_path: Path) -> None:
    library = stocked(window, tmp_path)
    skeleton, start = window.session.document.skeleton, window.session.document.pose
    arm = skeleton.index("LeftArm")
    shares: list[str] = []
    window.drag("poses", "pose", 90.0, lambda: shares.extend(w for w in window.words("poses") if "%" in w))
    assert shares == ["50 %"]
    assert window.session.history.labels == ("Pose Stride",)
    angle = viewer.quaternions.angle_between
    whole = angle(start.rotations[arm], library.pose("Stride", skeleton).rotations[arm])
    assert angle(start.rotations[arm], window.session.document.pose.rotations[arm]) == pytest.approx(0.5 * whole)


def test_selected_joints_alone_are_posed(window: PanelWindow, tmp_path: Path) -> None:
    stocked(window, tmp_path)
    window.session.dispatch(Select((Item("joint", "LeftArm"),)))
    window.frames(2)
    assert "Applied to LeftArm" in window.words("poses")
    before = window.session.document.pose.rotations
    window.double_click("poses", "pose")
    changed = np.flatnonzero((window.session.document.pose.rotations != before).any(axis=1))
    assert [window.session.document.skeleton.names[joint] for joint in changed] == ["LeftArm"]


def test_the_menu_of_a_pose_opens_on_the_right_button(window: PanelWindow, tmp_path: Path) -> None:
    stocked(window, tmp_path)
    window.click("poses", "pose", which=1)
    assert window.popup


def test_a_deleted_pose_can_be_brought_back(window: PanelWindow, tmp_path: Path) -> None:
    library = stocked(window, tmp_path)
    before = (tmp_path / "poses" / "Stride.json").read_bytes()
    window.click("poses", "pose", which=1)
    window.frames(2)
    window.tap(imgui.Key.up_arrow)  # from the first entry to the last
    window.tap(imgui.Key.enter)
    window.frames(3)
    library.reread()
    assert library.names == ()
    [message] = window.controller.view.bar.messages
    assert message.text == "Deleted pose Stride"
    window.controller.view.bar.choose(message, 0)
    assert (tmp_path / "poses" / "Stride.json").read_bytes() == before
