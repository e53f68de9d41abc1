"""The relaxed pose: arms hang, elbows, knees and hips are bent the right way, whatever the rest pose and the frames."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pytest
from figures import (
    JOINTS,
    nameless,
    person,
    random_turns,
    reframed,
    resting_as,
    turned,
    with_relaxed,
    without,
    world_positions,
)
from inside.skeleton import derived_pose, find_figure, limb_places, tip_positions
from inside.spatial import exp, from_axis_angle, multiply, rotate

from viewer import load
from viewer.skeleton import JointKind, JointLimits, fk, limit_violation

if TYPE_CHECKING:
    from pathlib import Path

    from inside.spatial import Floats

    from viewer.skeleton import Pose, Skeleton

MIRROR = np.array([-1.0, 1.0, 1.0])


def angles(skeleton: Skeleton, pose: Pose) -> dict[str, float]:
    """Degrees: of each limb, its upper bone above the horizontal, and its bend, positive the way people bend."""
    figure = find_figure(skeleton)
    assert figure is not None
    world = fk(skeleton, pose)
    result = {}
    for limb in figure.limbs:
        shoulder, elbow, wrist = limb_places(world, limb)
        upper, lower = ((v / np.linalg.norm(v)) for v in (elbow - shoulder, wrist - elbow))
        name = f"{limb.side} {limb.kind}"
        result[f"{name} rise"] = float(np.degrees(np.arcsin(upper @ figure.up)))
        result[f"{name} ahead"] = float(np.degrees(np.arctan2(upper @ figure.forward, -(upper @ figure.up))))
        way = figure.forward if limb.kind == "arm" else -figure.forward
        across = lower - (lower @ upper) * upper
        result[f"{name} bend"] = float(np.degrees(np.arctan2(np.linalg.norm(across), lower @ upper)))
        result[f"{name} bend"] *= float(np.sign(across @ way))
    return result


def stands_relaxed(skeleton: Skeleton, pose: Pose, *, least: float = 5.0) -> None:
    """The laws for any figure."""
    figure = find_figure(skeleton)
    assert figure is not None
    assert limit_violation(skeleton, pose).max() < 1e-9
    world = fk(skeleton, pose)
    measured = angles(skeleton, pose)
    for limb in figure.limbs:
        name = f"{limb.side} {limb.kind}"
        shoulder, _, wrist = limb_places(world, limb) @ figure.up
        assert wrist < shoulder
        assert least < measured[f"{name} bend"] < 60.0, name
    for leg in figure.legs:
        assert 0.0 < measured[f"{leg.side} leg ahead"] < 30.0


@pytest.mark.parametrize("arms_down", [0.0, 30.0, 45.0, 70.0, 90.0])
@pytest.mark.parametrize("names", [True, False])
def test_the_angles_are_those_of_the_recipe_whatever_the_rest_pose(arms_down: float, names: bool) -> None:
    skeleton = person(arms_down) if names else nameless(person(arms_down))
    measured = angles(skeleton, skeleton.relaxed_pose())
    for side in ("left", "right"):
        assert measured[f"{side} arm rise"] == pytest.approx(-70.0, abs=0.01)
        assert measured[f"{side} arm bend"] == pytest.approx(25.0, abs=0.01)
        assert measured[f"{side} leg ahead"] == pytest.approx(10.0, abs=0.01)
        assert measured[f"{side} leg bend"] == pytest.approx(20.0, abs=0.01)
    stands_relaxed(skeleton, skeleton.relaxed_pose())


def test_all_rest_poses_relax_alike() -> None:
    t_pose, a_pose = (fk(s, s.relaxed_pose()).positions for s in (person(0.0), person(45.0)))
    np.testing.assert_allclose(t_pose, a_pose, atol=1e-9)


def test_a_symmetric_figure_stays_symmetric() -> None:
    skeleton = person()
    places = world_positions(skeleton, skeleton.relaxed_pose())
    for joint, name in enumerate(JOINTS):
        twin = JOINTS.index(name.replace("Left", "X").replace("Right", "Left").replace("X", "Right"))
        np.testing.assert_allclose(places[twin], places[joint] * MIRROR, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_the_joints_own_frames_do_not_matter(seed: int) -> None:
    plain = person()
    other = reframed(nameless(plain), random_turns(len(plain), seed))
    expected, found = (world_positions(s, s.relaxed_pose()) for s in (plain, other))
    np.testing.assert_allclose(found, expected, atol=1e-9)


TURNS = [from_axis_angle(axis, k * np.pi / 2) for axis in np.eye(3) for k in (1, 2, 3)]
TURNS += [from_axis_angle((0.0, 1.0, 0.0), 0.7), from_axis_angle((1.0, 0.0, 0.0), np.pi / 2)]


@pytest.mark.parametrize("turn", TURNS)
def test_the_pose_turns_with_the_figure(turn: Floats) -> None:
    plain, other = person(), turned(person(), turn)
    expected = rotate(turn, world_positions(plain, plain.relaxed_pose()))
    np.testing.assert_allclose(world_positions(other, other.relaxed_pose()), expected, atol=1e-9)


def test_feet_stand_level_where_they_stood() -> None:
    skeleton = person()
    pose = skeleton.relaxed_pose()
    rest, world = fk(skeleton, skeleton.rest_pose()), fk(skeleton, pose)
    for name in ("LeftFoot", "RightFoot", "LeftToe"):
        joint = skeleton.index(name)
        np.testing.assert_allclose(world.rotations[joint], rest.rotations[joint], atol=1e-12)
    before, after = (tip_positions(skeleton, w)[:, 1].min() for w in (rest, world))
    assert after == pytest.approx(before, abs=1e-12)
    assert world.positions[0, 1] < rest.positions[0, 1]
    hips, ankle = skeleton.index("LeftUpLeg"), skeleton.index("LeftFoot")
    assert world.positions[ankle, 2] == pytest.approx(world.positions[hips, 2], abs=1e-3)


def test_a_root_that_cannot_move_stays() -> None:
    skeleton = person()
    fixed = replace(skeleton, kinds=(JointKind.FIXED, *skeleton.kinds[1:]))
    np.testing.assert_array_equal(fixed.relaxed_pose().translations, fixed.offsets)


def hinged(skeleton: Skeleton, sign: float) -> Skeleton:
    """Elbows and knees as hinges about axes of either sense, with limits that bend to one side."""
    kinds, axes, limits = list(skeleton.kinds), skeleton.axes.copy(), list(skeleton.limits)
    for side, mirror in (("Left", 1.0), ("Right", -1.0)):
        for name, axis in (("ForeArm", (0.0, -mirror, 0.0)), ("Leg", (1.0, 0.0, 0.0))):
            joint = skeleton.index(side + name)
            kinds[joint] = JointKind.HINGE
            axes[joint, 0] = sign * np.array(axis)
            bends = (0.0, 2.5) if sign > 0 else (-2.5, 0.0)
            limits[joint] = JointLimits.coordinates(bends)
    return replace(skeleton, kinds=tuple(kinds), axes=axes, limits=tuple(limits))


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("limited", [True, False])
def test_hinges_bend_the_way_people_do_whatever_the_sense_of_their_axes(sign: float, limited: bool) -> None:
    skeleton = hinged(person(), sign)
    if not limited:
        skeleton = replace(skeleton, limits=(None,) * len(skeleton))
    ball, hinge = (world_positions(s, s.relaxed_pose()) for s in (person(), skeleton))
    np.testing.assert_allclose(hinge, ball, atol=1e-9)


def test_universals_bend_about_the_axis_across_the_bone() -> None:
    skeleton = person()
    kinds, axes = list(skeleton.kinds), skeleton.axes.copy()
    for joint in (skeleton.index("LeftForeArm"), skeleton.index("RightForeArm")):
        kinds[joint] = JointKind.UNIVERSAL
        axes[joint] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    skeleton = replace(skeleton, kinds=tuple(kinds), axes=axes)
    expected, found = (world_positions(s, s.relaxed_pose()) for s in (person(), skeleton))
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_limits_are_kept_and_still_bend_the_right_way() -> None:
    skeleton = person()
    limits = list(skeleton.limits)
    narrow = (-np.radians(12.0), np.radians(12.0))
    for side in ("Left", "Right"):
        for name in ("Arm", "ForeArm", "UpLeg", "Leg", "Foot"):
            joint = skeleton.index(side + name)
            limits[joint] = JointLimits.swing_twist(0 if "Arm" in name else 1, narrow, narrow, narrow)
    skeleton = replace(skeleton, limits=tuple(limits))
    pose = skeleton.relaxed_pose()
    assert limit_violation(skeleton, pose).max() < 1e-9
    measured = angles(skeleton, pose)
    for side in ("left", "right"):
        assert measured[f"{side} leg bend"] == pytest.approx(12.0, abs=0.5)
        assert measured[f"{side} leg ahead"] > 5.0
        assert measured[f"{side} arm rise"] < -10.0


def folded(skeleton: Skeleton) -> Skeleton:
    """The same person resting with its left leg up, its right one sideways and its trunk on its side."""
    pose = skeleton.rest_pose()
    rotations = pose.rotations.copy()
    for name, turn in {
        "Hips": (0.0, 0.0, 1.6), "LeftUpLeg": (3.0, 0.2, 0.0), "RightUpLeg": (0.4, 0.0, -1.7),
        "LeftArm": (0.5, 2.0, 1.0), "RightArm": (0.0, 2.8, 0.0), "LeftLeg": (0.9, 0.0, 0.0),
        "RightForeArm": (0.0, 1.2, 0.0),
    }.items():  # fmt: skip
        joint = skeleton.index(name)
        rotations[joint] = multiply(rotations[joint], exp(turn))
    rest = resting_as(skeleton, replace(pose, rotations=rotations))
    # The angles of the two bent hinges are now counted from the bent rest pose.
    limits = list(rest.limits)
    limits[skeleton.index("LeftLeg")] = JointLimits.coordinates((-0.9, 1.6))
    limits[skeleton.index("RightForeArm")] = JointLimits.coordinates((-1.2, 1.3))
    return replace(rest, limits=tuple(limits))


def test_bones_that_lie_anywhere_at_rest_stand_up_by_their_hinges() -> None:
    skeleton = folded(hinged(person(), 1.0))
    figure = find_figure(skeleton)
    assert figure is not None
    assert not figure.upright
    pose = skeleton.relaxed_pose()
    stands_relaxed(skeleton, pose)
    expected = world_positions(person(), person().relaxed_pose())
    found = world_positions(skeleton, pose)
    # Only the slope of the feet is taken for what it commonly is.
    np.testing.assert_allclose(found - found[0], expected - expected[0], atol=0.02)
    feet = tip_positions(skeleton, fk(skeleton, pose))
    assert feet[:, 1].min() == pytest.approx(0.0, abs=1e-9)


def test_bones_that_lie_anywhere_and_bend_anyhow_are_left_at_rest() -> None:
    skeleton = folded(hinged(person(), 1.0))
    skeleton = replace(
        skeleton,
        kinds=(JointKind.FREE, *(JointKind.BALL,) * (len(skeleton) - 1)),
        limits=(None,) * len(skeleton),
    )
    assert skeleton.relaxed_pose().same_as(skeleton.rest_pose())


def test_the_file_s_own_relaxed_pose_comes_first() -> None:
    skeleton = person()
    own = replace(skeleton.rest_pose(), translations=skeleton.offsets + 0.1)
    assert with_relaxed(skeleton, own).relaxed_pose() is own


def test_legs_or_arms_alone_relax_too() -> None:
    stands_relaxed(legs := without(person(), "Shoulder", "Arm", "Hand"), legs.relaxed_pose())
    stands_relaxed(arms := without(person(), "Leg", "Foot", "Toe"), arms.relaxed_pose())
    np.testing.assert_array_equal(arms.relaxed_pose().translations, arms.offsets)


@pytest.mark.parametrize("sample", ["claw-arm", "two-link", "serpent", "raptor", "quadruped", "chain-7"])
def test_what_is_no_figure_rests(sample: str) -> None:
    skeleton = replace(load(f"sample:{sample}").skeleton, poses={})
    assert skeleton.relaxed_pose().same_as(skeleton.rest_pose())


@pytest.mark.parametrize("sample", ["biped", "biped-hands", "walk"])
def test_the_samples_stand_relaxed_without_their_files_pose(sample: str) -> None:
    skeleton = load(f"sample:{sample}").skeleton
    stands_relaxed(skeleton, derived_pose(skeleton), least=15.0)


REAL = (
    "aitviewer_sample", "assimp_cmu_01_01", "axisneuron_test", "bandai1_bow_active_001", "blender_cmu_native",
    "bvhio_example", "bvhpython_mocapbank", "dme_example", "pybvh_example",
)  # fmt: skip


@pytest.mark.parametrize("stem", REAL)
def test_the_people_of_real_files_stand_relaxed(shared: Path, stem: str) -> None:
    skeleton = load(shared / "data" / "bvh" / f"{stem}.bvh").skeleton
    stands_relaxed(skeleton, skeleton.relaxed_pose())
    bare = replace(skeleton, limits=(None,) * len(skeleton))
    if stem != "bandai1_bow_active_001":  # the limits of its clip are all that tells how it bends
        stands_relaxed(bare, bare.relaxed_pose(), least=15.0)
