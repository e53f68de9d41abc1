"""What a press takes hold of, what moves then, and how a drag changes the session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from viewer.document.actions import Select, SetPose, TurnJoint
from viewer.document.default_goals import above, stand_of, world_of
from viewer.gizmo import Motion, Tool
from viewer.ik.goals import KINDS
from viewer.scene import Hit
from viewer.session import Document, DocumentGoal, Grab, Item, Mode, Session
from viewer.skeleton.limits import JointKind
from viewer.skeleton.pose import Pose
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import between, conjugate, multiply, rotate
from viewer.ui.poles import PoleMover
from viewer.ui.view import item_of


def can_follow(document: Document, joint: int, *, beside: bool = False) -> bool:
    """Whether an IK drag can move a point of a joint.

    Args:
        document: with the joints' kinds, and what its solver may do with a free root.
        joint: index.
        beside: the point is not the joint's own middle, which turning the joint leaves where it is.
    """
    skeleton, root = document.skeleton, document.solver.root
    for place in above(skeleton, joint):
        kind = skeleton.kinds[place]
        turns = beside or place != joint
        if kind is JointKind.FREE:
            if root != "locked":
                return True
        elif kind is JointKind.SLIDE or (kind is not JointKind.FIXED and turns):
            return True
    return False


def aims(goal: DocumentGoal) -> bool:
    """Whether a goal has a place in the world that can be dragged."""
    return goal.enabled and goal.has_position and goal.position is not None


def dragged_item(document: Document, item: Item) -> Item:
    """What a drag of an item moves: a goal that has no target to move, such as a bend, stands for its joint."""
    if item.kind == "joint" or KINDS[document.goal(item.name).kind].has_target:
        return item
    return Item("joint", document.skeleton.names[joint_of(document, item)])


def joint_of(document: Document, item: Item) -> int:
    """The joint that an item is, or is fixed to."""
    if item.kind == "joint":
        return document.skeleton.index(item.name)
    return stand_of(document.skeleton, document.pose, document.goal(item.name)).joint


def selected_joints(document: Document) -> tuple[str, ...]:
    """Names of the selected joints, and of those that selected effectors are on."""
    names = document.skeleton.names
    return tuple(dict.fromkeys(names[joint_of(document, item)] for item in document.selection))


def is_root(document: Document, item: Item) -> bool:
    """Whether an item is the handle of a root: one that can be put elsewhere, for others have no handle."""
    if item.kind != "joint":
        return False
    joint = joint_of(document, item)
    if document.skeleton.parents[joint] >= 0:
        return False
    if document.mode is Mode.FK:
        return document.skeleton.kinds[joint] is JointKind.FREE
    return can_follow(document, joint)


def can_move(document: Document, item: Item) -> bool:
    """Whether the handles that move things would move an item."""
    item = dragged_item(document, item)
    if item.kind == "effector" or is_root(document, item):
        return True
    return document.mode is Mode.IK and can_follow(document, joint_of(document, item))


def places(document: Document, item: Item) -> list[Floats]:
    """Where an item is, and where it should be."""
    if item.kind == "joint":
        world = world_of(document.skeleton, document.pose)
        return [world.positions[document.skeleton.index(item.name)]]
    goal = document.goal(item.name)
    at = stand_of(document.skeleton, document.pose, goal).position
    return [at, np.array(goal.position)] if aims(goal) else [at]


def together(document: Document, item: Item) -> list[Item]:
    """What the handles of an item move: all effectors selected, if it is one of them."""
    several = [one for one in document.selection if dragged_item(document, one).kind == "effector"]
    return several if item in several and document.mode is Mode.IK else [item]


def pivot(document: Document, item: Item) -> Floats:
    """(3,) world: where the handles of an item stand: amid all that they move."""
    return np.asarray(np.mean([grip(document, one)[0] for one in together(document, item)], axis=0))


def grip(document: Document, item: Item) -> tuple[Floats, Floats]:
    """(3,) and (4,), world: where an item is taken hold of: its target, or where it stands if it has none."""
    if item.kind == "joint":
        world, joint = world_of(document.skeleton, document.pose), joint_of(document, item)
        return world.positions[joint], world.rotations[joint]
    goal = document.goal(item.name)
    stand = stand_of(document.skeleton, document.pose, goal)
    position = np.array(goal.position) if aims(goal) else stand.position
    rotation = np.array(goal.rotation) if goal.enabled and goal.has_rotation else stand.rotation
    return position, rotation


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


_MIDDLE = 1e-6
"""Metres from a joint within which a point is its middle."""


def can_take(document: Document, hit: Hit) -> bool:
    """Whether dragging what was hit would move anything."""
    item = item_of(hit)
    if item.kind == "effector" or is_root(document, item) or (hit.mark is not None and hit.mark.free_pole):
        return True
    return _follows(document, hit) if document.mode is Mode.IK else _turned_by(document, hit) is not None


def mover_for(document: Document, item: Item, hit: Hit) -> tuple[Mover | None, Floats]:
    """What a drag of what was hit moves, None where it cannot be moved; and the place that follows the pointer."""
    meant, item = item, dragged_item(document, item)
    root = is_root(document, item) and hit.kind != "bone"
    if document.mode is Mode.FK:
        if root:
            return RootMover(item.name), hit.point
        joint = _turned_by(document, hit)
        return (None, hit.point) if joint is None else (JointMover(joint, hit.point), hit.point)
    if hit.mark is not None and hit.mark.free_pole:
        return PoleMover(hit.name, hit.point), hit.point
    if item.kind == "effector":
        return TargetMover(_together(document, item)), grip(document, item)[0]
    place, turn = grip(document, item)
    if root:
        return TargetMover({item: (place, turn)}), place
    if item != meant:
        return (TargetMover({item: (place, turn)}, Grab(item.name)) if can_move(document, item) else None), place
    if not _follows(document, hit):
        return None, hit.point
    local = rotate(conjugate(turn), hit.point - place)
    return TargetMover({item: (hit.point, turn)}, Grab(item.name, local)), hit.point


def mover_of_handles(document: Document, item: Item, tool: Tool) -> Mover:
    """What the handles of an item move."""
    item = dragged_item(document, item)
    fk, root = document.mode is Mode.FK, is_root(document, item)
    if fk and root:
        return RootMover(item.name)
    if fk or (tool is Tool.ROTATE and item.kind == "joint" and not root):
        return JointMover(document.skeleton.names[joint_of(document, item)])
    if item.kind == "effector" or root:
        return TargetMover(_together(document, item))
    return TargetMover({item: grip(document, item)}, Grab(item.name))


def _together(document: Document, item: Item) -> dict[Item, tuple[Floats, Floats]]:
    """What moves with an item, and where it is."""
    return {one: grip(document, one) for one in together(document, item)}


def _turned_by(document: Document, hit: Hit) -> str | None:
    """The joint that an FK drag of what was hit turns; None if none can."""
    skeleton = document.skeleton
    joint = hit.index
    if _in_the_middle(document, hit):
        joint = int(skeleton.parents[joint])
    while joint >= 0 and skeleton.kinds[joint] in {JointKind.FIXED, JointKind.SLIDE}:
        joint = int(skeleton.parents[joint])
    return None if joint < 0 else skeleton.names[joint]


def _follows(document: Document, hit: Hit) -> bool:
    """Whether solving can bring what was hit elsewhere."""
    return can_follow(document, hit.index, beside=not _in_the_middle(document, hit))


def _in_the_middle(document: Document, hit: Hit) -> bool:
    """Whether a joint was hit itself, and no bone."""
    middle = world_of(document.skeleton, document.pose).positions[hit.index]
    return hit.kind != "bone" and bool(np.linalg.norm(hit.point - middle) < _MIDDLE)
