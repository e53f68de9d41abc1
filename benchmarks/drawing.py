"""How long a frame takes to draw, and each of its passes alone.

    python benchmarks/drawing.py [--size 1280x720] [--seconds 1]

Milliseconds, the least and the median, with the graphics card's work finished. A pass is measured by drawing the
background and that pass. The figures are the bundled walk's, as many side by side as there are bones to draw.
"""

from __future__ import annotations

import argparse
import statistics
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

import viewer
from viewer.opengl.gpu_objects import RenderTarget, create_context, read_picture
from viewer.opengl.pictures import scene_of
from viewer.opengl.renderer import Renderer
from viewer.scene import Camera, draw_list, figure_points

if TYPE_CHECKING:
    import moderngl

    from viewer.scene import DrawList
    from viewer.spatial.projection import Projection

FRAME = 20
BONES = (31, 1000)
SAMPLES = (0, 4)
APART = 0.7
"""Metres between figures."""


def crowd(count: int, size: tuple[int, int]) -> tuple[DrawList, Projection]:
    """So many bones, with their joints, all in view."""
    character = viewer.load("sample:walk")
    assert character.clip is not None
    scene = scene_of(character, character.clip.pose(FRAME))
    points = figure_points(scene.skeleton, scene.world)
    camera = Camera(np.zeros(3)).looking("three-quarter")
    one = draw_list(scene, camera.frame(points, size).projection(size))
    figures = -(-count // len(one.bones))
    side = int(np.ceil(np.sqrt(figures)))
    places = [np.array([i % side, 0.0, i // side]) * APART for i in range(figures)]
    bones, spheres = [], []
    for place in places:
        moved, joints = one.bones.copy(), one.spheres.copy()
        moved["frame"][:, :, 3] += place
        joints["centre"] += place
        bones.append(moved)
        spheres.append(joints)
    all_points = np.concatenate([points + place for place in places])
    whole = replace(one, bones=np.concatenate(bones)[:count], spheres=np.concatenate(spheres)[:count])
    return whole, camera.frame(all_points, size).projection(size)


def passes(whole: DrawList) -> dict[str, DrawList]:
    """The draw list, and what is left of it for each pass."""
    nothing = replace(
        whole,
        bones=whole.bones[:0],
        spheres=whole.spheres[:0],
        lines=whole.lines[:0],
        triangles=whole.triangles[:0],
        flat=whole.flat[:0],
        ghosts=whole.ghosts[:0],
        ground=replace(whole.ground, grid=False, shadow=False),
    )
    ghosts = whole.bones.copy()
    ghosts["colour"][:, 3] = 0.15
    return {
        "whole frame": whole,
        "... without shadow": replace(whole, ground=replace(whole.ground, shadow=False)),
        "background": nothing,
        "+ grid": replace(nothing, ground=replace(whole.ground, shadow=False)),
        "+ bones": replace(nothing, bones=whole.bones),
        "+ spheres": replace(nothing, spheres=whole.spheres),
        "+ as many ghosts": replace(nothing, ghosts=ghosts),
    }


def measured(ctx: moderngl.Context, drawn: DrawList, projection: Projection, samples: int, seconds: float) -> str:
    """The least and the median of as many frames as fit in so many seconds; the bones are new in each."""
    renderer, target = Renderer(ctx, samples), RenderTarget(ctx).sized(projection.size)
    times: list[float] = []
    until = time.perf_counter() + seconds
    while time.perf_counter() < until or len(times) < 3:
        # Copies, as a drag makes them: what is drawn again and again would not be written to the card.
        fresh = replace(drawn, bones=drawn.bones.copy(), spheres=drawn.spheres.copy())
        start = time.perf_counter()
        renderer.draw(fresh, projection, target)
        ctx.finish()
        times.append(1e3 * (time.perf_counter() - start))
    read_picture(target)
    return f"{min(times):6.1f} {statistics.median(times):6.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="1280x720", metavar="WxH")
    parser.add_argument("--seconds", type=float, default=1.0, help="for each figure")
    arguments = parser.parse_args()
    width, height = (int(part) for part in arguments.size.split("x"))
    ctx = create_context()
    print(f"{ctx.info['GL_RENDERER']}, {width} x {height}, milliseconds: least and median")
    for count in BONES:
        whole, projection = crowd(count, (width, height))
        print(f"\n{count} bones{'':16}" + "".join(f"{samples} samples     " for samples in SAMPLES))
        for name, drawn in passes(whole).items():
            cells = [measured(ctx, drawn, projection, samples, arguments.seconds) for samples in SAMPLES]
            print(f"  {name:<20}" + "   ".join(cells))


if __name__ == "__main__":
    main()
