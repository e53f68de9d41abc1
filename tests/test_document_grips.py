"""Grips of a document: which hand closes on which prop, in edits, undo, files and the window."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from inside.document import (
    AddProp,
    Prop,
    ReleaseEffector,
    RemoveJoint,
    RemoveProp,
    RenameProp,
    Select,
    SetContact,
    SetGrip,
    SetProp,
    is_hand,
)
from inside.formats import goals_to_json, read_goals_file
from inside.session import load_session, save_session
from sessions import character
from ui_person import Person

from viewer import Contact, Goal, Sphere, contacts
from viewer.document import Item, new_document
from viewer.errors import InputError
from viewer.session import Session
from viewer.skeleton import Effector

BALL = Prop(name="ball", center=(-0.3, 1.0, 0.35), radius=0.045)


def gripping() -> Session:
    session = Session(new_document(character("biped-hands")))
    session.dispatch(AddProp(BALL))
    session.dispatch(ReleaseEffector("RightHand"))
    session.dispatch(SetGrip("RightHand", "ball"))
    return session


def fingers_on(session: Session) -> set[str]:
    """Fingers of the right hand that touch something that is not the figure."""
    document = session.document
    solid = [prop.solid() for prop in document.contact.props]
    found = contacts(document.skeleton, document.pose, Contact(objects=solid))
    assert all(touch.depth_m < 1e-3 for touch in found)
    names = ("Thumb", "Index", "Middle", "Ring", "Pinky")
    return {one for one in names for touch in found if touch.body.startswith(f"RightHand{one}")}


def test_a_hand_goes_to_what_it_grips_closes_on_it_and_follows_it() -> None:
    session = gripping()
    assert session.document.contact.grips == (("RightHand", "ball"),)
    assert session.document.contact.on
    assert session.errors["RightHand grip"].reached
    assert len(fingers_on(session)) >= 4
    before = session.document.pose
    session.dispatch(SetProp("ball", center=(-0.4, 1.25, 0.3)))
    assert not session.document.pose.same_as(before)
    assert session.errors["RightHand grip"].reached
    assert len(fingers_on(session)) >= 4


def test_letting_go_is_a_step_that_undo_takes_back() -> None:
    session = gripping()
    held = session.document
    session.dispatch(SetGrip("RightHand", None))
    assert session.document.contact.grips == ()
    assert "grip" not in [goal.kind for goal in session.document.solver_goals().values()]
    assert session.history.labels[-1] == "RightHand lets go"
    session.undo()
    assert session.document.same_as(held)


def test_names_of_hands_and_props_follow_and_what_is_gone_is_not_gripped() -> None:
    session = gripping()
    session.dispatch(RenameProp("ball", "apple"))
    assert session.document.contact.gripped("RightHand") == "apple"
    session.dispatch(SetContact(objects=False))
    assert "RightHand grip" not in session.document.solver_goals()  # props do not count
    session.dispatch(SetContact(objects=True))
    assert "RightHand grip" in session.document.solver_goals()
    session.dispatch(RemoveProp("apple"))
    assert session.document.contact.grips == ()


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (SetGrip("Head", "ball"), 'grip goal for "Head": expected a hand, a joint with 2 or more fingers, found none'),
        (SetGrip("RightHand", "bal"), 'no prop "bal"; did you mean "ball"?'),
        (SetGrip("RightHnd", "ball"), 'no joint "RightHnd"; did you mean "RightHand"'),
        (SetContact(grips=(("RightHand", "ball"),) * 2), 'grips: expected one of each hand, found "RightHand" twice'),
        (SetContact(grips=("RightHand",)), 'contact: grips: expected two names, found "RightHand"'),
    ],
)  # fmt: skip
def test_what_cannot_be_gripped_is_refused_by_name(action: SetGrip | SetContact, message: str) -> None:
    session = gripping()
    before = session.document
    with pytest.raises(InputError) as refused:
        session.dispatch(action)
    assert message in str(refused.value)
    assert session.document is before


def test_contact_can_be_switched_while_a_hand_that_grips_has_lost_its_fingers() -> None:
    session = gripping()
    for name in session.document.skeleton.names:
        if name.startswith("RightHand") and name != "RightHand":
            session.dispatch(RemoveJoint(name))
    assert not is_hand(session.document.skeleton, "RightHand")
    session.dispatch(SetContact(on=False))
    assert not session.document.contact.on
    with pytest.raises(InputError, match="expected a hand"):
        session.dispatch(SetContact(grips=(("RightHand", "ball"),)))


def test_a_hand_is_named_by_its_joint_so_that_the_session_can_be_opened_again(tmp_path: Path) -> None:
    read = character("biped-hands")
    palm = Effector("Palm", read.skeleton.index("RightHand"), (0.0, 0.0, 0.0))
    made = replace(read, skeleton=replace(read.skeleton, effectors=(*read.skeleton.effectors, palm)))
    session = Session(new_document(made))
    session.dispatch(AddProp(BALL))
    with pytest.raises(InputError, match='no joint "Palm"'):
        session.dispatch(SetGrip("Palm", "ball"))
    save_session(session.document, tmp_path / "grip.ikv.json")
    assert load_session(tmp_path / "grip.ikv.json").same_as(session.document)


def test_hips_are_no_hand() -> None:
    skeleton = character("biped-hands").skeleton
    assert [name for name in skeleton.names if is_hand(skeleton, name)] == ["LeftHand", "RightHand"]


def test_a_session_keeps_grips(tmp_path: Path) -> None:
    session = gripping()
    save_session(session.document, tmp_path / "grip.ikv.json")
    assert load_session(tmp_path / "grip.ikv.json").same_as(session.document)


def test_a_goals_file_with_a_grip_is_opened_and_saved(tmp_path: Path) -> None:
    path = tmp_path / "goals.json"
    ball = Sphere("ball", BALL.center, BALL.radius)
    path.write_text(goals_to_json((Goal.grip("RightHand", "ball"), Goal.pin("LeftFoot")), Contact(objects=[ball])))
    skeleton = character("biped-hands").skeleton
    goals, contact, _ = read_goals_file(path, str(path), skeleton)
    document = new_document(character("biped-hands"), goals=goals, contact=contact)
    assert document.contact.grips == (("RightHand", "ball"),)
    written = goals_to_json(tuple(document.solver_goals().values()), contact)
    assert {"grip": "RightHand", "object": "ball"}.items() <= json.loads(written)["goals"][-1].items()
    with pytest.raises(InputError, match='no prop "ball"'):
        new_document(character("biped-hands"), goals=goals)


def test_the_key_grips_what_is_nearest_or_selected_and_opens_the_hand() -> None:
    person = Person("sample:biped-hands")
    assert not person.controller.can("contact.grip")
    session: Session = person.controller.session
    session.dispatch(AddProp(BALL))
    session.dispatch(AddProp(Prop(name="far", center=(2.0, 1.0, 0.0))))
    session.dispatch(Select((Item("effector", "RightHand"),)))
    assert person.controller.can("contact.grip")
    person.key("ctrl+shift+g")
    assert session.document.contact.gripped("RightHand") == "ball"
    assert person.controller.checked("contact.grip")
    person.key("ctrl+shift+g")
    assert session.document.contact.gripped("RightHand") is None
    session.dispatch(Select((Item("prop", "far"), Item("joint", "LeftHandIndex2"))))
    person.key("ctrl+shift+g")
    assert session.document.contact.grips == (("LeftHand", "far"),)


def test_the_status_line_says_that_a_hand_s_own_goal_keeps_it_from_the_prop() -> None:
    person = Person("sample:biped-hands")
    session = person.controller.session
    session.dispatch(AddProp(BALL))
    session.dispatch(SetGrip("RightHand", "ball"))
    kept = "RightHand's own goal keeps it from the ball"
    assert person.controller.status().state == kept
    person.select("RightHand")
    assert person.controller.status().state == kept
    person.select("LeftHand")
    assert person.controller.status().state == "LeftHand reached"
    session.dispatch(ReleaseEffector("RightHand"))
    person.rest()
    assert person.controller.status().state == "Converged"
