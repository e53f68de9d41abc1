"""Commands on markers: names of frames on the ruler."""

from __future__ import annotations

from viewer.document.actions import RemoveMarker, SetMarker
from viewer.document.markers import Marker, marker_at
from viewer.session import Session
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.playback import Playback
from viewer.ui.view import View


class Markers:
    """Sets, renames and removes markers, and goes to them.

    Attributes:
        renamed: frame of the marker whose name is being typed; None: none is.
    """

    def __init__(self, session: Session, view: View, playback: Playback) -> None:
        """Start without a marker being renamed."""
        self._session, self._view, self._playback = session, view, playback
        self.renamed: int | None = None

    @property
    def all(self) -> tuple[Marker, ...]:
        """The markers by frame."""
        return self._session.document.markers

    def set(self) -> None:
        """Set a marker at the frame shown, unless it has one, and ask for its name."""
        frame = self._session.document.frame
        if marker_at(self.all, frame) is None:
            self._session.dispatch(SetMarker(frame))
        self.rename(frame)

    def rename(self, frame: int) -> None:
        """Ask for the name of a marker."""
        self.renamed = frame
        self._view.changed()

    def name(self, name: str) -> None:
        """Give the marker being renamed a name, and ask no more.

        Raises:
            InputError: not a name.
        """
        assert self.renamed is not None
        self._session.dispatch(SetMarker(self.renamed, name))
        self.renamed = None

    def remove(self, frame: int) -> None:
        """Remove the marker of a frame."""
        self._session.dispatch(RemoveMarker(frame))
        self.renamed = None

    def _next(self, way: int) -> int | None:
        """The frame of the nearest marker before (-1) or after (1) the frame shown; None without one."""
        frame = self._session.document.frame
        there = [marker.frame for marker in self.all if way * (marker.frame - frame) > 0]
        return None if not there else min(there) if way > 0 else max(there)

    def _step(self, way: int) -> None:
        frame = self._next(way)
        if frame is not None:
            self._playback.go(frame)

    def bindings(self) -> CommandBindings:
        """How its commands are run."""
        return {
            "marker.set": CommandBinding(self.set),
            "marker.previous": CommandBinding(lambda: self._step(-1), lambda: self._next(-1) is not None),
            "marker.next": CommandBinding(lambda: self._step(1), lambda: self._next(1) is not None),
        }
