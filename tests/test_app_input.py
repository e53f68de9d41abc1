"""Who gets what a person does: Dear ImGui or the controller; and keys by layout."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from imgui_bundle import imgui
from inside.app import GLFW_NAMES, IMGUI_KEYS, Capture, Inputs, by_layout

from viewer.ui import COMMANDS, Drop, Event, Key, KeyUp, Leave, Move, Press, Rect, Release, Scroll

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from inside.app import Borders

VIEW = Rect(230, 66, 756, 514)


class NoBorders:
    def move(self, _x: float, _y: float) -> bool:
        return False

    press = move

    def release(self) -> bool:
        return False


class Desk:
    """Inputs with what they send."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.dragging = False
        self.now = 0.0
        self.capture = Capture(VIEW)
        borders: Borders = NoBorders()  # type: ignore[assignment]  # none in these tests
        self.inputs = Inputs(self.events.append, borders, self.capture, lambda: self.dragging, lambda: self.now)

    def sent(self) -> list[Event]:
        sent, self.events[:] = list(self.events), []
        return sent


@pytest.fixture
def desk() -> Iterator[Desk]:
    context = imgui.create_context()
    yield Desk()
    imgui.destroy_context(context)


def test_over_the_view_the_controller_gets_the_mouse_in_pixels(desk: Desk) -> None:
    desk.inputs.move(500.5, 300.25)
    desk.inputs.button("left", down=True)
    desk.inputs.button("left", down=False)
    desk.inputs.scroll(0.0, -1.0)
    expected = [
        Move(500.5, 300.25), Press("left", 500.5, 300.25), Release("left", 500.5, 300.25),
        Scroll(0.0, -1.0, 500.5, 300.25),
    ]  # fmt: skip
    assert desk.sent() == expected
    assert not desk.inputs.for_imgui


@pytest.mark.parametrize(
    ("capture", "place"),
    [
        (Capture(VIEW), (100, 300)),
        (Capture(VIEW, modal=True), (500, 300)),
        (Capture(VIEW, active=True), (500, 300)),
        (Capture(VIEW, floating=(Rect(400, 200, 200, 200),)), (500, 300)),
        (Capture(None), (500, 300)),
    ],
)
def test_over_panels_popups_and_dialogs_imgui_gets_it(desk: Desk, capture: Capture, place: tuple[int, int]) -> None:
    desk.inputs.capture = capture
    desk.inputs.move(*place)
    desk.inputs.button("left", down=True)
    desk.inputs.scroll(0.0, 1.0)
    desk.inputs.button("left", down=False)
    assert all(isinstance(event, Leave) for event in desk.sent())
    assert desk.inputs.for_imgui


def test_who_got_the_press_gets_the_moves_and_the_release(desk: Desk) -> None:
    desk.inputs.move(500, 300)
    desk.inputs.button("left", down=True)
    desk.inputs.move(100, 300)
    desk.inputs.button("left", down=False)
    assert [type(event) for event in desk.sent()] == [Move, Press, Move, Release]
    desk.inputs.button("left", down=True)
    desk.inputs.move(500, 300)
    desk.inputs.button("left", down=False)
    assert not any(isinstance(event, (Press, Release, Move)) for event in desk.sent())


def test_a_grab_without_a_button_owns_the_whole_window(desk: Desk) -> None:
    desk.dragging = True
    desk.inputs.move(100, 300)
    desk.inputs.button("left", down=True)
    desk.inputs.key("x", down=True)
    assert [type(event) for event in desk.sent()] == [Move, Press, Key]


def test_two_quick_presses_at_one_place_are_a_double_click(desk: Desk) -> None:
    clicks = []
    for wait, x in ((0.0, 500), (0.2, 501), (0.6, 501), (0.1, 540)):
        desk.now += wait
        desk.inputs.move(x, 300)
        desk.inputs.button("left", down=True)
        desk.inputs.button("left", down=False)
        clicks += [event.clicks for event in desk.sent() if isinstance(event, Press)]
    assert clicks == [1, 2, 1, 1]


def test_modifiers_are_named_and_reported(desk: Desk) -> None:
    desk.inputs.key("shift", down=True)
    desk.inputs.key("z", down=True)
    desk.inputs.key("shift", down=False)
    shift = frozenset({"shift"})
    assert desk.sent() == [Key("shift", shift), Key("z", shift), KeyUp("shift", frozenset())]


def test_losing_the_focus_lets_go_of_what_was_held(desk: Desk) -> None:
    desk.inputs.key("ctrl", down=True)
    desk.inputs.focus(got=False)
    assert desk.inputs.mods == frozenset()


def test_a_text_field_keeps_letters_and_lets_file_keys_through(desk: Desk) -> None:
    desk.capture.typing = True
    desk.inputs.key("l", down=True)
    assert desk.sent() == []
    desk.inputs.key("f1", down=True)
    assert desk.sent() == [Key("f1")]
    desk.inputs.key("ctrl", down=True)
    desk.sent()
    desk.inputs.key("z", down=True)
    assert desk.sent() == []
    desk.inputs.key("s", down=True)
    assert desk.sent() == [Key("s", frozenset({"ctrl"}))]


def test_dropped_files_arrive(desk: Desk, tmp_path: Path) -> None:
    desk.inputs.drop((tmp_path / "a.bvh",))
    assert desk.sent() == [Drop((tmp_path / "a.bvh",))]


@pytest.mark.parametrize(
    ("position", "printed", "name"),
    [
        ("q", "a", "a"),
        ("a", "q", "q"),
        ("semicolon", "m", "m"),
        ("m", ",", "comma"),
        ("y", "z", "z"),
        ("l", "д", "l"),
        ("1", "&", "1"),
        ("left", None, "left"),
        ("f5", None, "f5"),
        ("kp4", "4", "kp4"),
        ("minus", "ß", "minus"),
        ("l", None, "l"),
    ],
)
def test_letters_go_by_layout_and_others_by_position(position: str, printed: str | None, name: str) -> None:
    assert by_layout(position, printed) == name


def test_every_key_of_the_table_can_be_pressed() -> None:
    known = set(GLFW_NAMES.values())
    wanted = {chord.key for command in COMMANDS for chord in command.chords}
    assert wanted <= known
    assert wanted <= set(IMGUI_KEYS)
