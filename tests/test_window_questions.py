"""Questions that the window asks, answered by somebody who types: the frame to go to."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from window_pilot import Pilot

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def pilot() -> Iterator[Pilot]:
    pilot = Pilot("sample:walk")
    yield pilot
    pilot.close()


def _type(pilot: Pilot, text: str) -> None:
    for letter in text:
        pilot.inputs.key(letter, down=True)
        pilot.inputs.text(letter)
        pilot.inputs.key(letter, down=False)
        pilot.settle()


def _go(pilot: Pilot, text: str) -> None:
    pilot.key("ctrl+g")
    pilot.settle()
    _type(pilot, text)
    pilot.key("enter")
    pilot.settle()


def test_each_time_what_is_typed_replaces_the_frame_that_is_shown(pilot: Pilot) -> None:
    for frame in (10, 20, 30, 40, 8):
        _go(pilot, str(frame))
        assert pilot.session.document.frame == frame
        assert not pilot.app.painter.capture.modal
    assert not pilot.app.controller.view.bar.messages


@pytest.mark.parametrize(
    ("typed", "frame", "words"),
    [
        ("1080", 67, "Frame 1080 does not exist: 67 is the last"),
        ("-3", 0, "Frame \N{MINUS SIGN}3 does not exist: 0 is the first"),
        ("67", 67, ""),
        ("60+7", 67, ""),
    ],
)
def test_a_frame_that_there_is_not_is_said(pilot: Pilot, typed: str, frame: int, words: str) -> None:
    _go(pilot, "5")
    _go(pilot, typed)
    assert pilot.session.document.frame == frame
    assert [message.text for message in pilot.app.controller.view.bar.messages] == ([words] if words else [])


def test_what_is_no_number_is_said_and_can_be_typed_anew(pilot: Pilot) -> None:
    _go(pilot, "x")
    assert [message.text for message in pilot.app.controller.view.bar.messages] == ['Expected a number, found "x"']
    assert pilot.app.painter.capture.modal
    assert pilot.session.document.frame == 0


@pytest.mark.parametrize("batches", [("+ctrl", "+a -ctrl", "-a"), ("+ctrl +a -ctrl -a",), ("+ctrl", "+a", "-ctrl -a")])
def test_ctrl_a_selects_all_of_a_field_however_soon_ctrl_is_let_go(pilot: Pilot, batches: tuple[str, ...]) -> None:
    pilot.key("ctrl+g")
    pilot.settle()
    _type(pilot, "5")
    for batch in batches:
        for stroke in batch.split():
            pilot.inputs.key(stroke[1:], down=stroke[0] == "+")
        pilot.step()
    pilot.settle()
    _type(pilot, "12")
    pilot.key("enter")
    pilot.settle()
    assert pilot.session.document.frame == 12
