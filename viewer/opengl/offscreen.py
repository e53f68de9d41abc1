"""Pictures of draw lists without a window."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from viewer.errors import InputError, MachineError
from viewer.opengl.captions import write_texts
from viewer.opengl.context import claim_drawing, create_context
from viewer.opengl.framebuffers import Target, read_picture
from viewer.opengl.renderer import Renderer
from viewer.scene.primitives import DrawList
from viewer.spatial.projection import Projection

LARGEST = 8192
"""Largest width and height of a picture, pixels."""

_KEPT_PIXELS = 1 << 22
"""Memory for pictures with at most this many pixels is kept for the next one."""


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
def _artist() -> ThreadPoolExecutor:
    """The only thread that draws, so that contexts of other threads, such as a window's, are not affected."""
    return ThreadPoolExecutor(max_workers=1, thread_name_prefix="ikviewer-offscreen")


@lru_cache(maxsize=1)
def _offscreen() -> Offscreen:
    """Made for the first picture and kept; to be called only on the thread of `_artist`."""
    return Offscreen()


def render_image(
    draw_list: DrawList, projection: Projection, samples: int = 4, scale: float = 1.0
) -> NDArray[np.uint8]:
    """Draw a draw list with its texts on a separate OpenGL context; from any thread.

    Args:
        draw_list: the primitives.
        projection: of the camera; its size is that of the picture in pixels.
        samples: per pixel, 0 for none; limited by the driver.
        scale: physical per logical pixels, as for the draw list.

    Returns:
        Red, green, blue (H, W, 3), the top row first.

    Raises:
        InputError: a size of less than 1 or more than `LARGEST` pixels.
        MachineError: the machine cannot draw; the line names the cure.
    """
    check_size(projection.size)
    claim_drawing()  # in a forked process the drawing thread does not exist, and this would wait for ever
    drawn = _artist().submit(lambda: _offscreen().picture(draw_list, projection, samples, scale))
    return write_texts(drawn.result(), draw_list.texts, scale)


def check_size(size: tuple[int, int]) -> None:
    """Raise InputError unless a picture can have this (width, height) in pixels."""
    if not all(1 <= pixels <= LARGEST for pixels in size):
        raise InputError(f"size: expected 1 to {LARGEST} pixels either way, found {size[0]} x {size[1]}")
