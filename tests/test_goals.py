"""Goals are values that hold only what a solver can use.

Any number of goals of one effector: added, moved, pinned, solved, saved, renamed, removed.
"""

from __future__ import annotations

import json
import math
from dataclasses import FrozenInstanceError, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from inside.document import actions as act, linked_goals, measured
from inside.formats import goals_file_from_text, goals_to_json
from inside.ik import KINDS, PIN_WEIGHT, Kind, Measure, Rows
from inside.session import load_session, save_session, session_bytes
from rigs import random_goal
from sessions import session

from viewer import load
from viewer.document import Item, stand_of
from viewer.errors import FormatError, InputError
from viewer.ik import Goal, Solver
from viewer.session import Session
from viewer.skeleton import fk

if TYPE_CHECKING:
    from collections.abc import Callable


HALF = math.sqrt(0.5)
TURN = (0.0, HALF, 0.0, HALF)


def test_each_constructor_makes_its_kind() -> None:
    here = (1.0, 2.0, 3.0)
    goal = Goal.position("a", [1, 2, 3])
    assert (goal.kind, goal.effector, goal.target) == ("position", "a", here)
    assert (goal.weight, goal.rotation_weight, goal.offset) == (1.0, 1.0, (0.0, 0.0, 0.0))
    assert (goal.enabled, goal.pinned) == (True, False)
    goal = Goal.rotation("a", TURN)
    assert (goal.kind, goal.target, goal.target_rotation) == ("rotation", None, TURN)
    goal = Goal.pose("a", np.array([1, 2, 3]), np.array(TURN))
    assert (goal.kind, goal.target, goal.target_rotation) == ("position+rotation", here, TURN)
    assert Goal.pose("a", here, None, level=2) == Goal.position("a", here, level=2)
    assert Goal.pose("a", None, TURN, offset=here) == Goal.rotation("a", TURN, offset=here)
    with pytest.raises(InputError, match=r'^pose goal for "a": expected a position or rotation, found neither$'):
        Goal.pose("a", None, None)
    goal = Goal.distance("a", 0.3, from_=here)
    assert (goal.kind, goal.target, goal.value("distance")) == ("distance", here, 0.3)
    goal = Goal.aim("a", point=here, axis=(0, 3, 4))
    assert (goal.kind, goal.target, goal.value("axis")) == ("aim", here, (0.0, 0.6, 0.8))


@pytest.mark.parametrize(
    ("measures", "found"),
    [
        ((Measure.DIRECTION, Measure.ROTATION), "direction, rotation"),
        ((Measure.POINT, Measure.LENGTH), "point, length"),
        ((Measure.ROTATION, Measure.POINT), "rotation, point"),
        ((Measure.LENGTH, Measure.DIRECTION), "length, direction"),
    ],
)
def test_rows_of_a_kind_do_not_share_scratch(measures: tuple[Measure, ...], found: str) -> None:
    """A second measure of angles would be read beyond its three rows in compiled code."""
    with pytest.raises(InputError) as error:
        Kind(word="two", title="", hint="", rows=tuple(Rows(one, lambda *_: 0.0) for one in measures))
    expected = "expected a measure of lengths, one of angles, or both in this order, of which one has by_move"
    assert str(error.value) == f"kind two: {expected}, found {found}"


def test_a_function_goal_holds_its_function() -> None:
    goal = Goal.function(lambda world: world.positions[0] - 1.0, weight=2.0)
    assert (goal.kind, goal.effector, goal.weight) == ("function", "", 2.0)
    assert callable(goal.residuals)


def test_a_pin_holds_what_it_is_told() -> None:
    pin = Goal.pin("foot")
    assert (pin.kind, pin.target, pin.target_rotation, pin.pinned) == ("position+rotation", None, None, True)
    assert (pin.weight, pin.rotation_weight) == (PIN_WEIGHT, PIN_WEIGHT)
    assert Goal.pin("foot", rotation=False).kind == "position"
    assert Goal.pin("foot", position=False).kind == "rotation"
    placed = Goal.pin("foot", position=(1, 2, 3), rotation=TURN, weight=4.0)
    assert (placed.target, placed.target_rotation) == ((1.0, 2.0, 3.0), TURN)
    assert (placed.weight, placed.rotation_weight) == (4.0, PIN_WEIGHT)


@pytest.mark.parametrize(
    ("given", "weights"),
    [
        ({"kind": "rotation", "target_rotation": TURN, "weight": 3.0}, (1.0, 3.0)),
        ({"kind": "rotation", "target_rotation": TURN, "weight": 3.0, "rotation_weight": 2.0}, (3.0, 2.0)),
        ({"kind": "bend", "numbers": (("angle", 0.5),), "weight": 3.0}, (1.0, 3.0)),
        ({"kind": "position", "target": (0, 0, 0), "weight": 3.0}, (3.0, 1.0)),
        ({"kind": "rotation", "target_rotation": TURN, "pinned": True, "weight": 3.0}, (PIN_WEIGHT, 3.0)),
        ({"kind": "position", "target": (0, 0, 0), "pinned": True}, (PIN_WEIGHT, PIN_WEIGHT)),
    ],
)
def test_a_goal_knows_which_weight_is_meant(given: dict[str, Any], weights: tuple[float, float]) -> None:
    goal = Goal(effector="a", **given)
    assert (goal.weight, goal.rotation_weight) == weights
    assert replace(goal, level=2).weight == goal.weight


@pytest.mark.parametrize("seed", range(8))
def test_a_kind_says_of_a_pose_what_a_solve_says_of_it(seed: int) -> None:
    random, skeleton = np.random.default_rng(seed), load("sample:biped").skeleton
    kinds = [kind for kind in KINDS.values() if kind.rows and not (kind.balances or kind.of_one_joint or kind.of_limb)]
    goals = [random_goal(random, "LeftHand", kind.command or kind.word, "RightHand") for kind in kinds]
    goals += [Goal.bend("LeftLeg", 0.7), Goal.pole("RightForeArm", random.normal(size=3))]
    solution = Solver(skeleton, goals, backend="numpy", max_iterations=4).solve(skeleton.relaxed_pose())
    world = fk(skeleton, solution.pose)
    said = [KINDS[goal.kind].missed(goal, skeleton, world) for goal in goals]
    np.testing.assert_allclose([metres for metres, _ in said], solution.errors_m, atol=1e-9)
    np.testing.assert_allclose([degrees for _, degrees in said], solution.errors_deg, atol=1e-6)


def test_a_pin_without_a_place_is_off_by_no_known_amount() -> None:
    skeleton = load("sample:biped").skeleton
    world = fk(skeleton, skeleton.relaxed_pose())
    assert all(map(math.isnan, KINDS["position+rotation"].missed(Goal.pin("LeftFoot"), skeleton, world)))


def test_options_are_taken_by_all() -> None:
    options: dict[str, Any] = {"weight": 2, "rotation_weight": 0.5, "offset": [0, 1, 0], "enabled": False, "level": 2}
    for goal in (
        Goal.position("a", (0, 0, 0), **options),
        Goal.rotation("a", TURN, **options),
        Goal.pose("a", (0, 0, 0), TURN, **options),
        Goal.pin("a", **options),
        Goal.distance("a", 1, (0, 0, 0), **options),
        Goal.aim("a", (0, 0, 0), (0, 0, 1), **options),
        Goal.function(lambda world: world.positions[0], **options),
    ):
        assert (goal.weight, goal.rotation_weight, goal.offset) == (2.0, 0.5, (0.0, 1.0, 0.0))
        assert (goal.enabled, goal.level) == (False, 2)


@pytest.mark.parametrize(
    "make",
    [
        partial(Goal.rotation, "LeftHand", (0.0, 0.0, 0.0, 1.0)),
        partial(Goal.aim, "LeftHand", (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)),
        partial(Goal.bend, "LeftForeArm", 1.0),
        partial(Goal.pole, "LeftForeArm", (1.0, 0.0, 0.0)),
        partial(Goal.relative, "LeftHand", "RightHand", position=False),
        partial(Goal.pin, "LeftHand", position=False),
    ],
)
def test_the_weight_of_a_goal_that_has_angles_alone_is_per_radian(make: Callable[..., Goal]) -> None:
    goal = make(weight=0.5)
    assert goal == make(rotation_weight=0.5)
    assert make(weight=2.0, rotation_weight=0.5) == replace(goal, weight=2.0)
    skeleton = load("sample:biped").skeleton
    found = goals_file_from_text(goals_to_json((goal,)).replace("rotation_weight", "weight"), "goals.json", skeleton)
    assert found.goals == (goal,)


def test_the_weight_of_a_goal_that_has_lengths_is_per_metre() -> None:
    assert Goal.pose("LeftHand", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0), weight=0.5).rotation_weight == 1.0
    assert Goal.pin("LeftHand", weight=0.5).weight == 0.5


def test_goals_are_values() -> None:
    goal = Goal.position("a", [1, 2, 3])
    assert goal == Goal.position("a", np.array([1.0, 2.0, 3.0]))
    assert hash(goal) == hash(Goal.position("a", (1, 2, 3)))
    with pytest.raises(FrozenInstanceError):
        goal.weight = 3.0  # type: ignore[misc] # what the test is about
    assert replace(goal, target=(4, 5, 6)).target == (4.0, 5.0, 6.0)
    with pytest.raises(InputError):
        replace(goal, weight=math.nan)


def test_rotations_nearly_unit_are_normalised() -> None:
    turn = Goal.rotation("a", (0.70711, 0, 0, 0.70711)).target_rotation
    assert turn is not None
    assert math.dist(turn, (0, 0, 0, 0)) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Goal.position("", (0, 0, 0)), 'position goal: expected an effector\'s name, found ""'),
        (lambda: Goal.position(3, (0, 0, 0)), 'position goal: expected an effector\'s name, found "3"'),  # type: ignore[arg-type] # wrong on purpose
        (
            lambda: Goal.position("a", (0, math.nan, 0)),
            'position goal for "a": target: expected finite numbers, found nan',
        ),
        (lambda: Goal.position("a", (0, 0)), 'position goal for "a": target: expected shape (3,), found (2,)'),
        (lambda: Goal.position("a", "here"), 'position goal for "a": target: expected numbers of shape (3,)'),
        (
            lambda: Goal.rotation("a", (0, 0, 0, 0)),
            'rotation goal for "a": target rotation: expected a unit quaternion (x, y, z, w), found length 0',
        ),
        (
            lambda: Goal.pose("a", (0, 0, math.inf), TURN),
            'position+rotation goal for "a": target: expected finite numbers, found inf',
        ),
        (lambda: Goal.pin("a", False, False), 'pin of "a": expected a position or rotation to hold, found neither'),
        (
            lambda: Goal.distance("a", -0.1, (0, 0, 0)),
            'distance goal for "a": target distance: expected a finite number, 0 or more, found -0.1',
        ),
        (
            lambda: Goal.distance("a", 10**400, (0, 0, 0)),
            'distance goal for "a": target distance: expected a finite number, 0 or more, found inf',
        ),
        (
            lambda: Goal.aim("a", (0, 0, 0), (0, 0, 0)),
            'aim goal for "a": axis: expected a direction, found the zero vector',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=0),
            'position goal for "a": weight: expected a finite number above 0, found 0',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), rotation_weight=-1.0),
            'position goal for "a": rotation weight: expected a finite number above 0, found -1',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=1e-320),
            'position goal for "a": weight: expected a finite number, 1e-300 or more, found 9.99989e-321',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), weight=True),
            'position goal for "a": weight: expected a number, found True',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), offset=(0, 0, math.nan)),
            'position goal for "a": offset: expected finite numbers, found nan',
        ),
        (
            lambda: Goal.function(3),  # type: ignore[arg-type] # wrong on purpose
            'function goal: expected a function of the world, found "3"',
        ),
        (
            lambda: Goal.position("a", (0, 0, 0), level=4),
            'position goal for "a": level: expected a whole number, 0 to 3, found 4',
        ),
        (
            lambda: Goal.function(lambda world: world.positions[0], level=True),
            "function goal: level: expected a whole number, 0 to 3, found True",
        ),
        (lambda: Goal(kind="aim", effector="a"), 'aim goal for "a": expected a target, found none'),
    ],
)
def test_what_no_solver_could_use_is_refused(make: Callable[[], Goal], message: str) -> None:
    with pytest.raises(InputError) as caught:
        make()
    assert str(caught.value) == message


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
        at = stand_of(made.document, goal).point
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
    with pytest.raises(InputError, match=r'^goal "LeftHand" is the first of its effector: '):
        made.dispatch(act.RemoveGoal("LeftHand"))
    made.undo()
    made.dispatch(act.ReleaseEffector("LeftHand", select_next=True))
    assert not made.document.goal("LeftHand").enabled
    assert made.document.selection == (Item("effector", "LeftHand_2"),)
    assert made.history.labels[-1] == "Release LeftHand"
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
    world = stand_of(made.document, goal)
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


@pytest.mark.parametrize("kind", [word for word, kind in KINDS.items() if kind.built_in and not kind.of_several_limbs])
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
