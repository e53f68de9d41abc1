"""The draw list of a scene in a projection: arrays of primitives, ready to be drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from viewer.gizmo import Fill, Shape
from viewer.scene import bones as figure
from viewer.scene.annotations import (
    DISC,
    axes_shapes,
    disc_letters,
    draw_axes,
    draw_chips,
    ghost_discs,
    ghost_labels,
    name_texts,
)
from viewer.scene.bones import HOVERED_PX, Sizes, States
from viewer.scene.flat import circle, rows_of, shape_records
from viewer.scene.limit_drawing import draw_limits
from viewer.scene.look import PALETTE, look_of, rgba
from viewer.scene.marks import (
    HERE,
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
    copied,
    joined,
)
from viewer.scene.scene import OtherFigure, Scene
from viewer.scene.solids import (
    ball_records,
    body_records,
    draw_touches,
    other_skin,
    plain_bodies,
    skin_draws,
    solid_records,
)
from viewer.skeleton import Skeleton, bodies_of
from viewer.spatial.checks import Floats
from viewer.spatial.projection import Projection

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
    measured = figure.measure(skeleton, scene.world, scene.height)
    lines = Lines(scale)
    discs = ghost_discs(scene, projection, scale) if scene.ghosts else []
    extra = [*extra, *(Fill(circle(at, DISC * scale), ghost.colour) for ghost, at in discs)] if discs else extra
    cones = draw_limits(scene, projection, scale, lines)
    letters = draw_axes(scene, projection, scale, lines) if display.axes else []
    dots = draw_trails(scene, scale, lines) if scene.trails else _NO_DOTS
    figure.draw_way(scene, measured, lines)
    draw_guides(scene, lines)
    draw_ties(scene, lines)
    flat, signs = _overlay(scene, projection, scale, extra)
    touched = draw_touches(scene, projection, scale, lines) if scene.touches else []
    if display.balance:
        polygon, disc, margin = draw_balance(scene, projection, scale, lines)
        cones, flat, signs = joined([cones, polygon], VERTEX), joined([disc, flat], FLAT), [*margin, *signs]
    if scene.footprints:
        soles, slides = draw_footprints(scene, projection, scale, lines)
        cones, signs = joined([cones, soles], VERTEX), [*slides, *signs]
    bodies = body_records(scene, scale) if display.bodies else _NO_CAPSULES
    balls = ball_records((*scene.props, *scene.balls), scale) if scene.props or scene.balls else _NO_CAPSULES
    labels = [*ghost_labels(scene, projection, scale), *disc_letters(discs)] if scene.ghosts else []
    names = name_texts(scene, projection, scale) if display.names or scene.at_limit & scene.selected else []
    skins = skin_draws(scene) if scene.skin is not None and display.shows_skins else ()
    through = display.see_through
    if skins and not through:
        sticks, joints = _NO_STICKS, _NO_DOTS
    else:
        sticks, joints = figure.bone_records(scene, measured, scale), figure.sphere_records(scene, measured, scale)
    if scene.others:
        dressed = [draw for other in scene.others if (draw := other_skin(other))] if display.shows_skins else []
        skins = (*skins, *dressed)
        plain = [other for other in scene.others if not (dressed and other.skin is not None)]
        beside = [other_sticks(other, scale) for other in plain]
        sticks = joined([sticks, *(bones for bones, _ in beside)], BONE)
        joints = joined([joints, *(spheres for _, spheres in beside)], SPHERE)
        names = [*other_names(scene.others, projection), *names]
        if display.bodies:
            balls = joined([balls, *(other_bodies(other, scale) for other in scene.others)], CAPSULE)
    return DrawList(
        bones=sticks,
        spheres=joined([joints, dots], SPHERE) if len(dots) else joints,
        lines=lines.records(),
        triangles=cones,
        flat=flat,
        texts=(*captions, *labels, *names, *letters, *touched, *signs, *words),
        ground=ground_of(scene),
        ghosts=figure.ghost_records(scene, scene.ghosts),
        capsules=balls if through or not len(bodies) else joined([bodies, balls], CAPSULE),
        veils=bodies if through else _NO_CAPSULES,
        solids=solid_records(scene.props) if scene.props else _NO_SOLIDS,
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
    chips, words = draw_chips(short, projection, scale) if short else ([], [])
    return placed([*mark_stamps(seen, projection, scale, extra), *over, *chips]), [*letters, *words]


@lru_cache(maxsize=4)
def _disc(projection: Projection, scale: float, hovered: str) -> tuple[Records, list[Text]]:
    """The view axes, which change only with the camera."""
    return shape_records(axes_shapes(projection, scale, hovered))


TINT_SHARE, GHOST_SHARE = 0.38, 0.30
"""Shares of a figure's own colours and of the ghosts' in a dimmed colour; the rest is the background's."""
_REST = (1.0 - TINT_SHARE - GHOST_SHARE) * np.array(PALETTE["bg_bot"]) + GHOST_SHARE * np.array(PALETTE["ghost"])
_HOVERED = np.array(PALETTE["hovered"])
_UNTOUCHED = States(frozenset(), frozenset(), -1, frozenset())
_LABEL, _ABOVE = 13, 0.045
"""Text size of a figure's name, and its height above the head as a fraction of the figure's."""


def other_sticks(other: OtherFigure, scale: float) -> tuple[Records, Records]:
    """BONE and SPHERE records of a figure, dimmed."""
    height = look_of(other.skeleton).height
    bones = figure.measure(other.skeleton, other.world, height)
    sticks = copied(_dimmed_bones(other.skeleton, bones.sizes, other.hovered, scale))
    sticks["frame"] = figure.frames_of(bones)
    plain = figure.plain_spheres(other.skeleton, bones.sizes, _UNTOUCHED, scale)
    balls = copied(plain.records)
    balls["centre"] = other.world.positions[plain.some]
    balls["colour"][:, :3] = _dimmed(balls["colour"][:, :3])
    return sticks, balls


@lru_cache(maxsize=32)
def _dimmed_bones(skeleton: Skeleton, sizes: Sizes, hovered: bool, scale: float) -> Records:
    records = copied(figure.plain_bones(skeleton, sizes, _UNTOUCHED, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    if hovered:
        records["outline"] = (*_HOVERED, HOVERED_PX * scale)
    return records


def other_bodies(other: OtherFigure, scale: float) -> Records:
    """CAPSULE records of a figure's bodies, dimmed."""
    table = bodies_of(other.skeleton).table
    records = copied(plain_bodies(other.skeleton, _UNTOUCHED, False, scale))
    records["colour"][:, :3] = _dimmed(records["colour"][:, :3])
    records["a"], records["b"] = table.ends(other.world.positions, other.world.rotations)
    if other.hovered:
        records["outline"] = (*_HOVERED, HOVERED_PX * scale)
    return records if len(records) else np.empty(0, CAPSULE)


def _dimmed(colours: Floats) -> Floats:
    return TINT_SHARE * colours + _REST


def other_names(others: tuple[OtherFigure, ...], projection: Projection) -> list[Text]:
    """The name of the figure under the pointer, above its head."""
    texts = []
    for other in others:
        if not other.hovered:
            continue
        points = other.points
        top = points[int(np.argmax(points[:, 1]))] + (0.0, _ABOVE * look_of(other.skeleton).height, 0.0)
        pixel = projection.project(top)
        if projection.inside(pixel):
            x, y = pixel.tolist()
            texts.append(Text(other.name, x, y, rgba("text"), _LABEL, "centre"))
    return texts
