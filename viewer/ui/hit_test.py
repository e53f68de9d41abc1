"""Hit tests at a pixel of the window: view axes, gizmo handles, effectors, joints and bones."""

from __future__ import annotations

import numpy as np

from viewer.document import Item, joint_of, world_of
from viewer.gizmo import Gizmo, Part, Space, Tool, axes_of
from viewer.scene import Hit, hits, other_at, pick_axis, pick_trail
from viewer.session import Session
from viewer.spatial.checks import Floats
from viewer.ui import drag_targets
from viewer.ui.contact import hit_radius
from viewer.ui.mirroring import leads
from viewer.ui.range_handles import hit_end
from viewer.ui.scene_builder import SceneBuilder
from viewer.ui.view import Hover, View, Workspace, item_of

_LINES = (Part.X, Part.Y, Part.Z, Part.VIEW_RING)
_ON_DIAMOND, _ON_LINE = 7.0, 4.0
"""Logical pixels from an effector's centre within which it is hit instead of the gizmo's squares and centre, or
of its arrows and rings, which are thin and may cross it."""


class HitTest:
    """Finds what is at a pixel, and makes the gizmo of the active item."""

    def __init__(self, session: Session, view: View, scenes: SceneBuilder) -> None:
        """Test the session's scene in a view."""
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
        """Whether an effector's diamond is at a pixel of the window: it goes before the ends of ranges."""
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
        if item is None or tool is Tool.SELECT or self._session.clock.playing or self._builds:
            return None
        if tool is Tool.MOVE and not drag_targets.can_move(document, item):
            return None  # FK only rotates joints, and a locked root does not move
        return self.gizmo_at(item, tool)

    @property
    def _builds(self) -> bool:
        return self._view.workspace is Workspace.BUILD

    def _above(self, item: Item) -> Floats:
        """(4,) world rotation of the parent of an item's joint; none where there is no such parent."""
        document, nothing = self._session.document, np.array([0.0, 0.0, 0.0, 1.0])
        if not item.on_figure:
            return nothing
        parent = int(document.skeleton.parents[joint_of(document, item)])
        world = world_of(document.skeleton, document.pose)
        return world.rotations[parent] if parent >= 0 else nothing

    def gizmo_at(self, item: Item, tool: Tool) -> Gizmo:
        """The gizmo of an item, along the axes of the chosen space."""
        document, space, projection = self._session.document, self._view.space, self._view.projection()
        rotation = drag_targets.grip(document, item)[1]
        above = self._above(item)
        other = Space.LOCAL if space is Space.WORLD else Space.WORLD
        axes, others = (axes_of(one, rotation, above, projection) for one in (space, other))
        alone = self._view.mirror and leads(document, item)
        place = drag_targets.grip(document, item)[0] if alone else drag_targets.pivot(document, item)
        return Gizmo(tool, place, axes, others, self._view.unit)
