"""Joints of robots that are made of hinges: a hip of three whose axes meet turns as one ball.

Retargeting gives a joint the turn of its partner, which a single hinge of a hip cannot take. So hinges in a row whose
axes nearly meet in a point are one joint while a motion is put on the robot (`without_stacks`): three are a ball, two
at right angles a universal. Links that are fixed to a base are one joint with it, which is free if the figure has legs.
Then the hinges get the angles that turn their last link as the joint was turned (`Stacks.spread`). Where axes miss each
other, ends are off by as much: the solver brings hands and feet back to their places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from viewer.motion.hinge_angles import Ranges, Size, are_near, nearest_two, path_angles, ranges_of, three_angles
from viewer.skeleton import Clip, JointKind, JointLimits, Limb, Skeleton, World, above, find_figure, fk_clip
from viewer.skeleton.clip import clip_like
from viewer.skeleton.kinematics import local_turns
from viewer.skeleton.limits import UNLIMITED
from viewer.skeleton.names import body_part
from viewer.skeleton.tree import rest_tree, rest_world
from viewer.spatial.checks import Floats, Ints, frozen
from viewer.spatial.quaternion import (
    IDENTITY,
    conjugate,
    cross,
    dot,
    from_axis_angle,
    multiply,
    norm,
    normalized,
    rotate,
)

_MOST = 3
"""Hinges of one joint."""
_APART, _CARRIED, _AWAY = 0.06, 0.12, 0.15
"""Parts of the figure's size: the most by which the axes of the last two hinges may miss the point where they meet; by
which the first axis may miss it, which carries this point as a collarbone carries the shoulder; and by which joints may
be away from it. The last of three may be anywhere along the bone that it turns: robots turn upper arms near the elbow.
"""
_SLANT = np.cos(np.radians(45.0))
"""Cosine of the angle between hinges that follow each other; above it they turn about one axis, as in a knee."""
_SQUARE = 1e-6
"""Cosine of two axes up to which they are those of a universal."""


class Hinges(NamedTuple):
    """Stacks of as many hinges each.

    Attributes:
        joints: (S,) of the skeleton with single joints.
        hinges: (S, K) of the whole one that these stand for.
        axes: (S, K, 3) at rest, in the frame of the parent of each stack's first member.
        turns: (S, 4) rotations of the last members there.
        ranges: (S, K) of the hinges.
        size: (S,) of what they turn.
    """

    joints: list[int]
    hinges: Ints
    axes: Floats
    turns: Floats
    ranges: Ranges
    size: Size

    def angles(self, turns: Floats, rate: float) -> Floats:
        """Angles (S, F, K) that turn what the stacks carry by ``turns`` (S, F, 4), at a rate of frames per second."""
        if self.axes.shape[1] < _MOST:
            return nearest_two(self.axes, turns)
        near = are_near(self.axes, turns)
        angles = np.empty((*turns.shape[:2], _MOST))
        if near.any():
            ranges, size = Ranges(*(each[near] for each in self.ranges)), Size(*(each[near] for each in self.size))
            angles[near] = path_angles(self.axes[near], turns[near], ranges, rate, size)
        if not near.all():
            ranges = Ranges(*(each[~near] for each in self.ranges))
            angles[~near] = three_angles(self.axes[~near], turns[~near], ranges.cost)
        return angles


@dataclass(frozen=True, slots=True)
class Stacks:
    """A skeleton with single joints in place of its stacks of hinges.

    Attributes:
        whole: the skeleton as it is, but for a base that is freed.
        skeleton: with balls and universals; such a joint has, at rest, the axes of the last link of its stack.
        members: by joint of ``skeleton``: the joints of the whole one that it stands for, from the body outwards.
        points: (J, 3) where each is, in the frame of the last of them.
        mounts: (J, 4) the frame of each one's parent in that of the first member's parent, at rest.
        rows: the stacks of two hinges, and those of three.
        freed: the base of the whole skeleton if that was fixed, and is free here.
    """

    whole: Skeleton
    skeleton: Skeleton
    members: tuple[tuple[int, ...], ...]
    points: Floats
    mounts: Floats
    rows: tuple[Hinges, ...]
    freed: int | None = None

    def name_of(self, name: str) -> str:
        """The joint that stands for one of the whole skeleton; other names as they are."""
        for own, members in zip(self.skeleton.names, self.members, strict=True):
            if any(self.whole.names[joint] == name for joint in members):
                return own
        return name

    def names_in(self, name: str) -> tuple[str, ...]:
        """The joints of the whole skeleton that one of ``skeleton`` stands for; other names as they are."""
        for own, members in zip(self.skeleton.names, self.members, strict=True):
            if own == name:
                return tuple(self.whole.names[joint] for joint in members)
        return (name,)

    def gather(self, clip: Clip) -> Clip:
        """A motion of the whole skeleton on the one with single joints."""
        last = [members[-1] for members in self.members]
        moved = fk_clip(self.whole, clip)
        rotations = local_turns(self.skeleton.parents, moved.rotations[:, last])
        translations = np.tile(self.skeleton.offsets, (len(clip), 1, 1))
        for joint, members in enumerate(self.members):
            if len(members) == 1:
                way = clip.local_translations()[:, members[0]] - self.whole.offsets[members[0]]
                translations[:, joint] += rotate(conjugate(self.mounts[joint]), way)
            elif self.skeleton.kinds[joint] is JointKind.FREE:
                translations[:, joint] = moved.point(members[-1], self.points[joint])
        return clip_like(clip, self.skeleton, rotations, translations)

    def spread(self, clip: Clip) -> tuple[Floats, Floats]:
        """A motion of the single joints as rotations (F, J, 4) and translations (F, J, 3) of the whole skeleton."""
        whole, count = self.whole, len(clip)
        # Joints come first: all of a kind are turned at once.
        rotations = np.repeat(whole.rest_rotations[:, None], count, axis=1)
        translations = np.repeat(whole.offsets[:, None], count, axis=1)
        wanted = multiply(self.mounts[:, None], clip.rotations.swapaxes(0, 1))
        own = clip.local_translations().swapaxes(0, 1)
        single = [joint for joint, members in enumerate(self.members) if len(members) == 1]
        alone = [self.members[joint][0] for joint in single]
        rotations[alone] = wanted[single]
        moved = own[single] - self.skeleton.offsets[single, None]
        if moved.any():
            translations[alone] += rotate(self.mounts[single, None], moved)
        for joint, members in enumerate(self.members):
            if len(members) > 1 and self.skeleton.kinds[joint] is JointKind.FREE:
                turn, place = self._in_base(members, self.points[joint])
                rotations[members[0]] = normalized(multiply(wanted[joint], conjugate(turn)))
                translations[members[0]] = own[joint] - rotate(rotations[members[0]], place)
        for rows in self.rows:
            turns = multiply(wanted[rows.joints], conjugate(rows.turns)[:, None])
            angles = rows.angles(turns, 1.0 / clip.frame_time).swapaxes(1, 2)
            found = from_axis_angle(whole.axes[rows.hinges, 0][:, :, None], angles)
            rotations[rows.hinges] = multiply(whole.rest_rotations[rows.hinges][:, :, None], found)
        return rotations.swapaxes(0, 1), translations.swapaxes(0, 1)

    def _in_base(self, members: tuple[int, ...], point: Floats) -> tuple[Floats, Floats]:
        """The rotation (4,) of the last link of a base, and a point (3,) of it, in the frame of the first."""
        turn, place = IDENTITY, np.zeros(3)
        for joint in members[1:]:
            place = place + rotate(turn, self.whole.offsets[joint])
            turn = multiply(turn, self.whole.rest_rotations[joint])
        return turn, place + rotate(turn, point)

    def seen(self, world: World) -> World:
        """Where the single joints are (F, J) in a world of the whole skeleton."""
        last = [members[-1] for members in self.members]
        turns = world.rotations[:, last]
        return World(world.positions[:, last] + rotate(turns, self.points), turns)

    def limb_of(self, limb: Limb) -> Limb:
        """A limb of ``skeleton`` on the whole one."""
        joint, place = limb.tip
        return replace(
            limb,
            girdle=tuple(self.members[each][-1] for each in limb.girdle),
            upper=self.members[limb.upper][-1],
            lower=self.members[limb.lower][-1],
            end=None if limb.end is None else self.members[limb.end][-1],
            toe=None if limb.toe is None else self.members[limb.toe][-1],
            tip=(self.members[joint][-1], np.asarray(place) + self.points[joint]),
        )


@lru_cache(maxsize=16)
def without_stacks(skeleton: Skeleton, *, hinges: bool = True) -> Stacks | None:
    """The skeleton with single joints in place of its stacks of hinges, and a free base; None: nothing changes.

    A file that fixes a robot's base states how it is mounted, and readers keep that for reaching. Only a motion that
    moves from place to place needs a free base, so the base is freed here.

    ``hinges``: False: hinges stay as they are.
    """
    fixed = JointKind.FIXED in skeleton.kinds
    runs = _runs(skeleton) if hinges else []
    if not runs and not fixed:
        return None
    world = rest_world(skeleton)
    size = max(float(np.ptp(world.positions, axis=0).max()), rest_tree(skeleton).size)
    axes = _axes(skeleton, world)
    groups = [group for run in runs for group in _grouped(skeleton, world, axes, run, size)]
    if not groups and not fixed:
        return None
    made = _merged(skeleton, world, groups)
    base = _base(made)
    if base:
        root, kinds = base[0], list(skeleton.kinds)
        freed = root if kinds[root] is JointKind.FIXED else None
        kinds[root] = JointKind.FREE
        return _merged(replace(skeleton, kinds=tuple(kinds)), world, [base, *groups], freed)
    return made if groups else None


def _base(stacks: Stacks) -> tuple[int, ...]:
    """The base of a figure with legs, and the links fixed to it down to its trunk; () if it is free and alone."""
    skeleton, whole = stacks.skeleton, stacks.whole
    if JointKind.FIXED not in skeleton.kinds:
        return ()
    figure = find_figure(skeleton)
    if figure is None or not figure.legs:
        return ()
    line = above(whole, stacks.members[figure.trunk][0])[::-1]
    fixed = [whole.kinds[each] is JointKind.FIXED for each in line]
    root = whole.kinds[line[0]]
    if not all(fixed[1:]) or root not in (JointKind.FIXED, JointKind.FREE):
        return ()
    return tuple(line) if len(line) > 1 or root is JointKind.FIXED else ()


def _merged(skeleton: Skeleton, world: World, groups: Sequence[tuple[int, ...]], freed: int | None = None) -> Stacks:
    """The skeleton with a joint in place of each group of its joints.

    ``world``: at rest; ``groups``: rows of joints, each hanging on the one before; ``freed``: the base that is free
    here.
    """
    begins = {group[0]: group for group in groups}
    within = {joint for group in groups for joint in group}
    members = tuple(begins.get(j, (j,)) for j in range(len(skeleton)) if j in begins or j not in within)
    last = [each[-1] for each in members]
    index = {joint: place for place, each in enumerate(members) for joint in each}
    turns, places = world.rotations[last], world.positions[last].copy()
    for place, each in enumerate(members):
        if _hinges(skeleton, each)[1:]:
            places[place] = _meeting(skeleton, world, _axes(skeleton, world), each)
    over = skeleton.parents[[each[0] for each in members]]
    parents = np.array([index.get(int(joint), -1) for joint in over], dtype=np.intp)
    above, is_root = np.maximum(parents, 0), (parents < 0)[:, None]
    offsets = np.where(is_root, places, rotate(conjugate(turns[above]), places - places[above]))
    rests = np.where(is_root, turns, multiply(conjugate(turns[above]), turns))
    carried = multiply(conjugate(world.rotations[np.maximum(over, 0)]), turns[above])
    mounts = np.where(is_root, IDENTITY, carried)
    single = np.array([len(each) == 1 for each in members])
    # Unchanged, because rounding would change joints that are in no group.
    same = single & (single[above] | (parents < 0))
    offsets[same], rests[same] = skeleton.offsets[last][same], skeleton.rest_rotations[last][same]
    mounts[same] = IDENTITY
    points = rotate(conjugate(turns), places - world.positions[last])
    hangs = np.array([index[int(joint)] for joint in skeleton.tip_parents], dtype=np.intp)
    order = np.argsort(hangs, kind="stable")
    hangs = hangs[order]
    joints, places_in = skeleton.tip_parents[order], skeleton.tip_offsets[order]
    tips = world.positions[joints] + rotate(world.rotations[joints], places_in)
    tip_offsets = np.where(single[hangs][:, None], places_in, rotate(conjugate(turns[hangs]), tips - places[hangs]))
    kinds, axes, limits = zip(*(_single(skeleton, each) for each in members), strict=True)
    made = Skeleton(
        name=skeleton.name,
        names=tuple(_name_of([skeleton.names[joint] for joint in each]) for each in members),
        parents=parents,
        offsets=offsets,
        rest_rotations=rests,
        kinds=kinds,
        axes=np.stack(axes),
        limits=limits,
        stiffness=skeleton.stiffness[last],
        tip_parents=hangs,
        tip_offsets=tip_offsets,
    )
    lengths, firsts = _lengths(made), [each[0] for each in members]
    levers = norm(cross(rotate(world.rotations[firsts], skeleton.axes[firsts, 0]), places - world.positions[firsts]))
    rows = _rows(skeleton, members, Size(lengths, levers))
    return Stacks(skeleton, made, members, frozen(points), frozen(mounts), rows, freed)


def _rows(skeleton: Skeleton, members: Sequence[tuple[int, ...]], sizes: Size) -> tuple[Hinges, ...]:
    """The stacks among rows of joints with sizes (J,), those of as many hinges together."""
    found = []
    for count in range(2, _MOST + 1):
        joints = [joint for joint, each in enumerate(members) if len(_hinges(skeleton, each)) == count]
        if joints:
            hinges, axes, turns = zip(*(_row(skeleton, members[joint]) for joint in joints), strict=True)
            ranges = ranges_of(skeleton, [hinge for row in hinges for hinge in row])
            by_row = Ranges(*(each.reshape(-1, count) for each in ranges))
            size = Size(*(each[joints] for each in sizes))
            found.append(Hinges(joints, np.array(hinges), np.array(axes), np.array(turns), by_row, size))
    return tuple(found)


def _lengths(skeleton: Skeleton) -> Floats:
    """(J,) metres from each joint along what hangs on it to the farthest joint or end site."""
    lengths = np.zeros(len(skeleton))
    np.maximum.at(lengths, skeleton.tip_parents, norm(skeleton.tip_offsets))
    for joint in range(len(skeleton) - 1, -1, -1):
        if (above := int(skeleton.parents[joint])) >= 0:
            lengths[above] = max(lengths[above], lengths[joint] + float(norm(skeleton.offsets[joint])))
    return lengths


def _name_of(names: Sequence[str]) -> str:
    """The name of a joint that stands for several: of the last one that is the same part of the body as the first.

    The roll of an ankle is an axis of it, and no twist bone, as which its name would be taken.

    An elbow with the first hinge of a wrist is an elbow. Hinges that begin as a shoulder or a hip are a shoulder or a
    hip, even if the last one is named otherwise: the upper arms of robots turn about themselves near the elbow.
    """
    parts = [body_part(name).part for name in names]
    known = [part for part in parts if part]
    if not known:
        return names[-1]
    same = [name for name, part in zip(names, parts, strict=True) if part == known[0]]
    found = ([name for name in same if not body_part(name).helper] or same)[-1]
    begins = any(word in names[0].casefold() for word in ("shoulder", "hip"))
    return names[0] if begins and known[0] not in ("upper arm", "upper leg") else found


def _single(skeleton: Skeleton, members: tuple[int, ...]) -> tuple[JointKind, Floats, JointLimits | None]:
    """Kind, axes (2, 3) and limits of the joint that stands for a row of joints."""
    first = members[0]
    if len(members) == 1:
        return skeleton.kinds[first], skeleton.axes[first], skeleton.limits[first]
    hinges, axes, turn = _row(skeleton, members)
    if not hinges:
        return JointKind.FREE, np.zeros((2, 3)), None
    if len(hinges) > 2 or abs(float(axes[0] @ axes[1])) > _SQUARE:
        return JointKind.BALL, np.zeros((2, 3)), None
    of = [skeleton.limits[joint] for joint in hinges]
    if of[0] is of[1] is None:
        return JointKind.UNIVERSAL, rotate(conjugate(turn), axes), None
    pairs = [UNLIMITED if each is None else (float(each.lower[0]), float(each.upper[0])) for each in of]
    return JointKind.UNIVERSAL, rotate(conjugate(turn), axes), JointLimits.coordinates(*pairs)


def _row(skeleton: Skeleton, members: Sequence[int]) -> tuple[list[int], Floats, Floats]:
    """The hinges among joints, their axes (K, 3) at rest, and how the last joint stands (4,), in the first's parent."""
    turn, hinges, axes = IDENTITY, [], []
    for joint in members:
        turn = multiply(turn, skeleton.rest_rotations[joint])
        if skeleton.kinds[joint] is JointKind.HINGE:
            hinges.append(joint)
            axes.append(rotate(turn, skeleton.axes[joint, 0]))
    return hinges, np.array(axes), turn


def _moving(skeleton: Skeleton) -> list[bool]:
    """Whether each joint, or one below it, moves."""
    moves, parents = [kind is not JointKind.FIXED for kind in skeleton.kinds], skeleton.parents.tolist()
    for joint in range(len(skeleton) - 1, 0, -1):
        if (parent := parents[joint]) >= 0:
            moves[parent] |= moves[joint]
    return moves


def _runs(skeleton: Skeleton) -> list[list[int]]:
    """Rows of several hinges, and fixed joints among them, each of which is all that moves with the one before."""
    parents, kinds = skeleton.parents.tolist(), skeleton.kinds
    hung = (kind for above, kind in zip(parents, kinds, strict=True) if above >= 0 and kinds[above] is JointKind.HINGE)
    if not any(kind in (JointKind.HINGE, JointKind.FIXED) for kind in hung):
        return []  # as of most figures: none of their hinges carries another
    moves = _moving(skeleton)
    children: list[list[int]] = [[] for _ in parents]
    for joint, parent in enumerate(parents):
        if parent >= 0:
            children[parent].append(joint)
    # Of several links that hang on one, some may be frames of sensors, which turn with it.
    moving = [[child for child in some if moves[child]] or some for some in children]
    busy = {skeleton.index(name) for one in skeleton.mimics for name in (one.joint, one.leader)}
    free = [kind is JointKind.HINGE and joint not in busy for joint, kind in enumerate(kinds)]
    tips = set(skeleton.tip_parents.tolist())
    runs: list[list[int]] = []
    of: dict[int, list[int]] = {}
    for joint, parent in enumerate(parents):
        run = of.get(parent) if parent >= 0 and moving[parent] == [joint] and parent not in tips else None
        if not free[joint] and (run is None or kinds[joint] is not JointKind.FIXED):
            continue
        if run is None:
            run = []
            runs.append(run)
        run.append(joint)
        of[joint] = run
    return [run for run in runs if len(_hinges(skeleton, run)) > 1]


def _hinges(skeleton: Skeleton, joints: Sequence[int]) -> list[int]:
    return [joint for joint in joints if skeleton.kinds[joint] is JointKind.HINGE]


def _axes(skeleton: Skeleton, world: World) -> Floats:
    """(J, 3) axes of the hinges at rest, world frame."""
    return rotate(world.rotations, skeleton.axes[:, 0])


def _grouped(skeleton: Skeleton, world: World, axes: Floats, run: list[int], size: float) -> list[tuple[int, ...]]:
    """The stacks of a run: as few joints as possible, of these the most with three hinges, and those that meet best."""
    own = axes[_hinges(skeleton, run)]
    if np.abs(dot(own[:-1], own[1:])).min() > _SLANT:
        return []
    moves = _moving(skeleton)

    @cache
    def best(begin: int) -> tuple[int, float, tuple[tuple[int, ...], ...]]:
        if begin == len(run):
            return 0, 0.0, ()
        options = []
        for end in range(begin + 1, len(run) + 1):
            group = tuple(run[begin:end])
            hinges = len(_hinges(skeleton, group))
            if hinges > _MOST:
                break
            if hinges > 1 and end < len(run) and skeleton.kinds[run[end]] is JointKind.FIXED and moves[run[end]]:
                continue  # a link that is fixed to the last one and carries others is the one that they turn
            apart = 0.0 if end - begin == 1 else _misses(skeleton, world, axes, group, size)
            if not np.isfinite(apart):
                continue
            score, nearness, rest = best(end)
            options.append((score + hinges * hinges, nearness - apart, (group, *rest)))
        return max(options, key=lambda option: option[:2])

    return [group for group in best(0)[2] if len(_hinges(skeleton, group)) > 1]


def _misses(skeleton: Skeleton, world: World, axes: Floats, group: tuple[int, ...], size: float) -> float:
    """How far the axes of a row of hinges miss each other; infinite where the row is no stack."""
    hinges = _hinges(skeleton, group)
    own = axes[hinges]
    if len(hinges) < 2 or np.abs(dot(own[:-1], own[1:])).max() > _SLANT:
        return np.inf
    point = _meeting(skeleton, world, axes, group)
    places = world.positions[hinges] - point
    apart = norm(places - dot(places, own)[:, None] * own)
    three = len(hinges) == _MOST
    near = group[: group.index(hinges[-1])] if three else group
    far = norm(world.positions[list(near)] - point).max() > _AWAY * size
    first = float(apart[0]) if three else 0.0
    if far or first > _CARRIED * size or apart[-2:].max() > _APART * size:
        return np.inf
    return float(apart.max())


def _meeting(skeleton: Skeleton, world: World, axes: Floats, group: tuple[int, ...]) -> Floats:
    """The point (3,) that is nearest, at rest, to the axes of the last two hinges of a row, which carry its last link.

    A third carries that point itself.
    """
    hinges = _hinges(skeleton, group)[-2:]
    across = np.eye(3) - axes[hinges, :, None] * axes[hinges, None, :]
    places = world.positions[hinges]
    return np.asarray(np.linalg.solve(across.sum(axis=0), (across @ places[:, :, None]).sum(axis=0)[:, 0]))
