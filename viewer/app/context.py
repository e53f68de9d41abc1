"""What a panel is, what it is given when it draws itself, and the borders between panels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from imgui_bundle import icons_fontawesome_6, imgui

from viewer.app.fonts import Fonts
from viewer.app.layout import Border, Layout, Place, Regions
from viewer.app.theme import colour, paint
from viewer.session.session import Session
from viewer.ui.controller import Controller
from viewer.ui.film import FilmProgress
from viewer.ui.numbers import Rect

icons = icons_fontawesome_6
"""Font Awesome's glyphs by name, such as ``icons.ICON_FA_LOCK``."""


@dataclass(frozen=True, slots=True)
class Panel:
    """One panel. The frame begins and ends its imgui window (full size, no title, no padding of its own choosing).

    Panels in `Place.FLOATING` get no window: they open popups, modals and windows themselves, and draw nothing most
    of the time. Panels in `Place.VIEWPORT` get a window over the scene without background that lets the mouse through.

    Attributes:
        id: short and lasting, such as ``"inspector"``.
        title: on its tab, and in the message when it fails.
        place: where it stands; panels that share a tabbed place are tabs there, in the order of `PANELS`.
        draw: draws it.
        live: redrawn in every frame of a drag, as the status line is; the others at most 15 times a second.
        padded: its window has imgui's window padding.
        scrolls: its window scrolls; without, the panel has the whole of its rectangle and scrolls parts of itself.
    """

    id: str
    title: str
    place: Place
    draw: Callable[[PanelContext], None]
    live: bool = False
    padded: bool = True
    scrolls: bool = False


@dataclass(slots=True)
class PanelContext:
    """What panels draw from. One object lasts as long as the window; ``rect`` and ``panel`` change from panel to panel.

    Attributes:
        controller: to read from, and to send commands and actions to.
        fonts: ``with ui.fonts.small(): ...``
        layout: what the person arranged; `Layout.reset`, ``show_left`` and so on.
        regions: the window laid out.
        scale: framebuffer pixels per logical pixel.
        fps: frames a second of late, 0 at rest.
        rect: the panel's rectangle, framebuffer pixels (the whole window for floating panels).
        panel: whose turn it is; None outside.
        requests: of the controller's, for a window to serve; panels `take` theirs.
        notes: of the window's own, for the status line, such as "half resolution".
        film: how far the film is that the window is making; None while there is none.
    """

    controller: Controller
    fonts: Fonts
    layout: Layout
    regions: Regions
    scale: float = 1.0
    fps: float = 0.0
    rect: Rect = Rect(0, 0, 1, 1)  # noqa: RUF009 - a named tuple, which cannot change
    panel: Panel | None = None
    requests: list[Any] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    film: FilmProgress | None = None
    _memories: dict[str, dict[str, Any]] = field(default_factory=dict)
    _wake_in: float | None = None

    @property
    def session(self) -> Session:
        """The controller's."""
        return self.controller.session

    @property
    def memory(self) -> dict[str, Any]:
        """What this panel keeps from frame to frame: text typed in a search field, an open section, an image."""
        return self._memories.setdefault(self.panel.id if self.panel else "", {})

    def px(self, logical: float) -> float:
        """Framebuffer pixels of logical ones."""
        return round(logical * self.scale)

    def wake(self, seconds: float = 0.0) -> None:
        """Ask for another frame after so many seconds: the window draws only when something changed."""
        if self._wake_in is None or seconds < self._wake_in:
            self._wake_in = seconds

    def take_wake(self) -> float | None:
        """The soonest wish of `wake` since this was last asked."""
        wished, self._wake_in = self._wake_in, None
        return wished

    def take(self, name: str) -> Any:  # noqa: ANN401 - the controller's Request
        """Take the first waiting request of a name ("open-dialog", "help", "context-menu" ...), or None."""
        for index, request in enumerate(self.requests):
            if getattr(request, "name", request) == name:
                return self.requests.pop(index)
        return None

    @staticmethod
    def colour(name: str, alpha: float = 1.0) -> imgui.ImVec4:
        """A colour of the palette for widgets (``push_style_color``, ``text_colored``)."""
        return colour(name, alpha)

    @staticmethod
    def paint(name: str, alpha: float = 1.0) -> int:
        """A colour of the palette for draw lists (``add_rect_filled`` and the like)."""
        return paint(name, alpha)


@dataclass(slots=True)
class Borders:
    """Knows which border the pointer is on, and moves the one that is held."""

    ui: PanelContext
    held: Border | None = None

    def at(self, x: float, y: float) -> Border | None:
        """The border at a pixel, or the one that is held."""
        return self.held or self.ui.regions.border_at(x, y)

    def press(self, x: float, y: float) -> bool:
        """Take the border at a pixel; whether there is one."""
        self.held = self.ui.regions.border_at(x, y)
        return self.held is not None

    def move(self, x: float, y: float) -> bool:
        """Move what is held to the pointer; whether something is."""
        if self.held is None:
            return False
        self.ui.layout.drag(self.held.name, (x, y), self.ui.regions)
        return True

    def release(self) -> bool:
        """Let go; whether something was held."""
        held, self.held = self.held, None
        return held is not None

    def cursor(self, x: float, y: float) -> str | None:
        """The pointer's shape on a border."""
        border = self.at(x, y)
        if border is None:
            return None
        return "ew" if border.upright else "ns"
