"""What the inspector shows of one joint: its coordinates in the units that people read, with their ranges."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.app.widgets.fields import PLACE, TURN
from viewer.app.widgets.sliders import Range
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.kinds import FREEDOMS, JointKind
from viewer.skeleton.limits import LimitForm
from viewer.spatial.euler import from_euler, to_euler

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.app.widgets.fields import Format
    from viewer.session.document import Document
    from viewer.skeleton.pose import Pose
    from viewer.skeleton.skeleton import Skeleton
    from viewer.spatial.checks import Floats

AT_END = 1e-4
"""Radians or metres from an end of a range within which a coordinate stands at it."""
EULER = "xyz"
"""The order in which turns are shown as three angles."""

_CARDINAL = 0.99


class Coordinate(NamedTuple):
    """One slider.

    Attributes:
        place: as `SetCoordinate` counts it.
        name: on its label.
        value: degrees, metres of a slide.
        bounds: likewise.
        form: how it is written.
        per_unit: radians, or metres, of one of the shown units.
    """

    place: int
    name: str
    value: float
    bounds: Range
    form: Format
    per_unit: float


def coordinates(document: Document, joint: int, *, stuck: bool) -> list[Coordinate]:
    """The sliders of a joint; none of fixed and free ones, nor of balls without limits, which have no angles.

    Args:
        document: where the joint is.
        joint: its index.
        stuck: the solver says that it stands at a limit: the range of a swing is a curve that no single number shows.
    """
    skeleton = document.skeleton
    named = _names(skeleton, joint)
    if not named:
        return []
    space = joint_space(skeleton)
    values = _measured(skeleton, document.pose)[joint]
    lower, upper = space.lower[joint], space.upper[joint]
    off = not document.limits_on or skeleton.names[joint] in document.unlimited
    limits = skeleton.limits[joint]
    ends = [not off and _at_end(values[i], lower[i], upper[i]) for i, _ in named]
    if stuck and not off and not any(ends) and limits is not None and limits.form is LimitForm.SWING_TWIST:
        ends = [index != limits.twist_axis for index, _ in named]
    slide = skeleton.kinds[joint] is JointKind.SLIDE
    made = _slide if slide else _angle
    return [
        made(index, name, float(values[index]), (float(lower[index]), float(upper[index])), _State(at_end, off))
        for (index, name), at_end in zip(named, ends, strict=True)
    ]


class _State(NamedTuple):
    at_limit: bool
    off: bool


@lru_cache(maxsize=4)
def _measured(skeleton: Skeleton, pose: Pose) -> Floats:
    """(J, 3) all coordinates of a pose, which is immutable."""
    return joint_space(skeleton).measure(pose.rotations, pose.translations)


def _at_end(value: float, low: float, high: float) -> bool:
    return bool(value <= low + AT_END or value >= high - AT_END)


def _angle(index: int, name: str, value: float, ends: tuple[float, float], state: _State) -> Coordinate:
    least, most = (math.degrees(end) if math.isfinite(end) else None for end in ends)
    rest = min(max(0.0, least if least is not None else 0.0), most if most is not None else 0.0)
    bounds = Range(-180.0, 180.0, least, most, rest, *state)
    return Coordinate(index, name, math.degrees(value), bounds, TURN, math.pi / 180.0)


def _slide(index: int, name: str, value: float, ends: tuple[float, float], state: _State) -> Coordinate:
    least, most = (end if math.isfinite(end) else None for end in ends)
    known = [end for end in (least, most, value, 0.0) if end is not None]
    low, high = min(known), max(known)
    margin = 0.15 * (high - low) or 0.5
    rest = min(max(0.0, least if least is not None else 0.0), most if most is not None else 0.0)
    bounds = Range(low - margin, high + margin, least, most, rest, *state)
    return Coordinate(index, name, value, bounds, PLACE, 1.0)


def _names(skeleton: Skeleton, joint: int) -> list[tuple[int, str]]:
    """Index and label of each coordinate, in the order of the sliders."""
    kind, limits = skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.HINGE:
        return [(0, f"Angle {_letter(skeleton.axes[joint, 0])}".rstrip())]
    if kind is JointKind.UNIVERSAL:
        letters = [_letter(axis) for axis in skeleton.axes[joint]]
        return [(i, f"Angle {letter or i + 1}") for i, letter in enumerate(letters)]
    if kind is JointKind.SLIDE:
        return [(0, "Slide")]
    if kind is not JointKind.BALL or limits is None:
        return []
    if limits.form is LimitForm.EULER:
        return [(i, f"Angle {axis}") for i, axis in enumerate("XYZ")]
    swings = [(i, f"Swing {axis}") for i, axis in enumerate("XYZ") if i != limits.twist_axis]
    return [*swings, (limits.twist_axis, f"Twist {'XYZ'[limits.twist_axis]}")]


def _letter(axis: Floats) -> str:
    """The letter of the axis that a direction lies on, or nothing."""
    along = int(np.argmax(np.abs(axis)))
    return "XYZ"[along] if abs(axis[along]) > _CARDINAL else ""


def kind_words(skeleton: Skeleton, joint: int) -> str:
    """``ball joint · 3 DOF``."""
    kind = skeleton.kinds[joint]
    word = "root" if kind is JointKind.FREE else f"{kind} joint"
    return f"{word} · {FREEDOMS[kind]} DOF"


def limit_note(document: Document, joint: int) -> str:
    """What sort of ranges a joint has."""
    limits, kind = document.skeleton.limits[joint], document.skeleton.kinds[joint]
    if limits is None:
        return "no range"
    if document.character.limits_from == "clip":
        return "from the clip"
    if kind is not JointKind.BALL:
        return "range"
    return "angle ranges" if limits.form is LimitForm.EULER else "swing cone, twist range"


class Angles:
    """Three angles of a turn that stay the ones last typed or scrubbed: the same turn has several readings."""

    def __init__(self) -> None:
        """None yet."""
        self._key: object = None
        self._turn: tuple[float, ...] = ()
        self._angles: tuple[float, ...] = ()

    def of(self, key: object, turn: Sequence[float]) -> tuple[float, ...]:
        """Degrees about x, y, z of a rotation (x, y, z, w) of what ``key`` names."""
        now = tuple(float(part) for part in turn)
        same = key == self._key and abs(abs(sum(a * b for a, b in zip(now, self._turn, strict=True))) - 1.0) < 1e-9
        if not same:
            self._key, self._turn = key, now
            self._angles = tuple(np.degrees(to_euler(np.array(now), EULER)).tolist())
        return self._angles

    def turned(self, index: int, degrees: float) -> Floats:
        """The rotation (4,) with one of the angles exchanged, which are remembered."""
        angles = list(self._angles)
        angles[index] = degrees
        turn = from_euler(np.radians(angles), EULER)
        self._angles, self._turn = tuple(angles), tuple(turn.tolist())
        return turn
