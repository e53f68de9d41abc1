"""The document: what it holds when a file opens, and the handles."""

from __future__ import annotations

import sys
from dataclasses import replace
from subprocess import run

import numpy as np
import pytest
from inside.document import HoldEffector, MakeEffector, ReleaseEffector, SetGoalKind, SetPin
from inside.ik import PIN_WEIGHT
from sessions import character, place, session, target_of

import viewer
from viewer import Goal, InputError
from viewer.document import DocumentGoal, Item, SolverSettings, new_document
from viewer.skeleton import fk


def test_effectors_that_are_on_are_held_where_they_stand_and_feet_are_pinned() -> None:
    document = new_document(character("biped"))
    assert document.pose.same_as(character("biped").skeleton.relaxed_pose())
    assert [handle.effector for handle in document.goals] == [e.name for e in document.skeleton.effectors]
    for handle in document.goals:
        foot = handle.effector in ("LeftFoot", "RightFoot")
        assert (handle.pin_position, handle.pin_rotation) == (foot, foot)
        assert handle.enabled == ("Toes" not in handle.effector)
        if handle.enabled:
            np.testing.assert_array_equal(handle.position, place(document, handle.effector))


def test_a_file_with_motion_opens_at_its_first_frame() -> None:
    document = new_document(character("walk"))
    assert (document.clip, document.frame) == (next(iter(character("walk").clips)), 0)
    assert document.pose.same_as(document.character.clips[document.clip or ""].pose(0))
    last = new_document(character("walk"), frame=5)
    assert last.pose.same_as(character("walk").clips[document.clip or ""].pose(5))


def test_goals_take_the_place_of_holds() -> None:
    goals = [
        Goal.position("LeftHand", (0.3, 1.0, 0.3), weight=2.0),
        Goal.aim("Head", (0.0, 1.0, 5.0), (0.0, 0.0, 1.0)),
        Goal.distance("Head", 0.5, (0.0, 2.0, 0.0)),
        Goal.pin("LeftForeArm", rotation=False),
    ]
    document = new_document(character("biped"), goals=goals)
    assert document.goal("LeftHand").for_solver() == goals[0]
    assert document.goal("Head").kind == "aim"
    assert document.goal("Head_2").kind == "distance"
    elbow = document.goal("LeftForeArm")
    assert elbow.pin_position
    assert not elbow.pin_rotation
    np.testing.assert_allclose(target_of(document, "LeftForeArm"), place(document, "LeftForeArm"))
    assert document.goal("RightFoot").pinned
    assert len(document.solver_goals()) == 7


def test_pins_weigh_thirty_holds_and_go_off_as_they_came() -> None:
    made = session()
    hand = made.document.goal("LeftHand")
    made.dispatch(SetPin("LeftHand", position=True, rotation=True))
    goal = made.document.goal("LeftHand").for_solver()
    assert goal is not None
    assert (goal.kind, goal.weight, goal.rotation_weight) == ("position+rotation", PIN_WEIGHT, PIN_WEIGHT)
    made.dispatch(SetPin("LeftHand", rotation=False))
    goal = made.document.goal("LeftHand").for_solver()
    assert goal is not None
    assert (goal.kind, goal.weight, goal.rotation_weight) == ("position", PIN_WEIGHT, 1.0)
    made.dispatch(SetPin("LeftHand", position=False))
    assert made.document.goal("LeftHand").for_solver() == hand.for_solver()


@pytest.mark.parametrize("kind", ["rotation", "position+rotation", "distance", "aim", None])
def test_another_goal_is_met_where_the_effector_stands(kind: str | None) -> None:
    made = session()
    made.dispatch(ReleaseEffector("LeftHand") if kind is None else SetGoalKind("LeftHand", kind))
    handle = made.document.goal("LeftHand")
    assert (handle.kind if handle.enabled else None) is kind
    if kind != "distance":  # the point that it was held at is the centre now
        assert made.history.index == 1
        assert all(error.reached for error in made.errors.values())
        assert made.document.pose.same_as(character("biped").skeleton.relaxed_pose())
    assert made.report is not None
    assert made.report.status == "converged"
    made.dispatch(HoldEffector("LeftHand"))
    assert made.document.goal("LeftHand").sets_pose


def test_effectors_of_joints_and_tips_can_be_made() -> None:
    made = session()
    made.dispatch(MakeEffector("LeftForeArm"))
    assert made.document.active == Item("effector", "LeftForeArm")
    assert made.document.goal("LeftForeArm").kind == "position"
    made.dispatch(MakeEffector("Head.tip"))
    tip = fk(made.document.skeleton, made.document.pose)
    head = made.document.skeleton.index("Head")
    offset = made.document.skeleton.effectors[-1].offset
    np.testing.assert_allclose(target_of(made.document, "Head.tip"), tip.point(head, np.array(offset)))
    made.dispatch(MakeEffector("LeftToes"))
    assert made.document.goal("LeftToes").enabled


def test_documents_differ_in_what_differs() -> None:
    document = new_document(character("biped"))
    assert document.same_as(new_document(viewer.load("sample:biped")))
    others = [
        replace(document, limits_on=False),
        replace(document, pose=document.skeleton.rest_pose()),
        replace(document, solver=SolverSettings(method="dls")),
        replace(document, selection=(Item("joint", "Hips"),)),
        replace(document, unlimited=frozenset({"Hips"})),
        replace(document, skeleton=replace(document.skeleton, stiffness=np.full(len(document.skeleton), 0.5))),
        replace(document, goals=document.goals[1:]),
        new_document(character("walk")),
    ]
    assert not any(document.same_as(other) for other in others)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"position": (1, 2)}, r'goal "h": position: expected shape \(3,\), found \(2,\)'),
        ({"position": (float("nan"), 0, 0)}, 'goal "h": position: expected finite numbers, found nan'),
        ({"position": (1e8, 0, 0)}, 'goal "h": position: expected metres within 1e+07 of the origin, found 1e+08'),
        ({"position": None}, 'goal "h": expected a position, found none'),
        ({"kind": "pose"}, 'no goal "h": kind "pose"'),
        ({"kind": "aim"}, 'goal "h": expected a axis, found none'),
        ({"weight": 0}, 'goal "h": weight: expected a finite number above 0, found 0'),
        ({"weight": "1"}, 'goal "h": weight: expected a number, found "1"'),
        ({"rotation": (0, 0, 0, 2), "kind": "rotation"}, "expected a unit quaternion"),
        ({"distance": -1.0}, 'goal "h": distance: expected a finite number, 0 to 1e+07, found -1'),
    ],
)
def test_bad_goals_are_refused(changes: dict[str, object], words: str) -> None:
    with pytest.raises(InputError) as caught:
        DocumentGoal(**{"effector": "h", "position": (0.0, 0.0, 0.0), **changes})  # type: ignore[arg-type]
    assert words.replace("\\", "") in str(caught.value)


def test_bad_openings_are_refused() -> None:
    biped = character("biped")
    with pytest.raises(InputError, match="no frame 3: no clip is loaded"):
        new_document(biped, frame=3)
    with pytest.raises(InputError, match='no clip "run"'):
        new_document(character("walk"), clip="run")
    with pytest.raises(InputError, match="no frame 100000"):
        new_document(character("walk"), frame=100_000)
    with pytest.raises(InputError, match="a document cannot hold a function goal"):
        new_document(biped, goals=[Goal.function(lambda world: world.positions[0])])
    with pytest.raises(InputError, match="pose: expected 22 joints as the skeleton has, found 13"):
        new_document(biped, pose=character("claw-arm").skeleton.rest_pose())


def test_it_loads_no_window_and_compiles_nothing() -> None:
    code = (
        "import sys, viewer, viewer.document as o, viewer.session as s, viewer.document.actions as a; "
        "d = s.Session(o.new_document(viewer.load('sample:biped'))); d.dispatch(a.SetLimits(False)); "
        "print([m for m in ('numba', 'moderngl', 'glfw', 'imgui_bundle', 'trimesh', 'pyrr') if m in sys.modules])"
    )
    done = run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
