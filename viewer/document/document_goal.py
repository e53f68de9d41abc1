"""Goals of a document, as values: those of effectors, and the one for balance.

A solver's `Goal` has only what is solved. A `DocumentGoal` is what the inspector shows and undo restores, and keeps
what is not in use: switched off and on again, or from one kind to another and back, it is as before.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar

from numpy.typing import ArrayLike

from viewer.errors import InputError, quote, unknown_name
from viewer.ik.goals import KINDS, NUMBERS, PIN_WEIGHT, Goal, Number, Quaternion, Unit, Value, Vector, pose_kind
from viewer.ik.goals.goal import as_level, as_rotation
from viewer.skeleton import Balance
from viewer.spatial.checks import FARTHEST, as_flag, as_number, as_positive, as_vector, put, swapped

LEVELS = ("Must", "Want", "Keep", "Maybe")
"""Words of the levels 0 to 3."""
BALANCE_KIND = next(word for word, kind in KINDS.items() if kind.balances)
POSITION_KIND = pose_kind(point=True, rotation=False)
NOT_SET = frozenset({"effector", "id", "follows"})
"""Fields of a `DocumentGoal` that `SetGoal` does not set."""

_Class = TypeVar("_Class")

_MARGIN = "margin"


def _with_numbers(made: type[_Class]) -> type[_Class]:
    """Give a class a field, None at first, for each number that kinds have of their own, after its ``rotation``."""
    own = {name: "Vector | None" if number.is_direction else "float | None" for name, number in NUMBERS.items()}
    for name in own:
        setattr(made, name, None)
    fields = list(made.__annotations__.items())
    place = 1 + [name for name, _ in fields].index("rotation")
    made.__annotations__ = dict([*fields[:place], *own.items(), *fields[place:]])
    return made


@dataclass(frozen=True, slots=True, kw_only=True)
@_with_numbers
class DocumentGoal:
    """A goal of a document. Unlike a solver's `Goal`, it keeps what it does not use at present.

    It keeps its targets while it is off, each kind's numbers while it is of another kind, and its kind while a part of
    it is pinned; `for_solver` makes the `Goal` of what is in use.

    Every effector has one goal whose ``id`` is the effector's name: dragging the effector moves it. It may have more.
    A pinned part is a target for any ``kind``: a position goal whose rotation is pinned has both as targets until that
    pin is removed.

    `_with_numbers` adds a field, None if it is not set, for each number that kinds have of their own
    (`viewer.ik.goals.NUMBERS`): the module of the kind "distance" states ``distance``, in metres, so that
    ``DocumentGoal(effector="LeftHand", kind="distance", position=(0, 1, 0), distance=0.3).distance`` is 0.3. Others
    are ``axis``, a unit vector in the joint's frame, and ``angle``, radians.

    Attributes:
        effector: its name in the document's skeleton.
        id: unique among goals and effectors of the document; it never changes, except that an id equal to the
            effector's name follows a rename. "" becomes the effector's name.
        to: the other effector, of a goal for two effectors; other kinds do not use it.
        kind: apart from pins; one of those that documents hold (`kinds_for`).
        enabled: if not, the effector follows the body.
        position: (3,) metres, world frame: target position, centre of a distance or point of an aim. Of a relative goal
            the place of the other effector, from this one, in the frame of its joint.
        rotation: (x, y, z, w), world_from_joint; of a relative goal effector_from_other.
        weight: per metre, more than 0, where it is not pinned.
        rotation_weight: per radian, more than 0, where it is not pinned.
        pin_position, pin_rotation: whether that part has the weight of 30 holds.
        offset: metres in the joint's frame, added to the effector's own.
        automatic: its pins were set when the file was opened, not by the user: showing another frame of a clip
            sets them again, as it does holds. The user's pins stay in the world.
        level: 0 to 3; goals of a lower number come first.
        follows: a goal for two switched it off, whose effector follows the other one; False where the user did, and
            always of a goal that is on.
    """

    effector: str
    id: str = ""
    to: str = ""
    kind: str = POSITION_KIND
    enabled: bool = True
    position: Vector | None = None
    rotation: Quaternion | None = None
    weight: float = 1.0
    rotation_weight: float = 1.0
    pin_position: bool = False
    pin_rotation: bool = False
    offset: Vector = (0.0, 0.0, 0.0)
    automatic: bool = False
    level: int = 1
    follows: bool = False

    def __post_init__(self) -> None:
        put(self, id=self.id or self.effector)
        what = f"goal {quote(self.id)}"
        if str(self.kind) not in KINDS:
            raise InputError(unknown_name(f"{what}: kind", str(self.kind), KINDS))
        check_kind(self.kind)
        for name in ("position", "offset"):
            if getattr(self, name) is not None:
                put(self, **{name: as_vector(getattr(self, name), f"{what}: {name}")})
        for name, value in self.numbers.items():
            put(self, **{name: _checked(NUMBERS[name], value, f"{what}: {name}")})
        if self.rotation is not None:
            put(self, rotation=as_rotation(self.rotation, f"{what}: rotation"))
        for name in ("enabled", "pin_position", "pin_rotation", "follows"):
            put(self, **{name: as_flag(getattr(self, name), f"{what}: {name.replace('_', ' of ')}")})
        put(
            self,
            follows=self.follows and not self.enabled,
            weight=as_positive(self.weight, f"{what}: weight"),
            rotation_weight=as_positive(self.rotation_weight, f"{what}: rotation weight"),
            level=as_level(self.level, f"{what}: level"),
        )
        if not isinstance(self.to, str):
            raise InputError(f"{what}: expected the other effector's name, found {quote(self.to)}")
        of_two = self.enabled and self.of_two
        if of_two and self.id == self.effector:
            raise InputError(f"{what}: expected a goal for one effector, found {self.kind}")
        if of_two and self.to in ("", self.effector):
            raise InputError(f"{what}: expected another effector beside its own, found {quote(self.to)}")
        for name, needed in self._needs().items():
            if needed and getattr(self, name) is None:
                raise InputError(f"{what}: expected a {name}, found none")
        if problem := KINDS[self.kind].check(dict(self._own_numbers())) if self.enabled else "":
            raise InputError(f"{what}: {problem}")

    def _needs(self) -> dict[str, bool]:
        return {
            "position": self._states("target", pinned=self.pin_position),
            "rotation": self._states("target_rotation", pinned=self.pin_rotation),
            **{number.name: self.enabled and number.default is None for number in KINDS[self.kind].numbers},
        }

    def _states(self, target: str, *, pinned: bool) -> bool:
        """Whether a target is in use, in the world or another frame."""
        return self.enabled and (target in KINDS[self.kind].targets or (self.sets_pose and pinned))

    @property
    def numbers(self) -> dict[str, Value]:
        """The numbers of any kind that are set, by name."""
        return {name: value for name in NUMBERS if (value := getattr(self, name)) is not None}

    def _own_numbers(self) -> tuple[tuple[str, Value], ...]:
        """Those of its kind that are set, or have a default."""
        given = ((one.name, getattr(self, one.name), one.default) for one in KINDS[self.kind].numbers)
        pairs = ((name, default if value is None else value) for name, value, default in given)
        return tuple((name, value) for name, value in pairs if value is not None)

    @property
    def of_two(self) -> bool:
        """Whether it is for two effectors."""
        return KINDS[self.kind].of_two

    @property
    def ends(self) -> tuple[str, ...]:
        """Its effectors."""
        return (self.effector, self.to) if self.of_two else (self.effector,)

    @property
    def relative(self) -> bool:
        """Whether it is enabled and its targets are in the frame of its effector's joint, not in the world."""
        return self.enabled and KINDS[self.kind].relative

    @property
    def sets_pose(self) -> bool:
        """Whether its target is a position or rotation, which moves along when the body is moved."""
        return self.enabled and KINDS[self.kind].sets_pose

    @property
    def pinned(self) -> bool:
        """Whether anything of it is pinned."""
        return (self.has_position and self.pin_position) or (self.has_rotation and self.pin_rotation)

    @property
    def has_lengths(self) -> bool:
        """Whether its ``weight`` counts; else ``rotation_weight`` alone, because all that it sets are angles."""
        return KINDS[self.kind].metres or self.pin_position

    @property
    def main_weight(self) -> float:
        """The weight that counts: that of its lengths, or of its angles if it has no lengths."""
        return self.weight if self.has_lengths else self.rotation_weight

    @property
    def has_position(self) -> bool:
        """Whether a point in the world is part of the target."""
        return self.enabled and (KINDS[self.kind].has_point or (self.sets_pose and self.pin_position))

    @property
    def has_rotation(self) -> bool:
        """Whether a rotation is part of the target."""
        return self.sets_pose and (KINDS[self.kind].has_rotation or self.pin_rotation)

    def for_solver(self) -> Goal | None:
        """The goal as the solver takes it; None if it is off."""
        if not self.enabled:
            return None
        return Goal(
            kind=self._goal_kind,
            effector=self.effector,
            to=self.to if self.of_two else "",
            target=self.position if self._states("target", pinned=self.pin_position) else None,
            target_rotation=self.rotation if self._states("target_rotation", pinned=self.pin_rotation) else None,
            numbers=self._own_numbers(),
            weight=self.weight * (PIN_WEIGHT if self.pin_position else 1.0),
            rotation_weight=self.rotation_weight * (PIN_WEIGHT if self.pin_rotation else 1.0),
            offset=self.offset,
            pinned=self.pinned,
            level=self.level,
        )

    @property
    def _goal_kind(self) -> str:
        return pose_kind(point=self.has_position, rotation=self.has_rotation) if self.sets_pose else self.kind

    def moved(self, position: ArrayLike | None, rotation: ArrayLike | None) -> DocumentGoal:
        """The goal with another target in the world; a part that was not a target becomes one. Relative goals stay."""
        place = None if position is None else as_vector(position, self._what("position"))
        return self.retargeted(place, None if rotation is None else as_rotation(rotation, self._what("rotation")))

    def retargeted(self, position: Vector | None, rotation: Quaternion | None) -> DocumentGoal:
        """`moved`, with numbers that are checked already; nothing is checked again."""
        if self.relative:
            return self
        kind = self.kind
        if self.sets_pose:
            place = position is not None or KINDS[kind].has_point
            turn = (rotation is not None and not self.pin_rotation) or KINDS[kind].has_rotation
            if (place, turn) != (KINDS[kind].has_point, KINDS[kind].has_rotation):
                kind = pose_kind(point=place, rotation=turn)
        position, rotation = position or self.position, rotation or self.rotation
        return swapped(self, kind=kind, position=position, rotation=rotation, automatic=False)

    def met_at(self, position: ArrayLike, rotation: ArrayLike) -> DocumentGoal:
        """The goal with its target where its effector is; the points of distances and aims stay."""
        if not self.sets_pose:
            return self
        place, turn = as_vector(position, self._what("position")), as_rotation(rotation, self._what("rotation"))
        return swapped(self, position=place, rotation=turn)

    def _what(self, part: str) -> str:
        return f"goal {quote(self.id)}: {part}"


def kinds_for(effectors: int) -> tuple[str, ...]:
    """The kinds of goals for one effector, or for two, that a document can hold."""
    return tuple(word for word, kind in KINDS.items() if kind.of_documents and kind.of_two == (effectors == 2))


def check_kind(kind: str) -> None:
    """Raise InputError for a kind of goal that no document can hold."""
    if not KINDS[kind].of_documents:
        raise InputError(f"a document cannot hold a {kind} goal")


def document_goal(goal: Goal, effector: str, id: str = "") -> DocumentGoal:  # noqa: A002 - the attribute's name
    """The document's goal equivalent to a solver's goal.

    Raises:
        InputError: a function goal, which no document can hold.
    """
    divisor = PIN_WEIGHT if goal.pinned else 1.0
    return DocumentGoal(
        effector=effector,
        id=id,
        to=goal.to,
        kind=goal.kind,
        enabled=goal.enabled,
        position=goal.target,
        rotation=goal.target_rotation,
        weight=goal.weight / divisor,
        rotation_weight=goal.rotation_weight / divisor,
        pin_position=goal.pinned and goal.target is not None,
        pin_rotation=goal.pinned and goal.target_rotation is not None,
        offset=goal.offset,
        level=goal.level,
        **dict(goal.numbers),  # type: ignore[arg-type]  # these fields exist only at run time
    )


def _checked(number: Number, value: Value, what: str) -> Value:
    """A number of a kind's own; lengths stay within `FARTHEST`."""
    if number.is_direction:
        return as_vector(value, what)
    most = min(number.most, FARTHEST) if number.unit is Unit.LENGTH else number.most
    return as_number(value, what, least=number.least, most=most)


def balance_words(found: Balance) -> str:
    """``balanced, 13 cm to spare``, ``falls back by 3 cm`` or ``Nothing stands on the floor``."""
    if not len(found.support):
        return "Nothing stands on the floor"
    size = abs(found.margin)
    length = f"{100.0 * size:.0f} cm" if size >= 0.0095 else f"{1000.0 * size:.0f} mm"
    if found.margin >= 0.0:
        return f"balanced, {length} to spare"
    sides = {"left": " to its left", "right": " to its right", "": ""}
    return f"falls{sides.get(found.side, f' {found.side}')} by {length}"


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentBalance:
    """The goal for balance of a document: a figure has one, and no effector.

    Attributes:
        on: whether the centre of mass is kept above what the figure stands on.
        margin: metres that it stays inside the support polygon, 0 or more.
        weight: more than 0. It outweighs dragged goals, so that balance is kept while a hand reaches too far; with a
            level above theirs, drags would stall more often.
        level: 0 to 3; goals of a lower number come first.
        height: of the floor that the figure stands on, metres, where contact has none.
    """

    on: bool = False
    margin: float = 0.03
    weight: float = 5.0
    level: int = 1
    height: float = 0.0

    def __post_init__(self) -> None:
        put(
            self,
            on=as_flag(self.on, "balance: on"),
            margin=as_number(self.margin, "balance: margin", least=0.0, most=FARTHEST),
            weight=as_positive(self.weight, "balance: weight"),
            level=as_level(self.level, "balance: level"),
            height=as_number(self.height, "balance: floor", least=-FARTHEST, most=FARTHEST),
        )

    @property
    def goal(self) -> Goal | None:
        """The goal as the solver takes it; None if it is off."""
        return _goal(self.margin, self.weight, self.level) if self.on else None


NO_BALANCE = DocumentBalance()
"""The balance of a new document."""


@lru_cache(maxsize=8)
def _goal(margin: float, weight: float, level: int) -> Goal:
    return Goal.balance(margin, weight=weight, level=level)


def balances(goal: Goal) -> bool:
    """Whether a goal is one for balance, which is not among a document's goals of effectors."""
    return KINDS[goal.kind].balances


def balance_from(goals: Iterable[Goal], before: DocumentBalance) -> DocumentBalance:
    """The document's balance that is equal to the goals for balance among some.

    Of several, the enabled one with the widest margin, which includes the others. Without any it stays as it is.
    """
    found = max(filter(balances, goals), key=lambda goal: (goal.enabled, goal.number(_MARGIN)), default=None)
    if found is None:
        return before
    margin = found.number(_MARGIN)
    return replace(before, on=found.enabled, margin=margin, weight=found.weight, level=found.level)
