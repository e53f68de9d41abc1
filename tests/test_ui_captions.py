"""Words in the view's corners, hints while a number is typed, when notes go, and what an FK drag selects."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from inside.ui import NOTE_SECONDS, MessageBar, _state
from ui_person import Person

from viewer import Status
from viewer.document import GoalError, Item, Mode
from viewer.scene import text_width
from viewer.ui import Message, Rect, menu_commands


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


@pytest.mark.parametrize("file", ["sample:biped", "sample:quadruped", "sample:piston"])
def test_lines_as_far_apart_as_the_caption_says_are_seen_under_the_figure(file: str) -> None:
    person, named = Person(file), set()
    root = person.controller.scene().world.positions[0] * (1.0, 0.0, 1.0)
    for _ in range(12):
        (words,) = [words for words in captions(person) if words.startswith("Grid ")]
        named.add(words)
        number, unit = words.split()[1:]
        apart = float(number) * {"mm": 1e-3, "cm": 1e-2, "m": 1.0}[unit]
        across = np.diff(
            person.controller.projection().project(root + np.array([[0.0, 0.0, 0.0], [apart, 0.0, 0.0]])), axis=0
        )
        assert np.linalg.norm(across) > 5.0
        person.scroll(2.0, 600.0, 320.0)
        person.wait(0.2)
    assert len(named) == (1 if file == "sample:biped" else 2)


@pytest.mark.parametrize("corner", [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)])
def test_the_readout_of_a_drag_stays_inside_the_view(corner: tuple[float, float]) -> None:
    person = Person()
    view = person.controller.viewport = Rect(228, 66, 240, 240)
    person.press(*person.at("LeftHand"))
    for reach in (0.5, 0.9, 0.99, 1.0):
        x, y = ((0.5 + reach * (part - 0.5)) for part in corner)
        person.move(view.x + x * view.w, view.y + y * view.h)
        person.wait(0.05)
        words = person.controller.draw_list().texts[-1]
        assert words.text.startswith(("Right", "Left"))
        assert words.x >= 0.0
        assert words.x + text_width(words.text, words.size) <= view.w
        assert words.y - words.size / 2.0 >= 0.0
        assert words.y + words.size / 2.0 <= view.h


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


def test_a_drag_that_stalls_says_how_far_it_is_off() -> None:
    errors = {"LeftHand": GoalError(0.0032, None, reached=False)}
    said = {"errors": errors, "reasons": (), "at_limit": ()}
    report = SimpleNamespace(status=Status.STALLED, **said)
    _, state, tone, _ = _state(Person().document, report, dragging=True)  # type: ignore[arg-type]  # all that it reads
    assert (state, tone) == ("Stuck: LeftHand 3.2 mm short", "warn")


def test_quitting_is_the_last_of_its_menu() -> None:
    menu = pytest.importorskip("viewer.app.panels.menus")
    assert [command.id for command in menu.entries("File")][-1] == "file.quit"
    edit = [command.id for command in menu.entries("Edit")]
    assert edit[:2] == ["edit.undo", "edit.redo"]
    assert edit[-1] == "window.preferences"
    assert {command.id for command in menu.entries("File")} == {command.id for command in menu_commands("File")}
