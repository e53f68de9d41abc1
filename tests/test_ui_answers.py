"""What view and status line answer to a drag: hints, words at the pointer, rings that fade, the state file."""

from __future__ import annotations

import numpy as np
import pytest
from ui_person import EMPTY, VIEW, Person

from viewer.gizmo import Stroke
from viewer.ui import state_of

TOLERANCE = 1e-3
"""Metres: that of the solver."""


@pytest.fixture
def person() -> Person:
    return Person()


def strokes(person: Person, colour: str) -> list[Stroke]:
    controller = person.controller
    shapes = controller.effects.shapes(controller.scene(), controller.projection(), 1.0)
    return [shape for shape in shapes if isinstance(shape, Stroke) and shape.colour == colour]


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
        ("X Y Z", "lock axis"), ("0 … 9", "type a number"), ("Esc", "cancel"), ("PgUp PgDn", "chain"),
    ]  # fmt: skip
    assert person.controller.cursor == "hidden"


def test_how_far_a_drag_went_stands_beside_the_pointer(person: Person) -> None:
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    person.key("z", "0", "period", "1", "2", "4")
    said = person.controller.draw_list().texts[-1]
    assert said.text == "ΔZ 0.124 m"
    x, y = person.controller.view.local(*person.controller.view.pointer_at)
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


def test_a_target_that_gets_out_of_reach_is_ringed_once_and_fades() -> None:
    person = Person()
    person.controller.view.preferences.reduce_motion = False
    x, y = person.at("LeftHand")
    person.press(x, y)
    person.move(x + 5.0, y)
    person.wait(0.1)
    assert strokes(person, "unreached") == []
    person.move(x + 300.0, y - 250.0)
    seen: dict[float, float] = {}
    for _ in range(90):
        person.wait(1 / 60)
        target = np.array(person.controller.view.local(*person.pixel(person.target("LeftHand"))))
        for ring in strokes(person, "unreached"):
            if np.allclose(ring.points.mean(axis=0), target, atol=1e-6):
                seen[float(np.linalg.norm(ring.points[0] - target))] = ring.alpha
    radii = list(seen)
    assert radii == sorted(radii)
    assert list(seen.values()) == sorted(seen.values(), reverse=True)
    assert 9.0 <= radii[0] < 11.0
    assert 14.0 < radii[-1] <= 16.0
    assert 20 <= len(radii) <= 26
    assert strokes(person, "unreached") == []
    person.key("escape")
    person.wait(0.2)
    assert person.controller.effects.tick(person.now) is False


def test_nothing_flashes_where_motion_is_reduced(person: Person) -> None:
    person.press(*person.at("LeftHand"))
    person.move(*np.add(person.at("LeftHand"), (300.0, -250.0)))
    for _ in range(30):
        person.wait(1 / 60)
        assert strokes(person, "unreached") == []
    person.key("escape")
