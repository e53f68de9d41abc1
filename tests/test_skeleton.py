"""The skeleton and pose as values: their structure is checked once, their arrays cannot be changed."""

from __future__ import annotations

import re
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from inside.skeleton import default_twist_axis, depth_first, unique_names
from strategies import quickly, random_pose, random_skeleton, seeds, skeletons

from viewer.errors import InputError
from viewer.skeleton import JointKind, Pose, Skeleton

FIGURE = random_skeleton(3, 5)
FIRST = "expected each parent before its children and -1 for roots"


@quickly
@given(skeletons())
def test_a_skeleton_counts_its_joints_roots_and_dofs(skeleton: Skeleton) -> None:
    assert len(skeleton) == len(skeleton.names) == len(skeleton.parents)
    assert skeleton.roots.tolist() == [j for j, parent in enumerate(skeleton.parents) if parent == -1]
    assert skeleton.dof == sum(kind.dofs for kind in skeleton.kinds)
    assert [skeleton.index(name) for name in skeleton.names] == list(range(len(skeleton)))


def test_the_dofs_of_the_kinds() -> None:
    assert {kind.value: kind.dofs for kind in JointKind} == {
        "ball": 3, "hinge": 1, "universal": 2, "slide": 1, "fixed": 0, "free": 6,
    }  # fmt: skip


@pytest.mark.parametrize(
    "name", ["parents", "offsets", "rest_rotations", "axes", "stiffness", "tip_parents", "tip_offsets"]
)
def test_the_arrays_of_a_skeleton_cannot_be_changed_nor_can_its_makers(name: str) -> None:
    mine = np.array(getattr(FIGURE, name))
    changes: dict[str, Any] = {name: mine}
    value = getattr(replace(FIGURE, **changes), name)
    mine[...] = 7
    np.testing.assert_array_equal(value, getattr(FIGURE, name))
    with pytest.raises(ValueError, match="read-only"):
        value[...] = 0
    with pytest.raises(FrozenInstanceError):
        setattr(FIGURE, name, mine)


def test_poses_of_a_skeleton_cannot_be_added_to_afterwards() -> None:
    mine = {"relaxed": random_pose(0, FIGURE)}
    skeleton = replace(FIGURE, poses=mine)
    mine["other"] = skeleton.rest_pose()
    assert list(skeleton.poses) == ["relaxed"]
    with pytest.raises(TypeError, match="does not support item assignment"):
        skeleton.poses["third"] = skeleton.rest_pose()  # type: ignore[index]  # that it cannot is what is tested


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"names": ("a", "b", "a", "c", "d")}, 'joint names must be unique, found "a" twice'),
        ({"parents": [-1, 0, 2, 1, 1]}, f'skeleton parents of "joint_2": {FIRST}, found 2 for joint 2'),
        ({"parents": [-1, 0, -2, 1, 1]}, f'skeleton parents of "joint_2": {FIRST}, found -2 for joint 2'),
        ({"parents": np.array([-1, 0])}, "skeleton parents: expected shape (5,), found (2,)"),
        ({"offsets": np.zeros((5, 2))}, "skeleton offsets: expected shape (5, 3), found (5, 2)"),
        ({"rest_rotations": np.zeros((4, 4))}, "skeleton rest_rotations: expected shape (5, 4), found (4, 4)"),
        ({"axes": np.zeros((5, 3))}, "skeleton axes: expected shape (5, 2, 3), found (5, 3)"),
        ({"stiffness": np.zeros(6)}, "skeleton stiffness: expected shape (5,), found (6,)"),
        ({"kinds": (JointKind.BALL,)}, "skeleton kinds: expected 5, one of each joint, found 1"),
        ({"limits": (None,) * 4}, "skeleton limits: expected 5, one of each joint, found 4"),
        ({"tip_parents": np.array([0, 5])}, "skeleton tip_parents: expected joint indices, ascending"),
        ({"tip_parents": np.array([2, 1])}, "skeleton tip_parents: expected joint indices, ascending"),
        ({"tip_parents": np.array([-1, 1])}, "skeleton tip_parents: expected joint indices, ascending"),
        ({"tip_offsets": np.zeros((3, 3))}, "skeleton tip_offsets: expected shape (2, 3), found (3, 3)"),
        ({"names": ()}, "a skeleton needs at least one joint"),
    ],
)
def test_what_is_no_tree_is_refused(changes: dict[str, Any], message: str) -> None:
    tips = {"tip_parents": np.array([1, 1]), "tip_offsets": np.zeros((2, 3))}
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        replace(FIGURE, **{**tips, **changes})


def test_a_joint_that_is_not_there_is_answered_with_near_names() -> None:
    skeleton = replace(FIGURE, names=("Hips", "LeftHand", "RightHand", "Head", "Spine"))
    with pytest.raises(InputError, match=r'^no joint "LeftHnad"; did you mean "LeftHand"\?$'):
        skeleton.index("LeftHnad")
    with pytest.raises(
        InputError, match=r'^no joint "xyz"; there is "Hips", "LeftHand", "RightHand", "Head", "Spine"$'
    ):
        skeleton.index("xyz")


def test_end_sites_are_named_after_their_joint_and_numbered_from_the_second() -> None:
    skeleton = replace(FIGURE, tip_parents=np.array([1, 1, 3, 3, 3]), tip_offsets=np.ones((5, 3)))
    names = ("joint_1.tip", "joint_1.tip2", "joint_3.tip", "joint_3.tip2", "joint_3.tip3")
    assert skeleton.tip_names == names


def test_the_relaxed_pose_is_the_files_own_else_the_rest_pose() -> None:
    assert FIGURE.rest_pose().same_as(Pose(FIGURE.rest_rotations, FIGURE.offsets))
    assert FIGURE.relaxed_pose().same_as(FIGURE.rest_pose())
    relaxed = random_pose(0, FIGURE)
    assert replace(FIGURE, poses={"relaxed": relaxed}).relaxed_pose() is relaxed


def test_a_pose_cannot_be_changed_and_knows_its_equal() -> None:
    rotations, translations = np.array([[0.0, 0.0, 0.0, 1.0]]), np.zeros((1, 3))
    pose = Pose(rotations, translations)
    assert pose.same_as(Pose(rotations, translations))
    assert not pose.same_as(Pose(-rotations, translations))
    rotations[0, 0] = translations[0, 0] = 5.0
    np.testing.assert_array_equal(pose.rotations, [[0.0, 0.0, 0.0, 1.0]])
    for array in (pose.rotations, pose.translations):
        with pytest.raises(ValueError, match="read-only"):
            array[0, 0] = 1.0


@pytest.mark.parametrize(
    ("rotations", "translations", "message"),
    [
        (
            [[0, 0, 0, 2]],
            [[0, 0, 0]],
            "pose rotations of joint 0: expected a unit quaternion (x, y, z, w), found length 2",
        ),
        ([[0, 0, 1]], [[0, 0, 0]], "pose rotations: expected shape (any, 4), found (1, 3)"),
        ([[0, 0, 0, 1]], [[0, 0, 0], [0, 0, 0]], "pose translations: expected shape (1, 3), found (2, 3)"),
        ([[0, 0, 0, 1]], [[0, np.inf, 0]], "pose translations of joint 0: expected finite numbers, found inf"),
        ([[0, 0, 0, np.nan]], [[0, 0, 0]], "pose rotations of joint 0: expected finite numbers, found nan"),
    ],
)
def test_a_pose_from_outside_is_checked(rotations: Any, translations: Any, message: str) -> None:  # noqa: ANN401
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Pose(rotations, translations)


def test_a_pose_from_outside_is_normalised_and_one_of_wrong_shape_refused() -> None:
    np.testing.assert_array_equal(Pose(np.array([[0, 0, 0, 1.0005]]), np.ones((1, 3))).rotations, [[0, 0, 0, 1]])
    message = "pose translations: expected shape (2, 3), found (1, 3)"
    with pytest.raises(InputError, match=f"^{re.escape(message)}$"):
        Pose(np.zeros((2, 4)), np.zeros((1, 3)))


@given(seeds, st.integers(1, 30))
def test_depth_first_visits_every_joint_once_with_its_whole_subtree_together(seed: int, count: int) -> None:
    skeleton = random_skeleton(seed, count)
    order = depth_first(skeleton)
    assert sorted(order) == list(range(count))
    place = {joint: i for i, joint in enumerate(order)}
    size = [1] * count
    for joint in reversed(range(count)):
        if (parent := skeleton.parents[joint]) >= 0:
            size[parent] += size[joint]
            assert place[parent] < place[joint] < place[parent] + count
    for joint in range(count):
        subtree = order[place[joint] : place[joint] + size[joint]]
        assert all(other == joint or skeleton.parents[other] in subtree for other in subtree)
    siblings = [[j for j in order if skeleton.parents[j] == parent] for parent in range(-1, count)]
    assert all(row == sorted(row) for row in siblings)


@pytest.mark.parametrize(
    ("names", "unique", "said"),
    [
        (["a", "b"], ("a", "b"), []),
        (["a", "a", "a"], ("a", "a_2", "a_3"), ['3 joints are called "a": the others are now "a_2", "a_3"']),
        (
            ["a", "a", "a_2", "a", "a", "a"],
            ("a", "a_3", "a_2", "a_4", "a_5", "a_6"),
            ['5 joints are called "a": the others are now "a_3", "a_4", "a_5" and 1 more'],
        ),
        (
            ["a_2", "a", "a", "a_2"],
            ("a_2", "a", "a_3", "a_2_2"),
            ['2 joints are called "a_2": one is now "a_2_2"', '2 joints are called "a": one is now "a_3"'],
        ),
        (["a", "A", ""], ("a", "A", ""), []),
    ],
)
def test_names_that_repeat_get_the_first_free_number(
    names: list[str], unique: tuple[str, ...], said: list[str]
) -> None:
    assert unique_names(names) == (unique, said)


@given(st.lists(st.sampled_from(["a", "a_2", "a_3", "a_2_2", "b"]), max_size=12))
def test_unique_names_are_unique_and_first_ones_keep_theirs(names: list[str]) -> None:
    found, warnings = unique_names(names)
    assert len(set(found)) == len(names)
    assert len(warnings) == sum(names.count(name) > 1 for name in set(names))
    assert [found[names.index(name)] for name in names] == names


@pytest.mark.parametrize(
    ("direction", "axis"),
    [((0, 0, 0), 1), ((0, -2, 1), 1), ((-3, 2, 1), 0), ((0, 0, 1e-300), 2), ((1, 1, 1), 0), ((0, 1, -1), 1)],
)
def test_a_joint_twists_about_the_axis_nearest_to_its_bone(direction: tuple[float, ...], axis: int) -> None:
    assert default_twist_axis(direction) == axis
