"""The text of a skeleton file: one joint to a line, numbers rounded to what matters."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, TypeAlias

from posing import relaxed_pose, rotation_of_turns

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from model import Effector, Joint, Sample

    from viewer.spatial.checks import Floats

Value: TypeAlias = "str | int | float | list[Value] | dict[str, Value] | None"

LENGTH_DIGITS = 4
"""A tenth of a millimetre."""
ROTATION_DIGITS = 7
"""Quaternions and axes: unit length within 2e-7."""


def skeleton_text(sample: Sample) -> str:
    """The whole JSON document, ending in a newline."""
    head: dict[str, Value] = {"version": 1, "type": "skeleton", "name": sample.name}
    head |= {"units": "m", "up": "y", "license": "CC0-1.0"}
    lines = ["{", " " + _one_line(head)[1:-1] + ","]
    lines += _block("joints", [_joint(joint) for joint in sample.joints], "],")
    lines += _block("effectors", [_effector(effector) for effector in sample.effectors], "],")
    rotations, translations = relaxed_pose(sample)
    lines += [' "poses": {"relaxed": {']
    lines += _named("rotations", rotations, ROTATION_DIGITS, "},")
    lines += _named("translations", translations, LENGTH_DIGITS, "}")
    return "\n".join([*lines, " }}", "}", ""])


def numbers(values: Iterable[float], digits: int) -> list[Value]:
    """Rounded; whole numbers without a point, and no minus zero."""
    rounded = [round(float(value), digits) for value in values]
    return [int(value) if value == int(value) else value for value in rounded]


def _joint(joint: Joint) -> dict[str, Value]:
    entry: dict[str, Value] = {"name": joint.name, "parent": joint.parent}
    entry["offset"] = numbers(joint.offset, LENGTH_DIGITS)
    if joint.rest:
        entry["rotation"] = numbers(rotation_of_turns(joint.rest), ROTATION_DIGITS)
    entry["kind"] = joint.kind
    axes: list[Value] = [numbers(axis, ROTATION_DIGITS) for axis in joint.axes]
    if joint.kind == "universal":
        entry["axes"] = axes
    elif axes:
        entry["axis"] = axes[0]
    if joint.twist_axis:
        entry["twist_axis"] = joint.twist_axis
    if limits := _limits(joint):
        entry["limits"] = limits
    if joint.stiffness:
        entry["stiffness"] = joint.stiffness
    if joint.tips:
        entry["tips"] = [numbers(tip, LENGTH_DIGITS) for tip in joint.tips]
    return entry


def _limits(joint: Joint) -> dict[str, Value]:
    ranges: list[Value] = [numbers(limits, LENGTH_DIGITS) for limits in joint.ranges]
    if joint.kind == "universal":
        return {"angles": ranges}
    if ranges:
        return {"distance" if joint.kind == "slide" else "angle": ranges[0]}
    of_ball = {"x": joint.x, "y": joint.y, "z": joint.z}
    return {axis: numbers(limits, LENGTH_DIGITS) for axis, limits in of_ball.items() if limits is not None}


def _effector(effector: Effector) -> dict[str, Value]:
    entry: dict[str, Value] = {"name": effector.name, "joint": effector.joint}
    if any(effector.offset):
        entry["offset"] = numbers(effector.offset, LENGTH_DIGITS)
    entry["goal"] = effector.goal
    return entry


def _block(key: str, entries: list[dict[str, Value]], end: str) -> list[str]:
    last = len(entries) - 1
    lines = [f"  {_one_line(entry)}{',' if i < last else ''}" for i, entry in enumerate(entries)]
    return [f' "{key}": [', *lines, f" {end}"]


def _named(key: str, arrays: Mapping[str, Floats], digits: int, end: str) -> list[str]:
    last = len(arrays) - 1
    lines = [
        f'   "{name}": {_one_line(numbers(values, digits))}{"," if i < last else ""}'
        for i, (name, values) in enumerate(arrays.items())
    ]
    return [f'  "{key}": {{', *lines, f"  {end}"]


def _one_line(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)
