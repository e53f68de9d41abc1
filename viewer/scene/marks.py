"""Marks: effectors, targets, pins, the root and trails on the screen; on the floor a figure's balance and footprints.

Marks of one style are tessellated once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from viewer.document.document_goal import balance_words
from viewer.gizmo import Shape
from viewer.scene.camera import near_of
from viewer.scene.flat import DIAMOND, Path, box, circle, clipped, dashes, is_about, rows_of, tessellate
from viewer.scene.look import PALETTE, RGBA, figure_height, rgba
from viewer.scene.primitives import FLAT, SPHERE, VERTEX, Lines, Records, Text
from viewer.scene.scene import Footprint, Mark, Scene, Trail
from viewer.skeleton import Balance, find_balance
from viewer.skeleton.attached import Singles
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

_HALF, _HALF_IN_GIZMO = 9.0, 7.0
_LINK_PX, _LINK_ON, _LINK_OFF = 2.0, 7.0, 5.0
_LEASH_PX, _LEASH_ON, _LEASH_OFF = 1.6, 2.0, 4.0
_THIN_PX, _FAINT = 1.0, 0.5
"""Width and opacity of the link of a quiet mark."""
_MARGIN = 40.0
"""Pixels outside the view at which marks are no longer visible."""
_APART = 4.0
"""Target and effector are drawn as one mark if they are at most this many pixels apart."""

Pixel = tuple[float, float]
Stamp = tuple[Singles, Pixel]
"""Rows (N, 6) of FLAT triangles around (0, 0), and the pixel to which they are moved."""
HERE: Pixel = (0.0, 0.0)
"""The position of triangles that are already in the view's pixels."""


class Seen(NamedTuple):
    """A handle in a projection.

    Attributes:
        at: pixel of the target, or of the effector without a target; NaN behind the eye.
        effector: pixel of the effector.
        depth: metres of the target in front of the eye.
        visible: whether a mark at the target is visible.
        missed: whether the target position is not reached.
        short: whether it is missed and this is shown with a label.
        one: whether target and effector are drawn as one mark.
    """

    mark: Mark
    at: Pixel
    effector: Pixel
    depth: float
    visible: bool
    missed: bool
    short: bool
    one: bool


def seen_marks(marks: Sequence[Mark], projection: Projection, scale: float) -> list[Seen]:
    """The handles in a projection, in drawing order: back to front, selected ones last."""
    if not marks:
        return []
    effectors = [mark.position for mark in marks]
    targets = [mark.position if mark.target is None else mark.target for mark in marks]
    places = np.concatenate(targets + effectors).reshape(-1, 3)
    at, pixels = projection.project(places).reshape(2, -1, 2)
    edge, near, (wide, high) = _MARGIN * scale, _APART * scale, projection.size
    seen = []
    rows = zip(marks, at.tolist(), pixels.tolist(), projection.depth(places[: len(marks)]).tolist(), strict=True)
    for mark, target, effector, depth in rows:
        # NaN satisfies none of these.
        visible = -edge <= target[0] <= wide + edge and -edge <= target[1] <= high + edge
        together = math.dist(target, effector) <= near
        missed = mark.on and not mark.reached and mark.target is not None
        short = missed and not mark.quiet
        seen.append(Seen(mark, target, effector, depth, visible, missed, short, together))
    order = sorted([(row.mark.selected, -row.depth, place) for place, row in enumerate(seen)])
    return [seen[place] for _, _, place in order]


def mark_stamps(seen: Sequence[Seen], projection: Projection, scale: float, gizmo: Sequence[Shape] = ()) -> list[Stamp]:
    """The handles: first all links, then the marks over them, ``scale`` physical per logical pixels.

    A handle inside the gizmo, which has these shapes, is drawn smaller.
    """
    links: list[Path] = []
    signs: list[Stamp] = []
    for one in seen:
        mark = one.mark
        if one.missed or mark.pole or (mark.yields and mark.target is not None):
            links += _link(mark, projection, scale)
        if one.short and not one.one and is_on_view(one.effector, projection, scale):
            signs.append((rows_of(ring("effector", 1.0, scale)), one.effector))
        if one.visible:
            held = mark.selected and is_about(gizmo, one.at, scale)
            pins = mark.pin_position, mark.pin_rotation
            states = (
                mark.on, mark.reached, mark.quiet, mark.hovered, mark.selected, mark.root, mark.target is not None,
                mark.pole, mark.yields,
            )  # fmt: skip
            for stamp in _signs(*states, *pins, one.one, held, scale):
                signs.append((stamp, one.at))  # noqa: PERF401 - a comprehension would add a call per mark
    return [(rows_of(tessellate(links)), HERE), *signs] if links else signs


def is_on_view(pixel: Pixel, projection: Projection, scale: float) -> bool:
    """Whether a mark at a pixel is visible; not for NaN."""
    edge, (x, y), (wide, high) = _MARGIN * scale, pixel, projection.size
    return -edge <= x <= wide + edge and -edge <= y <= high + edge


@lru_cache(maxsize=256)
def _signs(
    on: bool, reached: bool, quiet: bool, hovered: bool, selected: bool, is_root: bool, aims: bool, is_pole: bool,
    yields: bool,
    pin_position: bool, pin_rotation: bool, together: bool, held: bool, scale: float,
) -> tuple[Singles, ...]:  # fmt: skip
    """The triangles of a handle's marks around (0, 0); ``held``: a gizmo is drawn around it."""
    pinned = pin_position or pin_rotation
    result = [selection(scale)] if selected and not held else []
    if quiet and not reached and on:
        result.append(missed(scale, pinned=pinned))
    state = "hovered" if hovered else "target" if reached or quiet else "unreached"
    if is_root:
        result.append(root("hovered" if hovered else "effector", scale))
    elif is_pole and not on:
        result.append(cone("hovered" if hovered else "text3", scale, filled=False))
    elif not on:
        result.append(ring("hovered" if hovered else "text3", 1.0 if hovered else 0.8, scale))
    elif pinned:
        result.append(pin(state, scale, position=pin_position, rotation=pin_rotation))
    elif not aims:
        result.append(rotation_target(state, scale))
    elif is_pole:
        result.append(cone(state, scale))
    else:
        half = _HALF_IN_GIZMO if held or yields else _HALF
        result.append(diamond(state, half, scale, dot=together or (reached and not yields)))
    return tuple(map(rows_of, result))


def draw_guides(scene: Scene, lines: Lines) -> None:
    """Add lines where goals are met, and circles for elbows and knees with a pole or of a selected limb."""
    for mark in scene.marks if scene.display.goals else ():
        for guide in mark.guides:
            lines.curve(guide, rgba("target" if mark.reached else "unreached"), _GUIDE_PX)
        if mark.swivel is not None:
            lines.curve(mark.swivel, rgba("text3"), _SWIVEL_PX)


def draw_ties(scene: Scene, lines: Lines) -> None:
    """Add a thin line between effectors that hold together."""
    for tie in scene.ties if scene.display.goals else ():
        colour = "unreached" if not tie.reached else "target" if tie.selected else "text2"
        lines.curve(tie.ends, rgba(colour), _TIE_PX)


def _link(mark: Mark, projection: Projection, scale: float) -> list[Path]:
    """The dashed line from an effector to a target that it does not reach; thin dots of a hold that gives way."""
    assert mark.target is not None
    ends = segment_pixels(projection, mark.position, mark.target)
    line = clipped(ends[0], ends[1], projection.size, _MARGIN * scale) if ends is not None else None
    if line is None:
        return []
    if mark.quiet or (mark.pole and mark.reached):
        colour = rgba("unreached" if mark.quiet else "target" if mark.on else "text3", _FAINT)
        return [Path(np.stack(line), colour, _THIN_PX * scale)]
    if mark.yields:
        pieces = dashes(*line, _LEASH_ON * scale, _LEASH_OFF * scale)
        return [Path(piece, rgba("target"), _LEASH_PX * scale) for piece in pieces]
    pieces = dashes(*line, _LINK_ON * scale, _LINK_OFF * scale)
    rims = [Path(piece, HALO, (_LINK_PX + 2.0) * scale) for piece in pieces]
    return rims + [Path(piece, rgba("unreached"), _LINK_PX * scale) for piece in pieces]


def segment_pixels(projection: Projection, start: Floats, end: Floats) -> Floats | None:
    """Pixels (2, 2) of the part of a line from (3,) to (3,) in front of the eye, or None."""
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


HALO = rgba("halo", 0.6)
_SHADE = rgba("halo", 0.35)
_LINE, _RIM = 2.0, 1.0
"""Pixels of a mark's line, and of the dark rim on either side, which gives contrast to any background."""
_DOT, _RING, _TURN_RING, _SELECTED_RING = 2.8, 6.0, 14.5, 19.0
_MISSED, _MISSED_PIN, _THIN = 12.5, 17.0, 1.2
_HALF_PIN, _PIN_CORNER, _CHIP_CORNER = 9.0, 4.0, 5.0
_SWIVEL_PX = 1.2
_GUIDE_PX = 1.6
_TIE_PX = 1.6
_CONE = np.array([[0.0, -8.0], [7.0, 6.0], [-7.0, 6.0]])
_CHEVRON = np.array([[-3.6, 3.2], [0.0, 0.0], [3.6, 3.2]])
_CHEVRON_OUT = 17.0


def placed(stamps: Sequence[Stamp]) -> Records:
    """FLAT triangles of stamps; later ones are drawn over earlier ones."""
    if not stamps:
        return np.empty(0, FLAT)
    rows = np.concatenate([stamp for stamp, _ in stamps])
    moves = np.array([complex(*place) for _, place in stamps], np.complex64)
    rows.view(np.complex64)[:, 0] += moves.repeat([len(stamp) for stamp, _ in stamps])
    return rows.reshape(-1).view(FLAT)


@lru_cache(maxsize=256)
def diamond(colour: str, half: float, scale: float, *, dot: bool) -> Records:
    """A target; with ``dot`` it contains the effector, which has reached it."""
    outline = half * scale * DIAMOND
    return tessellate([Path(outline, _SHADE), *_lines([outline], rgba(colour), scale), *(_dot(scale) if dot else ())])


@lru_cache(maxsize=64)
def cone(colour: str, scale: float, *, filled: bool = True) -> Records:
    """A pole: a cone; an outline where it is free."""
    outline = _CONE * scale
    inside = rgba(colour, 0.5) if filled else _SHADE
    return tessellate([Path(outline, inside), *_lines([outline], rgba(colour), scale)])


@lru_cache(maxsize=64)
def rotation_target(colour: str, scale: float) -> Records:
    """The round mark of a goal for a rotation only."""
    outline = circle((0.0, 0.0), 9.0 * scale)
    return tessellate([Path(outline, _SHADE), *_lines([outline], rgba(colour), scale), *_dot(scale)])


@lru_cache(maxsize=64)
def ring(colour: str, alpha: float, scale: float) -> Records:
    """An effector that misses its target, or that has no goal."""
    return tessellate(_lines([circle((0.0, 0.0), _RING * scale)], rgba(colour, alpha), scale))


@lru_cache(maxsize=16)
def missed(scale: float, *, pinned: bool) -> Records:
    """A thin ring around the mark of a goal that is missed and has no label."""
    outline = circle((0.0, 0.0), (_MISSED_PIN if pinned else _MISSED) * scale)
    return tessellate(
        [
            Path(outline, (*HALO[:3], 0.5 * HALO[3]), (_THIN + 2.0 * _RIM) * scale, closed=True),
            Path(outline, rgba("unreached", 0.8), _THIN * scale, closed=True),
        ]
    )


@lru_cache(maxsize=64)
def pin(colour: str, scale: float, *, position: bool, rotation: bool) -> Records:
    """A pinned goal: a drawing pin for its position, a ring around the square for its rotation."""
    side = _HALF_PIN * scale
    square = box(-side, -side, side, side, _PIN_CORNER * scale)
    paths = [Path(square, rgba("panel", 0.8)), *_lines([square], rgba(colour), scale)]
    if rotation:
        paths += _lines([circle((0.0, 0.0), _TURN_RING * scale)], rgba(colour), scale)
    paths += _tack(rgba(colour), scale) if position else _dot(scale)
    return tessellate(paths)


@lru_cache(maxsize=64)
def root(colour: str, scale: float) -> Records:
    """The root's handle: arrows in four directions, hollow, so that an effector at the root stays visible."""
    up = (_CHEVRON - (0.0, _CHEVRON_OUT)) * scale
    quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    ways = [up, up @ quarter, -up, -up @ quarter]
    return tessellate([*_lines(ways, rgba(colour), scale, closed=False), *_dot(scale)])


@lru_cache(maxsize=8)
def selection(scale: float) -> Records:
    """A ring around a selected handle that has no gizmo."""
    return tessellate(_lines([circle((0.0, 0.0), _SELECTED_RING * scale)], rgba("accent"), scale))


@lru_cache(maxsize=16)
def warning(scale: float, size: float) -> Records:
    """An exclamation mark in a triangle, ``size`` pixels high."""
    unit = size * scale * np.array([[0.0, -0.5], [0.56, 0.46], [-0.56, 0.46]])
    paths = [Path(unit * 0.82, rgba("warn")), Path(unit * 0.82, rgba("warn"), 0.16 * size * scale, closed=True)]
    stem, foot = size * scale * np.array([[0.0, -0.14], [0.0, 0.14]]), (0.0, 0.33 * size * scale)
    ink = rgba("panel")
    return tessellate([*paths, Path(stem, ink, 0.12 * size * scale), Path(circle(foot, 0.075 * size * scale), ink)])


@lru_cache(maxsize=64)
def chip(wide: int, high: int, scale: float) -> Records:
    """The box of a warning label, in whole pixels, its top left corner at 0."""
    outline = box(0.0, 0.0, wide, high, _CHIP_CORNER * scale)
    return tessellate([Path(outline, rgba("panel", 0.94)), Path(outline, rgba("warn"), 1.2 * scale, closed=True)])


def _lines(outlines: Sequence[Floats], colour: RGBA, scale: float, *, closed: bool = True) -> list[Path]:
    """The outlines, with their dark rims below them."""
    rim = (*HALO[:3], HALO[3] * colour[3])
    under = [Path(outline, rim, (_LINE + 2.0 * _RIM) * scale, closed) for outline in outlines]
    return under + [Path(outline, colour, _LINE * scale, closed) for outline in outlines]


def _dot(scale: float) -> tuple[Path, Path]:
    rim, dot = circle((0.0, 0.0), (_DOT + _RIM) * scale), circle((0.0, 0.0), _DOT * scale)
    return Path(rim, HALO), Path(dot, rgba("effector"))


def _tack(colour: RGBA, scale: float) -> list[Path]:
    """A drawing pin: head, neck, collar, needle."""
    head = box(-3.5, -5.6, 3.5, -4.0, 0.7)
    neck = np.array([[-2.3, -4.4], [2.3, -4.4], [2.7, -0.6], [-2.7, -0.6]])
    collar = np.array([[-2.7, -1.0], [2.7, -1.0], [4.5, 1.5], [-4.5, 1.5]])
    needle = np.array([[-0.75, 1.5], [0.75, 1.5], [0.5, 5.8], [-0.5, 5.8]])
    return [Path(scale * outline, colour) for outline in (head, neck, collar, needle)]


_WIDTH, _KEY_DOT, _FRAME_DOT = 2.0, 3.8, 2.1
"""Width of the line, and radii of the dots at keys and at other frames, pixels of the design."""
_NEAR, _FAR = 0.95, 0.25
"""Opacity at the current frame and at the ends."""


def draw_trails(scene: Scene, scale: float, lines: Lines) -> Records:
    """Add the lines of trails, and return the dots at keys, and at frames of selected trails, as SPHERE records.

    The past is a solid line; the future is dashed, with a piece for every second frame.
    """
    dots = []
    for trail in scene.trails:
        name = "accent" if trail.selected else "ghost"
        _way(trail, name, lines)
        every = {*trail.keys}
        # A recording has a key at every frame: of such a run only the ends are marked.
        keys = [place for place in trail.keys if place != trail.now and not {place - 1, place + 1} <= every]
        between = sorted({*trail.dotted} - {*keys, trail.now})
        for places, radius, colour in ((between, _FRAME_DOT, "text"), (keys, _KEY_DOT, "text")):
            if places:
                dots.append(_dots(trail.points[places], radius * scale, colour))
    return np.concatenate(dots) if dots else np.empty(0, SPHERE)


def _way(trail: Trail, name: str, lines: Lines) -> None:
    count = len(trail.points)
    coming = np.arange(count - 1) - trail.now
    farthest = np.where(coming >= 0, max(count - 1 - trail.now, 1), max(trail.now, 1))
    shown = np.flatnonzero((coming < 0) | (coming % 2 == 0))
    colours = np.tile(rgba(name), (len(shown), 1))
    colours[:, 3] = _NEAR + (np.abs(coming) / farthest)[shown] * (_FAR - _NEAR)
    lines.shaded(trail.points[shown], trail.points[shown + 1], colours, _WIDTH)


def _dots(places: Floats, pixels: float, colour: str) -> Records:
    records = np.zeros(len(places), SPHERE)
    records["centre"], records["least_px"] = places, pixels
    records["colour"] = (*PALETTE[colour], 1.0)
    return records


# --- on the floor

MARGIN = 0.03
"""Margin in metres below which a figure of human size gets a warning; others in proportion."""
_HUMAN = 1.75
_SHORT = 0.002
"""Tolerance of that margin: a figure that is kept exactly at it gets no warning."""
_MASS_DISC, _MASS_RIM, _ASIDE, _MASS_SIZE = 9.0, 1.5, 16.0, 13
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
    under = Path(circle(here, (_MASS_DISC + _MASS_RIM) * scale), black)
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
        corners = _sole(one, scene.floor, height)
        tone = one.side if one.planted else "warn"
        edge = rgba(tone, _EDGE_NOW if one.now else _PRINT_EDGE)
        lines.segments(
            corners, np.roll(corners, -1, axis=0), edge, _PRINT_EDGE_PX, (0.0, 0.0) if one.planted else _DASH
        )
        if one.planted:
            filled.append(_fan(corners, rgba(tone, _FILL_NOW if one.now else _FILL)))
        elif one.now:
            words += _slide_words(one, corners, projection, scale)
    return (np.concatenate(filled) if filled else np.empty(0, VERTEX)), words


def _sole(one: Footprint, floor: float, height: float) -> Floats:
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


def _slide_words(one: Footprint, corners: Floats, projection: Projection, scale: float) -> list[Text]:
    place = corners.mean(axis=0)
    if projection.depth(place) <= 0.0 or one.slides_cm < 0.05:
        return []
    x, y = projection.project(place).tolist()
    return [Text(f"slides {one.slides_cm:.1f} cm", x + 16.0 * scale, y, rgba("warn"), _SLIDE_SIZE)]
