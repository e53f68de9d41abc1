"""Drag targets: the item that a press drags, what moves with it, and how the drag changes the session.

With mirrored edits the other side moves as the mirror image: the motion is mirrored, not the place, so that limbs that
start as mirror images stay so, and others do not jump. The plane is that between the sides of the body as it is when
the drag begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar

import numpy as np

from viewer.document import Document, DocumentGoal, Grab, Item, Mode, actions as act, joint_of, stand_of, world_of
from viewer.document.actions import Select, SetPose, TurnJoint
from viewer.document.actions.goal_actions import adding_goal
from viewer.document.actions.pose_actions import symmetry_normal
from viewer.document.planted_feet import planted_legs
from viewer.document.solved_frames import target_of
from viewer.document.take import layer_of
from viewer.gizmo import RigidMotion, Tool
from viewer.ik.goals import KINDS, pole
from viewer.scene import Hit, Mark
from viewer.session import Session
from viewer.skeleton import JointKind, Pose, Skeleton, above, at_or_below, effector_of
from viewer.skeleton.figure import body_joint, limb_middle, partners
from viewer.skeleton.names import swapped_names
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import IDENTITY, between, conjugate, multiply, rotate
from viewer.ui.contact import PropMover, RadiusMover
from viewer.ui.layering import LayerMover
from viewer.ui.onion_skin import TrailMover
from viewer.ui.view import Mover, item_of

_MIDDLE = 1e-6
"""Metres from a joint within which a point is at its centre."""


def can_follow(document: Document, joint: int, *, beside: bool = False) -> bool:
    """Whether an IK drag can move a point of a joint; ``beside``: one that rotating the joint moves, not its centre."""
    return _can_follow(document.skeleton, document.solver.root, joint, beside=beside)


def _can_follow(skeleton: Skeleton, root: str, joint: int, *, beside: bool = False) -> bool:
    for ancestor in above(skeleton, joint):
        kind = skeleton.kinds[ancestor]
        turns = beside or ancestor != joint
        if kind is JointKind.FREE:
            if root != "locked":
                return True
        elif kind is JointKind.SLIDE or (kind.turns and turns):
            return True
    return False


def aims(goal: DocumentGoal) -> bool:
    """Whether a goal has a position that can be dragged."""
    return goal.enabled and goal.has_position and goal.position is not None


def dragged_item(document: Document, item: Item) -> Item:
    """The item that a drag moves: for a goal without a movable target, such as a bend, its joint.

    For a goal for two effectors it is the first of them.
    """
    if item.kind == "effector" and document.goal(item.name).relative:
        return Item("effector", document.goal(item.name).effector)
    if item.kind != "effector" or KINDS[document.goal(item.name).kind].has_target:
        return item
    return Item("joint", document.skeleton.names[joint_of(document, item)])


def selected_joints(document: Document) -> tuple[str, ...]:
    """Names of the selected joints and of the joints of selected effectors."""
    names = document.skeleton.names
    return tuple(dict.fromkeys(names[joint_of(document, item)] for item in document.selected_on_figure))


def is_body(document: Document, item: Item) -> bool:
    """Whether an item is the handle of a body that can be moved: where legs and spine meet, else a root."""
    return item in body_handles(document.skeleton, document.mode, document.solver.root)


@lru_cache(maxsize=8)
def body_handles(skeleton: Skeleton, mode: Mode, root_mode: str) -> dict[Item, int]:
    """The handles of bodies that can be moved, and their joints."""
    found = {}
    for root in skeleton.roots.tolist():
        joint = body_joint(skeleton, root)
        free = skeleton.kinds[root] is JointKind.FREE
        if free if mode is Mode.FK else _can_follow(skeleton, root_mode, joint):
            found[Item("joint", skeleton.names[joint])] = joint
    return found


def can_move(document: Document, item: Item) -> bool:
    """Whether the move handles would move an item."""
    if not item.on_figure:
        return True
    item = dragged_item(document, item)
    if item.kind == "effector" or is_body(document, item):
        return True
    return document.mode is Mode.IK and can_follow(document, joint_of(document, item))


def places(document: Document, item: Item) -> list[Floats]:
    """Positions of an item: where it is, and its target if any."""
    if not item.on_figure:
        return [handle_of(document, item)[0]]
    if item.kind == "joint":
        world = world_of(document.skeleton, document.pose)
        return [world.positions[document.skeleton.index(item.name)]]
    goal = document.goal(item.name)
    at = stand_of(document, goal).point
    return [at, np.array(goal.position)] if aims(goal) else [at]


def together(document: Document, item: Item) -> list[Item]:
    """The items that an item's handles move: all selected effectors, if it is one of them."""
    several = [one for one in document.selection if dragged_item(document, one).kind == "effector"]
    return several if item in several and document.mode is Mode.IK else [item]


def pivot(document: Document, item: Item) -> Floats:
    """(3,) world position of an item's handles: the mean of all that they move."""
    return np.asarray(np.mean([handle_of(document, one)[0] for one in together(document, item)], axis=0))


def handle_of(document: Document, item: Item) -> tuple[Floats, Floats]:
    """(3,) and (4,), world: position and rotation by which an item is dragged: its target's, else its own."""
    if item.kind == "prop":
        prop = document.contact.prop(item.name)
        return np.array(prop.handle), np.array(prop.rotation)
    if item.kind == "layer":
        return target_of(document, layer_of(document.take, item.name))
    if item.kind == "joint":
        world, joint = world_of(document.skeleton, document.pose), joint_of(document, item)
        return world.positions[joint], world.rotations[joint]
    goal = document.goal(item.name)
    stand = stand_of(document, goal)
    position = np.array(goal.position) if aims(goal) else stand.point
    rotation = np.array(goal.rotation) if goal.enabled and goal.has_rotation else stand.rotation
    return position, rotation


@dataclass(slots=True, eq=False)
class TargetMover(Mover):
    """Moves targets, which the solver follows.

    Attributes:
        starts: initial position (3,) and rotation (4,) of each target.
        grab: the dragged point of a bone, or None.
        individual: each turns about itself, not about the handles.
        turned: whether any motion has rotated so far, so that rotations are targets, too.
    """

    solved: ClassVar[bool] = True
    starts: dict[Item, tuple[Floats, Floats]]
    grab: Grab | None = None
    individual: bool = False
    turned: bool = False

    def begin(self, session: Session) -> None:
        session.begin_drag(() if self.grab is not None else tuple(self.starts), self.grab)

    def apply(self, session: Session, motion: RigidMotion) -> None:
        session.gestures.drag_to(self.targets(motion))

    def targets(self, motion: RigidMotion) -> dict[Item, tuple[Floats, Floats | None]]:
        self.turned = self.turned or motion.turns
        own = self.individual and motion.turns
        moved = {
            item: (replace(motion, pivot=start[0]) if own else motion).apply(*start)
            for item, start in self.starts.items()
        }
        turned = self.turned
        return {item: (position, rotation if turned else None) for item, (position, rotation) in moved.items()}

    @property
    def items(self) -> Iterable[Item]:
        return self.starts


@dataclass(slots=True, eq=False)
class JointsMover(Mover):
    """Rotates joints, each about itself, by the same rotation in the world.

    A child of a joint that rotates moves with it and also rotates itself: a spine curls.

    Attributes:
        joints: by name, parents first; each with the normal (3,) of the mirror that reflects its rotation, or None.
        point: (3,) metres, world: on the bone of the one joint without a normal, follows the pointer; None: the
            motion's own rotation is used.
    """

    joints: dict[str, Floats | None]
    point: Floats | None = None
    _pivot: Floats | None = None
    _starts: dict[str, Floats] = field(default_factory=dict)

    def begin(self, session: Session) -> None:
        document = session.document
        skeleton, pose = document.skeleton, document.pose
        own = [name for name, normal in self.joints.items() if normal is None]
        self._pivot = world_of(skeleton, pose).positions[skeleton.index(own[0])]
        self._starts = {name: pose.rotations[skeleton.index(name)] for name in self.joints}
        session.begin(f"Turn {own[0]}" if len(own) == 1 else f"Turn {len(self.joints)} joints")
        if self.point is not None:  # dragged by its bone, not by the handles of the selected item
            session.gestures.update(Select((Item("joint", own[0]),)))

    def apply(self, session: Session, motion: RigidMotion) -> None:
        turn = self._turn(motion)
        for name, normal in self.joints.items():
            skeleton, pose = session.document.skeleton, session.document.pose
            parent = int(skeleton.parents[skeleton.index(name)])
            above = IDENTITY if parent < 0 else world_of(skeleton, pose).rotations[parent]
            own = turn if normal is None else mirrored_turn(turn, normal)
            turned = multiply(own, multiply(above, self._starts[name]))
            session.gestures.update(TurnJoint(name, multiply(conjugate(above), turned)))

    @property
    def items(self) -> list[Item]:
        return [Item("joint", name) for name in self.joints]

    def _turn(self, motion: RigidMotion) -> Floats:
        """(4,) the rotation since the drag began, world frame."""
        if self.point is None or self._pivot is None:
            return motion.rotation
        position, _ = motion.apply(self.point, None)
        arm, wanted = self.point - self._pivot, position - self._pivot
        if min(np.linalg.norm(arm), np.linalg.norm(wanted)) < 1e-9:
            return IDENTITY
        return between(arm, wanted)


def mirrored_turn(turn: Floats, normal: Floats) -> Floats:
    """(4,) a rotation as a mirror shows it: its axis is a pseudovector."""
    return np.append(2.0 * (turn[:3] @ normal) * normal - turn[:3], turn[3])


@dataclass(slots=True, eq=False)
class BodyMover(Mover):
    """Moves a body, by the joint that has its handle, with the root that carries it (FK)."""

    joint: str
    _start: tuple[Floats, Floats] | None = None
    _index: int = 0

    def begin(self, session: Session) -> None:
        document = session.document
        skeleton, pose = document.skeleton, document.pose
        self._index = above(skeleton, skeleton.index(self.joint))[-1]
        self._start = pose.translations[self._index], pose.rotations[self._index]
        session.begin(f"Move {self.joint}")

    def apply(self, session: Session, motion: RigidMotion) -> None:
        """Move the root: a motion rotates about the handle, not about the root."""
        assert self._start is not None
        pose = session.document.pose  # during a recording the other joints may be moving
        translations, rotations = pose.translations.copy(), pose.rotations.copy()
        # A root has no parent: its local position and rotation are those in the world.
        translations[self._index], rotations[self._index] = motion.apply(*self._start)
        session.gestures.update(SetPose(Pose(rotations, translations), f"Move {self.joint}"))


def can_take(document: Document, hit: Hit) -> bool:
    """Whether dragging a hit would move anything."""
    item = item_of(hit)
    if (
        item.kind == "effector"
        or not item.on_figure
        or hit.kind in {"radius", "limit", "trail"}
        or is_body(document, item)
        or (hit.mark is not None and hit.mark.free_pole)
    ):
        return True
    return _follows(document, hit) if document.mode is Mode.IK else _turned_by(document, hit) is not None


def mover_for(document: Document, item: Item, hit: Hit) -> tuple[Mover | None, Floats]:
    """The mover of a drag from a hit, None if it cannot be moved, and the point that follows the pointer."""
    if item.kind == "prop":
        return PropMover(document.contact.prop(item.name)), handle_of(document, item)[0]
    if item.kind == "layer":
        return LayerMover(document, item.name), handle_of(document, item)[0]
    if hit.kind == "radius":
        return RadiusMover.at(document, hit), hit.point
    if hit.kind == "trail":
        return TrailMover(item, hit.place, hit.point), hit.point
    hit_item, item = item, dragged_item(document, item)
    root = is_body(document, item) and hit.kind != "bone"
    if document.mode is Mode.FK:
        if root:
            return BodyMover(item.name), hit.point
        joint = _turned_by(document, hit)
        return (None if joint is None else JointsMover({joint: None}, hit.point)), hit.point
    if hit.mark is not None and hit.mark.free_pole:
        return PoleMover(hit.name, hit.point), hit.point
    if item.kind == "effector":
        return TargetMover(_together(document, item)), handle_of(document, item)[0]
    position, rotation = handle_of(document, item)
    if root:
        return TargetMover({item: (position, rotation)}), position
    if item != hit_item:
        return (
            TargetMover({item: (position, rotation)}, Grab(item.name)) if can_move(document, item) else None
        ), position
    if not _follows(document, hit):
        return None, hit.point
    local = rotate(conjugate(rotation), hit.point - position)
    return TargetMover({item: (hit.point, rotation)}, Grab(item.name, local)), hit.point


def mover_of_handles(document: Document, item: Item, tool: Tool, *, individual: bool = False) -> Mover:
    """The mover of an item's handles; ``individual``: what is selected with it turns about itself, children on top."""
    if item.kind == "prop":
        return PropMover(document.contact.prop(item.name))
    if item.kind == "layer":
        return LayerMover(document, item.name)
    item = dragged_item(document, item)
    fk, root = document.mode is Mode.FK, is_body(document, item)
    if fk and root:
        return BodyMover(item.name)
    if fk or (tool is Tool.ROTATE and item.kind == "joint" and not root):
        joints = _turning_together(document, individual=individual)
        return JointsMover(dict.fromkeys(joints or [document.skeleton.names[joint_of(document, item)]]))
    if item.kind == "effector" or root:
        return TargetMover(_together(document, item), individual=individual)
    return TargetMover({item: handle_of(document, item)}, Grab(item.name))


def planted_foot(document: Document, mover: Mover) -> str | None:
    """The planted foot that a drag would move, by its goal or by a joint of its leg; None without one."""
    joints, skeleton = [joint_of(document, item) for item in mover.items], document.skeleton
    for name, leg in planted_legs(document, mover.at_frame).items() if joints else ():
        if at_or_below(skeleton, skeleton.index(name) if mover.solved else leg.upper)[joints].any():
            return name
    return None


def _turning_together(document: Document, *, individual: bool) -> list[str]:
    """The selected joints that can turn, parents first; unless ``individual``, those below another move with it."""
    skeleton = document.skeleton
    indices = sorted(skeleton.index(name) for name in selected_joints(document))
    chosen = [joint for joint in indices if skeleton.kinds[joint].turns]
    if not individual:
        chosen = [joint for joint in chosen if not set(above(skeleton, joint)[1:]) & {*chosen}]
    return [skeleton.names[joint] for joint in chosen]


def _together(document: Document, item: Item) -> dict[Item, tuple[Floats, Floats]]:
    """By item that moves with an item, its position and rotation."""
    return {one: handle_of(document, one) for one in together(document, item)}


def _turned_by(document: Document, hit: Hit) -> str | None:
    """The joint that an FK drag from a hit rotates; None if none can."""
    skeleton = document.skeleton
    joint = hit.index
    if _at_centre(document, hit):
        joint = int(skeleton.parents[joint])
    while joint >= 0 and not skeleton.kinds[joint].turns:
        joint = int(skeleton.parents[joint])
    return None if joint < 0 else skeleton.names[joint]


def _follows(document: Document, hit: Hit) -> bool:
    return can_follow(document, hit.index, beside=not _at_centre(document, hit))


def _at_centre(document: Document, hit: Hit) -> bool:
    """Whether a joint was hit at its centre, not a bone."""
    middle = world_of(document.skeleton, document.pose).positions[hit.index]
    return hit.kind != "bone" and bool(np.linalg.norm(hit.point - middle) < _MIDDLE)


def limb_joint(document: Document) -> str | None:
    """The elbow or knee of the active item's limb; None if it is on no limb."""
    item = document.active_on_figure
    if item is None:
        return None
    skeleton = document.skeleton
    joint = skeleton.index(item.name) if item.kind == "joint" else stand_of(document, document.goal(item.name)).joint
    middle = limb_middle(skeleton, joint)
    return None if middle is None else skeleton.names[middle]


def free_pole(document: Document, hovered: Item | None) -> Mark | None:
    """The outline of a cone, where the selected limb could get a pole; None if it has one, or no limb is selected."""
    joint = limb_joint(document)
    if joint is None or document.mode is Mode.FK or pole_of(document, joint) is not None:
        return None
    skeleton, world = document.skeleton, world_of(document.skeleton, document.pose)
    index = skeleton.index(joint)
    return Mark(
        name=joint,
        joint=index,
        position=world.positions[index],
        target=np.array(pole.pole_before(skeleton, world, joint)),
        on=False,
        pole=True,
        swivel=pole.swivel_circle(skeleton, world, joint),
        hovered=hovered == Item("joint", joint),
    )


def pole_of(document: Document, joint: str) -> str | None:
    """The id of a joint's enabled pole goal, or None."""
    poles = [goal.id for goal in document.goals if goal.effector == joint and KINDS[goal.kind].of_limb]
    return next((name for name in poles if document.goal(name).enabled), None)


@dataclass(slots=True, eq=False)
class PoleMover(Mover):
    """Adds a pole to a limb, by its middle joint, and moves it from a pressed point (3,) of the cone, metres, world."""

    joint: str
    point: Floats

    def begin(self, session: Session) -> None:
        session.begin(f"Pole of {self.joint}")
        for action in adding_goal(session.document, self.joint, "pole"):
            session.gestures.update(action)

    def apply(self, session: Session, motion: RigidMotion) -> None:
        position, _ = motion.apply(self.point, None)
        name = pole_of(session.document, self.joint)
        if name is not None:
            session.gestures.update(act.MoveTargets({name: (position, None)}))


def other_joint(document: Document, joint: str) -> str | None:
    """The joint of the other side; None where there is none."""
    skeleton = document.skeleton
    index = skeleton.index(joint)
    other = int(partners(skeleton)[index])
    return None if other == index else skeleton.names[other]


def _other_item(document: Document, item: Item) -> Item | None:
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
    here = effector_of(skeleton, name).joint
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
    return _other_item(document, item) in document.selection


def _mirrored_targets(document: Document, mover: TargetMover) -> Mover:
    others: dict[Item, Item] = {}
    for item in sorted(mover.starts, key=lambda item: item != document.active):
        other = _other_item(document, item)
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
    return _MirroredTargets(TargetMover(starts, mover.grab), others, grab)


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
class _MirroredTargets(Mover):
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
