"""Joint coordinates: read off a pose and turned back into one, kind by kind, against matrices made by hand."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from inside.skeleton import UNLIMITED, joint_space
from inside.spatial import (
    EULER_ORDERS,
    EulerOrder,
    angle_between,
    exp,
    from_axis_angle,
    from_euler,
    from_swing_twist,
    multiply,
)
from naive import matrix_about, matrix_of, rodrigues
from strategies import (
    clips,
    posed_skeletons,
    quickly,
    random_pose,
    random_quaternions,
    random_skeleton,
    seeds,
    unit_quaternions,
)

from viewer.errors import InputError
from viewer.skeleton import Clip, JointKind, JointLimits, LimitForm, Pose, Skeleton

if TYPE_CHECKING:
    from inside.spatial import Floats


def one_joint(kind: JointKind, limits: JointLimits | None = None, seed: int = 0) -> Skeleton:
    """A single joint of a kind, below a fixed one (beside it if it is free), with turned axes and a turned rest."""
    skeleton = random_skeleton(seed, 2, [kind])
    kinds, parents = (JointKind.FIXED, kind), [-1, -1 if kind is JointKind.FREE else 0]
    return replace(skeleton, kinds=kinds, limits=(None, limits), parents=np.array(parents))


def local_matrix(skeleton: Skeleton, joint: int, c: Floats) -> Floats:
    """The local rotation that coordinates mean, by hand."""
    rest, (first, second), limits = (
        matrix_of(skeleton.rest_rotations[joint]),
        skeleton.axes[joint],
        skeleton.limits[joint],
    )
    match skeleton.kinds[joint]:
        case JointKind.HINGE:
            return rest @ rodrigues(c[0] * first)
        case JointKind.UNIVERSAL:
            return rest @ rodrigues(c[0] * first) @ rodrigues(c[1] * second)
        case JointKind.BALL if limits is not None and limits.form is LimitForm.EULER:
            turns = [matrix_about(axis, c["xyz".index(axis)]) for axis in limits.order]
            return rest @ turns[0] @ turns[1] @ turns[2]
        case JointKind.BALL if limits is not None:
            is_twist = np.arange(3) == limits.twist_axis
            return rest @ rodrigues(np.where(is_twist, 0.0, c)) @ rodrigues(np.where(is_twist, c, 0.0))
    return rest


@quickly
@given(posed_skeletons(), seeds)
def test_coordinates_make_the_motion_that_the_skeleton_file_says(posed: tuple[Skeleton, Pose], seed: int) -> None:
    skeleton, pose = posed
    c = np.random.default_rng(seed).uniform(-3.0, 3.0, size=(len(skeleton), 3))
    rotations, translations = joint_space(skeleton).rebuild(c, pose.rotations, pose.translations)
    for joint, (kind, limits) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True)):
        stands = kind is JointKind.FIXED and skeleton.parents[joint] < 0
        if kind is JointKind.FREE or stands or (kind is JointKind.BALL and limits is None):
            np.testing.assert_array_equal(rotations[joint], pose.rotations[joint])
        else:
            expected = local_matrix(skeleton, joint, c[joint])
            np.testing.assert_allclose(matrix_of(rotations[joint]), expected, rtol=0, atol=1e-14)
        if kind is JointKind.SLIDE:
            along = matrix_of(skeleton.rest_rotations[joint]) @ skeleton.axes[joint, 0]
            expected = skeleton.offsets[joint] + c[joint, 0] * along
            np.testing.assert_allclose(translations[joint], expected, rtol=0, atol=1e-14)
        else:
            np.testing.assert_array_equal(translations[joint], pose.translations[joint])


@quickly
@given(posed_skeletons(), seeds)
def test_coordinates_are_read_back_and_columns_without_use_hold_nothing(
    posed: tuple[Skeleton, Pose], seed: int
) -> None:
    skeleton, pose = posed
    wide = np.full(3, np.inf)
    limits = [v and replace(v, lower=-wide[: len(v.lower)], upper=wide[: len(v.lower)]) for v in skeleton.limits]
    free = replace(skeleton, limits=tuple(limits))
    space, c = joint_space(free), np.random.default_rng(seed).uniform(-1.5, 1.5, size=(len(skeleton), 3))
    found = space.measure(*space.rebuild(c, pose.rotations, pose.translations))
    used = {JointKind.HINGE: 1, JointKind.SLIDE: 1, JointKind.UNIVERSAL: 2}
    for joint, kind in enumerate(skeleton.kinds):
        count = 3 if kind is JointKind.BALL and skeleton.limits[joint] is not None else used.get(kind, 0)
        np.testing.assert_allclose(found[joint, :count], c[joint, :count], rtol=0, atol=1e-12)
        np.testing.assert_array_equal(found[joint, count:], 0.0)


@quickly
@given(posed_skeletons())
def test_what_balls_are_read_as_makes_them_again(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    space = joint_space(skeleton)
    rotations, _ = space.rebuild(space.measure(pose.rotations, pose.translations), pose.rotations, pose.translations)
    balls = [j for j, kind in enumerate(skeleton.kinds) if kind is JointKind.BALL]
    assert (angle_between(rotations[balls], pose.rotations[balls]) < 1e-7).all()


@quickly
@given(unit_quaternions(), seeds)
def test_a_hinge_is_read_as_the_nearest_rotation_that_it_can_hold(d: Floats, seed: int) -> None:
    skeleton = one_joint(JointKind.HINGE, seed=seed % 50)
    q = multiply(skeleton.rest_rotations[1], d)
    angle = joint_space(skeleton).measure(np.array([d, q]), skeleton.offsets)[1, 0]
    tried = from_axis_angle(skeleton.axes[1, 0], np.append(np.linspace(-math.pi, math.pi, 361), angle))
    far = angle_between(d, tried)
    assert far[-1] <= far.min() + 1e-7


@quickly
@given(unit_quaternions(), seeds)
def test_a_universal_is_read_as_the_nearest_rotation_that_it_can_hold(d: Floats, seed: int) -> None:
    skeleton = one_joint(JointKind.UNIVERSAL, seed=seed % 50)
    q = multiply(skeleton.rest_rotations[1], d)
    a, b = joint_space(skeleton).measure(np.array([d, q]), skeleton.offsets)[1, :2]
    ways = np.array([*itertools.product(np.linspace(-math.pi, math.pi, 41), repeat=2), (a, b)])
    first, second = skeleton.axes[1]
    far = angle_between(d, multiply(from_axis_angle(first, ways[:, 0]), from_axis_angle(second, ways[:, 1])))
    assert far[-1] <= far.min() + 1e-7
    assert -math.pi < min(a, b)
    assert max(a, b) <= math.pi


def test_a_slide_is_read_along_its_axis_whatever_it_strays_aside() -> None:
    skeleton = one_joint(JointKind.SLIDE, seed=4)
    along = matrix_of(skeleton.rest_rotations[1]) @ skeleton.axes[1, 0]
    aside = np.cross(along, [1.0, 2.0, 3.0])
    translations = skeleton.offsets + np.array([[9.0, 9.0, 9.0], 0.3 * along + aside])
    found = joint_space(skeleton).measure(skeleton.rest_rotations, translations)
    np.testing.assert_allclose(found[1], [0.3, 0.0, 0.0], rtol=0, atol=1e-14)


@pytest.mark.parametrize(
    ("low", "high", "angle", "counted"),
    [(-150, -100, 170, -190), (-150, -100, 50, 50), (0, 150, -104, -104), (0, 150, -106, 254), (170, 190, -175, 185),
     (-720, 720, 170, 170), (300, 420, 10, 370), (-math.inf, math.inf, 170, 170), (-math.inf, 0, 170, -190)],
)  # fmt: skip
def test_angles_are_counted_from_the_middle_of_their_range(
    low: float, high: float, angle: float, counted: float
) -> None:
    skeleton = one_joint(JointKind.HINGE, JointLimits.coordinates((math.radians(low), math.radians(high))))
    turn = from_axis_angle(skeleton.axes[:, 0], math.radians(angle))
    found = joint_space(skeleton).measure(multiply(skeleton.rest_rotations, turn), skeleton.offsets)
    assert math.isclose(math.degrees(found[1, 0]), counted, abs_tol=1e-12)


def test_a_twist_is_counted_from_the_middle_and_a_swing_is_not() -> None:
    ranges = [(math.radians(-170.0), math.radians(-100.0))] * 3
    skeleton = one_joint(JointKind.BALL, JointLimits.swing_twist(1, *ranges))
    d = from_swing_twist(np.radians([-100.0, 170.0, -110.0]), 1)
    found = joint_space(skeleton).measure(multiply(skeleton.rest_rotations, d), skeleton.offsets)
    np.testing.assert_allclose(np.degrees(found[1]), [-100.0, -190.0, -110.0], rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("angle", "counted"),
    [(179.0, 179.0), (181.0, 181.0), (255.0, 255.0), (-16.0, -16.0), (-97.0, -97.0), (-98.0, 262.0)],
)
def test_a_swing_is_read_the_way_round_that_is_less_far_outside(angle: float, counted: float) -> None:
    limits = JointLimits.swing_twist(1, (math.radians(-15.0), math.pi), UNLIMITED, (-0.5, 0.5))
    skeleton = one_joint(JointKind.BALL, limits)
    d = exp(np.array([math.radians(angle), 0.0, 0.0]))
    found = joint_space(skeleton).measure(multiply(skeleton.rest_rotations, d), skeleton.offsets)
    np.testing.assert_allclose(np.degrees(found[1]), [counted, 0.0, 0.0], rtol=0, atol=1e-11)


@pytest.mark.parametrize("order", EULER_ORDERS)
@pytest.mark.parametrize("side", [-1.0, 1.0])
@given(seed=seeds)
@settings(max_examples=15)
def test_at_gimbal_lock_a_joint_inside_its_limits_is_read_inside_them(
    order: EulerOrder, side: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    middle = "xyz".index(order[1])
    angles = random.uniform(-math.pi, math.pi, size=3)
    angles[middle] = side * 0.5 * math.pi
    room = random.choice([0.0, 0.1, 3.0], size=(2, 3)) * random.random((2, 3))
    ends = np.clip([angles - room[0], angles + room[1]], -math.pi, math.pi)
    ends[:, middle] = np.clip(ends[:, middle], -0.5 * math.pi, 0.5 * math.pi)
    skeleton = one_joint(JointKind.BALL, JointLimits.euler(order, *ends.T.tolist()), seed % 50)
    q = multiply(skeleton.rest_rotations, from_euler(angles[["xyz".index(axis) for axis in order]], order))
    space = joint_space(skeleton)
    found = space.measure(q, skeleton.offsets)
    assert space.excess(found).max() < 1e-12
    again, _ = space.rebuild(found, q, skeleton.offsets)
    assert angle_between(again[1], q[1]) < 1e-12


@quickly
@given(clips())
def test_clips_are_read_frame_by_frame(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    space = joint_space(skeleton)
    whole = space.measure(clip.rotations, clip.local_translations())
    for frame in range(len(clip)):
        pose = clip.pose(frame)
        single = space.measure(pose.rotations, pose.translations)
        np.testing.assert_array_equal(whole[frame], single)
        np.testing.assert_array_equal(space.nearest_inside(whole)[frame], space.nearest_inside(single))
        np.testing.assert_array_equal(space.excess(whole)[frame], space.excess(single))


def test_the_space_of_a_skeleton_is_made_once_and_cannot_be_changed() -> None:
    skeleton = random_skeleton(0, 6)
    space = joint_space(skeleton)
    assert joint_space(skeleton) is space
    for array in (space.lower, space.upper, space.circular, space.middle, space.period):
        assert not array.flags.writeable


@pytest.mark.parametrize("count", [1, 3])
@given(kind=st.sampled_from(list(JointKind)))
def test_a_pose_of_another_skeleton_is_refused(count: int, kind: JointKind) -> None:
    skeleton = one_joint(kind)
    message = f"coordinates: expected rotations of 2 joints, found {count}"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        joint_space(skeleton).measure(random_quaternions(np.random.default_rng(0), count), np.zeros((count, 3)))
    assert len(random_pose(0, skeleton).rotations) == 2
