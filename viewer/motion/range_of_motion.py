"""Joint limits learned from motion: the ranges that many clips use, of both sides of the body together.

Each joint's range is measured in its own coordinates (swing and twist of balls, angles of hinges and universals): over
the frames of each clip and their mirror images from one quantile to the other, then the widest of all clips. Frames of
one clip resemble each other: counted together, a long clip would outvote a short one.

Ranges are then widened by a margin. Limits that the skeleton states show where unseen motion is likely: the
margin is up to twice as large inside them and half as large beyond them. Knees and elbows keep their bending side as
limits of a clip do (`viewer.skeleton.clip_limits`), with `BEHIND` for a margin on the other side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from viewer.errors import InputError, listed, quote
from viewer.motion.retarget_motion import find_map, retarget
from viewer.skeleton import Character, Clip, JointLimits, LimitForm, Skeleton, fk_arrays, joint_space, rest_world
from viewer.skeleton.character import check_character, check_skeleton, wrong_kind
from viewer.skeleton.clip_limits import BEHIND, unlimited_forms, widened
from viewer.skeleton.figure import across_of, find_figure, partners
from viewer.skeleton.kinematics import local_turns
from viewer.skeleton.transfer import has_same_rest
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import angle_between, conjugate, multiply, normalized

QUANTILE, MARGIN = 0.001, float(np.radians(15.0))
LEAST_FRAMES = 300
"""Frames, without mirror images, below which nothing is learned."""
_STILL = np.radians(1.0)
"""A joint whose coordinates vary by less over all frames does not move."""
_FASTEST_TURN = 60.0
"""Radians a second: a faster rotation is a throw."""
_FASTEST_WAY = 20.0
"""Sizes of the figure a second: a faster translation is a throw."""
_SHORTEST = 0.1
"""The shortest piece of motion between two throws that counts, seconds."""
_INSIDE = np.radians(2.0)
"""A frame is inside if no joint is farther outside than this."""
_BEYOND, _WITHIN = 0.5, 2.0
"""The margin beyond limits that the skeleton states, and the most of it inside them, in parts of the margin."""


@dataclass(frozen=True, slots=True, eq=False)
class Learned:
    """Learned limits.

    Attributes:
        skeleton: with the new limits.
        frames: number of frames used, without mirror images.
        thrown: number of frames left out because a joint or the root is thrown there.
        still: joints that never move; they keep their limits.
        inside: share of the frames that are inside the limits, within two degrees.
        unseen: the same by cross-validation: each fifth of the clips is judged by limits from the others; None for a
            single clip.
        before: the share inside the limits that the skeleton had.
        mean_range: radians, mean over all limited coordinates.
        mean_range_before: of the limits that the skeleton had; None if it had none.
    """

    skeleton: Skeleton
    frames: int
    thrown: int
    still: tuple[str, ...]
    inside: float
    unseen: float | None
    before: float
    mean_range: float
    mean_range_before: float | None


def learn_limits(
    skeleton: Skeleton, clips: Iterable[Character | Clip], quantile: float = QUANTILE, margin: float = MARGIN
) -> Skeleton:
    """A skeleton with the ranges that motions use.

    Args:
        skeleton: gets the limits.
        clips: motions: characters, which are retargeted onto the skeleton, or clips of the skeleton itself.
        quantile: part of each clip's frames that may lie beyond each end of a range, 0 to 0.1.
        margin: radians by which ranges are wider; half as much beyond limits that the skeleton states, up to twice as
            much inside them.

    Returns:
        The skeleton; joints that never move, and joints without ranges (fixed, free, slides), keep what they had.

    Raises:
        InputError: fewer than 300 frames, numbers out of range, clips of other joints, motion that does not fit.
    """
    check_skeleton(skeleton, "limits: ")
    if isinstance(clips, (Character, Clip)):
        raise wrong_kind(clips, "a list of characters or clips", "limits: ")
    return learned(skeleton, [on_rig(skeleton, clip) for clip in clips], quantile, margin).skeleton


def on_rig(skeleton: Skeleton, motion: Character | Clip) -> Clip:
    """The motion on the skeleton, as its joints turn: nothing is planted.

    Raises:
        InputError: no motion, motion of other joints, a figure that has nothing in common with the skeleton.
    """
    if isinstance(motion, Clip):
        if motion.rotations.shape[1] != len(skeleton):
            raise InputError(f"limits: expected motion of {len(skeleton)} joints, found {motion.rotations.shape[1]}")
        return motion
    check_character(motion, "limits: ")
    if motion.clip is None:
        raise InputError("expected motion, found a skeleton without frames")
    if has_same_rest(motion.skeleton, skeleton):
        return motion.clip
    if find_figure(skeleton, any_rest=True) is not None and find_figure(motion.skeleton, any_rest=True) is None:
        # Joints that happen to have the same names say nothing about the figure's.
        raise InputError("expected a figure with arms or legs, as the rig is one, found none")
    if not find_map(motion, skeleton).pairs:
        raise InputError("expected a rig with arms or legs, or with joints of these names, found neither")
    made = retarget(motion, Character(skeleton), feet="off").character.clip
    assert made is not None
    return made


def learned(skeleton: Skeleton, clips: Sequence[Clip], quantile: float = QUANTILE, margin: float = MARGIN) -> Learned:
    """As `learn_limits`, with a report; ``clips`` are motions of the skeleton."""
    if not 0.0 <= quantile <= 0.1:
        raise InputError(f"limits: quantile: expected 0 to 0.1, found {quantile:g}")
    if not 0.0 <= margin <= np.pi:
        raise InputError(f"limits: margin: expected 0 to 180 degrees, found {np.degrees(margin):g}")
    kept = [kept_frames(skeleton, clip) for clip in clips]
    frames = int(sum(mask.sum() for mask in kept))
    thrown = sum(len(clip) for clip in clips) - frames
    if frames < LEAST_FRAMES:
        left_out = f", and {thrown} in which a joint is thrown" if thrown else ""
        raise InputError(f"limits: expected {LEAST_FRAMES} frames or more, found {frames}{left_out}")
    probe = replace(skeleton, limits=_forms(skeleton))
    turns = [clip.rotations[mask] for clip, mask in zip(clips, kept, strict=True)]
    coordinates = [_measured(probe, each) for each in turns]
    ranges = [np.quantile(each, (quantile, 1.0 - quantile), axis=0) for each in coordinates]
    limited = np.array([limits is not None for limits in probe.limits])
    extent = [each.max(axis=0) for each in coordinates], [each.min(axis=0) for each in coordinates]
    still = limited & (np.max(extent[0], axis=0) - np.min(extent[1], axis=0) < _STILL).all(axis=-1)
    made = _boxed(probe, skeleton, ranges, still, margin)
    had = any(limits is not None for limits in skeleton.limits)
    return Learned(
        skeleton=made,
        frames=frames,
        thrown=thrown,
        still=tuple(skeleton.names[joint] for joint in np.flatnonzero(still)),
        inside=_share(made, turns),
        unseen=_unseen(probe, skeleton, turns, ranges, still, margin),
        before=_share(skeleton, turns) if had else 1.0,
        mean_range=_mean_range(made, limited & ~still),
        mean_range_before=_mean_range(skeleton, limited & ~still) if had else None,
    )


def kept_frames(skeleton: Skeleton, clip: Clip) -> Bools:
    """(F,) False for frames in short pieces between two throws, such as a calibration before the motion begins."""
    frames = len(clip)
    if frames < 2:
        return np.ones(frames, dtype=np.bool_)
    turn = angle_between(clip.rotations[1:], clip.rotations[:-1]).max(axis=1) / clip.frame_time
    size = float(np.ptp(rest_world(skeleton).positions, axis=0).max(initial=0.0))
    way = np.linalg.norm(np.diff(clip.translations, axis=0), axis=-1).max(axis=1, initial=0.0) / clip.frame_time
    thrown = (turn > _FASTEST_TURN) | (way > _FASTEST_WAY * max(size, 1e-9))
    piece = np.concatenate([[0], np.cumsum(thrown)])
    length = np.bincount(piece)
    long = length * clip.frame_time >= min(_SHORTEST, frames * clip.frame_time)
    long[int(np.argmax(length))] = True
    return np.asarray(long[piece])


def mirrored(skeleton: Skeleton, rotations: Floats) -> Floats:
    """(F, J, 4) local rotations with the sides of the body swapped."""
    partner, across = partners(skeleton), across_of(skeleton)
    rest = rest_world(skeleton).rotations
    offsets = np.broadcast_to(skeleton.offsets, (*rotations.shape[:2], 3))
    away = multiply(fk_arrays(skeleton.parents, rotations, offsets).rotations, conjugate(rest))
    # A turn's axis is a pseudovector: its part across the body stays, the others change sides.
    axis = away[..., :3]
    along = (axis @ across)[..., None] * across
    swapped = multiply(np.concatenate([2.0 * along - axis, away[..., 3:]], axis=-1)[:, partner], rest)
    return normalized(local_turns(skeleton.parents, swapped))


def _forms(skeleton: Skeleton) -> tuple[JointLimits | None, ...]:
    """Unlimited limits, by which each joint is measured: about its own twist axis, where it states one."""
    forms = []
    for own, free in zip(skeleton.limits, unlimited_forms(skeleton), strict=True):
        stated = own is not None and free is not None and own.form is free.form is LimitForm.SWING_TWIST
        forms.append(
            replace(free, twist_axis=own.twist_axis) if stated and own is not None and free is not None else free
        )
    return tuple(forms)


def _measured(probe: Skeleton, rotations: Floats) -> Floats:
    """(2 F, J, 3) coordinates of frames, then of their mirror images."""
    both = np.concatenate([rotations, mirrored(probe, rotations)])
    return joint_space(probe).measure(both, np.broadcast_to(probe.offsets, (*both.shape[:2], 3)))


def _boxed(probe: Skeleton, skeleton: Skeleton, ranges: Sequence[Floats], still: Bools, margin: float) -> Skeleton:
    """The skeleton with the widest of ranges (2, J, 3), one of each clip, as limits, wider by the margin."""
    low, high = np.min([each[0] for each in ranges], axis=0), np.max([each[1] for each in ranges], axis=0)
    limits = list(skeleton.limits)
    for joint, free in enumerate(probe.limits):
        if free is not None and not still[joint]:
            limits[joint] = _widened(probe, joint, low[joint], high[joint], skeleton.limits[joint], margin)
    return replace(skeleton, limits=tuple(limits))


def _widened(
    probe: Skeleton, joint: int, low: Floats, high: Floats, own: JointLimits | None, margin: float
) -> JointLimits | None:
    """A joint's limits from what it does, (3,) ends; ``own`` are those that the skeleton states."""
    form = probe.limits[joint]
    assert form is not None
    down = up = np.full(3, margin)
    if own is not None and own.form is form.form:
        count = len(own.lower)
        down, up = down.copy(), up.copy()
        down[:count] = np.clip(low[:count] - own.lower, _BEYOND * margin, _WITHIN * margin)
        up[:count] = np.clip(own.upper - high[:count], _BEYOND * margin, _WITHIN * margin)
    lower, upper = np.maximum(low - down, -np.pi), np.minimum(high + up, np.pi)
    most = lower.copy(), upper.copy()
    made = widened(probe, joint, low.tolist(), high.tolist(), lower, upper)
    if made is None:
        return None
    # The end that keeps the bending side is as near to what was seen as possible: that side has a margin, too.
    count, behind = len(made.lower), min(BEHIND, margin)
    ends = np.maximum(made.lower - behind, most[0][:count]), np.minimum(made.upper + behind, most[1][:count])
    return replace(made, lower=np.minimum(made.lower, ends[0]), upper=np.maximum(made.upper, ends[1]))


def _unseen(
    probe: Skeleton,
    skeleton: Skeleton,
    turns: Sequence[Floats],
    ranges: Sequence[Floats],
    still: Bools,
    margin: float,
) -> float | None:
    if len(turns) < 2:
        return None
    parts = min(5, len(turns))
    inside = 0.0
    for part in range(parts):
        others = [each for place, each in enumerate(ranges) if place % parts != part]
        made = _boxed(probe, skeleton, others, still, margin)
        judged = list(turns[part::parts])
        inside += _share(made, judged) * sum(map(len, judged))
    return inside / sum(map(len, turns))


def _share(skeleton: Skeleton, turns: Sequence[Floats]) -> float:
    """The share of frames in which every joint is inside its limits, within two degrees."""
    space = joint_space(skeleton)
    inside = 0
    for each in turns:
        measured = space.measure(each, np.broadcast_to(skeleton.offsets, (*each.shape[:2], 3)))
        inside += int((space.excess(measured) <= _INSIDE).all(axis=-1).sum())
    return inside / max(1, sum(map(len, turns)))


def _mean_range(skeleton: Skeleton, joints: Bools) -> float:
    """Radians, over the coordinates of some joints; one without limits counts as a whole turn."""
    ranges: list[float] = []
    for joint in np.flatnonzero(joints).tolist():
        own = skeleton.limits[joint]
        widths = [2.0 * np.pi] * 3 if own is None else np.minimum(own.upper - own.lower, 2.0 * np.pi).tolist()
        ranges += widths
    return float(np.mean(ranges)) if ranges else 0.0


def named_still(found: Learned) -> str:
    """The joints that never move, in words."""
    return listed([*map(quote, found.still)], 5)
