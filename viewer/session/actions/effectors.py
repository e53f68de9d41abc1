"""Actions that make and remove effectors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from viewer.errors import InputError, quote
from viewer.session.actions.base import Action
from viewer.session.handle import Handle
from viewer.session.values import Item, Wanted
from viewer.session.wanting import held
from viewer.skeleton.effectors import Effector, EffectorGoal, find_place
from viewer.skeleton.names import FreeNames

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.skeleton.skeleton import Skeleton


@dataclass(frozen=True, slots=True)
class MakeEffector(Action):
    """Make a joint, or an end site ``PARENT.tip``, an effector, held where it stands."""

    joint: str

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Make effector {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with one more effector, selected; one that is there already and off is switched on."""
        effectors = document.skeleton.effectors
        there = next((effector for effector in effectors if effector.name == self.joint), None)
        place = _joint_or_tip(document.skeleton, self.joint) if there is None else there
        at = (place.joint, place.offset)
        there = there or next((effector for effector in effectors if (effector.joint, effector.offset) == at), None)
        if there is None:
            name = FreeNames(effector.name for effector in effectors).take(place.name)
            place = replace(place, name=name, goal=EffectorGoal.POSITION)
            skeleton = replace(document.skeleton, effectors=(*effectors, place))
            handle = Handle(effector=place.name, kind=Wanted.OFF)
            document = replace(document, skeleton=skeleton, handles=(*document.handles, handle))
            there = place
        handle = document.handle(there.name)
        if handle.on:
            raise InputError(f"{quote(self.joint)} is an effector already: {quote(there.name)}")
        on = held(document, handle)
        handles = tuple(on if own is handle else own for own in document.handles)
        return replace(document, handles=handles, selection=(Item("effector", there.name),))


def _joint_or_tip(skeleton: Skeleton, name: str) -> Effector:
    bare = replace(skeleton, effectors=()) if skeleton.effectors else skeleton
    return find_place(bare, name)


@dataclass(frozen=True, slots=True)
class RemoveEffector(Action):
    """Take an effector away: nothing can be asked of it until it is made again."""

    effector: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Remove effector {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document without the effector."""
        gone = document.handle(self.effector)
        kept = tuple(e for e in document.skeleton.effectors if e.name != gone.effector)
        return replace(
            document,
            skeleton=replace(document.skeleton, effectors=kept),
            handles=tuple(handle for handle in document.handles if handle is not gone),
            selection=tuple(item for item in document.selection if item != ("effector", gone.effector)),
        )
