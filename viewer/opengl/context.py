"""An OpenGL context without a window, or an error that states what the machine lacks and how to install it."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from viewer.errors import MachineError, missing_library

if TYPE_CHECKING:
    import moderngl

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


def create_context() -> moderngl.Context:
    """Make a context without a window: by EGL (else X11) on Linux, by the system's library elsewhere.

    Returns:
        The context, current on this thread, OpenGL 3.3 or newer.

    Raises:
        MachineError: missing libraries, a broken or old driver, or a process forked from one that has drawn; the
            message names the cure.
    """
    claim_drawing()
    try:
        import moderngl  # noqa: PLC0415 - the library works where no OpenGL can be installed
    except ImportError as error:
        raise missing_library("drawing", error, "pyrr") from error
    problems: list[Exception] = []
    for settings in _ways():
        try:
            return moderngl.create_context(standalone=True, require=VERSION, **settings)
        except ModuleNotFoundError as error:  # glcontext, which it loads here
            raise missing_library("drawing", error) from error
        except Exception as error:  # noqa: BLE001 - the loaders raise bare Exception
            problems.append(error)
    raise machine_error(problems) from problems[0]


def claim_drawing() -> None:
    """Record that this process draws.

    A forked process has neither the driver's threads nor its connection to the graphics card: drawing there would wait
    for ever, even with a new context.

    Raises:
        MachineError: this process was forked from one that has drawn.
    """
    if _claimed.setdefault("process", os.getpid()) != os.getpid():
        raise MachineError(
            "cannot draw in a process forked from one that has drawn: "
            'start processes by "spawn", multiprocessing.get_context("spawn")'
        )


_claimed: dict[str, int] = {}
"""The first process that has drawn, which may be one from which this process was forked."""


def machine_error(problems: Sequence[Exception]) -> MachineError:
    """One line with the cure for the loaders' exceptions; for an unknown cause it quotes the first one."""
    texts = [_line(problem).casefold() for problem in problems]
    for signs, cure in _CURES:
        if any(sign in text for sign in signs for text in texts):
            return MachineError(cure)
    found = _line(problems[0]) if problems else "no reason given"
    return MachineError(f"OpenGL cannot be started ({found}): install or update the graphics driver; {_INSTALL}")


def _ways() -> list[dict[str, Any]]:
    """Settings to try, in this order."""
    if not sys.platform.startswith("linux"):
        return [{}]
    return [{"backend": "egl"}, {}] if os.environ.get("DISPLAY") else [{"backend": "egl"}]


def _line(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__
