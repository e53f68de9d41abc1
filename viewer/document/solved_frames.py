"""Frames that are solved on top of the keys of a take: between keys with the same pins, and under layers of goals.

Planted feet, between the two, are in `viewer.document.planted_feet`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from viewer.choices import RootMode
from viewer.document.document import Document
from viewer.document.evaluation import Frames, Motion, baked_frames, layered, motion_of, worlds_shown
from viewer.document.planar import PlanarRig
from viewer.document.planted_feet import planted_stretches
from viewer.document.scope import bound_skeleton, rig_of, solved_skeleton
from viewer.document.take import CODES, Blend, GoalLayer, Pin, Stretch, Take, Track, grouped
from viewer.errors import InputError
from viewer.ik.goals import Goal
from viewer.ik.goals.kind import stand_at
from viewer.ik.solver import BatchSolution, Solver
from viewer.ik.solver_options import keywords_of
from viewer.motion import BLOCK, WHOLE, Layer, LayerGroup, Miss, frames_of, layer_miss, overlapping
from viewer.skeleton import Clip, Effector, Pose, above, effector_of, fk_arrays, world_of
from viewer.spatial.checks import Floats, Ints, handed_over
from viewer.spatial.quaternion import IDENTITY, angle_between, conjugate, multiply, rotate, slerp

_MET = 2e-3, np.radians(1.0)
"""Metres and radians within which a key meets its pin; other pins are not held between keys."""
_SMOOTH = CODES[Blend.SMOOTH]
LONGEST = 10_000
"""Longest span in frames that is solved."""

_CLOSE = 1e-4, 0.05
"""Tolerances, metres and degrees, of pins between keys."""
_HELD = 1e-3
"""If all frames hold their pins within this, metres, with the root as keyed, the root stays."""


def resolved(document: Document, take: Take) -> Take:
    """The take with all pinned spans solved, then its feet planted, then its layers; unchanged ones are kept.

    The document provides clip, bones, limits and solver; its own take is not used.
    """
    motion = motion_of(document)._replace(take=replace(take, solved=()))
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


# --- pins between keys


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


def _spans(motion: Motion) -> list[Span]:
    """Spans of every pin, from key to key; a key of any joint above the pin in between ends a span."""
    assert motion.take is not None
    every = ((frame, pin) for frame, pins in motion.take.pins.items() for pin in pins)
    by_goal, spans = grouped((pin.goal or pin.effector, (frame, pin)) for frame, pin in every), []
    for own in by_goal.values():
        try:
            effector = effector_of(motion.edited, own[0][1].effector)
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


# --- layers of goals


def check_layer(document: Document, layer: GoalLayer) -> None:
    """Raise InputError unless the document has what a layer names, and its frames."""
    effector_of(document.skeleton, layer.effector)
    if layer.space and not any(layer.space == prop.name for prop in document.contact.props):
        other = effector_of(document.skeleton, layer.space)
        if other.joint == effector_of(document.skeleton, layer.effector).joint:
            raise InputError(f"layer {layer.id}: {layer.effector} cannot be carried by itself")
    if layer.last >= document.frames:
        raise InputError(f"layer {layer.id}: expected frames from 0 to {document.frames - 1}, found {layer.last}")


class Transform(NamedTuple):
    """Where a layer's space or target is.

    ``position`` (3,) is in metres, world frame; ``rotation`` (4,) is world_from_space, or of the target.
    """

    position: Floats
    rotation: Floats


def space_of(document: Document, space: str) -> Transform:
    """The frame in which a layer's numbers are, in the pose shown."""
    if not space:
        return Transform(np.zeros(3), np.array(IDENTITY))
    prop = next((one for one in document.contact.props if one.name == space), None)
    if prop is not None:
        return Transform(np.array(prop.center), np.array(prop.rotation))
    return transform_of(document, space)


def transform_of(document: Document, name: str) -> Transform:
    """Where an effector, joint or tip is in the pose shown."""
    stand = stand_at(document.skeleton, world_of(document.skeleton, document.pose), name)
    return Transform(stand.point, stand.rotation)


def target_of(document: Document, layer: GoalLayer) -> Transform:
    """Where a layer's effector is to be in the pose shown; without a position, where it is."""
    space = space_of(document, layer.space)
    if layer.position is None:
        point = transform_of(document, layer.effector).position
    else:
        point = space.position + rotate(space.rotation, np.array(layer.position))
    return Transform(point, multiply(space.rotation, np.array(layer.rotation or IDENTITY)))


def put_at(document: Document, layer: GoalLayer, position: Floats, rotation: Floats) -> dict[str, Any]:
    """The changes that bring a layer's target to a position (3,) and rotation (4,), world frame."""
    space = space_of(document, layer.space)
    back = conjugate(space.rotation)
    changes: dict[str, Any] = {}
    if layer.position is not None:
        changes["position"] = tuple(rotate(back, position - space.position).tolist())
    if layer.rotation is not None:
        changes["rotation"] = tuple(multiply(back, rotation).tolist())
    return changes


def in_other_space(document: Document, layer: GoalLayer, space: str) -> dict[str, Any]:
    """The changes with which another joint, effector or prop carries a layer's target, which keeps its place."""
    place = target_of(document, layer)
    return {"space": space, **put_at(document, replace(layer, space=space), place.position, place.rotation)}


def with_layers(document: Document, change: Callable[[GoalLayer], GoalLayer], space: str) -> Take | None:
    """The document's take after a change of those layers that something carries."""
    take = document.take
    if take is None or not any(layer.space == space for layer in take.layers):
        return take
    return replace(take, layers=tuple(change(layer) if layer.space == space else layer for layer in take.layers))


def miss_of(document: Document, layer: GoalLayer) -> Miss:
    """How far the effector is from the target while the layer has its full weight."""
    end = document.frames - 1
    found = as_solved(document, layer, end)
    if found is None or not layer.on or layer.weight < 1.0:
        return Miss(0.0, 0.0)
    first, last = (min(frame, end) for frame in layer.full)
    world = worlds_shown(document, first, last)
    seconds = np.arange(first, last + 1, dtype=np.float64) * document.frame_time
    return layer_miss(document.skeleton, world, found, seconds)


def as_solved(document: Document, layer: GoalLayer, end: int) -> Layer | None:
    """The layer as the solver takes it, up to the frame ``end``; None if it begins later or names what is gone."""
    if layer.first > end:
        return None
    prop = next((one for one in document.contact.props if one.name == layer.space), None)
    position, rotation, space = layer.position, layer.rotation, None
    if prop is not None:
        turn = np.array(prop.rotation)
        if position is not None:
            position = tuple((rotate(turn, np.array(position)) + prop.center).tolist())
        if rotation is not None:
            rotation = tuple(multiply(turn, np.array(rotation)).tolist())
    elif layer.space:
        space = layer.space
    try:
        for name in (layer.effector, *([] if space is None else [space])):
            effector_of(document.skeleton, name)
    except InputError:
        return None
    goal = Goal.pose(layer.effector, position, rotation, level=layer.level)
    step = document.frame_time
    first, low, high, last = (min(frame, end) * step for frame in (layer.first, *layer.full, layer.last))
    return Layer(goal, first, (low, high), last, layer.weight, space, on=layer.on)


def layer_stretches(document: Document, motion: Motion, take: Take) -> tuple[Stretch, ...]:
    """The frames that a take's layers change, on its keys and the frames solved between them; known ones are kept.

    Of layers that act for more than `WHOLE` frames only the known frames are included: `unsolved` has the others.

    The document provides limits, props and settings; its own take is not used. Of ``take`` the frames between keys are
    up to date.
    """
    known = {stretch.digest: stretch for stretch in take.solved}
    found: list[Stretch] = []
    for work in _works(document, motion, take):
        blocks = range(len(work.digests))
        if len(blocks) == 1:
            stretch = known.get(work.digests[0])
            found.append(work.stretch(0) if stretch is None else stretch)
        else:
            found += [known[work.digests[block]] for block in blocks if work.digests[block] in known]
    return tuple(found)


def has_long_layers(take: Take | None, end: int) -> bool:
    """Whether a take has layers that may act for more than `WHOLE` frames, of those up to ``end``."""
    acting = [] if take is None else [layer for layer in take.layers if layer.on and layer.first <= end]
    return bool(acting) and min(max(one.last for one in acting), end) - min(one.first for one in acting) >= WHOLE


def unsolved(document: Document) -> list[LayerWork]:
    """The layers of a document that are solved block by block, with the blocks that are not known yet."""
    take = document.take
    if take is None or not has_long_layers(take, document.frames - 1):
        return []
    known = {stretch.digest for stretch in take.solved}
    works = [work for work in _works(document, motion_of(document), take) if len(work.digests) > 1]
    for work in works:
        work.missing = [block for block, digest in enumerate(work.digests) if digest not in known]
    return [work for work in works if work.missing]


def finished(document: Document) -> Document:
    """The document with all frames of its layers solved, as for export."""
    for work in unsolved(document):
        for block in work.missing:
            document = with_stretch(document, work.stretch(block))
    return document


def with_stretch(document: Document, stretch: Stretch) -> Document:
    """The document with another block of its layers' frames."""
    take = document.take
    assert take is not None
    return replace(document, take=replace(take, solved=(*take.solved, stretch)))


def _works(document: Document, motion: Motion, take: Take) -> list[LayerWork]:
    """The groups of a take's layers."""
    end = take.end if motion.clip is None else len(motion.clip) - 1
    layers = [found for one in take.layers if (found := as_solved(document, one, end)) is not None]
    below = tuple(stretch for stretch in take.solved if not stretch.layered)
    motion = motion._replace(take=replace(take, layers=(), solved=below))
    groups = overlapping(layers, document.frame_time)
    return [LayerWork(document, motion, [layers[index] for index in group]) for group in groups]


class LayerWork:
    """Layers of a document that act at the same time, to be solved.

    ``digests`` are, by block, of all that its frames depend on; ``missing`` are the blocks that are still to be solved.
    """

    def __init__(self, document: Document, motion: Motion, layers: list[Layer]) -> None:
        ends = [frames_of(layer, document.frame_time) for layer in layers]
        self._first, last = min(low for low, _ in ends), max(high for _, high in ends)
        self._frames = baked_frames(motion, self._first, last)
        chosen = document.solver.options(limits=document.limits_on)
        self._settings: dict[str, object] = {"limits": chosen.limits, "backend": chosen.backend}
        if document.solver.root != "free":
            self._settings["root"] = document.solver.root
        made = blake2b(self._frames.rotations.tobytes() + self._frames.translations.tobytes(), digest_size=16)
        about = layers, chosen.limits, self._settings.get("root"), sorted(document.unlimited)
        made.update(repr(about).encode())
        digest = made.hexdigest()
        count = last - self._first + 1
        self.digests = [digest] if count <= WHOLE else [f"{digest}.{at}" for at in range(0, count, BLOCK)]
        self.missing: list[int] = []
        self._document, self._layers = document, layers
        self._group: LayerGroup | None = None

    def stretch(self, block: int) -> Stretch:
        """Solve a block."""
        if self._group is None:
            skeleton = bound_skeleton(self._document.skeleton, self._document.unlimited)
            clip = _clip(self._document, self._frames)
            self._group = LayerGroup(skeleton, clip, self._layers, self._first, self._settings)
        frames = self._group.blocks[block]
        rotations, translations = self._group.block(block)
        turned = np.flatnonzero((rotations != self._frames.rotations[frames]).any(axis=(0, 2)))
        moved = np.flatnonzero((translations != self._frames.translations[frames]).any(axis=(0, 2)))
        return Stretch(
            self._first + frames.start,
            self.digests[block],
            turned,
            rotations[:, turned],
            moved,
            translations[:, moved],
            layered=True,
        )

    def nearest(self, frame: int) -> int:
        """The block that is still to be solved nearest to a frame."""
        at = (frame - self._first) / BLOCK - 0.5
        return min(self.missing, key=lambda block: abs(block - at))


def _clip(document: Document, frames: Frames) -> Clip:
    """Frames as a clip of the document's skeleton, with the translations of all joints."""
    skeleton, rotations = document.skeleton, handed_over(frames.rotations)
    joints = np.arange(len(skeleton))
    return Clip("", document.frame_time, rotations, joints, frames.translations, skeleton.offsets)
