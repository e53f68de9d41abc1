"""Any number of goals of one effector: added, moved, pinned, solved, saved, renamed, removed."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from inside.document import actions as act
from inside.document import linked_goals, measured
from inside.ik import KINDS
from inside.session import load_session, save_session, session_bytes
from sessions import session

from viewer import InputError
from viewer.document import Item, stand_of
from viewer.errors import FormatError
from viewer.session import Session


@pytest.fixture
def made() -> Session:
    return session("biped")


def test_a_second_goal_is_met_where_it_stands_and_has_an_id_of_its_own(made: Session) -> None:
    before = made.document
    for kind in ("position", "rotation", "position+rotation", "distance", "aim"):
        made.dispatch(act.AddGoal("LeftHand", kind))
    now = made.document
    ids = ["LeftHand", *(f"LeftHand_{number}" for number in range(2, 7))]
    assert [goal.id for goal in now.goals_of("LeftHand")] == ids
    assert now.selection == (Item("effector", "LeftHand_6"),)
    assert all(error.reached for error in measured(now).values())
    np.testing.assert_allclose(now.pose.rotations, before.pose.rotations, atol=1e-6)
    assert made.history.labels[-1] == "Add aim of LeftHand"
    for _ in ids[1:]:
        made.undo()
    assert made.document.same_as(before)


def test_an_effector_that_is_off_is_enabled_first(made: Session) -> None:
    made.dispatch(act.ReleaseEffector("LeftHand"))
    kept = made.document.goal("LeftHand").position
    assert kept is not None
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    (goal,) = made.document.goals_of("LeftHand")
    assert (goal.kind, goal.enabled) == ("aim", True)


def test_all_goals_of_an_effector_are_solved_and_reported(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    hand = np.array(made.document.goal("LeftHand").position)
    made.dispatch(act.MoveTargets({"LeftHand": (hand + np.array([0.0, 0.1, 0.1]), None)}))
    made.dispatch(act.MoveTargets({"LeftHand_2": (hand + np.array([0.4, 0.4, 0.4]), None)}))
    errors = measured(made.document)
    assert errors["LeftHand"].reached
    assert errors["LeftHand_2"].reached
    assert errors["LeftHand_2"].degrees is not None
    assert set(made.errors) >= {"LeftHand", "LeftHand_2"}


def test_a_target_is_dragged_by_its_goal(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    item, place = Item("effector", "LeftHand_2"), np.array(made.document.goal("LeftHand_2").position)
    held = made.document.goal("LeftHand")
    made.begin_drag((item,))
    made.gestures.drag_to({item: (place + np.array([0.1, 0.2, 0.0]), None)})
    for tick in range(30):
        made.tick(tick / 60.0)
    made.commit()
    np.testing.assert_allclose(np.array(made.document.goal("LeftHand_2").position), place + np.array([0.1, 0.2, 0.0]))
    assert made.document.goal("LeftHand") == held
    assert all(error.reached for error in measured(made.document).values())


def test_a_point_that_two_goals_ask_about_is_moved_for_both(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    point = made.document.goal("LeftHand_2").position
    made.dispatch(act.AddGoal("LeftHand", "distance"))
    made.dispatch(act.SetGoal("LeftHand_3", position=point))
    assert linked_goals(made.document, "LeftHand_2") == ("LeftHand_3",)
    made.dispatch(act.MoveTargets({"LeftHand_3": ((0.5, 1.5, 0.8), None)}))
    assert made.document.goal("LeftHand_2").position == (0.5, 1.5, 0.8)


def test_pins_move_scale_and_key_by_goal(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand"))
    made.dispatch(act.SetGoal("LeftHand_2", offset=(0.0, 0.0, 0.1)))
    made.dispatch(act.HoldEffector("LeftHand_2"))
    made.dispatch(act.SetPin("LeftHand_2", position=True))
    made.dispatch(act.KeyPose(4))
    take = made.document.take
    assert take is not None
    assert [pin.goal for pin in take.pins[4] if pin.effector == "LeftHand"] == ["LeftHand_2"]
    made.dispatch(act.SetUnits("cm"))
    now = made.document
    scale = now.character.source.metres_per_unit
    assert now.goal("LeftHand_2").offset == pytest.approx((0.0, 0.0, 0.1 * scale))
    made.undo()
    made.dispatch(act.MirrorPose())
    for goal in made.document.goals_of("LeftHand"):
        at = stand_of(made.document.skeleton, made.document.pose, goal).position
        np.testing.assert_allclose(np.array(goal.position), at, atol=2e-3)


def test_goals_follow_a_joint_that_is_renamed(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    made.dispatch(act.RenameJoint("LeftHand", "Paw"))
    assert [goal.id for goal in made.document.goals_of("Paw")] == ["Paw", "LeftHand_2"]
    assert made.document.selection == (Item("effector", "LeftHand_2"),)
    with pytest.raises(InputError, match='a goal is called "LeftHand_2"'):
        made.dispatch(act.RenameJoint("Paw", "LeftHand_2"))


def test_goals_are_removed(made: Session) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    made.dispatch(act.RemoveGoal("LeftHand_2"))
    assert [goal.id for goal in made.document.goals_of("LeftHand")] == ["LeftHand"]
    assert made.document.selection == (Item("effector", "LeftHand"),)
    made.dispatch(act.RemoveGoal("LeftHand"))
    assert not made.document.goal("LeftHand").enabled
    made.undo()
    made.undo()
    made.dispatch(act.RemoveEffector("LeftHand"))
    assert made.document.goals_of("LeftHand") == ()
    with pytest.raises(InputError, match='no effector "LeftHand_2"'):
        made.dispatch(act.RemoveGoal("LeftHand_2"))
    with pytest.raises(InputError, match='no goal "up"'):
        made.dispatch(act.AddGoal("Head", "up"))


def test_a_session_with_many_goals_comes_back_the_same(made: Session, tmp_path: Path) -> None:
    for kind in ("aim", "distance", "position+rotation"):
        made.dispatch(act.AddGoal("RightHand", kind))
    save_session(made.document, tmp_path / "a.ikv.json")
    assert load_session(tmp_path / "a.ikv.json").same_as(made.document)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"id": "Head"}, "document.goals[6]: expected the name of an effector"),
        ({"effector": "Nobody"}, "document.goals[6]: expected the name of an effector, found 'Nobody'"),
        ({"kind": "function"}, "document.goals[6]: a document cannot hold a function goal"),
        ({"axis": None}, 'document.goals[6]: goal "LeftHand_2": expected a axis, found none'),
    ],
)
def test_goals_of_a_file_that_fit_nothing_are_refused(
    made: Session, tmp_path: Path, change: dict[str, object], words: str
) -> None:
    made.dispatch(act.AddGoal("LeftHand", "aim"))
    tree = json.loads(session_bytes(made.document))
    place = len(made.document.skeleton.effectors)
    tree["document"]["goals"][place] |= change
    path = tmp_path / "a.ikv.json"
    path.write_text(json.dumps(tree))
    with pytest.raises(FormatError) as raised:
        load_session(path)
    assert words.replace("[6]", f"[{place}]") in str(raised.value)


def test_a_bend_is_added_as_the_joint_stands_set_in_the_window_solved_and_saved(made: Session, tmp_path: Path) -> None:
    before = made.document.pose
    made.dispatch(act.MakeEffector("LeftForeArm"))
    made.dispatch(act.SetGoalKind("LeftForeArm", "bend"))
    goal = made.document.goal("LeftForeArm")
    angle = goal.numbers["angle"]
    assert isinstance(angle, float)
    assert made.document.pose.is_near(before)  # it is met where it stands
    made.dispatch(act.SetGoal("LeftForeArm", angle=angle + np.radians(50.0)))
    assert measured(made.document)["LeftForeArm"].reached
    made.dispatch(act.SetGoal("LeftForeArm", angle=angle + np.radians(30.0)))  # by the same solver, if it is kept
    world = stand_of(made.document.skeleton, made.document.pose, goal)
    assert world.joint == made.document.skeleton.index("LeftForeArm")
    error = measured(made.document)["LeftForeArm"]
    assert error.metres is None
    assert error.degrees is not None
    assert error.degrees < 0.5
    assert error.reached
    path = tmp_path / "bent.ikv.json"
    save_session(made.document, path)
    assert load_session(path).same_as(made.document)
    with pytest.raises(InputError, match="angle: expected"):
        made.dispatch(act.SetGoal("LeftForeArm", angle=4.0))


def test_a_bend_of_what_is_no_joint_between_two_bones_is_refused(made: Session) -> None:
    made.dispatch(act.MakeEffector(made.document.skeleton.names[0]))
    with pytest.raises(InputError, match="expected a joint between two bones, found a root"):
        made.dispatch(act.SetGoalKind(made.document.skeleton.names[0], "bend"))


@pytest.mark.parametrize("kind", [word for word, kind in KINDS.items() if kind.built_in and not kind.several])
def test_a_goal_of_any_kind_begins_with_all_its_kind_needs_and_comes_back_the_same(
    made: Session, tmp_path: Path, kind: str
) -> None:
    made.dispatch(act.MakeEffector("LeftForeArm"))
    before = made.document.pose
    made.dispatch(act.SetGoalKind("LeftForeArm", kind))
    made.dispatch(act.SetGoal("LeftForeArm", level=2))
    goal = made.document.goal("LeftForeArm")
    assert {number.name for number in KINDS[kind].numbers} <= goal.numbers.keys()
    assert goal.kind is kind
    asked = goal.for_solver()
    assert asked is not None
    assert (asked.kind, asked.level) == (kind, 2)
    assert dict(asked.numbers) == {number.name: goal.numbers[number.name] for number in KINDS[kind].numbers}
    assert kind == "distance" or made.document.pose.is_near(before)  # a distance is never as small as 0
    save_session(made.document, tmp_path / "it.ikv.json")
    assert load_session(tmp_path / "it.ikv.json").goal("LeftForeArm") == goal
