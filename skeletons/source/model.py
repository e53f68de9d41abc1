"""What a sample skeleton is made of: joints, effectors, a relaxed pose; and the mirror image of a left side.

All samples face +Z and have their left at +X, so the mirror plane is x = 0. Angles are degrees, as in the files.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Vector: TypeAlias = tuple[float, float, float]
Range: TypeAlias = tuple[float, float]
Turn: TypeAlias = tuple[str, float]
"""A rotation by so many degrees about a coordinate axis, such as ("z", -70)."""
Coordinates: TypeAlias = tuple[Turn | float, ...]
"""Where a joint is: turns of a ball, the first acts last; degrees of a hinge or universal; metres of a slide."""

X: Vector = (1.0, 0.0, 0.0)
Y: Vector = (0.0, 1.0, 0.0)
Z: Vector = (0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True)
class Joint:
    """One joint of a skeleton file.

    Attributes:
        name: unique.
        parent: name of the joint it hangs on, None for the root.
        offset: metres in the parent's frame.
        kind: ball, hinge, universal, slide, fixed or free.
        rest: rest rotation as turns, the first acts last; empty for none.
        axes: one axis of a hinge or slide, two of a universal.
        ranges: of hinges (degrees) and slides (metres) one, of universals two.
        x, y, z: ranges of a ball about its axes, degrees; None is unlimited.
        twist_axis: of a ball: x, y or z.
        stiffness: 0 (free) to 1 (does not move in IK).
        tips: end sites, metres in the joint's frame.
    """

    name: str
    parent: str | None
    offset: Vector
    kind: str = "ball"
    rest: tuple[Turn, ...] = ()
    axes: tuple[Vector, ...] = ()
    ranges: tuple[Range, ...] = ()
    x: Range | None = None
    y: Range | None = None
    z: Range | None = None
    twist_axis: str = ""
    stiffness: float = 0.0
    tips: tuple[Vector, ...] = ()


@dataclass(frozen=True, slots=True)
class Effector:
    """A place that goals are for: a point of a joint and what it holds when the file opens."""

    name: str
    joint: str
    offset: Vector = (0.0, 0.0, 0.0)
    goal: str = "position"


@dataclass(frozen=True, slots=True)
class Sample:
    """One skeleton file.

    Attributes:
        name: of the skeleton.
        joints: parents first.
        effectors: in the order the file lists them.
        relaxed: the pose "relaxed" per joint; what a left one has, its mirror image has too. Others are at rest.
        planted: a joint whose first tip stays where it is at rest in that pose: the root is moved so. "" for none.
    """

    name: str
    joints: tuple[Joint, ...]
    effectors: tuple[Effector, ...]
    relaxed: Mapping[str, Coordinates] = field(default_factory=dict)
    planted: str = ""


def ball(name: str, parent: str | None, offset: Vector, twist_axis: str, *ranges: Range, stiffness: float = 0.0,
         tips: tuple[Vector, ...] = ()) -> Joint:  # fmt: skip
    """A ball joint with ranges about x, y and z."""
    x, y, z = ranges
    return Joint(name, parent, offset, x=x, y=y, z=z, twist_axis=twist_axis, stiffness=stiffness, tips=tips)


def hinge(name: str, parent: str | None, offset: Vector, axis: Vector, angle: Range, *,
          stiffness: float = 0.0, tips: tuple[Vector, ...] = ()) -> Joint:  # fmt: skip
    """A hinge with one range."""
    return Joint(name, parent, offset, "hinge", (), (axis,), (angle,), stiffness=stiffness, tips=tips)


def slide(name: str, parent: str, offset: Vector, axis: Vector, distance: Range, *,
          tips: tuple[Vector, ...] = ()) -> Joint:  # fmt: skip
    """A slide with one range."""
    return Joint(name, parent, offset, "slide", (), (axis,), (distance,), tips=tips)


def chain(name: str, parent: str, offsets: tuple[Vector, Vector], *ranges: Range, twist_axis: str, count: int,
          stiffness: float = 0.0, tip: bool = True) -> list[Joint]:  # fmt: skip
    """Balls in a row, called name1, name2, ...; the offsets are the first one's and that of all others and the tip."""
    joints = []
    for i in range(1, count + 1):
        tips = (offsets[1],) if tip and i == count else ()
        above, offset = (parent, offsets[0]) if i == 1 else (f"{name}{i - 1}", offsets[1])
        joints.append(ball(f"{name}{i}", above, offset, twist_axis, *ranges, stiffness=stiffness, tips=tips))
    return joints


def both_sides(left: Iterable[Joint]) -> list[Joint]:
    """The joints of a left side followed by their mirror images."""
    joints = list(left)
    return joints + [mirror_image(joint) for joint in joints]


def mirror_image(joint: Joint) -> Joint:
    """The joint as seen in the mirror x = 0, Left and Right exchanged in its name.

    Places and directions change the sign of x. Rotations, and with them the axes of hinges and the ranges of
    balls, keep theirs about x and change it about y and z; so hinges keep their ranges.
    """
    rotates = joint.kind in {"hinge", "universal"}
    return replace(
        joint,
        name=other_side(joint.name),
        parent=other_side(joint.parent) if joint.parent else None,
        offset=_reflected(joint.offset),
        rest=mirror_turns(joint.rest),
        axes=tuple(_reflected_axis(axis) if rotates else _reflected(axis) for axis in joint.axes),
        y=_negated(joint.y),
        z=_negated(joint.z),
        tips=tuple(_reflected(tip) for tip in joint.tips),
    )


def mirror_turns(turns: tuple[Turn, ...]) -> tuple[Turn, ...]:
    """The mirror image of a rotation given as turns."""
    return tuple((axis, angle if axis == "x" else -angle) for axis, angle in turns)


def other_side(name: str) -> str:
    """LeftHand becomes RightHand; names without a side stay."""
    return "Right" + name.removeprefix("Left") if name.startswith("Left") else name


def _reflected(v: Vector) -> Vector:
    return (-v[0], v[1], v[2])


def _reflected_axis(v: Vector) -> Vector:
    return (v[0], -v[1], -v[2])


def _negated(limits: Range | None) -> Range | None:
    return None if limits is None else (-limits[1], -limits[0])
