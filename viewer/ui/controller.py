"""The controller: user events in; changes of session, camera and view out. No OpenGL."""

from __future__ import annotations

from dataclasses import replace

from viewer.document import Report
from viewer.errors import ViewerError
from viewer.scene import Camera, DrawList, Scene
from viewer.session import Session
from viewer.session.figures import State
from viewer.session.long_work import Background, LongWork
from viewer.session.replay import Replay
from viewer.session.user_files import Preferences
from viewer.skeleton import Pose
from viewer.spatial.projection import Projection
from viewer.ui.build_workspace import Building
from viewer.ui.camera_moves import CameraMoves
from viewer.ui.commands import BY_ID, Command, CommandBinding, CommandBindings, command_for
from viewer.ui.contact import Contacts, spare_words, touch_words
from viewer.ui.demo_commands import Demos
from viewer.ui.dragging import Drag, Dragging, DragPace, HitTest
from viewer.ui.drawing import Drawing, Effects, WorkspacePart
from viewer.ui.events import Drop, Event, Key, KeyUp, Leave, Move, Press, Rect, Release, Scroll
from viewer.ui.file_menu import Files
from viewer.ui.film import LabFilm, ShownMotion
from viewer.ui.keying import Keying, Tweening
from viewer.ui.laboratory import Laboratory
from viewer.ui.layering import Layering
from viewer.ui.onion_skin import TrailMover
from viewer.ui.opening import Figures, Opening
from viewer.ui.planting import Planting
from viewer.ui.pointing import Hint, Pointing, Selecting, hints_of
from viewer.ui.posing import Clipboard, LibraryPoses, Nudging, Posing, Renaming, Solutions
from viewer.ui.range_handles import LimitRanges
from viewer.ui.retargeting import Retargeting
from viewer.ui.scene_builder import Others, SceneBuilder
from viewer.ui.simulating import Simulating
from viewer.ui.status import StatusLine, short_name, status_line
from viewer.ui.timeline import Markers, Playback
from viewer.ui.view import EditGesture, Hover, Refusal, Switches, View, Workspace

REFUSED_SECONDS = 4.0
"""Seconds that the status line says why a key did nothing."""
_EXPLAINED_AFTER = 0.25
"""Seconds that a drag rests before the status line says why its goals are missed."""


class _RestingDrag:
    """A drag that rests, with the report of its last tick.

    Why its goals are missed is found in a thread, as the next motion may come at any time.
    """

    def __init__(self, report: Report, now: float) -> None:
        self.report, self._since = report, now
        self._work: LongWork[object] | None = None

    def explained(self, now: float) -> bool:
        """Whether the reasons of the report on all of it are known; begins to find them after a while."""
        if self._work is None and now - self._since >= _EXPLAINED_AFTER:
            self._work = LongWork(lambda: self.report.whole.reasons, {})
        return self._work is not None and not self._work.busy


class Controller:
    """Handles events and commands, and provides what the app shows.

    It creates the parts, passes each the session, the view and the parts that it uses, and runs commands by their
    bindings.
    """

    def __init__(self, session: Session, preferences: Preferences | None = None, script: Replay | None = None) -> None:
        """Show a session; a script makes recorded calls of it, and is ticked in its place."""
        self.session, self._ticked = session, script or session
        self.view = view = View(session, preferences or Preferences())
        if view.preferences.record_actions:
            session.record_actions()
        self._pace = DragPace(session)
        self._compiling_since: float | None = None
        self._rest: _RestingDrag | None = None
        self._has_ticked = False
        self._workspace = view.workspace
        self.switches = Switches(session, view)
        self.others = Others(session)
        # Gestures and recordings continue from the document shown.
        self.background = Background(
            lambda: session.gestures.open_step is not None or session.recorder.recording is not None
        )
        self.simulating = Simulating(session, view)
        self.laboratory = Laboratory(session, view)
        self._lab_film = LabFilm(session, view, self.laboratory)
        self.scenes = SceneBuilder(session, view, self.others, self.simulating, self.laboratory)
        self.hit_test = HitTest(session, view, self.scenes)
        self.camera_moves = CameraMoves(session, view, self.others)
        self.camera_moves.seen = self._seen
        self.demos = Demos(session, view, self.camera_moves, self.laboratory)
        self.planting = Planting(session, view, self.scenes.feet, self.background)
        self.drags = Dragging(session, view, self.hit_test, self.planting)
        self.opening = Opening(session, view, self.drags, self.camera_moves, self.demos)
        self.nudging, self.posing = Nudging(session, view), Posing(session, view)
        self.solutions = Solutions(session, view)
        self.contacts = Contacts(session, view)
        self.figures = Figures(session, view, self.opening, self.camera_moves)
        self.retargeting = Retargeting(session, view, self.figures, self.camera_moves, self.background, self.others)
        self.building = Building(session, view, self.opening)
        self.files = Files(
            session, view, self.nudging, self.opening, self.contacts, self.figures, self.retargeting, self._exported
        )
        self.playback = Playback(session, view)
        self.clipboard, self.renaming = Clipboard(session, view), Renaming(session, view)
        self.library_poses = LibraryPoses(session, view)
        self.selecting = Selecting(session, view, self.scenes)
        self.keying = Keying(session, view, self.playback, self.drags, self.planting, self.clipboard)
        self.markers = Markers(session, view, self.playback)
        self.tweening, self.layering = Tweening(session, view), Layering(session, view)
        self.limit_ranges = LimitRanges(session, view)
        self.pointing = Pointing(
            session,
            view,
            self.hit_test,
            self.drags,
            self.camera_moves,
            self.demos,
            self.selecting,
            self.retargeting,
            self.building,
            self.simulating,
        )
        self.effects = Effects(view, self.scenes)
        self._parts: dict[Workspace, WorkspacePart] = {
            Workspace.RETARGET: self.retargeting,
            Workspace.BUILD: self.building,
            Workspace.PHYSICS: self.simulating,
            Workspace.LAB: self.laboratory,
        }
        self.drawing = Drawing(session, view, self.scenes, self.hit_test, self.effects, self.demos, self._parts)
        self.bindings = self._bindings()
        self.camera_moves.start()
        self.demos.opened()

    def _bindings(self) -> dict[str, CommandBinding]:
        """Binds every command; later parts take over from earlier ones while they are in charge."""
        parts = (
            self.camera_moves, self.drags, self.nudging, self.playback, self.files, self.clipboard, self.posing,
            self.selecting, self.switches, self.contacts, self.figures, self.demos,
            self.renaming, self.library_poses, self.tweening,
            self.layering, self.limit_ranges, self.planting, self.retargeting, self.building, self.simulating,
            self.laboratory, self.solutions, self.markers, self.keying,
        )  # fmt: skip
        bindings: CommandBindings = {}
        for part in parts:
            for name, binding in part.bindings().items():
                bindings[name] = binding.over(bindings.get(name))
        return bindings

    # Commands

    def run(self, command: str) -> bool:
        """Run a command; whether it could run. Errors become messages."""
        if BY_ID[command].in_drag != self.dragging:
            return False
        try:
            if not command.startswith("nudge."):
                self.nudging.finish()
            if self.lacks(command):
                return False
            self.view.refuse(None)
            self.bindings[command].run()
        except ViewerError as error:
            self.view.fail(error, command)
        else:
            self.view.bar.done(command)
        return True

    def lacks(self, command: str) -> str:
        """Why a command would have no effect now, as of `CommandBinding`; "" if it would have one."""
        in_drag = BY_ID[command].in_drag
        if in_drag != self.dragging:
            return "nothing is dragged" if in_drag else "end the drag first"
        return self.bindings[command].lacks()

    def can(self, command: str) -> bool:
        """Whether a command would have an effect now."""
        return not self.lacks(command)

    def checked(self, command: str) -> bool | None:
        """Whether a toggle is on; None if the command is no toggle."""
        checked = self.bindings[command].checked
        return None if checked is None else checked()

    # Events

    def handle(self, event: Event) -> None:
        """Handle an event; user errors become messages."""
        with self.view.errors_shown():
            self._answer(event)

    def _answer(self, event: Event) -> None:
        if isinstance(event, Press | Move | Scroll):
            self.view.pointed = True
        match event:
            case Key():
                self._key(event)
            case KeyUp():
                self.pointing.mods_changed(event.mods - {event.name})
            case Press():
                self.nudging.finish()
                self.view.refuse(None)
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
                self.view.pointed = False
                self.view.set_hovered(Hover())

    def _key(self, event: Key) -> None:
        if event.name in {"ctrl", "shift", "alt"}:
            self.pointing.mods_changed(event.mods | {event.name})
            return
        if event.name == "escape" and self.view.gesture is not None and not self.dragging:
            self.view.set_gesture(None)  # cancels a box selection or a press
            return
        if event.name == "escape" and self.background.jobs and not self.dragging:
            self.background.cancel_all()
            return
        every = self._meanings(event)
        command = next((one for one in every if self.can(one.id)), next(iter(every), None))
        if command is not None and command.id == "select.none" and not self.can(command.id) and self.view.bar.messages:
            self.view.bar.close(self.view.bar.messages[-1])  # Esc has no other use now
            return
        if command is None or (event.repeat and not command.repeats):
            return
        self.view.refuse(None)
        before = self._state()
        why = "" if self.run(command.id) else self.lacks(command.id)
        if not why and not command.in_drag and self._state() == before:
            why = "nothing changes"
        if why:
            self.view.refuse(Refusal(command.title, why, self.view.now + REFUSED_SECONDS))

    def _meanings(self, event: Key) -> list[Command]:
        """The commands of a key: of the workspace shown, of all, and those that it has elsewhere."""
        rooms = (self.view.workspace, "", *Workspace)
        places = [(dragging, room) for dragging in dict.fromkeys((self.dragging, False)) for room in rooms]
        found = (command_for(event.name, event.mods, dragging=dragging, room=room) for dragging, room in places)
        return [one for one in found if one is not None]

    def _state(self) -> tuple[object, ...]:
        """What a command can change, of the window and its session, and the work that it can start."""
        view, clock, jobs = self.view, self.session.clock, self.background.jobs
        return (
            view.revision, len(view.requests), self.camera_moves.heading_for, clock.direction, clock.speed, clock.loop,
            [*map(id, jobs.values())],
        )  # fmt: skip

    def _scroll(self, event: Scroll) -> None:
        gesture = self.view.gesture
        if isinstance(gesture, Drag) and isinstance(gesture.mover, TrailMover) and event.dy:
            self.drags.lengthen(1 if event.dy > 0 else -1)
            return
        if self.view.gesture is None and self.viewport.contains(event.x, event.y):
            self.camera_moves.scroll(event)
            self.pointing.move(Move(event.x, event.y, event.mods))

    def tick(self, now: float) -> bool:
        """Advance time to ``now``, seconds of any clock that never goes back; whether to draw again."""
        view, session = self.view, self.session
        before, view.elapsed = view.revision, now - view.now if self._has_ticked else None
        view.now, self._has_ticked = now, True
        if view.refusal is not None and now >= view.refusal.until:
            view.refuse(None)
        ticks = self._pace.ticks(now) if self._ticked is session else 1
        compiling = session.kernels.compiling
        self._compiling_since = (self._compiling_since or now) if compiling else None
        try:
            if isinstance(view.gesture, EditGesture):
                view.gesture.tick()
            busy = self._ticked.tick(now)
            for _ in range(1, ticks):
                drag = session.gestures.drag
                if drag is None or not drag.pending:
                    break
                busy = session.tick(now)
        except ViewerError as error:
            view.fail(error)
            busy = False
        if session.events or session.stage.lost_pose is not self.keying.lost_pose:
            self.keying.tick()
        left, self._workspace = self._workspace, view.workspace
        if left is not view.workspace and left in self._parts:
            self._parts[left].tick()  # it ends
        moving = view.workspace in self._parts and self._parts[view.workspace].tick()
        moving = self.camera_moves.tick(now) or moving
        moving = self.effects.tick(now) or moving
        if self.nudging.gesture is not None:
            moving = self.nudging.tick(now) or moving
        if session.document.take is not None:
            self.planting.tick()
        if self.background.jobs:
            with view.errors_shown():
                self.background.tick()
        if self.solutions.note is not None:
            self.solutions.tick()
        self.pointing.tick()
        view.bar.tick(now)
        return busy or moving or view.revision != before or self._awaits_reasons(now)

    def _awaits_reasons(self, now: float) -> bool:
        """Whether a drag is at rest, and why its goals are missed is not known yet."""
        drag = self.session.gestures.drag
        if drag is None or drag.report is None or drag.pending:
            self._rest = None
            return False
        if self._rest is None or self._rest.report is not drag.report:
            self._rest = _RestingDrag(drag.report, now)
        return not self._rest.explained(now)

    # What is shown

    def filmed(self) -> ShownMotion:
        """The content of a film: what was simulated, iterations of the laboratory, else the motion."""
        return self._lab_film.filmed() or self.shown_motion()

    def shown_motion(self) -> ShownMotion:
        """The simulated motion if there is one, else the document's."""
        beside, recorded = tuple(self.session.stage.others), self.simulating.recorded()
        if recorded is None:
            return ShownMotion(self.session.document, beside)
        own, *others = recorded
        beside = tuple(replace(one, state=State(other)) for one, other in zip(beside, others, strict=True))
        assert self.simulating.sim is not None
        return ShownMotion(own, beside, self.simulating.sim.objects_at)

    def _exported(self) -> ShownMotion:
        """The content of an export of motion: the active figure; for a simulation the same as a film."""
        shown = self.shown_motion()
        return shown if shown.objects is not None else ShownMotion(shown.document)

    @property
    def viewport(self) -> Rect:
        """The rectangle of the 3D view in the window, framebuffer pixels."""
        return self.view.viewport

    @viewport.setter
    def viewport(self, viewport: Rect) -> None:
        if viewport != self.view.viewport:
            self.view.viewport = viewport
            self.camera_moves.resized()
            self.view.changed()

    @property
    def camera(self) -> Camera:
        """The camera; setting it ends a jump."""
        return self.view.camera

    @camera.setter
    def camera(self, camera: Camera) -> None:
        self.camera_moves.set(camera)

    @property
    def dragging(self) -> bool:
        """Whether a drag or grab runs, during which only its commands work."""
        return self.view.dragging

    def projection(self) -> Projection:
        return self.view.projection()

    def _seen(self) -> tuple[Pose, ...]:
        """The poses that are drawn in place of the document's: simulated, or those of the laboratory."""
        simulated = self.simulating.pose
        return self.laboratory.poses() if simulated is None else (simulated,)

    def scene(self) -> Scene:
        return self.scenes.scene()

    def draw_list(self) -> DrawList:
        """The draw list; the same object until something changes."""
        return self.drawing.draw_list()

    @property
    def cursor(self) -> str:
        return self.pointing.cursor

    def hints(self) -> tuple[Hint, ...]:
        return hints_of(self.session, self.view, self.drags, self.building, self.simulating)

    def status(self) -> StatusLine:
        """The status line, which the part of a workspace may change or replace."""
        part = self._parts.get(self.view.workspace)
        line, refused = self._solving() if part is None else part.status(self._solving), self.view.refusal
        if refused is None:
            return line
        return line._replace(icon="refused", state=refused.title, tone="idle", goals=refused.why, figures="", yields="")

    def _solving(self) -> StatusLine:
        view = self.view
        since = self._compiling_since
        waited = 0.0 if since is None else view.now - since
        busy = self.dragging or self.session.gestures.label is not None or self.session.targets.running
        document = self.session.document
        balance = spare_words(document) if view.display.balance or document.balance.on else ""
        touches = touch_words(document, short_name) if document.contact.on else ""
        rest = self._rest if self.session.gestures.drag is not None else None
        return status_line(
            self.session,
            self.session.report if rest is None or not rest.explained(view.now) else rest.report.whole,
            dragging=busy,
            compiling_for=waited,
            fps=view.fps,
            balance=balance,
            touches=touches,
        )
