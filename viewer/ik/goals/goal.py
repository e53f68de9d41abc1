"""One goal: what is asked of an effector. A value; a solver finds the pose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.checks import check_flag
from viewer.skeleton.kinematics import World
from viewer.spatial.checks import Floats, finite_floats, unit_quaternions

Vector: TypeAlias = tuple[float, float, float]
Quaternion: TypeAlias = tuple[float, float, float, float]
Residuals: TypeAlias = Callable[[World], ArrayLike]

PIN_WEIGHT = 30.0
"""A pin weighs this many goals of weight 1, unless it says otherwise."""
LAST_LEVEL = 3
"""Goals have levels 0 to 3."""

_UNIT_ENOUGH = 1e-12
LEAST_WEIGHT = 1e-300
"""Below it, near the end of the range of floats, weights have too few digits to be compared."""


class GoalKind(StrEnum):
    """What a goal asks of its effector; `viewer.ik.goals` has a module for each.

    Attributes:
        needs: the fields that a goal of this kind must have; a pin may leave them to the pose.
    """

    needs: tuple[str, ...]

    def __new__(cls, word: str, *needs: str) -> Self:
        """Take a word and the names of fields."""
        member = str.__new__(cls, word)
        member._value_, member.needs = word, needs
        return member

    POSITION = "position", "target"
    """To be at a point."""
    ROTATION = "rotation", "target_rotation"
    """To be turned in a certain way."""
    POSE = "position+rotation", "target", "target_rotation"
    """Both."""
    DISTANCE = "distance", "target", "target_distance"
    """To be at a distance from a point."""
    AIM = "aim", "target", "axis"
    """To point an axis at a point."""
    BEND = "bend", "angle"
    """To bend a joint by an angle."""
    POLE = "pole", "target"
    """To point the middle joint of a limb towards a point."""
    FUNCTION = "function", "residuals"
    """To bring the residuals of a function of the user's to zero."""


class GoalOptions(TypedDict, total=False):
    """What every constructor of `Goal` takes besides its own arguments; see `Goal`'s attributes."""

    weight: float
    rotation_weight: float
    offset: ArrayLike
    enabled: bool
    hold: bool
    level: int
    id: str


_OPTIONS = tuple(GoalOptions.__annotations__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One goal; made by the class methods.

    Attributes:
        kind: what is asked.
        effector: an effector's, joint's or end site's name (see `viewer.skeleton.skeleton.find_place`); ""
            for functions.
        target: where to be, what to keep a distance from, to aim at or to point towards: metres, world frame. None
            for pins that hold the place where the pose has their effector, and where the kind has no point.
        target_rotation: (x, y, z, w), world_from_joint. None as for ``target``.
        target_distance: metres, of a distance goal.
        axis: unit vector in the joint's frame, of an aim.
        angle: radians, 0 (straight) to pi (folded), of a bend.
        residuals: f(world) -> (k,), of a function goal.
        weight: per metre, 1e-300 or more; of functions per unit of their residuals.
        rotation_weight: per radian, likewise.
        offset: metres in the joint's frame, added to the effector's own.
        enabled: False: it asks for nothing for now.
        pinned: it is to stay while other goals are moved.
        hold: it keeps its place only until something else is asked; unlike a pin it may give way.
        level: 0 to 3; goals of a lower number come first.
        id: what tells it apart from the other goals of a list; "": `goal_ids` makes one.
    """

    kind: GoalKind
    effector: str = ""
    target: Vector | None = None
    target_rotation: Quaternion | None = None
    target_distance: float | None = None
    axis: Vector | None = None
    angle: float | None = None
    residuals: Residuals | None = None
    weight: float = 1.0
    rotation_weight: float = 1.0
    offset: Vector = (0.0, 0.0, 0.0)
    enabled: bool = True
    pinned: bool = False
    hold: bool = False
    level: int = 1
    id: str = ""

    def __repr__(self) -> str:
        """Its kind, effector and what it asks for."""
        parts = [f"{self.kind}{' pin' if self.pinned else ''}"] + ([quote(self.effector)] if self.effector else [])
        parts += [
            f"{name} {_few(value)}"
            for name, value in (
                ("to", self.target), ("rotation", self.target_rotation), ("distance", self.target_distance),
                ("axis", self.axis), ("angle", self.angle), ("offset", self.offset if any(self.offset) else None),
            )
            if value is not None
        ]  # fmt: skip
        default = PIN_WEIGHT if self.pinned else 1.0
        parts += [] if self.weight == default else [f"weight {self.weight:g}"]
        parts += [] if self.rotation_weight == default else [f"rotation weight {self.rotation_weight:g}"]
        parts += [] if self.level == 1 else [f"level {self.level}"]
        return f"<Goal: {' '.join(parts)}{'' if self.enabled else ', off'}>"

    @classmethod
    def position(cls, effector: str, p: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Be at the point p (3,), metres, world frame."""
        return cls._made(GoalKind.POSITION, effector, options, target=p)

    @classmethod
    def rotation(cls, effector: str, q: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Be turned as q (4,) says: (x, y, z, w), world_from_joint."""
        return cls._made(GoalKind.ROTATION, effector, options, target_rotation=q)

    @classmethod
    def pose(cls, effector: str, p: ArrayLike, q: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Be at the point p (3,) and turned as q (4,) says."""
        return cls._made(GoalKind.POSE, effector, options, target=p, target_rotation=q)

    @classmethod
    def pin(
        cls,
        effector: str,
        position: bool | ArrayLike = True,
        rotation: bool | ArrayLike = True,
        **options: Unpack[GoalOptions],
    ) -> Self:
        """Stay: in place, as turned, or both. True: as the pose has it; a place or rotation: there; False: not.

        Its weights are `PIN_WEIGHT` unless ``options`` say otherwise.
        """
        held = {"target": position, "target_rotation": rotation}
        kinds = {(True, False): GoalKind.POSITION, (False, True): GoalKind.ROTATION, (True, True): GoalKind.POSE}
        kind = kinds.get((position is not False, rotation is not False))
        if kind is None:
            raise InputError(f"pin of {quote(effector)}: expected a position or rotation to hold, found neither")
        heavy: GoalOptions = {"weight": PIN_WEIGHT, "rotation_weight": PIN_WEIGHT}
        places = {name: None if isinstance(place, bool) else place for name, place in held.items()}
        return cls._made(kind, effector, heavy | options, pinned=True, **places)

    @classmethod
    def distance(cls, effector: str, d: float, from_: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Be d metres (0 or more) away from the point from_ (3,)."""
        return cls._made(GoalKind.DISTANCE, effector, options, target=from_, target_distance=d)

    @classmethod
    def aim(cls, effector: str, point: ArrayLike, axis: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Point the axis (3,), in the joint's frame, at the point (3,), in the world's."""
        return cls._made(GoalKind.AIM, effector, options, target=point, axis=axis)

    @classmethod
    def bend(cls, joint: str, angle: float, **options: Unpack[GoalOptions]) -> Self:
        """Bend a limb by an angle, in radians, at its middle joint: an elbow or a knee, 0 is straight.

        The angle is that between the bone from the joint's parent to the joint and the bone from the joint onwards.
        """
        return cls._made(GoalKind.BEND, joint, options, angle=angle)

    @classmethod
    def pole(cls, joint: str, toward: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Point a limb's middle joint, an elbow or a knee, towards the point (3,), about the line between its ends.

        Its weight is ``rotation_weight``. A straight limb, and a point on that line, leave nothing to ask.
        """
        return cls._made(GoalKind.POLE, joint, options, target=toward)

    @classmethod
    def function(cls, f: Residuals, **options: Unpack[GoalOptions]) -> Self:
        """Bring the residuals f(world) -> (k,) to zero; ``world`` has ``positions`` and ``rotations``."""
        return cls._made(GoalKind.FUNCTION, "", options, residuals=f)

    @classmethod
    def _made(cls, kind: GoalKind, effector: str, options: GoalOptions, **fields: object) -> Self:
        for name in options:
            if name not in _OPTIONS:
                raise InputError(f"{kind} goal: {unknown_name('option', name, _OPTIONS)}")
        values: dict[str, Any] = {**options, **fields}
        return cls(kind=kind, effector=effector, **values)

    def __post_init__(self) -> None:
        """Take plain tuples and floats, and check what a solver relies on.

        Raises:
            InputError: NaN or infinite numbers, a weight of 0 or below, a rotation or axis that is none, a name or
                target that is missing.
        """
        what = self._checked_name()
        for field, check in _CHECKS.items():
            value = getattr(self, field)
            if value is not None or field in _ALWAYS:
                object.__setattr__(self, field, check(value, f"{what}: {field.replace('_', ' ')}"))
        for field in ("enabled", "pinned", "hold"):
            check_flag(f"{what}: {field}", getattr(self, field))
        object.__setattr__(self, "level", _level(self.level, f"{what}: level"))
        found: object = self.id
        if not isinstance(found, str):
            raise InputError(f"{what}: id: expected a text, found {quote(found)}")
        for field in self.kind.needs:
            if getattr(self, field) is None and not self.pinned:
                raise InputError(f"{what}: expected a {field.replace('_', ' ')}, found none")

    def _checked_name(self) -> str:
        """What messages call this goal."""
        name: object = self.effector
        if self.kind is GoalKind.FUNCTION:
            found: object = self.residuals
            if not callable(found):
                raise InputError(f"function goal: expected a function of the world, found {quote(found)}")
            return "function goal"
        if not isinstance(name, str) or not name:
            raise InputError(f"{self.kind} goal: expected an effector's name, found {quote(name)}")
        return f"{self.kind} goal for {quote(name)}"


def _few(value: float | tuple[float, ...]) -> str:
    """Numbers with few digits."""
    return f"{value:.4g}" if isinstance(value, float) else f"({', '.join(f'{number:.4g}' for number in value)})"


def _vector(value: ArrayLike, what: str) -> Vector:
    x, y, z = finite_floats(value, (3,), what).tolist()
    return x, y, z


def _rotation(value: ArrayLike, what: str) -> Quaternion:
    x, y, z, w = _as_given(value, unit_quaternions(value, (4,), what))
    return x, y, z, w


def _direction(value: ArrayLike, what: str) -> Vector:
    axis = finite_floats(value, (3,), what)
    largest = np.abs(axis).max()
    if largest == 0.0:
        raise InputError(f"{what}: expected a direction, found the zero vector")
    # Dividing by the largest component first keeps the squares within float range.
    scaled = axis / largest
    x, y, z = _as_given(axis, scaled / np.linalg.norm(scaled))
    return x, y, z


def _as_given(given: ArrayLike, unit: Floats) -> list[float]:
    """The numbers of a unit vector; if it was one already its own, so that goals keep their bits through a file."""
    array = np.asarray(given, dtype=np.float64)
    numbers: list[float] = (array if np.abs(array - unit).max() <= _UNIT_ENOUGH else unit).tolist()
    return numbers


def _length(value: object, what: str) -> float:
    return _number(value, what, 0.0, "0 or more")


def _angle(value: object, what: str) -> float:
    number = _number(value, what, -math.inf, "0 to 3.14159 radians")
    if not 0.0 <= number <= math.pi:
        raise InputError(f"{what}: expected 0 (straight) to pi radians, found {number:g}")
    return number


def _level(value: object, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not 0 <= value <= LAST_LEVEL:
        raise InputError(f"{what}: expected a whole number, 0 to {LAST_LEVEL}, found {quote(value)}")
    return int(value)


def _weight(value: object, what: str) -> float:
    number = _number(value, what, math.ulp(0.0), "more than 0")
    if number < LEAST_WEIGHT:
        raise InputError(f"{what}: expected a finite number, {LEAST_WEIGHT:g} or more, found {number:g}")
    return number


def _number(value: object, what: str, least: float, expected: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating, np.integer)):
        raise InputError(f"{what}: expected a number, found {quote(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not least <= number < math.inf:
        raise InputError(f"{what}: expected a finite number, {expected}, found {number:g}")
    return number


_CHECKS: dict[str, Callable[[Any, str], object]] = {
    "target": _vector,
    "target_rotation": _rotation,
    "target_distance": _length,
    "axis": _direction,
    "angle": _angle,
    "offset": _vector,
    "weight": _weight,
    "rotation_weight": _weight,
}
_ALWAYS = ("offset", "weight", "rotation_weight")


def goal_ids(goals: Sequence[Goal]) -> tuple[str, ...]:
    """An id for each goal of a list: its own, else one made of its effector (of functions "function").

    The same list has the same ids whenever it is asked.

    Raises:
        InputError: two goals have the same id of their own.
    """
    given = [goal.id for goal in goals]
    taken = {name for name in given if name}
    if len(taken) < sum(map(bool, given)):
        twice = next(name for name in given if name and given.count(name) > 1)
        raise InputError(f"goals: expected ids that differ, found {quote(twice)} twice")
    ids = []
    for goal in goals:
        name, number = goal.id or goal.effector or goal.kind.value, 1
        base = name
        while not goal.id and name in taken:
            number += 1
            name = f"{base} {number}"
        taken.add(name)
        ids.append(name)
    return tuple(ids)


def with_ids(goals: Iterable[Goal]) -> tuple[Goal, ...]:
    """The goals of a list, each with an id; see `goal_ids`."""
    given = tuple(goals)
    pairs = zip(given, goal_ids(given), strict=True)
    return tuple(goal if goal.id else replace(goal, id=made) for goal, made in pairs)
