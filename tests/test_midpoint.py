"""Goals for the point midway between two effectors: in solves, files, documents and the window."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.document import actions as act, measured, normal_of
from inside.formats import goals_file_from_text, goals_to_json
from inside.ik import KINDS, Backend
from inside.session import load_session, save_session
from sessions import drag, place, session, settled, target_of
from ui_person import Person
from window_pilot import Pilot

import viewer
from viewer import Goal, Solver
from viewer.document import Item, Scope, new_document, stand_of
from viewer.errors import FormatError, InputError
from viewer.session import Session
from viewer.ui import Drop

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.document import Action, Document
    from viewer.skeleton import Pose

BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
HANDS = "LeftHand", "RightHand"
MIDDLE = "LeftHand_2"
FEET = (Goal.pin("LeftFoot"), Goal.pin("RightFoot"))
BACKENDS: tuple[Backend, ...] = ("numpy", "numba")


def middle(pose: Pose, ends: tuple[str, str] = HANDS) -> Floats:
    """(3,) the mean of two joints' places."""
    positions = viewer.fk(BIPED, pose).positions
    return np.asarray(np.mean([positions[BIPED.index(name)] for name in ends], axis=0))


def between(document: Document) -> Floats:
    return middle(document.pose)


def on(document: Document) -> set[str]:
    return {goal.id for goal in document.goals if goal.enabled}


@pytest.fixture
def made() -> Session:
    made = session("biped")
    made.dispatch(act.AddGoalForTwo(*HANDS, "midpoint"))
    return made


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_point_midway_goes_where_it_is_wanted(backend: Backend) -> None:
    goals = [*FEET, Goal.balance(), Goal.midpoint(*HANDS, (0.0, 0.0, 0.0)), Goal.relative("Head", "Spine2")]
    solver = Solver(BIPED, goals, backend=backend)
    random = np.random.default_rng(3)
    for way in random.normal(size=(12, 3)) * 0.15:
        targets = np.full((5, 3), np.nan)
        targets[3] = middle(RELAXED) + way
        solution = solver.solve(RELAXED, targets)
        assert solution.status == "converged"
        off = float(np.linalg.norm(middle(solution.pose) - targets[3]))
        assert off <= 1e-3
        assert solution.errors_m[3] == pytest.approx(off, abs=1e-9)


def test_both_backends_give_the_same_poses() -> None:
    goals = [
        *FEET,
        Goal.midpoint(*HANDS, np.add(middle(RELAXED), (0.2, 0.3, 0.2))),
        Goal.midpoint("Head.tip", "Hips", (0, 1.3, 0)),
    ]
    poses = [Solver(BIPED, goals, backend=backend).solve(RELAXED).pose for backend in BACKENDS]
    np.testing.assert_allclose(poses[0].rotations, poses[1].rotations, atol=1e-9)


def test_offsets_and_end_sites_count() -> None:
    world, at = viewer.fk(BIPED, RELAXED), BIPED.tip_names.index("Head.tip")
    tip, joint = world.point(BIPED.index("Head"), BIPED.tip_offsets[at]), world.positions[BIPED.index("Head")]
    solution = Solver(BIPED, [Goal.midpoint("Head", "Head.tip", 0.5 * (tip + joint))]).solve(RELAXED)
    assert solution.status == "converged"
    assert solution.errors_m[0] <= 1e-9
    beside = Goal.midpoint("Head", "Head.tip", 0.5 * (tip + joint), offset=(0.2, 0.0, 0.0))
    error, _ = KINDS["midpoint"].missed(beside, BIPED, world)
    assert error == pytest.approx(0.1, abs=1e-9)


def test_methods_that_cannot_serve_it_say_so() -> None:
    goal = Goal.midpoint(*HANDS, np.add(middle(RELAXED), (0.0, 0.2, 0.1)))
    assert Solver(BIPED, [goal], method="ccd").solve(RELAXED).unserved == ("LeftHand",)
    assert Solver(BIPED, [goal], method="dls").solve(RELAXED).status == "converged"


ENTRY = {"effector": "LeftHand", "midpoint": [0.0, 1.0, 0.2], "to": "RightHand"}


def test_files_hold_it() -> None:
    (goal,) = goals_file_from_text(json.dumps({"goals": [ENTRY]}), "goals.json", BIPED).goals
    assert goal == Goal.midpoint(*HANDS, (0.0, 1.0, 0.2))
    text = goals_to_json((goal,))
    assert json.loads(text) == {"version": 2, "type": "goals", "goals": [ENTRY]}
    assert goals_file_from_text(text, "goals.json", BIPED).goals == (goal,)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"to": None}, 'expected "to" beside "midpoint", found none'),
        ({"midpoint": None}, 'expected no "to" without "relative" or "midpoint", found one'),
        ({"to": "LeftHand"}, 'midpoint goal for "LeftHand": expected another effector, found itself'),
        ({"effector": None}, 'expected "effector", found none'),
        ({"effector": None, "relative": "LeftHand"}, 'expected no "midpoint" beside "relative", found one'),
    ],
)
def test_files_that_are_wrong_are_refused(changes: dict[str, object], message: str) -> None:
    entry = {key: value for key, value in (ENTRY | changes).items() if value is not None}
    with pytest.raises(FormatError) as caught:
        goals_file_from_text(json.dumps({"goals": [entry]}), "goals.json", BIPED)
    assert str(caught.value) == f"goals.json: goals[0]: {message}"


def test_it_cannot_be_pinned() -> None:
    with pytest.raises(InputError, match=r'^midpoint goal for "LeftHand": it cannot be pinned$'):
        Goal(kind="midpoint", effector="LeftHand", to="RightHand", target=(0.0, 1.0, 0.2), pinned=True)


# In a document


def test_it_is_added_where_it_stands_and_both_follow(made: Session) -> None:
    before = session("biped").document
    goal = made.document.goal(MIDDLE)
    assert (goal.kind, goal.ends, goal.enabled) == ("midpoint", HANDS, True)
    np.testing.assert_allclose(target_of(made.document, MIDDLE), between(before), atol=1e-12)
    assert on(before) - on(made.document) == {*HANDS}
    assert made.document.pose.is_near(before.pose)
    assert made.document.active == Item("effector", MIDDLE)
    assert made.history.labels[-1] == "Add midpoint of LeftHand and RightHand"
    made.undo()
    assert made.document.same_as(before)


def test_pins_of_the_hands_stay() -> None:
    made = session("biped")
    made.dispatch(act.SetPin("RightHand", position=True))
    made.dispatch(act.AddGoalForTwo(*HANDS, "midpoint"))
    assert made.document.goal("RightHand").pinned


def test_dragged_it_takes_both_along_in_one_step(made: Session) -> None:
    before, steps = made.document, made.history.index
    drag(made, Item("effector", MIDDLE), np.add(between(before), (0.1, 0.2, 0.15)))
    settled(made)
    made.commit()
    np.testing.assert_allclose(between(made.document), np.add(between(before), (0.1, 0.2, 0.15)), atol=1e-3)
    assert on(made.document).isdisjoint(HANDS)
    assert made.history.index == steps + 1
    made.undo()
    assert made.document.same_as(before)


def test_a_dragged_hand_leads_and_the_point_stays(made: Session) -> None:
    made.dispatch(act.MoveTargets({MIDDLE: (np.add(between(made.document), (0.0, 0.2, 0.2)), None)}))
    for lead, follows in (HANDS, HANDS[::-1]):
        before = made.document
        drag(made, Item("effector", lead), np.add(place(before, lead), (0.0, 0.05, 0.05)))
        settled(made)
        made.commit()
        np.testing.assert_allclose(between(made.document), between(before), atol=2e-3)
        np.testing.assert_allclose(
            place(made.document, follows), np.subtract(place(before, follows), (0.0, 0.05, 0.05)), atol=4e-3
        )
        assert on(made.document) & {*HANDS} == {lead}


def test_with_the_scope_of_a_limb_both_arms_move(made: Session) -> None:
    made.dispatch(act.SetScope(Scope.LIMB))
    before = made.document.pose
    drag(made, Item("effector", MIDDLE), np.add(between(made.document), (0.0, 0.2, 0.15)))
    settled(made)
    made.commit()
    turned = np.abs(made.document.pose.rotations - before.rotations).max(axis=1) > 1e-3
    moved = {name for name, one in zip(BIPED.names, turned.tolist(), strict=True) if one}
    assert {"LeftArm", "RightArm"} <= moved
    assert not {"Hips", "Spine", "Head", "LeftUpLeg"} & moved


def test_a_pose_set_by_hand_takes_the_target_along(made: Session) -> None:
    made.dispatch(act.SetCoordinate("LeftForeArm", 0, 1.0))
    np.testing.assert_allclose(target_of(made.document, MIDDLE), between(made.document), atol=1e-9)
    still = target_of(made.document, MIDDLE)
    made.dispatch(act.SetCoordinate("LeftLeg", 0, 0.5))
    np.testing.assert_array_equal(target_of(made.document, MIDDLE), still)


def test_held_where_it_is_and_switched_off_and_on(made: Session) -> None:
    made.dispatch(act.SetGoal(MIDDLE, position=(0.5, 2.5, 0.0)))
    assert not made.errors[MIDDLE].reached
    made.dispatch(act.HoldEffector(MIDDLE))
    assert made.errors[MIDDLE].reached
    made.dispatch(act.ReleaseEffector(MIDDLE))
    assert MIDDLE not in on(made.document)
    drag(made, Item("effector", MIDDLE), np.add(between(made.document), (0.0, -0.1, 0.1)))
    settled(made)
    made.commit()
    assert made.document.goal(MIDDLE).kind == "midpoint"
    assert measured(made.document)[MIDDLE].reached


def test_it_becomes_another_goal_for_two_and_again_itself(made: Session) -> None:
    for kind in ("relative", "midpoint"):
        made.dispatch(act.SetGoalKind(MIDDLE, kind))
        assert made.document.goal(MIDDLE).kind == kind
        assert made.errors[MIDDLE].reached
    np.testing.assert_allclose(target_of(made.document, MIDDLE), between(made.document), atol=1e-9)


def test_names_follow_and_ends_that_go_take_it_along(made: Session) -> None:
    made.dispatch(act.RenameJoint("RightHand", "Paw"))
    assert made.document.goal(MIDDLE).to == "Paw"
    made.dispatch(act.RemoveEffector("Paw"))
    assert MIDDLE not in {goal.id for goal in made.document.goals}


def test_other_units_scale_its_target(made: Session) -> None:
    before = target_of(made.document, MIDDLE)
    made.dispatch(act.SetUnits(0.5, "y"))
    assert made.errors[MIDDLE].reached
    after = target_of(made.document, MIDDLE)
    np.testing.assert_allclose(after / np.linalg.norm(after), before / np.linalg.norm(before), atol=1e-9)
    assert not np.allclose(after, before)


@pytest.mark.parametrize("plane", ["xy", "yz"])
def test_a_plane_keeps_it_between_the_planes_of_the_hands(plane: str) -> None:
    made = session("biped")
    made.dispatch(act.SetPlanar(plane))
    made.dispatch(act.AddGoalForTwo(*HANDS, "midpoint"))
    before = between(made.document)
    made.dispatch(act.MoveTargets({MIDDLE: (np.add(before, (0.05, 0.15, 0.05)), None)}))
    normal = normal_of(plane)
    assert abs((target_of(made.document, MIDDLE) - before) @ normal) <= 1e-9
    assert abs((between(made.document) - before) @ normal) <= 1e-6
    assert made.errors[MIDDLE].reached


def test_sessions_keep_it(made: Session, tmp_path: Path) -> None:
    path = tmp_path / "midway.ikv.json"
    save_session(made.document, path)
    assert load_session(path).same_as(made.document)
    path.write_text(path.read_text(encoding="utf-8").replace('"to":"RightHand"', '"to":"Nose"'), encoding="utf-8")
    with pytest.raises(FormatError, match="expected the name of an effector, found 'Nose'"):
        load_session(path)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (act.SetPin(MIDDLE, position=True), 'goal "LeftHand_2" is for two effectors: it cannot be pinned'),
        (act.SetGoalKind("Head", "midpoint"), 'goal "Head": expected a goal for two effectors, to be midpoint'),
        (
            act.AddGoalForTwo("Head", "Head", "midpoint"),
            'goal "Head_2": expected another effector beside its own, found "Head"',
        ),
        (
            act.SetGoal(MIDDLE, to="LeftHand"),
            'goal "LeftHand_2": expected another effector beside its own, found "LeftHand"',
        ),
    ],
)
def test_what_cannot_be_is_refused(made: Session, action: act.Action, message: str) -> None:
    before = made.document
    with pytest.raises(InputError) as caught:
        made.dispatch(action)
    assert str(caught.value) == message
    assert made.document is before


def test_a_goals_file_makes_both_follow() -> None:
    biped, at = viewer.load("sample:biped"), (0.0, 1.0, 0.3)
    document = new_document(biped, goals=[Goal.midpoint(*HANDS, at)])
    assert on(document).isdisjoint(HANDS)
    assert document.goal(MIDDLE).position == at
    document = new_document(biped, goals=[Goal.midpoint(*HANDS, at), Goal.position("RightHand", (-0.3, 1.0, 0.3))])
    assert on(document) & {*HANDS} == {"RightHand"}


# At the window


def test_the_command_adds_it_to_the_two_that_are_selected() -> None:
    person = Person()
    assert not person.controller.can("goal.add_midpoint")
    person.controller.session.dispatch(act.Select(tuple(Item("effector", name) for name in HANDS)))
    person.controller.run("goal.add_midpoint")
    assert person.document.goal(MIDDLE).ends == HANDS
    person.controller.run("goal.remove")
    assert MIDDLE not in {goal.id for goal in person.document.goals}


def test_a_goals_file_that_is_dropped_sets_it_beside_a_hold_together(tmp_path: Path) -> None:
    person = Person()
    made = person.controller.session
    made.dispatch(act.HoldTogether(*HANDS))
    at = np.add(between(made.document), (0.0, 0.2, 0.2))
    path = tmp_path / "goals.json"
    path.write_text(json.dumps({"goals": [ENTRY | {"midpoint": at.tolist()}]}), encoding="utf-8")
    for _ in range(2):  # it sets the same goal
        person.controller.handle(Drop((path,)))
        kinds = [goal.kind for goal in made.document.goals if goal.of_two]
        assert kinds == ["relative", "midpoint"]
        np.testing.assert_allclose(between(made.document), at, atol=2e-3)


def test_mirrored_drags_move_the_pair_of_the_other_side() -> None:
    """The point between both hands is its own image; that of hand and foot has one on the other side."""
    person = Person()
    made = person.controller.session
    person.key("alt+m")
    made.dispatch(act.AddGoalForTwo(*HANDS, "midpoint"))
    before = between(made.document)
    person.drag(person.pixel(place(made.document, MIDDLE)), (20.0, -30.0))
    assert np.linalg.norm(between(made.document) - before) > 0.05
    made.dispatch(act.RemoveGoal(MIDDLE))
    for side in ("Left", "Right"):
        made.dispatch(act.AddGoalForTwo(f"{side}Hand", f"{side}Toes", "midpoint"))
    ids = [goal.id for goal in made.document.goals if goal.of_two]
    starts = [place(made.document, name) for name in ids]
    person.drag(person.pixel(starts[0]), (-25.0, -10.0))
    ways = [place(made.document, name) - start for name, start in zip(ids, starts, strict=True)]
    assert np.linalg.norm(ways[0]) > 0.02
    np.testing.assert_allclose(ways[1], np.multiply(ways[0], (-1.0, 1.0, 1.0)), atol=5e-3)


@pytest.mark.parametrize("action", [act.AddGoalForTwo(*HANDS, "midpoint"), act.HoldTogether(*HANDS)])
def test_effectors_that_are_let_go_keep_their_place_again(action: Action) -> None:
    made = session("biped")
    before = on(made.document)
    made.dispatch(action)
    assert on(made.document) & {*HANDS} != {*HANDS}
    made.dispatch(act.RemoveGoal(MIDDLE))
    assert on(made.document) == before
    for name in HANDS:
        at = stand_of(made.document, made.document.goal(name)).point
        np.testing.assert_allclose(target_of(made.document, name), at, atol=1e-3)


@pytest.mark.parametrize("action", [act.AddGoalForTwo(*HANDS, "midpoint"), act.HoldTogether(*HANDS)])
def test_a_hold_that_was_switched_off_before_stays_off(action: Action) -> None:
    made = session("biped")
    made.dispatch(act.ReleaseEffector(HANDS[1]))
    before = on(made.document)
    made.dispatch(action)
    made.dispatch(act.RemoveGoal(MIDDLE))
    assert on(made.document) == before
    assert HANDS[1] not in before


def test_a_follower_that_is_released_stays_released() -> None:
    made = session("biped")
    made.dispatch(act.HoldTogether(*HANDS))
    made.dispatch(act.ReleaseEffector(HANDS[1]))
    made.dispatch(act.RemoveGoal(MIDDLE))
    assert HANDS[1] not in on(made.document)


@pytest.mark.parametrize(
    "action",
    [
        act.HoldEffector(HANDS[1]), act.SetGoalKind(HANDS[1], "rotation"), act.SetPin(HANDS[1], position=True),
        act.SetGoal(HANDS[1], enabled=True), act.SetGoal(HANDS[1], enabled=False), act.AddGoal(HANDS[1]),
        act.MoveTargets({HANDS[1]: ((0.3, 1.0, 0.2), None)}),
    ],
    ids=lambda action: type(action).__name__,
)  # fmt: skip
def test_a_follower_that_the_user_switches_is_none_any_more(action: Action) -> None:
    made = session("biped")
    made.dispatch(act.HoldTogether(*HANDS))
    assert made.document.goal(HANDS[1]).follows
    # What is dragged leads: the other hand may follow now.
    assert not action.apply(made.document).goal(HANDS[1]).follows


def test_a_follower_of_a_goals_file_keeps_its_place_when_the_goal_is_removed() -> None:
    goal = Goal.relative(*HANDS)
    document = new_document(viewer.load("sample:biped"), goals=[goal])
    made = Session(document)
    assert HANDS[0] in on(document)
    assert HANDS[1] not in on(document)
    made.dispatch(act.RemoveGoal(next(one.id for one in document.goals if one.of_two)))
    assert {*HANDS} <= on(made.document)


@pytest.mark.parametrize("end", [act.RemoveEffector(HANDS[0]), act.RemoveJoint(HANDS[0]), act.RemoveGoal(MIDDLE)])
def test_every_end_of_a_goal_for_two_frees_its_followers(end: Action) -> None:
    """Also one whose effector has another hold, which was pinned and so stayed on."""
    made = session("biped")
    made.dispatch(act.AddGoal(HANDS[1], "rotation"))
    made.dispatch(act.SetPin(f"{HANDS[1]}_2", rotation=True))
    made.dispatch(act.HoldTogether(*HANDS))
    assert made.document.goal(HANDS[1]).follows
    assert made.document.goal(f"{HANDS[1]}_2").enabled
    made.dispatch(end)
    assert {HANDS[1], f"{HANDS[1]}_2"} <= on(made.document)


@pytest.mark.parametrize("made_by", [act.AddGoalForTwo(*HANDS, "midpoint"), act.HoldTogether(*HANDS)])
def test_a_goal_for_two_that_is_off_frees_its_followers_until_it_is_on_again(made_by: Action) -> None:
    made = session("biped")
    before = on(made.document)
    made.dispatch(made_by)
    led = on(made.document)
    made.dispatch(act.ReleaseEffector(MIDDLE))
    assert on(made.document) == before
    made.dispatch(act.HoldEffector(MIDDLE))
    assert on(made.document) == led
    made.dispatch(act.SetGoal(MIDDLE, enabled=False))
    assert on(made.document) == before


def test_an_effector_that_another_goal_leads_stays_free_when_one_is_removed() -> None:
    made = session("biped")
    made.dispatch(act.HoldTogether(*HANDS))
    made.dispatch(act.AddGoalForTwo(*HANDS, "midpoint"))
    before = on(made.document)
    made.dispatch(act.RemoveGoal(made.document.goals[-1].id))
    assert on(made.document) & {*HANDS} == before & {*HANDS}


def test_in_a_window_its_target_is_dragged_by_the_pointer() -> None:
    pilot = Pilot()
    try:
        for chord, name in (("", "LeftHand"), ("shift", "RightHand")):
            if chord:
                pilot.inputs.key(chord, down=True)
            pilot.click(*pilot.effector(name)["screen"])
        pilot.inputs.key("shift", down=False)
        pilot.app.controller.run("goal.add_midpoint")
        pilot.settle()
        x, y = pilot.effector(MIDDLE)["screen"]
        before = between(pilot.session.document)
        pilot.drag((x, y), (x + 30.0, y - 60.0))
        pilot.settle()
        shown, document = pilot.effector(MIDDLE), pilot.session.document
        assert np.linalg.norm(between(document) - before) > 0.1
        np.testing.assert_allclose(shown["position"], between(document), atol=1e-9)
        np.testing.assert_allclose(shown["position"], shown["goal"]["position"], atol=1e-3)
        assert pilot.session.history.labels[-1] == f"Drag {MIDDLE}"
        assert stand_of(document, document.goal(MIDDLE)).point.tolist() == shown["position"]
        assert pilot.app.painter.panels.failures == {}
    finally:
        pilot.close()
