"""Lending a rig: kinds, axes, limits, stiffness and effectors by joint name; motion and offsets stay."""

from __future__ import annotations

from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest
from inside.skeleton import UNLIMITED, limits_from_clip, with_rig
from strategies import random_clip, random_skeleton

from viewer.errors import InputError
from viewer.skeleton import Character, Effector, EffectorGoal, JointKind, JointLimits, Skeleton

KNEE = JointLimits.coordinates((0.0, 2.5))


def motion_file() -> Character:
    """Four joints as a BVH file has them, with limits from their clip."""
    skeleton = replace(
        random_skeleton(1, 4, [JointKind.BALL]),
        name="walk",
        names=("Hips", "Knee", "Foot", "Extra"),
        parents=np.array([-1, 0, 1, 0]),
        kinds=(JointKind.FREE, JointKind.BALL, JointKind.BALL, JointKind.BALL),
        limits=(None,) * 4,
        stiffness=np.zeros(4),
        effectors=(Effector("Foot", 2),),
    )
    clip = random_clip(2, skeleton, 5)
    limited = limits_from_clip(skeleton, clip)
    return Character(limited, MappingProxyType({"walk": clip}), warnings=("one",), limits_from="clip")


def a_rig() -> Skeleton:
    """A rig in another order, with a joint that the file does not have."""
    axes = np.zeros((4, 2, 3))
    axes[1, 0] = (1.0, 0.0, 0.0)
    return replace(
        random_skeleton(9, 4),
        name="biped",
        names=("Hips", "Knee", "Tail", "Foot"),
        parents=np.array([-1, 0, 0, 1]),
        kinds=(JointKind.FREE, JointKind.HINGE, JointKind.BALL, JointKind.BALL),
        axes=axes,
        limits=(None, KNEE, None, JointLimits.swing_twist(1, (-0.5, 0.5), UNLIMITED, (-0.1, 0.1))),
        stiffness=np.array([0.0, 0.25, 0.5, 0.75]),
        effectors=(
            Effector("tail", 2, (0.0, 1.0, 0.0)),
            Effector("heel", 3, (0.0, -0.1, 0.0), EffectorGoal.POSE),
            Effector("knee", 1, goal=EffectorGoal.OFF),
        ),
    )


def test_joints_of_the_same_name_are_lent_everything_and_the_others_lose_derived_limits() -> None:
    character, rig = motion_file(), a_rig()
    before, after = character.skeleton, with_rig(character, Character(rig)).skeleton
    assert after.kinds == (JointKind.FREE, JointKind.HINGE, JointKind.BALL, JointKind.BALL)
    assert after.limits == (None, KNEE, rig.limits[3], None)
    assert after.stiffness.tolist() == [0.0, 0.25, 0.75, 0.0]
    np.testing.assert_array_equal(after.axes, rig.axes[[0, 1, 3, 2]] * [[[1]], [[1]], [[1]], [[0]]])
    assert after.names == before.names
    for name in ("parents", "offsets", "rest_rotations", "tip_parents", "tip_offsets"):
        np.testing.assert_array_equal(getattr(after, name), getattr(before, name))


def test_effectors_come_along_where_their_joint_is_here() -> None:
    after = with_rig(motion_file(), Character(a_rig())).skeleton
    assert after.effectors == (
        Effector("heel", 2, (0.0, -0.1, 0.0), EffectorGoal.POSE),
        Effector("knee", 1, goal=EffectorGoal.OFF),
    )


@pytest.mark.parametrize("effectors", [(), (Effector("tail", 2),)])
def test_a_rig_without_any_effector_for_these_joints_leaves_the_files_own(effectors: tuple[Effector, ...]) -> None:
    after = with_rig(motion_file(), Character(replace(a_rig(), effectors=effectors))).skeleton
    assert after.effectors == (Effector("Foot", 2),)


def test_the_motion_stays_and_what_the_rig_has_beyond_the_file_is_told() -> None:
    character = motion_file()
    after = with_rig(character, Character(a_rig()))
    assert after.clips is character.clips
    assert after.warnings == ("one", "the rig's joints Tail are not in this file")
    assert after.limits_from == "file"
    assert character.limits_from == "clip"


def test_limits_of_the_files_own_stay_where_the_rig_does_not_know_the_joint() -> None:
    character = replace(motion_file(), limits_from="file")
    after = with_rig(character, Character(a_rig())).skeleton
    assert after.limits[3] is character.skeleton.limits[3]
    assert after.limits[1] is KNEE


def test_a_rig_without_limits_takes_the_derived_ones_away() -> None:
    bare = replace(a_rig(), limits=(None,) * 4)
    after = with_rig(motion_file(), Character(bare))
    assert after.skeleton.limits == (None,) * 4
    assert after.limits_from is None


def test_the_freedom_of_a_rigs_root_is_a_ball_below_the_root() -> None:
    rig = replace(a_rig(), names=("Knee", "Hips", "Tail", "Foot"), limits=(None,) * 4)
    after = with_rig(motion_file(), Character(rig)).skeleton
    assert after.kinds[:2] == (JointKind.HINGE, JointKind.BALL)


def test_a_rig_of_other_names_is_refused() -> None:
    rig = replace(a_rig(), names=("a", "b", "c", "d"))
    with pytest.raises(InputError, match=r"^the rig biped and walk have no joint name in common$"):
        with_rig(motion_file(), Character(rig))
