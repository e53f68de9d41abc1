"""Windows: the interface that the loop uses, and its implementations with GLFW, with pyglet, and without a screen."""

from __future__ import annotations

import logging
import os
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol

import moderngl

from viewer.app.input import BUTTONS, DIGITS, GLFW_NAMES, LETTERS, Inputs, axis_cursor, by_layout
from viewer.app.layout import SMALLEST_WINDOW
from viewer.errors import MachineError, missing_library
from viewer.opengl.gpu_objects import claim_drawing, create_context

SAMPLE_LIMIT = 4


class Device(Protocol):
    """A window with an OpenGL context.

    Attributes:
        target: the framebuffer that `swap` shows.
        size: of the framebuffer, pixels.
        window_size: in the system's units, which are not pixels on every system.
        content_scale: of the monitor.
        closing: the user closes the window; set it to False to refuse.
        minimised: nothing of the window is visible.
    """

    context: moderngl.Context
    closing: bool

    @property
    def target(self) -> moderngl.Framebuffer: ...

    @property
    def size(self) -> tuple[int, int]: ...

    @property
    def window_size(self) -> tuple[int, int]: ...

    @property
    def content_scale(self) -> float: ...

    @property
    def minimised(self) -> bool: ...

    def connect(self, inputs: Inputs) -> None:
        """Pass input on to ``inputs`` from now on."""

    def wait(self, seconds: float) -> None:
        """Pass events on, after waiting up to ``seconds`` for the first."""

    def swap(self) -> None:
        """Show what was drawn."""

    def set_title(self, title: str) -> None:
        """Name the window."""

    def set_cursor(self, shape: str) -> None:
        """Set the pointer's shape: a key of `SHAPES`, "axis-x", "axis-y", "axis-z" or "hidden"."""

    def set_fullscreen(self, *, on: bool) -> None:
        """Fill the monitor, or return to a window."""

    def clipboard(self) -> str:
        """The text on the clipboard; "" without any."""

    def set_clipboard(self, text: str) -> None:
        """Copy a text to the clipboard."""

    def close(self) -> None:
        """Close the window and release its context."""


class HeadlessDevice:
    """A window without a screen, driven through its `Inputs`; it stores title, pointer shape and clipboard."""

    def __init__(self, size: tuple[int, int]) -> None:
        """Create an OpenGL context; a MachineError where that is not possible."""
        self.context = create_context()
        self.closing = False
        self.minimised = False
        self.content_scale = 1.0
        self.title = ""
        self.cursor = "arrow"
        self.fullscreen = False
        self._clipboard = ""
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Set the size of window and framebuffer, pixels."""
        self.size = self.window_size = size
        self.target = self.context.framebuffer(self.context.texture(size, 4))

    def connect(self, inputs: Inputs) -> None:
        """Do nothing: tests call ``inputs`` directly."""

    def wait(self, seconds: float) -> None:
        """Sleep: no events arrive."""
        time.sleep(seconds)

    def swap(self) -> None:
        """Wait until OpenGL has drawn everything."""
        self.context.finish()

    def set_title(self, title: str) -> None:
        self.title = title

    def set_cursor(self, shape: str) -> None:
        self.cursor = shape

    def set_fullscreen(self, *, on: bool) -> None:
        self.fullscreen = on

    def clipboard(self) -> str:
        return self._clipboard

    def set_clipboard(self, text: str) -> None:
        self._clipboard = text

    def close(self) -> None:
        self.context.release()


class Screen:
    """The framebuffer of a window.

    moderngl reads its size once, when it attaches to the context. After a resize, code that counts rows from the top,
    such as copying and clipping, would use the old height.
    """

    def __init__(self, context: moderngl.Context) -> None:
        self._screen = context.screen

    def sized(self, size: tuple[int, int]) -> moderngl.Framebuffer:
        """The framebuffer, with its current size in pixels."""
        self._screen._size = size  # type: ignore[attr-defined]  # noqa: SLF001 - moderngl has no setter
        self._screen.viewport = (0, 0, *size)
        return self._screen


class Callbacks:
    """GLFW's callbacks, which call `Inputs`."""

    def __init__(self, glfw: Any, window: Any, inputs: Inputs, device: GlfwDevice) -> None:  # noqa: ANN401 - untyped
        self._glfw, self._window, self._inputs, self._device = glfw, window, inputs, device

    def install(self) -> None:
        """Register the callbacks for all input of the window."""
        glfw, window, inputs = self._glfw, self._window, self._inputs
        glfw.set_cursor_pos_callback(window, self._moved)
        glfw.set_mouse_button_callback(window, self._button)
        glfw.set_scroll_callback(window, lambda _, dx, dy: inputs.scroll(dx, dy))
        glfw.set_key_callback(window, self._key)
        glfw.set_char_callback(window, lambda _, point: inputs.text(chr(point)))
        glfw.set_cursor_enter_callback(window, lambda _, entered: None if entered else inputs.leave())
        glfw.set_window_focus_callback(window, lambda _, focused: inputs.focus(got=bool(focused)))
        glfw.set_drop_callback(window, lambda _, paths: inputs.drop(tuple(map(Path, paths))))
        glfw.set_window_refresh_callback(window, self._refreshed)
        glfw.set_framebuffer_size_callback(window, self._refreshed)
        self._names = {getattr(glfw, f"KEY_{theirs}"): name for theirs, name in GLFW_NAMES.items()}

    def _moved(self, _window: object, x: float, y: float) -> None:
        self._inputs.move(*self._device.to_pixels(x, y))

    def _button(self, _window: object, button: int, action: int, mods: int) -> None:
        if button < len(BUTTONS):
            self._hold(mods)
            if not self._inputs.located:  # a window that opened under a pointer at rest
                self._inputs.move(*self._device.to_pixels(*self._glfw.get_cursor_pos(self._window)))
            # Otherwise the press is at the last move: in a slow frame the pointer has moved on.
            self._inputs.button(BUTTONS[button], down=action == self._glfw.PRESS)

    def _key(self, _window: object, key: int, scancode: int, action: int, mods: int) -> None:
        position = self._names.get(key)
        if position is None:
            return
        name = by_layout(position, self._glfw.get_key_name(key, scancode))
        if name not in {"shift", "ctrl", "alt", "super"}:
            self._hold(mods)
        self._inputs.key(name, down=action != self._glfw.RELEASE, repeat=action == self._glfw.REPEAT)

    def _hold(self, mods: int) -> None:
        """Update modifiers that were pressed or released while another window had the keyboard focus."""
        glfw, inputs = self._glfw, self._inputs
        bits = {"shift": glfw.MOD_SHIFT, "ctrl": glfw.MOD_CONTROL, "alt": glfw.MOD_ALT, "super": glfw.MOD_SUPER}
        for name, bit in bits.items():
            if (name in inputs.held) != bool(mods & bit):
                inputs.key(name, down=bool(mods & bit))

    def _refreshed(self, *_: object) -> None:
        self._inputs.for_imgui = True  # redraws the window


NO_DISPLAY_CURE = "set DISPLAY, or use ikviewer render"
NO_OPENGL_CURE = "update the graphics driver, or on Debian/Ubuntu: apt-get install libgl1 libgl1-mesa-dri"

SHAPES: dict[str, tuple[str, str | None]] = {
    "arrow": ("ARROW_CURSOR", None),
    "hand": ("HAND_CURSOR", "hand"),
    "text": ("IBEAM_CURSOR", "text"),
    "crosshair": ("CROSSHAIR_CURSOR", "crosshair"),
    "move": ("RESIZE_ALL_CURSOR", "size"),
    "grabbing": ("RESIZE_ALL_CURSOR", "size"),
    "ew": ("HRESIZE_CURSOR", "size_left_right"),
    "ns": ("VRESIZE_CURSOR", "size_up_down"),
    "not-allowed": ("NOT_ALLOWED_CURSOR", "no"),
}
"""Names of the pointer's shapes in GLFW and pyglet, by ours."""


def import_glfw() -> ModuleType:
    """The initialised glfw module; a MachineError without the library or a display."""
    if sys.platform.startswith("linux"):
        # moderngl cannot use the contexts of GLFW's Wayland backend; XWayland works on both kinds of desktop.
        os.environ.setdefault("PYGLFW_LIBRARY_VARIANT", "x11")
        if not os.environ.get("DISPLAY"):
            raise MachineError(f"no display: DISPLAY is not set; {NO_DISPLAY_CURE}")
    try:
        import glfw  # noqa: PLC0415 - importing `viewer.app` needs no display
    except ImportError as error:
        raise missing_library("the window", error) from error
    glfw.ERROR_REPORTING = "ignore"
    if not glfw.init():
        shown = os.environ.get("DISPLAY", "")
        raise MachineError(f'no display: "{shown}" cannot be opened ({_glfw_error(glfw)}); {NO_DISPLAY_CURE}')
    return glfw


def _glfw_error(glfw: Any) -> str:  # noqa: ANN401 - glfw has no types
    code, words = glfw.get_error()
    text = words.decode(errors="replace") if isinstance(words, bytes) else words
    return " ".join((text or f"error {code}").split())


def open_config(kind: str, size: tuple[int, int], title: str) -> Any:  # noqa: ANN401 - moderngl-window's own config
    """Open a window of moderngl-window's kind "glfw" or "pyglet".

    Raises:
        MachineError: there is no OpenGL 3.3, a library is missing, or this process is the fork of one that has drawn.
    """
    claim_drawing()
    import moderngl_window  # noqa: PLC0415 - see import_glfw
    from moderngl_window.context.base import WindowConfig  # noqa: PLC0415

    class Config(WindowConfig):
        """The window's options for moderngl-window; our own loop draws and reads input."""

        gl_version = (3, 3)
        window_size = size
        aspect_ratio = None  # type: ignore[assignment]  # black bars otherwise
        vsync = True
        samples = 0
        log_level = logging.ERROR

    Config.title = title
    try:
        made = moderngl_window.create_window_config_instance(Config, args=["--window", kind])
    except MachineError:
        raise
    except Exception as error:
        if "display" in type(error).__name__.casefold():  # pyglet's NoSuchDisplayException
            shown = os.environ.get("DISPLAY", "")
            raise MachineError(f'no display: "{shown}" cannot be opened; {NO_DISPLAY_CURE}') from error
        # ValueError of moderngl-window, Exception of moderngl and OSError of the loaders have the same cause.
        raise MachineError(f"no OpenGL 3.3 in a window: {_cause(kind, error)}; {NO_OPENGL_CURE}") from error
    made.wnd.exit_key = None
    made.wnd.fullscreen_key = None
    return made


def _cause(kind: str, error: Exception) -> str:
    """The library's message on one line."""
    said = " ".join(str(error).split())
    if kind == "glfw":
        import glfw  # noqa: PLC0415 - see import_glfw

        deeper = _glfw_error(glfw)
        return deeper if not deeper.startswith("error") else said
    return said


class GlfwDevice:
    """A window of GLFW. moderngl-window makes it and its context; input is read from GLFW directly.

    moderngl-window rounds pointer positions and loses modifiers during a scroll.
    """

    def __init__(self, size: tuple[int, int], title: str) -> None:
        """Open the window; a MachineError without a display or OpenGL 3.3."""
        self._glfw: Any = import_glfw()
        self._config = open_config("glfw", size, title)
        self._window: Any = self._config.wnd._window  # noqa: SLF001 - moderngl-window offers no other way to it
        self.context: moderngl.Context = self._config.ctx
        self._screen = Screen(self.context)
        self._glfw.set_window_size_limits(self._window, *SMALLEST_WINDOW, -1, -1)
        self._measure()
        self._shapes: dict[str, Any] = {}
        self._shape = "arrow"

    @property
    def closing(self) -> bool:
        return bool(self._glfw.window_should_close(self._window))

    @closing.setter
    def closing(self, value: bool) -> None:
        self._glfw.set_window_should_close(self._window, value)

    @property
    def minimised(self) -> bool:
        return bool(self._glfw.get_window_attrib(self._window, self._glfw.ICONIFIED))

    @property
    def target(self) -> moderngl.Framebuffer:
        return self._screen.sized(self.size)

    @property
    def size(self) -> tuple[int, int]:
        return self._size

    @property
    def window_size(self) -> tuple[int, int]:
        return self._window_size

    @property
    def content_scale(self) -> float:
        return float(self._glfw.get_window_content_scale(self._window)[0]) or 1.0

    def connect(self, inputs: Inputs) -> None:
        Callbacks(self._glfw, self._window, inputs, self).install()

    def to_pixels(self, x: float, y: float) -> tuple[float, float]:
        """The framebuffer pixel of a position in the window's units."""
        (width, height), (across, down) = self.size, self.window_size
        return x * width / across, y * height / down

    def wait(self, seconds: float) -> None:
        if seconds > 0:
            self._glfw.wait_events_timeout(seconds)
        else:
            self._glfw.poll_events()
        self._measure()

    def _measure(self) -> None:
        """Query the sizes once per frame: each query is a round trip to the X server."""
        glfw, window = self._glfw, self._window
        self._size = _at_least_one(glfw.get_framebuffer_size(window))
        self._window_size = _at_least_one(glfw.get_window_size(window))

    def swap(self) -> None:
        self._glfw.swap_buffers(self._window)

    def set_title(self, title: str) -> None:
        self._glfw.set_window_title(self._window, title)

    def set_cursor(self, shape: str) -> None:
        if shape == self._shape:
            return
        glfw = self._glfw
        if shape == "hidden" or self._shape == "hidden":
            mode = glfw.CURSOR_HIDDEN if shape == "hidden" else glfw.CURSOR_NORMAL
            glfw.set_input_mode(self._window, glfw.CURSOR, mode)
        self._shape = shape
        if shape == "hidden":
            return
        if shape not in self._shapes:
            self._shapes[shape] = self._cursor(shape)
        glfw.set_cursor(self._window, self._shapes[shape])

    def _cursor(self, shape: str) -> Any:  # noqa: ANN401 - glfw's own
        """GLFW's cursor for a shape; None, which is an arrow, if the desktop has none."""
        glfw = self._glfw
        if shape.startswith("axis-"):
            return glfw.create_cursor(axis_cursor(shape[-1], self.content_scale), 1, 1)
        name, _ = SHAPES.get(shape, SHAPES["arrow"])
        return glfw.create_standard_cursor(getattr(glfw, name, glfw.ARROW_CURSOR))

    def set_fullscreen(self, *, on: bool) -> None:
        if on != self._config.wnd.fullscreen:
            self._config.wnd.fullscreen = on

    def clipboard(self) -> str:
        """The text on the clipboard; "" if it is empty or holds something else."""
        text = self._glfw.get_clipboard_string(self._window)
        return text.decode(errors="replace") if isinstance(text, bytes) else text or ""

    def set_clipboard(self, text: str) -> None:
        self._glfw.set_clipboard_string(self._window, text)

    def close(self) -> None:
        self._glfw.destroy_window(self._window)
        self._glfw.terminate()


def _at_least_one(size: tuple[int, int]) -> tuple[int, int]:
    """A valid framebuffer size: that of a minimised window is 0."""
    return max(1, size[0]), max(1, size[1])


_POLL, _LAZY_POLL = 0.008, 0.03
"""Seconds between two polls for events, in motion and at rest: pyglet can wait for events only in its own loop."""

_PLAIN = ("escape", "space", "enter", "tab", "backspace", "delete", "insert", "home", "end", "left", "right", "up",
          "down", "comma", "period", "minus", "equal", "slash", "backslash", "semicolon")  # fmt: skip
_OTHERS = {"PAGEUP": "pageup", "PAGEDOWN": "pagedown", "BRACKETLEFT": "bracketleft", "BRACKETRIGHT": "bracketright",
           "LSHIFT": "shift", "RSHIFT": "shift", "LCTRL": "ctrl", "RCTRL": "ctrl", "LALT": "alt", "RALT": "alt",
           "LCOMMAND": "super", "RCOMMAND": "super"}  # fmt: skip


class PygletDevice:
    """A window of pyglet; moderngl-window makes it and passes its input on."""

    def __init__(self, size: tuple[int, int], title: str) -> None:
        """Open the window; a MachineError without a display or OpenGL 3.3."""
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
        return self._screen.sized(self.size)

    @property
    def size(self) -> tuple[int, int]:
        width, height = self._wnd._window.get_framebuffer_size()  # noqa: SLF001 - mglw's own is a size behind
        return max(1, int(width)), max(1, int(height))

    @property
    def window_size(self) -> tuple[int, int]:
        return self.size  # since 2.1 pyglet reports pixels on all systems

    @property
    def content_scale(self) -> float:
        return float(getattr(self._wnd._window, "dpi", 96)) / 96.0  # noqa: SLF001

    def connect(self, inputs: Inputs) -> None:
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
        self._wnd._window.dispatch_events()  # noqa: SLF001 - mglw dispatches only while it swaps
        time.sleep(min(seconds, _POLL if seconds < _LAZY_POLL else _LAZY_POLL))

    def swap(self) -> None:
        self._wnd._window.flip()  # noqa: SLF001

    def set_title(self, title: str) -> None:
        self._wnd.title = title

    def set_cursor(self, shape: str) -> None:
        if shape == self._shape:
            return
        self._shape = shape
        window = self._wnd._window  # noqa: SLF001
        window.set_mouse_visible(shape != "hidden")
        _, name = SHAPES.get(shape, SHAPES["arrow"])
        window.set_mouse_cursor(window.get_system_mouse_cursor(name))

    def set_fullscreen(self, *, on: bool) -> None:
        self._wnd._window.set_fullscreen(on)  # noqa: SLF001

    def clipboard(self) -> str:
        return str(self._wnd._window.get_clipboard_text())  # noqa: SLF001

    def set_clipboard(self, text: str) -> None:
        self._wnd._window.set_clipboard_text(text)  # noqa: SLF001

    def close(self) -> None:
        self._wnd._window.close()  # noqa: SLF001


def _key_names() -> dict[int, str]:
    """Our names of keys by pyglet's symbols, which follow the keyboard layout."""
    from pyglet.window import key  # noqa: PLC0415 - only this window needs pyglet

    names = {getattr(key, name.upper()): name for name in _PLAIN}
    names |= {getattr(key, letter.upper()): letter for letter in LETTERS}
    names |= {getattr(key, f"_{digit}"): digit for digit in DIGITS}
    names |= {getattr(key, f"NUM_{digit}"): f"kp{digit}" for digit in DIGITS}
    names |= {getattr(key, f"F{number}"): f"f{number}" for number in range(1, 13)}
    return names | {getattr(key, theirs): ours for theirs, ours in _OTHERS.items()}
