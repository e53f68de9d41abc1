"""The kernels' joint coordinates are those of `viewer.skeleton.coordinates`."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from inside.ik import algebra, engine, joint_tables, joints, measure_pose
from inside.skeleton import coordinates, joint_space, kinematics
from inside.spatial import EULER_ORDERS, EulerOrder, from_axis_angle, from_euler, from_swing_twist, multiply, normalized
from rigs import Problem, problem, random_pose, random_skeleton

from viewer.ik import Goal
from viewer.skeleton import JointKind, JointLimits, Pose, coordinates_of, limit_violation, project_pose, room_of

if TYPE_CHECKING:
    from inside.spatial import Floats

    from viewer.skeleton import Skeleton

into_limits = joints.into_limits
BALLS = (algebra.SWING_TWIST, algebra.EULER)


def everything(skeleton: Skeleton, pose: Pose, *, limits: bool = True) -> Problem:
    """A problem in which every joint takes part."""
    goals = [Goal.position(name, (0.0, 0.0, 0.0)) for name in skeleton.names]
    return problem(skeleton, goals, pose, limits=limits)


def measured(case: Problem, pose: Pose) -> Floats:
    """(n,) `JointSpace.measure` in the system's order; 0 for free joints' dofs."""
    s, values = case.system, joint_space(case.skeleton).measure(pose.rotations, pose.translations)
    result = np.zeros(len(s.lower))
    for k, joint in enumerate(case.assembly.joints):
        if s.form[k] not in (algebra.TURNS, algebra.FIXED):
            first, count = s.first[k], s.first[k + 1] - s.first[k]
            columns = s.order[k] if s.form[k] in BALLS else np.arange(count)
            result[first : first + count] = values[joint, columns]
    return result


def assert_twins(case: Problem, pose: Pose, *, limits: bool = True) -> None:
    s, joints = case.system, case.assembly.joints
    q, t = pose.rotations[joints].copy(), pose.translations[joints].copy()
    x = np.zeros(len(s.lower))
    outside = into_limits(s, case.work, q, t, x)
    expected = project_pose(case.skeleton, pose, limits=limits)
    off = x - np.clip(measured(case, pose), s.lower, s.upper)
    # Half a turn may be counted either way where nothing bounds it.
    off = np.where(s.turning & ~s.bounded, off - 2.0 * np.pi * np.rint(off / (2.0 * np.pi)), off)
    np.testing.assert_allclose(off, 0.0, atol=1e-9)
    same = np.abs(np.einsum("ki,ki->k", q, expected.rotations[joints]))
    np.testing.assert_allclose(same, 1.0, atol=1e-12)
    np.testing.assert_allclose(t, expected.translations[joints], atol=1e-12)
    if limits:
        assert outside == bool(limit_violation(case.skeleton, pose).max() > 1e-9)


@pytest.mark.parametrize("size", [0.0, 0.5, 2.0])
def test_random_poses(size: float) -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        skeleton = random_skeleton(random, 12)
        inside = random_pose(random, skeleton, size)
        shaken = normalized(inside.rotations + random.normal(size=(12, 4)) * size)
        pose = Pose(shaken, inside.translations + random.normal(size=(12, 3)) * size)
        case = everything(skeleton, pose)
        assert_twins(case, inside)
        assert_twins(case, pose)
        assert_twins(case, Pose(-shaken, pose.translations))


def test_without_limits_only_the_kinds_bind() -> None:
    for seed in range(12):
        random = np.random.default_rng(seed)
        skeleton = random_skeleton(random, 12)
        pose = Pose(normalized(random.normal(size=(12, 4))), random.normal(size=(12, 3)))
        bare = replace(skeleton, limits=(None,) * 12)
        case = everything(skeleton, pose, limits=False)
        s, joints = case.system, case.assembly.joints
        q, t = pose.rotations[joints].copy(), pose.translations[joints].copy()
        assert not into_limits(s, case.work, q, t, np.zeros(len(s.lower)))
        expected = project_pose(bare, pose)
        np.testing.assert_allclose(np.abs(np.einsum("ki,ki->k", q, expected.rotations[joints])), 1.0, atol=1e-12)
        np.testing.assert_allclose(t, expected.translations[joints], atol=1e-12)


def one_ball(limits: JointLimits, relative: Floats) -> tuple[Problem, Pose]:
    random = np.random.default_rng(5)
    skeleton = replace(random_skeleton(random, 1, [JointKind.BALL]), limits=(limits,))
    pose = Pose(multiply(skeleton.rest_rotations, relative)[:1], skeleton.offsets)
    return everything(skeleton, pose), pose


WIDE, MIDDLE = (-math.pi, math.pi), (-math.pi / 2, math.pi / 2)


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_euler_angles_at_gimbal_lock(order: EulerOrder) -> None:
    ranges = [MIDDLE if axis == order[1] else WIDE for axis in "xyz"]
    for middle in (-math.pi / 2, math.pi / 2, 1.5, math.pi / 2 - 1e-7):
        case, pose = one_ball(JointLimits.euler(order, *ranges), from_euler([0.3, middle, -0.7], order))
        assert_twins(case, pose)


@pytest.mark.parametrize("twist_axis", [0, 1, 2])
def test_swings_up_to_half_a_turn(twist_axis: int) -> None:
    limits = JointLimits.swing_twist(twist_axis, WIDE, WIDE, WIDE)
    for swing, sign in itertools.product((0.0, 1e-9, 1.0, 3.0, math.pi), (1.0, -1.0)):
        coordinates = np.roll([0.9, 0.6 * swing, -0.8 * swing], twist_axis)
        case, pose = one_ball(limits, sign * from_swing_twist(coordinates, twist_axis))
        assert_twins(case, pose)


@pytest.mark.parametrize("angle", [-3.0, -0.1, 3.0, 3.3])
def test_angles_are_counted_from_the_middle_of_their_range(angle: float) -> None:
    hinge = random_skeleton(np.random.default_rng(5), 1, [JointKind.HINGE])
    skeleton = replace(hinge, limits=(JointLimits.coordinates((2.0, 4.0)),))
    turned = multiply(skeleton.rest_rotations, from_axis_angle(skeleton.axes[0, 0], angle))
    pose = Pose(turned, skeleton.offsets)
    case = everything(skeleton, pose)
    assert_twins(case, pose)
    x = np.zeros(1)
    into_limits(case.system, case.work, pose.rotations.copy(), pose.translations.copy(), x)
    assert 2.0 <= x[0] <= 4.0


def test_unlimited_angles_go_back_the_short_way() -> None:
    random = np.random.default_rng(3)
    skeleton = random_skeleton(random, 1, [JointKind.HINGE])
    skeleton = replace(skeleton, limits=(None,))
    case = everything(skeleton, skeleton.rest_pose())
    there, back = case.state, [array.copy() for array in case.state]
    for state, angle in ((there, 3.0), (back, -3.0)):
        state[0][0] = angle
        engine.STEPS["move"](case.system, case.work, np.zeros(1), state[0], state[1], state[2])
        into_limits(case.system, case.work, state[1], state[2], state[0])
        assert state[0][0] == pytest.approx(angle)
    for difference in (engine.STEPS["difference"], joints.difference):
        out = np.zeros(1)
        difference(case.system, case.work, there[0], there[1], there[2], back[0], back[1], back[2], out)
        assert out[0] == pytest.approx(2.0 * math.pi - 6.0)


def assert_measured(skeleton: Skeleton, pose: Pose) -> None:
    """Once `measure_pose` measures, which Python calls here as it is, poses have the coordinates that numpy finds."""
    space = joint_space(skeleton)
    expected = space.measure(pose.rotations, pose.translations)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kinematics.COMPILED, "measure", measure_pose)
        patch.setattr(kinematics.COMPILED, "tables", joint_tables)
        coordinates.coordinates_and_room.cache_clear()
        found, room = coordinates_of(skeleton, pose), room_of(skeleton, pose)
        coordinates.coordinates_and_room.cache_clear()
    # Half a turn may be counted either way where nothing bounds it.
    apart = found - expected
    apart = np.where(space.circular, apart - 2.0 * np.pi * np.rint(apart / (2.0 * np.pi)), apart)
    np.testing.assert_allclose(apart, 0.0, atol=1e-9)
    np.testing.assert_allclose(room, space.room(expected), atol=1e-9)


@pytest.mark.parametrize("size", [0.0, 0.5, 2.0])
@pytest.mark.parametrize("kind", [None, *JointKind])
def test_coordinates_of_poses_by_compiled_code(kind: JointKind | None, size: float) -> None:
    for seed in range(8):
        random = np.random.default_rng(seed)
        skeleton = random_skeleton(random, 12) if kind is None else random_skeleton(random, 12, [kind])
        inside = random_pose(random, skeleton, size)
        shaken = normalized(inside.rotations + random.normal(size=(12, 4)) * size)
        for pose in (inside, Pose(shaken, inside.translations + 1.0), Pose(-shaken, inside.translations)):
            assert_measured(skeleton, pose)
        assert_measured(replace(skeleton, limits=(None,) * 12), Pose(shaken, inside.translations))


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("middle", [-math.pi / 2, math.pi / 2, 1.5, math.pi / 2 - 1e-7])
def test_coordinates_of_poses_at_gimbal_lock(order: EulerOrder, middle: float) -> None:
    ranges = [MIDDLE if axis == order[1] else (-1.0, 1.0) for axis in "xyz"]
    case, pose = one_ball(JointLimits.euler(order, *ranges), from_euler([0.3, middle, -2.7], order))
    assert_measured(case.skeleton, pose)


@pytest.mark.parametrize("twist_axis", [0, 1, 2])
@pytest.mark.parametrize("swing", [0.0, 1e-9, 1.0, 3.0])
def test_coordinates_of_poses_that_swing_far(twist_axis: int, swing: float) -> None:
    coordinates = np.roll([0.9, 0.6 * swing, -0.8 * swing], twist_axis)
    for lowest in (-math.pi, 0.5):
        limits = JointLimits.swing_twist(twist_axis, (lowest, math.pi), WIDE, WIDE)
        for sign in (1.0, -1.0):
            case, pose = one_ball(limits, sign * from_swing_twist(coordinates, twist_axis))
            assert_measured(case.skeleton, pose)
