"""Where the limits of a character come from: its file, its motion, or human anatomy.

Files that state none get those of their motion; a recognised human gets the union of these and of anatomical ones, so
that a clip of a bow, in which no knee bends, does not keep the figure from crouching; without motion the latter alone.

The anatomical ranges are those of a model, the bundled biped. Where figure and model stand relaxed, their bones point
the same ways, which relates the frames of two joints of the same part: with R_m and R_k their world rotations there and
F the rotation from the model's directions to the figure's, a turn D of the model's joint away from its relaxed rotation
is M^-1 D M of the other, M = R_m^-1 F^-1 R_k. Turns of the model's joint to the ends of its ranges are converted this
way and measured in the coordinates of the figure's joint; the limits are their bounds.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, unknown_name
from viewer.formats.file_formats import LIMIT_SOURCES
from viewer.formats.files import data_dir
from viewer.formats.skeleton_json import read_skeleton_json
from viewer.skeleton import Character, Clip, JointKind, JointLimits, LimitForm, Skeleton, find_figure, fk, joint_space
from viewer.skeleton.clip_limits import limits_from_clip, unlimited_forms
from viewer.skeleton.figure import NECK, SPINE, find_slots
from viewer.skeleton.relaxed import derived_pose
from viewer.skeleton.transfer import frame_between
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, exp, log, multiply, unit

AUTO = "auto"
FILE, LEARNED, BOTH, HUMAN, CLIP, NONE = LIMIT_SOURCES
WORDS: dict[str, str] = {source: source.replace("+", " + ").capitalize() for source in LIMIT_SOURCES}
"""The sources as they are shown: "Human + clip"."""
_MODEL = "biped-hands.json"

_AROUND, _OUT = 12, (0.25, 0.5, 0.75, 1.0)
"""Directions of the swing that are tried, and parts of its range."""
_ALONG = (0.0, 0.5, 1.0)
"""Parts of the range of the twist, or of a hinge, that are tried with each of them."""
_LATERAL = np.radians(4.0)
"""The model's knees and elbows are hinges; those of other rigs may bend sideways by this, ..."""
_TWIST = {"arm": np.radians(60.0), "leg": np.radians(10.0)}
"""... and twist: a forearm as the palm turns."""
_SPARE = np.radians(3.0)
"""Ranges are widened by this beyond the turns tried, to include those between them."""
_CHAINS = (SPINE, NECK)


def derived_limits(skeleton: Skeleton, clips: Iterable[Clip]) -> tuple[Skeleton, str | None]:
    """The skeleton of a file that states no limits with those that its motion and its shape give, and their source."""
    every = [*clips]
    seen = limits_from_clip(skeleton, _joined(every)) if every else skeleton
    human = human_limits(seen, _model())
    if not human:
        return seen, CLIP if every else None
    limits = _united(seen, human) if every else _alone(seen, human)
    return replace(seen, limits=limits), BOTH if every else HUMAN


def sources_of(character: Character) -> tuple[str, ...]:
    """The sources that a character has."""
    found = {character.limits_from, *_made_anew(character)}
    return tuple(source for source in LIMIT_SOURCES if source in found)


def _made_anew(character: Character) -> set[str]:
    """The sources that can be computed without the limits that it was loaded with."""
    found: set[str] = {NONE}
    if character.clips:
        found.add(CLIP)
    if human_limits(_by_clip(character), _model()):
        found |= {HUMAN, BOTH} if character.clips else {HUMAN}
    return found


def with_limits(character: Character, source: str) -> Character:
    """A character with the limits of another source.

    Args:
        character: as loaded: what its file states is known only as long as its limits are the file's.
        source: "file"; "learned": the file's, which says that they were learned from a folder of motion;
            "human+clip": what either of the two allows; "human": anatomical ones; "clip": the ranges of all its
            motion, widened by 20 degrees; "none".
    """
    if source not in LIMIT_SOURCES:
        raise InputError(f"limits: {unknown_name('source', str(source), LIMIT_SOURCES)}")
    known = sources_of(character)
    if source not in known:
        listed = ", ".join(known)
        raise InputError(f"limits: {character.skeleton.name or 'the skeleton'} has {listed}; found {source}")
    if source not in _made_anew(character):
        return character
    seen = _by_clip(character)
    limits: tuple[JointLimits | None, ...] = (None,) * len(seen)
    if source == CLIP:
        limits = seen.limits
    elif source in (BOTH, HUMAN):
        human = human_limits(seen, _model())
        limits = _united(seen, human) if source == BOTH else _alone(seen, human)
    chosen = None if source == NONE else source
    return replace(character, skeleton=replace(character.skeleton, limits=limits), limits_from=chosen)


def joint_sources(character: Character) -> tuple[str | None, ...]:
    """Per joint the source of its limits; None where it has none."""
    source, skeleton = character.limits_from, character.skeleton
    human = human_limits(_by_clip(character), _model()) if source == BOTH else {}
    return tuple(
        None if limits is None else source if source != BOTH or joint in human else CLIP
        for joint, limits in enumerate(skeleton.limits)
    )


def _by_clip(character: Character) -> Skeleton:
    """The skeleton with the limits of the motion alone; without limits where there is no motion."""
    bare = replace(character.skeleton, limits=(None,) * len(character.skeleton))
    return limits_from_clip(bare, _joined([*character.clips.values()])) if character.clips else bare


def _united(seen: Skeleton, human: dict[int, JointLimits]) -> tuple[JointLimits | None, ...]:
    return tuple(
        own if own is None or joint not in human else union(own, human[joint]) for joint, own in enumerate(seen.limits)
    )


def _alone(seen: Skeleton, human: dict[int, JointLimits]) -> tuple[JointLimits | None, ...]:
    return tuple(human.get(joint) for joint in range(len(seen)))


def _joined(every: list[Clip]) -> Clip:
    """All frames of all clips as one clip, for limits that hold in each of them."""
    first = every[0]
    if len(every) == 1:
        return first
    rotations = np.concatenate([clip.rotations for clip in every])
    nothing = np.zeros((len(rotations), 0, 3))
    return Clip("all", first.frame_time, rotations, np.zeros(0, dtype=np.intp), nothing, first.offsets)


@lru_cache(maxsize=1)
def _model() -> Skeleton:
    """The human whose joints have anatomical limits."""
    return read_skeleton_json(data_dir("skeletons") / _MODEL, _MODEL).skeleton


# --- anatomical limits of a human


class _Pair(NamedTuple):
    """A joint, its counterpart in the model, and the share of the counterpart's turns that it makes."""

    joint: int
    other: int
    part: float


def human_limits(skeleton: Skeleton, model: Skeleton) -> dict[int, JointLimits]:
    """Anatomical limits of the joints that are parts of a human; {} for anything else.

    By joint that has a counterpart in the model, in the form of limits that its kind has. The limits that the skeleton
    has, such as those of its clip, help to find how it stands relaxed.
    """
    figure, other = find_figure(skeleton), find_figure(model)
    if figure is None or other is None or not (figure.arms and figure.legs):
        return {}
    probe = replace(skeleton, limits=unlimited_forms(skeleton))
    bounded = [limits is not None for limits in model.limits]
    pairs = [one for one in _pairs(skeleton, model) if probe.limits[one.joint] is not None and bounded[one.other]]
    joints, others = [pair.joint for pair in pairs], [pair.other for pair in pairs]
    own, theirs = derived_pose(skeleton), derived_pose(model)
    frame = frame_between(model, skeleton)
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
