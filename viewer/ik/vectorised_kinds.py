"""What the numpy backend works out once of a system's joints, grouped by how they move.

The local rotation of every limited joint is linear in a few products of sines and cosines: an Euler joint's in the
eight that c0 c1 c2 .. s0 s1 s2 stand for, with c, s the cosine and sine of half its angles. Hinges and universals are
the same with fewer angles. What each product is multiplied by is worked out once per joint.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from viewer.ik import kernels
from viewer.ik.kernels import Quaternion
from viewer.ik.system import System
from viewer.ik.vectorised_algebra import matrices
from viewer.ik.vectorised_tables import Places, kept, places
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import multiply, rotate

_THREE = np.arange(3)
_FEW = 4
"""Free turns, a figure's roots most often, of which numpy's calls cost more than Python's arithmetic."""


@dataclass(frozen=True, slots=True, eq=False)
class Joints:
    """Joints grouped by how they move, and their freedoms.

    Attributes:
        movers, mover_freedoms: (M,), (M, 3) that translate.
        turners, turner_freedoms: (T,), (3, T) that turn freely.
        turner_axes: (3, 3, T) the axes that these turn about, in columns, in the joint's own frame.
        few: where they are few, each one's joint, first freedom and basis (x, y, z, w), to be turned one by one.
        angled: (A,) hinges, universals and Euler joints.
        angles, half: (3, A) their freedoms, and 0.5, or 0 where there are fewer than three.
        angled_table: (4, A, 8) what the products of their half angles' cosines and sines are multiplied by.
        swung: (W,) swing-twist joints.
        swings, twists: (2, W), (W,) their freedoms.
        swung_table: (4, W, 6) as above, of the swing's two scaled sines and cosine by the twist's cosine and sine.
        held: (F,) fixed joints, which go to rest.
        slid, slides: (S,) joints and freedoms.
        direction: (S, 3) unit vectors along which they slide.
        coordinate: (n,) whether a freedom is a coordinate, not a turn or move of a free joint.
    """

    movers: Places
    mover_freedoms: Ints
    turners: Places
    turner_freedoms: Ints
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
    held: Ints
    slid: Ints
    slides: Ints
    direction: Floats
    coordinate: Bools


@kept
def joints_of(s: System) -> Joints:
    """The joints' tables."""
    movers = np.flatnonzero(s.moves)
    turners = np.flatnonzero((s.form == kernels.TURNS) & (np.diff(s.first) > s.moves))
    angled = np.flatnonzero(np.isin(s.form, (kernels.HINGE, kernels.UNIVERSAL, kernels.EULER)))
    swung, slid = np.flatnonzero(s.form == kernels.SWING_TWIST), np.flatnonzero(s.form == kernels.SLIDE)
    used = np.diff(s.first)[angled] > _THREE[:, None]
    begins = (s.first[:-1] + s.moves)[turners]
    moving = np.zeros(len(s.lower), dtype=np.bool_)
    mover_freedoms, turner_freedoms = s.first[movers][:, None] + _THREE, begins + _THREE[:, None]
    moving[mover_freedoms], moving[turner_freedoms] = True, True
    few = zip(turners.tolist(), begins.tolist(), map(tuple, s.basis[turners].tolist()), strict=True)
    return Joints(
        movers=places(movers),
        mover_freedoms=mover_freedoms,
        turners=places(turners),
        turner_freedoms=turner_freedoms,
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
    """Of axes (N, A, 3), for each of the A: (N, 2, 4) the quaternions 1 and the half turn about it."""
    factors = np.zeros((axes.shape[1], len(axes), 2, 4))
    factors[:, :, 0, 3], factors[:, :, 1, :3] = 1.0, axes.swapaxes(0, 1)
    return list(factors)
