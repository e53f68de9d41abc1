"""Tweens slide the pose between keys and beyond, or towards the rest pose and away from it; copies in the world."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import Select, SetFrame, SetMode, SetPose
from inside.spatial import from_axis_angle, multiply
from inside.ui import keys_beside
from ui_person import Person

from viewer.document import Item, Mode
from viewer.skeleton import Pose, fk


def turned(pose: Pose, joint: int, degrees: float) -> Pose:
    rotations = pose.rotations.copy()
    rotations[joint] = multiply(rotations[joint], from_axis_angle((0.0, 0.0, 1.0), np.radians(degrees)))
    return Pose(rotations, pose.translations)


def angle(person: Person, joint: str) -> float:
    """Degrees about z from the relaxed pose."""
    document = person.document
    index = document.skeleton.index(joint)
    _, _, z, w = multiply(
        document.skeleton.relaxed_pose().rotations[index] * (-1.0, -1.0, -1.0, 1.0), document.pose.rotations[index]
    ).tolist()
    return float(np.degrees(2.0 * np.arctan2(z, w)))


@pytest.fixture
def person() -> Person:
    """Keys at frames 0 and 20, where the spine is turned by 0 and 6 degrees; shown is frame 10."""
    made = Person()
    session = made.controller.session
    session.dispatch(SetMode(Mode.FK))
    spine = made.document.skeleton.index("Spine")
    start = made.document.pose
    made.key("s")
    session.dispatch(SetFrame(20))
    session.dispatch(SetPose(turned(start, spine, 6.0)))
    made.key("s")
    session.dispatch(SetFrame(10))
    made.wait()
    return made


def test_a_tween_goes_to_the_keys_beside_and_beyond(person: Person) -> None:
    tweening, session = person.controller.tweening, person.controller.session
    assert keys_beside(session.document) == (0, 20)
    middle = angle(person, "Spine")
    for share, expected in ((1.0, 6.0), (-1.0, 0.0), (1.5, 6.0 + 0.5 * (6.0 - middle)), (-1.5, -0.5 * middle)):
        tweening.begin("keys")
        tweening.slide(share)
        assert angle(person, "Spine") == pytest.approx(expected, abs=1e-6), share
        tweening.slide(0.0)
        assert angle(person, "Spine") == middle
        tweening.end(keep=False)
        assert angle(person, "Spine") == middle
    steps = session.history.index
    tweening.begin("keys")
    tweening.slide(7.0)  # at most 150 %
    assert tweening.share == 1.5
    tweening.slide(0.5)
    tweening.end(keep=True)
    assert session.history.index == steps + 1
    assert session.history.labels[-1] == "Tween"
    session.undo()
    assert angle(person, "Spine") == middle


def test_the_pointer_slides_it_until_a_click_and_escape_takes_it_back(person: Person) -> None:
    middle = angle(person, "Spine")
    person.move(600.0, 300.0)
    person.key("shift+e")
    person.move(700.0, 300.0)
    assert person.controller.tweening.share == pytest.approx(0.5)
    person.key("escape")
    assert angle(person, "Spine") == middle
    person.key("shift+e")
    person.move(800.0, 300.0)
    person.press(800.0, 300.0)
    person.release(800.0, 300.0)
    assert not person.controller.tweening.under_way
    assert angle(person, "Spine") > middle + 0.5


def test_only_selected_joints_relax_and_pushing_goes_away_from_rest(person: Person) -> None:
    session, tweening = person.controller.session, person.controller.tweening
    session.dispatch(Select((Item("joint", "Spine"),)))
    before = person.document.pose
    middle = angle(person, "Spine")
    tweening.begin("rest")
    tweening.slide(1.0)
    assert angle(person, "Spine") == pytest.approx(0.0, abs=1e-6)
    tweening.slide(-1.0)
    assert angle(person, "Spine") == pytest.approx(2.0 * middle, abs=1e-6)
    tweening.end(keep=True)
    changed = np.flatnonzero((person.document.pose.rotations != before.rotations).any(axis=1))
    assert changed.tolist() == [person.document.skeleton.index("Spine")]


def test_without_keys_there_is_nothing_to_tween_to() -> None:
    person = Person()
    assert not person.controller.can("tween.keys")
    assert person.controller.can("tween.rest")


def test_a_copy_in_the_world_keeps_the_world_s_rotation_under_other_parents() -> None:
    person = Person()
    session = person.controller.session
    session.dispatch(SetMode(Mode.FK))
    hand, arm = (person.document.skeleton.index(name) for name in ("LeftHand", "LeftArm"))
    wanted = fk(person.document.skeleton, person.document.pose).rotations[hand]
    session.dispatch(Select((Item("joint", "LeftHand"),)))
    person.key("ctrl+alt+c")
    session.dispatch(SetPose(turned(person.document.pose, arm, 30.0)))
    moved = person.document.pose.rotations[arm].copy()
    person.key("ctrl+v")
    found = fk(person.document.skeleton, person.document.pose).rotations[hand]
    assert abs(float(found @ wanted)) == pytest.approx(1.0, abs=1e-9)
    assert np.array_equal(person.document.pose.rotations[arm], moved)
