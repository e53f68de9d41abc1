"""Actions on what acts on the keys: layers of goals over time, and planted feet."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from viewer.document.argument_checks import with_changes
from viewer.document.changed_keys import take_of, with_take
from viewer.document.document import Action, Document, SettingsAction
from viewer.document.evaluation import motion_of, shown_on_own_bones
from viewer.document.planted_feet import feet_of, found_contacts
from viewer.document.simplify import Run, recorded
from viewer.document.take import GoalLayer, PlantedFeet, layer_of
from viewer.document.take_layers import check_layer, finished
from viewer.errors import InputError, quote
from viewer.skeleton import Pose

__all__ = ["AddLayer", "BakeLayers", "MoveLayer", "PlantFeet", "RemoveFeet", "RemoveLayer", "SetFeet", "SetLayer"]

_WORDS = {
    "first": "Start", "full": "Hold", "last": "End", "position": "Target", "rotation": "Target", "space": "Carrier",
    "weight": "Weight", "level": "Level",
}  # fmt: skip


def _check_motion(document: Document) -> None:
    if not document.has_motion:
        raise InputError("there is no motion for a layer: load a clip, or set keys")


@dataclass(frozen=True, slots=True)
class AddLayer(Action):
    """Add a layer after the others."""

    layer: GoalLayer

    @property
    def label(self) -> str:
        return f"Layer for {self.layer.effector}"

    def apply(self, document: Document) -> Document:
        _check_motion(document)
        take = take_of(document)
        check_layer(document, self.layer)
        if any(layer.id == self.layer.id for layer in take.layers):
            raise InputError(f"layer {quote(self.layer.id)}: there is one already")
        return with_take(document, replace(take, layers=(*take.layers, self.layer)))


@dataclass(frozen=True, slots=True, init=False)
class SetLayer(Action):
    """Change a layer: ``SetLayer("LeftHand", weight=0.5)``."""

    id: str
    changes: Mapping[str, Any]

    def __init__(self, id: str, **changes: Any) -> None:  # noqa: A002, ANN401 - each field has its own type
        """Take fields of `GoalLayer` as keywords."""
        object.__setattr__(self, "id", id)
        object.__setattr__(self, "changes", changes)

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
        take = take_of(document)
        layers = tuple(after if layer is before else layer for layer in take.layers)
        return with_take(document, replace(take, layers=layers))


@dataclass(frozen=True, slots=True)
class MoveLayer(Action):
    """Move a layer to another place in the order.

    Attributes:
        id: of the layer.
        index: of its new place among the layers.
    """

    id: str
    index: int
    words: ClassVar[str] = "Order of layer {0.id}"

    def apply(self, document: Document) -> Document:
        layer, take = layer_of(document.take, self.id), take_of(document)
        if not 0 <= self.index < len(take.layers):
            raise InputError(f"layer: expected a place from 0 to {len(take.layers) - 1}, found {self.index}")
        others = [one for one in take.layers if one is not layer]
        layers = (*others[: self.index], layer, *others[self.index :])
        return document if layers == take.layers else with_take(document, replace(take, layers=layers))


@dataclass(frozen=True, slots=True)
class RemoveLayer(Action):
    """Remove a layer; the motion below it is restored."""

    id: str
    words: ClassVar[str] = "Remove layer {0.id}"

    def apply(self, document: Document) -> Document:
        layer, take = layer_of(document.take, self.id), take_of(document)
        return with_take(document, replace(take, layers=tuple(one for one in take.layers if one is not layer)))


@dataclass(frozen=True, slots=True)
class BakeLayers(Action):
    """Make keys of what the layers change, and remove them."""

    words: ClassVar[str] = "Bake layers"

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


_FEET_WORDS = {
    "contacts": "Contacts of feet",
    "blend": "Blend of feet",
    "pelvis": "Pelvis of feet",
    "weight": "Weight of feet",
}


@dataclass(frozen=True, slots=True)
class PlantFeet(Action):
    """Find when the feet touch the ground, and hold them still then; earlier contacts are replaced."""

    words: ClassVar[str] = "Plant feet"

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
        return _FEET_WORDS.get(name, name)

    def apply(self, document: Document) -> Document:
        before = feet_of(document)
        if before is None:
            raise InputError("no feet are planted")
        after = with_changes(before, self.changes, "field of planted feet")
        return document if after == before else with_take(document, replace(take_of(document), feet=after))


@dataclass(frozen=True, slots=True)
class RemoveFeet(Action):
    """Stop planting feet."""

    words: ClassVar[str] = "Remove planted feet"

    def apply(self, document: Document) -> Document:
        if feet_of(document) is None:
            raise InputError("no feet are planted")
        return with_take(document, replace(take_of(document), feet=None))
