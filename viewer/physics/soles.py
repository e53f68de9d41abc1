"""Flat soles of a figure's feet: from heel to ball under the ankle's joint, and on to the tip under the toes' joint.

Robots' feet are often only an ankle: the part that stands on the ground is in the meshes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Skeleton, Skin, find_figure, fk
from viewer.skeleton.balance import standing_points
from viewer.skeleton.tree import at_or_below
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, from_matrix, multiply, rotate

_UP = np.array([0.0, 1.0, 0.0])
_SHORTEST = 1e-6
"""Metres of a sole."""
_FARTHER = 2.0
"""Meshes show a foot that the skeleton does not have if they reach this many times as far ahead of the ankle."""


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
    """The soles in the relaxed pose; () without feet."""
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


@lru_cache(maxsize=8)
def with_feet(skeleton: Skeleton, skin: Skin | None) -> Skeleton:
    """The skeleton, with an end site at the toes of feet that reach `_FARTHER` in the meshes, as low as these."""
    figure = find_figure(skeleton)
    if figure is None or skin is None or not skin.follows_joints:
        return skeleton
    world = fk(skeleton, skeleton.rest_pose())
    tips = list(zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True))
    for leg in figure.legs:
        if leg.end is None:
            continue
        ankle, below = world.positions[leg.end], at_or_below(skeleton, leg.end)
        known = [world.point(sole.joint, corner) for sole in soles_of(skeleton) if below[sole.joint]
                 for corner in sole.corners]  # fmt: skip
        feet = [
            (joint, rotate(world.rotations[joint], points) + world.positions[joint])
            for joint in np.flatnonzero(below).tolist()
            if len(points := _vertices(skin, joint))
        ]
        if not feet:
            continue
        joint, points = min(feet, key=lambda foot: float(foot[1][:, 1].min()))
        ahead = float(((points - ankle) @ figure.forward).max())
        if ahead < _FARTHER * max((float((corner - ankle) @ figure.forward) for corner in known), default=0.0):
            continue
        toe = ankle + ahead * figure.forward
        toe[1] = points[:, 1].min()
        tips.append((joint, rotate(conjugate(world.rotations[joint]), toe - world.positions[joint])))
    if len(tips) == len(skeleton.tip_parents):
        return skeleton
    tips.sort(key=lambda tip: tip[0])
    parents, offsets = zip(*tips, strict=True)
    return replace(skeleton, tip_parents=np.array(parents), tip_offsets=np.array(offsets))


def _vertices(skin: Skin, joint: int) -> Floats:
    """(V, 3) of the meshes that follow a joint most, in its frame."""
    found = [np.zeros((0, 3))]
    for mesh in skin.meshes:
        first = np.take_along_axis(mesh.bindings, np.argmax(mesh.weights, axis=1)[:, None], axis=1)[:, 0]
        own = skin.joints[first] == joint
        transforms = skin.transforms[first[own]]
        positions = mesh.positions[own].astype(np.float64)
        found.append(np.einsum("vij,vj->vi", transforms[:, :, :3], positions) + transforms[:, :, 3])
    return np.concatenate(found)
