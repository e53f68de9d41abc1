"""An OpenGL context without a window, why a machine has none, and pictures drawn with it.

`viewer.opengl.pictures` imports this when it draws.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.errors import MachineError, missing_library
from viewer.opengl.gpu_objects import RenderTarget, read_picture
from viewer.opengl.renderer import Renderer
from viewer.scene import DrawList
from viewer.spatial.projection import Projection

_INSTALL = "on Debian and Ubuntu: sudo apt install libgl1 libegl1"

# Parts of the loaders' messages, in lower case, and the cure for each; the first that matches is reported.
_CURES = (
    (("libgl.so", "libgl ", "libx11"), f"OpenGL is missing (libGL): {_INSTALL}"),
    (("libegl",), "OpenGL without a screen is missing (libEGL): on Debian and Ubuntu: sudo apt install libegl1"),
    (
        ("requested opengl version", "createcontext", "cannot create context"),
        (
            "expected OpenGL 3.3 or newer, found an older one: "
            "update the graphics driver, or draw in software with LIBGL_ALWAYS_SOFTWARE=1"
        ),
    ),
    (
        (
            "requested device",
            "eglquerydevices",
            "eglgetplatformdisplay",
            "egldevice",
            "eglinitialize",
            "eglchooseconfig",
            "eglbindapi",
        ),
        (
            "no EGL device draws OpenGL: install the graphics driver, or Mesa's software one, "
            "on Debian and Ubuntu: sudo apt install libegl1 libgl1-mesa-dri"
        ),
    ),
    (("xopendisplay", "cannot open display"), f"no display, and no EGL to draw without one: {_INSTALL}"),
)

_claimed: dict[str, int] = {}
"""The first process that has drawn, which may be one from which this process was forked."""


def claim_drawing() -> None:
    """Record that this process draws.

    A forked process has neither the driver's threads nor its connection to the graphics card: drawing there would wait
    from then on, even with a new context.

    Raises:
        MachineError: this process was forked from one that has drawn.
    """
    if _claimed.setdefault("process", os.getpid()) != os.getpid():
        raise MachineError(
            "cannot draw in a process forked from one that has drawn: "
            'start processes by "spawn", multiprocessing.get_context("spawn")'
        )


def machine_error(problems: Sequence[Exception]) -> MachineError:
    """One line with the cure for the loaders' exceptions; for an unknown cause it quotes the first one."""
    texts = [_line(problem).casefold() for problem in problems]
    for signs, cure in _CURES:
        if any(sign in text for sign in signs for text in texts):
            return MachineError(cure)
    found = _line(problems[0]) if problems else "no reason given"
    return MachineError(f"OpenGL cannot be started ({found}): install or update the graphics driver; {_INSTALL}")


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


VERSION = 330
"""OpenGL 3.3 core: what every driver of the last decade has, macOS included."""

_KEPT_PIXELS = 1 << 22
"""Memory for pictures with at most this many pixels is kept for the next one."""


def create_context() -> moderngl.Context:
    """Make a context without a window: by EGL (else X11) on Linux, by the system's library elsewhere.

    Returns:
        The context, current on this thread, OpenGL 3.3 or newer.

    Raises:
        MachineError: missing libraries, a broken or old driver, or a process forked from one that has drawn; the
            message names the cure.
    """
    claim_drawing()
    problems: list[Exception] = []
    for settings in _ways():
        try:
            return moderngl.create_context(standalone=True, require=VERSION, **settings)
        except ModuleNotFoundError as error:  # glcontext, which it loads here
            raise missing_library("drawing", error) from error
        except Exception as error:  # noqa: BLE001 - the loaders raise bare Exception
            problems.append(error)
    raise machine_error(problems) from problems[0]


def _ways() -> list[dict[str, Any]]:
    """Settings to try, in this order."""
    if not sys.platform.startswith("linux"):
        return [{}]
    return [{"backend": "egl"}, {}] if os.environ.get("DISPLAY") else [{"backend": "egl"}]


class Offscreen:
    """An OpenGL context with its renderer, for one thread."""

    def __init__(self) -> None:
        """Make the context.

        Raises:
            MachineError: the machine cannot draw; the message names the cure.
        """
        ctx = create_context()
        self._renderer = Renderer(ctx)
        self._target = RenderTarget(ctx)

    def picture(self, draw_list: DrawList, projection: Projection, samples: int, scale: float) -> NDArray[np.uint8]:
        """Red, green, blue (H, W, 3), the top row first; texts are left out.

        Raises:
            MachineError: the graphics card does not have enough memory for the size.
        """
        try:
            target = self._target.sized(projection.size)
            # A figure beyond the range of 32-bit floats becomes infinite and is not visible.
            with np.errstate(over="ignore", invalid="ignore"):
                self._renderer.draw(draw_list, projection, target, samples=samples, scale=scale)
            return read_picture(target)
        except Exception as error:
            width, height = projection.size
            line = f"the graphics driver cannot draw {width} x {height} pixels ({error}): choose a smaller size"
            raise MachineError(line) from error
        finally:
            if projection.size[0] * projection.size[1] > _KEPT_PIXELS:
                self._target.release()
                self._renderer.release_samples()


@lru_cache(maxsize=1)
def offscreen() -> Offscreen:
    """The context of all pictures, made for the first one; it belongs to the thread that calls this first."""
    return Offscreen()
