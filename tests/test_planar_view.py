"""A body kept in a plane is looked at straight: no drag tilts the view, so clicks and drags land in the plane."""

from __future__ import annotations

import numpy as np
import pytest
from inside.session import DEMOS
from ui_person import EMPTY, VIEW, Person

FLAT = [demo.id for demo in DEMOS if demo.view == "planar"]
TURNING = [
    "view.front", "view.right", "view.top", "view.back", "view.left", "view.bottom", "view.three_quarter",
    "view.opposite", "view.orthographic", "view.orbit_left", "view.orbit_right", "view.orbit_up", "view.orbit_down",
]  # fmt: skip


def shown(name: str) -> Person:
    person = Person()
    person.controller.files.open_demo(name)
    person.controller.session.targets.pause()
    return person


def looks_straight(person: Person) -> bool:
    camera = person.controller.camera
    return bool(camera.orthographic and np.allclose(camera.back, (0.0, 0.0, 1.0), atol=1e-12))


@pytest.mark.parametrize(
    ("name", "button", "held"),
    [(name, "left", ()) for name in FLAT]
    + [(FLAT[0], "middle", ()), (FLAT[0], "left", ("alt",)), (FLAT[0], "right", ())],
)
def test_a_drag_of_the_background_shifts_the_view(name: str, button: str, held: tuple[str, ...]) -> None:
    person = shown(name)
    document = person.document
    before = person.pixel(np.array([0.2, 0.3, 0.0]))
    person.drag(EMPTY, (60.0, -40.0), *held, button=button)  # type: ignore[arg-type]  # a button's name
    assert looks_straight(person)
    assert person.pixel(np.array([0.2, 0.3, 0.0])) == pytest.approx((before[0] + 60.0, before[1] - 40.0), abs=0.01)
    assert person.document is document


def test_a_click_after_a_drag_that_missed_lands_where_it_was_clicked() -> None:
    person = shown("two-link")
    person.drag(EMPTY, (60.0, -40.0))
    person.click(*person.pixel(np.array([-0.4, 0.9, 0.0])))
    assert np.allclose(person.target("tip"), (-0.4, 0.9, 0.0), atol=1e-9)
    assert np.allclose(person.place("tip"), (-0.4, 0.9, 0.0), atol=1e-3)


@pytest.mark.parametrize("command", TURNING)
def test_no_command_turns_the_view_and_menus_say_so(command: str) -> None:
    person = shown("puzzle")
    assert not person.controller.can(command)
    person.controller.run(command)
    person.wait(0.5)
    assert looks_straight(person)
    person.controller.files.open("sample:biped")
    assert person.controller.can(command)


def test_the_view_axes_and_scrolling_with_two_fingers_do_not_turn_it_either() -> None:
    person = shown("s-lock")
    for x in range(VIEW.x + VIEW.w - 90, VIEW.x + VIEW.w, 6):
        person.move(x, VIEW.y + 50.0)
        assert not person.controller.view.hovered.axis
    person.controller.view.preferences.two_fingers = True
    person.scroll(3.0, *EMPTY)
    assert looks_straight(person)


def test_starting_over_looks_as_at_first() -> None:
    person = shown("two-link")
    camera = person.controller.camera
    person.drag(EMPTY, (60.0, -40.0))
    person.scroll(2.0, *EMPTY)
    assert not person.controller.camera.same_as(camera)
    person.controller.run("demo.start_over")
    assert person.controller.camera.same_as(camera)


def test_a_plane_that_comes_back_by_redo_is_looked_at_straight() -> None:
    person = Person()
    person.controller.run("view.plane_xy")
    person.key("ctrl+z")
    person.controller.run("view.three_quarter")
    person.wait(0.5)
    assert not looks_straight(person)
    person.key("ctrl+y")
    person.wait(0.5)
    assert person.document.planar == "xy"
    assert looks_straight(person)


def test_hints_say_what_a_drag_of_the_background_does() -> None:
    person = shown("puzzle")
    person.move(*EMPTY)
    assert ("Drag", "pan") in [hint[:2] for hint in person.controller.hints()]
    person.controller.files.open("sample:biped")
    person.move(*EMPTY)
    assert ("Drag", "orbit") in [hint[:2] for hint in person.controller.hints()]
