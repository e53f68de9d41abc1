"""The solid things of a scene as records: bones and joint spheres, bodies, skins, props; other figures are dimmed.

Close bodies darken each other. A capsule of radius r at a distance d from a point, its axis at an angle to the surface
normal with this cosine, takes ``0.7 cosine (r / d)²`` of the point's light: what a ball of that radius hides of an even
sky. The shader computes it at every pixel, for the few capsules that matter there, which `occluders_of` chooses.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.ik.contact import Box, Mesh, Sphere, surface_of
from viewer.scene.look import PALETTE, SIDES, look_of, rgba
from viewer.scene.primitives import BONE, CAPSULE, SOLID, SPHERE, Lines, Records, SkinDraw, Text, copied
from viewer.scene.scene import Ghost, OtherFigure, PropShape, Scene
from viewer.skeleton import Skeleton, Skin, World, bodies_of
from viewer.skeleton.attached import Singles
from viewer.skeleton.bodies import BELT
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import dot, face_normals, norm, perpendicular, rotate

_THINNEST, _THICKEST = 0.0085, 0.025
"""Radii of bones as fractions of the figure's height H."""
_SHORTEST = 0.0006
"""Shorter bones, as a fraction of H, are not drawn: their ends are at the same place."""
_STOUTEST = 0.6
"""Largest radius of a bone as a fraction of its length; thicker bones would look like discs."""

_TINT = np.array([PALETTE[side] for side in SIDES])
_ACCENT, _LIMIT, _HOVERED, _CENTRE = (np.array(PALETTE[name]) for name in ("accent", "limit", "hovered", "centre"))
_SELECTED_SHARE, _LIMIT_SHARE, _SPHERE_SHARE = 0.55, 0.38, 0.80
_SELECTED_PX, _HOVERED_PX = 2.2, 1.5
_SPHERE_PART, _LEAST_PX = 0.62, 2.5
_SELECTED_SWELL, _LIMIT_SWELL = 1.12, 1.15
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
    lengths = norm(between)
    # In 32 bits, as they are drawn, lengths stay the same while a figure moves.
    sizes = _sizes(skeleton, height or look.height, lengths.astype(np.float32).tobytes())
    return Bones(heads, tails, lengths, turned[:count], look.owners, sizes)


@lru_cache(maxsize=64)
def _sizes(skeleton: Skeleton, height: float, lengths: bytes) -> Sizes:
    look, long = look_of(skeleton), np.frombuffer(lengths, dtype=np.float32).astype(np.float64)
    shown = long > _SHORTEST * height
    radii = np.minimum(np.clip(BELT * long, _THINNEST * height, _THICKEST * height), _STOUTEST * long)
    radii[look.carrying] = np.minimum(radii[look.carrying], _THINNEST * height)
    radii = np.where(shown, radii, 0.0)
    joints = np.zeros(len(skeleton))
    np.maximum.at(joints, look.owners, radii)
    joints[look.inner] = np.maximum(joints[look.inner], radii[: len(look.inner)])
    return Sizes(shown, np.flatnonzero(shown & ~look.carrying), radii, _SPHERE_PART * joints)


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


class _States(NamedTuple):
    """The states that determine a figure's colours and do not change while it moves.

    ``limited``: at a limit or beyond it; ``hovered``: the joint under the pointer, -1 for none; ``stretched``: at the
    ends of bones that have another length than in the file.
    """

    selected: frozenset[int]
    limited: frozenset[int]
    hovered: int
    stretched: frozenset[int]


def _states_of(scene: Scene) -> _States:
    return _States(scene.selected, scene.at_limit | scene.outside, scene.hovered, scene.stretched)


def bone_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """BONE records of the bones that have a length."""
    records = copied(_plain_bones(scene.skeleton, bones.sizes, _states_of(scene), scale))
    records["frame"] = _frames_of(bones)
    return records


def draw_way(scene: Scene, bones: Bones, lines: Lines) -> None:
    """Dashed lines from a root on the floor to the body that it carries, which is not a bone."""
    carrying = look_of(scene.skeleton).carrying
    if carrying.any():
        some = np.flatnonzero(bones.sizes.shown & carrying)
        lines.segments(bones.heads[some], bones.tails[some], rgba("centre", _WAY_ALPHA), _WAY_PX, _WAY_DASH)


@lru_cache(maxsize=32)
def _plain_bones(skeleton: Skeleton, sizes: Sizes, states: _States, scale: float) -> Records:
    """BONE records without their frames."""
    look, some = look_of(skeleton), sizes.drawn
    records = np.zeros(len(some), BONE)
    owners, children = look.owners[some], look.children[some]
    selected, limited, hovered = _flags(len(skeleton), states, owners)
    colour = _mixed(_TINT[look.bone_sides[some]], limited, _LIMIT, _LIMIT_SHARE)
    records["colour"][:, :3] = _mixed(colour, selected, _ACCENT, _SELECTED_SHARE)
    records["colour"][:, 3] = 1.0
    records["outline"] = _outlines(selected, hovered, scale)
    records["dashed"] = _among(states.stretched, len(skeleton))[children] & (children >= 0)
    return records


def ghost_records(scene: Scene, ghosts: Iterable[Ghost]) -> Records:
    """BONE records of the figure at other moments."""
    parts = []
    for ghost in ghosts:
        bones = measure(scene.skeleton, ghost.world, scene.height)
        records = np.zeros(len(bones.sizes.drawn), BONE)
        records["frame"] = _frames_of(bones)
        records["colour"] = rgba(ghost.colour, ghost.alpha)
        parts.append(records)
    return np.concatenate(parts) if parts else np.empty(0, BONE)


def sphere_records(scene: Scene, bones: Bones, scale: float) -> Records:
    """SPHERE records, one per place: joints at the same place share their states and the largest radius."""
    plain = _plain_spheres(scene.skeleton, bones.sizes, _states_of(scene), scale)
    records = copied(plain.records)
    records["centre"] = scene.world.positions.take(plain.some, axis=0)
    return records


class _Spheres(NamedTuple):
    """SPHERE records (S,) without centres, and (S,) the first of the joints at each place."""

    records: Records
    some: Ints


@lru_cache(maxsize=32)
def _plain_spheres(skeleton: Skeleton, sizes: Sizes, states: _States, scale: float) -> _Spheres:
    """SPHERE records without centres."""
    count = len(skeleton)
    group, radii = _places(skeleton, sizes.shown), np.zeros(count)
    np.maximum.at(radii, group, sizes.joints)
    shared = np.zeros((count, 3))
    np.maximum.at(shared, group, np.stack(_flags(count, states, np.arange(count)), axis=1))
    some = np.flatnonzero(group == np.arange(count))
    selected, limited, hovered = (shared[some, state] > 0.0 for state in range(3))
    records = np.zeros(len(some), SPHERE)
    records["least_px"] = _LEAST_PX * scale
    colour = _SPHERE_SHARE * _TINT[look_of(skeleton).sides[some]]
    colour = np.where(selected[:, None], _ACCENT, colour)
    records["colour"][:, :3] = np.where(limited[:, None], _LIMIT, colour)
    records["colour"][:, 3] = 1.0
    records["outline"] = _outlines(np.zeros_like(selected), hovered, scale)
    records["radius"] = radii[some] * np.where(limited, _LIMIT_SWELL, np.where(selected, _SELECTED_SWELL, 1.0))
    return _Spheres(records, some)


def _flags(count: int, states: _States, joints: Ints) -> tuple[Bools, Bools, Bools]:
    """Whether each of the joints is selected, at a limit, under the pointer."""
    selected, limited = _among(states.selected, count), _among(states.limited, count)
    return selected[joints], limited[joints], joints == states.hovered


def _among(members: frozenset[int], count: int) -> Bools:
    flags = np.zeros(count, dtype=np.bool_)
    flags[[joint for joint in members if 0 <= joint < count]] = True
    return flags


def _mixed(colours: Floats, some: Bools, with_: Floats, share: float) -> Floats:
    """Colours (N, 3); a share of another colour is mixed into some (N,) of them."""
    return np.where(some[:, None], (1.0 - share) * colours + share * with_, colours)


def _outlines(selected: Bools, hovered: Bools, scale: float) -> Floats:
    """(N, 4) colour and width in pixels; hovering has priority over selection."""
    result = np.zeros((len(selected), 4))
    result[selected] = (*_ACCENT, _SELECTED_PX * scale)
    result[hovered] = (*_HOVERED, _HOVERED_PX * scale)
    return result


def _frames_of(bones: Bones) -> Floats:
    """(N, 3, 4) world_from_unit-octahedron; the belt rotates with the joint, so that a twist is visible."""
    some = bones.sizes.drawn
    heads, lengths = bones.heads.take(some, axis=0), bones.lengths.take(some)[:, None]
    between, side = bones.tails.take(some, axis=0) - heads, bones.spokes.take(some, axis=0)
    along = between / lengths
    # A translated joint may change the bone's direction: make the axes orthogonal again.
    side -= dot(side, along)[:, None] * along
    length = norm(side)[:, None]
    if length.min(initial=1.0) < _LOST:
        lost = length[:, 0] < _LOST
        side[lost], length[lost] = perpendicular(along[lost]), 1.0
    side *= bones.sizes.radii.take(some)[:, None] / length
    frames = np.empty((len(some), 3, 4))
    frames[:, :, 0], frames[:, :, 1], frames[:, :, 3] = side, between, heads
    (x, y, z), (u, v, w) = side.T, along.T
    frames[:, 0, 2], frames[:, 1, 2], frames[:, 2, 2] = y * w - z * v, z * u - x * w, x * v - y * u
    return frames


# --- bodies, props, skins

_SEEN_THROUGH = 0.35
"""Opacity of bodies that show the bones in them."""
_FLARE_SHARE, _FLARE_SLOPE = 0.6, 0.25
"""A body is drawn wider at its start by at most these parts of its radius and of its length."""
_RING_PX, _RING_CORNERS = 2.0, 40
_LIFT = 0.0015
"""Height of a ring over the surface, relative to the figure's height: at 0 it would flicker."""
_HOVERED_SHARE = 0.35
_LABEL, _ASIDE = 13, 8.0


def body_records(scene: Scene, scale: float) -> Records:
    """CAPSULE records of the figure's bodies; translucent if the bones are to be seen through them."""
    if not scene.display.bodies:
        return np.empty(0, CAPSULE)
    records = _plain_bodies(scene.skeleton, _states_of(scene), scene.display.see_through, scale).copy()
    table = bodies_of(scene.skeleton).table
    records["a"], records["b"] = table.ends(scene.world.positions, scene.world.rotations)
    return records


@lru_cache(maxsize=8)
def _plain_bodies(skeleton: Skeleton, states: _States, through: bool, scale: float) -> Records:
    """CAPSULE records without their places: side tints, states as of bones."""
    table = bodies_of(skeleton).table
    records = np.zeros(len(table.joint), CAPSULE)
    selected, limited, hovered = _flags(len(skeleton), states, table.joint)
    colour = _mixed(_TINT[_sides(skeleton)], limited, _LIMIT, _LIMIT_SHARE)
    records["radius"] = table.radius
    records["flare"] = _flares(skeleton)
    records["colour"][:, :3] = _mixed(colour, selected, _ACCENT, _SELECTED_SHARE)
    records["colour"][:, 3] = _SEEN_THROUGH if through else 1.0
    records["outline"] = _outlines(selected, hovered, scale)
    return records


@lru_cache(maxsize=8)
def _flares(skeleton: Skeleton) -> Floats:
    """(C,) metres by which each body is drawn wider at the joint where it starts.

    There it is as wide as the thickest body at that joint, and it narrows to its own radius. So the figure is drawn
    without steps, never thinner than the capsules that the solver uses, and no thicker at the joints. Slopes and shares
    are limited: a finger does not start as wide as the hand.
    """
    table, places = bodies_of(skeleton).table, look_of(skeleton).twins
    starts = (table.a == 0.0).all(axis=1)
    thickest = np.zeros(len(skeleton))
    np.maximum.at(thickest, places[table.joint[starts]], table.radius[starts])
    for joint, end, radius in zip(table.joint, table.b, table.radius, strict=True):
        at = places[(skeleton.parents == joint) & (skeleton.offsets == end).all(axis=1)]
        thickest[at] = np.maximum(thickest[at], radius)
    length = np.linalg.norm(table.b - table.a, axis=1)
    most = np.minimum(_FLARE_SHARE * table.radius, _FLARE_SLOPE * length)
    return np.where(starts, np.clip(thickest[places[table.joint]] - table.radius, 0.0, most), 0.0)


@lru_cache(maxsize=8)
def _sides(skeleton: Skeleton) -> Ints:
    """(C,) index into `SIDES` of each body: that of the joint at its end, else of its own."""
    sides, found = look_of(skeleton).sides, []
    for one in bodies_of(skeleton).capsules:
        ends = np.flatnonzero((skeleton.parents == one.joint) & (skeleton.offsets == one.b).all(axis=1))
        found.append(sides[ends[0] if len(ends) else one.joint])
    return np.array(found, dtype=np.intp)


@lru_cache(maxsize=8)
def ball_records(props: tuple[PropShape, ...], scale: float) -> Records:
    """CAPSULE records of the spheres among the props."""
    balls = [prop for prop in props if isinstance(prop.solid, Sphere)]
    records = np.zeros(len(balls), CAPSULE)
    for record, prop in zip(records, balls, strict=True):
        assert isinstance(prop.solid, Sphere)
        record["a"] = record["b"] = prop.solid.center
        record["radius"] = prop.solid.radius
        record["colour"] = _colour(prop)
        tone, width = ("hovered", _HOVERED_PX) if prop.hovered else ("accent", _SELECTED_PX)
        record["outline"] = (*PALETTE[tone], width * scale) if prop.hovered or prop.selected else 0.0
    return records


def _colour(prop: PropShape) -> tuple[float, ...]:
    """The tint of the body's middle, mixed with that of its state."""
    share, tone = (_HOVERED_SHARE, _HOVERED) if prop.hovered else (_SELECTED_SHARE if prop.selected else 0.0, _ACCENT)
    return (*((1.0 - share) * _CENTRE + share * tone).tolist(), 1.0)


@lru_cache(maxsize=8)
def solid_records(props: tuple[PropShape, ...]) -> Records:
    """SOLID records of the boxes and meshes among the props."""
    parts = [np.empty(0, SOLID)]
    for prop in props:
        if prop.solid is None or isinstance(prop.solid, Sphere):
            continue
        corners = triangles_of(prop.solid)
        records = np.empty(corners.shape[:2], SOLID)
        records["position"] = corners
        records["normal"] = face_normals(corners)[:, None]
        records["colour"] = _colour(prop)
        parts.append(records.reshape(-1))
    return np.concatenate(parts)


@lru_cache(maxsize=32)
def triangles_of(solid: Box | Mesh) -> Floats:
    """(F, 3, 3) corners of the triangles of a box or mesh, metres, world frame."""
    corners, faces = surface_of(solid)
    placed: Floats = rotate(np.array(solid.rotation), corners) + solid.center
    return np.asarray(placed[faces])


def draw_touches(scene: Scene, projection: Projection, scale: float, lines: Lines) -> list[Text]:
    """Add a white ring, flat on the surface, for each touch; return the words beside them."""
    words = []
    lift = _LIFT * (scene.height or look_of(scene.skeleton).height)
    for touch in scene.touches:
        points = _ring(touch.point + lift * touch.normal, touch.normal, touch.radius)
        lines.curve(points, rgba("effector"), _RING_PX)
        if not touch.label:
            continue
        pixels = projection.project(points)
        right = pixels[np.argmax(pixels[:, 0])] if np.isfinite(pixels).all() else np.array((math.nan, math.nan))
        if projection.depth(touch.point) > 0.0 and np.isfinite(right).all():
            x, y = right.tolist()
            words.append(Text(touch.label, x + _ASIDE * scale, y, rgba("text"), _LABEL))
    return words


def _ring(centre: Floats, normal: Floats, radius: float) -> Floats:
    """(N, 3) a closed circle across a unit normal."""
    side = perpendicular(normal)
    other = np.cross(normal, side)
    turn = np.linspace(0.0, 2.0 * math.pi, _RING_CORNERS + 1)[:, None]
    return np.asarray(centre + radius * (np.cos(turn) * side + np.sin(turn) * other))


_SELECTED = 0.12
"""Strength of the accent colour on what follows selected joints alone."""


@lru_cache(maxsize=8)
def _spheres_of(skin: Skin) -> tuple[Floats, Floats]:
    """Balls round the vertices that each binding moves.

    A vertex between several joints is a mean of points, each of which is within the ball of its binding.

    Returns:
        Centres (B, 4) in the mesh's frame, with a 1 as the last number, and radii (B,) in metres, negative for bindings
        that move nothing.
    """
    count = len(skin.joints)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    for mesh in skin.meshes:
        for column in range(mesh.bindings.shape[1]):
            moves = np.flatnonzero(mesh.weights[:, column] > 0.0)
            if not moves.size:
                continue
            moves = moves[np.argsort(mesh.bindings[moves, column], kind="stable")]
            # Runs of one binding each: `minimum.at` takes ten times as long.
            bindings, begins = np.unique(mesh.bindings[moves, column], return_index=True)
            points = mesh.positions[moves]
            low[bindings] = np.minimum(low[bindings], np.minimum.reduceat(points, begins))
            high[bindings] = np.maximum(high[bindings], np.maximum.reduceat(points, begins))
    used = low[:, 0] <= high[:, 0]
    low[~used], high[~used] = 0.0, 0.0
    scale = np.linalg.norm(skin.transforms[:, :, :3], ord=2, axis=(1, 2))
    radii = np.where(used, 0.5 * np.linalg.norm(high - low, axis=1) * scale, -1.0)
    return np.concatenate([0.5 * (low + high), np.ones((count, 1))], axis=1), radii


@lru_cache(maxsize=8)
def _is_mirrored(skin: Skin) -> bool:
    return bool((np.linalg.det(skin.transforms[:, :, :3]) < 0.0).any())


@lru_cache(maxsize=4)
def skin_draws(scene: Scene) -> tuple[SkinDraw, ...]:
    """The skin of a scene's figure, tinted where it follows selected joints."""
    if scene.skin is None:
        return ()
    accents = np.zeros(len(scene.skin.joints), dtype=np.float32)
    accents[np.isin(scene.skin.joints, list(scene.selected))] = _SELECTED
    opacity = _SEEN_THROUGH if scene.display.see_through else 1.0
    return (_draw(scene.skin, scene.world, scene.size, accents, opacity),)


@lru_cache(maxsize=16)
def other_skin(other: OtherFigure) -> SkinDraw | None:
    """The skin of a figure that is not active; None without one."""
    if other.skin is None:
        return None
    accents = np.full(len(other.skin.joints), _SELECTED if other.hovered else 0.0, dtype=np.float32)
    return _draw(other.skin, other.world, other.size, accents, 1.0)


def _draw(skin: Skin, world: World, size: Floats | None, accents: Singles, opacity: float) -> SkinDraw:
    matrices = skin.matrices(world.positions, world.rotations, size)
    centres, radii = _spheres_of(skin)
    moving = radii >= 0.0
    spheres = np.concatenate([np.einsum("bij,bj->bi", matrices, centres), radii[:, None]], axis=1)[moving]
    return SkinDraw(
        skin=skin,
        matrices=matrices.astype(np.float32),
        accents=accents,
        spheres=spheres,
        bare=PALETTE["centre"],
        opacity=opacity,
        mirrored=_is_mirrored(skin),
    )


# --- other figures

_TINT_SHARE, _GHOST_SHARE = 0.38, 0.30
"""Shares of a figure's own colours and of the ghosts' in a dimmed colour; the rest is the background's."""
_REST = (1.0 - _TINT_SHARE - _GHOST_SHARE) * np.array(PALETTE["bg_bot"]) + _GHOST_SHARE * np.array(PALETTE["ghost"])
_UNTOUCHED = _States(frozenset(), frozenset(), -1, frozenset())


def other_sticks(other: OtherFigure, scale: float) -> tuple[Records, Records]:
    """BONE and SPHERE records of a figure, dimmed."""
    height = look_of(other.skeleton).height
    bones = measure(other.skeleton, other.world, height)
    sticks = copied(_dimmed_bones(other.skeleton, bones.sizes, other.hovered, scale))
    sticks["frame"] = _frames_of(bones)
    plain = _plain_spheres(other.skeleton, bones.sizes, _UNTOUCHED, scale)
    balls = copied(plain.records)
    balls["centre"] = other.world.positions[plain.some]
    balls["colour"][:, :3] = _dimmed(balls["colour"][:, :3])
    return sticks, balls


@lru_cache(maxsize=32)
def _dimmed_bones(skeleton: Skeleton, sizes: Sizes, hovered: bool, scale: float) -> Records:
    records = copied(_plain_bones(skeleton, sizes, _UNTOUCHED, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    if hovered:
        records["outline"] = (*_HOVERED, _HOVERED_PX * scale)
    return records


def other_bodies(other: OtherFigure, scale: float) -> Records:
    """CAPSULE records of a figure's bodies, dimmed."""
    table = bodies_of(other.skeleton).table
    records = copied(_plain_bodies(other.skeleton, _UNTOUCHED, False, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    records["a"], records["b"] = table.ends(other.world.positions, other.world.rotations)
    if other.hovered:
        records["outline"] = (*_HOVERED, _HOVERED_PX * scale)
    return records if len(records) else np.empty(0, CAPSULE)


def _dimmed(colours: Floats) -> Floats:
    return _TINT_SHARE * colours + _REST


# --- how bodies darken each other

OCCLUDERS = 6
"""Most capsules that darken one."""
MOST_SHADED = 256
"""Figures with more capsules are not shaded: choosing the occluders takes time with the square of their number."""
_LEAST = 0.06
"""A capsule that takes less of another's light is ignored."""


def no_occluders(count: int) -> Ints:
    """(C, 6) the result of `occluders_of` where nothing darkens anything."""
    return np.full((count, OCCLUDERS), -1)


def occluders_of(capsules: Records) -> Ints:
    """(C, 6) rows of the capsules that darken each of the CAPSULE records most, the strongest first; -1 for none."""
    count = len(capsules)
    chosen = no_occluders(count)
    if not 1 < count <= MOST_SHADED:
        return chosen
    strength = _strengths(capsules)
    order = np.argsort(-strength, axis=1, kind="stable")[:, :OCCLUDERS]
    found = np.take_along_axis(strength, order, axis=1) >= _LEAST
    chosen[:, : order.shape[1]] = np.where(found, order, -1)
    return chosen


def axes_of(capsules: Records) -> Singles:
    """(C, 2, 4) both ends of the capsules' axes and the radii there, metres."""
    axes = np.empty((len(capsules), 2, 4), np.float32)
    axes[:, 0, :3], axes[:, 1, :3] = capsules["a"], capsules["b"]
    axes[:, 0, 3], axes[:, 1, 3] = capsules["radius"] + capsules["flare"], capsules["radius"]
    return axes


def _strengths(capsules: Records) -> Floats:
    """(C, C) the light that each capsule (column) may take of another (row); 0 of its own.

    The distance is that of the nearest of five points of the row's axis, which is enough to choose by.
    """
    a, b = capsules["a"].astype(np.float64), capsules["b"].astype(np.float64)
    radius = capsules["radius"].astype(np.float64)
    way = b - a
    points = a[:, None] + np.linspace(0.0, 1.0, 5)[:, None] * way[:, None]
    length2 = dot(way, way)
    part = (points @ way.T - dot(a, way)) / np.where(length2 > 0.0, length2, 1.0)
    part = np.clip(part, 0.0, 1.0)
    # |p - a - t w|² from products that are computed already
    from_a = dot(points, points)[..., None] - 2.0 * points @ a.T + dot(a, a)
    along = points @ way.T - dot(a, way)
    distance2 = from_a - 2.0 * part * along + part**2 * length2
    nearest = np.sqrt(np.maximum(distance2.min(axis=1), 0.0)) - radius[:, None]
    strength = 0.7 * np.minimum(radius / np.maximum(nearest, radius), 1.0) ** 2
    # Where one continues straight from the other, its surface does not face the other.
    unit = way / np.sqrt(np.where(length2 > 0.0, length2, 1.0))[:, None]
    follows = np.abs(b[:, None] - a).max(axis=-1) < 1e-6
    strength *= np.where(follows | follows.T, 0.5 * (1.0 - unit @ unit.T), 1.0)
    # A capsule that starts inside darkens only the rim of the place where it comes out.
    strength *= np.where(nearest < 0.0, 0.5, 1.0)
    np.fill_diagonal(strength, 0.0)
    return np.asarray(strength)
