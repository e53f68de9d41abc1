"""A rig as a URDF: links in a tree, single-axis joints, a fixed link at every goal."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from viewer.cli.bench.hinges import Axis, Mechanism
from viewer.cli.bench.rigs import Rig
from viewer.spatial.euler import to_euler

_UNLIMITED = 2.0 * math.pi
_EFFORT = 'effort="1" velocity="100"'


def goal_link(goal: int) -> str:
    """What a goal's link is called."""
    return f"goal{goal}"


def urdf(rig: Rig, built: Mechanism) -> str:
    """The robot's XML; a floating base is the first link itself, as the readers add its freedoms."""
    skeleton = rig.skeleton
    parts = ['<?xml version="1.0"?><robot name="rig">', *([] if built.floating else ['<link name="world"/>'])]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if joint == 0 and built.floating:
            parts.append('<link name="link0"/>')
            continue
        origin = _origin(skeleton.offsets[joint], skeleton.rest_rotations[joint])
        above, axes = f"link{parent}" if parent >= 0 else "world", built.axes[joint]
        if not axes:
            parts.append(_joint(f"fixed{joint}", "fixed", above, f"link{joint}", origin))
        for number, axis in enumerate(axes, 1):
            below = f"link{joint}" if number == len(axes) else f"link{joint}.{number}"
            kind = "prismatic" if axis.slides else "revolute"
            parts.append(_joint(axis.name, kind, above, below, origin, axis))
            above, origin = below, ""
    for goal, joint in enumerate(rig.joints.tolist()):
        origin = _origin(rig.offsets[goal], (0.0, 0.0, 0.0, 1.0))
        parts.append(_joint(f"at-{goal_link(goal)}", "fixed", f"link{joint}", goal_link(goal), origin))
    return "".join([*parts, "</robot>"])


def _joint(name: str, kind: str, above: str, below: str, origin: str, axis: Axis | None = None) -> str:
    moves = ""
    if axis is not None:
        lower, upper = max(axis.lower, -_UNLIMITED), min(axis.upper, _UNLIMITED)
        moves = f'<axis xyz="{_words(axis.direction)}"/><limit lower="{lower!r}" upper="{upper!r}" {_EFFORT}/>'
    ends = f'<parent link="{above}"/><child link="{below}"/>'
    return f'<link name="{below}"/><joint name="{name}" type="{kind}">{ends}{origin}{moves}</joint>'


def _origin(offset: Iterable[float], rotation: Iterable[float]) -> str:
    # URDF's roll, pitch and yaw are R = Rz(yaw) Ry(pitch) Rx(roll).
    yaw, pitch, roll = to_euler(np.asarray(rotation), "zyx").tolist()
    return f'<origin xyz="{_words(offset)}" rpy="{_words((roll, pitch, yaw))}"/>'


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
