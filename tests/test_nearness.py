"""A target that is nearer than an arm folds is said to be too near, at the target as in the status line."""

from __future__ import annotations

import numpy as np
import pytest
from inside.document import MoveTargets
from inside.ui import too_near
from ui_person import Person


def shown(name: str) -> Person:
    person = Person()
    person.controller.files.open(f"demo:{name}")
    person.controller.session.targets.pause()
    return person


def words(person: Person) -> list[str]:
    """What is said at targets."""
    texts = [text.text for text in person.controller.draw_list().texts]
    return [text for text in texts if text.endswith(("short", "too near"))]


@pytest.mark.parametrize(
    ("place", "said", "state"),
    [
        ((0.05, 0.03, 0.0), ["142 mm too near"], "Too near: tip, chain folds to 200 mm"),
        ((1.6, 1.5, 0.0), ["393 mm short"], "Out of reach: tip 393 mm short"),
        ((0.5, 1.0, 0.0), [], "Converged"),
    ],
)
def test_the_label_at_the_target_agrees_with_status_line_and_card(
    place: tuple[float, float, float], said: list[str], state: str
) -> None:
    person = shown("two-link")
    person.click(*person.pixel(np.array(place)))
    assert words(person) == said
    assert person.controller.status().state == state


def test_while_it_is_dragged_too() -> None:
    person = shown("two-link")
    start = person.at("tip")
    end = person.pixel(np.array([0.02, 0.02, 0.0]))
    person.press(*start)
    for part in (0.25, 0.5, 0.75, 1.0):
        person.move(*(np.array(start) + part * (np.array(end) - start)).tolist())
        person.wait(0.03)
    assert person.controller.status().state == "Out of reach: tip 172 mm too near"  # not at rest for long enough
    assert person.drags()
    assert words(person) == ["172 mm too near"]
    person.rest()
    assert person.controller.status().state == "Too near: tip, chain folds to 200 mm"


def test_a_body_that_can_come_along_is_short_and_never_too_near() -> None:
    person = Person()
    person.controller.session.dispatch(MoveTargets({"LeftHand": ((0.0, 1.0, 1.5), None)}))
    assert too_near(person.document, person.controller.session.report) == frozenset()
    assert any(text.endswith("mm short") for text in words(person))


def test_nothing_is_too_near_where_all_is_met() -> None:
    person = Person()
    assert too_near(person.document, person.controller.session.report) == frozenset()
    assert words(person) == []
