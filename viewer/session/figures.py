"""The figures of a session: what each is and where it stands, as values; the stage that shows them, and its clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import PurePath
from typing import NamedTuple, Protocol

import numpy as np

from viewer.document import Document, Report, frame_pose, still_report, world_of
from viewer.document.actions.timeline_actions import at_frame
from viewer.document.evaluation import check_played_frame
from viewer.errors import InputError, unknown_name
from viewer.ik.goals import Vector
from viewer.skeleton import Pose, World, effector_of
from viewer.skeleton.names import free_name
from viewer.spatial.checks import Floats, as_number, as_positive, triple
from viewer.spatial.quaternion import multiply, rotate

ABREAST = 0.35
"""Free room between two figures beside each other, as a fraction of the larger half width of the two: swinging arms do
not meet."""
_BUNDLED = ("sample:", "demo:")
_SUNK = 0.1
"""Fraction of its height by which a joint of a standing figure may be below 0."""
_LEAST_HALF = 0.2
"""Least half width of a figure, as a fraction of its height."""


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """A document and the report of its last solve; None if its pose was not solved and misses a goal."""

    document: Document
    report: Report | None = None

    @classmethod
    def at_rest(cls, document: Document) -> State:
        """A document that is not to be solved."""
        return cls(document, still_report(document))


class Placement(NamedTuple):
    """Where a figure stands on the stage.

    ``offset`` is in metres from the stage's origin to the document's own, ``yaw`` in radians about the vertical axis
    through that.
    """

    offset: Vector = (0.0, 0.0, 0.0)
    yaw: float = 0.0

    @property
    def rotation(self) -> Floats:
        """(4,) the yaw as a quaternion."""
        return np.array([0.0, math.sin(0.5 * self.yaw), 0.0, math.cos(0.5 * self.yaw)])

    def seen_from(self, other: Placement) -> Placement:
        """This placement in the coordinates of another."""
        way = np.subtract(self.offset, other.offset)
        back = Placement(yaw=-other.yaw).rotation
        x, y, z = rotate(back, way).tolist()
        return Placement((x, y, z), math.remainder(self.yaw - other.yaw, math.tau))

    def points(self, points: Floats) -> Floats:
        """Points (..., 3) of the document on the stage."""
        return rotate(self.rotation, points) + self.offset

    def world(self, world: World) -> World:
        """A world pose of the document on the stage."""
        return World(self.points(world.positions), multiply(self.rotation, world.rotations))

    def checked(self) -> Placement:
        """The same place, as plain numbers."""
        return Placement(triple(self.offset, "placement: offset"), as_number(self.yaw, "placement: yaw"))


ORIGIN = Placement()


class Link(NamedTuple):
    """A goal of a figure whose target stays at a joint of another one.

    ``goal`` is the id of the goal, ``figure`` the name of the other one, ``joint`` its joint, effector or tip.
    """

    goal: str
    figure: str
    joint: str

    @property
    def target(self) -> str:
        """``hero/LeftHand``."""
        return f"{self.figure}/{self.joint}"


@dataclass(frozen=True, slots=True, eq=False)
class StageFigure:
    """One of the figures on the stage.

    Its name is unique on the stage; while ``hidden`` it is not drawn and does not play; ``links`` are its goals that
    follow other figures.
    """

    name: str
    state: State
    placement: Placement = ORIGIN
    hidden: bool = False
    links: tuple[Link, ...] = ()

    @property
    def document(self) -> Document:
        """Of its state."""
        return self.state.document


@dataclass(frozen=True, slots=True, eq=False)
class Arrangement:
    """All figures of a stage, at least one. ``active`` is the index of the one that actions change."""

    figures: tuple[StageFigure, ...]
    active: int = 0

    @property
    def figure(self) -> StageFigure:
        """The active one."""
        return self.figures[self.active]

    def mapped(self, change: Callable[[StageFigure], StageFigure]) -> Arrangement:
        """The same arrangement of changed figures."""
        return Arrangement(tuple(map(change, self.figures)), self.active)


def with_active(arrangement: Arrangement, document: Document) -> Arrangement:
    """The same figures, the active one with another document."""
    state = State.at_rest(document)
    return arrangement.mapped(lambda one: replace(one, state=state) if one is arrangement.figure else one)


def name_of(document: Document) -> str:
    """A name for the figure of a document: that of its file without suffix, else of its skeleton."""
    source = document.character.source.path
    if not source:
        return document.skeleton.name or "Figure"
    last = PurePath(source.rpartition(":")[2] if source.startswith(_BUNDLED) else source).name
    return last.partition(".")[0] or last or "Figure"


def beside(document: Document, others: Iterable[StageFigure]) -> Placement:
    """A free place for a document: to the right of all others, its root level with that of the first."""
    figures = tuple(others)
    if not figures:
        return ORIGIN
    left, right = _sides(document, ORIGIN)
    root = world_of(document.skeleton, document.pose).positions[0]
    first, ends = figures[0], [_sides(one.document, one.placement) for one in figures]
    start = first.placement.points(world_of(first.document.skeleton, first.document.pose).positions[0])
    room = 0.5 * ABREAST * max(right - left, *(most - least for least, most in ends))
    level = _floor(first.document) + first.placement.offset[1] - _floor(document)
    x = max(most for _, most in ends) + room - left
    return Placement((float(x), float(level), float(start[2] - root[2])))


def abreast(documents: Iterable[tuple[str, Document]]) -> Arrangement:
    """Figures beside each other, the first of which is active; a name that is there already gets a number.

    Each comes with the name wanted for its figure, "": that of its file.
    """
    figures: list[StageFigure] = []
    for name, document in documents:
        unique = free_name(name or name_of(document), [one.name for one in figures])
        figures.append(StageFigure(unique, State.at_rest(document), beside(document, figures)))
    return Arrangement(tuple(figures))


def _floor(document: Document) -> float:
    """Height on which a figure stands: 0, or its lowest joint if that is clearly below."""
    places = world_of(document.skeleton, document.pose).positions
    least = float(places[:, 1].min())
    return least if least < -_SUNK * float(np.ptp(places, axis=0).max()) else 0.0


def _sides(document: Document, placement: Placement) -> tuple[float, float]:
    """Smallest and largest x of a figure on the stage."""
    places = placement.points(world_of(document.skeleton, document.pose).positions)
    least, most = float(places[:, 0].min()), float(places[:, 0].max())
    half = _LEAST_HALF * float(np.ptp(places, axis=0).max())
    return min(least, float(places[0, 0]) - half), max(most, float(places[0, 0]) + half)


def lasting(arrangement: Arrangement) -> Arrangement:
    """The same figures without links whose goals, figures or joints are gone."""
    skeletons = {one.name: one.document.skeleton for one in arrangement.figures}

    def holds(figure: StageFigure, link: Link) -> bool:
        try:
            effector_of(skeletons[link.figure], link.joint)
        except (KeyError, InputError):
            return False
        return any(goal.id == link.goal for goal in figure.document.goals)

    return arrangement.mapped(lambda one: replace(one, links=tuple(link for link in one.links if holds(one, link))))


# --- the stage


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
        calls: records the calls that change what is shown.
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
        self.clock, self.calls = PlaybackClock(), CallRecorder()
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
        """Show other figures. Figures whose names are in ``keep`` keep their documents if they are there already."""
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


@dataclass(slots=True)
class Call:
    """A call from outside the session.

    ``name`` is that of the call in the action log, ``given`` its first argument, if any, ``data`` are its arguments, as
    JSON can hold them; None if it cannot. ``index`` undo steps were done before the call. ``idle``: it changed nothing,
    and is not recorded.
    """

    name: str
    given: object = None
    data: list[object] | None = None
    index: int = 0
    idle: bool = False


class CallLog(Protocol):
    """Where calls are recorded."""

    def record(self, name: str, *given: object) -> AbstractContextManager[Call]:
        """Record the call made in the block; calls that it makes itself are not recorded."""


class CallRecorder:
    """Records the calls of a session and its members while there is a log. Without a log they are not recorded."""

    def __init__(self) -> None:
        self.log: CallLog | None = None
        self._unrecorded = nullcontext(Call(""))

    def __call__(self, name: str, *given: object) -> AbstractContextManager[Call]:
        """Record the call made in the block."""
        return self._unrecorded if self.log is None else self.log.record(name, *given)
