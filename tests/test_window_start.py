"""From the command line, and from Python, to a window."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import ran
from inside.app import ui_scale
from inside.document import SetLimits
from inside.session import save_session
from PIL import Image

import viewer
from viewer.document import new_document
from viewer.errors import InputError
from viewer.session import Session

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Nobody's own preferences."""
    monkeypatch.setenv("IKVIEWER_HOME", str(tmp_path / "home"))


def shown(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str) -> dict[str, Any]:
    """The state that a window shows which is opened with these arguments."""
    file = folder / "state.json"
    done = ran(capsys, *arguments, "--window", "headless", "--exit-after", "2", "--state-file", file)
    assert (done.code, done.out) == (0, "")
    state: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return state


def test_options_are_what_the_window_begins_with(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    state = shown(
        capsys, tmp_path, "sample:walk", "--frame", "12", "--solver", "ccd", "--no-limits", "--size", "1000x650"
    )
    assert state["frame"] == 12
    assert state["solver"]["method"] == "ccd"
    assert not state["limits"]
    assert state["window"] == [1000, 650]
    assert shown(capsys, tmp_path)["joints"] == len(viewer.load("sample:biped").skeleton)


def test_the_state_file_is_one_document_with_the_names_that_scripts_know(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    state = shown(capsys, tmp_path, "sample:biped", "--no-limits", "--solver", "dls")
    expected = {"frame", "window", "fps", "joints", "height", "effectors", "selection", "solver", "limits", "recording",
                "keys", "playing", "time", "undo_depth", "file", "message", "camera"}  # fmt: skip
    assert expected <= set(state)
    assert state["window"] == [1280, 720]
    assert state["solver"]["method"] == "dls"
    assert not state["limits"]


def test_what_was_guessed_of_a_file_on_the_command_line_is_said_in_the_window(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    character = viewer.load("sample:walk")
    viewer.save(character, tmp_path / "walk.bvh", units="cm")
    state = shown(capsys, tmp_path, str(tmp_path / "walk.bvh"))
    assert state["message"] == "Read as centimetres, height 1.71 m (from its leg length)"
    assert shown(capsys, tmp_path, "sample:biped")["message"] in {None, ""}


def test_a_goals_file_replaces_the_holds(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    goals = tmp_path / "goals.json"
    text = '{"version": 1, "type": "goals", "goals": [{"effector": "LeftHand", "position": [0.3, 1.2, 0.4]}]}'
    goals.write_text(text, encoding="utf-8")
    state = shown(capsys, tmp_path, "sample:biped", "--goals", str(goals))
    hand = next(entry for entry in state["effectors"] if entry["name"] == "LeftHand")
    assert hand["goal"]["position"] == [0.3, 1.2, 0.4]


def test_a_goals_file_brings_its_contact(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    goals = tmp_path / "goals.json"
    objects = [{"name": "ball", "sphere": {"center": [0.5, 1.0, 0.25], "radius": 0.125}}]
    contact = {"floor": 0.0, "objects": objects}
    goals.write_text(json.dumps({"version": 2, "goals": [], "contact": contact}), encoding="utf-8")
    state = shown(capsys, tmp_path, "sample:biped", "--goals", str(goals))
    assert state["contact"]
    assert [(prop["name"], prop["center"]) for prop in state["props"]] == [("ball", [0.5, 1.0, 0.25])]
    assert {one["other"] for one in state["contacts"]} == {"floor"}


def test_a_session_file_is_opened_as_it_was_saved(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    session = Session(new_document(viewer.load("sample:walk"), frame=7))
    session.dispatch(SetLimits(on=False))
    file = tmp_path / "work.ikv.json"
    save_session(session.document, file)
    state = shown(capsys, tmp_path, str(file))
    assert (state["frame"], state["limits"], state["modified"], state["session"]) == (7, False, False, str(file))


def test_a_state_file_that_cannot_be_written_ends_with_one_line(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "nowhere" / "state.json"
    done = ran(capsys, "view", "--window", "headless", "--state-file", file)
    assert done.code == 1
    assert done.err.startswith(f"error: {file}: ")
    assert done.err.count("\n") == 1


def test_a_screenshot_shows_the_window(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "window.png"
    assert ran(capsys, "view", "--window", "headless", "--screenshot", file, "--exit-after", "4") == (0, "", "")
    with Image.open(file) as image:
        assert image.size == (1280, 720)
        pixels = np.asarray(image.convert("RGB"))
    assert pixels[80:560, 240:880].std() > 10, "the figure"
    assert pixels[0:26, 0:400].std() > 10, "the menus"


def test_python_shows_a_character_and_returns_the_session() -> None:
    character = viewer.load("sample:walk")
    session = viewer.view(character, frame=3, window="headless")
    assert session.document.character is character
    assert session.document.frame == 3


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"size": (10, 10)}, "size: expected 960x600 to 16384x16384, found 10x10"),
        ({"window": "motif"}, 'no window "motif"; there is "glfw", "pyglet", "headless"'),
        ({"frame": 99}, "no frame 99: the clip has 0 to 67"),
    ],
)
def test_python_is_told_what_cannot_be_used(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        viewer.view(viewer.load("sample:walk"), **({"window": "headless"} | options))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("content", "width", "wanted", "scale"),
    [
        (1.0, 1280, None, 1.0), (1.5, 1920, None, 1.5), (1.0, 3840, None, 2.0), (2.0, 3840, None, 2.0),
        (0.5, 1280, None, 0.75), (2.0, 3840, 1.25, 1.25), (1.0, 1280, 2.0, 2.0), (1.0, 960, 2.0, 1.5),
    ],
)  # fmt: skip
def test_the_scale_is_the_monitors_or_the_persons_and_leaves_the_bars_room(
    content: float, width: int, wanted: float | None, scale: float
) -> None:
    assert ui_scale(content, width, wanted) == scale
