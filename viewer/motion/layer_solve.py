"""Layers solved: the frames that they change on a clip, in blocks whose result does not depend on their order.

Frames solved one by one differ in what their goals leave free, and pop. Here some frames are solved first, as many as
corrections show that are smoothed over time: each starts from the correction of its neighbour, outwards from the frame
in which the goals weigh most. Between them the corrections are interpolated, then smoothed, and every frame is solved
from there, which moves it by little.

`within_limits` uses this for clips that must keep their joints' limits: turning each joint inside its limits moves
everything below it, and goals bring hands and feet back as far as the limits allow.

Short windows are one block. Long ones, such as of a hand pinned over a whole clip, are cut into blocks; each is carried
from its own middle. Across a seam one block's correction fades into the next one's before the frames are solved.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

import numpy as np

from viewer.errors import InputError, quote
from viewer.ik.goals import KINDS, Goal
from viewer.ik.solver import Solver
from viewer.ik.solver_options import SolverOptions
from viewer.motion.layer import Layer, Miss, frames_of, layer_miss, overlapping, place_in_space, turned_between
from viewer.skeleton import (
    Character,
    Clip,
    EffectorGoal,
    JointKind,
    Limb,
    Pose,
    Skeleton,
    World,
    effector_of,
    find_figure,
    fk,
    fk_arrays,
    fk_clip,
    point_of,
    rest_world,
)
from viewer.skeleton.character import check_character, wrong_kind
from viewer.skeleton.clip_limits import limits_around
from viewer.skeleton.coordinates import project_clip
from viewer.spatial.checks import Floats, Ints, handed_over
from viewer.spatial.quaternion import (
    IDENTITY,
    angle_between,
    between,
    conjugate,
    exp,
    log,
    multiply,
    norm,
    normalized,
    rotate,
    slerp,
)
from viewer.spatial.smoothing import ease, low_pass

_CUTOFF = 2.5
"""Hertz: cut-off of the low-pass filter on corrections before the last solve."""
_CARRIED = 15.0
"""Frames a second that are solved before corrections are smoothed: six for each period at the cut-off."""
_NEAR = 1e-5
"""Ends that limits move by less than this, in metres, are not brought back."""
_FOOT = 0.15
"""Metres: lever by which the rotation of a hand or foot counts as a displacement."""
_JOINED = 0.5
"""Stretches of frames closer together than this, in seconds, are solved as one."""
_MOST = 60
"""Iterations of a frame."""


class MovingGoal(NamedTuple):
    """A goal with its target in every frame.

    Attributes:
        goal: its kind, effector and weights.
        positions: (F, 3) target positions; NaN if it has none.
        rotations: (F, 4) target rotations; NaN if it has none.
    """

    goal: Goal
    positions: Floats
    rotations: Floats


class Correction(NamedTuple):
    """The change of frames.

    Attributes:
        turned: (F, J, 3) rotation vectors in the joints' own frames.
        shifted: (F, J, 3) metres.
    """

    turned: Floats
    shifted: Floats


def solve_carried(
    solver: Solver,
    rotations: Floats,
    translations: Floats,
    tracks: Sequence[MovingGoal],
    share: Floats,
    frame_time: float,
) -> tuple[Floats, Floats]:
    """Solve frames so that the goals are met in each of them.

    Args:
        solver: with the goals of the tracks, in their order; it should not restart.
        rotations: (F, J, 4) local, of the motion as it is.
        translations: (F, J, 3) local, metres.
        tracks: the targets.
        share: (F,) 0 to 1, the distance of the targets from the motion by the largest one; corrections fade with it.
        frame_time: seconds between frames.

    Returns:
        Rotations and translations of the solved frames; frames without a finite answer are unchanged.
    """
    correction = carried_correction(solver, rotations, translations, tracks, share, frame_time)
    return solve_corrected(solver, rotations, translations, tracks, correction)


def carried_correction(
    solver: Solver,
    rotations: Floats,
    translations: Floats,
    tracks: Sequence[MovingGoal],
    share: Floats,
    frame_time: float,
) -> Correction:
    """The corrections carried from frame to frame, smoothed. Arguments are those of `solve_carried`."""
    middle = _middle(share)
    some = _carried_frames(len(rotations), middle, frame_time)
    points, turns = (each[some] for each in _targets(tracks))
    own, placed, share = rotations[some], translations[some], share[some]
    solved, moved = own.copy(), placed.copy()
    first = int(np.searchsorted(some, middle))
    for way in (range(first, len(some)), range(first - 1, -1, -1)):
        for frame in way:
            before = frame - way.step
            turn, shift = np.array(IDENTITY), np.zeros(3)
            if frame != first:
                part = min(1.0, share[frame] / share[before]) if share[before] > 0.0 else 0.0
                turn = _part_of(multiply(conjugate(own[before]), solved[before]), part)
                shift = part * (moved[before] - placed[before])
            start = _posed(normalized(multiply(own[frame], turn)), placed[frame] + shift)
            pose = solver.solve(start, points[frame], turns[frame]).pose
            if np.isfinite(pose.rotations).all() and np.isfinite(pose.translations).all():
                solved[frame], moved[frame] = pose.rotations, pose.translations
    changes = log(multiply(conjugate(own), solved)), moved - placed
    whole = (_interpolated(change, some, len(rotations)) for change in changes)
    return Correction(*(low_pass(each, 1.0 / frame_time, _CUTOFF) for each in whole))


def _carried_frames(count: int, middle: int, frame_time: float) -> Ints:
    """The frames that are solved before corrections are smoothed: the middle one and both ends are among them."""
    step = max(1, int(1.0 / (_CARRIED * frame_time) + 1e-3))
    return np.unique([0, *range(middle % step, count, step), count - 1])


def _interpolated(values: Floats, frames: Ints, count: int) -> Floats:
    """(F, ...) values of all frames, linear between those of some (N, ...), from the first frame to the last."""
    if len(frames) == count:
        return values
    every = np.arange(count)
    after = np.clip(np.searchsorted(frames, every), 1, len(frames) - 1)
    low, high = frames[after - 1], frames[after]
    part = ((every - low) / (high - low)).reshape(-1, *(1,) * (values.ndim - 1))
    return np.asarray(values[after - 1] + part * (values[after] - values[after - 1]))


def solve_corrected(
    solver: Solver, rotations: Floats, translations: Floats, tracks: Sequence[MovingGoal], correction: Correction
) -> tuple[Floats, Floats]:
    """Each frame solved by itself from its corrected pose; arguments and result are those of `solve_carried`."""
    points, turns = _targets(tracks)
    solved, moved = rotations.copy(), translations.copy()
    turned = normalized(multiply(rotations, exp(correction.turned)))
    starts = [_posed(*frame) for frame in zip(turned, translations + correction.shifted, strict=True)]
    last = solver.solve_batch(starts, points, turns)
    good = np.isfinite(last.rotations).all(axis=(1, 2)) & np.isfinite(last.translations).all(axis=(1, 2))
    solved[good], moved[good] = last.rotations[good], last.translations[good]
    return solved, moved


def _targets(tracks: Sequence[MovingGoal]) -> tuple[Floats, Floats]:
    """(F, G, 3) and (F, G, 4) of all goals."""
    return np.stack([one.positions for one in tracks], axis=1), np.stack([one.rotations for one in tracks], axis=1)


def _middle(share: Floats) -> int:
    """The frame in the middle of those with the largest share."""
    most = np.flatnonzero(share >= share.max() - 1e-9)
    return int(most[len(most) // 2])


def _part_of(turns: Floats, part: float) -> Floats:
    """A part of rotations (J, 4), not normalised: linearly, since parts of neighbouring frames are nearly 1."""
    found = np.where(turns[:, 3:] < 0.0, -part, part) * turns
    found[:, 3] += 1.0 - part
    return found


def _posed(rotations: Floats, translations: Floats) -> Pose:
    return Pose.trusted(handed_over(rotations), handed_over(translations))


def within_limits(skeleton: Skeleton, clip: Clip, limbs: Sequence[Limb]) -> Clip:
    """A clip whose joints keep their limits.

    ``limbs``: whose ends, hands or feet, keep their world positions, and next their rotations.

    Returns:
        The clip; frames in which every joint was inside are unchanged.
    """
    inside = project_clip(skeleton, clip)
    before, after = fk_clip(skeleton, clip), fk_clip(skeleton, inside)
    away = _ends_away(limbs, before, after)
    frames = np.flatnonzero(away > _NEAR)
    if not len(frames):
        return inside
    goals = [goal for limb in limbs for goal in _end_goals(skeleton, limb, before)]
    # Within the usual tolerance, neighbouring frames would differ visibly.
    solver = Solver(
        skeleton, [one.goal for one in goals], tolerance_m=_NEAR, tolerance_deg=1e-3, restarts=False,
        max_iterations=_MOST,
    )  # fmt: skip
    rotations, translations = inside.rotations.copy(), inside.local_translations()
    for piece in _stretches(frames, max(1, round(_JOINED / clip.frame_time))):
        here = [MovingGoal(one.goal, one.positions[piece], one.rotations[piece]) for one in goals]
        rotations[piece], translations[piece] = solve_carried(
            solver, rotations[piece], translations[piece], here, away[piece] / away[piece].max(), clip.frame_time
        )
    return inside.with_motion(rotations, translations)


def _ends_away(limbs: Sequence[Limb], before: World, after: World) -> Floats:
    """(F,) metres between the ends of limbs in one world and in another; the largest distance counts."""
    away = np.zeros(len(before.positions))
    for limb in limbs:
        shift = norm(after.point(*limb.tip) - before.point(*limb.tip))
        if limb.end is not None:
            shift += _FOOT * angle_between(after.rotations[:, limb.end], before.rotations[:, limb.end])
        away = np.maximum(away, shift)
    return away


def _end_goals(skeleton: Skeleton, limb: Limb, world: World) -> list[MovingGoal]:
    """Goals that hold the end of a limb and, at a lower level, the rotation of its hand or foot."""
    (joint, offset), points = limb.tip, world.point(*limb.tip)
    nothing = np.full((len(points), 4), np.nan)
    kept = [MovingGoal(Goal.position(skeleton.names[joint], points[0], offset=offset), points, nothing)]
    if limb.end is not None:
        turns = world.rotations[:, limb.end]
        kept.append(MovingGoal(Goal.rotation(skeleton.names[limb.end], turns[0], level=2), nothing[:, :3], turns))
    return kept


def _stretches(frames: Ints, apart: int) -> list[slice]:
    """Runs of frames, ascending, with gaps of fewer than ``apart`` filled."""
    parts = np.split(frames, np.flatnonzero(np.diff(frames) > apart) + 1)
    return [slice(int(part[0]), int(part[-1]) + 1) for part in parts]


WHOLE = 512
"""Windows of at most this many frames are one block."""
BLOCK, _OVERLAP = 128, 32
"""Frames of a block of a longer window, and frames on either side of a seam over which corrections fade."""
_TOLERANCE = 1e-5, 1e-3
"""Metres and degrees. Within the usual tolerances, neighbouring frames would differ visibly."""


_GROUND = 0.1
"""Skeletons that are not figures stand on effectors at most this far above the lowest at rest, in figure heights."""


class Window(NamedTuple):
    """Frames that layers change.

    Attributes:
        first: the first one.
        layers: indices of the layers that act there.
        rotations: (F, J, 4) local.
        translations: (F, J, 3) local, metres.
        misses: the error of each of these layers.
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
    check_character(character)
    if isinstance(layers, Layer):
        raise wrong_kind(layers, "a list of layers", "layers: ")
    for index, layer in enumerate(layers):
        if not isinstance(layer, Layer):
            raise wrong_kind(layer, "a layer", f"layers[{index}]: ")
    if not character.clips:
        raise InputError(f"{character.skeleton.name or 'the skeleton'} has no clip for layers")
    if clip is not None and clip not in character.clips:
        raise InputError(f"no clip {quote(clip)}: there is {', '.join(map(quote, character.clips))}")
    base = character.clips[clip] if clip is not None else next(iter(character.clips.values()))
    return with_windows(base, solve_layers(character.skeleton, base, layers))


def with_windows(clip: Clip, windows: Iterable[Window]) -> Clip:
    """The clip with the frames of windows replaced."""
    rotations, translations = clip.rotations.copy(), clip.local_translations()
    for window in windows:
        frames = slice(window.first, window.first + len(window.rotations))
        rotations[frames], translations[frames] = window.rotations, window.translations
    return clip.with_motion(rotations, translations)


def solve_layers(skeleton: Skeleton, clip: Clip, layers: Sequence[Layer], **options: object) -> list[Window]:
    """The frames that layers change, in order.

    Args:
        skeleton: whose limits bind, widened as far as the clip itself is outside.
        clip: on which the layers act.
        layers: those that are off, or weigh nothing, are left out.
        options: of the solver, such as ``limits``; not its tolerances and restarts.

    Raises:
        InputError: a layer that ends after the clip, names that the skeleton does not have.
    """
    check_ends(layers, len(clip) * clip.frame_time)
    windows = []
    for indices in overlapping(layers, clip.frame_time):
        group = LayerGroup(skeleton, clip, [layers[index] for index in indices], 0, options)
        frames = [group.block(number) for number in range(len(group.blocks))]
        rotations, translations = (np.concatenate(each) for each in zip(*frames, strict=True))
        misses = group.misses(rotations, translations)
        windows.append(Window(group.first, tuple(indices), rotations, translations, misses))
    return windows


def check_ends(layers: Iterable[Layer], latest: float) -> None:
    """Raise InputError unless all layers end by ``latest``, in seconds."""
    for layer in layers:
        if layer.end > latest * (1.0 + 1e-9):
            name = quote(layer.goal.effector)
            raise InputError(f"layer for {name}: expected an end within the clip's {latest:g} s, found {layer.end:g} s")


class LayerGroup:
    """Layers that act at the same time, and the frames that they change.

    Layers for one effector are solved in rounds, one after the other; later rounds hold what earlier ones have reached.

    Attributes:
        first: the first of these frames.
        blocks: frames of each block, counted from the first.
    """

    def __init__(
        self, skeleton: Skeleton, clip: Clip, layers: Sequence[Layer], start: int, options: Mapping[str, object]
    ) -> None:
        """Prepare; nothing is solved yet.

        ``skeleton``: its limits bind, widened as far as the clip itself is outside; ``start``: number of the clip's
        first frame, if it is a part of one that the layers' seconds refer to.
        """
        ends = [frames_of(layer, clip.frame_time) for layer in layers]
        self.first = max(min(low for low, _ in ends), start)
        last = min(max(high for _, high in ends), start + len(clip) - 1)
        part = clip.frames(self.first - start, last - start)
        self._skeleton, self._layers, self._frame_time = skeleton, layers, clip.frame_time
        self._base = part.rotations, part.local_translations()
        count = len(part)
        cuts = range(0, count, BLOCK) if count > WHOLE else range(1)
        self.blocks = [slice(at, min(at + BLOCK, count) if count > WHOLE else count) for at in cuts]
        self._rounds = self._planned(limits_around(skeleton, part), part, options)
        self._latest: tuple[tuple[int, slice], _Given] | None = None
        self._corrections: dict[tuple[int, int], Correction] = {}
        self._solved: dict[tuple[int, int], tuple[Floats, Floats]] = {}

    def _planned(self, solving: Skeleton, clip: Clip, options: Mapping[str, object]) -> list[_Round]:
        tight = {
            "tolerance_m": _TOLERANCE[0],
            "tolerance_deg": _TOLERANCE[1],
            "restarts": False,
            "max_iterations": _MOST,
        }
        feet = standing(self._skeleton)
        fixed = {"root": "free" if feet else "locked", **options, **tight}
        rounds: list[_Round] = []
        reached: list[Layer] = []
        for acting in _by_effector(self._layers):
            own = {effector_of(self._skeleton, name).joint for layer in acting for name in layer.effectors}
            names = dict.fromkeys([*feet, *(name for layer in reached for name in layer.effectors)])
            held = [name for name in names if effector_of(self._skeleton, name).joint not in own]
            at = fk(self._skeleton, clip.pose(0))
            world = World(at.positions[None], at.rotations[None])
            goals = [one.goal for one in self._tracks(acting, held, world, np.zeros(1))]
            rounds.append(_Round(acting, held, Solver(solving, goals, **cast("SolverOptions", fixed))))
            reached += acting
        return rounds

    def block(self, number: int) -> tuple[Floats, Floats]:
        """Rotations (F, J, 4) and translations (F, J, 3) of the frames of a block, local."""
        return self._block(len(self._rounds) - 1, number)

    def misses(self, rotations: Floats, translations: Floats) -> tuple[Miss, ...]:
        """The error of each layer over its solved frames."""
        world, seconds = self._world(rotations, translations), self._seconds(slice(0, len(rotations)))
        return tuple(layer_miss(self._skeleton, world, layer, seconds) for layer in self._layers)

    def _block(self, number: int, block: int) -> tuple[Floats, Floats]:
        key = number, block
        if key not in self._solved:
            frames, one = self.blocks[block], self._rounds[number]
            correction = self._correction(number, block)
            self._solved[key] = solve_corrected(one.solver, *self._given_in(number, frames), correction)
        return self._solved[key]

    def _before(self, number: int, frames: slice) -> tuple[Floats, Floats]:
        """Frames before a round: the clip's, or those of the round before."""
        if number == 0:
            return self._base[0][frames], self._base[1][frames]
        size = self.blocks[0].stop
        some = range(frames.start // size, (frames.stop - 1) // size + 1)
        parts = [self._block(number - 1, block) for block in some]
        here = slice(frames.start - some.start * size, frames.stop - some.start * size)
        rotations, translations = (np.concatenate(each)[here] for each in zip(*parts, strict=True))
        return rotations, translations

    def _correction(self, number: int, block: int) -> Correction:
        """A block's correction, faded into its neighbours' at the seams."""
        frames = self.blocks[block]
        own = self._carried(number, block)
        reach = self._reach(block)
        inside = slice(frames.start - reach.start, frames.stop - reach.start)
        turned, shifted = (each[inside].copy() for each in own)
        for other in (block - 1, block + 1):
            if not 0 <= other < len(self.blocks):
                continue
            seam = frames.start if other < block else frames.stop
            theirs = self._reach(other)
            low, high = max(frames.start, theirs.start), min(frames.stop, theirs.stop)
            across = (np.arange(low, high) + 0.5 - seam) / (2.0 * _OVERLAP) + 0.5
            share = ease(across if other > block else 1.0 - across)[:, None, None]
            there = slice(low - theirs.start, high - theirs.start)
            here = slice(low - frames.start, high - frames.start)
            for mine, its in zip((turned, shifted), self._carried(number, other), strict=True):
                mine[here] += share * (its[there] - mine[here])
        return Correction(turned, shifted)

    def _reach(self, block: int) -> slice:
        frames = self.blocks[block]
        return slice(max(frames.start - _OVERLAP, 0), min(frames.stop + _OVERLAP, self.blocks[-1].stop))

    def _carried(self, number: int, block: int) -> Correction:
        key = number, block
        if key not in self._corrections:
            frames, one = self._reach(block), self._rounds[number]
            share = np.max([layer.share(self._seconds(frames)) for layer in one.layers], axis=0)
            given = self._given_in(number, frames)
            self._corrections[key] = carried_correction(one.solver, *given, share, self._frame_time)
        return self._corrections[key]

    def _given_in(self, number: int, frames: slice) -> _Given:
        """What a round is given in some frames; of a window of one block it is needed twice."""
        if self._latest is None or self._latest[0] != (number, frames):
            rotations, translations = self._before(number, frames)
            one, world = self._rounds[number], self._world(rotations, translations)
            tracks = self._tracks(one.layers, one.held, world, self._seconds(frames))
            self._latest = (number, frames), _Given(rotations, translations, tracks)
        return self._latest[1]

    def _tracks(self, layers: list[Layer], held: list[str], world: World, seconds: Floats) -> list[MovingGoal]:
        tracks = [_moving_goal(self._skeleton, world, layer, seconds) for layer in layers]
        return tracks + [_hold(self._skeleton, world, name) for name in held]

    def _world(self, rotations: Floats, translations: Floats) -> World:
        return fk_arrays(self._skeleton.parents, rotations, translations)

    def _seconds(self, frames: slice) -> Floats:
        return np.arange(self.first + frames.start, self.first + frames.stop, dtype=np.float64) * self._frame_time


class _Given(NamedTuple):
    """Local rotations (F, J, 4) and translations (F, J, 3) before a round, and the targets in each frame."""

    rotations: Floats
    translations: Floats
    tracks: list[MovingGoal]


class _Round(NamedTuple):
    """Layers that are solved together, at most one for an effector, and names of effectors that are held."""

    layers: list[Layer]
    held: list[str]
    solver: Solver


def standing(skeleton: Skeleton) -> list[str]:
    """Effectors that carry a body with a free root: a figure's feet, else the effectors that are lowest at rest."""
    figure = find_figure(skeleton)
    if JointKind.FREE not in skeleton.kinds:
        return []
    if figure is not None:
        ends = [limb.end if limb.end is not None else limb.tip[0] for limb in figure.limbs if limb.kind == "leg"]
        return [skeleton.names[joint] for joint in ends]
    world = rest_world(skeleton)
    held = [one for one in skeleton.effectors if one.goal is not EffectorGoal.OFF] or [*skeleton.effectors]
    heights = [float(world.point(one.joint, one.offset)[1]) for one in held]
    low = min(heights, default=0.0) + _GROUND * float(np.ptp(world.positions[:, 1]))
    return [one.name for one, height in zip(held, heights, strict=True) if height <= low]


def _by_effector(layers: Iterable[Layer]) -> list[list[Layer]]:
    """Layers in rounds with at most one for each effector."""
    rounds: list[list[Layer]] = []
    count: Counter[str] = Counter()
    for layer in layers:
        number = max(count[name] for name in layer.effectors)
        for name in layer.effectors:
            count[name] = number + 1
        rounds += [[]] if number == len(rounds) else []
        rounds[number].append(layer)
    return rounds


def _moving_goal(skeleton: Skeleton, world: World, layer: Layer, seconds: Floats) -> MovingGoal:
    """A layer's goal with its target in every frame, between the clip's own and the goal's by the layer's weight."""
    goal, share = layer.goal, layer.share(seconds)
    points, turns = layer.moved(seconds)
    here, way = place_in_space(skeleton, world, layer)
    if KINDS[goal.kind].aims:
        own = rotate(way, np.array(goal.value("axis")))
        far = np.linalg.norm(points - here, axis=-1, keepdims=True)
        part = slerp(np.broadcast_to(IDENTITY, turns.shape), between(own, points - here), share)
        return MovingGoal(goal, here + far * rotate(part, own), turns)
    points, turns = here + share[:, None] * (points - here), turned_between(way, turns, share)
    if layer.space is not None:
        parts = [False if np.isnan(one[0]).any() else one[0] for one in (points, turns)]
        goal = Goal.relative(
            layer.space, goal.effector, *parts, level=goal.level,
            weight=goal.weight, rotation_weight=goal.rotation_weight,
        )  # fmt: skip
    return MovingGoal(goal, points, turns)


def _hold(skeleton: Skeleton, world: World, name: str) -> MovingGoal:
    joint, offset = point_of(skeleton, name)
    points, turns = world.point(joint, offset), world.rotations[:, joint]
    return MovingGoal(Goal.pose(name, points[0], turns[0], level=0), points, turns)
