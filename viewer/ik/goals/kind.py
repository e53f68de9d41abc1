"""What a kind of goal is: the record that each kind's module fills, for solvers, methods, files and pictures."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from viewer.ik.goals.goal import Goal, GoalKind, Quaternion, Vector
from viewer.ik.goals.rows import Rows
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton, find_place
from viewer.spatial.checks import Floats

NAN = math.nan


class Stand(NamedTuple):
    """Where the effector of a goal is in a pose.

    Attributes:
        joint: its joint.
        point: (3,) metres, world frame.
        rotation: (4,) world_from_joint.
    """

    joint: int
    point: Floats
    rotation: Floats


def stand_of(goal: Goal, skeleton: Skeleton, world: World) -> Stand:
    """Where the effector of a goal is.

    Raises:
        InputError: an effector that is not there.
    """
    place = find_place(skeleton, goal.effector)
    point = world.point(place.joint, np.add(place.offset, goal.offset))
    return Stand(place.joint, point, np.asarray(world.rotations[place.joint]))


class Constants(NamedTuple):
    """The numbers of a goal that do not change in a solve, whatever its target.

    Attributes:
        joint: the effector's.
        offset: metres in the joint's frame, from the joint to the point that rows are about.
        number: the length or the angle that a row is to have.
        axis: unit vector in the joint's frame.
        middle, upper: joints above, for rows about a limb of three joints; -1 for others.
    """

    joint: int
    offset: Vector
    number: float = 0.0
    axis: Vector = (0.0, 1.0, 0.0)
    middle: int = -1
    upper: int = -1


def point_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """Of a goal about its effector's own point.

    Raises:
        InputError: an effector that is not there.
    """
    place = find_place(skeleton, goal.effector)
    x, y, z = np.add(place.offset, goal.offset).tolist()
    return Constants(place.joint, (x, y, z), goal.target_distance or 0.0, goal.axis or (0.0, 1.0, 0.0))


class Drawing(NamedTuple):
    """What shows a goal, as values; None for what it does not have.

    Attributes:
        joint: the effector's.
        position: (3,) the point on the figure.
        target: (3,) where that point is asked to be, nearest to where it is.
        rotation: (4,) how the joint is asked to be turned.
    """

    joint: int
    position: Floats
    target: Floats | None = None
    rotation: Quaternion | None = None


class FileKey(NamedTuple):
    """A key of goals files.

    Attributes:
        field: of `Goal`, whose value it holds.
        type: of the value: a number, a `Vector` or a `Quaternion`.
        about: what a schema says of it.
        most: the largest number; 0 is the smallest. None: any.
        degrees: whether the file has degrees where the goal has radians.
    """

    field: str
    type: Any
    about: str
    most: float | None = None
    degrees: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of goal.

    Attributes:
        word: what files and Python call it.
        title: what the window calls it.
        hint: what it asks, for tooltips and menus.
        code: what the kernels call it, its place in `viewer.ik.goals.ROW_KINDS`; -1: they have no rows for it.
        rows: in order.
        keys: the keys of a goals file that belong to this kind.
        named_by: the key that holds the effector's name.
        since: the version of goals files that knows it first.
        constants: (goal, skeleton) -> its `Constants`; an InputError where the skeleton has no such effector.
        miss: (goal, skeleton, world) -> metres and degrees that it misses by; NaN for what it does not ask.
        drawing: (goal, skeleton, world) -> what shows it; None: nothing does.
    """

    word: GoalKind
    title: str
    hint: str
    code: int = -1
    rows: tuple[Rows, ...] = ()
    keys: Mapping[str, FileKey] = field(default_factory=dict)
    named_by: str = "effector"
    since: int = 1
    constants: Callable[[Goal, Skeleton], Constants] = point_constants
    miss: Callable[[Goal, Skeleton, World], tuple[float, float]]
    drawing: Callable[[Goal, Skeleton, World], Drawing | None]

    @property
    def built_in(self) -> bool:
        """Whether the kernels have rows for it."""
        return self.code >= 0

    @property
    def count(self) -> int:
        """Rows of such a goal."""
        return sum(rows.count for rows in self.rows)

    @property
    def lengths(self) -> int:
        """How many rows are lengths; they stand before the angles."""
        return sum(rows.count for rows in self.rows if not rows.radians)

    @property
    def angles(self) -> int:
        """How many rows are angles."""
        return sum(rows.count for rows in self.rows if rows.radians)

    @property
    def row_names(self) -> tuple[str, ...]:
        """What each row is called: x, y, z of a place, rx, ry, rz of a turn, else the kind's word."""
        three = {False: ("x", "y", "z"), True: ("rx", "ry", "rz")}
        return tuple(
            name for rows in self.rows for name in (three[rows.radians] if rows.count == 3 else (self.word.value,))
        )

    @property
    def looks(self) -> bool:
        """Whether moves of the effector change its angles."""
        return any(rows.moved for rows in self.rows)

    @property
    def has_point(self) -> bool:
        """Whether a point of the world belongs to it: where to be, what to keep away from or what to aim at."""
        return "target" in self.word.needs

    @property
    def has_rotation(self) -> bool:
        """Whether a rotation that the effector is to have belongs to it."""
        return "target_rotation" in self.word.needs

    @property
    def places(self) -> bool:
        """Whether its point is where the effector is to be."""
        return any(rows.places for rows in self.rows)

    @property
    def metres(self) -> bool:
        """Whether it is missed by lengths; functions, whose numbers have a unit of their own, count as such."""
        return not self.rows or any(not rows.radians for rows in self.rows)

    @property
    def radians(self) -> bool:
        """Whether it is missed by angles."""
        return any(rows.radians for rows in self.rows)

    @property
    def spans(self) -> bool:
        """Whether it is about three joints of a limb."""
        return any(rows.spans for rows in self.rows)

    @property
    def own(self) -> bool:
        """Whether nothing but the effector's own joint changes it."""
        return bool(self.rows) and all(rows.own for rows in self.rows)
