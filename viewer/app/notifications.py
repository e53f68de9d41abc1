"""What a window says unasked: its own name, a missing font, a script that departs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from viewer.ui.messages import Message

if TYPE_CHECKING:
    from viewer.app.automation import Automation
    from viewer.app.device import Device
    from viewer.app.fonts import Fonts
    from viewer.ui.controller import Controller


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
