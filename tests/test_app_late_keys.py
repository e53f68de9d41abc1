"""Keys and clicks while frames are slow: keys in the frame in which a widget was released, double clicks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from imgui_bundle import imgui
from inside.app import Place
from inside.document import takes_KeyPose as KeyPose
from window_pilot import Pilot

from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot("sample:walk")
    yield pilot
    pilot.close()


def _strike(pilot: Pilot, chord: str) -> None:
    """Strike keys without any frame between."""
    names = chord.split("+")
    for name in names:
        pilot.inputs.key(name, down=True)
    for name in reversed(names):
        pilot.inputs.key(name, down=False)


def _scrub(pilot: Pilot) -> None:
    """Drag along the ruler of the timeline; the button is still down."""
    rect = pilot.app.painter.ui.regions.rects[Place.BOTTOM]
    x, y = rect.x + 0.3 * rect.w, rect.y + 80.0
    pilot.move(x, y)
    pilot.button("left", down=True)
    pilot.step(2)
    pilot.move(x + 60.0, y)
    pilot.step(2)


def test_undo_right_after_a_scrub_undoes(pilot: Pilot) -> None:
    pilot.session.dispatch(KeyPose(0))
    pilot.settle()
    _scrub(pilot)
    assert pilot.session.document.frame > 0
    assert pilot.app.painter.capture.active
    pilot.inputs.button("left", down=False)
    _strike(pilot, "ctrl+z")
    pilot.settle()
    assert pilot.session.history.index == 0
    assert not pilot.inputs.held


def test_keys_while_a_widget_is_held_are_its_own_as_before(pilot: Pilot) -> None:
    pilot.session.dispatch(KeyPose(0))
    pilot.settle()
    _scrub(pilot)
    _strike(pilot, "ctrl+z")
    pilot.step(3)
    assert pilot.session.history.index == 1
    pilot.button("left", down=False)
    pilot.settle()
    assert pilot.session.history.index == 1


def test_what_is_typed_right_after_a_click_into_a_field_is_written_there(pilot: Pilot) -> None:
    limits = pilot.session.document.limits_on
    rect = pilot.app.painter.ui.regions.body(Place.LEFT_TOP)
    pilot.move(rect.x + 90.0, rect.y + 20.0)
    pilot.inputs.button("left", down=True)
    pilot.inputs.button("left", down=False)
    for letter in "leg":
        pilot.inputs.key(letter, down=True)
        pilot.inputs.text(letter)
        pilot.inputs.key(letter, down=False)
    pilot.settle()
    assert pilot.app.painter.capture.typing
    assert pilot.session.document.limits_on is limits
    pilot.key("ctrl+a")
    assert "leg" in str(pilot.app.painter.ui._memories["skeleton"])


def _write(pilot: Pilot, text: str, gap: int = 0) -> None:
    for letter in text:
        pilot.inputs.key(letter, down=True)
        pilot.inputs.text(letter)
        pilot.inputs.key(letter, down=False)
        pilot.step(gap)


@pytest.mark.parametrize("gap", [0, 1, 2, 3, 6])
def test_what_is_typed_right_after_the_key_of_the_search_is_written_there(pilot: Pilot, gap: int) -> None:
    before = pilot.session.document
    _strike(pilot, "ctrl+f")
    pilot.step(gap)
    _write(pilot, "leg", gap)
    pilot.step(8)
    assert pilot.app.controller.view.finding == "leg"
    assert pilot.session.document is before  # L would have switched limits
    _strike(pilot, "enter")
    pilot.step(4)
    assert pilot.app.controller.view.finding == ""
    assert pilot.session.document.active == Item("joint", "LeftUpLeg")
    assert not pilot.inputs.waiting


def test_what_is_typed_right_after_the_key_of_a_dialog_is_written_there(pilot: Pilot) -> None:
    _strike(pilot, "ctrl+g")
    _write(pilot, "12")
    _strike(pilot, "enter")
    pilot.step(12)
    assert pilot.session.document.frame == 12
    pilot.settle()
    assert not pilot.app.painter.capture.modal


def test_a_window_that_loses_the_keyboard_forgets_keys_that_waited(pilot: Pilot) -> None:
    pilot.session.dispatch(KeyPose(0))
    pilot.settle()
    _scrub(pilot)
    pilot.inputs.button("left", down=False)
    _strike(pilot, "ctrl+z")
    pilot.inputs.focus(got=False)
    pilot.settle()
    assert pilot.session.history.index == 1


def test_a_double_click_on_a_panel_counts_in_slow_frames_too(pilot: Pilot) -> None:
    rect = pilot.app.painter.ui.regions.rects[Place.BOTTOM]
    pilot.move(rect.x + 0.3 * rect.w, rect.y + 80.0)
    for down in (True, False, True):
        pilot.inputs.button("left", down=down)
        pilot.step(seconds=0.2)  # imgui takes one of these events a frame
    assert imgui.get_io().mouse_clicked_last_count[0] == 2
    pilot.button("left", down=False)
