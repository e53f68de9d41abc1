"""Left and right: which joints are partners by name, and a pose with the sides swapped."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from viewer.document.opening import moved_over, root_of, standing_across, standing_on, turned_across
from viewer.skeleton.figure import find_figure
from viewer.skeleton.kinematics import World, fk
from viewer.skeleton.names import body_part, swapped_names
from viewer.skeleton.pose import Pose
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Floats, Ints, frozen
from viewer.spatial.quaternion import conjugate, from_matrix, multiply, rotate


@lru_cache(maxsize=16)
def partners(skeleton: Skeleton) -> Ints:
    """(J,) the joint of the same name on the other side; a joint without one is its own partner."""
    places = {name: joint for joint, name in enumerate(skeleton.names)}
    found = np.arange(len(skeleton))
    for joint, name in enumerate(skeleton.names):
        others = [places[other] for other in swapped_names(name) if other in places]
        if body_part(name).side and others and others[0] != joint:
            found[joint] = others[0]
    # Partners are so both ways, or not at all.
    mutual = found[found] == np.arange(len(found))
    result: Ints = frozen(np.where(mutual, found, np.arange(len(found))), np.intp)
    return result


def mirrored_pose(skeleton: Skeleton, pose: Pose, supports: Sequence[int] = ()) -> Pose:
    """The pose with left and right swapped, where it stands.

    Every joint takes its partner's turn away from rest, reflected at the plane between the sides: with S the
    reflection at rest, R the rest and W the posed world rotations, S' the reflection in the posed body's own plane,
    W'_partner = S' W_j R_j^-1 S R_partner. S' is S turned about the vertical as the feet are, or the root.

    Args:
        skeleton: whose joints' names say left and right.
        pose: of it.
        supports: joints that it stands on: the middle between them stays where it is, and what carries them moves over
            it. The figure's feet, where none is given; where it has none, roots stay where they are.
    """
    across = _across(skeleton)
    rest, world = fk(skeleton, skeleton.rest_pose()), fk(skeleton, pose)
    partner, roots = partners(skeleton), np.array(root_of(skeleton))
    normals = np.array([turned_across(rest, world, across, int(root)) for root in roots])
    standing = standing_on(skeleton, world, supports)
    if standing:
        carrying = roots == roots[standing[0]]
        normals[carrying] = standing_across(skeleton, (rest, world), across, standing)
    away = multiply(world.rotations, conjugate(rest.rotations))
    # S' D S = (S' D S') (S' S): a reflected rotation, and twice the angle between the two planes.
    turned = multiply(_reflected(away, normals), _between_planes(normals, across))
    wanted = np.empty_like(world.rotations)
    wanted[partner] = multiply(turned, rest.rotations[partner])
    rotations = wanted.copy()
    inner = np.flatnonzero(skeleton.parents >= 0)
    rotations[inner] = multiply(conjugate(wanted[skeleton.parents[inner]]), wanted[inner])
    rotations /= np.linalg.norm(rotations, axis=-1, keepdims=True)
    mirrored = Pose(rotations, _mirrored_translations(skeleton, pose, rest, across, partner))
    return moved_over(skeleton, mirrored, world, standing, partner) if standing else mirrored


def _across(skeleton: Skeleton) -> Floats:
    """(3,) the direction from side to side at rest: that of the figure, else of the partners' places."""
    figure = find_figure(skeleton)
    if figure is not None and figure.upright:
        return figure.left
    partner, places = partners(skeleton), fk(skeleton, skeleton.rest_pose()).positions
    left = [j for j, name in enumerate(skeleton.names) if partner[j] != j and body_part(name).side == "left"]
    way = (places[left] - places[partner[left]]).sum(axis=0) if left else np.zeros(3)
    length = float(np.linalg.norm(way))
    return way / length if length > 0.0 else np.array([1.0, 0.0, 0.0])


def _reflected(rotations: Floats, normals: Floats) -> Floats:
    """S D S for rotations D (J, 4) and the reflections at the planes of normals (J, 3): an axis is a pseudovector."""
    vectors = rotations[:, :3]
    along = np.einsum("ji,ji->j", vectors, normals)[:, None] * normals
    return np.concatenate([2.0 * along - vectors, rotations[:, 3:]], axis=-1)


def _between_planes(normals: Floats, across: Floats) -> Floats:
    """S' S as quaternions (J, 4)."""
    first = np.eye(3) - 2.0 * np.outer(across, across)
    second = np.eye(3) - 2.0 * normals[:, :, None] * normals[:, None, :]
    return from_matrix(second @ first)


def _mirrored_translations(skeleton: Skeleton, pose: Pose, rest: World, across: Floats, partner: Ints) -> Floats:
    """What moves a joint off its offset, reflected; roots stay."""
    result = pose.translations.copy()
    inner = np.flatnonzero(skeleton.parents >= 0)
    above = rest.rotations[skeleton.parents]
    off = rotate(above[inner], (pose.translations - skeleton.offsets)[inner])
    off = off - 2.0 * (off @ across)[:, None] * across
    target = partner[inner]
    moved = skeleton.offsets[target] + rotate(conjugate(above[target]), off)
    still = (pose.translations == skeleton.offsets).all(axis=-1)[inner]
    result[target] = np.where(still[:, None], skeleton.offsets[target], moved)
    return result
