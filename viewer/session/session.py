"""A session: the figures that are shown, and every call that replaces a document by another one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Literal

from viewer.document import Action, Document, GoalError, Grab, Item, Report, Take, still_report
from viewer.document.key_editing import only_poses, with_edits_keyed
from viewer.document.posed_goals import yielding_holds
from viewer.document.solve_report import current_errors
from viewer.errors import plural, quote
from viewer.session.action_log import ActionLog
from viewer.session.figure_edits import FigureEdits, Links
from viewer.session.figures import Arrangement, Stage, StageFigure, State, name_of
from viewer.session.history import Escape, GestureManager, PoseBlend, Step, UndoHistory
from viewer.session.ik_drag import MovingTargets
from viewer.session.long_work import LayerWorker
from viewer.session.recorder import TakeRecorder
from viewer.session.solving import Kernels, Solvers, applied, settle

Event = Literal["interrupted", "recording ended"]
"""Events that the user did not ask for: an edit stopped playback, or a recording reached the end of its clip."""


class Session:
    """Replaces the documents shown: by actions, gestures, recordings, undo and playback. Documents never change.

    There are one or more figures, each with a document; actions and gestures change that of the active one.

    An action is one undo step (`dispatch`), and so are the changes of one gesture (`begin` or `begin_drag`, until
    `commit` or `cancel`) and of one recording (`record`, until `stop_recording`). Playing a clip is no step. `tick`
    solves an IK drag by a bounded number of iterations, so that a replay of recorded calls gives the same result.

    Changes of one member alone are calls of that member: of `gestures` while one is under way, of `targets`.
    Not thread-safe.

    ``path`` is the session file that was opened or saved last, ``file_digest`` SHA-256 of its bytes at that time:
    another digest on disk means that another program has changed the file. ``action_log`` has the calls since
    `record_actions`; None: they are not recorded. ``events`` are notices for the user; the reader empties them.
    """

    def __init__(
        self,
        document: Document,
        path: Path | None = None,
        file_digest: str | None = None,
        figures: Arrangement | None = None,
    ) -> None:
        """Show a document, or several figures, of which ``document`` is the active one's."""
        self.path, self.file_digest = path, file_digest
        self.events = set[Event]()
        self.action_log: ActionLog | None = None
        self._solvers, self.stage = Solvers(), Stage(State.at_rest(document))
        self._calls = self.stage.calls
        self.recorder = TakeRecorder(self._calls)
        self.clock, self._show = self.stage.clock, self.stage.show
        self.history = UndoHistory()
        self.gestures = GestureManager(self._solvers, self.stage)
        self.targets = MovingTargets(self._solvers, self.stage)
        self.kernels = Kernels(self.stage)
        self.layers = LayerWorker(self.stage)
        self.escape, self._blend = Escape(self.gestures, self.stage), PoseBlend()
        Links(self._solvers, self.stage, lambda: self.gestures.open_step is not None)
        self.figures = FigureEdits(
            self.stage,
            self.history,
            finish=self._finish,
            interrupt=self._interrupt,
            leave=self._leave_figure,
        )
        if figures is not None:
            self.stage.arrange(figures)

    def __repr__(self) -> str:
        return f"<Session {quote(name_of(self.document))}: {plural(self.history.index, 'step')} done>"

    # The document shown

    @property
    def document(self) -> Document:
        """The document shown; while a pose is blended in, with the blended pose."""
        return self.stage.state.document

    @property
    def report(self) -> Report | None:
        """The report of the last solve; None if the pose shown was not solved and misses a goal."""
        return self.stage.state.report

    @property
    def errors(self) -> Mapping[str, GoalError]:
        """By goal id, how far each goal is missed in the pose shown, whether it was solved or not."""
        return current_errors(self.document)

    @property
    def yields(self) -> frozenset[str]:
        """Ids of the holds that give way to what is dragged."""
        document, report = self.stage.state.document, self.stage.state.report
        return yielding_holds(document) if report is None else report.yielding_holds

    def replace(
        self,
        document: Document,
        path: Path | None = None,
        file_digest: str | None = None,
        *,
        solve: bool = False,
        figures: Arrangement | None = None,
    ) -> None:
        """Show another document in place of all figures, as saved at ``path``, and clear the undo history.

        With ``solve`` it is solved first, as `solve` does. If a document cannot be shown, nothing changes.
        ``figures``: all, if there are several; the document is that of the active one.
        """
        with self._calls("replace"):
            solved = settle(document, self._solvers, restarts=True) if solve else None
            shown = solved or State.at_rest(document)
            self._abandon()
            self.stop()
            self.targets.animate(())
            self.history.clear()
            self.stage.lost_pose = None
            self.path, self.file_digest = path, file_digest
            if figures is not None:
                self.stage.arrange(figures)
            else:
                self.stage.arrange(Arrangement((StageFigure(name_of(document), shown),)))
            self._show(shown)

    def show_document(self, document: Document) -> None:
        """Show a document without adding an undo step; playback stops."""
        self._show_from_history(State.at_rest(document))

    def show_figures(self, figures: Arrangement, steps: int) -> None:
        """Show figures without adding an undo step; playback stops.

        ``steps`` count as redone, or undone if below 0; their own documents are not shown.
        """
        self._finish()
        self.history.go_to(self.history.index + steps)
        self._arrange(figures)

    def add_document(self, label: str, document: Document, *, saved: bool) -> None:
        """Show a document as the result of one undo step, or as part of the gesture under way."""
        after = State.at_rest(document)
        gesture = self.gestures.open_step
        if gesture is None:
            self._conclude()
            self._add(Step(label, self.stage.state, after, saved=saved))
        else:
            gesture.saved |= saved
            self._show(after)

    # Actions and history

    def dispatch(self, action: Action, take: Take | None = None) -> None:
        """Do an action, solve if `Action.solves`, and add one undo step; no step if nothing changes.

        Commits a gesture under way, and ends a recording unless the action only poses. Playback stops if the pose
        changes.

        ``take`` is the action's result for the same motion, if a `LongWork` has made it already; the action is then not
        done again.
        """
        with self._calls("dispatch", action):
            if self.recorder.recording and not only_poses(self.document, action.apply(self.document)):
                self.stop_recording()
            pose = self.document.pose
            self._conclude()
            before = self.stage.state
            after = applied(action, before, self._solvers, take)
            if after is not None:
                self._add(Step(action.label, before, after, saved=action.saved))
            if self.document.pose is not pose:
                self._interrupt()

    def solve(self) -> None:
        """Solve from the pose shown, with restarts if the settings allow them: one undo step."""
        with self._calls("solve"):
            self._conclude()
            after = settle(self.document, self._solvers, restarts=True)
            self._add(Step("Solve", self.stage.state, after))

    def _add(self, step: Step) -> None:
        """Show the result of a step, and add it to the history, or to the recording under way."""
        if self.recorder.recording:
            self.recorder.note_step(step)
        else:
            document = with_edits_keyed(step.before.document, step.after.document)
            if document is not step.after.document:
                solved = document.pose.is_near(step.after.document.pose)
                report = step.after.report if solved else still_report(document)
                step = Step(step.label, step.before, State(document, report))
            if document is not step.before.document:
                self._remember(step)
        self._show(step.after)

    def _remember(self, step: Step) -> None:
        """Add a step of the active figure to the history."""
        stage = self.stage
        self.history.add(step if not stage.several else replace(step, figure=stage.figure.name))

    def _conclude(self) -> None:
        """Finish the gesture and the blend under way; a recording continues."""
        self.commit()
        after = self._blend.end()
        if after is not None:
            self._show(after)

    def _abandon(self) -> bool:
        """Cancel the gesture and the recording under way; whether there was one."""
        start, self.stage.adjust = self.recorder.abandon(), None
        under_way = self.gestures.open_step is not None
        self.cancel()
        self._conclude()
        if start is not None:
            self._show(start)
        return under_way or start is not None

    def undo(self) -> bool:
        """Undo the last step, or cancel the gesture or recording under way; whether there was one."""
        with self._calls("undo"):
            if self._abandon():
                return True
            step = self.history.undo()
            if step is not None:
                self._show_step(step, back=True)
            return step is not None

    def redo(self) -> bool:
        """Redo the step that was undone last; whether there was one. Ends a recording first."""
        with self._calls("redo"):
            self._finish()
            step = self.history.redo()
            if step is not None:
                self._show_step(step)
            return step is not None

    def go_to(self, index: int) -> None:
        """Undo or redo until ``index`` steps are done, 0 for the start.

        Ends a recording first, which drops the steps that were undone before it began.
        """
        with self._calls("go_to", index):
            known = len(self.history)
            self.stop_recording()
            index = min(index, len(self.history)) if index <= known else index
            self._conclude()
            back = index < self.history.index
            for step in self.history.go_to(index):
                self._show_step(step, back=back)

    def _show_step(self, step: Step, *, back: bool = False) -> None:
        """Show what was before (back) or after a step; its figure becomes active."""
        if step.arranged is not None:
            before, after = ({one.name: one.links for one in side.figures} for side in step.arranged)
            kept = [name for name in before if before[name] == after.get(name, before[name])]
            self._arrange(step.arranged[0 if back else 1], kept)
            return
        if step.figure and step.figure != self.stage.figure.name:
            self._leave_figure()
            self.stage.activate(self.stage.index(step.figure))
        self._show_from_history(step.before if back else step.after)

    def _arrange(self, figures: Arrangement, kept: Collection[str] = ()) -> None:
        """Show other figures, as of the history; ``kept`` names those whose links stay."""
        self.stop()
        self._blend.end()
        self._leave_figure()
        self.stage.arrange(figures, kept)

    def _leave_figure(self) -> None:
        """Drop the state that belongs to the active figure alone, as another becomes active."""
        self.targets.animate(())
        self.escape.forget()
        self.stage.lost_pose = None

    def _finish(self) -> None:
        self.stop_recording()
        self._conclude()

    def _show_from_history(self, state: State) -> None:
        self.stop()
        self._blend.end()
        self._show(state)

    # Saving

    @property
    def modified(self) -> bool:
        """Whether there are unsaved changes: recorded motion counts, selecting and playing do not."""
        recording = self.recorder.recording
        return self.history.modified or (recording is not None and recording.has_samples)

    def mark_saved(self, path: Path | None = None, file_digest: str | None = None) -> None:
        """Note that the document was written to a file."""
        with self._calls("mark_saved"):
            self._conclude()
            self.history.mark_saved()
            self.path, self.file_digest = path or self.path, file_digest
            self.stage.changed()

    def record_actions(self, on: bool = True) -> None:
        """Start recording the session's calls, or stop and drop them; finishes what is under way first."""
        if on == (self.action_log is not None):
            return
        self._finish()
        self.stop()
        self.stage.changed()
        self.action_log = self._calls.log = None
        if not on:
            return
        # A replay starts with nothing cached: cached solvers and drags must not make a difference.
        self._solvers.clear()
        self.escape.forget()
        self.action_log = self._calls.log = ActionLog(self.stage, self.history, self.targets, self.recorder)
        self.targets.restart()

    # Gestures

    def begin(self, label: str) -> None:
        """Begin a gesture of `update`s, such as a slider or an FK drag; commits the one under way, stops playback."""
        with self._calls("begin", label):
            self._interrupt()
            self._conclude()
            self.gestures.begin(label)
            if self.recorder.recording is not None:
                self.recorder.recording.mark()

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None = None, opposite: Grab | None = None) -> None:
        """Begin an IK drag; commits the gesture under way, stops playback.

        ``items`` are effectors, whose goals move, and joints (the root too). Joints, the point of a bone ``grab`` and
        its opposite on the other side get goals for this drag.
        """
        with self._calls("begin_drag", items, grab, *(() if opposite is None else (opposite,))):
            self._conclude()
            self.gestures.begin_drag(items, grab, opposite)
            self._interrupt()
            if self.recorder.recording is not None:
                self.recorder.recording.mark()

    def commit(self) -> None:
        """End the gesture under way; its changes are one undo step, if there are any."""
        with self._calls("commit"):
            self.figures.end_drag()
            drag = self.gestures.drag
            if drag is not None and not drag.moved:
                self.gestures.cancel()
                return
            step = self.gestures.commit()
            if step is not None:
                self.escape.watch(drag, step.after.document)
                self._add(step)

    def cancel(self) -> None:
        """End the gesture under way and restore the document that it began with; no undo step."""
        with self._calls("cancel"):
            self.figures.cancel_drag()
            if self.gestures.open_step is not None and self.recorder.recording is not None:
                self.recorder.recording.drop()
            self.gestures.cancel()
            self.recorder.saw(self.document)

    def accept_escape(self) -> None:
        """Take the pose that `escape` offers, if any: one undo step, blended in by `tick`."""
        with self._calls("accept_escape"):
            if not self.escape.offered:
                return
            start = self.document.pose
            step = self.escape.step()
            self._add(step)
            self._blend.begin(start, self.stage.state)
            self._show(State(replace(step.after.document, pose=start), self.report))

    # Playback

    def set_speed(self, factor: float) -> None:
        """Play ``factor`` times as fast as the clip's own rate."""
        with self._calls("speed", factor):
            self.clock.speed = factor
            self.stage.play(self.clock.direction)
            self.stage.changed()

    def play(self, direction: int = 1) -> None:
        """Play the clip or take from the frame shown, forwards (1) or backwards (-1); from its end, start over.

        Plays the range; from a frame outside it, all of it. Ends a recording first.
        """
        with self._calls("play", direction):
            self._finish()
            self._show(self.stage.lead(self.stage.first_frame(direction)))
            self.stage.play(direction)

    def stop(self) -> None:
        """Stop playback at the frame shown."""
        with self._calls("stop"):
            self.stage.changed(self.clock.stop())

    def _interrupt(self) -> None:
        if self.clock.playing:
            self.events.add("interrupted")
        self.stop()

    def seek(self, frame: int) -> None:
        """Show a frame of the clip or take: limits do not bind, holds are set again, pins stay. No undo step.

        Ends a recording first.
        """
        with self._calls("seek", frame):
            self._finish()
            self._show(self.stage.at_frame(frame))
            self.stage.play(self.clock.direction)

    # Recording

    def record(self) -> None:
        """Record from the frame shown until `stop_recording` or the end of the clip; a gesture under way continues.

        Raises:
            InputError: the clip is at its end.
        """
        with self._calls("record"):
            if self.recorder.recording:
                return
            self.stop()
            gesture, shown = self.gestures.open_step, self.stage.state
            self.recorder.begin(shown if gesture is None else gesture.start, shown.document)
            self.stage.adjust = self.recorder.at_its_frame
            self._show(shown)

    def stop_recording(self) -> bool:
        """End the recording under way: one undo step, if anything was recorded; whether anything was."""
        with self._calls("stop_recording"):
            if not self.recorder.recording:
                return False
            self._conclude()
            state, step = self.recorder.end(self.document)
            self.stage.adjust = None
            if step is not None:
                self._remember(step)
            self._show(state)
            return self.recorder.last_seconds is not None

    # Time

    def tick(self, now: float) -> bool:
        """Do what is due: a bounded number of a drag's iterations, the next frame of the clip, a step of a blend.

        Args:
            now: seconds, of any clock that does not go back.

        Returns:
            Whether anything changed, or will at the next tick; if not, ticks may stop until the next call or event.
        """
        with self._calls("tick", now) as call:
            busy = self._tick_recording(now) if self.recorder.recording else self._tick_body(now)
            busy = self._tick_targets(now) or busy
            call.idle = not busy and not self.targets.running
            return busy

    def _tick_body(self, now: float) -> bool:
        before = self.stage.revision
        for part in (self.stage.tick, self._blend.at, self.gestures.step):
            state = part(now)
            if state is not None:
                self._show(state)
        self.kernels.tick()
        if self.gestures.open_step is None and not self.recorder.recording:
            state = self.layers.tick()
            if state is not None:
                self._show(state)
        return self.stage.revision != before or self.clock.playing or self.layers.missing > 0

    def _tick_recording(self, now: float) -> bool:
        recorder, gesture = self.recorder, self.gestures.open_step
        self._show(recorder.before_tick(now, self.clock.speed, self.stage.state, gesture))
        self._tick_body(now)
        after = recorder.after_tick(self.stage.state, in_gesture=gesture is not None)
        if after is not None:
            self._show(after)
        recorder.saw(self.document)
        if recorder.recording is not None and recorder.recording.at_end:
            self._conclude()
            recorder.saw(self.document)  # releasing a drag moves the body on: record the pose seen last
            self.stop_recording()
            self.events.add("recording ended")
        return True

    def _tick_targets(self, now: float) -> bool:
        targets = self.targets
        if not targets.running:
            return False
        if self.gestures.open_step or self._blend.under_way or self.clock.playing:
            targets.wait()
            return False
        state = targets.step(now)
        if state is not None:
            self._show(state)
        return state is not None or targets.easing
