"""Ghosts of the figure at other frames, and the trails of joints and effectors: as they are drawn and dragged."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from viewer.document import Document, Item, frame_pose, joint_of, world_of
from viewer.document.actions import MovePoint
from viewer.document.evaluation import worlds_shown
from viewer.document.motion_curves import MOST_REACH, check_trail, falloff, touched_frames, trail_point
from viewer.gizmo import Fill, RigidMotion, Shape
from viewer.latest import Latest
from viewer.scene import Ghost, Trail
from viewer.scene.flat import circle, ring
from viewer.session import Session
from viewer.skeleton import NO_OFFSET, fk, point_of
from viewer.spatial.checks import Floats, Vector
from viewer.spatial.projection import Projection
from viewer.ui import number_format
from viewer.ui.timeline import key_frames
from viewer.ui.view import REACH, Mover, View

ALPHAS = (0.42, 0.25)
"""Opacity of the nearest ghosts, and of those beyond."""
_APART, _LEAST, _AROUND = 0.3, 0.15, 1.0
"""Seconds between ghosts without keys; least seconds between ghosts at keys; seconds of trails each way."""
MOST_TRAILS = 12


class OnionSettings(NamedTuple):
    """Settings of ghosts and trails: how many ghosts before and after, each, and how many frames apart; 0: at keys.

    ``reach`` is frames of trails before and after; 0: one second.
    """

    around: int = 2
    step: int = 0
    reach: int = 0


class OnionSkin:
    """Ghosts and trails, cached until their input changes."""

    def __init__(self, session: Session, view: View) -> None:
        self._session, self._view = session, view
        self._ghosts, self._trails = Latest[tuple[Ghost, ...]](), Latest[tuple[Trail, ...]]()

    @property
    def settings(self) -> OnionSettings:
        """The settings in the preferences."""
        return OnionSettings(self._view.ghosts_around, self._view.ghost_step, self._view.trail_frames)

    def ghosts(self) -> tuple[Ghost, ...]:
        """Ghosts of the figure; none during a recording."""
        document = self._session.document
        if not self._view.display.ghosts or self._has_none(document):
            return ()
        settings = self.settings
        return self._ghosts.of(
            lambda: ghosts_of(document, settings), *_motion(document), equal=(document.frame, settings)
        )

    def ghost_at(self, frame: int) -> Ghost:
        """The figure at a frame whose trail is dragged."""
        document = self._session.document
        world = fk(document.skeleton, frame_pose(document, frame))
        return Ghost(world, ALPHAS[0], _label(frame - document.frame))

    def trails(self) -> tuple[Trail, ...]:
        """Trails of the selected items; of all effectors if nothing is selected."""
        document = self._session.document
        if not self._view.display.trails or self._has_none(document):
            return ()
        items = trailed(document)
        offsets = tuple(_offset(document, item) for item in items)
        settings = self.settings
        equal = document.frame, settings, items, offsets, document.selection
        return self._trails.of(lambda: trails_of(document, items, settings), *_motion(document), equal=equal)

    def _has_none(self, document: Document) -> bool:
        return self._session.recorder.recording is not None or not document.has_motion


def _motion(document: Document) -> tuple[object, ...]:
    """What the poses of its frames depend on."""
    return document.take, document.clip_data, document.skeleton


def trailed(document: Document) -> tuple[Item, ...]:
    """Items with trails: the selection, else all effectors; of a goal for two effectors both of them."""
    chosen = document.selected_on_figure or tuple(Item("effector", h.id) for h in document.goals if h.enabled)
    return tuple(dict.fromkeys(end for item in chosen for end in _ends(document, item)))[-MOST_TRAILS:]


def _ends(document: Document, item: Item) -> tuple[Item, ...]:
    """The items whose points move where an item does."""
    if item.kind != "effector" or not (goal := document.goal(item.name)).of_two:
        return (item,)
    return tuple(Item("effector", name) for name in goal.ends)


def ghost_frames(document: Document, asked: OnionSettings) -> tuple[int, ...]:
    """Frames of ghosts, ascending: at keys; at regular steps if that is set or a clip has no keys."""
    now, (first, last) = document.frame, document.played
    keys = key_frames(document)
    step = asked.step or max(1, round(_APART / document.frame_time))
    steps = range(step, step * asked.around + 1, step)
    back, on = [now - by for by in steps if now - by >= first], [now + by for by in steps if now + by <= last]
    if not asked.step:
        least = max(1, round(_LEAST / document.frame_time))
        at_keys = (
            _spread(reversed(keys[: bisect_left(keys, now)]), now, least, asked.around),
            _spread(keys[bisect_right(keys, now) :], now, least, asked.around),
        )
        # Without a clip nothing moves beyond the keys.
        moves = document.clip is not None
        back, on = (found or (other if moves else []) for found, other in zip(at_keys, (back, on), strict=True))
    return (*reversed(back), *on)


def _spread(keys: Iterable[int], now: int, least: int, most: int) -> list[int]:
    """Keys that are at least ``least`` frames apart: a recording has one at every frame."""
    found: list[int] = []
    for key in keys:
        if len(found) == most:
            break
        if abs(key - (found[-1] if found else now)) >= least:
            found.append(key)
    return found


def ghosts_of(document: Document, asked: OnionSettings) -> tuple[Ghost, ...]:
    """Ghosts of the figure, fainter with distance in frames."""
    frames, now = ghost_frames(document, asked), document.frame
    ghosts = []
    for frame in frames:
        between = sum(1 for other in frames if min(now, frame) < other < max(now, frame))
        world = fk(document.skeleton, frame_pose(document, frame))
        ghosts.append(Ghost(world, ALPHAS[min(between, len(ALPHAS) - 1)], _label(frame - now)))
    return tuple(ghosts)


def _label(away: int) -> str:
    """``+12`` frames from the one shown, with a minus sign before it."""
    return f"{'+' if away > 0 else number_format.MINUS}{abs(away)}"


def trails_of(document: Document, items: Sequence[Item], asked: OnionSettings) -> tuple[Trail, ...]:
    """Trails of items before and after the frame shown, within the played range."""
    now, (first, last) = document.frame, document.played
    reach = asked.reach or max(1, round(_AROUND / document.frame_time))
    low, high = max(min(first, now), now - reach), min(max(last, now), now + reach)
    frames = range(low, high + 1)
    if len(frames) <= 1:
        return ()
    world = worlds_shown(document, low, high)
    keys = tuple(frame - low for frame in key_frames(document) if low <= frame <= high)
    selected = bool(document.selected_on_figure)
    return tuple(
        Trail(
            world.point(joint_of(document, item), _offset(document, item)),
            now - low,
            keys,
            selected,
            item,
            low,
        )
        for item in items
    )


def _offset(document: Document, item: Item) -> Vector:
    """(3,) offset of an item from its joint, metres, in the joint's frame."""
    if item.kind == "joint":
        return NO_OFFSET
    goal = document.goal(item.name)
    return point_of(document.skeleton, goal.effector, goal.offset)[1]


_HELD_PX, _LEAST_PX, _MOST_PX, _LINE_PX = 6.0, 1.6, 4.5, 1.6
"""Radius of the ring around the dot of a frame, radii of the dots of frames that follow it, and width of lines."""
_SHORT = 2e-3
"""Part of the figure's height by which a point may miss the pointer without a message."""


@dataclass(slots=True, eq=False)
class TrailMover(Mover):
    """Moves a point of the motion: an item at a frame.

    Each motion begins again from the document before the drag, so that only the last one counts, and its reach.

    Attributes:
        item: the effector or joint.
        frame: that is dragged.
        start: (3,) metres, world frame, where the point was.
        reach: frames before and after that follow.
        short: metres from the pointer that the point stays away.
    """

    once_a_frame: ClassVar[bool] = True
    solved: ClassVar[bool] = True
    item: Item
    frame: int
    start: Floats
    reach: int = REACH
    short: float = 0.0

    def begin(self, session: Session) -> None:
        """Begin the gesture; an InputError if the point cannot be moved at this frame."""
        check_trail(session.document, self.item, self.frame)
        session.begin(self._label)

    @property
    def items(self) -> tuple[Item, ...]:
        return (self.item,)

    @property
    def at_frame(self) -> int:
        return self.frame

    @property
    def _label(self) -> str:
        return f"Move {self.item.name} at frame {self.frame}"

    def apply(self, session: Session, motion: RigidMotion) -> None:
        position, _ = motion.apply(self.start, None)
        session.cancel()
        session.begin(self._label)
        x, y, z = position.tolist()
        session.gestures.update(MovePoint(self.item, self.frame, (x, y, z), self.reach))
        self.short = float(np.linalg.norm(point_at(session.document, self.item, self.frame) - position))

    def widen(self, by: int) -> int:
        """Let more or fewer frames follow; returns the new reach."""
        self.reach = min(max(self.reach + by, 0), MOST_REACH)
        return self.reach

    def words(self, view: View) -> str:
        """``   frame 31, reach 4``, and how far the point stays away from the pointer."""
        short = f", {number_format.short(self.short)} short" if self.short > _SHORT * view.height else ""
        return f"   frame {self.frame}, reach {self.reach}{short}"


def point_at(document: Document, item: Item, frame: int) -> Floats:
    """(3,) metres, world frame: where an item is at a frame."""
    held = trail_point(document, item)
    return world_of(document.skeleton, frame_pose(document, frame)).point(held.joint, held.point)


def trail_shapes(
    document: Document, trail: Trail, held: tuple[int, int], projection: Projection, scale: float
) -> list[Shape]:
    """A ring around the dot of a frame, and dots at the frames that follow it, smaller with distance.

    ``held`` are the frame and its reach.
    """
    frame, reach = held
    frames = touched_frames(document, frame, reach)
    shares = falloff(frames - frame, reach)
    shapes: list[Shape] = []
    for one, share in zip(frames.tolist(), shares.tolist(), strict=True):
        index = one - trail.first
        if not 0 <= index < len(trail.points) or projection.depth(trail.points[index]) <= 0.0:
            continue
        pixel = projection.project(trail.points[index])
        if one != frame:
            radius = (_LEAST_PX + share * (_MOST_PX - _LEAST_PX)) * scale
            shapes.append(Fill(circle(pixel, radius), "hovered", 0.95))
            continue
        shapes += ring(pixel, _HELD_PX * scale, _LINE_PX * scale, "hovered", 0.5)
        shapes.append(Fill(circle(pixel, 0.5 * _HELD_PX * scale), "hovered"))
    return shapes
