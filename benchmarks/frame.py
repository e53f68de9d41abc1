"""What one frame costs before anything is painted: milliseconds, Python calls, functions and files.

    python benchmarks/frame.py CHECKOUT [CHECKOUT] [--rigs biped,turn:biped,play:walk] [--frames 240] [--list]

Of a rig, an effector is dragged round a circle of the view by the compiled solver; of ``turn:RIG`` a bone is turned by
dragging it round such a circle, without a solver; of ``play:RIG`` a clip plays, a frame of it in each frame. A frame is
the answer to one move of the mouse (event), the solve and what else is due (tick), what is to be drawn (draw list), and
what the panels read that are redrawn in every frame (panels). Nothing is painted, and no screen is needed.

Of two checkouts the runs alternate, each in a process of its own by this interpreter, so that other load on the machine
affects both equally; the medians of all runs stand side by side. Times are processor times, not clock times. Calls are
counted apart from times, since counting costs time: those of the checkout's own functions, and beside them all other
calls of Python code, which libraries and what `dataclass` generates make. A newer Python counts fewer, since it runs
comprehensions without a call: compare figures of one interpreter. ``--list`` names the files, and what is called in
each.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import CodeType, FrameType

PARTS = ("event", "tick", "draw list", "panels")
READ = ("status", "hints", "cursor")
"""Of the controller, by the status line and over the view, in every frame."""
WINDOW, VIEW = (1280, 720), (228, 66, 756, 514)
TICK = 1.0 / 60.0
RADIUS = 40.0
"""Pixels of the circle."""
WARM, COUNTED = 40, 60
"""Frames before any is timed, and frames whose calls are counted."""
FRAME = "frame"

Figures = dict[str, dict[str, float]]
"""By part: "ms", "calls", "other calls", "functions", "files"."""


def main() -> int:
    arguments = parser().parse_args()
    if arguments.worker:
        rigs = arguments.rigs.split(",")
        if arguments.list:
            print("\n".join(line for rig in rigs for line in listed(rig)))
        else:
            print(json.dumps({rig: measured(rig, arguments.frames) for rig in rigs}))
        return 0
    if arguments.list:
        for checkout in arguments.checkouts:
            print(run(arguments, checkout.resolve(), "--list"))
        return 0
    runs: dict[str, list[dict[str, Figures]]] = {name: [] for name in map(str, arguments.checkouts)}
    for _ in range(arguments.runs):
        for name, found in runs.items():
            found.append(json.loads(run(arguments, Path(name).resolve()).splitlines()[-1]))
    middles = {name: middle(found) for name, found in runs.items()}
    print(json.dumps(middles) if arguments.json else "\n\n".join(tables(middles, arguments)))
    return 0


def parser() -> argparse.ArgumentParser:
    """The command line."""
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("checkouts", type=Path, nargs="+", metavar="CHECKOUT")
    made.add_argument("--rigs", default="biped-hands,biped,turn:biped,play:walk", metavar="LIST")
    made.add_argument("--frames", type=int, default=240, metavar="N", help="that are timed in a run")
    made.add_argument("--runs", type=int, default=5, metavar="N")
    made.add_argument("--json", action="store_true")
    made.add_argument("--list", action="store_true", help="of one frame of each rig, the calls by file; no times")
    made.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    return made


def run(arguments: argparse.Namespace, checkout: Path, *more: str) -> str:
    """What the worker of one checkout prints, with nothing of the other on its path."""
    if not (checkout / "viewer" / "__init__.py").is_file():
        sys.exit(f"frame: {checkout}: expected a checkout with a folder viewer")
    options = ["--rigs", arguments.rigs, "--frames", str(arguments.frames)]
    command = [sys.executable, "-P", str(Path(__file__).resolve()), str(checkout), *options, "--worker", *more]
    with tempfile.TemporaryDirectory() as home:
        environment = os.environ | {"PYTHONPATH": str(checkout), "OMP_NUM_THREADS": "1", "IKVIEWER_HOME": home}
        done = subprocess.run(command, cwd=home, env=environment, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"frame: {checkout}: its run failed")
    return done.stdout


# In the worker


def measured(rig: str, frames: int) -> Figures:
    """One run: times first, calls after."""
    # The checkout's: the driver itself must not load one.
    import viewer
    from viewer.ik import warm_up

    warm_up(wait=True)
    frames_of = Frames(rig)
    times = defaultdict[str, list[float]](list)

    def timed(part: str, act: Callable[[], object]) -> None:
        start = time.thread_time()
        act()
        times[part].append(1e3 * (time.thread_time() - start))

    for _ in range(frames):
        frames_of.frame(timed)
    whole = [sum(parts) for parts in zip(*(times[part] for part in PARTS), strict=True)]
    found = {part: {"ms": statistics.median(times[part])} for part in PARTS} | {FRAME: {"ms": statistics.median(whole)}}
    assert viewer.__file__ is not None
    for part, counts in counted(frames_of, str(Path(viewer.__file__).parent)).items():
        found[part] |= counts
    return found


class Frames:
    """A controller without a window, in which something has begun to move.

    Raises:
        AssertionError: nothing moves, or the compiled solver is not there.
    """

    def __init__(self, rig: str) -> None:
        """Press on the first effector that has a goal, or (turn) on the bone to it, and move; or (play) play."""
        import viewer
        from viewer.document import new_document
        from viewer.session import Session
        from viewer.ui import Controller, Move, Press, Rect, state_of

        what, _, name = rig.rpartition(":")
        self._move = Move
        self._session: Any = Session(new_document(viewer.load(f"sample:{name}")))
        self._controller: Any = Controller(self._session)
        self._controller.viewport = Rect(*VIEW)
        self._now, self._count = 0.0, 0
        self._x, self._y, self._plays = 0.0, 0.0, what == "play"
        self.frame(lambda _, act: act(), still=True)
        if self._plays:
            self._session.set_speed(self._session.document.frame_time / TICK)
            self._session.play()
        else:
            state = state_of(self._controller, WINDOW)
            held = next(entry for entry in state["effectors"] if entry["goal"])
            self._x, self._y = self._bone(held["name"]) if what == "turn" else held["screen"]
            self._controller.handle(Press("left", self._x, self._y))
        for _ in range(WARM):
            self.frame(lambda _, act: act())
        assert self._plays or self._controller.dragging, f"{rig}: nothing was taken"
        served = self._session.kernels.state
        assert served == "ready", f"{served}: the compiled solver is not ready"

    def _bone(self, effector: str) -> tuple[float, float]:
        """Where the bone above an effector is pressed, once joints are dragged and not goals."""
        from viewer.document import Mode
        from viewer.document.actions import SetMode

        self._session.dispatch(SetMode(Mode.FK))
        scene, skeleton = self._controller.scene(), self._session.document.skeleton
        joint = next(one.joint for one in skeleton.effectors if one.name == effector)
        middle = scene.world.positions[[joint, skeleton.parents[joint]]].mean(axis=0)
        x, y = self._controller.projection().project(middle).tolist()
        return x + VIEW[0], y + VIEW[1]

    def frame(self, do: Callable[[str, Callable[[], object]], object], *, still: bool = False) -> None:
        """Do the parts of one frame, each through ``do(part, act)``."""
        self._now += TICK
        self._count += not still
        turn = 0.0 if still or self._plays else self._count / 15.0
        event = self._move(self._x + RADIUS * math.sin(turn), self._y + RADIUS * (math.cos(turn) - 1.0))
        do("event", lambda: self._controller.handle(event))
        do("tick", lambda: self._controller.tick(self._now))
        do("draw list", self._controller.draw_list)
        do("panels", self._read)

    def _read(self) -> None:
        for name in READ:
            value = getattr(self._controller, name, None)
            if callable(value):
                value()


def counted(frames: Frames, folder: str) -> Figures:
    """Calls, functions and files of a frame, the medians of some frames."""
    rows = defaultdict[str, list[dict[str, float]]](list)
    for _ in range(COUNTED):
        seen: dict[str, list[CodeType]] = {}

        def note(part: str, act: Callable[[], object], seen: dict[str, list[CodeType]] = seen) -> None:
            seen[part] = calls(act)

        frames.frame(note)
        seen[FRAME] = [code for part in PARTS for code in seen[part]]
        for part, codes in seen.items():
            rows[part].append(counts(codes, folder))
    return {
        part: {name: statistics.median(one[name] for one in found) for name in found[0]} for part, found in rows.items()
    }


def listed(rig: str) -> Iterator[str]:
    """A line for each file that a frame passes through, those of the most calls last."""
    import viewer
    from viewer.ik import warm_up

    warm_up(wait=True)
    assert viewer.__file__ is not None
    frames, folder = Frames(rig), str(Path(viewer.__file__).parent)
    files = defaultdict[str, Counter[str]](Counter)

    def note(part: str, act: Callable[[], object]) -> None:
        for code in calls(act):
            if code.co_filename.startswith(folder):
                files[code.co_filename[len(folder) + 1 :]][f"{part}: {code.co_qualname}"] += 1

    frames.frame(note)
    yield f"{rig}: {sum(found.total() for found in files.values())} calls in {len(files)} files"
    for file, found in sorted(files.items(), key=lambda item: item[1].total()):
        yield f"  {found.total():3} {file}: " + ", ".join(f"{name} {count}x" for name, count in found.items())


def calls(act: Callable[[], object]) -> list[CodeType]:
    """The code of every Python function that is called, call by call."""
    found: list[CodeType] = []

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            found.append(frame.f_code)

    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(None)
    return found


def counts(codes: list[CodeType], folder: str) -> dict[str, float]:
    """How many calls, of how many functions, in how many files."""
    ours = [code for code in codes if code.co_filename.startswith(folder)]
    others = [code for code in codes if not code.co_filename.startswith((folder, __file__))]
    files = {code.co_filename for code in ours}
    return {"calls": len(ours), "functions": len({*ours}), "files": len(files), "other calls": len(others)}


# Of all runs


def middle(runs: list[dict[str, Figures]]) -> dict[str, Figures]:
    """By rig the medians of the figures of all runs."""
    return {
        rig: {
            part: {name: statistics.median(run[rig][part][name] for run in runs) for name in row}
            for part, row in parts.items()
        }
        for rig, parts in runs[0].items()
    }


def tables(middles: dict[str, dict[str, Figures]], arguments: argparse.Namespace) -> Iterator[str]:
    """For each rig a table: a column for each checkout."""
    names = [*middles]
    width = max(10, *(len(name) for name in names)) + 2
    for rig in arguments.rigs.split(","):
        ratio = f"{'ratio':>8}" if len(names) == 2 else ""
        lines = [f"{rig + ':':31}" + "".join(f"{name:>{width}}" for name in names) + ratio]
        for figure, parts in (
            ("ms", (*PARTS, FRAME)),
            ("calls", (*PARTS, FRAME)),
            ("other calls", (FRAME,)),
            ("functions", (FRAME,)),
            ("files", (FRAME,)),
        ):
            for part in parts:
                row = [middles[name][rig][part][figure] for name in names]
                digits = 3 if figure == "ms" else 0
                cells = "".join(f"{value:{width},.{digits}f}" for value in row)
                part_of = f"{row[1] / row[0]:8.2f}" if len(row) == 2 and row[0] else ""
                lines.append(f"  {figure + ' of the ' + part:29}{cells}{part_of}")
        yield "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
