"""The MuJoCo model of a skeleton: a body for each joint, in the joint's own frame, with its capsules and masses.

Y stays up. A joint's MuJoCo coordinates are ours, measured from rest: free joints have a place and a rotation of the
world, balls a rotation from rest, universal joints two hinges in order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib import import_module
from itertools import combinations
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, MachineError, is_installed
from viewer.physics.surroundings import (
    BODIES,
    FLOOR,
    OBJECT_PREFIX,
    Movers,
    MuJoCo,
    Surroundings,
    add_object,
    find_movers,
    soled,
    soles_of,
)
from viewer.skeleton import JointKind, Pose, Skeleton, bodies_of, effector_of, joint_space, rest_world
from viewer.skeleton.balance import capsule_masses, standing_height
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    SCALAR_LAST,
    conjugate,
    from_matrix,
    left_factors,
    multiply,
    normalized,
    rotate,
    times_vectors,
    to_wxyz,
)

MOST_PAIRS = 3000
"""Capsules of one figure touch each other by default if no more pairs than this are tested."""
_LONGEST = 1000
"""Degrees of freedom of a chain: beyond, MuJoCo takes many seconds to compile it and half a second for each frame."""
BALLS = 8
"""Balls that can be thrown; the first is thrown again after the last."""
_FAR = 1000.0
"""Balls that are not thrown yet wait so high, in heights of the figure."""
_LEAST_PART = 1e-4
"""No body that moves weighs less than this part of the mean of all."""
_LEAST_KG, _LEAST_INERTIA = 1e-9, 1e-14
"""Least mass and inertia of bodies without a capsule and of balls: MuJoCo refuses less than 1e-15."""
_NO_END = 1e6
"""Instead of the infinite end of a one-sided range."""
_SMALLEST, _LARGEST = 1e-3, 1e6
"""Metres of a figure: beyond, masses and inertias leave the range that MuJoCo computes with."""
_DEEP, _DEEP_AND_FREE = 0.005, 0.05
"""A part that starts deeper in something than this part of the height does not touch it at all; the second number
applies where one of the two moves freely, so that it can be moved out as a whole.
"""
_DEEP_IN_ITSELF = 0.001
"""The same of a figure's own parts."""
_NONE = np.zeros(0, dtype=np.intp)
_LOCKED = 1e-6
"""The least range of a joint."""
_SOLE = 0.03
"""Half the thickness of a sole, in heights of its foot's length."""


def load_mujoco() -> MuJoCo:
    """The module; a MachineError if it is not installed, or this machine cannot load it."""
    if not is_installed("mujoco"):
        raise MachineError("physics needs MuJoCo: pip install 'ikviewer[physics]'")
    try:
        module = import_module("mujoco")
    except (ImportError, OSError) as error:
        raise MachineError(f"MuJoCo cannot be loaded: {error}: pip install --force-reinstall mujoco-core") from error
    # Otherwise it writes MUJOCO_LOG.TXT into the working folder. Simulations look at the warnings of their data.
    module.set_mju_user_warning(lambda _message: None)
    return module


class Part(NamedTuple):
    """A figure of a model, from joint ``first`` on: kilograms and metres."""

    first: int
    skeleton: Skeleton
    mass: float
    height: float


class Sunk(NamedTuple):
    """Joints whose parts start so deep in the floor, metres, that they do not touch it."""

    joints: tuple[str, ...] = ()
    depth: float = 0.0


@dataclass(frozen=True, eq=False)
class Model:
    """A compiled model, and where our joints are in it.

    Attributes:
        mujoco: the module.
        mj: the `mujoco.MjModel`.
        skeleton: what it was made from.
        parts: the figures that it is made of: one, or several that stand together.
        body: (J,) body of each joint.
        free, free_qpos, free_dof: joints of kind free, with their first coordinate and degree of freedom.
        balls, ball_qpos, ball_dof: the same for ball joints.
        scalars, columns, scalar_qpos, scalar_dof: hinges, slides and both axes of universal joints: joint, column of
            its coordinates, coordinate and degree of freedom.
        touches_itself: whether its capsules touch each other.
        dof_joint: (D,) the joint of each degree of freedom of the figure.
        thrown_qpos, thrown_dof, thrown_body: of the balls that can be thrown.
        ball_radius: metres.
        movers: the objects that move.
        sunk: parts too deep in the floor at the start to touch it.
    """

    mujoco: MuJoCo
    mj: MuJoCo
    skeleton: Skeleton
    parts: tuple[Part, ...]
    body: Ints
    free: Ints
    free_qpos: Ints
    free_dof: Ints
    balls: Ints
    ball_qpos: Ints
    ball_dof: Ints
    scalars: Ints
    columns: Ints
    scalar_qpos: Ints
    scalar_dof: Ints
    dof_joint: Ints
    touches_itself: bool
    thrown_qpos: Ints = field(default_factory=lambda: _NONE)
    thrown_dof: Ints = field(default_factory=lambda: _NONE)
    thrown_body: Ints = field(default_factory=lambda: _NONE)
    ball_radius: float = 0.0
    movers: Movers = field(default_factory=Movers)
    sunk: Sunk = field(default_factory=Sunk)

    @property
    def mass(self) -> float:
        """Kilograms of all figures."""
        return sum(part.mass for part in self.parts)

    @property
    def height(self) -> float:
        """Metres, of the first figure."""
        return self.parts[0].height

    def name_of(self, geom: int) -> str:
        """The joint or object that a shape is of, or "floor"."""
        body = int(self.mj.geom_bodyid[geom])
        joint = np.flatnonzero(self.body == body)
        if joint.size:
            return self.skeleton.names[int(joint[0])]
        return self.mj.body(body).name.removeprefix(OBJECT_PREFIX) if body else "floor"

    @cached_property
    def masses(self) -> Floats:
        """(J,) kilograms of the figure that each joint belongs to."""
        return np.concatenate([np.full(len(part.skeleton), part.mass) for part in self.parts])

    @cached_property
    def heights(self) -> Floats:
        """(J,) metres of the figure that each joint belongs to."""
        return np.concatenate([np.full(len(part.skeleton), part.height) for part in self.parts])

    @cached_property
    def _slides(self) -> Bools:
        """(S,) which of ``scalars`` are slides."""
        return self.skeleton.of_kind(JointKind.SLIDE)[self.scalars]

    @cached_property
    def _hinged(self) -> tuple[Ints, Ints, Floats, Floats]:
        """Joints that begin with a hinge, its coordinates, and their turns (N, 4) at 0 and after half a turn."""
        some = np.flatnonzero((self.columns == 0) & ~self._slides)
        joints = self.scalars[some]
        rest = self.skeleton.rest_rotations[joints]
        return joints, self.scalar_qpos[some], rest, times_vectors(rest, self.skeleton.axes[joints, 0])

    @cached_property
    def _hinged_twice(self) -> tuple[Ints, Ints, Floats]:
        """Universal joints, the coordinates of their second hinges, and (N, 4, 4) what half a turn multiplies by."""
        some = np.flatnonzero(self.columns == 1)
        joints = self.scalars[some]
        unit = np.broadcast_to(np.eye(4), (len(joints), 4, 4))
        half_turns = np.concatenate([self.skeleton.axes[joints, 1], np.zeros((len(joints), 1))], axis=1)
        return joints, self.scalar_qpos[some], multiply(unit, half_turns[:, None])

    @cached_property
    def _sliding(self) -> tuple[Ints, Ints, Floats]:
        """Slides, their coordinates, and where they go (N, 3) per metre, in the parent's frame."""
        some = np.flatnonzero(self._slides)
        joints = self.scalars[some]
        along = rotate(self.skeleton.rest_rotations[joints], self.skeleton.axes[joints, 0])
        return joints, self.scalar_qpos[some], along

    @cached_property
    def _endless(self) -> Ints:
        """Degrees of freedom of hinges that may turn any number of times, and that no other joint follows."""
        skeleton, space = self.skeleton, joint_space(self.skeleton)
        tied = [skeleton.index(name) for one in skeleton.mimics for name in (one.joint, one.leader)]
        ends = np.isfinite(space.lower) | np.isfinite(space.upper)
        return self.scalar_dof[~(self._slides | ends[self.scalars, self.columns] | np.isin(self.scalars, tied))]

    @cached_property
    def _turn_qpos(self) -> tuple[Ints, Ints, Ints]:
        """Coordinates of the rotations of balls (B, 4), and of places (F, 3) and rotations (F, 4) of free joints."""
        places, turns = self.free_qpos[:, None] + np.arange(3), self.free_qpos[:, None] + SCALAR_LAST + 3
        return self.ball_qpos[:, None] + SCALAR_LAST, places, turns

    @cached_property
    def _resting(self) -> Floats:
        """(B, 4, 4) what turns of balls are multiplied by from the left: their rotations at rest."""
        return left_factors(self.skeleton.rest_rotations[self.balls])

    def subtract(self, start: Floats, end: Floats, out: Floats) -> None:
        """Set ``out`` (nv,) to the velocity that leads from one state (nq,) to another in a second.

        Balls turn the short way, and so do hinges without limits.
        """
        self.mujoco.mj_differentiatePos(self.mj, out, 1.0, start, end)
        if self._endless.size:
            turns = out[self._endless]
            out[self._endless] = turns - 2.0 * np.pi * np.rint(turns / (2.0 * np.pi))

    def coordinates(self, pose: Pose, qpos: Floats) -> Floats:
        """A copy of MuJoCo's coordinates ``qpos`` in which the figure has a pose; joint kinds bind, limits do not."""
        skeleton, made = self.skeleton, qpos.copy()
        made[self.free_qpos[:, None] + np.arange(3)] = pose.translations[self.free]
        made[self.free_qpos[:, None] + np.arange(3, 7)] = to_wxyz(pose.rotations[self.free])
        turned = multiply(conjugate(skeleton.rest_rotations[self.balls]), pose.rotations[self.balls])
        made[self.ball_qpos[:, None] + np.arange(4)] = to_wxyz(turned)
        if self.scalars.size:
            measured = joint_space(skeleton).measure(pose.rotations, pose.translations)
            made[self.scalar_qpos] = measured[self.scalars, self.columns]
        return made

    def motion(self, qpos: Floats, base: Pose) -> tuple[Floats, Floats]:
        """Local rotations (..., J, 4) and translations (..., J, 3) of the figure at MuJoCo's coordinates (..., nq).

        Values that these do not contain, such as translations of balls, are those of ``base``.
        """
        skeleton, frames = self.skeleton, qpos.shape[:-1]
        rotations, translations = np.empty((*frames, len(skeleton), 4)), np.empty((*frames, len(skeleton), 3))
        rotations[...], translations[...] = base.rotations, base.translations
        joints, places, at_rest, at_half = self._hinged
        if joints.size:
            half = 0.5 * qpos[..., places, None]
            rotations[..., joints, :] = np.cos(half) * at_rest + np.sin(half) * at_half
        joints, places, half_turns = self._hinged_twice
        if joints.size:
            half, first = 0.5 * qpos[..., places, None], rotations[..., joints, :]
            second = np.matmul(first[..., None, :], half_turns)[..., 0, :]
            rotations[..., joints, :] = np.cos(half) * first + np.sin(half) * second
        joints, places, along = self._sliding
        if joints.size:
            translations[..., joints, :] = skeleton.offsets[joints] + qpos[..., places, None] * along
        ball_turns, free_places, free_turns = self._turn_qpos
        if self.balls.size:
            turns = normalized(qpos[..., ball_turns])
            rotations[..., self.balls, :] = np.matmul(turns[..., None, :], self._resting)[..., 0, :]
        if self.free.size:
            translations[..., self.free, :] = qpos[..., free_places]
            rotations[..., self.free, :] = normalized(qpos[..., free_turns])
        return rotations, translations


def make_model(
    skeleton: Skeleton, pose: Pose, surroundings: Surroundings, *, balls: int = BALLS, figures: Sequence[Skeleton] = ()
) -> Model:
    """Compile the model of a skeleton, which several figures may make up: see `viewer.physics.surroundings`.

    Translations that no joint changes are those of the pose; ``balls`` can be thrown.

    Raises:
        MachineError: MuJoCo is not installed.
        InputError: nothing can move, chains too long to be simulated, or bodies that MuJoCo refuses.
    """
    if (longest := _as_a_chain(skeleton)) > _LONGEST:
        raise InputError(
            f"physics: expected as many joints below one another as in a chain of {_LONGEST:,} degrees of freedom at"
            f" most, found as many as in one of {longest:,}"
        )
    mujoco, spec, bodies, parts, _ = made = make_spec(skeleton, pose, surroundings, figures)
    height, mass = parts[0].height, parts[0].mass
    for one in surroundings.objects:
        add_object(mujoco, spec, one, surroundings.masses.get(one.name), surroundings.friction)
    radius = surroundings.ball_radius or 0.03 * height
    for number in range(balls):
        ball = spec.worldbody.add_body(name=_ball(number), pos=[number * 4.0 * radius, _FAR * height, 0.0])
        ball.add_freejoint()
        weight = surroundings.ball_mass or max(min(mass / 70.0, 1.0), _LEAST_INERTIA / radius**2)
        ball.add_geom(
            type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[radius, 0.0, 0.0], mass=weight, contype=BODIES | FLOOR,
            conaffinity=BODIES | FLOOR, friction=[surroundings.friction, 0.005, 0.0001],
        )  # fmt: skip
    _add_markers(mujoco, spec, made.bodies, skeleton)
    mj = _compiled(spec)
    sunk, changed = _allow_for_start(mj, made, skeleton, pose)
    if changed:
        mj = _compiled(spec)
    movers = find_movers(mj, surroundings)
    others = 6 * (balls + len(movers.dof))
    if mj.nv == others:
        raise InputError(f"physics: no joint of {skeleton.name or 'the skeleton'} can move")
    thrown = np.array([mj.body(_ball(number)).id for number in range(balls)], dtype=np.intp)
    return replace(
        _joints_in(mj, made, skeleton),
        dof_joint=_joint_of(mj, bodies)[mj.dof_bodyid[: mj.nv - others]],
        thrown_qpos=mj.jnt_qposadr[mj.body_jntadr[thrown]].astype(np.intp) if balls else _NONE,
        thrown_dof=mj.jnt_dofadr[mj.body_jntadr[thrown]].astype(np.intp) if balls else _NONE,
        thrown_body=thrown,
        ball_radius=radius,
        movers=movers,
        sunk=sunk,
    )


def _as_a_chain(skeleton: Skeleton) -> int:
    """Degrees of freedom of the chain whose inertia matrix has as many numbers as the skeleton's.

    A degree of freedom shares a number with itself and each one above it; a chain of n has n (n + 1) / 2.
    """
    above, numbers = list[int](), 0
    for kind, parent in zip(skeleton.kinds, skeleton.parents.tolist(), strict=True):
        first = 0 if parent < 0 else above[parent]
        above.append(first + kind.dofs)
        numbers += first * kind.dofs + kind.dofs * (kind.dofs + 1) // 2
    return math.isqrt(2 * numbers)


def _add_markers(mujoco: MuJoCo, spec: MuJoCo, bodies: list[MuJoCo], skeleton: Skeleton) -> None:
    """Give balls with limits and their parents a shape that touches nothing: see `constraints`."""
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if skeleton.kinds[joint] is JointKind.BALL and skeleton.limits[joint] is not None:
            for body in (bodies[joint], spec.worldbody if parent < 0 else bodies[parent]):
                if not body.geoms:
                    body.add_geom(
                        type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[1e-3] * 3, mass=0.0, contype=0, conaffinity=0
                    )


def _compiled(spec: MuJoCo) -> MuJoCo:
    try:
        return spec.compile()
    except ValueError as error:
        raise InputError(f"physics: {' '.join(str(error).split())}") from error


def _ball(number: int) -> str:
    return f"ball {number}//"


def _joint_of(mj: MuJoCo, bodies: list[MuJoCo]) -> Ints:
    """(B,) the joint of each body, -1 of others: MuJoCo orders bodies depth first."""
    found = np.full(mj.nbody, -1, dtype=np.intp)
    found[[body.id for body in bodies]] = np.arange(len(bodies))
    return found


def _joints_in(mj: MuJoCo, made: Spec, skeleton: Skeleton) -> Model:
    """Where our joints are in a compiled model, without balls and objects."""
    body = np.array([one.id for one in made.bodies], dtype=np.intp)
    joints = mj.body_jntadr[body].astype(np.intp)

    def addresses(kind: JointKind) -> tuple[Ints, Ints, Ints]:
        some = np.flatnonzero(skeleton.of_kind(kind))
        return some, mj.jnt_qposadr[joints[some]].astype(np.intp), mj.jnt_dofadr[joints[some]].astype(np.intp)

    scalars = [(j, column) for j, kind in enumerate(skeleton.kinds) for column in range(kind.axes)]
    some = np.array([joints[joint] + column for joint, column in scalars], dtype=np.intp)
    return Model(
        made.mujoco, mj, skeleton, made.parts, body, *addresses(JointKind.FREE), *addresses(JointKind.BALL),
        np.array([joint for joint, _ in scalars], dtype=np.intp),
        np.array([column for _, column in scalars], dtype=np.intp),
        mj.jnt_qposadr[some].astype(np.intp), mj.jnt_dofadr[some].astype(np.intp),
        _joint_of(mj, made.bodies)[mj.dof_bodyid], made.touches_itself,
    )  # fmt: skip


def _allow_for_start(mj: MuJoCo, made: Spec, skeleton: Skeleton, pose: Pose) -> tuple[Sunk, bool]:
    """Exclude contact of pairs that are deep in each other in the start pose, and of parts deep in the floor.

    The parts in the floor, and whether the compiled model is no longer what was made.
    """
    mujoco = made.mujoco
    data = mujoco.MjData(mj)
    data.qpos[:] = _joints_in(mj, made, skeleton).coordinates(pose, data.qpos)
    mujoco.mj_kinematics(mj, data)
    mujoco.mj_collision(mj, data)
    contact, height = data.contact, made.parts[0].height
    roots = mj.body_rootid[mj.geom_bodyid[contact.geom]]
    own = (roots[:, 0] == roots[:, 1]) & (roots[:, 0] > 0)
    first_joint = mj.body_jntadr[roots]
    free = ((first_joint >= 0) & (mj.jnt_type[first_joint] == int(mujoco.mjtJoint.mjJNT_FREE))).any(axis=1)
    most = np.where(own, _DEEP_IN_ITSELF, np.where(free, _DEEP_AND_FREE, _DEEP))
    deep = contact.dist < -most * height
    geoms, sunk = {geom.id: geom for geom in made.spec.geoms}, list[int]()
    for a, b in {tuple(sorted(pair)) for pair in contact.geom[deep].tolist()}:
        first, second = geoms[a], geoms[b]
        if "ground" in (first.name, second.name):
            low = second if first.name == "ground" else first
            low.conaffinity &= ~FLOOR
            sunk.append(low.id)
        else:
            made.spec.add_exclude(bodyname1=first.parent.name, bodyname2=second.parent.name)
    joints = sorted(set(_joint_of(mj, made.bodies)[mj.geom_bodyid[sunk]].tolist()))
    depths = -contact.dist[np.isin(contact.geom, sunk).any(axis=1) & (roots == 0).any(axis=1)]
    names = tuple(skeleton.names[joint] for joint in joints)
    return Sunk(names, float(depths.max(initial=0.0))), bool(deep.any())


class Spec(NamedTuple):
    """A `mujoco.MjSpec` before it is compiled: the body of each joint, figures, whether capsules touch each other.

    ``mujoco`` is the module.
    """

    mujoco: MuJoCo
    spec: MuJoCo
    bodies: list[MuJoCo]
    parts: tuple[Part, ...]
    touches_itself: bool


def make_spec(skeleton: Skeleton, pose: Pose, surroundings: Surroundings, figures: Sequence[Skeleton] = ()) -> Spec:
    """The model of a skeleton, without balls and objects. Arguments and errors are those of `make_model`."""
    mujoco = load_mujoco()
    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.modelname = skeleton.name or "skeleton"
    spec.option.gravity = [0.0, -surroundings.gravity, 0.0]
    spec.option.timestep = 1.0 / 240.0
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_EULER
    spec.option.jacobian = mujoco.mjtJacobian.mjJAC_SPARSE
    spec.option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    friction = [surroundings.friction, 0.005, 0.0001]
    if surroundings.ground is not None:
        turn = from_matrix(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]))
        spec.worldbody.add_geom(
            name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0.0, 0.0, 1.0], quat=to_wxyz(turn),
            pos=[0.0, surroundings.ground, 0.0], contype=FLOOR, conaffinity=FLOOR, friction=friction,
        )  # fmt: skip
    figures = figures or (skeleton,)
    heights = [standing_height(figure) or 1.0 for figure in figures]
    size = float(np.abs([*skeleton.offsets.ravel(), *skeleton.tip_offsets.ravel()]).max(initial=max(heights)))
    if not _SMALLEST <= size <= _LARGEST:
        raise InputError(f"physics: expected a figure of {_SMALLEST:g} to {_LARGEST:g} m, found {size:g} m")
    bodies = _add_joints(mujoco, spec, skeleton, pose)
    _add_mimics(mujoco, spec, skeleton, bodies)
    touching = surroundings.self_contact
    if touching is None:
        touching = all(len(bodies_of(figure).pairs) <= MOST_PAIRS for figure in figures)
    parts, first = [], 0
    for figure, height in zip(figures, heights, strict=True):
        own = bodies[first : first + len(figure)]
        mass = _add_capsules(mujoco, own, figure, friction, height, touching=touching)
        _add_soles(mujoco, own, figure, friction)
        _add_loops(mujoco, spec, figure, own)
        if touching:
            _exclude(spec, own, figure)
        parts.append(Part(first, figure, mass, height))
        first += len(figure)
    return Spec(mujoco, spec, bodies, tuple(parts), touching)


def _add_joints(mujoco: MuJoCo, spec: MuJoCo, skeleton: Skeleton, pose: Pose) -> list[MuJoCo]:
    """A body for each joint."""
    bodies: list[MuJoCo] = []
    taken = {"world"}
    space = joint_space(skeleton)
    for joint, (name, parent, kind) in enumerate(
        zip(skeleton.names, skeleton.parents.tolist(), skeleton.kinds, strict=True)
    ):
        moved = kind in (JointKind.FREE, JointKind.SLIDE)
        place = skeleton.offsets[joint] if moved else pose.translations[joint]
        base = spec.worldbody if parent < 0 else bodies[parent]
        still = parent < 0 and kind is JointKind.FIXED  # it stands where the pose places it
        turn = pose.rotations[joint] if still else skeleton.rest_rotations[joint]
        body = base.add_body(pos=place, quat=to_wxyz(turn))
        body.name = name if name not in taken else f"{name}/{joint}"
        taken.add(body.name)
        bodies.append(body)
        if kind is JointKind.FREE:
            body.add_freejoint(name=body.name)
        elif kind is JointKind.BALL:
            body.add_joint(name=body.name, type=mujoco.mjtJoint.mjJNT_BALL)
        elif kind is not JointKind.FIXED:
            count = kind.axes
            for column in range(count):
                added = body.add_joint(
                    name=body.name if count == 1 else f"{body.name}.r{column}", axis=skeleton.axes[joint, column],
                    type=mujoco.mjtJoint.mjJNT_SLIDE if kind is JointKind.SLIDE else mujoco.mjtJoint.mjJNT_HINGE,
                )  # fmt: skip
                motor = skeleton.motors[joint] if skeleton.motors else None
                if motor is not None and motor.effort is not None:
                    added.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
                    added.actfrcrange = -motor.effort, motor.effort
                ends = space.lower[joint, column], space.upper[joint, column]
                if np.isfinite(ends).any():
                    added.limited = mujoco.mjtLimited.mjLIMITED_TRUE
                    middle, half = 0.5 * (ends[0] + ends[1]), 0.5 * _LOCKED
                    locked = ends[1] - ends[0] < _LOCKED  # MuJoCo requires ranges that are not empty
                    added.range = (middle - half, middle + half) if locked else np.clip(ends, -_NO_END, _NO_END)
                    added.solref_limit = [2.0 * spec.option.timestep, 1.0]
    return bodies


def _add_mimics(mujoco: MuJoCo, spec: MuJoCo, skeleton: Skeleton, bodies: list[MuJoCo]) -> None:
    """Equalities of joints that follow others."""
    for one in skeleton.mimics:
        joint, leader = (bodies[skeleton.index(name)].name for name in (one.joint, one.leader))
        made = spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT, name1=joint, name2=leader, objtype=mujoco.mjtObj.mjOBJ_JOINT,
            solref=[2.0 * spec.option.timestep, 1.0],
        )  # fmt: skip
        made.data[:2] = one.offset, one.ratio


def _add_loops(mujoco: MuJoCo, spec: MuJoCo, skeleton: Skeleton, bodies: list[MuJoCo]) -> None:
    """Sites that stay together, turned as at rest if the loop is rigid."""
    rest = rest_world(skeleton).rotations
    for number, loop in enumerate(skeleton.loops):
        a, b = (effector_of(skeleton, name) for name in (loop.a, loop.b))
        turn = multiply(conjugate(rest[a.joint]), rest[b.joint])
        names = []
        for letter, end, quat in (("a", a, turn), ("b", b, np.array((0.0, 0.0, 0.0, 1.0)))):
            names.append(f"{bodies[0].name}: loop {number + 1}{letter}")
            bodies[end.joint].add_site(name=names[-1], pos=end.offset, quat=to_wxyz(quat))
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD if loop.rigid else mujoco.mjtEq.mjEQ_CONNECT,
            name1=names[0], name2=names[1], objtype=mujoco.mjtObj.mjOBJ_SITE,
            solref=[2.0 * spec.option.timestep, 1.0],
        )  # fmt: skip


def _add_capsules(
    mujoco: MuJoCo, bodies: list[MuJoCo], skeleton: Skeleton, friction: list[float], height: float, *, touching: bool
) -> float:
    """Add the capsules, what stands on the floor, and inertias; returns the mass of all in kilograms."""
    found, masses = bodies_of(skeleton), capsule_masses(skeleton)
    stated = skeleton.inertias or (None,) * len(skeleton)
    masses *= [stated[one.joint] is None for one in found.capsules]
    on_soles = soled(skeleton)
    weights = np.zeros(len(skeleton)) + [0.0 if one is None else one.mass for one in stated]
    np.add.at(weights, [one.joint for one in found.capsules], masses)
    least = max(_LEAST_PART * float(weights.sum() or 1.0) / len(skeleton), _LEAST_KG)
    for one, mass, clear in zip(found.capsules, masses.tolist(), found.clearances.tolist(), strict=True):
        low = min(clear) < 0.999 * one.radius
        shape = {"fromto": [*one.a, *one.b]} if one.length > 1e-9 * height else {"pos": one.a}
        kind = mujoco.mjtGeom.mjGEOM_CAPSULE if "fromto" in shape else mujoco.mjtGeom.mjGEOM_SPHERE
        bodies[one.joint].add_geom(
            type=kind, size=[one.radius, 0.0, 0.0], friction=friction, contype=BODIES,
            mass=max(mass, least) if stated[one.joint] is None else 0.0,
            conaffinity=(BODIES if touching else 0) | (0 if low or one.joint in on_soles else FLOOR), **shape,
        )  # fmt: skip
        if low and one.joint not in on_soles:  # it stands with its axis nearer to the floor than its radius
            for end, room in zip((one.a, one.b), clear, strict=True):
                bodies[one.joint].add_geom(
                    type=mujoco.mjtGeom.mjGEOM_SPHERE, size=[max(min(room, one.radius), 1e-3 * height), 0.0, 0.0],
                    pos=end, mass=0.0, friction=friction, contype=0, conaffinity=FLOOR,
                )  # fmt: skip
    rigid, below = _weights_carried(skeleton, weights)
    for joint, (body, own) in enumerate(zip(bodies, stated, strict=True)):
        if own is None and weights[joint]:
            continue  # by its capsules
        body.explicitinertial = True
        moves = skeleton.kinds[joint] is not JointKind.FIXED
        small = (0.02 * height) ** 2
        if own is None or (moves and not rigid[joint]):
            body.mass = least if own is None or not below[joint] else _LEAST_KG
            body.ipos, body.inertia = [0.0, 0.0, 0.0], [max(body.mass * small, _LEAST_INERTIA)] * 3
        else:
            moments, axes = own.principal()
            if moves and moments[2] < least * small:  # a point: MuJoCo requires moving bodies to have an extent
                moments = np.full(3, max(least * small, _LEAST_INERTIA))
            body.mass, body.ipos, body.inertia = own.mass, own.center, moments
            body.iquat = to_wxyz(from_matrix(axes))
    return float(weights.sum()) or least * len(skeleton)


def _weights_carried(skeleton: Skeleton, weights: Floats) -> tuple[Floats, Floats]:
    """(J,) kilograms of all that moves as one with each joint, and of all below it; ``weights`` (J,) are by joint."""
    mover, below = np.arange(len(skeleton)), weights.copy()
    parents = skeleton.parents.tolist()
    for joint, (parent, kind) in enumerate(zip(parents, skeleton.kinds, strict=True)):
        if kind is JointKind.FIXED and parent >= 0:
            mover[joint] = mover[parent]
    for joint in range(len(skeleton) - 1, -1, -1):
        if parents[joint] >= 0:
            below[parents[joint]] += below[joint]
    return np.asarray(np.bincount(mover, weights, len(skeleton))[mover]), below


def _add_soles(mujoco: MuJoCo, bodies: list[MuJoCo], skeleton: Skeleton, friction: list[float]) -> None:
    """Boxes on the soles of a figure."""
    for sole in soles_of(skeleton):
        thick = _SOLE * sole.length
        up = rotate(sole.rotation, np.array([0.0, thick, 0.0]))
        bodies[sole.joint].add_geom(
            type=mujoco.mjtGeom.mjGEOM_BOX, size=[0.5 * sole.length, thick, 0.5 * sole.width], mass=0.0,
            friction=friction, pos=sole.center + up, quat=to_wxyz(sole.rotation), contype=0, conaffinity=FLOOR,
        )  # fmt: skip


def _exclude(spec: MuJoCo, bodies: list[MuJoCo], skeleton: Skeleton) -> None:
    """Exclude pairs of bodies not all of whose capsules are tested: neighbours, and those that touch at rest."""
    found = bodies_of(skeleton)
    owner = [one.joint for one in found.capsules]
    tested = Counter(tuple(sorted((owner[a], owner[b]))) for a, b in found.pairs.tolist())
    count = Counter(owner)
    for a, b in combinations(sorted(count), 2):
        if tested[a, b] < count[a] * count[b]:
            spec.add_exclude(bodyname1=bodies[a].name, bodyname2=bodies[b].name)
