"""Limits of joints and contacts as constraints of the place after the step, which MuJoCo solves together.

A step asks d + h d' + h^2 a >= 0, with d the room that is left (Stewart, Trinkle, "An implicit time-stepping scheme for
rigid body dynamics", Int. J. Numer. Methods Eng. 39, 1996): fast things are stopped at a limit or surface, not a step
behind it. So contacts are searched as far away as things move in a step.

MuJoCo has rows for the limits of hinges and slides; `ball_limits` makes those of balls. Where a blow moves something
farther than the rows allowed for, new rows are made and the step is solved again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from viewer.physics.ball_limits import ANY, BAND, LIMIT, OUTSIDE, RETURN, SUDDEN, BallLimits, hardness
from viewer.physics.library import load_mujoco
from viewer.physics.model import Model
from viewer.physics.overlaps import Overlaps
from viewer.spatial.checks import Floats

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
        self._mujoco, self._h = load_mujoco(), float(mj.opt.timestep)
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

    def aim(self, data: Any | None) -> None:  # noqa: ANN401
        """Take how bodies move in the aim: positions and velocities of a `mujoco.MjData`; None: they stay."""
        self._aimed = None
        if data is not None:
            mj = data.model
            self._mujoco.mj_kinematics(mj, data)
            self._mujoco.mj_comPos(mj, data)
            self._mujoco.mj_comVel(mj, data)
            turning, moving = data.cvel[:, :3].copy(), data.cvel[:, 3:]
            self._aimed = turning, moving + np.cross(turning, data.xpos - data.subtree_com[mj.body_rootid])

    def rest(self, data: Any) -> None:  # noqa: ANN401
        """Start from a state with nothing that moves."""
        self.contacts, self.deepest, self._centers, self._still = 0, 0.0, data.xipos.copy(), False

    def leave_poles(self, qpos: Floats) -> None:
        """Turn balls back whose swing is near to half a turn, where limits mean nothing, in coordinates (nq,)."""
        self._balls.leave_poles(qpos)

    def part(self, mj: Any, data: Any) -> None:  # noqa: ANN401
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

    def _overlaps(self, mj: Any, data: Any, least: float) -> Overlaps:  # noqa: ANN401
        """Overlaps of more than a part of the height, except those that are stuck."""
        self._mujoco.mj_kinematics(mj, data)
        self._mujoco.mj_collision(mj, data)
        return Overlaps.found(data, mj.ngeom, least * self._height).without(self.stuck)

    def _part_once(self, mj: Any, data: Any) -> None:  # noqa: ANN401
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

    def positions(self, mj: Any, data: Any, rate: Floats) -> None:  # noqa: ANN401
        """Compute the positions of a step and what depends on them, as `mj_fwdPosition` does, with our constraints.

        Args:
            mj: the `mujoco.MjModel`.
            data: its `mujoco.MjData`.
            rate: (nv,) how quickly each degree of freedom moves, without sign.
        """
        mujoco = self._mujoco
        mujoco.mj_kinematics(mj, data)
        self._look_around(mj, data)
        mujoco.mj_comPos(mj, data)
        mujoco.mj_makeM(mj, data)
        mujoco.mj_factorM(mj, data)
        self._balls.stopped[:] = False
        self._make_rows(mj, data, rate, data.qvel)

    def solve(self, mj: Any, data: Any, rate: Floats) -> None:  # noqa: ANN401
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

    def _make_rows(self, mj: Any, data: Any, rate: Floats, speed: Floats) -> None:  # noqa: ANN401
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

    def _let_slide(self, mj: Any, data: Any, turning: Floats, moving: Floats) -> None:  # noqa: ANN401
        """Remove friction between still things and bodies that the aim moves along them: see `_LIFTED`."""
        contact = data.contact
        bodies = self._body[contact.geom]
        still = mj.body_weldid[bodies] == 0
        some = np.flatnonzero(still.any(axis=1))
        own = np.where(still[some, 0], bodies[some, 1], bodies[some, 0])
        velocity = moving[own] + np.cross(turning[own], contact.pos[some] - data.xpos[own])
        normal = contact.frame[some, :3]
        along = velocity - np.einsum("ni,ni->n", velocity, normal)[:, None] * normal
        share = 1.0 - np.linalg.norm(along, axis=1) / (_LIFTED * self._height)
        contact.friction[some] = np.maximum(contact.friction[some] * np.maximum(share, 0.0)[:, None], _LEAST_FRICTION)
        contact.dim[some[share <= 0.0]] = 1

    def _look_around(self, mj: Any, data: Any) -> None:  # noqa: ANN401
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

    def _look_within(self, mj: Any, gap: Floats) -> None:  # noqa: ANN401
        mj.body_margin[:], mj.geom_gap[:] = gap, gap[self._body]

    def _moves_farther(self, mj: Any, data: Any, speed: Floats) -> bool:  # noqa: ANN401
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

    def _leaves_scalars(self, mj: Any, data: Any, speed: Floats) -> bool:  # noqa: ANN401
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


def _reach(mj: Any) -> Floats:  # noqa: ANN401
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
