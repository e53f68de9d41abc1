"""Several things turned at once: about their middle, or each about itself; children on top of their parents, or not."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import Select, SetMode
from inside.spatial import angle_between, conjugate, from_axis_angle, multiply, rotate
from inside.ui import mirrored_turn
from ui_person import Person

from viewer.document import Item, Mode
from viewer.skeleton import fk

SPINE = ("Spine", "Spine1", "Spine2")
X = np.array([1.0, 0.0, 0.0])


@pytest.fixture
def person() -> Person:
    return Person()


def select(person: Person, kind: str, *names: str) -> None:
    person.controller.session.dispatch(Select(tuple(Item(kind, name) for name in names)))  # type: ignore[arg-type]


def turn_about_x(person: Person, degrees: int) -> None:
    """R, X, the number, Enter."""
    person.key("r", "x", *str(degrees), "enter")
    person.wait(0.5)


def world_turn(person: Person, name: str, before: object) -> np.ndarray:
    """(4,) by how much a joint has rotated in the world since a pose."""
    document = person.document
    joint = document.skeleton.index(name)
    old = fk(document.skeleton, before).rotations[joint]  # type: ignore[arg-type]
    return multiply(fk(document.skeleton, document.pose).rotations[joint], conjugate(old))


@pytest.mark.parametrize("mode", [Mode.FK, Mode.IK])
def test_joints_below_others_go_along_or_turn_on_top(person: Person, mode: Mode) -> None:
    person.controller.session.dispatch(SetMode(mode))
    select(person, "joint", *SPINE)
    start = person.document.pose
    turn_about_x(person, 6)
    whole = world_turn(person, "Spine2", start)
    assert angle_between(whole, from_axis_angle(X, np.radians(6.0))) < 1e-6
    assert person.controller.session.history.labels[-1] == "Turn Spine"
    person.controller.session.undo()
    person.key("shift+period")
    assert person.controller.view.individual
    select(person, "joint", *SPINE)
    turn_about_x(person, 6)
    for count, name in enumerate(SPINE, 1):
        found = world_turn(person, name, start)
        assert angle_between(found, from_axis_angle(X, np.radians(6.0 * count))) < 1e-6
    assert person.controller.session.history.labels[-1] == "Turn 3 joints"
    person.controller.session.undo()
    assert person.document.pose.same_as(start)


def test_both_arms_turn_alike_in_one_step(person: Person) -> None:
    person.controller.session.dispatch(SetMode(Mode.FK))
    select(person, "joint", "LeftArm", "RightArm")
    start = person.document.pose
    turn_about_x(person, 12)
    for name in ("LeftArm", "RightArm"):
        assert angle_between(world_turn(person, name, start), from_axis_angle(X, np.radians(12.0))) < 1e-6
    assert person.controller.session.history.labels[-1] == "Turn 2 joints"


def test_with_mirror_the_other_side_turns_as_the_image(person: Person) -> None:
    person.controller.session.dispatch(SetMode(Mode.FK))
    person.controller.view.mirror = True
    select(person, "joint", "LeftArm", "LeftForeArm")
    person.controller.view.individual = True
    start = person.document.pose
    turn_about_x(person, 8)
    left, right = (world_turn(person, f"{side}ForeArm", start) for side in ("Left", "Right"))
    assert angle_between(mirrored_turn(left, X), right) < 1e-6
    assert angle_between(left, np.array([0.0, 0.0, 0.0, 1.0])) > 0.05


def test_targets_turn_about_their_middle_or_each_about_itself(person: Person) -> None:
    hands = ("LeftHand", "RightHand")
    select(person, "effector", *hands)
    before = {name: person.target(name) for name in hands}
    middle = np.mean([*before.values()], axis=0)
    turn_about_x(person, 10)
    for name in hands:
        expected = middle + rotate(from_axis_angle(X, np.radians(10.0)), before[name] - middle)
        np.testing.assert_allclose(person.target(name), expected, atol=1e-9)
    person.controller.session.undo()
    person.controller.view.individual = True
    select(person, "effector", *hands)
    turn_about_x(person, 10)
    for name in hands:
        np.testing.assert_allclose(person.target(name), before[name], atol=1e-9)
