"""The context menu of the view, and selecting by key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.document.actions import Select
from viewer.document.default_goals import below
from viewer.session import Document, Item
from viewer.ui.commands import BY_ID, Command, Handler, Handlers

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

_OF_JOINT = (
    "effector.make", "limits.joint", "reset.rotation", "reset.position", "select.children", "view.frame_selection",
)  # fmt: skip
_OF_EFFECTOR = (
    "pin.position", "pin.rotation", "effector.hold", "goal.remove", "effector.remove", "select.parent",
    "view.frame_selection",
)  # fmt: skip
_OF_NOTHING = ("select.all", "limits.all", "reset.pose", "pose.mirror", "view.frame_all", "view.three_quarter")


def context_commands(item: Item | None) -> tuple[Command, ...]:
    """The entries of the menu of an item, or of the background; what cannot be done now is shown grey."""
    if item is None:
        return tuple(BY_ID[name] for name in _OF_NOTHING)
    return tuple(BY_ID[name] for name in (_OF_EFFECTOR if item.kind == "effector" else _OF_JOINT))


class Selecting:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """For its session."""
        self._controller = controller

    @property
    def _document(self) -> Document:
        return self._controller.session.document

    def select(self, *items: Item) -> None:
        """Select these, and nothing else."""
        self._controller.session.dispatch(Select(items))

    def with_children(self, item: Item) -> None:
        """Select a joint and all that hang on it; the item becomes active."""
        skeleton, joint = self._document.skeleton, self._controller.picture.joint_of(item)
        hanging = np.flatnonzero(below(skeleton, [joint])).tolist()
        # What is selected last is active: the joint itself.
        self.select(*(Item("joint", skeleton.names[j]) for j in reversed(hanging)))

    def parent(self) -> Item | None:
        """What is above the active item: of an effector its joint, of a joint its parent."""
        item, skeleton = self._document.active, self._document.skeleton
        if item is None:
            return None
        joint = self._controller.picture.joint_of(item)
        above = joint if item.kind == "effector" else int(skeleton.parents[joint])
        return None if above < 0 else Item("joint", skeleton.names[above])

    def child(self) -> Item | None:
        """What is below the active joint: its first child, else an effector on it."""
        item, skeleton = self._document.active, self._document.skeleton
        if item is None or item.kind == "effector":
            return None
        joint = skeleton.index(item.name)
        children = np.flatnonzero(skeleton.parents == joint)
        if len(children):
            return Item("joint", skeleton.names[int(children[0])])
        return next((Item("effector", e.name) for e in skeleton.effectors if e.joint == joint), None)

    def everything(self) -> tuple[Item, ...]:
        """The effectors that hold something; all joints where none does, or where those are selected already."""
        document = self._document
        effectors = tuple(Item("effector", goal.id) for goal in document.goals if goal.enabled)
        if effectors and set(effectors) != set(document.selection):
            return effectors
        return tuple(Item("joint", name) for name in reversed(document.skeleton.names))

    @property
    def _moves(self) -> bool:
        """Whether targets move by themselves."""
        return self._controller.session.animating

    def _none(self) -> None:
        """Hold still what moves by itself; else show all joints again; else select nothing."""
        if self._moves:
            self._controller.session.pause()
        elif self._controller.finding:
            self._controller.finding = ""
            self._controller.changed()
        else:
            self.select()

    def _can_none(self) -> bool:
        return bool(self._document.selection or self._moves or self._controller.finding)

    def _selects(self, wanted: str) -> Handler:
        find = {"parent": self.parent, "child": self.child}[wanted]

        def run() -> None:
            item = find()
            if item is not None:
                self.select(item)

        return Handler(run, lambda: find() is not None)

    def _children_of_active(self) -> None:
        if self._document.active is not None:
            self.with_children(self._document.active)

    def _find(self) -> None:
        self._controller.find_requested = True
        self._controller.changed()

    def handlers(self) -> Handlers:
        """Of selecting."""
        return {
            "select.parent": self._selects("parent"),
            "select.child": self._selects("child"),
            "select.children": Handler(self._children_of_active, lambda: self._document.active is not None),
            "select.all": Handler(lambda: self.select(*self.everything())),
            "select.none": Handler(self._none, self._can_none),
            "select.find": Handler(self._find),
        }
