"""Recording: the frame that the clock has come to, the motion beneath it, and samples of the body that is moved."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document.actions.settings import at_frame
from viewer.document.checks import as_number
from viewer.document.default_goals import carried
from viewer.document.document import Document
from viewer.document.evaluation import frame_pose, motion_of, on_own_bones
from viewer.document.key_editing import carried_pose, different, with_joints
from viewer.document.pins import current_pins, resolved
from viewer.document.report import still_report
from viewer.document.simplify import Recorded, Run, recorded, simplified
from viewer.document.take import MOST_FRAMES, Take
from viewer.document.take_changes import take_of
from viewer.errors import InputError
from viewer.session.calls import CallRecorder
from viewer.session.gestures import Gesture
from viewer.session.history import State, Step
from viewer.skeleton.pose import Pose
from viewer.skeleton.relaxed import blend_poses

FOLDED = 1.0
"""Seconds of samples that are not in the take yet, at most: what is lost by a crash besides what is being written."""
SIMPLIFIED_M = 2e-3
"""Metres that simplifying a recording may move a joint by against its parent."""
_GAP = 0.1
"""Seconds from tick to tick beyond which the body is taken to have stood still first, and moved last."""


class TakeRecorder:
    """Begins and ends recordings, and makes one undo step of each.

    While it records, ticks advance the frame at the take's rate times the speed; movements by hand are sampled, and are
    no undo steps of their own.

    Attributes:
        run_out: how many recordings have ended by themselves, at the end of a clip.
        last_seconds: how long the recording was that ended last; None if nothing was recorded.
    """

    def __init__(self, calls: CallRecorder) -> None:
        """Start without a recording; ``calls`` records changes of the tolerance."""
        self._calls = calls
        self.run_out = 0
        self.last_seconds: float | None = None
        self._tolerance_deg = 0.0
        self._recording: Recording | None = None
        self._pace = _Pace()
        self._seen: Document | None = None
        self._now = 0.0
        self._due: int | None = None
        self._still: Pose | None = None
        self._steps: list[tuple[str, bool]] = []

    @property
    def tolerance_deg(self) -> float:
        """Degrees by which simplifying a recording may turn any joint otherwise; 0: every frame stays a key."""
        return self._tolerance_deg

    @tolerance_deg.setter
    def tolerance_deg(self, value: float) -> None:
        with self._calls("record_tolerance_deg", value):
            self._tolerance_deg = as_number(value, "recording tolerance", least=0.0, most=180.0)

    @property
    def recording(self) -> bool:
        """Whether a recording is under way."""
        return self._recording is not None

    @property
    def has_samples(self) -> bool:
        """Whether a recording is under way in which something was moved."""
        return self._recording is not None and self._recording.has_samples

    @property
    def seconds(self) -> float:
        """How long it has run; 0 where none does."""
        return 0.0 if self._recording is None else self._recording.seconds

    @property
    def at_end(self) -> bool:
        """Whether the recording under way has come to the end of the clip."""
        return self._recording is not None and self._recording.frame >= self._recording.most

    def begin(self, start: State, shown: Document) -> None:
        """Record from a state on.

        Args:
            start: what undoing the recording goes back to.
            shown: the document as it is, in the middle of a gesture perhaps.

        Raises:
            InputError: the clip is at its end.
        """
        recording = Recording(start)
        if recording.most == 0:
            raise InputError("a clip of one frame leaves no time to record")
        if recording.frame >= recording.most:
            raise InputError(f"there is nothing to record on after frame {recording.most}: go back first")
        self._recording, self._seen, self._steps, self._pace = recording, shown, [], _Pace()

    def at_its_frame(self, state: State) -> State:
        """A state as it is shown while it records: at the frame and with the take of the recording."""
        recording, document = self._recording, state.document
        if recording is None or (document.frame == recording.frame and document.take is recording.take):
            return state
        return State(replace(document, frame=recording.frame, take=recording.take), state.report)

    def note_step(self, step: Step) -> None:
        """Note a step that was done while it records: it becomes part of the recording's."""
        self._steps.append((step.label, step.saved))

    def note_gesture(self) -> None:
        """A gesture begins: `drop_gesture` forgets what is recorded from here on."""
        if self._recording is not None:
            self._recording.mark()

    def drop_gesture(self) -> None:
        """The gesture was cancelled."""
        if self._recording is not None:
            self._recording.drop()

    def saw(self, document: Document) -> None:
        """Note the document shown: one with another pose later on was edited meanwhile."""
        self._seen = document

    def _is_edited(self, document: Document) -> bool:
        return self._seen is not None and document.pose is not self._seen.pose

    def before_tick(self, now: float, speed: float, state: State, gesture: Gesture | None) -> State:
        """The state with the motion beneath it gone on to the frame that is due; see `_followed`.

        Args:
            now: seconds, of any clock that does not go back.
            speed: 1 is the clock's own.
            state: what is shown.
            gesture: the one under way.
        """
        recording = self._recording
        assert recording is not None
        self._now = self._pace.at(now, speed)
        self._still = (self._seen or state.document).pose
        due = recording.due(self._now)
        follows = recording.plays and (gesture is not None or self._is_edited(state.document))
        self._due = due if follows else None
        return _followed(state, gesture, recording, due) if follows else state

    def after_tick(self, state: State, *, in_gesture: bool) -> State | None:
        """Take the samples that are due; the state to show if it is at another frame now."""
        recording, document = self._recording, state.document
        assert recording is not None
        assert self._still is not None
        moving = in_gesture or self._is_edited(document)
        advanced = recording.advance(self._now, document, moving=moving, still=self._still, at=self._due)
        if not advanced or moving or not recording.plays:
            return state if advanced else None
        played = at_frame(replace(document, take=recording.take), recording.frame)
        return State(played, still_report(played))

    def abandon(self) -> State | None:
        """Forget the recording; the state that it began with, None where none is under way."""
        recording, self._recording = self._recording, None
        return None if recording is None else recording.start

    def end(self, document: Document) -> tuple[State, Step | None]:
        """End the recording under way: the state to show, and the undo step, if anything was done.

        `last_seconds` says afterwards whether anything was recorded.
        """
        recording, self._recording, self.last_seconds = self._recording, None, None
        assert recording is not None
        if self._is_edited(document) and self._seen is not None:
            recording.note(document, self._seen.pose)
        take, start = recording.finished(self._tolerance_deg), recording.start
        bare = replace(document, take=start.document.take)
        if take is None:
            state = _left_off(recording, bare)
            labels = dict(self._steps)
            label = next(iter(labels)) if len(labels) == 1 else "Record"
            return state, Step(label, start, state, saved=any(labels.values())) if labels else None
        self.last_seconds = recording.seconds
        motion = motion_of(bare)._replace(take=take)
        after = at_frame(replace(bare, take=resolved(bare, motion, take)), recording.frame)
        state = State(after, still_report(after))
        return state, Step(f"Record {recording.seconds:.1f} s", start, state)


def _left_off(recording: Recording, document: Document) -> State:
    """The state after a recording in which nothing was moved."""
    after = replace(document, frame=min(recording.frame, max(document.frames - 1, 0)))
    if recording.plays and after.frame != recording.frame:
        after = at_frame(after, after.frame)
    return State(after, still_report(after))


class Recording:
    """A recording under way.

    Frames advance with the clock, from the frame where it began. While the body is moved by hand each frame takes a
    sample of it, the first of them of how it stood before, and the joints that were moved get keys; all others, and all
    of them between movements, go on as the clip and the keys that are there say, and stay as they are.

    Attributes:
        start: the state that it began with.
        first: the frame that it began at.
        frame: the frame that it is at.
        take: the document's, with what was recorded up to now but for the last second.
        moving: whether the body was being moved at the last tick.
    """

    def __init__(self, start: State) -> None:
        """Begin at the frame shown."""
        document = start.document
        self.start = start
        self.first = self.frame = document.frame
        self.moving = False
        self._document = replace(document, take=take_of(document))
        self._rest = None if document.clip is not None else self._own_rest()
        self._done, self._runs, self._run = take_of(document), list[Recorded](), Run()
        self._folded = 0
        self._began: float | None = None
        self._last: tuple[float, int, Pose] | None = None
        self._held: tuple[Document, Pose] | None = None
        self._beneath = self._playing()
        self.take = self._longer(self._done)

    def _own_rest(self) -> Pose:
        take = take_of(self._document)
        return take.rest or on_own_bones(self._document, self._document.pose)

    def _playing(self) -> Document | None:
        """The document whose frames play beneath; None where there is nothing to play."""
        if self._document.clip_data is not None:
            return replace(self._document, take=self._done)
        if self._done.is_empty:
            return None
        return replace(self._document, take=replace(self._done, last=MOST_FRAMES - 1))

    @property
    def seconds(self) -> float:
        """How long it has run."""
        return (self.frame - self.first) * self._document.frame_time

    @property
    def most(self) -> int:
        """The last frame that there can be."""
        clip = self._document.clip_data
        return MOST_FRAMES - 1 if clip is None else len(clip) - 1

    @property
    def plays(self) -> bool:
        """Whether there is motion beneath what is recorded."""
        return self._beneath is not None

    @property
    def has_samples(self) -> bool:
        """Whether anything was moved up to now, or may have been."""
        return bool(self._run.poses or self._runs)

    def beneath(self, frame: int) -> Pose | None:
        """The pose of a frame as it would play if nothing were recorded now; None where nothing plays."""
        return None if self._beneath is None else frame_pose(self._beneath, frame)

    def due(self, now: float) -> int:
        """The frame of a moment, in seconds of any clock that does not go back; the first is the start."""
        self._began = now if self._began is None else self._began
        place = self.first + int((now - self._began) / self._document.frame_time + 1e-9)
        return min(max(place, self.frame), self.most)

    def mark(self) -> None:
        """A movement begins: `drop` forgets what comes from here on."""
        self._end_run()
        self.moving = False

    def drop(self) -> None:
        """The movement was none after all."""
        self._run, self._held = Run(), None
        self.moving = False
        self.fold()

    def note(self, document: Document, still: Pose) -> None:
        """The body was moved since the last tick, at the frame shown; ``still`` as of `advance`."""
        if not self.moving:
            self._sample(self.frame, document, still)
        self._held = document, document.pose
        if len(self._run.poses) > 1:
            self._sample(self.frame, *self._held)

    def advance(self, now: float, document: Document, *, moving: bool, still: Pose, at: int | None = None) -> bool:
        """Take the samples that are due; whether the frame is another one now.

        Args:
            now: seconds, as of `due`.
            document: as it is now.
            moving: whether the body is being moved by hand.
            still: the pose at the last tick, before it was moved if it was not being moved then.
            at: the frame that its pose is meant for; None: the one shown.
        """
        before, due = self.frame, self.due(now)
        here = now, self.frame if at is None else at, document.pose
        if moving and not self.moving:
            # What lies before the first key of a movement stands as it stood before it.
            self._sample(self.frame, document, still)
        if moving:
            self._held = document, document.pose
            for frame in range(self.frame + 1, due + 1):
                self._sample(frame, document, self._pose_at(frame, here))
        self.frame = due
        stopped = self.moving and not moving
        self.moving, self._last = moving, here
        if stopped:
            self._end_run()
        if stopped or len(self._run.poses) - self._folded >= FOLDED / self._document.frame_time or self._is_short:
            self.fold()
        return self.frame != before

    @property
    def _is_short(self) -> bool:
        return self._document.clip_data is None and self.frame >= self.take.last

    def _pose_at(self, frame: int, here: tuple[float, int, Pose]) -> Pose:
        """The pose at a frame's own time, which lies between two ticks."""
        now, pose = here[0], self._carried(here, frame)
        if self._last is None or self._began is None:
            return pose
        then = self._began + (frame - self.first) * self._document.frame_time
        start = max(self._last[0], now - _GAP)
        part = (then - start) / (now - start) if now > start else 1.0
        if part >= 1.0 - 1e-6:
            return pose
        before = self._carried(self._last, frame)
        return blend_poses(before, pose, part) if part > 0.0 else before

    def _carried(self, moment: tuple[float, int, Pose], frame: int) -> Pose:
        """The pose of a moment as it is at another frame of the motion beneath."""
        _, own, pose = moment
        before, after = self.beneath(own), self.beneath(frame)
        return pose if own == frame or before is None or after is None else carried_pose(pose, before, after)

    def _sample(self, frame: int, document: Document, pose: Pose) -> None:
        self._run.put(frame, on_own_bones(document, pose), current_pins(document))

    def _end_run(self) -> None:
        """What was sampled is what the next movement is made upon."""
        if self._held is not None and len(self._run.poses) == 1:  # it was over within a frame
            self.frame = max(self.frame, min(next(iter(self._run.poses)) + 1, self.most))
            self._sample(self.frame, *self._held)
        run, self._run, self._folded, self._held = self._run, Run(), 0, None
        if not run.poses:
            return
        found = recorded(self._document, self._done, self._rest, run)
        if found.joints:
            self._runs.append(found)
            self._done = found.take
            self._beneath = self._playing()

    def fold(self) -> None:
        """Put the samples into the take that the document shows meanwhile."""
        self._folded = len(self._run.poses)
        take = recorded(self._document, self._done, self._rest, self._run).take if self._run.poses else self._done
        self.take = self._longer(take)

    def _longer(self, take: Take) -> Take:
        """With room for the second to come."""
        if self._document.clip_data is not None:
            return take
        ahead = self.frame + int(FOLDED / self._document.frame_time) + 1
        return replace(take, last=min(max(take.last, ahead), MOST_FRAMES - 1))

    def finished(self, tolerance_deg: float) -> Take | None:
        """The take with the recording, simplified if a tolerance is given; None if nothing was recorded."""
        self._end_run()
        if not self._runs:
            return None
        take = self._done
        if tolerance_deg > 0.0:
            for run in self._runs:
                take = simplified(take, float(np.radians(tolerance_deg)), SIMPLIFIED_M, run.ends, run.joints)
        before = take_of(self._document)
        if self._document.clip_data is None and not (before.is_trimmed and self.frame <= before.end):
            take = replace(take, last=max(take.last, self.frame))
        return take


class _Pace:
    """Seconds since it was asked first, at a speed that may be changed on the way."""

    def __init__(self) -> None:
        """Begin when it is asked first."""
        self._speed: float | None = None
        self._since = self._last = (0.0, 0.0)

    def at(self, now: float, speed: float) -> float:
        """The time of a moment.

        Args:
            now: seconds, of any clock that does not go back.
            speed: 1 is the clock's own; since the moment asked for last.
        """
        if self._speed is None:
            self._last = now, 0.0
        if speed != self._speed:  # counted from there on, so that nothing drifts while it stays
            self._speed, self._since = speed, self._last
        clock, own = self._since
        self._last = now, own + (now - clock) * speed
        return self._last[1]


def _followed(state: State, gesture: Gesture | None, recording: Recording, due: int) -> State:
    """A state with the motion beneath gone on to a frame, and what the hand has made of it on top.

    An IK drag goes on from there towards its targets; joints that are turned by hand stay as they are held, and an edit
    is carried along. What cancelling the gesture goes back to moves on, too.
    """
    before, after = recording.beneath(recording.frame), recording.beneath(due)
    if before is None or after is None or before.same_as(after):
        return state
    if gesture is None:
        return _put_on(state, carried_pose(state.document.pose, before, after))
    start = gesture.start.document.pose
    gesture.start = _put_on(gesture.start, carried_pose(start, before, after))
    free = gesture.start.document
    if gesture.drag is not None:
        gesture.drag.follow(free)
        return State(gesture.drag.document, state.report)
    shown = state.document.pose
    return _put_on(state, with_joints(free.pose, shown, different(start, shown)))


def _put_on(state: State, pose: Pose) -> State:
    """A state in the pose of another frame, its holds set anew there."""
    document = carried(state.document, pose, pins=False)
    return State(document, still_report(document))
