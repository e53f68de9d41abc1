"""Joints of robots that are made of hinges: a hip of three whose axes meet turns as one ball.

Retargeting gives a joint the turn of its partner, which a single hinge of a hip cannot take. So hinges in a row whose
axes nearly meet in a point are one ball there while a motion is put on the robot (`without_stacks`); then the hinges
get the angles that turn their last link as the ball was turned (`Stacks.spread`). Where axes miss each other by a few
centimetres ends are off by as much: the solver brings hands and feet to where they were.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from viewer.skeleton import Clip, JointKind, Limb, Skeleton, World, fk, fk_clip
from viewer.spatial.checks import Floats
from viewer.spatial.quaternion import conjugate, from_axis_angle, log, multiply, rotate
from viewer.spatial.vectors import dot, norm

_MOST = 3
"""Hinges of one joint."""
_APART, _AWAY = 0.04, 0.15
"""Parts of the figure's size: how far axes pass the point where they meet, and how far joints are from it."""
_SLANT = 0.3
"""Least eigenvalue of the sum of 1 - a a^T over the axes a: two of them at 45 degrees."""
_STEPS, _DAMPING, _LONGEST = 20, 1e-6, 1.0
"""Of Newton's method for the angles: how often, by what part, and radians of the longest step."""
_LEAP = 1.0
"""Radians from frame to frame above which the angles of the frame before are tried, too."""


@dataclass(frozen=True, slots=True)
class Stacks:
    """A skeleton with balls in place of its stacks of hinges.

    Attributes:
        whole: the skeleton as it is.
        skeleton: with the balls; a ball has the name and, at rest, the axes of the last link of its stack.
        members: by joint of ``skeleton``: the joints of the whole one that it stands for, from the body outwards.
        points: (J, 3) where each is, in the frame of the last of them.
    """

    whole: Skeleton
    skeleton: Skeleton
    members: tuple[tuple[int, ...], ...]
    points: Floats

    def name_of(self, name: str) -> str:
        """The joint with the balls that stands for one of the whole skeleton; other names as they are."""
        for own, members in zip(self.skeleton.names, self.members, strict=True):
            if any(self.whole.names[joint] == name for joint in members):
                return own
        return name

    def gather(self, clip: Clip) -> Clip:
        """A motion of the whole skeleton on the one with balls."""
        last = [members[-1] for members in self.members]
        world = fk_clip(self.whole, clip).rotations[:, last]
        parents = self.skeleton.parents
        rotations = np.where(
            (parents >= 0)[:, None], multiply(conjugate(world[:, np.maximum(parents, 0)]), world), world
        )
        translations = np.tile(self.skeleton.offsets, (len(clip), 1, 1))
        for joint, members in enumerate(self.members):
            if len(members) == 1:
                moved = clip.local_translations()[:, members[0]] - self.whole.offsets[members[0]]
                translations[:, joint] += moved
        return Clip.from_arrays(self.skeleton, rotations, translations, fps=clip.fps, name=clip.name)

    def spread(self, clip: Clip) -> tuple[Floats, Floats]:
        """A motion of the balls as rotations (F, J, 4) and translations (F, J, 3) of the whole skeleton."""
        whole, count = self.whole, len(clip)
        rotations = np.tile(whole.rest_rotations, (count, 1, 1))
        translations = np.tile(whole.offsets, (count, 1, 1))
        own = clip.local_translations()
        for joint, members in enumerate(self.members):
            first = members[0]
            if len(members) == 1:
                rotations[:, first] = clip.rotations[:, joint]
                translations[:, first] += own[:, joint] - self.skeleton.offsets[joint]
                continue
            turned = _angles(whole, members, clip.rotations[:, joint])
            for place, member in enumerate(_hinges(whole, members)):
                turn = from_axis_angle(whole.axes[member, 0], turned[:, place])
                rotations[:, member] = multiply(whole.rest_rotations[member], turn)
        return rotations, translations

    def tip_of(self, limb: Limb) -> tuple[int, Floats]:
        """Where a limb of ``skeleton`` ends, as a joint of the whole one and a place (3,) in its frame."""
        joint, place = limb.tip
        return self.members[joint][-1], np.asarray(place) + self.points[joint]


def without_stacks(skeleton: Skeleton) -> Stacks | None:
    """The skeleton with balls in place of its stacks of hinges; None if it has none."""
    runs = [run for run in _runs(skeleton) if len(_hinges(skeleton, run)) > 1]
    if not runs:
        return None
    world = fk(skeleton, skeleton.rest_pose())
    size = float(np.ptp(world.positions, axis=0).max())
    groups = [group for run in runs for group in _grouped(skeleton, world, run, size)]
    if not groups:
        return None
    begins = {group[0]: group for group in groups}
    within = {joint for group in groups for joint in group}
    members = tuple(begins.get(j, (j,)) for j in range(len(skeleton)) if j in begins or j not in within)
    last = [each[-1] for each in members]
    index = {joint: place for place, joint in enumerate(last)}
    turns, places = world.rotations[last], world.positions[last].copy()
    for place, each in enumerate(members):
        if len(each) > 1:
            places[place] = _meeting(skeleton, world, each)[0]
    parents = np.array([index.get(int(skeleton.parents[each[0]]), -1) for each in members], dtype=np.intp)
    above = np.maximum(parents, 0)
    is_root = (parents < 0)[:, None]
    offsets = np.where(is_root, places, rotate(conjugate(turns[above]), places - places[above]))
    rests = np.where(is_root, turns, multiply(conjugate(turns[above]), turns))
    single = np.array([len(each) == 1 for each in members])
    # As they are: rounding would make other skeletons of the joints that no ball is near.
    same = single & (single[above] | (parents < 0))
    offsets[same], rests[same] = skeleton.offsets[last][same], skeleton.rest_rotations[last][same]
    points = rotate(conjugate(turns), places - world.positions[last])
    kept = [place for place, joint in enumerate(skeleton.tip_parents.tolist()) if joint in index]
    hangs = np.array([index[int(skeleton.tip_parents[place])] for place in kept], dtype=np.intp)
    made = Skeleton(
        name=skeleton.name,
        names=tuple(skeleton.names[joint] for joint in last),
        parents=parents,
        offsets=offsets,
        rest_rotations=rests,
        kinds=tuple(
            skeleton.kinds[j] if alone else JointKind.BALL for j, alone in zip(last, single.tolist(), strict=True)
        ),
        axes=np.where(single[:, None, None], skeleton.axes[last], 0.0),
        limits=tuple(skeleton.limits[j] if alone else None for j, alone in zip(last, single.tolist(), strict=True)),
        stiffness=skeleton.stiffness[last],
        tip_parents=hangs,
        tip_offsets=skeleton.tip_offsets[kept] - points[hangs],
    )
    return Stacks(skeleton, made, members, points)


def _runs(skeleton: Skeleton) -> list[list[int]]:
    """Hinges, and fixed joints after them, each of which is all that hangs on the one before."""
    children = np.bincount(skeleton.parents[skeleton.parents >= 0], minlength=len(skeleton))
    busy = {skeleton.index(name) for one in skeleton.mimics for name in (one.joint, one.leader)}
    free = [kind is JointKind.HINGE and joint not in busy for joint, kind in enumerate(skeleton.kinds)]
    tips = set(skeleton.tip_parents.tolist())
    runs: list[list[int]] = []
    of: dict[int, list[int]] = {}
    for joint, parent in enumerate(skeleton.parents.tolist()):
        run = of.get(parent) if parent >= 0 and children[parent] == 1 and parent not in tips else None
        if not free[joint] and (run is None or skeleton.kinds[joint] is not JointKind.FIXED):
            continue
        if run is None:
            run = []
            runs.append(run)
        run.append(joint)
        of[joint] = run
    return runs


def _hinges(skeleton: Skeleton, joints: Sequence[int]) -> list[int]:
    return [joint for joint in joints if skeleton.kinds[joint] is JointKind.HINGE]


def _grouped(skeleton: Skeleton, world: World, run: list[int], size: float) -> list[tuple[int, ...]]:
    """The stacks of a run: as few joints as possible, and of these the most with three hinges."""

    @cache
    def best(begin: int) -> tuple[int, tuple[tuple[int, ...], ...]]:
        if begin == len(run):
            return 0, ()
        options = []
        for end in range(begin + 1, len(run) + 1):
            group = tuple(run[begin:end])
            hinges = len(_hinges(skeleton, group))
            if hinges > _MOST:
                break
            if end - begin > 1 and (hinges < 2 or not _is_stack(skeleton, world, group, size)):
                if hinges > 1:
                    break
                continue
            score, rest = best(end)
            options.append((score + hinges * hinges, (group, *rest)))
        return max(options, key=lambda option: option[0])

    return [group for group in best(0)[1] if len(_hinges(skeleton, group)) > 1]


def _is_stack(skeleton: Skeleton, world: World, group: tuple[int, ...], size: float) -> bool:
    point, apart = _meeting(skeleton, world, group)
    if not apart <= _APART * size:
        return False
    return bool(norm(world.positions[list(group)] - point).max() <= _AWAY * size)


def _meeting(skeleton: Skeleton, world: World, group: tuple[int, ...]) -> tuple[Floats, float]:
    """The point (3,) nearest to the axes of hinges in a world at rest, and how far the farthest axis passes it."""
    hinges = _hinges(skeleton, group)
    axes = rotate(world.rotations[hinges], skeleton.axes[hinges, 0])
    across = np.eye(3) - axes[:, :, None] * axes[:, None, :]
    total = across.sum(axis=0)
    if np.linalg.eigvalsh(total)[0] < _SLANT:
        return world.positions[hinges[0]], np.inf
    places = world.positions[hinges]
    point = np.linalg.solve(total, (across @ places[:, :, None]).sum(axis=0)[:, 0])
    away = places - point
    return point, float(norm(away - dot(away, axes)[:, None] * axes).max())


def _angles(skeleton: Skeleton, members: tuple[int, ...], wanted: Floats) -> Floats:
    """Angles (F, K) of the hinges that turn the last link, in the frame of the first one's parent, as (F, 4) says."""
    found = _solved(skeleton, members, wanted, np.zeros((len(wanted), len(_hinges(skeleton, members)))))
    for frame in np.flatnonzero(np.abs(np.diff(found, axis=0)).max(axis=1, initial=0.0) > _LEAP) + 1:
        # Two sets of angles give the same turn: the one of the frame before goes on.
        again = _solved(skeleton, members, wanted[frame : frame + 1], found[frame - 1 : frame])
        if _missed(skeleton, members, wanted[frame : frame + 1], again) <= _LEAP * 1e-2:
            found[frame] = again[0]
    return np.asarray(np.unwrap(found, axis=0))


def _turned(skeleton: Skeleton, members: tuple[int, ...], angles: Floats) -> tuple[Floats, Floats]:
    """The turn (F, 4) of the last link, and the axes (F, K, 3) that the hinges turn it about."""
    turn = np.tile((0.0, 0.0, 0.0, 1.0), (len(angles), 1))
    axes, place = [], 0
    for joint in members:
        turn = multiply(turn, skeleton.rest_rotations[joint])
        if skeleton.kinds[joint] is JointKind.HINGE:
            axis = skeleton.axes[joint, 0]
            axes.append(rotate(turn, axis))
            turn = multiply(turn, from_axis_angle(axis, angles[:, place]))
            place += 1
    return turn, np.stack(axes, axis=1)


def _missed(skeleton: Skeleton, members: tuple[int, ...], wanted: Floats, angles: Floats) -> float:
    turn, _ = _turned(skeleton, members, angles)
    return float(norm(log(multiply(wanted, conjugate(turn)))).max())


def _solved(skeleton: Skeleton, members: tuple[int, ...], wanted: Floats, start: Floats) -> Floats:
    """Newton's method, damped, from angles to start at; where turns cannot be met, the nearest."""
    angles = start.copy()
    for _ in range(_STEPS):
        turn, axes = _turned(skeleton, members, angles)
        missing = log(multiply(wanted, conjugate(turn)))
        normal = axes @ axes.transpose(0, 2, 1) + _DAMPING * np.eye(axes.shape[1])
        step = np.linalg.solve(normal, axes @ missing[:, :, None])[:, :, 0]
        longest = np.abs(step).max(axis=1, keepdims=True)
        angles += step * np.minimum(1.0, _LONGEST / np.maximum(longest, _LONGEST))
        if longest.max(initial=0.0) < 1e-9:
            break
    return angles
