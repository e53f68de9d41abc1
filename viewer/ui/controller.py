"""The controller: what a person does comes in as events, and the session, the camera and the view change. No OpenGL."""

from __future__ import annotations

from viewer.errors import ViewerError
from viewer.scene import Camera, DrawList, Scene
from viewer.session import Session
from viewer.session.preferences import Preferences
from viewer.spatial.projection import Projection
from viewer.ui.base import Base
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.clipboard import Clipboard
from viewer.ui.commands import BY_ID, command_for
from viewer.ui.context import Selecting
from viewer.ui.demos import Demos
from viewer.ui.drag_targets import Hover
from viewer.ui.dragging import Drag, Dragging
from viewer.ui.events import Drop, Event, Key, KeyUp, Leave, Move, Press, Release, Scroll
from viewer.ui.files import Files
from viewer.ui.keying import Keying
from viewer.ui.numbers import Rect
from viewer.ui.picture import Picture
from viewer.ui.playback import Playback
from viewer.ui.pointing import Pointing
from viewer.ui.posing import Nudging, Posing
from viewer.ui.renaming import Renaming
from viewer.ui.showing import Effects, Planes
from viewer.ui.status import Hint, StatusLine, hints_of, status_line
from viewer.ui.switches import Switches


class Controller(Base):
    """Answers events and commands; the app shows what it says.

    Its parts each know some of the commands: `camera_moves`, `drags`, `nudging`, `playback`, `files`, `clipboard`,
    `posing`, `selecting`, `renaming`, `switches`; `pointing` knows the mouse, `picture` what is shown.
    """

    def __init__(self, session: Session, preferences: Preferences | None = None) -> None:
        """Show a session."""
        super().__init__(session, preferences)
        if self.preferences.record_actions:
            session.record_actions()
        self._compiling_since: float | None = None
        self._now = 0.0
        self._make_parts()

    def _make_parts(self) -> None:
        self.picture, self.effects = Picture(self), Effects(self)
        self.camera_moves, self.planes, self.demos = CameraMoves(self), Planes(self), Demos(self)
        self.drags, self.pointing, self.nudging = Dragging(self), Pointing(self), Nudging(self)
        self.playback, self.files, self.clipboard = Playback(self), Files(self), Clipboard(self)
        self.posing, self.selecting, self.switches = Posing(self), Selecting(self), Switches(self)
        self.keying, self.renaming = Keying(self), Renaming(self)
        parts = (
            self.camera_moves, self.drags, self.nudging, self.playback, self.files, self.clipboard, self.posing,
            self.selecting, self.switches, self.planes, self.demos, self.keying, self.renaming,
        )  # fmt: skip
        self.handlers = {name: handler for part in parts for name, handler in part.handlers().items()}
        self.handlers |= self.keying.shared(self.handlers)
        self.camera_moves.start()
        self.demos.opened()

    # Commands

    def run(self, command: str) -> bool:
        """Run a command; whether it could. What it cannot do is said in a message."""
        handler = self.handlers[command]
        if BY_ID[command].in_drag != self.dragging:
            return False
        try:
            if not command.startswith("nudge."):
                self.nudging.finish()
            if not handler.can():
                return False
            handler.run()
        except ViewerError as error:
            self.fail(error, command)
        else:
            self.bar.done(command)
        return True

    def can(self, command: str) -> bool:
        """Whether a command would do something now."""
        return BY_ID[command].in_drag == self.dragging and self.handlers[command].can()

    def checked(self, command: str) -> bool | None:
        """Whether it is on; None for what is no toggle."""
        checked = self.handlers[command].checked
        return None if checked is None else checked()

    # Events

    def handle(self, event: Event) -> None:
        """Answer an event; nothing that comes from a person raises."""
        try:
            self._answer(event)
        except ViewerError as error:
            self.fail(error)

    def _answer(self, event: Event) -> None:
        match event:
            case Key():
                self._key(event)
            case KeyUp():
                self.pointing.mods_changed(event.mods - {event.name})
            case Press():
                self.nudging.finish()
                self.pointing.press(event)
            case Release():
                self.pointing.release(event)
            case Move():
                self.pointing.move(event)
            case Scroll():
                self._scroll(event)
            case Drop():
                self.files.drop(event.paths)
            case Leave():
                self.set_hovered(Hover())

    def _key(self, event: Key) -> None:
        if event.name in {"ctrl", "shift", "alt"}:
            self.pointing.mods_changed(event.mods | {event.name})
            return
        if event.name == "escape" and self.gesture is not None and not self.dragging:
            self.set_gesture(None)  # a box, or a press that is thought better of
            return
        command = command_for(event.name, event.mods, dragging=self.dragging)
        if command is not None and command.id == "select.none" and not self.can(command.id) and self.messages:
            self.bar.close(self.messages[-1])  # nothing else has a use for Esc
            return
        if command is not None and (command.repeats or not event.repeat):
            self.run(command.id)

    def _scroll(self, event: Scroll) -> None:
        if self.gesture is None and self.viewport.contains(event.x, event.y):
            self.camera_moves.scroll(event)
            self.pointing.move(Move(event.x, event.y, event.mods))

    def tick(self, now: float) -> bool:
        """Let time pass, to ``now`` in seconds of any clock that never goes back; whether to draw anew."""
        before, self._now = self.revision, now
        compiling = self.session.kernels == "compiling"
        self._compiling_since = (self._compiling_since or now) if compiling else None
        try:
            busy = self.session.tick(now)
        except ViewerError as error:
            self.fail(error)
            busy = False
        self.keying.tick()
        moving = self.camera_moves.tick(now)
        moving = self.effects.tick(now) or moving
        moving = self.nudging.tick(now) or moving
        self.pointing.tick()
        self.bar.tick(now)
        return busy or moving or self.revision != before

    # What is shown

    @property
    def viewport(self) -> Rect:
        """The rectangle of the 3D view in the window, framebuffer pixels."""
        return self._viewport

    @viewport.setter
    def viewport(self, viewport: Rect) -> None:
        if viewport != self._viewport:
            self._viewport = viewport
            self.camera_moves.resized()
            self.changed()

    @property
    def dragging(self) -> bool:
        """Whether a drag or grab runs: only the commands for that act."""
        return isinstance(self.gesture, Drag)

    @property
    def camera(self) -> Camera:
        """Where the view is taken from."""
        return self.camera_moves.camera

    @camera.setter
    def camera(self, camera: Camera) -> None:
        self.camera_moves.set(camera)

    def projection(self) -> Projection:
        """From the world to the viewport's pixels."""
        return self.picture.projection()

    def scene(self) -> Scene:
        """What there is to see."""
        return self.picture.scene()

    def draw_list(self) -> DrawList:
        """What is to be drawn; the same object until something changes."""
        return self.picture.draw_list()

    @property
    def cursor(self) -> str:
        """The pointer's shape: see `Pointing.cursor`."""
        return self.pointing.cursor

    def hints(self) -> tuple[Hint, ...]:
        """What keys and buttons do now, for the right end of the status line."""
        return hints_of(self)

    def status(self) -> StatusLine:
        """The status line's words."""
        waited = 0.0 if self._compiling_since is None else self._now - self._compiling_since
        busy = self.dragging or self.session.gesture is not None or self.session.animating
        return status_line(self.session, dragging=busy, compiling_for=waited, fps=self.fps)

    def chip(self) -> str:
        """What is said at the bottom of the view of a mode that is easily forgotten; "" where there is none."""
        key = BY_ID["limits.all"].shortcut
        return "" if self.document.limits_on else f"Joint limits off  press {key} to turn on"
