"""Building and changing skeletons joint by joint, by names; each joint is checked, changed and reflected on its own."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, Self, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from viewer.errors import InputError, plural, prefixed, quote, unknown_name
from viewer.skeleton.attached import Bodies, Capsule, Inertia
from viewer.skeleton.character import check_skeleton
from viewer.skeleton.clip_limits import twist_axes
from viewer.skeleton.limits import (
    JointKind,
    JointLimits,
    LimitForm,
    LoopClosure,
    Mimic,
    Motor,
    kept_mimics,
    limits_for,
    renamed_loops,
    renamed_mimics,
)
from viewer.skeleton.names import Effector, EffectorGoal, swapped_names
from viewer.skeleton.skeleton import Pose, Skeleton
from viewer.skeleton.tree import parents_first, rest_world
from viewer.spatial.checks import Floats, finite_floats, member, text, unit_quaternions
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate

GoalWord: TypeAlias = Literal["position", "rotation", "position+rotation", "off"]
_HERE = "builder: "

KindWord: TypeAlias = Literal["ball", "hinge", "universal", "slide", "fixed", "free"]
Range: TypeAlias = tuple[float, float]
Limits: TypeAlias = JointLimits | Range | Iterable[Range] | None


class Builder:
    """Builds or changes a skeleton: every method returns the builder, `skeleton` is the current result.

        arm = (
            viewer.Builder(name="arm")
            .add("shoulder", offset=(0, 1, 0), kind="ball")
            .add("elbow", "shoulder", (0, 0.4, 0), kind="hinge", axis=(1, 0, 0), limits=(0.0, 2.6))
            .tip("elbow", (0, 0.3, 0))
            .effector("hand", "elbow", (0, 0.3, 0))
            .skeleton
        )

    Units are metres and radians. An invalid change raises an `InputError` and leaves the builder as it was.

    Args:
        skeleton: to start from; None: nothing.
        name: of the result; the skeleton's own unless given.
    """

    def __init__(self, skeleton: Skeleton | None = None, *, name: str | None = None) -> None:
        self._joints: dict[str, BuiltJoint] = {}
        self._tips: list[tuple[str, Floats]] = []
        self._effectors: dict[str, tuple[str, Effector]] = {}
        self._poses: tuple[str, ...] = ()
        self._states_bodies = False
        self._mimics: list[Mimic] = []
        self._loops: tuple[LoopClosure, ...] = ()
        own = "skeleton"
        if skeleton is not None:
            check_skeleton(skeleton, _HERE)
            own = skeleton.name
            self._take(skeleton)
        self._name = own if name is None else text(name, "builder: name")

    def __repr__(self) -> str:
        count = len(self._joints)
        return f"<Builder {quote(self._name)}: {plural(count, 'joint')}>"

    def __len__(self) -> int:
        return len(self._joints)

    @property
    def names(self) -> tuple[str, ...]:
        """The joints so far."""
        return tuple(self._joints)

    def add(
        self,
        name: str,
        parent: str | None = None,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        *,
        kind: JointKind | KindWord = "ball",
        axis: ArrayLike | None = None,
        limits: Limits = None,
        rotation: ArrayLike = (0.0, 0.0, 0.0, 1.0),
        stiffness: float = 0.0,
        inertia: Inertia | None = None,
        motor: Motor | None = None,
    ) -> Self:
        """Add a joint.

        Args:
            name: of the joint.
            parent: its parent joint; None: a root.
            offset: (3,) metres in the parent's frame.
            kind: how it moves; "free" is for roots.
            axis: (3,) of a hinge or slide, (2, 3) of a universal, in the joint's rest frame.
            limits: `JointLimits`; or (lowest, highest) of a hinge or slide, two such pairs of a universal, three about
                x, y and z of a ball (swing and twist, the twist along its bone).
            rotation: (4,) at rest, parent_from_joint.
            stiffness: 0 (free) to 1 (does not move in IK).
            inertia: of what it carries rigidly; None: estimated.
            motor: of what drives it; None: not stated.

        Raises:
            InputError: a name that is taken, an unknown parent, invalid numbers.
        """
        self._check_free(name)
        if parent is not None:
            self._joint(parent)
        place, turn = as_vector(offset, name, "offset"), as_rotation(rotation, name)
        made = BuiltJoint(parent, place, turn, inertia=inertia, motor=motor)
        self._joints[name] = changed_joint(made, name, kind, axis, limits, stiffness)
        return self

    def change(
        self,
        name: str,
        *,
        kind: JointKind | KindWord | None = None,
        axis: ArrayLike | None = None,
        limits: Limits | Literal["keep"] = "keep",
        rotation: ArrayLike | None = None,
        stiffness: float | None = None,
    ) -> Self:
        """Change how a joint moves; values that are not given stay, except limits and motor when the kind changes.

        ``limits=None`` removes them. Arguments and errors are those of `add`.
        """
        joint = self._joint(name)
        found = joint.kind if kind is None else member(JointKind, kind, f"builder: kind of {quote(name)}")
        same = found is joint.kind
        if isinstance(limits, str):
            limits = joint.limits if same else None
        stiff = joint.stiffness if stiffness is None else stiffness
        rest = joint.rotation if rotation is None else as_rotation(rotation, name)
        axes = joint.axes[: found.axes] if axis is None else axis
        joint = replace(joint, rotation=rest, motor=joint.motor if same else None)
        self._joints[name] = changed_joint(joint, name, found, axes, limits, stiff)
        return self

    def move(self, name: str, offset: ArrayLike, parent: str | None = None) -> Self:
        """Move a joint and all joints below it to another offset, and to another parent if one is given.

        Raises:
            InputError: an unknown joint; a parent below the joint itself.
        """
        joint, place = self._joint(name), as_vector(offset, name, "offset")
        self._check_parent(name, parent)
        poses = {pose: (turn, moved + place - joint.offset) for pose, (turn, moved) in joint.poses.items()}
        self._joints[name] = replace(joint, offset=place, parent=parent or joint.parent, poses=poses)
        return self

    def reparent(self, name: str, parent: str | None) -> Self:
        """Hang a joint, with all below it, on another parent, or on none; it stays where it is at rest.

        A free joint that gets a parent becomes a ball.

        Raises:
            InputError: an unknown joint, a parent that is the joint itself or below it.
        """
        joint = self._joint(name)
        self._check_parent(name, parent)
        if parent == joint.parent:
            return self
        skeleton = self.skeleton
        world = rest_world(skeleton)
        here = skeleton.index(name)
        place, turn = world.positions[here], world.rotations[here]
        if parent is not None:
            above = skeleton.index(parent)
            back = conjugate(world.rotations[above])
            place, turn = rotate(back, place - world.positions[above]), multiply(back, turn)
        loose = joint.kind is JointKind.FREE and parent is not None
        kind = JointKind.BALL if loose else joint.kind
        turn = turn / np.linalg.norm(turn)
        self._joints[name] = replace(joint, parent=parent, offset=place, rotation=turn, kind=kind, poses={})
        return self

    def rename(self, name: str, new: str) -> Self:
        """Rename a joint, and an effector with the joint's name.

        Raises:
            InputError: no such joint, a name that is taken.
        """
        self._joint(name)
        if new == name:
            return self
        self._check_free(new)
        other = {name: new}
        self._joints = {
            other.get(own, own): replace(joint, parent=other.get(joint.parent or "", joint.parent))
            for own, joint in self._joints.items()
        }
        self._tips = [(other.get(joint, joint), offset) for joint, offset in self._tips]
        self._mimics = renamed_mimics(self._mimics, other)
        ends = [end for one in self._loops for end in (one.a, one.b) if end.startswith(f"{name}.tip")]
        tips = {end: new + end.removeprefix(name) for end in ends}
        self._loops = renamed_loops(self._loops, other | tips)
        if name in self._effectors and new in self._effectors:
            del self._effectors[name]
        self._effectors = {
            other.get(own, own) if joint == name else own: (
                other.get(joint, joint),
                replace(effector, name=other.get(own, own) if joint == name else own),
            )
            for own, (joint, effector) in self._effectors.items()
        }
        return self

    def remove(self, name: str) -> Self:
        """Remove a joint with all joints below it, or an effector.

        Raises:
            InputError: neither a joint nor an effector has this name.
        """
        if name not in self._joints and name in self._effectors:
            del self._effectors[name]
            return self
        self._joint(name)
        gone = set(self._below(name))
        self._joints = {own: joint for own, joint in self._joints.items() if own not in gone}
        self._tips = [(joint, offset) for joint, offset in self._tips if joint not in gone]
        self._effectors = {own: pair for own, pair in self._effectors.items() if pair[0] not in gone}
        return self

    def mimic(self, joint: str, leader: str, ratio: float = 1.0, offset: float = 0.0) -> Self:
        """Make a hinge or slide follow another one: its coordinate is ratio * leader's + offset.

        Args:
            joint: the follower.
            leader: its leader.
            ratio: radians or metres of the follower per radian or metre of the leader; 0: it no longer follows.
            offset: radians, or metres of a slide.

        Raises:
            InputError: unknown joints; `skeleton` raises it for joints that are no hinges or slides, and for cycles.
        """
        self._joint(joint)
        self._joint(leader)
        self._mimics = [one for one in self._mimics if one.joint != joint]
        if ratio:
            self._mimics.append(Mimic(joint, leader, ratio, offset))
        return self

    def loop(self, a: str, b: str, *, rigid: bool = False) -> Self:
        """Keep two places together: joints, effectors or tips. Loops of unknown places are left out.

        Args:
            a: name of the one.
            b: of the other.
            rigid: their joints also keep the rotation that they have to each other at rest.
        """
        self._loops = (*self._loops, LoopClosure(a, b, rigid))
        return self

    def tip(self, joint: str, offset: ArrayLike) -> Self:
        """Add an end site, ``JOINT.tip``: where the last bone ends.

        Raises:
            InputError: an unknown joint, an invalid offset.
        """
        self._joint(joint)
        self._tips.append((joint, as_vector(offset, joint, "tip")))
        return self

    def effector(
        self,
        name: str,
        joint: str | None = None,
        offset: ArrayLike = (0.0, 0.0, 0.0),
        goal: EffectorGoal | GoalWord = "position",
    ) -> Self:
        """Add an effector, or replace the one of that name.

        Args:
            name: of the effector.
            joint: to which it is fixed; None: the joint with its name.
            offset: (3,) metres in the joint's frame.
            goal: what it holds when the file opens.

        Raises:
            InputError: an unknown joint or goal.
        """
        at = name if joint is None else joint
        self._joint(at)
        x, y, z = as_vector(offset, name, "offset").tolist()
        self._effectors[name] = (
            at,
            Effector(name, 0, (x, y, z), member(EffectorGoal, goal, f"builder: goal of {quote(name)}")),
        )
        return self

    def mirror(
        self, name: str, names: Mapping[str, str] | None = None, *, across: Literal["x", "y", "z"] = "x"
    ) -> Self:
        """Add the other side of a limb: a joint and all below it, with tips and effectors, reflected.

        The reflected limb is attached to the parent's counterpart, or to the same parent if that has no side. Names
        swap their sides: LeftArm becomes RightArm, hand_l hand_r.

        Args:
            name: the topmost joint of the limb.
            names: for joints and effectors whose name has no side.
            across: the axis, in the world at rest, that changes its sign: x is the left of a figure that faces z.

        Raises:
            InputError: an unknown joint, names without a side, names that are taken.
        """
        top = self._joint(name)
        if across not in ("x", "y", "z"):
            raise InputError(f'builder: across: expected "x", "y" or "z", found {quote(across)}')
        below = self._below(name)
        effectors = [own for own, (joint, _) in self._effectors.items() if joint in below]
        other = {own: self._other(own, names or {}) for own in dict.fromkeys([*below, *effectors])}
        for joint in below:
            self._check_free(other[joint])
        taken = next((other[own] for own in effectors if other[own] in self._effectors), None)
        if taken is not None:
            raise InputError(f"builder: there is an effector {quote(taken)} already: remove it first")
        parent = top.parent
        if parent is not None:
            parent = next((found for found in swapped_names(parent) if found in self._joints), parent)
        frame, shift = self._reflected_frame(top.parent, parent, "xyz".index(across))
        for joint in below:
            made = reflected_joint(self._joints[joint], "xyz".index(across))
            if joint == name:
                made.parent = parent
                made.offset = rotate(frame, made.offset) + shift
                made.rotation = multiply(frame, made.rotation)
                made.poses = {p: (multiply(frame, q), rotate(frame, t) + shift) for p, (q, t) in made.poses.items()}
            else:
                made.parent = other[made.parent or ""]
            self._joints[other[joint]] = made
        flip = flip_of("xyz".index(across))
        self._copy_mimics_and_tips(below, other, flip)
        for own in effectors:
            joint, effector = self._effectors[own]
            x, y, z = (flip * effector.offset).tolist()
            self._effectors[other[own]] = other[joint], replace(effector, name=other[own], offset=(x, y, z))
        return self

    def copy(self, name: str, names: Mapping[str, str], shift: ArrayLike) -> Self:
        """Add a copy of a joint and all below it to the same parent, with tips but without effectors.

        Args:
            name: the topmost joint of the limb.
            names: of the copies by joint; none may be taken.
            shift: (3,) metres in the parent's frame.
        """
        below, way = self._below(name), as_vector(shift, name, "shift")
        for joint in below:
            self._check_free(names[joint])
        for joint in below:
            made = self._joints[joint]
            parent = names.get(made.parent or "", made.parent)
            by = way if joint == name else np.zeros(3)
            poses = {own: (turn, place + by) for own, (turn, place) in made.poses.items()}
            self._joints[names[joint]] = replace(made, parent=parent, offset=made.offset + by, poses=poses)
        self._copy_mimics_and_tips(below, names, np.ones(3))
        return self

    def _copy_mimics_and_tips(self, below: list[str], names: Mapping[str, str], flip: Floats) -> None:
        inside = set(below)
        within = [one for one in self._mimics if one.joint in inside and one.leader in inside]
        self._mimics += renamed_mimics(within, names)
        self._tips += [(names[joint], flip * offset) for joint, offset in self._tips if joint in inside]

    @property
    def skeleton(self) -> Skeleton:
        """The skeleton as it is now, parents first.

        Raises:
            InputError: it has no joints; or they do not make a skeleton, such as a hinge without an axis.
        """
        if not self._joints:
            raise InputError("builder: a skeleton needs at least one joint: add one")
        order = self._order()
        index = {name: joint for joint, name in enumerate(order)}
        joints = [self._joints[name] for name in order]
        tips = sorted(self._tips, key=lambda tip: index[tip[0]])
        mobility = np.array([joint.mobility for joint in joints])
        matrices = np.array([joint.mobility_matrix for joint in joints])
        made = Skeleton(
            name=self._name,
            names=tuple(order),
            parents=np.array([-1 if joint.parent is None else index[joint.parent] for joint in joints]),
            offsets=np.array([joint.offset for joint in joints]),
            rest_rotations=np.array([joint.rotation for joint in joints]),
            kinds=tuple(joint.kind for joint in joints),
            axes=np.array([joint.axes for joint in joints]),
            limits=tuple(joint.limits for joint in joints),
            stiffness=np.array([joint.stiffness for joint in joints]),
            tip_parents=np.array([index[joint] for joint, _ in tips], dtype=np.intp),
            tip_offsets=np.array([offset for _, offset in tips]).reshape(-1, 3),
            effectors=tuple(replace(effector, joint=index[joint]) for joint, effector in self._effectors.values()),
            poses={name: self._pose(name, joints) for name in self._poses},
            mobility=None if np.isnan(mobility).all() else mobility,
            mobility_matrices=None if np.isnan(matrices).all() else matrices,
            bodies=self._bodies(joints),
            inertias=tuple(joint.inertia for joint in joints),
            motors=tuple(joint.motor for joint in joints),
            mimics=kept_mimics(self._mimics, order, [joint.kind for joint in joints]),
            loops=self._loops,
        )
        if not any(joint.plain for joint in joints):
            return made
        twists = zip(joints, twist_axes(made), strict=True)
        limits = [
            replace(joint.limits, twist_axis=axis) if joint.plain and joint.limits else joint.limits
            for joint, axis in twists
        ]
        return replace(made, limits=tuple(limits))

    def _bodies(self, joints: list[BuiltJoint]) -> Bodies | None:
        if not self._states_bodies:
            return None
        placed = enumerate(joints)
        return Bodies(tuple(replace(one, joint=place) for place, joint in placed for one in joint.capsules))

    def _take(self, skeleton: Skeleton) -> None:
        self._poses, self._states_bodies = tuple(skeleton.poses), skeleton.bodies is not None
        self._mimics, self._loops = list(skeleton.mimics), skeleton.loops
        capsules = skeleton.bodies.capsules if skeleton.bodies is not None else ()
        nothing = np.full((len(skeleton), 3, 3), np.nan)
        mobility = nothing[:, 0] if skeleton.mobility is None else skeleton.mobility
        matrices = nothing if skeleton.mobility_matrices is None else skeleton.mobility_matrices
        for j, (name, parent) in enumerate(zip(skeleton.names, skeleton.parents.tolist(), strict=True)):
            self._joints[name] = BuiltJoint(
                None if parent < 0 else skeleton.names[parent], skeleton.offsets[j], skeleton.rest_rotations[j],
                skeleton.kinds[j], skeleton.axes[j], skeleton.limits[j], False, float(skeleton.stiffness[j]),
                mobility[j], matrices[j],
                {own: (pose.rotations[j], pose.translations[j]) for own, pose in skeleton.poses.items()},
                tuple(capsule for capsule in capsules if capsule.joint == j),
                skeleton.inertias[j] if skeleton.inertias else None,
                skeleton.motors[j] if skeleton.motors else None,
            )  # fmt: skip
        parents = skeleton.tip_parents.tolist()
        self._tips = [(skeleton.names[j], offset) for j, offset in zip(parents, skeleton.tip_offsets, strict=True)]
        self._effectors = {effector.name: (skeleton.names[effector.joint], effector) for effector in skeleton.effectors}

    def _joint(self, name: object) -> BuiltJoint:
        if not isinstance(name, str) or name not in self._joints:
            raise InputError(f"builder: {unknown_name('joint', str(name), self._joints)}")
        return self._joints[name]

    def _check_free(self, name: str) -> None:
        text(name, "builder: joint name", empty=False)
        if name in self._joints:
            raise InputError(f"builder: there is a joint {quote(name)} already: remove it first")

    def _check_parent(self, name: str, parent: str | None) -> None:
        if parent is not None:
            self._joint(parent)
            if parent in self._below(name):
                raise InputError(f"builder: {quote(parent)} hangs on {quote(name)} and cannot be its parent")

    def _below(self, name: str) -> list[str]:
        """A joint and all below it, parents first."""
        found = {name: None}
        for joint in self._order():
            if self._joints[joint].parent in found:
                found[joint] = None
        return list(found)

    def _order(self) -> list[str]:
        names = list(self._joints)
        index = {name: joint for joint, name in enumerate(names)}
        parents = [-1 if joint.parent is None else index[joint.parent] for joint in self._joints.values()]
        return [names[joint] for joint in parents_first(parents)]

    def _other(self, name: str, names: Mapping[str, str]) -> str:
        found = [names[name]] if name in names else swapped_names(name)
        if not found:
            raise InputError(
                f"builder: mirror: expected a name with a side such as LeftArm, found {quote(name)}: "
                f'name its counterpart, names={{"{name}": ...}}'
            )
        return found[0]

    def _reflected_frame(self, parent: str | None, other: str | None, axis: int) -> tuple[Floats, Floats]:
        """The rotation and shift from a parent's reflected frame into that of its counterpart, at rest."""
        flip = flip_of(axis)
        if parent is None or other is None:
            return IDENTITY, np.zeros(3)
        skeleton = self.skeleton
        world = rest_world(skeleton)
        here, there = skeleton.index(parent), skeleton.index(other)
        back = conjugate(world.rotations[there])
        shift = rotate(back, flip * world.positions[here] - world.positions[there])
        return multiply(back, reflected_rotation(world.rotations[here], axis)), shift

    def _pose(self, name: str, joints: list[BuiltJoint]) -> Pose:
        motion = [joint.poses.get(name, (joint.rotation, joint.offset)) for joint in joints]
        return Pose(np.array([q for q, _ in motion]), np.array([t for _, t in motion]))


@dataclass(slots=True)
class BuiltJoint:
    """A joint with its parent by name.

    ``plain``: its limits are plain ranges of a ball, whose twist axis follows from the bone when it is built. Its
    rotation and translation in the named ``poses``; the joint index of its ``capsules`` is ignored.
    """

    parent: str | None
    offset: Floats
    rotation: Floats
    kind: JointKind = JointKind.BALL
    axes: Floats = field(default_factory=lambda: np.zeros((2, 3)))
    limits: JointLimits | None = None
    plain: bool = False
    stiffness: float = 0.0
    mobility: Floats = field(default_factory=lambda: np.full(3, np.nan))
    mobility_matrix: Floats = field(default_factory=lambda: np.full((3, 3), np.nan))
    poses: dict[str, tuple[Floats, Floats]] = field(default_factory=dict)
    capsules: tuple[Capsule, ...] = ()
    inertia: Inertia | None = None
    motor: Motor | None = None


def changed_joint(
    joint: BuiltJoint, name: str, kind: object, axis: ArrayLike | None, limits: Limits, stiffness: float
) -> BuiltJoint:
    """The joint with another motion."""
    own = quote(name)
    found = member(JointKind, kind, f"builder: kind of {own}")
    if found is JointKind.FREE and joint.parent is not None:
        raise InputError(f"builder: kind of {own}: expected free on roots only, found it on a joint with a parent")
    axes, count = np.zeros((2, 3)), found.axes
    given = np.zeros((0, 3)) if axis is None else np.atleast_2d(np.asarray(axis, dtype=np.float64))
    if len(given) != count:
        wanted = {0: f"none: a {found} joint has no axis", 1: "one, (x, y, z)", 2: "two"}[count]
        raise InputError(f"builder: axis of {own}: expected {wanted}, found {len(given)}")
    axes[:count] = finite_floats(given, (count, 3), f"builder: axis of {own}")
    with prefixed(f"builder: limits of {own}"):
        ranges, plain = _limits(found, limits)
        ranges = limits_for(found, ranges)
    stiff = float(finite_floats(stiffness, (), f"builder: stiffness of {own}"))
    if not 0.0 <= stiff <= 1.0:
        raise InputError(f"builder: stiffness of {own}: expected 0 to 1, found {stiff:g}")
    kept = joint.plain and ranges is not None and ranges is joint.limits
    return replace(joint, kind=found, axes=axes, limits=ranges, plain=plain or kept, stiffness=stiff)


def _limits(kind: JointKind, limits: Limits) -> tuple[JointLimits | None, bool]:
    """Limits from ranges, and whether they are those of a ball, whose twist axis is not known yet."""
    if limits is None or isinstance(limits, JointLimits):
        return limits, False
    try:
        pairs = np.atleast_2d(np.asarray(limits, dtype=np.float64))
    except (TypeError, ValueError):
        raise InputError(f"expected pairs (lowest, highest), found {quote(limits)}") from None
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise InputError(f"expected pairs (lowest, highest), found numbers of shape {pairs.shape}")
    ranges = [(float(low), float(high)) for low, high in pairs]
    if kind is not JointKind.BALL:
        return JointLimits.coordinates(*ranges), False
    if len(ranges) != 3:
        raise InputError(f"expected three ranges of a ball, about x, y and z, found {len(ranges)}")
    return JointLimits.swing_twist(1, *ranges), True


def as_vector(value: ArrayLike, name: str, what: str) -> Floats:
    """(3,) finite numbers of a joint."""
    return finite_floats(value, (3,), f"builder: {what} of {quote(name)}").copy()


def as_rotation(value: ArrayLike, name: str) -> Floats:
    """(4,) a unit quaternion of a joint."""
    return unit_quaternions(value, (4,), f"builder: rotation of {quote(name)}")


def flip_of(axis: int) -> Floats:
    """(3,) signs of a reflection along an axis."""
    return np.where(np.arange(3) == axis, -1.0, 1.0)


def reflected_rotation(q: Floats, axis: int) -> Floats:
    """M R M for a reflection M: the rotation vector keeps its part along the axis, the others change sign."""
    return np.append(-flip_of(axis), 1.0) * q


def reflected_joint(joint: BuiltJoint, axis: int) -> BuiltJoint:
    """A reflected joint: offsets and directions change sign along the axis, rotation axes (pseudovectors) across it."""
    flip, limits = flip_of(axis), joint.limits
    if limits is not None and limits.form is not LimitForm.COORDINATES:
        keep = np.arange(3) == axis
        lower, upper = np.where(keep, limits.lower, -limits.upper), np.where(keep, limits.upper, -limits.lower)
        limits = replace(limits, lower=lower, upper=upper)
    sign = 1.0 if joint.kind is JointKind.SLIDE else -1.0
    return replace(
        joint,
        offset=flip * joint.offset,
        rotation=reflected_rotation(joint.rotation, axis),
        axes=sign * flip * joint.axes,
        limits=limits,
        mobility_matrix=flip[:, None] * joint.mobility_matrix * flip,
        poses={name: (reflected_rotation(q, axis), flip * t) for name, (q, t) in joint.poses.items()},
        capsules=tuple(replace(one, a=flip * one.a, b=flip * one.b) for one in joint.capsules),  # type: ignore[arg-type]  # it takes vectors
        inertia=None if joint.inertia is None else joint.inertia.reflected(flip),
    )
