"""Selection commands and renaming."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from viewer.document import Item, joint_of
from viewer.document.actions import RenameJoint, Select
from viewer.errors import InputError, quote
from viewer.session import Session
from viewer.skeleton import at_or_below
from viewer.ui.commands import CommandBinding, CommandBindings
from viewer.ui.view import View, ViewPart


class Selecting(ViewPart):
    """Selects parents, children or everything."""

    def select(self, *items: Item) -> None:
        """Select only these items."""
        self._session.dispatch(Select(items))

    def with_children(self, item: Item) -> None:
        """Select a joint and its descendants; the joint becomes active."""
        skeleton, joint = self._document.skeleton, joint_of(self._document, item)
        hanging = np.flatnonzero(at_or_below(skeleton, joint)).tolist()
        # The item selected last is active: the joint itself.
        self.select(*(Item("joint", skeleton.names[j]) for j in reversed(hanging)))

    def parent(self) -> Item | None:
        """The parent of the active item: of an effector its joint, of a joint its parent."""
        item, skeleton = self._document.active_on_figure, self._document.skeleton
        if item is None:
            return None
        joint = joint_of(self._document, item)
        above = joint if item.kind == "effector" else int(skeleton.parents[joint])
        return None if above < 0 else Item("joint", skeleton.names[above])

    def child(self) -> Item | None:
        """The child of the active joint: its first child joint, else an effector on it."""
        item, skeleton = self._document.active_on_figure, self._document.skeleton
        if item is None or item.kind == "effector":
            return None
        joint = skeleton.index(item.name)
        children = np.flatnonzero(skeleton.parents == joint)
        if len(children):
            return Item("joint", skeleton.names[int(children[0])])
        return next((Item("effector", e.name) for e in skeleton.effectors if e.joint == joint), None)

    def everything(self) -> tuple[Item, ...]:
        """The enabled effectors; all joints if there are none or they are selected already."""
        document = self._document
        effectors = tuple(Item("effector", goal.id) for goal in document.goals if goal.enabled)
        if effectors and set(effectors) != set(document.selection):
            return effectors
        return tuple(Item("joint", name) for name in reversed(document.skeleton.names))

    @property
    def _moves(self) -> bool:
        return self._session.targets.running

    def _none(self) -> None:
        """Pause moving targets; else clear the joint filter; else select nothing."""
        if self._moves:
            self._session.targets.pause()
        elif self._view.finding:
            self._view.finding = ""
            self._view.changed()
        else:
            self.select()

    def _selects(self, find: Callable[[], Item | None]) -> CommandBinding:
        def run() -> None:
            item = find()
            if item is not None:
                self.select(item)

        return CommandBinding(run, lambda: find() is not None)

    def _children_of_active(self) -> None:
        if self._document.active_on_figure is not None:
            self.with_children(self._document.active_on_figure)

    def bindings(self) -> CommandBindings:
        return {
            "select.parent": self._selects(self.parent),
            "select.child": self._selects(self.child),
            "select.children": CommandBinding(
                self._children_of_active, lambda: self._document.active_on_figure is not None
            ),
            "select.all": CommandBinding(lambda: self.select(*self.everything())),
            "select.none": CommandBinding(
                self._none, lambda: bool(self._document.selection or self._moves or self._view.finding)
            ),
            "select.find": CommandBinding(lambda: self._view.request("find-joint")),
        }


class Renaming(ViewPart):
    """Renames the active joint: the command opens a text field in the window.

    Attributes:
        joint: index of the joint being renamed, -1 for none; panels reset it.
    """

    def __init__(self, session: Session, view: View) -> None:
        super().__init__(session, view)
        self.joint = -1

    def ask(self) -> None:
        """Start renaming the active joint, or the active effector's joint."""
        item = self._document.active_on_figure
        if item is not None:
            self._begin(joint_of(self._document, item))

    def _begin(self, joint: int) -> None:
        self.joint = joint
        self._view.changed()

    def end(self) -> None:
        """Stop renaming."""
        self._begin(-1)

    def rename(self, joint: int, name: str) -> None:
        """Rename a joint.

        Raises:
            InputError: an invalid name, or a moving target uses the joint's name.
        """
        document, session = self._document, self._session
        own = document.skeleton.names[joint]
        moved = {motion.effector for motion in session.targets.motions}
        if any(e.joint == joint and e.name in moved for e in document.skeleton.effectors):
            raise InputError(f"joint {quote(own)}: a moving target uses its name")
        session.dispatch(RenameJoint(own, name))

    def bindings(self) -> CommandBindings:
        return {"joint.rename": CommandBinding(self.ask, lambda: self._document.active_on_figure is not None)}
