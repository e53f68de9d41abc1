"""Small signs that stand for one point of the screen: drawn once per style and scale, then only moved."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from viewer.scene.flat import Path, tessellate
from viewer.scene.outlines import DIAMOND, box, circle
from viewer.scene.palette import rgba
from viewer.scene.primitives import FLAT, joined

if TYPE_CHECKING:
    from collections.abc import Sequence

    from viewer.scene.palette import RGBA
    from viewer.scene.primitives import Records
    from viewer.spatial.checks import Floats

HALO = rgba("halo", 0.6)
_SHADE = rgba("halo", 0.35)
_LINE, _RIM = 2.0, 1.0
"""Pixels of a sign's line, and of the dark rim on either side of it that sets it off from anything."""
_DOT, _RING, _TURN_RING, _SELECTED_RING = 2.8, 6.0, 14.5, 19.0
_MISSED, _MISSED_PIN, _THIN = 12.5, 17.0, 1.2
_HALF_PIN, _PIN_CORNER, _CHIP_CORNER = 9.0, 4.0, 5.0
_CHEVRON = np.array([[-3.6, 3.2], [0.0, 0.0], [3.6, 3.2]])
_CHEVRON_OUT = 17.0


def placed(stamps: Sequence[tuple[Records, tuple[float, float]]]) -> Records:
    """Stamps at their pixels, the later over the earlier."""
    result = joined([stamp for stamp, _ in stamps], FLAT)
    places = np.array([place for _, place in stamps], dtype=np.float32).reshape(-1, 2)
    result["position"] += np.repeat(places, [len(stamp) for stamp, _ in stamps], axis=0)
    return result


@lru_cache(maxsize=256)
def diamond(colour: str, half: float, scale: float, *, dot: bool) -> Records:
    """A target; with the effector's dot in it one mark says that it is reached."""
    outline = half * scale * DIAMOND
    return tessellate([Path(outline, _SHADE), *_lines([outline], rgba(colour), scale), *(_dot(scale) if dot else ())])


@lru_cache(maxsize=64)
def rotation_target(colour: str, scale: float) -> Records:
    """A goal that asks for a rotation alone: a round one."""
    outline = circle((0.0, 0.0), 9.0 * scale)
    return tessellate([Path(outline, _SHADE), *_lines([outline], rgba(colour), scale), *_dot(scale)])


@lru_cache(maxsize=64)
def ring(colour: str, alpha: float, scale: float) -> Records:
    """An effector that is not where it should be, or one without a goal."""
    return tessellate(_lines([circle((0.0, 0.0), _RING * scale)], rgba(colour, alpha), scale))


@lru_cache(maxsize=16)
def missed(scale: float, *, pinned: bool) -> Records:
    """A thin ring round the sign of a goal that is missed, where that is not said in words."""
    outline = circle((0.0, 0.0), (_MISSED_PIN if pinned else _MISSED) * scale)
    return tessellate(
        [
            Path(outline, (*HALO[:3], 0.5 * HALO[3]), (_THIN + 2.0 * _RIM) * scale, closed=True),
            Path(outline, rgba("unreached", 0.8), _THIN * scale, closed=True),
        ]
    )


@lru_cache(maxsize=64)
def pin(colour: str, scale: float, *, position: bool, rotation: bool) -> Records:
    """A pinned goal: the tack for its position, a ring round the square for its rotation."""
    side = _HALF_PIN * scale
    square = box(-side, -side, side, side, _PIN_CORNER * scale)
    paths = [Path(square, rgba("panel", 0.8)), *_lines([square], rgba(colour), scale)]
    if rotation:
        paths += _lines([circle((0.0, 0.0), _TURN_RING * scale)], rgba(colour), scale)
    paths += _tack(rgba(colour), scale) if position else _dot(scale)
    return tessellate(paths)


@lru_cache(maxsize=64)
def root(colour: str, scale: float) -> Records:
    """The root's handle: it goes all four ways. Hollow, so that the root's own effector shows inside it."""
    up = (_CHEVRON - (0.0, _CHEVRON_OUT)) * scale
    quarter = np.array([[0.0, 1.0], [-1.0, 0.0]])
    ways = [up, up @ quarter, -up, -up @ quarter]
    return tessellate([*_lines(ways, rgba(colour), scale, closed=False), *_dot(scale)])


@lru_cache(maxsize=8)
def selection(scale: float) -> Records:
    """A ring round a selected handle, where no gizmo shows that it is."""
    return tessellate(_lines([circle((0.0, 0.0), _SELECTED_RING * scale)], rgba("accent"), scale))


@lru_cache(maxsize=16)
def warning(scale: float, size: float) -> Records:
    """An exclamation in a triangle, ``size`` pixels high."""
    unit = size * scale * np.array([[0.0, -0.5], [0.56, 0.46], [-0.56, 0.46]])
    paths = [Path(unit * 0.82, rgba("warn")), Path(unit * 0.82, rgba("warn"), 0.16 * size * scale, closed=True)]
    stem, foot = size * scale * np.array([[0.0, -0.14], [0.0, 0.14]]), (0.0, 0.33 * size * scale)
    ink = rgba("panel")
    return tessellate([*paths, Path(stem, ink, 0.12 * size * scale), Path(circle(foot, 0.075 * size * scale), ink)])


@lru_cache(maxsize=64)
def chip(wide: int, high: int, scale: float) -> Records:
    """A box of whole pixels for words of warning, its top left corner at 0."""
    outline = box(0.0, 0.0, wide, high, _CHIP_CORNER * scale)
    return tessellate([Path(outline, rgba("panel", 0.94)), Path(outline, rgba("warn"), 1.2 * scale, closed=True)])


def _lines(outlines: Sequence[Floats], colour: RGBA, scale: float, *, closed: bool = True) -> list[Path]:
    """The outlines' dark rims, then the outlines."""
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
