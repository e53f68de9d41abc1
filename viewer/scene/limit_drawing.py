"""Joint limits as lines and translucent triangles, and the directions in which a clip moves a bone."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.scene.look import RGBA, rgba
from viewer.scene.primitives import VERTEX, LinePattern, Lines, Records, joined, line_pattern
from viewer.scene.ranges import CONE_LENGTH, Moment, Range, Swing, Travel, Twist, limited_joint, moments_of, ranges_of
from viewer.scene.scene import Density, Scene
from viewer.skeleton import Clip, Skeleton
from viewer.spatial.checks import Floats, Ints
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import conjugate, multiply, perpendicular, rotate

_APEX_ALPHA, _RIM_ALPHA, _MERIDIAN_ALPHA = 0.04, 0.15, 0.35
_RIM_PX, _MERIDIAN_PX, _RING_PX, _ARC_PX, _NEEDLE_PX = 1.6, 1.2, 1.2, 2.5, 2.0
_DASH_PX, _GAP_PX = 5.0, 4.0
_OTHERS = 0.5
"""Opacity of the lines of joints that are neither selected nor at a limit."""
_TICK = 0.16
"""Half length of a tick relative to the ring's radius or the rail's length."""
_TURN = 2.0 * math.pi
_RING = 65


class _Style(NamedTuple):
    """How one joint's limits are drawn: the name of a colour, and whether the limits are in force.

    The strength of the lines is low if all joints' limits are shown, so that the figure stays prominent.
    """

    colour: str
    bound: bool
    strength: float = 1.0

    def ink(self, name: str = "", alpha: float = 1.0) -> RGBA:
        """A colour of the palette (by default the style's own) with the style's opacity."""
        return rgba(name or self.colour, alpha * self.strength)


def draw_limits(scene: Scene, projection: Projection, scale: float, lines: Lines) -> Records:
    """Add the lines of all limits that are shown, and return VERTEX triangles of their cones and clips' densities."""
    cones: list[Records] = []
    for joint, ranges in _ranges(scene).items():
        style = _style(scene, joint)
        for shape in ranges:
            if isinstance(shape, Twist):
                _twist(shape, style, lines)
            elif isinstance(shape, Travel):
                _rail(shape, style, lines)
            elif style.bound:
                cones.append(_cone(shape, style, lines))
            else:
                _outline(shape, style, lines, float(projection.pixels_per_metre(shape.apex)) / scale)
    if scene.densities and scene.display.limits != "none":
        moments = moments_of(scene.skeleton, scene.world, sorted(scene.densities), scene.coordinates)
        for joint, (_, moment) in moments.items():
            cones.append(draw_density(scene.skeleton, joint, scene.densities[joint], moment))
    return joined(cones, VERTEX)


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


def _outline(shape: Swing, style: _Style, lines: Lines, pixels_per_metre: float) -> None:
    """The rim of directions whose limits are not in force, dashed."""
    rim = np.concatenate([shape.rim, shape.rim[:1]]) if shape.closed else shape.rim
    dashes = _dashes(rim, pixels_per_metre)
    lines.segments(rim[dashes], rim[dashes + 1], style.ink(), _RIM_PX)


def _dashes(rim: Floats, pixels_per_metre: float) -> Ints:
    """The pieces of a rim to draw for dashes of about the right length on the screen.

    Pieces are about as short as a dash, so they cannot be dashed one by one.
    """
    count = len(rim) - 1
    around = float(np.linalg.norm(np.diff(rim, axis=0), axis=1).sum()) * pixels_per_metre
    piece = max(around / count, 1e-6)
    on, off = (min(max(1, round(length / piece)), count) for length in (_DASH_PX, _GAP_PX))
    return np.flatnonzero(np.arange(count) % (on + off) < on)


def _cone(shape: Swing, style: _Style, lines: Lines) -> Records:
    """Draw rim and meridians, and return the VERTEX triangles from the apex to the rim."""
    points = np.concatenate([shape.apex[None], shape.rim])
    pattern = _cone_pattern(len(shape.rim), shape.closed, shape.meridians, style)
    lines.shape(points, pattern.lines)
    rows = pattern.triangles.view(np.float32).reshape(len(pattern.triangles), -1).copy()
    rows[:, :3] = points.take(pattern.corners, axis=0)
    return rows.reshape(-1).view(VERTEX)


class _ConePattern(NamedTuple):
    """A cone without its points, the apex and those of the rim: lines, and (3 T,) corners and VERTEX records."""

    lines: LinePattern
    corners: Ints
    triangles: Records


@lru_cache(maxsize=64)
def _cone_pattern(count: int, closed: bool, meridians: tuple[int, ...], style: _Style) -> _ConePattern:
    rim = np.arange(1, count + 1)
    here, after = (rim, np.roll(rim, -1)) if closed else (rim[:-1], rim[1:])
    ends = rim[list(meridians)]
    parts = (
        (here, after, style.ink(), _RIM_PX),
        (np.zeros_like(ends), ends, style.ink(alpha=_MERIDIAN_ALPHA), _MERIDIAN_PX),
    )
    triangles = np.zeros((len(here), 3), VERTEX)
    triangles["colour"][:, 0], triangles["colour"][:, 1:] = (
        rgba(style.colour, alpha) for alpha in (_APEX_ALPHA, _RIM_ALPHA)
    )
    corners = np.stack([np.zeros_like(here), here, after], axis=1)
    return _ConePattern(line_pattern(parts), corners.reshape(-1), triangles.reshape(-1))


def _twist(shape: Twist, style: _Style, lines: Lines) -> None:
    """Draw the ring, the allowed arc, and a needle at the current angle."""
    ring = _ring_pattern(shape.lower, shape.upper, style)
    shares = ring.shares.copy()
    shares[-1] = math.cos(shape.angle), math.sin(shape.angle)
    lines.shape(shape.at(shares), ring.lines)


class _RingPattern(NamedTuple):
    """A ring: its points (N, 2), as shares of its two axes, the last of them the needle's tip, and the lines."""

    shares: Floats
    lines: LinePattern


@lru_cache(maxsize=64)
def _ring_pattern(lower: float | None, upper: float | None, style: _Style) -> _RingPattern:
    points, parts = [np.zeros((1, 2))], []

    def add(added: Floats, pairs: Ints, colour: RGBA, width: float) -> None:
        """Add points (N, 2), and lines between pairs (2, M) of them."""
        pairs = pairs + sum(map(len, points))
        points.append(added)
        parts.append((*pairs, colour, width))

    add(_around(0.0, _TURN, _RING), _in_turn(_RING), style.ink("text3"), _RING_PX)
    if style.bound and lower is not None and upper is not None:
        span = min(upper - lower, _TURN)
        pieces = max(1, math.ceil(_RING * span / _TURN))
        arc = _around(lower, lower + span, pieces + 1)
        add(arc, _in_turn(pieces + 1), style.ink(), _ARC_PX)
        if span < _TURN - 1e-6:
            ticks = np.concatenate([(1.0 - _TICK) * arc[[0, -1]], (1.0 + _TICK) * arc[[0, -1]]])
            add(ticks, np.array([[0, 1], [2, 3]]), style.ink(), _ARC_PX)
    last = sum(map(len, points))
    points.append(np.zeros((1, 2)))
    parts.append((np.array([0]), np.array([last]), style.ink("effector"), _NEEDLE_PX))
    return _RingPattern(np.concatenate(points), line_pattern(parts))


def _around(start: float, end: float, count: int) -> Floats:
    """(N, 2) cosines and sines from one angle to another."""
    angles = np.linspace(start, end, count)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _in_turn(count: int) -> Ints:
    """(2, N - 1) pairs of points that follow each other."""
    return np.stack([np.arange(count - 1), np.arange(1, count)])


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


_CELL = 0.06
"""Width of a cell in radians, or a little more."""
_MOST_FRAMES = 3000
"""Most frames that count: longer clips are sampled at every second, third, ... frame."""
_LEAST = 1e-9
_FILLED = 0.7
"""Part of its cell that a patch fills."""
_FAINT, _STRONG = 0.16, 0.7
"""Opacity of a patch with hardly a frame, and of the one with most."""


@lru_cache(maxsize=32)
def density_of(skeleton: Skeleton, clip: Clip, joint: int) -> Density | None:
    """The directions of a joint's bone in a clip of the same joints.

    None if it has no limits, no bone, or is not one of the clip's.
    """
    if clip.rotations.shape[1] != len(skeleton) or skeleton.limits[joint] is None:
        return None
    if not skeleton.kinds[joint].turns:
        return None
    about = limited_joint(skeleton, joint)
    if about.length <= 0.0:
        return None
    frames = clip.rotations[:: -(-len(clip) // _MOST_FRAMES), joint]
    ways = rotate(multiply(conjugate(skeleton.rest_rotations[joint]), frames), about.bone)
    cells, inverse, counts = np.unique(np.round(ways / _CELL), axis=0, return_inverse=True, return_counts=True)
    middles = np.zeros((len(cells), 3))
    np.add.at(middles, inverse.reshape(-1), ways)
    middles /= np.linalg.norm(middles, axis=1, keepdims=True)
    return Density(middles, counts / counts.sum())


def draw_density(skeleton: Skeleton, joint: int, density: Density, now: Moment) -> Records:
    """VERTEX triangles, two a patch, where the rim of the joint's limits is."""
    radius = CONE_LENGTH * limited_joint(skeleton, joint).length
    ways = density.ways @ now.base.T
    half = 0.5 * _FILLED * _CELL * radius
    middles = now.place + radius * ways
    # All have one orientation: along the axis most nearly perpendicular to the directions.
    along = now.base[:, np.abs(density.shares @ density.ways).argmin()]
    across = np.cross(ways, along)
    across *= half / np.maximum(np.linalg.norm(across, axis=1, keepdims=True), _LEAST)
    over = np.cross(ways, across)
    corners = middles + np.stack([-across - over, across - over, across + over, over - across])
    records = np.zeros((len(ways), 6), VERTEX)
    records["position"] = corners[[0, 1, 2, 0, 2, 3]].transpose(1, 0, 2)
    strength = _FAINT + (_STRONG - _FAINT) * np.sqrt(density.shares / density.shares.max())
    records["colour"] = np.array([rgba("text", alpha) for alpha in strength.tolist()])[:, None]
    return records.reshape(-1)
