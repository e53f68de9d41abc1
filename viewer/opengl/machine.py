"""Why a machine cannot draw, in one line with the cure, and which process draws. Loads no OpenGL."""

from __future__ import annotations

import os
from collections.abc import Sequence

from viewer.errors import MachineError

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
