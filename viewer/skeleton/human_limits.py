"""Anatomical limits of a recognised human, whatever its names, axes and rest pose are.

The ranges are those of a model, the bundled biped, whose joints have anatomical ones. Where figure and model stand
relaxed, their bones point the same ways, which shows how the frames of two joints of the same part lie to each other:
with R_m and R_k their world rotations there and F the rotation from the model's directions to the figure's, a turn D of
the model's joint away from its relaxed rotation is M^-1 D M of the other, M = R_m^-1 F^-1 R_k. Turns of the model's
joint to the ends of its ranges are taken over so and measured in the coordinates of the figure's; the limits are their
bounds.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from viewer.skeleton.clip_limits import unlimited_forms
from viewer.skeleton.coordinates import joint_space
from viewer.skeleton.figure import NECK, SPINE, find_figure, find_slots
from viewer.skeleton.kinematics import fk
from viewer.skeleton.limbs import Figure
from viewer.skeleton.limits import JointKind, JointLimits, LimitForm
from viewer.skeleton.relaxed import derived_pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, exp, from_matrix, log, multiply
from viewer.spatial.vectors import unit

_AROUND, _OUT = 12, (0.25, 0.5, 0.75, 1.0)
"""Directions of the swing that are tried, and parts of its range."""
_ALONG = (0.0, 0.5, 1.0)
"""Parts of the range of the twist, or of a hinge, that are tried with each of them."""
_LATERAL = np.radians(4.0)
"""The model's knees and elbows are hinges; those of other rigs give way sideways by this, ..."""
_TWIST = {"arm": np.radians(60.0), "leg": np.radians(10.0)}
"""... and twist: a forearm as the palm turns."""
_SPARE = np.radians(3.0)
"""Ranges are wider than what was tried by this, for what lies between."""
_CHAINS = (SPINE, NECK)


class _Pair(NamedTuple):
    """A joint, its counterpart in the model, and which part of its turns it makes."""

    joint: int
    other: int
    part: float


def human_limits(skeleton: Skeleton, model: Skeleton) -> dict[int, JointLimits]:
    """Anatomical limits of the joints that are parts of a human; {} for anything else.

    Args:
        skeleton: of a file; its limits, such as those of its clip, help to find how it stands relaxed.
        model: a human whose joints have anatomical limits.

    Returns:
        By joint that has a counterpart in the model, in the form of limits that its kind has.
    """
    figure, other = find_figure(skeleton), find_figure(model)
    if figure is None or other is None or not (figure.arms and figure.legs):
        return {}
    probe = replace(skeleton, limits=unlimited_forms(skeleton))
    bounded = [limits is not None for limits in model.limits]
    pairs = [one for one in _pairs(skeleton, model) if probe.limits[one.joint] is not None and bounded[one.other]]
    joints, others = [pair.joint for pair in pairs], [pair.other for pair in pairs]
    own, theirs = derived_pose(skeleton), derived_pose(model)
    frame = from_matrix(_axes(figure) @ _axes(other).T)
    stand, model_stand = fk(skeleton, own).rotations[joints], fk(model, theirs).rotations[others]
    between = multiply(multiply(conjugate(model_stand), conjugate(frame)), stand)
    turns = exp(_turns(model)[:, others] * np.array([pair.part for pair in pairs])[:, None])
    tried = np.repeat(own.rotations[None], len(turns), axis=0)
    tried[:, joints] = multiply(tried[:, joints], multiply(multiply(conjugate(between), turns), between))
    measured = joint_space(probe).measure(tried, np.broadcast_to(skeleton.offsets, (*tried.shape[:2], 3)))
    low, high = measured.min(axis=0) - _SPARE, measured.max(axis=0) + _SPARE
    limits: dict[int, JointLimits] = {}
    for joint in joints:
        form = probe.limits[joint]
        assert form is not None
        count = len(form.lower)
        ends = np.maximum(low[joint, :count], -np.pi), np.minimum(high[joint, :count], np.pi)
        limits[joint] = replace(form, lower=ends[0], upper=ends[1])
    return limits


def union(one: JointLimits, other: JointLimits) -> JointLimits:
    """Limits that hold all that either allows; both of the same form."""
    return replace(one, lower=np.minimum(one.lower, other.lower), upper=np.maximum(one.upper, other.upper))


def _axes(figure: Figure) -> Floats:
    return np.stack([figure.left, figure.up, figure.forward], axis=1)


def _pairs(skeleton: Skeleton, model: Skeleton) -> list[_Pair]:
    """Joints of the same parts; those of a longer spine or neck share the turns of the model's."""
    slots, others = find_slots(skeleton), find_slots(model)
    pairs = []
    for slot, joint in slots.items():
        chain, _, number = slot.rpartition(" ")
        if chain in _CHAINS:
            mine = sum(one.startswith(f"{chain} ") for one in slots)
            its = sum(one.startswith(f"{chain} ") for one in others)
            if its:
                place = round((int(number) - 0.5) * its / mine + 0.5)
                other = others[f"{chain} {min(max(place, 1), its)}"]
                pairs.append(_Pair(joint, other, its / mine))
        elif slot in others:
            pairs.append(_Pair(joint, others[slot], 1.0))
    return pairs


@lru_cache(maxsize=2)
def _turns(model: Skeleton) -> Floats:
    """(N, J, 3) rotation vectors, in the joints' frames, from the model's relaxed pose to turns all over its ranges.

    Swings of balls fill the ellipse inside their ranges: few shoulders reach both ends at once.
    """
    space, relaxed = joint_space(model), derived_pose(model)
    low, high = np.nan_to_num(space.lower, neginf=0.0), np.nan_to_num(space.upper, posinf=0.0)
    tried = np.array([*product(2.0 * np.pi * np.arange(_AROUND) / _AROUND, _OUT, _ALONG)])
    angle, out, along = tried.T[:, :, None]
    wanted = low + along[:, :, None] * (high - low)
    for joint, limits in enumerate(model.limits):
        if limits is not None and limits.form is LimitForm.SWING_TWIST:
            axes = [axis for axis in range(3) if axis != limits.twist_axis]
            share = np.concatenate([np.cos(angle), np.sin(angle)], axis=1)
            wanted[:, joint, axes] = out * np.where(share > 0.0, share * high[joint, axes], -share * low[joint, axes])
    count = len(tried)
    start = (np.repeat(one[None], count, axis=0) for one in (relaxed.rotations, relaxed.translations))
    rotations, _ = space.rebuild(wanted, *start)
    figure = find_figure(model)
    for limb in () if figure is None else figure.limbs:
        joint = limb.lower
        if limb.end is not None and model.kinds[joint] is JointKind.HINGE:
            bone = unit(model.offsets[limb.end])
            side = np.cross(bone, model.axes[joint, 0])
            give = out * (np.cos(angle) * _TWIST[limb.kind] * bone + np.sin(angle) * _LATERAL * side)
            rotations[:, joint] = multiply(rotations[:, joint], exp(give))
    turns = log(multiply(conjugate(relaxed.rotations), rotations))
    # Swings near half a turn are measured with either sign: the relaxed pose itself is tried, too.
    return np.concatenate([np.zeros((1, *turns.shape[1:])), turns])
