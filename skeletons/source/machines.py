"""The machines, all ours: a claw on an arm, the planar two-link of the textbooks, and a crane with slides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from model import Effector, Joint, Sample, X, Y, Z, ball, hinge, slide
from posing import rotation_of_turns

from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from model import Coordinates, Turn, Vector

FORWARD_UP: Vector = (-1.0, 0.0, 0.0)
"""Axis of a hinge that turns +Z towards +Y, and +Y towards -Z."""

CLAW_TIP: Vector = (0.0, 0.05, -0.03)
FINGERS = {"a": 0.0, "b": 120.0, "c": 240.0}
"""Each finger of the claw and where it stands around the wrist: its frame is turned so that its +Z points outward."""


def claw_arm() -> Sample:
    """A fixed base, shoulder, elbow and wrist, and three fingers of three hinges each."""
    fingers = [joint for name in FINGERS for joint in _finger(name)]
    joints = (
        Joint("base", None, (0.0, 0.0, 0.0), "fixed"),
        ball("shoulder", "base", (0.0, 0.12, 0.0), "y", (-100, 100), (-170, 170), (-100, 100), stiffness=0.1),
        hinge("elbow", "shoulder", (0.0, 0.34, 0.0), X, (0, 150)),
        ball("wrist", "elbow", (0.0, 0.28, 0.0), "y", (-85, 85), (-175, 175), (-60, 60)),
        *fingers,
    )
    tips = [Effector(f"claw_{name}", f"finger_{name}3", CLAW_TIP) for name in FINGERS]
    wrist = Effector("wrist", "wrist", (0.0, 0.09, 0.0), "off")
    relaxed: dict[str, Coordinates] = {"shoulder": (("x", -20.0),), "elbow": (70.0,), "wrist": (("x", 45.0),)}
    for name in FINGERS:
        relaxed |= {f"finger_{name}1": (-5.0,), f"finger_{name}2": (10.0,), f"finger_{name}3": (15.0,)}
    return Sample("claw-arm", joints, (*tips, wrist), relaxed)


def _finger(name: str) -> list[Joint]:
    first, second, third = (f"finger_{name}{number}" for number in (1, 2, 3))
    around = FINGERS[name]
    rest: tuple[Turn, ...] = (("y", around),) if around else ()
    x, y, z = (float(c) for c in rotate(rotation_of_turns(rest), (0.0, 0.09, 0.03)))
    knuckle = Joint(first, "wrist", (x, y, z), "hinge", rest, (FORWARD_UP,), ((-30.0, 45.0),))
    return [
        knuckle,
        hinge(second, first, (0.0, 0.06, 0.045), FORWARD_UP, (-15, 60)),
        hinge(third, second, (0.0, 0.07, 0.0), FORWARD_UP, (-5, 60), tips=(CLAW_TIP,)),
    ]


def two_link() -> Sample:
    """Two hinges about z in the XY plane, links of 1.0 and 0.8 m along +X."""
    joints = (
        hinge("shoulder", None, (0.0, 0.0, 0.0), Z, (-180, 180)),
        hinge("elbow", "shoulder", (1.0, 0.0, 0.0), Z, (-160, 160), tips=((0.8, 0.0, 0.0),)),
    )
    tip = Effector("tip", "elbow", (0.8, 0.0, 0.0))
    return Sample("two-link", joints, (tip,), {"shoulder": (20.0,), "elbow": (60.0,)})


def piston() -> Sample:
    """A telescopic crane: turntable, a boom that luffs, two sections that slide out, a hook that slides down.

    The boom lies level along +Z at rest. The sheave at its end is a hinge that turns against the boom, so that the
    rope can hang plumb; its range covers all that the boom has.
    """
    joints = (
        Joint("base", None, (0.0, 0.0, 0.0), "fixed"),
        hinge("turntable", "base", (0.0, 1.1, 0.0), Y, (-180, 180)),
        hinge("boom", "turntable", (0.0, 0.9, -0.6), FORWARD_UP, (0, 78), stiffness=0.2),
        slide("section1", "boom", (0.0, 0.0, 3.2), Z, (0, 2.6)),
        slide("section2", "section1", (0.0, 0.0, 0.25), Z, (0, 2.4)),
        hinge("sheave", "section2", (0.0, 0.0, 0.25), X, (-10, 88), tips=((0.0, 0.15, 0.1),)),
        slide("hook", "sheave", (0.0, -0.4, 0.0), (0.0, -1.0, 0.0), (0, 6), tips=((0.0, -0.25, 0.0),)),
    )
    hook = Effector("hook", "hook", (0.0, -0.25, 0.0))
    end = Effector("boom_end", "section2", (0.0, 0.0, 0.25), "off")
    relaxed: dict[str, Coordinates] = {
        "turntable": (25.0,), "boom": (40.0,), "section1": (1.2,), "section2": (0.8,), "sheave": (40.0,), "hook": (1.5,)
    }  # fmt: skip
    return Sample("piston", joints, (hook, end), relaxed)
