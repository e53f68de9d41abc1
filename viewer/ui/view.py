"""The state of the view, shared by the parts of the window: tool, camera, pointer, messages, requests; its switches."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import ClassVar, Generic, NamedTuple, TypeVar, get_args

import numpy as np

from viewer.document import Action, Document, Item
from viewer.document.import_export import step_scale
from viewer.errors import ViewerError
from viewer.gizmo import LengthUnit, Part, RigidMotion, Space, Tool
from viewer.latest import Latest
from viewer.scene import BODIES, Body, Camera, Display, Hit, LimitsShown, look_of
from viewer.session import Session
from viewer.session.user_files import Preferences, Preset
from viewer.spatial.projection import Projection
from viewer.ui.commands import CommandBinding, CommandBindings, Lacks, needs
from viewer.ui.events import (
    Button,
    FileQuestion,
    Message,
    MessageBar,
    Move,
    NameQuestion,
    Question,
    Rect,
    Release,
    Request,
)
from viewer.ui.number_format import error_decimals, unit_for

REACH = 4
"""Frames before and after a dragged one of a motion trail that follow it at first."""


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


class Refusal(NamedTuple):
    """Why a key did nothing, said in the status line.

    Attributes:
        title: of its command.
        why: a clause.
        until: seconds, as of ``View.now``.
    """

    title: str
    why: str
    until: float


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
        return bool(getattr(self, side)) and not self.hidden and side not in self.folded

    def open(self, side: str, *, on: bool = True) -> None:
        setattr(self, side, on)
        self.hidden, self.opened = False, side if on else ""


T = TypeVar("T")


class _Preference(Generic[T]):
    """A preference as an attribute of the view: another value of it is drawn."""

    def __set_name__(self, _: type[View], name: str) -> None:
        self._name = name

    def __get__(self, view: View, _: type[View]) -> T:
        value: T = getattr(view.preferences, self._name)
        return value

    def __set__(self, view: View, value: T) -> None:
        if value != getattr(view.preferences, self._name):
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
        elapsed: seconds from the tick before to the last one; None in the first.
        tool: of the gizmo.
        space: of the gizmo's axes.
        display: display switches.
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
        refusal: why the last key did nothing, while the status line says so.

    The other attributes are preferences: `Preferences` says what each is.
    """

    ui_scale = _Preference[float | None]()
    preset = _Preference[Preset]()
    two_fingers = _Preference[bool]()
    reduce_motion = _Preference[bool]()
    keep_in_view = _Preference[bool]()
    snap_deg = _Preference[float]()
    magnet = _Preference[bool]()
    ghosts_around = _Preference[int]()
    ghost_step = _Preference[int]()
    trail_frames = _Preference[int]()
    record_tolerance_deg = _Preference[float]()

    def __init__(self, session: Session, preferences: Preferences) -> None:
        self._session, self.preferences = session, preferences
        self.viewport, self.scale, self.pixel_ratio = Rect(0, 0, 1280, 720), 1.0, 1.0
        self.fps: float | None = None
        self.now = 0.0
        self.elapsed: float | None = None
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
        self.refusal: Refusal | None = None
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
        if wanted is not self.workspace:
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
        self.gesture = gesture
        self.changed()

    @property
    def hovered(self) -> Hover:
        """What is under the pointer; nothing while the joints are others than when that was found."""
        names, hover = self._hovered
        return hover if names == self._session.document.skeleton.names else Hover()

    def set_hovered(self, hover: Hover) -> None:
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
        self.requests.append(Request(name, value, x, y))

    def ask(self, question: Question | NameQuestion | FileQuestion) -> None:
        names = {Question: "question", NameQuestion: "ask-name", FileQuestion: "file-dialog"}
        self.request(names[type(question)], question)

    def refuse(self, refusal: Refusal | None) -> None:
        """Say in the status line why a key did nothing; None: no longer."""
        if refusal != self.refusal:
            self.refusal = refusal
            self.changed()

    def post(self, message: Message) -> None:
        self.bar.post(message)

    def note(self, text: str) -> None:
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

    def switch(self, part: object, name: str, lacks: Lacks = str) -> CommandBinding:
        """The binding of a command that switches an attribute of a part on or off."""

        def run() -> None:
            setattr(part, name, not getattr(part, name))
            self.changed()

        return CommandBinding(run, lacks, lambda: bool(getattr(part, name)))

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
        if metres != self.snap_m:
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


_SHOWN = ("axes", "names", "grid", "shadow", "goals", "ghosts", "trails", "balance", "bodies", "skin", "see_through")
_LIMITS: tuple[LimitsShown, ...] = get_args(LimitsShown)


class Switches(ViewPart):
    """Commands that show and hide things, and requests to the window."""

    def __init__(self, session: Session, view: View) -> None:
        """Apply the switches in the preferences; whether there is a skin depends on the session's figure."""
        super().__init__(session, view)
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
        return self._document.character.skin is not None

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
        lacks = needs("the figure has no skin", self._has_skin) if body == "skin" else str
        return CommandBinding(partial(self.show_body, body), lacks, lambda: self._body() == body)

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
