"""The action that makes a document planar."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from viewer.session.actions.base import Action
from viewer.session.bounds import binding
from viewer.session.planar import confined, flattened, normal_of
from viewer.session.standing import carried

if TYPE_CHECKING:
    from viewer.session.document import Document


@dataclass(frozen=True, slots=True)
class SetPlanar(Action):
    """Keep the body in a plane of the world through its root, or let it go.

    Its bones are turned into the plane first, and its handles move along; what is dragged from then on stays there.

    Attributes:
        plane: "xy", "yz", "zx", or None for space.
    """

    plane: str | None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return "Leave the plane" if self.plane is None else f"Plane {self.plane.upper()}"

    def apply(self, document: Document) -> Document:
        """The document in the plane, or in space."""
        if self.plane == document.planar:
            return document
        if self.plane is None:
            return replace(document, planar=None)
        normal_of(self.plane)
        pose = flattened(binding(document), document.pose, self.plane, limits=document.limits_on)
        flat = carried(document, document.pose if pose.same_as(document.pose) else pose, planar=self.plane)
        handles = tuple(confined(flat, handle) if handle.on else handle for handle in flat.handles)
        return replace(flat, handles=handles)
