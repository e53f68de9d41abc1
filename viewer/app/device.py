"""What the loop needs of a window, whichever library opened it, and the one that nobody sees."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Protocol

from viewer.app.input import Inputs
from viewer.errors import MachineError

if TYPE_CHECKING:
    import moderngl

SAMPLE_LIMIT = 4


class Device(Protocol):
    """A window with an OpenGL context.

    Attributes:
        context: current in this thread.
        target: what is seen after `swap`.
        size: of the framebuffer, pixels.
        window_size: of the window in the system's units, which are not pixels on every system.
        content_scale: what the monitor asks for.
        closing: somebody wants the window closed; set it back to refuse.
        minimised: nothing of it can be seen.
    """

    context: moderngl.Context
    closing: bool

    @property
    def target(self) -> moderngl.Framebuffer: ...  # noqa: D102 - see the class

    @property
    def size(self) -> tuple[int, int]: ...  # noqa: D102

    @property
    def window_size(self) -> tuple[int, int]: ...  # noqa: D102

    @property
    def content_scale(self) -> float: ...  # noqa: D102

    @property
    def minimised(self) -> bool: ...  # noqa: D102

    def connect(self, inputs: Inputs) -> None:
        """Send input there from now on."""

    def wait(self, seconds: float) -> None:
        """Hand on the events that came, waiting for the first of them for so long."""

    def swap(self) -> None:
        """Show what was drawn."""

    def set_title(self, title: str) -> None:
        """Name the window."""

    def set_cursor(self, shape: str) -> None:
        """Shape the pointer: "arrow", "hand", "text", "crosshair", "move", "ew", "ns", "no", "hidden"."""

    def set_fullscreen(self, *, on: bool) -> None:
        """Fill the monitor, or return from it."""

    def clipboard(self) -> str:
        """Text from other programs."""

    def set_clipboard(self, text: str) -> None:
        """Text for other programs."""

    def close(self) -> None:
        """End the window and its context."""


class HeadlessDevice:
    """A window that nobody sees: the same loop without a screen, driven through its `Inputs`."""

    def __init__(self, size: tuple[int, int], scale: float = 1.0) -> None:
        """Make an OpenGL context by EGL.

        Raises:
            MachineError: there is none.
        """
        self.context = headless_context()
        self.closing = False
        self.minimised = False
        self.content_scale = scale
        self.title = ""
        self.cursor = "arrow"
        self.fullscreen = False
        self._clipboard = ""
        self.resize(size)

    def resize(self, size: tuple[int, int]) -> None:
        """Give the window another size, pixels."""
        self.size = self.window_size = size
        self.target = self.context.framebuffer(self.context.texture(size, 4))

    def connect(self, inputs: Inputs) -> None:
        """Nothing sends by itself here."""

    def wait(self, seconds: float) -> None:
        """Nothing comes by itself here: let the time pass."""
        time.sleep(seconds)

    def swap(self) -> None:
        """Wait until all of it is drawn."""
        self.context.finish()

    def set_title(self, title: str) -> None:
        """Keep it."""
        self.title = title

    def set_cursor(self, shape: str) -> None:
        """Keep it."""
        self.cursor = shape

    def set_fullscreen(self, *, on: bool) -> None:
        """Keep it."""
        self.fullscreen = on

    def clipboard(self) -> str:
        """What was kept last."""
        return self._clipboard

    def set_clipboard(self, text: str) -> None:
        """Keep it."""
        self._clipboard = text

    def close(self) -> None:
        """End the context."""
        self.context.release()


def headless_context() -> moderngl.Context:
    """An OpenGL context without a window.

    Raises:
        MachineError: there is none; the message names the cure.
    """
    from viewer.opengl import create_context  # noqa: PLC0415 - the window's device needs none

    context: moderngl.Context = create_context()
    if context.version_code < 330:
        raise MachineError(f"OpenGL 3.3 is needed, this machine has {context.version_code / 100:.1f}")
    return context
