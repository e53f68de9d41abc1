"""Names: changed in the tree or a dialog, and found where there is no tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from imgui_bundle import imgui
from inside.app import found_commands, found_files, found_rows
from inside.document import Select
from inside.session import LESSONS
from panel_window import PanelWindow

import viewer
from viewer.document import Item

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE, NARROW = (1280, 720), (960, 600)


@pytest.fixture(params=[WIDE, NARROW], ids=["tree", "dialog"])
def window(request: pytest.FixtureRequest) -> Iterator[PanelWindow]:
    made = PanelWindow(viewer.load("sample:biped"), request.param)
    made.session.dispatch(Select((Item("joint", "LeftForeArm"),)))
    made.frames(3)
    yield made
    made.close()


def asks(window: PanelWindow) -> bool:
    """Whether a dialog is open."""
    return window.popup


def ask(window: PanelWindow) -> None:
    assert window.controller.run("joint.rename")
    window.frames(4)
    assert asks(window) is (window.size == NARROW)


def test_a_name_is_written_and_enter_takes_it(window: PanelWindow) -> None:
    ask(window)
    window.write("Elbow")
    assert window.session.document.active == Item("joint", "Elbow")
    assert window.controller.renaming.joint == -1
    window.frames(3)
    assert not asks(window)
    assert window.session.history.labels[-1] == "Rename LeftForeArm"


def test_escape_leaves_the_name_as_it_was(window: PanelWindow) -> None:
    before = window.session.document
    ask(window)
    imgui.get_io().add_input_characters_utf8("Elbow")
    window.frames(2)
    window.tap(imgui.Key.escape)
    window.frames(2)
    if asks(window):  # the first one was the field's
        window.tap(imgui.Key.escape)
        window.frames(2)
    assert window.session.document is before
    assert window.controller.renaming.joint == -1
    assert not asks(window)


def test_a_name_that_is_taken_is_refused_in_a_line(window: PanelWindow) -> None:
    before = window.session.document
    ask(window)
    window.write("LeftHand")
    assert window.session.document is before
    said = [message.text for message in window.controller.view.bar.messages]
    assert said == ['Joint "LeftForeArm": another joint is called "LeftHand"']


def test_the_tree_keeps_what_is_folded_when_a_joint_is_renamed() -> None:
    window = PanelWindow(viewer.load("sample:biped"), WIDE)
    try:
        window.session.dispatch(Select((Item("joint", "Spine1"),)))
        window.frames(3)
        rows = [line for line in window.words("skeleton") if line != "Find joint"]
        window.controller.renaming.rename(window.session.document.skeleton.index("Spine1"), "Middle")
        window.frames(3)
        after = [line for line in window.words("skeleton") if line != "Find joint"]
        assert after == ["Middle" if row == "Spine1" else row for row in rows]
    finally:
        window.close()


@pytest.mark.parametrize(("command", "title"), [("joint.rename", "Rename joint"), ("select.find", "Find")])
def test_what_the_tree_asks_for_is_asked_in_a_dialog_behind_another_tab(command: str, title: str) -> None:
    window = PanelWindow(viewer.load("sample:biped"), WIDE)
    window.session.dispatch(Select((Item("joint", "LeftForeArm"),)))
    window.front("poses")
    assert window.controller.run(command)
    window.frames(5)
    assert title in window.words("questions") + window.words("find")
    window.close()


def test_a_joint_is_found_where_the_tree_is_folded_away() -> None:
    window = PanelWindow(viewer.load("sample:biped"), NARROW)
    try:
        window.controller.run("select.find")
        window.frames(4)
        assert asks(window)
        window.write("right fore")
        assert window.session.document.active == Item("joint", "RightForeArm")
        assert not asks(window)
        window.controller.run("select.find")
        window.frames(4)
        imgui.get_io().add_input_characters_utf8("hnad")
        window.frames(3)
        window.tap(imgui.Key.escape)
        window.frames(2)
        assert asks(window)
        assert not any(line.startswith("No command") for line in window.words("find"))
        window.tap(imgui.Key.escape)
        window.frames(2)
        assert not asks(window)
        assert window.session.document.active == Item("joint", "RightForeArm")
    finally:
        window.close()


def find(window: PanelWindow, text: str) -> None:
    window.controller.run("select.find")
    window.frames(5)
    imgui.get_io().add_input_characters_utf8(text)
    window.frames(3)


@pytest.mark.parametrize(("downs", "ups", "joint"), [(0, 0, 0), (2, 0, 2), (3, 1, 2), (0, 4, 0), (99, 0, -1)])
def test_arrows_mark_what_was_found_and_enter_selects_it(window: PanelWindow, downs: int, ups: int, joint: int) -> None:
    names = window.session.document.skeleton.names
    legs = [names[row.joint] for row in found_rows(window.session.document.skeleton, "leg")]
    find(window, "leg")
    for key, times in ((imgui.Key.down_arrow, downs), (imgui.Key.up_arrow, ups)):
        for _ in range(times):
            window.tap(key)
    window.tap(imgui.Key.enter)
    window.frames(3)
    assert window.session.document.active == Item("joint", legs[joint])
    assert window.controller.view.finding == ""
    assert not asks(window)


def test_enter_selects_nothing_where_nothing_was_found(window: PanelWindow) -> None:
    before = window.session.document
    find(window, "hnad")
    window.tap(imgui.Key.enter)
    window.frames(3)
    assert window.session.document is before


def test_escape_empties_the_search_and_the_next_one_leaves_it() -> None:
    window = PanelWindow(viewer.load("sample:biped"), WIDE)
    try:
        window.session.dispatch(Select((Item("joint", "Head"),)))
        window.frames(3)
        every = window.words("skeleton")
        find(window, "hand")
        assert window.controller.view.finding == "hand"
        assert window.words("skeleton") != every
        window.tap(imgui.Key.escape)
        window.frames(2)
        assert window.controller.view.finding == ""
        assert imgui.get_io().want_text_input
        window.tap(imgui.Key.escape)
        window.frames(2)
        assert not imgui.get_io().want_text_input
        find(window, "hand")
        imgui.internal.clear_active_id()  # as a click into the view does
        window.frames(2)
        assert window.controller.view.finding == "hand"
        window.controller.run("select.none")
        window.frames(2)
        assert window.controller.view.finding == ""
        assert window.session.document.selection
        window.controller.run("select.none")
        assert not window.session.document.selection
    finally:
        window.close()


def test_f3_finds_commands_by_words_of_their_titles_and_does_what_is_chosen() -> None:
    window = PanelWindow(viewer.load("sample:biped"))
    try:
        window.controller.run("find.all")
        window.frames(4)
        assert asks(window)
        window.write("full screen")
        assert not asks(window)
        assert [request.name for request in window.ui.requests] == ["fullscreen"]
        assert found_commands("balance")[0].words == "Balance"
        assert [one.words for one in found_commands("physics")[:2]] == ["Physics", "Run physics"]
        assert found_commands("") == found_files("") == []
        assert {one.file for one in found_files("lesson")} == {f"demo:{demo.id}" for demo in LESSONS}
        assert [(one.words, one.note) for one in found_files("s-lock")] == [("The S-lock", "Demo")]
        assert all("drag." not in one.command for one in found_commands("a"))
        window.controller.run("find.all")
        window.frames(4)
        window.write("left fore")
        assert window.session.document.active == Item("joint", "LeftForeArm")
        window.controller.run("find.all")
        window.frames(4)
        window.write("misprints")
        assert window.session.document.character.source.path == "demo:misprints"
    finally:
        window.close()
