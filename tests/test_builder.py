"""Skeletons built and changed by words: what comes out, mirrors, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from inside.skeleton import tip_positions
from strategies import quickly, random_skeleton, seeds

import viewer
from viewer import Builder, JointLimits, coordinates, pose_at, quaternions

FLIP = np.array([-1.0, 1.0, 1.0])


def same_skeleton(a: viewer.Skeleton, b: viewer.Skeleton) -> None:
    for name in ("name", "names", "kinds", "tip_names"):
        assert getattr(a, name) == getattr(b, name), name
    for name in ("parents", "offsets", "rest_rotations", "axes", "stiffness", "tip_parents", "tip_offsets"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name), err_msg=name)
    assert a.effectors == b.effectors
    assert [x is None for x in a.limits] == [x is None for x in b.limits]
    assert all(x.same_as(y) for x, y in zip(a.limits, b.limits, strict=True) if x is not None)
    assert a.poses.keys() == b.poses.keys()
    for name, pose in a.poses.items():
        assert pose.same_as(b.poses[name])


def arm() -> Builder:
    return (
        Builder(name="robot")
        .add("base", kind="fixed")
        .add("LeftShoulder", "base", (0.2, 1.0, 0.1), limits=[(-1.0, 0.5), (-0.2, 0.9), (-1.5, 0.3)])
        .add("LeftElbow", "LeftShoulder", (0.4, 0, 0), kind="hinge", axis=(0, 2, 0), limits=(0.0, 2.6), stiffness=0.2)
        .add("LeftLift", "LeftElbow", (0.1, 0, 0), kind="slide", axis=(1, 0, 0), limits=(-0.1, 0.2))
        .add(
            "LeftWrist",
            "LeftLift",
            (0.2, 0, 0),
            kind="universal",
            axis=[(0, 1, 0), (0, 0, 1)],
            limits=[(-1, 1), (0, 1)],
        )
        .tip("LeftWrist", (0.1, 0, 0))
        .effector("LeftGrip", "LeftWrist", (0.1, 0.02, 0), goal="position+rotation")
    )


@quickly
@given(seeds)
def test_a_skeleton_taken_apart_is_the_same_again(seed: int) -> None:
    skeleton = random_skeleton(seed, 1 + seed % 9)
    same_skeleton(Builder(skeleton).skeleton, skeleton)


def test_the_samples_come_through_unchanged() -> None:
    for name in ("biped", "chain-5", "walk"):
        skeleton = viewer.load(f"sample:{name}").skeleton
        same_skeleton(Builder(skeleton).skeleton, skeleton)


def test_an_arm_is_what_was_said() -> None:
    skeleton = arm().skeleton
    assert skeleton.name == "robot"
    assert skeleton.names == ("base", "LeftShoulder", "LeftElbow", "LeftLift", "LeftWrist")
    assert skeleton.parents.tolist() == [-1, 0, 1, 2, 3]
    assert [str(kind) for kind in skeleton.kinds] == ["fixed", "ball", "hinge", "slide", "universal"]
    np.testing.assert_array_equal(skeleton.axes[2, 0], (0, 1, 0))
    shoulder = skeleton.limits[1]
    assert shoulder is not None
    assert shoulder.twist_axis == 0  # along its bone
    assert skeleton.stiffness[2] == 0.2
    assert skeleton.tip_names == ("LeftWrist.tip",)
    assert skeleton.effectors[0].joint == 4
    assert skeleton.effectors[0].goal == "position+rotation"


@quickly
@given(seeds)
def test_mirrored_coordinates_give_the_mirrored_pose(seed: int) -> None:
    random = np.random.default_rng(seed)
    turned = quaternions.from_rotation_vector(random.normal(size=3))
    builder = (
        arm().change("base", rotation=turned).change("LeftShoulder", rotation=random.permutation([0, 0, 0.6, 0.8]))
    )
    one, both = builder.skeleton, builder.mirror("LeftShoulder").skeleton
    lower, upper = viewer.coordinate_limits(one)
    values = np.where(np.isfinite(lower), random.uniform(lower, upper), random.normal(size=len(lower)))
    values = coordinates(one, viewer.project_pose(one, pose_at(one, values)))
    mirrored = values.copy()
    for number, name in enumerate(one.dof_names):
        if name in {"LeftShoulder.ry", "LeftShoulder.rz"}:
            mirrored[number] *= -1.0
    pose = pose_at(both, np.concatenate([values, mirrored]))
    assert viewer.limit_violation(both, pose).max() < 1e-9
    world = viewer.fk(both, pose)
    for name in one.names[1:]:
        here, there = both.index(name), both.index(name.replace("Left", "Right"))
        np.testing.assert_allclose(world.positions[there], FLIP * world.positions[here], atol=1e-9)
        expected = world.rotations[here] * (1, -1, -1, 1)
        assert abs(float(expected @ world.rotations[there])) == pytest.approx(1.0, abs=1e-9)
    tips = tip_positions(both, world)
    np.testing.assert_allclose(tips[1], FLIP * tips[0], atol=1e-9)
    left, right = both.effectors
    assert (left.name, right.name, right.goal) == ("LeftGrip", "RightGrip", left.goal)
    np.testing.assert_allclose(right.offset, FLIP * left.offset)


def test_a_mirrored_arm_of_the_biped_is_its_other_arm() -> None:
    biped = viewer.load("sample:biped").skeleton
    top = next(name for name in biped.names if (name.startswith("Right") and "Shoulder" in name) or name == "RightArm")
    again = Builder(biped).remove(top).mirror(top.replace("Right", "Left")).skeleton
    assert set(again.names) == set(biped.names)
    rest, before = viewer.fk(again, again.relaxed_pose()), viewer.fk(biped, biped.relaxed_pose())
    for name in biped.names:
        np.testing.assert_allclose(
            rest.positions[again.index(name)], before.positions[biped.index(name)], atol=2e-3, err_msg=name
        )


def test_changes_keep_the_rest() -> None:
    builder = arm().rename("LeftElbow", "elbow_l").move("LeftWrist", (0.3, 0, 0), parent="elbow_l")
    skeleton = builder.skeleton
    assert skeleton.parents[skeleton.index("LeftWrist")] == skeleton.index("elbow_l")
    assert Builder(skeleton).remove("LeftShoulder").names == ("base",)
    assert not builder.remove("LeftGrip").skeleton.effectors
    changed = builder.change("elbow_l", kind="ball").skeleton
    assert changed.limits[changed.index("elbow_l")] is None
    assert changed.stiffness[changed.index("elbow_l")] == 0.2
    limited = builder.change("elbow_l", limits=JointLimits.swing_twist(0, (-1, 1), (0, 1), (0, 1))).skeleton
    assert limited.limits[limited.index("elbow_l")] is not None
    assert builder.change("elbow_l", limits=None).skeleton.limits[limited.index("elbow_l")] is None


def test_parents_may_come_later_and_effectors_follow_their_joint() -> None:
    skeleton = (
        Builder().add("root").add("a", "root").add("b", "root").effector("a").move("a", (0, 1, 0), parent="b")
        .rename("a", "c").skeleton
    )  # fmt: skip
    assert skeleton.names == ("root", "b", "c")
    assert [(e.name, e.joint) for e in skeleton.effectors] == [("c", 2)]


def test_named_poses_follow_joints() -> None:
    biped = viewer.load("sample:biped").skeleton
    if "relaxed" not in biped.poses:
        biped = viewer.load("sample:chain-4").skeleton
    gone = Builder(biped).remove(biped.names[-1]).skeleton
    np.testing.assert_array_equal(gone.poses["relaxed"].rotations, biped.poses["relaxed"].rotations[:-1])
    more = Builder(biped).add("extra", biped.names[-1], (0, 0.1, 0)).skeleton
    np.testing.assert_array_equal(more.poses["relaxed"].translations[-1], (0, 0.1, 0))


def test_what_is_built_saves_and_solves(tmp_path: Path) -> None:
    both = arm().mirror("LeftShoulder").skeleton
    viewer.save(viewer.Character(both), tmp_path / "r.json")
    same_skeleton(viewer.load(tmp_path / "r.json").skeleton, both)
    goal = viewer.fk(both, viewer.project_pose(both, pose_at(both, np.full(both.dof, 0.2)))).point(
        both.effectors[1].joint, np.array(both.effectors[1].offset)
    )
    solution = viewer.Solver(both, [viewer.Goal.position("RightGrip", goal)]).solve(both.rest_pose())
    assert solution.status == "converged"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b.add("LeftElbow", "base"), 'builder: there is a joint "LeftElbow" already'),
        (lambda b: b.add("x", "LeftElbo"), 'builder: no joint "LeftElbo".*LeftElbow'),
        (lambda b: b.add("x", "base", (1, 2)), r'builder: offset of "x": expected shape \(3,\), found \(2,\)'),
        (lambda b: b.add("x", "base", kind="free"), 'builder: kind of "x": expected free on roots only'),
        (lambda b: b.add("x", "base", kind="hing"), 'builder: kind of "x": expected one of "ball", "hinge"'),
        (lambda b: b.add("x", "base", kind="hinge"), 'builder: axis of "x": expected one, .x, y, z., found 0'),
        (lambda b: b.add("x", "base", axis=(1, 0, 0)), 'builder: axis of "x": expected none: a ball joint has no axis'),
        (lambda b: b.add("x", "base", kind="hinge", axis=(1, 0, 0), limits=(90, 0)), 'builder: limits of "x": .*lower'),
        (lambda b: b.add("x", "base", kind="hinge", axis=(1, 0, 0), limits=(0, 90)), 'limits of "x": .*degrees'),
        (lambda b: b.add("x", "base", limits=(0, 1)), 'limits of "x": expected three ranges of a ball'),
        (lambda b: b.add("x", "base", limits=[0, 1, 2]), 'limits of "x": expected pairs'),
        (lambda b: b.add("x", "base", stiffness=2), 'builder: stiffness of "x": expected 0 to 1, found 2'),
        (lambda b: b.add("x", "base", rotation=(0, 0, 0, 2)), 'builder: rotation of "x": expected a unit quaternion'),
        (lambda b: b.add(3), "builder: joint name: expected text"),
        (lambda b: b.remove("nothing"), 'builder: no joint "nothing"'),
        (lambda b: b.rename("base", "LeftElbow"), 'builder: there is a joint "LeftElbow" already'),
        (lambda b: b.move("LeftShoulder", (0, 0, 0), parent="LeftWrist"), '"LeftWrist" hangs on "LeftShoulder"'),
        (lambda b: b.effector("hand"), 'builder: no joint "hand"'),
        (lambda b: b.effector("hand", "base", goal="up"), 'builder: goal of "hand": expected one of "position"'),
        (lambda b: b.mirror("base"), 'builder: mirror: expected a name with a side such as LeftArm, found "base"'),
        (lambda b: b.mirror("LeftShoulder").mirror("LeftShoulder"), 'there is a joint "RightShoulder" already'),
        (lambda b: b.mirror("LeftShoulder", across="w"), 'builder: across: expected "x", "y" or "z"'),
    ],
)
def test_a_wrong_change_is_refused_and_changes_nothing(change: Callable[[Any], object], message: str) -> None:
    builder = arm()
    before = builder.skeleton
    with pytest.raises(viewer.InputError, match=message):
        change(builder)
    assert builder.names[: len(before)] == before.names
    if "mirror" not in message and "RightShoulder" not in message:
        same_skeleton(builder.skeleton, before)


def test_an_empty_builder_has_no_skeleton() -> None:
    with pytest.raises(viewer.InputError, match="builder: a skeleton needs at least one joint: add one"):
        _ = Builder().skeleton
    assert repr(arm()) == '<Builder "robot": 5 joints>'
