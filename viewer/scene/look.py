"""Colours, and a skeleton's bones, sides, sizes and directions, computed once for drawing it in every frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from viewer.formats.lab_report import CURVES
from viewer.skeleton import Character, Skeleton, Skin, World, find_figure, fk, rest_world, tip_positions
from viewer.skeleton.attached import WORLD
from viewer.skeleton.figure import body_path
from viewer.skeleton.names import body_part
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.quaternion import perpendicular

RGB = tuple[float, float, float]
RGBA = tuple[float, float, float, float]

_HEX = {
    # Surfaces.
    "app": "#141619", "panel": "#1C1F23", "raised": "#24282D",
    "field": "#2D3238", "field_hi": "#3A4048", "field_on": "#47505A",
    "line": "#33383F", "line_hi": "#4A525C",
    "bg_top": "#2F343A", "bg_bot": "#1A1D20", "halo": "#0E1012",
    # Words.
    "text": "#E8EAED", "text2": "#ABB2BB", "text3": "#949CA6",
    # States.
    "accent": "#5AD7F2", "selected": "#5AD7F2", "accent_dk": "#22505C", "on_accent": "#081318",
    "hovered": "#FFF08A", "effector": "#F4F6F8", "target": "#A678FF", "pinned": "#A678FF",
    "unreached": "#FFB224", "warn": "#FFB224", "limit": "#FF5C9E",
    "ok": "#5CCB8A", "err": "#FF6B6B", "record": "#FF4D4D",
    # The scene.
    "grid": "#6B7480", "grid_major": "#8A94A0", "ghost": "#B0BBC8",
    "x": "#FF6670", "y": "#86CF4A", "z": "#5E9CFF",
    "left": "#86A6C6", "right": "#D3A27C", "centre": "#BCC2CA",
    **{curve.ink: curve.colour for curve in CURVES},
}  # fmt: skip


def _rgb(text: str) -> RGB:
    red, green, blue = bytes.fromhex(text[1:])
    return red / 255, green / 255, blue / 255


PALETTE: Mapping[str, RGB] = MappingProxyType({name: _rgb(text) for name, text in _HEX.items()})
"""Red, green and blue in 0 .. 1, in the display's encoding, not linear."""


@lru_cache(maxsize=1024)
def rgba(name: str, alpha: float = 1.0) -> RGBA:
    """A colour of the palette with an opacity; a KeyError for an unknown colour."""
    red, green, blue = PALETTE[name]
    return red, green, blue, alpha


FLAT_RIG = 0.2
"""A rest pose whose height is below this fraction of its largest side lies flat; its height is not its size."""

SIDES = ("centre", "left", "right")


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """Tables of one skeleton, made by `look_of`. B bones: one per joint with a parent, then one per end site.

    Attributes:
        height: H, metres.
        owners: (B,) the joint at each bone's head, which rotates it.
        children: (B,) the joint at its tail, -1 for end sites.
        inner: (C,) the joints at the tails of the first C bones; the other bones lead to end sites.
        turning: (B + T,) the joints that rotate `spokes`.
        spokes: (B + T, 3) in their frames: of each bone a unit vector perpendicular to it, which orients its belt; then
            the offsets of the end sites.
        bone_sides: (B,) index into `SIDES` of each bone.
        sides: (J,) index into `SIDES` of each joint.
        twins: (J,) the first joint with the same parent and offset, mostly the joint itself.
        main: (J,) the first bone with a length that the joint owns, which shows its rotation; -1 for none.
        carrying: (B,) the bone leads from a root to the body and is no part of it.
    """

    height: float
    owners: Ints
    children: Ints
    inner: Ints
    turning: Ints
    spokes: Floats
    bone_sides: Ints
    sides: Ints
    twins: Ints
    main: Ints
    carrying: Bools


@lru_cache(maxsize=32)
def look_of(skeleton: Skeleton) -> Look:
    """The tables of a skeleton, cached."""
    children = np.flatnonzero(skeleton.parents >= 0)
    owners = np.concatenate([skeleton.parents[children], skeleton.tip_parents])
    offsets = np.concatenate([skeleton.offsets[children], skeleton.tip_offsets])
    height = _height(skeleton)
    sides = _sides(skeleton)
    far = np.concatenate([children, skeleton.tip_parents])
    lengths = np.linalg.norm(offsets, axis=1)
    return Look(
        height=height,
        owners=owners,
        children=np.concatenate([children, np.full(len(skeleton.tip_parents), -1, dtype=np.intp)]),
        inner=children,
        turning=np.concatenate([owners, skeleton.tip_parents]),
        spokes=np.concatenate([_across(offsets, lengths), skeleton.tip_offsets]),
        bone_sides=sides[far],
        sides=sides,
        twins=_twins(skeleton, 1e-6 * height),
        main=_main(len(skeleton), owners, lengths > 1e-4 * height),
        carrying=np.isin(far, body_path(skeleton)[:-1]) & (np.arange(len(far)) < len(children)),
    )


_SKIN_POINTS = 1000
"""Approximate number of vertices by which the extent of a skin is measured."""


def figure_points(skeleton: Skeleton, world: World, skin: Skin | None = None) -> Floats:
    """(N, 3) positions of joints and end sites, and evenly chosen vertices of the skin; see `seen_joints`."""
    seen = seen_joints(skeleton, skin)
    bones = [world.positions[seen], tip_positions(skeleton, world)[seen[skeleton.tip_parents]]]
    if skin is not None:
        step = max(1, skin.vertices // _SKIN_POINTS)
        bones.append(skin.posed(world.positions, world.rotations, step))
    return np.concatenate(bones)


def seen_joints(skeleton: Skeleton, skin: Skin | None) -> Bools:
    """(J,) the joints that have to be in view: with a skin those that move it, and those of effectors.

    Rigs have others far from the figure: controls, poles, nodes of the scene that it comes from.
    """
    if skin is None:
        return np.ones(len(skeleton), dtype=np.bool_)
    seen = np.zeros(len(skeleton), dtype=np.bool_)
    seen[_moving(skin)] = True
    seen[[effector.joint for effector in skeleton.effectors]] = True
    return seen


@lru_cache(maxsize=8)
def _moving(skin: Skin) -> Ints:
    """The joints that a vertex has a weight of; files bind meshes to others, too."""
    used = np.zeros(len(skin.joints), dtype=np.bool_)
    for mesh in skin.meshes:
        used[mesh.bindings[mesh.weights > 0.0]] = True
    used &= skin.joints != WORLD
    return np.asarray(skin.joints[used])


def figure_height(skeleton: Skeleton) -> float:
    """H: metres from the lowest to the highest point of the rest pose, or its largest side if it lies flat."""
    return look_of(skeleton).height


def _height(skeleton: Skeleton) -> float:
    places = figure_points(skeleton, rest_world(skeleton))
    sides = places.max(axis=0) - places.min(axis=0)
    largest = float(sides.max())
    if largest <= 0.0:
        return 1.0  # a single point has no size
    return float(sides[1]) if sides[1] > FLAT_RIG * largest else largest


def _across(offsets: Floats, lengths: Floats) -> Floats:
    """Unit vectors perpendicular to offsets (B, 3); mirrored offsets give mirrored vectors, up to the sign."""
    along = offsets / np.where(lengths > 0.0, lengths, 1.0)[:, None]
    along[lengths <= 0.0] = (0.0, 1.0, 0.0)
    return perpendicular(along)


def _twins(skeleton: Skeleton, near: float) -> Ints:
    seen: dict[tuple[int, ...], int] = {}
    cells = np.rint(skeleton.offsets / max(near, 1e-300)).astype(np.int64)
    rows = np.concatenate([skeleton.parents[:, None], cells], axis=1).tolist()
    return np.array([seen.setdefault(tuple(row), joint) for joint, row in enumerate(rows)], dtype=np.intp)


def _main(count: int, owners: Ints, long: Bools) -> Ints:
    main = np.full(count, -1, dtype=np.intp)
    bones = np.flatnonzero(long)[::-1]
    main[owners[bones]] = bones  # the last assignment wins, which is the first bone
    return main


def _sides(skeleton: Skeleton) -> Ints:
    if _has_sides(skeleton.names):
        return _named_sides(skeleton.names, tuple(skeleton.parents.tolist()))
    return _shaped_sides(skeleton)


@lru_cache(maxsize=32)
def _has_sides(names: tuple[str, ...]) -> bool:
    # Links l1 to l6 of an arm are not on its left.
    parts = [body_part(name) for name in names]
    return len({one.side for one in parts} - {""}) > 1 or any(one.side and one.part for one in parts)


@lru_cache(maxsize=32)
def _named_sides(names: tuple[str, ...], parents: tuple[int, ...]) -> Ints:
    """Sides by name; a joint whose name has no side takes that of its parent."""
    sides: list[int] = []
    for name, parent in zip(names, parents, strict=True):
        own = body_part(name).side
        sides.append(SIDES.index(own) if own else (sides[parent] if parent >= 0 else 0))
    return np.array(sides, dtype=np.intp)


def _shaped_sides(skeleton: Skeleton) -> Ints:
    """Sides by the limbs of a recognised figure, without regard to names."""
    figure = find_figure(skeleton)
    tops = {(*limb.girdle, limb.upper)[0]: SIDES.index(limb.side) for limb in figure.limbs} if figure else {}
    sides: list[int] = []
    for joint, parent in enumerate(skeleton.parents.tolist()):
        sides.append(tops.get(joint, sides[parent] if parent >= 0 else 0))
    return np.array(sides, dtype=np.intp)


_LEVEL = 0.05
"""A figure stands on height 0 if its lowest point is at most this fraction of its height below it."""


def facing(subject: Character | Skeleton, world: World | None = None) -> Floats:
    """(3,) horizontal unit vector in which a figure faces.

    A recognised figure faces perpendicular to the line through its hips (shoulders if it has no legs); anything else
    faces +Z.

    Args:
        subject: a character, in its first frame if it has motion, or a skeleton at rest.
        world: (J, ...) another world pose of the joints.
    """
    skeleton = subject.skeleton if isinstance(subject, Character) else subject
    ahead = np.array([0.0, 0.0, 1.0])
    figure = find_figure(skeleton)
    if figure is None:
        return ahead
    place = (world or _first(subject)).positions
    left, right = (figure.legs or figure.arms)[:2]
    x, _, z = (place[left.upper] - place[right.upper]).tolist()
    across = np.hypot(x, z)
    return np.array([-z, 0.0, x]) / across if across > 1e-9 * figure_height(skeleton) else ahead


def floor_of(subject: Character | Skeleton) -> float:
    """Height of the ground, metres: 0 for figures that stand on or above 0, else that of the lowest joint or tip."""
    skeleton = subject.skeleton if isinstance(subject, Character) else subject
    lowest = float(figure_points(skeleton, _first(subject))[:, 1].min())
    return lowest if lowest < -_LEVEL * figure_height(skeleton) else 0.0


def _first(subject: Character | Skeleton) -> World:
    """The world pose in the first frame, or at rest without motion."""
    if not isinstance(subject, Character):
        return rest_world(subject)
    clip = subject.clip
    moving = clip is not None and len(clip) > 0
    return fk(subject.skeleton, clip.pose(0) if clip is not None and moving else subject.skeleton.rest_pose())
