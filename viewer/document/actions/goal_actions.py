"""Actions on goals: those of effectors, and those that act on the keys, layers of goals over time and planted feet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from viewer.document.document import Action, Document, Item, SettingsAction
from viewer.document.document_goal import NOT_SET, POSITION_KIND, DocumentGoal, kinds_for
from viewer.document.evaluation import motion_of, shown_on_own_bones
from viewer.document.key_editing import Run, recorded, take_of, with_take
from viewer.document.planted_feet import feet_of, found_contacts
from viewer.document.posed_goals import (
    as_they_are,
    confined,
    followers_off,
    followers_on,
    held,
    linked_goals,
    of_kind,
    pairs_of,
    stand_of,
    with_goal,
)
from viewer.document.solved_frames import check_layer, finished
from viewer.document.take import GoalLayer, PlantedFeet, layer_of
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import KINDS, Goal
from viewer.skeleton import EffectorGoal, FreeNames, Pose, effector_of, world_of
from viewer.spatial.checks import as_flag, put, with_changes

Target = tuple[ArrayLike | None, ArrayLike | None]

FIRM = 10.0
"""Weight of a goal that holds two effectors together: out of reach the dragged hand stops, and the other stays on."""

_WORDS = {
    "first": "Start", "full": "Hold", "last": "End", "position": "Target", "rotation": "Target", "space": "Carrier",
    "weight": "Weight", "level": "Level",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class MoveTargets(Action, solves=True):
    """Move targets.

    By goal id, position (3,) metres or None, and rotation (4,) or None, world frame. A goal that is off is enabled; a
    part that was not a target becomes one.
    """

    targets: Mapping[str, Target]

    @property
    def label(self) -> str:
        return f"Move {next(iter(self.targets)) if len(self.targets) == 1 else f'{len(self.targets)} effectors'}"

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
        return followers_off(document, (), self.targets)


@dataclass(frozen=True, slots=True, init=False)
class SetGoal(Action, solves=True):
    """Change attributes of a goal: ``SetGoal("claw", distance=0.2)``; setting a kind enables it."""

    effector: str
    changes: Mapping[str, Any]

    def __init__(self, effector: str, **changes: Any) -> None:  # noqa: ANN401 - each attribute has its own type
        put(self, effector=effector, changes=changes)

    @property
    def label(self) -> str:
        return f"Set {', '.join(name.replace('_', ' ') for name in self.changes)} of {self.effector}"

    def apply(self, document: Document) -> Document:
        changes = ({"enabled": True} if "kind" in self.changes else {}) | dict(self.changes)
        goal = document.goal(self.effector)
        goal = replace(goal, follows=False) if "enabled" in changes else goal
        changed = with_changes(goal, changes, "attribute of a goal", but=NOT_SET)
        return with_goal(document, changed)


@dataclass(frozen=True, slots=True)
class SetGoalKind(Action, words="Goal of {0.effector}: {0.kind}", solves=True):
    """Change the kind of a goal; missing numbers are measured in the present pose."""

    effector: str
    kind: str

    def apply(self, document: Document) -> Document:
        kind, goal = _kind(self.kind), document.goal(self.effector)
        return document if kind == goal.kind and goal.enabled else with_goal(document, of_kind(document, goal, kind))


def _kind(word: str) -> str:
    if word in KINDS and KINDS[word].of_documents:
        return word
    raise InputError(unknown_name("goal", str(word), (*kinds_for(1), *kinds_for(2))))


@dataclass(frozen=True, slots=True)
class AddGoal(Action, words="Add {0.kind} of {0.effector}", solves=True):
    """Add a goal to an effector, met in the present pose; if its first goal is off, that one is enabled instead."""

    effector: str
    kind: str = POSITION_KIND

    def apply(self, document: Document) -> Document:
        kind, own = _kind(self.kind), document.goal(self.effector)
        if not own.enabled:
            return _chosen(with_goal(document, of_kind(document, own, kind)), own.id)
        goal = DocumentGoal(effector=own.effector, id=_free_id(document, own.effector), enabled=False)
        goal = confined(document, of_kind(document, goal, kind))
        return _chosen(replace(document, goals=(*document.goals, goal)), goal.id)


def _free_id(document: Document, effector: str) -> str:
    """The id of a further goal of an effector."""
    names = (*document.skeleton.names, *document.skeleton.tip_names, *(goal.id for goal in document.goals))
    return FreeNames(names).numbered(effector)


def _chosen(document: Document, goal: str) -> Document:
    return replace(document, selection=(Item("effector", goal),))


@dataclass(frozen=True, slots=True)
class RemoveGoal(Action, words="Remove goal {0.goal}", solves=True):
    """Remove a goal that is not the first of its effector. If it was selected, another one that is on is then.

    Holds that it switched off, if it was for two effectors, are on again.
    """

    goal: str

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.goal)
        if goal.id == goal.effector:
            raise InputError(f"goal {quote(goal.id)} is the first of its effector: expected to release or remove that")
        left = tuple(other for other in document.goals if other is not goal)
        return followers_on(replace(_next_selected(document, goal), goals=left), goal.ends)


def _next_selected(document: Document, goal: DocumentGoal) -> Document:
    """The document with another goal of the same effector selected in place of one: one that is on, or the first."""
    others = (other.id for other in document.goals_of(goal.effector) if other is not goal and other.enabled)
    gone, left = Item("effector", goal.id), Item("effector", next(others, goal.effector))
    selection = (left if item == gone else item for item in document.selection)
    return document.changed(selection=tuple(dict.fromkeys(selection)))


@dataclass(frozen=True, slots=True)
class SetWeight(Action, words="Weight of {0.effector}", solves=True):
    """Set the weights of a goal; None leaves a weight unchanged."""

    effector: str
    weight: float | None = None
    rotation_weight: float | None = None

    def apply(self, document: Document) -> Document:
        given = {"weight": self.weight, "rotation_weight": self.rotation_weight}
        changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        return with_goal(document, replace(document.goal(self.effector), **changes))


@dataclass(frozen=True, slots=True)
class SetPin(Action, solves=True):
    """Pin an effector in place, or unpin it; None leaves that part unchanged."""

    effector: str
    position: bool | None = None
    rotation: bool | None = None

    @property
    def label(self) -> str:
        return f"{'Pin' if self.position or self.rotation else 'Unpin'} {self.effector}"

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.effector)
        if goal.of_two:
            what = "holds two effectors together" if KINDS[goal.kind].relative else "is for two effectors"
            raise InputError(f"goal {quote(goal.id)} {what}: it cannot be pinned")
        wanted = {"position": self.position, "rotation": self.rotation}
        flags = {part: as_flag(flag, f"pin of {part}") for part, flag in wanted.items() if flag is not None}
        if any(flags.values()) and not goal.sets_pose:
            goal = held(document, goal, turn=not flags.get("position"))
        stand = stand_of(document, goal)
        changes: dict[str, Any] = {f"pin_{part}": flag for part, flag in flags.items()} | {"automatic": False}
        if flags.get("position") and not goal.pin_position:
            changes["position"] = stand.point
        if flags.get("rotation") and not goal.pin_rotation:
            changes["rotation"] = stand.rotation
        return with_goal(document, replace(goal, **changes))


@dataclass(frozen=True, slots=True)
class ReleaseEffector(Action, words="Release {0.effector}", solves=True):
    """Switch a goal off, and its pins: the effector follows the body.

    ``select_next``: another goal of the effector that is on is selected in its place.
    """

    effector: str
    select_next: bool = False

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.effector)
        off = replace(goal, enabled=False, follows=False, pin_position=False, pin_rotation=False)
        return with_goal(_next_selected(document, goal) if self.select_next else document, off)


def removing(goal: DocumentGoal) -> Action:
    """The action that removes a goal, or releases the effector if it is its first, which stays."""
    return ReleaseEffector(goal.id, select_next=True) if goal.id == goal.effector else RemoveGoal(goal.id)


@dataclass(frozen=True, slots=True)
class HoldEffector(Action, words="Hold {0.effector}", solves=True):
    """Hold an effector in place: enables its goal, and moves a target that is missed to the effector."""

    effector: str

    def apply(self, document: Document) -> Document:
        goal = document.goal(self.effector)
        if not goal.sets_pose:
            return with_goal(document, held(document, goal))
        stand = stand_of(document, goal)
        return with_goal(document, goal.met_at(stand.point, stand.rotation))


@dataclass(frozen=True, slots=True)
class MakeEffector(Action, words="Make effector {0.joint}"):
    """Make a joint or an end site ``PARENT.tip`` an effector, held in place."""

    joint: str

    def apply(self, document: Document) -> Document:
        effectors = document.skeleton.effectors
        there = next((effector for effector in effectors if effector.name == self.joint), None)
        # An effector of another name is found by its place.
        effector = there or effector_of(replace(document.skeleton, effectors=()), self.joint)
        at = (effector.joint, effector.offset)
        there = there or next((effector for effector in effectors if (effector.joint, effector.offset) == at), None)
        if there is None:
            known = (*(effector.name for effector in effectors), *(goal.id for goal in document.goals))
            name = FreeNames(known).take(effector.name)
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


def adding_goal(document: Document, joint: str, kind: str) -> list[Action]:
    """The actions that give a joint a goal of some kind: they make it an effector first if needed."""
    own = next((goal for goal in document.goals if goal.id == joint), None)
    if own is not None and own.enabled:
        return [AddGoal(joint, kind)]
    return [*([] if own is not None else [MakeEffector(joint)]), SetGoalKind(joint, kind)]


@dataclass(frozen=True, slots=True)
class RemoveEffector(Action, words="Remove effector {0.effector}", solves=True):
    """Remove an effector and its goals, including goals of others that refer to it."""

    effector: str

    def apply(self, document: Document) -> Document:
        name = document.goal(self.effector).effector
        gone = {goal.id for goal in document.goals if name in goal.ends}
        others = [end for goal in document.goals if name in goal.ends for end in goal.ends if end != name]
        kept = tuple(e for e in document.skeleton.effectors if e.name != name)
        left = replace(
            document,
            skeleton=replace(document.skeleton, effectors=kept),
            goals=tuple(goal for goal in document.goals if goal.id not in gone),
            selection=tuple(item for item in document.selection if item.kind != "effector" or item.name not in gone),
        )
        return followers_on(left, others)


@dataclass(frozen=True, slots=True)
class AddGoalForTwo(Action, words="Add {0.kind} of {0.effector} and {0.to}", solves=True):
    """Add a goal for two effectors, met in the present pose: the holds of effectors that follow it are switched off.

    ``effector`` is the one that has the goal.
    """

    effector: str
    to: str
    kind: str

    def apply(self, document: Document) -> Document:
        kind, own, other = _kind(self.kind), document.goal(self.effector), document.goal(self.to)
        name = _free_id(document, own.effector)
        goal = DocumentGoal(effector=own.effector, id=name, to=other.effector, enabled=False)
        goal = confined(document, of_kind(document, goal, kind))
        return followers_off(_chosen(replace(document, goals=(*document.goals, goal)), name), (), (name,))


@dataclass(frozen=True, slots=True)
class HoldTogether(Action, words="Hold {0.effector} and {0.to} together", solves=True):
    """Keep the relative position and rotation of two effectors: the other one follows the one that is dragged.

    The second one's hold is switched off if the first one has a goal of its own, else the first one's is.

    ``effector`` is the one that has the goal.
    """

    effector: str
    to: str

    def apply(self, document: Document) -> Document:
        own, other = document.goal(self.effector), document.goal(self.to)
        pair = {own.effector, other.effector}
        if any(goal.relative and {*goal.ends} == pair for goal in pairs_of(document)):
            raise InputError(f"{quote(own.effector)} and {quote(other.effector)} are held together already")
        goal = DocumentGoal(
            effector=own.effector,
            id=_free_id(document, own.effector),
            to=other.effector,
            kind=Goal.relative(own.effector, other.effector).kind,
            weight=FIRM,
            rotation_weight=FIRM,
            enabled=False,
        )
        goal = as_they_are(document.skeleton, world_of(document.skeleton, document.pose), goal)
        goal = replace(goal, enabled=True)
        document = replace(document, goals=(*document.goals, goal))
        leads = any(one.sets_pose for one in document.goals_of(own.effector))
        return followers_off(document, [own.effector if leads else other.effector])


@dataclass(frozen=True, slots=True)
class AddLayer(Action, words="Layer for {0.layer.effector}"):
    """Add a layer after the others."""

    layer: GoalLayer

    def apply(self, document: Document) -> Document:
        if not document.has_motion:
            raise InputError("there is no motion for a layer: load a clip, or set keys")
        take = take_of(document)
        check_layer(document, self.layer)
        if any(layer.id == self.layer.id for layer in take.layers):
            raise InputError(f"layer {quote(self.layer.id)}: there is one already")
        return _with_layers(document, [*take.layers, self.layer])


def _with_layers(document: Document, layers: Iterable[GoalLayer]) -> Document:
    return with_take(document, replace(take_of(document), layers=tuple(layers)))


@dataclass(frozen=True, slots=True, init=False)
class SetLayer(Action):
    """Change a layer: ``SetLayer("LeftHand", weight=0.5)``."""

    id: str
    changes: Mapping[str, Any]

    def __init__(self, id: str, **changes: Any) -> None:  # noqa: A002, ANN401 - each field has its own type
        put(self, id=id, changes=changes)

    @property
    def label(self) -> str:
        name, value = next(iter(self.changes.items()), ("on", True))
        if name == "on":
            return f"Layer {self.id} {'on' if value else 'off'}"
        return f"{_WORDS.get(name, name)} of layer {self.id}"

    def apply(self, document: Document) -> Document:
        before = layer_of(document.take, self.id)
        after = with_changes(before, self.changes, "field of a layer", but=("id",))
        if after == before:
            return document
        check_layer(document, after)
        return _with_layers(document, (after if layer is before else layer for layer in take_of(document).layers))


@dataclass(frozen=True, slots=True)
class MoveLayer(Action, words="Order of layer {0.id}"):
    """Move a layer to another place in the order. ``index`` is its new place among the layers."""

    id: str
    index: int

    def apply(self, document: Document) -> Document:
        layer, take = layer_of(document.take, self.id), take_of(document)
        if not 0 <= self.index < len(take.layers):
            raise InputError(f"layer: expected a place from 0 to {len(take.layers) - 1}, found {self.index}")
        others = [one for one in take.layers if one is not layer]
        layers = (*others[: self.index], layer, *others[self.index :])
        return document if layers == take.layers else _with_layers(document, layers)


@dataclass(frozen=True, slots=True)
class RemoveLayer(Action, words="Remove layer {0.id}"):
    """Remove a layer; the motion below it is restored."""

    id: str

    def apply(self, document: Document) -> Document:
        layer = layer_of(document.take, self.id)
        return _with_layers(document, (one for one in take_of(document).layers if one is not layer))


@dataclass(frozen=True, slots=True)
class BakeLayers(Action, words="Bake layers"):
    """Make keys of what the layers change, and remove them."""

    def apply(self, document: Document) -> Document:
        if not take_of(document).layers:
            raise InputError("there are no layers")
        document = finished(document)
        take = take_of(document)
        bare = replace(take, layers=(), solved=tuple(one for one in take.solved if not one.layered))
        after, shown = bare, motion_of(document)
        for stretch in take.solved:
            if stretch.layered:
                ends = stretch.first, stretch.first + len(stretch) - 1
                frames = shown_on_own_bones(shown, *ends)
                poses = zip(range(ends[0], ends[1] + 1), frames.rotations, frames.translations, strict=True)
                run = Run({frame: Pose(*pose) for frame, *pose in poses}, dict(after.pins))
                after = recorded(document, after, after.rest, run).take
        return with_take(document, after)


@dataclass(frozen=True, slots=True)
class PlantFeet(Action, words="Plant feet"):
    """Find when the feet touch the ground, and hold them still then; earlier contacts are replaced."""

    def apply(self, document: Document) -> Document:
        contacts = found_contacts(document)
        if not contacts:
            raise InputError("no contact of the feet with the ground was found: there is nothing to plant")
        before = feet_of(document) or PlantedFeet()
        return with_take(document, replace(take_of(document), feet=replace(before, contacts=contacts, on=True)))


@dataclass(frozen=True, slots=True, init=False)
class SetFeet(SettingsAction):
    """Change fields of `PlantedFeet`: ``SetFeet(weight=0.5)``."""

    @property
    def label(self) -> str:
        name, value = next(iter(self.changes.items()), ("on", True))
        if name == "on":
            return "Planted feet on" if value else "Planted feet off"
        return f"{name.capitalize()} of feet"

    def apply(self, document: Document) -> Document:
        before = _feet(document)
        after = with_changes(before, self.changes, "field of planted feet")
        return document if after == before else with_take(document, replace(take_of(document), feet=after))


@dataclass(frozen=True, slots=True)
class RemoveFeet(Action, words="Remove planted feet"):
    """Stop planting feet."""

    def apply(self, document: Document) -> Document:
        _feet(document)
        return with_take(document, replace(take_of(document), feet=None))


def _feet(document: Document) -> PlantedFeet:
    feet = feet_of(document)
    if feet is None:
        raise InputError("no feet are planted")
    return feet
