"""Goals for a bend: the angle of a limb's middle joint, an elbow or a knee.

The angle is that between two bones: from the joint's parent to the joint, and from the joint along the limb. Only
this joint changes it.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.algebra import turned
from viewer.ik.goals.goal import Goal, Number, Unit
from viewer.ik.goals.kind import Before, Constants, FileKey, First, GoalDrawing, Kind, Measure, Rows
from viewer.ik.system import System, Work
from viewer.skeleton import Skeleton, World, effector_of, find_figure, fk
from viewer.spatial.checks import Floats, Vector
from viewer.spatial.quaternion import conjugate, from_axis_angle, perpendicular, rotate

STRAIGHT = 1e-3
"""Below this sine of the angle between them two bones are in one line."""


class LimbBones(NamedTuple):
    """Two bones of a skeleton that meet at a joint.

    Attributes:
        upper: the joint where the bone above begins.
        middle: the joint where they meet.
        end_joint: where the bone below ends: at this joint, or at
        end_offset: (3,) a place in its frame, in metres.
    """

    upper: int
    middle: int
    end_joint: int
    end_offset: Vector

    def length(self, skeleton: Skeleton) -> float:
        """Metres along the bones from the upper joint to the end."""
        total, joint = float(np.linalg.norm(self.end_offset)), self.end_joint
        while joint != self.upper:
            total += float(np.linalg.norm(skeleton.offsets[joint]))
            joint = int(skeleton.parents[joint])
        return total


def bones_at(goal: Goal, skeleton: Skeleton, *, own: bool = False) -> LimbBones:
    """The bones that meet at the joint of a goal; joints in the same place count as one.

    ``own``: both bones must be the joint's own: only its turns change the angle between them. Else the elbow or knee of
    a recognised figure has the arm or leg, whose upper and lower bone may consist of several joints.

    Raises:
        InputError: no joint between two bones.
    """
    place, expected = effector_of(skeleton, goal.effector), "expected a joint between two bones"
    what, joint = f"{goal.kind} goal for {quote(goal.effector)}", place.joint
    if any(place.offset):
        raise InputError(f"{what}: {expected}, found a point beside its joint")
    if skeleton.parents[joint] < 0:
        raise InputError(f"{what}: {expected}, found a root")
    figure = None if own else find_figure(skeleton)
    limb = next((limb for limb in figure.limbs if limb.lower == joint), None) if figure is not None else None
    if limb is not None:
        x, y, z = limb.tip[1].tolist()
        return LimbBones(limb.upper, joint, limb.tip[0], (x, y, z))
    upper, end = _upper_joint(skeleton, joint), _bone_ends(skeleton)[joint]
    if upper is None or (own and upper != skeleton.parents[joint]):
        raise InputError(f"{what}: {expected}, found none above it")
    if end is None or (own and joint not in (end[0], skeleton.parents[end[0]])):
        raise InputError(f"{what}: {expected}, found none below it")
    return LimbBones(upper, joint, *end)


def _upper_joint(skeleton: Skeleton, joint: int) -> int | None:
    """The nearest joint above that is in another place; None where there is none."""
    while joint >= 0 and not skeleton.offsets[joint].any():
        joint = int(skeleton.parents[joint])
    return int(skeleton.parents[joint]) if joint >= 0 and skeleton.parents[joint] >= 0 else None


@lru_cache(maxsize=16)
def _bone_ends(skeleton: Skeleton) -> list[tuple[int, Vector] | None]:
    """Where each joint's bone ends, as in `LimbBones`: on the longest way below it; None where there is none."""
    ends: list[tuple[int, Vector] | None] = [None] * len(skeleton)
    longest = [0.0] * len(skeleton)

    def lead(joint: int, way: float, end: tuple[int, Vector] | None) -> None:
        if joint >= 0 and way > longest[joint]:
            longest[joint], ends[joint] = way, end

    for joint, offset in zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True):
        x, y, z = offset.tolist()
        lead(joint, float(np.linalg.norm(offset)), (joint, (x, y, z)))
    for child in range(len(skeleton) - 1, -1, -1):  # children come after their parents
        length = float(np.linalg.norm(skeleton.offsets[child]))
        end = (child, (0.0, 0.0, 0.0)) if length > 0.0 else ends[child]
        lead(int(skeleton.parents[child]), length + longest[child], end)
    return ends


@lru_cache(maxsize=64)
def bending_axis(skeleton: Skeleton, bones: LimbBones) -> Vector:
    """The axis, in the middle joint's frame, about which the limb bends from straight.

    The relaxed pose shows it; where the limb is straight there, its hinge; else any axis across.
    """
    world, joint = fk(skeleton, skeleton.relaxed_pose()), bones.middle
    to_joint = conjugate(world.rotations[joint])
    above = rotate(to_joint, world.positions[joint] - world.positions[bones.upper])
    below = rotate(to_joint, world.point(bones.end_joint, bones.end_offset) - world.positions[joint])
    axis = np.cross(above, below)
    size = np.linalg.norm(axis)
    if size < STRAIGHT * np.linalg.norm(above) * np.linalg.norm(below):
        hinge = skeleton.kinds[joint].hinged
        axis = skeleton.axes[joint, 0] if hinge else perpendicular(below)
        axis = axis - below * ((axis @ below) / (below @ below))
        size = np.linalg.norm(axis)
        if size < STRAIGHT:  # a hinge that only rolls its bone
            axis, size = perpendicular(below), np.float64(1.0)
    x, y, z = (axis / size).tolist()
    return x, y, z


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


def bend_first(before: Before, skeleton: Skeleton, world: World) -> First:
    """The angle that the joint is bent by."""
    angle = before.numbers.get(_ANGLE.name)
    if angle is None:
        fixed = bend_constants(Goal.bend(before.effector, 0.0), skeleton)
        angle = angle_between_vectors(*_bones(fixed.joint, np.array(fixed.offset), skeleton, world))
    return First({_ANGLE.name: angle})


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
    rows=(Rows(Measure.JOINT_ANGLE, bend_residual),),
    keys={"angle": FileKey("angle", "Of `bend`: 0 is straight.", _ANGLE)},
    named_by="bend",
    since=2,
    constants=bend_constants,
    first=bend_first,
    drawing=bend_drawing,
)
KINDS = (KIND,)
