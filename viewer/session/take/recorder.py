"""Samples of a moving body at a fixed rate, and the keys that they become."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from viewer.session.take.changing import take_of
from viewer.session.take.editing import Entry, differences, with_entries
from viewer.session.take.evaluate import Frames, layered, motion_of, on_own_bones
from viewer.session.take.pins import pins_held
from viewer.session.take.simplify import simplified
from viewer.session.take.values import CODES, MOST_FRAMES, Blend
from viewer.skeleton.blend import blend_poses

if TYPE_CHECKING:
    from viewer.session.document import Document
    from viewer.session.history import State
    from viewer.session.take.values import Pin, Take
    from viewer.skeleton.pose import Pose
    from viewer.spatial.checks import Ints

FOLDED = 1.0
"""Seconds of samples that are not in the take yet, at most: what is lost by a crash besides what is being written."""
SIMPLIFIED_M = 2e-3
"""Metres that simplifying a recording may move a joint by against its parent."""
_GAP = 0.1
"""Seconds from tick to tick beyond which the body is taken to have stood still first, and moved last."""
_MOVED = 1e-12


class Recorder:
    """A recording under way.

    Frames advance with the clock, from the frame where it began. While the body is moved by hand each frame takes a
    sample of it; between movements the keys and the clip that are there are played, and stay as they are.

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
        self._poses: dict[int, Pose] = {}
        self._pins: dict[int, tuple[Pin, ...]] = {}
        self._folded = 0
        self._began: float | None = None
        self._last: tuple[float, Pose] | None = None
        self._mark = 0
        self.take = self._longer(take_of(document))

    def _own_rest(self) -> Pose:
        take = take_of(self._document)
        return take.rest or on_own_bones(self._document, self._document.pose)

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
        """Whether there is motion to be played where nothing is being recorded."""
        return self._document.clip_data is not None or not self.take.is_empty

    def mark(self) -> None:
        """A movement begins: `drop` forgets what comes from here on."""
        self._mark = self.frame

    def drop(self) -> None:
        """The movement was none after all."""
        self._poses = {frame: pose for frame, pose in self._poses.items() if frame < self._mark}
        self.moving = False
        self.fold()

    def advance(self, now: float, document: Document, *, moving: bool) -> bool:
        """Take the samples that are due; whether the frame is another one now.

        Args:
            now: seconds, of any clock that does not go back.
            document: as it is now.
            moving: whether the body is being moved by hand.
        """
        before = self.frame
        self._began = now if self._began is None else self._began
        due = self.first + int((now - self._began) / self._document.frame_time + 1e-9)
        if moving and not self.moving:
            self.frame = min(max(due, self.frame), self.most)
            self._sample(self.frame, document, document.pose)
        for frame in range(self.frame + 1, min(due, self.most) + 1):
            if moving:
                self._sample(frame, document, self._pose_at(frame, now, document.pose))
            self.frame = frame
        stopped = self.moving and not moving
        self.moving, self._last = moving, (now, document.pose)
        if stopped or len(self._poses) - self._folded >= FOLDED / self._document.frame_time or self._is_short:
            self.fold()
        return self.frame != before

    @property
    def _is_short(self) -> bool:
        return self._document.clip_data is None and self.frame >= self.take.last

    def _pose_at(self, frame: int, now: float, pose: Pose) -> Pose:
        """The pose at a frame's own time, which lies between two ticks."""
        if self._last is None or self._began is None:
            return pose
        then = self._began + (frame - self.first) * self._document.frame_time
        start = max(self._last[0], now - _GAP)
        part = (then - start) / (now - start) if now > start else 1.0
        if part >= 1.0 - 1e-6:
            return pose
        return blend_poses(self._last[1], pose, part) if part > 0.0 else self._last[1]

    def _sample(self, frame: int, document: Document, pose: Pose) -> None:
        self._poses[frame] = on_own_bones(document, pose)
        held = pins_held(document)
        last = next(reversed(self._pins.values()), ())
        self._pins[frame] = last if held == last else held  # one tuple for all frames that are alike

    def fold(self) -> None:
        """Put the samples into the take that the document shows meanwhile."""
        self._folded = len(self._poses)
        self.take = self._longer(self._recorded())

    def _longer(self, take: Take) -> Take:
        """With room for the second to come."""
        if self._document.clip_data is not None:
            return take
        ahead = self.frame + int(FOLDED / self._document.frame_time) + 1
        return replace(take, last=min(max(take.last, ahead), MOST_FRAMES - 1))

    def finished(self, tolerance_deg: float) -> Take | None:
        """The take with the recording, simplified if a tolerance is given; None if nothing was recorded."""
        if not self._poses:
            return None
        take = self._recorded()
        if tolerance_deg > 0.0:
            for run in self._runs():
                ends = int(run[0]), int(run[-1])
                take = simplified(take, float(np.radians(tolerance_deg)), SIMPLIFIED_M, ends)
        if self._document.clip_data is None:
            take = replace(take, last=max(take.last, self.frame))
        return take

    def _runs(self) -> list[Ints]:
        """Frames that were recorded without a gap."""
        frames = np.array(sorted(self._poses), dtype=np.intp)
        return np.split(frames, np.flatnonzero(np.diff(frames) > 1) + 1)

    def _recorded(self) -> Take:
        take = take_of(self._document)
        if not self._poses:
            return take
        for frames in self._runs():
            take = self._with_run(take, frames)
        pins = {frame: held for frame, held in self._pins.items() if held and frame in self._poses}
        kept = {frame: held for frame, held in take.pins.items() if frame not in self._poses}
        return replace(take, pins=kept | pins)

    def _with_run(self, take: Take, frames: Ints) -> Take:
        """The take with the samples of some frames on end as keys of the joints that moved otherwise than before."""
        poses = [self._poses[frame] for frame in frames.tolist()]
        samples = Frames(np.stack([p.rotations for p in poses]), np.stack([p.translations for p in poses]))
        first, count = int(frames[0]), len(frames)
        motion = motion_of(self._document)
        motion = motion._replace(edited=motion.own)
        base = layered(motion._replace(take=replace(take, tracks=(), rest=self._rest, solved=())), first, count)
        before = base if take.is_empty else layered(motion._replace(take=take), first, count)
        turned = (np.abs(samples.rotations - before.rotations).max(axis=-1) > _MOVED).any(axis=0)
        moved = (np.abs(samples.translations - before.translations).max(axis=-1) > _MOVED).any(axis=0)
        tracked = {track.joint for track in take.tracks if np.isin(track.frames, frames).any()}
        joints = sorted({*np.flatnonzero(turned | moved).tolist(), *tracked})
        turns, ways = differences(base, samples)
        away = (ways != 0.0).any(axis=(0, 2))
        if take.base is None:
            turns, ways = samples
        blends = np.full(count, CODES[Blend.LINEAR])
        entries = []
        for joint in joints:
            track = take.track(joint)
            wanted = away[joint] or (track is not None and track.translations is not None)
            entries.append(Entry(joint, frames, turns[:, joint], ways[:, joint] if wanted else None, blends))
        return with_entries(take, entries, self._rest or poses[0])
