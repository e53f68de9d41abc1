"""A distance from a point and an aim at it are goals about one point: it moves for both."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import MoveTargets, SetGoal, linked_goals
from inside.session import find_demo
from ui_person import Person

from viewer.document import Item
from viewer.session import Session


def ball() -> Person:
    person = Person()
    person.controller.files.open("demo:ball")
    person.controller.session.targets.pause()
    return person


def places(session: Session) -> list[tuple[float, float, float] | None]:
    return [session.document.goal(name).position for name in ("wrist", "wrist_2")]


def test_the_ball_is_one_for_both_goals_while_it_is_dragged_and_afterwards() -> None:
    person = ball()
    assert linked_goals(person.document, "wrist") == ("wrist_2",)
    before = places(person.controller.session)
    person.pull(person.pixel(person.target("wrist")), (70.0, -50.0))
    first, second = places(person.controller.session)
    assert first == second != before[0]
    person.release(*person.pixel(person.target("wrist")))
    person.wait()
    assert places(person.controller.session) == [first, first]
    assert person.controller.session.history.labels[-1] == "Drag wrist"
    assert person.selected == ["wrist"]
    person.key("ctrl+z")
    assert places(person.controller.session) == before


def test_out_of_reach_the_arm_points_at_it_all_the_same() -> None:
    session = Session(find_demo("ball").build())
    session.begin_drag((Item("effector", "wrist"),), None)
    session.gestures.drag_to({Item("effector", "wrist"): (np.array([0.3, 0.9, 2.0]), None)})
    for tick in range(60):
        session.tick(tick / 60)
    session.commit()
    errors = session.errors
    assert not errors["wrist"].reached
    assert errors["wrist_2"].degrees == pytest.approx(0.0, abs=0.1)


def test_numbers_and_keys_move_it_for_both_and_back() -> None:
    session = Session(find_demo("ball").build())
    before = places(session)
    session.dispatch(MoveTargets({"wrist_2": ((0.1, 0.5, 0.5), None)}))
    assert places(session) == [(0.1, 0.5, 0.5), (0.1, 0.5, 0.5)]
    session.undo()
    assert places(session) == before


def test_goals_that_were_parted_stay_apart_and_holds_share_nothing() -> None:
    session = Session(find_demo("ball").build())
    session.dispatch(SetGoal("wrist_2", position=(0.0, 0.6, 0.6)))
    assert linked_goals(session.document, "wrist") == ()
    session.dispatch(MoveTargets({"wrist": ((0.1, 0.5, 0.5), None)}))
    assert places(session) == [(0.1, 0.5, 0.5), (0.0, 0.6, 0.6)]
    person = Person()
    assert all(linked_goals(person.document, handle.effector) == () for handle in person.document.goals)


def test_both_can_be_given_places_of_their_own_at_once() -> None:
    session = Session(find_demo("ball").build())
    session.dispatch(MoveTargets({"wrist": ((0.1, 0.5, 0.5), None), "wrist_2": ((0.0, 0.6, 0.6), None)}))
    assert places(session) == [(0.1, 0.5, 0.5), (0.0, 0.6, 0.6)]
