"""Joint limits as lines and translucent triangles: cones, fans, rings with needles, rails."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from viewer.scene.look import RGBA, rgba
from viewer.scene.primitives import VERTEX, Lines, Records
from viewer.scene.ranges import Range, Swing, Travel, Twist, ranges_of
from viewer.scene.scene import Scene
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import perpendicular

_APEX_ALPHA, _RIM_ALPHA, _MERIDIAN_ALPHA = 0.04, 0.15, 0.35
_RIM_PX, _MERIDIAN_PX, _RING_PX, _ARC_PX, _NEEDLE_PX = 1.6, 1.2, 1.2, 2.5, 2.0
_DASH_PX, _GAP_PX = 5.0, 4.0
_OTHERS = 0.5
"""Opacity of the lines of joints that are neither selected nor at a limit."""
_TICK = 0.16
"""Half length of a tick relative to the ring's radius or the rail's length."""
_TURN = 2.0 * math.pi
_RING = 65
_CIRCLE = np.stack([np.cos(np.linspace(0.0, _TURN, _RING)), np.sin(np.linspace(0.0, _TURN, _RING))], axis=1)


class _Style(NamedTuple):
    """How one joint's limits are drawn.

    Attributes:
        colour: name of the colour.
        bound: whether the limits are in force.
        strength: opacity of the lines, low if all joints' limits are shown, so that the figure stays prominent.
    """

    colour: str
    bound: bool
    strength: float = 1.0

    def ink(self, name: str = "", alpha: float = 1.0) -> RGBA:
        """A colour of the palette (by default the style's own) with the style's opacity."""
        return rgba(name or self.colour, alpha * self.strength)


def draw_limits(scene: Scene, projection: Projection, scale: float, lines: Lines) -> Records:
    """Add the lines of all limits that are shown, and return VERTEX triangles of their cones."""
    cones: list[tuple[Swing, str]] = []
    for joint, ranges in _ranges(scene).items():
        style = _style(scene, joint)
        for shape in ranges:
            if isinstance(shape, Swing):
                _swing(shape, style, lines, float(projection.pixels_per_metre(shape.apex)) / scale)
                if style.bound:
                    cones.append((shape, style.colour))
            elif isinstance(shape, Twist):
                _twist(shape, style, lines)
            else:
                _rail(shape, style, lines)
    return _fans(cones)


def _ranges(scene: Scene) -> dict[int, tuple[Range, ...]]:
    """The ranges to be shown, by joint."""
    if scene.display.limits == "none":
        return {}
    joints = list(range(len(scene.skeleton))) if scene.display.limits == "all" else sorted(scene.selected)
    return ranges_of(scene.skeleton, scene.world, joints, scene.coordinates)


def _style(scene: Scene, joint: int) -> _Style:
    if not scene.limits_on or scene.skeleton.names[joint] in scene.unlimited:
        return _Style("text3", bound=False)
    if joint in scene.at_limit or joint in scene.outside:
        return _Style("limit", bound=True)
    return _Style("accent", bound=True) if joint in scene.selected else _Style("text2", bound=True, strength=_OTHERS)


def _swing(shape: Swing, style: _Style, lines: Lines, pixels_per_metre: float) -> None:
    rim = np.concatenate([shape.rim, shape.rim[:1]]) if shape.closed else shape.rim
    if not style.bound:
        dashes = _dashes(rim, pixels_per_metre)
        lines.segments(rim[dashes], rim[dashes + 1], style.ink(), _RIM_PX)
        return
    lines.curve(rim, style.ink(), _RIM_PX)
    ends = shape.rim[list(shape.meridians)]
    lines.segments(np.broadcast_to(shape.apex, ends.shape), ends, style.ink(alpha=_MERIDIAN_ALPHA), _MERIDIAN_PX)


def _dashes(rim: Floats, pixels_per_metre: float) -> Ints:
    """The pieces of a rim to draw for dashes of about the right length on the screen.

    Pieces are about as short as a dash, so they cannot be dashed one by one.
    """
    count = len(rim) - 1
    around = float(np.linalg.norm(np.diff(rim, axis=0), axis=1).sum()) * pixels_per_metre
    piece = max(around / count, 1e-6)
    on, off = (min(max(1, round(length / piece)), count) for length in (_DASH_PX, _GAP_PX))
    return np.flatnonzero(np.arange(count) % (on + off) < on)


def _fans(cones: list[tuple[Swing, str]]) -> Records:
    """VERTEX triangles from the apexes of cones to their rims."""
    afters = [np.roll(cone.rim, -1, axis=0) if cone.closed else cone.rim[1:] for cone, _ in cones]
    records = np.empty((sum(map(len, afters)), 3), VERTEX)
    first = 0
    for (cone, colour), after in zip(cones, afters, strict=True):
        some = records[first : first + len(after)]
        some["position"][:, 0] = cone.apex
        some["position"][:, 1], some["position"][:, 2] = cone.rim[: len(after)], after
        some["colour"][:, 0], some["colour"][:, 1:] = rgba(colour, _APEX_ALPHA), rgba(colour, _RIM_ALPHA)
        first += len(after)
    return records.reshape(-1)


def _twist(shape: Twist, style: _Style, lines: Lines) -> None:
    """Draw the ring, the allowed arc, and a needle at the current angle."""
    lines.curve(shape.at(_CIRCLE), style.ink("text3"), _RING_PX)
    if style.bound and shape.lower is not None and shape.upper is not None:
        span = min(shape.upper - shape.lower, _TURN)
        pieces = max(1, math.ceil(_RING * span / _TURN))
        arc = shape.points(np.linspace(shape.lower, shape.lower + span, pieces + 1))
        lines.curve(arc, style.ink(), _ARC_PX)
        if span < _TURN - 1e-6:
            ends = arc[[0, -1]] - shape.centre
            inner, outer = shape.centre + (1.0 - _TICK) * ends, shape.centre + (1.0 + _TICK) * ends
            lines.segments(inner, outer, style.ink(), _ARC_PX)
    tip = shape.points(np.array([shape.angle]))
    lines.segments(shape.centre[None], tip, style.ink("effector"), _NEEDLE_PX)


def _rail(shape: Travel, style: _Style, lines: Lines) -> None:
    """Draw the range of a slide with ticks at its ends, and a white tick at the current position."""
    ends = np.stack([shape.lower, shape.upper])
    length = float(np.linalg.norm(ends[1] - ends[0]))
    if length == 0.0:
        return
    half = 0.5 * _TICK * length * perpendicular((ends[1] - ends[0]) / length)
    dash = (0.0, 0.0) if style.bound else (_DASH_PX, _GAP_PX)
    lines.segments(ends[:1], ends[1:], style.ink(), _RIM_PX, dash)
    if style.bound:
        lines.segments(ends - half, ends + half, style.ink(), _ARC_PX)
    lines.segments((shape.now - half)[None], (shape.now + half)[None], style.ink("effector"), _NEEDLE_PX)
