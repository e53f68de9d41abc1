"""What the machine lacks is said in one line that names the cure, with exit code 3."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from cli_run import ran
from conftest import ROOT
from window_screen import virtual_screen

if TYPE_CHECKING:
    from collections.abc import Iterator

linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="X11 and Mesa")


def start(*arguments: str, **variables: str) -> tuple[int, str, str]:
    environment = {key: value for key, value in os.environ.items() if key != "DISPLAY"}
    environment |= {"PYTHONPATH": str(ROOT), **variables}
    command = [sys.executable, "-m", "viewer", "view", *arguments]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=120)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture(scope="module")
def display() -> Iterator[str]:
    with virtual_screen() as name:
        yield name


@linux
@pytest.mark.parametrize("window", ["glfw", "pyglet"])
def test_without_a_display(window: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    line = "error: no display: DISPLAY is not set; set DISPLAY, or use ikviewer render\n"
    assert ran(capsys, "view", "--window", window) == (3, "", line)


@linux
@pytest.mark.parametrize("window", ["glfw", "pyglet"])
def test_with_a_display_that_is_not_there(window: str) -> None:
    code, out, err = start("--window", window, DISPLAY=":9999")
    assert (code, out) == (3, "")
    assert err.startswith('error: no display: ":9999" cannot be opened')
    assert err.endswith("set DISPLAY, or use ikviewer render\n")
    assert err.count("\n") == 1


@linux
def test_with_an_opengl_that_is_too_old(display: str) -> None:
    code, out, err = start(DISPLAY=display, MESA_GL_VERSION_OVERRIDE="2.1")
    assert (code, out) == (3, "")
    assert err.startswith("error: no OpenGL 3.3 in a window: ")
    assert "apt-get install" in err
    assert err.count("\n") == 1


@linux
@pytest.mark.parametrize("version", ["3.3", "4.1"])
def test_with_the_oldest_opengl_that_serves_and_that_of_a_mac(version: str) -> None:
    glsl = version.replace(".", "") + "0"
    settings = {"MESA_GL_VERSION_OVERRIDE": version, "MESA_GLSL_VERSION_OVERRIDE": glsl}
    assert start("--window", "headless", "--exit-after", "2", **settings) == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "code", "line"),
    [
        (["nowhere.bvh"], 1, "error: nowhere.bvh: no such file or folder\n"),
        (["sample:walk", "--frame", "68"], 1, "error: sample:walk: no frame 68: the clip has 0 to 67\n"),
        (["--frame", "1"], 1, "error: sample:biped: expected motion, found a skeleton without frames\n"),
        (["--screenshot", "out.jpg"], 1, 'error: out.jpg: expected a name that ends in .png, found ".jpg"\n'),
        (["--pose", "sitting"], 1, 'error: no pose "sitting"; there is "relaxed", "rest"\n'),
    ],
)
def test_bad_input_is_told_before_any_window_opens(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str], code: int, line: str
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)  # a window that opened would say that there is none
    assert ran(capsys, "view", *arguments) == (code, "", line)


def test_bad_input_ends_the_process_with_its_code() -> None:
    assert start("nowhere.bvh") == (1, "", "error: nowhere.bvh: no such file or folder\n")


def test_a_window_too_small_to_use_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, told = ran(capsys, "view", "--size", "100x100")
    assert (code, out) == (2, "")
    assert told.endswith("error: argument --size: expected 960x600 to 16384x16384, found 100x100\n")
