"""Short names of effectors, and where a joint stands at its limits, in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import shown
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import LimitForm
from viewer.ui import numbers

if TYPE_CHECKING:
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_AT = re.compile(r" at its (?:(swing|twist) )?limit")
_SIDES = {"left": "L", "l": "L", "right": "R", "r": "R"}
_AT_LIMIT = 1e-4
"""Radians or metres from an end of a range within which a joint stands at it."""


def short_name(name: str) -> str:
    """``R hand`` for ``mixamorig:RightHand`` or ``hand.R``; a name without a side as it is."""
    words = _WORD.findall(name.rpartition(":")[2])
    side = next((word for word in words if word.casefold() in _SIDES), None)
    if side is None or len(words) < 2:
        return shown(name.rpartition(":")[2] or name)
    rest = " ".join(word.casefold() for word in words if word is not side)
    return shown(f"{_SIDES[side.casefold()]} {rest}")


def limit_words(skeleton: Skeleton, pose: Pose, joint: int) -> str:
    """At which of its limits a joint stands: ``RightForeArm at its limit 0°``; only its name where at none."""
    name, limits = shown(skeleton.names[joint]), skeleton.limits[joint]
    if limits is None:
        return name
    space = joint_space(skeleton)
    values = space.measure(pose.rotations, pose.translations)[joint]
    gaps = np.minimum(np.abs(values - space.lower[joint]), np.abs(values - space.upper[joint]))
    place = int(np.argmin(gaps))
    if not gaps[place] < _AT_LIMIT:
        # The range of a swing is a curve of both components together: it can be met between their ends.
        return f"{name} at its swing limit" if limits.form is LimitForm.SWING_TWIST else name
    value = float(values[place])
    if skeleton.kinds[joint] is JointKind.SLIDE:
        return f"{name} at its limit {numbers.short(value)}"
    angle = f"{numbers.fixed(np.degrees(value), 0)}°"
    if limits.form is LimitForm.SWING_TWIST:
        return f"{name} at its {'twist' if place == limits.twist_axis else 'swing'} limit {angle}"
    axis = f" {'xyz'[place]}" if limits.form is LimitForm.EULER else ""
    return f"{name} at its limit{axis} {angle}"


def limit_name(skeleton: Skeleton, pose: Pose, joint: int) -> str:
    """The same where others have said that it is a limit: ``RightForeArm 0°``, ``LeftUpLeg swing``."""
    return _AT.sub(lambda found: f" {found[1]}" if found[1] else "", limit_words(skeleton, pose, joint))


def chain_of(skeleton: Skeleton, joint: int) -> list[int]:
    """A joint and its ancestors, nearest first."""
    chain = []
    while joint >= 0:
        chain.append(joint)
        joint = int(skeleton.parents[joint])
    return chain
