"""The joints of a skeleton file, read and written: kinds, limits, mobility and so on, their order, their effectors.

A Skeleton is in metres and radians, Y up. What reads a key of a joint (`_mimic_of`) and what writes it (`_mimic_words`)
are each other's inverse: with `viewer.formats.json_structs`, which states the keys, they are what a new key needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

import numpy as np

from viewer.errors import FormatError, InputError, at_path, quote
from viewer.formats.json_reading import degrees_of, numbers, of_joint, rows, unit_rotations
from viewer.formats.json_structs import Joint, Limits, SkeletonFile
from viewer.formats.units import lengths_to_internal, lengths_to_source, local_metres, root_rotations_to_internal
from viewer.skeleton import (
    Bodies,
    Capsule,
    Effector,
    EffectorGoal,
    Inertia,
    JointKind,
    JointLimits,
    LimitForm,
    LoopClosure,
    Motor,
    Skeleton,
    Source,
    effector_of,
)
from viewer.skeleton.attached import MOST_CAPSULES
from viewer.skeleton.limits import AXIS_NAMES, UNLIMITED, Mimic, are_diagonal, checked_matrix, default_twist_axis
from viewer.skeleton.names import find_effectors
from viewer.skeleton.skeleton import check_perpendicular
from viewer.skeleton.tree import CycleError, parents_first
from viewer.spatial.checks import Floats, Ints, Vector, unit_axis
from viewer.spatial.quaternion import axes_of as euler_axes

T = TypeVar("T")

_PATH = ".spread"

Pair: TypeAlias = tuple[float, float]

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
"""Keys that only some kinds of joints use; on other kinds they give a warning."""

_TWO_TURNS, _HALF_TURN, _QUARTER_TURN = 720.0, 180.0, 90.0
_TURN = 2.0 * math.pi

_LONGEST_CYCLE = 8
"""Joints of a cycle that a message names."""


def _spread_of(joint: Joint, kind: JointKind, source: Source) -> Floats | None:
    """The spread that the file states for a joint, radians (metres for a slide), or None.

    (3,), or (3, 3) for a matrix that is not diagonal.
    """
    if joint.spread is None:
        return None
    triple, matrix = _sorted(joint.spread)
    if triple is not None:
        return _internal(triple, kind, source)
    with at_path(_PATH):
        found = _internal(checked_matrix(np.array(matrix, dtype=np.float64)), kind, source)
    return np.diagonal(found).copy() if kind.turns_freely and bool(are_diagonal(found)) else found


def _sorted(stated: Sequence[float | Vector]) -> tuple[list[float] | None, list[Vector]]:
    """Three numbers, or three rows."""
    rows = [row for row in stated if isinstance(row, tuple)]
    triple = [number for number in stated if not isinstance(number, tuple)]
    if len(stated) != 3 or (rows and triple):
        what = "some of each" if rows and triple else f"{len(stated)} {'rows' if rows else 'numbers'}"
        raise FormatError(f"expected three numbers, or three rows of three, found {what}", path=_PATH)
    for place, number in enumerate(triple):
        if number < 0.0:
            raise FormatError(f"expected 0 or more, found {number:g}", path=f"{_PATH}[{place}]")
    return triple or None, rows


def _internal(values: Sequence[float] | Floats, kind: JointKind, source: Source) -> Floats:
    found = np.array(values, dtype=np.float64)
    if kind is JointKind.SLIDE:
        return lengths_to_internal(found, source)
    # One by one with math.radians: numbers are written such that exactly this conversion gives them back.
    return np.array([math.radians(value) for value in found.ravel().tolist()]).reshape(found.shape)


def _kind_of(joint: Joint) -> JointKind:
    """The joint's kind: by default free for roots, which no other joint may be, and ball for others."""
    if joint.kind is None:
        return JointKind.FREE if joint.parent is None else JointKind.BALL
    if joint.kind == "free" and joint.parent is not None:
        raise FormatError("expected free on roots only, found it on a joint with a parent", path=".kind")
    return JointKind(joint.kind)


def _axes_of(joint: Joint, kind: JointKind) -> tuple[Vector, Vector]:
    """The two unit axes of a joint, zero if its kind has none."""
    none = (0.0, 0.0, 0.0)
    if kind.dofs == 1:
        if joint.axis is None:
            raise FormatError(f'expected "axis", the direction of a {kind}, found none')
        with at_path(".axis"):
            return unit_axis(joint.axis), none
    if kind is not JointKind.UNIVERSAL:
        return none, none
    if joint.axes is None:
        raise FormatError('expected "axes", the two directions of a universal, found none')
    made = []
    for i, axis in enumerate(joint.axes):
        with at_path(f".axes[{i}]"):
            made.append(unit_axis(axis))
    with at_path(".axes"):
        check_perpendicular(*made)
    return made[0], made[1]


def _limits_of(joint: Joint, kind: JointKind, twist_axis: int, source: Source) -> JointLimits | None:
    """The limits of a joint, or None; ``twist_axis`` (0, 1, 2) is that of the twist if the file states none."""
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
        pair = np.array(_ordered(limits.distance, ".limits.distance"))
        low, high = lengths_to_internal(pair, source).tolist()
        if math.isinf(low) or math.isinf(high):
            raise FormatError("expected lengths within float range in metres", path=".limits.distance")
        return JointLimits.coordinates((low, high))
    if limits.angle is not None:
        return JointLimits.coordinates(_angles(limits.angle, ".limits.angle"))
    if limits.angles is not None:
        pairs = (_angles(pair, f".limits.angles[{i}]") for i, pair in enumerate(limits.angles))
        return JointLimits.coordinates(*pairs)
    return None


def _is_rest_outside(limits: JointLimits, kind: JointKind) -> bool:
    """Whether the rest pose violates the limits; its coordinates are all 0, for hinges also any full turn."""
    low, high = limits.lower, limits.upper
    if limits.form is LimitForm.COORDINATES and kind is not JointKind.SLIDE:
        return bool((np.ceil(low / _TURN) * _TURN > high).any())
    return bool(((low > 0.0) | (high < 0.0)).any())


def _unit_of(kind: JointKind, source: Source) -> float:
    """Metres or radians of a file's 1 in a coordinate of a joint."""
    return source.metres_per_unit if kind is JointKind.SLIDE else math.radians(1.0)


def _inertia_of(joint: Joint, source: Source) -> Inertia | None:
    given = joint.inertia
    if given is None:
        return None
    with at_path(".inertia", but="inertia: "):
        x, y, z = lengths_to_internal(np.array(given.center), source).tolist()
        return Inertia(given.mass, (x, y, z), given.moments)


def _motor_of(joint: Joint, kind: JointKind, source: Source) -> Motor | None:
    given = joint.motor
    if given is None:
        return None
    return Motor(given.effort, None if given.velocity is None else given.velocity * _unit_of(kind, source))


def _mimic_of(joint: Joint, kind: JointKind, kind_of: Mapping[str, JointKind], source: Source) -> Mimic | None:
    """The joint that a joint follows, or None; ``kind_of``: by the joints' names."""
    given = joint.mimic
    if given is None:
        return None
    own, leader = _unit_of(kind, source), _unit_of(of_joint(given.joint, kind_of, ".mimic.joint"), source)
    return Mimic(joint.name, given.joint, given.ratio * own / leader, given.offset * own)


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
                raise FormatError(
                    f"expected a range within +-{most:g} degrees{why}, found {_pair_text(pair)}", path=place
                )
        ranges.append(UNLIMITED if pair is None else _radians(pair))
    if order:
        return JointLimits.euler(order, *ranges)
    twist = AXIS_NAMES.index(joint.twist_axis) if joint.twist_axis else twist_axis
    try:
        return JointLimits.swing_twist(twist, *ranges)
    except InputError as error:  # ranges that leave no swing
        raise FormatError(str(error).partition(": ")[2], path=".limits") from None


def _radians(pair: Pair) -> Pair:
    return math.radians(pair[0]), math.radians(pair[1])


def _angles(pair: Pair, place: str) -> Pair:
    low, high = _ordered(pair, place)
    if max(abs(low), abs(high)) > _TWO_TURNS:
        raise FormatError(f"expected a range within +-{_TWO_TURNS:g} degrees, found {_pair_text(pair)}", path=place)
    return _radians(pair)


def _ordered(pair: Pair, place: str) -> Pair:
    if pair[0] > pair[1]:
        raise FormatError(f"expected the lower end first, found {_pair_text(pair)}", path=place)
    return pair


def _pair_text(pair: Pair) -> str:
    return f"{pair[0]:g}, {pair[1]:g}"


# --- the same, written


def joint_words(skeleton: Skeleton, joint: int, source: Source) -> dict[str, object]:
    """What a file says of one joint besides its place: kind, axis or axes, limits and so on, by key.

    A slide with only one limit is refused: a file cannot express it.
    """
    kind, limits = skeleton.kinds[joint], skeleton.limits[joint]
    words: dict[str, object] = {}
    if kind is not (JointKind.FREE if skeleton.parents[joint] < 0 else JointKind.BALL):
        words["kind"] = kind.value
    if kind.dofs == 1:
        words["axis"] = numbers(skeleton.axes[joint, 0])
    elif kind is JointKind.UNIVERSAL:
        words["axes"] = [numbers(axis) for axis in skeleton.axes[joint]]
    if limits is not None and kind in _LIMIT_KEYS:
        if limits.form is LimitForm.SWING_TWIST:
            words["twist_axis"] = AXIS_NAMES[limits.twist_axis]
        words["limits"] = _limit_words(limits, kind, source)
    spread = _spread_words(skeleton, joint, source)
    if spread is not None:
        words["spread"] = spread
    inertia = skeleton.inertias[joint] if skeleton.inertias else None
    if inertia is not None:
        words["inertia"] = _inertia_words(inertia, source)
    motor = skeleton.motors[joint] if skeleton.motors else None
    if motor is not None:
        words["motor"] = _motor_words(motor, _unit_of(kind, source))
    mimic = next((one for one in skeleton.mimics if one.joint == skeleton.names[joint]), None)
    if mimic is not None:
        words["mimic"] = _mimic_words(skeleton, mimic, source)
    return words


def _limit_words(limits: JointLimits, kind: JointKind, source: Source) -> dict[str, object]:
    pairs = list(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))
    if kind is JointKind.SLIDE:
        if not all(map(math.isfinite, pairs[0])):
            raise InputError(f"limits of a slide: expected two finite ends, found {_pair_text(pairs[0])}")
        return {"distance": numbers(lengths_to_source(np.array(pairs[0]), source))}
    # For hinges and universals two full turns mean no limit; for balls unlimited axes are left out.
    degrees = [[degrees_of(low, -_TWO_TURNS / 2.0), degrees_of(high, _TWO_TURNS / 2.0)] for low, high in pairs]
    if kind is JointKind.HINGE:
        return {"angle": degrees[0]}
    if kind is JointKind.UNIVERSAL:
        return {"angles": degrees}
    words: dict[str, object] = {"order": limits.order} if limits.form is LimitForm.EULER else {}
    return words | {AXIS_NAMES[i]: degrees[i] for i, pair in enumerate(pairs) if pair != UNLIMITED}


def _spread_words(skeleton: Skeleton, joint: int, source: Source) -> list[object] | None:
    """The value of ``spread`` in a file; None if the skeleton states none for the joint."""
    slide = skeleton.kinds[joint] is JointKind.SLIDE
    if skeleton.mobility_matrices is not None and skeleton.has_mobility_matrix[joint]:
        matrix = skeleton.mobility_matrices[joint]
        if skeleton.kinds[joint].turns_freely and bool(are_diagonal(matrix)):
            return _words(np.diagonal(matrix), source, slide=slide)
        return [_words(row, source, slide=slide) for row in matrix]
    if skeleton.mobility is None or np.isnan(skeleton.mobility[joint]).any():
        return None
    return _words(skeleton.mobility[joint], source, slide=slide)


def _words(values: Floats, source: Source, *, slide: bool) -> list[object]:
    return [*numbers(lengths_to_source(values, source))] if slide else [*map(degrees_of, values.tolist())]


def _inertia_words(inertia: Inertia, source: Source) -> dict[str, object]:
    """The key ``inertia`` of a joint, with its value in a file."""
    words: dict[str, object] = {"mass": numbers(np.array([inertia.mass]))[0]}
    if any(inertia.center):
        words["center"] = numbers(lengths_to_source(np.array(inertia.center), source))
    return words | {"moments": numbers(np.array(inertia.moments))} if any(inertia.moments) else words


def _motor_words(motor: Motor, unit: float) -> dict[str, object]:
    """The key ``motor`` of a joint, with its value in a file; ``unit`` as of `_unit_of`."""
    velocity = None if motor.velocity is None else motor.velocity / unit
    words = {"effort": motor.effort, "velocity": velocity}
    return {key: numbers(np.array([value]))[0] for key, value in words.items() if value is not None}


def _mimic_words(skeleton: Skeleton, mimic: Mimic, source: Source) -> dict[str, object]:
    """The key ``mimic`` of a joint, with its value in a file."""
    own, leader = (_unit_of(skeleton.kinds[skeleton.index(name)], source) for name in (mimic.joint, mimic.leader))
    ratio, offset = numbers(np.array((mimic.ratio * leader / own, mimic.offset / own)))
    words: dict[str, object] = {"joint": mimic.leader, "ratio": ratio}
    return words | {"offset": offset} if mimic.offset else words


# --- all joints of a file


def _path_of(joints: list[Joint], index: int) -> str:
    """The path of a joint in messages: ``joints[1] "b"``."""
    return f"joints[{index}] {quote(joints[index].name)}"


def _numbered(names: Iterable[str], kind: str) -> dict[str, int]:
    """Names with their indices; ``kind`` is the key of the list in the file."""
    places: dict[str, int] = {}
    for index, name in enumerate(names):
        if places.setdefault(name, index) != index:
            problem = f"expected a name of its own, found that of {kind}[{places[name]}]"
            raise FormatError(problem, path=f"{kind}[{index}] {quote(name)}.name")
    return places


def _parents_of(joints: list[Joint], places: dict[str, int]) -> list[int]:
    """The index of each joint's parent, -1 for roots."""
    return [
        -1 if joint.parent is None else of_joint(joint.parent, places, f"{_path_of(joints, index)}.parent")
        for index, joint in enumerate(joints)
    ]


def _cycle(joints: list[Joint], parents: list[int], joint: int) -> FormatError:
    """The error for the cycle that contains ``joint``; it lists the cycle from its first joint in the file."""
    cycle = [joint]
    while parents[cycle[-1]] != joint:
        cycle.append(parents[cycle[-1]])
    start = cycle.index(min(cycle))
    cycle = cycle[start:] + cycle[: start + 1]
    names = [quote(joints[one].name) for one in cycle[:_LONGEST_CYCLE]]
    names += ["…"] if len(cycle) > _LONGEST_CYCLE else []
    problem = f"expected parents up to a root, found the cycle {' -> '.join(names)}"
    return FormatError(problem, path=f"{_path_of(joints, cycle[0])}.parent")


class JointList:
    """The joints of one file, parents first.

    ``numbers`` has per joint of the skeleton its index in the file, ``index`` (J,) the reverse; ``parents`` (J,) are in
    the skeleton's order. ``findings`` are texts of warnings, with the paths that they concern.
    """

    def __init__(self, joints: list[Joint]) -> None:
        parents = _parents_of(joints, _numbered((joint.name for joint in joints), "joints"))
        try:
            self.numbers = parents_first(parents)
        except CycleError as error:
            raise _cycle(joints, parents, error.joint) from None
        self.joints = [joints[number] for number in self.numbers]
        self.index = np.empty(len(joints), dtype=np.intp)
        self.index[self.numbers] = np.arange(len(joints))
        above = np.array([parents[number] for number in self.numbers], dtype=np.intp)
        self.parents = np.where(above < 0, -1, self.index[above])
        self.findings: dict[str, list[str]] = {}
        self._file_joints = joints

    def path(self, joint: int) -> str:
        """The path in the file of a joint of the skeleton."""
        return _path_of(self._file_joints, self.numbers[joint])

    def skeleton(self, name: str, source: Source) -> Skeleton:
        """The skeleton, without effectors and poses."""
        roots = np.flatnonzero(self.parents < 0)
        offsets = rows((joint.offset or (0.0, 0.0, 0.0) for joint in self.joints), 3)
        rest = unit_rotations(rows((joint.rotation for joint in self.joints), 4), lambda i: f"{self.path(i)}.rotation")
        rest[roots] = root_rotations_to_internal(rest[roots], source)
        kinds, axes, limits = self._kinds_axes_limits(source)
        tip_parents, tip_offsets = self._tips(source)
        spreads, matrices = self._spreads(kinds, source)
        return Skeleton(
            name=name,
            names=tuple(joint.name for joint in self.joints),
            parents=self.parents,
            offsets=local_metres(offsets, source, lambda i: f"{self.path(i)}.offset", roots),
            rest_rotations=rest,
            kinds=kinds,
            axes=axes,
            limits=limits,
            stiffness=np.array([joint.stiffness for joint in self.joints]),
            tip_parents=tip_parents,
            tip_offsets=tip_offsets,
            mobility=spreads,
            mobility_matrices=matrices,
            mimics=self._mimics(kinds, source),
            inertias=self._each(kinds, lambda joint, _: _inertia_of(joint, source)),
            motors=self._each(kinds, lambda joint, kind: _motor_of(joint, kind, source)),
        )

    def _each(self, kinds: tuple[JointKind, ...], read: Callable[[Joint, JointKind], T]) -> tuple[T, ...]:
        """What is read of each joint of its kind."""
        found = []
        for index, (joint, kind) in enumerate(zip(self.joints, kinds, strict=True)):
            with self._at(index):
                found.append(read(joint, kind))
        return tuple(found)

    def _mimics(self, kinds: tuple[JointKind, ...], source: Source) -> tuple[Mimic, ...]:
        kind_of = {joint.name: kind for joint, kind in zip(self.joints, kinds, strict=True)}
        found = self._each(kinds, lambda joint, kind: _mimic_of(joint, kind, kind_of, source))
        return tuple(mimic for mimic in found if mimic is not None)

    def _spreads(self, kinds: tuple[JointKind, ...], source: Source) -> tuple[Floats | None, Floats | None]:
        """Spreads (J, 3) and (J, 3, 3), NaN for joints without one; None if no joint has one."""
        tables = [np.full((len(kinds), *(3,) * rank), np.nan) for rank in (1, 2)]
        for index, spread in enumerate(self._each(kinds, lambda joint, kind: _spread_of(joint, kind, source))):
            if spread is not None:
                tables[spread.ndim - 1][index] = spread
        triples, matrices = (None if np.isnan(table).all() else table for table in tables)
        return triples, matrices

    @contextmanager
    def _at(self, joint: int) -> Iterator[None]:
        """Put the joint's path in front of an error's own."""
        try:
            yield
        except FormatError as error:
            error.path = self.path(joint) + (error.path or "")
            raise

    def _kinds_axes_limits(
        self, source: Source
    ) -> tuple[tuple[JointKind, ...], Floats, tuple[JointLimits | None, ...]]:
        """Kinds, axes (J, 2, 3) and limits."""
        kinds, axes, limits = [], [], []
        directions = self._directions()
        for index, joint in enumerate(self.joints):
            with self._at(index):
                kind = _kind_of(joint)
                axes.append(_axes_of(joint, kind))
                twist = default_twist_axis(directions.get(index, (0.0, 0.0, 0.0)))
                limits.append(_limits_of(joint, kind, twist, source))
            kinds.append(kind)
            self._add_findings(index, joint, kind, limits[-1])
        return tuple(kinds), np.array(axes), tuple(limits)

    def _add_findings(self, index: int, joint: Joint, kind: JointKind, limits: JointLimits | None) -> None:
        if joint.offset is None and joint.parent is not None:
            self._find('no "offset", taken as 0, 0, 0', index)
        for key in [key for key, kinds in _JOINT_KEYS.items() if getattr(joint, key) is not None and kind not in kinds]:
            self._find(f'"{key}" means nothing for a joint that is {kind}, ignored', index)
        if limits is not None and _is_rest_outside(limits, kind):
            self._find("the rest pose is outside the limits; IK starts from the nearest pose inside", index)

    def _find(self, finding: str, joint: int) -> None:
        self.findings.setdefault(finding, []).append(self.path(joint))

    def _directions(self) -> dict[int, Vector]:
        """Per joint the offset of its first child in the file that is not at the same place, else of such a tip."""
        directions: dict[int, Vector] = {}
        for number, joint in enumerate(self._file_joints):
            if joint.parent is not None and joint.offset is not None and any(joint.offset):
                directions.setdefault(int(self.parents[self.index[number]]), joint.offset)
        for index, joint in enumerate(self.joints):
            for tip in filter(any, joint.tips):
                directions.setdefault(index, tip)
        return directions

    def _tips(self, source: Source) -> tuple[Ints, Floats]:
        """Parents (T,) and offsets (T, 3) of the end sites."""
        tips = [(index, k, tip) for index, joint in enumerate(self.joints) for k, tip in enumerate(joint.tips)]
        offsets = local_metres(
            rows((tip for *_, tip in tips), 3), source, lambda i: f"{self.path(tips[i][0])}.tips[{tips[i][1]}]"
        )
        return np.array([index for index, *_ in tips], dtype=np.intp), offsets


def effectors_of(data: SkeletonFile, skeleton: Skeleton, source: Source) -> tuple[Effector, ...]:
    """The effectors of the file; if it states none, those found by the joints' names."""
    if data.effectors is None:
        return find_effectors(skeleton.names, skeleton.parents, skeleton.tip_parents, skeleton.tip_offsets)
    _numbered((entry.name for entry in data.effectors), "effectors")
    joints = {name: joint for joint, name in enumerate(skeleton.names)}
    result = []
    offsets = local_metres(
        rows((entry.offset for entry in data.effectors), 3), source, lambda i: f"effectors[{i}].offset"
    )
    for index, entry in enumerate(data.effectors):
        joint = of_joint(entry.joint, joints, f"effectors[{index}] {quote(entry.name)}.joint")
        x, y, z = offsets[index].tolist()
        result.append(Effector(entry.name, joint, (x, y, z), EffectorGoal(entry.goal)))
    return tuple(result)


def loops_of(data: SkeletonFile, skeleton: Skeleton) -> tuple[LoopClosure, ...]:
    """The loops of the file."""
    for index, entry in enumerate(data.loops):
        for part, name in (("a", entry.a), ("b", entry.b)):
            with at_path(f"loops[{index}].{part}"):
                effector_of(skeleton, name)
    return tuple(LoopClosure(entry.a, entry.b, entry.kind == "rigid") for entry in data.loops)


def bodies_of(data: SkeletonFile, skeleton: Skeleton, source: Source) -> Bodies | None:
    """The volumes that the file states; None where it says nothing of them."""
    if data.bodies is None:
        return None
    if len(data.bodies) > MOST_CAPSULES:
        raise FormatError(f"expected at most {MOST_CAPSULES:,} bodies, found {len(data.bodies):,}", path="bodies")
    joints = {name: joint for joint, name in enumerate(skeleton.names)}
    ends = [entry.capsule[:2] for entry in data.bodies]
    flat = rows((end for pair in ends for end in pair), 3)
    places = local_metres(flat, source, lambda i: f"bodies[{i // 2}].capsule[{i % 2}]").reshape(-1, 2, 3)
    radii = lengths_to_internal(np.array([entry.capsule[2] for entry in data.bodies]), source)
    result = []
    for index, entry in enumerate(data.bodies):
        joint = of_joint(entry.joint, joints, f"bodies[{index}].joint")
        a, b = map(tuple, places[index].tolist())
        with at_path(f"bodies[{index}]"):
            result.append(Capsule(joint, a, b, float(radii[index]), entry.mass))
    return Bodies(tuple(result))
