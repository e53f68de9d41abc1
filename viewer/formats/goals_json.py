"""Goals files (JSON, versions 1 and 2), reading and writing: metres, Y up, world frame, degrees.

The kinds of goals declare their keys in `viewer.ik.goals`. Files are written in the lowest version that can hold their
goals, so that older programs can read them.
"""

from __future__ import annotations

import keyword
import math
from collections import Counter
from collections.abc import Iterator
from operator import getitem
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta, defstruct, field

from viewer.errors import FormatError, InputError, at_path, of_file, quote
from viewer.formats.bounds import MOST_GOALS
from viewer.formats.files import read_file_or_pipe
from viewer.formats.json_reading import block_list, block_object, compact, decode, degrees_of, number, numbers
from viewer.formats.json_structs import GOALS_VERSION, DataFile, Name, Quaternion, Strict, Vector
from viewer.ik.contact import Box, Contact, Mesh, Object, Sphere
from viewer.ik.contact.volumes import check_names
from viewer.ik.goals import KINDS, PIN_WEIGHT, FileKey, Goal, GoalOptions, Kind, Number, Unit, Value, goal_ids
from viewer.ik.goals.goal import LAST_LEVEL
from viewer.skeleton import Skeleton, effector_of

PLACED_FORM = ("position", "rotation", "pin")
"""Keys of goals for a position or a rotation. A goal has keys of only one form."""

_HERE = Path()
_UNTURNED = (0.0, 0.0, 0.0, 1.0)


# --- files as data types


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


def _form_of(kind: Kind) -> tuple[str, ...]:
    """The keys that a goal of a kind must have; a kind without an effector is an object by its own key."""
    if not kind.named_by:
        return (kind.word,)
    return (*([kind.named_by] if kind.named_by != "effector" else []), *kind.keys)


GOAL_FORMS: dict[tuple[str, ...], Kind] = {
    _form_of(kind): kind for kind in reversed(tuple(KINDS.values())) if kind.built_in and not kind.sets_pose
}
GOAL_FORMS = dict(reversed(GOAL_FORMS.items()))
"""Keys of the other kinds, which are all required; of kinds with the same the first."""
_SHARED = tuple(key for key, count in Counter(key for form in GOAL_FORMS for key in form).items() if count > 1)
"""Keys of several forms, such as that of the second effector: they do not say which form is meant."""


def attribute_of(key: str) -> str:
    """The attribute of `GoalEntry` for a key of goals files."""
    return f"{key}_" if keyword.iskeyword(key) else key


def _kind_keys() -> Iterator[tuple[str, Any, Any]]:
    """Name, type and default of each key that a kind of goals declares."""
    keys = {key: about for kind in KINDS.values() if kind.named_by for key, about in kind.keys.items()}
    for named_by in dict.fromkeys(kind.named_by for kind in KINDS.values()):
        if named_by not in {"effector", ""}:
            yield named_by, Annotated[Name | None, Meta(description="The joint of this goal.")], None
    for kind in KINDS.values():
        if kind.built_in and not kind.named_by:
            yield kind.word, Annotated[_object_of(kind) | None, Meta(description=f"{kind.hint}.")], None
    for key, about in keys.items():
        yield _entry_of(key, about)


def _entry_of(key: str, about: FileKey) -> tuple[str, Any, Any]:
    """A key that may be left out. With `relative`, positions and rotations may also be flags."""
    # Written as a subscript, mypy would treat a type known only at run time as a static one.
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


class GoalsFile(DataFile, kw_only=True):
    """Goals for one solve."""

    goals: list[GoalEntry]
    contact: Annotated[ContactEntry | None, Meta(description="Version 2.")] = None
    ground: Annotated[
        float | None,
        Meta(description="Height of the ground for balance; null: contact's floor, or 0. Version 2."),
    ] = None
    version: Annotated[int, Meta(ge=1, le=GOALS_VERSION, description="Version of the file format.")] = GOALS_VERSION
    type: Literal["goals"] | None = None


# --- reading and writing


class StatedGoals(NamedTuple):
    """What a goals file asks for; ``contact`` is None where the file does not mention it.

    ``ground`` is the height, metres, that goals for balance stand on; None: the floor of ``contact``, or 0.
    """

    goals: tuple[Goal, ...]
    contact: Contact | None = None
    ground: float | None = None


def read_goals_file(path: Path, name: str, skeleton: Skeleton, warnings: list[str] | None = None) -> StatedGoals:
    """Read a goals file for one skeleton, whose effectors, joints and tips it may name; meshes stand beside it.

    ``path`` may be a pipe, ``name`` begins messages, and ``warnings`` receives a line for each unknown key.
    """
    return goals_file_from_text(read_file_or_pipe(path, name), name, skeleton, warnings, path.parent)


def goals_file_from_text(
    text: str, file: str, skeleton: Skeleton, warnings: list[str] | None = None, folder: Path = _HERE
) -> StatedGoals:
    """What the text of a goals file describes; files of meshes are looked for in ``folder``."""
    data = decode(text, GoalsFile, "goals", file, warnings)
    with of_file(file):
        contact = None if data.contact is None else _contact(data.contact, skeleton, folder)
        if len(data.goals) > MOST_GOALS:
            raise FormatError(f"expected at most {MOST_GOALS:,} goals, found {len(data.goals):,}", path="goals")
        goals = []
        for index, entry in enumerate(data.goals):
            with at_path(f"goals[{index}]"):
                if entry.balance is None:
                    effector_of(skeleton, _effector(entry))
                goal = goal_of(entry)
                KINDS[goal.kind].constants(goal, skeleton)
            goals.append(goal)
        with at_path():
            goal_ids(goals)
    return StatedGoals(tuple(goals), contact, data.ground)


def _contact(entry: ContactEntry, skeleton: Skeleton, folder: Path) -> Contact:
    objects = []
    for index, one in enumerate(entry.objects):
        named = quote(one.name)
        word = next((word for word in ("sphere", "box", "mesh") if getattr(one, word) is not None), "")
        with at_path(f"contact.objects[{index}] {named}", but=f"{word} {named}: "):
            objects.append(_object(one, folder))
    with at_path("contact", but="contact: "):
        contact = Contact(entry.floor, entry.bodies, objects, entry.exclude)
        check_names(skeleton, contact)
    return contact


def _object(entry: ObjectEntry, folder: Path) -> Object:
    given = [shape for shape in (entry.sphere, entry.box, entry.mesh) if shape is not None]
    if len(given) != 1:
        raise InputError(f"expected one of sphere, box and mesh, found {'several' if given else 'none'}")
    if entry.sphere is not None:
        return Sphere(entry.name, entry.sphere.center, entry.sphere.radius)
    if entry.box is not None:
        return Box(entry.name, entry.box.center, entry.box.size, entry.box.rotation)
    assert entry.mesh is not None
    mesh = entry.mesh
    path = str(folder / mesh.path)
    return Mesh(entry.name, path=path, center=mesh.center, rotation=mesh.rotation, scale=mesh.scale)


def _contact_words(contact: Contact) -> dict[str, object]:
    words: dict[str, object] = {} if contact.floor is None else {"floor": number(contact.floor)}
    words |= {"bodies": True} if contact.bodies else {}
    objects = [{"name": one.name, one.word: _object_words(one)} for one in contact.objects]
    words |= {"objects": objects} if objects else {}
    return words | ({"exclude": [list(pair) for pair in contact.exclude]} if contact.exclude else {})


def _object_words(one: Object) -> dict[str, object]:
    words: dict[str, object] = {"center": numbers(one.center)}
    if isinstance(one, Sphere):
        return words | {"radius": number(one.radius)}
    if isinstance(one, Mesh):
        if not one.path:
            raise InputError(f"mesh {quote(one.name)}: expected a path, which a file can hold; found vertices")
        words = {"path": one.path} | words | ({} if one.scale == 1.0 else {"scale": number(one.scale)})
    else:
        words["size"] = numbers(one.size)
    return words if one.rotation == _UNTURNED else words | {"rotation": numbers(one.rotation)}


def goals_to_json(goals: tuple[Goal, ...], contact: Contact | None = None, ground: float | None = None) -> str:
    """The text of a goals file; reading it gives equal goals, contact and ground.

    No file can hold a function goal or the vertices of a mesh.
    """
    lines = block_list((compact(goal_words(goal)) for goal in goals), " ")
    version = max(
        [2 if goal.id or goal.hold or goal.level != 1 else KINDS[goal.kind].since for goal in goals], default=1
    )
    parts = {"version": compact(version), "type": compact("goals"), "goals": lines}
    if contact is not None:
        parts |= {"version": compact(2), "contact": compact(_contact_words(contact))}
    if ground is not None:
        parts |= {"version": compact(2), "ground": compact(number(ground))}
    return block_object(parts) + "\n"


def _value(entry: GoalEntry, key: str) -> Any:  # noqa: ANN401 - of the key's own type
    return getattr(entry, attribute_of(key))


def _is_given(entry: GoalEntry, key: str) -> bool:
    value = _value(entry, key)
    return value is not None and value is not False


def _own_keys(entry: GoalEntry, form: tuple[str, ...]) -> list[str]:
    """The given keys of a form that say that it is meant."""
    return [key for key in form if key not in _SHARED and _is_given(entry, key)]


def _effector(entry: GoalEntry) -> str:
    keys = dict.fromkeys(kind.named_by for kind in KINDS.values() if kind.named_by)
    names = {key: _value(entry, key) for key in keys if _is_given(entry, key)}
    if not names:
        raise InputError('expected "effector", found none')
    if len(names) > 1:
        raise InputError(f"expected one of {' and '.join(names)}, found both")
    (name,) = names.values()
    return str(name)


def goal_of(entry: GoalEntry) -> Goal:
    """The goal that an entry of a file describes."""
    if entry.relative is not None:
        return _relative(entry)
    for key in ("position", "rotation"):
        if isinstance(_value(entry, key), bool):
            raise InputError(f'"{key}": expected numbers, found {str(_value(entry, key)).lower()}')
    for shared in (key for key in _SHARED if _is_given(entry, key)):
        having = [form for form in GOAL_FORMS if shared in form]
        if not any(_own_keys(entry, form) for form in having):
            first = [quote(next(key for key in form if key not in _SHARED)) for form in having]
            raise InputError(f'expected no "{shared}" without {" or ".join(first)}, found one')
    if entry.balance is not None and entry.effector is not None:
        raise InputError('expected no "effector" beside "balance", found one')
    forms = {form: _own_keys(entry, form) for form in (PLACED_FORM, *GOAL_FORMS)}
    given = {form: keys for form, keys in forms.items() if keys}
    if len(given) != 1:
        found = " and ".join(key for keys in given.values() for key in keys) or "none of them"
        raise InputError(f"expected {_forms_text()}; found {found}")
    options = _options(entry)
    ((form, keys),) = given.items()
    if form == PLACED_FORM:
        placed = next(kind for kind in KINDS.values() if set(kind.keys) == set(keys)) if not entry.pin else None
        return _pin(entry, options) if placed is None else _made(entry, placed, options)
    for key in form:
        about = GOAL_FORMS[form].keys.get(key)
        stated = about is None or about.number is None or about.number.default is None
        if stated and not _is_given(entry, key):
            raise InputError(f'expected "{key}" beside "{keys[0]}", found none')
    return _made(entry, GOAL_FORMS[form], options)


def _options(entry: GoalEntry) -> GoalOptions:
    options = GoalOptions(
        offset=entry.offset, enabled=entry.enabled, hold=entry.hold, level=entry.level, id=entry.id or ""
    )
    if entry.weight is not None:
        options["weight"] = entry.weight
    if entry.rotation_weight is not None:
        options["rotation_weight"] = entry.rotation_weight
    return options


def _relative(entry: GoalEntry) -> Goal:
    """A goal for two effectors; parts that are left out stay as in the start pose."""
    forms = [("pin",), *(form for form, kind in GOAL_FORMS.items() if not kind.relative)]
    others = [key for form in forms for key in _own_keys(entry, form)]
    if others:
        raise InputError(f'expected no "{others[0]}" beside "relative", found one')
    if entry.to is None:
        raise InputError('expected "to" beside "relative", found none')
    parts = {key: True if (value := _value(entry, key)) is None else value for key in ("position", "rotation")}
    return Goal.relative(entry.relative, entry.to, **parts, **_options(entry))


def _forms_text() -> str:
    """All forms for a message: ``position, rotation or pin, or distance with from, ...``."""
    *first, last = PLACED_FORM
    return ", or ".join([f"{', '.join(first)} or {last}", *(" with ".join(form) for form in GOAL_FORMS)])


def _made(entry: GoalEntry, kind: Kind, options: GoalOptions) -> Goal:
    effector = _effector(entry) if kind.named_by else ""
    entry = entry if kind.named_by else _value(entry, kind.word)
    fields = {about.field: _value(entry, key) for key, about in kind.keys.items() if about.number is None}
    given = {key: about.number for key, about in kind.keys.items() if about.number and _value(entry, key) is not None}
    own = tuple((number.name, _read(_value(entry, key), number)) for key, number in given.items())
    return Goal(kind=kind.word, effector=effector, numbers=own, **fields, **options)  # type: ignore[arg-type]  # it checks them


def _read(value: Value, number: Number) -> Value:
    return math.radians(value) if number.unit is Unit.ANGLE and isinstance(value, float) else value


def _pin(entry: GoalEntry, options: GoalOptions) -> Goal:
    held = "position+rotation" if isinstance(entry.pin, bool) else entry.pin
    parts: dict[str, Any] = {}
    for part in ("position", "rotation"):
        place = _value(entry, part)
        parts[part] = (True if place is None else place) if part in held.split("+") else False
        if place is not None and parts[part] is False:
            raise InputError(f'expected no "{part}" beside a pin of the {held}, found one')
    return Goal.pin(_effector(entry), **parts, **options)


def goal_words(goal: Goal) -> dict[str, object]:
    """The entry of a goal; no file can hold a function goal."""
    kind = KINDS[goal.kind]
    if not kind.built_in:
        raise InputError("a function goal cannot be written to a file")
    words: dict[str, object] = {kind.named_by: goal.effector} if kind.named_by else {}
    if goal.pinned:
        words["pin"] = True if kind.sets_position and kind.has_rotation else goal.kind
    own = {}
    for key, about in kind.keys.items():
        value = dict(goal.numbers)[about.field] if about.number else getattr(goal, about.field)
        if value is not None:
            own[key] = _written(value, about)
    words |= own if kind.named_by else {kind.word: own}
    words |= _relative_words(goal) if kind.relative else {}
    if any(goal.offset):
        words["offset"] = numbers(goal.offset)
    usual = PIN_WEIGHT if goal.pinned else 1.0
    weights = {"weight": goal.weight, "rotation_weight": goal.rotation_weight}
    words |= {key: number(weight) for key, weight in weights.items() if weight != usual}
    words |= {"level": goal.level} if goal.level != 1 else {}
    words |= {"hold": True} if goal.hold else {}
    words |= {"id": goal.id} if goal.id else {}
    return words if goal.enabled else words | {"enabled": False}


def _relative_words(goal: Goal) -> dict[str, object]:
    words: dict[str, object] = {}
    for key, part in (("position", "target"), ("rotation", "target_rotation")):
        value = getattr(goal, part)
        words[key] = part in KINDS[goal.kind].targets and (True if value is None else numbers(value))
    return words


def _written(value: Any, about: FileKey) -> object:  # noqa: ANN401
    if about.number and about.number.unit is Unit.ANGLE:
        return degrees_of(value)
    if isinstance(value, str):
        return value
    return numbers(value) if isinstance(value, tuple) else number(value)
