"""Records of the bones and joint spheres of a figure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.scene.look import PALETTE, SIDES, bone_tails, look_of, rgba
from viewer.scene.primitives import BONE, SPHERE, Lines, Records, copied
from viewer.scene.scene import Ghost, Scene
from viewer.skeleton import Skeleton, World
from viewer.skeleton.bone_mesh import BELT
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import perpendicular, rotate

THINNEST, THICKEST = 0.0085, 0.025
"""Radii of bones as fractions of the figure's height H."""
SHORTEST = 0.0006
"""Shorter bones, as a fraction of H, are not drawn: their ends are at the same place."""
_STOUTEST = 0.6
"""Largest radius of a bone as a fraction of its length; thicker bones would look like discs."""

_TINT = np.array([PALETTE[side] for side in SIDES])
_ACCENT, _LIMIT, _HOVERED = (np.array(PALETTE[name]) for name in ("accent", "limit", "hovered"))
SELECTED_SHARE, LIMIT_SHARE, SPHERE_SHARE = 0.55, 0.38, 0.80
SELECTED_PX, HOVERED_PX = 2.2, 1.5
SPHERE_PART, LEAST_PX = 0.62, 2.5
SELECTED_SWELL, LIMIT_SWELL = 1.12, 1.15
_WAY_PX, _WAY_ALPHA, _WAY_DASH = 1.2, 0.5, (4.0, 4.0)


class Bones(NamedTuple):
    """The B bones of a figure at one moment, including bones without length.

    Attributes:
        heads, tails: (B, 3) metres.
        lengths, radii: (B,) metres; the radius is that of the belt, 0 for a bone without length.
        shown: (B,) whether the bone has a length.
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


@lru_cache(maxsize=32)
def measure(skeleton: Skeleton, world: World, height: float = 0.0) -> Bones:
    """Positions and radii of the bones; ``height`` is H, 0 for the skeleton's own. Cached."""
    look = look_of(skeleton)
    size = height or look.height
    heads, tails = world.positions[look.owners], bone_tails(skeleton, look, world)
    between = tails - heads
    lengths = np.sqrt(np.einsum("bi,bi->b", between, between))
    shown = lengths > SHORTEST * size
    radii = np.minimum(np.clip(BELT * lengths, THINNEST * size, THICKEST * size), _STOUTEST * lengths)
    radii[look.carrying] = np.minimum(radii[look.carrying], THINNEST * size)
    return Bones(heads, tails, lengths, np.where(shown, radii, 0.0), shown, look.owners, look.children)


@lru_cache(maxsize=32)
def _places(skeleton: Skeleton, shown: bytes) -> Ints:
    """(J,) for each joint the first joint at the same place, which bones without length connect."""
    look = look_of(skeleton)
    group = look.twins.copy()
    hidden = ~np.frombuffer(shown, dtype=np.bool_) & (look.children >= 0)
    group[look.children[hidden]] = look.owners[hidden]
    while True:
        above = group[group]
        if np.array_equal(above, group):
            return group
        group = above


class States(NamedTuple):
    """The states that determine a figure's colours and do not change while it moves.

    Attributes:
        selected: joints that are selected.
        limited: joints at a limit or beyond it.
        hovered: the joint under the pointer, -1 for none.
        stretched: joints whose bone to the parent has another length than in the file.
    """

    selected: frozenset[int]
    limited: frozenset[int]
    hovered: int
    stretched: frozenset[int]


def states_of(scene: Scene) -> States:
    """The states of a scene's figure."""
    return States(scene.selected, scene.at_limit | scene.outside, scene.hovered, scene.stretched)


def bone_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """BONE records of the bones that have a length."""
    drawn = bones.shown & ~look_of(scene.skeleton).carrying
    records = plain_bones(scene.skeleton, drawn.tobytes(), states_of(scene), scale)
    records = copied(records)
    records["frame"] = frames_of(scene.skeleton, scene.world, bones, np.flatnonzero(drawn))
    return records


def draw_way(scene: Scene, bones: Bones, lines: Lines) -> None:
    """Dashed lines from a root on the floor to the body that it carries, which is not a bone."""
    some = np.flatnonzero(bones.shown & look_of(scene.skeleton).carrying)
    if len(some):
        lines.segments(bones.heads[some], bones.tails[some], rgba("centre", _WAY_ALPHA), _WAY_PX, _WAY_DASH)


@lru_cache(maxsize=32)
def plain_bones(skeleton: Skeleton, shown: bytes, states: States, scale: float) -> Records:
    """BONE records without their frames."""
    look, some = look_of(skeleton), np.flatnonzero(np.frombuffer(shown, dtype=np.bool_))
    records = np.zeros(len(some), BONE)
    owners, children = look.owners[some], look.children[some]
    selected, limited, hovered = flags(len(skeleton), states, owners)
    colour = mixed(_TINT[look.bone_sides[some]], limited, _LIMIT, LIMIT_SHARE)
    records["colour"][:, :3] = mixed(colour, selected, _ACCENT, SELECTED_SHARE)
    records["colour"][:, 3] = 1.0
    records["outline"] = outlines(selected, hovered, scale)
    records["dashed"] = _among(states.stretched, len(skeleton))[children] & (children >= 0)
    return records


def ghost_records(scene: Scene, ghosts: Iterable[Ghost]) -> Records:
    """BONE records of the figure at other moments."""
    parts = []
    for ghost in ghosts:
        bones = measure(scene.skeleton, ghost.world, scene.height)
        some = np.flatnonzero(bones.shown & ~look_of(scene.skeleton).carrying)
        records = np.zeros(len(some), BONE)
        records["frame"] = frames_of(scene.skeleton, ghost.world, bones, some)
        records["colour"] = rgba(ghost.colour, ghost.alpha)
        parts.append(records)
    return np.concatenate(parts) if parts else np.empty(0, BONE)


def joint_radii(skeleton: Skeleton, bones: Bones) -> Floats:
    """(J,) metres: radius of each joint's sphere, without emphasis, from its thickest bone."""
    radii = np.zeros(len(skeleton))
    np.maximum.at(radii, bones.owners, bones.radii)
    inner = bones.children >= 0
    radii[bones.children[inner]] = np.maximum(radii[bones.children[inner]], bones.radii[inner])
    return SPHERE_PART * radii


def sphere_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """SPHERE records, one per place: joints at the same place share their states and the largest radius."""
    plain = plain_spheres(scene.skeleton, bones.shown.tobytes(), states_of(scene), scale)
    radii = np.zeros(len(scene.skeleton))
    np.maximum.at(radii, plain.group, joint_radii(scene.skeleton, bones))
    records = copied(plain.records)
    records["centre"] = scene.world.positions[plain.some]
    records["radius"] = radii[plain.some] * plain.swell
    return records


class Spheres(NamedTuple):
    """SPHERE records (S,) without centres and radii.

    Attributes:
        records: the spheres.
        some: (S,) the first of the joints at each place.
        group: (J,) the first of the joints at the place of each.
        swell: (S,) factor of each radius, for emphasis.
    """

    records: Records
    some: Ints
    group: Ints
    swell: Floats


@lru_cache(maxsize=32)
def plain_spheres(skeleton: Skeleton, shown: bytes, states: States, scale: float) -> Spheres:
    """SPHERE records without centres and radii."""
    count = len(skeleton)
    group = _places(skeleton, shown)
    shared = np.zeros((count, 3))
    np.maximum.at(shared, group, np.stack(flags(count, states, np.arange(count)), axis=1))
    some = np.flatnonzero(group == np.arange(count))
    selected, limited, hovered = (shared[some, state] > 0.0 for state in range(3))
    records = np.zeros(len(some), SPHERE)
    records["least_px"] = LEAST_PX * scale
    colour = SPHERE_SHARE * _TINT[look_of(skeleton).sides[some]]
    colour = np.where(selected[:, None], _ACCENT, colour)
    records["colour"][:, :3] = np.where(limited[:, None], _LIMIT, colour)
    records["colour"][:, 3] = 1.0
    records["outline"] = outlines(np.zeros_like(selected), hovered, scale)
    return Spheres(records, some, group, np.where(limited, LIMIT_SWELL, np.where(selected, SELECTED_SWELL, 1.0)))


def flags(count: int, states: States, joints: Ints) -> tuple[Bools, Bools, Bools]:
    """Whether each of the joints is selected, at a limit, under the pointer."""
    selected, limited = _among(states.selected, count), _among(states.limited, count)
    return selected[joints], limited[joints], joints == states.hovered


def _among(members: frozenset[int], count: int) -> Bools:
    flags = np.zeros(count, dtype=np.bool_)
    flags[[joint for joint in members if 0 <= joint < count]] = True
    return flags


def mixed(colours: Floats, some: Bools, with_: Floats, share: float) -> Floats:
    """Colours (N, 3); a share of another colour is mixed into some (N,) of them."""
    return np.where(some[:, None], (1.0 - share) * colours + share * with_, colours)


def outlines(selected: Bools, hovered: Bools, scale: float) -> Floats:
    """(N, 4) colour and width in pixels; hovering has priority over selection."""
    result = np.zeros((len(selected), 4))
    result[selected] = (*_ACCENT, SELECTED_PX * scale)
    result[hovered] = (*_HOVERED, HOVERED_PX * scale)
    return result


def frames_of(skeleton: Skeleton, world: World, bones: Bones, some: Ints) -> Floats:
    """(N, 3, 4) world_from_unit-octahedron; the belt rotates with the joint, so that a twist is visible."""
    lengths = bones.lengths[some, None]
    between = bones.tails[some] - bones.heads[some]
    along = between / lengths
    side = rotate(world.rotations[bones.owners[some]], look_of(skeleton).across[some])
    # A translated joint may change the bone's direction: make the axes orthogonal again.
    side -= np.einsum("bi,bi->b", side, along)[:, None] * along
    length = np.sqrt(np.einsum("bi,bi->b", side, side))[:, None]
    lost = length[:, 0] < 1e-3
    side = side / np.where(length > 0.0, length, 1.0)
    if lost.any():
        side[lost] = perpendicular(along[lost])
    radii = bones.radii[some, None]
    frames = np.empty((len(some), 3, 4))
    frames[:, :, 0], frames[:, :, 1], frames[:, :, 3] = side * radii, between, bones.heads[some]
    over = side[:, [1, 2, 0]] * along[:, [2, 0, 1]] - side[:, [2, 0, 1]] * along[:, [1, 2, 0]]  # side x along
    frames[:, :, 2] = over * radii
    return frames
