"""The numpy backend, second part: joint coordinates and moving along a step, for all joints at once.

The local rotation of every limited joint is linear in a few products of sines and cosines: an Euler joint's in the
eight that c0 c1 c2 .. s0 s1 s2 stand for, with c, s the cosine and sine of half its angles. Hinges and universals are
the same with fewer angles. What each product is multiplied by is worked out once per joint.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.ik import kernels
from viewer.ik.vectorised_algebra import multiply
from viewer.ik.vectorised_tables import Structure
from viewer.spatial.quaternion import conjugate, exp, log, rotate, to_matrix
from viewer.spatial.quaternion import multiply as product

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Bools, Floats, Ints

_THREE = np.arange(3)


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints grouped by how they move, and their freedoms.

    Attributes:
        movers, mover_freedoms: (M,), (M, 3) that translate.
        turners, turner_freedoms: (T,), (T, 3) that turn freely.
        turner_axes: (T, 3, 3) the axes that these turn about, in columns, in the joint's own frame.
        angled: (A,) hinges, universals and Euler joints.
        angles, half: (A, 3) their freedoms, and 0.5, or 0 where there are fewer than three.
        angled_table: (A, 8, 4) what the products of their half angles' cosines and sines are multiplied by.
        swung: (W,) swing-twist joints.
        swings, twists: (W, 2), (W,) their freedoms.
        swung_table: (W, 6, 4) as above, of the swing's cosine and two scaled sines by the twist's cosine and sine.
        held: (F,) fixed joints, which go to rest.
        slid, slides: (S,) joints and freedoms.
        direction: (S, 3) unit vectors along which they slide.
        coordinate: (n,) whether a freedom is a coordinate, not a turn or move of a free joint.
    """

    movers: Ints
    mover_freedoms: Ints
    turners: Ints
    turner_freedoms: Ints
    turner_axes: Floats
    angled: Ints
    angles: Ints
    half: Floats
    angled_table: Floats
    swung: Ints
    swings: Ints
    twists: Ints
    swung_table: Floats
    held: Ints
    slid: Ints
    slides: Ints
    direction: Floats
    coordinate: Bools


def joints_of(s: System) -> Joints:
    """The joints' tables."""
    return _joints(Structure(s))


@lru_cache(maxsize=8)
def _joints(key: Structure) -> Joints:
    s = key.system
    movers = np.flatnonzero(s.moves)
    turners = np.flatnonzero((s.form == kernels.TURNS) & (np.diff(s.first) > s.moves))
    angled = np.flatnonzero(np.isin(s.form, (kernels.HINGE, kernels.UNIVERSAL, kernels.EULER)))
    swung, slid = np.flatnonzero(s.form == kernels.SWING_TWIST), np.flatnonzero(s.form == kernels.SLIDE)
    used = np.diff(s.first)[angled][:, None] > _THREE
    begins = s.first[:-1] + s.moves
    moving = np.zeros(len(s.lower), dtype=np.bool_)
    mover_freedoms = s.first[movers][:, None] + _THREE
    turner_freedoms = begins[turners][:, None] + _THREE
    moving[mover_freedoms], moving[turner_freedoms] = True, True
    return Joints(
        movers=movers,
        mover_freedoms=mover_freedoms,
        turners=turners,
        turner_freedoms=turner_freedoms,
        turner_axes=to_matrix(s.basis[turners]),
        angled=angled,
        angles=s.first[angled][:, None] + np.where(used, _THREE, 0),
        half=np.where(used, 0.5, 0.0),
        angled_table=_angled_table(s, angled),
        swung=swung,
        swings=s.first[swung][:, None] + _THREE[:2],
        twists=s.first[swung] + 2,
        swung_table=_swung_table(s, swung),
        held=np.flatnonzero((s.form == kernels.FIXED) & (s.moves == 0) & s.held),
        slid=slid,
        slides=s.first[slid],
        direction=rotate(s.rest[slid], s.axes[slid, 0]),
        coordinate=~moving,
    )


def _angled_table(s: System, some: Ints) -> Floats:
    """Products rest * (1 or axis 0) * (1 or axis 1) * (1 or axis 2); the last choice changes first."""
    euler = (s.form[some] == kernels.EULER)[:, None, None]
    axes = np.zeros((len(some), 3, 3))
    axes[:, :2] = s.axes[some]
    table = s.rest[some][:, None]
    for factor in _factors(np.where(euler, np.eye(3)[s.order[some]], axes)):
        table = product(table[:, :, None], factor[:, None]).reshape(len(some), 2 * table.shape[1], 4)
    return table


def _swung_table(s: System, some: Ints) -> Floats:
    """Products rest * (1 or swing axis 0 or swing axis 1) * (1 or twist axis)."""
    axes = np.eye(3)[s.order[some]]
    swing, twist = np.zeros((len(some), 3, 4)), _factors(axes[:, 2:])[0]
    swing[:, 0, 3], swing[:, 1:, :3] = 1.0, axes[:, :2]
    table = product(s.rest[some][:, None], swing)
    return product(table[:, :, None], twist[:, None]).reshape(len(some), 6, 4)


def _factors(axes: Floats) -> list[Floats]:
    """Of axes (N, A, 3), for each of the A: (N, 2, 4) the quaternions 1 and the half turn about it."""
    factors = np.zeros((axes.shape[1], len(axes), 2, 4))
    factors[:, :, 0, 3], factors[:, :, 1, :3] = 1.0, axes.swapaxes(0, 1)
    return list(factors)


def set_local(s: System, x: Floats, q: Floats, t: Floats) -> None:
    """Local rotations and translations from coordinates, in place; joints that have none keep theirs."""
    joints = joints_of(s)
    if joints.angled.size:
        half = x[joints.angles] * joints.half
        part = np.stack([np.cos(half), np.sin(half)], axis=-1)
        products = (part[:, 0, :, None] * part[:, 1, None]).reshape(-1, 4, 1) * part[:, 2, None]
        q[joints.angled] = np.einsum("ka,kab->kb", products.reshape(-1, 8), joints.angled_table)
    if joints.swung.size:
        swing, half = x[joints.swings], 0.5 * x[joints.twists]
        terms = exp(np.pad(swing, ((0, 0), (0, 1))))[:, [3, 0, 1], None]
        products = terms * np.stack([np.cos(half), np.sin(half)], axis=-1)[:, None]
        q[joints.swung] = np.einsum("ka,kab->kb", products.reshape(-1, 6), joints.swung_table)
    if joints.slid.size:
        q[joints.slid] = s.rest[joints.slid]
        t[joints.slid] = s.offset[joints.slid] + x[joints.slides][:, None] * joints.direction


def move(s: System, w: Work, dx: Floats, x: Floats, q: Floats, t: Floats) -> None:
    """Move along a step in place; coordinates stay within their limits."""
    joints = joints_of(s)
    if joints.movers.size:
        t[joints.movers] += dx[joints.mover_freedoms]
    if joints.turners.size:
        turns = np.einsum("tij,tj->ti", joints.turner_axes, dx[joints.turner_freedoms])
        turned = multiply(q[joints.turners].T, exp(turns).T)
        q[joints.turners] = (turned / np.sqrt(np.einsum("in,in->n", turned, turned))).T
    before = x[joints.swings]
    np.copyto(x, np.minimum(np.maximum(x + dx, s.lower), s.upper), where=joints.coordinate)
    if joints.swung.size:
        _keep_swings_short(s, joints.swings, before, x)
    set_local(s, x, q, t)


def _keep_swings_short(s: System, swings: Ints, before: Floats, x: Floats) -> None:
    """Swings of more than half a turn are counted the short way round; where their ranges forbid that, they stay."""
    length = np.sqrt(np.einsum("wi,wi->w", x[swings], x[swings]))
    long = np.flatnonzero(length > np.pi)
    if long.size:
        some = swings[long]
        short = x[some] * (1.0 - 2.0 * np.pi / length[long])[:, None]
        inside = ((short >= s.lower[some]) & (short <= s.upper[some])).all(axis=1, keepdims=True)
        x[some] = np.where(inside, short, before[long])


def difference(
    s: System, w: Work, x: Floats, q: Floats, t: Floats, x0: Floats, q0: Floats, t0: Floats, out: Floats
) -> None:
    """The step from a pose (x, q, t) to another (x0, q0, t0), into ``out`` (n,)."""
    joints = joints_of(s)
    np.subtract(x0, x, out=out)
    # An angle without limits goes back the short way.
    unlimited = s.turning & np.isinf(s.lower) & np.isinf(s.upper)
    out[unlimited] -= 2.0 * np.pi * np.rint(out[unlimited] / (2.0 * np.pi))
    if joints.movers.size:
        out[joints.mover_freedoms] = t0[joints.movers] - t[joints.movers]
    if joints.turners.size:
        turns = log(multiply(conjugate(q[joints.turners]).T, q0[joints.turners].T).T)
        out[joints.turner_freedoms] = np.einsum("tij,ti->tj", joints.turner_axes, turns)


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
