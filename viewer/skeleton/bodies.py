"""Volumes along the bones of a skeleton: capsules that touch, and octahedra for what shows only meshes.

The radii of people are those of a figure 1.75 m tall, scaled; of other creatures and machines they follow from the
lengths of the bones. The wiggled poses come from a fixed seed.

Each bone is an octahedron from a joint to a child or tip; its faces are flat, so they share no corners.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.errors import InputError
from viewer.latest import Latest
from viewer.skeleton.attached import MOST_CAPSULES, Bodies, Capsule, CapsuleTable
from viewer.skeleton.character import check_skeleton
from viewer.skeleton.figure import body_path, find_figure
from viewer.skeleton.kinematics import World, fk, fk_arrays, tip_positions
from viewer.skeleton.limbs import ARM, Figure
from viewer.skeleton.limits import JointKind
from viewer.skeleton.skeleton import Skeleton
from viewer.skeleton.tree import RestTree, rest_tree, rest_world
from viewer.spatial.checks import Floats, Ints, finite_floats
from viewer.spatial.closest import segment_distances
from viewer.spatial.quaternion import face_normals, from_axis_angle, multiply, perpendicular

HEIGHT = 1.75
"""Height in metres of a person with the radii below."""
TRUNK, BRANCH, NECK, HEAD = 0.1, 0.05, 0.05, 0.085
"""Radii of the spine, of bones from it to hips and along clavicles, of neck and head."""
UPPER = {ARM: 0.045, "leg": 0.065}
LOWER = {ARM: 0.035, "leg": 0.045}
END = {ARM: 0.03, "leg": 0.035}
"""Radii of upper arm and thigh, of forearm and shank, of hand and foot."""
_LIMB = 0.45
"""Upper bound of a limb's radius, as a part of its bone's length: a short bone is no ball."""
_SLENDER = 0.12
"""The radius of any other bone, in parts of its length ..."""
_THINNEST, _THICKEST = 0.006, 0.05
"""... but within these parts of the figure's height."""

_NO_LENGTH = 1e-6
"""Bones shorter than this part of the figure's longest path have no body."""
_WIGGLES = 400
_WIGGLE = np.radians(3.0)
_TOO_OFTEN = 0.02
"""A pair that touches in more than this part of the wiggles becomes thinner ..."""
_LEAST_PART = 0.1
"""... but not thinner than this part of its radii."""
_MOST_TESTS = 8_000_000
"""Pairs times wiggles: figures of very many pairs are wiggled fewer times."""
_BLOCK = 1 << 18
"""Pairs of poses that are measured at once."""
_LOST_DIGITS = 1e-12
_STANDS = 0.05
"""A figure whose lowest end is no farther above Y = 0 than this part of its height stands on it."""

Radii = dict[tuple[int, int | None], tuple[float, bool]]

BELT = 0.12
"""Position and radius of an octahedron's thickest part, as a fraction of its length."""
SHORTEST = 6e-4
"""Shorter bones, as a fraction of the figure's size, are not drawn."""
ALONE = 0.05
"""Half length, metres, of the octahedron for a skeleton without bones."""

CORNERS = np.array([[0, 0, 0], [1, BELT, 0], [0, BELT, 1], [-1, BELT, 0], [0, BELT, -1], [0, 1, 0]], dtype=np.float64)
"""(6, 3) of the unit octahedron: root, four of the belt, end; x and z in radii, y in lengths."""
FACES = np.array([[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 4, 1], [5, 2, 1], [5, 3, 2], [5, 4, 3], [5, 1, 4]])
"""(8, 3) corners of its faces, counter-clockwise from outside."""


@lru_cache(maxsize=16)
def bodies_of(skeleton: Skeleton) -> Bodies:
    """The bodies that the skeleton's file states, with the pairs that are tested; else `fit_bodies`."""
    if skeleton.bodies is None:
        return fit_bodies(skeleton)
    capsules, poses = skeleton.bodies.capsules, _poses(skeleton)
    clearances = _clearances(skeleton.bodies.table, poses, _height(skeleton, poses))
    return Bodies(capsules, _apart(skeleton, skeleton.bodies.table, poses), clearances)


def fit_bodies(skeleton: Skeleton, height: float | None = None) -> Bodies:
    """A capsule for each bone of the skeleton; bodies that it has are ignored.

    A bone reaches from a joint to its child or end site; bones of no length have none, and neither has the way from a
    root on the floor to the body; with more than `viewer.skeleton.attached.MOST_CAPSULES` bones only the longest
    have one. Pairs are tested if their joints are neither the same nor parent and child, and if they touch neither at
    rest nor in the relaxed pose. Capsules that touch when joints tremble become thinner.

    ``height`` is in metres from its feet to the top of its head; None: measured.

    Raises:
        InputError: no skeleton, a height that is not above 0.
    """
    check_skeleton(skeleton, "fit_bodies: ")
    if height is not None:
        height = float(finite_floats(height, (), "fit_bodies: height"))
        if not height > 0.0:
            raise InputError(f"fit_bodies: height: expected more than 0 metres, found {height:g}")
    parts = [getattr(skeleton, field.name) for field in fields(skeleton) if field.name not in {"bodies", "limits"}]
    return _FITTED.of(lambda: _fitted(skeleton, height), *parts, equal=(skeleton.limits, height))


_FITTED = Latest[Bodies]()
"""Those of the last skeleton, whatever bodies it has: fitting takes a tenth of a second, and edits change radii."""


@lru_cache(maxsize=16)
def _fitted(skeleton: Skeleton, given: float | None) -> Bodies:
    poses = _poses(skeleton)
    height = _height(skeleton, poses) if given is None else given
    if not height > 0.0:
        return Bodies(())
    capsules = list(_capsules(skeleton, height))
    if len(capsules) > MOST_CAPSULES:
        longest = sorted(np.argsort([-one.length for one in capsules], kind="stable")[:MOST_CAPSULES].tolist())
        capsules = [capsules[place] for place in longest]
    table = Bodies(tuple(capsules)).table
    pairs = _apart(skeleton, table, poses)
    radii = _thinner(skeleton, table, pairs)
    thin = [Capsule(one.joint, one.a, one.b, r) for one, r in zip(capsules, radii.tolist(), strict=True)]
    return Bodies(tuple(thin), pairs, _clearances(table._replace(radius=radii), poses, height))


def _poses(skeleton: Skeleton) -> list[World]:
    """The rest pose and the relaxed pose; only the relaxed one if the bones lie anywhere at rest."""
    relaxed = fk(skeleton, skeleton.relaxed_pose())
    return [relaxed] if _lies_anywhere(skeleton) else [rest_world(skeleton), relaxed]


def _lies_anywhere(skeleton: Skeleton) -> bool:
    """Whether the rest pose is not a pose of the figure: its bones lie side by side, as in some exports."""
    figure = find_figure(skeleton)
    return figure is not None and not figure.upright


def _height(skeleton: Skeleton, poses: list[World]) -> float:
    """The height of a figure in metres; for others the longest side of the box around them."""
    world = poses[0]
    own = np.delete(world.positions, list(body_path(skeleton)[1:]), axis=0)
    places = np.concatenate([own, tip_positions(skeleton, world)])
    figure = find_figure(skeleton)
    if figure is None:
        return float(np.ptp(places, axis=0).max())
    return float(np.ptp(places @ figure.up))


def _capsules(skeleton: Skeleton, height: float) -> Iterator[Capsule]:
    """One capsule for each bone, in the order of the joints: to its children, then to its end sites."""
    tree, figure, path = rest_tree(skeleton), find_figure(skeleton), body_path(skeleton)
    carriers = path[1:]
    radii = {} if figure is None else _radii(tree, figure)
    for joint, children in enumerate(tree.children):
        ends = [(child, skeleton.offsets[child]) for child in children]
        ends += [(-1, tip) for tip in skeleton.tip_offsets[skeleton.tip_parents == joint]]
        bones = [
            (child, end)
            for child, end in ends
            if np.linalg.norm(end) > _NO_LENGTH * tree.size and not (joint in carriers and child in path)
        ]
        for child, end in bones:
            length = float(np.linalg.norm(end))
            radius, limb = radii.get((joint, child), radii.get((joint, None), (None, False)))
            if radius is None:
                found = min(max(_SLENDER * length, _THINNEST * height), _THICKEST * height)
            else:
                found = radius * height / HEIGHT
                found = min(found, _LIMB * length) if limb else found
            x, y, z = end.tolist()
            yield Capsule(joint, (0.0, 0.0, 0.0), (x, y, z), found)
        if not bones and (joint, None) in radii:  # a hand, foot or head that its file gives no length
            yield Capsule(joint, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), radii[joint, None][0] * height / HEIGHT)


def _radii(tree: RestTree, figure: Figure) -> Radii:
    """Radius of a person's bones by their joint (None: all of its bones) or joint and child; whether it is a limb's."""
    found: Radii = {}
    spine = {figure.trunk, figure.pelvis, figure.chest, *figure.spine}
    for joint in spine:
        found[joint, None] = TRUNK, False
    for limb in figure.limbs:
        found[tree.parents[limb.first], limb.first] = BRANCH, False
        for joint in limb.girdle:
            found[joint, None] = BRANCH, True
        for joint in [limb.upper, *tree.between(limb.upper, limb.lower)[:-1]]:
            found[joint, None] = UPPER[limb.kind], True
        below = tree.between(limb.lower, limb.tip[0])
        for joint in [limb.lower, *below]:
            found[joint, None] = LOWER[limb.kind], True
        if limb.end is not None:
            found[limb.end, None] = END[limb.kind], True
            for joint in tree.below(limb.toe) if limb.toe is not None else ():
                found[joint, None] = END[limb.kind], True
    for joint in figure.neck:
        found[joint, None] = NECK, False
    if figure.head is not None:
        found[figure.head, None] = HEAD, False
    return found


def _apart(skeleton: Skeleton, table: CapsuleTable, poses: list[World]) -> Ints:
    """(P, 2) pairs of capsules, two joints or more apart in the tree, that touch in none of the poses."""
    first, second = np.triu_indices(len(table.joint), 1)
    a, b = table.joint[first], table.joint[second]
    near = (a == b) | (skeleton.parents[a] == b) | (skeleton.parents[b] == a)
    pairs = np.stack([first, second], axis=1)[~near]
    for world in poses:
        pairs = pairs[_spaces(table, pairs, world.positions, world.rotations) > table.radius[pairs].sum(axis=1)]
    return np.asarray(pairs)


def _spaces(table: CapsuleTable, pairs: Ints, positions: Floats, rotations: Floats) -> Floats:
    """(..., P) metres between the axes of pairs; infinite where bounding balls are apart.

    Of joints at (..., J, 3), turned as (..., J, 4).
    """
    if not len(pairs):
        return np.full((*positions.shape[:-2], 0), np.inf)
    a, b = table.ends(positions, rotations)
    reach = 0.5 * np.linalg.norm(table.b - table.a, axis=-1) + table.radius
    centre = 0.5 * (a + b)
    centre -= centre.mean(axis=-2, keepdims=True)
    square = np.einsum("...k,...k->...", centre, centre)
    # Of all pairs by one product, which loses digits: balls that hardly miss each other count as near.
    apart = -2.0 * centre @ np.swapaxes(centre, -1, -2)
    apart += square[..., :, None] + (square[..., None, :] - _LOST_DIGITS * square.max(initial=0.0))
    i, j = pairs.T
    close = (apart <= np.add.outer(reach, reach) ** 2).reshape(*apart.shape[:-2], -1)
    near = np.take(close, i * len(reach) + j, axis=-1)
    found = np.full(near.shape, np.inf)
    *pose, pair = np.nonzero(near)
    one, other = (*pose, i[pair]), (*pose, j[pair])
    found[near] = segment_distances(a[one], b[one] - a[one], a[other], b[other] - a[other])
    return found


def _thinner(skeleton: Skeleton, table: CapsuleTable, pairs: Ints) -> Floats:
    """(C,) the radii, less where a pair touches too often when the joints tremble about the pose of `_poses`."""
    if not len(pairs):
        return table.radius
    count = int(np.clip(_MOST_TESTS // len(pairs), 16, _WIGGLES))
    sums = table.radius[pairs].sum(axis=1)
    spaces = np.empty((count, len(pairs)))
    rotations = _wiggled(skeleton, count)
    step = max(1, _BLOCK // len(pairs))
    for start in range(0, count, step):
        world = fk_arrays(skeleton.parents, rotations[start : start + step], skeleton.offsets[None])
        spaces[start : start + step] = _spaces(table, pairs, world.positions, world.rotations)
    touch = (spaces <= sums).mean(axis=0) > _TOO_OFTEN
    parts = np.ones(len(table.radius))
    if touch.any():
        # Thin enough not to touch in all but this part of the wiggles.
        allowed = int(_TOO_OFTEN * count)
        room = np.partition(spaces[:, touch], allowed, axis=0)[allowed]
        part = np.clip(room / sums[touch] * (1.0 - 1e-9), _LEAST_PART, 1.0)
        np.minimum.at(parts, pairs[touch], part[:, None])
    return np.asarray(table.radius * parts)


def _wiggled(skeleton: Skeleton, count: int) -> Floats:
    """(N, J, 4) local rotations: every joint that can turn does so, by 3 degrees about an axis that it has."""
    random = np.random.default_rng(0)
    axes = random.normal(size=(count, len(skeleton), 3))
    axes /= np.linalg.norm(axes, axis=-1, keepdims=True)
    for joint, kind in enumerate(skeleton.kinds):
        if kind.hinged:
            which = random.integers(kind.axes, size=count)
            axes[:, joint] = skeleton.axes[joint, which] * random.choice([-1.0, 1.0], size=(count, 1))
    still = skeleton.of_kind(JointKind.FIXED, JointKind.SLIDE, JointKind.FREE)
    about = skeleton.relaxed_pose().rotations if _lies_anywhere(skeleton) else skeleton.rest_rotations
    return multiply(about, from_axis_angle(axes, np.where(still, 0.0, _WIGGLE)))


def _clearances(table: CapsuleTable, poses: list[World], height: float) -> Floats:
    """(C, 2) least height of the ends above a floor: their radius, or their lowest height in the poses."""
    if not len(table.joint):
        return np.empty((0, 2))
    heights = np.array([np.stack(table.ends(world.positions, world.rotations), axis=1)[..., 1] for world in poses])
    lowest = heights.min(axis=(1, 2), keepdims=True)
    on_ground = (lowest >= 0.0) & (lowest <= _STANDS * height)
    above = (heights - np.where(on_ground, 0.0, lowest)).min(axis=0)
    return np.asarray(np.minimum(table.radius[:, None], above))


class BoneMesh(NamedTuple):
    """Triangles, three corners each, without an index: world frame, metres.

    Positions ``corners`` (V, 3), unit vectors ``normals`` (V, 3), the same at all corners of a face, and the joint
    ``joints`` (V,) that each corner moves with.
    """

    corners: Floats
    normals: Floats
    joints: Ints


def bone_mesh(skeleton: Skeleton, world: World) -> BoneMesh:
    """The octahedra of all bones in a world pose; without bones, a small one at the first joint."""
    heads, ends, joints = _bones(skeleton, world)
    if not len(heads):
        half = np.array([[0.0, ALONE, 0.0]])
        heads, ends = world.positions[:1] - half, world.positions[:1] + half
        joints = np.zeros(1, dtype=np.intp)
    along = ends - heads
    length = np.linalg.norm(along, axis=-1, keepdims=True)
    side = perpendicular(along / length)
    front = np.cross(side, along / length)
    axes = np.stack([BELT * length * side, along, BELT * length * front], axis=1)
    corners = heads[:, None] + np.einsum("ci,bij->bcj", CORNERS, axes)
    triangles = corners[:, FACES].reshape(-1, 3, 3)
    normals = np.repeat(face_normals(triangles), 3, axis=0)
    return BoneMesh(triangles.reshape(-1, 3), normals, np.repeat(joints, 3 * len(FACES)))


def _bones(skeleton: Skeleton, world: World) -> tuple[Floats, Floats, Ints]:
    """Heads and ends (B, 3) and the joint (B,) of every bone that is long enough to be visible."""
    children = np.flatnonzero(skeleton.parents >= 0)
    joints = np.concatenate([skeleton.parents[children], skeleton.tip_parents])
    ends = np.concatenate([world.positions[children], tip_positions(skeleton, world)])
    heads = world.positions[joints]
    lengths = np.linalg.norm(ends - heads, axis=-1)
    size = float(np.ptp(np.concatenate([heads, ends]), axis=0).max()) if len(heads) else 0.0
    seen = lengths > SHORTEST * size
    return heads[seen], ends[seen], joints[seen]
