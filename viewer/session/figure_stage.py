"""The stage: the figures shown, where each stands, and the clock that plays them."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from viewer.document import Document, frame_pose
from viewer.document.actions.timeline_actions import at_frame
from viewer.document.evaluation import check_played_frame
from viewer.errors import InputError, unknown_name
from viewer.session.figures import ORIGIN, Arrangement, Placement, StageFigure, State, name_of
from viewer.skeleton import Pose
from viewer.spatial.checks import as_positive


@dataclass(frozen=True, slots=True, eq=False)
class UnkeyedPose:
    """An edited pose that was lost because another frame was shown before it was keyed.

    ``clip`` is the name of the clip shown, or None, ``frame`` that of it, or of the take without a clip.
    """

    clip: str | None
    frame: int
    pose: Pose


class Stage:
    """The figures shown, one of which is active: actions change it, and panels show it.

    All play on one clock. Its range is that of the active figure or, if that has no motion, of the first figure with
    motion; the others show the same time since the start of their ranges, and stay in their last frame after its end.

    Attributes:
        followers: called once the figures show the same time; they may `put` other states.
        active: index of the figure that actions change.
        state: that of the active figure: its document, and the report of its last solve.
        adjust: is applied to every state before it is shown, unless it is None: a recording sets the frame and take.
        moved: called after another figure became active, or the active one moved, with the placements of the active
        figure before and after: values in coordinates of the active document have to follow.
        clock: plays all figures.
        revision: counts visible changes.
        arranged: counts the changes of names, placement, hidden and active.
        lost_pose: the last unkeyed pose that was lost because another frame was shown, or None.
    """

    def __init__(self, state: State) -> None:
        self._figures, self.active, self.state = [StageFigure(name_of(state.document), state)], 0, state
        self.adjust: Callable[[State], State] | None = None
        self.revision = self.arranged = 0
        self.followers: list[Callable[[], None]] = []
        self.moved: list[Callable[[Placement, Placement], None]] = []
        self.clock = PlaybackClock()
        self.lost_pose: UnkeyedPose | None = None
        self._played_pose: Pose | None = None

    def __len__(self) -> int:
        return len(self._figures)

    def __getitem__(self, index: int) -> StageFigure:
        return self._figures[index]

    def __iter__(self) -> Iterator[StageFigure]:
        return iter(self._figures)

    @property
    def several(self) -> bool:
        """Whether there is more than one figure."""
        return len(self._figures) > 1

    @property
    def names(self) -> list[str]:
        """The names of all figures."""
        return [figure.name for figure in self._figures]

    @property
    def documents(self) -> tuple[Document, ...]:
        """The documents of all figures."""
        return tuple(figure.document for figure in self._figures)

    @property
    def figure(self) -> StageFigure:
        """The active one."""
        return self._figures[self.active]

    @property
    def others(self) -> list[StageFigure]:
        """All others that are not hidden, placed as the active one sees them."""
        own, shown = self.figure.placement, (one for one in self._figures if one is not self.figure and not one.hidden)
        return [replace(one, placement=one.placement.seen_from(own)) for one in shown]

    @property
    def document(self) -> Document:
        """The active document."""
        return self.state.document

    def show(self, state: State) -> None:
        """Show another state of the active figure; the others follow its clock."""
        self._set(self.active, state if self.adjust is None else self.adjust(state))
        if self.several:
            self._follow()
        self.changed()

    def changed(self, count: int = 1) -> None:
        """Count visible changes."""
        self.revision += count

    # Several figures

    @property
    def arrangement(self) -> Arrangement:
        """All figures with their present states."""
        return Arrangement(tuple(self._figures), self.active)

    @property
    def figures(self) -> Arrangement | None:
        """All figures; None if there is only one, at the origin, for which its document suffices."""
        return self.arrangement if self.several or self.figure.placement != ORIGIN else None

    def arrange(self, arrangement: Arrangement, keep: Collection[str] = ()) -> None:
        """Show other figures.

        Figures whose names are in ``keep`` keep their documents if they are there already.
        """
        before = self.figure.placement
        own = {figure.name: figure.state for figure in self._figures if figure.name in keep}
        self._figures = [replace(one, state=own.get(one.name, one.state)) for one in arrangement.figures]
        self.active = arrangement.active
        self._rearranged(before)

    def activate(self, index: int) -> None:
        """Make another figure active."""
        before, self.active = self.figure.placement, index
        self._rearranged(before)

    def _rearranged(self, before: Placement) -> None:
        self._played_pose, self.state = None, self.figure.state
        self.arranged += 1
        if self.several:
            self._follow()
        self.changed()
        after = self.figure.placement
        for moved in self.moved:
            moved(before, after)

    def index(self, name: str) -> int:
        """Index of the figure with a name."""
        names = self.names
        if name not in names:
            raise InputError(unknown_name("figure", name, names))
        return names.index(name)

    @property
    def leader(self) -> int:
        """Index of the figure whose range is played."""
        if not self.several or self.document.frames:
            return self.active
        moving = (i for i, one in enumerate(self._figures) if one.document.frames and not one.hidden)
        return next(moving, self.active)

    def put(self, index: int, state: State) -> None:
        """Set the state of a figure that follows another one; no visible change is counted."""
        if index == self.active and self.state.document.pose is self._played_pose:
            self._played_pose = state.document.pose
        self._set(index, state)

    def _set(self, index: int, state: State) -> None:
        self._figures[index] = replace(self._figures[index], state=state)
        if index == self.active:
            self.state = state

    def _follow(self) -> None:
        """Show the other figures at the time of the leading one, and let goals follow them."""
        self._keep_time()
        for follow in self.followers:
            follow()

    def _keep_time(self) -> None:
        leader = self.leader
        document = self._figures[leader].document
        if not document.frames:
            return
        seconds = (document.frame - document.played[0]) * document.frame_time
        for index, figure in enumerate(self._figures):
            other = figure.document
            if index in (leader, self.active) or figure.hidden or not other.frames:
                continue
            frame = frame_after(other, seconds)
            if frame != other.frame:
                self._set(index, State.at_rest(at_frame(other, frame)))

    # Playback

    def at_frame(self, frame: int) -> State:
        """The state at a frame of the clip or take, in that frame's pose; keeps an unkeyed pose as `lost_pose`."""
        changed = at_frame(self.document, frame)
        self._keep_unkeyed_pose()
        return self._played(changed)

    def _played(self, document: Document) -> State:
        self._played_pose = document.pose
        return State.at_rest(document)

    def replayed(self, document: Document) -> State:
        """The state of the active document with other motion at the same frame; an unkeyed pose stays."""
        before = self.document
        if not 0 <= before.frame < before.frames:
            return State(document, self.state.report)
        if before.pose is self._played_pose or before.pose.is_near(frame_pose(before, before.frame)):
            return self._played(at_frame(document, document.frame))
        return State(document, self.state.report)

    def _keep_unkeyed_pose(self) -> None:
        document = self.document
        if document.pose is self._played_pose or not 0 <= document.frame < document.frames:
            return
        if not document.pose.is_near(frame_pose(document, document.frame)):
            self.lost_pose = UnkeyedPose(document.clip, document.frame, document.pose)

    def first_frame(self, direction: int) -> int:
        """The frame to play from: the one shown; from an end of the range, or outside it, the other end."""
        if direction not in (1, -1):
            raise InputError(f"direction: expected 1 or -1, found {direction}")
        document = self._figures[self.leader].document
        first, last = document.played
        check_played_frame(document, last)
        ends, frame = {1: last, -1: first}, document.frame
        at_end = self.clock.loop is Loop.OFF and frame == ends[direction]
        return ends[-direction] if at_end or not first <= frame <= last else frame

    def play(self, direction: int) -> None:
        """Start the clock at the frame shown, forwards (1) or backwards (-1); 0 does nothing."""
        if direction:
            document = self._figures[self.leader].document
            self.clock.start(document.frame - document.played[0], direction)

    def lead(self, frame: int) -> State:
        """The state of the active figure once the figure that leads shows a frame."""
        if self.leader == self.active:
            return self.at_frame(frame)
        leader = self.leader
        self._set(leader, State.at_rest(at_frame(self._figures[leader].document, frame)))
        return self.state

    def tick(self, now: float) -> State | None:
        """The state that is due during playback, or None if nothing changes. Stops the clock at the end of the clip."""
        clock = self.clock
        if not clock.direction:
            return None
        leader = self.leader
        document = self._figures[leader].document
        first, last = document.played
        index, goes_on = clock.due(now, last - first + 1, document.frame_time)
        if not goes_on:
            clock.stop()
        if first + index != document.frame:
            due = at_frame(document, first + index)
            if leader == self.active:
                return self._played(due)
            self._set(leader, State.at_rest(due))
            return self.state
        return None if goes_on else self.state


def frame_after(document: Document, seconds: float) -> int:
    """The frame of a document some seconds after the start of its range; its ends beyond them."""
    first, last = document.played
    frames = math.floor(seconds / document.frame_time + 1e-6)
    return min(max(first + frames, first), last)


class Loop(StrEnum):
    """What happens at the end of the clip."""

    OFF = "off"
    """Stop at the last frame; backwards, at the first."""
    LOOP = "loop"
    """Start again from the other end."""
    PING_PONG = "ping-pong"
    """Reverse the direction."""


class PlaybackClock:
    """Computes which frame is due, counted from the first frame of the range.

    Time is measured from the last start or change of speed, so that rounding does not accumulate.

    ``loop`` is what happens at the ends; ``direction`` is 1 forwards, -1 backwards, 0 while stopped.
    """

    def __init__(self) -> None:
        self.loop = Loop.LOOP
        self.direction = 0
        self._speed = 1.0
        self._from, self._since = 0.0, -math.inf

    @property
    def playing(self) -> bool:
        """Whether it plays, in either direction."""
        return self.direction != 0

    @property
    def speed(self) -> float:
        """Factor on the clip's own rate."""
        return self._speed

    @speed.setter
    def speed(self, value: float) -> None:
        self._speed = as_positive(value, "speed")

    def start(self, frame: int, direction: int) -> None:
        """Play from a frame, forwards (1) or backwards (-1)."""
        self.direction = direction
        self._from, self._since = float(frame), -math.inf

    def stop(self) -> bool:
        """Stop; whether it was playing."""
        was_playing, self.direction = self.playing, 0
        return was_playing

    def due(self, now: float, count: int, frame_time: float) -> tuple[int, bool]:
        """The frame due, and whether playback continues after it; only while `playing`.

        ``now`` is in seconds, of any clock; ``count`` are the frames of the range.
        """
        if math.isinf(self._since) or now < self._since:
            self._since = now
        frame = self._from + self.direction * (now - self._since) * self._speed / frame_time
        last = count - 1
        if 0.0 <= frame <= last:
            return math.floor(frame + 1e-9) if self.direction > 0 else math.ceil(frame - 1e-9), True
        if self.loop is Loop.OFF or last == 0:
            return (0 if frame < 0.0 else last), False
        if self.loop is Loop.LOOP:
            return math.floor(frame) % count, True
        phase = frame % (2.0 * last)
        return round(phase if phase <= last else 2.0 * last - phase), True
