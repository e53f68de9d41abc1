"""Motion trails that are dragged: the dot of a frame under the pointer, the frames that follow it, and the drag."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from viewer.document import Document, Item, frame_pose, world_of
from viewer.document.actions import MovePoint
from viewer.document.trail import MOST_REACH, check_trail, falloff, touched_frames, trail_point
from viewer.gizmo import Fill, RigidMotion, Shape, Stroke
from viewer.scene import Trail
from viewer.scene.flat import circle
from viewer.session import Session
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.ui import number_format
from viewer.ui.view import REACH, Mover, View

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
        """Begin the gesture.

        Raises:
            InputError: the point cannot be moved at this frame.
        """
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
    return world_of(document.skeleton, frame_pose(document, frame)).point(held.joint, np.array(held.point))


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
        ring = circle(pixel, _HELD_PX * scale)
        shapes += [Fill(ring, "halo", 0.5), Stroke(ring, _LINE_PX * scale, "hovered", 1.0, closed=True)]
        shapes.append(Fill(circle(pixel, 0.5 * _HELD_PX * scale), "hovered"))
    return shapes
