"""How smooth the window is: frame times of a drag, CPU time at rest, seconds from the command to the first frame.

    python benchmarks/window.py [--json] [--frames N] [--on-screen]
    python benchmarks/window.py --start FILE ...

Frames are drawn at 1280x720 without a screen, on whatever OpenGL draws there (Mesa's llvmpipe on a machine without a
graphics card), each finished before the next begins. With ``--on-screen`` rest and start are measured of real windows,
which needs a display, as ``--start`` does: seconds until files are shown, such as robots with their meshes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np

import viewer
from viewer.app.application import open_window
from viewer.document import new_document
from viewer.ik import warm_up
from viewer.session import Session
from viewer.session.user_files import Preferences
from viewer.ui.automation import state_of

SIZE = (1280, 720)
FRAME = 1.0 / 60.0
BARS = {"31 bones": 20.0, "1000 bones": 40.0}
REST_SECONDS = 6.0
RUNS = 5


def tree(bones: int) -> str:
    """A BVH file of so many joints: chains of 20 that leave a trunk."""
    lines = [
        "HIERARCHY",
        "ROOT Trunk",
        "{",
        "OFFSET 0 0 0",
        "CHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation",
    ]
    left, chain = bones - 1, 0
    while left > 0:
        links = min(20, left)
        angle = 2.4 * chain
        for link in range(links):
            offset = (9 * np.cos(angle), 4 + chain * 1.5 if link == 0 else 3.0, 9 * np.sin(angle))
            lines += [
                f"JOINT C{chain}_{link}",
                "{",
                "OFFSET {:.4f} {:.4f} {:.4f}".format(*offset),
                "CHANNELS 3 Zrotation Xrotation Yrotation",
            ]
        lines += ["End Site", "{", "OFFSET 0 5 0", "}"] + ["}"] * links
        left, chain = left - links, chain + 1
    channels = 6 + 3 * (bones - 1)
    lines += ["}", "MOTION", "Frames: 1", "Frame Time: 0.0333333", " ".join(["0"] * channels)]
    return "\n".join(lines) + "\n"


def drag_frames(character: viewer.Character, count: int) -> list[float]:
    """Milliseconds of each frame while the first effector is dragged."""
    app = open_window(Session(new_document(character)), Preferences(), size=SIZE)
    now = [0.0]
    app.clock = app.inputs.clock = lambda: now[0]

    def frame() -> float:
        now[0] += FRAME
        start = time.perf_counter()
        app.step(now[0])
        app.device.context.finish()
        return 1e3 * (time.perf_counter() - start)

    for _ in range(20):
        frame()
    held = next(entry for entry in state_of(app.controller, SIZE)["effectors"] if entry["goal"])
    x, y = held["screen"]
    app.inputs.move(x, y)
    frame()
    app.inputs.button("left", down=True)
    app.inputs.move(x + 5, y)
    for _ in range(10):
        frame()
    assert app.controller.dragging, f"{held['name']} was not taken"
    taken = []
    for i in range(count):
        app.inputs.move(x + 40 * np.sin(i / 15), y - 40 + 40 * np.cos(i / 15))
        taken.append(frame())
        time.sleep(max(0.0, FRAME - taken[-1] / 1e3))
    app.close()
    return taken


def cpu_seconds(process: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def opened(window: str, *files: str) -> Iterator[tuple[int, float]]:
    """The process of a window on files, and seconds until its first frame."""
    with tempfile.TemporaryDirectory() as folder:
        state = Path(folder, "state.json")
        command = [sys.executable, "-m", "viewer", "view", *files, "--window", window, "--state-file", str(state)]
        start = time.perf_counter()
        with subprocess.Popen(command, env={**os.environ, "IKVIEWER_HOME": folder}) as running:
            while not state.exists() and running.poll() is None:
                time.sleep(0.01)
            yield running.pid, time.perf_counter() - start
            running.terminate()


def rest_and_start(window: str) -> tuple[float, float]:
    """Percent of a core that a window at rest takes, and seconds until its first frame."""
    with opened(window) as (process, seconds):
        time.sleep(REST_SECONDS)  # the still picture, kernels from the cache
        before = cpu_seconds(process)
        time.sleep(REST_SECONDS)
        return 100.0 * (cpu_seconds(process) - before) / REST_SECONDS, seconds


def start(file: str) -> float:
    """Seconds until the first frame of a file in a real window."""
    with opened("glfw", file) as (_, seconds):
        return seconds


def figures(frames: int, *, on_screen: bool) -> dict[str, object]:
    """All that is measured."""
    warm_up(wait=True)
    with tempfile.TemporaryDirectory() as folder:
        found: dict[str, object] = {}
        for name, bar in BARS.items():
            path = Path(folder, "tree.bvh")
            path.write_text(tree(int(name.split()[0])), encoding="utf-8")
            taken = drag_frames(viewer.load(path, units="cm"), frames)
            ordered = sorted(taken)
            found[name] = {
                "min_ms": ordered[0],
                "median_ms": statistics.median(ordered),
                "p90_ms": ordered[int(0.9 * len(ordered))],
                "bar_ms": bar,
            }
    if on_screen:
        percent, seconds = min(rest_and_start("glfw") for _ in range(2))
        found["rest_cpu_percent"], found["start_seconds"] = percent, seconds
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--on-screen", action="store_true")
    parser.add_argument("--start", nargs="+", metavar="FILE", help="only the seconds until a file's first frame")
    chosen = parser.parse_args()
    if chosen.start:
        for file in chosen.start:
            seconds = [start(file) for _ in range(RUNS)]
            print(f"{Path(file).name}: {statistics.median(seconds):.2f} s median of {RUNS}, {max(seconds):.2f} most")
        return
    found = figures(chosen.frames, on_screen=chosen.on_screen)
    if chosen.json:
        print(json.dumps(found))
        return
    for name, value in found.items():
        if isinstance(value, dict):
            median, least, most = value["median_ms"], value["min_ms"], value["p90_ms"]
            print(f"{name:>18}: {median:5.1f} ms median, {least:5.1f} least, {most:5.1f} of 9 in 10;", end=" ")
            print(f"wanted {value['bar_ms']:.0f}")
        else:
            print(f"{name:>18}: {value:.2f}")


if __name__ == "__main__":
    main()
