"""Documents whose file is read again in other units or with another up axis, or whose motion is replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from viewer.document.balance import NO_BALANCE, DocumentBalance
from viewer.document.document import Document
from viewer.document.edit_skeleton import relengthened, renamed_skeleton
from viewer.document.evaluation import motion_of
from viewer.document.goal import PAIR_KINDS, DocumentGoal
from viewer.document.opening import usual_margin
from viewer.document.pins import resolved
from viewer.document.take import GoalLayer, Pin, PlantedFeet, Take, Track
from viewer.errors import InputError
from viewer.ik.goals import NUMBERS, Unit
from viewer.skeleton import Bodies, Capsule, Character, Clip, Effector, JointKind, JointLimits, Pose, Skeleton
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, normalized, rotate


def reread(document: Document, character: Character) -> Document:
    """The document on another reading of its file: pose, targets and edits are scaled and rotated as the file was.

    Args:
        document: on the previous reading.
        character: the same file, read in other units or with another up axis.

    Raises:
        InputError: the joints or clips differ.
    """
    before = document.character.skeleton
    same = np.array_equal(before.parents, character.skeleton.parents)
    if not same or tuple(document.character.clips) != tuple(character.clips):
        raise InputError("expected the same file in other units, found other joints or clips")
    character = _named(character, document.character)
    after = character.skeleton
    scale = character.source.metres_per_unit / document.character.source.metres_per_unit
    root = int(before.roots[0])
    new_from_old = multiply(after.rest_rotations[root], conjugate(before.rest_rotations[root]))
    skeleton = _edited(document.skeleton, before, after, scale)
    roots = before.roots
    rotations, translations = document.pose.rotations.copy(), document.pose.translations * scale
    rotations[roots] = multiply(new_from_old, rotations[roots])
    translations[roots] = rotate(new_from_old, translations[roots])
    changed = replace(
        document,
        character=character,
        skeleton=skeleton,
        pose=Pose(rotations / np.linalg.norm(rotations, axis=-1, keepdims=True), translations),
        goals=tuple(_reread_goal(goal, scale, new_from_old) for goal in document.goals),
        put_aside=tuple(reread_take(take, scale, new_from_old, roots) for take in document.put_aside),
        take=None if document.take is None else reread_take(document.take, scale, new_from_old, roots),
        contact=document.contact.moved(scale, new_from_old),
        balance=_reread_balance(document.balance, character, scale),
    )
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, motion_of(changed), take))


def _reread_balance(balance: DocumentBalance, character: Character, scale: float) -> DocumentBalance:
    """Its lengths in the new unit; a margin that is not in use becomes that of a new document."""
    if balance == NO_BALANCE:
        return balance
    moved = balance.moved(scale)
    return moved if balance.on else replace(moved, margin=usual_margin(character))


def _named(character: Character, before: Character) -> Character:
    """Joints renamed since the file was read keep their new names."""
    if before.skeleton.names == character.skeleton.names:
        return character
    skeleton = renamed_skeleton(character.skeleton, dict(enumerate(before.skeleton.names)))
    return replace(character, skeleton=skeleton, source=replace(character.source, layout=before.source.layout))


def _edited(working: Skeleton, before: Skeleton, after: Skeleton, scale: float) -> Skeleton:
    """The new skeleton with the edited lengths, limits of angles, stiffness, effectors and bodies."""
    own, edited = np.linalg.norm(before.offsets, axis=-1), np.linalg.norm(working.offsets, axis=-1)
    changed = (before.offsets != working.offsets).any(axis=-1) & (own > 0.0)
    ratio = np.where(changed, edited / np.where(own > 0.0, own, 1.0), 1.0)
    offsets = after.offsets * ratio[:, None]
    poses = {
        name: Pose(pose.rotations, relengthened(pose.translations, after.offsets, offsets))
        for name, pose in after.poses.items()
    }
    file_effectors = {effector.name: effector for effector in after.effectors}
    effectors = tuple(file_effectors.get(e.name) or _scaled(e, scale) for e in working.effectors)
    kept = working.bodies if working.bodies != before.bodies else None
    bodies = after.bodies if kept is None else Bodies(tuple(_scaled_capsule(one, scale) for one in kept.capsules))
    limits = tuple(
        new if kind is JointKind.SLIDE or _same_limits(own_limits, old) else own_limits
        for kind, own_limits, old, new in zip(after.kinds, working.limits, before.limits, after.limits, strict=True)
    )
    return replace(
        after,
        offsets=offsets,
        limits=limits,
        stiffness=working.stiffness,
        effectors=effectors,
        poses=poses,
        bodies=bodies,
    )


def _same_limits(one: JointLimits | None, other: JointLimits | None) -> bool:
    return one is other or (one is not None and one.same_as(other))


def _scaled_capsule(capsule: Capsule, scale: float) -> Capsule:
    (x, y, z), (u, v, w) = capsule.a, capsule.b
    return replace(
        capsule,
        a=(scale * x, scale * y, scale * z),
        b=(scale * u, scale * v, scale * w),
        radius=scale * capsule.radius,
    )


def _scaled(effector: Effector, scale: float) -> Effector:
    x, y, z = (scale * value for value in effector.offset)
    return replace(effector, offset=(x, y, z))


def _reread_goal(goal: DocumentGoal, scale: float, new_from_old: Floats) -> DocumentGoal:
    if goal.kind in PAIR_KINDS:  # in a joint's frame, which keeps its axes
        new_from_old = np.array((0.0, 0.0, 0.0, 1.0))
    position = None if goal.position is None else rotate(new_from_old, scale * np.array(goal.position))
    rotation = None if goal.rotation is None else multiply(new_from_old, np.array(goal.rotation))
    given = {name: value for name, value in goal.numbers.items() if isinstance(value, float)}
    lengths = {name: scale * value for name, value in given.items() if NUMBERS[name].unit is Unit.LENGTH}
    offset = scale * np.array(goal.offset)
    return replace(goal, position=position, rotation=rotation, offset=offset, **lengths)  # type: ignore[arg-type]


def with_motion(document: Document, character: Character) -> Document:
    """The document with the clips of another file, or of its own file after a change; the pose stays.

    Clips replace those of the same name; clips of other names replace the rest in order. A clip that is too short for
    its keys is extended by its last frame.

    Args:
        document: its figure, keys and goals stay.
        character: with the clips, in the same units.

    Raises:
        InputError: the file has no motion, or the motion of another figure.
    """
    path = character.source.path
    if not any(len(clip) for clip in character.clips.values()):
        raise InputError(f"{path}: expected motion, found a skeleton without frames")
    own, other = document.character.skeleton, character.skeleton
    if not np.array_equal(own.parents, other.parents):
        found = f"found {len(other)}" if len(own) != len(other) else "found another hierarchy"
        raise InputError(f"{path}: expected motion of the {len(own)} joints of this figure, {found}")
    takes = [take for take in (document.take, *document.put_aside) if take is not None]
    clips = _fitting(document.character.clips, character.clips, takes)
    source = replace(document.character.source, path=path)
    changed = replace(
        document,
        character=replace(document.character, clips=MappingProxyType(clips), source=source),
        take=None if document.take is None else _cut(document.take, clips),
        put_aside=tuple(_cut(take, clips) for take in document.put_aside),
        frame=document.frame if document.clip is None else min(document.frame, len(clips[document.clip]) - 1),
    )
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, motion_of(changed), take))


def _fitting(ours: Mapping[str, Clip], found: Mapping[str, Clip], takes: list[Take]) -> dict[str, Clip]:
    """Clips under the document's names first, then new ones; a name without a replacement keeps its clip."""
    usable = {name: clip for name, clip in found.items() if len(clip)}
    spare = [clip for name, clip in usable.items() if name not in ours]
    clips = {}
    for name, clip in ours.items():
        got = usable.get(name) or (spare.pop(0) if spare else clip)
        keys = [take.frames[-1] for take in takes if take.base == name and take.frames]
        clips[name] = _extended(replace(got, name=name), max(keys, default=0) + 1)
    return clips | {clip.name: clip for clip in spare}


def _extended(clip: Clip, frames: int) -> Clip:
    more = frames - len(clip)
    if more <= 0:
        return clip
    rotations, translations = (
        np.concatenate([array, np.repeat(array[-1:], more, axis=0)]) for array in (clip.rotations, clip.translations)
    )
    return replace(clip, rotations=rotations, translations=translations)


def _cut(take: Take, clips: Mapping[str, Clip]) -> Take:
    """The take, its range cut to the clip's length."""
    if take.base is None or take.last < len(clips[take.base]):
        return take
    last = len(clips[take.base]) - 1
    return replace(take, first=min(take.first, last), last=last)


def reread_take(take: Take, scale: float, new_from_old: Floats, roots: Ints) -> Take:
    """The same keys at another scale, roots rotated; frames solved between keys are dropped.

    Args:
        take: on the previous reading.
        scale: new metres per old metre.
        new_from_old: (4,) new_world_from_old_world.
        roots: indices of the root joints.
    """
    some = set(roots.tolist())
    return replace(
        take,
        tracks=tuple(
            _track(take, track, scale, new_from_old if track.joint in some else None) for track in take.tracks
        ),
        rest=None if take.rest is None else _pose(take.rest, scale, new_from_old, roots),
        pins={frame: tuple(_pin(pin, scale, new_from_old) for pin in pins) for frame, pins in take.pins.items()},
        layers=tuple(_layer(layer, scale, new_from_old) for layer in take.layers),
        feet=_feet(take.feet, scale),
        solved=(),
    )


def _feet(feet: PlantedFeet | None, scale: float) -> PlantedFeet | None:
    return feet if feet is None or feet.pelvis is None else replace(feet, pelvis=feet.pelvis * scale)


def _layer(layer: GoalLayer, scale: float, new_from_old: Floats) -> GoalLayer:
    """What a joint or prop carries turns with it."""
    turn = IDENTITY if layer.space else new_from_old
    position, rotation = layer.position, layer.rotation
    if position is not None:
        position = tuple(rotate(turn, np.multiply(position, scale)).tolist())
    if rotation is not None:
        rotation = tuple(normalized(multiply(turn, rotation)).tolist())
    return replace(layer, position=position, rotation=rotation)


def _track(take: Take, track: Track, scale: float, new_from_old: Floats | None) -> Track:
    rotations, moved = track.rotations, track.translations
    if new_from_old is not None and take.base is None:  # values on a clip are in the joint's own frame
        rotations = normalized(multiply(new_from_old, rotations))
    if moved is not None:
        moved = moved * scale if new_from_old is None else rotate(new_from_old, moved * scale)
    return replace(track, rotations=rotations, translations=moved)


def _pose(pose: Pose, scale: float, new_from_old: Floats, roots: Ints) -> Pose:
    rotations, translations = pose.rotations.copy(), pose.translations * scale
    rotations[roots] = normalized(multiply(new_from_old, rotations[roots]))
    translations[roots] = rotate(new_from_old, translations[roots])
    return Pose(rotations, translations)


def _pin(pin: Pin, scale: float, new_from_old: Floats) -> Pin:
    position = None if pin.position is None else tuple(rotate(new_from_old, [scale * v for v in pin.position]).tolist())
    rotation = None if pin.rotation is None else tuple(normalized(multiply(new_from_old, pin.rotation)).tolist())
    x, y, z = (scale * value for value in pin.offset)
    return Pin(pin.effector, position, rotation, (x, y, z), pin.goal)
