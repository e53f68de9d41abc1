"""Copying and pasting poses, undoing and redoing."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from viewer.session.actions import MirrorPose, PastePose
from viewer.ui.command import Handler, Handlers

if TYPE_CHECKING:
    from viewer.skeleton.pose import Pose
    from viewer.ui.controller import Controller


class Copied(NamedTuple):
    """A pose that was copied.

    Attributes:
        pose: of the whole skeleton.
        joints: names of those that were selected; None: all.
        names: of the skeleton's joints: it fits on skeletons that have the same.
    """

    pose: Pose
    joints: tuple[str, ...] | None
    names: tuple[str, ...]


class Clipboard:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """Empty."""
        self._controller = controller
        self._copied: Copied | None = None

    def copy(self) -> None:
        """Take the pose of the selected joints; of all where none is selected."""
        document = self._controller.session.document
        joints = tuple(item.name for item in document.selection if item.kind == "joint")
        self._copied = Copied(document.pose, joints or None, document.skeleton.names)
        self._controller.note(f"Copied the pose of {len(joints)} joints" if joints else "Copied the pose")

    def paste(self, *, flipped: bool) -> None:
        """Put it on the figure, as it was or with left and right swapped."""
        if self._copied is not None:
            self._controller.session.dispatch(PastePose(self._copied.pose, self._copied.joints, flipped))

    def _fits(self) -> bool:
        return self._copied is not None and self._copied.names == self._controller.session.document.skeleton.names

    def handlers(self) -> Handlers:
        """Of copying, pasting and undoing."""
        session = self._controller.session
        return {
            "pose.copy": Handler(self.copy),
            "pose.paste": Handler(lambda: self.paste(flipped=False), self._fits),
            "pose.paste_flipped": Handler(lambda: self.paste(flipped=True), self._fits),
            "pose.mirror": Handler(lambda: session.dispatch(MirrorPose())),
            "edit.undo": Handler(session.undo, lambda: session.undo_depth > 0 or session.recording),
            "edit.redo": Handler(session.redo, lambda: session.redo_depth > 0),
        }
