"""Tools, spaces and parts of handles, and the axes of a space."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Final

import numpy as np

from viewer.spatial.quaternion import to_matrix

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from viewer.spatial.checks import Floats
    from viewer.spatial.projection import Projection


class Tool(StrEnum):
    """Which handles are shown."""

    SELECT = "select"
    MOVE = "move"
    ROTATE = "rotate"


class Space(StrEnum):
    """Whose axes the handles have."""

    WORLD = "world"
    LOCAL = "local"
    PARENT = "parent"
    VIEW = "view"


class Part(StrEnum):
    """A handle: an arrow or a ring by its axis, a square by its plane, or one that faces the eye."""

    X = "x"
    Y = "y"
    Z = "z"
    XY = "xy"
    YZ = "yz"
    ZX = "zx"
    SCREEN = "screen"
    VIEW_RING = "view ring"


LETTERS: Final = "XYZ"
AXES: Final = (Part.X, Part.Y, Part.Z)
PLANES: Final = (Part.YZ, Part.ZX, Part.XY)
"""By the axis that each is at right angles to."""

PARTS: Final = {
    Tool.SELECT: (),
    Tool.MOVE: (*AXES, *PLANES, Part.SCREEN),
    Tool.ROTATE: (*AXES, Part.VIEW_RING),
}
"""The handles that each tool shows."""


def axis_of(part: Part) -> int | None:
    """The axis (0, 1, 2) that an arrow or a ring is along, or a square at right angles to; None for the others."""
    if part in AXES:
        return AXES.index(part)
    return PLANES.index(part) if part in PLANES else None


def axes_of(
    space: Space,
    joint_rotation: ArrayLike | None,
    parent_rotation: ArrayLike | None,
    projection: Projection,
) -> Floats:
    """(3, 3) whose columns are the x, y and z axes of a space, in the world.

    Args:
        space: whose axes.
        joint_rotation: (4,) world rotation of what is to be moved; None: it has none, the world's axes serve.
        parent_rotation: (4,) world rotation of its parent; None likewise.
        projection: the view, whose axes point right, up and at the eye.
    """
    if space is Space.VIEW:
        return np.stack([projection.right, projection.up, projection.back], axis=1)
    rotation = {Space.LOCAL: joint_rotation, Space.PARENT: parent_rotation}.get(space)
    return np.eye(3) if rotation is None else to_matrix(rotation)
