"""The kind, axes and limits of one joint: from a skeleton file's words to our types, and back.

Paths in errors are relative to the joint. Angles are degrees in the file; what a person types comes back as typed,
because degrees are written as the shortest number that gives the same radians.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ParamSpec, TypeAlias, TypeVar

import numpy as np

from viewer.errors import FormatError, InputError
from viewer.formats.frame import lengths_to_internal, lengths_to_source
from viewer.formats.json_numbers import degrees_of, numbers
from viewer.formats.json_spread import spread_words
from viewer.skeleton.kinds import JointKind
from viewer.skeleton.limits import AXIS_NAMES, UNLIMITED, JointLimits, LimitForm
from viewer.skeleton.structure import check_perpendicular, unit_axis
from viewer.spatial.euler import axes_of as euler_axes

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.formats.json_structs import Joint, Limits
    from viewer.skeleton.character import Source
    from viewer.skeleton.skeleton import Skeleton

Pair: TypeAlias = tuple[float, float]
Triple: TypeAlias = tuple[float, float, float]
P = ParamSpec("P")
R = TypeVar("R")

_LIMIT_KEYS = {
    JointKind.BALL: ("x", "y", "z", "order"),
    JointKind.HINGE: ("angle",),
    JointKind.UNIVERSAL: ("angles",),
    JointKind.SLIDE: ("distance",),
}
_JOINT_KEYS = {
    "axis": (JointKind.HINGE, JointKind.SLIDE),
    "axes": (JointKind.UNIVERSAL,),
    "twist_axis": (JointKind.BALL,),
    "order": (JointKind.BALL,),
    "limits": tuple(_LIMIT_KEYS),
    "spread": (*_LIMIT_KEYS, JointKind.FREE),
}
"""Keys that only some kinds read; on others they are named in a warning."""

_TWO_TURNS, _HALF_TURN, _QUARTER_TURN = 720.0, 180.0, 90.0
_TURN = 2.0 * math.pi


def kind_of(joint: Joint) -> JointKind:
    """The joint's kind; only roots may be free, and are unless they say otherwise.

    Raises:
        FormatError: ``free`` on a joint with a parent.
    """
    if joint.kind is None:
        return JointKind.FREE if joint.parent is None else JointKind.BALL
    if joint.kind == "free" and joint.parent is not None:
        raise FormatError("expected free on roots only, found it on a joint with a parent", path=".kind")
    return JointKind(joint.kind)


def idle_keys(joint: Joint, kind: JointKind) -> list[str]:
    """Keys that the joint has and its kind does not read."""
    return [key for key, kinds in _JOINT_KEYS.items() if getattr(joint, key) is not None and kind not in kinds]


def axes_of(joint: Joint, kind: JointKind) -> tuple[Triple, Triple]:
    """The two unit axes of a joint, zero where its kind has none.

    Raises:
        FormatError: missing, zero, or not perpendicular.
    """
    none = (0.0, 0.0, 0.0)
    if kind in (JointKind.HINGE, JointKind.SLIDE):
        if joint.axis is None:
            raise FormatError(f'expected "axis", the direction of a {kind}, found none')
        return _at(".axis", unit_axis, joint.axis), none
    if kind is not JointKind.UNIVERSAL:
        return none, none
    if joint.axes is None:
        raise FormatError('expected "axes", the two directions of a universal, found none')
    first, second = (_at(f".axes[{i}]", unit_axis, axis) for i, axis in enumerate(joint.axes))
    _at(".axes", check_perpendicular, first, second)
    return first, second


def limits_of(joint: Joint, kind: JointKind, twist_axis: int, source: Source) -> JointLimits | None:
    """The limits of a joint, None where it has none.

    Args:
        joint: as the file has it.
        kind: its kind.
        twist_axis: axis of the twist (0, 1, 2) where the file names none.
        source: the file's units.

    Raises:
        FormatError: keys of another kind, a range that is upside down or too wide.
    """
    limits = joint.limits
    if limits is None or kind not in _LIMIT_KEYS:
        return None
    for key in limits.__struct_fields__:
        if getattr(limits, key) is not None and key not in _LIMIT_KEYS[kind]:
            known = ", ".join(_LIMIT_KEYS[kind])
            raise FormatError(f"expected {known} in the limits of a {kind}, found {key}", path=".limits")
    if kind is JointKind.BALL:
        return _ball(joint, limits, twist_axis)
    if kind is JointKind.SLIDE and limits.distance is not None:
        low, high = _scaled(_ordered(limits.distance, ".limits.distance"), source)
        if math.isinf(low) or math.isinf(high):
            raise FormatError("expected lengths within float range in metres", path=".limits.distance")
        return JointLimits.coordinates((low, high))
    if limits.angle is not None:
        return JointLimits.coordinates(_angles(limits.angle, ".limits.angle"))
    if limits.angles is not None:
        pairs = (_angles(pair, f".limits.angles[{i}]") for i, pair in enumerate(limits.angles))
        return JointLimits.coordinates(*pairs)
    return None


def rest_outside(limits: JointLimits, kind: JointKind) -> bool:
    """Whether the rest pose breaks the limits: its coordinates are all 0, or whole turns of hinges."""
    low, high = limits.lower, limits.upper
    if limits.form is LimitForm.COORDINATES and kind is not JointKind.SLIDE:
        return bool((np.ceil(low / _TURN) * _TURN > high).any())
    return bool(((low > 0.0) | (high < 0.0)).any())


def joint_words(skeleton: Skeleton, joint: int, source: Source) -> dict[str, object]:
    """The keys kind, axis or axes, twist_axis, limits and spread of one joint, as a file has them.

    Raises:
        InputError: a slide with one end open, which no file can hold.
    """
    kind, limits = skeleton.kinds[joint], skeleton.limits[joint]
    words: dict[str, object] = {}
    if kind is not (JointKind.FREE if skeleton.parents[joint] < 0 else JointKind.BALL):
        words["kind"] = kind.value
    if kind in (JointKind.HINGE, JointKind.SLIDE):
        words["axis"] = numbers(skeleton.axes[joint, 0])
    elif kind is JointKind.UNIVERSAL:
        words["axes"] = [numbers(axis) for axis in skeleton.axes[joint]]
    if limits is not None and kind in _LIMIT_KEYS:
        if limits.form is LimitForm.SWING_TWIST:
            words["twist_axis"] = AXIS_NAMES[limits.twist_axis]
        words["limits"] = _limit_words(limits, kind, source)
    spread = spread_words(skeleton, joint, source)
    if spread is not None:
        words["spread"] = spread
    return words


def _ball(joint: Joint, limits: Limits, twist_axis: int) -> JointLimits | None:
    order = limits.order or joint.order
    given = [getattr(limits, axis) for axis in AXIS_NAMES]
    if order is None and given == [None, None, None] and joint.twist_axis is None:
        return None
    middle = euler_axes(order)[1] if order else None
    ranges = []
    for axis, pair in enumerate(given):
        if pair is not None:
            place = f".limits.{AXIS_NAMES[axis]}"
            most = _QUARTER_TURN if axis == middle else _HALF_TURN
            if max(map(abs, _ordered(pair, place))) > most:
                why = f": it is the middle angle of {order}" if axis == middle else ""
                raise FormatError(f"expected a range within +-{most:g} degrees{why}, found {_text(pair)}", path=place)
        ranges.append(UNLIMITED if pair is None else _radians(pair))
    if order:
        return JointLimits.euler(order, *ranges)
    twist = AXIS_NAMES.index(joint.twist_axis) if joint.twist_axis else twist_axis
    try:
        return JointLimits.swing_twist(twist, *ranges)
    except InputError as error:  # ranges that leave no swing
        raise FormatError(str(error).partition(": ")[2], path=".limits") from None


def _limit_words(limits: JointLimits, kind: JointKind, source: Source) -> dict[str, object]:
    pairs = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
    if kind is JointKind.SLIDE:
        if not all(map(math.isfinite, pairs[0])):
            raise InputError(f"limits of a slide: expected two finite ends, found {_text(pairs[0])}")
        return {"distance": numbers(lengths_to_source(np.array(pairs[0]), source))}
    # Of hinges and universals a range of two turns is none; of balls an axis without one is left out.
    degrees = [[degrees_of(low, -_TWO_TURNS / 2.0), degrees_of(high, _TWO_TURNS / 2.0)] for low, high in pairs]
    if kind is JointKind.HINGE:
        return {"angle": degrees[0]}
    if kind is JointKind.UNIVERSAL:
        return {"angles": degrees}
    words: dict[str, object] = {"order": limits.order} if limits.form is LimitForm.EULER else {}
    return words | {AXIS_NAMES[i]: degrees[i] for i, pair in enumerate(pairs) if pair != UNLIMITED}


def _radians(pair: Pair) -> Pair:
    return math.radians(pair[0]), math.radians(pair[1])


def _angles(pair: Pair, place: str) -> Pair:
    low, high = _ordered(pair, place)
    if max(abs(low), abs(high)) > _TWO_TURNS:
        raise FormatError(f"expected a range within +-{_TWO_TURNS:g} degrees, found {_text(pair)}", path=place)
    return _radians(pair)


def _scaled(pair: Pair, source: Source) -> Pair:
    low, high = lengths_to_internal(np.array(pair), source).tolist()
    return low, high


def _ordered(pair: Pair, place: str) -> Pair:
    if pair[0] > pair[1]:
        raise FormatError(f"expected the lower end first, found {_text(pair)}", path=place)
    return pair


def _at(place: str, check: Callable[P, R], *given: P.args, **options: P.kwargs) -> R:
    """What a check of the skeleton's own gives; what it refuses is refused at that place of the file."""
    try:
        return check(*given, **options)
    except InputError as error:
        raise FormatError(str(error), path=place) from None


def _text(pair: Pair) -> str:
    return f"{pair[0]:g}, {pair[1]:g}"
