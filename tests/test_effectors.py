"""Effectors are found by name, else at the leaves; a goal's name finds an effector, a joint or an end site."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from inside.skeleton import MOST_LEAVES, find_effectors
from strategies import random_skeleton

from viewer.errors import InputError
from viewer.skeleton import Effector, EffectorGoal, JointKind, effector_of

CMU_LEG = "{0}UpLeg > {0}Leg > {0}Foot > {0}ToeBase"
CMU_ARM = "{0}Arm > {0}ForeArm > {0}Hand > {0}FingerBase > {0}HandIndex1"


def branches(*lines: str) -> tuple[tuple[str, ...], list[int]]:
    """Names and parents of branches such as "Hips > Spine > Head": the first name of a line stands already."""
    names: list[str] = []
    parents: list[int] = []
    for line in lines:
        above = -1
        for name in line.split(" > "):
            if name not in names:
                names.append(name)
                parents.append(above)
            above = names.index(name)
    return tuple(names), parents


def found(names: tuple[str, ...], parents: list[int]) -> tuple[Effector, ...]:
    """What is found where every leaf has an end site."""
    tips = np.array([joint for joint in range(len(names)) if joint not in parents])
    return find_effectors(names, np.array(parents), tips, np.tile([0.0, 0.1, 0.0], (len(tips), 1)))


def switched_on(effectors: tuple[Effector, ...]) -> list[str]:
    return [e.name for e in effectors if e.goal is not EffectorGoal.OFF]


def test_the_cmu_skeleton_has_hands_feet_and_head_on_and_fingers_and_toes_off() -> None:
    sides = ("Left", "Right")
    legs = [f"Hips > {side[0]}HipJoint > " + CMU_LEG.format(side) for side in sides]
    arms = [f"Spine1 > {side}Shoulder > " + CMU_ARM.format(side) for side in sides]
    thumbs = [f"{side}Hand > {side[0]}Thumb" for side in sides]
    names, parents = branches(*legs, "Hips > LowerBack > Spine > Spine1 > Neck > Neck1 > Head", *arms, *thumbs)
    assert len(names) == 31
    effectors = found(names, parents)
    assert switched_on(effectors) == ["LeftHand", "RightHand", "LeftFoot", "RightFoot", "Head"]
    assert all(e.name == names[e.joint] and e.offset == (0, 0, 0) for e in effectors[:5])
    assert {e.goal for e in effectors[:5]} == {EffectorGoal.POSITION}
    off = {e.name: (names[e.joint], e.offset) for e in effectors[5:]}
    assert set(off) == {
        "LeftToeBase.tip", "RightToeBase.tip", "LeftHandIndex1.tip", "RightHandIndex1.tip", "LThumb.tip", "RThumb.tip",
    }  # fmt: skip
    assert off["LThumb.tip"] == ("LThumb", (0.0, 0.1, 0.0))


@pytest.mark.parametrize(
    ("hand", "foot", "head"),
    [
        ("mixamorig:{Side}Hand", "mixamorig:{Side}Foot", "mixamorig:Head"),
        ("hand.{S}", "foot.{S}", "head"),
        ("hand_{s}", "foot_{s}", "head"),
        ("{S}_Hand", "{S}_Foot", "Head"),
        ("Hand_{S}", "Foot_{S}", "Head"),
        ("{Side}Wrist", "{Side}Ankle", "Head"),
        ("{S}Wrist", "{S}Ankle", "Head"),
        ("{side}_wrist", "{side}_ankle", "head"),
        ("Bip01 {S} Hand", "Bip01 {S} Foot", "Bip01 Head"),
        ("J_Bip_{S}_Hand", "J_Bip_{S}_Foot", "J_Bip_C_Head"),
        ("{SIDE}HAND", "{SIDE}FOOT", "HEAD"),
        ("{Side}Hand", "{Side}Paw", "Head"),
    ],
)
def test_hands_feet_and_head_are_found_in_every_convention(hand: str, foot: str, head: str) -> None:
    def named(style: str, side: str) -> str:
        return style.format(Side=side.title(), side=side, SIDE=side.upper(), S=side[0].upper(), s=side[0])

    names, parents = branches(
        f"Hips > {named(foot, 'right')} > toe_end_r", f"Hips > {named(foot, 'left')} > toe_end_l",
        f"Hips > Spine > {head}",
        f"Hips > Spine > {named(hand, 'right')}", f"Hips > Spine > {named(hand, 'left')}",
    )  # fmt: skip
    wanted = [named(hand, "left"), named(hand, "right"), named(foot, "left"), named(foot, "right"), head]
    assert switched_on(found(names, parents)) == wanted


def test_where_both_are_there_hands_and_feet_are_taken_and_wrists_and_ankles_left() -> None:
    names, parents = branches(
        "Pelvis > L_Hip > L_Knee > L_Ankle > L_Foot", "Pelvis > R_Hip > R_Knee > R_Ankle > R_Foot",
        "Pelvis > Spine1 > Neck > Head", "Spine1 > L_Elbow > L_Wrist > L_Hand", "Spine1 > R_Elbow > R_Wrist > R_Hand",
    )  # fmt: skip
    assert switched_on(found(names, parents)) == ["L_Hand", "R_Hand", "L_Foot", "R_Foot", "Head"]


def test_controls_and_end_markers_are_passed_over() -> None:
    names, parents = branches(
        "root > ik_hand_root > ik_hand_l", "root > ik_foot_root > ik_foot_l", "root > pelvis > foot_l > ball_l",
        "root > pelvis > spine > hand_l > index_01_l", "root > pelvis > spine > head > HeadTop_End",
    )  # fmt: skip
    effectors = found(names, parents)
    assert switched_on(effectors) == ["hand_l", "foot_l", "head"]
    assert [e.name for e in effectors[3:]] == ["ball_l.tip", "index_01_l.tip"]


def test_the_one_nearest_to_the_root_is_taken() -> None:
    names, parents = branches("Hips > Head > Head2 > LeftHand > LeftHand_2")
    assert switched_on(found(names, parents)) == ["LeftHand", "Head"]


def test_tails_and_claws_are_listed_but_off() -> None:
    names, parents = branches("body > head", "body > tail_1 > tail_2", "body > claw_a", "body > wing")
    effectors = found(names, parents)
    assert switched_on(effectors) == ["head"]
    assert [e.name for e in effectors[1:]] == ["tail_2.tip", "claw_a.tip"]


@pytest.mark.parametrize("leaves", [1, 3, MOST_LEAVES, MOST_LEAVES + 5])
def test_without_names_every_leaf_is_on_up_to_twelve(leaves: int) -> None:
    names, parents = branches(*(f"bone > bone_{n}_a > bone_{n}_b" for n in range(leaves)))
    effectors = found(names, parents)
    assert [e.name for e in effectors] == [f"bone_{n}_b.tip" for n in range(leaves)]
    assert switched_on(effectors) == [e.name for e in effectors[:12]]


def test_leaves_are_end_sites_joints_without_them_and_joints_whose_end_site_has_no_length() -> None:
    names = ("root", "middle", "bare", "short", "several")
    parents, tips = np.array([-1, 0, 1, 1, 1]), np.array([1, 3, 4, 4, 4])
    offsets = np.array([[1.0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 2.0, 0], [0, 0, 3.0]])
    effectors = find_effectors(names, parents, tips, offsets)
    assert [(e.name, e.joint, e.offset) for e in effectors] == [
        ("middle.tip", 1, (1, 0, 0)), ("bare", 2, (0, 0, 0)), ("short", 3, (0, 0, 0)),
        ("several", 4, (0, 0, 0)), ("several.tip2", 4, (0, 2, 0)), ("several.tip3", 4, (0, 0, 3)),
    ]  # fmt: skip
    skeleton = replace(
        random_skeleton(0, 5, [JointKind.BALL]),
        names=names,
        parents=parents,
        tip_parents=tips,
        tip_offsets=offsets,
        effectors=effectors,
    )
    for effector in effectors:
        place = effector_of(replace(skeleton, effectors=()), effector.name)
        assert (place.joint, place.offset) == (effector.joint, effector.offset)


def test_a_place_is_an_effector_else_a_joint_else_an_end_site() -> None:
    skeleton = replace(
        random_skeleton(0, 4, [JointKind.BALL]),
        names=("root", "hand", "hand.tip", "Foot"),
        parents=np.array([-1, 0, 0, 0]),
        tip_parents=np.array([1, 1, 3]),
        tip_offsets=np.array([[1.0, 0, 0], [2.0, 0, 0], [3.0, 0, 0]]),
        effectors=(Effector("hand", 3, (0.0, 0.5, 0.0), EffectorGoal.POSE), Effector("grip", 1)),
    )
    assert effector_of(skeleton, "hand") is skeleton.effectors[0]
    assert effector_of(skeleton, "grip") is skeleton.effectors[1]
    assert effector_of(skeleton, "root") == Effector("root", 0)
    assert effector_of(skeleton, "hand.tip") == Effector("hand.tip", 2)
    assert effector_of(skeleton, "hand.tip2") == Effector("hand.tip2", 1, (2.0, 0.0, 0.0))
    assert effector_of(skeleton, "Foot.tip") == Effector("Foot.tip", 3, (3.0, 0.0, 0.0))
    with pytest.raises(
        InputError, match=r'^no effector, joint or tip "foot"; did you mean "Foot" or "root" or "Foot.tip"\?$'
    ):
        effector_of(skeleton, "foot")
    there = '"hand", "grip", "root", "hand.tip", "Foot", "hand.tip2", "Foot.tip"'
    with pytest.raises(InputError, match=f'^no effector, joint or tip "zzz"; there is {re.escape(there)}$'):
        effector_of(skeleton, "zzz")


def test_the_words_of_the_skeleton_file() -> None:
    assert [goal.value for goal in EffectorGoal] == ["position", "rotation", "position+rotation", "off"]
