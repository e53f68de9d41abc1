"""Roots and what stands fast: handles are offered where a drag would move something, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest
from figures import inserted
from inside.document import Select, SetMode, SetSolver
from inside.skeleton import body_path
from inside.ui import can_follow
from ui_person import Person

from viewer import load
from viewer.document import Item, Mode
from viewer.gizmo import Tool
from viewer.skeleton import Character, fit_bodies


def shown(name: str) -> Person:
    person = Person()
    person.controller.files.open(f"demo:{name}")
    person.controller.session.targets.pause()
    return person


def roots(person: Person) -> list[str]:
    return [mark.name for mark in person.controller.scene().marks if mark.root]


def select(person: Person, joint: str) -> None:
    person.controller.session.dispatch(Select((Item("joint", joint),)))


@pytest.mark.parametrize("name", ["two-link", "ccd-chain", "s-lock", "puzzle", "claw", "ball", "serpent"])
def test_a_root_that_cannot_move_has_no_handle_and_is_not_dragged(name: str) -> None:
    person = shown(name)
    assert roots(person) == []
    root = person.document.skeleton.names[0]
    depth, document = person.controller.session.history.index, person.document
    x, y = person.pixel(person.joint(root))
    person.press(x, y)
    person.move(x + 40.0, y - 30.0)
    assert not person.drags()
    person.release(x + 40.0, y - 30.0)
    person.wait()
    assert person.document is document
    assert person.controller.session.history.index == depth


@pytest.mark.parametrize("mode", ["ik", "fk"])
def test_no_arrows_stand_on_it_and_it_cannot_be_grabbed(mode: str) -> None:
    person = shown("two-link")
    person.controller.session.dispatch(SetMode(Mode(mode)))
    select(person, person.document.skeleton.names[0])
    person.controller.posing.set_tool(Tool.MOVE)
    assert person.controller.hit_test.gizmo() is None
    person.controller.posing.set_tool(Tool.ROTATE)
    assert person.controller.hit_test.gizmo() is not None
    assert person.controller.can("grab.rotate")
    assert person.controller.can("grab.move") is (mode == "fk")  # where grabbing turns it


def test_its_bone_is_turned_by_a_drag_all_the_same() -> None:
    person = shown("two-link")
    person.controller.session.dispatch(SetSolver(method="default"))
    root, second = person.document.skeleton.names
    middle = 0.5 * (person.joint(root) + person.joint(second))
    before = person.joint(second)
    person.drag(person.pixel(middle), (10.0, -40.0))
    assert np.linalg.norm(person.joint(second) - before) > 0.05
    assert np.array_equal(person.joint(root), shown("two-link").joint(root))


def test_a_free_root_has_its_handle_unless_the_solver_may_not_move_it() -> None:
    person = Person()
    assert roots(person) == ["Hips"]
    person.controller.session.dispatch(SetSolver(root="locked"))
    assert roots(person) == []
    person.controller.session.dispatch(SetMode(Mode.FK))
    assert roots(person) == ["Hips"]  # by hand it can be put elsewhere


def test_points_follow_where_a_joint_above_them_moves() -> None:
    person = shown("claw")
    skeleton = person.document.skeleton
    assert [kind.value for kind in skeleton.kinds[:2]] == ["fixed", "ball"]
    assert not can_follow(person.document, 0)
    assert not can_follow(person.document, 0, beside=True)
    assert not can_follow(person.document, 1)
    assert can_follow(person.document, 1, beside=True)
    assert can_follow(person.document, 2)


def on_floor() -> Person:
    """A person whose free root stands on the floor, below the hips that it carries."""
    skeleton = inserted(load("sample:biped").skeleton, "Hips", "Floor", 0.1)
    return Person(Character(skeleton))


def test_a_body_on_a_root_that_stands_on_the_floor_has_its_handle_at_the_hips() -> None:
    person = on_floor()
    assert roots(person) == ["Hips"]
    feet, hips = person.joint("LeftFoot"), person.joint("Hips")
    person.drag(person.pixel(hips), (0.0, 25.0))
    person.wait(1.0)
    assert person.joint("Hips")[1] < hips[1] - 0.05
    assert np.linalg.norm(person.joint("LeftFoot") - feet) < 1e-3  # pinned


def test_by_hand_its_root_and_all_of_it_move_along_and_turn_about_the_hips() -> None:
    person = on_floor()
    person.controller.session.dispatch(SetMode(Mode.FK))
    before = {name: person.joint(name) for name in ("Floor", "Hips", "Head")}
    person.drag(person.pixel(before["Hips"]), (40.0, 0.0))
    moved = {name: person.joint(name) - place for name, place in before.items()}
    assert np.linalg.norm(moved["Hips"]) > 0.05
    assert np.allclose(moved["Floor"], moved["Hips"])
    assert np.allclose(moved["Head"], moved["Hips"])


def test_the_way_from_the_floor_to_the_body_is_a_line_and_has_no_capsule() -> None:
    person = on_floor()
    skeleton = person.document.skeleton
    assert body_path(skeleton) == (1, 0)
    assert all(capsule.joint != 0 for capsule in fit_bodies(skeleton).capsules)
    plain = fit_bodies(load("sample:biped").skeleton).capsules
    assert [one.radius for one in fit_bodies(skeleton).capsules] == pytest.approx([one.radius for one in plain])
    drawn = person.controller.draw_list()
    ends = [(line["start"], line["end"]) for line in drawn.lines if line["dash_px"][0] > 0]
    assert len(ends) == 1
    assert np.allclose(ends[0], [person.joint("Floor"), person.joint("Hips")], atol=1e-5)
    without = Person().controller.draw_list()
    assert len(drawn.bones) == len(without.bones)
