"""JSON files that accompany a motion: layers, contacts, maps.

- Layers: goals over time on a clip; metres, Y up, world frame or that of a joint, seconds. A target that moves is a
  list of ``[seconds, value]`` in place of ``position`` or ``rotation``.
- Contacts: when a figure's feet touch the ground, as ``ikviewer feet --json`` prints it. Frames count from 0, and the
  last frame of a contact belongs to it. The meter's measurements (slides, sums) may stay in the file and are not read.
- Maps: pairs of joints of a motion's skeleton and of another one, and the neutral poses of both.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, Literal, NamedTuple

from msgspec import Meta

from viewer.errors import FormatError, InputError, at_path, of_file, quote
from viewer.formats.bounds import MOST_GOALS
from viewer.formats.files import read_file_or_pipe, write_whole
from viewer.formats.goals_json import GoalEntry, goal_of
from viewer.formats.json_reading import Json, block_object, compact, decode, found, parse
from viewer.formats.json_structs import DataFile, Name, Strict
from viewer.motion import Contact, Contacts, FootContacts, FootSkate, Layer, Skate, TargetKey
from viewer.skeleton import Skeleton, effector_of
from viewer.skeleton.joint_map import Map, Reference

_PARTS = {"position": 3, "rotation": 4}
"""Keys of a goal whose value may move, and how many numbers a value has."""


# --- layers


class LayerEntry(Strict):
    """A goal over time; seconds from the first frame of the clip."""

    goal: Annotated[GoalEntry, Meta(description="As in a goals file: position, rotation, both, aim or midpoint.")]
    start: Annotated[float, Meta(ge=0.0, description="When it begins to act.")]
    full: Annotated[tuple[float, float], Meta(description="Between these it acts with all its weight.")]
    end: Annotated[float, Meta(ge=0.0, description="When it has ceased to act.")]
    weight: Annotated[float, Meta(ge=0.0, le=1.0)] = 1.0
    space: Annotated[Name | None, Meta(description="The joint that carries the target; null: it is in the world.")] = (
        None
    )
    enabled: bool = True


class LayersFile(DataFile):
    """Layers of goals on a clip."""

    layers: list[LayerEntry]
    type: Literal["layers"] | None = None


def read_layers(path: Path, name: str, skeleton: Skeleton, warnings: list[str] | None) -> tuple[Layer, ...]:
    """Read a layers file for one skeleton, whose effectors, joints and tips it may name.

    ``path`` may be a pipe, ``name`` begins messages, and ``warnings`` receives a line for each unknown key.
    """
    return layers_from_text(read_file_or_pipe(path, name), name, skeleton, warnings)


def layers_from_text(text: str, file: str, skeleton: Skeleton, warnings: list[str] | None = None) -> tuple[Layer, ...]:
    """The layers that the text of a file describes; arguments are those of `read_layers`."""
    entries, layers = layer_entries(text, file, warnings), []
    for index, (entry, keys) in enumerate(entries):
        with of_file(file), at_path(f"layers[{index}]"):
            layers.append(_layer(entry, keys, skeleton))
    return tuple(layers)


def layer_entries(text: str, file: str, warnings: list[str] | None) -> list[tuple[LayerEntry, tuple[TargetKey, ...]]]:
    """The layers of a file as it states them, of no skeleton, each with its target if that moves."""
    with of_file(file):
        text, keys = _without_keys(text)
        layers = decode(text, LayersFile, "layers", file, warnings).layers
        if len(layers) > MOST_GOALS:
            raise FormatError(f"expected at most {MOST_GOALS:,} layers, found {len(layers):,}", path="layers")
    return [(entry, keys.get(index, ())) for index, entry in enumerate(layers)]


def _layer(entry: LayerEntry, keys: tuple[TargetKey, ...], skeleton: Skeleton) -> Layer:
    goal = goal_of(entry.goal)
    for name in (goal.effector, *([] if entry.space is None else [entry.space])):
        effector_of(skeleton, name)
    if goal.enabled is False:
        raise InputError('expected "enabled" beside "goal", found it inside')
    return Layer(goal, entry.start, entry.full, entry.end, entry.weight, entry.space, keys, entry.enabled)


def _without_keys(text: str) -> tuple[str, dict[int, tuple[TargetKey, ...]]]:
    """The text with the first value of each target that moves; and these targets, by the index of their layer."""
    if '"layers"' not in text:
        return text, {}
    tree = parse(text)
    layers = tree.get("layers") if isinstance(tree, dict) else None
    moving: dict[int, tuple[TargetKey, ...]] = {}
    for index, layer in enumerate(layers if isinstance(layers, list) else ()):
        goal = layer.get("goal") if isinstance(layer, dict) else None
        if not isinstance(goal, dict):
            continue
        given = {part: goal[part] for part in _PARTS if _is_moving(goal.get(part))}
        if given:
            moving[index] = _keys(given, goal, f"layers[{index}].goal")
            goal |= {part: value[0][1] for part, value in given.items()}
    return (json.dumps(tree), moving) if moving else (text, {})


def _is_moving(value: Json) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], list)


def _keys(given: dict[str, Json], goal: dict[str, Json], path: str) -> tuple[TargetKey, ...]:
    still = [part for part in _PARTS if part in goal and part not in given]
    if still:
        raise FormatError(f'expected "{still[0]}" as a list of [seconds, value], too', path=path)
    times: dict[str, list[float]] = {}
    for part, value in given.items():
        for number, entry in enumerate(value):
            _check_key(entry, _PARTS[part], f"{path}.{part}[{number}]")
        times[part] = [float(entry[0]) for entry in value]
    first, *others = times.values()
    if any(other != first for other in others):
        raise FormatError("expected position and rotation at the same times", path=path)
    return tuple(
        TargetKey(time, **{part: _numbers(value[index][1]) for part, value in given.items()})
        for index, time in enumerate(first)
    )


def _check_key(entry: Json, count: int, path: str) -> None:
    said = f"expected [seconds, [{count} numbers]]"
    if not isinstance(entry, list) or len(entry) != 2 or not isinstance(entry[1], list) or len(entry[1]) != count:
        raise FormatError(f"{said}, found {found(entry)}", path=path)
    for value in (entry[0], *entry[1]):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise FormatError(f"{said}, found {found(value)} in it", path=path)


def _numbers(values: list[float]) -> Any:  # noqa: ANN401 - a tuple of the part's length
    return tuple(map(float, values))


# --- contacts

_Measured = Annotated[float | None, Meta(description="Written by the meter, not read.")]


class TouchEntry(Strict):
    """Frames in which a point of a foot touches the ground, both ends included."""

    start: Annotated[int, Meta(ge=0)]
    end: Annotated[int, Meta(ge=0)]
    point: Annotated[Literal["heel", "ball"], Meta(description="heel: the ankle.")] = "heel"
    ignored: Annotated[bool, Meta(description="Neither measured nor planted.")] = False
    slide_cm_s: _Measured = None
    drift_cm: _Measured = None
    wanders: bool | None = None


class FootEntry(Strict):
    """The contacts of one foot."""

    contacts: list[TouchEntry]
    side: str | None = None
    slide_cm_s: _Measured = None
    drift_cm: _Measured = None


class ContactsFile(DataFile):
    """When the feet of a figure touch the ground."""

    feet: Annotated[dict[str, FootEntry], Meta(description="By the name of the foot's joint.")]
    type: Literal["contacts"] | None = None
    slide_cm_s: _Measured = None
    drift_cm: _Measured = None
    mann: _Measured = None
    skate_ratio: _Measured = None
    penetration_mm: _Measured = None


def read_contacts(path: Path, name: str, warnings: list[str] | None) -> Contacts:
    """Read a contacts file. Arguments and errors are those of `read_layers`."""
    data = decode(read_file_or_pipe(path, name), ContactsFile, "contacts", name, warnings)
    feet = []
    for foot, entry in data.feet.items():
        rows = []
        for index, row in enumerate(entry.contacts):
            if row.end < row.start:
                problem = f"expected an end from {row.start} on, found {row.end}"
                raise FormatError(problem, file=name, path=f"feet.{foot}.contacts[{index}]")
            rows.append(Contact(row.point, row.start, row.end, row.ignored))
        feet.append(FootContacts(foot, entry.side or "", tuple(rows)))
    return Contacts(tuple(feet))


def skate_words(skate: Skate) -> dict[str, Json]:
    """The document that ``ikviewer feet --json`` prints; it is a contacts file, too."""
    return {
        "version": 1,
        "type": "contacts",
        "feet": {foot.name: _foot(foot) for foot in skate.feet},
        "slide_cm_s": skate.slide_cm_s,
        "drift_cm": skate.drift_cm,
        "mann": skate.mann,
        "skate_ratio": skate.skate_ratio,
        "penetration_mm": skate.penetration_mm,
    }


def _foot(foot: FootSkate) -> dict[str, Json]:
    rows: list[Json] = [
        {
            "point": row.contact.point,
            "start": row.contact.start,
            "end": row.contact.end,
            "slide_cm_s": row.slide_cm_s,
            "drift_cm": row.drift_cm,
            "wanders": row.wanders,
        }
        for row in foot.contacts
    ]
    return {"side": foot.side, "slide_cm_s": foot.slide_cm_s, "drift_cm": foot.drift_cm, "contacts": rows}


# --- maps


class MapReference(Strict):
    """Where the neutral poses are."""

    source: Annotated[str | float, Meta(description='"auto", "rest" or a frame of the motion.')] = "auto"
    target: Annotated[str | float, Meta(description='"auto", "rest" or a frame of its own motion.')] = "auto"


class MapFile(DataFile):
    """Pairs of joints of two skeletons."""

    pairs: Annotated[
        dict[str, str | None], Meta(description="Joints of the target by joints of the source; null: no partner.")
    ]
    reference: MapReference | None = None
    type: Literal["map"] | None = None


class StatedMap(NamedTuple):
    """What a map file states: the target's joints by the source's, and neutral poses: "auto", "rest" or a frame.

    A joint with None has no partner; joints that are not here are paired as without a map.
    """

    pairs: Mapping[str, str | None]
    source_reference: Reference = "auto"
    target_reference: Reference = "auto"


def read_map(path: Path, name: str, warnings: list[str] | None = None) -> StatedMap:
    """Read a map file. Arguments and errors are those of `read_layers`."""
    return map_from_text(read_file_or_pipe(path, name), name, warnings)


def map_from_text(text: str, file: str, warnings: list[str] | None = None) -> StatedMap:
    """What the text of a map file states; arguments are those of `read_map`."""
    data = decode(text, MapFile, "map", file, warnings)
    stated = data.reference or MapReference()
    with of_file(file):
        references = [_reference(side, getattr(stated, side)) for side in ("source", "target")]
    return StatedMap(MappingProxyType(data.pairs), *references)


def _reference(side: str, value: str | float) -> Reference:
    if isinstance(value, (int, float)) and value >= 0 and value == int(value):
        return int(value)
    if value not in ("auto", "rest"):
        found = quote(value) if isinstance(value, str) else value
        raise FormatError(f'expected "auto", "rest" or a frame, found {found}', path=f"reference.{side}")
    return str(value)


def map_to_json(found: Map) -> str:
    """The text of a map file with all pairs; joints that a user left without a partner have null."""
    pairs: dict[str, str | None] = dict(found.pairs)
    pairs |= dict.fromkeys(sorted(found.by_hand - found.pairs.keys()))
    items = {"version": compact(1), "type": compact("map")}
    items["pairs"] = block_object({name: compact(other) for name, other in pairs.items()}, " ")
    items["reference"] = compact({"source": found.source_reference, "target": found.target_reference})
    return block_object(items) + "\n"


def write_map(found: Map, path: Path) -> None:
    """Write a map file, whole or not at all."""
    write_whole(path, map_to_json(found))
