"""The one table of keys: the window answers by it, and the help page and docs/keys.md are made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from viewer.ui.chords import Chord
from viewer.ui.command import GROUPS, MENUS, Command
from viewer.ui.numbers import MINUS
from viewer.ui.rows_look import LOOK_GESTURES, LOOKING, PLAYING, SELECTING, WINDOWS
from viewer.ui.rows_pose import DRAGGING, EDITING, POSE_GESTURES, POSING
from viewer.ui.rows_time import KEYING, TIME_GESTURES

if TYPE_CHECKING:
    from viewer.ui.command import Gesture
    from viewer.ui.events import Mods

COMMANDS: tuple[Command, ...] = (*LOOKING, *SELECTING, *EDITING, *POSING, *DRAGGING, *PLAYING, *KEYING, *WINDOWS)
"""Every command, in the order of menus and of the help page."""

GESTURES: tuple[Gesture, ...] = (*LOOK_GESTURES, *POSE_GESTURES, *TIME_GESTURES)
"""What the mouse does, for the help page."""

BY_ID: dict[str, Command] = {command.id: command for command in COMMANDS}

_BY_CHORD: dict[tuple[bool, Chord], Command] = {
    (command.in_drag, chord): command for command in COMMANDS for chord in command.chords
}

_SHORT_CAPS: dict[str, tuple[tuple[str, ...], ...]] = {
    "nudge.left": (("Alt", "← → ↑ ↓"),),
    "nudge.nearer": (("Alt", "PgUp"), ("Alt", "PgDn")),
    "drag.type_0": (("0 … 9",), (".",), (MINUS,)),
    "view.orbit_left": (("Num 4 6 8 2",),),
}
"""Rows of the help page that would be too long otherwise, by the first command of the row."""


class HelpRow(NamedTuple):
    """A row of the help page.

    Attributes:
        caps: ways to do it, each a row of key caps.
        words: what it does.
        ids: the commands of the row; empty for what the mouse does.
    """

    caps: tuple[tuple[str, ...], ...]
    words: str
    ids: tuple[str, ...] = ()


def command_for(key: str, mods: Mods, *, dragging: bool) -> Command | None:
    """The command of a key.

    While something is dragged, Ctrl and Alt mean snap and nothing: they may be held with any key. So may Shift (fine)
    with the keys that have no other meaning with it.
    """
    if not dragging:
        return _BY_CHORD.get((False, Chord(key, mods)))
    held = mods & {"shift"}
    return _BY_CHORD.get((True, Chord(key, held))) or _BY_CHORD.get((True, Chord(key, frozenset())))


def menu_commands(menu: str) -> tuple[Command, ...]:
    """The entries of a menu, in order."""
    return tuple(command for command in COMMANDS if command.menu == menu)


def help_rows(preset: str = "simple") -> dict[str, tuple[HelpRow, ...]]:
    """The help page: rows by heading, for one mouse preset."""
    return {group: _joined([*_gesture_rows(group, preset), *_command_rows(group)]) for group in GROUPS}


def _joined(rows: list[HelpRow]) -> tuple[HelpRow, ...]:
    """Rows of the same words in one."""
    found: dict[str, HelpRow] = {}
    for row in rows:
        other = found.get(row.words)
        found[row.words] = row if other is None else HelpRow(other.caps + row.caps, row.words, other.ids + row.ids)
    return tuple(found.values())


def _gesture_rows(group: str, preset: str) -> list[HelpRow]:
    shown = [g for g in GESTURES if g.group == group and (not g.presets or preset in g.presets)]
    return [HelpRow(gesture.caps, gesture.words) for gesture in shown]


def _command_rows(group: str) -> list[HelpRow]:
    """Commands with keys; neighbours of the same words in one row."""
    joined: dict[str, list[Command]] = {}
    for command in COMMANDS:
        if command.group == group and command.keys:
            joined.setdefault(command.words, []).append(command)
    return [HelpRow(_caps(some), words, tuple(c.id for c in some)) for words, some in joined.items()]


def _caps(commands: list[Command]) -> tuple[tuple[str, ...], ...]:
    short = _SHORT_CAPS.get(commands[0].id)
    if short is not None:
        return short
    # The keypad's keys are alike: they would only make the page longer.
    every = [chord for command in commands for chord in command.chords]
    main = [chord for chord in every if not chord.key.startswith("kp")]
    return tuple(chord.caps for chord in main or every)


__all__ = ["BY_ID", "COMMANDS", "GESTURES", "MENUS", "Command", "HelpRow", "command_for", "help_rows", "menu_commands"]
