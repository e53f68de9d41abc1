"""What the controller asks of the window, and how panels that are shown or hidden change the layout."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from viewer.app.application import Application

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
