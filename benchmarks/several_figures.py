"""How smoothly several figures play: frame times by number of figures, where the time goes, and memory.

    python benchmarks/several_figures.py [--json] [--most N] [--frames N] [--joints N]

Each figure has its own skeleton of so many joints and a clip in which all of them turn; all play in a window of
1280x720 without a screen, on whatever OpenGL draws there (Mesa's llvmpipe on a machine without a graphics card), each
frame finished before the next begins. Milliseconds are the median of the frames: of the whole frame, and within it of
the session's tick (clock, poses) and the draw list. Memory is what the figures add to that of a window with one.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import time

import numpy as np

import viewer
from viewer.app.application import open_window
from viewer.document import new_document
from viewer.session import Session
from viewer.session.figures import abreast
from viewer.session.user_files import Preferences

SIZE = (1280, 720)
FRAME = 1.0 / 30.0
LENGTH = 240
WANTED = 30.0


def dancer(joints: int, seed: int) -> viewer.Character:
    """A figure of a body, limbs and a head, with so many joints, that moves."""
    rng = np.random.default_rng(seed)
    build = viewer.Builder(name=f"dancer {seed}")
    build.add("Hips", offset=(0.0, 0.95, 0.0))
    chains = {"Spine": (0.0, 0.09, 0.0), "LeftLeg": (0.09, -0.16, 0.0), "RightLeg": (-0.09, -0.16, 0.0),
              "LeftArm": (0.12, 0.05, 0.0), "RightArm": (-0.12, 0.05, 0.0)}  # fmt: skip
    names, last = [*chains], dict.fromkeys(chains, "Hips")
    for number in range(joints - 1):
        name = names[number % len(names)]
        made = f"{name}{number // len(names)}"
        build.add(made, last[name], offset=chains[name])
        last[name] = made
    skeleton = build.skeleton
    times = np.linspace(0.0, 8.0, LENGTH)[:, None]
    angles = 0.12 * np.sin(times * rng.uniform(0.5, 2.0, joints) + rng.uniform(0.0, 6.0, joints))
    rotations = np.zeros((LENGTH, joints, 4))
    rotations[..., 0], rotations[..., 3] = np.sin(angles / 2.0), np.cos(angles / 2.0)
    roots = skeleton.offsets[:1] + np.concatenate([np.zeros((LENGTH, 2)), 0.01 * times], axis=1)
    clip = viewer.Clip("dance", FRAME, rotations, np.array([0]), roots[:, None], skeleton.offsets)
    return viewer.Character(skeleton, {"dance": clip})


def played(count: int, frames: int, joints: int) -> dict[str, float]:
    """Milliseconds of frames in which so many figures play."""
    documents = [("", new_document(dancer(joints, seed))) for seed in range(count)]
    session = Session(documents[0][1], figures=abreast(documents))
    app = open_window(session, Preferences(), size=SIZE)
    now = [0.0]
    app.clock = app.inputs.clock = lambda: now[0]
    session.play()
    whole, ticks, lists = [], [], []
    for index in range(frames + 20):
        now[0] += FRAME
        start = time.perf_counter()
        session.tick(now[0])
        ticked = time.perf_counter()
        app.controller.draw_list()
        listed = time.perf_counter()
        app.step(now[0])
        app.device.context.finish()
        if index >= 20:
            whole.append(1e3 * (time.perf_counter() - start))
            ticks.append(1e3 * (ticked - start))
            lists.append(1e3 * (listed - ticked))
    level = str(app.quality.level)
    app.close()
    ordered = sorted(whole)
    return {
        "median_ms": statistics.median(ordered), "least_ms": ordered[0], "p90_ms": ordered[int(0.9 * len(ordered))],
        "tick_ms": statistics.median(ticks), "draw_list_ms": statistics.median(lists),
        "fps": 1e3 / statistics.median(ordered), "memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "quality": float(level) if level.isdigit() else -1.0,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--most", type=int, default=6)
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--joints", type=int, default=30)
    chosen = parser.parse_args()
    counts = [one for one in (1, 2, 3, 6, 12, 25, 50, 100) if one <= chosen.most]
    found = {count: played(count, chosen.frames, chosen.joints) for count in counts}
    if chosen.json:
        print(json.dumps(found))
        return
    for count, one in found.items():
        more = one["memory_mb"] - found[counts[0]]["memory_mb"]
        print(
            f"{count:4} figures of {chosen.joints} joints: {one['fps']:6.1f} fps, {one['median_ms']:5.1f} ms median, "
            f"{one['least_ms']:5.1f} least, {one['p90_ms']:5.1f} of 9 in 10 (tick {one['tick_ms']:.1f}, draw list "
            f"{one['draw_list_ms']:.1f}), +{more:.0f} MB; wanted {WANTED:.0f} fps of six"
        )


if __name__ == "__main__":
    main()
