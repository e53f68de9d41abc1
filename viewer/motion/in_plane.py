"""Bodies that move in an upright plane, such as planar walkers': a motion walks straight on in it.

The root of a planar walker slides along two axes and turns about a third, which is level. It cannot follow a path that
bends. So the path is unrolled: each frame is turned about the vertical by where the body faces, and the body gets on in
the plane by as much as it does in the direction that it faces, forwards or backwards.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.skeleton import Figure, JointKind, Skeleton, World, find_figure
from viewer.skeleton.tree import above, rest_world
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, cross, dot, from_axis_angle, multiply, rotate, unit
from viewer.spatial.smoothing import low_pass

_UP = np.array([0.0, 1.0, 0.0])
_LEVEL = 0.1
"""Cosine up to which two directions are at right angles."""
_FACING = 1.0
"""Hertz of the filter of where a body faces: hips and shoulders turn to and fro with each step."""


class Plane(NamedTuple):
    """An upright plane that a figure moves in.

    Attributes:
        normal: (3,) level, a unit vector.
        ahead: (3,) where the figure faces in it, level.
        slides: the joints that move it, from the root down.
        ways: (S, 3) their directions, unit vectors, world frame.
    """

    normal: Floats
    ahead: Floats
    slides: list[int]
    ways: Floats


@lru_cache(maxsize=32)
def plane_of(skeleton: Skeleton) -> Plane | None:
    """The upright plane that slides and a hinge let a figure with legs move in; None: it is none of that kind."""
    figure = find_figure(skeleton)
    if figure is None or not figure.legs or skeleton.kinds[figure.trunk] is not JointKind.HINGE:
        return None
    carriers = above(skeleton, figure.trunk)[:0:-1]
    slides = [joint for joint in carriers if skeleton.kinds[joint] is JointKind.SLIDE]
    if not slides or any(skeleton.kinds[joint].turns for joint in carriers):
        return None
    rest = rest_world(skeleton).rotations
    ways = rotate(rest[slides], skeleton.axes[slides, 0])
    normal = rotate(rest[figure.trunk], skeleton.axes[figure.trunk, 0])
    if abs(normal[1]) > _LEVEL or (np.abs(ways @ normal) > _LEVEL).any():
        return None
    ahead = unit(cross(normal, _UP))
    return Plane(normal, ahead if ahead @ figure.forward > 0.0 else -ahead, slides, ways)


def straightened(moving: World, figure: Figure, plane: Plane, rate: float) -> World:
    """A figure's motion (F, J) along a plane, with the distance that it goes in the direction in which it faces.

    Of ``plane`` only directions count; ``rate``: frames per second.
    """
    left = np.zeros((len(moving.positions), 3))
    for one, two in filter(None, (figure.legs, figure.arms)):
        left += unit(moving.positions[:, one.upper] - moving.positions[:, two.upper])
    facing = np.unwrap(np.arctan2(-left[:, 2], left[:, 0]))
    facing = low_pass(facing, rate, _FACING)
    body = moving.positions[:, [leg.upper for leg in figure.legs]].mean(axis=1)
    turn = from_axis_angle(_UP, np.arctan2(plane.ahead[0], plane.ahead[2]) - facing)
    # In the middle of each step, so that there and back come to nothing.
    steps = rotate(turn[1:], np.diff(body, axis=0)) + rotate(turn[:-1], np.diff(body, axis=0))
    gone = np.concatenate([[body[0] @ plane.ahead], 0.5 * steps @ plane.ahead]).cumsum()
    middle = gone[:, None] * plane.ahead + body[:, 1:2] * _UP
    turn = turn[:, None]
    positions = middle[:, None] + rotate(turn, moving.positions - body[:, None])
    return World(positions, multiply(turn, moving.rotations))


def in_plane(skeleton: Skeleton, points: Floats, goals: Floats) -> Floats:
    """Goals (F, 3) as they are; or, of a figure that moves in a plane, shifted into the one through points (F, 3)."""
    plane = plane_of(skeleton)
    return goals if plane is None else goals - dot(goals - points, plane.normal)[:, None] * plane.normal


def body_moves(skeleton: Skeleton, carrier: int, world: World, shift: Floats) -> list[tuple[int, Floats, Floats]]:
    """A shift (F, 3) of the body by the joints that can make it: each with its translation, and its shift in the world.

    ``carrier``: the joint that is translated if the body moves freely; ``shift``: metres, world frame; in a plane, what
    leads out of it is left out.
    """
    plane = plane_of(skeleton)
    if plane is None:
        parent = int(skeleton.parents[carrier])
        return [(carrier, shift if parent < 0 else rotate(conjugate(world.rotations[:, parent]), shift), shift)]
    moves = []
    for joint, way in zip(plane.slides, plane.ways, strict=True):
        size = dot(shift, way)[:, None]
        shift = shift - size * way
        moves.append((joint, size * rotate(skeleton.rest_rotations[joint], skeleton.axes[joint, 0]), size * way))
    return moves
