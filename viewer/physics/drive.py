"""Drives a model towards a pose: by stable PD torques at each joint, with gravity compensated.

Stable PD (Tan, Liu, Turk, "Stable proportional-derivative controllers", IEEE CG&A 31, 2011) without a matrix of our
own: torque = K (target - q) + (D + h K) (target' - q' - h q''). The last term, h (D + h K) q'', is inertia that MuJoCo
adds to the joint's own (`dof_armature`), so that contacts and limits are solved with it. Gains follow from the inertia
that each degree of freedom moves, K = w^2 M, D = 2 w M: a rig of any size answers in the same time.
"""

from __future__ import annotations

import math

import numpy as np

from viewer.physics.model import Model
from viewer.physics.surroundings import MuJoCo
from viewer.skeleton import JointKind, Skeleton, World, above, bodies_of, find_figure
from viewer.skeleton.limbs import ARM
from viewer.spatial.checks import Bools, Floats, Ints

STRENGTH_HZ = 6.0
_TORQUES = {"leg": 8.0, "trunk": 5.0, "arm": 3.0}
"""Torque limit of a joint without a stated effort at the default strength: N m per kilogram of a figure 1.75 m tall."""
_TALL = 1.75
_NOT_0 = 1e-300
"""Newton metres in place of a torque of exactly 0, as torques are divided by; added to all, it would make others 0."""
_ARMATURE = 0.01
"""Fraction of the inertia of a degree of freedom that is added to it."""
_BEARING, _NEAR_GROUND = 0.2, 0.02
"""Joints that carry the figure are as stiff as if they moved this fraction of its mass at the distance of the ground.
Parts closer to the ground than the second fraction of the height rest on it."""
_BEARING_S = 0.03
"""Time constant, in seconds, with which joints adapt to the load of their contacts: a walk shifts it within 0.1 s.
Below 0.03 s joints respond to forces that they cause themselves, and limits give way."""
WEIGHED = 4
"""Steps between two measurements of these contacts and of the weight that joints hold."""
_LEVEL = 0.7
"""A figure stands on static contacts whose normal has at least this vertical component."""
_MOST_BORNE = 1.5
"""Largest load of such contacts, in weights of the figure."""


class Drive:
    """Torques of one model.

    Attributes:
        inertia: (D,) inertia that each degree of freedom moves at rest, kg m^2 or kg; for a ball the mean of its three.
        driven: (D,) whether a joint drives it: all but those of free roots.
        torques: (D,) the last ones, without limits and gravity.
        missing: (nv,) the last difference to the target: radians in the joint's frame, metres.
    """

    def __init__(self, model: Model, strength: float, start: World, ground: float | None, payload: float = 0.0) -> None:
        """Set the gains.

        ``strength``: how quickly a joint answers, hertz; ``start``: the pose in which the figure stands; ``ground``:
        height of the floor, metres; None: there is none; ``payload``: kilograms of what effectors may have to carry.
        """
        self._mujoco, self._model = model.mujoco, model
        mj, own = model.mj, len(model.dof_joint)
        free = (model.free_dof[:, None] + np.arange(6)).ravel()
        self.driven = np.ones(own, dtype=np.bool_)
        self.driven[free] = False
        self._diagonal = mj.M_rowadr + mj.M_rownnz - 1  # the last of each row of `mujoco.MjData.M`
        moved = self._inertia_at_rest()
        least = np.maximum(_bearing_inertia(model, start, ground), _carrying_inertia(model, start, payload))
        bearing = least[model.dof_joint]
        self.inertia = np.maximum(moved, np.where(self.driven, bearing, 0.0))
        self._armature = self.inertia - moved + _ARMATURE * moved
        mj.dof_armature[:own] = self._armature
        self._aside = self._mujoco.MjData(mj)
        self._mujoco.mj_setConst(mj, self._aside)
        self._work = np.zeros(mj.nv)
        self._still = mj.body_weldid[mj.geom_bodyid] == 0  # (G,) geoms of what never moves
        self._weight = model.mass * abs(float(mj.opt.gravity[1]))
        self._lifted = mj.dof_bodyid[:own].astype(np.intp)  # (D,) the body that moves with each degree of freedom
        self._roots = mj.body_rootid[self._lifted].astype(np.intp)
        # Contacts carry what stands free; what hangs on the world would press against them harder and harder.
        self._bears = self.driven & np.isin(self._roots, model.body[model.free])
        self._held = np.where(self.driven, -float(mj.opt.gravity[1]) * mj.body_subtreemass[self._lifted], 0.0)
        self.missing = np.zeros(mj.nv)
        self._strongest = _stated_efforts(model.skeleton)[model.dof_joint]
        self._stated = np.isfinite(self._strongest)
        self._balanced, self._load = np.zeros(own, dtype=np.bool_), np.zeros(own)
        self.set_strength(strength)
        self.torques = np.zeros(own)

    def rest(self, data: MuJoCo) -> None:
        """Start from a state: joints hold its weights, and forget the loads of contacts."""
        self._borne = np.zeros(len(self.driven))
        load = self._static_gravity(data)
        self._balanced = np.abs(load) > self._strongest
        self._carry(load)

    def _carry(self, load: Floats) -> None:
        """Hold a load (D,), on top of which a motor has all of its torque; with a stated effort, only the remainder.

        A motor can let a load go: if it always pushed by at least the load minus its own torque, a joint whose load is
        larger could not be braked, and would drive a root that turns freely faster and faster.
        """
        most = np.where(self._balanced, np.inf, self._strongest)
        self._load = np.minimum(np.maximum(load, -most), most)
        own = np.where(self._balanced, 0.0, self._load)  # what springs hold is not the motor's
        self._lowest = -self._most - np.where(self._stated, own, np.maximum(own, 0.0))
        self._highest = self._most - np.where(self._stated, own, np.minimum(own, 0.0))

    def set_strength(self, hertz: float) -> None:
        """Set how quickly joints answer."""
        omega = 2.0 * math.pi * hertz
        self._stiffness = np.where(self.driven, omega**2 * self.inertia, 0.0)
        self._damping = 2.0 / omega * self._stiffness + float(self._model.mj.opt.timestep) * self._stiffness
        self._implicit = float(self._model.mj.opt.timestep) * self._damping
        usual = hertz / STRENGTH_HZ * self._torque_limits()
        self._most = np.where(self._stated, self._strongest, usual)
        self._most_borne = np.minimum(self._most, usual)
        self._carry(self._load)

    def aim(self, data: MuJoCo, target: Floats, speed: Floats, out: Floats) -> None:
        """Set the forces ``out`` (nv,) and the model's inertia for the next step.

        The pose to reach has the coordinates ``target`` (nq,) and velocity ``speed`` (nv,).
        """
        mj, own = self._model.mj, len(self.driven)
        self._model.subtract(data.qpos, target, self.missing)
        torque = self._stiffness * self.missing[:own] + self._damping * (speed[:own] - data.qvel[:own])
        np.copyto(torque, _NOT_0, where=torque == 0.0)
        self.torques = np.minimum(np.maximum(torque, self._lowest), self._highest)
        np.add(self.torques, self._load, out=out[:own])
        # Where the torque limit is reached, damping is reduced with everything else.
        mj.dof_armature[:own] = self._armature + self._implicit * (self.torques / torque)

    def weigh(self, data: MuJoCo, contacts: int) -> None:
        """Measure the load that joints hold from now on: weights, minus the support of what the figure stands on.

        ``data`` is that after a step's forces are solved; ``contacts`` of its contacts, the first ones, are of bodies.
        """
        part = WEIGHED * float(self._model.mj.opt.timestep) / _BEARING_S
        self._borne += part * (self._from_contacts(data, contacts) - self._borne)
        borne = np.minimum(np.maximum(self._borne, -self._most_borne), self._most_borne)
        self._carry(self._static_gravity(data) - self._bears * borne)

    def inertia_now(self, data: MuJoCo) -> Floats:
        """(nv,) the diagonal of the inertia matrix of the last step, without the part that represents damping."""
        inertia: Floats = data.M[self._diagonal]
        inertia[: len(self.driven)] -= self._model.mj.dof_armature[: len(self.driven)] - self._armature
        return inertia

    def accelerations(self, data: MuJoCo, forces: Floats) -> Floats:
        """(nv,) what forces (nv,) accelerate, by the whole inertia matrix of which `inertia_now` is the diagonal."""
        mj, aside = self._model.mj, self._aside
        found: Floats = np.zeros((1, len(forces)))
        aside.M[:] = data.M
        aside.M[self._diagonal] = self.inertia_now(data)
        self._mujoco.mj_factorM(mj, aside)
        self._mujoco.mj_solveM(mj, aside, found, forces[None])
        return np.asarray(found[0])

    @property
    def balanced(self) -> Ints:
        """Joints whose motors cannot hold the weights at the start: springs do, as in the arms of a PR2."""
        return np.unique(self._model.dof_joint[self._balanced])

    @property
    def at_full_effort(self) -> Ints:
        """Joints whose motors gave all of the effort stated in the last step."""
        full = (self.torques <= self._lowest) | (self.torques >= self._highest)
        return np.unique(self._model.dof_joint[self._stated & full])

    def _static_gravity(self, data: MuJoCo) -> Floats:
        """(D,) torques that hold the figure still: each subtree's weight at its centre, along its joint's motion."""
        center, motion = data.subtree_com, data.cdof[: len(self.driven)]
        arm = center[self._lifted] - center[self._roots]  # at the place to which `cdof` refers
        along = motion[:, 4] + motion[:, 2] * arm[:, 0] - motion[:, 0] * arm[:, 2]
        return np.asarray(self._held * along)

    def _from_contacts(self, data: MuJoCo, contacts: int) -> Floats:
        """(D,) forces on the joints from what the figure stands on, in the last step: the load of the legs.

        Things that it pushes or grips are left out: compensating these fully would push harder and harder.
        """
        none = np.zeros(len(self.driven))
        if not (contacts and self._bears.any()):
            return none
        contact = data.contact
        stands = self._still[contact.geom].any(axis=1) & (np.abs(contact.frame[:, 1]) > _LEVEL)
        stands[contacts:] = False
        if not stands.any():
            return none
        first = data.ne + data.nf + data.nl
        forces = np.zeros(data.nefc)
        forces[first:] = data.efc_force[first:] * stands[data.efc_id[first:]]
        self._mujoco.mj_mulJacTVec(self._model.mj, data, self._work, forces)
        own = np.asarray(self._work[: len(self.driven)])
        up = float(self._work[self._model.free_dof + 1].sum())
        most = _MOST_BORNE * self._weight
        return own * (most / up) if up > most > 0.0 else own

    def _inertia_at_rest(self) -> Floats:
        mujoco, model = self._mujoco, self._model
        data = mujoco.MjData(model.mj)
        mujoco.mj_kinematics(model.mj, data)
        mujoco.mj_comPos(model.mj, data)
        mujoco.mj_makeM(model.mj, data)
        inertia: Floats = data.M[self._diagonal][: len(model.dof_joint)]
        for first in model.ball_dof.tolist():
            inertia[first : first + 3] = inertia[first : first + 3].mean()
        return inertia

    def _torque_limits(self) -> Floats:
        """(D,) newton metres; newtons of slides."""
        model = self._model
        most = np.concatenate([_torques_of(part.skeleton) for part in model.parts])
        slides = model.skeleton.of_kind(JointKind.SLIDE)
        mass, height = model.masses, model.heights
        scale = np.where(slides, 1.0 / height, 1.0)
        return np.asarray((most * scale * mass * height / _TALL)[model.dof_joint])


def _torques_of(skeleton: Skeleton) -> Floats:
    """(J,) torques of a figure's joints, newton metres of one of 1 kg and `_TALL` metres."""
    most = np.full(len(skeleton), _TORQUES["leg"])
    figure = find_figure(skeleton)
    if figure is not None:
        most[:] = _TORQUES["trunk"]
        tops = {limb.first: limb.kind for limb in figure.limbs}
        for joint, parent in enumerate(skeleton.parents.tolist()):
            if joint in tops:
                most[joint] = _TORQUES["arm" if tops[joint] == ARM else "leg"]
            elif parent >= 0:
                most[joint] = most[parent]
    return most


def _stated_efforts(skeleton: Skeleton) -> Floats:
    """(J,) the largest torques that the file states, newton metres, newtons of slides; infinite where none."""
    motors = skeleton.motors or (None,) * len(skeleton)
    return np.array([math.inf if one is None or one.effort is None else one.effort for one in motors])


def _bearing_inertia(model: Model, start: World, ground: float | None) -> Floats:
    """(J,) the least inertia that gains assume for joints that carry the figure: a paw weighs little but bears it."""
    skeleton, least = model.skeleton, np.zeros(len(model.skeleton))
    if ground is None or not model.free.size:
        return least
    for part in model.parts:
        for capsule in bodies_of(part.skeleton).capsules:
            ends = [start.point(part.first + capsule.joint, end) for end in (capsule.a, capsule.b)]
            for end in ends:
                if end[1] - capsule.radius > ground + _NEAR_GROUND * part.height:
                    continue
                for joint in above(skeleton, part.first + capsule.joint):
                    lever = float(np.linalg.norm(end - start.positions[joint]))
                    least[joint] = max(least[joint], _BEARING * part.mass * lever**2)
    return np.where(_turning(skeleton), least, 0.0)


def _carrying_inertia(model: Model, start: World, payload: float) -> Floats:
    """(J,) the least inertia that gains assume for joints that carry a load at an effector: a finger weighs little."""
    skeleton, least = model.skeleton, np.zeros(len(model.skeleton))
    for part in model.parts if payload > 0.0 else ():
        for effector in part.skeleton.effectors:
            joint = part.first + effector.joint
            end = start.point(joint, effector.offset)
            for carrier in above(skeleton, joint):
                least[carrier] = max(least[carrier], payload * float(np.sum((end - start.positions[carrier]) ** 2)))
    return np.where(_turning(skeleton), least, 0.0)


def _turning(skeleton: Skeleton) -> Bools:
    return skeleton.of_kind(JointKind.BALL, JointKind.HINGE, JointKind.UNIVERSAL)
