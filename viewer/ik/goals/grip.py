"""Goals for a grip: the fingers of a hand close on an object of the contact.

It has no rows of its own: `viewer.ik.grips` replaces it by a position goal for each fingertip.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import Constants, FileKey, Kind
from viewer.skeleton import Skeleton, effector_of
from viewer.spatial.checks import Vector

_FEWEST = 2


class Finger(NamedTuple):
    """A branch of a hand.

    Attributes:
        name: in words: "thumb", or the name of its first joint.
        joints: from the hand outwards.
        tip: metres in the frame of the last one.
    """

    name: str
    joints: tuple[int, ...]
    tip: Vector


def fingers_of(skeleton: Skeleton, hand: str) -> list[Finger]:
    """The branches of a hand that do not branch again, two at least.

    Raises:
        InputError: an effector that is not there, or a joint that has no fingers.
    """
    place = effector_of(skeleton, hand)
    fingers = []
    for first in np.flatnonzero(skeleton.parents == place.joint).tolist():
        joints = [first]
        while len(children := np.flatnonzero(skeleton.parents == joints[-1])) == 1:
            joints.append(int(children[0]))
        tips = skeleton.tip_offsets[skeleton.tip_parents == joints[-1]]
        if len(children) == 0:
            x, y, z = tips.mean(axis=0).tolist() if len(tips) else (0.0, 0.0, 0.0)
            name = _finger_name(skeleton.names[first], skeleton.names[place.joint])
            fingers.append(Finger(name, tuple(joints), (x, y, z)))
    if len(fingers) < _FEWEST:
        found = "none" if not fingers else "one"
        what = f"grip goal for {quote(hand)}"
        raise InputError(f"{what}: expected a hand, a joint with {_FEWEST} or more fingers, found {found}")
    return fingers


def _finger_name(joint: str, hand: str) -> str:
    """``RightHandThumb1`` of ``RightHand`` is the "thumb"."""
    rest = joint.removeprefix(hand).strip("_.- 0123456789")
    return rest.lower() if rest != joint and rest.isalpha() else joint


def grip_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The hand's joint; an InputError without such an effector, or for one without fingers."""
    fingers_of(skeleton, goal.effector)
    return Constants(effector_of(skeleton, goal.effector).joint, goal.offset)


KIND = Kind(
    word="grip",
    title="Grip",
    hint="Close the fingers of a hand on an object",
    keys={"object": FileKey("to", "Of `grip`, the name of an object of the contact.")},
    named_by="grip",
    since=2,
    constants=grip_constants,
    grips=True,
)
KINDS = (KIND,)
