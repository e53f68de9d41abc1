"""The draw list of a view: the scene, gizmo or drag shapes, effects of a drag, captions and readout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document import Item
from viewer.gizmo import Fill, Shape, Stroke
from viewer.latest import Latest
from viewer.scene import DrawList, Scene, Text, cell_shown, draw_list, rgba, text_width
from viewer.scene.drawlist import right_end
from viewer.scene.flat import box, circle, dashes
from viewer.session import Session
from viewer.skeleton import JointKind, rest_world
from viewer.skeleton.joint_edits import MIDDLE, twin_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import rotate
from viewer.ui import number_format
from viewer.ui.build_workspace import Building
from viewer.ui.contact import RadiusMover, radius_shapes
from viewer.ui.demo_commands import Demos
from viewer.ui.dragging import Drag, HitTest
from viewer.ui.laboratory import Laboratory
from viewer.ui.onion_skin import TrailMover, trail_shapes
from viewer.ui.pointing import BoxSelection
from viewer.ui.range_handles import RangeDrag, chip, end_handles, end_shapes
from viewer.ui.retargeting import Retargeting
from viewer.ui.scene_builder import SceneBuilder
from viewer.ui.simulating import Simulating
from viewer.ui.view import Gesture, View, Workspace

_CAPTION, _MARGIN = 13, 16.0
"""Text size of the captions, and distance of their middle from the view's edges, logical pixels."""
_READOUT, _BESIDE = 15, 22.0
"""Text size of the readout, and its distance from the pointer, logical pixels."""

RING_SECONDS, FLASH_SECONDS = 0.4, 0.2
_RING_FROM, _RING_TO = 9.0, 16.0
"""Radii of the ring, logical pixels."""
_FLASH_RADIUS, _FLASH_ALPHA = 11.0, 0.7

_FLIP = np.array([-1.0, 1.0, 1.0])
_BELT, _WIDE = 0.14, 0.09
"""Parts of a bone's length: from its start to its widest place, and its width there, as bones of figures have."""
_DASH, _GAP = 6.0, 4.0
_CHIP, _PAD, _APART = 26.0, 10.0, 10.0
"""Height of the chip beside the pointer, its padding, and the space between its words, logical pixels."""
_AXIS = 0.16
"""Half length of the axis of a hinge, as a fraction of the figure's height."""


class Drawing:
    """The draw list of a view, cached until something visible changes."""

    def __init__(
        self,
        session: Session,
        view: View,
        scenes: SceneBuilder,
        hit_test: HitTest,
        effects: Effects,
        demos: Demos,
        workspaces: Mapping[Workspace, Retargeting | Simulating | Laboratory],
        building: Building,
    ) -> None:
        self._session, self._view, self._scenes, self._hit_test = session, view, scenes, hit_test
        self._effects, self._demos, self._workspaces, self._building = effects, demos, workspaces, building
        self._drawn, self._demo, self._cell = Latest[DrawList](), Latest[bool](), Latest[float]()

    def draw_list(self) -> DrawList:
        """The draw list; the same object until something changes."""
        view = self._view
        return self._drawn.of(self._made, equal=(view.revision, view.viewport, view.scale))

    def _made(self) -> DrawList:
        view, gesture, building = self._view, self._view.gesture, self._building
        scene, projection, scale = self._scenes.scene(), view.projection(), view.scale
        builds = view.workspace is Workspace.BUILD
        shapes: list[Shape] = []
        words: list[Text] = []
        if self._effects.running:
            shapes += self._effects.shapes(scene, projection, scale)
        if self._is_demo():
            shapes += self._demos.shapes(projection, scale)
        workspace = self._workspaces.get(view.workspace)
        if workspace is not None:
            shapes += workspace.shapes(projection, scale)
            words += workspace.texts(projection, scale)
        if builds:
            shapes += build_shapes(building, view)
        if isinstance(gesture, Drag):
            shapes += gesture.shapes(projection, scale)
            words.append(self._readout(gesture))
            if isinstance(gesture.mover, RadiusMover):
                shapes += self._radii()
            elif isinstance(gesture.mover, TrailMover):
                shapes += self._trail(scene, gesture.mover.item, gesture.mover.frame, gesture.mover.reach)
        else:
            shapes += [*self._handles(gesture, projection), *self._radii()]
            hit = view.hovered.hit
            if hit is not None and hit.trail is not None and hit.trail.item is not None:
                shapes += self._trail(scene, hit.trail.item, hit.place, view.trail_reach)
            rings, texts = self._ends()
            shapes += rings
            words += texts
        if builds:
            words += build_texts(building, view)
        lens = "Orthographic" if view.camera.orthographic else "Perspective"
        cell = self._cell_shown(scene, projection) if scene.display.grid else None
        captions = _captions(lens + (building.caption() if builds else ""), view.viewport.h, scale, cell)
        drawn = draw_list(scene, projection, scale, shapes, captions, words)
        if builds and building.empty:
            drawn = replace(drawn, spheres=drawn.spheres[:0], capsules=drawn.capsules[:0])
        return drawn

    def _cell_shown(self, scene: Scene, projection: Projection) -> float:
        """As of `cell_shown`, measured anew only when the camera or the figure is another."""
        scale = self._view.scale
        return self._cell.of(lambda: cell_shown(scene, projection, scale), projection, scene.skeleton, equal=scale)

    def _is_demo(self) -> bool:
        return self._demo.of(lambda: self._demos.current is not None, self._session.document.character)

    def _trail(self, scene: Scene, item: Item, frame: int, reach: int) -> list[Shape]:
        """The frame of a trail that is held or under the pointer, and the frames that follow it."""
        trail = next((one for one in scene.trails if one.item == item), None)
        if trail is None:
            return []
        view = self._view
        return trail_shapes(self._session.document, trail, (frame, reach), view.projection(), view.scale)

    def _ends(self) -> tuple[list[Shape], tuple[Text, ...]]:
        """Rings at the ends of ranges, and the words of the one that is held or under the pointer."""
        view, session, hit = self._view, self._session, self._view.hovered.hit
        drag = view.gesture if isinstance(view.gesture, RangeDrag) else None
        if session.clock.playing or (isinstance(view.gesture, Drag) and drag is None):
            return [], ()
        ends, projection, scale = end_handles(session.document, view.display), view.projection(), view.scale
        lit = drag.held if drag is not None else None
        if drag is None and hit is not None and hit.kind == "limit":
            lit = hit.place, hit.upper
        rings = end_shapes(ends, lit, projection, scale)
        held = next((end for end in ends if (end.place, end.upper) == lit), None)
        if held is None:
            return rings, ()
        note = drag.note() if drag is not None else ""
        framed, texts = chip(session.document, held, note, projection, view.viewport.size, scale)
        return [*rings, *framed], texts

    def _radii(self) -> Sequence[Shape]:
        """Rings where radii are dragged."""
        view = self._view
        return radius_shapes(self._session.document, view.display, view.projection(), view.scale, view.hovered.hit)

    def _handles(self, gesture: Gesture | None, projection: Projection) -> list[Shape]:
        """The frame of a box selection, or the gizmo while it is not dragged."""
        scale = self._view.scale
        if isinstance(gesture, RangeDrag):
            return []
        if isinstance(gesture, BoxSelection):
            corners = gesture.corners()
            return [Fill(corners, "accent", 0.12), Stroke(corners, scale, "accent", 1.0, closed=True)]
        gizmo = self._hit_test.gizmo()
        return [] if gizmo is None else gizmo.shapes(projection, scale, self._view.hovered.part)

    def _readout(self, drag: Drag) -> Text:
        """The readout of a drag, right of the pointer, or left of it where it would leave the view or meet the axes."""
        view, words, scale = self._view, drag.readout, self._view.scale
        (x, y), height = view.local(view.pointer.x, view.pointer.y), view.viewport.h
        beside, edge, wide = _BESIDE * scale, 8.0 * scale, text_width(words, _READOUT * scale)
        line = 0.5 * _READOUT * scale + edge
        middle = max(min(y - beside, height - line), line)
        end = right_end(view.projection(), middle - line, scale) - edge
        left = x + beside if x + beside + wide < end else x - beside - wide
        return Text(words, max(min(left, end - wide), edge), middle, rgba("text"), _READOUT, "left")


@lru_cache(maxsize=4)
def _captions(projection: str, height: int, scale: float, cell: float | None) -> tuple[Text, ...]:
    """Captions in the corners: the projection, and the size of the grid's cells; ``height``: pixels of the view."""
    margin = _MARGIN * scale
    lens = Text(projection, margin, margin, rgba("text2"), _CAPTION)
    if cell is None:
        return (lens,)
    return lens, Text(f"Grid {number_format.step(cell)}", margin, height - margin, rgba("text3"), _CAPTION)


class _Effect(NamedTuple):
    """A ring around a goal's target, or a flash of a joint; ``name`` is the goal's id or the joint's name."""

    ring: bool
    name: str
    since: float


class Effects:
    """Rings and flashes, which only drags start: opening or undoing starts none.

    Attributes:
        running: those under way.
    """

    def __init__(self, view: View, scenes: SceneBuilder) -> None:
        self._view, self._scenes = view, scenes
        self._missed: frozenset[str] | None = None
        self._at_limit: frozenset[int] = frozenset()
        self.running: list[_Effect] = []

    def tick(self, now: float) -> bool:
        """Start and end effects; whether any runs."""
        if self._view.dragging and not self._view.preferences.reduce_motion:
            self._begin(self._scenes.scene(), now)
        else:
            self._missed = None
        if self.running:
            left = [one for one in self.running if now - one.since < (RING_SECONDS if one.ring else FLASH_SECONDS)]
            self.running = left
            self._view.changed()
        return bool(self.running)

    def _begin(self, scene: Scene, now: float) -> None:
        missed = frozenset(
            mark.name for mark in scene.marks if not (mark.reached or mark.quiet) and mark.target is not None
        )
        if self._missed is not None:
            self.running += [_Effect(ring=True, name=name, since=now) for name in missed - self._missed]
            names = (scene.skeleton.names[joint] for joint in scene.at_limit - self._at_limit)
            self.running += [_Effect(ring=False, name=name, since=now) for name in names]
        self._missed, self._at_limit = missed, scene.at_limit

    def shapes(self, scene: Scene, projection: Projection, scale: float) -> list[Shape]:
        """Shapes of the running effects."""
        shapes: list[Shape] = []
        for effect in self.running:
            position = _place(scene, effect)
            pixel = None if position is None else projection.project(position)
            if pixel is None or not np.isfinite(pixel).all():
                continue
            part = min((self._view.now - effect.since) / (RING_SECONDS if effect.ring else FLASH_SECONDS), 1.0)
            if effect.ring:
                radius = (_RING_FROM + part * (_RING_TO - _RING_FROM)) * scale
                shapes.append(Stroke(circle(pixel, radius), 2.0 * scale, "unreached", 1.0 - part, closed=True))
            else:
                disc = circle(pixel, _FLASH_RADIUS * scale)
                shapes.append(Fill(disc, "limit", _FLASH_ALPHA * (1.0 - part)))
        return shapes


def _place(scene: Scene, effect: _Effect) -> Floats | None:
    if effect.ring:
        return next((mark.target for mark in scene.marks if mark.name == effect.name), None)
    names = scene.skeleton.names
    return scene.world.positions[names.index(effect.name)] if effect.name in names else None


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
    if place is None or not np.isfinite(at := projection.project(place)).all():
        return shapes
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
    if ends is not None and np.isfinite(at := projection.project(ends[0])).all():
        x, y = at.tolist()
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
    if place is None or not np.isfinite(at := projection.project(place)).all():  # typed lengths end behind the camera
        return tuple(texts)
    x, y, _ = _chip_place(building, view, at, place)
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
    corners = box(x, y, x + wide, y + _CHIP * view.scale)
    return [Fill(corners, "panel", 0.94), Stroke(corners, view.scale, "line_hi", closed=True)]


def _ring(at: Floats, radius: float, colour: str, width: float) -> list[Shape]:
    return [Stroke(circle(at, radius), width, colour, closed=True)] if np.isfinite(at).all() else []


def _cross(at: Floats, inner: float, outer: float, scale: float) -> list[Shape]:
    if not np.isfinite(at).all():
        return []
    ways = np.array([(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])
    return [Stroke(np.stack([at + inner * way, at + outer * way]), 1.4 * scale, "hovered") for way in ways]


def _dashed(start: Floats, end: Floats, scale: float, colour: str, width: float = 1.4) -> list[Shape]:
    if not 0.0 < float(np.linalg.norm(end - start)) < 1e4:
        return []
    return [Stroke(piece, width * scale, colour) for piece in dashes(start, end, _DASH * scale, _GAP * scale)]


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
    axis = rotate(rest_world(skeleton).rotations[here], skeleton.axes[here, 0])
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
