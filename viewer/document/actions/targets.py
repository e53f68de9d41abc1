"""Actions on effectors and their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from viewer.document.actions.base import Action
from viewer.document.checks import as_flag, one_of
from viewer.document.default_goals import held, stand_of, wanting
from viewer.document.document import Document
from viewer.document.handle import Handle, Item, Wanted
from viewer.document.linked_targets import sharing
from viewer.document.planar import confined
from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton.effectors import Effector, EffectorGoal
from viewer.skeleton.names import FreeNames
from viewer.skeleton.skeleton import Skeleton, find_place

Target = tuple[ArrayLike | None, ArrayLike | None]


def with_handle(document: Document, handle: Handle) -> Document:
    """The document with one handle exchanged, kept in the plane; the very same one if it is equal."""
    handle = confined(document, handle)
    handles = tuple(handle if own.effector == handle.effector else own for own in document.handles)
    return document if handles == document.handles else replace(document, handles=handles)


@dataclass(frozen=True, slots=True)
class MoveTargets(Action):
    """Put targets elsewhere.

    Attributes:
        targets: effector -> (position (3,) metres or None, rotation (4,) or None), world frame. An effector that is off
            is switched on; a part that was not asked for is from now on.
    """

    targets: Mapping[str, Target]
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Move {_names(list(self.targets))}"

    def apply(self, document: Document) -> Document:
        """The document with moved targets; goals about the same point of the world move along."""
        along = {
            other: (position, None) for name, (position, _) in self.targets.items() for other in sharing(document, name)
        }
        for name, (position, rotation) in (along | dict(self.targets)).items():
            handle = document.handle(name)
            if not handle.on:
                handle = held(document, handle, turn=position is None and rotation is not None)
            document = with_handle(document, handle.moved(position, rotation))
        return document


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} effectors"


@dataclass(frozen=True, slots=True, init=False)
class SetHandle(Action):
    """Change any attributes of a handle: ``SetHandle("claw", distance=0.2)``."""

    effector: str
    changes: Mapping[str, Any]
    solves: ClassVar[bool] = True

    def __init__(self, effector: str, **changes: Any) -> None:  # noqa: ANN401 - each attribute has its own type
        """Take the attributes of `Handle` as keywords."""
        object.__setattr__(self, "effector", effector)
        object.__setattr__(self, "changes", changes)

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Set {', '.join(name.replace('_', ' ') for name in self.changes)} of {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the handle changed."""
        known = [place.name for place in fields(Handle) if place.name != "effector"]
        for name in self.changes:
            if name not in known:
                raise InputError(unknown_name("attribute of a handle", name, known))
        return with_handle(document, replace(document.handle(self.effector), **self.changes))


@dataclass(frozen=True, slots=True)
class SetWanted(Action):
    """Ask for something else of an effector; what is missing for that is taken from where it stands."""

    effector: str
    kind: Wanted
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Goal of {self.effector}: {self.kind}"

    def apply(self, document: Document) -> Document:
        """The document with another goal."""
        kind = one_of(Wanted, self.kind, "goal")
        handle = document.handle(self.effector)
        return document if kind is handle.kind else with_handle(document, wanting(document, handle, kind))


@dataclass(frozen=True, slots=True)
class SetWeight(Action):
    """Weigh a goal; None leaves a weight as it is."""

    effector: str
    weight: float | None = None
    rotation_weight: float | None = None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Weight of {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with other weights."""
        given = {"weight": self.weight, "rotation_weight": self.rotation_weight}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return with_handle(document, replace(document.handle(self.effector), **changes))


@dataclass(frozen=True, slots=True)
class SetPin(Action):
    """Pin an effector where it stands, or take a pin off; None leaves that part as it is."""

    effector: str
    position: bool | None = None
    rotation: bool | None = None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"{'Pin' if self.position or self.rotation else 'Unpin'} {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the pin set or taken off; an effector that is off is switched on by a pin."""
        handle = document.handle(self.effector)
        wanted = {"position": self.position, "rotation": self.rotation}
        flags = {part: as_flag(flag, f"pin of {part}") for part, flag in wanted.items() if flag is not None}
        if any(flags.values()) and not handle.stands:
            handle = held(document, handle, turn=not flags.get("position"))
        stand = stand_of(document.skeleton, document.pose, handle)
        changes: dict[str, Any] = {f"pin_{part}": flag for part, flag in flags.items()} | {"automatic": False}
        if flags.get("position") and not handle.pin_position:
            changes["position"] = stand.position
        if flags.get("rotation") and not handle.pin_rotation:
            changes["rotation"] = stand.rotation
        return with_handle(document, replace(handle, **changes))


@dataclass(frozen=True, slots=True)
class ReleaseEffector(Action):
    """Ask nothing of an effector: it follows along."""

    effector: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Release {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the goal off, its pins too."""
        handle = replace(document.handle(self.effector), kind=Wanted.OFF, pin_position=False, pin_rotation=False)
        return with_handle(document, handle)


@dataclass(frozen=True, slots=True)
class HoldEffector(Action):
    """Hold an effector where it stands: one that is off is switched on, a target that is missed comes to it."""

    effector: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """What the history calls it."""
        return f"Hold {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the target where the effector is."""
        handle = document.handle(self.effector)
        if not handle.stands:
            return with_handle(document, held(document, handle))
        stand = stand_of(document.skeleton, document.pose, handle)
        return with_handle(document, handle.standing_at(stand.position, stand.rotation))


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
