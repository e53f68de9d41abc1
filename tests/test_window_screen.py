"""The window as a person has it: a virtual screen, a real pointer, real keys."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import pytest
from conftest import ROOT
from PIL import Image
from window_screen import Screen, virtual_screen

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

WALK = str(ROOT / "skeletons" / "walk.bvh")


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with virtual_screen() as name:
        yield name


@pytest.fixture
def opened(display: str, tmp_path: Path) -> Iterator[Callable[..., Screen]]:
    screens: list[Screen] = []

    def opening(*arguments: str) -> Screen:
        screens.append(Screen(display, tmp_path, *arguments))
        return screens[-1]

    yield opening
    for screen in screens:
        screen.kill()


def settled(screen: Screen) -> tuple[float, float]:
    """Pixels of the left hand at rest: the view fits itself to the window as that gets its size and its panels."""
    state = screen.until(lambda: (state := screen.state)["still"] and state)
    x, y = next(entry["screen"] for entry in state["effectors"] if entry["name"] == "LeftHand")
    return x, y


def drag_hand(screen: Screen, dx: float, dy: float) -> tuple[float, float]:
    """Drag the left hand by so many pixels; returns where that takes it, seen from where it was when it was pressed."""
    x, y = settled(screen)
    screen.move(x, y)
    screen.button(down=True)
    for i in range(1, 11):
        screen.move(x + dx * i / 10, y + dy * i / 10)
    screen.until(lambda: screen.state["dragging"])
    screen.button(down=False)
    screen.until(lambda: not screen.state["dragging"])
    return round(x) + dx, round(y) + dy


def test_a_hand_of_a_bvh_file_is_dragged_limits_are_toggled_and_all_is_undone(
    opened: Callable[..., Screen],
) -> None:
    screen = opened(WALK)
    start = screen.effector("LeftHand")
    assert screen.title == "walk.bvh - ikviewer"
    there = drag_hand(screen, 30, -20)
    screen.until(lambda: math.dist(screen.effector("LeftHand")["screen"], there) < 3)
    assert screen.state["undo_depth"] == 1
    screen.until(lambda: screen.title == "walk.bvh • modified - ikviewer")
    screen.key("l")
    screen.until(lambda: not screen.state["limits"])
    screen.key("ctrl+z")
    screen.until(lambda: screen.state["limits"])
    screen.key("ctrl+z")
    screen.until(lambda: screen.effector("LeftHand")["position"] == start["position"])
    assert screen.state["undo_depth"] == 0
    screen.key("ctrl+q")
    code, said = screen.end()
    assert code == 0
    assert "Traceback" not in said


def test_after_a_kill_the_work_is_offered_and_comes_back(opened: Callable[..., Screen]) -> None:
    screen = opened("sample:walk")
    drag_hand(screen, 30, -20)
    moved = screen.effector("LeftHand")["position"]
    kept = screen.home / "recovery"
    screen.until(lambda: list(kept.glob("*.ikv.json")))
    screen.process.send_signal(signal.SIGKILL)
    screen.process.wait()
    again = opened("sample:walk")
    again.until(lambda: "stopped unexpectedly" in (again.state["message"] or ""))
    assert again.effector("LeftHand")["position"] != moved


def test_a_picture_of_the_window_and_an_end_after_some_frames(display: str, tmp_path: Path) -> None:
    picture = tmp_path / "window.png"
    arguments = ["--exit-after", "4", "--screenshot", str(picture), "--size", "1000x640"]
    environment = {"DISPLAY": display, "IKVIEWER_HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-m", "viewer", "sample:biped", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with Image.open(picture) as image:
        assert image.size == (1000, 640)
        assert np.asarray(image).std() > 10
