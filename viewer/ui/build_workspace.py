"""The workspace Build: a skeleton is made and changed by clicks, each one action."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from operator import methodcaller
from typing import Literal, NamedTuple

import numpy as np

from viewer.document import Action, Document, Item, new_document
from viewer.document.actions import (
    AddJoint,
    DuplicateBranch,
    MirrorBranch,
    MoveJoint,
    ReadyToPose,
    RemoveJoint,
    Select,
    SetKind,
    SplitBone,
)
from viewer.document.remapping import lost
from viewer.errors import InputError, plural
from viewer.gizmo import Fill, Shape, Stroke, Tool, TypedNumbers
from viewer.scene import Text, rgba, text_width
from viewer.scene.flat import box, circle, dashes
from viewer.session import Session
from viewer.skeleton import Builder, Character, JointKind, Skeleton, rest_world
from viewer.skeleton.joint_edits import MIDDLE, twin_of, unplaced
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection, pixels_away
from viewer.spatial.quaternion import dot, from_axis_angle, rotate
from viewer.ui import number_format
from viewer.ui.commands import TYPED, CommandBinding, CommandBindings, needs
from viewer.ui.events import Message, Mods, Move, Press
from viewer.ui.opening import Opening
from viewer.ui.status import StatusLine
from viewer.ui.view import EditGesture, Gesture, View, Workspace

_ABOUT = "build"
CLICK_A_JOINT = "Click a joint to continue from it"
_SHIFT = 0.15
"""Distance of a copied branch from its original, as a fraction of the figure's height."""
KIND_WORDS = {
    JointKind.BALL: "Ball",
    JointKind.HINGE: "Hinge",
    JointKind.UNIVERSAL: "2 axes",
    JointKind.SLIDE: "Slide",
    JointKind.FIXED: "Fixed",
    JointKind.FREE: "Free",
}

_JOINT_PX, _BONE_PX, _MIDDLE_PX = 10.0, 7.0, 8.0
"""Logical pixels from a joint, a bone and the mirror plane within which a pixel hits it."""
_EDGE_ON = 0.08
"""Sine of the angle between the view and a plane below which the plane is too thin to be drawn on."""
_AXIS_ALIGNED = 1.0 - 1e-9
_FLIP = np.array([-1.0, 1.0, 1.0])
_BELT, _WIDE = 0.14, 0.09
"""Parts of a bone's length: from its start to its widest place, and its width there, as bones of figures have."""
_DASH, _GAP = 6.0, 4.0
_CHIP, _PAD, _APART = 26.0, 10.0, 10.0
"""Height of the chip beside the pointer, its padding, and the space between its words, logical pixels."""
_AXIS = 0.16
"""Half length of the axis of a hinge, as a fraction of the figure's height."""


def empty_document() -> Document:
    """A document without a placed joint."""
    nothing = Builder(name="untitled").add("joint1", kind="fixed").skeleton
    return new_document(Character(nothing))


class Building:
    """Makes and changes the skeleton of the active figure, which is shown at rest.

    Attributes:
        plane: that the next joint is placed on.
        adding: whether a click adds joints; else it only selects.
        children: whether the descendants of a dragged joint move with it.
        typed: length and angle of the next bone, as typed.
        card: whether the card with the mouse's uses is shown.
    """

    def __init__(self, session: Session, view: View, opening: Opening) -> None:
        self._session, self._view, self._opening = session, view, opening
        self.plane, self.adding, self.children, self.card = Plane.VIEW, True, False, True
        self.typed = TypedNumbers(2)
        self._was_on = False
        self._entered: tuple[Skeleton, str | None] | None = None
        self._for = ""

    # State

    @property
    def on(self) -> bool:
        return self._view.workspace is Workspace.BUILD

    @property
    def document(self) -> Document:
        return self._session.document

    @property
    def empty(self) -> bool:
        """Whether the first joint is still to be placed."""
        return unplaced(self.document.skeleton)

    @property
    def active(self) -> str:
        """The joint from which the next bone goes, or ""."""
        item = self.document.active
        return item.name if item is not None and item.kind == "joint" and not self.empty else ""

    @property
    def kind(self) -> JointKind | None:
        skeleton = self.document.skeleton
        return skeleton.kinds[skeleton.index(self.active)] if self.active else None

    @property
    def rest(self) -> Floats:
        """(J, 3) places of the joints at rest."""
        return rest_world(self.document.skeleton).positions

    def place_of(self, joint: str) -> Floats:
        """(3,) a joint's place at rest."""
        return np.asarray(self.rest[self.document.skeleton.index(joint)])

    def facing(self) -> tuple[float, float, float]:
        """Direction towards the eye, exact along an axis of the world."""
        x, y, z = (round(float(value), 12) + 0.0 for value in self._view.projection().back)
        return x, y, z

    def tick(self) -> bool:
        with self._view.errors_shown(_ABOUT):
            self._follow()
        return False

    def _follow(self) -> None:
        """Begin and end with the workspace; leaving it after a change makes the ends of chains effectors."""
        document = self.document
        if self._for != self.active:
            self._for, self.typed = self.active, TypedNumbers(2)
        if self.on == self._was_on:
            return
        self._was_on = self.on
        if self.on:
            self._entered = document.skeleton, document.character.source.path
            self._session.stop()
            return
        entered, self._entered = self._entered, None
        if len(document.skeleton) < 2:
            if entered is not None and entered[1] == document.character.source.path:
                self._view.workspace, self._was_on, self._entered = Workspace.BUILD, True, entered
                self._view.fail(InputError("A skeleton needs two joints"), _ABOUT)
            return
        changed = entered is not None and entered[0] is not document.skeleton
        if changed and entered is not None and entered[1] == document.character.source.path:
            self._session.dispatch(ReadyToPose())
        self._view.bar.done(_ABOUT)

    # Where

    def hit(self, x: float, y: float) -> Picked | None:
        """What is under a pixel of the window."""
        view = self._view
        if self.empty or not view.viewport.contains(x, y):
            return None
        return pick(self.document.skeleton, view.projection(), view.local(x, y), view.scale)

    def normal(self) -> Floats:
        """(3,) normal of the plane that is drawn on."""
        return normal_of(self.plane, self._view.projection())

    def target(self, x: float, y: float, mods: Mods) -> Floats | None:
        """(3,) where the next joint would be placed; None if a click there places none."""
        view = self._view
        if not self.adding or not view.viewport.contains(x, y) or not (self.empty or self.active):
            return None
        projection, at = view.projection(), view.local(x, y)
        if self.empty:
            floor = np.zeros(3) if self.plane in (Plane.VIEW, Plane.FLOOR) else view.camera.target
            normal = normal_of(Plane.FLOOR if self.plane is Plane.VIEW else self.plane, projection)
            found = on_plane(projection, at, floor, normal)
            if np.linalg.norm(found - view.camera.target) > 4.0 * view.camera.distance:
                found = projection.under(*at, view.camera.target)
            return self._tidied(found, None, normal, mods)
        origin, normal = self.place_of(self.active), self.normal()
        point = self._tidied(on_plane(projection, at, origin, normal), origin, normal, mods)
        if self.typed.active:
            point = typed_point(self.typed, origin, point, self._bone_before(), normal, view.unit.metres)
        return point if np.isfinite(point).all() else None

    def _tidied(self, point: Floats, origin: Floats | None, normal: Floats, mods: Mods) -> Floats:
        """A point snapped to steps, and to the mirror plane if it is near."""
        view = self._view
        if view.magnet != ("ctrl" in mods):
            point = snapped(point, origin, normal, view.snap_m)
        if view.mirror and near_middle(view.projection(), point, view.scale):
            point = point * (0.0, 1.0, 1.0)
        return point

    def _bone_before(self) -> Floats | None:
        """(3,) the bone that ends at the active joint."""
        skeleton = self.document.skeleton
        here = skeleton.index(self.active)
        parent = int(skeleton.parents[here])
        return None if parent < 0 else np.asarray(self.rest[here] - self.rest[parent])

    # The mouse

    def pressed(
        self, event: Press, otherwise: Callable[[], Gesture]
    ) -> tuple[Callable[[], object], Callable[[], Gesture]]:
        """The pressed left button, with its click and drag; ``otherwise``: a drag beside the figure."""
        found = self.hit(event.x, event.y)
        if found is not None and found.kind == "joint":
            return partial(self.click, event), lambda: JointDrag(self._session, self._view, self, event, found.joint)
        return partial(self.click, event), otherwise

    def click(self, event: Press) -> None:
        """Select the joint there, split the bone there, or place the next joint."""
        found = self.hit(event.x, event.y)
        if found is not None and (found.kind == "joint" or not self.adding):
            self._session.dispatch(Select((Item("joint", found.joint),)))
        elif found is not None:
            self._do(SplitBone(found.joint, round(found.part, 6), mirror=self._view.mirror))
        elif self.adding and (self.empty or self.active):
            place = self.target(event.x, event.y, event.mods)
            if place is not None:
                self.place(place)
        elif self.adding:
            self._view.post(Message(CLICK_A_JOINT, about=_ABOUT))
        else:
            self._session.dispatch(Select(()))

    def place(self, place: Floats) -> None:
        """Add a joint at a place; the first one, or at the end of a bone from the active joint."""
        kind = self.kind
        going_on = JointKind.BALL if kind in (None, JointKind.FREE, JointKind.FIXED) else kind
        where = tuple(round(float(value), 9) + 0.0 for value in place)
        assert going_on is not None
        self._do(AddJoint(self.active, where, kind=going_on.value, facing=self.facing(), mirror=self._view.mirror))
        self.typed = TypedNumbers(2)

    def dragged_place(self, joint: str, grip: Floats, event: Move) -> Floats:
        """(3,) where a dragged joint goes; ``grip``: where it was when it was grabbed."""
        view, normal = self._view, self.normal()
        point = on_plane(view.projection(), view.local(event.x, event.y), grip, normal)
        point = self._tidied(point, grip, normal, event.mods)
        return point if np.isfinite(point).all() else self.place_of(joint)

    # Changes

    def _do(self, action: Action) -> None:
        self._session.dispatch(action)
        self._view.bar.done(_ABOUT)

    def set_kind(self, kind: str) -> None:
        if self.active:
            self._do(SetKind(self.active, kind, facing=self.facing(), mirror=self._view.mirror))

    def remove(self, *, branch: bool = False) -> None:
        """Remove the active joint; if the motion would lose joints, ask first."""
        action = RemoveJoint(self.active, branch=branch, mirror=self._view.mirror)
        count = lost(self.document, action.edited(self.document))
        if not count:
            self._do(action)
            return
        words = f"The clip loses {plural(count, 'joint')}"
        answers: tuple[tuple[str, Callable[[], object]], ...] = (
            ("Continue", partial(self._do, action)),
            ("Cancel", lambda: None),
        )
        self._view.post(Message(words, "note", answers, about=_ABOUT))

    def mirror(self) -> None:
        self._do(MirrorBranch(self.active))

    def duplicate(self) -> None:
        """Copy the active branch beside itself, to the right in the view."""
        way = _SHIFT * self._view.height * self._view.projection().right
        self._do(DuplicateBranch(self.active, tuple(round(float(value), 6) for value in way)))

    def new(self) -> None:
        """Show an empty document in this workspace."""
        self._opening.show(empty_document())
        if not self.on:
            self._view.enter(Workspace.BUILD)
        self.tick()
        self._entered = self.document.skeleton, None

    def done(self) -> None:
        """Leave for the workspace Pose, ready to pose."""
        if len(self.document.skeleton) < 2:
            raise InputError("A skeleton needs two joints")
        self._do(ReadyToPose())
        self._entered = None
        self._view.enter(Workspace.POSE)
        if self._view.tool is Tool.SELECT:
            self._view.tool = Tool.MOVE

    # Keys

    def _end(self) -> None:
        """Place the joint whose length was typed, else end the chain."""
        place = self.target(*self._view.pointer_at, self._view.pointer.mods) if self.typed.active else None
        if place is not None:
            self.place(place)
        else:
            self._session.dispatch(Select(()))

    def _escape(self) -> None:
        if self.typed.active:
            self.typed = TypedNumbers(2)
            self._view.changed()
        else:
            self._session.dispatch(Select(()))

    def next_plane(self) -> None:
        every = tuple(Plane)
        self.plane = every[(every.index(self.plane) + 1) % len(every)]
        self._view.note(f"Plane: {PLANE_WORDS[self.plane]}")
        self._view.changed()

    def use_tool(self, *, adding: bool) -> None:
        """Make clicks add joints, or only select and move them."""
        self.adding = adding
        self._view.changed()

    def bindings(self) -> CommandBindings:

        on = needs("only in the workspace Build", lambda: self.on)

        def chosen() -> str:
            return on() or ("" if self.active else "no joint is selected")

        def draws() -> str:
            return chosen() or ("" if self.adding else "choose Add first")

        def typed() -> str:
            return draws() or ("" if self.typed.active else "nothing is typed")

        def typing(do: Callable[[TypedNumbers], object]) -> Callable[[], None]:
            def run() -> None:
                do(self.typed)
                self._view.changed()

            return run

        return {
            "file.new_skeleton": CommandBinding(self.new),
            "build.done": CommandBinding(self.done, on),
            "build.end": CommandBinding(self._end, draws),
            "build.escape": CommandBinding(self._escape, chosen),
            "build.remove": CommandBinding(self.remove, chosen),
            "build.remove_branch": CommandBinding(lambda: self.remove(branch=True), chosen),
            "build.mirror": CommandBinding(self.mirror, chosen),
            "build.duplicate": CommandBinding(self.duplicate, chosen),
            "build.plane": CommandBinding(self.next_plane, on),
            "build.tool": CommandBinding(lambda: self.use_tool(adding=not self.adding), on),
            "build.children": self._view.switch(self, "children", on),
            "build.erase": CommandBinding(typing(TypedNumbers.erase), typed),
            "build.next_field": CommandBinding(typing(TypedNumbers.next), draws),
            **{
                f"build.type_{name}": CommandBinding(typing(methodcaller("add", text)), draws)
                for name, text in TYPED.items()
            },
        }

    # Words

    def bone_words(self, place: Floats) -> tuple[str, str, str]:
        """Length, joint kind and angle of the bone that a click would add."""
        way = place - self.place_of(self.active)
        unit, kind = self._view.unit, self.kind
        length, angle = self.typed.texts
        said = f"{number_format.fixed(float(np.linalg.norm(way)) / unit.metres, unit.decimals)} {unit.name}"
        if length:
            said = f"{length.replace('-', number_format.MINUS)} {unit.name}"
        turned = bend_degrees(self._bone_before(), way, self.normal())
        degrees = f"{angle}°" if angle else f"{number_format.fixed(turned, 0)}°"
        return said, "" if kind is None else KIND_WORDS[kind].lower(), degrees

    def status(self, usual: Callable[[], StatusLine]) -> StatusLine:  # noqa: ARG002 - as of all workspaces
        """The number of joints, and the length of the next bone."""
        skeleton = self.document.skeleton
        if self.empty:
            return StatusLine("build", "Building", "idle", "Click on the floor to place the first joint", "", ())
        twins = sum(twin_of(skeleton, name) is not None for name in skeleton.names) // 2
        count = len(skeleton)
        words = f"{plural(count, 'joint')}{f', {twins} mirrored' if twins else ''}"
        place = self.target(*self._view.pointer_at, self._view.pointer.mods) if self._view.gesture is None else None
        length = "" if place is None or not self.active else f"length {self.bone_words(place)[0]}"
        return StatusLine("build", "Building", "idle", words, length, ())

    def caption(self) -> str:
        """Words after the projection in the view's caption."""
        return f" · drawing on the {PLANE_WORDS[self.plane].lower()} plane" if self.on else ""

    # Drawing

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        """The mirror plane, the axis of the active joint, and the bone that a click would add."""
        view = self._view
        shapes = self._mirror_plane(projection) if view.mirror else []
        shapes += self._axis(projection)
        if self.active:
            at = projection.project(self.place_of(self.active))
            shapes += _ring(at, 9.0 * scale, "accent", 2.0 * scale)
        pointer = view.pointer
        found = self.hit(pointer.x, pointer.y) if view.gesture is None else None
        if found is not None:
            at = projection.project(found.point)
            if found.kind == "bone" and self.adding:
                shapes += _ring(at, 6.0 * scale, "hovered", 1.6 * scale) + _cross(at, 6.0 * scale, 10.0 * scale, scale)
            return shapes
        place = self.target(pointer.x, pointer.y, pointer.mods) if view.gesture is None else None
        if place is None or not np.isfinite(at := projection.project(place)).all():
            return shapes
        if self.active:
            start = self.place_of(self.active)
            if view.mirror and abs(place[0]) > MIDDLE:
                twin = twin_of(self.document.skeleton, self.active)
                other = self.place_of(twin) if twin else start
                pixels = projection.project(np.stack([other, _FLIP * place]))
                shapes += _bone(pixels[0], pixels[1], scale, "text3", 0.10)
                shapes += _ring(pixels[1], 4.5 * scale, "text3", 1.4 * scale)
            shapes += _bone(projection.project(start), at, scale, "accent", 0.22)
            shapes += self._chip(at, place)
        return shapes + _ring(at, 6.0 * scale, "hovered", 1.6 * scale) + _cross(at, 6.0 * scale, 11.0 * scale, scale)

    def texts(self, projection: Projection, scale: float) -> tuple[Text, ...]:
        view = self._view
        texts: list[Text] = []
        ends = self._axis_ends()
        if ends is not None and np.isfinite(at := projection.project(ends[0])).all():
            x, y = at.tolist()
            word = "slide" if self.kind is JointKind.SLIDE else "hinge axis"
            texts.append(Text(word, x + 9.0 * scale, y, rgba("text2"), 13, "left"))
        if view.mirror:
            corners = projection.project(self._mirror_corners())
            if np.isfinite(corners).all():
                x, y = corners[np.argmin(corners[:, 1] - 1e-3 * corners[:, 0])].tolist()
                texts.append(Text("mirror", x + 6.0 * scale, y + 10.0 * scale, rgba("text3"), 13, "left"))
        pointer = view.pointer
        if view.gesture is not None or not self.active or self.hit(pointer.x, pointer.y) is not None:
            return tuple(texts)
        place = self.target(pointer.x, pointer.y, pointer.mods)
        # Typed lengths may end behind the camera.
        if place is None or not np.isfinite(at := projection.project(place)).all():
            return tuple(texts)
        x, y, _ = self._chip_place(at, place)
        middle, x = y + 0.5 * _CHIP * scale, x + _PAD * scale
        for number, words in enumerate(self.bone_words(place)):
            if words:
                typing = self.typed.active and number == (0 if self.typed.index == 0 else 2)
                tone = "accent" if typing else "text" if number == 0 else "text2"
                texts.append(Text(words, x, middle, rgba(tone), 13, "left", halo=False, bold=number == 0))
                x += text_width(words, 13 * scale, bold=number == 0) + _APART * scale
        return tuple(texts)

    def _chip_place(self, at: Floats, place: Floats) -> tuple[float, float, float]:
        """Left, top and width of the chip beside the pointer, inside the view."""
        scale = self._view.scale
        words = self.bone_words(place)
        wide = sum(text_width(text, 13 * scale, bold=n == 0) + _APART * scale for n, text in enumerate(words) if text)
        wide += (2.0 * _PAD - _APART) * scale
        x, y = float(at[0]) + 18.0 * scale, float(at[1]) - (_CHIP + 12.0) * scale
        if x + wide > self._view.viewport.w - 8.0 * scale:
            x = float(at[0]) - 18.0 * scale - wide
        return max(x, 8.0 * scale), max(y, 8.0 * scale), wide

    def _chip(self, at: Floats, place: Floats) -> list[Shape]:
        x, y, wide = self._chip_place(at, place)
        corners = box(x, y, x + wide, y + _CHIP * self._view.scale)
        return [Fill(corners, "panel", 0.94), Stroke(corners, self._view.scale, "line_hi", closed=True)]

    def _axis_ends(self) -> Floats | None:
        """(2, 3) the ends of the axis of the active hinge or slide."""
        if self.kind not in (JointKind.HINGE, JointKind.SLIDE):
            return None
        skeleton = self.document.skeleton
        here = skeleton.index(self.active)
        axis = rotate(rest_world(skeleton).rotations[here], skeleton.axes[here, 0])
        place, half = self.place_of(self.active), _AXIS * self._view.height
        axis = axis if axis @ self._view.projection().up >= 0.0 else -axis
        return np.stack([place + half * axis, place - half * axis])

    def _axis(self, projection: Projection) -> list[Shape]:
        ends = self._axis_ends()
        if ends is None:
            return []
        pixels, scale = projection.project(ends), self._view.scale
        if not np.isfinite(pixels).all():
            return []
        length = float(np.linalg.norm(pixels[1] - pixels[0]))
        steps = np.arange(0.0, length, 5.0 * scale) / max(length, 1e-9)
        dots = pixels[0] + steps[:, None] * (pixels[1] - pixels[0])
        side = (pixels[1] - pixels[0]) / max(length, 1e-9) * scale
        return [Stroke(np.stack([dot - side, dot + side]), 2.0 * scale, "text") for dot in dots]

    def _mirror_corners(self) -> Floats:
        """(4, 3) corners of the part of the mirror plane that is drawn, round the skeleton."""
        places = self.rest
        room = 0.12 * self._view.height
        (_, low, near), (_, high, far) = places.min(axis=0) - room, places.max(axis=0) + room
        depth = max(far - near, 0.35 * self._view.height)
        middle = 0.5 * (near + far)
        near, far = middle - 0.5 * depth, middle + 0.5 * depth
        return np.array([(0.0, low, near), (0.0, high, near), (0.0, high, far), (0.0, low, far)])

    def _mirror_plane(self, projection: Projection) -> list[Shape]:
        if self.empty:
            return []
        corners = projection.project(self._mirror_corners())
        if not np.isfinite(corners).all():
            return []
        return [
            piece
            for k in range(4)
            for piece in _dashed(corners[k], corners[(k + 1) % 4], self._view.scale, "text3", 1.2)
        ]


class JointDrag(EditGesture):
    """A joint follows the pointer."""

    cursor = "grabbing"

    def __init__(self, session: Session, view: View, building: Building, event: Press, joint: str) -> None:
        super().__init__(session, view)
        self._building, self._joint, self.button = building, joint, event.button
        self._grip = building.place_of(joint)
        session.begin(f"Move {joint}")
        session.gestures.update(Select((Item("joint", joint),)))

    def move(self, event: Move) -> None:
        """Move the joint under the pointer; a place where a bone would have no length is left out."""
        place = self._building.dragged_place(self._joint, self._grip, event)
        if not math.isfinite(float(place.sum())):
            return
        where = tuple(round(float(value), 9) + 0.0 for value in place)
        with contextlib.suppress(InputError):
            self._session.gestures.update(
                MoveJoint(self._joint, where, children=self._building.children, mirror=self._view.mirror)
            )


class Plane(StrEnum):
    """The plane through the active joint on which the next joint is placed."""

    VIEW = "view"
    FRONT = "front"
    SIDE = "side"
    FLOOR = "floor"


PLANE_WORDS = {Plane.VIEW: "View", Plane.FRONT: "Front", Plane.SIDE: "Side", Plane.FLOOR: "Floor"}
_NORMALS = {Plane.FRONT: (0.0, 0.0, 1.0), Plane.SIDE: (1.0, 0.0, 0.0), Plane.FLOOR: (0.0, 1.0, 0.0)}


class Picked(NamedTuple):
    """What is under the pointer: a joint, or the bone that ends at it, with a ``point`` (3,) on it, world at rest.

    ``part`` is where on the bone the point is.
    """

    kind: Literal["joint", "bone"]
    joint: str
    point: Floats
    part: float = 1.0


def normal_of(plane: Plane, projection: Projection) -> Floats:
    """(3,) unit normal of a plane."""
    return np.array(_NORMALS[plane]) if plane in _NORMALS else projection.back


def on_plane(projection: Projection, at: tuple[float, float], through: Floats, normal: Floats) -> Floats:
    """The point (3,) under a pixel in a plane; in the one that faces the view if that plane is seen edge-on."""
    ray = projection.ray(*at)
    steep = float(ray.direction @ normal)
    if abs(steep) >= _EDGE_ON:
        along = float((through - ray.origin) @ normal) / steep
        if along > 0.0 or projection.orthographic:
            return ray.at(along)
    return projection.under(*at, through)


def pick(skeleton: Skeleton, projection: Projection, at: tuple[float, float], scale: float) -> Picked | None:
    """The joint at a pixel of the view, else the bone there, else None; of several the nearest to the pixel."""
    places = rest_world(skeleton).positions
    pixels = projection.project(places)
    away = pixels_away(pixels, at)
    joint = int(np.argmin(away))
    if away[joint] <= _JOINT_PX * scale:
        return Picked("joint", skeleton.names[joint], places[joint])
    inner = np.flatnonzero(skeleton.parents >= 0)
    if not inner.size:
        return None
    starts, ends = pixels[skeleton.parents[inner]], pixels[inner]
    way = ends - starts
    length = np.maximum(dot(way, way), 1e-9)
    part = np.clip(dot(np.array(at) - starts, way) / length, 0.0, 1.0)
    aside = pixels_away(starts + part[:, None] * way, at)
    bone = int(np.argmin(aside))
    if aside[bone] > _BONE_PX * scale:
        return None
    child = int(inner[bone])
    parent, along = int(skeleton.parents[child]), _along(projection, at, places[skeleton.parents[child]], places[child])
    point = places[parent] + along * (places[child] - places[parent])
    return Picked("bone", skeleton.names[child], point, along)


def _along(projection: Projection, at: tuple[float, float], start: Floats, end: Floats) -> float:
    """Part of a segment at which it is nearest to a pixel's ray, clear of its ends."""
    ray, way = projection.ray(*at), end - start
    across = way - (way @ ray.direction) * ray.direction
    off = start - ray.origin
    off = off - (off @ ray.direction) * ray.direction
    part = -float(off @ across) / max(float(across @ across), 1e-12)
    return float(np.clip(part, 0.05, 0.95))


def snapped(point: Floats, origin: Floats | None, normal: Floats, step: float) -> Floats:
    """A point on the grid of a plane along the world's axes; in other planes the length from the origin is rounded."""
    if origin is None or np.abs(normal).max() >= _AXIS_ALIGNED:
        rounded = np.round(point / step) * step
        keep = np.abs(normal) >= _AXIS_ALIGNED
        return np.where(keep, point, rounded)
    way = point - origin
    length = float(np.linalg.norm(way))
    rounded_length = round(length / step) * step
    return origin + way * (rounded_length / length) if length > 0.0 and rounded_length > 0.0 else point


def near_middle(projection: Projection, point: Floats, scale: float) -> bool:
    """Whether a point is so near to the mirror plane on the screen that it should be on it."""
    pixels = projection.project(np.stack([point, point * (0.0, 1.0, 1.0)]))
    return bool(np.linalg.norm(pixels[0] - pixels[1]) <= _MIDDLE_PX * scale)


def bend_degrees(before: Floats | None, way: Floats, normal: Floats) -> float:
    """Degrees from the direction of the bone before to that of a new one, about a plane's normal; -180 to 180."""
    start = _reference(before, normal)
    flat = way - (way @ normal) * normal
    return float(np.degrees(np.arctan2(np.cross(start, flat) @ normal, start @ flat)))


def _reference(before: Floats | None, normal: Floats) -> Floats:
    """(3,) direction in a plane from which angles are measured: of the bone before, else to the right."""
    if before is not None:
        flat = before - (before @ normal) * normal
        if np.linalg.norm(flat) > 1e-6 * max(float(np.linalg.norm(before)), 1e-9):
            return flat / np.linalg.norm(flat)
    right = np.cross((0.0, 1.0, 0.0), normal)
    return right / np.linalg.norm(right) if np.linalg.norm(right) > 1e-6 else np.array([1.0, 0.0, 0.0])


def typed_point(
    typed: TypedNumbers, origin: Floats, point: Floats, before: Floats | None, normal: Floats, unit: float
) -> Floats:
    """The point with a typed length, in ``unit`` metres, and a typed angle to the bone before, degrees."""
    length_text, angle_text = typed.texts
    way = point - origin
    length = float(np.linalg.norm(way))
    way = way / length if length > 1e-12 else _reference(before, normal)
    if any(letter.isdigit() for letter in angle_text):
        way = rotate(from_axis_angle(normal, np.radians(typed.values[1])), _reference(before, normal))
    if any(letter.isdigit() for letter in length_text):
        length = typed.values[0] * unit
    return np.asarray(origin + length * way)


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
