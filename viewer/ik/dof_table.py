"""How the joints of a skeleton move: their dofs, by kind, limits and options."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from viewer.ik import algebra
from viewer.skeleton import JointKind, LimitForm, Skeleton, joint_space
from viewer.skeleton.tree import depth_first
from viewer.spatial.angles import axes_of
from viewer.spatial.checks import Floats, Ints, frozen

_COORDINATES = {
    JointKind.HINGE: algebra.HINGE,
    JointKind.UNIVERSAL: algebra.UNIVERSAL,
    JointKind.SLIDE: algebra.SLIDE,
    JointKind.FIXED: algebra.FIXED,
}
_ROTATING = (algebra.HINGE, algebra.UNIVERSAL)
_DOFS = {algebra.FIXED: 0, algebra.HINGE: 1, algebra.SLIDE: 1, algebra.UNIVERSAL: 2}


@dataclass(frozen=True, slots=True, eq=False)
class DofTable:
    """How a skeleton's joints move under given options; made once, used for any goals.

    Attributes:
        form, moves: (J,) as in `System`.
        counts: (J,) dofs of each joint.
        order: (J, 3) as in `System`.
        basis: (J, 4) as in `System`.
        lower, upper, spread, turning: (J, 6) per dof, unused columns ignored.
        depth_first: (J,) joints in depth-first order.
        arms: joints of the arms of a recognised figure.
    """

    skeleton: Skeleton
    form: Ints
    moves: Ints
    counts: Ints
    order: Ints
    basis: Floats
    lower: Floats
    upper: Floats
    spread: Floats
    turning: Floats
    depth_first: Ints
    arms: frozenset[int]


def dof_table_of(
    skeleton: Skeleton,
    spreads: Floats,
    *,
    limits: bool,
    root: str,
    arms: frozenset[int] = frozenset(),
    principal: tuple[Floats, Floats] | None = None,
) -> DofTable:
    """The dofs of all joints.

    Args:
        skeleton: the joints.
        spreads: (J, 3) how readily each joint moves about its axes (or along its coordinates), 1 = ordinary.
        limits: whether limits bind.
        root: "free", "translate" or "locked": what free roots may do.
        arms: joints of a figure's arms (`viewer.ik.scaling.arm_joints`).
        principal: (J, 4) and (J, 3): axes, and spreads about them, of joints that turn without limits
            (`viewer.ik.scaling.principal`); their own, and ``spreads``, unless given.
    """
    count = len(skeleton)
    form, moves = np.zeros(count, dtype=np.int64), np.zeros(count, dtype=np.int64)
    order = np.tile(np.arange(3, dtype=np.int64), (count, 1))
    space = joint_space(skeleton)
    for joint, (kind, ranges) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True)):
        if kind is JointKind.FREE:
            form[joint] = algebra.TURNS if root == "free" else algebra.FIXED
            moves[joint] = 0 if root == "locked" else 3
        elif kind is not JointKind.BALL:
            form[joint] = _COORDINATES[kind]
        elif ranges is None or not limits:
            form[joint] = algebra.TURNS
        elif ranges.form is LimitForm.EULER:
            form[joint], order[joint] = algebra.EULER, axes_of(ranges.order)
        else:
            twist = ranges.twist_axis
            form[joint], order[joint] = algebra.SWING_TWIST, ((twist + 1) % 3, (twist + 2) % 3, twist)
    turns = np.array([_DOFS.get(code, 3) for code in form.tolist()], dtype=np.int64)
    lower, upper = np.full((count, 6), -np.inf), np.full((count, 6), np.inf)
    spread, turning = np.ones((count, 6)), np.zeros((count, 6))
    basis, about = principal or (np.zeros((count, 4)), spreads)
    free = form == algebra.TURNS
    basis = np.where(free[:, None] & (principal is not None), basis, (0.0, 0.0, 0.0, 1.0))
    for joint in range(count):
        at, to = moves[joint], moves[joint] + turns[joint]
        # Balls' columns stand per axis x, y, z; their dofs in the order of their angles.
        columns = order[joint] if turns[joint] == 3 else np.arange(turns[joint])
        if limits and form[joint] not in (algebra.TURNS, algebra.FIXED):
            lower[joint, at:to], upper[joint, at:to] = space.lower[joint, columns], space.upper[joint, columns]
        turning[joint, at:to] = space.circular[joint, columns] | (form[joint] in _ROTATING)
        spread[joint, at:to] = (about if free[joint] else spreads)[joint, columns]
    spread *= (1.0 - skeleton.stiffness)[:, None]
    first = np.array(depth_first(skeleton), dtype=np.intp)
    return DofTable(skeleton, form, moves, moves + turns, order, basis, lower, upper, spread, turning, first, arms)


@lru_cache(maxsize=16)
def joint_tables(skeleton: Skeleton) -> tuple[Any, ...]:
    """Read-only tables of all joints, by which `viewer.ik.compiled.entry.measure_pose` measures poses."""
    dofs, space = dof_table_of(skeleton, np.ones((len(skeleton), 3)), limits=True, root="free"), joint_space(skeleton)
    ranges = np.stack([space.lower, space.upper, space.middle, space.period])
    tables = skeleton.rest_rotations, skeleton.axes, skeleton.offsets, ranges
    return frozen(dofs.form, np.int64), frozen(dofs.order, np.int64), *map(frozen, tables)
