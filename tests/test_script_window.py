"""Recorded actions in the window: switched on in a menu, shown, saved, and played again by a command."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cli_run import Ran, ran
from conftest import ROOT
from inside.session import Preferences, digest_of, load_session, open_script, replay, save_session
from restless import Restless
from sessions import session
from window_pilot import Pilot

from viewer.ui import BY_ID, Controller

TOGGLE = "file.record_actions"


@pytest.fixture(scope="module")
def reported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = session("walk")
    made.record_actions()
    hands = Restless(made, 5)
    for _ in range(8):
        hands.act()
    path = tmp_path_factory.mktemp("script") / "reported.ikv.json"
    save_session(made.document, path, made.action_log)
    return path


@pytest.fixture
def script(reported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copy(reported, tmp_path))


def shown(capsys: pytest.CaptureFixture[str], script: Path, state: Path, *more: object) -> Ran:
    """The command, in this process."""
    words = ("view", "--script", script, "--window", "headless", "--size", "960x600", "--state-file", state)
    return ran(capsys, *words, *map(str, more))


def test_the_command_does_it_again_to_the_same_bits(script: Path, tmp_path: Path) -> None:
    state = tmp_path / "1.json"
    words = ["view", "--script", str(script), "--window", "headless", "--size", "960x600", "--state-file", str(state)]
    command = [sys.executable, "-m", "viewer", *words]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(state.read_text(encoding="utf-8"))["digest"]
    assert found == digest_of(load_session(script)) == digest_of(replay(script))


def test_the_window_can_be_closed_on_the_way_and_pictured_and_it_says_so(
    capsys: pytest.CaptureFixture[str], script: Path, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.png"
    part = open_script(script)
    for _ in range(3):
        part.tick(0.0)
    assert not part.finished
    done, every = part.progress
    said = f"error: {script}: --exit-after 3 ended it at call {done} of {every}\n"
    state = tmp_path / "1.json"
    assert shown(capsys, script, state, "--exit-after", 3, "--screenshot", picture) == (1, "", said)
    assert json.loads(state.read_text(encoding="utf-8"))["digest"] == digest_of(part.session.document)
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_what_departs_is_said_and_the_window_goes_on(
    capsys: pytest.CaptureFixture[str], script: Path, tmp_path: Path
) -> None:
    tree = json.loads(script.read_text(encoding="utf-8"))
    checks = [call for call in tree["actions"]["calls"] if call[0] == "check"]
    checks[0][1] = "0" * 12
    script.write_text(json.dumps(tree), encoding="utf-8")
    state = tmp_path / "1.json"
    done = shown(capsys, script, state)
    assert done.code == 0
    assert done.err.startswith(f"warning: {script}: call ")
    assert done.err.endswith(": from here the pose is not as recorded\n")
    assert "from here the pose is not as recorded" in json.loads(state.read_text(encoding="utf-8"))["message"]


def test_a_call_that_cannot_be_made_is_an_error_of_the_command(
    capsys: pytest.CaptureFixture[str], script: Path, tmp_path: Path
) -> None:
    """The window shows it and goes on; scripts learn of it by the exit code."""
    tree = json.loads(script.read_text(encoding="utf-8"))
    calls = tree["actions"]["calls"]
    place = next(index for index, call in enumerate(calls) if call[0] == "dispatch")
    calls[place][1]["$"] = "Nothing"
    script.write_text(json.dumps(tree), encoding="utf-8")
    done = shown(capsys, script, tmp_path / "1.json")
    assert done.code == 1
    assert done.err.splitlines()[-1].startswith(f"error: {script}: actions.calls[{place}]: ")
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (["sample:walk"], "FILE"),
        (["--solver", "dls", "--no-limits"], "--solver, --no-limits"),
        (["--frame", "3"], "--frame"),
    ],
)
def test_nothing_else_can_be_begun_with(
    given: list[str], words: str, script: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    done = ran(capsys, "view", "--script", script, "--window", "headless", *given)
    assert done.code == 2
    assert done.err.endswith(f"error: argument --script: expected nothing else to begin with, found {words}\n")


def test_a_file_without_actions_is_refused_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "plain.ikv.json"
    save_session(session().document, path)
    done = ran(capsys, "view", "--script", path, "--window", "headless")
    assert done.code == 1
    assert done.err.startswith(f"error: {path}: actions: the session holds no actions")
    assert done.err.count("\n") == 1


# The switch


def test_it_is_off_at_first_and_a_toggle_of_the_file_menu() -> None:
    controller = Controller(session())
    assert BY_ID[TOGGLE].menu == "File"
    assert BY_ID[TOGGLE].toggle
    assert controller.checked(TOGGLE) is False
    assert "Recording actions" not in controller.status().modes


def test_it_is_said_while_it_is_on_and_remembered() -> None:
    controller = Controller(session())
    controller.run(TOGGLE)
    assert controller.checked(TOGGLE) is True
    assert "Recording actions" in controller.status().modes
    assert controller.view.preferences.record_actions
    assert Controller(session(), controller.view.preferences).checked(TOGGLE) is True
    controller.run(TOGGLE)
    assert "Recording actions" not in controller.status().modes
    assert Preferences() == controller.view.preferences


def test_what_hands_do_in_the_window_is_done_again(tmp_path: Path) -> None:
    pilot = Pilot("sample:walk")
    try:
        pilot.app.controller.run(TOGGLE)
        x, y = pilot.effector("LeftHand")["screen"]
        pilot.drag((x, y), (x + 30, y - 20))
        pilot.key("l")
        pilot.key("ctrl+z")
        pilot.key("space")
        pilot.step(20)
        pilot.key("space")
        path = tmp_path / "mine.ikv.json"
        pilot.app.controller.files.save_to(path)
        notes: list[str] = []
        assert replay(path, notes).same_as(pilot.session.document)
        assert notes == []
    finally:
        pilot.close()
