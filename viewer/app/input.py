"""From a window's raw input to Dear ImGui and the controller: who gets it, and the names of keys."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from imgui_bundle import imgui

from viewer.app.context import Borders
from viewer.scene.look import PALETTE
from viewer.ui.events import Button, Drop, Event, Key, KeyUp, Leave, Mods, Move, Press, Release, Scroll
from viewer.ui.numbers import Rect

if TYPE_CHECKING:
    from PIL.Image import Image

_ALWAYS = frozenset({"f1", "f11", "f12"})
"""Keys that no text field or dialog keeps for itself."""
_OVER_TEXT = frozenset({"s", "o", "e", "q"})
"""Letters that with Ctrl act in a text field, too: files and quitting."""


@dataclass(slots=True)
class Capture:
    """What imgui had in its last frame, which decides where the next event goes.

    Attributes:
        viewport: where the scene is, framebuffer pixels; None: everything is imgui's.
        floating: rectangles of windows and popups over it.
        modal: a popup or dialog is open.
        typing: a text field has the keyboard.
        active: a widget is held by the mouse.
        awaited: a text field was given the keyboard, which it will answer in some frames.
        frames: how many there were.
    """

    viewport: Rect | None = None
    floating: tuple[Rect, ...] = ()
    modal: bool = False
    typing: bool = False
    active: bool = False
    awaited: bool = False
    frames: int = 0

    def pointer(self, x: float, y: float) -> bool:
        """Whether imgui gets what the pointer does here."""
        if self.modal or self.active or self.viewport is None or not self.viewport.contains(x, y):
            return True
        return any(rect.contains(x, y) for rect in self.floating)

    def key(self, name: str, mods: Mods) -> bool:
        """Whether imgui alone gets a key."""
        if name in _ALWAYS:
            return False
        if self.typing:
            return not ("ctrl" in mods and name in _OVER_TEXT)
        return self.modal or self.active


LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"

_SAME = ("space", "escape", "enter", "tab", "backspace", "delete", "insert", "home", "end", "comma", "period", "minus",
         "equal", "slash", "backslash", "semicolon", "apostrophe")  # fmt: skip
_OTHER = {
    "left": ("LEFT", "left_arrow"),
    "right": ("RIGHT", "right_arrow"),
    "up": ("UP", "up_arrow"),
    "down": ("DOWN", "down_arrow"),
    "pageup": ("PAGE_UP", "page_up"),
    "pagedown": ("PAGE_DOWN", "page_down"),
    "bracketleft": ("LEFT_BRACKET", "left_bracket"),
    "bracketright": ("RIGHT_BRACKET", "right_bracket"),
    "grave": ("GRAVE_ACCENT", "grave_accent"),
    "kpenter": ("KP_ENTER", "keypad_enter"),
    "kpadd": ("KP_ADD", "keypad_add"),
    "kpsubtract": ("KP_SUBTRACT", "keypad_subtract"),
    "kpmultiply": ("KP_MULTIPLY", "keypad_multiply"),
    "kpdivide": ("KP_DIVIDE", "keypad_divide"),
    "kpdecimal": ("KP_DECIMAL", "keypad_decimal"),
}
_MODIFIERS = {
    "shift": ("SHIFT", "shift"),
    "ctrl": ("CONTROL", "ctrl"),
    "alt": ("ALT", "alt"),
    "super": ("SUPER", "super"),
}

PUNCTUATION = {",": "comma", ".": "period", "-": "minus", "=": "equal", "[": "bracketleft", "]": "bracketright",
               "/": "slash", ";": "semicolon", "'": "apostrophe", "\\": "backslash"}  # fmt: skip
"""Names of what keys print."""


def _glfw_names() -> dict[str, str]:
    names = {name.upper(): name for name in _SAME}
    names |= {letter.upper(): letter for letter in LETTERS} | {digit: digit for digit in DIGITS}
    names |= {f"KP_{digit}": f"kp{digit}" for digit in DIGITS} | {f"F{number}": f"f{number}" for number in range(1, 13)}
    names |= {theirs: name for name, (theirs, _) in _OTHER.items()}
    for name, (theirs, _) in _MODIFIERS.items():
        names |= {f"LEFT_{theirs}": name, f"RIGHT_{theirs}": name}
    return names


GLFW_NAMES = _glfw_names()
"""Our name of each key that GLFW has a constant ``KEY_...`` for."""


def _imgui_keys() -> dict[str, imgui.Key]:
    keys = {name: getattr(imgui.Key, name) for name in _SAME}
    keys |= {letter: getattr(imgui.Key, letter) for letter in LETTERS}
    keys |= {digit: getattr(imgui.Key, f"_{digit}") for digit in DIGITS}
    keys |= {f"kp{digit}": getattr(imgui.Key, f"keypad{digit}") for digit in DIGITS}
    keys |= {f"f{number}": getattr(imgui.Key, f"f{number}") for number in range(1, 13)}
    keys |= {name: getattr(imgui.Key, theirs) for name, (_, theirs) in _OTHER.items()}
    keys |= {name: getattr(imgui.Key, f"left_{theirs}") for name, (_, theirs) in _MODIFIERS.items()}
    return keys


IMGUI_KEYS = _imgui_keys()
"""imgui's key of each of our names."""

IMGUI_MODIFIERS = {
    "ctrl": imgui.Key.mod_ctrl,
    "shift": imgui.Key.mod_shift,
    "alt": imgui.Key.mod_alt,
    "super": imgui.Key.mod_super,
}


def by_layout(position: str, printed: str | None) -> str:
    """The name of a key: letters and their neighbours by what the layout prints, all others by where they are.

    Args:
        position: the name of the key that is there on a US keyboard.
        printed: what the key prints in the person's layout, or None where it is not known.

    Returns:
        ``"a"`` for the key left of S on QWERTY and for the one above it on AZERTY. Where a layout prints other scripts
        (Cyrillic, Greek), a letter is where QWERTY has it, as in other programs.
    """
    if not printed or len(printed) != 1 or (len(position) > 1 and position not in PUNCTUATION.values()):
        return position
    printed = printed.lower()
    if printed in LETTERS:
        return printed
    if position in DIGITS:
        return position
    return PUNCTUATION.get(printed, position)


__all__ = ["BUTTONS", "Capture", "Inputs"]

BUTTONS: tuple[Button, ...] = ("left", "right", "middle")
"""As imgui and GLFW count them."""

_OUTSIDE = (-1.0, -1.0)
_DOUBLE_CLICK = 0.35
_DOUBLE_SLACK = 6.0
_SHOWN = 2
"""Frames after which what the controller asked for is seen."""
_COMMAND = "super" if sys.platform == "darwin" else "ctrl"
"""What the key table calls "ctrl"; on macOS the Control key itself still snaps."""

_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyz0123456789")
"""Keys that a text field hears of as text: as keys, too, imgui would take no more than one of them a frame."""
_SHORTCUTS = frozenset({"ctrl", "shift", "super"})
"""Modifiers of a text field's own keys."""


@dataclass(slots=True)
class Inputs:
    """Takes raw input; hands events on to the controller, in framebuffer pixels from the top left, y down.

    Attributes:
        send: gets what is the controller's.
        borders: between panels, which can be dragged.
        capture: what imgui held in its last frame.
        grabbing: whether the controller drags something, with or without a button: then all input is its own.
        clock: seconds, for double clicks.
        asked: whether the controller has asked for a field or a dialog that is not drawn yet.
        held: modifiers that are down.
        pointer: where it is.
        for_imgui: something reached imgui since this was last set to False.
    """

    send: Callable[[Event], None]
    borders: Borders
    capture: Capture
    grabbing: Callable[[], bool] = bool
    clock: Callable[[], float] = time.monotonic
    asked: Callable[[], bool] = bool
    held: set[str] = field(default_factory=set)
    pointer: tuple[float, float] = _OUTSIDE
    for_imgui: bool = False
    _owners: dict[Button, bool] = field(default_factory=dict)
    _last_press: tuple[float, Button, float, float] = (-1.0, "left", 0.0, 0.0)
    _clicks: int = 1
    _unseen: bool = False
    _asked_at: int | None = None
    _late: list[Callable[[], None]] = field(default_factory=list)

    @property
    def mods(self) -> Mods:
        """Keys held, as the key table has them."""
        held = {"ctrl"} if _COMMAND in self.held or "ctrl" in self.held else set()
        return frozenset(held | (self.held & {"shift", "alt"}))

    @property
    def located(self) -> bool:
        """Whether the pointer is in the window, as far as events say."""
        return self.pointer != _OUTSIDE

    @property
    def busy(self) -> bool:
        """Whether the controller holds the pointer: the camera or a handle is being dragged, or a grab runs."""
        return any(not imguis for imguis in self._owners.values()) or self.grabbing()

    def move(self, x: float, y: float) -> None:
        """The pointer is at a pixel; imgui always knows, the controller unless imgui holds a button."""
        self.pointer = (x, y)
        imgui.get_io().add_mouse_pos_event(x, y)
        if self.borders.move(x, y):
            self.for_imgui = True
            return
        captured = self.capture.pointer(x, y) and not self.busy
        self.for_imgui = self.for_imgui or captured
        if captured or True in self._owners.values():
            self.send(Leave())
        else:
            self.send(Move(x, y, self.mods))

    def button(self, button: Button, *, down: bool) -> None:
        """A button went down or came up where the pointer is."""
        x, y = self.pointer
        if button == "left" and self._border(x, y, down=down):
            return
        if down:
            self._owners[button] = imguis = self.capture.pointer(x, y) and not self.busy
            if not imguis:
                self.send(Press(button, x, y, self.mods, self._count(button, x, y)))
        elif not (imguis := self._owners.pop(button, True)):
            self.send(Release(button, x, y, self.mods))
        if imguis:
            self.for_imgui = self._unseen = True
            imgui.get_io().add_mouse_button_event(BUTTONS.index(button), down)
        elif down:
            imgui.internal.clear_active_id()  # a click into the view ends what was typed in a field

    def scroll(self, dx: float, dy: float) -> None:
        """The wheel turned by so many notches."""
        x, y = self.pointer
        if self.capture.pointer(x, y) and not self.busy:
            self.for_imgui = True
            imgui.get_io().add_mouse_wheel_event(dx, dy)
        else:
            self.send(Scroll(dx, dy, x, y, self.mods))

    def key(self, name: str, *, down: bool, repeat: bool = False) -> None:
        """A key went down or came up."""
        if self._late or self._waits:
            self._late.append(partial(self.key, name, down=down, repeat=repeat))
            return
        if name in IMGUI_MODIFIERS:
            self._modifier(name, down=down)
            return
        captured = self.capture.key(name, self.mods) and not self.grabbing()
        letter = down and self.capture.typing and name in _LETTERS and not self.mods & {"ctrl", "alt"}
        if (captured or not down) and not letter:
            if down:
                self._hold_modifiers()
            self._to_imgui(name, down=down)
        if down and not captured:
            self.send(Key(name, self.mods, repeat))
        elif not down:
            self.send(KeyUp(name, self.mods))

    def text(self, typed: str) -> None:
        """Letters were typed."""
        if self._late or self._waits:
            self._late.append(partial(self.text, typed))
        elif self.capture.typing:
            self.for_imgui = True
            imgui.get_io().add_input_characters_utf8(typed)

    def deliver_held_keys(self) -> None:
        """Hand on keys that were struck right after a click on a panel, or after a command that opens a field.

        Whose they are is known once imgui has seen the click, and once the field has the keyboard.
        """
        if self._unseen and not imgui.get_current_context().input_events_queue.size():
            self._unseen = False
        if self._late and not self._waits:
            late, self._late = self._late, []
            for strike in late:
                strike()

    def expect(self) -> None:
        """The panels will show something that may take the keyboard: the keys that follow wait for it."""
        self._asked_at = self.capture.frames

    @property
    def waiting(self) -> bool:
        """Whether keys wait for what the next frames show: those must come soon."""
        return bool(self._late)

    @property
    def _waits(self) -> bool:
        """Whether it is not known yet whose the next key is."""
        if self.asked():
            self.expect()
        elif self._asked_at is not None:
            # A panel takes what was asked for in the next frame, and opens its popup; then the field has its frames.
            shown = self.capture.frames >= self._asked_at + _SHOWN and not self.capture.awaited
            self._asked_at = None if shown else self._asked_at
        return self._unseen or self._asked_at is not None

    def drop(self, paths: tuple[Path, ...]) -> None:
        """Files were dropped on the window."""
        self.send(Drop(paths))

    def leave(self) -> None:
        """The pointer left the window."""
        if not self.busy and True not in self._owners.values():
            self.pointer = _OUTSIDE
            imgui.get_io().add_mouse_pos_event(*_OUTSIDE)
            self.for_imgui = True
            self.send(Leave())

    def focus(self, *, got: bool) -> None:
        """The window got or lost the keyboard: what was held is not held any more."""
        imgui.get_io().add_focus_event(got)
        if not got:
            self._late.clear()
            for name in tuple(self.held):
                self._modifier(name, down=False)
            self.send(Leave())

    def _border(self, x: float, y: float, *, down: bool) -> bool:
        """Take or let go of a border; whether the button was for one."""
        if not down:
            return self.borders.release()
        free = not (self.capture.modal or self.busy or any(rect.contains(x, y) for rect in self.capture.floating))
        return free and self.borders.press(x, y)

    def _modifier(self, name: str, *, down: bool) -> None:
        (self.held.add if down else self.held.discard)(name)
        imgui.get_io().add_key_event(IMGUI_MODIFIERS[name], down)
        self._to_imgui(name, down=down)
        ours = "ctrl" if name in {"ctrl", _COMMAND} else name
        self.send(Key(ours, self.mods) if down else KeyUp(ours, self.mods))

    def _hold_modifiers(self) -> None:
        """Have imgui see the modifiers down together with the key that follows, however soon they are let go.

        In one frame it takes what several keys do, Ctrl's release before A, too; but of one key no more than one thing.
        """
        for name in self.held & _SHORTCUTS if self.capture.typing else ():
            imgui.get_io().add_key_event(IMGUI_MODIFIERS[name], False)
            imgui.get_io().add_key_event(IMGUI_MODIFIERS[name], True)

    def _to_imgui(self, name: str, *, down: bool) -> None:
        key = IMGUI_KEYS.get(name)
        if key is not None:
            imgui.get_io().add_key_event(key, down)
            self.for_imgui = self.for_imgui or self.capture.modal or self.capture.typing or self.capture.active

    def _count(self, button: Button, x: float, y: float) -> int:
        """Of how many clicks in a row a press is the last."""
        before, which, at_x, at_y = self._last_press
        now = self.clock()
        again = which == button and now - before < _DOUBLE_CLICK and max(abs(x - at_x), abs(y - at_y)) <= _DOUBLE_SLACK
        self._clicks = self._clicks + 1 if again else 1
        self._last_press = (now, button, x, y)
        return self._clicks


_ARROW = ((1, 1), (1, 17), (5, 13), (8, 20), (11, 19), (8, 12), (13, 12))
_SIZE = 32
_WHITE, _RIM = (244, 246, 248, 255), (14, 16, 18, 255)
_OVERSAMPLED = 4


def axis_cursor(axis: str, scale: float = 1.0) -> Image:
    """An arrow, white with a dark rim, and beside it a letter in the axis' colour.

    Args:
        axis: "x", "y" or "z".
        scale: framebuffer pixels per logical pixel.
    """
    import imgui_bundle  # noqa: PLC0415 - only a window on a screen has a pointer
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415

    size = round(_SIZE * scale)
    grown = _OVERSAMPLED * scale
    picture = Image.new("RGBA", (size * _OVERSAMPLED, size * _OVERSAMPLED))
    drawing = ImageDraw.Draw(picture)
    arrow = [(x * grown, y * grown) for x, y in _ARROW]
    drawing.polygon(arrow, fill=_WHITE, outline=_RIM, width=round(1.3 * grown))
    file = Path(imgui_bundle.__file__).parent / "assets" / "fonts" / "Roboto" / "Roboto-Bold.ttf"
    font = ImageFont.truetype(str(file), round(14 * grown))
    colour = tuple(round(255 * part) for part in PALETTE[axis])
    at, width = (16 * grown, 10 * grown), round(1.3 * grown)
    drawing.text(at, axis.upper(), fill=(*colour, 255), font=font, stroke_width=width, stroke_fill=_RIM)
    return picture.resize((size, size), Image.Resampling.LANCZOS)
