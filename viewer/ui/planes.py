"""Planar documents: the commands that make them, and the view at right angles to their planes."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from viewer.session.actions import SetPlanar
from viewer.session.planar import out_of_plane
from viewer.ui.camera_moves import along
from viewer.ui.command import Handler, Handlers

if TYPE_CHECKING:
    from viewer.scene import Camera
    from viewer.ui.controller import Controller

_ALONG = {"xy": "z", "yz": "x", "zx": "y"}
"""The axis that points at whoever looks at a plane."""
_NAMED = 2
"""So many joints are named; more are counted."""


class Planes:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """For its session."""
        self._controller = controller

    def facing(self, camera: Camera) -> Camera:
        """A camera turned to the document's plane, without perspective; as it is where the document is not planar."""
        plane = self._controller.session.document.planar
        if plane is None:
            return camera
        # From above any yaw would do: the one from which the other axes run straight across and down.
        level = replace(camera, yaw=0.0) if _ALONG[plane] == "y" else camera
        return replace(along(level, _ALONG[plane]), orthographic=True)

    def toggle(self, plane: str) -> None:
        """Bring the body into a plane and look at it, or let it go, where it is in that plane already."""
        controller = self._controller
        leaves = controller.session.document.planar == plane
        controller.session.dispatch(SetPlanar(None if leaves else plane))
        moves = controller.camera_moves
        if leaves:
            moves.set(replace(moves.heading_for, orthographic=False))
        else:
            moves.set(replace(moves.heading_for, orthographic=True))
            moves.jump(self.facing(moves.heading_for))
        self.say_who_stands_out()

    def say_who_stands_out(self) -> None:
        """Note which joints the limits that bind keep out of the plane, if any."""
        names = out_of_plane(self._controller.session.document)
        if names:
            who = f"{len(names)} joints" if len(names) > _NAMED else " and ".join(names)
            verb, whose = ("stands", "its") if len(names) == 1 else ("stand", "their")
            self._controller.note(f"{who} {verb} out of the plane: {whose} limits exclude it")

    def _is(self, plane: str) -> bool:
        return self._controller.session.document.planar == plane

    def handlers(self) -> Handlers:
        """Of planes."""
        return {
            f"view.plane_{plane}": Handler(partial(self.toggle, plane), checked=partial(self._is, plane))
            for plane in _ALONG
        }
