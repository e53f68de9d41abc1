"""Goals and poses through pipes: all that comes is read, and no more than is wanted."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from inside.formats import files, pose_to_json, read_file_or_pipe, read_goals_file, read_pose

import viewer

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are a thing of POSIX")
GOALS = '{"goals": [{"effector": "LeftHand", "position": [0.4, 1.2, 0.3]}]}'
BIPED = viewer.load("sample:biped").skeleton


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


def written(path: Path, content: bytes) -> threading.Thread:
    """Somebody who writes into a pipe as soon as it is read, in two parts."""

    def write() -> None:
        try:
            with path.open("wb") as file:
                file.write(content[: len(content) // 2])
                file.flush()
                file.write(content[len(content) // 2 :])
        except BrokenPipeError:
            pass

    thread = threading.Thread(target=write)
    thread.start()
    return thread


def test_goals_and_poses_come_through_a_pipe(pipe: Path) -> None:
    thread = written(pipe, GOALS.encode())
    assert read_goals_file(pipe, "pipe", BIPED).goals == (viewer.Goal.position("LeftHand", (0.4, 1.2, 0.3)),)
    thread.join()
    start = BIPED.relaxed_pose()
    thread = written(pipe, pose_to_json(BIPED, start).encode())
    assert read_pose(pipe, "pipe", BIPED).same_as(start)
    thread.join()


def test_more_than_a_text_may_have_is_not_taken(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "LARGEST_TEXT", 1000)
    thread = written(pipe, b"x" * 1000)
    assert len(read_file_or_pipe(pipe, "pipe")) == 1000
    thread.join()
    thread = written(pipe, b"x" * 1_000_000)
    with pytest.raises(viewer.InputError, match=r"^pipe: expected at most 1,000 bytes, found more$"):
        read_file_or_pipe(pipe, "pipe")
    thread.join()


def test_what_else_is_no_file_is_refused(tmp_path: Path) -> None:
    for path, message in (
        (tmp_path, "expected a file, found a folder"),
        (tmp_path / "gone", "no such file or folder"),
        (Path("/dev/zero"), "expected a file, found a device"),
    ):
        with pytest.raises(viewer.InputError, match=f"^it: {message}$"):
            read_file_or_pipe(path, "it")


def test_an_empty_pipe_is_an_empty_file(pipe: Path) -> None:
    thread = written(pipe, b"")
    with pytest.raises(viewer.FormatError, match=r"^pipe: the file is empty; expected a JSON object$"):
        read_goals_file(pipe, "pipe", BIPED)
    thread.join()


@pytest.mark.skipif(not os.path.exists("/dev/stdin"), reason="no such name here")  # noqa: PTH110 - not a file
def test_the_command_takes_goals_from_its_standard_input() -> None:
    line = [sys.executable, "-m", "viewer", "solve", "sample:biped", "/dev/stdin", "--backend", "numpy"]
    done = subprocess.run(line, input=GOALS, capture_output=True, text=True, timeout=120, check=True)
    assert done.stdout.startswith("converged: ")
