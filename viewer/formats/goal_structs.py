"""Files of goals and of layers as data types: their keys are those that the goal kinds declare."""

from __future__ import annotations

import keyword
import math
from collections.abc import Iterator
from operator import getitem
from typing import Annotated, Any, Literal

from msgspec import Meta, defstruct, field

from viewer.formats.json_structs import GOALS_VERSION, VERSION, Name, Quaternion, Schema, Strict, Vector, Version
from viewer.ik.goals import KINDS, FileKey, Kind, Unit
from viewer.ik.goals.numbers import LAST_LEVEL


class _Goal(Strict):
    """The keys that all kinds of goals have; `GoalEntry` adds those of each kind."""

    effector: Annotated[Name | None, Meta(description="A defined effector, a joint, or an end site PARENT.tip.")] = None
    pin: Annotated[
        bool | Literal["position", "rotation", "position+rotation"],
        Meta(description="Hold it where `position` and `rotation` say, or where it is."),
    ] = False
    offset: Annotated[Vector, Meta(description="In the joint's frame.")] = (0.0, 0.0, 0.0)
    weight: Annotated[float, Meta(gt=0.0, description="Per metre.")] | None = None
    rotation_weight: Annotated[float, Meta(gt=0.0, description="Per radian.")] | None = None
    enabled: bool = True
    level: Annotated[int, Meta(ge=0, le=LAST_LEVEL, description="Goals of lower levels come first; version 2.")] = 1
    hold: Annotated[bool, Meta(description="It keeps its place until it gets another target; version 2.")] = False
    id: Annotated[Name | None, Meta(description="Distinguishes it from the others; version 2.")] = None


PLACED_FORM = ("position", "rotation", "pin")
"""Keys of goals for a position or a rotation. A goal has keys of only one form."""
RELATIVE_FORM = ("relative", "to")
"""Keys of goals for two effectors, beside `position` and `rotation`, which may be true or false here."""


def _form_of(kind: Kind) -> tuple[str, ...]:
    """The keys that a goal of a kind must have; a kind without an effector is an object by its own key."""
    if kind.relative:
        return RELATIVE_FORM
    if not kind.named_by:
        return (kind.word,)
    return (*([kind.named_by] if kind.named_by != "effector" else []), *kind.keys)


GOAL_FORMS: dict[tuple[str, ...], Kind] = {
    _form_of(kind): kind for kind in reversed(tuple(KINDS.values())) if kind.built_in and not kind.placed
}
GOAL_FORMS = dict(reversed(GOAL_FORMS.items()))
"""Keys of the other kinds, which are all required; of kinds with the same the first."""


def attribute_of(key: str) -> str:
    """The attribute of `GoalEntry` for a key of goals files."""
    return f"{key}_" if keyword.iskeyword(key) else key


def _kind_keys() -> Iterator[tuple[str, Any, Any]]:
    """Name, type and default of each key that a kind of goals declares."""
    keys = {key: about for kind in KINDS.values() if kind.named_by for key, about in kind.keys.items()}
    for named_by in dict.fromkeys(kind.named_by for kind in KINDS.values()):
        if named_by not in {"effector", ""}:
            yield named_by, Annotated[Name | None, Meta(description="The joint of this goal.")], None
    yield "to", Annotated[Name | None, Meta(description="The effector that `relative` is to hold.")], None
    for kind in KINDS.values():
        if kind.built_in and not kind.named_by:
            yield kind.word, Annotated[_object_of(kind) | None, Meta(description=f"{kind.hint}.")], None
    for key, about in keys.items():
        yield _entry_of(key, about)


def _entry_of(key: str, about: FileKey) -> tuple[str, Any, Any]:
    """A key that may be left out. Of places and turns `relative` makes flags, too."""
    # As a subscript, mypy would take a type that is known only at run time for a static one.
    bounded: Any = getitem(Annotated, (_type_of(about), _bounds_of(about)))
    return attribute_of(key), (bounded | bool if key in PLACED_FORM else bounded) | None, field(default=None, name=key)


def _object_of(kind: Kind) -> Any:  # noqa: ANN401 - a type
    """The keys of a kind without an effector, which may all be left out."""
    keys = [_entry_of(key, about) for key, about in kind.keys.items()]
    return defstruct(f"{kind.title}Entry", keys, module=__name__, forbid_unknown_fields=True)


def _type_of(about: FileKey) -> Any:  # noqa: ANN401 - a type
    if about.field == "to":
        return Name
    if about.number is None:
        return Quaternion if about.field == "target_rotation" else Vector
    return Vector if about.number.is_direction else float


def _bounds_of(about: FileKey) -> Meta:
    """The bounds of a number, as far as they are finite, in degrees if it is an angle; and what a schema says."""
    if about.number is None:
        return Meta(description=about.about)
    worth = math.radians(1.0) if about.number.unit is Unit.ANGLE else 1.0
    least, most = (bound / worth if math.isfinite(bound) else None for bound in (about.number.least, about.number.most))
    return Meta(ge=least, le=most, description=about.about)


GoalEntry: Any = defstruct("GoalEntry", list(_kind_keys()), bases=(_Goal,), module=__name__, forbid_unknown_fields=True)


class SphereEntry(Strict):
    """A ball that does not move."""

    center: Vector
    radius: Annotated[float, Meta(gt=0.0)]


class BoxEntry(Strict):
    """A box that does not move."""

    center: Vector
    size: Annotated[Vector, Meta(description="Along its own axes.")]
    rotation: Annotated[Quaternion, Meta(description="world_from_box.")] = (0.0, 0.0, 0.0, 1.0)


class MeshEntry(Strict):
    """A closed surface that does not move."""

    path: Annotated[Name, Meta(description="A file of triangles; relative to the folder of this one.")]
    center: Annotated[Vector, Meta(description="Position of its origin.")] = (0.0, 0.0, 0.0)
    rotation: Annotated[Quaternion, Meta(description="world_from_mesh.")] = (0.0, 0.0, 0.0, 1.0)
    scale: Annotated[float, Meta(gt=0.0, description="Metres per unit of the file.")] = 1.0


class ObjectEntry(Strict):
    """Something that the figure may touch: one of `sphere`, `box` and `mesh`."""

    name: Name
    sphere: SphereEntry | None = None
    box: BoxEntry | None = None
    mesh: MeshEntry | None = None


class ContactEntry(Strict):
    """What the figure must not go through; metres, Y up, world frame."""

    floor: Annotated[float | None, Meta(description="Height of a level floor.")] = None
    bodies: Annotated[bool, Meta(description="The figure's own bodies keep apart.")] = False
    objects: list[ObjectEntry] = field(default_factory=list)
    exclude: Annotated[
        list[tuple[Name, Name]], Meta(description="Joints, objects or the floor that may go through each other.")
    ] = field(default_factory=list)


class GoalsFile(Strict):
    """Goals for one solve."""

    goals: list[GoalEntry]
    contact: Annotated[ContactEntry | None, Meta(description="Version 2.")] = None
    ground: Annotated[
        float | None,
        Meta(description="Height of the ground for balance; null: contact's floor, or 0. Version 2."),
    ] = None
    schema: Schema | None = field(default=None, name="$schema")
    version: Annotated[int, Meta(ge=1, le=GOALS_VERSION, description="Version of the file format.")] = GOALS_VERSION
    type: Literal["goals"] | None = None


class LayerEntry(Strict):
    """A goal over time; seconds from the first frame of the clip."""

    goal: Annotated[GoalEntry, Meta(description="As in a goals file: a position, a rotation, both, or an aim.")]
    start: Annotated[float, Meta(ge=0.0, description="When it begins to act.")]
    full: Annotated[tuple[float, float], Meta(description="Between these it acts with all its weight.")]
    end: Annotated[float, Meta(ge=0.0, description="When it has ceased to act.")]
    weight: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0
    space: Annotated[Name | None, Meta(description="The joint that carries the target; null: it is in the world.")] = (
        None
    )
    enabled: bool = True


class LayersFile(Strict):
    """Layers of goals on a clip."""

    layers: list[LayerEntry]
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["layers"] | None = None
