"""The JSON files as data types, and the published JSON Schema that is generated from them.

A field with the default None may be null in the file. Other keys give a warning.
"""

from __future__ import annotations

import inspect
import json
import keyword
import math
import sys
from collections.abc import Iterator
from operator import getitem
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, defstruct, field

from viewer.ik.goals import KINDS, FileKey, Kind, Unit
from viewer.ik.goals.numbers import LAST_LEVEL
from viewer.spatial.angles import EulerOrder

VERSION = 1
"""The version that is written, and the newest that is read."""
GOALS_VERSION = 2
"""The newest version of goals files that is read."""

Vector = Annotated[tuple[float, float, float], Meta(description="x, y, z")]
Quaternion = Annotated[
    tuple[float, float, float, float],
    Meta(description="A rotation x, y, z, w, within 1e-3 of unit length: parent_from_joint."),
]
Spread = Annotated[
    list[float | Vector],
    # The types alone would allow a mixture of both, and any number of items.
    Meta(
        extra_json_schema={
            "minItems": 3,
            "maxItems": 3,
            "anyOf": [{"items": {"type": "number", "minimum": 0}}, {"items": {"type": "array"}}],
        }
    ),
]
"""Three numbers, or three rows."""
Range = Annotated[tuple[float, float], Meta(description="Lowest and highest value; equal ones lock.")]
Axis = Literal["x", "y", "z"]
Name = Annotated[str, Meta(min_length=1)]
Version = Annotated[int, Meta(ge=1, le=VERSION, description="Version of the file format.")]
Schema = Annotated[str, Meta(description="The schema that an editor checks the file against.")]


class _Strict(Struct, forbid_unknown_fields=True, gc=False):
    """No other keys: msgspec refuses them, and `json_reading` then turns them into warnings."""


class Limits(_Strict):
    """Ranges of a joint: x, y, z (and order) of a ball, angle of a hinge, angles of a universal, distance of a slide.

    Degrees, but `distance` in the file's units. A missing axis is unlimited.
    """

    x: Annotated[Range | None, Meta(description="Ball: range about x, within [-180, 180].")] = None
    y: Annotated[Range | None, Meta(description="Ball: range about y, within [-180, 180].")] = None
    z: Annotated[Range | None, Meta(description="Ball: range about z, within [-180, 180].")] = None
    order: Annotated[
        EulerOrder | None,
        Meta(description="Ball: the ranges are intrinsic angles in this order, the middle one within [-90, 90]."),
    ] = None
    angle: Annotated[Range | None, Meta(description="Hinge: range of its angle.")] = None
    angles: Annotated[tuple[Range, Range] | None, Meta(description="Universal: ranges of its angles.")] = None
    distance: Annotated[Range | None, Meta(description="Slide: range of its distance.")] = None


class MimicEntry(_Strict):
    """The coordinate is ratio * that of the joint named + offset: in degrees, or `units` of a slide."""

    joint: Annotated[str, Meta(description="Name of the joint that is followed.")]
    ratio: float = 1.0
    offset: float = 0.0


class Joint(_Strict):
    """A joint. World rotation = the parent's * its own; world place = the parent's + W_parent * translation."""

    name: Name
    offset: Annotated[Vector | None, Meta(description="Rest translation in the parent's frame; default 0.")] = None
    parent: Annotated[str | None, Meta(description="Name of the parent; null or absent: a root.")] = None
    rotation: Annotated[Quaternion, Meta(description="Rest rotation.")] = (0.0, 0.0, 0.0, 1.0)
    kind: Annotated[
        Literal["ball", "hinge", "universal", "slide", "fixed", "free"] | None,
        Meta(description="How it moves; default ball, and free for roots. Only roots are free."),
    ] = None
    axis: Annotated[Vector | None, Meta(description="Of a hinge or slide, in the rest frame.")] = None
    axes: Annotated[
        tuple[Vector, Vector] | None, Meta(description="Of a universal, perpendicular, in the rest frame.")
    ] = None
    twist_axis: Annotated[
        Axis | None,
        Meta(description="Ball: axis of the twist; default the one nearest to the first child or tip."),
    ] = None
    order: Annotated[
        EulerOrder | None,
        Meta(description="Ball: as `order` in its limits; there it is preferred."),
    ] = None
    limits: Limits | None = None
    stiffness: Annotated[float, Meta(ge=0.0, le=1.0, description="0 moves freely in IK, 1 does not move.")] = 0.0
    spread: Annotated[
        Spread | None,
        Meta(
            description="How far it commonly turns about x, y, z, or along the coordinates of its kind: one standard "
            "deviation, in degrees (a slide: `units`). Or the rows of a symmetric matrix about x, y, z: `[a, b, c]` is "
            "its diagonal. IK moves joints of a wide spread first. Default: by what it is.",
        ),
    ] = None
    mimic: Annotated[
        MimicEntry | None, Meta(description="Hinge or slide: follows another one, whose coordinate it takes.")
    ] = None
    tips: Annotated[list[Vector], Meta(description="End sites, in the joint's frame.")] = []


class EffectorEntry(_Strict):
    """A place that goals are for."""

    name: Name
    joint: Annotated[str, Meta(description="Name of the joint that it is fixed to.")]
    offset: Annotated[Vector, Meta(description="In the joint's frame.")] = (0.0, 0.0, 0.0)
    goal: Annotated[
        Literal["position", "rotation", "position+rotation", "off"],
        Meta(description="What it holds when the file opens."),
    ] = "position"


class BodyEntry(_Strict):
    """A volume that is fixed to a joint, for contact."""

    joint: Annotated[str, Meta(description="Name of the joint that it is fixed to.")]
    capsule: Annotated[
        tuple[Vector, Vector, Annotated[float, Meta(gt=0.0)]],
        Meta(description="The two ends of its axis, in the joint's frame, and its radius."),
    ]
    mass: Annotated[float, Meta(gt=0.0, description="Kilograms.")] | None = None


class LoopEntry(_Strict):
    """Two places that stay together, such as the ends of a four-bar linkage."""

    a: Annotated[str, Meta(description="Name of a joint, an effector or a tip.")]
    b: Annotated[str, Meta(description="Likewise.")]
    kind: Annotated[
        Literal["point", "rigid"], Meta(description="`rigid`: they also keep the rotation they have at rest.")
    ] = "point"


class PoseEntry(_Strict):
    """A named pose: what is not listed is at rest."""

    rotations: Annotated[dict[str, Quaternion], Meta(description="Whole local rotations by joint.")] = {}
    translations: Annotated[dict[str, Vector], Meta(description="Local translations by joint.")] = {}


class Motion(_Strict):
    """Frames at a fixed rate."""

    frame_time: Annotated[float, Meta(gt=0.0, description="Seconds between frames.")]
    frames: Annotated[
        list[list[Quaternion]],
        Meta(description="Per frame one whole local rotation per joint, in this file's order."),
    ]
    translations: Annotated[
        dict[str, list[Vector]],
        Meta(description="Local translations by joint, one per frame; other joints keep their offset."),
    ] = {}
    keys: Annotated[list[Annotated[int, Meta(ge=0)]], Meta(description="Frames that were keyed by hand.")] = []
    name: Annotated[str | None, Meta(description="Of the clip; default the skeleton's name.")] = None


class SkeletonFile(_Strict):
    """A skeleton with its poses and motion."""

    joints: Annotated[list[Joint], Meta(min_length=1, description="In any order; names are unique.")]
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["skeleton"] | None = None
    name: Annotated[str | None, Meta(description="Default: the file's name.")] = None
    units: Annotated[
        Literal["m", "cm", "mm", "inch", "cmu"] | Annotated[float, Meta(gt=0.0)],
        Meta(description="Unit of all lengths; a number is metres per unit."),
    ] = "m"
    up: Annotated[Literal["y", "z"], Meta(description="Axis that points up.")] = "y"
    license: str = ""
    limits_from: Annotated[
        Literal["learned", "human+clip", "human", "clip"] | None,
        Meta(
            description="Where the limits come from, if they were not stated by hand: learned from a folder of motion,"
            " what a human can do, the motion, or either of the two."
        ),
    ] = None
    effectors: Annotated[list[EffectorEntry] | None, Meta(description="Default: found by the joints' names.")] = None
    bodies: Annotated[
        list[BodyEntry] | None, Meta(description="Volumes for contact. Default: fitted to the bones.")
    ] = None
    loops: Annotated[list[LoopEntry], Meta(description="Places that stay together.")] = []
    poses: dict[str, PoseEntry] = {}
    motion: Motion | None = None


class RestEntry(_Strict):
    """A joint of the skeleton that a pose was made for, at rest."""

    offset: Annotated[Vector, Meta(description="Rest translation in the parent's frame.")]
    parent: Annotated[str | None, Meta(description="Name of its parent.")] = None
    rotation: Annotated[Quaternion, Meta(description="Rest rotation.")] = (0.0, 0.0, 0.0, 1.0)
    tips: Annotated[list[Vector], Meta(description="End sites, in the joint's frame.")] = []


class PoseFile(_Strict):
    """A pose of one skeleton; metres, Y up. What is not listed is at rest."""

    rotations: Annotated[dict[str, Quaternion] | None, Meta(description="Whole local rotations by joint.")] = None
    translations: Annotated[dict[str, Vector], Meta(description="Local translations by joint.")] = {}
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["pose"] | None = None
    skeleton: Annotated[str | None, Meta(description="Name of the skeleton.")] = None
    tags: Annotated[list[str], Meta(description="Words by which a pose library finds it.")] = []
    rest: Annotated[
        dict[str, RestEntry] | None,
        Meta(description="The joints of that skeleton, parents first, so that other skeletons can take the pose."),
    ] = None


class _Goal(_Strict):
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


class SphereEntry(_Strict):
    """A ball that does not move."""

    center: Vector
    radius: Annotated[float, Meta(gt=0.0)]


class BoxEntry(_Strict):
    """A box that does not move."""

    center: Vector
    size: Annotated[Vector, Meta(description="Along its own axes.")]
    rotation: Annotated[Quaternion, Meta(description="world_from_box.")] = (0.0, 0.0, 0.0, 1.0)


class MeshEntry(_Strict):
    """A closed surface that does not move."""

    path: Annotated[Name, Meta(description="A file of triangles; relative to the folder of this one.")]
    center: Annotated[Vector, Meta(description="Position of its origin.")] = (0.0, 0.0, 0.0)
    rotation: Annotated[Quaternion, Meta(description="world_from_mesh.")] = (0.0, 0.0, 0.0, 1.0)
    scale: Annotated[float, Meta(gt=0.0, description="Metres per unit of the file.")] = 1.0


class ObjectEntry(_Strict):
    """Something that the figure may touch: one of `sphere`, `box` and `mesh`."""

    name: Name
    sphere: SphereEntry | None = None
    box: BoxEntry | None = None
    mesh: MeshEntry | None = None


class ContactEntry(_Strict):
    """What the figure must not go through; metres, Y up, world frame."""

    floor: Annotated[float | None, Meta(description="Height of a level floor.")] = None
    bodies: Annotated[bool, Meta(description="The figure's own bodies keep apart.")] = False
    objects: list[ObjectEntry] = []
    exclude: Annotated[
        list[tuple[Name, Name]], Meta(description="Joints, objects or the floor that may go through each other.")
    ] = []


class GoalsFile(_Strict):
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


class LayerEntry(_Strict):
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


class LayersFile(_Strict):
    """Layers of goals on a clip."""

    layers: list[LayerEntry]
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["layers"] | None = None


class MapReference(_Strict):
    """Where the neutral poses are."""

    source: Annotated[str | float, Meta(description='"auto", "rest" or a frame of the motion.')] = "auto"
    target: Annotated[str | float, Meta(description='"auto", "rest" or a frame of its own motion.')] = "auto"


class MapFile(_Strict):
    """Pairs of joints of two skeletons."""

    pairs: Annotated[
        dict[str, str | None], Meta(description="Joints of the target by joints of the source; null: no partner.")
    ]
    reference: MapReference | None = None
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["map"] | None = None


Measured = Annotated[float | None, Meta(description="Written by the meter, not read.")]


class TouchEntry(_Strict):
    """Frames in which a point of a foot touches the ground, both ends included."""

    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=0)]
    point: Annotated[Literal["heel", "ball"], Meta(description="heel: the ankle.")] = "heel"
    ignored: Annotated[bool, Meta(description="Neither measured nor planted.")] = False
    slide_cm_s: Measured = None
    drift_cm: Measured = None
    wanders: bool | None = None


class FootEntry(_Strict):
    """The contacts of one foot."""

    contacts: list[TouchEntry]
    side: str | None = None
    slide_cm_s: Measured = None
    drift_cm: Measured = None


class ContactsFile(_Strict):
    """When the feet of a figure touch the ground."""

    feet: Annotated[dict[str, FootEntry], Meta(description="By the name of the foot's joint.")]
    schema: Schema | None = field(default=None, name="$schema")
    version: Version = VERSION
    type: Literal["contacts"] | None = None
    slide_cm_s: Measured = None
    drift_cm: Measured = None
    mann: Measured = None
    skate_ratio: Measured = None
    penetration_mm: Measured = None


DIALECT = "https://json-schema.org/draft/2020-12/schema"


def skeleton_schema() -> dict[str, object]:
    """The schema, as a tree of plain values."""
    schema = _canonical(msgspec.json.schema(SkeletonFile))
    return {"$schema": DIALECT, "title": "ikviewer skeleton file, version 1", **schema}


def _canonical(part: Any) -> Any:  # noqa: ANN401 - a part of a tree of JSON values
    """The same schema for all versions of Python and msgspec.

    Python 3.13 strips the indentation of docstrings; msgspec 0.22 puts null last among alternatives.
    """
    if isinstance(part, list):
        return [_canonical(one) for one in part]
    if not isinstance(part, dict):
        return part
    tidy = {key: _canonical(value) for key, value in part.items()}
    if isinstance(tidy.get("description"), str):
        tidy["description"] = inspect.cleandoc(tidy["description"])
    if "anyOf" in tidy:
        tidy["anyOf"].sort(key=lambda one: one.get("type") == "null")
    return tidy


def schema_text() -> str:
    """The schema as the text of its file."""
    return json.dumps(skeleton_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    sys.stdout.write(schema_text())
