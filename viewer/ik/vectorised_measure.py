"""The numpy backend, third part: coordinates read off a pose and brought inside the limits, kind by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.ik import kernels
from viewer.ik.kernels_readings import ROUNDING
from viewer.ik.vectorised_joints import set_local
from viewer.ik.vectorised_kinds import joints_of
from viewer.ik.vectorised_tables import kept
from viewer.skeleton import readings
from viewer.spatial.euler import to_euler
from viewer.spatial.quaternion import conjugate, multiply
from viewer.spatial.swing_twist import to_swing_twist, twist_about

if TYPE_CHECKING:
    from viewer.ik.system import System, Work
    from viewer.spatial.checks import Floats, Ints

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
    q[joints.held] = s.rest[joints.held]
    measure(s, q, t, x)
    outside = _bring_inside(s, x)
    set_local(s, x, q, t)
    return outside


def measure(s: System, q: Floats, t: Floats, x: Floats) -> None:
    """Coordinates of all joints that have some: the nearest that each joint's kind can hold."""
    joints = joints_of(s)
    moved = t[joints.slid] - s.offset[joints.slid]
    x[joints.slides] = np.einsum("ni,ni->n", moved, joints.direction)
    d = multiply(conjugate(s.rest), q)
    hinges, universals = np.flatnonzero(s.form == kernels.HINGE), np.flatnonzero(s.form == kernels.UNIVERSAL)
    if hinges.size:
        x[s.first[hinges]] = twist_about(d[hinges], s.axes[hinges, 0])
    if universals.size:
        x[s.first[universals][:, None] + np.arange(2)] = _universal_angles(d[universals], s.axes[universals])
    for balls in _balls(s):
        some = d[balls.joints]
        if balls.euler:
            x[balls.freedoms[:, balls.order]] = to_euler(some, balls.euler)
        else:
            x[balls.freedoms] = to_swing_twist(some, int(balls.order[2]))
    # Angles are counted from the middle of their range, or from 0.
    middle, _ = _counts(s)
    x -= np.where(joints.coordinate & s.turning, _TURN * np.rint((x - middle) / _TURN), 0.0)


def _bring_inside(s: System, x: Floats) -> bool:
    """Coordinates inside their limits, nearest to the reading that is least outside; whether that was out."""
    if not _excess(s, x).any():
        return False
    middle, period = _counts(s)
    for _, some, order, euler in _balls(s):
        ends = s.lower[some], s.upper[some]
        if euler:
            x[some] = readings.nearer_euler(x[some], *ends, middle[some], period[some], euler)
        else:
            x[some] = readings.nearer_swing(x[some], *ends, int(order[2]))
    outside = _excess(s, x)
    for _, some, order, euler in _balls(s):
        if not euler:
            inside = readings.swing_inside(x[some], s.lower[some], s.upper[some], int(order[2]))
            x[some] = np.where(outside[some].any(axis=1, keepdims=True), inside, x[some])
    x[:] = np.minimum(np.maximum(x, s.lower), s.upper)
    return bool(outside.max() > ROUNDING)


def _excess(s: System, x: Floats) -> Floats:
    """(n,) how far coordinates are outside; what a swing is longer than half a turn counts for its twist."""
    result = readings.excess(x, s.lower, s.upper)
    for _, some, order, euler in _balls(s):
        if not euler:
            twists = some[:, order[2]]
            result[twists] = np.maximum(result[twists], readings.swing_excess(x[some], int(order[2])))
    return result


def _counts(s: System) -> tuple[Floats, Floats]:
    """(n,) the middle of the ranges that angles are counted from, and a whole turn; 0 where there is no such range."""
    middle, counted = np.zeros_like(s.lower), s.bounded & s.turning
    middle[counted] = 0.5 * (s.lower[counted] + s.upper[counted])
    return middle, np.where(counted, _TURN, 0.0)


@kept
def _balls(s: System) -> tuple[Balls, ...]:
    groups = []
    for form in (kernels.EULER, kernels.SWING_TWIST):
        for order in np.unique(s.order[s.form == form], axis=0):
            joints = np.flatnonzero((s.form == form) & (s.order == order).all(axis=1))
            name = "".join("xyz"[axis] for axis in order) if form == kernels.EULER else ""
            groups.append(Balls(joints, s.first[joints][:, None] + np.argsort(order), order, name))
    return tuple(groups)


def _universal_angles(d: Floats, axes: Floats) -> Floats:
    """`viewer.skeleton.coordinates` derives the formula."""
    a, b = axes[:, 0], axes[:, 1]
    basis = np.stack([a, b, np.cross(a, b)], axis=1)
    x, y, z = np.einsum("nij,nj->in", basis, d[:, :3])
    total, less = np.arctan2(x + y, d[:, 3] - z), np.arctan2(x - y, d[:, 3] + z)
    return np.stack([total + less, total - less], axis=1)
