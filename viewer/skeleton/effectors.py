"""Effectors: the places on a skeleton that goals are for, and how a goal's name finds one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton.checks import member, text, whole
from viewer.spatial.checks import finite_floats

if TYPE_CHECKING:
    from viewer.skeleton.skeleton import Skeleton


class EffectorGoal(StrEnum):
    """What an effector holds when a file opens; the values are the words of the skeleton file."""

    POSITION = "position"
    ROTATION = "rotation"
    POSE = "position+rotation"
    OFF = "off"


@dataclass(frozen=True, slots=True)
class Effector:
    """A point fixed to a joint.

    Attributes:
        name: unique among effectors.
        joint: index of the joint.
        offset: metres, in the joint's frame.
        goal: what it holds when the file opens.
    """

    name: str
    joint: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    goal: EffectorGoal = EffectorGoal.POSITION

    def __post_init__(self) -> None:
        """Take plain numbers and the goal's word.

        Raises:
            InputError: an empty name, no index of a joint, an offset that is no finite vector, an unknown goal.
        """
        name = text(self.name, "effector name", empty=False)
        what = f"effector {quote(name)}"
        joint: object = self.joint
        if isinstance(joint, str):
            raise InputError(f"{what}: joint: expected its index, found {quote(joint)}: skeleton.index gives it")
        x, y, z = finite_floats(self.offset, (3,), f"{what}: offset").tolist()
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "joint", whole(self.joint, f"{what}: joint"))
        object.__setattr__(self, "offset", (x, y, z))
        object.__setattr__(self, "goal", member(EffectorGoal, self.goal, f"{what}: goal"))


def find_place(skeleton: Skeleton, name: str) -> Effector:
    """The place a goal names: a defined effector, a joint, or an end site ``PARENT.tip``, in this order.

    Raises:
        InputError: none of these; near names are offered.
    """
    for effector in skeleton.effectors:
        if effector.name == name:
            return effector
    if name in skeleton.names:
        return Effector(name, skeleton.names.index(name))
    tips = skeleton.tip_names
    if name in tips:
        tip = tips.index(name)
        x, y, z = skeleton.tip_offsets[tip].tolist()
        return Effector(name, int(skeleton.tip_parents[tip]), (x, y, z))
    known = dict.fromkeys([e.name for e in skeleton.effectors] + [*skeleton.names, *tips])
    raise InputError(unknown_name("effector, joint or tip", name, known))
