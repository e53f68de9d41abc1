"""The dialog for opening, by keys: what Enter opens, and the paths that can be typed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from imgui_bundle import imgui
from panel_window import PanelWindow

import viewer

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Holds one.bvh, two.bvh and deep/three.bvh; it is the current one, and the home folder."""
    character = viewer.load("sample:claw-arm")
    (tmp_path / "deep").mkdir()
    for name in ("one", "two", "deep/three"):
        viewer.save(character, tmp_path / f"{name}.bvh", pose=character.skeleton.rest_pose())
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    return tmp_path


@pytest.fixture
def window(folder: Path) -> Iterator[PanelWindow]:  # noqa: ARG001 - the folder comes first
    made = PanelWindow(viewer.load("sample:biped"))
    made.controller.run("file.open")
    made.frames(6)
    assert made.popup
    yield made
    made.close()


@pytest.mark.parametrize(
    ("sample", "title"),
    [("biped", "Retarget: open a motion"), ("walk", "Retarget: open a rig for this motion, or another motion")],
)
def test_the_dialog_of_retargeting_says_what_it_opens(folder: Path, sample: str, title: str) -> None:  # noqa: ARG001
    window = PanelWindow(viewer.load(f"sample:{sample}"))
    window.controller.run("retarget.open")
    window.frames(6)
    assert state_of(window).asked.title == title
    window.close()


def state_of(window: PanelWindow) -> Any:  # noqa: ANN401 - the panel's own
    return window.ui._memories["files"]["state"]


def opened(window: PanelWindow) -> str:
    """The name of the file that is shown; empty while the dialog is open."""
    window.frames(4)
    return "" if window.popup else window.controller.files.name


def test_arrows_go_through_folders_and_files_and_enter_opens(window: PanelWindow, folder: Path) -> None:
    marked = []
    for key in (imgui.Key.down_arrow, imgui.Key.down_arrow, imgui.Key.down_arrow, imgui.Key.down_arrow):
        window.tap(key)
        marked.append(state_of(window).name)
    assert marked == ["deep", "one.bvh", "two.bvh", "two.bvh"]
    window.tap(imgui.Key.up_arrow)
    window.tap(imgui.Key.up_arrow)
    window.tap(imgui.Key.enter)
    assert opened(window) == ""
    assert state_of(window).folder == folder / "deep"
    window.tap(imgui.Key.down_arrow)
    window.tap(imgui.Key.enter)
    assert opened(window) == "three.bvh"


def test_enter_opens_the_file_that_was_clicked(window: PanelWindow) -> None:
    window.click("files", "one.bvh")
    window.tap(imgui.Key.down_arrow)
    assert state_of(window).name == "two.bvh"
    window.tap(imgui.Key.enter)
    assert opened(window) == "two.bvh"


@pytest.mark.parametrize("typed", ["{}/deep/three.bvh", "deep/three.bvh", "~/deep/three.bvh", '"{}/deep/three.bvh"'])
def test_a_path_that_is_typed_is_opened(typed: str, window: PanelWindow, folder: Path) -> None:
    window.write(typed.format(folder))
    assert opened(window) == "three.bvh"


def test_a_path_in_the_upper_field_is_opened(window: PanelWindow) -> None:
    child = next(w for w in imgui.get_current_context().windows if "folder" in w.name)
    window.move((child.pos.x + child.size.x - 20.0, child.pos.y + 12.0))
    window.rest()
    window.button(down=True)
    window.button(down=False)
    window.frames(3)
    window.write("/deep/three.bvh")
    assert opened(window) == "three.bvh"


def test_a_folder_that_is_typed_is_gone_to_and_backspace_comes_back(window: PanelWindow, folder: Path) -> None:
    window.write("deep")
    assert opened(window) == ""
    assert (state_of(window).folder, state_of(window).name) == (folder / "deep", "")
    window.frames(6)
    window.tap(imgui.Key.backspace)
    assert state_of(window).folder == folder
    window.write("one.bvh")
    assert opened(window) == "one.bvh"


def test_a_path_that_leads_nowhere_is_said_and_can_be_mended(window: PanelWindow, folder: Path) -> None:
    window.write("deep/four.bvh")
    assert opened(window) == ""
    assert state_of(window).problem == f"{folder / 'deep' / 'four.bvh'}: no such file"
    window.frames(6)
    io = imgui.get_io()
    io.add_key_event(imgui.Key.mod_ctrl, True)
    window.tap(imgui.Key.a)
    io.add_key_event(imgui.Key.mod_ctrl, False)
    window.write("deep/three.bvh")
    assert opened(window) == "three.bvh"
