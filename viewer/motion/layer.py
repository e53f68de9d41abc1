"""Layers: goals over time on a clip, such as a hand that reaches for a button while the figure walks.

A layer's goal fades in, holds and fades out again. In each frame its target lies between the effector's place on the
clip and the goal's own, by its weight then. The frames are solved outwards from the hold, each from the correction
of the one before, so that neighbours agree; then the corrections are smoothed, and each frame is solved once more from
there. Feet stay where the clip has them. Frames outside the layers' windows keep their bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal
from viewer.skeleton import Skeleton, World, effector_of
from viewer.spatial.checks import Floats, finite_floats, put
from viewer.spatial.quaternion import IDENTITY, angle_between, between, conjugate, multiply, rotate, slerp
from viewer.spatial.smoothing import ease

_INSTANT = 1e-9
"""Seconds."""


class TargetKey(NamedTuple):
    """Where a layer's goal is at a time.

    Attributes:
        seconds: from the first frame.
        position: (3,) metres; None: the goal has none.
        rotation: (4,) (x, y, z, w); None: the goal has none.
    """

    seconds: float
    position: tuple[float, float, float] | None = None
    rotation: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """A goal over time.

    Attributes:
        goal: for a position, a rotation, both, an aim or a midpoint; its level counts against the other layers' and
            the feet's, which have level 0.
        start: seconds at which its weight begins to rise.
        full: seconds between which it has its full weight.
        end: seconds at which its weight is 0 again.
        weight: 0 (not at all) to 1.
        space: a joint or effector whose frame the goal's numbers refer to, and which carries the target along; None:
            the world.
        keys: a moving target, interpolated linearly and constant before and after; (): the goal's own target.
        on: whether it acts.
    """

    goal: Goal
    start: float = 0.0
    full: tuple[float, float] = (0.0, 0.0)
    end: float = 0.0
    weight: float = 1.0
    space: str | None = None
    keys: tuple[TargetKey, ...] = ()
    on: bool = True

    def __post_init__(self) -> None:
        if not isinstance(self.goal, Goal):
            raise InputError(f"layer: expected a goal, found {quote(self.goal)}")
        what = f"layer for {quote(self.goal.effector)}"
        kind = KINDS[self.goal.kind]
        if not (kind.sets_pose or kind.aims or self._is_midpoint) or self.goal.pinned:
            found = "a pin" if self.goal.pinned else f"a goal of the kind {self.goal.kind}"
            raise InputError(f"{what}: expected a goal for a position, rotation, pose, aim or midpoint, found {found}")
        try:
            given = [float(one) for one in (self.start, *self.full, self.end)]
        except (TypeError, ValueError):
            given = []
        if len(given) != 4 or not all(map(math.isfinite, given)):
            raise InputError(f"{what}: expected start, full (from, to) and end in seconds")
        if sorted(given) != given or given[0] < 0.0:
            said = ", ".join(f"{one:g}" for one in given)
            raise InputError(f"{what}: expected 0 <= start <= full from <= full to <= end, found {said}")
        weight = float(finite_floats(self.weight, (), f"{what}: weight"))
        if not 0.0 <= weight <= 1.0:
            raise InputError(f"{what}: expected a weight from 0 to 1, found {weight:g}")
        if self.space is not None and (kind.aims or self._is_midpoint or any(self.goal.offset)):
            found = "aim" if kind.aims else "midpoint" if self._is_midpoint else "offset"
            raise InputError(f"{what}: expected no {found} in the space of {quote(self.space)}")
        times = [key.seconds for key in self.keys]
        if sorted(set(times)) != times:
            raise InputError(f"{what}: expected keys in order of time, each at a time of its own")
        put(self, start=given[0], full=(given[1], given[2]), end=given[3], weight=weight)

    @property
    def _is_midpoint(self) -> bool:
        kind = KINDS[self.goal.kind]
        return kind.of_two and kind.has_point

    @property
    def effectors(self) -> tuple[str, ...]:
        """The names of those that it moves: of a midpoint both."""
        return (self.goal.effector, self.goal.to) if self._is_midpoint else (self.goal.effector,)

    def share(self, seconds: Floats) -> Floats:
        """(F,) its weight at times, with smooth edges (a quintic: velocity and acceleration are 0 at the ends)."""
        first, last = self.full
        # An edge of no length is a step.
        rise = ease((seconds - self.start) / max(first - self.start, _INSTANT) + (first == self.start))
        fall = ease((self.end - seconds) / max(self.end - last, _INSTANT) + (last == self.end))
        inside = (seconds >= self.start) & (seconds <= self.end)
        return np.where(inside, self.weight * np.minimum(rise, fall), 0.0)

    def moved(self, seconds: Floats) -> tuple[Floats, Floats]:
        """(F, 3) positions and (F, 4) rotations of its target at times; NaN if the goal has no such part."""
        goal, count = self.goal, len(seconds)
        if not self.keys:
            place = np.full(3, np.nan) if goal.target is None else np.array(goal.target)
            turn = np.full(4, np.nan) if goal.target_rotation is None else np.array(goal.target_rotation)
            return np.tile(place, (count, 1)), np.tile(turn, (count, 1))
        times = np.array([key.seconds for key in self.keys])
        after = np.clip(np.searchsorted(times, seconds), 1, max(len(times) - 1, 1)) if len(times) > 1 else None
        places = np.array([(np.nan,) * 3 if key.position is None else key.position for key in self.keys])
        turns = np.array([(np.nan,) * 4 if key.rotation is None else key.rotation for key in self.keys])
        if after is None:
            return np.tile(places[0], (count, 1)), np.tile(turns[0], (count, 1))
        part = np.clip((seconds - times[after - 1]) / (times[after] - times[after - 1]), 0.0, 1.0)
        found = places[after - 1] + part[:, None] * (places[after] - places[after - 1])
        return found, turned_between(turns[after - 1], turns[after], part)


def turned_between(start: Floats, end: Floats, part: Floats) -> Floats:
    """(F, 4) rotations between ``start`` (F, 4) and ``end``; NaN where ``end`` is."""
    return np.where(np.isnan(end), np.nan, slerp(start, end, part))


class Miss(NamedTuple):
    """The largest error of an effector while its layer has its full weight.

    Attributes:
        metres: 0 if the goal has no position.
        degrees: 0 if it has no rotation.
    """

    metres: float
    degrees: float


def overlapping(layers: Sequence[Layer], frame_time: float) -> list[list[int]]:
    """Indices of the layers that act in at least one frame, grouped by overlap in time; each group in their order."""
    groups: list[list[int]] = []
    latest = -1
    acting = [index for index, layer in enumerate(layers) if layer.on and layer.weight > 0.0]
    for index in sorted(acting, key=lambda index: layers[index].start):
        first, last = frames_of(layers[index], frame_time)
        if first > last:
            continue
        if groups and first <= latest:
            groups[-1].append(index)
        else:
            groups.append([index])
        latest = max(latest, last)
    return [sorted(group) for group in groups]


def frames_of(layer: Layer, frame_time: float) -> tuple[int, int]:
    """The first and the last frame in which a layer acts."""
    return math.ceil(layer.start / frame_time - 1e-6), math.floor(layer.end / frame_time + 1e-6)


def layer_miss(skeleton: Skeleton, world: World, layer: Layer, seconds: Floats) -> Miss:
    """The largest error of a layer's effector where the layer has its full weight.

    ``seconds`` (F,): of the frames of ``world``.
    """
    full = np.flatnonzero(layer.share(seconds) > 1.0 - 1e-9)
    if not full.size:
        return Miss(0.0, 0.0)
    points, turns = (one[full] for one in layer.moved(seconds))
    here, way = (one[full] for one in place_in_space(skeleton, world, layer))
    if KINDS[layer.goal.kind].aims:
        own = rotate(way, np.array(layer.goal.value("axis")))
        return Miss(0.0, math.degrees(float(angle_between(between(own, points - here), IDENTITY).max())))
    metres = 0.0 if np.isnan(points).any() else float(np.linalg.norm(here - points, axis=-1).max())
    return Miss(metres, 0.0 if np.isnan(turns).any() else math.degrees(float(angle_between(way, turns).max())))


def place_in_space(skeleton: Skeleton, world: World, layer: Layer) -> tuple[Floats, Floats]:
    """(F, 3) positions and (F, 4) rotations of the effector, or of the point midway, in the layer's space."""
    _, point, turn = KINDS[layer.goal.kind].stand(layer.goal, skeleton, world)
    if layer.space is None:
        return point, turn
    other = effector_of(skeleton, layer.space)
    back = conjugate(world.rotations[:, other.joint])
    return rotate(back, point - world.point(other.joint, other.offset)), multiply(back, turn)
