"""What drives a model towards a pose: stable PD torques at each joint, gravity held, limits of balls as springs.

Stable PD (Tan, Liu, Turk, "Stable proportional-derivative controllers", IEEE CG&A 31, 2011) without a matrix of our
own: torque = K (target - q) + (D + h K) target' - (D + h K) q', the last part as MuJoCo's joint damping, which its
integrator treats implicitly. Gains follow from the inertia that each degree of freedom moves, K = w^2 M, D = 2 w M: a
rig of any size answers in the same time.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from viewer.physics.library import load_mujoco, xyzw
from viewer.physics.model import Model
from viewer.skeleton import JointKind, Skeleton, World, bodies_of, find_figure, joint_space
from viewer.skeleton.limbs import ARM
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.euler import axes_of, to_euler
from viewer.spatial.quaternion import conjugate, log, multiply
from viewer.spatial.swing_twist import to_swing_twist

STRENGTH_HZ = 6.0
_TORQUES = {"leg": 8.0, "trunk": 5.0, "arm": 3.0}
"""Most torque of a joint at the usual strength: N m per kilogram of a figure 1.75 m tall."""
_TALL = 1.75
_ARMATURE = 0.01
"""Of the inertia of a degree of freedom, added to it."""
_BEARING, _NEAR_GROUND = 0.2, 0.02
"""Joints that carry the figure are as stiff as if they moved this part of its mass at the distance of the ground; what
is nearer to the ground than that part of the height stands on it."""
_BEARING_S = 0.1
"""Joints get used to what their contacts ask of them within so many seconds."""
_LEVEL = 0.7
"""A figure stands on what is still and has a normal that is at least so upright ..."""
_MOST_BORNE = 1.5
"""... and bears so many of its weights at most."""
_WINDING = 2.0
"""Coordinates of a ball change at most so many times as quickly as it turns, away from half a turn."""
_LIMIT = 80.0
"""Stiffness of a ball's limit, in parts of the joint's own."""


class Drive:
    """Torques of one model.

    Attributes:
        inertia: (D,) what each degree of freedom moves at rest, kg m^2 or kg; of a ball the mean of its three.
        driven: (D,) whether a joint drives it: all but those of free roots.
        torques: (D,) the last ones, without limits and gravity.
        missing: (nv,) what was missing to the target: radians in the joint's frame, metres.
    """

    def __init__(self, model: Model, strength: float, start: World, ground: float | None) -> None:
        """Set the gains.

        Args:
            model: what is driven.
            strength: how quickly a joint answers, hertz.
            start: the pose at the start, in which the figure stands.
            ground: height of the floor, metres; None: there is none.
        """
        self._mujoco, self._model = load_mujoco(), model
        mj, own = model.mj, len(model.dof_joint)
        free = (model.free_dof[:, None] + np.arange(6)).ravel()
        self.driven = np.ones(own, dtype=np.bool_)
        self.driven[free] = False
        moved = self._inertia_at_rest()
        bearing = _bearing_inertia(model, start, ground)[model.dof_joint]
        self.inertia = np.maximum(moved, np.where(self.driven, bearing, 0.0))
        mj.dof_armature[:own] = self.inertia - moved + _ARMATURE * moved
        self._scratch = self._mujoco.MjData(mj)
        self._gravity, self._work, self._borne = np.zeros(mj.nv), np.zeros(mj.nv), np.zeros(own)
        self._still = mj.body_weldid[mj.geom_bodyid] == 0  # (G,) geoms of what never moves
        self._weight = model.mass * abs(float(mj.opt.gravity[1]))
        self._contact_type = int(self._mujoco.mjtConstraint.mjCNSTR_CONTACT_FRICTIONLESS)
        self._ball_dofs = model.ball_dof[:, None] + np.arange(3)
        self.missing = np.zeros(mj.nv)
        self._limits = _BallLimits(model)
        self.set_strength(strength)
        self.torques = np.zeros(own)

    def set_strength(self, hertz: float) -> None:
        """Set how quickly joints answer."""
        omega = 2.0 * math.pi * hertz
        self._stiffness = np.where(self.driven, omega**2 * self.inertia, 0.0)
        self._damping = np.where(self.driven, 2.0 * omega * self.inertia, 0.0)
        self._most = hertz / STRENGTH_HZ * self._torque_limits()
        ball = self._stiffness[self._ball_dofs[:, 0]] if len(self._ball_dofs) else np.zeros(0)
        self._limit_stiffness = _LIMIT * ball
        inertia = self.inertia[self._ball_dofs[:, 0]] if len(self._ball_dofs) else np.zeros(0)
        self._limit_damping = 2.0 * np.sqrt(self._limit_stiffness * inertia)

    def apply(self, data: Any, target: Floats, speed: Floats, out: Floats) -> None:  # noqa: ANN401
        """Set the forces ``out`` (nv,) and the model's damping for the next step.

        Args:
            data: the `mujoco.MjData` before the step.
            target: coordinates (nq,) of the pose to reach.
            speed: (nv,) its velocity.
            out: the applied forces.
        """
        model, own = self._model, len(self.driven)
        h = model.mj.opt.timestep
        damping = self._damping + h * self._stiffness
        self._mujoco.mj_differentiatePos(model.mj, self.missing, 1.0, data.qpos, target)
        torque = self._stiffness * self.missing[:own] + damping * speed[:own]
        # The limit is that of the net torque: where it is reached, the damping gets weaker with the rest.
        net = np.abs(torque - damping * data.qvel[:own])
        share = np.where(net > self._most, self._most / np.maximum(net, 1e-300), 1.0)
        damping *= share
        self.torques = share * torque
        out[:own] = self.torques
        out[own:] = 0.0
        for ball, way in self._limits.outside(data, h):
            dofs = self._ball_dofs[ball]
            out[dofs] += self._limit_stiffness[ball] * way
            damping[dofs] += self._limit_damping[ball] + h * self._limit_stiffness[ball]
        self._borne += (h / _BEARING_S) * (self._from_contacts(data) - self._borne)
        borne = np.minimum(np.maximum(self._borne, -self._most), self._most)
        out[:own] += self.driven * (self._static_gravity(data) - borne)
        model.mj.dof_damping[:own] = damping

    def _static_gravity(self, data: Any) -> Floats:  # noqa: ANN401
        """(D,) what holds the figure still. Not `qfrc_bias`: its Coriolis terms would feed energy in."""
        mujoco, mj, scratch = self._mujoco, self._model.mj, self._scratch
        scratch.qpos[:] = data.qpos
        mujoco.mj_kinematics(mj, scratch)
        mujoco.mj_comPos(mj, scratch)
        mujoco.mj_rne(mj, scratch, 0, self._gravity)
        return np.asarray(self._gravity[: len(self.driven)])

    def _from_contacts(self, data: Any) -> Floats:  # noqa: ANN401
        """(D,) forces on the joints from what the figure stands on, in the last step: what legs have to bear.

        Not those of what it pushes or grips: to answer these in full would push ever harder.
        """
        none = np.zeros(len(self.driven))
        if not data.ncon:
            return none
        contact = data.contact
        stands = self._still[contact.geom].any(axis=1) & (np.abs(contact.frame[:, 1]) > _LEVEL)
        if not stands.any():
            return none
        rows = np.flatnonzero(data.efc_type >= self._contact_type)
        rows = rows[stands[data.efc_id[rows]]]
        forces = np.zeros(data.nefc)
        forces[rows] = data.efc_force[rows]
        self._mujoco.mj_mulJacTVec(self._model.mj, data, self._work, forces)
        own = np.asarray(self._work[: len(self.driven)])
        up = float(self._work[self._model.free_dof + 1].sum())
        most = _MOST_BORNE * self._weight
        return own * (most / up) if up > most > 0.0 else own

    def _inertia_at_rest(self) -> Floats:
        mujoco, model = self._mujoco, self._model
        data = mujoco.MjData(model.mj)
        mujoco.mj_forward(model.mj, data)
        full = np.zeros((model.mj.nv, model.mj.nv))
        mujoco.mj_fullM(model.mj, data, full)
        inertia = np.diag(full)[: len(model.dof_joint)].copy()
        for first in model.ball_dof.tolist():
            inertia[first : first + 3] = inertia[first : first + 3].mean()
        return inertia

    def _torque_limits(self) -> Floats:
        """(D,) newton metres; newtons of slides."""
        model = self._model
        most = np.concatenate([_torques_of(part.skeleton) for part in model.parts])
        slides = np.array([kind is JointKind.SLIDE for kind in model.skeleton.kinds])
        mass, height = model.masses, model.heights
        scale = np.where(slides, 1.0 / height, 1.0)
        return np.asarray((most * scale * mass * height / _TALL)[model.dof_joint])


def _torques_of(skeleton: Skeleton) -> Floats:
    """(J,) torques of a figure's joints, newton metres of one of 1 kg and `_TALL` metres."""
    most = np.full(len(skeleton), _TORQUES["leg"])
    figure = find_figure(skeleton)
    if figure is not None:
        most[:] = _TORQUES["trunk"]
        tops = {limb.girdle[0] if limb.girdle else limb.upper: limb.kind for limb in figure.limbs}
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if joint in tops:
                most[joint] = _TORQUES["arm" if tops[joint] == ARM else "leg"]
            elif parent >= 0:
                most[joint] = most[parent]
    return most


def _bearing_inertia(model: Model, start: World, ground: float | None) -> Floats:
    """(J,) the least inertia that gains assume of joints that carry the figure: a paw weighs nothing, but stands."""
    skeleton, least = model.skeleton, np.zeros(len(model.skeleton))
    if ground is None or not model.free.size:
        return least
    for part in model.parts:
        for capsule in bodies_of(part.skeleton).capsules:
            ends = [start.point(part.first + capsule.joint, np.array(end)) for end in (capsule.a, capsule.b)]
            for end in ends:
                if end[1] - capsule.radius > ground + _NEAR_GROUND * part.height:
                    continue
                joint = part.first + capsule.joint
                while joint >= 0:
                    lever = float(np.linalg.norm(end - start.positions[joint]))
                    least[joint] = max(least[joint], _BEARING * part.mass * lever**2)
                    joint = int(skeleton.parents[joint])
    turning = [kind in (JointKind.BALL, JointKind.HINGE, JointKind.UNIVERSAL) for kind in skeleton.kinds]
    return np.where(turning, least, 0.0)


class _BallLimits:
    """Which balls are outside their limits, and the way back; MuJoCo has no such limits."""

    def __init__(self, model: Model) -> None:
        self._model, self._space = model, joint_space(model.skeleton)
        self._qpos, self._dofs = model.ball_qpos[:, None] + np.arange(4), model.ball_dof[:, None] + np.arange(3)
        self._room, self._turned = np.full(len(model.balls), np.inf), np.zeros(len(model.balls))
        place = {joint: index for index, joint in enumerate(model.balls.tolist())}
        self._joints = model.balls
        measures = [(joints, partial(to_swing_twist, twist_axis=axis)) for axis, joints in self._space.swing_twists]
        measures += [(joints, partial(_euler, order=order)) for order, joints in self._space.eulers]
        self._groups = []
        for joints, measure in measures:
            own = np.array([place[joint] for joint in joints.tolist()], dtype=np.intp)
            self._room[own] = 0.0
            self._groups.append((own, measure, self._space.lower[joints], self._space.upper[joints]))

    def outside(self, data: Any, h: float) -> list[tuple[int, Floats]]:  # noqa: ANN401
        """The balls outside their limits, and the rotation vector (3,) back to the nearest inside.

        Balls that cannot have come to their limits since they were last measured are not measured again.
        """
        self._turned += (_WINDING * h) * np.abs(data.qvel[self._dofs]).sum(axis=-1)
        if (self._turned < self._room).all():
            return []
        turns = xyzw(data.qpos[self._qpos])
        found: list[tuple[int, Floats]] = []
        self._turned[:] = 0.0
        for own, measure, lower, upper in self._groups:
            coordinates = measure(turns[own])
            self._room[own] = np.minimum(coordinates - lower, upper - coordinates).min(axis=-1)
            if (self._room[own] < 0.0).any():
                found += self._ways(own, turns)
        return found

    def _ways(self, own: Ints, turns: Floats) -> list[tuple[int, Floats]]:
        """The same of some balls, measured exactly: equivalent coordinates count."""
        space, skeleton = self._space, self._space.skeleton
        rotations = np.array(skeleton.rest_rotations)
        joints = self._joints[own]
        rotations[joints] = multiply(skeleton.rest_rotations[joints], turns[own])
        measured = space.measure(rotations, skeleton.offsets)
        over = space.excess(measured)[joints] > 0.0
        if not over.any():
            return []
        inside, _ = space.rebuild(space.nearest_inside(measured), rotations, skeleton.offsets)
        ways = log(multiply(conjugate(rotations[joints[over]]), inside[joints[over]]))
        return list(zip(own[over].tolist(), ways, strict=True))


def _euler(turns: Floats, order: str) -> Floats:
    return np.asarray(to_euler(turns, order)[..., np.argsort(axes_of(order))])
