"""Giving the active joint another name: asked for by the command, written where the window shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.document.actions import RenameJoint
from viewer.errors import InputError, quote
from viewer.session import Document
from viewer.ui.commands import Handler, Handlers
from viewer.ui.drag_targets import joint_of

if TYPE_CHECKING:
    from viewer.ui.controller import Controller


class Renaming:
    """Of one controller.

    Attributes:
        joint: the one whose name is being written, -1 for none; panels set it back.
    """

    def __init__(self, controller: Controller) -> None:
        """No name is being written."""
        self._controller = controller
        self.joint = -1

    @property
    def _document(self) -> Document:
        return self._controller.session.document

    def ask(self) -> None:
        """Let the name of the active joint, or of the active effector's, be written anew."""
        item = self._document.active
        if item is not None:
            self._begin(joint_of(self._document, item))

    def _begin(self, joint: int) -> None:
        self.joint = joint
        self._controller.changed()

    def end(self) -> None:
        """No name is being written any more."""
        self._begin(-1)

    def rename(self, joint: int, name: str) -> None:
        """Call a joint otherwise.

        Raises:
            InputError: it cannot be called so, or something goes on that knows it by its name.
        """
        document, session = self._document, self._controller.session
        own = document.skeleton.names[joint]
        moved = {motion.effector for motion in session.motions}
        if any(e.joint == joint and e.name in moved for e in document.skeleton.effectors):
            raise InputError(f"joint {quote(own)}: a moving target uses its name")
        session.dispatch(RenameJoint(own, name))

    def handlers(self) -> Handlers:
        """Of renaming."""
        return {"joint.rename": Handler(self.ask, lambda: self._document.active is not None)}
