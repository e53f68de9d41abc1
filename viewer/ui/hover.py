"""What is under the pointer."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from viewer.gizmo import Part
    from viewer.scene import Hit


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
