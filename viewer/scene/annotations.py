"""Words and axes beside joints: names, the axes of selected joints, frame numbers above ghosts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import shown
from viewer.scene.look import figure_points, look_of
from viewer.scene.palette import rgba
from viewer.scene.primitives import Text
from viewer.scene.texts import text_width
from viewer.spatial.quaternion import to_matrix

if TYPE_CHECKING:
    from viewer.scene.lines import Lines
    from viewer.scene.scene import Scene
    from viewer.spatial.checks import Bools, Ints
    from viewer.spatial.projection import Projection

_SMALL = 13
_AXIS_PX, _LETTER_PX, _AXIS_WIDTH = 38.0, 9.0, 2.0
_NAME_ASIDE, _NAME_HEIGHT = 14.0, 15.0
_ABOVE = 0.05
"""Ghosts' labels float this part of H above their heads."""
_LABEL_WIDE = 34.0
"""Pixels of the design that a label of a ghost takes, with a little room beside it."""
_CELL = 4.0
"""Pixels of the cells in which the view is marked as taken."""


def draw_axes(scene: Scene, projection: Projection, scale: float, lines: Lines) -> list[Text]:
    """Add the axes of the selected joints, of one length on the screen, and return their letters."""
    if not (scene.display.axes and scene.selected):
        return []
    joints = sorted(scene.selected)
    places = scene.world.positions[joints]
    pixels = projection.pixels_per_metre(places)
    seen = pixels > 0.0
    places, turns = places[seen], to_matrix(scene.world.rotations[joints])[seen]
    texts = []
    for axis, name in enumerate("xyz"):
        way = turns[:, :, axis] / pixels[seen, None] * scale
        lines.segments(places, places + _AXIS_PX * way, rgba(name), _AXIS_WIDTH)
        tips = projection.project(places + (_AXIS_PX + _LETTER_PX) * way)
        for x, y in tips[projection.inside(tips, 0.0)].tolist():
            texts.append(Text(name.upper(), x, y, rgba(name), _SMALL, "centre", bold=True))
    return texts


def ghost_labels(scene: Scene, projection: Projection, scale: float = 1.0) -> list[Text]:
    """Which frame each ghost is of, above its head; of those that would overlap the nearest one's stays."""
    texts: list[Text] = []
    height = scene.height or look_of(scene.skeleton).height
    for ghost in sorted(scene.ghosts, key=lambda one: -one.alpha):
        points = figure_points(scene.skeleton, ghost.world)
        top = points[int(np.argmax(points[:, 1]))] + (0.0, _ABOVE * height, 0.0)
        pixel = projection.project(top)
        if ghost.label and projection.inside(pixel):
            x, y = pixel.tolist()
            if not any(abs(x - other.x) < _LABEL_WIDE * scale and abs(y - other.y) < _SMALL * scale for other in texts):
                texts.append(Text(ghost.label, x, y, rgba("ghost"), _SMALL, "centre"))
    return texts


def name_texts(scene: Scene, projection: Projection, scale: float) -> list[Text]:
    """Names of joints: all, where they are to be shown; always of joints at a limit that are looked at.

    A name that would cover another is left out; selected joints, handles and thick bones' joints go first.
    """
    joints = _named(scene)
    if not joints.size:
        return []
    pixels = projection.project(scene.world.positions[joints])
    fits = projection.inside(pixels)
    taken = np.zeros(
        (int(projection.size[1] / (_CELL * scale)) + 2, int(projection.size[0] / (_CELL * scale)) + 2), bool
    )
    texts = []
    for joint, (x, y) in zip(joints[fits].tolist(), pixels[fits].tolist(), strict=True):
        limited = joint in scene.at_limit and joint in scene.selected
        words = shown(scene.skeleton.names[joint]) + (" at its limit" if limited else "")
        left = x + _NAME_ASIDE * scale
        wide = text_width(words, _SMALL * scale)
        if _take(taken, (left, y - 0.5 * _NAME_HEIGHT * scale, wide, _NAME_HEIGHT * scale), scale):
            texts.append(Text(words, left, y, _name_colour(scene, joint, limited=limited), _SMALL))
    return texts


def _named(scene: Scene) -> Ints:
    """Joints to be named, those first that matter most."""
    if not scene.display.names:
        return np.array(sorted(scene.at_limit & scene.selected), dtype=np.intp)
    handles = {mark.joint for mark in scene.marks}
    rank = dict.fromkeys(range(len(scene.skeleton)), 3) | dict.fromkeys(handles, 2) | dict.fromkeys(scene.selected, 1)
    rank[scene.hovered] = 0
    rank.pop(-1, None)
    return np.array(sorted(rank, key=lambda joint: (rank[joint], joint)), dtype=np.intp)


def _name_colour(scene: Scene, joint: int, *, limited: bool) -> tuple[float, float, float, float]:
    if limited:
        return rgba("limit")
    if joint == scene.hovered:
        return rgba("hovered")
    return rgba("accent" if joint in scene.selected else "text2")


def _take(taken: Bools, place: tuple[float, float, float, float], scale: float) -> bool:
    """Mark a box (left, top, width, height) as taken if it is free."""
    left, top, wide, high = (number / (_CELL * scale) for number in place)
    rows = slice(max(int(top), 0), max(int(top + high) + 1, 0))
    columns = slice(max(int(left), 0), max(int(left + wide) + 1, 0))
    if taken[rows, columns].any():
        return False
    taken[rows, columns] = True
    return True
