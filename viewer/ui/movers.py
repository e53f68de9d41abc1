"""What a drag does to the session: targets are moved, joints turned, a root put elsewhere."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from viewer.session import Item
from viewer.session.actions import Select, SetPose, TurnJoint
from viewer.session.standing import world_of
from viewer.skeleton.pose import Pose
from viewer.spatial.quaternion import between, conjugate, multiply

if TYPE_CHECKING:
    from viewer.gizmo import Motion
    from viewer.session import Grab, Session
    from viewer.spatial.checks import Floats


class Mover(Protocol):
    """Takes the whole motion since the drag began, again and again."""

    def begin(self, session: Session) -> None:
        """Open the undo step."""

    def apply(self, session: Session, motion: Motion) -> None:
        """Put what is dragged where the motion takes it."""


@dataclass(slots=True, eq=False)
class TargetMover:
    """Moves targets; the solver follows.

    Attributes:
        starts: position (3,) and rotation (4,) of each target where the drag began.
        grab: the point of a bone that is held, if it is none of these.
        turned: whether any motion turned so far: from then on rotations are asked for.
    """

    starts: dict[Item, tuple[Floats, Floats]]
    grab: Grab | None = None
    turned: bool = False

    def begin(self, session: Session) -> None:
        """Open the undo step."""
        session.begin_drag(() if self.grab is not None else tuple(self.starts), self.grab)

    def apply(self, session: Session, motion: Motion) -> None:
        """Put the targets there."""
        self.turned = self.turned or motion.turns
        moved = {item: motion.apply(*start) for item, start in self.starts.items()}
        turned = self.turned
        session.drag_to({item: (place, turn if turned else None) for item, (place, turn) in moved.items()})


@dataclass(slots=True, eq=False)
class JointMover:
    """Turns a joint about its own place: by a ring, or so that a point on its bone follows the pointer.

    Attributes:
        joint: its name.
        point: (3,) metres, world: the point on the bone; None: the motion's own turn is taken.
    """

    joint: str
    point: Floats | None = None
    _pivot: Floats | None = None
    _world: Floats | None = None
    _above: Floats | None = None

    def begin(self, session: Session) -> None:
        """Open the undo step."""
        document = session.document
        skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
        joint = skeleton.index(self.joint)
        parent = int(skeleton.parents[joint])
        self._pivot, self._world = world.positions[joint], world.rotations[joint]
        self._above = world.rotations[parent] if parent >= 0 else np.array([0.0, 0.0, 0.0, 1.0])
        session.begin(f"Turn {self.joint}")
        if self.point is not None:  # taken by its bone, not by handles that stand on what is selected
            session.update(Select((Item("joint", self.joint),)))

    def apply(self, session: Session, motion: Motion) -> None:
        """Turn the joint."""
        assert self._world is not None
        assert self._above is not None
        turned = multiply(self._turn(motion), self._world)
        session.update(TurnJoint(self.joint, multiply(conjugate(self._above), turned)))

    def _turn(self, motion: Motion) -> Floats:
        if self.point is None or self._pivot is None:
            return motion.rotation
        place, _ = motion.apply(self.point, None)
        arm, wanted = self.point - self._pivot, place - self._pivot
        if min(np.linalg.norm(arm), np.linalg.norm(wanted)) < 1e-9:
            return np.array([0.0, 0.0, 0.0, 1.0])
        return between(arm, wanted)


@dataclass(slots=True, eq=False)
class RootMover:
    """Puts a root elsewhere, and the whole figure with it (FK).

    Attributes:
        joint: the root's name.
    """

    joint: str
    _start: tuple[Floats, Floats] | None = None
    _index: int = 0

    def begin(self, session: Session) -> None:
        """Open the undo step."""
        pose, self._index = session.document.pose, session.document.skeleton.index(self.joint)
        self._start = pose.translations[self._index], pose.rotations[self._index]
        session.begin(f"Move {self.joint}")

    def apply(self, session: Session, motion: Motion) -> None:
        """Put the root there."""
        assert self._start is not None
        pose = session.document.pose  # while it is recorded, the other joints may be moving
        translations, rotations = pose.translations.copy(), pose.rotations.copy()
        # A root has no parent: its local place and turn are those in the world.
        translations[self._index], rotations[self._index] = motion.apply(*self._start)
        session.update(SetPose(Pose(rotations, translations), f"Move {self.joint}"))
