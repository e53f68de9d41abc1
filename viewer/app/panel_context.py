"""Panels, the context in which they are drawn, and the borders between them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from viewer.app.layout import SIDES, TABBED, Border, Layout, Place, Regions
from viewer.app.theme import Fonts
from viewer.document import Document
from viewer.session import Session
from viewer.ui.controller import Controller
from viewer.ui.events import Rect
from viewer.ui.film import FilmProgress
from viewer.ui.view import Workspace


def _always(_: Document) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. `PanelHost` begins and ends its imgui window, which fills its rectangle and has no title.

    Panels in `Place.FLOATING` get no window: they open popups, dialogs and windows themselves, and draw nothing
    otherwise. Panels in `Place.VIEWPORT` get a window over the scene without background that ignores the mouse.

    Attributes:
        id: short and permanent, such as ``"inspector"``.
        title: on its tab, and in the message when it fails.
        place: its part of the window; panels that share a tabbed one are tabs, in the order of `PANELS`.
        live: redrawn in every frame of a drag, as the status line is; others at most 15 times a second.
        padded: its window has imgui's window padding.
        scrolls: its window scrolls.
        workspace: the only one in which it is shown; None: all.
        hidden_in: workspaces in which it is not shown.
        fits: whether it is shown for a document.
    """

    id: str
    title: str
    place: Place
    draw: Callable[[PanelContext], None]
    live: bool = False
    padded: bool = True
    scrolls: bool = False
    workspace: Workspace | None = None
    hidden_in: tuple[Workspace, ...] = ()
    fits: Callable[[Document], bool] = _always


@dataclass(slots=True)
class PanelContext:
    """The context of panels. It lives as long as the window; ``rect`` and ``panel`` change for each panel.

    Attributes:
        controller: to read from, and to send commands and actions to.
        fonts: of the window.
        panels: all of them, in the order of their tabs.
        layout: sizes and visibility as the user changed them.
        regions: rectangles of the parts of the window.
        scale: framebuffer pixels per logical pixel.
        fps: current frames per second; 0 at rest.
        rect: the panel's rectangle, framebuffer pixels; that of the window for floating panels.
        panel: that is being drawn; None outside.
        requests: of the controller; panels `take` theirs.
        notes: of the window for the status line, such as "half resolution".
        film: progress of the film that is being made; None without one.
        last_folders: of the last file that was opened (False) and saved (True), from which dialogs begin.
    """

    controller: Controller
    fonts: Fonts
    layout: Layout
    regions: Regions
    scale: float = 1.0
    fps: float = 0.0
    rect: Rect = Rect(0, 0, 1, 1)  # noqa: RUF009 - a named tuple, which cannot change
    panel: Panel | None = None
    panels: Sequence[Panel] = ()
    requests: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    film: FilmProgress | None = None
    last_folders: dict[bool, Path] = field(default_factory=dict)
    _memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    _wake_in: float | None = None

    @property
    def session(self) -> Session:
        """The session of the controller."""
        return self.controller.session

    @property
    def memory(self) -> dict[str, Any]:
        """State of this panel between frames, such as the text of a search field."""
        return self.memory_of(self.panel.id if self.panel else "")

    def memory_of(self, panel: str) -> dict[str, Any]:
        """State of the panel of an id."""
        return self._memories.setdefault(panel, {})

    def fitting(self) -> list[Panel]:
        """The panels of this workspace and document, including those that the user has closed."""
        here, document = self.controller.view.workspace, self.session.document
        return [
            panel
            for panel in self.panels
            if panel.workspace in (None, here) and here not in panel.hidden_in and panel.fits(document)
        ]

    def placed(self) -> dict[Place, list[Panel]]:
        """The panels that are shown, by place; a tabbed place whose panels are all closed keeps its first."""
        every: dict[Place, list[Panel]] = {}
        for panel in self.fitting():
            every.setdefault(self.regions.place(panel.place), []).append(panel)
        closed = self.layout.closed
        return {
            place: [panel for panel in panels if panel.id not in closed] or panels[:1]
            for place, panels in every.items()
        }

    def in_front(self, place: Place, panels: list[Panel]) -> list[Panel]:
        """Those of the panels of a place that are visible."""
        if place is Place.FLOATING:
            return panels
        if place not in self.regions.rects:
            return []
        if place not in TABBED or not panels:
            return panels
        chosen = self.layout.tabs.get(place)
        return [next((panel for panel in panels if panel.id == chosen), panels[0])]

    def front(self, place: Place) -> Panel | None:
        """The panel in front in a tabbed place; None without panels."""
        return next(iter(self.in_front(place, self.placed().get(place, []))), None)

    def show_panel(self, name: str) -> None:
        """Bring the panel of an id to the front of its place, which is opened."""
        panel = next(panel for panel in self.panels if panel.id == name)
        layout = self.layout
        layout.closed.discard(name)
        layout.panels.hidden = False
        for side, places in SIDES.items():
            if panel.place in places:
                layout.panels.open(side)
        if panel.place in TABBED:
            layout.tabs[layout.regions(self.regions.size, self.regions.scale).place(panel.place)] = name
        self.wake()

    def close_panel(self, name: str) -> None:
        """Take a panel's tab away until it is shown again."""
        self.layout.closed.add(name)

    def px(self, logical: float) -> float:
        """Logical pixels in whole framebuffer pixels."""
        return round(logical * self.scale)

    def wake(self, seconds: float = 0.0) -> None:
        """Request another frame after some seconds: the window draws only after changes and input.

        Input is followed by two frames, the second of which shows what the first changed.
        """
        if self._wake_in is None or seconds < self._wake_in:
            self._wake_in = seconds

    def take_wake(self) -> float | None:
        """The shortest time requested by `wake` since the last call; None without a request."""
        requested, self._wake_in = self._wake_in, None
        return requested

    def take(self, name: str) -> Any:  # noqa: ANN401 - the controller's Request
        """Remove and return the first request of a name, such as "export-dialog"; None without one."""
        for index, request in enumerate(self.requests):
            if getattr(request, "name", request) == name:
                return self.requests.pop(index)
        return None


@dataclass(slots=True)
class Borders:
    """The border under the pointer, and the one that is being dragged."""

    ui: PanelContext
    held: Border | None = None

    def press(self, x: float, y: float) -> bool:
        """Begin to drag the border at a pixel; returns whether there is one."""
        self.held = self.ui.regions.border_at(x, y)
        return self.held is not None

    def move(self, x: float, y: float) -> bool:
        """Move the dragged border to the pointer; returns whether there is one."""
        if self.held is None:
            return False
        self.ui.layout.drag(self.held.name, (x, y), self.ui.regions)
        return True

    def release(self) -> bool:
        """End the drag; returns whether there was one."""
        held, self.held = self.held, None
        return held is not None

    def cursor(self, x: float, y: float) -> str | None:
        """The pointer's shape on a border, or while one is dragged."""
        border = self.held or self.ui.regions.border_at(x, y)
        return None if border is None else "ew" if border.upright else "ns"
