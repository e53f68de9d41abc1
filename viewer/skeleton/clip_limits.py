"""Limits derived from a clip, for files that state none; limits widened to hold a clip; clips too fast for motors.

Where a file states none, each joint gets the range of the clip, widened by `MARGIN` and to at least `LEAST` on either
side of rest. Knees and elbows, recognised by name or by bending about one axis to one side, get at most `BEHIND` on the
other side. Every frame of the clip is inside, so opening or playing a file never changes a pose.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from viewer.errors import quote
from viewer.skeleton.clip import Clip
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.limits import UNLIMITED, JointKind, JointLimits, LimitForm, default_twist_axis
from viewer.skeleton.names import body_part
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import wrapped

MARGIN = np.radians(20.0)
LEAST = np.radians(15.0)
BEHIND = np.radians(5.0)
_BENT = np.radians(30.0)
"""A joint bends about one axis if it rotates this far about it and four times as far as about the others."""
_BENT_RATIO = 4.0
_NAMED_BENT = np.radians(5.0)
"""Range from which on a named knee or elbow shows its bending side."""
_BLOCK = 1 << 15
"""Joints times frames measured together, which bounds memory."""
_FASTER = 1e-6
"""Part by which a speed may exceed the stated one, so that motions of exactly that speed pass."""


def limits_from_clip(skeleton: Skeleton, clip: Clip) -> Skeleton:
    """The skeleton with limits for its balls, universals and hinges; free and fixed joints and slides get none."""
    probe = replace(skeleton, limits=unlimited_forms(skeleton))
    low, high = _observed(probe, clip)
    lower = np.maximum(np.minimum(low - MARGIN, -LEAST), -np.pi)
    upper = np.minimum(np.maximum(high + MARGIN, LEAST), np.pi)
    seen = zip(low.tolist(), high.tolist(), strict=True)
    limits = [widened(probe, joint, *ends, lower[joint], upper[joint]) for joint, ends in enumerate(seen)]
    return replace(skeleton, limits=tuple(limits))


def limits_around(skeleton: Skeleton, clip: Clip) -> Skeleton:
    """The skeleton with its limits widened as far as a clip turns, or shifts, its joints beyond them; else itself."""
    if all(own is None for own in skeleton.limits):
        return skeleton
    low, high = _observed(skeleton, clip)
    limits: list[JointLimits | None] = []
    for joint, own in enumerate(skeleton.limits):
        if own is None:
            limits.append(None)
            continue
        count = len(own.lower)
        lower, upper = np.minimum(own.lower, low[joint, :count]), np.maximum(own.upper, high[joint, :count])
        same = np.array_equal(lower, own.lower) and np.array_equal(upper, own.upper)
        limits.append(own if same else replace(own, lower=lower, upper=upper))
    if all(one is own for one, own in zip(limits, skeleton.limits, strict=True)):
        return skeleton
    return replace(skeleton, limits=tuple(limits))


def twist_axes(skeleton: Skeleton) -> list[int]:
    """Per joint the default twist axis: the one nearest to its first child or tip that lies apart from it."""
    directions: dict[int, Floats] = {}
    hanging = [*zip(skeleton.parents.tolist(), skeleton.offsets, strict=True)]
    hanging += zip(skeleton.tip_parents.tolist(), skeleton.tip_offsets, strict=True)
    for parent, offset in hanging:
        if parent not in directions and offset.any():
            directions[parent] = offset
    nowhere = np.zeros(3)
    return [default_twist_axis(directions.get(joint, nowhere)) for joint in range(len(skeleton))]


def unlimited_forms(skeleton: Skeleton) -> tuple[JointLimits | None, ...]:
    """Unlimited limits, whose form determines how each joint is measured."""
    balls = [JointLimits.swing_twist(twist_axis, UNLIMITED, UNLIMITED, UNLIMITED) for twist_axis in range(3)]
    others = {
        JointKind.HINGE: JointLimits.coordinates(UNLIMITED),
        JointKind.UNIVERSAL: JointLimits.coordinates(UNLIMITED, UNLIMITED),
    }
    return tuple(
        balls[twist_axis] if kind is JointKind.BALL else others.get(kind)
        for kind, twist_axis in zip(skeleton.kinds, twist_axes(skeleton), strict=True)
    )


def _observed(skeleton: Skeleton, clip: Clip) -> tuple[Floats, Floats]:
    """Lowest and highest coordinates (J, 3) of all frames."""
    space = joint_space(skeleton)
    low, high = np.full((len(skeleton), 3), np.inf), np.full((len(skeleton), 3), -np.inf)
    step = max(1, _BLOCK // len(skeleton))
    for start in range(0, len(clip), step):
        frames = slice(start, start + step)
        measured = space.measure(clip.rotations[frames], clip.local_translations(frames))
        np.minimum(low, measured.min(axis=0), out=low)
        np.maximum(high, measured.max(axis=0), out=high)
    return low, high


def widened(
    skeleton: Skeleton, joint: int, low: list[float], high: list[float], lower: Floats, upper: Floats
) -> JointLimits | None:
    """A joint's limits from the observed range (3,); ``lower`` and ``upper`` (3,) are widened, and changed."""
    limits = skeleton.limits[joint]
    if limits is None:
        return None
    count = len(limits.lower)
    swings = [i for i in range(count) if limits.form is not LimitForm.SWING_TWIST or i != limits.twist_axis]
    bending = _bending_axis(skeleton.names[joint], swings, low[:count], high[:count])
    if bending is not None:
        if high[bending] > -low[bending]:
            lower[bending] = min(low[bending], -BEHIND)
        else:
            upper[bending] = max(high[bending], BEHIND)
    return replace(limits, lower=lower[:count], upper=upper[:count])


def _bending_axis(name: str, swings: list[int], low: list[float], high: list[float]) -> int | None:
    """The bending axis of a knee or elbow; None for other joints, or if the clip does not show the side."""
    ranges = [top - bottom for bottom, top in zip(low, high, strict=True)]
    axis = max(swings, key=ranges.__getitem__)
    behind = min(max(0.0, -low[axis]), max(0.0, high[axis]))
    if body_part(name).part in {"knee", "elbow"}:
        return axis if ranges[axis] > _NAMED_BENT else None
    others = max((0.0, *ranges[:axis], *ranges[axis + 1 :]))
    one_axis = ranges[axis] >= _BENT and ranges[axis] >= _BENT_RATIO * others
    return axis if one_axis and behind <= BEHIND else None


def too_fast(skeleton: Skeleton, clip: Clip, coordinates: Floats | None = None) -> tuple[str, ...]:
    """A line on the hinge or slide that a clip moves the most beyond its motor's speed, if there is one.

    ``coordinates`` (F, J, 3) are of its joints, where they are known.
    """
    speeds = [math.inf if motor is None or motor.velocity is None else motor.velocity for motor in skeleton.motors]
    single = [kind.dofs == 1 for kind in skeleton.kinds]
    joints = np.flatnonzero(np.isfinite(speeds) & single) if speeds else np.zeros(0, dtype=np.intp)
    if not joints.size or len(clip) < 2:
        return ()
    if coordinates is None:
        coordinates = joint_space(skeleton).measure(clip.rotations, clip.local_translations())
    slides = skeleton.of_kind(JointKind.SLIDE)[joints]
    steps = np.diff(coordinates[:, joints, 0], axis=0)
    steps = np.where(slides, steps, wrapped(steps))
    rates = np.abs(steps) / clip.frame_time
    shares = rates / np.array(speeds)[joints]
    frame, worst = np.unravel_index(int(shares.argmax()), shares.shape)
    over = int((shares.max(axis=0) > 1.0 + _FASTER).sum())
    if not over:
        return ()
    unit, scale = ("m/s", 1.0) if slides[worst] else ("deg/s", math.degrees(1.0))
    found, most = scale * float(rates[frame, worst]), scale * speeds[int(joints[worst])]
    more = f"; {over - 1} more joint{'s are' if over > 2 else ' is'} too fast" if over > 1 else ""
    name = quote(skeleton.names[int(joints[worst])])
    return (f"joint {name} moves at {found:.4g} {unit} in frame {frame + 1}, its motor at {most:.4g} at most{more}",)
