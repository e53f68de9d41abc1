"""What ends a recording: whatever is no posing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.session.take.autokey import only_poses
from viewer.session.take.recording import Recording

if TYPE_CHECKING:
    from viewer.session.actions.base import Action


class EndsRecording(Recording):
    """A recording that is ended by what cannot go on with it."""

    def dispatch(self, action: Action) -> None:
        """See `Stepping.dispatch`; a recording goes on if the action only poses, else it is ended first."""
        if self._recorder is not None and not only_poses(self.document, action.apply(self.document)):
            self.stop_recording()
        super().dispatch(action)

    def redo(self) -> bool:
        """See `Stepping.redo`; a recording is ended first."""
        self.stop_recording()
        return super().redo()

    def go_to(self, index: int) -> None:
        """See `Stepping.go_to`; a recording is ended first: what was undone before it began is then forgotten."""
        known = len(self._history)
        self.stop_recording()
        super().go_to(min(index, len(self._history)) if index <= known else index)

    def play(self, direction: int = 1) -> None:
        """See `Transport.play`; a recording is ended first."""
        self.stop_recording()
        super().play(direction)

    def seek(self, frame: int) -> None:
        """See `Transport.seek`; a recording is ended first."""
        self.stop_recording()
        super().seek(frame)
