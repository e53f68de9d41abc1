"""A skeleton in the words of robotics: single-axis joints, as a URDF for one family of libraries, as MJCF for another.

A hinge or slide is one such joint, a universal two, a ball with Euler ranges one per axis that can move at all, a ball
without limits a spherical joint (or three hinges, for a library that has none). No axis is spent where nothing moves.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import numpy as np

from viewer.cli.bench_measures import Rig
from viewer.errors import InputError, quote
from viewer.skeleton import Bodies, JointKind, JointLimits, LimitForm, Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import axes_of, from_axis_angle, multiply, rotate, to_euler


@dataclass(frozen=True, slots=True, eq=False)
class Axis:
    """One single-axis joint.

    Attributes:
        joint: of the skeleton.
        name: unique.
        direction: (3,) unit, in the joint's rest frame turned by the axes before it.
        lower, upper: radians, or metres if it slides; infinite where unlimited.
        slides: along the axis instead of turning about it.
    """

    joint: int
    name: str
    direction: Floats
    lower: float
    upper: float
    slides: bool

    @property
    def limited(self) -> bool:
        """Whether it has a lower and an upper limit."""
        return bool(np.isfinite(self.lower) and np.isfinite(self.upper))


@dataclass(frozen=True, slots=True, eq=False)
class Mechanism:
    """A skeleton's joints as axes.

    Attributes:
        skeleton: what they make up.
        axes: per joint, the outermost first; none where the joint is fixed, floating or spherical.
        spherical: joints that turn any way, unlimited, if they were asked for as such.
        floating: whether the first joint is a free root.
    """

    skeleton: Skeleton
    axes: tuple[tuple[Axis, ...], ...]
    spherical: tuple[int, ...]
    floating: bool

    def all_axes(self) -> list[Axis]:
        """Joint by joint, in the skeleton's order."""
        return [axis for axes in self.axes for axis in axes]


def mechanism(skeleton: Skeleton, *, spherical: bool) -> Mechanism:
    """The skeleton as axes; with ``spherical`` unlimited balls stay one joint.

    Raises:
        InputError: swing-twist limits, or a free root that is not the first joint: no rival supports these.
    """
    balls = [
        joint
        for joint, (kind, limits) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True))
        if spherical and kind is JointKind.BALL and limits is None
    ]
    axes = [() if joint in balls else _axes(skeleton, joint) for joint in range(len(skeleton))]
    free = [joint for joint, kind in enumerate(skeleton.kinds) if kind is JointKind.FREE]
    if free not in ([], [0]):
        raise InputError("rivals: expected a free root to be the first joint")
    return Mechanism(skeleton, tuple(axes), tuple(balls), floating=bool(free))


def _axes(skeleton: Skeleton, joint: int) -> tuple[Axis, ...]:
    kind, limits, name = skeleton.kinds[joint], skeleton.limits[joint], skeleton.names[joint]
    if kind in (JointKind.FREE, JointKind.FIXED):
        return ()
    if kind is JointKind.BALL:
        if limits is not None and limits.form is LimitForm.SWING_TWIST:
            raise InputError(f"rivals: they know no swing-twist limits, and {quote(name)} has such")
        order = axes_of(limits.order if limits is not None else "xyz")
        directions = [np.eye(3)[axis] for axis in order]
    else:
        order = (0, 1, 2)
        directions = list(skeleton.axes[joint][: 2 if kind is JointKind.UNIVERSAL else 1])
    made = []
    for place, direction in zip(order, directions, strict=False):
        lower, upper = _range(limits, place)
        if lower < upper:
            made.append(Axis(joint, f"{name}:{place}", direction, lower, upper, kind is JointKind.SLIDE))
        elif lower != 0.0:
            raise InputError(f"rivals: an axis of {quote(name)} is locked elsewhere than at rest")
    return tuple(made)


def _range(limits: JointLimits | None, place: int) -> tuple[float, float]:
    if limits is None:
        return -np.inf, np.inf
    return float(limits.lower[place]), float(limits.upper[place])


def pose_arrays(
    built: Mechanism, values: Floats, balls: Floats | None = None, root: tuple[Floats, Floats] | None = None
) -> tuple[Floats, Floats]:
    """Local rotations (J, 4) and translations (J, 3) of a rival's answer.

    Args:
        built: what the rival was given.
        values: per axis of `Mechanism.all_axes`, radians or metres.
        balls: (S, 4) turns of the spherical joints from rest, (x, y, z, w).
        root: of a floating base: translation (3,) in the world, rotation (4,).
    """
    skeleton = built.skeleton
    rotations, translations = skeleton.rest_rotations.copy(), skeleton.offsets.copy()
    for axis, value in zip(built.all_axes(), values, strict=True):
        if axis.slides:
            translations[axis.joint] += value * rotate(rotations[axis.joint], axis.direction)
        else:
            turn = from_axis_angle(axis.direction, value)
            rotations[axis.joint] = multiply(rotations[axis.joint], turn)
    if balls is not None:
        for joint, turn in zip(built.spherical, balls, strict=True):
            rotations[joint] = multiply(rotations[joint], turn)
    if root is not None:
        translations[0], rotations[0] = root
    return rotations, translations


def children(skeleton: Skeleton) -> list[Sequence[int]]:
    """Per joint, its children."""
    hanging: list[list[int]] = [[] for _ in skeleton.names]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent >= 0:
            hanging[parent].append(joint)
    return list(hanging)


_HEAD = (
    '<mujoco><compiler angle="radian" autolimits="true" inertiafromgeom="false"/><option gravity="0 0 0"/><worldbody>'
)
_TAIL = "</worldbody></mujoco>"
_INERTIAL = '<inertial pos="0 0 0" mass=".1" diaginertia=".001 .001 .001"/>'


class MujocoModel:
    """The compiled model, and the way back from its configurations to poses.

    Attributes:
        model: MjModel.
        sites: (G,) site ids of the goals.
        lower, upper: (nq,) ranges to clamp to, infinite where there are none.
    """

    def __init__(self, rig: Rig, bodies: Bodies | None = None) -> None:
        """Compile the model, with these capsules."""
        mujoco: Any = import_module("mujoco")
        self.built = mechanism(rig.skeleton, spherical=True)
        self.model = model = mujoco.MjModel.from_xml_string(mjcf(rig, self.built, bodies))
        self.sites = [model.site(site_name(goal)).id for goal in range(len(rig.joints))]
        self.places = [int(model.joint(axis.name).qposadr[0]) for axis in self.built.all_axes()]
        self.balls = [int(model.joint(rig.skeleton.names[joint]).qposadr[0]) for joint in self.built.spherical]
        self.lower, self.upper = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
        for place, axis in zip(self.places, self.built.all_axes(), strict=True):
            self.lower[place], self.upper[place] = axis.lower, axis.upper

    def pose(self, q: Floats) -> tuple[Floats, Floats]:
        """Local rotations (J, 4) and translations (J, 3) of a configuration; quaternions there are (w, x, y, z)."""
        balls = np.array([[*q[place + 1 : place + 4].tolist(), q[place]] for place in self.balls])
        root = (q[:3], q[[4, 5, 6, 3]]) if self.built.floating else None
        return pose_arrays(self.built, q[self.places], balls, root)


def site_name(goal: int) -> str:
    """The name of a goal's site."""
    return f"goal{goal}"


def geom_name(capsule: int) -> str:
    """The name of a capsule's geom."""
    return f"capsule{capsule}"


def mjcf(rig: Rig, built: Mechanism, bodies: Bodies | None = None) -> str:
    """The model's XML, with a geom for each capsule of ``bodies``. Without recursion: chains are deep."""
    hanging = children(rig.skeleton)
    parts = [_HEAD]
    waiting: list[tuple[int, bool]] = [(int(joint), False) for joint in rig.skeleton.roots[::-1]]
    while waiting:
        joint, done = waiting.pop()
        if done:
            parts.append("</body>")
            continue
        parts += [_opening(rig, joint), *_mjcf_joints(built, joint), *_sites(rig, joint), *_geoms(bodies, joint)]
        waiting.append((joint, True))
        waiting += [(child, False) for child in reversed(hanging[joint])]
    return "".join([*parts, _TAIL])


def _opening(rig: Rig, joint: int) -> str:
    x, y, z, w = rig.skeleton.rest_rotations[joint].tolist()
    return f'<body pos="{_words(rig.skeleton.offsets[joint])}" quat="{_words((w, x, y, z))}">{_INERTIAL}'


def _mjcf_joints(built: Mechanism, joint: int) -> list[str]:
    if joint == 0 and built.floating:
        return ['<joint type="free" name="root"/>']
    if joint in built.spherical:
        return [f'<joint type="ball" name="{built.skeleton.names[joint]}"/>']
    parts = []
    for axis in built.axes[joint]:
        kind = "slide" if axis.slides else "hinge"
        limits = f'range="{axis.lower!r} {axis.upper!r}"' if axis.limited else ""
        parts.append(f'<joint type="{kind}" name="{axis.name}" axis="{_words(axis.direction)}" {limits}/>')
    return parts


def _sites(rig: Rig, joint: int) -> list[str]:
    goals = np.flatnonzero(rig.joints == joint).tolist()
    return [f'<site name="{site_name(goal)}" pos="{_words(rig.offsets[goal])}"/>' for goal in goals]


def _geoms(bodies: Bodies | None, joint: int) -> list[str]:
    parts = []
    for number, one in enumerate(bodies.capsules if bodies is not None else ()):
        if one.joint != joint:
            continue
        shape = f'type="sphere" pos="{_words(one.a)}"'
        if one.a != one.b:
            shape = f'type="capsule" fromto="{_words((*one.a, *one.b))}"'
        parts.append(f'<geom name="{geom_name(number)}" {shape} size="{one.radius!r}"/>')
    return parts


_UNLIMITED = 2.0 * math.pi
_EFFORT = 'effort="1" velocity="100"'


def goal_link(goal: int) -> str:
    """The name of a goal's link."""
    return f"goal{goal}"


def urdf(rig: Rig, built: Mechanism) -> str:
    """The robot's XML; a floating base is the first link itself, as the readers add its dofs."""
    skeleton = rig.skeleton
    parts = ['<?xml version="1.0"?><robot name="rig">', *([] if built.floating else ['<link name="world"/>'])]
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if joint == 0 and built.floating:
            parts.append('<link name="link0"/>')
            continue
        origin = _origin(skeleton.offsets[joint], skeleton.rest_rotations[joint])
        above, axes = f"link{parent}" if parent >= 0 else "world", built.axes[joint]
        if not axes:
            parts.append(_urdf_joint(f"fixed{joint}", "fixed", above, f"link{joint}", origin))
        for number, axis in enumerate(axes, 1):
            below = f"link{joint}" if number == len(axes) else f"link{joint}.{number}"
            kind = "prismatic" if axis.slides else "revolute"
            parts.append(_urdf_joint(axis.name, kind, above, below, origin, axis))
            above, origin = below, ""
    for goal, joint in enumerate(rig.joints.tolist()):
        origin = _origin(rig.offsets[goal], (0.0, 0.0, 0.0, 1.0))
        parts.append(_urdf_joint(f"at-{goal_link(goal)}", "fixed", f"link{joint}", goal_link(goal), origin))
    return "".join([*parts, "</robot>"])


def _urdf_joint(name: str, kind: str, above: str, below: str, origin: str, axis: Axis | None = None) -> str:
    moves = ""
    if axis is not None:
        lower, upper = max(axis.lower, -_UNLIMITED), min(axis.upper, _UNLIMITED)
        moves = f'<axis xyz="{_words(axis.direction)}"/><limit lower="{lower!r}" upper="{upper!r}" {_EFFORT}/>'
    ends = f'<parent link="{above}"/><child link="{below}"/>'
    return f'<link name="{below}"/><joint name="{name}" type="{kind}">{ends}{origin}{moves}</joint>'


def _origin(offset: Iterable[float], rotation: Iterable[float]) -> str:
    # URDF's roll, pitch and yaw are R = Rz(yaw) Ry(pitch) Rx(roll).
    yaw, pitch, roll = to_euler(np.asarray(rotation), "zyx").tolist()
    return f'<origin xyz="{_words(offset)}" rpy="{_words((roll, pitch, yaw))}"/>'


def _words(numbers: Iterable[float]) -> str:
    return " ".join(repr(float(number)) for number in numbers)
