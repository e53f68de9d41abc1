"""The biped: an adult of 1.75 m in a T-pose, palms down; also what `hands` and `walk` build on.

Lengths are fractions of body height. Of legs, feet, hands and heights: R. Drillis and R. Contini, "Body segment
parameters" (New York University, 1966), as tabulated in D. A. Winter, "Biomechanics and motor control of human
movement". Of the arms, between joint centres: P. de Leva, J. Biomechanics 29 (1996).
Ranges of motion: AAOS, "Joint motion: method of measuring and recording" (1965); of the neck the AMA's "Guides to the
evaluation of permanent impairment"; of knee, ankle and collar bone I. A. Kapandji, "The physiology of the joints", and
C. C. Norkin and D. J. White, "Measurement of joint motion".
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import Effector, Joint, Sample, X, ball, both_sides, hinge

if TYPE_CHECKING:
    from model import Coordinates

HEIGHT = 1.75

UPPER_ARM, FOREARM, HAND = (round(part * HEIGHT, 4) for part in (0.162, 0.1545, 0.108))
THIGH, SHANK, ANKLE = (round(part * HEIGHT, 4) for part in (0.245, 0.246, 0.039))
"""The last is the height of the ankle above the sole."""
HEEL, BALL, TOES = (round(part * HEIGHT, 4) for part in (0.038, 0.0714, 0.0426))
"""Along the foot: the heel behind the ankle, the ball before it, the toes; together the foot length of 0.152."""
BALL_HEIGHT = 0.02
HIP_WIDTH = 0.0875
"""From the middle to a hip joint's centre, metres."""
ROOT_ABOVE_HIPS = 0.04

# Arms along +-X and legs along -Y: about x the left and the right turn alike, about y and z oppositely.
# Left arm: z lifts it, -y brings it forward, -x turns it outward (the forearm, bent forward, goes up).
# Leg: -x lifts it forward; left: z takes it outward, y turns the toes outward. Trunk: x bends it forward.


def biped() -> Sample:
    """The body with hands that end in one fingertip each."""
    return Sample("biped", tuple(body(hand_tips=True)), effectors(), relaxed(), planted="LeftFoot")


def body(*, hand_tips: bool) -> list[Joint]:
    """All joints from the hips to the hands, parents first."""
    return [*_trunk(), *both_sides([*_left_arm(hand_tips=hand_tips), *_left_leg()])]


def effectors() -> tuple[Effector, ...]:
    """Hands and head hold their places, feet also their turn; toes wait until they are touched."""
    feet = [Effector(f"{side}Foot", f"{side}Foot", goal="position+rotation") for side in ("Left", "Right")]
    toe_tip = (0.0, -BALL_HEIGHT, TOES)
    toes = [Effector(f"{side}Toes", f"{side}ToeBase", toe_tip, "off") for side in ("Left", "Right")]
    hands = [Effector(f"{side}Hand", f"{side}Hand") for side in ("Left", "Right")]
    return (*hands, *feet, Effector("Head", "Head"), *toes)


def relaxed() -> dict[str, Coordinates]:
    """Arms hanging, elbows, knees and thighs slightly bent, the trunk a little forward over the feet."""
    return {
        "Spine": (("x", 6.0),), "Spine1": (("x", 5.0),), "Spine2": (("x", 2.0),),
        "Neck": (("x", 2.0),), "Head": (("x", -13.0),),
        "LeftArm": (("z", -70.0),), "LeftForeArm": (25.0,),
        "LeftUpLeg": (("x", -15.0),), "LeftLeg": (20.0,), "LeftFoot": (("x", -5.0),),
    }  # fmt: skip


def _trunk() -> list[Joint]:
    """Flexion 80, extension 30, bend 35, rotation 45 over the spine; 50, 60, 45, 80 over the neck and head."""
    hips = THIGH + SHANK + ANKLE + ROOT_ABOVE_HIPS
    above_head = HEIGHT - (hips + 0.075 + 0.13 + 0.13 + 0.185 + 0.105)
    return [
        Joint("Hips", None, (0.0, hips, 0.0), "free"),
        ball("Spine", "Hips", (0.0, 0.075, -0.025), "y", (-14, 35), (-8, 8), (-12, 12), stiffness=0.4),
        ball("Spine1", "Spine", (0.0, 0.13, 0.005), "y", (-10, 28), (-17, 17), (-13, 13), stiffness=0.5),
        ball("Spine2", "Spine1", (0.0, 0.13, -0.015), "y", (-6, 17), (-20, 20), (-10, 10), stiffness=0.5),
        ball("Neck", "Spine2", (0.0, 0.185, 0.005), "y", (-30, 30), (-38, 38), (-30, 30), stiffness=0.3),
        ball("Head", "Neck", (0.0, 0.105, 0.025), "y", (-30, 20), (-42, 42), (-15, 15), stiffness=0.3,
             tips=((0.0, above_head, 0.01),)),
    ]  # fmt: skip


def _left_arm(*, hand_tips: bool) -> list[Joint]:
    """Collar bone 30 up of the shoulder's 180, the rest in the arm; forearm turn of 80 each way in the hand."""
    tips = ((HAND, 0.0, 0.0),) if hand_tips else ()
    return [
        ball("LeftShoulder", "Spine2", (0.025, 0.115, 0.06), "x", (-10, 10), (-20, 15), (-10, 30), stiffness=0.6),
        ball("LeftArm", "LeftShoulder", (0.16, 0.0, -0.035), "x", (-90, 70), (-135, 60), (-100, 60)),
        hinge("LeftForeArm", "LeftArm", (UPPER_ARM, 0.0, 0.0), (0.0, -1.0, 0.0), (0, 150)),
        ball("LeftHand", "LeftForeArm", (FOREARM, 0.0, 0.0), "x", (-80, 80), (-20, 30), (-80, 70), stiffness=0.3,
             tips=tips),
    ]  # fmt: skip


def _left_leg() -> list[Joint]:
    """Hip 120 and 30, knee 140, ankle 50 down and 30 up, toes 70 up."""
    toe_tip = (0.0, -BALL_HEIGHT, TOES)
    return [
        ball("LeftUpLeg", "Hips", (HIP_WIDTH, -ROOT_ABOVE_HIPS, 0.0), "y", (-120, 30), (-45, 45), (-30, 45)),
        hinge("LeftLeg", "LeftUpLeg", (0.0, -THIGH, 0.0), X, (0, 140)),
        ball("LeftFoot", "LeftLeg", (0.0, -SHANK, 0.0), "z", (-30, 50), (-20, 15), (-35, 15), stiffness=0.2,
             tips=((0.0, -ANKLE, -HEEL),)),
        hinge("LeftToeBase", "LeftFoot", (0.0, BALL_HEIGHT - ANKLE, BALL), (-1.0, 0.0, 0.0), (-40, 70),
              stiffness=0.8, tips=(toe_tip,)),
    ]  # fmt: skip
