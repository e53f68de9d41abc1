"""The pointer in the view: what is at a pixel, and drags and grabs that become changes of the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from operator import methodcaller

import numpy as np

from viewer.document import Item, Mode, joint_of, world_of
from viewer.gizmo import Gizmo, GizmoDrag, Part, Shape, Space, Tool, axes_of
from viewer.scene import Hit, hits, other_at, pick_axis, pick_trail
from viewer.session import Session
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import IDENTITY
from viewer.ui import drag_targets
from viewer.ui.commands import TYPED, CommandBinding, CommandBindings, needs
from viewer.ui.contact import hit_radius
from viewer.ui.events import Button, Mods, Move, Press
from viewer.ui.onion_skin import TrailMover
from viewer.ui.planting import Planting
from viewer.ui.range_handles import RangeDrag, end_of_hit, hit_end
from viewer.ui.scene_builder import SceneBuilder
from viewer.ui.view import EditGesture, Hover, Mover, View, ViewPart, Workspace, item_of

_LINES = (Part.X, Part.Y, Part.Z, Part.VIEW_RING)
_ON_DIAMOND, _ON_LINE = 7.0, 4.0
"""Logical pixels from an effector's centre within which it is hit instead of the gizmo's squares and centre, or
of its arrows and rings, which are thin and may cross it."""

_RATE, _MOST_ROUNDS = 60.0, 8
"""Ticks of a drag per second, and the most per frame: after a long pause a frame stays short."""
_STILL_ROUNDS, _MOST_STILL = {"numba": 16, "numpy": 4}, 32
"""Factor of ticks while the targets rest, by backend, and the most ticks per frame then."""


class HitTest:
    """Finds what is at a pixel, and makes the gizmo of the active item."""

    def __init__(self, session: Session, view: View, scenes: SceneBuilder) -> None:
        self._session, self._view, self._scenes = session, view, scenes

    def at(self, x: float, y: float) -> Hover:
        """What is at a pixel of the window."""
        view = self._view
        if not view.viewport.contains(x, y):
            return Hover()
        at, projection, scale = view.local(x, y), view.projection(), view.scale
        axis = pick_axis(projection, *at, scale) if view.display.view_axes and view.turns else ""
        if axis:
            return Hover(axis=axis)
        if view.workspace is Workspace.BUILD:
            return Hover(hit=next((hit for hit in self.hits(x, y) if hit.kind == "joint"), None))
        handle = self._handle_at(at)
        if handle is not None and not (handle.kind == "limit" and self._is_diamond(x, y)):
            return Hover(hit=handle)
        dot = self._trail_at(at)
        if dot is not None:
            return Hover(hit=dot)
        gizmo = self.gizmo()
        part = gizmo.pick(projection, *at, scale) if gizmo is not None else None
        found = self.hits(x, y)
        if gizmo is not None and part is not None and found and self._is_nearer(found[0], gizmo, part, at):
            part = None
        hit = found[0] if found else None
        figure = self._figure_at(at, hit) if part is None and self._session.stage.several else ""
        return Hover(part=part, hit=None if figure else hit, figure=figure)

    def _handle_at(self, at: tuple[float, float]) -> Hit | None:
        """The handle of a range or a radius that is nearest to a pixel of the viewport."""
        if self._session.clock.playing:
            return None
        projection = self._view.projection()
        where = self._session.document, self._view.display, projection, at, self._view.scale
        found = [hit for hit in (hit_radius(*where), hit_end(*where)) if hit is not None]
        return min(found, key=lambda hit: float(np.linalg.norm(projection.project(hit.point) - at)), default=None)

    def _is_diamond(self, x: float, y: float) -> bool:
        """Whether an effector's diamond is at a pixel of the window: it takes precedence over the ends of ranges."""
        found = self.hits(x, y)
        return bool(found) and found[0].kind == "effector"

    def _trail_at(self, at: tuple[float, float]) -> Hit | None:
        """The dot of a trail at a pixel of the viewport."""
        if not self._view.display.trails or self._session.clock.playing or self._session.recorder.recording:
            return None
        return pick_trail(self._scenes.scene().trails, self._view.projection(), *at, self._view.scale)

    def _figure_at(self, at: tuple[float, float], hit: Hit | None) -> str:
        """The figure that is not active at a pixel, "" without one, or if the active one or its handles are there."""
        if hit is not None and hit.kind not in {"joint", "bone"}:
            return ""
        found = other_at(self._scenes.scene().others, self._view.projection(), *at, self._view.scale)
        if found is None or (hit is not None and hit.depth <= found[1]):
            return ""
        return found[0].name

    def hits(self, x: float, y: float) -> list[Hit]:
        """All hits of the figure at a pixel of the window, best first."""
        view = self._view
        return hits(self._scenes.scene(), view.projection(), *view.local(x, y), view.scale)

    def _is_nearer(self, hit: Hit, gizmo: Gizmo, part: Part, at: tuple[float, float]) -> bool:
        """Whether the pointer is on another effector's diamond, nearer than to the gizmo's centre."""
        if hit.kind != "effector" or item_of(hit) == self._session.document.active:
            return False
        pixels = self._view.projection().project(np.stack([hit.point, gizmo.position]))
        to_hit, to_middle = np.linalg.norm(pixels - at, axis=1).tolist()
        size = (_ON_LINE if part in _LINES else _ON_DIAMOND) * self._view.scale
        return bool(to_hit <= size and to_hit < to_middle)

    def gizmo(self) -> Gizmo | None:
        """The gizmo of the active item; None if there is nothing to move, or during playback."""
        document, tool = self._session.document, self._view.tool
        item = document.active
        none = tool is Tool.SELECT or self._session.clock.playing or self._view.workspace is Workspace.BUILD
        if item is None or none:
            return None
        if tool is Tool.MOVE and not drag_targets.can_move(document, item):
            return None  # FK only rotates joints, and a locked root does not move
        return self.gizmo_at(item, tool)

    def _above(self, item: Item) -> Floats:
        """(4,) world rotation of the parent of an item's joint; none where there is no such parent."""
        document = self._session.document
        if not item.on_figure:
            return IDENTITY
        parent = int(document.skeleton.parents[joint_of(document, item)])
        world = world_of(document.skeleton, document.pose)
        return world.rotations[parent] if parent >= 0 else IDENTITY

    def gizmo_at(self, item: Item, tool: Tool) -> Gizmo:
        """The gizmo of an item, along the axes of the chosen space."""
        document, space, projection = self._session.document, self._view.space, self._view.projection()
        rotation = drag_targets.handle_of(document, item)[1]
        above = self._above(item)
        other = Space.LOCAL if space is Space.WORLD else Space.WORLD
        axes, others = (axes_of(one, rotation, above, projection) for one in (space, other))
        alone = self._view.mirror and drag_targets.leads(document, item)
        place = drag_targets.handle_of(document, item)[0] if alone else drag_targets.pivot(document, item)
        return Gizmo(tool, place, axes, others, self._view.unit)


# --- drags


class Drag(EditGesture):
    """A drag under way; the camera does not move during it."""

    def __init__(self, session: Session, view: View, handle: GizmoDrag, mover: Mover, button: Button | None) -> None:
        """Begin, held by a button, or (None) by a key until a click."""
        super().__init__(session, view)
        self.handle, self.mover, self.button = handle, mover, button
        self._waiting = False

    @property
    def grabbing(self) -> bool:
        """Whether it runs without a button; a click or Enter confirms it."""
        return self.button is None

    @property
    def cursor(self) -> str:
        """The pointer's shape: hidden while a button is held."""
        return "crosshair" if self.grabbing else "hidden"

    @property
    def readout(self) -> str:
        """Distance or angle so far: ``ΔZ 0.124 m``."""
        return self.handle.readout + self.mover.words(self._view)

    @property
    def typing(self) -> bool:
        """Whether a number has been typed for any axis, so that the pointer is ignored."""
        return self.handle.typing

    def snaps(self, mods: Mods) -> bool:
        return ("ctrl" in mods) != self._view.magnet

    def move(self, event: Move) -> None:
        x, y = self._view.local(event.x, event.y)
        projection = self._view.projection()
        self.handle.move(x, y, projection, snap=self.snaps(event.mods), fine="shift" in event.mods)
        self.apply()

    def edit(self, change: Callable[[GizmoDrag], object]) -> None:
        """Change the handle: lock an axis, type a number."""
        change(self.handle)
        self.apply()

    def shapes(self, projection: Projection, scale: float) -> list[Shape]:
        return self.handle.shapes(projection, scale)

    def apply(self) -> None:
        """Apply the motion so far, also again because the mover has changed."""
        if self._session.gestures.label is None:
            # Something else, such as a panel, has changed the document and so ended the session's gesture.
            self._view.set_gesture(None)
            return
        self._waiting = self.mover.once_a_frame
        if not self._waiting:
            self.mover.apply(self._session, self.handle.motion)
        self._view.changed()

    def tick(self) -> None:
        """Apply a motion that waits for the frame."""
        if self._waiting and self._session.gestures.label is not None:
            self._waiting = False
            self.mover.apply(self._session, self.handle.motion)


class DragPace:
    """How many ticks of a drag fall to one frame.

    A drag has the same pace at any frame rate. Once the pointer stops, the body comes to rest soon after it, on
    the same path. Each tick is recorded as such, so that replays repeat.
    """

    def __init__(self, session: Session) -> None:
        self._session, self._last = session, 0.0

    def ticks(self, now: float) -> int:
        """Ticks of the frame at ``now``, seconds, at least one."""
        elapsed, self._last = now - self._last, now
        drag = self._session.gestures.drag
        if drag is None or drag.report is None or not drag.pending or self._session.recorder.recording:
            return 1
        rounds = min(max(round(elapsed * _RATE), 1), _MOST_ROUNDS)
        return rounds if drag.aimed else min(rounds * _STILL_ROUNDS[drag.report.backend], _MOST_STILL)


class Dragging(ViewPart):
    """Begins and ends drags."""

    def __init__(self, session: Session, view: View, hit_test: HitTest, planting: Planting) -> None:
        super().__init__(session, view)
        self._hit_test, self._planting = hit_test, planting

    # Beginning

    def can_drag(self, hit: Hit) -> bool:
        return drag_targets.can_take(self._document, hit)

    def from_hit(self, hit: Hit | None, event: Press) -> Drag | RangeDrag | None:
        """Drag a hit, in the view plane or the end of a range; None if it cannot be moved."""
        if hit is None:
            return None
        if hit.kind == "limit":
            self._view.set_hovered(Hover())
            end = end_of_hit(self._document, self._view.display, hit)
            return RangeDrag(self._session, self._view, hit, end, self._local(event)) if end is not None else None
        item = item_of(hit)
        mover, position = drag_targets.mover_for(self._document, item, hit)
        if mover is None:
            return None
        if isinstance(mover, TrailMover):
            mover.reach = self._view.trail_reach
        gizmo = self._gizmo(item, Tool.MOVE, position)
        return self._begun(self._hold(gizmo, Part.SCREEN, self._local(event)), mover, event)

    def from_gizmo(self, part: Part | None, event: Press) -> Drag | None:
        """Drag a handle of the gizmo at the active item."""
        item, gizmo = self._document.active, self._hit_test.gizmo()
        if item is None or gizmo is None or part is None:
            return None
        drag = self._hold(gizmo, part, self._local(event))
        return self._begun(drag, self._mover(item, gizmo.tool), event)

    def grab(self, tool: Tool) -> None:
        """Let the active item follow the pointer until a click or Enter; Esc cancels."""
        item = self._document.active
        if item is None:
            return
        view, root = self._view, not item.on_figure or drag_targets.is_body(self._document, item)
        fk = item.on_figure and self._document.mode is Mode.FK and not (tool is Tool.MOVE and root)
        gizmo = self._hit_test.gizmo_at(item, Tool.ROTATE if fk else tool)
        part = Part.SCREEN if gizmo.tool is Tool.MOVE else Part.VIEW_RING
        drag = self._hold(gizmo, part, view.local(*view.pointer_at))
        view.set_gesture(self._begun(drag, self._mover(item, gizmo.tool), None))

    def _mover(self, item: Item, tool: Tool) -> Mover:
        return drag_targets.mover_of_handles(self._document, item, tool, individual=self._view.individual)

    def _begun(self, handle: GizmoDrag, mover: Mover, event: Press | None) -> Drag | None:
        """The drag; None where it would set keys that planting overrules."""
        self._planting.withdraw_offer()
        if self._view.mirror:
            mover = drag_targets.mirrored_mover(self._document, mover)
        if self._document.auto_key or self._session.recorder.recording or mover.at_frame is not None:
            foot = drag_targets.planted_foot(self._document, mover)
            if foot is not None:
                self._planting.offer_to_lift(foot, mover.at_frame)
                return None
        mover.begin(self._session)
        self._view.set_hovered(Hover())
        return Drag(self._session, self._view, handle, mover, None if event is None else event.button)

    def _local(self, event: Press) -> tuple[float, float]:
        return self._view.local(event.x, event.y)

    def _hold(self, gizmo: Gizmo, part: Part, at: tuple[float, float]) -> GizmoDrag:
        """Begin dragging a handle from a pixel of the viewport."""
        view = self._view
        steps = {"snap_m": view.snap_m, "snap_deg": view.snap_deg}
        return GizmoDrag(gizmo, view.projection(), part, *at, **steps)

    def _gizmo(self, item: Item, tool: Tool, position: Floats) -> Gizmo:
        return replace(self._hit_test.gizmo_at(item, tool), position=position)

    # While it runs, and ending

    def lengthen(self, by: int) -> None:
        """Change the number of joints in the dragged chain, or of frames that follow the dragged one of a trail."""
        session, drag = self._session, self._drag
        if drag is not None and isinstance(drag.mover, TrailMover):
            self._view.trail_reach = drag.mover.widen(by)
            drag.apply()
            return
        length, most = session.gestures.chain
        if most:
            session.gestures.set_chain(min(max(length + by, 1), most))

    @property
    def _drag(self) -> Drag | None:
        gesture = self._view.gesture
        return gesture if isinstance(gesture, Drag) else None

    @property
    def _held(self) -> EditGesture | None:
        gesture = self._view.gesture
        return gesture if isinstance(gesture, EditGesture) else None

    def confirm(self) -> None:
        if self._held is not None:
            self._held.confirm()

    def cancel(self) -> None:
        if self._held is not None:
            self._held.cancel()

    def let_go(self) -> None:
        """End the drag if the session has ended its gesture."""
        if self._held is not None and self._session.gestures.label is None:
            self._view.set_gesture(None)

    # Commands

    def bindings(self) -> CommandBindings:
        session = self._session
        bindings = {
            "grab.move": CommandBinding(lambda: self.grab(Tool.MOVE), self._lacks_to_move),
            "grab.rotate": CommandBinding(lambda: self.grab(Tool.ROTATE), self._lacks_to_grab),
            "solver.escape": CommandBinding(
                lambda: session.accept_escape(),  # noqa: PLW0108
                needs("the solver is not stuck", lambda: session.escape.offered),
            ),
            "drag.chain_longer": CommandBinding(lambda: self.lengthen(1)),
            "drag.chain_shorter": CommandBinding(lambda: self.lengthen(-1)),
            "drag.confirm": CommandBinding(self.confirm),
            "drag.cancel": CommandBinding(self.cancel),
            "drag.backspace": self._editing(GizmoDrag.backspace),
            "drag.next_field": self._editing(GizmoDrag.next_field),
        }
        bindings |= {f"drag.type_{name}": self._editing(methodcaller("type", text)) for name, text in TYPED.items()}
        for axis in "xyz":
            bindings[f"drag.lock_{axis}"] = self._editing(methodcaller("lock", axis))
            bindings[f"drag.plane_{axis}"] = self._editing(methodcaller("lock", axis, plane=True))
        return bindings

    def _lacks_to_grab(self) -> str:
        if self._document.active is None:
            return "select what is to move"
        return "" if self._view.gesture is None else "release the mouse button"

    def _lacks_to_move(self) -> str:
        document = self._document
        if document.active is None or document.mode is Mode.FK or drag_targets.can_move(document, document.active):
            return self._lacks_to_grab()
        return "nothing above it can follow"

    def _editing(self, change: Callable[[GizmoDrag], object]) -> CommandBinding:
        def run() -> None:
            if self._drag is not None:
                self._drag.edit(change)

        return CommandBinding(run)
