"""An OpenGL context without a window, and pictures drawn with it. `viewer.opengl.pictures` imports it when it draws."""

from __future__ import annotations

import os
import sys
from functools import lru_cache
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.errors import MachineError, missing_library
from viewer.opengl.gpu_objects import Target, read_picture
from viewer.opengl.machine import claim_drawing, machine_error
from viewer.opengl.renderer import Renderer
from viewer.scene import DrawList
from viewer.spatial.projection import Projection

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
        self._target = Target(ctx)

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
