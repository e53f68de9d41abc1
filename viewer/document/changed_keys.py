"""Changed keys: the spans between keys with the same pins, the frames solved there, the pose shown, auto-key."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.choices import RootMode
from viewer.document.document import Document, shares
from viewer.document.edit_skeleton import bone_vectors
from viewer.document.evaluation import (
    Frames,
    Motion,
    base_pose,
    frame_pose,
    layered,
    motion_of,
    on_own_bones,
    one_frame,
)
from viewer.document.key_editing import entries_of, with_entries
from viewer.document.planted_feet import planted_stretches
from viewer.document.posed_goals import carried
from viewer.document.scope import PlanarRig, rig_of, solved_skeleton
from viewer.document.take import CODES, FRAMES, Blend, Pin, Stretch, Take, Track, grouped
from viewer.document.take_layers import layer_stretches
from viewer.errors import InputError
from viewer.ik.goals import Goal
from viewer.ik.solver import BatchSolution, Solver
from viewer.ik.solver_options import keywords_of
from viewer.skeleton import Effector, Pose, above, find_place, fk_arrays
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import angle_between, slerp

_MET = 2e-3, np.radians(1.0)
"""Metres and radians within which a key meets its pin; other pins are not held between keys."""
_SMOOTH = CODES[Blend.SMOOTH]
LONGEST = 10_000
"""Longest span in frames that is solved."""

_CLOSE = 1e-4, 0.05
"""Tolerances, metres and degrees, of pins between keys."""
_HELD = 1e-3
"""If all frames hold their pins within this, metres, with the root as keyed, the root stays."""

_APART = 1e-12
"""A joint counts as changed if a quaternion component, or metres, differ by more."""


class Span(NamedTuple):
    """Two keys with the same pin.

    ``first`` and ``last`` are the frames of the keys; ``effector`` is the definition of the pin's effector.
    """

    first: int
    last: int
    pin: Pin
    effector: Effector


@dataclass(frozen=True, slots=True, eq=False)
class MetPin:
    """Position and rotation of a pin's effector at both keys of a span.

    Two positions (3,), metres, world frame, and two rotations (4,).
    """

    span: Span
    positions: Floats
    rotations: Floats


def current_pins(document: Document) -> tuple[Pin, ...]:
    """The pins of the document's goals."""
    found = []
    for goal in document.goals:
        if goal.pinned:
            position = goal.position if goal.has_position and goal.pin_position else None
            rotation = goal.rotation if goal.has_rotation and goal.pin_rotation else None
            found.append(
                Pin(goal.effector, position, rotation, goal.offset, "" if goal.id == goal.effector else goal.id)
            )
    return tuple(found)


def resolved(document: Document, motion: Motion, take: Take) -> Take:
    """The take with all pinned spans solved, then its feet planted, then its layers; unchanged ones are kept.

    The document provides limits and solver; its own take is not used. The motion is on the document's clip and bones.
    """
    motion = motion._replace(take=replace(take, solved=()))
    known = {stretch.digest: stretch for stretch in take.solved if not stretch.planted}
    found = []
    for spans in _joined(_spans(motion)):
        digest = _digest(motion, spans)
        kept = known.get(digest)  # without frames if its pins could not be held
        found.append(_solved(document, motion, spans, digest) if kept is None else kept)
    if take.feet is not None:
        found += planted_stretches(document, motion, replace(take, solved=tuple(found)), take)
    if take.layers:
        known_layers = [stretch for stretch in take.solved if stretch.layered]
        found += layer_stretches(document, motion, replace(take, solved=(*found, *known_layers)))
    if [id(stretch) for stretch in found] == [id(stretch) for stretch in take.solved]:
        return take
    return replace(take, solved=tuple(found))


def _spans(motion: Motion) -> list[Span]:
    """Spans of every pin, from key to key; a key of any joint above the pin in between ends a span."""
    assert motion.take is not None
    every = ((frame, pin) for frame, pins in motion.take.pins.items() for pin in pins)
    by_goal, spans = grouped((pin.goal or pin.effector, (frame, pin)) for frame, pin in every), []
    for own in by_goal.values():
        try:
            effector = find_place(motion.edited, own[0][1].effector)
        except InputError:  # the effector has been removed
            continue
        keys = _bearing(motion, effector)
        # A key of an arm does not affect a foot.
        pinned = [one for one, there in zip(own, np.isin([f for f, _ in own], keys), strict=True) if there]
        for (first, pin), (last, other) in pairwise(pinned):
            between = np.searchsorted(keys, last) - np.searchsorted(keys, first, side="right")
            if 1 < last - first <= LONGEST and not between and pin.is_near(other):
                spans.append(Span(first, last, pin, effector))
    return sorted(spans, key=lambda span: (span.first, span.last, span.pin.effector))


def _bearing(motion: Motion, effector: Effector) -> Floats:
    """Frames with keys of joints between the root and an effector."""
    assert motion.take is not None
    on_the_way = set(above(motion.edited, effector.joint))
    frames = {id(track.frames): track.frames for track in motion.take.tracks if track.joint in on_the_way}
    return np.unique(np.concatenate([np.empty(0, np.intp), *frames.values()]))


def _joined(spans: list[Span]) -> list[list[Span]]:
    """Groups of spans that overlap, which are solved together."""
    groups: list[list[Span]] = []
    for span in spans:
        if groups and span.first < max(other.last for other in groups[-1]):
            groups[-1].append(span)
        else:
            groups.append([span])
    return groups


def _digest(motion: Motion, spans: list[Span]) -> str:
    """Digest of all that the frames depend on: nearby keys, bones, the clip's frames, pins; no computed values."""
    take, clip = motion.take, motion.clip
    assert take is not None
    first, last = spans[0].first, max(span.last for span in spans)
    bearing = {joint for span in spans for joint in above(motion.edited, span.effector.joint)}
    digest = blake2b(digest_size=12)
    for track in take.tracks:
        if track.joint not in bearing:
            continue
        some = _nearby(track, first, last)
        moved = b"" if track.translations is None else track.translations[some].tobytes()
        tangents = () if track.tangents is None else (track.tangents[some],)
        parts = (track.frames[some].astype("<i8"), track.blends[some].astype("<i8"), track.rotations[some], *tangents)
        digest.update(b"%d" % track.joint + b"".join(part.tobytes() for part in parts) + moved)
    if take.rest is not None:
        digest.update(take.rest.rotations.tobytes() + take.rest.translations.tobytes())
    if clip is not None:
        digest.update(clip.rotations[first : last + 1].tobytes() + clip.translations[first : last + 1].tobytes())
    digest.update(motion.edited.offsets.tobytes())
    digest.update(
        repr([(s.first, s.last, tuple(s.pin[:4]), s.effector.joint, s.effector.offset) for s in spans]).encode()
    )
    return digest.hexdigest()


def _nearby(track: Track, first: int, last: int) -> slice:
    """The keys that the frames between depend on: smooth interpolation needs one more at either end."""
    low = max(int(np.searchsorted(track.frames, first, side="right")) - 1, 0)
    high = min(int(np.searchsorted(track.frames, last, side="left")), len(track) - 1)
    before, after = (int(track.blends[index] == _SMOOTH) for index in (low, max(high - 1, 0)))
    return slice(max(low - before, 0), high + 1 + after)


def _solved(document: Document, motion: Motion, spans: list[Span], digest: str) -> Stretch:
    """The solved frames; empty if no pin is met at both of its keys."""
    first, last = spans[0].first, max(span.last for span in spans)
    frames = layered(motion, first, last - first + 1)
    world = fk_arrays(motion.edited.parents, frames.rotations, frames.translations)
    held = []
    for span in spans:
        ends = np.array([span.first - first, span.last - first])
        offset = np.add(span.effector.offset, span.pin.offset)
        stand = MetPin(span, world.point(span.effector.joint, offset)[ends], world.rotations[ends, span.effector.joint])
        if _is_met(stand):
            held.append(stand)
    nothing = np.empty(0, np.intp)
    if not held:
        return Stretch(first + 1, digest, nothing, np.empty((0, 0, 4)), nothing, np.empty((0, 0, 3)))
    return solve_between(document, first, frames, held, digest)


def _is_met(held: MetPin) -> bool:
    pin = held.span.pin
    far = turned = 0.0
    if pin.position is not None:
        far = float(np.linalg.norm(held.positions - np.array(pin.position), axis=-1).max())
    if pin.rotation is not None:
        turned = float(angle_between(held.rotations, np.array(pin.rotation)).max())
    return far <= _MET[0] and turned <= _MET[1]


class _Answer(NamedTuple):
    """Solved frames, and the largest miss of any pin, metres."""

    frames: Frames
    miss: float


def solve_between(document: Document, first: int, frames: Frames, held: list[MetPin], digest: str) -> Stretch:
    """Solve the frames between keys so that the pins hold.

    The roots stay as keyed if that is possible; else the document's root mode decides.

    ``frames`` are as blended between the keys, from the first key (at frame ``first``) to the last.
    """
    answer = _solve(document, first, frames, held, "locked")
    if answer.miss > _HELD and document.solver.root != "locked":
        freer = _solve(document, first, frames, held, document.solver.root)
        answer = freer if freer.miss < 0.5 * answer.miss else answer
    chain = np.array(sorted({joint for one in held for joint in above(document.skeleton, one.span.effector.joint)}))
    inner = slice(1, -1)
    rotations, translations = answer.frames.rotations[inner], answer.frames.translations[inner]
    turned = chain[(rotations[:, chain] != frames.rotations[inner, chain]).any(axis=(0, 2))]
    moved = chain[(translations[:, chain] != frames.translations[inner, chain]).any(axis=(0, 2))]
    return Stretch(first + 1, digest, turned, rotations[:, turned], moved, translations[:, moved])


def _solve(document: Document, first: int, frames: Frames, held: list[MetPin], root: RootMode) -> _Answer:
    """Solve all frames, those with the same pins in one batch."""
    rotations, translations, worst = frames.rotations.copy(), frames.translations.copy(), 0.0
    count = len(rotations)
    inside = np.array([[one.span.first - first < f < one.span.last - first for f in range(count)] for one in held])
    patterns, which = np.unique(inside, axis=1, return_inverse=True)
    for number, pattern in enumerate(patterns.T):
        some = [one for one, active in zip(held, pattern.tolist(), strict=True) if active]
        chosen = np.flatnonzero(which.reshape(-1) == number)
        if not some:
            continue
        starts = [Pose(rotations[f], translations[f]) for f in chosen.tolist()]
        rig = rig_for(document, starts)
        found, answer = solved_batch(_solver(document, some, root, rig), rig, starts, *_targets(some, chosen + first))
        for index, pose in found.items():
            rotations[chosen[index]], translations[chosen[index]] = pose.rotations, pose.translations
        missed = np.nan_to_num(answer.errors_m, nan=0.0) + np.nan_to_num(np.radians(answer.errors_deg), nan=0.0)
        worst = max(worst, float(missed.max(initial=0.0)), 0.0 if len(found) == len(starts) else np.inf)
    return _Answer(Frames(rotations, translations), worst)


def solved_batch(
    solver: Solver, rig: PlanarRig | None, starts: list[Pose], places: Floats, turns: Floats
) -> tuple[dict[int, Pose], BatchSolution]:
    """Solve from poses of a document's skeleton: those found, by index, that are finite; and the solver's answer.

    Targets are (N, G, 3) and (N, G, 4). The solver is of the rig that keeps the poses in the document's plane, if there
    is one.
    """
    answer = solver.solve_batch(starts if rig is None else [rig.lifted(pose) for pose in starts], places, turns)
    good = np.isfinite(answer.rotations).all(axis=(1, 2)) & np.isfinite(answer.translations).all(axis=(1, 2))
    found = {
        index: Pose(answer.rotations[index], answer.translations[index]) for index in np.flatnonzero(good).tolist()
    }
    return {index: pose if rig is None else rig.lowered(pose) for index, pose in found.items()}, answer


def rig_for(document: Document, poses: list[Pose]) -> PlanarRig | None:
    """The rig that keeps poses in the document's plane; None if the document has none or the poses are not in it.

    A plane chosen later does not apply to keys that were set in space or to frames of a clip.
    """
    rig = rig_of(replace(document, pose=poses[0]))
    return None if rig is None or not all(rig.holds(pose) for pose in poses) else rig


def _solver(document: Document, held: list[MetPin], root: RootMode, rig: PlanarRig | None) -> Solver:
    goals = []
    for one in held:
        pin = one.span.pin
        position = None if pin.position is None else one.positions[0]
        rotation = None if pin.rotation is None else one.rotations[0]
        goals.append(Goal.pose(pin.effector, position, rotation, offset=pin.offset))
    chosen = replace(document.solver, method="default", restarts=False, root=root, exact=False)
    tight = replace(
        chosen, tolerance_m=min(chosen.tolerance_m, _CLOSE[0]), tolerance_deg=min(chosen.tolerance_deg, _CLOSE[1])
    )
    keywords = keywords_of(tight.options(limits=document.limits_on))
    return Solver(solved_skeleton(document, rig, frozenset(), root), goals, **keywords)


def _targets(held: list[MetPin], frames: Ints) -> tuple[Floats, Floats]:
    """(N, G, 3) and (N, G, 4) targets: from one key's effector to the next one's, which nearly coincide."""
    positions, rotations = [], []
    for one in held:
        part = (frames - one.span.first) / (one.span.last - one.span.first)
        positions.append(one.positions[0] + part[:, None] * (one.positions[1] - one.positions[0]))
        rotations.append(slerp(one.rotations[0], one.rotations[1], part))
    return np.stack(positions, axis=1), np.stack(rotations, axis=1)


# --- documents with changed keys


def take_of(document: Document) -> Take:
    """The document's take, or a new one without keys."""
    if document.take is not None:
        return document.take
    clip = document.clip_data
    last = FRAMES - 1 if clip is None else max(len(clip) - 1, 0)
    return Take(base=document.clip, frame_time=document.frame_time, last=max(last, document.frame))


def shows_take(document: Document) -> bool:
    """Whether the pose shown is the frame's pose, not an edited one without keys."""
    if not document.has_motion:
        return False
    return 0 <= document.frame < document.frames and document.pose.same_as(frame_pose(document, document.frame))


def with_take(document: Document, take: Take) -> Document:
    """The document with another take, frames between keys solved where needed, in the pose of its frame.

    A joint that was edited stays as it is shown unless a key of the take holds that.
    """
    return with_resolved(document, resolved(document, motion_of(document)._replace(take=take), take))


def with_feet_of(document: Document, other: Document) -> Take | None:
    """A document's take with the planted feet of another one of the same clip, planted again where its keys differ."""
    if other.take is None:
        return document.take
    own = tuple(one for one in take_of(document).solved if not one.planted)
    made = tuple(one for one in other.take.solved if one.planted)
    take = replace(take_of(document), feet=other.take.feet, solved=(*own, *made))
    return resolved(document, motion_of(document)._replace(take=take), take)


def with_resolved(document: Document, solved: Take) -> Document:
    """The document with a take whose frames between keys are solved already; see `with_take`."""
    changed = replace(document, take=solved)
    if document.clip_data is None and document.frame > solved.end:
        changed = replace(changed, frame=solved.end)
    if not changed.has_motion or not changed.frame < changed.frames:
        return changed
    off = _off_motion(document)
    if off.any():
        # Keys hold a pose as it was before feet were planted and layers solved.
        below = layered(motion_of(changed), changed.frame, 1)
        off &= document.pose.differs(Pose(below.rotations[0], below.translations[0]), _APART)
    return changed if off.any() else _in_motion(changed)


def _in_motion(document: Document) -> Document:
    """The document in the pose of its frame; its goals move along unless that is a matter of rounding."""
    pose = frame_pose(document, document.frame)
    return replace(document, pose=pose) if pose.is_near(document.pose) else carried(document, pose, pins=False)


def _off_motion(document: Document) -> Bools:
    """(J,) the joints that are not as in the frame's motion; all of a document without any."""
    if not document.has_motion or not document.frame < document.frames:
        return np.ones(len(document.skeleton), np.bool_)
    return document.pose.differs(frame_pose(document, document.frame), _APART)


def _pinned(pin: Pin) -> tuple[object, ...]:
    """What a pin pins, wherever it is: the pins of a clip move along with the pose."""
    return pin.goal or pin.effector, pin.offset, pin.position is None, pin.rotation is None


def keyed(document: Document, frame: int, joints: Iterable[int], blend: Blend | None = None) -> Document:
    """The document with keys set from its pose; keys from which that pose comes already stay as they are.

    Without a ``blend`` they have that of the keys replaced, or the default. The document is itself if these keys exist.
    """
    take = take_of(document)
    base, pose = base_pose(document, take, frame), on_own_bones(document, document.pose)
    held = current_pins(document)
    if blend is None and frame == document.frame:
        there, off = {key.joint for key in take.keys_at(frame)}, _off_motion(document)
        joints = [joint for joint in joints if off[joint] or joint not in there]
        if not joints and [*map(_pinned, held)] == [*map(_pinned, take.pins.get(frame, ()))]:
            return document
    usual = blend or (Blend.SMOOTH if document.clip is None else Blend.LINEAR)
    frames, kept = np.array([frame]), blend is None
    entries = entries_of(take, one_frame(base), one_frame(pose), joints, frames, usual, kept=kept)
    after = with_entries(take, entries, base)
    pins = dict(after.pins)
    if held:
        pins[frame] = held
    else:
        pins.pop(frame, None)
    after = replace(after, pins=pins)
    if document.take is not None and after.same_as(document.take):
        return document
    return with_take(document, after)


def only_poses(before: Document, after: Document) -> bool:
    """Whether clip, take, frame, figure and plane are unchanged."""
    return shares(before, after, ("clip", "take", "frame", "character", "skeleton", "auto_key", "planar"))


def with_edits_keyed(before: Document, after: Document) -> Document:
    """The document after a step: edits keyed if auto-key is on; pins, feet and layers solved again on edited bones."""
    take = after.take
    if before is after or take is not before.take or (before.clip, before.frame) != (after.clip, after.frame):
        return after
    one, other = before.skeleton, after.skeleton
    if one is not other and not np.array_equal(bone_vectors(one), bone_vectors(other)):
        if take is None or not (take.pins or take.layers or take.feet):
            return after
        solved = resolved(after, motion_of(after), take)
        return after if solved is take else replace(after, take=solved)
    if not after.auto_key or before.character is not after.character:
        return after
    plays = after.has_motion and after.frame < after.frames
    joints = np.flatnonzero(_off_motion(after) if plays else after.pose.differs(before.pose, _APART))
    return keyed(after, after.frame, joints.tolist()) if joints.size else after
