"""Drags: effectors in the view plane, handles of the gizmo, bones and joints, the root; and grabs by key."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from viewer.gizmo import GizmoDrag, Part, Tool
from viewer.session import Grab, Mode
from viewer.skeleton.kinds import JointKind
from viewer.spatial.quaternion import conjugate, rotate
from viewer.ui.drag import Drag
from viewer.ui.gestures import item_of
from viewer.ui.handler import Handler, Handlers
from viewer.ui.hover import Hover
from viewer.ui.movers import JointMover, RootMover, TargetMover

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.gizmo import Gizmo
    from viewer.scene import Hit
    from viewer.session import Document, Item
    from viewer.spatial.checks import Floats
    from viewer.ui.controller import Controller
    from viewer.ui.events import Press
    from viewer.ui.movers import Mover

__all__ = ["Drag", "Dragging"]

_Axis = Literal["x", "y", "z"]
_AXES: tuple[_Axis, ...] = get_args(_Axis)


class Dragging:
    """Begins and ends the drags of one controller."""

    def __init__(self, controller: Controller) -> None:
        """None runs."""
        self._controller = controller

    @property
    def _document(self) -> Document:
        return self._controller.session.document

    # Beginning

    def can_drag(self, hit: Hit) -> bool:
        """Whether dragging there would move anything."""
        item = item_of(hit)
        if self._document.mode is Mode.IK or item.kind == "effector" or self._controller.picture.is_root(item):
            return True
        return self._turned_by(hit) is not None

    def from_hit(self, hit: Hit | None, event: Press) -> Drag | None:
        """Drag what is under the pointer, in the view plane; None where it cannot be moved."""
        if hit is None:
            return None
        item = item_of(hit)
        mover, place = self._mover_for(item, hit)
        if mover is None:
            return None
        gizmo = self._gizmo(item, Tool.MOVE, place)
        drag = GizmoDrag(gizmo, self._controller.projection(), Part.SCREEN, *self._local(event), **self._snaps())
        return self._begun(drag, mover, event)

    def from_gizmo(self, part: Part | None, event: Press) -> Drag | None:
        """Drag a handle of the gizmo at the active item."""
        item, gizmo = self._document.active, self._controller.picture.gizmo()
        if item is None or gizmo is None or part is None:
            return None
        drag = GizmoDrag(gizmo, self._controller.projection(), part, *self._local(event), **self._snaps())
        return self._begun(drag, self._mover_of_handles(item, gizmo.tool), event)

    def grab(self, tool: Tool) -> None:
        """The active item follows the pointer at once, until a click or Enter; Esc takes it back."""
        item = self._document.active
        if item is None:
            return
        controller = self._controller
        fk = self._document.mode is Mode.FK and not (tool is Tool.MOVE and controller.picture.is_root(item))
        gizmo = controller.picture.gizmo_at(item, Tool.ROTATE if fk else tool)
        part = Part.SCREEN if gizmo.tool is Tool.MOVE else Part.VIEW_RING
        at = controller.local(*controller.pointing.place)
        drag = GizmoDrag(gizmo, controller.projection(), part, *at, **self._snaps())
        controller.set_gesture(self._begun(drag, self._mover_of_handles(item, gizmo.tool), None))

    def _begun(self, handle: GizmoDrag, mover: Mover, event: Press | None) -> Drag:
        controller = self._controller
        mover.begin(controller.session)
        controller.set_hovered(Hover())
        return Drag(controller, handle, mover, None if event is None else event.button)

    def _local(self, event: Press) -> tuple[float, float]:
        return self._controller.local(event.x, event.y)

    def _snaps(self) -> dict[str, float]:
        return {"snap_m": self._controller.snap_m, "snap_deg": self._controller.snap_deg}

    def _gizmo(self, item: Item, tool: Tool, place: Floats) -> Gizmo:
        return replace(self._controller.picture.gizmo_at(item, tool), position=place)

    # What is moved

    def _together(self, item: Item) -> dict[Item, tuple[Floats, Floats]]:
        """What moves with an item: all effectors selected, if it is one of them."""
        selection = self._document.selection
        several = [other for other in selection if other.kind == "effector"] if item in selection else []
        items = several if item in several else [item]
        return {one: self._controller.picture.grip(one) for one in items}

    def _mover_for(self, item: Item, hit: Hit) -> tuple[Mover | None, Floats]:
        """What a drag of what was hit moves, and the place that follows the pointer."""
        picture = self._controller.picture
        if self._document.mode is Mode.FK:
            if picture.is_root(item) and hit.kind != "bone":
                return RootMover(item.name), hit.point
            joint = self._turned_by(hit)
            return (None, hit.point) if joint is None else (JointMover(joint, hit.point), hit.point)
        if item.kind == "effector":
            return TargetMover(self._together(item)), picture.grip(item)[0]
        place, turn = picture.grip(item)
        if picture.is_root(item) and hit.kind != "bone":
            return TargetMover({item: (place, turn)}), place
        local = rotate(conjugate(turn), hit.point - place)
        return TargetMover({item: (hit.point, turn)}, Grab(item.name, local)), hit.point

    def _turned_by(self, hit: Hit) -> str | None:
        """The joint that an FK drag of what was hit turns; None if none can."""
        skeleton = self._document.skeleton
        joint = hit.index
        if hit.kind != "bone" and np.linalg.norm(hit.point - self._controller.picture.world.positions[joint]) < 1e-6:
            joint = int(skeleton.parents[joint])
        while joint >= 0 and skeleton.kinds[joint] in {JointKind.FIXED, JointKind.SLIDE}:
            joint = int(skeleton.parents[joint])
        return None if joint < 0 else skeleton.names[joint]

    def _mover_of_handles(self, item: Item, tool: Tool) -> Mover:
        """What the handles of an item move."""
        picture, fk = self._controller.picture, self._document.mode is Mode.FK
        root = picture.is_root(item)
        if fk and root:
            return RootMover(item.name)
        if fk or (tool is Tool.ROTATE and item.kind == "joint" and not root):
            return JointMover(self._document.skeleton.names[picture.joint_of(item)])
        if item.kind == "effector" or root:
            return TargetMover(self._together(item))
        return TargetMover({item: picture.grip(item)}, Grab(item.name))

    # Ending

    @property
    def _drag(self) -> Drag | None:
        gesture = self._controller.gesture
        return gesture if isinstance(gesture, Drag) else None

    def confirm(self) -> None:
        """Keep what was dragged: one step to undo."""
        if self._drag is None:
            return
        self._controller.set_gesture(None)
        self._controller.session.commit()

    def cancel(self) -> None:
        """Take everything back: the very document that the drag began with."""
        if self._drag is not None:
            self._controller.set_gesture(None)
            self._controller.session.cancel()

    # Commands

    def handlers(self) -> Handlers:
        """Of what acts while something is dragged, and of grabs."""
        session = self._controller.session
        handlers = {
            "grab.move": Handler(lambda: self.grab(Tool.MOVE), self._can_grab),
            "grab.rotate": Handler(lambda: self.grab(Tool.ROTATE), self._can_grab),
            "solver.escape": Handler(lambda: session.accept_escape(), lambda: session.escape_offered),  # noqa: PLW0108
            "drag.confirm": Handler(self.confirm),
            "drag.cancel": Handler(self.cancel),
            "drag.backspace": self._while_dragging(Drag.backspace),
            "drag.next_field": self._while_dragging(Drag.next_field),
            "drag.type_point": self._typing("."),
            "drag.type_minus": self._typing("-"),
        }
        handlers |= {f"drag.type_{digit}": self._typing(str(digit)) for digit in range(10)}
        for axis in _AXES:
            handlers[f"drag.lock_{axis}"] = self._locking(axis, plane=False)
            handlers[f"drag.plane_{axis}"] = self._locking(axis, plane=True)
        return handlers

    def _can_grab(self) -> bool:
        item = self._document.active
        return item is not None and self._controller.gesture is None

    def _while_dragging(self, do: Callable[[Drag], None]) -> Handler:
        def run() -> None:
            if self._drag is not None:
                do(self._drag)

        return Handler(run)

    def _typing(self, text: str) -> Handler:
        return self._while_dragging(lambda drag: drag.type(text))

    def _locking(self, axis: _Axis, *, plane: bool) -> Handler:
        return self._while_dragging(lambda drag: drag.lock(axis, plane=plane))
