"""What GLFW reports, told to `Inputs`: pixels, names of keys, modifiers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from viewer.app.input import BUTTONS, GLFW_NAMES, by_layout

if TYPE_CHECKING:
    from viewer.app.input import Inputs
    from viewer.app.window import GlfwDevice


class Callbacks:
    """GLFW's callbacks, which tell `Inputs`."""

    def __init__(self, glfw: Any, window: Any, inputs: Inputs, device: GlfwDevice) -> None:  # noqa: ANN401 - untyped
        """Nothing is reported before `install`."""
        self._glfw, self._window, self._inputs, self._device = glfw, window, inputs, device

    def install(self) -> None:
        """Have everything reported that happens in the window."""
        glfw, window = self._glfw, self._window
        glfw.set_cursor_pos_callback(window, self._moved)
        glfw.set_mouse_button_callback(window, self._button)
        glfw.set_scroll_callback(window, self._scrolled)
        glfw.set_key_callback(window, self._key)
        glfw.set_char_callback(window, self._char)
        glfw.set_cursor_enter_callback(window, self._entered)
        glfw.set_window_focus_callback(window, self._focused)
        glfw.set_drop_callback(window, self._dropped)
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
            # Else where the last move went: in a slow frame the pointer is elsewhere by now.
            self._inputs.button(BUTTONS[button], down=action == self._glfw.PRESS)

    def _scrolled(self, _window: object, dx: float, dy: float) -> None:
        self._inputs.scroll(dx, dy)

    def _key(self, _window: object, key: int, scancode: int, action: int, mods: int) -> None:
        position = self._names.get(key)
        if position is None:
            return
        name = by_layout(position, self._glfw.get_key_name(key, scancode))
        if name not in {"shift", "ctrl", "alt", "super"}:
            self._hold(mods)
        self._inputs.key(name, down=action != self._glfw.RELEASE, repeat=action == self._glfw.REPEAT)

    def _hold(self, mods: int) -> None:
        """Catch up with modifiers that were pressed or let go while another window had the keyboard."""
        glfw, inputs = self._glfw, self._inputs
        bits = {"shift": glfw.MOD_SHIFT, "ctrl": glfw.MOD_CONTROL, "alt": glfw.MOD_ALT, "super": glfw.MOD_SUPER}
        for name, bit in bits.items():
            if (name in inputs.held) != bool(mods & bit):
                inputs.key(name, down=bool(mods & bit))

    def _char(self, _window: object, point: int) -> None:
        self._inputs.text(chr(point))

    def _entered(self, _window: object, entered: int) -> None:
        if not entered:
            self._inputs.leave()

    def _focused(self, _window: object, focused: int) -> None:
        self._inputs.focus(got=bool(focused))

    def _dropped(self, _window: object, paths: list[str]) -> None:
        self._inputs.drop(tuple(Path(path) for path in paths))

    def _refreshed(self, *_: object) -> None:
        self._inputs.for_imgui = True  # draws the window anew
