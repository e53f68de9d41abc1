"""The draw list of a scene in a projection: arrays of primitives, ready to be drawn, with words and signs over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from viewer.errors import shown
from viewer.gizmo import Fill, Letter, Shape, Stroke
from viewer.ik.findings import FAR, far
from viewer.scene import marks, solids
from viewer.scene.flat import circle, rows_of, shape_records
from viewer.scene.limit_drawing import draw_limits
from viewer.scene.look import figure_points, look_of, rgba
from viewer.scene.marks import (
    HERE,
    Pixel,
    Seen,
    Stamp,
    draw_balance,
    draw_footprints,
    draw_guides,
    draw_ties,
    draw_trails,
    mark_stamps,
    placed,
    seen_marks,
)
from viewer.scene.primitives import (
    BONE,
    CAPSULE,
    FLAT,
    GRID_REACH,
    SOLID,
    SPHERE,
    VERTEX,
    DrawList,
    Ground,
    Lines,
    Records,
    Text,
    joined,
    text_width,
)
from viewer.scene.scene import Ghost, OtherFigure, Scene
from viewer.spatial.checks import Bools, Floats, Ints
from viewer.spatial.projection import Projection
from viewer.spatial.quaternion import to_matrix

_NO_CAPSULES, _NO_DOTS, _NO_SOLIDS = np.empty(0, CAPSULE), np.empty(0, SPHERE), np.empty(0, SOLID)
_NO_STICKS = np.empty(0, BONE)
_CELLS = 8.0
_CLEAR = 0.05
"""Distance of an upright grid behind the figure, as a fraction of the figure's height."""


@lru_cache(maxsize=8)
def cell_of(height: float) -> float:
    """Metres of a cell of the grid: the power of 10 at or below an eighth of the figure's height."""
    return 10.0 ** math.floor(math.log10(height / _CELLS) + 1e-9)


_DRAWN = 6.0
"""Logical pixels between the lines of a level of the grid from which it is seen; ``ground.frag`` fades it in there."""


def cell_shown(scene: Scene, projection: Projection, scale: float) -> float:
    """Metres between the finest lines of the grid that are seen under the figure, at a scale as of `draw_list`."""
    ground = ground_of(scene)
    middle = np.array(ground.middle)
    steps = ground.cell * np.stack([np.eye(3)["xyz".index(axis)] for axis in ground.along])
    pixels = projection.project(np.stack([middle, *(middle + steps)]))
    (ax, ay), (bx, by) = (pixels[1:] - pixels[0]).tolist()  # the sides of a cell
    farthest = abs(ax * by - ay * bx) / max(min(math.hypot(ax, ay), math.hypot(bx, by)), 1e-9)  # between opposite sides
    return ground.cell if farthest >= _DRAWN * scale else 10.0 * ground.cell


def ground_of(scene: Scene) -> Ground:
    """The floor, centred under the figure's first root; the grid is upright if the body is confined to such a plane."""
    height = scene.height or look_of(scene.skeleton).height
    x, _, z = scene.world.positions[0].tolist()  # parents come first
    # An upright grid is behind everything, so that its lines cross nothing.
    upright = {"xy": 2, "yz": 0}.get(scene.plane or "")
    least = 0.0 if upright is None else float(scene.world.positions[:, upright].min()) - _CLEAR * height
    disc, patch = _reach(scene, height) if scene.others else (None, None)
    return Ground(
        y=scene.floor,
        cell=cell_of(height),
        height=height,
        centre=(x, scene.floor, z),
        grid=scene.display.grid,
        shadow=scene.display.shadow,
        along="xz" if upright is None else "xy" if upright == 2 else "zy",
        behind=least,
        disc=disc,
        patch=patch,
    )


_SHADOW = 1.3
"""Heights of the figure to which its shadow may fall."""
_Round = tuple[float, float, float]


def _reach(scene: Scene, height: float) -> tuple[_Round, _Round]:
    """x, z and radius of the grid round several figures, and x, z and half side of the square of their shadows."""
    roots = np.array([scene.world.positions[0], *(other.world.positions[0] for other in scene.others)])[:, [0, 2]]
    least, most = roots.min(axis=0), roots.max(axis=0)
    x, z = (0.5 * (least + most)).tolist()
    tallest = max(height, *(look_of(other.skeleton).height for other in scene.others))
    wide, half = 0.5 * float(np.linalg.norm(most - least)), 0.5 * float((most - least).max())
    return (x, z, wide + GRID_REACH * height), (x, z, half + _SHADOW * tallest)


def draw_list(
    scene: Scene,
    projection: Projection,
    scale: float = 1.0,
    extra: Sequence[Shape] = (),
    captions: Sequence[Text] = (),
    words: Sequence[Text] = (),
) -> DrawList:
    """All primitives of a scene, for a projection to the view's pixels, ``scale`` physical ones per logical one.

    ``extra`` are shapes of the gizmo, drawn over the handles; ``captions`` are texts below all others, ``words`` over
    all.
    """
    display, skeleton = scene.display, scene.skeleton
    measured = solids.measure(skeleton, scene.world, scene.height)
    lines = Lines(scale)
    discs = _ghost_discs(scene, projection, scale) if scene.ghosts else []
    extra = [*extra, *(Fill(circle(at, _GHOST_DISC * scale), ghost.colour) for ghost, at in discs)] if discs else extra
    cones = draw_limits(scene, projection, scale, lines)
    letters = _draw_axes(scene, projection, scale, lines) if display.axes else []
    dots = draw_trails(scene, scale, lines) if scene.trails else _NO_DOTS
    solids.draw_way(scene, measured, lines)
    draw_guides(scene, lines)
    draw_ties(scene, lines)
    flat, signs = _overlay(scene, projection, scale, extra)
    touched = solids.draw_touches(scene, projection, scale, lines) if scene.touches else []
    if display.balance:
        polygon, disc, margin = draw_balance(scene, projection, scale, lines)
        cones, flat, signs = joined([cones, polygon], VERTEX), joined([disc, flat], FLAT), [*margin, *signs]
    if scene.footprints:
        soles, slides = draw_footprints(scene, projection, scale, lines)
        cones, signs = joined([cones, soles], VERTEX), [*slides, *signs]
    bodies = solids.body_records(scene, scale) if display.bodies else _NO_CAPSULES
    balls = solids.ball_records((*scene.props, *scene.balls), scale) if scene.props or scene.balls else _NO_CAPSULES
    labels = [*_ghost_labels(scene, projection, scale), *_disc_letters(discs)] if scene.ghosts else []
    names = _name_texts(scene, projection, scale) if display.names or scene.at_limit & scene.selected else []
    skins = solids.skin_draws(scene) if scene.skin is not None and display.shows_skins else ()
    through = display.see_through
    if skins and not through:
        sticks, joints = _NO_STICKS, _NO_DOTS
    else:
        sticks, joints = solids.bone_records(scene, measured, scale), solids.sphere_records(scene, measured, scale)
    if scene.others:
        dressed = [draw for other in scene.others if (draw := solids.other_skin(other))] if display.shows_skins else []
        skins = (*skins, *dressed)
        plain = [other for other in scene.others if not (dressed and other.skin is not None)]
        beside = [solids.other_sticks(other, scale) for other in plain]
        sticks = joined([sticks, *(bones for bones, _ in beside)], BONE)
        joints = joined([joints, *(spheres for _, spheres in beside)], SPHERE)
        names = [*_other_names(scene.others, projection), *names]
        if display.bodies:
            balls = joined([balls, *(solids.other_bodies(other, scale) for other in scene.others)], CAPSULE)
    return DrawList(
        bones=sticks,
        spheres=joined([joints, dots], SPHERE) if len(dots) else joints,
        lines=lines.records(),
        triangles=cones,
        flat=flat,
        texts=(*captions, *labels, *names, *letters, *touched, *signs, *words),
        ground=ground_of(scene),
        ghosts=solids.ghost_records(scene, scene.ghosts),
        capsules=balls if through or not len(bodies) else joined([bodies, balls], CAPSULE),
        veils=bodies if through else _NO_CAPSULES,
        solids=solids.solid_records(scene.props) if scene.props else _NO_SOLIDS,
        skins=skins,
        sticks=through or not len(bodies),
    )


def _overlay(scene: Scene, projection: Projection, scale: float, extra: Sequence[Shape]) -> tuple[Records, list[Text]]:
    """FLAT triangles and texts: handles, over them view axes and gizmo, on top the labels of missed targets."""
    disc = [_disc(projection, scale, scene.hovered_axis)] if scene.display.view_axes else []
    gizmo = [shape_records(extra)] if extra else []
    over: list[Stamp] = [(rows_of(records), HERE) for records, _ in (*disc, *gizmo)]
    letters = [text for _, texts in (*disc, *gizmo) for text in texts]
    if not scene.display.goals:
        return placed(over), letters
    seen = seen_marks(scene.marks, projection, scale)
    short = [one for one in seen if one.short]
    chips, words = _draw_chips(short, projection, scale) if short else ([], [])
    return placed([*mark_stamps(seen, projection, scale, extra), *over, *chips]), [*letters, *words]


@lru_cache(maxsize=4)
def _disc(projection: Projection, scale: float, hovered: str) -> tuple[Records, list[Text]]:
    """The view axes, which change only with the camera."""
    return shape_records(axes_shapes(projection, scale, hovered))


# --- words

_SMALL = 13
_AXIS_PX, _LETTER_PX, _AXIS_WIDTH = 38.0, 9.0, 2.0
_NAME_ASIDE, _NAME_HEIGHT = 14.0, 15.0
_LABEL_ABOVE, _NAME_ABOVE = 0.05, 0.045
"""Heights above their heads of ghosts' labels and of figures' names, as fractions of the figure's height."""
_LABEL_WIDE = 34.0
"""Width of a ghost's label with its margin, logical pixels."""
_GHOST_DISC = 8.0
"""Radius of the disc of a ghost's letter, logical pixels."""
_CELL = 4.0
"""Logical pixels of the cells in which occupied parts of the view are recorded."""


def _draw_axes(scene: Scene, projection: Projection, scale: float, lines: Lines) -> list[Text]:
    """Add the axes of the selected joints, with a constant length on the screen, and return their letters."""
    if not (scene.display.axes and scene.selected):
        return []
    joints = sorted(scene.selected)
    places = scene.world.positions[joints]
    pixels = projection.pixels_per_metre(places)
    seen = pixels > 0.0
    places, turns = places[seen], to_matrix(scene.world.rotations[joints])[seen]
    texts = []
    for axis, name in enumerate("xyz"):
        way = turns[:, :, axis] / pixels[seen, None] * scale
        lines.segments(places, places + _AXIS_PX * way, rgba(name), _AXIS_WIDTH)
        tips = projection.project(places + (_AXIS_PX + _LETTER_PX) * way)
        for x, y in tips[projection.inside(tips, 0.0)].tolist():
            texts.append(Text(name.upper(), x, y, rgba(name), _SMALL, "centre", bold=True))
    return texts


def _ghost_labels(scene: Scene, projection: Projection, scale: float = 1.0) -> list[Text]:
    """The frame number of each ghost above its head; of overlapping labels the strongest ghost's is kept."""
    texts: list[Text] = []
    height = scene.height or look_of(scene.skeleton).height
    for ghost in sorted((one for one in scene.ghosts if one.label and one.at is None), key=lambda one: -one.alpha):
        points = figure_points(scene.skeleton, ghost.world)
        top = points[int(np.argmax(points[:, 1]))] + (0.0, _LABEL_ABOVE * height, 0.0)
        pixel = projection.project(top)
        if projection.inside(pixel):
            x, y = pixel.tolist()
            if not any(abs(x - other.x) < _LABEL_WIDE * scale and abs(y - other.y) < _SMALL * scale for other in texts):
                texts.append(Text(ghost.label, x, y, rgba("ghost"), _SMALL, "centre"))
    return texts


def _ghost_discs(scene: Scene, projection: Projection, scale: float) -> list[tuple[Ghost, Pixel]]:
    """Ghosts whose label is in a disc, and its position; a disc moves to the right of one that it would cover."""
    found: list[tuple[Ghost, Pixel]] = []
    for ghost in scene.ghosts:
        if ghost.at is None:
            continue
        x, y = projection.project(ghost.at).tolist()
        while any(math.hypot(x - u, y - v) < 2.0 * _GHOST_DISC * scale for _, (u, v) in found):
            x += 2.0 * _GHOST_DISC * scale
        if projection.inside(np.array([x, y])):
            found.append((ghost, (x, y)))
    return found


def _disc_letters(discs: Sequence[tuple[Ghost, Pixel]]) -> list[Text]:
    ink = rgba("on_accent")
    return [Text(ghost.label, x, y, ink, _SMALL, "centre", halo=False, bold=True) for ghost, (x, y) in discs]


def _name_texts(scene: Scene, projection: Projection, scale: float) -> list[Text]:
    """Names of joints: all if the display shows names, else those of selected joints at a limit.

    A name that would cover another is left out; the hovered joint, selected joints and handles have priority.
    """
    joints = _named(scene)
    if not joints.size:
        return []
    pixels, (width, height) = projection.project(scene.world.positions[joints]), projection.size
    taken = np.zeros((int(height / (_CELL * scale)) + 2, int(width / (_CELL * scale)) + 2), bool)
    texts = []
    for joint, (x, y) in zip(joints.tolist(), pixels.tolist(), strict=True):
        if not (0.0 <= x <= width and 0.0 <= y <= height):  # NaN is not, either
            continue
        limited = joint in scene.at_limit and joint in scene.selected
        words = shown(scene.skeleton.names[joint]) + (" at its limit" if limited else "")
        left = x + _NAME_ASIDE * scale
        wide = text_width(words, _SMALL * scale)
        if _take(taken, (left, y - 0.5 * _NAME_HEIGHT * scale, wide, _NAME_HEIGHT * scale), scale):
            texts.append(Text(words, left, y, _name_colour(scene, joint, limited=limited), _SMALL))
    return texts


def _named(scene: Scene) -> Ints:
    """Joints to be named, in order of priority."""
    if not scene.display.names:
        return np.array(sorted(scene.at_limit & scene.selected), dtype=np.intp)
    handles = {mark.joint for mark in scene.marks}
    rank = dict.fromkeys(range(len(scene.skeleton)), 3) | dict.fromkeys(handles, 2) | dict.fromkeys(scene.selected, 1)
    rank[scene.hovered] = 0
    rank.pop(-1, None)
    return np.array(sorted(rank, key=lambda joint: (rank[joint], joint)), dtype=np.intp)


def _name_colour(scene: Scene, joint: int, *, limited: bool) -> tuple[float, float, float, float]:
    if limited:
        return rgba("limit")
    if joint == scene.hovered:
        return rgba("hovered")
    return rgba("accent" if joint in scene.selected else "text2")


def _take(taken: Bools, place: tuple[float, float, float, float], scale: float) -> bool:
    """Mark a box (left, top, width, height) as occupied; whether it was free."""
    left, top, wide, high = (number / (_CELL * scale) for number in place)
    rows = slice(max(int(top), 0), max(int(top + high) + 1, 0))
    columns = slice(max(int(left), 0), max(int(left + wide) + 1, 0))
    if taken[rows, columns].any():
        return False
    taken[rows, columns] = True
    return True


_HEIGHT, _PAD, _ICON, _GAP = 26.0, 8.0, 14.0, 6.0
_LEFT, _BELOW, _EDGE = -8.0, 24.0, 4.0
"""Pixels from the target to the label's top left corner, and its distance to the view's edges."""
_SIZE = 15
_LEAST_SAID, _LEAST_TURN = 5e-4, 0.1
"""Metres below which degrees are said instead, if there are as many."""

Extent = tuple[float, float, float, float]


def short_text(metres: float, degrees: float = 0.0, *, too_near: bool = False) -> str:
    """The error of a missed target: ``178 mm short``, ``3 mm too near``, from ten metres on ``11.1 m short``.

    Of one whose position is met, the degrees of its rotation: ``120.0° off``.
    """
    if metres < _LEAST_SAID and degrees >= _LEAST_TURN:
        return f"{degrees:.1f}° off"
    size = metres * 1000.0
    digits = 0 if size >= 10.0 else 1 if size >= 0.1 else 3
    length = far(metres) if metres >= FAR else f"{size:.{digits}f} mm"
    return f"{length} {'too near' if too_near else 'short'}"


def _draw_chips(seen: Sequence[Seen], projection: Projection, scale: float) -> tuple[list[Stamp], list[Text]]:
    """Labels of missed targets; of overlapping ones the selected or else the larger error is kept."""
    missed = [
        one
        for one in seen
        if one.short and one.visible and (one.mark.error_m > 0.0 or one.mark.error_deg >= _LEAST_TURN)
    ]
    taken: list[Extent] = []
    signs: list[Stamp] = []
    texts: list[Text] = []
    for one in sorted(missed, key=lambda miss: (not miss.mark.selected, -miss.mark.error_m, -miss.mark.error_deg)):
        words = short_text(one.mark.error_m, one.mark.error_deg, too_near=one.mark.too_near)
        wide = round((2.0 * _PAD + _ICON + _GAP) * scale + text_width(words, _SIZE * scale, bold=True))
        high = round(_HEIGHT * scale)
        left, top = _placed(one.at, (wide, high), projection, scale)
        if any(_overlap((left, top, left + wide, top + high), other) for other in taken):
            continue
        taken.append((left, top, left + wide, top + high))
        middle = top + 0.5 * high
        signs.append((rows_of(marks.chip(wide, high, scale)), (left, top)))
        signs.append((rows_of(marks.warning(scale, _ICON)), (left + (_PAD + 0.5 * _ICON) * scale, middle)))
        start = left + (_PAD + _ICON + _GAP) * scale
        texts.append(Text(words, start, middle, rgba("text"), _SIZE, halo=False, bold=True))
    return signs, texts


def _placed(at: Pixel, chip: tuple[int, int], projection: Projection, scale: float) -> Pixel:
    """Top left corner of a label: below its target, inside the view and beside the axes, at whole pixels."""
    edge = _EDGE * scale
    top = min(max(at[1] + _BELOW * scale, edge), max(projection.size[1] - chip[1] - edge, edge))
    left = min(max(at[0] + _LEFT * scale, edge), max(right_end(projection, top, scale) - chip[0] - edge, edge))
    return float(round(left)), float(round(top))


def _overlap(a: Extent, b: Extent) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _other_names(others: tuple[OtherFigure, ...], projection: Projection) -> list[Text]:
    """The name of the figure under the pointer, above its head."""
    texts = []
    for other in others:
        if not other.hovered:
            continue
        points = other.points
        top = points[int(np.argmax(points[:, 1]))] + (0.0, _NAME_ABOVE * look_of(other.skeleton).height, 0.0)
        pixel = projection.project(top)
        if projection.inside(pixel):
            x, y = pixel.tolist()
            texts.append(Text(other.name, x, y, rgba("text"), _SMALL, "centre"))
    return texts


# --- the view axes

RADIUS = 44.0
_MARGIN, _REACH, _DOT, _HOLLOW = 8.0, 33.0, 9.5, 5.5
_DISC, _DISC_HOVERED = 0.35, 0.6
_FAINTEST = 0.55
"""Opacity of an axis that points away from the viewer."""
_AXES = ("x", "y", "z", "-x", "-y", "-z")
_DIRECTIONS = np.concatenate([np.eye(3), -np.eye(3)])


def centre_of(projection: Projection, scale: float = 1.0) -> Floats:
    """(2,) pixels of the disc's centre."""
    inset = (RADIUS + _MARGIN) * scale
    return np.array([projection.size[0] - inset, inset])


def right_end(projection: Projection, top: float, scale: float = 1.0) -> float:
    """The x up to which words fit whose upper edge is at ``top``: that of the disc beside them, or of the view."""
    x, y = (centre_of(projection, scale) + RADIUS * scale * np.array((-1.0, 1.0))).tolist()
    return x if top < y else float(projection.size[0])


def axes_shapes(projection: Projection, scale: float = 1.0, hovered: str | None = None) -> list[Shape]:
    """The disc: filled dots with letters at the positive ends of the axes, hollow dots at the others, back to front.

    ``hovered``: the result of `pick_axis` at the pointer.
    """
    middle = centre_of(projection, scale)
    ends, depths = _ends(projection, middle, scale)
    result: list[Shape] = [Fill(circle(middle, RADIUS * scale), "line_hi", _DISC_HOVERED if hovered else _DISC)]
    for end in np.argsort(depths, kind="stable").tolist():
        name, place = _AXES[end], ends[end]
        colour = "hovered" if name == hovered else name[-1]
        alpha = 1.0 if name == hovered else _FAINTEST + (1.0 - _FAINTEST) * 0.5 * (1.0 + float(depths[end]))
        if end < 3:
            result.append(Stroke(np.stack([middle, place]), 2.0 * scale, colour, alpha))
            result.append(Fill(circle(place, _DOT * scale), colour, alpha))
            result.append(Letter(name.upper(), place, "on_accent", 1.0))
        else:
            result.append(Fill(circle(place, _HOLLOW * scale), colour, 0.12))
            result.append(Stroke(circle(place, _HOLLOW * scale), 1.4 * scale, colour, alpha, closed=True))
    return result


def pick_axis(projection: Projection, x: float, y: float, scale: float = 1.0) -> str:
    """The part of the disc at a pixel: "x", "-x", ..., "disc" between the axes, "" outside."""
    middle = centre_of(projection, scale)
    if not np.hypot(x - middle[0], y - middle[1]) <= RADIUS * scale:
        return ""
    ends, depths = _ends(projection, middle, scale)
    away = np.hypot(ends[:, 0] - x, ends[:, 1] - y)
    near = [end for end in range(len(_AXES)) if away[end] <= (_DOT + 1.0) * scale]
    return _AXES[max(near, key=lambda end: float(depths[end]))] if near else "disc"


def _ends(projection: Projection, middle: Floats, scale: float) -> tuple[Floats, Floats]:
    """Pixels (6, 2) of the axes' ends, and the cosine (6,) of each to the direction of the viewer."""
    across = _DIRECTIONS @ np.stack([projection.right, -projection.up], axis=1)
    return middle + _REACH * scale * across, _DIRECTIONS @ projection.back
