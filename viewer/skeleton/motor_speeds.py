"""Motions that are too fast for a robot's motors."""

from __future__ import annotations

import math

import numpy as np

from viewer.errors import quote
from viewer.skeleton.clip import Clip
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.limits import JointKind
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.angles import wrapped
from viewer.spatial.checks import Floats

_OVER = 1e-6
"""Part by which a speed may exceed the stated one, so that motions of exactly that speed pass."""


def too_fast(skeleton: Skeleton, clip: Clip, coordinates: Floats | None = None) -> tuple[str, ...]:
    """A line on the hinge or slide that a clip moves the most beyond its motor's speed, if there is one.

    Args:
        skeleton: with motors.
        clip: its motion.
        coordinates: (F, J, 3) of its joints, where they are known.
    """
    speeds = [math.inf if motor is None or motor.velocity is None else motor.velocity for motor in skeleton.motors]
    single = [kind in (JointKind.HINGE, JointKind.SLIDE) for kind in skeleton.kinds]
    joints = np.flatnonzero(np.isfinite(speeds) & single) if speeds else np.zeros(0, dtype=np.intp)
    if not joints.size or len(clip) < 2:
        return ()
    if coordinates is None:
        coordinates = joint_space(skeleton).measure(clip.rotations, clip.local_translations())
    slides = np.array([skeleton.kinds[joint] is JointKind.SLIDE for joint in joints.tolist()])
    steps = np.diff(coordinates[:, joints, 0], axis=0)
    steps = np.where(slides, steps, wrapped(steps))
    rates = np.abs(steps) / clip.frame_time
    shares = rates / np.array(speeds)[joints]
    frame, worst = np.unravel_index(int(shares.argmax()), shares.shape)
    over = int((shares.max(axis=0) > 1.0 + _OVER).sum())
    if not over:
        return ()
    unit, scale = ("m/s", 1.0) if slides[worst] else ("deg/s", math.degrees(1.0))
    found, most = scale * float(rates[frame, worst]), scale * speeds[int(joints[worst])]
    more = f"; {over - 1} more joint{'s are' if over > 2 else ' is'} too fast" if over > 1 else ""
    name = quote(skeleton.names[int(joints[worst])])
    return (f"joint {name} moves at {found:.4g} {unit} in frame {frame + 1}, its motor at {most:.4g} at most{more}",)
