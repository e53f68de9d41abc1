"""What is at a pixel of the window, and what the pointer hovers over."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.gizmo import Part
from viewer.scene import hits, pick_axis
from viewer.ui.gestures import item_of

if TYPE_CHECKING:
    from viewer.gizmo import Gizmo
    from viewer.scene import Hit
    from viewer.ui.controller import Controller


class Hover(NamedTuple):
    """What is under the pointer; the first of these that there is counts.

    Attributes:
        axis: of the view-axes disc: "x", "-x", ..., "disc" beside them on it, "" off it.
        part: of the gizmo.
        hit: of the figure.
    """

    axis: str = ""
    part: Part | None = None
    hit: Hit | None = None


_LINES = (Part.X, Part.Y, Part.Z, Part.VIEW_RING)
_ON_DIAMOND, _ON_LINE = 7.0, 4.0
"""Logical pixels from an effector's middle in which it is meant rather than the squares and the middle of the handles,
or their arrows and rings, which are thin and may lead across it."""


def under(controller: Controller, x: float, y: float) -> Hover:
    """What is at a pixel of the window."""
    if not controller.viewport.contains(x, y):
        return Hover()
    at = controller.local(x, y)
    projection, scale = controller.projection(), controller.scale
    turns = controller.display.view_axes and controller.camera_moves.turns
    axis = pick_axis(projection, *at, scale) if turns else ""
    if axis:
        return Hover(axis=axis)
    gizmo = controller.picture.gizmo()
    part = gizmo.pick(projection, *at, scale) if gizmo is not None else None
    found = hits_at(controller, x, y)
    if gizmo is not None and part is not None and found and _is_nearer(controller, found[0], gizmo, part, at):
        part = None
    return Hover(part=part, hit=found[0] if found else None)


def hits_at(controller: Controller, x: float, y: float) -> list[Hit]:
    """All of the figure at a pixel of the window, the best first."""
    return hits(controller.scene(), controller.projection(), *controller.local(x, y), controller.scale)


def _is_nearer(controller: Controller, hit: Hit, gizmo: Gizmo, part: Part, at: tuple[float, float]) -> bool:
    """Whether the pointer is on another effector's diamond, beside the middle of the handles of what is active."""
    if hit.kind != "effector" or item_of(hit) == controller.document.active:
        return False
    pixels = controller.projection().project(np.stack([hit.point, gizmo.position]))
    to_hit, to_middle = np.linalg.norm(pixels - at, axis=1).tolist()
    size = (_ON_LINE if part in _LINES else _ON_DIAMOND) * controller.scale
    return bool(to_hit <= size and to_hit < to_middle)
