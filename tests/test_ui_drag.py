"""Drags by events alone: what is dragged follows, the rest holds, and nothing is left of what is cancelled."""

from __future__ import annotations

import numpy as np
import pytest
from ui_person import EMPTY, VIEW, Person

from viewer.session import Item, Mode
from viewer.ui.state import state_of

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
    assert person.controller.session.undo_depth == 1
    assert person.controller.session.history == ("Drag LeftHand",)


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
    assert person.controller.session.undo_depth == 0
    assert person.controller.camera is camera
    assert not person.controller.requests


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
    person.controller.scale = 2.0
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
    assert person.controller.session.undo_depth == 1
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
    assert person.controller.session.history[-1] == "Drag 2 items"


def test_an_effector_that_is_not_selected_moves_alone(person: Person) -> None:
    person.select("RightHand")
    right = person.target("RightHand")
    person.drag(person.at("LeftHand"), (20.0, -30.0))
    np.testing.assert_array_equal(person.target("RightHand"), right)


def test_an_arrow_of_the_gizmo_moves_along_its_axis_only(person: Person) -> None:
    person.select("LeftHand")
    before = person.target("LeftHand")
    x, y = person.at("LeftHand")
    person.move(x, y - 50.0)
    assert person.controller.cursor == "axis-y"
    person.drag((x, y - 50.0), (6.0, -40.0))
    moved = person.target("LeftHand") - before
    assert moved[1] > 0.05
    assert moved[[0, 2]] == pytest.approx((0.0, 0.0), abs=1e-12)


def test_a_ring_turns_the_joint_and_what_it_holds_moves_along(person: Person) -> None:
    person.controller.session.dispatch(_select("joint", "LeftArm"))
    person.key("e")
    arm, start = person.joint("LeftArm"), person.document
    x, y = person.pixel(arm)
    person.drag((x + 84.0, y), (0.0, -40.0))  # the ring that faces the eye
    assert person.controller.session.history[-1] == "Turn LeftArm"
    turned = ~np.isclose(person.document.pose.rotations, start.pose.rotations).all(axis=1)
    assert [start.skeleton.names[j] for j in np.flatnonzero(turned)] == ["LeftArm"]
    np.testing.assert_allclose(person.target("LeftHand"), person.place("LeftHand"), atol=1e-9)


def test_any_bone_can_be_dragged(person: Person) -> None:
    right = person.target("RightHand")
    elbow, forearm = person.joint("LeftForeArm"), person.joint("LeftHand")
    middle = 0.5 * (elbow + forearm)
    place = person.pixel(middle)
    person.move(*place)
    assert person.controller.hovered_item() == Item("joint", "LeftForeArm")
    person.pull(place, (25.0, -10.0))
    elbow, forearm = person.joint("LeftForeArm"), person.joint("LeftHand")
    assert person.pixel(0.5 * (elbow + forearm)) == pytest.approx((place[0] + 25.0, place[1] - 10.0), abs=12.0)
    person.release(place[0] + 25.0, place[1] - 10.0)
    np.testing.assert_array_equal(person.target("RightHand"), right)
    np.testing.assert_allclose(person.place("RightHand"), right, atol=TOLERANCE)
    assert person.controller.session.history == ("Drag LeftForeArm",)


def test_the_root_moves_and_pins_and_holds_stay(person: Person) -> None:
    root = person.document.skeleton.names[0]
    stays = {name: person.place(name) for name in ("LeftFoot", "RightFoot", "LeftHand")}
    before = person.joint(root)
    person.drag(person.pixel(before), (0.0, 20.0))
    assert person.joint(root)[1] < before[1] - 0.03
    for name, place in stays.items():
        np.testing.assert_allclose(person.place(name), place, atol=2 * TOLERANCE)


def test_dragging_a_bone_in_fk_turns_the_joint_towards_the_pointer(person: Person) -> None:
    person.key("d")
    assert person.document.mode is Mode.FK
    start = person.document
    person.drag(person.pixel(person.joint("LeftForeArm")), (30.0, -10.0))
    changed = ~np.isclose(person.document.pose.rotations, start.pose.rotations).all(axis=1)
    assert [start.skeleton.names[j] for j in np.flatnonzero(changed)] == ["LeftArm"]
    assert person.controller.status().modes == ("FK",)


def test_grab_follows_the_pointer_until_a_click(person: Person) -> None:
    person.select("LeftHand")
    before = person.target("LeftHand")
    x, y = person.at("LeftHand")
    person.move(x + 200.0, y + 50.0)
    person.key("g")
    assert person.controller.cursor == "crosshair"
    np.testing.assert_array_equal(person.target("LeftHand"), before)
    person.move(x + 230.0, y + 20.0)
    person.wait()
    assert person.controller.dragging
    person.click(x + 230.0, y + 20.0)
    assert not person.controller.dragging
    assert np.linalg.norm(person.target("LeftHand") - before) > 0.05
    assert person.controller.session.history == ("Select LeftHand", "Drag LeftHand")


def test_rotate_at_once_turns_the_goal(person: Person) -> None:
    person.select("LeftHand")
    person.key("r", "9", "0", "enter")
    handle = person.document.handle("LeftHand")
    assert handle.has_rotation
    np.testing.assert_allclose(person.target("LeftHand"), handle.position)
    assert person.controller.session.undo_depth == 2


def test_only_the_keys_for_it_act_while_something_is_dragged(person: Person) -> None:
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    for key in ("l", "p", "delete", "ctrl+z", "d", "m", "space", "tab", "ctrl+a", "f1"):
        person.key(key)
    assert person.document.limits_on
    assert person.controller.dragging
    assert not person.controller.requests
    assert not person.controller.can("edit.undo")
    assert person.controller.can("drag.cancel")
    person.key("escape")


def test_a_panel_that_changes_the_document_ends_the_drag(person: Person) -> None:
    place = person.at("LeftHand")
    person.pull(place, (20.0, -20.0))
    person.controller.session.undo()
    person.move(place[0] + 40.0, place[1])
    assert not person.controller.dragging
    assert not person.controller.messages


def test_hints_say_what_the_pointer_can_do(person: Person) -> None:
    person.move(*EMPTY)
    assert [(h.keys, h.words) for h in person.controller.hints()] == [
        ("Drag", "orbit"), ("Ctrl", "box select"), ("F", "frame"),
    ]  # fmt: skip
    person.move(*person.at("LeftHand"))
    assert [(h.keys, h.words) for h in person.controller.hints()] == [
        ("Drag", "move"), ("Ctrl", "snap 5 cm"), ("Shift", "fine"),
    ]  # fmt: skip
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    assert [(h.keys, h.words) for h in person.controller.hints()] == [
        ("X Y Z", "lock axis"), ("0 … 9", "type a number"), ("Esc", "cancel"),
    ]  # fmt: skip
    assert person.controller.cursor == "hidden"


def test_how_far_a_drag_went_stands_beside_the_pointer(person: Person) -> None:
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    person.key("z", "0", "period", "1", "2", "4")
    said = person.controller.draw_list().texts[-1]
    assert said.text == "ΔZ 0.124 m"
    x, y = person.controller.local(*person.controller.pointing.place)
    assert 0.0 < said.x - x < 40.0
    assert 0.0 < y - said.y < 40.0


def test_the_state_file_follows_a_drag(person: Person) -> None:
    start = person.at("LeftHand")
    person.drag(start, (30.0, -60.0))
    state = state_of(person.controller, (1280, 720), 60.0)
    hand = next(effector for effector in state["effectors"] if effector["name"] == "LeftHand")
    assert hand["screen"] == pytest.approx((start[0] + 30.0, start[1] - 60.0), abs=0.5)
    assert (hand["hold"], hand["pinned"]) == (True, False)
    assert hand["error_m"] < TOLERANCE
    assert state["undo_depth"] == 1
    assert state["solver"]["status"] == "converged"
    assert state["viewport"] == list(VIEW)


def _select(kind: str, name: str) -> object:
    from viewer.session.actions import Select  # noqa: PLC0415 - one test's own

    return Select((Item(kind, name),))  # type: ignore[arg-type]
