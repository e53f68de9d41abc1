"""Joints by another name: goals, pins, limits, keys, exports and recorded actions follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act
from inside.session import load_session, save_session
from scripts import same
from sessions import session
from ui_person import Person

import viewer
from viewer import InputError
from viewer.document import Item

if TYPE_CHECKING:
    from pathlib import Path


def test_everything_that_knows_a_joint_by_name_follows() -> None:
    made = session()
    made.dispatch(act.SetPin("LeftHand", position=True))
    made.dispatch(act.SetJointLimits("LeftHand", False))
    made.dispatch(act.Select((Item("joint", "LeftHand"), Item("effector", "LeftHand"))))
    made.dispatch(act.KeyPose())
    before = made.document
    made.dispatch(act.RenameJoint("LeftHand", " Paw "))
    now = made.document
    joint = before.skeleton.index("LeftHand")
    assert now.skeleton.index("Paw") == now.character.skeleton.index("Paw") == joint
    assert "Paw.tip" in now.skeleton.tip_names
    assert [h.effector for h in now.goals] == [e.name for e in now.skeleton.effectors]
    assert now.goal("Paw").pin_position
    assert now.goal("Paw").position == before.goal("LeftHand").position
    assert now.unlimited == {"Paw"}
    assert now.selection == (Item("joint", "Paw"), Item("effector", "Paw"))
    assert now.take is not None
    assert [pin.effector for pin in now.take.pins[0]].count("Paw") == 1
    assert "LeftHand" not in repr((now.goals, now.take.pins, now.skeleton.effectors))
    assert now.pose is before.pose
    made.undo()
    assert made.document is before


def test_effectors_with_names_of_their_own_keep_them() -> None:
    made = session()
    made.dispatch(act.RenameJoint("LeftToeBase", "Toe"))
    assert "LeftToes" in [handle.effector for handle in made.document.goals]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("", 'joint "LeftArm": expected a name, found none'),
        ("  ", 'joint "LeftArm": expected a name, found none'),
        ("RightArm", 'joint "LeftArm": another joint is called "RightArm"'),
        ("LeftToes", 'joint "LeftArm": an effector or end site is called "LeftToes"'),
        ("Head.tip", 'joint "LeftArm": an effector or end site is called "Head.tip"'),
        ("a\nb", 'joint "LeftArm": expected a name of one line, found "a\\nb"'),
        ("x" * 201, 'joint "LeftArm": expected a name of at most 200 characters, found 201'),
    ],
)
def test_names_that_cannot_be_given_are_refused_and_nothing_changes(name: str, message: str) -> None:
    made = session()
    before = made.document
    with pytest.raises(InputError) as caught:
        made.dispatch(act.RenameJoint("LeftArm", name))
    assert str(caught.value) == message
    assert made.document is before
    made.dispatch(act.RenameJoint("LeftArm", "LeftArm "))
    assert made.document is before


@pytest.mark.parametrize("suffix", [".bvh", ".json", ".glb", ".gltf", ".npz"])
def test_exports_have_the_new_name(tmp_path: Path, suffix: str) -> None:
    person = Person("sample:walk")
    own = person.document.skeleton.names[1]
    person.controller.session.dispatch(act.RenameJoint(own, "Called anew"))
    path = tmp_path / f"out{suffix}"
    assert person.controller.files.export_to(path)
    if suffix in {".glb", ".gltf"}:
        assert b"Called anew" in path.read_bytes()
    else:
        names = viewer.load(path).skeleton.names
        assert "Called anew" in names
        assert own not in names


def test_sessions_are_saved_and_opened_with_new_names(tmp_path: Path) -> None:
    made = session("walk")
    own = made.document.skeleton.names[2]
    made.dispatch(act.RenameJoint(own, "Other"))
    save_session(made.document, tmp_path / "a.ikv.json")
    assert load_session(tmp_path / "a.ikv.json").same_as(made.document)


def test_other_units_keep_the_names_that_were_given(tmp_path: Path) -> None:
    path = tmp_path / "walk.bvh"
    assert Person("sample:walk").controller.files.export_to(path)
    person = Person(str(path))
    own = person.document.skeleton.names[2]
    person.controller.session.dispatch(act.RenameJoint(own, "Other"))
    names = person.document.skeleton.names
    person.controller.session.dispatch(act.SetUnits("inch", "y"))
    assert person.document.skeleton.names == names
    layout = person.document.character.source.layout
    assert layout is not None
    assert layout.names[2] == "Other"


def test_renaming_is_recorded_and_replayed_alike(tmp_path: Path) -> None:
    made = session()
    made.record_actions()
    made.dispatch(act.RenameJoint("Head", "Skull"))
    made.undo()
    made.redo()
    same(made, tmp_path)


def test_the_key_asks_for_the_name_of_the_selected_joint_and_of_an_effectors() -> None:
    person = Person()
    assert not person.controller.can("joint.rename")
    person.select("LeftHand")
    person.key("f2")
    assert person.controller.renaming.joint == person.document.skeleton.index("LeftHand")
    person.controller.renaming.rename(person.controller.renaming.joint, "Paw")
    person.controller.renaming.end()
    assert person.selected == ["Paw"]
    person.key("ctrl+z")
    assert person.selected == ["LeftHand"]


def test_what_moves_by_itself_keeps_its_name() -> None:
    person = Person("sample:biped")
    person.controller.files.open("demo:reach")
    motions = person.controller.session.targets.motions
    assert motions
    skeleton = person.document.skeleton
    joint = next(e.joint for e in skeleton.effectors if e.name == motions[0].effector)
    with pytest.raises(InputError, match="a moving target uses its name"):
        person.controller.renaming.rename(joint, "Other")
    assert person.document.skeleton.names == skeleton.names


def test_solving_does_not_depend_on_names() -> None:
    one, other = session(), session()
    other.dispatch(act.RenameJoint("LeftArm", "Upper"))
    for made in (one, other):
        item = Item("effector", "LeftHand")
        made.begin_drag((item,))
        made.gestures.drag_to({item: ((0.3, 1.4, 0.3), None)})
        for tick in range(20):
            made.tick(tick / 60)
        made.commit()
    np.testing.assert_array_equal(one.document.pose.rotations, other.document.pose.rotations)
