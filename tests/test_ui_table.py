"""The table of keys: one meaning for each key, a handler for each command, and pages made from it."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from conftest import ROOT
from inside.ui import GROUPS, MINUS, MODS, chord

from viewer.ui import BY_ID, COMMANDS, MENUS, command_for, help_rows, menu_commands

NONE: frozenset[str] = frozenset()


def test_no_key_has_two_meanings_at_a_time() -> None:
    meanings = Counter((command.in_drag, command.room, found) for command in COMMANDS for found in command.chords)
    assert [key for key, count in meanings.items() if count > 1] == []


def test_ids_are_unique_and_groups_and_menus_are_known() -> None:
    assert len(BY_ID) == len(COMMANDS)
    assert {command.group for command in COMMANDS} <= set(GROUPS)
    assert {command.menu for command in COMMANDS if command.menu} <= set(MENUS)
    assert all(menu_commands(menu) for menu in MENUS)


def test_every_command_can_be_found() -> None:
    """By a key, a menu or (tools and the like) a button."""
    lost = {command.id for command in COMMANDS if not command.keys and command.menu is None}
    assert lost == {"tool.select", "build.children"}


def test_every_key_finds_its_command() -> None:
    for command in COMMANDS:
        for found in command.chords:
            assert command_for(found.key, found.mods, dragging=command.in_drag, room=command.room) is command


def test_while_dragging_ctrl_and_shift_do_not_hide_a_key_and_alt_does() -> None:
    for mods in (NONE, frozenset({"ctrl"}), frozenset({"shift"}), frozenset({"ctrl", "shift"})):
        found = command_for("5", mods, dragging=True)
        assert found is not None
        assert found.id == "drag.type_5"
    locked = command_for("x", frozenset({"ctrl"}), dragging=True)
    assert locked is not None
    assert locked.id == "drag.lock_x"
    plane = command_for("x", frozenset({"ctrl", "shift"}), dragging=True)
    assert plane is not None
    assert plane.id == "drag.plane_x"
    assert all(command_for(key, frozenset({"alt"}), dragging=True) is None for key in ("4", "x", "tab", "period"))


def test_what_acts_while_dragging_is_nothing_else_and_the_other_way_round() -> None:
    assert command_for("l", NONE, dragging=True) is None
    assert command_for("s", frozenset({"ctrl"}), dragging=True) is None
    assert command_for("x", NONE, dragging=False) is None


def test_keys_held_with_others_do_not_find_the_command_of_the_bare_key() -> None:
    assert command_for("l", frozenset({"alt"}), dragging=False) is None
    assert command_for("z", NONE, dragging=False) is None


def test_caps_are_what_is_engraved() -> None:
    assert chord("ctrl+shift+z").text == "Ctrl+Shift+Z"
    assert chord("pageup").caps == ("PgUp",)
    assert chord("minus").caps == (MINUS,)
    assert chord("f12").caps == ("F12",)
    assert chord("kp4").caps == ("Num 4",)
    assert chord("ctrl+comma").caps == ("Ctrl", ",")
    assert MODS == ("ctrl", "alt", "shift")


@pytest.mark.parametrize("preset", ["simple", "blender", "maya"])
def test_help_names_every_command_that_has_a_key_once(preset: str) -> None:
    rows = [row for group in help_rows(preset).values() for row in group]
    named = Counter(name for row in rows for name in row.ids)
    assert set(named) == {command.id for command in COMMANDS if command.keys}
    assert set(named.values()) == {1}
    assert all(row.caps and row.words for row in rows)


def test_help_has_no_two_rows_of_the_same_words_in_a_group() -> None:
    for rows in help_rows().values():
        assert len({row.words for row in rows}) == len(rows)


def test_presets_differ_in_what_dragging_beside_the_figure_does() -> None:
    def drags(preset: str) -> set[str]:
        rows = [row for group in help_rows(preset).values() for row in group]
        return {row.words for row in rows if ("drag empty",) in row.caps}

    assert drags("simple") == {"Orbit"}
    assert drags("blender") == drags("maya") == {"Box select, Shift adds"}


def test_the_ui_loads_without_a_window() -> None:
    window = "{'moderngl', 'moderngl_window', 'glfw', 'imgui_bundle'}"
    code = f"import sys, viewer.ui; print(sorted({window} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_menus_are_short_enough_for_a_window_720_pixels_high() -> None:
    # An entry is 20 pixels high, a separator 6: 30 entries in nine groups end 60 pixels above the window's end.
    assert {menu: count for menu in MENUS if (count := len(menu_commands(menu))) > 30} == {}
    assert {"feet.plant", "layer.reach", "physics.run", "key.record"} <= {one.id for one in menu_commands("Motion")}
