"""Limits: how far a pose is outside, and the pose inside that is nearest to it."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest
from hypothesis import assume, given
from inside.skeleton import UNLIMITED, joint_space
from inside.spatial import (
    EulerOrder,
    angle_between,
    axes_of,
    conjugate,
    exp,
    from_axis_angle,
    from_euler,
    from_swing_twist,
    multiply,
    to_euler,
    to_swing_twist,
)
from naive import matrix_of
from strategies import clips, posed_skeletons, quickly, random_pose, random_skeleton, seeds
from test_coordinates import one_joint

from viewer.errors import InputError
from viewer.skeleton import (
    Clip,
    JointKind,
    JointLimits,
    LimitForm,
    Pose,
    Skeleton,
    clip_violation,
    limit_violation,
    project_pose,
)

if TYPE_CHECKING:
    from inside.spatial import Floats

DEGREES = math.pi / 180.0
KINDS = (JointKind.HINGE, JointKind.UNIVERSAL, JointKind.SLIDE, JointKind.BALL)


def ball(form: str, *ranges: tuple[float, float]) -> Skeleton:
    """A ball joint, by degrees about x, y and z; ``form`` is an Euler order or "twist y"."""
    radians = [(low * DEGREES, high * DEGREES) for low, high in ranges]
    if form.startswith("twist"):
        return one_joint(JointKind.BALL, JointLimits.swing_twist("xyz".index(form[-1]), *radians))
    return one_joint(JointKind.BALL, JointLimits.euler(cast("EulerOrder", form), *radians))


def turned(skeleton: Skeleton, d: Floats) -> Pose:
    """The rest pose with the second joint turned by d from its rest."""
    rotations = skeleton.rest_rotations.copy()
    rotations[1] = multiply(rotations[1], d)
    return Pose(rotations, skeleton.offsets)


def is_reachable(limits: JointLimits | None) -> bool:
    """Whether some rotation is inside: the swing nearest to 0 is shorter than half a turn."""
    if limits is None or limits.form is not LimitForm.SWING_TWIST:
        return True
    nearest = np.delete(np.clip(0.0, limits.lower, limits.upper), limits.twist_axis)
    return float(np.hypot(*nearest)) < math.pi - 1e-4


@quickly
@given(posed_skeletons(kinds=KINDS))
def test_a_projected_pose_is_inside_and_stays_where_it_is(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    assume(all(map(is_reachable, skeleton.limits)))
    inside = project_pose(skeleton, pose)
    assert limit_violation(skeleton, inside).max() <= 1e-9
    again = project_pose(skeleton, inside)
    assert angle_between(again.rotations, inside.rotations).max() < 1e-9
    np.testing.assert_allclose(again.translations, inside.translations, rtol=0, atol=1e-12)


@quickly
@given(posed_skeletons(kinds=KINDS))
def test_a_pose_is_inside_exactly_if_the_numbers_of_the_skeleton_file_are(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    violation = limit_violation(skeleton, pose)
    for joint, (kind, limits) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True)):
        if limits is None:
            assert violation[joint] == 0.0
        elif kind is JointKind.BALL:
            d = multiply(conjugate(skeleton.rest_rotations[joint]), pose.rotations[joint])
            if limits.form is LimitForm.SWING_TWIST:
                c = to_swing_twist(d, limits.twist_axis)
            else:
                c = to_euler(d, limits.order)[np.argsort(axes_of(limits.order))]
            outside = np.maximum(limits.lower - c, c - limits.upper).max()
            assert (violation[joint] > 1e-9) == (outside > 1e-9)
            assert violation[joint] <= max(outside, 0.0) + 1e-12


@quickly
@given(posed_skeletons(kinds=KINDS), seeds)
def test_what_is_inside_is_kept_to_the_last_bit(posed: tuple[Skeleton, Pose], seed: int) -> None:
    skeleton, pose = posed
    random, space = np.random.default_rng(seed), joint_space(skeleton)
    assume(all(map(is_reachable, skeleton.limits)))
    low, high = np.maximum(space.lower, -3.0), np.minimum(space.upper, 3.0)
    assume((low < high).all())
    c = space.nearest_inside(low + random.uniform(0.01, 0.99, size=low.shape) * (high - low))
    inside = Pose(*space.rebuild(c, pose.rotations, skeleton.offsets))
    assume(not limit_violation(skeleton, inside).any())
    assert project_pose(skeleton, inside).same_as(inside)


@quickly
@given(posed_skeletons())
def test_projection_keeps_what_no_limit_or_kind_speaks_of(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    projected = project_pose(skeleton, pose)
    for joint, kind in enumerate(skeleton.kinds):
        stands = kind is JointKind.FIXED and skeleton.parents[joint] < 0
        if kind is JointKind.FREE or stands or (kind is JointKind.BALL and skeleton.limits[joint] is None):
            np.testing.assert_array_equal(projected.rotations[joint], pose.rotations[joint])
        if kind is not JointKind.SLIDE:
            np.testing.assert_array_equal(projected.translations[joint], pose.translations[joint])
        if kind is JointKind.SLIDE or (kind is JointKind.FIXED and not stands):
            assert angle_between(projected.rotations[joint], skeleton.rest_rotations[joint]) < 1e-6


@quickly
@given(posed_skeletons())
def test_without_limits_only_the_kinds_are_asked(posed: tuple[Skeleton, Pose]) -> None:
    skeleton, pose = posed
    projected = project_pose(skeleton, pose, limits=False)
    balls = [j for j, kind in enumerate(skeleton.kinds) if kind in (JointKind.BALL, JointKind.FREE)]
    np.testing.assert_array_equal(projected.rotations[balls], pose.rotations[balls])
    bare = replace(skeleton, limits=tuple(None for _ in skeleton.limits))
    expected = project_pose(bare, pose)
    assert angle_between(projected.rotations, expected.rotations).max() < 1e-7
    np.testing.assert_allclose(projected.translations, expected.translations, rtol=0, atol=1e-12)


@quickly
@given(seeds)
def test_hinges_and_slides_go_to_the_nearest_place_inside(seed: int) -> None:
    skeleton = random_skeleton(seed, 4, [JointKind.HINGE, JointKind.SLIDE])
    pose = random_pose(seed, skeleton)
    projected = project_pose(skeleton, pose)
    for joint, (kind, limits) in enumerate(zip(skeleton.kinds, skeleton.limits, strict=True)):
        axis, rest = skeleton.axes[joint, 0], skeleton.rest_rotations[joint]
        low, high = (-math.pi, math.pi) if limits is None else (limits.lower[0], limits.upper[0])
        some = np.linspace(max(low, -math.pi), min(high, math.pi), 500)
        if kind is JointKind.HINGE:
            tried = multiply(rest, from_axis_angle(axis, some))
            far = float(angle_between(projected.rotations[joint], pose.rotations[joint]))
            assert far <= angle_between(tried, pose.rotations[joint]).min() + 1e-7
        else:
            places = skeleton.offsets[joint] + some[:, None] * (matrix_of(rest) @ axis)
            far = float(np.linalg.norm(projected.translations[joint] - pose.translations[joint]))
            assert far <= np.linalg.norm(places - pose.translations[joint], axis=-1).min() + 1e-12


@quickly
@given(seeds)
def test_swings_go_to_the_nearest_swing_of_the_box_that_is_no_longer_than_half_a_turn(seed: int) -> None:
    random = np.random.default_rng(seed)
    ends = np.sort(random.uniform(-math.pi, math.pi, size=(2, 2)), axis=0)
    ranges = [(ends[0, 0], ends[1, 0]), UNLIMITED, (ends[0, 1], ends[1, 1])]
    assume(np.hypot(*np.clip(0.0, *ends)) < math.pi - 1e-4)
    limits = JointLimits.swing_twist(1, *ranges)
    skeleton = one_joint(JointKind.BALL, limits)
    space = joint_space(skeleton)
    pose = random_pose(seed, skeleton)
    measured = space.measure(pose.rotations, pose.translations)
    found = np.delete(space.nearest_inside(measured)[1], 1)
    some = np.array(list(itertools.product(*np.linspace(ends[0], ends[1], 81).T)))
    some = some[np.hypot(*some.T) <= math.pi - 1e-6]
    far = float(np.linalg.norm(found - np.delete(measured[1], 1)))
    assert far <= np.linalg.norm(some - np.delete(measured[1], 1), axis=-1).min(initial=math.inf) + 1e-9


@pytest.mark.parametrize(
    ("skeleton", "d", "violation", "moved"),
    [
        (ball("twist y", (-15, 180), (-40, 40), (-30, 30)), from_swing_twist(np.radians([181, 20, 0]), 1), 1, 1),
        (ball("twist y", (-15, 180), (-40, 40), (-30, 30)), from_swing_twist(np.radians([20, 45, 0]), 1), 5, 5),
        (ball("twist x", UNLIMITED, (-90, 90), (-90, 60)), exp(np.radians([0.0, 0.0, 170])), 100, 100),
        (ball("xyz", (-45, 45), (-90, 90), (-45, 45)), from_euler(np.radians([30, 90, 40]), "xyz"), 0, 0),
        (ball("xyz", (-45, 45), (-90, 90), (-45, 45)), from_euler(np.radians([30, 91, 40]), "xyz"), 1, 1),
        (ball("zxy", UNLIMITED, UNLIMITED, (-45, 45)), from_euler(np.radians([30, 91, 40]), "zxy"), 1, 1),
        (ball("xyz", (-45, 45), (-45, 90), (20, 45)), from_euler(np.radians([30, 90, 0]), "xyz"), 0, 0),
    ],
)
def test_a_little_past_a_pole_is_a_little_outside(
    skeleton: Skeleton, d: Floats, violation: float, moved: float
) -> None:
    pose = turned(skeleton, d)
    projected = project_pose(skeleton, pose)
    assert math.isclose(limit_violation(skeleton, pose)[1], violation * DEGREES, abs_tol=1e-12)
    assert math.isclose(angle_between(projected.rotations[1], pose.rotations[1]), moved * DEGREES, abs_tol=2e-6)
    assert limit_violation(skeleton, projected).max() <= 1e-9


def test_ranges_whose_corner_no_rotation_reaches_are_left_to_the_part_that_is_reached() -> None:
    skeleton = ball("twist y", (90, 180), (-40, 40), (-180, 180))
    projected = project_pose(skeleton, turned(skeleton, from_swing_twist(np.radians([0, 20, 170]), 1)))
    found = np.degrees(joint_space(skeleton).measure(projected.rotations, projected.translations)[1])
    np.testing.assert_allclose(found, [90.0, 20.0, math.sqrt(180.0**2 - 90.0**2)], rtol=0, atol=1e-3)
    assert limit_violation(skeleton, projected).max() <= 1e-9


def test_ranges_that_no_rotation_reaches_are_refused() -> None:
    with pytest.raises(InputError, match=r"^swing-twist limits: expected ranges that leave a swing of 180 degrees or"):
        ball("twist y", (150, 170), (-40, 40), (150, 170))


def test_the_violation_is_the_largest_excess_in_radians_or_metres() -> None:
    hinge = one_joint(JointKind.HINGE, JointLimits.coordinates((0.0, 150 * DEGREES)))
    bent = turned(hinge, from_axis_angle(hinge.axes[1, 0], 170 * DEGREES))
    np.testing.assert_allclose(limit_violation(hinge, bent), [0.0, 20 * DEGREES], rtol=0, atol=1e-14)
    slide = one_joint(JointKind.SLIDE, JointLimits.coordinates((0.0, 0.2)))
    along = matrix_of(slide.rest_rotations[1]) @ slide.axes[1, 0]
    out = Pose(slide.rest_rotations, slide.offsets + np.array([np.zeros(3), 0.3 * along]))
    np.testing.assert_allclose(limit_violation(slide, out), [0.0, 0.1], rtol=0, atol=1e-14)
    universal = one_joint(JointKind.UNIVERSAL, JointLimits.coordinates((-0.1, 0.1), (-0.2, 0.2)))
    first, second = universal.axes[1]
    both = turned(universal, multiply(from_axis_angle(first, 0.5), from_axis_angle(second, -0.4)))
    np.testing.assert_allclose(limit_violation(universal, both), [0.0, 0.4], rtol=0, atol=1e-14)
    three = ball("twist z", (-10, 10), (0, 0), (5, 20))
    away = turned(three, from_swing_twist(np.radians([12.0, -3.0, 24.0]), 2))
    np.testing.assert_allclose(limit_violation(three, away), [0.0, 4 * DEGREES], rtol=0, atol=1e-14)


def test_a_rest_pose_outside_its_limits_says_so_and_is_brought_inside() -> None:
    skeleton = ball("twist y", (20, 60), (-40, 40), UNLIMITED)
    assert math.isclose(limit_violation(skeleton, skeleton.rest_pose())[1], 20 * DEGREES, abs_tol=1e-15)
    inside = project_pose(skeleton, skeleton.rest_pose())
    expected = exp(np.array([20 * DEGREES, 0.0, 0.0]))
    assert angle_between(multiply(conjugate(skeleton.rest_rotations[1]), inside.rotations[1]), expected) < 1e-14


@quickly
@given(clips())
def test_the_violation_of_a_clip_is_that_of_its_frames(taken: tuple[Skeleton, Clip]) -> None:
    skeleton, clip = taken
    each = [limit_violation(skeleton, clip.pose(frame)) for frame in range(len(clip))]
    np.testing.assert_array_equal(clip_violation(skeleton, clip), each)
    np.testing.assert_array_equal(clip_violation(skeleton, clip, slice(0, 1)), each[:1])
