"""Drags of one side that move the other side as its mirror image.

The motion is mirrored, not the place: limbs that start as mirror images stay so, and others do not jump. The plane is
that between the sides of the body as it is when the drag begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from viewer.document import Document, Grab, Item, joint_of, world_of
from viewer.document.actions.pose_actions import symmetry_normal
from viewer.gizmo import RigidMotion
from viewer.session import Session
from viewer.skeleton import Skeleton, above, find_place
from viewer.skeleton.figure import partners
from viewer.skeleton.names import swapped_names
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate
from viewer.ui.contact import RadiusMover
from viewer.ui.drag_targets import JointsMover, TargetMover, handle_of, mirrored_turn
from viewer.ui.view import Mover


def other_joint(document: Document, joint: str) -> str | None:
    """The joint of the other side; None where there is none."""
    skeleton = document.skeleton
    index = skeleton.index(joint)
    other = int(partners(skeleton)[index])
    return None if other == index else skeleton.names[other]


def other_item(document: Document, item: Item) -> Item | None:
    """The effector, by its goal of the same kind, or the joint of the other side; None where there is none."""
    if item.kind == "joint":
        name = other_joint(document, item.name)
        return None if name is None else Item("joint", name)
    if item.kind != "effector":
        return None
    goal = document.goal(item.name)
    if goal.of_two:
        image = {_other_effector(document.skeleton, name) or name for name in goal.ends}
        there = [one for one in document.goals if one.kind == goal.kind and {*one.ends} == image != {*goal.ends}]
        return Item("effector", there[0].id) if there and not goal.relative else None
    effector = _other_effector(document.skeleton, goal.effector)
    if effector is None:
        return None
    goals = [one for one in document.goals_of(effector) if not one.of_two]
    return Item("effector", next((one for one in goals if one.kind == goal.kind), goals[0]).id)


def _other_effector(skeleton: Skeleton, name: str) -> str | None:
    """The effector of the other side; None where there is none."""
    here = find_place(skeleton, name).joint
    joint, names = int(partners(skeleton)[here]), swapped_names(name)
    found = [one.name for one in skeleton.effectors if one.joint == joint and one.name != name]
    return None if joint == here else next((one for one in names if one in found), found[0] if found else None)


def mirrored_mover(document: Document, mover: Mover) -> Mover:
    """A mover that moves the other side, too; the mover itself where there is no other side."""
    if isinstance(mover, TargetMover):
        return _mirrored_targets(document, mover)
    if isinstance(mover, JointsMover):
        return _mirrored_joints(document, mover)
    if isinstance(mover, RadiusMover):
        return replace(mover, other=other_joint(document, mover.joint))
    return mover


def _mirrored_joints(document: Document, mover: JointsMover) -> JointsMover:
    """A mover of joints and of those joints of the other side that do not turn with them already."""
    index, joints = document.skeleton.index, dict(mover.joints)
    for name in mover.joints:
        other = other_joint(document, name)
        if other is not None and other not in mover.joints:
            joints[other] = _normal(document, index(other))
    return replace(mover, joints={name: joints[name] for name in sorted(joints, key=index)})


def leads(document: Document, item: Item) -> bool:
    """Whether an item and that of its other side are both selected, so that its handles are at the item itself."""
    return other_item(document, item) in document.selection


def _mirrored_targets(document: Document, mover: TargetMover) -> Mover:
    others: dict[Item, Item] = {}
    for item in sorted(mover.starts, key=lambda item: item != document.active):
        other = other_item(document, item)
        # Of two selected hands, the active one leads.
        if other is not None and item not in others.values():
            others[item] = other
    if not others:
        return mover
    starts = {item: start for item, start in mover.starts.items() if item not in others.values()}
    grab = None
    if mover.grab is not None:
        [(item, other)] = others.items()
        grab = Grab(other.name, _mirrored_point(document, mover.grab, other.name))
    return MirroredTargets(TargetMover(starts, mover.grab), others, grab)


def _normal(document: Document, joint: int) -> Floats:
    return symmetry_normal(document.skeleton, document.pose, above(document.skeleton, joint)[-1])


def _mirrored_point(document: Document, grab: Grab, other: str) -> Floats:
    """(3,) in the other joint's frame: the point of its bone that is the image of a grabbed point at rest."""
    skeleton = document.skeleton
    world = world_of(skeleton, skeleton.rest_pose())
    joint, opposite = skeleton.index(grab.joint), skeleton.index(other)
    away = rotate(world.rotations[joint], np.asarray(grab.point_local, dtype=np.float64))
    normal = symmetry_normal(skeleton, skeleton.rest_pose(), above(skeleton, joint)[-1])
    return rotate(conjugate(world.rotations[opposite]), _reflected(away, normal))


def _reflected(vector: Floats, normal: Floats) -> Floats:
    return np.asarray(vector - 2.0 * (vector @ normal) * normal)


@dataclass(slots=True, eq=False)
class MirroredTargets(Mover):
    """Moves targets, and those of the other side by the mirrored motion.

    Attributes:
        mover: of the side that is dragged.
        others: by dragged item, that of the other side.
        grab: the point of the other side's bone, if a bone is dragged.
    """

    solved: ClassVar[bool] = True
    mover: TargetMover
    others: dict[Item, Item]
    grab: Grab | None
    _starts: dict[Item, tuple[Floats, Floats]] = field(default_factory=dict)
    _normals: dict[Item, Floats] = field(default_factory=dict)

    def begin(self, session: Session) -> None:
        """Begin the gesture; what is dragged itself becomes active."""
        document = session.document
        self._normals = {item: _normal(document, joint_of(document, item)) for item in self.others}
        self._starts = {item: handle_of(document, other) for item, other in self.others.items()}
        if self.grab is not None:
            [(item, (position, rotation))] = self._starts.items()
            self._starts = {item: (position + rotate(rotation, np.asarray(self.grab.point_local)), rotation)}
            session.begin_drag((), self.grab, self.mover.grab)
        else:
            session.begin_drag((*self.others.values(), *self.mover.starts))

    def apply(self, session: Session, motion: RigidMotion) -> None:
        targets = self.mover.targets(motion)
        for item, other in self.others.items():
            (position, rotation), normal = self.mover.starts[item], self._normals[item]
            start, turned = self._starts[item]
            moved, after = targets[item]
            place = start + _reflected(moved - position, normal)
            turn = None
            if after is not None:
                turn = multiply(mirrored_turn(multiply(after, conjugate(rotation)), normal), turned)
            targets[other] = place, turn
        session.gestures.drag_to(targets)

    @property
    def items(self) -> tuple[Item, ...]:
        return (*self.mover.starts, *self.others.values())
