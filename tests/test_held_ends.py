"""Hands and feet of robots are brought to their places by joints that turn only as they can."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from inside.motion import HeldEnd, Motion, with_body_over, with_ends_held, with_ends_near
from inside.skeleton import nearest_turns
from inside.spatial import conjugate, from_axis_angle, log, multiply, twist_about, vectors, wrapped

import viewer
from viewer import JointKind, Skeleton
from viewer.skeleton import World, fk_arrays

NEVER = np.zeros(0, dtype=np.intp)


def legs(knee: JointKind = JointKind.HINGE) -> Skeleton:
    """A body on two legs of six degrees of freedom, the axes of whose hips miss each other."""
    builder = viewer.Builder(name="legs")
    builder.add("pelvis", None, (0, 1, 0), kind="free")
    for side, x in (("left", 0.1), ("right", -0.1)):
        builder.add(f"{side}_pitch", "pelvis", (x, -0.05, 0), kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_roll", f"{side}_pitch", (0.03, 0, 0.02), kind="hinge", axis=(0, 0, 1))
        builder.add(f"{side}_yaw", f"{side}_roll", (0, -0.1, 0), kind="hinge", axis=(0, 1, 0))
        axis = (1, 0, 0) if knee is JointKind.HINGE else ((1, 0, 0), (0, 1, 0))
        builder.add(f"{side}_knee", f"{side}_yaw", (0, -0.3, 0), kind=knee, axis=axis)
        builder.add(f"{side}_ankle", f"{side}_knee", (0, -0.4, 0), kind="universal", axis=((1, 0, 0), (0, 0, 1)))
    return builder.skeleton


def moving(skeleton: Skeleton, rotations: np.ndarray, translations: np.ndarray) -> Motion:
    return Motion(rotations, translations, fk_arrays(skeleton.parents, rotations, translations))


def where(skeleton: Skeleton, made: Motion) -> World:
    """Where a motion brings the joints, which it says itself."""
    world = fk_arrays(skeleton.parents, made.rotations, made.translations)
    np.testing.assert_allclose(made.world.positions, world.positions, atol=1e-12)
    np.testing.assert_allclose(made.world.rotations, world.rotations, atol=1e-12)
    return world


def still(skeleton: Skeleton, frames: int) -> Motion:
    """All frames with bent knees."""
    rotations, translations = (np.tile(each, (frames, 1, 1)) for each in (skeleton.rest_rotations, skeleton.offsets))
    for side in ("left", "right"):
        for part, angle in (("pitch", -0.5), ("knee", 1.0)):
            joint = skeleton.index(f"{side}_{part}")
            rotations[:, joint] = multiply(rotations[:, joint], from_axis_angle(skeleton.axes[joint, 0], angle))
    return moving(skeleton, rotations, translations)


def feet(skeleton: Skeleton, world: World, shift: np.ndarray, turn: np.ndarray) -> list[HeldEnd]:
    """Feet that are shifted (F, 3) and turned (F, 4)."""
    ends = []
    for side in ("left", "right"):
        joint = skeleton.index(f"{side}_ankle")
        wanted = world.positions[:, joint] + shift, joint, multiply(turn, world.rotations[:, joint])
        ends.append(HeldEnd((joint, np.zeros(3)), *wanted))
    return ends


@pytest.mark.parametrize("knee", [JointKind.HINGE, JointKind.UNIVERSAL])
def test_feet_are_in_their_places_and_turned_as_they_are_to_be(knee: JointKind) -> None:
    skeleton, random = legs(knee), np.random.default_rng(3)
    motion = still(skeleton, 40)
    before = motion.world
    turn = from_axis_angle(np.array((0.0, 1.0, 0.0)), random.uniform(-0.3, 0.3, 40))
    ends = feet(skeleton, before, random.uniform(-0.04, 0.04, (40, 3)), turn)
    made = with_ends_held(skeleton, motion, ends, 0)
    after = where(skeleton, made)
    for end in ends:
        np.testing.assert_allclose(after.positions[:, end.tip[0]], end.points, atol=1e-7)
        alike = np.abs((after.rotations[:, end.tip[0]] * end.turns).sum(axis=-1))
        np.testing.assert_allclose(alike, 1.0, atol=1e-9)
    joints = list(range(1, len(skeleton)))
    turned = made[0][:, joints].swapaxes(0, 1)
    alike = np.abs((nearest_turns(skeleton, joints, turned) * turned).sum(axis=-1))
    np.testing.assert_allclose(alike, 1.0, atol=1e-12)  # each joint turns as its kind can
    np.testing.assert_array_equal(made[0][:, 0], motion[0][:, 0])
    np.testing.assert_array_equal(made[1], motion[1])


def test_the_body_gives_way_only_where_legs_are_too_short() -> None:
    skeleton = legs()
    motion = still(skeleton, 31)
    before = motion.world
    down = np.linspace(0.0, -0.3, 31)[:, None] * np.array((0.0, 1.0, 0.0))
    ends = feet(skeleton, before, down, np.tile((0.0, 0.0, 0.0, 1.0), (31, 1)))
    made = with_ends_held(skeleton, motion, ends, 0)
    after = where(skeleton, made)
    for end in ends:
        np.testing.assert_allclose(after.positions[:, end.tip[0]], end.points, atol=1e-4)
    went = before.positions[:, 0, 1] - after.positions[:, 0, 1]
    assert (went[:6] == 0.0).all()
    assert went[6:10].max() < 1e-3  # it begins where legs are nearly straight
    assert 0.15 < went[-1] < 0.3
    assert (np.abs(np.diff(went)) < 0.02).all()  # feet go by 0.01 a frame: nothing jumps where legs are straight


def test_a_free_body_makes_up_for_what_its_feet_are_off_in_the_mean() -> None:
    skeleton, random = legs(), np.random.default_rng(5)
    motion, shifts = still(skeleton, 20), random.normal(size=(2, 20, 3))
    world, still_turned = motion.world, np.tile((0.0, 0.0, 0.0, 1.0), (20, 1))
    ends = [feet(skeleton, world, shift, still_turned)[foot] for foot, shift in enumerate(shifts)]
    made = with_body_over(skeleton, motion, ends)
    where(skeleton, made)
    rotations, translations, _ = made
    np.testing.assert_array_equal(rotations, motion[0])
    np.testing.assert_allclose(translations[:, 0] - motion[1][:, 0], shifts.mean(axis=0), atol=1e-12)
    np.testing.assert_array_equal(translations[:, 1:], motion[1][:, 1:])
    assert with_body_over(skeleton, motion, []) is motion
    held = replace(skeleton, kinds=(JointKind.FIXED, *skeleton.kinds[1:]))
    assert with_body_over(held, motion, ends) is motion


def test_joints_that_follow_others_stay() -> None:
    builder = viewer.Builder(name="coupled")
    builder.add("base", None, kind="free")
    builder.add("a", "base", (0, -0.1, 0), kind="hinge", axis=(1, 0, 0))
    builder.add("b", "a", (0, -0.3, 0), kind="hinge", axis=(1, 0, 0))
    builder.add("c", "b", (0, -0.3, 0), kind="hinge", axis=(0, 0, 1))
    builder.add("d", "c", (0, -0.3, 0), kind="fixed")
    builder.mimic("b", "a", 1.0, 0.0)
    skeleton = builder.skeleton
    motion = moving(skeleton, *(np.tile(each, (3, 1, 1)) for each in (skeleton.rest_rotations, skeleton.offsets)))
    world = motion.world
    end = HeldEnd((4, np.zeros(3)), world.positions[:, 4] + (0.05, 0.0, 0.0), None, world.rotations[:, 4])
    made = with_ends_held(skeleton, motion, [end], 0)
    np.testing.assert_array_equal(made[0][:, 1:3], motion[0][:, 1:3])
    np.testing.assert_allclose(where(skeleton, made).positions[:, 4], end.points, atol=1e-4)


def arm() -> Skeleton:
    """An arm that hangs down along the first axis of its shoulder, its elbow a little bent."""
    builder = viewer.Builder(name="arm")
    builder.add("chest", None, (0, 1.4, 0), kind="free")
    builder.add("yaw", "chest", (0.2, 0, 0), kind="hinge", axis=(0, 1, 0))
    builder.add("pitch", "yaw", kind="hinge", axis=(1, 0, 0))
    builder.add("twist", "pitch", kind="hinge", axis=(0, 1, 0))
    builder.add("elbow", "twist", (0, -0.3, 0), kind="hinge", axis=(1, 0, 0))
    builder.add("hand", "elbow", (0, -0.3, 0), kind="fixed")
    return builder.skeleton


def hanging(frames: int) -> tuple[Skeleton, Motion, World, int]:
    skeleton = arm()
    rotations, translations = (np.tile(each, (frames, 1, 1)) for each in (skeleton.rest_rotations, skeleton.offsets))
    elbow, hand = skeleton.index("elbow"), skeleton.index("hand")
    rotations[:, elbow] = from_axis_angle(skeleton.axes[elbow, 0], -0.4)
    motion = moving(skeleton, rotations, translations)
    return skeleton, motion, motion.world, hand


def test_hands_that_go_slowly_are_near_their_places() -> None:
    skeleton, motion, world, hand = hanging(120)
    part = np.linspace(0.0, np.pi, 120)[:, None]
    goal = world.positions[:, hand] + 0.1 * np.sin(part) * np.array((0.3, 1.0, 0.5))
    end = HeldEnd((hand, np.zeros(3)), goal, None, world.rotations[:, hand])
    made = with_ends_near(skeleton, motion, [end], 0, 60.0, NEVER)
    after = where(skeleton, made)
    off = vectors.norm(after.positions[:, hand] - goal)
    assert off.max() < 0.005 < 0.1 * vectors.norm(goal - world.positions[:, hand]).max()
    np.testing.assert_array_equal(made[0][:, 0], motion[0][:, 0])
    np.testing.assert_array_equal(made[1], motion[1])


def test_a_hand_that_passes_the_axis_does_not_spin_the_shoulder() -> None:
    """It goes past the first axis at 0.15 m/s, 1 cm away: the hinge would follow it at 860 degrees a second."""
    skeleton, motion, _, hand = hanging(120)
    goal = np.array((0.2, 0.82, 0.01)) + np.linspace(-0.15, 0.15, 120)[:, None] * np.array((1.0, 0.0, 0.0))
    end = HeldEnd((hand, np.zeros(3)), goal, None, np.tile((0.0, 0.0, 0.0, 1.0), (120, 1)))
    slow = with_ends_near(skeleton, motion, [end], 0, 60.0, NEVER)
    yaw = skeleton.index("yaw")
    turned = wrapped(np.diff(twist_about(slow[0][:, yaw], skeleton.axes[yaw, 0])))
    assert np.degrees(np.abs(turned).max()) * 60.0 < 300.0
    off = vectors.norm(where(skeleton, slow).positions[:, hand] - goal)
    assert off.max() < 0.03


def test_one_frame_has_ends_near_their_places_too() -> None:
    skeleton, motion, world, hand = hanging(1)
    end = HeldEnd((hand, np.zeros(3)), world.positions[:, hand] + 0.03, None, world.rotations[:, hand])
    made = with_ends_near(skeleton, motion, [end], 0, 60.0, NEVER)
    assert vectors.norm(where(skeleton, made).positions[:, hand] - end.points).max() < 0.01


def test_a_hand_out_of_reach_does_not_whip_its_arm() -> None:
    """Its place leaves the reach of the arm, by half a metre, and comes back: the arm points at it, and comes back."""
    skeleton, motion, world, hand = hanging(120)
    out = np.sin(np.linspace(0.0, np.pi, 120)) ** 2
    goal = world.positions[:, hand] + out[:, None] * np.array((0.3, -0.4, 0.0))
    end = HeldEnd((hand, np.zeros(3)), goal, None, world.rotations[:, hand])
    made = with_ends_near(skeleton, motion, [end], 0, 60.0, NEVER)
    steps = log(multiply(conjugate(made[0][:-1]), made[0][1:]))
    assert np.degrees(vectors.norm(np.diff(steps, axis=0)).max()) < 2.5  # in a sixtieth of a second, squared
    after, shoulder = where(skeleton, made).positions[:, hand], world.positions[0, 1]
    pointed = vectors.dot(vectors.unit(after[60] - shoulder), vectors.unit(goal[60] - shoulder))
    assert pointed > np.cos(np.radians(15.0))
    assert vectors.norm(after[[0, -1]] - goal[[0, -1]]).max() < 0.005


def test_a_motion_that_leaps_is_followed_at_once() -> None:
    """As after a calibration pose: without the leap, the hand would be on its way for many frames."""
    skeleton, motion, world, hand = hanging(60)
    away = (np.arange(60) >= 20)[:, None] * np.array((0.15, 0.2, 0.1))
    end = HeldEnd((hand, np.zeros(3)), world.positions[:, hand] + away, None, world.rotations[:, hand])
    off = []
    for leaps in (np.array([20]), NEVER):
        made = with_ends_near(skeleton, motion, [end], 0, 60.0, leaps)
        off.append(vectors.norm(where(skeleton, made).positions[:, hand] - end.points).max())
    assert off[0] < 0.005
    assert off[1] > 0.05


def test_what_carries_both_arms_turns_for_both() -> None:
    """A torso of one hinge bows for two hands in front that are out of the arms' reach."""
    builder = viewer.Builder(name="torso")
    builder.add("pelvis", None, (0, 1, 0), kind="free")
    builder.add("torso", "pelvis", kind="hinge", axis=(1, 0, 0))
    for side, x in (("left", 0.2), ("right", -0.2)):
        builder.add(f"{side}_pitch", "torso", (x, 0.5, 0), kind="hinge", axis=(1, 0, 0))
        builder.add(f"{side}_roll", f"{side}_pitch", kind="hinge", axis=(0, 0, 1))
        builder.add(f"{side}_hand", f"{side}_roll", (0, -0.5, 0), kind="fixed")
    skeleton = builder.skeleton
    motion = moving(skeleton, *(np.tile(each, (30, 1, 1)) for each in (skeleton.rest_rotations, skeleton.offsets)))
    world = motion.world
    hands = [skeleton.index(f"{side}_hand") for side in ("left", "right")]
    ends = [HeldEnd((hand, np.zeros(3)), world.positions[:, hand] + (0, 0.2, 0.5), None, world.rotations[:, hand])
            for hand in hands]  # fmt: skip
    made = with_ends_near(skeleton, motion, ends, 0, 60.0, NEVER)
    after = where(skeleton, made)
    assert max(vectors.norm(after.positions[:, end.tip[0]] - end.points).max() for end in ends) < 0.01
    assert np.degrees(twist_about(made[0][:, 1], skeleton.axes[1, 0])).min() > 10.0
    np.testing.assert_array_equal(made[0][:, 0], motion[0][:, 0])
