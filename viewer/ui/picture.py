"""What is shown, worked out from the session and the controller once per change: scene, handles, draw list."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.document.default_goals import below, stand_of, world_of
from viewer.document.effector_transform import coordinates_of, joints_at_limit, measured
from viewer.gizmo import Fill, Gizmo, Shape, Space, Stroke, Tool, axes_of
from viewer.ik.solution import Status
from viewer.scene import (
    Display,
    DrawList,
    Ghost,
    Ground,
    Mark,
    Scene,
    Text,
    Trail,
    draw_list,
    facing,
    figure_height,
    figure_points,
    floor_of,
    rgba,
)
from viewer.scene.annotations import text_width
from viewer.session import Document, DocumentGoal, GoalError, Item, Session
from viewer.skeleton.character import Character
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinematics import World
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import drag_targets, numbers
from viewer.ui.drag_targets import aims, is_root, joint_of
from viewer.ui.dragging import Drag
from viewer.ui.gestures import Box
from viewer.ui.onion_skin import Echoes
from viewer.ui.status import too_near, worst

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

_OUTSIDE = 1e-6
"""Radians or metres beyond a range from which a joint counts as outside."""

_SLACK, _SLACK_DEG = 0.02, 5.0
"""While a drag is on its way, what is missed by less than this part of the figure's height (and by less than so many
degrees) is not said to be missed: it would flicker at every quick move."""
_SAID = 0.01
"""A miss is said in words from this part of the figure's height on, of what is selected (it is what is dragged), of
pins, and where nothing is selected of the worst; all other goals may be missed for their sake."""


class Setting(NamedTuple):
    """What else there is to see.

    Attributes:
        height: H: the figure's size, metres.
        floor: height of the ground, metres.
        axis: the view axis under the pointer.
        ghosts: the figure at other frames.
        trails: ways of what is selected.
    """

    height: float
    floor: float
    axis: str
    ghosts: tuple[Ghost, ...] = ()
    trails: tuple[Trail, ...] = ()


def scene_of(session: Session, hovered: Item | None, display: Display, setting: Setting) -> Scene:
    """What there is to see of a session.

    Args:
        session: its document, and what is said of it.
        hovered: what is under the pointer.
        display: what is shown besides the figure.
        setting: sizes.
    """
    document, report = session.document, session.report
    skeleton = document.skeleton
    errors = report.errors if report is not None else session.errors
    under_way = session.dragging and report is not None and report.status is Status.BUDGET
    slack = _SLACK * setting.height if under_way else 0.0
    near = too_near(document, None if session.playing else report)
    return Scene(
        skeleton=skeleton,
        world=world_of(skeleton, document.pose),
        marks=(*_effectors(document, errors, hovered, (setting.height, slack), near), *_roots(document, hovered)),
        selected=frozenset(joint_of(document, item) for item in document.selection),
        hovered=joint_of(document, hovered) if hovered is not None and hovered.kind == "joint" else -1,
        at_limit=frozenset(skeleton.index(name) for name in joints_at_limit(document)),
        outside=_outside(document),
        stretched=stretched(document),
        limits_on=document.limits_on,
        unlimited=document.unlimited,
        display=display,
        height=setting.height,
        ghosts=setting.ghosts,
        trails=setting.trails,
        floor=setting.floor,
        plane=document.planar,
        hovered_axis=setting.axis,
    )


def _outside(document: Document) -> frozenset[int]:
    """Joints beyond their ranges, as clips may have them."""
    skeleton, space = document.skeleton, joint_space(document.skeleton)
    beyond = space.excess(coordinates_of(skeleton, document.pose)) > _OUTSIDE
    return frozenset(j for j in np.flatnonzero(beyond).tolist() if skeleton.names[j] not in document.unlimited)


def stretched(document: Document) -> frozenset[int]:
    """Joints whose bone is not as long as in the file."""
    own, now = document.character.skeleton.offsets, document.skeleton.offsets
    return frozenset() if own is now else frozenset(np.flatnonzero((own != now).any(axis=1)).tolist())


def _roots(document: Document, hovered: Item | None) -> list[Mark]:
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    marks = []
    for root in skeleton.roots.tolist():
        item = Item("joint", skeleton.names[root])
        if not is_root(document, item):
            continue
        states = item in document.selection, item == hovered
        marks.append(Mark(item.name, root, world.positions[root], root=True, selected=states[0], hovered=states[1]))
    return marks


def goal_marks(document: Document) -> tuple[Mark, ...]:
    """Effectors and where they should be, as they stand; nothing is selected."""
    still = replace(document, selection=())
    return tuple(_effectors(still, measured(still), None, (figure_height(still.skeleton), 0.0)))


def _effectors(
    document: Document,
    errors: Mapping[str, GoalError],
    hovered: Item | None,
    sizes: tuple[float, float],
    close: Collection[str] = (),
) -> list[Mark]:
    """The marks; ``sizes`` are metres of the figure's height, and of what is not said to be missed at all."""
    (height, slack), marks = sizes, []
    chosen = {item.name for item in document.selection if item.name in errors}
    spoken = chosen or {worst(errors)[0]}  # those that the status line speaks of
    for goal in document.goals:
        error = errors.get(goal.id)
        reached = error is None or error.reached or not goal.enabled
        near = error is not None and (error.metres or 0.0) < slack and (error.degrees or 0.0) < _SLACK_DEG
        mark = _effector(document, goal, error, hovered, reached=reached or near)
        much = error is not None and ((error.metres or 0.0) >= _SAID * height or (error.degrees or 0.0) >= _SLACK_DEG)
        quiet = not (mark.reached or (much and (mark.name in spoken or goal.pinned)))
        marks.append(replace(mark, too_near=mark.name in close, quiet=quiet))
    return marks


def _effector(
    document: Document, goal: DocumentGoal, error: GoalError | None, hovered: Item | None, *, reached: bool
) -> Mark:
    stand = stand_of(document.skeleton, document.pose, goal)
    item = Item("effector", goal.id)
    return Mark(
        name=goal.id,
        joint=stand.joint,
        position=stand.position,
        target=np.array(goal.position) if aims(goal) else None,
        target_rotation=np.array(goal.rotation) if goal.enabled and goal.has_rotation else None,
        reached=reached,
        error_m=(error.metres or 0.0) if error is not None else 0.0,
        pin_position=goal.enabled and goal.pin_position,
        pin_rotation=goal.enabled and goal.pin_rotation,
        on=goal.enabled,
        selected=item in document.selection,
        hovered=item == hovered,
    )


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
        points = [point for item in self.document.selection for point in drag_targets.places(self.document, item)]
        return np.array(points).reshape(-1, 3)

    def selected_tips(self) -> Floats:
        """(N, 3) tips of selected joints, and of all that hangs on selected effectors: toes on a foot."""
        skeleton, chosen = self.document.skeleton, self.document.selection
        ends = below(skeleton, [self.joint_of(item) for item in chosen if item.kind == "effector"])
        ends[[self.joint_of(item) for item in chosen]] = True
        return self.figure_points()[len(skeleton) :][ends[skeleton.tip_parents]]

    def joint_of(self, item: Item) -> int:
        """The joint that an item is, or is fixed to."""
        return drag_targets.joint_of(self.document, item)

    def is_root(self, item: Item) -> bool:
        """Whether an item is the handle of a root."""
        return drag_targets.is_root(self.document, item)

    def grip(self, item: Item) -> tuple[Floats, Floats]:
        """(3,) and (4,), world: where an item is taken hold of: its target, or where it stands if it has none."""
        return drag_targets.grip(self.document, item)

    def gizmo(self) -> Gizmo | None:
        """The handles at the active item; None where there is none to show, or something is played or dragged."""
        controller, item = self._controller, self.document.active
        if item is None or controller.tool is Tool.SELECT or controller.session.playing:
            return None
        if controller.tool is Tool.MOVE and not drag_targets.can_move(self.document, item):
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
        return Gizmo(tool, drag_targets.pivot(self.document, item), axes, others, self._controller.unit)

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
