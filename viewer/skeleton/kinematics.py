"""Forward kinematics: from local to world, for one pose or all frames of a clip; and the extent of a figure.

W_j = W_parent * q_j and p_j = p_parent + W_parent * t_j. Trees are processed level by level, all joints of one depth
together. Deep trees, such as chains, are processed by pointer doubling: every joint is composed with the motion of
its 1st, 2nd, 4th, ... ancestor, so that a chain of 5,000 takes 13 rounds instead of 5,000. There is no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from viewer.errors import InputError
from viewer.skeleton.character import Character, check_clip, check_pose, check_skeleton
from viewer.skeleton.clip import Clip
from viewer.skeleton.skeleton import Pose, Skeleton, effector_of
from viewer.spatial.checks import Floats, Ints, Vector, as_floats, frozen, whole_numbers
from viewer.spatial.quaternion import PRODUCT_COLUMNS, PRODUCT_SIGNS, SCALAR_FIRST, conjugate, multiply, rotate

Table: TypeAlias = Any
"""Rows of numbers, or numbers: lists, or an array."""

_DEEP = 64
"""Trees deeper than this are composed by pointer doubling."""

_SMALL = 150
"""Joints of a single pose up to which a loop is faster than numpy."""

_BLOCK = 1 << 13
"""Joints times frames processed together, so that their arrays (some 40 doubles each) stay in the processor's cache."""

_HERE = "forward kinematics: "


@dataclass(slots=True, eq=False)
class Compiled:
    """Compiled functions of one pose, of read-only contiguous arrays, in place of numpy; None until they are ready.

    ``walk`` is `walk`; ``measure`` is `viewer.ik.compiled.entry.measure_pose`, which `viewer.skeleton.coordinates`
    calls; ``tables`` are its first arguments for a skeleton.
    """

    walk: Callable[[Ints, Floats, Floats, Floats, Floats], None] | None = None
    measure: Callable[..., bool] | None = None
    tables: Callable[[Skeleton], tuple[Any, ...]] = lambda _: ()


COMPILED = Compiled()


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """World positions and rotations of the joints.

    Attributes:
        positions: (J, 3) or (F, J, 3) metres, world frame.
        rotations: (J, 4) or (F, J, 4) unit quaternions (x, y, z, w), world_from_joint.
    """

    positions: Floats
    rotations: Floats

    def __repr__(self) -> str:
        *frames, joints, _ = self.positions.shape
        return f"<World: {frames[0]} frames of {joints} joints>" if frames else f"<World: {joints} joints>"

    def point(self, joint: int, offset: Vector | Floats) -> Floats:
        """World position (..., 3) of a point fixed to a joint at ``offset`` (3,) in its frame."""
        local = np.asarray(offset)
        if not np.count_nonzero(local):
            return self.positions[..., joint, :].copy()
        return self.positions[..., joint, :] + rotate(self.rotations[..., joint, :], local)

    def points(self, joints: Ints, offsets: Floats) -> Floats:
        """World positions (..., N, 3) of points fixed to joints (N,) at ``offsets`` (N, 3) in their frames."""
        turned = rotate(self.rotations.take(joints, axis=-2), offsets)
        return np.asarray(self.positions.take(joints, axis=-2) + turned)


@dataclass(frozen=True, slots=True, eq=False)
class FixedPoints:
    """Points that are fixed to joints. ``joints`` (N,) are indices, ``offsets`` (N, 3) metres in the joints' frames."""

    joints: Ints
    offsets: Floats

    def at(self, world: World) -> Floats:
        """(N, 3) their positions in the world; cached for the poses in use."""
        return _places(self, world)


@lru_cache(maxsize=8)
def _places(points: FixedPoints, world: World) -> Floats:
    return frozen_result(world.points(points.joints, points.offsets))


@lru_cache(maxsize=32)
def fixed_points(skeleton: Skeleton, effectors: tuple[tuple[str, Sequence[float]], ...]) -> FixedPoints:
    """The points of effectors, each given by its name and an offset (3,) from it. Cached."""
    places = [effector_of(skeleton, name) for name, _ in effectors]
    offsets = [np.add(place.offset, offset) for place, (_, offset) in zip(places, effectors, strict=True)]
    joints = np.array([place.joint for place in places], dtype=np.intp)
    return FixedPoints(joints, np.array(offsets).reshape(-1, 3))


def fk(skeleton: Skeleton, pose: Pose) -> World:
    """World positions (J, 3) and rotations (J, 4) of one pose.

    Raises:
        InputError: no skeleton, no pose, or one of another skeleton.
    """
    if type(skeleton) is not Skeleton or type(pose) is not Pose:
        check_skeleton(skeleton, _HERE)
        check_pose(pose, _HERE)
    rotations, translations, parents = pose.rotations, pose.translations, skeleton.parents
    _check_count(rotations, parents)
    if COMPILED.walk is not None:
        turns, positions = np.empty(rotations.shape), np.empty(translations.shape)
        COMPILED.walk(frozen(parents, np.intp), frozen(rotations), frozen(translations), turns, positions)
        return World(frozen_result(positions), frozen_result(turns))
    if len(parents) > _SMALL:
        world = fk_arrays(parents, rotations[None], translations[None])
        return World(world.positions[0], world.rotations[0])
    made: tuple[list[list[float]], list[list[float]]] = ([[0.0] * 4 for _ in parents], [[0.0] * 3 for _ in parents])
    walk(parents.tolist(), rotations.tolist(), translations.tolist(), *made)
    return World(frozen_result(np.array(made[1]).reshape(-1, 3)), frozen_result(np.array(made[0]).reshape(-1, 4)))


world_of = lru_cache(maxsize=32)(fk)
"""`fk`, cached for the poses in use, which are immutable."""


def walk(parents: Table, rotations: Table, translations: Table, turns: Table, positions: Table) -> None:
    """World rotations and positions of one pose from its local ones, joint by joint: rows of lists, or of arrays.

    One numpy call takes as long as five joints here. Sums have the order of `fk_arrays`, which gives the same bits.
    """
    for j in range(len(parents)):
        p, q, v, turn, place = parents[j], rotations[j], translations[j], turns[j], positions[j]
        bx, by, bz, bw = q[0], q[1], q[2], q[3]
        vx, vy, vz = v[0], v[1], v[2]
        if p < 0:
            turn[0], turn[1], turn[2], turn[3] = bx, by, bz, bw
            place[0], place[1], place[2] = vx, vy, vz
            continue
        a, base = turns[p], positions[p]
        ax, ay, az, aw = a[0], a[1], a[2], a[3]
        turn[0] = aw * bx + ax * bw + ay * bz - az * by
        turn[1] = aw * by - ax * bz + ay * bw + az * bx
        turn[2] = aw * bz + ax * by - ay * bx + az * bw
        turn[3] = aw * bw - ax * bx - ay * by - az * bz
        tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
        place[0] = base[0] + vx + aw * tx + ay * tz - az * ty
        place[1] = base[1] + vy + aw * ty + az * tx - ax * tz
        place[2] = base[2] + vz + aw * tz + ax * ty - ay * tx


def fk_clip(skeleton: Skeleton, clip: Clip, frames: slice | Ints = slice(None)) -> World:
    """World positions (F, J, 3) and rotations (F, J, 4) of a clip's frames.

    Raises:
        InputError: no skeleton, no clip, or one of another skeleton.
    """
    check_skeleton(skeleton, _HERE)
    check_clip(clip, _HERE)
    return fk_arrays(skeleton.parents, clip.rotations[frames], clip.local_translations(frames))


def fk_arrays(parents: Ints, rotations: Floats, translations: Floats) -> World:
    """Forward kinematics of F frames.

    Args:
        parents: (J,) parents first, -1 for roots.
        rotations: (F, J, 4) local unit quaternions.
        translations: (F, J, 3) local translations, metres; F may be 1 where they do not change.

    Returns:
        Positions (F, J, 3), rotations (F, J, 4).

    Raises:
        InputError: arrays of other shapes, parents after their children.
    """
    rotations = as_floats(rotations, (-1, -1, 4), f"{_HERE}rotations")
    count, joints = rotations.shape[:2]
    _check_count(rotations, parents)
    parents = whole_numbers(parents, (joints,), f"{_HERE}parents")
    if not (parents < np.arange(joints)).all():
        raise InputError(f"{_HERE}parents: expected each parent before its children and -1 for roots")
    translations = as_floats(translations, (-1, joints, 3), f"{_HERE}translations")
    if len(translations) not in {1, count}:
        raise InputError(f"{_HERE}translations: expected {count} frames or 1, found {len(translations)}")
    return _composed(parents, rotations, translations)


def _composed(parents: Ints, rotations: Floats, translations: Floats) -> World:
    """`fk_arrays` of checked arrays."""
    tree, (count, joints) = _tree(parents.tobytes()), rotations.shape[:2]
    composed = _by_doubling if tree.is_deep else _by_levels
    positions, turns = np.empty((count, joints, 3)), np.empty((count, joints, 4))
    blocks = max(1, -(-count * joints // _BLOCK))
    step = max(1, -(-count // blocks))
    for start in range(0, count, step):
        block = slice(start, start + step)
        moved = translations if len(translations) == 1 else translations[block]
        # One plane per component, joints along rows: each level then reads and writes contiguous rows.
        q, p = composed(tree, rotations[block].transpose(2, 1, 0), moved.transpose(2, 1, 0))
        turns[block], positions[block] = q.transpose(2, 1, 0), p.transpose(2, 1, 0)
    return World(frozen_result(positions), frozen_result(turns))


def local_turns(parents: Ints, turns: Floats) -> Floats:
    """Local rotations (..., J, 4) of joints with world rotations (..., J, 4)."""
    local, inner = turns.copy(), np.flatnonzero(parents >= 0)
    local[..., inner, :] = multiply(conjugate(turns[..., parents[inner], :]), turns[..., inner, :])
    return local


def fk_turned(parents: Ints, turns: Floats, translations: Floats) -> World:
    """The world of F frames whose world rotations are known.

    World rotations (J, F, 4) with joints first; local translations (F, J, 3), metres.
    """
    positions = translations.swapaxes(0, 1).copy()  # of one frame this would be the argument's own memory
    inner = np.flatnonzero(parents >= 0)
    positions[inner] = rotate(turns[parents[inner]], positions[inner])
    for some, above in _tree(parents.tobytes()).rounds:
        positions[some] += positions[above]
    return World(frozen_result(positions.swapaxes(0, 1).copy()), frozen_result(turns.swapaxes(0, 1).copy()))


def fk_below(parents: Ints, joints: tuple[int, ...], world: World, rotations: Floats, translations: Floats) -> World:
    """A world of F frames in which some joints, and all below them, are computed again.

    The local motion of ``joints`` has changed; of all others only joints below them may have changed. ``world`` is the
    one before; rotations (F, J, 4) and translations (F, J, 3) are local.
    """
    carriers, below, own_parents = _branches(parents.tobytes(), joints)
    placed = _composed(
        own_parents,
        np.concatenate([world.rotations[:, carriers], rotations[:, below]], axis=1),
        np.concatenate([world.positions[:, carriers], translations[:, below]], axis=1),
    )
    positions, turns = world.positions.copy(), world.rotations.copy()
    positions[:, below], turns[:, below] = placed.positions[:, len(carriers) :], placed.rotations[:, len(carriers) :]
    return World(frozen_result(positions), frozen_result(turns))


@lru_cache(maxsize=32)
def _branches(parents: bytes, joints: tuple[int, ...]) -> tuple[Ints, Ints, Ints]:
    """The parents of some joints, these with all joints below them, and the parent indices of both as one tree."""
    above = np.frombuffer(parents, dtype=np.intp).tolist()
    below: dict[int, int] = {}
    for joint, parent in enumerate(above):
        if joint in joints or parent in below:
            below[joint] = parent
    carriers = sorted({parent for parent in below.values() if parent >= 0 and parent not in below})
    places = {joint: place for place, joint in enumerate([*carriers, *below])}
    own = [-1] * len(carriers) + [places.get(parent, -1) for parent in below.values()]
    return np.array(carriers, dtype=np.intp), np.array([*below], dtype=np.intp), np.array(own, dtype=np.intp)


def _check_count(rotations: Floats, parents: Ints) -> None:
    if rotations.shape[-2] != len(parents):
        raise InputError(
            f"forward kinematics: expected rotations of {len(parents)} joints, found {rotations.shape[-2]}"
        )


def frozen_result(array: Floats) -> Floats:
    """Make a new array read-only without a copy."""
    array.flags.writeable = False
    return frozen(array)


def schedule(parents: Ints) -> list[tuple[Ints, Ints]]:
    """Rounds of (joints, the ancestors to compose them with), in order."""
    depth = depths(parents)
    deepest = int(depth.max(initial=0))
    if deepest <= _DEEP:
        order = np.argsort(depth, kind="stable")
        edges = np.searchsorted(depth[order], np.arange(1, deepest + 2))
        levels = [order[first:last] for first, last in pairwise(edges)]
        return [(level, parents[level]) for level in levels]
    rounds = []
    above = np.asarray(parents)
    while (above >= 0).any():
        some = np.flatnonzero(above >= 0)
        rounds.append((some, above[some]))
        above = np.where(above >= 0, above[above], -1)
    return rounds


def depths(parents: Ints) -> Ints:
    """(J,) number of ancestors of each joint."""
    depth = [0] * len(parents)
    for joint, parent in enumerate(parents.tolist()):
        depth[joint] = depth[parent] + 1 if parent >= 0 else 0
    return np.array(depth, dtype=np.intp)


class _Tree(NamedTuple):
    """The order in which the joints of a tree are composed.

    Attributes:
        is_deep: by pointer doubling, instead of level by level.
        rounds: as of `schedule`.
        order: (J,) the joints by level, roots first; the arrays of `_by_levels` are in this order.
        places: (J,) where each joint is in it.
        above: (J - R,) where the parent of each joint is that has one.
        levels: below the roots, as slices of ``above``.
    """

    is_deep: bool
    rounds: list[tuple[Ints, Ints]]
    order: Ints
    places: Ints
    above: Ints
    levels: list[slice]


@lru_cache(maxsize=32)
def _tree(parents: bytes) -> _Tree:
    """The tree with these parents: the bytes of (J,) indices."""
    found = np.frombuffer(parents, dtype=np.intp)
    depth, rounds = depths(found), schedule(found)
    order = np.argsort(depth, kind="stable")
    places = np.argsort(order)
    roots = int(np.searchsorted(depth[order], 1))
    edges = np.searchsorted(depth[order], np.arange(1, int(depth.max(initial=0)) + 2)) - roots
    levels = [slice(int(first), int(last)) for first, last in pairwise(edges)]
    return _Tree(len(levels) > _DEEP, rounds, order, places, places[found[order[roots:]]], levels)


def _by_levels(tree: _Tree, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """World rotations (4, J, F) and positions (3, J, F) from local ones; translations may be of one frame."""
    above, roots = tree.above, len(tree.order) - len(tree.above)
    local, moved = rotations.take(tree.order, 1), translations.take(tree.order, 1)
    q, p = np.empty(local.shape), np.empty((3, *local.shape[1:]))
    q[:, :roots], p[:, :roots] = local[:, :roots], moved[:, :roots]
    local, moved, below, placed = local[:, roots:], moved[:, roots:], q[:, roots:], p[:, roots:]
    for level in tree.levels:
        products = local[:, level].take(PRODUCT_COLUMNS, 0)
        products *= PRODUCT_SIGNS[:, :, None, None]
        products *= q.take(above[level], 1).take(SCALAR_FIRST, 0)[:, None]
        np.add.reduce(products, axis=0, out=below[:, level])
    # Only the sums of positions go level by level; they have the order of `walk`.
    ax, ay, az, aw = q.take(above, 1)
    vx, vy, vz = moved
    t = _rows(ay * vz - az * vy, az * vx - ax * vz, ax * vy - ay * vx)
    t *= 2.0
    tx, ty, tz = t
    first, second, third = aw * t, _rows(ay * tz, az * tx, ax * ty), _rows(az * ty, ax * tz, ay * tx)
    for level in tree.levels:
        here = placed[:, level]
        np.add(p.take(above[level], 1), moved[:, level], out=here)
        here += first[:, level]
        here += second[:, level]
        here -= third[:, level]
    return q.take(tree.places, 1), p.take(tree.places, 1)


def _rows(x: Floats, y: Floats, z: Floats) -> Floats:
    """(3, ...): as `numpy.stack`, in a third of its time for few."""
    rows = np.empty((3, *x.shape))
    rows[0], rows[1], rows[2] = x, y, z
    return rows


def _by_doubling(tree: _Tree, rotations: Floats, translations: Floats) -> tuple[Floats, Floats]:
    """As `_by_levels`, for deep trees."""
    q = np.ascontiguousarray(rotations)
    p = np.array(np.broadcast_to(translations, (3, *q.shape[1:])))
    for some, above in tree.rounds:
        _compose(q, p, some, above)
    return q, p


def _compose(q: Floats, p: Floats, some: Ints, above: Ints) -> None:
    """Multiply the motion of ``some`` joints by that of ``above`` from the left; q (4, J, F), p (3, J, F)."""
    (ax, ay, az, aw), (bx, by, bz, bw) = q.take(above, 1), q.take(some, 1)
    q[0, some] = aw * bx + ax * bw + ay * bz - az * by
    q[1, some] = aw * by - ax * bz + ay * bw + az * bx
    q[2, some] = aw * bz + ax * by - ay * bx + az * bw
    q[3, some] = aw * bw - ax * bx - ay * by - az * bz
    (vx, vy, vz), (ox, oy, oz) = p.take(some, 1), p.take(above, 1)
    tx, ty, tz = 2 * (ay * vz - az * vy), 2 * (az * vx - ax * vz), 2 * (ax * vy - ay * vx)
    p[0, some] = ox + vx + aw * tx + ay * tz - az * ty
    p[1, some] = oy + vy + aw * ty + az * tx - ax * tz
    p[2, some] = oz + vz + aw * tz + ax * ty - ay * tx


def tip_positions(skeleton: Skeleton, world: World) -> Floats:
    """World positions (..., T, 3) of the end sites."""
    return world.points(skeleton.tip_parents, skeleton.tip_offsets)


def joints_and_tips(skeleton: Skeleton, world: World) -> Floats:
    """World positions (J + T, 3) of the joints, then of the end sites."""
    return np.concatenate([world.positions, tip_positions(skeleton, world)])


def extent(character: Character) -> Floats:
    """(3,) extents of joints and tips in x, y and z, metres, in the first frame if there is one, else at rest."""
    skeleton, clip = character.skeleton, character.clip
    pose = clip.pose(0) if clip is not None and len(clip) else skeleton.rest_pose()
    places = joints_and_tips(skeleton, fk(skeleton, pose))
    return np.asarray(places.max(axis=0) - places.min(axis=0))


def height(character: Character) -> float:
    """Metres from the lowest to the highest joint or tip, in the first frame if there is one, else at rest."""
    return float(extent(character)[1])
