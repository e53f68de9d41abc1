"""The figures that are not active: drawn dimmed, picked as wholes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from viewer.scene import bones as figure
from viewer.scene.bones import HOVERED_PX, Sizes, States
from viewer.scene.look import PALETTE, look_of, rgba
from viewer.scene.primitives import CAPSULE, Records, Text, copied
from viewer.scene.scene import OtherFigure
from viewer.scene.solids import plain_bodies
from viewer.skeleton import Skeleton, bodies_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection
from viewer.spatial.rays import hit_capsules

TINT_SHARE, GHOST_SHARE = 0.38, 0.30
"""Shares of a figure's own colours and of the ghosts' in a dimmed colour; the rest is the background's."""
_REST = (1.0 - TINT_SHARE - GHOST_SHARE) * np.array(PALETTE["bg_bot"]) + GHOST_SHARE * np.array(PALETTE["ghost"])
_HOVERED = np.array(PALETTE["hovered"])
_UNTOUCHED = States(frozenset(), frozenset(), -1, frozenset())
_LABEL, _ABOVE = 13, 0.045
"""Text size of a figure's name, and its height above the head as a fraction of the figure's."""
_NEAR_PX = 5.0
"""Largest distance in pixels from the pointer to a bone's axis."""


def other_sticks(other: OtherFigure, scale: float) -> tuple[Records, Records]:
    """BONE and SPHERE records of a figure, dimmed."""
    height = look_of(other.skeleton).height
    bones = figure.measure(other.skeleton, other.world, height)
    sticks = copied(_dimmed_bones(other.skeleton, bones.sizes, other.hovered, scale))
    sticks["frame"] = figure.frames_of(bones)
    plain = figure.plain_spheres(other.skeleton, bones.sizes, _UNTOUCHED, scale)
    balls = copied(plain.records)
    balls["centre"] = other.world.positions[plain.some]
    balls["colour"][:, :3] = _dimmed(balls["colour"][:, :3])
    return sticks, balls


@lru_cache(maxsize=32)
def _dimmed_bones(skeleton: Skeleton, sizes: Sizes, hovered: bool, scale: float) -> Records:
    records = copied(figure.plain_bones(skeleton, sizes, _UNTOUCHED, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    if hovered:
        records["outline"] = (*_HOVERED, HOVERED_PX * scale)
    return records


def other_bodies(other: OtherFigure, scale: float) -> Records:
    """CAPSULE records of a figure's bodies, dimmed."""
    table = bodies_of(other.skeleton).table
    records = copied(plain_bodies(other.skeleton, _UNTOUCHED, False, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    records["a"], records["b"] = table.ends(other.world.positions, other.world.rotations)
    if other.hovered:
        records["outline"] = (*_HOVERED, HOVERED_PX * scale)
    return records if len(records) else np.empty(0, CAPSULE)


def _dimmed(colours: Floats) -> Floats:
    return TINT_SHARE * colours + _REST


def other_names(others: tuple[OtherFigure, ...], projection: Projection) -> list[Text]:
    """The name of the figure under the pointer, above its head."""
    texts = []
    for other in others:
        if not other.hovered:
            continue
        points = other.points
        top = points[int(np.argmax(points[:, 1]))] + (0.0, _ABOVE * look_of(other.skeleton).height, 0.0)
        pixel = projection.project(top)
        if projection.inside(pixel):
            x, y = pixel.tolist()
            texts.append(Text(other.name, x, y, rgba("text"), _LABEL, "centre"))
    return texts


def other_at(
    others: tuple[OtherFigure, ...], projection: Projection, x: float, y: float, scale: float = 1.0
) -> tuple[OtherFigure, float] | None:
    """The figure at pixel (x, y) that is nearest to the eye, and metres to it; None without one."""
    ray, found = projection.ray(x, y), []
    for other in others:
        bones = figure.measure(other.skeleton, other.world, look_of(other.skeleton).height)
        shown = bones.sizes.shown
        heads, tails = bones.heads[shown], bones.tails[shown]
        points = ray.at(hit_capsules(ray, heads, tails, np.inf))
        with np.errstate(divide="ignore", invalid="ignore"):
            thin = _NEAR_PX * scale / projection.pixels_per_metre(points)
            way = tails - heads
            part = np.einsum("bi,bi->b", points - heads, way) / np.einsum("bi,bi->b", way, way)
        aside = np.linalg.norm(points - heads - np.clip(part, 0.0, 1.0)[:, None] * way, axis=1)
        depths = projection.depth(points)
        near = (depths > 0.0) & (aside <= np.maximum(bones.sizes.radii[shown], thin))
        if near.any():
            found.append((float(depths[near].min()), other))
    if not found:
        return None
    depth, nearest = min(found, key=lambda one: one[0])
    return nearest, depth
