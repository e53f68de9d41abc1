"""Hands and feet brought to their places on joints that turn only about their own axes, in all frames at once.

A robot's hip is three hinges whose axes nearly meet. With the angles that turn the thigh as a ball would, the foot is
off by as much as they miss each other. From there Newton's method needs two or three steps: the place of a limb's end
comes first, and the rotation of its hand or foot uses the freedom that remains (Nakamura, Hanafusa and Yoshikawa,
"Task-priority based redundancy control of robot manipulators", 1987). Steps are damped by what is missed, so that an
end out of reach is approached without swinging. Frames start from a smooth motion and change by little, so that each is
solved by itself.

Where a limb is too short, the joints between it and the trunk turn, too, and where that is not enough the body moves.
Each of these stages starts from the result of the one before, so that nothing jumps where a stage is no longer enough.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from viewer.skeleton import JointKind, Limb, Skeleton, World, fk_arrays
from viewer.skeleton.limbs import LEG
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, exp, log, multiply, normalized, rotate
from viewer.spatial.vectors import cross, norm

_ROUNDS, _MORE = 6, 12
"""The most steps of a frame, before and after the body moves. A leg that is nearly straight gets straighter by less in
each step, and its knee turns faster over time; the body makes up for the millimetres that are left.
"""
_SETTLED = 1e-4
"""Radians and metres: after a step smaller than this the error is about the step's square."""
_LARGEST = 0.3
"""Radians and metres of a step at most."""
_DAMPING, _LEAST_DAMPING = 0.3, 1e-10
"""Metres by which the miss is multiplied: how far an end curves off the line of its step per radian."""
_SHORT = 1e-5
"""Metres by which an end has to miss its place before the joints above its limb turn, or the body moves."""
_LEVER = 0.5
"""Metres by which a turn of the body is multiplied to count as a translation."""
_BODY = 6
"""Columns of the body: its translation, and its rotation."""


class HeldEnd(NamedTuple):
    """The end of a limb, and where it is to be.

    Attributes:
        tip: where the limb ends: a joint, and a place (3,) in its frame.
        points: (F, 3) where that is to be, metres.
        end: its hand or foot; None: it has none.
        turns: (F, 4) world rotations that this is to have.
        rank: 0 and up; where not all ends can be in their places, those of low rank come first.
    """

    tip: tuple[int, Floats]
    points: Floats
    end: int | None
    turns: Floats
    rank: int


def held_end(limb: Limb, world: World, own: Limb | None = None) -> HeldEnd:
    """The end of a limb, to be held where it is in a world; feet come first.

    Args:
        limb: as the world has it.
        world: of all frames.
        own: the limb as the skeleton has it that is solved; None: the same.
    """
    tip, end = (limb.tip, limb.end) if own is None else (own.tip, own.end)
    turns = world.rotations[:, limb.lower if limb.end is None else limb.end]
    return HeldEnd((tip[0], np.asarray(tip[1])), world.point(*limb.tip), end, turns, int(limb.kind != LEG))


def with_ends_held(
    skeleton: Skeleton, motion: tuple[Floats, Floats], ends: Sequence[HeldEnd], trunk: int
) -> tuple[Floats, Floats]:
    """A motion changed so that the ends of limbs are in their places.

    Args:
        skeleton: of it.
        motion: local rotations (F, J, 4), as the joints can turn, and translations (F, J, 3).
        ends: of limbs, none of which hangs on another.
        trunk: the joint of the body, which stays where it is as long as the limbs are long enough.
    """
    if not ends:
        return motion
    rotations, translations = (each.copy() for each in motion)
    world, tree, root = fk_arrays(skeleton.parents, *motion), _tree(skeleton, ends, trunk), _root_of(skeleton, trunk)
    count, before = len(tree.carriers), world.positions[:, trunk]
    state = _State(
        np.concatenate([world.rotations[:, tree.carriers], rotations[:, tree.joints]], axis=1),
        np.concatenate([world.positions[:, tree.carriers], translations[:, tree.joints]], axis=1),
        before.copy(), np.tile(IDENTITY, (len(rotations), 1)),
    )  # fmt: skip
    missed = _solve(tree, state, ends, np.arange(len(rotations)), gives_way=False)
    frames = np.flatnonzero(missed > _SHORT)
    if len(frames) and skeleton.kinds[root] is JointKind.FREE:
        _solve(tree, state, ends, frames, gives_way=True)
        turn, middle = state.turn[frames], state.middle[frames]
        rotations[frames, root] = normalized(multiply(turn, rotations[frames, root]))
        translations[frames, root] = middle + rotate(turn, translations[frames, root] - before[frames])
    rotations[:, tree.joints] = normalized(state.turns[:, count:])
    return rotations, translations


def _root_of(skeleton: Skeleton, joint: int) -> int:
    while (parent := int(skeleton.parents[joint])) >= 0:
        joint = parent
    return joint


class _Tree(NamedTuple):
    """L limbs as a tree of N nodes with C dofs: first the joints that carry them, then their own K joints.

    Attributes:
        carriers: the joints that carry them.
        joints: those of the limbs.
        parents: (N,) of nodes; -1 of what carries them.
        rests: (K, 4) rest rotations of the joints.
        at: (C,) which of the joints turns.
        axes: (C, 3) about what, in its frame.
        firsts: (C,) whether that is the first axis of a universal, which stays as it is at rest.
        tips: node of each limb's tip, and place (3,) in its frame.
        moved: (L, C) whether a way moves the tip.
        ends: nodes of the limbs' hands and feet; -1: none.
        turned: (L, C) whether a way turns these.
        ranks: (L,) of the limbs.
    """

    carriers: list[int]
    joints: list[int]
    parents: Ints
    rests: Floats
    at: Ints
    axes: Floats
    firsts: Bools
    tips: list[tuple[int, Floats]]
    moved: Bools
    ends: list[int]
    turned: Bools
    ranks: Ints


def _tree(skeleton: Skeleton, ends: Sequence[HeldEnd], trunk: int) -> _Tree:
    """The tree of limbs with these ends, from the trunk outwards."""
    chains = []
    for end in ends:
        chain = [end.tip[0] if end.end is None else end.end]
        while (above := int(skeleton.parents[chain[0]])) != trunk and skeleton.parents[above] >= 0:
            chain.insert(0, above)
        chains.append(chain)
    joints = sorted(set().union(*chains))
    carriers = sorted({int(skeleton.parents[chain[0]]) for chain in chains})
    node = {joint: place for place, joint in enumerate([*carriers, *joints])}
    # Joints that follow others, and their leaders, stay.
    coupled = {skeleton.index(name) for one in skeleton.mimics for name in (one.joint, one.leader)}
    ways: list[tuple[int, Floats, bool]] = []
    for joint in joints:
        kind, axes = skeleton.kinds[joint], skeleton.axes[joint]
        known = {JointKind.HINGE: axes[:1], JointKind.UNIVERSAL: axes, JointKind.BALL: np.eye(3)}
        some = () if joint in coupled else known.get(kind, ())
        ways += [(joint, axis, kind is JointKind.UNIVERSAL and not number) for number, axis in enumerate(some)]
    tips = [chain[: chain.index(end.tip[0]) + 1] for chain, end in zip(chains, ends, strict=True)]
    return _Tree(
        carriers=carriers,
        joints=joints,
        parents=np.array([-1] * len(carriers) + [node[int(skeleton.parents[joint])] for joint in joints]),
        rests=skeleton.rest_rotations[joints],
        at=np.array([joints.index(joint) for joint, *_ in ways], dtype=np.intp),
        axes=np.array([axis for _, axis, _ in ways]).reshape(-1, 3),
        firsts=np.array([first for *_, first in ways], dtype=np.bool_),
        tips=[(node[end.tip[0]], end.tip[1]) for end in ends],
        moved=np.array([[joint in chain for joint, *_ in ways] for chain in tips]),
        ends=[-1 if end.end is None else node[end.end] for end in ends],
        turned=np.array([[joint in chain for joint, *_ in ways] for chain in chains]),
        ranks=np.array([end.rank for end in ends]),
    )


class _State(NamedTuple):
    """The nodes and the body in all frames, which are changed in place.

    Attributes:
        turns, places: (F, N, 4), (F, N, 3) local ones of joints, and world ones of what carries them.
        middle: (F, 3) where the trunk is.
        turn: (F, 4) how the body was turned about it.
    """

    turns: Floats
    places: Floats
    middle: Floats
    turn: Floats


def _solve(tree: _Tree, state: _State, ends: Sequence[HeldEnd], frames: Ints, *, gives_way: bool) -> Floats:
    """Bring ends to their places in N frames; metres (N,) that the farthest one is off then, infinite if unsettled.

    Args:
        tree: of the limbs.
        state: changed in place.
        ends: of the limbs.
        frames: (N,) numbers.
        gives_way: whether the body may move.
    """
    count, missed, rows = len(tree.carriers), np.zeros(len(frames)), np.arange(len(frames))
    for _ in range(_MORE if gives_way else _ROUNDS):
        here = frames[rows]
        turns, places, middle, turned = (each[here] for each in state)
        seen = fk_arrays(tree.parents, turns, places)
        levels = _levels(tree, seen, turns[:, count:], [(end.points[here], end.turns[here]) for end in ends], middle)
        if not gives_way:
            levels = [(jacobian[..., _BODY:], off) for jacobian, off in levels]
        step = _prioritised(levels)
        size = norm(step)
        step *= np.minimum(1.0, _LARGEST / np.maximum(size, _LARGEST))[:, None]
        off = np.concatenate([_left(level, step) for level in levels[: len(set(tree.ranks.tolist()))]], axis=1)
        missed[rows] = norm(off.reshape(len(rows), -1, 3)).max(axis=1)
        if gives_way:
            way, turn, step = step[:, :3], exp(step[:, 3:_BODY] / _LEVER), step[:, _BODY:]
            around = rotate(turn[:, None], places[:, :count] - middle[:, None])
            state.middle[here], state.turn[here] = middle + way, multiply(turn, turned)
            state.places[here, :count] = (middle + way)[:, None] + around
            state.turns[here, :count] = multiply(turn[:, None], turns[:, :count])
        state.turns[here, count:] = _turned(tree, turns[:, count:], step)
        rows = rows[size > _SETTLED]
        if not len(rows):
            break
    missed[rows] = np.inf
    return missed


_Level = tuple[Floats, Floats]
"""A Jacobian (F, R, C), and what is missed (F, R)."""


def _ways(tree: _Tree, local: Floats) -> Floats:
    """(F, C, 3) axes of ways in the frames of their joints, whose local rotations are (F, K, 4)."""
    axes = np.broadcast_to(tree.axes, (len(local), *tree.axes.shape))
    if not tree.firsts.any():
        return axes
    turned = rotate(conjugate(multiply(conjugate(tree.rests), local))[:, tree.at], tree.axes)
    return np.where(tree.firsts[:, None], turned, axes)


def _turned(tree: _Tree, local: Floats, step: Floats) -> Floats:
    """Local rotations (F, K, 4) turned by angles (F, C) of the ways."""
    axes = _ways(tree, local) * step[..., None]
    joints = np.arange(local.shape[1])[:, None] == tree.at
    for some in (tree.firsts, ~tree.firsts) if tree.firsts.any() else (~tree.firsts,):
        local = multiply(local, exp((joints & some).astype(np.float64) @ axes))
    return local


def _levels(
    tree: _Tree, seen: World, local: Floats, wanted: Sequence[tuple[Floats, Floats]], middle: Floats
) -> list[_Level]:
    """Places of tips by rank, then rotations of hands and feet; columns are those of the body, then the ways.

    Args:
        tree: of the limbs.
        seen: its nodes in the world.
        local: (F, K, 4) local rotations of its joints.
        wanted: places (F, 3) of the tips and rotations (F, 4) of the ends.
        middle: (F, 3) what the body turns about.
    """
    count, nodes = len(local), tree.at + len(tree.carriers)
    axes = rotate(seen.rotations[:, nodes], _ways(tree, local))
    tips = np.stack([seen.point(*tip) for tip in tree.tips], axis=1)
    off = np.stack([points for points, _ in wanted], axis=1) - tips
    tip_moves, end_turns = (np.zeros((count, len(tree.tips), _BODY + len(nodes), 3)) for _ in range(2))
    tip_moves[:, :, :3] = np.eye(3)
    tip_moves[:, :, 3:_BODY] = cross(np.eye(3) / _LEVER, (tips - middle[:, None])[:, :, None])
    arms = tips[:, :, None] - seen.positions[:, None, nodes]
    tip_moves[:, :, _BODY:] = cross(axes[:, None], arms) * tree.moved[..., None]
    end_turns[:, :, 3:_BODY] = np.eye(3) / _LEVER
    end_turns[:, :, _BODY:] = axes[:, None] * tree.turned[..., None]
    levels = [
        (_rows(tip_moves[:, here]), off[:, here].reshape(count, -1))
        for here in (tree.ranks == rank for rank in sorted(set(tree.ranks.tolist())))
    ]
    some = [number for number, end in enumerate(tree.ends) if end >= 0]
    if some:
        now = seen.rotations[:, [tree.ends[number] for number in some]]
        twisted = log(multiply(np.stack([wanted[number][1] for number in some], axis=1), conjugate(now)))
        levels.append((_rows(end_turns[:, some]), twisted.reshape(count, -1)))
    return levels


def _rows(ways: Floats) -> Floats:
    """A Jacobian (F, 3 L, C) from what ways do to L ends (F, L, C, 3)."""
    return ways.swapaxes(2, 3).reshape(len(ways), -1, ways.shape[2])


def _left(level: _Level, step: Floats) -> Floats:
    """(F, R) what a step (F, C) leaves of the miss."""
    return level[1] - (level[0] @ step[..., None])[..., 0]


def _prioritised(levels: Sequence[_Level]) -> Floats:
    """The step (F, C) that meets each level as far as the levels before it allow."""
    count, _, width = levels[0][0].shape
    step, free = np.zeros((count, width)), np.eye(width)
    for number, (jacobian, missed) in enumerate(levels):
        left, seen = _left((jacobian, missed), step), jacobian @ free if number else jacobian
        square = seen @ seen.swapaxes(1, 2)
        square += (_LEAST_DAMPING + _DAMPING * norm(left))[:, None, None] * np.eye(square.shape[1])
        last = number == len(levels) - 1
        pulled = np.linalg.solve(square, left[..., None] if last else np.concatenate([left[..., None], seen], axis=2))
        step = step + (seen.swapaxes(1, 2) @ pulled[..., :1])[..., 0]
        if not last:
            free = free - seen.swapaxes(1, 2) @ pulled[..., 1:]
    return step
