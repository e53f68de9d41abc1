"""How a rig's joint frames are turned does not matter: the same figure solves to the same places."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import Backend, principal, spreads
from inside.spatial import IDENTITY, conjugate, exp, from_axis_angle, multiply, normalized, rotate

from viewer import Goal, Solver, load
from viewer.skeleton import JointKind, Pose, effector_of, fk

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton

LIMBS = ("LeftHand", "RightHand", "LeftFoot", "RightFoot")


@lru_cache(maxsize=1)
def figure() -> Skeleton:
    """The biped with balls without limits throughout, and a free root."""
    skeleton = load("sample:biped").skeleton
    kinds = tuple(JointKind.FREE if parent < 0 else JointKind.BALL for parent in skeleton.parents.tolist())
    return replace(skeleton, kinds=kinds, limits=(None,) * len(skeleton), axes=np.zeros_like(skeleton.axes))


def turns_of(name: str) -> Floats:
    """(J, 4) from each joint's new frame to the one it had."""
    count = len(figure())
    if name == "random":
        return normalized(np.random.default_rng(0).normal(size=(count, 4)))
    axis = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "slanted": (0.6, 0.0, 0.8)}[name]
    return np.tile(from_axis_angle(axis, np.pi / 4.0), (count, 1))


def turned_pose(pose: Pose, turns: Floats) -> Pose:
    """The same places of the joints, on the skeleton that has the turned frames."""
    parents = figure().parents
    above = np.where((parents >= 0)[:, None], turns[parents], IDENTITY)
    rotations = multiply(conjugate(above), multiply(pose.rotations, turns))
    return Pose(rotations, rotate(conjugate(above), pose.translations))


def turned_skeleton(turns: Floats) -> Skeleton:
    skeleton = figure()
    rest = turned_pose(skeleton.rest_pose(), turns)
    effectors = []
    for effector in skeleton.effectors:
        x, y, z = rotate(conjugate(turns[effector.joint]), np.array(effector.offset)).tolist()
        effectors.append(replace(effector, offset=(x, y, z)))
    return replace(
        skeleton,
        rest_rotations=rest.rotations,
        offsets=rest.translations,
        tip_offsets=rotate(conjugate(turns[skeleton.tip_parents]), skeleton.tip_offsets),
        effectors=tuple(effectors),
        poses=MappingProxyType({name: turned_pose(pose, turns) for name, pose in skeleton.poses.items()}),
    )


def goals_at(pose: Pose, turns: Floats) -> list[Goal]:
    """Hands and feet to where a pose has them, the head turned as in it; one foot turned, too."""
    skeleton, world = figure(), fk(figure(), pose)
    goals = []
    for name in LIMBS:
        place = effector_of(skeleton, name)
        goals.append(Goal.position(name, world.point(place.joint, np.array(place.offset))))
    for name in ("Head", "RightFoot"):
        joint = effector_of(skeleton, name).joint
        goals.append(Goal.rotation(name, multiply(world.rotations[joint], turns[joint])))
    return goals


def wanted(seed: int) -> Pose:
    relaxed, random = figure().relaxed_pose(), np.random.default_rng(seed)
    return Pose(multiply(relaxed.rotations, exp(random.normal(size=(len(figure()), 3)) * 0.3)), relaxed.translations)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
@pytest.mark.parametrize("name", ["x", "y", "slanted", "random"])
def test_one_shot_and_drag_come_to_the_same_places(name: str, backend: Backend) -> None:
    turns, plain = turns_of(name), figure()
    turned, start = turned_skeleton(turns), plain.relaxed_pose()
    there = turned_pose(start, turns)
    np.testing.assert_allclose(fk(turned, there).positions, fk(plain, start).positions, atol=1e-12)
    for seed in range(4):
        one = Solver(plain, goals_at(wanted(seed), np.tile(IDENTITY, (len(plain), 1))), backend=backend)
        other = Solver(turned, goals_at(wanted(seed), turns), backend=backend)
        found, same = one.solve(start), other.solve(there)
        assert (found.status, found.iterations) == (same.status, same.iterations)
        np.testing.assert_allclose(fk(turned, same.pose).positions, fk(plain, found.pose).positions, atol=1e-6)
        moved = fk(plain, found.pose).positions - fk(plain, start).positions
        assert np.linalg.norm(moved, axis=1).max() > 0.05
        drags = one.drag(start), other.drag(there)
        for _ in range(6):
            poses = [drag.move().pose for drag in drags]
        np.testing.assert_allclose(fk(turned, poses[1]).positions, fk(plain, poses[0]).positions, atol=1e-6)


def test_a_knee_s_axes_are_the_limb_s_in_any_frame() -> None:
    # Forward, up and left of the world at rest are what a leg's axes are, in whatever order.
    for name in ("x", "random"):
        turned = turned_skeleton(turns_of(name))
        bases, ready = principal(turned)
        knee = turned.index("LeftLeg")
        widest = rotate(bases[knee], np.eye(3)[int(ready[knee].argmax())])
        world = rotate(multiply(fk(turned, turned.rest_pose()).rotations[knee], IDENTITY), widest)
        assert abs(world[0]) > 0.99  # bends about the figure's left
        np.testing.assert_allclose(np.sort(ready[knee]), np.array([4.0, 6.0, 25.0]) / 20.0)
        # About its own axes all three would be mixed.
        assert not np.allclose(np.sort(spreads(turned)[knee]), np.radians([4.0, 6.0, 25.0]), atol=1e-3)


def test_spreads_that_the_file_states_are_about_the_joint_s_own_axes() -> None:
    turned = turned_skeleton(turns_of("random"))
    stated, knee = np.full((len(turned), 3), np.nan), turned.index("LeftLeg")
    stated[knee] = np.radians([5.0, 10.0, 40.0])
    bases, ready = principal(replace(turned, mobility=stated))
    np.testing.assert_array_equal(bases[knee], IDENTITY)
    np.testing.assert_allclose(ready[knee], np.array([5.0, 10.0, 40.0]) / 20.0)
