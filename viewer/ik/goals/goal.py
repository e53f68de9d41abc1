"""One goal of an effector, as a value; a solver finds the pose. The numbers of goals, and the checks of all."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, Self, TypeAlias, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, prefixed, quote, unknown_name
from viewer.skeleton import World
from viewer.spatial.checks import (
    UNIT_ENOUGH,
    Quaternion,
    Vector,
    as_flag,
    as_float,
    as_positive,
    plain_floats,
    put,
    triple,
    unit_axis,
    unit_quaternions,
    whole,
)

Value: TypeAlias = float | Vector
"The value of a number of a kind."
Checker: TypeAlias = Callable[[Mapping[str, Value]], str]
"""What is wrong with a goal's numbers together, where each by itself is right, in one line; "": nothing."""

LAST_LEVEL = 3
"""Goals have levels 0 to 3."""


class Unit(StrEnum):
    """The unit of a number: how files and the window write it, and what a change of units does to it."""

    ANGLE = "angle"
    """Radians; degrees in files and in the window."""
    LENGTH = "length"
    """Metres; the figure's unit in the window."""
    PLAIN = "plain"
    """No unit."""
    JOINT_DIRECTION = "joint direction"
    """A unit vector in the joint's frame, which turns with the joint."""
    WORLD_DIRECTION = "world direction"
    """A unit vector in the world, which turns where the world's axes do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Number:
    """A number that goals of some kind have; the same name is the same number in all kinds.

    Attributes:
        name: in `Goal.numbers`, and as a field of the goals of documents.
        unit: what it is measured in.
        title: its name in the window.
        hint: the tooltip there.
        least, most: bounds, both included; not of directions.
        default: for goals that do not state it; None: every goal states it.
        expected: the bounds in words, for messages.
        called: its name in messages about a `Goal`; its name if empty.
    """

    name: str
    unit: Unit
    title: str
    hint: str = ""
    least: float = -math.inf
    most: float = math.inf
    default: Value | None = None
    expected: str = ""
    called: str = ""

    @property
    def is_direction(self) -> bool:
        """Whether it is three numbers, a unit vector."""
        return self.unit in (Unit.JOINT_DIRECTION, Unit.WORLD_DIRECTION)

    @property
    def words(self) -> str:
        """Its name in messages."""
        return self.called or self.name

    def checked(self, value: object, what: str) -> Value:
        """The value as plain floats.

        Raises:
            InputError: no number, or one out of bounds; no direction.
        """
        if self.is_direction:
            vector = triple(value, what)  # type: ignore[arg-type]  # it checks
            with prefixed(what):
                return unit_axis(vector)
        number = as_float(value, what)
        if not (self.least <= number <= self.most and math.isfinite(number)):
            raise InputError(f"{what}: expected {self.bounds}, found {number:g}")
        return number

    @property
    def bounds(self) -> str:
        """Its bounds in words."""
        if self.expected:
            return self.expected
        if math.isfinite(self.least) and math.isfinite(self.most):
            return f"a finite number, {self.least:g} to {self.most:g}"
        return f"a finite number{f', {self.least:g} or more' if math.isfinite(self.least) else ''}"


def any_numbers(numbers: Mapping[str, Value]) -> str:  # noqa: ARG001 - a `Checker`
    """Numbers that need not fit together."""
    return ""


def as_rotation(value: ArrayLike, what: str) -> Quaternion:
    """A unit quaternion (x, y, z, w); an InputError names ``what``, as in all of these."""
    plain = plain_floats(value, 4)
    if plain is not None:
        x, y, z, w = plain
        if abs(x * x + y * y + z * z + w * w - 1.0) <= UNIT_ENOUGH:
            return x, y, z, w
    given, unit = np.asarray(value, dtype=np.float64), unit_quaternions(value, (4,), what)
    x, y, z, w = (given if np.abs(given - unit).max() <= UNIT_ENOUGH else unit).tolist()
    return x, y, z, w


def as_level(value: object, what: str) -> int:
    """A whole number, 0 to `LAST_LEVEL`."""
    return whole(value, what, most=LAST_LEVEL)


Residuals: TypeAlias = Callable[[World], ArrayLike]
Numbers: TypeAlias = tuple[tuple[str, Value], ...]

PIN_WEIGHT = 30.0
"""The default weight of pins."""
_USUAL = float("1")
"""This very object, and no other 1.0, stands for a weight that is not given."""


class Needs(NamedTuple):
    """The required values of a kind of goal.

    Attributes:
        effector: whether it has one.
        fields: of `Goal`: "target" and "target_rotation", which a pin may leave to the pose, or "residuals".
        numbers: of its own.
        check: what is wrong among them.
        other: what ``to`` names, "effector" or "object"; "": nothing.
        turns: whether its error has angles alone.
    """

    effector: bool
    fields: tuple[str, ...]
    numbers: tuple[Number, ...]
    check: Checker
    other: str
    turns: bool


NEEDS: dict[str, Needs] = {}
"""The needs of each kind, which `viewer.ik.goals` fills in from the modules of the kinds."""


class GoalOptions(TypedDict, total=False):
    """Options of every constructor of `Goal`; see its attributes."""

    weight: float
    rotation_weight: float
    offset: ArrayLike
    enabled: bool
    hold: bool
    level: int
    id: str


_OPTIONS = tuple(GoalOptions.__annotations__)
_POSES = "position+rotation", "position", "rotation"
_RELATIVE = "relative", "relative position", "relative rotation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One goal; made by the class methods.

    Attributes:
        kind: its word, one of `viewer.ik.goals.KINDS`.
        effector: an effector's, joint's or end site's name (see `viewer.skeleton.skeleton.effector_of`); ""
            for functions.
        to: the second effector of a relative or midpoint goal; of a grip the object of the contact.
        target: where to be, what to keep a distance from, to aim at or to point towards: metres, world frame. Of a
            relative goal where ``to`` is to be, in the frame of the effector's joint, from the effector. None for pins
            and relative goals that hold what the pose has, and where the kind has no point.
        target_rotation: (x, y, z, w), world_from_joint; of a relative goal effector_from_to. None as for ``target``.
        numbers: those of the kind's own by their names, a distance's "distance", an aim's "axis" and a bend's "angle".
        residuals: f(world) -> (k,), of a function goal.
        weight: per metre, 1e-300 or more; of functions per unit of their residuals. 1 unless given, of pins
            `PIN_WEIGHT`. Where the error has angles alone (rotations, aims, bends, poles) a new goal takes it as
            ``rotation_weight``, unless that is given, too.
        rotation_weight: per radian, 1e-300 or more; 1 or `PIN_WEIGHT` unless given.
        offset: metres in the joint's frame, added to the effector's own.
        enabled: False: it is ignored.
        pinned: it stays while other goals are moved.
        hold: it keeps its place, but gives way to other goals, unlike a pin.
        level: 0 to 3; goals of a lower number come first.
        id: distinguishes it from the other goals of a list; "": `goal_ids` makes one.
    """

    kind: str
    effector: str = ""
    to: str = ""
    target: Vector | None = None
    target_rotation: Quaternion | None = None
    numbers: Numbers = ()
    residuals: Residuals | None = None
    weight: float = _USUAL
    rotation_weight: float = _USUAL
    offset: Vector = (0.0, 0.0, 0.0)
    enabled: bool = True
    pinned: bool = False
    hold: bool = False
    level: int = 1
    id: str = ""

    def __repr__(self) -> str:
        parts = [f"{self.kind}{' pin' if self.pinned else ''}"] + ([quote(self.effector)] if self.effector else [])
        parts += [quote(self.to)] if self.to else []
        parts += [
            f"{name} {_few(value)}"
            for name, value in (
                ("to", self.target), ("rotation", self.target_rotation), *self.numbers,
                ("offset", self.offset if any(self.offset) else None),
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
        return cls._made("position", effector, options, target=p)

    @classmethod
    def rotation(cls, effector: str, q: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Have the rotation q (4,): (x, y, z, w), world_from_joint."""
        return cls._made("rotation", effector, options, target_rotation=q)

    @classmethod
    def pose(cls, effector: str, p: ArrayLike | None, q: ArrayLike | None, **options: Unpack[GoalOptions]) -> Self:
        """Be at the point p (3,) with the rotation q (4,); where one is None, it is a goal for the other alone."""
        kind, parts = _pose_parts(_POSES, p, q, f"pose goal for {quote(effector)}: expected a position or rotation")
        return cls._made(kind, effector, options, **parts)

    @classmethod
    def pin(
        cls,
        effector: str,
        position: bool | ArrayLike = True,
        rotation: bool | ArrayLike = True,
        **options: Unpack[GoalOptions],
    ) -> Self:
        """Stay: in place, as turned, or both. True: as in the pose; a place or rotation: there; False: not held.

        Its weights are `PIN_WEIGHT` unless ``options`` say otherwise.
        """
        what = f"pin of {quote(effector)}: expected a position or rotation to hold"
        kind, parts = _pose_parts(_POSES, position, rotation, what)
        return cls._made(kind, effector, options, pinned=True, **parts)

    @classmethod
    def distance(cls, effector: str, d: float, from_: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Be d metres (0 or more) away from the point from_ (3,)."""
        return cls._made("distance", effector, options, target=from_, numbers={"distance": d})

    @classmethod
    def aim(cls, effector: str, point: ArrayLike, axis: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Point the axis (3,), in the joint's frame, at the point (3,), in the world's."""
        return cls._made("aim", effector, options, target=point, numbers={"axis": axis})

    @classmethod
    def bend(cls, joint: str, angle: float, **options: Unpack[GoalOptions]) -> Self:
        """Bend a limb by an angle, in radians, at its middle joint: an elbow or a knee, 0 is straight.

        The angle is that between the bone from the joint's parent to the joint and the bone from the joint onwards.
        """
        return cls._made("bend", joint, options, numbers={"angle": angle})

    @classmethod
    def pole(cls, joint: str, toward: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Point a limb's middle joint, an elbow or a knee, towards the point (3,), about the line between its ends.

        It has no effect on a straight limb, or if the point is on that line.
        """
        return cls._made("pole", joint, options, target=toward)

    @classmethod
    def relative(
        cls,
        effector: str,
        to: str,
        position: bool | ArrayLike = True,
        rotation: bool | ArrayLike = True,
        **options: Unpack[GoalOptions],
    ) -> Self:
        """Keep another effector, ``to``, in place in this one's frame, as turned, or both: two hands on one thing.

        True: as the start pose has it. A position (3,), metres from the effector along the axes of its joint, or a
        rotation (4,), (x, y, z, w) from the frame of ``to``'s joint to the effector's: there. False: not held.
        """
        what = f"relative goal for {quote(effector)}: expected a position or rotation"
        kind, parts = _pose_parts(_RELATIVE, position, rotation, what)
        return cls._made(kind, effector, options, to=to, **parts)

    @classmethod
    def midpoint(cls, effector: str, to: str, p: ArrayLike, **options: Unpack[GoalOptions]) -> Self:
        """Have the point midway between this effector and another, ``to``, at p (3,), metres, world frame."""
        return cls._made("midpoint", effector, options, to=to, target=p)

    @classmethod
    def balance(cls, margin: float = 0.03, **options: Unpack[GoalOptions]) -> Self:
        """Keep the centre of mass above what the figure stands on, ``margin`` metres inside the support polygon.

        That is the hull of the feet, knees and hands that are pinned or touch the floor where the solve begins. Where
        there are none the goal has no effect: its error is NaN, and `Solution.unserved` says so.
        """
        return cls._made("balance", "", options, numbers={"margin": margin})

    @classmethod
    def grip(cls, hand: str, object: str, **options: Unpack[GoalOptions]) -> Self:  # noqa: A002 - the key of files
        """Close the fingers of a hand on an object of the solver's contact, which stops them at its surface.

        ``hand`` is an effector or a joint with two or more branches: its fingers. The grip is met when each of them has
        a bone within 2 mm of the object, or its joints are at a limit. Its error is the distance, in metres, of the
        farthest finger that is neither. Goals of its level, such as one for the hand's place, come before it: they
        are met first, with restarts, and then the fingers close.
        """
        return cls._made("grip", hand, options, to=object)

    @classmethod
    def function(cls, f: Residuals, **options: Unpack[GoalOptions]) -> Self:
        """Bring the residuals f(world) -> (k,) to zero; ``world`` has ``positions`` and ``rotations``."""
        return cls._made("function", "", options, residuals=f)

    @classmethod
    def _made(cls, kind: str, effector: str, options: GoalOptions, **fields: object) -> Self:
        for name in options:
            if name not in _OPTIONS:
                raise InputError(f"{kind} goal: {unknown_name('option', name, _OPTIONS)}")
        values: dict[str, Any] = {**options, **fields}
        return cls(kind=kind, effector=effector, **values)

    def __post_init__(self) -> None:
        """Convert to plain tuples and floats, and check what a solver relies on.

        Raises:
            InputError: NaN or infinite numbers, a weight of 0 or below, an invalid rotation or axis, a name or
                target that is missing.
        """
        if str(self.kind) not in NEEDS:
            raise InputError(unknown_name("kind of goal", str(self.kind), NEEDS))
        what, needs = self._checked_name(), NEEDS[self.kind]
        weights = self.weight, self.rotation_weight
        if needs.turns and self.rotation_weight is _USUAL:
            weights = _USUAL, self.weight
        usual = PIN_WEIGHT if self.pinned else 1.0
        weight, rotation_weight = (usual if weight is _USUAL else weight for weight in weights)
        put(self, weight=weight, rotation_weight=rotation_weight)
        for field, check in _CHECKS.items():
            value = getattr(self, field)
            if value is not None or field not in _OPTIONAL:
                put(self, **{field: check(value, f"{what}: {field.replace('_', ' ')}")})
        for field in ("enabled", "pinned", "hold"):
            as_flag(getattr(self, field), f"{what}: {field}")
        found: object = self.id
        if not isinstance(found, str):
            raise InputError(f"{what}: id: expected a text, found {quote(found)}")
        self._check_other(needs.other, what)
        for field in needs.fields:
            if getattr(self, field) is None and not self.pinned:
                raise InputError(f"{what}: expected a {field.replace('_', ' ')}, found none")
        put(self, numbers=_checked_numbers(needs.numbers, dict(self.numbers), what))
        if problem := needs.check(dict(self.numbers)):
            raise InputError(f"{what}: {problem}")

    def _check_other(self, needed: str, what: str) -> None:
        """Raise InputError for a second effector or object that is invalid, or the first effector again."""
        other: object = self.to
        if not needed:
            if other != "":
                raise InputError(f"{what}: expected no second effector, found {quote(other)}")
            return
        if not isinstance(other, str) or not other:
            word = "an object" if needed == "object" else "a second effector"
            raise InputError(f"{what}: expected {word}'s name, found {quote(other)}")
        if needed == "effector" and other == self.effector:
            raise InputError(f"{what}: expected another effector, found itself")
        if self.pinned:
            raise InputError(f"{what}: it cannot be pinned")

    def number(self, name: str) -> float:
        """One of ``numbers`` that is no direction, in radians or metres.

        Raises:
            KeyError: the kind has none of that name.
        """
        value = dict(self.numbers)[name]
        assert isinstance(value, float)
        return value

    def value(self, name: str) -> Value | None:
        """One of ``numbers``: radians, metres or a unit vector (3,) in its frame; None: it has none of that name."""
        return dict(self.numbers).get(name)

    def _checked_name(self) -> str:
        """The name of this goal in messages."""
        name: object = self.effector
        needs, found = NEEDS[self.kind], self.residuals
        if "residuals" in needs.fields and not callable(found):
            raise InputError(f"{self.kind} goal: expected a function of the world, found {quote(found)}")
        if not needs.effector:
            return f"{self.kind} goal"
        if not isinstance(name, str) or not name:
            raise InputError(f"{self.kind} goal: expected an effector's name, found {quote(name)}")
        return f"{self.kind} goal for {quote(name)}"


def _pose_parts(
    kinds: tuple[str, str, str], position: bool | ArrayLike | None, rotation: bool | ArrayLike | None, what: str
) -> tuple[str, dict[str, ArrayLike | None]]:
    """The kind for both parts of a pose, the position or the rotation, and the targets of these.

    None and False: without that part; True: as in the pose, without a target.
    """
    place, turn = (part is not None and part is not False for part in (position, rotation))
    if not (place or turn):
        raise InputError(f"{what}, found neither")
    targets = {"target": position, "target_rotation": rotation}
    kind = kinds[0] if place and turn else kinds[1] if place else kinds[2]
    return kind, {name: None if isinstance(part, bool) else part for name, part in targets.items()}


def _few(value: float | tuple[float, ...]) -> str:
    """Numbers with four digits."""
    return f"{value:.4g}" if isinstance(value, float) else f"({', '.join(f'{number:.4g}' for number in value)})"


def _checked_numbers(declared: Sequence[Number], given: dict[str, Value], what: str) -> Numbers:
    """The numbers of a kind's own, in the order that it declares them."""
    for name in given:
        if name not in [number.name for number in declared]:
            raise InputError(f"{what}: {unknown_name('number', name, [number.name for number in declared])}")
    numbers = []
    for number in declared:
        value = given.get(number.name, number.default)
        if value is None:
            raise InputError(f"{what}: expected a {number.words}, found none")
        numbers.append((number.name, number.checked(value, f"{what}: {number.words}")))
    return tuple(numbers)


_CHECKS: dict[str, Callable[[Any, str], object]] = {
    "target": triple,
    "target_rotation": as_rotation,
    "offset": triple,
    "weight": as_positive,
    "rotation_weight": as_positive,
    "level": as_level,
}
_OPTIONAL = ("target", "target_rotation")


def goal_ids(goals: Sequence[Goal]) -> tuple[str, ...]:
    """An id for each goal of a list: its own, else one made of its effector (of functions "function").

    Equal lists have equal ids.

    Raises:
        InputError: two goals have the same id.
    """
    given = [goal.id for goal in goals]
    taken = {name for name in given if name}
    if len(taken) < sum(map(bool, given)):
        twice = next(name for name in given if name and given.count(name) > 1)
        raise InputError(f"goals: expected ids that differ, found {quote(twice)} twice")
    ids = []
    for goal in goals:
        name, number = goal.id or goal.effector or goal.kind, 1
        base = name
        while not goal.id and name in taken:
            number += 1
            name = f"{base} {number}"
        taken.add(name)
        ids.append(name)
    return tuple(ids)
