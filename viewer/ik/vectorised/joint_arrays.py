"""The numpy backend: joint coordinates and moving along a step, for all joints at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from viewer.ik import algebra
from viewer.ik.goals.kind import Places
from viewer.ik.system import System, Work
from viewer.ik.vectorised.forward_arrays import kept, limits_of, places
from viewer.spatial.checks import Bools, Floats, Ints, Quaternion
from viewer.spatial.columns import apply, exponential, logarithm, matrices, multiply as multiply_columns, since
from viewer.spatial.quaternion import multiply, rotate

_THREE = np.arange(3)
_FEW = 4
"""Up to this many unlimited joints, mostly roots, Python's arithmetic is quicker than numpy's calls."""


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints grouped by how they move, and their dofs.

    Attributes:
        movers, mover_dofs: (M,), (M, 3) that translate.
        turners, turner_dofs: (T,), (3, T) that turn freely.
        turner_axes: (3, 3, T) the axes that these turn about, in columns, in the joint's own frame.
        few: where they are few, each one's joint, first dof and basis (x, y, z, w), to be turned one by one.
        angled: (A,) hinges, universals and Euler joints.
        angles, half: (3, A) their dofs, and 0.5, or 0 where there are fewer than three.
        angled_table: (4, A, 8) what the products of their half angles' cosines and sines are multiplied by.
        swung: (W,) swing-twist joints.
        swings, twists: (2, W), (W,) their dofs.
        swung_table: (4, W, 6) as above, of the swing's two scaled sines and cosine by the twist's cosine and sine.
        slid, slides: (S,) joints and dofs.
        direction: (S, 3) unit vectors along which they slide.
        coordinate: (n,) whether a dof is a coordinate, not a turn or move of a free joint.
    """

    movers: Places
    mover_dofs: Ints
    turners: Places
    turner_dofs: Ints
    turner_axes: Floats
    few: tuple[tuple[int, int, Quaternion], ...]
    angled: Places
    angles: Ints
    half: Floats
    angled_table: Floats
    swung: Places
    swings: Ints
    twists: Ints
    swung_table: Floats
    slid: Ints
    slides: Ints
    direction: Floats
    coordinate: Bools


@kept
def joints_of(s: System) -> Joints:
    """The joints' tables."""
    movers = np.flatnonzero(s.moves)
    turners = np.flatnonzero((s.form == algebra.TURNS) & (np.diff(s.first) > s.moves))
    angled = np.flatnonzero(np.isin(s.form, (algebra.HINGE, algebra.UNIVERSAL, algebra.EULER)))
    swung, slid = np.flatnonzero(s.form == algebra.SWING_TWIST), np.flatnonzero(s.form == algebra.SLIDE)
    used = np.diff(s.first)[angled] > _THREE[:, None]
    begins = (s.first[:-1] + s.moves)[turners]
    moving = np.zeros(len(s.lower), dtype=np.bool_)
    mover_dofs, turner_dofs = s.first[movers][:, None] + _THREE, begins + _THREE[:, None]
    moving[mover_dofs], moving[turner_dofs] = True, True
    few = zip(turners.tolist(), begins.tolist(), map(tuple, s.basis[turners].tolist()), strict=True)
    return Joints(
        movers=places(movers),
        mover_dofs=mover_dofs,
        turners=places(turners),
        turner_dofs=turner_dofs,
        turner_axes=matrices(s.basis[turners].T),
        few=tuple(few) if len(turners) <= _FEW else (),
        angled=places(angled),
        angles=s.first[angled] + np.where(used, _THREE[:, None], 0),
        half=np.where(used, 0.5, 0.0),
        angled_table=_angled_table(s, angled).transpose(2, 0, 1).copy(),
        swung=places(swung),
        swings=s.first[swung] + _THREE[:2, None],
        twists=s.first[swung] + 2,
        swung_table=_swung_table(s, swung).transpose(2, 0, 1).copy(),
        slid=slid,
        slides=s.first[slid],
        direction=rotate(s.rest[slid], s.axes[slid, 0]),
        coordinate=~moving,
    )


def _angled_table(s: System, some: Ints) -> Floats:
    """Products rest * (1 or axis 0) * (1 or axis 1) * (1 or axis 2); the last choice changes first."""
    euler = (s.form[some] == algebra.EULER)[:, None, None]
    axes = np.zeros((len(some), 3, 3))
    axes[:, :2] = s.axes[some]
    table = s.rest[some][:, None]
    for factor in _factors(np.where(euler, np.eye(3)[s.order[some]], axes)):
        table = multiply(table[:, :, None], factor[:, None]).reshape(len(some), 2 * table.shape[1], 4)
    return table


def _swung_table(s: System, some: Ints) -> Floats:
    """Products rest * (swing axis 0 or swing axis 1 or 1) * (1 or twist axis)."""
    axes = np.eye(3)[s.order[some]]
    swing, twist = np.zeros((len(some), 3, 4)), _factors(axes[:, 2:])[0]
    swing[:, 2, 3], swing[:, :2, :3] = 1.0, axes[:, :2]
    table = multiply(s.rest[some][:, None], swing)
    return multiply(table[:, :, None], twist[:, None]).reshape(len(some), 6, 4)


def _factors(axes: Floats) -> list[Floats]:
    """For each of the A axes (N, A, 3): (N, 2, 4) the quaternions 1 and the half turn about it."""
    factors = np.zeros((axes.shape[1], len(axes), 2, 4))
    factors[:, :, 0, 3], factors[:, :, 1, :3] = 1.0, axes.swapaxes(0, 1)
    return list(factors)


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
    if joints.mover_dofs.size:
        t[joints.movers] += dx[joints.mover_dofs]
    if joints.few and math.isfinite(dx.dot(dx)):
        for k, d, basis in joints.few:
            ax, ay, az, aw = algebra.exponential(*algebra.turned(*basis, *dx[d : d + 3].tolist()))
            qx, qy, qz, qw = q[k].tolist()
            ax, ay, az, aw = algebra.product(qx, qy, qz, qw, ax, ay, az, aw)
            length = math.sqrt(ax * ax + ay * ay + az * az + aw * aw)
            q[k] = ax / length, ay / length, az / length, aw / length
    elif joints.turner_dofs.size:
        turns = exponential(apply(joints.turner_axes, dx[joints.turner_dofs]))
        turned = multiply_columns(q[joints.turners].T, turns)
        q[joints.turners] = (turned / np.sqrt(np.add.reduce(turned * turned))).T
    before = x[joints.swings]
    np.copyto(x, np.minimum(np.maximum(x + dx, s.lower), s.upper), where=joints.coordinate)
    if joints.twists.size:
        _keep_swings_short(s, joints.swings, before, x)
    if s.leader.size:
        x[s.follower] = s.ratio * x[s.leader] + s.shift
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
    """Put the step from a pose (x, q, t) to another (x0, q0, t0) into ``out`` (n,)."""
    joints, unlimited = joints_of(s), limits_of(s).unlimited
    np.subtract(x0, x, out=out)
    if unlimited.size:
        # An angle without limits goes back the short way.
        out[unlimited] -= 2.0 * np.pi * np.rint(out[unlimited] / (2.0 * np.pi))
    if joints.mover_dofs.size:
        out[joints.mover_dofs] = t0[joints.movers] - t[joints.movers]
    for k, d, (bx, by, bz, bw) in joints.few:
        qx, qy, qz, qw = q[k].tolist()
        *turn, _ = algebra.logarithm(*algebra.product(-qx, -qy, -qz, qw, *q0[k].tolist()))
        out[d : d + 3] = algebra.turned(-bx, -by, -bz, bw, *turn)
    if joints.turner_dofs.size and not joints.few:
        turns, _ = logarithm(since(q[joints.turners].T, q0[joints.turners].T))
        out[joints.turner_dofs] = apply(joints.turner_axes.swapaxes(0, 1), turns)
