"""What a window says unasked: its own name, a missing font, a script that departs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from viewer.app.fonts import Fonts
from viewer.app.pacing import Automation
from viewer.app.window import Device
from viewer.ui.controller import Controller
from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.app.application import Application


class Telling:
    """Of one window; each thing is said once."""

    def __init__(self, device: Device, controller: Controller, fonts: Fonts, automation: Automation) -> None:
        """Nothing was said yet."""
        self._device, self._controller, self._fonts, self._automation = device, controller, fonts, automation
        self._names: tuple[object, str] = (None, "")
        self._title = ""
        self._told = 0

    def script(self) -> None:
        """Say what went otherwise than when it was recorded."""
        script = self._automation.script
        while script is not None and self._told < len(script.notes):
            self._controller.post(Message(script.notes[self._told], "error"))
            self._told += 1

    def title(self) -> None:
        """Name the window."""
        title = f"{self._controller.files.title} - ikviewer"
        if title != self._title:
            self._title = title
            self._device.set_title(title)

    def letters(self) -> None:
        """See to the letters that the names of another figure, and of its file, need."""
        names, file = self._controller.session.document.skeleton.names, self._controller.files.name
        if names is not self._names[0] or file != self._names[1]:
            self._names = names, file
            advice = self._fonts.serve("".join((*names, file)))
            if advice:
                self._controller.post(Message(advice))


_LONGEST_QUEUE = 8
"""Requests that no panel takes are dropped, oldest first."""


def serve(app: Application) -> None:
    """Serve what the window serves; leave the rest to the panels."""
    ui, controller = app.painter.ui, app.controller
    if app.device.closing:
        app.device.closing = False
        controller.run("file.quit")
    while controller.requests:
        request = controller.requests.popleft()
        if app.films.serve(request):
            app.pace.wake(app.clock())
        elif request.name == "quit":
            app.finished = True
        elif request.name == "fullscreen":
            controller.panels.fullscreen = not controller.panels.fullscreen
            app.device.set_fullscreen(on=controller.panels.fullscreen)
        elif request.name == "reset-layout":
            ui.layout.reset()
            controller.panels.hidden, controller.panels.left, controller.panels.right = False, True, True
        elif request.name == "copy-text":
            app.device.set_clipboard(str(request.value))
        elif request.name == "show-in-folder":
            show_in_folder(Path(str(request.value)))
        elif request.name == "picture":
            app.wanted_pictures.append(Path(str(request.value)))
            app.pace.changed(app.clock())
        else:
            ui.requests.append(request)
            del ui.requests[:-_LONGEST_QUEUE]
            ui.wake()
            app.inputs.for_imgui = True
            app.inputs.expect()
    shown = controller.panels
    ui.layout.show_left, ui.layout.show_right, ui.layout.hidden = shown.left, shown.right, shown.hidden


def show_in_folder(path: Path) -> None:
    """Open the folder of a file in the desktop's file manager, where there is one."""
    folder = path.resolve().parent
    command = {"darwin": ["open", "-R", str(path)], "win32": ["explorer", "/select,", str(path)]}
    try:
        subprocess.Popen(command.get(sys.platform, ["xdg-open", str(folder)]))  # noqa: S603 - a path, no shell
    except OSError:
        return
