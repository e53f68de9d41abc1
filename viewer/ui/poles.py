"""Poles of limbs: the cone in front of the elbow or knee of the selected limb, and dragging it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.document import Document, stand_of, world_of
from viewer.document import actions as act
from viewer.document.goal import Item, Mode
from viewer.gizmo import Motion
from viewer.ik.goals import KINDS, GoalKind, pole
from viewer.scene import Mark
from viewer.session import Session
from viewer.skeleton.figure import limb_middle
from viewer.spatial.checks import Floats


def goal_actions(document: Document, joint: str, kind: GoalKind) -> list[act.Action]:
    """Actions that add a goal of some kind to a joint, and make the joint an effector first if needed."""
    own = next((goal for goal in document.goals if goal.id == joint), None)
    if own is not None and own.enabled:
        return [act.AddGoal(joint, kind)]
    return [*([] if own is not None else [act.MakeEffector(joint)]), act.SetGoalKind(joint, kind)]


def limb_joint(document: Document) -> str | None:
    """The elbow or knee of the active item's limb; None if it is on no limb."""
    item = document.active_on_figure
    if item is None:
        return None
    skeleton = document.skeleton
    joint = (
        skeleton.index(item.name)
        if item.kind == "joint"
        else stand_of(skeleton, document.pose, document.goal(item.name)).joint
    )
    middle = limb_middle(skeleton, joint)
    return None if middle is None else skeleton.names[middle]


def free_pole(document: Document, hovered: Item | None) -> Mark | None:
    """The outline of a cone where the selected limb could have a pole; None if it has one, or no limb is selected."""
    joint = limb_joint(document)
    if joint is None or document.mode is Mode.FK or pole_of(document, joint) is not None:
        return None
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    index = skeleton.index(joint)
    return Mark(
        name=joint,
        joint=index,
        position=world.positions[index],
        target=np.array(pole.pole_before(skeleton, world, joint)),
        on=False,
        pole=True,
        swivel=pole.swivel_circle(skeleton, world, joint),
        hovered=hovered == Item("joint", joint),
    )


def pole_of(document: Document, joint: str) -> str | None:
    """The id of a joint's enabled pole goal, or None."""
    poles = [goal.id for goal in document.goals if goal.effector == joint and KINDS[goal.kind].spans]
    return next((name for name in poles if document.goal(name).enabled), None)


@dataclass(slots=True, eq=False)
class PoleMover:
    """Adds a pole to a limb and moves it.

    Attributes:
        joint: the limb's middle joint.
        point: (3,) metres, world: the pressed point of the cone.
    """

    joint: str
    point: Floats

    def begin(self, session: Session) -> None:
        """Begin the gesture and add the pole goal."""
        session.begin(f"Pole of {self.joint}")
        for action in goal_actions(session.document, self.joint, pole.KIND.word):
            session.gestures.update(action)

    def apply(self, session: Session, motion: Motion) -> None:
        """Move the pole."""
        position, _ = motion.apply(self.point, None)
        name = pole_of(session.document, self.joint)
        if name is not None:
            session.gestures.update(act.MoveTargets({name: (position, None)}))
