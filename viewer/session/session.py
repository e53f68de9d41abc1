"""A session: what the window shows, how it came to be, and what is under way."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from viewer.document.document import Action, Document
from viewer.document.drag_goals import Grab
from viewer.document.goal import Item
from viewer.document.opening import new_document
from viewer.document.report import GoalError, Report, measured, still_report
from viewer.document.take_changes import kept_up, only_poses
from viewer.errors import InputError, ViewerError
from viewer.session.action_log import ActionLog, Call
from viewer.session.clock import Loop
from viewer.session.escape import Escape, PoseBlend
from viewer.session.gestures import GestureManager
from viewer.session.history import State, Step, UndoHistory
from viewer.session.moving_targets import Motion, MovingTargets
from viewer.session.recorder import TakeRecorder
from viewer.session.solving import Kernels, Solvers, applied, settle
from viewer.session.stage import Stage, UnkeyedPose
from viewer.skeleton.character import Character


class Session:
    """The one place where documents are exchanged for others; they are never changed.

    They are exchanged by actions (`dispatch`), by gestures that make many changes one step (`begin` and `begin_drag`,
    until `commit` or `cancel`), by recording, which is one step, too (`record`), by undo and redo, and by playing the
    clip or take, which is no step.
    A drag is solved in `tick`, by a bounded number of iterations, so that a recorded session replays alike.
    Not for use by several threads.

    Attributes:
        stage: what is shown.
        path: the session file that it was saved to or opened from, or None.
        disk: SHA-256 of that file's bytes as they were then: a file that has changed since must not be overwritten
            unasked; None: nothing is known of it.
        revision: counts everything that changes what is to be seen.
        interrupted: how often an edit has stopped playing.
        action_log: the calls since `record_actions`; None: they are not recorded.
    """

    def __init__(self, document: Document, path: Path | None = None, disk: str | None = None) -> None:
        """Begin with a document."""
        self.path, self.disk = path, disk
        self.revision = self.interrupted = 0
        self.stage = Stage(State(document, still_report(document)))
        self.action_log: ActionLog | None = None
        self._solvers = Solvers()
        self._history = UndoHistory()
        self._gestures = GestureManager(self._solvers)
        self._escape, self._blend = Escape(), PoseBlend()
        self._recorder = TakeRecorder()
        self._targets = MovingTargets(self._solvers)
        self._kernels = Kernels()
        self._kernels_seen = self._kernels.state
        self._measured: tuple[Document, dict[str, GoalError]] | None = None

    # What is shown

    @property
    def document(self) -> Document:
        """What is shown; while a pose is blended in, the pose on its way."""
        return self.stage.document

    @property
    def report(self) -> Report | None:
        """The report of the last solve; None where the pose shown was not solved and misses a goal."""
        return self.stage.state.report

    @property
    def errors(self) -> dict[str, GoalError]:
        """By effector how far its goal is missed in the pose shown, whether it was solved or not."""
        if self._measured is None or self._measured[0] is not self.document:
            self._measured = self.document, measured(self.document)
        return self._measured[1]

    def open(self, character: Character, **options: Any) -> None:  # noqa: ANN401 - passed on as they are
        """Show a character that was just loaded; what was there is forgotten, undo included.

        Raises:
            InputError: as of `new_document`, which takes the options; what was there stays.
        """
        self.replace(new_document(character, **options))

    def replace(
        self, document: Document, path: Path | None = None, disk: str | None = None, *, solve: bool = False
    ) -> None:
        """Show another document, as saved at ``path``; what was there is forgotten, undo included.

        With ``solve`` it is solved first, as `solve` does, which is no step. A document that cannot be shown raises
        before anything is forgotten.
        """
        with self._logged("replace"):
            solved = settle(document, self._solvers, restarts=True) if solve else None
            shown = solved or State(document, still_report(document))
            self._abandon()
            self.stop()
            self.animate(())
            self._history.clear()
            self.stage.lost_pose = None
            self.path, self.disk = path, disk
            self._show(shown)

    def _show(self, state: State) -> None:
        self.stage.show(self._recorder.at_its_frame(state))
        self.revision += 1

    # Actions and their history

    def dispatch(self, action: Action) -> None:
        """Do an action, solve anew if it calls for that, and note one undo step; nothing where nothing changes.

        A gesture that is under way is committed first. A recording goes on if the action only poses, else it is ended.
        Playing stops if the pose changes.

        Raises:
            InputError: what is asked cannot be done; all is as it was.
        """
        with self._logged("dispatch", action):
            if self.recording and not only_poses(self.document, action.apply(self.document)):
                self.stop_recording()
            pose = self.document.pose
            self._conclude()
            before = self.stage.state
            after = applied(action, before, self._solvers)
            if after is not None:
                self._add(Step(action.label, before, after, saved=action.saved))
            if self.document.pose is not pose:
                self._interrupt()

    def solve(self) -> None:
        """Solve from the pose shown towards the goals, restarts allowed where they are: one undo step.

        Raises:
            InputError: settings or goals that no solver takes.
        """
        with self._logged("solve"):
            self._conclude()
            after = settle(self.document, self._solvers, restarts=True)
            self._add(Step("Solve", self.stage.state, after))

    def _add(self, step: Step) -> None:
        """Note an undo step and show where it led, edits keyed if that is on; while it records, the recording's."""
        if self.recording:
            self._recorder.note_step(step)
        else:
            document = kept_up(step.before.document, step.after.document)
            if document is not step.after.document:
                step = Step(step.label, step.before, State(document, step.after.report))
            if document is not step.before.document:
                self._history.add(step)
        self._show(step.after)

    def _conclude(self) -> None:
        """Bring to its end what is under way, a recording aside."""
        self.commit()
        after = self._blend.end()
        if after is not None:
            self._show(after)

    def _abandon(self) -> bool:
        """Take back what is under way and not a step yet; whether anything was."""
        start = self._recorder.abandon()
        under_way = self.gesture is not None
        self.cancel()
        self._conclude()
        if start is not None:
            self._show(start)
        return under_way or start is not None

    def undo(self) -> bool:
        """Back to before the last step: the very document it began with. Whether there was one.

        A gesture or recording that is under way is cancelled: that is the step.
        """
        with self._logged("undo"):
            if self._abandon():
                return True
            step = self._history.undo()
            if step is not None:
                self._leave_for(step.before)
            return step is not None

    def redo(self) -> bool:
        """Forward to after the step that was undone last. Whether there was one. A recording is ended first."""
        with self._logged("redo"):
            self.stop_recording()
            self._conclude()
            step = self._history.redo()
            if step is not None:
                self._leave_for(step.after)
            return step is not None

    def go_to(self, index: int) -> None:
        """To where so many steps are done, 0 for the start.

        A recording is ended first: what was undone before it began is then forgotten.

        Raises:
            InputError: there are not so many.
        """
        with self._logged("go_to", index):
            known = len(self._history)
            self.stop_recording()
            index = min(index, len(self._history)) if index <= known else index
            self._conclude()
            state = self._history.go_to(index)
            if state is not None:
                self._leave_for(state)

    def _leave_for(self, state: State) -> None:
        """Show a state of the history."""
        self.stop()
        self._blend.end()
        self._show(state)

    @property
    def history(self) -> tuple[str, ...]:
        """The label of each step, those that are undone included."""
        return tuple(step.label for step in self._history.steps)

    @property
    def history_index(self) -> int:
        """How many steps are done, and can be undone."""
        return self._history.index

    undo_depth = history_index

    @property
    def redo_depth(self) -> int:
        """Steps that can be done again."""
        return len(self._history) - self._history.index

    # Saving

    @property
    def modified(self) -> bool:
        """Whether a file of this session would be out of date: selecting and playing do not count, recording does."""
        return self.has_recorded or self._history.modified

    @property
    def latest_step(self) -> object:
        """The step that a file of this session would end with: another one after whatever would be lost."""
        return self._history.latest_saved

    def mark_saved(self, path: Path | None = None, disk: str | None = None) -> None:
        """Note that the document as it is was written to a file."""
        with self._logged("mark_saved"):
            self._conclude()
            self._history.mark_saved()
            self.path, self.disk = path or self.path, disk
            self.revision += 1

    def record_actions(self, on: bool = True) -> None:
        """Write down from here on what is done, or forget it; what is under way is brought to its end first."""
        if on == (self.action_log is not None):
            return
        self.stop_recording()
        self._conclude()
        self.stop()
        self.revision += 1
        if not on:
            self.action_log = None
            return
        # Begun as a replay begins: what solvers and drags remember must not make a difference.
        self._solvers.clear()
        self._escape.forget()
        self.action_log = log = ActionLog(self.stage, self._history, self._targets)
        for name, usual in (("speed", 1.0), ("record_tolerance_deg", 0.0)):
            if getattr(self, name) != usual:
                log.add(name, getattr(self, name))
        if self.motions:  # they begin anew, as they do in a replay
            running = self.animating
            self.animate(self.motions)
            if not running:
                self.pause()

    def _logged(self, name: str, *given: object) -> AbstractContextManager[Call]:
        """Write down the call of the block, if calls are recorded."""
        return nullcontext(Call(name)) if self.action_log is None else self.action_log.record(name, *given)

    # Gestures

    @property
    def gesture(self) -> str | None:
        """The label of the gesture under way, or None."""
        return None if self._gestures.gesture is None else self._gestures.gesture.label

    @property
    def dragging(self) -> bool:
        """Whether an IK drag is under way."""
        return self._gestures.drag is not None

    def begin(self, label: str) -> None:
        """Begin a gesture of `update`s: a slider, an FK drag. One that is under way is committed; playing stops."""
        with self._logged("begin", label):
            self._interrupt()
            self._conclude()
            self._gestures.begin(label, self.stage.state)
            self._recorder.note_gesture()

    def update(self, action: Action) -> None:
        """Do an action as part of the gesture.

        Raises:
            InputError: what is asked cannot be done, or no such gesture is under way.
        """
        with self._logged("update", action):
            after = self._gestures.update(action, self.stage.state)
            if after is not None:
                self._show(after)

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None = None) -> None:
        """Begin an IK drag; one gesture that is under way is committed, and playing stops.

        Args:
            items: effectors, whose goals will move, and joints (the root too), which have a goal for this drag.
            grab: a point of a bone that has a goal for this drag.

        Raises:
            InputError: nothing to drag, unknown names, goals that no solver takes; nothing is begun.
        """
        with self._logged("begin_drag", items, grab):
            self._conclude()
            self._gestures.begin_drag(items, grab, self.stage.state)
            self._interrupt()
            self._recorder.note_gesture()

    def drag_to(self, targets: Mapping[Item, tuple[ArrayLike | None, ArrayLike | None]]) -> None:
        """Take new targets of the dragged items; `tick` then moves the body.

        Args:
            targets: item -> (position (3,) metres or None: as before, rotation (4,) or None), world frame. The position
                of a grabbed joint's item is the grabbed point's.

        Raises:
            InputError: no drag is under way, an item that is not dragged, numbers that are none.
        """
        with self._logged("drag_to", targets):
            drag = self._gestures.required_drag()
            drag.aim(targets)
            self._show(State(drag.document, self.report))

    @property
    def chain(self) -> tuple[int, int]:
        """How many joints above what is dragged take part, and how many can; (0, 0) where none is dragged by IK."""
        drag = self._gestures.drag
        return (0, 0) if drag is None else (drag.chain, drag.longest_chain)

    def set_chain(self, length: int) -> None:
        """Let only so many joints above what is dragged take part, until the drag is over.

        Raises:
            InputError: no drag is under way, or what is no whole number.
        """
        with self._logged("set_chain", length):
            self._gestures.required_drag().set_chain(length)
            self.revision += 1

    def commit(self) -> None:
        """The gesture is over: what it did is one undo step, if it did anything."""
        with self._logged("commit"):
            drag = self._gestures.drag
            if drag is not None and not drag.moved:
                self._show_start()
                return
            step = self._gestures.commit(self.stage.state)
            if step is not None:
                self._escape.watch(drag, step.after.document)
                self._add(step)

    def cancel(self) -> None:
        """The gesture is over and did nothing: the very document that it began with is back, nothing is recorded."""
        with self._logged("cancel"):
            if self.gesture is not None:
                self._recorder.drop_gesture()
            self._show_start()
            self._recorder.saw(self.document)

    def _show_start(self) -> None:
        start = self._gestures.cancel()
        if start is not None:
            self._show(start)

    @property
    def escape_offered(self) -> bool:
        """Whether the last drag was left in a trap that a solve with restarts gets out of; looked for when asked."""
        with self._logged("escape_offered") as call:
            searched = self._escape.searched
            offered = self.gesture is None and self._escape.is_offered(self.document)
            call.idle = self._escape.searched == searched
            return offered

    def accept_escape(self) -> None:
        """Take the way out: one undo step, blended in by `tick`. Nothing where none is offered."""
        with self._logged("accept_escape"):
            if not self.escape_offered:
                return
            start = self.document.pose
            step = self._escape.step(self.stage.state)
            self._add(step)
            self._blend.begin(start, self.stage.state)
            self._show(State(replace(step.after.document, pose=start), self.report))

    # Playback

    @property
    def playing(self) -> int:
        """1 forwards, -1 backwards, 0: not playing."""
        return self.stage.clock.direction

    @property
    def loop(self) -> Loop:
        """What happens at the ends of the clip."""
        return self.stage.clock.loop

    @loop.setter
    def loop(self, value: Loop) -> None:
        self.stage.clock.loop = value

    @property
    def speed(self) -> float:
        """1: the clip's own."""
        return self.stage.clock.speed

    @speed.setter
    def speed(self, value: float) -> None:
        with self._logged("speed", value):
            self.stage.clock.speed = value
            self.stage.play(self.playing)
            self.revision += 1

    @property
    def left(self) -> UnkeyedPose | None:
        """The last pose that was lost because another frame was shown; None: none was."""
        return self.stage.lost_pose

    def play(self, direction: int = 1) -> None:
        """Play clip or take from the frame shown, forwards (1) or backwards (-1); at its end it starts over.

        It plays the range; from outside it, all of it. A recording is ended first.

        Raises:
            InputError: there is neither clip nor take, or another direction.
        """
        with self._logged("play", direction):
            self.stop_recording()
            if direction not in (1, -1):
                raise InputError(f"direction: expected 1 or -1, found {direction}")
            self._conclude()
            self.seek(self.stage.first_frame(direction))
            self.stage.play(direction)

    def stop(self) -> None:
        """Stop playing, at the frame shown."""
        with self._logged("stop"):
            self.revision += self.stage.clock.stop()

    def _interrupt(self) -> None:
        """An edit stops playing."""
        self.interrupted += self.playing != 0
        self.stop()

    def seek(self, frame: int) -> None:
        """Show a frame of clip or take, as it is: limits do not bind, holds are set anew, pins stay. No undo step.

        A recording is ended first.

        Raises:
            InputError: there is neither clip nor take, or no such frame.
        """
        with self._logged("seek", frame):
            self.stop_recording()
            self._conclude()
            self._show(self.stage.at_frame(frame))
            self.stage.play(self.playing)

    # Recording

    @property
    def recording(self) -> bool:
        """Whether a recording is under way."""
        return self._recorder.recording

    @property
    def has_recorded(self) -> bool:
        """Whether a recording is under way in which something was moved."""
        return self._recorder.has_samples

    @property
    def recorded_seconds(self) -> float:
        """How long it has run; 0 where none does."""
        return self._recorder.seconds

    @property
    def last_recorded(self) -> float | None:
        """How long the recording was that ended last, seconds; None if nothing was recorded."""
        return self._recorder.last_seconds

    @property
    def run_out(self) -> int:
        """How many recordings have ended by themselves, at the end of a clip."""
        return self._recorder.run_out

    @property
    def record_tolerance_deg(self) -> float:
        """Degrees by which simplifying a recording may turn any joint otherwise; 0: every frame stays a key."""
        return self._recorder.tolerance_deg

    @record_tolerance_deg.setter
    def record_tolerance_deg(self, value: float) -> None:
        with self._logged("record_tolerance_deg", value):
            self._recorder.tolerance_deg = value

    def record(self) -> None:
        """Record from the frame shown on, until `stop_recording` or the end of the clip; a gesture under way goes on.

        At the end of the clip the recording ends, and a gesture under way with it.

        Raises:
            InputError: the clip is at its end.
        """
        with self._logged("record"):
            if self.recording:
                return
            self.stop()
            gesture, shown = self._gestures.gesture, self.stage.state
            self._recorder.begin(shown if gesture is None else gesture.start, shown.document)
            self._show(shown)

    def stop_recording(self) -> bool:
        """End the recording: one undo step, if anything was recorded; whether it was. Nothing if none is under way."""
        with self._logged("stop_recording"):
            if not self.recording:
                return False
            self._conclude()
            state, step = self._recorder.end(self.document)
            if step is not None:
                self._history.add(step)
            self._show(state)
            return self.last_recorded is not None

    # Targets that move by themselves

    @property
    def motions(self) -> tuple[Motion, ...]:
        """The targets that move, or could if they were not paused."""
        return self._targets.motions

    @property
    def animating(self) -> bool:
        """Whether targets move."""
        return self._targets.running

    def animate(self, motions: tuple[Motion, ...]) -> None:
        """Let targets move from now on, from the beginnings of their ways; with none all stay.

        Raises:
            InputError: an effector that is not there.
        """
        with self._logged("animate", motions):
            self._targets.start(motions, self.document)
            self.revision += 1

    def pause(self) -> None:
        """Let the targets stay where they are."""
        with self._logged("pause"):
            self._targets.run(False)
            self.revision += 1

    def resume(self) -> None:
        """Let them go on."""
        with self._logged("resume"):
            self._targets.run(True)
            self.revision += 1

    # Time

    def tick(self, now: float) -> bool:
        """Do what is due: a bounded number of a drag's iterations, the clip's next frame, a step of a blend.

        Args:
            now: seconds, of any clock that does not go back.

        Returns:
            Whether anything changed, or will at the next tick: a session at rest need not be ticked.
        """
        with self._logged("tick", now) as call:
            busy = self._tick_recording(now) if self.recording else self._tick_body(now)
            busy = self._tick_targets(now) or busy
            call.idle = not busy and not self.animating
            return busy

    def _tick_body(self, now: float) -> bool:
        before = self.revision
        for part in (self.stage.tick, self._blend.at, self._gestures.step):
            state = part(now)
            if state is not None:
                self._show(state)
        if self._kernels.state != self._kernels_seen:
            self._kernels_seen = self._kernels.state
            self.revision += 1
        return self.revision != before or self.playing != 0

    def _tick_recording(self, now: float) -> bool:
        recorder, gesture = self._recorder, self._gestures.gesture
        self._show(recorder.before_tick(now, self.speed, self.stage.state, gesture))
        self._tick_body(now)
        after = recorder.after_tick(self.stage.state, in_gesture=gesture is not None)
        if after is not None:
            self._show(after)
        recorder.saw(self.document)
        if recorder.at_end:
            self._conclude()
            recorder.saw(self.document)  # a release moves the body on: the recording ends with what was seen last
            self.stop_recording()
            recorder.run_out += 1
        return True

    def _tick_targets(self, now: float) -> bool:
        targets = self._targets
        if not targets.running or self.gesture is not None or self._blend.under_way or self.playing:
            targets.wait()
            return False
        try:
            state = targets.step(now, self.document)
        except ViewerError:
            self.pause()  # the same error would be raised at every tick
            raise
        if state is not None:
            self._show(state)
        return state is not None or targets.easing

    @property
    def kernels(self) -> str:
        """Whether the kernels are "compiling" (numpy serves meanwhile) or "ready"; "numpy": nothing is compiled."""
        return self._kernels.state

    def start_compiling(self, then: Callable[[], None] | None = None) -> None:
        """Get the compiled kernels ready in another process; solvers on "auto" switch to them by themselves.

        Args:
            then: called, in another thread, when that is done or has failed: to wake a loop that sleeps.
        """
        self._kernels.start(then or (lambda: None))
        self._kernels_seen = self._kernels.state
        self.revision += 1
