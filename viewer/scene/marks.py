"""Handles on the screen: effectors, their targets, pins and the root, over everything else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from viewer.scene import stamps
from viewer.scene.flat import Path, tessellate
from viewer.scene.lens import near_of
from viewer.scene.outlines import clipped, dashes
from viewer.scene.palette import rgba
from viewer.scene.shapes import is_about

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.gizmo.shapes import Shape
    from viewer.scene.primitives import Records
    from viewer.scene.scene import Mark
    from viewer.spatial.checks import Floats
    from viewer.spatial.projection import Projection

_HALF, _HALF_IN_GIZMO = 9.0, 7.0
_LINK_PX, _LINK_ON, _LINK_OFF = 2.0, 7.0, 5.0
_THIN_PX, _FAINT = 1.0, 0.5
"""The link of a quiet mark."""
_MARGIN = 40.0
"""Pixels beyond the view's edge from where signs cannot be seen any more."""
_APART = 4.0
"""A target nearer to its effector than this, in pixels, is one mark with it, reached or not."""

Pixel = tuple[float, float]


class Seen(NamedTuple):
    """A handle as it is seen.

    Attributes:
        mark: the handle.
        at: pixel of the target, of the effector where there is none; NaN behind the eye.
        effector: pixel of the effector.
        depth: metres of the target in front of the eye.
    """

    mark: Mark
    at: Pixel
    effector: Pixel
    depth: float

    @property
    def is_apart(self) -> float:
        """Pixels from the effector to the target; NaN where one is behind the eye."""
        return math.hypot(self.at[0] - self.effector[0], self.at[1] - self.effector[1])

    @property
    def is_short(self) -> bool:
        """Whether a place is asked for and not reached, and that is to be said."""
        return self.is_missed and not self.mark.quiet

    @property
    def is_missed(self) -> bool:
        """Whether a place is asked for and not reached."""
        return self.mark.on and not self.mark.reached and self.mark.target is not None


def seen_marks(marks: Sequence[Mark], projection: Projection) -> list[Seen]:
    """The handles as they are seen, in the order in which they are drawn: those behind first, selected ones last."""
    if not marks:
        return []
    targets = np.array([mark.position if mark.target is None else mark.target for mark in marks])
    effectors = np.array([mark.position for mark in marks])
    pixels = projection.project(np.stack([targets, effectors])).tolist()
    seen = [Seen(*row) for row in zip(marks, *pixels, projection.depth(targets).tolist(), strict=True)]
    return sorted(seen, key=lambda one: (one.mark.selected, -one.depth))


def mark_records(
    seen: Sequence[Seen], projection: Projection, scale: float, gizmo: Sequence[Shape] = ()
) -> list[Records]:
    """FLAT triangles of the handles: below all their links, then their signs.

    Args:
        seen: the handles.
        projection: how they are looked at.
        scale: pixels of the view for one of the design.
        gizmo: shapes drawn with them; a handle inside of one is smaller.
    """
    links: list[Path] = []
    signs: list[tuple[Records, Pixel]] = []
    for one in seen:
        if one.is_missed:
            links += _link(one.mark, projection, scale)
        if one.is_short and not one.is_apart <= _APART * scale and is_on_view(one.effector, projection, scale):
            signs.append((stamps.ring("effector", 1.0, scale), one.effector))
        if is_on_view(one.at, projection, scale):
            held = one.mark.selected and is_about(gizmo, one.at, scale)
            signs += [(stamp, one.at) for stamp in _signs(one, scale, gizmo=held)]
    return [tessellate(links), stamps.placed(signs)]


def is_on_view(pixel: Pixel, projection: Projection, scale: float) -> bool:
    """Whether a sign at a pixel can be seen; NaN is nowhere."""
    edge, (x, y), (wide, high) = _MARGIN * scale, pixel, projection.size
    return -edge <= x <= wide + edge and -edge <= y <= high + edge


def _signs(one: Seen, scale: float, *, gizmo: bool) -> list[Records]:
    """The stamps of a handle at its target."""
    mark = one.mark
    result = [stamps.selection(scale)] if mark.selected and not gizmo else []
    if mark.quiet and not mark.reached and mark.on:
        result.append(stamps.missed(scale, pinned=mark.pin_position or mark.pin_rotation))
    state = "hovered" if mark.hovered else "target" if mark.reached or mark.quiet else "unreached"
    if mark.root:
        return [*result, stamps.root("hovered" if mark.hovered else "effector", scale)]
    if not mark.on:
        return [*result, stamps.ring("hovered" if mark.hovered else "text3", 1.0 if mark.hovered else 0.8, scale)]
    if mark.pin_position or mark.pin_rotation:
        return [*result, stamps.pin(state, scale, position=mark.pin_position, rotation=mark.pin_rotation)]
    if mark.target is None:
        return [*result, stamps.rotation_target(state, scale)]
    half = _HALF_IN_GIZMO if gizmo else _HALF
    return [*result, stamps.diamond(state, half, scale, dot=mark.reached or one.is_apart <= _APART * scale)]


def _link(mark: Mark, projection: Projection, scale: float) -> list[Path]:
    """The dashed line from an effector to the target that it does not reach."""
    assert mark.target is not None
    ends = segment_pixels(projection, mark.position, mark.target)
    line = clipped(ends[0], ends[1], projection.size, _MARGIN * scale) if ends is not None else None
    if line is None:
        return []
    if mark.quiet:
        return [Path(np.array(line), rgba("unreached", _FAINT), _THIN_PX * scale)]
    pieces = dashes(*line, _LINK_ON * scale, _LINK_OFF * scale)
    rims = [Path(piece, stamps.HALO, (_LINK_PX + 2.0) * scale) for piece in pieces]
    return rims + [Path(piece, rgba("unreached"), _LINK_PX * scale) for piece in pieces]


def segment_pixels(projection: Projection, start: Floats, end: Floats) -> Floats | None:
    """Pixels (2, 2) of the part of a line (3,) to (3,) that lies in front of the eye; None if none does."""
    ends = np.stack([start, end])
    if not projection.orthographic:
        near = near_of(projection)
        first, last = projection.depth(ends).tolist()
        if max(first, last) <= near:
            return None
        if min(first, last) < near:
            part = (near - first) / (last - first)
            ends[0 if first < near else 1] = start + part * (end - start)
    return projection.project(ends)
