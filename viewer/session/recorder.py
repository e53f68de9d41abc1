"""Recording of motion by hand: frames advance with the clock, and the moved body is sampled."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document import Document, Take, frame_pose
from viewer.document.actions.timeline_actions import at_frame
from viewer.document.evaluation import on_own_bones
from viewer.document.key_editing import Recorded, Run, carried_pose, current_pins, recorded, simplified, take_of
from viewer.document.posed_goals import carried
from viewer.document.solved_frames import resolved
from viewer.document.take import MOST_FRAMES
from viewer.errors import InputError
from viewer.session.figures import CallRecorder, State
from viewer.session.history import OpenStep, Step
from viewer.skeleton import Pose, blend_poses
from viewer.spatial.checks import as_number

FOLDED = 1.0
"""Most seconds of samples that are not in the take yet, and that a crash would lose."""
SIMPLIFIED_M = 2e-3
"""Tolerance in metres of simplifying a recording, of joints relative to their parents."""
_GAP = 0.1
"""Seconds: after a longer gap between ticks, the body counts as moved only at its end."""


class TakeRecorder:
    """Begins and ends recordings; each is one undo step.

    While it records, ticks advance the frame at the take's rate times the speed; edits are sampled and are not undo
    steps of their own.

    ``recording`` is the one under way, ``last_seconds`` the length of the last one; None if there is none.
    """

    def __init__(self, calls: CallRecorder) -> None:
        self._calls = calls
        self.last_seconds: float | None = None
        self._tolerance_deg = 0.0
        self.recording: Recording | None = None
        self._pace = _Pace()
        self._seen: Document | None = None
        self._now = 0.0
        self._due: int | None = None
        self._still: Pose | None = None
        self._steps: list[tuple[str, bool]] = []

    @property
    def tolerance_deg(self) -> float:
        """Tolerance in degrees of simplifying a recording; 0: every frame stays a key."""
        return self._tolerance_deg

    @tolerance_deg.setter
    def tolerance_deg(self, value: float) -> None:
        with self._calls("record_tolerance_deg", value):
            self._tolerance_deg = as_number(value, "recording tolerance", least=0.0, most=180.0)

    @property
    def seconds(self) -> float:
        """Length of the recording under way; 0 without one."""
        return 0.0 if self.recording is None else self.recording.seconds

    def begin(self, start: State, shown: Document) -> None:
        """Begin a recording.

        Undoing it restores ``start``; the document ``shown`` may be within a gesture.

        Raises:
            InputError: the clip is at its end.
        """
        recording = Recording(start)
        if recording.most == 0:
            raise InputError("a clip of one frame leaves no time to record")
        if recording.at_end:
            raise InputError(f"there is nothing to record on after frame {recording.most}: go back first")
        self.recording = recording
        self._seen, self._steps, self._pace = shown, [], _Pace()

    def at_its_frame(self, state: State) -> State:
        """A state with the frame and take of the recording under way."""
        recording, document = self.recording, state.document
        if recording is None or (document.frame == recording.frame and document.take is recording.take):
            return state
        return State(replace(document, frame=recording.frame, take=recording.take), state.report)

    def note_step(self, step: Step) -> None:
        """Note a step done during the recording: it becomes part of the recording's step."""
        self._steps.append((step.label, step.saved))

    def saw(self, document: Document) -> None:
        """Note the document shown, to find edits of its pose later."""
        self._seen = document

    def _is_edited(self, document: Document) -> bool:
        return self._seen is not None and document.pose is not self._seen.pose

    def before_tick(self, now: float, speed: float, state: State, gesture: OpenStep | None) -> State:
        """The state with the motion below it advanced to the frame that is due; see `_followed`.

        ``now`` is in seconds, of any clock that does not go back.
        """
        recording = self.recording
        assert recording is not None
        self._now = self._pace.at(now, speed)
        self._still = (self._seen or state.document).pose
        due = recording.due(self._now)
        follows = recording.plays and (gesture is not None or self._is_edited(state.document))
        self._due = due if follows else None
        return _followed(state, gesture, recording, due) if follows else state

    def after_tick(self, state: State, *, in_gesture: bool) -> State | None:
        """Take the samples that are due; the state to show if the frame has changed."""
        recording, document = self.recording, state.document
        assert recording is not None
        assert self._still is not None
        moving = in_gesture or self._is_edited(document)
        advanced = recording.advance(self._now, document, moving=moving, still=self._still, at=self._due)
        if not advanced or moving or not recording.plays:
            return state if advanced else None
        played = at_frame(replace(document, take=recording.take), recording.frame)
        return State.at_rest(played)

    def abandon(self) -> State | None:
        """Drop the recording; the state that it began with, or None without a recording."""
        recording, self.recording = self.recording, None
        return None if recording is None else recording.start

    def end(self, document: Document) -> tuple[State, Step | None]:
        """End the recording under way; the state to show and the undo step, if anything was done.

        Sets `last_seconds`.
        """
        recording, self.recording = self.recording, None
        self.last_seconds = None
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
        after = at_frame(replace(bare, take=resolved(bare, take)), recording.frame)
        state = State.at_rest(after)
        return state, Step(f"Record {recording.seconds:.1f} s", start, state)


def _left_off(recording: Recording, document: Document) -> State:
    """The state after a recording without movement."""
    after = replace(document, frame=min(recording.frame, max(document.frames - 1, 0)))
    if recording.plays and after.frame != recording.frame:
        after = at_frame(after, after.frame)
    return State.at_rest(after)


class Recording:
    """A recording under way.

    Frames advance with the clock from the initial frame. While the body is moved, each frame is sampled, the first one
    before the movement, and the moved joints get keys. All other joints, and all of them between movements, follow the
    clip and the existing keys.

    It began at the state ``start`` and frame ``first``; ``frame`` is the present one. ``take`` is the document's with
    the recording so far, without the last second. ``moving``: the body was being moved at the last tick.
    """

    def __init__(self, start: State) -> None:
        document = start.document
        self.start = start
        self.first = self.frame = document.frame
        self.moving = False
        self._document = replace(document, take=take_of(document))
        own = take_of(document).rest or on_own_bones(document, document.pose)
        self._rest = None if document.clip is not None else own
        self._done, self._runs, self._run = take_of(document), list[Recorded](), Run()
        self._folded = 0
        self._began: float | None = None
        self._last: tuple[float, int, Pose] | None = None
        self._held: tuple[Document, Pose] | None = None
        self._underlying = self._playing()
        self.take = self._longer(self._done)

    def _playing(self) -> Document | None:
        """The document whose motion plays below the recording; None if there is no motion."""
        if self._document.clip_data is not None:
            return replace(self._document, take=self._done)
        if self._done.is_empty:
            return None
        return replace(self._document, take=replace(self._done, last=MOST_FRAMES - 1))

    @property
    def seconds(self) -> float:
        """Length so far."""
        return (self.frame - self.first) * self._document.frame_time

    @property
    def most(self) -> int:
        """Last possible frame."""
        clip = self._document.clip_data
        return MOST_FRAMES - 1 if clip is None else len(clip) - 1

    @property
    def at_end(self) -> bool:
        """Whether it has reached the last possible frame."""
        return self.frame >= self.most

    @property
    def plays(self) -> bool:
        """Whether motion plays below the recording."""
        return self._underlying is not None

    @property
    def has_samples(self) -> bool:
        """Whether anything may have been moved so far."""
        return bool(self._run.poses or self._runs)

    def underlying(self, frame: int) -> Pose | None:
        """The pose of a frame without the present recording; None without motion."""
        return None if self._underlying is None else frame_pose(self._underlying, frame)

    def due(self, now: float) -> int:
        """The frame due at time ``now``, seconds of any clock that does not go back; the first call sets the start."""
        self._began = now if self._began is None else self._began
        frame = self.first + int((now - self._began) / self._document.frame_time + 1e-9)
        return min(max(frame, self.frame), self.most)

    def mark(self) -> None:
        """Note the start of a movement, whose samples `drop` drops."""
        self._end_run()
        self.moving = False

    def drop(self) -> None:
        """Drop the samples of a cancelled movement."""
        self._run, self._held = Run(), None
        self.moving = False
        self.fold()

    def note(self, document: Document, still: Pose) -> None:
        """Note that the body was moved since the last tick; ``still`` as of `advance`."""
        if not self.moving:
            self._sample(self.frame, document, still)
        self._held = document, document.pose
        if len(self._run.poses) > 1:
            self._sample(self.frame, *self._held)

    def advance(self, now: float, document: Document, *, moving: bool, still: Pose, at: int | None = None) -> bool:
        """Take the samples that are due; whether the frame has changed.

        ``moving``: the body is being moved by hand; ``still`` is the pose at the last tick, before a movement. The
        document's pose belongs to the frame ``at``; None: the frame shown.
        """
        before, due = self.frame, self.due(now)
        here = now, self.frame if at is None else at, document.pose
        if moving and not self.moving:
            # Frames before a movement keep the pose before it.
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
        """The pose at a frame's own time, interpolated between two ticks."""
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
        """The pose of a moment transferred to another frame of the motion below."""
        _, own, pose = moment
        before, after = self.underlying(own), self.underlying(frame)
        return pose if own == frame or before is None or after is None else carried_pose(pose, before, after)

    def _sample(self, frame: int, document: Document, pose: Pose) -> None:
        self._run.put(frame, on_own_bones(document, pose), current_pins(document))

    def _end_run(self) -> None:
        """Make the samples keys, on which the next movement is recorded."""
        if self._held is not None and len(self._run.poses) == 1:  # it lasted less than a frame
            self.frame = max(self.frame, min(next(iter(self._run.poses)) + 1, self.most))
            self._sample(self.frame, *self._held)
        run, self._run, self._folded, self._held = self._run, Run(), 0, None
        if not run.poses:
            return
        found = recorded(self._document, self._done, self._rest, run)
        if found.joints:
            self._runs.append(found)
            self._done = found.take
            self._underlying = self._playing()

    def fold(self) -> None:
        """Put the samples into the take that the document shows during the recording."""
        self._folded = len(self._run.poses)
        take = recorded(self._document, self._done, self._rest, self._run).take if self._run.poses else self._done
        self.take = self._longer(take)

    def _longer(self, take: Take) -> Take:
        """The take, long enough for the next second."""
        if self._document.clip_data is not None:
            return take
        ahead = self.frame + int(FOLDED / self._document.frame_time) + 1
        return replace(take, last=min(max(take.last, ahead), MOST_FRAMES - 1))

    def finished(self, tolerance_deg: float) -> Take | None:
        """The take with the recording, simplified within the tolerance; None if nothing was recorded."""
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
    """Seconds since the first call, at a changing speed."""

    def __init__(self) -> None:
        self._speed: float | None = None
        self._since = self._last = (0.0, 0.0)

    def at(self, now: float, speed: float) -> float:
        """The scaled time of a moment. ``speed`` is the factor since the previous call."""
        if self._speed is None:
            self._last = now, 0.0
        if speed != self._speed:  # measured from the last change, so that rounding does not accumulate
            self._speed, self._since = speed, self._last
        clock, own = self._since
        self._last = now, own + (now - clock) * speed
        return self._last[1]


def _followed(state: State, gesture: OpenStep | None, recording: Recording, due: int) -> State:
    """A state with the motion below advanced to a frame, and the edits kept on top.

    An IK drag continues from there towards its targets; joints rotated by hand stay, and an edit is transferred. The
    state that cancelling the gesture restores advances, too.
    """
    before, after = recording.underlying(recording.frame), recording.underlying(due)
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
    return _put_on(state, free.pose.with_joints(shown, start.differs(shown)))


def _put_on(state: State, pose: Pose) -> State:
    """A state in the pose of another frame, its holds set again there."""
    return State.at_rest(carried(state.document, pose, pins=False))
