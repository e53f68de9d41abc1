"""Notifications of the window: its title, a missing font, differences while a script is replayed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from viewer.app.fonts import Fonts
from viewer.app.pacing import Automation
from viewer.app.window import Device
from viewer.ui.controller import Controller
from viewer.ui.messages import Message


class Notifications:
    """Posts each notification once."""

    def __init__(self, device: Device, controller: Controller, fonts: Fonts, automation: Automation) -> None:
        self._device, self._controller, self._fonts, self._automation = device, controller, fonts, automation
        self._names: tuple[object, str] = (None, "")
        self._title = ""
        self._notes_posted = 0

    def script(self) -> None:
        """Post the differences between the replay of a script and its recording."""
        script = self._automation.script
        while script is not None and self._notes_posted < len(script.notes):
            self._controller.view.post(Message(script.notes[self._notes_posted], "error"))
            self._notes_posted += 1

    def title(self) -> None:
        """Set the window's title to the name of the file."""
        title = f"{self._controller.files.title} - ikviewer"
        if title != self._title:
            self._title = title
            self._device.set_title(title)

    def fonts(self) -> None:
        """Load the fonts that the names of a new figure and its file need."""
        names, file = self._controller.session.document.skeleton.names, self._controller.files.name
        if names is not self._names[0] or file != self._names[1]:
            self._names = names, file
            advice = self._fonts.load_for("".join((*names, file)))
            if advice:
                self._controller.view.post(Message(advice))


def show_in_folder(path: Path) -> None:
    """Open the folder of a file in the desktop's file manager, if there is one."""
    folder = path.resolve().parent
    command = {"darwin": ["open", "-R", str(path)], "win32": ["explorer", "/select,", str(path)]}
    try:
        subprocess.Popen(command.get(sys.platform, ["xdg-open", str(folder)]))  # noqa: S603 - a path, no shell
    except OSError:
        return
