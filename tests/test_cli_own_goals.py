"""``solve --goals-from FILE.py:NAME``, and the options for lessons: what is run, what it may do, what is said of it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from cli_run import Ran, ran

import viewer

if TYPE_CHECKING:
    from pathlib import Path

MINE = '''"""Goals of mine."""
import beside

print("as it is run")


def hand(world, skeleton):
    print("at every step")
    return world.positions[skeleton.index("LeftHand")] - beside.PLACE


def low(world):
    return [world.positions[0][1] - 0.8]


def wrong(world):
    return (
        world.positions["here"])


def leaving(world):
    raise SystemExit


def wordy(world):
    return "near"


_private = low
number = 3
'''
PLACE = (0.35, 1.35, 0.3)
NOTE = 'note: running mine.py, as --goals-from asks, for its function "{}"'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "mine.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "beside.py").write_text(f"PLACE = {PLACE}\n", encoding="utf-8")
    (tmp_path / "tip.json").write_text('{"goals": [{"effector": "tip", "position": [-0.6, 0.9, 0]}]}', encoding="utf-8")
    (tmp_path / "far.json").write_text('{"goals": [{"effector": "tip", "position": [5, 0, 0]}]}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(__import__("sys").modules, "beside", raising=False)
    return tmp_path


def solve(capsys: pytest.CaptureFixture[str], *words: str) -> Ran:
    return ran(capsys, "solve", *words, "--backend", "numpy")


def poses(document: Any) -> tuple[Any, Any]:  # noqa: ANN401 - a JSON value
    return document["pose"]["rotations"], document["pose"]["translations"]


@pytest.mark.usefixtures("folder")
def test_functions_are_goals_beside_others(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    (folder / "g.json").write_text('{"goals": [{"effector": "RightHand", "pin": true}]}', encoding="utf-8")
    words = ("sample:biped", "g.json", "--goals-from", "mine.py:hand", "--goals-from", "./mine.py:low", "--json")
    done = solve(capsys, *words)
    assert done.code == 0
    document = done.json  # what the file prints goes elsewhere: this is one document
    assert document["status"] == "converged"
    assert [(goal["effector"], goal["kind"], goal.get("function")) for goal in document["goals"]] == [
        ("RightHand", "position+rotation", None), (None, "function", "hand"), (None, "function", "low"),
    ]  # fmt: skip
    skeleton = viewer.load("sample:biped").skeleton
    rotations, translations = (np.array(list(part.values())) for part in poses(document))
    world = viewer.fk(skeleton, viewer.Pose(rotations, translations))
    assert np.linalg.norm(world.positions[skeleton.index("LeftHand")] - PLACE) < 1e-3
    assert abs(world.positions[0][1] - 0.8) < 1e-3
    lines = done.err.splitlines()
    assert lines[:2] == [NOTE.format("hand"), "as it is run"]
    assert 'note: running ./mine.py, as --goals-from asks, for its function "low"' in lines
    assert "at every step" in lines
    assert not (folder / "__pycache__" / "mine.pyc").exists()


@pytest.mark.usefixtures("folder")
def test_functions_need_no_goals_file_and_are_called_by_their_names(capsys: pytest.CaptureFixture[str]) -> None:
    done = solve(capsys, "sample:biped", "--goals-from", "mine.py:low", "--quiet")
    assert (done.code, done.err) == (0, "as it is run\n")
    status, line = done.out.splitlines()
    assert status.startswith("converged: ")
    assert line.startswith("  reached  low function: ")
    unserved = solve(capsys, "sample:biped", "--goals-from", "mine.py:low", "--solver", "ccd")
    assert "  not served by this solver: function" in unserved.out.splitlines()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("named", "line"),
    [
        ("mine.py:wrong", "mine.py, line 18: IndexError: only integers, slices (`:`), ellipsis"),
        ("mine.py:leaving", "mine.py, line 22: SystemExit"),
        ("mine.py:wordy", "mine.py:wordy: function goal: expected residuals of shape (any,), found <U4 of ()"),
        ("mine.py:hnd", 'mine.py: no function "hnd"; did you mean "hand"?'),
        ("mine.py:number", 'mine.py: no function "number"; there is '),
        ("mine.py:_private", 'mine.py: no function "_private"; '),
        ("broken.py:f", "broken.py, line 2: SyntaxError: "),
        ("needy.py:f", "needy.py, line 1: ModuleNotFoundError: No module named 'no_such_module'"),
        ("refusing.py:f", "refusing.py, line 2: InputError: nowhere.bvh: no such file or folder"),
        ("gone.py:f", "gone.py: no such file or folder"),
        ("folder.py:f", "folder.py: expected a file, found a folder"),
    ],
)
def test_what_goes_wrong_in_it_is_one_line(
    capsys: pytest.CaptureFixture[str], folder: Path, named: str, line: str
) -> None:
    (folder / "broken.py").write_text("x = 1\ndef f(world:\n", encoding="utf-8")
    (folder / "needy.py").write_text("import no_such_module\n", encoding="utf-8")
    (folder / "refusing.py").write_text("import viewer\nviewer.load('nowhere.bvh')\n", encoding="utf-8")
    (folder / "folder.py").mkdir()
    done = solve(capsys, "sample:biped", "--goals-from", named, "-o", "out.json")
    assert (done.code, done.out) == (1, "")
    assert done.err.splitlines()[-1].startswith(f"error: {line}")
    assert not (folder / "out.json").exists()
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("named", ["mine.py", "mine.txt:f", "mine.py:"])
def test_a_text_that_names_no_function_is_wrong_usage(capsys: pytest.CaptureFixture[str], named: str) -> None:
    done = solve(capsys, "sample:biped", "--goals-from", named)
    assert (done.code, done.out) == (2, "")
    assert done.err.endswith(f'solve: error: argument --goals-from: expected FILE.py:NAME, found "{named}"\n')


@pytest.mark.usefixtures("folder")
def test_debug_shows_where_in_the_file(capsys: pytest.CaptureFixture[str]) -> None:
    done = solve(capsys, "sample:biped", "--goals-from", "mine.py:wrong", "--debug")
    assert 'File "mine.py", line 18, in wrong' in done.err
    assert done.err.splitlines()[-1].startswith("error: mine.py, line 18: IndexError")


@pytest.mark.usefixtures("folder")
def test_a_file_that_is_not_named_is_not_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert "as it is run" not in solve(capsys, "sample:two-link", "tip.json").err
    done = solve(capsys, "sample:two-link")
    assert done.code == 2
    assert done.err.splitlines()[-1].endswith("error: expected GOALS or --goals-from FILE.py:NAME, found neither")


@pytest.mark.usefixtures("folder")
def test_bend_puts_the_elbow_up_or_down(capsys: pytest.CaptureFixture[str]) -> None:
    heights = {}
    skeleton = viewer.load("sample:two-link").skeleton
    for bend in ("up", "down"):
        words = ("sample:two-link", "tip.json", "--solver", "two-link", "--bend", bend, "--json")
        document = solve(capsys, *words).json
        assert document["goals"][0]["error_m"] < 1e-6
        rotations, translations = (np.array(list(part.values())) for part in poses(document))
        heights[bend] = viewer.fk(skeleton, viewer.Pose(rotations, translations)).positions[1][1]
    assert heights["up"] > heights["down"] + 0.1


@pytest.mark.usefixtures("folder")
def test_exact_is_all_or_nothing(capsys: pytest.CaptureFixture[str], folder: Path) -> None:
    start = viewer.load("sample:two-link").skeleton.relaxed_pose()
    missed = solve(capsys, "sample:two-link", "far.json", "--exact", "--json", "-o", "out.json")
    assert missed.code == 0
    assert missed.json["status"] == "unreachable"
    assert list(poses(missed.json)[0].values()) == start.rotations.tolist()
    assert missed.err == "warning: --exact: not every goal can be met: the pose is the one that it started from\n"
    written = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    assert written["rotations"] == poses(missed.json)[0]
    met = solve(capsys, "sample:two-link", "tip.json", "--exact", "--json")
    assert (met.json["status"], met.err) == ("converged", "")
    near = solve(capsys, "sample:two-link", "far.json", "--json")
    assert near.json["goals"][0]["error_m"] < missed.json["goals"][0]["error_m"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", ["default", "dls", "sdls", "pseudo-inverse", "transpose"])
def test_numeric_rows_lead_to_the_same_pose(capsys: pytest.CaptureFixture[str], method: str) -> None:
    words = ("sample:two-link", "tip.json", "--solver", method, "--json", "--max-iterations", "3")
    plain, numeric = (solve(capsys, *words, *more).json for more in ((), ("--numeric",)))
    for joint, rotation in poses(plain)[0].items():
        assert poses(numeric)[0][joint] == pytest.approx(rotation, abs=1e-5)
    assert numeric["pose"] != plain["pose"]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("method", ["default", "dls"])
def test_damping_and_part_steps_make_it_slower(capsys: pytest.CaptureFixture[str], method: str) -> None:
    words = ("sample:two-link", "tip.json", "--solver", method, "--json")
    plain, damped, part = (solve(capsys, *words, *more).json for more in ((), ("--damping", "2"), ("--step", "0.2")))
    assert plain["iterations"] < min(damped["iterations"], part["iterations"])


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("words", "line"),
    [
        ("--bend up", "argument --bend: default has no use for it: expected --solver two-link"),
        ("--bend sideways --solver two-link", 'argument --bend: no bend "sideways"; there is "up", "down"'),
        ("--damping 0.1 --solver sdls", "argument --damping: sdls has no use for it: expected --solver default or dls"),
        ("--numeric --solver ccd", "argument --numeric: ccd has no use for it: expected --solver default, transpose, "),
        ("--step 0.5 --solver two-link", "argument --step: two-link has no use for it: expected --solver default, "),
        ("--step 0", 'argument --step: expected a number above 0, found "0"'),
        ("--damping nan", 'argument --damping: expected a number above 0, found "nan"'),
    ],
)
def test_options_that_say_nothing_to_the_solver_are_wrong_usage(
    capsys: pytest.CaptureFixture[str], words: str, line: str
) -> None:
    done = solve(capsys, "sample:two-link", "tip.json", *words.split())
    assert (done.code, done.out) == (2, "")
    assert line in done.err.splitlines()[-1]
