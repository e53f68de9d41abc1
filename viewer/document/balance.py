"""Whether the figure of a document keeps its balance, and by what margin, as a value that undo restores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache

from viewer.document.checks import as_flag, as_number, as_positive
from viewer.formats.bounds import FARTHEST
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.numbers import as_level
from viewer.skeleton import Balance

_MARGIN = "margin"


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
        weight: more than 0. It outweighs what is dragged, so that balance is kept while a hand reaches too far; by a
            level above it the body would find its way round less often.
        level: 0 to 3; goals of a lower number come first.
        height: of the floor that the figure stands on, metres, where contact has none.
    """

    on: bool = False
    margin: float = 0.03
    weight: float = 5.0
    level: int = 1
    height: float = 0.0

    def __post_init__(self) -> None:
        """Take plain values.

        Raises:
            InputError: a flag that is none, numbers that are not finite or out of range.
        """
        put = object.__setattr__
        put(self, "on", as_flag(self.on, "balance: on"))
        put(self, "margin", as_number(self.margin, "balance: margin", least=0.0, most=FARTHEST))
        put(self, "weight", as_positive(self.weight, "balance: weight"))
        put(self, "level", as_level(self.level, "balance: level"))
        put(self, "height", as_number(self.height, "balance: floor", least=-FARTHEST, most=FARTHEST))

    @property
    def goal(self) -> Goal | None:
        """The goal as the solver takes it; None if it is off."""
        return _goal(self.margin, self.weight, self.level) if self.on else None

    def moved(self, scale: float) -> DocumentBalance:
        """In a world that is ``scale`` times as large."""
        return replace(self, margin=scale * self.margin, height=scale * self.height)


NO_BALANCE = DocumentBalance()
"""The balance of a new document."""


@lru_cache(maxsize=8)
def _goal(margin: float, weight: float, level: int) -> Goal:
    return Goal.balance(margin, weight=weight, level=level)


def balances(goal: Goal) -> bool:
    """Whether a goal is one for balance, which a document has beside those of its effectors."""
    return KINDS[goal.kind].balances


def balance_from(goals: Iterable[Goal], before: DocumentBalance = NO_BALANCE) -> DocumentBalance:
    """The document's balance that is equal to the goals for balance among some.

    Of several the one that is enabled and has the widest margin: the others ask for no more. Without any it is as
    before.
    """
    found = max(filter(balances, goals), key=lambda goal: (goal.enabled, goal.number(_MARGIN)), default=None)
    if found is None:
        return before
    margin = found.number(_MARGIN)
    return replace(before, on=found.enabled, margin=margin, weight=found.weight, level=found.level)
