"""What is shown and how the window is laid out: switches, and what only the window can do."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, get_args

from viewer.scene.scene import LimitsShown
from viewer.ui.commands import Handler, Handlers

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

_SHOWN = ("axes", "names", "grid", "shadow", "goals", "ghosts", "trails")
_LIMITS: tuple[LimitsShown, ...] = get_args(LimitsShown)


@dataclass(slots=True)
class Panels:
    """Which panels are shown, as far as there is room.

    Attributes:
        hidden: all are put away for now.
        left: skeleton and goals.
        right: inspector, solver, history.
        fullscreen: the window fills the screen; the app says so.
    """

    hidden: bool = False
    left: bool = True
    right: bool = True
    fullscreen: bool = False


class Switches:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """Take what the preferences say is shown."""
        self._controller = controller
        kept = controller.preferences.display
        for name in _SHOWN:
            if isinstance(kept.get(name), bool):
                self._set(name, kept[name])
        if kept.get("limits") in _LIMITS:
            self._set("limits", kept["limits"])

    def _set(self, name: str, value: bool | str) -> None:
        self._controller.display = replace(self._controller.display, **{name: value})  # type: ignore[arg-type]

    def show(self, name: str, value: bool | str) -> None:
        """Show something or not; it is remembered."""
        controller = self._controller
        self._set(name, value)
        controller.preferences.display[name] = value
        controller.changed()

    def _shows(self, name: str) -> bool:
        return bool(getattr(self._controller.display, name))

    def _toggle(self, name: str) -> None:
        self.show(name, not self._shows(name))

    def _next_limits(self) -> None:
        ways = ("selected", "all", "none")
        shown = ways[(ways.index(self._controller.display.limits) + 1) % len(ways)]
        self.show("limits", shown)
        self._controller.note(f"Limits shown: {shown}")

    def _panel(self, name: str) -> Handler:
        panels, changed = self._controller.panels, self._controller.changed

        def run() -> None:
            setattr(panels, name, not getattr(panels, name))
            if name != "hidden":
                panels.hidden = False
            self._controller.hover_row(None)  # a row that is put away says nothing of the pointer any more
            changed()

        # Hidden panels are ticked when they are shown: "Hide panels" is on while they are not.
        return Handler(run, checked=lambda: bool(getattr(panels, name)))

    def _toggle_magnet(self) -> None:
        self._controller.magnet = not self._controller.magnet

    def _asks(self, name: str) -> Handler:
        return Handler(partial(self._controller.request, name))

    def handlers(self) -> Handlers:
        """Of switches and requests."""
        controller = self._controller
        shown = {
            f"show.{name}": Handler(partial(self._toggle, name), checked=partial(self._shows, name)) for name in _SHOWN
        }
        return shown | {
            "show.limits": Handler(self._next_limits),
            "snap.magnet": Handler(self._toggle_magnet, checked=lambda: controller.magnet),
            "panels.hide": self._panel("hidden"),
            "panels.left": self._panel("left"),
            "panels.right": self._panel("right"),
            "help.keys": self._asks("help"),
            "window.fullscreen": self._asks("fullscreen")._replace(checked=lambda: controller.panels.fullscreen),
            "window.reset_layout": self._asks("reset-layout"),
            "window.preferences": self._asks("preferences"),
        }
