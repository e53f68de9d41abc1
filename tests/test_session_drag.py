"""IK drags: who moves and who stays, out of reach, release and cancel."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import ReleaseEffector, SetLimits, SetSolver, violation
from inside.spatial import angle_between, from_axis_angle, multiply, rotate
from sessions import HAND, drag, item_place, place, session, settled, shifted, target_of

import viewer
from viewer import Status
from viewer.document import Grab, Item, new_document
from viewer.session import Session
from viewer.skeleton import limit_violation

HIPS = Item("joint", "Hips")
FEET = ("LeftFoot", "RightFoot")


def feet_moved(made: Session) -> float:
    """Metres that the feet are off their pins."""
    return max(made.errors[name].metres or 0.0 for name in FEET)


def test_dragging_a_hand_moves_its_goal_only_and_the_feet_stay_planted() -> None:
    made = session()
    before = made.document
    target = shifted(before, "LeftHand", (0.2, 0.3, 0.2))
    made.begin_drag((HAND,))
    for tick in range(60):
        made.gestures.drag_to(
            {HAND: (place(before, "LeftHand") + min(1.0, tick / 30) * np.array([0.2, 0.3, 0.2]), None)}
        )
        made.tick(tick / 60)
        assert feet_moved(made) < 1e-3
    made.commit()
    np.testing.assert_allclose(place(made.document, "LeftHand"), target, atol=1e-3)
    moved = [a.effector for a, b in zip(made.document.goals, before.goals, strict=True) if a != b]
    assert moved == ["LeftHand"]
    assert made.report is not None
    assert made.report.status is Status.CONVERGED
    assert all(error.reached for error in made.errors.values())


def test_a_release_right_after_the_last_move_solves_for_that_move() -> None:
    # Move and release of a slow frame arrive together, after the drag had reached the target before them.
    made = session()
    start = made.document
    drag(made, HAND, shifted(start, "LeftHand", (0.1, 0.1, 0.1)))
    settled(made)
    last = shifted(start, "LeftHand", (0.2, 0.3, 0.2))
    made.gestures.drag_to({HAND: (last, None)})
    made.commit()
    np.testing.assert_allclose(place(made.document, "LeftHand"), last, atol=1e-3)


def test_commit_is_one_step_and_undo_gives_the_very_document_back() -> None:
    made = session()
    start = made.document
    drag(made, HAND, shifted(start, "LeftHand", (0.1, 0.1, 0.1)))
    made.commit()
    end = made.document
    assert made.history.labels == ("Drag LeftHand",)
    assert made.undo()
    assert made.document is start
    assert not made.undo()
    assert made.redo()
    assert made.document is end


def test_cancel_gives_the_very_document_back() -> None:
    made = session()
    start, report = made.document, made.report
    drag(made, HAND, shifted(start, "LeftHand", (0.5, 0.1, 0.1)))
    assert made.document is not start
    made.cancel()
    assert made.document is start
    assert made.report is report
    assert made.history.index == 0
    drag(made, HAND, (0.5, 1.0, 0.1))
    assert made.undo()  # Ctrl+Z in the middle of a drag takes the drag back
    assert made.document is start
    made.begin_drag((HAND,))
    made.commit()
    assert made.history.index == 0


def test_the_root_handle_moves_the_pelvis_while_pins_and_hands_stay() -> None:
    made = session()
    start = made.document
    made.dispatch(ReleaseEffector("Head"))
    hips = item_place(start, HIPS)
    drag(made, HIPS, hips - (0.0, 0.1, 0.0))
    made.commit()
    np.testing.assert_allclose(item_place(made.document, HIPS), hips - (0.0, 0.1, 0.0), atol=1e-3)
    assert all(error.reached for error in made.errors.values())
    np.testing.assert_allclose(place(made.document, "LeftHand"), place(start, "LeftHand"), atol=1e-3)


def test_what_cannot_stay_gives_way_to_the_dragged_root_but_pins_do_not() -> None:
    made = session()
    hips = item_place(made.document, HIPS)
    drag(made, HIPS, hips - (0.0, 0.15, 0.0))
    made.commit()
    assert abs(item_place(made.document, HIPS)[1] - hips[1] + 0.15) < 0.02
    assert feet_moved(made) < 1e-3
    assert all(error.reached for error in made.errors.values())  # the head is held where it is now
    settled(made)


def test_the_root_can_be_turned() -> None:
    made = session()
    hips = item_place(made.document, HIPS)
    turn = from_axis_angle((0.0, 1.0, 0.0), 0.3)
    joint = made.document.skeleton.index("Hips")
    before = viewer.fk(made.document.skeleton, made.document.pose).rotations[joint]
    made.begin_drag((HIPS,))
    made.gestures.drag_to({HIPS: (hips, multiply(turn, before))})
    for tick in range(40):
        made.tick(tick / 60)
    after = viewer.fk(made.document.skeleton, made.document.pose).rotations[joint]
    assert angle_between(after, multiply(turn, before)) < np.radians(0.5)
    made.commit()
    assert feet_moved(made) < 1e-3


def test_any_point_of_a_bone_can_be_grabbed_and_holds_stay() -> None:
    made = session()
    arm, point = made.document.skeleton.index("LeftForeArm"), np.array([0.05, 0.0, 0.0])
    world = viewer.fk(made.document.skeleton, made.document.pose)
    hand, shoulder = (item_place(made.document, Item("joint", name)) for name in ("LeftHand", "LeftArm"))
    # The elbow swings about the line from shoulder to hand.
    start, line = world.point(arm, point), hand - shoulder
    swing = from_axis_angle(line / np.linalg.norm(line), -0.3)
    target, item = shoulder + rotate(swing, start - shoulder), Item("joint", "LeftForeArm")
    made.begin_drag((), Grab("LeftForeArm", point))
    for tick in range(40):
        made.gestures.drag_to({item: (target, None)})
        made.tick(tick / 60)
    now = viewer.fk(made.document.skeleton, made.document.pose).point(arm, point)
    np.testing.assert_allclose(now, target, atol=1e-3)
    assert np.linalg.norm(place(made.document, "LeftHand") - hand) < 1e-3
    handles = made.document.goals
    made.commit()
    assert made.document.goals == handles
    assert made.history.labels == ("Drag LeftForeArm",)


def test_a_grabbed_hand_takes_its_hold_along_and_a_grabbed_foot_stays_flat() -> None:
    made = session()
    for name, way in (("LeftHand", (0.1, 0.2, 0.1)), ("LeftFoot", (0.0, 0.1, 0.1))):
        item = Item("joint", name)
        target = item_place(made.document, item) + np.array(way)
        drag(made, item, target)
        made.commit()
        np.testing.assert_allclose(place(made.document, name), target, atol=1e-3)
        np.testing.assert_allclose(target_of(made.document, name), target, atol=1e-3)
    assert made.document.goal("LeftFoot").pinned
    assert (made.errors["LeftFoot"].degrees or 0.0) < 0.5


def test_an_effector_that_is_off_is_on_once_it_is_dragged() -> None:
    made = session()
    toes = Item("effector", "LeftToes")
    drag(made, toes, shifted(made.document, "LeftToes", (0.0, 0.02, 0.0)))
    made.commit()
    assert made.document.goal("LeftToes").enabled


def test_several_effectors_move_together() -> None:
    made = session()
    items = (HAND, Item("effector", "RightHand"))
    starts = {item: place(made.document, item.name) for item in items}
    made.begin_drag(items)
    for tick in range(40):
        made.gestures.drag_to({item: (start + np.array([0.0, 0.2, 0.1]), None) for item, start in starts.items()})
        made.tick(tick / 60)
    made.commit()
    assert made.history.labels == ("Drag 2 items",)
    for item, start in starts.items():
        np.testing.assert_allclose(place(made.document, item.name), start + np.array([0.0, 0.2, 0.1]), atol=1e-3)


def test_a_turned_hand_keeps_its_turn() -> None:
    made = session()
    joint = made.document.skeleton.index("LeftHand")
    before = viewer.fk(made.document.skeleton, made.document.pose).rotations[joint]
    wanted = multiply(from_axis_angle((1.0, 0.0, 0.0), 0.3), before)
    made.begin_drag((HAND,))
    made.gestures.drag_to({HAND: (None, wanted)})
    for tick in range(40):
        made.tick(tick / 60)
    made.commit()
    assert made.document.goal("LeftHand").has_rotation
    after = viewer.fk(made.document.skeleton, made.document.pose).rotations[joint]
    assert angle_between(after, wanted) < np.radians(0.5)


@pytest.mark.parametrize("name", ["biped", "claw-arm", "raptor", "quadruped"])
def test_a_drag_stays_inside_the_limits(name: str) -> None:
    made = session(name)
    item = Item("effector", next(handle.effector for handle in made.document.goals if handle.enabled))
    start, random = item_place(made.document, item), np.random.default_rng(7)
    made.begin_drag((item,))
    for tick in range(60):
        if tick % 10 == 0:
            way = random.normal(size=3)
        made.gestures.drag_to({item: (start + 0.05 * (tick % 10) * way, None)})
        made.tick(tick / 60)
        assert limit_violation(made.document.skeleton, made.document.pose).max() <= 1e-3


def test_out_of_reach_it_comes_to_rest_and_says_why_after_the_release() -> None:
    made = session()
    made.begin_drag((HAND,))
    made.gestures.drag_to({HAND: (shifted(made.document, "LeftHand", (4.0, 0.0, 0.0)), None)})
    settled(made)
    still = made.document
    for tick in range(20):
        made.gestures.drag_to({HAND: (target_of(made.document, "LeftHand"), None)})
        assert not made.tick(20.0 + tick / 60)
    assert made.document.pose is still.pose
    dragged = made.report
    assert dragged is not None
    assert dragged.status is Status.UNREACHABLE
    assert dragged.reasons == ()
    made.commit()
    report = made.report
    assert report is not None
    assert report.status is Status.UNREACHABLE
    assert [reason for reason in report.reasons if "LeftHand" in report.named(reason)]
    assert not report.errors["LeftHand"].reached
    assert not made.escape.offered


def test_a_drag_that_begins_outside_its_limits_does_not_jump_inside() -> None:
    made = session()
    skeleton = made.document.skeleton
    elbow = skeleton.index("LeftForeArm")
    rotations = made.document.pose.rotations.copy()
    rotations[elbow] = multiply(rotations[elbow], from_axis_angle((0.0, 1.0, 0.0), 2.0))
    made.dispatch(SetLimits(False))
    made.replace(
        replace(new_document(made.document.character, pose=viewer.Pose(rotations, made.document.pose.translations)))
    )
    assert violation(made.document) > 0.3
    last, start = made.document.pose, place(made.document, "LeftHand")
    made.begin_drag((HAND,))
    steps = []
    for tick in range(30):
        made.gestures.drag_to({HAND: (start + np.array([0.0, 0.001 * tick, 0.0]), None)})
        made.tick(tick / 60)
        steps.append(angle_between(made.document.pose.rotations, last.rotations).max())
        last = made.document.pose
    assert max(steps) < 0.5 * sum(steps)
    assert violation(made.document) <= 1e-3


@pytest.mark.parametrize("way", [(0.1, 0.1, 0.1), (0.0, 3.0, 0.0)])
def test_a_pinned_paw_that_is_dragged_out_of_reach_draws_no_other_pin_off(way: tuple[float, float, float]) -> None:
    made = session("quadruped")
    dragged, *others = (goal.id for goal in made.document.goals if goal.pinned)
    start = place(made.document, dragged)
    made.begin_drag((Item("effector", dragged),))
    for tick in range(60):
        made.gestures.drag_to({Item("effector", dragged): (start + min(1.0, tick / 30) * np.array(way), None)})
        made.tick(tick / 60)
        assert max(made.errors[name].metres or 0.0 for name in others) < 1e-3
    made.commit()
    settled(made)
    assert max(made.errors[name].metres or 0.0 for name in others) < 5e-4
    assert not made.errors[dragged].reached


@pytest.mark.parametrize("firm", [False, True])
@pytest.mark.parametrize("then", [Item("effector", "Head"), Item("joint", "Neck2")])
def test_after_a_paw_was_dragged_out_of_reach_no_drag_draws_another_pin_off(firm: bool, then: Item) -> None:
    made = session("quadruped")
    made.dispatch(SetSolver(firm_holds=firm))
    most = 1e-3 if firm else 5e-4
    far, *others = (goal.id for goal in made.document.goals if goal.pinned)
    for item, way in ((Item("effector", far), (0.3, 0.4, 0.8)), (then, (0.0, 0.6, 0.9))):
        start = item_place(made.document, item)
        made.begin_drag((item,))
        for tick in range(60):
            made.gestures.drag_to({item: (start + min(1.0, tick / 30) * np.array(way), None)})
            made.tick(tick / 60)
            assert max(made.errors[name].metres or 0.0 for name in others) < most
        made.commit()
        settled(made)
        assert max(made.errors[name].metres or 0.0 for name in others) < most
        assert not made.errors[far].reached
