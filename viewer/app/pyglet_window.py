"""The window on a screen by pyglet, for machines where GLFW does not work. Its events are coarser than GLFW's."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewer.app.input import BUTTONS, DIGITS, LETTERS, Inputs
from viewer.app.painter import Screen
from viewer.app.window import NO_DISPLAY_CURE, open_config
from viewer.errors import MachineError

if TYPE_CHECKING:
    import moderngl

_POLL, _LAZY_POLL = 0.008, 0.03
"""Seconds between two looks for events, in motion and at rest: pyglet cannot wait for them outside its own loop."""

_SHAPES = {"hand": "hand", "text": "text", "crosshair": "crosshair", "move": "size", "ew": "size_left_right",
           "ns": "size_up_down", "no": "no"}  # fmt: skip
_PLAIN = ("escape", "space", "enter", "tab", "backspace", "delete", "insert", "home", "end", "left", "right", "up",
          "down", "comma", "period", "minus", "equal", "slash", "backslash", "semicolon")  # fmt: skip
_OTHERS = {"PAGEUP": "pageup", "PAGEDOWN": "pagedown", "BRACKETLEFT": "bracketleft", "BRACKETRIGHT": "bracketright",
           "LSHIFT": "shift", "RSHIFT": "shift", "LCTRL": "ctrl", "RCTRL": "ctrl", "LALT": "alt", "RALT": "alt",
           "LCOMMAND": "super", "RCOMMAND": "super"}  # fmt: skip


class PygletDevice:
    """A window of pyglet, made by moderngl-window, which also passes its input on."""

    def __init__(self, size: tuple[int, int], title: str) -> None:
        """Open the window.

        Raises:
            MachineError: there is no display or no OpenGL 3.3.
        """
        if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
            raise MachineError(f"no display: DISPLAY is not set; {NO_DISPLAY_CURE}")
        self._config = open_config("pyglet", size, title)
        self._wnd: Any = self._config.wnd
        self.context: moderngl.Context = self._config.ctx
        self._screen = Screen(self.context)
        self.closing = False
        self.minimised = False
        self._shape = "arrow"

    @property
    def target(self) -> moderngl.Framebuffer:
        """The window's framebuffer, as large as it is now."""
        return self._screen.sized(self.size)

    @property
    def size(self) -> tuple[int, int]:
        """Of the framebuffer, pixels."""
        width, height = self._wnd._window.get_framebuffer_size()  # noqa: SLF001 - mglw's own is a size behind
        return max(1, int(width)), max(1, int(height))

    @property
    def window_size(self) -> tuple[int, int]:
        """Of the window in the system's units."""
        return self.size  # since 2.1 pyglet reports pixels on all systems

    @property
    def content_scale(self) -> float:
        """What the monitor asks for."""
        return float(getattr(self._wnd._window, "dpi", 96)) / 96.0  # noqa: SLF001

    def connect(self, inputs: Inputs) -> None:
        """Send input there from now on."""
        wnd, keys = self._wnd, _key_names()

        def moved(x: int, y: int, _dx: int, _dy: int) -> None:
            inputs.move(x, y - 1)  # moderngl-window counts pyglet's rows from 1

        def button(x: int, y: int, number: int, *, down: bool) -> None:
            inputs.move(x, y - 1)
            inputs.button(BUTTONS[number - 1], down=down)

        def key(symbol: int, action: object, _mods: object) -> None:
            if symbol in keys:
                inputs.key(keys[symbol], down=action == wnd.keys.ACTION_PRESS)

        wnd.mouse_position_event_func = wnd.mouse_drag_event_func = moved
        wnd.mouse_press_event_func = lambda x, y, number: button(x, y, number, down=True)
        wnd.mouse_release_event_func = lambda x, y, number: button(x, y, number, down=False)
        wnd.mouse_scroll_event_func = inputs.scroll
        wnd.unicode_char_entered_func = inputs.text
        wnd.key_event_func = key
        wnd.files_dropped_event_func = lambda _x, _y, paths: inputs.drop(tuple(Path(path) for path in paths))
        wnd.iconify_func = lambda hidden: setattr(self, "minimised", hidden)
        wnd.close_func = lambda: setattr(self, "closing", True)

    def wait(self, seconds: float) -> None:
        """Hand on the events that came, and rest for a moment."""
        self._wnd._window.dispatch_events()  # noqa: SLF001 - mglw dispatches only while it swaps
        time.sleep(min(seconds, _POLL if seconds < _LAZY_POLL else _LAZY_POLL))

    def swap(self) -> None:
        """Show what was drawn."""
        self._wnd._window.flip()  # noqa: SLF001

    def set_title(self, title: str) -> None:
        """Name the window."""
        self._wnd.title = title

    def set_cursor(self, shape: str) -> None:
        """Shape the pointer."""
        if shape == self._shape:
            return
        self._shape = shape
        window = self._wnd._window  # noqa: SLF001
        window.set_mouse_visible(shape != "hidden")
        window.set_mouse_cursor(window.get_system_mouse_cursor(_SHAPES.get(shape)))

    def set_fullscreen(self, *, on: bool) -> None:
        """Fill the monitor, or return from it."""
        self._wnd._window.set_fullscreen(on)  # noqa: SLF001

    def clipboard(self) -> str:
        """Text from other programs."""
        return str(self._wnd._window.get_clipboard_text())  # noqa: SLF001

    def set_clipboard(self, text: str) -> None:
        """Text for other programs."""
        self._wnd._window.set_clipboard_text(text)  # noqa: SLF001

    def close(self) -> None:
        """End the window and its context."""
        self._wnd._window.close()  # noqa: SLF001


def _key_names() -> dict[int, str]:
    """Our names of pyglet's keys, which it reports by layout."""
    from pyglet.window import key  # noqa: PLC0415 - only this window needs pyglet

    names = {getattr(key, name.upper()): name for name in _PLAIN}
    names |= {getattr(key, letter.upper()): letter for letter in LETTERS}
    names |= {getattr(key, f"_{digit}"): digit for digit in DIGITS}
    names |= {getattr(key, f"NUM_{digit}"): f"kp{digit}" for digit in DIGITS}
    names |= {getattr(key, f"F{number}"): f"f{number}" for number in range(1, 13)}
    return names | {getattr(key, theirs): ours for theirs, ours in _OTHERS.items()}
