"""Files of skeletons and poses as data types, and the published JSON Schema that is generated from them.

Those of goals are in `goals_json`, where the goal kinds add their keys, those that accompany a motion in
`companion_json`. A field with the default None may be null in the file. Other keys give a warning.
"""

from __future__ import annotations

import inspect
import json
import sys
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct, field

from viewer.spatial.quaternion import EulerOrder

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

DIALECT = "https://json-schema.org/draft/2020-12/schema"


class Strict(Struct, forbid_unknown_fields=True, gc=False):
    """No other keys: msgspec refuses them, and `json_reading` then turns them into warnings."""


class DataFile(Strict, kw_only=True):
    """The keys of files of all types besides their own, among them ``type``."""

    schema: Annotated[str, Meta(description="The schema that an editor checks the file against.")] | None = field(
        default=None, name="$schema"
    )
    version: Annotated[int, Meta(ge=1, le=VERSION, description="Version of the file format.")] = VERSION


class Limits(Strict):
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


class MimicEntry(Strict):
    """The coordinate is ratio * that of the joint named + offset: in degrees, or `units` of a slide."""

    joint: Annotated[str, Meta(description="Name of the joint that is followed.")]
    ratio: float = 1.0
    offset: float = 0.0


class InertiaEntry(Strict):
    """What a joint carries rigidly."""

    mass: Annotated[float, Meta(ge=0.0, description="Kilograms.")]
    center: Annotated[Vector, Meta(description="Centre of mass, in the joint's frame.")] = (0.0, 0.0, 0.0)
    moments: Annotated[
        tuple[float, float, float, float, float, float],
        Meta(
            description="xx, yy, zz, xy, xz, yz about the centre along the joint's axes, as in the matrix: kg m^2, in"
            " any `units`."
        ),
    ] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class MotorEntry(Strict):
    """How strong and fast what drives a joint is, about each of its axes."""

    effort: (
        Annotated[float, Meta(gt=0.0, description="The largest torque, N m; of a slide the largest force, N.")] | None
    ) = None
    velocity: (
        Annotated[float, Meta(gt=0.0, description="Degrees per second; of a slide `units` per second.")] | None
    ) = None


class Joint(Strict):
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
    inertia: Annotated[
        InertiaEntry | None,
        Meta(description="What it carries rigidly, 0 where that weighs nothing. Default: estimated by the bodies."),
    ] = None
    motor: Annotated[MotorEntry | None, Meta(description="What drives it. Default: not known.")] = None
    mimic: Annotated[
        MimicEntry | None, Meta(description="Hinge or slide: follows another one, whose coordinate it takes.")
    ] = None
    tips: Annotated[list[Vector], Meta(description="End sites, in the joint's frame.")] = []


class EffectorEntry(Strict):
    """A place that goals are for."""

    name: Name
    joint: Annotated[str, Meta(description="Name of the joint that it is fixed to.")]
    offset: Annotated[Vector, Meta(description="In the joint's frame.")] = (0.0, 0.0, 0.0)
    goal: Annotated[
        Literal["position", "rotation", "position+rotation", "off"],
        Meta(description="What it holds when the file opens."),
    ] = "position"


class BodyEntry(Strict):
    """A volume that is fixed to a joint, for contact."""

    joint: Annotated[str, Meta(description="Name of the joint that it is fixed to.")]
    capsule: Annotated[
        tuple[Vector, Vector, Annotated[float, Meta(gt=0.0)]],
        Meta(description="The two ends of its axis, in the joint's frame, and its radius."),
    ]
    mass: Annotated[float, Meta(gt=0.0, description="Kilograms.")] | None = None


class LoopEntry(Strict):
    """Two places that stay together, such as the ends of a four-bar linkage."""

    a: Annotated[str, Meta(description="Name of a joint, an effector or a tip.")]
    b: Annotated[str, Meta(description="Name of a joint, an effector or a tip.")]
    kind: Annotated[
        Literal["point", "rigid"], Meta(description="`rigid`: they also keep the rotation they have at rest.")
    ] = "point"


class PoseEntry(Strict):
    """A named pose: what is not listed is at rest."""

    rotations: Annotated[dict[str, Quaternion], Meta(description="Whole local rotations by joint.")] = {}
    translations: Annotated[dict[str, Vector], Meta(description="Local translations by joint.")] = {}


class Motion(Strict):
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


class SkeletonFile(DataFile):
    """A skeleton with its poses and motion."""

    joints: Annotated[list[Joint], Meta(min_length=1, description="In any order; names are unique.")]
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


class RestEntry(Strict):
    """A joint of the skeleton that a pose was made for, at rest."""

    offset: Annotated[Vector, Meta(description="Rest translation in the parent's frame.")]
    parent: Annotated[str | None, Meta(description="Name of its parent.")] = None
    rotation: Annotated[Quaternion, Meta(description="Rest rotation.")] = (0.0, 0.0, 0.0, 1.0)
    tips: Annotated[list[Vector], Meta(description="End sites, in the joint's frame.")] = []


class PoseFile(DataFile):
    """A pose of one skeleton; metres, Y up. What is not listed is at rest."""

    rotations: Annotated[dict[str, Quaternion] | None, Meta(description="Whole local rotations by joint.")] = None
    translations: Annotated[dict[str, Vector], Meta(description="Local translations by joint.")] = {}
    type: Literal["pose"] | None = None
    skeleton: Annotated[str | None, Meta(description="Name of the skeleton.")] = None
    tags: Annotated[list[str], Meta(description="Words by which a pose library finds it.")] = []
    rest: Annotated[
        dict[str, RestEntry] | None,
        Meta(description="The joints of that skeleton, parents first, so that other skeletons can take the pose."),
    ] = None


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
