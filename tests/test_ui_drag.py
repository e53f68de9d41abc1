"""Drags by events alone: what is dragged follows, the rest holds, and nothing is left of what is cancelled."""

from __future__ import annotations

import math

import numpy as np
import pytest
from inside.document import actions as act
from inside.opengl import marks_of
from inside.scene import centre_of, text_width
from inside.spatial import Floats
from inside.ui import goal_marks
from ui_person import VIEW, Person

from viewer.document import Item, stand_of
from viewer.skeleton import fk

TOLERANCE = 1e-3
"""Metres: that of the solver."""


@pytest.fixture
def person() -> Person:
    return Person()


def test_a_dragged_hand_follows_the_pointer_and_the_rest_holds(person: Person) -> None:
    held = {name: person.place(name) for name in ("RightHand", "LeftFoot", "RightFoot", "Head")}
    start, depth = person.at("LeftHand"), person.controller.projection().depth(person.place("LeftHand"))
    person.drag(start, (30.0, -60.0))
    assert person.at("LeftHand") == pytest.approx((start[0] + 30.0, start[1] - 60.0), abs=0.5)
    # It went along the view's plane: as far from the eye as before.
    assert person.controller.projection().depth(person.place("LeftHand")) == pytest.approx(depth, abs=TOLERANCE)
    for name, place in held.items():
        np.testing.assert_allclose(person.place(name), place, atol=TOLERANCE)
    assert person.controller.session.history.index == 1
    assert person.controller.session.history.labels == ("Drag LeftHand",)


def test_a_drag_is_one_step_to_undo(person: Person) -> None:
    start = person.document
    person.drag(person.at("LeftHand"), (30.0, -60.0))
    dragged = person.document
    person.key("ctrl+z")
    assert person.document is start
    person.key("ctrl+shift+z")
    assert person.document is dragged


@pytest.mark.parametrize("how", ["escape", "right button"])
def test_a_cancelled_drag_gives_the_very_document_back(person: Person, how: str) -> None:
    start, camera = person.document, person.controller.camera
    place = person.at("LeftHand")
    person.pull(place, (80.0, -120.0))
    assert person.document is not start
    if how == "escape":
        person.key("escape")
    else:
        person.press(place[0] + 80.0, place[1] - 120.0, button="right")
        person.release(place[0] + 80.0, place[1] - 120.0, button="right")
    assert person.document is start
    assert not person.controller.dragging
    person.move(place[0], place[1])
    person.release(*place)
    assert person.document is start
    assert person.controller.session.history.index == 0
    assert person.controller.camera is camera
    assert not person.controller.view.requests


def test_less_than_three_pixels_are_a_click(person: Person) -> None:
    pose = person.document.pose
    x, y = person.at("LeftHand")
    person.press(x, y)
    person.move(x + 2.0, y - 1.0)
    person.wait()
    person.release(x + 2.0, y - 1.0)
    assert person.document.pose is pose
    assert person.selected == ["LeftHand"]


def test_the_threshold_grows_with_the_scale(person: Person) -> None:
    person.controller.view.scale = 2.0
    x, y = person.at("LeftHand")
    person.press(x, y)
    person.move(x + 5.0, y)
    assert not person.controller.dragging
    person.move(x + 7.0, y)
    assert person.controller.dragging


def test_the_camera_does_not_move_while_something_is_held(person: Person) -> None:
    camera = person.controller.camera
    x, y = person.at("LeftHand")
    person.pull((x, y), (40.0, -40.0))
    person.scroll(3.0, x, y)
    person.press(x, y, button="middle")
    person.move(x + 60.0, y)
    person.release(x + 60.0, y, button="middle")
    for key in ("f", "a", "1", "5", "kp4"):
        person.key(key)
    assert person.controller.camera is camera
    person.key("escape")


def test_typed_numbers_along_a_locked_axis(person: Person) -> None:
    before = person.target("LeftHand")
    place = person.at("LeftHand")
    person.pull(place, (20.0, -10.0))
    person.key("x", "0", "period", "1", "enter")
    np.testing.assert_allclose(person.target("LeftHand") - before, (0.1, 0.0, 0.0), atol=1e-12)
    assert person.controller.session.history.index == 1
    assert not person.controller.dragging


def test_the_sign_and_backspace(person: Person) -> None:
    before = person.target("LeftHand")
    person.pull(person.at("LeftHand"), (20.0, -10.0))
    person.key("y", "2", "backspace", "kp0", "kpdecimal", "0", "5", "minus", "kpenter")
    np.testing.assert_allclose(person.target("LeftHand") - before, (0.0, -0.05, 0.0), atol=1e-12)


def test_a_locked_axis_is_kept_to(person: Person) -> None:
    before = person.target("LeftHand")
    person.pull(person.at("LeftHand"), (20.0, -30.0))
    person.key("y")
    person.move(*np.add(person.at("LeftHand"), (25.0, -35.0)))
    moved = person.target("LeftHand") - before
    assert abs(moved[1]) > 0.01
    assert moved[[0, 2]] == pytest.approx((0.0, 0.0), abs=1e-12)
    person.key("y")  # in its own space: as turned as the hand is
    person.key("y")  # free
    assert "Right" in person.controller.draw_list().texts[-1].text
    person.key("escape")


def test_snapping_counts_from_the_start(person: Person) -> None:
    before = person.target("LeftHand")
    person.pull(person.at("LeftHand"), (33.0, -47.0), "ctrl")
    person.key("y")
    place = person.at("LeftHand")
    person.move(place[0], place[1] - 21.0, "ctrl")
    steps = (person.target("LeftHand") - before)[1] / 0.05
    assert steps == pytest.approx(round(steps), abs=1e-9)
    assert round(steps) != 0
    person.key("escape")


def test_fine_goes_a_tenth_of_the_way(person: Person) -> None:
    other = Person()
    place = person.at("LeftHand")
    before = person.target("LeftHand")
    person.pull(place, (4.0, 0.0))
    other.pull(place, (4.0, 0.0))
    base = person.target("LeftHand")
    person.move(place[0] + 54.0, place[1], "shift")
    other.move(place[0] + 54.0, place[1])
    fine, coarse = person.target("LeftHand") - base, other.target("LeftHand") - base
    np.testing.assert_allclose(fine, 0.1 * coarse, atol=1e-9)
    assert np.linalg.norm(before - base) > 0.0


def test_several_selected_effectors_move_together(person: Person) -> None:
    person.select("LeftHand")
    x, y = person.at("RightHand")
    person.click(x, y, "shift")
    assert person.selected == ["LeftHand", "RightHand"]
    left, right = person.target("LeftHand"), person.target("RightHand")
    # Beside the gizmo of the active one, at the other.
    person.drag(person.at("LeftHand"), (20.0, -30.0))
    np.testing.assert_allclose(person.target("LeftHand") - left, person.target("RightHand") - right, atol=1e-9)
    assert np.linalg.norm(person.target("LeftHand") - left) > 0.05
    assert person.controller.session.history.labels[-1] == "Drag 2 items"


def test_an_effector_that_is_not_selected_moves_alone(person: Person) -> None:
    person.select("RightHand")
    right = person.target("RightHand")
    person.drag(person.at("LeftHand"), (20.0, -30.0))
    np.testing.assert_array_equal(person.target("RightHand"), right)


def test_only_the_keys_for_it_act_while_something_is_dragged(person: Person) -> None:
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    for key in ("l", "p", "delete", "ctrl+z", "d", "m", "space", "tab", "ctrl+a", "f1"):
        person.key(key)
    assert person.document.limits_on
    assert person.controller.dragging
    assert not person.controller.view.requests
    assert not person.controller.can("edit.undo")
    assert person.controller.can("drag.cancel")
    person.key("escape")


def test_a_panel_that_changes_the_document_ends_the_drag(person: Person) -> None:
    place = person.at("LeftHand")
    person.pull(place, (20.0, -20.0))
    person.controller.session.undo()
    person.move(place[0] + 40.0, place[1])
    assert not person.controller.dragging
    assert not person.controller.view.bar.messages


@pytest.mark.parametrize("by_gizmo", [False, True])
def test_dragging_a_bend_moves_its_joint_and_the_angle_stays_asked(person: Person, by_gizmo: bool) -> None:
    session = person.controller.session
    session.dispatch(act.MakeEffector("LeftForeArm"))
    session.dispatch(act.SetGoalKind("LeftForeArm", "bend"))
    asked = person.document.goal("LeftForeArm")
    session.dispatch(act.Select((Item("effector", "LeftForeArm"),) if by_gizmo else ()))
    joint = person.document.skeleton.index("LeftForeArm")
    before = stand_of(person.document, asked)
    assert before.joint == joint
    if by_gizmo:
        assert person.controller.run("grab.move")
        person.move(*person.at("LeftForeArm"))
        x, y = person.at("LeftForeArm")
        person.move(x - 30.0, y - 20.0)
        person.press(x - 30.0, y - 20.0)
        person.release(x - 30.0, y - 20.0)
    else:
        person.drag(person.at("LeftForeArm"), (-30.0, -20.0))
    after = stand_of(person.document, asked)
    assert np.linalg.norm(after.point - before.point) > 0.01
    assert person.document.goal("LeftForeArm") == asked
    assert session.errors["LeftForeArm"].reached
    assert session.history.labels[-1] == "Drag LeftForeArm"


def test_a_line_leads_from_a_missed_bend_to_where_the_bone_would_end(person: Person) -> None:
    session = person.controller.session
    session.dispatch(act.MakeEffector("LeftForeArm"))
    session.dispatch(act.SetGoalKind("LeftForeArm", "bend"))

    def guides() -> tuple[Floats, ...]:
        return next(mark.guides for mark in goal_marks(session.document) if mark.name == "LeftForeArm")

    assert guides() == ()
    session.dispatch(act.SetGoal("LeftForeArm", angle=math.pi))  # the limits do not allow it
    (line,) = guides()
    asked = session.document.goal("LeftForeArm").for_solver()
    assert asked is not None
    world = fk(session.document.skeleton, session.document.pose)
    (in_picture,) = marks_of([asked], session.document.skeleton, world)
    assert in_picture.target is not None
    assert np.array_equal(line, [in_picture.position, in_picture.target])


def test_no_words_of_a_drag_cross_the_axes_in_the_corner(person: Person) -> None:
    disc, (_, _, width, _) = centre_of(person.controller.projection()), VIEW
    person.pull(person.at("LeftHand"), (20.0, -30.0))
    person.key("x")
    for x in range(600, width, 24):
        for y in range(4, 140, 24):
            person.move(VIEW.x + x, VIEW.y + y)
            for words in person.controller.draw_list().texts:
                if words.size == 15:  # the readout, and how far the target is out of reach
                    ends = words.x, words.x + text_width(words.text, 15.0, bold=words.bold)
                    nearest = np.clip(disc, (ends[0], words.y - 7.0), (ends[1], words.y + 7.0))
                    assert np.linalg.norm(nearest - disc) > 44.0, (x, y, words.text)
                    assert ends[0] > 0.0
                    assert ends[1] < width
    person.key("escape")
