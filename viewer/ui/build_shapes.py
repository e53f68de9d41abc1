"""What the workspace Build draws over the skeleton: the next bone with its numbers, its twin, axis and mirror plane."""

from __future__ import annotations

import numpy as np

from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import Text, rgba, text_width
from viewer.skeleton import JointKind
from viewer.skeleton.building import MIDDLE, rest_of, twin_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import rotate
from viewer.ui.build_workspace import Building
from viewer.ui.view import View

_FLIP = np.array([-1.0, 1.0, 1.0])
_BELT, _WIDE = 0.14, 0.09
"""Of a bone's length: where it is widest, and how wide there, as the bones of the figure are."""
_DASH, _GAP = 6.0, 4.0
_CHIP, _PAD, _APART = 26.0, 10.0, 10.0
"""Height of the chip beside the pointer, its padding, and the space between its words, logical pixels."""
_AXIS = 0.16
"""Half length of the axis of a hinge, as a fraction of the figure's height."""


def build_shapes(building: Building, view: View) -> list[Shape]:
    """Strokes and fills in pixels of the view; none outside the workspace."""
    if not building.on:
        return []
    projection, scale = view.projection(), view.scale
    shapes = _mirror_plane(building, view, projection) if view.mirror else []
    shapes += _axis(building, view, projection)
    if building.active:
        at = projection.project(building.place_of(building.active))
        shapes += _ring(at, 9.0 * scale, "accent", 2.0 * scale)
    pointer = view.pointer
    found = building.hit(pointer.x, pointer.y) if view.gesture is None else None
    if found is not None:
        at = projection.project(found.point)
        if found.kind == "bone" and building.adding:
            shapes += _ring(at, 6.0 * scale, "hovered", 1.6 * scale) + _cross(at, 6.0 * scale, 10.0 * scale, scale)
        return shapes
    place = building.target(pointer.x, pointer.y, pointer.mods) if view.gesture is None else None
    if place is None:
        return shapes
    at = projection.project(place)
    if building.active:
        start = building.place_of(building.active)
        if view.mirror and abs(place[0]) > MIDDLE:
            twin = twin_of(building.document.skeleton, building.active)
            other = building.place_of(twin) if twin else start
            pixels = projection.project(np.stack([other, _FLIP * place]))
            shapes += _bone(pixels[0], pixels[1], scale, "text3", 0.10)
            shapes += _ring(pixels[1], 4.5 * scale, "text3", 1.4 * scale)
        shapes += _bone(projection.project(start), at, scale, "accent", 0.22)
        shapes += _chip(building, view, at, place)
    return shapes + _ring(at, 6.0 * scale, "hovered", 1.6 * scale) + _cross(at, 6.0 * scale, 11.0 * scale, scale)


def build_texts(building: Building, view: View) -> tuple[Text, ...]:
    """The words of the chip, of the axis and of the mirror plane."""
    if not building.on:
        return ()
    projection, scale = view.projection(), view.scale
    texts: list[Text] = []
    ends = _axis_ends(building, view)
    if ends is not None:
        x, y = projection.project(ends[0]).tolist()
        word = "slide" if building.kind is JointKind.SLIDE else "hinge axis"
        texts.append(Text(word, x + 9.0 * scale, y, rgba("text2"), 13, "left"))
    if view.mirror:
        corners = projection.project(_mirror_corners(building, view))
        if np.isfinite(corners).all():
            x, y = corners[np.argmin(corners[:, 1] - 1e-3 * corners[:, 0])].tolist()
            texts.append(Text("mirror", x + 6.0 * scale, y + 10.0 * scale, rgba("text3"), 13, "left"))
    pointer = view.pointer
    if view.gesture is not None or not building.active or building.hit(pointer.x, pointer.y) is not None:
        return tuple(texts)
    place = building.target(pointer.x, pointer.y, pointer.mods)
    if place is None:
        return tuple(texts)
    x, y, _ = _chip_place(building, view, projection.project(place), place)
    middle, x = y + 0.5 * _CHIP * scale, x + _PAD * scale
    for number, words in enumerate(building.bone_words(place)):
        if words:
            typing = building.typed.active and number == (0 if building.typed.index == 0 else 2)
            tone = "accent" if typing else "text" if number == 0 else "text2"
            texts.append(Text(words, x, middle, rgba(tone), 13, "left", halo=False, bold=number == 0))
            x += text_width(words, 13 * scale, bold=number == 0) + _APART * scale
    return tuple(texts)


def _chip_place(building: Building, view: View, at: Floats, place: Floats) -> tuple[float, float, float]:
    """Left, top and width of the chip beside the pointer, inside the view."""
    scale = view.scale
    words = building.bone_words(place)
    wide = sum(text_width(text, 13 * scale, bold=n == 0) + _APART * scale for n, text in enumerate(words) if text)
    wide += (2.0 * _PAD - _APART) * scale
    x, y = float(at[0]) + 18.0 * scale, float(at[1]) - (_CHIP + 12.0) * scale
    if x + wide > view.viewport.w - 8.0 * scale:
        x = float(at[0]) - 18.0 * scale - wide
    return max(x, 8.0 * scale), max(y, 8.0 * scale), wide


def _chip(building: Building, view: View, at: Floats, place: Floats) -> list[Shape]:
    x, y, wide = _chip_place(building, view, at, place)
    tall = _CHIP * view.scale
    corners = np.array([(x, y), (x + wide, y), (x + wide, y + tall), (x, y + tall)])
    return [Fill(corners, "panel", 0.94), Stroke(corners, view.scale, "line_hi", closed=True)]


def _ring(at: Floats, radius: float, colour: str, width: float) -> list[Shape]:
    angles = np.linspace(0.0, 2.0 * np.pi, 28, endpoint=False)
    points = at + radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return [Stroke(points, width, colour, closed=True)] if np.isfinite(at).all() else []


def _cross(at: Floats, inner: float, outer: float, scale: float) -> list[Shape]:
    if not np.isfinite(at).all():
        return []
    ways = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    return [Stroke(np.stack([at + inner * way, at + outer * way]), 1.4 * scale, "hovered") for way in ways]


def _dashed(start: Floats, end: Floats, scale: float, colour: str, width: float = 1.4) -> list[Shape]:
    way = end - start
    length = float(np.linalg.norm(way))
    if not 0.0 < length < 1e4:
        return []
    period = (_DASH + _GAP) * scale
    steps = np.arange(0.0, length, period)
    on = np.minimum(steps + _DASH * scale, length)
    return [
        Stroke(np.stack([start + way * (a / length), start + way * (b / length)]), width * scale, colour)
        for a, b in zip(steps.tolist(), on.tolist(), strict=True)
        if b > a
    ]


def _bone(start: Floats, end: Floats, scale: float, colour: str, alpha: float) -> list[Shape]:
    """A bone in pixels: filled, with dashed edges."""
    way = end - start
    length = float(np.linalg.norm(way))
    if not 1.0 < length < 1e4:
        return []
    across = np.array([-way[1], way[0]]) * min(_WIDE, 16.0 * scale / length)
    belt = start + _BELT * way
    corners = np.stack([start, belt + across, end, belt - across])
    edges = [piece for k in range(4) for piece in _dashed(corners[k], corners[(k + 1) % 4], scale, colour)]
    return [Fill(corners, colour, alpha), *edges, *_dashed(belt + across, belt - across, scale, colour, 1.0)]


def _axis_ends(building: Building, view: View) -> Floats | None:
    """(2, 3) the ends of the axis of the active hinge or slide."""
    if building.kind not in (JointKind.HINGE, JointKind.SLIDE):
        return None
    skeleton = building.document.skeleton
    here = skeleton.index(building.active)
    axis = rotate(rest_of(skeleton).rotations[here], skeleton.axes[here, 0])
    place, half = building.place_of(building.active), _AXIS * view.height
    axis = axis if axis @ view.projection().up >= 0.0 else -axis
    return np.stack([place + half * axis, place - half * axis])


def _axis(building: Building, view: View, projection: Projection) -> list[Shape]:
    ends = _axis_ends(building, view)
    if ends is None:
        return []
    pixels, scale = projection.project(ends), view.scale
    if not np.isfinite(pixels).all():
        return []
    length = float(np.linalg.norm(pixels[1] - pixels[0]))
    steps = np.arange(0.0, length, 5.0 * scale) / max(length, 1e-9)
    dots = pixels[0] + steps[:, None] * (pixels[1] - pixels[0])
    side = (pixels[1] - pixels[0]) / max(length, 1e-9) * scale
    return [Stroke(np.stack([dot - side, dot + side]), 2.0 * scale, "text") for dot in dots]


def _mirror_corners(building: Building, view: View) -> Floats:
    """(4, 3) corners of the part of the mirror plane that is drawn, round the skeleton."""
    places = building.rest
    room = 0.12 * view.height
    (_, low, near), (_, high, far) = places.min(axis=0) - room, places.max(axis=0) + room
    depth = max(far - near, 0.35 * view.height)
    middle = 0.5 * (near + far)
    near, far = middle - 0.5 * depth, middle + 0.5 * depth
    return np.array([(0.0, low, near), (0.0, high, near), (0.0, high, far), (0.0, low, far)])


def _mirror_plane(building: Building, view: View, projection: Projection) -> list[Shape]:
    if building.empty:
        return []
    corners = projection.project(_mirror_corners(building, view))
    if not np.isfinite(corners).all():
        return []
    return [piece for k in range(4) for piece in _dashed(corners[k], corners[(k + 1) % 4], view.scale, "text3", 1.2)]
