"""A virtual screen (Xvfb) with a real window on it, and a user who clicks (xdotool)."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from conftest import ROOT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PATIENCE = 40.0
"""Seconds after which something that was to happen has not: machines are shared."""


def need(*programs: str) -> None:
    """Skip the test without these; in CI they have to be there."""
    missing = [program for program in programs if shutil.which(program) is None]
    if missing and not os.environ.get("CI"):
        pytest.skip(f"no {' and no '.join(missing)}")
    assert not missing


@contextmanager
def virtual_screen() -> Iterator[str]:
    """An X server on a display that is free; yields its name."""
    need("Xvfb", "xdotool")
    read, write = os.pipe()
    # An X server without this starts anew, deaf for a moment, when its last window closes: also when it is killed.
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", "1600x1000x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=(write,), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(write)
    try:
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait()


class Screen:
    """One ikviewer in a window, seen through its state file."""

    def __init__(self, display: str, folder: Path, *arguments: str) -> None:
        self._state = folder / "state.json"
        self.home = folder / "home"
        self._environment = {**os.environ, "DISPLAY": display, "IKVIEWER_HOME": str(self.home), "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-m", "viewer", "view", *arguments, "--state-file", str(self._state)]
        self.process = subprocess.Popen(command, env=self._environment, stderr=subprocess.PIPE, text=True)
        self.until(self._state.exists)
        name = str(self.process.pid)
        self.window = self.until(lambda: self._do("search", "--onlyvisible", "--pid", name).split()[-1:])[0]
        self._do("windowfocus", "--sync", self.window)
        time.sleep(0.3)

    @property
    def state(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self._state.read_text(encoding="utf-8"))
        return document

    @property
    def title(self) -> str:
        return self._do("getwindowname", self.window).strip()

    def effector(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = next(entry for entry in self.state["effectors"] if entry["name"] == name)
        return found

    def until(self, happens: Callable[[], Any]) -> Any:  # noqa: ANN401 - what was waited for
        """Wait until a condition holds."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            found = happens()
            if found:
                return found
            assert self.process.poll() is None, self.process.stderr.read() if self.process.stderr else ""
            time.sleep(0.05)
        raise AssertionError("it never happened")

    def move(self, x: float, y: float) -> None:
        self._do("mousemove", "--window", self.window, str(round(x)), str(round(y)))
        time.sleep(0.06)

    def button(self, *, down: bool, number: int = 1) -> None:
        self._do("mousedown" if down else "mouseup", str(number))
        time.sleep(0.06)

    def key(self, chord: str) -> None:
        self._do("key", chord)
        time.sleep(0.06)

    def end(self) -> tuple[int, str]:
        """Wait for the program to end; its exit code and what it said."""
        _, said = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, said

    def kill(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()

    def _do(self, *command: str) -> str:
        done = subprocess.run(
            ["xdotool", *command], env=self._environment, capture_output=True, text=True, check=False, timeout=PATIENCE
        )
        return done.stdout
