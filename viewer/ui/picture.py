"""What is shown, worked out from the session and the controller once per change: scene, handles, draw list."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.gizmo import Fill, Gizmo, Space, Stroke, Tool, axes_of
from viewer.scene import Scene, Text, draw_list, facing, figure_height, figure_points, floor_of, rgba
from viewer.scene.texts import text_width
from viewer.session.standing import below, world_of
from viewer.ui import grips, numbers
from viewer.ui.drag import Drag
from viewer.ui.echoes import Echoes
from viewer.ui.gestures import Box
from viewer.ui.scenes import Setting, scene_of

if TYPE_CHECKING:
    from viewer.gizmo import Shape
    from viewer.scene import DrawList, Ground
    from viewer.session import Document, Item
    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.spatial.checks import Floats
    from viewer.spatial.projection import Projection
    from viewer.ui.controller import Controller

_CAPTION, _MARGIN = 13, 16.0
"""Size of the words in the view's corners, and how far their middle is from its edges, logical pixels."""
_READOUT, _BESIDE = 15, 22.0
"""Size of the words beside the pointer, and how far from it they are, logical pixels."""


class Picture:
    """What one controller shows; all of it is kept until something changes."""

    def __init__(self, controller: Controller) -> None:
        """Nothing is worked out yet."""
        self._controller = controller
        self.echoes = Echoes(controller)
        self._projection: tuple[object, Projection] | None = None
        self._scene: tuple[object, Scene] | None = None
        self._drawn: tuple[object, DrawList] | None = None
        self._ground: tuple[Character, float] | None = None

    @property
    def document(self) -> Document:
        """The session's document."""
        return self._controller.session.document

    @property
    def world(self) -> World:
        """Where the joints are."""
        return world_of(self.document.skeleton, self.document.pose)

    @property
    def height(self) -> float:
        """H: the figure's size, metres."""
        return figure_height(self.document.skeleton)

    def projection(self) -> Projection:
        """From the world to the viewport's pixels."""
        key = (self._controller.camera, self._controller.viewport.size)
        if self._projection is None or self._projection[0] != key:
            self._projection = key, self._controller.camera.projection(self._controller.viewport.size)
        return self._projection[1]

    def facing(self) -> Floats:
        """(3,) where the figure looks, level: as it was loaded."""
        return facing(self.document.character)

    def figure_points(self) -> Floats:
        """(N, 3) joints and tips, as the figure stands now."""
        return figure_points(self.document.skeleton, self.world)

    def selected_points(self) -> Floats:
        """(N, 3) where the selected items are, and their targets."""
        points = [point for item in self.document.selection for point in grips.places(self.document, item)]
        return np.array(points).reshape(-1, 3)

    def selected_tips(self) -> Floats:
        """(N, 3) tips of selected joints, and of all that hangs on selected effectors: toes on a foot."""
        skeleton, chosen = self.document.skeleton, self.document.selection
        ends = below(skeleton, [self.joint_of(item) for item in chosen if item.kind == "effector"])
        ends[[self.joint_of(item) for item in chosen]] = True
        return self.figure_points()[len(skeleton) :][ends[skeleton.tip_parents]]

    def joint_of(self, item: Item) -> int:
        """The joint that an item is, or is fixed to."""
        return grips.joint_of(self.document, item)

    def is_root(self, item: Item) -> bool:
        """Whether an item is the handle of a root."""
        return grips.is_root(self.document, item)

    def grip(self, item: Item) -> tuple[Floats, Floats]:
        """(3,) and (4,), world: where an item is taken hold of: its target, or where it stands if it has none."""
        return grips.grip(self.document, item)

    def gizmo(self) -> Gizmo | None:
        """The handles at the active item; None where there is none to show, or something is played or dragged."""
        controller, item = self._controller, self.document.active
        if item is None or controller.tool is Tool.SELECT or controller.session.playing:
            return None
        if controller.tool is Tool.MOVE and not grips.can_move(self.document, item):
            return None  # turning is all that FK does, and a root that stands fast does not follow
        return self.gizmo_at(item, controller.tool)

    def gizmo_at(self, item: Item, tool: Tool) -> Gizmo:
        """Handles of an item, along the axes of the space chosen."""
        rotation = self.grip(item)[1]
        parent = int(self.document.skeleton.parents[self.joint_of(item)])
        above = self.world.rotations[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        space, projection = self._controller.space, self.projection()
        other = Space.LOCAL if space is Space.WORLD else Space.WORLD
        axes, others = (axes_of(one, rotation, above, projection) for one in (space, other))
        return Gizmo(tool, grips.pivot(self.document, item), axes, others, self._controller.unit)

    def scene(self) -> Scene:
        """What there is to see."""
        controller = self._controller
        asked = self.echoes.asked
        key = (
            controller.session.revision, controller.hovered.axis, controller.hovered_item(), controller.display, asked,
        )  # fmt: skip
        if self._scene is None or self._scene[0] != key:
            others = self.echoes.ghosts(), self.echoes.trails()
            setting = Setting(self.height, self._floor(), controller.hovered.axis, *others)
            made = scene_of(controller.session, controller.hovered_item(), controller.display, setting)
            self._scene = key, made
        return self._scene[1]

    def _floor(self) -> float:
        """Height of the ground: under the figure as it was loaded."""
        character = self.document.character
        if self._ground is None or self._ground[0] is not character:
            self._ground = character, floor_of(character)
        return self._ground[1]

    def draw_list(self) -> DrawList:
        """What is to be drawn; the same object until something changes."""
        controller = self._controller
        key = (controller.revision, controller.viewport, controller.scale)
        if self._drawn is None or self._drawn[0] != key:
            drawn = draw_list(self.scene(), self.projection(), controller.scale, self._shapes())
            self._drawn = key, replace(drawn, texts=(*self._captions(drawn.ground), *drawn.texts, *self._readout()))
        return self._drawn[1]

    def _shapes(self) -> list[Shape]:
        """Short answers, and over them the gizmo or the frame of a box selection."""
        scene = self.scene()
        return [
            *self._controller.effects.shapes(scene, self.projection(), self._controller.scale),
            *self._controller.demos.shapes(self.projection(), self._controller.scale),
            *self._held_shapes(),
        ]

    def _held_shapes(self) -> list[Shape]:
        controller, gesture = self._controller, self._controller.gesture
        projection, scale = self.projection(), controller.scale
        if isinstance(gesture, Drag):
            return gesture.shapes(projection, scale)
        if isinstance(gesture, Box):
            corners = gesture.corners()
            frame = Stroke(corners, scale, "accent", 1.0, closed=True)
            return [Fill(corners, "accent", 0.12), frame]
        gizmo = self.gizmo()
        return [] if gizmo is None else gizmo.shapes(projection, scale, controller.hovered.part)

    def _captions(self, ground: Ground) -> list[Text]:
        """In the corners of the view: how it is looked at, and how large the grid's cells are."""
        controller, scale = self._controller, self._controller.scale
        lens = "Orthographic" if controller.camera.orthographic else "Perspective"
        margin, bottom = _MARGIN * scale, controller.viewport.h - _MARGIN * scale
        captions = [Text(lens, margin, _MARGIN * scale, rgba("text2"), _CAPTION)]
        if ground.grid:
            captions.append(Text(f"Grid {numbers.step(ground.cell)}", margin, bottom, rgba("text3"), _CAPTION))
        return captions

    def _readout(self) -> tuple[Text, ...]:
        """How far a drag has gone, beside the pointer; on its other side near the view's right edge."""
        controller, gesture = self._controller, self._controller.gesture
        if not isinstance(gesture, Drag):
            return ()
        (x, y), scale = controller.local(*controller.pointing.place), controller.scale
        wide = text_width(gesture.readout, _READOUT * scale)
        right = x + (_BESIDE + 8.0) * scale + wide < controller.viewport.w
        x += (_BESIDE if right else -_BESIDE) * scale
        return (Text(gesture.readout, x, y - _BESIDE * scale, rgba("text"), _READOUT, "left" if right else "right"),)
