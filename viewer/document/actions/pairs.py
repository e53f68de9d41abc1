"""The action that makes two effectors hold together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from viewer.document.default_goals import world_of
from viewer.document.document import Action, Document
from viewer.document.goal import DocumentGoal
from viewer.document.pairs import as_they_are, led, pairs_of
from viewer.errors import InputError, quote
from viewer.ik.goals import GoalKind
from viewer.skeleton import FreeNames

FIRM = 10.0
"""Weight of such a goal: out of reach the dragged hand stops, rather than that the other lets go."""


@dataclass(frozen=True, slots=True)
class HoldTogether(Action):
    """Keep two effectors to each other as they are: where one goes, the other follows.

    The second one's hold is switched off if the first one has a goal of its own, else it leads.

    Attributes:
        effector: whose goal it is.
        to: the other effector.
    """

    effector: str
    to: str
    solves: ClassVar[bool] = True

    @property
    def label(self) -> str:
        return f"Hold {self.effector} and {self.to} together"

    def apply(self, document: Document) -> Document:
        own, other = document.goal(self.effector), document.goal(self.to)
        pair = {own.effector, other.effector}
        if any({goal.effector, goal.to} == pair for goal in pairs_of(document)):
            raise InputError(f"{quote(own.effector)} and {quote(other.effector)} are held together already")
        names = (*document.skeleton.names, *document.skeleton.tip_names, *(goal.id for goal in document.goals))
        goal = DocumentGoal(
            effector=own.effector,
            id=FreeNames(names).numbered(own.effector),
            to=other.effector,
            weight=FIRM,
            rotation_weight=FIRM,
            enabled=False,
        )
        goal = as_they_are(document.skeleton, world_of(document.skeleton, document.pose), goal)
        goal = replace(goal, kind=GoalKind.RELATIVE, enabled=True)
        document = replace(document, goals=(*document.goals, goal))
        leads = any(one.placed for one in document.goals_of(own.effector))
        return led(document, [own.effector if leads else other.effector])
