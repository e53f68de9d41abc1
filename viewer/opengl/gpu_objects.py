"""Objects on the graphics card: contexts, framebuffers, streamed buffers, shader programs, the camera's uniform block.

Where a machine has no OpenGL, the error of its context says why and names the cure.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import moderngl
import numpy as np
from numpy.typing import NDArray

from viewer.errors import MachineError, missing_library
from viewer.formats.files import ResourceError, data_dir
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

VERSION = 330
"""OpenGL 3.3 core: what every driver of the last decade has, macOS included."""

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

_LEAST = 64
"""Initial capacity of a buffer, records."""

VIEW_BINDING = 0
"""Binding of the camera's uniform block in all programs."""

_INCLUDE = re.compile(r'^#include "([a-z_]+\.glsl)"$', re.MULTILINE)
_NUMBERED = re.compile(r"0[:(](\d+)\)?")

_KEY = np.array([-0.50, 0.78, 0.48])
_LIFT = np.array([0.0, 0.25, 0.0])
_FLOATS = 16 + 16 + 4 + 4 + 4


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


class RenderTarget:
    """A framebuffer with colour and depth, made again when another size or number of samples is needed."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Memory is reserved by the first `sized`."""
        self._ctx = ctx
        self._framebuffer: moderngl.Framebuffer | None = None
        self._made: tuple[tuple[int, int], int] | None = None

    def sized(self, size: tuple[int, int], samples: int = 0) -> moderngl.Framebuffer:
        """The framebuffer of (width, height) pixels with ``samples`` per pixel, 0 or 1 for none."""
        if self._framebuffer is None or self._made != (size, samples):
            self.release()
            ctx = self._ctx
            self._framebuffer = ctx.framebuffer(
                color_attachments=[ctx.renderbuffer(size, 4, samples=samples)],
                depth_attachment=ctx.depth_renderbuffer(size, samples=samples),
            )
            self._made = size, samples
        return self._framebuffer

    def release(self) -> None:
        """Release the memory."""
        if self._framebuffer is not None:
            for part in (*self._framebuffer.color_attachments, self._framebuffer.depth_attachment, self._framebuffer):
                if part is not None:
                    part.release()
            self._framebuffer = None


def write_only(framebuffer: moderngl.Framebuffer, *, colour: bool, depth: bool) -> None:
    """Bind a framebuffer with masks for colour and depth; moderngl applies masks when it binds."""
    framebuffer.color_mask = colour, colour, colour, colour
    framebuffer.depth_mask = depth
    framebuffer.use()


def read_picture(framebuffer: moderngl.Framebuffer) -> NDArray[np.uint8]:
    """Red, green, blue (H, W, 3) of a framebuffer without samples, the top row first."""
    width, height = framebuffer.size
    # Of a window's framebuffer moderngl knows the first size only.
    data = framebuffer.read(viewport=(0, 0, width, height), components=3, alignment=1)
    return np.ascontiguousarray(np.frombuffer(data, dtype=np.uint8).reshape(height, width, 3)[::-1])


class Stream:
    """A buffer that grows as needed and is written only when another array is loaded.

    Arrays are compared by identity: a loaded array must not be changed.
    """

    def __init__(self, ctx: moderngl.Context, record_bytes: int) -> None:
        """Reserve room for a few records of ``record_bytes`` each."""
        self.buffer = ctx.buffer(reserve=_LEAST * record_bytes, dynamic=True)
        self.count = 0
        self._record_bytes = record_bytes
        self._last: NDArray[Any] | None = None

    def load(self, records: NDArray[Any]) -> bool:
        """Load records into the buffer.

        Returns:
            Whether they differ from the last ones.
        """
        if records is self._last:
            return False
        data = records.tobytes()
        # Orphan the buffer first, so that the driver need not wait for draws that still read the old records.
        size = self.buffer.size
        while size < len(data):
            size *= 2
        self.buffer.orphan(size)
        if data:
            self.buffer.write(data)
        self.count = len(data) // self._record_bytes
        self._last = records
        return True


def compile_program(ctx: moderngl.Context, name: str) -> moderngl.Program:
    """Compile and link ``shaders/NAME.vert`` and ``shaders/NAME.frag`` for a context that is current on this thread.

    Raises:
        MachineError: the driver refuses them; the message has the file and the driver's first error.
        ResourceError: a file is missing.
    """
    folder = data_dir("shaders")
    vertex = source(folder / f"{name}.vert")
    fragment = source(folder / f"{name}.frag")
    try:
        program = ctx.program(vertex_shader=vertex, fragment_shader=fragment)
    except Exception as error:
        raise _refused(name, str(error), {"vert": vertex, "frag": fragment}) from error
    if "View" in program:
        program["View"].binding = VIEW_BINDING  # type: ignore[union-attr]  # it is a block, by its declaration
    return program


def source(path: Path) -> str:
    """Text of a shader with its included files inserted; a ResourceError if one is missing."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ResourceError(f"expected the shader {path}, found none: install ikviewer again") from error
    return _INCLUDE.sub(lambda match: source(path.parent / match.group(1)), text)


def _refused(name: str, message: str, sources: dict[str, str]) -> MachineError:
    """The error for a refused shader, with the driver's first message and the line that it names."""
    kind = "vert" if "vertex_shader" in message else "frag" if "fragment_shader" in message else ""
    lines = [line.strip() for line in message.splitlines()]
    said = next((line for line in lines if "error" in line.casefold() and ":" in line), lines[0] if lines else "")
    number = _NUMBERED.search(said)
    text = sources[kind].splitlines() if kind else []
    place = f', at "{text[int(number.group(1)) - 1].strip()}"' if number and int(number.group(1)) <= len(text) else ""
    file = f"shaders/{name}.{kind}" if kind else f"shaders/{name}.vert and {name}.frag"
    return MachineError(f"{file}: the graphics driver refuses this shader ({said}){place}: update the driver")


def key_light(projection: Projection) -> Floats:
    """Unit vector (3,) in the world towards the key light, which is above the viewer's left shoulder."""
    turned = _KEY[0] * projection.right + _KEY[1] * projection.up + _KEY[2] * projection.back
    lifted = turned / np.linalg.norm(_KEY) + _LIFT
    return np.asarray(lifted / np.linalg.norm(lifted))


class ViewBlock:
    """The uniform block of the camera on the graphics card."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._buffer = ctx.buffer(reserve=4 * _FLOATS)
        self._last: tuple[Projection, float] | None = None

    def bind(self, projection: Projection, scale: float) -> None:
        """Write the projection and scale if they have changed, and bind the block."""
        if self._last is None or self._last[0] is not projection or self._last[1] != scale:
            self._buffer.write(packed(projection, scale).tobytes())
            self._last = projection, scale
        self._buffer.bind_to_uniform_block(VIEW_BINDING)


def packed(projection: Projection, scale: float) -> NDArray[np.float32]:
    """The block's numbers (44,): column-major matrices, then light, up and screen, as the shader declares them."""
    turn = projection.view[:3, :3]
    width, height = projection.size
    flat = 1.0 if projection.orthographic else 0.0
    metres = 2.0 / (projection.lens[1, 1] * height)
    numbers = np.concatenate(
        [
            projection.view.T.ravel(),
            projection.lens.T.ravel(),
            [*(turn @ key_light(projection)), 0.0],
            [*turn[:, 1], scale],
            [width, height, metres, flat],
        ]
    )
    return numbers.astype(np.float32)
