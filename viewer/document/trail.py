"""Moves a point of the motion: an effector or joint at a frame and around it; these frames are solved and keyed."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.changed_keys import rig_for, solved_batch, take_of, with_take
from viewer.document.document import Document, Item
from viewer.document.drag_goals import DraggedJoint, drag_goals, dragged_joint
from viewer.document.edit_skeleton import relengthened
from viewer.document.evaluation import (
    Frames,
    baked_frames,
    base_pose,
    check_played_frame,
    frame_pose,
    motion_of,
    one_frame,
)
from viewer.document.key_editing import entries_of, last_frame, with_entries
from viewer.document.planar import PlanarRig, in_plane
from viewer.document.planted_feet import below_feet
from viewer.document.scope import locked_joints, solved_skeleton
from viewer.document.take import Blend, Pin, Take, Track, check_frame
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal
from viewer.ik.solver import Solver
from viewer.ik.solver_options import keywords_of
from viewer.skeleton import JointKind, Pose, World, above, find_place, fk_arrays, limit_violation, point_of, world_of
from viewer.spatial.checks import Floats, Ints, as_vector, whole

MOST_REACH = 500
"""Most frames before and after the moved one that follow it."""
_SAME = 1e-9
"""Quaternion components or metres: joints that the solver changes by less at every frame get no keys."""
_OUTSIDE = 1e-9
"""Radians or metres: joints that the motion has farther outside their limits are free in these frames."""
_CLOSE = 1e-4
"""Tolerance, metres, of the moved point."""


def falloff(away: ArrayLike, reach: int) -> Floats:
    """The share of a move that frames ``away`` frames from the moved one make: 1 at it, 0 beyond ``reach``."""
    part = np.minimum(np.abs(np.asarray(away, dtype=np.float64)) / (reach + 1), 1.0)
    return np.asarray((1.0 - part * part) ** 2)


def touched_frames(document: Document, frame: int, reach: int) -> Ints:
    """The frames that get keys if the motion is moved at a frame, ascending.

    On a clip all within reach. Without a clip those that have keys, besides the frame itself: a motion of few keys
    keeps to them, and a recording has one at every frame.
    """
    take, last = take_of(document), last_frame(document)
    first, end = max(frame - reach, 0), frame + reach if last is None else min(frame + reach, last)
    if document.clip_data is not None:
        return np.arange(first, end + 1)
    return np.array(sorted({frame, *(key for key in take.frames if first <= key <= end)}), dtype=np.intp)


def trail_point(document: Document, item: Item) -> DraggedJoint:
    """The point of an item that its trail shows: the centre of a joint, the effector of a goal."""
    document.check_item(item)
    if item.kind == "joint":
        return dragged_joint(document, item.name, (0.0, 0.0, 0.0))
    if item.kind != "effector":
        raise InputError(f"{quote(item.name)} has no trail: expected an effector or a joint")
    goal = document.goal(item.name)
    joint, point = point_of(document.skeleton, goal.effector, goal.offset)
    return DraggedJoint(Item("joint", goal.effector), joint, point, goal.offset)


def check_trail(document: Document, item: Item, frame: int) -> DraggedJoint:
    """The point that is moved at a frame.

    Raises:
        InputError: there is no motion, no such frame, no joint that could move the point, or a layer that places it.
    """
    check_frame(frame)
    if not document.has_motion:
        raise InputError("there is no motion: open a clip, or set keys, and drag its trail")
    check_played_frame(document, frame)
    held = trail_point(document, item)
    if not _can_follow(document, held):
        raise InputError(f"{quote(item.name)} cannot be moved at frame {frame}: no joint above it may move")
    for layer in () if document.take is None else document.take.layers:
        if not layer.on or not layer.first <= frame <= layer.last or layer.position is None:
            continue
        if find_place(document.skeleton, layer.effector).joint == held.joint:
            raise InputError(
                f"{quote(item.name)} is placed by layer {quote(layer.id)} at frame {frame}: "
                "drag the layer's target, or make keys of layers"
            )
    return held


def _can_follow(document: Document, held: DraggedJoint) -> bool:
    """Whether any joint that carries the point may turn or slide."""
    skeleton = document.skeleton
    locked = locked_joints(document, [held.joint])
    for joint in above(skeleton, held.joint):
        kind = skeleton.kinds[joint]
        if skeleton.names[joint] in locked or kind is JointKind.FIXED:
            continue
        if kind is JointKind.FREE and document.solver.root != "locked":
            return True
        turns = joint != held.joint or any(held.point)
        if kind is JointKind.SLIDE or (turns and kind is not JointKind.FREE):
            return True
        if kind is JointKind.FREE and turns:
            return True
    return False


def with_point_moved(document: Document, item: Item, frame: int, position: ArrayLike, reach: int) -> Document:
    """The document with the point of an item moved at a frame; frames within reach follow by `falloff`.

    The solver poses each of these frames: pins and the other goals stay where they are in it. The joints that it
    changes get keys. On a clip, the frames just beyond the reach are keyed as they are, so that those farther away
    stay; with a reach of 0 the change fades out as after any single key.

    ``position`` is (3,) metres, world frame.
    """
    held = check_trail(document, item, frame)
    place = np.array(as_vector(position, f"position of {quote(item.name)}"))
    whole(reach, "reach", most=MOST_REACH)
    touched = touched_frames(document, frame, int(reach))
    ends = _ends(document, touched) if reach else np.empty(0, np.intp)
    frames = np.union1d(touched, ends).astype(np.intp)
    now = _keyed(document, frames)
    seen = world_of(document.skeleton, frame_pose(document, frame)).point(held.joint, held.point)
    goes = in_plane(document, place, seen) - seen
    solved = _solved(document, held, now, _Move(frames, frame, goes, falloff(frames - frame, int(reach))))
    turned = np.abs(solved.rotations - now.rotations).max(axis=(0, 2)) > _SAME
    moved = np.abs(solved.translations - now.translations).max(axis=(0, 2)) > _SAME
    joints = np.flatnonzero(turned | moved).tolist()
    if not joints:
        return document
    take = take_of(document)
    entries = _entries(document, take, frames, solved, joints)
    after = with_entries(take, entries, base_pose(document, take, 0))
    return with_take(document, replace(after, pins={**take.pins, **_pins_kept(document, take, frames, held.joint)}))


def _pins_kept(document: Document, take: Take, frames: Ints, moved: int) -> dict[int, tuple[Pin, ...]]:
    """Pins of new key frames: of two keys that pin the same, so that it stays pinned from one to the other.

    ``take`` is without the new keys, at frames (N,); pins of the joint ``moved`` are dropped.
    """
    found: dict[int, tuple[Pin, ...]] = {}
    pinned, keys = list(take.pins), np.array(take.frames, dtype=np.intp)
    for frame in frames.tolist():
        at = bisect_left(pinned, frame)
        if frame in take.pins or not 0 < at < len(pinned):
            continue
        first, last = pinned[at - 1], pinned[at]
        if ((keys > first) & (keys < last)).any():
            continue  # a key between them pins nothing
        both = [
            one
            for one in take.pins[first]
            if any(one.goal == other.goal and one.is_near(other) for other in take.pins[last])
            and find_place(document.skeleton, one.effector).joint != moved
        ]
        if both:
            found[frame] = tuple(both)
    return found


def _ends(document: Document, touched: Ints) -> Ints:
    """The frames of a clip just before and after those touched."""
    last = last_frame(document)
    if last is None:
        return np.empty(0, np.intp)
    return np.array([end for end in (int(touched[0]) - 1, int(touched[-1]) + 1) if 0 <= end <= last], np.intp)


def _keyed(document: Document, frames: Ints) -> Frames:
    """Frames of clip and keys with those solved between keys: feet are planted and layers act on what these make."""
    first = int(frames[0])
    shown = baked_frames(below_feet(motion_of(document)), first, int(frames[-1]))
    return Frames(shown.rotations[frames - first], shown.translations[frames - first])


class _Move(NamedTuple):
    """A move of a point.

    ``frames`` (N,) are to be posed, ``frame`` has the whole move; it ``goes`` (3,) metres, world frame; ``share`` (N,)
    is the fraction of that in each of the frames.
    """

    frames: Ints
    frame: int
    goes: Floats
    share: Floats


def _solved(document: Document, held: DraggedJoint, now: Frames, move: _Move) -> Frames:
    """The frames, solved so that the point moves by its share in each."""
    skeleton = document.skeleton
    poses = [Pose(*frame) for frame in zip(now.rotations, now.translations, strict=True)]
    world = fk_arrays(skeleton.parents, now.rotations, now.translations)
    points = world.point(held.joint, held.point)
    at = int(np.searchsorted(move.frames, move.frame))
    asking = replace(document, pose=poses[at])
    goals = tuple(drag_goals(asking, [held], {}).goals.values())  # that of the moved point is the last
    some = np.flatnonzero(move.share > 0.0)
    places, turns = _targets(document, goals, world, some)
    places[:, -1] = points[some] + move.share[some, None] * move.goes
    beginning = [poses[index] for index in some.tolist()]
    rig = rig_for(document, beginning)
    found, _ = solved_batch(_solver(document, goals, held, beginning, rig), rig, beginning, places, turns)
    result = Frames(now.rotations.copy(), now.translations.copy())
    for number, pose in found.items():
        result.rotations[some[number]], result.translations[some[number]] = pose.rotations, pose.translations
    return result


def _targets(document: Document, goals: tuple[Goal, ...], world: World, some: Ints) -> tuple[Floats, Floats]:
    """(N, G, 3) and (N, G, 4): what is placed stays where it is in each frame; other goals keep their targets."""
    places, turns = np.full((len(some), len(goals), 3), np.nan), np.full((len(some), len(goals), 4), np.nan)
    for row, goal in enumerate(goals):
        kind = KINDS[goal.kind]
        if kind.sets_pose:
            joint, point = point_of(document.skeleton, goal.effector, goal.offset)
            if kind.has_point:
                places[:, row] = world.point(joint, point)[some]
            if kind.has_rotation:
                turns[:, row] = world.rotations[some, joint]
            continue
        if goal.target is not None:
            places[:, row] = goal.target
        if goal.target_rotation is not None:
            turns[:, row] = goal.target_rotation
    return places, turns


def _solver(
    document: Document, goals: tuple[Goal, ...], held: DraggedJoint, poses: list[Pose], rig: PlanarRig | None
) -> Solver:
    chosen = replace(document.solver, method="default", restarts=False, exact=False)
    tight = replace(chosen, tolerance_m=min(chosen.tolerance_m, _CLOSE))
    keywords = keywords_of(tight.options(limits=document.limits_on))
    locked = locked_joints(document, [held.joint])
    # The motion may have joints outside their limits: bringing them inside would be another change.
    outside = np.zeros(len(document.skeleton), np.bool_)
    for pose in poses if document.limits_on else ():
        outside |= limit_violation(document.skeleton, pose) > _OUTSIDE
    names = document.skeleton.names
    free = document.unlimited | {names[joint] for joint in np.flatnonzero(outside).tolist()}
    return Solver(solved_skeleton(document, rig, locked, chosen.root, frozenset(free)), goals, **keywords)


def _entries(document: Document, take: Take, frames: Ints, solved: Frames, joints: list[int]) -> list[Track]:
    """Keys of joints at the frames; those replaced keep their interpolation."""
    own, edited, clip = document.character.skeleton.offsets, document.skeleton.offsets, document.clip_data
    if own is not edited and not np.array_equal(own, edited):
        solved = Frames(solved.rotations, relengthened(solved.translations, edited, own))
    if clip is not None:
        base = Frames(clip.rotations[frames], clip.local_translations(frames))
        return entries_of(take, base, solved, joints, frames, Blend.LINEAR, kept=True)
    base = one_frame(base_pose(document, take, 0))
    return entries_of(take, base, solved, joints, frames, Blend.SMOOTH, kept=True, near=_SAME)
