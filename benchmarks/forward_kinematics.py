"""How many frames a second does forward kinematics turn from local to world, beside pymotion and pybvh?

The bundled walk, repeated, in one run, in turn, medians; all results are compared first. pymotion (on PyPI:
upc-pymotion) starts from quaternions as we do; pybvh from angles, so that it has the sines to do as well.

    python benchmarks/forward_kinematics.py [--frames N] [--runs N] [--file FILE]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import statistics
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from viewer.formats.load import load
from viewer.formats.save import save
from viewer.skeleton import Character, fk, fk_clip

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.skeleton import Clip, Skeleton
    from viewer.spatial.checks import Floats

    Contestant = Callable[[], Floats]

AGREEMENT_M = 1e-5
"""Metres: files hold a limited number of decimals, and pybvh starts from one."""


def repeated(clip: Clip, frames: int) -> Clip:
    """The clip again and again, so many frames in all."""
    chosen = np.arange(frames) % len(clip)
    return replace(clip, rotations=clip.rotations[chosen], translations=clip.translations[chosen])


def contestants(skeleton: Skeleton, clip: Clip) -> dict[str, Contestant]:
    """By name, what gives the world positions (F, J, 3) of all frames."""
    found: dict[str, Contestant] = {"viewer": lambda: fk_clip(skeleton, clip).positions}
    only_root = clip.translated.tolist() == [0] and len(skeleton.roots) == 1
    if only_root:
        with contextlib.suppress(ImportError):
            found |= pymotion(skeleton, clip)
        with contextlib.suppress(ImportError):
            found |= pybvh(skeleton, clip)
    return found


def pymotion(skeleton: Skeleton, clip: Clip) -> dict[str, Contestant]:
    """Its quaternions are (w, x, y, z); its own arrays are made before the clock starts."""
    from pymotion.ops import skeleton as ops

    turns = np.ascontiguousarray(np.roll(clip.rotations, 1, axis=-1))
    roots, offsets = np.array(clip.translations[:, 0]), np.array(skeleton.offsets)
    parents = np.maximum(skeleton.parents, 0)

    def positions(run: Callable[..., Any]) -> Contestant:
        return lambda: np.asarray(run(turns, roots, offsets, parents)[0])

    found = {"pymotion fk": positions(ops.fk)}
    if hasattr(ops, "fk_quat"):
        found["pymotion fk_quat"] = positions(ops.fk_quat)
    return found


def pybvh(skeleton: Skeleton, clip: Clip) -> dict[str, Contestant]:
    """It reads a BVH file of ours; its cache is passed by."""
    import pybvh as library

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "clip.bvh")
        save(Character(skeleton, {clip.name: clip}), path)
        read = library.read_bvh_file(path, world_up="+y")
    joints = [not node.is_end_site() for node in read.nodes]
    return {"pybvh": lambda: library.frames_to_node_positions(read, read.root_pos, read.joint_angles)[:, joints]}


def main() -> int:
    parser = argparse.ArgumentParser(description="Time forward kinematics.")
    parser.add_argument("--frames", type=int, default=5000)
    parser.add_argument("--runs", type=int, default=9)
    parser.add_argument("--file", default="sample:walk")
    arguments = parser.parse_args()
    character = load(arguments.file)
    skeleton, clip = character.skeleton, character.clip
    if clip is None:
        sys.exit(f"{arguments.file}: has no motion")
    clip = repeated(clip, arguments.frames)
    found = contestants(skeleton, clip)
    ours = found["viewer"]()
    for name, run in found.items():
        apart = float(np.abs(run() - ours).max())
        if apart > AGREEMENT_M:
            sys.exit(f"{name} is {apart:.1e} m away from our positions: nothing to compare")
    times: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(arguments.runs):
        for name, run in found.items():
            start = time.perf_counter()
            run()
            times[name].append(time.perf_counter() - start)
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"{arguments.file}: {len(skeleton)} joints, {len(clip)} frames, medians of {arguments.runs}")
    floor = statistics.median(times["viewer"])
    for name, seconds in times.items():
        median = statistics.median(seconds)
        print(f"  {name:18} {len(clip) / median:12,.0f} frames/s  {median / floor:6.2f} times our time")
    pose = clip.pose(0)
    start = time.perf_counter()
    for _ in range(200):
        fk(skeleton, pose)
    print(f"  one pose           {(time.perf_counter() - start) / 200 * 1e6:12,.0f} us")
    return 0


if __name__ == "__main__":
    sys.exit(main())
