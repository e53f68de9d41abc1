"""Who stays while others are moved: holds for what is on, pins for the feet.

Holds that yield: what is dragged is met wherever it could be without them, and firm ones hold it back.

Frames that a kind cannot hold: solves begin at their projection, in joints that goals move and in all others.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import rigs
from characters import rig
from hypothesis import given, settings, strategies as st
from inside.document import MoveTargets, Priority, Select, SetGoal, SetPin, SetSolver, holds_yield, yielding_holds
from inside.ik import PIN_WEIGHT, KindProjection, holds
from inside.session import load_session, save_session
from inside.skeleton import joint_space
from inside.spatial import angle_between, from_axis_angle
from sessions import FOOT, HAND, drag, item_place, place, session, settled, shifted
from ui_person import Person

import viewer
from viewer import Goal, Solver
from viewer.document import Document, Item, new_document
from viewer.ik import Status
from viewer.session import Session
from viewer.skeleton import EffectorGoal, Pose, project_pose

if TYPE_CHECKING:
    from pathlib import Path


BIPED = viewer.load("sample:biped").skeleton
RELAXED = BIPED.relaxed_pose()
WORLD = viewer.fk(BIPED, RELAXED)


def test_every_effector_that_is_on_is_held_and_feet_are_pinned() -> None:
    on = [effector for effector in BIPED.effectors if effector.goal is not EffectorGoal.OFF]
    held = holds(BIPED, RELAXED)
    assert [goal.effector for goal in held] == [effector.name for effector in on]
    for goal, effector in zip(held, on, strict=True):
        foot = "Foot" in effector.name
        assert goal.pinned is foot
        assert goal.weight == (PIN_WEIGHT if foot else 1.0)
        assert (goal.kind == "position+rotation") >= foot
        place = WORLD.point(effector.joint, np.array(effector.offset))
        if goal.target is not None:
            np.testing.assert_allclose(goal.target, place)
        if goal.target_rotation is not None:
            np.testing.assert_allclose(goal.target_rotation, WORLD.rotations[effector.joint])
    assert {goal.effector for goal in held if goal.pinned} == {"LeftFoot", "RightFoot"}


def test_a_pin_weighs_thirty_holds() -> None:
    assert PIN_WEIGHT == 30.0


def test_effectors_hold_what_they_are_for() -> None:
    kinds = (EffectorGoal.POSITION, EffectorGoal.ROTATION, EffectorGoal.POSE, EffectorGoal.OFF)
    hands = [replace(BIPED.effectors[0], name=f"e{i}", goal=kind) for i, kind in enumerate(kinds)]
    skeleton = replace(BIPED, effectors=tuple(hands))
    assert [goal.kind for goal in holds(skeleton, RELAXED)] == [
        "position", "rotation", "position+rotation",
    ]  # fmt: skip


def test_goals_that_are_set_take_the_place_of_holds() -> None:
    others = [Goal.position("LeftHand", (1, 1, 1)), Goal.position("RightFoot", (0, 0, 0), enabled=False)]
    names = [goal.effector for goal in holds(BIPED, RELAXED, others)]
    assert "LeftHand" not in names
    assert "RightFoot" not in names
    assert "LeftFoot" in names
    assert holds(BIPED, RELAXED, [Goal.function(lambda world: world.positions[0])]) == holds(BIPED, RELAXED)


def test_holds_are_met_where_they_stand() -> None:
    solution = viewer.Solver(BIPED, holds(BIPED, RELAXED), backend="numpy").solve(RELAXED)
    assert solution.status == "converged"
    assert solution.iterations == 0


def test_a_skeleton_without_effectors_holds_nothing() -> None:
    assert holds(replace(BIPED, effectors=()), RELAXED) == ()


def test_feet_of_legs_with_few_joints_are_pinned_by_their_position_alone() -> None:
    # Three hinges, as of most robots on four legs, and six: pinned by both, three would hold the body fast.
    builder = viewer.Builder().add("trunk", None, (0, 0.5, 0), kind="free")
    for side, axes in (("left", "xzz"), ("right", "xzzzxy")):
        above = "trunk"
        for number, axis in enumerate(axes):
            way = {"x": (1, 0, 0), "y": (0, 1, 0), "z": (0, 0, 1)}[axis]
            name = f"{side}_joint_{number}"
            builder = builder.add(name, above, (0, -0.5 / len(axes), 0), kind="hinge", axis=way)
            above = name
        builder = builder.add(f"{side}_foot", above, kind="fixed").effector(f"{side}_foot", f"{side}_foot")
    skeleton = builder.skeleton
    kinds = {goal.effector: (goal.kind, goal.pinned) for goal in holds(skeleton, skeleton.rest_pose())}
    assert kinds == {"left_foot": ("position", True), "right_foot": ("position+rotation", True)}


TOLERANCE = 1e-3
"""Metres: that of the solver."""
OVER_THERE = (1.01, 1.67, 0.37)
"""Where the biped's left hand comes only if its head and right hand give way."""
NEAR = (0.05, 0.05, 0.05)


def missed(made: Session) -> dict[str, float]:
    return {name: error.metres or 0.0 for name, error in made.errors.items() if not error.reached}


def reached(*, firm: bool = False) -> Session:
    """The left hand dragged over there, and held there until nothing moves."""
    made = session()
    made.dispatch(SetSolver(firm_holds=firm))
    drag(made, HAND, OVER_THERE, ticks=80)
    settled(made)
    return made


def test_the_dragged_hand_is_met_where_holds_forbid_it_and_pins_stay() -> None:
    made = reached()
    assert made.report is not None
    assert made.report.status is Status.CONVERGED
    assert set(missed(made)) == made.yields == {"Head", "RightHand"}
    assert missed(made)["Head"] > 0.1
    assert made.report.reasons == ()


def test_no_joint_is_at_a_limit_because_of_a_hold() -> None:
    made = reached()
    assert made.report is not None
    assert made.report.at_limit == ()
    # The same drag with firm holds ends at limits, short of its target.
    firm = reached(firm=True)
    assert firm.report is not None
    assert "Neck" in firm.report.at_limit
    assert missed(firm)["LeftHand"] > 0.02
    assert firm.yields == frozenset()


@pytest.mark.parametrize("item", [HAND, Item("joint", "LeftForeArm")])
def test_out_and_back_is_where_it_was(item: Item) -> None:
    made = session()
    before, start = made.document.pose, item_place(made.document, item)
    drag(made, item, start + np.array([0.5, 0.3, 0.3]), ticks=60)
    assert made.yields
    for tick in range(60):
        part = max(0.0, 1.0 - tick / 30.0)
        made.gestures.drag_to({item: (start + part * np.array([0.5, 0.3, 0.3]), None)})
        made.tick(1.0 + tick / 60.0)
    settled(made)
    assert made.yields == frozenset()
    skeleton = made.document.skeleton
    places = [viewer.fk(skeleton, pose).positions for pose in (before, made.document.pose)]
    assert np.abs(places[1] - places[0]).max() < 1e-6


def test_a_drag_that_holds_allow_moves_none_of_them() -> None:
    made = session()
    drag(made, HAND, shifted(made.document, HAND.name, NEAR))
    settled(made)
    assert missed(made) == {}
    assert made.yields == frozenset()


def test_holds_keep_their_places_and_come_home_when_the_other_goal_lets_them() -> None:
    made = reached()
    head = made.document.goal("Head").position
    made.commit()
    assert made.document.goal("Head").position == head
    assert made.yields == {"Head", "RightHand"}
    drag(made, HAND, place(new_document(made.document.character), HAND.name), ticks=80)
    settled(made)
    assert made.yields == frozenset()


def test_levels_of_a_drag() -> None:
    goals = session().document.solver_goals()
    asked = Priority(frozenset({"LeftHand"}), levels=True).among(goals)
    assert [(asked[name].level, asked[name].hold) for name in ("LeftFoot", "LeftHand", "RightHand")] == [
        (0, False),
        (1, False),
        (2, True),
    ]


@pytest.mark.parametrize(("own", "dragged", "other", "hold"), [(0, 0, 0, False), (2, 1, 2, True), (3, 1, 3, True)])
def test_a_level_that_the_user_chose_counts(own: int, dragged: int, other: int, hold: bool) -> None:
    goal = {"Head": Goal.position("Head", (0.0, 1.5, 0.0), level=own)}
    assert Priority(frozenset({"Head"}), levels=True).among(goal)["Head"].level == dragged
    left = Priority(levels=True).among(goal)["Head"]
    assert (left.level, left.hold) == (other, hold)


def test_what_must_stay_does_not_yield() -> None:
    made = session()
    made.dispatch(SetGoal("Head", level=0))
    drag(made, HAND, OVER_THERE, ticks=80)
    settled(made)
    assert "Head" not in missed(made)
    assert missed(made)["LeftHand"] > 0.02


def test_new_documents_have_holds_that_yield_and_older_files_firm_ones(tmp_path: Path) -> None:
    made = session()
    assert holds_yield(made.document)
    kept = tmp_path / "new.ikv.json"
    save_session(made.document, kept)
    text = kept.read_text()
    assert load_session(kept).solver.firm_holds is False
    older = tmp_path / "older.ikv.json"
    assert text.count('"firm_holds":false') == 1
    older.write_text(text.replace('"firm_holds":false', '"method":"default"'))
    assert load_session(older).solver.firm_holds is True


def test_the_switch_is_an_undo_step() -> None:
    made = session()
    made.dispatch(SetSolver(firm_holds=True))
    assert not holds_yield(made.document)
    assert made.history.labels[-1] == "Solver firm holds"
    made.undo()
    assert holds_yield(made.document)


def test_methods_that_tell_no_levels_apart_have_firm_holds() -> None:
    made = session()
    made.dispatch(SetSolver(method="dls"))
    assert not holds_yield(made.document)
    drag(made, HAND, shifted(made.document, HAND.name, NEAR))
    assert made.report is not None
    assert made.report.unserved == ()


def test_without_a_report_missed_holds_yield_to_what_is_selected_but_pins_do_not() -> None:
    document = session().document
    away = MoveTargets({"Head": ((0.0, 5.0, 0.0), None)}).apply(document)
    assert yielding_holds(away) == frozenset()
    away = Select((HAND,)).apply(away)
    assert yielding_holds(away) == {"Head"}
    assert yielding_holds(Select((Item("effector", "Head"),)).apply(away)) == frozenset()
    pinned: Document = SetPin("Head", position=True).apply(away)
    assert yielding_holds(pinned) == frozenset()


# --- what the window shows


def person_reaching() -> Person:
    person = Person()
    made = person.controller.session
    made.begin_drag((HAND,))
    start = person.place("LeftHand")
    for tick in range(90):
        part = min(1.0, tick / 50.0)
        made.gestures.drag_to({HAND: (start + part * (np.array(OVER_THERE) - start), None)})
        person.wait(1 / 60)
    return person


def test_a_hold_that_yields_has_a_leash_and_no_warning() -> None:
    person = person_reaching()
    marks = {mark.name: mark for mark in person.controller.scene().marks}
    assert [name for name, mark in marks.items() if mark.yields] == ["RightHand", "Head"]
    assert all(mark.reached and not mark.quiet for mark in marks.values())
    assert not [text for text in person.controller.draw_list().texts if text.text.endswith(" short")]


def test_the_status_line_says_what_yields() -> None:
    person = person_reaching()
    person.controller.session.commit()
    line, errors = person.controller.status(), person.controller.session.errors
    assert (line.icon, line.state, line.tone) == ("check", "Converged", "ok")
    far = {name: f"{1000.0 * (errors[name].metres or 0.0):.0f} mm" for name in ("Head", "RightHand")}
    assert line.yields == f"Head yields {far['Head']}, R hand {far['RightHand']}"
    assert "Head" not in line.goals


def test_what_is_dragged_out_of_reach_does_not_yield() -> None:
    person = Person()
    made = person.controller.session
    made.begin_drag((HAND,))
    for _ in range(90):
        made.gestures.drag_to({HAND: ((1.6, 1.9, 0.6), None)})
        person.wait(1 / 60)
    made.commit()
    assert made.yields == {"Head", "RightHand"}
    marks = person.controller.scene().marks
    assert [mark.name for mark in marks if not (mark.reached or mark.quiet)] == ["LeftHand"]
    line = person.controller.status()
    assert line.state.startswith("Out of reach: LeftHand ")
    assert line.yields.startswith("Head yields ")
    # Selected or not, a hold that yields is no warning.
    made.dispatch(Select((Item("effector", "Head"),)))
    assert "Head" not in [mark.name for mark in person.controller.scene().marks if not mark.reached]


def test_the_status_line_says_nothing_of_holds_where_none_yields() -> None:
    person = Person()
    assert person.controller.status().yields == ""


def test_a_goal_of_a_lower_level_that_gave_way_is_named_by_its_level() -> None:
    person = Person()
    made = person.controller.session
    made.dispatch(SetSolver(firm_holds=True))
    made.dispatch(SetGoal("Head", level=2))
    made.dispatch(Select(()))
    made.dispatch(MoveTargets({"LeftHand": (OVER_THERE, None)}))
    error = 1000.0 * (made.errors["Head"].metres or 0.0)
    assert error > 10.0
    assert person.controller.status().state == f"Keep gave way: Head {error:.0f} mm"


def test_firm_holds_are_a_command_of_the_menu() -> None:
    person = Person()
    binding = person.controller.bindings["holds.firm"]
    assert binding.checked is not None
    assert not binding.checked()
    person.controller.run("holds.firm")
    assert binding.checked()
    assert person.controller.session.document.solver.firm_holds
    person.controller.session.dispatch(SetSolver(method="ccd"))
    assert binding.lacks() == "only the default solver has them"


# --- the solver


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_one_shot_solve_has_no_joint_at_a_limit_because_of_a_hold(backend: str) -> None:
    document = new_document(viewer.load("sample:biped"))
    goals = [*Priority(frozenset({"LeftHand"}), levels=True).among(document.solver_goals()).values()]
    targets = np.full((len(goals), 3), np.nan)
    targets[next(i for i, goal in enumerate(goals) if goal.effector == "LeftHand")] = OVER_THERE
    solver = Solver(document.skeleton, goals, backend=backend)  # type: ignore[arg-type]  # one of them
    solution = solver.solve(document.pose, targets)
    assert solution.status is Status.CONVERGED
    assert solution.at_limit == ()
    assert solution.yields.any()
    assert np.nanmax(solution.errors_m[[goal.pinned for goal in goals]]) < TOLERANCE


def test_a_foot_that_is_dragged_is_no_pin_of_its_drag() -> None:
    made = session()
    made.dispatch(SetPin("LeftFoot", position=False, rotation=False))
    drag(made, FOOT, shifted(made.document, FOOT.name, (0.3, 0.6, 0.3)), ticks=80)
    settled(made)
    assert "LeftFoot" not in missed(made)
    assert "RightFoot" not in missed(made)


X, Y, Z = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
KINDS: tuple[dict[str, Any], ...] = (
    {"kind": "hinge", "axis": X},
    {"kind": "hinge", "axis": X, "limits": {"angle": [-90, 90]}},
    {"kind": "universal", "axes": [X, Y]},
    {"kind": "slide", "axis": Y},
    {"kind": "fixed"},
)


@pytest.mark.parametrize("limits", [True, False])
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_that_no_goal_moves_stands_as_its_kind_can(kind: dict[str, Any], limits: bool) -> None:
    # b has a goal, c has none.
    skeleton = rig({"kind": "fixed"}, {"kind": "hinge", "axis": X}, kind | {"parent": "a"}).skeleton
    rotations = skeleton.rest_rotations.copy()
    rotations[2] = from_axis_angle(Z, 1.0)
    turned = Pose(rotations, skeleton.offsets)
    solver = Solver(skeleton, [Goal.position("b", (0, 1, 0), offset=(0, 1, 0))], limits=limits, backend="numpy")
    ought = project_pose(skeleton, turned, limits=limits)
    for solution in (solver.solve(turned), solver.drag(turned).move()):
        assert solution.start_outside
        np.testing.assert_allclose(angle_between(solution.pose.rotations[2], ought.rotations[2]), 0.0, atol=1e-7)
    many = solver.solve_batch([turned, skeleton.rest_pose()])
    np.testing.assert_allclose(angle_between(many.rotations[0, 2], ought.rotations[2]), 0.0, atol=1e-7)
    assert not solver.solve(ought).start_outside


@pytest.mark.parametrize("kind", KINDS[:3])
def test_a_joint_of_a_chain_that_stands_as_its_kind_cannot_is_said_to(kind: dict[str, Any]) -> None:
    skeleton = rig({"kind": "fixed"}, kind).skeleton
    rotations = skeleton.rest_rotations.copy()
    rotations[1] = from_axis_angle(Z, 0.5)
    solver = Solver(skeleton, [Goal.position("b", (0, 1, 1), offset=(0, 1, 0))], backend="numpy")
    assert solver.solve(Pose(rotations, skeleton.offsets)).start_outside
    assert not solver.solve(skeleton.rest_pose()).start_outside


def test_a_slide_beside_its_axis_comes_back_to_it() -> None:
    skeleton = rig({"kind": "fixed"}, {"kind": "slide", "axis": Y}).skeleton
    moved = skeleton.offsets.copy()
    moved[1] += (0.0, 0.3, 0.2)
    _, places, unheld = KindProjection(skeleton).held(skeleton.rest_rotations, moved)
    assert unheld is not None
    assert unheld.tolist() == [False, True]
    np.testing.assert_allclose(places[1] - skeleton.offsets[1], (0.0, 0.3, 0.0), atol=1e-12)


@settings(max_examples=40)
@given(seed=st.integers(0, 2**32 - 1))
def test_just_what_kinds_cannot_hold_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    skeleton = rigs.random_skeleton(random, int(random.integers(1, 10)))
    space, unheld = joint_space(skeleton), KindProjection(skeleton)
    any_pose = rigs.random_pose(random, skeleton)
    turns, places = space.rebuild(
        space.measure(any_pose.rotations, any_pose.translations), any_pose.rotations, any_pose.translations
    )
    kept, _, off = unheld.held(turns, places)
    assert off is None
    assert kept is turns
    odd = turns.copy()
    joint = int(random.integers(len(skeleton)))
    turn = random.normal(size=4)
    odd[joint] = turn / np.linalg.norm(turn)
    measured = space.rebuild(space.measure(odd, places), odd, places)[0]
    wrong = bool(angle_between(measured[joint], odd[joint]) > 1e-4)
    found, _, off = unheld.held(odd, places)
    assert (off is not None) is wrong
    np.testing.assert_allclose(angle_between(found[joint], measured[joint]), 0.0, atol=1e-5)
    assert np.delete(found, joint, axis=0).tolist() == np.delete(odd, joint, axis=0).tolist()
