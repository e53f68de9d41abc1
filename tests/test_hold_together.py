"""Two effectors of a document hold together: what is dragged leads, the other follows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act
from inside.session import load_session, save_session
from inside.spatial import angle_between, conjugate, multiply, rotate
from sessions import drag, place, session, settled
from ui_person import Person

import viewer
from viewer.document import Document, Item, new_document
from viewer.errors import FormatError, InputError
from viewer.ik import Goal
from viewer.session import Session
from viewer.ui import Drop

if TYPE_CHECKING:
    from inside.spatial import Floats

HANDS = "LeftHand", "RightHand"
PAIR = "LeftHand_2"
NEAR, TURNED = 1e-3, 0.5


def relation(document: Document, one: str = HANDS[0], other: str = HANDS[1]) -> tuple[Floats, Floats]:
    """Where the other joint is in the frame of one, and how it is turned there."""
    world = viewer.fk(document.skeleton, document.pose)
    a, b = document.skeleton.index(one), document.skeleton.index(other)
    back = conjugate(world.rotations[a])
    return rotate(back, world.positions[b] - world.positions[a]), multiply(back, world.rotations[b])


def assert_held(before: Document, after: Document, ends: tuple[str, str] = HANDS) -> None:
    (point, turn), (place, rotation) = relation(before, *ends), relation(after, *ends)
    assert np.linalg.norm(point - place) < NEAR
    assert np.degrees(angle_between(turn, rotation)) < TURNED


def on(document: Document) -> set[str]:
    return {goal.id for goal in document.goals if goal.enabled}


def held_at(document: Document) -> Floats:
    """Where one of the pair stands in the frame of the other."""
    return np.array(document.goal(PAIR).position, dtype=np.float64)


def together() -> Session:
    made = session("biped")
    made.dispatch(act.HoldTogether(*HANDS))
    return made


def moved(made: Session, name: str, way: tuple[float, float, float]) -> None:
    drag(made, Item("effector", name), place(made.document, name) + np.array(way))
    settled(made)
    made.commit()


def test_the_action_adds_a_goal_that_is_met_and_lets_the_second_follow() -> None:
    made = session("biped")
    before = made.document
    made.dispatch(act.HoldTogether(*HANDS))
    goal = made.document.goal(PAIR)
    assert (goal.kind, goal.effector, goal.to, goal.enabled) == ("relative", *HANDS, True)
    assert on(before) - on(made.document) == {"RightHand"}
    assert made.document.pose.is_near(before.pose)
    assert made.errors[PAIR].reached
    assert made.history.labels[-1] == "Hold LeftHand and RightHand together"
    made.undo()
    assert made.document.same_as(before)


@pytest.mark.parametrize("name", HANDS)
def test_dragging_one_hand_moves_the_other(name: str) -> None:
    made = together()
    before = made.document
    moved(made, name, (0.0, 0.2, 0.2))
    assert_held(before, made.document)
    other = next(hand for hand in HANDS if hand != name)
    joint = made.document.skeleton.index(other)
    places = [viewer.fk(one.skeleton, one.pose).positions[joint] for one in (before, made.document)]
    assert np.linalg.norm(places[1] - places[0]) > 0.1
    assert name in on(made.document)
    assert other not in on(made.document)


def test_hands_take_the_lead_in_turn() -> None:
    made = together()
    before = made.document
    for name, way in zip((*HANDS, *HANDS), ((0, 0.2, 0.1), (0.1, 0, 0.1), (0, -0.1, 0), (-0.1, 0.1, 0)), strict=True):
        moved(made, name, way)
        assert_held(before, made.document)
        assert len(on(made.document) & {*HANDS}) == 1


def test_out_of_reach_they_stay_together() -> None:
    made = together()
    before = made.document
    moved(made, "LeftHand", (3.0, 1.0, 0.0))
    assert not made.errors["LeftHand"].reached or made.document.pose is not before.pose
    (point, _), (place, _) = relation(before), relation(made.document)
    assert np.linalg.norm(point - place) < 0.03


def test_pins_of_the_other_hand_stay() -> None:
    made = session("biped")
    made.dispatch(act.SetPin("RightHand", position=True))
    made.dispatch(act.HoldTogether(*HANDS))
    assert made.document.goal("RightHand").pinned


def test_three_effectors_follow_each_other() -> None:
    made = together()
    made.dispatch(act.HoldTogether("RightHand", "Head"))
    before = made.document
    moved(made, "LeftHand", (0.02, 0.03, 0.02))
    assert_held(before, made.document)
    assert_held(before, made.document, ("RightHand", "Head"))


def test_typed_targets_lead_too() -> None:
    made = together()
    before = made.document
    target = place(before, "LeftHand") + np.array((0.0, 0.2, 0.1))
    made.dispatch(act.MoveTargets({"LeftHand": (target, None)}))
    assert_held(before, made.document)
    made.dispatch(act.MoveTargets({"RightHand": (target - np.array((0.4, 0.0, 0.0)), None)}))
    assert_held(before, made.document)
    assert on(made.document) & {*HANDS} == {"RightHand"}


def test_turned_by_hand_they_hold_together_as_they_then_are() -> None:
    made = together()
    made.dispatch(act.SetCoordinate("LeftForeArm", 0, 1.0))
    assert made.errors[PAIR].reached
    point, _ = relation(made.document)
    np.testing.assert_allclose(held_at(made.document), point, atol=1e-9)


def test_sessions_keep_it(tmp_path: Path) -> None:
    made = together()
    path = tmp_path / "held.ikv.json"
    save_session(made.document, path)
    assert load_session(path).same_as(made.document)
    path.write_text(path.read_text(encoding="utf-8").replace('"to":"RightHand"', '"to":"Nose"'), encoding="utf-8")
    with pytest.raises(FormatError, match="expected the name of an effector, found 'Nose'"):
        load_session(path)


def test_names_follow() -> None:
    made = together()
    made.dispatch(act.RenameJoint("RightHand", "Paw"))
    assert made.document.goal(PAIR).to == "Paw"
    made.dispatch(act.RemoveEffector("Paw"))
    assert PAIR not in {goal.id for goal in made.document.goals}


def test_a_size_in_other_units_scales_it() -> None:
    made = together()
    before = made.document
    made.dispatch(act.SetUnits(0.5, "y"))
    assert made.errors[PAIR].reached
    np.testing.assert_allclose(
        held_at(made.document) * float(np.linalg.norm(held_at(before))),
        held_at(before) * float(np.linalg.norm(held_at(made.document))),
        atol=1e-9,
    )


def test_its_parts_can_be_chosen() -> None:
    made = together()
    made.dispatch(act.SetGoalKind(PAIR, "relative position"))
    asked = made.document.goal(PAIR).for_solver()
    assert asked is not None
    assert asked.kind == "relative position"
    assert made.errors[PAIR].degrees is None
    made.dispatch(act.SetGoalKind(PAIR, "relative rotation"))
    assert made.errors[PAIR].metres is None


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (act.HoldTogether("RightHand", "LeftHand"), '"RightHand" and "LeftHand" are held together already'),
        (act.HoldTogether("Head", "Head"), 'relative goal for "Head": expected another effector, found itself'),
        (act.SetPin(PAIR, position=True), 'goal "LeftHand_2" holds two effectors together: it cannot be pinned'),
        (
            act.SetGoalKind("Head", "relative"),
            'goal "Head": expected a goal for two effectors, to be relative',
        ),
        (
            act.SetGoal(PAIR, to="LeftHand"),
            'goal "LeftHand_2": expected another effector beside its own, found "LeftHand"',
        ),
    ],
)
def test_what_cannot_be_is_refused(action: act.Action, message: str) -> None:
    made = together()
    before = made.document
    with pytest.raises(InputError) as caught:
        made.dispatch(action)
    assert str(caught.value) == message
    assert made.document is before


def test_a_goals_file_makes_the_other_follow() -> None:
    biped = viewer.load("sample:biped")
    document = new_document(biped, goals=[Goal.relative(*HANDS), Goal.position("RightHand", (-0.3, 1.0, 0.3))])
    assert "LeftHand" not in on(document)
    assert on(document) >= {"RightHand", PAIR}
    document = new_document(biped, goals=[Goal.relative(*HANDS, rotation=False)])
    assert "RightHand" not in on(document)
    point, _ = relation(document)
    np.testing.assert_allclose(held_at(document), point, atol=1e-9)


def test_the_command_makes_and_ends_it() -> None:
    person = Person()
    made = person.controller.session
    assert not person.controller.can("goal.hold_together")
    made.dispatch(act.Select(tuple(Item("effector", name) for name in HANDS)))
    person.controller.run("goal.hold_together")
    assert made.document.goal(PAIR).relative
    assert person.controller.checked("goal.hold_together")
    person.controller.run("goal.hold_together")
    assert PAIR not in {goal.id for goal in made.document.goals}
    assert not person.controller.checked("goal.hold_together")


@pytest.mark.parametrize("name", HANDS)
def test_a_goals_file_that_is_dropped_holds_them_as_they_were(name: str, tmp_path: Path) -> None:
    person = Person()
    made = person.controller.session
    before, target = made.document, place(made.document, name) + np.array((0.0, 0.2, 0.2))
    entries = [{"effector": name, "position": target.tolist()}, {"relative": HANDS[0], "to": HANDS[1]}]
    path = tmp_path / "goals.json"
    path.write_text(json.dumps({"version": 2, "type": "goals", "goals": entries}), encoding="utf-8")
    for again in range(2):  # it sets the same goal
        person.controller.handle(Drop((path,)))
        assert [goal.id for goal in made.document.goals if goal.relative] == [PAIR]
        assert on(made.document) & {*HANDS} == {name}
        assert made.errors[name].reached
        if not again:
            assert_held(before, made.document)
