"""What the laboratory costs a drag: a frame's time with eight methods solving beside it, and without.

    python benchmarks/lab.py [--rig biped] [--frames 240]

A hand is dragged round a circle at 60 frames per second by the compiled solver, first in the workspace Pose, then in
Lab with eight methods, of which six run on numpy in their thread. A frame is the answer to one move of the mouse, the
tick and the draw list; nothing is painted, and no screen is needed. Times are of the clock: what the thread takes from
the window is in them. How late the ghosts are: the milliseconds from a drag's end to the last method's answer.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

METHODS = ("default", "dls", "sdls", "ccd", "ccd-from-base", "fabrik", "transpose", "pseudo-inverse")
FRAME, RADIUS = 1.0 / 60.0, 40.0


def main() -> None:
    made = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    made.add_argument("--rig", default="biped")
    made.add_argument("--frames", type=int, default=240)
    arguments = made.parse_args()
    with tempfile.TemporaryDirectory() as home:
        import os

        os.environ["IKVIEWER_HOME"] = home
        from viewer.ik import warm_up

        warm_up(wait=True)
        print("workspace      ms a frame   p95    p99   ghosts late, ms")
        for workspace in ("pose", "lab"):
            frames, late = dragged(arguments.rig, arguments.frames, workspace)
            frames.sort()
            p95, p99 = (frames[int(part * len(frames))] for part in (0.95, 0.99))
            print(f"{workspace:12} {statistics.median(frames):12.2f} {p95:6.2f} {p99:6.2f} {late:12.0f}")


def dragged(rig: str, count: int, workspace: str) -> tuple[list[float], float]:
    """Milliseconds of each frame, and how late the last ghost was."""
    import viewer
    from viewer.session import Session, new_document
    from viewer.ui import Controller, Move, Press, Rect, Release

    controller = Controller(Session(new_document(viewer.load(f"sample:{rig}"))))
    controller.viewport = Rect(228, 66, 756, 514)
    lab = controller.laboratory
    lab.methods = METHODS  # type: ignore[assignment]
    controller.run(f"workspace.{workspace}")
    controller.tick(0.0)
    lab.worker.wait(60.0)
    goal = next(goal for goal in controller.session.document.goals if goal.enabled and goal.effector == "LeftHand")
    assert goal.position is not None
    x, y = controller.projection().project(list(goal.position)).tolist()
    x, y = x + 228, y + 66
    controller.handle(Move(x, y))
    controller.handle(Press("left", x, y))
    frames = []
    for k in range(count):
        began = time.perf_counter()
        turn = 2.0 * math.pi * k / 120.0
        controller.handle(Move(x + RADIUS * math.sin(turn), y - RADIUS * (1.0 - math.cos(turn))))
        controller.tick(began)
        controller.draw_list()
        frames.append(1e3 * (time.perf_counter() - began))
        time.sleep(max(0.0, FRAME - (time.perf_counter() - began)))
    controller.handle(Release("left", x, y))
    began = time.perf_counter()
    controller.tick(began)
    lab.worker.wait(60.0)
    return frames[20:], 1e3 * (time.perf_counter() - began)


if __name__ == "__main__":
    main()
