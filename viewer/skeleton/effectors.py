"""Effectors: the places on a skeleton that goals are for, and how a goal's name finds one."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from viewer.errors import InputError, unknown_name

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
