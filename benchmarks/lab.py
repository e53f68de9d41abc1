"""What the laboratory costs a drag: a frame's time with eight methods solving beside it, and without.

    python benchmarks/lab.py [--rig biped] [--frames 240]

A hand is dragged round a circle at 60 frames per second by the compiled solver: in the workspace Pose, in Lab with
eight methods whose thread rests (their ghosts are drawn and stand still), and in Lab while they work, six of them on
numpy. A frame is the answer to one move of the mouse, the tick and the draw list; nothing is painted, and no screen is
needed. Times are of the clock: what the thread takes from the window is the difference of the last two rows. Rounds
alternate; medians are of all their frames. How old ghosts are in the drag: the time since their goals stood where the
ghosts have them, compiled methods and all. How late: from the drag's end to the last method's answer.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

METHODS = ("default", "dls", "sdls", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse")
COMPILED = ("default", "dls")
FRAME, RADIUS = 1.0 / 60.0, 40.0


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rig", default="biped")
    made.add_argument("--frames", type=int, default=240)
    made.add_argument("--rounds", type=int, default=3)
    arguments = made.parse_args()
    with tempfile.TemporaryDirectory() as home:
        import os

        os.environ["IKVIEWER_HOME"] = home
        from viewer.ik import warm_up

        warm_up(wait=True)
        rows = {"pose": Found(), "lab, at rest": Found(), "lab": Found()}
        for _ in range(arguments.rounds):
            for name, found in rows.items():
                dragged(arguments.rig, arguments.frames, name, found)
    print("workspace      ms a frame   p95    p99   ghosts' age, ms: compiled, others   late, ms")
    for name, found in rows.items():
        frames = sorted(found.frames)
        p95, p99 = (frames[int(part * len(frames))] for part in (0.95, 0.99))
        line = f"{name:12} {statistics.median(frames):12.2f} {p95:6.2f} {p99:6.2f}"
        if name == "lab":
            ages = [statistics.median(found.ages[kind]) for kind in (True, False)]
            line += f" {ages[0]:25.0f} {ages[1]:8.0f} {statistics.median(found.late):10.0f}"
        print(line)


@dataclass
class Found:
    """Milliseconds: of frames, from a drag's end to the last ghost, and ages of ghosts (compiled methods or others)."""

    frames: list[float] = field(default_factory=list)
    late: list[float] = field(default_factory=list)
    ages: dict[bool, list[float]] = field(default_factory=lambda: {True: [], False: []})


def dragged(rig: str, count: int, name: str, found: Found) -> None:
    """One drag."""
    import viewer
    from viewer.document import new_document
    from viewer.session import Session
    from viewer.ui import Controller, Move, Press, Rect, Release

    controller = Controller(Session(new_document(viewer.load(f"sample:{rig}"))))
    controller.viewport = Rect(228, 66, 756, 514)
    lab = controller.laboratory
    lab.methods = METHODS  # type: ignore[assignment]
    controller.run("workspace." + name.split(",", maxsplit=1)[0])
    controller.tick(0.0)
    lab.worker.wait(60.0)
    if name.endswith("rest"):
        lab.worker.solve = lambda *_, **__: None  # type: ignore[method-assign]
    goal = next(goal for goal in controller.session.document.goals if goal.enabled and goal.effector == "LeftHand")
    assert goal.position is not None
    x, y = controller.projection().project(list(goal.position)).tolist()
    x, y = x + 228, y + 66
    controller.handle(Move(x, y))
    controller.handle(Press("left", x, y))
    stood: dict[object, float] = {}
    for k in range(count):
        began = time.perf_counter()
        turn = 2.0 * math.pi * k / 120.0
        controller.handle(Move(x + RADIUS * math.sin(turn), y - RADIUS * (1.0 - math.cos(turn))))
        controller.tick(began)
        controller.draw_list()
        spent = time.perf_counter() - began
        stood[controller.session.document.goal(goal.id).position] = began
        if k >= 20:
            found.frames.append(1e3 * spent)
            for method in lab.traces:
                newest = lab.worker.answer(method)
                problem = lab.worker.traced[method] if newest is None else newest[0]
                at = next(one.target for one in problem.goals if one.effector == "LeftHand")
                if at in stood:
                    found.ages[method in COMPILED].append(1e3 * (began - stood[at]))
        time.sleep(max(0.0, FRAME - (time.perf_counter() - began)))
    controller.handle(Release("left", x, y))
    began = time.perf_counter()
    controller.tick(began)
    lab.worker.wait(60.0)
    found.late.append(1e3 * (time.perf_counter() - began))


if __name__ == "__main__":
    main()
