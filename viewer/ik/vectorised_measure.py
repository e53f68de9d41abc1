"""The numpy backend, third part: coordinates read off a pose and brought inside the limits, kind by kind."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.ik import kernels
from viewer.ik.kernels_readings import ROUNDING
from viewer.ik.system import System, Work
from viewer.ik.vectorised_joints import set_local
from viewer.ik.vectorised_kinds import joints_of
from viewer.ik.vectorised_tables import kept, limits_of
from viewer.skeleton import coordinates
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.euler import to_euler
from viewer.spatial.quaternion import conjugate, multiply
from viewer.spatial.swing_twist import to_swing_twist, twist_about

_TURN = 2.0 * np.pi


class Balls(NamedTuple):
    """Limited balls of one form and order.

    Attributes:
        joints: (B,).
        freedoms: (B, 3) for the axes x, y, z.
        order: (3,) the axes as they follow each other.
        euler: its name, such as "zxy"; "" for swing-twist joints.
    """

    joints: Ints
    freedoms: Ints
    order: Ints
    euler: str


def into_limits(s: System, w: Work, q: Floats, t: Floats, x: Floats) -> bool:
    """Coordinates of all joints, brought inside their limits, and the local motion they give; whether any was out."""
    joints = joints_of(s)
    if joints.held.size:
        q[joints.held] = s.rest[joints.held]
    measure(s, q, t, x)
    outside = _bring_inside(s, x)
    set_local(s, x, q, t)
    return outside


def measure(s: System, q: Floats, t: Floats, x: Floats) -> None:
    """Coordinates of all joints that have some: the nearest that each joint's kind can hold."""
    joints, kinds = joints_of(s), _kinds(s)
    if joints.slid.size:
        moved = t[joints.slid] - s.offset[joints.slid]
        x[joints.slides] = np.einsum("ni,ni->n", moved, joints.direction)
    d = multiply(conjugate(s.rest), q)
    if kinds.hinges.size:
        x[s.first[kinds.hinges]] = twist_about(d[kinds.hinges], s.axes[kinds.hinges, 0])
    if kinds.universals.size:
        freedoms = s.first[kinds.universals][:, None] + np.arange(2)
        x[freedoms] = _universal_angles(d[kinds.universals], s.axes[kinds.universals])
    for balls in kinds.balls:
        some = d[balls.joints]
        if balls.euler:
            x[balls.freedoms[:, balls.order]] = to_euler(some, balls.euler)
        else:
            x[balls.freedoms] = to_swing_twist(some, int(balls.order[2]))
    # Angles are counted from the middle of their range, or from 0.
    x -= kinds.turning * np.rint((x - limits_of(s).middle) / _TURN)


def _bring_inside(s: System, x: Floats) -> bool:
    """Coordinates inside their limits, nearest to the reading that is least outside; whether that was out."""
    if not _excess(s, x).any():
        return False
    _, _, _, middle, period = limits_of(s)
    for _, some, order, euler in _kinds(s).balls:
        ends = s.lower[some], s.upper[some]
        if euler:
            x[some] = coordinates.nearer_euler(x[some], *ends, middle[some], period[some], euler)
        else:
            x[some] = coordinates.nearer_swing(x[some], *ends, int(order[2]))
    outside = _excess(s, x)
    for _, some, order, euler in _kinds(s).balls:
        if not euler:
            inside = coordinates.swing_inside(x[some], s.lower[some], s.upper[some], int(order[2]))
            x[some] = np.where(outside[some].any(axis=1, keepdims=True), inside, x[some])
    x[:] = np.minimum(np.maximum(x, s.lower), s.upper)
    return bool(outside.max() > ROUNDING)


def _excess(s: System, x: Floats) -> Floats:
    """(n,) how far coordinates are outside; what a swing is longer than half a turn counts for its twist."""
    result = coordinates.excess(x, s.lower, s.upper)
    for _, some, order, euler in _kinds(s).balls:
        if not euler:
            twists = some[:, order[2]]
            result[twists] = np.maximum(result[twists], coordinates.swing_excess(x[some], int(order[2])))
    return result


class Kinds(NamedTuple):
    """Joints by how their coordinates are read.

    Attributes:
        hinges, universals: (H,), (U,).
        balls: the limited balls.
        turning: (n,) a whole turn for coordinates that are angles, 0 for all else.
    """

    hinges: Ints
    universals: Ints
    balls: tuple[Balls, ...]
    turning: Floats


@kept
def _kinds(s: System) -> Kinds:
    groups = []
    for form in (kernels.EULER, kernels.SWING_TWIST):
        for order in np.unique(s.order[s.form == form], axis=0):
            joints = np.flatnonzero((s.form == form) & (s.order == order).all(axis=1))
            name = "".join("xyz"[axis] for axis in order) if form == kernels.EULER else ""
            groups.append(Balls(joints, s.first[joints][:, None] + np.argsort(order), order, name))
    hinges, universals = (np.flatnonzero(s.form == form) for form in (kernels.HINGE, kernels.UNIVERSAL))
    return Kinds(hinges, universals, tuple(groups), np.where(joints_of(s).coordinate & s.turning, _TURN, 0.0))


def _universal_angles(d: Floats, axes: Floats) -> Floats:
    """`viewer.skeleton.coordinates` derives the formula."""
    a, b = axes[:, 0], axes[:, 1]
    basis = np.stack([a, b, np.cross(a, b)], axis=1)
    x, y, z = np.einsum("nij,nj->in", basis, d[:, :3])
    total, less = np.arctan2(x + y, d[:, 3] - z), np.arctan2(x - y, d[:, 3] + z)
    return np.stack([total + less, total - less], axis=1)
