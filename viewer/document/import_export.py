"""From a character to a document, and back: a new document, and what is exported of one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

import numpy as np

from viewer.document.document import Document, SolverSettings
from viewer.document.document_contact import NO_CONTACT, contact_of, grips, grips_from
from viewer.document.document_goal import (
    NO_BALANCE,
    POSITION_KIND,
    DocumentGoal,
    balance_from,
    balances,
    check_kind,
    document_goal,
)
from viewer.document.evaluation import baked_frames, check_played_frame, home_pose, layered, motion_of, still
from viewer.document.posed_goals import as_they_are, stand_of
from viewer.document.scope import with_loops_closed
from viewer.document.solved_frames import finished
from viewer.errors import InputError, unknown_name
from viewer.ik.buffers import checked_start
from viewer.ik.contact import Contact
from viewer.ik.goals import KINDS, Goal
from viewer.ik.goals.kind import stand_at
from viewer.ik.goals.pose_goal import holds
from viewer.skeleton import Character, Clip, EffectorGoal, FreeNames, Pose, Skeleton, effector_of, world_of
from viewer.skeleton.kinematics import extent
from viewer.skeleton.skeleton import effector_names
from viewer.spatial.checks import handed_over

LEAST, MOST = 0.1, 30.0
"""Heights, metres, between which a figure counts as of human size."""

_USUAL = 1.7

NAME = "take"
"""Name of the baked clip of a take without a clip."""


def new_document(
    character: Character,
    *,
    clip: str | None = None,
    frame: int | None = None,
    pose: Pose | None = None,
    goals: Iterable[Goal] | None = None,
    contact: Contact | None = None,
) -> Document:
    """A document that shows a character: every effector that is on is held where it is, feet are pinned.

    Holds give way to what is dragged. The position tolerance is a millimetre and the margin of balance 3 cm, scaled for
    figures that are not of human size.

    Args:
        character: as loaded.
        clip: name of the clip to show; the first one unless given.
        frame: of that clip; 0 unless given.
        pose: the initial pose; else the clip's frame, else the relaxed pose.
        goals: replace the holds of their joints' effectors. Joints and tips that they name become effectors.
        contact: floor, bodies and objects, which become props.

    Raises:
        InputError: an unknown clip, frame, effector or gripped object, a function goal, a pose of another skeleton, an
            object that a document cannot hold.
    """
    name = _clip_name(character, clip)
    rest, settings = character.skeleton.rest_pose(), SolverSettings()
    near = settings.tolerance_m * step_scale(float(extent(character).max()))
    solver = replace(settings, tolerance_m=near, firm_holds=False)
    balance = replace(NO_BALANCE, margin=usual_margin(character))
    empty = Document(character, character.skeleton, rest, clip=name, frame=frame or 0, solver=solver, balance=balance)
    if frame is not None and name is None:
        raise InputError(f"no frame {frame}: no clip is loaded")
    if pose is not None:
        start = checked_start(character.skeleton, pose)
    else:
        start = home_pose(empty)
        if name is None:
            start = with_loops_closed(empty, start, ())
    given = tuple(goals or ())
    placed = tuple(goal for goal in given if not (balances(goal) or grips(goal)))
    skeleton, asked = _asked(character.skeleton, start, placed)
    own = {goal.id: goal for goal in asked}
    first = {one.name: DocumentGoal(effector=one.name, enabled=False) for one in skeleton.effectors}
    there = NO_CONTACT if contact is None else contact_of(contact, NO_CONTACT)
    held = grips_from(given, skeleton)
    for _, prop in held:
        there.prop(prop)
    return replace(
        empty,
        skeleton=skeleton,
        pose=start,
        goals=tuple((first | own).values()),
        balance=balance_from(given, balance),
        contact=replace(there, grips=held),
    )


def usual_margin(character: Character) -> float:
    """Metres: the margin of balance of a new document, 3 cm for figures of human size."""
    return NO_BALANCE.margin * step_scale(float(extent(character).max()))


def _clip_name(character: Character, clip: str | None) -> str | None:
    if clip is not None and clip not in character.clips:
        raise InputError(unknown_name("clip", clip, character.clips))
    usable = (name for name, found in character.clips.items() if len(found))
    return next(usable, None) if clip is None else clip


def _asked(skeleton: Skeleton, pose: Pose, goals: tuple[Goal, ...]) -> tuple[Skeleton, list[DocumentGoal]]:
    """The skeleton with an effector for every goal, and the document's goals and holds."""
    found: dict[str, DocumentGoal] = {}
    pairs: list[tuple[Goal, str, str]] = []
    free = FreeNames(effector_names(skeleton))
    for goal in goals:
        check_kind(goal.kind)
        skeleton, effector = _with_effector(skeleton, goal.effector)
        if KINDS[goal.kind].of_two:
            skeleton, other = _with_effector(skeleton, goal.to)
            pairs.append((goal, effector, other))
            continue
        name = free.numbered(effector) if effector in found else effector
        found[name] = document_goal(with_pin_target(skeleton, pose, goal, effector), effector, name)
    asked = {goal.effector for goal in found.values()}
    following: set[str] = set()
    for goal, effector, other in pairs:
        # A point of the world places both; else one of them keeps its own place.
        leader = "" if KINDS[goal.kind].has_point else other if other in asked and effector not in asked else effector
        following |= {effector, other} - {leader} if goal.enabled else set()
    for goal, effector, other in pairs:
        name = free.numbered(effector)
        found[name] = _pair(skeleton, pose, goal, (effector, other), name)
    for goal in holds(skeleton, pose, [goal for goal in goals if goal.enabled and not KINDS[goal.kind].of_two]):
        kind = effector_of(skeleton, goal.effector).goal.value
        if goal.effector in following and not goal.pinned:
            held = DocumentGoal(effector=goal.effector, kind=kind, enabled=False, follows=True)
        else:
            held = document_goal(goal, goal.effector)
            held = replace(held, kind=kind, automatic=held.pinned)
        found.setdefault(goal.effector, held)
    return skeleton, [*found.values()]


def _with_effector(skeleton: Skeleton, name: str) -> tuple[Skeleton, str]:
    """The skeleton with an effector where a goal names a joint or end site, and the effector's name."""
    effector = effector_of(skeleton, name)
    if effector not in skeleton.effectors:
        skeleton = replace(skeleton, effectors=(*skeleton.effectors, replace(effector, goal=EffectorGoal.POSITION)))
    return skeleton, effector.name


def _pair(skeleton: Skeleton, pose: Pose, goal: Goal, ends: tuple[str, str], name: str) -> DocumentGoal:
    """A goal for two effectors; what it leaves to the pose is as the pose has it."""
    named = replace(goal, effector=ends[0], to=ends[1], enabled=False)
    as_posed = as_they_are(skeleton, world_of(skeleton, pose), document_goal(named, ends[0], name))
    position, rotation = goal.target or as_posed.position, goal.target_rotation or as_posed.rotation
    return replace(as_posed, position=position, rotation=rotation, enabled=goal.enabled)


def with_pin_target(skeleton: Skeleton, pose: Pose, goal: Goal, effector: str) -> Goal:
    """A goal whose pin, if it has no position or rotation, gets that of the effector in the pose."""
    if not goal.pinned:
        return goal
    stand = stand_at(skeleton, world_of(skeleton, pose), effector, goal.offset)
    position = goal.target or tuple(stand.point.tolist()) if KINDS[goal.kind].sets_position else None
    rotation = goal.target_rotation or tuple(stand.rotation.tolist()) if KINDS[goal.kind].has_rotation else None
    return replace(goal, target=position, target_rotation=rotation)


def goals_of(document: Document) -> tuple[Goal, ...]:
    """Goals from which `new_document` makes those of a document.

    Effectors that are off are among them where a new document would hold them.
    """
    held = {effector.name for effector in document.skeleton.effectors if effector.goal is not EffectorGoal.OFF}
    goals = [
        goal.for_solver() or replace(_switched_on(document, goal), enabled=False)
        for goal in document.goals
        if goal.enabled or goal.effector in held
    ]
    balance = document.balance.goal
    return (*goals, *(() if balance is None else (balance,)))


def _switched_on(document: Document, goal: DocumentGoal) -> Goal:
    """A goal that is off as the solver would take it; without a target, that is where its effector is now."""
    stand = stand_of(document, goal)
    place, turn = goal.position or tuple(stand.point.tolist()), goal.rotation or tuple(stand.rotation.tolist())
    stated = all(number.default is not None or number.name in goal.numbers for number in KINDS[goal.kind].numbers)
    kind = goal.kind if stated else POSITION_KIND
    on = replace(goal, enabled=True, kind=kind, position=place, rotation=turn).for_solver()
    assert on is not None
    return on


def is_usual(height: float) -> bool:
    """Whether a figure of this height, metres, is of human size; so is one without a finite height."""
    return not (0.0 < height < math.inf) or LEAST <= height < MOST


def step_scale(height: float) -> float:
    """Factor, a power of ten, by which lengths for humans are scaled for a figure of this height."""
    return 1.0 if is_usual(height) else 10.0 ** round(math.log10(height / _USUAL))


def baked_clip(document: Document) -> Clip:
    """The played range as a clip, each frame bit for bit as `frame_pose` has it, with key frames.

    All layers are solved first.

    The clip itself if it has no keys on it, no bone was edited and its whole length is played.
    """
    document = finished(document)
    motion, (first, last) = motion_of(document), document.played
    clip, take = motion.clip, motion.take
    check_played_frame(document, last)
    own, edited = motion.own.offsets, motion.edited.offsets
    plain = clip is not None and (take is None or take.is_plain) and np.array_equal(own, edited)
    if clip is not None and plain:
        return clip if (first, last) == (0, len(clip) - 1) else clip.frames(first, last)
    if take is None or (clip is None and take.is_empty):
        count = last - first + 1
        frames = still(document.pose, count) if clip is None else layered(motion, first, count)
    else:
        frames = baked_frames(motion, first, last)
    moved = np.flatnonzero((frames.translations != edited).any(axis=(0, 2)))
    return Clip(
        name=NAME if clip is None else clip.name,
        frame_time=document.frame_time,
        rotations=handed_over(frames.rotations),
        translated=moved,
        translations=frames.translations[:, moved],
        offsets=edited,
        keys=tuple(frame - first for frame in _key_frames(document) if first <= frame <= last),
    )


def _key_frames(document: Document) -> tuple[int, ...]:
    clip, take = document.clip_data, document.take
    return tuple(sorted({*(clip.keys if clip else ()), *(take.frames if take else ())}))


def baked_character(document: Document) -> Character:
    """The document for export: its skeleton, with the played range as its only clip, or without motion no clip.

    The frames are exactly those that the window shows; `viewer.formats.save.save` writes it.
    """
    character = replace(document.character, skeleton=document.skeleton, limits_from=document.limits_source)
    if document.clip_data is None and document.take is None:
        return replace(character, clips=MappingProxyType({}))
    clip = baked_clip(document)
    return replace(character, clips=MappingProxyType({clip.name: clip}))
