"""Frees bases that files fix although the robot has legs: in a simulation such a robot stands on the ground.

A humanoid's file hangs its pelvis on the world, at the origin, with the feet below: the file does not say what carries
it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.choices import Base
from viewer.physics.soles import soled, soles_of
from viewer.skeleton import JointKind, Pose, Skeleton, bodies_of, find_figure, fk, tip_positions
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import rotate

_FEET, _HIGH, _LEVEL, _WIDE = 3, 0.3, 0.05, 0.1
"""Feet of an animal, around its root: how many at least; how far below it, how nearly at one height, and how far from
the vertical through it, in heights of the figure."""
_HERE = 1e-6
"""Metres, or components of a rotation, within which a base is where the file has it."""


class Footing(NamedTuple):
    """What a figure with a freed base stands on.

    Attributes:
        root: index of the base.
        joints: (P,) of the points that may stand.
        offsets: (P, 3) in their frames, metres.
        room: (P,) metres that each keeps above the ground.
    """

    root: int
    joints: Ints
    offsets: Floats
    room: Floats


def freed(skeleton: Skeleton, figures: Sequence[Skeleton], base: Base) -> tuple[Skeleton, tuple[Footing, ...]]:
    """The skeleton with free bases, and the footing of figures whose base was fixed.

    Args:
        skeleton: the joints of all figures, one after the other.
        figures: those.
        base: which are free.
    """
    kinds, footings, first = list(skeleton.kinds), list[Footing](), 0
    for figure in figures:
        if base != "fixed" and (base == "free" or _has_legs(figure)):
            roots = [root for root in figure.roots.tolist() if figure.kinds[root] is JointKind.FIXED]
            for root in roots:
                kinds[first + root] = JointKind.FREE
            if len(roots) == len(figure.roots) == 1:
                footings.append(_footing(figure, first))
        first += len(figure)
    return (replace(skeleton, kinds=tuple(kinds)) if tuple(kinds) != skeleton.kinds else skeleton), tuple(footings)


def _has_legs(figure: Skeleton) -> bool:
    """Whether a figure has the legs of a person or its root is above three feet or more, as an animal's."""
    found = find_figure(figure)
    return (found is not None and found.legs != ()) or _is_on_feet(figure)


def _is_on_feet(figure: Skeleton) -> bool:
    """Whether the lowest ends at rest are far below the root and all around it."""
    world = fk(figure, figure.rest_pose())
    inner = set(figure.parents.tolist()) | set(figure.tip_parents.tolist())
    leaves = [joint for joint in range(len(figure)) if joint not in inner]
    ends = np.concatenate([world.positions[leaves], tip_positions(figure, world)])
    root, lowest = world.positions[figure.roots[0]], float(ends[:, 1].min())
    height = float(np.ptp(np.concatenate([ends, world.positions])[:, 1]))
    if not root[1] - lowest > _HIGH * height:
        return False
    feet = ends[ends[:, 1] < lowest + _LEVEL * height][:, [0, 2]] - root[[0, 2]]
    apart = np.linalg.norm(feet, axis=1) > _WIDE * height
    angles = np.sort(np.arctan2(feet[apart, 1], feet[apart, 0]))
    return len(angles) >= _FEET and float(np.diff(angles, append=angles[:1] + 2.0 * np.pi).max()) < np.pi


def _footing(figure: Skeleton, first: int) -> Footing:
    """The soles of a figure, and the ends of the capsules of everything except these feet."""
    bodies, on_soles = bodies_of(figure), soled(figure)
    rows: list[tuple[int, ArrayLike, float]] = [
        (first + one.joint, end, min(clear, one.radius))
        for one, room in zip(bodies.capsules, bodies.clearances.tolist(), strict=True)
        for end, clear in zip((one.a, one.b), room, strict=True)
        if one.joint not in on_soles
    ]
    rows += [(first + sole.joint, corner, 0.0) for sole in soles_of(figure) for corner in sole.corners]
    joints, offsets, room = zip(*rows, strict=True) if rows else ((), (), ())
    root = first + int(figure.roots[0])
    places = np.array(offsets, dtype=np.float64).reshape(-1, 3)
    return Footing(root, np.array(joints, dtype=np.intp), places, np.array(room, dtype=np.float64))


def stood(skeleton: Skeleton, pose: Pose, footings: Sequence[Footing], ground: float | None) -> Pose:
    """The pose with each of these figures on the ground: lifted if below, lowered only from its place in the file.

    A pose that was kept from a simulation may be on top of something.
    """
    if ground is None or not footings:
        return pose
    world = fk(skeleton, pose)
    translations = pose.translations.copy()
    for one in footings:
        root = one.root
        moved = np.abs(pose.translations[root] - skeleton.offsets[root]).max()
        turned = 1.0 - abs(float(pose.rotations[root] @ skeleton.rest_rotations[root]))
        if not len(one.joints):
            continue
        points = world.positions[one.joints] + rotate(world.rotations[one.joints], one.offsets)
        lift = ground - float((points[:, 1] - one.room).min())
        if lift > 0.0 or max(moved, turned) <= _HERE:
            translations[root, 1] += lift
    return Pose(pose.rotations, translations)
