"""The figure's bodies and props as lit volumes, and rings where the figure touches something."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from viewer.ik.contact import Box, Mesh, Sphere
from viewer.scene.bones import (
    HOVERED_PX,
    LIMIT_SHARE,
    SELECTED_PX,
    SELECTED_SHARE,
    States,
    flags,
    mixed,
    outlines,
    states_of,
)
from viewer.scene.look import PALETTE, SIDES, look_of, rgba
from viewer.scene.primitives import CAPSULE, SOLID, Lines, Records, Text
from viewer.scene.scene import PropShape, Scene
from viewer.skeleton import Skeleton, bodies_of
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import perpendicular, rotate

SEEN_THROUGH = 0.35
"""Opacity of bodies that show the bones in them."""
_FLARE_SHARE, _FLARE_SLOPE = 0.6, 0.25
"""A body is drawn wider at its start by at most these parts of its radius and of its length."""
_RING_PX, _RING_CORNERS = 2.0, 40
_LIFT = 0.0015
"""Of the figure's height: a ring floats so high over the surface, which it would flicker with."""
_HOVERED_SHARE = 0.35
_LABEL, _ASIDE = 13, 8.0
_TINT = np.array([PALETTE[side] for side in SIDES])
_ACCENT, _LIMIT, _HOVERED, _CENTRE = (np.array(PALETTE[name]) for name in ("accent", "limit", "hovered", "centre"))
_CORNERS = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_FACES = np.array(
    [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1),
        (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3),
    ]
)  # fmt: skip
"""Triangles of a unit cube with these corners, counter-clockwise as seen from outside."""


def body_records(scene: Scene, scale: float) -> Records:
    """CAPSULE records of the figure's bodies; translucent if the bones are to be seen through them."""
    if not scene.display.bodies:
        return np.empty(0, CAPSULE)
    records = plain_bodies(scene.skeleton, states_of(scene), scene.display.see_through, scale).copy()
    table = bodies_of(scene.skeleton).table
    records["a"], records["b"] = table.ends(scene.world.positions, scene.world.rotations)
    return records


@lru_cache(maxsize=8)
def plain_bodies(skeleton: Skeleton, states: States, through: bool, scale: float) -> Records:
    """CAPSULE records without their places: side tints, states as of bones."""
    table = bodies_of(skeleton).table
    records = np.zeros(len(table.joint), CAPSULE)
    selected, limited, hovered = flags(len(skeleton), states, table.joint)
    colour = mixed(_TINT[_sides(skeleton)], limited, _LIMIT, LIMIT_SHARE)
    records["radius"] = table.radius
    records["flare"] = _flares(skeleton)
    records["colour"][:, :3] = mixed(colour, selected, _ACCENT, SELECTED_SHARE)
    records["colour"][:, 3] = SEEN_THROUGH if through else 1.0
    records["outline"] = outlines(selected, hovered, scale)
    return records


@lru_cache(maxsize=8)
def _flares(skeleton: Skeleton) -> Floats:
    """(C,) metres by which each body is drawn wider at the joint where it starts.

    There it is as wide as the thickest body at that joint, and it narrows to its own radius: the figure is drawn
    without steps, nowhere thinner than what the solver keeps apart, and no thicker at the joints. Slopes and shares
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
        tone, width = ("hovered", HOVERED_PX) if prop.hovered else ("accent", SELECTED_PX)
        record["outline"] = (*PALETTE[tone], width * scale) if prop.hovered or prop.selected else 0.0
    return records


def _colour(prop: PropShape) -> tuple[float, ...]:
    """The tint of the body's middle, mixed with that of its state."""
    share, tone = (_HOVERED_SHARE, _HOVERED) if prop.hovered else (SELECTED_SHARE if prop.selected else 0.0, _ACCENT)
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
        across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        length = np.linalg.norm(across, axis=1, keepdims=True)
        records["position"] = corners
        records["normal"] = (across / np.where(length > 0.0, length, 1.0))[:, None]
        records["colour"] = _colour(prop)
        parts.append(records.reshape(-1))
    return np.concatenate(parts)


@lru_cache(maxsize=32)
def triangles_of(solid: Box | Mesh) -> Floats:
    """(F, 3, 3) corners of the triangles of a box or mesh, metres, world frame."""
    if isinstance(solid, Box):
        corners, faces = _CORNERS * solid.size, _FACES
    else:
        assert solid.vertices is not None
        assert solid.faces is not None
        corners, faces = solid.scale * solid.vertices, solid.faces
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
