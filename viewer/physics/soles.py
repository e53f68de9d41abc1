"""Flat soles of a figure's feet: from heel to ball under the ankle's joint, on to the tip under the toes'."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Skeleton, find_figure, fk
from viewer.skeleton.balance import standing_points
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, from_matrix, multiply, rotate

_UP = np.array([0.0, 1.0, 0.0])
_SHORTEST = 1e-6
"""Metres of a sole."""


class Sole(NamedTuple):
    """The part of a sole that is fixed to one joint: a rectangle.

    Attributes:
        joint: index.
        center: (3,) in its frame, metres.
        rotation: (4,) joint_from_sole; x is forward, y up.
        length, width: metres.
    """

    joint: int
    center: Floats
    rotation: Floats
    length: float
    width: float

    @property
    def corners(self) -> Floats:
        """(4, 3) in the joint's frame."""
        signs = np.array([(x, 0.0, z) for x in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return self.center + rotate(self.rotation, signs * (self.length, 0.0, self.width))


@lru_cache(maxsize=16)
def soles_of(skeleton: Skeleton) -> tuple[Sole, ...]:
    """The soles in the relaxed pose; () of what has no feet."""
    figure = find_figure(skeleton)
    if figure is None or not figure.legs:
        return ()
    world, made = fk(skeleton, skeleton.relaxed_pose()), list[Sole]()
    points, _ = standing_points(skeleton, 0.0, ())
    places = points.at(world)
    for part, leg in enumerate(figure.legs):
        rows = np.flatnonzero(points.parts == part)
        if leg.end is None or len(rows) < 6:
            continue
        heel, ball, tip = (places[rows[k : k + 2]] for k in (0, 2, 4))
        for joint, back, front in ((leg.end, heel, ball), (int(points.joints[rows[4]]), ball, tip)):
            middles = back.mean(axis=0), front.mean(axis=0)
            length, width = float(np.linalg.norm(middles[1] - middles[0])), float(np.linalg.norm(back[1] - back[0]))
            if length < _SHORTEST or width < _SHORTEST:
                continue
            forward = (middles[1] - middles[0]) / length
            turn = from_matrix(np.column_stack([forward, _UP, np.cross(forward, _UP)]))
            back_to_joint = conjugate(world.rotations[joint])
            center = rotate(back_to_joint, 0.5 * (middles[0] + middles[1]) - world.positions[joint])
            made.append(Sole(joint, center, multiply(back_to_joint, turn), length, width))
    return tuple(made)


def soled(skeleton: Skeleton) -> set[int]:
    """The joints of feet with soles: their capsules do not touch the floor."""
    figure, joints = find_figure(skeleton), {sole.joint for sole in soles_of(skeleton)}
    found: set[int] = {leg.end for leg in figure.legs if leg.end in joints} if figure is not None else set()
    for joint, parent in enumerate(skeleton.parents.tolist()):
        if parent in found:
            found.add(joint)
    return found
