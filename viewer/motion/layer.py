"""Layers: goals over time on a clip. A hand reaches for a button while the figure walks, and the clip stays as it is.

A layer's goal fades in, holds and fades out again. In each frame its target lies between the effector's place on the
clip and the goal's own, as its weight then says. The frames are solved outwards from the hold, each from the correction
of the one before, so that neighbours agree; then the corrections are smoothed, and each frame is solved once more from
there. Feet stay where the clip has them. Frames outside the layers' windows keep their bits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, cast

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.goals import Goal, GoalKind
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.motion.carried import MovingGoal, solve_carried
from viewer.skeleton import (
    Character,
    Clip,
    EffectorGoal,
    JointKind,
    Skeleton,
    World,
    clip_violation,
    find_figure,
    find_place,
    fk,
    fk_arrays,
)
from viewer.spatial.checks import Floats, finite_floats
from viewer.spatial.quaternion import IDENTITY, angle_between, between, conjugate, multiply, rotate, slerp
from viewer.spatial.smoothing import ease

KINDS = (GoalKind.POSITION, GoalKind.ROTATION, GoalKind.POSE, GoalKind.AIM)
"""Kinds of goals that a layer can have."""
_TOLERANCE = 1e-5, 1e-3
"""Metres and degrees: at the usual tolerances each frame would end elsewhere inside them."""
_MOST = 60
"""Iterations of a frame."""
_INSTANT = 1e-9
"""Seconds."""
_GROUND = 0.1
"""Creatures that are no figures stand on effectors that are so near to the lowest at rest, in parts of the height."""
_OUTSIDE = math.radians(0.01)
"""A joint that the clip turns so far beyond its limits has none here: what the clip does is allowed."""


class TargetKey(NamedTuple):
    """Where a layer's goal is at a time.

    Attributes:
        seconds: from the first frame.
        position: (3,) metres; None: the goal has none.
        rotation: (4,) (x, y, z, w); None likewise.
    """

    seconds: float
    position: tuple[float, float, float] | None = None
    rotation: tuple[float, float, float, float] | None = None


@dataclass(frozen=True, slots=True)
class Layer:
    """A goal over time.

    Attributes:
        goal: for a position, a rotation, both, or an aim; its level counts against the other layers' and the feet's,
            which have level 0.
        start: seconds at which it begins to act.
        full: seconds between which it acts with all its weight.
        end: seconds at which it has ceased to act.
        weight: 0 (not at all) to 1.
        space: a joint or effector whose frame the goal's numbers refer to, and which carries the target along; None:
            the world.
        keys: a target that moves, linearly from one to the next and still before and after; () : the goal's own.
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
        """Check every field.

        Raises:
            InputError: a goal of another kind, times that are not in order, a weight outside 0 to 1.
        """
        if not isinstance(self.goal, Goal):
            raise InputError(f"layer: expected a goal, found {quote(self.goal)}")
        what = f"layer for {quote(self.goal.effector)}"
        if self.goal.kind not in KINDS or self.goal.pinned:
            found = "a pin" if self.goal.pinned else f"a goal of the kind {self.goal.kind}"
            raise InputError(f"{what}: expected a goal for a position, rotation, pose or aim, found {found}")
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
        if self.space is not None and (self.goal.kind is GoalKind.AIM or any(self.goal.offset)):
            found = "an aim" if self.goal.kind is GoalKind.AIM else "an offset"
            raise InputError(f"{what}: expected no {found} in the space of {quote(self.space)}")
        times = [key.seconds for key in self.keys]
        if sorted(set(times)) != times:
            raise InputError(f"{what}: expected keys in order of time, each at a time of its own")
        put = object.__setattr__
        put(self, "start", given[0])
        put(self, "full", (given[1], given[2]))
        put(self, "end", given[3])
        put(self, "weight", weight)

    def share(self, seconds: Floats) -> Floats:
        """(F,) its weight at times, with smooth edges (a quintic: velocity and acceleration are 0 at the ends)."""
        first, last = self.full
        # An edge of no length is a step.
        rise = ease((seconds - self.start) / max(first - self.start, _INSTANT) + (first == self.start))
        fall = ease((self.end - seconds) / max(self.end - last, _INSTANT) + (last == self.end))
        inside = (seconds >= self.start) & (seconds <= self.end)
        return np.where(inside, self.weight * np.minimum(rise, fall), 0.0)

    def moved(self, seconds: Floats) -> tuple[Floats, Floats]:
        """(F, 3) and (F, 4) its target at times; NaN where the goal has no such part."""
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
        return found, _between(turns[after - 1], turns[after], part)


def _between(start: Floats, end: Floats, part: Floats) -> Floats:
    """(F, 4) rotations on the way from ``start`` (F, 4) to ``end``; NaN where there is none."""
    return np.where(np.isnan(end), np.nan, slerp(start, end, part))


class Miss(NamedTuple):
    """How far an effector stays from its layer's target while the layer acts with all its weight.

    Attributes:
        metres: at worst; 0 where the goal has no place.
        degrees: at worst; 0 where it has no rotation.
    """

    metres: float
    degrees: float


class Window(NamedTuple):
    """Frames that layers change.

    Attributes:
        first: the first one.
        layers: indices of the layers that act there.
        rotations: (F, J, 4) local.
        translations: (F, J, 3) local, metres.
        misses: of each of these layers.
    """

    first: int
    layers: tuple[int, ...]
    rotations: Floats
    translations: Floats
    misses: tuple[Miss, ...]


def apply_layers(character: Character, layers: Sequence[Layer], clip: str | None = None) -> Clip:
    """A clip with layers on it.

    Args:
        character: whose clip it is.
        layers: in order: of two for the same effector the later one acts on what the earlier one has made.
        clip: its name; None: the first one.

    Returns:
        The clip, with the frames inside the layers' windows solved; all others as they are, to the bit.

    Raises:
        InputError: no clip, a layer that ends after it, names that the skeleton does not have.
    """
    if not character.clips:
        raise InputError(f"{character.skeleton.name or 'the skeleton'} has no clip for layers")
    if clip is not None and clip not in character.clips:
        raise InputError(f"no clip {quote(clip)}: there is {', '.join(map(quote, character.clips))}")
    base = character.clips[clip] if clip is not None else next(iter(character.clips.values()))
    return with_windows(base, solve_layers(character.skeleton, base, layers))


def with_windows(clip: Clip, windows: Iterable[Window]) -> Clip:
    """The clip with other frames."""
    rotations, translations = clip.rotations.copy(), clip.local_translations()
    for window in windows:
        frames = slice(window.first, window.first + len(window.rotations))
        rotations[frames], translations[frames] = window.rotations, window.translations
    return clip.with_motion(rotations, translations)


def solve_layers(
    skeleton: Skeleton, clip: Clip, layers: Sequence[Layer], first: int = 0, **options: object
) -> list[Window]:
    """The frames that layers change, in order.

    Args:
        skeleton: whose limits bind, except where the clip itself is outside.
        clip: on which the layers act.
        layers: those that are off, or weigh nothing, are left out.
        first: number of the clip's first frame, if it is a part of one that the layers' seconds refer to.
        options: of the solver, such as ``limits``; not its tolerances and restarts.

    Raises:
        InputError: a layer that ends after the clip, names that the skeleton does not have.
    """
    latest = (first + len(clip)) * clip.frame_time
    for layer in layers:
        if layer.end > latest * (1.0 + 1e-9):
            name = quote(layer.goal.effector)
            raise InputError(f"layer for {name}: expected an end within the clip's {latest:g} s, found {layer.end:g} s")
    groups = overlapping(layers, clip.frame_time)
    return [_window(skeleton, clip, [layers[index] for index in group], group, first, options) for group in groups]


def overlapping(layers: Sequence[Layer], frame_time: float) -> list[list[int]]:
    """Indices of layers that act in a frame at least, grouped by acting at the same time; each group in their order."""
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


def standing(skeleton: Skeleton) -> list[str]:
    """Names of what bears a creature with a free root: a figure's feet, else the effectors that are lowest at rest."""
    figure = find_figure(skeleton)
    if JointKind.FREE not in skeleton.kinds:
        return []
    if figure is not None:
        ends = [limb.end if limb.end is not None else limb.tip[0] for limb in figure.limbs if limb.kind == "leg"]
        return [skeleton.names[joint] for joint in ends]
    world = fk(skeleton, skeleton.rest_pose())
    held = [one for one in skeleton.effectors if one.goal is not EffectorGoal.OFF] or [*skeleton.effectors]
    heights = [float(world.point(one.joint, np.array(one.offset))[1]) for one in held]
    low = min(heights, default=0.0) + _GROUND * float(np.ptp(world.positions[:, 1]))
    return [one.name for one, height in zip(held, heights, strict=True) if height <= low]


def _window(
    skeleton: Skeleton, clip: Clip, layers: Sequence[Layer], group: list[int], start: int, options: dict[str, object]
) -> Window:
    """The frames of layers that act at the same time: those of a ``group``.

    Layers for one effector are solved one after the other; what the earlier ones have reached is then held.
    """
    ends = [frames_of(layer, clip.frame_time) for layer in layers]
    first = max(min(low for low, _ in ends), start)
    last = min(max(high for _, high in ends), start + len(clip) - 1)
    seconds = np.arange(first, last + 1, dtype=np.float64) * clip.frame_time
    part = clip.frames(first - start, last - start)
    solving = _as_free_as(skeleton, part)
    tight = {"tolerance_m": _TOLERANCE[0], "tolerance_deg": _TOLERANCE[1], "restarts": False, "max_iterations": _MOST}
    feet = standing(skeleton)
    root = {"root": "free" if feet else "locked"}
    rotations, translations = part.rotations, part.local_translations()
    reached: list[Layer] = []
    for acting in _by_effector(layers):
        world = fk_arrays(skeleton.parents, rotations, translations)
        own = {find_place(skeleton, layer.goal.effector).joint for layer in acting}
        held = dict.fromkeys([*feet, *(layer.goal.effector for layer in reached)])
        tracks = [_moving_goal(skeleton, world, layer, seconds) for layer in acting]
        tracks += [_hold(skeleton, world, name) for name in held if find_place(skeleton, name).joint not in own]
        share = np.max([layer.share(seconds) for layer in acting], axis=0)
        solver = Solver(solving, [one.goal for one in tracks], **cast("SolverOptions", root | options | tight))
        rotations, translations = solve_carried(solver, rotations, translations, tracks, share, clip.frame_time)
        reached += acting
    world = fk_arrays(skeleton.parents, rotations, translations)
    misses = tuple(layer_miss(skeleton, world, layer, seconds) for layer in layers)
    return Window(first, tuple(group), rotations, translations, misses)


def _by_effector(layers: Iterable[Layer]) -> list[list[Layer]]:
    """Layers in rounds, each of which has at most one for an effector."""
    rounds: list[list[Layer]] = []
    count: Counter[str] = Counter()
    for layer in layers:
        number = count[layer.goal.effector]
        count[layer.goal.effector] += 1
        rounds += [[]] if number == len(rounds) else []
        rounds[number].append(layer)
    return rounds


def _as_free_as(skeleton: Skeleton, clip: Clip) -> Skeleton:
    """The skeleton without the limits of joints that the clip turns beyond them."""
    far = clip_violation(skeleton, clip).max(axis=0) > _OUTSIDE
    if not far.any():
        return skeleton
    limits = [None if out else own for own, out in zip(skeleton.limits, far.tolist(), strict=True)]
    return replace(skeleton, limits=tuple(limits))


def _moving_goal(skeleton: Skeleton, world: World, layer: Layer, seconds: Floats) -> MovingGoal:
    """A layer's goal, with its target in every frame: on the way from the clip's own as far as its share says."""
    goal, share = layer.goal, layer.share(seconds)
    points, turns = layer.moved(seconds)
    here, way = _stands(skeleton, world, layer)
    if goal.kind is GoalKind.AIM:
        own = rotate(way, np.array(goal.axis))
        far = np.linalg.norm(points - here, axis=-1, keepdims=True)
        part = slerp(np.broadcast_to(IDENTITY, turns.shape), between(own, points - here), share)
        return MovingGoal(goal, here + far * rotate(part, own), turns)
    points, turns = here + share[:, None] * (points - here), _between(way, turns, share)
    if layer.space is not None:
        asked = [False if np.isnan(one[0]).any() else one[0] for one in (points, turns)]
        goal = Goal.relative(
            layer.space, goal.effector, *asked, level=goal.level,
            weight=goal.weight, rotation_weight=goal.rotation_weight,
        )  # fmt: skip
    return MovingGoal(goal, points, turns)


def _stands(skeleton: Skeleton, world: World, layer: Layer) -> tuple[Floats, Floats]:
    """(F, 3) and (F, 4): where the effector is and how it is turned, in the layer's space."""
    place = find_place(skeleton, layer.goal.effector)
    point, turn = world.point(place.joint, np.add(place.offset, layer.goal.offset)), world.rotations[:, place.joint]
    if layer.space is None:
        return point, turn
    other = find_place(skeleton, layer.space)
    back = conjugate(world.rotations[:, other.joint])
    return rotate(back, point - world.point(other.joint, np.array(other.offset))), multiply(back, turn)


def _hold(skeleton: Skeleton, world: World, name: str) -> MovingGoal:
    """An effector that stays where it is in every frame."""
    place = find_place(skeleton, name)
    points, turns = world.point(place.joint, np.array(place.offset)), world.rotations[:, place.joint]
    return MovingGoal(Goal.pose(name, points[0], turns[0], level=0), points, turns)


def layer_miss(skeleton: Skeleton, world: World, layer: Layer, seconds: Floats) -> Miss:
    """How far an effector is from its target where a layer has all its weight.

    Args:
        skeleton: of the world poses.
        world: of F frames.
        layer: whose effector it is.
        seconds: (F,) of these frames.
    """
    full = np.flatnonzero(layer.share(seconds) > 1.0 - 1e-9)
    if not full.size:
        return Miss(0.0, 0.0)
    points, turns = (one[full] for one in layer.moved(seconds))
    here, way = (one[full] for one in _stands(skeleton, world, layer))
    if layer.goal.kind is GoalKind.AIM:
        own = rotate(way, np.array(layer.goal.axis))
        return Miss(0.0, math.degrees(float(angle_between(between(own, points - here), IDENTITY).max())))
    metres = 0.0 if np.isnan(points).any() else float(np.linalg.norm(here - points, axis=-1).max())
    return Miss(metres, 0.0 if np.isnan(turns).any() else math.degrees(float(angle_between(way, turns).max())))
