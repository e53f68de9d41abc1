"""What a session does for its take: auto-key, and recording while the body is moved."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.errors import InputError
from viewer.session.actions.settings import at_frame
from viewer.session.checks import as_number
from viewer.session.history import State
from viewer.session.measuring import still_report
from viewer.session.take.changing import keyed
from viewer.session.take.evaluate import motion_of
from viewer.session.take.pins import resolved
from viewer.session.take.recorder import Recorder
from viewer.session.transport import Transport

if TYPE_CHECKING:
    from viewer.session.actions.base import Action
    from viewer.session.document import Document
    from viewer.session.drag_goals import Grab
    from viewer.session.values import Item

_MOVED = 1e-12
"""Of a quaternion's component, or metres: an edit changed a joint that differs by more."""


class Recording(Transport):
    """Recording and auto-key.

    While it records, ticks advance the frame at the take's rate; what moves the body by hand is sampled, and is no undo
    step of its own: the recording as a whole is one.
    """

    def __init__(self, state: State) -> None:
        """Begin at rest."""
        super().__init__(state)
        self._recorder: Recorder | None = None
        self._tolerance = 0.0
        self._sampled: Document | None = None

    @property
    def recording(self) -> bool:
        """Whether a recording is under way."""
        return self._recorder is not None

    @property
    def recorded_seconds(self) -> float:
        """How long it has run; 0 where none does."""
        return 0.0 if self._recorder is None else self._recorder.seconds

    @property
    def record_tolerance_deg(self) -> float:
        """Degrees by which simplifying a recording may turn any joint otherwise; 0: every frame stays a key."""
        return self._tolerance

    @record_tolerance_deg.setter
    def record_tolerance_deg(self, value: float) -> None:
        self._tolerance = as_number(value, "recording tolerance", least=0.0, most=180.0)

    def record(self) -> None:
        """Record from the frame shown on, until `stop_recording` or the end of the clip; a gesture under way goes on.

        At the end of the clip nothing more is recorded, and the recording ends with the gesture under way.

        Raises:
            InputError: the clip is at its end.
        """
        if self._recorder is not None:
            return
        self.stop()
        recorder = Recorder(self._state if self._gesture is None else self._gesture.start)
        if recorder.frame >= recorder.most:
            raise InputError(f"there is nothing to record on after frame {recorder.most}: go back first")
        self._recorder, self._sampled = recorder, self.document
        self._show(self._state)

    def stop_recording(self) -> None:
        """End the recording: one undo step, if anything was recorded. Nothing where none is under way."""
        if self._recorder is None:
            return
        super()._conclude()
        recorder, self._recorder = self._recorder, None
        take = recorder.finished(self._tolerance)
        bare = replace(self.document, take=recorder.start.document.take)
        if take is None:
            frame = min(recorder.frame, max(bare.frames - 1, 0))
            self._show(State(replace(bare, frame=frame), self.report))
            return
        motion = motion_of(bare)._replace(take=take)
        after = at_frame(replace(bare, take=resolved(bare, motion, take)), recorder.frame)
        super()._add(f"Record {recorder.seconds:.1f} s", State(after, still_report(after)), before=recorder.start)

    def tick(self, now: float) -> bool:
        """See `Transport.tick`; a recording goes on."""
        changed = super().tick(now)
        recorder = self._recorder
        if recorder is None:
            return changed
        moving = self._gesture is not None or self.document.pose is not (self._sampled or self.document).pose
        if recorder.advance(now, self.document, moving=moving):
            if moving or not recorder.plays:
                self._show(self._state)
            else:
                document = at_frame(replace(self.document, take=recorder.take), recorder.frame)
                self._show(State(document, still_report(document)))
        self._sampled = self.document
        if recorder.frame >= recorder.most and self._gesture is None:
            self.stop_recording()
        return True

    def _show(self, state: State) -> None:
        """While it records, whatever is shown is at the recording's frame."""
        recorder, document = self._recorder, state.document
        if recorder is not None and (document.frame != recorder.frame or document.take is not recorder.take):
            state = State(replace(document, frame=recorder.frame, take=recorder.take), state.report)
        super()._show(state)

    def _add(self, label: str, after: State, *, before: State | None = None, saved: bool = True) -> None:
        if self._recorder is not None:
            self._show(after)
            return
        start = self._state if before is None else before
        document = _kept_up(start.document, after.document)
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

    def dispatch(self, action: Action) -> None:
        """See `Stepping.dispatch`; a recording goes on if the action only poses, else it is ended first."""
        if self._recorder is not None and not _only_poses(self.document, action.apply(self.document)):
            self.stop_recording()
        super().dispatch(action)

    def redo(self) -> bool:
        """See `Stepping.redo`; a recording is ended first."""
        self.stop_recording()
        return super().redo()

    def go_to(self, index: int) -> None:
        """See `Stepping.go_to`; a recording is ended first."""
        self.stop_recording()
        super().go_to(index)

    def play(self, direction: int = 1) -> None:
        """See `Transport.play`; a recording is ended first."""
        self.stop_recording()
        super().play(direction)

    def seek(self, frame: int) -> None:
        """See `Transport.seek`; a recording is ended first."""
        self.stop_recording()
        super().seek(frame)


def _only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame and figure are as before."""
    names = ("clip", "take", "frame", "character", "skeleton", "auto_key")
    return all(getattr(before, name) is getattr(after, name) for name in names)


def _kept_up(before: Document, after: Document) -> Document:
    """The document after a step with its take kept up: edits keyed if that is on, and stretches solved on new bones."""
    take = after.take
    if before is after or take is not before.take or (before.clip, before.frame) != (after.clip, after.frame):
        return after
    if before.skeleton is not after.skeleton and not np.array_equal(before.skeleton.offsets, after.skeleton.offsets):
        if take is None or not take.pins:
            return after
        solved = resolved(after, motion_of(after), take)
        return after if solved is take else replace(after, take=solved)
    if not after.auto_key or before.character is not after.character:
        return after
    turned = np.abs(after.pose.rotations - before.pose.rotations).max(axis=-1) > _MOVED
    moved = np.abs(after.pose.translations - before.pose.translations).max(axis=-1) > _MOVED
    joints = np.flatnonzero(turned | moved).tolist()
    return keyed(after, after.frame, joints) if joints else after
