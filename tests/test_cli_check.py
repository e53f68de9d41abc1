"""``ikviewer check``: a line per file and finding, and progress of what takes long."""

from __future__ import annotations

import io
import json
import os
import re
from contextlib import redirect_stderr
from typing import TYPE_CHECKING

import pytest
from cli_run import FIGURE_BVH, IN_FOLDERS, figure, ran
from inside.cli import job
from inside.document import SetStiffness
from inside.formats import bvh, report, watched, watched_by
from scripts import altered, recorded, saved

from viewer.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from viewer.skeleton import Character

CM = ("--units", "cm", "--up", "y")


class Terminal(io.StringIO):
    """A stderr that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_line_for_every_file_and_finding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    good = figure(tmp_path)
    odd, bad = tmp_path / "odd.bvh", tmp_path / "bad.bvh"
    odd.write_text(FIGURE_BVH.replace("Frames: 3", "Frames: 9"), encoding="utf-8")
    bad.write_text(FIGURE_BVH.replace("2 90 0", "2 90 x"), encoding="utf-8")
    done = ran(capsys, "check", good, odd, bad, *CM)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"ok       {good}: 2 joints, 3 frames",
        f"warning  {odd}: Frames: says 9, found 3",
        f"ok       {odd}: 2 joints, 3 frames",
        f'refused  {bad}, line 21, column 6: in a frame: expected a finite number, found "x"',
    ]


def test_all_good_exits_with_0(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    done = ran(capsys, "check", figure(tmp_path), "sample:biped", "sample:chain-4", *CM)
    assert done.code == 0
    assert done.out.splitlines()[1:] == [
        "ok       sample:biped: 22 joints, no motion",
        "ok       sample:chain-4: 4 joints, no motion",
    ]


def test_a_folder_stands_for_the_files_in_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    figure(tmp_path / "deep" / "er")
    for name in ("notes.txt", "skeleton.schema.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (tmp_path / "CAPS.BVH").write_text(FIGURE_BVH, encoding="utf-8")
    done = ran(capsys, "check", tmp_path, *CM)
    assert done.code == 0
    files = [line.split(": ")[0] for line in done.out.splitlines()]
    assert files == [
        f"ok       {tmp_path / 'CAPS.BVH'}", f"ok       {tmp_path / 'deep' / 'er' / 'figure.bvh'}",
    ]  # fmt: skip


def test_a_folder_without_any_is_refused_and_the_rest_still_checked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = ran(capsys, "check", empty, figure(tmp_path), *CM)
    assert done.code == 1
    assert done.out.splitlines()[0] == (f"refused  {empty}: {IN_FOLDERS}, found none")
    assert done.out.splitlines()[1].startswith("ok ")


MOVING = {"effector": "LeftHand", "position": [[0, [0, 1, 0]], [1, [0, 2, 0]]]}


def test_poses_and_goals_are_checked_by_themselves(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    documents = {
        "pose.json": {"type": "pose", "rotations": {"Hips": [0, 0, 0, 1]}},
        "goals.json": {"goals": [{"effector": "LeftHand", "pin": True}], "colour": 3},
        "map.json": {"pairs": {"Hips": "pelvis", "Spine": None}},
        "layers.json": {"layers": [{"goal": MOVING, "start": 0, "full": [0, 1], "end": 1}]},
        "bad.json": {"goals": [{"effector": "LeftHand", "weight": -1}]},
    }
    for name, document in documents.items():
        (tmp_path / name).write_text(json.dumps(document), encoding="utf-8")
    done = ran(capsys, "check", *(tmp_path / name for name in documents))
    assert done.code == 1
    *good, bad = done.out.splitlines()
    assert good == [
        f"ok       {tmp_path / 'pose.json'}: a pose of 1 joint",
        f'warning  {tmp_path / "goals.json"}: unknown key "colour", ignored',
        f"ok       {tmp_path / 'goals.json'}: 1 goal",
        f"ok       {tmp_path / 'map.json'}: 2 pairs of joints",
        f"ok       {tmp_path / 'layers.json'}: 1 layer",
    ]
    assert bad.startswith(f"refused  {tmp_path / 'bad.json'}: goals[0]")


def test_joints_that_the_motion_takes_past_their_limits_are_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    turned = [0, 0, 0.7071067811865476, 0.7071067811865476]
    joints = [{"name": "a"}, {"name": "b", "parent": "a", "offset": [0, 1, 0], "limits": {"z": [-30, 30]}}]
    frames = [[[0, 0, 0, 1], q] for q in ([0, 0, 0, 1], turned, turned)]
    path = tmp_path / "take.json"
    motion = {"frame_time": 0.1, "frames": frames}
    path.write_text(json.dumps({"joints": joints, "motion": motion}), encoding="utf-8")
    done = ran(capsys, "check", path)
    assert done.code == 0
    assert done.out.splitlines()[0] == f'warning  {path}: joint "b" is outside its limits in 2 of 3 frames'


def test_long_work_shows_a_bar_on_a_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(job, "_DELAY", 0.0)
    with redirect_stderr(Terminal()) as screen:
        assert ran(capsys, "convert", "sample:walk", tmp_path / "out.csv").code == 0
    assert re.search(r"writing: +[0-9]+%\|", screen.getvalue())
    assert screen.getvalue().splitlines()[-1].startswith("warning: ")


def test_quick_work_shows_none(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    with redirect_stderr(Terminal()) as screen:
        assert ran(capsys, "convert", "sample:walk", tmp_path / "out.json").code == 0
    assert "%" not in screen.getvalue()


def test_no_terminal_no_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(job, "_DELAY", 0.0)
    assert ran(capsys, "check", figure(tmp_path), *CM).err == ""


def test_a_bar_is_wiped_before_a_line_and_given_up_work_leaves_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "_DELAY", 0.0)
    with redirect_stderr(Terminal()) as screen, job.progress_bars():
        report("reading", 5, 10)
        assert screen.getvalue().endswith(" left")
        job.clear_bars()
        assert screen.getvalue().endswith("\r")
        report("reading", 2, 10)
        report("reading", 10, 10)
        report("reading", 1, 10)
        assert screen.getvalue().endswith(" left")
    assert screen.getvalue().endswith("\r")
    assert screen.getvalue().count("reading:") == 3


def test_work_is_reported_in_few_steps_and_to_its_end() -> None:
    heard: list[tuple[str, int, int]] = []
    with watched_by(lambda *step: heard.append(step)):
        assert list(watched("counting", range(100_000), 100_000)) == list(range(100_000))
    assert heard[0] == ("counting", 0, 100_000)
    assert heard[-1] == ("counting", 100_000, 100_000)
    assert len(heard) <= 210
    items = [1, 2]
    assert watched("counting", items, 2) is items


@pytest.mark.skipif(os.name != "posix", reason="links need no permission on POSIX systems")
def test_a_folder_that_leads_back_to_itself_ends(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    folder = tmp_path / "takes"
    folder.mkdir()
    figure(folder)
    (folder / "again").symlink_to(folder, target_is_directory=True)
    assert ran(capsys, "check", folder, *CM).code == 0


def test_a_file_that_needs_an_extra_does_not_end_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("viewer.formats.mjcf.is_installed", lambda _: False)
    model = tmp_path / "model.xml"
    model.write_text("<mujoco/>", encoding="utf-8")
    done = ran(capsys, "check", model, "sample:biped")
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"refused  {model}: MuJoCo models need: pip install 'ikviewer[physics]'",
        "ok       sample:biped: 22 joints, no motion",
    ]


def test_a_fault_of_the_program_does_not_end_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a file brings out is one line, and the traceback is in the log that the line names."""
    home, good, bad = tmp_path / "home", figure(tmp_path), tmp_path / "bad.bvh"
    monkeypatch.setenv("IKVIEWER_HOME", str(home))
    bad.write_text(FIGURE_BVH, encoding="utf-8")
    read = bvh.read_bvh

    def reader(path: Path, name: str, **how: str) -> Character:
        if path == bad:
            raise ZeroDivisionError("by\nzero")
        return read(path, name, **how)

    monkeypatch.setattr("viewer.formats.bvh.read_bvh", reader)
    done = ran(capsys, "check", bad, good, *CM)
    log = home / "log" / "errors.log"
    fault = 'this file brings out a fault of the program, "ZeroDivisionError: by zero"'
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        f"refused  {bad}: {fault}; its traceback is in {log}",
        f"ok       {good}: 2 joints, 3 frames",
    ]
    assert "raise ZeroDivisionError" in log.read_text(encoding="utf-8")
    log.unlink()
    log.mkdir()  # no log can be written: the line is said all the same
    assert ran(capsys, "check", bad, *CM).out == f"refused  {bad}: {fault}\n"


def test_no_file_that_was_found_to_show_a_fault_shows_one(capsys: pytest.CaptureFixture[str], shared: Path) -> None:
    done = ran(capsys, "check", shared / "data" / "findings", "--jobs", "2")
    assert (done.code, done.err) == (1, "")
    assert "session_actions_typeerror.ikv.json: 2 joints" in done.out
    assert "fault of the program" not in done.out


def test_too_little_memory_is_said_of_the_file(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = figure(tmp_path)

    def reader(*_: object, **__: object) -> Character:
        raise MemoryError

    monkeypatch.setattr("viewer.formats.bvh.read_bvh", reader)
    assert ran(capsys, "check", file, "sample:two-link").out.splitlines() == [
        f"refused  {file}: not enough memory for this file",
        "ok       sample:two-link: 2 joints, no motion",
    ]


def test_what_the_window_refuses_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(_: Character) -> None:
        raise InputError("no window for this")

    monkeypatch.setattr("viewer.cli.check_command.new_document", refuse)
    file = figure(tmp_path)
    assert ran(capsys, "check", file, *CM).out == f"refused  {file}: no window for this\n"


def test_recorded_actions_that_cannot_be_done_are_found(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = recorded("two-link")
    made.dispatch(SetStiffness("elbow", 0.5))
    file = saved(made, tmp_path)
    assert ran(capsys, "check", file).out == f"ok       {file}: 2 joints, no motion\n"
    calls = json.loads(file.read_text(encoding="utf-8"))["actions"]["calls"]
    place = next(place for place, call in enumerate(calls) if call[0] == "dispatch")
    altered(file, lambda actions: actions["calls"][place][1].update({"$": [0, 0, 0]}))
    found = f'actions.calls[{place}]: expected the kind of a value, found "[0, 0, 0]"'
    assert ran(capsys, "check", file).out.splitlines() == [
        f"warning  {file}: {found}",
        f"ok       {file}: 2 joints, no motion",
    ]
