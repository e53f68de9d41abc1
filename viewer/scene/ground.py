"""The floor under a figure."""

from __future__ import annotations

import math

from viewer.scene.look import look_of
from viewer.scene.primitives import Ground
from viewer.scene.scene import Scene

_CELLS = 8.0
_CLEAR = 0.05
"""Parts of the figure's height that an upright grid stands behind it."""


def cell_of(height: float) -> float:
    """Metres of a cell of the grid: the power of 10 at or below an eighth of the figure's height."""
    return 10.0 ** math.floor(math.log10(height / _CELLS) + 1e-9)


def ground_of(scene: Scene) -> Ground:
    """The floor, its middle under the figure's first root; the grid upright where the body is kept in such a plane."""
    height = scene.height or look_of(scene.skeleton).height
    x, _, z = scene.world.positions[int(scene.skeleton.roots[0])].tolist()
    # Looked at along its third axis: behind all there is, so that it crosses nothing out.
    upright = {"xy": 2, "yz": 0}.get(scene.plane or "")
    least = 0.0 if upright is None else float(scene.world.positions[:, upright].min()) - _CLEAR * height
    return Ground(
        y=scene.floor,
        cell=cell_of(height),
        height=height,
        centre=(x, scene.floor, z),
        grid=scene.display.grid,
        shadow=scene.display.shadow,
        along="xz" if upright is None else "xy" if upright == 2 else "zy",
        behind=least,
    )
