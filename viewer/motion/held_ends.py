"""Hands and feet brought to their places on joints that turn only about their own axes, in all frames at once.

A robot's hip is three hinges whose axes nearly meet. With the angles that turn the thigh as a ball would, the foot is
off by as much as they miss each other. From there Newton's method needs two or three steps: the place of a limb's end
comes first, and the rotation of its hand or foot uses the freedom that remains (Nakamura, Hanafusa and Yoshikawa,
"Task-priority based redundancy control of robot manipulators", 1987). Steps are damped by what is missed, so that an
end out of reach is approached without swinging. Frames start from a smooth motion and change by little, so that each is
solved by itself.

Where a limb is too short, the joints between it and the trunk turn, too, and where that is not enough the body moves.
Each of these stages starts from the result of the one before, so that nothing jumps where a stage is no longer enough.

Hands are only near their places (`with_ends_near`): the body does not move, and no joint spins, as it would where an
arm passes the first axis of its shoulder. What they are off and the joints' speeds have the least sum over the whole
motion. A hand that is far off pulls no harder than one that is near (Huber, "Robust estimation of a location
parameter", 1964): it would whip an arm that is too short.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from viewer.skeleton import JointKind, Limb, Skeleton, World, above, at_or_below
from viewer.skeleton.kinematics import fk_below
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import IDENTITY, conjugate, cross, dot, exp, log, multiply, norm, normalized, rotate
from viewer.spatial.smoothing import slow_path

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
_SLOW, _STAY, _TURN = 3e-3, 0.03, 0.05
"""Metres that a hand may be off: for each radian a second by which a joint is slower, for each radian by which it
leaves its motion less, and for each by which the hand's rotation is off less."""
_HARDEST = 0.02
"""Metres beyond which a hand that is farther off pulls no harder."""
_RIGHT = multiply(np.eye(4)[:, None], np.eye(4)).transpose(1, 2, 0).reshape(4, 16)
"""By this a quaternion becomes the rows of the matrix (4, 4) whose product with another is ``other * quaternion``."""


class Motion(NamedTuple):
    """All frames of a motion: local rotations (F, J, 4) and translations (F, J, 3), and where these bring joints."""

    rotations: Floats
    translations: Floats
    world: World


class HeldEnd(NamedTuple):
    """The end of a limb, and where it is to be.

    Attributes:
        tip: where the limb ends: a joint, and a place (3,) in its frame.
        points: (F, 3) where that is to be, metres.
        end: its hand or foot; None: it has none.
        turns: (F, 4) world rotations that this is to have.
    """

    tip: tuple[int, Floats]
    points: Floats
    end: int | None
    turns: Floats


def held_end(limb: Limb, world: World, own: Limb | None = None) -> HeldEnd:
    """The end of a limb, to be held where it is in a world.

    ``own``: the limb as the skeleton has it that is solved; None: the same.
    """
    tip, end = (limb.tip, limb.end) if own is None else (own.tip, own.end)
    turns = world.rotations[:, limb.last]
    return HeldEnd((tip[0], np.asarray(tip[1])), world.point(*limb.tip), end, turns)


def with_ends_held(skeleton: Skeleton, motion: Motion, ends: Sequence[HeldEnd], trunk: int) -> Motion:
    """A motion changed so that the ends of limbs are in their places.

    None of the ends hangs on another. ``trunk``: the joint of the body, which stays where it is as long as the limbs
    are long enough.
    """
    if not ends:
        return motion
    rotations, translations, world = motion.rotations.copy(), motion.translations, motion.world
    tree, root = _tree(skeleton, tuple(map(_where, ends)), trunk), above(skeleton, trunk)[-1]
    before, count = world.positions[:, trunk], len(tree.carriers)
    state = _State(*_nodes(tree, motion), before[None].copy(), np.tile(IDENTITY, (1, len(rotations), 1)))
    wanted = np.stack([end.points for end in ends]), np.stack([end.turns for end in ends])
    missed = _solve(tree, state, wanted, np.arange(len(rotations)), gives_way=False)
    frames = np.flatnonzero(missed > _SHORT)
    if len(frames) and skeleton.kinds[root] is JointKind.FREE:
        _solve(tree, state, wanted, frames, gives_way=True)
        translations = translations.copy()
        turn, middle = state.turn[0, frames], state.middle[0, frames]
        rotations[frames, root] = normalized(multiply(turn, rotations[frames, root]))
        translations[frames, root] = middle + rotate(turn, translations[frames, root] - before[frames])
    rotations[:, tree.joints] = normalized(state.turns[count:]).swapaxes(0, 1)
    changed = tree.tops if translations is motion.translations else (root,)
    return Motion(rotations, translations, fk_below(skeleton.parents, changed, world, rotations, translations))


def with_body_over(skeleton: Skeleton, motion: Motion, feet: Sequence[HeldEnd]) -> Motion:
    """A motion whose free root is shifted by what its feet are off in the mean.

    Legs that are nearly straight would have to bend fast to make up for that.
    """
    root = above(skeleton, feet[0].tip[0])[-1] if feet else -1
    if not feet or skeleton.kinds[root] is not JointKind.FREE:
        return motion
    rotations, translations, world = motion
    shift, translations = np.mean([end.points - world.point(*end.tip) for end in feet], axis=0), translations.copy()
    translations[:, root] += shift
    positions = world.positions + at_or_below(skeleton, root)[:, None] * shift[:, None]
    return Motion(rotations, translations, World(positions, world.rotations))


def with_ends_near(
    skeleton: Skeleton,
    motion: Motion,
    ends: Sequence[HeldEnd],
    trunk: int,
    rate: float,
    leaps: Ints,
) -> Motion:
    """A motion changed so that the ends of limbs are near their places, with joints as slow as that allows.

    None of the ends hangs on another; ``trunk``, the joint of the body, stays. ``rate``: frames per second; ``leaps``:
    frames to which the motion leaps from the one before, as after a calibration pose.
    """
    if not ends:
        return motion
    tree = _tree(skeleton, tuple(map(_where, ends)), trunk)
    turns, places = _nodes(tree, motion)
    carried, local = np.split(turns, [len(tree.carriers)])
    wanted, count = (np.stack([end.points for end in ends]), np.stack([end.turns for end in ends])), len(tree.nodes)
    moved, stiff = np.zeros((local.shape[1], count)), np.full((local.shape[1] - 1, 1), (_SLOW * rate) ** 2)
    stiff[leaps - 1] = 0.0
    for _ in range(_ROUNDS):
        axes = _axes(tree, local)
        pull, force = _STAY**2 * np.eye(count), -(_STAY**2) * moved
        levels = _levels(tree, np.concatenate([carried, local]), places, axes, wanted, None)
        hardest = _HARDEST / np.maximum(norm(levels[0][1].reshape(-1, len(ends), 3)), _HARDEST)
        weights: list[Floats | float] = [np.repeat(hardest, 3, axis=1)[:, None], _TURN**2]
        for (jacobian, off), weight in zip(levels, weights, strict=False):
            back = weight * jacobian.swapaxes(1, 2)
            pull, force = pull + back @ jacobian, force + (back @ off[..., None])[..., 0]
        steps = log(multiply(conjugate(local[:, :-1]), local[:, 1:]))[tree.turning.argmax(axis=0)]
        pace = stiff * dot(axes if axes.shape[1] == 1 else axes[:, 1:], steps).T
        force[:-1] += pace
        force[1:] -= pace
        step = np.clip(slow_path(pull, force, stiff[:, 0]), -_LARGEST, _LARGEST)
        moved, local = moved + step, _turned(tree, local, axes * step.T[..., None])
        if np.abs(step).max(initial=0.0) < _SETTLED:
            break
    rotations, translations, world = motion
    rotations = rotations.copy()
    rotations[:, tree.joints] = normalized(local).swapaxes(0, 1)
    return Motion(rotations, translations, fk_below(skeleton.parents, tree.tops, world, rotations, translations))


class _Tree(NamedTuple):
    """L limbs as a tree of N nodes with C dofs: first the joints that carry them, then their own K joints.

    Attributes:
        carriers: the joints that carry them.
        tops: the limbs' first joints.
        joints: those of the limbs, by depth.
        rounds: nodes of the joints of each depth, with the nodes above these.
        sums: (N, N) 1 where a node hangs on another, or is it; else 0.
        rests: (K, 4) rest rotations of the joints.
        nodes: (C,) which of them turns.
        axes: (C, 3) about what, in its frame.
        firsts: (C,) whether that is the first axis of a universal, which stays as it is at rest.
        turning: (K, C) whether a dof turns a joint.
        shares: (K, C) this in numbers, of the dofs that turn first, and of the others.
        turned_by: (K + C + L,) nodes in whose frames are the joints' places, the axes and the tips' offsets.
        tips: (L,) nodes of the limbs' tips.
        offsets: (L, 3) of the tips in their frames.
        moved: (L, C) whether a dof moves the tip.
        limbs: (E,) those that have hands or feet.
        ends: (E,) nodes of these.
        turned: (E, C) whether a dof turns these.
    """

    carriers: list[int]
    tops: tuple[int, ...]
    joints: list[int]
    rounds: list[tuple[slice, Ints]]
    sums: Floats
    rests: Floats
    nodes: Ints
    axes: Floats
    firsts: Bools
    turning: Bools
    shares: list[Floats]
    turned_by: Ints
    tips: list[int]
    offsets: Floats
    moved: Bools
    limbs: list[int]
    ends: list[int]
    turned: Bools


_Where = tuple[int, tuple[float, ...], int | None]
"""The joint of a limb's tip, the place of this in its frame, and the hand or foot."""


def _where(end: HeldEnd) -> _Where:
    joint, place = end.tip
    return joint, tuple(place.tolist()), end.end


@lru_cache(maxsize=16)
def _tree(skeleton: Skeleton, ends: tuple[_Where, ...], trunk: int) -> _Tree:
    chains = []
    for tip, _, end in ends:
        chain = [tip if end is None else end]
        while (parent := int(skeleton.parents[chain[0]])) != trunk and skeleton.parents[parent] >= 0:
            chain.insert(0, parent)
        chains.append(chain)
    depths = {joint: depth for chain in chains for depth, joint in enumerate(chain)}
    joints = sorted(depths, key=lambda joint: (depths[joint], joint))
    carriers = sorted({int(skeleton.parents[chain[0]]) for chain in chains})
    node = {joint: place for place, joint in enumerate([*carriers, *joints])}
    # Joints that follow others, and their leaders, stay.
    coupled = {skeleton.index(name) for one in skeleton.mimics for name in (one.joint, one.leader)}
    dofs: list[tuple[int, Floats, bool]] = []
    for joint in joints:
        kind, axes = skeleton.kinds[joint], skeleton.axes[joint]
        known = {JointKind.HINGE: axes[:1], JointKind.UNIVERSAL: axes, JointKind.BALL: np.eye(3)}
        some = () if joint in coupled else known.get(kind, ())
        dofs += [(joint, axis, kind is JointKind.UNIVERSAL and not number) for number, axis in enumerate(some)]
    tips = [chain[: chain.index(tip) + 1] for chain, (tip, *_) in zip(chains, ends, strict=True)]
    parents: Ints = np.array([-1] * len(carriers) + [node[int(skeleton.parents[joint])] for joint in joints])
    count, sums = len(carriers), np.eye(len(parents))
    for place in range(count, len(parents)):
        sums[place] += sums[parents[place]]
    edges = np.searchsorted([depths[joint] for joint in joints], np.arange(depths[joints[-1]] + 2)) + count
    nodes: Ints = np.array([node[joint] for joint, *_ in dofs], dtype=np.intp)
    firsts: Bools = np.array([first for *_, first in dofs], dtype=np.bool_)
    turning = np.arange(count, len(parents))[:, None] == nodes
    ends_of_limbs = [node[tip] for tip, *_ in ends]
    limbs = [number for number, (*_, end) in enumerate(ends) if end is not None]
    return _Tree(
        carriers=carriers,
        tops=tuple(chain[0] for chain in chains),
        joints=joints,
        rounds=[(slice(first, last), parents[first:last]) for first, last in pairwise(edges.tolist())],
        sums=sums,
        rests=skeleton.rest_rotations[joints],
        nodes=nodes,
        axes=np.array([axis for _, axis, _ in dofs]).reshape(-1, 3),
        firsts=firsts,
        turning=turning,
        shares=[(turning & some).astype(np.float64) for some in (firsts, ~firsts) if some.any()],
        turned_by=np.concatenate([parents[count:], nodes, ends_of_limbs]),
        tips=ends_of_limbs,
        offsets=np.array([place for _, place, _ in ends]),
        moved=np.array([[joint in chain for joint, *_ in dofs] for chain in tips]),
        limbs=limbs,
        ends=[node[chains[number][-1]] for number in limbs],
        turned=np.array([[joint in chain for joint, *_ in dofs] for chain in chains])[limbs],
    )  # fmt: skip


class _State(NamedTuple):
    """The nodes and the body in all frames, which are changed in place.

    Attributes:
        turns, places: (N, F, 4), (N, F, 3) local ones of joints, and world ones of what carries them.
        middle: (1, F, 3) where the trunk is.
        turn: (1, F, 4) how the body was turned about it.
    """

    turns: Floats
    places: Floats
    middle: Floats
    turn: Floats


def _nodes(tree: _Tree, motion: Motion) -> tuple[Floats, Floats]:
    """``turns`` and ``places`` of `_State` in a motion."""
    rotations, translations, world = motion
    pairs = (world.rotations, rotations), (world.positions, translations)
    turns, places = (
        np.concatenate([seen[:, tree.carriers], own[:, tree.joints]], axis=1).swapaxes(0, 1).copy()
        for seen, own in pairs
    )
    return turns, places


def _solve(tree: _Tree, state: _State, wanted: tuple[Floats, Floats], frames: Ints, *, gives_way: bool) -> Floats:
    """Bring ends to their places in N frames; metres (N,) that the farthest one is off then, infinite if unsettled.

    ``state`` is changed in place; ``wanted``: places (L, F, 3) and rotations (L, F, 4) of the limbs' ends; ``frames``
    (N,): numbers; ``gives_way``: whether the body may move.
    """
    count, missed, rows = len(tree.carriers), np.zeros(len(frames)), np.arange(len(frames))
    for _ in range(_MORE if gives_way else _ROUNDS):
        here = frames[rows]
        turns, places, middle, turned = (each[:, here] for each in state)
        axes, goals = _axes(tree, turns[count:]), (wanted[0][:, here], wanted[1][:, here])
        levels = _levels(tree, turns, places, axes, goals, middle if gives_way else None)
        step = _prioritised(levels)
        size = norm(step)
        step *= np.minimum(1.0, _LARGEST / np.maximum(size, _LARGEST))[:, None]
        missed[rows] = norm(_left(levels[0], step).reshape(len(rows), -1, 3)).max(axis=1)
        if gives_way:
            way, turn, step = step[:, :3], exp(step[:, 3:_BODY] / _LEVER), step[:, _BODY:]
            around = rotate(turn, places[:count] - middle)
            state.middle[:, here], state.turn[:, here] = middle + way, multiply(turn, turned)
            state.places[:count, here] = middle + way + around
            state.turns[:count, here] = multiply(turn, turns[:count])
        state.turns[count:, here] = _turned(tree, turns[count:], axes * step.T[..., None])
        rows = rows[size > _SETTLED]
        if not len(rows):
            break
    missed[rows] = np.inf
    return missed


_Level = tuple[Floats, Floats]
"""A Jacobian (F, R, C), and what is missed (F, R)."""


def _axes(tree: _Tree, local: Floats) -> Floats:
    """(C, F, 3) axes of the dofs in the frames of their joints, whose local rotations are (K, F, 4); F may be 1."""
    axes = tree.axes[:, None]
    if not tree.firsts.any():
        return axes
    turned = rotate(conjugate(multiply(conjugate(tree.rests)[:, None], local))[tree.turning.argmax(axis=0)], axes)
    return np.where(tree.firsts[:, None, None], turned, axes)


def _turned(tree: _Tree, local: Floats, turns: Floats) -> Floats:
    """Local rotations (K, F, 4) turned by rotation vectors (C, F, 3) of the dofs."""
    for share in tree.shares:
        local = multiply(local, exp((share @ turns.reshape(len(turns), -1)).reshape(*local.shape[:2], 3)))
    return local


def _levels(
    tree: _Tree, turns: Floats, places: Floats, axes: Floats, wanted: tuple[Floats, Floats], middle: Floats | None
) -> list[_Level]:
    """Places of tips, then rotations of hands and feet; columns are those of the body, then the dofs.

    ``turns`` (N, F, 4) and ``places`` (N, F, 3): of the tree's nodes; see `_State`. ``axes`` (C, F, 3): of the dofs, in
    the frames of their joints; F may be 1. ``wanted``: as of `_solve`. ``middle`` (1, F, 3): what the body turns about;
    None: it does not give way, and has no columns.
    """
    count, joints, dofs = len(tree.carriers), len(tree.joints), len(tree.nodes)
    seen, links = turns.copy(), places.copy()
    # A product with each joint's rotation as one with a matrix: a limb takes many products, each of few numbers.
    right = (turns @ _RIGHT).reshape(*turns.shape, 4)
    for some, over in tree.rounds:
        seen[some] = (right[some] @ seen[over, ..., None])[..., 0]
    own = np.empty((len(tree.turned_by), *places.shape[1:]))
    own[:joints], own[joints : joints + dofs], own[joints + dofs :] = places[count:], axes, tree.offsets[:, None]
    links[count:], axes, offsets = np.split(rotate(seen[tree.turned_by], own), [joints, joints + dofs])
    at = (tree.sums @ links.reshape(len(links), -1)).reshape(links.shape)
    tips = at[tree.tips] + offsets
    moves = cross(axes, tips[:, None] - at[tree.nodes]) * tree.moved[..., None, None]
    twists = axes * tree.turned[..., None, None]
    if middle is not None:
        body = np.repeat(np.eye(3)[:, None], middle.shape[1], axis=1)
        around = cross(body / _LEVER, (tips - middle)[:, None])
        moves = np.concatenate([np.broadcast_to(body, around.shape), around, moves], axis=1)
        turns = np.concatenate([np.zeros(body.shape), body / _LEVER])
        twists = np.concatenate([np.broadcast_to(turns, (len(twists), *turns.shape)), twists], axis=1)
    levels = [(_rows(moves), _beside(wanted[0] - tips))]
    if tree.limbs:
        twisted = log(multiply(wanted[1][tree.limbs], conjugate(seen[tree.ends])))
        levels.append((_rows(twists), _beside(twisted)))
    return levels


def _rows(moves: Floats) -> Floats:
    """A Jacobian (F, 3 L, C) from what dofs do to L ends (L, C, F, 3)."""
    return moves.transpose(2, 0, 3, 1).reshape(moves.shape[2], -1, moves.shape[1])


def _beside(off: Floats) -> Floats:
    """(F, 3 L) what L ends (L, F, 3) are off."""
    return off.swapaxes(0, 1).reshape(off.shape[1], -1)


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
        diagonal = square.reshape(count, -1)[:, :: square.shape[1] + 1]
        diagonal += (_LEAST_DAMPING + _DAMPING * norm(left))[:, None]
        last = number == len(levels) - 1
        pulled = np.linalg.solve(square, left[..., None] if last else np.concatenate([left[..., None], seen], axis=2))
        step = step + (seen.swapaxes(1, 2) @ pulled[..., :1])[..., 0]
        if not last:
            free = free - seen.swapaxes(1, 2) @ pulled[..., 1:]
    return step
