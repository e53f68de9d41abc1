"""Actions on what a solve depends on besides joints and goals: selection, mode and scope of drags, settings, contact.

Settings are those of the solver and of balance; contact is with the floor, the figure's bodies and props.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from viewer.document.document import Action, Document, Item, Mode, Scope, SettingsAction
from viewer.document.document_contact import DocumentContact, Prop, as_size, check_known, check_names, standing_props
from viewer.document.key_editing import with_take
from viewer.document.solved_frames import in_other_space, with_layers
from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals.grip import fingers_of
from viewer.skeleton import Bodies, Capsule, bodies_of, fit_bodies
from viewer.spatial.checks import as_flag, member, put, with_changes

_WAYS = ("set", "add", "toggle")
_WORDS = {"on": "Contact", "floor": "Floor contact", "bodies": "Body contact", "objects": "Contact with props"}


@dataclass(frozen=True, slots=True)
class Select(Action, saved=False):
    """Select items; the last one becomes active.

    ``items`` are joints and effectors; duplicates count once. ``mode``: "set" replaces the selection, "add" adds to it,
    "toggle" toggles each item.
    """

    items: tuple[Item, ...]
    mode: Literal["set", "add", "toggle"] = "set"

    @property
    def label(self) -> str:
        if not self.items:
            return "Select nothing"
        return f"Select {self.items[0][1]}" if len(self.items) == 1 else f"Select {len(self.items)} items"

    def apply(self, document: Document) -> Document:
        if self.mode not in _WAYS:
            raise InputError(unknown_name("way to select", str(self.mode), _WAYS))
        items = tuple(dict.fromkeys(Item(*item) for item in self.items))
        for item in items:
            document.check_item(item)
        before = () if self.mode == "set" else document.selection
        kept = tuple(item for item in before if item not in items)
        fresh = items if self.mode != "toggle" else tuple(item for item in items if item not in before)
        return document.changed(selection=(*kept, *fresh))


@dataclass(frozen=True, slots=True)
class SetMode(Action, saved=False):
    """Set whether dragging moves goals (IK) or rotates joints (FK)."""

    mode: Mode

    @property
    def label(self) -> str:
        return f"Drag mode {str(self.mode).upper()}"

    def apply(self, document: Document) -> Document:
        return document.changed(mode=member(Mode, self.mode, "drag mode"))


@dataclass(frozen=True, slots=True)
class SetScope(Action, words="Drag scope {0.scope}", saved=False):
    """Set which joints an IK drag may move."""

    scope: Scope

    def apply(self, document: Document) -> Document:
        return document.changed(scope=member(Scope, self.scope, "drag scope"))


@dataclass(frozen=True, slots=True, init=False)
class SetSolver(SettingsAction, solves=True):
    """Change attributes of `SolverSettings`: ``SetSolver(method="dls", damping=0.1)``."""

    @property
    def label(self) -> str:
        if set(self.changes) == {"method"}:
            return f"Solver {self.changes['method']}"
        return f"Solver {', '.join(name.replace('_', ' ') for name in self.changes)}"

    def apply(self, document: Document) -> Document:
        return document.changed(solver=with_changes(document.solver, self.changes, "solver setting"))


@dataclass(frozen=True, slots=True, init=False)
class SetBalance(SettingsAction, solves=True):
    """Change attributes of `DocumentBalance`: ``SetBalance(on=True, margin=0.05)``."""

    @property
    def label(self) -> str:
        if "on" in self.changes:
            return f"Balance {'on' if self.changes['on'] else 'off'}"
        return f"{next(iter(self.changes), 'settings').capitalize()} of balance"

    def apply(self, document: Document) -> Document:
        return document.changed(balance=with_changes(document.balance, self.changes, "setting of balance"))


# --- contact


def _with(document: Document, contact: DocumentContact, **changes: Any) -> Document:  # noqa: ANN401 - fields of a document
    changed = document.changed(contact=contact, **changes)
    take = changed.take
    # Planted feet stand on props.
    moved = take is not None and take.feet and standing_props(contact) != standing_props(document.contact)
    return with_take(changed, take) if moved and take is not None else changed


@dataclass(frozen=True, slots=True, init=False)
class SetContact(SettingsAction, solves=True):
    """Change attributes of `DocumentContact`: ``SetContact(on=True, height=0.1)``."""

    @property
    def label(self) -> str:
        name, value = next(iter(self.changes.items()), ("on", None))
        if {"props", "exclude", "grips"} & self.changes.keys():
            return "Contact"
        return "Height of the floor" if name == "height" else f"{_WORDS.get(name, name)} {'on' if value else 'off'}"

    def apply(self, document: Document) -> Document:
        changed = with_changes(document.contact, self.changes, "setting of contact")
        check_names(changed, document.skeleton)
        for hand, _ in changed.grips if "grips" in self.changes else ():
            fingers_of(document.skeleton, hand)
        there = {prop.name for prop in changed.props}
        kept = tuple(item for item in document.selection if item.kind != "prop" or item.name in there)
        return _with(document, changed, selection=kept)


@dataclass(frozen=True, slots=True)
class ExcludePair(Action, solves=True):
    """Allow two things to go through each other, or (``excluded=False``) keep them apart again.

    Things are joints, with all bodies on them, props, or "floor", by name.
    """

    first: str
    second: str
    excluded: bool = True

    @property
    def label(self) -> str:
        return f"{'Ignore' if self.excluded else 'Restore'} contact of {self.first} and {self.second}"

    def apply(self, document: Document) -> Document:
        contact, excluded = document.contact, as_flag(self.excluded, "contact: excluded")
        check_known(contact, document.skeleton, (self.first, self.second))
        if self.first == self.second:
            raise InputError(f"contact: expected two names, found {quote(self.first)} twice")
        if contact.excludes(self.first, self.second) is excluded:
            return document
        pair = {self.first, self.second}
        others = tuple(one for one in contact.exclude if set(one) != pair)
        fresh = ((self.first, self.second),) if excluded else ()
        return _with(document, replace(contact, exclude=(*others, *fresh)))


@dataclass(frozen=True, slots=True)
class SetGrip(Action, solves=True):
    """Let the fingers of a hand close on a prop, or open them again.

    A grip also switches contact with props on.

    ``hand`` is the name of its joint, ``prop`` that of the prop; None: the hand opens.
    """

    hand: str
    prop: str | None

    @property
    def label(self) -> str:
        return f"{self.hand} lets go" if self.prop is None else f"{self.hand} grips {self.prop}"

    def apply(self, document: Document) -> Document:
        contact = document.contact
        others = tuple(pair for pair in contact.grips if pair[0] != self.hand)
        if self.prop is None:
            return _with(document, replace(contact, grips=others))
        changed = replace(contact, on=True, objects=True, grips=(*others, (self.hand, self.prop)))
        check_names(changed, document.skeleton)
        fingers_of(document.skeleton, self.hand)
        return _with(document, changed)


@dataclass(frozen=True, slots=True)
class AddProp(Action, words="Add {0.prop.name}", solves=True):
    """Add a prop and select it."""

    prop: Prop

    def apply(self, document: Document) -> Document:
        """Add it.

        Raises:
            InputError: a joint or a prop has its name, a mesh whose file cannot be used, too many props.
            MachineError: a mesh, and trimesh is not installed.
        """
        contact = document.contact
        _check_free(document, self.prop.name)
        self.prop.solid()
        changed = replace(contact, props=(*contact.props, self.prop))
        return _with(document, changed, selection=(Item("prop", self.prop.name),))


def _check_free(document: Document, name: str) -> None:
    if name in document.skeleton.names:
        raise InputError(f"prop {quote(name)}: a joint has this name")
    if any(prop.name == name for prop in document.contact.props):
        raise InputError(f"prop {quote(name)}: another prop has this name")


@dataclass(frozen=True, slots=True, init=False)
class SetProp(Action, solves=True):
    """Change a prop: ``SetProp("ball", center=(0, 1, 0.3), radius=0.05)``."""

    prop: str
    changes: Mapping[str, Any]

    def __init__(self, prop: str, **changes: Any) -> None:  # noqa: ANN401 - each attribute has its own type
        """Take attributes of `Prop` but its name as keywords."""
        put(self, prop=prop, changes=changes)

    @property
    def label(self) -> str:
        word = {"center": "Move", "rotation": "Rotate", "mass": "Mass of"}.get(next(iter(self.changes), ""), "Size of")
        return f"{word} {self.prop}"

    def apply(self, document: Document) -> Document:
        own = document.contact.prop(self.prop)
        changed = with_changes(own, self.changes, "attribute of a prop", but=("name",))
        moved = _with(document, document.contact.with_prop(changed))
        carries = moved.take is not None and any(layer.space == self.prop for layer in moved.take.layers)
        return with_take(moved, moved.take) if carries and moved.take is not None else moved


@dataclass(frozen=True, slots=True)
class RenameProp(Action, words="Rename {0.prop}"):
    """Rename a prop; excluded pairs, grips and the selection use the new name.

    Blanks around the new name are dropped.
    """

    prop: str
    name: str

    def apply(self, document: Document) -> Document:
        contact, name = document.contact, self.name.strip()
        own = contact.prop(self.prop)
        if name == self.prop:
            return document
        _check_free(document, name)
        fresh = replace(own, name=name)
        props = tuple(fresh if prop is own else prop for prop in contact.props)
        changed = replace(contact, props=props).renamed(lambda one: name if one == self.prop else one)
        before, after = Item("prop", self.prop), Item("prop", name)
        selection = tuple(after if item == before else item for item in document.selection)
        take = with_layers(document, lambda one: replace(one, space=name), self.prop)
        return _with(document, changed, selection=selection, take=take)


@dataclass(frozen=True, slots=True)
class RemoveProp(Action, words="Remove {0.prop}", solves=True):
    """Remove a prop, and the excluded pairs and grips that name it."""

    prop: str

    def apply(self, document: Document) -> Document:
        contact, own = document.contact, document.contact.prop(self.prop)
        changed = replace(
            contact,
            props=tuple(prop for prop in contact.props if prop is not own),
            exclude=tuple(pair for pair in contact.exclude if self.prop not in pair),
            grips=tuple(pair for pair in contact.grips if pair[1] != self.prop),
        )
        # Layers that the prop carried keep their targets in place.
        take = with_layers(document, lambda one: replace(one, **in_other_space(document, one, "")), self.prop)
        return _with(document, changed, take=take)


@dataclass(frozen=True, slots=True)
class SetRadius(Action, words="Radius of {0.joint}", solves=True):
    """Set the radius of a capsule of a joint.

    ``metres`` are above 0; None: the fitted radius, or the one that the file states. ``place`` is that of the capsule
    among those of the joint; the one at this place of a joint ``other``, of the other side, gets the same radius.
    """

    joint: str
    metres: float | None
    place: int = 0
    other: str | None = None

    def apply(self, document: Document) -> Document:
        skeleton, joint = document.skeleton, document.skeleton.index(self.joint)
        now = bodies_of(skeleton).capsules
        own = capsules_of(now, joint)
        if self.place not in range(len(own)):
            has = f"it has 0 to {len(own) - 1}" if own else "it has none"
            raise InputError(f"joint {quote(self.joint)}: no capsule {self.place}, {has}")
        first = original_capsules(document)
        chosen = [own[self.place]]
        if self.other is not None:
            chosen += capsules_of(now, skeleton.index(self.other))[self.place : self.place + 1]
        radii = [one.radius for one in now]
        for index in chosen:
            usual = first[index].radius if index < len(first) else now[index].radius
            radii[index] = usual if self.metres is None else as_size(self.metres, f"radius of {quote(self.joint)}")
        if radii == [one.radius for one in now]:
            return document
        capsules = tuple(
            one if one.radius == radius else replace(one, radius=radius) for one, radius in zip(now, radii, strict=True)
        )
        bodies = document.character.skeleton.bodies if capsules == first else Bodies(capsules)
        return replace(document, skeleton=replace(skeleton, bodies=bodies))


def capsules_of(capsules: tuple[Capsule, ...], joint: int) -> list[int]:
    """Indices of the capsules of a joint."""
    return [index for index, capsule in enumerate(capsules) if capsule.joint == joint]


def original_capsules(document: Document) -> tuple[Capsule, ...]:
    """The capsules before any radius was edited: fitted to the present bones, or as the file states them."""
    stated = document.character.skeleton.bodies
    return (fit_bodies(document.skeleton) if stated is None else stated).capsules
