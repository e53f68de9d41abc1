"""Grips of a document: which hand closes on which prop, and the goals that ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from viewer.document.contact import DocumentContact, Prop, solver_contact
from viewer.errors import InputError
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.grip import fingers_of
from viewer.skeleton import Skeleton, find_figure, find_place
from viewer.spatial.checks import Floats

GRIP_LEVEL = 2
"""Of the goals: their fingers come after holds, which so keep the hand where it is."""


def grip_id(hand: str) -> str:
    """The id of the goal for a hand's grip."""
    return f"{hand} grip"


@lru_cache(maxsize=16)
def solver_grips(contact: DocumentContact, skeleton: Skeleton) -> Mapping[str, Goal]:
    """The goals for grips as the solver takes them, by id; none for props that do not count or cannot be touched."""
    found = solver_contact(contact, skeleton) if contact.grips else None
    there = {one.name for one in found.objects} if found is not None else set()
    goals = {
        grip_id(hand): Goal.grip(hand, prop, level=GRIP_LEVEL, id=grip_id(hand))
        for hand, prop in contact.grips
        if prop in there and is_hand(skeleton, hand)
    }
    return MappingProxyType(goals)


def grips(goal: Goal) -> bool:
    """Whether a goal is a grip, which a document has beside those of its effectors."""
    return KINDS[goal.kind].grips


def grips_from(goals: Iterable[Goal], skeleton: Skeleton) -> tuple[tuple[str, str], ...]:
    """Hands and props of the grips among some goals that are enabled; a hand's last one counts.

    Raises:
        InputError: an effector that is not there, or no hand.
    """
    pairs: dict[str, str] = {}
    for goal in filter(grips, goals):
        fingers_of(skeleton, goal.effector)
        if goal.enabled:
            pairs[skeleton.names[find_place(skeleton, goal.effector).joint]] = goal.to
    return tuple(pairs.items())


@lru_cache(maxsize=64)
def is_hand(skeleton: Skeleton, name: str) -> bool:
    """Whether a joint has fingers that can close; hips, whose branches are legs, are no hand."""
    figure = find_figure(skeleton)
    if figure is not None and name in {skeleton.names[joint] for joint in (figure.pelvis, figure.trunk, figure.chest)}:
        return False
    try:
        fingers_of(skeleton, name)
    except InputError:
        return False
    return True


def hand_above(skeleton: Skeleton, joint: int) -> str | None:
    """The hand that a joint is or belongs to; None for others."""
    while joint >= 0:
        if is_hand(skeleton, skeleton.names[joint]):
            return skeleton.names[joint]
        joint = int(skeleton.parents[joint])
    return None


def nearest_prop(contact: DocumentContact, place: Floats) -> Prop | None:
    """The prop whose middle is nearest to a place (3,), metres; None without props."""
    return min(contact.props, key=lambda prop: float(np.linalg.norm(np.subtract(prop.handle, place))), default=None)
