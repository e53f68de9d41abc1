"""Scenes for the tests of what is drawn and picked: figures of any size anywhere, seen from any side."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from rigs import random_pose, random_skeleton

from viewer import load
from viewer.scene import Camera, Mark, Scene, figure_points, look_of
from viewer.skeleton import fk

if TYPE_CHECKING:
    from inside.spatial import Floats, Projection

    from viewer.scene import ViewName
    from viewer.skeleton import Skeleton

SIZE = (756, 514)
SCALES = (1e-3, 1.0, 60.0)
"""A figure of 2 mm, of a person's size, of 100 m."""


def scaled(skeleton: Skeleton, factor: float) -> Skeleton:
    """The skeleton, larger."""
    effectors = []
    for effector in skeleton.effectors:
        x, y, z = (factor * part for part in effector.offset)
        effectors.append(replace(effector, offset=(x, y, z)))
    return replace(
        skeleton,
        offsets=skeleton.offsets * factor,
        tip_offsets=skeleton.tip_offsets * factor,
        effectors=tuple(effectors),
    )


def bone_ends(skeleton: Skeleton, joint: int) -> list[int]:
    """The joints at the ends of a joint's bones."""
    look = look_of(skeleton)
    ends = look.children[(look.owners == joint) & ~look.carrying]
    return [int(end) for end in ends if end >= 0]


def biped(factor: float = 1.0) -> Skeleton:
    """The sample, which is symmetric about x = 0."""
    return scaled(load("sample:biped").skeleton, factor)


def standing(skeleton: Skeleton) -> Scene:
    """The skeleton at rest, a handle on each effector."""
    world = fk(skeleton, skeleton.rest_pose())
    marks = []
    for effector in skeleton.effectors:
        place = world.point(effector.joint, np.array(effector.offset))
        marks.append(Mark(effector.name, effector.joint, place, place))
    return Scene(skeleton, world, tuple(marks))


def random_scene(seed: int, joints: int = 12, factor: float = 1.0) -> Scene:
    """Any tree in any pose."""
    random = np.random.default_rng(seed)
    skeleton = scaled(random_skeleton(random, joints), factor)
    return Scene(skeleton, fk(skeleton, random_pose(random, skeleton)))


def seen(scene: Scene, view: ViewName = "three-quarter", size: tuple[int, int] = SIZE) -> Projection:
    """The whole figure from a standard side."""
    return Camera(np.zeros(3)).looking(view).frame(figure_points(scene.skeleton, scene.world), size).projection(size)


def random_camera(seed: int) -> Camera:
    """Any camera, in any direction, with and without perspective."""
    random = np.random.default_rng(seed)
    yaw, pitch = random.uniform(-4.0, 4.0), random.uniform(-1.5, 1.5)
    target: Floats = random.normal(size=3)
    return Camera(target, yaw, pitch, float(10.0 ** random.uniform(-2, 3)), orthographic=bool(random.integers(2)))
