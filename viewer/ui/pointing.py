"""The mouse: clicks, drags, camera moves, selecting (by commands, too), and the hints about keys and buttons."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Literal, NamedTuple

import numpy as np

from viewer.document import Item, joint_of
from viewer.document.actions import ExcludePair, Select
from viewer.gizmo import Part, Tool
from viewer.scene import Hit, box
from viewer.session import Session
from viewer.skeleton import at_or_below
from viewer.spatial.checks import Floats
from viewer.ui import number_format
from viewer.ui.build_workspace import Building, JointDrag
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import CommandBinding, CommandBindings, needs, on_found
from viewer.ui.contact import deepest_pair
from viewer.ui.demo_commands import Demos
from viewer.ui.dragging import Drag, Dragging, HitTest
from viewer.ui.events import Mods, Move, Press, Release
from viewer.ui.keying import Slide
from viewer.ui.onion_skin import TrailMover
from viewer.ui.range_handles import RangeDrag
from viewer.ui.retargeting import Retargeting, StringDrag
from viewer.ui.scene_builder import SceneBuilder
from viewer.ui.simulating import PullDrag, Simulating
from viewer.ui.view import EditGesture, Gesture, View, ViewPart, Workspace, item_of

_AXIS_PARTS = (Part.X, Part.Y, Part.Z)

THRESHOLD = 3.0
"""Logical pixels of pointer motion from which a press becomes a drag."""
_ZOOM_PIXELS = 25.0
"""Logical pixels of a zooming drag per notch of the wheel."""

_PLAYED = 0.1
"""Seconds between two looks at what is under a resting pointer while a motion plays."""
_WORTH = 2
"""Shortest chain, in joints, whose length can be changed."""


_ITEM = "select a joint or an effector"
"""What commands on the selection need."""


class Selecting(ViewPart):
    """Selects parents, children, what a box contains, or everything."""

    def __init__(self, session: Session, view: View, scenes: SceneBuilder) -> None:
        super().__init__(session, view)
        self._scenes = scenes

    def box(self, event: Press | None = None) -> BoxSelection:
        return BoxSelection(self._session, self._view, self._scenes, event)

    def select(self, *items: Item) -> None:
        self._session.dispatch(Select(items))

    def with_children(self, item: Item) -> None:
        """Select a joint and its descendants; the joint becomes active."""
        skeleton, joint = self._document.skeleton, joint_of(self._document, item)
        hanging = np.flatnonzero(at_or_below(skeleton, joint)).tolist()
        # The item selected last is active: the joint itself.
        self.select(*(Item("joint", skeleton.names[j]) for j in reversed(hanging)))

    def parent(self) -> Item | None:
        """The parent of the active item: of an effector its joint, of a joint its parent."""
        item, skeleton = self._document.active_on_figure, self._document.skeleton
        if item is None:
            return None
        joint = joint_of(self._document, item)
        above = joint if item.kind == "effector" else int(skeleton.parents[joint])
        return None if above < 0 else Item("joint", skeleton.names[above])

    def child(self) -> Item | None:
        """The child of the active joint: its first child joint, else an effector on it."""
        item, skeleton = self._document.active_on_figure, self._document.skeleton
        if item is None or item.kind == "effector":
            return None
        joint = skeleton.index(item.name)
        children = np.flatnonzero(skeleton.parents == joint)
        if len(children):
            return Item("joint", skeleton.names[int(children[0])])
        return next((Item("effector", e.name) for e in skeleton.effectors if e.joint == joint), None)

    def everything(self) -> tuple[Item, ...]:
        """The enabled effectors; all joints if there are none or they are selected already."""
        document = self._document
        effectors = tuple(Item("effector", goal.id) for goal in document.goals if goal.enabled)
        if effectors and set(effectors) != set(document.selection):
            return effectors
        return tuple(Item("joint", name) for name in reversed(document.skeleton.names))

    @property
    def _moves(self) -> bool:
        return self._session.targets.running

    def _none(self) -> None:
        """Pause moving targets; else clear the joint filter; else select nothing."""
        if self._moves:
            self._session.targets.pause()
        elif self._view.finding:
            self._view.finding = ""
            self._view.changed()
        else:
            self.select()

    def _selects(self, what: str, find: Callable[[], Item | None]) -> CommandBinding:
        found = on_found(f"there is no {what}", find, self.select)
        return found._replace(lacks=lambda: self._lacks_item() or found.lacks())

    def _lacks_item(self) -> str:
        return "" if self._document.active_on_figure is not None else _ITEM

    def bindings(self) -> CommandBindings:
        return {
            "select.parent": self._selects("parent", self.parent),
            "select.child": self._selects("child", self.child),
            "select.children": on_found(_ITEM, lambda: self._document.active_on_figure, self.with_children),
            "select.box": CommandBinding(
                lambda: self._view.set_gesture(self.box()),
                needs("release the mouse button", lambda: self._view.gesture is None),
            ),
            "select.all": CommandBinding(lambda: self.select(*self.everything())),
            "select.none": CommandBinding(
                self._none,
                needs("nothing is selected", lambda: self._document.selection or self._moves or self._view.finding),
            ),
            "select.find": CommandBinding(lambda: self._view.request("find-joint")),
        }


class Pressed(Gesture):
    """A pressed button before the pointer has moved far enough for a drag."""

    def __init__(
        self, view: View, event: Press, click: Callable[[], object] | None, drag: Callable[[], Gesture | None] | None
    ) -> None:
        """Call ``click`` if the button is released in place, and continue with ``drag`` if the pointer moves away."""
        self._view, self._click, self._drag = view, click, drag
        self.button = event.button
        self.x, self.y = event.x, event.y

    def move(self, event: Move) -> None:
        if math.hypot(event.x - self.x, event.y - self.y) < THRESHOLD * self._view.scale:
            return
        drag, self._drag, self._click = self._drag, None, None
        gesture = drag() if drag is not None else None
        if gesture is not None:
            self._view.set_gesture(gesture)
            gesture.move(event)

    def release(self, event: Release) -> None:  # noqa: ARG002 - where it went down is what counts
        """Click, unless the pointer has moved away."""
        if self._click is not None:
            self._click()


class MoveCamera(Gesture):
    """The camera follows the pointer."""

    cursor = "arrow"

    def __init__(
        self, view: View, camera_moves: CameraMoves, event: Press, how: Literal["orbit", "pan", "zoom"]
    ) -> None:
        if how == "orbit" and not view.turns:
            how = "pan"
        self._view, self._camera_moves, self._how = view, camera_moves, how
        self.button = event.button
        if how == "pan":
            self.cursor = "grabbing"
        self._start = self._last = (event.x, event.y)

    def move(self, event: Move) -> None:
        dx, dy = event.x - self._last[0], event.y - self._last[1]
        self._last = (event.x, event.y)
        camera = self._camera_moves
        if self._how == "orbit":
            camera.orbit(dx, dy)
        elif self._how == "pan":
            camera.pan(dx, dy)
        else:
            steps = (dx - dy) / (_ZOOM_PIXELS * self._view.scale)
            camera.zoom(steps, *self._view.local(*self._start))


class BoxSelection(Gesture):
    """A rectangle that selects the items in it, from a press or, without one yet, from the next one."""

    cursor = "crosshair"

    def __init__(self, session: Session, view: View, scenes: SceneBuilder, event: Press | None = None) -> None:
        self._session, self._view, self._scenes = session, view, scenes
        self.button = None
        self._start = self._end = view.local(*view.pointer_at)
        if event is not None:
            self.press(event)

    def press(self, event: Press) -> None:
        """Begin where the button went down."""
        self.button = event.button
        self._start = self._end = self._view.local(event.x, event.y)

    def move(self, event: Move) -> None:
        self._end = self._view.local(event.x, event.y)
        if self.button is None:
            self._start = self._end
        self._view.changed()

    def corners(self) -> Floats:
        """(4, 2) corners in order, pixels of the viewport."""
        (x0, y0), (x1, y1) = self._start, self._end
        return np.array([(x0, y0), (x1, y0), (x1, y1), (x0, y1)])

    def release(self, event: Release) -> None:
        """Select the items; with Shift, add them."""
        self._end = self._view.local(event.x, event.y)
        found = box(self._scenes.scene(), self._view.projection(), *self._start, *self._end)
        self._view.changed()
        self._session.dispatch(Select(_chosen(found), "add" if "shift" in event.mods else "set"))


def _chosen(found: list[Hit]) -> tuple[Item, ...]:
    """Enabled effectors, or joints if there are none: the two overlap nearly everywhere."""
    effectors = [item_of(hit) for hit in found if hit.mark is not None and hit.mark.on and not hit.mark.root]
    return tuple(effectors or dict.fromkeys(item_of(hit) for hit in found if hit.kind == "joint"))


class Pointing:
    """Handles the mouse: finds what is under the pointer, begins and ends gestures."""

    def __init__(
        self,
        session: Session,
        view: View,
        hit_test: HitTest,
        drags: Dragging,
        camera_moves: CameraMoves,
        demos: Demos,
        selecting: Selecting,
        retargeting: Retargeting,
        building: Building,
        simulating: Simulating,
    ) -> None:
        self._session, self._view, self._hit_test = session, view, hit_test
        self._drags, self._camera_moves, self._demos, self._selecting = drags, camera_moves, demos, selecting
        self._retargeting, self._building, self._simulating = retargeting, building, simulating
        self._clicked: tuple[float, float] | None = None
        self._ignored: tuple[str, str] | None = None
        self._seen, self._hovered_at = -1, -math.inf

    @property
    def cursor(self) -> str:
        """The pointer's shape.

        One of "arrow", "hand", "move", "axis-x", "axis-y", "axis-z", "crosshair", "grabbing", "hidden", "not-allowed".
        """
        gesture, hover = self._view.gesture, self._view.hovered
        if gesture is not None and not isinstance(gesture, Pressed):
            return gesture.cursor
        if hover.part is not None:
            return f"axis-{hover.part.value}" if hover.part in _AXIS_PARTS else "move"
        if hover.figure:
            return "hand"
        if self._building.on and not hover.axis:
            return "hand" if hover.hit is not None else "crosshair" if self._building.adding else "arrow"
        if hover.hit is not None:
            can = self._simulating.can_pull(hover.hit) or self._drags.can_drag(hover.hit)
            return "hand" if can else "not-allowed"
        return "hand" if hover.axis else "arrow"

    # Events

    def move(self, event: Move) -> None:
        self._view.pointer = event
        if self._view.gesture is not None:
            self._view.gesture.move(event)
        else:
            self._hover(event)
            self._demos.pointed(event)

    def mods_changed(self, mods: Mods) -> None:
        """Handle a modifier that went down or came up: a drag starts or stops snapping."""
        if mods != self._view.pointer.mods:
            self._view.pointer = replace(self._view.pointer, mods=mods)
            if isinstance(self._view.gesture, EditGesture):
                self._view.gesture.move(self._view.pointer)

    def tick(self) -> None:
        """Update what is under a resting pointer after the document has changed, in playback now and then."""
        view, seen = self._view, self._session.stage.revision
        rests = view.now - self._hovered_at >= (_PLAYED if self._session.clock.playing else 0.0)
        if view.gesture is None and seen != self._seen and rests:
            self._seen, self._hovered_at = seen, view.now
            self._hover(view.pointer)

    def _hover(self, event: Move | Press | Release) -> None:
        self._view.set_hovered(self._hit_test.at(event.x, event.y))
        if self._building.on:
            self._view.changed()  # the next bone follows the pointer

    def press(self, event: Press) -> None:
        view, gesture = self._view, self._view.gesture
        if isinstance(gesture, EditGesture):
            if event.button == "right":
                gesture.cancel()
            elif event.button == "left" and gesture.button is None:
                gesture.confirm()
        elif isinstance(gesture, BoxSelection) and gesture.button is None:
            if event.button == "left":
                gesture.press(event)
            else:
                view.set_gesture(None)
        elif gesture is None and view.viewport.contains(event.x, event.y):
            self._view.pointer = Move(event.x, event.y, event.mods)
            self._hover(event)
            view.set_gesture(self._pressed(event))

    def release(self, event: Release) -> None:
        gesture = self._view.gesture
        if gesture is None or gesture.button != event.button:
            return
        if not isinstance(gesture, EditGesture):
            self._view.set_gesture(None)
        gesture.release(event)
        self._view.pointer = Move(event.x, event.y, event.mods)
        self._hover(event)

    # What a press begins

    def _pressed(self, event: Press) -> Pressed:
        camera = self._camera_move(event)
        string = self._string(event)
        if string is not None:
            return string
        if event.button == "left" and "alt" not in event.mods:
            return self._left(event)
        click: Callable[[], object] | None = None
        if event.button == "right" and "alt" not in event.mods:
            click = lambda: self._context_menu(event)  # noqa: E731 - a callback
        elif "alt" in event.mods and (event.button == "middle" or event.clicks == 2):
            click = lambda: self._centre(event)  # noqa: E731
        elif event.button == "left":
            click = lambda: self._ignore(event)  # noqa: E731
        return Pressed(self._view, event, click, camera)

    def _string(self, event: Press) -> Pressed | None:
        """While a motion is retargeted: drag or select a joint's string, or remove it with the right button."""
        end = self._retargeting.end_at(event.x, event.y) if "alt" not in event.mods else None
        if end is None or event.button == "middle":
            return None
        strings = self._retargeting
        if event.button == "right":
            return Pressed(self._view, event, lambda: strings.remove(end), self._camera_move(event))
        drag = lambda: StringDrag(self._view, strings, event, end)  # noqa: E731 - a callback
        return Pressed(self._view, event, lambda: strings.select(end), drag)

    def _camera_move(self, event: Press) -> Callable[[], Gesture] | None:
        """How the camera follows a button with modifiers, by the mouse preset."""
        mods, simple = event.mods, self._view.preset == "simple"
        moves = {
            "middle": "zoom" if "ctrl" in mods else "pan" if mods & {"shift", "alt"} else "orbit",
            "right": "zoom" if "alt" in mods else "pan" if simple else None,
            "left": "orbit" if "alt" in mods else None,
        }
        how = moves[event.button]
        return None if how is None else lambda: MoveCamera(self._view, self._camera_moves, event, how)  # type: ignore[arg-type]

    def _left(self, event: Press) -> Pressed:
        view, hover = self._view, self._view.hovered
        drag: Callable[[], Gesture | None]
        orbit = lambda: MoveCamera(view, self._camera_moves, event, "orbit")  # noqa: E731 - a callback
        pan = lambda: MoveCamera(view, self._camera_moves, event, "pan")  # noqa: E731
        box = lambda: self._selecting.box(event)  # noqa: E731
        if hover.axis:
            look = None if hover.axis == "disc" else lambda: self._camera_moves.look_along(hover.axis)
            return Pressed(view, event, look, orbit)
        if self._building.on:
            return Pressed(view, event, *self._building.pressed(event, pan if "shift" in event.mods else orbit))
        if hover.part is not None:
            drag = lambda: self._drags.from_gizmo(hover.part, event)  # noqa: E731
        elif hover.hit is not None and "ctrl" not in event.mods and self._simulating.can_pull(hover.hit):
            drag = lambda: PullDrag(view, self._simulating, event, hover.hit)  # type: ignore[arg-type]  # noqa: E731
        elif hover.hit is not None and ("ctrl" not in event.mods or hover.hit.kind in {"effector", "limit", "trail"}):
            drag = lambda: self._drags.from_hit(hover.hit, event)  # noqa: E731
        elif "ctrl" in event.mods or view.preset != "simple":
            drag = box
        else:
            drag = pan if "shift" in event.mods else orbit
        return Pressed(view, event, lambda: self._click(event), drag)

    # What a click does

    def _click(self, event: Press) -> None:
        """Select the clicked item; Shift adds it, a double click includes its children."""
        if self._demos.clicked(event):
            return
        if self._view.hovered.hit is not None and self._view.hovered.hit.kind in {"radius", "limit"}:
            return  # rings are for dragging
        if self._view.hovered.hit is not None and self._view.hovered.hit.kind == "trail":
            self._session.seek(self._view.hovered.hit.place)
            return
        if self._view.hovered.figure:
            self._session.figures.activate(self._view.hovered.figure)
            return
        found = self._hit_test.hits(event.x, event.y)
        items = list(dict.fromkeys(item_of(hit) for hit in found))
        if not items:
            if not event.mods and self._view.hovered.part is None:
                self._session.dispatch(Select(()))
            return
        if event.clicks == 2 and items[0].on_figure:
            active = self._session.document.active
            self._selecting.with_children(active if active in items else items[0])
            return
        item = self._next(items, event)
        self._session.dispatch(Select((item,), "toggle" if event.mods & {"shift", "ctrl"} else "set"))
        self._clicked = (event.x, event.y)

    def _next(self, items: list[Item], event: Press) -> Item:
        """The first of the items; repeated clicks at the same place cycle through all."""
        active, at = self._session.document.active, self._clicked
        here = at is not None and math.hypot(event.x - at[0], event.y - at[1]) < THRESHOLD * self._view.scale
        if not here or active not in items or event.mods:
            return items[0]
        return items[(items.index(active) + 1) % len(items)]

    def _centre(self, event: Press) -> None:
        if event.button == "left":
            self._keep_apart()  # the first of the two clicks ignored something
        found = self._hit_test.hits(event.x, event.y)
        if found:
            self._camera_moves.centre(found[0].point)

    def _ignore(self, event: Press) -> None:
        """Allow the clicked body or prop to go through what it touches deepest."""
        self._ignored = None
        solid = [hit for hit in self._hit_test.hits(event.x, event.y) if hit.kind in {"bone", "prop"}]
        if not solid or not self._session.document.contact.on:
            return
        self._ignored = deepest_pair(self._session.document, solid[0].name)
        if self._ignored is None:
            self._view.note(f"{solid[0].name} touches nothing")
            return
        first, second = self._ignored
        self._session.dispatch(ExcludePair(first, second))
        self._view.note(f"{first} and {second} may go through each other")

    def _keep_apart(self) -> None:
        """Keep apart again what the last click ignored."""
        pair, self._ignored = self._ignored, None
        if pair is not None and self._session.document.contact.excludes(*pair):
            self._session.undo()
            self._view.note(f"{pair[0]} and {pair[1]} are kept apart again")

    def _context_menu(self, event: Press) -> None:
        """Select the clicked item and request its menu."""
        found = self._hit_test.hits(event.x, event.y)
        item = item_of(found[0]) if found else None
        if item is not None and item not in self._session.document.selection:
            self._session.dispatch(Select((item,)))
        self._view.request("context-menu", item, event.x, event.y)


class Hint(NamedTuple):
    """A key or button and its effect; ``kept`` is shown even if there is little room."""

    keys: str
    words: str
    kept: bool = False


def hints_of(
    session: Session, view: View, drags: Dragging, building: Building, simulating: Simulating
) -> tuple[Hint, ...]:
    """Hints for the gesture under way, else for what is under the pointer."""
    gesture = view.gesture
    if isinstance(gesture, Drag):
        return _of_drag(session, view, gesture)
    if isinstance(gesture, Slide):
        return Hint("Ctrl", "steps of 10 %"), Hint("Click", "confirm"), Hint("Esc", "cancel")
    if isinstance(gesture, RangeDrag):
        step = "no snap" if view.magnet else "snap 5°"
        return Hint("Ctrl", step), Hint("Shift", "fine"), Hint("Alt", "both ends"), Hint("Esc", "cancel")
    if isinstance(gesture, BoxSelection):
        return (Hint("Drag", "box"), Hint("Shift", "add"), Hint("Esc", "cancel"))
    if building.on and not isinstance(gesture, MoveCamera):
        return _of_building(view, building)
    return () if isinstance(gesture, MoveCamera) else _of_pointer(session, view, drags, simulating)


def _of_building(view: View, building: Building) -> tuple[Hint, ...]:
    plane = Hint("Q", "plane")
    if isinstance(view.gesture, JointDrag):
        return Hint("Ctrl", "free" if view.magnet else f"snap {number_format.step(view.snap_m)}"), Hint("Esc", "cancel")
    if building.empty:
        return Hint("Click", "first joint"), plane
    found = building.hit(*view.pointer_at)
    if found is not None:
        click = "branch from it" if found.kind == "joint" else "split it" if building.adding else "select"
        drag = (Hint("Drag", "move"),) if found.kind == "joint" else ()
        return Hint("Click", click), *drag, Hint("Right click", "menu")
    if not building.adding or not building.active:
        return Hint("Click", "joint to continue from"), Hint("Ctrl Enter", "pose")
    return Hint("0 … 9", "type a length"), Hint("Tab", "angle"), plane, Hint("Esc", "end chain")


def _of_pointer(session: Session, view: View, drags: Dragging, simulating: Simulating) -> tuple[Hint, ...]:
    if session.recorder.recording:
        return Hint("Drag", "record"), Hint("Shift R", "stop")
    if view.workspace is Workspace.RETARGET and session.stage.several:
        return Hint("Drag", "a string's end"), Hint("Right click", "no partner"), Hint("Ctrl Enter", "apply")
    hover = view.hovered
    if simulating.sim is not None and (hover.hit is None or hover.hit.kind in {"bone", "joint"}):
        return _of_simulation(simulating)
    if hover.axis:
        return Hint("Click", "view"), Hint("Drag", "orbit")
    if hover.part is not None or (hover.hit is not None and hover.hit.kind in {"effector", "prop", "layer", "radius"}):
        turning = hover.part is not None and view.tool is Tool.ROTATE
        return Hint("Drag", "rotate" if turning else "move"), *_modifiers(view, turning=turning)
    if hover.hit is not None and hover.hit.kind == "limit":
        return Hint("Drag", "both sides" if view.mirror else "change the range"), Hint("Alt", "orbit")
    if hover.hit is not None and hover.hit.kind == "trail":
        frame = hover.hit.place
        return Hint("Drag", f"move at frame {frame}"), Hint("Click", f"go to frame {frame}")
    if hover.figure:
        return Hint("Click", "work on it"), Hint("Drag", "orbit" if view.turns else "pan")
    if hover.hit is not None:
        pull = (Hint("Drag", "pull"),) if drags.can_drag(hover.hit) else ()
        return *pull, Hint("Click", "select"), Hint("Right click", "menu")
    moves = "orbit" if view.turns else "pan"
    if view.preset == "simple":
        return Hint("Drag", moves), Hint("Ctrl", "box select"), Hint("F", "frame")
    return Hint("Drag", "box select"), Hint("Middle", moves), Hint("F", "frame")


def _of_simulation(simulating: Simulating) -> tuple[Hint, ...]:
    stop = Hint("K", "stop")
    if simulating.problem:
        return Hint("Ctrl Home", "start again"), stop
    space = Hint("Space", "resume" if simulating.paused else "pause")
    return Hint("Drag", "pull a bone"), Hint("Shift K", "throw a ball"), space, stop


def _modifiers(view: View, *, turning: bool) -> tuple[Hint, ...]:
    step = f"{view.snap_deg:g}°" if turning else number_format.step(view.snap_m)
    word = "no snap" if view.magnet else f"snap {step}"
    return Hint("Ctrl", word), Hint("Shift", "fine")


def _of_drag(session: Session, view: View, drag: Drag) -> tuple[Hint, ...]:
    end = (Hint("Click", "confirm"),) if drag.grabbing else ()
    if drag.typing:
        following = () if drag.handle.turning else (Hint("Tab", "next axis"),)
        return *following, Hint("Enter", "confirm"), Hint("Esc", "cancel")
    held = view.pointer.mods & {"ctrl", "shift"}
    if held:
        words = {"ctrl": "snap", "shift": "fine"}
        return *(Hint(mod.capitalize(), words[mod]) for mod in sorted(held)), *end, Hint("Esc", "cancel")
    if isinstance(drag.mover, TrailMover):
        return Hint("Wheel", f"reach {drag.mover.reach}", kept=True), Hint("X Y Z", "lock axis"), Hint("Esc", "cancel")
    usual = Hint("X Y Z", "lock axis"), Hint("0 … 9", "type a number")
    length, most = session.gestures.chain
    chain = Hint("PgUp PgDn", f"chain {length}" if length < most else "chain", kept=length < most)
    if most < _WORTH:
        return *usual, *end, Hint("Esc", "cancel")
    # A chain whose length was changed comes first, so that it is visible in little room.
    last = (*end, Hint("Esc", "cancel"))
    return (*usual, *last, chain) if length == most else (chain, *usual, *last)
