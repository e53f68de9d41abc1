"""Small values of a document, and the handle: what is wanted of one effector, and where its target stands."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal, NamedTuple

from numpy.typing import ArrayLike

from viewer.document.checks import as_flag, as_number, as_turn, as_vector, as_weight, one_of
from viewer.errors import InputError, quote
from viewer.formats.bounds import FARTHEST
from viewer.ik.goals import PIN_WEIGHT, Goal, GoalKind, Quaternion, Vector

ItemKind = Literal["joint", "effector"]


class Item(NamedTuple):
    """Something that can be selected and dragged.

    Attributes:
        kind: "joint" or "effector". The root joint's item is the root handle.
        name: of the joint, or of the effector.
    """

    kind: ItemKind
    name: str


class Mode(StrEnum):
    """What dragging does."""

    IK = "ik"
    """Goals are moved, the joints follow."""
    FK = "fk"
    """Joints are turned, what hangs on them follows."""


class Scope(StrEnum):
    """Which joints may move during an IK drag."""

    BODY = "body"
    """All."""
    LIMB = "limb"
    """Those of the limb that is dragged."""
    SELECTION = "selection"
    """The selected ones."""


class Wanted(StrEnum):
    """What a handle asks of its effector; the values are those of `viewer.ik.goals.GoalKind`, and "off"."""

    POSITION = "position"
    ROTATION = "rotation"
    POSE = "position+rotation"
    DISTANCE = "distance"
    AIM = "aim"
    OFF = "off"
    """Nothing: the effector follows along."""


STANDING = frozenset({Wanted.POSITION, Wanted.ROTATION, Wanted.POSE})
"""Kinds whose targets are where the effector is to be or how it is to be turned, and that can be pinned."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Handle:
    """The goal of one effector, switched on or off, held or pinned.

    A pinned part is asked for whatever ``kind`` says of the other: a position handle whose rotation is pinned asks for
    both, and asks for its position alone again when that pin is taken off.

    Attributes:
        effector: its name in the document's skeleton.
        kind: what is wanted apart from pins.
        position: (3,) metres, world frame: where to be, the centre of a distance, the point of an aim.
        rotation: (x, y, z, w), world_from_joint.
        distance: metres, of a distance handle.
        axis: unit vector in the joint's frame, of an aim.
        weight: per metre, more than 0, pins aside.
        rotation_weight: per radian, more than 0, pins aside.
        pin_position, pin_rotation: whether that part stays with the weight of 30 holds.
        offset: metres in the joint's frame, added to the effector's own.
        automatic: its pins are those that opening the file set, by nobody's hand: when another frame of a clip is shown
            they are set anew, as holds are. Pins of the user's stay in the world.
    """

    effector: str
    kind: Wanted = Wanted.POSITION
    position: Vector | None = None
    rotation: Quaternion | None = None
    distance: float | None = None
    axis: Vector | None = None
    weight: float = 1.0
    rotation_weight: float = 1.0
    pin_position: bool = False
    pin_rotation: bool = False
    offset: Vector = (0.0, 0.0, 0.0)
    automatic: bool = False

    def __post_init__(self) -> None:
        """Take plain tuples and floats, and check them.

        Raises:
            InputError: numbers that are none, a weight of 0 or below, a target that is missing.
        """
        what = f"handle {quote(self.effector)}"
        put = object.__setattr__
        put(self, "kind", one_of(Wanted, self.kind, f"{what}: kind"))
        for name in ("position", "axis", "offset"):
            if getattr(self, name) is not None:
                put(self, name, as_vector(getattr(self, name), f"{what}: {name}"))
        if self.rotation is not None:
            put(self, "rotation", as_turn(self.rotation, f"{what}: rotation"))
        if self.distance is not None:
            put(self, "distance", as_number(self.distance, f"{what}: distance", least=0.0, most=FARTHEST))
        for name in ("pin_position", "pin_rotation"):
            put(self, name, as_flag(getattr(self, name), f"{what}: {name.replace('_', ' of ')}"))
        put(self, "weight", as_weight(self.weight, f"{what}: weight"))
        put(self, "rotation_weight", as_weight(self.rotation_weight, f"{what}: rotation weight"))
        for name, needed in self._needs().items():
            if needed and getattr(self, name) is None:
                raise InputError(f"{what}: expected a {name}, found none")

    def _needs(self) -> dict[str, bool]:
        return {
            "position": self.has_position,
            "rotation": self.has_rotation,
            "distance": self.kind is Wanted.DISTANCE,
            "axis": self.kind is Wanted.AIM,
        }

    @property
    def on(self) -> bool:
        """Whether anything is asked."""
        return self.kind is not Wanted.OFF

    @property
    def stands(self) -> bool:
        """Whether its target is a place or a turn of its own, which moves along when the body is put elsewhere."""
        return self.kind in STANDING

    @property
    def pinned(self) -> bool:
        """Whether anything of it is pinned."""
        return (self.has_position and self.pin_position) or (self.has_rotation and self.pin_rotation)

    @property
    def has_position(self) -> bool:
        """Whether a point in the world belongs to what is asked."""
        if self.stands:
            return self.kind is not Wanted.ROTATION or self.pin_position
        return self.on

    @property
    def has_rotation(self) -> bool:
        """Whether a turn is asked for."""
        return self.kind in (Wanted.ROTATION, Wanted.POSE) or (self.stands and self.pin_rotation)

    def goal(self) -> Goal | None:
        """What a solver is asked for; None if nothing."""
        if not self.on:
            return None
        return Goal(
            kind=self._goal_kind,
            effector=self.effector,
            target=self.position if self.has_position else None,
            target_rotation=self.rotation if self.has_rotation else None,
            target_distance=self.distance if self.kind is Wanted.DISTANCE else None,
            axis=self.axis if self.kind is Wanted.AIM else None,
            weight=self.weight * (PIN_WEIGHT if self.pin_position else 1.0),
            rotation_weight=self.rotation_weight * (PIN_WEIGHT if self.pin_rotation else 1.0),
            offset=self.offset,
            pinned=self.pinned,
        )

    @property
    def _goal_kind(self) -> GoalKind:
        if not self.stands:
            return GoalKind(self.kind.value)
        if self.has_position and self.has_rotation:
            return GoalKind.POSE
        return GoalKind.POSITION if self.has_position else GoalKind.ROTATION

    def moved(self, position: ArrayLike | None, rotation: ArrayLike | None) -> Handle:
        """The handle with another target; a part that was not asked for until now is asked for from now on."""
        kind = self.kind
        if self.stands:
            place = position is not None or self.kind is not Wanted.ROTATION
            turn = rotation is not None and not self.pin_rotation
            turn = turn or self.kind in (Wanted.ROTATION, Wanted.POSE)
            kind = (Wanted.POSE if turn else Wanted.POSITION) if place else Wanted.ROTATION
        place_now = self.position if position is None else as_vector(position, self._what("position"))
        turn_now = self.rotation if rotation is None else as_turn(rotation, self._what("rotation"))
        return replace(self, kind=kind, position=place_now, rotation=turn_now, automatic=False)

    def standing_at(self, position: ArrayLike, rotation: ArrayLike) -> Handle:
        """The handle with its target where its effector is; those of distances and aims are points of the world."""
        if not self.stands:
            return self
        place, turn = as_vector(position, self._what("position")), as_turn(rotation, self._what("rotation"))
        return replace(self, position=place, rotation=turn)

    def _what(self, part: str) -> str:
        return f"handle {quote(self.effector)}: {part}"


def handle_of(goal: Goal, effector: str) -> Handle:
    """The handle that asks for what a goal asks.

    Raises:
        InputError: a function or a bend goal, which have no handle.
    """
    if goal.kind.value not in [kind.value for kind in Wanted]:
        raise InputError(f"a {goal.kind} goal has no handle")
    divisor = PIN_WEIGHT if goal.pinned else 1.0
    places, turns = goal.target is not None, goal.target_rotation is not None
    return Handle(
        effector=effector,
        kind=Wanted(goal.kind.value) if goal.enabled else Wanted.OFF,
        position=goal.target,
        rotation=goal.target_rotation,
        distance=goal.target_distance,
        axis=goal.axis,
        weight=goal.weight / divisor,
        rotation_weight=goal.rotation_weight / divisor,
        pin_position=goal.pinned and places,
        pin_rotation=goal.pinned and turns,
        offset=goal.offset,
    )
