"""Words in the view's corners, hints while a number is typed, when notes go, and what an FK drag selects."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from inside.ui import NOTE_SECONDS, MessageBar, _state
from ui_person import Person

from viewer import Status
from viewer.document import GoalError, Item, Mode
from viewer.ui import Message, menu_commands


@pytest.fixture
def person() -> Person:
    return Person()


def captions(person: Person) -> dict[str, tuple[float, float]]:
    return {text.text: (text.x, text.y) for text in person.controller.draw_list().texts}


def test_the_view_names_its_lens_and_the_cells_of_its_grid(person: Person) -> None:
    said, view = captions(person), person.controller.viewport
    assert said["Perspective"] == (16.0, 16.0)
    assert said["Grid 0.1 m"] == (16.0, view.h - 16.0)
    person.key("5")
    assert "Orthographic" in captions(person)
    assert "Perspective" not in captions(person)


def test_without_a_grid_no_cells_are_named(person: Person) -> None:
    person.controller.run("show.grid")
    assert "Perspective" in captions(person)
    assert not any(words.startswith("Grid") for words in captions(person))


def test_hints_stay_those_of_typing_in_the_next_field(person: Person) -> None:
    person.pull(person.at("LeftHand"), (20.0, -20.0))
    person.key("1", "tab")
    assert [hint.keys for hint in person.controller.hints()] == ["Tab", "Enter", "Esc"]


def test_a_bone_dragged_in_fk_is_selected_in_the_same_step(person: Person) -> None:
    person.key("d")
    assert person.document.mode is Mode.FK
    before, depth = person.document, person.controller.session.history.index
    middle = 0.5 * (person.joint("LeftForeArm") + person.joint("LeftHand"))
    person.drag(person.pixel(middle), (15.0, -15.0))
    assert person.document.selection == (Item("joint", "LeftForeArm"),)
    assert person.controller.session.history.index == depth + 1
    person.key("ctrl+z")
    assert person.document is before


def test_the_bar_knows_when_the_next_note_goes() -> None:
    bar, seen = MessageBar(), []
    for message in (None, Message("stays", "error"), Message("goes")):
        if message is not None:
            bar.post(message)
        seen.append(bar.left)
    for now in (11.0, 13.5, 11.0 + NOTE_SECONDS):
        bar.tick(now)
        seen.append(bar.left)
    assert seen == [None, None, NOTE_SECONDS, NOTE_SECONDS, NOTE_SECONDS - 2.5, None]


def test_a_drag_that_stalls_counts_all_its_iterations() -> None:
    errors = {"LeftHand": GoalError(0.0032, None, reached=False)}
    said = {"errors": errors, "reasons": (), "at_limit": ()}
    report = SimpleNamespace(status=Status.STALLED, steps=(4, 37), iterations=1, **said)
    _, state, tone = _state(Person().document, report, dragging=True)  # type: ignore[arg-type]  # all that it reads
    assert (state, tone) == ("Stalled after 37 iterations, 3.2 mm", "warn")


def test_quitting_is_the_last_of_its_menu() -> None:
    menu = pytest.importorskip("viewer.app.panels.menus")
    assert [command.id for command in menu.entries("File")][-1] == "file.quit"
    edit = [command.id for command in menu.entries("Edit")]
    assert edit[:2] == ["edit.undo", "edit.redo"]
    assert edit[-1] == "window.preferences"
    assert {command.id for command in menu.entries("File")} == {command.id for command in menu_commands("File")}
