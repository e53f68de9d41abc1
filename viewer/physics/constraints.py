"""Limits of joints and contacts as constraints of the place after the step, which MuJoCo solves together.

MuJoCo limits only the whole turn of a ball. A range is a contact without friction between the joint's body and its
parent's, with the gradient of the coordinate as its moment. Ranges are curves, so room and gradient are those of the
place where the step leads. A ball that the step would lead out of its ranges nevertheless stands still for this step.

A step asks d + h d' + h^2 a >= 0, with d the room that is left (Stewart, Trinkle, "An implicit time-stepping scheme for
rigid body dynamics", Int. J. Numer. Methods Eng. 39, 1996): fast things are stopped at a limit or surface, not a step
behind it. So contacts are searched as far away as things move in a step.

MuJoCo has rows for the limits of hinges and slides; `BallLimits` makes those of balls. Where a blow moves something
farther than the rows allowed for, new rows are made and the step is solved again.

What overlaps at the start is separated. A part that hangs on the world beside its joint, or one whose joints are at
their limits, may lie in the floor no matter how hard the floor pushes: it keeps its depth, as contacts that it cannot
leave would push forever without effect.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.physics.model import Model
from viewer.physics.surroundings import MuJoCo
from viewer.skeleton import LimitForm, joint_space
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import (
    axes_of,
    cross,
    dot,
    from_swing_twist,
    from_wxyz,
    left_factors,
    norm,
    normalized,
    perpendicular,
    times_vectors,
    to_swing_twist,
    to_wxyz,
)

LIMIT = 0.9999
"""How hard limits are: what is left of an acceleration into them is one less this (MuJoCo's `solimp`, 0.9999 at most).
"""
RETURN = 0.2
"""The part by which coordinates outside come back in each step."""
BAND = 0.01
"""Radians or metres: a limit becomes a constraint within this distance plus what the joint moves in two steps."""
OUTSIDE = 5e-3
"""Radians or metres by which a step may leave limits; else it is solved again."""
SUDDEN = 0.01
"""Radians or metres by which forces must move a joint within a step for its rows to be worth a second look."""
ANY = 1e6
"""A margin that includes all contacts."""
_WINDING = 2.0
"""Largest ratio of the rate of a ball's coordinates to its rotation rate, away from half a turn."""
_PROBE = 1e-4
"""Radians of the rotations by which gradients are measured."""
_POLE = 0.2
"""Swings end this many radians before half a turn, where swing and twist become ambiguous."""
_LONG = 0.5 * np.pi
"""Swings up to this many radians are never read the long way round."""
_BOTH_WAYS = np.concatenate([np.eye(3), -np.eye(3)])
"""(6, 3) the directions in which a stopped ball may not turn."""

_CONTACT = 0.999
"""How hard contacts are (see `LIMIT`): softer than limits, so that a contact cannot press a joint out of its limits."""
_LEAST_GAP, _MOST_GAP = 5e-4, 0.1
"""Contacts are detected within twice the distance moved in a step, between these fractions of the height."""
_SHALLOW = 1e-3
"""Overlaps of less than this part of the height that cannot come apart are treated as ordinary contacts."""
_LIFTED = 0.3
"""Heights of the figure per second: a body that the aim moves this fast along something still slides over it, like a
person's moving foot, which carries no weight. Otherwise a walk whose feet swing a centimetre above the ground would
stumble.
"""
_LEAST_FRICTION = 1e-5
"""MuJoCo's."""
_PARTING_STEPS = 10
"""Steps for separating overlaps at the start; those that can come apart do so in two or three."""
_MOST_AGAIN = 6
"""Times that a step is solved again at most."""
_IN_GAP = 1
"""MuJoCo's code for contacts in the gap."""
_FREE, _SLIDE = 0, 2
"""MuJoCo's codes of joints that slide: by the first three coordinates of a free joint, and by all of a slide."""


def hardness(impedance: float, h: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
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

    def __call__(self, turns: Floats) -> tuple[Floats, Floats, Floats]:
        """(N, 7) the room ahead, (N, 7, 3) its gradient, and (N, 7) the room now.

        Room is above the lower ends, below the upper ones, and of swings to half a turn. ``turns`` (N, 5, 4) are those
        of each ball: now; ahead; and ahead, followed by `_PROBE` about x, y and z.
        """
        sorted_turns = np.take_along_axis(turns, self.order[:, None, :], axis=-1)
        angles = _euler(sorted_turns, self.parity) if self.is_euler else to_swing_twist(sorted_turns, 2)
        now = angles[:, 0]
        now -= self.period * np.rint((now - self.middle) / (2.0 * np.pi))
        if not self.is_euler:
            self._go_the_long_way(angles)
        change = angles[:, 1:] - now[:, None]
        change -= self.period[:, None] * np.rint(change / (2.0 * np.pi))
        ahead = now + change[:, 0]
        gradient = (change[:, 1:] - change[:, :1]).swapaxes(1, 2) / _PROBE
        away = np.zeros((len(now), 1, 3))
        pole = pole_now = np.full((len(now), 1), np.inf)
        if not self.is_euler:
            swing = norm(angles[..., :2])
            pole, pole_now = np.pi - _POLE - swing[:, 1:2], np.pi - _POLE - swing[:, :1]
            away[:, 0] = (swing[:, 1:2] - swing[:, 2:]) / _PROBE
        room = np.concatenate([ahead - self.lower, self.upper - ahead, pole], axis=1)
        room_now = np.concatenate([now - self.lower, self.upper - now, pole_now], axis=1)
        return room, np.concatenate([gradient, -gradient, away], axis=1), room_now

    def _go_the_long_way(self, angles: Floats) -> None:
        """Measure swings beyond half a turn: now if that is less outside, ahead if that is nearer to the swing now."""
        swing = angles[..., :2]
        length = norm(swing)[..., None]
        if length.max() < _LONG:
            return
        other = swing - 2.0 * np.pi * swing / np.maximum(length, 1e-12)
        outside, beyond = (
            np.maximum(self.lower[:, :2] - some[:, 0], some[:, 0] - self.upper[:, :2]).max(axis=-1)
            for some in (swing, other)
        )
        long = (outside > _LONG) & (beyond < outside)
        swing[long, 0] = other[long, 0]
        far, near = (norm(some[:, 1:] - swing[:, :1]) for some in (swing, other))
        long_ahead = near < far
        swing[:, 1:][long_ahead] = other[:, 1:][long_ahead]


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


class BallLimits:
    """The balls that have limits.

    Attributes:
        dofs: (N, 3) their degrees of freedom.
        stopped: (N,) which may not turn in this step.
    """

    def __init__(self, model: Model, h: float) -> None:
        self._mujoco, self._h = model.mujoco, h
        mj, space = model.mj, joint_space(model.skeleton)
        ends = np.isfinite(space.lower[model.balls]) | np.isfinite(space.upper[model.balls])
        limited = np.flatnonzero(ends.any(axis=-1))
        self._qpos = model.ball_qpos[limited, None] + np.arange(4)
        self.dofs = model.ball_dof[limited, None] + np.arange(3)
        self._body = model.body[model.balls[limited]]
        self._measures = _measures(model, limited)
        count = len(limited)
        self._clear, self._turned = np.full(count, -np.inf), np.zeros(count)
        self._rooms, self._gradients = np.full((count, 7), np.inf), np.zeros((count, 7, 3))
        self._rooms_now = np.full((count, 7), np.inf)
        # A lever for which MuJoCo's estimate of what a contact moves, which is for bodies and not for joints, is right.
        weight = mj.body_invweight0[self._body]
        self._lever = np.sqrt(weight[:, 0] / np.maximum(weight[:, 1], 1e-300))
        parents = mj.body_parentid[self._body]
        self._contacts = [
            _contact(self._mujoco, int(mj.body_geomadr[parent]), int(mj.body_geomadr[body]), h)
            for parent, body in zip(parents.tolist(), self._body.tolist(), strict=True)
        ]
        self.stopped, self._has_rows = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.bool_)
        probes = np.zeros((4, 4))
        probes[:, 3] = 1.0
        probes[1:, :3] = 0.5 * _PROBE * np.eye(3)
        self._probes = probes

    def add(self, mj: MuJoCo, data: MuJoCo, rate: Floats, speed: Floats) -> int:
        """Add a contact for each range that a ball may come to within the step; returns how many.

        Balls that cannot have come to their limits since they were last measured are not measured again.
        """
        if not self._contacts:
            return 0
        turn = (_WINDING * self._h) * rate[self.dofs].sum(axis=-1)
        self._turned += turn
        self._has_rows[:] = False
        if (self._turned + turn < self._clear).all():
            return 0
        own_speed = speed[self.dofs]
        self._measure(data, own_speed)
        self._clear[:], self._turned[:] = self._rooms.min(axis=-1) - BAND, turn  # the measured values are a step ahead
        steep = np.abs(self._gradients).sum(axis=-1)
        near = (self._rooms < (turn + BAND)[:, None]) & (steep > 0.0) & ~self.stopped[:, None]
        self._has_rows[:] = near.any(axis=-1)
        balls, which = np.nonzero(near)
        gradient = self._gradients[balls, which]
        # So the room after the step is the one measured ahead; coordinates outside now have to come back only by a
        # part.
        room = self._rooms[balls, which] - self._h * dot(gradient, own_speed[balls])
        room -= (1.0 - RETURN) * np.minimum(self._rooms_now[balls, which], 0.0)
        if self.stopped.any():
            stopped = np.flatnonzero(self.stopped)
            balls = np.concatenate([balls, np.repeat(stopped, 6)])
            gradient = np.concatenate([gradient, np.tile(_BOTH_WAYS, (len(stopped), 1))])
            room = np.concatenate([room, np.zeros(6 * len(stopped))])
        if balls.size:
            self._add_contacts(mj, data, balls, gradient, room)
        return len(balls)

    def leave_poles(self, qpos: Floats) -> None:
        """See `Constraints.leave_poles`."""
        for measure in self._measures:
            places = self._qpos[measure.balls]
            turns = np.take_along_axis(normalized(from_wxyz(qpos[places])), measure.order, axis=-1)
            angles = to_swing_twist(turns, 2)
            swing = norm(angles[:, :2])
            for ball in np.flatnonzero((swing > np.pi - _POLE) & (not measure.is_euler)).tolist():
                angles[ball, :2] *= (np.pi - _POLE) / swing[ball]
                back = np.empty(4)
                back[measure.order[ball]] = from_swing_twist(angles[ball], 2)
                qpos[places[ball]] = to_wxyz(back)

    def leave(self, data: MuJoCo, rate: Floats, speed: Floats) -> bool:
        """Whether one goes further out of its limits in a step at ``speed`` (nv,) than it is.

        A ball that does so despite its rows is stopped: ranges are not planes where they meet, or for such a large
        turn. Stopping adds no energy; putting the ball back inside would.
        """
        if not self._contacts:
            return False
        own_speed = speed[self.dofs]
        sudden = self._h * np.abs(own_speed - data.qvel[self.dofs]).max(axis=-1)
        turn = (_WINDING * self._h) * np.maximum(rate[self.dofs], np.abs(own_speed)).sum(axis=-1)
        if not ((sudden > SUDDEN) & (self._turned + turn > self._clear)).any():
            return False
        self._measure(data, own_speed)
        outside = (self._rooms < np.minimum(self._rooms_now, 0.0) - OUTSIDE).any(axis=-1)
        self.stopped |= outside & self._has_rows
        return bool(outside.any())

    def _measure(self, data: MuJoCo, speed: Floats) -> None:
        """Measure the limits of all balls (N) now, and after a step at ``speed`` (N, 3)."""
        now = normalized(from_wxyz(data.qpos[self._qpos]))
        half = 0.5 * self._h * norm(speed)[:, None]
        ahead = np.cos(half) * now + 0.5 * self._h * np.sinc(half / np.pi) * times_vectors(now, speed)
        ahead /= norm(ahead)[:, None]
        turns = np.concatenate([now[:, None], np.matmul(self._probes, left_factors(ahead))], axis=1)
        for measure in self._measures:
            own = measure.balls
            self._rooms[own], self._gradients[own], self._rooms_now[own] = measure(turns[own])

    def _add_contacts(self, mj: MuJoCo, data: MuJoCo, balls: Ints, gradient: Floats, room: Floats) -> None:
        """A point on a lever at the joint that may not move against the normal is the moment of the gradient (R, 3)."""
        own = slice(data.ncon, None)
        for ball in balls.tolist():
            self._mujoco.mj_addContact(mj, data, self._contacts[ball])
        size = norm(gradient)
        lever = self._lever[balls]
        turned = np.einsum("nij,nj->ni", data.xmat[self._body[balls]].reshape(-1, 3, 3), gradient)
        axes = turned / size[:, None]
        arm = perpendicular(axes)
        normal = cross(axes, arm)
        contact = data.contact
        contact.pos[own] = data.xpos[self._body[balls]] + (lever * size)[:, None] * arm
        contact.frame[own] = np.concatenate([normal, arm, axes], axis=1)
        contact.dist[own] = lever * room


def _contact(mujoco: MuJoCo, first: int, second: int, h: float) -> MuJoCo:
    """A contact without friction between two shapes."""
    made = mujoco.MjContact()
    made.geom[:] = first, second
    made.geom1, made.geom2 = first, second
    made.flex[:] = made.elem[:] = made.vert[:] = -1
    made.dim, made.includemargin, made.exclude = 1, ANY, 0
    made.solref[:], made.solimp[:] = hardness(LIMIT, h)
    made.friction[:] = 1.0
    return made


class Overlaps(NamedTuple):
    """Pairs (P,) of shapes that overlap, ascending, each a number of two (see `_pairs_of`), and depths (P,), metres."""

    pairs: Ints
    depths: Floats
    shapes: int

    @classmethod
    def none(cls, shapes: int) -> Overlaps:
        """Nothing overlaps."""
        return cls(np.zeros(0, dtype=np.intp), np.zeros(0), shapes)

    @classmethod
    def found(cls, data: MuJoCo, shapes: int, least: float) -> Overlaps:
        """The contacts of a `mujoco.MjData` that are deeper than ``least`` metres."""
        deep = data.contact.dist < -least
        pairs, which = np.unique(_pairs_of(data.contact.geom[deep], shapes), return_inverse=True)
        depths = np.zeros(len(pairs))
        np.maximum.at(depths, which, -data.contact.dist[deep])
        return cls(pairs, depths, shapes)

    def at(self, geoms: Ints) -> Floats:
        """(C,) the depths of contacts between shapes (C, 2); 0 for pairs that are not among these."""
        if not self.pairs.size:
            return np.zeros(len(geoms))
        pairs = _pairs_of(geoms, self.shapes)
        places = np.minimum(np.searchsorted(self.pairs, pairs), len(self.pairs) - 1)
        return np.where(self.pairs[places] == pairs, self.depths[places], 0.0)

    def among(self, others: Overlaps) -> Overlaps:
        """Those of the pairs that are among others."""
        return self._some(np.isin(self.pairs, others.pairs))

    def without(self, others: Overlaps) -> Overlaps:
        """Those of the pairs that are not among others."""
        return self._some(~np.isin(self.pairs, others.pairs))

    def joined(self, others: Overlaps) -> Overlaps:
        """These and others, which are different pairs."""
        pairs, depths = np.concatenate([self.pairs, others.pairs]), np.concatenate([self.depths, others.depths])
        order = np.argsort(pairs)
        return Overlaps(pairs[order], depths[order], self.shapes)

    def _some(self, which: Bools) -> Overlaps:
        return Overlaps(self.pairs[which], self.depths[which], self.shapes)

    def geoms(self) -> list[tuple[int, int]]:
        """The two shapes of each pair."""
        return [divmod(pair, self.shapes) for pair in self.pairs.tolist()]


def _pairs_of(geoms: Ints, shapes: int) -> Ints:
    """(C,) a number for each pair of shapes (C, 2), in either order."""
    low, high = geoms.min(axis=1), geoms.max(axis=1)
    return np.asarray(low.astype(np.intp) * shapes + high)


class Constraints:
    """Limits and contacts of one model.

    Attributes:
        contacts: how many contacts of the last step are of bodies: they come first.
        stuck: overlaps at the start that cannot come apart; they act as if the surfaces only touched.
        deepest: metres of the deepest contact since the start.
    """

    def __init__(self, model: Model) -> None:
        """Set the constants of MuJoCo's rows; the time step of the model stays as it is now."""
        mj = model.mj
        self._mujoco, self._h = model.mujoco, float(mj.opt.timestep)
        joints = mj.dof_jntid[model.scalar_dof]
        limited = mj.jnt_limited[joints].astype(np.bool_)
        self._joints, self._dofs, self._qpos = joints[limited], model.scalar_dof[limited], model.scalar_qpos[limited]
        mj.jnt_solref[self._joints], mj.jnt_solimp[self._joints] = hardness(LIMIT, self._h)
        mj.geom_solref[:], mj.geom_solimp[:] = hardness(_CONTACT, self._h)
        self._balls = BallLimits(model, self._h)
        self._height, self._least = model.height, _LEAST_GAP * model.height
        self._most = np.full(mj.nbody, _MOST_GAP * model.height)
        self._most[model.thrown_body] = np.inf
        self._body = mj.geom_bodyid.astype(np.intp)
        self._ahead = self._mujoco.MjData(mj)
        sudden = self._least / np.maximum(_reach(mj), self._least)  # at most a radian
        limited = np.concatenate([self._dofs, self._balls.dofs.ravel()])
        sudden[limited] = np.minimum(sudden[limited], SUDDEN)
        self._sudden = sudden / self._h**2
        self.stuck = Overlaps.none(mj.ngeom)
        self._parting = False
        self._aimed: tuple[Floats, Floats] | None = None

    def aim(self, data: MuJoCo | None) -> None:
        """Take how bodies move in the aim: positions and velocities of a `mujoco.MjData`; None: they stay."""
        self._aimed = None
        if data is not None:
            mj = data.model
            self._mujoco.mj_kinematics(mj, data)
            self._mujoco.mj_comPos(mj, data)
            self._mujoco.mj_comVel(mj, data)
            turning, moving = data.cvel[:, :3].copy(), data.cvel[:, 3:]
            self._aimed = turning, moving + cross(turning, data.xpos - data.subtree_com[mj.body_rootid])

    def rest(self, data: MuJoCo) -> None:
        """Start from a state with nothing that moves."""
        self.contacts, self.deepest, self._centers, self._still = 0, 0.0, data.xipos.copy(), False

    def leave_poles(self, qpos: Floats) -> None:
        """Turn balls back whose swing is near to half a turn, where limits mean nothing, in coordinates (nq,)."""
        self._balls.leave_poles(qpos)

    def part(self, mj: MuJoCo, data: MuJoCo) -> None:
        """Separate what overlaps in a state without motion; overlaps that cannot come apart are `stuck` and stay.

        Each step goes all the way out, as far as contacts and limits together allow, by the least motion.
        """
        self.stuck, start = Overlaps.none(mj.ngeom), data.qpos.copy()
        while True:
            before = self._overlaps(mj, data, _LEAST_GAP)
            if not before.pairs.size:
                return
            self.rest(data)
            self._parting = True
            for _ in range(_PARTING_STEPS):
                self._part_once(mj, data)
            self._parting = False
            stay = before.among(self._overlaps(mj, data, _SHALLOW))
            if not stay.pairs.size:
                return
            self.stuck = self.stuck.joined(stay)
            data.qpos[:] = start

    def _overlaps(self, mj: MuJoCo, data: MuJoCo, least: float) -> Overlaps:
        """Overlaps of more than a part of the height, except those that are stuck."""
        self._mujoco.mj_kinematics(mj, data)
        self._mujoco.mj_collision(mj, data)
        return Overlaps.found(data, mj.ngeom, least * self._height).without(self.stuck)

    def _part_once(self, mj: MuJoCo, data: MuJoCo) -> None:
        """A step without speeds, in which only the forces of contacts and limits act."""
        mujoco = self._mujoco
        data.qvel[:] = 0.0
        self.positions(mj, data, data.qvel)
        mujoco.mj_fwdVelocity(mj, data)
        data.qfrc_smooth[:] = data.qacc_smooth[:] = 0.0
        self.solve(mj, data, data.qvel)
        mujoco.mj_integratePos(mj, data.qpos, self._h * data.qacc, self._h)

    def place(self, body: int, center: Floats, velocity: Floats) -> None:
        """Note that a body is moved to a place (3,), with a velocity (3,)."""
        self._centers[body] = center - self._h * velocity

    def positions(self, mj: MuJoCo, data: MuJoCo, rate: Floats) -> None:
        """Compute the positions of a step and what depends on them, as `mj_fwdPosition` does, with our constraints.

        ``rate`` (nv,) is how quickly each degree of freedom moves, without sign.
        """
        mujoco = self._mujoco
        mujoco.mj_kinematics(mj, data)
        self._look_around(mj, data)
        mujoco.mj_comPos(mj, data)
        mujoco.mj_makeM(mj, data)
        mujoco.mj_factorM(mj, data)
        self._balls.stopped[:] = False
        self._make_rows(mj, data, rate, data.qvel)

    def solve(self, mj: MuJoCo, data: MuJoCo, rate: Floats) -> None:
        """Solve for the accelerations, as `mj_fwdConstraint` does, so that no motion goes beyond what the rows cover.

        Arguments as before.
        """
        mujoco = self._mujoco
        mujoco.mj_fwdConstraint(mj, data)
        for _ in range(_MOST_AGAIN):
            if (np.abs(data.qacc) < self._sudden).all():
                return
            speed = data.qvel + self._h * data.qacc
            farther = self._moves_farther(mj, data, speed)
            leave = self._balls.leave(data, rate, speed)
            if not (farther or leave or self._leaves_scalars(mj, data, speed)):
                return
            rate = np.maximum(rate, np.abs(speed))
            self._make_rows(mj, data, rate, speed)
            mujoco.mj_fwdVelocity(mj, data)
            mujoco.mj_fwdConstraint(mj, data)

    def _make_rows(self, mj: MuJoCo, data: MuJoCo, rate: Floats, speed: Floats) -> None:
        """Rows of contacts and limits; those of balls for a step at ``speed`` (nv,)."""
        mujoco = self._mujoco
        if self._joints.size:
            mj.jnt_margin[self._joints] = BAND + 2.0 * self._h * rate[self._dofs]
        mujoco.mj_collision(mj, data)
        self.contacts = data.ncon
        if self.contacts:
            contact = data.contact
            if self.stuck.pairs.size:
                contact.dist[:] += self.stuck.at(contact.geom)
            room, contact.includemargin[:] = contact.dist, ANY
            contact.exclude[contact.exclude == _IN_GAP] = 0
            if self._parting:
                contact.dim[:] = 1
            elif not self._still:
                contact.dim[room > self._least] = 1  # no friction before they touch
            self.deepest = max(self.deepest, -float(room.min()))
            if self._aimed is not None:
                self._let_slide(mj, data, *self._aimed)
        added = self._balls.add(mj, data, rate, speed)
        mujoco.mj_makeConstraint(mj, data)
        if data.nefc:
            first = data.ne + data.nf
            data.efc_margin[first:] = 0.0  # a margin only makes rows; the limit itself stays
            room = data.efc_pos[first : first + data.nl if self._parting else data.nefc - added]
            np.maximum(room, RETURN * room, out=room)
        mujoco.mj_island(mj, data)

    def _let_slide(self, mj: MuJoCo, data: MuJoCo, turning: Floats, moving: Floats) -> None:
        """Remove friction between still things and bodies that the aim moves along them: see `_LIFTED`."""
        contact = data.contact
        bodies = self._body[contact.geom]
        still = mj.body_weldid[bodies] == 0
        some = np.flatnonzero(still.any(axis=1))
        own = np.where(still[some, 0], bodies[some, 1], bodies[some, 0])
        velocity = moving[own] + cross(turning[own], contact.pos[some] - data.xpos[own])
        normal = contact.frame[some, :3]
        along = velocity - dot(velocity, normal)[:, None] * normal
        share = 1.0 - norm(along) / (_LIFTED * self._height)
        contact.friction[some] = np.maximum(contact.friction[some] * np.maximum(share, 0.0)[:, None], _LEAST_FRICTION)
        contact.dim[some[share <= 0.0]] = 1

    def _look_around(self, mj: MuJoCo, data: MuJoCo) -> None:
        """Set the distance below which contacts get rows."""
        moved = np.abs(data.xipos - self._centers)
        self._centers[:] = data.xipos
        still = bool(moved.max() < self._least)
        if not still:
            self._look_within(mj, self._gap(moved))
        elif not self._still:
            self._look_within(mj, np.full(mj.nbody, self._least))
        self._still = still

    def _gap(self, moved: Floats) -> Floats:
        """(nbody,) metres around bodies in which they may meet something; they move (nbody, 3) in a step."""
        return np.asarray(np.minimum(self._least + 2.0 * moved.sum(axis=1), self._most))

    def _look_within(self, mj: MuJoCo, gap: Floats) -> None:
        mj.body_margin[:], mj.geom_gap[:] = gap, gap[self._body]

    def _moves_farther(self, mj: MuJoCo, data: MuJoCo, speed: Floats) -> bool:
        """Whether a body moves, in a step at ``speed`` (nv,), beyond where contacts were searched; widens it."""
        ahead = self._ahead
        ahead.qpos[:] = data.qpos
        self._mujoco.mj_integratePos(mj, ahead.qpos, speed, self._h)
        self._mujoco.mj_kinematics(mj, ahead)
        gap = self._gap(np.abs(ahead.xipos - data.xipos))
        if (gap < mj.body_margin + self._least).all():
            return False
        self._look_within(mj, np.maximum(gap, mj.body_margin))
        self._still = False
        return True

    def _leaves_scalars(self, mj: MuJoCo, data: MuJoCo, speed: Floats) -> bool:
        """Whether a hinge or slide without a row leaves its range at ``speed`` (nv,)."""
        if not self._joints.size:
            return False
        ends, here = mj.jnt_range[self._joints], data.qpos[self._qpos]
        ahead = here + self._h * speed[self._dofs]
        room = np.minimum(ahead - ends[:, 0], ends[:, 1] - ahead)
        if room.min() > -OUTSIDE:
            return False
        before = np.minimum(here - ends[:, 0], ends[:, 1] - here)
        return bool(((room < -OUTSIDE) & (before > mj.jnt_margin[self._joints])).any())


def _reach(mj: MuJoCo) -> Floats:
    """(nv,) metres at most by which anything moves with a degree of freedom, for each radian or metre of it."""
    far = np.zeros(mj.nbody)  # from a body's origin to the farthest point of itself and what hangs on it
    np.maximum.at(far, mj.geom_bodyid, np.linalg.norm(mj.geom_pos, axis=1) + mj.geom_rbound)
    for body in range(mj.nbody - 1, 0, -1):
        parent = int(mj.body_parentid[body])
        far[parent] = max(far[parent], float(np.linalg.norm(mj.body_pos[body])) + far[body])
    place = np.arange(mj.nv) - mj.jnt_dofadr[mj.dof_jntid]
    kind = mj.jnt_type[mj.dof_jntid]
    slides = (kind == _SLIDE) | ((kind == _FREE) & (place < 3))
    return np.where(slides, 1.0, far[mj.dof_bodyid])
