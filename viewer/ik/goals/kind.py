"""The record of a goal kind, which its module fills: its rows, words, keys, checks and pictures; what kinds share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from types import SimpleNamespace
from typing import Any, NamedTuple, Protocol, Self, TypeAlias

import numpy as np

from viewer.errors import InputError
from viewer.ik.algebra import SMALL
from viewer.ik.goals.goal import Checker, Goal, Needs, Number, Value, any_numbers
from viewer.ik.system import System, Work
from viewer.skeleton import NO_OFFSET, Skeleton, World, point_of
from viewer.spatial.checks import Floats, Ints, Quaternion, Vector

Places: TypeAlias = Ints | slice
"""Indices; a slice where they are evenly spaced, which is quicker to read and write by."""
Residual: TypeAlias = Callable[[System, Work, int, int, Floats], float]
"""(s, w, g, row, e) -> by how many tolerances goal ``g`` misses.

``s`` is the system, ``w`` its scratch, whose arrays have a row per goal; ``e`` (m,) are the weighted residuals of all
goals, of which those of ``g`` begin at ``row``."""
Residuals: TypeAlias = Callable[[System, Work, Floats, Places, Ints, Floats], float]
"""(s, w, frames, some, places, e) -> the largest miss of goals ``some``, in metres or radians, not in tolerances.

``frames`` (3, 3, K + 1) are the joints' axes, ``places`` (N, count) the indices in ``e`` of each goal's residuals."""


class Measure(Enum):
    """What rows of a goal measure.

    Attributes:
        radians: they are angles, weighted per radian; else lengths, weighted per metre.
        by_turn, by_move: whether the scratch of that name holds how they answer to a turn or a move of the effector.
            Three lengths without it are along the world's axes.
        shared: joints of several limbs move it, each by its share (`System.share`).

    Both backends know these attributes. What else a new member needs: `linearise` and, where it is shared,
    `linearise_several` in `viewer.ik.kernels.step`, and `_shares` in `viewer.ik.assemble`; `linearise` in
    `viewer.ik.numpy_engine`. `viewer.ik.methods` names those that methods without a Jacobian serve.
    """

    count: int
    radians: bool
    by_turn: bool
    by_move: bool
    shared: bool

    def __new__(cls, word: str, count: int, unit: str, answers: str) -> Self:
        """Take a word, the count of rows, "m" or "rad", and the words that apply."""
        member = object.__new__(cls)
        member._value_, member.count, member.radians = word, count, unit == "rad"
        member.by_turn, member.by_move = "by_turn" in answers, "by_move" in answers
        member.shared = "shared" in answers
        return member

    POINT = "point", 3, "m", ""
    """The way from the effector to its target."""
    RELATIVE_POINT = "relative point", 3, "m", "by_move shared"
    """A way from the effector's point in the frame of another joint, ``goal_other``; ``by_move`` turns into it."""
    LENGTH = "length", 1, "m", "by_move"
    """Any other length, such as how far the effector is out of a shell (`within`)."""
    ROTATION = "rotation", 3, "rad", "by_turn"
    """The turn from the effector's rotation to its target's."""
    CENTER = "centre of mass", 2, "m", "shared"
    """The horizontal vector, x and z, from the centre of mass to the support polygon; 0 inside."""
    MEAN = "mean", 3, "m", "shared"
    """The way from the mean of the points of two effectors to its target; ``by_move`` turns into the rows' axes."""
    RELATIVE_ROTATION = "relative rotation", 3, "rad", "by_turn shared"
    """A turn of the effector in such a frame, as to a target's rotation there."""
    DIRECTION = "direction", 3, "rad", "by_turn by_move"
    """The turn from an axis of the effector's joint to the way to its target."""
    JOINT_ANGLE = "joint angle", 1, "rad", "by_turn"
    """The angle between the bones above and below the effector's joint: only turns of that joint change it."""
    LIMB_ANGLE = "limb angle", 1, "rad", ""
    """An angle about the line between the ends of a limb, whose three joints `Constants` names.

    ``by_move`` holds how it answers to moves of the limb's end, middle and upper joint, and ``by_turn`` to turns of the
    middle one.
    """


class Shell(NamedTuple):
    """Where a goal lets its effector be; it does not depend on the target.

    It is what is between two distances from the goal's target, in all directions (a point, a sphere, a ball), or along
    one, where it is flat: a plane, a height, a band, one side of a plane. Solves begin near shells, targets are found
    to be out of reach by them, and methods without a Jacobian bring effectors to the nearest place in them.

    Attributes:
        least, most: metres from the target or, of kinds without one, from the world's origin; may be infinite.
        along: a unit vector of the world that they are counted along, with a sign: the shell is flat. 0: they are
            counted in all directions, and 0 and 0 metres are the target itself.
    """

    least: float
    most: float
    along: Vector = (0.0, 0.0, 0.0)


AT_TARGET = Shell(0.0, 0.0)


def at_target(goal: Goal) -> Shell:  # noqa: ARG001 - as of every kind
    """At the place of its target."""
    return AT_TARGET


@dataclass(frozen=True, slots=True)
class Rows:
    """Residuals of a goal that are measured as one.

    Attributes:
        residual: fills them for one goal, compiled, and of the scratch ``miss`` (metres, radians) and how they answer
            to a turn (``by_turn``) or a move (``by_move``) of the effector. No two kinds have functions of the same
            name.
        residuals: the same for many goals in numpy; None: by ``residual``, one goal after the other, for kinds of which
            a figure has few: tens of microseconds each.
        shell: goal -> where they let its effector be: by this solves begin near it, targets are found to be out of
            reach, and `viewer.ik.methods` without a Jacobian serve it. None: they do not restrict that.
    """

    measure: Measure
    residual: Residual
    residuals: Residuals | None = None
    shell: Callable[[Goal], Shell] | None = None

    @property
    def count(self) -> int:
        """How many rows."""
        return self.measure.count

    @property
    def radians(self) -> bool:
        """Whether they are angles; else lengths."""
        return self.measure.radians

    def fill(self, s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:
        """The rows of many goals, by ``residuals`` if there is such a function: its arguments and result."""
        if self.residuals is not None:
            return self.residuals(s, w, frames, some, places, e)
        return float(s.tolerance[int(self.radians)]) * one_by_one(self.residual, s, w, some, places, e)


def within(shell: Callable[[Goal], Shell]) -> Rows:
    """One row: how far the effector is out of a shell, as a distance, a height, a plane or a band asks."""
    return Rows(Measure.LENGTH, shell_residual, shell=shell)


def along_of(s: System, g: int) -> Vector:
    """The direction of a goal's shell; 0 if it is not flat."""
    return s.goal_along[g, 0], s.goal_along[g, 1], s.goal_along[g, 2]


def is_flat(along: Vector) -> bool:
    """Whether a shell is flat."""
    return along[0] != 0.0 or along[1] != 0.0 or along[2] != 0.0


def outwards(x: float, y: float, z: float, along: Vector, small: float) -> tuple[float, float, float, float]:
    """The way out of a shell at a place x, y, z from its target: a unit vector, and metres out along it.

    Within ``small`` metres of the target of one that is not flat any direction leads out, and x is taken.
    """
    if is_flat(along):
        return along[0], along[1], along[2], along[0] * x + along[1] * y + along[2] * z
    length = math.sqrt(x * x + y * y + z * z)
    if length > small:
        return x / length, y / length, z / length, length
    return 1.0, 0.0, 0.0, length


def nearest_in_shell(place: Vector, target: Vector, along: Vector, least: float, most: float) -> Vector:
    """The place in a shell that is nearest to another."""
    (x, y, z), (tx, ty, tz) = place, target
    ux, uy, uz, out = outwards(x - tx, y - ty, z - tz, along, 0.0)
    kept = min(max(out, least), most)
    if is_flat(along):
        tx, ty, tz = x - out * ux, y - out * uy, z - out * uz
    return tx + kept * ux, ty + kept * uy, tz + kept * uz


def shell_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = how far out the effector is to be - how far out it is."""
    x, y, z = s.goal_target[g, 0], s.goal_target[g, 1], s.goal_target[g, 2]
    x, y, z = w.point[g, 0] - x, w.point[g, 1] - y, w.point[g, 2] - z
    x, y, z, out = outwards(x, y, z, along_of(s, g), SMALL * s.scale[0])
    least, most = s.goal_shell[g, 0], s.goal_shell[g, 1]
    miss = min(max(out, least), most) - out
    if least < out < most:  # it may move on either way
        x, y, z = 0.0, 0.0, 0.0
    w.by_move[g, 0, 0], w.by_move[g, 0, 1], w.by_move[g, 0, 2] = x, y, z
    e[row] = s.goal_weight[g] * miss
    w.miss[g, 0] = abs(miss)
    return float(w.miss[g, 0] / s.tolerance[0]) if s.goal_weight[g] > 0.0 else 0.0


def one_by_one(residual: Residual, s: System, w: Work, some: Places, places: Ints, e: Floats) -> float:
    """Fill the rows of some goals by ``residual``; returns the largest miss, in tolerances."""
    goals = np.arange(len(s.goal_kind))[some].tolist()
    pairs = zip(goals, places[:, 0].tolist(), strict=True)
    return max([residual(s, w, g, row, e) for g, row in pairs], default=0.0)


def largest(misses: Iterable[float], weights: Floats) -> float:
    """The largest miss of goals (N,) with a weight above 0."""
    pairs = zip(misses, weights.tolist(), strict=True)
    return max([miss for miss, weight in pairs if weight > 0.0], default=0.0)


NAN = math.nan


class Stand(NamedTuple):
    """Where the effector of a goal is in a pose, or what else its targets place.

    Attributes:
        point: (3,) metres, world frame.
        rotation: (4,) world_from_joint.
    """

    joint: int
    point: Floats
    rotation: Floats


class Ends(Protocol):
    """What names the effectors of a goal: a `Goal`, a `Before`, a document's goal."""

    @property
    def effector(self) -> str:
        """The first, or the only one."""

    @property
    def offset(self) -> Vector:
        """Metres in its joint's frame, added to its own."""

    @property
    def to(self) -> str:
        """The second one."""


def stand_at(skeleton: Skeleton, world: World, effector: str, offset: Vector = NO_OFFSET) -> Stand:
    """Where an effector is, or a point beside it, in each frame; errors are those of `point_of`."""
    joint, point = point_of(skeleton, effector, offset)
    return Stand(joint, world.point(joint, point), np.asarray(world.rotations[..., joint, :]))


def effector_stand(goal: Ends, skeleton: Skeleton, world: World) -> Stand:
    """Where the effector of a goal is, of two the first; errors are those of `point_of`."""
    return stand_at(skeleton, world, goal.effector, goal.offset)


def both_stands(goal: Ends, skeleton: Skeleton, world: World) -> tuple[Stand, Stand]:
    """Where both effectors of a goal for two are; errors are those of `point_of`."""
    return effector_stand(goal, skeleton, world), stand_at(skeleton, world, goal.to)


class Constants(NamedTuple):
    """The numbers of a goal that do not depend on its target and do not change in a solve.

    Attributes:
        joint: the effector's.
        offset: metres in the joint's frame, from the joint to the point that rows are about.
        numbers: that its rows read: its own in the order of `Kind.numbers`, a direction as three, then those that the
            kind finds in the skeleton.
        middle, upper: joints above, for rows about a limb of three joints; -1 for others.
        other: the second joint of a goal for two effectors; ``numbers`` begin with the point on it. -1 for others.
    """

    joint: int
    offset: Vector
    numbers: tuple[float, ...] = ()
    middle: int = -1
    upper: int = -1
    other: int = -1


def point_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The constants of a goal about its effector's own point, whose rows read its own numbers.

    Errors are those of `point_of`.
    """
    return Constants(*point_of(skeleton, goal.effector, goal.offset), own_numbers(goal))


def alone(goal: Goal, fixed: Constants, shell: Shell, skeleton: Skeleton, world: World) -> tuple[Any, Any]:
    """What rows read of a `System` and a `Work`, for one goal among all joints of a skeleton; NaN without a target."""
    nowhere = 0.0 if is_flat(shell.along) else NAN
    system = SimpleNamespace(
        goal_kind=[0],
        share=np.zeros((1, len(skeleton))),
        parent=skeleton.parents,
        offset=skeleton.offsets,
        goal_joint=[fixed.joint],
        goal_middle=[fixed.middle],
        goal_upper=[fixed.upper],
        goal_other=[fixed.other],
        goal_numbers=np.array([fixed.numbers]),
        goal_shell=np.array([shell[:2]]),
        goal_along=np.array([shell.along]),
        goal_target=np.array([goal.target or (nowhere,) * 3]),
        goal_rotation=np.array([goal.target_rotation or (NAN,) * 4]),
        goal_weight=np.ones(1),
        goal_rotation_weight=np.ones(1),
        tolerance=np.ones(2),
        scale=np.ones(2),
    )
    work = SimpleNamespace(
        turn=world.rotations,
        place=world.positions,
        point=world.point(fixed.joint, fixed.offset)[None],
        miss=np.full((1, 2), NAN),
        by_turn=np.zeros((1, 3, 3)),
        by_move=np.zeros((1, 3, 3)),
        vectors=np.zeros((4, 3)),
        moment=np.zeros((1, len(skeleton), 3)),
    )
    return system, work


def own_numbers(goal: Goal) -> tuple[float, ...]:
    """The numbers of a goal's own, one after the other; a direction is three."""
    return tuple(one for _, value in goal.numbers for one in (value if isinstance(value, tuple) else (value,)))


class GoalDrawing(NamedTuple):
    """The drawing of a goal, as values; None for parts that it does not have.

    Pictures show all of it. In the window a goal is a handle, the effector and the point that can be dragged, with the
    rotation, the guides and, where it is missed, a line to the target.

    Attributes:
        joint: the effector's.
        position: (3,) the point on the figure.
        target: (3,) the target of that point; of several the nearest.
        rotation: (4,) the target rotation of the joint.
        guides: (N, 3) each: lines that show where the goal is met, such as the two ends of a range.
    """

    joint: int
    position: Floats
    target: Floats | None = None
    rotation: Quaternion | None = None
    guides: tuple[Floats, ...] = ()


def effector_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show the effector alone."""
    stand = effector_stand(goal, skeleton, world)
    return GoalDrawing(stand.joint, stand.point)


def no_drawing(goal: Goal, skeleton: Skeleton, world: World) -> None:
    """Show nothing."""


class FileKey(NamedTuple):
    """A required value of a goal, as goals files write it.

    Attributes:
        field: of `Goal`: "target", "target_rotation", or "to" of kinds with a second effector; of a number of the
            kind's own its name.
        about: its description in the schema.
        number: the kind's own.
    """

    field: str
    about: str
    number: Number | None = None


TO = FileKey("to", "The second effector.")
"""The key "to" of kinds for two effectors."""


class Before(NamedTuple):
    """The goal before a change of its kind.

    Attributes:
        effector: its name.
        offset: metres in the joint's frame, added to the effector's own.
        enabled: whether it was in use.
        point: its point of the world, if it has one.
        numbers: those that it has, of any kind.
        to: the name of its second effector, of kinds for two.
    """

    effector: str
    offset: Vector
    enabled: bool
    point: Vector | None
    numbers: Mapping[str, Value]
    to: str = ""


class First(NamedTuple):
    """First values of a goal.

    Attributes:
        numbers: of the kind.
        point: (3,) its target; None: where its `Kind.stand` is.
    """

    numbers: Mapping[str, Value]
    point: Floats | None = None


AHEAD = 0.3
"""A new aim looks at a point this far ahead, and a new distance is at least a sixth of it, in reaches of the figure."""


def size_of(skeleton: Skeleton) -> float:
    """Metres of all bones together; 1 for a figure without any."""
    return float(np.linalg.norm(skeleton.offsets, axis=-1).sum()) or 1.0


def bone_direction(skeleton: Skeleton, joint: int) -> Floats:
    """The direction of a joint's bone in its own frame: to its first child or tip in another place, else y."""
    children = skeleton.offsets[skeleton.parents == joint]
    tips = skeleton.tip_offsets[skeleton.tip_parents == joint]
    for offset in (*children, *tips):
        length = float(np.linalg.norm(offset))
        if length > 0.0:
            return np.asarray(offset / length)
    return np.array([0.0, 1.0, 0.0])


def first_as_before(before: Before, skeleton: Skeleton, world: World) -> First:  # noqa: ARG001 - as of every kind
    """The numbers that the goal had, else none: those left out have their defaults."""
    return First(before.numbers)


def _measuring(*measures: Measure) -> cached_property[bool]:
    """Whether rows of a kind measure one of these."""
    return cached_property(lambda kind: not kind.measures.isdisjoint(measures))


@dataclass(frozen=True, kw_only=True, eq=False)
class Kind:
    """A kind of goal.

    All else follows from its rows and keys. Its rows say what they measure (``measures``), how many they are
    (``lengths``, ``angles``, ``count``) and in which units an error is (``metres``, ``radians``). Its keys say what a
    goal holds (``fields``, ``numbers``), and whether that is a target in the world (``has_point``, ``has_rotation``,
    ``has_target`` for either); ``targets`` also has those in the frame of another joint.

    Attributes:
        word: its name in files and Python.
        title: its name in the window.
        hint: one sentence for tooltips and menus.
        command: its name in commands; "": its word.
        point_title: the name of its point in the window; "": that of an effector's position.
        rows: of lengths, of angles, or both in this order; none: they are taken by differences, of `Goal.residuals`.
        keys: the keys of a goals file that belong to this kind: what a goal must have.
        named_by: the key that holds the effector's name; "": it has no effector.
        check: (numbers by name) -> what is wrong among them, in one line; "" if nothing.
        since: the first version of goals files with this kind.
        constants: (goal, skeleton) -> its `Constants`; an InputError where the skeleton has no such effector.
        first: (goal before, skeleton, world) -> the first values of a goal in a pose.
        stand: (goal, skeleton, world) -> what its targets place, as a pose has it, in the frame that they are in: the
            effector, in the world, unless given. Goals that set a pose, and those for two effectors, begin there, and
            follow it when the figure is posed by other means.
        drawing: (goal, skeleton, world) -> its drawing, by default the effector; None: it has none.
        swivel: (skeleton, world, effector) -> (N, 3) a line that is shown while it is selected: where the joint can be.
        relative: whether its targets are in the frame of its effector's joint, not in the world: it holds another one
            there. Relative rows have them.
        grips: whether solvers replace it by a goal for each finger of a hand (`viewer.ik.grips`).
        firm: whether it is kept in drags as well as what is dragged: it says how parts of the figure stay to each other
            or to the ground, not where one is wanted.
    """

    word: str
    title: str
    hint: str
    command: str = ""
    point_title: str = ""
    rows: tuple[Rows, ...] = ()
    keys: Mapping[str, FileKey] = field(default_factory=dict)
    named_by: str = "effector"
    check: Checker = any_numbers
    since: int = 1
    constants: Callable[[Goal, Skeleton], Constants] = point_constants
    first: Callable[[Before, Skeleton, World], First] = first_as_before
    stand: Callable[[Ends, Skeleton, World], Stand] = effector_stand
    drawing: Callable[[Goal, Skeleton, World], GoalDrawing | None] = effector_drawing
    swivel: Callable[[Skeleton, World, str], Floats] | None = None
    relative: bool = False
    grips: bool = False
    firm: bool = False

    def __post_init__(self) -> None:
        """Refuse rows that would overwrite each other's scratch.

        Raises:
            InputError: two measures of lengths or of angles, angles before lengths, or both with ``by_move``.
        """
        measures = [rows.measure for rows in self.rows]
        in_order = [one.radians for one in measures] in ([], [False], [True], [False, True])
        if not in_order or sum(one.by_move for one in measures) > 1:
            expected = "expected a measure of lengths, one of angles, or both in this order, of which one has by_move"
            raise InputError(f"kind {self.word}: {expected}, found {', '.join(one.value for one in measures)}")

    aims = _measuring(Measure.DIRECTION)
    """Whether it points an axis at its point: moves of the effector change its angles."""
    sets_position = _measuring(Measure.POINT)
    """Whether its point is the target position of the effector."""
    of_one_joint = _measuring(Measure.JOINT_ANGLE)
    """Whether only turns of the effector's own joint change it."""
    of_limb = _measuring(Measure.LIMB_ANGLE)
    """Whether it is about three joints of a limb."""
    balances = _measuring(Measure.CENTER)
    """Whether it is about the centre of mass."""
    of_mean = _measuring(Measure.CENTER, Measure.MEAN)
    """Whether it is about the mean of points below several joints."""

    def shell(self, goal: Goal) -> Shell | None:
        """Where a goal lets its effector be, as its rows state it; None: anywhere."""
        return next((rows.shell(goal) for rows in self.rows if rows.shell is not None), None)

    def missed(self, goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
        """Errors of a goal in metres and degrees, as its rows measure them; NaN for a part that it does not have.

        NaN also where a pose alone does not say it: of functions, grips and balance.
        """
        if not self.rows or self.balances:
            return NAN, NAN
        s, w = alone(goal, self.constants(goal, skeleton), self.shell(goal) or AT_TARGET, skeleton, world)
        row, e = 0, np.zeros(self.count)
        for rows in self.rows:
            rows.residual(s, w, 0, row, e)
            row += rows.count
        metres, radians = w.miss[0].tolist()
        return metres, math.degrees(radians)

    @cached_property
    def built_in(self) -> bool:
        """Whether kernels have rows for it or its fingers; else they are taken by differences, and no file holds it."""
        return bool(self.rows) or self.grips

    @cached_property
    def fields(self) -> tuple[str, ...]:
        """The fields of `Goal` and the numbers that its keys hold."""
        return tuple(key.field for key in self.keys.values())

    @cached_property
    def numbers(self) -> tuple[Number, ...]:
        """The numbers of such a goal."""
        return tuple(key.number for key in self.keys.values() if key.number is not None)

    @cached_property
    def needs(self) -> Needs:
        """What a goal must have."""
        own = {number.name for number in self.numbers}
        fields = tuple(name for name in self.fields if name not in own) if self.built_in else ("residuals",)
        other = "object" if self.grips else "effector" if self.of_two else ""
        turns = self.radians and not self.metres
        return Needs(bool(self.named_by), fields, self.numbers, self.check, other, turns)

    @cached_property
    def measures(self) -> frozenset[Measure]:
        """What its rows measure."""
        return frozenset(rows.measure for rows in self.rows)

    @property
    def count(self) -> int:
        """Rows of such a goal."""
        return self.lengths + self.angles

    @cached_property
    def lengths(self) -> int:
        """How many rows are lengths; they stand before the angles."""
        return sum(rows.count for rows in self.rows if not rows.radians)

    @cached_property
    def angles(self) -> int:
        """How many rows are angles."""
        return sum(rows.count for rows in self.rows if rows.radians)

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """The name of each row: x, y, z of a position, x, z on the floor, rx, ry, rz of a rotation, or the word."""
        several = {(3, False): ("x", "y", "z"), (3, True): ("rx", "ry", "rz"), (2, False): ("x", "z")}
        return tuple(name for rows in self.rows for name in several.get((rows.count, rows.radians), (self.word,)))

    @cached_property
    def of_two(self) -> bool:
        """Whether it names a second effector, `Goal.to`."""
        return "to" in self.fields and not self.grips

    @cached_property
    def of_documents(self) -> bool:
        """Whether a document holds such goals among those of its effectors; functions cannot be saved."""
        return self.built_in and bool(self.named_by) and not self.grips

    @cached_property
    def has_point(self) -> bool:
        """Whether it has a point of the world: a position, the centre of a distance or the target of an aim."""
        return "target" in self.fields

    @cached_property
    def has_rotation(self) -> bool:
        """Whether it has a target rotation of the effector."""
        return "target_rotation" in self.fields

    @cached_property
    def targets(self) -> frozenset[str]:
        """Those of "target" and "target_rotation" of a `Goal` that such goals have, in the world or another frame."""
        rows = {"target": Measure.RELATIVE_POINT, "target_rotation": Measure.RELATIVE_ROTATION}
        held = {name for name, one in rows.items() if self.relative and one in self.measures}
        return frozenset(held.union(name for name in rows if name in self.fields))

    @cached_property
    def has_target(self) -> bool:
        """Whether it has a point or a rotation that can be moved; other kinds have only numbers."""
        return self.has_point or self.has_rotation

    @cached_property
    def sets_pose(self) -> bool:
        """Whether it sets a position, a rotation or both, and nothing else: it can be pinned."""
        return bool(self.rows) and self.measures <= {Measure.POINT, Measure.ROTATION}

    @cached_property
    def metres(self) -> bool:
        """Whether its error has lengths; functions, whose residuals have any unit, count as such."""
        return not self.rows or self.lengths > 0

    @cached_property
    def radians(self) -> bool:
        """Whether its error has angles."""
        return self.angles > 0

    @cached_property
    def of_several_limbs(self) -> bool:
        """Whether joints of several limbs move it."""
        return self.grips or any(measure.shared for measure in self.measures)
