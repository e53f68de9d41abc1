"""Side and part of the body out of a joint's name, in the conventions that files use."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st
from inside.skeleton import PARTS, BodyPart, body_part


@pytest.mark.parametrize(
    "name",
    [
        "LeftHand", "lefthand", "LEFTHAND", "leftHand", "LEFT_HAND", "left_hand", "Left Hand", "hand_left", "HandLeft",
        "LHand", "lHand", "lhand", "LHAND", "L_Hand", "l_hand", "Hand_L", "hand_l", "hand.L", "Hand.l", "L-Hand",
        "mixamorig:LeftHand", "mixamorig1:LeftHand", "a:b:LeftHand", "mixamorig_LeftHand", "Character1_LeftHand",
        "Bip01 L Hand", "Bip01_L_Hand", "ValveBiped.Bip01_L_Hand", "J_Bip_L_Hand", "CC_Base_L_Hand", "Armature|hand.L",
        "lft_hand", "Hand_Lt", "LeftHand1", "LeftPalm", "b_l_hand",
    ],
)  # fmt: skip
def test_the_left_hand_in_every_style(name: str) -> None:
    assert body_part(name) == BodyPart("left", "hand", helper=False)


SAID = {
    ("right", "foot"): "RightFoot RFOOT rgt_foot paw.R R_Hoof",
    ("left", "wrist"): "LeftWrist b_l_wrist LWrist wrist_l",
    ("right", "ankle"): "RightAnkle R_Ankle ankle.R RANKLE r_ank_pitch",
    ("", "head"): "Head head Bip01_Head mixamorig:Head J_Bip_C_Head HEAD",
    ("", "neck"): "Neck Neck1 neck_01",
    ("left", "finger"): "LeftHandIndex1 LThumb thumb_01_l LeftFingerBase left_foot_index LeftInHandIndex L_Pinky_1",
    ("right", "finger"): "f_pinky.01.R RightHandRing4 ring_02_r rthumb",
    ("left", "toe"): "LeftToeBase ball_l Toes_L ltoe LTOE LEFTTOEBASE",
    ("", "tail"): "tail_03 Tail",
    ("right", "claw"): "RightTalon claw_r",
    ("left", "elbow"): "LeftForeArm LEFTFOREARM fore_arm.L lowerarm_l LowerArm_L L_Elbow lforearm LeftLowArm",
    ("right", "knee"): "RightLeg RIGHTLEG leg.R calf_r shin.R LowerLeg_R rShin R_Knee RightLowLeg rleg",
    ("left", "upper leg"): "LeftUpLeg LEFTUPLEG thigh_l UpperLeg_L upper_leg.L thigh.L lthigh",
    ("left", "upper arm"): "upperarm_l UpperArm_L upper_arm.L",
    ("left", ""): "LHipJoint LeftShoulder LeftArm L_Collar left l lshoulder",
    ("", ""): "Hips Spine1 bone_001 lip eyeball Handle Football lattice 頭 root",
}


def test_side_and_part() -> None:
    for (side, part), names in SAID.items():
        for name in names.split():
            assert body_part(name) == BodyPart(side, part, helper=False), name


@pytest.mark.parametrize(
    "name",
    [
        "HeadTop_End", "LeftHandEnd", "head_nub", "ik_hand_l", "hand_ik.L", "foot_ctrl_R", "LeftForeArmTwist",
        "LeftLegRoll", "Bip01 HeadNub", "elbow_pole_l", "hand_tip_r", "Head Site",
    ],
)  # fmt: skip
def test_end_markers_controls_and_twist_bones_are_helpers(name: str) -> None:
    assert body_part(name).helper


@given(st.text(max_size=30))
def test_any_name_is_read(name: str) -> None:
    found = body_part(name)
    assert found.side in {"", "left", "right"}
    assert found.part in PARTS | {""}


@given(st.text(max_size=12), st.sampled_from(["LeftHand", "foot.R", "Head"]))
def test_what_stands_before_a_colon_is_not_looked_at(prefix: str, name: str) -> None:
    assert body_part(f"{prefix}:{name}") == body_part(name)


def test_left_and_right_are_mirror_images_in_every_style() -> None:
    styles = ("{Side}{Word}", "{side}_{word}", "{Word}_{S}", "{word}.{S}", "{S}{Word}", "{s}{word}", "{SIDE}{WORD}")
    for style, word in itertools.product(styles, ("hand", "foot", "knee", "elbow", "wrist", "ankle", "thigh", "toe")):
        for side in ("left", "right"):
            name = style.format(
                Side=side.title(), side=side, SIDE=side.upper(), S=side[0].upper(), s=side[0],
                Word=word.title(), word=word, WORD=word.upper(),
            )  # fmt: skip
            expected = {"thigh": "upper leg"}.get(word, word)
            assert body_part(name) == BodyPart(side, expected, helper=False), name
