"""The numpy backend, second part: joint coordinates and moving along a step, for all joints at once."""

from __future__ import annotations

import math

import numpy as np

from viewer.ik import kernels
from viewer.ik.system import System, Work
from viewer.ik.vectorised_algebra import apply, exponential, logarithm, multiply, since
from viewer.ik.vectorised_kinds import joints_of
from viewer.ik.vectorised_tables import limits_of
from viewer.spatial.checks import Floats, Ints


def set_local(s: System, x: Floats, q: Floats, t: Floats) -> None:
    """Local rotations and translations from coordinates, in place; joints that have none keep theirs."""
    joints = joints_of(s)
    if joints.angles.size:
        half = x[joints.angles]
        half *= joints.half
        part = np.empty((2, *half.shape))
        np.cos(half, out=part[0])
        np.sin(half, out=part[1])
        products = (part[:, None, 0] * part[:, 1]).reshape(4, 1, -1) * part[:, 2]
        q[joints.angled] = np.einsum("ak,bka->kb", products.reshape(8, -1), joints.angled_table)
    if joints.twists.size:
        half, part = 0.5 * x[joints.twists], np.empty((2, len(joints.twists)))
        np.cos(half, out=part[0])
        np.sin(half, out=part[1])
        products = exponential(x[joints.swings])[:, None] * part
        q[joints.swung] = np.einsum("ak,bka->kb", products.reshape(6, -1), joints.swung_table)
    if joints.slid.size:
        q[joints.slid] = s.rest[joints.slid]
        t[joints.slid] = s.offset[joints.slid] + x[joints.slides][:, None] * joints.direction


def move(s: System, w: Work, dx: Floats, x: Floats, q: Floats, t: Floats) -> None:
    """Move along a step in place; coordinates stay within their limits."""
    joints = joints_of(s)
    if joints.mover_freedoms.size:
        t[joints.movers] += dx[joints.mover_freedoms]
    if joints.few and math.isfinite(dx.dot(dx)):
        for k, d, basis in joints.few:
            ax, ay, az, aw = kernels.exponential(*kernels.turned(*basis, *dx[d : d + 3].tolist()))
            qx, qy, qz, qw = q[k].tolist()
            ax, ay, az, aw = kernels.product(qx, qy, qz, qw, ax, ay, az, aw)
            length = math.sqrt(ax * ax + ay * ay + az * az + aw * aw)
            q[k] = ax / length, ay / length, az / length, aw / length
    elif joints.turner_freedoms.size:
        turns = exponential(apply(joints.turner_axes, dx[joints.turner_freedoms]))
        turned = multiply(q[joints.turners].T, turns)
        q[joints.turners] = (turned / np.sqrt(np.add.reduce(turned * turned))).T
    before = x[joints.swings]
    np.copyto(x, np.minimum(np.maximum(x + dx, s.lower), s.upper), where=joints.coordinate)
    if joints.twists.size:
        _keep_swings_short(s, joints.swings, before, x)
    set_local(s, x, q, t)


def _keep_swings_short(s: System, swings: Ints, before: Floats, x: Floats) -> None:
    """Swings of more than half a turn are counted the short way round; where their ranges forbid that, they stay."""
    length = np.sqrt(np.add.reduce(x[swings] ** 2))
    long = np.flatnonzero(length > np.pi)
    if long.size:
        some = swings[:, long]
        short = x[some] * (1.0 - 2.0 * np.pi / length[long])
        inside = ((short >= s.lower[some]) & (short <= s.upper[some])).all(axis=0)
        x[some] = np.where(inside, short, before[:, long])


def difference(
    s: System, w: Work, x: Floats, q: Floats, t: Floats, x0: Floats, q0: Floats, t0: Floats, out: Floats
) -> None:
    """The step from a pose (x, q, t) to another (x0, q0, t0), into ``out`` (n,)."""
    joints, unlimited = joints_of(s), limits_of(s).unlimited
    np.subtract(x0, x, out=out)
    if unlimited.size:
        # An angle without limits goes back the short way.
        out[unlimited] -= 2.0 * np.pi * np.rint(out[unlimited] / (2.0 * np.pi))
    if joints.mover_freedoms.size:
        out[joints.mover_freedoms] = t0[joints.movers] - t[joints.movers]
    for k, d, (bx, by, bz, bw) in joints.few:
        qx, qy, qz, qw = q[k].tolist()
        *turn, _ = kernels.logarithm(*kernels.product(-qx, -qy, -qz, qw, *q0[k].tolist()))
        out[d : d + 3] = kernels.turned(-bx, -by, -bz, bw, *turn)
    if joints.turner_freedoms.size and not joints.few:
        turns, _ = logarithm(since(q[joints.turners].T, q0[joints.turners].T))
        out[joints.turner_freedoms] = apply(joints.turner_axes.swapaxes(0, 1), turns)


def prefer(s: System, w: Work, x: Floats, q: Floats, t: Floats) -> None:
    """Move a pose, in place, as far towards the preferred one as `System.preference` says."""
    difference(s, w, x, q, t, s.preferred, s.preferred_turn, t, w.step)
    w.step[:] *= s.preference
    move(s, w, w.step, x, q, t)


def reseed(
    s: System, w: Work, seed: Floats, x0: Floats, q0: Floats, t0: Floats, x: Floats, q: Floats, t: Floats
) -> None:
    """The pose (x, q, t) that a seed means: bounded coordinates as they are, all others a step from (x0, q0, t0)."""
    x[:], q[:], t[:] = x0, q0, t0
    w.step[:] = np.where(s.spread == 0.0, 0.0, np.where(s.bounded, seed - x, seed))
    move(s, w, w.step, x, q, t)
