"""The draw list of a view: the scene, gizmo or drag shapes, effects of a drag, captions and readout."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import DrawList, Ground, Scene, Text, draw_list, rgba, text_width
from viewer.session import Session
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import number_format
from viewer.ui.build_shapes import build_shapes, build_texts
from viewer.ui.build_workspace import Building
from viewer.ui.contact import RadiusMover, radius_shapes
from viewer.ui.demo_commands import Demos
from viewer.ui.dragging import Drag
from viewer.ui.hit_test import HitTest
from viewer.ui.laboratory import Laboratory
from viewer.ui.pointing import Box
from viewer.ui.range_handles import RangeDrag, chip, end_handles, end_shapes
from viewer.ui.retargeting import Retargeting
from viewer.ui.scene_builder import SceneBuilder
from viewer.ui.simulating import Simulating
from viewer.ui.trails import TrailMover, trail_shapes
from viewer.ui.view import View

_CAPTION, _MARGIN = 13, 16.0
"""Text size of the captions, and distance of their middle from the view's edges, logical pixels."""
_READOUT, _BESIDE = 15, 22.0
"""Text size of the readout, and its distance from the pointer, logical pixels."""


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
        workspaces: tuple[Retargeting, Simulating, Laboratory],
        building: Building,
    ) -> None:
        """Start without a cached list."""
        self._session, self._view, self._scenes, self._hit_test = session, view, scenes, hit_test
        self._effects, self._demos, self._workspaces, self._building = effects, demos, workspaces, building
        self._drawn: tuple[object, DrawList] | None = None

    def draw_list(self) -> DrawList:
        """The draw list; the same object until something changes."""
        view = self._view
        key = (view.revision, view.viewport, view.scale)
        building = self._building
        if self._drawn is None or self._drawn[0] != key:
            rings, words = self._ends()
            drawn = draw_list(self._scenes.scene(), view.projection(), view.scale, [*self._shapes(), *rings])
            if building.on and building.empty:
                drawn = replace(drawn, spheres=drawn.spheres[:0], capsules=drawn.capsules[:0])
            own = *self._strings(), *words, *self._readout(), *build_texts(building, view)
            self._drawn = key, replace(drawn, texts=(*self._captions(drawn.ground), *drawn.texts, *own))
        return self._drawn[1]

    def _shapes(self) -> list[Shape]:
        """Effects, demo shapes, and the gizmo or the frame of a box selection."""
        projection, scale = self._view.projection(), self._view.scale
        return [
            *self._effects.shapes(self._scenes.scene(), projection, scale),
            *self._demos.shapes(projection, scale),
            *(shape for part in self._workspaces for shape in part.shapes(projection, scale)),
            *build_shapes(self._building, self._view),
            *self._held_shapes(),
            *self._radii(),
            *self._trail(),
        ]

    def _trail(self) -> list[Shape]:
        """The frame of a trail that is held or under the pointer, and the frames that follow it."""
        view, hit = self._view, self._view.hovered.hit
        mover = view.gesture.mover if isinstance(view.gesture, Drag) else None
        if isinstance(mover, TrailMover):
            item, frame, reach = mover.item, mover.frame, mover.reach
        elif hit is not None and hit.trail is not None and hit.trail.item is not None:
            item, frame, reach = hit.trail.item, hit.place, view.trail_reach
        else:
            return []
        trail = next((one for one in self._scenes.scene().trails if one.item == item), None)
        if trail is None:
            return []
        return trail_shapes(self._session.document, trail, (frame, reach), view.projection(), view.scale)

    def _strings(self) -> tuple[Text, ...]:
        """Names at the ends of the string that is selected or dragged, and the force of a pull."""
        projection, scale = self._view.projection(), self._view.scale
        return tuple(text for part in self._workspaces for text in part.texts(projection, scale))

    def _ends(self) -> tuple[list[Shape], tuple[Text, ...]]:
        """Rings at the ends of ranges, and what the one says that is held or under the pointer."""
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
        """Rings where radii are dragged; none while anything else is."""
        view = self._view
        if isinstance(view.gesture, Drag) and not isinstance(view.gesture.mover, RadiusMover):
            return []
        return radius_shapes(self._session.document, view.display, view.projection(), view.scale, view.hovered.hit)

    def _held_shapes(self) -> list[Shape]:
        view, gesture = self._view, self._view.gesture
        projection, scale = view.projection(), view.scale
        if isinstance(gesture, Drag):
            return gesture.shapes(projection, scale)
        if isinstance(gesture, RangeDrag):
            return []
        if isinstance(gesture, Box):
            corners = gesture.corners()
            frame = Stroke(corners, scale, "accent", 1.0, closed=True)
            return [Fill(corners, "accent", 0.12), frame]
        gizmo = self._hit_test.gizmo()
        return [] if gizmo is None else gizmo.shapes(projection, scale, view.hovered.part)

    def _captions(self, ground: Ground) -> list[Text]:
        """Captions in the corners: the projection, and the size of the grid's cells."""
        view, scale = self._view, self._view.scale
        lens = "Orthographic" if view.camera.orthographic else "Perspective"
        margin, bottom = _MARGIN * scale, view.viewport.h - _MARGIN * scale
        captions = [Text(lens + self._building.caption(), margin, _MARGIN * scale, rgba("text2"), _CAPTION)]
        if ground.grid:
            captions.append(Text(f"Grid {number_format.step(ground.cell)}", margin, bottom, rgba("text3"), _CAPTION))
        return captions

    def _readout(self) -> tuple[Text, ...]:
        """The readout of a drag, right of the pointer; left of it near the view's right edge."""
        view, gesture = self._view, self._view.gesture
        if not isinstance(gesture, Drag):
            return ()
        (x, y), scale = view.local(*view.pointer_at), view.scale
        wide = text_width(gesture.readout, _READOUT * scale)
        right = x + (_BESIDE + 8.0) * scale + wide < view.viewport.w
        x += (_BESIDE if right else -_BESIDE) * scale
        return (Text(gesture.readout, x, y - _BESIDE * scale, rgba("text"), _READOUT, "left" if right else "right"),)


RING_SECONDS, FLASH_SECONDS = 0.4, 0.2
_RING_FROM, _RING_TO = 9.0, 16.0
"""Radii of the ring, logical pixels."""
_FLASH_RADIUS, _FLASH_ALPHA = 11.0, 0.7
_CIRCLE = np.stack([np.cos(np.linspace(0.0, 2.0 * np.pi, 33)[:-1]), np.sin(np.linspace(0.0, 2.0 * np.pi, 33)[:-1])], 1)


class _Effect(NamedTuple):
    """A ring around a goal's target, or a flash of a joint; ``name`` is the goal's id or the joint's name."""

    ring: bool
    name: str
    since: float


class Effects:
    """Rings and flashes, which only drags start: opening or undoing starts none."""

    def __init__(self, view: View, scenes: SceneBuilder) -> None:
        """Start without effects."""
        self._view, self._scenes = view, scenes
        self._missed: frozenset[str] | None = None
        self._stuck: frozenset[int] = frozenset()
        self._running: list[_Effect] = []
        self._now = 0.0

    def tick(self, now: float) -> bool:
        """Start and end effects; whether any runs."""
        self._now = now
        if self._view.dragging and not self._view.preferences.reduce_motion:
            self._begin(self._scenes.scene(), now)
        else:
            self._missed = None
        if self._running:
            left = [one for one in self._running if now - one.since < (RING_SECONDS if one.ring else FLASH_SECONDS)]
            self._running = left
            self._view.changed()
        return bool(self._running)

    def _begin(self, scene: Scene, now: float) -> None:
        missed = frozenset(
            mark.name for mark in scene.marks if not (mark.reached or mark.quiet) and mark.target is not None
        )
        if self._missed is not None:
            self._running += [_Effect(ring=True, name=name, since=now) for name in missed - self._missed]
            names = (scene.skeleton.names[joint] for joint in scene.at_limit - self._stuck)
            self._running += [_Effect(ring=False, name=name, since=now) for name in names]
        self._missed, self._stuck = missed, scene.at_limit

    def shapes(self, scene: Scene, projection: Projection, scale: float) -> list[Shape]:
        """Shapes of the running effects."""
        shapes: list[Shape] = []
        for effect in self._running:
            position = _place(scene, effect)
            pixel = None if position is None else projection.project(position)
            if pixel is None or not np.isfinite(pixel).all():
                continue
            part = min((self._now - effect.since) / (RING_SECONDS if effect.ring else FLASH_SECONDS), 1.0)
            if effect.ring:
                radius = (_RING_FROM + part * (_RING_TO - _RING_FROM)) * scale
                shapes.append(Stroke(pixel + radius * _CIRCLE, 2.0 * scale, "unreached", 1.0 - part, closed=True))
            else:
                circle = pixel + _FLASH_RADIUS * scale * _CIRCLE
                shapes.append(Fill(circle, "limit", _FLASH_ALPHA * (1.0 - part)))
        return shapes


def _place(scene: Scene, effect: _Effect) -> Floats | None:
    if effect.ring:
        return next((mark.target for mark in scene.marks if mark.name == effect.name), None)
    names = scene.skeleton.names
    return scene.world.positions[names.index(effect.name)] if effect.name in names else None
