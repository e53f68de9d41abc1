"""Curves of the motion, and the keys by which they are changed: a joint's coordinates, and the trail of a point.

A curve shows one coordinate, a key stores a rotation and a translation. With c the coordinates, v = J(c) dc/dt is the
velocity that a tangent states: angular in the joint's own frame, and of the translation. J is found by central
differences of the map from coordinates to rotation.

A trail is the path of an effector or joint. Where it is moved at a frame, the frames around that are solved and keyed.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import replace
from enum import StrEnum
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from viewer.document.document import Document, Item
from viewer.document.edit_skeleton import coordinate_names, relengthened
from viewer.document.evaluation import (
    Frames,
    baked_frames,
    base_pose,
    check_played_frame,
    frame_pose,
    keyed_frames,
    motion_of,
    one_frame,
    still,
)  # fmt: skip
from viewer.document.key_editing import entries_of, last_frame, take_of, with_entries, with_take
from viewer.document.planar import PlanarRig
from viewer.document.planted_feet import below_feet
from viewer.document.posed_goals import DraggedJoint, drag_goals, dragged_joint
from viewer.document.sampling import velocities
from viewer.document.scope import in_plane, inside_at, locked_joints, solved_skeleton
from viewer.document.solved_frames import rig_for, solved_batch
from viewer.document.take import Blend, Pin, Take, Track, check_frame
from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal
from viewer.ik.solver import Solver
from viewer.ik.solver_options import keywords_of
from viewer.skeleton import (
    JointKind,
    Pose,
    Skeleton,
    World,
    above,
    effector_of,
    fk_arrays,
    joint_space,
    limit_violation,
    point_of,
    world_of,
)  # fmt: skip
from viewer.spatial.checks import Bools, Floats, Ints, as_vector, whole
from viewer.spatial.quaternion import conjugate, from_euler, log, multiply, normalized, rotate, to_euler

EULER = "xyz"
"""Order of the angles of joints without limits."""
_STEP = 1e-5
"""Radians, or metres, of the central differences."""
MOST_REACH = 500
"""Most frames before and after the moved one that follow it."""
_SAME = 1e-9
"""Quaternion components or metres: joints that the solver changes by less at every frame get no keys."""
_OUTSIDE = 1e-9
"""Radians or metres: joints that the motion has farther outside their limits are free in these frames."""
_CLOSE = 1e-4
"""Tolerance, metres, of the moved point."""


class Tangent(StrEnum):
    """How the slope of a curve at a key is determined."""

    AUTO = "auto"
    """From the neighbouring keys; zero at peaks."""
    FLAT = "flat"
    """Zero."""
    FREE = "free"
    """Set by hand."""


def places(skeleton: Skeleton, joint: int) -> tuple[int, ...]:
    """Indices of the coordinates of a joint that are curves."""
    return tuple(place for place, _ in coordinate_names(skeleton, joint)) or (0, 1, 2)


def _is_euler(skeleton: Skeleton, joint: int) -> bool:
    """Whether a joint's curves are Euler angles, because it has no coordinates of its own."""
    return not coordinate_names(skeleton, joint)


def curve_values(document: Document, joint: int, motion: Frames) -> Floats:
    """(N, 3) coordinates of a joint, radians or metres, from its rotations (N, 4) and translations (N, 3)."""
    skeleton = document.skeleton
    if _is_euler(skeleton, joint):
        return to_euler(motion.rotations, EULER)
    # Only this joint's coordinates are used: the others keep the current pose.
    rotations, translations = still(document.pose, len(motion.rotations))
    rotations[:, joint], translations[:, joint] = motion
    return joint_space(skeleton).measure(rotations, translations)[:, joint]


def _posed(document: Document, joint: int, coordinates: Floats, motion: Frames) -> Frames:
    """Rotations and translations of a joint with coordinates (N, 3); all else stays as in ``motion``."""
    skeleton = document.skeleton
    if _is_euler(skeleton, joint):
        return Frames(from_euler(coordinates, EULER), motion.translations)
    every = np.zeros((len(coordinates), len(skeleton), 3))
    every[:, joint] = coordinates
    rotations, translations = still(document.pose, len(coordinates))
    rotations[:, joint], translations[:, joint] = motion
    turned, moved = joint_space(skeleton).rebuild(every, rotations, translations)
    return Frames(turned[:, joint], moved[:, joint])


def _velocity_columns(document: Document, joint: int, coordinates: Floats, motion: Frames) -> Floats:
    """(6, 3) the velocity by each coordinate (3,), at the rotation and translation ``motion`` (of one frame)."""
    steps = _STEP * np.concatenate([np.eye(3), -np.eye(3)])
    around = Frames(np.repeat(motion.rotations, 6, axis=0), np.repeat(motion.translations, 6, axis=0))
    found = _posed(document, joint, coordinates + steps, around)
    turned = log(multiply(conjugate(found.rotations[3:]), found.rotations[:3]))
    moved = found.translations[:3] - found.translations[3:]
    return np.concatenate([turned, moved], axis=-1).T / (2.0 * _STEP)


class KeyOnCurves:
    """A key of a joint as its curves show it.

    ``index`` is that of the key in the ``track`` that has it. ``motion`` is the joint's rotation (1, 4) and translation
    (1, 3) at the key, layers and planted feet left out; ``coordinates`` (3,) are radians or metres.
    """

    def __init__(self, document: Document, joint: int, frame: int) -> None:
        track = None if document.take is None else document.take.track(joint)
        index = None if track is None else track.index(frame)
        if track is None or index is None:
            raise InputError(f"no key of joint {quote(document.skeleton.names[joint])} at frame {frame}")
        self._document, self._motion = document, motion_of(document)
        self.joint, self.frame, self.track, self.index = joint, frame, track, index
        self.motion = keyed_frames(self._motion, joint, np.array([frame]))
        self.coordinates: Floats = curve_values(document, joint, self.motion)[0]

    @property
    def tangent(self) -> Tangent:
        """How its slope is determined."""
        return next(iter(tangents_of(self.track, [self.index])))

    @property
    def velocity(self) -> Floats:
        """(6,) of the key's own values, per frame, as `Track.tangents`: what smooth interpolation uses."""
        return np.asarray(_velocities(self._document, self.track)[self.index])

    def slopes(self) -> Floats:
        """(3,) how fast each curve rises at the key, radians or metres per frame; with the clip below the keys."""
        columns = _velocity_columns(self._document, self.joint, self.coordinates, self.motion)
        return np.asarray(np.linalg.lstsq(columns, self.velocity + self._below(), rcond=None)[0])

    def with_slope(self, index: int, slope: float) -> Floats:
        """(6,) the tangent with which one coordinate's curve rises by ``slope`` and the others as before."""
        columns = _velocity_columns(self._document, self.joint, self.coordinates, self.motion)
        velocity = np.asarray(self.velocity + columns[:, index] * (slope - self.slopes()[index]))
        if self.track.translations is None:
            velocity[3:] = np.nan
        return velocity

    def _below(self) -> Floats:
        """(6,) the velocity of the clip below the key, in the key's frame."""
        clip = self._motion.clip
        if clip is None or len(clip) < 2:
            return np.zeros(6)
        low, high = max(self.frame - 1, 0), min(self.frame + 1, len(clip) - 1)
        turned = log(multiply(conjugate(clip.rotations[low, self.joint]), clip.rotations[high, self.joint]))
        moved = np.diff(clip.local_translations(np.array([low, high]))[:, self.joint], axis=0)[0]
        turned = rotate(conjugate(self.track.rotations[self.index]), turned)
        return np.concatenate([turned, moved]) / (high - low)


def _velocities(document: Document, track: Track) -> Floats:
    """(K, 6) the velocities at the keys of a track, which fade on a clip."""
    return velocities(track, fade=motion_of(document).fade)


def tangents_of(track: Track, keys: Bools | list[int]) -> set[Tangent]:
    """How the slopes at some keys of a track are determined; keys by mask or indices."""
    if track.tangents is None:
        return {Tangent.AUTO}
    own = track.tangents[keys]
    kinds = np.where(np.isnan(own).all(axis=-1), 0, np.where(np.nan_to_num(own).any(axis=-1), 2, 1))
    return {(Tangent.AUTO, Tangent.FLAT, Tangent.FREE)[kind] for kind in kinds.tolist()}


def with_tangents(document: Document, track: Track, frames: list[int], tangent: Tangent) -> Floats:
    """(K, 6) the tangents of a track after some of its keys got another: free ones keep the slope that they have."""
    values = track.all_tangents
    some = np.isin(track.frames, frames)
    chosen = {Tangent.AUTO: np.nan, Tangent.FLAT: 0.0}.get(tangent)
    values[some] = _velocities(document, track)[some] if chosen is None else chosen
    if track.translations is None:
        values[:, 3:] = np.nan
    return values


def with_value(document: Document, key: KeyOnCurves, index: int, value: float) -> Take:
    """The take with another value of one coordinate at a key: radians or metres, inside the limits if these are on."""
    skeleton, joint, take = document.skeleton, key.joint, document.take
    assert take is not None
    coordinates = key.coordinates.copy()
    coordinates[index] = value
    found = _posed(document, joint, coordinates[None], key.motion)
    pose = document.pose
    rotations, translations = pose.rotations.copy(), pose.translations.copy()
    rotations[joint], translations[joint] = found.rotations[0], found.translations[0]
    within = inside_at(document, Pose(rotations, translations), [joint])
    turned, moved = within.rotations[joint], within.translations[joint]
    if take.base is not None:
        base = base_pose(document, take, key.frame)
        turned = normalized(multiply(conjugate(base.rotations[joint]), turned))
        moved = moved - base.translations[joint]
    track, here = key.track, slice(key.index, key.index + 1)
    placed = skeleton.kinds[joint] is JointKind.SLIDE or track.translations is not None
    entry = replace(track.some(here), rotations=turned[None], translations=moved[None] if placed else None)
    return with_entries(take, [entry], base_pose(document, take, 0))


# --- trails


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
        if effector_of(document.skeleton, layer.effector).joint == held.joint:
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
            and effector_of(document.skeleton, one.effector).joint != moved
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
