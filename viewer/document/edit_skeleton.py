"""Edits of a document's skeleton: bone lengths with the bodies on them, joint names, and ranges of joints.

Of ranges: what the clip needs, their mirror images, and where they come from.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.take import Take
from viewer.errors import InputError, prefixed, quote, unknown_name
from viewer.formats.limit_sources import with_limits
from viewer.skeleton import Clip, JointKind, JointLimits, LimitForm, Pose, Skeleton, Source, joint_space, rest_world
from viewer.skeleton.attached import with_ends
from viewer.skeleton.clip_limits import unlimited_forms
from viewer.skeleton.coordinates import alone
from viewer.skeleton.figure import across_of, partners
from viewer.skeleton.limits import AXIS_NAMES, MOST_TURN, renamed_loops, renamed_mimics
from viewer.spatial.checks import Floats, as_name
from viewer.spatial.quaternion import EulerOrder, conjugate, rotate

_SHORTEST = 1e-9
"""A bone shorter than this, metres, has no direction of its own."""

Ends = tuple[float, float]
_MOST_FRAMES = 4000
"""Frames of a clip that are looked at; of longer ones evenly spread ones."""
_INSIDE = np.radians(0.5)
_SLIPPED = 1e-6
"""Radians, and metres of slides, outside its ranges up to which a frame of a joint counts as inside."""
_SPARE = np.radians(1.0)
_CARDINAL = 0.99
"""Cosine from which on an axis has the name of one of the frame's."""
_ALONG = 0.9
"""Cosine from which on a mirrored axis counts as an axis of the other joint."""


def relengthened(translations: Floats, before: Floats, after: Floats) -> Floats:
    """Local translations (..., J, 3) transferred from a skeleton's offsets ``before`` (J, 3) to the offsets ``after``.

    A translation equal to its offset becomes exactly the new offset; others, of animations and slides, are scaled in
    proportion.
    """
    old, new = np.linalg.norm(before, axis=-1), np.linalg.norm(after, axis=-1)
    ratio = np.where(old > _SHORTEST, new / np.where(old > _SHORTEST, old, 1.0), 1.0)
    changed = (before != after).any(axis=-1)
    at_offset = (translations == before).all(axis=-1)
    result = np.where(changed[:, None], translations * ratio[:, None], translations)
    return np.asarray(np.where((changed & at_offset)[..., None], after, result))


def bone_vectors(skeleton: Skeleton) -> Floats:
    """(J + T, 3) metres from the parent to each joint, then to each end site, in the parent's frame."""
    return np.concatenate([skeleton.offsets, skeleton.tip_offsets])


def bone_lengths(skeleton: Skeleton) -> Floats:
    """(J + T,) metres, in the order of `bone_vectors`."""
    return np.asarray(np.linalg.norm(bone_vectors(skeleton), axis=-1))


def bone_end(skeleton: Skeleton, joint: str, to: str) -> int:
    """The index of the place at the end of a bone, in the order of `bone_vectors`.

    ``joint`` turns the bone, "": the parent of ``to``; ``to`` is at the bone's end, "": that of the joint's only bone.
    """
    names, parents = (
        (*skeleton.names, *skeleton.tip_names),
        [*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()],
    )
    if not joint:
        if to not in names:
            raise InputError(unknown_name("joint or tip", to, names))
        end = names.index(to)
        if parents[end] < 0:
            raise InputError(f"joint {quote(to)} is a root: it has no parent")
        return end
    ends = [end for end, parent in enumerate(parents) if parent == skeleton.index(joint)]
    if to:
        ends = [end for end in ends if names[end] == to]
    if len(ends) != 1:
        bone = f"a bone to {quote(to)}" if to else "one bone"
        raise InputError(f"joint {quote(joint)}: expected {bone}, found {len(ends) or 'none'}")
    return ends[0]


def with_bones(skeleton: Skeleton, bones: Floats) -> Skeleton:
    """The skeleton with other bones, as `bone_vectors` has them; poses, bodies and effectors at end sites follow."""
    offsets, tips = np.split(bones, [len(skeleton)])
    poses = {
        name: Pose(pose.rotations, relengthened(pose.translations, skeleton.offsets, offsets))
        for name, pose in skeleton.poses.items()
    }
    parents = [*skeleton.parents.tolist(), *skeleton.tip_parents.tolist()]
    ends = list(zip(parents, bone_vectors(skeleton).tolist(), bones.tolist(), strict=True))
    moved = {(parent, *before): tuple(after) for parent, before, after in ends if before != after}
    at_tips = {(parent, *before): tuple(after) for parent, before, after in ends[len(skeleton) :] if before != after}
    bodies = None if skeleton.bodies is None else with_ends(skeleton.bodies, moved)
    effectors = tuple(
        replace(one, offset=at_tips.get((one.joint, *one.offset), one.offset)) for one in skeleton.effectors
    )
    return replace(skeleton, offsets=offsets, tip_offsets=tips, poses=poses, bodies=bodies, effectors=effectors)


def checked_name(document: Document, joint: int, name: str) -> str:
    """A valid name for a joint, stripped of blanks."""
    skeleton = document.skeleton
    own = quote(skeleton.names[joint])
    name = as_name(name, f"joint {own}")
    if name in skeleton.names and skeleton.names[joint] != name:
        raise InputError(f"joint {own}: another joint is called {quote(name)}")
    _check_places(skeleton, joint, name)
    if name != skeleton.names[joint] and name in {goal.id for goal in document.goals if goal.id != goal.effector}:
        raise InputError(f"joint {own}: a goal is called {quote(name)}")
    if name in {prop.name for prop in document.contact.props}:
        raise InputError(f"joint {own}: a prop is called {quote(name)}")
    return name


def _check_places(skeleton: Skeleton, joint: int, name: str) -> None:
    """Names must be unique: the joint's new name and those of its end sites may not be in use."""
    new = new_names(skeleton, {joint: name})
    kept = [effector.name for effector in skeleton.effectors if effector.name not in new]
    kept += [tip for tip in skeleton.tip_names if tip not in new]
    kept += [other for index, other in enumerate(skeleton.names) if index != joint]
    taken = next((wanted for wanted in new.values() if wanted in kept), None)
    if taken is not None:
        raise InputError(f"joint {quote(skeleton.names[joint])}: an effector or end site is called {quote(taken)}")


def new_names(skeleton: Skeleton, names: Mapping[int, str]) -> dict[str, str]:
    """By present name of a renamed joint or end site, its new name."""
    changed = {skeleton.names[joint]: name for joint, name in names.items()}
    for parent, tip in zip(skeleton.tip_parents.tolist(), skeleton.tip_names, strict=True):
        if parent in names:
            changed[tip] = names[parent] + tip.removeprefix(skeleton.names[parent])
    return changed


def renamed_skeleton(skeleton: Skeleton, names: Mapping[int, str]) -> Skeleton:
    """The skeleton with joints renamed; effectors named after a joint or end site are renamed with it."""
    new = new_names(skeleton, names)
    return replace(
        skeleton,
        names=tuple(names.get(joint, name) for joint, name in enumerate(skeleton.names)),
        effectors=tuple(replace(e, name=new[e.name]) if e.name in new else e for e in skeleton.effectors),
        mimics=tuple(renamed_mimics(skeleton.mimics, new)),
        loops=renamed_loops(skeleton.loops, new),
    )


def renamed_document(document: Document, names: Mapping[int, str]) -> Document:
    """The document with joints renamed everywhere."""
    new = new_names(document.skeleton, names)
    character = document.character
    own = renamed_skeleton(character.skeleton, names)
    working = own if document.skeleton is character.skeleton else renamed_skeleton(document.skeleton, names)
    return replace(
        document.with_takes(lambda take: _renamed_take(take, new)),
        character=replace(character, skeleton=own, source=_renamed_source(character.source, names, new)),
        skeleton=working,
        goals=tuple(
            replace(
                goal,
                effector=new.get(goal.effector, goal.effector),
                id=new.get(goal.id, goal.id) if goal.effector in new else goal.id,
                to=new.get(goal.to, goal.to),
            )
            for goal in document.goals
        ),
        unlimited=frozenset(new.get(name, name) for name in document.unlimited),
        selection=tuple(item._replace(name=new.get(item.name, item.name)) for item in document.selection),
        contact=document.contact.renamed(lambda name: new.get(name, name)),
    )


def _renamed_source(source: Source, names: Mapping[int, str], new: Mapping[str, str]) -> Source:
    """BVH is written with the names that were read, which may repeat: the other joints keep theirs.

    The joints of a robot keep the names that they have beside those of the bodies that they move.
    """
    if source.joint_names:
        called = {new.get(link, link): name for link, name in source.joint_names.items()}
        ranges = {new.get(link, link): ends for link, ends in source.ranges.items()}
        source = replace(source, joint_names=called, ranges=ranges)
    layout = source.layout
    if layout is None:
        return source
    read = tuple(names.get(joint, name) for joint, name in enumerate(layout.names))
    return replace(source, layout=replace(layout, names=read))


def _renamed_take(take: Take, new: Mapping[str, str]) -> Take:
    """Pins and layers name effectors, planted feet joints; tracks have joint indices."""
    feet = take.feet and replace(
        take.feet, contacts=tuple(one._replace(foot=new.get(one.foot, one.foot)) for one in take.feet.contacts)
    )
    layers = tuple(
        replace(one, effector=new.get(one.effector, one.effector), space=new.get(one.space, one.space))
        for one in take.layers
    )
    same = layers == take.layers and feet == take.feet
    if same and not any(pin.effector in new for pins in take.pins.values() for pin in pins):
        return take
    pins = {
        frame: tuple(pin._replace(effector=new.get(pin.effector, pin.effector)) for pin in some)
        for frame, some in take.pins.items()
    }
    return replace(take, pins=pins, layers=layers, feet=feet)


class Seen(NamedTuple):
    """The use that a clip makes of a joint.

    ``low`` and ``high`` (3,) are the ends of each coordinate: radians, metres of slides. ``share`` is the fraction of
    the frames that are inside the joint's limits.
    """

    low: Floats
    high: Floats
    share: float


def seen_in_clip(document: Document, joint: int) -> Seen | None:
    """The use that the clip shown makes of a joint; None without a clip, or for joints without coordinates."""
    clip, limits = document.clip_data, document.skeleton.limits[joint]
    if clip is None or limits is None:
        return None
    probe = _probe(document.character.skeleton, joint, limits.form, limits.twist_axis, limits.order)
    values = _coordinates(probe, clip)[:, joint, : len(limits.lower)]
    return Seen(values.min(axis=0), values.max(axis=0), _share(document.skeleton, joint, clip))


@lru_cache(maxsize=16)
def _share(skeleton: Skeleton, joint: int, clip: Clip) -> float:
    """The share of frames in which a joint is inside; of equivalent coordinates those nearest to its ranges count."""
    step = max(1, -(-len(clip) // _MOST_FRAMES))
    rotations, space = clip.rotations[::step, [joint]], joint_space(alone(skeleton, joint))
    moved = np.flatnonzero(clip.translated == joint)
    still = np.broadcast_to(skeleton.offsets[joint], (len(rotations), 1, 3))
    places = clip.translations[::step, moved] if moved.size else still
    outside = space.excess(space.measure(rotations, places))
    spare = _SLIPPED if skeleton.kinds[joint] is JointKind.SLIDE else _INSIDE
    return float(np.mean(outside <= spare))


def held_percent(share: float) -> int:
    """A share in percent; 100 only if no frame is outside, 0 only if none is inside."""
    return round(100.0 * share) if share in {0.0, 1.0} else min(max(math.floor(100.0 * share + 0.5), 1), 99)


def farthest(kind: JointKind, limits: JointLimits, place: int) -> float:
    """How far from rest an end of a range can be: radians, infinite for slides."""
    if kind is JointKind.SLIDE:
        return math.inf
    if limits.form is LimitForm.COORDINATES:
        return MOST_TURN
    middle = limits.form is LimitForm.EULER and limits.order[1] == AXIS_NAMES[place]
    return 0.5 * math.pi if middle else math.pi


def fitted_ranges(document: Document, joint: int) -> tuple[Ends, ...] | None:
    """Ranges of a joint that hold exactly what the clip does; None where `seen_in_clip` is."""
    seen = seen_in_clip(document, joint)
    if seen is None:
        return None
    kind, limits = document.skeleton.kinds[joint], document.skeleton.limits[joint]
    assert limits is not None
    spare = 0.0 if kind is JointKind.SLIDE else float(_SPARE)
    most = [farthest(kind, limits, place) for place in range(len(limits.lower))]
    ends = zip(seen.low.tolist(), seen.high.tolist(), most, strict=True)
    return tuple((max(low - spare, -far), min(high + spare, far)) for low, high, far in ends)


def source_limits(document: Document, joint: int) -> JointLimits | None:
    """The limits that a joint has from the document's source, without edits."""
    if not document.limits_from:
        return document.character.skeleton.limits[joint]
    return with_limits(document.character, document.limits_from).skeleton.limits[joint]


def coordinate_names(skeleton: Skeleton, joint: int) -> list[tuple[int, str]]:
    """Index and name of each coordinate that a person can set, in the order shown: swings before the twist."""
    kind, limits = skeleton.kinds[joint], skeleton.limits[joint]
    if kind is JointKind.HINGE:
        return [(0, f"Angle {_letter(skeleton.axes[joint, 0])}".rstrip())]
    if kind is JointKind.UNIVERSAL:
        letters = [_letter(axis) for axis in skeleton.axes[joint]]
        return [(i, f"Angle {letter or i + 1}") for i, letter in enumerate(letters)]
    if kind is JointKind.SLIDE:
        return [(0, "Slide")]
    if kind is not JointKind.BALL or limits is None:
        return []
    if limits.form is LimitForm.EULER:
        return [(i, f"Angle {axis}") for i, axis in enumerate("XYZ")]
    swings = [(i, f"Swing {axis}") for i, axis in enumerate("XYZ") if i != limits.twist_axis]
    return [*swings, (limits.twist_axis, f"Twist {'XYZ'[limits.twist_axis]}")]


def _letter(axis: Floats) -> str:
    """The letter of the axis that a direction is parallel to, or ""."""
    along = int(np.argmax(np.abs(axis)))
    return "XYZ"[along] if abs(axis[along]) > _CARDINAL else ""


def ends_of(limits: JointLimits) -> tuple[Ends, ...]:
    """The ranges of limits: radians, metres of slides."""
    return tuple(zip(limits.lower.tolist(), limits.upper.tolist(), strict=True))


def with_ranges(skeleton: Skeleton, ranges: Mapping[str, Sequence[Ends]]) -> Skeleton:
    """The skeleton with other ranges of some joints, in the form of limits that they have.

    ``ranges`` are (lowest, highest) of each coordinate, by joint.
    """
    limits = [*skeleton.limits]
    for name, ends in ranges.items():
        joint = skeleton.index(name)
        form = limits[joint] or unlimited_forms(skeleton)[joint]
        if form is None:
            raise InputError(f"joint {quote(name)}: a joint that is {skeleton.kinds[joint]} has no limits")
        if len(ends) != len(form.lower):
            count = len(form.lower)
            raise InputError(f"joint {quote(name)}: expected {count} ranges, found {len(ends)}")
        with prefixed(f"joint {quote(name)}"):
            limits[joint] = replace(form, lower=[low for low, _ in ends], upper=[high for _, high in ends])  # type: ignore[arg-type]
    return replace(skeleton, limits=tuple(limits))


def mirrored_ranges(skeleton: Skeleton, joint: int, ranges: Sequence[Ends]) -> tuple[str, tuple[Ends, ...]] | None:
    """The joint of the other side, and the mirror image of these ranges there.

    None where there is no such joint, or its axes are no mirror image of this one's.
    """
    other = int(partners(skeleton)[joint])
    mine, its = skeleton.limits[joint], skeleton.limits[other]
    if other == joint or mine is None or its is None:
        return None
    if (mine.form, len(mine.lower)) != (its.form, len(its.lower)) or skeleton.kinds[joint] is JointKind.SLIDE:
        return None
    images = _images(skeleton, joint, other)
    axes, targets = (_axes(skeleton, one, limits) for one, limits in ((joint, mine), (other, its)))
    along = (axes @ images.T) @ targets.T  # cosines between the images of this joint's axes and the other's axes
    found: list[Ends] = [(0.0, 0.0)] * len(ranges)
    targeted: list[int] = []
    for index, (low, high) in enumerate(ranges):
        target = int(np.argmax(np.abs(along[index])))
        if abs(along[index, target]) < _ALONG or target in targeted:
            return None
        found[target] = (low, high) if along[index, target] > 0.0 else (-high, -low)
        targeted.append(target)
    if not _same_roles(mine, its, targeted):
        return None
    return skeleton.names[other], tuple(found)


def _same_roles(mine: JointLimits, its: JointLimits, targets: list[int]) -> bool:
    """Whether twist becomes twist, and what acts first acts first; ``targets``: where each coordinate goes."""
    if mine.form is LimitForm.SWING_TWIST:
        return targets[mine.twist_axis] == its.twist_axis
    if mine.form is LimitForm.EULER:
        return [targets[AXIS_NAMES.index(axis)] for axis in mine.order] == [*map(AXIS_NAMES.index, its.order)]
    return targets == sorted(targets)


def _images(skeleton: Skeleton, joint: int, other: int) -> Floats:
    """(3, 3) the matrix that takes rotation vectors of a joint, in its rest frame, to their mirror images."""
    world = rest_world(skeleton).rotations
    normal = across_of(skeleton)
    columns = [rotate(world[joint], axis) for axis in np.eye(3)]
    reflected = [2.0 * (one @ normal) * normal - one for one in columns]  # rotation vectors are pseudovectors
    return np.stack([rotate(conjugate(world[other]), one) for one in reflected], axis=1)


def _axes(skeleton: Skeleton, joint: int, limits: JointLimits) -> Floats:
    """(n, 3) the axes about which the coordinates turn."""
    return skeleton.axes[joint, : len(limits.lower)] if limits.form is LimitForm.COORDINATES else np.eye(3)


@lru_cache(maxsize=16)
def _probe(skeleton: Skeleton, joint: int, form: LimitForm, twist_axis: int, order: EulerOrder) -> Skeleton:
    """The skeleton whose joints are measured in this form, without ranges."""
    limits = [*unlimited_forms(skeleton)]
    own = limits[joint]
    if own is not None and form is not LimitForm.COORDINATES:
        limits[joint] = replace(own, form=form, twist_axis=twist_axis, order=order)
    return replace(skeleton, limits=tuple(limits))


@lru_cache(maxsize=4)
def _coordinates(skeleton: Skeleton, clip: Clip) -> Floats:
    """(F, J, 3) coordinates of all joints in the frames that are looked at."""
    step = max(1, -(-len(clip) // _MOST_FRAMES))
    rotations = clip.rotations[::step]
    space = joint_space(skeleton)
    if space.slides.size:
        return space.measure(rotations, clip.local_translations(slice(None, None, step)))
    return space.measure(rotations, np.broadcast_to(skeleton.offsets, (*rotations.shape[:2], 3)))
