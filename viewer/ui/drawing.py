"""The draw list of a view: the scene, gizmo or drag shapes, captions and the readout of a drag."""

from __future__ import annotations

from dataclasses import replace

from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import DrawList, Ground, Text, draw_list, rgba
from viewer.scene.annotations import text_width
from viewer.session import Session
from viewer.ui import numbers
from viewer.ui.demos import Demos
from viewer.ui.dragging import Drag
from viewer.ui.effects import Effects
from viewer.ui.hit_test import HitTest
from viewer.ui.picture import SceneBuilder
from viewer.ui.pointing import Box
from viewer.ui.radii import RadiusMover, radius_shapes
from viewer.ui.view import View

_CAPTION, _MARGIN = 13, 16.0
"""Text size of the captions, and distance of their middle from the view's edges, logical pixels."""
_READOUT, _BESIDE = 15, 22.0
"""Text size of the readout, and its distance from the pointer, logical pixels."""


class Drawing:
    """The draw list of a view, cached until something visible changes."""

    def __init__(
        self, session: Session, view: View, scenes: SceneBuilder, hit_test: HitTest, effects: Effects, demos: Demos
    ) -> None:
        """Start without a cached list."""
        self._session, self._view, self._scenes, self._hit_test = session, view, scenes, hit_test
        self._effects, self._demos = effects, demos
        self._drawn: tuple[object, DrawList] | None = None

    def draw_list(self) -> DrawList:
        """The draw list; the same object until something changes."""
        view = self._view
        key = (view.revision, view.viewport, view.scale)
        if self._drawn is None or self._drawn[0] != key:
            drawn = draw_list(self._scenes.scene(), view.projection(), view.scale, self._shapes())
            self._drawn = key, replace(drawn, texts=(*self._captions(drawn.ground), *drawn.texts, *self._readout()))
        return self._drawn[1]

    def _shapes(self) -> list[Shape]:
        """Effects, demo shapes, and the gizmo or the frame of a box selection."""
        projection, scale = self._view.projection(), self._view.scale
        return [
            *self._effects.shapes(self._scenes.scene(), projection, scale),
            *self._demos.shapes(projection, scale),
            *self._held_shapes(),
            *self._radii(),
        ]

    def _radii(self) -> list[Shape]:
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
        captions = [Text(lens, margin, _MARGIN * scale, rgba("text2"), _CAPTION)]
        if ground.grid:
            captions.append(Text(f"Grid {numbers.step(ground.cell)}", margin, bottom, rgba("text3"), _CAPTION))
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
