"""Dear ImGui on an offscreen framebuffer: draws panels, sends them events and reads the picture."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np
from imgui_bundle import imgui
from inside.app import Fonts, ImguiRenderer, Painted, apply_theme, copy_list
from inside.opengl import create_context
from numpy.typing import NDArray

_FRAME_SECONDS = 1.0 / 60.0


class Harness:
    """An offscreen OpenGL context with imgui on it.

    Example::

        with Harness((300, 400)) as harness:
            harness.move(20, 30)
            harness.press()
            harness.frame(lambda: draw_my_panel(ui))
            picture = harness.image()
    """

    def __init__(self, size: tuple[int, int] = (1280, 720), scale: float = 1.0) -> None:
        """Make the contexts.

        Args:
            size: framebuffer pixels.
            scale: UI scale.
        """
        self.size = size
        self.context = create_context()
        self.target = self.context.framebuffer(self.context.texture(size, 4))
        self._imgui = imgui.create_context()
        imgui.set_current_context(self._imgui)
        imgui.get_io().set_ini_filename("")
        imgui.get_io().display_size = imgui.ImVec2(*size)
        self.fonts = Fonts()
        apply_theme(scale)
        self.renderer = ImguiRenderer(self.context)
        self.lists: list[Painted] = []

    def __enter__(self) -> Self:
        """For ``with``."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End the contexts."""
        self.close()

    def close(self) -> None:
        """End the contexts."""
        imgui.set_current_context(self._imgui)
        self.renderer.release()
        imgui.destroy_context(self._imgui)
        self.context.release()

    def frame(self, draw: Callable[[], None], count: int = 1) -> None:
        """Let imgui run frames with what ``draw`` submits; menus and sizes settle in two or three."""
        for _ in range(count):
            imgui.set_current_context(self._imgui)
            imgui.get_io().delta_time = _FRAME_SECONDS
            imgui.new_frame()
            draw()
            imgui.render()
            self.renderer.update_textures()
            self.lists = [copy_list(each) for each in imgui.get_draw_data().cmd_lists]

    def image(self, background: tuple[float, float, float] = (0.08, 0.09, 0.1)) -> NDArray[np.uint8]:
        """The last frame's picture, (H, W, 3), rows from the top."""
        self.target.clear(*background, 1.0)
        self.renderer.draw(self.lists, self.target)
        pixels = np.frombuffer(self.target.read(components=3, alignment=1), np.uint8)
        return pixels.reshape(self.size[1], self.size[0], 3)[::-1].copy()

    def move(self, x: float, y: float) -> None:
        """Put the pointer somewhere, framebuffer pixels."""
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_mouse_pos_event(x, y)

    def press(self, button: int = 0, *, down: bool = True) -> None:
        """Press or release a button: 0 left, 1 right, 2 middle."""
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_mouse_button_event(button, down)

    def click(self, x: float, y: float, draw: Callable[[], None], button: int = 0) -> None:
        """Move, press and release, with the frames between that imgui needs to see it."""
        self.move(x, y)
        self.frame(draw, 2)
        self.press(button)
        self.frame(draw)
        self.press(button, down=False)
        self.frame(draw, 2)

    def wheel(self, dy: float) -> None:
        """Turn the wheel."""
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_mouse_wheel_event(0.0, dy)

    def key(self, key: imgui.Key, *, down: bool = True) -> None:
        """Press or release a key."""
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_key_event(key, down)

    def text(self, written: str) -> None:
        """Type."""
        imgui.set_current_context(self._imgui)
        imgui.get_io().add_input_characters_utf8(written)
