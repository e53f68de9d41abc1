"""A row of the table of commands, and the function that runs it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from viewer.ui.events import chord

if TYPE_CHECKING:
    from collections.abc import Callable

    from viewer.ui.events import Chord

NAVIGATE, SELECT, EDIT, POSE = "Navigate", "Select", "File and edit", "Pose"
DRAG, TIME, WINDOW = "While dragging", "Time", "Window"
GROUPS = (NAVIGATE, SELECT, EDIT, POSE, DRAG, TIME, WINDOW)
"""Headings of the help page, in order."""

MENUS = ("File", "Edit", "View", "Pose", "Goals", "Solver", "Window", "Help")
"""Titles of the menu bar, in order."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something that a key, a menu entry or a button does.

    Attributes:
        id: what code calls it, such as ``view.front``.
        title: words of its menu entry and tooltip.
        keys: chords such as ``ctrl+shift+z``; the first is the one that menus show.
        group: heading of the help page.
        in_drag: acts while a drag or grab runs, and only then; the others act at all other times.
        menu: the menu that lists it, or None.
        hint: a word or two for the status line.
        row: words of its row of the help page, which neighbours with the same words share.
        toggle: it is on or off, and menus tick it.
        repeats: it acts again while its key stays down.
    """

    id: str
    title: str
    keys: tuple[str, ...] = ()
    group: str = WINDOW
    in_drag: bool = False
    menu: str | None = None
    hint: str = ""
    row: str = ""
    toggle: bool = False
    repeats: bool = False

    @property
    def chords(self) -> tuple[Chord, ...]:
        """Its keys, parsed."""
        return tuple(chord(text) for text in self.keys)

    @property
    def words(self) -> str:
        """Words of its row of the help page."""
        return self.row or self.title

    @property
    def shortcut(self) -> str:
        """The key that a menu shows beside it: ``Ctrl+Shift+Z``, or nothing."""
        return self.chords[0].text if self.keys else ""


@dataclass(frozen=True, slots=True)
class Gesture:
    """Something that the mouse does, for the help page.

    Attributes:
        words: what it does.
        caps: ways to do it, each a row of keys and buttons.
        group: heading of the help page.
        presets: the mouse presets that have it; empty for all.
    """

    words: str
    caps: tuple[tuple[str, ...], ...]
    group: str
    presets: tuple[str, ...] = ()


def always() -> bool:
    """A command that can run at any time."""
    return True


class Handler(NamedTuple):
    """How a command is run.

    Attributes:
        run: does it.
        can: whether it would do something now: menus and buttons are grey where it would not.
        checked: whether it is on; None for what is no toggle.
    """

    run: Callable[[], object]
    can: Callable[[], bool] = always
    checked: Callable[[], bool] | None = None


Handlers = dict[str, Handler]
