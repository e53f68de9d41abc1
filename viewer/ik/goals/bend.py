"""Goals for a bend: the angle of a limb's middle joint, an elbow or a knee.

The angle is that between two bones: from the joint's parent to the joint, and from the joint along the limb. Only
this joint changes it.
"""

from __future__ import annotations

import math

import numpy as np

from viewer.ik.algebra import turned
from viewer.ik.goals.goal import Goal
from viewer.ik.goals.kind import NAN, Before, Constants, FileKey, First, GoalDrawing, Kind
from viewer.ik.goals.limb_bones import STRAIGHT, bending_axis, bones_at
from viewer.ik.goals.numbers import Number, Unit
from viewer.ik.goals.rows import Measure, Places, Rows, one_by_one
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import from_axis_angle, rotate

_ANGLE = Number(
    name="angle",
    unit=Unit.ANGLE,
    title="Angle",
    hint="Between the bones above and below the joint; 0 is straight",
    least=0.0,
    most=math.pi,
    expected="0 (straight) to pi radians",
)


def bend_residual(s: System, w: Work, g: int, row: int, e: Floats) -> float:
    """Set e = the target angle - the angle between the bones; a turn about the axis across both changes it as much.

    Where they are nearly in one line, that axis has no digits: it bends about the constant one, to its natural side.
    """
    k = s.goal_joint[g]
    p = s.parent[k]
    ux, uy, uz = turned(
        w.turn[p, 0], w.turn[p, 1], w.turn[p, 2], w.turn[p, 3], s.offset[k, 0], s.offset[k, 1], s.offset[k, 2]
    )
    vx, vy, vz = w.point[g, 0] - w.place[k, 0], w.point[g, 1] - w.place[k, 1], w.point[g, 2] - w.place[k, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    across, along = math.sqrt(nx * nx + ny * ny + nz * nz), ux * vx + uy * vy + uz * vz
    if across > STRAIGHT * math.sqrt(across * across + along * along):
        nx, ny, nz = nx / across, ny / across, nz / across
    else:
        nx, ny, nz = turned(
            w.turn[k, 0], w.turn[k, 1], w.turn[k, 2], w.turn[k, 3],
            s.goal_numbers[g, 1], s.goal_numbers[g, 2], s.goal_numbers[g, 3],
        )  # fmt: skip
    w.by_turn[g, 0, 0], w.by_turn[g, 0, 1], w.by_turn[g, 0, 2] = nx, ny, nz
    miss = s.goal_numbers[g, 0] - math.atan2(across, along)
    e[row] = s.goal_rotation_weight[g] * miss
    w.miss[g, 1] = abs(miss)
    return float(w.miss[g, 1] / s.tolerance[1]) if s.goal_rotation_weight[g] > 0.0 else 0.0


def bend_residuals(s: System, w: Work, frames: Floats, some: Places, places: Ints, e: Floats) -> float:  # noqa: ARG001 - as of all rows
    """`bend_residual` of some goals."""
    return float(s.tolerance[1]) * one_by_one(bend_residual, s, w, some, places, e)


def bend_constants(goal: Goal, skeleton: Skeleton) -> Constants:
    """The end of the bone below, the angle, and the axis that the joint bends about from straight.

    Raises:
        InputError: no joint between two bones of its own.
    """
    bones = bones_at(goal, skeleton, own=True)
    x, y, z = bones.end_offset if bones.end_joint == bones.middle else skeleton.offsets[bones.end_joint].tolist()
    return Constants(bones.middle, (x, y, z), (goal.number("angle"), *bending_axis(skeleton, bones)))


def angle_between_vectors(a: Floats, b: Floats) -> float:
    """Radians between two vectors (3,)."""
    return math.atan2(float(np.linalg.norm(np.cross(a, b))), float(a @ b))


def _bones(joint: int, end: Floats, skeleton: Skeleton, world: World) -> tuple[Floats, Floats]:
    """The bones above and below a joint in a pose, as vectors (3,) of the world."""
    above = rotate(world.rotations[skeleton.parents[joint]], skeleton.offsets[joint])
    return above, rotate(world.rotations[joint], end)


def bend_angle(effector: str, skeleton: Skeleton, world: World) -> float:
    """Radians by which a limb is bent at its middle joint in a pose, 0 is straight.

    Raises:
        InputError: no joint between two bones.
    """
    constants = bend_constants(Goal.bend(effector, 0.0), skeleton)
    return angle_between_vectors(*_bones(constants.joint, np.array(constants.offset), skeleton, world))


def bend_first(before: Before, skeleton: Skeleton, world: World) -> First:
    """The angle that the joint is bent by."""
    angle = before.numbers.get(_ANGLE.name)
    return First({_ANGLE.name: bend_angle(before.effector, skeleton, world) if angle is None else angle})


def bend_miss(goal: Goal, skeleton: Skeleton, world: World) -> tuple[float, float]:
    """Degrees between the angle and its target."""
    constants = bend_constants(goal, skeleton)
    bones = _bones(constants.joint, np.array(constants.offset), skeleton, world)
    return NAN, math.degrees(abs(constants.numbers[0] - angle_between_vectors(*bones)))


def bend_drawing(goal: Goal, skeleton: Skeleton, world: World) -> GoalDrawing:
    """Show where the bone below would end at the target angle."""
    fixed = bend_constants(goal, skeleton)
    joint, (number, *side) = fixed.joint, fixed.numbers
    above, below = _bones(joint, np.array(fixed.offset), skeleton, world)
    angle = angle_between_vectors(above, below)
    axis = np.cross(above, below)
    if math.sin(angle) < STRAIGHT:
        axis = rotate(world.rotations[joint], np.array(side))
    turn = from_axis_angle(axis / np.linalg.norm(axis), number - angle)
    start = world.positions[joint]
    return GoalDrawing(joint, start + below, start + rotate(turn, below))


KIND = Kind(
    word="bend",
    title="Bend",
    hint="Bend the joint by an angle",
    rows=(Rows(Measure.JOINT_ANGLE, bend_residual, bend_residuals),),
    keys={"angle": FileKey("angle", "Of `bend`: 0 is straight.", _ANGLE)},
    named_by="bend",
    since=2,
    constants=bend_constants,
    first=bend_first,
    miss=bend_miss,
    drawing=bend_drawing,
)
KINDS = (KIND,)
