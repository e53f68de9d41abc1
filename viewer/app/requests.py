"""What the controller asks of the window, and how panels that are shown or hidden change the layout."""

from __future__ import annotations

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
        if request.name == "quit":
            app.finished = True
        elif request.name == "fullscreen":
            controller.panels.fullscreen = not controller.panels.fullscreen
            app.device.set_fullscreen(on=controller.panels.fullscreen)
        elif request.name == "reset-layout":
            ui.layout.reset()
        else:
            ui.requests.append(request)
            del ui.requests[:-_LONGEST_QUEUE]
            ui.wake()
            app.inputs.for_imgui = True
    shown = controller.panels
    ui.layout.show_left, ui.layout.show_right, ui.layout.hidden = shown.left, shown.right, shown.hidden
