"""The state of the view, shared by the parts of the window: tool, camera, pointer, messages, requests."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, NamedTuple, TypeVar

import numpy as np

from viewer.document import Action, Document, Item
from viewer.document.import_export import step_scale
from viewer.errors import ViewerError, one_line
from viewer.gizmo import LengthUnit, Part, RigidMotion, Space, Tool
from viewer.latest import Latest
from viewer.scene import Camera, Display, Hit, look_of
from viewer.session import Session
from viewer.session.user_files import Preferences, Preset
from viewer.spatial.projection import Projection
from viewer.ui.commands import CommandBinding, always
from viewer.ui.events import Button, Move, Rect, Release
from viewer.ui.number_format import error_decimals, unit_for

REACH = 4
"""Frames before and after a dragged one of a motion trail that follow it at first."""
NOTE_SECONDS = 6.0
"""Seconds that a note stays."""
OFFER_SECONDS = 20.0
"""Seconds that a note with a button stays."""


class Request(NamedTuple):
    """A request that only the window can fulfil.

    Attributes:
        name: "new-dialog", "export-dialog", "picture" (value: the path), "question" (value: a `Question`), "ask-name"
            (value: a `NameQuestion`), "file-dialog" (value: a `FileQuestion`), "quit", "help", "preferences",
            "fullscreen", "reset-layout", "go-to-frame", "find-joint", "find-dialog", "units-dialog", "keep-pose"
            (value: a pose of the library, or None), "context-menu" (value: the item or None), "copy-text",
            "show-in-folder" (value: the path), "film-dialog" (value: the path proposed, or None), "film" (value: a
            `FilmOrder`), "film-cancel".
        value: data of the request.
        x, y: position, framebuffer pixels.
    """

    name: str
    value: object = None
    x: float = 0.0
    y: float = 0.0


Answers = Mapping[str, Callable[[], object]]
"""What the buttons of a question do, by their words."""


class Question(NamedTuple):
    """A question that the window asks in a dialog.

    Attributes:
        words: what is asked.
        answers: Enter presses the first, Esc the last.
        title: of the dialog, or "".
        notes: smaller lines below the words.
        stands: whether the question is still to be answered; else the dialog closes.
    """

    words: str
    answers: Answers
    title: str = ""
    notes: tuple[str, ...] = ()
    stands: Callable[[], bool] = always


class NameQuestion(NamedTuple):
    """A name, or another word, that the window asks for in a dialog.

    Attributes:
        title: of the dialog.
        words: before the name.
        name: proposed.
        button: on the button that gives it.
        give: called with the typed name.
    """

    title: str
    words: str
    name: str
    button: str
    give: Callable[[str], object]


class FileQuestion(NamedTuple):
    """A file that the window asks for.

    Attributes:
        title: of the dialog.
        action: word on its button.
        suffixes: of the files listed; the first is added to a name without one.
        done: called with the chosen path, or ``sample:NAME``; returns False if that failed, with the reason in the last
            message.
        saving: the dialog asks for a name to save under, instead of an existing file.
        samples: it lists recent files and samples, too.
        name: proposed, or "".
        ending: without a name: follows that of the document's file.
        folder: of the files listed; None: the last one used.
    """

    title: str
    action: str
    suffixes: tuple[str, ...]
    done: Callable[[Any], object]
    saving: bool = False
    samples: bool = False
    name: str = ""
    ending: str = ""
    folder: Path | None = None


class Hover(NamedTuple):
    """What is under the pointer; the first attribute that is set counts.

    Attributes:
        axis: of the view-axes disc: "x", "-x", ..., "disc" beside the axes, "" off the disc.
        part: handle of the gizmo.
        hit: on the figure.
        figure: name of another figure.
    """

    axis: str = ""
    part: Part | None = None
    hit: Hit | None = None
    figure: str = ""


class Gesture:
    """A gesture from a press, or a key, to a release.

    Attributes:
        button: that is held; None: it continues without one.
        edits: it changes the document, so that only the commands for drags work.
    """

    button: Button | None = None
    edits: bool = False

    @property
    def cursor(self) -> str:
        """The pointer's shape."""
        return "arrow"

    def move(self, event: Move) -> None:
        """Handle a pointer motion."""

    def release(self, event: Release) -> None:
        """End the gesture, as the button came up."""


class Mover:
    """Applies the motion since the start of a drag to the session.

    Attributes:
        once_a_frame: whether of several motions in a frame only the last one counts: each is solved.
        solved: whether the solver moves the body after its items; else these are turned.
    """

    __slots__ = ()
    once_a_frame: ClassVar[bool] = False
    solved: ClassVar[bool] = False

    @property
    def items(self) -> Iterable[Item]:
        """The joints and effectors that it moves itself."""
        return ()

    @property
    def at_frame(self) -> int | None:
        """The frame of the motion that it changes; None: it changes the pose shown."""
        return None

    def begin(self, session: Session) -> None:
        """Begin the gesture."""

    def apply(self, session: Session, motion: RigidMotion) -> None:
        """Move what is dragged by a motion from its start."""

    def words(self, view: View) -> str:  # noqa: ARG002 - of some movers
        """What the drag's readout says besides the motion."""
        return ""


class Workspace(StrEnum):
    """An arrangement of the panels for one kind of work; changing it leaves document, selection and camera alone."""

    POSE = "pose"
    ANIMATE = "animate"
    RETARGET = "retarget"
    BUILD = "build"
    PHYSICS = "physics"
    LAB = "lab"


@dataclass(slots=True)
class Panels:
    """Panels to show, as far as there is room.

    Attributes:
        hidden: all panels are hidden.
        left: panels for skeleton and goals.
        right: panels for inspector, solver and history.
        opened: "left" or "right": which of them were opened last. They have room, though little is left for the view.
        folded: those that are not there, for lack of room or since they are closed; set by the app.
        fullscreen: the window fills the screen; set by the app.
    """

    hidden: bool = False
    left: bool = True
    right: bool = True
    opened: str = ""
    folded: frozenset[str] = frozenset()
    fullscreen: bool = False

    def shows(self, side: str) -> bool:
        """Whether the panels of a side are there."""
        return bool(getattr(self, side)) and not self.hidden and side not in self.folded

    def open(self, side: str, *, on: bool = True) -> None:
        """Open the panels of a side, or close them."""
        setattr(self, side, on)
        self.hidden, self.opened = False, side if on else ""


T = TypeVar("T")


class _Preference(Generic[T]):
    """A preference as an attribute of the view, which sees its changes."""

    def __set_name__(self, _: type[View], name: str) -> None:
        self._name = name

    def __get__(self, view: View, _: type[View]) -> T:
        value: T = getattr(view.preferences, self._name)
        return value

    def __set__(self, view: View, value: T) -> None:
        setattr(view.preferences, self._name, value)
        view.changed()


class View:
    """How a session is shown.

    Attributes:
        preferences: of the user.
        viewport: the rectangle of the 3D view in the window, framebuffer pixels.
        scale: framebuffer pixels per logical pixel.
        pixel_ratio: framebuffer pixels per window pixel.
        fps: frames per second, or None while none are drawn.
        now: seconds, at the last tick.
        camera: the camera.
        tool: of the gizmo.
        space: of the gizmo's axes.
        display: display switches.
        panels: the panels shown.
        workspace: how the panels are arranged.
        pointer: last pointer position and modifiers.
        trail_reach: frames before and after a dragged one of a motion trail that follow it.
        individual: several things that are selected turn each about itself, joints with their children on top.
        mirror: whether edits of one side are made on the other side, too.
        pointed: the pointer is over the view, not over a panel or outside of the window.
        lit_figure: name of the figure that is not active and is under the pointer, here or in a list.
        gesture: the gesture under way, or None.
        finding: filter of the joint tree.
        requests: for the app, which removes them.
        bar: the messages in the view.
        preset: mouse preset: "simple", "blender" or "maya".
        snap_deg: snap step of rotating, degrees.
        magnet: whether drags snap unless Ctrl is held.
    """

    preset = _Preference[Preset]()
    snap_deg = _Preference[float]()
    magnet = _Preference[bool]()

    def __init__(self, session: Session, preferences: Preferences) -> None:
        self._session, self.preferences = session, preferences
        self.viewport, self.scale, self.pixel_ratio = Rect(0, 0, 1280, 720), 1.0, 1.0
        self.fps: float | None = None
        self.now = 0.0
        self.camera = Camera(target=np.zeros(3))
        self.tool, self.space = Tool.MOVE, Space.WORLD
        self.display, self.panels = Display(view_axes=True), Panels()
        self.workspace, self._last_workspace = Workspace.POSE, Workspace.POSE
        self.pointer, self.pointed = Move(-1.0, -1.0), False
        self.mirror = self.individual = False
        self.trail_reach = REACH
        self._hovered, self.lit_figure = (session.document.skeleton.names, Hover()), ""
        self.gesture: Gesture | None = None
        self.finding = ""
        self.requests: deque[Request] = deque()
        self.bar = MessageBar()
        self._hovered_row: Item | None = None
        self._revision = 0
        self._projection = Latest[Projection]()

    # Changes

    @property
    def revision(self) -> int:
        """Increases with every visible change."""
        return self._revision + self._session.stage.revision + self.bar.revision

    def changed(self) -> None:
        """Count a visible change."""
        self._revision += 1

    def enter(self, workspace: Workspace) -> None:
        """Change to a workspace; from that one itself, back to Pose or Animate, whichever was shown before.

        The other workspaces begin something when they open, which is not wanted when one is left.
        """
        back = Workspace.POSE if workspace is self._last_workspace else self._last_workspace
        wanted = back if workspace is self.workspace else workspace
        if self.workspace in {Workspace.POSE, Workspace.ANIMATE}:
            self._last_workspace = self.workspace
        self.workspace = wanted
        self.changed()

    # Where

    def local(self, x: float, y: float) -> tuple[float, float]:
        """Convert window pixels to viewport pixels."""
        return x - self.viewport.x, y - self.viewport.y

    def projection(self) -> Projection:
        """The projection to the viewport's pixels; the same object until camera or size change."""
        camera, viewport = self.camera, self.viewport
        return self._projection.of(lambda: camera.projection(viewport.size), camera, equal=viewport)

    @property
    def turns(self) -> bool:
        """Whether the view can orbit: not in a planar document, where clicks and drags are in the plane."""
        return self._session.document.planar is None

    @property
    def pointer_at(self) -> tuple[float, float]:
        """Pointer position, framebuffer pixels of the window."""
        return self.pointer.x, self.pointer.y

    # What is held and what is under the pointer

    @property
    def dragging(self) -> bool:
        """Whether a drag or grab runs, during which only its commands work."""
        return self.gesture is not None and self.gesture.edits

    def set_gesture(self, gesture: Gesture | None) -> None:
        """Set the gesture under way, or None."""
        self.gesture = gesture
        self.changed()

    @property
    def hovered(self) -> Hover:
        """What is under the pointer; nothing while the joints are others than when that was found."""
        names, hover = self._hovered
        return hover if names == self._session.document.skeleton.names else Hover()

    def set_hovered(self, hover: Hover) -> None:
        """Set what is under the pointer."""
        same = _shown(hover) == _shown(self.hovered)
        if not same or _item(hover) != _item(self.hovered):
            self.changed()
        self._hovered = self._session.document.skeleton.names, hover
        self.lit_figure = hover.figure

    def hover_row(self, item: Item | None) -> None:
        """Set the item whose row in a list is under the pointer, or None."""
        if item != self._hovered_row:
            self._hovered_row = item
            self.changed()

    def hovered_item(self) -> Item | None:
        """The item to highlight, in the view and in lists; None if it no longer exists."""
        hover = self.hovered
        item = self._hovered_row or (None if hover.hit is None else _item(hover))
        return item if item is not None and self._session.document.has(item) else None

    # Words and requests

    def request(self, name: str, value: object = None, x: float = 0.0, y: float = 0.0) -> None:
        """Send a request to the window."""
        self.requests.append(Request(name, value, x, y))

    def ask(self, question: Question | NameQuestion | FileQuestion) -> None:
        """Ask the user a question."""
        names = {Question: "question", NameQuestion: "ask-name", FileQuestion: "file-dialog"}
        self.request(names[type(question)], question)

    def post(self, message: Message) -> None:
        """Show a message."""
        self.bar.post(message)

    def note(self, text: str) -> None:
        """Post a note."""
        self.post(Message(text))

    def fail(self, error: ViewerError, about: str = "") -> None:
        """Post an error, with a capital unless it begins with a name; ``about`` as of `Message`."""
        self.post(Message(self.sentence(str(error)), "error", about=about))

    @contextmanager
    def errors_shown(self, about: str = "") -> Iterator[None]:
        """Within the block a `ViewerError` becomes a message; ``about`` as of `Message`."""
        try:
            yield
        except ViewerError as error:
            self.fail(error, about)

    def attempt(self, do: Callable[[], object], about: str) -> bool:
        """Call ``do``: a `ViewerError` becomes a message, success closes those about the task. Whether it succeeded."""
        try:
            do()
        except ViewerError as error:
            self.fail(error, about)
            return False
        self.bar.done(about)
        return True

    def switch(self, part: object, name: str, can: Callable[[], bool] = always) -> CommandBinding:
        """The binding of a command that switches an attribute of a part on or off."""

        def run() -> None:
            setattr(part, name, not getattr(part, name))
            self.changed()

        return CommandBinding(run, can, lambda: bool(getattr(part, name)))

    def sentence(self, text: str) -> str:
        """An error or a warning with a capital, unless it begins with a file, an argument, a joint or a figure."""
        word, stage = text.partition(" ")[0], self._session.stage
        names = {*stage.names, *self._session.document.skeleton.names}
        return text[0].upper() + text[1:] if word.isalpha() and word not in names else text

    # Units and preferences

    @property
    def unit(self) -> LengthUnit:
        """The unit in which lengths are shown and typed."""
        return unit_for(self.height)

    @property
    def height(self) -> float:
        """H: the figure's size, metres."""
        return look_of(self._session.document.skeleton).height

    @property
    def step_scale(self) -> float:
        """Factor of snap steps: 1 for figures of human size."""
        return step_scale(self.height)

    @property
    def error_decimals(self) -> int:
        """Decimals of errors in millimetres."""
        return error_decimals(self.height)

    @property
    def snap_m(self) -> float:
        """Snap step of moving, metres: that of the preferences, scaled to the figure's size."""
        return self.preferences.snap_m * self.step_scale

    @snap_m.setter
    def snap_m(self, metres: float) -> None:
        self.preferences.snap_m = metres / self.step_scale
        self.changed()


def _shown(hover: Hover) -> tuple[object, ...]:
    """What is drawn differently while the pointer is there, besides the item."""
    frame = hover.hit.place if hover.hit is not None and hover.hit.trail is not None else None
    return hover.axis, hover.part, hover.figure, frame


def _item(hover: Hover) -> Item | None:
    """The item under the pointer, unless a gizmo handle is in front of it."""
    return None if hover.hit is None or hover.part is not None else item_of(hover.hit)


def item_of(hit: Hit) -> Item:
    """The item that a hit selects: of a bone its joint, of a root's handle the root joint."""
    if hit.kind == "prop":
        return Item("prop", hit.name)
    if hit.kind == "layer":
        return Item("layer", hit.name)
    if hit.kind == "effector" and not (hit.mark is not None and hit.mark.root):
        return Item("effector", hit.name)
    if hit.trail is not None and hit.trail.item is not None:
        return hit.trail.item
    return Item("joint", hit.name)


def other_pose_words(meets: bool) -> str:
    """Text of the offer of another pose: one that meets all goals, or one that is nearer to them."""
    return f"Stuck here: another pose {'meets the goals' if meets else 'is nearer to the goals'}"


@dataclass(frozen=True, slots=True, eq=False)
class Message:
    """A message to the user: what happened, where, and the next step.

    Attributes:
        text: one line.
        level: an "error" stays until it is closed, a "note" for `NOTE_SECONDS` or `OFFER_SECONDS`.
        actions: buttons: labels and callbacks; they close the message.
        about: the task, such as a command's id: an error is closed when the task succeeds, or fails again.
        stays: it is not about the document shown: neither opening another file nor similar messages remove it.
    """

    text: str
    level: Literal["error", "note"] = "note"
    actions: tuple[tuple[str, Callable[[], object]], ...] = ()
    about: str = ""
    stays: bool = False

    def __post_init__(self) -> None:
        """Make the text one line: names and paths in it may have any characters and length."""
        object.__setattr__(self, "text", one_line(self.text))

    @property
    def fleeting(self) -> bool:
        """Whether it disappears by itself."""
        return self.level == "note"

    @property
    def seconds(self) -> float:
        """Seconds that it stays if it is `fleeting`."""
        return OFFER_SECONDS if self.actions else NOTE_SECONDS


class MessageBar:
    """The messages shown, oldest first."""

    def __init__(self) -> None:
        self._shown: list[tuple[Message, float | None]] = []
        self.revision = 0
        self._now = 0.0

    @property
    def messages(self) -> tuple[Message, ...]:
        """The messages shown, oldest first."""
        return tuple(message for message, _ in self._shown)

    def post(self, message: Message) -> None:
        """Show a message; it replaces one with the same text, or an older one about the same."""
        self._shown = [pair for pair in self._shown if not _replaces(message, pair[0])]
        self._shown.append((message, None))
        self.revision += 1

    def done(self, about: str) -> None:
        """Close what was said about a task that has succeeded, or is over."""
        for message in self.messages:
            if about and message.about == about:
                self.close(message)

    def close(self, message: Message) -> None:
        """Remove a message."""
        left = [pair for pair in self._shown if pair[0] is not message]
        if len(left) != len(self._shown):
            self._shown = left
            self.revision += 1

    def clear(self) -> None:
        """Remove the messages about the previous document."""
        left = [pair for pair in self._shown if pair[0].stays]
        self.revision += len(left) != len(self._shown)
        self._shown = left

    def choose(self, message: Message, number: int) -> None:
        """Press the button ``number`` of a message."""
        self.close(message)
        message.actions[number][1]()

    def tick(self, now: float) -> bool:
        """Remove notes whose time is over; whether any was removed. A note's time starts at its first tick."""
        self._now = now
        if not self._shown:
            return False
        started = [(m, now if since is None else since) for m, since in self._shown]
        left = [(m, since) for m, since in started if not m.fleeting or now - since < m.seconds]
        gone = len(left) != len(started)
        self._shown = [*left]
        self.revision += gone
        return gone

    @property
    def left(self) -> float | None:
        """Seconds from the last tick until the next note disappears; None without notes."""
        ends = [
            message.seconds if since is None else message.seconds + since - self._now
            for message, since in self._shown
            if message.fleeting
        ]
        return max(0.0, min(ends)) if ends else None

    @property
    def waiting(self) -> bool:
        """Whether a note is shown, so that ticks are needed."""
        return any(message.fleeting for message, _ in self._shown)


def _replaces(message: Message, older: Message) -> bool:
    """Whether a message repeats or updates an older one: ``Solver: ccd`` after ``Solver: dls``."""
    if message.stays or older.stays:
        return message is older
    if message.text == older.text:
        return True
    if message.level == older.level == "error":
        return bool(message.about) and message.about == older.about
    notes = message.level == older.level == "note" and not (message.actions or older.actions)
    (thing, colon, _), (other, _, _) = message.text.partition(": "), older.text.partition(": ")
    return notes and bool(colon) and thing == other


class ViewPart:
    """A part of the window's logic: it changes a session and its view."""

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view

    @property
    def _document(self) -> Document:
        return self._session.document

    def _do(self, action: Action) -> None:
        self._session.dispatch(action)

    def _do_all(self, actions: Sequence[Action], label: str) -> None:
        """Do actions as one undo step; a single one has its own label."""
        if len(actions) == 1:
            self._do(actions[0])
        elif actions:
            with one_step(self._session, label) as do:
                for action in actions:
                    do(action)


@contextmanager
def one_step(session: Session, label: str) -> Iterator[Callable[[Action], object]]:
    """Within the block actions are one undo step, or none of them if one fails; yields what does one."""
    session.begin(label)
    try:
        yield session.gestures.update
    except ViewerError:
        session.cancel()
        raise
    session.commit()


class EditGesture(ViewPart, Gesture):
    """A gesture that changes the document until it ends: one undo step.

    Enter confirms it, a click too if it has no button; Esc and the right button cancel it.
    """

    edits: bool = True

    def tick(self) -> None:
        """Apply what waits for the frame."""

    def release(self, event: Release) -> None:  # noqa: ARG002 - the last move counts
        """Confirm, as the button came up."""
        self.confirm()

    def confirm(self) -> None:
        """End the gesture and keep its result."""
        self.tick()
        self._view.set_gesture(None)
        self._session.commit()

    def cancel(self) -> None:
        """End the gesture and restore the document before it."""
        self._view.set_gesture(None)
        self._session.cancel()
