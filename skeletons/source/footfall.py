"""Where a foot is through a gait cycle: planted on heel, sole, ball and toes in turn, then swung forward.

A cycle runs from one heel strike (phase 0) to the same foot's next (phase 1). While the foot stands, its place follows
from its pitch alone, because the point it rolls over does not move: that is why it cannot slide. Pitches and the height
and pace of the swing are read off the walking subject in D. A. Winter, "Biomechanics and motor control of human
movement", table A.1 (right foot, frames 28 to 97), smoothed, rounded and fitted to the feet of the biped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from biped import ANKLE, BALL, BALL_HEIGHT, HEEL, TOES
from curves import through, turns

from viewer.spatial.quaternion import rotate

if TYPE_CHECKING:
    from viewer.spatial.checks import Floats

FLAT, TOE_OFF = 0.10, 0.61
"""Phases at which the whole sole is down, and at which the toes leave the ground."""

PITCH = {
    0.0: 22.0, 0.025: 14.5, 0.05: 7.5, 0.075: 2.5, FLAT: 0.0, 0.30: 0.0, 0.34: -1.0, 0.37: -2.8, 0.40: -5.3,
    0.435: -9.8, 0.465: -15.3, 0.495: -23.0, 0.52: -32.0, 0.55: -44.0, 0.58: -57.0, 0.61: -67.0, 0.64: -70.0,
    0.67: -66.0, 0.70: -59.0, 0.725: -50.0, 0.755: -40.0, 0.785: -29.0, 0.81: -18.0, 0.84: -7.0, 0.87: 3.0,
    0.90: 13.0, 0.93: 21.0, 0.96: 25.0, 0.985: 25.0, 1.0: 22.0,
}  # fmt: skip
"""Of the foot against the floor, degrees, toes up positive."""
TOE_ROLL = {0.0: 0.0, 0.52: 0.0, 0.55: -6.0, 0.58: -20.0, TOE_OFF: -40.0}
"""Of the toes against the floor while they bear: they roll over their tips at the end."""
STRIKE, ROLL_OFF = -300.0, -750.0
"""How fast the foot comes down at heel strike and the toes roll at toe-off, degrees per cycle."""
TOE_BEND = {TOE_OFF: 27.0, 0.67: 12.0, 0.75: 4.0, 0.90: 8.0, 1.0: 6.0, 1.0 + FLAT: 0.0}
"""Of the toes against the foot, up positive, from toe-off until they touch the floor again."""
SWING_PACE = {
    TOE_OFF: 0.0, 0.638: 0.042, 0.667: 0.101, 0.696: 0.176, 0.725: 0.262, 0.754: 0.354, 0.783: 0.451, 0.812: 0.55,
    0.841: 0.648, 0.870: 0.743, 0.899: 0.83, 0.928: 0.901, 0.957: 0.958, 0.986: 0.992, 1.0: 1.0,
}  # fmt: skip
"""Part of the ankle's way from toe-off to heel strike."""
SWING_HEIGHT = {
    0.64: 0.217, 0.67: 0.224, 0.70: 0.219, 0.725: 0.208, 0.755: 0.189, 0.785: 0.163, 0.81: 0.138, 0.84: 0.114,
    0.87: 0.099, 0.90: 0.093, 0.93: 0.095, 0.96: 0.0985, 0.985: 0.0935,
}  # fmt: skip
"""Of the ankle, metres, between its heights at toe-off and at heel strike, which follow from the standing foot."""

_HEEL = np.array([0.0, -ANKLE, -HEEL])
_BALL = np.array([0.0, BALL_HEIGHT - ANKLE, BALL])
_TOE_TIP = np.array([0.0, -BALL_HEIGHT, TOES])


@dataclass(frozen=True, slots=True)
class Foot:
    """One foot over a motion of F frames.

    Attributes:
        ankle: (F, 3) metres, world.
        rotation: (F, 4) world_from_foot.
        toe_bend: (F,) degrees, up positive.
    """

    ankle: Floats
    rotation: Floats
    toe_bend: Floats


def footfall(cycles: Floats, stride: float, side: float, toe_out: float) -> Foot:
    """The foot at ``cycles`` (F,): whole part = strides done, the rest = phase.

    Args:
        cycles: counted from a heel strike at z = 0.
        stride: metres per cycle.
        side: x of the heel when it stands.
        toe_out: degrees about y from straight ahead.
    """
    phase = cycles % 1.0
    heel = np.stack([np.full_like(phase, side), np.zeros_like(phase), stride * np.floor(cycles)], axis=-1)
    pitch = through(PITCH, phase, start=STRIKE, end=STRIKE)
    rotation = turns(("y", toe_out), ("x", -pitch))
    standing = _standing_ankle(np.minimum(phase, TOE_OFF), toe_out)
    swinging = _swinging_ankle(phase, stride, toe_out)
    ankle = np.where((phase < TOE_OFF)[:, None], standing, swinging)
    after_touch = np.where(phase < FLAT, phase + 1.0, phase)
    loose = through(TOE_BEND, np.maximum(after_touch, TOE_OFF))
    rolled = through(TOE_ROLL, np.minimum(phase, TOE_OFF), end=ROLL_OFF) - pitch
    bears = (phase >= FLAT) & (phase < TOE_OFF)
    return Foot(heel + ankle, rotation, np.where(bears, rolled, loose))


def _standing_ankle(phase: Floats, toe_out: float) -> Floats:
    """(F, 3) from the heel's place on the floor: the foot rolls over heel, then ball, then toe tips."""
    pitch = through(PITCH, phase, start=STRIKE, end=STRIKE)
    foot = turns(("y", toe_out), ("x", -pitch))
    toes = turns(("y", toe_out), ("x", -through(TOE_ROLL, phase, end=ROLL_OFF)))
    ahead = turns(("y", toe_out))
    over_heel = -rotate(foot, _HEEL)
    tip = rotate(ahead, _BALL + _TOE_TIP - _HEEL)
    over_toes = tip - rotate(toes, _TOE_TIP) - rotate(foot, _BALL)
    return np.where((pitch > 0.0)[:, None], over_heel, over_toes)


def _swinging_ankle(phase: Floats, stride: float, toe_out: float) -> Floats:
    """(F, 3) from toe-off to heel strike, leaving and arriving at the speed of the standing foot."""
    ends = np.array([TOE_OFF, 0.0])
    first, last = _standing_ankle(ends, toe_out) + np.array([[0.0, 0.0, 0.0], [0.0, 0.0, stride]])
    tick = np.array([-1e-4, 1e-4])
    leaving, arriving = (_standing_ankle(ends + tick, toe_out) - _standing_ankle(ends, toe_out)) / tick[:, None]
    inside = np.maximum(phase, TOE_OFF)
    reach = last[2] - first[2]
    way = through(SWING_PACE, inside, start=leaving[2] / reach, end=arriving[2] / reach)
    path = first + way[:, None] * (last - first)
    heights = {TOE_OFF: first[1], **SWING_HEIGHT, 1.0: last[1]}
    path[:, 1] = through(heights, inside, start=leaving[1], end=arriving[1])
    return np.asarray(path)
