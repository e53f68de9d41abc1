"""Marks on the floor: the balance of a figure, with its support polygon, and the footprints of planted feet."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from viewer.document.document_goal import balance_words
from viewer.scene.flat import Path, circle, rows_of, tessellate
from viewer.scene.look import RGBA, figure_height, rgba
from viewer.scene.marks import placed
from viewer.scene.primitives import FLAT, VERTEX, Lines, Records, Text
from viewer.scene.scene import Footprint, Scene
from viewer.skeleton import Balance, find_balance
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

MARGIN = 0.03
"""Margin in metres below which a figure of human size gets a warning; others in proportion."""
_HUMAN = 1.75
_SHORT = 0.002
"""Tolerance of that margin: a figure that is kept exactly at it gets no warning."""
_MASS_DISC, _RIM, _ASIDE, _MASS_SIZE = 9.0, 1.5, 16.0, 13
_PLUMB_PX, _EDGE_PX, _FILL_ALPHA = 1.2, 1.6, 0.09
_WARN_DASH, _PLUMB_DASH = (6.0, 4.0), (3.0, 4.0)
_HATCHES = 9
"""Lines across the polygon of a figure that falls."""
_LIFT = 0.002
"""Height of the polygon above the floor, relative to the figure's height: at 0 it would flicker with the grid."""


@lru_cache(maxsize=4)
def balance_of(scene: Scene) -> Balance:
    """The balance of a scene's figure, supported by its floor and by pinned joints."""
    fixed = frozenset(mark.joint for mark in scene.marks if mark.pin_position and mark.reached)
    return find_balance(scene.skeleton, scene.world, scene.floor, fixed)


def tone_of(scene: Scene) -> str:
    """A colour of the palette: "ok" inside the polygon by a margin, "warn" nearer to its edge, "err" outside."""
    margin, size = balance_of(scene).margin, figure_height(scene.skeleton) / _HUMAN
    if not margin >= 0.0:
        return "err"
    wanted = MARGIN * size if scene.margin is None else scene.margin
    return "ok" if margin >= wanted - _SHORT * size else "warn"


def draw_balance(
    scene: Scene, projection: Projection, scale: float, lines: Lines
) -> tuple[Records, Records, list[Text]]:
    """Add plumb line and polygon's edge; return the polygon's VERTEX, the disc's FLAT triangles, and the words."""
    found, tone = balance_of(scene), tone_of(scene)
    foot = found.center.copy()
    foot[1] = scene.floor
    lines.segments(found.center[None], foot[None], rgba("effector", 0.75), _PLUMB_PX, _PLUMB_DASH)
    corners = found.support + np.array((0.0, _LIFT * figure_height(scene.skeleton), 0.0))
    if len(corners) > 1:
        dash = _WARN_DASH if tone == "warn" else (0.0, 0.0)
        lines.segments(corners, np.roll(corners, -1, axis=0), rgba(tone), _EDGE_PX, dash)
    if tone == "err" and len(corners) > 2:
        starts, ends = _hatches(corners)
        lines.segments(starts, ends, rgba(tone, 0.6), 1.0)
    at, depth = projection.project(found.center), float(projection.depth(found.center))
    there = depth > 0.0 and bool(np.isfinite(at).all())
    disc = placed([(rows_of(_disc(scale)), (float(at[0]), float(at[1])))]) if there else np.empty(0, FLAT)
    x, y = projection.project(foot).tolist() if projection.depth(foot) > 0.0 else (math.nan, math.nan)
    words = (
        [Text(balance_words(found), x + _ASIDE * scale, y, rgba(tone), _MASS_SIZE)]
        if tone == "err" and math.isfinite(x)
        else []
    )
    return _fan(corners, rgba(tone, _FILL_ALPHA)), disc, words


def _fan(corners: Floats, colour: RGBA) -> Records:
    """A convex polygon as triangles from its first corner; none of fewer than three corners."""
    count = max(len(corners) - 2, 0)
    records = np.empty((count, 3), VERTEX)
    for i, points in enumerate((corners[:1].repeat(count, axis=0), corners[1:-1][:count], corners[2:])):
        records["position"][:, i] = points
    records["colour"] = colour
    return records.reshape(-1)


def _hatches(corners: Floats) -> tuple[Floats, Floats]:
    """Both ends (N, 3) of lines across a convex polygon, at 45 degrees to x and z."""
    after = np.roll(corners, -1, axis=0)
    level, there = corners[:, 0] + corners[:, 2], after[:, 0] + after[:, 2]
    ends = []
    for at in np.linspace(level.min(), level.max(), _HATCHES + 2)[1:-1]:
        crossed = (level - at) * (there - at) < 0.0
        part = ((at - level[crossed]) / (there[crossed] - level[crossed]))[:, None]
        points = corners[crossed] + part * (after[crossed] - corners[crossed])
        if len(points) == 2:
            ends.append(points)
    pairs = np.array(ends).reshape(-1, 2, 3)
    return pairs[:, 0], pairs[:, 1]


@lru_cache(maxsize=8)
def _disc(scale: float) -> Records:
    """The symbol of a centre of mass: a disc with alternating black and white quarters, around 0."""
    here, white, black = (0.0, 0.0), rgba("effector"), rgba("halo")
    quarter = 0.5 * math.pi
    wedges = []
    for i in range(4):
        turn = np.linspace(i * quarter, (i + 1) * quarter, 9)
        rim = _MASS_DISC * scale * np.stack([np.cos(turn), np.sin(turn)], axis=1)
        wedges.append(Path(np.concatenate([[here], rim]), white if i % 2 else black))
    under = Path(circle(here, (_MASS_DISC + _RIM) * scale), black)
    return tessellate([under, *wedges, Path(circle(here, _MASS_DISC * scale), white, 1.0 * scale, closed=True)])


_FILL, _FILL_NOW, _PRINT_EDGE, _EDGE_NOW = 0.20, 0.34, 0.55, 0.9
_PRINT_EDGE_PX, _DASH = 1.4, (6.0, 4.0)
_BEHIND, _AHEAD, _WIDE = 0.42, 0.55, 0.32
"""Reach of the sole behind the ankle and ahead of the ball, and half its width, relative to the foot's length."""
_POINT = 0.02
"""Radius of the print of a foot without a ball, relative to the figure's height."""
_PRINT_LIFT = 0.0015
_SLIDE_SIZE = 12
_CORNERS = 20


def draw_footprints(scene: Scene, projection: Projection, scale: float, lines: Lines) -> tuple[Records, list[Text]]:
    """Add the soles' edges; return their VERTEX triangles and the words beside those that slide."""
    height = scene.height or figure_height(scene.skeleton)
    filled, words = [], []
    for one in scene.footprints:
        corners = _outline(one, scene.floor, height)
        tone = one.side if one.planted else "warn"
        edge = rgba(tone, _EDGE_NOW if one.now else _PRINT_EDGE)
        lines.segments(
            corners, np.roll(corners, -1, axis=0), edge, _PRINT_EDGE_PX, (0.0, 0.0) if one.planted else _DASH
        )
        if one.planted:
            filled.append(_fan(corners, rgba(tone, _FILL_NOW if one.now else _FILL)))
        elif one.now:
            words += _words(one, corners, projection, scale)
    return (np.concatenate(filled) if filled else np.empty(0, VERTEX)), words


def _outline(one: Footprint, floor: float, height: float) -> Floats:
    """Corners (N, 3) of a sole: a rounded one along the foot, or a disc."""
    length = float(np.linalg.norm(one.way))
    at = np.array([one.heel[0], floor + one.rise + _PRINT_LIFT * height, one.heel[2]])
    if length < 1e-6:
        return np.asarray(at + _POINT * height * _circle() @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))
    along = one.way / length
    across = np.array([along[2], 0.0, -along[0]])
    round_ = _circle() * _WIDE * length
    reach = np.where(round_[:, 0] > 0.0, (1.0 + _AHEAD - _WIDE) * length, -(_BEHIND - _WIDE) * length)
    # The ball is wider than the heel.
    wide = np.where(round_[:, 0] > 0.0, 1.0, 0.78)
    return np.asarray(at + (reach + round_[:, 0])[:, None] * along + (wide * round_[:, 1])[:, None] * across)


@lru_cache(maxsize=1)
def _circle() -> Floats:
    angles = np.linspace(0.0, 2.0 * math.pi, _CORNERS, endpoint=False) + math.pi / _CORNERS
    return np.stack([np.cos(angles), np.sin(angles)], axis=1)


def _words(one: Footprint, corners: Floats, projection: Projection, scale: float) -> list[Text]:
    place = corners.mean(axis=0)
    if projection.depth(place) <= 0.0 or one.slides_cm < 0.05:
        return []
    x, y = projection.project(place).tolist()
    return [Text(f"slides {one.slides_cm:.1f} cm", x + 16.0 * scale, y, rgba("warn"), _SLIDE_SIZE)]
