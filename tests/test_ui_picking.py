"""What is pressed is what is dragged: the diamond at the pointer, whatever stands near it or is active beside it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.document import Select
from inside.ui import item_of
from ui_person import Person

from viewer.document import Item
from viewer.scene import Mark, hits

SAMPLES = ["biped", "biped-hands", "walk", "raptor", "quadruped", "claw-arm", "serpent"]


def marks(person: Person) -> list[tuple[Mark, np.ndarray]]:
    """Those that are seen, none within two pixels of another, and their pixels in the window."""
    person.wait()
    found = [(mark, np.array(person.pixel(mark.position))) for mark in person.controller.scene().marks]
    places = np.array([pixel for _, pixel in found])
    apart = np.linalg.norm(places[:, None] - places, axis=2) + 1e9 * np.eye(len(found))
    inside = [person.controller.viewport.contains(*pixel) for _, pixel in found]
    return [one for one, near, seen in zip(found, apart.min(axis=1), inside, strict=True) if near > 2.0 and seen]


@pytest.mark.parametrize("sample", SAMPLES)
def test_the_diamond_under_the_pointer_is_picked_first(sample: str) -> None:
    person = Person(f"sample:{sample}")
    assert marks(person)
    for mark, pixel in marks(person):
        at = person.controller.view.local(*pixel)
        first = hits(person.controller.scene(), person.controller.projection(), *at)[0]
        assert (first.kind, first.name) == ("effector", mark.name)


@pytest.mark.parametrize("sample", ["raptor", "biped-hands", "claw-arm"])
def test_what_is_pressed_is_dragged_whatever_joint_is_active(sample: str) -> None:
    person = Person(f"sample:{sample}")
    names = person.document.skeleton.names
    start = person.document
    for mark, pixel in marks(person):
        if mark.root:
            continue
        near = sorted(names, key=lambda name: float(np.linalg.norm(person.pixel(person.joint(name)) - pixel)))
        for joint in near[1:4]:
            place = np.array(person.pixel(person.joint(joint)))
            if np.linalg.norm(place - pixel) < 1.0:
                continue  # at one place: then what is active is meant
            person.controller.session.dispatch(Select((Item("joint", joint),)))
            person.press(*pixel)
            person.move(pixel[0] + 9.0, pixel[1] + 4.0)
            assert person.selected[-1] == mark.name, (mark.name, joint)
            person.key("escape")
            assert person.drags() is False
            np.testing.assert_array_equal(person.document.pose.rotations, start.pose.rotations)


def test_an_effector_that_holds_is_meant_rather_than_one_that_is_off_at_the_same_place() -> None:
    person = Person("sample:raptor")
    scene = person.controller.scene()
    off = next(mark for mark in scene.marks if not mark.on and not mark.root)
    on = next(mark for mark in scene.marks if mark.on)
    for order in ((off, on), (on, off)):
        moved = tuple(mark._replace(position=on.position, target=None) for mark in order)
        pixel = person.controller.projection().project(on.position)
        found = hits(replace(scene, marks=moved), person.controller.projection(), *pixel.tolist())
        assert item_of(found[0]).name == on.name
