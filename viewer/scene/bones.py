"""Bones and joint spheres of a figure, as records."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from viewer.scene.look import PALETTE, SIDES, bone_tails, look_of
from viewer.scene.primitives import BONE, SPHERE, Records
from viewer.scene.scene import Ghost, Scene
from viewer.skeleton.bone_mesh import BELT
from viewer.skeleton.kinematics import World
from viewer.skeleton.skeleton import Skeleton
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import perpendicular, rotate

THINNEST, THICKEST = 0.0085, 0.025
"""Radii of bones in parts of H."""
SHORTEST = 0.0006
"""Bones shorter than this part of H are none: their ends are one place."""
_STOUTEST = 0.6
"""No bone is thicker than this part of its own length, or it would look like a disc."""

_TINT = np.array([PALETTE[side] for side in SIDES])
_ACCENT, _LIMIT, _HOVERED, _GHOST = (np.array(PALETTE[name]) for name in ("accent", "limit", "hovered", "ghost"))
SELECTED_SHARE, LIMIT_SHARE, SPHERE_SHARE = 0.55, 0.38, 0.80
SELECTED_PX, HOVERED_PX = 2.2, 1.5
SPHERE_PART, LEAST_PX = 0.62, 2.5
SELECTED_SWELL, LIMIT_SWELL = 1.12, 1.15


class Bones(NamedTuple):
    """The bones of a figure at one moment; B of them, those of no length among them.

    Attributes:
        heads, tails: (B, 3) metres.
        lengths, radii: (B,) metres; the radius is that of the belt, 0 of a bone of no length.
        shown: (B,) whether it has a length.
        owners: (B,) the joint at its head.
        children: (B,) the joint at its tail, -1 for an end site.
    """

    heads: Floats
    tails: Floats
    lengths: Floats
    radii: Floats
    shown: Bools
    owners: Ints
    children: Ints


def measure(skeleton: Skeleton, world: World, height: float = 0.0) -> Bones:
    """Where the bones are and how thick; ``height`` is H, 0 for the skeleton's own."""
    look = look_of(skeleton)
    size = height or look.height
    heads, tails = world.positions[look.owners], bone_tails(skeleton, look, world)
    between = tails - heads
    lengths = np.sqrt(np.einsum("bi,bi->b", between, between))
    shown = lengths > SHORTEST * size
    radii = np.minimum(np.clip(BELT * lengths, THINNEST * size, THICKEST * size), _STOUTEST * lengths)
    return Bones(heads, tails, lengths, np.where(shown, radii, 0.0), shown, look.owners, look.children)


def places(skeleton: Skeleton, bones: Bones) -> Ints:
    """(J,) of each joint the first one that is at the same place: itself unless bones of no length lie between."""
    group = look_of(skeleton).twins.copy()
    joined = ~bones.shown & (bones.children >= 0)
    group[bones.children[joined]] = bones.owners[joined]
    while True:
        above = group[group]
        if np.array_equal(above, group):
            return group
        group = above


def bone_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """BONE records of the bones that have a length."""
    look, some = look_of(scene.skeleton), np.flatnonzero(bones.shown)
    records = np.zeros(len(some), BONE)
    records["frame"] = _frames(scene.skeleton, scene.world, bones, some)
    owners = bones.owners[some]
    selected, limited, hovered = _states(scene, owners)
    colour = _mixed(_TINT[look.bone_sides[some]], limited, _LIMIT, LIMIT_SHARE)
    records["colour"][:, :3] = _mixed(colour, selected, _ACCENT, SELECTED_SHARE)
    records["colour"][:, 3] = 1.0
    records["outline"] = _outlines(selected, hovered, scale)
    if scene.stretched:
        records["dashed"] = _among(scene.stretched, len(scene.skeleton))[bones.children[some]] & (
            bones.children[some] >= 0
        )
    return records


def ghost_records(scene: Scene, ghosts: Iterable[Ghost]) -> Records:
    """BONE records of the figure at other moments."""
    parts = []
    for ghost in ghosts:
        bones = measure(scene.skeleton, ghost.world, scene.height)
        some = np.flatnonzero(bones.shown)
        records = np.zeros(len(some), BONE)
        records["frame"] = _frames(scene.skeleton, ghost.world, bones, some)
        records["colour"] = (*_GHOST, ghost.alpha)
        parts.append(records)
    return np.concatenate(parts) if parts else np.empty(0, BONE)


def joint_radii(scene: Scene, bones: Bones) -> Floats:
    """(J,) metres of each joint's sphere, before it swells: by the thickest bone that touches it."""
    radii = np.zeros(len(scene.skeleton))
    np.maximum.at(radii, bones.owners, bones.radii)
    inner = bones.children >= 0
    radii[bones.children[inner]] = np.maximum(radii[bones.children[inner]], bones.radii[inner])
    return SPHERE_PART * radii


def sphere_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """SPHERE records, one per place: joints at one place share the states and the largest radius of them all."""
    count = len(scene.skeleton)
    group = places(scene.skeleton, bones)
    selected, limited, hovered = _states(scene, np.arange(count))
    radii = joint_radii(scene, bones)
    shared = np.zeros((count, 4))
    np.maximum.at(shared, group, np.stack([radii, selected, limited, hovered], axis=1))
    some = np.flatnonzero(group == np.arange(count))
    radii = shared[some, 0]
    selected, limited, hovered = (shared[some, state] > 0.0 for state in (1, 2, 3))
    records = np.zeros(len(some), SPHERE)
    records["centre"] = scene.world.positions[some]
    records["radius"] = radii * np.where(limited, LIMIT_SWELL, np.where(selected, SELECTED_SWELL, 1.0))
    records["least_px"] = LEAST_PX * scale
    colour = SPHERE_SHARE * _TINT[look_of(scene.skeleton).sides[some]]
    colour = np.where(selected[:, None], _ACCENT, colour)
    records["colour"][:, :3] = np.where(limited[:, None], _LIMIT, colour)
    records["colour"][:, 3] = 1.0
    records["outline"] = _outlines(np.zeros_like(selected), hovered, scale)
    return records


def _states(scene: Scene, joints: Ints) -> tuple[Bools, Bools, Bools]:
    """Whether each of the joints is selected, at a limit, under the pointer."""
    count = len(scene.skeleton)
    selected, limited = _among(scene.selected, count), _among(scene.at_limit | scene.outside, count)
    return selected[joints], limited[joints], joints == scene.hovered


def _among(members: frozenset[int], count: int) -> Bools:
    flags = np.zeros(count, dtype=np.bool_)
    flags[[joint for joint in members if 0 <= joint < count]] = True
    return flags


def _mixed(colours: Floats, some: Bools, with_: Floats, share: float) -> Floats:
    return np.where(some[:, None], (1.0 - share) * colours + share * with_, colours)


def _outlines(selected: Bools, hovered: Bools, scale: float) -> Floats:
    """(N, 4) colour and width in pixels; what is under the pointer shows that first."""
    result = np.zeros((len(selected), 4))
    result[selected] = (*_ACCENT, SELECTED_PX * scale)
    result[hovered] = (*_HOVERED, HOVERED_PX * scale)
    return result


def _frames(skeleton: Skeleton, world: World, bones: Bones, some: Ints) -> Floats:
    """(N, 3, 4) world_from_unit-octahedron; the belt turns with the joint, so that a twist is seen."""
    lengths = bones.lengths[some, None]
    between = bones.tails[some] - bones.heads[some]
    along = between / lengths
    side = rotate(world.rotations[bones.owners[some]], look_of(skeleton).across[some])
    # A translation in the motion may turn the bone away from its rest direction: make them square again.
    side -= np.einsum("bi,bi->b", side, along)[:, None] * along
    length = np.sqrt(np.einsum("bi,bi->b", side, side))[:, None]
    lost = length[:, 0] < 1e-3
    side = side / np.where(length > 0.0, length, 1.0)
    if lost.any():
        side[lost] = perpendicular(along[lost])
    radii = bones.radii[some, None]
    frames = np.empty((len(some), 3, 4))
    frames[:, :, 0], frames[:, :, 1] = side * radii, between
    frames[:, :, 2], frames[:, :, 3] = np.cross(side, along) * radii, bones.heads[some]
    return frames
