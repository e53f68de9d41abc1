"""Meshes of things that hands meet, made in code; trimesh comes with the package."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import trimesh

import viewer

SECTIONS = 32
"""Around what is turned on a lathe."""


def mug(**where: Any) -> viewer.Mesh:  # noqa: ANN401 - of a mesh
    """A cup of 76 by 100 mm with walls of 6 mm, open above; its middle is the origin, Y is up."""
    radius, height, wall = 0.038, 0.1, 0.006
    low, inner = -0.5 * height, radius - wall
    profile = [(0.0, low), (radius, low), (radius, -low), (inner, -low), (inner, low + wall), (0.0, low + wall)]
    return _turned("mug", profile, **where)


def _turned(name: str, profile: list[tuple[float, float]], **where: Any) -> viewer.Mesh:  # noqa: ANN401
    """A profile of radius and height, turned about Y."""
    made = trimesh.creation.revolve(np.array(profile), sections=SECTIONS)
    x, y, z = made.vertices.T
    return viewer.Mesh(name, vertices=np.stack([x, z, -y], axis=1), faces=made.faces, **where)


def meshes() -> Mapping[str, viewer.Mesh]:
    """Shapes of 10 to 20 cm: hollow, with a hole, round, with corners, with a point."""
    return {
        "mug": mug(),
        "torus": _of("torus", trimesh.creation.torus(0.06, 0.02, major_sections=32, minor_sections=16)),
        "ball": _of("ball", trimesh.creation.icosphere(2, 0.08)),
        "box": _of("box", trimesh.creation.box((0.1, 0.06, 0.2))),
        "cone": _of("cone", trimesh.creation.cone(0.05, 0.15, sections=24)),
    }


def _of(name: str, made: trimesh.Trimesh) -> viewer.Mesh:
    return viewer.Mesh(name, vertices=made.vertices, faces=made.faces)
