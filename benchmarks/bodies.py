"""How long a frame takes with the figure's bodies drawn instead of its bones.

    python benchmarks/bodies.py [FILE ...] [--size 1280x720] [--frames 60] [--rounds 5]

The default is the bundled walk and the biped with hands. Every frame has a new pose: draw list, shadows and picture are
all made again, and the graphics card has finished before the next. The ways to draw take turns, so that all of them
share what else the machine does. Milliseconds, least and median, and the median relative to sticks.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import viewer
from viewer.opengl.gpu_objects import RenderTarget, create_context
from viewer.opengl.pictures import camera_of, scene_of
from viewer.opengl.renderer import Renderer
from viewer.scene import draw_list
from viewer.skeleton import fk

if TYPE_CHECKING:
    from viewer.scene import DrawList, Scene

FILES = ("sample:walk", "sample:biped-hands")
WAYS = (
    "sticks",
    "bodies",
    "bodies, no contact shading",
    "bodies, no shadow",
    "sticks, no shadow",
    "bodies, seen through",
)


def scene_like(scene: Scene, way: str) -> Scene:
    bodies, through = way.startswith("bodies"), way.endswith("through")
    return replace(scene, display=replace(scene.display, bodies=bodies, skin=False, see_through=through))


def listed_like(drawn: DrawList, way: str) -> DrawList:
    if way.endswith("no shadow"):
        return replace(drawn, ground=replace(drawn.ground, shadow=False))
    return replace(drawn, shading="no contact shading" not in way)


def measure(file: str, size: tuple[int, int], frames: int, rounds: int) -> None:
    character = viewer.load(file)
    skeleton, clip = character.skeleton, character.clip
    poses = [skeleton.relaxed_pose() if clip is None else clip.pose(i % len(clip)) for i in range(frames)]
    first = scene_of(character, poses[0])
    seen = camera_of("three-quarter", first, character, size).projection(size)
    ctx = create_context()
    renderer, target = Renderer(ctx), RenderTarget(ctx).sized(size)
    counts = {way: len(draw_list(scene_like(first, way), seen).capsules) for way in WAYS[:2]}
    print(f"\n{file}: {len(skeleton)} joints, {counts['bodies']} capsules, {ctx.info['GL_RENDERER']}, {size}")
    times: dict[str, list[float]] = {way: [] for way in WAYS}
    for _ in range(rounds):
        for way in WAYS:
            for pose in poses:
                start = time.perf_counter()
                world = fk(skeleton, pose)
                drawn = draw_list(scene_like(replace(first, world=world), way), seen)
                renderer.draw(listed_like(drawn, way), seen, target)
                ctx.finish()
                times[way].append(1e3 * (time.perf_counter() - start))
    sticks = statistics.median(times["sticks"])
    for way in WAYS:
        median = statistics.median(times[way])
        print(f"  {way:<28}{np.min(times[way]):7.1f} {median:7.1f} ms {median / sticks:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", default=FILES, metavar="FILE")
    parser.add_argument("--size", default="1280x720", metavar="WxH")
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    width, height = (int(part) for part in arguments.size.split("x"))
    for file in arguments.files:
        measure(file, (width, height), arguments.frames, arguments.rounds)


if __name__ == "__main__":
    main()
