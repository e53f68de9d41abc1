"""What is drawn of a view: the scene, over it the gizmo or what is held, captions and the readout of a drag."""

from __future__ import annotations

from dataclasses import replace

from viewer.gizmo import Fill, Shape, Stroke
from viewer.scene import DrawList, Ground, Text, draw_list, rgba
from viewer.scene.annotations import text_width
from viewer.ui import numbers
from viewer.ui.demos import Demos
from viewer.ui.dragging import Drag
from viewer.ui.effects import Effects
from viewer.ui.hit_test import HitTest
from viewer.ui.picture import SceneBuilder
from viewer.ui.pointing import Box
from viewer.ui.view import View

_CAPTION, _MARGIN = 13, 16.0
"""Size of the words in the view's corners, and how far their middle is from its edges, logical pixels."""
_READOUT, _BESIDE = 15, 22.0
"""Size of the words beside the pointer, and how far from it they are, logical pixels."""


class Drawing:
    """The draw list of a view, kept until something visible changes."""

    def __init__(self, view: View, scenes: SceneBuilder, hit_test: HitTest, effects: Effects, demos: Demos) -> None:
        """Nothing is worked out yet."""
        self._view, self._scenes, self._hit_test = view, scenes, hit_test
        self._effects, self._demos = effects, demos
        self._drawn: tuple[object, DrawList] | None = None

    def draw_list(self) -> DrawList:
        """What is to be drawn; the same object until something changes."""
        view = self._view
        key = (view.revision, view.viewport, view.scale)
        if self._drawn is None or self._drawn[0] != key:
            drawn = draw_list(self._scenes.scene(), view.projection(), view.scale, self._shapes())
            self._drawn = key, replace(drawn, texts=(*self._captions(drawn.ground), *drawn.texts, *self._readout()))
        return self._drawn[1]

    def _shapes(self) -> list[Shape]:
        """Short answers, and over them the gizmo or the frame of a box selection."""
        projection, scale = self._view.projection(), self._view.scale
        return [
            *self._effects.shapes(self._scenes.scene(), projection, scale),
            *self._demos.shapes(projection, scale),
            *self._held_shapes(),
        ]

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
        """In the corners of the view: how it is looked at, and how large the grid's cells are."""
        view, scale = self._view, self._view.scale
        lens = "Orthographic" if view.camera.orthographic else "Perspective"
        margin, bottom = _MARGIN * scale, view.viewport.h - _MARGIN * scale
        captions = [Text(lens, margin, _MARGIN * scale, rgba("text2"), _CAPTION)]
        if ground.grid:
            captions.append(Text(f"Grid {numbers.step(ground.cell)}", margin, bottom, rgba("text3"), _CAPTION))
        return captions

    def _readout(self) -> tuple[Text, ...]:
        """How far a drag has gone, beside the pointer; on its other side near the view's right edge."""
        view, gesture = self._view, self._view.gesture
        if not isinstance(gesture, Drag):
            return ()
        (x, y), scale = view.local(*view.pointer_at), view.scale
        wide = text_width(gesture.readout, _READOUT * scale)
        right = x + (_BESIDE + 8.0) * scale + wide < view.viewport.w
        x += (_BESIDE if right else -_BESIDE) * scale
        return (Text(gesture.readout, x, y - _BESIDE * scale, rgba("text"), _READOUT, "left" if right else "right"),)
