"""Carries documents to another skeleton: an edited one, or that of the same file read in other units.

Pose, keys, goals, pins, clips and everything else that names joints is carried by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.document_contact import DocumentContact, Prop
from viewer.document.document_goal import NO_BALANCE, DocumentGoal
from viewer.document.edit_skeleton import bone_vectors, renamed_skeleton, with_bones
from viewer.document.evaluation import Frames, Motion, keyed_frames
from viewer.document.import_export import usual_margin
from viewer.document.key_editing import differences
from viewer.document.posed_goals import followers_on
from viewer.document.scope import inside_at
from viewer.document.solved_frames import resolved
from viewer.document.take import Pin, Take, Track, same
from viewer.errors import InputError
from viewer.ik.contact.values import FLOOR
from viewer.ik.goals import KINDS, NUMBERS, Number, Quaternion, Unit, Value, Vector
from viewer.skeleton import Bodies, Character, Clip, JointKind, Pose, Skeleton, above
from viewer.skeleton.skeleton import effector_names, moved_roots
from viewer.skeleton.transfer import Carrier
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, normalized, rotate


def remap(document: Document, skeleton: Skeleton) -> Document:
    """The document with an edited skeleton: joints that remain are matched by their names.

    Goals, pins, keys, layers and planted feet of joints that are gone go with them; new effectors have a goal that is
    off. What the file states about joints that were not edited stays as in the file.
    """
    before, own = document.skeleton, document.character.skeleton
    if same(before, skeleton):
        return document
    carrier = Carrier(before, skeleton)
    of_file = skeleton if own is before else _of_file(own, carrier)
    file_carrier = carrier if own is before else Carrier(own, of_file)
    old_clips = document.character.clips
    character = file_carrier.character(document.character)
    effectors = {effector.name for effector in skeleton.effectors}
    joints = {*skeleton.names}

    def of(take: Take) -> Take:
        clip = None if take.base is None else old_clips[take.base]
        return _carried_take(Motion(take, clip, own, before), character, file_carrier, effector_names(skeleton))

    changed = replace(
        document.with_takes(of),
        character=character,
        skeleton=skeleton,
        pose=carrier.pose(document.pose),
        goals=_goals(document, skeleton),
        unlimited=document.unlimited & joints,
        contact=_contact(document.contact, joints),
    )
    layers = set() if changed.take is None else {layer.id for layer in changed.take.layers}
    kept = {"joint": joints, "effector": effectors | {goal.id for goal in changed.goals}, "layer": layers}
    selection = tuple(item for item in document.selection if item.name in kept.get(item.kind, {item.name}))
    changed = replace(changed, selection=selection)
    edited = _moving_otherwise(carrier)
    if edited and not changed.frames:  # a frame of a clip stays as the clip has it
        changed = replace(changed, pose=inside_at(changed, changed.pose, edited))
    return _resolved(followers_on(changed, (end for goal in document.goals for end in goal.ends if goal.of_two)))


def _resolved(changed: Document) -> Document:
    """The document with the frames of its take that a solver finds found again."""
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, take))


def _moving_otherwise(carrier: Carrier) -> list[int]:
    """Joints that remain, but with another kind, axis or range: they may be unable to have their present pose."""
    old, new = carrier.old, carrier.new
    return [
        joint
        for joint, before in enumerate(carrier.source.tolist())
        if before >= 0
        and (
            old.kinds[before] is not new.kinds[joint]
            or old.limits[before] != new.limits[joint]
            or not np.array_equal(old.axes[before], new.axes[joint])
        )
    ]


def lost(document: Document, skeleton: Skeleton) -> int:
    """How many joints the motion of a document loses with an edited skeleton; 0 without motion."""
    moves = document.clip_data is not None or any(take.tracks for take in document.takes)
    return len(Carrier(document.skeleton, skeleton).lost) if moves else 0


def _of_file(own: Skeleton, carrier: Carrier) -> Skeleton:
    """The edited skeleton with the lengths, limits and stiffness of the file where the edit has left them alone."""
    new, before = carrier.new, carrier.old
    offsets, stiffness, limits = new.offsets.copy(), new.stiffness.copy(), list(new.limits)
    for joint, here in enumerate(carrier.source.tolist()):
        if here < 0 or not carrier.direct[joint]:
            continue
        if np.array_equal(new.offsets[joint], before.offsets[here]):
            offsets[joint] = own.offsets[here]
        if new.kinds[joint] is before.kinds[here]:
            stiffness[joint] = own.stiffness[here]
            limits[joint] = own.limits[here] if new.limits[joint] is before.limits[here] else new.limits[joint]
    names = {effector.name for effector in new.effectors}
    index = {name: joint for joint, name in enumerate(new.names)}
    effectors = tuple(
        replace(one, joint=index[own.names[one.joint]])
        for one in own.effectors
        if one.name in names and own.names[one.joint] in index
    )
    tips = [dict(zip(one.tip_names, one.tip_offsets.tolist(), strict=True)) for one in (own, before)]
    tip_offsets = new.tip_offsets.copy()
    for tip, (name, offset) in enumerate(zip(new.tip_names, new.tip_offsets.tolist(), strict=True)):
        if name in tips[0] and tips[1].get(name) == offset:
            tip_offsets[tip] = tips[0][name]
    made = replace(
        new,
        offsets=offsets,
        tip_offsets=tip_offsets,
        stiffness=stiffness,
        limits=tuple(limits),
        effectors=effectors,
        poses={},
        bodies=None,
    )
    place = Carrier(own, made)
    poses = {name: place.pose(pose) for name, pose in own.poses.items()}
    return replace(made, poses=poses, bodies=new.bodies)


def _goals(document: Document, skeleton: Skeleton) -> tuple[DocumentGoal, ...]:
    """One goal for each effector in order, then the others that still have both ends."""
    first = {one.name: DocumentGoal(effector=one.name, enabled=False) for one in skeleton.effectors}
    kept = {goal.id: goal for goal in document.goals if goal.id in first or first.keys() >= {*goal.ends}}
    return tuple((first | kept).values())


def _contact(contact: DocumentContact, joints: set[str]) -> DocumentContact:
    known = {*joints, *(prop.name for prop in contact.props), FLOOR}
    return replace(
        contact,
        exclude=tuple(pair for pair in contact.exclude if known.issuperset(pair)),
        grips=tuple(pair for pair in contact.grips if pair[0] in joints),
    )


def _carried_take(motion: Motion, character: Character, carrier: Carrier, known: set[str]) -> Take:
    """A take with its tracks matched by name, without anything that refers to joints that are gone."""
    take = motion.take
    assert take is not None
    gone = {*carrier.old.names, *carrier.old.tip_names, *(e.name for e in carrier.old.effectors)} - known
    pins = {
        frame: left for frame, some in take.pins.items() if (left := tuple(p for p in some if p.effector not in gone))
    }
    feet = take.feet and replace(
        take.feet, contacts=tuple(one for one in take.feet.contacts if one.foot in carrier.new.names)
    )
    return replace(
        take,
        rest=None if take.rest is None else carrier.pose(take.rest),
        tracks=_tracks(motion, character, carrier),
        pins=pins,
        layers=tuple(one for one in take.layers if one.effector not in gone and one.space not in gone),
        feet=feet if feet is None or feet.contacts else None,
        solved=(),
    )


def _tracks(motion: Motion, character: Character, carrier: Carrier) -> tuple[Track, ...]:
    take = motion.take
    assert take is not None
    found = []
    for joint, here in enumerate(carrier.source.tolist()):
        if here < 0:
            continue
        track = take.track(here)
        if not carrier.direct[joint]:
            track = _through_the_world(motion, character, carrier, joint)
        elif track is not None:
            moved = track.translations
            change = carrier.new.offsets[joint] - carrier.old.offsets[here]
            if moved is not None and motion.clip is None and change.any():
                at_rest = (moved == carrier.old.offsets[here]).all(axis=-1)[:, None]
                moved = np.where(at_rest, carrier.new.offsets[joint], moved + change)
            track = replace(track, joint=joint, translations=moved)
        if track is not None:
            found.append(track)
    return tuple(found)


def _through_the_world(motion: Motion, character: Character, carrier: Carrier, joint: int) -> Track | None:
    """The track of a joint with another parent: keys wherever it, or a joint between the two parents, has one."""
    take = motion.take
    assert take is not None
    tracks = [track for here in _between(carrier, joint) if (track := take.track(here)) is not None]
    if not tracks:
        return None
    frames: Ints = np.unique(np.concatenate([track.frames for track in tracks]))
    local = [keyed_frames(motion, here, frames) for here in range(len(carrier.old))]
    turned, moved = carrier.arrays(
        np.stack([one.rotations for one in local], axis=1), np.stack([one.translations for one in local], axis=1)
    )
    keys: tuple[Floats, Floats] = turned[:, joint], moved[:, joint]
    if take.base is not None:
        clip = character.clips[take.base]
        base = Frames(clip.rotations[frames, joint], clip.local_translations(frames)[:, joint])
        keys = differences(base, Frames(*keys))
    last = np.clip(np.searchsorted(tracks[0].frames, frames, side="right") - 1, 0, None)
    return Track(joint, frames, keys[0], keys[1], tracks[0].blends[last])


def _between(carrier: Carrier, joint: int) -> list[int]:
    """Old joints on whose rotation that of a joint in its new parent's frame depends, itself first."""
    anchor = next((one for one in above(carrier.new, joint)[1:] if carrier.source[one] >= 0), None)
    mine = above(carrier.old, int(carrier.source[joint]))
    its = [] if anchor is None else above(carrier.old, int(carrier.source[anchor]))
    both = {*mine} & {*its}
    return [here for here in (*mine, *its) if here not in both]


def reread(document: Document, character: Character) -> Document:
    """The document on another reading of its file: pose, targets and edits are scaled and rotated as the file was.

    Raises:
        InputError: the joints or clips differ.
    """
    before = document.character.skeleton
    same = np.array_equal(before.parents, character.skeleton.parents)
    if not same or tuple(document.character.clips) != tuple(character.clips):
        raise InputError("expected the same file in other units, found other joints or clips")
    character = _named(character, document.character)
    after = character.skeleton
    root = int(before.roots[0])
    scale = character.source.metres_per_unit / document.character.source.metres_per_unit
    change = Reading(scale, multiply(after.rest_rotations[root], conjugate(before.rest_rotations[root])), before.roots)
    contact, balance = document.contact, document.balance
    if balance != NO_BALANCE:  # a margin that is not in use becomes that of a new document
        margin = scale * balance.margin if balance.on else usual_margin(character)
        balance = replace(balance, margin=margin, height=scale * balance.height)
    changed = replace(
        document.with_takes(lambda take: reread_take(take, change)),
        character=character,
        skeleton=_edited(document.skeleton, before, after, change.unturned),
        pose=change.pose(document.pose),
        goals=tuple(_reread_goal(goal, change) for goal in document.goals),
        contact=replace(
            contact, height=scale * contact.height, props=tuple(_reread_prop(prop, change) for prop in contact.props)
        ),
        balance=balance,
    )
    return _resolved(changed)


class Reading(NamedTuple):
    """How another reading of a file differs from the one before.

    ``scale``: new metres per old metre; ``turn`` (4,): new_world_from_old_world; ``roots``: indices of the root joints.
    """

    scale: float
    turn: Floats
    roots: Ints

    @property
    def unturned(self) -> Reading:
        """For what is in the frame of a joint, or of what carries it: that turns along."""
        return self._replace(turn=IDENTITY)

    def place(self, place: Vector) -> Vector:
        """A place or offset (3,)."""
        x, y, z = rotate(self.turn, np.multiply(place, self.scale)).tolist()
        return x, y, z

    def rotation(self, rotation: Quaternion) -> Quaternion:
        """A rotation (4,), world frame."""
        x, y, z, w = normalized(multiply(self.turn, rotation)).tolist()
        return x, y, z, w

    def target(self, position: Vector | None, rotation: Quaternion | None) -> dict[str, Any]:
        """Fields with a position and a rotation, each of which may be missing."""
        return {
            "position": None if position is None else self.place(position),
            "rotation": None if rotation is None else self.rotation(rotation),
        }

    def pose(self, pose: Pose) -> Pose:
        """A pose of the document's skeleton."""
        return Pose(*moved_roots(self.roots, pose.rotations, self.scale * pose.translations, self.turn))


def _named(character: Character, before: Character) -> Character:
    """Joints renamed since the file was read keep their new names."""
    if before.skeleton.names == character.skeleton.names:
        return character
    skeleton = renamed_skeleton(character.skeleton, dict(enumerate(before.skeleton.names)))
    return replace(character, skeleton=skeleton, source=replace(character.source, layout=before.source.layout))


def _edited(working: Skeleton, before: Skeleton, after: Skeleton, change: Reading) -> Skeleton:
    """The new skeleton with the edited lengths, limits of angles, stiffness, effectors and bodies."""
    bones = [bone_vectors(one) for one in (before, working)]
    own, edited = (np.linalg.norm(some, axis=-1) for some in bones)
    changed = (bones[0] != bones[1]).any(axis=-1) & (own > 0.0)
    ratio = np.where(changed, edited / np.where(own > 0.0, own, 1.0), 1.0)
    made = with_bones(after, bone_vectors(after) * ratio[:, None])
    file_effectors = {effector.name: effector for effector in made.effectors}
    effectors = tuple(
        file_effectors.get(e.name) or replace(e, offset=change.place(e.offset)) for e in working.effectors
    )
    kept, bodies = working.bodies if working.bodies != before.bodies else None, after.bodies
    if kept is not None:
        bodies = Bodies(
            tuple(
                replace(one, a=change.place(one.a), b=change.place(one.b), radius=change.scale * one.radius)
                for one in kept.capsules
            )
        )
    limits = tuple(
        new if kind is JointKind.SLIDE or same(own_limits, old) else own_limits
        for kind, own_limits, old, new in zip(after.kinds, working.limits, before.limits, after.limits, strict=True)
    )
    return replace(made, limits=limits, stiffness=working.stiffness, effectors=effectors, bodies=bodies)


def _reread_prop(prop: Prop, change: Reading) -> Prop:
    return replace(
        prop,
        center=change.place(prop.center),
        rotation=change.rotation(prop.rotation),
        radius=change.scale * prop.radius,
        size=change.unturned.place(prop.size),
        scale=change.scale * prop.scale,
    )


def _reread_goal(goal: DocumentGoal, change: Reading) -> DocumentGoal:
    numbers: dict[str, Any] = {name: _reread(NUMBERS[name], value, change) for name, value in goal.numbers.items()}
    own = change.unturned if KINDS[goal.kind].relative else change
    return replace(
        goal, offset=change.unturned.place(goal.offset), **own.target(goal.position, goal.rotation), **numbers
    )


def _reread(number: Number, value: Value, change: Reading) -> Value:
    """A number of a goal in other units and axes: lengths are scaled, directions of the world turned."""
    if number.unit is Unit.LENGTH:
        assert isinstance(value, float)
        return change.scale * value
    if number.unit is Unit.WORLD_DIRECTION:
        assert not isinstance(value, float)
        return change._replace(scale=1.0).place(value)
    return value


def with_motion(document: Document, character: Character) -> Document:
    """The document with the clips of another file, or of its own file after a change; the pose stays.

    Clips replace those of the same name; clips of other names replace the rest in order. A clip that is too short for
    its keys is extended by its last frame.

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
    clips = _fitting(document.character.clips, character.clips, document.takes)
    source = replace(document.character.source, path=path)
    changed = replace(
        document.with_takes(lambda take: _cut(take, clips)),
        character=replace(document.character, clips=MappingProxyType(clips), source=source),
        frame=document.frame if document.clip is None else min(document.frame, len(clips[document.clip]) - 1),
    )
    return _resolved(changed)


def _fitting(ours: Mapping[str, Clip], found: Mapping[str, Clip], takes: tuple[Take, ...]) -> dict[str, Clip]:
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


def reread_take(take: Take, change: Reading) -> Take:
    """The same keys on another reading; frames solved between keys are dropped."""
    feet = take.feet
    return replace(
        take,
        tracks=tuple(_track(take, track, change) for track in take.tracks),
        rest=None if take.rest is None else change.pose(take.rest),
        pins={frame: tuple(_pin(pin, change) for pin in pins) for frame, pins in take.pins.items()},
        layers=tuple(
            replace(one, **(change.unturned if one.space else change).target(one.position, one.rotation))
            for one in take.layers
        ),
        feet=feet if feet is None or feet.pelvis is None else replace(feet, pelvis=feet.pelvis * change.scale),
        solved=(),
    )


def _track(take: Take, track: Track, change: Reading) -> Track:
    turn = change.turn if track.joint in change.roots else IDENTITY
    rotations, moved = track.rotations, track.translations
    if turn is not IDENTITY and take.base is None:  # values on a clip are in the joint's own frame
        rotations = normalized(multiply(turn, rotations))
    return replace(
        track, rotations=rotations, translations=None if moved is None else rotate(turn, moved * change.scale)
    )


def _pin(pin: Pin, change: Reading) -> Pin:
    return pin._replace(offset=change.unturned.place(pin.offset), **change.target(pin.position, pin.rotation))
