"""Limbs whose shoulder or hip has one or two hinges: these cannot make every turn, but they can aim the limb.

This does what `limb_chain.pose_limbs` does, with the hinges that there are: the elbow folds until the hand is as far
from the shoulder as wanted, and the shoulder aims it. If the elbow is no hinge, the upper bone is aimed. Of the two
solutions, the one that is inside the limits and nearer to the wanted turn is taken; the twist follows from it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from viewer.motion.hinge_angles import aiming_angles, angle_about, ranges_of, turn_of
from viewer.motion.limb_chain import fold
from viewer.skeleton import JointKind, Limb, Skeleton
from viewer.skeleton.limbs import Figure, flexion_axis
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import angle_between, conjugate, from_axis_angle, multiply, rotate
from viewer.spatial.vectors import cross, norm

_AIMS = 0.2
"""Sine of the angle between a bone and the second axis of a universal above which that axis aims the bone."""


class Bones(NamedTuple):
    """A limb at rest.

    Attributes:
        upper: (3,) from its upper to its lower joint, in the frame of the upper one.
        lower: (3,) from its lower joint to its end, in the frame of the lower one.
        between: (4,) the frame of the lower joint in that of the upper one.
    """

    upper: Floats
    lower: Floats
    between: Floats


def bones_of(skeleton: Skeleton, limb: Limb) -> Bones:
    """The bones of a limb."""

    def seen(joint: int, above: int, place: Floats) -> tuple[Floats, Floats]:
        """Turn (4,) of a joint, and a place in it (3,), in the frame of one above."""
        turn = np.array((0.0, 0.0, 0.0, 1.0))
        while joint != above:
            turn = multiply(skeleton.rest_rotations[joint], turn)
            place = skeleton.offsets[joint] + rotate(skeleton.rest_rotations[joint], place)
            joint = int(skeleton.parents[joint])
        return turn, place

    between, upper = seen(limb.lower, limb.upper, np.zeros(3))
    joint, place = limb.tip
    return Bones(upper, seen(joint, limb.lower, np.asarray(place))[1], between)


def is_hinged(skeleton: Skeleton, limb: Limb) -> bool:
    """Whether a limb is posed by `posed_by_hinges`: its shoulder or hip is no ball, and aims it."""
    kind = skeleton.kinds[limb.upper]
    if kind is not JointKind.UNIVERSAL:
        return kind is JointKind.HINGE
    axes, way = skeleton.axes[limb.upper], bones_of(skeleton, limb).upper
    # A universal whose second axis only twists the bone gets the nearest turns instead.
    return float(norm(cross(axes[1], way))) > _AIMS * float(norm(way))


def posed_by_hinges(
    skeleton: Skeleton, figure: Figure, limb: Limb, over: Floats, elbow: Floats, wrist: Floats, wanted: Floats
) -> dict[int, Floats]:
    """Local rotations (F, 4) of a limb's upper joint, and of its lower one if that is a hinge, by joint.

    Args:
        skeleton: with the limb.
        figure: that it is.
        limb: whose upper joint is a hinge or a universal.
        over: (F, 4) world rotations of what carries it.
        elbow: (F, 3) from the shoulder to where the lower joint is to be, world frame.
        wrist: (F, 3) to where the end of the limb is to be.
        wanted: (F, 4) world rotations that the upper joint should have.
    """
    bones, found = bones_of(skeleton, limb), {}
    way, target = np.broadcast_to(bones.upper, elbow.shape), elbow
    if skeleton.kinds[limb.lower] is JointKind.HINGE:
        axis = flexion_axis(skeleton, figure, limb)
        assert axis is not None
        flexes, lower = rotate(bones.between, axis), np.broadcast_to(rotate(bones.between, bones.lower), way.shape)
        folding = fold(flexes, -way, lower, norm(wrist), norm(way) + norm(lower))
        way, target = way + rotate(folding, lower), wrist
        own = multiply(conjugate(bones.between), multiply(folding, bones.between))
        found[limb.lower] = multiply(skeleton.rest_rotations[limb.lower], own)
    found[limb.upper] = _aimed(skeleton, limb.upper, way, over, target, wanted)
    return found


def _aimed(skeleton: Skeleton, joint: int, way: Floats, over: Floats, target: Floats, wanted: Floats) -> Floats:
    """Local rotations (F, 4) of a hinge or universal that turn vectors nearest to targets.

    Args:
        skeleton: of the joint.
        joint: a hinge or universal.
        way: (F, 3) in the joint's frame.
        over: (F, 4) world rotations of what carries it.
        target: (F, 3) directions, world frame.
        wanted: (F, 4) world rotations that it should have.
    """
    rest = skeleton.rest_rotations[joint]
    standing = multiply(over, rest)
    seen, turn = rotate(conjugate(standing), target), multiply(conjugate(standing), wanted)
    axes = skeleton.axes[joint]
    if skeleton.kinds[joint] is JointKind.HINGE:
        return multiply(rest, from_axis_angle(axes[0], angle_about(axes[:1], way, seen)))
    ranges = ranges_of(skeleton, [joint])

    def cost(angles: Floats) -> Floats:
        return np.asarray(ranges.cost(angles) + angle_between(turn_of(axes, angles), turn).mean(axis=-1))

    return multiply(rest, turn_of(axes, aiming_angles(axes, way, seen, cost)))
