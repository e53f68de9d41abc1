"""What the state file says: the words in the corner of the view, and where the work is kept."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import AddProp, MoveTargets, Prop, SetContact, SetGoal, SetSolver
from ui_person import Person

from viewer.document import Item
from viewer.ui import state_of

if TYPE_CHECKING:
    from pathlib import Path

TIP = Item("effector", "tip")


def state(person: Person) -> dict[str, Any]:
    return state_of(person.controller, (1280, 720))


def test_the_offer_to_look_for_another_way_is_a_message_as_it_is_in_the_view() -> None:
    person = Person()
    person.controller.files.open("demo:s-lock")
    session = person.controller.session
    assert state(person)["message"] is None
    session.dispatch(SetSolver(method="default"))
    session.begin_drag((TIP,))
    session.gestures.drag_to({TIP: (person.target("tip"), None)})
    person.wait(0.5)
    assert state(person)["message"] is None
    session.commit()
    assert session.escape.offered
    assert state(person)["message"] == "Stuck here: another pose meets the goals"
    assert person.controller.status().state.startswith("Stuck here: tip ")
    assert person.controller.run("solver.escape")
    person.wait(0.5)
    assert state(person)["message"] is None


def test_the_newest_message_is_told() -> None:
    person = Person()
    person.controller.view.note("first")
    person.controller.view.note("second")
    assert state(person)["message"] == "second"


def test_the_file_is_the_one_that_the_work_was_saved_to(tmp_path: Path) -> None:
    person = Person("sample:walk")
    assert (state(person)["file"], state(person)["session"]) == ("sample:walk", None)
    path = tmp_path / "act.ikv.json"
    person.controller.files.save_to(path)
    assert (state(person)["file"], state(person)["session"]) == (str(path), str(path))
    person.controller.files.open("sample:biped")
    assert (state(person)["file"], state(person)["session"]) == ("sample:biped", None)
    person.controller.files.open(path)
    assert state(person)["file"] == str(path)


def test_a_goal_that_gives_way_is_said_to() -> None:
    person = Person()
    session = person.controller.session
    session.dispatch(SetGoal("RightHand", level=2))
    levels = {goal["id"]: goal["level"] for goal in state(person)["goals"]}
    assert levels == {"LeftHand": 1, "RightHand": 2, "LeftFoot": 0, "RightFoot": 0, "Head": 1}
    away = np.array([2.0, 0.3, 0.0])
    session.dispatch(MoveTargets({"LeftHand": (away, None), "RightHand": (-away, None)}))
    person.wait(0.5)
    goals = {goal["id"]: goal for goal in state(person)["goals"]}
    assert list(goals["LeftHand"]) == ["id", "kind", "effector", "level", "error_m", "error_deg", "yields"]
    assert goals["RightHand"]["error_m"] > goals["LeftHand"]["error_m"]
    assert [name for name, goal in goals.items() if goal["yields"]] == ["RightHand"]


def test_what_touches_and_what_stands_around_is_said() -> None:
    person = Person()
    session = person.controller.session
    assert (state(person)["contact"], state(person)["contacts"], state(person)["props"]) == (False, [], [])
    session.dispatch(AddProp(Prop(name="ball", center=(0.75, 1.0, 0.25), radius=0.125)))
    session.dispatch(SetContact(on=True))
    found = state(person)
    assert found["contact"]
    assert {(one["body"], one["other"]) for one in found["contacts"]} >= {("LeftFoot", "floor"), ("RightFoot", "floor")}
    assert all(list(one) == ["body", "other", "depth_m", "point"] for one in found["contacts"])
    (ball,) = found["props"]
    assert (ball["name"], ball["shape"], ball["center"]) == ("ball", "sphere", [0.75, 1.0, 0.25])
    assert ball["screen"] == pytest.approx(person.pixel(np.array((0.75, 1.0, 0.25))))
