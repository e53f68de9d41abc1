"""Draws the picture of the README: one stride of the bundled walk as a row of stick figures, seen from its side.

    python benchmarks/walk_strip.py [OUT.png]

Needs Pillow, which the window's library brings along.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from PIL import Image, ImageDraw

import viewer
from viewer.skeleton.extent import tip_positions

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

WIDTH, HEIGHT = 920, 216
OVERSAMPLING = 4
FIGURES = 8
BACKGROUND, GROUND = "#1A1D20", "#3A4046"
LEFT, RIGHT, MIDDLE = "#86A6C6", "#D3A27C", "#BCC2CA"
COLOURS = 48
YAW, PITCH = np.radians(62.0), np.radians(7.0)
METRES_HIGH = 1.98
FLOOR = 0.075
"""Part of the picture's height that lies below the ground under the figures."""
THICK, HEAD = 0.034, 0.085
"""Metres: a bone's width, the head's radius."""


def projected(points: Floats) -> Floats:
    """Points (N, 3) in metres -> (N, 3): right, up and towards the eye."""
    x, y, z = points.T
    right, towards = z * np.sin(YAW) - x * np.cos(YAW), x * np.sin(YAW) + z * np.cos(YAW)
    return np.stack([right, y * np.cos(PITCH) - towards * np.sin(PITCH), towards], axis=-1)


def bones(skeleton: viewer.Skeleton, world: viewer.World) -> list[tuple[Floats, str]]:
    """Both ends (2, 3) of every bone, projected, and the name of its end; the farthest first."""
    below_hips = world.positions[0] * (1.0, 0.0, 1.0)
    joints = projected(world.positions - below_hips)
    tips = projected(tip_positions(skeleton, world) - below_hips)
    parents = skeleton.parents.tolist()
    found = [
        (np.stack([joints[parent], joints[child]]), skeleton.names[child])
        for child, parent in enumerate(parents)
        if parent >= 0
    ]
    found += [
        (np.stack([joints[parent], tip]), name)
        for parent, tip, name in zip(skeleton.tip_parents.tolist(), tips, skeleton.tip_names, strict=True)
    ]
    return sorted(found, key=lambda bone: float(bone[0][:, 2].mean()))


def draw_figure(pen: ImageDraw.ImageDraw, skeleton: viewer.Skeleton, world: viewer.World, centre: float) -> None:
    """One figure, its hips above ``centre`` (a part of the picture's width)."""
    scale = HEIGHT * OVERSAMPLING / METRES_HIGH
    origin = np.array([centre * WIDTH, (1.0 - FLOOR) * HEIGHT]) * OVERSAMPLING
    for ends, name in bones(skeleton, world):
        (x1, y1), (x2, y2) = (origin + ends[:, :2] * (scale, -scale)).tolist()
        colour = {"L": LEFT, "R": RIGHT}.get(name[0], MIDDLE)
        pen.line((x1, y1, x2, y2), fill=colour, width=round(THICK * scale))
        dots = [(x1, y1, 0.6 * THICK), (x2, y2, 0.6 * THICK)]
        if name == "Head.tip":
            dots.append(((x1 + x2) / 2, (y1 + y2) / 2, HEAD))
        for x, y, radius in dots:
            r = radius * scale
            pen.ellipse((x - r, y - r, x + r, y + r), fill=colour)


def main(out: Path) -> None:
    """Draw the figures large and shrink them, which smooths their edges."""
    character = viewer.load("sample:walk")
    clip = character.clip
    assert clip is not None
    image = Image.new("RGB", (WIDTH * OVERSAMPLING, HEIGHT * OVERSAMPLING), BACKGROUND)
    pen = ImageDraw.Draw(image)
    ground = round(image.height * (1.0 - FLOOR))
    pen.line((0, ground, image.width, ground), fill=GROUND, width=OVERSAMPLING)
    stride = len(clip) / 2
    for number in range(FIGURES):
        world = viewer.fk(character.skeleton, clip.pose(round(number * stride / FIGURES)))
        draw_figure(pen, character.skeleton, world, (number + 0.5) / FIGURES)
    small = image.resize((WIDTH, HEIGHT), Image.Resampling.LANCZOS)
    small.quantize(COLOURS, dither=Image.Dither.NONE).save(out, optimize=True)
    print(f"{out}: {out.stat().st_size} bytes")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "walk.png"))
