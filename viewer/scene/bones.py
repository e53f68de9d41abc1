"""Records of the bones and joint spheres of a figure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.scene.look import PALETTE, SIDES, look_of, rgba
from viewer.scene.primitives import BONE, SPHERE, Lines, Records, copied
from viewer.scene.scene import Ghost, Scene
from viewer.skeleton import Skeleton, World
from viewer.skeleton.bodies import BELT
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
_LOST = 1e-3
"""Length of the part of a belt's unit vector across the bone below which another vector is taken."""


@dataclass(frozen=True, slots=True, eq=False)
class Sizes:
    """The sizes of B bones and J joints, which do not change while a figure moves.

    Attributes:
        shown: (B,) whether each bone has a length.
        drawn: (N,) indices of the bones that are drawn as such.
        radii: (B,) metres, of the belts; 0 for a bone without length.
        joints: (J,) metres: radius of each joint's sphere, without emphasis, from its thickest bone.
    """

    shown: Bools
    drawn: Ints
    radii: Floats
    joints: Floats


class Bones(NamedTuple):
    """The B bones of a figure at one moment, including bones without length.

    Attributes:
        heads, tails: (B, 3) metres.
        lengths: (B,) metres.
        spokes: (B, 3) unit vectors that orient the belts, nearly perpendicular to the bones.
        owners: (B,) the joint at its head.
        sizes: of the bones.
    """

    heads: Floats
    tails: Floats
    lengths: Floats
    spokes: Floats
    owners: Ints
    sizes: Sizes


@lru_cache(maxsize=32)
def measure(skeleton: Skeleton, world: World, height: float = 0.0) -> Bones:
    """Positions and sizes of the bones; ``height`` is H, 0 for the skeleton's own. Cached."""
    look = look_of(skeleton)
    count, inner = len(look.owners), len(look.inner)
    turned = rotate(world.rotations.take(look.turning, axis=0), look.spokes)
    heads = world.positions.take(look.owners, axis=0)
    tails = np.concatenate([world.positions.take(look.inner, axis=0), heads[inner:] + turned[count:]])
    between = tails - heads
    lengths = np.sqrt(np.einsum("bi,bi->b", between, between))
    # In 32 bits, as they are drawn, lengths stay the same while a figure moves.
    sizes = _sizes(skeleton, height or look.height, lengths.astype(np.float32).tobytes())
    return Bones(heads, tails, lengths, turned[:count], look.owners, sizes)


@lru_cache(maxsize=64)
def _sizes(skeleton: Skeleton, height: float, lengths: bytes) -> Sizes:
    look, long = look_of(skeleton), np.frombuffer(lengths, dtype=np.float32).astype(np.float64)
    shown = long > SHORTEST * height
    radii = np.minimum(np.clip(BELT * long, THINNEST * height, THICKEST * height), _STOUTEST * long)
    radii[look.carrying] = np.minimum(radii[look.carrying], THINNEST * height)
    radii = np.where(shown, radii, 0.0)
    joints = np.zeros(len(skeleton))
    np.maximum.at(joints, look.owners, radii)
    joints[look.inner] = np.maximum(joints[look.inner], radii[: len(look.inner)])
    return Sizes(shown, np.flatnonzero(shown & ~look.carrying), radii, SPHERE_PART * joints)


def _places(skeleton: Skeleton, shown: Bools) -> Ints:
    """(J,) for each joint the first joint at the same place, which bones without length connect."""
    look = look_of(skeleton)
    group = look.twins.copy()
    hidden = ~shown & (look.children >= 0)
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
        stretched: joints at the ends of bones that have another length than in the file.
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
    records = copied(plain_bones(scene.skeleton, bones.sizes, states_of(scene), scale))
    records["frame"] = frames_of(bones)
    return records


def draw_way(scene: Scene, bones: Bones, lines: Lines) -> None:
    """Dashed lines from a root on the floor to the body that it carries, which is not a bone."""
    carrying = look_of(scene.skeleton).carrying
    if carrying.any():
        some = np.flatnonzero(bones.sizes.shown & carrying)
        lines.segments(bones.heads[some], bones.tails[some], rgba("centre", _WAY_ALPHA), _WAY_PX, _WAY_DASH)


@lru_cache(maxsize=32)
def plain_bones(skeleton: Skeleton, sizes: Sizes, states: States, scale: float) -> Records:
    """BONE records without their frames."""
    look, some = look_of(skeleton), sizes.drawn
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
        records = np.zeros(len(bones.sizes.drawn), BONE)
        records["frame"] = frames_of(bones)
        records["colour"] = rgba(ghost.colour, ghost.alpha)
        parts.append(records)
    return np.concatenate(parts) if parts else np.empty(0, BONE)


def sphere_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """SPHERE records, one per place: joints at the same place share their states and the largest radius."""
    plain = plain_spheres(scene.skeleton, bones.sizes, states_of(scene), scale)
    records = copied(plain.records)
    records["centre"] = scene.world.positions.take(plain.some, axis=0)
    return records


class Spheres(NamedTuple):
    """SPHERE records (S,) without centres, and (S,) the first of the joints at each place."""

    records: Records
    some: Ints


@lru_cache(maxsize=32)
def plain_spheres(skeleton: Skeleton, sizes: Sizes, states: States, scale: float) -> Spheres:
    """SPHERE records without centres."""
    count = len(skeleton)
    group, radii = _places(skeleton, sizes.shown), np.zeros(count)
    np.maximum.at(radii, group, sizes.joints)
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
    records["radius"] = radii[some] * np.where(limited, LIMIT_SWELL, np.where(selected, SELECTED_SWELL, 1.0))
    return Spheres(records, some)


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


def frames_of(bones: Bones) -> Floats:
    """(N, 3, 4) world_from_unit-octahedron; the belt rotates with the joint, so that a twist is visible."""
    some = bones.sizes.drawn
    heads, lengths = bones.heads.take(some, axis=0), bones.lengths.take(some)[:, None]
    between, side = bones.tails.take(some, axis=0) - heads, bones.spokes.take(some, axis=0)
    along = between / lengths
    # A translated joint may change the bone's direction: make the axes orthogonal again.
    side -= np.einsum("bi,bi->b", side, along)[:, None] * along
    length = np.sqrt(np.einsum("bi,bi->b", side, side))[:, None]
    if length.min(initial=1.0) < _LOST:
        lost = length[:, 0] < _LOST
        side[lost], length[lost] = perpendicular(along[lost]), 1.0
    side *= bones.sizes.radii.take(some)[:, None] / length
    frames = np.empty((len(some), 3, 4))
    frames[:, :, 0], frames[:, :, 1], frames[:, :, 3] = side, between, heads
    (x, y, z), (u, v, w) = side.T, along.T
    frames[:, 0, 2], frames[:, 1, 2], frames[:, 2, 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return frames
