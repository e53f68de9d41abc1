"""What is said of goals that are missed: of the one that is dragged and of pins, and of nothing else."""

from __future__ import annotations

import numpy as np
from inside.document import MoveTargets, Select, SetPin, SetSolver
from ui_person import Person

from viewer.document import Item

HAND = Item("effector", "LeftHand")


def chips(person: Person) -> list[str]:
    """Words of the chips in the view."""
    return [text.text for text in person.controller.draw_list().texts if text.text.endswith((" short", "too near"))]


def loud(person: Person) -> list[str]:
    return [mark.name for mark in person.controller.scene().marks if not (mark.reached or mark.quiet)]


def quiet(person: Person) -> list[str]:
    return [mark.name for mark in person.controller.scene().marks if mark.quiet]


def pulled(place: tuple[float, float, float]) -> Person:
    """The left hand dragged to a place among firm holds, the button still down."""
    person = Person()
    person.controller.session.dispatch(SetSolver(firm_holds=True))
    person.controller.session.begin_drag((HAND,))
    for _ in range(60):
        person.controller.session.gestures.drag_to({HAND: (place, None)})
        person.wait(1 / 60)
    return person


def test_a_drag_out_of_reach_has_one_chip_and_the_status_line_speaks_of_it() -> None:
    person = pulled((1.2, 1.8, 0.6))
    missed = [name for name, error in person.controller.session.errors.items() if not error.reached]
    assert len(missed) > 2  # the others give way for it
    assert loud(person) == ["LeftHand"]
    assert set(quiet(person)) == set(missed) - {"LeftHand"}
    error = person.controller.session.errors["LeftHand"].metres or 0.0
    assert chips(person) == [f"{1000.0 * error:.0f} mm short"]
    person.controller.session.commit()
    assert loud(person) == ["LeftHand"]
    state = person.controller.status().state
    assert state.startswith("Out of reach: LeftHand ")
    assert f"{1000.0 * (person.controller.session.errors['LeftHand'].metres or 0.0):.0f} mm" in state


def test_what_is_missed_by_less_than_a_hundredth_of_the_height_is_not_said() -> None:
    person = Person()
    person.controller.session.dispatch(Select((HAND,)))
    near = person.place("LeftHand") + np.array([0.0, 0.0012, 0.0])
    moved = MoveTargets({"LeftHand": (near, None)}).apply(person.document)
    person.controller.session.replace(moved)
    assert not person.controller.session.errors["LeftHand"].reached
    assert chips(person) == []
    assert quiet(person) == ["LeftHand"]


def test_a_pin_that_is_missed_is_said_whatever_is_dragged() -> None:
    person = Person()
    person.controller.session.dispatch(SetPin("Head", position=True))
    person.controller.session.dispatch(Select((HAND,)))
    away = person.target("Head") + np.array([0.0, 0.5, 0.0])
    person.controller.session.replace(MoveTargets({"Head": (away, None)}).apply(person.document))
    assert loud(person) == ["Head"]
    assert chips(person) == ["500 mm short"]


def test_where_nothing_is_selected_the_worst_is_said() -> None:
    person = Person()
    up = {"LeftHand": np.array([0.0, 0.3, 0.0]), "Head": np.array([0.0, 0.4, 0.0])}
    places = {name: (person.target(name) + way, None) for name, way in up.items()}
    person.controller.session.replace(MoveTargets(places).apply(person.document))
    assert loud(person) == ["Head"]
    assert quiet(person) == ["LeftHand"]


def test_a_goal_that_is_met_at_the_cost_of_others_is_called_reached() -> None:
    person = pulled((1.01, 1.67, 0.37))
    person.controller.session.commit()
    errors = person.controller.session.errors
    person.controller.session.dispatch(Select((Item("effector", min(errors, key=lambda n: errors[n].metres or 0.0)),)))
    chosen = person.selected[0]
    assert errors[chosen].reached
    status = person.controller.status()
    assert (status.icon, status.state) == ("check", f"{chosen} reached")
    assert status.goals.endswith(" short")


def test_pins_that_a_distant_target_draws_off_are_said_beside_it() -> None:
    person = Person()
    feet = ("LeftFoot", "RightFoot")
    for foot in feet:
        person.controller.session.dispatch(SetPin(foot, position=True))
    person.controller.session.dispatch(SetSolver(firm_holds=True))
    person.controller.session.dispatch(Select((HAND,)))
    person.controller.session.dispatch(MoveTargets({"LeftHand": ((0.0, 8.0, 4.0), None)}))
    errors, status = person.controller.session.errors, person.controller.status()
    off = {foot: f"{1000.0 * (errors[foot].metres or 0.0):.1f}" for foot in feet if not errors[foot].reached}
    assert off  # by weights alone
    assert status.state.startswith("Out of reach: LeftHand ")
    assert status.goals.startswith("  ".join(f"{foot} {miss} mm off its pin" for foot, miss in off.items()))
    # Where holds yield, pins are a level of their own.
    person.controller.session.dispatch(SetSolver(firm_holds=False))
    person.controller.session.solve()
    errors = person.controller.session.errors
    assert max(errors[foot].metres or 0.0 for foot in feet) < 1e-4
    assert "pin" not in person.controller.status().goals
