"""Layers of goals, which act on the keys of a take: their targets, and the frames that they change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from typing import Any, NamedTuple

import numpy as np

from viewer.document.document import Document
from viewer.document.evaluation import Frames, Motion, baked_frames, motion_of, worlds_shown
from viewer.document.scope import bound_skeleton
from viewer.document.take import GoalLayer, Stretch, Take
from viewer.errors import InputError
from viewer.ik.goals import Goal
from viewer.ik.goals.kind import stand_at
from viewer.motion import BLOCK, WHOLE, Layer, LayerGroup, Miss, frames_of, layer_miss, overlapping
from viewer.skeleton import Clip, find_place, world_of
from viewer.spatial.checks import Floats, handed_over
from viewer.spatial.quaternion import IDENTITY, conjugate, multiply, rotate


def check_layer(document: Document, layer: GoalLayer) -> None:
    """Raise InputError unless the document has what a layer names, and its frames."""
    find_place(document.skeleton, layer.effector)
    if layer.space and not any(layer.space == prop.name for prop in document.contact.props):
        other = find_place(document.skeleton, layer.space)
        if other.joint == find_place(document.skeleton, layer.effector).joint:
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
            find_place(document.skeleton, name)
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
        """Prepare; nothing is solved yet."""
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
