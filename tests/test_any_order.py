"""Any actions in any order: each document is sound, its file holds it all, and undo and replays lead to the same bits.

The random user of `restless` poses, drags, plays and keys; this one also builds, layers, plants, grips and mirrors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from inside.document import Blend, Prop, Shape, Tangent, actions as act, base_Action as Action, kinds_for
from inside.session import load_session, save_session
from restless import Restless, faults
from scripts import recorded, same
from soaking import check_history

from viewer.document import GoalLayer, Item

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from viewer.document import Document
    from viewer.session import Session

pytestmark = pytest.mark.usefixtures("kernels_not_ready")

JOINT_KINDS = ("ball", "hinge", "universal", "slide", "fixed", "free")
GOAL_KINDS = (*kinds_for(1), *kinds_for(2))


class Tireless(Restless):
    """A random user of all actions."""

    def edit(self) -> Action:
        groups = (super().edit, super().edit, self._built, self._aimed, self._moved, self._touched, self._curved)
        return self.one(groups)()

    def name(self, some: Iterable[str]) -> str:
        return self.one((*some, "none"))

    def way(self, scale: float = 1.0) -> tuple[float, float, float]:
        x, y, z = self.random.uniform(-scale, scale, 3).tolist()
        return x, y, z

    def frame(self) -> int:
        return int(self.random.integers(40))

    def goal(self) -> str:
        return self.name(goal.id for goal in self.document.goals)

    def prop(self) -> str:
        return self.name(prop.name for prop in self.document.contact.props)

    def layer(self) -> str:
        take = self.document.take
        return self.name(layer.id for layer in (take.layers if take is not None else ()))

    def _built(self) -> Action:
        joint, mirror = self.joint(), self.often(0.3)
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.AddJoint(joint, self.way(0.5), kind=self.one(JOINT_KINDS), mirror=mirror),
            lambda: act.MoveJoint(joint, self.way(0.5), children=self.often(0.5), mirror=mirror),
            lambda: act.SplitBone(joint, float(self.random.uniform(0.1, 0.9)), mirror=mirror),
            lambda: act.RemoveJoint(joint, branch=self.often(0.3), mirror=mirror),
            lambda: act.SetKind(joint, self.one(JOINT_KINDS), mirror=mirror),
            lambda: act.Reparent(joint, self.joint()),
            lambda: act.MirrorBranch(joint),
            lambda: act.DuplicateBranch(joint, self.way(0.3)),
            lambda: act.RenameJoint(joint, self.one(("Paw", "LeftHand_2", "balance", f"{joint} 2"))),
            lambda: act.SetUnits(self.one(("cm", "m")), self.one(("y", "z"))),
            lambda: act.SetRadius(joint, float(self.random.uniform(0.01, 0.2))),
            act.ReadyToPose,
        )
        return self.one(makers)()

    def _aimed(self) -> Action:
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.AddGoalForTwo(self.effector(), self.effector(), self.one(kinds_for(2))),
            lambda: act.HoldTogether(self.effector(), self.effector()),
            lambda: act.AddGoal(self.effector(), self.one(kinds_for(1))),
            lambda: act.RemoveGoal(self.goal()),
            lambda: act.ReleaseEffector(self.goal(), select_next=self.often(0.5)),
            lambda: act.SetGoal(self.goal(), enabled=self.often(0.7), level=int(self.random.integers(4))),
            lambda: act.SetGoalKind(self.goal(), self.one(GOAL_KINDS)),
            lambda: act.MoveTargets({self.goal(): (self.place(), None)}),
            lambda: act.SetBalance(on=self.often(0.6)),
        )
        return self.one(makers)()

    def _moved(self) -> Action:
        first, begins, ends, last = sorted(self.frame() for _ in range(4))
        space = self.one(("", self.joint(), self.prop()))
        window = {"first": first, "full": (begins, ends), "last": last, "space": space}
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.AddLayer(GoalLayer(id="a", effector=self.joint(), position=self.way(), **window)),  # type: ignore[arg-type]
            lambda: act.AddLayer(GoalLayer(id="b", effector=self.effector(), position=self.way(), **window)),  # type: ignore[arg-type]
            lambda: act.SetLayer(self.layer(), weight=float(self.random.random()), on=self.often(0.8)),
            lambda: act.SetLayer(self.layer(), space=space),
            lambda: act.Select((Item("layer", self.layer()),)),
            lambda: act.RemoveLayer(self.layer()),
            act.BakeLayers,
            act.PlantFeet,
            lambda: act.SetFeet(weight=float(self.random.random()), on=self.often(0.7)),
            act.RemoveFeet,
            lambda: act.MovePoint(self.item(), self.frame(), self.way(), 2),
            lambda: act.SetClip(self.one((*self.document.character.clips, None))),
            lambda: act.SetMarker(self.frame(), "Contact"),
        )
        return self.one(makers)()

    def _touched(self) -> Action:
        new = self.one(("p", "q"))
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.AddProp(Prop(name=new, shape=self.one((Shape.SPHERE, Shape.BOX)), center=self.way())),
            lambda: act.SetProp(self.prop(), center=self.way()),
            lambda: act.RenameProp(self.prop(), new),
            lambda: act.RemoveProp(self.prop()),
            lambda: act.SetGrip(self.joint(), self.one((self.prop(), None))),
            lambda: act.Select((Item("prop", self.prop()),), "add"),
            lambda: act.SetContact(on=self.often(0.5), floor=self.often(0.5)),
            act.MirrorPose,
        )
        return self.one(makers)()

    def _curved(self) -> Action:
        key = self.key()
        joint = self.document.skeleton.names[key.joint]
        makers: tuple[Callable[[], Action], ...] = (
            lambda: act.SetTangents((key,), self.one(tuple(Tangent))),
            lambda: act.SetSlope(joint, key.frame, 0, float(self.random.normal())),
            lambda: act.SetKeyValue(joint, key.frame, 0, float(self.random.normal())),
            lambda: act.SetBlend(None, self.one(Blend)),
            lambda: act.KeyPose(self.frame()),
        )
        return self.one(makers)()


def wrong(document: Document) -> list[str]:
    """What must never be in a document."""
    found = [fault for fault in faults(document) if not fault.startswith("handles")]
    first = [goal.effector for goal in document.goals if goal.id == goal.effector]
    if first != [effector.name for effector in document.skeleton.effectors]:
        found.append("an effector has no goal of its name")
    linked = {end for goal in document.goals if goal.of_two and goal.enabled for end in goal.ends}
    found += [f"{goal.id} follows nothing" for goal in document.goals if goal.follows and goal.effector not in linked]
    return found + [f"{item} is selected and gone" for item in document.selection if not document.has(item)]


@pytest.mark.parametrize(("name", "seed"), [("walk", 3), ("walk", 8), ("biped-hands", 5), ("claw-arm", 7)])
def test_documents_stay_sound_and_files_and_replays_and_undo_exact(name: str, seed: int, tmp_path: Path) -> None:
    made: Session = recorded(name)
    hands = Tireless(made, seed)
    for _ in range(5):
        for _ in range(8):
            hands.act()
            assert wrong(made.document) == [], made.history.labels[-1:]
        made.commit()
        save_session(made.document, tmp_path / "a.ikv.json")
        assert load_session(tmp_path / "a.ikv.json").same_as(made.document), made.history.labels[-8:]
    made.stop_recording()
    made.commit()
    same(made, tmp_path, times=1)
    check_history(made)
