"""The window: loop, panels, dialogs; opened by `view`, and by the command with `window_libraries`."""

from __future__ import annotations

import platform
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Literal, get_args

from viewer.app.layout import DEFAULT_SIZE
from viewer.document import new_document
from viewer.errors import PACKAGES, InputError, MachineError, is_installed, is_own, unknown_name
from viewer.ik.goals import Goal
from viewer.session import Session
from viewer.session.figures import abreast
from viewer.skeleton import Character, Pose
from viewer.skeleton.character import check_characters

WindowKind = Literal["glfw", "pyglet", "headless"]
WINDOW_KINDS: tuple[str, ...] = get_args(WindowKind)


def view(
    character: Character | Sequence[Character],
    pose: Pose | None = None,
    *,
    goals: Iterable[Goal] | None = None,
    clip: str | None = None,
    frame: int | None = None,
    size: tuple[int, int] = DEFAULT_SIZE,
    window: WindowKind = "glfw",
) -> Session:
    """Show a character in a window, or several beside each other, until it is closed.

    Args:
        character: as loaded; several are shown beside each other and play on one clock.
            The other arguments are about the first one.
        pose: the first pose; by default that of ``frame``, else of the clip's first frame, else the relaxed pose.
        goals: instead of the default goals.
        clip: name of the clip to show; the first one unless given.
        frame: of the clip.
        size: of the window.
        window: which library opens it; "headless" shows nothing and ends after one frame.

    Returns:
        The session when the window was closed, with ``session.document.pose`` and so on: of several characters, of
        the one that was worked on last; ``session.stage.documents`` are all of them.

    Raises:
        InputError: an argument is invalid.
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    characters = check_characters(character)
    first = new_document(characters[0], pose=pose, goals=goals, clip=clip, frame=frame)
    others = [("", new_document(other)) for other in characters[1:]]
    session = Session(first, figures=abreast([("", first), *others]) if others else None)
    with window_libraries(window):
        from viewer.app.application import run_window  # noqa: PLC0415 - a library without a window needs no OpenGL
    run_window(session, size=size, window=window)
    return session


@contextmanager
def window_libraries(kind: str) -> Iterator[None]:
    """Import `viewer.app.application` in this context, which reports libraries that are missing or cannot be loaded.

    ``kind`` is one of `WINDOW_KINDS`.

    Raises:
        InputError: the kind is unknown.
        MachineError: the message says what to install. imgui-bundle, for example, needs libX11 and libGL.
    """
    if kind not in WINDOW_KINDS:
        raise InputError(unknown_name("window", kind, WINDOW_KINDS))
    check_libraries(kind)
    try:
        yield
    except ImportError as error:
        if is_own(error):
            raise
        words = " ".join(str(error).split())
        raise MachineError(f"{words}; on Debian/Ubuntu: apt-get install libgl1 libegl1") from error


def check_libraries(kind: str) -> None:
    """Raise MachineError, with the command that installs them, if libraries for this kind of window are missing."""
    missing = [name for name in (*_LIBRARIES, *_LIBRARIES_OF[kind]) if not is_installed(name)]
    old = "" if "imgui_bundle" in missing else _old_imgui()
    if (old or "imgui_bundle" in missing) and (sys.platform, platform.machine()) == _INTEL_MAC:
        raise MachineError(f"{_NEEDS_IMGUI}, which is not made for Macs with Intel processors: use ikviewer render")
    packages = " ".join(f'"{_IMGUI}"' if name == "imgui_bundle" else PACKAGES.get(name, name) for name in missing)
    if missing:
        listed = ", ".join(PACKAGES.get(name, name) for name in missing)
        raise MachineError(f"the window needs {listed}: python3 -m pip install {packages}")
    if old:
        raise MachineError(f'{_NEEDS_IMGUI}, found {old}: python3 -m pip install "{_IMGUI}"')


def _old_imgui() -> str:
    """The version of imgui-bundle if it is too old for the window, else ""."""
    try:
        found = version("imgui-bundle")
    except PackageNotFoundError:  # an unknown version may work
        return ""
    numbers = [int(number) for number in re.findall(r"[0-9]+", found)[:2]]
    return found if numbers < [1, 93] else ""


_LIBRARIES = ("moderngl", "imgui_bundle", "pyrr")
_LIBRARIES_OF = {"glfw": ("moderngl_window", "glfw"), "pyglet": ("moderngl_window", "pyglet"), "headless": ()}
_IMGUI = "imgui-bundle>=1.93"
_NEEDS_IMGUI = "the window needs imgui-bundle 1.93 or newer"
_INTEL_MAC = ("darwin", "x86_64")
