"""Actions on effectors and their targets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from viewer.document.checks import as_flag
from viewer.document.default_goals import held, of_kind, stand_of
from viewer.document.document import Action, Document
from viewer.document.drag_goals import sharing
from viewer.document.goal import DOCUMENT_KINDS, DocumentGoal, Item
from viewer.document.planar import confined
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import GoalKind
from viewer.skeleton.effectors import Effector, EffectorGoal
from viewer.skeleton.names import FreeNames
from viewer.skeleton.skeleton import Skeleton, find_place

Target = tuple[ArrayLike | None, ArrayLike | None]


def with_goal(document: Document, goal: DocumentGoal) -> Document:
    """The document with one goal exchanged, kept in the plane; the very same one if it is equal."""
    goal = confined(document, goal)
    goals = tuple(goal if own.id == goal.id else own for own in document.goals)
    return document if goals == document.goals else replace(document, goals=goals)


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
        """Name of the undo step."""
        return f"Move {_names(list(self.targets))}"

    def apply(self, document: Document) -> Document:
        """The document with moved targets; goals about the same point of the world move along."""
        along = {
            other: (position, None) for name, (position, _) in self.targets.items() for other in sharing(document, name)
        }
        for name, (position, rotation) in (along | dict(self.targets)).items():
            goal = document.goal(name)
            if not goal.enabled:
                goal = held(document, goal, turn=position is None and rotation is not None)
            document = with_goal(document, goal.moved(position, rotation))
        return document


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} effectors"


@dataclass(frozen=True, slots=True, init=False)
class SetGoal(Action):
    """Change any attributes of a goal: ``SetGoal("claw", distance=0.2)``; one that is given a kind is enabled."""

    effector: str
    changes: Mapping[str, Any]
    solves: ClassVar[bool] = True

    def __init__(self, effector: str, **changes: Any) -> None:  # noqa: ANN401 - each attribute has its own type
        """Take the attributes of `DocumentGoal` as keywords."""
        object.__setattr__(self, "effector", effector)
        object.__setattr__(self, "changes", changes)

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Set {', '.join(name.replace('_', ' ') for name in self.changes)} of {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the goal changed."""
        known = [place.name for place in fields(DocumentGoal) if place.name not in ("effector", "id")]
        for name in self.changes:
            if name not in known:
                raise InputError(unknown_name("attribute of a goal", name, known))
        enabling = {"enabled": True} if "kind" in self.changes else {}
        return with_goal(document, replace(document.goal(self.effector), **(enabling | dict(self.changes))))


@dataclass(frozen=True, slots=True)
class SetGoalKind(Action):
    """Ask for something else of an effector; what is missing for that is taken from where it stands."""

    effector: str
    kind: GoalKind
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Goal of {self.effector}: {self.kind}"

    def apply(self, document: Document) -> Document:
        """The document with another goal."""
        kind, goal = _kind(self.kind), document.goal(self.effector)
        return document if kind is goal.kind and goal.enabled else with_goal(document, of_kind(document, goal, kind))


def _kind(word: object) -> GoalKind:
    if word in DOCUMENT_KINDS:
        return GoalKind(str(word))
    raise InputError(unknown_name("goal", str(word), DOCUMENT_KINDS))


@dataclass(frozen=True, slots=True)
class AddGoal(Action):
    """Ask one thing more of an effector, met where it stands; a goal that is off is enabled first of all.

    Attributes:
        effector: its name.
        kind: what is asked.
    """

    effector: str
    kind: GoalKind = GoalKind.POSITION
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """``Add aim of LeftHand``."""
        return f"Add {self.kind} of {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with one more goal, selected."""
        kind, own = _kind(self.kind), document.goal(self.effector)
        if not own.enabled:
            return _chosen(with_goal(document, of_kind(document, own, kind)), own.id)
        names = (*document.skeleton.names, *document.skeleton.tip_names, *(goal.id for goal in document.goals))
        goal = DocumentGoal(effector=own.effector, id=FreeNames(names).numbered(own.effector), enabled=False)
        goal = confined(document, of_kind(document, goal, kind))
        return _chosen(replace(document, goals=(*document.goals, goal)), goal.id)


def _chosen(document: Document, goal: str) -> Document:
    return replace(document, selection=(Item("effector", goal),))


@dataclass(frozen=True, slots=True)
class RemoveGoal(Action):
    """Ask no more for what one goal asks: it is gone, or off if it is the one that every effector has.

    Attributes:
        goal: its id.
    """

    goal: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """``Remove goal LeftHand_2``."""
        return f"Remove goal {self.goal}"

    def apply(self, document: Document) -> Document:
        """The document without it; its effector is selected in its place."""
        goal = document.goal(self.goal)
        if goal.id == goal.effector:
            return with_goal(document, off(goal))
        gone, own = Item("effector", goal.id), Item("effector", goal.effector)
        return replace(
            document,
            goals=tuple(other for other in document.goals if other is not goal),
            selection=tuple(dict.fromkeys(own if item == gone else item for item in document.selection)),
        )


def off(goal: DocumentGoal) -> DocumentGoal:
    """The goal asking for nothing, its pins off."""
    return replace(goal, enabled=False, pin_position=False, pin_rotation=False)


@dataclass(frozen=True, slots=True)
class SetWeight(Action):
    """Weigh a goal; None leaves a weight as it is."""

    effector: str
    weight: float | None = None
    rotation_weight: float | None = None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Weight of {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with other weights."""
        given = {"weight": self.weight, "rotation_weight": self.rotation_weight}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return with_goal(document, replace(document.goal(self.effector), **changes))


@dataclass(frozen=True, slots=True)
class SetPin(Action):
    """Pin an effector where it stands, or take a pin off; None leaves that part as it is."""

    effector: str
    position: bool | None = None
    rotation: bool | None = None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"{'Pin' if self.position or self.rotation else 'Unpin'} {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the pin set or taken off; an effector that is off is switched on by a pin."""
        goal = document.goal(self.effector)
        wanted = {"position": self.position, "rotation": self.rotation}
        flags = {part: as_flag(flag, f"pin of {part}") for part, flag in wanted.items() if flag is not None}
        if any(flags.values()) and not goal.placed:
            goal = held(document, goal, turn=not flags.get("position"))
        stand = stand_of(document.skeleton, document.pose, goal)
        changes: dict[str, Any] = {f"pin_{part}": flag for part, flag in flags.items()} | {"automatic": False}
        if flags.get("position") and not goal.pin_position:
            changes["position"] = stand.position
        if flags.get("rotation") and not goal.pin_rotation:
            changes["rotation"] = stand.rotation
        return with_goal(document, replace(goal, **changes))


@dataclass(frozen=True, slots=True)
class ReleaseEffector(Action):
    """Ask nothing of an effector: it follows along."""

    effector: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Release {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the goal off, its pins too."""
        return with_goal(document, off(document.goal(self.effector)))


@dataclass(frozen=True, slots=True)
class HoldEffector(Action):
    """Hold an effector where it stands: one that is off is switched on, a target that is missed comes to it."""

    effector: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Hold {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document with the target where the effector is."""
        goal = document.goal(self.effector)
        if not goal.placed:
            return with_goal(document, held(document, goal))
        stand = stand_of(document.skeleton, document.pose, goal)
        return with_goal(document, goal.met_at(stand.position, stand.rotation))


@dataclass(frozen=True, slots=True)
class MakeEffector(Action):
    """Make a joint, or an end site ``PARENT.tip``, an effector, held where it stands."""

    joint: str

    @property
    def label(self) -> str:
        """Name of the undo step."""
        return f"Make effector {self.joint}"

    def apply(self, document: Document) -> Document:
        """The document with one more effector, selected; one that is there already and off is switched on."""
        effectors = document.skeleton.effectors
        there = next((effector for effector in effectors if effector.name == self.joint), None)
        place = _joint_or_tip(document.skeleton, self.joint) if there is None else there
        at = (place.joint, place.offset)
        there = there or next((effector for effector in effectors if (effector.joint, effector.offset) == at), None)
        if there is None:
            name = FreeNames([*(effector.name for effector in effectors), *(goal.id for goal in document.goals)]).take(
                place.name
            )
            place = replace(place, name=name, goal=EffectorGoal.POSITION)
            skeleton = replace(document.skeleton, effectors=(*effectors, place))
            goal = DocumentGoal(effector=place.name, enabled=False)
            count = len(effectors)
            goals = (*document.goals[:count], goal, *document.goals[count:])
            document = replace(document, skeleton=skeleton, goals=goals)
            there = place
        goal = document.goal(there.name)
        if goal.enabled:
            raise InputError(f"{quote(self.joint)} is an effector already: {quote(there.name)}")
        on = held(document, goal)
        goals = tuple(on if own is goal else own for own in document.goals)
        return replace(document, goals=goals, selection=(Item("effector", there.name),))


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
        """Name of the undo step."""
        return f"Remove effector {self.effector}"

    def apply(self, document: Document) -> Document:
        """The document without the effector."""
        name = document.goal(self.effector).effector
        gone = {goal.id for goal in document.goals_of(name)}
        kept = tuple(e for e in document.skeleton.effectors if e.name != name)
        return replace(
            document,
            skeleton=replace(document.skeleton, effectors=kept),
            goals=tuple(goal for goal in document.goals if goal.id not in gone),
            selection=tuple(item for item in document.selection if item.kind != "effector" or item.name not in gone),
        )
