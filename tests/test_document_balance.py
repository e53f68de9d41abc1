"""Balance of a document: what drags keep, undo and replay, the key, the words, what is refused, and goals files."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from inside.document import (
    AddGoal,
    DocumentBalance,
    HoldTogether,
    MoveTargets,
    ReleaseEffector,
    RenameJoint,
    Select,
    SetBalance,
    SetContact,
    SetGoal,
    SetPose,
    SetUnits,
    goals_of,
    standing,
)
from inside.formats import goals_to_json, read_goals_file
from inside.session import Demo, Preferences, find_demo, load_session, save_session
from sessions import QUICK, character
from ui_person import Person

from viewer import Goal, Solver
from viewer.document import Document, Item, new_document
from viewer.errors import InputError
from viewer.session import Session
from viewer.skeleton import Pose
from viewer.ui import Controller, Drop

HANDS = ("LeftHand", "RightHand")
MARGIN = 0.03
SEED = 20_417
DRAGS = 20


def session(*, margin: float = MARGIN) -> Session:
    document = new_document(character("biped"))
    document = replace(document, solver=replace(document.solver, backend=QUICK))
    made = Session(document)
    made.dispatch(SetBalance(on=True, margin=margin))
    return made


def far(number: int, rng: np.random.Generator) -> tuple[str, np.ndarray[tuple[int, ...], np.dtype[np.float64]]]:
    """A part, and by how much it is dragged: 0.4 to 1.2 m any way."""
    way = rng.normal(size=3)
    return (*HANDS, "Head")[number % 3], rng.uniform(0.4, 1.2) * way / np.linalg.norm(way)


def pulled(made: Session, name: str, by: np.ndarray[tuple[int, ...], np.dtype[np.float64]], ticks: int = 60) -> float:
    """Drag by so much and let go; the least margin on the way, metres."""
    item, least = Item("effector", name), np.inf
    start = np.array(made.document.goal(name).position)
    made.begin_drag((item,))
    for tick in range(ticks):
        made.gestures.drag_to({item: (start + min(1.0, (tick + 1) / 40) * by, None)})
        made.tick(tick / 60)
        least = min(least, standing(made.document).margin)
    made.commit()
    return float(least)


def test_after_far_drags_among_holds_the_centre_of_mass_is_inside_by_the_margin() -> None:
    """The feet stay pinned, and most hands arrive: without balance two thirds of these drags end in a fall."""
    rng, met = np.random.default_rng(SEED), 0
    for number in range(DRAGS):
        made = session()
        name, by = far(number, rng)
        least = pulled(made, name, by)
        assert least >= MARGIN - 0.01, (number, name)
        assert standing(made.document).margin >= MARGIN - 1e-3, (number, name)
        errors = made.errors
        assert max(errors[foot].metres or 0.0 for foot in ("LeftFoot", "RightFoot")) < 1e-3
        met += name in HANDS and errors[name].reached
    assert met >= 6


def test_a_drag_that_keeps_balance_reaches_what_falls_without() -> None:
    target = np.array((0.1, -0.5, 0.7))
    falls, stays = Session(replace(session().document, balance=DocumentBalance())), session()
    for made in (falls, stays):
        pulled(made, "LeftHand", target)
        assert made.errors["LeftHand"].reached
    assert standing(falls.document).margin < 0.0
    assert standing(stays.document).margin >= MARGIN - 1e-3


def test_the_body_comes_home() -> None:
    made = session()
    before = made.document
    pulled(made, "LeftHand", np.array((0.3, -0.4, 0.6)))
    pulled(made, "LeftHand", np.array((-0.3, 0.4, -0.6)))
    assert standing(made.document).margin >= MARGIN - 1e-3
    assert made.errors["LeftHand"].reached
    assert before.balance == made.document.balance


def test_undo_and_redo_are_exact() -> None:
    made = session()
    start = made.document
    pulled(made, "RightHand", np.array((-0.5, 0.2, 0.5)), ticks=20)
    end = made.document
    assert made.history.labels == ("Balance on", "Drag RightHand")
    assert made.undo()
    assert made.document is start
    assert made.undo()
    assert made.document.balance == DocumentBalance()
    assert made.redo()
    assert made.redo()
    assert made.document is end


def test_switching_it_on_brings_a_falling_body_to_its_feet() -> None:
    made = Session(new_document(character("biped")))
    pulled(made, "Head", np.array((0.0, 0.0, 0.6)))
    assert standing(made.document).margin < 0.0
    made.dispatch(SetBalance(on=True))
    assert standing(made.document).margin >= MARGIN - 1e-3


def test_a_saved_session_has_it(tmp_path: Path) -> None:
    made = session(margin=0.045)
    path = tmp_path / "work.ikv.json"
    save_session(made.document, path)
    assert load_session(path).same_as(made.document)
    assert load_session(path).balance == DocumentBalance(on=True, margin=0.045)


def test_its_lengths_follow_the_units_of_the_file() -> None:
    made = session(margin=0.05)
    size = made.document.character.source.metres_per_unit
    made.dispatch(SetUnits("inch"))
    scale = made.document.character.source.metres_per_unit / size
    assert made.document.balance.margin == pytest.approx(0.05 * scale)
    made.dispatch(SetBalance(on=False))
    made.dispatch(SetUnits("m"))
    assert made.document.balance.margin == MARGIN


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"margin": -0.01}, "balance: margin: expected a finite number, 0 to 1e+07, found -0.01"),
        ({"margin": np.nan}, "balance: margin: expected a finite number, 0 to 1e+07, found nan"),
        ({"margin": np.inf}, "balance: margin: expected a finite number, 0 to 1e+07, found inf"),
        ({"margin": "wide"}, 'balance: margin: expected a number, found "wide"'),
        ({"level": 4}, "balance: level: expected a whole number, 0 to 3, found 4"),
        ({"weight": 0.0}, "balance: weight: expected a finite number above 0, found 0"),
        ({"on": 1}, "balance: on: expected True or False, found 1"),
        ({"floor": 0.0}, 'no setting of balance "floor"; there is "on", "margin", "weight", "level", "height"'),
    ],
)
def test_bad_settings_are_refused_by_name(changes: dict[str, object], message: str) -> None:
    made = session()
    before = made.document
    with pytest.raises(InputError) as caught:
        made.dispatch(SetBalance(**changes))
    assert str(caught.value) == message
    assert made.document is before


def test_its_goal_is_called_otherwise_where_an_effector_has_its_name() -> None:
    made = Session(new_document(character("biped")))
    made.dispatch(RenameJoint("Head", "balance"))
    made.dispatch(SetBalance(on=True))
    assert made.document.balance_id == "balance_2"
    assert list(made.document.solver_goals())[-1] == "balance_2"
    assert {"balance", "balance_2"} <= made.errors.keys()


# In the window


@pytest.fixture
def person() -> Person:
    return Person()


def test_the_key_switches_it_and_is_one_step(person: Person) -> None:
    person.key("shift+b")
    assert person.document.balance == DocumentBalance(on=True)
    assert person.controller.checked("balance.keep")
    assert person.controller.session.history.labels == ("Balance on",)
    assert person.controller.scene().display.balance
    person.key("shift+b")
    assert person.document.balance == DocumentBalance()
    assert not person.controller.scene().display.balance
    person.key("ctrl+z")
    assert person.controller.checked("balance.keep")


def test_the_picture_can_be_shown_without_keeping_balance(person: Person) -> None:
    person.controller.run("show.balance")
    assert person.controller.scene().display.balance
    assert not person.document.balance.on
    assert person.controller.status().modes == (words_of(person.document),)


def test_the_status_line_says_how_the_figure_stands(person: Person) -> None:
    person.key("shift+b")
    line = person.controller.status()
    assert line.modes == ("balanced, 3 cm to spare",)
    assert "balance" not in line.goals
    made = person.controller.session
    made.dispatch(SetBalance(margin=0.06))
    assert person.controller.status().modes == ("balanced, 6 cm to spare",)


def words_of(document: Document) -> str:
    return f"balanced, {100.0 * standing(document).margin:.0f} cm to spare"


def test_without_anything_to_stand_on_it_is_idle_and_said(person: Person) -> None:
    made = person.controller.session
    for goal in made.document.goals:
        made.dispatch(ReleaseEffector(goal.id))
    shifts = np.array(made.document.pose.translations)
    shifts[made.document.skeleton.roots, 1] += 1.0
    made.dispatch(SetPose(Pose(made.document.pose.rotations, shifts)))
    before = made.document.pose
    person.key("shift+b")
    assert person.controller.status().modes == ("Nothing stands on the floor",)
    assert person.controller.status().state == "Converged"
    assert made.document.pose.same_as(before)
    assert made.errors["balance"].metres is None


def test_what_balance_holds_back_is_said(person: Person) -> None:
    person.key("shift+b")
    made = person.controller.session
    made.dispatch(MoveTargets({"LeftHand": ((1.3, 0.8, -0.2), None)}))
    made.dispatch(Select((Item("effector", "LeftHand"),)))
    made.solve()
    line = person.controller.status()
    assert made.report is not None
    assert made.report.status != "converged"
    assert line.state.startswith(("Held back by balance: LeftHand ", "Out of reach: LeftHand "))


def test_the_floor_is_the_ground_that_is_drawn() -> None:
    """A figure whose origin is at its hips stands on its feet, not at 0; contact's floor comes first."""
    biped = character("biped")
    shifts = biped.skeleton.offsets.copy()
    shifts[biped.skeleton.roots, 1] = 0.0
    hung = replace(biped, skeleton=replace(biped.skeleton, offsets=shifts), clips={})
    controller = Controller(Session(new_document(hung)), Preferences())
    controller.run("balance.keep")
    document = controller.session.document
    assert document.floor == controller.scene().floor < -0.5
    assert len(standing(document).support) > 2
    assert standing(document).margin >= MARGIN - 1e-3
    controller.session.dispatch(SetContact(on=True, height=document.floor - 0.01))
    assert controller.session.document.floor == document.floor - 0.01


# Goals files


def test_goals_that_are_saved_in_the_window_open_as_they_were(person: Person, tmp_path: Path) -> None:
    made = person.controller.session
    made.dispatch(SetBalance(on=True, margin=0.045, level=2))
    made.dispatch(SetGoal("LeftHand", level=0, weight=0.5))
    made.dispatch(MoveTargets({"LeftHand": ((0.4, 1.2, 0.4), None)}))
    made.dispatch(HoldTogether("RightHand", "Head"))
    made.dispatch(ReleaseEffector("RightHand"))
    made.dispatch(AddGoal("Head", "aim"))
    made.dispatch(SetContact(on=True, bodies=False))
    path = tmp_path / "reach.json"
    assert person.controller.files.save_goals_to(path)
    goals, contact, _ = read_goals_file(path, path.name, made.document.skeleton)
    again = new_document(made.document.character, pose=made.document.pose, goals=goals)
    assert sorted(map(str, again.solver_goals().values())) == sorted(map(str, made.document.solver_goals().values()))
    assert again.balance == made.document.balance
    assert contact is not None
    assert (contact.floor, contact.bodies) == (0.0, False)
    other = Person()
    other.controller.handle(Drop((path,)))
    taken = other.document
    assert taken.balance == made.document.balance
    assert taken.contact == made.document.contact
    assert {str(goal) for goal in taken.solver_goals().values()} == {
        str(goal) for goal in made.document.solver_goals().values()
    }
    assert other.controller.session.history.labels == (f"Goals of {path.name}",)


def test_the_ground_of_a_goals_file_is_what_the_figure_stands_on(person: Person, tmp_path: Path) -> None:
    made = person.controller.session
    made.dispatch(SetBalance(on=True, height=-0.02))
    path = tmp_path / "stand.json"
    assert person.controller.files.save_goals_to(path)
    assert json.loads(path.read_text(encoding="utf-8"))["ground"] == -0.02
    other = Person()
    other.controller.handle(Drop((path,)))
    assert other.document.balance == made.document.balance
    made.dispatch(SetContact(on=True, height=-0.05))
    assert person.controller.files.save_goals_to(path)
    words = json.loads(path.read_text(encoding="utf-8"))
    assert words["contact"]["floor"] == -0.05  # which is what it stands on: to say it once is enough
    assert "ground" not in words


def test_what_is_saved_is_what_the_library_solves(person: Person, tmp_path: Path) -> None:
    person.key("shift+b")
    path = tmp_path / "stand.json"
    assert person.controller.files.save_goals_to(path)
    goals = json.loads(path.read_text(encoding="utf-8"))["goals"]
    assert goals[-1] == {"balance": {"margin": 0.03}, "weight": 5}
    assert [goal["effector"] for goal in goals if goal.get("pin")] == ["LeftFoot", "RightFoot"]
    document = person.document
    solution = Solver(document.skeleton, goals_of(document)).solve(document.pose)
    assert solution.status == "converged"


def test_goals_are_never_written_over_a_session(person: Person, tmp_path: Path) -> None:
    path = tmp_path / "work.ikv.json"
    assert not person.controller.files.save_goals_to(path)
    assert not path.exists()
    (message,) = person.controller.view.bar.messages
    assert message.text == "work.ikv.json: expected another name than that of a session, such as reach.json"


def test_a_goals_file_that_cannot_be_written_says_so(person: Person, tmp_path: Path) -> None:
    assert not person.controller.files.save_goals_to(tmp_path / "none" / "reach.json")
    (message,) = person.controller.view.bar.messages
    assert message.text.endswith("reach.json: cannot be written: its folder does not exist")


def test_goals_of_a_file_without_balance_leave_it(person: Person, tmp_path: Path) -> None:
    person.key("shift+b")
    path = tmp_path / "reach.json"
    path.write_text(goals_to_json((Goal.position("LeftHand", (0.4, 1.1, 0.3)),)), encoding="utf-8")
    person.controller.handle(Drop((path,)))
    assert person.document.balance.on


# Demos


def said(demo: Demo, made: Session) -> tuple[str, str]:
    says = demo.says(made.document)
    assert says is not None
    return says.text, says.tone


def test_the_demo_stays_on_its_feet_and_falls_without() -> None:
    demo = find_demo("balance")
    made = Session(demo.build())
    assert said(demo, made) == ("Balanced, 3 cm to spare", "ok")
    assert made.errors["RightHand"].reached
    made.dispatch(SetBalance(on=False))
    pulled(made, "RightHand", np.array((0.0, 0.0, 0.1)))
    text, tone = said(demo, made)
    assert text.startswith("Falls forward by ")
    assert tone == "warn"


def test_the_hand_of_the_last_level_gives_way() -> None:
    demo = find_demo("levels")
    made = Session(demo.build())
    assert said(demo, made)[0].startswith("Keep gave way: RightHand 22")
    assert made.errors["LeftHand"].reached
    made.dispatch(SetGoal("RightHand", level=0))
    made.dispatch(SetGoal("LeftHand", level=3))
    assert said(demo, made)[0].startswith("Maybe gave way: LeftHand 22")
    assert made.errors["RightHand"].reached
    made.dispatch(MoveTargets({"LeftHand": ((0.5, 1.1, 0.2), None)}))
    assert said(demo, made)[0] == "Both hands are at their targets"
