"""Runs a window. It needs the window's libraries: import it within `viewer.app.start.window_libraries`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from viewer.app.application import Application
from viewer.app.autosave_service import AutosaveService
from viewer.app.layout import DEFAULT_SIZE, check_size
from viewer.app.pacing import Automation
from viewer.app.panel_context import Panel
from viewer.app.panels import PANELS
from viewer.app.window import Device, GlfwDevice, HeadlessDevice, PygletDevice
from viewer.session import Session
from viewer.session.user_files import Preferences, load_preferences
from viewer.ui.controller import Controller


def run_window(
    session: Session,
    *,
    size: tuple[int, int] = DEFAULT_SIZE,
    window: str = "glfw",
    automation: Automation | None = None,
    news: Callable[[Controller], None] | None = None,
) -> int:
    """Show a session in a window until it is closed; returns the exit code.

    Args:
        session: to show.
        size: of the window.
        window: which library opens it.
        automation: options for tests and scripts.
        news: called with the controller before the first frame, to post messages and questions.

    Raises:
        InputError: the size is invalid.
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    check_size(size)
    asked = automation or Automation()
    if window == "headless" and asked.exit_after is None:
        asked = replace(asked, exit_after=None if asked.script else 1, until_done=asked.script is not None)
    preferences = load_preferences()
    app = open_window(session, preferences, size=size, window=window, automation=asked)
    if news is not None:
        news(app.controller)
    if session.path is None and asked.script is None:
        app.controller.opening.note_reading()
    app.controller.opening.note_props()
    if window != "headless":
        app.autosave = AutosaveService(app.controller, app.painter.ui.layout)
        app.autosave.offer()
        app.autosave.sweep()
    if not asked.until_done:  # a script contains the results of its solves
        session.kernels.start()
    return app.run()


def open_window(
    session: Session,
    preferences: Preferences,
    *,
    size: tuple[int, int] = DEFAULT_SIZE,
    window: str = "headless",
    automation: Automation | None = None,
    panels: Sequence[Panel] | None = None,
) -> Application:
    """Open a window on a session, without running it.

    Args:
        session: to show.
        preferences: of the user.
        size: of the window.
        window: which library opens it.
        automation: options for tests and scripts.
        panels: instead of all panels.

    Raises:
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    return Application(
        open_device(window, size),
        Controller(session, preferences, None if automation is None else automation.script),
        PANELS if panels is None else panels,
        automation,
    )


def open_device(kind: str, size: tuple[int, int]) -> Device:
    """Open a window, of the kind "glfw", "pyglet" or "headless".

    Raises:
        MachineError: there is no display or no OpenGL 3.3; the message says how to fix it.
    """
    if kind == "glfw":
        return GlfwDevice(size, "ikviewer")
    if kind == "pyglet":
        return PygletDevice(size, "ikviewer")
    return HeadlessDevice(size)
