"""How long the frames of a skinned figure take: matrices, draw list, shadow, picture.

    python benchmarks/skin.py [--vertices 50000] [--size 1280x720] [--seconds 3] [--influences 4]

A tube round each bone of the bundled walk, with a picture and smooth normals, follows the joints by
weight. Milliseconds a frame, least and median, with the graphics card's work finished, and the memory of the process.
"""

from __future__ import annotations

import argparse
import io
import resource
import statistics
import time
from dataclasses import replace

import numpy as np
from PIL import Image

import viewer
from viewer.opengl.gpu_objects import RenderTarget, create_context
from viewer.opengl.pictures import camera_of, scene_of
from viewer.opengl.renderer import Renderer
from viewer.scene import draw_list
from viewer.skeleton import Character, Skin, fk
from viewer.skeleton.attached import Material, Mesh, Picture
from viewer.spatial.checks import Floats

AROUND = 24
"""Vertices of a ring."""
RADIUS = 0.05
"""Metres."""


def picture() -> Picture:
    """1024 x 1024 coloured squares."""
    rows, columns = np.indices((1024, 1024)) // 64
    colours = np.stack([rows * 15, columns * 15, 255 - rows * 7], axis=-1).astype(np.uint8)
    held = io.BytesIO()
    Image.fromarray(colours).save(held, "PNG")
    return Picture(held.getvalue())


def dressed(vertices: int, influences: int) -> Character:
    """The bundled walk with tubes of about so many vertices round its bones."""
    character = viewer.load("sample:walk")
    skeleton = character.skeleton
    rest = fk(skeleton, skeleton.rest_pose())
    bones = [(parent, joint) for joint, parent in enumerate(skeleton.parents.tolist()) if parent >= 0]
    rings = max(2, vertices // (AROUND * len(bones)))
    turn = np.linspace(0.0, 2.0 * np.pi, AROUND)
    ring = np.stack([np.cos(turn), np.zeros(AROUND), np.sin(turn)], axis=1)
    arrays: list[list[Floats]] = [[] for _ in range(6)]
    places, normals, spots, joints, weights, faces = arrays
    for parent, joint in bones:
        for step, part in enumerate(np.linspace(0.0, 1.0, rings)):
            middle = (1.0 - part) * rest.positions[parent] + part * rest.positions[joint]
            first = AROUND * len(places)
            places.append(middle + RADIUS * ring)
            normals.append(ring)
            spots.append(np.stack([turn / 6.3, np.full(AROUND, part)], axis=1))
            near = [(joint - i) % len(skeleton) for i in range(influences - 2)]
            joints.append(np.tile([parent, joint, *near], (AROUND, 1)))
            weights.append(np.tile([0.9 * (1 - part), 0.9 * part, *[0.1 / max(1, len(near))] * len(near)], (AROUND, 1)))
            if step:
                here = np.arange(AROUND - 1) + first
                faces += [
                    np.stack([here - AROUND, here, here + 1], axis=1),
                    np.stack([here - AROUND, here + 1, here + 1 - AROUND], axis=1),
                ]
    mesh = Mesh(
        name="tubes",
        positions=np.concatenate(places).astype(np.float32),
        triangles=np.concatenate(faces).astype(np.uint32),
        bindings=np.concatenate(joints).astype(np.uint16),
        weights=np.concatenate(weights).astype(np.float32),
        normals=np.concatenate(normals).astype(np.float32),
        places=np.concatenate(spots).astype(np.float32),
        material=Material(picture=picture()),
    )
    transforms = np.zeros((len(skeleton), 3, 4))
    transforms[:, :, :3] = viewer.quaternions.to_matrix(rest.rotations).swapaxes(1, 2)
    transforms[:, :, 3] = -np.einsum("jik,jk->ji", transforms[:, :, :3], rest.positions)
    skin = Skin((mesh,), np.arange(len(skeleton)), transforms, len(skeleton))
    return replace(character, skin=skin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vertices", type=int, default=50_000)
    parser.add_argument("--influences", type=int, default=4, choices=(4, 8))
    parser.add_argument("--size", default="1280x720", metavar="WxH")
    parser.add_argument("--seconds", type=float, default=3.0)
    arguments = parser.parse_args()
    width, height = (int(part) for part in arguments.size.split("x"))
    character = dressed(arguments.vertices, arguments.influences)
    clip, skin = character.clip, character.skin
    assert clip is not None
    assert skin is not None
    ctx = create_context()
    renderer, target = Renderer(ctx), RenderTarget(ctx).sized((width, height))
    print(f"{ctx.info['GL_RENDERER']}, {width} x {height}, {skin.vertices:,} vertices, "
          f"{len(skin.meshes[0].triangles):,} triangles, {arguments.influences} joints each")  # fmt: skip
    projection = camera_of("three-quarter", scene_of(character, clip.pose(0)), character, (width, height))
    seen = projection.projection((width, height))
    for words, body in (("sticks", "sticks"), ("skin", "skin"), ("skin, without shadow", "skin")):
        times: list[float] = []
        until, frame = time.perf_counter() + arguments.seconds, 0
        while time.perf_counter() < until or len(times) < 5:
            start = time.perf_counter()
            drawn = draw_list(scene_of(character, clip.pose(frame % len(clip)), body=body), seen)  # type: ignore[arg-type]
            if words.endswith("shadow"):
                drawn = replace(drawn, ground=replace(drawn.ground, shadow=False))
            renderer.draw(drawn, seen, target)
            ctx.finish()
            times.append(1e3 * (time.perf_counter() - start))
            frame += 1
        median = statistics.median(times[2:])
        print(f"  {words:<22}{min(times):7.1f} {median:7.1f} ms  {1e3 / median:6.1f} frames a second")
    print(f"  {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB at most")


if __name__ == "__main__":
    main()
