"""The figure's skin in a pose, ready to be drawn."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from viewer.scene.look import PALETTE
from viewer.scene.primitives import SkinDraw
from viewer.scene.scene import OtherFigure, Scene
from viewer.scene.solids import SEEN_THROUGH
from viewer.skeleton import Skin, World
from viewer.skeleton.skin import Singles
from viewer.spatial.checks import Floats

_SELECTED = 0.12
"""Strength of the accent colour on what follows selected joints alone."""


@lru_cache(maxsize=8)
def spheres_of(skin: Skin) -> tuple[Floats, Floats]:
    """Balls round the vertices that each binding moves.

    A vertex between several joints is a mean of points of which each is within the ball of its binding.

    Returns:
        Centres (B, 4) in the mesh's frame, with a 1 as the last number, and radii (B,) in metres, negative for bindings
        that move nothing.
    """
    count = len(skin.joints)
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    for mesh in skin.meshes:
        for column in range(mesh.bindings.shape[1]):
            moves = mesh.weights[:, column] > 0.0
            bindings, points = mesh.bindings[moves, column], mesh.positions[moves]
            np.minimum.at(low, bindings, points)
            np.maximum.at(high, bindings, points)
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
    opacity = SEEN_THROUGH if scene.display.see_through else 1.0
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
    centres, radii = spheres_of(skin)
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
