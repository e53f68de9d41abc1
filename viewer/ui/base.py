"""What a controller has and says, apart from what it does: state, messages, requests, what is under the pointer."""

from __future__ import annotations

from collections import deque
from typing import NamedTuple

from viewer.document.units import step_scale
from viewer.errors import ViewerError
from viewer.gizmo import LengthUnit, Space, Tool
from viewer.scene import Display, figure_height
from viewer.session import Document, Item, Session
from viewer.session.preferences import Preferences
from viewer.ui.drag_targets import Hover
from viewer.ui.gestures import Gesture, item_of
from viewer.ui.messages import Message, MessageBar
from viewer.ui.numbers import Rect, error_decimals, unit_for
from viewer.ui.preferences import Liked
from viewer.ui.switches import Panels


class Request(NamedTuple):
    """Something that only the window can do.

    Attributes:
        name: "open-dialog", "new-dialog", "save-as-dialog" (value: the name proposed), "export-dialog",
            "picture-dialog", "picture" (value: the path), "ask-save" (value: the file's name; answered by
            `Files.answer_save`), "quit", "help", "preferences", "fullscreen", "reset-layout", "go-to-frame",
            "units-dialog", "context-menu" (value: the item or None), "copy-text", "show-in-folder" (value: the path),
            "film-dialog" (value: the path proposed, or None), "film" (value: a `FilmOrder`), "film-cancel", "ask-film"
            (the window is to be closed while a film is being made; answered by "film-then-quit",
            "film-stop-then-quit" or "film-keep-open").
        value: what it needs.
        x: where, framebuffer pixels.
        y: likewise.
    """

    name: str
    value: object = None
    x: float = 0.0
    y: float = 0.0


class Base(Liked):
    """State of a controller.

    Attributes:
        session: the document, its history, the solver.
        preferences: as the user likes it.
        scale: framebuffer pixels per logical pixel.
        pixel_ratio: framebuffer pixels per window pixel.
        fps: frames a second, or None while none are drawn.
        tool: which handles are shown.
        space: whose axes they have.
        display: what is shown.
        panels: which panels are shown.
        hovered: what is under the pointer.
        find_requested: the joint search is to take the focus; the panel resets it.
        finding: what the tree of joints is filtered by.
        requests: for the app to take off.
    """

    def __init__(self, session: Session, preferences: Preferences | None = None) -> None:
        """Show a session."""
        self.session = session
        self.preferences = preferences or Preferences()
        self._viewport, self.scale, self.pixel_ratio = Rect(0, 0, 1280, 720), 1.0, 1.0
        self.fps: float | None = None
        self.tool, self.space = Tool.MOVE, Space.WORLD
        self.display, self.panels = Display(view_axes=True), Panels()
        self.hovered = Hover()
        self._hovered_row: Item | None = None
        self.find_requested = False
        self.finding = ""
        self.requests: deque[Request] = deque()
        self.gesture: Gesture | None = None
        self.bar = MessageBar()
        self._revision = 0

    @property
    def document(self) -> Document:
        """The session's document."""
        return self.session.document

    @property
    def revision(self) -> int:
        """Greater whenever anything visible has changed."""
        return self._revision + self.session.revision + self.bar.revision

    @property
    def unit(self) -> LengthUnit:
        """Lengths of this figure are shown and typed in it."""
        return unit_for(figure_height(self.document.skeleton))

    @property
    def step_scale(self) -> float:
        """What snap steps are multiplied by: 1 for figures of a person's size."""
        return step_scale(figure_height(self.document.skeleton))

    @property
    def error_decimals(self) -> int:
        """Decimals of errors in millimetres."""
        return error_decimals(figure_height(self.document.skeleton))

    def changed(self) -> None:
        """Something visible has changed."""
        self._revision += 1

    def local(self, x: float, y: float) -> tuple[float, float]:
        """Pixels of the window as pixels of the viewport."""
        return x - self._viewport.x, y - self._viewport.y

    def set_gesture(self, gesture: Gesture | None) -> None:
        """Go on with a gesture, or with none."""
        self.gesture = gesture
        self.changed()

    def set_hovered(self, hover: Hover) -> None:
        """Something else is under the pointer."""
        same = (hover.axis, hover.part) == (self.hovered.axis, self.hovered.part)
        if not same or _item(hover) != _item(self.hovered):
            self.changed()
        self.hovered = hover

    def hover_row(self, item: Item | None) -> None:
        """The row of an item in a list is under the pointer, or none is: panels say so."""
        if item != self._hovered_row:
            self._hovered_row = item
            self.changed()

    def hovered_item(self) -> Item | None:
        """The joint or effector to light up, here and in the lists; None where it is not there any more."""
        item = self._hovered_row or _item(self.hovered)
        return item if item is not None and self._is_there(item) else None

    def _is_there(self, item: Item) -> bool:
        if item.kind == "joint":
            return item.name in self.document.skeleton.names
        return any(goal.id == item.name for goal in self.document.goals)

    def request(self, name: str, value: object = None, x: float = 0.0, y: float = 0.0) -> None:
        """Ask the window for something."""
        self.requests.append(Request(name, value, x, y))

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the bar in the view shows, oldest first."""
        return self.bar.messages

    def post(self, message: Message) -> None:
        """Show a message."""
        self.bar.post(message)

    def note(self, text: str) -> None:
        """Say what was done."""
        self.post(Message(text))

    def fail(self, error: ViewerError, about: str = "") -> None:
        """Say what could not be done: see `Message.about`."""
        self.post(Message(str(error), "error", about=about))


def _item(hover: Hover) -> Item | None:
    """The item under the pointer, unless a handle of the gizmo is in front of it."""
    return None if hover.hit is None or hover.part is not None else item_of(hover.hit)
