"""Auto-key and recording in a session: how a recording begins, and what ends it."""

from __future__ import annotations

from dataclasses import replace

from viewer.document.actions.base import Action
from viewer.document.actions.settings import at_frame
from viewer.document.checks import as_number
from viewer.document.document import Document
from viewer.document.drag_goals import Grab
from viewer.document.effector_transform import still_report
from viewer.document.goal import Item
from viewer.document.take.changing import kept_up, only_poses
from viewer.document.take.evaluate import motion_of
from viewer.document.take.pins import resolved
from viewer.errors import InputError
from viewer.session.history import State
from viewer.session.recorder import Pace, Recorder, followed
from viewer.session.transport import Transport


class Recording(Transport):
    """Recording and auto-key.

    While it records, ticks advance the frame at the take's rate times `speed`; what moves the body by hand is sampled,
    and is no undo step of its own: the recording as a whole is one.

    Attributes:
        run_out: how many recordings have ended by themselves, at the end of a clip.
    """

    def __init__(self, state: State) -> None:
        """Begin at rest."""
        super().__init__(state)
        self._recorder: Recorder | None = None
        self._pace, self.run_out = Pace(), 0
        self._kept: float | None = None
        self._tolerance = 0.0
        self._sampled: Document | None = None
        self._meanwhile: list[tuple[str, bool]] = []

    @property
    def recording(self) -> bool:
        """Whether a recording is under way."""
        return self._recorder is not None

    @property
    def has_recorded(self) -> bool:
        """Whether a recording is under way in which something was moved."""
        return self._recorder is not None and self._recorder.has_samples

    @property
    def recorded_seconds(self) -> float:
        """How long it has run; 0 where none does."""
        return 0.0 if self._recorder is None else self._recorder.seconds

    @property
    def last_recorded(self) -> float | None:
        """How long the recording was that ended last, seconds; None if nothing was recorded."""
        return self._kept

    @property
    def record_tolerance_deg(self) -> float:
        """Degrees by which simplifying a recording may turn any joint otherwise; 0: every frame stays a key."""
        return self._tolerance

    @record_tolerance_deg.setter
    def record_tolerance_deg(self, value: float) -> None:
        self._tolerance = as_number(value, "recording tolerance", least=0.0, most=180.0)

    def record(self) -> None:
        """Record from the frame shown on, until `stop_recording` or the end of the clip; a gesture under way goes on.

        At the end of the clip the recording ends, and a gesture under way with it.

        Raises:
            InputError: the clip is at its end.
        """
        if self._recorder is not None:
            return
        self.stop()
        recorder = Recorder(self._state if self._gesture is None else self._gesture.start)
        if recorder.most == 0:
            raise InputError("a clip of one frame leaves no time to record")
        if recorder.frame >= recorder.most:
            raise InputError(f"there is nothing to record on after frame {recorder.most}: go back first")
        self._recorder, self._sampled, self._meanwhile = recorder, self.document, []
        self._pace = Pace()
        self._show(self._state)

    def stop_recording(self) -> bool:
        """End the recording: one undo step, if anything was recorded; whether it was. Nothing if none is under way."""
        if self._recorder is None:
            return False
        super()._conclude()
        if self._edited and self._sampled is not None:
            self._recorder.note(self.document, self._sampled.pose)
        recorder, self._recorder, self._kept = self._recorder, None, None
        take = recorder.finished(self._tolerance)
        bare = replace(self.document, take=recorder.start.document.take)
        if take is None:
            self._leave_off(recorder, bare)
            return False
        motion = motion_of(bare)._replace(take=take)
        after = at_frame(replace(bare, take=resolved(bare, motion, take)), recorder.frame)
        super()._add(f"Record {recorder.seconds:.1f} s", State(after, still_report(after)), before=recorder.start)
        self._kept = recorder.seconds
        return True

    def _leave_off(self, recorder: Recorder, document: Document) -> None:
        """Nothing was recorded: one step of what else was done meanwhile, if anything was."""
        after = replace(document, frame=min(recorder.frame, max(document.frames - 1, 0)))
        if recorder.plays and after.frame != recorder.frame:
            after = at_frame(after, after.frame)
        state, done = State(after, still_report(after)), self._meanwhile
        if not done:
            self._show(state)
            return
        labels = dict(done)
        label = next(iter(labels)) if len(labels) == 1 else "Record"
        super()._add(label, state, before=recorder.start, saved=any(labels.values()))

    @property
    def _edited(self) -> bool:
        """Whether the pose was changed since the last tick."""
        return self.document.pose is not (self._sampled or self.document).pose

    def tick(self, now: float) -> bool:
        """See `Transport.tick`; a recording goes on."""
        recorder = self._recorder
        if recorder is None:
            return super().tick(now)
        own = self._pace.at(now, self.speed)
        due, still = recorder.due(own), (self._sampled or self.document).pose
        follows = recorder.plays and (self._gesture is not None or self._edited)
        if follows:
            self._show(followed(self._state, self._gesture, recorder, due))
        super().tick(now)
        moving = self._gesture is not None or self._edited
        if recorder.advance(own, self.document, moving=moving, still=still, at=due if follows else None):
            if moving or not recorder.plays:
                self._show(self._state)
            else:
                document = at_frame(replace(self.document, take=recorder.take), recorder.frame)
                self._show(State(document, still_report(document)))
        self._sampled = self.document
        if recorder.frame >= recorder.most:
            super()._conclude()
            self._sampled = self.document  # a release moves the body on: what was seen last is what is kept
            self.stop_recording()
            self.run_out += 1
        return True

    def _show(self, state: State) -> None:
        """While it records, whatever is shown is at the recording's frame."""
        recorder, document = self._recorder, state.document
        if recorder is not None and (document.frame != recorder.frame or document.take is not recorder.take):
            state = State(replace(document, frame=recorder.frame, take=recorder.take), state.report)
        super()._show(state)

    def _add(self, label: str, after: State, *, before: State | None = None, saved: bool = True) -> None:
        if self._recorder is not None:
            self._meanwhile.append((label, saved))
            self._show(after)
            return
        start = self._state if before is None else before
        document = kept_up(start.document, after.document)
        if document is not after.document:
            after, saved = State(document, after.report), True
        super()._add(label, after, before=start, saved=saved)

    def _abandon(self) -> bool:
        recorder, self._recorder = self._recorder, None
        under_way = super()._abandon()
        if recorder is None:
            return under_way
        self._show(recorder.start)
        return True

    def cancel(self) -> None:
        """See `Gestures.cancel`; what was recorded of the gesture is forgotten."""
        if self._recorder is not None and self._gesture is not None:
            self._recorder.drop()
        super().cancel()
        self._sampled = self.document

    def begin(self, label: str) -> None:
        """See `Transport.begin`."""
        super().begin(label)
        self._mark()

    def begin_drag(self, items: tuple[Item, ...], grab: Grab | None = None) -> None:
        """See `Transport.begin_drag`."""
        super().begin_drag(items, grab)
        self._mark()

    def _mark(self) -> None:
        if self._recorder is not None:
            self._recorder.mark()


class EndsRecording(Recording):
    """A recording that is ended by what cannot go on with it."""

    def dispatch(self, action: Action) -> None:
        """See `Stepping.dispatch`; a recording goes on if the action only poses, else it is ended first."""
        if self._recorder is not None and not only_poses(self.document, action.apply(self.document)):
            self.stop_recording()
        super().dispatch(action)

    def redo(self) -> bool:
        """See `Stepping.redo`; a recording is ended first."""
        self.stop_recording()
        return super().redo()

    def go_to(self, index: int) -> None:
        """See `Stepping.go_to`; a recording is ended first: what was undone before it began is then forgotten."""
        known = len(self._history)
        self.stop_recording()
        super().go_to(min(index, len(self._history)) if index <= known else index)

    def play(self, direction: int = 1) -> None:
        """See `Transport.play`; a recording is ended first."""
        self.stop_recording()
        super().play(direction)

    def seek(self, frame: int) -> None:
        """See `Transport.seek`; a recording is ended first."""
        self.stop_recording()
        super().seek(frame)
