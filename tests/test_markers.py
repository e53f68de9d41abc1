"""Markers: names of frames, on the ruler and by keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from imgui_bundle import imgui
from inside.document import LONGEST_MARKER, KeyPose, Marker, MoveMarker, RemoveMarker, SetMarker
from panel_window import PanelWindow

import viewer
from viewer import InputError
from viewer.document import Document, new_document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from viewer.document import Action

LANE = 22.0 + 8.0
"""From the top of the ruler into the lane of markers."""


def after(*actions: Action) -> Document:
    document = new_document(viewer.load("sample:walk"))
    for action in actions:
        document = action.apply(document)
    return document


def test_markers_are_in_order_have_free_names_and_one_a_frame() -> None:
    found = after(SetMarker(30), SetMarker(10), SetMarker(), SetMarker(30, "  Contact "), SetMarker(40))
    assert found.markers == (
        Marker(0, "Marker 3"),
        Marker(10, "Marker 2"),
        Marker(30, "Contact"),
        Marker(40, "Marker 1"),
    )


def test_they_are_moved_and_removed() -> None:
    found = after(SetMarker(30, "a"), SetMarker(10, "b"), MoveMarker(30, 5), RemoveMarker(10))
    assert found.markers == (Marker(5, "a"),)


@pytest.mark.parametrize(
    ("actions", "words"),
    [
        ((SetMarker(68),), "marker: expected a frame from 0 to 67, found 68"),
        ((SetMarker(-1),), "marker: frame: expected a whole number, 0 to 999999, found -1"),
        ((SetMarker(1, " "),), "marker: expected a name, found none"),
        ((SetMarker(1, "a\nb"),), 'marker: expected a name of one line, found "a\\nb"'),
        ((SetMarker(1, "a" * 101),), f"marker: expected a name of at most {LONGEST_MARKER} characters, found 101"),
        ((RemoveMarker(4),), "there is no marker at frame 4"),
        ((SetMarker(1, "a"), SetMarker(2), MoveMarker(2, 1)), "frame 1 has a marker already: a"),
    ],
)
def test_bad_input(actions: tuple[Action, ...], words: str) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(words)}$"):
        after(*actions)


@pytest.fixture
def window() -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"))
    for frame in (0, 40, 80):
        made.session.dispatch(KeyPose(frame))
    made.session.dispatch(SetMarker(20, "Wind up"))
    made.session.dispatch(SetMarker(60, "Contact"))
    made.frames(4)
    yield made
    made.close()


def place(window: PanelWindow, frame: int) -> tuple[float, float]:
    box, view = window.box("timeline", "ruler"), window.controller.keying.time_view
    return box.left + 14.0 + (frame - view.start) / view.span * (box.right - box.left - 28.0), box.top + LANE


def press(window: PanelWindow, at: tuple[float, float], by: float = 0.0) -> None:
    window.move(at)
    window.rest()
    window.button(down=True)
    window.move((at[0] + 0.5 * by, at[1]))
    window.move((at[0] + by, at[1]))
    window.button(down=False)
    window.frames(3)


def test_flags_have_names_and_a_click_goes_there(window: PanelWindow) -> None:
    assert {"Wind up", "Contact"} <= {*window.words("timeline")}
    press(window, place(window, 60))
    assert window.session.document.frame == 60


def test_a_flag_is_dragged_in_one_step(window: PanelWindow) -> None:
    depth = window.session.history.index
    press(window, place(window, 60), place(window, 70)[0] - place(window, 60)[0])
    assert [marker.frame for marker in window.session.document.markers] == [20, 70]
    assert window.session.history.index == depth + 1
    window.session.undo()
    assert [marker.frame for marker in window.session.document.markers] == [20, 60]


def test_keys_go_from_marker_to_marker(window: PanelWindow) -> None:
    run = window.controller.run
    run("marker.next")
    assert window.session.document.frame == 20
    run("marker.next")
    assert window.session.document.frame == 60
    assert not window.controller.can("marker.next")
    run("marker.previous")
    assert window.session.document.frame == 20


def test_a_marker_is_set_and_named(window: PanelWindow) -> None:
    window.controller.playback.go(33)
    window.controller.run("marker.set")
    window.frames(4)
    assert window.popup
    window.write("Hit")
    window.tap(imgui.Key.enter)
    window.frames(4)
    assert Marker(33, "Hit") in window.session.document.markers
    window.controller.run("marker.set")  # there is one: it is renamed
    window.frames(4)
    assert "Frame 33" in window.words("questions")
    window.tap(imgui.Key.escape)
    window.frames(4)
    assert "Frame 33" not in window.words("questions")
    assert len(window.session.document.markers) == 3


def test_the_menu_of_a_flag_removes_it(window: PanelWindow) -> None:
    window.move(place(window, 20))
    window.frames(3)
    window.button(down=True, which=1)
    window.button(down=False, which=1)
    window.frames(3)
    assert window.popup
    window.controller.markers.remove(20)
    window.frames(3)
    assert [marker.name for marker in window.session.document.markers] == ["Contact"]
