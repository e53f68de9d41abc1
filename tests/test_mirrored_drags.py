"""Mirror (Alt+M): what is done to one side is done to the other, by the mirrored motion."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import actions as act
from inside.spatial import Floats
from inside.ui import radius_handles
from ui_person import Person

import viewer
from viewer.document import Item, Mode
from viewer.skeleton import bodies_of

TOLERANCE = 2e-3
"""Metres: twice that of the solver, since both hands have it."""
ACROSS = np.array([-1.0, 1.0, 1.0])
"""What a mirror between the sides of the sample, which faces Z, does to a motion."""


@pytest.fixture
def person() -> Person:
    """Somebody at a figure whose sides stand alike."""
    made = Person()
    made.controller.session.dispatch(act.SetLimits(False))
    skeleton = made.document.skeleton
    made.controller.session.dispatch(act.SetPose(skeleton.rest_pose()))
    made.key("alt+m")
    return made


def both(person: Person, name: str) -> tuple[Floats, Floats]:
    return person.joint(f"Left{name}"), person.joint(f"Right{name}")


def test_the_key_switches_it_and_the_menu_shows_a_tick(person: Person) -> None:
    assert person.controller.checked("edit.mirror") is True
    person.key("alt+m")
    assert person.controller.checked("edit.mirror") is False
    assert person.controller.view.bar.messages[-1].text == "Mirror: off"


def test_a_dragged_hand_takes_the_other_one_along_mirrored(person: Person) -> None:
    left, right = both(person, "Hand")
    steps = person.controller.session.history.index
    person.drag(person.at("LeftHand"), (-40.0, -50.0))
    after, other = both(person, "Hand")
    assert np.linalg.norm(after - left) > 0.1
    np.testing.assert_allclose(other - right, (after - left) * ACROSS, atol=TOLERANCE)
    np.testing.assert_allclose(other, after * ACROSS, atol=TOLERANCE)  # they stood alike, and do so now
    assert person.controller.session.history.index == steps + 1
    assert person.document.active == Item("effector", "LeftHand")
    person.key("ctrl+z")
    np.testing.assert_array_equal(both(person, "Hand")[0], left)


def test_a_second_drag_with_both_selected_is_still_mirrored(person: Person) -> None:
    for _ in range(2):
        left, right = both(person, "Hand")
        person.drag(person.at("LeftHand"), (-20.0, -30.0))
        after, other = both(person, "Hand")
        assert np.linalg.norm(after - left) > 0.03
        np.testing.assert_allclose(other - right, (after - left) * ACROSS, atol=2.0 * TOLERANCE)


def test_the_arrows_stand_at_the_active_hand_which_leads(person: Person) -> None:
    person.drag(person.at("LeftHand"), (-20.0, -30.0))
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    np.testing.assert_array_equal(gizmo.position, person.target("LeftHand"))
    person.key("alt+m")
    gizmo = person.controller.hit_test.gizmo()
    assert gizmo is not None
    assert gizmo.position[0] == pytest.approx(0.0, abs=TOLERANCE)


def test_a_hand_that_stands_otherwise_does_not_jump(person: Person) -> None:
    person.key("alt+m")
    person.drag(person.at("RightHand"), (30.0, -60.0))
    person.key("alt+m")
    before = both(person, "Hand")[1]
    person.pull(person.at("LeftHand"), (-2.0, -2.0))
    assert np.linalg.norm(both(person, "Hand")[1] - before) < 0.02
    person.key("escape")
    np.testing.assert_array_equal(both(person, "Hand")[1], before)


def test_a_dragged_bone_has_its_image_on_the_other_side(person: Person) -> None:
    skeleton = person.document.skeleton
    world = viewer.fk(skeleton, person.document.pose)
    middle = world.positions[[skeleton.index("LeftForeArm"), skeleton.index("LeftHand")]].mean(axis=0)
    left, right = both(person, "ForeArm")
    person.drag(person.pixel(middle), (-20.0, -50.0))
    after, other = both(person, "ForeArm")
    assert np.linalg.norm(after - left) > 0.03
    np.testing.assert_allclose(other - right, (after - left) * ACROSS, atol=5e-3)


def test_turned_joints_are_turned_mirrored(person: Person) -> None:
    session = person.controller.session
    session.dispatch(act.SetMode(Mode.FK))
    person.drag(person.at("LeftHand"), (-30.0, -50.0))
    after, other = both(person, "Hand")
    np.testing.assert_allclose(other, after * ACROSS, atol=1e-9)
    assert session.history.labels[-1].startswith("Turn Left")


@pytest.mark.parametrize("effector", ["Head", "LeftFoot"])
def test_what_has_no_other_side_moves_alone_and_feet_go_apart(person: Person, effector: str) -> None:
    before = person.place(effector)
    person.drag(person.at(effector), (25.0, -10.0))
    assert np.linalg.norm(person.place(effector) - before) > 0.02
    if effector == "LeftFoot":
        left, right = both(person, "Foot")
        np.testing.assert_allclose(right, left * ACROSS, atol=2.0 * TOLERANCE)


def test_a_radius_of_the_other_side_follows_in_the_same_step(person: Person) -> None:
    session = person.controller.session
    skeleton = person.document.skeleton
    left, right = skeleton.index("LeftForeArm"), skeleton.index("RightForeArm")

    def radii() -> dict[int, list[float]]:
        capsules = bodies_of(session.document.skeleton).capsules
        return {joint: [one.radius for one in capsules if one.joint == joint] for joint in (left, right)}

    before, steps = radii(), session.history.index
    person.controller.run("show.capsules")
    session.dispatch(act.Select((Item("joint", "LeftForeArm"),)))
    person.wait()
    handle = radius_handles(session.document, person.controller.view.display, person.controller.projection())[0]
    person.drag(person.pixel(handle.point), (0.0, 14.0))
    after = radii()
    assert after[left] != before[left]
    assert after[right] == after[left]
    assert session.history.index <= steps + 2  # the selection, and the radius
    session.dispatch(act.SetRadius("LeftForeArm", None))
    assert radii()[right] == after[right]  # without the switch one side changes
