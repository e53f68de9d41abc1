"""What is shown, worked out from the session and the controller once per change: scene, handles, draw list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.gizmo import Fill, Gizmo, Space, Stroke, Tool, axes_of
from viewer.scene import Mark, Scene, draw_list, facing, figure_height, figure_points, floor_of
from viewer.session import Item, Mode
from viewer.session.standing import stand_of, world_of
from viewer.skeleton.coordinates import joint_space
from viewer.ui.drag import Drag
from viewer.ui.gestures import Box

if TYPE_CHECKING:
    from viewer.gizmo import Shape
    from viewer.scene import DrawList
    from viewer.session import Document, Handle
    from viewer.skeleton.character import Character
    from viewer.skeleton.kinematics import World
    from viewer.spatial.checks import Floats
    from viewer.spatial.projection import Projection
    from viewer.ui.controller import Controller

_OUTSIDE = 1e-6
"""Radians or metres beyond a range from which a joint counts as outside."""


class Picture:
    """What one controller shows; all of it is kept until something changes."""

    def __init__(self, controller: Controller) -> None:
        """Nothing is worked out yet."""
        self._controller = controller
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
        """(N, 3) joints, tips and targets: all that "frame all" brings into view."""
        return figure_points(self.document.skeleton, self.world)

    def selected_points(self) -> Floats:
        """(N, 3) where the selected items are, and their targets."""
        points = [point for item in self.document.selection for point in self.places(item)]
        return np.array(points).reshape(-1, 3)

    def places(self, item: Item) -> list[Floats]:
        """Where an item is, and where it should be."""
        document = self.document
        if item.kind == "joint":
            return [self.world.positions[document.skeleton.index(item.name)]]
        handle = document.handle(item.name)
        at = stand_of(document.skeleton, document.pose, handle).position
        return [at] if not _aims(handle) else [at, np.array(handle.position)]

    def joint_of(self, item: Item) -> int:
        """The joint that an item is, or is fixed to."""
        document = self.document
        if item.kind == "joint":
            return document.skeleton.index(item.name)
        return stand_of(document.skeleton, document.pose, document.handle(item.name)).joint

    def is_root(self, item: Item) -> bool:
        """Whether an item is the handle of a root."""
        return item.kind == "joint" and bool(self.document.skeleton.parents[self.joint_of(item)] < 0)

    def grip(self, item: Item) -> tuple[Floats, Floats]:
        """(3,) and (4,): where an item is taken hold of: its target, or where it stands if it has none."""
        document = self.document
        if item.kind == "joint":
            joint = self.joint_of(item)
            return self.world.positions[joint], self.world.rotations[joint]
        handle = document.handle(item.name)
        stand = stand_of(document.skeleton, document.pose, handle)
        position = np.array(handle.position) if _aims(handle) else stand.position
        rotation = np.array(handle.rotation) if handle.on and handle.has_rotation else stand.rotation
        return position, rotation

    def gizmo(self) -> Gizmo | None:
        """The handles at the active item; None where there is none to show, or something is played or dragged."""
        controller, item = self._controller, self.document.active
        if item is None or controller.tool is Tool.SELECT or controller.session.playing:
            return None
        if controller.tool is Tool.MOVE and self.document.mode is Mode.FK and not self.is_root(item):
            return None  # turning is all that FK does
        return self.gizmo_at(item, controller.tool)

    def gizmo_at(self, item: Item, tool: Tool) -> Gizmo:
        """Handles of an item, along the axes of the space chosen."""
        position, rotation = self.grip(item)
        parent = int(self.document.skeleton.parents[self.joint_of(item)])
        above = self.world.rotations[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        space, projection = self._controller.space, self.projection()
        other = Space.LOCAL if space is Space.WORLD else Space.WORLD
        return Gizmo(
            tool, position, axes_of(space, rotation, above, projection), axes_of(other, rotation, above, projection)
        )

    def scene(self) -> Scene:
        """What there is to see."""
        controller = self._controller
        key = (controller.session.revision, controller.hovered.axis, controller.hovered_item(), controller.display)
        if self._scene is None or self._scene[0] != key:
            self._scene = key, self._make_scene()
        return self._scene[1]

    def _make_scene(self) -> Scene:
        document, report = self.document, self._controller.session.report
        skeleton = document.skeleton
        hovered = self._controller.hovered_item()
        joints = [self.joint_of(item) for item in document.selection]
        active = document.active
        stuck = report.at_limit if report is not None and document.limits_on else ()
        return Scene(
            skeleton=skeleton,
            world=self.world,
            marks=self._marks(hovered),
            selected=frozenset(joints),
            hovered=self.joint_of(hovered) if hovered is not None and hovered.kind == "joint" else -1,
            at_limit=frozenset(skeleton.index(name) for name in stuck),
            outside=self._outside(),
            stretched=self._stretched(),
            limits_on=document.limits_on,
            unlimited=document.unlimited,
            display=self._controller.display,
            height=self.height,
            active_joint=self.joint_of(active) if active is not None else -1,
            floor=self._floor(),
            hovered_axis=self._controller.hovered.axis,
        )

    def _outside(self) -> frozenset[int]:
        document = self.document
        space = joint_space(document.skeleton)
        beyond = space.excess(space.measure(document.pose.rotations, document.pose.translations)) > _OUTSIDE
        return frozenset(
            j for j in np.flatnonzero(beyond).tolist() if document.skeleton.names[j] not in document.unlimited
        )

    def _floor(self) -> float:
        """Height of the ground: under the figure as it was loaded."""
        character = self.document.character
        if self._ground is None or self._ground[0] is not character:
            self._ground = character, floor_of(character)
        return self._ground[1]

    def _stretched(self) -> frozenset[int]:
        own, now = self.document.character.skeleton.offsets, self.document.skeleton.offsets
        return frozenset() if own is now else frozenset(np.flatnonzero((own != now).any(axis=1)).tolist())

    def _marks(self, hovered: Item | None) -> tuple[Mark, ...]:
        marks = [self._mark(handle, hovered) for handle in self.document.handles]
        skeleton, selection = self.document.skeleton, self.document.selection
        for root in skeleton.roots.tolist():
            item = Item("joint", skeleton.names[root])
            selected = item in selection
            place = self.world.positions[root]
            marks.append(Mark(item.name, root, place, root=True, selected=selected, hovered=item == hovered))
        return tuple(marks)

    def _mark(self, handle: Handle, hovered: Item | None) -> Mark:
        document, report = self.document, self._controller.session.report
        stand = stand_of(document.skeleton, document.pose, handle)
        item = Item("effector", handle.effector)
        metres, _, reached = (report.errors if report else {}).get(handle.effector, (0.0, 0.0, True))
        return Mark(
            name=handle.effector,
            joint=stand.joint,
            position=stand.position,
            target=np.array(handle.position) if _aims(handle) else None,
            target_rotation=np.array(handle.rotation) if handle.on and handle.has_rotation else None,
            reached=reached or not handle.on,
            error_m=metres or 0.0,
            pin_position=handle.on and handle.pin_position,
            pin_rotation=handle.on and handle.pin_rotation,
            on=handle.on,
            selected=item in document.selection,
            hovered=item == hovered,
        )

    def draw_list(self) -> DrawList:
        """What is to be drawn; the same object until something changes."""
        controller = self._controller
        key = (controller.revision, controller.viewport, controller.scale)
        if self._drawn is None or self._drawn[0] != key:
            shapes = self._shapes()
            self._drawn = key, draw_list(self.scene(), self.projection(), controller.scale, shapes)
        return self._drawn[1]

    def _shapes(self) -> list[Shape]:
        """The gizmo, or the frame of a box selection."""
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


def _aims(handle: Handle) -> bool:
    """Whether a handle has a place in the world to be dragged."""
    return handle.on and handle.has_position and handle.position is not None
