"""Playing the clip: commands of the transport."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.document.default_goals import world_of
from viewer.document.evaluation import frame_pose
from viewer.scene import figure_points
from viewer.session import Document, Loop
from viewer.skeleton.kinematics import fk
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats
from viewer.ui.commands import Handler, Handlers
from viewer.ui.timeline import OpenTimeline, frame_count, last_frame, played_range

if TYPE_CHECKING:
    from viewer.ui.controller import Controller

SPEEDS = (0.1, 0.25, 0.5, 1.0, 1.5, 2.0, 4.0)
_TEN = 10


class Playback:
    """Of one controller."""

    def __init__(self, controller: Controller) -> None:
        """At rest."""
        self._controller = controller

    @property
    def frames(self) -> int:
        """Frames of the timeline: of the clip or the take, or those that a new take would have."""
        return frame_count(self._controller.document)

    def can_play(self) -> bool:
        """Whether there is anything to play."""
        document = self._controller.document
        return document.clip_data is not None or (document.take is not None and not document.take.is_empty)

    def toggle(self, direction: int) -> None:
        """Play, or stop if it plays that way."""
        session = self._controller.session
        if session.playing == direction:
            session.stop()
        else:
            session.play(direction)

    def _space(self) -> None:
        """Play or stop; where targets move by themselves, hold them or let them go on."""
        if self._controller.demos.has_motions:
            self._controller.demos.toggle()
        else:
            self.toggle(1)

    def go(self, frame: int) -> None:
        """Show a frame, the nearest that there is; playing stops."""
        session = self._controller.session
        session.stop()
        session.stop_recording()
        frame = min(max(frame, 0), last_frame(session.document))
        if session.document.frames:
            session.seek(frame)
        elif frame != session.document.frame:
            session.dispatch(OpenTimeline(frame))

    def step(self, frames: int) -> None:
        """Go on or back; with a loop, from one end to the other."""
        session = self._controller.session
        frame = session.document.frame + frames
        first, last = played_range(session.document)
        if session.loop is not Loop.OFF and abs(frames) == 1 and first <= session.document.frame <= last:
            frame = first + (frame - first) % (last - first + 1)
        self.go(frame)

    def _end(self, *, first: bool) -> int:
        """The first or last frame of what is played; where that is shown, of all."""
        ends = played_range(self._controller.document)
        there = ends[0] if first else ends[1]
        if self._controller.document.frame == there:
            return 0 if first else self.frames - 1
        return there

    def next_loop(self) -> None:
        """Off, loop, ping-pong."""
        session, ways = self._controller.session, tuple(Loop)
        session.loop = ways[(ways.index(session.loop) + 1) % len(ways)]
        self._controller.changed()

    def faster(self, steps: int) -> None:
        """The next of the speeds offered."""
        session = self._controller.session
        nearest = min(range(len(SPEEDS)), key=lambda place: abs(SPEEDS[place] - session.speed))
        session.speed = SPEEDS[min(max(nearest + steps, 0), len(SPEEDS) - 1)]

    def handlers(self) -> Handlers:
        """Of the transport."""
        controller, plays = self._controller, self.can_play
        return {
            "play.forwards": Handler(self._space, lambda: plays() or controller.demos.has_motions),
            "play.backwards": Handler(lambda: self.toggle(-1), plays),
            "play.previous": Handler(lambda: self.step(-1)),
            "play.next": Handler(lambda: self.step(1)),
            "play.back_ten": Handler(lambda: self.step(-_TEN)),
            "play.on_ten": Handler(lambda: self.step(_TEN)),
            "play.first": Handler(lambda: self.go(self._end(first=True))),
            "play.last": Handler(lambda: self.go(self._end(first=False))),
            "play.go_to": Handler(lambda: controller.request("go-to-frame")),
            "play.loop": Handler(self.next_loop),
            "play.slower": Handler(lambda: self.faster(-1)),
            "play.faster": Handler(lambda: self.faster(1)),
        }


_FRAMES, _PLACES = 48, 30_000
"""Frames that are looked at, at most: so many, and no more than make so many places."""


class Travel:
    """Of one document at a time; it is kept until what is played changes."""

    def __init__(self) -> None:
        """Nothing is worked out yet."""
        self._kept: tuple[tuple[object, ...], Floats] | None = None

    def points(self, document: Document) -> Floats:
        """(N, 3) the figure as it stands, and where it gets to."""
        now = figure_points(document.skeleton, world_of(document.skeleton, document.pose))
        key = (document.take, document.clip_data, document.skeleton)
        if self._kept is None or any(one is not other for one, other in zip(self._kept[0], key, strict=True)):
            self._kept = key, way_of(document)
        return np.concatenate([now, self._kept[1]])


def way_of(document: Document) -> Floats:
    """(N, 3) joints and tips at some of the frames that are played, the first and the last among them."""
    first, last = document.played
    if not document.frames or last <= first:
        return np.empty((0, 3))
    most = max(2, min(_FRAMES, _PLACES // len(document.skeleton), last - first + 1))
    frames = np.unique(np.linspace(first, last, most).round().astype(int)).tolist()
    poses = (_pose(document, frame) for frame in frames)
    return np.concatenate([figure_points(document.skeleton, fk(document.skeleton, pose)) for pose in poses])


def _pose(document: Document, frame: int) -> Pose:
    clip, take = document.clip_data, document.take
    plain = clip is not None and (take is None or take.is_empty) and frame < len(clip)
    return clip.pose(frame) if plain and clip is not None else frame_pose(document, frame)
