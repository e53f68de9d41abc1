"""Actions on effectors and their goals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from viewer.document.argument_checks import as_flag
from viewer.document.document import Action, Document, Item
from viewer.document.document_goal import DOCUMENT_KINDS, PAIR_KINDS, POSITION_KIND, DocumentGoal
from viewer.document.drag_goals import linked_goals
from viewer.document.planar import confined
from viewer.document.posed_goals import as_they_are, held, led, of_kind, pairs_of, stand_of
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import Goal
from viewer.skeleton import Effector, EffectorGoal, FreeNames, Skeleton, find_place, world_of

__all__ = [
    "AddGoal", "HoldEffector", "HoldTogether", "MakeEffector", "MoveTargets", "ReleaseEffector", "RemoveEffector",
    "RemoveGoal", "SetGoal", "SetGoalKind", "SetPin", "SetWeight",
]  # fmt: skip

Target = tuple[ArrayLike | None, ArrayLike | None]


def with_goal(document: Document, goal: DocumentGoal) -> Document:
    """The document with one goal replaced, kept in the plane; the same object if the goals are equal."""
    return document.with_goal(confined(document, goal))


@dataclass(frozen=True, slots=True)
class MoveTargets(Action):
    """Move targets.

    Attributes:
        targets: goal id -> (position (3,) metres or None, rotation (4,) or None), world frame. Enables a goal that
            is off; a part that was not a target becomes one.
    """

    targets: Mapping[str, Target]
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Move {_names(list(self.targets))}"

    def apply(self, document: Document) -> Document:
        along = {
            other: (position, None)
            for name, (position, _) in self.targets.items()
            for other in linked_goals(document, name)
        }
        for name, (position, rotation) in (along | dict(self.targets)).items():
            goal = document.goal(name)
            if not goal.enabled:
                goal = held(document, goal, turn=position is None and rotation is not None)
            document = with_goal(document, goal.moved(position, rotation))
        return led(document, {document.goal(name).effector for name in self.targets})


def _names(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{len(names)} effectors"


@dataclass(frozen=True, slots=True, init=False)
class SetGoal(Action):
    """Change attributes of a goal: ``SetGoal("claw", distance=0.2)``; setting a kind enables it."""

    effector: str
    changes: Mapping[str, Any]
    solves: ClassVar[bool] = True

    def __init__(self, effector: str, **changes: Any) -> None:  # noqa: ANN401 - each attribute has its own type
        """Take attributes of `DocumentGoal` as keywords."""
        object.__setattr__(self, "effector", effector)
        object.__setattr__(self, "changes", changes)

    @property
    def label(self) -> str:
        return f"Set {', '.join(name.replace('_', ' ') for name in self.changes)} of {self.effector}"

    def apply(self, document: Document) -> Document:
        known = [field.name for field in fields(DocumentGoal) if field.name not in ("effector", "id")]
        for name in self.changes:
            if name not in known:
                raise InputError(unknown_name("attribute of a goal", name, known))
        enabling = {"enabled": True} if "kind" in self.changes else {}
        return with_goal(document, replace(document.goal(self.effector), **(enabling | dict(self.changes))))


@dataclass(frozen=True, slots=True)
class SetGoalKind(Action):
    """Change the kind of a goal; missing numbers are measured in the present pose."""

    effector: str
    kind: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Goal of {0.effector}: {0.kind}"

    def apply(self, document: Document) -> Document:
        kind, goal = _kind(self.kind), document.goal(self.effector)
        return document if kind == goal.kind and goal.enabled else with_goal(document, of_kind(document, goal, kind))


def _kind(word: str) -> str:
    if word in (*DOCUMENT_KINDS, *PAIR_KINDS):
        return word
    raise InputError(unknown_name("goal", str(word), DOCUMENT_KINDS))


@dataclass(frozen=True, slots=True)
class AddGoal(Action):
    """Add a goal to an effector, met in the present pose; if its first goal is off, that one is enabled instead.

    Attributes:
        effector: its name.
        kind: of the goal.
    """

    effector: str
    kind: str = POSITION_KIND
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Add {0.kind} of {0.effector}"

    def apply(self, document: Document) -> Document:
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
    """Remove a goal; the first goal of an effector is switched off instead.

    Attributes:
        goal: its id.
    """

    goal: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Remove goal {0.goal}"

    def apply(self, document: Document) -> Document:
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
    """The goal switched off, without pins."""
    return replace(goal, enabled=False, pin_position=False, pin_rotation=False)


@dataclass(frozen=True, slots=True)
class SetWeight(Action):
    """Set the weights of a goal; None leaves a weight unchanged."""

    effector: str
    weight: float | None = None
    rotation_weight: float | None = None
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Weight of {0.effector}"

    def apply(self, document: Document) -> Document:
        given = {"weight": self.weight, "rotation_weight": self.rotation_weight}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return with_goal(document, replace(document.goal(self.effector), **changes))


@dataclass(frozen=True, slots=True)
class SetPin(Action):
    """Pin an effector in place, or unpin it; None leaves that part unchanged."""

    effector: str
    position: bool | None = None
    rotation: bool | None = None
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"{'Pin' if self.position or self.rotation else 'Unpin'} {self.effector}"

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.effector)
        if goal.kind in PAIR_KINDS:
            raise InputError(f"goal {quote(goal.id)} holds two effectors together: it cannot be pinned")
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
    """Switch a goal off: the effector follows the body."""

    effector: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Release {0.effector}"

    def apply(self, document: Document) -> Document:
        return with_goal(document, off(document.goal(self.effector)))


@dataclass(frozen=True, slots=True)
class HoldEffector(Action):
    """Hold an effector in place: enables its goal, and moves a target that is missed to the effector."""

    effector: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Hold {0.effector}"

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.effector)
        if goal.kind in PAIR_KINDS:
            return with_goal(document, of_kind(document, goal, goal.kind))
        if not goal.placed:
            return with_goal(document, held(document, goal))
        stand = stand_of(document.skeleton, document.pose, goal)
        return with_goal(document, goal.met_at(stand.position, stand.rotation))


@dataclass(frozen=True, slots=True)
class MakeEffector(Action):
    """Make a joint or an end site ``PARENT.tip`` an effector, held in place."""

    joint: str
    words: ClassVar[str] = "Make effector {0.joint}"

    def apply(self, document: Document) -> Document:
        effectors = document.skeleton.effectors
        there = next((effector for effector in effectors if effector.name == self.joint), None)
        effector = _joint_or_tip(document.skeleton, self.joint) if there is None else there
        at = (effector.joint, effector.offset)
        there = there or next((effector for effector in effectors if (effector.joint, effector.offset) == at), None)
        if there is None:
            name = FreeNames([*(effector.name for effector in effectors), *(goal.id for goal in document.goals)]).take(
                effector.name
            )
            effector = replace(effector, name=name, goal=EffectorGoal.POSITION)
            skeleton = replace(document.skeleton, effectors=(*effectors, effector))
            goal = DocumentGoal(effector=effector.name, enabled=False)
            count = len(effectors)
            goals = (*document.goals[:count], goal, *document.goals[count:])
            document = replace(document, skeleton=skeleton, goals=goals)
            there = effector
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
    """Remove an effector and its goals, including goals of others that refer to it."""

    effector: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Remove effector {0.effector}"

    def apply(self, document: Document) -> Document:
        name = document.goal(self.effector).effector
        pairs = {goal.id for goal in document.goals if goal.kind in PAIR_KINDS and goal.to == name}
        gone = pairs | {goal.id for goal in document.goals_of(name)}
        kept = tuple(e for e in document.skeleton.effectors if e.name != name)
        return replace(
            document,
            skeleton=replace(document.skeleton, effectors=kept),
            goals=tuple(goal for goal in document.goals if goal.id not in gone),
            selection=tuple(item for item in document.selection if item.kind != "effector" or item.name not in gone),
        )


FIRM = 10.0
"""Weight of a goal that holds two effectors together: out of reach the dragged hand stops, and the other stays on."""


@dataclass(frozen=True, slots=True)
class HoldTogether(Action):
    """Keep the relative position and rotation of two effectors: the other one follows the one that is dragged.

    The second one's hold is switched off if the first one has a goal of its own, else the first one's is.

    Attributes:
        effector: the one that has the goal.
        to: the other effector.
    """

    effector: str
    to: str
    solves: ClassVar[bool] = True
    words: ClassVar[str] = "Hold {0.effector} and {0.to} together"

    def apply(self, document: Document) -> Document:
        own, other = document.goal(self.effector), document.goal(self.to)
        pair = {own.effector, other.effector}
        if any({goal.effector, goal.to} == pair for goal in pairs_of(document)):
            raise InputError(f"{quote(own.effector)} and {quote(other.effector)} are held together already")
        names = (*document.skeleton.names, *document.skeleton.tip_names, *(goal.id for goal in document.goals))
        goal = DocumentGoal(
            effector=own.effector,
            id=FreeNames(names).numbered(own.effector),
            to=other.effector,
            weight=FIRM,
            rotation_weight=FIRM,
            enabled=False,
        )
        goal = as_they_are(document.skeleton, world_of(document.skeleton, document.pose), goal)
        goal = replace(goal, kind=Goal.relative(goal.effector, goal.to).kind, enabled=True)
        document = replace(document, goals=(*document.goals, goal))
        leads = any(one.placed for one in document.goals_of(own.effector))
        return led(document, [own.effector if leads else other.effector])
