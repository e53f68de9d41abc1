"""Actions on planted feet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from viewer.document.checks import with_changes
from viewer.document.document import Action, Document
from viewer.document.feet import feet_of, found_contacts
from viewer.document.take import PlantedFeet
from viewer.document.take_changes import take_of, with_take
from viewer.errors import InputError

_WORDS = {
    "contacts": "Contacts of feet",
    "blend": "Blend of feet",
    "pelvis": "Pelvis of feet",
    "weight": "Weight of feet",
}


@dataclass(frozen=True, slots=True)
class PlantFeet(Action):
    """Find when the feet touch the ground, and hold them still there; feet planted before are found anew."""

    @property
    def label(self) -> str:
        return "Plant feet"

    def apply(self, document: Document) -> Document:
        contacts = found_contacts(document)
        if not contacts:
            raise InputError("the feet touch the ground nowhere: nothing to plant")
        before = feet_of(document) or PlantedFeet()
        return with_take(document, replace(take_of(document), feet=replace(before, contacts=contacts, on=True)))


@dataclass(frozen=True, slots=True, init=False)
class SetFeet(Action):
    """Change planted feet: ``SetFeet(weight=0.5)``."""

    changes: Mapping[str, Any]

    def __init__(self, **changes: Any) -> None:  # noqa: ANN401 - each field has its own type
        """Take fields of `PlantedFeet` as keywords."""
        object.__setattr__(self, "changes", changes)

    @property
    def label(self) -> str:
        name, value = next(iter(self.changes.items()), ("on", True))
        if name == "on":
            return "Planted feet on" if value else "Planted feet off"
        return _WORDS.get(name, name)

    def apply(self, document: Document) -> Document:
        before = feet_of(document)
        if before is None:
            raise InputError("no feet are planted")
        after = with_changes(before, self.changes, "field of planted feet")
        return document if after == before else with_take(document, replace(take_of(document), feet=after))


@dataclass(frozen=True, slots=True)
class RemoveFeet(Action):
    """Leave the feet as the motion has them."""

    @property
    def label(self) -> str:
        return "Remove planted feet"

    def apply(self, document: Document) -> Document:
        if feet_of(document) is None:
            raise InputError("no feet are planted")
        return with_take(document, replace(take_of(document), feet=None))
