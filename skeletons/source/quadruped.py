"""The quadruped: a dog of 0.6 m at the withers, standing.

Proportions lie between those of a Labrador and a shepherd. Ranges of the legs: G. Jaegger, D. J. Marcellin-Little and
D. Levine, Am. J. Veterinary Research 63 (2002), goniometry of Labradors; angles between the bones, flexed and extended:
shoulder 57, 165; elbow 36, 165; carpus 32, 196; hip 50, 162; stifle 42, 162; tarsus 39, 164.
Standing has 110, 140, 191, 115, 117 and 142 there, so the ranges below count from that. Trunk and tail: estimates.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import Effector, Joint, Sample, X, ball, both_sides, chain, hinge

if TYPE_CHECKING:
    from model import Coordinates

FORWARD_UP = (-1.0, 0.0, 0.0)
"""Axis of a hinge whose lower bone swings forward, as an elbow's and a hock's does; X is a knee's."""


def quadruped() -> Sample:
    """Four paws and the head hold; the tail waits."""
    paws = [f"{side}{end}Paw" for end in ("Front", "Hind") for side in ("Left", "Right")]
    effectors = (
        *(Effector(paw, paw) for paw in paws),
        Effector("Head", "Head"),
        Effector("Nose", "Head", NOSE, "off"),
        Effector("Tail", "Tail6", TAIL_STEP, "off"),
    )
    relaxed: dict[str, Coordinates] = {
        "Neck1": (("x", 14.0),), "Neck2": (("x", 10.0),), "Head": (("x", -16.0),), "Jaw": (3.0,),
        "Tail1": (("x", -22.0),), "Tail2": (("x", -12.0),), "Tail3": (("x", -6.0),),
        "Tail5": (("x", 10.0),), "Tail6": (("x", 12.0),),
    }  # fmt: skip
    joints = (*_trunk(), *both_sides([*_left_front_leg(), *_left_hind_leg()]))
    return Sample("quadruped", joints, effectors, relaxed)


NOSE = (0.0, -0.045, 0.175)
TAIL_STEP = (0.0, -0.022, -0.05)


def _trunk() -> list[Joint]:
    tail = chain("Tail", "Hips", ((0.0, 0.02, -0.10), TAIL_STEP), (-30, 30), (-30, 30), (-10, 10),
                 twist_axis="z", count=6)  # fmt: skip
    return [
        Joint("Hips", None, (0.0, 0.53, -0.24), "free"),
        ball("Spine", "Hips", (0.0, 0.025, 0.10), "z", (-15, 30), (-15, 15), (-10, 10), stiffness=0.4),
        ball("Spine1", "Spine", (0.0, 0.005, 0.13), "z", (-12, 25), (-15, 15), (-10, 10), stiffness=0.5),
        ball("Chest", "Spine1", (0.0, -0.005, 0.14), "z", (-10, 15), (-12, 12), (-10, 10), stiffness=0.5),
        ball("Neck1", "Chest", (0.0, 0.0, 0.15), "y", (-40, 60), (-30, 30), (-30, 30), stiffness=0.2),
        ball("Neck2", "Neck1", (0.0, 0.10, 0.085), "y", (-35, 45), (-30, 30), (-30, 30), stiffness=0.2),
        ball("Head", "Neck2", (0.0, 0.10, 0.06), "z", (-60, 50), (-40, 40), (-35, 35), stiffness=0.2, tips=(NOSE,)),
        hinge("Jaw", "Head", (0.0, -0.045, 0.02), X, (0, 40), stiffness=0.9, tips=((0.0, -0.035, 0.125),)),
        *tail,
    ]


def _left_front_leg() -> list[Joint]:
    """The shoulder blade slides on the ribs: a stiff ball at its upper end."""
    return [
        ball("LeftScapula", "Chest", (0.045, 0.045, 0.055), "y", (-22, 22), (-5, 5), (-8, 8), stiffness=0.5),
        ball("LeftUpperArm", "LeftScapula", (0.025, -0.13, 0.075), "y", (-55, 53), (-30, 30), (-15, 35)),
        hinge("LeftForeArm", "LeftUpperArm", (0.0, -0.125, -0.105), FORWARD_UP, (-25, 104)),
        hinge("LeftCarpus", "LeftForeArm", (0.0, -0.21, 0.0), X, (-5, 159)),
        hinge("LeftFrontPaw", "LeftCarpus", (0.0, -0.10, 0.02), FORWARD_UP, (-60, 60), stiffness=0.5,
              tips=((0.0, -0.035, 0.055),)),
    ]  # fmt: skip


def _left_hind_leg() -> list[Joint]:
    return [
        ball("LeftThigh", "Hips", (0.06, -0.03, -0.02), "y", (-65, 47), (-25, 25), (-15, 40)),
        hinge("LeftShank", "LeftThigh", (0.01, -0.177, 0.082), X, (-45, 75)),
        hinge("LeftHock", "LeftShank", (0.0, -0.158, -0.123), FORWARD_UP, (-22, 103)),
        hinge("LeftHindPaw", "LeftHock", (0.0, -0.13, 0.0), FORWARD_UP, (-60, 60), stiffness=0.5,
              tips=((0.0, -0.035, 0.055),)),
    ]  # fmt: skip
