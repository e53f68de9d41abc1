"""Documents on an edited skeleton: pose, keys, goals, pins, clips and what else names joints, carried by name."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from viewer.document.contact import DocumentContact
from viewer.document.document import Document, same_skeleton
from viewer.document.evaluation import Frames, Motion, keyed_frames, motion_of
from viewer.document.goal import DocumentGoal
from viewer.document.key_editing import differences
from viewer.document.pins import resolved
from viewer.document.scope import inside_at
from viewer.document.take import Take, Track
from viewer.ik.contact.values import FLOOR
from viewer.skeleton import Character, Skeleton
from viewer.skeleton.carrying import Carrier
from viewer.spatial.checks import Floats, Ints


def remap(document: Document, skeleton: Skeleton) -> Document:
    """The document with an edited skeleton: what remains of it is carried by the names of its joints.

    Goals, pins, keys, layers and planted feet of joints that are gone go with them; new effectors have a goal that is
    off. What the file states of joints that were not edited stays as the file has it.

    Args:
        document: with the skeleton before.
        skeleton: the edited one.
    """
    before, own = document.skeleton, document.character.skeleton
    if same_skeleton(before, skeleton):
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
        return _carried_take(Motion(take, clip, own, before), character, file_carrier, _known(skeleton))

    changed = replace(
        document,
        character=character,
        skeleton=skeleton,
        pose=carrier.pose(document.pose),
        goals=_goals(document, skeleton),
        unlimited=document.unlimited & joints,
        take=None if document.take is None else of(document.take),
        put_aside=tuple(map(of, document.put_aside)),
        contact=_contact(document.contact, joints),
    )
    layers = set() if changed.take is None else {layer.id for layer in changed.take.layers}
    kept = {"joint": joints, "effector": effectors | {goal.id for goal in changed.goals}, "layer": layers}
    selection = tuple(item for item in document.selection if item.name in kept.get(item.kind, {item.name}))
    changed = replace(changed, selection=selection)
    edited = _moving_otherwise(carrier)
    if edited and not changed.frames:  # a frame of a clip stays as the clip has it
        changed = replace(changed, pose=inside_at(changed, changed.pose, edited))
    take = changed.take
    return changed if take is None else replace(changed, take=resolved(changed, motion_of(changed), take))


def _moving_otherwise(carrier: Carrier) -> list[int]:
    """Joints that remain, but with another kind, axis or range: their pose may be one that they cannot have."""
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
    moves = document.clip_data is not None or any(
        take.tracks for take in (document.take, *document.put_aside) if take is not None
    )
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
    made = replace(
        new, offsets=offsets, stiffness=stiffness, limits=tuple(limits), effectors=effectors, poses={}, bodies=None
    )
    place = Carrier(own, made)
    poses = {name: place.pose(pose) for name, pose in own.poses.items()}
    return replace(made, poses=poses, bodies=new.bodies)


def _goals(document: Document, skeleton: Skeleton) -> tuple[DocumentGoal, ...]:
    """One goal for each effector in order, then the others that still have both ends."""
    names = {effector.name for effector in skeleton.effectors}
    own = {goal.id: goal for goal in document.goals}
    first = [own.get(effector.name) for effector in skeleton.effectors]
    return (
        *(
            goal if goal is not None else DocumentGoal(effector=effector.name, enabled=False)
            for goal, effector in zip(first, skeleton.effectors, strict=True)
        ),
        *(
            goal
            for goal in document.goals
            if goal.id not in names and goal.effector in names and (not goal.relative or goal.to in names)
        ),
    )


def _contact(contact: DocumentContact, joints: set[str]) -> DocumentContact:
    known = {*joints, *(prop.name for prop in contact.props), FLOOR}
    return replace(
        contact,
        exclude=tuple(pair for pair in contact.exclude if known.issuperset(pair)),
        grips=tuple(pair for pair in contact.grips if pair[0] in joints),
    )


def _known(skeleton: Skeleton) -> set[str]:
    """Names that layers and pins may have."""
    return {*skeleton.names, *skeleton.tip_names, *(effector.name for effector in skeleton.effectors)}


def _carried_take(motion: Motion, character: Character, carrier: Carrier, known: set[str]) -> Take:
    """A take with its tracks by name, without what names joints that are gone."""
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

    def up(here: int) -> list[int]:
        path = []
        while here >= 0:
            path.append(here)
            here = int(carrier.old.parents[here])
        return path

    anchor = int(carrier.new.parents[joint])
    while anchor >= 0 and carrier.source[anchor] < 0:
        anchor = int(carrier.new.parents[anchor])
    mine, its = up(int(carrier.source[joint])), up(int(carrier.source[anchor]) if anchor >= 0 else -1)
    return [here for here in mine if here not in its] + [here for here in its if here not in mine]
