"""The raptor: a two-legged dinosaur of the size of Deinonychus, 1.2 m high, with clawed feet and hands.

Proportions follow its build: femur shorter than shin, long straight tail, sickle claw on the inner toe. All ranges are
our estimates, made after birds: thighs that swing forward, knees and hocks that fold, a tail that is nearly stiff.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import Effector, Joint, Sample, X, ball, both_sides, chain, hinge

if TYPE_CHECKING:
    from model import Coordinates

FORWARD_UP = (-1.0, 0.0, 0.0)
"""Axis of a hinge whose lower bone swings forward and up; X is a knee's."""

SICKLE = (0.0, -0.04, 0.045)
SNOUT = (0.0, -0.03, 0.24)
TAIL_STEP = (0.0, -0.004, -0.15)


def raptor() -> Sample:
    """Feet and head hold; hands, the middle toes and the tail wait."""
    sides = ("Left", "Right")
    effectors = (
        *(Effector(f"{side}Foot", f"{side}Foot", goal="position+rotation") for side in sides),
        Effector("Head", "Head"),
        *(Effector(f"{side}Hand", f"{side}Hand", goal="off") for side in sides),
        *(Effector(f"{side}Sickle", f"{side}InnerToe2", SICKLE, "off") for side in sides),
        Effector("Tail", "Tail8", TAIL_STEP, "off"),
    )
    relaxed: dict[str, Coordinates] = {
        "LeftThigh": (("x", -7.0),), "LeftShank": (13.0,), "LeftHock": (11.0,), "LeftFoot": (("x", 5.0),),
        "Chest": (("x", -4.0),), "Neck1": (("x", 6.0),), "Neck3": (("x", -4.0),), "Head": (("x", 4.0),), "Jaw": (5.0,),
        "LeftUpperArm": (("x", 8.0),), "LeftForeArm": (15.0,), "LeftHand": (("x", 25.0),),
        "LeftFinger1": (20.0,), "LeftFinger2": (20.0,), "LeftFinger3": (20.0,),
        "Tail1": (("x", -5.0),), "Tail2": (("y", 4.0),), "Tail3": (("y", 4.0),), "Tail5": (("y", -5.0),),
        "Tail6": (("y", -5.0), ("x", 3.0)), "Tail7": (("x", 3.0),),
    }  # fmt: skip
    joints = (*_trunk(), *both_sides([*_left_leg(), *_left_arm()]))
    return Sample("raptor", joints, effectors, relaxed, planted="LeftMiddleToe2")


def _trunk() -> list[Joint]:
    tail = chain("Tail", "Hips", ((0.0, 0.03, -0.14), TAIL_STEP), (-12, 12), (-14, 14), (-6, 6),
                 twist_axis="z", count=8, stiffness=0.4)  # fmt: skip
    return [
        Joint("Hips", None, (0.0, 0.72, 0.0), "free"),
        ball("Spine", "Hips", (0.0, 0.03, 0.13), "z", (-10, 15), (-10, 10), (-8, 8), stiffness=0.6),
        ball("Chest", "Spine", (0.0, 0.015, 0.17), "z", (-10, 15), (-10, 10), (-8, 8), stiffness=0.6),
        ball("Neck1", "Chest", (0.0, 0.02, 0.16), "y", (-40, 50), (-25, 25), (-30, 30), stiffness=0.2),
        ball("Neck2", "Neck1", (0.0, 0.09, 0.09), "y", (-35, 40), (-25, 25), (-25, 25), stiffness=0.2),
        ball("Neck3", "Neck2", (0.0, 0.12, 0.035), "y", (-35, 40), (-25, 25), (-25, 25), stiffness=0.2),
        ball("Head", "Neck3", (0.0, 0.105, -0.005), "z", (-50, 50), (-45, 45), (-40, 40), stiffness=0.2,
             tips=(SNOUT, (0.0, 0.075, 0.05))),
        hinge("Jaw", "Head", (0.0, -0.035, 0.04), X, (0, 45), stiffness=0.9, tips=((0.0, -0.035, 0.18),)),
        *tail,
    ]  # fmt: skip


def _left_leg() -> list[Joint]:
    """Two toes on the ground, the inner one held up with its sickle claw."""
    toes: list[Joint] = []
    for name, spread in (("Middle", 0.0), ("Outer", 0.035)):
        first, second = f"Left{name}Toe1", f"Left{name}Toe2"
        toes += [
            hinge(first, "LeftFoot", (spread, -0.01, 0.03), FORWARD_UP, (-50, 60), stiffness=0.5),
            hinge(second, first, (0.5 * spread, -0.01, 0.085), FORWARD_UP, (-60, 50), stiffness=0.5,
                  tips=((0.4 * spread, -0.02, 0.07),)),
        ]  # fmt: skip
    return [
        ball("LeftThigh", "Hips", (0.085, -0.02, 0.02), "y", (-40, 55), (-25, 25), (-20, 30)),
        hinge("LeftShank", "LeftThigh", (0.015, -0.19, 0.19), X, (-45, 70)),
        hinge("LeftHock", "LeftShank", (0.0, -0.30, -0.17), FORWARD_UP, (-45, 85)),
        ball("LeftFoot", "LeftHock", (0.0, -0.17, 0.06), "z", (-60, 60), (-15, 15), (-20, 20), stiffness=0.2),
        *toes,
        hinge("LeftInnerToe1", "LeftFoot", (-0.03, -0.005, 0.025), FORWARD_UP, (-50, 50), stiffness=0.5),
        hinge("LeftInnerToe2", "LeftInnerToe1", (-0.01, 0.03, 0.055), FORWARD_UP, (-90, 30), stiffness=0.5,
              tips=(SICKLE,)),
    ]  # fmt: skip


def _left_arm() -> list[Joint]:
    """Folded; three clawed fingers that grip downwards and back."""
    fingers: list[Joint] = []
    for number, spread in ((1, -0.022), (2, 0.0), (3, 0.018)):
        first, second = f"LeftFinger{number}", f"LeftClaw{number}"
        fingers += [
            hinge(first, "LeftHand", (spread, -0.01, 0.045), X, (-20, 70)),
            hinge(second, first, (0.6 * spread, -0.01, 0.065), X, (-20, 80), tips=((0.0, -0.03, 0.04),)),
        ]
    return [
        ball("LeftUpperArm", "Chest", (0.075, -0.07, 0.11), "y", (-50, 70), (-35, 35), (-10, 70)),
        hinge("LeftForeArm", "LeftUpperArm", (0.025, -0.12, -0.09), FORWARD_UP, (-75, 40)),
        ball("LeftHand", "LeftForeArm", (0.0, -0.055, 0.13), "z", (-40, 60), (-45, 45), (-30, 30), stiffness=0.2),
        *fingers,
    ]
