"""The draw list of a view: the scene, gizmo or drag shapes, effects of a drag, captions and readout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import numpy as np

from viewer.document import Item
from viewer.gizmo import Fill, Shape, Stroke
from viewer.latest import Latest
from viewer.scene import DrawList, Scene, Text, cell_shown, draw_list, rgba, text_width
from viewer.scene.drawlist import right_end
from viewer.scene.flat import circle
from viewer.session import Session
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
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


WorkspacePart: TypeAlias = Retargeting | Building | Simulating | Laboratory
"""The part behind a workspace of its own, which is ticked, drawn and says its status while that is open."""


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
        parts: Mapping[Workspace, WorkspacePart],
    ) -> None:
        self._session, self._view, self._scenes, self._hit_test = session, view, scenes, hit_test
        self._effects, self._demos, self._parts = effects, demos, parts
        self._drawn, self._demo, self._cell = Latest[DrawList](), Latest[bool](), Latest[float]()

    def draw_list(self) -> DrawList:
        """The draw list; the same object until something changes."""
        view = self._view
        return self._drawn.of(self._made, equal=(view.revision, view.viewport, view.scale))

    def _made(self) -> DrawList:
        view, gesture = self._view, self._view.gesture
        scene, projection, scale = self._scenes.scene(), view.projection(), view.scale
        shapes: list[Shape] = []
        words: list[Text] = []
        if self._effects.running:
            shapes += self._effects.shapes(scene, projection, scale)
        if self._is_demo():
            shapes += self._demos.shapes(projection, scale)
        part = self._parts.get(view.workspace)
        if part is not None:
            shapes += part.shapes(projection, scale)
            words += part.texts(projection, scale)
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
        lens = "Orthographic" if view.camera.orthographic else "Perspective"
        cell = self._cell_shown(scene, projection) if scene.display.grid else None
        building = part if isinstance(part, Building) else None
        captions = _captions(lens + (building.caption() if building else ""), view.viewport.h, scale, cell)
        drawn = draw_list(scene, projection, scale, shapes, captions, words)
        if building and building.empty:
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
        if self._view.dragging and not self._view.reduce_motion:
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
