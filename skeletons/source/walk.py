"""The walk of the biped: two strides on a level floor towards +Z, that repeat but for the way they go.

Natural cadence after D. A. Winter, "The biomechanics and motor control of human gait": 105 steps a minute, strides of
1.5 m, so 1.32 m/s. Feet are planned (`footfall`), the pelvis rides above them, the legs follow in closed form (`legs`).
Height and pace of the pelvis are fitted so that the knees do what knees do: bend 20 degrees under load, nearly
straighten, and bend 60 in the swing (mean of M. H. Schwartz et al., J. Biomechanics 41, 2008). Its turn, drop and sway:
J. Perry, "Gait analysis". Arms: M. P. Murray et al., Am. J. Physical Medicine 46 (1967). The right side does what the
left does half a cycle later.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from biped import HIP_WIDTH, ROOT_ABOVE_HIPS, biped
from bvh_text import bvh_text
from curves import turn, turns, wave
from footfall import footfall
from legs import solved_leg

from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate, slerp

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

FRAMES_PER_STRIDE, STRIDES = 34, 2
FRAME_TIME = "0.0333333"
STRIDE = 1.5
STEP_WIDTH = 0.1
TOE_OUT = 7.0

PELVIS_HEIGHT, BEHIND_HEEL = 0.9412, 0.28
"""Of the root on average: above the floor, and behind the heel that strikes."""

SPINE_SHARES = {"Spine": 0.25, "Spine1": 0.35, "Spine2": 0.40}
LEAN = 4.0

Motion = dict[str, "Floats"]


def walk_text() -> str:
    """The BVH file."""
    root, rotations = walk()
    return bvh_text(biped().joints, root, rotations, FRAME_TIME)


def walk() -> tuple[Floats, Motion]:
    """Root places (F, 3) in metres and local rotations (F, 4) by joint. Frame 0 is the left foot's heel strike."""
    left = np.arange(STRIDES * FRAMES_PER_STRIDE) / FRAMES_PER_STRIDE
    root, pelvis = _pelvis(left)
    motion: Motion = {"Hips": pelvis}
    thorax = _spine(motion, left, pelvis)
    _neck(motion, left, thorax)
    for side, sign, cycles in (("Left", 1.0, left), ("Right", -1.0, left + 0.5)):
        _arm(motion, side, sign, cycles)
        _leg(motion, side, sign, cycles, root, pelvis)
    return root, motion


def _pelvis(left: Floats) -> tuple[Floats, Floats]:
    """Place (F, 3) and rotation (F, 4): highest when a foot stands under it, fastest when both stand.

    It sways towards the standing foot, turns the striking side forward and drops on the side that swings.
    """
    height = PELVIS_HEIGHT + wave(left, 0.0165, 0.28, 2) + wave(left, 0.0013, -0.04, 4)
    ahead = STRIDE * left - BEHIND_HEEL + wave(left, 0.012, 0.06, 2)
    place = np.stack([wave(left, 0.018, 0.30), height, ahead], axis=-1)
    return place, turns(
        ("y", wave(left, -5.0, 0.0)), ("z", wave(left, 4.0, 0.13)), ("x", 1.0 + wave(left, 1.0, 0.04, 2))
    )


def _spine(motion: Motion, left: Floats, pelvis: Floats) -> Floats:
    """The trunk undoes the pelvis' drop and turns against it; returns its world rotation (F, 4)."""
    yaw = wave(left, 4.0, 0.02) - wave(left, -5.0, 0.0)
    drop = wave(left, -1.0, 0.13) - wave(left, 4.0, 0.13)
    lean = LEAN + wave(left, 1.0, 0.10, 2) - 1.0 - wave(left, 1.0, 0.04, 2)
    thorax = pelvis
    for name, share in SPINE_SHARES.items():
        motion[name] = turns(("y", share * yaw), ("z", share * drop), ("x", share * lean))
        thorax = multiply(thorax, motion[name])
    return thorax


def _neck(motion: Motion, left: Floats, thorax: Floats) -> None:
    """The head looks ahead; it nods a little against the bob, which keeps the eyes on one point."""
    head = turns(("y", wave(left, 0.8, 0.02)), ("x", 1.0 + wave(left, 1.2, 0.28, 2)))
    whole = multiply(conjugate(thorax), head)
    motion["Neck"] = slerp(IDENTITY, whole, 0.45)
    motion["Head"] = multiply(conjugate(motion["Neck"]), whole)


def _arm(motion: Motion, side: str, sign: float, cycles: Floats) -> None:
    """The arm is farthest forward when the other foot strikes; the elbow bends with it, a little late."""
    forward = wave(cycles, 18.0, 0.52)
    motion[f"{side}Shoulder"] = turns(("y", -sign * wave(cycles, 3.0, 0.52)), ("z", -sign * 4.0))
    hang = multiply(turn("x", -forward), turns(("z", -sign * 78.0), ("x", 14.0)))
    motion[f"{side}Arm"] = hang
    motion[f"{side}ForeArm"] = turn("y", -sign * (27.0 + wave(cycles, 11.0, 0.57)))
    motion[f"{side}Hand"] = turns(("z", sign * (4.0 + wave(cycles, 4.0, 0.70))), ("x", np.full_like(cycles, 20.0)))


def _leg(motion: Motion, side: str, sign: float, cycles: Floats, root: Floats, pelvis: Floats) -> None:
    """The leg from the hip to the planned foot; cycles run from a heel strike at z = 0 of the left foot."""
    foot = footfall(cycles, STRIDE, 0.5 * sign * STEP_WIDTH, sign * TOE_OUT)
    # The right foot's cycle 0 began half a stride before the left one's.
    start = np.array([0.0, 0.0, 0.0 if sign > 0 else -0.5 * STRIDE])
    hip = root + rotate(pelvis, np.array([sign * HIP_WIDTH, -ROOT_ABOVE_HIPS, 0.0]))
    leg = solved_leg(pelvis, hip, foot.ankle + start, foot.rotation, sign * TOE_OUT)
    motion[f"{side}UpLeg"], motion[f"{side}Leg"] = leg.thigh, leg.shank
    motion[f"{side}Foot"], motion[f"{side}ToeBase"] = leg.foot, turn("x", -foot.toe_bend)
