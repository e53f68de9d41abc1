"""What the camera sees, as the block of numbers that all shaders share (``shaders/view.glsl``)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from viewer.opengl.programs import VIEW_BINDING

if TYPE_CHECKING:
    import moderngl
    from numpy.typing import NDArray

    from viewer.spatial.checks import Floats
    from viewer.spatial.projection import Projection

_KEY = np.array([-0.50, 0.78, 0.48])
_LIFT = np.array([0.0, 0.25, 0.0])
_FLOATS = 16 + 16 + 4 + 4 + 4


def key_light(projection: Projection) -> Floats:
    """Unit vector (3,) in the world towards the key light: over the left shoulder of whoever looks, from above."""
    turned = _KEY[0] * projection.right + _KEY[1] * projection.up + _KEY[2] * projection.back
    lifted = turned / np.linalg.norm(_KEY) + _LIFT
    return np.asarray(lifted / np.linalg.norm(lifted))


class ViewBlock:
    """The block on the graphics card."""

    def __init__(self, ctx: moderngl.Context) -> None:
        """Reserve it."""
        self._buffer = ctx.buffer(reserve=4 * _FLOATS)
        self._last: tuple[Projection, float] | None = None

    def bind(self, projection: Projection, scale: float) -> None:
        """Make it say this projection and scale, and what is drawn from now on read it."""
        if self._last is None or self._last[0] is not projection or self._last[1] != scale:
            self._buffer.write(packed(projection, scale).tobytes())
            self._last = projection, scale
        self._buffer.bind_to_uniform_block(VIEW_BINDING)


def packed(projection: Projection, scale: float) -> NDArray[np.float32]:
    """The block's numbers (44,): matrices by columns, then light, up and screen; see the shader."""
    turn = projection.view[:3, :3]
    width, height = projection.size
    flat = 1.0 if projection.orthographic else 0.0
    metres = 2.0 / (projection.lens[1, 1] * height)
    numbers = np.concatenate(
        [
            projection.view.T.ravel(),
            projection.lens.T.ravel(),
            [*(turn @ key_light(projection)), 0.0],
            [*turn[:, 1], scale],
            [width, height, metres, flat],
        ]
    )
    return numbers.astype(np.float32)
