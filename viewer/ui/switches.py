"""Display and layout switches, and requests to the window."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import get_args

from viewer.scene import BODIES, Body, LimitsShown
from viewer.session import Session
from viewer.ui.commands import CommandBinding, CommandBindings, always
from viewer.ui.view import View, Workspace

_SHOWN = ("axes", "names", "grid", "shadow", "goals", "ghosts", "trails", "balance", "bodies", "skin", "see_through")
_LIMITS: tuple[LimitsShown, ...] = get_args(LimitsShown)


class Switches:
    """Commands that show and hide things, and requests to the window."""

    def __init__(self, view: View, session: Session) -> None:
        """Apply the switches in the preferences; whether there is a skin depends on the session's figure."""
        self._view, self._session = view, session
        kept = view.preferences.display
        for name in _SHOWN:
            if isinstance(kept.get(name), bool):
                self._set(name, kept[name])
        if kept.get("limits") in _LIMITS:
            self._set("limits", kept["limits"])

    def _set(self, name: str, value: bool | str) -> None:
        self._view.display = replace(self._view.display, **{name: value})  # type: ignore[arg-type]

    def show(self, name: str, value: bool | str) -> None:
        """Set a display switch and store it in the preferences."""
        view = self._view
        self._set(name, value)
        view.preferences.display[name] = value
        view.changed()

    def _shows(self, name: str) -> bool:
        return bool(getattr(self._view.display, name))

    def _toggle(self, name: str) -> None:
        self.show(name, not self._shows(name))

    def _has_skin(self) -> bool:
        return self._session.document.character.skin is not None

    def _body(self) -> Body:
        """How the figure is drawn."""
        body = self._view.display.body
        return "sticks" if body == "skin" and not self._has_skin() else body

    def show_body(self, body: Body) -> None:
        """Draw the figure this way from now on; without a skin the choice between skin and sticks is kept."""
        self.show("bodies", body == "capsules")
        if self._has_skin() and body != "capsules":
            self.show("skin", body == "skin")

    def _next_body(self) -> None:
        bodies = BODIES if self._has_skin() else BODIES[:2]
        body = bodies[(bodies.index(self._body()) + 1) % len(bodies)]
        self.show_body(body)
        self._view.note(f"Body: {body}")

    def _body_binding(self, body: Body) -> CommandBinding:
        can = self._has_skin if body == "skin" else always
        return CommandBinding(partial(self.show_body, body), can=can, checked=lambda: self._body() == body)

    def _next_limits(self) -> None:
        modes = ("selected", "all", "none")
        shown = modes[(modes.index(self._view.display.limits) + 1) % len(modes)]
        self.show("limits", shown)
        self._view.note(f"Limits shown: {shown}")

    def _panels(self, side: str) -> CommandBinding:
        panels = self._view.panels
        shown = partial(panels.shows, side)
        return self._rearranging(CommandBinding(lambda: panels.open(side, on=not shown()), checked=shown))

    def _rearranging(self, plain: CommandBinding) -> CommandBinding:
        def run() -> None:
            plain.run()
            self._view.hover_row(None)  # a hidden row is not under the pointer any more
            self._view.changed()

        return plain._replace(run=run)

    def _enters(self, workspace: Workspace) -> CommandBinding:
        view = self._view
        return CommandBinding(partial(view.enter, workspace), checked=lambda: view.workspace is workspace)

    def _step_workspace(self, step: int) -> None:
        every = tuple(Workspace)
        self._view.enter(every[(every.index(self._view.workspace) + step) % len(every)])

    def _toggle_mirror(self) -> None:
        self._view.mirror = not self._view.mirror
        self._view.changed()
        self._view.note(f"Mirror: {'both sides move' if self._view.mirror else 'off'}")

    def _asks(self, name: str) -> CommandBinding:
        return CommandBinding(partial(self._view.request, name))

    def bindings(self) -> CommandBindings:
        view = self._view
        shown = {
            f"show.{name}": CommandBinding(partial(self._toggle, name), checked=partial(self._shows, name))
            for name in _SHOWN
            if name not in {"bodies", "skin"}
        }
        shown |= {f"show.{body}": self._body_binding(body) for body in BODIES}
        return shown | {
            "show.body": CommandBinding(self._next_body),
            "show.limits": CommandBinding(self._next_limits),
            "snap.magnet": view.switch(view, "magnet"),
            "edit.mirror": CommandBinding(self._toggle_mirror, checked=lambda: view.mirror),
            "panels.hide": self._rearranging(view.switch(view.panels, "hidden")),
            "panels.left": self._panels("left"),
            "panels.right": self._panels("right"),
            **{f"workspace.{each}": self._enters(each) for each in Workspace},
            "workspace.next": CommandBinding(partial(self._step_workspace, 1)),
            "workspace.previous": CommandBinding(partial(self._step_workspace, -1)),
            "help.keys": self._asks("help"),
            "find.all": self._asks("find-dialog"),
            "window.fullscreen": self._asks("fullscreen")._replace(checked=lambda: view.panels.fullscreen),
            "window.reset_layout": self._asks("reset-layout"),
            "window.preferences": self._asks("preferences"),
        }
