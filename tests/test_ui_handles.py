"""Handles by events alone: the gizmo, rings, bones, the root, joints turned by hand, grabs."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import Select
from ui_person import Person

from viewer.document import Item, Mode

TOLERANCE = 1e-3
"""Metres: that of the solver."""


@pytest.fixture
def person() -> Person:
    return Person()


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
    person.controller.session.dispatch(Select((Item("joint", "LeftArm"),)))
    person.key("e")
    arm, start = person.joint("LeftArm"), person.document
    x, y = person.pixel(arm)
    person.drag((x + 84.0, y), (0.0, -40.0))  # the ring that faces the eye
    assert person.controller.session.history.labels[-1] == "Turn LeftArm"
    turned = ~np.isclose(person.document.pose.rotations, start.pose.rotations).all(axis=1)
    assert [start.skeleton.names[j] for j in np.flatnonzero(turned)] == ["LeftArm"]
    np.testing.assert_allclose(person.target("LeftHand"), person.place("LeftHand"), atol=1e-9)


def test_any_bone_can_be_dragged(person: Person) -> None:
    right = person.target("RightHand")
    elbow, forearm = person.joint("LeftForeArm"), person.joint("LeftHand")
    middle = 0.5 * (elbow + forearm)
    place = person.pixel(middle)
    person.move(*place)
    assert person.controller.view.hovered_item() == Item("joint", "LeftForeArm")
    person.pull(place, (25.0, -10.0))
    elbow, forearm = person.joint("LeftForeArm"), person.joint("LeftHand")
    assert person.pixel(0.5 * (elbow + forearm)) == pytest.approx((place[0] + 25.0, place[1] - 10.0), abs=12.0)
    person.release(place[0] + 25.0, place[1] - 10.0)
    np.testing.assert_array_equal(person.target("RightHand"), right)
    np.testing.assert_allclose(person.place("RightHand"), right, atol=TOLERANCE)
    assert person.controller.session.history.labels == ("Drag LeftForeArm",)


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
    assert person.drags()
    person.click(x + 230.0, y + 20.0)
    assert not person.drags()
    assert np.linalg.norm(person.target("LeftHand") - before) > 0.05
    assert person.controller.session.history.labels == ("Select LeftHand", "Drag LeftHand")


def test_rotate_at_once_turns_the_goal(person: Person) -> None:
    person.select("LeftHand")
    before = person.target("LeftHand")
    person.key("r", "9", "0", "enter")
    handle = person.document.goal("LeftHand")
    assert handle.has_rotation
    assert handle.position is not None
    np.testing.assert_allclose(person.target("LeftHand"), before)
    assert person.controller.session.history.index == 2


@pytest.mark.parametrize("active", [0, 1])
def test_handles_of_several_effectors_stand_amid_them_and_move_all(person: Person, active: int) -> None:
    names = ["LeftHand", "RightHand"]
    names = names if active else names[::-1]
    person.controller.session.dispatch(Select(tuple(Item("effector", name) for name in names)))
    before = {name: person.target(name) for name in names}
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    np.testing.assert_allclose(gizmo.position, np.mean(list(before.values()), axis=0), atol=1e-12)
    person.key("g", "y", "0", "period", "1", "enter")
    for name in names:
        np.testing.assert_allclose(person.target(name) - before[name], [0.0, 0.1, 0.0], atol=1e-12)
    middle = np.mean([person.target(name) for name in names], axis=0)
    person.key("r", "y", "9", "0", "enter")
    turned = np.mean([person.target(name) for name in names], axis=0)
    np.testing.assert_allclose(turned, middle, atol=1e-9)
    assert person.target(names[0])[2] == pytest.approx(middle[2] - (before[names[0]] - middle)[0], abs=1e-6)


def test_a_box_gives_the_handles_to_all_that_it_selects(person: Person) -> None:
    person.drag((240.0, 80.0), (730.0, 480.0), "ctrl")
    effectors = [item for item in person.document.selection if item.kind == "effector"]
    assert len(effectors) == 5
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    np.testing.assert_allclose(gizmo.position, np.mean([person.target(i.name) for i in effectors], axis=0), atol=1e-12)
