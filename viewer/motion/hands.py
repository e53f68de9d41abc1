"""Where the wrists of a retargeted figure go: to the source's scaled places, or to what the source's hands touch.

A hand that is near the other hand, the head, the chest or a thigh keeps its place against it, in the ratio of the arms'
lengths; away from these it goes as its arm turns. Between the two it eases in 0.2 seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from viewer.motion.anatomy import Frames
from viewer.motion.reference import Body
from viewer.skeleton import Limb, World
from viewer.skeleton.slots import HEAD
from viewer.spatial.checks import Bools, Floats
from viewer.spatial.quaternion import conjugate, multiply, rotate
from viewer.spatial.smoothing import ease

_NEAR = 0.13
"""A hand touches what it is this near to, in arm lengths: 8 cm of a person."""
_EASE = 0.2
"""Seconds in which a hand comes and goes."""
_PALM = 0.12
"""The palm is this far from the wrist, in arm lengths."""
_HEAD, _CHEST, _THIGH = 0.2, 0.22, 0.13
"""Radii of head, chest and thigh, in arm lengths."""


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Source and target in all frames.

    Attributes:
        bodies: source and target.
        worlds: their places and turns (F, J, ...).
        frames: their anatomical frames.
        arms, legs: pairs of limbs, source and target.
        frame_time: seconds.
    """

    bodies: tuple[Body, Body]
    worlds: tuple[World, World]
    frames: tuple[Frames, Frames]
    arms: Sequence[tuple[Limb, Limb]]
    legs: Sequence[tuple[Limb, Limb]]
    frame_time: float


def touching_goals(figures: Figures) -> list[Floats]:
    """(F, 3) places of the target's wrist for each pair of arms."""
    wrists = [figures.worlds[1].point(*mine.tip) for _, mine in figures.arms]
    palms = [[_palm(figures, side, pair[side]) for side in (0, 1)] for pair in figures.arms]
    lengths = [[_length(figures.worlds[side], pair[side]) for side in (0, 1)] for pair in figures.arms]
    goals = []
    for index in range(len(figures.arms)):
        length = lengths[index][0]
        total, weight = np.zeros_like(wrists[index]), np.zeros(len(wrists[index]))
        for gap, place in _places(figures, palms, lengths, index):
            share = _eased(gap < _NEAR * length, figures.frame_time)
            total += share[:, None] * (place - palms[index][1])
            weight += share
        goals.append(wrists[index] + total / np.maximum(weight, 1.0)[:, None])
    return goals


def _places(
    figures: Figures, palms: list[list[Floats]], lengths: list[list[float]], index: int
) -> list[tuple[Floats, Floats]]:
    """For each thing that a hand may touch: the gap (F,) on the source, and where the target's palm would be (F, 3)."""
    its, mine = palms[index]
    ratio = lengths[index][1] / max(lengths[index][0], 1e-12)
    found = []
    for other in range(len(palms)):
        if other != index:
            apart = its - palms[other][0]
            middle = 0.5 * (mine + palms[other][1])
            found.append((np.linalg.norm(apart, axis=1), middle + 0.5 * ratio * apart))
    anchors = _anchors(figures)
    for radius, (source, target) in anchors:
        (start, end, turn), (other_start, other_end, other_turn) = source, target
        way = end - start
        share = np.einsum("fi,fi->f", its - start, way) / np.maximum(np.einsum("fi,fi->f", way, way), 1e-12)
        share = np.clip(share, 0.0, 1.0)[:, None]
        apart = its - (start + share * way)
        place = other_start + share * (other_end - other_start)
        place = place + ratio * rotate(multiply(other_turn, conjugate(turn)), apart)
        found.append((np.linalg.norm(apart, axis=1) - radius * lengths[index][0], place))
    return found


Segment = tuple["Floats", "Floats", "Floats"]


def _anchors(figures: Figures) -> list[tuple[float, tuple[Segment, Segment]]]:
    """Radius of head, chest and thighs, with their segments in source and target: ends (F, 3) and turn (F, 4)."""
    source, target = figures.bodies
    found = []
    if source.figure is not None and target.figure is not None:
        if HEAD in source.slots and HEAD in target.slots:
            ends = [(body.slots[HEAD], body.slots[HEAD]) for body in (source, target)]
            found.append((_HEAD, _segments(figures, ends)))
        if source.figure.pelvis != source.figure.chest and target.figure.pelvis != target.figure.chest:
            ends = [(figure.pelvis, figure.chest) for figure in (source.figure, target.figure)]
            found.append((_CHEST, _segments(figures, ends)))
    for its, mine in figures.legs:
        found.append((_THIGH, _segments(figures, [(limb.upper, limb.lower) for limb in (its, mine)])))
    return found


def _segments(figures: Figures, ends: Sequence[tuple[int, int]]) -> tuple[Segment, Segment]:
    made = []
    for world, frames, (start, end) in zip(figures.worlds, figures.frames, ends, strict=True):
        turn = multiply(world.rotations[:, start], frames[start])
        made.append((world.positions[:, start], world.positions[:, end], turn))
    return made[0], made[1]


def _palm(figures: Figures, side: int, limb: Limb) -> Floats:
    """(F, 3) the middle of the palm; the wrist where the hand is no joint."""
    world = figures.worlds[side]
    wrist = world.point(*limb.tip)
    if limb.end is None:
        return wrist
    turn = multiply(world.rotations[:, limb.end], figures.frames[side][limb.end])
    return wrist + rotate(turn, np.array([0.0, _PALM * _length(world, limb), 0.0]))


def _length(world: World, limb: Limb) -> float:
    """Metres from the shoulder over the elbow to the wrist."""
    places = [world.positions[0, limb.upper], world.positions[0, limb.lower], world.point(*limb.tip)[0]]
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def _eased(near: Bools, frame_time: float) -> Floats:
    """(F,) 1 in frames that are near, falling to 0 within `_EASE` seconds before and after them."""
    count = len(near)
    if not near.any():
        return np.zeros(count)
    at = np.arange(count)
    last = np.maximum.accumulate(np.where(near, at, -count * 2))
    following = np.minimum.accumulate(np.where(near, at, count * 3)[::-1])[::-1]
    seconds = np.minimum(at - last, following - at) * frame_time
    return ease(1.0 - np.clip(seconds / _EASE, 0.0, 1.0))
