"""Limits of joints and contacts as constraints of the place after the step, which MuJoCo solves together.

A step asks d + h d' + h^2 a >= 0, with d the room that is left (Stewart, Trinkle, "An implicit time-stepping scheme for
rigid body dynamics", Int. J. Numer. Methods Eng. 39, 1996): what is fast is stopped at a limit or a surface, not a step
behind it. So contacts are looked for as far away as things move in a step.

MuJoCo has rows for the limits of hinges and slides. Of a ball it only limits the whole turn: each range of a ball's
coordinates that is near is a contact without friction between the joint's body and its parent's, with the coordinate's
gradient as its moment.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from viewer.physics.library import by_vector, left, load_mujoco, xyzw
from viewer.physics.model import Model
from viewer.skeleton import LimitForm, joint_space
from viewer.spatial.angles import axes_of, to_swing_twist
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import perpendicular

_LIMIT, _CONTACT = 0.999, 0.98
"""How hard they are: what is left of an acceleration into them is one less this (MuJoCo's `solimp`)."""
_RETURN = 0.2
"""What is outside already comes back by this part in each step."""
_LEAST_GAP, _MOST_GAP = 5e-4, 0.1
"""Contacts are detected within twice the distance moved in a step, between these fractions of the height."""
_IN_GAP, _ANY = 1, 1e6
"""MuJoCo's code for contacts in the gap, and a margin that includes all contacts."""
_BAND = 0.01
"""Radians or metres: a limit becomes a constraint within this distance plus what the joint moves in two steps."""
_WINDING = 2.0
"""Largest ratio of the rate of a ball's coordinates to its rotation rate, away from half a turn."""
_PROBE = 1e-4
"""Radians of the rotations by which gradients are measured."""
_POLE = 0.2
"""Swings end this many radians before half a turn, where swing and twist become ambiguous."""
_STEEPEST = 20.0
"""Where coordinates change faster than this with the rotation, half a turn is too near for their gradient."""


class Constraints:
    """Limits and contacts of one model.

    Attributes:
        contacts: how many contacts of the last step are of bodies: they come first.
        deepest: metres of the deepest contact since the start.
    """

    def __init__(self, model: Model) -> None:
        """Set the constants of MuJoCo's rows; the time step of the model stays as it is now."""
        mj = model.mj
        self._mujoco, self._h = load_mujoco(), float(mj.opt.timestep)
        joints = mj.dof_jntid[model.scalar_dof]
        limited = mj.jnt_limited[joints].astype(np.bool_)
        self._joints, self._dofs = joints[limited], model.scalar_dof[limited]
        mj.jnt_solref[self._joints], mj.jnt_solimp[self._joints] = _hardness(_LIMIT, self._h)
        mj.geom_solref[:], mj.geom_solimp[:] = _hardness(_CONTACT, self._h)
        self._balls = _Balls(model, self._h)
        self._least, self._most = _LEAST_GAP * model.height, _MOST_GAP * model.height
        self._body = mj.geom_bodyid.astype(np.intp)
        self.rest(np.zeros((mj.nbody, 3)))

    def rest(self, centers: Floats) -> None:
        """Start with nothing that moves; ``centers`` (B, 3) are the bodies' centres of mass."""
        self.contacts, self.deepest, self._centers, self._still = 0, 0.0, centers.copy(), False

    def positions(self, mj: Any, data: Any, rate: Floats) -> None:  # noqa: ANN401
        """Compute the positions of a step and what hangs on them, as `mj_fwdPosition` does, with our constraints.

        Args:
            mj: the `mujoco.MjModel`.
            data: its `mujoco.MjData`.
            rate: (nv,) how quickly each degree of freedom moves, without sign.
        """
        mujoco = self._mujoco
        mujoco.mj_kinematics(mj, data)
        self._look_around(mj, data, rate)
        mujoco.mj_comPos(mj, data)
        mujoco.mj_makeM(mj, data)
        mujoco.mj_factorM(mj, data)
        mujoco.mj_collision(mj, data)
        self.contacts = data.ncon
        if self.contacts:
            contact = data.contact
            room, contact.includemargin[:] = contact.dist, _ANY
            contact.exclude[contact.exclude == _IN_GAP] = 0
            if not self._still:
                contact.dim[room > self._least] = 1  # no friction before they touch
            self.deepest = max(self.deepest, -float(room.min()))
        self._balls.add(mj, data, rate)
        mujoco.mj_makeConstraint(mj, data)
        if data.nefc:
            first = data.ne + data.nf
            data.efc_margin[first:] = 0.0  # a margin only makes rows; the limit stays where it is
            room = data.efc_pos[first:]
            np.maximum(room, _RETURN * room, out=room)
        mujoco.mj_island(mj, data)

    def _look_around(self, mj: Any, data: Any, rate: Floats) -> None:  # noqa: ANN401
        """How far from the limits and from each other rows begin."""
        if self._joints.size:
            mj.jnt_margin[self._joints] = _BAND + 2.0 * self._h * rate[self._dofs]
        moved = np.abs(data.xipos - self._centers)
        self._centers[:] = data.xipos
        still = bool(moved.max() < self._least)
        if not still:
            gap = np.minimum(self._least + 2.0 * moved.sum(axis=1), self._most)
            mj.body_margin[:], mj.geom_gap[:] = gap, gap[self._body]
        elif not self._still:
            mj.body_margin[:] = mj.geom_gap[:] = self._least
        self._still = still


def _hardness(impedance: float, h: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """MuJoCo's `solref` in its direct form, which gives the acceleration -d'/h - d/h^2, and `solimp`."""
    return (-impedance / h**2, -impedance / h), (impedance, impedance, 0.001, 0.5, 2.0)


class _Measure(NamedTuple):
    """Balls whose limits have one form.

    Attributes:
        balls: (N,) which, in the order of all.
        order: (N, 4) the components of a quaternion in the order in which they are measured.
        parity: (N, 1) of that order; 1 for swing and twist.
        is_euler: whether the coordinates are Euler angles; else swing, swing, twist.
        lower, upper, middle, period: (N, 3) in that order.
    """

    balls: Ints
    order: Ints
    parity: Floats
    is_euler: bool
    lower: Floats
    upper: Floats
    middle: Floats
    period: Floats

    def __call__(self, turns: Floats) -> tuple[Floats, Floats]:
        """Room (N, 7) of turns (N, 4, 4): above the lower ends, below the upper ones, and of swings to half a turn.

        Its gradients are (N, 7, 3).

        Of the four turns of each ball the first is measured, the others follow it by `_PROBE` about x, y and z.
        """
        sorted_turns = np.take_along_axis(turns, self.order[:, None, :], axis=-1)
        angles = _euler(sorted_turns, self.parity) if self.is_euler else to_swing_twist(sorted_turns, 2)
        count = np.rint((angles[:, :1] - self.middle[:, None]) / (2.0 * np.pi))
        angles = angles - self.period[:, None] * count
        if not self.is_euler:
            angles = self._short_or_long(angles)
        change = angles[:, 1:] - angles[:, :1]
        change -= self.period[:, None] * np.rint(change / (2.0 * np.pi))
        gradient = np.moveaxis(change, 1, 2) / _PROBE
        here = angles[:, 0]
        pole, away = np.full((len(here), 1), np.inf), np.zeros((len(here), 1, 3))
        if not self.is_euler:
            swing = np.linalg.norm(angles[..., :2], axis=-1)
            pole, away[:, 0] = np.pi - _POLE - swing[:, :1], (swing[:, :1] - swing[:, 1:]) / _PROBE
        room = np.concatenate([here - self.lower, self.upper - here, pole], axis=1)
        return room, np.concatenate([gradient, -gradient, away], axis=1)

    def _short_or_long(self, angles: Floats) -> Floats:
        """The swings (N, 4, 3), taken the long way round where that is less outside: half a turn is no limit."""
        outside = np.maximum(self.lower - angles[:, 0], angles[:, 0] - self.upper)[:, :2].max(axis=-1)
        for ball in np.flatnonzero(outside > 0.5 * np.pi).tolist():
            swing = angles[ball, :, :2]
            length = np.linalg.norm(swing, axis=-1, keepdims=True)
            other = swing - 2.0 * np.pi * swing / np.maximum(length, 1e-12)
            beyond = np.maximum(self.lower[ball, :2] - other[0], other[0] - self.upper[ball, :2]).max()
            if beyond < outside[ball]:
                angles[ball, :, :2] = other
        return angles


def _measures(model: Model, limited: Ints) -> list[_Measure]:
    """How the balls with limits (indices into ``model.balls``) are measured."""
    skeleton, space = model.skeleton, joint_space(model.skeleton)
    made = []
    for form in (LimitForm.SWING_TWIST, LimitForm.EULER):
        own, orders, parities = [], [], []
        for number, ball in enumerate(model.balls[limited].tolist()):
            limits = skeleton.limits[ball]
            if limits is None or limits.form is not form:
                continue
            is_euler = form is LimitForm.EULER
            axis = limits.twist_axis
            a, b, c = axes_of(limits.order) if is_euler else ((axis + 1) % 3, (axis + 2) % 3, axis)
            own.append(number)
            orders.append((a, b, c, 3))
            parities.append(1.0 if (b - a) % 3 == 1 else -1.0)
        if own:
            joints, order = model.balls[limited[own]][:, None], np.array(orders)
            ends = (part[joints, order[:, :3]] for part in (space.lower, space.upper, space.middle, space.period))
            parity = np.array(parities)[:, None]
            made.append(_Measure(np.array(own), order, parity, form is LimitForm.EULER, *ends))
    return made


def _euler(q: Floats, parity: Floats) -> Floats:
    """Angles (N, T, 3) of quaternions (N, T, 4) with components in the sequence of the order, as `to_euler`."""
    w, x, y, z = q[..., 3], q[..., 0], q[..., 1], parity * q[..., 2]
    p_w, p_i, p_j, p_k = w - y, x - z, w + y, z + x
    total, difference = np.arctan2(p_i, p_w), np.arctan2(p_k, p_j)
    middle = 2.0 * np.arctan2(np.hypot(p_j, p_k), np.hypot(p_w, p_i)) - 0.5 * np.pi
    return np.stack([total + difference, middle, parity * (difference - total)], axis=-1)


class _Balls:
    """The balls that have limits."""

    def __init__(self, model: Model, h: float) -> None:
        self._mujoco, self._h = load_mujoco(), h
        mj, space = model.mj, joint_space(model.skeleton)
        ends = np.isfinite(space.lower[model.balls]) | np.isfinite(space.upper[model.balls])
        limited = np.flatnonzero(ends.any(axis=-1))
        self._qpos = model.ball_qpos[limited, None] + np.arange(4)
        self._dofs = model.ball_dof[limited, None] + np.arange(3)
        self._body = model.body[model.balls[limited]]
        self._measures = _measures(model, limited)
        count = len(limited)
        self._clear, self._turned = np.full(count, -np.inf), np.zeros(count)
        self._rooms, self._gradients = np.full((count, 7), np.inf), np.zeros((count, 7, 3))
        # A lever with which MuJoCo's estimate of what a contact moves is right: that of bodies, not of joints.
        weight = mj.body_invweight0[self._body]
        self._lever = np.sqrt(weight[:, 0] / np.maximum(weight[:, 1], 1e-300))
        parents = mj.body_parentid[self._body]
        self._contacts = [
            _contact(self._mujoco, int(mj.body_geomadr[parent]), int(mj.body_geomadr[body]), h)
            for parent, body in zip(parents.tolist(), self._body.tolist(), strict=True)
        ]
        probes = np.zeros((4, 4))
        probes[:, 3] = 1.0
        probes[1:, :3] = 0.5 * _PROBE * np.eye(3)
        self._probes = probes

    def add(self, mj: Any, data: Any, rate: Floats) -> None:  # noqa: ANN401
        """Add a contact for each range that a ball may come to within the step.

        Balls that cannot have come to their limits since they were last measured are not measured again.
        """
        if not self._contacts:
            return
        h = self._h
        turn = (_WINDING * h) * rate[self._dofs].sum(axis=-1)
        self._turned += turn
        if (self._turned + turn < self._clear).all():
            return
        speed = data.qvel[self._dofs]
        now = xyzw(data.qpos[self._qpos])
        ahead = now + 0.5 * h * by_vector(now, speed)  # after the step, without forces
        ahead /= np.linalg.norm(ahead, axis=-1, keepdims=True)
        turns = np.matmul(self._probes, left(ahead))
        for measure in self._measures:
            self._rooms[measure.balls], self._gradients[measure.balls] = measure(turns[measure.balls])
        self._clear[:], self._turned[:] = self._rooms.min(axis=-1) - _BAND, turn  # what was measured is a step ahead
        steep = np.abs(self._gradients).sum(axis=-1)
        near = (self._rooms < (turn + _BAND)[:, None]) & (steep < _STEEPEST) & (steep > 0.1)
        balls, which = np.nonzero(near)
        if balls.size:
            self._add_contacts(mj, data, balls, which, speed[balls])

    def _add_contacts(self, mj: Any, data: Any, balls: Ints, which: Ints, speed: Floats) -> None:  # noqa: ANN401
        """A point on a lever at the joint that may not move against the normal is the moment of the gradient."""
        own, gradient = slice(data.ncon, None), self._gradients[balls, which]
        for ball in balls.tolist():
            self._mujoco.mj_addContact(mj, data, self._contacts[ball])
        size = np.linalg.norm(gradient, axis=-1)
        lever = self._lever[balls]
        turned = np.einsum("nij,nj->ni", data.xmat[self._body[balls]].reshape(-1, 3, 3), gradient)
        axes = turned / size[:, None]
        arm = perpendicular(axes)
        normal = np.cross(axes, arm)
        contact = data.contact
        contact.pos[own] = data.xpos[self._body[balls]] + (lever * size)[:, None] * arm
        contact.frame[own] = np.concatenate([normal, arm, axes], axis=1)
        # The room that is left now, so that after the step it is what was measured ahead.
        contact.dist[own] = lever * (self._rooms[balls, which] - self._h * np.einsum("ni,ni->n", gradient, speed))


def _contact(mujoco: Any, first: int, second: int, h: float) -> Any:  # noqa: ANN401
    """A contact without friction between two shapes."""
    made = mujoco.MjContact()
    made.geom[:] = first, second
    made.geom1, made.geom2 = first, second
    made.flex[:] = made.elem[:] = made.vert[:] = -1
    made.dim, made.includemargin, made.exclude = 1, _ANY, 0
    made.solref[:], made.solimp[:] = _hardness(_LIMIT, h)
    made.friction[:] = 1.0
    return made
