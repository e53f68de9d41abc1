"""What goes first where not all can be met, what a drag selects, and what a solve after an action notes."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import MoveTargets, Priority, Select, SetLimits, SetMode, SetSolver, posed_goals
from sessions import FOOT, HAND, drag, item_place, place, session, shifted

from viewer import Status
from viewer.document import Grab, Item
from viewer.session import Session

TOLERANCE = 1e-3
"""Metres: that of the solver."""
FAR, UP = (0.6, 0.2, 0.2), (0.0, 0.05, 0.0)


def missed(made: Session) -> dict[str, float]:
    return {name: error.metres or 0.0 for name, error in made.errors.items()}


def pulled(*, firm: bool = False) -> Session:
    """A hand is pulled farther than the head's hold allows."""
    made = session()
    made.dispatch(SetSolver(firm_holds=firm))
    drag(made, HAND, shifted(made.document, HAND.name, FAR), ticks=80)
    made.commit()
    return made


def test_firm_holds_give_way_to_the_hand_that_is_dragged_and_pins_do_not(monkeypatch: pytest.MonkeyPatch) -> None:
    far = missed(pulled(firm=True))
    monkeypatch.setattr(posed_goals, "DRAGGED", 1.0)
    alike = missed(pulled(firm=True))
    assert far["LeftHand"] < 0.75 * alike["LeftHand"]
    assert far["Head"] > alike["Head"]
    assert max(far["LeftFoot"], far["RightFoot"]) < TOLERANCE


def test_all_holds_keep_their_targets() -> None:
    made = session()
    before = {handle.effector: handle.position for handle in made.document.goals if handle.enabled}
    drag(made, HAND, shifted(made.document, HAND.name, FAR))
    made.commit()
    after = {handle.effector: handle.position for handle in made.document.goals if handle.enabled}
    assert [name for name in before if before[name] != after[name]] == ["LeftHand"]


def test_a_setting_changed_after_the_drag_does_not_make_the_hand_give_way() -> None:
    made = pulled()
    far = missed(made)
    made.dispatch(SetLimits(on=False))
    assert missed(made)["LeftHand"] < far["LeftHand"] + TOLERANCE


def test_what_goes_first_weighs_more_than_holds_and_far_less_than_pins() -> None:
    goals = session().document.solver_goals()
    first = Priority(frozenset({"LeftHand"})).among(goals)
    assert first["LeftFoot"].weight == 30.0 * first["LeftHand"].weight
    assert first["LeftHand"].weight > first["RightHand"].weight == goals["RightHand"].weight


@pytest.mark.parametrize("levels", [False, True])
def test_pins_that_go_first_or_are_out_of_reach_come_after_the_other_pins(levels: bool) -> None:
    goals = session("quadruped").document.solver_goals()
    dragged, far, pin, _ = (name for name, goal in goals.items() if goal.pinned)
    first = Priority(frozenset({dragged, "Head"}), frozenset({far}), levels).among(goals)
    assert first[dragged].weight == first[far].weight == first["Head"].weight < first[pin].weight
    assert first[dragged].level == first[far].level == first["Head"].level
    assert (first[dragged].level > first[pin].level) == levels


@pytest.mark.parametrize("item", [HAND, FOOT, Item("joint", "Hips"), Item("joint", "LeftForeArm")])
def test_what_is_dragged_is_selected_in_the_same_step(item: Item) -> None:
    made = session()
    made.dispatch(Select((Item("effector", "Head"),)))
    before = made.document
    drag(made, item, item_place(made.document, item) + np.array(UP))
    assert made.document.selection == (item,)
    made.commit()
    assert made.history.index == 2
    made.undo()
    assert made.document is before


def test_a_grabbed_bone_is_selected() -> None:
    made = session()
    made.begin_drag((), Grab("LeftArm", (0.05, 0.0, 0.0)))
    item = Item("joint", "LeftArm")
    made.gestures.drag_to({item: (item_place(made.document, item) + np.array(UP), None)})
    made.commit()
    assert made.document.selection == (item,)


def test_dragging_one_of_several_that_are_selected_keeps_them_selected() -> None:
    made = session()
    several = (HAND, Item("effector", "RightHand"))
    made.dispatch(Select(several))
    drag(made, HAND, shifted(made.document, HAND.name, UP))
    made.commit()
    assert made.document.selection == several


def test_a_cancelled_drag_selects_nothing() -> None:
    made = session()
    drag(made, HAND, shifted(made.document, HAND.name, UP))
    made.cancel()
    assert made.document.selection == ()


def test_the_mode_alone_selects_nothing() -> None:
    made = session()
    made.dispatch(SetMode("fk"))  # type: ignore[arg-type]  # taken by value
    assert made.document.selection == ()


def test_a_solve_after_an_action_notes_its_errors_from_the_start_on() -> None:
    made = session()
    way = np.array([0.0, 0.2, 0.1])
    made.dispatch(MoveTargets({HAND.name: (place(made.document, HAND.name) + way, None)}))
    report = made.report
    assert report is not None
    assert report.steps[:3] == (0, 1, 2)
    errors = report.errors_by_iteration["LeftHand"]
    assert errors[0] == pytest.approx(float(np.linalg.norm(way)))
    assert errors[-1] < TOLERANCE


def test_a_goal_out_of_reach_is_come_near_to() -> None:
    made = session()
    made.dispatch(MoveTargets({HAND.name: (shifted(made.document, HAND.name, (3.0, 1.0, 0.0)), None)}))
    report = made.report
    assert report is not None
    assert report.status is Status.UNREACHABLE
    assert report.iterations > 2  # that it cannot be met is known at the first
    errors = report.errors_by_iteration["LeftHand"]
    assert errors[-1] < errors[1] < errors[0]
