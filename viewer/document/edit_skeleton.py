"""Edits of a skeleton: bone lengths with the bodies on them, and joint names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from viewer.document.document import Document
from viewer.document.take import Take
from viewer.errors import InputError, quote, unknown_name
from viewer.skeleton import Bodies, Pose, Skeleton, Source
from viewer.skeleton.mimic import renamed_loops, renamed_mimics
from viewer.spatial.checks import Floats

_SHORTEST = 1e-9
"""A bone shorter than this, metres, has no direction of its own."""


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


def bone_end(skeleton: Skeleton, joint: str, to: str) -> int:
    """The index of the place at the end of a bone, in the order of `bone_vectors`.

    Args:
        skeleton: of the bone.
        joint: that turns the bone; "": the parent of ``to``.
        to: the joint or end site at the bone's end; "": that of the joint's only bone.

    Raises:
        InputError: no such bone, or several.
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
    bodies = skeleton.bodies
    if bodies is not None:
        bodies = Bodies(
            tuple(
                replace(one, a=moved.get((one.joint, *one.a), one.a), b=moved.get((one.joint, *one.b), one.b))
                for one in bodies.capsules
            )
        )
    effectors = tuple(
        replace(one, offset=at_tips.get((one.joint, *one.offset), one.offset)) for one in skeleton.effectors
    )
    return replace(skeleton, offsets=offsets, tip_offsets=tips, poses=poses, bodies=bodies, effectors=effectors)


LONGEST = 200
"""Longest name of a joint, characters."""


def checked_name(document: Document, joint: int, name: str) -> str:
    """A valid name for a joint, stripped of blanks.

    Raises:
        InputError: empty, too long, with invisible characters, or already in use.
    """
    skeleton, name = document.skeleton, name.strip()
    own = quote(skeleton.names[joint])
    if not name:
        raise InputError(f"joint {own}: expected a name, found none")
    if len(name) > LONGEST:
        raise InputError(f"joint {own}: expected a name of at most {LONGEST} characters, found {len(name)}")
    if not name.isprintable():
        raise InputError(f"joint {own}: expected a name of one line, found {quote(name)}")
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
        document,
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
        take=None if document.take is None else _renamed_take(document.take, new),
        put_aside=tuple(_renamed_take(take, new) for take in document.put_aside),
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
