"""Raw input of a window: whether Dear ImGui or the controller gets it, and the names of keys."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import imgui_bundle
from imgui_bundle import imgui
from PIL import Image, ImageDraw, ImageFont

from viewer.app.panel_context import Borders
from viewer.scene import PALETTE
from viewer.ui.events import Button, Drop, Event, Key, KeyUp, Leave, Mods, Move, Press, Rect, Release, Scroll

_ALWAYS = frozenset({"f1", "f11", "f12"})
"""Keys that reach the controller even in text fields and dialogs."""
_OVER_TEXT = frozenset({"s", "o", "e", "q"})
"""Letters that reach the controller with Ctrl even in a text field: for files and quitting."""


@dataclass(slots=True)
class Capture:
    """State of imgui in its last frame, which decides where the next event goes.

    Attributes:
        viewport: rectangle of the scene, framebuffer pixels; None: imgui gets every event.
        floating: rectangles of windows and popups over the scene.
        modal: a popup or dialog is open.
        typing: a text field has the keyboard focus.
        active: the mouse holds a widget.
        awaited: a text field was given the focus, but does not answer keys yet.
        frames: number of frames so far.
    """

    viewport: Rect | None = None
    floating: tuple[Rect, ...] = ()
    modal: bool = False
    typing: bool = False
    active: bool = False
    awaited: bool = False
    frames: int = 0

    def pointer(self, x: float, y: float) -> bool:
        """Whether imgui gets pointer events at a pixel."""
        if self.modal or self.active or self.viewport is None or not self.viewport.contains(x, y):
            return True
        return any(rect.contains(x, y) for rect in self.floating)

    def key(self, name: str, mods: Mods) -> bool:
        """Whether only imgui gets a key."""
        if name in _ALWAYS:
            return False
        if self.typing:
            return not ("ctrl" in mods and name in _OVER_TEXT)
        return self.modal or self.active


LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"

_SAME = ("space", "escape", "enter", "tab", "backspace", "delete", "insert", "home", "end", "comma", "period", "minus",
         "equal", "slash", "backslash", "semicolon", "apostrophe")  # fmt: skip
"""Keys that have the same name in GLFW and imgui."""
_OTHER = {
    "pageup": ("PAGE_UP", "page_up"),
    "pagedown": ("PAGE_DOWN", "page_down"),
    "bracketleft": ("LEFT_BRACKET", "left_bracket"),
    "bracketright": ("RIGHT_BRACKET", "right_bracket"),
    "grave": ("GRAVE_ACCENT", "grave_accent"),
}
_KEYPAD = ("enter", "add", "subtract", "multiply", "divide", "decimal")
_MODIFIERS = {"shift": "SHIFT", "ctrl": "CONTROL", "alt": "ALT", "super": "SUPER"}
"""Names in GLFW; imgui's are ours."""
_KEYS = (
    {name: (name.upper(), name) for name in (*_SAME, *LETTERS, *(f"f{number}" for number in range(1, 13)))}
    | {digit: (digit, f"_{digit}") for digit in DIGITS}
    | {way: (way.upper(), f"{way}_arrow") for way in ("left", "right", "up", "down")}
    | {f"kp{digit}": (f"KP_{digit}", f"keypad{digit}") for digit in DIGITS}
    | {f"kp{word}": (f"KP_{word.upper()}", f"keypad_{word}") for word in _KEYPAD}
    | _OTHER
)
"""Names in GLFW and imgui, by ours; without modifiers."""

PUNCTUATION = {",": "comma", ".": "period", "-": "minus", "=": "equal", "[": "bracketleft", "]": "bracketright",
               "/": "slash", ";": "semicolon", "'": "apostrophe", "\\": "backslash"}  # fmt: skip
"""Names of the keys that print these characters."""

GLFW_NAMES = {theirs: name for name, (theirs, _) in _KEYS.items()} | {
    f"{side}_{theirs}": name for name, theirs in _MODIFIERS.items() for side in ("LEFT", "RIGHT")
}
"""Our names of keys, by the end of GLFW's constant ``KEY_...``."""

IMGUI_KEYS: dict[str, imgui.Key] = {name: getattr(imgui.Key, theirs) for name, (_, theirs) in _KEYS.items()} | {
    name: getattr(imgui.Key, f"left_{name}") for name in _MODIFIERS
}
"""imgui's keys by our names."""

IMGUI_MODIFIERS: dict[str, imgui.Key] = {name: getattr(imgui.Key, f"mod_{name}") for name in _MODIFIERS}


def by_layout(position: str, printed: str | None) -> str:
    """The name of a key: of letters and punctuation by what they print, of other keys by their position.

    ``position`` is the name on a US keyboard, ``printed`` what the key prints, None if unknown: "a" is the first letter
    key of the home row on QWERTY, of the row above on AZERTY. In layouts of other scripts (Cyrillic, Greek) letters are
    where QWERTY has them, as in other programs.
    """
    if not printed or len(printed) != 1 or (len(position) > 1 and position not in PUNCTUATION.values()):
        return position
    printed = printed.lower()
    if printed in LETTERS:
        return printed
    if position in DIGITS:
        return position
    return PUNCTUATION.get(printed, position)


BUTTONS: tuple[Button, ...] = ("left", "right", "middle")
"""In the order in which imgui and GLFW number them."""

_OUTSIDE = (-1.0, -1.0)
DOUBLE_CLICK = 0.45
"""Most seconds between the presses of a double click, about as systems have it; imgui takes less than 0.5 only."""
_DOUBLE_SLACK = 6.0
_SHOWN = 2
"""Frames until a request of the controller is visible."""
_COMMAND = "super" if sys.platform == "darwin" else "ctrl"
"""The key that the key table names "ctrl"; on macOS the Control key still snaps."""

_LETTERS = frozenset(LETTERS + DIGITS)
"""Keys that a text field gets as text only: if imgui got them as keys too, it would take one per frame."""
_SHORTCUTS = frozenset({"ctrl", "shift", "super"})
"""Modifiers of a text field's own keys."""


@dataclass(slots=True)
class Inputs:
    """Passes raw input on to imgui and the controller, in framebuffer pixels from the top left, y down.

    Attributes:
        send: receives the controller's events.
        borders: between panels, which can be dragged.
        capture: state of imgui in its last frame.
        grabbing: whether the controller drags something, with or without a button; then it gets all input.
        clock: seconds, for double clicks.
        requested: whether the controller has requested a field or dialog that is not drawn yet.
        held: modifiers that are down.
        for_imgui: imgui got input since this was last set to False.
    """

    send: Callable[[Event], None]
    borders: Borders
    capture: Capture
    grabbing: Callable[[], bool] = bool
    clock: Callable[[], float] = time.monotonic
    requested: Callable[[], bool] = bool
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
        """Modifiers held, by the names of the key table."""
        held = {"ctrl"} if _COMMAND in self.held or "ctrl" in self.held else set()
        return frozenset(held | (self.held & {"shift", "alt"}))

    @property
    def located(self) -> bool:
        """Whether the pointer is in the window, according to the events so far."""
        return self.pointer != _OUTSIDE

    @property
    def busy(self) -> bool:
        """Whether the controller holds the pointer, in a drag of the camera or a handle, or in a grab."""
        return any(not imguis for imguis in self._owners.values()) or self.grabbing()

    def move(self, x: float, y: float) -> None:
        """The pointer moved to a pixel; imgui always learns that, the controller unless imgui holds a button."""
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
        """A button was pressed or released at the pointer."""
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
            imgui.internal.clear_active_id()  # a click into the view ends typing in a field

    def scroll(self, dx: float, dy: float) -> None:
        """The wheel turned by ``notches``."""
        x, y = self.pointer
        if self.capture.pointer(x, y) and not self.busy:
            self.for_imgui = True
            imgui.get_io().add_mouse_wheel_event(dx, dy)
        else:
            self.send(Scroll(dx, dy, x, y, self.mods))

    def key(self, name: str, *, down: bool, repeat: bool = False) -> None:
        """A key was pressed, repeated or released."""
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
        """Text was typed."""
        if self._late or self._waits:
            self._late.append(partial(self.text, typed))
        elif self.capture.typing:
            self.for_imgui = True
            imgui.get_io().add_input_characters_utf8(typed)

    def deliver_held_keys(self) -> None:
        """Deliver keys pressed right after a click on a panel, or after a command that opens a field.

        Their receiver is known once imgui has seen the click, or once the field has the focus.
        """
        if self._unseen and not imgui.get_current_context().input_events_queue.size():
            self._unseen = False
        if self._late and not self._waits:
            late, self._late = self._late, []
            for deliver in late:
                deliver()

    def expect(self) -> None:
        """Hold keys back until panels have shown something that may take the keyboard focus."""
        self._asked_at = self.capture.frames

    @property
    def waiting(self) -> bool:
        """Whether keys are held back: frames must be drawn soon."""
        return bool(self._late)

    @property
    def _waits(self) -> bool:
        """Whether the receiver of the next key is not known yet."""
        if self.requested():
            self.expect()
        elif self._asked_at is not None:
            # A panel serves the request in the next frame and opens its popup; then the field gets the focus.
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
        """The window got or lost the keyboard focus; when it is lost, all modifiers are released."""
        imgui.get_io().add_focus_event(got)
        if not got:
            self._late.clear()
            for name in tuple(self.held):
                self._modifier(name, down=False)
            self.send(Leave())

    def _border(self, x: float, y: float, *, down: bool) -> bool:
        """Press or release a border; returns whether the event was for one."""
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
        """Make imgui see the held modifiers in the same frame as the next key, even if they are released at once.

        In one frame imgui takes events of several keys, but only one event of each key.
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
        """The number of clicks in a row, with this press."""
        before, which, at_x, at_y = self._last_press
        now = self.clock()
        again = which == button and now - before < DOUBLE_CLICK and max(abs(x - at_x), abs(y - at_y)) <= _DOUBLE_SLACK
        self._clicks = self._clicks + 1 if again else 1
        self._last_press = (now, button, x, y)
        return self._clicks


_ARROW = ((1, 1), (1, 17), (5, 13), (8, 20), (11, 19), (8, 12), (13, 12))
_SIZE = 32
_WHITE, _RIM = (244, 246, 248, 255), (14, 16, 18, 255)
_OVERSAMPLED = 4


def axis_cursor(axis: str, scale: float = 1.0) -> Image.Image:
    """A pointer for drags along an axis: an arrow with the axis's letter, "x", "y" or "z", in its colour."""
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
