"""The text of a BVH file: the hierarchy of a sample in centimetres, and a motion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from writing import numbers

from viewer.spatial.quaternion import to_euler

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from model import Joint, Vector

    from viewer.spatial.checks import Floats

CENTIMETRES = 100.0
LENGTH_DIGITS, ANGLE_DIGITS = 4, 4
ROTATIONS = "Zrotation Xrotation Yrotation"


def bvh_text(joints: Sequence[Joint], root: Floats, rotations: Mapping[str, Floats], frame_time: str) -> str:
    """A BVH file with Z, X, Y rotations for every joint, and positions for the root.

    Args:
        joints: of the skeleton, rest rotations none. A tip is written as an End Site where no joint follows:
            that is as much as all readers take.
        root: (F, 3) metres.
        rotations: (F, 4) local, by name; joints that are not named do not turn.
        frame_time: seconds, as it shall stand in the file.
    """
    lines = ["HIERARCHY"]
    order: list[str] = []
    _write(lines, order, joints, joints[0], 0)
    still = np.broadcast_to(np.array([0.0, 0.0, 0.0, 1.0]), (len(root), 4))
    columns = [np.degrees(to_euler(rotations.get(name, still), "zxy")) for name in order]
    lines += ["MOTION", f"Frames: {len(root)}", f"Frame Time: {frame_time}"]
    for frame, place in enumerate(root):
        row = numbers(CENTIMETRES * place, LENGTH_DIGITS)
        row += numbers([angle for column in columns for angle in column[frame]], ANGLE_DIGITS)
        lines.append(" ".join(str(value) for value in row))
    return "\n".join([*lines, ""])


def _write(lines: list[str], order: list[str], joints: Sequence[Joint], joint: Joint, depth: int) -> None:
    """The joint and all below it; ``order`` gets the names in the order of the channels."""
    inside = "  " * (depth + 1)
    order.append(joint.name)
    lines += ["  " * depth + ("ROOT " if depth == 0 else "JOINT ") + joint.name, "  " * depth + "{"]
    lines.append(inside + _offset(joint.offset))
    positions = "6 Xposition Yposition Zposition" if depth == 0 else "3"
    lines.append(f"{inside}CHANNELS {positions} {ROTATIONS}")
    children = [child for child in joints if child.parent == joint.name]
    for child in children:
        _write(lines, order, joints, child, depth + 1)
    for tip in () if children else joint.tips:
        lines += [inside + "End Site", inside + "{", inside + "  " + _offset(tip), inside + "}"]
    lines.append("  " * depth + "}")


def _offset(offset: Vector) -> str:
    metres = numbers(offset, LENGTH_DIGITS)
    return "OFFSET " + " ".join(str(value) for value in numbers(CENTIMETRES * np.array(metres, dtype=float), 2))
